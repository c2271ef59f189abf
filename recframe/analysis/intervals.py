"""Intervals: how far the mean over all users may lie from that of the users at hand.

Measured in `tests/benchmarks/coverage.py`, explained in
https://github.com/recframe/recframe/blob/main/examples/guide/compare.md. Users who do not
all count alike are values that do: the mean of values x_i of weights w_i is Σ w_i x_i / Σ w_i. To
first order it moves with its users as the plain mean of the values m + (w_i / mean of w)(x_i - m),
whose mean it is: of these the error and the intervals are those of any mean (W. G. Cochran,
"Sampling Techniques", 1977, ch. 6).
"""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.resampling import Resampling, bootstrap_interval
from recframe.errors import RecframeError, option, quote
from recframe.frames.user_values import find_units
from recframe.kernel.threads import Array
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import find_name

SHARES = {
    "wilson": ((0, 1), "a metric whose values are all 0 or 1"),
    "tango": ((-1, 0, 1), "differences that are all -1, 0 or 1"),
}
WIDENING = 1.15  # by skewness; measured, with more intervals are longer than they need be


class Counted(NamedTuple):
    """How values of users count: the weight and the unit of each, None where all count alike."""

    weights: Array | None
    units: Array | None

    def join(self, values: Array) -> tuple[Array, Array]:
        """Return the weighted mean of each unit's values, and its weight; NaN and 0 of none."""
        weights = np.where(np.isnan(values), 0.0, 1.0 if self.weights is None else self.weights)
        if self.units is None:
            return values, weights
        total = np.bincount(self.units, weights)
        means: Array = np.full(len(total), np.nan)
        sums = np.bincount(self.units, np.nan_to_num(values) * weights)
        return np.divide(sums, total, out=means, where=total > 0), total


def count_users(
    per_user: pd.DataFrame, weights: pd.Series | None, unit: Any
) -> tuple[pd.DataFrame, Counted]:
    """Return the users who weigh something, and how their values count."""
    of_users = None
    if weights is not None:
        of_users = weights.to_numpy()
        per_user, of_users = per_user[of_users > 0], of_users[of_users > 0]
        of_users = of_users / of_users.max(initial=1e-300)  # equal ones are exactly 1
    return per_user, Counted(of_users, find_units(per_user.index, unit))


def spread_by(values: Array, weights: Array) -> Array:
    """Return values that count alike, of the mean and error of those whose weight is above 0."""
    values, weights = values[weights > 0], weights[weights > 0]
    if (weights == weights[:1]).all():
        return values
    mean = (values * weights).sum() / weights.sum()
    spread: Array = mean + weights / weights.mean() * (values - mean)
    return spread


def is_share(label: object) -> bool:
    """Return whether values of a metric lie between 0 and 1 by its definition."""
    definition = DEFINITIONS.get(find_name(label))
    return definition is not None and definition.is_bounded


def find_sign(label: object) -> float:
    """Return 1 where high values of a metric are better, -1 where low ones are, else NaN."""
    better = getattr(DEFINITIONS.get(find_name(label)), "better", "unknown")
    return {"high": 1.0, "low": -1.0}.get(better, math.nan)


def has_limits(label: object, values: Array) -> bool:
    """Return whether a metric lies between 0 and 1, by these values and its definition, if any."""
    definition = DEFINITIONS.get(find_name(label))
    is_inside = bool(((values >= 0) & (values <= 1)).all())
    return is_inside and (definition is None or definition.is_bounded)


def mean_interval(
    values: Array,
    is_limited: bool,
    resampling: Resampling,
    *,
    are_differences: bool = False,
) -> tuple[float, float, str]:
    """Return the interval of a mean of values without NaN, and how it was made, or "none".

    Where it `is_limited`, a value lies between 0 and 1, a difference between -1 and 1.
    """
    if len(values) < 2:
        return math.nan, math.nan, "none"
    values = np.sort(values)  # sums depend on their order in their last bits
    choice, confidence = resampling.interval, resampling.confidence
    of_shares = "tango" if are_differences else "wilson"
    whole, words = SHARES[of_shares]
    others = values[~np.isin(values, whole)].tolist()
    if choice == of_shares and others:
        raise RecframeError(
            f"interval={quote(choice)} is for {words}, found {quote(others[0])}; "
            f"pass {option('interval', 'auto')}"
        )
    if choice == "auto":  # where there are no limits, the least and the largest must be seen
        are_known = is_limited or (values[0] == whole[0] and values[-1] == whole[-1])
        choice = of_shares if are_known and not others else "skewed"
    if choice == "wilson":
        return *wilson(values.mean(), len(values), confidence), choice
    if np.ptp(values) <= 1e-12 * np.abs(values[[0, -1]]).max():
        if not is_limited:
            return math.nan, math.nan, "none"
        # The share of users with another value may be as large as that of which none was seen, and
        # their values anywhere within the limits.
        _, share = wilson(0.0, len(values), confidence)
        rest = float(values[0]) * (1 - share)
        return rest + share * whole[0], rest + share * whole[-1], "equal"
    if choice == "tango":
        low, high = _tango(values, confidence)
    elif choice == "bootstrap":
        low, high = bootstrap_interval(values, resampling)
    else:
        low, high = _student(values, confidence, is_moved=choice == "skewed")
    if is_limited:
        low, high = max(low, whole[0]), min(high, whole[-1])
    return float(low), float(high), choice


def wilson(share: float, n: int, confidence: float) -> tuple[float, float]:
    """Return the interval of a share of users.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal
    of the American Statistical Association 22, 1927.
    """
    square = _normal_quantile((1 - confidence) / 2) ** 2
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = math.sqrt(square * (share * (1 - share) / n + square / (4 * n * n))) / (1 + square / n)
    # Without rounding a share of 0 begins at 0, and one of 1 ends at 1.
    return (middle - half if share > 0 else 0.0, middle + half if share < 1 else 1.0)


def _tango(values: Array, confidence: float) -> tuple[float, float]:
    """Return the interval of the difference between two shares of the same users.

    It holds the differences that the number of users who won and lost do not speak against, by the
    score test of which Wilson's interval is made (T. Tango, "Equivalence test and confidence
    interval for the difference in proportions for the paired-sample design", Statistics in Medicine
    17, 1998).
    """
    n, n_won, n_lost = len(values), int((values > 0).sum()), int((values < 0).sum())
    square = _normal_quantile((1 - confidence) / 2) ** 2
    bounds = []
    for outside in (-1.0, 1.0):
        inside = (n_won - n_lost) / n
        for _ in range(60):
            middle = (inside + outside) / 2
            linear = (2 * n - n_won + n_lost) * middle - n_won - n_lost
            both = middle * (1 - middle)
            root = math.sqrt(max(linear**2 + 8 * n * n_lost * both, 0.0))
            share_lost = (root - linear) / (4 * n)  # the likeliest, if this were the difference
            is_held = (n_won - n_lost - n * middle) ** 2 <= square * n * (2 * share_lost + both)
            inside, outside = (middle, outside) if is_held else (inside, middle)
        bounds.append(inside)
    return bounds[0], bounds[1]


def _student(values: Array, confidence: float, *, is_moved: bool) -> tuple[float, float]:
    """Return Student's interval, if asked moved and widened as far as the values are skewed.

    It is moved by what the skewness of values adds to the quantiles of a studentized mean (P. Hall,
    "Inverting an Edgeworth expansion", Annals of Statistics 11, 1983). It is widened because a
    sample that lacks large values has too low a deviation and skewness too. Intervals of a
    bootstrap-t hold the mean no more often, can be much longer, and are drawn.
    """
    n = len(values)
    mean, deviation = values.mean(), values.std(ddof=1)
    cubes = float((((values - mean) / deviation) ** 3).sum())
    skewness = cubes * n / ((n - 1) * (n - 2)) if is_moved and n > 2 else 0.0
    quantile = student_bound((1 - confidence) / 2, n - 1)
    step = skewness * deviation / n
    middle = mean + (1 + 2 * quantile**2) / 6 * step
    half = quantile * math.hypot(deviation / math.sqrt(n), WIDENING * quantile * step)
    return middle - half, middle + half


@cache
def student_bound(above: float, freedom: int) -> float:
    """Return what Student's t is above with a probability of less than a half.

    With t = sqrt(freedom) tan(angle), the density of the angle is a power of its cosine.
    """
    normal = -_normal_quantile(above)
    if freedom >= 1_000:  # from there on a short expansion is as good as an integral
        third, fifth = normal**3, normal**5
        terms = (third + normal) / 4, (5 * fifth + 16 * third + 3 * normal) / 96
        return normal + terms[0] / freedom + terms[1] / freedom**2
    nodes, weights = np.polynomial.legendre.leggauss(128)
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(math.pi) / 2
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        cosines = np.cos(angle * (nodes + 1) / 2)
        area = angle / 2 * math.exp(log_scale) * float(weights @ cosines ** (freedom - 1))
        low, high = (angle, high) if area < 0.5 - above else (low, angle)
    return math.sqrt(freedom) * math.tan(low)


def _normal_quantile(probability: float) -> float:
    """Return the value below which a normal one lies with this probability."""
    from statistics import NormalDist  # which `import recframe` need not load

    return NormalDist().inv_cdf(probability)
