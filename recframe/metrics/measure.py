"""Measuring: metrics of every user from the counts, planned once for all."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from recframe.kernel.counting import Depth
from recframe.kernel.threads import Array
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import Metric
from recframe.metrics.statistics import Policy, RankStatistics


class Plan(NamedTuple):
    """What is to be measured, and what that takes.

    Parameters
    ----------
    metrics, cut_offs : tuple of Metric, tuple of int
        The metrics as asked for, and their cut-offs, each once, in increasing order.
    order : tuple of int
        The metrics' indexes, the deepest first: where one stops is found once, down to the last
        position that is asked for.
    depth : Depth or None
        How far down the rankings they look; None: to the end.
    needs_gains : bool
        Whether one of them counts grades of relevance.
    needs_judged : bool
        Whether one of them counts rows that truth holds.
    sum_cut_offs : tuple of int
        The cut-offs of those that are of a column, each once, in increasing order.
    """

    metrics: tuple[Metric, ...]
    cut_offs: tuple[int, ...]
    order: tuple[int, ...]
    depth: Depth | None
    needs_gains: bool
    needs_judged: bool
    sum_cut_offs: tuple[int, ...] = ()


def make_plan(metrics: Sequence[Metric]) -> Plan:
    """Return what measuring these metrics takes."""
    asked = [(metric.k, DEFINITIONS[metric.name]) for metric in metrics]
    cut_offs = {k for k, _ in asked if k is not None}
    counted = {k for k, definition in asked if k is not None and not definition.of_column}
    summed = {k for k, definition in asked if k is not None and definition.of_column}
    open_ended = [definition for k, definition in asked if k is None]
    depth = None
    if all(definition.at_n_relevant for definition in open_ended):
        depth = Depth(max(counted, default=0), at_n_relevant=bool(open_ended))
    return Plan(
        tuple(metrics),
        tuple(sorted(cut_offs)),
        tuple(sorted(range(len(asked)), key=lambda index: -(asked[index][0] or np.inf))),
        depth,
        any(definition.needs_gains for _, definition in asked),
        any(definition.needs_judged for _, definition in asked),
        tuple(sorted(summed)),
    )


def measure_one(metric: Metric, statistics: RankStatistics, policy: Policy) -> Array:
    """Return a metric of each user from what was counted."""
    definition = DEFINITIONS[metric.name]
    n_ranked, n_relevant = statistics.counts.n_ranked, statistics.counts.n_relevant
    values = definition.formula(statistics, metric.k, policy, **dict(metric.parameters))
    if metric.k is not None and policy.short == "nan":
        values[n_ranked < metric.k] = np.nan
    if policy.has_truth:  # an empty list finds nothing of what is there to be found
        nothing = np.flatnonzero(n_ranked == 0)
        undefined = 0.0 if definition.zero_without_relevant else policy.zero_division
        values[nothing] = np.where(n_relevant[nothing] == 0, undefined, 0.0)
    return values
