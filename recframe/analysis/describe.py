"""Describing: what the data is, counted before anyone trusts a number."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.description import (
    CUT_USERS,
    DUPLICATES,
    JUDGED,
    JUDGED_ROWS,
    NO_RELEVANT,
    NULL_RELEVANCE,
    NULL_SCORES,
    NULL_USERS,
    SHORT_USERS,
    UNFOUND,
    Description,
)
from recframe.frames.columns import Columns
from recframe.frames.interactions import Interactions, complete_rows, read_interactions
from recframe.frames.names import as_labels
from recframe.frames.tables import measure_table, policy_of
from recframe.frames.truth import Judge
from recframe.kernel.counting import count_ties
from recframe.kernel.threads import Array
from recframe.metrics.measure import measure_one
from recframe.metrics.names import make_metric
from recframe.metrics.statistics import RankStatistics
from recframe.options import Options

Histogram = tuple[Array, Array]  # values, and how many users have each

TOTALS = {"shortest ranking": np.fmin.reduce, "longest ranking": np.fmax.reduce}  # others are sums
UNKNOWN = np.array([np.nan]), np.array([1])  # the histogram where it is not known what is relevant


class Figures(NamedTuple):
    """What one score is described by, so that it adds to what other users' rows give.

    `numbers` are by the names they are shown under, NaN where not known, and so are `histograms`
    of what means are shown of. With truth, `is_found` says which of its distinct relevant items
    are in the rows.
    """

    numbers: dict[str, float]
    histograms: dict[str, Histogram]
    is_found: Array | None = None


def count_figures(
    interactions: Interactions,
    options: Options,
    k: int,
    judge: Judge | None,
    *,
    of_absent: bool = False,
) -> list[Figures]:
    """Return the figures of every score of interactions, leniently read.

    `of_absent` they have no row, and the users of truth count who are in none judged before.
    """
    frame, columns = interactions.frame, interactions.columns
    common = {
        "rows": len(frame),
        NULL_USERS: _count_nulls(frame, columns.users),
        NULL_RELEVANCE: _count_nulls(frame, as_labels(columns.relevant)),
    }
    if columns.item is not None:
        common[DUPLICATES] = interactions.n_repeated
    is_found = None if judge is None else judge.find_relevant(interactions)
    if judge is not None and of_absent:
        interactions = judge.judge_absent(interactions)
    elif judge is not None and is_unique(options, interactions.n_repeated):
        interactions = judge.judge(interactions, is_all=columns.user is None)
    figures = [
        Figures(*_count_ranking(interactions, score, k, options, common), is_found)
        for score in columns.scores
    ]
    if judge is not None and judge.has_others:
        _add_judged(figures, interactions, k, options)
    return figures


def add_dropped(
    figures: list[Figures], columns: Columns, n_rows: int, n_null: Mapping[str, int]
) -> None:
    """Add rows to figures that have no user, given how many nulls their columns have."""
    for score, each in zip(columns.scores, figures, strict=True):
        each.numbers["rows"] += n_rows
        each.numbers[NULL_USERS] += n_rows
        each.numbers[NULL_RELEVANCE] += n_null[str(columns.relevant)]
        each.numbers[NULL_SCORES] += n_null[str(score)]


def join_figures(parts: Sequence[list[Figures]]) -> list[Figures]:
    """Return the figures of every score that those of several parts add up to."""
    return [_join(of_score) for of_score in zip(*parts, strict=True)]


def describe_figures(
    parts: Sequence[list[Figures]],
    empty: pd.DataFrame,
    columns: Columns,
    k: int,
    options: Options,
    judge: Judge | None,
) -> Description:
    """Return the description that figures of parts of a frame add up to.

    The users of truth who were in no part judged are added, given a frame without rows.
    """
    rows = read_interactions(empty, columns, options, lenient=True)
    figures = join_figures(parts or [count_figures(rows, options, k, judge)])
    n_repeated = figures[0].numbers.get(DUPLICATES, 0)
    if judge is not None and columns.user is not None and is_unique(options, n_repeated):
        absent = count_figures(rows, options, k, judge, of_absent=True)
        figures = join_figures([figures, absent])
    described = []
    for numbers, histograms, is_found in figures:
        shown = {name: n if math.isnan(n) else int(n) for name, n in numbers.items()}
        if is_found is not None:
            shown[UNFOUND] = int(np.count_nonzero(~is_found))
        described.append(shown | {name: _mean(histograms[name]) for name in histograms})
    # What metrics are made of first, faults in the rows last.
    names = ["rows", "users", NO_RELEVANT, f"{SHORT_USERS}{k}", f"{CUT_USERS}{k}"]
    names += [f"precision@{k}, worst", f"precision@{k}, best", JUDGED_ROWS, f"{JUDGED}{k}"]
    names += ["shortest ranking", "longest ranking", "rows in ties"]
    names += [NULL_USERS, NULL_RELEVANCE, NULL_SCORES, DUPLICATES, UNFOUND]
    labels = pd.Index(columns.scores, name="score", tupleize_cols=False)
    names = [name for name in names if name in described[0]]
    # Objects, for whole numbers to be such beside means.
    return Description(pd.DataFrame(described, labels, names, dtype=object).T)


def _count_nulls(frame: pd.DataFrame, labels: list[Hashable]) -> int:
    """Return how many rows have a null in a column of these labels."""
    rows = complete_rows(frame, labels)
    return 0 if rows is None else len(frame) - len(rows)


def is_unique(options: Options, n_repeated: float) -> bool:
    """Return whether pairs can be looked up in truth, so many rows being repeated."""
    return n_repeated == 0 or options.duplicates != "raise"


def _count_ranking(
    interactions: Interactions, score: Hashable, k: int, options: Options, common: dict[str, int]
) -> tuple[dict[str, float], dict[str, Histogram]]:
    """Return the numbers of one score, with those that are common to all, and its histograms."""
    rankings = interactions.rankings(score, options)
    ties = count_ties(rankings, k)
    n_relevant = rankings.groups.count(interactions.relevant) + interactions.n_unlisted
    n_ranked = pd.Series(rankings.n_ranked)
    is_judged = interactions.is_judged
    numbers = {
        **common,
        NULL_SCORES: _count_nulls(interactions.frame, [score]),
        "users": len(n_ranked),
        NO_RELEVANT: (n_relevant == 0).sum() if is_judged else np.nan,
        "shortest ranking": n_ranked.min(),
        "longest ranking": n_ranked.max(),
        f"{SHORT_USERS}{k}": (n_ranked < k).sum(),
        "rows in ties": ties.n_tied.sum(),
        f"{CUT_USERS}{k}": ties.is_cut.sum(),
    }
    histograms = {}
    for order, hits in (("worst", ties.fewest_hits), ("best", ties.most_hits)):
        statistics = RankStatistics.of_hits(n_ranked.to_numpy(), n_relevant, k, hits)
        values = measure_one(make_metric("precision", k), statistics, policy_of(options))
        values = values[~np.isnan(values)]
        counted = np.unique(values, return_counts=True) if is_judged else UNKNOWN
        histograms[f"precision@{k}, {order}"] = counted
    return numbers, histograms


def _add_judged(
    figures: list[Figures], interactions: Interactions, k: int, options: Options
) -> None:
    """Add to figures how many rows truth holds, relevant or not, and how many of the first k."""
    n_judged, of_scores = np.nan, [UNKNOWN] * len(figures)
    if interactions.is_judged:
        is_judged = interactions.judged().rows
        n_judged = int(np.count_nonzero(is_judged))
        of_first = interactions._replace(
            relevant=is_judged, n_unlisted=0 * interactions.n_unlisted, find_gains=None
        )
        # Of those that are ranked; where none is, of nothing.
        rule = replace(
            options, ties="expected", short="shrink", zero_division=np.nan, absent="drop"
        )
        shares = measure_table(of_first, rule, [make_metric("precision", k)])
        of_scores = [
            np.unique(share.dropna().to_numpy(), return_counts=True) for _, share in shares.items()
        ]
    for each, of_score in zip(figures, of_scores, strict=True):
        each.numbers[JUDGED_ROWS] = n_judged
        each.histograms[f"{JUDGED}{k}"] = of_score


def _join(parts: Sequence[Figures]) -> Figures:
    """Return the figures of a score over all parts."""
    numbers = {
        name: TOTALS.get(name, sum)([part.numbers[name] for part in parts])
        for name in parts[0].numbers
    }
    histograms = {}
    for name in parts[0].histograms:
        of_parts = [part.histograms[name] for part in parts]
        values, n_users = map(np.concatenate, zip(*of_parts, strict=True))
        distinct, inverse = np.unique(values, return_inverse=True)
        totals = np.bincount(inverse, n_users, len(distinct)).astype(np.int64)
        histograms[name] = distinct, totals
    found = [part.is_found for part in parts if part.is_found is not None]
    return Figures(numbers, histograms, np.any(found, axis=0) if found else None)


def _mean(histogram: Histogram) -> float:
    """Return the mean of the values of all users; NaN for no user."""
    values, n_users = histogram
    if len(values) == 0:
        return np.nan
    # In the order of their values sums have the same bits, whatever parts they come in.
    return float((values * n_users).sum() / n_users.sum())
