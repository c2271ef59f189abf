"""Repeats: rows of a user with a key that a row before them has. NumPy only."""

from collections.abc import Iterator
from functools import partial
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from recframe.kernel.grouping import number_members, take
from recframe.kernel.radix import sort_numbers
from recframe.kernel.sorting import pad_runs, pick_runs
from recframe.kernel.threads import ROWS_PER_CHUNK, Array, in_slices, in_threads, user_bounds

WIDEST = 1 << 13  # rows of a user that are sorted as one row of a matrix
CELLS = 1 << 16  # of the matrix, which must stay in the cache; the more, the more of them are pads
BATCH = 1 << 17  # rows that one step after the other leaves in the cache
SAMPLE = 1 << 10  # keys that show whether the low bits tell keys apart
PAD = (1 << 32) - 1
# The golden ratio's bits, odd: a product with it differs wherever integers do.
ODD = np.uint64(0x9E3779B97F4A7C15)


class Repeats(NamedTuple):
    """The rows that repeat one before them, ascending, and the first row of each one's pair."""

    rows: Array
    first: Array

    def first_of(self, rows: Array) -> Array:
        """Return the first row of the pair of each of these rows."""
        if len(self.rows) == 0:
            return rows
        at = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[at] == rows, self.first[at], rows)


def find_repeats(keys: Array, offsets: Array, order: Array | None = None) -> Repeats:
    """Return the rows whose user has their key in a row before.

    As a rule no user has, so that 32 bits of each key are compared first.

    Parameters
    ----------
    keys : ndarray of shape (n_rows,), int of at most 64 bits
        The key of each row, in the order of rows.
    offsets : ndarray of shape (n_users + 1,), int
        The bounds of the users' rows in grouped order, in which rows are counted here.
    order : ndarray of shape (n_rows,), int, default None
        That order; None where the rows are grouped as they stand.
    """
    # Runs of keys are cut out of memory, where they must stand side by side.
    keys = np.ascontiguousarray(keys)
    if not _is_told_by_low_bits(keys):
        keys = _mix(keys)
    # Cut off before runs of them are picked, which then takes half the time.
    grouped = _low_bits(keys)
    grouped = grouped if order is None else take(grouped, order)

    def find(first: int, stop: int) -> list[tuple[Array, Array]]:
        found = []
        for rows in _find_in_matrices(grouped, offsets, first, stop):
            user = np.searchsorted(offsets[first:stop], rows, side="right")
            own = keys[rows if order is None else order[rows]]
            repeated, of_pair = _compare(user, own)
            found.append((rows[repeated], rows[of_pair]))
        return found

    none = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    found = chain(none, *in_threads(find, pairwise(user_bounds(offsets).tolist())))
    rows, first = map(np.concatenate, zip(*found, strict=True))
    ascending = np.argsort(rows, kind="stable")
    return Repeats(rows[ascending], first[ascending])


def _is_told_by_low_bits(keys: Array) -> bool:
    """Return whether keys differ in their low 32 bits where they differ, going by some of them."""
    if keys.itemsize < 8:
        return True
    sample = keys[:: max(1, len(keys) // SAMPLE)]
    return len(np.unique(sample.astype(np.uint32))) == len(np.unique(sample))


def _mix(keys: Array) -> Array:
    """Return a new array of 64 bits for each key, equal only where keys are, the low ones mixed."""
    mixed = np.empty(len(keys), np.uint64)

    def mix(start: int, stop: int) -> None:
        high = np.empty(min(BATCH, stop - start), np.uint64)
        for begin in range(start, stop, BATCH):
            rows = slice(begin, min(begin + BATCH, stop))
            own = np.multiply(keys[rows].view(np.uint64), ODD, out=mixed[rows])
            own ^= np.right_shift(own, np.uint64(32), out=high[: len(own)])

    in_slices(mix, 0, len(keys))
    return mixed


def _low_bits(keys: Array) -> Array:
    """Return the low 32 bits of keys of any shape."""
    if keys.itemsize == 4:
        return keys.view(np.uint32)
    low = np.empty(keys.shape, np.uint32)

    def cut(start: int, stop: int) -> None:
        low[start:stop] = keys[start:stop]

    in_slices(cut, 0, len(keys))
    return low


def _find_in_matrices(keys: Array, offsets: Array, first: int, stop: int) -> Iterator[Array]:
    """Yield rows of a run of users among which are all that share a key of their user.

    The 32 bits of a user's keys are sorted as one row of a matrix, users of like size together.
    """
    sizes = np.diff(offsets[first : stop + 1])
    # The run of one of the last users could not be cut out longer than it is.
    has_room = offsets[first:stop] <= len(keys) - WIDEST
    is_narrow = sizes <= WIDEST
    yield _rows_of(first + np.flatnonzero((sizes > 1) & is_narrow & ~has_room), offsets)
    for user in first + np.flatnonzero(~is_narrow):
        yield offsets[user] + _find_in_row(keys[offsets[user] : offsets[user + 1]])
    by_size = np.flatnonzero((sizes > 1) & is_narrow & has_room)
    by_size = by_size[np.argsort(WIDEST - sizes[by_size].astype(np.uint16), kind="stable")]
    start = 0
    while start < len(by_size):
        width = int(sizes[by_size[start]])
        users = by_size[start : start + max(1, CELLS // width)]
        start += len(users)
        cells = pick_runs(keys, offsets[first + users], sizes[users], width)
        cells = cells.copy() if np.may_share_memory(cells, keys) else cells
        pad_runs(cells, sizes[users], PAD)
        cells.sort(axis=1)
        in_line, n_pads = cells.ravel(), np.maximum(width - 1 - sizes[users], 0)
        if np.count_nonzero(in_line[1:] == in_line[:-1]) > n_pads.sum():
            n_same = np.count_nonzero(cells[:, 1:] == cells[:, :-1], axis=1)
            yield _rows_of(first + users[n_same > n_pads], offsets)


def _rows_of(users: Array, offsets: Array) -> Array:
    """Return the rows of users."""
    user, number = number_members(np.diff(offsets)[users])
    rows: Array = offsets[users][user] + number
    return rows


def _find_in_row(keys: Array) -> Array:
    """Return the positions of keys among which are all that are there twice."""
    bits = _low_bits(keys)
    twice = np.concatenate(in_threads(partial(_find_twice, bits), pairwise(_quarters(len(keys)))))
    # A table of some bits leaves out most others; of the rest each is looked up.
    mask = np.uint32((1 << min(28, (16 * len(twice) + 1).bit_length())) - 1)
    is_there = np.zeros(int(mask) + 1, bool)
    is_there[twice & mask] = True
    found = [np.empty(0, np.int64)]
    for start in range(0, len(keys) if len(twice) else 0, BATCH):
        part = bits[start : start + BATCH]
        near = np.flatnonzero(is_there[part & mask])
        found.append(start + near[np.isin(part[near], twice)])
    return np.concatenate(found)


def _find_twice(bits: Array, low: int, high: int) -> Array:
    """Return the numbers in [low, high) that are there twice."""
    own = bits if (low, high) == (0, 1 << 32) else bits[(bits >= low) & (bits < high)]
    own = np.sort(own)
    twice: Array = own[1:][own[1:] == own[:-1]]
    return twice


def _quarters(n_rows: int) -> list[int]:
    """Return the bounds of ranges of 32-bit numbers to sort by themselves, four where many are."""
    return [0, 1 << 32] if n_rows < ROWS_PER_CHUNK else list(range(0, (1 << 32) + 1, 1 << 30))


def _compare(user: Array, keys: Array) -> tuple[Array, Array]:
    """Return the rows whose user has their key in a row before, and the first row of each's pair.

    A user's rows are in ascending order.
    """
    # By 32 bits of the key, and by all of it where those do not tell two keys apart.
    order, begins = sort_numbers(user << 32 | _low_bits(keys).astype(np.int64))
    first = order[np.flatnonzero(begins)[np.cumsum(begins) - 1]]
    if not np.array_equal(keys[order], keys[first]):
        order = np.lexsort((keys, user))
        begins = np.ones(len(order), bool)
        begins[1:] = (np.diff(user[order]) != 0) | (keys[order][1:] != keys[order][:-1])
        first = order[np.flatnonzero(begins)[np.cumsum(begins) - 1]]
    return order[~begins], first[~begins]
