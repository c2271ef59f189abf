"""Ties: how many rows share a score, and what that can change at a cut-off. NumPy only."""

from typing import NamedTuple

import numpy as np

from recframe.groups import Array, sum_by_user
from recframe.kernel import Rankings, sorted_blocks


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
    n_relevant = sum_by_user(rankings.relevant[: rankings.offsets[-1]], rankings.offsets)
    n_tied, most_hits, fewest_hits = np.zeros((3, n_users), np.int64)
    is_cut = np.zeros(n_users, bool)
    for users, keys, has_ties in sorted_blocks(rankings, "best"):
        is_relevant = (keys & 1) == 0
        most_hits[users] = fewest_hits[users] = is_relevant[:, :k].sum(axis=1)
        if not has_ties:
            continue
        places = keys >> 1
        repeats = places[:, 1:] == places[:, :-1]
        repeats &= keys[:, 1:] != np.iinfo(keys.dtype).max
        is_tied = np.zeros(keys.shape, bool)
        is_tied[:, 1:] = repeats
        is_tied[:, :-1] |= repeats
        n_tied[users] = _sums(is_tied)
        if k < keys.shape[1]:
            cut = np.flatnonzero(repeats[:, k - 1])
            is_cut[users[cut]] = True
            fewest_hits[users[cut]] -= _at_stake(places[cut], is_relevant[cut], k)
    return TieCounts(n_relevant, n_tied, is_cut, most_hits, fewest_hits)


def count_repeats(rankings: Rankings) -> int:
    """Return how many rows repeat the score of another row of their user; all are not relevant."""
    n_repeats = 0
    for users, keys, has_ties in sorted_blocks(rankings, "best"):
        if not has_ties:
            continue
        n_rows = np.diff(rankings.offsets)[users].sum()
        n_repeated_pads = keys.size - n_rows - len(users)  # each user's pads but the first
        n_repeats += int(np.count_nonzero(keys[:, 1:] == keys[:, :-1]) - n_repeated_pads)
    return n_repeats


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
