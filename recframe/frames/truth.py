"""Relevance looked up in a frame of relevant items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from recframe.errors import prefix_errors
from recframe.frames.id_matching import Matches, Overlap, Pairs, append, check_same_users, match
from recframe.frames.ids import Ids, Users, encode
from recframe.frames.interactions import Interactions, Judged
from recframe.frames.judgments import Judgments
from recframe.frames.values import Gains
from recframe.kernel.grouping import SortedPairs
from recframe.kernel.threads import Array
from recframe.notes import is_noting, note
from recframe.options import Options


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
        if not self.options.is_condensed:  # `Companions` have checked condensed frames.
            self.overlap.check()
        if self.options.population == "raise":
            check_same_users([self.overlap.count_users()])

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
            user = match(excluded.users.ids, users.ids, "user", "exclude")
            position = match(excluded.item.ids, item.ids, "item", "exclude")
            codes = user[excluded.users.groups.codes], position[excluded.item.codes]
            _, found = rows.match(*codes)
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
        (index, groups), pairs = interactions.users, self.judgments.pairs
        if is_noting(mistakes=True):
            self.overlap.note_apart(pairs.users.groups, self.options.population)
        is_absent = ~self.overlap.is_listed
        if self.options.population not in ("both", "rows") and is_absent.any():
            added, of_pairs = pairs.users.ids[is_absent], pairs.users.groups.codes
            users = Users(append(index, added), groups.extend(len(added)))
            interactions = interactions._replace(users=users)
            # The users added come last, in the order of truth.
            position = (len(index) + np.cumsum(is_absent) - 1)[of_pairs]
            matches = matches._replace(user=np.where(is_absent[of_pairs], position, matches.user))
        return judge_rows(interactions, self.judgments, matches)


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
