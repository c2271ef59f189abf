"""The gate: which metrics have become worse than is allowed."""

import math
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, cast

import pandas as pd

from recframe.errors import RecframeError, quote
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import parse_metric

Rule = Literal["max_drop", "non_inferior"]


class Gate(NamedTuple):
    """What is allowed.

    Parameters
    ----------
    rule : {"max_drop", "non_inferior"}
        "max_drop" fails where the mean became worse by more than the limit and the interval
        excludes 0; "non_inferior" unless the interval excludes all that is worse by the limit or
        more.
    limit : float
        The limit, 0 or more, in units of the metric.
    low : frozenset of str
        The metrics of which low values are better, so that a rise is what a drop is of others.
    """

    rule: Rule
    limit: float
    low: frozenset[str]


class Failed(NamedTuple):
    """A metric that became worse than is allowed, and how."""

    score: str
    metric: str
    reason: str


def check_limit(limit: float) -> float:
    """Return a limit, or raise unless it is one."""
    if not 0 <= limit < math.inf:
        raise RecframeError(f"must be a number of 0 or more, found {quote(limit)}")
    return limit


def find_low(metrics: Iterable[str], low: list[str], high: list[str]) -> frozenset[str]:
    """Return those metrics of which low values are better: so defined, or so given.

    Raise where that is not known, or is given of another metric.
    """
    metrics, given = list(metrics), [*low, *high]
    for name in given:
        if name not in metrics or given.count(name) > 1:
            once = "once " if name in metrics else ""
            raise RecframeError(
                f"--lower-is-better and --higher-is-better must name {once}metrics that are "
                f"compared, {quote(metrics)}, found {quote(name)}"
            )
    unknown = [name for name in metrics if name not in given and _better(name) == "unknown"]
    if unknown:
        raise RecframeError(
            f"whether high or low values of {quote(unknown[0])} are better is not known, which a "
            "gate must know; pass --higher-is-better or --lower-is-better with its name, or "
            "--metric with those of others"
        )
    return frozenset(
        name for name in metrics if name in low or (name not in high and _better(name) == "low")
    )


def _better(label: str) -> str:
    """Return which values of a metric are better."""
    try:
        return DEFINITIONS[parse_metric(label).name].better
    except RecframeError:  # a column of somebody's own
        return "unknown"


def find_failed(table: pd.DataFrame, gate: Gate, confidence: float) -> list[Failed]:
    """Return the metrics of a comparison that fail, as those of less than two users always do.

    Where all users differ by the same and nothing is known of others, there is no interval: by
    "max_drop" the mean decides then, and "non_inferior" fails.
    """
    find_reason = _REASON_OF_RULE[gate.rule]
    failed = []
    for label, row in table.iterrows():
        score, metric = cast("tuple[str, str]", label)
        reason = find_reason(row, gate, metric in gate.low)
        if reason is not None:
            interval = _describe_interval(row, confidence)
            lower = "; the lower the better" if metric in gate.low else ""
            failed.append(Failed(score, metric, f"{reason} ({interval}{lower})"))
    return failed


def _find_drop(row: Any, gate: Gate, is_low: bool) -> str | None:
    """Return how the mean fell, where it did by too much."""
    if row["n_users"] < 2:
        return "cannot be told"
    drop, least = (row["difference"], row["low"]) if is_low else (-row["difference"], -row["high"])
    # A drop by the limit is none by more than it, whatever the last digits of floats.
    if round(drop - gate.limit, 12) <= 0 or least <= 0:
        return None
    return f"{'rose' if is_low else 'fell'} by {drop:.4g}, more than {gate.limit:g}"


def _find_inferior(row: Any, gate: Gate, is_low: bool) -> str | None:
    """Return how far the mean may have fallen, where that is too far or not known."""
    most = row["high"] if is_low else -row["low"]
    if math.isnan(most):
        return "cannot be told"
    if most < gate.limit:
        return None
    return f"may have {'risen' if is_low else 'fallen'} by {most:.4g}, not less than {gate.limit:g}"


_REASON_OF_RULE: dict[Rule, Callable[[Any, Gate, bool], str | None]] = {
    "max_drop": _find_drop,
    "non_inferior": _find_inferior,
}


def _describe_interval(row: Any, confidence: float) -> str:
    """Return the interval of a difference in words."""
    n_users = int(row["n_users"])
    if n_users < 2:
        return f"{n_users} {'user has' if n_users else 'users have'} a value in both, of two needed"
    if math.isnan(row["low"]):
        return f"no interval is known, as all {n_users:,} users differ by {row['difference']:.4g}"
    return f"{confidence * 100:g}% interval {row['low']:.4g} to {row['high']:.4g}"
