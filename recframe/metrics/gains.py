"""Gains, sums of columns and judged rows, for metrics that need more than counts. NumPy only."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from recframe.kernel.counting import Counts, Depth, count, find_positions
from recframe.kernel.grouping import SLICE, argsort, combine, cut_users, number_members, sort
from recframe.kernel.ranking import Ranker, Rankings, Rows, TieRule
from recframe.kernel.threads import Array
from recframe.metrics.ties import Fractions, expected_hits, sum_by

MOST_LEVELS = 1 << 8  # integer gains below this are grades as they are
Feature = tuple[str, str]  # a metric that reads a column, and the name of the column in it


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

    `codes` and `gain` are the users and gains of rows. `user` and `unlisted` are the users and
    gains of items without a row.
    """
    rows, n_unlisted = np.flatnonzero(gain > 0), np.bincount(user, minlength=n_users)
    gain_of_item = np.append(gain[rows], unlisted)
    highest = gain_of_item.max(initial=0)
    if gain_of_item.dtype.kind in "iu" and highest < MOST_LEVELS:
        levels, grade = np.arange(1, int(highest) + 1), gain_of_item.astype(np.int64)
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
    rankings: Rankings, rule: TieRule, cut_offs: tuple[int, ...], columns: Mapping[Feature, Array]
) -> dict[tuple[Feature, int], Fractions]:
    """Return each user's expected sum of each column over the first k rows, for each cut-off k.

    `columns` has the values or the vectors of rows. A sum is a numerator and a denominator, so that
    the mean of integers is the float nearest to the exact mean. For `share` the sum is divided by
    the sum of all rows; for `diversity` it is over pairs of rows.
    """
    groups, sums = rankings.groups, {}
    n_users, shares = groups.n_groups, [key for key in columns if key[0] == "share"]
    totals = {key: _sum_sorted(groups.codes, columns[key], n_users) for key in shares}
    row, first, size, user = find_positions(rankings, rule, cut_offs[-1])
    for k in cut_offs:
        room = np.clip(k + 1 - first, 0, size)
        # A user has at most one tie across the cut. Its rows have the same chance.
        some, part = np.flatnonzero(room), np.flatnonzero((room > 0) & (room < size))
        chosen, among = np.zeros(n_users, np.int64), np.ones(n_users, np.int64)
        chosen[user[part]], among[user[part]] = room[part], size[part]
        half = (2 * user + (room < size))[some]  # Each user has rows above the tie, and in it.
        for key, values in columns.items():
            if key[0] == "diversity":
                sums[key, k] = _sum_differences(half, values, row[some], chosen, among)
                continue
            above, tied = _sum_sorted(half, values[row[some]], 2 * n_users).reshape(-1, 2).T
            sums[key, k] = above * among + tied * chosen, among * totals.get(key, 1)
    return sums


def _sum_sorted(group: Array, values: Array, n_groups: int) -> Array:
    """Return the sum of each group's values, the lowest values added first."""
    by_value = np.argsort(values)
    order = by_value[argsort(group[by_value])]
    return sum_by(group[order], values[order], n_groups)


def _sum_differences(
    half: Array, values: Array, row: Array, chosen: Array, among: Array
) -> Fractions:
    """Return each user's expected sum of differences over the pairs of the first rows.

    The tie across the cut has t rows (`among`), and m of them (`chosen`) are above the cut. Pairs
    above the tie count fully. A row above the tie with a tied row counts m / t, and two tied rows
    count m (m - 1) / (t (t - 1)). Sums over pairs come from squares: 2 Σ x·y = (Σ x)² - Σ x².
    Vectors x have length 1. A category is a vector with a 1 in the category's dimension.
    """
    n_users = len(among)
    n_above, n_tied = np.bincount(half, minlength=2 * n_users).reshape(-1, 2).T
    of_above, across, of_tied = -1.0 * n_above, np.zeros(n_users), -1.0 * n_tied
    for user, sums in (_count_values if values.ndim == 1 else _add_vectors)(half, values, row):
        above, tied = sums.reshape(-1, 2).T
        np.add.at(of_above, user, above * above)
        np.add.at(across, user, above * tied)
        np.add.at(of_tied, user, tied * tied)
    chance = chosen * (chosen - 1.0) / np.maximum(among * (among - 1.0), 1)
    alike = of_above / 2 + across * chosen / among + of_tied / 2 * chance
    n_first = n_above + chosen
    # The length of a vector may differ from 1 in the last bit.
    return np.maximum(n_first * (n_first - 1) / 2 - alike, 0) * (n_first > 1), np.ones(n_users)


def _count_values(half: Array, values: Array, row: Array) -> Iterator[tuple[Array, Array]]:
    """Yield users, and for each of their categories the rows with it, above the tie and in it."""
    pairs = combine(half // 2, values[row].astype(np.int64))
    _, first, pair = np.unique(pairs, return_index=True, return_inverse=True)
    yield half[first] // 2, np.bincount(2 * pair + half % 2, minlength=2 * len(first))


def _add_vectors(half: Array, values: Array, row: Array) -> Iterator[tuple[Array, Array]]:
    """Yield users, and the sums of one dimension of their vectors, above the tie and in it.

    Multiples of 2**-26 and of 2**-53 are added apart. This is exact for 2**26 rows, so the order of
    rows changes no bit. The vectors of a few users are copied at a time.
    """
    offsets = np.append(0, np.bincount(half // 2).cumsum())
    for first, stop in pairwise(cut_users(offsets, slice(0, len(offsets) - 1), SLICE // 16)):
        rows, n_halves = slice(offsets[first], offsets[stop]), 2 * (stop - first)
        part, dimensions = half[rows] - 2 * first, np.ascontiguousarray(values[row[rows]].T)
        length = np.sqrt(sum(one.astype(np.float64) ** 2 for one in dimensions))
        for one in dimensions:
            unit = one / length
            high = np.rint(unit * 2.0**26) / 2.0**26
            low = np.rint((unit - high) * 2.0**53) / 2.0**53
            yield np.arange(first, stop), sum_by(part, high, n_halves) + sum_by(part, low, n_halves)


class JudgedRankings(NamedTuple):
    """The rankings of judged rows.

    Under a tie rule by relevance, other judged rows come next to relevant ones: after them under
    "best", before them under "worst".

    Parameters
    ----------
    hits : Ranker
        Ranks all rows, with judged rows in the role of relevant rows.
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
    """Return the rankings of judged rows; `rows` has a flag for each judged row."""
    if rankings.is_ranked is not None:
        lost = rows & ~rankings.is_ranked & (rankings.grades == 0)
        n_others = n_others + rankings.groups.count(lost)
    hits = Ranker(rankings._replace(grades=rows.view(np.uint8)), rule)
    judged = np.flatnonzero(rows)
    alone = Rankings(rankings.groups.take(judged), *Rows(*rankings[1:]).take(judged))
    return JudgedRankings(hits, Ranker(alone, rule), n_unlisted, n_others)


class JudgedRows:
    """The counts of the judged rows of a run of users."""

    def __init__(self, rankings: JudgedRankings, users: slice, cut_offs: Sequence[int]) -> None:
        self._rankings, self._users, self._cut_offs = rankings, users, cut_offs
        # The number of judged items that are neither relevant nor ranked.
        self.n_others = rankings.n_others[users]

    @cached_property
    def hits(self) -> dict[int, Fractions]:
        """The number of judged rows among the first k, as numerator and denominator, by cut-off."""
        none = np.zeros_like(self._rankings.n_others)
        depth = Depth(self._cut_offs[-1], at_n_relevant=False)
        counts = count(self._rankings.hits, self._users, none, depth)
        return {k: expected_hits(counts, k) for k in self._cut_offs}

    def count(self) -> Counts:
        """Return the counts of relevant rows in the rankings of judged rows."""
        return count(self._rankings.alone, self._users, self._rankings.n_unlisted)
