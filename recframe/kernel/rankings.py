"""Rankings: rows of many users and their gains, which are counted by runs of users. NumPy only."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from recframe.kernel.grouping import group_rows, sum_by_user
from recframe.kernel.pieces import Pieces
from recframe.kernel.threads import Array, Result, in_threads, user_bounds


class TieRule(NamedTuple):
    """Which rows of equal score come first. Neither field set: every order is as likely.

    Parameters
    ----------
    row_order : {1, -1, 0}, default 0
        1 where they come as they stand, -1 where in reverse; 0: the order of rows does not count.
    relevant_first : bool or None, default None
        Whether relevant rows come first or last; None: relevance does not count.
    by_item : bool, default False
        Whether rows stand in the order of their items, so that theirs in the frame does not count.
    """

    row_order: int = 0
    relevant_first: bool | None = None
    by_item: bool = False

    @property
    def is_expectation(self) -> bool:
        """Whether a tie is kept, and counts by its expectation over all orders of its rows."""
        return not self.row_order and not self.reads_relevance

    @property
    def reads_relevance(self) -> bool:
        """Whether relevant rows come first or last."""
        return self.relevant_first is not None

    @property
    def reads_rows(self) -> bool:
        """Whether the order of the frame's rows counts."""
        return self.row_order != 0 and not self.by_item


TIE_RULES = {
    "expected": TieRule(),
    "first": TieRule(row_order=1),
    "last": TieRule(row_order=-1),
    "best": TieRule(relevant_first=True),
    "worst": TieRule(relevant_first=False),
    "item": TieRule(row_order=1, by_item=True),
}


class Gains(NamedTuple):
    """The gains of rows grouped by user, and of relevant items that are not among them.

    Parameters
    ----------
    gain : ndarray of shape (n_rows,), real
        The gain of each relevant row; of others it is never looked at.
    unranked : ndarray of shape (n_unranked,), float
        The gains of relevant items that are not among the rows, grouped by user.
    offsets : ndarray of shape (n_users + 1,), int
        Those of user i are ``unranked[offsets[i]:offsets[i + 1]]``.
    """

    gain: Array
    unranked: Array
    offsets: Array

    def part(self, rows: slice, first: int, stop: int) -> Gains:
        """Return the gains of a run of users, whose rows are these."""
        offsets = self.offsets[first : stop + 1]
        return Gains(self.gain[rows], self.unranked[offsets[0] : offsets[-1]], offsets - offsets[0])

    def rank(self, is_ranked: Array, relevant: Array, offsets: Array) -> Gains:
        """Return the gains where only some rows are ranked; offsets bound the users' rows."""
        lost = np.flatnonzero(relevant & ~is_ranked)
        added = np.searchsorted(offsets, lost, side="right") - 1
        user = np.append(np.repeat(np.arange(len(offsets) - 1), np.diff(self.offsets)), added)
        gains = group_gains(user, np.append(self.unranked, self.gain[lost]), len(offsets) - 1)
        return gains._replace(gain=self.gain[is_ranked])


class Judged(NamedTuple):
    """Which rows, grouped by user, truth holds, relevant or not.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,), bool, or None
        Whether truth holds a row; None: every one.
    n_others : ndarray of shape (n_users,), int
        Items that truth holds, that are not relevant and not among these rows.
    """

    rows: Array | None
    n_others: Array

    def part(self, rows: slice, first: int, stop: int) -> Judged:
        """Return what is judged of a run of users, whose rows are these."""
        return Judged(None if self.rows is None else self.rows[rows], self.n_others[first:stop])

    def rank(self, is_ranked: Array, relevant: Array, offsets: Array) -> Judged:
        """Return what is judged where only some rows are ranked; offsets bound the users' rows."""
        lost = ~is_ranked & ~relevant
        if self.rows is None:
            return Judged(None, self.n_others + sum_by_user(lost, offsets))
        n_others = self.n_others + sum_by_user(lost & self.rows, offsets)
        return Judged(self.rows[is_ranked], n_others)


class Rankings(NamedTuple):
    """Rows of many users, grouped by user.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,), real, or Pieces of them
        The values rows are ranked by, highest first; no NaN.
    relevant : ndarray of shape (n_rows,), bool
        Whether a row is relevant.
    offsets : ndarray of shape (n_users + 1,), int
        The rows of user i are ``offsets[i]:offsets[i + 1]``.
    n_unranked : ndarray of shape (n_users,), int
        Relevant items of the user that are not among these rows.
    gains : Gains, default None
        What the rows and those items add to DCG; None: 1 where relevant.
    values : tuple of ndarray of shape (n_rows,), float, default none
        Other columns of the rows.
    judged : Judged, default None
        What truth holds; None where nobody asks.
    """

    scores: Array | Pieces
    relevant: Array
    offsets: Array
    n_unranked: Array
    gains: Gains | None = None
    values: tuple[Array, ...] = ()
    judged: Judged | None = None

    def part(self, users: slice) -> Rankings:
        """Return the rankings of a run of users."""
        first, stop = users.start, users.stop
        rows = slice(self.offsets[first], self.offsets[stop])
        return Rankings(
            self.scores[rows],
            self.relevant[rows],
            self.offsets[first : stop + 1] - self.offsets[first],
            self.n_unranked[users],
            None if self.gains is None else self.gains.part(rows, first, stop),
            tuple(values[rows] for values in self.values),
            None if self.judged is None else self.judged.part(rows, first, stop),
        )

    def move_relevant(self, rows: Array, places: Array) -> Rankings:
        """Return rankings in which those of these rows that are relevant stand at these places."""
        relevant, gains = self.relevant.copy(), self.gains
        relevant[places] = self.relevant[rows]
        if gains is not None:
            gain = gains.gain.copy()
            gain[places] = gains.gain[rows]
            gains = gains._replace(gain=gain)
        return self._replace(relevant=relevant, gains=gains)


def split_users(rankings: Rankings) -> list[slice]:
    """Return runs of whole users, each for one thread."""
    bounds = user_bounds(rankings.offsets).tolist()
    return [slice(*each) for each in pairwise(bounds)] or [slice(0, 0)]


def map_users(function: Callable[[Rankings, slice], Result], rankings: Rankings) -> list[Result]:
    """Call a function with runs of whole users, in threads, and which of all users they are."""
    tasks = [(users,) for users in split_users(rankings)]
    return in_threads(lambda users: function(rankings.part(users), users), tasks)


def group_gains(user: Array, unranked: Array, n_users: int) -> Gains:
    """Return gains of no row, and of these items of users."""
    order, offsets = group_rows(user, n_users)
    return Gains(np.empty(0), unranked[order], offsets)
