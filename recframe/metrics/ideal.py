"""Grades: the gains of counted rows, and those of an ideal ranking. NumPy only."""

from typing import NamedTuple

import numpy as np

from recframe.kernel.counting import Counts
from recframe.kernel.gains import Gains
from recframe.kernel.grouping import Array, argsort, group_offsets
from recframe.kernel.rankings import Rankings


class Grades(NamedTuple):
    """What graded relevance adds to counts.

    Parameters
    ----------
    ranked : ndarray of shape (n_rows,), float
        The gain of each row of the counts.
    user : ndarray of shape (n_items,), int
        The user of each relevant item, ranked or not.
    position : ndarray of shape (n_items,), int
        Its position in the user's ideal ranking; users and positions are in order.
    ideal : ndarray of shape (n_items,), float
        Its gain.
    """

    ranked: Array
    user: Array
    position: Array
    ideal: Array


def grade(rankings: Rankings, gains: Gains, counts: Counts, ties: str) -> Grades:
    """Return the gains of rankings, those of rows in the order that they were counted in."""
    n_users = len(counts.n_ranked)
    found = np.flatnonzero(rankings.relevant)
    user = np.searchsorted(rankings.offsets, found, side="right") - 1
    gain = gains.rows[found].astype(np.float64)
    # A user's rows are counted in ranked order. Their gains are put into the same one: of tied
    # rows as the rule says, and where it does not, such that the order of rows changes no sum.
    among_tied = {"first": -found, "last": found, "worst": -gain}.get(ties, gain)
    ranked = np.empty(len(found))
    ranked[argsort(counts.user)] = gain[_ranked_order(user, rankings.scores[found], among_tied)]

    user = np.append(user, np.repeat(np.arange(n_users), np.diff(gains.offsets)))
    gain = np.append(gain, gains.unranked)
    highest_first = np.lexsort((-gain, user))
    user = user[highest_first]
    first = group_offsets(np.bincount(user, minlength=n_users))[:-1]
    return Grades(ranked, user, np.arange(len(user)) - first[user] + 1, gain[highest_first])


def _ranked_order(user: Array, score: Array, among_tied: Array) -> Array:
    """Return the order by user, then by score and what orders tied rows, both highest first."""
    order = np.argsort(score)[::-1]
    order = order[argsort(user[order])]
    user_in_order, score_in_order = user[order], score[order]
    is_tied = user_in_order[1:] == user_in_order[:-1]
    is_tied &= score_in_order[1:] == score_in_order[:-1]
    if not is_tied.any():
        return order  # found in half the time
    return np.lexsort((among_tied, score, -user))[::-1]
