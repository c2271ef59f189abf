"""Measuring: the metrics of every user from the counts. NumPy only."""

from collections.abc import Iterator, Sequence

import numpy as np

from recframe.kernel.counting import Counts, Depth
from recframe.kernel.grouping import Array
from recframe.metrics.definitions import DEFINITIONS, Policy
from recframe.metrics.ideal import Grades
from recframe.metrics.names import Metric
from recframe.metrics.statistics import Tally


def measure(
    counts: Counts, metrics: Sequence[Metric], policy: Policy, grades: Grades | None = None
) -> Iterator[Array]:
    """Yield metrics one after the other, a float array of shape (n_users,) each."""
    tally = Tally(counts, {metric.k for metric in metrics if metric.k is not None}, grades)
    for metric in metrics:
        yield evaluate_metric(metric, tally, policy)


def find_depth(metrics: Sequence[Metric]) -> Depth | None:
    """Return how far down the rankings metrics look; None: to their end."""
    open_ended = [metric.name for metric in metrics if metric.k is None]
    if not all(DEFINITIONS[name].at_n_relevant for name in open_ended):
        return None
    k = max((metric.k for metric in metrics if metric.k is not None), default=0)
    return Depth(k, at_n_relevant=bool(open_ended))


def evaluate_metric(metric: Metric, tally: Tally, policy: Policy) -> Array:
    """Return a metric of each user from what was counted."""
    formula = DEFINITIONS[metric.name].formula
    n_ranked = tally.counts.n_ranked
    values = formula(tally, metric.k, policy)
    if metric.k is not None and policy.short == "nan":
        values[n_ranked < metric.k] = np.nan
    if policy.absent is None:
        return values
    nothing = n_ranked == 0
    if policy.absent == "drop":
        values[nothing] = np.nan
    elif nothing.any():
        # An empty list finds nothing of what is there to be found.
        values[nothing] = formula(tally, metric.k, policy._replace(short="pad"))[nothing]
        values[nothing & (tally.counts.n_relevant > 0)] = 0.0
    return values
