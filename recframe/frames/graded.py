"""Graded relevance: from the values of a relevance column to gains, where a metric needs them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from recframe.errors import RecframeError
from recframe.frames.columns import get_column
from recframe.frames.interactions import Interactions, relevance_values
from recframe.kernel.gains import Gains
from recframe.kernel.grouping import Array, take
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import Metric
from recframe.options import Options

MAX_GAIN = 2.0**900  # what a user's gains add up to is far from overflow


def needs_gains(metrics: Sequence[Metric], options: Options) -> bool:
    """Return whether relevance has grades, and a metric that counts them is asked for."""
    return options.min_relevance is not None and any(
        DEFINITIONS[metric.name].needs_gains for metric in metrics
    )


def add_gains(
    interactions: Interactions, frame: pd.DataFrame, label: Hashable, options: Options
) -> Interactions:
    """Return interactions with the gains of their rows, which the relevance column gives."""
    gains = read_gains(interactions, frame, label, options)
    none = np.zeros_like(interactions.groups.offsets)
    return interactions._replace(gains=Gains(gains, np.empty(0), none))


def read_gains(
    interactions: Interactions, frame: pd.DataFrame, label: Hashable, options: Options
) -> Array:
    """Return the gain of each relevant row, in grouped order; of others it means nothing."""
    column = get_column(frame, label)
    column = column if interactions.rows is None else column.iloc[interactions.rows]
    grades = relevance_values(column, label)
    if interactions.groups.order is not None:
        grades = take(grades, interactions.groups.order)
    limit = MAX_GAIN if options.gain == "linear" else math.log2(MAX_GAIN)
    if len(grades) and (grades.min() < 0 or grades.max() > limit):
        _check_grades(grades[interactions.relevant], limit, label, options)
    if options.gain == "linear":
        return grades
    gains = np.zeros(len(grades))
    gains[interactions.relevant] = np.exp2(grades[interactions.relevant].astype(np.float64)) - 1
    return gains


def _check_grades(grades: Array, limit: float, label: Hashable, options: Options) -> None:
    """Raise where the relevance of a relevant row is negative or above the limit."""
    low, high = (float(grades.min()), float(grades.max())) if len(grades) else (0.0, 0.0)
    if low < 0:
        raise RecframeError(
            f"relevant={label!r}: nDCG needs relevance of 0 or more, found {low:g} in a relevant "
            "row; pass a min_relevance= of 0 or more"
        )
    if high > limit:
        remedy = "; pass gain='linear'" if options.gain == "exponential" else ""
        raise RecframeError(
            f"relevant={label!r}: nDCG needs relevance of at most {limit:.3g} under "
            f"gain={options.gain!r}, found {high:g}{remedy}"
        )
