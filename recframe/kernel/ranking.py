"""Ranking: the rows of every user sorted by one integer for each row, its key. NumPy only.

The order equals ``np.lexsort((tie_order, -scores, is_unranked, users))``, and takes at most a fifth
of its time for ten million rows. tests/kernel/test_ranking.py compares it with plain sorting.

A key holds, from its highest bits on: the user, whether the row is left out of the ranking, the
score, the order of tied rows, and a mark, which is the grade of relevance or the row. One sort of
the keys ranks all users, and ties and relevance are read off the sorted keys.
A score may have more bits than fit into a key. Long keys then lose its lowest bits, and one bit
shows whether any of these was set; short keys hold a shortened score. Users whose scores look equal
but may differ are ranked again, by keys of the next kind.
"""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from recframe.kernel.grouping import (
    NONE,
    SLICE,
    Groups,
    combine,
    cut_users,
    group_offsets,
    invert,
    number_members,
    sort,
)
from recframe.kernel.keys import LEAST, KeyKind, Layout, SortedKeys, drop_bits
from recframe.kernel.scores import find_bits, rank_densely, rankable
from recframe.kernel.threads import Array, in_batches, in_slices, n_processors

RUN = 1 << 20  # rows that one thread ranks at a time; threads wait for one another between calls
MOST_USERS = 1 << 16  # users in such a run


class TieRule(NamedTuple):
    """The order of rows with equal scores. If no field is set, every order is equally likely.

    Parameters
    ----------
    row_order : {1, -1, 0}, default 0
        1: tied rows keep their order in the frame; -1: they are reversed; 0: it does not count.
    relevant_first : bool or None, default None
        Whether relevant rows come first or last; None: relevance does not count.
    by_item : bool, default False
        Whether tied rows are sorted by item as text, the last one first.
    """

    row_order: int = 0
    relevant_first: bool | None = None
    by_item: bool = False

    @property
    def reads_relevance(self) -> bool:
        """Whether relevant rows come first or last."""
        return self.relevant_first is not None


TIE_RULES = {
    "expected": TieRule(),
    "first": TieRule(row_order=1),
    "last": TieRule(row_order=-1),
    "best": TieRule(relevant_first=True),
    "worst": TieRule(relevant_first=False),
    "item": TieRule(by_item=True),
}


class Rankings(NamedTuple):
    """The rows of many users with their scores and relevance.

    Parameters
    ----------
    groups : Groups
        The rows of each user.
    scores : ndarray of shape (n_rows,), real
        Rows are ranked by these values, highest first; no ranked row has NaN.
    grades : ndarray of shape (n_rows,), unsigned int
        0 if a row is not relevant, else 1 or more; a higher grade gains more.
    is_ranked : ndarray of shape (n_rows,), bool, default None
        Whether a row is in the ranking; None: every row is.
    tie_order : ndarray of shape (n_rows,), int, default None
        Numbers of 0 or more that order tied rows by item, lowest first.
    """

    groups: Groups
    scores: Array
    grades: Array
    is_ranked: Array | None = None
    tie_order: Array | None = None

    @property
    def n_ranked(self) -> Array:
        """How many rows the ranking of each user has."""
        if self.is_ranked is None:
            return np.diff(self.groups.offsets)
        return self.groups.count(self.is_ranked)


class Rows(NamedTuple):
    """Some rows, with the fields of `Rankings`."""

    scores: Array
    grades: Array
    is_ranked: Array | None
    tie_order: Array | None

    def take(self, index: slice | Array) -> Self:
        """Return the rows that an index selects."""
        return type(self)(*(None if each is None else each[index] for each in self))  # type: ignore[arg-type]  # a field stays None or an array


class RankedRows(NamedTuple):
    """All rows of some users in ranked order; a user's unranked rows come last.

    Parameters
    ----------
    users : slice
        The users.
    offsets : ndarray of shape (n_users + 1,), int
        The rows of the i-th user are ``offsets[i]:offsets[i + 1]``.
    marks : ndarray of shape (n_rows,), int
        The mark of each row: its grade, or its position among these rows.
    is_tied : ndarray of shape (n_rows,), bool
        Whether a row has the score of the row before it.
    is_unranked : ndarray of shape (n_rows,), bool, or None
        Whether a row is not ranked; None: every row is ranked.
    """

    users: slice
    offsets: Array
    marks: Array
    is_tied: Array
    is_unranked: Array | None

    def find_users(self, positions: Array) -> tuple[Array, Array]:
        """Return the user of the row at each position, and the number of positions of each user."""
        sizes = np.diff(np.searchsorted(positions, self.offsets))
        return np.repeat(np.arange(len(sizes)), sizes), sizes


class Ranker:
    """Ranks rows in runs of users; a run has all rows of its users.

    Parameters
    ----------
    rankings, rule : Rankings, TieRule
        The rows, and the rule that orders tied rows.
    by_row : bool, default False
        Whether the mark of a ranked row is the row, not its grade.
    """

    def __init__(self, rankings: Rankings, rule: TieRule, *, by_row: bool = False) -> None:
        self.rule, self._by_row = rule, by_row
        self._groups, scores, grades, is_ranked, tie_order = rankings
        scores = rankable(scores)
        if is_ranked is not None:
            scores = np.where(is_ranked, scores, scores.dtype.type(0))
        self._rows = Rows(scores, grades, is_ranked, tie_order)
        self._bits = find_bits(scores)
        self._highest = int(grades.max(initial=0))
        self._tie_bits = 0 if tie_order is None else int(tie_order.max(initial=0)).bit_length()
        self._sorted = self._sort_all()
        if self._sorted is None:  # computed here once, not by each thread
            _ = self._groups.order

    def runs(self) -> list[slice]:
        """Return runs of users, each for one thread."""
        groups = self._groups
        n_runs = max(n_processors(), groups.n_rows // RUN, groups.n_groups // MOST_USERS)
        n_runs = max(1, min(n_runs, groups.n_rows // SLICE))
        cuts = cut_users(groups.offsets, slice(0, groups.n_groups), groups.n_rows // n_runs + 1)
        return [slice(*each) for each in pairwise(cuts)]

    def rank(self, users: slice) -> RankedRows:
        """Return the ranked rows of a run of users."""
        kind = KeyKind.SHORT if self._sorted is None else KeyKind.LONG
        ranked, doubtful = self._rank(users, kind)
        while len(doubtful):
            kind = KeyKind(kind + 1)
            sizes = np.diff(ranked.offsets)[doubtful]
            user, number = number_members(sizes)
            positions = ranked.offsets[doubtful][user] + number
            ranker = self._select(positions + self._groups.offsets[users.start], sizes)
            again, still_doubtful = ranker._rank(slice(0, len(sizes)), kind)
            marks = positions[again.marks] if self._by_row else again.marks
            ranked.marks[positions], ranked.is_tied[positions] = marks, again.is_tied
            doubtful = doubtful[still_doubtful]
        return ranked

    def _select(self, positions: Array, sizes: Array) -> Self:
        """Return a ranker of the rows at these positions; `sizes` has the rows of each user."""
        ranker = copy(self)
        ranker._rows = self._rows.take(self._groups.rows(positions))
        ranker._groups, ranker._sorted = Groups(len(sizes), offsets=group_offsets(sizes)), None
        return ranker

    def _sort_all(self) -> SortedKeys | None:
        """Return the sorted keys of all rows; None if slices of users are sorted instead."""
        groups = self._groups
        # An earlier search for pairs may have found the order.
        if groups.has_order or self._by_row or self.rule.row_order or self._tie_bits:
            return None
        layout = self._lay_out(groups.n_groups, groups.n_rows, KeyKind.LONG)
        if layout.kind is KeyKind.DENSE:
            return None
        keys = np.empty(groups.n_rows, layout.dtype)

        def write(batch: slice) -> None:
            rows, users = self._rows.take(batch), groups.codes[batch].astype(layout.dtype)
            bits = drop_bits(self._bits.read(rows.scores), layout.n_lost)
            users <<= layout.dtype(layout.user)
            np.bitwise_or(self._join(layout, bits, rows), users, out=keys[batch])

        in_batches(write, len(keys))
        keys = sort(keys)
        users = np.arange(groups.n_groups, dtype=keys.dtype) << keys.dtype.type(layout.user)
        starts = in_slices(lambda a, b: np.searchsorted(keys, users[a:b]), len(users))
        groups.offsets = np.concatenate([*starts, [len(keys)]])
        return SortedKeys(keys, layout)

    def _rank(self, users: slice, kind: KeyKind) -> tuple[RankedRows, Array]:
        """Return the rows of users in the order of keys of this kind, or of longer ones.

        Also return the users with rows that look tied but may differ, as indexes into `users`.
        """
        offsets = self._groups.offsets[users.start : users.stop + 1]
        offsets = offsets - offsets[0]
        marks = np.empty(offsets[-1], np.int64 if self._by_row else self._rows.grades.dtype)
        is_tied = np.zeros(len(marks), bool)
        is_unranked = None if self._rows.is_ranked is None else np.empty(len(marks), bool)
        doubtful = list[Array]()
        for first, stop in pairwise(cut_users(offsets, slice(0, len(offsets) - 1), SLICE)):
            inside = slice(int(offsets[first]), int(offsets[stop]))
            keys, layout, numbered = self._sort(users.start + first, users.start + stop, kind)
            mark, tied = marks[inside], is_tied[inside]
            mark[:] = keys
            mark &= mark.dtype.type((1 << layout.mark) - 1)
            if numbered is not None:
                mark[:] = numbered[mark] + inside.start
            elif self.rule.relevant_first is not False:
                np.subtract(mark.dtype.type(self._highest), mark, out=mark)
            np.less(keys[1:] ^ keys[:-1], layout.dtype(1 << layout.score), out=tied[1:])
            if is_unranked is not None:
                is_unranked[inside] = keys & layout.dtype(1 << layout.unranked) != 0
            if not layout.n_lost:
                continue
            rows = np.flatnonzero(tied)
            if layout.kind is KeyKind.LONG:  # equal scores without a lost bit are ties
                rows = rows[keys[rows] & layout.dtype(1 << layout.score) != 0]
            elif 2 * len(rows) > stop - first:  # too many users would be ranked again
                kind = KeyKind.LONG
            if len(rows):
                doubtful.append(np.searchsorted(offsets, rows + inside.start, side="right") - 1)
        ranked = RankedRows(users, offsets, marks, is_tied, is_unranked)
        return ranked, np.unique(np.concatenate(doubtful)) if doubtful else NONE

    def _sort(self, first: int, stop: int, kind: KeyKind) -> SortedKeys:
        """Return the sorted keys of users, of this kind or the next kind that fits."""
        offsets = self._groups.offsets[first : stop + 1]
        positions = slice(int(offsets[0]), int(offsets[-1]))
        if self._sorted is not None:
            return self._sorted._replace(keys=self._sorted.keys[positions])
        rows = self._rows.take(self._groups.rows(positions))
        layout = self._lay_out(stop - first, positions.stop - positions.start, kind)
        tie = self._read_ties(rows) if layout.tie else None
        if layout.kind is KeyKind.DENSE:
            bits = len(rows.scores) - 1 - rank_densely(rows.scores)
            bits = (bits if tie is None else rank_densely(combine(bits, tie))).view(np.uint64)
            tie = None  # the ranks order tied rows too
        elif layout.kind is KeyKind.SHORT and layout.n_lost:
            bits = self._bits.shorten(rows.scores, layout.unranked - layout.score)
        else:
            bits = drop_bits(self._bits.read(rows.scores), layout.n_lost)
        numbered = np.argsort(self._read_ties(rows), kind="stable") if self._by_row else None
        keys = self._join(layout, bits, rows, tie, numbered)
        users = np.arange(stop - first, dtype=layout.dtype) << layout.dtype(layout.user)
        keys |= np.repeat(users, np.diff(offsets))
        return SortedKeys(sort(keys), layout, numbered)

    def _lay_out(self, n_users: int, n_rows: int, kind: KeyKind) -> Layout:
        """Return the layout of keys of this kind, or of the next kind that fits the scores."""
        mark = (n_rows - 1 if self._by_row else self._highest).bit_length()
        tie = 0 if self._by_row else self._tie_bits
        if self.rule.row_order and not self._by_row:
            tie = (n_rows - 1).bit_length()
        unranked, user = int(self._rows.is_ranked is not None), (n_users - 1).bit_length()
        n_bits = max(1, self._bits.n_bits)
        for each in (KeyKind.SHORT, KeyKind.LONG)[kind:]:
            room = (32, 64)[each] - mark - tie - unranked - user
            n_lost = n_bits - room + 1 if n_bits > room else 0
            n_left = room if each is KeyKind.SHORT else min(room, self._bits.n_leading - n_lost)
            if not n_lost or n_left >= LEAST[each]:
                above = mark + tie + min(n_bits, room)
                dtype = np.uint32 if above + unranked + user <= 32 else np.uint64
                return Layout(each, mark, tie, mark + tie, above, above + unranked, n_lost, dtype)
        above = mark + n_rows.bit_length()
        return Layout(KeyKind.DENSE, mark, tie, mark, above, above + unranked, 0, np.uint64)

    def _join(
        self,
        layout: Layout,
        bits: Array,
        rows: Rows,
        tie: Array | None = None,
        numbered: Array | None = None,
    ) -> Array:
        """Return keys without users. The argument `bits` may be overwritten."""
        keys = bits.astype(layout.dtype, copy=False)
        if rows.is_ranked is not None:
            keys[~rows.is_ranked] = 1 << layout.unranked - layout.score
        if tie is not None:
            keys <<= layout.dtype(layout.tie)
            keys |= tie.astype(layout.dtype)
        if layout.mark:
            # The row of a tie with the lowest mark comes first.
            marks = rows.grades if numbered is None else invert(numbered)
            if numbered is None and self.rule.relevant_first is not False:
                marks = self._highest - marks
            keys <<= layout.dtype(layout.mark)
            keys |= marks.astype(layout.dtype, copy=False)
        return keys

    def _read_ties(self, rows: Rows) -> Array:
        """Return numbers that order tied rows, the lowest first."""
        if self.rule.reads_relevance:
            is_last: Array = (rows.grades > 0) != self.rule.relevant_first
            return is_last
        if rows.tie_order is not None:
            return rows.tie_order
        return np.arange(len(rows.scores))[:: self.rule.row_order or 1]
