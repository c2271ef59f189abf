"""Ids of two frames: found in each other by value, whatever their dtypes."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import quote
from recframe.frames.keys import check_dtype, factorize, find_keys, read_text
from recframe.frames.kinds import check_comparable, check_ids
from recframe.frames.nulls import null_error
from recframe.frames.user_index import as_users
from recframe.kernel.grouping import combine
from recframe.kernel.near import NearIntegers, find_near
from recframe.kernel.threads import Array


class Coded(NamedTuple):
    """Ids as integers.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,), int
        The position of each row's id in `ids`; or the ids themselves, where those are integers.
    ids : Index or None
        Distinct ids; None where the codes are the ids.
    """

    codes: Array
    ids: pd.Index[Any] | None

    def numbered(self) -> tuple[Array, pd.Index[Any]]:
        """Return the ids as positions among distinct ids."""
        if self.ids is not None:
            return self.codes, self.ids
        if (near := find_near(self.codes)) is None:
            codes, distinct = pd.factorize(self.codes)
            return codes, pd.Index(distinct)
        return near.number(self.codes), self._as_index(near)

    def distinct(self) -> pd.Index[Any]:
        """Return the ids that some row has, each once."""
        if self.ids is None and (near := find_near(self.codes)) is not None:
            return self._as_index(near)
        if self.ids is None:
            # An index finds its distinct values by looking for repeats first.
            distinct: pd.Index[Any] = pd.Index(pd.unique(self.codes))
            return distinct
        codes, ids = self.codes, self.ids
        return ids.take(np.flatnonzero(np.bincount(codes, minlength=len(ids))))

    def take(self, rows: Array) -> pd.Index[Any]:
        """Return the ids of rows."""
        codes = self.codes[rows]
        return pd.Index(codes) if self.ids is None else self.ids.take(codes)

    def _as_index(self, near: NearIntegers) -> pd.Index[Any]:
        """Return the distinct integers in the type of these codes."""
        ids: pd.Index[Any] = pd.Index(near.distinct().astype(self.codes.dtype))
        return ids


class PairItems:
    """The items of pairs, in grouped order: as integers, or as text, whichever is asked for.

    Texts are made integers when those are asked for: as a rule they are looked up as they are.
    """

    def __init__(self, column: pd.Series, order: Array | None) -> None:
        self._column, self._order = column, order
        if not isinstance(column.dtype, pd.StringDtype) or self.texts[0] is None:
            _ = self.coded  # which raises for what is no id

    @cached_property
    def coded(self) -> Coded:
        """The items as integers."""
        coded = encode(self._column, "item")
        return coded if self._order is None else coded._replace(codes=coded.codes[self._order])

    @cached_property
    def texts(self) -> tuple[pa.Array | None, Array]:
        """Texts, and the position among these of each item; None where items are no texts."""
        if isinstance(self._column.dtype, pd.StringDtype):
            text = read_text(self._column)
            if text is not None and not text.null_count:
                return text, np.arange(len(text)) if self._order is None else self._order
            return None, np.empty(0, np.int64)
        codes, ids = self.coded
        return None if ids is None else read_text(ids), codes

    def distinct(self) -> pd.Index[Any]:
        """Return the ids that some pair has, each once."""
        return self.coded.distinct()

    def take(self, pairs: Array) -> pd.Index[Any]:
        """Return the ids of pairs."""
        return self.coded.take(pairs)


def encode(column: pd.Series, role: str) -> Coded:
    """Return a column of ids as integers, or raise where one is null."""
    if (integers := _integers(column)) is not None:
        return Coded(integers, None)
    check_dtype(column, role)
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, distinct = column.cat.codes.to_numpy(), column.cat.categories
    else:
        codes, distinct = factorize(column, role)
    nulls = codes < 0
    if nulls.any():
        raise null_error(f"{role}={quote(column.name)}: ids", nulls)
    coded = Coded(codes, pd.Index(distinct, dtype=distinct.dtype))
    if column.dtype.kind in "fO":
        check_ids(coded.distinct(), column, role)
    return coded


def match(ids: pd.Index[Any], among: pd.Index[Any], role: str, other: str = "truth") -> Array:
    """Return the position of each id of the other side among those of the frame, -1 for none.

    The ids are distinct on either side. Those of two kinds, as numbers and text, are refused.
    """
    if isinstance(ids, pd.MultiIndex):
        return _match_levels(ids, among, other)
    check_comparable(ids, among, role, other)
    own, others = plain(ids), plain(among)
    integers = _integers(own), _integers(others)
    if integers[0] is not None and integers[1] is not None:
        own, others = pd.Index(integers[0]), pd.Index(integers[1])
    elif own.dtype != others.dtype:
        # As Python objects 1 equals 1.0, and no integer is rounded to be compared.
        own, others = own.astype(object), others.astype(object)
    if 2 * len(own) > len(others):
        return _look_up(own, others)
    # Made a table of, the fewer take less time.
    found = _look_up(others, own)
    position = np.full(len(own), -1)
    position[found[found >= 0]] = np.flatnonzero(found >= 0)
    return position


def _match_levels(ids: pd.MultiIndex, among: Any, other: str) -> Array:
    """Return what `match` does, of users told apart by several columns, each matched by itself."""
    codes = []
    levels = zip(ids.levels, ids.codes, among.levels, among.codes, strict=True)
    for own, own_codes, level, level_codes in levels:
        place = match(own, level, f"user={quote(level.name)}", other)
        codes.append(np.append(level_codes, place[own_codes]))
    is_known = np.min(codes, axis=0) >= 0
    numbers = pd.Index(combine(*(code[is_known] for code in codes)))
    position = np.full(len(ids), -1)
    is_own = is_known[len(among) :]
    position[is_own] = numbers[: len(among)].get_indexer(numbers[len(among) :])
    return position


def _look_up(ids: pd.Index[Any], among: pd.Index[Any]) -> Array:
    """Return the position of each id among others of its dtype, -1 where there is none."""
    keys, others = find_keys(ids), find_keys(among)
    if isinstance(keys, pa.Array) and isinstance(others, pa.Array) and keys.type == others.type:
        return np.asarray(pc.index_in(keys, value_set=others).fill_null(-1), np.int64)
    return np.asarray(among.get_indexer(ids))


def append(ids: pd.Index[Any], others: pd.Index[Any]) -> pd.Index[Any]:
    """Return ids followed by others, one or more, of the dtype of the first.

    Where that does not hold them all, it is that of the categories, or what pandas finds for both.
    """
    if isinstance(ids, pd.MultiIndex):
        levels = [
            append(ids.get_level_values(number), others.get_level_values(number))
            for number in range(ids.nlevels)
        ]
        return as_users(levels)
    codes, distinct = pd.factorize(others)
    dtype: Any = ids.dtype
    same = _cast(pd.Index(distinct, dtype=distinct.dtype), dtype)
    both: pd.Index[Any]
    if same is not None:
        both = ids.append(same.take(codes).rename(ids.name)).astype(dtype)
    elif isinstance(dtype, pd.CategoricalDtype):
        both = append(ids.astype(dtype.categories.dtype), others)
    else:
        values = [*ids.tolist(), *others.tolist()]
        try:
            both = pd.Index(values, name=ids.name, tupleize_cols=False)
        except (OverflowError, UnicodeError):  # beside others, what a dtype does not hold
            both = pd.Index(values, dtype=object, name=ids.name, tupleize_cols=False)
    return both


def _cast(ids: pd.Index[Any], dtype: Any) -> pd.Index[Any] | None:
    """Return distinct ids in a dtype, or None where it does not hold them."""
    if isinstance(dtype, pd.CategoricalDtype):
        codes = match(ids, dtype.categories, "user")
        if codes.min() < 0:
            return None
        return pd.Index(pd.Categorical.from_codes(codes, dtype=dtype))
    try:
        same = plain(ids).astype(dtype)
    except (TypeError, ValueError, OverflowError, NotImplementedError):
        return None  # each is what some dtype raises for a value it does not hold
    kept = same.is_unique and np.array_equal(match(ids, same, "user"), np.arange(len(ids)))
    return same if kept else None


def plain(ids: pd.Index[Any]) -> pd.Index[Any]:
    """Return ids out of what only stores them: categories, nullable and Arrow arrays."""
    dtype = ids.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return plain(pd.Index(ids.astype(dtype.categories.dtype)))
    numpy_dtype = getattr(dtype, "numpy_dtype", None)
    if numpy_dtype is not None and np.dtype(numpy_dtype).kind in "iufb":
        ids = pd.Index(ids.to_numpy(numpy_dtype))
    elif isinstance(dtype, pd.ArrowDtype):
        ids = ids.astype(object)
    return ids


def _integers(ids: pd.Series | pd.Index[Any]) -> Array | None:
    """Return integers as int64, or None for ids that are not integers of at most 64 bits."""
    dtype = ids.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iu" and np.can_cast(dtype, np.int64):
        return ids.to_numpy().astype(np.int64, copy=False)
    return None
