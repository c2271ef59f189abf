"""Ids of users in files: hashed, and restored to what they would be in one frame."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from recframe.files.footers import Files
from recframe.files.opening import naming_file, open_file
from recframe.files.row_groups import RowGroup
from recframe.frames.ids import as_users
from recframe.frames.interactions import Interactions
from recframe.frames.names import leave_out
from recframe.kernel.threads import Array

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
    users, _, sorted_by = interactions.users
    columns = []
    for number, dtype in enumerate(dtypes):
        ids = users.get_level_values(number)
        name = ids.name
        if isinstance(ids, pd.CategoricalIndex):
            # Categories of a block come in its order, in which users do not sort.
            ids, sorted_by = ids.categories.take(ids.codes), None
        columns.append(ids.astype(dtype).rename(name))
    users = as_users(columns) if columns else users
    return interactions._replace(users=interactions.users._replace(ids=users, sorted_by=sorted_by))


def hash_users(*columns: pa.Array) -> Array:
    """Return 64 bits of the ids of each row that are equal where these are."""
    bits = _hash(columns[0])
    for ids in columns[1:]:
        bits = _mix(bits) ^ _hash(ids)
    return bits


def _hash(ids: pa.Array) -> Array:
    """Return 64 bits of each id that are equal where ids are equal."""
    if ids.type in (pa.string(), pa.binary()):
        ids = ids.dictionary_encode()
    if pa.types.is_dictionary(ids.type):
        distinct = pd.Series(ids.dictionary.to_pandas(), dtype=object)
        hashed = pd.util.hash_pandas_object(distinct, index=False, categorize=False)
        of_rows: Array = hashed.to_numpy()[ids.indices.to_numpy()]
        return of_rows
    values = ids.to_pandas()
    # -0.0 and 0.0 are one user.
    values = values + 0.0 if pa.types.is_floating(ids.type) else values
    return pd.util.hash_pandas_object(values, index=False).to_numpy()


def _mix(bits: Array) -> Array:
    """Return 64 bits of which the low ones depend on the high ones too, one to one."""
    product: Array = bits * MIX
    product ^= product >> np.uint64(32)
    return product
