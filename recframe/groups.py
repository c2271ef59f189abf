"""Rows by user: grouping them, cutting them into slices and runs, and working on these in threads.

NumPy only.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Result = TypeVar("Result")

ROWS_PER_CHUNK = 1 << 20  # what one thread takes at a time


def group_rows(codes: Array, n_users: int) -> tuple[Array, Array]:
    """Return the stable order that groups rows by code, and the offsets of the groups."""
    return argsort(codes), group_offsets(np.bincount(codes, minlength=n_users))


def argsort(numbers: Array) -> Array:
    """Return the order that sorts numbers, equal ones as they stand."""
    found = sort_numbers(numbers)
    return np.argsort(numbers, kind="stable") if found is None else found[0]


def sort_numbers(numbers: Array) -> tuple[Array, Array] | None:
    """Return the stable order of integers and values in that order, equal where they are.

    None where that is no faster than argsort.
    """
    if numbers.dtype.kind not in "iu":
        return None
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    position_bits = len(numbers).bit_length()
    if (high - low).bit_length() + position_bits > 63:
        return None
    # Number and position in one integer: sorting values is ten times as fast as argsort.
    wide = numbers if numbers.itemsize == 8 else numbers.astype(np.int64)
    packed: Array = (wide - wide.dtype.type(low)).astype(np.int64)
    packed <<= position_bits
    packed |= np.arange(len(numbers))
    packed.sort()
    values = packed >> position_bits
    packed &= (1 << position_bits) - 1
    return packed, values


def take(values: Array, order: Array) -> Array:
    """Return values in an order, gathered in threads where that pays."""
    taken = np.empty(len(order), values.dtype)

    def gather(start: int, stop: int) -> None:
        # Without "clip" NumPy gathers into a buffer first.
        np.take(values, order[start:stop], out=taken[start:stop], mode="clip")

    in_slices(gather, 0, len(order))
    return taken


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


def run_starts(values: Array) -> Array:
    """Return the positions of the values that differ from the one before; the first does."""
    differs = np.ones(len(values), bool)

    def compare(start: int, stop: int) -> None:
        np.not_equal(values[start:stop], values[start - 1 : stop - 1], out=differs[start:stop])

    in_slices(compare, 1, len(values))
    return np.flatnonzero(differs)


def any_nan(values: Array) -> bool:
    """Return whether a float is NaN."""
    # The minimum is NaN where any value is; it is found without an array of flags.
    minima = in_slices(lambda start, stop: values[start:stop].min(), 0, len(values))
    return any(np.isnan(minimum) for minimum in minima)


def in_slices(function: Callable[[int, int], Result], start: int, stop: int) -> list[Result]:
    """Call a function with the bounds of equal slices, one for each thread, where that pays."""
    if stop <= start:
        return []
    n_slices = max(1, min(n_processors(), (stop - start) // ROWS_PER_CHUNK))
    return in_threads(function, np.linspace(start, stop, n_slices + 1).astype(int).tolist())


def user_bounds(offsets: Array) -> list[int]:
    """Return the bounds of runs of whole users, each about as large as one thread takes."""
    # A run begins with the first user at or after each multiple of the chunk size.
    marks = np.arange(0, offsets[-1], ROWS_PER_CHUNK)
    bounds: list[int] = np.unique(np.searchsorted(offsets[:-1], marks)).tolist()
    return [*bounds, len(offsets) - 1]


def in_threads(function: Callable[[int, int], Result], bounds: list[int]) -> list[Result]:
    """Call a function with each bound and the next, in threads where there is more than one."""
    if len(bounds) < 2:
        return []
    if len(bounds) == 2:
        return [function(*bounds)]
    with ThreadPoolExecutor(min(len(bounds) - 1, n_processors())) as pool:
        return list(pool.map(function, bounds[:-1], bounds[1:]))


def n_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
