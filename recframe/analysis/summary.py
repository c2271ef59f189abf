"""Means over users: by cut-off, and with how sure they are."""

from collections import Counter
from dataclasses import replace
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from recframe.analysis.display import WORDS, CurveTable
from recframe.analysis.intervals import count_users, has_limits, mean_interval, spread_by
from recframe.analysis.resampling import Resampling
from recframe.analysis.results import ResultTable
from recframe.errors import RecframeError, as_text, quote
from recframe.frames.duplicates import find_repeated
from recframe.frames.interactions import Interactions
from recframe.frames.tables import check_lengths, measure_table
from recframe.kernel.threads import Array
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
from recframe.notes import (
    BARE,
    EQUAL,
    HITS,
    LONGER,
    MISSES,
    NO_VALUE,
    NONE_RANKED,
    RANKINGS,
    REPEATED,
    SCORED,
    UNRANKED,
    USERS,
    VARIED,
    is_noting,
    note,
)
from recframe.options import Options

LAST_K = 50  # of a curve, where no cut-off is given
ROWS_SEEN = 1 << 14  # at a time, until relevant and other rows are seen


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
    interactions: Interactions,
    options: Options,
    metrics: list[Metric],
    *,
    is_single: bool = False,
    is_curve: bool = False,
) -> pd.DataFrame:
    """Return the metrics of every user; note facts that change the meaning of their values.

    A curve to the end of the rankings shows that they are cut.
    """
    table = measure_table(interactions, options, metrics, is_single=is_single)
    if is_noting(mistakes=True):
        note_relevance(interactions)
        lengths = count_ranked(interactions, options)
        if not options.has_truth and not is_curve:
            note_cut(interactions, metrics, lengths)
        if is_noting():
            note_undefined(table)
            if interactions.columns.item is None and options.duplicates != "keep":
                note_repeated(interactions)
    return table


def note_relevance(interactions: Interactions) -> None:
    """Note whether relevant rows and others are ranked; as a rule the first ones tell."""
    if not interactions.is_judged:
        return
    n_rows, hits, misses = len(interactions.relevant), 0, 0
    masks = [is_ranked for _, is_ranked in interactions.scores.values()]
    masks = [None] if any(mask is None for mask in masks) else masks
    for is_ranked, start in product(masks, range(0, n_rows, ROWS_SEEN)):
        rows = slice(start, start + ROWS_SEEN)
        relevant = interactions.relevant[rows]
        relevant = relevant if is_ranked is None else relevant[is_ranked[rows]]
        hits += int(np.count_nonzero(relevant))
        misses += len(relevant) - int(np.count_nonzero(relevant))
        if hits and misses:
            break
    note(**{HITS: hits, MISSES: misses})


def count_ranked(interactions: Interactions, options: Options) -> list[Array]:
    """Return how many rows of each user every score ranks; note empty lists."""
    groups, lengths, counts = interactions.users.groups, list[Array](), Counter[str]()
    is_wide = interactions.columns.model is None  # else each model ranks its own rows
    for score, (_, is_ranked) in interactions.scores.items():
        if is_ranked is None:
            lengths.append(np.diff(groups.offsets))
        else:
            lengths.append(groups.count(is_ranked))
            if options.missing == "unranked" and options.min_score is None and is_wide:
                counts[SCORED] += len(is_ranked)
                counts[UNRANKED] += len(is_ranked) - int(np.count_nonzero(is_ranked))
        if (is_ranked is not None or options.has_truth) and is_noting():
            n_empty = len(lengths[-1]) - int(np.count_nonzero(lengths[-1]))
            counts[f"{NONE_RANKED}{as_text(score)}"] = n_empty
    note(**{USERS: groups.n_groups, **counts})
    return lengths


def note_cut(interactions: Interactions, metrics: list[Metric], lengths: list[Array]) -> None:
    """Note whether rankings reach beyond the cut-offs of metrics that ask for all relevant items.

    Those of recall, whose value then is 1; and of others if rankings are equally long.
    """
    asked = [metric for metric in metrics if not DEFINITIONS[metric.name].zero_without_relevant]
    deepest = max((metric.k or 0 for metric in metrics), default=0)
    of_recall = max((metric.k or 0 for metric in asked if metric.name == "recall"), default=0)
    counts = {}
    if of_recall:
        counts[RANKINGS] = sum(map(len, lengths))
        counts[LONGER] = sum(int(np.count_nonzero(of_score > of_recall)) for of_score in lengths)
    if asked and deepest and len(lengths[0]):
        longest = max(of_score.max() for of_score in lengths)
        if longest <= deepest and all(of_score.min() == longest for of_score in lengths):
            n_hits = interactions.users.groups.count(interactions.relevant)
            counts |= {f"{EQUAL}{longest}": len(n_hits), BARE: int(np.count_nonzero(n_hits == 0))}
        else:
            counts[VARIED] = len(lengths[0])
    note(**counts)


def note_repeated(interactions: Interactions) -> None:
    """Note which column seems to hold items, where none is known, and repeats some for a user."""
    users, rows = interactions.users.groups.codes, interactions.rows
    label = find_repeated(interactions.frame, interactions.columns, rows, users)
    if label is not None:
        note(**{f"{REPEATED}{quote(label)}": 1})


def note_undefined(per_user: pd.DataFrame) -> None:
    """Note how many users have no value in each metric, by one score or another."""
    labels = per_user.columns.unique("metric")
    n_scores = per_user.shape[1] // len(labels)
    cells = per_user.to_numpy().T.reshape(n_scores, len(labels), len(per_user))
    n_undefined = np.count_nonzero(np.isnan(cells).any(axis=0), axis=1).tolist()
    undefined = zip(labels, n_undefined, strict=True)
    note(**{f"{NO_VALUE}{as_text(label)}": n for label, n in undefined})


def measure_curve(
    interactions: Interactions, options: Options, metrics: list[Metric]
) -> pd.DataFrame:
    """Return a metric of every user at cut-offs from 1 on, infinite beyond a user's last row.

    That is where ``short="raise"`` refuses, which it does here for a user without any row. Means
    show it: they are infinite at the cut-offs that some user's ranking does not reach.
    """
    if options.short != "raise":
        return measure_noted(interactions, options, metrics, is_curve=True)
    table = measure_noted(interactions, replace(options, short="pad"), metrics, is_curve=True)
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
