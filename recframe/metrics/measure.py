"""Measuring: metrics of every user from counts, and metrics of one ranking in arrays."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from recframe.errors import RecframeError, is_number, quote
from recframe.kernel.counting import Depth, count
from recframe.kernel.grouping import Groups
from recframe.kernel.ranking import Ranker, Rankings, TieRule
from recframe.kernel.threads import Array
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import Metric
from recframe.metrics.statistics import Policy, RankStatistics


class Plan(NamedTuple):
    """The metrics to measure, and the data that they need.

    Parameters
    ----------
    metrics, cut_offs : tuple of Metric, tuple of int
        The metrics in the order of the call, and their distinct cut-offs in increasing order.
    depth : Depth or None
        The part of the rankings that is counted; None: all of it.
    needs_gains : bool
        Whether a metric counts grades of relevance.
    needs_judged : bool
        Whether a metric counts rows that truth holds.
    sum_cut_offs : tuple of int
        The distinct cut-offs of metrics of a column, in increasing order.
    """

    metrics: tuple[Metric, ...]
    cut_offs: tuple[int, ...]
    depth: Depth | None
    needs_gains: bool
    needs_judged: bool
    sum_cut_offs: tuple[int, ...] = ()


def make_plan(metrics: Sequence[Metric]) -> Plan:
    """Return the plan to measure these metrics."""
    asked = [(metric.k, DEFINITIONS[metric.name]) for metric in metrics]
    counted = {k for k, definition in asked if k is not None and not definition.of_column}
    summed = {k for k, definition in asked if k is not None and definition.of_column}
    open_ended = [definition for k, definition in asked if k is None]
    depth = None
    if all(definition.at_n_relevant for definition in open_ended):
        depth = Depth(max(counted, default=0), at_n_relevant=bool(open_ended))
    return Plan(
        tuple(metrics),
        tuple(sorted(counted | summed)),
        depth,
        any(definition.needs_gains for _, definition in asked),
        any(definition.needs_judged for _, definition in asked),
        tuple(sorted(summed)),
    )


def measure_one(metric: Metric, statistics: RankStatistics, policy: Policy) -> Array:
    """Return a metric of each user from the statistics."""
    definition = DEFINITIONS[metric.name]
    n_ranked, n_relevant = statistics.counts.n_ranked, statistics.counts.n_relevant
    values = definition.formula(statistics, metric.k, policy, **dict(metric.parameters))
    if metric.k is not None and policy.short == "nan":
        values[n_ranked < metric.k] = np.nan
    if policy.has_truth and not definition.of_column:  # an empty list has no relevant row
        nothing = np.flatnonzero(n_ranked == 0)
        undefined = 0.0 if definition.zero_without_relevant else policy.zero_division
        values[nothing] = np.where(n_relevant[nothing] == 0, undefined, 0.0)
    return values


def measure_ranking(relevant: ArrayLike, score: ArrayLike, metric: Metric) -> float:
    """Return a metric of one ranking in arrays."""
    # Only an index of pandas has the method `equals`. pandas is not imported here.
    indexes: list[Any] = [getattr(values, "index", None) for values in (relevant, score)]
    if all(hasattr(index, "equals") for index in indexes) and not indexes[0].equals(indexes[1]):
        raise RecframeError(
            "relevant and score are paired by their order, but are Series with different indexes; "
            "align them, or pass their to_numpy() where the order is meant"
        )
    relevant, score = _make_array("relevant", relevant), _make_array("score", score)
    if relevant.ndim != 1 or score.ndim != 1 or len(relevant) != len(score):
        raise RecframeError(
            "relevant and score must be one-dimensional and of one length, "
            f"but have shapes {relevant.shape} and {score.shape}"
        )
    if len(score) and score.dtype.kind not in "iuf":
        raise RecframeError(f"score must be numbers, but has dtype {score.dtype}")
    if score.dtype.kind == "f" and np.isnan(score).any():
        raise RecframeError(f"score must not be NaN, but has {int(np.isnan(score).sum())}")
    are_numbers = relevant.dtype.kind in "biuf" or all(
        is_number(value) or isinstance(value, bool | np.bool_) for value in relevant
    )
    if not are_numbers or not np.isin(relevant, (0, 1)).all():
        grades = "; grades are counted in a frame: df.rec(min_relevance=...)" * are_numbers
        raise RecframeError(f"relevant must be boolean or 0/1, but is {quote(relevant)}{grades}")
    if metric.k is not None and metric.k > len(score):
        raise RecframeError(f"k must be at most the {len(score)} observations, but is {metric.k}")
    groups = Groups(1, offsets=np.array([0, len(score)]))
    ranker = Ranker(Rankings(groups, score, (relevant == 1).view(np.uint8)), TieRule())
    counts = count(ranker, slice(0, 1), np.zeros(1, np.int64), make_plan([metric]).depth)
    return float(measure_one(metric, RankStatistics(counts), Policy("raise", np.nan))[0])


def _make_array(name: str, values: ArrayLike) -> Array:
    """Return values as an array; raise if they are masked or make no array."""
    check_no_mask(name, values)
    try:
        return np.asarray(values)
    except Exception as error:  # lists of different lengths, or an error of an object
        raise RecframeError(
            f"{name} must be one-dimensional numbers, but is {quote(values)}"
        ) from error


def check_no_mask(name: str, values: Any) -> None:
    """Raise if an array masks values, because other code would drop the mask."""
    if n_masked := np.count_nonzero(np.ma.getmask(values)):
        raise RecframeError(
            f"{name} must not be masked, but has {n_masked} masked of {np.size(values)}. Leave the "
            "masked values out of every array."
        )
