"""Chance: the bootstrap interval of a mean over users, and the test by flipped signs.

NumPy only. Of users of equal value, of which a metric has many (precision@10 takes eleven values),
how many are drawn, or flipped, is one random number for all of them. That draws from the same
distribution as resampling users one by one, without the loop, which SciPy's functions make.
"""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.random import MT19937, RandomState, SeedSequence

from recframe.errors import RecframeError, quote
from recframe.kernel.threads import Array

MAX_SEED = 1 << 1024
MAX_RESAMPLES = 1_000_000
CELLS_PER_BATCH = 1 << 20  # random numbers held at a time


class Resampling(NamedTuple):
    """How chance is drawn: the confidence of intervals, the number of draws and their seed."""

    confidence: float
    n_resamples: int
    seed: int


def make_resampling(confidence: Any, n_resamples: Any, seed: Any) -> Resampling:
    """Return the three together, or raise where one is not valid."""
    is_number = isinstance(confidence, Real)
    if not (is_number and 0 < confidence < 1):
        raise RecframeError(f"confidence must be between 0 and 1, found {quote(confidence)}")
    for name, number, least in (("n_resamples", n_resamples, 1), ("seed", seed, 0)):
        if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
            raise RecframeError(
                f"{name} must be an integer of {least} or more, found {quote(number)}"
            )
    if seed >= MAX_SEED:
        raise RecframeError(f"seed must be below 2**1024, found {quote(seed)}")
    if n_resamples > MAX_RESAMPLES:
        raise RecframeError(
            f"n_resamples must be at most {MAX_RESAMPLES:,}, with which a p-value of 0.05 is known "
            f"to 0.0005, found {quote(n_resamples)}"
        )
    return Resampling(float(confidence), int(n_resamples), int(seed))


def _seed_rng(seed: int) -> RandomState:
    """Return random numbers that are the same on every NumPy, for a seed of many bits."""
    return RandomState(MT19937(SeedSequence(seed)))  # frozen, which those of Generator are not


def bootstrap_interval(values: Array, resampling: Resampling) -> tuple[float, float]:
    """Return the bounds of the mean's percentile bootstrap interval; NaN for fewer than two values.

    As ``scipy.stats.bootstrap(method="percentile")``: quantiles of the means of samples drawn with
    replacement (B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", ch. 13, 1993).
    """
    n = len(values)
    if n < 2:
        return np.nan, np.nan
    distinct, n_equal = np.unique(values, return_counts=True)
    rng = _seed_rng(resampling.seed)
    batches = _split_draws(resampling.n_resamples, len(distinct))
    means = [rng.multinomial(n, n_equal / n, size=size) @ distinct / n for size in batches]
    outside = (1 - resampling.confidence) / 2
    low, high = np.quantile(np.concatenate(means), [outside, 1 - outside])
    return float(low), float(high)


def sign_flip_test(differences: Array, resampling: Resampling) -> float:
    """Return the two-sided p-value of a mean difference of 0; NaN without differences.

    Where two models do not differ, either sign of a difference is as likely (M. D. Smucker,
    J. Allan and B. Carterette, "A comparison of statistical significance tests for information
    retrieval evaluation", CIKM 2007). As ``scipy.stats.permutation_test`` with "samples": the share
    of sign patterns whose sum is at least as far from 0 as the observed one, of all patterns if
    they are at most `n_resamples`, else of that many drawn at random and the observed one.
    """
    if len(differences) == 0:
        return np.nan
    changed = differences[differences != 0]  # flipping a 0 changes nothing
    exact = len(changed) < resampling.n_resamples.bit_length()  # 2**n <= n_resamples
    if exact:
        sums = np.zeros(1)
        for difference in changed:
            sums = np.concatenate([sums + difference, sums - difference])
    else:
        sizes, n_equal = np.unique(np.abs(changed), return_counts=True)
        rng = _seed_rng(resampling.seed)
        batches = _split_draws(resampling.n_resamples, len(sizes))
        n_flipped = (rng.binomial(n_equal, 0.5, size=(size, len(sizes))) for size in batches)
        sums = np.concatenate([(n_equal - 2 * flipped) @ sizes for flipped in n_flipped])
    # Sums that are equal may differ in their last bits.
    tolerance = 1e-12 * np.abs(changed).sum()
    n_extreme = int((np.abs(sums) >= abs(changed.sum()) - tolerance).sum())
    return n_extreme / len(sums) if exact else (n_extreme + 1) / (len(sums) + 1)


def _split_draws(n_resamples: int, width: int) -> Iterator[int]:
    """Yield how many draws, of so many numbers each, to hold at a time."""
    batch = max(1, CELLS_PER_BATCH // max(1, width))
    for start in range(0, n_resamples, batch):
        yield min(batch, n_resamples - start)
