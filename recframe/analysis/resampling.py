"""Resampling: random draws, the percentile bootstrap, and the sign-flip test. NumPy only.

Draws depend neither on the order of users, nor on the number of threads (each batch has its own
random numbers), nor on the version of NumPy.
"""

import math
from collections.abc import Callable
from numbers import Integral
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.random import MT19937, RandomState, SeedSequence

from recframe.errors import RecframeError, check_choice, is_number, quote
from recframe.kernel.threads import Array, in_threads

Interval = Literal["auto", "wilson", "skewed", "t", "bootstrap"]
OfDifferences = Literal["auto", "tango", "skewed", "t", "bootstrap"]
MAX_SEED = 1 << 1024
MAX_RESAMPLES = 1_000_000
CELLS_PER_BATCH = 1 << 20  # random numbers that a thread holds at a time
MOST_GROUPS = 256  # groups of users with similar values, who are drawn by their number
DRAWS_PER_COUNT = 20  # single draws of users that take as long as one multinomial count
N_DRAWN = 2048  # users whose signs are drawn one by one: those with the largest differences


class Resampling(NamedTuple):
    """The confidence and method of intervals, the number of resamples, and the seed."""

    confidence: float
    n_resamples: int
    seed: int
    interval: str = "auto"


def make_resampling(
    confidence: Any, n_resamples: Any, seed: Any, interval: object, choices: object
) -> Resampling:
    """Return these together; raise if one is invalid."""
    check_choice("interval", interval, get_args(choices))
    if not (is_number(confidence) and 0 < confidence < 1):
        raise RecframeError(f"confidence must be between 0 and 1, but is {quote(confidence)}")
    for name, number, least in (("n_resamples", n_resamples, 1), ("seed", seed, 0)):
        if not is_number(number, Integral) or number < least:
            raise RecframeError(
                f"{name} must be an integer of {least} or more, but is {quote(number)}"
            )
    if seed >= MAX_SEED:
        raise RecframeError(f"seed must be below 2**1024, but is {quote(seed)}")
    if n_resamples > MAX_RESAMPLES:
        raise RecframeError(
            f"n_resamples must be at most {MAX_RESAMPLES:,}, with which a p-value of 0.05 is known "
            f"to 0.0005, but is {quote(n_resamples)}"
        )
    return Resampling(float(confidence), int(n_resamples), int(seed), str(interval))


def draw_in_batches(
    draw: Callable[[RandomState, int], Array], resampling: Resampling, width: int
) -> Array:
    """Return the draws of a function, a row for each resample of `width` random numbers."""
    size, batches = max(1, CELLS_PER_BATCH // width), []
    for number, start in enumerate(range(0, resampling.n_resamples, size)):
        # The numbers of RandomState never change with NumPy's version, those of Generator may.
        rng = RandomState(MT19937(SeedSequence(resampling.seed, spawn_key=(number,))))
        batches.append((rng, min(size, resampling.n_resamples - start)))
    return np.concatenate(in_threads(draw, batches))


def bootstrap_interval(values: Array, resampling: Resampling) -> tuple[float, float]:
    """Return the bounds of the percentile bootstrap interval of the mean of sorted values.

    They are quantiles of the means of samples drawn with replacement, as of
    ``scipy.stats.bootstrap(method="percentile")`` (B. Efron and R. J. Tibshirani, "An Introduction
    to the Bootstrap", ch. 13, 1993). Few users are drawn one by one. For many users the number of
    users with each value, or in each group of values, is drawn.
    """
    distinct, n_equal = np.unique(values, return_counts=True)
    if min(len(distinct), MOST_GROUPS) * DRAWS_PER_COUNT >= len(values):
        means = _draw_users(values, resampling)
    elif len(distinct) <= MOST_GROUPS:
        means = _draw_counts(distinct, n_equal, np.zeros(len(distinct)), resampling)
    else:
        # Groups hold users with similar values. Their total deviations from the mean are about
        # equal, so a value far from the mean is a group by itself.
        deviations = np.abs(values - values.mean()).cumsum()
        group = (deviations * (MOST_GROUPS / deviations[-1])).astype(int)
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        sizes = np.diff(starts, append=len(values))
        centres = np.add.reduceat(values, starts) / sizes
        variances = np.add.reduceat((values - centres.repeat(sizes)) ** 2, starts) / sizes
        means = _draw_counts(centres, sizes, variances, resampling)
    outside = (1 - resampling.confidence) / 2
    low, high = np.quantile(means, [outside, 1 - outside])
    return float(low), float(high)


def _draw_users(values: Array, resampling: Resampling) -> Array:
    """Return the means of samples of users who are drawn one by one.

    The number of users from each block is drawn first. A block has a power of 2 of users, so random
    bits are the number of one of them.
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


def _draw_counts(means: Array, sizes: Array, variances: Array, resampling: Resampling) -> Array:
    """Return the means of samples, drawn as numbers of users in each group.

    The users' deviations from their groups' means add up to a normally distributed sum.
    """
    n = int(sizes.sum())

    def draw(rng: RandomState, size: int) -> Array:
        n_drawn = rng.multinomial(n, sizes / n, size=size)
        drawn: Array = n_drawn @ means / n
        if variances.any():
            drawn += np.sqrt(n_drawn @ variances) / n * rng.standard_normal(size)
        return drawn

    return draw_in_batches(draw, resampling, len(means))


def sign_flip_test(differences: Array, resampling: Resampling) -> tuple[float, str]:
    """Return the two-sided p-value of a mean difference of 0, and whether it is exact or drawn.

    If two models do not differ, both signs of a user's difference are equally likely (M. D.
    Smucker, J. Allan and B. Carterette, "A comparison of statistical significance tests for
    information retrieval evaluation", CIKM 2007). The p-value is the share of sign patterns whose
    sum is at least as far from 0 as the observed sum. All patterns are tried if they are at most
    `n_resamples`. Otherwise so many random patterns are drawn, and the observed pattern is added,
    as in ``scipy.stats.permutation_test`` with "samples".
    """
    if len(differences) == 0:
        return math.nan, "none"
    changed = np.sort(np.abs(differences[differences != 0]))  # flipping a 0 changes nothing
    sums, name = _flip_signs(changed[:, None], resampling)
    # Equal sums may differ in their last bits.
    least = abs(np.sort(differences).sum()) - 1e-12 * changed.sum()
    return float((np.abs(sums) >= least).sum() / len(sums)), name


def max_t_test(columns: Array, resampling: Resampling) -> Array:
    """Return two-sided p-values of columns of differences, corrected for all columns together.

    The step-down max-T of P. H. Westfall and S. S. Young, "Resampling-Based Multiple Testing",
    1993: a user's signs are flipped in all columns at once, so equal columns count as one. A sum is
    divided by the root of the sum of squares, which flipping does not change. NaN counts as no
    difference; a column of NaN has no p-value.
    """
    p_values: Array = np.full(columns.shape[1], np.nan)
    is_known = ~np.isnan(columns).all(axis=0)
    if not is_known.any():
        return p_values
    values = np.nan_to_num(columns[:, is_known])
    values = values[values.any(axis=1)]
    lengths = np.sqrt(np.sort(values**2, axis=0).sum(axis=0))
    values = values / np.where(lengths > 0, lengths, 1)
    # Users are sorted, large differences last, so that their order in the data does not matter.
    values = values[np.lexsort([*values.T, np.abs(values).max(axis=1)])]
    observed = np.abs(values.sum(axis=0))
    sums, _ = _flip_signs(values, resampling)
    rising = np.argsort(observed, kind="stable")
    # The largest of each sum and all smaller ones.
    largest = np.maximum.accumulate(np.abs(sums)[:, rising], axis=1)
    n_extreme = (largest >= observed[rising] - 1e-9).sum(axis=0)
    falling = np.maximum.accumulate(n_extreme[::-1] / len(sums))
    p_values[np.flatnonzero(is_known)[rising[::-1]]] = falling
    return p_values


def _flip_signs(rows: Array, resampling: Resampling) -> tuple[Array, str]:
    """Return the sums of rows for patterns of signs, and whether they are all patterns or drawn.

    The observed pattern is added to drawn ones as an infinite sum, which always counts as far.
    The signs of the last rows are drawn one by one. The first rows, which are small next to these,
    add up to a normally distributed sum with the covariance that flipped signs give it.
    """
    if len(rows) < resampling.n_resamples.bit_length():  # 2**n <= n_resamples
        sums = np.zeros((1, rows.shape[1]))
        for row in rows:
            sums = np.concatenate([sums + row, sums - row])
        return sums, "exact"
    rest, rows = rows[:-N_DRAWN], rows[-N_DRAWN:]
    n_bytes, total = -(-len(rows) // 8), rows.sum(axis=0)
    # Columns may depend on each other; a little added to the diagonal makes all roots real.
    covariance = rest.T @ rest
    scale = covariance.max(initial=0.0)
    root = np.linalg.cholesky(covariance + (scale * 1e-10 + 1e-300) * np.eye(len(covariance)))

    def draw(rng: RandomState, size: int) -> Array:
        drawn = np.frombuffer(rng.bytes(size * n_bytes), np.uint8).reshape(size, n_bytes)
        is_flipped = np.unpackbits(drawn, axis=1, count=len(rows)).astype(float)
        sums: Array = total - 2 * (is_flipped @ rows)
        return sums + rng.standard_normal(sums.shape) @ root.T if len(rest) else sums

    drawn = draw_in_batches(draw, resampling, len(rows))
    return np.append(drawn, np.full((1, rows.shape[1]), np.inf), axis=0), "drawn"
