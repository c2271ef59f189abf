"""Intervals for a mean over all users, from the users in the data, and their power.

`tests/benchmarks/coverage.py` measures how often they hold the mean, and
https://github.com/recframe/recframe/blob/main/examples/guide/compare.md explains them.
The mean m of values x_i with weights w_i is Σ w_i x_i / Σ w_i. To first order it varies as the
plain mean of m + (w_i / mean of w)(x_i - m), and it is their mean. So its error and its interval
are those of these values (W. G. Cochran, "Sampling Techniques", 1977, ch. 6).
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.resampling import Resampling, bootstrap_interval
from recframe.errors import RecframeError, quote
from recframe.frames.user_values import find_units
from recframe.kernel.threads import Array
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import find_name

SHARES = {
    "wilson": ((0, 1), "a metric whose values are all 0 or 1"),
    "tango": ((-1, 0, 1), "differences that are all -1, 0 or 1"),
}
POWER, ALPHA = 0.8, 0.05
WIDENING = 1.15  # for skewness; measured: with a larger factor intervals are longer than needed


class Counted(NamedTuple):
    """The weight and the unit of each user's values; None: all count alike, each by itself."""

    weights: Array | None
    units: Array | None

    def join(self, values: Array) -> tuple[Array, Array]:
        """Return the weighted mean of each unit's values and its weight, NaN and 0 without any."""
        weights = np.where(np.isnan(values), 0.0, 1.0 if self.weights is None else self.weights)
        if self.units is None:
            return values, weights
        total = np.bincount(self.units, weights)
        means: Array = np.full(len(total), np.nan)
        sums = np.bincount(self.units, np.nan_to_num(values) * weights)
        return np.divide(sums, total, out=means, where=total > 0), total


def weigh_users(
    per_user: pd.DataFrame, weights: pd.Series | None, unit: Any
) -> tuple[pd.DataFrame, Counted]:
    """Return the users with a weight above 0, and their weights and units."""
    factors = None
    if weights is not None:
        factors = weights.to_numpy()
        per_user, factors = per_user[factors > 0], factors[factors > 0]
        factors = factors / factors.max(initial=1e-300)  # equal weights become exactly 1
    return per_user, Counted(factors, find_units(per_user.index, unit))


def spread_by(values: Array, weights: Array) -> Array:
    """Return values without weights that have the mean and the error of the weighted values."""
    values, weights = values[weights > 0], weights[weights > 0]
    if (weights == weights[:1]).all():
        return values
    mean = (values * weights).sum() / weights.sum()
    spread: Array = mean + weights / weights.mean() * (values - mean)
    return spread


def find_sign(label: object) -> float:
    """Return 1 if high values of a metric are better, -1 if low ones are, else NaN."""
    better = getattr(DEFINITIONS.get(find_name(label)), "better", "unknown")
    return {"high": 1.0, "low": -1.0}.get(better, math.nan)


def has_limits(label: object, values: Array) -> bool:
    """Return whether a metric is between 0 and 1, by its values and its definition, if any."""
    is_bounded = bool(getattr(DEFINITIONS.get(find_name(label)), "is_bounded", True))
    return is_bounded and bool(((values >= 0) & (values <= 1)).all())


def mean_interval(
    values: Array,
    is_limited: bool,
    resampling: Resampling,
    *,
    are_differences: bool = False,
) -> tuple[float, float, str]:
    """Return the interval of the mean of values without NaN, and the name of its method.

    `is_limited` says that values are between 0 and 1, or differences between -1 and 1.
    """
    if len(values) < 2:
        return math.nan, math.nan, "none"
    values = np.sort(values)  # the last bits of a sum depend on the order
    choice, confidence = resampling.interval, resampling.confidence
    of_shares = "tango" if are_differences else "wilson"
    whole, words = SHARES[of_shares]
    others = values[~np.isin(values, whole)].tolist()
    if choice == of_shares and others:
        raise RecframeError(
            f"interval={quote(choice)} is for {words}, not {quote(others[0])}. Pass "
            "interval='auto'."
        )
    if choice == "auto":  # without limits, the least and the largest value must be in the data
        are_known = is_limited or (values[0] == whole[0] and values[-1] == whole[-1])
        choice = of_shares if are_known and not others else "skewed"
    if choice == "wilson":
        return *wilson(values.mean(), len(values), confidence), choice
    if np.ptp(values) <= 1e-12 * np.abs(values[[0, -1]]).max():
        if not is_limited:
            return math.nan, math.nan, "none"
        # Users with other values, anywhere within the limits, may have the largest share of which
        # no user is seen.
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
    # The bounds of shares of 0 and 1 are exact, without rounding.
    return (middle - half if share > 0 else 0.0, middle + half if share < 1 else 1.0)


def _tango(values: Array, confidence: float) -> tuple[float, float]:
    """Return the interval of the difference between two shares of the same users.

    It holds the differences that a score test does not reject, as Wilson's interval does for a
    share (T. Tango, "Equivalence test and confidence interval for the difference in proportions for
    the paired-sample design", Statistics in Medicine 17, 1998).
    """
    n, n_won, n_lost = len(values), int((values > 0).sum()), int((values < 0).sum())
    square = _normal_quantile((1 - confidence) / 2) ** 2

    def is_likely(difference: float) -> bool:
        linear = (2 * n - n_won + n_lost) * difference - n_won - n_lost
        both = difference * (1 - difference)
        root = math.sqrt(max(linear**2 + 8 * n * n_lost * both, 0.0))
        share_lost = (root - linear) / (4 * n)  # the likeliest one for this difference
        return (n_won - n_lost - n * difference) ** 2 <= square * n * (2 * share_lost + both)

    seen = (n_won - n_lost) / n
    return _bisect(is_likely, seen, -1.0), _bisect(is_likely, seen, 1.0)


def _student(values: Array, confidence: float, *, is_moved: bool) -> tuple[float, float]:
    """Return Student's interval; with `is_moved`, adjusted to the skewness of the values.

    Skewness moves the quantiles of a studentized mean (P. Hall, "Inverting an Edgeworth expansion",
    Annals of Statistics 11, 1983). The interval is also widened, because a sample that lacks large
    values has too low a deviation and skewness. Bootstrap-t intervals hold the mean no more often,
    can be much longer, and depend on chance.
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
    """Return the value that Student's t exceeds with a probability below a half.

    With t = sqrt(freedom) tan(angle), the density of the angle is a power of its cosine.
    """
    normal = -_normal_quantile(above)
    if freedom >= 1_000:  # here a short expansion is as exact as the integral
        third, fifth = normal**3, normal**5
        terms = (third + normal) / 4, (5 * fifth + 16 * third + 3 * normal) / 96
        return normal + terms[0] / freedom + terms[1] / freedom**2
    angle = _bisect(
        lambda angle: _student_area(0.0, angle, freedom) < 0.5 - above, 0.0, math.pi / 2
    )
    return math.sqrt(freedom) * math.tan(angle)


def _bisect(is_inside: Callable[[float], bool], inside: float, outside: float) -> float:
    """Return the last number that is inside, on the way to one that is outside."""
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if is_inside(middle) else (inside, middle)
    return inside


def student_tail(value: float, freedom: int) -> float:
    """Return the probability that Student's t exceeds a value of 0 or more.

    For many degrees of freedom it is that of a normal deviate with nearly the same probability.
    """
    if freedom >= 1_000:
        deviate = value * (1 - 1 / (4 * freedom)) / math.sqrt(1 + value**2 / (2 * freedom))
        return math.erfc(deviate / math.sqrt(2)) / 2
    low = math.atan(value / math.sqrt(freedom))
    return _student_area(low, min(math.pi / 2, low + 40 / math.sqrt(freedom)), freedom)


def _student_area(low: float, high: float, freedom: int) -> float:
    """Return the probability that the angle of Student's t lies between two angles."""
    nodes, weights = _list_nodes()
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(math.pi) / 2
    cosines = np.cos(low + (high - low) * (nodes + 1) / 2)
    area: float = weights @ cosines ** (freedom - 1)
    return (high - low) / 2 * math.exp(log_scale) * area


@cache
def _list_nodes() -> tuple[Array, Array]:
    """Return the nodes and weights of a Gauss-Legendre quadrature."""
    return np.polynomial.legendre.leggauss(128)


def _normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution."""
    from statistics import NormalDist  # imported here to keep `import recframe` fast

    return NormalDist().inv_cdf(probability)


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
