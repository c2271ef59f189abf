"""Hits: the relevant rows among the first positions, in expectation over tied rows. NumPy only."""

from collections.abc import Iterator, Sequence

import numpy as np

from recframe.kernel.counting import Counts, find_inside
from recframe.kernel.grouping import number_members, run_sizes, run_starts
from recframe.kernel.threads import Array
from recframe.metrics.falling import find_ends

Hits = tuple[Array, Array]  # numerator and denominator


def expected_hits(counts: Counts, cut_offs: Sequence[int]) -> Iterator[tuple[int, Hits]]:
    """Yield cut-offs, from the last one up, and the expected relevant rows above each, by user.

    A tie group wholly above the cut counts fully; of the one group across it, (cut - above) of
    its `tied` rows come first in expectation. The numerator and the denominator, which is the
    size of such a group or 1, are whole numbers, so that a metric divides once and its value is the
    nearest float to the exact one. Every row is looked at once, however many cut-offs there are,
    which are in increasing order and differ.

    Three tied rows at the top, one of them relevant, and k = 2: two of the three come first, so
    that hits@2 = (2 - 0) * 1 / 3, numerator 2 and denominator 3. `positions` adds up to the same:
    the row stands at 1, 2 or 3 with probability 1/3 each, and two of these are among the first
    two; so reciprocal_rank@2 = 1/3 / 1 + 1/3 / 2 = 1/2.
    """
    n_users = len(counts.n_ranked)
    inside = find_inside(counts.above, cut_offs[-1])
    user, above, tied = counts.user[inside], counts.above[inside], counts.tied[inside]
    total = np.bincount(user, minlength=n_users)
    # The rows of a group stand together: the first one speaks for all.
    starts = run_starts(user, above)
    n_relevant = run_sizes(starts, len(user))
    ends = find_ends((above + tied)[starts], cut_offs)
    first = starts[ends.order]
    user, above, tied, n_relevant = user[first], above[first], tied[first], n_relevant[ends.order]
    # What is known of the group that is, or was further down, across the cut:
    # where it begins, its rows, and the relevant ones.
    cut: Array | None = None
    for index in range(len(cut_offs) - 1, -1, -1):
        k, own = cut_offs[index], ends.at(index + 1)
        np.subtract.at(total, user[own], n_relevant[own])
        across = own.start + np.flatnonzero(above[own] < k)
        if len(across):
            if cut is None:
                cut = np.array([[0], [1], [0]]).repeat(n_users, axis=1)
            cut[:, user[across]] = above[across], tied[across], n_relevant[across]
        if cut is None:
            yield k, (total.copy(), np.broadcast_to(np.int64(1), n_users))
        else:
            begin, size, of_group = cut
            hits = total * size
            hits += of_group * np.maximum(k - begin, 0)
            yield k, (hits, size.copy())


def expected_hits_at(counts: Counts, cut_off: Array) -> Hits:
    """Return what `expected_hits` does where each user has a cut-off of its own."""
    n_users = len(counts.n_ranked)
    room = cut_off[counts.user] - counts.above
    whole = counts.tied <= room
    hits = np.bincount(counts.user[whole], minlength=n_users)
    across = np.flatnonzero((room > 0) & ~whole)
    if len(across) == 0:
        return hits, np.broadcast_to(np.int64(1), n_users)
    # Of each user there is but one such group, and each of its relevant rows adds the room.
    user = counts.user[across]
    sizes, added = np.ones(n_users, np.int64), np.bincount(user, minlength=n_users)
    sizes[user] = counts.tied[across]
    added[user] *= room[across]
    return hits * sizes + added, sizes


def probability_of_all(counts: Counts, cut_off: int, hits: Hits) -> Array:
    """Return the probability that all relevant items are among the first rows, given hits there.

    It is 1 or 0, but where a tie across the cut holds the last m of them. Of the orders of its t
    rows C(t - m, r - m) of C(t, r) have all m among the r above the cut: the product of
    (r - i) / (t - i) over i < m.
    """
    _, n_relevant, user, above, tied, _ = counts
    n_users, (n_found, sizes) = len(n_relevant), hits
    probability = np.where(n_found == n_relevant * sizes, 1.0, 0.0)
    if sizes.max(initial=1) == 1:
        return probability
    n_found = np.bincount(user[above + tied <= cut_off], minlength=n_users)
    across = np.flatnonzero((above < cut_off) & (above + tied > cut_off))
    first = across[run_starts(user[across])]  # of each user there is but one such tie
    n_in_tie = np.bincount(user[across], minlength=n_users)[user[first]]
    room = cut_off - above[first]
    is_open = (n_found[user[first]] + n_in_tie == n_relevant[user[first]]) & (n_in_tie <= room)
    first, n_in_tie, room = first[is_open], n_in_tie[is_open], room[is_open]
    tie, nth = number_members(n_in_tie)
    factors = (room[tie] - nth) / (tied[first][tie] - nth)
    if len(first):
        probability[user[first]] = np.multiply.reduceat(factors, np.flatnonzero(nth == 0))
    return probability
