"""Segments: a table for each group of users, and the weights of users, by what users have."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from recframe.analysis.grouping import Grouping, Own, find_grouping
from recframe.errors import RecframeError, quote
from recframe.frames.ids import sort_ids
from recframe.frames.interactions import Interactions
from recframe.frames.tables import in_cells, make_columns, tidy_table
from recframe.frames.user_values import find_level, of_users, read_own
from recframe.kernel.threads import Array
from recframe.metrics.names import Metric
from recframe.options import Options

Measure = Callable[[Interactions, Options], pd.DataFrame]


class MakeWeighted(Protocol):
    """Makes a table of the values of users and of their weights, None where all count alike."""

    def __call__(self, per_user: pd.DataFrame, weights: pd.Series | None = None) -> pd.DataFrame:
        """Return the table."""


def measure_with_own(
    interactions: Interactions, options: Options, measure: Measure, grouping: Grouping
) -> pd.DataFrame:
    """Return the per-user table, and what users have beside it, in one cell that travels."""
    order = interactions.users.sort()
    own = [
        None if one.given is not None else read_own(interactions, *one[:2]).iloc[order]
        for one in grouping.all
    ]
    return in_cells([(measure(interactions, options), own)])


def tidy_part(part: pd.DataFrame, grouping: Grouping) -> pd.DataFrame:
    """Return the per-user table of such a cell as plain columns, the segments' behind the users'.

    Columns that tell users apart are there already.
    """
    per_user, own = part["cell"].iloc[0]
    users = per_user.index
    levels = [users.get_level_values(number) for number in range(users.nlevels)]
    for one, values in zip(grouping.all, own, strict=True):
        if one in grouping.by and one.label not in users.names:
            levels.append(pd.Index(values.array, name=one.label))
    if len(levels) > users.nlevels:
        per_user = per_user.set_axis(pd.MultiIndex.from_arrays(levels))
    return tidy_table(per_user)


class Segmented(NamedTuple):
    """The values of users in segments, with what each user counts."""

    per_user: pd.DataFrame
    weights: pd.Series | None
    keys: pd.DataFrame  # what each user's segment is by, a column for each, numbered
    segments: list[Array]  # the positions of each one's users, in order of the segments


def table_by_segment(
    parts: pd.DataFrame,
    grouping: Grouping,
    make_table: MakeWeighted,
    scores: Sequence[Hashable],
    metrics: Sequence[Metric],
) -> pd.DataFrame:
    """Return what is made of the users of each segment, whose values are the outer levels."""
    return _make_each(segment_users(parts, grouping, scores, metrics), grouping, make_table)


def segment_users(
    parts: pd.DataFrame, grouping: Grouping, scores: Sequence[Hashable], metrics: Sequence[Metric]
) -> Segmented:
    """Return the users of all parts in segments."""
    cells = parts["cell"].tolist()
    columns = make_columns(list(scores), [metric.label for metric in metrics])
    none = pd.DataFrame(columns=columns, dtype=float)
    per_user = pd.concat([table for table, _ in cells]) if cells else none
    order = sort_ids(per_user.index)
    per_user = per_user.iloc[order]
    values = [
        _join([own[number] for _, own in cells], order)
        if one.given is None
        else of_users(one.argument, one.given, per_user.index)
        for number, one in enumerate(grouping.all)
    ]
    return _segment(per_user, values, grouping)


def table_of_given(
    per_user: pd.DataFrame, by: Any, weights: Any, make_table: MakeWeighted
) -> pd.DataFrame:
    """Return what is made of the users of each segment, by values given for users."""
    grouping, segmented = segment_given(per_user, by, weights)
    return _make_each(segmented, grouping, make_table)


def segment_given(per_user: pd.DataFrame, by: Any, weights: Any) -> tuple[Grouping, Segmented]:
    """Return users in segments, by values given for users or by levels of their index."""
    several = [find_level(one, per_user.index) for one in (by if isinstance(by, list) else [by])]
    for argument, given in (("weights", weights), *(("by", one) for one in several)):
        if not isinstance(given, pd.Series | None):
            names = [name for name in per_user.index.names if name is not None]
            levels = f" or a level of its index, {quote(names)}" if argument == "by" else ""
            raise RecframeError(
                f"{argument} must be a Series indexed by user{levels}, found {quote(given)}; a "
                "table of users' values has no other columns"
            )
    by = several if isinstance(by, list) else several[0]
    grouping = find_grouping(per_user, by, weights)
    grouping = Grouping((), None) if grouping is None else grouping
    values = [
        of_users(one.argument, one.given, per_user.index)
        for one in grouping.all
        if one.given is not None
    ]
    return grouping, _segment(per_user, values, grouping)


def _segment(per_user: pd.DataFrame, values: list[pd.Series], grouping: Grouping) -> Segmented:
    """Return users in segments by the values they have."""
    weights = None
    if grouping.weights is not None:
        weights = _check_weights(values.pop(), per_user.index, grouping.weights)
    keys = pd.DataFrame({n: own.reset_index(drop=True) for n, own in enumerate(values)})
    segments = [np.arange(len(per_user))]
    if values:
        segments = [
            of_key.index.to_numpy()
            for _, of_key in keys.groupby(list(keys), dropna=False, observed=True)
        ]
    return Segmented(per_user, weights, keys, segments)


def _make_each(segmented: Segmented, grouping: Grouping, make_table: MakeWeighted) -> pd.DataFrame:
    """Return what is made of the users of each segment, whose values are the outer levels."""
    per_user, weights, _, segments = segmented
    if not grouping.by:
        return make_table(per_user, weights)
    made = [
        make_table(per_user.iloc[rows], None if weights is None else weights.iloc[rows])
        for rows in segments
    ]
    return join_segments(made or [make_table(per_user, weights).iloc[:0]], segmented, grouping)


def join_segments(
    made: list[pd.DataFrame], segmented: Segmented, grouping: Grouping
) -> pd.DataFrame:
    """Return the tables of segments as one, whose outer index levels say which each is of."""
    joined = pd.concat(made)
    for label in joined:  # numbers of users, which a table leaves out where all are 0
        if any(label not in table for table in made):
            joined[label] = joined[label].fillna(0).astype(np.int64)
    sizes = [len(table) for table in made if len(table)]
    first = np.repeat([rows[0] for rows in segmented.segments], sizes).astype(int)
    outer = [segmented.keys[n].iloc[first].array for n in segmented.keys]
    inner = [joined.index.get_level_values(n) for n in range(joined.index.nlevels)]
    names = [one.label for one in grouping.by]
    joined.index = pd.MultiIndex.from_arrays([*outer, *inner], names=[*names, *joined.index.names])
    return joined


def _join(parts: list[pd.Series], order: Any) -> pd.Series:
    """Return what the users of all parts have, in this order."""
    joined = pd.concat(parts, ignore_index=True) if parts else pd.Series(dtype=float)
    ordered: pd.Series = joined.iloc[order]
    return ordered


def _check_weights(values: pd.Series, users: pd.Index[Any], own: Own) -> pd.Series:
    """Return the weights of users as floats, or raise unless each is a number of 0 or more."""
    named = f"weights={quote(own.label)}"
    if not is_numeric_dtype(values.dtype) or is_bool_dtype(values.dtype):
        raise RecframeError(f"{named} must hold numbers, found {values.dtype}")
    weights = values.set_axis(users).astype(float)
    wrong = np.flatnonzero(~(np.isfinite(weights.to_numpy()) & (weights.to_numpy() >= 0)))
    if len(wrong):
        user, found = users[[wrong[0]]].tolist()[0], weights.iloc[wrong[0]]
        raise RecframeError(
            f"{named} must be a finite number of 0 or more for each user, found "
            f"{len(wrong)} others (user {quote(user)} has {found}); a Series indexed by user "
            "can weigh users without rows too"
        )
    return weights
