"""Rankings: what is counted, the rows of many users, and runs of them. NumPy only."""

from itertools import pairwise
from typing import NamedTuple

from recframe.kernel.gains import Gains
from recframe.kernel.grouping import Array, user_bounds


class Rankings(NamedTuple):
    """Rows of many users, grouped by user.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,), real
        The values rows are ranked by, highest first; no NaN.
    relevant : ndarray of shape (n_rows,), bool
        Whether a row is relevant.
    offsets : ndarray of shape (n_users + 1,), int
        The rows of user i are ``offsets[i]:offsets[i + 1]``.
    n_unranked : ndarray of shape (n_users,), int
        Relevant items of the user that are not among these rows.
    gains : Gains, default None
        What the rows and those items add to nDCG; None: 1 where relevant.
    """

    scores: Array
    relevant: Array
    offsets: Array
    n_unranked: Array
    gains: Gains | None = None


def split_users(rankings: Rankings) -> list[tuple[Rankings, slice]]:
    """Return runs of whole users, each for one thread, and which of all users they are."""
    offsets = rankings.offsets
    bounds = user_bounds(offsets)
    if len(bounds) <= 2:
        return [(rankings, slice(0, len(offsets) - 1))]

    def run(first: int, stop: int) -> Rankings:
        rows = slice(offsets[first], offsets[stop])
        return Rankings(
            rankings.scores[rows],
            rankings.relevant[rows],
            offsets[first : stop + 1] - offsets[first],
            rankings.n_unranked[first:stop],
            None if rankings.gains is None else rankings.gains.part(rows, first, stop),
        )

    return [(run(first, stop), slice(first, stop)) for first, stop in pairwise(bounds)]
