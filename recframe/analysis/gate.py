"""The gate: the metrics of an old and a new table of users compared, such as of two nights."""

import math
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.compare import Comparison, ScorePairs, compare_pairs
from recframe.analysis.intervals import weigh_users
from recframe.analysis.summary import summary_table
from recframe.errors import RecframeError, quote, show_path
from recframe.frames.judgments import naming
from recframe.frames.names import is_infer
from recframe.frames.tables import mean_table
from recframe.frames.user_values import LEVELS, check_per_user
from recframe.kernel.threads import Array
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import find_alike, find_name
from recframe.notes import taking_notes

Rule = Literal["max_drop", "non_inferior"]
Reasons = dict[str, dict[str, str]]  # by score and metric


class Gate(NamedTuple):
    """The losses that are allowed.

    "max_drop" fails if the mean became worse by more than the limit and the interval excludes 0.
    "non_inferior" fails unless the interval excludes all losses of the limit or more.
    """

    rule: Rule
    limit: float  # 0 or more, in units of the metric; infinite if only floors are asked for
    low: frozenset[str]  # metrics whose low values are better, so that a rise is a loss
    floors: Mapping[str, float]  # the least mean of all users of the new table, by metric
    min_users: float  # the least share of the old table's users with a value in both tables


class Matched(NamedTuple):
    """The values that two tables share, and a summary of the rest.

    Parameters
    ----------
    per_user : DataFrame
        The compared scores of all users, numbered, all old scores first.
    has_user : ndarray of shape (2, n_users), bool
        Whether each table has the user.
    scores : list of (str, str)
        The old and the new score of each comparison.
    only : list of dict
        The number of users, the scores and the metrics that only one table has.
    weights : Series, default None
        The weights of all users.
    """

    per_user: pd.DataFrame
    has_user: Array
    scores: list[tuple[str, str]]
    only: list[dict[str, Any]]
    weights: pd.Series | None = None

    @property
    def shared(self) -> pd.DataFrame:
        """The values of the users that both tables have."""
        return self.per_user[self.has_user.all(axis=0)]


def match_tables(
    tables: list[pd.DataFrame], names: list[str], metrics: list[str] | None, floors: Iterable[str]
) -> Matched:
    """Return the values that an old and a new table share, of these metrics and floors or of all.

    Raise if they share nothing, or if a table lacks a metric that is asked for.
    """
    read = []
    for table, name in zip(tables, names, strict=True):
        with naming(show_path(name)):
            read.append(check_per_user(table))
    labels = chain(*(table.columns.unique("metric") for table in reversed(read)))
    alike = find_alike([*(metrics or ()), *labels, *floors])
    read = [table.rename(columns=alike, level="metric") for table in read]
    asked = list(dict.fromkeys(alike[metric] for metric in [*(metrics or ()), *floors]))
    scores, known = ([list(table.columns.unique(level)) for table in read] for level in LEVELS)
    shared = _find_shared(known, names, asked, is_complete=bool(metrics))
    pairs = _pair_scores(scores, names)
    compared = list(zip(*pairs, strict=True))
    columns = [pd.MultiIndex.from_product([of_table, shared]) for of_table in compared]
    cells = [table[of_table] for table, of_table in zip(read, columns, strict=True)]
    # Old and new scores may have the same label, so they are numbered.
    numbered = pd.MultiIndex.from_product([range(2 * len(pairs)), shared], names=LEVELS)
    per_user = pd.concat(cells, axis=1).set_axis(numbered, axis=1)
    per_user.index.names = read[1].index.names
    has_user = np.array([per_user.index.isin(table.index) for table in read])
    only = [
        {
            "n_users": int((has_user[n] & ~has_user.all(axis=0)).sum()),
            "scores": [score for score in scores[n] if score not in compared[n]],
            "metrics": [label for label in known[n] if not metrics and label not in shared],
        }
        for n in range(2)
    ]
    return Matched(per_user, has_user, pairs, only)


def _find_shared(
    known: list[list[str]], names: list[str], asked: list[str], *, is_complete: bool
) -> list[str]:
    """Return the metrics asked for, or all that both tables have; raise if a table lacks one."""
    for metric in asked:
        for name, labels in zip(names, known, strict=True):
            if metric not in labels:
                raise RecframeError(
                    f"{quote(metric)} must be in both files; {show_path(name)} has {quote(labels)}"
                )
    shared = asked if is_complete else [metric for metric in known[1] if metric in known[0]]
    _check_shared("metric", shared, known, names)
    return shared


def _pair_scores(scores: list[list[str]], names: list[str]) -> list[tuple[str, str]]:
    """Return the old and the new score of each pair: equal labels, or the only score of each."""
    pairs = [(score, score) for score in scores[1] if score in scores[0]]
    if not pairs and len(scores[0]) == len(scores[1]) == 1:
        pairs = [(scores[0][0], scores[1][0])]
    _check_shared("score", pairs, scores, names)
    return pairs


def _check_shared(level: str, shared: list[Any], labels: list[list[str]], names: list[str]) -> None:
    """Raise if two tables share no metric or score."""
    if not shared:
        raise RecframeError(
            f"{show_path(names[1])} has no {level} of {show_path(names[0])}, found "
            f"{quote(labels[1])} and {quote(labels[0])}"
        )


def list_missing(matched: Matched, names: list[str]) -> list[str]:
    """Return a line for each score and metric of the old table that the new one lacks."""
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
    """Return the changes of every score, a row for each metric.

    The last two columns hold the number of all users with an old value, and the mean of all new
    values.
    """
    n, weights = len(matched.scores), matched.weights
    pairs = ScorePairs(matched.shared, [(i, n + i) for i in range(n)], are_several=False)
    of_shared = None if weights is None else weights[matched.has_user.all(axis=0)]
    table = compare_pairs(pairs, of_shared, how)
    unit = None if is_infer(how.unit) else how.unit  # compare_pairs refused repeated units
    per_user, counted = weigh_users(matched.per_user, weights, unit)
    old = per_user.to_numpy().T[: len(table)]
    table["n_old"] = [np.count_nonzero(counted.join(values)[1]) for values in old]
    table["new_mean"] = mean_table(matched.per_user, weights).to_numpy()[n:].ravel()
    if how.trusted is not None:
        with taking_notes():  # the differences note the same
            of_new = matched.per_user.loc[:, list(range(n, 2 * n))]
            trusted: dict[str, Any] = {"resampling": how.resampling, "trusted": how.trusted}
            table["new_mean"] = summary_table(of_new, weights, unit=unit, **trusted)["mean"].array
    named = {n + i: new for i, (_, new) in enumerate(matched.scores)}
    return table.rename(index=named, level="score")


def check_limit(limit: float, most: float = math.inf) -> float:
    """Return a limit; raise unless it is from 0 to the most."""
    if not (0 <= limit <= most and limit < math.inf):
        range_of = "of 0 or more" if most == math.inf else f"from 0 to {most}"
        raise RecframeError(f"must be a number {range_of}, found {quote(limit)}")
    return limit


def find_low(metrics: list[str], low: list[str], high: list[str]) -> frozenset[str]:
    """Return the metrics whose low values are better, by definition or because the user says so.

    Raise if it is not known of a metric, or if the user names another metric.
    """
    alike = find_alike([*metrics, *low, *high])
    low, high = ([alike[name] for name in names] for names in (low, high))
    named = [*low, *high]
    for name in named:
        if name not in metrics or named.count(name) > 1:
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
    """Return the reasons why metrics fail, and the metrics that too few users have.

    A metric in which no user differs does not fail. Any other metric of fewer than two users fails.
    If all users differ by the same and the metric has no limits, there is no interval: "max_drop"
    decides by the mean, "non_inferior" fails.
    """
    failed, missing = Reasons(), Reasons()
    for (score, metric), row in zip(table.index, table.to_dict("records"), strict=True):
        n, n_old, mean, reasons = int(row["n_users"]), int(row["n_old"]), row["new_mean"], []
        n_known = row["n_known"] = int(row.get("n_trusted", n))
        if round(gate.min_users * n_old - n, 6) > 0:  # rounded: the last digits of floats vary
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
            if n_known < 2:
                has = "user has" if n_known else "users have"
                interval = f"{n_known} {has} a value in both, of two needed"
            elif math.isnan(row["low"]):
                by = f"all {n:,} users differ by {row['difference']:.4g}"
                interval = f"no interval is known, as {by}"
            reasons.append(f"{reason} ({interval}{lower})")
        if reasons:
            failed.setdefault(score, {})[metric] = ", and ".join(reasons)
    return failed, missing


def _find_loss(row: Any, gate: Gate, *, is_low: bool) -> str | None:
    """Return how a metric became worse, or may have become so, by more than is allowed."""
    sign = 1 if is_low else -1
    loss, (least, most) = sign * row["difference"], sorted((sign * row["low"], sign * row["high"]))
    is_by_mean = gate.rule == "max_drop"
    if row.get("n_tied") == row["n_known"] >= min(2, row["n_old"]):
        return None
    if row["n_known"] < 2 or (math.isnan(most) and not is_by_mean):
        return "cannot be told"
    if not is_by_mean and not most < gate.limit:
        how = "risen" if is_low else "fallen"
        return f"may have {how} by {most:.4g}, not less than {gate.limit:g}"
    # A drop by the limit itself is allowed, whatever the last digits of floats.
    if is_by_mean and round(loss - gate.limit, 12) > 0 and not least <= 0:
        return f"{'rose' if is_low else 'fell'} by {loss:.4g}, more than {gate.limit:g}"
    return None
