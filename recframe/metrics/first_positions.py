"""First positions: where each user's first relevant row may stand, and how probably. NumPy only."""

import numpy as np

from recframe.kernel.counting import Counts
from recframe.kernel.grouping import number_distinct, run_sizes, run_starts
from recframe.kernel.threads import Array
from recframe.metrics.positions import CELLS_PER_BLOCK, Positions, Shapes


def first_positions(counts: Counts, last: int | None, first: Array, n_relevant: Array) -> Positions:
    """Return the positions of each user's first relevant row up to the last (all: None).

    The rows and how many share their ties are those of `first_ties`.
    """
    n_users = len(counts.n_ranked)
    if last is not None:
        inside = np.flatnonzero(counts.above[first] < last)
        first, n_relevant = first[inside], n_relevant[inside]
    user, above, tied = counts.user[first], counts.above[first], counts.tied[first]
    if tied.max(initial=1) == 1:
        return Positions(user, above, None, None, n_users)
    depth = tied - n_relevant + 1
    depth = depth if last is None else np.minimum(depth, last - above)
    alike, shape = number_distinct(tied, n_relevant)
    deepest = np.zeros(len(alike), np.int64)
    np.maximum.at(deepest, shape, depth)
    chance = probabilities_of_first(tied[alike], n_relevant[alike], deepest)
    shapes = Shapes(shape, chance, deepest.cumsum() - deepest)
    return Positions(user, above, depth, None, n_users, shapes=shapes)


def first_ties(counts: Counts) -> tuple[Array, Array]:
    """Return the first relevant row of each user, and how many share its tie, itself included."""
    first = run_starts(counts.user)
    if counts.tied[first].max(initial=1) == 1:
        return first, np.ones(len(first), np.int64)
    ties = run_starts(counts.user, counts.above)
    return first, run_sizes(ties, len(counts.user))[np.searchsorted(ties, first)]


def probabilities_of_first(tied: Array, n_relevant: Array, depth: Array) -> Array:
    """Return how probably each position of a tie, down to a depth, holds its first relevant row.

    Of t rows with m relevant, the first j are not with a probability of the product of
    (t - m - i) / (t - i) over i < j; then the next one is with m / (t - j).
    """
    ends = depth.cumsum()
    probability = np.ones(ends[-1])
    deepest_first = np.argsort(-depth, kind="stable")
    deepest_first = deepest_first[tied[deepest_first] > n_relevant[deepest_first]]
    start = 0
    while start < len(deepest_first):
        width = int(depth[deepest_first[start]])
        block = deepest_first[start : start + max(1, CELLS_PER_BLOCK // width)]
        nth = np.arange(width)
        left = np.maximum(tied[block, None] - nth, 1)
        others = np.maximum(left - n_relevant[block, None], 0)
        none_yet = np.ones(left.shape)
        np.cumprod((others / left)[:, :-1], axis=1, out=none_yet[:, 1:])
        none_yet *= n_relevant[block, None] / left
        inside = nth < depth[block, None]
        cells = (ends[block] - depth[block])[:, None] + nth
        probability[cells[inside]] = none_yet[inside]
        start += len(block)
    return probability
