"""Falling cut-offs: what is made at each of them from the one below it in rankings. NumPy only.

Between one cut-off and the next only few spans of positions end. So of users it is held what their
spans above the cut-off add up to, and which one is across it: going up, the spans that end between
two cut-offs are taken back, and of each user one at most is then across the cut-off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from recframe.kernel.grouping import number_distinct, number_members
from recframe.kernel.radix import argsort
from recframe.kernel.threads import Array
from recframe.metrics.positions import Positions, sum_by

Made = TypeVar("Made")


class Falling(Generic[Made]):
    """What is made at cut-offs, from the last one up; the one at hand is held.

    The next one up is cheap to ask for; for one further down all is made anew.
    """

    def __init__(
        self,
        make: Callable[[Sequence[int]], Iterator[tuple[int, Made]]],
        cut_offs: Sequence[int],
    ) -> None:
        self.cut_offs = cut_offs
        self._make = make
        self._held: tuple[int, Made] | None = None

    def at(self, k: int) -> Made:
        """Return what is made at a cut-off."""
        if self._held is None or k > self._held[0]:
            self._left = self._make(self.cut_offs)
            self._held = next(self._left)
        while self._held[0] != k:
            self._held = next(self._left)
        return self._held[1]


class Ends(NamedTuple):
    """Spans by the first cut-off that is at or after their last position.

    Parameters
    ----------
    order : ndarray of shape (n_spans,), int
        The spans, those of the first cut-off first; of each cut-off, and beyond the last one, as
        they stand.
    bounds : list of int
        Where those of each begin, and the end.
    """

    order: Array
    bounds: list[int]

    def at(self, index: int) -> slice:
        """Return which of the order end between a cut-off and the one before, by its index."""
        return slice(self.bounds[index], self.bounds[index + 1])


def find_ends(last_position: Array, cut_offs: Sequence[int]) -> Ends:
    """Return spans by the cut-off that they end at."""
    return _order(first_cut(cut_offs, last_position), cut_offs)


def find_across(above: Array, last_position: Array, cut_offs: Sequence[int]) -> Ends:
    """Return the spans with positions on both sides of a cut-off by the one that they end at."""
    index = first_cut(cut_offs, last_position)
    across = np.flatnonzero(first_cut(cut_offs, above + 1) < index)
    order, bounds = _order(index[across], cut_offs)
    return Ends(across[order], bounds)


def _order(index: Array, cut_offs: Sequence[int]) -> Ends:
    """Return spans by these indices of cut-offs."""
    bounds = np.bincount(index, minlength=len(cut_offs) + 1).cumsum().tolist()
    narrow = np.min_scalar_type(len(cut_offs))  # which NumPy sorts faster
    return Ends(np.argsort(index.astype(narrow), kind="stable"), [0, *bounds])


def first_cut(cut_offs: Sequence[int], position: Array) -> Array:
    """Return the index of the first cut-off at or after each position; their number for none."""
    most = min(int(position.max(initial=0)), cut_offs[-1] + 1)
    return np.searchsorted(cut_offs, np.arange(most + 1)).take(position, mode="clip")


class Terms:
    """What spans of positions add: the terms of their positions, times the weight of the span."""

    def __init__(
        self, found: Positions, terms: Callable[[Array], Array], weight: Array | None = None
    ) -> None:
        self.found, self._terms = found, terms
        self._weight = found.weight if weight is None else weight

    def whole(self) -> Array:
        """Return what each span adds."""
        return self.found.add(self._terms(self.found.position), self._weight)

    def sum(self) -> Array:
        """Return the sum of what spans add, by user."""
        return sum_by(self.found.user, self.whole(), self.found.n_users)

    def columns(self) -> list[Array]:
        """Return what is to be known of spans across a cut-off: floats, and which are alike."""
        weight = np.ones(len(self.found.above)) if self._weight is None else self._weight
        return [self._alike.number, weight]

    def across(self, k: int, like: Array, *columns: Array) -> Array:
        """Return what the part above a cut-off adds of a span of each user, with these columns."""
        position, _, add_up = self._alike.above_cut(k)
        (weight,) = columns
        added = add_up(self._terms(position)).take(like, mode="clip")
        added *= weight
        return added

    @cached_property
    def _alike(self) -> _Alike:
        return _Alike(self.found)


class PrecisionTerms(Terms):
    """What spans add to the sum of precision at each relevant row."""

    def __init__(self, found: Positions) -> None:
        super().__init__(found, reciprocal)

    def whole(self) -> Array:
        """Return what each span adds."""
        return self.found.add_precision()

    def columns(self) -> list[Array]:
        """Return what is to be known of spans across a cut-off: floats, and which are alike."""
        hits, step = self.found.hits, self.found.step
        assert hits is not None
        assert step is not None
        return [*super().columns(), hits, step]

    def across(self, k: int, like: Array, *columns: Array) -> Array:
        """Return what the part above a cut-off adds of a span of each user, with these columns."""
        position, before, add_up = self._alike.above_cut(k)
        weight, hits, step = columns
        added = add_up(1 / position).take(like, mode="clip")
        added *= hits
        others = add_up(before / position).take(like, mode="clip")
        others *= step
        added += others
        # Where there is but one position it is one division, of whole numbers.
        users, above = self._begins
        single = users[slice(*np.searchsorted(above, (k - 1, k)))]
        added[single] = hits[single] / k
        added *= weight
        return added

    @cached_property
    def _begins(self) -> tuple[Array, Array]:
        """The users of spans of several positions, and how many are above each, in that order."""
        assert self.found.depth is not None
        wide = np.flatnonzero(self.found.depth > 1)
        wide = wide[argsort(self.found.above[wide])]
        return self.found.user[wide], self.found.above[wide]


class _Alike:
    """Spans of several positions, of which those are alike that begin at one, of one shape."""

    def __init__(self, found: Positions) -> None:
        shapes, depth = found.shapes, found.depth
        assert depth is not None  # where each span has one position, none is across a cut-off
        keys = [found.above] if shapes is None else [found.above, shapes.of_span]
        alike, self.number = number_distinct(*keys)
        self.above = found.above[alike]
        self._deepest = np.zeros(len(alike), np.int64)
        np.maximum.at(self._deepest, self.number, depth)
        self._chances = None
        if shapes is not None:
            self._chances = shapes.chance, shapes.begins[shapes.of_span[alike]]

    def above_cut(self, k: int) -> tuple[Array, Array, Callable[[Array], Array]]:
        """Return positions of spans across a cut-off, those that are alike once, down to it.

        With them, the positions of the span before each, and what adds up terms of positions over
        each span; over those that are not across it, to 0.
        """
        is_across = (self.above < k) & (self.above + self._deepest > k)
        across = np.flatnonzero(is_across)
        depth = k - self.above[across]
        starts = depth.cumsum() - depth
        nth, before = number_members(depth)

        def add_up(terms: Array) -> Array:
            added = np.zeros(len(self.above))
            if self._chances is not None:
                chance, begins = self._chances
                terms = terms * chance[begins[across][nth] + before]
            if len(across):
                added[across] = np.add.reduceat(terms, starts)
            return added

        return self.above[across][nth] + before + 1, before, add_up


def reciprocal(position: Array) -> Array:
    """Return 1 / position."""
    return 1 / position


def falling_sums(terms: Terms, cut_offs: Sequence[int]) -> Iterator[tuple[int, Array]]:
    """Yield cut-offs, from the last one up, and what spans add above each, by user.

    No span goes beyond the last one. They are added one after the other from the first on: a sum is
    to the bit what it is if that cut-off alone is asked for.
    """
    if len(cut_offs) == 1:
        yield cut_offs[0], terms.sum()
        return
    found, added = terms.found, terms.whole()
    last_position = found.above + (1 if found.depth is None else found.depth)
    ends = find_ends(last_position, cut_offs)
    user, added = found.user[ends.order], added[ends.order]
    total, before = np.zeros(found.n_users), np.empty(len(user))
    for index in range(len(cut_offs)):
        own = ends.at(index)
        before[own] = total[user[own]]
        np.add.at(total, user[own], added[own])
    yield cut_offs[-1], total.copy()
    # All positions may be below the last cut-off, where others were asked for beside it.
    is_spread = found.depth is not None and len(found.depth) > 0
    if is_spread:
        across = find_across(found.above, last_position, cut_offs)
        users = found.user[across.order]
        columns = [each[across.order] for each in terms.columns()]
        # Of a user that span is known which is across the cut-off, or was across one below.
        like = np.zeros(found.n_users, np.int64)
        held = [like, *(np.zeros(found.n_users) for _ in columns[1:])]
    for index in range(len(cut_offs) - 2, -1, -1):
        k, own = cut_offs[index], ends.at(index + 1)
        total[user[own]] = before[own]
        if not is_spread:
            yield k, total.copy()
            continue
        own = across.at(index + 1)
        for of_users, each in zip(held, columns, strict=True):
            of_users[users[own]] = each[own]
        sums = terms.across(k, *held)
        sums += total
        yield k, sums
