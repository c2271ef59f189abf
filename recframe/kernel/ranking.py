"""Ranking: the rows of every user sorted by one integer for each row, its key. NumPy only.

A key has, from its highest bits on: the user, whether the row is left out of the ranking, the
score, what orders tied rows, and a mark that rides along, the grade of relevance or the row. So
one sort ranks all users at once, and ties and relevance are read off the sorted keys.
A score may have more bits than a key has room for. Keys of 64 bits then lose its lowest bits, and
one bit says whether any of them was set; keys of 32 bits hold a shortened score. Users with scores
that look equal and may differ are ranked again, by longer keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from recframe.kernel.grouping import (
    SLICE,
    Groups,
    combine,
    cut_users,
    group_offsets,
    invert,
    number_members,
    sort,
    sort_grouped,
)
from recframe.kernel.scores import BATCH, find_bits, rank_densely, rankable
from recframe.kernel.threads import Array, in_slices, n_processors

SHORT, LONG, DENSE = range(3)  # keys of 32 and 64 bits; of the ranks of scores
COUNTED = 1 << 20  # rows counted at a time: between calls of NumPy threads wait for one another
RUN = 1 << 22  # rows whose metrics one thread computes at a time
MOST_USERS = 1 << 16  # in such a run
LEAST = (12, 20)  # bits of scores in these: with fewer too many rows would look tied


class TieRule(NamedTuple):
    """Which rows of equal score come first. Neither field set: every order is as likely.

    Parameters
    ----------
    row_order : {1, -1, 0}, default 0
        1 where they come as they stand, -1 where in reverse; 0: the order of rows does not count.
    relevant_first : bool or None, default None
        Whether relevant rows come first or last; None: relevance does not count.
    by_item : bool, default False
        Whether the last item comes first, of items as text.
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
    """Rows of many users and what ranks them.

    Parameters
    ----------
    groups : Groups
        The rows of each user.
    scores : ndarray of shape (n_rows,), real
        The values rows are ranked by, highest first; no NaN among those that are ranked.
    grades : ndarray of shape (n_rows,), unsigned int
        0 where a row is not relevant, else 1 or more, higher where more is gained.
    is_ranked : ndarray of shape (n_rows,), bool, default None
        Whether a row is in the ranking; None: every one.
    tie_order : ndarray of shape (n_rows,), int, default None
        What orders tied rows by item, lowest first; 0 or more.
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
        return np.bincount(self.groups.codes[self.is_ranked], minlength=self.groups.n_groups)


class Layout(NamedTuple):
    """Where the parts of a key are.

    Parameters
    ----------
    mark, tie : int
        The bits of the mark, which are the lowest, and of what orders tied rows.
    score, unranked, user : int
        How many bits are below the score, below the one that says whether a row is not ranked, and
        below the user.
    n_lost : int
        How many of the lowest bits of scores there is no room for.
    dtype : type
        The type of keys: those of 32 bits are sorted in half the time.
    """

    mark: int
    tie: int
    score: int
    unranked: int
    user: int
    n_lost: int
    dtype: type[np.unsignedinteger[Any]]


class RankedRows(NamedTuple):
    """The rows of whole users in ranked order, those that are not ranked last.

    Parameters
    ----------
    users : slice
        The users.
    offsets : ndarray of shape (n_users + 1,), int
        The rows of the i-th of them are ``offsets[i]:offsets[i + 1]``.
    marks : ndarray of shape (n_rows,), int
        The mark of each row: its grade, or its place among these rows.
    is_tied : ndarray of shape (n_rows,), bool
        Whether a row's score is that of the one before.
    is_unranked : ndarray of shape (n_rows,), bool, or None
        Whether a row is not ranked; None: each is.
    """

    users: slice
    offsets: Array
    marks: Array
    is_tied: Array
    is_unranked: Array | None

    def find_users(self, places: Array) -> tuple[Array, Array]:
        """Return the users of the rows at these places, and how many each has of them."""
        n_found = np.diff(np.searchsorted(places, self.offsets))
        return np.repeat(np.arange(len(n_found)), n_found), n_found


class Ranker:
    """Ranks rows, those of some whole users at a time.

    Parameters
    ----------
    rankings, rule : Rankings, TieRule
        The rows, and the order of tied ones.
    by_row : bool, default False
        Whether ranked rows are marked by the row, not by its grade.
    """

    def __init__(self, rankings: Rankings, rule: TieRule, *, by_row: bool = False) -> None:
        self._groups, scores, self._grades, self._is_ranked, self._tie_order = rankings
        self._rule, self._by_row = rule, by_row
        self._scores = rankable(scores)
        if self._is_ranked is not None:
            self._scores = np.where(self._is_ranked, self._scores, self._scores.dtype.type(0))
        self._bits = find_bits(self._scores)
        self._highest = int(self._grades.max(initial=0))
        ties = self._tie_order
        self._tie_bits = 0 if ties is None else int(ties.max(initial=0)).bit_length()
        self._sorted = self._sort_all()
        if self._sorted is None:  # else threads would each find the order
            _ = self._groups.order

    def runs(self) -> list[slice]:
        """Return runs of whole users, each for one thread."""
        groups = self._groups
        n_runs = max(n_processors(), groups.n_rows // RUN, groups.n_groups // MOST_USERS)
        n_runs = max(1, min(n_runs, groups.n_rows // SLICE))
        cuts = cut_users(groups.offsets, slice(0, groups.n_groups), groups.n_rows // n_runs + 1)
        return [slice(*each) for each in pairwise(cuts)]

    def rank(self, users: slice) -> Iterator[RankedRows]:
        """Yield the rows of a run of users in ranked order, those of some users at a time."""
        offsets, step = self._groups.offsets, SHORT if self._sorted is None else LONG
        for first, stop in pairwise(cut_users(offsets, users, COUNTED)):
            own = offsets[first : stop + 1] - offsets[first]
            places = slice(int(offsets[first]), int(offsets[stop]))
            marks, is_tied, is_unranked, step = self._rank(places, own, step)
            yield RankedRows(slice(first, stop), own, marks, is_tied, is_unranked)

    def _sort_all(self) -> tuple[Array, Layout] | None:
        """Return the keys of all rows in order, and their layout; None where slices are sorted."""
        if self._groups.has_order or self._by_row or self._rule.row_order or self._tie_bits:
            return None
        layout = self._lay_out(self._groups.n_groups, self._groups.n_rows, LONG)
        if layout is None:
            return None
        codes = self._groups.codes
        keys = np.empty(len(codes), layout.dtype)

        def write(start: int, stop: int) -> None:
            for first in range(start, stop, BATCH):
                own = slice(first, min(first + BATCH, stop))
                bits = _cut(self._bits.read(self._scores[own]), layout.n_lost)
                users = codes[own].astype(layout.dtype)
                users <<= layout.dtype(layout.user)
                np.bitwise_or(self._join(layout, bits, own), users, out=keys[own])

        in_slices(write, len(keys))
        keys = sort(keys)
        users = np.arange(self._groups.n_groups, dtype=keys.dtype) << keys.dtype.type(layout.user)
        found = in_slices(lambda a, b: np.searchsorted(keys, users[a:b]), len(users))
        self._groups.offsets = np.concatenate([*found, [len(keys)]])
        return keys, layout

    def _rank(
        self, places: slice | Array, offsets: Array, step: int
    ) -> tuple[Array, Array, Array | None, int]:
        """Return the marks of whole users' rows in ranked order, and which are tied or unranked.

        The step says which keys are tried first: short, long or dense ones. The step for the users
        that follow comes last.
        """
        n_rows, doubtful, weakest = int(offsets[-1]), [], DENSE
        marks = np.empty(n_rows, np.int64 if self._by_row else self._grades.dtype)
        is_tied = np.zeros(n_rows, bool)
        is_unranked = None if self._is_ranked is None else np.empty(n_rows, bool)
        for first, stop in pairwise(cut_users(offsets, slice(0, len(offsets) - 1), SLICE)):
            own = slice(int(offsets[first]), int(offsets[stop]))
            if isinstance(places, slice):
                within: slice | Array = slice(places.start + own.start, places.start + own.stop)
            else:
                within = places[own]
            keys, layout, used = self._sort(within, offsets[first : stop + 1] - own.start, step)
            mark, tied = marks[own], is_tied[own]
            mark[:] = keys
            mark &= mark.dtype.type((1 << layout.mark) - 1)
            if self._by_row:
                mark[:] = self._order_tied(self._groups.rows(within))[mark] + own.start
            elif self._rule.relevant_first is not False:
                np.subtract(mark.dtype.type(self._highest), mark, out=mark)
            np.less(keys[1:] ^ keys[:-1], layout.dtype(1 << layout.score), out=tied[1:])
            if is_unranked is not None:
                is_unranked[own] = keys & layout.dtype(1 << layout.unranked) != 0
            if layout.n_lost:
                found = np.flatnonzero(tied)
                if used == LONG:
                    found = found[keys[found] & layout.dtype(1 << layout.score) != 0]
                elif 2 * len(found) > stop - first:  # short keys leave too much open
                    step = LONG
                if len(found):
                    doubtful.append(found + own.start)
                    weakest = min(weakest, used)
        if doubtful:
            again = np.unique(np.searchsorted(offsets, np.concatenate(doubtful), side="right") - 1)
            sizes = np.diff(offsets)[again]
            user, number = number_members(sizes)
            rows = offsets[again][user] + number
            within = places[rows] if isinstance(places, np.ndarray) else rows + places.start
            ranked, is_tied[rows], *_ = self._rank(within, group_offsets(sizes), weakest + 1)
            marks[rows] = rows[ranked] if self._by_row else ranked
        return marks, is_tied, is_unranked, step

    def _sort(self, places: slice | Array, offsets: Array, step: int) -> tuple[Array, Layout, int]:
        """Return the sorted keys of whole users, their layout, and the step that these are of."""
        if self._sorted is not None and isinstance(places, slice):
            return self._sorted[0][places], self._sorted[1], step
        n_users, n_rows = len(offsets) - 1, int(offsets[-1])
        layout = self._lay_out(n_users, n_rows, step)
        if layout is None:
            return self._sort(places, offsets, step + 1)
        index = self._groups.rows(places)
        scores, tie = self._scores[index], self._read_ties(index) if layout.tie else None
        if step == DENSE:
            bits = -rank_densely(scores) - 1 + len(scores)
            bits = (bits if tie is None else rank_densely(combine(bits, tie))).view(np.uint64)
            tie = None
        elif step == SHORT and layout.n_lost:
            bits = self._bits.shorten(scores, layout.unranked - layout.score)
        else:
            bits = _cut(self._bits.read(scores), layout.n_lost)
        keys = self._join(layout, bits, index, tie)
        users = np.arange(n_users, dtype=layout.dtype) << layout.dtype(layout.user)
        keys |= np.repeat(users, np.diff(offsets))
        return sort_grouped(keys, offsets), layout, step

    def _lay_out(self, n_users: int, n_rows: int, step: int) -> Layout | None:
        """Return the layout of the keys of so many users and rows; None where room is too little.

        Dense ranks also order tied rows, and always fit.
        """
        tie, mark, n_bits = 0, self._highest.bit_length(), max(1, self._bits.n_bits)
        if self._by_row:
            mark = (n_rows - 1).bit_length()
        else:
            tie = (n_rows - 1).bit_length() if self._rule.row_order else self._tie_bits
        unranked, user = int(self._is_ranked is not None), (n_users - 1).bit_length()
        room = (32 if step == SHORT else 64) - mark - tie - unranked - user
        if step == DENSE:
            above = mark + n_rows.bit_length()
            return Layout(mark, tie, mark, above, above + unranked, 0, np.uint64)
        n_lost = n_bits - room + 1 if n_bits > room else 0
        n_left = room if step == SHORT else min(room, self._bits.n_leading - n_lost)
        if n_lost and n_left < LEAST[step]:
            return None
        above = mark + tie + min(n_bits, room)
        dtype = np.uint32 if above + unranked + user <= 32 else np.uint64
        return Layout(mark, tie, mark + tie, above, above + unranked, n_lost, dtype)

    def _join(
        self, layout: Layout, bits: Array, index: slice | Array, tie: Array | None = None
    ) -> Array:
        """Return keys without users, given the bits of scores, which may be overwritten."""
        keys = bits.astype(layout.dtype, copy=False)
        if self._is_ranked is not None:
            keys[~self._is_ranked[index]] = 1 << layout.unranked - layout.score
        if tie is not None:
            keys <<= layout.dtype(layout.tie)
            keys |= tie.astype(layout.dtype)
        if layout.mark:
            # Of the rows of a tie the one with the lowest mark comes first.
            marks = invert(self._order_tied(index)) if self._by_row else self._grades[index]
            if not self._by_row and self._rule.relevant_first is not False:
                marks = self._highest - marks
            keys <<= layout.dtype(layout.mark)
            keys |= marks.astype(layout.dtype, copy=False)
        return keys

    def _read_ties(self, index: slice | Array) -> Array:
        """Return what orders tied rows, the lowest first."""
        if self._tie_order is not None:
            return self._tie_order[index]
        order = np.arange(index.stop - index.start if isinstance(index, slice) else len(index))
        return order[:: self._rule.row_order or 1]

    def _order_tied(self, index: slice | Array) -> Array:
        """Return the order in which rows would stand if all were tied."""
        if self._rule.reads_relevance:
            is_last = (self._grades[index] > 0) != self._rule.relevant_first
            return np.argsort(is_last, kind="stable")
        return np.argsort(self._read_ties(index), kind="stable")


def _cut(bits: Array, n_lost: int) -> Array:
    """Return integers without so many of their bits; the lowest one left says if any was set."""
    if n_lost:
        below = np.uint64((1 << n_lost - 1) - 1)
        carry = bits & below
        carry += below  # into the highest bit that is lost
        bits |= carry
        bits >>= np.uint64(n_lost - 1)
    return bits
