"""Ties: how many rows share a score, and what that can change at a cut-off. NumPy only."""

from typing import NamedTuple

import numpy as np

from recframe.kernel import Array, Rankings, sorted_keys


class TieCounts(NamedTuple):
    """What ties there are, per user.

    Parameters
    ----------
    n_tied : ndarray of shape (n_users,), int
        Rows that share their score with another row.
    n_repeated : ndarray of shape (n_users,), int
        Rows whose score another row, counted before, has too.
    is_cut : ndarray of shape (n_users,), bool
        Whether the k-th and the next row share a score.
    most_hits : ndarray of shape (n_users,), int
        Relevant rows among the first k, relevant rows of a tie first.
    fewest_hits : ndarray of shape (n_users,), int
        Relevant rows among the first k, relevant rows of a tie last.
    """

    n_tied: Array
    n_repeated: Array
    is_cut: Array
    most_hits: Array
    fewest_hits: Array


def count_ties(rankings: Rankings, k: int) -> TieCounts:
    """Return what ties there are in every user's ranking, in one sort."""
    n_users = len(rankings.offsets) - 1
    n_tied, n_repeated, most_hits, fewest_hits = np.zeros((4, n_users), np.int64)
    is_cut = np.zeros(n_users, bool)
    for users, keys in sorted_keys(rankings):
        first_k = keys[:, :k]
        most_hits[users] = fewest_hits[users] = first_k.shape[1] - (first_k & 1).sum(axis=1)
        places = keys >> 1
        repeats = places[:, 1:] == places[:, :-1]
        repeats &= keys[:, 1:] != np.iinfo(keys.dtype).max
        if not repeats.any():
            continue
        n_repeated[users] = repeats.sum(axis=1)
        n_tied[users] = n_repeated[users] + _n_runs(repeats)
        if k < keys.shape[1]:
            cut = np.flatnonzero(repeats[:, k - 1])
            is_cut[users[cut]] = True
            fewest_hits[users[cut]] -= _at_stake(keys[cut], k)
    return TieCounts(n_tied, n_repeated, is_cut, most_hits, fewest_hits)


def _n_runs(flags: Array) -> Array:
    """Return how many runs of flags each row has."""
    begins = flags.copy()
    begins[:, 1:] &= ~flags[:, :-1]
    n_begins: Array = begins.sum(axis=1)
    return n_begins


def _at_stake(keys: Array, k: int) -> Array:
    """Return the hits that the order of the group across the cut decides, per row of keys."""
    in_group = (keys >> 1) == (keys[:, k - 1 : k] >> 1)
    n_relevant = (in_group & (keys & 1 == 0)).sum(axis=1)
    n_others = in_group.sum(axis=1) - n_relevant
    room = k - np.argmax(in_group, axis=1)
    stake: Array = np.minimum(n_relevant, room) - np.maximum(room - n_others, 0)
    return stake
