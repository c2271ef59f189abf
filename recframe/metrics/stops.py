"""Stops: where one stops who goes down a ranking until a row satisfies. NumPy only.

A row of stop s satisfies with that probability. One gets past rows with the product of their
1 - s, whatever their order; so of a tie only the positions within it depend on the order. There
the expectations over all orders are symmetric in the rows: they are made row by row, from those of
one row less, by sums of which no term is negative.
"""

import numpy as np

from recframe.kernel.counting import Counts
from recframe.kernel.grouping import number_members, run_starts
from recframe.kernel.threads import Array
from recframe.metrics.positions import CELLS_PER_BLOCK, Positions

NEGLIGIBLE = 75.0  # e to the minus of it, as the probability to get as far down, adds nothing


def stop_positions(counts: Counts, last: int | None, stop: Array) -> Positions:
    """Return the positions where one may stop, up to the last (all: None), and how probably.

    The stops are those of the counted rows; others satisfy nobody.
    """
    n_users, (user, above, tied) = len(counts.n_ranked), counts[2:5]
    if last is not None:
        inside = np.flatnonzero(above < last)
        user, above, tied, stop = user[inside], above[inside], tied[inside], stop[inside]
    if tied.max(initial=1) == 1:
        probability = _products_before(user, 1 - stop) * stop
        return Positions(user, above + 1, probability, probability, probability, n_users)
    above, tied = _part_equal(user, above, tied, stop)
    starts = run_starts(user, above)
    passed = np.multiply.reduceat(1 - stop, starts)
    user, above, size = user[starts], above[starts], tied[starts]
    reached = _products_before(user, passed)
    depth = size if last is None else np.minimum(size, np.maximum(last - above, 1))
    depth, within = _stops_within(size, depth, starts, stop)
    tie, offset = number_members(depth)
    user, position, probability = user[tie], above[tie] + offset + 1, reached[tie] * within
    return Positions(user, position, probability, probability, probability, n_users)


def _part_equal(user: Array, above: Array, tied: Array, stop: Array) -> tuple[Array, Array]:
    """Return above and tied of rows where those of a tie of equal rows come one after the other."""
    starts = run_starts(user, above)
    n_relevant = np.diff(starts, append=len(user))
    is_equal = np.minimum.reduceat(stop, starts) == np.maximum.reduceat(stop, starts)
    tie, nth = number_members(n_relevant)
    is_parted = (is_equal & (n_relevant == tied[starts]))[tie]
    return np.where(is_parted, above + nth, above), np.where(is_parted, 1, tied)


def _products_before(user: Array, factors: Array) -> Array:
    """Return the product of the factors of the same user before each one, in order."""
    products = np.ones(len(factors))
    first = run_starts(user)
    sizes = np.diff(first, append=len(user))
    longest_first = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes > 1)]
    start = 0
    while start < len(longest_first):
        width = int(sizes[longest_first[start]])
        block = longest_first[start : start + max(1, CELLS_PER_BLOCK // width)]
        nth = np.arange(1, width)
        cells = first[block][:, None] + nth
        made = np.cumprod(factors.take(cells - 1, mode="clip"), axis=1)
        inside = nth < sizes[block][:, None]
        products[cells[inside]] = made[inside]
        start += len(block)
    return products


def _stops_within(size: Array, depth: Array, starts: Array, stop: Array) -> tuple[Array, Array]:
    """Return how probably one who comes to a tie stops at each of its positions.

    With them, how many there are of each tie: down to its depth, or where nobody gets any further.
    """
    n_relevant = np.diff(starts, append=len(stop))
    # The mean of products of j rows is at most the j-th power of their mean (Maclaurin).
    mean = np.add.reduceat(stop, starts) / size
    with np.errstate(divide="ignore"):
        furthest = np.ceil(NEGLIGIBLE / -np.log1p(-mean))
    depth = np.minimum(depth, furthest).astype(np.int64)
    ends = depth.cumsum()
    found = np.empty(ends[-1])
    found[ends - depth] = stop[starts]  # of one row there is but one order
    by_size = np.lexsort((-depth, -n_relevant))
    by_size = by_size[size[by_size] > 1]
    begin = 0
    while begin < len(by_size):
        width = int(depth[by_size[begin:]].max())
        ties = by_size[begin : begin + max(1, CELLS_PER_BLOCK // width)]
        width = int(depth[ties].max())
        made = _add_rows(size[ties] - n_relevant[ties], n_relevant[ties], starts[ties], stop, width)
        inside = np.arange(width) < depth[ties][:, None]
        cells = (ends - depth)[ties][:, None] + np.arange(width)
        found[cells[inside]] = made[inside]
        begin += len(ties)
    return depth, found


def _add_rows(n_others: Array, n_relevant: Array, starts: Array, stop: Array, width: int) -> Array:
    """Return how probably one stops at each position of ties, down to a width.

    Those of the most relevant rows come first. In a random order of n + 1 rows the one added is at
    position j, before it or behind it with probability 1, j - 1 and n + 1 - j of n + 1.
    """
    before = np.arange(width)  # the rows before each position
    reached = np.ones((len(starts), width))
    stopped = np.zeros((len(starts), width))
    for nth in range(int(n_relevant[0])):
        n_ties = int(np.count_nonzero(n_relevant > nth))
        n_rows = (n_others[:n_ties] + nth + 1)[:, None]  # with the one added
        own = stop[starts[:n_ties] + nth][:, None]
        behind = np.maximum(n_rows - before, 0)
        ahead = np.minimum(before, n_rows) * (1 - own)
        reach, stops = reached[:n_ties], stopped[:n_ties]
        made = np.maximum(behind - 1, 0) * stops + own * reach
        made[:, 1:] += ahead[:, 1:] * stops[:, :-1]
        stopped[:n_ties] = made / n_rows
        # It is before a position, or not, with probability j - 1 and n + 2 - j of n + 1.
        made = behind * reach
        made[:, 1:] += ahead[:, 1:] * reach[:, :-1]
        reached[:n_ties] = made / n_rows
    return stopped
