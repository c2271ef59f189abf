"""Pairs of a user and an item, as truth and exclude have them, and where a frame has these."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype, is_integer_dtype

from recframe.frames.ids import Ids, Users, read_text
from recframe.frames.kinds import NUMBERS, TEXT
from recframe.frames.overlap import N_EXAMPLES, Items, Overlap, match, plain
from recframe.kernel.grouping import Groups, SortedPairs, group_offsets, number_members, run_starts
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


def note_matches(
    overlap: Overlap,
    pairs: Pairs,
    matches: Matches,
    users: pd.Index[Any],
    item: Ids,
    share: Share | None = None,
) -> None:
    """Take note of what pairs and a part of a frame, of these users and items, have in common.

    Of a share the pairs are matched alone.
    """
    position = np.full(len(pairs.users.ids), -1)
    position[pairs.users.groups.codes] = matches.user
    common, unknown = matches.item[matches.item >= 0], pd.Index([])
    # As a rule some pair is found. Ids may be in no row.
    are_common = len(matches.row) > 0 or bool(np.isin(common, item.codes).any())
    if not are_common or (is_noting() and not isinstance(item.ids, pd.RangeIndex)):
        is_unknown = np.bincount(item.codes, minlength=len(item.ids))[: len(item.ids)] > 0
        is_unknown[common] = False
        unknown = item.restore(np.flatnonzero(is_unknown)[:N_EXAMPLES])
    is_listed, among = matches.item >= 0, None
    if share is not None:
        listed, among = share.items[is_listed], share.users
        is_listed = np.zeros(len(overlap.other_items), bool)
        is_listed[listed] = True
    overlap.note(users, [Items(are_common, unknown, is_listed)], position, among)


class Share(NamedTuple):
    """The pairs of some users, and which `rows`, `users` and `items` of all pairs they have."""

    pairs: Pairs
    rows: Array
    users: Array
    items: Array


class PartedPairs:
    """Pairs of which each part of a frame is given those that may be of its users."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self._users, self._items = _Lookup(pairs.users.ids), _Lookup(pairs.item.ids)

    def of(self, users: pd.Index[Any], items: pd.Index[Any]) -> Share | None:
        """Return the pairs of these users and those of few others; None where all may be.

        The share has these items too, as far as pairs of any user have them.
        """
        own, listed = self._users.find(users), self._items.find(items)
        if own is None:
            return None
        (ids, groups, _), item = self.pairs.users, self.pairs.item
        sizes = np.diff(groups.offsets)[own]
        which, number = number_members(sizes)
        rows = groups.rows(groups.offsets[own][which] + number)
        are_own = np.full(len(item.ids), listed is None)
        are_own[item.codes[rows] if listed is None else np.append(listed, item.codes[rows])] = True
        are_items = np.flatnonzero(are_own)  # in less time than by a sort
        of_users = Users(ids.take(own), Groups(len(own), offsets=group_offsets(sizes)))
        codes = np.searchsorted(are_items, item.codes[rows])
        of_items = item._replace(codes=codes, ids=item.restore(are_items))
        return Share(Pairs(of_users, of_items), rows, own, are_items)


class _Lookup:
    """Distinct ids, of which those that some others may be are found without a look at all."""

    def __init__(self, ids: pd.Index[Any]) -> None:
        self._ids = ids

    @cached_property
    def _hashed(self) -> tuple[list[str], Array, Array] | None:
        """The kinds of ids, their hashes in order, and where each stands."""
        if (hashed := _hash_ids(self._ids)) is None:
            return None
        order = np.argsort(hashed[1])
        return hashed[0], hashed[1][order], order

    def find(self, others: pd.Index[Any]) -> Array | None:
        """Return the positions, ascending, of all ids that some others may be; None: of any."""
        known, asked = self._hashed, _hash_ids(others)
        if known is None or asked is None or known[0] != asked[0]:
            return None
        bits = np.sort(asked[1])  # a search of keys in order is fast
        first = np.searchsorted(known[1], bits)
        which, number = number_members(np.searchsorted(known[1], bits, "right") - first)
        found = np.sort(known[2][first[which] + number])
        return found[run_starts(found)]


def _hash_ids(all_ids: pd.Index[Any]) -> tuple[list[str], Array] | None:
    """Return the kinds of ids, and 64 bits that are equal where these are, whatever holds them.

    Of several columns those of other kinds than numbers and text are left out; None where all are.
    """
    kinds, bits = list[str](), np.zeros(len(all_ids), np.uint64)
    for number in range(all_ids.nlevels):
        ids, values = plain(all_ids.get_level_values(number)), None
        if (text := read_text(ids)) is not None:
            kind, values = TEXT, text.to_numpy(zero_copy_only=False)
        elif is_integer_dtype(ids) or is_float_dtype(ids):
            kind, values = NUMBERS, ids.to_numpy(np.float64) + 0.0  # -0.0 and 0.0 are one id
        kinds.append("" if values is None else kind)
        if values is not None:
            bits = bits * np.uint64(31) + pd.util.hash_array(values, categorize=False)
    return (kinds, bits) if any(kinds) else None
