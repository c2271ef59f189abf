"""Ids of users in files: hashed, and restored to what they would be in one frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from recframe.files.footers import Files, naming_file, open_file
from recframe.frames.columns import get_column
from recframe.frames.user_groups import order_of_ids
from recframe.kernel.grouping import Array

HASHED_WORDS = 32  # ids of more than 256 bytes that begin alike are not told apart
MIX = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio's bits, as in Knuth's multiplicative hash


def user_dtype(files: Files) -> Any:
    """Return the dtype that the ids would have in a frame of all rows."""
    if files.columns.user is None:
        return None
    if files.row_groups and pa.types.is_dictionary(files.types[str(files.columns.user)]):
        return _categories(files)
    return get_column(files.sample, files.columns.user).dtype


def _categories(files: Files) -> pd.CategoricalDtype:
    """Return the categories of all files; their order, in which users sort, is that of files."""
    user = str(files.columns.user)
    found: pa.Array | None = None
    for path in files.keys:
        with naming_file(path), open_file(path) as file:
            for batch in file.iter_batches(columns=[user]):
                ids = batch[user].slice(0, 0)
                if found is None:
                    found = ids
                elif not ids.dictionary.equals(found.dictionary):
                    found = pa.chunked_array([found, ids]).unify_dictionaries().chunk(0)
    dtype: pd.CategoricalDtype = pa.chunked_array([found]).to_pandas().dtype
    return dtype


def restore_users(table: pd.DataFrame, dtype: Any) -> pd.DataFrame:
    """Return the table of a block with ids of this dtype, sorted."""
    users: Any = table.index
    if isinstance(users.dtype, pd.CategoricalDtype):
        users = users.categories.take(users.codes)
    if dtype is not None:
        users = users.astype(dtype)
    return sort_table(table.set_axis(users.rename(table.index.name)))


def sort_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a per-user table with users sorted."""
    return table.iloc[order_of_ids(table.index)]


def hash_users(ids: pa.Array) -> Array:
    """Return 64 bits of each id that are equal where ids are equal."""
    if pa.types.is_string(ids.type) or pa.types.is_binary(ids.type):
        return _hash_texts(ids)
    values = ids.to_pandas()
    if pa.types.is_floating(ids.type):
        values = values + 0.0  # -0.0 and 0.0 are one user
    hashed: Array = pd.util.hash_pandas_object(values, index=False).to_numpy()
    return hashed


def _hash_texts(ids: pa.Array) -> Array:
    """Return 64 bits of each text, eight of its bytes at a time; pandas takes ten times as long."""
    _, offsets, data = ids.buffers()
    offsets = np.frombuffer(offsets, np.int32)[ids.offset : ids.offset + len(ids) + 1]
    first, stop = (int(offsets[0]), int(offsets[-1])) if len(ids) else (0, 0)
    padded = np.zeros(stop - first + 8, np.uint8)
    if stop > first:
        padded[:-8] = np.frombuffer(data, np.uint8)[first:stop]
    # The eight bytes from every byte on, as one integer each.
    words = np.ndarray((len(padded) - 7,), "<u8", padded, strides=(1,))
    start, left = offsets[:-1] - first, np.diff(offsets)
    hashed = left.astype(np.uint64)
    rows: Array | slice = slice(None)
    for _ in range(HASHED_WORDS):
        unused = np.uint64(8) * (8 - np.minimum(left, 8)).astype(np.uint64)
        hashed[rows] = _mix(hashed[rows] ^ (words[start] << unused))
        longer = np.flatnonzero(left > 8)
        if len(longer) == 0:
            break
        rows = longer if isinstance(rows, slice) else rows[longer]
        start, left = start[longer] + 8, left[longer] - 8
    # Twice, for the lowest bits to depend on the highest: those of the eighth byte.
    return _mix(hashed)


def _mix(bits: Array) -> Array:
    """Return 64 bits of which the low ones depend on the high ones too, one to one."""
    product: Array = bits * MIX
    product ^= product >> np.uint64(32)
    return product
