"""Stops: where one stops who goes down a ranking until a row satisfies. NumPy only.

A row of stop s satisfies with that probability. One gets past rows with the product of their
1 - s, whatever their order; so of a tie only the positions within it depend on the order. There
the expectations over all orders are symmetric in the rows: they are made row by row, from those of
one row less, by sums of which no term is negative.
"""

from collections.abc import Iterator

import numpy as np

from recframe.kernel.counting import Counts, find_inside
from recframe.kernel.grouping import number_distinct, number_members, run_sizes, run_starts
from recframe.kernel.threads import Array
from recframe.metrics.positions import CELLS_PER_BLOCK, Positions, Shapes

NEGLIGIBLE = 75.0  # e to the minus of it, as the probability to get as far down, adds nothing
MOST_VALUES = 16  # of stops, such that ties of equal ones are looked for
MOST_ROWS = 900  # of a tie, such that no binomial coefficient overflows


def stop_positions(counts: Counts, last: int | None, stop: Array) -> Positions:
    """Return the positions where one may stop, up to the last (all: None), and how probably.

    The stops are those of the counted rows; others satisfy nobody. Rows of a tie are in an order
    that their stops decide.
    """
    n_users, (user, above, tied) = len(counts.n_ranked), counts[2:5]
    inside = find_inside(above, last)
    user, above, tied, stop = user[inside], above[inside], tied[inside], stop[inside]
    if tied.max(initial=1) == 1:
        return Positions(user, above, None, _products_before(user, 1 - stop) * stop, n_users)
    above, tied = _part_equal(user, above, tied, stop)
    starts = run_starts(user, above)
    reached = _products_before(user[starts], np.multiply.reduceat(1 - stop, starts))
    user, above, size = user[starts], above[starts], tied[starts]
    depth = size if last is None else np.minimum(size, np.maximum(last - above, 1))
    alike, shape = _number_alike(size, starts, stop)
    deepest = np.zeros(len(alike), np.int64)
    np.maximum.at(deepest, shape, depth)
    chance, n_chances = _stops_within(size[alike], deepest, *_rows_of(alike, starts, stop))
    shapes = Shapes(shape, chance, n_chances.cumsum() - n_chances)
    depth = np.minimum(depth, n_chances[shape])
    # Of one row it is certain where, and its stop is a weight, as it is where there are no ties:
    # so a user's bits do not depend on whether others have any.
    shapes.chance[shapes.begins[size[alike] == 1]] = 1.0
    weight = np.where(size == 1, reached * stop[starts], reached)
    found = Positions(user, above, depth, weight, n_users, shapes=shapes)
    return found if last is None else found.up_to(last)


def _number_alike(size: Array, starts: Array, stop: Array) -> tuple[Array, Array]:
    """Return the first tie of each size and stops, and for every tie the number of its like."""
    values = stop[:1] if stop.min() == stop.max() else np.unique(stop)
    if len(values) > MOST_VALUES:
        return np.arange(len(size)), np.arange(len(size))
    n_equal = [np.add.reduceat(stop == value, starts, dtype=np.int64) for value in values]
    return number_distinct(size, *n_equal)


def _rows_of(ties: Array, starts: Array, stop: Array) -> tuple[Array, Array]:
    """Return where the rows of these ties start, and their stops."""
    sizes = run_sizes(starts, len(stop))[ties]
    tie, nth = number_members(sizes)
    return sizes.cumsum() - sizes, stop[starts[ties][tie] + nth]


def _part_equal(user: Array, above: Array, tied: Array, stop: Array) -> tuple[Array, Array]:
    """Return above and tied of rows where those of a tie of equal rows come one after the other."""
    starts = run_starts(user, above)
    n_relevant = run_sizes(starts, len(user))
    is_equal = np.minimum.reduceat(stop, starts) == np.maximum.reduceat(stop, starts)
    tie, nth = number_members(n_relevant)
    is_parted = (is_equal & (n_relevant == tied[starts]))[tie]
    return np.where(is_parted, above + nth, above), np.where(is_parted, 1, tied)


def _products_before(user: Array, factors: Array) -> Array:
    """Return the product of the factors of the same user before each one, in order."""
    products = np.ones(len(factors))
    first = run_starts(user)
    sizes = run_sizes(first, len(user))
    if len(factors) and factors.min() == factors.max():
        powers: Array = np.cumprod(np.append(1.0, np.full(sizes.max() - 1, factors[0])))
        products[:] = powers[np.arange(len(user)) - np.repeat(first, sizes)]
        return products
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
    n_relevant = run_sizes(starts, len(stop))
    # The mean of products of j rows is at most the j-th power of their mean (Maclaurin).
    mean = np.add.reduceat(stop, starts) / size
    with np.errstate(divide="ignore"):
        furthest = np.ceil(NEGLIGIBLE / -np.log1p(-mean))
    depth = np.minimum(depth, furthest).astype(np.int64)
    ends = depth.cumsum()
    found = np.empty(ends[-1])
    is_small = size <= MOST_ROWS
    for ties, add_rows in (
        (np.flatnonzero(is_small), _multiply_rows),
        (np.flatnonzero(~is_small), _add_rows),
    ):
        ties = ties[np.argsort(-depth[ties], kind="stable")]
        begin = 0
        while begin < len(ties):
            width = int(depth[ties[begin]])
            own = ties[begin : begin + max(1, CELLS_PER_BLOCK // width)]
            own = own[np.argsort(-n_relevant[own], kind="stable")]
            made = add_rows(size[own] - n_relevant[own], n_relevant[own], starts[own], stop, width)
            inside = np.arange(width) < depth[own][:, None]
            cells = (ends - depth)[own][:, None] + np.arange(width)
            found[cells[inside]] = made[inside]
            begin += len(own)
    return found, depth


def _multiply_rows(
    n_others: Array, n_relevant: Array, starts: Array, stop: Array, width: int
) -> Array:
    """Return what `_add_rows` does, of ties so small that no binomial coefficient overflows.

    The product of (1 + q x) over rows, q being 1 - stop, has as its coefficient of x^j the sum of
    the products of q over any j rows. Divided by how many such j there are among n - 1 of the n
    rows it is the mean, once the row that one stops at is left out: the first of each stop, in the
    place of all that are equal to it.
    """
    nth, size = np.arange(width - 1), n_others + n_relevant
    left = np.maximum(size[:, None] - 1 - nth, 1)
    raised = (nth + 1) / left  # what one more row changes in the number to divide by
    reached = np.ones((len(starts), width))
    np.cumprod(np.maximum(n_others[:, None] - nth, 0) / left, axis=1, out=reached[:, 1:])
    stopped = np.zeros_like(reached)

    def multiply(sums: Array, passed: Array) -> None:
        added = sums[: len(passed), :-1] * raised[: len(passed)]
        added *= passed[:, None]
        sums[: len(passed), 1:] += added

    tie, row = number_members(n_relevant)
    own = stop[starts[tie] + row]
    is_first = (row == 0) | (own != np.roll(own, 1))
    first = np.flatnonzero(is_first)
    weight = run_sizes(first, len(own)) * own[first]
    n_first = np.bincount(tie[first], minlength=len(starts))
    for passed in _columns(1 - own[~is_first], n_relevant - n_first, n_relevant):
        multiply(reached, passed)
    of_first = _columns(weight, n_first, n_relevant)
    for passed, satisfied in zip(
        _columns(1 - own[first], n_first, n_relevant), of_first, strict=True
    ):
        if stopped.any():
            multiply(stopped, passed)
        stopped[: len(passed)] += satisfied[:, None] * reached[: len(passed)]
        multiply(reached, passed)
    stopped /= size[:, None]
    return stopped


def _columns(values: Array, sizes: Array, n_relevant: Array) -> Iterator[Array]:
    """Yield the first value of each tie, the second, ..., 0 where it has no more.

    Left out are ties, the last ones, that have no more relevant rows either.
    """
    begins = sizes.cumsum() - sizes
    for nth in range(int(sizes.max(initial=0))):
        n_ties = int(np.count_nonzero(n_relevant > nth))
        picked = values.take(begins[:n_ties] + nth, mode="clip")
        yield np.where(nth < sizes[:n_ties], picked, 0.0)


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
