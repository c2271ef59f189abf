"""Users that are text in views, as Polars has it: what stands for them while rows are read.

To make texts as pandas has them of all rows takes longer than to group these.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.arrow_tables import is_view, read_column
from recframe.frames.interactions import Interactions
from recframe.frames.keys import MANY
from recframe.frames.text_words import Coding, decode_texts, encode_texts
from recframe.frames.user_groups import N_SAMPLED, sort_users
from recframe.kernel.grouping import run_bounds
from recframe.kernel.radix import sort_numbers
from recframe.kernel.texts import BATCH
from recframe.kernel.threads import Array, in_slices
from recframe.kernel.views import find_lengths, find_window

WORD = 8  # bytes of the end of a text that tell it
LONGEST = 1 << 12  # bytes of a text, of which a batch has room in Arrow's array


class StandIn(NamedTuple):
    """What stands for the texts of a column.

    Parameters
    ----------
    cells : ndarray of length n_rows
        What stands in each row, an integer.
    write : callable
        Returns the texts of such cells.
    is_ordered : bool, default True
        Whether cells are in the order of texts.
    """

    cells: Array
    write: Callable[[Array], Any]
    is_ordered: bool = True

    def restore(self, interactions: Interactions) -> Interactions:
        """Return the arrays of rows of users for which these stand, with the users' texts."""
        groups = interactions.groups
        users = pd.Index(self.write(groups.users.to_numpy()), name=groups.users.name)
        sorted_by = sort_users(groups) if self.is_ordered else None
        groups = groups._replace(users=users, sorted_by=sorted_by)
        return interactions._replace(groups=groups)


def find_stand_in(column: pa.ChunkedArray) -> StandIn | None:
    """Return what stands for texts in views; None where they are better read.

    Short texts are in their views, so that these tell them. A long one may be stored again for each
    row; users have no runs then.
    """
    chunks = [chunk for chunk in column.chunks if len(chunk)]
    if not is_view(column.type) or column.null_count or not chunks:
        return None
    views = [_get_views(chunk) for chunk in chunks]
    bounds = _find_runs(views)
    if bounds is None:
        return (_read_numbers(views) or _read_words(chunks, views)) if len(column) >= MANY else None
    # `take` is many times as fast as an index here.
    heads = [own.take(found[:-1], axis=0) for own, found in zip(views, bounds, strict=True)]
    made = _read_numbers(heads)
    if made is None:
        taken = zip(chunks, heads, bounds, strict=True)
        texts = [_take_texts(*each) for each in taken]
        made = _read_words(texts, heads) or _read_positions(texts)
    lengths = np.concatenate([np.diff(found) for found in bounds])
    # In as few bytes as are needed: they are repeated for each row.
    order, begins = sort_numbers(made.cells)
    codes = np.empty(len(order), np.int32)
    codes[order] = begins.cumsum() - 1
    distinct = made.cells[order[begins]]
    return made._replace(
        cells=codes.repeat(lengths), write=lambda users: made.write(distinct[users])
    )


def _get_views(chunk: pa.Array) -> Array:
    """Return the views of texts, two words each."""
    words = np.frombuffer(chunk.buffers()[1], np.uint64)
    return words[2 * chunk.offset : 2 * (chunk.offset + len(chunk))].reshape(-1, 2)


def _find_runs(views: Sequence[Array]) -> list[Array] | None:
    """Return the bounds of runs of one view in each piece; None where views are not in runs."""
    found = []
    for own in views:
        for part in (own[:N_SAMPLED], own):
            bounds = run_bounds(part)
            if 4 * (len(bounds) - 1) > len(part):
                return None
        found.append(bounds)
    return found


def _read_numbers(views: Sequence[Array]) -> StandIn | None:
    """Return integers that tell texts, in the order of these; None where there are none."""
    window = find_window(views)
    if window is None:
        return None
    numbers = np.empty(sum(map(len, views)), np.uint64)
    start = 0
    for own in views:
        window.number(own, numbers[start : start + len(own)])
        start += len(own)

    def write(users: Array) -> Any:
        buffers = [None, pa.py_buffer(window.write_views(users))]
        texts = pa.Array.from_buffers(pa.string_view(), len(users), buffers)
        return read_column(pa.chunked_array([texts]))

    return StandIn(numbers, write)


def _read_words(chunks: Sequence[pa.Array], views: Sequence[Array]) -> StandIn | None:
    """Return the ends of texts that begin alike as integers; None where that does not tell them.

    They are made texts as pandas has them a batch at a time: what all take would be handed out page
    by page.
    """
    shortest, longest = find_lengths(views)
    if sys.byteorder != "little" or longest > LONGEST:
        return None
    begin = chunks[0][0].as_py().encode()[: max(0, longest - WORD)]
    coding = Coding(pa.string(), begin, shortest, longest)
    numbers = np.empty(sum(map(len, chunks)), np.uint64)

    def read(chunk: pa.Array, at: int, start: int, stop: int) -> bool:
        for first in range(start, stop, BATCH):
            last = min(first + BATCH, stop)
            found, ids = encode_texts(chunk[first:last].cast(coding.kind), coding)
            if found != coding:
                return False
            numbers[at + first : at + last] = ids.to_numpy()
        return True

    at = 0
    for chunk in chunks:
        # A few most often decide.
        are_told = read(chunk, at, 0, min(len(chunk), BATCH))
        if not (are_told and all(in_slices(partial(read, chunk, at), 0, len(chunk)))):
            return None
        at += len(chunk)

    def write(users: Array) -> Any:
        return read_column(pa.chunked_array([decode_texts(users, coding)]))

    return StandIn(numbers, write, is_ordered=False)


def _read_positions(texts: Sequence[pa.Array]) -> StandIn:
    """Return the positions of texts among the distinct ones in their order."""
    encoded = pa.chunked_array(texts).combine_chunks().dictionary_encode()
    in_order = pc.sort_indices(encoded.dictionary)
    place = np.empty(len(in_order), np.int32)
    place[in_order.to_numpy()] = np.arange(len(in_order), dtype=np.int32)
    distinct = pd.Index(read_column(pa.chunked_array([encoded.dictionary.take(in_order)])))
    return StandIn(place[encoded.indices.to_numpy()], distinct.take)


def _take_texts(chunk: pa.Array, heads: Array, bounds: Array) -> pa.Array:
    """Return the texts of the first rows of runs, of which these are the views."""
    buffers = [None, pa.py_buffer(heads), *chunk.buffers()[2:]]
    try:
        return pa.Array.from_buffers(chunk.type, len(heads), buffers).cast(pa.large_string())
    except ValueError:  # of an old pyarrow, which takes no data beside views
        return chunk.cast(pa.large_string()).take(pa.array(bounds[:-1]))
