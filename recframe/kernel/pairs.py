"""Pairs: the rows of pairs of integers, and the pairs that repeat. NumPy only."""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from recframe.kernel.grouping import group_rows
from recframe.kernel.radix import ODD
from recframe.kernel.threads import Array, in_threads

Found = TypeVar("Found")
AT_ONCE = 1 << 18  # keys of rows and pairs
PLACES = 16  # of a table, for each key in it: next to no other key wants the same


class Match(NamedTuple):
    """What a search found.

    Parameters
    ----------
    rows : ndarray of shape (n_pairs,), int
        The row of each pair, -1 where there is none.
    has_repeats : bool
        Whether several rows have a pair that is asked for.
    repeated : ndarray of int
        The pairs, among those asked for, that another one asked for is equal to: all but one.
    """

    rows: Array
    has_repeats: bool
    repeated: Array


def find_pairs(
    codes: Array, offsets: Array, n_codes: int, user: Array, code: Array, at_once: int = AT_ONCE
) -> Match:
    """Return the rows that hold pairs of a user and a code, and whether rows repeat a pair.

    User and code make one integer; so do the pairs to find. These are looked up in a table, for a
    chunk of whole users at a time: about so many at once stay in the cache.
    Rows are grouped by user, and their codes in [0, n_codes), which is at most 2^32; a pair that
    no row has may be -1, and of equal pairs one is found.
    """
    rows = np.full(len(user), -1)

    def find(own: slice, asked: Array, row_keys: Array, keys: Array) -> tuple[bool, Array]:
        found, of_rows, repeated = _look_up(row_keys, keys)
        rows[asked[of_rows]] = found + own.start
        has_repeats = len(found) > int(np.count_nonzero(rows[asked] >= 0))
        return has_repeats, asked[repeated]

    chunks = _in_chunks(find, codes, offsets, n_codes, user, code, at_once)
    repeated = [np.zeros(0, np.intp), *(of_chunk for _, of_chunk in chunks)]
    return Match(rows, any(found for found, _ in chunks), np.concatenate(repeated))


def find_members(
    codes: Array, offsets: Array, n_codes: int, user: Array, code: Array, at_once: int = AT_ONCE
) -> Array:
    """Return which of the pairs each row holds, -1 for none; of equal pairs it is always one.

    The arguments are those of `find_pairs`.
    """
    pairs = np.full(len(codes), -1)

    def find(own: slice, asked: Array, row_keys: Array, keys: Array) -> None:
        found, of_rows, _ = _look_up(row_keys, keys)
        pairs[own][found] = asked[of_rows]

    _in_chunks(find, codes, offsets, n_codes, user, code, at_once)
    return pairs


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
    chunks = pairwise(_run_bounds(offsets + bounds, at_once))
    return in_threads(find_chunk, [own for own in chunks if bounds[own[0]] < bounds[own[1]]])


def _run_bounds(offsets: Array, at_once: int) -> Array:
    """Return the bounds of runs of users that have about so many keys, given the keys' offsets."""
    starts = np.searchsorted(offsets[:-1], np.arange(0, offsets[-1], at_once))
    # A user whose keys run across a mark has a chunk alone: many keys, but one user.
    return np.unique([0, *starts, *np.maximum(starts - 1, 0), len(offsets) - 1])


def _look_up(keys: Array, asked: Array) -> tuple[Array, Array, Array]:
    """Return the rows whose key is asked for, the position there of each, and what repeats there.

    Whatever is asked for is put down in a table, at the place that the high bits of its product
    with an odd number are; every row looks what is at its own place. That takes a third of the
    time of sorting both. Where two are for one place one of them is put down, and the other, with
    the few rows that found a key that is not theirs, is for the next table.
    """
    rows, left = np.arange(len(keys)), np.arange(len(asked), dtype=np.int32)
    found, of_rows, repeated = [rows[:0]], [left[:0]], [left[:0]]
    factor = np.array(ODD)  # no scalar, which would warn of bits that fall away
    while len(left):
        n_bits = (PLACES * len(left)).bit_length()
        places = _places(asked[left], factor, n_bits)
        table = np.full(1 << n_bits, -1, np.int32)
        table[places] = left
        holder = table[places]
        is_same = asked[holder] == asked[left]
        repeated.append(left[is_same & (holder != left)])
        left = left[~is_same]

        at = table.take(_places(keys, factor, n_bits), mode="clip")
        taken = np.flatnonzero(at >= 0)
        rows, keys, at = rows[taken], keys[taken], at[taken]
        is_same = asked[at] == keys
        found.append(rows[is_same])
        of_rows.append(at[is_same])
        rows, keys = rows[~is_same], keys[~is_same]
        factor *= ODD
    return np.concatenate(found), np.concatenate(of_rows), np.concatenate(repeated)


def _places(keys: Array, factor: Array, n_bits: int) -> Array:
    """Return the places of keys in a table of 2^n_bits."""
    places = keys.view(np.uint64) * factor
    places >>= np.uint64(64 - n_bits)
    return places.view(np.int64)
