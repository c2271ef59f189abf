"""Counting: for every relevant row, the rows of its user ranked above it and tied with it.

NumPy only. The rows come sorted, see `sorting`: counting is to see where the relevant ones stand.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from recframe.kernel.grouping import (
    find_flags,
    run_starts,
    sum_by_row,
    sum_by_user,
)
from recframe.kernel.pieces import whole
from recframe.kernel.rankings import TIE_RULES, Rankings, TieRule
from recframe.kernel.sort_keys import rankable, to_keys
from recframe.kernel.sorting import Block, mark, sorted_blocks
from recframe.kernel.threads import Array


class Counts(NamedTuple):
    """What every metric is computed from: integers, per user and per ranked relevant row.

    Parameters
    ----------
    n_ranked, n_relevant : ndarray of shape (n_users,), int
        Rows in the user's ranking, and its relevant items, ranked or not (R in formulas).
    user : ndarray of shape (n_rows,), int
        The user of each ranked relevant row, as an index into the arrays above.
    above, tied : ndarray of shape (n_rows,), int
        Rows of that user that are ranked above it, and those that share its score, itself
        included; 1 where a rule orders them.
    n_ranked_relevant : ndarray of shape (n_users,), int
        Relevant rows in the user's ranking, those left out below included.
    """

    n_ranked: Array
    n_relevant: Array
    user: Array
    above: Array
    tied: Array
    n_ranked_relevant: Array


class Places(NamedTuple):
    """The user of each relevant row, how many rows are ranked above it, and the row.

    Those of a user stand together, in ranked order.
    """

    user: Array
    above: Array
    row: Array


def find_inside(above: Array, k: int | None) -> Array | slice:
    """Return which rows have fewer than k above them, None: all; what picks them from arrays."""
    if k is None or above.max(initial=0) < k:
        return slice(None)  # copies nothing
    return np.flatnonzero(above < k)


class Depth(NamedTuple):
    """How far down each ranking is looked at: k rows, or R where that is more and asked for."""

    k: int
    at_n_relevant: bool


def count(
    rankings: Rankings, rule: TieRule, depth: Depth | None = None, places: Places | None = None
) -> Counts:
    """Return the counts of ranked relevant rows.

    In expectation `tied` is the size of the row's tie group; every other rule gives each row a
    position of its own, so that `above` is all that stands before it and `tied` is 1. Rows that
    have as many rows above them as the depth says, or more, are left out; None: no row is. Where
    the places of relevant rows are known, none are looked for.
    """
    sizes = np.diff(rankings.offsets)
    n_ranked_relevant = sum_by_user(rankings.relevant, rankings.offsets)
    n_relevant = n_ranked_relevant + rankings.n_unranked
    depths = sizes
    if depth is not None:
        depths = np.minimum(sizes, np.maximum(n_relevant * depth.at_n_relevant, depth.k))
    depths = np.where(n_ranked_relevant == 0, 0, depths)  # nothing to find, nothing to rank
    if not depths.any():
        none = np.empty(0, np.int64)
        return Counts(sizes, n_relevant, none, none, none, n_ranked_relevant)
    if places is not None:
        user, above, _ = places
        tied = np.ones_like(above)
    elif n_ranked_relevant.max(initial=0) <= 1:
        user, above, tied = _count_single(rankings, sizes, rule)
    else:
        blocks = count_blocks(sorted_blocks(rankings, rule, depths), rule)
        user, above, tied = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    if depth is not None:
        inside = np.flatnonzero(above < depths[user])
        user, above, tied = user[inside], above[inside], tied[inside]
    return Counts(sizes, n_relevant, user, above, tied, n_ranked_relevant)


def _count_single(rankings: Rankings, sizes: Array, rule: TieRule) -> list[Array]:
    """Return (user, above, tied) of the relevant rows where no user has more than one relevant row.

    Then a user's rows are compared with that one row's score, and nothing is sorted.
    """
    scores, relevant, offsets = whole(rankings.scores), rankings.relevant, rankings.offsets
    found = np.flatnonzero(relevant)
    user = np.searchsorted(offsets, found, side="right") - 1
    own = np.zeros(len(sizes), scores.dtype)
    own[user] = scores[found]
    own = np.repeat(own, sizes)
    above = sum_by_user(scores > own, offsets)[user]
    is_tied = scores == own
    tied = sum_by_user(is_tied, offsets)[user]
    if rule.row_order:
        before = sum_by_user(is_tied, np.stack([offsets[user], found]).T.ravel())[::2]
        above += before if rule.row_order > 0 else tied - 1 - before
    elif rule.relevant_first is False:
        above += tied - 1
    if not rule.is_expectation:
        tied[:] = 1
    return [user, above, tied]


def count_blocks(blocks: Iterable[Block], rule: TieRule) -> Iterator[tuple[Array, Array, Array]]:
    """Yield (user, above, tied) of the relevant rows of each block."""
    for users, keys, is_tied_with_next in blocks:
        width = keys.shape[1]
        marks = keys.astype(np.uint8).ravel()  # only the lowest bit counts, and bytes are fast
        marks &= 1
        if not mark(rule):
            marks ^= 1
        found = find_flags(marks.view(bool))
        row = found // width
        above = found - row * width
        tied = np.ones(len(found), np.int64)
        if is_tied_with_next is not None and rule.is_expectation:
            _find_ties(is_tied_with_next.ravel(), found, above, tied)
        yield users[row], above, tied


def _find_ties(is_tied_with_next: Array, found: Array, above: Array, tied: Array) -> None:
    """Move the found cells to the start of their tie groups and set the sizes of the groups."""
    in_tie = np.flatnonzero(is_tied_with_next[found] | is_tied_with_next[found - 1])
    if len(in_tie) == 0:
        return
    is_tied_with_last = np.append(False, is_tied_with_next[:-1])
    starts = find_flags(is_tied_with_next > is_tied_with_last)
    sizes = find_flags(is_tied_with_next < is_tied_with_last) + 1 - starts
    group = np.searchsorted(starts, found[in_tie], side="right") - 1
    above[in_tie] -= found[in_tie] - starts[group]
    tied[in_tie] = sizes[group]


def rank_rows(rankings: Rankings, rule: TieRule) -> Array:
    """Return the positions of each row in its user's ranking, an array of shape (2, n_rows).

    Rows that a rule does not tell apart (all of a tie in expectation, those of the same relevance
    where relevance decides) share positions: the first array holds the first of them, the second
    their mean. Positions start at 1.
    """
    user = np.repeat(np.arange(len(rankings.offsets) - 1), np.diff(rankings.offsets))
    row = np.arange(len(user))
    keys = [user, to_keys(rankable(whole(rankings.scores)).copy())]
    if rule.row_order:
        keys.append(row * rule.row_order)
    elif rule.relevant_first is not None:
        keys.append(rankings.relevant != rule.relevant_first)
    order = np.lexsort(keys[::-1])
    bounds = np.append(run_starts(*(key[order] for key in keys)), len(row))
    of_group = np.stack([bounds[:-1] + 1, (bounds[:-1] + bounds[1:] + 1) / 2])
    positions = np.empty((2, len(row)))
    # A user's rows stay together, so the i-th row in order belongs to the same user as row i.
    positions[:, order] = np.repeat(of_group, np.diff(bounds), axis=1) - rankings.offsets[user]
    return positions


class TieCounts(NamedTuple):
    """What ties there are, per user.

    Parameters
    ----------
    n_relevant, n_tied : ndarray of shape (n_users,), int
        Rows in the user's ranking that are relevant, and that share their score with another row.
    is_cut : ndarray of shape (n_users,), bool
        Whether the k-th and the next row share a score.
    most_hits, fewest_hits : ndarray of shape (n_users,), int
        Relevant rows among the first k, those of a tie first, and last.
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
    for users, keys, is_tied_with_next in sorted_blocks(rankings, TIE_RULES["best"]):
        is_relevant = (keys & 1) == 0
        most_hits[users] = fewest_hits[users] = is_relevant[:, :k].sum(axis=1)
        if is_tied_with_next is None:
            continue
        is_tied = is_tied_with_next.copy()
        is_tied[:, 1:] |= is_tied_with_next[:, :-1]
        n_tied[users] = sum_by_row(is_tied)
        if k < keys.shape[1]:
            cut = np.flatnonzero(is_tied_with_next[:, k - 1])
            is_cut[users[cut]] = True
            fewest_hits[users[cut]] -= _at_stake(keys[cut] >> 1, is_relevant[cut], k)
    return TieCounts(n_relevant, n_tied, is_cut, most_hits, fewest_hits)


def _at_stake(keys: Array, is_relevant: Array, k: int) -> Array:
    """Return the hits that the order of the group across the cut decides, for each user."""
    in_group = keys == keys[:, k - 1 : k]
    n_relevant = sum_by_row(in_group & is_relevant)
    n_others = sum_by_row(in_group) - n_relevant
    room = k - in_group.argmax(axis=1)
    stake: Array = np.minimum(n_relevant, room) - np.maximum(room - n_others, 0)
    return stake
