"""Chance: how it is drawn, and the percentile bootstrap interval of a mean over users. NumPy only.

What is drawn does not depend on the order of users, on the number of threads, which each draw
batches of random numbers of their own, or on the version of NumPy.
"""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.random import MT19937, RandomState, SeedSequence

from recframe.errors import RecframeError, quote
from recframe.kernel.threads import Array, in_threads

MAX_SEED = 1 << 1024
MAX_RESAMPLES = 1_000_000
CELLS_PER_BATCH = 1 << 20  # random numbers held at a time by a thread
MOST_GROUPS = 256  # of users of like values, who are drawn together where there are many
DRAWS_PER_COUNT = 20  # users drawn one by one in the time of one multinomial count


class Resampling(NamedTuple):
    """How sure intervals are and how made; the number of draws, where it takes any, and their seed.

    The interval has been checked to be one of the choices.
    """

    confidence: float
    n_resamples: int
    seed: int
    interval: str = "auto"


def make_resampling(
    confidence: Any, n_resamples: Any, seed: Any, interval: str = "auto"
) -> Resampling:
    """Return these together, or raise where a number is not valid."""
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
    return Resampling(float(confidence), int(n_resamples), int(seed), interval)


def draw_in_batches(
    draw: Callable[[RandomState, int], Array], resampling: Resampling, width: int
) -> Array:
    """Return what a function draws, a row for each resample of so many random numbers.

    A batch has as many rows whatever the threads, and random numbers of its own.
    """
    size = max(1, CELLS_PER_BATCH // max(1, width))

    def draw_batch(start: int) -> Array:
        # RandomState is frozen, which Generator is not; a seed may have many bits.
        seeds = SeedSequence(resampling.seed, spawn_key=(start // size,))
        return draw(RandomState(MT19937(seeds)), min(size, resampling.n_resamples - start))

    starts = range(0, resampling.n_resamples, size)
    return np.concatenate(in_threads(draw_batch, [(start,) for start in starts]))


def bootstrap_interval(values: Array, resampling: Resampling) -> tuple[float, float]:
    """Return the bounds of the mean's percentile bootstrap interval, given sorted values.

    As ``scipy.stats.bootstrap(method="percentile")``: quantiles of the means of samples drawn with
    replacement (B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", ch. 13, 1993).
    Few users are drawn one by one, many as the number of those of each value or group of values.
    """
    distinct, n_equal = np.unique(values, return_counts=True)
    if min(len(distinct), MOST_GROUPS) * DRAWS_PER_COUNT >= len(values):
        means = _draw_users(values, resampling)
    elif len(distinct) <= MOST_GROUPS:
        means = _draw_counts(distinct, n_equal, np.zeros(len(distinct)), resampling)
    else:
        means = _draw_counts(*_group(values), resampling)
    outside = (1 - resampling.confidence) / 2
    low, high = np.quantile(means, [outside, 1 - outside])
    return float(low), float(high)


def _draw_users(values: Array, resampling: Resampling) -> Array:
    """Return means of samples of users, drawn one by one.

    How many are of each block of users is drawn first. A block has a power of 2 of them, of which
    random bits choose one as they are.
    """
    n, blocks, start = len(values), [], 0
    while start < n:
        stop = start + (1 << ((n - start).bit_length() - 1))
        blocks.append(values[start:stop])
        start = stop
    shares = np.array([len(block) for block in blocks]) / n

    def draw(rng: RandomState, size: int) -> Array:
        sums = np.zeros(size)
        n_drawn = rng.multinomial(n, shares, size=size)
        for block, n_of_block in zip(blocks, n_drawn.T, strict=True):
            index = rng.randint(0, len(block), n_of_block.sum(), dtype=np.uint16).astype(np.intp)
            starts = n_of_block.cumsum() - n_of_block
            added = np.add.reduceat(np.append(block.take(index), 0.0), starts)
            sums += np.where(n_of_block > 0, added, 0.0)
        return sums / n

    return draw_in_batches(draw, resampling, n)


def _group(values: Array) -> tuple[Array, Array, Array]:
    """Return means, sizes and variances of groups of sorted values that lie near each other.

    All groups deviate about as much from the mean in total, so that one far value is one group.
    """
    deviations = np.abs(values - values.mean()).cumsum()
    group = (deviations * (MOST_GROUPS / deviations[-1])).astype(int)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    sizes = np.diff(starts, append=len(values))
    means = np.add.reduceat(values, starts) / sizes
    return means, sizes, np.add.reduceat((values - means.repeat(sizes)) ** 2, starts) / sizes


def _draw_counts(means: Array, sizes: Array, variances: Array, resampling: Resampling) -> Array:
    """Return means of samples of users, drawn as the number of those of each group.

    What users differ from their groups' means adds up to a sum that is normal.
    """
    n = int(sizes.sum())

    def draw(rng: RandomState, size: int) -> Array:
        n_drawn = rng.multinomial(n, sizes / n, size=size)
        drawn: Array = n_drawn @ means / n
        if variances.any():
            drawn += np.sqrt(n_drawn @ variances) / n * rng.standard_normal(size)
        return drawn

    return draw_in_batches(draw, resampling, len(means))
