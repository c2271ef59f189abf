"""Hits: the relevant rows among the first positions, in expectation over tied rows. NumPy only."""

from itertools import pairwise

import numpy as np

from recframe.kernel.counting import Counts
from recframe.kernel.grouping import Array, group_rows

Hits = tuple[Array, Array]  # numerator and denominator


def expected_hits(counts: Counts, cut_offs: Array) -> Hits:
    """Return the expected relevant rows in the first positions, as numerator and denominator.

    A tie group wholly above the cut counts fully; of the one group across it, (cut - above) of
    its `tied` rows come first in expectation [1]_. Numerator and denominator are whole numbers, so
    that a metric divides once and its value is the nearest float to the exact one. Every row is
    looked at once, however many cut-offs there are.

    Parameters
    ----------
    counts : Counts
        What was counted.
    cut_offs : ndarray of shape (n_cut_offs, 1) or (1, n_users), int
        How many positions to look at: the same for all users, each cut-off once and in increasing
        order, or one for each user.

    Returns
    -------
    tuple of two ndarrays of shape (n_cut_offs, n_users), int
        Numerator and denominator (the size of the group across the cut, or 1).

    References
    ----------
    .. [1] F. McSherry and M. Najork, "Computing information retrieval performance measures
       efficiently in the presence of tied scores", ECIR 2008.
    """
    shape = len(cut_offs), len(counts.n_ranked)
    last = cut_offs[-1, 0] if len(cut_offs[0]) == 1 else cut_offs[0][counts.user]
    inside = np.flatnonzero(counts.above < last)
    user, above, tied = counts.user[inside], counts.above[inside], counts.tied[inside]
    begin = _first_cut_off(cut_offs, user, above + 1)
    end = _first_cut_off(cut_offs, user, above + tied)
    whole = np.flatnonzero(end < shape[0])
    cells = end[whole] * shape[1] + user[whole]
    hits = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    _sum_up(hits)
    across = np.flatnonzero(begin < end)
    if len(across) == 0:
        return hits, np.broadcast_to(np.int64(1), shape)
    # The rows of a group stand together: the first one speaks for all.
    user, above = user[across], above[across]
    first = np.flatnonzero(np.append(True, (user[1:] != user[:-1]) | (above[1:] != above[:-1])))
    n_relevant = np.diff(first, append=len(across))
    user, above, tied = user[first], above[first], tied[across[first]]
    begin, end = begin[across[first]], end[across[first]]
    # From cut to cut the group of each user that is across it, if one is: its size, the rows above
    # it and the relevant ones in it.
    size = np.ones(shape[1], np.int64)
    before, in_group = np.zeros((2, shape[1]), np.int64)
    sizes = np.empty(shape, np.int64)
    begins, ends = _by_cut_off(begin, shape[0]), _by_cut_off(end, shape[0])
    for number, cut in enumerate(cut_offs):
        size[user[ends[number]]] = 1
        in_group[user[ends[number]]] = 0
        new = begins[number]
        size[user[new]], before[user[new]] = tied[new], above[new]
        in_group[user[new]] = n_relevant[new]
        hits[number] *= size
        hits[number] += in_group * (cut - before)
        sizes[number] = size
    return hits, sizes


def _by_cut_off(cut_offs: Array, n_cut_offs: int) -> list[Array]:
    """Return of every cut-off the places it has in an array."""
    order, bounds = group_rows(cut_offs, n_cut_offs + 1)
    return np.split(order, bounds[1:-1])


def _sum_up(rows: Array) -> None:
    """Add to every row the sum of those above it; ten times as fast as cumsum along this axis."""
    for above, row in pairwise(rows):
        row += above


def _first_cut_off(cut_offs: Array, user: Array, position: Array) -> Array:
    """Return the index of the first cut-off at or after each position; their number for none."""
    found: Array
    if len(cut_offs[0]) == 1:
        found = np.searchsorted(cut_offs[:, 0], np.arange(position.max(initial=0) + 1))[position]
    else:
        found = (position > cut_offs[0][user]).astype(np.int64)
    return found
