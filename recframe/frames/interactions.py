"""Interactions: the columns of a frame as arrays, and the rankings they make."""

from collections.abc import Callable, Hashable
from typing import NamedTuple, Self, cast

import numpy as np
import pandas as pd

from recframe.frames.columns import Columns
from recframe.frames.duplicates import Unfolded
from recframe.frames.user_groups import UserGroups
from recframe.frames.values import Scores
from recframe.kernel.grouping import group_offsets, sum_by_user
from recframe.kernel.pieces import whole
from recframe.kernel.rankings import Gains, Judged, Rankings
from recframe.kernel.repeats import Repeats
from recframe.kernel.row_order import KnownOrder
from recframe.kernel.threads import Array

ALL_USERS = "all"  # the index label where the frame is one ranking


class Interactions(NamedTuple):
    """The columns of a frame in their roles, as arrays.

    Parameters
    ----------
    frame, columns : DataFrame, Columns
        The frame, and the labels of its columns in their roles.
    rows : ndarray of shape (n_rows,), int, or None
        The positions in the frame of the rows kept; None where all are.
    groups : UserGroups
        The rows of each user.
    relevant : ndarray of shape (n_rows,), bool
        Whether each row is relevant, in grouped order.
    scores : dict
        Label of each score column: (values, is_ranked), in grouped order. The highest value is
        the best: those of ascending scores are turned round. Values are an array or, as they come,
        pieces; `is_ranked` is a boolean array, or None where every row is ranked.
    n_unlisted : ndarray of shape (n_users,), int
        Relevant items of each user that have no row.
    is_judged : bool
        Whether it is known which rows are relevant; where not, none is.
    find_gains : callable, default None
        Returns what the rows, in grouped order, and those items add to nDCG; None: 1 each.
    n_repeated : int, default 0
        How many rows of the frame repeat the user and item of one before, as far as looked for.
    repeats : Repeats, default None
        Those rows, in grouped order, where truth must know of them.
    unfolded : Unfolded, default None
        The rows before those of one pair became one, where they did.
    averaged : tuple of ndarray of shape (n_rows,), float
        The values of the columns that metrics are of, in grouped order.
    find_judged : callable, default None
        Returns which rows, in grouped order, truth holds; None: every one.
    text_keys : ndarray of shape (n_rows,), int, default None
        The keys of items that are text, in grouped order, where they are known.
    """

    frame: pd.DataFrame
    columns: Columns
    rows: Array | None
    groups: UserGroups
    relevant: Array
    scores: Scores
    n_unlisted: Array
    is_judged: bool
    find_gains: Callable[[], Gains] | None = None
    n_repeated: int = 0
    repeats: Repeats | None = None
    unfolded: Unfolded | None = None
    averaged: tuple[Array, ...] = ()
    find_judged: Callable[[], Judged] | None = None
    text_keys: Array | None = None

    def judged(self) -> Judged:
        """Return what truth holds; without truth that is every row."""
        if self.find_judged is not None:
            return self.find_judged()
        return Judged(None, np.zeros(len(self.groups.users), np.int64))

    def rankings(
        self, score: Hashable, gains: Gains | None = None, judged: Judged | None = None
    ) -> Rankings:
        """Return the ranked rows of every user by one score column, with these gains."""
        values, is_ranked = self.scores[score]
        offsets = self.groups.offsets
        if is_ranked is None:
            return Rankings(
                values, self.relevant, offsets, self.n_unlisted, gains, self.averaged, judged
            )
        return Rankings(
            whole(values)[is_ranked],
            self.relevant[is_ranked],
            group_offsets(sum_by_user(is_ranked, offsets)),
            sum_by_user(self.relevant & ~is_ranked, offsets) + self.n_unlisted,
            None if gains is None else gains.rank(is_ranked, self.relevant, offsets),
            tuple(column[is_ranked] for column in self.averaged),
            None if judged is None else judged.rank(is_ranked, self.relevant, offsets),
        )

    def take(self, rows: Array) -> Self:
        """Return interactions with these of their rows, in this order."""
        return self._rearrange(lambda values: values[rows])

    def move(self, rows: Array, places: Array) -> Self:
        """Return interactions in which these of their rows stand at those places of each other."""

        def arrange(values: Array) -> Array:
            moved = values.copy()  # which takes a fifth of the time of putting all in order
            moved[places] = values[rows]
            return moved

        return self._rearrange(arrange)

    def _rearrange(self, arrange: Callable[[Array], Array]) -> Self:
        """Return interactions with their rows as a function arranges values of them."""
        find_gains, find_judged = self.find_gains, self.find_judged
        order = self.groups.order
        order = arrange(np.arange(len(self.relevant)) if order is None else order)

        def take_gains() -> Gains:
            gains = cast("Callable[[], Gains]", find_gains)()
            return gains._replace(gain=arrange(gains.gain))

        def take_judged() -> Judged:
            judged = self.judged()
            return judged if judged.rows is None else judged._replace(rows=arrange(judged.rows))

        return self._replace(
            groups=self.groups._replace(row_order=KnownOrder(order)),
            relevant=arrange(self.relevant),
            averaged=tuple(map(arrange, self.averaged)),
            scores={
                label: (arrange(whole(values)), None if is_ranked is None else arrange(is_ranked))
                for label, (values, is_ranked) in self.scores.items()
            },
            find_gains=None if find_gains is None else take_gains,
            find_judged=None if find_judged is None else take_judged,
            text_keys=None if self.text_keys is None else arrange(self.text_keys),
        )

    def find_rows(self) -> tuple[Array, Array]:
        """Return the positions in the frame of the rows read, and where each is among these.

        Rows of a pair that were made one are at the same place.
        """
        if self.unfolded is not None:
            return self.unfolded.rows, self.unfolded.pair
        rows, order = self.rows, self.groups.order
        place = np.arange(len(self.relevant))
        if rows is None:
            return place if order is None else order, place
        return rows if order is None else rows[order], place

    def find_ranked(self, score: Hashable) -> tuple[Array, Array]:
        """Return the positions in the frame of the rows ranked by a score, and their places there.

        Of a pair's rows that were made one, those with its score stand for it.
        """
        rows, place = self.find_rows()
        values, is_ranked = self.scores[score]
        stands = is_ranked
        if self.unfolded is not None:
            own, stands = self.unfolded.scores[score]
            has_best = whole(own) == whole(values)[place]
            stands = has_best if stands is None else has_best & stands
        if stands is not None:
            rows, place = rows[stands], place[stands]
        return rows, place if is_ranked is None else (np.cumsum(is_ranked) - 1)[place]
