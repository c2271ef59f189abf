"""Gains, sums of columns and judged rows, which some metrics read with the counts. NumPy only."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from recframe.kernel.counting import Counts, Depth, count, find_positions
from recframe.kernel.grouping import number_members, sort
from recframe.kernel.ranking import Ranker, Rankings, TieRule
from recframe.kernel.threads import Array
from recframe.metrics.ties import Hits, expected_hits, sum_by

MOST_SPREAD = 1 << 8  # integer gains are grades if they lie this close together
Sum = tuple[Array, Array]  # numerator and denominator of each user


class Grades(NamedTuple):
    """The gains of counted rows and of ideal rankings.

    Parameters
    ----------
    gain : ndarray of shape (n_rows,), float
        The gain of each row of the counts.
    user, position : ndarray of shape (n_items,), int
        The user of each item with a gain, ranked or not, and its position in the user's ideal
        ranking. Items are sorted by both.
    ideal : ndarray of shape (n_items,), float
        The gain of each item.
    """

    gain: Array
    user: Array
    position: Array
    ideal: Array


class Ideal(NamedTuple):
    """Gains as grades, numbered from 1 on by rising gain, and the ideal rankings of all users.

    Parameters
    ----------
    grades : ndarray of shape (n_rows,), unsigned int
        The grade of each row; 0 for no gain.
    gains : ndarray of shape (n_grades,), float
        The gain of each grade; the first is 0.
    user, position, gain : ndarray of shape (n_items,)
        The fields `user`, `position` and `ideal` of `Grades`.
    n_unlisted : ndarray of shape (n_users,), int
        The number of each user's items with a gain that have no row.
    """

    grades: Array
    gains: Array
    user: Array
    position: Array
    gain: Array
    n_unlisted: Array

    def select(self, users: slice, counts: Counts) -> Grades:
        """Return the gains of a run of users and of its counted rows."""
        items = slice(*np.searchsorted(self.user, (users.start, users.stop)).tolist())
        user = self.user[items] - users.start
        return Grades(self.gains[counts.grade], user, self.position[items], self.gain[items])


def rank_ideal(codes: Array, n_users: int, gain: Array, user: Array, unlisted: Array) -> Ideal:
    """Return the grades of rows and the ideal rankings of users.

    `codes` and `gain` are the users and gains of rows; `user` and `unlisted` are the users and
    gains of items that have a gain and no row.
    """
    rows, n_unlisted = np.flatnonzero(gain > 0), np.bincount(user, minlength=n_users)
    gain_of_item = np.append(gain[rows], unlisted)
    low, high = gain_of_item.min(initial=0), gain_of_item.max(initial=0)
    if gain_of_item.dtype.kind in "iu" and high - low < MOST_SPREAD:
        levels, grade = np.arange(low, high + 1), gain_of_item - low + 1
    else:
        levels, grade = np.unique(gain_of_item, return_inverse=True)
        grade = grade + 1
    grades = np.zeros(len(gain), np.min_scalar_type(len(levels)))
    grades[rows] = grade[: len(rows)]
    gains = np.append(0.0, levels.astype(np.float64))
    user = np.append(codes[rows], user)
    # Sorted by user, then from the highest grade down.
    keys = sort(user.astype(np.int64) * len(levels) + (len(levels) - grade))
    ideal = gains[len(levels) - keys % len(levels)]
    user, n_before = number_members(np.bincount(user, minlength=n_users))
    return Ideal(grades, gains, user, n_before + 1, ideal, n_unlisted)


def sum_columns(
    rankings: Rankings, rule: TieRule, cut_offs: tuple[int, ...], columns: Mapping[str, Array]
) -> dict[tuple[str, int], Sum]:
    """Return each user's expected sum of each column over the first k rows, for each cut-off k.

    A column holds a value for each row of the rankings. The sum is a numerator and a denominator.
    So the mean of whole numbers is the float nearest to the exact mean.
    """
    n_users, sums = rankings.groups.n_groups, {}
    row, first, size, user = find_positions(rankings, rule, cut_offs[-1])
    for k in cut_offs:
        room = np.clip(k + 1 - first, 0, size)
        # A user has at most one tie across the cut. Its rows have the same chance.
        whole, part = np.flatnonzero(room == size), np.flatnonzero((room > 0) & (room < size))
        chosen, among = np.zeros(n_users, np.int64), np.ones(n_users, np.int64)
        chosen[user[part]], among[user[part]] = room[part], size[part]
        for name, values in columns.items():
            added = []
            for some in (whole, part):  # the lowest values are added first
                order = some[np.lexsort((values[row[some]], user[some]))]
                added.append(sum_by(user[order], values[row[order]], n_users))
            sums[name, k] = added[0] * among + added[1] * chosen, among
    return sums


class JudgedRankings(NamedTuple):
    """The rankings of judged rows.

    Under a tie rule by relevance, other judged rows come next to relevant ones: after them under
    "best", before them under "worst".

    Parameters
    ----------
    hits : Ranker
        Ranks all rows, as if judged ones were the relevant ones.
    alone : Ranker
        Ranks judged rows only.
    n_unlisted, n_others : ndarray of shape (n_users,), int
        The number of each user's judged items that are not ranked: relevant ones, and others.
    """

    hits: Ranker
    alone: Ranker
    n_unlisted: Array
    n_others: Array


def rank_judged(
    rankings: Rankings, rule: TieRule, rows: Array, n_unlisted: Array, n_others: Array
) -> JudgedRankings:
    """Return the rankings of judged rows; `rows` says which rows are judged."""
    if rankings.is_ranked is not None:
        lost = rows & ~rankings.is_ranked & (rankings.grades == 0)
        n_others = n_others + np.bincount(rankings.groups.codes[lost], minlength=len(n_others))
    hits = Ranker(rankings._replace(grades=rows.view(np.uint8)), rule)
    judged = np.flatnonzero(rows)
    others = (None if each is None else each[judged] for each in rankings[1:])
    alone = Ranker(Rankings(rankings.groups.take(judged), *others), rule)  # type: ignore[arg-type]  # a field stays None or an array
    return JudgedRankings(hits, alone, n_unlisted, n_others)


class JudgedRows:
    """The counts of the judged rows of a run of users."""

    def __init__(
        self, rankings: JudgedRankings, rule: TieRule, users: slice, cut_offs: Sequence[int]
    ) -> None:
        self._rankings, self._rule = rankings, rule
        self._users, self._cut_offs = users, cut_offs
        self.n_others = rankings.n_others[
            users
        ]  # judged items that are neither relevant nor ranked

    @cached_property
    def hits(self) -> dict[int, Hits]:
        """The number of judged rows among the first k, as numerator and denominator, by cut-off."""
        none = np.zeros_like(self._rankings.n_others)
        depth = Depth(self._cut_offs[-1], at_n_relevant=False)
        counts = count(self._rankings.hits, self._users, self._rule, none, depth)
        return {k: expected_hits(counts, k) for k in self._cut_offs}

    def count(self) -> Counts:
        """Return the counts of relevant rows in the rankings of judged rows."""
        return count(self._rankings.alone, self._users, self._rule, self._rankings.n_unlisted)
