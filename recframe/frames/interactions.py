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
from recframe.frames.texts import order_by_text
from recframe.frames.user_groups import UserGroups, find_nulls, group_users, has_nulls
from recframe.frames.values import read_relevance, read_scores
from recframe.kernel.counting import find_tied
from recframe.kernel.grouping import group_offsets, sum_by_user
from recframe.kernel.rankings import Gains, Rankings, split_users
from recframe.kernel.repeats import Repeats
from recframe.kernel.threads import Array, in_threads
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

    def rankings(self, score: Hashable, gains: Gains | None = None) -> Rankings:
        """Return the ranked rows of every user by one score column, with these gains."""
        values, is_ranked = self.scores[score]
        offsets = self.groups.offsets
        if is_ranked is None:
            return Rankings(values, self.relevant, offsets, self.n_unlisted, gains)
        return Rankings(
            values[is_ranked],
            self.relevant[is_ranked],
            group_offsets(sum_by_user(is_ranked, offsets)),
            sum_by_user(self.relevant & ~is_ranked, offsets) + self.n_unlisted,
            None if gains is None else gains.rank(is_ranked, self.relevant, offsets),
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
    rows = _complete_rows(frame, [label for label in checked if label is not None])
    n_rows = len(frame) if rows is None else len(rows)
    if columns.user is None:
        groups = UserGroups(pd.Index([ALL_USERS]), None, np.array([0, n_rows]))
    else:
        groups = group_users(get_column(frame, columns.user, rows))
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
    interactions = _settle_repeats(interactions, options, lenient=lenient)
    # Of what is read leniently nothing depends on the order of ties.
    return _order_ties(interactions) if options.tie_rule.by_item and not lenient else interactions


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
        groups=groups._replace(offsets=np.searchsorted(first, groups.offsets)),
        n_repeated=len(repeats.rows),
    )
    if best:
        place = np.cumsum(is_first) - 1
        place[repeats.rows] = place[repeats.first]
        unfolded = Unfolded(interactions.find_rows()[0], place, scores)
        scores = {label: fold_scores(*values, repeats) for label, values in scores.items()}
        relevant, find_gains = fold_relevance(relevant, find_gains, repeats)
        folded = folded._replace(
            unfolded=unfolded, relevant=relevant, scores=scores, find_gains=find_gains
        )
    return _take_rows(folded, first)


def _take_rows(interactions: Interactions, rows: Array) -> Interactions:
    """Return interactions with these of their rows, in this order."""
    order, find_gains = interactions.groups.order, interactions.find_gains
    return interactions._replace(
        groups=interactions.groups._replace(order=rows if order is None else order[rows]),
        relevant=interactions.relevant[rows],
        scores={
            label: (values[rows], None if is_ranked is None else is_ranked[rows])
            for label, (values, is_ranked) in interactions.scores.items()
        },
        find_gains=None if find_gains is None else lambda: _of_rows(find_gains(), rows),
    )


def _of_rows(gains: Gains, rows: Array) -> Gains:
    """Return the gains of some of the rows."""
    return gains._replace(gain=gains.gain[rows])


def _order_ties(interactions: Interactions) -> Interactions:
    """Return interactions in which a user's tied rows stand in the order of their items."""
    frame, columns, rows, groups, *_ = interactions
    is_tied = np.zeros(len(interactions.relevant), bool)
    for score, (_, is_ranked) in interactions.scores.items():
        runs = split_users(interactions.rankings(score))
        found = np.concatenate(in_threads(lambda run, _: find_tied(run), runs))
        is_tied[slice(None) if is_ranked is None else is_ranked] |= found
    tied = np.flatnonzero(is_tied)
    if len(tied) == 0:
        return interactions
    # They change places among themselves; where one is tied in another score only, it is no matter.
    own = tied if groups.order is None else groups.order[tied]
    item = get_column(frame, columns.item, own if rows is None else rows[own])
    user = np.searchsorted(groups.offsets, tied, side="right") - 1
    order = np.arange(len(is_tied))
    order[tied] = tied[order_by_text(user, item)]
    ordered = _take_rows(interactions, order)
    if (unfolded := interactions.unfolded) is None:
        return ordered
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return ordered._replace(unfolded=unfolded._replace(pair=place[unfolded.pair]))


def _complete_rows(frame: pd.DataFrame, labels: list[Hashable]) -> Array | None:
    """Return the rows in which no column of these labels is null, None where all are such."""
    columns = [column for label in labels if has_nulls(column := get_column(frame, label))]
    if not columns:
        return None
    return np.flatnonzero(~np.any([find_nulls(column) for column in columns], axis=0))
