"""Keys: their kinds, and the bits of their parts. NumPy only."""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from recframe.kernel.threads import Array


class KeyKind(IntEnum):
    """The kinds of keys. Each may distinguish more scores than the kind before."""

    SHORT = 0  # 32 bits, which are sorted in half the time
    LONG = 1  # 64 bits
    DENSE = 2  # 64 bits with the ranks of scores, so that only equal scores look equal


# The fewest bits for scores in short and long keys: with fewer, too many rows would look tied.
LEAST = (12, 20)


class Layout(NamedTuple):
    """The bits that the parts of a key have.

    Parameters
    ----------
    kind : KeyKind
        The kind of the key.
    mark, tie : int
        The number of bits of the mark, the lowest part, and of the order of tied rows.
    score, unranked, user : int
        The number of bits below the score, below the bit that is set for unranked rows, and below
        the user.
    n_lost : int
        The number of the lowest bits of scores that do not fit.
    dtype : type
        The type of the keys, an unsigned integer.
    """

    kind: KeyKind
    mark: int
    tie: int
    score: int
    unranked: int
    user: int
    n_lost: int
    dtype: type[np.unsignedinteger[Any]]


class SortedKeys(NamedTuple):
    """The sorted keys of all rows of some users.

    Parameters
    ----------
    keys : ndarray of shape (n_rows,), unsigned int
        The keys.
    layout : Layout
        The bits of their parts.
    numbered : ndarray of shape (n_rows,), int, or None
        The row of each mark, as its position among these rows; None: marks are grades.
    """

    keys: Array
    layout: Layout
    numbered: Array | None = None


def drop_bits(bits: Array, n_lost: int) -> Array:
    """Drop the lowest `n_lost` bits; the new lowest bit is 1 if any dropped bit was 1."""
    if n_lost:
        below = np.uint64((1 << n_lost - 1) - 1)
        carry = bits & below
        carry += below  # a set bit below carries into the highest dropped bit
        bits |= carry
        bits >>= np.uint64(n_lost - 1)
    return bits
