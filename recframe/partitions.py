"""Partitions: the result for each, on Dask and Spark, and the checks of all of them together."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.describe import Description, count_figures, describe_figures
from recframe.errors import RecframeError, RepeatedPairError, quote
from recframe.frames.columns import Columns
from recframe.frames.duplicates import advise_blindly
from recframe.frames.ids import as_users, list_levels
from recframe.frames.interactions import Interactions, read_interactions
from recframe.frames.judgments import (
    NO_ROWS,
    Candidates,
    Judgments,
    read_excluded,
    read_judgments,
)
from recframe.frames.overlap import (
    N_EXAMPLES,
    Items,
    Overlap,
    Pairs,
    UserCounts,
    add_counts,
    match,
)
from recframe.frames.tables import (
    Make,
    MakeTable,
    in_cells,
    join_tables,
    mean_of_sums,
    sum_and_count,
)
from recframe.frames.truth import Judge
from recframe.notes import Facts, Note, list_notes, taking_notes
from recframe.options import Options

MakeWhole = Callable[..., tuple[pd.DataFrame, list[Note]]]
N_USERS = 1 << 13  # named as examples by a partition without a user in common


class Common(NamedTuple):
    """The ids that a partition shares with truth, or with exclude; examples if it shares none.

    Two users are listed in any case, if it has as many.
    """

    other: str
    are_users: bool
    users: "pd.Index[Any]"
    other_users: "pd.Index[Any]"
    items: Items
    other_items: "pd.Index[Any]"


class PartitionResult(NamedTuple):
    """The result for a partition, and facts that are checked once all results are complete.

    `items` compares its items with those of truth.
    """

    made: Any
    users: "pd.Index[Any]"
    common: list[Common]
    items: Items
    counts: UserCounts | None = None  # where truth is that of its users, which must be the same
    facts: Facts | None = None  # where figures of all users are made


class Lookups(NamedTuple):
    """The pairs that rows are looked up in: truth, and pairs that are no candidates."""

    judgments: Judgments | None = None
    excluded: Pairs | None = None


def check_bound(engine: str, partitioned: object, options: Options) -> None:
    """Raise if `partitioned` is no flag, and for options that read the order of rows."""
    if not isinstance(partitioned, bool):
        raise RecframeError(f"partitioned must be True or False, found {quote(partitioned)}")
    options.check_unordered(engine)


def read_lookups(columns: Columns, options: Options, *, is_all: bool = True) -> Lookups:
    """Return the pairs that rows are looked up in; if these are a part of all, they may be none."""
    judgments = read_judgments(columns, options, is_all=is_all) if options.has_truth else None
    return Lookups(judgments, read_excluded(columns, options, is_all=is_all))


def make_partition(
    frame: pd.DataFrame,
    lookups: Lookups,
    make: Make,
    columns: Columns,
    options: Options,
    others: list[Hashable],
    *,
    is_apart: bool = False,
) -> PartitionResult:
    """Return the result for the rows of a partition.

    `others` are the labels of columns that the rows lack. If lookups hold its users alone, which
    `is_apart` says, users of truth without a row are added.
    """
    left, judge, overlaps = _leave_candidates(frame, lookups, columns, options)
    try:
        interactions = read_interactions(left, columns, options)
    except RepeatedPairError as error:
        message = f"{error.found}; {advise_blindly(others)}"
        raise RepeatedPairError(message, error.found, error.user, error.item) from error
    is_all, items, users = columns.user is None, Items(False), interactions.users.ids
    counts = None
    if judge is not None:
        interactions = judge.judge(interactions, is_all=is_all, adds_absent=is_apart)
        if is_apart:
            judge.note_lost(lookups.excluded)
        # Condensed rows have lost what is not common.
        overlaps += [judge.overlap] if is_apart and not options.is_condensed else []
        items = judge.overlap.items
        if is_apart and options.population == "raise":
            counts = judge.overlap.count_users()
    common = [] if is_all else list(map(_find_common, overlaps))
    return PartitionResult(make(interactions, options), users, common, items, counts)


def take_notes(
    make_result: Callable[..., PartitionResult],
    *given: Any,
    lists_users: bool,
    only_mistakes: bool = False,
) -> PartitionResult:
    """Return the result for a partition with its facts, and its users if they are listed."""
    with taking_notes(only_mistakes=only_mistakes) as facts:
        result = make_result(*given)
    users = result.users if lists_users else result.users[:0]
    return result._replace(users=users, facts=facts)


def make_of_partitions(
    make: Make,
    columns: Columns,
    options: Options,
    make_table: MakeTable,
    sample: pd.DataFrame,
    parts: Sequence[PartitionResult],
    lookups: Lookups = Lookups(),  # noqa: B008 - which is a tuple
) -> tuple[pd.DataFrame, list[Note]]:
    """Return the table made of all partitions, checked, and its notes."""
    made = [part.made for part in parts] or [make_empty(make, sample, columns, options)]
    with taking_notes() as facts:
        for part in parts:
            facts.update(part.facts)
        if judge := check_partitions(parts, lookups, columns, options):
            judge.note_lost(lookups.excluded)
            if columns.user is not None:
                absent = judge.judge_absent(read_interactions(sample, columns, options))
                made.append(make(absent, options))
        # Sums depend on the order of what is summed: in this one they are those of pandas.
        table = make_table(join_tables(made))
    return table, list_notes(facts, options)


def make_by_sums(make: Make, make_table: MakeTable) -> tuple[Make, MakeTable]:
    """Return what adds up the values of a partition, and what makes a table of their means."""

    def add_up(interactions: Interactions, options: Options) -> pd.DataFrame:
        return in_cells([sum_and_count(make(interactions, options))])

    def make_of_sums(cells: pd.DataFrame) -> pd.DataFrame:
        return make_table(mean_of_sums(pd.concat(cells["cell"].tolist())))

    return add_up, make_of_sums


def count_partition(
    frame: pd.DataFrame, lookups: Lookups, columns: Columns, k: int, options: Options
) -> PartitionResult:
    """Return the figures of a partition, given all of truth."""
    with taking_notes() as facts:
        left, judge, overlaps = _leave_candidates(frame, lookups, columns, options)
        interactions = read_interactions(left, columns, options, lenient=True)
        figures = count_figures(interactions, options, k, judge)
    items = Items(False) if judge is None else judge.overlap.items
    common = [] if columns.user is None else list(map(_find_common, overlaps))
    return PartitionResult(figures, interactions.users.ids, common, items, facts=facts)


def describe_partitions(
    parts: Sequence[PartitionResult],
    lookups: Lookups,
    empty: pd.DataFrame,
    columns: Columns,
    k: int,
    options: Options,
) -> Description:
    """Return the description that the figures of partitions add up to, given a frame of no row."""
    figures = [part.made for part in parts]
    with taking_notes() as facts:
        for part in parts:
            facts.update(part.facts)
        others = check_partitions(parts, lookups, columns, options), lookups.excluded
        return describe_figures(figures, empty, columns, k, options, *others)


def check_partitions(
    parts: Sequence[PartitionResult], lookups: Lookups, columns: Columns, options: Options
) -> Judge | None:
    """Return the judge that has taken note of all partitions, if truth is given.

    Raise where a user is in several, or all have nothing in common with truth or exclude.
    """
    users = join_ids([part.users for part in parts])
    if len(again := users[users.duplicated()].unique()):
        raise RecframeError(
            f"partitioned=True: all rows of a user must be in one partition, found {len(again)} of "
            f"{users.nunique()} users in several (such as {quote(again.tolist()[0])}); leave "
            "partitioned=True out, and a shuffle brings them together"
        )
    check_common([one for part in parts for one in part.common], [part.counts for part in parts])
    if lookups.judgments is None:
        return None
    judge = Judge(lookups.judgments, options)
    if parts and columns.user is not None:
        judge.overlap.note(users, [part.items for part in parts])
    return judge


def check_common(common: Sequence[Common], counts: Sequence[UserCounts | None]) -> None:
    """Raise where all partitions have no user, or no item, in common with truth or exclude.

    Raise also if users differ from those of truth and must be the same.
    """
    for other in ("truth", "exclude"):
        parts = [one for one in common if one.other == other]
        if not parts:
            continue
        ids = [(one.users, one.other_users, one.items.examples, one.other_items) for one in parts]
        users, other_users, examples, other_items = (
            join_ids(of_parts).unique() for of_parts in zip(*ids, strict=True)
        )
        if len(other_users) == 0:
            if other == "exclude":
                continue
            raise RecframeError(f"truth: {NO_ROWS}")
        are_users = any(part.are_users for part in parts)
        are_items = any(part.items.are_common for part in parts)  # in any one partition
        are_items = are_items or bool((match(other_items, examples, "item", other) >= 0).any())
        items = Items(are_items, examples)
        overlap = Overlap(other_users, other_items, other)
        position = np.full(len(other_users), 0 if are_users else -1)
        overlap.note(users, [items], position)
        if any(N_USERS in (len(part.users), len(part.other_users)) for part in parts):
            overlap.note(users[:1], [], position)  # there may be others
        overlap.check()
    if known := [one for one in counts if one is not None]:
        add_counts(known).check()


def _leave_candidates(
    frame: pd.DataFrame, lookups: Lookups, columns: Columns, options: Options
) -> tuple[pd.DataFrame, Judge | None, list[Overlap]]:
    """Return the candidates among rows, their judge, and the overlaps that both find."""
    judgments, excluded = lookups
    judged = judgments.judged_pairs() if judgments and options.is_condensed else None
    candidates = Candidates(columns, excluded, judged)
    left = candidates.among(frame, is_all=columns.user is None)
    judge = None if judgments is None else Judge(judgments, options)
    return left, judge, candidates.overlaps


def _find_common(overlap: Overlap) -> Common:
    """Return the ids that a partition shares with truth or exclude, as far as all together ask."""
    are_users, items = bool(overlap.is_listed.any()), overlap.items
    n_shown = 2 if are_users else N_USERS
    # Joined, these keep no more ids in their levels.
    users, others = (join_ids([ids[:n_shown]]) for ids in (overlap.users, overlap.other_users))
    other_items = overlap.other_items[: 0 if items.are_common else N_EXAMPLES]
    return Common(overlap.other, are_users, users, others, items, other_items)


def join_ids(parts: Sequence["pd.Index[Any]"]) -> "pd.Index[Any]":
    """Return the ids of several partitions, those of each level joined."""
    parts = [part for part in parts if len(part)] or parts[:1] or [pd.Index([])]
    of_parts = zip(*map(list_levels, parts), strict=True)
    levels = [pd.concat(list(map(pd.Series, of_level))) for of_level in of_parts]
    return as_users([pd.Index(ids, dtype=ids.dtype) for ids in levels])


def make_empty(
    make: Make, sample: pd.DataFrame, columns: Columns, options: Options
) -> pd.DataFrame:
    """Return the table for no row."""
    # Without rows user=None is one short ranking, which only the data may be refused for.
    with taking_notes(only_mistakes=True):  # and which nothing is said of
        return make(read_interactions(sample, columns, options), replace(options, short="pad"))
