"""Truth: relevance that is looked up in a frame of relevant items, listed or not."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.disk import check_opens
from recframe.errors import RecframeError, RepeatedPairError, quote, shorten, show_path
from recframe.foreign import find_reader
from recframe.frames.columns import Columns, find_truth_columns, get_column
from recframe.frames.grades import check_no_grades
from recframe.frames.ids import Coded, append, encode, find_rows, match
from recframe.frames.interactions import Interactions, read_interactions
from recframe.frames.labels import is_infer
from recframe.frames.overlap import Items, Overlap, are_listed, find_items
from recframe.frames.user_groups import UserGroups
from recframe.kernel.rankings import Gains, group_gains
from recframe.kernel.threads import Array
from recframe.lakehouse import find_delta, open_delta
from recframe.options import Options


class Judgments(NamedTuple):
    """What truth says: distinct pairs of a user and an item.

    Parameters
    ----------
    users : Index
        The distinct users.
    user : ndarray of shape (n_pairs,), int
        The user of each pair, as a position in `users`.
    item, relevant : Coded of length n_pairs, ndarray of shape (n_pairs,), bool
        The item of each pair, and whether it is relevant.
    find_gains : callable, default None
        Returns what relevant items add to nDCG; None: 1 each.
    """

    users: pd.Index[Any]
    user: Array
    item: Coded
    relevant: Array
    find_gains: Callable[[], Gains] | None = None


class Matches(NamedTuple):
    """Where the pairs of truth are in a frame, -1 where they are not.

    `user` is the user of each pair among the groups of the frame, `row` its row in grouped order,
    the first where there are several.
    """

    user: Array
    row: Array


@dataclass
class Judge:
    """What judges a frame by truth, or one block of whole users after the other."""

    judgments: Judgments
    options: Options

    def __post_init__(self) -> None:
        """Begin with nothing of truth listed."""
        self._overlap = Overlap(self.judgments.users, self.judgments.item)

    def judge(self, interactions: Interactions, *, is_all: bool = False) -> Interactions:
        """Return the arrays of a frame with the relevance that truth gives its rows.

        Where the frame `is_all` there is, users of truth who have no row in it are added.
        """
        matches = self.find(interactions, is_all=is_all)
        if is_all:
            return self._add_absent(interactions, matches)
        return judge_rows(interactions, self.judgments, matches)

    def judge_apart(self, interactions: Interactions) -> tuple[Interactions, Overlap]:
        """Return the arrays of a part judged by a truth that is of its users only.

        Users of truth who have no row in it are added. What the part has in common with truth is
        for all parts together to be checked by.
        """
        return self._add_absent(interactions, self.find(interactions)), self._overlap

    def find(self, interactions: Interactions, *, is_all: bool = False) -> Matches:
        """Return where the pairs of truth are in a frame.

        Raise, where it `is_all` there is, if it has no user or no item of truth.
        """
        matches, overlap = find_matches(self.judgments, interactions), self._overlap
        is_listed = np.zeros(len(self.judgments.users), bool)
        is_listed[self.judgments.user[matches.user >= 0]] = True
        overlap.note_users(interactions.groups.users, is_listed)
        if not overlap.has_items:
            # As a rule some pair is found, and items need not be looked at by themselves.
            items = Items(True)
            if not (matches.row >= 0).any():
                items = find_items(_get_items(interactions), overlap.truth_items)
            overlap.note_items([items])
        if is_all:
            overlap.check()
        return matches

    def find_relevant(self, interactions: Interactions | None) -> Array:
        """Return which of the distinct items that truth calls relevant are in a frame, if any."""
        item, relevant = self.judgments.item, self.judgments.relevant
        ids = item._replace(codes=item.codes[relevant]).distinct()
        if interactions is None:
            return np.zeros(len(ids), bool)
        return are_listed(ids, _get_items(interactions))

    def note(self, users: pd.Index[Any], items: Sequence[Items]) -> None:
        """Take note of users that have been judged elsewhere, and of the items of these parts."""
        self._overlap.note_users(users, match(self.judgments.users, users, "user") >= 0)
        self._overlap.note_items(items)

    def judge_absent(self, empty: Interactions) -> Interactions:
        """Return the arrays of a frame without rows, with the users added that none judged had."""
        self._overlap.check()
        nowhere = np.full(len(self.judgments.user), -1)
        return self._add_absent(empty, Matches(nowhere, nowhere))

    def _add_absent(self, interactions: Interactions, matches: Matches) -> Interactions:
        """Return judged interactions with the users added that no frame had, if these count."""
        users, order, offsets, _ = interactions.groups
        is_absent = ~self._overlap.is_listed
        if self.options.absent != "drop" and is_absent.any():
            added, user = self.judgments.users[is_absent], self.judgments.user
            offsets = np.append(offsets, np.full(len(added), offsets[-1]))
            groups = UserGroups(append(users, added), order, offsets)
            interactions = interactions._replace(groups=groups)
            # Those added are behind the others, in the order of truth.
            position = len(users) + np.cumsum(is_absent) - 1
            matches = matches._replace(user=np.where(is_absent[user], position[user], matches.user))
        return judge_rows(interactions, self.judgments, matches)


def open_judge(columns: Columns, options: Options) -> Judge | None:
    """Return the judge that holds the truth of these options; None where they have none."""
    return Judge(read_judgments(columns, options), options) if options.has_truth else None


def read_judged(frame: pd.DataFrame, columns: Columns, options: Options) -> Interactions:
    """Return the arrays of a frame, with the relevance that truth gives where there is one."""
    judge = open_judge(columns, options)
    interactions = read_interactions(frame, columns, options)
    return interactions if judge is None else judge.judge(interactions, is_all=True)


def check_truth_columns(columns: Columns, options: Options) -> None:
    """Raise where truth is a frame without the columns that it needs."""
    if isinstance(options.truth, pd.DataFrame):
        with _naming_truth():
            find_truth_columns(options.truth, columns, options)


def read_judgments(columns: Columns, options: Options) -> Judgments:
    """Return what truth says, or raise where its rows are not distinct pairs of ids."""
    truth = load_truth(options.truth)
    with _naming_truth():
        columns = find_truth_columns(truth, columns, options)
        if columns.relevant is None and is_infer(options.relevant):
            check_no_grades(truth, columns)
        if columns.relevant is None and options.min_relevance is not None:
            raise RecframeError(
                "min_relevance needs a column of relevance, found none; pass relevant= its label"
            )
        try:
            rows = read_interactions(truth, columns, replace(options, duplicates="raise"))
        except RepeatedPairError as error:
            labels = [label for label in (columns.user, columns.item) if label is not None]
            one = f"drop_duplicates({quote(labels)})"
            if columns.relevant is not None:
                one = f"sort_values({quote(columns.relevant)}).{one[:-1]}, keep='last')"
            raise RecframeError(f"{error.found}; make them one, with truth.{one}") from None
        users, offsets = rows.groups.users, rows.groups.offsets
        if offsets[-1] == 0:
            raise RecframeError("there are no rows, so no item is relevant to anyone")
        item = _read_items(rows)
    user = np.repeat(np.arange(len(users)), np.diff(offsets))
    relevant = rows.relevant if rows.is_judged else np.ones(len(user), bool)
    return Judgments(users, user, item, relevant, rows.find_gains)


def load_truth(truth: Any) -> pd.DataFrame:
    """Return truth as a frame, or raise where its file cannot be read."""
    if isinstance(truth, pd.DataFrame):
        return truth
    with _naming_truth():
        check_opens(os.fspath(truth))
        root = find_delta(Path(truth), {}) if os.path.isdir(truth) else None  # noqa: PTH112 - raises nothing
        if root is not None:
            return pd.DataFrame(open_delta(root)[0].to_table().to_pandas())
    try:
        return pd.read_parquet(truth, page_checksum_verification=True)
    except (OSError, TypeError, ValueError) as error:
        is_missing = isinstance(error, FileNotFoundError)
        first = shorten(str(error).partition("\n")[0].rstrip("."))
        call = find_reader(truth, quote(os.fspath(truth)))
        reason = "no such file" if is_missing else f"{first}{call and f'; pass truth={call}'}"
        raise RecframeError(f"truth: cannot read {show_path(truth)}: {reason}") from error


@contextmanager
def _naming_truth() -> Iterator[None]:
    """Say of a refusal that it is about truth."""
    try:
        yield
    except RecframeError as error:
        raise type(error)(f"truth: {error}") from None


def find_matches(judgments: Judgments, interactions: Interactions) -> Matches:
    """Return where the pairs are; raise for ids that never match, and for pairs there twice."""
    groups = interactions.groups
    user = match(judgments.users, groups.users, "user")[judgments.user]
    item = _read_items(interactions)
    row = find_rows(item, groups.offsets, user, judgments.item)
    repeats = interactions.repeats
    return Matches(user, row if repeats is None else repeats.first_of(row))


def judge_rows(interactions: Interactions, judgments: Judgments, matches: Matches) -> Interactions:
    """Return interactions with the relevance of their rows, and of items not among them."""
    n_rows, n_users = len(interactions.relevant), len(interactions.groups.users)
    listed = judgments.relevant & (matches.row >= 0)
    unlisted = judgments.relevant & (matches.row < 0) & (matches.user >= 0)
    row, user = matches.row[listed], matches.user[unlisted]
    relevant = np.zeros(n_rows, bool)
    relevant[row] = True
    n_unlisted = np.bincount(user, minlength=n_users)
    judged = interactions._replace(relevant=relevant, n_unlisted=n_unlisted, is_judged=True)
    if (repeats := interactions.repeats) is not None:
        relevant[repeats.rows] = relevant[repeats.first]
    find_gains = judgments.find_gains
    if find_gains is None:
        return judged

    def match_gains() -> Gains:
        with _naming_truth():
            of_pairs = find_gains().gain
        of_rows = np.zeros(n_rows)
        of_rows[row] = of_pairs[listed]
        if repeats is not None:
            of_rows[repeats.rows] = of_rows[repeats.first]
        return group_gains(user, of_pairs[unlisted], n_users)._replace(gain=of_rows)

    return judged._replace(find_gains=match_gains)


def _read_items(interactions: Interactions) -> Coded:
    """Return the items of the rows kept, in grouped order."""
    item = encode(_get_items(interactions), "item")
    return item._replace(codes=interactions.groups.in_order(item.codes))


def _get_items(interactions: Interactions) -> pd.Series:
    """Return the column of items, of the rows kept."""
    return get_column(interactions.frame, interactions.columns.item, interactions.rows)
