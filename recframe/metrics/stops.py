"""Stops: where one stops who goes down a ranking until a row satisfies. NumPy only.

A row of stop s satisfies with that probability. One gets past rows with the product of their
1 - s, whatever their order; so of a tie only the positions within it depend on the order. There
the expectations over all orders are made row by row, by sums of which no term is negative.
"""

from typing import NamedTuple

import numpy as np

from recframe.kernel.counting import Counts
from recframe.kernel.grouping import number_distinct, number_members, run_sizes, run_starts
from recframe.kernel.threads import Array
from recframe.metrics.ties import Spread, part_ties, products_before, sum_by

NEGLIGIBLE = 75.0  # e to the minus of it, as the probability to get as far down, adds nothing
MOST_STOPS = 16  # that are distinct, such that ties alike in them are looked for


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
    user, above, size, n_relevant = user[rows], above[rows], tied[rows], run_sizes(rows, len(stop))
    _, nth = number_members(run_sizes(run_starts(user), len(user)))
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
        depth = np.clip(k - above[wide], 0, depth)
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
    return number_distinct(size, *n_equal)


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
