"""Positions: where relevant rows may stand in a ranking, and how probably. NumPy only.

Without ties a relevant row stands where it is ranked. A tie group is spread over its positions:
each order of its rows is as likely as any other. So a metric that adds up positions gives its
expectation, by sums of which no term is negative, over as many terms as there are tied rows.
`hits.expected_hits` has an example, `definitions` the reference.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from recframe.kernel.counting import Counts
from recframe.kernel.grouping import number_members, run_starts
from recframe.kernel.threads import Array

CELLS_PER_BLOCK = 1 << 16  # of a padded matrix: it stays in the cache


@dataclass(frozen=True, eq=False)
class Positions:
    """Positions that a relevant row may have; those of a user stand together, first one first.

    Parameters
    ----------
    user, position : ndarray of shape (n_positions,), int
        Whose ranking it is in, and the position there, from 1.
    probability : ndarray of shape (n_positions,), float
        The probability that such a row stands there.
    expected_hits : ndarray of shape (n_positions,), float
        If one does, the relevant rows up to there in expectation, itself included.
    gain : ndarray of shape (n_positions,), float
        The gain there in expectation.
    n_users : int
        All users, those without a relevant row too.
    """

    user: Array
    position: Array
    probability: Array
    expected_hits: Array
    gain: Array
    n_users: int
    _inside: dict[int, tuple[Array, Array]] = field(default_factory=dict)
    _sums: dict[Any, Array] = field(default_factory=dict)

    def sum(self, terms: Array, k: int | None) -> Array:
        """Return the sum of a term for each position, over those up to k (all: None), by user."""
        if k is None:
            return sum_by(self.user, terms, self.n_users)
        if k not in self._inside:  # by several metrics
            inside = np.flatnonzero(self.position <= k)
            self._inside[k] = inside, self.user[inside]
        inside, user = self._inside[k]
        return sum_by(user, terms[inside], self.n_users)

    def sum_once(self, key: Hashable, make_terms: Callable[[], Array], k: int | None) -> Array:
        """Return what `sum` does of terms that are made once for all cut-offs, by their key."""
        if key not in self._sums:
            self._sums[key] = make_terms()
        if (key, k) not in self._sums:
            self._sums[key, k] = self.sum(self._sums[key], k)
        return self._sums[key, k].copy()


def sum_by(user: Array, terms: Array, n_users: int) -> Array:
    """Return the sums of terms by user, added one after the other as they stand."""
    # In ranked order, and whatever else is evaluated: so the bits are always the same.
    total = np.bincount(user, weights=terms, minlength=n_users)
    return total.astype(np.float64, copy=False)  # of no term at all NumPy makes integers


def all_positions(counts: Counts, last: int | None, gain: Array | None = None) -> Positions:
    """Return the positions of relevant rows up to the last (all: None).

    The gains of rows are 1 if there are none given.
    """
    n_users = len(counts.n_ranked)
    user, above, tied = counts.user, counts.above, counts.tied
    if last is not None:
        inside = np.flatnonzero(above < last)
        user, above, tied = user[inside], above[inside], tied[inside]
        gain = None if gain is None else gain[inside]
    first = run_starts(user)
    nth = np.arange(1, len(user) + 1) - np.repeat(first, np.diff(first, append=len(user)))
    if tied.max(initial=1) > 1:
        return Positions(*_spread_ties(user, above, tied, nth, gain, last), n_users)
    certain = np.ones(len(user))
    return Positions(user, above + 1, certain, nth, certain if gain is None else gain, n_users)


def _spread_ties(
    user: Array, above: Array, tied: Array, nth: Array, gain: Array | None, last: int | None
) -> tuple[Array, Array, Array, Array, Array]:
    """Return the columns of `Positions`, each tie spread evenly; rows are the nth of their users.

    In a tie of t rows, m of them relevant, one stands at each position with probability m / t, and
    of the rows that precede it there (m - 1) / (t - 1) are relevant in expectation.
    """
    first = run_starts(user, above)
    above, size = above[first], tied[first]
    n_relevant = np.diff(first, append=len(user))
    tie, offset = number_members(size if last is None else np.minimum(size, last - above))
    probability = (n_relevant / size)[tie]
    step = (n_relevant - 1) / np.maximum(size - 1, 1)
    if gain is None:
        gain = probability
    else:
        of_tie = np.bincount(np.repeat(np.arange(len(first)), n_relevant), gain)
        gain = (of_tie / size)[tie]
    expected_hits = nth[first][tie] + offset * step[tie]
    return user[first][tie], above[tie] + offset + 1, probability, expected_hits, gain


def first_positions(counts: Counts, last: int | None) -> Positions:
    """Return the positions of each user's first relevant row up to the last (all: None)."""
    n_users = len(counts.n_ranked)
    first, n_relevant = first_ties(counts)
    if last is not None:
        inside = np.flatnonzero(counts.above[first] < last)
        first, n_relevant = first[inside], n_relevant[inside]
    user, above, tied = counts.user[first], counts.above[first], counts.tied[first]
    position, probability = above + 1, np.ones(len(first))
    if tied.max(initial=1) > 1:
        depth = tied - n_relevant + 1
        depth = depth if last is None else np.minimum(depth, last - above)
        tie, offset = number_members(depth)
        user, position = user[tie], above[tie] + offset + 1
        probability = probabilities_of_first(tied, n_relevant, depth)
    return Positions(user, position, probability, np.ones(len(user)), probability, n_users)


def first_ties(counts: Counts) -> tuple[Array, Array]:
    """Return the first relevant row of each user, and how many share its tie, itself included."""
    first = run_starts(counts.user)
    if counts.tied[first].max(initial=1) == 1:
        return first, np.ones(len(first), np.int64)
    ties = run_starts(counts.user, counts.above)
    return first, np.diff(ties, append=len(counts.user))[np.searchsorted(ties, first)]


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
