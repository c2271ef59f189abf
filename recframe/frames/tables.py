"""Tables: the per-user table from arrays, and the tables taken from it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from recframe.errors import RecframeError
from recframe.kernel.grouping import Array
from recframe.metrics.names import Metric


def to_table(
    values: Array, users: pd.Index[Any], scores: Sequence[Hashable], metrics: Sequence[str]
) -> pd.DataFrame:
    """Return the per-user table of values of shape (n_scores, n_metrics, n_users)."""
    levels: list[Any] = [pd.Index(scores, tupleize_cols=False), pd.Index(metrics)]
    codes = np.indices(values.shape[:2]).reshape(2, -1).tolist()
    # from_product gives the same, but sorts its levels by way of categoricals.
    columns = pd.MultiIndex(levels, codes, names=["score", "metric"])
    table = values.reshape(len(columns), len(users)).T
    return pd.DataFrame(table, index=users, columns=columns, copy=False)


def tidy_table(per_user: pd.DataFrame) -> pd.DataFrame:
    """Return a per-user table as plain columns: user, score, and one for each metric."""
    scores, metrics = (list(per_user.columns.unique(level)) for level in ("score", "metric"))
    user = "user" if per_user.index.name is None else per_user.index.name
    if user in ("score", *metrics):
        raise RecframeError(f"the user column {user!r} has the name of a result; rename it")
    cells = per_user.to_numpy().reshape(-1, len(metrics))
    tidy = pd.DataFrame(cells, columns=metrics)
    tidy.insert(0, user, per_user.index.repeat(len(scores)))
    tidy.insert(1, "score", np.tile(pd.Index(scores).to_numpy(), len(per_user)))
    return tidy


def mean_table(per_user: pd.DataFrame) -> pd.DataFrame:
    """Return the means of a per-user table: a row for each score, a column for each metric."""
    scores, metrics = (per_user.columns.unique(level) for level in ("score", "metric"))
    means = per_user.mean().to_numpy().reshape(len(scores), len(metrics))
    return pd.DataFrame(means, index=scores, columns=metrics)


def sum_and_count(per_user: pd.DataFrame) -> pd.DataFrame:
    """Return what a part of a per-user table adds to the means; NaN is left out."""
    return pd.DataFrame({"sum": per_user.sum(), "count": per_user.count()})


def add_up(parts: pd.DataFrame) -> pd.DataFrame:
    """Return the sums and counts of several parts of a per-user table, joined, as those of one."""
    return parts.groupby(level=["score", "metric"], sort=False).sum()


def mean_of_sums(parts: pd.DataFrame) -> pd.DataFrame:
    """Return the means of a per-user table from the sums and counts of its parts, joined."""
    totals = add_up(parts)
    return mean_table((totals["sum"] / totals["count"]).to_frame().T)


def single_table(per_user: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    """Return a per-user table of one metric with a plain column for each score."""
    return per_user.set_axis(per_user.columns.unique("score").rename(metric.label), axis=1)
