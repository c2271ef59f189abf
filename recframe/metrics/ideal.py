"""The ideal ranking: the gains of relevant items, as counted and at their best. NumPy only."""

from typing import NamedTuple

import numpy as np

from recframe.kernel.counting import Counts
from recframe.kernel.grouping import argsort, number_members, run_starts
from recframe.kernel.rankings import Gains, Rankings, TieRule
from recframe.kernel.threads import Array


class Grades(NamedTuple):
    """What graded relevance adds to counts.

    Parameters
    ----------
    gain : ndarray of shape (n_rows,), float
        The gain of each row of the counts.
    user, position : ndarray of shape (n_items,), int
        The user of each relevant item, ranked or not, and its position in the user's ideal
        ranking; both are in order.
    ideal : ndarray of shape (n_items,), float
        Its gain.
    """

    gain: Array
    user: Array
    position: Array
    ideal: Array


def grade(rankings: Rankings, gains: Gains, counts: Counts, rule: TieRule) -> Grades:
    """Return the gains of rankings, those of rows in the order that they were counted in."""
    n_users = len(counts.n_ranked)
    found = np.flatnonzero(rankings.relevant)
    user = np.searchsorted(rankings.offsets, found, side="right") - 1
    gain = gains.gain[found].astype(np.float64)
    # A user's rows are counted in ranked order. Their gains are put into the same one: of tied
    # rows as the rule says, and where it does not, such that the order of rows changes no sum.
    among_tied: Array = -gain if rule.relevant_first is False else gain
    if rule.row_order:
        among_tied = -rule.row_order * found
    of_rows = np.empty(len(found))
    of_rows[argsort(counts.user)] = gain[_ranked_order(user, rankings.scores[found], among_tied)]

    user = np.append(user, np.repeat(np.arange(n_users), np.diff(gains.offsets)))
    gain = np.append(gain, gains.unranked)
    highest_first = np.lexsort((-gain, user))
    user, n_before = number_members(np.bincount(user, minlength=n_users))
    return Grades(of_rows, user, n_before + 1, gain[highest_first])


def _ranked_order(user: Array, score: Array, among_tied: Array) -> Array:
    """Return the order by user, then by score and what orders tied rows, both highest first."""
    order = np.argsort(score)[::-1]
    order = order[argsort(user[order])]
    if len(run_starts(user[order], score[order])) == len(order):  # no tie
        return order  # found in half the time
    return np.lexsort((among_tied, score, -user))[::-1]
