"""Ties: how many rows share a score, and what that can change at a cut-off. NumPy only."""

from typing import NamedTuple

import numpy as np

from recframe.kernel.grouping import Array, sum_by_user
from recframe.kernel.rankings import Rankings
from recframe.kernel.sorting import sorted_blocks


class TieCounts(NamedTuple):
    """What ties there are, per user.

    Parameters
    ----------
    n_relevant : ndarray of shape (n_users,), int
        Relevant rows in the user's ranking.
    n_tied : ndarray of shape (n_users,), int
        Rows that share their score with another row.
    is_cut : ndarray of shape (n_users,), bool
        Whether the k-th and the next row share a score.
    most_hits : ndarray of shape (n_users,), int
        Relevant rows among the first k, relevant rows of a tie first.
    fewest_hits : ndarray of shape (n_users,), int
        Relevant rows among the first k, relevant rows of a tie last.
    """

    n_relevant: Array
    n_tied: Array
    is_cut: Array
    most_hits: Array
    fewest_hits: Array


def count_ties(rankings: Rankings, k: int) -> TieCounts:
    """Return what ties there are in every user's ranking, in one sort."""
    n_users = len(rankings.offsets) - 1
    n_relevant = sum_by_user(rankings.relevant, rankings.offsets)
    n_tied, most_hits, fewest_hits = np.zeros((3, n_users), np.int64)
    is_cut = np.zeros(n_users, bool)
    for users, keys, shared in sorted_blocks(rankings, "best"):
        is_relevant = (keys & 1) == 0
        most_hits[users] = fewest_hits[users] = is_relevant[:, :k].sum(axis=1)
        if shared is None:
            continue
        is_tied = shared.copy()
        is_tied[:, 1:] |= shared[:, :-1]
        n_tied[users] = _sums(is_tied)
        if k < keys.shape[1]:
            cut = np.flatnonzero(shared[:, k - 1])
            is_cut[users[cut]] = True
            fewest_hits[users[cut]] -= _at_stake(keys[cut] >> 1, is_relevant[cut], k)
    return TieCounts(n_relevant, n_tied, is_cut, most_hits, fewest_hits)


def count_repeats(rankings: Rankings) -> int:
    """Return how many rows repeat the score of another row of their user; all are not relevant."""
    blocks = sorted_blocks(rankings, "best")
    return sum(int(np.count_nonzero(shared)) for _, _, shared in blocks if shared is not None)


def _sums(flags: Array) -> Array:
    """Return how many flags each row has."""
    return sum_by_user(flags.ravel(), np.arange(0, flags.size + 1, flags.shape[1]))


def _at_stake(places: Array, is_relevant: Array, k: int) -> Array:
    """Return the hits that the order of the group across the cut decides, for each user."""
    in_group = places == places[:, k - 1 : k]
    n_relevant = _sums(in_group & is_relevant)
    n_others = _sums(in_group) - n_relevant
    room = k - in_group.argmax(axis=1)
    stake: Array = np.minimum(n_relevant, room) - np.maximum(room - n_others, 0)
    return stake
