"""Radix: integers sorted, and the values that stand beside them brought along. NumPy only.

Sorted are 16 bits at a time, each pass ten times as fast as to sort by comparing. Many rows are
first parted by their leading 8 bits, so that what is sorted and gathered stays in the cache. Values
of rows go through the same two passes: to gather them afterwards, from all over memory, takes as
long as to sort.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from recframe.kernel.threads import ROWS_PER_CHUNK, Array, in_slices, in_threads

ROWS_PER_PART = ROWS_PER_CHUNK // 2  # so many are parted at once
N_LEADING = 8  # bits by which they are parted
LEADING_PER_TASK = 8  # values of those bits
MOST_BITS = 40  # that are sorted in few passes
BATCH = 1 << 15  # integers that one pass after the other leaves in the cache
# The golden ratio's bits, odd: a product with it differs wherever integers do.
ODD = np.uint64(0x9E3779B97F4A7C15)


class Sorted(NamedTuple):
    """Integers in order, those that are equal as they stood.

    Parameters
    ----------
    begins : ndarray of shape (n_rows,), bool
        Whether another integer begins at a position.
    firsts : ndarray of shape (n_distinct,), int
        The row of the first of each.
    values : list of ndarray of shape (n_rows,)
        The values beside them in their order.
    order : ndarray of shape (n_rows,), int, or None
        That order; None where it was not asked for.
    is_ascending : bool, default True
        Whether they ascend, and are not only together where they are equal.
    """

    begins: Array
    firsts: Array
    values: list[Array]
    order: Array | None
    is_ascending: bool = True


def sort_numbers(numbers: Array) -> tuple[Array, Array]:
    """Return the stable order of integers, and whether another integer begins at its positions."""
    found = sort_beside(numbers, [])
    assert found.order is not None
    return found.order, found.begins


def argsort(numbers: Array) -> Array:
    """Return the order that sorts numbers, equal ones as they stand."""
    if numbers.dtype.kind not in "iu":
        return np.argsort(numbers, kind="stable")
    return sort_numbers(numbers)[0]


def sort_beside(numbers: Array, values: Sequence[Array], *, keep_order: bool = True) -> Sorted:
    """Return integers sorted, and the values of their rows beside them."""
    low, n_bits = _find_range(numbers)
    return _sort(numbers, low, n_bits, values, keep_order=keep_order)


def _find_range(numbers: Array) -> tuple[int, int]:
    """Return the lowest integer, and how many bits tell how far others are above it."""
    found = in_slices(lambda start, stop: _bounds_of(numbers[start:stop]), 0, len(numbers))
    lows, highs = zip(*found, strict=True) if found else ((0,), (0,))
    return min(lows), (max(highs) - min(lows)).bit_length()


def _bounds_of(numbers: Array) -> tuple[int, int]:
    """Return the lowest and the highest integer."""
    return int(numbers.min()), int(numbers.max())


def _sort(
    numbers: Array, low: int, n_bits: int, values: Sequence[Array], *, keep_order: bool
) -> Sorted:
    """Return what `sort_beside` does, of integers of so many bits above the lowest."""
    if len(numbers) == 0:
        none = np.empty(0, np.int64)
        return Sorted(np.empty(0, bool), none, list(values), none)
    if len(numbers) > ROWS_PER_PART and n_bits > N_LEADING:
        return _sort_in_parts(numbers, low, n_bits - N_LEADING, values, keep_order=keep_order)
    digits = above(numbers, low)
    order = _radix_order(digits, n_bits)
    begins = differs(digits[order])
    return Sorted(begins, order[begins], [each[order] for each in values], order)


def group_beside(numbers: Array, values: Sequence[Array], *, keep_order: bool = True) -> Sorted:
    """Return what `sort_beside` does, but with equal integers together in no particular order.

    Those of many bits are sorted by 40 bits of a product that differs wherever integers do.
    """
    low, n_bits = _find_range(numbers)
    if len(numbers) <= ROWS_PER_PART or n_bits <= MOST_BITS:
        return _sort(numbers, low, n_bits, values, keep_order=keep_order)
    n_others = 64 - MOST_BITS
    leading, others = np.empty(len(numbers), np.uint64), np.empty(len(numbers), np.uint32)

    def mix(start: int, stop: int) -> None:
        for first in range(start, stop, BATCH):
            own = slice(first, min(first + BATCH, stop))
            product = numbers[own].astype(np.uint64)
            product *= ODD
            np.right_shift(product, np.uint64(n_others), out=leading[own])
            product &= np.uint64((1 << n_others) - 1)
            others[own] = product

    in_slices(mix, 0, len(numbers))
    found = _sort(leading, 0, MOST_BITS, [*values, others], keep_order=keep_order)
    differ = differs(found.values.pop())
    differ &= ~found.begins
    if differ.any():  # those 40 bits are as a rule told apart by no others
        return _sort(numbers, low, n_bits, values, keep_order=keep_order)
    return found._replace(is_ascending=False)


def _sort_in_parts(
    numbers: Array, low: int, n_low_bits: int, values: Sequence[Array], *, keep_order: bool
) -> Sorted:
    """Return what `sort_beside` does, by parts that share their leading bits."""
    n_rows, n_parts = len(numbers), 1 << N_LEADING
    # The other bits, values and numbers of rows, those of each slice by their leading bits. Memory
    # is taken at once: handed out page by page it takes longer than to be filled.
    digits = np.empty(n_rows, np.uint32 if n_low_bits <= 32 else np.uint64)
    moved = [np.empty(n_rows, each.dtype) for each in values]
    rows = np.empty(n_rows, np.uint32 if n_rows < 1 << 32 else np.int64)

    def part(first: int, stop: int) -> Array:
        own = slice(first, stop)
        bits = above(numbers[own], low, n_low_bits + N_LEADING)
        leading = (bits >> bits.dtype.type(n_low_bits)).astype(np.uint8)
        order = np.argsort(leading, kind="stable")
        bits &= bits.dtype.type((1 << n_low_bits) - 1)
        digits[own] = bits[order]
        for each, target in zip(values, moved, strict=True):
            np.take(each[own], order, out=target[own], mode="clip")
        np.add(order, first, out=rows[own], casting="unsafe")
        return first + _bounds(np.bincount(leading, minlength=n_parts))

    bounds = in_threads(part, pairwise([*range(0, n_rows, ROWS_PER_PART), n_rows]))
    offsets = _bounds(np.sum([np.diff(each) for each in bounds], axis=0)).tolist()
    pieces = [
        [slice(*piece) for piece in zip(starts, stops, strict=True)]
        for starts, stops in pairwise(np.transpose(bounds).tolist())
    ]
    begins = np.empty(n_rows, bool)
    sorted_values = [np.empty(n_rows, each.dtype) for each in values]
    order = np.empty(n_rows, np.int64) if keep_order else None

    def sort(first: int, stop: int) -> Array:
        firsts = []
        for leading in range(first, stop):

            def gather(column: Array, own: list[slice] = pieces[leading]) -> Array:
                return np.concatenate([column[piece] for piece in own])

            own = slice(offsets[leading], offsets[leading + 1])
            own_digits, own_rows = gather(digits), gather(rows)
            own_order = _radix_order(own_digits, n_low_bits)
            begins[own] = differs(own_digits[own_order])
            firsts.append(own_rows[own_order[begins[own]]])
            for each, target in zip(moved, sorted_values, strict=True):
                np.take(gather(each), own_order, out=target[own], mode="clip")
            if order is not None:
                order[own] = own_rows[own_order]
        return np.concatenate(firsts)

    firsts = in_threads(sort, pairwise(range(0, n_parts + 1, LEADING_PER_TASK)))
    return Sorted(begins, np.concatenate(firsts).astype(np.int64), sorted_values, order)


def _bounds(sizes: Array) -> Array:
    """Return the bounds of groups of these sizes."""
    return np.append(0, sizes.cumsum())


def above(numbers: Array, low: int, n_bits: int = 64) -> Array:
    """Return how far integers are above the lowest one, unsigned, in so many bits or more."""
    wide: Array = numbers.astype(np.uint32 if n_bits <= 32 else np.uint64)
    # Wraps around, as does the difference: back to what it is.
    np.subtract(wide, wide.dtype.type(low % (1 << 8 * wide.itemsize)), out=wide)
    return wide


def _radix_order(digits: Array, n_bits: int) -> Array:
    """Return the stable order of unsigned integers of so many bits."""
    order = np.argsort(digits.astype(np.uint16), kind="stable")
    for shift in range(16, n_bits, 16):
        higher = (digits >> digits.dtype.type(shift)).astype(np.uint16)[order]
        order = order[np.argsort(higher, kind="stable")]
    return order


def differs(values: Array) -> Array:
    """Return whether each value differs from the one before; the first does."""
    differ = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=differ[1:])
    return differ
