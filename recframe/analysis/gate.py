"""The gate: what two tables of users, as of two nights, have in common, and what became worse."""

import math
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, cast

import pandas as pd

from recframe.analysis.compare import Comparison, ScorePairs, compare_pairs
from recframe.errors import RecframeError, quote, show_path
from recframe.frames.judgments import naming
from recframe.frames.user_values import LEVELS, read_given
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import parse_metric

Rule = Literal["max_drop", "non_inferior"]


class Gate(NamedTuple):
    """What is allowed.

    "max_drop" fails where the mean became worse by more than the limit and the interval excludes 0;
    "non_inferior" unless the interval excludes all that is worse by the limit or more.
    """

    rule: Rule
    limit: float  # 0 or more, in units of the metric
    low: frozenset[
        str
    ]  # metrics of which low values are better: a rise is what a drop is of others


class Matched(NamedTuple):
    """What two tables have in common, and what was left out of each.

    Both have the same users and metrics, and as many scores, each compared with that in its place.
    """

    old: pd.DataFrame
    new: pd.DataFrame
    scores: list[tuple[str, str]]  # that are compared, the old one of each first
    only: list[dict[str, Any]]  # users by number, scores and metrics by name


def match_tables(
    tables: list[pd.DataFrame], names: list[str], metrics: list[str] | None
) -> Matched:
    """Return what an old and a new table have in common, of these metrics or all.

    Raise where that is nothing, or where one lacks a metric that is asked for.
    """
    given = []
    for table, name in zip(tables, names, strict=True):
        with naming(show_path(name)):
            given.append(read_given(table))
    old, new = given
    users = old.index.intersection(new.index)
    scores, known = ([list(table.columns.unique(level)) for table in given] for level in LEVELS)
    for metric in metrics or ():
        for name, labels in zip(names, known, strict=True):
            if metric not in labels:
                raise RecframeError(
                    f"{quote(metric)} must be in both files; {show_path(name)} has {quote(labels)}"
                )
    shared = [metric for metric in known[1] if metric in known[0]]
    if metrics is not None:
        shared = list(dict.fromkeys(metrics))
    paired = [(score, score) for score in scores[1] if score in scores[0]]
    if not paired and len(scores[0]) == len(scores[1]) == 1:
        paired = [(scores[0][0], scores[1][0])]
    for what, found, both in (("metric", known, shared), ("score", scores, paired)):
        if not both:
            raise RecframeError(
                f"{show_path(names[1])} has no {what} of {show_path(names[0])}, found "
                f"{quote(found[1])} and {quote(found[0])}"
            )
    matched, only = [], []
    for table, own, labels, taken in zip(
        given, scores, known, zip(*paired, strict=True), strict=True
    ):
        columns = pd.MultiIndex.from_product([taken, shared], names=LEVELS)
        matched.append(table.loc[users, columns])
        other_scores = [score for score in own if score not in taken]
        others = [metric for metric in labels if metrics is None and metric not in shared]
        n_users = len(table) - len(users)
        only.append({"n_users": n_users, "scores": other_scores, "metrics": others})
    return Matched(matched[0], matched[1], paired, only)


def compare_matched(matched: Matched, how: Comparison) -> pd.DataFrame:
    """Return what every score has changed, a row for each metric."""
    n, metrics = len(matched.scores), matched.new.columns.unique("metric")
    # Old and new scores are called alike, so that they go by number.
    columns = pd.MultiIndex.from_product([range(2 * n), metrics], names=LEVELS)
    both = pd.concat([matched.old, matched.new], axis=1).set_axis(columns, axis=1)
    pairs = ScorePairs(both, [(i, n + i) for i in range(n)], are_several=False)
    table = compare_pairs(pairs, None, how)
    named = {n + i: new for i, (_, new) in enumerate(matched.scores)}
    return table.rename(index=named, level="score")


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
    better = dict.fromkeys(low, "low") | dict.fromkeys(high, "high")
    for name in metrics:
        if name in better:
            continue
        try:
            better[name] = DEFINITIONS[parse_metric(name).name].better
        except RecframeError:  # a column of somebody's own
            better[name] = "unknown"
        if better[name] == "unknown":
            raise RecframeError(
                f"whether high or low values of {quote(name)} are better is not known, which a "
                "gate must know; pass --higher-is-better or --lower-is-better with its name, or "
                "--metric with those of others"
            )
    return frozenset(name for name in metrics if better[name] == "low")


def find_failed(table: pd.DataFrame, gate: Gate, confidence: float) -> dict[str, dict[str, str]]:
    """Return why metrics of a comparison fail, by score and metric.

    Those of less than two users always do. Where all users differ by the same and nothing is known
    of others, there is no interval: by "max_drop" the mean decides then, "non_inferior" fails.
    """
    failed: dict[str, dict[str, str]] = {}
    for label, row in table.iterrows():
        score, metric = cast("tuple[str, str]", label)
        reason = _find_reason(row, gate, is_low=metric in gate.low)
        if reason is None:
            continue
        n, difference = int(row["n_users"]), row["difference"]
        if n < 2:
            interval = f"{n} {'user has' if n else 'users have'} a value in both, of two needed"
        elif math.isnan(row["low"]):
            interval = f"no interval is known, as all {n:,} users differ by {difference:.4g}"
        else:
            interval = f"{confidence * 100:g}% interval {row['low']:.4g} to {row['high']:.4g}"
        lower = "; the lower the better" if metric in gate.low else ""
        failed.setdefault(score, {})[metric] = f"{reason} ({interval}{lower})"
    return failed


def _find_reason(row: Any, gate: Gate, *, is_low: bool) -> str | None:
    """Return how a metric became worse, or may have, where that is more than is allowed."""
    drop, least, most = row["difference"], row["low"], row["high"]
    if not is_low:
        drop, least, most = -drop, -most, -least
    is_by_mean = gate.rule == "max_drop"
    if row["n_users"] < 2 or (math.isnan(most) and not is_by_mean):
        return "cannot be told"
    if is_by_mean:
        # A drop by the limit is none by more than it, whatever the last digits of floats.
        if round(drop - gate.limit, 12) <= 0 or least <= 0:
            return None
        return f"{'rose' if is_low else 'fell'} by {drop:.4g}, more than {gate.limit:g}"
    if most < gate.limit:
        return None
    return f"may have {'risen' if is_low else 'fallen'} by {most:.4g}, not less than {gate.limit:g}"
