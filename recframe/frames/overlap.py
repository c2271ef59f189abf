"""Overlap: what a frame and another have in common, noted part by part where it is in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pandas as pd

from recframe.errors import quote
from recframe.frames.ids import Coded, PairItems, encode, match
from recframe.frames.kinds import find_difference, refuse_disjoint
from recframe.kernel.threads import Array

N_EXAMPLES = 1 << 16  # ids of the frame among which it is looked for why truth has none of them


class Items(NamedTuple):
    """What the items of a part of a frame have in common with those of truth, or of exclude.

    `are_common` says whether these have any; of those that they have not there are `examples`.
    """

    are_common: bool
    examples: pd.Index[Any] = pd.Index([])


@dataclass
class Overlap:
    """Which users of truth, or of exclude, are in the parts noted, and whether any item is."""

    other_users: pd.Index[Any]
    other_items: Coded | PairItems
    other: str = "truth"
    is_listed: Array = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing listed."""
        self.is_listed = np.zeros(len(self.other_users), bool)
        self._n_users = 0
        self.users = self.other_users[:0]  # examples of those of the frame
        self.items = Items(False)

    def note_users(self, users: pd.Index[Any], is_listed: Array) -> None:
        """Take note of the users of a part, and of which of the other side these are."""
        self.is_listed |= is_listed
        self._n_users += len(users)
        self.users = self.users if len(self.users) else users[:N_EXAMPLES]

    def note(self, users: pd.Index[Any], items: Sequence[Items]) -> None:
        """Take note of users, and of the items of parts, that were met elsewhere."""
        self.note_users(users, match(self.other_users, users, "user", self.other) >= 0)
        self.note_items(items)

    def note_items(self, parts: Sequence[Items]) -> None:
        """Take note of what the items of parts have in common with the other side."""
        self.items = max([self.items, *parts], key=lambda p: (p.are_common, len(p.examples)))

    @property
    def has_items(self) -> bool:
        """Whether any item of the other side was in a part."""
        return self.items.are_common

    def check(self) -> None:
        """Raise where no user, or no item, of the other side was in any part."""
        if not self.is_listed.any():
            self._refuse_users()
        if self.has_items:
            return
        own, others = self.items.examples, self.other_items.distinct()
        # One ranking may well be without a relevant item; that all are is no accident.
        is_one = min(self._n_users, len(self.other_users)) == 1
        if not is_one or find_difference(own, others, self.other):
            refuse_disjoint("item", own, others, self.other)

    def _refuse_users(self) -> NoReturn:
        """Refuse a frame and another that have no user in common, or no id of one of the levels."""
        own, others = self.users, self.other_users
        is_all = len(own) == self._n_users
        if is_all and isinstance(own, pd.MultiIndex) and isinstance(others, pd.MultiIndex):
            for level, of_other in zip(own.levels, others.levels, strict=True):
                what = quote(level.name)
                if not (match(of_other, level, f"user={what}", self.other) >= 0).any():
                    refuse_disjoint(f"user={what}", level, of_other, self.other, what)
        refuse_disjoint("user", own, others, self.other)


def find_items(item: pd.Series, other_items: Coded | PairItems, other: str = "truth") -> Items:
    """Return what a column of items has in common with the items of the other side."""
    ids = encode(item.dropna(), "item").distinct()
    are_common = bool((match(other_items.distinct(), ids, "item", other) >= 0).any())
    return Items(True) if are_common else Items(False, ids[:N_EXAMPLES])


def are_listed(ids: pd.Index[Any], item: pd.Series) -> Array:
    """Return which of these distinct items of truth are in a column of items."""
    return np.asarray(match(ids, encode(item.dropna(), "item").distinct(), "item") >= 0)
