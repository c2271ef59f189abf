"""The power of a comparison: the differences that a number of users shows."""

import math

import numpy as np

from recframe.analysis.intervals import student_bound
from recframe.kernel.threads import Array

POWER, ALPHA = 0.8, 0.05


def detectable(
    deviation: float,
    n_users: int,
    power: float = POWER,
    alpha: float = ALPHA,
    constant: float = 0.0,
) -> float:
    """Return the smallest true difference that a two-sided test shows with this power.

    It is the sum of the quantiles of Student's t for level and power, in standard errors. These
    have a `constant` part, which more users do not reduce.
    """
    if n_users < 2 or not deviation > 0:
        return math.nan
    n_errors = student_bound(alpha / 2, n_users - 1) + student_bound(1 - power, n_users - 1)
    return n_errors * math.hypot(deviation / math.sqrt(n_users), constant)


def deviation_of(differences: Array) -> float:
    """Return the standard deviation; NaN for fewer than two, 0 if they differ by rounding only."""
    if len(differences) < 2:
        return math.nan
    differences = np.sort(differences)
    is_equal = np.ptp(differences) <= 1e-12 * np.abs(differences[[0, -1]]).max()
    return 0.0 if is_equal else float(differences.std(ddof=1))
