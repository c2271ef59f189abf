"""Counting: the integers that metrics are computed from, read off ranked rows. NumPy only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from recframe.kernel.grouping import count_flags
from recframe.kernel.ranking import RankedRows, Ranker, Rankings, TieRule
from recframe.kernel.threads import Array, in_threads


class Counts(NamedTuple):
    """The integers that every metric is computed from, per user and per ranked relevant row.

    Parameters
    ----------
    n_ranked, n_relevant : ndarray of shape (n_users,), int
        The rows in the user's ranking, and the user's relevant items, ranked or not (R in
        formulas).
    user : ndarray of shape (n_rows,), int
        The user of each ranked relevant row, as an index into the arrays above. Rows are sorted by
        user, and each user's rows by rank.
    above, tied : ndarray of shape (n_rows,), int
        The number of the user's rows above this row, and the number of rows with its score, this
        row included. `tied` is 1 if a rule orders tied rows.
    n_ranked_relevant : ndarray of shape (n_users,), int
        Relevant rows in the user's ranking, also below the depth.
    grade : ndarray of shape (n_rows,), int
        The grade of each row.
    """

    n_ranked: Array
    n_relevant: Array
    user: Array
    above: Array
    tied: Array
    n_ranked_relevant: Array
    grade: Array


class Depth(NamedTuple):
    """The rows counted in a ranking: the first k, or the first R if `at_n_relevant` and R > k."""

    k: int
    at_n_relevant: bool


def count(ranker: Ranker, users: slice, n_unlisted: Array, depth: Depth | None = None) -> Counts:
    """Return the counts of ranked relevant rows of a run of users.

    Under ties="expected" `tied` is the number of rows in the tie. Every other rule orders tied
    rows: `above` counts all rows before this one, and `tied` is 1. Rows below the depth are left
    out. `n_unlisted` is the number of each user's relevant items that have no row.
    """
    rule, ranked = ranker.rule, ranker.rank(users)
    _, offsets, marks, is_tied, is_unranked = ranked
    n_users = len(offsets) - 1
    marked = np.flatnonzero(marks != 0)
    user, n_ranked_relevant = ranked.find_users(marked)
    n_ranked, n_relevant = np.diff(offsets), n_ranked_relevant + n_unlisted[users]
    if is_unranked is not None:
        n_ranked = n_ranked - count_flags(is_unranked, offsets)
        is_in = ~is_unranked[marked]
        marked, user = marked[is_in], user[is_in]
        n_ranked_relevant = np.bincount(user, minlength=n_users)
    above, tied = marked - offsets[user], np.ones(len(marked), np.int64)
    if rule == TieRule() and is_tied.any():
        starts = tie_starts(is_tied)
        tie = np.searchsorted(starts, marked, side="right") - 1
        above, tied = starts[tie] - offsets[user], starts[tie + 1] - starts[tie]
    if depth is not None:
        depths = np.maximum(n_relevant * depth.at_n_relevant, depth.k)
        inside = np.flatnonzero(above < depths[user])
        marked, user, above, tied = marked[inside], user[inside], above[inside], tied[inside]
    return Counts(n_ranked, n_relevant, user, above, tied, n_ranked_relevant, marks[marked])


def tie_starts(is_tied: Array) -> Array:
    """Return the start of each tie and the end of the last; a single row counts as a tie."""
    return np.append(np.flatnonzero(~is_tied), len(is_tied))


class TieCounts(NamedTuple):
    """The ties of every user's ranking.

    Parameters
    ----------
    n_tied : ndarray of shape (n_users,), int
        Rows in the user's ranking that share their score with another row.
    is_cut : ndarray of shape (n_users,), bool
        Whether the k-th and the next row share a score.
    most_hits, fewest_hits : ndarray of shape (n_users,), int
        Relevant rows among the first k if relevant rows come first in a tie, and if they come last.
    """

    n_tied: Array
    is_cut: Array
    most_hits: Array
    fewest_hits: Array


def count_ties(rankings: Rankings, k: int) -> TieCounts:
    """Return the ties of every user's ranking."""
    ranker = Ranker(rankings._replace(tie_order=None), TieRule())
    return TieCounts(*_join_ranked(ranker, lambda ranked: _count_ties(ranked, k)))


def _count_ties(ranked: RankedRows, k: int) -> TieCounts:
    """Return the ties of the users of ranked rows."""
    starts, offsets, n_users = tie_starts(ranked.is_tied), ranked.offsets, len(ranked.offsets) - 1
    (user, _), size = ranked.find_users(starts[:-1]), np.diff(starts)
    is_in = np.ones(len(user), bool)
    if ranked.is_unranked is not None:
        is_in = ~ranked.is_unranked[starts[:-1]]
    n_relevant = count_flags(ranked.marks > 0, starts) * is_in
    n_tied = np.bincount(user, size * (size > 1) * is_in, n_users).astype(np.int64)
    room = np.clip(k - (starts[:-1] - offsets[user]), 0, size)
    is_cut = np.zeros(n_users, bool)
    is_cut[user[(room > 0) & (room < size) & is_in]] = True
    most = np.bincount(user, np.minimum(n_relevant, room), n_users)
    fewest = np.bincount(user, np.maximum(n_relevant - (size - room), 0), n_users)
    return TieCounts(n_tied, is_cut, most.astype(np.int64), fewest.astype(np.int64))


class Positions(NamedTuple):
    """The positions of ranked rows, each user's rows in ranked order.

    Parameters
    ----------
    row : ndarray of shape (n_rows,), int
        The rows.
    first, size : ndarray of shape (n_rows,), int
        The first position of the row's tie, from 1 on, and the number of positions of the tie.
    user : ndarray of shape (n_rows,), int
        The user of each row.
    """

    row: Array
    first: Array
    size: Array
    user: Array


def find_positions(rankings: Rankings, rule: TieRule, k: int | None = None) -> Positions:
    """Return the positions of the ranked rows that may be among the first k.

    Rows share positions if the rule does not order them: all rows of a tie under ties="expected",
    and the tied rows of one relevance if relevance decides.
    """

    def find(ranked: RankedRows) -> Positions:
        groups, is_alike = rankings.groups, ranked.is_tied
        rows = groups.rows(ranked.marks + groups.offsets[ranked.users.start])
        if rule.reads_relevance:
            is_relevant = rankings.grades[rows] > 0
            is_alike[1:] &= is_relevant[1:] == is_relevant[:-1]
        elif rule != TieRule():
            is_alike = np.zeros_like(is_alike)
        starts = tie_starts(is_alike)
        size, (user, _) = np.diff(starts), ranked.find_users(starts[:-1])
        first = starts[:-1] - ranked.offsets[user] + 1
        is_in = np.ones(len(user), bool) if k is None else first <= k
        if ranked.is_unranked is not None:
            is_in &= ~ranked.is_unranked[starts[:-1]]
        by_tie = (each[is_in] for each in (first, size, user + ranked.users.start))
        by_row = (np.repeat(each, size[is_in]) for each in by_tie)
        return Positions(rows[np.repeat(is_in, size)], *by_row)

    return Positions(*_join_ranked(Ranker(rankings, rule, by_row=True), find))


def _join_ranked(
    ranker: Ranker, find: Callable[[RankedRows], tuple[Array, ...]]
) -> Iterator[Array]:
    """Return arrays of all users, joined from the arrays that `find` returns for ranked rows."""
    runs = in_threads(lambda users: find(ranker.rank(users)), ((one,) for one in ranker.runs()))
    return map(np.concatenate, zip(*runs, strict=True))
