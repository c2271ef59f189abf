"""Pairs: rows that repeat the pair of a user and an item, and the rows of given pairs. NumPy only.

A user's integer, an item's and the row's place make one key, so that in sorted keys rows of one
pair stand together, and given pairs are found by a search.
"""

from collections.abc import Callable, Iterable
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from recframe.kernel.grouping import Groups, number_members, sort
from recframe.kernel.ranking import SLICE, cut_runs, cut_users
from recframe.kernel.threads import Array, in_threads

MOST_BITS = 63 - 2 * (SLICE - 1).bit_length()  # of items, beside users and places of a slice
NONE = np.empty(0, np.int64)


class Repeats(NamedTuple):
    """The rows that repeat one before them, ascending, and the first row of each one's pair."""

    rows: Array
    first: Array


class _PairSlice(NamedTuple):
    """The sorted keys of the rows of whole users.

    Parameters
    ----------
    keys : ndarray of shape (n_rows,), int
        The user, the first of the slice being 0, the item, and the place among these rows.
    n_bits : int
        The bits of a place.
    start, first : int
        The place of the first row among all in grouped order, and the first user.
    """

    keys: Array
    n_bits: int
    start: int
    first: int


class SortedPairs:
    """The pairs of rows, sorted a slice of whole users at a time.

    Parameters
    ----------
    groups : Groups
        The rows of each user.
    items : ndarray of shape (n_rows,), int
        Their items, 0 or more.
    is_kept : bool, default False
        Whether slices are kept once they are sorted, as there will be more to find in them.
    """

    def __init__(self, groups: Groups, items: Array, *, is_kept: bool = False) -> None:
        self._groups, self._items = groups, items
        self._n_item_bits = int(items.max(initial=0)).bit_length()
        self._is_kept = is_kept
        self._kept: dict[tuple[int, int], list[_PairSlice]] = {}

    def find_repeats(self) -> Repeats:
        """Return the rows whose user has their item in a row before."""

        def find(pairs: _PairSlice) -> tuple[Array, Array]:
            keys = pairs.keys
            is_same = np.zeros(len(keys), bool)
            np.less(keys[1:] ^ keys[:-1], 1 << pairs.n_bits, out=is_same[1:])
            if not is_same.any():
                return NONE, NONE
            at, starts = np.flatnonzero(is_same), np.flatnonzero(~is_same)
            first = starts[np.searchsorted(starts, at, side="right") - 1]
            return self._rows_of(pairs, at), self._rows_of(pairs, first)

        rows, first = self._join_slices(find)
        ascending = np.argsort(rows, kind="stable")
        return Repeats(rows[ascending], first[ascending])

    def match(self, user: Array, item: Array) -> tuple[Array, Array]:
        """Return which of some pairs the rows have: a pair and a row for each match.

        Parameters
        ----------
        user, item : ndarray of shape (n_pairs,), int
            The pairs; those that no row can have may have -1.
        """
        n_item_bits = self._n_item_bits
        known = np.flatnonzero((user >= 0) & (item >= 0) & (item < 1 << n_item_bits))
        known = known[np.argsort(user[known], kind="stable")]
        user, item = user[known].astype(np.int64), item[known]

        def find(pairs: _PairSlice) -> tuple[Array, Array]:
            last = pairs.first + int(pairs.keys[-1] >> (n_item_bits + pairs.n_bits))
            start, stop = np.searchsorted(user, (pairs.first, last + 1)).tolist()
            asked = ((user[start:stop] - pairs.first) << n_item_bits) | item[start:stop]
            first = np.searchsorted(pairs.keys, asked << pairs.n_bits)
            n_found = np.searchsorted(pairs.keys, (asked + 1) << pairs.n_bits) - first
            which, number = number_members(n_found)
            return known[start + which], self._rows_of(pairs, first[which] + number)

        return self._join_slices(find)

    def _rows_of(self, pairs: _PairSlice, at: Array) -> Array:
        """Return the rows of keys of a slice."""
        return self._groups.rows((pairs.keys[at] & ((1 << pairs.n_bits) - 1)) + pairs.start)

    def _join_slices(
        self, find: Callable[[_PairSlice], tuple[Array, Array]]
    ) -> tuple[Array, Array]:
        """Return the two arrays that are found in each slice, joined."""

        def find_each(users: slice) -> list[tuple[Array, Array]]:
            run = (users.start, users.stop)  # others, if there are more processors now
            slices = self._kept.get(run) or self._sort(users)
            if self._is_kept:
                slices = self._kept[run] = list(slices)
            return [find(pairs) for pairs in slices]

        _ = self._groups.order  # which threads would each find
        runs = in_threads(find_each, [(users,) for users in cut_runs(self._groups)])
        one, other = zip((NONE, NONE), *chain.from_iterable(runs), strict=True)
        return np.concatenate(one), np.concatenate(other)

    def _sort(self, users: slice) -> Iterable[_PairSlice]:
        """Yield the keys of a run of users, a slice of some rows at a time."""
        groups, items, n_item_bits = self._groups, self._items, self._n_item_bits
        offsets = groups.offsets
        # Rows for whose keys there is room:
        most = SLICE if n_item_bits <= MOST_BITS else SLICE >> 4
        for first, stop in pairwise(cut_users(offsets, users, most)):
            places = slice(int(offsets[first]), int(offsets[stop]))
            n_rows = places.stop - places.start
            if n_rows == 0:
                continue
            n_bits = (n_rows - 1).bit_length()
            own = np.arange(stop - first) << n_item_bits
            keys = np.repeat(own, np.diff(offsets[first : stop + 1]))
            keys |= items[places] if groups.are_together else items[groups.rows(places)]
            keys <<= n_bits
            keys |= np.arange(n_rows)
            yield _PairSlice(sort(keys), n_bits, places.start, first)
