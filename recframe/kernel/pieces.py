"""Pieces: values in several arrays, joined only where what reads them needs that. NumPy only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from recframe.kernel.grouping import group_offsets
from recframe.kernel.threads import Array, in_slices

LEAST = 1 << 14  # values an array has as a rule, from which on each is read by itself
MANY = 8  # of so many values one: from there on they are joined to be taken


class Pieces:
    """
    Values in several arrays, one after the other.

    Parameters
    ----------
    arrays : sequence of ndarray
        One or more, of one dtype.
    """

    def __init__(self, arrays: Sequence[Array]) -> None:
        self.arrays = arrays
        self.dtype = arrays[0].dtype
        self._offsets = group_offsets(np.array([len(array) for array in arrays]))
        self._joined: Array | None = None

    def __len__(self) -> int:
        """Return how many values there are."""
        return int(self._offsets[-1])

    def __getitem__(self, rows: slice) -> Pieces:
        """Return the values of rows that follow each other, none of which is copied."""
        start, stop, _ = rows.indices(len(self))
        firsts = self._offsets[:-1].tolist()
        parts = zip(self.arrays, firsts, strict=True)
        found = [array[max(0, start - first) : max(0, stop - first)] for array, first in parts]
        return Pieces([array for array in found if len(array)] or [self.arrays[0][:0]])

    def __call__(self) -> Array:
        """Return the values as one array."""
        if self._joined is None:
            self._joined = self.arrays[0] if len(self.arrays) == 1 else join(self.arrays)
        return self._joined

    def take(self, rows: Array, mode: Literal["raise", "clip"] = "raise") -> Array:
        """Return the values of rows, as an array does."""
        if self._joined is not None or MANY * rows.size > len(self):
            values: Array = self().take(rows, mode=mode)
            return values
        if mode == "clip":
            rows = np.minimum(rows, len(self) - 1)
        number = np.searchsorted(self._offsets, rows, side="right") - 1
        taken = np.empty(rows.shape, self.dtype)
        for each in np.unique(number).tolist():
            own = number == each
            taken[own] = self.arrays[each][rows[own] - self._offsets[each]]
        return taken


def whole(values: Array | Pieces) -> Array:
    """Return values as one array."""
    return values() if isinstance(values, Pieces) else values


def arrays_of(values: Array | Pieces) -> Sequence[Array]:
    """Return the arrays that values are in."""
    return values.arrays if isinstance(values, Pieces) else [values]


def in_turn(values: Array | Pieces, most: int) -> Iterator[Array]:
    """Yield values as they follow each other, at most so many at a time."""
    for array in arrays_of(values):
        for start in range(0, len(array), most):
            yield array[start : start + most]


def join(arrays: Sequence[Array]) -> Array:
    """Return one or more arrays one after the other, copied in threads where that pays."""
    offsets = group_offsets(np.array([len(array) for array in arrays]))
    joined = np.empty(offsets[-1], arrays[0].dtype)

    def copy(start: int, stop: int) -> None:
        for array, first in zip(arrays, offsets[:-1].tolist(), strict=True):
            own = slice(max(start, first), min(stop, first + len(array)))
            if own.start < own.stop:
                joined[own] = array[own.start - first : own.stop - first]

    in_slices(copy, 0, len(joined))
    return joined
