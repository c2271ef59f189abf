"""Truth: relevance that is looked up in a frame of relevant items, listed or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.frames.beside import naming
from recframe.frames.candidates import Candidates, read_excluded
from recframe.frames.columns import Columns
from recframe.frames.ids import append, match
from recframe.frames.interactions import Interactions
from recframe.frames.judgments import Judgments, get_items, read_items, read_judgments
from recframe.frames.overlap import Items, Overlap, are_listed, find_items
from recframe.frames.pair_rows import find_rows, find_text_rows
from recframe.frames.reading import Given, read_interactions
from recframe.frames.user_groups import UserGroups
from recframe.kernel.rankings import Gains, Judged, group_gains
from recframe.kernel.threads import Array, in_threads
from recframe.options import Options

ROWS_AT_ONCE = 1 << 18  # from so many on truth is read at the same time


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
        self.n_found = 0  # pairs of truth that were in a frame

    @property
    def has_others(self) -> bool:
        """Whether truth also holds items that are not relevant."""
        return not self.judgments.relevant.all()

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
        self.n_found += int(np.count_nonzero(matches.row >= 0))
        is_listed = np.zeros(len(self.judgments.users), bool)
        is_listed[self.judgments.user[matches.user >= 0]] = True
        overlap.note_users(interactions.groups.users, is_listed)
        if not overlap.has_items:
            # As a rule some pair is found, and items need not be looked at by themselves.
            items = Items(True)
            if not (matches.row >= 0).any():
                items = find_items(get_items(interactions), overlap.other_items)
            overlap.note_items([items])
        if is_all:
            self._check()
        return matches

    def find_relevant(self, interactions: Interactions | None) -> Array:
        """Return which of the distinct items that truth calls relevant are in a frame, if any."""
        item, relevant = self.judgments.item.coded, self.judgments.relevant
        ids = item._replace(codes=item.codes[relevant]).distinct()
        if interactions is None:
            return np.zeros(len(ids), bool)
        return are_listed(ids, get_items(interactions))

    def note(self, users: pd.Index[Any], items: Sequence[Items]) -> None:
        """Take note of users that have been judged elsewhere, and of the items of these parts."""
        self._overlap.note(users, items)

    def judge_absent(self, empty: Interactions) -> Interactions:
        """Return the arrays of a frame without rows, with the users added that none judged had."""
        self._check()
        nowhere = np.full(len(self.judgments.user), -1)
        return self._add_absent(empty, Matches(nowhere, nowhere))

    def _check(self) -> None:
        """Raise where no user, or no item, of truth was in any frame.

        Of condensed frames, which have lost the other items, this has been checked before.
        """
        if not self.options.is_condensed:
            self._overlap.check()

    def _add_absent(self, interactions: Interactions, matches: Matches) -> Interactions:
        """Return judged interactions with the users added that no frame had, if these count."""
        users, row_order, offsets, _ = interactions.groups
        is_absent = ~self._overlap.is_listed
        if self.options.absent != "drop" and is_absent.any():
            added, user = self.judgments.users[is_absent], self.judgments.user
            offsets = np.append(offsets, np.full(len(added), offsets[-1]))
            groups = UserGroups(append(users, added), row_order, offsets)
            interactions = interactions._replace(groups=groups)
            # Those added are behind the others, in the order of truth.
            position = len(users) + np.cumsum(is_absent) - 1
            matches = matches._replace(user=np.where(is_absent[user], position[user], matches.user))
        return judge_rows(interactions, self.judgments, matches)


def open_judge(columns: Columns, options: Options) -> Judge | None:
    """Return the judge that holds the truth of these options; None where they have none."""
    return Judge(read_judgments(columns, options), options) if options.has_truth else None


def open_candidates(columns: Columns, options: Options, judge: Judge | None) -> Candidates:
    """Return what leaves rows out of a frame before it is judged, where it is."""
    judged = judge.judgments.pairs if judge is not None and options.is_condensed else None
    return Candidates(columns, read_excluded(columns, options), judged)


def read_judged(
    frame: pd.DataFrame, columns: Columns, options: Options, given: Given | None = None
) -> Interactions:
    """Return the arrays of a frame, with the relevance that truth gives where there is one."""
    judge: Judge | None
    if len(frame) < ROWS_AT_ONCE or options.exclude is not None or options.is_condensed:
        judge = open_judge(columns, options)
        frame = open_candidates(columns, options, judge).among(frame, is_all=True)
        interactions = read_interactions(frame, columns, options, given=given)
    else:  # neither needs the other
        read = partial(read_interactions, given=given)
        tasks: Any = [(open_judge, columns, options), (read, frame, columns, options)]
        judge, interactions = in_threads(lambda call, *arguments: call(*arguments), tasks)
    return interactions if judge is None else judge.judge(interactions, is_all=True)


def find_matches(judgments: Judgments, interactions: Interactions) -> Matches:
    """Return where the pairs are; raise for ids that never match, and for pairs there twice."""
    groups = interactions.groups
    user = match(judgments.users, groups.users, "user")[judgments.user]
    keys = interactions.text_keys
    by_text = find_text_rows(get_items(interactions), groups, user, judgments.item, keys)
    if by_text is not None:
        row = by_text.rows
    else:
        row = find_rows(read_items(interactions), groups.offsets, user, judgments.item.coded)
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

    judged = judged._replace(find_judged=lambda: _match_judged(judged, judgments, matches))
    find_gains = judgments.find_gains
    if find_gains is None:
        return judged

    def match_gains() -> Gains:
        with naming("truth"):
            of_pairs = find_gains().gain
        of_rows = np.zeros(n_rows)
        of_rows[row] = of_pairs[listed]
        if repeats is not None:
            of_rows[repeats.rows] = of_rows[repeats.first]
        return group_gains(user, of_pairs[unlisted], n_users)._replace(gain=of_rows)

    return judged._replace(find_gains=match_gains)


def _match_judged(interactions: Interactions, judgments: Judgments, matches: Matches) -> Judged:
    """Return which rows truth holds, and how many items that are neither rows nor relevant."""
    held = np.zeros(len(interactions.relevant), bool)
    held[matches.row[matches.row >= 0]] = True
    if (repeats := interactions.repeats) is not None:
        held[repeats.rows] = held[repeats.first]
    others = matches.user[~judgments.relevant & (matches.row < 0) & (matches.user >= 0)]
    return Judged(held, np.bincount(others, minlength=len(interactions.groups.users)))
