"""Scores as integers in ranked order, with room for one more bit: short ones, and exact ones.

NumPy only.
"""

from typing import Any, NamedTuple, overload

import numpy as np

from recframe.kernel.pieces import Pieces, arrays_of, in_turn, whole
from recframe.kernel.threads import Array

MAX_INTEGER = 1 << 61  # the keys of larger scores would need more than 62 bits
SLICE = 1 << 17  # scores that stay in the cache from one pass over them to the next
SCALES = tuple(10.0**n_decimals for n_decimals in range(7))
N_SAMPLED = 64  # scores that are tried first


class ShortKeys(NamedTuple):
    """Scores in 32 bits, which are sorted in half the time of 64.

    Parameters
    ----------
    keys : ndarray of shape (n_rows + room,), int32
        Shifted right by one they never rise as scores rise; the lowest bit is the row's mark.
        Less than the largest two integers. What follows the rows is 0.
    is_exact : bool
        Whether keys differ wherever scores do.
    n_bits : int
        How many bits the keys have; with fewer than 32 none is negative.
    """

    keys: Array
    is_exact: bool
    n_bits: int


def key_range(low: int, high: int) -> tuple[int, int, int]:
    """Return how integers from low to high fit into 32 bits: (n_dropped, top, n_bits).

    Keys are ``((top - (number >> n_dropped)) << 1) | mark``, of so many bits, and never the largest
    two integers; with fewer than 32 bits none is negative. Ratings from 0.5 to 5 are read as 5 to
    50 tenths, of which no bit is dropped: the top is 50, the key of 4.5 is (50 - 45) * 2 + mark,
    and the keys, up to (50 - 5) * 2 + 1 = 91, have 7 bits.
    """
    n_dropped = max(0, (high - low).bit_length() - 31)
    if (high >> n_dropped) - (low >> n_dropped) > (1 << 31) - 2:
        n_dropped += 1
    top = high >> n_dropped
    n_bits = (top - (low >> n_dropped) + 1).bit_length() + 1
    return n_dropped, top - (1 << 30) if n_bits == 32 else top, n_bits


def short_keys(scores: Array | Pieces, marks: Array, room: int) -> ShortKeys:
    """Return the leading bits of scores as keys, with their marks; scores are `rankable`.

    The bits that all scores share need no room, so that a range of scores as a model gives them
    keeps some 25 bits of a mantissa, and ratings keep all. Scores rounded to a few decimals are
    taken as the whole numbers they are.
    """
    keys = np.empty(len(scores) + room, np.int32)
    bounds = np.array(_bounds(scores), scores.dtype)
    scale = _decimal_scale(scores, bounds)

    def read(part: Array) -> Any:
        if scale is None:
            return _ordered_bits(part, is_positive=bool(bounds[0] > 0))
        return np.rint(part * scale).astype(np.int64)

    n_dropped, top, n_bits = key_range(*read(bounds).tolist())
    lost = stop = 0
    for own in in_turn(scores, SLICE):
        start, stop = stop, stop + len(own)
        bits, part = read(own), keys[start:stop]
        if not lost:
            lost = int(np.bitwise_or.reduce(bits)) & ((1 << n_dropped) - 1)
        part[:] = bits >> n_dropped if n_dropped else bits
        # Bits beyond the 32nd fall away on either side of the difference, which has 31.
        np.subtract(np.array(top).astype(np.int32), part, out=part)
        part += part
        part |= marks[start:stop]
    keys[len(scores) :] = 0
    return ShortKeys(keys, lost == 0, n_bits)


def _decimal_scale(scores: Array | Pieces, bounds: Array) -> float | None:
    """Return the power of ten by which scores are whole numbers of few bits, None if by none.

    Scores rounded to some decimals have long mantissas, and ties; as whole numbers they are short.
    """
    if scores.dtype != np.float64 or not np.isfinite(bounds).all():
        return None

    def is_decimal(values: Array, scale: float) -> bool:
        return bool((np.rint(values * scale) / scale == values).all())

    step, largest = max(1, len(scores) // N_SAMPLED), np.abs(bounds).max()
    sample = np.concatenate([array[::step] for array in arrays_of(scores)])
    scales = [scale for scale in SCALES if largest < (1 << 30) / scale]
    # What is a whole number by one power of ten is one by the next too.
    if not scales or not is_decimal(sample, scales[-1]):
        return None
    for scale in scales:
        if is_decimal(sample, scale):
            are_decimal = all(is_decimal(part, scale) for part in in_turn(scores, SLICE))
            return scale if are_decimal else None
    return None


def _ordered_bits(scores: Array, *, is_positive: bool = False) -> Array:
    """Return integers in the order of scores, equal where scores are: of floats the bits.

    Those of round numbers, of either sign, end in zeros as the mantissas do.
    """
    if scores.dtype.kind != "f":
        return scores if scores.itemsize == 8 else scores.astype(np.int64)
    bits = scores.view(f"i{scores.itemsize}")
    if is_positive:
        return bits
    # Positive floats sort as their bits do, negative ones as their magnitude's do, negated.
    sign = bits >> (8 * bits.itemsize - 1)
    ordered: Array = bits & np.iinfo(bits.dtype).max
    ordered ^= sign
    ordered -= sign
    return ordered


@overload
def rankable(scores: Array) -> Array: ...
@overload
def rankable(scores: Array | Pieces) -> Array | Pieces: ...
def rankable(scores: Array | Pieces) -> Array | Pieces:
    """Return scores, or integers in the same order where `to_keys` does not take their type."""
    kind, n_bytes = scores.dtype.kind, scores.dtype.itemsize
    if kind == "f" and n_bytes == 2:
        return whole(scores).astype(np.float32)
    if kind == "f" and n_bytes in (4, 8):
        return scores
    if kind in "iu":
        low, high = _bounds(scores) if n_bytes == 8 else (0, 0)
        if low >= -MAX_INTEGER and high <= MAX_INTEGER:
            return scores
    return ranks(whole(scores))


def ranks(values: Array) -> Array:
    """Return the position of each value among the distinct values, smallest first."""
    _, found = np.unique(values.ravel(), return_inverse=True)
    return found.astype(np.int64).reshape(values.shape)


def to_keys(scores: Array) -> Array:
    """Return integers that fall as scores rise and are equal where scores are equal.

    The highest bit and the one below it are left free. The scores given are overwritten.
    """
    if scores.dtype.kind != "f":
        negated: Array = scores.astype(np.int32 if scores.itemsize <= 2 else np.int64)
        return np.negative(negated, out=negated)
    integer = f"i{scores.itemsize}"
    low, high = _bounds(scores)
    if low >= 0:
        scores += 0.0  # makes -0.0 and 0.0 one value
        bits: Array = scores.view(integer)
        middle = int(np.array(np.inf, scores.dtype).view(integer)) >> 1
        return np.subtract(middle, bits, out=bits)
    scaled = _scaled(scores, max(-low, high))
    if scaled is None:
        return ranks(np.negative(scores))
    # Positive floats sort as their bits do; of a negative one all bits but the sign are flipped.
    np.subtract(0.0, scaled, out=scaled)
    keys = scaled.view(integer)
    keys ^= (keys >> (8 * keys.itemsize - 1)) & np.iinfo(keys.dtype).max
    return keys


def _scaled(scores: Array, largest: float) -> Array | None:
    """Return scores below 2 in magnitude, None where scaling would not keep them apart.

    The highest bit of their exponents is 0, and so is left free. A power of two scales exactly,
    unless tiny values underflow.
    """
    if largest <= 1.5:
        return scores
    if np.isinf(largest):
        largest = np.abs(scores[np.isfinite(scores)]).max(initial=0.0)
    exponent = max(0, int(np.frexp(largest)[1]))
    try:
        with np.errstate(under="raise"):  # raises for tiny and inexact, no pass of its own
            scores = scores * scores.dtype.type(2.0**-exponent)
    except FloatingPointError:
        return None
    return np.clip(scores, -1.5, 1.5, out=scores)  # only infinities are that large now


def break_ties(keys: Array, row_order: int) -> Array:
    """Return keys that differ in each row, in order of these and then of column, or its reverse."""
    width = keys.shape[1]
    spread = keys.astype(np.int64)
    spread -= spread.min(initial=0)
    # Ratings and the like leave low bits unused by all: without those there is room for columns.
    used = int(np.bitwise_or.reduce(spread, axis=None))
    spread >>= max((used & -used).bit_length() - 1, 0)
    if int(spread.max(initial=0)).bit_length() + width.bit_length() <= 62:
        spread <<= width.bit_length()
        spread |= np.arange(width)[::row_order]
        return spread
    order = np.argsort(keys[:, ::row_order], axis=1, kind="stable")
    np.put_along_axis(spread[:, ::row_order], order, np.arange(width)[None, :], axis=1)
    return spread


def _bounds(scores: Array | Pieces) -> tuple[Any, Any]:
    """Return the smallest and the largest score, zeros where there is none."""
    cells = scores if isinstance(scores, Pieces) else scores.ravel()
    # Of both passes one is in the cache.
    bounds = [(part.min(), part.max()) for part in in_turn(cells, SLICE)]
    return (min(low for low, _ in bounds), max(high for _, high in bounds)) if bounds else (0, 0)
