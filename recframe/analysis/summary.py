"""Means over users: by cut-off, and with how sure they are."""

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from recframe.analysis.display import WORDS, CurveTable
from recframe.analysis.intervals import count_users, has_limits, mean_interval, spread_by
from recframe.analysis.resampling import Resampling
from recframe.analysis.results import ResultTable
from recframe.errors import RecframeError, as_text, quote
from recframe.frames.interactions import Interactions
from recframe.frames.tables import check_lengths, measure_table
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
from recframe.notes import LONGER, NO_VALUE, NONE_RANKED, RANKINGS, note
from recframe.options import Options

LAST_K = 50  # of a curve, where no cut-off is given


def curve_metrics(name: object, k: object) -> list[Metric]:
    """Return a metric at every cut-off, or raise where one is not valid."""
    names = [known for known, (_, cut_off, *_) in DEFINITIONS.items() if cut_off != "none"]
    if parse_name(name) not in names:
        shown = {known: repr(f"{known}{required_parameters(known)}") for known in names}
        *others, last = shown.values()
        meant = find_meant(name) if isinstance(name, str) else None
        hint = f"; did you mean {shown[meant.name]}?" if meant and meant.name in shown else ""
        listed = f"{', '.join(others)} or {last}"
        raise RecframeError(f"metric: a curve takes {listed}, found {quote(name)}{hint}")
    if k is None or isinstance(k, Integral):
        k = range(1, (LAST_K if k is None else check_k(k)) + 1)
    given = list_given("k", "a number or several cut-offs, such as range(1, 51)", k)
    metrics = [parse_metric(f"{name}@{check_k(cut_off)}") for cut_off in given]
    if not metrics:
        raise RecframeError("k must hold at least one cut-off, found none")
    if len(set(metrics)) < len(metrics):
        raise RecframeError(f"k must hold each cut-off once, found {quote(given)}")
    return metrics


def measure_noted(
    interactions: Interactions, options: Options, metrics: list[Metric]
) -> pd.DataFrame:
    """Return the metrics of every user; note what makes their means other than they look."""
    table, (_, groups, _) = measure_table(interactions, options, metrics), interactions.users
    n_rows, are_all_ranked = np.diff(groups.offsets), True
    for score, (_, is_ranked) in interactions.scores.items():
        if is_ranked is not None and not is_ranked.all():
            are_all_ranked = False
            n_empty = np.count_nonzero((groups.count(is_ranked) == 0) & (n_rows > 0))
            is_said = options.short in ("pad", "nan")  # what short lists count
            if n_empty and len(interactions.scores) > 1 and not is_said:
                note(**{f"{NONE_RANKED}{as_text(score)}": int(n_empty)})
    if not are_all_ranked:
        return table
    deepest = max((metric.k or 0 for metric in metrics if metric.name == "recall"), default=0)
    if deepest and not options.has_truth:
        note(**{RANKINGS: groups.n_groups, LONGER: int(np.count_nonzero(n_rows > deepest))})
    if len(metrics) > 1 and options.short != "nan":
        n_relevant = groups.count(interactions.relevant) + interactions.n_unlisted
        has_some = ((n_relevant > 0) & (n_rows > 0))[interactions.users.sort()]
        shape = len(table), len(interactions.scores), len(metrics)
        by_metric = np.isnan(table.to_numpy()).reshape(shape).any(axis=1)
        n_undefined = np.count_nonzero(by_metric & has_some[:, None], axis=0)
        for metric, n_users in zip(metrics, n_undefined, strict=True):
            if n_users > n_undefined.min():
                note(**{f"{NO_VALUE}{metric.label}": int(n_users)})
    return table


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
    # In the order of the table's cells, which their sums depend on in their last bits.
    is_beyond = np.asfortranarray(np.concatenate(beyond, axis=1))
    return table.mask(is_beyond, np.inf) if is_beyond.any() else table


def curve_table(means: pd.DataFrame, metrics: list[Metric]) -> pd.DataFrame:
    """Return means as a row for each cut-off that all rankings reach, a column for each score.

    Those of segments, whose values are outer levels of the index, have these rows for each.
    """
    scores, ks = means.index.unique("score"), pd.Index([metric.k for metric in metrics], name="k")
    values = means.to_numpy().reshape(-1, len(scores), len(ks)).swapaxes(1, 2)
    of_each = means.index[:: len(scores)].repeat(len(ks))
    curve = pd.DataFrame(values.reshape(-1, len(scores)), of_each, scores)
    curve = curve.set_index(ks.take(np.arange(len(curve)) % len(ks)), append=True)
    curve = curve.droplevel("score").rename_axis(columns=f"{metrics[0].label.rpartition('@')[0]}@k")
    return CurveTable(curve[~np.isinf(curve).any(axis=1)])


def summary_table(
    per_user: pd.DataFrame, weights: pd.Series | None = None, *, resampling: Resampling, unit: Any
) -> pd.DataFrame:
    """Return the mean of every column of a per-user table with its interval over users."""
    per_user, counted = count_users(per_user, weights, unit)
    metrics, rows = per_user.columns.get_level_values("metric"), []
    for metric, values in zip(metrics, per_user.to_numpy().T, strict=True):
        spread, known = pd.Series(spread_by(*counted.join(values))), values[~np.isnan(values)]
        is_limited = has_limits(metric, known)
        low, high, interval = mean_interval(spread.to_numpy(), is_limited, resampling)
        rows.append(
            {
                "mean": spread.mean(),
                "low": low,
                "high": high,
                "n_users": len(spread),
                "interval": WORDS[interval],
                "standard_error": spread.sem(),
                "n_undefined": len(values) - len(known),
            }
        )
    table = ResultTable(rows, per_user.columns)
    if not table["n_undefined"].any():
        table = table.drop(columns="n_undefined")
    table.attrs = {"confidence": resampling.confidence}
    return table
