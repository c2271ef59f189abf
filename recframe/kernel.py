"""Counting: for every relevant row, the rows of its user ranked above it and tied with it.

NumPy only. A score and its row's relevance travel in one integer key: the key orders rows as the
score does, and its lowest bit says whether the row is relevant. So sorting the keys of a user
ranks the rows and carries the relevance along; nothing is ever searched or looked up again.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from recframe.gains import Gains
from recframe.groups import Array, Result, in_threads, sum_by_user, user_bounds
from recframe.places import break_ties, rankable, to_places

CELLS_PER_BLOCK = 1 << 16  # a padded matrix of this size stays in the cache while it is sorted
NARROW = 12  # below this width picking cells is faster than picking windows


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
    gains : Gains, default None
        What the rows and those items add to nDCG; None: 1 where relevant.
    """

    scores: Array
    relevant: Array
    offsets: Array
    n_unranked: Array
    gains: Gains | None = None


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


def map_chunks(function: Callable[[Rankings], Result], rankings: Rankings) -> list[Result]:
    """Apply a function to runs of whole users, in threads when there is more than one run."""
    offsets = rankings.offsets
    bounds = user_bounds(offsets)
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
                None if rankings.gains is None else rankings.gains.part(rows, first, stop),
            )
        )

    return in_threads(run, bounds)


def count(rankings: Rankings, ties: str) -> Counts:
    """Return the counts of every ranked relevant row, ties resolved by the rule named.

    Under "expected" `tied` is the size of the row's tie group; every other rule gives each row a
    place of its own, so that `above` is its position and `tied` is 1.
    """
    sizes = np.diff(rankings.offsets)
    if np.count_nonzero(rankings.relevant[: rankings.offsets[-1]]) <= len(sizes):
        found = np.flatnonzero(rankings.relevant[: rankings.offsets[-1]])
        user = np.searchsorted(rankings.offsets, found, side="right") - 1
        if (user[1:] != user[:-1]).all():
            return _count_single(rankings, sizes, found, user, ties)
    none = (np.empty(0, np.int64),) * 3
    pieces = zip(none, *_count_blocks(rankings, ties), strict=True)
    user, above, tied = (np.concatenate(part) for part in pieces)
    n_relevant = np.bincount(user, minlength=len(sizes)) + rankings.n_unranked
    return Counts(sizes, n_relevant, user, above, tied)


def _count_single(rankings: Rankings, sizes: Array, found: Array, user: Array, ties: str) -> Counts:
    """Return the counts where no user has more than one relevant row, found at these positions.

    Then a user's rows are compared with that one row's score, and nothing is sorted.
    """
    offsets = rankings.offsets
    scores = rankings.scores[: offsets[-1]]
    own = np.zeros(len(sizes), scores.dtype)
    own[user] = scores[found]
    own = np.repeat(own, sizes)
    above = sum_by_user(scores > own, offsets)[user]
    is_tied = scores == own
    tied = sum_by_user(is_tied, offsets)[user]
    if ties in ("first", "last"):
        before = sum_by_user(is_tied, np.stack([offsets[user], found]).T.ravel())[::2]
        above += before if ties == "first" else tied - 1 - before
    elif ties == "worst":
        above += tied - 1
    if ties != "expected":
        tied[:] = 1
    n_relevant = np.bincount(user, minlength=len(sizes)) + rankings.n_unranked
    return Counts(sizes, n_relevant, user, above, tied)


def _count_blocks(rankings: Rankings, ties: str) -> Iterator[tuple[Array, Array, Array]]:
    """Yield (user, above, tied) of the relevant rows, a block of users of like size at a time."""
    for users, keys in sorted_blocks(rankings, ties):
        width = keys.shape[1]
        cells = keys.ravel()
        low_bits = cells.astype(np.uint8)  # only the lowest bit counts, and bytes are fast
        found = np.flatnonzero((low_bits & 1) == _mark(ties))
        row = found // width
        above = found - row * width
        tied = np.ones(len(found), np.int64)
        if ties == "expected":
            _find_ties(cells, found, above, tied)
        yield users[row], above, tied


def sorted_blocks(rankings: Rankings, ties: str) -> Iterator[tuple[Array, Array]]:
    """Yield users of like size and the keys of their rows in ranked order, a row for each user.

    Shifted right by one a key is the place of the row's score; its lowest bit says whether the
    row is relevant, see `_mark`. One pad or more ends the keys of every user: all bits set, but
    for the mark of relevance.
    """
    sizes = np.diff(rankings.offsets)
    n_rows, longest = int(rankings.offsets[-1]), int(sizes.max(initial=0))
    scores = _with_room(rankable(rankings.scores), n_rows + longest + 1)
    relevant = _with_room(rankings.relevant, n_rows + longest + 1)
    by_size = _largest_first(sizes, longest)
    sizes, starts = sizes[by_size], rankings.offsets[by_size]
    first = 0
    while first < len(by_size):
        width = int(sizes[first]) + 1  # one pad at least ends every row: ties never cross users
        stop = min(len(by_size), first + max(1, CELLS_PER_BLOCK // width))
        picked, marked = _pick((scores, relevant), starts[first:stop], width)
        keys = to_places(picked)
        if ties in ("first", "last"):
            keys = break_ties(keys, ties)
        keys += keys  # makes room for the lowest bit
        keys |= marked if _mark(ties) else ~marked
        shortest = int(sizes[stop - 1])
        is_pad = np.arange(shortest, width) >= sizes[first:stop, None]
        # A pad sorts last and is not relevant; no row has its place.
        keys[:, shortest:][is_pad] = np.iinfo(keys.dtype).max - _mark(ties)
        keys.sort(axis=1)
        yield by_size[first:stop], keys
        first = stop


def _mark(ties: str) -> int:
    """Return the lowest bit of a relevant row's key: last in a tie, under "best" first."""
    return 0 if ties == "best" else 1


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


def _pick(arrays: tuple[Array, ...], starts: Array, width: int) -> list[Array]:
    """Return, of each array, the runs of this width at the starts, as rows of a new matrix."""
    if width < NARROW:
        cells = starts[:, None] + np.arange(width)
        return [array.take(cells) for array in arrays]
    # Overlapping windows, a view: to pick windows copies whole runs, not single cells.
    return [
        as_strided(array, (len(array) - width + 1, width), array.strides * 2)[starts]
        for array in arrays
    ]


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


def rank_rows(rankings: Rankings, ties: str) -> Array:
    """Return the places of each row in its user's ranking, an array of shape (2, n_rows).

    Rows that a rule does not tell apart (all of a tie under "expected", those of the same
    relevance under "best" and "worst") share places: the first array holds the first of them,
    the second their mean. Places start at 1.
    """
    user = np.repeat(np.arange(len(rankings.offsets) - 1), np.diff(rankings.offsets))
    row = np.arange(len(user))
    keys = [user, to_places(rankable(rankings.scores[: len(row)]).copy())]
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
