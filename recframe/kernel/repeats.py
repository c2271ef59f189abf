"""Repeats: rows of a user with a key that a row before them has. NumPy only."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from recframe.kernel.grouping import number_members, take
from recframe.kernel.radix import ODD, sort_numbers
from recframe.kernel.row_order import RowOrder
from recframe.kernel.run_matrices import count_like, pick_rows, sort_rows
from recframe.kernel.sorting import count_above, pad_runs
from recframe.kernel.texts import HIGH, Texts
from recframe.kernel.threads import ROWS_PER_CHUNK, Array, in_slices, in_threads, user_bounds

WIDEST = 1 << 13  # rows of a user that are sorted as one row of a matrix
BATCH = 1 << 17  # rows that one pass after the other leaves in the cache
SAMPLE = 1 << 10  # keys that show whether the low bits tell keys apart
PAD = (1 << 32) - 1

Writer: TypeAlias = Callable[[Array, int], None]  # fills an array with bits, from a row on


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


def find_repeats(
    keys: Array | Texts,
    offsets: Array,
    order: RowOrder | None = None,
    grouped: Array | None = None,
) -> Repeats:
    """Return the rows whose user has their key in a row before.

    As a rule no user has, so that 32 bits of each key are compared first. Of texts nothing else
    is: whether those of the rows found are the same is left to be looked at.

    Parameters
    ----------
    keys : ndarray of shape (n_rows,), int or float of at most 64 bits, or Texts
        The key of each row, in the order of rows; none is NaN, and the two zeros are one.
    offsets : ndarray of shape (n_users + 1,), int
        The bounds of the users' rows in grouped order, in which rows are counted here.
    order : RowOrder, default None
        That order; None where the rows are grouped as they stand.
    grouped : ndarray of shape (n_rows,), uint32, default None
        What `write_bits` returns in that order, where it is known.
    """
    runs = list(pairwise(user_bounds(offsets).tolist()))
    bits: Array | Writer = _find_bits(keys) if grouped is None else grouped
    if grouped is None and order is not None:
        bits = take(write_bits(keys), order.rows)
    elif callable(bits) and len(runs) == 1:
        bits = write_bits(keys)

    def find(first: int, stop: int) -> list[tuple[Array, Array]]:
        found = []
        for user, rows, alike in _find_alike(bits, offsets, first, stop):
            own = alike
            if isinstance(keys, np.ndarray):
                own = keys[rows if order is None else order.take(rows)]
            repeated, of_pair = _compare(user, alike, own)
            found.append((rows[repeated], rows[of_pair]))
        return found

    none = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    found = chain(none, *in_threads(find, runs))
    rows, first = map(np.concatenate, zip(*found, strict=True))
    ascending = np.argsort(rows, kind="stable")
    return Repeats(rows[ascending], first[ascending])


def _find_bits(keys: Array | Texts) -> Array | Writer:
    """Return 32 bits of each key, equal where keys are, or what writes them."""
    if isinstance(keys, Texts):
        return keys.write_keys
    is_float = keys.dtype.kind == "f"
    if keys.itemsize == 4 and not is_float:
        # Runs of them are cut out of memory, where they must stand side by side.
        return np.ascontiguousarray(keys).view(np.uint32)
    if is_float or not _is_told_by_low_bits(keys):
        return partial(_mix, keys)
    return partial(_cut, keys)


def _is_told_by_low_bits(keys: Array) -> bool:
    """Return whether keys differ in their low 32 bits where they differ, going by some of them."""
    if keys.itemsize < 8:
        return True
    sample = keys[:: max(1, len(keys) // SAMPLE)]
    return len(np.unique(sample.astype(np.uint32))) == len(np.unique(sample))


def _cut(keys: Array, bits: Array, first: int) -> None:
    """Write the low bits of integers."""
    bits[:] = keys[first : first + len(bits)]


def _mix(keys: Array, bits: Array, first: int) -> None:
    """Write the high bits of products with keys, which depend on all bits of a key."""
    products = np.empty(min(BATCH, len(bits)), np.uint64)
    for start in range(0, len(bits), BATCH):
        own = keys[first + start : first + min(start + BATCH, len(bits))]
        product = products[: len(own)]
        if own.dtype.kind == "f":  # of the two zeros, the positive one
            own = np.add(own, 0, out=product.view(np.float64))
        np.multiply(own.view(np.uint64), ODD, out=product)
        bits[start : start + len(own)] = product.view(np.uint32)[HIGH::2]


def write_bits(keys: Array | Texts) -> Array:
    """Return 32 bits of each key, equal where keys are."""
    write = _find_bits(keys)
    if not callable(write):
        return write
    bits = np.empty(len(keys.offsets) - 1 if isinstance(keys, Texts) else len(keys), np.uint32)
    in_slices(lambda start, stop: write(bits[start:stop], start), 0, len(bits))
    return bits


def _find_alike(
    bits: Array | Writer, offsets: Array, first: int, stop: int
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield rows of a run of users among which are all that share a key of their user.

    With them the user of each, and its bits, which are written where they are not known yet.
    """
    start, n_rows = offsets[first], offsets[stop] - offsets[first]
    if callable(bits):
        own = np.empty(n_rows + 2 * WIDEST, np.uint32)
        bits(own[:n_rows], start)
    else:
        own = bits[start : start + n_rows + 2 * WIDEST]
    own_offsets = offsets[first : stop + 1] - start
    for rows in _find_in_matrices(own, own_offsets):
        yield np.searchsorted(own_offsets, rows, side="right"), start + rows, own[rows]


def _find_in_matrices(bits: Array, offsets: Array) -> Iterator[Array]:
    """Yield rows among which are all that share the bits of a row of their user.

    The bits of a user's rows are sorted as one row of a matrix, users of like size together.
    """
    # Runs are cut out longer than they are; the last users get room for it behind them.
    n_roomy = int(np.searchsorted(offsets[:-1], len(bits) - 2 * WIDEST, side="right"))
    if n_roomy < len(offsets) - 1:
        start, stop = offsets[n_roomy], offsets[-1]
        last = np.append(bits[start:stop], np.zeros(2 * WIDEST, np.uint32))
        for rows in _find_in_matrices(last, offsets[n_roomy:] - start):
            yield start + rows
        offsets = offsets[: n_roomy + 1]
    sizes = np.diff(offsets)
    is_narrow = sizes <= WIDEST
    for user in np.flatnonzero(~is_narrow):
        yield offsets[user] + _find_in_row(bits[offsets[user] : offsets[user + 1]])
    by_size = np.flatnonzero((sizes > 1) & is_narrow)
    by_size = by_size[np.argsort(WIDEST - sizes[by_size].astype(np.uint16), kind="stable")]
    # What can be found for all at once is not asked of a few, as with each step of theirs NumPy
    # lets another thread go on that may not be waiting yet.
    starts, sizes = offsets[by_size], sizes[by_size]
    n_rows = np.append(0, np.cumsum(sizes))
    start = 0
    while start < len(by_size):
        width = int(sizes[start])
        stop = start + count_like(n_rows[start:], width)
        own = sizes[start:stop]
        cells = pick_rows(bits, starts[start:stop], width)
        pad_runs(cells, own, PAD)
        sort_rows(cells)
        in_line, width = cells.ravel(), cells.shape[1]
        n_same = np.count_nonzero(in_line[1:] == in_line[:-1])
        # One less than its pads are the same in each row that has any.
        n_padded = stop - start - count_above(own, width - 1)
        if n_same > cells.size - (n_rows[stop] - n_rows[start]) - n_padded:
            n_same = np.count_nonzero(cells[:, 1:] == cells[:, :-1], axis=1)
            is_found = n_same > np.maximum(width - 1 - own, 0)
            yield _rows_of(by_size[start:stop][is_found], offsets)
        start = stop


def _rows_of(users: Array, offsets: Array) -> Array:
    """Return the rows of users."""
    user, number = number_members(np.diff(offsets)[users])
    rows: Array = offsets[users][user] + number
    return rows


def _find_in_row(bits: Array) -> Array:
    """Return the positions of numbers of 32 bits that are there twice."""
    twice = np.concatenate(in_threads(partial(_find_twice, bits), pairwise(_quarters(len(bits)))))
    # A table of some bits leaves out most others; of the rest each is looked up.
    mask = np.uint32((1 << min(28, (16 * len(twice) + 1).bit_length())) - 1)
    is_there = np.zeros(int(mask) + 1, bool)
    is_there[twice & mask] = True
    found = [np.empty(0, np.int64)]
    for start in range(0, len(bits) if len(twice) else 0, BATCH):
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


def _compare(user: Array, bits: Array, keys: Array) -> tuple[Array, Array]:
    """Return the rows whose user has their key in a row before, and the first row of each's pair.

    A user's rows are in ascending order.
    """
    # By 32 bits of the key, and by all of it where those do not tell two keys apart.
    order, begins = sort_numbers(user << 32 | bits)
    first = order[np.flatnonzero(begins)[np.cumsum(begins) - 1]]
    if not np.array_equal(keys[order], keys[first]):
        order = np.lexsort((keys, user))
        begins = np.ones(len(order), bool)
        begins[1:] = (np.diff(user[order]) != 0) | (keys[order][1:] != keys[order][:-1])
        first = order[np.flatnonzero(begins)[np.cumsum(begins) - 1]]
    return order[~begins], first[~begins]
