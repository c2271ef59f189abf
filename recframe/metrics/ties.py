"""Ties: groups of tied rows that hold a relevant one, and what they count for. NumPy only.

Each order of the rows of a tie is as likely as any other. So a metric that adds up positions has an
expectation: each of its terms times the probability that a relevant row stands there. No term is
negative, so that no digits are lost. Without ties every group has one row, and stands where it is
ranked.

Three tied rows at the top, one of them relevant, and k = 2: two of the three come first, so that
hits@2 = (2 - 0) * 1 / 3. The row stands at 1, 2 or 3 with probability 1/3 each, and two of these
are among the first two; so reciprocal_rank@2 = 1/3 / 1 + 1/3 / 2 = 1/2.

One who goes down a ranking may stop where a row satisfies: a row of stop s does with that
probability. One gets past rows with the product of their 1 - s, whatever their order; so of a tie
only the positions within it depend on the order. There the expectations over all orders are made
row by row, by sums of which no term is negative.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recframe.kernel.counting import Counts
from recframe.kernel.grouping import combine, number_members, run_starts
from recframe.kernel.threads import Array

Hits = tuple[Array, Array]  # numerator and denominator, by user
NEGLIGIBLE = 75.0  # e to the minus of it, as the probability to get as far down, adds nothing
MOST_STOPS = 16  # that are distinct, such that ties alike in them are looked for


class Ties(NamedTuple):
    """The groups of tied rows that hold a relevant one, by user and then as ranked.

    Parameters
    ----------
    user, above : ndarray of shape (n_ties,), int
        Whose ranking a tie is in, and how many rows are ranked above it.
    size, n_relevant : ndarray of shape (n_ties,), int
        Its rows, and the relevant ones.
    n_relevant_above : ndarray of shape (n_ties,), int
        The relevant rows of the user that are ranked above it.
    chance, gain : ndarray of shape (n_ties,), float
        The probability that a relevant row stands at each of its positions, and the gain there in
        expectation.
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
    """Return the ties of counted rows, whose gains are 1 unless given.

    Rows that are all relevant stand at one position each, whatever their order: so that a perfect
    ranking adds up, term by term, as the ideal one does.
    """
    rows = run_starts(counts.user, counts.above)
    if gain is not None:
        tie, _ = number_members(np.diff(rows, append=len(gain)))
        gain = (sum_by(tie, gain, len(rows)) / counts.tied[rows])[tie]
    _, _, user, above, tied, *_ = part_ties(counts, rows, is_alike=True)
    rows = run_starts(user, above)
    size, n_relevant = tied[rows], np.diff(rows, append=len(user))
    _, n_above = number_members(np.diff(run_starts(user), append=len(user)))
    chance = n_relevant / size
    gain = chance if gain is None else gain[rows]
    return Ties(user[rows], above[rows], size, n_relevant, n_above[rows], chance, gain)


def part_ties(counts: Counts, rows: Array, is_alike: Array | bool) -> Counts:
    """Return counts in which all rows of a tie, if they are relevant and alike, follow each other.

    The rows are those that ties begin at.
    """
    n_rows = len(counts.user)
    if len(rows) == n_rows:
        return counts
    sizes = np.diff(rows, append=n_rows)
    tie, nth = number_members(sizes)
    is_parted = (is_alike & (sizes == counts.tied[rows]))[tie]
    above, tied = counts.above + nth * is_parted, np.where(is_parted, 1, counts.tied)
    return counts._replace(above=above, tied=tied)


def expected_hits(counts: Counts, cut_off: int | Array) -> Hits:
    """Return the expected relevant rows above a cut-off, one for all or one for each counted row.

    A tie wholly above the cut counts fully; of the one across it, (cut - above) of its rows come
    first in expectation. The numerator and the denominator, which is the size of such a tie or 1,
    are whole numbers: a metric divides once, and its value is the float nearest to the exact one.
    """
    n_users = len(counts.n_ranked)
    room = cut_off - counts.above
    is_whole = counts.tied <= room
    hits = np.bincount(counts.user[is_whole], minlength=n_users)
    across = np.flatnonzero((room > 0) & ~is_whole)
    # Of each user there is but one such tie, and each of its relevant rows adds the room.
    user = counts.user[across]
    sizes, added = np.ones(n_users, np.int64), np.bincount(user, minlength=n_users)
    sizes[user] = counts.tied[across]
    added[user] *= room[across]
    return hits * sizes + added, sizes


class Spread:
    """The first positions of ties, those of ties that are alike once.

    Alike are ties that begin at one position, go as deep, and are of one kind. Position by
    position there are `position`, from 1, `nth`, the positions of the tie before it, and `tie`, a
    tie that has it.
    """

    def __init__(self, above: Array, depth: Array, *kind: Array) -> None:
        kinds = combine(above, depth, *kind)
        _, alike, self._number = np.unique(kinds, return_index=True, return_inverse=True)
        tie, self.nth = number_members(depth[alike])
        self.tie = alike[tie]
        self.position = above[self.tie] + self.nth + 1
        self._starts = np.flatnonzero(self.nth == 0)

    def sum(self, terms: Array) -> Array:
        """Return the sum of a term for each position over every tie."""
        added: Array = np.add.reduceat(terms, self._starts)
        return added[self._number]


def products_before(factors: Array, nth: Array) -> Array:
    """Return the product of the factors before each one in its group, whose nth it is from 0."""
    products = np.where(nth > 0, np.roll(factors, 1), 1.0)
    # Each is multiplied by the one that ends where it begins: of one factor, of two, of four ...
    step, later = 1, np.flatnonzero(nth > 1)
    while len(later):
        products[later] *= products[later - step]
        step *= 2
        later = later[nth[later] > step]
    return products


def sum_by(user: Array, terms: Array, n_users: int) -> Array:
    """Return the sums of terms by user, added one after the other as they stand."""
    # In ranked order, and whatever else is evaluated: so the bits are always the same.
    total = np.bincount(user, weights=terms, minlength=n_users)
    return total.astype(np.float64, copy=False)  # of no term at all NumPy makes integers


class Stops(NamedTuple):
    """How probably one stops at each position of ties.

    Parameters
    ----------
    user, above : ndarray of shape (n_ties,), int
        Whose ranking a tie is in, and how many rows are ranked above it.
    reached : ndarray of shape (n_ties,), float
        The probability to come to the tie.
    offset, n_chances : ndarray of shape (n_ties,), int
        Where its chances begin, and at how many positions one may stop.
    chance : ndarray of shape (n_chances,), float
        The probabilities to stop at the positions of a tie, for one who comes to it.
    """

    user: Array
    above: Array
    reached: Array
    offset: Array
    n_chances: Array
    chance: Array

    def expect(self, k: int | None, n_users: int) -> Array:
        """Return the expectation of 1 / the position of the stop, 0 beyond k, by user."""
        depth = self.n_chances if k is None else np.minimum(self.n_chances, k - self.above)
        ties = np.flatnonzero(depth > 0)
        spread = Spread(self.above[ties], depth[ties], self.offset[ties])
        chance = self.chance[self.offset[ties][spread.tie] + spread.nth]
        added = self.reached[ties] * spread.sum(chance / spread.position)
        return sum_by(self.user[ties], added, n_users)


def find_stops(counts: Counts, stop: Array, k: int | None) -> Stops:
    """Return where one may stop, down to k at least, given the stops of the counted rows.

    Other rows satisfy nobody. Rows of a tie are in an order that their stops decide.
    """
    rows = run_starts(counts.user, counts.above)
    is_equal = np.minimum.reduceat(stop, rows) == np.maximum.reduceat(stop, rows)
    _, _, user, above, tied, *_ = part_ties(counts, rows, is_equal)
    rows = run_starts(user, above)
    user, above, size = user[rows], above[rows], tied[rows]
    n_relevant = np.diff(rows, append=len(stop))
    _, nth = number_members(np.diff(run_starts(user), append=len(user)))
    reached = products_before(np.multiply.reduceat(1 - stop, rows), nth)
    # A row that is tied with none is where it is: all of these share a chance of 1.
    offset, n_chances = np.zeros_like(size), np.ones_like(size)
    reached[size == 1] *= stop[rows[size == 1]]
    wide = np.flatnonzero(size > 1)
    # The mean of products of j rows is at most the j-th power of their mean (Maclaurin).
    mean = np.add.reduceat(stop, rows)[wide] / size[wide]
    with np.errstate(divide="ignore"):
        furthest = np.ceil(NEGLIGIBLE / -np.log1p(-mean))
    depth = np.minimum(size[wide], furthest).astype(np.int64)
    if k is not None:
        depth = np.minimum(k - above[wide], depth)
    alike, number = _number_alike(size[wide], rows[wide], n_relevant[wide], stop)
    deepest = np.zeros(len(alike), np.int64)
    np.maximum.at(deepest, number, depth)
    alike = wide[alike]
    begins, chance = _stop_within(size[alike], deepest, rows[alike], n_relevant[alike], stop)
    offset[wide], n_chances[wide] = 1 + begins[number], deepest[number]
    return Stops(user, above, reached, offset, n_chances, np.append(1.0, chance))


def _number_alike(size: Array, rows: Array, n_relevant: Array, stop: Array) -> tuple[Array, Array]:
    """Return the first tie of each size and stops, and for every tie the number of its like."""
    tie, nth = number_members(n_relevant)
    stop = stop[rows[tie] + nth]
    values = np.unique(stop)
    if len(values) > MOST_STOPS:
        return np.arange(len(size)), np.arange(len(size))
    n_equal = [np.bincount(tie[stop == value], minlength=len(size)) for value in values]
    _, first, number = np.unique(combine(size, *n_equal), return_index=True, return_inverse=True)
    return first, number


def _stop_within(
    size: Array, depth: Array, rows: Array, n_relevant: Array, stop: Array
) -> tuple[Array, Array]:
    """Return how probably one who comes to a tie stops at each of its positions, down to a depth.

    Before them, where those of each tie begin. A row is added to those that are there: in a random
    order of n it is at position j, before it or behind it with probability 1, j - 1 and n - j of n.
    """
    order = np.argsort(-n_relevant, kind="stable")
    size, depth, rows, n_relevant = (each[order] for each in (size, depth, rows, n_relevant))
    ends = depth.cumsum()
    tie, before = number_members(depth)
    reached, stopped = np.ones(len(tie)), np.zeros(len(tie))
    for nth in range(int(n_relevant.max(initial=0))):
        n_ties = int(np.count_nonzero(n_relevant > nth))
        inside = slice(ends[n_ties - 1])
        of, reach, stops = tie[inside], reached[inside], stopped[inside]
        n_rows = (size - n_relevant + nth + 1)[of]  # with the one added
        added = stop[rows[:n_ties] + nth][of]
        behind = np.maximum(n_rows - before[inside], 0)
        ahead = np.minimum(before[inside], n_rows) * (1 - added)  # 0 at a tie's first position
        made = np.maximum(behind - 1, 0) * stops + added * reach + ahead * np.roll(stops, 1)
        stopped[inside] = made / n_rows
        # One comes to a position past the row added, or it is not before: n + 1 - j of n.
        reached[inside] = (behind * reach + ahead * np.roll(reach, 1)) / n_rows
    begins = np.empty_like(order)
    begins[order] = ends - depth
    return begins, stopped
