"""Runs of ids: rows of one id that stand together, which usually are all of a user."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recframe.frames.keys import Keys
from recframe.kernel.grouping import group_offsets, run_bounds
from recframe.kernel.threads import Array, in_slices, in_threads

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


class PieceRuns(NamedTuple):
    """Runs of ids in pieces, each of which one may go on in the next.

    Parameters
    ----------
    heads : list of ndarray
        What ids are read from, of the first row of each run, piece by piece.
    bounds : list of ndarray of int
        The bounds of the runs in each piece.
    """

    heads: list[Array]
    bounds: list[Array]

    def join(self, cells: Array) -> tuple[Array, Array]:
        """Return what stands for each run, and the bounds of all, given what does for each head."""
        firsts = group_offsets(np.array([found[-1] for found in self.bounds]))
        pairs = zip(self.bounds, firsts[:-1], strict=True)
        starts = np.concatenate([found[:-1] + first for found, first in pairs])
        own = run_bounds(cells)[:-1]
        if len(own) < len(cells):
            cells, starts = cells[own], starts[own]
        return cells, np.append(starts, firsts[-1])


def find_piece_runs(
    find: Callable[[Any], Array],
    pieces: Sequence[Any],
    values: Sequence[Array],
    *,
    least: int,
) -> PieceRuns | None:
    """Return the runs of ids in pieces; None where they are of fewer rows than the least.

    What finds the bounds is given a piece; values are what ids are read from.
    """

    def read(piece: Any, own: Array) -> tuple[Array, Array]:
        found = find(piece)
        # `take` is many times as fast as an index here.
        return own.take(found[:-1], axis=0), found

    def are_runs(*found: Array) -> bool:
        n_rows = sum(int(bounds[-1]) for bounds in found)
        return least * sum(len(bounds) - 1 for bounds in found) <= n_rows

    # As the first ones are, so are the others as a rule.
    if not are_runs(find(pieces[0][:N_SAMPLED])):
        return None
    heads, bounds = zip(*in_threads(read, zip(pieces, values, strict=True)), strict=True)
    return PieceRuns([*heads], [*bounds]) if are_runs(*bounds) else None


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
