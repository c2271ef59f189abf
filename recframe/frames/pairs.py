"""Pairs of a user and an item, as truth and exclude have them, and where a frame has these."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.frames.ids import Ids, Users
from recframe.frames.overlap import N_EXAMPLES, Items, Overlap, match
from recframe.kernel.grouping import SortedPairs
from recframe.kernel.threads import Array
from recframe.notes import is_noting


class Matches(NamedTuple):
    """Where pairs are in a frame: for each match a pair, and a row of the frame that has it.

    `user` is the user of each pair among those of the frame, -1 for none, and `item` each item.
    """

    user: Array
    item: Array
    pair: Array
    row: Array

    def are_known(self, n_users: int) -> Array:
        """Return which users of the frame have a pair."""
        is_known = np.zeros(n_users, bool)
        is_known[self.user[self.user >= 0]] = True
        return is_known

    def are_listed(self) -> Array:
        """Return which pairs some row has."""
        is_listed = np.zeros(len(self.user), bool)
        is_listed[self.pair] = True
        return is_listed


class Pairs(NamedTuple):
    """Pairs of a user and an item, which may repeat; each of the item's ids is in some."""

    users: Users
    item: Ids

    def match(self, users: Users, item: Ids, rows: SortedPairs, other: str) -> Matches:
        """Return where the pairs are in rows of these users and items; `other` names them."""
        user = match(self.users.ids, users.ids, "user", other)[self.users.groups.codes]
        place = match(self.item.ids, item.ids, "item", other)
        return Matches(user, place, *rows.match(user, place[self.item.codes]))

    def note(self, overlap: Overlap, matches: Matches, users: pd.Index[Any], item: Ids) -> None:
        """Take note of what these pairs and a part of a frame have in common, given its ids."""
        position = np.full(len(self.users.ids), -1)
        position[self.users.groups.codes] = matches.user
        common, unknown = matches.item[matches.item >= 0], pd.Index([])
        # As a rule some pair is found. Ids may be in no row.
        are_common = len(matches.row) > 0 or bool(np.isin(common, item.codes).any())
        if not are_common or (is_noting() and not isinstance(item.ids, pd.RangeIndex)):
            is_unknown = np.bincount(item.codes, minlength=len(item.ids))[: len(item.ids)] > 0
            is_unknown[common] = False
            unknown = item.restore(np.flatnonzero(is_unknown)[:N_EXAMPLES])
        items = Items(are_common, unknown, matches.item >= 0)
        overlap.note(users, [items], position)
