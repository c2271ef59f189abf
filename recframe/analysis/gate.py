"""The gate: a verdict on the metrics of an old and a new table of users, such as of two nights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import pandas as pd

from recframe.analysis.compare import Comparison, trust
from recframe.analysis.intervals import find_sign
from recframe.analysis.matched_tables import (
    Matched,
    check_same_options,
    compare_matched,
    find_means,
    list_alone,
    list_missing,
    match_tables,
    number_people,
)
from recframe.analysis.segments import Segmented, join_segments, list_segments, segment_table
from recframe.errors import RecframeError, is_number, quote, shorten
from recframe.frames.names import is_infer
from recframe.metrics.names import find_alike, is_share
from recframe.notes import Note, list_notes, taking_notes
from recframe.options import INFER

Rule = Literal["max_drop", "non_inferior"]
Reasons = dict[str, dict[str, str]]  # by score and metric
MIN_USERS = 0.95  # this share of the old table's users with a value needs one in the new table
OTHERS = "others"  # stands for the metrics that limits do not name
NOTED = ("disagreement", "judge")  # kinds of notes on differences
VERDICT_COLUMNS = ["old", "new", "difference", "low", "high", "n_users"]  # the columns of a verdict


class LimitError(RecframeError):
    """A limit of a gate that no values could fail, or that names no metric compared."""


class Thresholds(NamedTuple):
    """The losses that a gate allows.

    "max_drop" fails if the mean became worse by more than the limit and the interval excludes 0.
    "non_inferior" fails unless the interval excludes all losses of the limit or more.
    """

    rule: Rule | None
    losses: Mapping[str, float]  # 0 or more, in units of the metric, by metric
    low: frozenset[str]  # metrics whose low values are better, so that a rise is a loss
    floors: Mapping[str, float]  # the least mean of all users of the new table, by metric
    min_users: float  # the least share of the old table's users with a value in both tables
    allow_missing: bool = False

    @property
    def any(self) -> bool:
        """Whether a loss or a mean could fail."""
        return bool(self.losses or self.floors)


def check_limit(limit: Any, most: float = math.inf, name: str = "") -> Any:
    """Return a limit; raise unless it is from 0 to the most. An argument may have the name."""
    if not (is_number(limit) and 0 <= limit <= most and limit < math.inf):
        range_of = "of 0 or more" if most == math.inf else f"from 0 to {most}"
        raise LimitError(f"{name} must be a number {range_of}, but is {quote(limit)}".lstrip())
    return limit


def make_limits(
    metrics: list[str],
    *,
    max_drop: Any = None,
    non_inferior: Any = None,
    at_least: Any = None,
    min_users: float | None = None,
    allow_missing: bool = False,
    lower_is_better: Sequence[str] = (),
    higher_is_better: Sequence[str] = (),
) -> Thresholds:
    """Return the limits of these metrics; raise if one is wrong, or two contradict each other."""
    if max_drop is not None and non_inferior is not None:
        raise LimitError("max_drop and non_inferior are two rules. Pass one of them.")
    rule: Rule | None = None
    if max_drop is not None or non_inferior is not None:
        rule = "max_drop" if non_inferior is None else "non_inferior"
    losses = name_limits(str(rule), max_drop if non_inferior is None else non_inferior, metrics)
    floors = name_limits("at_least", at_least, metrics)
    share = check_limit(MIN_USERS if min_users is None else min_users, 1, "min_users")
    low = frozenset[str]()
    if losses or floors:
        judged = [one for one in metrics if one in losses]
        lower, higher = map(_as_names, (lower_is_better, higher_is_better))
        low = find_low(judged, lower, higher)
        for metric in floors:
            if find_sign(metric) == -1 and metric not in higher:
                raise LimitError(
                    f"at_least is the lowest mean that passes, but low values of {quote(metric)} "
                    "are better. Name the metrics that it is for."
                )
    return Thresholds(rule, losses, low, floors, share, allow_missing)


def _as_names(names: str | Iterable[str] | None) -> list[str]:
    """Return one name, or several, as a list; None has none."""
    return [names] if isinstance(names, str) else list(names or ())


def name_limits(
    name: str, limits: float | Mapping[str, float] | None, metrics: Sequence[str]
) -> dict[str, float]:
    """Return the limit of each metric from one number, or from a mapping by metric."""
    if limits is None:
        return {}
    named = dict(limits) if isinstance(limits, Mapping) else {OTHERS: limits}
    alike = find_alike([*metrics, *(one for one in named if one != OTHERS)])
    for metric, limit in named.items():
        if metric != OTHERS and alike[metric] not in metrics:
            raise LimitError(
                f"{name} must name metrics that are compared, {quote(list(metrics))}, but names "
                f"{quote(metric)}"
            )
        is_of = [metric] if metric != OTHERS else [one for one in metrics if one not in named]
        is_limited = name == "at_least" and any(map(is_share, is_of))
        check_limit(limit, 1 if is_limited else math.inf, name)
    by_metric = {alike[metric]: limit for metric, limit in named.items() if metric != OTHERS}
    return dict.fromkeys(metrics, named[OTHERS]) | by_metric if OTHERS in named else by_metric


def _check_reachable(limits: Thresholds, matched: Matched, how: Comparison) -> None:
    """Raise if no fall of a metric from its old mean could reach a limit."""
    means = find_means(matched, how).to_dict("records")
    for (old, _), of_score in zip(matched.scores, means, strict=False):  # the new ones come last
        for metric, limit in limits.losses.items():
            most = 1 - of_score[metric] if metric in limits.low else of_score[metric]
            if is_share(metric) and 0 < most <= limit + 1e-12:  # their last digits may differ
                raise LimitError(
                    f"{limits.rule}={limit:g} must be below {most:.4g} for {shorten(metric)}, as "
                    f"its old mean by {quote(old)} is {of_score[metric]:.4g}. Pass a difference of "
                    f"means such as {most / 20:.2g}."
                )


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
                f"lower_is_better and higher_is_better must name {once}metrics that are compared, "
                f"{quote(metrics)}, but names {quote(name)}"
            )
    signs = {name: find_sign(name) for name in metrics}
    signs |= {**dict.fromkeys(low, -1), **dict.fromkeys(high, 1)}
    for name, sign in signs.items():
        if math.isnan(sign):
            raise RecframeError(
                f"whether high or low values of {quote(name)} are better is not known, which a "
                "gate must know. Pass higher_is_better or lower_is_better with its name, or "
                "metrics without it."
            )
    return frozenset(name for name, sign in signs.items() if sign == -1)


def find_failed(
    table: pd.DataFrame, gate: Thresholds, confidence: float
) -> tuple[Reasons, Reasons]:
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
                f"has new values for only {n:,} of {n_old:,} old users; "
                f"{gate.min_users * 100:g}% are needed"
            )
        floor = gate.floors.get(metric)
        if floor is not None and not round(floor - mean, 12) <= 0:
            reasons.append(f"has a mean of {mean:.4g}, below {floor:g}")
        limit = gate.losses.get(metric)
        is_low = metric in gate.low
        reason = None if limit is None else _find_loss(row, gate.rule, limit, is_low=is_low)
        if reason is not None:
            lower = "; the lower the better" if is_low else ""
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


def _find_loss(row: Any, rule: Rule | None, limit: float, *, is_low: bool) -> str | None:
    """Return how a metric became worse, or may have become so, by more than is allowed."""
    sign = 1 if is_low else -1
    loss, (least, most) = sign * row["difference"], sorted((sign * row["low"], sign * row["high"]))
    is_by_mean = rule == "max_drop"
    if row.get("n_tied") == row["n_known"] >= min(2, row["n_old"]):
        return None
    if row["n_known"] < 2 or (math.isnan(most) and not is_by_mean):
        return "cannot be told"
    if not is_by_mean and not most < limit:
        how = "risen" if is_low else "fallen"
        return f"may have {how} by {most:.4g}, not less than {limit:g}"
    # A drop by the limit itself is allowed, whatever the last digits of floats.
    if is_by_mean and round(loss - limit, 12) > 0 and not least <= 0:
        return f"{'rose' if is_low else 'fell'} by {loss:.4g}, more than {limit:g}"
    return None


class Sides(NamedTuple):
    """An old and a new table of users, their names, the options that made them, and weights.

    Options of tables that are no files may be out of date, as pandas keeps attributes when values
    change.
    """

    tables: list[pd.DataFrame]
    names: list[str]
    made: list[dict[str, Any]] | None  # None: nobody recorded them
    weights: Any = None
    are_files: bool = True


class SegmentVerdict(NamedTuple):
    """The changes of a segment's users, None if the tables share none, and why they fail."""

    segment: dict[str, Any]  # its values by column, empty if all users are one segment
    matched: Matched
    changes: pd.DataFrame | None
    failed: Reasons
    lacking: Reasons

    @property
    def where(self) -> str:
        """The words that name the segment after a score."""
        values = [f"{shorten(name)} is {quote(value)}" for name, value in self.segment.items()]
        return f" where {' and '.join(values)}" if values else ""

    def list_reasons(self, reasons: Reasons) -> list[str]:
        """Return a line for each reason."""
        return [
            f"{shorten(metric)} of {quote(score)}{self.where} {reason}"
            for score, of_score in reasons.items()
            for metric, reason in of_score.items()
        ]


class Verdict(NamedTuple):
    """The verdicts on all segments, and all that the new table lacks."""

    segments: list[SegmentVerdict]
    segmented: Segmented
    limits: Thresholds
    missing: list[str]
    matched: Matched
    how: Comparison
    made: Mapping[str, Any]  # the options that the new table was made with
    notes: Sequence[str] = ()
    facts: Sequence[Note] = ()  # notes on differences; `notes` say all that other kinds would

    @property
    def failures(self) -> list[str]:
        """A line for each failure, first for missing users, scores and metrics."""
        of_values = [line for one in self.segments for line in one.list_reasons(one.failed)]
        is_complete = self.limits.allow_missing or not self.limits.any
        return of_values if is_complete else self.missing + of_values

    @property
    def shared(self) -> Segmented:
        """The segments with users in both tables."""
        are_shared = [one.changes is not None for one in self.segments]
        return self.segmented._replace(keys=self.segmented.keys[are_shared])

    def table(self) -> pd.DataFrame:
        """Return the old and new mean of each metric, the difference, and whether it passed."""
        tables, limited = [], {*self.limits.losses, *self.limits.floors}
        for one in self.segments:
            if one.changes is not None:
                shown = pd.DataFrame(one.changes[VERDICT_COLUMNS]).rename_axis(columns=None)
                reasons = [one.failed] if self.limits.allow_missing else [one.failed, one.lacking]
                failed = {(score, metric) for by in reasons for score in by for metric in by[score]}
                if limited:
                    shown["passed"] = [
                        label not in failed if label in failed or label[1] in limited else None
                        for label in shown.index
                    ]
                tables.append(shown)
        return join_segments(tables, self.shared) if self.segmented.grouping.by else tables[0]


def find_verdict(
    sides: Sides,
    limits: Mapping[str, Any],
    how: Comparison,
    *,
    metrics: str | Iterable[str] | None = None,
    by: Any = None,
    trusted: Sequence[pd.DataFrame] = (),
    shows_bar: bool = False,
) -> Verdict:
    """Return the verdict on two tables, by segment; limits are the arguments of `make_limits`."""
    tables, names, made, weights, are_files = sides
    floors = limits.get("at_least")
    named = [one for one in floors if one != OTHERS] if isinstance(floors, Mapping) else []
    matched = match_tables(tables, names, _as_names(metrics), named)
    segmented = segment_table(matched.per_user, by, weights)
    matched = matched._replace(weights=segmented.weights)
    allowed = make_limits(list(matched.per_user.columns.unique("metric")), **limits)
    notes = list[str]()
    if made is not None:
        units = [one.pop("unit", INFER) for one in made]
        if is_infer(how.unit) and units[0] == units[1]:
            how = how._replace(unit=units[1])
        notes = check_same_options(made, names, has_limits=allowed.any and are_files)
    if trusted:
        how = trust(how, number_people(trusted, matched))
    _check_reachable(allowed, matched, how)
    verdict = Verdict(
        [], segmented, allowed, list_missing(matched, names), matched, how, made[1] if made else {}
    )
    each = segmented.each(shows_bar=shows_bar)
    with taking_notes() as facts:
        for (rows, users, weights), segment in zip(each, list_segments(segmented), strict=True):
            has_user = matched.has_user[:, rows]
            of_segment = matched._replace(per_user=users, has_user=has_user, weights=weights)
            one = SegmentVerdict(segment, of_segment, None, {}, {})
            if not of_segment.shared.empty:
                table = compare_matched(of_segment, how)
                failed, lacking = find_failed(table, allowed, how.resampling.confidence)
                one = one._replace(changes=table, failed=failed, lacking=lacking)
                verdict.missing.extend(one.list_reasons(lacking))
            elif has_user[0].any():
                verdict.missing.append(f"no user{one.where} is in both files")
            verdict.segments.append(one)
    notes += list_alone(matched, names)
    of_differences = [one for one in list_notes(facts) if one.kind.startswith(NOTED)]
    return verdict._replace(notes=notes, facts=of_differences)
