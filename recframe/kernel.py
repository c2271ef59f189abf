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


class Rankings(NamedTuple):
    """Rows of many users, grouped by user.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,), real
        The values rows are ranked by, highest first; no NaN.
    relevant : ndarray of shape (n_rows,), bool
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

    def run(first: int, stop: int) -> Result:
        rows = slice(offsets[first], offsets[stop])
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
    places = _places(rankings.scores)
    if ties in ("first", "last"):
        places = _number_rows(places, rankings.offsets, ties)
    # Relevant rows sort before the others of their tie group, or under "worst" after them.
    relevant_bit = 1 if ties == "worst" else 0
    keys = _with_bit(places, rankings.relevant, relevant_bit, int(sizes.max(initial=0)))
    none = (np.empty(0, np.int64),) * 3
    blocks = _read_blocks(keys, sizes, rankings.offsets, relevant_bit, ties == "expected")
    pieces = [none, *blocks]
    user, above, tied = (np.concatenate(part) for part in zip(*pieces, strict=True))
    n_relevant = np.bincount(user, minlength=len(sizes)) + rankings.n_unranked
    return Counts(sizes, n_relevant, user, above, tied)


def sorted_keys(rankings: Rankings) -> Iterator[tuple[Array, Array]]:
    """Yield users of like size and the keys of their rows in ranked order, a row for each user.

    Shifted right by one a key is the place of the row's score; its lowest bit is 0 where the row
    is relevant, so that relevant rows come first among tied ones. Pads, all bits set, end a row.
    """
    sizes = np.diff(rankings.offsets)
    longest = int(sizes.max(initial=0))
    keys = _with_bit(_places(rankings.scores), rankings.relevant, 0, longest)
    return _sorted_blocks(keys, sizes, rankings.offsets, np.iinfo(keys.dtype).max)


def _read_blocks(
    keys: Array, sizes: Array, offsets: Array, relevant_bit: int, find_ties: bool
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield (user, above, tied) of the relevant rows, a block of users of like size at a time."""
    pad = np.iinfo(keys.dtype).max - relevant_bit  # sorts last and is not relevant
    for users, block in _sorted_blocks(keys, sizes, offsets, pad):
        cells = block.ravel()
        found = np.flatnonzero((cells & 1) == relevant_bit)
        row = found // block.shape[1]
        above = found - row * block.shape[1]
        tied = np.ones(len(found), np.int64)
        if find_ties:
            _find_ties(cells, found, above, tied)
        yield users[row], above, tied


def _sorted_blocks(
    keys: Array, sizes: Array, offsets: Array, pad: int
) -> Iterator[tuple[Array, Array]]:
    """Yield users of like size and their sorted keys, a row for each and pads behind."""
    by_size = np.argsort(-sizes, kind="stable")
    sizes, starts = sizes[by_size], offsets[by_size]
    first = 0
    while first < len(by_size):
        width = int(sizes[first]) + 1  # one pad at least ends every row: ties never cross users
        stop = min(len(by_size), first + max(1, CELLS_PER_BLOCK // width))
        # Overlapping windows of the keys: picking windows copies whole runs, not single cells.
        windows = as_strided(
            keys, (len(keys) - width + 1, width), (keys.itemsize, keys.itemsize), writeable=False
        )
        block = windows[starts[first:stop]]
        shortest = int(sizes[stop - 1])
        block[:, shortest:][np.arange(shortest, width) >= sizes[first:stop, None]] = pad
        block.sort(axis=1)
        yield by_size[first:stop], block
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


def _with_bit(places: Array, relevant: Array, relevant_bit: int, longest: int) -> Array:
    """Return keys: places with the relevance in the lowest bit, and room for one more window."""
    keys = np.empty(len(places) + longest + 1, places.dtype)
    filled = keys[: len(places)]
    np.left_shift(places, 1, out=filled)
    np.bitwise_or(filled, relevant if relevant_bit else ~relevant, out=filled)
    keys[len(places) :] = 0
    return keys


def _places(scores: Array) -> Array:
    """Return integers that fall as scores rise and are equal where scores are equal.

    The integers leave the highest bit and the one below it free.
    """
    if scores.dtype.kind == "f" and scores.itemsize in (4, 8):
        places = _float_places(scores)
    elif scores.dtype.kind == "f" and scores.itemsize == 2:
        places = _float_places(scores.astype(np.float32))
    elif scores.dtype.kind in "iu":
        places = _integer_places(scores)
    else:
        places = None
    return np.negative(_ranks(scores)) if places is None else places


def _integer_places(scores: Array) -> Array | None:
    """Return the negated integers, or None where they need more than 62 bits."""
    limit = 1 << 61
    if scores.itemsize == 8 and len(scores) and (scores.max() > limit or scores.min() < -limit):
        return None
    narrow = scores.itemsize <= 2
    places: Array = np.negative(scores.astype(np.int32 if narrow else np.int64))
    return places


def _float_places(scores: Array) -> Array | None:
    """Return the bits of floats as ordered integers, or None where one bit would be lost.

    Positive floats sort as their bits do; of a negative one all bits but the sign are flipped.
    With values of both signs that takes every bit; but below 2 in magnitude the highest bit of
    the exponent is 0. So larger values are first scaled by a power of two, which is exact unless
    tiny values underflow.
    """
    integer = np.int32 if scores.itemsize == 4 else np.int64
    largest_integer = np.iinfo(integer).max
    low, high = (scores.min(), scores.max()) if len(scores) else (0.0, 0.0)
    if low >= 0:
        # + 0.0 makes -0.0 and 0.0 one value
        places: Array = (_bits(np.inf, scores.dtype) >> 1) - (scores + 0.0).view(integer)
        return places
    if max(-low, high) > 1.5:
        finite = scores[np.isfinite(scores)] if np.isinf(max(-low, high)) else scores
        exponent = max(0, int(np.frexp(np.abs(finite).max(initial=0.0))[1]))
        scale = scores.dtype.type(2.0**-exponent)
        scaled = scores * scale
        if not np.array_equal(scaled / scale, scores):
            return None
        scores = np.clip(scaled, -1.5, 1.5)  # only infinities are that large now
    bits: Array = (0.0 - scores).view(integer)
    bits ^= (bits >> (8 * scores.itemsize - 1)) & largest_integer
    return bits


def _bits(value: float, dtype: np.dtype[Any]) -> int:
    """Return the bits of a float of this type as an integer."""
    return int(np.array(value, dtype).view(f"i{dtype.itemsize}"))


def _ranks(values: Array) -> Array:
    """Return the position of each value among the distinct values, smallest first."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _number_rows(places: Array, offsets: Array, ties: str) -> Array:
    """Return places that also tell tied rows apart, by row order or its reverse."""
    sizes = np.diff(offsets)
    row = np.arange(len(places)) - np.repeat(offsets[:-1], sizes)
    if ties == "last":
        row = np.repeat(sizes, sizes) - 1 - row
    row_bits = int(sizes.max(initial=0)).bit_length()
    spread = places.astype(np.int64) - places.min(initial=0)
    # Ratings and the like leave low bits unused by all: without those the rest has room.
    used = int(np.bitwise_or.reduce(spread, initial=0))
    spread >>= max((used & -used).bit_length() - 1, 0)
    if int(spread.max(initial=0)).bit_length() + row_bits > 62:
        spread = _ranks(places)
    numbered: Array = (spread << row_bits) | row
    return numbered


def rank_rows(rankings: Rankings, ties: str) -> Array:
    """Return the places of each row in its user's ranking, an array of shape (2, n_rows).

    Rows that a rule does not tell apart (all of a tie under "expected", those of the same
    relevance under "best" and "worst") share places: the first array holds the first of them,
    the second their mean. Places start at 1.
    """
    user = np.repeat(np.arange(len(rankings.offsets) - 1), np.diff(rankings.offsets))
    row = np.arange(len(user))
    keys = [user, _places(rankings.scores)]
    if ties in ("first", "last"):
        keys.append(row if ties == "first" else -row)
    elif ties in ("best", "worst"):
        keys.append(~rankings.relevant if ties == "best" else rankings.relevant)
    order = np.lexsort(keys[::-1])
    begins = np.ones(len(row) + 1, bool)
    begins[1:-1] = False
    for key in keys:
        ordered = key[order]
        begins[1:-1] |= ordered[1:] != ordered[:-1]
    bounds = np.flatnonzero(begins)
    shared = np.stack([bounds[:-1] + 1, (bounds[:-1] + bounds[1:] + 1) / 2])
    places = np.empty((2, len(row)))
    # A user's rows stay together, so the i-th row in order belongs to the same user as row i.
    places[:, order] = np.repeat(shared, np.diff(bounds), axis=1) - rankings.offsets[user]
    return places
