"""Supplements: gains, sums of columns and judged rows, beside the counts. NumPy only."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from recframe.kernel.counting import Counts, Depth, count, find_positions
from recframe.kernel.grouping import number_members, sort
from recframe.kernel.ranking import Ranker, Rankings, TieRule
from recframe.kernel.threads import Array
from recframe.metrics.ties import Hits, expected_hits, sum_by

MOST_SPREAD = 1 << 8  # of integer gains, up to which each is a grade
Sum = tuple[Array, Array]  # of every user, as numerator and denominator


class Grades(NamedTuple):
    """What graded relevance adds to counts.

    Parameters
    ----------
    gain : ndarray of shape (n_rows,), float
        The gain of each row of the counts.
    user, position : ndarray of shape (n_items,), int
        The user of each item with a gain, ranked or not, and its position in the user's ideal
        ranking; both are in order.
    ideal : ndarray of shape (n_items,), float
        Its gain.
    """

    gain: Array
    user: Array
    position: Array
    ideal: Array


class Ideal(NamedTuple):
    """Gains as grades, from 1 on in their order, and the ideal rankings of all users.

    Parameters
    ----------
    grades : ndarray of shape (n_rows,), unsigned int
        The grade of each row, 0 where it gains nothing.
    gains : ndarray of shape (n_grades,), float
        The gain of each grade, first 0.
    user, position, gain : ndarray of shape (n_items,)
        As in `Grades`.
    n_unlisted : ndarray of shape (n_users,), int
        The items of each user that have a gain and no row.
    """

    grades: Array
    gains: Array
    user: Array
    position: Array
    gain: Array
    n_unlisted: Array

    def of_users(self, users: slice, counts: Counts) -> Grades:
        """Return what graded relevance adds to the counts of a run of users."""
        own = slice(*np.searchsorted(self.user, (users.start, users.stop)).tolist())
        user = self.user[own] - users.start
        return Grades(self.gains[counts.grade], user, self.position[own], self.gain[own])


def rank_ideal(codes: Array, n_users: int, gain: Array, user: Array, unlisted: Array) -> Ideal:
    """Return the grades of rows and the ideal rankings of users.

    `codes` and `gain` are the users of rows and their gains; `user` and `unlisted` are those of
    items with a gain that have no row.
    """
    rows, n_unlisted = np.flatnonzero(gain > 0), np.bincount(user, minlength=n_users)
    found = np.append(gain[rows], unlisted)
    low, high = found.min(initial=0), found.max(initial=0)
    if found.dtype.kind in "iu" and high - low < MOST_SPREAD:
        levels, grade = np.arange(low, high + 1), found - low + 1
    else:
        levels, grade = np.unique(found, return_inverse=True)
        grade = grade + 1
    grades = np.zeros(len(gain), np.min_scalar_type(len(levels)))
    grades[rows] = grade[: len(rows)]
    gains = np.append(0.0, levels.astype(np.float64))
    user = np.append(codes[rows], user)
    # By user, and the highest grade first.
    keys = sort(user.astype(np.int64) * len(levels) + (len(levels) - grade))
    ideal = gains[len(levels) - keys % len(levels)]
    user, n_before = number_members(np.bincount(user, minlength=n_users))
    return Ideal(grades, gains, user, n_before + 1, ideal, n_unlisted)


def sum_columns(
    rankings: Rankings, rule: TieRule, cut_offs: tuple[int, ...], columns: Mapping[str, Array]
) -> dict[tuple[str, int], Sum]:
    """Return the expected sum of each column over the first rows at each cut-off, by user.

    The columns hold a value for each row of the rankings. The sum is a numerator and a denominator,
    so that of whole numbers the mean is the float nearest to the exact one.
    """
    n_users, sums = rankings.groups.n_groups, {}
    row, first, size, user = find_positions(rankings, rule, cut_offs[-1])
    for k in cut_offs:
        room = np.clip(k + 1 - first, 0, size)
        # Of each user one group of rows at most is cut, all of the same chance.
        whole, part = np.flatnonzero(room == size), np.flatnonzero((room > 0) & (room < size))
        chosen, among = np.zeros(n_users, np.int64), np.ones(n_users, np.int64)
        chosen[user[part]], among[user[part]] = room[part], size[part]
        for name, values in columns.items():
            added = []
            for some in (whole, part):  # from the lowest value on
                order = some[np.lexsort((values[row[some]], user[some]))]
                added.append(sum_by(user[order], values[row[order]], n_users))
            sums[name, k] = added[0] * among + added[1] * chosen, among
    return sums


class JudgedRankings(NamedTuple):
    """The rankings of judged rows.

    Where relevant rows come first of a tie, other judged ones come next, as that is the best for
    what counts them; where last, before them.

    Parameters
    ----------
    hits : Ranker
        Ranks all rows, and takes judged ones for relevant.
    alone : Ranker
        Ranks judged rows only.
    n_unlisted, n_others : ndarray of shape (n_users,), int
        The items of each user that truth holds and that are not ranked: relevant, and not.
    """

    hits: Ranker
    alone: Ranker
    n_unlisted: Array
    n_others: Array


def rank_judged(
    rankings: Rankings, rule: TieRule, rows: Array, n_unlisted: Array, n_others: Array
) -> JudgedRankings:
    """Return the rankings of judged rows, given these and the judged items without a row."""
    if rankings.is_ranked is not None:
        lost = rows & ~rankings.is_ranked & (rankings.grades == 0)
        n_others = n_others + np.bincount(rankings.groups.codes[lost], minlength=len(n_others))
    hits = Ranker(rankings._replace(grades=rows.view(np.uint8)), rule)
    judged = np.flatnonzero(rows)
    others = (None if each is None else each[judged] for each in rankings[1:])
    alone = Ranker(Rankings(rankings.groups.take(judged), *others), rule)  # type: ignore[arg-type]  # none of a kind that was there
    return JudgedRankings(hits, alone, n_unlisted, n_others)


class JudgedRows:
    """What is counted of the judged rows of a run of users."""

    def __init__(
        self, rankings: JudgedRankings, rule: TieRule, users: slice, cut_offs: Sequence[int]
    ) -> None:
        self._rankings, self._rule = rankings, rule
        self._users, self._cut_offs = users, cut_offs
        self.n_others = rankings.n_others[users]  # items that truth holds, not relevant, not ranked

    @cached_property
    def hits(self) -> dict[int, Hits]:
        """The judged rows among the first, as numerator and denominator, by cut-off."""
        none = np.zeros_like(self._rankings.n_others)
        depth = Depth(self._cut_offs[-1], at_n_relevant=False)
        counts = count(self._rankings.hits, self._users, self._rule, none, depth)
        return {k: expected_hits(counts, k) for k in self._cut_offs}

    def count(self) -> Counts:
        """Return the counts of relevant rows among judged ones only."""
        return count(self._rankings.alone, self._users, self._rule, self._rankings.n_unlisted)
