"""Describing: figures of the data, to be read before any metric, counted block by block."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd

from recframe.analysis import description
from recframe.analysis.bounds import share_judged
from recframe.analysis.people import AGREEMENT, KAPPA, count_agreement, find_kappa
from recframe.analysis.summary import note_relevance
from recframe.errors import as_text
from recframe.frames.columns import Columns
from recframe.frames.companions import (
    BlockResult,
    Companions,
    iter_checked,
    read_block,
    read_companions,
)
from recframe.frames.interactions import Interactions, find_empty_lists, read_interactions
from recframe.frames.names import as_labels, get_column
from recframe.frames.tables import policy_of
from recframe.frames.truth import Judge
from recframe.frames.values import find_missing, find_nulls
from recframe.kernel.counting import count_ties
from recframe.kernel.threads import Array
from recframe.metrics.measure import measure_one
from recframe.metrics.names import make_metric
from recframe.metrics.statistics import RankStatistics
from recframe.notes import facts_noted, list_notes, note, taking_notes
from recframe.options import Options

LEAST_SAMPLED = 20  # shorter lists may be those of a recommender
SHARERS = "users of an item"
UNSEEN = ("all_relevant", "exclude", "unjudged", "sampled")  # notes that no figure shows
# Figures that are no sums over parts.
TOTALS = {"shortest ranking": np.fmin.reduce, "longest ranking": np.fmax.reduce}
UNKNOWN = pd.Series([1], [np.nan])  # the histogram if relevance is unknown


class Figures(NamedTuple):
    """The figures of one score, which add up over parts of the users."""

    numbers: dict[str, float]  # counts by their names in the table, NaN for an unknown one
    histograms: dict[str, pd.Series]  # the number of users with each value, for means
    is_found: Array | None = None  # whether each distinct relevant item of truth is in the rows


def count_figures(
    interactions: Interactions,
    options: Options,
    k: int,
    judge: Judge | None,
    people: Options | None = None,
    *,
    of_absent: bool = False,
) -> list[Figures]:
    """Return the figures of every score. The interactions were read leniently.

    With `of_absent` they have no row, and the users of truth without a row are counted. With
    options that read labels of `people`, their agreement with other labels is counted.
    """
    frame, columns = interactions.frame, interactions.columns
    if (is_empty := find_empty_lists(frame, columns)) is not None:  # They are no rows.
        frame = frame[~is_empty]
    common: dict[str, float] = {
        "rows": len(frame),
        description.NULL_USERS: _count_nulls(frame, columns.users),
        description.NULL_RELEVANCE: _count_nulls(frame, as_labels(columns.relevant)),
    }
    if columns.item is not None:
        common[description.DUPLICATES] = interactions.n_repeated
    is_found = None if judge is None else judge.find_relevant(interactions)
    if judge is not None and of_absent:
        interactions = judge.judge_absent(interactions)
    elif judge is not None and is_unique(options, interactions.n_repeated):
        interactions = judge.judge(interactions, is_all=columns.user is None)
    note_relevance(interactions)
    note(users=len(interactions.users.ids))
    if people is not None:
        common |= count_agreement(interactions, people)
    shared, shares = {SHARERS: _find_sharers(interactions)}, None
    if judge is not None and not judge.judgments.relevant.all():
        common[description.JUDGED_ROWS], shared[f"{description.JUDGED}{k}"] = np.nan, UNKNOWN
        if interactions.is_judged:
            common[description.JUDGED_ROWS] = int(np.count_nonzero(interactions.judged().rows))
            shares = share_judged(interactions, options, [k])
    figures = []
    for number, score in enumerate(columns.scores):
        numbers, histograms = _count_ranking(interactions, score, k, options, frame)
        if shares is not None:
            shared[f"{description.JUDGED}{k}"] = shares.iloc[:, number].value_counts()
        figures.append(Figures(common | numbers, shared | histograms, is_found))
    return figures


def add_dropped(
    figures: list[Figures], columns: Columns, n_rows: int, n_null: Mapping[str, int]
) -> None:
    """Add rows without a user to figures, with the number of nulls in their columns."""
    for score, each in zip(columns.scores, figures, strict=True):
        each.numbers["rows"] += n_rows
        each.numbers[description.NULL_USERS] += n_rows
        each.numbers[description.NULL_RELEVANCE] += n_null[str(columns.relevant)]
        each.numbers[description.NULL_SCORES] += n_null[str(columns.column_of(score))]


def join_figures(parts: Sequence[list[Figures]]) -> list[Figures]:
    """Return the figures of every score, added up over parts."""
    joined = []
    for of_score in zip(*parts, strict=True):
        numbers = {
            name: TOTALS.get(name, sum)([part.numbers[name] for part in of_score])
            for name in of_score[0].numbers
        }
        histograms = {}
        for name in of_score[0].histograms:
            each = [part.histograms[name] for part in of_score]
            # pandas warns of empty parts, whose dtype says nothing.
            filled = pd.concat([one for one in each if len(one)] or each[:1])
            # groupby sorts the values, so sums have the same bits whatever the parts are.
            histograms[name] = filled.groupby(level=0, dropna=False).sum()
        flags = [part.is_found for part in of_score if part.is_found is not None]
        joined.append(Figures(numbers, histograms, np.any(flags, axis=0) if flags else None))
    return joined


class Describer(NamedTuple):
    """The arguments of a description, which every engine makes of blocks of whole users.

    With options that read labels of `people`, their agreement with other labels is counted.
    `companions` are all of truth and exclude.
    """

    columns: Columns
    k: int
    options: Options
    people: Options | None
    companions: Companions = Companions()

    def open(self) -> Describer:
        """Return the describer with the truth and exclude of its options."""
        return self._replace(companions=read_companions(self.columns, self.options))

    def read(self, frame: pd.DataFrame) -> BlockResult:
        """Return the figures of a block, with the facts it notes."""
        columns, k, options, people, companions = self
        is_all = columns.user is None
        with taking_notes() as facts:
            block = read_block(frame, companions, columns, options, is_all=is_all, lenient=True)
            figures = count_figures(block.interactions, options, k, block.judge, people)
        return block.give(figures, facts)

    def describe(
        self, results: Iterable[BlockResult], empty: pd.DataFrame
    ) -> description.Description:
        """Return the description from the figures of blocks and of users of truth without a row.

        The notes of the blocks have been taken already; `empty` is a frame without rows.
        """
        columns, k, options, people, companions = self
        judge, figures = companions.open_judge(options), list[Figures]()
        for of_block in iter_checked(results, judge, columns):
            figures = join_figures([figures, of_block] if figures else [of_block])
        rows = read_interactions(empty, columns, options, lenient=True)
        figures = figures or count_figures(rows, options, k, judge, people)
        n_repeated, of_users = figures[0].numbers.get(description.DUPLICATES, 0), {}
        if judge is not None and columns.user is not None and is_unique(options, n_repeated):
            absent = count_figures(rows, options, k, judge, people, of_absent=True)
            judge.note_lost(companions.excluded)
            figures = join_figures([figures, absent])
            _, n_of_rows, n_of_truth = judge.overlap.count_users().n_users
            of_users = {description.ONLY_ROWS: n_of_rows, description.ONLY_TRUTH: n_of_truth}
            for name, fact in description.NOTED_PAIRS.items():
                of_users |= {name: facts_noted()[fact]} if facts_noted()[fact] else {}
        described = [_finish(each) | of_users for each in figures]
        labels = pd.Index(columns.scores, name="score", tupleize_cols=False)
        names = [name for name in description.list_figures(k) if name in described[0]]
        # With dtype object, whole numbers and means keep their types in one column.
        table = description.Description(pd.DataFrame(described, labels, names, dtype=object).T)
        _note_samples(figures[-1])
        notes = list_notes(facts_noted(), options)
        table.noted = [one.text for one in notes if one.kind in UNSEEN]
        return table.warn(Options())


def _finish(figures: Figures) -> dict[str, float]:
    """Return the figures of all users: whole numbers, and the means of histograms."""
    numbers, histograms, is_found = figures
    shown = {name: n if math.isnan(n) else int(n) for name, n in numbers.items()}
    if is_found is not None:
        shown[description.UNFOUND] = int(np.count_nonzero(~is_found))
    if AGREEMENT[0] in numbers:
        shown[KAPPA] = find_kappa(*(numbers[name] for name in AGREEMENT))
    for name, users in histograms.items():
        shown[name] = float(np.average(users.index, weights=users)) if len(users) else np.nan
    return shown


def _note_samples(figures: Figures) -> None:
    """Note that candidates seem to be sampled: lists are equally long, and their items differ."""
    numbers, sharers = figures.numbers, figures.histograms[SHARERS]
    lengths = {numbers[name] for name in TOTALS}
    # Most users have the item if candidates are the same, or the catalogue without a few items.
    is_shared = sharers.index.hasnans or 2 * sharers.iloc[-1:].sum() >= numbers["users"]
    if not is_shared and len(lengths) == 1 and min(lengths) >= LEAST_SAMPLED:
        note(rows_of_samples=int(min(lengths)), users_of_samples=int(numbers["users"]))


def _count_nulls(frame: pd.DataFrame, labels: list[Hashable]) -> int:
    """Return the number of rows with a null in any of the columns."""
    nulls = [find_nulls(get_column(frame, label)) for label in labels]
    return int(np.count_nonzero(np.any(nulls, axis=0)))


def is_unique(options: Options, n_repeated: float) -> bool:
    """Return whether pairs can be looked up in truth although so many rows repeat one."""
    return n_repeated == 0 or options.duplicates != "raise"


def _find_sharers(interactions: Interactions) -> pd.Series:
    """Return the number of users who have the item with the highest hash, as a histogram.

    Hashes depend on ids alone, so this is one item in all blocks. The number is unknown unless
    each user has one relevant item, and it is a row.
    """
    groups, items = interactions.users.groups, interactions.items
    n_relevant = groups.count(interactions.relevant)
    if items is None or interactions.n_unlisted.any() or (n_relevant != 1).any():
        return UNKNOWN
    of_ids = [crc32(as_text(one).encode()) for one in items.ids]
    hashes = np.array([*of_ids, 0]).take(items.codes, mode="clip")  # 0 for nulls
    highest = hashes.max(initial=0)
    n_users = len(np.unique(groups.codes[hashes == highest]))
    return pd.Series([n_users] * (n_users > 0), [highest] * (n_users > 0), dtype=int)


def _count_ranking(
    interactions: Interactions,
    score: Hashable,
    k: int,
    options: Options,
    frame: pd.DataFrame,
) -> tuple[dict[str, float], dict[str, pd.Series]]:
    """Return the numbers of one score, and its histograms."""
    rankings = interactions.rankings(score, options)
    ties = count_ties(rankings, k)
    n_relevant = rankings.groups.count(interactions.relevant) + interactions.n_unlisted
    n_ranked = pd.Series(rankings.n_ranked)
    columns, is_judged = interactions.columns, interactions.is_judged
    column = get_column(frame, columns.column_of(score))
    is_low_best = columns.ascending[columns.scores.index(score)]
    numbers = {
        description.NULL_SCORES: find_missing(column, options, is_low_best).sum(),
        "users": len(n_ranked),
        description.NO_RELEVANT: (n_relevant == 0).sum() if is_judged else np.nan,
        "shortest ranking": n_ranked.min(),
        "longest ranking": n_ranked.max(),
        # The empty list of a user of truth without a row is not refused.
        f"{description.SHORT_USERS}{k}": ((n_ranked < k) & (n_ranked >= options.has_truth)).sum(),
        "rows in ties": ties.n_tied.sum(),
        f"{description.CUT_USERS}{k}": ties.is_cut.sum(),
    }
    histograms = {}
    for order, hits in (("worst", ties.fewest_hits), ("best", ties.most_hits)):
        statistics = RankStatistics.of_hits(n_ranked.to_numpy(), n_relevant, hits)
        values = measure_one(make_metric("precision", k), statistics, policy_of(options))
        counted = pd.Series(values).value_counts() if is_judged else UNKNOWN
        histograms[f"precision@{k}, {order}"] = counted
    return numbers, histograms
