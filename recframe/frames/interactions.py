"""Interactions: from a frame to arrays. Labels and dtypes above, arrays below; the only way in."""

from collections.abc import Callable, Hashable
from contextlib import nullcontext, suppress
from typing import NamedTuple

import numpy as np
import pandas as pd

from recframe.errors import RecframeError
from recframe.frames.columns import Columns, get_column
from recframe.frames.duplicates import (
    Unfolded,
    find_item_repeats,
    fold_relevance,
    fold_scores,
    repeated_error,
)
from recframe.frames.user_groups import UserGroups, find_nulls, group_users, has_nulls
from recframe.frames.values import read_relevance, read_scores
from recframe.kernel.grouping import group_offsets, sum_by_user
from recframe.kernel.rankings import Gains, Judged, Rankings
from recframe.kernel.repeats import Repeats
from recframe.kernel.threads import Array
from recframe.options import Options

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
        the best: those of ascending scores are turned round. `is_ranked` is a boolean array, or
        None where every row is ranked.
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
    find_judged : callable, default None
        Returns which rows, in grouped order, truth holds; None: every one.
    """

    frame: pd.DataFrame
    columns: Columns
    rows: Array | None
    groups: UserGroups
    relevant: Array
    scores: dict[Hashable, tuple[Array, Array | None]]
    n_unlisted: Array
    is_judged: bool
    find_gains: Callable[[], Gains] | None = None
    n_repeated: int = 0
    repeats: Repeats | None = None
    unfolded: Unfolded | None = None
    find_judged: Callable[[], Judged] | None = None

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
            return Rankings(values, self.relevant, offsets, self.n_unlisted, gains, judged)
        return Rankings(
            values[is_ranked],
            self.relevant[is_ranked],
            group_offsets(sum_by_user(is_ranked, offsets)),
            sum_by_user(self.relevant & ~is_ranked, offsets) + self.n_unlisted,
            None if gains is None else gains.rank(is_ranked, self.relevant, offsets),
            None if judged is None else judged.rank(is_ranked, self.relevant, offsets),
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
            has_best = own == values[place]
            stands = has_best if stands is None else has_best & stands
        if stands is not None:
            rows, place = rows[stands], place[stands]
        return rows, place if is_ranked is None else (np.cumsum(is_ranked) - 1)[place]


def read_interactions(
    frame: pd.DataFrame, columns: Columns, options: Options, *, lenient: bool = False
) -> Interactions:
    """Return the arrays of a frame's columns, nulls treated as `missing` says.

    With truth no row is relevant yet: `truth.read_judged` looks them up. Where reading is lenient,
    rows with a null user or relevance are left out, those with a null score not ranked, and a
    relevance column that cannot be read says nothing.
    """
    checked = [columns.user, columns.relevant] if lenient else []
    if options.missing == "drop":
        checked = [columns.user, columns.relevant, *columns.scores]
        checked += [columns.item] if _reads_items(options) else []
    rows = complete_rows(frame, [label for label in checked if label is not None])
    n_rows = len(frame) if rows is None else len(rows)
    groups = find_groups(frame, columns.user, rows)
    relevant, find_gains = None, None
    if columns.relevant is not None:
        relevance = get_column(frame, columns.relevant, rows)
        with suppress(RecframeError) if lenient else nullcontext():
            relevant, find_gains = read_relevance(relevance, groups, options)
    scores = {
        label: read_scores(get_column(frame, label, rows), groups, options, lenient, is_low_best)
        for label, is_low_best in zip(columns.scores, columns.ascending, strict=True)
    }
    interactions = Interactions(
        frame,
        columns,
        rows,
        groups,
        np.zeros(n_rows, bool) if relevant is None else relevant,
        scores,
        np.broadcast_to(np.int64(0), len(groups.users)),
        relevant is not None,
        find_gains,
    )
    if columns.item is None or not (_reads_items(options) or lenient):
        return interactions
    return _settle_repeats(interactions, options, lenient=lenient)


def find_groups(frame: pd.DataFrame, user: Hashable | None, rows: Array | None) -> UserGroups:
    """Return the rows of each user, of a frame or of some of its rows; None is one user."""
    if user is not None:
        return group_users(get_column(frame, user, rows))
    n_rows = len(frame) if rows is None else len(rows)
    return UserGroups(pd.Index([ALL_USERS]), None, np.array([0, n_rows]))


def _reads_items(options: Options) -> bool:
    """Return whether items count, where a frame has them."""
    return options.has_truth or options.duplicates != "keep"


def _settle_repeats(interactions: Interactions, options: Options, *, lenient: bool) -> Interactions:
    """Return what `duplicates` makes of rows that repeat the user and item of another."""
    frame, columns, rows, groups, *_ = interactions
    item = get_column(frame, columns.item, rows)
    repeats = find_item_repeats(item, groups, lenient=lenient)
    if len(repeats.rows) == 0:
        return interactions
    if options.duplicates == "raise" and not lenient:
        raise repeated_error(frame, columns, interactions.find_rows()[0], repeats)
    if options.duplicates in ("raise", "keep"):
        return interactions._replace(n_repeated=len(repeats.rows), repeats=repeats)
    return _fold(interactions, repeats, best=options.duplicates == "max")


def _fold(interactions: Interactions, repeats: Repeats, *, best: bool) -> Interactions:
    """Return interactions with one row for each pair: its first row, or with the best of all."""
    _, _, _, groups, relevant, scores, _, _, find_gains, *_ = interactions
    is_first = np.ones(len(relevant), bool)
    is_first[repeats.rows] = False
    first = np.flatnonzero(is_first)
    folded = interactions._replace(
        groups=groups._replace(
            order=first if groups.order is None else groups.order[first],
            offsets=np.searchsorted(first, groups.offsets),
        ),
        n_repeated=len(repeats.rows),
    )
    if best:
        place = np.cumsum(is_first) - 1
        place[repeats.rows] = place[repeats.first]
        unfolded = Unfolded(interactions.find_rows()[0], place, scores)
        scores = {label: fold_scores(*values, repeats) for label, values in scores.items()}
        folded = folded._replace(unfolded=unfolded)
        relevant, find_gains = fold_relevance(relevant, find_gains, repeats)

    return folded._replace(
        relevant=relevant[first],
        scores={
            label: (values[first], None if is_ranked is None else is_ranked[first])
            for label, (values, is_ranked) in scores.items()
        },
        find_gains=None if find_gains is None else lambda: _of_rows(find_gains(), first),
    )


def _of_rows(gains: Gains, rows: Array) -> Gains:
    """Return the gains of some of the rows."""
    return gains._replace(gain=gains.gain[rows])


def complete_rows(frame: pd.DataFrame, labels: list[Hashable]) -> Array | None:
    """Return the rows in which no column of these labels is null, None where all are such."""
    columns = [column for label in labels if has_nulls(column := get_column(frame, label))]
    if not columns:
        return None
    return np.flatnonzero(~np.any([find_nulls(column) for column in columns], axis=0))
