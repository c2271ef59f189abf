"""Companions: truth and exclude for blocks of rows, and the checks of all blocks."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd

from recframe.errors import RecframeError, quote
from recframe.frames.columns import Columns
from recframe.frames.id_kinds import N_EXAMPLES
from recframe.frames.id_matching import (
    Items,
    Overlap,
    Pairs,
    UserCounts,
    add_counts,
    match,
)
from recframe.frames.ids import as_users, list_levels
from recframe.frames.interactions import Interactions, read_interactions
from recframe.frames.judgments import (
    NO_ROWS,
    Candidates,
    Judgments,
    read_excluded,
    read_judgments,
)
from recframe.frames.tables import Make
from recframe.frames.truth import Judge
from recframe.notes import Facts, note, taking_notes
from recframe.options import Options

N_USERS = 1 << 13  # users that a block names as examples if it shares none


class Companions(NamedTuple):
    """Truth and exclude, as pairs that rows are looked up in.

    They have all users, or only the users of one block if they `are_partitioned` like the rows.
    """

    judgments: Judgments | None = None
    excluded: Pairs | None = None
    are_partitioned: bool = False


class BlockResult(NamedTuple):
    """The result for a block, its notes, and its part in the checks of all blocks.

    `common` has the ids shared with exclude and with partitioned truth, `items` the items shared
    with truth.
    """

    made: Any
    users: pd.Index[Any]
    common: list[Overlap]
    items: Items = Items(False)
    counts: UserCounts | None = None  # if truth is partitioned and must have the same users
    facts: Facts = Facts()
    lengths: Mapping[tuple[str, str], int] = {}  # the length of the vectors of each column


class Block(NamedTuple):
    """The arrays of a block, which has all rows of its users, and its ids that companions share."""

    interactions: Interactions
    users: pd.Index[Any]  # users who have rows
    overlaps: list[Overlap]  # one for each companion that removed rows
    judge: Judge | None
    are_partitioned: bool  # True: truth and exclude have the users of this block only.

    def give(self, made: Any, facts: Facts) -> BlockResult:
        """Return the result for the block, with its part in the checks of all blocks."""
        judge, overlaps, counts, items = self.judge, self.overlaps, None, Items(False)
        are_partitioned = self.are_partitioned
        if judge is not None:
            items = judge.overlap.items
            if are_partitioned and not judge.options.is_condensed:
                overlaps = [*overlaps, judge.overlap]  # condensed rows have no other ids
            if are_partitioned and judge.options.population == "raise":
                counts = judge.overlap.count_users()
        is_all = self.interactions.columns.user is None  # All rows were checked at once.
        common = [] if is_all else [join_overlaps([one], N_USERS) for one in overlaps]
        features = self.interactions.features.items()
        lengths = {key: one.shape[1] for key, one in features if one.ndim > 1}
        return BlockResult(made, self.users, common, items, counts, facts, lengths)


def read_companions(
    columns: Columns, options: Options, *, are_partitioned: bool = False
) -> Companions:
    """Return truth and exclude of these options; for one block they may have no rows."""
    is_all = not are_partitioned or columns.user is None
    judgments = read_judgments(columns, options, is_all=is_all) if options.has_truth else None
    return Companions(judgments, read_excluded(columns, options, is_all=is_all), are_partitioned)


def read_block(
    frame: pd.DataFrame,
    companions: Companions,
    columns: Columns,
    options: Options,
    *,
    is_all: bool,
    lenient: bool = False,
) -> Block:
    """Return the arrays of the candidates among rows, not judged yet.

    If the block has all rows (`is_all`), they are checked at once.
    """
    judgments = companions.judgments
    judge = None if judgments is None else Judge(judgments, options)
    judged = judgments.judged_pairs() if judgments and options.is_condensed else None
    candidates = Candidates(columns, companions.excluded, judged)
    rows = candidates.among(frame, is_all=is_all)
    interactions = read_interactions(rows, columns, options, lenient=lenient)
    users, are_partitioned = interactions.users.ids, companions.are_partitioned
    return Block(interactions, users, candidates.overlaps, judge, are_partitioned)


def judge_block(
    frame: pd.DataFrame,
    companions: Companions,
    columns: Columns,
    options: Options,
    *,
    is_all: bool,
) -> Block:
    """Return the arrays of the candidates among rows, with the relevance that truth gives."""
    block = read_block(frame, companions, columns, options, is_all=is_all)
    if block.judge is None:
        return block
    are_partitioned = companions.are_partitioned
    judged = block.judge.judge(block.interactions, is_all=is_all, adds_absent=are_partitioned)
    if is_all or are_partitioned:
        block.judge.note_lost(companions.excluded)
    return block._replace(interactions=judged)


def read_judged(frame: pd.DataFrame, columns: Columns, options: Options) -> Interactions:
    """Return the arrays of all rows, with their relevance by truth if truth is passed."""
    companions = read_companions(columns, options)
    return judge_block(frame, companions, columns, options, is_all=True).interactions


class Blocks(NamedTuple):
    """The one way from blocks of rows to tables, for files, Dask and Spark.

    `make` makes a table of the users of a block. The sample is a frame without rows that has the
    columns of blocks. If truth and exclude are partitioned, each block comes with its frames.
    """

    make: Make
    columns: Columns
    options: Options
    sample: pd.DataFrame
    companions: Companions = Companions()
    lists_users: bool = True  # False: results leave out users, which need no check.
    only_mistakes: bool = False  # True notes no other facts.

    def read(self, frame: pd.DataFrame, **partitioned: pd.DataFrame) -> BlockResult:
        """Return the result for a block; `partitioned` are its truth and exclude."""
        columns, companions = self.columns, self.companions
        is_all = columns.user is None
        with taking_notes(only_mistakes=self.only_mistakes) as facts:
            if partitioned:
                options = replace(self.options, **partitioned)  # type: ignore[arg-type]  # by name
                companions = read_companions(columns, options, are_partitioned=True)
            block = judge_block(frame, companions, columns, self.options, is_all=is_all)
            made = self.make(block.interactions, self.options)
            result = block.give(made, facts)
        return result if self.lists_users else result._replace(users=result.users[:0])

    def iter_tables(self, results: Iterable[BlockResult]) -> Generator[pd.DataFrame]:
        """Yield the table of each result, and last a table of the users only truth has.

        All results are checked and noted meanwhile. At least one table is yielded.
        """
        checks, tables = Checks(self.companions, self.columns, self.options), list[pd.DataFrame]()
        yield from checks.iter_made(results)
        if checks.n_results == 0:
            tables = list(checks.iter_made([self.read(self.sample)]))
        if checks.judge is not None and self.columns.user is not None:
            checks.judge.note_lost(self.companions.excluded)
            empty = read_interactions(self.sample, self.columns, self.options)
            absent = checks.judge.judge_absent(empty)
            if len(absent.users.ids):
                tables = [self.make(absent, self.options)]
        yield from tables


class Checks:
    """Checks that need the results for all blocks."""

    def __init__(self, companions: Companions, columns: Columns, options: Options) -> None:
        self._columns = columns
        self._common: list[Overlap] = []
        self._counts: list[UserCounts] = []
        self._lengths = dict[tuple[str, str], int]()
        self.n_results = 0
        self.judge: Judge | None = None  # None if truth is partitioned
        if companions.judgments is not None and not companions.are_partitioned:
            self.judge = Judge(companions.judgments, options)

    def iter_made(self, results: Iterable[BlockResult]) -> Iterator[Any]:
        """Yield the object made for each block; the facts of the block are noted.

        At the end, raise if no block has a user, or an item, in common with truth or exclude, or
        if frame and truth must have the same users, but do not.
        """
        for result in results:
            self._add(result)
            yield result.made
        for one in self._common:
            if len(one.other_users) > 0:
                position = match(one.other_items, one.items.examples, "item", one.other)
                one.items = one.items._replace(
                    are_common=one.items.are_common or bool((position >= 0).any())
                )
                one.check()
            elif one.other == "truth":
                raise RecframeError(f"truth: {NO_ROWS}")
        for counts in self._counts:
            counts.check()

    def _add(self, result: BlockResult) -> None:
        self.n_results += 1
        note(**result.facts)
        for key, length in result.lengths.items():
            if (known := self._lengths.setdefault(key, length)) != length:
                which = f"{key[0]} column={quote(key[1])}: vectors must have one length"
                raise RecframeError(
                    f"{which}, but they have {known} and {length}. Remove or correct some."
                )
        overlaps = [self._common, result.common] if self._common else [result.common]
        self._common = [join_overlaps(of_one) for of_one in zip(*overlaps, strict=True)]
        if result.counts is not None:
            self._counts = [add_counts([*self._counts, result.counts])]
        if self.judge is not None and self._columns.user is not None:
            self.judge.overlap.note(result.users, [result.items])


def join_overlaps(parts: Sequence[Overlap], n_users: int = N_EXAMPLES) -> Overlap:
    """Return the overlap of several parts, each with its part of a companion, as one.

    At least two examples of users stay, if there are as many. If an item is shared, no example of
    an item stays.
    """
    are_listed = any(bool(part.is_listed.any()) for part in parts)
    are_common = any(part.items.are_common for part in parts)
    n_users, n_items = 2 if are_listed else n_users, 0 if are_common else N_EXAMPLES
    other_users = join_ids([part.other_users for part in parts], n_users)
    other_items = join_ids([part.other_items for part in parts], n_items)
    joined = Overlap(other_users, other_items, parts[0].other)
    joined.is_listed[:] = are_listed
    joined.users = join_ids([part.users for part in parts], n_users)
    joined.n_users = sum(part.n_users for part in parts)
    joined.is_cut = any(part.is_cut or len(part.other_users) > n_users for part in parts)
    items = join_ids([part.items.examples for part in parts], n_items)
    joined.items = Items(are_common, items)
    return joined


def join_ids(parts: Sequence[pd.Index[Any]], n_shown: int | None = None) -> pd.Index[Any]:
    """Return the ids of several parts as one index, or its first `n_shown` distinct ids."""
    shown = [part[:n_shown] for part in parts if len(part)] or [part[:0] for part in parts[:1]]
    of_parts = zip(*map(list_levels, shown or [pd.Index([])]), strict=True)
    levels = [pd.concat(list(map(pd.Series, of_level))) for of_level in of_parts]
    ids = as_users([pd.Index(ids, dtype=ids.dtype) for ids in levels])
    return ids if n_shown is None else ids.unique()[:n_shown]
