"""Description: what the data is, before anyone trusts a number."""

from collections.abc import Hashable
from dataclasses import replace

import numpy as np
import pandas as pd

from recframe.columns import Columns, find_columns, find_item, get_column
from recframe.errors import RecframeError
from recframe.frames import Interactions, read_rows
from recframe.groups import Array
from recframe.kernel import Counts
from recframe.labels import check_k, make_metric
from recframe.metrics import evaluate_metric
from recframe.options import Options
from recframe.rankings import Rankings, map_chunks
from recframe.tally import Tally
from recframe.ties import TieCounts, count_repeats, count_ties
from recframe.truth import open_judge


def describe_table(frame: pd.DataFrame, k: object, options: Options) -> pd.DataFrame:
    """Return counts of rows, users, nulls, ties and duplicates, a column for each score."""
    k = check_k(k)
    columns = find_columns(frame, options)
    item = find_item(frame, columns, options)
    no_user, no_relevance = _nulls(frame, columns.user), _nulls(frame, columns.relevant)
    incomplete = no_user | no_relevance
    kept = frame[~incomplete] if incomplete.any() else frame
    if options.missing == "raise":
        options = replace(options, missing="unranked")
    interactions, is_judged = _read(kept, columns, options)
    common = {
        "rows": len(frame),
        "null users": np.count_nonzero(no_user),
        "null relevance": np.count_nonzero(no_relevance),
    }
    if item is not None:
        n_duplicates = _count_duplicates(get_column(kept, item), interactions)
        common["duplicate pairs"] = n_duplicates
        if options.truth is not None and n_duplicates == 0:
            judge = open_judge(columns, options)
            interactions, is_judged = judge.add_absent(judge.judge(kept, interactions)), True
    described = [
        {
            **common,
            "null scores": np.count_nonzero(_nulls(frame, score)),
            **_describe_ranking(interactions.rankings(score), k, options, is_judged=is_judged),
        }
        for score in columns.scores
    ]
    labels = pd.Index(columns.scores, name="score", tupleize_cols=False)
    return pd.DataFrame(described, index=labels, dtype=float).T


def _nulls(frame: pd.DataFrame, label: Hashable | None) -> Array:
    """Return which values of a column are null."""
    if label is None:
        return np.zeros(len(frame), bool)
    return get_column(frame, label).isna().to_numpy(bool)


def _read(frame: pd.DataFrame, columns: Columns, options: Options) -> tuple[Interactions, bool]:
    """Return the arrays of a frame, and whether a relevance column says what is relevant."""
    try:
        return read_rows(frame, columns, options), columns.relevant is not None
    except RecframeError:
        # Without the relevance; what else is wrong raises again.
        return read_rows(frame, columns._replace(relevant=None), options), False


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
    return sum(map_chunks(count_repeats, by_item))


def _describe_ranking(
    rankings: Rankings, k: int, options: Options, *, is_judged: bool
) -> dict[str, float]:
    """Return the figures of one ranking; NaN for what speaks of relevance if that is not judged."""
    parts = zip(*map_chunks(lambda chunk: count_ties(chunk, k), rankings), strict=True)
    ties = TieCounts(*map(np.concatenate, parts))
    metric = make_metric("precision", k)
    n_ranked = np.diff(rankings.offsets)
    n_relevant = ties.n_relevant + rankings.n_unranked
    counts = Counts(n_ranked, n_relevant, *(np.empty(0, np.int64),) * 3)

    def mean_precision(hits: Array) -> float:
        tally = Tally(counts, hits={k: (hits, np.ones_like(hits))})
        values = evaluate_metric(metric, tally, options.policy)
        return float(pd.Series(values).mean())

    return {
        "users": len(n_ranked),
        "users without relevant rows": (n_relevant == 0).sum() if is_judged else np.nan,
        "shortest ranking": n_ranked.min() if len(n_ranked) else np.nan,
        "longest ranking": n_ranked.max() if len(n_ranked) else np.nan,
        f"users with fewer than {k}": (n_ranked < k).sum(),
        "rows in ties": ties.n_tied.sum(),
        f"users with a tie across {k}": ties.is_cut.sum(),
        f"{metric.label}, worst": mean_precision(ties.fewest_hits) if is_judged else np.nan,
        f"{metric.label}, best": mean_precision(ties.most_hits) if is_judged else np.nan,
    }
