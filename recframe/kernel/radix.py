"""Radix: integers sorted, and the values that stand beside them brought along. NumPy only.

Sorted are 16 bits at a time, each pass ten times as fast as to sort by comparing. Many rows are
first parted by their leading 8 bits, so that what is sorted and gathered stays in the cache. Values
of rows go through the same two passes: to gather them afterwards, from all over memory, takes as
long as to sort.
"""

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from recframe.kernel.threads import ROWS_PER_CHUNK, Array, in_slices, in_threads

MOST_AT_ONCE = ROWS_PER_CHUNK // 2  # rows that are not parted
ROWS_PER_SLICE = ROWS_PER_CHUNK // 4  # so many are parted at once
N_LEADING = 8  # bits by which they are parted
PARTS_PER_TASK = 8
MOST_BITS = 40  # that are sorted in few passes
BATCH = 1 << 15  # integers that one pass after the other leaves in the cache
# The golden ratio's bits, odd: a product with it differs wherever integers do.
ODD = np.uint64(0x9E3779B97F4A7C15)


# Of integers that are sorted: their order, the first row of each, or each itself.
Keep: TypeAlias = Literal["order", "firsts", "numbers"]


class Sorted(NamedTuple):
    """Integers in order, those that are equal as they stood.

    Parameters
    ----------
    begins : ndarray of shape (n_rows,), bool
        Whether another integer begins at each position.
    kept : ndarray of shape (n_rows,) or (n_distinct,), int
        What was to be kept: the order, or the first row of each distinct integer, or it itself.
    values : list of ndarray of shape (n_rows,)
        The values beside them in their order.
    is_ascending : bool, default True
        Whether they ascend, and are not only together where they are equal.
    """

    begins: Array
    kept: Array
    values: list[Array]
    is_ascending: bool = True


def sort_numbers(numbers: Array) -> tuple[Array, Array]:
    """Return the stable order of integers, and whether another integer begins at its positions."""
    begins, order, *_ = sort_beside(numbers, [])
    return order, begins


def argsort(numbers: Array) -> Array:
    """Return the order that sorts numbers, equal ones as they stand."""
    if numbers.dtype.kind not in "iu":
        return np.argsort(numbers, kind="stable")
    return sort_numbers(numbers)[0]


def sort_beside(numbers: Array, values: Sequence[Array], keep: Keep = "order") -> Sorted:
    """Return integers sorted, and the values of their rows beside them."""
    low, n_bits = _find_range(numbers)
    return _sort(numbers, low, n_bits, values, keep)


def _find_range(numbers: Array) -> tuple[int, int]:
    """Return the lowest integer, and how many bits tell how far others are above it."""
    found = in_slices(lambda start, stop: _bounds_of(numbers[start:stop]), 0, len(numbers))
    lows, highs = zip(*found, strict=True) if found else ((0,), (0,))
    return min(lows), (max(highs) - min(lows)).bit_length()


def _bounds_of(numbers: Array) -> tuple[int, int]:
    """Return the lowest and the highest integer."""
    return int(numbers.min()), int(numbers.max())


def _sort(numbers: Array, low: int, n_bits: int, values: Sequence[Array], keep: Keep) -> Sorted:
    """Return what `sort_beside` does, of integers of so many bits above the lowest."""
    if len(numbers) > MOST_AT_ONCE and n_bits > N_LEADING:
        return _sort_in_parts(numbers, low, n_bits - N_LEADING, values, keep)
    digits = above(numbers, low)
    order = _radix_order(digits, n_bits)
    begins = differs(digits[order])
    kept = order if keep == "order" else order[begins]
    if keep == "numbers":
        kept = numbers[kept]
    return Sorted(begins, kept, [each[order] for each in values])


def group_beside(numbers: Array, values: Sequence[Array], keep: Keep = "order") -> Sorted:
    """Return what `sort_beside` does, but with equal integers together in no particular order.

    Those of many bits are sorted by 40 bits of a product that differs wherever integers do.
    """
    low, n_bits = _find_range(numbers)
    if len(numbers) <= MOST_AT_ONCE or n_bits <= MOST_BITS:
        return _sort(numbers, low, n_bits, values, keep)
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
    kept: Keep = "order" if keep == "order" else "firsts"
    found = _sort(leading, 0, MOST_BITS, [*values, others], kept)
    if (differs(found.values.pop()) > found.begins).any():
        return _sort(numbers, low, n_bits, values, keep)  # 40 bits as a rule tell all apart
    if keep == "numbers":
        found = found._replace(kept=numbers[found.kept])
    return found._replace(is_ascending=False)


def _sort_in_parts(
    numbers: Array, low: int, n_low_bits: int, values: Sequence[Array], keep: Keep
) -> Sorted:
    """Return what `sort_beside` does, by parts that share their leading bits.

    First every slice of the rows is brought into the order of its leading bits, where it stands;
    then the pieces of a part, one of each slice, are put together and sorted.
    """
    n_rows, n_parts = len(numbers), 1 << N_LEADING
    slices = list(pairwise([*range(0, n_rows, ROWS_PER_SLICE), n_rows]))
    # The other bits, the numbers of rows and the values. Memory is taken at once: handed out page
    # by page it takes longer than to be filled.
    n_bytes = next(n for n in (2, 4, 8) if n_low_bits <= 8 * n)
    digits = np.empty(n_rows, f"u{n_bytes}")
    has_rows = keep != "numbers"
    rows = np.empty(n_rows * has_rows, np.uint32 if n_rows < 1 << 32 else np.int64)
    parted = [np.empty(n_rows, each.dtype) for each in values]

    def part(first: int, stop: int) -> Array:
        bits, own = above(numbers[first:stop], low, n_low_bits + N_LEADING), slice(first, stop)
        leading = (bits >> bits.dtype.type(n_low_bits)).astype(np.uint8)
        order = np.argsort(leading, kind="stable")
        bits &= bits.dtype.type((1 << n_low_bits) - 1)
        bits.astype(digits.dtype, copy=False).take(order, out=digits[own], mode="clip")
        for each, target in zip(values, parted, strict=True):
            each[own].take(order, out=target[own], mode="clip")
        if has_rows:
            order += first
            rows[own] = order
        return first + _bounds(np.bincount(leading, minlength=n_parts))

    # Where the pieces of each part begin in the slices, and each part in the whole.
    found = np.transpose(in_threads(part, slices))
    offsets, places = (found - found[0]).sum(axis=1).tolist(), found.tolist()
    moved = [np.empty(n_rows, each.dtype) for each in values]
    begins = np.empty(n_rows, bool)
    order = np.empty(n_rows if keep == "order" else 0, np.int64)

    def sort(first: int, stop: int) -> list[Array]:
        kept: list[Array] = []
        for number in range(first, stop):
            own = slice(*offsets[number : number + 2])
            pieces = [*map(slice, *places[number : number + 2])]

            def join(values: Array, pieces: list[slice] = pieces) -> Array:
                return np.concatenate([values[piece] for piece in pieces])

            own_digits = join(digits)
            own_order = _radix_order(own_digits, n_low_bits)
            own_digits = own_digits.take(own_order, mode="clip")
            begins[own] = differs(own_digits)
            for each, target in zip(parted, moved, strict=True):
                join(each).take(own_order, out=target[own], mode="clip")
            if keep == "order":
                order[own] = join(rows).take(own_order, mode="clip")
            elif keep == "firsts":
                kept.append(join(rows)[own_order[begins[own]]])
            else:
                kept.append(_below(own_digits[begins[own]], low + (number << n_low_bits)))
        return kept

    kept = in_threads(sort, pairwise(range(0, n_parts + 1, PARTS_PER_TASK)))
    if keep == "order":
        return Sorted(begins, order, moved)
    dtype = numbers.dtype if keep == "numbers" else np.int64
    joined = np.concatenate([*chain.from_iterable(kept)])
    return Sorted(begins, joined.astype(dtype, copy=False), moved)


def _bounds(sizes: Array) -> Array:
    """Return the bounds of groups of these sizes."""
    return np.append(0, sizes.cumsum())


def above(numbers: Array, low: int, n_bits: int = 64) -> Array:
    """Return how far integers are above the lowest one, unsigned, in so many bits or more."""
    wide: Array = numbers.astype(np.uint32 if n_bits <= 32 else np.uint64)
    # Wraps around, as does the difference: back to what it is.
    np.subtract(wide, wide.dtype.type(low % (1 << 8 * wide.itemsize)), out=wide)
    return wide


def _below(digits: Array, low: int) -> Array:
    """Return the integers that are so far above the lowest one, in 64 bits, unsigned."""
    return digits + np.uint64(low % (1 << 64))


def _radix_order(digits: Array, n_bits: int) -> Array:
    """Return the stable order of unsigned integers of so many bits."""
    order = np.argsort(digits.astype(np.uint16, copy=False), kind="stable")
    for shift in range(16, n_bits, 16):
        higher = (digits >> digits.dtype.type(shift)).astype(np.uint16)[order]
        order = order[np.argsort(higher, kind="stable")]
    return order


def differs(values: Array) -> Array:
    """Return whether each value differs from the one before; the first does."""
    differ = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=differ[1:])
    return differ
