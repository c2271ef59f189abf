"""Users and items of columns as codes, and the order of users."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import is_integer_dtype

from recframe.errors import RecframeError, quote, shorten
from recframe.frames.id_kinds import ID_ERRORS, check_ids
from recframe.frames.names import get_column
from recframe.frames.value_errors import null_error
from recframe.frames.values import find_nulls
from recframe.kernel.grouping import Groups, combine, find_range, invert, take_rows
from recframe.kernel.threads import Array, in_slices

ALL_USERS = "all"  # the label of the only user if the frame is one ranking
SPREAD = 4  # Integers are codes if their range is at most this many times the rows.
N_CODES = 1 << 22  # A table of so many codes is small, so this range is allowed for few rows too.
N_FIRST_ROWS = 1 << 16  # rows that show whether ids have runs or share objects
UNSHARED = 0.99  # If more of the objects are distinct, too few are shared.


class Ids(NamedTuple):
    """Ids as codes, integers of 0 or more.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,), int
        The code of each row.
    ids : Index
        The id of each code.
    dtype : dtype
        The dtype of the column of the ids.
    is_sorted : bool
        Whether ids are sorted, so that codes have their order. Some ids may then be in no row.
    """

    codes: Array
    ids: pd.Index[Any]
    dtype: Any
    is_sorted: bool

    def used(self) -> Ids:
        """Return the ids that rows have, with the codes of these ids."""
        if not self.is_sorted:
            return self
        position, is_used = np.empty(len(self.ids), np.int32), np.zeros(len(self.ids), bool)
        is_used[self.codes] = True
        used = np.flatnonzero(is_used)
        position[used] = np.arange(len(used), dtype=np.int32)
        return self._replace(codes=position[self.codes], ids=self.restore(used))

    def distinct(self) -> pd.Index[Any]:
        """Return the ids of the rows, each once."""
        n_ids = len(self.ids)  # Codes from n_ids on are nulls.
        return self.restore(np.flatnonzero(np.bincount(self.codes, minlength=n_ids)[:n_ids]))

    def restore(self, codes: Array) -> pd.Index[Any]:
        """Return the ids of codes in the dtype of the column."""
        if isinstance(self.dtype, pd.CategoricalDtype) and self.ids.dtype != self.dtype:
            return pd.Index(pd.Categorical.from_codes(codes, dtype=self.dtype))
        ids: pd.Index[Any]
        if isinstance(self.ids, pd.RangeIndex):  # The column may have any dtype of integers.
            ids = pd.Index(codes + self.ids.start, dtype=self.dtype)
        else:
            ids = self.ids.take(codes)
        return ids


class Users(NamedTuple):
    """The users of rows.

    Parameters
    ----------
    ids : Index of length n_users
        The user ids, each once, in the order of the groups; a level for each of several columns.
    groups : Groups
        The rows of each user.
    """

    ids: pd.Index[Any]
    groups: Groups


def find_users(frame: pd.DataFrame, labels: Sequence[Hashable], rows: Array | None = None) -> Users:
    """Return the users of a frame or of some of its rows, or raise if an id is invalid.

    With several columns, each combination of ids is a user. Without any, all rows have one user.
    """
    columns = [get_column(frame, label, rows) for label in labels]
    if not columns:
        n_rows = len(frame) if rows is None else len(rows)
        return Users(pd.Index([ALL_USERS]), Groups(1, offsets=np.array([0, n_rows])))
    offsets = _find_runs(columns)
    heads = None if offsets is None else offsets[:-1]
    encoded = [encode(column, "user", heads).used() for column in columns]
    if len(columns) == 1:
        codes, index = encoded[0].codes, encoded[0].ids.rename(columns[0].name)
    else:
        both = combine(*(ids.codes for ids in encoded))
        _, first, codes = np.unique(both, return_index=True, return_inverse=True)
        first = first if heads is None else heads[first]
        index = as_users([pd.Index(column.take(first)) for column in columns])
    if offsets is not None and len(index) == len(codes):  # Each user is one run of rows.
        return Users(index.take(codes), Groups(len(index), offsets=offsets))
    if offsets is not None:
        codes = np.repeat(codes.astype(np.int32, copy=False), np.diff(offsets))
    return Users(index, Groups(len(index), codes=codes))


def encode(
    column: pd.Series, role: str, heads: Array | None = None, *, lenient: bool = False
) -> Ids:
    """Return a column of ids as codes, or raise if an id is null or invalid.

    If rows have runs of one id, only the first rows of runs, `heads`, are read and have codes. If
    reading is lenient, each null has a separate code.
    """
    check_dtype(column, role)
    of_runs = column if heads is None else column.take(heads)
    encoded = _encode(of_runs, role, len(column))
    # Codes show nulls without another look at each id, but not a NaN inside a nullable column.
    any_null = encoded.codes.min(initial=0) < 0
    if column.dtype.kind == "f":
        any_null = find_nulls(of_runs).any()
    if any_null and not lenient:
        raise null_error(f"{role}={quote(column.name)}: ids", find_nulls(column))
    if any_null:
        nulls = encoded.codes < 0
        codes = encoded.codes.astype(np.int64)
        codes[nulls] = len(encoded.ids) + np.arange(nulls.sum())
        return encoded._replace(codes=codes)
    dtype: Any = getattr(column.dtype, "categories", column).dtype
    if dtype.kind in "fO" and not isinstance(dtype, pd.StringDtype):  # Others have one kind.
        check_ids(encoded.distinct(), column, role)
    return encoded


def check_dtype(column: pd.Series | pd.Index[Any], role: str) -> None:
    """Raise if pandas has no index of a dtype, because no table could show such ids."""
    dtype = column.dtype
    of_arrow = dtype.pyarrow_dtype if isinstance(dtype, pd.ArrowDtype) else pa.null()
    problem = ""
    if pa.types.is_nested(of_arrow):
        problem = (
            f"must be one value in a cell, but is {shorten(str(dtype))}. Take one field of it, or "
            "convert it with .astype(str)."
        )
    elif dtype == np.longdouble and np.dtype(np.longdouble).itemsize > 8:
        problem = (
            f"must not be {dtype}: pandas has no index for it. Convert them, for example with "
            ".astype('int64')."
        )
    elif dtype == np.float16 or pa.types.is_float16(of_arrow):
        problem = (
            "must not be float16, which has whole numbers to 2048 only. Read them as integers in "
            "the first place."
        )
    if problem:
        raise RecframeError(f"{role}={quote(column.name)}: ids {problem}")


def _encode(column: pd.Series | pd.Index[Any], role: str, n_rows: int = 0) -> Ids:
    """Return ids as codes, negative for nulls; `n_rows` counts all rows if ids are only heads."""
    dtype: Any = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return Ids(column.array.codes, dtype.categories, dtype, is_sorted=True)
    values = _integers(column)
    if values is not None and len(values):
        low, high = map(int, find_range(values))
        n_spread = SPREAD * max(n_rows, len(values))
        most = min(n_spread + max(N_FIRST_ROWS, min(4 * n_spread, N_CODES)), 1 << 31)
        if high - low < most and high < 1 << 62:
            # The difference of small integers may overflow in their dtype, not in that of codes.
            lowest = values.dtype.type(low)
            codes: Array = np.subtract(values, lowest, dtype=np.int32, casting="unsafe")
            return Ids(codes, pd.RangeIndex(low, high + 1), dtype, is_sorted=True)
    if column.dtype == object:
        addresses = _find_addresses(column.to_numpy())
        sample = addresses[:N_FIRST_ROWS]
        # If rows share objects, as texts do after pandas 2 has read them, each object is read once,
        # in 0.4 times the time.
        if len(np.unique(sample)) < UNSHARED * len(sample):
            codes, objects = _encode_values(pa.array(addresses))
            rows = np.empty(len(objects), np.intp)
            rows[codes] = np.arange(len(codes))  # one row of each object
            shared = _encode(column.take(rows), role, n_rows)
            return shared._replace(codes=take_rows(shared.codes, codes))
    arrow = read_text(column) if values is None else pa.array(values)
    if arrow is not None:
        codes, distinct = _encode_values(arrow)
        is_text = values is None and column.dtype != object  # Text stays in Arrow's memory.
        known = distinct if is_text else distinct.to_numpy(zero_copy_only=False)
        return Ids(codes, pd.Index(pd.array(known, dtype), dtype=dtype), dtype, is_sorted=False)
    try:
        codes, distinct = pd.factorize(column)
    except ID_ERRORS as error:
        find_nulls(pd.Series(column))  # This refuses a signaling NaN.
        raise RecframeError(
            f"{role}={quote(column.name)}: ids must be hashable, but are not: "
            f"{shorten(str(error))}. Make a row of each id with df.explode({quote(column.name)}), "
            f"or one id of all in a cell with df[{quote(column.name)}].map(tuple)."
        ) from error
    return Ids(codes, pd.Index(distinct, dtype=distinct.dtype), dtype, is_sorted=False)


def _find_addresses(objects: Array) -> Array:
    """Return the address of each object; different objects have different addresses."""
    return np.frombuffer(np.ascontiguousarray(objects), np.intp)


def _encode_values(values: pa.Array) -> tuple[Array, pa.Array]:
    """Return the code of each value, -1 for null, and the value of each code."""
    pool = pa.system_memory_pool()  # The default pool takes twice the memory for growing arrays.
    # Threads encode one slice each; then the codes of all slices are unified.
    chunks: Any = in_slices(
        lambda start, stop: pc.dictionary_encode(values[start:stop], memory_pool=pool), len(values)
    )
    chunks = pa.chunked_array(chunks).unify_dictionaries(pool).chunks
    # Arrow's fill_null copies codes even if none is null.
    codes = [one.indices.fill_null(-1) if one.null_count else one.indices for one in chunks]
    return np.concatenate(codes), chunks[0].dictionary


def _find_runs(columns: Sequence[pd.Series]) -> Array | None:
    """Return the offsets of runs of rows of one user, None if runs are short."""
    starts, n_rows = np.empty(0, np.int64), len(columns[0])
    for n_first in sorted({min(n_rows, N_FIRST_ROWS), n_rows}):  # The first rows usually decide.
        changes = [_find_changes(column.iloc[:n_first]) for column in columns]
        starts = changes[0] if len(columns) == 1 else np.unique(np.concatenate(changes))
        if 2 * len(starts) >= n_first:
            return None
    return np.concatenate([[0], starts, [n_rows]])


def _find_changes(column: pd.Series) -> Array:
    """Return the rows whose id differs from the row before, and maybe some other rows."""
    values: Any = _integers(column)
    if isinstance(column.dtype, pd.CategoricalDtype):
        values = column.array.codes
    elif values is None and column.dtype != object:
        values = read_text(column)
    if values is None:
        values = column.to_numpy()
        if values.dtype == object:
            values = _find_addresses(values)
    ids, before = values[1:], values[: max(0, len(values) - 1)]
    if isinstance(values, np.ndarray):
        return np.flatnonzero(ids != before) + 1
    changes: Array = pc.indices_nonzero(pc.not_equal(ids, before).fill_null(True)).to_numpy()
    return changes.view(np.int64) + 1


def read_text(column: pd.Series | pd.Index[Any]) -> pa.Array | None:
    """Return ids as one array of Arrow's text, None if an id is no text."""
    cells: Any = column.array
    if column.dtype == object:
        if len(column) and not isinstance(cells[0], str | float | None):
            return None
        cells = column.to_numpy()  # In its arrays pandas looks for nulls first.
    elif not isinstance(column.dtype, pd.StringDtype | pd.ArrowDtype):
        return None
    try:
        text = pa.array(cells, from_pandas=True)
    except (pa.ArrowException, UnicodeError, OverflowError):
        return None  # The ids are objects of several kinds, or no text of UTF-8.
    if isinstance(text, pa.ChunkedArray):
        text = text.chunk(0) if text.num_chunks == 1 else text.combine_chunks()
    return text if text.type in (pa.string(), pa.large_string()) else None


def _integers(ids: pd.Series | pd.Index[Any]) -> Array | None:
    """Return integers without nulls as an array, None for other ids."""
    dtype: Any = ids.dtype
    if isinstance(dtype, np.dtype):
        return ids.to_numpy() if dtype.kind in "iu" else None
    return ids.to_numpy(dtype.numpy_dtype) if is_integer_dtype(dtype) and not ids.hasnans else None


def as_users(columns: Sequence[pd.Index[Any]]) -> pd.Index[Any]:
    """Return the ids of columns as the ids of users; several columns become levels."""
    return columns[0] if len(columns) == 1 else pd.MultiIndex.from_arrays(columns)


def look_up_ids(ids: pd.Index[Any], among: pd.Index[Any]) -> Array:
    """Return the position of each id among distinct ids, -1 for none.

    pandas cuts ids to the bits of an index of small unsigned integers: 257 would be 1.
    """
    if isinstance(among, pd.MultiIndex):
        levels: Any = [_as_uint64(level) for level in among.levels]
        among = among.set_levels(levels)
    positions: Array = _as_uint64(among).get_indexer(ids)
    return positions


def _as_uint64(ids: pd.Index[Any]) -> pd.Index[Any]:
    """Return unsigned integers in 64 bits, all other ids as they are."""
    if isinstance(ids, pd.CategoricalIndex) and ids.categories.dtype.kind == "u":
        return ids.rename_categories(ids.categories.tolist())
    return ids.astype(np.uint64) if ids.dtype.kind == "u" else ids


def list_levels(ids: pd.Index[Any]) -> list[pd.Index[Any]]:
    """Return the ids in each level of users."""
    return [ids.get_level_values(level) for level in range(ids.nlevels)]


def sort_ids(ids: pd.Index[Any]) -> Array:
    """Return the order that sorts distinct ids."""
    if isinstance(ids, pd.MultiIndex):
        pairs = zip(ids.levels, ids.codes, strict=True)
        return np.argsort(combine(*(invert(sort_ids(level))[code] for level, code in pairs)))
    if isinstance(ids.dtype, np.dtype) and ids.dtype.kind in "iufmM":
        return np.argsort(ids.to_numpy())
    if (text := read_text(ids)) is not None:
        in_order: Array = pc.sort_indices(text).to_numpy()  # by code points, as in Python
        return in_order.view(np.int64)
    # This sorts ids of several types too, numbers before texts.
    try:
        return np.argsort(pd.factorize(ids, sort=True)[0])
    except ID_ERRORS as error:
        raise RecframeError(
            f"user={quote(ids.name)}: ids must be sortable, because the tables sort "
            f"users, but include {quote(ids[[0]].tolist()[0])} ({shorten(str(error))}). "
            f"Convert them, for example with df[{quote(ids.name)}].map(str)."
        ) from error
