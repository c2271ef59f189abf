"""Graded relevance: from the values of a relevance column to gains, where a metric needs them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from recframe.columns import get_column
from recframe.definitions import DEFINITIONS
from recframe.errors import RecframeError
from recframe.frames import Interactions, relevance_values
from recframe.gains import Gains
from recframe.groups import Array
from recframe.labels import Metric
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
    """Return the gain of each row in grouped order, 0 where it is not relevant."""
    column = get_column(frame, label)
    column = column if interactions.rows is None else column.iloc[interactions.rows]
    grades = relevance_values(column, label).astype(np.float64)
    if interactions.groups.order is not None:
        grades = grades[interactions.groups.order]
    found = grades[interactions.relevant]
    if len(found) and found.min() < 0:
        raise RecframeError(
            f"relevant={label!r}: nDCG needs relevance of 0 or more, found {found.min():g} in a "
            f"relevant row; pass a min_relevance= of 0 or more, above {options.min_relevance:g}"
        )
    with np.errstate(over="ignore"):
        gained = np.exp2(found) - 1 if options.gain == "exponential" else found
    if len(gained) and gained.max() > MAX_GAIN:
        remedy = "; pass gain='linear'" if options.gain == "exponential" else ""
        raise RecframeError(
            f"relevant={label!r}: nDCG needs a gain of at most {MAX_GAIN:.2g}, found relevance "
            f"{found.max():g} under gain={options.gain!r}{remedy}"
        )
    gains = np.zeros(len(grades))
    gains[interactions.relevant] = gained
    return gains
