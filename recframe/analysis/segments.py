"""Segments: the values that `by`, `weights` and `unit` name, and a table for each segment."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from recframe.analysis.summary import note_undefined
from recframe.errors import RecframeError, count_of, quote
from recframe.frames.ids import sort_ids
from recframe.frames.interactions import Interactions
from recframe.frames.names import as_labels, check_label, is_infer, is_same
from recframe.frames.tables import Make, MakeTable, in_cells, mean_table, tidy_table
from recframe.frames.user_values import (
    WEIGHTS,
    align_to_users,
    find_level,
    list_users,
    read_user_column,
)
from recframe.kernel.threads import Array
from recframe.notes import note
from recframe.options import Options
from recframe.other_tables import read_views

RESULT_LEVELS = ("baseline", "score", "metric", "k")  # the index levels of results
By: TypeAlias = Hashable | pd.Series | list[Hashable | pd.Series]
# A function that makes a table of the values of users and, if passed, of their weights.
MakeWeighted = Callable[..., pd.DataFrame]


class UserValues(NamedTuple):
    """A value for each user: from a column of the frame, or from a Series.

    Parameters
    ----------
    argument : str
        The argument that names it.
    label : label
        The name of the values.
    column : label or None
        The column that is read; None: the series is indexed by user.
    series : Series, default None
        The Series that was passed.
    """

    argument: str
    label: Hashable
    column: Hashable | None
    series: pd.Series | None = None


class Grouping(NamedTuple):
    """The segments, the weights and the units of users."""

    by: tuple[UserValues, ...]
    weights: UserValues | None
    unit: UserValues | None = None

    @property
    def all(self) -> tuple[UserValues, ...]:
        """The segments, the weights and the units in one tuple."""
        return (*self.by, *(one for one in (self.weights, self.unit) if one is not None))

    @property
    def labels(self) -> list[Hashable]:
        """The columns of the frame that are read."""
        return [one.column for one in self.all if one.column is not None]

    def add_rows(self, frame: Any) -> Any:
        """Return the frame with a column for each Series that has a value for each row."""
        with_column = [one for one in self.all if one.column is not None]
        by_row = {one.column: one.series for one in with_column if one.series is not None}
        if by_row:
            frame = frame.copy(deep=False)
            frame.columns = pd.Index(list(frame.columns), dtype=object, tupleize_cols=False)
        for label, series in by_row.items():
            frame[label] = series.array
        return frame


def find_grouping(
    frame: pd.DataFrame, by: Any, weights: Any, users: Sequence[Any], unit: Any = None
) -> Grouping:
    """Return the values that `by`, `weights` and `unit` name; raise for a wrong name.

    A Series has the frame's index, or an index whose levels are named like user columns.
    A unit that is a user column is in the index of users and is not read.
    """
    if isinstance(by, list) and not by:
        raise RecframeError(
            "by must name at least one column, but names none. Leave it out for one."
        )
    segments = tuple(_find_values(frame, "by", one, users) for one in as_labels(by))
    names = [one.label for one in segments]
    taken = [name for name in names if name in RESULT_LEVELS]
    if taken:
        raise RecframeError(
            f"by={quote(taken[0])} has the name of an index level of the results, {RESULT_LEVELS}. "
            "Rename it."
        )
    if len(set(names)) < len(names):
        raise RecframeError(f"by must name each column once, but is {quote(by)}")
    weighting = None if weights is None else _find_values(frame, "weights", weights, users)
    is_known = unit is None or is_infer(unit) or any(is_same(unit, one) for one in users)
    units = None if is_known else _find_values(frame, "unit", unit, users)
    return Grouping(segments, weighting, units)


def _find_values(
    frame: pd.DataFrame, argument: str, values: Any, users: Sequence[Hashable]
) -> UserValues:
    """Return the values of an argument: a column by its label, or a Series by row or by user."""
    if isinstance(values, UserValues):
        return values
    if not isinstance(values, pd.Series):
        # Polars' Series have an Arrow stream; NumPy's arrays and Spark's columns are not hashable.
        is_other = hasattr(type(values), "__arrow_c_stream__")
        if is_other or not isinstance(values, Hashable):
            raise RecframeError(
                f"{argument} must be a column of the frame or a Series indexed by user (of "
                f"pandas), but is {quote(values)}"
            )
        check_label(frame, argument, values)
        return UserValues(argument, values, values)
    label = "segment" if values.name is None else values.name
    values = read_views(values.to_frame()).iloc[:, 0]
    names, index = values.index.names, values.index
    if len(values) and index.equals(frame.index) and names == frame.index.names:
        return UserValues(argument, label, (argument, label, "of rows"), values)
    if len(values) and users and any(name is None or name not in users for name in names):
        levels = list(users)[-len(names) :]
        call = f"rename_axis({quote(levels[0] if len(levels) == 1 else levels)})"
        if None in levels:  # the index of a per-user table may have no name
            call = "reindex(per_user.index)"
        choices, none = "a Series with the frame's own index, or one", "is neither"
        if len(frame) == 0:  # a sample of an engine whose rows have no index
            choices, none = "or a Series", "is not"
        is_column = values.name is not None and values.name in frame.columns
        column = f"; if it is a column, pass {argument}={quote(label)}" if is_column else ""
        raise RecframeError(
            f"{argument} must be a column's label, {choices} whose index is named as the user "
            f"column; found one whose index, {len(values)} labels such as "
            f"{quote(index[:1].tolist()[0])} named {quote(list(names))}, {none}; if it holds "
            f"users, pass {argument}={argument}.{call}{column}"
        )
    if not index.is_unique:
        user = index[index.duplicated()][0]
        raise RecframeError(
            f"{argument} must have one value for each user, but has several for user "
            f"{quote(user)}. Index it by user, each once."
        )
    return UserValues(argument, label, None, values)


def measure_with_values(
    interactions: Interactions, options: Options, measure: Make, grouping: Grouping
) -> pd.DataFrame:
    """Return one cell with the per-user table and the users' values, for all parts to be joined."""
    order = sort_ids(interactions.users.ids)
    if any(one.column is not None and one.series is None for one in grouping.by):
        users, groups = interactions.users
        are_absent = (np.diff(groups.offsets) == 0) & ~users.isin(list_users(interactions))
        note(users_without_segment=int(np.count_nonzero(are_absent)))
    values = {
        number: read_user_column(interactions, *one[:3]).iloc[order].array
        for number, one in enumerate(grouping.all)
        if one.column is not None
    }
    return in_cells([(measure(interactions, options), pd.DataFrame(values, range(len(order))))])


def read_cell(block: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the per-user table of a block, and the values of users that its cell has, if any."""
    if block.columns.nlevels > 1:
        return block, pd.DataFrame(index=range(len(block)))
    per_user, values = block["cell"].iloc[0]
    return per_user, values


def tidy_block(block: pd.DataFrame, names: Sequence[Hashable]) -> pd.DataFrame:
    """Return the per-user table of a block as plain columns: users and their values first.

    The names are those of segments, weights and unit, as far as the block has them.
    """
    per_user, values = read_cell(block)
    levels = [
        pd.Index(values[number].array, name=name)
        for number, name in zip(values, names, strict=False)
        if name not in per_user.index.names
    ]
    return tidy_table(per_user.set_index(levels, append=True) if levels else per_user)


class Segmented(NamedTuple):
    """The values and weights of users in segments.

    Parameters
    ----------
    grouping, per_user, weights : Grouping, DataFrame, Series or None
        The segments, and the values and the weights of users.
    keys : DataFrame
        The values that each segment has in common, in numbered columns.
    order, offsets : ndarray of shape (n_users,) and (n_segments + 1,), int
        The positions of users, segment by segment, and where each segment begins and ends there.
    """

    grouping: Grouping
    per_user: pd.DataFrame
    weights: pd.Series | None
    keys: pd.DataFrame
    order: Array
    offsets: Array

    def each(self, *, shows_bar: bool) -> Iterator[tuple[Array, pd.DataFrame, pd.Series | None]]:
        """Yield the positions, values and weights of each segment's users."""
        limits: Iterable[Any] = list(pairwise(self.offsets))
        if shows_bar and len(self.keys) > 1:
            from tqdm.auto import tqdm  # this import takes a tenth of a second

            limits = tqdm(limits, unit=" segments", leave=False)
        for start, end in limits:
            rows = self.order[start:end]
            weights = None if self.weights is None else self.weights.iloc[rows]
            yield rows, self.per_user.iloc[rows], weights

    def add_up(self, values: Array) -> Array:
        """Return the sum of the users' values in each segment, a row for each segment.

        It has the same bits as `add_columns` of the segment; groupby's sum may not. NumPy's sum
        adds pairwise sums to 0. `reduceat` adds them to the first row, so a row of 0 is inserted.
        """
        starts = self.offsets[:-1]
        values = np.insert(np.ascontiguousarray(values[self.order].T), starts, 0.0, axis=1)
        sums: Array = np.add.reduceat(values, starts + np.arange(len(starts)), axis=1)
        return sums.T


def segment_users(parts: pd.DataFrame, grouping: Grouping) -> Segmented:
    """Return the users of all parts in segments."""
    per_user, values = (pd.concat(tables) for tables in zip(*parts["cell"], strict=True))
    order = sort_ids(per_user.index)
    return _segment(per_user.iloc[order], values.iloc[order], grouping)


def segment_table(per_user: pd.DataFrame, by: Any, weights: Any) -> Segmented:
    """Return the users of a table in segments, by Series or by levels of the table's index."""
    weights = find_level(weights, per_user.index)
    several = [find_level(one, per_user.index) for one in as_labels(by)]
    for argument, values in (("weights", weights), *(("by", one) for one in several)):
        if not isinstance(values, pd.Series | None):
            names = [name for name in per_user.index.names if name is not None]
            levels = f" or a level of its index, {quote(names)}" if argument == "by" else ""
            raise RecframeError(
                f"{argument} must be a Series indexed by user{levels}, but is {quote(values)}; a "
                "table of users' values has no other columns"
            )
    grouping = find_grouping(per_user, several or by, weights, per_user.index.names)
    note_undefined(per_user)
    is_unused = weights is None and WEIGHTS in per_user.index.names
    note(users=len(per_user), users_of_weights_unused=len(per_user) * is_unused)
    return _segment(per_user, pd.DataFrame(), grouping)


def _segment(per_user: pd.DataFrame, read: pd.DataFrame, grouping: Grouping) -> Segmented:
    """Return users in segments, by the values read from columns, numbered, and by Series."""
    values = [
        read[number]
        if one.series is None or number in read
        else align_to_users(one.argument, one.series, per_user.index)
        for number, one in enumerate(grouping.all)
    ]
    weights = unit = None
    if grouping.unit is not None:
        unit = pd.Index(values.pop().array, name=grouping.unit.label)
    if grouping.weights is not None:
        weights = _check_weights(values.pop(), per_user.index, grouping.weights)
    columns = {n: one.reset_index(drop=True) for n, one in enumerate(values)}
    keys = pd.DataFrame(columns, range(len(per_user)))
    by: Any = list(keys) or np.zeros(len(keys))
    number = keys.groupby(by, dropna=False, observed=True).ngroup().to_numpy()
    order, offsets = np.argsort(number, kind="stable"), np.append(0, np.bincount(number).cumsum())
    if unit is not None:  # statistics look for it in the index
        per_user = per_user.set_index(unit, append=True)
    return Segmented(grouping, per_user, weights, keys.iloc[order[offsets[:-1]]], order, offsets)


def apply_by_segment(
    segmented: Segmented, make_table: MakeWeighted, *, shows_bar: bool = False
) -> pd.DataFrame:
    """Return the tables that `make_table` makes of each segment, under outer index levels."""
    grouping, per_user, weights, *_ = segmented
    if not grouping.by:
        return make_table(per_user, weights)
    tables = [make_table(*users) for _, *users in segmented.each(shows_bar=shows_bar)]
    return join_segments(tables or [make_table(per_user, weights).iloc[:0]], segmented)


def mean_by_segment(segmented: Segmented, make_table: MakeTable = pd.DataFrame) -> pd.DataFrame:
    """Return the table that `make_table` makes of the means of all segments."""
    if segmented.keys.empty:  # without segments, or without users
        return apply_by_segment(segmented, lambda *users: make_table(mean_table(*users)))
    means = mean_table(segmented.per_user, segmented.weights, segmented.add_up)
    return make_table(_label_segments(means, len(means) // len(segmented.keys), segmented))


def join_segments(tables: list[pd.DataFrame], segmented: Segmented) -> pd.DataFrame:
    """Return the tables of segments as one, with the segments as outer index levels."""
    joined = type(tables[0])(pd.concat(tables))
    joined.attrs = tables[0].attrs
    for label in joined:  # a table leaves out numbers of users that are all 0
        if any(label not in table for table in tables):
            joined[label] = joined[label].fillna(0).astype(np.int64)
    return _label_segments(joined, [len(table) for table in tables if len(table)], segmented)


def list_segments(segmented: Segmented) -> list[dict[str, Any]]:
    """Return each segment as a dict of its values by column."""
    names = [str(one.label) for one in segmented.grouping.by]
    keys = segmented.keys.itertuples(name=None)
    return [dict(zip(names, key, strict=True)) for _, *key in keys]


def _label_segments(table: pd.DataFrame, n_rows: Any, segmented: Segmented) -> pd.DataFrame:
    """Return a table with segments as outer index levels; `n_rows` is for each, or for all."""
    keys = segmented.keys
    segment = np.arange(len(keys)).repeat(np.array(n_rows, int))
    outer = [keys[n].iloc[segment].array for n in keys]
    inner = [table.index.get_level_values(n) for n in range(table.index.nlevels)]
    names = [*(one.label for one in segmented.grouping.by), *table.index.names]
    return table.set_axis(pd.MultiIndex.from_arrays([*outer, *inner], names=names))


def _check_weights(values: pd.Series, users: pd.Index[Any], source: UserValues) -> pd.Series:
    """Return the weights of users as floats; raise unless each is a number of 0 or more."""
    named = f"weights={quote(source.label)}"
    if not is_numeric_dtype(values.dtype) or is_bool_dtype(values.dtype):
        raise RecframeError(f"{named} must hold numbers, but holds {values.dtype}")
    weights = values.set_axis(users).astype(float)
    wrong = np.flatnonzero(~(np.isfinite(weights.to_numpy()) & (weights.to_numpy() >= 0)))
    if len(wrong):
        user, weight = users[[wrong[0]]].tolist()[0], weights.iloc[wrong[0]]
        raise RecframeError(
            f"{named} must be a finite number of 0 or more for each user, but has "
            f"{count_of(len(wrong), 'other')} (user {quote(user)} has {weight}); a Series "
            "indexed by user can weigh users without rows too"
        )
    return weights
