"""Tables: the per-user table from arrays, and the tables taken from it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from recframe.errors import RecframeError
from recframe.groups import ROWS_PER_CHUNK, Array, in_threads
from recframe.labels import Metric
from recframe.users import Groups, sort_users


def to_table(values: dict[Hashable, Array], groups: Groups, metrics: Sequence[str]) -> pd.DataFrame:
    """Return the per-user table of each score's values, of shape (n_metrics, n_users)."""
    order = sort_users(groups)
    levels: list[Any] = [pd.Index(list(values), tupleize_cols=False), pd.Index(metrics)]
    codes = np.indices((len(values), len(metrics))).reshape(2, -1).tolist()
    # from_product gives the same, but sorts its levels by way of categoricals.
    columns = pd.MultiIndex(levels, codes, names=["score", "metric"])
    cells = np.empty((len(values), len(metrics), len(order)))

    def fill(first: int, stop: int) -> None:
        for own, rows in zip(values.values(), cells, strict=True):
            for number in range(first, stop):
                # Without "clip" NumPy gathers into a buffer first.
                np.take(own[number], order, out=rows[number], mode="clip")

    is_large = cells.size > ROWS_PER_CHUNK
    in_threads(fill, list(range(len(metrics) + 1)) if is_large else [0, len(metrics)])
    table = cells.reshape(len(values) * len(metrics), len(order)).T
    return pd.DataFrame(table, index=groups.users[order], columns=columns, copy=False)


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
