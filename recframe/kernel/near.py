"""Integers that are near each other: numbered by a table of those there are. NumPy only."""

from typing import NamedTuple

import numpy as np

from recframe.kernel.threads import Array, in_slices

BATCH = 1 << 17  # integers that one step after the other leaves in the cache


class NearIntegers(NamedTuple):
    """Which integers there are, from the lowest on.

    Parameters
    ----------
    low : int
        The lowest.
    n_bits : int
        Two of them are at least ``2**n_bits`` apart.
    is_there : ndarray of bool
        Whether there is one from the lowest on, one from so many above it on, ...
    """

    low: int
    n_bits: int
    is_there: Array

    def distinct(self) -> Array:
        """Return those there are, in order, where they may be next to each other."""
        assert self.n_bits == 0
        return np.flatnonzero(self.is_there) + self.low

    def number(self, numbers: Array) -> Array:
        """Return the position of each among those there are."""
        position = np.cumsum(self.is_there, dtype=np.int32)
        position -= 1
        numbered = np.empty(len(numbers), np.int32)

        def look_up(start: int, stop: int) -> None:
            for begin in range(start, stop, BATCH):
                own = slice(begin, min(begin + BATCH, stop))
                places = _places(numbers[own], self.low, self.n_bits)
                np.take(position, places, out=numbered[own], mode="clip")

        in_slices(look_up, 0, len(numbers))
        return numbered


def find_near(numbers: Array, n_bits: int = 0) -> NearIntegers | None:
    """Return which integers there are; None where they are further apart than they are many.

    Two of them are at least ``2**n_bits`` apart.
    """
    if len(numbers) == 0 or numbers.dtype.kind not in "iu":
        return None
    ends = in_slices(
        lambda start, stop: (int(numbers[start:stop].min()), int(numbers[start:stop].max())),
        0,
        len(numbers),
    )
    low, high = min(own for own, _ in ends), max(own for _, own in ends)
    if (high - low) >> n_bits > min(len(numbers), np.iinfo(np.int32).max - 1) or high >= 1 << 62:
        return None
    is_there = np.zeros(((high - low) >> n_bits) + 1, bool)

    def mark(start: int, stop: int) -> None:
        for begin in range(start, stop, BATCH):
            is_there[_places(numbers[begin : min(begin + BATCH, stop)], low, n_bits)] = True

    in_slices(mark, 0, len(numbers))
    return NearIntegers(low, n_bits, is_there)


def _places(numbers: Array, low: int, n_bits: int) -> Array:
    """Return where integers are in the table."""
    places: Array = numbers.astype(np.int64)
    places -= low
    places >>= n_bits
    return places
