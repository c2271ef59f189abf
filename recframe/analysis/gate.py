"""The gate: what two tables of users, as of two nights, have in common, and what is lost."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, cast

import pandas as pd

from recframe.analysis.compare import Comparison, ScorePairs, compare_pairs
from recframe.errors import RecframeError, quote, show_path
from recframe.frames.judgments import naming
from recframe.frames.user_values import LEVELS, read_given
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import parse_metric

Rule = Literal["max_drop", "non_inferior"]
Reasons = dict[str, dict[str, str]]  # by score and metric


class Gate(NamedTuple):
    """What is allowed.

    "max_drop" fails where the mean became worse by more than the limit and the interval excludes 0;
    "non_inferior" unless the interval excludes all that is worse by the limit or more.
    """

    rule: Rule
    limit: float  # 0 or more, in units of the metric; infinite where only floors are asked for
    low: frozenset[str]  # metrics of which low values are better, so that a rise is a loss
    floors: Mapping[str, float]  # by metric, of the mean of all users of the new table
    min_users: float  # of those with a value in the old table, the share with one in both
    allow_missing: bool  # whether less passes


class Matched(NamedTuple):
    """What two tables have in common, and what was left out of each.

    All have the same metrics, and as many scores, each compared with that in its place.
    """

    before: pd.DataFrame  # the old table, of all its users
    after: pd.DataFrame  # the new one
    old: pd.DataFrame  # of the users of both
    new: pd.DataFrame
    scores: list[tuple[str, str]]  # that are compared, the old one of each first
    only: list[dict[str, Any]]  # users by number, scores and metrics by name

    def of_users(self, users: pd.Index) -> "Matched":
        """Return what the tables have of some users."""
        before, after = (table[table.index.isin(users)] for table in (self.before, self.after))
        both = before.index.intersection(after.index)
        return Matched(before, after, before.loc[both], after.loc[both], self.scores, self.only)


def match_tables(
    tables: list[pd.DataFrame], names: list[str], metrics: list[str] | None, floors: Iterable[str]
) -> Matched:
    """Return what an old and a new table have in common, of these metrics and floors or of all.

    Raise where that is nothing, or where one lacks a metric that is asked for.
    """
    given = []
    for table, name in zip(tables, names, strict=True):
        with naming(show_path(name)):
            given.append(read_given(table))
    old, new = given
    users = old.index.intersection(new.index)
    scores, known = ([list(table.columns.unique(level)) for table in given] for level in LEVELS)
    for metric in (*(metrics or ()), *floors):
        for name, labels in zip(names, known, strict=True):
            if metric not in labels:
                raise RecframeError(
                    f"{quote(metric)} must be in both files; {show_path(name)} has {quote(labels)}"
                )
    shared = [metric for metric in known[1] if metric in known[0]]
    if metrics is not None:
        shared = list(dict.fromkeys([*metrics, *floors]))
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
        matched.append(table[columns])
        other_scores = [score for score in own if score not in taken]
        others = [metric for metric in labels if metrics is None and metric not in shared]
        n_users = len(table) - len(users)
        only.append({"n_users": n_users, "scores": other_scores, "metrics": others})
    old, new = matched
    return Matched(old, new, old.loc[users], new.loc[users], paired, only)


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


def check_limit(limit: float, most: float = math.inf) -> float:
    """Return a limit, or raise unless it is one."""
    if not (0 <= limit <= most and limit < math.inf):
        range_of = "of 0 or more" if most == math.inf else f"from 0 to {most}"
        raise RecframeError(f"must be a number {range_of}, found {quote(limit)}")
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


def find_failed(table: pd.DataFrame, gate: Gate, confidence: float) -> tuple[Reasons, Reasons]:
    """Return why metrics of a comparison fail, and which too few users have, by score and metric.

    Those of less than two users always fail. Where all users differ by the same and nothing is
    known of others, there is no interval: by "max_drop" the mean decides then, "non_inferior"
    fails.
    """
    failed, missing = Reasons(), Reasons()
    for label, row in table.iterrows():
        score, metric = cast("tuple[str, str]", label)
        n, difference, n_old = int(row["n_users"]), row["difference"], int(row["n_old"])
        if round(gate.min_users * n_old - n, 6) > 0:  # whatever the last digits of floats
            missing.setdefault(score, {})[metric] = (
                f"is known in both files of {n:,} of {n_old:,} old users, less than "
                f"{gate.min_users * 100:g}%"
            )
        floor = gate.floors.get(metric)
        if floor is not None and not round(floor - row["new_mean"], 12) <= 0:
            mean = f"has a mean of {row['new_mean']:.4g}, below {floor:g}"
            failed.setdefault(score, {})[metric] = mean
        reason = _find_reason(row, gate, is_low=metric in gate.low)
        if reason is None:
            continue
        if n < 2:
            interval = f"{n} {'user has' if n else 'users have'} a value in both, of two needed"
        elif math.isnan(row["low"]):
            interval = f"no interval is known, as all {n:,} users differ by {difference:.4g}"
        else:
            interval = f"{confidence * 100:g}% interval {row['low']:.4g} to {row['high']:.4g}"
        lower = "; the lower the better" if metric in gate.low else ""
        known = failed.setdefault(score, {})
        also = f"{known[metric]}, and " if metric in known else ""
        known[metric] = f"{also}{reason} ({interval}{lower})"
    return failed, missing


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
