"""Companions: truth and exclude for all rows or for blocks, and the checks of all blocks."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.errors import RecframeError, quote
from recframe.frames.columns import Columns, find_columns
from recframe.frames.id_kinds import N_EXAMPLES
from recframe.frames.id_matching import (
    Items,
    Overlap,
    Pairs,
    UserCounts,
    append,
    check_same_users,
    match,
)
from recframe.frames.ids import as_users, encode, find_users, list_levels
from recframe.frames.interactions import Interactions, complete_rows, read_interactions
from recframe.frames.judgments import NO_ROWS, Judgments, read_excluded, read_judgments
from recframe.frames.list_frames import reindex_rows
from recframe.frames.names import get_column, is_same
from recframe.frames.tables import Make
from recframe.frames.truth import Judge, judge_rows
from recframe.kernel.grouping import SortedPairs
from recframe.kernel.threads import Array
from recframe.note_kinds import Facts
from recframe.notes import note, taking_notes
from recframe.options import ROLE_LABELS, Options

N_USERS = 1 << 13  # users that a block names as examples if it shares none


class Companions(NamedTuple):
    """Truth and exclude, as pairs that rows are looked up in.

    They have all users, or only the users of one block if they `are_partitioned` like the rows.
    """

    judgments: Judgments | None = None
    excluded: Pairs | None = None
    are_partitioned: bool = False

    def open_judge(self, options: Options) -> Judge | None:
        """Return the judge of all blocks, None without truth or if each block has its own."""
        if self.judgments is None or self.are_partitioned:
            return None
        return Judge(self.judgments, options)

    def find_candidates(
        self, frame: pd.DataFrame, columns: Columns, options: Options, *, is_all: bool = False
    ) -> tuple[pd.DataFrame, list[Overlap]]:
        """Return the rows to rank, and the overlap with each companion that may remove rows.

        Pairs of exclude are removed, and pairs that are not judged if ``unjudged="drop"``. Rows
        with a null id stay. If the frame `is_all` rows, raise if it has no user or no item of such
        a companion.
        """
        companions = {} if self.excluded is None else {"exclude": self.excluded}
        if self.judgments is not None and options.is_condensed:
            companions["truth"] = self.judgments.judged_pairs()
        if not companions:
            return frame, []
        rows, overlaps = complete_rows(frame, (*columns.users, columns.item)), list[Overlap]()
        users, ids = find_users(frame, columns.users, rows), get_column(frame, columns.item, rows)
        items, is_out = encode(ids, "item"), np.zeros(len(ids), bool)
        sorted_pairs = SortedPairs(users.groups, items.codes)
        for name, pairs in companions.items():
            overlap = Overlap(pairs.users.ids, pairs.item.ids, name)
            matches = overlap.find(pairs, users, items, sorted_pairs, frame.attrs)
            is_removed = np.full(len(ids), name == "truth")
            is_removed[matches.row] = name == "exclude"
            fact = "rows_unjudged" if name == "truth" else "rows_excluded"
            note(**{fact: int(np.count_nonzero(is_removed & ~is_out))})
            is_out |= is_removed
            overlaps.append(overlap)
        note(rows_looked_up=len(ids))
        if is_all:
            for overlap in overlaps:
                overlap.check()
        if not is_out.any():
            return frame, overlaps
        removed = np.flatnonzero(is_out) if rows is None else rows[is_out]
        return frame.iloc[np.delete(np.arange(len(frame)), removed)], overlaps


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
    is_all, judgments, excluded = not are_partitioned or columns.user is None, None, None
    if options.has_truth:
        judgments = read_judgments(columns, options, is_all=is_all)
    if options.exclude is not None:
        excluded = read_excluded(columns, options, is_all=is_all)
    return Companions(judgments, excluded, are_partitioned)


def read_block(
    frame: pd.DataFrame,
    companions: Companions,
    columns: Columns,
    options: Options,
    *,
    is_all: bool,
    lenient: bool = False,
) -> Block:
    """Return the arrays of the candidates among rows, with the relevance that truth gives.

    If the block has all rows (`is_all`), they are checked at once. If reading is lenient, truth
    does not give relevance yet.
    """
    judgments, are_partitioned = companions.judgments, companions.are_partitioned
    judge = None if judgments is None else Judge(judgments, options)
    rows, overlaps = companions.find_candidates(frame, columns, options, is_all=is_all)
    interactions = read_interactions(rows, columns, options, lenient=lenient)
    users = interactions.users.ids
    if judge is not None and not lenient:
        interactions = judge.judge(interactions, is_all=is_all, adds_absent=are_partitioned)
        if is_all or are_partitioned:
            judge.note_lost(companions.excluded)
    return Block(interactions, users, overlaps, judge, are_partitioned)


def read_judged(frame: pd.DataFrame, columns: Columns, options: Options) -> Interactions:
    """Return the arrays of all rows, with their relevance by truth if truth is passed."""
    companions = read_companions(columns, options)
    return read_block(frame, companions, columns, options, is_all=True).interactions


def judge_frame(
    frame: pd.DataFrame, options: Options, *, is_all: bool = True
) -> tuple[pd.DataFrame, pd.Series | None]:
    """Return the judged frame and the grade of each row, null if truth lacks the row.

    The grades are None if truth has no relevance. Unless the frame `is_all` rows, it may have no
    user of truth.
    """
    if not options.has_truth:
        raise RecframeError("truth: judge needs it. Pass the frame of relevant items.")
    if options.population == "raise":
        options = replace(options, population="all")
    columns = find_columns(frame, options, call="df.rec")
    companions = read_companions(columns, options)
    judgments: Any = companions.judgments
    frame, _ = companions.find_candidates(frame, columns, options, is_all=is_all)
    interactions = read_interactions(frame, columns, options)
    judge = Judge(judgments, options)
    matches = judge.find(interactions)
    if is_all:
        judge.check()
    is_unlisted, is_absent = ~matches.are_listed(), matches.user < 0
    user = judgments.pairs.users.groups.codes
    if options.population in ("both", "rows"):
        is_added = is_unlisted & judgments.relevant & ~is_absent
    else:
        # Users of truth with neither a row nor a relevant item keep all their pairs of truth.
        has_none = ~np.isin(user, user[judgments.relevant])
        is_added = is_unlisted & (judgments.relevant | (is_absent & has_none))
    added = np.flatnonzero(is_added)
    added = added[np.argsort(user[added], kind="stable")]  # The pairs of a user stand together.

    rows, read = interactions.find_rows()
    if options.population in ("truth", "both"):
        is_known = matches.are_known(len(interactions.users.ids))
        has_known = is_known[interactions.users.groups.codes][read]
        rows, read = rows[has_known], read[has_known]
    ids = [one for one in (*columns.users, columns.item) if one is not None]
    shown = frame.iloc[rows].reset_index([one for one in ids if one in frame.index.names])
    judged = [
        _extend(shown.iloc[:, position], columns, judgments, added)
        for position, name in enumerate(shown.columns)
        if not is_same(name, "relevant")
    ]
    flags = judge_rows(interactions, judgments, matches).relevant[read]
    judged.append(pd.Series(np.append(flags, judgments.relevant[added]), name="relevant"))
    made = pd.concat(judged, axis=1)
    made.attrs.update({name: frame.attrs[name] for name in (ROLE_LABELS,) if name in frame.attrs})
    if judgments.rows is None:
        return made, None
    pair = np.full(len(interactions.relevant), -1)
    pair[matches.row] = matches.pair
    grades = judgments.rows.get_column(judgments.rows.columns.relevant)
    return made, reindex_rows(grades, np.append(pair[read], added))


def _extend(column: pd.Series, columns: Columns, judgments: Judgments, added: Array) -> pd.Series:
    """Return a column with a cell for each pair added: its id, or null in other columns."""
    if len(added) == 0:
        return column.reset_index(drop=True)
    if is_same(column.name, columns.item):
        item = judgments.pairs.item
        return pd.Series(append(pd.Index(column), item.restore(item.codes[added])))
    for number, label in enumerate(columns.users):
        if is_same(column.name, label):
            ids, codes = judgments.pairs.users.ids, judgments.pairs.users.groups.codes
            return pd.Series(append(pd.Index(column), ids.get_level_values(number)[codes[added]]))
    return reindex_rows(column, np.arange(len(column) + len(added)))


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
            block = read_block(frame, companions, columns, self.options, is_all=is_all)
            made = self.make(block.interactions, self.options)
            result = block.give(made, facts)
        return result if self.lists_users else result._replace(users=result.users[:0])

    def iter_tables(self, results: Iterable[BlockResult]) -> Generator[pd.DataFrame]:
        """Yield the table of each result, and last a table of the users only truth has.

        All results are checked and noted meanwhile. At least one table is yielded.
        """
        companions, columns, tables = self.companions, self.columns, list[pd.DataFrame]()
        judge = companions.open_judge(self.options)
        results = iter(results)
        first = next(results, None)
        if first is None:
            tables = list(iter_checked([self.read(self.sample)], judge, columns))
        else:
            yield from iter_checked(chain([first], results), judge, columns)
        if judge is not None and columns.user is not None:
            judge.note_lost(companions.excluded)
            empty = read_interactions(self.sample, columns, self.options)
            absent = judge.judge_absent(empty)
            if len(absent.users.ids):
                tables = [self.make(absent, self.options)]
        yield from tables


def iter_checked(
    results: Iterable[BlockResult], judge: Judge | None, columns: Columns
) -> Iterator[Any]:
    """Yield the object made for each block; the facts of the block are noted.

    At the end, raise if no block has a user, or an item, in common with truth or exclude, or if
    frame and truth must have the same users, but do not. The judge notes users and items of blocks;
    it is None if truth is partitioned.
    """
    common, counts, lengths = list[Overlap](), list[UserCounts](), dict[tuple[str, str], int]()
    for result in results:
        note(**result.facts)
        for key, length in result.lengths.items():
            if (known := lengths.setdefault(key, length)) != length:
                raise RecframeError(
                    f"{key[0]} column={quote(key[1])}: vectors must have one length, but they have "
                    f"{known} and {length}. Remove or correct some."
                )
        overlaps = [common, result.common] if common else [result.common]
        common = [join_overlaps(of_one) for of_one in zip(*overlaps, strict=True)]
        if result.counts is not None:
            counts.append(result.counts)
        if judge is not None and columns.user is not None:
            judge.overlap.note(result.users, result.items)
        yield result.made
    for one in common:
        if len(one.other_users) > 0:
            position = match(one.other_items, one.items.examples, "item", one.other)
            are_common = one.items.are_common or bool((position >= 0).any())
            one.items = one.items._replace(are_common=are_common)
            one.check()
        elif one.other == "truth":
            raise RecframeError(f"truth: {NO_ROWS}")
    if counts:
        check_same_users(counts)


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
