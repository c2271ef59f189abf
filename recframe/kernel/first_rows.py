"""First rows: which rows may be among the first k of their user's ranking, and how probably.

NumPy only. A user's k-th best score parts the rows: those above it are among the first k, those
tied with it share what room is left. So only that one score is looked for, and nothing is sorted.
"""

from typing import NamedTuple

import numpy as np

from recframe.kernel.grouping import group_offsets, number_members, sum_by_user
from recframe.kernel.pieces import whole
from recframe.kernel.rankings import Rankings, TieRule
from recframe.kernel.runs import size_blocks
from recframe.kernel.sort_keys import rankable
from recframe.kernel.threads import Array


class FirstRows(NamedTuple):
    """Rows that may be among the first k: with a probability of `chosen` / `among`.

    Parameters
    ----------
    row, user : ndarray of shape (n_found,), int
        The rows, as they stand, and their users.
    chosen, among : ndarray of shape (n_found,), int
        Of `among` rows that are as likely as this one, itself included, so many are among the
        first k; both are 1 where it certainly is.
    """

    row: Array
    user: Array
    chosen: Array
    among: Array


def find_first_rows(rankings: Rankings, rule: TieRule, k: int) -> FirstRows:
    """Return the rows that may be among the first k of their user's ranking."""
    scores, offsets = rankable(whole(rankings.scores)), rankings.offsets
    sizes = np.diff(offsets)
    bound = np.repeat(_find_bounds(scores, offsets, k), sizes)
    row = np.flatnonzero(scores >= bound)
    user = np.repeat(np.arange(len(sizes)), np.diff(np.searchsorted(row, offsets)))
    is_above = scores[row] > bound[row]
    n_found = np.bincount(user, minlength=len(sizes))
    n_above = sum_by_user(is_above, group_offsets(n_found))
    # Of a ranking of fewer rows than k the bound is the lowest of them.
    n_tied, room = n_found - n_above, np.minimum(k, sizes) - n_above
    is_cut = (n_tied > room)[user] & ~is_above
    chosen, among = np.ones((2, len(row)), np.int64)
    if not is_cut.any():
        return FirstRows(row, user, chosen, among)
    cut = np.flatnonzero(is_cut)
    chosen[cut], among[cut] = room[user[cut]], n_tied[user[cut]]
    if not rule.is_expectation:
        chosen[cut], among[cut] = _decide(rankings, rule, row[cut], user[cut], room)
    kept = np.flatnonzero(chosen)
    return FirstRows(row[kept], user[kept], chosen[kept], among[kept])


def find_each(rankings: Rankings, rule: TieRule, cut_offs: tuple[int, ...]) -> list[FirstRows]:
    """Return the first rows at each cut-off; these are in increasing order."""
    found: list[FirstRows] = []
    row = None
    for k in reversed(cut_offs):
        first = find_first_rows(rankings, rule, k)
        row = first.row if row is None else row[first.row]
        found.append(first._replace(row=row))
        # What comes before a smaller cut-off is among these.
        sizes = np.bincount(first.user, minlength=len(rankings.offsets) - 1)
        rankings = rankings._replace(
            scores=rankings.scores.take(first.row),
            relevant=rankings.relevant[first.row],
            offsets=group_offsets(sizes),
        )
    return found[::-1]


def _decide(
    rankings: Rankings, rule: TieRule, row: Array, user: Array, room: Array
) -> tuple[Array, Array]:
    """Return how many of how many rows are chosen where a rule orders the ties across the cut.

    The rows are those of the ties; rows that the rule does not tell apart are as likely.
    """
    sizes = np.bincount(user, minlength=len(room))
    if rule.row_order:
        _, before = number_members(sizes)
        if rule.row_order < 0:
            before = sizes[user] - 1 - before
        return (before < room[user]).astype(np.int64), np.ones_like(user)
    is_first = rankings.relevant[row] == rule.relevant_first
    n_first = np.bincount(user[is_first], minlength=len(room))
    chosen_first = np.minimum(n_first, room)
    chosen = np.where(is_first, chosen_first[user], (room - chosen_first)[user])
    among = np.where(is_first, n_first[user], (sizes - n_first)[user])
    certain = chosen == among
    return np.where(certain, 1, chosen), np.where(certain, 1, among)


def _find_bounds(scores: Array, offsets: Array, k: int) -> Array:
    """Return the k-th best score of each user, the lowest there can be where there are fewer."""
    sizes = np.diff(offsets)
    is_float = scores.dtype.kind == "f"
    low = scores.dtype.type(-np.inf) if is_float else np.iinfo(scores.dtype).min
    bounds = np.full(len(sizes), low, scores.dtype)
    for users, block in size_blocks(scores, offsets, np.flatnonzero(sizes > k), low):
        n_below = block.shape[1] - k
        block.partition(n_below, axis=1)
        bounds[users] = block[:, n_below]
    return bounds
