"""Positions: where relevant rows may stand in a ranking, and with what chance. NumPy only.

Without ties a relevant row stands where it is ranked. A tie group is spread over its positions:
each order of its rows is as likely as any other [1]_. So a metric that adds up positions gives its
expectation, by sums of which no term is negative, over as many terms as there are tied rows.

References
----------
.. [1] F. McSherry and M. Najork, "Computing information retrieval performance measures
   efficiently in the presence of tied scores", ECIR 2008.
"""

from typing import NamedTuple

import numpy as np

from recframe.kernel.counting import Counts
from recframe.kernel.grouping import Array

CELLS_PER_BLOCK = 1 << 16  # of a padded matrix: it stays in the cache


class Positions(NamedTuple):
    """Positions that a relevant row may have; those of a user stand together, first one first.

    Parameters
    ----------
    user : ndarray of shape (n_positions,), int
        Whose ranking it is in.
    position : ndarray of shape (n_positions,), int
        The position, from 1.
    chance : ndarray of shape (n_positions,), float
        The chance that such a row stands there.
    number : ndarray of shape (n_positions,), float
        If one does, the relevant rows up to there in expectation, itself included.
    gain : ndarray of shape (n_positions,), float
        The gain there in expectation.
    n_users : int
        All users, those without a relevant row too.
    """

    user: Array
    position: Array
    chance: Array
    number: Array
    gain: Array
    n_users: int

    def sum(self, terms: Array, k: int | None) -> Array:
        """Return the sum of a term for each position, over those up to k (all: None), by user."""
        user = self.user
        if k is not None:
            inside = np.flatnonzero(self.position <= k)
            user, terms = user[inside], terms[inside]
        return sum_by(user, terms, self.n_users)


def sum_by(user: Array, terms: Array, n_users: int) -> Array:
    """Return the sums of terms by user, added one after the other as they stand."""
    # In ranked order, and whatever else is evaluated: so the bits are always the same.
    total: Array = np.bincount(user, weights=terms, minlength=n_users)
    return total.astype(np.float64, copy=False)  # of no term at all NumPy makes integers


def all_positions(counts: Counts, last: int | None, gain: Array | None = None) -> Positions:
    """Return the positions of relevant rows up to the last (all: None).

    In a tie of t rows, m of them relevant, one stands at each position with chance m / t, and of
    the rows that precede it there (m - 1) / (t - 1) are relevant in expectation. The gains of
    rows, 1 if there are none given, are spread evenly.
    """
    n_users = len(counts.n_ranked)
    user, above, tied = counts.user, counts.above, counts.tied
    if last is not None:
        inside = np.flatnonzero(above < last)
        user, above, tied = user[inside], above[inside], tied[inside]
        gain = None if gain is None else gain[inside]
    first = _starts(user)
    number = np.arange(1, len(user) + 1) - np.repeat(first, np.diff(first, append=len(user)))
    if tied.max(initial=1) == 1:
        certain = np.ones(len(user))
        gain = certain if gain is None else gain
        return Positions(user, above + 1, certain, number, gain, n_users)
    first = _starts(user, above)
    n_relevant = np.diff(first, append=len(user))
    if gain is not None:
        gain = np.bincount(np.repeat(np.arange(len(first)), n_relevant), gain)
    user, above, tied, number = user[first], above[first], tied[first], number[first]
    chance = n_relevant / tied
    step = (n_relevant - 1) / np.maximum(tied - 1, 1)
    depth = tied if last is None else np.minimum(tied, last - above)
    group, nth = _spread(depth)
    position, chance = above[group] + nth + 1, chance[group]
    gain = chance if gain is None else (gain / tied)[group]
    return Positions(
        user[group], position, chance, number[group] + nth * step[group], gain, n_users
    )


def first_positions(counts: Counts, last: int | None) -> Positions:
    """Return the positions of each user's first relevant row up to the last (all: None)."""
    n_users = len(counts.n_ranked)
    first, n_relevant = _first_ties(counts)
    if last is not None:
        inside = np.flatnonzero(counts.above[first] < last)
        first, n_relevant = first[inside], n_relevant[inside]
    user, above, tied = counts.user[first], counts.above[first], counts.tied[first]
    position, chance = above + 1, np.ones(len(first))
    if tied.max(initial=1) > 1:
        depth = tied - n_relevant + 1
        depth = depth if last is None else np.minimum(depth, last - above)
        group, nth = _spread(depth)
        user, position = user[group], above[group] + nth + 1
        chance = _chances_of_first(tied, n_relevant, depth)
    return Positions(user, position, chance, np.ones(len(user)), chance, n_users)


def last_of_first(counts: Counts) -> Array:
    """Return the last position each user's first relevant row may have; 0 where there is none."""
    first, n_relevant = _first_ties(counts)
    position = np.zeros(len(counts.n_ranked), np.int64)
    position[counts.user[first]] = counts.above[first] + counts.tied[first] - n_relevant + 1
    return position


def _first_ties(counts: Counts) -> tuple[Array, Array]:
    """Return the first relevant row of each user, and how many share its tie, itself included."""
    first = _starts(counts.user)
    if counts.tied[first].max(initial=1) == 1:
        return first, np.ones(len(first), np.int64)
    ties = _starts(counts.user, counts.above)
    return first, np.diff(ties, append=len(counts.user))[np.searchsorted(ties, first)]


def _chances_of_first(tied: Array, n_relevant: Array, depth: Array) -> Array:
    """Return the chance of each place of a tie, down to a depth, to hold its first relevant row.

    Of t rows with m relevant, the chance that the first j are not is the product of
    (t - m - i) / (t - i) over i < j; then the next one is with chance m / (t - j).
    """
    ends = depth.cumsum()
    chance = np.ones(ends[-1])
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
        chance[cells[inside]] = none_yet[inside]
        start += len(block)
    return chance


def _spread(sizes: Array) -> tuple[Array, Array]:
    """Return the group of each member of groups of these sizes, and its number there from 0."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    return group, np.arange(len(group)) - np.repeat(sizes.cumsum() - sizes, sizes)


def _starts(*keys: Array) -> Array:
    """Return where any of the keys differs from the one before; the first does."""
    differs = np.zeros(len(keys[0]), bool)
    differs[:1] = True
    for key in keys:
        differs[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(differs)
