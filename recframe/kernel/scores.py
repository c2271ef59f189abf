"""Scores as the unsigned integers in keys; the best score is the lowest integer. NumPy only."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from recframe.kernel.grouping import find_range
from recframe.kernel.threads import BATCH, Array, in_slices

SCALES = tuple(10.0**n_decimals for n_decimals in range(7))
N_SAMPLED = 1 << 12  # scores tried first
MOST_DISTINCT = 512  # scores in the table of ranks
SLOT_BITS = 17  # the table has 2**17 slots
NOT_A_SCORE = np.uint64(0x7FF8000000000000)  # NaN; no score is NaN
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio's bits, to spread integers (Knuth)


class ScoreBits(NamedTuple):
    """
    A map from scores to integers that fall as scores rise; equal scores have equal integers.

    Parameters
    ----------
    n_bits : int
        The number of bits of an integer.
    n_leading : int
        The number of bits that distinguish most scores; for floats, the bits of the mantissa.
    read : callable
        Returns the integers of some scores, an array of uint64 that may be overwritten.
    step : callable, default None
        Returns integers of as many bits as are passed, which never rise as scores rise. More
        scores differ in them than in the highest bits. None: the highest bits are used.
    """

    n_bits: int
    n_leading: int
    read: Callable[[Array], Array]
    step: Callable[[Array, int], Array] | None = None

    def shorten(self, part: Array, n_kept: int) -> Array:
        """Return integers of `n_kept` bits that never rise as scores rise."""
        if self.step is not None:
            return self.step(part, n_kept)
        return self.read(part) >> np.uint64(self.n_bits - n_kept)


def rankable(scores: Array) -> Array:
    """Return scores in a common type: themselves, or numbers in the same order."""
    if scores.dtype == np.float16:
        return scores.astype(np.float32)
    if scores.dtype.kind in "iu" or scores.dtype in (np.float32, np.float64):
        return scores
    return rank_densely(scores)


def rank_densely(values: Array) -> Array:
    """Return the position of each value among the distinct values, the lowest first."""
    return np.unique(values, return_inverse=True)[1]


def find_bits(scores: Array) -> ScoreBits:
    """Return a map from scores to integers of few bits."""
    if len(scores) == 0:
        return _of_integers(0, 0)
    low, high = find_range(scores)
    if scores.dtype.kind != "f":
        return _of_integers(int(low), int(high))
    if (scale := _find_scale(scores, max(abs(low), abs(high)))) is not None:
        whole = _of_integers(round(low * scale), round(high * scale))
        return whole._replace(read=lambda part: whole.read(np.rint(part * scale).astype(np.int64)))
    return _of_few(scores) or _of_floats(low, high)


def _of_integers(low: int, high: int) -> ScoreBits:
    top = np.uint64(high % (1 << 64))
    n_bits = (high - low).bit_length()
    # If the subtraction overflows, it wraps around to the right difference.
    return ScoreBits(
        n_bits, n_bits, lambda part: top - part.astype(np.int64, copy=False).view(np.uint64)
    )


def _of_floats(low: Any, high: Any) -> ScoreBits:
    """Return the map from floats to their bits, with the bits of negative floats inverted."""
    is_signed, n_mantissa = low < 0, int(np.finfo(type(low)).nmant)

    def order(part: Array) -> Array:
        part = part + 0.0  # -0.0 becomes 0.0
        bits: Array = part.view(f"i{part.itemsize}")
        if is_signed:
            bits ^= (bits >> (8 * bits.itemsize - 1)) & np.iinfo(bits.dtype).max
        return bits

    first, last = order(np.array([low, high])).tolist()
    # The top is a multiple of 2**n_mantissa, so differences from it keep the zeros at the end.
    whole = _of_integers(first, -(-last >> n_mantissa << n_mantissa))
    span = float(high) - float(low)

    def step(part: Array, n_kept: int) -> Array:
        steps: Array = np.subtract(high, part, dtype=np.float64)
        steps *= ((1 << min(n_kept, 31)) - 1) / span
        return steps.astype(np.int32).view(np.uint32)

    has_steps = 1e-290 < span < np.inf  # other spans are too small or too large to divide by
    return ScoreBits(
        whole.n_bits, n_mantissa, lambda part: whole.read(order(part)), step if has_steps else None
    )


def _find_scale(scores: Array, largest: Any) -> float | None:
    """Return the power of ten that makes scores integers of few bits; None if no power does."""

    def are_decimals(values: Array, scale: float) -> bool:
        batches = (values[first : first + BATCH] for first in range(0, len(values), BATCH))
        return all((np.rint(batch * scale) / scale == batch).all() for batch in batches)

    if scores.dtype != np.float64:
        return None
    sample = scores[:: max(1, len(scores) // N_SAMPLED)]
    scales = [scale for scale in SCALES if largest < (1 << 30) / scale]
    if not scales or not are_decimals(sample, scales[-1]):  # then no smaller power does either
        return None
    scale = next(scale for scale in scales if are_decimals(sample, scale))
    is_right = in_slices(lambda start, stop: are_decimals(scores[start:stop], scale), len(scores))
    return scale if all(is_right) else None


def _of_few(scores: Array) -> ScoreBits | None:
    """Return the map from scores to their ranks; None if many scores are distinct."""
    if len(scores) < N_SAMPLED:  # ranking these takes less time than filling a table
        return None
    distinct = np.unique(scores[:: max(1, len(scores) // N_SAMPLED)])
    known = _find_slots(distinct)
    if known is None:
        return None
    table, factor = known

    def find_others(start: int, stop: int) -> Array:
        others = distinct[:0]
        for first in range(start, stop, BATCH):
            part = scores[first : min(first + BATCH, stop)]
            bits = _float_bits(part)
            is_known = table.take(_slot(bits, factor)) == bits
            if not is_known.all():
                others = np.union1d(others, part[~is_known])
                if len(others) > MOST_DISTINCT:
                    break
        return others

    distinct = np.unique(np.concatenate([distinct, *in_slices(find_others, len(scores))]))
    slots = _find_slots(distinct)
    if slots is None:
        return None
    rank = np.zeros(1 << SLOT_BITS, np.uint16)
    rank[_slot(_float_bits(distinct), slots[1])] = np.arange(len(distinct))[::-1]

    def read(part: Array) -> Array:
        return rank.take(_slot(_float_bits(part), slots[1])).astype(np.uint64)

    return _of_integers(0, len(distinct) - 1)._replace(read=read)


def _find_slots(distinct: Array) -> tuple[Array, Array] | None:
    """Return a table of distinct scores and the factor for their slots; None for too many."""
    bits, factor = _float_bits(distinct), np.array([GOLDEN])  # the overflow of a scalar warns
    for _ in range(64 if len(distinct) <= MOST_DISTINCT else 0):
        slot = _slot(bits, factor)
        if len(np.unique(slot)) == len(bits):
            table = np.full(1 << SLOT_BITS, NOT_A_SCORE)
            table[slot] = bits
            return table, factor
        factor = factor * GOLDEN
    return None


def _float_bits(scores: Array) -> Array:
    """Return the bits of floats as 64-bit integers."""
    return (scores + 0.0).view(f"u{scores.itemsize}").astype(np.uint64, copy=False)


def _slot(bits: Array, factor: Array) -> Array:
    """Return the slot of each score: the highest bits of the product of its bits and a factor."""
    slot: Array = bits * factor
    slot >>= np.uint64(64 - SLOT_BITS)
    return slot.view(np.int64)
