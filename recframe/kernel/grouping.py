"""Grouping: the rows of each user, those that repeat an item, and sorts of integers. NumPy only.

The key of a pair holds the user, the item and the position of its row. In sorted keys, rows with
the same pair are adjacent, and a search finds the rows of any pair.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from recframe.kernel.threads import (
    ROWS_PER_THREAD,
    Array,
    in_batches,
    in_slices,
    in_threads,
    n_processors,
)

SLICE = 1 << 17  # rows of whole users; the cache holds them while they are sorted
MOST_BITS = 63 - 2 * (SLICE - 1).bit_length()  # a key's bits for items, next to users and positions
NONE = np.empty(0, np.int64)
N_FIRST_SEEN = 64  # rows that are looked at first
LEAST_SIZE = 3  # rows of a group in which values rise; two may rise by chance


class Groups:
    """
    The rows of each group, for example of each user.

    Parameters
    ----------
    n_groups : int
        The number of groups; the last ones may have no rows.
    codes : ndarray of shape (n_rows,), int, optional
        The group of each row.
    offsets : ndarray of shape (n_groups + 1,), int, optional
        For groups of adjacent rows: the rows of group i are ``offsets[i]:offsets[i + 1]``.
    """

    def __init__(
        self, n_groups: int, *, codes: Array | None = None, offsets: Array | None = None
    ) -> None:
        self.n_groups = n_groups
        self.are_together = offsets is not None
        if codes is not None:
            self.codes, self.n_rows = codes, len(codes)
        if offsets is not None:
            self.offsets, self.n_rows = offsets, int(offsets[-1])

    @cached_property
    def codes(self) -> Array:
        """The group of each row."""
        return np.repeat(np.arange(self.n_groups, dtype=np.int32), np.diff(self.offsets))

    @cached_property
    def offsets(self) -> Array:
        """The begin of each group's rows in grouped order, and the end of the last group's."""
        counts = in_slices(
            lambda start, stop: np.bincount(self.codes[start:stop], minlength=self.n_groups),
            self.n_rows,
        )
        return group_offsets(np.sum(counts, axis=0))

    @property
    def has_order(self) -> bool:
        """Whether the grouped order of rows is known already."""
        return self.are_together or "order" in vars(self)

    @cached_property
    def order(self) -> Array | None:
        """The rows in grouped order, stable within a group; None: the rows have this order."""
        return None if self.are_together else argsort(self.codes)

    def rows(self, positions: Any) -> Any:
        """Return the rows at these positions of the grouped order, a slice or an array."""
        return positions if self.order is None else self.order[positions]

    def count(self, flags: Array) -> Array:
        """Return how many rows of each group have a flag set."""
        if self.are_together:
            return count_flags(flags, self.offsets)
        return np.bincount(self.codes[flags], minlength=self.n_groups)

    def count_rising(self, values: Array) -> int:
        """Return the number of groups of three rows or more, if values rise down each of them.

        The number is 0 if they fall anywhere, or if the rows of a group are not adjacent.
        """
        if not self.are_together:
            return 0
        offsets = self.offsets
        for part in (values[:N_FIRST_SEEN], values):  # The first rows usually decide.
            last = offsets[slice(*np.searchsorted(offsets, [1, len(part)]))] - 1
            falls, rises = part[1:] < part[:-1], np.append(part[1:] > part[:-1], False)
            falls[last] = rises[last] = False
            if falls.any():
                return 0
        n_rises = self.count(rises)[np.diff(offsets) >= LEAST_SIZE]
        return len(n_rises) if n_rises.all() else 0

    def take(self, rows: Array) -> Groups:
        """Return the groups of these rows, which are in ascending order."""
        if self.are_together:
            return Groups(self.n_groups, offsets=np.searchsorted(rows, self.offsets))
        return Groups(self.n_groups, codes=self.codes[rows])

    def keep(self, are_kept: Array) -> Groups:
        """Return the groups with a flag set, and their rows."""
        n_groups = int(np.count_nonzero(are_kept))
        if self.are_together:
            return Groups(n_groups, offsets=group_offsets(np.diff(self.offsets)[are_kept]))
        number = np.cumsum(are_kept, dtype=np.int32) - 1
        return Groups(n_groups, codes=number[self.codes[are_kept[self.codes]]])

    def extend(self, n_groups: int) -> Groups:
        """Return these groups and `n_groups` more without rows."""
        if not self.are_together:
            return Groups(self.n_groups + n_groups, codes=self.codes)
        offsets = np.append(self.offsets, np.full(n_groups, self.offsets[-1]))
        return Groups(self.n_groups + n_groups, offsets=offsets)


def sort(keys: Array) -> Array:
    """Sort integers in place, many of them in threads, and return them.

    Parts are halved, so that the first half has the lowest keys, until each thread sorts one part.
    """
    if len(keys) < 2 * ROWS_PER_THREAD:
        keys.sort()
        return keys
    parts, n_parts = [keys], min(n_processors(), len(keys) // ROWS_PER_THREAD)
    while len(parts) < n_parts:
        in_threads(lambda part: part.partition(len(part) // 2), [(part,) for part in parts])
        parts = [half for part in parts for half in np.split(part, [len(part) // 2])]
    in_threads(lambda part: part.sort(), [(part,) for part in parts])
    return keys


def argsort(codes: Array) -> Array:
    """Return the stable order that sorts integers of 0 or more."""
    highest = int(codes.max(initial=0))
    if highest < 1 << 16:  # NumPy sorts these by counting, in a third of the time
        return np.argsort(codes.astype(np.uint16), kind="stable")
    n_bits = max(1, len(codes) - 1).bit_length()
    if n_bits + highest.bit_length() > 63:
        return np.argsort(codes, kind="stable")
    keys = np.empty(len(codes), np.int64)

    def write(start: int, stop: int) -> None:
        np.left_shift(codes[start:stop], n_bits, out=keys[start:stop], dtype=np.int64)
        keys[start:stop] |= np.arange(start, stop)

    in_slices(write, len(codes))
    order = sort(keys)
    order &= (1 << n_bits) - 1
    return order


def take_rows(values: Array, rows: Array) -> Array:
    """Return the values of rows, taken in threads."""
    taken = np.empty(len(rows), values.dtype)
    # NumPy copies the rows of a batch as integers of 64 bits, and without "clip" also its values.
    in_batches(lambda batch: values.take(rows[batch], out=taken[batch], mode="clip"), len(rows))
    return taken


def find_range(values: Array) -> tuple[Any, Any]:
    """Return the lowest and the highest value, of at least one; NaN if any value is NaN."""
    limits = in_slices(lambda a, b: (values[a:b].min(), values[a:b].max()), len(values))
    return np.min([low for low, _ in limits]), np.max([high for _, high in limits])


def invert(order: Array) -> Array:
    """Return the position of each row in an order."""
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return position


def combine(*columns: Array) -> Array:
    """Return one integer for each row; they sort like the columns, by the first column first."""
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
    """Return the group of each member, and its number within the group, from 0."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    return group, np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def count_flags(flags: Array, offsets: Array) -> Array:
    """Return the number of set flags between each offset and the next."""
    return np.diff(np.searchsorted(np.flatnonzero(flags), offsets))


def run_starts(*keys: Array) -> Array:
    """Return the first row of each run of equal keys."""
    begins = np.ones(len(keys[0]), bool)
    begins[1:] = keys[0][1:] != keys[0][:-1]
    for key in keys[1:]:
        begins[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(begins)


def cut_users(offsets: Array, users: slice, n_rows: int) -> list[int]:
    """Return the bounds of runs of users with about `n_rows` rows, or of one user with more."""
    first, stop = users.start, users.stop
    marks = np.arange(offsets[first], offsets[stop], n_rows)
    cuts = (first + np.searchsorted(offsets[first:stop], marks)).tolist()
    return [first, *sorted({*cuts} - {first, stop}), stop]


class Repeats(NamedTuple):
    """The rows that repeat an earlier row, ascending, and the first row with the pair of each."""

    rows: Array
    first: Array


class SortedPairs:
    """The user and item of rows, sorted in slices; a slice has all rows of its users.

    Parameters
    ----------
    groups : Groups
        The rows of each user.
    items : ndarray of shape (n_rows,), int
        The items of the rows, 0 or more.
    is_kept : bool, default False
        Whether sorted slices are kept for later searches.
    """

    def __init__(self, groups: Groups, items: Array, *, is_kept: bool = False) -> None:
        self._groups, self._items = groups, items
        _ = groups.order  # computed here once, not by each thread
        self._n_item_bits = int(items.max(initial=0)).bit_length()
        self._is_kept = is_kept
        self._kept: dict[tuple[int, int], tuple[Array, int]] = {}

    def find_repeats(self) -> Repeats:
        """Return the rows whose pair an earlier row has."""

        def find(first: int, stop: int) -> tuple[Array, Array]:
            # Keys without positions are short, and mostly no two are equal.
            keys, n_bits = self._sort(first, stop, has_positions=self._is_kept)
            if (keys[1:] ^ keys[:-1]).min(initial=1 << n_bits) == 1 << n_bits:
                return NONE, NONE
            keys, n_bits = self._sort(first, stop)
            is_same = np.append(False, keys[1:] ^ keys[:-1] < 1 << n_bits)
            at, starts = np.flatnonzero(is_same), np.flatnonzero(~is_same)
            head = starts[np.searchsorted(starts, at, side="right") - 1]
            return self._rows_of(first, keys[at], n_bits), self._rows_of(first, keys[head], n_bits)

        repeats = zip((NONE, NONE), *in_threads(find, self._slices()), strict=True)
        rows, heads = map(np.concatenate, repeats)
        ascending = np.argsort(rows, kind="stable")
        return Repeats(rows[ascending], heads[ascending])

    def match(self, user: Array, item: Array) -> tuple[Array, Array]:
        """Return the pair and the row of each match between pairs and rows.

        Parameters
        ----------
        user, item : ndarray of shape (n_pairs,), int
            The pairs; -1 is a user or item that no row has.
        """
        n_item_bits = self._n_item_bits
        known = np.flatnonzero((user >= 0) & (item >= 0) & (item < 1 << n_item_bits))
        pairs = (user[known].astype(np.int64) << n_item_bits) | item[known]
        order = argsort(pairs)  # searching for sorted keys is fast
        known, pairs = known[order], pairs[order]

        def find(first: int, stop: int) -> tuple[Array, Array]:
            keys, n_bits = self._sort(first, stop)
            limits = np.array([first, stop]) << n_item_bits
            of_slice = slice(*np.searchsorted(pairs, limits).tolist())
            asked = pairs[of_slice] - limits[0]
            begin = np.searchsorted(keys, asked << n_bits)
            pair, number = number_members(np.searchsorted(keys, (asked + 1) << n_bits) - begin)
            matched = keys[begin[pair] + number]
            return known[of_slice][pair], self._rows_of(first, matched, n_bits)

        matches = zip((NONE, NONE), *in_threads(find, self._slices()), strict=True)
        pair, row = map(np.concatenate, matches)
        return pair, row

    def _slices(self) -> list[tuple[int, int]]:
        """Return the first user of each slice and the user after its last."""
        groups = self._groups
        most = (
            SLICE if self._n_item_bits <= MOST_BITS else SLICE >> 4
        )  # so many users fit into a key
        slices = pairwise(cut_users(groups.offsets, slice(0, groups.n_groups), most))
        return [each for each in slices if groups.offsets[each[0]] < groups.offsets[each[1]]]

    def _sort(self, first: int, stop: int, *, has_positions: bool = True) -> tuple[Array, int]:
        """Return the sorted keys of a slice's rows, and the number of bits of a position.

        A key holds the user, counted from the slice's first, the item, and the row's position.
        """
        if (first, stop) in self._kept:
            return self._kept[first, stop]
        groups, n_item_bits = self._groups, self._n_item_bits
        positions = slice(*groups.offsets[[first, stop]].tolist())
        items = self._items[groups.rows(positions)]
        n_bits = (len(items) - 1).bit_length() if has_positions else 0
        is_short = not has_positions and (stop - first - 1).bit_length() + n_item_bits <= 31
        dtype: type[np.integer[Any]] = np.int32 if is_short else np.int64
        users = np.arange(stop - first, dtype=dtype) << dtype(n_item_bits)
        offsets = groups.offsets[first : stop + 1] - groups.offsets[first]
        keys = np.repeat(users, np.diff(offsets))
        keys |= items.astype(dtype, copy=False)
        if has_positions:
            keys <<= n_bits
            keys |= np.arange(len(keys))
        keys = sort(keys)
        if self._is_kept:
            self._kept[first, stop] = keys, n_bits
        return keys, n_bits

    def _rows_of(self, first: int, keys: Array, n_bits: int) -> Array:
        """Return the rows of keys in the slice that begins at user `first`."""
        positions = (keys & ((1 << n_bits) - 1)) + self._groups.offsets[first]
        rows: Array = self._groups.rows(positions)
        return rows
