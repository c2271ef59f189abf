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

    `numbers` are by the names they are shown under, NaN where not known; `precisions` are those
    of all users with ties worst and best. With truth, `is_found` says which of its distinct
    relevant items are in the rows, and where it holds others too, `judged` are the shares of the
    first k rows that it holds.
    """

    numbers: dict[str, float]
    precisions: list[Histogram]
    is_found: Array | None = None
    judged: Histogram | None = None


def count_figures(
    frame: pd.DataFrame,
    columns: Columns,
    k: int,
    options: Options,
    judge: Judge | None,
    *,
    is_all: bool,
) -> list[Figures]:
    """Return the figures of every score of a frame.

    Where the frame `is_all` there is, the users of truth who have no row in it count too.
    """
    interactions = read_interactions(frame, columns, options, lenient=True)
    common = {
        "rows": len(frame),
        NULL_USERS: _count_nulls(frame, columns.users),
        NULL_RELEVANCE: _count_nulls(frame, as_labels(columns.relevant)),
    }
    if columns.item is not None:
        common[DUPLICATES] = interactions.n_repeated
    is_found = None if judge is None else judge.find_relevant(interactions)
    if judge is not None and is_unique(options, common[DUPLICATES]):
        interactions = judge.judge(interactions, is_all=is_all)
    figures = [_count_ranking(interactions, score, k, options, common) for score in columns.scores]
    if judge is not None and judge.has_others:
        figures = _count_judged(figures, interactions, k, options)
    return [each._replace(is_found=is_found) for each in figures]


def count_absent(
    empty: pd.DataFrame, columns: Columns, k: int, options: Options, judge: Judge
) -> list[Figures]:
    """Return the figures of users of truth who are in no frame judged, given one without rows."""
    interactions = judge.judge_absent(read_interactions(empty, columns, options, lenient=True))
    common = dict.fromkeys(("rows", NULL_USERS, NULL_RELEVANCE, DUPLICATES), 0)
    figures = [_count_ranking(interactions, score, k, options, common) for score in columns.scores]
    if judge.has_others:
        figures = _count_judged(figures, interactions, k, options)
    return [each._replace(is_found=judge.find_relevant(None)) for each in figures]


def add_dropped(
    figures: list[Figures], columns: Columns, n_rows: int, n_null: Mapping[str, int]
) -> list[Figures]:
    """Return figures with rows added that have no user, given how many nulls their columns have."""
    of_each = {
        "rows": n_rows,
        NULL_USERS: n_rows,
        NULL_RELEVANCE: n_null[str(columns.relevant)],
    }
    added = []
    for score, each in zip(columns.scores, figures, strict=True):
        of_score = of_each | {NULL_SCORES: n_null[str(score)]}
        more = {name: each.numbers[name] + number for name, number in of_score.items()}
        added.append(each._replace(numbers=each.numbers | more))
    return added


def join_figures(parts: Sequence[list[Figures]]) -> list[Figures]:
    """Return the figures of every score that those of several parts add up to."""
    return [_join(of_score) for of_score in zip(*parts, strict=True)]


def describe_figures(parts: Sequence[list[Figures]], scores: list[Hashable], k: int) -> Description:
    """Return the description that the figures of one frame, or of several, add up to."""
    described = [_name(figures, k) for figures in join_figures(parts)]
    labels = pd.Index(scores, name="score", tupleize_cols=False)
    names = [name for name in _list_names(k) if name in described[0]]
    # Objects, for whole numbers to be such beside means.
    return Description(pd.DataFrame(described, labels, names, dtype=object).T)


def _list_names(k: int) -> list[str]:
    """Return the names of all figures: what metrics are made of first, faults in the rows last."""
    precisions = [f"precision@{k}, worst", f"precision@{k}, best"]
    lengths = ["shortest ranking", "longest ranking", "rows in ties"]
    nulls = [NULL_USERS, NULL_RELEVANCE, NULL_SCORES]
    users = ["users", NO_RELEVANT, f"{SHORT_USERS}{k}", f"{CUT_USERS}{k}"]
    judged = [JUDGED_ROWS, f"{JUDGED}{k}"]
    return ["rows", *users, *precisions, *judged, *lengths, *nulls, DUPLICATES, UNFOUND]


def _count_nulls(frame: pd.DataFrame, labels: list[Hashable]) -> int:
    """Return how many rows have a null in a column of these labels."""
    rows = complete_rows(frame, labels)
    return 0 if rows is None else len(frame) - len(rows)


def is_unique(options: Options, n_repeated: int) -> bool:
    """Return whether pairs can be looked up in truth, so many rows being repeated."""
    return n_repeated == 0 or options.duplicates != "raise"


def _count_ranking(
    interactions: Interactions, score: Hashable, k: int, options: Options, common: dict[str, int]
) -> Figures:
    """Return the figures of one score, beside those that are common to all."""
    rankings = interactions.rankings(score, options)
    ties = count_ties(rankings, k)
    n_relevant = rankings.groups.count(interactions.relevant) + interactions.n_unlisted
    n_ranked = pd.Series(rankings.n_ranked)
    numbers = {
        **common,
        NULL_SCORES: _count_nulls(interactions.frame, [score]),
        "users": len(n_ranked),
        NO_RELEVANT: (n_relevant == 0).sum(),
        "shortest ranking": n_ranked.min(),
        "longest ranking": n_ranked.max(),
        f"{SHORT_USERS}{k}": (n_ranked < k).sum(),
        "rows in ties": ties.n_tied.sum(),
        f"{CUT_USERS}{k}": ties.is_cut.sum(),
    }
    if not interactions.is_judged:
        return Figures(numbers | {NO_RELEVANT: np.nan}, [UNKNOWN, UNKNOWN])
    precisions = []
    for hits in (ties.fewest_hits, ties.most_hits):
        statistics = RankStatistics.of_hits(n_ranked.to_numpy(), n_relevant, k, hits)
        values = measure_one(make_metric("precision", k), statistics, policy_of(options))
        precisions.append(np.unique(values[~np.isnan(values)], return_counts=True))
    return Figures(numbers, precisions)


def _count_judged(
    figures: list[Figures], interactions: Interactions, k: int, options: Options
) -> list[Figures]:
    """Return figures with the rows that truth holds added, relevant or not."""
    if not interactions.is_judged:
        unknown = {JUDGED_ROWS: np.nan}
        return [each._replace(numbers=each.numbers | unknown, judged=UNKNOWN) for each in figures]
    is_judged = interactions.judged().rows
    of_first = interactions._replace(relevant=is_judged, n_unlisted=0 * interactions.n_unlisted)
    # Of those that are ranked; where none is, of nothing.
    rule = replace(options, ties="expected", short="shrink", zero_division=np.nan, absent="drop")
    shares = measure_table(of_first._replace(find_gains=None), [make_metric("precision", k)], rule)
    counted = []
    for each, (_, of_score) in zip(figures, shares.items(), strict=True):
        histogram = np.unique(of_score.dropna().to_numpy(), return_counts=True)
        numbers = each.numbers | {JUDGED_ROWS: int(np.count_nonzero(is_judged))}
        counted.append(each._replace(numbers=numbers, judged=histogram))
    return counted


def _join(parts: Sequence[Figures]) -> Figures:
    """Return the figures of a score over all parts."""
    numbers = {
        name: TOTALS.get(name, sum)([part.numbers[name] for part in parts])
        for name in parts[0].numbers
    }
    found = [part.is_found for part in parts if part.is_found is not None]
    precisions = [_add_up(each) for each in zip(*(part.precisions for part in parts), strict=True)]
    judged = [part.judged for part in parts if part.judged is not None]
    return Figures(
        numbers,
        precisions,
        np.any(found, axis=0) if found else None,
        _add_up(judged) if judged else None,
    )


def _add_up(histograms: Sequence[Histogram]) -> Histogram:
    """Return the histogram of the users of all parts."""
    values, counts = map(np.concatenate, zip(*histograms, strict=True))
    distinct, inverse = np.unique(values, return_inverse=True)
    return distinct, np.bincount(inverse, counts, len(distinct)).astype(np.int64)


def _name(figures: Figures, k: int) -> dict[str, float]:
    """Return the figures of a score, by the names they are shown under."""
    described = {
        name: number if math.isnan(number) else int(number)
        for name, number in figures.numbers.items()
    }
    if figures.is_found is not None:
        described[UNFOUND] = int(np.count_nonzero(~figures.is_found))
    if figures.judged is not None:
        described[f"{JUDGED}{k}"] = _mean(figures.judged)
    worst, best = map(_mean, figures.precisions)
    return described | {f"precision@{k}, worst": worst, f"precision@{k}, best": best}


def _mean(histogram: Histogram) -> float:
    """Return the mean of the values of all users; NaN for no user."""
    values, n_users = histogram
    if len(values) == 0:
        return np.nan
    # In the order of their values sums have the same bits, whatever parts they come in.
    return float((values * n_users).sum() / n_users.sum())
