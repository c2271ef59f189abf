"""Scores as integers in ranked order, with room for one more bit: short ones, and exact ones.

NumPy only.
"""

from typing import Any, NamedTuple

import numpy as np

from recframe.kernel.grouping import Array

MAX_INTEGER = 1 << 61  # the places of larger scores would need more than 62 bits
SLICE = 1 << 17  # scores that stay in the cache from one pass over them to the next
SCALES = tuple(10.0**n_decimals for n_decimals in range(7))
N_SAMPLED = 64  # scores that are tried first


class ShortKeys(NamedTuple):
    """Scores in 32 bits, which are sorted in half the time of 64.

    Parameters
    ----------
    keys : ndarray of shape (n_rows + room,), int32
        Shifted right by one they never rise as scores rise; the lowest bit is the row's mark.
        Less than the largest two integers. What follows the rows is undefined.
    is_exact : bool
        Whether keys differ wherever scores do.
    n_bits : int
        How many bits the keys have; with fewer than 32 none is negative.
    """

    keys: Array
    is_exact: bool
    n_bits: int


def short_keys(scores: Array, marks: Array, room: int) -> ShortKeys:
    """Return the leading bits of scores as keys, with their marks; scores are `rankable`.

    The bits that all scores share need no place, so that a range of scores as a model gives them
    keeps some 25 bits of a mantissa, and ratings keep all. Scores rounded to a few decimals are
    taken as the whole numbers they are.
    """
    keys = np.empty(len(scores) + room, np.int32)
    bounds = np.array(_bounds(scores), scores.dtype)
    scale = _decimal_scale(scores, bounds)
    is_positive = bool(bounds[0] > 0)

    def read(part: Array) -> Array:
        if scale is None:
            return _ordered_bits(part, is_positive=is_positive)
        whole: Array = np.rint(part * scale).astype(np.int64)
        return whole

    low, high = read(bounds).tolist()
    n_dropped = max(0, (high - low).bit_length() - 31)
    if (high >> n_dropped) - (low >> n_dropped) > (1 << 31) - 2:
        n_dropped += 1
    top = high >> n_dropped
    n_bits = (top - (low >> n_dropped) + 1).bit_length() + 1
    if n_bits == 32:
        top -= 1 << 30
    lost = 0
    for start in range(0, len(scores), SLICE):
        bits = read(scores[start : start + SLICE])
        part = keys[start : start + len(bits)]
        if not lost:
            lost = int(np.bitwise_or.reduce(bits)) & ((1 << n_dropped) - 1)
        part[:] = bits >> n_dropped if n_dropped else bits
        # Bits beyond the 32nd fall away on either side of the difference, which has 31.
        np.subtract(np.array(top).astype(np.int32), part, out=part)
        part += part
        part |= marks[start : start + len(bits)]
    return ShortKeys(keys, lost == 0, n_bits)


def _decimal_scale(scores: Array, bounds: Array) -> float | None:
    """Return the power of ten by which scores are whole numbers of few bits, None if by none.

    Scores rounded to some decimals have long mantissas, and ties; as whole numbers they are short.
    """
    if scores.dtype != np.float64 or not np.isfinite(bounds).all():
        return None

    def is_decimal(values: Array, scale: float) -> bool:
        return bool((np.rint(values * scale) / scale == values).all())

    sample = scores[:: max(1, len(scores) // N_SAMPLED)]
    for scale in SCALES:
        if np.abs(bounds).max() < (1 << 30) / scale and is_decimal(sample, scale):
            slices = range(0, len(scores), SLICE)
            whole = all(is_decimal(scores[start : start + SLICE], scale) for start in slices)
            return scale if whole else None
    return None


def _ordered_bits(scores: Array, *, is_positive: bool = False) -> Array:
    """Return integers in the order of scores, equal where scores are: of floats the bits.

    Those of round numbers, of either sign, end in zeros as the mantissas do.
    """
    if scores.dtype.kind != "f":
        return scores if scores.itemsize == 8 else scores.astype(np.int64)
    integer = np.int32 if scores.itemsize == 4 else np.int64
    if is_positive:
        return scores.view(integer)
    # Positive floats sort as their bits do, negative ones as their magnitude's do, negated.
    bits: Array = scores.view(integer)
    sign = bits >> (8 * bits.itemsize - 1)
    ordered: Array = bits & np.iinfo(integer).max
    ordered ^= sign
    ordered -= sign
    return ordered


def rankable(scores: Array) -> Array:
    """Return scores, or integers in the same order where `to_places` does not take their type."""
    kind, n_bytes = scores.dtype.kind, scores.itemsize
    if kind == "f" and n_bytes == 2:
        return scores.astype(np.float32)
    if kind == "f" and n_bytes in (4, 8):
        return scores
    if kind in "iu":
        low, high = _bounds(scores) if n_bytes == 8 else (0, 0)
        if low >= -MAX_INTEGER and high <= MAX_INTEGER:
            return scores
    return ranks(scores)


def ranks(values: Array) -> Array:
    """Return the position of each value among the distinct values, smallest first."""
    _, found = np.unique(values.ravel(), return_inverse=True)
    return found.astype(np.int64).reshape(values.shape)


def to_places(scores: Array) -> Array:
    """Return integers that fall as scores rise and are equal where scores are equal.

    The highest bit and the one below it are left free. The scores given are overwritten.
    """
    if scores.dtype.kind == "f":
        bits = _float_places(scores)
        return ranks(np.negative(scores)) if bits is None else bits
    places: Array = scores.astype(np.int32 if scores.itemsize <= 2 else np.int64)
    return np.negative(places, out=places)


def _float_places(scores: Array) -> Array | None:
    """Return the bits of floats as integers that fall as the floats rise.

    Positive floats sort as their bits do; of a negative one all bits but the sign are flipped.
    With values of both signs that takes every bit; but below 2 in magnitude the highest bit of
    the exponent is 0. So larger values are first scaled by a power of two, which is exact unless
    tiny values underflow: then None.
    """
    integer = np.int32 if scores.itemsize == 4 else np.int64
    low, high = _bounds(scores)
    if low >= 0:
        scores += 0.0  # makes -0.0 and 0.0 one value
        places: Array = scores.view(integer)
        middle = int(np.array(np.inf, scores.dtype).view(integer)) >> 1
        return np.subtract(middle, places, out=places)
    largest = max(-low, high)
    if largest > 1.5:
        if np.isinf(largest):
            finite = scores[np.isfinite(scores)]
            largest = np.abs(finite).max(initial=0.0)
        exponent = max(0, int(np.frexp(largest)[1]))
        try:
            with np.errstate(under="raise"):  # raises for tiny and inexact, no pass of its own
                scores = scores * scores.dtype.type(2.0**-exponent)
        except FloatingPointError:
            return None
        np.clip(scores, -1.5, 1.5, out=scores)  # only infinities are that large now
    np.subtract(0.0, scores, out=scores)
    places = scores.view(integer)
    places ^= (places >> (8 * places.itemsize - 1)) & np.iinfo(integer).max
    return places


def break_ties(places: Array, ties: str) -> Array:
    """Return places of rows that are all different: tied cells of a row by column, or its reverse.

    Parameters
    ----------
    places : ndarray of shape (n_users, width), int
        The places of the rows of users.
    ties : {"first", "last"}
        Whether of tied cells the first or the last column is ranked first.

    Returns
    -------
    ndarray of shape (n_users, width), int64
        Integers that order each row's cells as the places do, and tied ones as said.
    """
    width = places.shape[1]
    column = np.arange(width) if ties == "first" else np.arange(width)[::-1]
    spread = places.astype(np.int64)
    spread -= spread.min(initial=0)
    # Ratings and the like leave low bits unused by all: without those there is room for columns.
    used = int(np.bitwise_or.reduce(spread, axis=None))
    spread >>= max((used & -used).bit_length() - 1, 0)
    if int(spread.max(initial=0)).bit_length() + width.bit_length() <= 62:
        spread <<= width.bit_length()
        spread |= column
        return spread
    step = 1 if ties == "first" else -1
    order = np.argsort(places[:, ::step], axis=1, kind="stable")
    np.put_along_axis(spread[:, ::step], order, np.arange(width)[None, :], axis=1)
    return spread


def _bounds(scores: Array) -> tuple[Any, Any]:
    """Return the smallest and the largest score, zeros where there is none."""
    cells = scores.ravel()
    slices = [cells[start : start + SLICE] for start in range(0, len(cells), SLICE)]
    bounds = [(part.min(), part.max()) for part in slices]  # of both passes one is in the cache
    return (min(low for low, _ in bounds), max(high for _, high in bounds)) if bounds else (0, 0)
