"""Objects that rows share: told apart by where they lie in memory, without asking Python."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.kernel.grouping import run_bounds, take
from recframe.kernel.near import find_near
from recframe.kernel.threads import ROWS_PER_CHUNK, Array

N_SAMPLED = 1 << 16  # rows in which it is looked for whether rows share objects
MOST_OBJECTS = 0.25  # for each row, up to which it pays to number them
OBJECT_BITS = 4  # an object takes 16 bytes at least


class SharedObjects(NamedTuple):
    """The objects of a column in which few objects stand in many rows.

    Parameters
    ----------
    objects : Series or Index of length n_objects
        Each object once, in the order in which rows first have them.
    numbers : ndarray of shape (n_objects,), int
        The number of each.
    rows : ndarray of int
        The number of the object of each row, or of each run of rows.
    bounds : ndarray of int, or None
        The bounds of those runs.
    """

    objects: pd.Series | pd.Index[Any]
    numbers: Array
    rows: Array
    bounds: Array | None

    def spread(self, values: Array) -> Array:
        """Return a value for each row, given one below 2**31 for each object."""
        of_numbers = np.empty(len(values), np.int32)
        of_numbers[self.numbers] = values
        spread = take(of_numbers, self.rows)
        return spread if self.bounds is None else np.repeat(spread, np.diff(self.bounds))


def find_shared(column: pd.Series | pd.Index[Any]) -> SharedObjects | None:
    """Return the objects of a column, None unless rows share few of them."""
    n_rows = len(column)
    if column.dtype != object or n_rows * MOST_OBJECTS < N_SAMPLED:
        return None
    addresses = np.frombuffer(np.ascontiguousarray(column.to_numpy()), np.intp)
    # Rows by chance: of users of equal size every so-manieth row would be one of each.
    sample = addresses[np.random.default_rng(0).integers(0, n_rows, N_SAMPLED)]
    # A sample of as many objects as may be is expected to hold so many repeats.
    if N_SAMPLED - len(pd.unique(sample)) < N_SAMPLED**2 / (2 * MOST_OBJECTS * n_rows):
        return None
    bounds = None
    if 2 * len(run_bounds(addresses[:N_SAMPLED])) < N_SAMPLED:  # rows come in runs
        bounds = run_bounds(addresses)
        addresses = addresses[bounds[:-1]]
    # Objects that were made one after the other lie near each other.
    near = find_near(addresses, OBJECT_BITS)
    numbers = pd.factorize(addresses)[0] if near is None else near.number(addresses)
    firsts = _find_firsts(numbers)
    in_order = np.argsort(firsts)
    rows = firsts[in_order] if bounds is None else bounds[firsts[in_order]]
    return SharedObjects(column.take(rows), in_order, numbers, bounds)


def _find_firsts(numbers: Array) -> Array:
    """Return where each number from 0 on is first; as a rule all soon are."""
    firsts = np.full(int(numbers.max()) + 1, -1)
    begin = 0
    while (firsts < 0).any():
        own = numbers[begin : begin + ROWS_PER_CHUNK]
        is_new = firsts[own] < 0
        # Of several places that are written to one index the last one stays.
        new = np.flatnonzero(is_new)[::-1]
        firsts[own[new]] = begin + new
        begin += len(own)
    return firsts
