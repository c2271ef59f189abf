"""Repeats: rows of a user with a key that a row before them has. NumPy only."""

from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from recframe.kernel.grouping import find_flags, group_offsets, number_members, take
from recframe.kernel.sorting import pad_runs, pick_runs
from recframe.kernel.threads import Array, in_slices, in_threads, user_bounds

WIDEST = 1 << 11  # rows of a user that are sorted as one row of a matrix
CELLS = 1 << 17  # of the matrix, which must stay in the cache
BATCH = 1 << 17  # rows that one step after the other leaves in the cache
AT_ONCE = 1 << 18  # rows; between calls threads wait for each other, so calls must be long
MEETING = 1 << 14  # rows that share a table of numbers, which must stay in the cache
PLACES = 16  # in the table for each row; the more, the fewer rows meet by chance
NUMBERS = np.arange(2 * AT_ONCE).astype(np.uint16)
PAD = (1 << 32) - 1
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
    # Runs of keys are cut out of memory, where they must stand side by side.
    grouped = np.ascontiguousarray(keys) if order is None else _take_folded(keys, order)
    users = _find_suspects(grouped, offsets)
    sizes = np.diff(offsets)[users]
    suspect, number = number_members(sizes)
    rows = offsets[users][suspect] + number
    found = _find_exactly(keys[rows if order is None else order[rows]], group_offsets(sizes))
    return Repeats(rows[found.rows], rows[found.first])


def _fold(keys: Array) -> Array:
    """Return a new array of 32 bits of each key, equal where keys are and seldom elsewhere."""
    if keys.itemsize < 8:
        return keys.astype(np.uint32)
    mixed = keys.view(np.uint64) * ODD
    mixed >>= np.uint64(32)
    return mixed.astype(np.uint32)


def _take_folded(keys: Array, order: Array) -> Array:
    """Return 32 bits of each key, as `_fold` does, in an order."""
    folded = np.empty(len(keys), np.uint32)

    def fold(start: int, stop: int) -> None:
        for begin in range(start, stop, BATCH):
            rows = slice(begin, min(begin + BATCH, stop))
            folded[rows] = _fold(np.ascontiguousarray(keys[rows]))

    in_slices(fold, 0, len(keys))
    return take(folded, order)


def _find_suspects(keys: Array, offsets: Array) -> Array:
    """Return the users who may have a key twice, as they have 32 bits of keys twice.

    The keys of a user are sorted as one row of a matrix, users of like size together. For users
    who are too wide for that, and for the last, whose run could not be cut out too long, it is
    not found out.
    """
    room = offsets[:-1] <= len(keys) - WIDEST

    def find(first: int, stop: int) -> Array:
        sizes = np.diff(offsets[first : stop + 1])
        is_sorted = (sizes <= WIDEST) & room[first:stop]
        found = [np.flatnonzero((sizes > 1) & ~is_sorted)]
        by_size = np.flatnonzero((sizes > 1) & is_sorted)
        by_size = by_size[np.argsort(WIDEST - sizes[by_size].astype(np.uint16), kind="stable")]
        start = 0
        while start < len(by_size):
            width = int(sizes[by_size[start]])
            users = by_size[start : start + CELLS // width]
            start += len(users)
            cells = pick_runs(keys, offsets[first + users], sizes[users], width)
            if cells.itemsize == 4 and not np.may_share_memory(cells, keys):
                cells = cells.view(np.uint32)
            else:
                cells = _fold(cells)
            pad_runs(cells, sizes[users], PAD)
            cells.sort(axis=1)
            in_line, n_pads = cells.ravel(), np.maximum(width - 1 - sizes[users], 0)
            if np.count_nonzero(in_line[1:] == in_line[:-1]) > n_pads.sum():
                is_same = cells[:, 1:] == cells[:, :-1]
                found.append(users[np.count_nonzero(is_same, axis=1) > n_pads])
        return first + np.sort(np.concatenate(found))

    users = in_threads(find, pairwise(user_bounds(offsets).tolist()))
    return np.concatenate([np.empty(0, np.int64), *users])


def _find_exactly(keys: Array, offsets: Array) -> Repeats:
    """Return the rows whose user has their key in a row before; rows are grouped."""

    def find(first: int, stop: int) -> list[tuple[Array, Array]]:
        blocks = _cut_users(offsets, first, stop, AT_ONCE)
        # Used again and again, as new memory is handed out page by page.
        buffers = np.empty((3, int(np.diff(offsets[blocks]).max(initial=0))), np.uint64)
        found = []
        others = [(np.empty(0, np.int64), keys[:0], np.empty(0, np.uint64))]
        for user, end in pairwise(blocks):
            rows, sizes = slice(offsets[user], offsets[end]), np.diff(offsets[user : end + 1])
            own = keys[rows]
            mixed, place, seen = buffers[:, : len(own)]
            np.copyto(mixed, own, casting="unsafe")  # wraps around: another name of the key
            mixed += np.repeat(np.arange(user, end, dtype=np.uint64) * OTHER_ODD, sizes)
            mixed *= ODD
            meetings = (offsets[_cut_users(offsets, user, end, MEETING)] - rows.start).tolist()
            row, last, rest = _compare(own, mixed, meetings, place, seen)
            found.append((row + rows.start, last + rows.start))
            others.append((rest + rows.start, own[rest], mixed[rest]))
        # Those who met others by chance go on among themselves, at other places; with the key
        # once more, so that no two pairs meet for ever.
        at, own, mixed = map(np.concatenate, zip(*others, strict=True))
        while len(at):
            mixed = mixed * ODD + own.astype(np.uint64)
            row, last, rest = _compare(own, mixed, [0, len(at)], *np.empty((2, len(at)), np.uint64))
            found.append((at[row], at[last]))
            at, own, mixed = at[rest], own[rest], mixed[rest]
        return found

    none = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    found = chain(none, *in_threads(find, pairwise(user_bounds(offsets).tolist())))
    row, last = map(np.concatenate, zip(*found, strict=True))
    return _by_first(row, last)


def _cut_users(offsets: Array, first: int, stop: int, n_rows: int) -> list[int]:
    """Return the bounds of runs of users from one to another, each of about so many rows."""
    marks = np.arange(offsets[first], offsets[stop], n_rows)
    users = first + np.searchsorted(offsets[first:stop], marks)
    bounds: list[int] = np.unique([first, *users, stop]).tolist()
    return bounds


def _compare(
    keys: Array, mixed: Array, meetings: list[int], place: Array, seen: Array
) -> tuple[Array, Array, Array]:
    """Return rows with the last row of each one's pair, and rows that may have others or not."""
    lost, last = _find_last(mixed, meetings, place, seen)
    same = np.flatnonzero(keys[lost] == keys[last])
    same = same[mixed[lost[same]] == mixed[last[same]]]
    if len(same) == 0:
        return lost[:0], lost[:0], lost
    return lost[same], last[same], np.delete(lost, same)


def _find_last(mixed: Array, meetings: list[int], place: Array, seen: Array) -> tuple[Array, Array]:
    """Return the rows at whose place a later row of their meeting is, and the last row there.

    Every row writes its number into a table, at the place that its user and key, mixed, decide.
    """
    longest = max(stop - start for start, stop in pairwise(meetings))
    if longest <= 1 << 16:
        n_bits = max(1, (PLACES * longest).bit_length() - 1)
        number: Array = NUMBERS[: len(mixed)]
    else:
        n_bits, number = longest.bit_length(), np.arange(len(mixed))
    table = np.empty(1 << n_bits, number.dtype)
    at = np.right_shift(mixed, np.uint64(64 - n_bits), out=place).view(np.int64)
    seen = seen.view(number.dtype)[: len(mixed)]
    for start, stop in pairwise(meetings):
        table[at[start:stop]] = number[start:stop]
        table.take(at[start:stop], out=seen[start:stop], mode="clip")
    lost = find_flags(seen != number)
    # Numbers of 16 bits wrap around, and so do their differences.
    return lost, lost + (seen[lost] - number[lost])


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
