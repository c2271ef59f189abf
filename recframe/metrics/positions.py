"""Positions: where relevant rows may stand in a ranking, and how probably. NumPy only.

Without ties a relevant row stands where it is ranked. A tie group is spread over its positions:
each order of its rows is as likely as any other. So a metric that adds up positions gives its
expectation, by sums of which no term is negative. What a tie adds up to depends on where it begins,
how far it goes and what it is made of: ties that are alike in that are added up once.
`hits.expected_hits` has an example, `definitions` the reference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from recframe.kernel.counting import Counts, find_inside
from recframe.kernel.grouping import number_distinct, number_members, run_sizes, run_starts
from recframe.kernel.threads import Array

CELLS_PER_BLOCK = 1 << 16  # of a padded matrix: it stays in the cache


class Shapes(NamedTuple):
    """How probably the positions of ties hold what is looked for, from the first one of each.

    Parameters
    ----------
    of_span : ndarray of shape (n_spans,), int
        The shape of each span, an index into `begins`.
    chance : ndarray of shape (n_chances,), float
        The probabilities, those of a shape one after the other.
    begins : ndarray of shape (n_shapes,), int
        Where those of each shape begin.
    """

    of_span: Array
    chance: Array
    begins: Array


@dataclass(frozen=True, eq=False)
class Positions:
    """Spans of positions that relevant rows may have; those of a user stand together, in order.

    Parameters
    ----------
    user, above : ndarray of shape (n_spans,), int
        Whose ranking a span is in, and how many positions are above it.
    depth : ndarray of shape (n_spans,), int, or None
        How many positions it has; None: each has one.
    weight : ndarray of shape (n_spans,), float, or None
        The probability that such a row stands at each of its positions, but for their chance;
        None: 1.
    n_users : int
        All users, those without a relevant row too.
    hits, step : ndarray of shape (n_spans,), int and float, default 0
        If a relevant row stands at the first of its positions, the relevant rows up to there,
        itself included, and how many more there are at each next one in expectation.
    gain : ndarray of shape (n_spans,), float, default the weight
        The gain at each of its positions in expectation.
    shapes : Shapes, default None
        How probably its positions differ; None: they do not.
    """

    user: Array
    above: Array
    depth: Array | None
    weight: Array | None
    n_users: int
    hits: Array | None = None
    step: Array | None = None
    gain: Array | None = None
    shapes: Shapes | None = None

    def up_to(self, k: int) -> Positions:
        """Return the positions up to k."""
        inside = find_inside(self.above, k)
        above, shapes, others = self.above[inside], self.shapes, {}
        if self.depth is not None:
            others["depth"] = np.minimum(self.depth[inside], k - above)
        if shapes is not None:
            others["shapes"] = shapes._replace(of_span=shapes.of_span[inside])
        for name in ("user", "weight", "hits", "step", "gain"):
            values = getattr(self, name)
            others[name] = None if values is None else values[inside]
        return replace(self, above=above, **others)

    @cached_property
    def _spread(self) -> _Spread:
        """The spans of one position, and then those of several, each that is alike once."""
        if self.depth is None:
            return _Spread(self.above + 1)
        narrow, wide = np.flatnonzero(self.depth == 1), np.flatnonzero(self.depth > 1)
        keys = [self.above[wide], self.depth[wide]]
        if self.shapes is not None:
            keys.append(self.shapes.of_span[wide])
        alike, number = number_distinct(*keys)
        own = np.append(narrow, wide[alike])
        depth, above = self.depth[own], self.above[own]
        starts = depth.cumsum() - depth
        nth = np.arange(depth.sum())
        chance = None
        if self.shapes is not None:
            of_span, chances, begins = self.shapes
            chance = chances[nth + np.repeat(begins[of_span[own]] - starts, depth)]
        like = np.empty(len(self.above), np.int64)
        like[narrow], like[wide] = np.arange(len(narrow)), len(narrow) + number
        return _Spread(nth + np.repeat(above + 1 - starts, depth), starts, depth, chance, like)

    @property
    def position(self) -> Array:
        """The positions, from 1, each of those that are alike once."""
        return self._spread.position

    def add(self, terms: Array, weight: Array | None = None) -> Array:
        """Return the sum of a term for each position, times its weight, of each span."""
        added = self._add_up(terms)
        weight = self.weight if weight is None else weight
        return added if weight is None else weight * added

    def add_precision(self) -> Array:
        """Return the sum of the relevant rows up to each position, divided by it, of each span."""
        # Where there is but one position it is one division, of whole numbers.
        added: Array = self.hits / (self.above + 1)
        _, starts, depth, *_ = self._spread
        if starts is not None and depth is not None:
            before = np.arange(len(self.position)) - np.repeat(starts, depth)
            spread = self.hits * self._add_up(1 / self.position)
            spread += self.step * self._add_up(before / self.position)
            added = np.where(self.depth == 1, added, spread)
        if self.weight is not None:
            added *= self.weight
        return added

    def _add_up(self, terms: Array) -> Array:
        """Return the sum of terms times their chance over each span."""
        _, starts, _, chance, like = self._spread
        if starts is None:
            return terms
        added: Array = np.add.reduceat(terms if chance is None else terms * chance, starts)
        return added[like]


class _Spread(NamedTuple):
    """The positions of spans, those that are alike once, where each begins, and how many it has.

    With them the chance of each position, and which of these each span is like. None: itself.
    """

    position: Array
    starts: Array | None = None
    depth: Array | None = None
    chance: Array | None = None
    like: Array | None = None


def sum_by(user: Array, terms: Array, n_users: int) -> Array:
    """Return the sums of terms by user, added one after the other as they stand."""
    # In ranked order, and whatever else is evaluated: so the bits are always the same.
    total = np.bincount(user, weights=terms, minlength=n_users)
    return total.astype(np.float64, copy=False)  # of no term at all NumPy makes integers


def all_positions(counts: Counts, last: int | None, gain: Array | None = None) -> Positions:
    """Return the positions of relevant rows up to the last (all: None).

    The gains of rows are 1 if there are none given.
    """
    n_users, inside = len(counts.n_ranked), find_inside(counts.above, last)
    user, above, tied = counts.user[inside], counts.above[inside], counts.tied[inside]
    gain = None if gain is None else gain[inside]
    if tied.max(initial=1) == 1:
        hits = _count_up_to(np.arange(len(user)), user, n_users)
        return Positions(user, above, None, None, n_users, hits, gain=gain)
    found = _spread_ties(user, above, tied, gain, n_users)
    return found if last is None else found.up_to(last)


def _count_up_to(rows: Array, user: Array, n_users: int) -> Array:
    """Return how many rows of its user there are up to each of these, itself included."""
    begin, first = np.empty(n_users, np.int64), run_starts(user)
    begin[user[first]] = first
    return rows + 1 - begin[user[rows]]


def _spread_ties(
    user: Array, above: Array, tied: Array, gain: Array | None, n_users: int
) -> Positions:
    """Return the positions of ties, each spread evenly.

    In a tie of t rows, m of them relevant, one stands at each position with probability m / t, and
    of the rows that precede it there (m - 1) / (t - 1) are relevant in expectation. Where all are,
    each position is a span of its own, so that a perfect ranking adds up as the ideal one does.
    """
    first = run_starts(user, above)
    n_relevant, size = run_sizes(first, len(user)), tied[first]
    if gain is not None:
        of_tie, _ = number_members(n_relevant)
        gain = np.bincount(of_tie, gain) / size
    is_whole = n_relevant == size
    tie, nth = number_members(np.where(is_whole, n_relevant, 1))
    n_relevant, size = (np.where(is_whole, 1, each)[tie] for each in (n_relevant, size))
    row = first[tie] + nth
    return Positions(
        user[row],
        above[row] + nth,
        size,
        n_relevant / size,
        n_users,
        _count_up_to(row, user, n_users),
        (n_relevant - 1) / np.maximum(size - 1, 1),
        None if gain is None else gain[tie],
    )
