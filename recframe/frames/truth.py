"""Truth: relevance that is looked up in a frame of relevant items, listed or not."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np
import pandas as pd

from recframe.errors import RecframeError
from recframe.frames.columns import Columns, find_truth_columns, get_column
from recframe.frames.graded import add_gains, read_gains
from recframe.frames.ids import Coded, append, encode, match, shown
from recframe.frames.interactions import Interactions, read_rows
from recframe.frames.user_groups import Groups
from recframe.kernel.gains import append_users, group_gains
from recframe.kernel.grouping import Array
from recframe.kernel.pairs import find_pairs
from recframe.options import Options, TruthLike

LOW_BITS = (1 << 28) - 1  # of an integer id: as a rule they tell the items of a user apart


class Pairs(NamedTuple):
    """The rows of truth, distinct pairs of a user and an item.

    Parameters
    ----------
    users : Index
        The distinct users.
    user : ndarray of shape (n_pairs,), int
        The user of each pair, as a position in `users`.
    item : Coded of length n_pairs
        The item of each pair.
    relevant : ndarray of shape (n_pairs,), bool
        Whether the item is relevant.
    gains : ndarray of shape (n_pairs,), float, or None
        What the item adds to nDCG, 0 where it is not relevant; None: 1 where it is.
    """

    users: pd.Index[Any]
    user: Array
    item: Coded
    relevant: Array
    gains: Array | None = None


class Places(NamedTuple):
    """Where the pairs of truth are in a frame.

    Parameters
    ----------
    user : ndarray of shape (n_pairs,), int
        The user of each pair among the groups of the frame, -1 where there are no rows of it.
    row : ndarray of shape (n_pairs,), int
        The row of each pair in grouped order, -1 where it is not listed.
    """

    user: Array
    row: Array


class Judge:
    """Truth, by which a frame is judged, or one block of whole users after the other.

    Parameters
    ----------
    pairs : Pairs
        The rows of truth.
    columns : Columns
        The columns of the frame in their roles.
    options : Options
        What is asked for.
    """

    def __init__(self, pairs: Pairs, columns: Columns, options: Options) -> None:
        self.pairs = pairs
        self._columns = columns
        self._options = options
        self._is_listed = np.zeros(len(pairs.users), bool)

    def judge(self, frame: pd.DataFrame, interactions: Interactions) -> Interactions:
        """Return the arrays of a frame with the relevance that truth gives its rows."""
        places = locate(self.pairs, frame, self._columns, interactions)
        self._is_listed[self.pairs.user[places.user >= 0]] = True
        return judge_rows(interactions, self.pairs, places)

    def note(self, users: pd.Index[Any]) -> None:
        """Take note of users that have been judged elsewhere."""
        self._is_listed |= match(self.pairs.users, users, "user") >= 0

    def add_absent(self, interactions: Interactions) -> Interactions:
        """Return interactions with the users added that no frame judged had, if these count.

        Raise where no user of truth was in any of them.
        """
        if not self._is_listed.any():
            raise_no_common(interactions.groups.users, self.pairs.users)
        if self._options.absent == "drop" or self._is_listed.all():
            return interactions
        return append_absent(interactions, self.pairs, np.flatnonzero(~self._is_listed))


def read_interactions(
    frame: pd.DataFrame, columns: Columns, options: Options, *, graded: bool = False
) -> Interactions:
    """Return the arrays of a frame, with the relevance that truth gives where there is one."""
    if columns.item is None:
        return read_part(frame, columns, options, None, graded=graded)
    judge = open_judge(columns, options, graded=graded)
    return judge.add_absent(read_part(frame, columns, options, judge, graded=graded))


def read_part(
    frame: pd.DataFrame, columns: Columns, options: Options, judge: Judge | None, *, graded: bool
) -> Interactions:
    """Return the arrays of a part of all rows that holds whole users, judged where truth is."""
    interactions = read_rows(frame, columns, options)
    if judge is not None:
        return judge.judge(frame, interactions)
    return add_gains(interactions, frame, columns.relevant, options) if graded else interactions


def open_judge(columns: Columns, options: Options, *, graded: bool = False) -> Judge:
    """Return the judge that holds the truth of these options, with gains where they are needed."""
    pairs = read_pairs(load_truth(options.truth), columns, options, graded=graded)
    return Judge(pairs, columns, options)


def load_truth(truth: TruthLike | None) -> pd.DataFrame:
    """Return truth as a frame, or raise where there is none or its file cannot be read."""
    if truth is None:
        raise RecframeError("truth: judge needs it; pass the frame of relevant items")
    if isinstance(truth, pd.DataFrame):
        return truth
    try:
        return pd.read_parquet(truth)
    except FileNotFoundError as error:
        raise RecframeError(f"truth: cannot read {truth}: no such file") from error
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise RecframeError(f"truth: cannot read {truth}: {reason}") from error


def read_pairs(
    truth: pd.DataFrame, columns: Columns, options: Options, *, graded: bool = False
) -> Pairs:
    """Return the rows of truth, or raise where they are not distinct pairs of ids."""
    try:
        columns = find_truth_columns(truth, columns, options)
        if columns.relevant is None and options.min_relevance is not None:
            raise RecframeError(
                "min_relevance needs a column of relevance, found none; pass relevant= its label"
            )
        rows = read_rows(truth, columns, options)
        users, offsets = rows.groups.users, rows.groups.offsets
        if offsets[-1] == 0:
            raise RecframeError("there are no rows, so no item is relevant to anyone")
        item = _read_items(truth, columns, rows)
        none = np.empty(0, np.int64)
        _find_rows(item, rows.groups, columns, none, item._replace(codes=none))
        gains = read_gains(rows, truth, columns.relevant, options) if graded else None
    except RecframeError as error:
        raise type(error)(f"truth: {error}") from None
    user = np.repeat(np.arange(len(users)), np.diff(offsets))
    relevant = np.ones(len(user), bool) if columns.relevant is None else rows.relevant
    return Pairs(users, user, item, relevant, gains)


def locate(
    pairs: Pairs, frame: pd.DataFrame, columns: Columns, interactions: Interactions
) -> Places:
    """Return where the pairs are in a frame; raise for ids that never match or pairs twice."""
    groups = interactions.groups
    users = match(pairs.users, groups.users, "user")
    user = users[pairs.user]
    item = _read_items(frame, columns, interactions)
    return Places(user, _find_rows(item, groups, columns, user, pairs.item))


def judge_rows(interactions: Interactions, pairs: Pairs, places: Places) -> Interactions:
    """Return interactions with the relevance of their rows, and of items not among them."""
    relevant = np.zeros(len(interactions.relevant), bool)
    listed = np.flatnonzero(pairs.relevant & (places.row >= 0))
    relevant[places.row[listed]] = True
    unlisted = pairs.relevant & (places.row < 0) & (places.user >= 0)
    n_users = len(interactions.groups.users)
    n_unlisted = np.bincount(places.user[unlisted], minlength=n_users)
    gains = None
    if pairs.gains is not None:
        gains = group_gains(places.user[unlisted], pairs.gains[unlisted], n_users)
        gains = gains._replace(rows=np.zeros(len(relevant)))
        gains.rows[places.row[listed]] = pairs.gains[listed]
    return interactions._replace(relevant=relevant, n_unlisted=n_unlisted, gains=gains)


def raise_no_common(users: pd.Index[Any], truth_users: pd.Index[Any]) -> NoReturn:
    """Refuse a frame and truth that have no user in common."""
    raise RecframeError(
        f"user: no user is in both the frame and truth; {shown(users, truth_users)}"
    )


def append_absent(interactions: Interactions, pairs: Pairs, absent: Array) -> Interactions:
    """Return interactions with users of truth added, by their positions there, without a row."""
    users, order, offsets, _ = interactions.groups
    n_relevant = np.bincount(pairs.user[pairs.relevant], minlength=len(pairs.users))
    ends = np.full(len(absent), offsets[-1])
    groups = Groups(append(users, pairs.users[absent]), order, np.append(offsets, ends))
    n_unlisted = np.append(interactions.n_unlisted, n_relevant[absent])
    gains = interactions.gains
    if pairs.gains is not None:
        if gains is None:  # as where there is no row
            gains = group_gains(np.empty(0, np.int64), np.empty(0), len(users))
        added = pairs.relevant & np.isin(pairs.user, absent)
        gains = append_users(gains, pairs.gains[added], n_relevant[absent])
    return interactions._replace(groups=groups, n_unlisted=n_unlisted, gains=gains)


def _read_items(frame: pd.DataFrame, columns: Columns, rows: Interactions) -> Coded:
    """Return the items of the rows kept, in grouped order."""
    column = get_column(frame, columns.item)
    item = encode(column if rows.rows is None else column.iloc[rows.rows], "item")
    order = rows.groups.order
    return item if order is None else item._replace(codes=item.codes[order])


def _find_rows(item: Coded, groups: Groups, columns: Columns, user: Array, asked: Coded) -> Array:
    """Return the row of each pair of a user and an item asked for, -1 where there is none.

    The rows and their items are in grouped order. Raise where one user has an item twice.
    """
    offsets = groups.offsets
    if item.ids is None and asked.ids is None:
        own, low_bits = item.codes & LOW_BITS, asked.codes & LOW_BITS
        # The fewer bits, the fewer passes over them.
        n_codes = 1 + int(max(own.max(initial=0), low_bits.max(initial=0)))
        found = find_pairs(own, offsets, n_codes, user, low_bits)
        listed = found.rows >= 0
        same = np.array_equal(item.codes[found.rows[listed]], asked.codes[listed])
        if same and not found.n_repeated:
            return found.rows
    codes, ids = item.numbered()
    code = user
    if len(user):
        asked_codes, asked_ids = asked.numbered()
        code = match(asked_ids, ids, "item")[asked_codes]
    found = find_pairs(codes, offsets, len(ids), user, code)
    if found.n_repeated:
        place = int(np.searchsorted(offsets, found.example, side="right")) - 1
        id_user = groups.users[[place]].tolist()[0]
        id_item = ids[[codes[found.example]]].tolist()[0]
        labels = [label for label in (columns.user, columns.item) if label is not None]
        raise RecframeError(
            f"a pair of user and item must be there once, found {found.n_repeated} repeated of "
            f"{len(codes)} rows (such as user {id_user!r}, item {id_item!r}); remove them, "
            f"for example with drop_duplicates({labels})"
        )
    return found.rows
