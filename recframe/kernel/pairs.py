"""Pairs: rows that repeat the pair of a user and an item, and the rows of given pairs. NumPy only.

A user's integer, an item's and the row's place make one key, so that in sorted keys rows of one
pair stand together, and given pairs are found by a search.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from recframe.kernel.grouping import Groups, number_members, sort
from recframe.kernel.ranking import SLICE, cut_users
from recframe.kernel.threads import Array, in_threads, n_processors

MOST_BITS = 63 - 2 * (SLICE - 1).bit_length()  # of items, beside users and places of a slice


class Repeats(NamedTuple):
    """The rows that repeat one before them, ascending, and the first row of each one's pair."""

    rows: Array
    first: Array


class _PairSlice(NamedTuple):
    """The sorted keys of the rows of whole users.

    Parameters
    ----------
    keys : ndarray of shape (n_rows,), int
        The user, the first of the slice being 0, the item, and the place in `rows`.
    n_bits : int
        The bits of a place.
    rows : ndarray of shape (n_rows,), int
        The rows in grouped order.
    first : int
        The first user.
    """

    keys: Array
    n_bits: int
    rows: Array
    first: int


def find_repeats(groups: Groups, items: Array) -> Repeats:
    """Return the rows whose user has their item, an integer of 0 or more, in a row before."""
    n_item_bits = int(items.max(initial=0)).bit_length()

    def find(users: slice) -> list[tuple[Array, Array]]:
        found = []
        for pairs in _sort_pairs(groups, items, users, n_item_bits):
            keys = pairs.keys
            is_same = np.zeros(len(keys), bool)
            np.less(keys[1:] ^ keys[:-1], 1 << pairs.n_bits, out=is_same[1:])
            if is_same.any():
                at = np.flatnonzero(is_same)
                starts = np.flatnonzero(~is_same)
                first = starts[np.searchsorted(starts, at, side="right") - 1]
                places = keys[[at, first]] & ((1 << pairs.n_bits) - 1)
                found.append(tuple(pairs.rows[places]))
        return found

    none = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    found = [each for run in in_threads(find, _runs(groups)) for each in run]
    rows, first = (np.concatenate(each) for each in zip(*none, *found, strict=True))
    ascending = np.argsort(rows, kind="stable")
    return Repeats(rows[ascending], first[ascending])


def match_pairs(groups: Groups, items: Array, user: Array, item: Array) -> tuple[Array, Array]:
    """Return which of some pairs the rows have: a pair and a row for each match.

    Parameters
    ----------
    groups : Groups
        The rows of each user.
    items : ndarray of shape (n_rows,), int
        Their items, 0 or more.
    user, item : ndarray of shape (n_pairs,), int
        The pairs; those that no row can have may have -1.
    """
    n_item_bits = int(max(items.max(initial=0), item.max(initial=0))).bit_length()
    known = np.flatnonzero((user >= 0) & (item >= 0))
    known = known[np.argsort(user[known], kind="stable")]
    user, item = user[known].astype(np.int64), item[known]

    def find(users: slice) -> list[tuple[Array, Array]]:
        found = []
        for pairs in _sort_pairs(groups, items, users, n_item_bits):
            last = pairs.first + int(pairs.keys[-1] >> (n_item_bits + pairs.n_bits))
            start, stop = np.searchsorted(user, (pairs.first, last + 1)).tolist()
            asked = ((user[start:stop] - pairs.first) << n_item_bits) | item[start:stop]
            first = np.searchsorted(pairs.keys, asked << pairs.n_bits)
            n_found = np.searchsorted(pairs.keys, (asked + 1) << pairs.n_bits) - first
            which, number = number_members(n_found)
            keys = pairs.keys[first[which] + number]
            found.append((known[start + which], pairs.rows[keys & ((1 << pairs.n_bits) - 1)]))
        return found

    none = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    found = [each for run in in_threads(find, _runs(groups)) for each in run]
    pair, row = (np.concatenate(each) for each in zip(*none, *found, strict=True))
    return pair, row


def _runs(groups: Groups) -> list[tuple[slice]]:
    """Return runs of users, each for one thread."""
    _ = groups.order  # which threads would each find
    n_runs = max(1, min(n_processors(), groups.n_rows // SLICE))
    cuts = cut_users(groups.offsets, slice(0, groups.n_groups), groups.n_rows // n_runs + 1)
    return [(slice(*each),) for each in pairwise(cuts)]


def _sort_pairs(
    groups: Groups, items: Array, users: slice, n_item_bits: int
) -> Iterator[_PairSlice]:
    """Yield the keys of a run of users, a slice of some rows at a time."""
    offsets = groups.offsets
    most = SLICE if n_item_bits <= MOST_BITS else SLICE >> 4  # rows for whose keys there is room
    for first, stop in pairwise(cut_users(offsets, users, most)):
        places = slice(int(offsets[first]), int(offsets[stop]))
        n_rows = places.stop - places.start
        if n_rows == 0:
            continue
        n_bits = (n_rows - 1).bit_length()
        rows = groups.rows(places)
        own = items[places] if groups.are_together else items[rows]
        keys = np.repeat(np.arange(stop - first) << n_item_bits, np.diff(offsets[first : stop + 1]))
        keys |= own
        keys <<= n_bits
        keys |= np.arange(n_rows)
        yield _PairSlice(sort(keys) if stop - first == 1 else np.sort(keys), n_bits, rows, first)
