"""Rows by user: which rows are whose, the users in sorted order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from recframe.errors import quote
from recframe.frames.id_runs import find_runs
from recframe.frames.keys import (
    MANY,
    Keys,
    check_dtype,
    encode_values,
    factorize,
    find_keys,
    have_nulls,
    number_short,
)
from recframe.frames.kinds import check_ids
from recframe.frames.nulls import find_nulls, null_error
from recframe.frames.text_words import encode_texts
from recframe.frames.user_index import Ids, as_users, order_of_ids, take_ids
from recframe.kernel.grouping import (
    combine,
    find_all,
    group_offsets,
    invert,
    narrow,
    rows_of_runs,
    take,
)
from recframe.kernel.radix import Keep, argsort, group_beside, sort_beside
from recframe.kernel.row_order import KnownOrder, LazyOrder, RowOrder
from recframe.kernel.threads import Array

Values: TypeAlias = Array | Callable[[], Array]


class UserGroups(NamedTuple):
    """The rows of each user.

    Parameters
    ----------
    users : Index of length n_users
        The user ids, each once, in the order the groups are counted in. It has a level for each
        of several columns.
    row_order : RowOrder or None
        The rows in grouped order; None where they are grouped as they stand.
    offsets : ndarray of shape (n_users + 1,), int
        The bounds of the groups in that order.
    sorted_by : ndarray of shape (n_users,), int, or None
        The order that sorts the users, where it is known already.
    """

    users: pd.Index[Any]
    row_order: RowOrder | None
    offsets: Array
    sorted_by: Array | None = None

    @property
    def order(self) -> Array | None:
        """The rows in grouped order; None where they are grouped as they stand."""
        return None if self.row_order is None else self.row_order.rows

    def take_rows(self, places: Array) -> Array:
        """Return the rows at these places of the grouped order."""
        return places if self.row_order is None else self.row_order.take(places)

    def in_order(self, values: Array) -> Array:
        """Return values of rows in grouped order."""
        order = self.order
        return values if order is None else take(values, order)


class UserIds(NamedTuple):
    """The columns that tell users apart, and the keys of their ids, none of which is null.

    They have a cell for each row, or where the bounds of runs of one user are known, for each run.
    """

    columns: Sequence[pd.Series]
    keys: Sequence[Keys | None]
    bounds: Array | None = None

    def take_rows(self, rows: Array | None) -> UserIds:
        """Return the ids of these rows, None: of all, where the bounds of runs are known."""
        if rows is None or self.bounds is None:
            return self
        run = np.searchsorted(self.bounds, rows, side="right") - 1
        return read_users([column.take(run) for column in self.columns])


def group_users(*columns: pd.Series) -> UserGroups:
    """Return the rows of each user, or raise where an id is null.

    Of several columns each combination of their ids is a user.
    """
    return group_values(read_users(columns), [], keep_order=True)[0]


def read_users(columns: Sequence[pd.Series]) -> UserIds:
    """Return the ids of users, or raise where one is null, or of a dtype that cannot be one."""
    keys = []
    for column in columns:
        check_dtype(column, "user")
        own = find_keys(column)
        if have_nulls(own, column):
            raise null_error(f"user={quote(column.name)}: ids", find_nulls(column))
        keys.append(own)
    return UserIds(columns, keys)


def group_values(
    ids: UserIds, values: Sequence[Values], *, keep_order: bool
) -> tuple[UserGroups, list[Values]]:
    """Return what `group_users` does, and values in grouped order.

    Values may be a function that returns them, which is called only where rows are to be sorted.
    An order that is not kept is looked for again if it is asked for.
    """
    groups, grouped = _group(ids, values, keep_order=keep_order)
    for number, column in enumerate(ids.columns):
        if column.dtype.kind in "fO":
            users = groups.users
            distinct = users.levels[number] if isinstance(users, pd.MultiIndex) else users
            check_ids(distinct, column, "user")
    return groups, grouped


def _group(
    ids: UserIds, values: Sequence[Values], *, keep_order: bool
) -> tuple[UserGroups, list[Values]]:
    """Return the rows of each user, and values of the rows in grouped order."""
    columns, keys, bounds = ids
    if bounds is not None:
        heads = [pd.Index(column.array, copy=False, name=column.name) for column in columns]
        return _group_runs(heads, values, bounds)
    if (bounds := find_runs(keys)) is not None:
        return _group_runs(take_ids(columns, keys, bounds[:-1]), values, bounds)
    numbers, are_sorted = _number_users(columns, keys)
    # Integers are the ids themselves: no row is to be looked up.
    are_ids = numbers is keys[0] and numbers.dtype == columns[0].dtype
    keep: Keep = "order" if keep_order else "numbers" if are_ids else "firsts"
    begins, kept, grouped, is_ascending = group_beside(numbers, _read(values), keep)
    starts = find_all(begins)
    offsets = np.append(starts, len(numbers))
    users: pd.Index[Any]
    rows: RowOrder
    if keep == "order":
        users, rows = as_users(take_ids(columns, keys, take(kept, starts))), KnownOrder(kept)
    elif keep == "numbers":
        users = pd.Index(kept, copy=False, name=columns[0].name)
        rows = LazyOrder(numbers, lambda user: kept[user], offsets)
    else:
        users = as_users(take_ids(columns, keys, kept))
        rows = LazyOrder(numbers, lambda user: numbers[kept[user]], offsets)
    groups = UserGroups(users, rows, offsets, _own_order(users, are_sorted and is_ascending))
    return groups, list(grouped)


def _group_runs(
    heads: Sequence[pd.Index[Any]], values: Sequence[Values], bounds: Array
) -> tuple[UserGroups, list[Values]]:
    """Return what `_group` does, of rows that come in runs of one user, given their ids."""
    numbers, are_sorted = _number_users(heads, [find_keys(ids) for ids in heads])
    begins, order, *_ = (sort_beside if are_sorted else group_beside)(numbers, [])
    if begins.all():
        # Each user is one run: the rows stay as they are.
        groups = UserGroups(as_users(heads), None, bounds, order if are_sorted else None)
        return groups, list(values)
    starts = find_all(begins)
    offsets = group_offsets(np.add.reduceat(np.diff(bounds)[order], starts))
    rows = rows_of_runs(order, bounds[:-1], bounds[-1])
    users = as_users([ids.take(order[starts]) for ids in heads])
    groups = UserGroups(users, KnownOrder(rows), offsets, _own_order(users, are_sorted))
    return groups, [take(each, rows) for each in _read(values)]


def _read(values: Sequence[Values]) -> list[Array]:
    """Return values, those of functions too."""
    return [each() if callable(each) else each for each in values]


def _own_order(users: pd.Index[Any], are_sorted: bool) -> Array | None:
    """Return the order that sorts users where they are sorted, None where that is not known."""
    return np.arange(len(users)) if are_sorted else None


def _number_users(columns: Ids, keys: Sequence[Keys | None]) -> tuple[Array, bool]:
    """Return an integer for each user that is equal where users are, and whether in their order."""
    numbered = [_number_ids(*each) for each in zip(columns, keys, strict=True)]
    codes, are_sorted = zip(*numbered, strict=True)
    return codes[0] if len(codes) == 1 else combine(*map(_narrow, codes)), all(are_sorted)


def _number_ids(ids: pd.Series | pd.Index[Any], keys: Keys | None) -> tuple[Array, bool]:
    """Return an integer for each id that is equal where ids are, and whether in their order."""
    if isinstance(keys, pa.Array):
        if (in_order := number_short(keys)) is not None:
            return in_order, True
        coding, numbers = encode_texts(keys, None) if len(keys) >= MANY else (None, keys)
        return encode_values(keys)[0] if coding is None else numbers.to_numpy(), False
    if keys is not None and keys.dtype.kind in "iu":
        return keys, ids.dtype != object
    return factorize(ids, "user")[0], False


def _narrow(numbers: Array) -> Array:
    """Return integers from 0 on in the order of these, of which there are not many more."""
    near = narrow(numbers)
    if near is not None:
        return near
    codes, distinct = encode_values(pa.array(numbers))
    return take(invert(argsort(distinct.to_numpy())), codes)


def sort_users(groups: UserGroups) -> Array:
    """Return the order that sorts the users."""
    return order_of_ids(groups.users) if groups.sorted_by is None else groups.sorted_by
