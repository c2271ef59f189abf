"""Ties: groups of tied rows with a relevant one, and their expected hits. NumPy only.

All orders of the rows of a tie are equally likely. A metric that adds up terms of positions has an
expectation: each term counts times the probability that a relevant row has this position. No term
is negative, so no digits are lost. Without ties each group is one row at its rank.

Example: three tied rows at the top, one of them relevant, and k = 2. Two of the three come first,
so hits@2 = (2 - 0) * 1 / 3. The relevant row is at position 1, 2 or 3 with probability 1/3 each, so
reciprocal_rank@2 = 1/3 / 1 + 1/3 / 2 = 1/2.

In the model of `err` a user goes down the ranking and stops at each row with a probability s, that
the row satisfies the user. The user passes several rows with the product of their 1 - s, in any
order. So the order of a tie changes only the chances to stop at the positions within it. Their
expectations over all orders are computed by adding row after row.

Example: two tied rows at the top, with s = 1/2 and s = 0. The first is at position 1 or 2 with
probability 1/2 each. A user stops at either position with 1/2 * 1/2 = 1/4 and passes both with 1/2.
The expectation of 1 / position is 1/4 / 1 + 1/4 / 2 = 3/8.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recframe.kernel.counting import Counts
from recframe.kernel.grouping import combine, number_members, run_starts
from recframe.kernel.threads import Array

Fractions = tuple[Array, Array]  # numerator and denominator of each user
NEGLIGIBLE = 75.0  # a position that is reached with probability e**-75 adds nothing
MOST_VALUES = 16  # equal ties are computed once if satisfactions have at most so many values


class Ties(NamedTuple):
    """The groups of tied rows that hold a relevant one, sorted by user, then by rank.

    Parameters
    ----------
    user, above : ndarray of shape (n_ties,), int
        The user of the tie, and the number of the user's rows above it.
    size, n_relevant : ndarray of shape (n_ties,), int
        The number of its rows, and of its relevant rows.
    n_relevant_above : ndarray of shape (n_ties,), int
        The number of the user's relevant rows above it.
    chance, gain : ndarray of shape (n_ties,), float
        The probability of a relevant row at each of its positions, and the expected gain there.
    """

    user: Array
    above: Array
    size: Array
    n_relevant: Array
    n_relevant_above: Array
    chance: Array
    gain: Array

    def take(self, ties: Array) -> Ties:
        """Return some of the ties."""
        return Ties(*(column[ties] for column in self))


def find_ties(counts: Counts, gain: Array | None = None) -> Ties:
    """Return the ties of counted rows. Each relevant row gains 1 unless `gain` is passed.

    A tie of relevant rows only is split into single rows, so that the terms of a perfect ranking
    equal the terms of the ideal.
    """
    rows = run_starts(counts.user, counts.above)
    if gain is not None:
        tie, _ = number_members(np.diff(rows, append=len(gain)))
        gain = (sum_by(tie, gain, len(rows)) / counts.tied[rows])[tie]
    user, above, size, rows = split_ties(counts, rows, are_equal=True)
    n_relevant = np.diff(rows, append=len(counts.user))
    _, n_above = number_members(np.diff(run_starts(counts.user), append=len(counts.user)))
    chance = n_relevant / size
    gain = chance if gain is None else gain[rows]
    return Ties(user, above, size, n_relevant, n_above[rows], chance, gain)


def split_ties(
    counts: Counts, rows: Array, are_equal: Array | bool
) -> tuple[Array, Array, Array, Array]:
    """Return each tie's user, rows above it, size and first row.

    If all rows of a tie are relevant and equal, each becomes a tie of one row. `rows` are the first
    rows of ties, `are_equal` has a flag for each tie of equal rows.
    """
    above, tied = counts.above, counts.tied
    if len(rows) < len(above):
        sizes = np.diff(rows, append=len(above))
        tie, nth = number_members(sizes)
        is_split = (are_equal & (sizes == tied[rows]))[tie]
        above, tied = above + nth * is_split, np.where(is_split, 1, tied)
        rows = run_starts(counts.user, above)
    return counts.user[rows], above[rows], tied[rows], rows


def expected_hits(counts: Counts, cut_off: int | Array) -> Fractions:
    """Return the expected number of relevant rows above a cut-off, one for all or one for each row.

    A tie above the cut counts fully. In a tie across the cut, (cut - above) rows come before the
    cut. The denominator is the size of this tie, or 1. Numerator and denominator are integers, so a
    metric divides once, and its value is the float nearest to the exact value.
    """
    n_users = len(counts.n_ranked)
    room = cut_off - counts.above
    is_above = counts.tied <= room
    hits = np.bincount(counts.user[is_above], minlength=n_users)
    across = np.flatnonzero((room > 0) & ~is_above)
    # A user has at most one tie across the cut. Each of its relevant rows adds the room.
    user = counts.user[across]
    sizes, added = np.ones(n_users, np.int64), np.bincount(user, minlength=n_users)
    sizes[user] = counts.tied[across]
    added[user] *= room[across]
    return hits * sizes + added, sizes


class Spread:
    """The first positions of ties. Equal ties share them, so that each sum is computed once.

    Equal ties begin at the same position, have the same depth and the same `kind`. The arrays have
    an element for each position: `position`, from 1 on; `nth`, its number within the tie from 0 on;
    and `tie`, one of the ties at this position.
    """

    def __init__(self, above: Array, depth: Array, *kind: Array) -> None:
        kinds = combine(above, depth, *kind)
        _, first, self._number = np.unique(kinds, return_index=True, return_inverse=True)
        tie, self.nth = number_members(depth[first])
        self.tie = first[tie]
        self.position = above[self.tie] + self.nth + 1
        self._starts = np.flatnonzero(self.nth == 0)

    def sum(self, terms: Array) -> Array:
        """Return the sum over each tie of the terms of its positions."""
        added: Array = np.add.reduceat(terms, self._starts)
        return added[self._number]


def products_before(factors: Array, nth: Array) -> Array:
    """Return the product of the factors before each one in its group; `nth` is its number there."""
    products = np.where(nth > 0, np.roll(factors, 1), 1.0)
    # Each product is multiplied by an earlier product: of one factor, then of two, four and so on.
    step, later = 1, np.flatnonzero(nth > 1)
    while len(later):
        products[later] *= products[later - step]
        step *= 2
        later = later[nth[later] > step]
    return products


def sum_by(user: Array, terms: Array, n_users: int) -> Array:
    """Return the sum of each user's terms, added in their order."""
    # Terms have the order of the ranking, so other metrics in the call change no bit of a sum.
    total = np.bincount(user, weights=terms, minlength=n_users)
    return total.astype(np.float64, copy=False)  # without terms NumPy returns integers


def expect_stop(counts: Counts, satisfaction: Array, k: int | None) -> Array:
    """Return each user's expectation of 1 / the position of the stop, and 0 for a stop after k.

    `satisfaction` is the probability that a counted row satisfies; other rows satisfy nobody.
    """
    rows = run_starts(counts.user, counts.above)
    lowest = np.minimum.reduceat(satisfaction, rows)
    are_equal = lowest == np.maximum.reduceat(satisfaction, rows)
    user, above, size, rows = split_ties(counts, rows, are_equal)
    n_relevant = np.diff(rows, append=len(satisfaction))
    _, nth = number_members(np.diff(run_starts(user), append=len(user)))
    # The probability that a user reaches a tie. Of each tie, `offset` is the index of its first
    # chance: the probability that a user who reaches the tie stops at a position of it.
    reached = products_before(np.multiply.reduceat(1 - satisfaction, rows), nth)
    # A single row has one position. All single rows share the first chance, which is 1.
    offset, n_positions = np.zeros_like(size), np.ones_like(size)
    reached[size == 1] *= satisfaction[rows[size == 1]]
    wide = np.flatnonzero(size > 1)
    # The mean product of j rows is at most the j-th power of their mean (Maclaurin's inequality).
    mean = np.add.reduceat(satisfaction, rows)[wide] / size[wide]
    with np.errstate(divide="ignore"):
        furthest = np.ceil(NEGLIGIBLE / -np.log1p(-mean))
    depth = np.minimum(size[wide], furthest).astype(np.int64)
    if k is not None:
        depth = np.minimum(k - above[wide], depth)
    first, number = _number_equal(size[wide], rows[wide], n_relevant[wide], satisfaction)
    deepest = np.zeros(len(first), np.int64)
    np.maximum.at(deepest, number, depth)
    first = wide[first]
    starts, chance = _chances_within_ties(
        size[first], deepest, rows[first], n_relevant[first], satisfaction
    )
    offset[wide], n_positions[wide] = 1 + starts[number], deepest[number]
    chance = np.append(1.0, chance)
    depth = n_positions if k is None else np.minimum(n_positions, k - above)
    ties = np.flatnonzero(depth > 0)
    spread = Spread(above[ties], depth[ties], offset[ties])
    stops = chance[offset[ties][spread.tie] + spread.nth]
    added = reached[ties] * spread.sum(stops / spread.position)
    return sum_by(user[ties], added, len(counts.n_ranked))


def _number_equal(
    size: Array, rows: Array, n_relevant: Array, satisfaction: Array
) -> tuple[Array, Array]:
    """Return the first of each set of equal ties, and the number of every tie's set."""
    tie, nth = number_members(n_relevant)
    satisfaction = satisfaction[rows[tie] + nth]
    values = np.unique(satisfaction)
    if len(values) > MOST_VALUES:
        return np.arange(len(size)), np.arange(len(size))
    n_equal = [np.bincount(tie[satisfaction == one], minlength=len(size)) for one in values]
    _, first, number = np.unique(combine(size, *n_equal), return_index=True, return_inverse=True)
    return first, number


def _chances_within_ties(
    size: Array, depth: Array, rows: Array, n_relevant: Array, satisfaction: Array
) -> tuple[Array, Array]:
    """Return the start of each tie's chances, and the chances to stop at its first positions.

    Rows are added one by one. In a random order of n rows the added row is at position j with
    probability 1/n, before j with (j - 1)/n and after j with (n - j)/n.
    """
    order = np.argsort(-n_relevant, kind="stable")
    size, depth, rows, n_relevant = (each[order] for each in (size, depth, rows, n_relevant))
    ends = depth.cumsum()
    tie, before = number_members(depth)
    reached, stopped = np.ones(len(tie)), np.zeros(len(tie))
    for nth in range(int(n_relevant.max(initial=0))):
        n_ties = int(np.count_nonzero(n_relevant > nth))  # these have an nth relevant row
        inside = slice(ends[n_ties - 1])
        of_tie, reach, stops = tie[inside], reached[inside], stopped[inside]
        n_rows = (size - n_relevant + nth + 1)[of_tie]
        added = satisfaction[rows[:n_ties] + nth][of_tie]
        n_after = np.maximum(n_rows - before[inside], 0)
        passed = np.minimum(before[inside], n_rows) * (1 - added)  # 0 at the first position
        weighted = np.maximum(n_after - 1, 0) * stops + added * reach + passed * np.roll(stops, 1)
        stopped[inside] = weighted / n_rows
        # A user reaches a position past the added row, or before it, with (n + 1 - j)/n.
        reached[inside] = (n_after * reach + passed * np.roll(reach, 1)) / n_rows
    starts = np.empty_like(order)
    starts[order] = ends - depth
    return starts, stopped
