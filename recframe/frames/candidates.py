"""Candidates: the rows that are ranked at all, excluded and, if asked, unjudged ones left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.frames.beside import check_rows, load_frame, naming
from recframe.frames.columns import Columns, find_pair_columns, get_column
from recframe.frames.ids import Coded, PairItems, encode, match
from recframe.frames.overlap import Items, Overlap, find_items
from recframe.frames.pair_rows import find_all_rows, find_text_rows
from recframe.frames.reading import complete_rows, find_groups
from recframe.frames.user_groups import UserGroups
from recframe.kernel.threads import Array
from recframe.options import Options


class Pairs(NamedTuple):
    """Pairs of a user and an item, which may repeat.

    Parameters
    ----------
    users : Index
        The distinct users.
    user : ndarray of shape (n_pairs,), int
        The user of each pair, as a position in `users`.
    item : PairItems of length n_pairs
        The item of each pair.
    """

    users: pd.Index[Any]
    user: Array
    item: PairItems


@dataclass
class Side:
    """Pairs beside a frame, and what it has in common with them, noted part by part."""

    pairs: Pairs
    other: str  # the option that they are of
    is_kept: bool  # whether their rows are kept, and those of others are not

    def __post_init__(self) -> None:
        """Begin with nothing in common."""
        self.overlap = Overlap(self.pairs.users, self.pairs.item, self.other)

    def find(self, groups: UserGroups, item: pd.Series) -> Array:
        """Return which rows, in grouped order, have one of the pairs."""
        pairs, overlap, other = self.pairs, self.overlap, self.other
        position = match(pairs.users, groups.users, "user", other)
        overlap.note_users(groups.users, position >= 0)
        user = position[pairs.user]
        by_text = find_text_rows(item, groups, user, pairs.item)
        if by_text is not None and not by_text.has_repeats:
            found = np.zeros(len(item), bool)
            found[by_text.rows[by_text.rows >= 0]] = True
        else:
            coded = _encode_grouped(item, groups)
            found = find_all_rows(coded, groups.offsets, user, pairs.item.coded, other)
        if not overlap.has_items:
            items = Items(True) if found.any() else find_items(item, pairs.item, other)
            overlap.note_items([items])
        return found


class Candidates:
    """What leaves rows out of a frame, or of one part after the other.

    Parameters
    ----------
    columns : Columns
        The labels of the frame.
    excluded, judged : Pairs or None
        The pairs whose rows are left out, and those whose rows alone are not; None: no row is.
    """

    def __init__(self, columns: Columns, excluded: Pairs | None, judged: Pairs | None) -> None:
        self._columns = columns
        excludes = None if excluded is None else Side(excluded, "exclude", is_kept=False)
        judges = None if judged is None else Side(judged, "truth", is_kept=True)
        self._sides = [side for side in (excludes, judges) if side is not None]

    def among(self, frame: pd.DataFrame, *, is_all: bool = False) -> pd.DataFrame:
        """Return the rows of a frame that are candidates; those with a null id are left to others.

        Raise, where the frame `is_all` there is, if it has no user or no item of one of the sides.
        """
        if not self._sides:
            return frame
        users, item = self._columns.users, self._columns.item
        rows = complete_rows(frame, [label for label in (*users, item) if label is not None])
        groups = find_groups(frame, users, rows)
        ids = get_column(frame, item, rows)
        is_out = np.any([side.find(groups, ids) != side.is_kept for side in self._sides], axis=0)
        if is_all:
            self.check()
        if not is_out.any():
            return frame
        row = np.arange(len(is_out)) if groups.order is None else groups.order
        is_left = np.ones(len(frame), bool)
        is_left[(row if rows is None else rows[row])[is_out]] = False
        return frame.iloc[np.flatnonzero(is_left)]

    def note(self, users: pd.Index[Any], items: Sequence[Sequence[Items]]) -> None:
        """Take note of users, and of the items of parts for each side, that were met elsewhere."""
        for side, of_parts in zip(self._sides, items, strict=True):
            side.overlap.note(users, of_parts)

    @property
    def overlaps(self) -> list[Overlap]:
        """What the frames had in common with each side."""
        return [side.overlap for side in self._sides]

    def check(self) -> None:
        """Raise if no user, or no item, of one of the sides was in any frame."""
        for overlap in self.overlaps:
            overlap.check()


def check_pair_columns(columns: Columns, options: Options) -> None:
    """Raise where what is excluded is a frame without the columns that it needs."""
    if isinstance(options.exclude, pd.DataFrame):
        with naming("exclude"):
            find_pair_columns(options.exclude, columns)


def read_excluded(columns: Columns, options: Options, *, is_all: bool = True) -> Pairs | None:
    """Return the pairs that are no candidates, None where the options have none.

    Where the frame of them is not all there is, it may have no row.
    """
    if options.exclude is None:
        return None
    frame = load_frame("exclude", options.exclude)
    with naming("exclude"):
        own = find_pair_columns(frame, columns)
        rows = complete_rows(frame, own.labels) if options.missing == "drop" else None
        groups = find_groups(frame, own.users, rows)
        if is_all:
            check_rows("exclude", groups.offsets[-1])
        items = PairItems(get_column(frame, own.item, rows), groups.order)
    user_of_pair = np.repeat(np.arange(len(groups.users)), np.diff(groups.offsets))
    return Pairs(groups.users, user_of_pair, items)


def _encode_grouped(item: pd.Series, groups: UserGroups) -> Coded:
    """Return items as integers, in grouped order."""
    coded = encode(item, "item")
    return coded._replace(codes=groups.in_order(coded.codes))
