"""Counting: for every relevant row, the rows of its user ranked above it and tied with it.

NumPy only. The rows come sorted, see `order`: counting is to see where the relevant ones stand.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from recframe.kernel.grouping import Array, find_flags, sum_by_user
from recframe.kernel.rankings import Rankings
from recframe.kernel.sort_keys import rankable, to_places
from recframe.kernel.sorting import mark, sorted_blocks


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


class Depth(NamedTuple):
    """How far down each ranking is looked at.

    Parameters
    ----------
    k : int
        So many rows, in any case.
    at_n_relevant : bool
        Whether down to R rows too, the number of the user's relevant items.
    """

    k: int
    at_n_relevant: bool


def count(rankings: Rankings, ties: str, depth: Depth | None = None) -> Counts:
    """Return the counts of ranked relevant rows, ties resolved by the rule named.

    Under "expected" `tied` is the size of the row's tie group; every other rule gives each row a
    place of its own, so that `above` is its position and `tied` is 1. Rows that have as many rows
    above them as the depth says, or more, are left out; None: no row is.
    """
    sizes = np.diff(rankings.offsets)
    n_ranked_relevant = sum_by_user(rankings.relevant, rankings.offsets)
    n_relevant = n_ranked_relevant + rankings.n_unranked
    depths = sizes
    if depth is not None:
        deepest = np.maximum(n_relevant, depth.k) if depth.at_n_relevant else depth.k
        depths = np.minimum(deepest, sizes)
    depths = np.where(n_ranked_relevant == 0, 0, depths)  # nothing to find, nothing to rank
    if n_ranked_relevant.max(initial=0) <= 1:
        rows = _count_single(rankings, sizes, ties)
    else:
        none = (np.empty(0, np.int64),) * 3
        blocks = zip(none, *_count_blocks(rankings, ties, depths), strict=True)
        rows = [np.concatenate(parts) for parts in blocks]
    if depth is not None:
        user, above, _ = rows
        inside = np.flatnonzero(above < depths[user])
        rows = [column[inside] for column in rows]
    return Counts(sizes, n_relevant, *rows)


def _count_single(rankings: Rankings, sizes: Array, ties: str) -> list[Array]:
    """Return (user, above, tied) of the relevant rows where no user has more than one relevant row.

    Then a user's rows are compared with that one row's score, and nothing is sorted.
    """
    offsets = rankings.offsets
    scores = rankings.scores
    found = np.flatnonzero(rankings.relevant)
    user = np.searchsorted(offsets, found, side="right") - 1
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
    return [user, above, tied]


def _count_blocks(
    rankings: Rankings, ties: str, depths: Array
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield (user, above, tied) of the relevant rows, a block of users of like size at a time."""
    for users, keys, shared in sorted_blocks(rankings, ties, depths):
        width = keys.shape[1]
        marks = keys.astype(np.uint8).ravel()  # only the lowest bit counts, and bytes are fast
        marks &= 1
        if not mark(ties):
            marks ^= 1
        found = find_flags(marks.view(bool))
        row = found // width
        above = found - row * width
        tied = np.ones(len(found), np.int64)
        if shared is not None and ties == "expected":
            _find_ties(shared.ravel(), found, above, tied)
        yield users[row], above, tied


def _find_ties(shared: Array, found: Array, above: Array, tied: Array) -> None:
    """Move the found cells to the start of their tie groups and set the sizes of the groups."""
    in_tie = np.flatnonzero(shared[found] | shared[found - 1])
    if len(in_tie) == 0:
        return
    before = np.append(False, shared[:-1])
    starts = find_flags(shared > before)
    sizes = find_flags(shared < before) + 1 - starts
    group = np.searchsorted(starts, found[in_tie], side="right") - 1
    above[in_tie] -= found[in_tie] - starts[group]
    tied[in_tie] = sizes[group]


def rank_rows(rankings: Rankings, ties: str) -> Array:
    """Return the places of each row in its user's ranking, an array of shape (2, n_rows).

    Rows that a rule does not tell apart (all of a tie under "expected", those of the same
    relevance under "best" and "worst") share places: the first array holds the first of them,
    the second their mean. Places start at 1.
    """
    user = np.repeat(np.arange(len(rankings.offsets) - 1), np.diff(rankings.offsets))
    row = np.arange(len(user))
    keys = [user, to_places(rankable(rankings.scores).copy())]
    if ties in ("first", "last"):
        keys.append(row if ties == "first" else -row)
    elif ties in ("best", "worst"):
        relevant = rankings.relevant
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
