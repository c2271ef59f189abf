"""Grouping: rows grouped by integers, and what is found out about groups. NumPy only."""

from itertools import chain, pairwise
from typing import Any

import numpy as np

from recframe.kernel.radix import above, differs, sort_numbers
from recframe.kernel.threads import FAR_ROWS, ROWS_PER_CHUNK, Array, in_slices

MOST_SPREAD = 4  # integers for each row, up to which they need not be numbered anew


def group_rows(codes: Array, n_users: int) -> tuple[Array, Array]:
    """Return the stable order that groups rows by code, and the offsets of the groups."""
    order, begins = sort_numbers(codes)
    starts = find_all(begins)
    sizes = np.zeros(n_users, np.int64)
    sizes[codes[order[starts]]] = run_sizes(starts, len(codes))
    return order, group_offsets(sizes)


def take(values: Array, order: Array) -> Array:
    """Return values in an order, gathered in threads where that pays."""
    taken = np.empty(len(order), values.dtype)

    def gather(start: int, stop: int) -> None:
        # Without "clip" NumPy gathers into a buffer first.
        np.take(values, order[start:stop], out=taken[start:stop], mode="clip")

    in_slices(gather, 0, len(order), FAR_ROWS)
    return taken


def invert(order: Array) -> Array:
    """Return the position of each row in an order."""
    position = np.empty_like(order)

    def write(start: int, stop: int) -> None:
        position[order[start:stop]] = np.arange(start, stop)

    in_slices(write, 0, len(order), FAR_ROWS)
    return position


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
    return above(numbers, low).view(np.int64)


def _number(codes: Array) -> tuple[Array, Array]:
    """Return what `number_distinct` does of one column."""
    slots = narrow(codes)
    if slots is not None:  # a table of them is written faster than they are sorted
        first = np.full(int(slots.max(initial=-1)) + 1, -1)
        first[slots[::-1]] = np.arange(len(slots))[::-1]  # of several the last one written stays
        is_there = first >= 0
        return first[is_there], (is_there.cumsum() - 1)[slots]
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
    # In place, as memory that is new takes longer than to be filled.
    word, rest = offsets >> 6, offsets.astype(np.uint64)
    rest &= np.uint64(63)
    np.left_shift(np.uint64(1), rest, out=rest)
    rest -= np.uint64(1)
    rest &= words.take(word)
    before = counted.take(word)
    before += np.bitwise_count(rest)
    return np.diff(before)


def sum_by_row(flags: Array) -> Array:
    """Return how many flags are set in each row of a matrix."""
    return sum_by_user(flags.ravel(), np.arange(len(flags) + 1) * flags.shape[1])


def rows_of_runs(order: Array, starts: Array, n_rows: int) -> Array:
    """Return the rows of runs that begin at these rows, the runs in this order."""
    lengths = run_sizes(starts, n_rows)[order]
    rows = np.repeat(starts[order] - group_offsets(lengths)[:-1], lengths)
    rows += np.arange(n_rows)
    return rows


def run_starts(*keys: Array) -> Array:
    """Return where any of the keys differs from the one before; the first one does."""
    begins = differs(keys[0])
    for key in keys[1:]:
        begins |= differs(key)
    return np.flatnonzero(begins)


def run_sizes(starts: Array, n_rows: int) -> Array:
    """Return how many rows there are from each start to the next, and from the last to the end."""
    sizes = np.empty_like(starts)  # np.diff would copy the starts to append the end to them
    np.subtract(starts[1:], starts[:-1], out=sizes[:-1])
    sizes[-1:] = n_rows - starts[-1:]
    return sizes


def run_bounds(values: Array) -> Array:
    """Return the positions of the values that differ from the one before, and the end.

    Values may be rows of two integers.
    """

    def find(start: int, stop: int) -> list[Array]:
        # By parts, so that what is compared stays in the cache.
        cuts = [*range(start, stop, ROWS_PER_CHUNK // 4), stop]
        return [
            find_flags(_differ(values[first:end], values[first - 1 : end - 1])) + first
            for first, end in pairwise(cuts)
        ]

    ends = np.array([0, len(values)] if len(values) else [0])
    found = chain.from_iterable(in_slices(find, 1, len(values)))
    return np.concatenate([ends[:1], *found, ends[1:]])


def _differ(values: Array, others: Array) -> Array:
    """Return whether values differ, rows of two as one."""
    differ: Array = values != others
    return differ if differ.ndim == 1 else differ.view(np.uint16).ravel() != 0


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


def find_all(flags: Array) -> Array:
    """Return what `find_flags` does, in threads where that pays."""

    def find(start: int, stop: int) -> Array:
        return find_flags(flags[start:stop]) + start

    return np.concatenate([np.empty(0, np.int64), *in_slices(find, 0, len(flags))])


def lowest(values: Array) -> Any:
    """Return the lowest value, which is NaN if any is; 0 where there is none."""
    minima = in_slices(lambda start, stop: values[start:stop].min(), 0, len(values))
    return np.minimum.reduce(minima) if minima else 0
