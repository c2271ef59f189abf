"""The test by flipped signs, of one column of differences or of several at a time. NumPy only.

Where two models do not differ, either sign of a user's difference is as likely (M. D. Smucker,
J. Allan and B. Carterette, "A comparison of statistical significance tests for information
retrieval evaluation", CIKM 2007). The p-value is the share of sign patterns whose sum is at least
as far from 0 as the observed one: of all patterns if they are at most `n_resamples`, else of that
many drawn at random and the observed one, as by ``scipy.stats.permutation_test`` with "samples".
"""

import math

import numpy as np
from numpy.random import RandomState

from recframe.analysis.resampling import Resampling, draw_in_batches
from recframe.kernel.threads import Array

N_DRAWN = 2048  # users whose signs are drawn one by one, those of the largest differences


def sign_flip_test(differences: Array, resampling: Resampling) -> tuple[float, str]:
    """Return the two-sided p-value of a mean difference of 0, and whether it is exact or drawn."""
    if len(differences) == 0:
        return math.nan, "none"
    changed = np.sort(np.abs(differences[differences != 0]))  # flipping a 0 changes nothing
    sums, name = _flip_signs(changed[:, None], resampling)
    # Sums that are equal may differ in their last bits.
    least = abs(np.sort(differences).sum()) - 1e-12 * changed.sum()
    return float(_share((np.abs(sums) >= least).sum(), len(sums), name)), name


def max_t_test(columns: Array, resampling: Resampling) -> Array:
    """Return two-sided p-values of columns of differences that hold for all of them together.

    The step-down max-T of P. H. Westfall and S. S. Young, "Resampling-Based Multiple Testing",
    1993: a user's signs are flipped in all columns at once, so that columns which say the same
    count as one. A sum is divided by the root of the sum of squares, which flipping does not
    change. NaN stands for no difference, and has no part in it; a column of NaN has no p-value.
    """
    p_values: Array = np.full(columns.shape[1], np.nan)
    is_known = ~np.isnan(columns).all(axis=0)
    if not is_known.any():
        return p_values
    values = np.nan_to_num(columns[:, is_known])
    values = values[values.any(axis=1)]
    lengths = np.sqrt(np.sort(values**2, axis=0).sum(axis=0))
    values = values / np.where(lengths > 0, lengths, 1)
    # Whatever the order of users, those of large differences come last.
    values = values[np.lexsort([*values.T, np.abs(values).max(axis=1)])]
    observed = np.abs(values.sum(axis=0))
    sums, name = _flip_signs(values, resampling)
    rising = np.argsort(observed, kind="stable")
    largest = np.maximum.accumulate(np.abs(sums)[:, rising], axis=1)  # of this and smaller ones
    n_extreme = (largest >= observed[rising] - 1e-9).sum(axis=0)
    falling = _share(n_extreme, len(sums), name)[::-1]
    p_values[np.flatnonzero(is_known)[rising[::-1]]] = np.maximum.accumulate(falling)
    return p_values


def _share(n_extreme: Array, n_patterns: int, name: str) -> Array:
    """Return the shares of patterns; of those drawn, the observed one is always one more."""
    return n_extreme / n_patterns if name == "exact" else (n_extreme + 1) / (n_patterns + 1)


def _flip_signs(rows: Array, resampling: Resampling) -> tuple[Array, str]:
    """Return the sums of rows for patterns of signs, and whether they are all or drawn.

    Of more rows than are drawn one by one, the first, which are small beside the last, add up to
    a sum that is normal, with the covariance that flipped signs give it.
    """
    if len(rows) < resampling.n_resamples.bit_length():  # 2**n <= n_resamples
        sums = np.zeros((1, rows.shape[1]))
        for row in rows:
            sums = np.concatenate([sums + row, sums - row])
        return sums, "exact"
    rest, rows = rows[:-N_DRAWN], rows[-N_DRAWN:]
    n_bytes, total = -(-len(rows) // 8), rows.sum(axis=0)
    # Columns may be sums of others; a little of their own makes all roots real.
    covariance = rest.T @ rest
    scale = covariance.max(initial=0.0)
    root = np.linalg.cholesky(covariance + (scale * 1e-10 + 1e-300) * np.eye(len(covariance)))

    def draw(rng: RandomState, size: int) -> Array:
        drawn = np.frombuffer(rng.bytes(size * n_bytes), np.uint8).reshape(size, n_bytes)
        is_flipped = np.unpackbits(drawn, axis=1, count=len(rows)).astype(float)
        sums: Array = total - 2 * (is_flipped @ rows)
        return sums + rng.standard_normal(sums.shape) @ root.T if len(rest) else sums

    return draw_in_batches(draw, resampling, len(rows)), "drawn"
