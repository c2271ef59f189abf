"""The join: the rows of pairs of integers, and the pairs that repeat. NumPy only."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from recframe.kernel import Array

LOG_ROWS = 18  # rows of a chunk, as a power of two: its keys stay in the cache while sorted


class Match(NamedTuple):
    """What a search found.

    Parameters
    ----------
    rows : ndarray of shape (n_pairs,), int
        The row of each pair, -1 where there is none.
    n_repeated : int
        Rows whose pair an earlier row has.
    example : int
        One of those rows, -1 where there are none.
    """

    rows: Array
    n_repeated: int
    example: int


def find_pairs(codes: Array, offsets: Array, n_codes: int, user: Array, code: Array) -> Match:
    """Return the rows that hold pairs of a user and a code, and how many rows repeat a pair.

    Row number, code and user of a chunk of whole users go into one integer each. Sorting those
    brings equal pairs together, which tells what repeats, and makes the rows searchable.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,), int
        The code of each row, in [0, n_codes); rows are grouped by user.
    offsets : ndarray of shape (n_users + 1,), int
        The rows of user i are ``offsets[i]:offsets[i + 1]``.
    n_codes : int
        A number above all codes, at most 2^32.
    user, code : ndarray of shape (n_pairs,), int
        The pairs to find, -1 for what no row has.

    Returns
    -------
    Match
        The rows, and what repeats.
    """
    rows = np.full(len(user), -1)
    asked = np.flatnonzero((user >= 0) & (code >= 0))
    keys = user[asked] * n_codes + code[asked]
    order = np.argsort(keys)
    asked, keys = asked[order], keys[order]

    def find(first: int, stop: int) -> Match:
        chunk = codes[offsets[first] : offsets[stop]]
        bounds = offsets[first : stop + 1] - offsets[first]
        low, high = np.searchsorted(keys, [first * n_codes, stop * n_codes])
        match = _find_in_chunk(chunk, bounds, n_codes, keys[low:high] - first * n_codes)
        found = match.rows >= 0
        rows[asked[low:high][found]] = offsets[first] + match.rows[found]
        return match._replace(example=match.example + int(offsets[first]))

    chunks = _chunks(offsets, n_codes)
    if len(chunks) == 1:
        matches = [find(*chunks[0])]
    else:
        with ThreadPoolExecutor() as pool:
            matches = list(pool.map(find, *zip(*chunks, strict=True)))
    repeated = [match for match in matches if match.n_repeated]
    n_repeated = sum(match.n_repeated for match in repeated)
    return Match(rows, n_repeated, repeated[0].example if repeated else -1)


def _chunks(offsets: Array, n_codes: int) -> list[tuple[int, int]]:
    """Return runs of users whose keys fit into 63 bits."""
    log_rows = min(LOG_ROWS, (63 - n_codes.bit_length()) // 2)
    marks = np.arange(0, offsets[-1], 1 << log_rows)
    starts = np.searchsorted(offsets[:-1], marks)
    # A user whose rows run across a mark has a chunk alone: many rows, but one user.
    bounds = np.unique([0, *starts, *np.maximum(starts - 1, 0), len(offsets) - 1])
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


def _find_in_chunk(codes: Array, offsets: Array, n_codes: int, asked: Array) -> Match:
    """Return the rows of the pairs asked for, which are ``user * n_codes + code``, sorted."""
    row_bits = len(codes).bit_length()
    keys = np.repeat(np.arange(len(offsets) - 1) * n_codes, np.diff(offsets))
    keys += codes
    keys <<= row_bits
    keys |= np.arange(len(codes))
    keys.sort()
    pairs = keys >> row_bits
    repeated = np.flatnonzero(pairs[1:] == pairs[:-1]) + 1
    places = np.searchsorted(pairs, asked)
    found = np.append(pairs, -1)[places] == asked
    in_row_order = np.append(keys, 0)[places] & ((1 << row_bits) - 1)
    example = int(keys[repeated[0]] & ((1 << row_bits) - 1)) if len(repeated) else -1
    return Match(np.where(found, in_row_order, -1), len(repeated), example)
