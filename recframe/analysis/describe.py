"""Description: what the data is, before anyone trusts a number."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from recframe.errors import RecframeError
from recframe.frames.columns import Columns, find_columns, find_item, get_column
from recframe.frames.interactions import Interactions, read_rows
from recframe.frames.nulls import find_nulls, has_nulls
from recframe.frames.truth import open_judge
from recframe.kernel.counting import Counts
from recframe.kernel.grouping import in_threads
from recframe.kernel.rankings import Rankings, split_users
from recframe.kernel.ties import TieCounts, count_repeats, count_ties
from recframe.metrics.measure import evaluate_metric
from recframe.metrics.names import check_k, make_metric
from recframe.metrics.statistics import Tally
from recframe.options import Options

# How many rows, or users, have each value: what one figure, or several, are taken from.
Histogram = tuple[Any, Any]


def describe_table(frame: pd.DataFrame, k: object, options: Options) -> pd.DataFrame:
    """Return counts of rows, users, nulls, ties and duplicates, a column for each score."""
    k = check_k(k)
    columns = find_columns(frame, options)
    item = find_item(frame, columns, options)
    return total_figures(
        count_figures(frame, columns, item, k, options, is_all=True), columns.scores, k
    )


def count_figures(
    frame: pd.DataFrame,
    columns: Columns,
    item: Hashable | None,
    k: int,
    options: Options,
    *,
    is_all: bool,
) -> pd.DataFrame:
    """Return what to describe a frame by, as counts that those of other users' rows add to.

    A row says how many (`count`) rows or users have a value in a figure of a score. Where the
    frame `is_all` there is, the users of truth who have no row in it count too.
    """
    kept, interactions, is_judged = read_described(frame, columns, options)
    common = {
        "rows": _total(len(frame)),
        "null users": _total(_count_nulls(frame, columns.user)),
        "null relevance": _total(_count_nulls(frame, columns.relevant)),
    }
    if item is not None:
        n_duplicates = _count_duplicates(get_column(kept, item), interactions)
        common["duplicate pairs"] = _total(n_duplicates)
        if options.truth is not None and n_duplicates == 0:
            judge = open_judge(columns, options)
            interactions, is_judged = judge.judge(kept, interactions), True
            if is_all:
                interactions = judge.add_absent(interactions)
    figures = {
        score: {
            **common,
            "null scores": _total(_count_nulls(frame, score)),
            **_count_ranking(interactions.rankings(score), k, options, is_judged=is_judged),
        }
        for score in columns.scores
    }
    return _to_counts(figures)


def count_absent(
    users: pd.Index[Any], empty: pd.DataFrame, columns: Columns, k: int, options: Options
) -> pd.DataFrame:
    """Return the counts of the users of truth who are not among those of all frames."""
    judge = open_judge(columns, options)
    judge.note(users)
    interactions = judge.add_absent(read_described(empty, columns, options)[1])
    figures = {
        score: _count_ranking(interactions.rankings(score), k, options, is_judged=True)
        for score in columns.scores
    }
    return _to_counts(figures)


def has_duplicates(counts: pd.DataFrame) -> bool:
    """Return whether a user has an item twice."""
    return bool(counts.loc[counts["figure"] == "duplicate pairs", "value"].any())


def total_figures(counts: pd.DataFrame, scores: list[Hashable], k: int) -> pd.DataFrame:
    """Return the description that counts, of one frame or of several joined, add up to."""
    totals = counts.groupby(["score", "figure", "value"])["count"].sum().reset_index()
    described = []
    for number in range(len(scores)):
        of_score = totals[totals["score"] == number].groupby("figure")
        histograms = {
            str(figure): (rows["value"].to_numpy(), rows["count"].to_numpy())
            for figure, rows in of_score
        }
        described.append(_describe_score(histograms, k))
    labels = pd.Index(scores, name="score", tupleize_cols=False)
    return pd.DataFrame(described, index=labels, dtype=float).T


def read_described(
    frame: pd.DataFrame, columns: Columns, options: Options
) -> tuple[pd.DataFrame, Interactions, bool]:
    """Return the rows that can be described, their arrays, and whether their relevance is known.

    It is where the relevance column says what is relevant.
    """
    kept = frame
    for label in (columns.user, columns.relevant):
        if label is not None and has_nulls(column := get_column(kept, label)):
            kept = kept[~find_nulls(column)]
    if options.missing == "raise":
        options = replace(options, missing="unranked")
    try:
        return kept, read_rows(kept, columns, options), columns.relevant is not None
    except RecframeError:
        # Without the relevance; what else is wrong raises again.
        return kept, read_rows(kept, columns._replace(relevant=None), options), False


def _count_nulls(frame: pd.DataFrame, label: Hashable | None) -> int:
    """Return how many values of a column are null."""
    if label is None or not has_nulls(column := get_column(frame, label)):
        return 0
    return int(np.count_nonzero(find_nulls(column)))


def _count_duplicates(item: pd.Series, interactions: Interactions) -> int:
    """Return how many rows repeat the user and item of another row; a null item repeats none."""
    rows, groups = interactions.rows, interactions.groups
    item = item if rows is None else item.iloc[rows]
    if isinstance(item.dtype, np.dtype) and item.dtype.kind in "iu":
        codes = item.to_numpy()
    else:
        codes = pd.factorize(item)[0]
        nulls = np.flatnonzero(codes < 0)
        codes[nulls] -= np.arange(len(nulls))
    codes = codes if groups.order is None else codes[groups.order]
    # Rows of a user with the same item are rows tied in a ranking by item.
    none = np.zeros(len(codes), bool)
    by_item = Rankings(codes, none, groups.offsets, np.zeros(len(groups.users), np.int64))
    return sum(in_threads(lambda chunk, _: count_repeats(chunk), split_users(by_item)))


def _count_ranking(
    rankings: Rankings, k: int, options: Options, *, is_judged: bool
) -> dict[str, Histogram]:
    """Return what to describe one ranking by; without what speaks of relevance if not judged."""
    parts = zip(
        *in_threads(lambda chunk, _: count_ties(chunk, k), split_users(rankings)), strict=True
    )
    ties = TieCounts(*map(np.concatenate, parts))
    n_ranked = np.diff(rankings.offsets)
    n_relevant = ties.n_relevant + rankings.n_unranked
    figures = {
        "ranked rows": np.unique(n_ranked, return_counts=True),
        "rows in ties": _total(ties.n_tied.sum()),
        "users with a tie": _total(ties.is_cut.sum()),
        "not judged": _total(not is_judged),
    }
    if is_judged:
        counts = Counts(n_ranked, n_relevant, *(np.empty(0, np.int64),) * 3)
        figures["users without relevant rows"] = _total((n_relevant == 0).sum())
        for figure, hits in (("worst", ties.fewest_hits), ("best", ties.most_hits)):
            tally = Tally(counts, hits={k: (hits, np.ones_like(hits))})
            values = evaluate_metric(make_metric("precision", k), tally, options.policy)
            figures[figure] = np.unique(values[~np.isnan(values)], return_counts=True)
    return figures


def _total(number: Any) -> Histogram:
    """Return a number of which only the sum is of interest."""
    return [int(number)], [1]


def _to_counts(figures: dict[Hashable, dict[str, Histogram]]) -> pd.DataFrame:
    """Return the histograms of the figures of every score as one table."""
    counts = [
        pd.DataFrame(
            {
                "score": number,
                "figure": figure,
                "value": np.asarray(values, np.float64),
                "count": np.asarray(n_equal, np.int64),
            }
        )
        for number, of_score in enumerate(figures.values())
        for figure, (values, n_equal) in of_score.items()
    ]
    return pd.concat(counts, ignore_index=True)


def _describe_score(figures: dict[str, Histogram], k: int) -> dict[str, float]:
    """Return the figures of one score; NaN for what speaks of relevance if that is not judged."""
    totals = {figure: (values * n_equal).sum() for figure, (values, n_equal) in figures.items()}
    lengths, n_users = figures["ranked rows"] if "ranked rows" in figures else (np.empty(0),) * 2
    is_judged = totals["not judged"] == 0

    def mean(figure: str) -> float:
        return totals[figure] / figures[figure][1].sum() if figure in figures else np.nan

    plain = ["rows", "null users", "null relevance", "duplicate pairs", "null scores"]
    return {
        **{figure: totals[figure] for figure in plain if figure in totals},
        "users": n_users.sum(),
        "users without relevant rows": (
            totals["users without relevant rows"] if is_judged else np.nan
        ),
        "shortest ranking": lengths.min() if len(lengths) else np.nan,
        "longest ranking": lengths.max() if len(lengths) else np.nan,
        f"users with fewer than {k}": n_users[lengths < k].sum(),
        "rows in ties": totals["rows in ties"],
        f"users with a tie across {k}": totals["users with a tie"],
        f"precision@{k}, worst": mean("worst") if is_judged else np.nan,
        f"precision@{k}, best": mean("best") if is_judged else np.nan,
    }
