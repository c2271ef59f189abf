"""Segments: what `by` and `weights` name, and a table for each segment of users."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from recframe.analysis.summary import note_undefined
from recframe.errors import RecframeError, quote
from recframe.frames.ids import sort_ids
from recframe.frames.interactions import Interactions
from recframe.frames.names import as_labels, check_label, is_infer, is_same
from recframe.frames.tables import MakeTable, in_cells, make_columns, mean_table, tidy_table
from recframe.frames.user_values import WEIGHTS, align_to_users, find_level, read_user_column
from recframe.kernel.threads import Array
from recframe.metrics.names import Metric
from recframe.notes import note
from recframe.options import Options

RESULTS = ("baseline", "score", "metric", "k")  # index levels beside the segments
By: TypeAlias = Hashable | pd.Series | list[Hashable | pd.Series]
# Makes a table of the values of users and of their weights, which may be left out, or None.
MakeWeighted = Callable[..., pd.DataFrame]
Measure = Callable[[Interactions, Options], pd.DataFrame]


class Own(NamedTuple):
    """Something that each user has one value of: a column of the frame, or what is given."""

    argument: str
    label: Hashable
    column: Hashable | None  # that is read for it; None of values by user
    given: pd.Series | None = None


class Grouping(NamedTuple):
    """What parts the users, what weighs them and whose rankings are one value, None for none."""

    by: tuple[Own, ...]
    weights: Own | None
    unit: Own | None = None

    @property
    def all(self) -> tuple[Own, ...]:
        """What parts, what weighs, and what is a unit."""
        return (*self.by, *(own for own in (self.weights, self.unit) if own is not None))

    @property
    def labels(self) -> list[Hashable]:
        """The columns of the frame that are read for it."""
        return [own.column for own in self.all if own.column is not None]

    def add_rows(self, frame: Any) -> Any:
        """Return the frame with a column for each Series that goes row by row."""
        of_rows = {own.column: own.given for own in self.all if own.given is not None}
        of_rows.pop(None, None)
        if of_rows:
            frame = frame.copy(deep=False)
            frame.columns = pd.Index(list(frame.columns), dtype=object, tupleize_cols=False)
        for label, given in of_rows.items():
            frame[label] = given.array
        return frame


def find_grouping(
    frame: pd.DataFrame, by: Any, weights: Any, users: Sequence[Any], unit: Any = None
) -> Grouping:
    """Return what `by`, `weights` and `unit` name; raise where it is not there.

    A Series has the frame's own index, or one that is named as the columns of users, or some.
    A unit that is a column of users stands in their index, so that it need not be read.
    """
    if isinstance(by, list) and not by:
        raise RecframeError("by must name at least one column, found none; leave it out for one")
    found = [_find_own(frame, "by", one, users) for one in as_labels(by)]
    names = [own.label for own in found]
    taken = [name for name in names if name in RESULTS]
    if taken:
        raise RecframeError(
            f"by={quote(taken[0])} has the name of an index level of the results, {RESULTS}; "
            "rename it"
        )
    if len(set(names)) < len(names):
        raise RecframeError(f"by must name each column once, found {quote(by)}")
    own = None if weights is None else _find_own(frame, "weights", weights, users)
    is_known = unit is None or is_infer(unit) or any(is_same(unit, one) for one in users)
    return Grouping(tuple(found), own, None if is_known else _find_own(frame, "unit", unit, users))


def _find_own(frame: pd.DataFrame, argument: str, given: Any, users: Sequence[Hashable]) -> Own:
    """Return what is given for an argument: values by row or user, or the label of a column."""
    if not isinstance(given, pd.Series):
        is_other = hasattr(type(given), "__arrow_c_stream__")  # as Polars' Series
        if is_other or not isinstance(given, Hashable):  # as NumPy's arrays and Spark's columns
            raise RecframeError(
                f"{argument} must be a column of the frame or a Series indexed by user (of "
                f"pandas), found {quote(given)}"
            )
        check_label(frame, argument, given)
        return Own(argument, given, given)
    label = "segment" if given.name is None else given.name
    names, is_own = given.index.names, given.index.equals(frame.index)
    if len(given) and is_own and names == frame.index.names:
        return Own(argument, label, (argument, label, "of rows"), given)
    if len(given) and users and any(name is None or name not in users for name in names):
        own = list(users)[-len(names) :]
        call = f"rename_axis({quote(own[0] if len(own) == 1 else own)})"
        if None in own:  # of a table of users whose index has no name
            call = "reindex(per_user.index)"
        choices, none = "a Series with the frame's own index, or one", "is neither"
        if len(frame) == 0:  # as of engines whose rows have no index
            choices, none = "or a Series", "is not"
        is_column = given.name is not None and given.name in frame.columns
        column = f"; if it is a column, pass {argument}={quote(label)}" if is_column else ""
        raise RecframeError(
            f"{argument} must be a column's label, {choices} whose index is named as the user "
            f"column; found one whose index, {len(given)} labels such as "
            f"{quote(given.index[:1].tolist()[0])} named {quote(list(names))}, {none}; if it holds "
            f"users, pass {argument}={argument}.{call}{column}"
        )
    if not given.index.is_unique:
        user = given.index[given.index.duplicated()][0]
        raise RecframeError(
            f"{argument} must have one value for each user, found several for user {quote(user)}; "
            "index it by user, each once"
        )
    return Own(argument, label, None, given)


def measure_with_own(
    interactions: Interactions, options: Options, measure: Measure, grouping: Grouping
) -> pd.DataFrame:
    """Return the per-user table, and what users have beside it, in one cell that travels."""
    order = interactions.users.sort()
    if any(one.column is not None and one.given is None for one in grouping.by):
        n_rows = np.diff(interactions.users.groups.offsets)
        note(users_without_segment=int(np.count_nonzero(n_rows == 0)))
    own = {
        number: read_user_column(interactions, *one[:3]).iloc[order].array
        for number, one in enumerate(grouping.all)
        if one.column is not None
    }
    return in_cells([(measure(interactions, options), pd.DataFrame(own, range(len(order))))])


def tidy_part(part: pd.DataFrame, grouping: Grouping) -> pd.DataFrame:
    """Return the per-user table of such a cell as plain columns: users, segments, weights first."""
    per_user, own = part["cell"].iloc[0]
    if WEIGHTS in [one.label for one in grouping.by]:
        raise RecframeError(f"by={quote(WEIGHTS)} has a name that saved tables use; rename it")
    labels = [WEIGHTS if one is grouping.weights else one.label for one in grouping.all]
    levels = [
        pd.Index(own[number].array, name=label)
        for number, label in enumerate(labels)
        if label not in per_user.index.names  # which are there already
    ]
    return tidy_table(per_user.set_index(levels, append=True) if levels else per_user)


class Segmented(NamedTuple):
    """The values of users in segments, with what each user counts."""

    grouping: Grouping
    per_user: pd.DataFrame
    weights: pd.Series | None
    keys: pd.DataFrame  # what each segment is by, a column for each, numbered
    order: Array  # the positions of users, segment by segment
    offsets: Array  # where segments begin and end in it

    def each(self, *, shows_bar: bool) -> Iterator[tuple[Array, pd.DataFrame, pd.Series | None]]:
        """Yield the positions, values and weights of each segment's users."""
        bounds: Iterable[Any] = list(pairwise(self.offsets))
        if shows_bar and len(self.keys) > 1:
            from tqdm.auto import tqdm  # which takes a tenth of a second to load

            bounds = tqdm(bounds, unit=" segments", leave=False)
        for start, end in bounds:
            rows = self.order[start:end]
            own = None if self.weights is None else self.weights.iloc[rows]
            yield rows, self.per_user.iloc[rows], own

    def add_up(self, values: Array) -> Array:
        """Return the sums of each segment of the users' values, a row for each.

        Bit for bit they are those of `add_columns` for each segment, which groupby's are not. NumPy
        adds the sum of pairs of rows to a 0. `reduceat` adds it to the first row: here that is a 0.
        """
        starts = self.offsets[:-1]
        values = np.insert(np.ascontiguousarray(values[self.order].T), starts, 0.0, axis=1)
        sums: Array = np.add.reduceat(values, starts + np.arange(len(starts)), axis=1)
        return sums.T


def segment_users(
    parts: pd.DataFrame, grouping: Grouping, scores: Sequence[Hashable], metrics: Sequence[Metric]
) -> Segmented:
    """Return the users of all parts in segments."""
    columns = make_columns(list(scores), [metric.label for metric in metrics])
    numbers = [number for number, one in enumerate(grouping.all) if one.column is not None]
    none = [pd.DataFrame(columns=labels, dtype=float) for labels in (columns, numbers)]
    cells: list[Any] = parts["cell"].tolist() or [none]
    per_user, own = (pd.concat([cell[at] for cell in cells]) for at in (0, 1))
    order = sort_ids(per_user.index)
    return _segment(per_user.iloc[order], own.iloc[order], grouping)


def segment_given(per_user: pd.DataFrame, by: Any, weights: Any) -> Segmented:
    """Return users in segments, by values given for users or by levels of their index."""
    weights = find_level(weights, per_user.index)
    several = [find_level(one, per_user.index) for one in as_labels(by)]
    for argument, given in (("weights", weights), *(("by", one) for one in several)):
        if not isinstance(given, pd.Series | None):
            names = [name for name in per_user.index.names if name is not None]
            levels = f" or a level of its index, {quote(names)}" if argument == "by" else ""
            raise RecframeError(
                f"{argument} must be a Series indexed by user{levels}, found {quote(given)}; a "
                "table of users' values has no other columns"
            )
    grouping = find_grouping(per_user, several or by, weights, per_user.index.names)
    note_undefined(per_user)
    is_unused = weights is None and WEIGHTS in per_user.index.names
    note(users=len(per_user), users_of_weights_unused=len(per_user) * is_unused)
    return _segment(per_user, pd.DataFrame(), grouping)


def _segment(per_user: pd.DataFrame, own: pd.DataFrame, grouping: Grouping) -> Segmented:
    """Return users in segments by their own values of columns, numbered, and those given."""
    values = [
        own[number]
        if one.given is None or number in own
        else align_to_users(one.argument, one.given, per_user.index)
        for number, one in enumerate(grouping.all)
    ]
    weights = unit = None
    if grouping.unit is not None:
        unit = pd.Index(values.pop().array, name=grouping.unit.label)
    if grouping.weights is not None:
        weights = _check_weights(values.pop(), per_user.index, grouping.weights)
    columns = {n: own.reset_index(drop=True) for n, own in enumerate(values)}
    keys = pd.DataFrame(columns, range(len(per_user)))
    by: Any = list(keys) or np.zeros(len(keys))
    number = keys.groupby(by, dropna=False, observed=True).ngroup().to_numpy()
    order, offsets = np.argsort(number, kind="stable"), np.append(0, np.bincount(number).cumsum())
    if unit is not None:  # in the index statistics find it
        per_user = per_user.set_index(unit, append=True)
    return Segmented(grouping, per_user, weights, keys.iloc[order[offsets[:-1]]], order, offsets)


def make_each(
    segmented: Segmented, make_table: MakeWeighted, *, shows_bar: bool = False
) -> pd.DataFrame:
    """Return what is made of the users of each segment, whose values are the outer levels."""
    grouping, per_user, weights, *_ = segmented
    if not grouping.by:
        return make_table(per_user, weights)
    made = [make_table(*own) for _, *own in segmented.each(shows_bar=shows_bar)]
    return join_segments(made or [make_table(per_user, weights).iloc[:0]], segmented)


def mean_each(segmented: Segmented, make_table: MakeTable = pd.DataFrame) -> pd.DataFrame:
    """Return what is made of the means of all segments, which are added up in one step."""
    if segmented.keys.empty:  # as without segments, and of no user
        return make_each(segmented, lambda *own: make_table(mean_table(*own)))
    means = mean_table(segmented.per_user, segmented.weights, segmented.add_up)
    return make_table(_label_segments(means, len(means) // len(segmented.keys), segmented))


def join_segments(made: list[pd.DataFrame], segmented: Segmented) -> pd.DataFrame:
    """Return the tables of segments as one, whose outer index levels say which each is of."""
    joined = type(made[0])(pd.concat(made))
    joined.attrs = made[0].attrs
    for label in joined:  # numbers of users, which a table leaves out where all are 0
        if any(label not in table for table in made):
            joined[label] = joined[label].fillna(0).astype(np.int64)
    return _label_segments(joined, [len(table) for table in made if len(table)], segmented)


def _label_segments(table: pd.DataFrame, n_rows: Any, segmented: Segmented) -> pd.DataFrame:
    """Return a table with segments as outer index levels; `n_rows` of each, or of all alike."""
    keys = segmented.keys
    which = np.arange(len(keys)).repeat(np.array(n_rows, int))
    outer = [keys[n].iloc[which].array for n in keys]
    inner = [table.index.get_level_values(n) for n in range(table.index.nlevels)]
    names = [*(one.label for one in segmented.grouping.by), *table.index.names]
    return table.set_axis(pd.MultiIndex.from_arrays([*outer, *inner], names=names))


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
