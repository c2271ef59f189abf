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
    starts : ndarray of shape (n_distinct,), int
        The positions where another integer begins.
    firsts : ndarray of shape (n_distinct,), int
        The row of the first of each.
    values : list of ndarray of shape (n_rows,)
        The values beside them in their order.
    order : ndarray of shape (n_rows,), int, or None
        That order; None where it was not asked for.
    is_ascending : bool, default True
        Whether they ascend, and are not only together where they are equal.
    """

    starts: Array
    firsts: Array
    values: list[Array]
    order: Array | None
    is_ascending: bool = True


def sort_numbers(numbers: Array) -> tuple[Array, Array]:
    """Return the stable order of integers, and whether another integer begins at its positions."""
    found = sort_beside(numbers, [])
    assert found.order is not None
    begins = np.zeros(len(numbers), bool)
    begins[found.starts] = True
    return found.order, begins


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
        return Sorted(none, none, list(values), none)
    if len(numbers) > ROWS_PER_PART and n_bits > N_LEADING:
        return _sort_in_parts(numbers, low, n_bits - N_LEADING, values, keep_order=keep_order)
    digits = above(numbers, low)
    order = _radix_order(digits, n_bits)
    starts = np.flatnonzero(differs(digits[order]))
    return Sorted(starts, order[starts], [each[order] for each in values], order)


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
    differ[found.starts] = False
    if differ.any():  # those 40 bits are as a rule told apart by no others
        return _sort(numbers, low, n_bits, values, keep_order=keep_order)
    return found._replace(is_ascending=False)


def _sort_in_parts(
    numbers: Array, low: int, n_low_bits: int, values: Sequence[Array], *, keep_order: bool
) -> Sorted:
    """Return what `sort_beside` does, by parts that share their leading bits."""
    n_rows, n_parts = len(numbers), 1 << N_LEADING
    slices = list(pairwise([*range(0, n_rows, ROWS_PER_PART), n_rows]))

    def lead(first: int, stop: int) -> tuple[Array, Array]:
        bits = above(numbers[first:stop], low, n_low_bits + N_LEADING)
        return bits, (bits >> bits.dtype.type(n_low_bits)).astype(np.uint8)

    def count(first: int, stop: int) -> Array:
        return np.bincount(lead(first, stop)[1], minlength=n_parts)

    counts = np.array(in_threads(count, slices))
    offsets = _bounds(counts.sum(axis=0)).tolist()
    places = offsets[:-1] + np.cumsum(counts, axis=0) - counts
    # The other bits, the numbers of rows and the values, those of a part side by side. Memory is
    # taken at once: handed out page by page it takes longer than to be filled.
    digits = np.empty(n_rows, np.uint32 if n_low_bits <= 32 else np.uint64)
    rows = np.empty(n_rows, np.uint32 if n_rows < 1 << 32 else np.int64)
    moved = [np.empty(n_rows, each.dtype) for each in values]

    def part(number: int, first: int, stop: int) -> None:
        bits, leading = lead(first, stop)
        order = np.argsort(leading, kind="stable")
        bits &= bits.dtype.type((1 << n_low_bits) - 1)
        starts, own_places = _bounds(counts[number]).tolist(), places[number].tolist()
        pieces = [
            (slice(place, place + end - start), slice(start, end))
            for place, (start, end) in zip(own_places, pairwise(starts), strict=True)
            if start < end
        ]

        def move(own: Array, target: Array) -> None:
            for there, here in pieces:
                target[there] = own[here]

        move(bits[order], digits)
        for each, target in zip(values, moved, strict=True):
            move(each[first:stop].take(order, mode="clip"), target)
        order += first
        move(order, rows)

    in_threads(part, [(number, *each) for number, each in enumerate(slices)])
    order = np.empty(n_rows, np.int64) if keep_order else None

    def sort(first: int, stop: int) -> tuple[Array, Array]:
        found, firsts = [], []
        for own in (slice(*each) for each in pairwise(offsets[first : stop + 1])):
            own_order = _radix_order(digits[own], n_low_bits)
            starts = np.flatnonzero(differs(digits[own][own_order]))
            found.append(starts + own.start)
            firsts.append(rows[own][own_order[starts]])
            for each in moved:
                each[own] = each[own].take(own_order, mode="clip")
            if order is not None:
                order[own] = rows[own][own_order]
        return np.concatenate(found), np.concatenate(firsts)

    found = in_threads(sort, pairwise(range(0, n_parts + 1, LEADING_PER_TASK)))
    all_starts, all_firsts = zip(*found, strict=True)
    firsts = np.concatenate(all_firsts, dtype=np.int64)
    return Sorted(np.concatenate(all_starts), firsts, moved, order)


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
