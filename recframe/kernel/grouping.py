"""Grouping: integers sorted and grouped, and what is found out about groups. NumPy only."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from recframe.kernel.threads import ROWS_PER_CHUNK, Array, in_slices, in_threads

MOST_SPREAD = 4  # integers for each row, up to which they need not be numbered anew
ROWS_PER_PART = ROWS_PER_CHUNK // 2  # so many are sorted at once


def group_rows(codes: Array, n_users: int) -> tuple[Array, Array]:
    """Return the stable order that groups rows by code, and the offsets of the groups."""
    order, begins = sort_numbers(codes)
    starts = np.flatnonzero(begins)
    sizes = np.zeros(n_users, np.int64)
    sizes[codes[order[starts]]] = np.diff(starts, append=len(codes))
    return order, group_offsets(sizes)


def argsort(numbers: Array) -> Array:
    """Return the order that sorts numbers, equal ones as they stand."""
    if numbers.dtype.kind not in "iu":
        return np.argsort(numbers, kind="stable")
    return sort_numbers(numbers)[0]


def sort_numbers(numbers: Array) -> tuple[Array, Array]:
    """Return the stable order of integers, and whether another integer begins at its positions.

    By radix: 16 bits at a time, each pass ten times as fast as to sort by comparing. Many rows
    are first parted by their leading 8 bits, in threads, so that what is sorted fits the cache.
    """
    if len(numbers) == 0:
        return np.empty(0, np.int64), np.empty(0, bool)
    low, high = int(numbers.min()), int(numbers.max())
    n_bits = (high - low).bit_length()
    if len(numbers) > ROWS_PER_PART and n_bits > 8:
        return _sort_in_parts(numbers, low, n_bits)
    digits = _above(numbers, low)
    order = _radix_order(digits, n_bits)
    return order, _differs(digits[order])


class _Part(NamedTuple):
    """A slice of the numbers: its rows by their leading 8 bits, the other bits, and the bounds."""

    rows: Array
    digits: Array
    offsets: Array

    def led_by(self, leading: int) -> tuple[Array, Array]:
        """Return the rows that begin with these bits, and their other bits."""
        own = slice(self.offsets[leading], self.offsets[leading + 1])
        return self.rows[own], self.digits[own]


def _sort_in_parts(numbers: Array, low: int, n_bits: int) -> tuple[Array, Array]:
    """Return what `sort_numbers` does, by parts that share their leading 8 bits."""
    n_low_bits = n_bits - 8
    bounds = pairwise([*range(0, len(numbers), ROWS_PER_PART), len(numbers)])
    parts = in_threads(
        lambda first, stop: _part(_above(numbers[first:stop], low), n_low_bits, first), bounds
    )
    offsets = np.sum([part.offsets for part in parts], axis=0)
    order = np.empty(len(numbers), np.int64)
    begins = np.empty(len(numbers), bool)

    def sort(first: int, stop: int) -> None:
        for leading in range(first, stop):
            pieces = [part.led_by(leading) for part in parts]
            rows, digits = map(np.concatenate, zip(*pieces, strict=True))
            own_order = _radix_order(digits, n_low_bits)
            own = slice(offsets[leading], offsets[leading + 1])
            np.take(rows, own_order, out=order[own], mode="clip")
            begins[own] = _differs(digits[own_order])

    in_threads(sort, pairwise(range(0, 257, 8)))
    return order, begins


def _part(digits: Array, n_low_bits: int, first: int) -> _Part:
    """Return the part of these digits, which are overwritten and begin at this row."""
    leading = (digits >> digits.dtype.type(n_low_bits)).astype(np.uint8)
    order = np.argsort(leading, kind="stable")
    digits &= digits.dtype.type((1 << n_low_bits) - 1)
    digits = digits.astype(np.uint32 if n_low_bits <= 32 else np.uint64)
    offsets = group_offsets(np.bincount(leading, minlength=256))
    return _Part(order + first, digits[order], offsets)


def _above(numbers: Array, low: int) -> Array:
    """Return how far integers are above the lowest one, in an unsigned type that holds it."""
    wide = numbers.astype(np.uint64)  # wraps around, as does the difference: back to what it is
    wide -= np.uint64(low % (1 << 64))
    return wide


def _radix_order(digits: Array, n_bits: int) -> Array:
    """Return the stable order of unsigned integers of so many bits."""
    order = np.argsort(digits.astype(np.uint16), kind="stable")
    for shift in range(16, n_bits, 16):
        higher = (digits >> digits.dtype.type(shift)).astype(np.uint16)[order]
        order = order[np.argsort(higher, kind="stable")]
    return order


def take(values: Array, order: Array) -> Array:
    """Return values in an order, gathered in threads where that pays."""
    taken = np.empty(len(order), values.dtype)

    def gather(start: int, stop: int) -> None:
        # Without "clip" NumPy gathers into a buffer first.
        np.take(values, order[start:stop], out=taken[start:stop], mode="clip")

    in_slices(gather, 0, len(order))
    return taken


def number_members(sizes: Array) -> tuple[Array, Array]:
    """Return the group of each member of groups of these sizes, and its number there from 0."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    return group, np.arange(len(group)) - np.repeat(sizes.cumsum() - sizes, sizes)


def number_distinct(*columns: Array) -> tuple[Array, Array]:
    """Return the first row of each that is distinct, and for every row the number of its like.

    The columns are of integers that are not negative.
    """
    return _number(combine(*columns))


def combine(*columns: Array) -> Array:
    """Return one integer for those of each row, in their order, the first column's leading.

    The columns are of integers that are not negative.
    """
    codes = columns[0].astype(np.int64)
    for column in columns[1:]:
        n_values = int(column.max(initial=0)) + 1
        if int(codes.max(initial=0)) >= (1 << 62) // n_values:
            codes = _number(codes)[1]
        codes *= n_values
        codes += column
    return codes


def narrow(numbers: Array) -> Array | None:
    """Return how far integers are above the lowest, None where that is more than rows number."""
    if len(numbers) == 0:
        return numbers.astype(np.int64)
    low, high = int(numbers.min()), int(numbers.max())
    if high - low > MOST_SPREAD * len(numbers):
        return None
    return _above(numbers, low).view(np.int64)


def _number(codes: Array) -> tuple[Array, Array]:
    """Return what `number_distinct` does of one column."""
    order, begins = sort_numbers(codes)
    number = np.empty(len(codes), np.int64)
    number[order] = begins.cumsum() - 1
    return order[begins], number


def group_offsets(sizes: Array) -> Array:
    """Return the offsets of groups of these sizes."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def sum_by_user(flags: Array, offsets: Array) -> Array:
    """Return how many flags are set in each group."""
    # 64 flags to a word, whose bits are counted at once: ten times as fast as adding flags up.
    words = np.zeros(len(flags) // 64 + 1, "<u8")
    packed = np.packbits(flags, bitorder="little")
    words.view(np.uint8)[: len(packed)] = packed
    counted = np.zeros(len(words), np.int64)
    np.cumsum(np.bitwise_count(words[:-1]), out=counted[1:])
    word, bit = offsets >> 6, (offsets & 63).astype(np.uint64)
    rest = words[word] & ((np.uint64(1) << bit) - np.uint64(1))
    return np.diff(counted[word] + np.bitwise_count(rest))


def sum_by_row(flags: Array) -> Array:
    """Return how many flags are set in each row of a matrix."""
    return sum_by_user(flags.ravel(), np.arange(len(flags) + 1) * flags.shape[1])


def rows_of_runs(order: Array, starts: Array, n_rows: int) -> Array:
    """Return the rows of runs that begin at these rows, the runs in this order."""
    lengths = np.diff(starts, append=n_rows)[order]
    rows = np.repeat(starts[order] - group_offsets(lengths)[:-1], lengths)
    rows += np.arange(n_rows)
    return rows


def _differs(values: Array) -> Array:
    """Return whether each value differs from the one before; the first does."""
    differs = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=differs[1:])
    return differs


def run_starts(*keys: Array) -> Array:
    """Return where any of the keys differs from the one before; the first one does."""
    differs = _differs(keys[0])
    for key in keys[1:]:
        differs |= _differs(key)
    return np.flatnonzero(differs)


def run_bounds(values: Array) -> Array:
    """Return the positions of the values that differ from the one before, and the end."""

    def find(start: int, stop: int) -> Array:
        # By parts, so that what is compared stays in the cache.
        cuts = [*range(start, stop, ROWS_PER_CHUNK // 4), stop]
        found = [
            find_flags(values[first:end] != values[first - 1 : end - 1]) + first
            for first, end in pairwise(cuts)
        ]
        return np.concatenate(found)

    ends = np.array([0, len(values)] if len(values) else [0])
    return np.concatenate([ends[:1], *in_slices(find, 1, len(values)), ends[1:]])


def find_flags(flags: Array) -> Array:
    """Return the positions of the flags that are set."""
    # Where at most a tenth are set NumPy looks for one after the other, else it writes down every
    # position and keeps the right ones: no branch is mispredicted, which takes a third of the
    # time. Unless next to none are set, a tail of set flags makes them more than a tenth.
    n_flags, n_set = len(flags), int(np.count_nonzero(flags))
    if not n_flags // 32 < n_set <= n_flags // 10:
        return np.flatnonzero(flags)
    with_tail = np.ones(n_flags + n_flags // 8, bool)
    with_tail[:n_flags] = flags
    return np.flatnonzero(with_tail)[:n_set]


def lowest(values: Array) -> Any:
    """Return the lowest value, which is NaN if any is; 0 where there is none."""
    minima = in_slices(lambda start, stop: values[start:stop].min(), 0, len(values))
    return np.min(minima) if minima else 0
