"""Pairs: the rows of pairs of integers, and the pairs that repeat. NumPy only."""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from recframe.kernel.grouping import group_rows, sort_numbers
from recframe.kernel.threads import Array, in_threads

Found = TypeVar("Found")
AT_ONCE = 1 << 17  # keys of rows and pairs


class Match(NamedTuple):
    """What a search found.

    Parameters
    ----------
    rows : ndarray of shape (n_pairs,), int
        The row of each pair, -1 where there is none.
    has_repeats : bool
        Whether any row has a pair that a row before it has.
    repeated : ndarray of int
        The pairs, among those asked for, that one asked for before is equal to.
    """

    rows: Array
    has_repeats: bool
    repeated: Array


def find_pairs(
    codes: Array, offsets: Array, n_codes: int, user: Array, code: Array, at_once: int = AT_ONCE
) -> Match:
    """Return the rows that hold pairs of a user and a code, and whether rows repeat a pair.

    User and code make one integer; so do the pairs to find. Sorting both together, for a chunk of
    whole users at a time, brings equal pairs side by side; about so many at once stay in the cache.
    Rows are grouped by user, and their codes in [0, n_codes), which is at most 2^32; a pair that
    no row has may be -1, and of equal pairs one is found.
    """
    rows = np.full(len(user), -1)

    def find(own: slice, asked: Array, row_keys: Array, keys: Array) -> tuple[bool, Array]:
        found = _find_keys(row_keys, keys)
        rows[asked] = np.where(found.rows < 0, -1, found.rows + own.start)
        return found.has_repeats, asked[found.repeated]

    chunks = _in_chunks(find, codes, offsets, n_codes, user, code, at_once)
    repeated = [np.zeros(0, np.intp), *(of_chunk for _, of_chunk in chunks)]
    return Match(rows, any(found for found, _ in chunks), np.concatenate(repeated))


def find_members(
    codes: Array, offsets: Array, n_codes: int, user: Array, code: Array, at_once: int = AT_ONCE
) -> Array:
    """Return whether each row holds one of the pairs; the arguments are those of `find_pairs`."""
    is_member = np.zeros(len(codes), bool)

    def find(own: slice, asked: Array, row_keys: Array, keys: Array) -> None:
        is_member[own] = _are_among(row_keys, keys)

    _in_chunks(find, codes, offsets, n_codes, user, code, at_once)
    return is_member


def _in_chunks(
    find: Callable[[slice, Array, Array, Array], Found],
    codes: Array,
    offsets: Array,
    n_codes: int,
    user: Array,
    code: Array,
    at_once: int,
) -> list[Found]:
    """Return what is found in each chunk of users: of its rows, the pairs asked, keys of both."""
    asked = np.flatnonzero((user >= 0) & (code >= 0))
    order, bounds = group_rows(user[asked], len(offsets) - 1)
    asked = asked[order]
    keys = (user * n_codes + code)[asked]

    def find_chunk(first: int, stop: int) -> Found:
        chunk = slice(offsets[first], offsets[stop])
        pairs = slice(bounds[first], bounds[stop])
        sizes = np.diff(offsets[first : stop + 1])
        row_keys = np.repeat(np.arange(stop - first) * n_codes, sizes)
        row_keys += codes[chunk]
        return find(chunk, asked[pairs], row_keys, keys[pairs] - first * n_codes)

    # A user has a key for each of its rows and each pair asked for.
    return in_threads(find_chunk, pairwise(_run_bounds(offsets + bounds, at_once)))


def _run_bounds(offsets: Array, at_once: int) -> Array:
    """Return the bounds of runs of users that have about so many keys, given the keys' offsets."""
    starts = np.searchsorted(offsets[:-1], np.arange(0, offsets[-1], at_once))
    # A user whose keys run across a mark has a chunk alone: many keys, but one user.
    return np.unique([0, *starts, *np.maximum(starts - 1, 0), len(offsets) - 1])


def _find_keys(keys: Array, asked: Array) -> Match:
    """Return the rows of the keys asked for, and what repeats among the keys of the rows."""
    n_rows = len(keys)
    # Sorted stably, what is asked for stands behind the row that has its key.
    order, begins = sort_numbers(np.concatenate([keys, asked]))
    equal = np.flatnonzero(~begins)
    before, following = order[equal - 1], order[equal]
    of_asked = following >= n_rows
    is_asked = of_asked & (before < n_rows)
    rows = np.full(len(asked), -1)
    rows[following[is_asked] - n_rows] = before[is_asked]
    repeated = following[of_asked & (before >= n_rows)] - n_rows
    return Match(rows, not of_asked.all(), repeated)


def _are_among(keys: Array, asked: Array) -> Array:
    """Return whether each key is asked for."""
    order, begins = sort_numbers(np.concatenate([keys, asked]))
    starts = np.flatnonzero(begins)
    sizes = np.diff(starts, append=len(order))
    # Sorted stably, what is asked for is the last of its equals.
    is_asked = order[starts + sizes - 1] >= len(keys)
    is_among = np.empty(len(order), bool)
    is_among[order] = np.repeat(is_asked, sizes)
    return is_among[: len(keys)]
