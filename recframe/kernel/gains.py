"""Gains: what each relevant item adds to nDCG, beside the rows it belongs to. NumPy only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recframe.kernel.grouping import Array, group_offsets, group_rows


class Gains(NamedTuple):
    """The gains of rows grouped by user, and of relevant items that are not among them.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,), real
        The gain of each relevant row; of others it is never looked at.
    unranked : ndarray of shape (n_unranked,), float
        The gains of relevant items that are not among the rows, grouped by user.
    offsets : ndarray of shape (n_users + 1,), int
        Those of user i are ``unranked[offsets[i]:offsets[i + 1]]``.
    """

    rows: Array
    unranked: Array
    offsets: Array

    def part(self, rows: slice, first: int, stop: int) -> Gains:
        """Return the gains of a run of users, whose rows are these."""
        offsets = self.offsets[first : stop + 1]
        return Gains(self.rows[rows], self.unranked[offsets[0] : offsets[-1]], offsets - offsets[0])

    def rank(self, ranked: Array, relevant: Array, offsets: Array) -> Gains:
        """Return the gains where only some rows are ranked; offsets bound the users' rows."""
        lost = np.flatnonzero(relevant & ~ranked)
        added = np.searchsorted(offsets, lost, side="right") - 1
        user = np.repeat(np.arange(len(offsets) - 1), np.diff(self.offsets))
        gains = group_gains(
            np.append(user, added), np.append(self.unranked, self.rows[lost]), len(offsets) - 1
        )
        return gains._replace(rows=self.rows[ranked])


def group_gains(user: Array, unranked: Array, n_users: int) -> Gains:
    """Return gains of no row, and of these items of users."""
    order, offsets = group_rows(user, n_users)
    return Gains(np.empty(0), unranked[order], offsets)


def append_users(gains: Gains, unranked: Array, sizes: Array) -> Gains:
    """Return gains with users added who have no row, and so many items each."""
    offsets = np.append(gains.offsets, gains.offsets[-1] + group_offsets(sizes)[1:])
    return gains._replace(unranked=np.append(gains.unranked, unranked), offsets=offsets)
