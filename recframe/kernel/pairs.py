"""The join: the rows of pairs of integers, and the pairs that repeat. NumPy only."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from recframe.kernel.grouping import Array, group_rows, in_threads, sort_numbers

KEYS_PER_CHUNK = 1 << 17  # they stay in the cache while sorted


class Match(NamedTuple):
    """What a search found.

    Parameters
    ----------
    rows : ndarray of shape (n_pairs,), int
        The row of each pair, -1 where there is none.
    n_repeated : int
        Rows whose pair another row before it has.
    example : int
        One of those rows, -1 where there are none.
    """

    rows: Array
    n_repeated: int
    example: int


def find_pairs(codes: Array, offsets: Array, n_codes: int, user: Array, code: Array) -> Match:
    """Return the rows that hold pairs of a user and a code, and how many rows repeat a pair.

    User and code make one integer; so do the pairs to find. Sorting both together, for a chunk of
    whole users at a time, brings equal pairs side by side.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,), int
        The code of each row, in [0, n_codes); rows are grouped by user.
    offsets : ndarray of shape (n_users + 1,), int
        The rows of user i are ``offsets[i]:offsets[i + 1]``.
    n_codes : int
        A number above all codes, at most 2^32.
    user, code : ndarray of shape (n_pairs,), int
        The pairs to find, -1 for what no row has; of equal pairs one is found.

    Returns
    -------
    Match
        The rows, and what repeats.
    """
    asked = np.flatnonzero((user >= 0) & (code >= 0))
    order, bounds = group_rows(user[asked], len(offsets) - 1)
    asked = asked[order]
    keys = (user * n_codes + code)[asked]
    rows = np.empty(len(asked), np.int64)

    def find(first: int, stop: int) -> Match:
        chunk = slice(offsets[first], offsets[stop])
        pairs = slice(bounds[first], bounds[stop])
        user_keys = np.arange(stop - first) * n_codes
        row_keys = np.repeat(user_keys, np.diff(offsets[first : stop + 1]))
        row_keys += codes[chunk]
        found = _find_keys(row_keys, keys[pairs] - first * n_codes)
        rows[pairs] = np.where(found.rows < 0, -1, found.rows + chunk.start)
        return found._replace(example=found.example + chunk.start)

    matches = in_threads(find, pairwise(_bounds(offsets + bounds)))
    repeated = [match for match in matches if match.n_repeated]
    found = np.full(len(user), -1)
    found[asked] = rows
    n_repeated = sum(match.n_repeated for match in repeated)
    return Match(found, n_repeated, repeated[0].example if repeated else -1)


def _bounds(offsets: Array) -> list[int]:
    """Return the bounds of runs of users that have about so many keys, given the keys' offsets."""
    marks = np.arange(0, offsets[-1], KEYS_PER_CHUNK)
    starts = np.searchsorted(offsets[:-1], marks)
    # A user whose keys run across a mark has a chunk alone: many keys, but one user.
    bounds = np.unique([0, *starts, *np.maximum(starts - 1, 0), len(offsets) - 1])
    found: list[int] = bounds.tolist()
    return found


def _find_keys(keys: Array, asked: Array) -> Match:
    """Return the rows of the keys asked for, and what repeats among the keys of the rows."""
    n_rows = len(keys)
    # Sorted stably, what is asked for stands behind the row that has its key.
    order, begins = sort_numbers(np.concatenate([keys, asked]))
    equal = np.flatnonzero(~begins)
    number, following = order[equal - 1], order[equal]
    is_asked = (following >= n_rows) & (number < n_rows)
    rows = np.full(len(asked), -1)
    rows[following[is_asked] - n_rows] = number[is_asked]
    repeated = following[following < n_rows]
    return Match(rows, len(repeated), int(repeated[0]) if len(repeated) else -1)
