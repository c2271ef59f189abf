"""Runs of ids: rows of one id that stand together, which usually are all of a user."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recframe.frames.keys import Keys
from recframe.kernel.grouping import run_bounds
from recframe.kernel.threads import Array, in_slices

N_SAMPLED = 1 << 16  # rows in which runs of ids are looked for first


def find_runs(columns: Sequence[Keys | None]) -> Array | None:
    """Return the bounds of runs of one id, or None where ids do not come in runs.

    Ids usually do; then only the first row of each run is looked at. As the first rows are, so
    are the others as a rule: where they have no runs the others are not searched.
    """
    bounds = None
    for n_rows in (N_SAMPLED, None):
        found = []
        for keys in columns:
            if keys is None:
                return None
            find_bounds = run_bounds if isinstance(keys, np.ndarray) else text_run_bounds
            found.append(find_bounds(keys[:n_rows]))
        bounds = found[0] if len(found) == 1 else _join_bounds(found)
        if 2 * (len(bounds) - 1) > bounds[-1]:
            return None
    return bounds


def _join_bounds(columns: list[Array]) -> Array:
    """Return the bounds of runs that are in one run of every column."""
    begins = np.zeros(columns[0][-1] + 1, bool)
    for bounds in columns:
        begins[bounds] = True
    return np.flatnonzero(begins)


def text_run_bounds(text: pa.Array) -> Array:
    """Return the positions of the texts that differ from the one before, and the end."""

    def find(start: int, stop: int) -> Array:
        differ = pc.not_equal(text[start:stop], text[start - 1 : stop - 1])
        # Most bytes of eight flags are 0.
        flags = np.frombuffer(differ.buffers()[1], np.uint8)[: (len(differ) + 7) // 8]
        at = np.flatnonzero(flags)
        bit = np.flatnonzero(np.unpackbits(flags[at], bitorder="little"))
        found: Array = 8 * at[bit >> 3] + (bit & 7)
        return found[: np.searchsorted(found, len(differ))] + start

    ends = np.array([0, len(text)] if len(text) else [0])
    return np.concatenate([ends[:1], *in_slices(find, 1, len(text)), ends[1:]])
