"""Grouping: the rows of each user, and sorts, sums and numbers of groups. NumPy only."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from recframe.kernel.threads import Array, count_slices, in_slices, in_threads

BUCKET = 1 << 19  # keys that two sorted parts are merged into at a time


class Groups:
    """
    The rows of each group, for example of each user.

    Parameters
    ----------
    n_groups : int
        How many groups there are; the last ones may be without rows.
    codes : ndarray of shape (n_rows,), int, optional
        The group of each row.
    offsets : ndarray of shape (n_groups + 1,), int, optional
        Where rows are grouped as they stand: those of group i are ``offsets[i]:offsets[i + 1]``.
    """

    def __init__(
        self, n_groups: int, *, codes: Array | None = None, offsets: Array | None = None
    ) -> None:
        self.n_groups = n_groups
        self.are_together = offsets is not None
        if codes is not None:
            self.codes = codes
        if offsets is not None:
            self.offsets = offsets

    @cached_property
    def codes(self) -> Array:
        """The group of each row."""
        return np.repeat(np.arange(self.n_groups, dtype=np.int32), self.sizes)

    @cached_property
    def offsets(self) -> Array:
        """Where the rows of each group begin and end in grouped order."""

        def count(start: int, stop: int) -> Array:
            return np.bincount(self.codes[start:stop], minlength=self.n_groups)

        return group_offsets(np.sum(in_slices(count, len(self.codes)), axis=0))

    def note_offsets(self, keys: Array, n_bits: int) -> None:
        """Take note of where groups begin in sorted keys, whose lowest bits are not the group."""
        groups = np.arange(self.n_groups, dtype=keys.dtype) << keys.dtype.type(n_bits)
        self.offsets = np.append(np.searchsorted(keys, groups), len(keys))

    @property
    def sizes(self) -> Array:
        """How many rows each group has."""
        return np.diff(self.offsets)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.offsets[-1]) if self.are_together else len(self.codes)

    @cached_property
    def order(self) -> Array | None:
        """The rows in grouped order, those of a group as they stand; None: all as they stand."""
        return None if self.are_together else argsort(self.codes)

    def rows(self, places: Array | slice) -> Array:
        """Return the rows that have these places in grouped order."""
        if self.order is not None:
            return self.order[places]
        return np.arange(places.start, places.stop) if isinstance(places, slice) else places

    def in_order(self, values: Array) -> Array:
        """Return values of rows in grouped order."""
        return values if self.order is None else take(values, self.order)

    def count(self, flags: Array) -> Array:
        """Return how many rows of each group have a flag set."""
        if self.are_together:
            return count_flags(flags, self.offsets)
        return np.bincount(self.codes[flags], minlength=self.n_groups)

    def take(self, rows: Array) -> Groups:
        """Return the groups of these rows, which ascend."""
        if self.are_together:
            return Groups(self.n_groups, offsets=np.searchsorted(rows, self.offsets))
        return Groups(self.n_groups, codes=self.codes[rows])

    def extend(self, n_groups: int) -> Groups:
        """Return these groups and more of them, without rows."""
        if not self.are_together:
            return Groups(self.n_groups + n_groups, codes=self.codes)
        offsets = np.append(self.offsets, np.full(n_groups, self.offsets[-1]))
        return Groups(self.n_groups + n_groups, offsets=offsets)


def sort(keys: Array) -> Array:
    """Return integers sorted, many of them in threads; those given may be overwritten.

    Each thread sorts a part; then buckets of neighbouring values of all parts are merged.
    """
    if count_slices(len(keys)) == 1:
        keys.sort()
        return keys

    def sort_part(start: int, stop: int) -> tuple[int, int]:
        keys[start:stop].sort()
        return start, stop

    parts = in_slices(sort_part, len(keys))
    n_buckets = -(-len(keys) // BUCKET)
    sample = np.sort(keys[:: max(1, BUCKET // 512)])
    edges = sample[np.arange(1, n_buckets) * len(sample) // n_buckets]
    cuts = [
        [start, *(start + np.searchsorted(keys[start:stop], edges)), stop] for start, stop in parts
    ]
    offsets = np.append(0, np.diff(cuts, axis=1).sum(axis=0).cumsum())
    merged = np.empty_like(keys)

    def merge(bucket: int) -> None:
        own = merged[offsets[bucket] : offsets[bucket + 1]]
        np.concatenate([keys[cut[bucket] : cut[bucket + 1]] for cut in cuts], out=own)
        own.sort(kind="stable")  # which merges what is in order

    in_threads(merge, [(bucket,) for bucket in range(n_buckets)])
    return merged


def argsort(codes: Array) -> Array:
    """Return the order that sorts integers of 0 or more, equal ones as they stand."""
    n_bits = max(1, len(codes) - 1).bit_length()
    if n_bits + int(codes.max(initial=0)).bit_length() > 63:
        return np.argsort(codes, kind="stable")
    keys = np.empty(len(codes), np.int64)

    def write(start: int, stop: int) -> None:
        np.left_shift(codes[start:stop], n_bits, out=keys[start:stop], dtype=np.int64)
        keys[start:stop] |= np.arange(start, stop)

    in_slices(write, len(codes))
    order = sort(keys)
    order &= (1 << n_bits) - 1
    return order


def take(values: Array, rows: Array) -> Array:
    """Return the values of rows, gathered in threads."""
    taken = np.empty(len(rows), values.dtype)

    def gather(start: int, stop: int) -> None:
        # Without "clip" NumPy gathers into a buffer first.
        np.take(values, rows[start:stop], out=taken[start:stop], mode="clip")

    in_slices(gather, len(rows))
    return taken


def find_range(values: Array) -> tuple[Any, Any]:
    """Return the lowest and the highest of one or more values."""
    found = in_slices(lambda a, b: (values[a:b].min(), values[a:b].max()), len(values))
    return min(low for low, _ in found), max(high for _, high in found)


def invert(order: Array) -> Array:
    """Return the position of each row in an order."""
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return position


def combine(*columns: Array) -> Array:
    """Return one integer for those of each row, in their order, the first column's leading.

    The columns are of integers that are not negative.
    """
    codes = columns[0].astype(np.int64)
    for column in columns[1:]:
        n_values = int(column.max(initial=0)) + 1
        if int(codes.max(initial=0)) >= (1 << 62) // n_values:
            codes = np.unique(codes, return_inverse=True)[1]
        codes = codes * n_values + column
    return codes


def group_offsets(sizes: Array) -> Array:
    """Return the offsets of groups of these sizes."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def number_members(sizes: Array) -> tuple[Array, Array]:
    """Return the group of each member of groups of these sizes, and its number there from 0."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    return group, np.arange(len(group)) - np.repeat(group_offsets(sizes)[:-1], sizes)


def number_distinct(*columns: Array) -> tuple[Array, Array]:
    """Return the first row of each distinct combination, and the number of every row's combination.

    The columns are of integers that are not negative.
    """
    _, first, number = np.unique(combine(*columns), return_index=True, return_inverse=True)
    return first, number


def count_flags(flags: Array, offsets: Array) -> Array:
    """Return how many flags are set between each offset and the next."""
    return np.diff(np.searchsorted(np.flatnonzero(flags), offsets))


def run_starts(*keys: Array) -> Array:
    """Return where any of the keys differs from the one before; the first one does."""
    begins = np.ones(len(keys[0]), bool)
    begins[1:] = keys[0][1:] != keys[0][:-1]
    for key in keys[1:]:
        begins[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(begins)


def run_sizes(starts: Array, n_rows: int) -> Array:
    """Return how many rows there are from each start to the next, and from the last to the end."""
    return np.diff(np.append(starts, n_rows))
