"""Counting: for every relevant row, the rows of its user ranked above it and tied with it.

NumPy only. A score and its row's relevance travel in one integer key: the key orders rows as the
score does, and its lowest bit says whether the row is relevant. So sorting the keys of a user
ranks the rows and carries the relevance along; nothing is ever searched or looked up again.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

Array = NDArray[Any]
Result = TypeVar("Result")

ROWS_PER_CHUNK = 1 << 20  # what one thread takes at a time; its keys are 8 MB
CELLS_PER_BLOCK = 1 << 16  # a padded matrix of this size stays in the cache while it is sorted
MAX_INTEGER = 1 << 61  # the keys of larger scores would need more than 64 bits


class Rankings(NamedTuple):
    """Rows of many users, grouped by user.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,) or longer, real
        The values rows are ranked by, highest first; no NaN. What follows the last user's rows is
        never looked at.
    relevant : ndarray of shape (n_rows,) or longer, bool
        Whether a row is relevant.
    offsets : ndarray of shape (n_users + 1,), int
        The rows of user i are ``offsets[i]:offsets[i + 1]``.
    n_unranked : ndarray of shape (n_users,), int
        Relevant items of the user that are not among these rows.
    """

    scores: Array
    relevant: Array
    offsets: Array
    n_unranked: Array


class Counts(NamedTuple):
    """What every metric is computed from: integers, per user and per ranked relevant row.

    Parameters
    ----------
    n_ranked : ndarray of shape (n_users,), int
        Rows in the user's ranking.
    n_relevant : ndarray of shape (n_users,), int
        Relevant items of the user, ranked or not (R in formulas).
    user : ndarray of shape (n_rows,), int
        The user of each ranked relevant row, as an index into the arrays above.
    above : ndarray of shape (n_rows,), int
        Rows of that user that are ranked above it.
    tied : ndarray of shape (n_rows,), int
        Rows of that user that share its place, itself included.
    """

    n_ranked: Array
    n_relevant: Array
    user: Array
    above: Array
    tied: Array


def group_rows(codes: Array, n_users: int) -> tuple[Array, Array]:
    """Return the stable order that groups rows by code, and the offsets of the groups."""
    if len(codes) < 1 << 32:
        # Code and row number in one integer: sorting values is ten times as fast as argsort.
        packed = codes.astype(np.uint64)
        packed <<= np.uint64(32)
        packed |= np.arange(len(codes), dtype=np.uint64)
        packed.sort()
        packed &= np.uint64(0xFFFFFFFF)
        order = packed.view(np.int64)
    else:
        order = np.argsort(codes, kind="stable")
    return order, group_offsets(np.bincount(codes, minlength=n_users))


def group_offsets(sizes: Array) -> Array:
    """Return the offsets of groups of these sizes."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def run_starts(values: Array) -> Array:
    """Return the positions of the values that differ from the one before; the first does."""
    differs = np.ones(len(values), bool)

    def compare(start: int, stop: int) -> None:
        np.not_equal(values[start:stop], values[start - 1 : stop - 1], out=differs[start:stop])

    _in_slices(compare, 1, len(values))
    return np.flatnonzero(differs)


def any_nan(values: Array) -> bool:
    """Return whether a float is NaN."""
    # The minimum is NaN where any value is; it is found without an array of flags.
    minima = _in_slices(lambda start, stop: values[start:stop].min(), 0, len(values))
    return any(np.isnan(minimum) for minimum in minima)


def _in_slices(function: Callable[[int, int], Result], start: int, stop: int) -> list[Result]:
    """Call a function with the bounds of equal slices, one for each thread, where that pays."""
    n_slices = max(1, min(_n_processors(), (stop - start) // ROWS_PER_CHUNK))
    if stop <= start:
        return []
    if n_slices == 1:
        return [function(start, stop)]
    bounds = np.linspace(start, stop, n_slices + 1).astype(int).tolist()
    with ThreadPoolExecutor(n_slices) as pool:
        return list(pool.map(function, bounds[:-1], bounds[1:]))


def sum_by_user(flags: Array, offsets: Array) -> Array:
    """Return how many flags are set in each group."""
    counted = np.zeros(len(flags) + 1, np.int64)
    np.cumsum(flags, out=counted[1:])
    return np.diff(counted[offsets])


def map_chunks(function: Callable[[Rankings], Result], rankings: Rankings) -> list[Result]:
    """Apply a function to runs of whole users, in threads when there is more than one run."""
    offsets = rankings.offsets
    n_users = len(offsets) - 1
    # A run begins with the first user at or after each multiple of the chunk size.
    marks = np.arange(0, offsets[-1], ROWS_PER_CHUNK)
    bounds = np.unique(np.append(np.searchsorted(offsets[:-1], marks), n_users))
    if len(bounds) <= 2:
        return [function(rankings)]

    longest = int(np.diff(offsets).max())

    def run(first: int, stop: int) -> Result:
        # Some rows more than its own, so that the windows of the last user need no copy.
        rows = slice(offsets[first], offsets[stop] + longest + 1)
        return function(
            Rankings(
                rankings.scores[rows],
                rankings.relevant[rows],
                offsets[first : stop + 1] - offsets[first],
                rankings.n_unranked[first:stop],
            )
        )

    with ThreadPoolExecutor(min(len(bounds) - 1, _n_processors())) as pool:
        return list(pool.map(run, bounds[:-1].tolist(), bounds[1:].tolist()))


def _n_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def count(rankings: Rankings, ties: str) -> Counts:
    """Return the counts of every ranked relevant row, ties resolved by the rule named.

    Under "expected" `tied` is the size of the row's tie group; every other rule gives each row a
    place of its own, so that `above` is its position and `tied` is 1.
    """
    sizes = np.diff(rankings.offsets)
    try:
        pieces = list(_count_blocks(rankings, sizes, ties))
    except FloatingPointError:  # no one scale holds these scores, see _float_places
        ranks = _ranks(rankings.scores)
        pieces = list(_count_blocks(rankings._replace(scores=ranks), sizes, ties))
    none = (np.empty(0, np.int64),) * 3
    user, above, tied = (np.concatenate(part) for part in zip(none, *pieces, strict=True))
    n_relevant = np.bincount(user, minlength=len(sizes)) + rankings.n_unranked
    return Counts(sizes, n_relevant, user, above, tied)


def _count_blocks(
    rankings: Rankings, sizes: Array, ties: str
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield (user, above, tied) of the relevant rows, a block of users of like size at a time."""
    n_rows, longest = int(rankings.offsets[-1]), int(sizes.max(initial=0))
    scores = _rankable(rankings.scores)
    scores = _with_room(scores, n_rows + longest + 1)
    relevant = _with_room(rankings.relevant, n_rows + longest + 1)
    by_size = _largest_first(sizes, longest)
    sizes, starts = sizes[by_size], rankings.offsets[by_size]
    # Sorted by key, relevant rows come last in their tie group, or under "best" first.
    mark = 0 if ties == "best" else 1
    first = 0
    while first < len(by_size):
        width = int(sizes[first]) + 1  # one pad at least ends every row: ties never cross users
        stop = min(len(by_size), first + max(1, CELLS_PER_BLOCK // width))
        picked = starts[first:stop]
        keys = _places(_windows(scores, width)[picked])
        marked = _windows(relevant, width)[picked]
        keys += keys  # makes room for the lowest bit
        keys |= marked if mark else ~marked
        shortest = int(sizes[stop - 1])
        is_pad = np.arange(shortest, width) >= sizes[first:stop, None]
        # A pad sorts last and is not relevant; no row has its place.
        keys[:, shortest:][is_pad] = np.iinfo(keys.dtype).max - mark
        keys = _sorted(keys, ties)
        cells = keys.ravel()
        low_bits = cells.astype(np.uint8)  # only the lowest bit counts, and bytes are fast
        found = np.flatnonzero((low_bits & 1) == mark)
        row = found // width
        above = found - row * width
        tied = np.ones(len(found), np.int64)
        if ties == "expected":
            _find_ties(cells, found, above, tied)
        yield by_size[first + row], above, tied
        first = stop


def _find_ties(cells: Array, found: Array, above: Array, tied: Array) -> None:
    """Move the found cells to the start of their tie groups and set the sizes of the groups."""
    place = cells[found] >> 1
    in_tie = np.flatnonzero((place == cells[found + 1] >> 1) | (place == cells[found - 1] >> 1))
    if len(in_tie) == 0:
        return
    changes = (cells[1:] >> 1) != (cells[:-1] >> 1)
    starts = np.concatenate(([0], np.flatnonzero(changes) + 1, [len(cells)]))
    group = np.searchsorted(starts, found[in_tie], side="right") - 1
    above[in_tie] -= found[in_tie] - starts[group]
    tied[in_tie] = starts[group + 1] - starts[group]


def _sorted(keys: Array, ties: str) -> Array:
    """Return every row of keys sorted; under "first" and "last" keys of one place by column."""
    if ties not in ("first", "last"):
        keys.sort(axis=1)
        return keys
    step = 1 if ties == "first" else -1
    order = np.argsort(keys[:, ::step] >> 1, axis=1, kind="stable")
    return np.take_along_axis(keys[:, ::step], order, axis=1)


def _windows(array: Array, width: int) -> Array:
    """Return overlapping windows of an array, a view: to pick windows copies runs, not cells."""
    shape = (len(array) - width + 1, width)
    return as_strided(array, shape, array.strides * 2, writeable=False)


def _with_room(array: Array, length: int) -> Array:
    """Return an array of this length at least, so that windows do not pass its end."""
    if len(array) >= length:
        return array
    longer = np.zeros(length, array.dtype)
    longer[: len(array)] = array
    return longer


def _largest_first(sizes: Array, longest: int) -> Array:
    """Return the order of users from the largest to the smallest."""
    # 16-bit integers are sorted by radix, ten times as fast.
    order_by = (longest - sizes).astype(np.uint16 if longest < 1 << 16 else np.int64)
    return np.argsort(order_by, kind="stable")


def _bounds(scores: Array) -> tuple[Any, Any]:
    """Return the smallest and the largest score, zeros where there is none."""
    return (scores.min(), scores.max()) if scores.size else (0, 0)


def _rankable(scores: Array) -> Array:
    """Return scores, or integers in the same order where `_places` does not take their type."""
    kind, n_bytes = scores.dtype.kind, scores.itemsize
    if kind == "f" and n_bytes == 2:
        return scores.astype(np.float32)
    if kind == "f" and n_bytes in (4, 8):
        return scores
    if kind in "iu":
        low, high = _bounds(scores) if n_bytes == 8 else (0, 0)
        if low >= -MAX_INTEGER and high <= MAX_INTEGER:
            return scores
    return _ranks(scores)


def _ranks(values: Array) -> Array:
    """Return the position of each value among the distinct values, smallest first."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _places(scores: Array) -> Array:
    """Return integers that fall as scores rise and are equal where scores are equal.

    The highest bit and the one below it are left free. The scores given are overwritten.
    """
    if scores.dtype.kind == "f":
        return _float_places(scores)
    places: Array = scores.astype(np.int32 if scores.itemsize <= 2 else np.int64)
    return np.negative(places, out=places)


def _float_places(scores: Array) -> Array:
    """Return the bits of floats as integers that fall as the floats rise.

    Positive floats sort as their bits do; of a negative one all bits but the sign are flipped.
    With values of both signs that takes every bit; but below 2 in magnitude the highest bit of
    the exponent is 0. So larger values are first scaled by a power of two, which is exact unless
    tiny values underflow: then `FloatingPointError`.
    """
    integer = np.int32 if scores.itemsize == 4 else np.int64
    low, high = _bounds(scores)
    if low >= 0:
        scores += 0.0  # makes -0.0 and 0.0 one value
        places: Array = scores.view(integer)
        middle = int(np.array(np.inf, scores.dtype).view(integer)) >> 1
        return np.subtract(middle, places, out=places)
    largest = max(-low, high)
    if largest > 1.5:
        if np.isinf(largest):
            finite = scores[np.isfinite(scores)]
            largest = np.abs(finite).max(initial=0.0)
        exponent = max(0, int(np.frexp(largest)[1]))
        with np.errstate(under="raise"):
            scores *= scores.dtype.type(2.0**-exponent)
        np.clip(scores, -1.5, 1.5, out=scores)  # only infinities are that large now
    np.subtract(0.0, scores, out=scores)
    places = scores.view(integer)
    places ^= (places >> (8 * places.itemsize - 1)) & np.iinfo(integer).max
    return places


def rank_rows(rankings: Rankings, ties: str) -> Array:
    """Return the places of each row in its user's ranking, an array of shape (2, n_rows).

    Rows that a rule does not tell apart (all of a tie under "expected", those of the same
    relevance under "best" and "worst") share places: the first array holds the first of them,
    the second their mean. Places start at 1.
    """
    user = np.repeat(np.arange(len(rankings.offsets) - 1), np.diff(rankings.offsets))
    row = np.arange(len(user))
    scores = _rankable(rankings.scores[: len(row)])
    try:
        places = _places(scores.copy())
    except FloatingPointError:
        places = np.negative(_ranks(scores))
    keys = [user, places]
    if ties in ("first", "last"):
        keys.append(row if ties == "first" else -row)
    elif ties in ("best", "worst"):
        relevant = rankings.relevant[: len(row)]
        keys.append(~relevant if ties == "best" else relevant)
    order = np.lexsort(keys[::-1])
    begins = np.ones(len(row) + 1, bool)
    begins[1:-1] = False
    for key in keys:
        ordered = key[order]
        begins[1:-1] |= ordered[1:] != ordered[:-1]
    bounds = np.flatnonzero(begins)
    shared = np.stack([bounds[:-1] + 1, (bounds[:-1] + bounds[1:] + 1) / 2])
    positions = np.empty((2, len(row)))
    # A user's rows stay together, so the i-th row in order belongs to the same user as row i.
    positions[:, order] = np.repeat(shared, np.diff(bounds), axis=1) - rankings.offsets[user]
    return positions
