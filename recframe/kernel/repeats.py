"""Repeats: rows of a user with a key that a row before them has. NumPy only."""

from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from recframe.kernel.threads import Array, in_slices, in_threads, user_bounds

AT_ONCE = 1 << 15  # rows whose table stays in the cache
# Odd, so that products of all integers differ; the bits of the golden ratio, as Knuth has it.
ODD = np.uint64(0x9E3779B97F4A7C15)
OTHER_ODD = np.uint64(0xD6E8FEB86659FD93)


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

    Parameters
    ----------
    keys : ndarray of shape (n_rows,), int of at most 64 bits
        The key of each row, in the order of rows.
    offsets : ndarray of shape (n_users + 1,), int
        The bounds of the users' rows in grouped order, in which rows are counted here.
    order : ndarray of shape (n_rows,), int, default None
        That order; None where the rows are grouped as they stand.
    """

    def find(first: int, stop: int) -> list[tuple[Array, Array]]:
        table = np.empty(16 * AT_ONCE, np.uint16)
        found = []
        marks = np.arange(offsets[first], offsets[stop], AT_ONCE)
        firsts = first + np.searchsorted(offsets[first:stop], marks)
        for user, end in pairwise(np.unique([*firsts, stop]).tolist()):
            rows = slice(offsets[user], offsets[end])
            own = keys[rows] if order is None else keys.take(order[rows], mode="clip")
            pairs = _find_in_run(own.astype(np.uint64), offsets[user : end + 1], table)
            found += [(row + rows.start, last + rows.start) for row, last in pairs]
        return found

    none = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    found = chain(none, *in_threads(find, pairwise(user_bounds(offsets).tolist())))
    row, last = map(np.concatenate, zip(*found, strict=True))
    return _by_first(row, last)


def _find_in_run(keys: Array, offsets: Array, table: Array) -> list[tuple[Array, Array]]:
    """Return rows of a run of users, each with the last row that has its user and key.

    Every row writes its number into a table, at a place that its user and key decide. Whoever
    finds another's there has either the same pair or met it by chance; those of the latter kind
    go on among themselves, at other places.
    """
    found = []
    user = np.arange(len(offsets) - 1, dtype=np.uint64) * OTHER_ODD
    mixed = (keys + np.repeat(user, np.diff(offsets))) * ODD
    rows = None
    while len(keys) > 1:
        n_bits = (4 * len(keys)).bit_length()
        if len(keys) > 1 << 16 or len(table) < 1 << n_bits:
            n_bits = len(keys).bit_length()
            table = np.empty(1 << n_bits, np.int64)
        number = np.arange(len(keys)).astype(table.dtype)
        place = (mixed >> np.uint64(64 - n_bits)).view(np.int64)
        table[place] = number
        last = table.take(place, mode="clip")
        lost = np.flatnonzero(last != number)
        last = last[lost].astype(np.int64)
        is_same = (keys[lost] == keys[last]) & (mixed[lost] == mixed[last])
        if is_same.any():
            row, same = lost[is_same], last[is_same]
            found.append((row, same) if rows is None else (rows[row], rows[same]))
            lost = lost[~is_same]
        rows = lost if rows is None else rows[lost]
        keys = keys[lost]
        # With the key once more: pairs that were mixed alike are so no longer.
        mixed = mixed[lost] * ODD + keys
    return found


def _by_first(row: Array, last: Array) -> Repeats:
    """Return repeats, given rows and the last row of each one's pair."""
    ascending = np.argsort(row, kind="stable")
    row, last = row[ascending], last[ascending]
    of_pair, at, pair = np.unique(last, return_index=True, return_inverse=True)
    first = row[at]
    is_first = np.zeros(len(row), bool)
    is_first[at] = True
    rows = np.append(row[~is_first], of_pair)
    first = np.append(first[pair[~is_first]], first)
    ascending = np.argsort(rows, kind="stable")
    return Repeats(rows[ascending], first[ascending])


def text_keys(offsets: Array, data: Array) -> Array:
    """Return a key of each text, equal where texts are: its last eight bytes and its length.

    Parameters
    ----------
    offsets : ndarray of shape (n_texts + 1,), int
        The bounds of the texts in the data.
    data : ndarray of bytes
        The texts, one after the other.
    """
    keys = np.empty(len(offsets) - 1, np.uint64)
    data = data if data.size >= 8 else np.append(data, np.zeros(8, np.uint8))
    # Eight bytes from every byte on, each time as one integer.
    words = np.ndarray((data.size - 7,), "<u8", data, strides=(1,))

    def read(start: int, stop: int) -> None:
        for begin in range(start, stop, AT_ONCE):
            end = min(begin + AT_ONCE, stop)
            bounds = offsets[begin : end + 1]
            length, last = np.diff(bounds), bounds[1:] - 8
            word = words[np.maximum(last, 0)]
            # Of the first texts of all there may be less than eight bytes before the end.
            for row in np.flatnonzero(last < 0).tolist():
                word[row] <<= np.uint64(-8 * last[row])
            unused = np.maximum(8 - length, 0)
            if unused.any():
                word >>= np.minimum(8 * unused, 63).astype(np.uint64)
                word[length == 0] = 0
            keys[begin:end] = word + length.astype(np.uint64) * OTHER_ODD

    in_slices(read, 0, len(keys))
    return keys
