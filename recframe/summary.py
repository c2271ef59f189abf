"""Means over users: by cut-off, and with how sure they are."""

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from recframe.errors import RecframeError
from recframe.frames import mean_table
from recframe.metrics import FORMULAS, Metric, make_metric
from recframe.resampling import Resampling, bootstrap_interval

SUMMARY = ("mean", "standard_error", "low", "high", "n_users", "n_undefined")


def curve_metrics(name: str, k: Iterable[int]) -> list[Metric]:
    """Return a metric at every cut-off, or raise where one is not valid."""
    names = [name for name, (_, takes_k) in FORMULAS.items() if takes_k]
    if not isinstance(name, str) or name not in names:
        raise RecframeError(f"a curve is of {' or '.join(map(repr, names))}, found {name!r}")
    if isinstance(k, str) or not isinstance(k, Iterable):
        raise RecframeError(f"k must be several cut-offs, such as range(1, 51), found {k!r}")
    metrics = [make_metric(name, cut_off) for cut_off in k]
    if not metrics:
        raise RecframeError("k must hold at least one cut-off, found none")
    if len(set(metrics)) < len(metrics):
        raise RecframeError(f"k must hold each cut-off once, found {[m.k for m in metrics]}")
    return metrics


def curve_table(per_user: pd.DataFrame, metrics: list[Metric]) -> pd.DataFrame:
    """Return the means of a per-user table: a row for each cut-off, a column for each score."""
    cut_offs = pd.Index([metric.k for metric in metrics], name="k")
    return mean_table(per_user).T.set_axis(cut_offs)


def summary_table(per_user: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """Return the mean of every column of a per-user table with its interval over users."""
    rows = []
    for _, column in per_user.items():
        values = column.dropna().to_numpy()
        interval = bootstrap_interval(values, resampling)
        n_users = len(values)
        error = values.std(ddof=1) / math.sqrt(n_users) if n_users > 1 else np.nan
        rows.append((column.mean(), error, *interval, n_users, len(column) - n_users))
    return pd.DataFrame.from_records(rows, index=per_user.columns, columns=SUMMARY)
