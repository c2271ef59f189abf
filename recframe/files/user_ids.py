"""Ids of users in files: hashed, and restored to what they would be in one frame."""

from collections.abc import Hashable
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from recframe.files.footers import Files
from recframe.files.opening import naming_file, open_file
from recframe.files.row_groups import RowGroup
from recframe.frames.interactions import Interactions
from recframe.frames.keys import as_texts
from recframe.frames.labels import leave_out
from recframe.frames.user_index import as_users
from recframe.kernel.texts import Texts, find_length, read_words
from recframe.kernel.threads import Array

IN_CACHE = 1 << 14  # texts that are hashed at a time, so that each step finds them near
HASHED_WORDS = 32  # of longer ids each is hashed by itself
MIX = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio's bits, as in Knuth's multiplicative hash


def read_dtypes(files: Files) -> tuple[list[Any], dict[Hashable, Any]]:
    """Return the dtypes that the ids of each column of users would have in a frame of all rows.

    And those of other columns that say something of users, where they have categories.
    """
    users = files.columns.users
    if not files.row_groups:
        return [files.sample_dtype(label) for label in users], {}
    dtypes = {
        label: _read_dtype(files, label)
        for label in leave_out([*files.columns.of_users], users)
        if isinstance(files.sample_dtype(label), pd.CategoricalDtype)
    }
    return [_read_dtype(files, label) for label in users], dtypes


def _read_dtype(files: Files, label: Hashable) -> Any:
    """Return the dtype that a column would have; the order of categories is that of files."""
    dtype = files.sample_dtype(label)
    if not isinstance(dtype, pd.CategoricalDtype):
        return dtype
    found: list[pa.Array] = []
    of_file: dict[str, list[RowGroup]] = {}
    for row_group in files.row_groups:
        of_file.setdefault(row_group.path, []).append(row_group)
    for path, row_groups in of_file.items():
        indexes = [index for row_group in row_groups for index in row_group.indexes]
        with naming_file(path), open_file(row_groups[0].found) as file:
            for batch in file.iter_batches(row_groups=indexes, columns=[str(label)]):
                ids = batch[str(label)].slice(0, 0)
                if not found or not ids.dictionary.equals(found[0].dictionary):
                    found = pa.chunked_array([*found, ids]).unify_dictionaries().chunks[:1]
    return found[0].to_pandas().dtype


def restore_users(interactions: Interactions, dtypes: list[Any]) -> Interactions:
    """Return the interactions of a block with ids of these dtypes; of none they stay."""
    groups = interactions.groups
    users, sorted_by = groups.users, groups.sorted_by
    columns = []
    for number, dtype in enumerate(dtypes):
        ids = users.get_level_values(number)
        name = ids.name
        if isinstance(ids, pd.CategoricalIndex):
            # Categories of a block come in its order, in which users do not sort.
            ids, sorted_by = ids.categories.take(ids.codes), None
        columns.append(ids.astype(dtype).rename(name))
    users = as_users(columns) if columns else users
    return interactions._replace(groups=groups._replace(users=users, sorted_by=sorted_by))


def hash_users(*columns: pa.Array) -> Array:
    """Return 64 bits of the ids of each row that are equal where these are."""
    bits = _hash(columns[0])
    for ids in columns[1:]:
        bits = _mix(bits) ^ _hash(ids)
    return bits


def _hash(ids: pa.Array) -> Array:
    """Return 64 bits of each id that are equal where ids are equal."""
    if pa.types.is_dictionary(ids.type):
        of_texts: Array = _hash(ids.dictionary)[ids.indices.to_numpy()]
        return of_texts
    if ids.type in (pa.string(), pa.binary()):
        pieces = [ids.slice(start, IN_CACHE) for start in range(0, len(ids), IN_CACHE)]
        return np.concatenate([_hash_texts(piece) for piece in pieces or [ids]])
    values = ids.to_pandas()
    # -0.0 and 0.0 are one user.
    values = values + 0.0 if pa.types.is_floating(ids.type) else values
    return pd.util.hash_pandas_object(values, index=False).to_numpy()


def _hash_texts(ids: pa.Array) -> Array:
    """Return 64 bits of each text, eight of its bytes at a time; pandas takes ten times as long."""
    texts = as_texts(ids)
    if (n_bytes := find_length(texts)) is not None and 8 <= n_bytes <= 8 * HASHED_WORDS:
        return _hash_even(texts, n_bytes)
    # With one more text, there are eight bytes from every byte on; they are one integer each.
    _, offsets, data = pa.concat_arrays([ids, pa.array([bytes(8)], ids.type)]).buffers()
    offsets = np.frombuffer(offsets, np.int32)[: len(ids) + 1]
    words = np.ndarray((data.size - 7,), "<u8", data, strides=(1,))
    at, end = offsets[:-1], offsets[1:]
    length = end - at
    hashed: Array = words[at]
    if length.min(initial=8) < 8:
        # What follows a shorter text goes.
        hashed <<= np.uint64(8) * (8 - np.minimum(length, 8)).astype(np.uint64)
    hashed ^= length.astype(np.uint64)
    hashed = _mix(hashed)
    rows = np.arange(len(ids))
    for _ in range(1, HASHED_WORDS):
        at = at + 8
        longer = np.flatnonzero(at < end)
        if len(longer) == 0:
            break
        if len(longer) < len(rows):
            rows, at, end = rows[longer], at[longer], end[longer]
        # The last eight bytes may be read again in part, so that none behind them are; multiplied,
        # no bit of these undoes what it did before.
        word = words[np.minimum(at, end - 8)] * MIX
        if len(rows) == len(hashed):
            word ^= hashed
            hashed = _mix(word)
        else:
            hashed[rows] = _mix(hashed[rows] ^ word)
    else:
        _hash_long(ids, rows[at + 8 < end], hashed)
    # Twice, for the lowest bits to depend on the highest: those of the eighth byte.
    return _mix(hashed)


def _hash_even(texts: Texts, length: int) -> Array:
    """Return what `_hash_texts` does of texts of one length, whose bytes need not be looked for."""
    hashed = _mix(read_words(texts, length, 0) ^ np.uint64(length))
    for at in range(8, length, 8):
        word = read_words(texts, length, min(at, length - 8)) * MIX
        word ^= hashed
        hashed = _mix(word)
    return _mix(hashed)


def _hash_long(ids: pa.Array, rows: Array, hashed: Array) -> None:
    """Hash the ids of these rows, each with all its bytes."""
    _, offsets, data = ids.buffers()
    bounds = np.frombuffer(offsets, np.int32)[ids.offset : ids.offset + len(ids) + 1]
    view = memoryview(data)
    for row in rows.tolist():
        digest = blake2b(view[bounds[row] : bounds[row + 1]], digest_size=8)
        hashed[row] = int.from_bytes(digest.digest(), "little")


def _mix(bits: Array) -> Array:
    """Return 64 bits of which the low ones depend on the high ones too, one to one."""
    product: Array = bits * MIX
    product ^= product >> np.uint64(32)
    return product
