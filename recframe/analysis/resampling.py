"""Chance: the bootstrap interval of a mean over users, and the test by flipped signs.

NumPy only. A metric takes few distinct values over many users (precision@10 eleven), and users of
equal value are alike: how many of them are drawn, or flipped, is one random number for all of
them. That draws from the same distribution as resampling users one by one, without the loop over
users; SciPy's functions, which take any statistic, do the latter.
"""

from collections.abc import Callable
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

from recframe.errors import RecframeError
from recframe.kernel.grouping import Array

CELLS_PER_BATCH = 1 << 20  # random numbers held at a time


class Resampling(NamedTuple):
    """How chance is drawn: the confidence of intervals, the number of draws and their seed."""

    confidence: float
    n_resamples: int
    seed: int


def make_resampling(confidence: object, n_resamples: object, seed: object) -> Resampling:
    """Return the three together, or raise where one is not valid."""
    if not isinstance(confidence, Real) or not 0 < float(confidence) < 1:
        raise RecframeError(f"confidence must be between 0 and 1, found {confidence!r}")
    integers = []
    for name, number, least in (("n_resamples", n_resamples, 1), ("seed", seed, 0)):
        if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
            raise RecframeError(f"{name} must be an integer of {least} or more, found {number!r}")
        integers.append(int(number))
    return Resampling(float(confidence), *integers)


def bootstrap_interval(values: Array, resampling: Resampling) -> tuple[float, float]:
    """Return the bounds of the mean's percentile bootstrap interval; NaN for fewer than two values.

    The bounds are quantiles of the means of samples drawn with replacement, each as large as
    `values` [1]_. As ``scipy.stats.bootstrap(method="percentile")``.

    References
    ----------
    .. [1] B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", ch. 13, 1993.
    """
    n = len(values)
    if n < 2:
        return np.nan, np.nan
    distinct, n_equal = np.unique(values, return_counts=True)
    rng = np.random.default_rng(resampling.seed)

    def draw(n_draws: int) -> Array:
        means: Array = rng.multinomial(n, n_equal / n, size=n_draws) @ distinct / n
        return means

    means = _in_batches(draw, resampling.n_resamples, len(distinct))
    outside = (1 - resampling.confidence) / 2
    low, high = np.quantile(means, [outside, 1 - outside])
    return float(low), float(high)


def sign_flip_test(differences: Array, resampling: Resampling) -> float:
    """Return the two-sided p-value of a mean difference of 0; NaN without differences.

    Where two models do not differ, either sign of a difference is as likely. The p-value is the
    share of sign patterns whose sum is at least as far from 0 as the observed one [1]_: of all
    patterns if they are at most `n_resamples`, else of that many drawn at random, the observed
    pattern counted among them. As ``scipy.stats.permutation_test(permutation_type="samples")``.

    References
    ----------
    .. [1] M. D. Smucker, J. Allan and B. Carterette, "A comparison of statistical significance
       tests for information retrieval evaluation", CIKM 2007.
    """
    if len(differences) == 0:
        return np.nan
    changed = differences[differences != 0]  # flipping a 0 changes nothing
    exact = len(changed) < resampling.n_resamples.bit_length()  # 2**n <= n_resamples
    if exact:
        patterns = np.arange(2 ** len(changed))[:, None] >> np.arange(len(changed)) & 1
        sums = (1 - 2 * patterns) @ changed
    else:
        sizes, n_equal = np.unique(np.abs(changed), return_counts=True)
        rng = np.random.default_rng(resampling.seed)

        def draw(n_draws: int) -> Array:
            n_flipped = rng.binomial(n_equal, 0.5, size=(n_draws, len(sizes)))
            flipped_sums: Array = (n_equal - 2 * n_flipped) @ sizes
            return flipped_sums

        sums = _in_batches(draw, resampling.n_resamples, len(sizes))
    # Sums that are equal may differ in their last bits.
    tolerance = 1e-12 * np.abs(changed).sum()
    n_extreme = int((np.abs(sums) >= abs(changed.sum()) - tolerance).sum())
    return n_extreme / len(sums) if exact else (n_extreme + 1) / (len(sums) + 1)


def _in_batches(draw: Callable[[int], Array], n_resamples: int, width: int) -> Array:
    """Return the results of `n_resamples` draws of so many numbers each, a batch at a time."""
    batch = max(1, CELLS_PER_BATCH // max(1, width))
    starts = range(0, n_resamples, batch)
    return np.concatenate([draw(min(batch, n_resamples - start)) for start in starts])
