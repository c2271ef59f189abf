"""Means over users: by cut-off, and with how sure they are."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from recframe.analysis.resampling import Resampling, bootstrap_interval
from recframe.errors import RecframeError
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import Metric, make_metric


def curve_metrics(name: object, k: object) -> list[Metric]:
    """Return a metric at every cut-off, or raise where one is not valid."""
    names = [known for known, (_, cut_off, *_) in DEFINITIONS.items() if cut_off != "none"]
    if name not in names:
        listed = " or ".join([", ".join(map(repr, names[:-1])), repr(names[-1])])
        raise RecframeError(f"a curve is of {listed}, found {name!r}")
    if not isinstance(k, Iterable):
        raise RecframeError(f"k must be several cut-offs, such as range(1, 51), found {k!r}")
    metrics = [make_metric(str(name), cut_off) for cut_off in k]
    if not metrics:
        raise RecframeError("k must hold at least one cut-off, found none")
    if len(set(metrics)) < len(metrics):
        raise RecframeError(f"k must hold each cut-off once, found {[m.k for m in metrics]}")
    return metrics


def curve_table(means: pd.DataFrame, metrics: list[Metric]) -> pd.DataFrame:
    """Return means as a row for each cut-off, a column for each score."""
    return means.T.set_axis(pd.Index([metric.k for metric in metrics], name="k"))


def summary_table(per_user: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """Return the mean of every column of a per-user table with its interval over users."""
    columns = per_user.to_numpy().T
    intervals = [bootstrap_interval(column[~np.isnan(column)], resampling) for column in columns]
    low, high = np.transpose(intervals)
    return pd.DataFrame(
        {
            "mean": per_user.mean(),
            "standard_error": per_user.sem(),
            "low": low,
            "high": high,
            "n_users": per_user.count(),
            "n_undefined": per_user.isna().sum(),
        }
    )
