"""The ideal ranking: the gains of relevant items, as counted and at their best. NumPy only."""

from typing import NamedTuple

import numpy as np

from recframe.kernel.counting import Counts, Places
from recframe.kernel.grouping import (
    find_flags,
    group_rows,
    number_members,
    rows_of_runs,
    run_sizes,
    run_starts,
    sum_by_user,
)
from recframe.kernel.rankings import Gains, Rankings, TieRule
from recframe.kernel.runs import order_runs
from recframe.kernel.sort_keys import rankable, to_keys
from recframe.kernel.threads import Array

MOST_LEVELS = 16  # of gains, such that equal ones are counted and not sorted


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


def grade(
    rankings: Rankings, gains: Gains, counts: Counts, rule: TieRule, places: Places | None = None
) -> Grades:
    """Return the gains of rankings, those of rows in the order that they were counted in.

    Where that is known, they are not put in order again.
    """
    n_users = len(counts.n_ranked)
    found = find_flags(rankings.relevant)
    user = np.repeat(np.arange(n_users), sum_by_user(rankings.relevant, rankings.offsets))
    gain = gains.gain[found].astype(np.float64)
    if places is not None:
        of_rows = gains.gain[places.row].astype(np.float64)
    else:
        scores = rankings.scores.take(found)
        of_rows = gain[_counted_order(found, scores, user, gain, counts.user, rule)]
    if len(gains.unranked):
        user = np.append(user, np.repeat(np.arange(n_users), np.diff(gains.offsets)))
        by_user, _ = group_rows(user, n_users)
        user, gain = user[by_user], np.append(gain, gains.unranked)[by_user]
    n_items = np.bincount(user, minlength=n_users)
    ideal = _highest_first(user, gain, n_items)
    user, n_before = number_members(n_items)
    return Grades(of_rows, user, n_before + 1, ideal)


def _counted_order(
    found: Array, scores: Array, user: Array, gain: Array, counted: Array, rule: TieRule
) -> Array:
    """Return the order in which relevant rows were counted, whose users are these."""
    # A user's rows are counted in ranked order. Their gains are put into the same one: of tied
    # rows as the rule says, and where it does not, such that the order of rows changes no sum.
    among_tied: Array = -gain if rule.relevant_first is False else gain
    if rule.row_order:
        among_tied = -rule.row_order * found
    order = np.empty_like(found)
    starts = run_starts(counted)
    in_order = rows_of_runs(np.argsort(counted[starts]), starts, len(found))
    order[in_order] = _ranked_order(user, scores, among_tied)
    return order


def _highest_first(user: Array, gain: Array, n_items: Array) -> Array:
    """Return the gains of each user's items, highest first; those of a user stand together."""
    levels = np.unique(gain)[::-1]
    if len(levels) > MOST_LEVELS:
        return gain[order_runs(-gain, n_items, np.inf)]
    below = sum((gain < level for level in levels[:-1]), np.zeros(len(gain), np.int64))
    shape = len(n_items), len(levels)
    n_equal = np.bincount(user * shape[1] + below, minlength=shape[0] * shape[1])
    return np.repeat(np.broadcast_to(levels, shape).ravel(), n_equal)


def _ranked_order(user: Array, score: Array, among_tied: Array) -> Array:
    """Return the order by user, then by score and what orders tied rows, both highest first.

    The rows of a user stand together, users in order.
    """
    keys = to_keys(rankable(score).copy())
    order = order_runs(keys, np.bincount(user), np.iinfo(keys.dtype).max)
    ties = run_starts(user, keys[order])
    if len(ties) == len(order):
        return order
    tie, _ = number_members(run_sizes(ties, len(order)))
    is_tied = tie[1:] == tie[:-1]
    tied = np.flatnonzero(np.append(is_tied, False) | np.append(False, is_tied))
    own = order[tied]
    order[tied] = own[np.lexsort((-among_tied[own], tie[tied]))]
    return order
