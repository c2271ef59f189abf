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
MOST_IN_BLOCK = 1 << 16  # users, so that an index has 16 bits
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
    """
    distinct, n_equal = np.unique(values, return_counts=True)
    if len(distinct) * DRAWS_PER_COUNT < len(values):
        means = _draw_counts(distinct, n_equal, resampling)
    else:
        means = _draw_users(values, resampling)
    outside = (1 - resampling.confidence) / 2
    low, high = np.quantile(means, [outside, 1 - outside])
    return float(low), float(high)


def _draw_counts(distinct: Array, n_equal: Array, resampling: Resampling) -> Array:
    """Return means of samples of users, drawn as the number of those of each value."""
    n = int(n_equal.sum())

    def draw(rng: RandomState, size: int) -> Array:
        return rng.multinomial(n, n_equal / n, size=size) @ distinct / n

    return draw_in_batches(draw, resampling, len(distinct))


def _draw_users(values: Array, resampling: Resampling) -> Array:
    """Return means of samples of users, drawn one by one.

    How many are of each block of users is drawn first. A block has a power of 2 of them, of which
    random bits choose one as they are, and is small, so that values lie near.
    """
    n, blocks, start = len(values), [], 0
    while start < n:
        stop = start + min(MOST_IN_BLOCK, 1 << ((n - start).bit_length() - 1))
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
