"""Means over users: by cut-off, and with how sure they are."""

import numpy as np
import pandas as pd

from recframe.analysis.resampling import Resampling, bootstrap_interval
from recframe.errors import RecframeError, quote
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import Metric, list_given, make_metric
from recframe.metrics.synonyms import find_meant


def curve_metrics(name: object, k: object) -> list[Metric]:
    """Return a metric at every cut-off, or raise where one is not valid."""
    names = [known for known, (_, cut_off, *_) in DEFINITIONS.items() if cut_off != "none"]
    if not isinstance(name, str) or name not in names:
        listed = " or ".join([", ".join(map(repr, names[:-1])), repr(names[-1])])
        meant = find_meant(name) if isinstance(name, str) else None
        hint = f"; did you mean {meant.name!r}?" if meant and meant.name in names else ""
        raise RecframeError(f"metric: a curve is of {listed}, found {quote(name)}{hint}")
    given = list_given("k", "several cut-offs, such as range(1, 51)", k)
    metrics = [make_metric(name, cut_off) for cut_off in given]
    if not metrics:
        raise RecframeError("k must hold at least one cut-off, found none")
    if len(set(metrics)) < len(metrics):
        raise RecframeError(f"k must hold each cut-off once, found {quote(given)}")
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
