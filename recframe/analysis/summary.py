"""Means over users: by cut-off, and with how sure they are."""

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from recframe.analysis.display import CurveTable, without_zeros
from recframe.analysis.intervals import find_range, mean_interval, spread_by, with_weight
from recframe.analysis.resampling import Resampling
from recframe.errors import RecframeError, quote
from recframe.frames.interactions import Interactions
from recframe.frames.tables import check_lengths, measure_table
from recframe.frames.user_values import find_units
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import (
    Metric,
    check_k,
    find_meant,
    list_given,
    parse_metric,
    parse_name,
    required_parameters,
)
from recframe.options import Options

LAST_K = 50  # of a curve, where no cut-off is given


def curve_metrics(name: object, k: object) -> list[Metric]:
    """Return a metric at every cut-off, or raise where one is not valid."""
    names = [known for known, (_, cut_off, *_) in DEFINITIONS.items() if cut_off != "none"]
    if parse_name(name) not in names:
        shown = [repr(f"{known}{required_parameters(known)}") for known in names]
        listed = f"{', '.join(shown[:-1])} or {shown[-1]}"
        meant = find_meant(name) if isinstance(name, str) else None
        hint = ""
        if meant is not None and meant.name in names:
            hint = f"; did you mean '{meant.name}{required_parameters(meant.name)}'?"
        raise RecframeError(f"metric: a curve is of {listed}, found {quote(name)}{hint}")
    if k is None or isinstance(k, Integral):
        k = range(1, (LAST_K if k is None else check_k(k)) + 1)
    given = list_given("k", "a number or several cut-offs, such as range(1, 51)", k)
    metrics = [parse_metric(f"{name}@{check_k(cut_off)}") for cut_off in given]
    if not metrics:
        raise RecframeError("k must hold at least one cut-off, found none")
    if len(set(metrics)) < len(metrics):
        raise RecframeError(f"k must hold each cut-off once, found {quote(given)}")
    return metrics


def measure_curve(
    interactions: Interactions, options: Options, metrics: list[Metric]
) -> pd.DataFrame:
    """Return a metric of every user at cut-offs from 1 on, infinite beyond a user's last row.

    That is where ``short="raise"`` refuses, which it does here for a user without any row. Means
    show it: they are infinite at the cut-offs that some user's ranking does not reach.
    """
    if options.short != "raise":
        return measure_table(interactions, options, metrics)
    table = measure_table(interactions, replace(options, short="pad"), metrics)
    order, cut_offs = interactions.users.sort(), np.array([metric.k for metric in metrics])
    beyond = []
    for score in interactions.scores:
        n_ranked = interactions.rankings(score, options).n_ranked
        check_lengths(n_ranked, interactions.users.ids, score, 1, options)
        n_ranked = n_ranked[order, None]
        # Only a user of truth has none: an empty list, as long as any.
        beyond.append((n_ranked < cut_offs) & (n_ranked > 0))
    is_beyond = np.concatenate(beyond, axis=1)
    return table.mask(is_beyond, np.inf) if is_beyond.any() else table


def curve_table(means: pd.DataFrame, metrics: list[Metric]) -> pd.DataFrame:
    """Return means as a row for each cut-off that all rankings reach, a column for each score."""
    ks = pd.Index([metric.k for metric in metrics], name="k")
    written = metrics[0].label.rpartition("@")[0]
    curve = means.T.set_axis(ks).rename_axis(columns=f"{written}@k")
    return CurveTable(curve[~np.isinf(curve).any(axis=1)])


def summary_table(
    per_user: pd.DataFrame, weights: pd.Series | None = None, *, resampling: Resampling, unit: Any
) -> pd.DataFrame:
    """Return the mean of every column of a per-user table with its interval over users."""
    per_user, of_users = with_weight(per_user, weights)
    units, n_undefined = find_units(per_user.index, unit), per_user.isna().sum()
    is_plain = of_users is None and units is None
    cells, intervals = per_user.to_numpy(copy=not is_plain), []
    for metric, column in zip(per_user.columns.get_level_values("metric"), cells.T, strict=True):
        known = np.flatnonzero(~np.isnan(column))
        values, limits = column[known], find_range(metric, column[known])
        if not is_plain:
            own = [None if each is None else each[known] for each in (of_users, units)]
            values = spread_by(values, *own)
            column[known] = np.nan
            column[known[: len(values)]] = values
        intervals.append(mean_interval(values, limits, resampling))
    if not is_plain:
        per_user = pd.DataFrame(cells, per_user.index, per_user.columns)
    low, high, name = zip(*intervals, strict=True)
    table = pd.DataFrame(
        {
            "mean": per_user.mean(),
            "low": low,
            "high": high,
            "n_users": per_user.count(),
            "interval": name,
            "standard_error": per_user.sem(),
            "n_undefined": n_undefined,
        }
    )
    return without_zeros(table, ["n_undefined"])
