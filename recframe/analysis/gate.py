"""The gate: what two tables of users, as of two nights, have in common, and what is lost."""

import math
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.compare import Comparison, ScorePairs, compare_pairs
from recframe.analysis.intervals import count_users
from recframe.errors import RecframeError, quote, show_path
from recframe.frames.judgments import naming
from recframe.frames.names import is_infer
from recframe.frames.tables import mean_table
from recframe.frames.user_values import LEVELS, check_per_user
from recframe.kernel.threads import Array
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import find_alike, find_name

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


class Matched(NamedTuple):
    """What two tables have in common, and what was left out of each."""

    per_user: pd.DataFrame  # of all users: the scores compared by number, all old ones first
    sides: Array  # (2, n_users), which of them each table has
    scores: list[tuple[str, str]]  # that are compared, the old one of each first
    only: list[dict[str, Any]]  # of each table alone: users by number, scores and metrics by name
    weights: pd.Series | None = None  # of all users

    @property
    def shared(self) -> pd.DataFrame:
        """The values of the users that both tables have."""
        return self.per_user[self.sides.all(axis=0)]


def match_tables(
    tables: list[pd.DataFrame], names: list[str], metrics: list[str] | None, floors: Iterable[str]
) -> Matched:
    """Return what an old and a new table have in common, of these metrics and floors or of all.

    Raise where that is nothing, or where one lacks a metric that is asked for.
    """
    given = []
    for table, name in zip(tables, names, strict=True):
        with naming(show_path(name)):
            given.append(check_per_user(table))
    of_tables = chain(*(table.columns.unique("metric") for table in reversed(given)))
    alike = find_alike([*(metrics or ()), *of_tables, *floors])
    given = [table.rename(columns=alike, level="metric") for table in given]
    scores, known = ([list(table.columns.unique(level)) for table in given] for level in LEVELS)
    asked = list(dict.fromkeys(alike[metric] for metric in [*(metrics or ()), *floors]))
    for metric in asked:
        for name, labels in zip(names, known, strict=True):
            if metric not in labels:
                raise RecframeError(
                    f"{quote(metric)} must be in both files; {show_path(name)} has {quote(labels)}"
                )
    shared = asked if metrics else [metric for metric in known[1] if metric in known[0]]
    paired = [(score, score) for score in scores[1] if score in scores[0]]
    if not paired and len(scores[0]) == len(scores[1]) == 1:
        paired = [(scores[0][0], scores[1][0])]
    for what, found, both in (("metric", known, shared), ("score", scores, paired)):
        if not both:
            raise RecframeError(
                f"{show_path(names[1])} has no {what} of {show_path(names[0])}, found "
                f"{quote(found[1])} and {quote(found[0])}"
            )
    taken = list(zip(*paired, strict=True))
    columns = [pd.MultiIndex.from_product([own, shared]) for own in taken]
    cells = [table[own] for table, own in zip(given, columns, strict=True)]
    # Old and new scores may be called alike, so that they go by number.
    numbered = pd.MultiIndex.from_product([range(2 * len(paired)), shared], names=LEVELS)
    per_user = pd.concat(cells, axis=1).set_axis(numbered, axis=1)
    per_user.index.names = given[1].index.names
    sides = np.array([per_user.index.isin(table.index) for table in given])
    only = [
        {
            "n_users": int((is_own & ~sides.all(axis=0)).sum()),
            "scores": [score for score in own if score not in compared],
            "metrics": [label for label in labels if not metrics and label not in shared],
        }
        for is_own, own, compared, labels in zip(sides, scores, taken, known, strict=True)
    ]
    return Matched(per_user, sides, paired, only)


def list_missing(matched: Matched, names: list[str]) -> list[str]:
    """Return what the old table has and the new one has not, a line for each score and metric."""
    old, new = map(show_path, names)
    missing = [
        f"{what} {quote(label)} of {old} is not in {new}"
        for what in ("score", "metric")
        for label in matched.only[0][f"{what}s"]
    ]
    return missing + [
        f"score {quote(lost)} of {old} is not in {new}; its {quote(found)} is compared instead"
        for lost, found in matched.scores
        if lost != found
    ]


def compare_matched(matched: Matched, how: Comparison) -> pd.DataFrame:
    """Return what every score has changed, a row for each metric.

    The last two columns are of all users of one table: those with an old value, the new mean.
    """
    n, weights = len(matched.scores), matched.weights
    pairs = ScorePairs(matched.shared, [(i, n + i) for i in range(n)], are_several=False)
    own = None if weights is None else weights[matched.sides.all(axis=0)]
    table = compare_pairs(pairs, own, how)
    unit = None if is_infer(how.unit) else how.unit  # where it is inferred, none comes again
    per_user, counted = count_users(matched.per_user, weights, unit)
    old = per_user.to_numpy().T[: len(table)]
    table["n_old"] = [np.count_nonzero(counted.join(values)[1]) for values in old]
    table["new_mean"] = mean_table(matched.per_user, weights).to_numpy()[n:].ravel()
    named = {n + i: new for i, (_, new) in enumerate(matched.scores)}
    return table.rename(index=named, level="score")


def check_limit(limit: float, most: float = math.inf) -> float:
    """Return a limit, or raise unless it is one."""
    if not (0 <= limit <= most and limit < math.inf):
        range_of = "of 0 or more" if most == math.inf else f"from 0 to {most}"
        raise RecframeError(f"must be a number {range_of}, found {quote(limit)}")
    return limit


def find_low(metrics: list[str], low: list[str], high: list[str]) -> frozenset[str]:
    """Return those metrics of which low values are better: so defined, or so given.

    Raise where that is not known, or is given of another metric.
    """
    alike = find_alike([*metrics, *low, *high])
    low, high = ([alike[name] for name in names] for names in (low, high))
    given = [*low, *high]
    for name in given:
        if name not in metrics or given.count(name) > 1:
            once = "once " if name in metrics else ""
            raise RecframeError(
                f"--lower-is-better and --higher-is-better must name {once}metrics that are "
                f"compared, {quote(metrics)}, found {quote(name)}"
            )
    known = {name: one.better for name in metrics if (one := DEFINITIONS.get(find_name(name)))}
    better = {**known, **dict.fromkeys(low, "low"), **dict.fromkeys(high, "high")}
    for name in metrics:
        if better.get(name, "unknown") == "unknown":
            raise RecframeError(
                f"whether high or low values of {quote(name)} are better is not known, which a "
                "gate must know; pass --higher-is-better or --lower-is-better with its name, or "
                "--metric with those of others"
            )
    return frozenset(name for name in metrics if better[name] == "low")


def find_failed(table: pd.DataFrame, gate: Gate, confidence: float) -> tuple[Reasons, Reasons]:
    """Return why metrics of a comparison fail, and which too few users have, by score and metric.

    Where no user differs, none fails. Of others those of less than two users always fail. Where
    all users differ by the same and nothing is known of others, there is no interval: by
    "max_drop" the mean decides then, "non_inferior" fails.
    """
    failed, missing = Reasons(), Reasons()
    for (score, metric), row in zip(table.index, table.to_dict("records"), strict=True):
        n, n_old, mean, reasons = int(row["n_users"]), int(row["n_old"]), row["new_mean"], []
        if round(gate.min_users * n_old - n, 6) > 0:  # whatever the last digits of floats
            missing.setdefault(score, {})[metric] = (
                f"is known in both files of {n:,} of {n_old:,} old users, less than "
                f"{gate.min_users * 100:g}%"
            )
        floor = gate.floors.get(metric)
        if floor is not None and not round(floor - mean, 12) <= 0:
            reasons.append(f"has a mean of {mean:.4g}, below {floor:g}")
        reason = _find_loss(row, gate, is_low=metric in gate.low)
        if reason is not None:
            lower = "; the lower the better" if metric in gate.low else ""
            interval = f"{confidence * 100:g}% interval {row['low']:.4g} to {row['high']:.4g}"
            if n < 2:
                interval = f"{n} {'user has' if n else 'users have'} a value in both, of two needed"
            elif math.isnan(row["low"]):
                by = f"all {n:,} users differ by {row['difference']:.4g}"
                interval = f"no interval is known, as {by}"
            reasons.append(f"{reason} ({interval}{lower})")
        if reasons:
            failed.setdefault(score, {})[metric] = ", and ".join(reasons)
    return failed, missing


def _find_loss(row: Any, gate: Gate, *, is_low: bool) -> str | None:
    """Return how a metric became worse, or may have, where that is more than is allowed."""
    sign = 1 if is_low else -1
    loss, (least, most) = sign * row["difference"], sorted((sign * row["low"], sign * row["high"]))
    is_by_mean = gate.rule == "max_drop"
    if row.get("n_tied") == row["n_users"] >= min(2, row["n_old"]):
        return None
    if row["n_users"] < 2 or (math.isnan(most) and not is_by_mean):
        return "cannot be told"
    if not is_by_mean and not most < gate.limit:
        how = "risen" if is_low else "fallen"
        return f"may have {how} by {most:.4g}, not less than {gate.limit:g}"
    # A drop by the limit is none by more than it, whatever the last digits of floats.
    if is_by_mean and round(loss - gate.limit, 12) > 0 and not least <= 0:
        return f"{'rose' if is_low else 'fell'} by {loss:.4g}, more than {gate.limit:g}"
    return None
