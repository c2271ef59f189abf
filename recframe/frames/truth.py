"""Relevance looked up in a frame of relevant items, and frames judged by it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from recframe.errors import RecframeError, prefix_errors
from recframe.frames.columns import Columns, find_columns
from recframe.frames.id_matching import Matches, Overlap, Pairs, append, match
from recframe.frames.ids import Ids, encode
from recframe.frames.interactions import Interactions, Judged, read_interactions
from recframe.frames.judgments import Candidates, Judgments, read_excluded, read_judgments
from recframe.frames.names import is_same
from recframe.frames.values import Gains
from recframe.kernel.grouping import SortedPairs
from recframe.kernel.threads import Array
from recframe.notes import is_noting, note
from recframe.options import ROLE_LABELS, Options


class Judge:
    """Judges a frame by truth, or one block of whole users after another."""

    def __init__(self, judgments: Judgments, options: Options) -> None:
        self.judgments, self.options, pairs = judgments, options, judgments.pairs
        self.overlap = Overlap(pairs.users.ids, pairs.item.ids)
        self.overlap.attrs = getattr(options.truth, "attrs", {})

    def judge(
        self, interactions: Interactions, *, is_all: bool = False, adds_absent: bool = False
    ) -> Interactions:
        """Return the arrays of a frame with the relevance of its rows by truth.

        If the frame `is_all` rows, users of truth without a row are added. `adds_absent` adds them
        to a part whose users have all their truth here.
        """
        matches = self.find(interactions)
        if is_all:
            self.check()
        if self.options.population in ("truth", "both"):
            is_known = matches.are_known(len(interactions.users.ids))
            if not is_known.all():
                rows = np.flatnonzero(is_known[interactions.users.groups.codes])
                # No user or row of a match is removed, so only positions change; -1 stays -1.
                user = np.append(np.cumsum(is_known) - 1, -1)[matches.user]
                matches = matches._replace(user=user, row=np.searchsorted(rows, matches.row))
                interactions = interactions.keep_users(is_known)
        if is_all or adds_absent:
            return self._add_absent(interactions, matches)
        return judge_rows(interactions, self.judgments, matches)

    def find(self, interactions: Interactions) -> Matches:
        """Return the rows of a frame that have the pairs of truth."""
        pairs, users = self.judgments.pairs, interactions.users
        items: Ids = interactions.items  # type: ignore[assignment]  # With truth, items are read.
        rows = interactions.pairs or SortedPairs(users.groups, items.codes)
        return self.overlap.find(pairs, users, items, rows, interactions.frame.attrs)

    def check(self) -> None:
        """Raise if no user, or no item, of truth was in any of the frames judged.

        Raise too if the users of the frames and of truth differ, unless `population` decides.
        """
        if not self.options.is_condensed:  # `Candidates` has checked condensed frames.
            self.overlap.check()
        if self.options.population == "raise":
            self.overlap.count_users().check()

    def find_relevant(self, interactions: Interactions) -> Array:
        """Return for each distinct relevant item of truth whether it is in a frame."""
        item = self.judgments.pairs.item
        ids = item._replace(codes=item.codes[self.judgments.relevant]).distinct()
        listed = encode(interactions.get_column(interactions.columns.item).dropna(), "item")
        return np.asarray(match(ids, listed.distinct(), "item") >= 0)

    def note_lost(self, excluded: Pairs | None) -> None:
        """Note how many relevant pairs are excluded; no row can find these."""
        (users, item), relevant = self.judgments.pairs, self.judgments.relevant
        if excluded is not None and is_noting():
            rows = SortedPairs(users.groups, item.codes)
            overlap = Overlap(excluded.users.ids, excluded.item.ids, "exclude")
            found = overlap.find(excluded, users, item, rows, {}).row
            n_lost = np.count_nonzero(relevant[np.unique(found)])
            n_relevant = int(np.count_nonzero(relevant))
            note(relevant_pairs_excluded=int(n_lost), relevant_pairs=n_relevant)

    def judge_absent(self, empty: Interactions) -> Interactions:
        """Return the arrays of an empty frame, with the users added that no judged frame had."""
        self.check()
        none = np.empty(0, np.int64)
        nowhere = np.full(len(self.judgments.relevant), -1)
        return self._add_absent(empty, Matches(nowhere, none, none))

    def _add_absent(self, interactions: Interactions, matches: Matches) -> Interactions:
        """Return judged interactions, with users of truth added that no frame had.

        None is added if `population` leaves them out.
        """
        (index, groups, _), pairs = interactions.users, self.judgments.pairs
        if is_noting(mistakes=True):
            self.overlap.note_near(pairs.users.groups)
            self.overlap.note_left_out(self.options.population)
        is_absent = ~self.overlap.is_listed
        if self.options.population not in ("both", "rows") and is_absent.any():
            added, of_pairs = pairs.users.ids[is_absent], pairs.users.groups.codes
            users = interactions.users._replace(
                ids=append(index, added), groups=groups.extend(len(added)), sorted_by=None
            )
            interactions = interactions._replace(users=users)
            # The users added come last, in the order of truth.
            position = (len(index) + np.cumsum(is_absent) - 1)[of_pairs]
            matches = matches._replace(user=np.where(is_absent[of_pairs], position, matches.user))
        return judge_rows(interactions, self.judgments, matches)


def open_candidates(columns: Columns, options: Options, judge: Judge | None) -> Candidates:
    """Return the `Candidates` that remove rows from a frame before it is judged."""
    judged = judge.judgments.judged_pairs() if judge and options.is_condensed else None
    return Candidates(columns, read_excluded(columns, options), judged)


def judge_rows(interactions: Interactions, judgments: Judgments, matches: Matches) -> Interactions:
    """Return interactions with the relevance of their rows and of items without a row."""
    n_rows, n_users = len(interactions.relevant), len(interactions.users.ids)
    is_unlisted = (matches.user >= 0) & ~matches.are_listed()
    relevant = np.zeros(n_rows, bool)
    relevant[matches.row] = judgments.relevant[matches.pair]

    def find_judged() -> Judged:
        rows = np.zeros(n_rows, bool)
        rows[matches.row] = judgments.is_judged[matches.pair]
        others = matches.user[is_unlisted & ~judgments.relevant & judgments.is_judged]
        return Judged(rows, np.bincount(others, minlength=n_users))

    def find_unlisted() -> tuple[Array, pd.Index[Any]]:
        item, pairs = judgments.pairs.item, np.flatnonzero(is_unlisted & judgments.relevant)
        return matches.user[pairs], item.restore(item.codes[pairs])

    def match_gains(gain: str) -> Gains:
        with prefix_errors("truth"):
            of_pairs = judgments.rows.gains(gain).gain  # type: ignore[union-attr]  # has grades
        of_rows = np.zeros(n_rows, of_pairs.dtype)
        of_rows[matches.row] = of_pairs[matches.pair]
        gaining = is_unlisted & (of_pairs > 0)
        return Gains(of_rows, matches.user[gaining], of_pairs[gaining])

    return interactions._replace(
        relevant=relevant,
        n_unlisted=np.bincount(matches.user[is_unlisted & judgments.relevant], minlength=n_users),
        is_judged=True,
        find_judged=find_judged,
        find_unlisted=find_unlisted,
        pairs=None,
        find_gains=match_gains if judgments.rows and judgments.rows.grades is not None else None,
    )


def judge_frame(
    frame: pd.DataFrame, options: Options, *, is_all: bool = True
) -> tuple[pd.DataFrame, pd.Series | None]:
    """Return the judged frame and the grade of each row, null if truth lacks the row.

    The grades are None if truth has no relevance. Unless the frame `is_all` rows, it may have no
    user of truth.
    """
    if not options.has_truth:
        raise RecframeError("truth: judge needs it. Pass the frame of relevant items.")
    if options.population == "raise":
        options = replace(options, population="all")
    columns = find_columns(frame, options, call="df.rec")
    judge = Judge(read_judgments(columns, options), options)
    frame = open_candidates(columns, options, judge).among(frame, is_all=is_all)
    interactions = read_interactions(frame, columns, options)
    judgments, matches = judge.judgments, judge.find(interactions)
    if is_all:
        judge.check()
    is_unlisted, is_absent = ~matches.are_listed(), matches.user < 0
    user = judgments.pairs.users.groups.codes
    if options.population in ("both", "rows"):
        is_added = is_unlisted & judgments.relevant & ~is_absent
    else:
        # Users of truth with neither a row nor a relevant item keep all their pairs of truth.
        has_none = ~np.isin(user, user[judgments.relevant])
        is_added = is_unlisted & (judgments.relevant | (is_absent & has_none))
    added = np.flatnonzero(is_added)
    added = added[np.argsort(user[added], kind="stable")]  # The pairs of a user stand together.

    rows, read = interactions.find_rows()
    if options.population in ("truth", "both"):
        is_known = matches.are_known(len(interactions.users.ids))
        has_known = is_known[interactions.users.groups.codes][read]
        rows, read = rows[has_known], read[has_known]
    ids = [one for one in (*columns.users, columns.item) if one is not None]
    shown = frame.iloc[rows].reset_index([one for one in ids if one in frame.index.names])
    judged = [
        _extend(shown.iloc[:, position], columns, judgments, added)
        for position, name in enumerate(shown.columns)
        if not is_same(name, "relevant")
    ]
    flags = judge_rows(interactions, judgments, matches).relevant[read]
    judged.append(pd.Series(np.append(flags, judgments.relevant[added]), name="relevant"))
    made = pd.concat(judged, axis=1)
    made.attrs.update({name: frame.attrs[name] for name in (ROLE_LABELS,) if name in frame.attrs})
    if judgments.rows is None:
        return made, None
    pair = np.full(len(interactions.relevant), -1)
    pair[matches.row] = matches.pair
    grades = judgments.rows.get_column(judgments.rows.columns.relevant)
    return made, _reindex_rows(grades, np.append(pair[read], added))


def _reindex_rows(column: pd.Series, rows: Array) -> pd.Series:
    """Return rows of a column, null for rows that it lacks, in its dtype or the nullable one."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        # These dtypes hold no null, and large integers would lose digits as floats.
        column = column.astype(pd.array(np.empty(0, column.dtype)).dtype)
    return column.reset_index(drop=True).reindex(rows).reset_index(drop=True)


def _extend(column: pd.Series, columns: Columns, judgments: Judgments, added: Array) -> pd.Series:
    """Return a column with a cell for each pair added: its id, or null in other columns."""
    if len(added) == 0:
        return column.reset_index(drop=True)
    if is_same(column.name, columns.item):
        item = judgments.pairs.item
        return pd.Series(append(pd.Index(column), item.restore(item.codes[added])))
    for number, label in enumerate(columns.users):
        if is_same(column.name, label):
            ids, codes = judgments.pairs.users.ids, judgments.pairs.users.groups.codes
            return pd.Series(append(pd.Index(column), ids.get_level_values(number)[codes[added]]))
    return _reindex_rows(column, np.arange(len(column) + len(added)))
