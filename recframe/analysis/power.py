"""Power: which difference so many users would show, and how many users a difference needs."""

import math
import sys
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from recframe.analysis.intervals import student_bound
from recframe.analysis.pairs import ScorePairs
from recframe.errors import RecframeError, quote
from recframe.kernel.threads import Array

POWER, ALPHA = 0.8, 0.05


def detectable(deviation: float, n_users: int, power: float = POWER, alpha: float = ALPHA) -> float:
    """Return the smallest true difference that a two-sided test shows with this power.

    The difference that lies as many standard errors from 0 as the quantiles of Student's t of the
    test's level and of its power are apart.
    """
    if n_users < 2 or not deviation > 0:
        return math.nan
    n_errors = student_bound(alpha / 2, n_users - 1) + student_bound(1 - power, n_users - 1)
    return n_errors * deviation / math.sqrt(n_users)


def deviation_of(differences: Array) -> float:
    """Return the standard deviation; NaN for fewer than two, 0 where they differ by rounding."""
    if len(differences) < 2:
        return math.nan
    differences = np.sort(differences)
    is_equal = np.ptp(differences) <= 1e-12 * np.abs(differences[[0, -1]]).max()
    return 0.0 if is_equal else float(differences.std(ddof=1))


def check_plan(difference: Any, power: Any, alpha: Any) -> None:
    """Raise unless these numbers are in their ranges."""
    for name, number, low, high in (
        ("difference", difference, 0, sys.float_info.max),
        ("power", power, 0.5, 1),
        ("alpha", alpha, 0, 0.5),
    ):
        is_number = isinstance(number, Real) and not isinstance(number, bool)
        if not (is_number and low < number < high):
            to = f"between {low} and {high}" if high <= 1 else "a number above 0"
            raise RecframeError(f"{name} must be {to}, found {quote(number)}")


def plan_table(pairs: ScorePairs, difference: float, power: float, alpha: float) -> pd.DataFrame:
    """Return how many users every pair of scores needs, in each metric."""
    rows = []
    for values, base in pairs.columns():
        differences = (values - base)[~np.isnan(values - base)]
        deviation = deviation_of(differences)
        rows.append(
            {
                "n_needed": _count_needed(deviation, difference, power, alpha),
                "n_users": len(differences),
                "deviation": deviation,
                "detectable": detectable(deviation, len(differences), power, alpha),
            }
        )
    return pairs.table(rows).astype({"n_needed": "Int64"})


def _count_needed(deviation: float, difference: float, power: float, alpha: float) -> int | None:
    """Return the fewest users that show a difference; None where nothing is known of them."""
    if not deviation > 0:
        return None
    enough, too_few = 2, 1
    while detectable(deviation, enough, power, alpha) > difference:
        enough, too_few = 2 * enough, enough
        if enough > 1 << 60:
            raise RecframeError(
                f"difference must be one that some users could show, found {quote(difference)}, "
                f"where users' differences deviate by {deviation:g}"
            )
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        is_enough = detectable(deviation, middle, power, alpha) <= difference
        enough, too_few = (middle, too_few) if is_enough else (enough, middle)
    return enough
