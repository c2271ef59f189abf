"""Users that are text in views, as Polars has it: what stands for them while rows are read.

To make texts as pandas has them of all rows takes longer than to group these.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recframe.arrow_tables import is_view
from recframe.frames.id_runs import PieceRuns, find_piece_runs, text_run_bounds
from recframe.frames.keys import MANY
from recframe.frames.stand_ins import StandIn
from recframe.frames.text_words import Coding, decode_texts, encode_texts
from recframe.kernel.grouping import run_bounds
from recframe.kernel.threads import Array, in_slices
from recframe.kernel.view_ends import MOST_BYTES, WORD, number_ends, number_several
from recframe.kernel.views import BATCH, batches, find_lengths, number_short


def find_texts(column: pa.ChunkedArray) -> StandIn | None:
    """Return what stands for texts in views; None where they are better read.

    Short texts are in their views, so that these tell them; long ones are where these point to.
    """
    chunks = [chunk for chunk in column.chunks if len(chunk)]
    if not is_view(column.type) or column.null_count or not chunks:
        return None
    views = [_get_views(chunk) for chunk in chunks]
    runs = _find_runs(chunks, views)
    if runs is None:
        if len(column) < MANY:
            return None
        return _read_integers(chunks, views) or _read_words(chunks, views)
    made = _read_integers(chunks, runs.heads)
    if made is None:
        texts = pa.concat_arrays([*map(_take_texts, chunks, *runs)])
        made = _read_words([texts], runs.heads) or _read_positions(texts)
    cells, bounds = runs.join(made.cells)  # a run may go on with the next copy of a text
    return made._replace(cells=cells, bounds=bounds)


def _get_views(chunk: pa.Array) -> Array:
    """Return the views of texts, two words each."""
    words = np.frombuffer(chunk.buffers()[1], np.uint64)
    return words[2 * chunk.offset : 2 * (chunk.offset + len(chunk))].reshape(-1, 2)


def _find_runs(chunks: Sequence[pa.Array], views: Sequence[Array]) -> PieceRuns | None:
    """Return the runs of one text in each piece; None where texts are not in runs.

    In a run all views are one, or each is of a copy of its own.
    """
    found = find_piece_runs(run_bounds, views, views, least=4)
    return found or find_piece_runs(_find_text_runs, chunks, views, least=4)


def _find_text_runs(chunk: pa.Array) -> Array:
    """Return the positions of the texts that differ from the one before, and the end."""
    try:
        return text_run_bounds(chunk)
    except pa.ArrowNotImplementedError:  # of an old pyarrow, which compares no views
        return text_run_bounds(chunk.cast(pa.large_string()))


def _read_integers(chunks: Sequence[pa.Array], views: Sequence[Array]) -> StandIn | None:
    """Return integers that tell texts, given some of the views of chunks; None where none do."""
    if sys.byteorder != "little":
        return None
    if (short := number_short(views)) is not None:
        window, cells = short
        return StandIn(cells, lambda users: _as_texts(window.write_views(users)))
    # Texts that begin alike are told by their ends.
    text = chunks[0][0].as_py().encode()
    data = [[np.frombuffer(each, np.uint8) for each in own.buffers()[2:]] for own in chunks]
    lengths, begin = (len(text), len(text)), text[:-WORD]
    ends = number_ends(views, data, text)
    if ends is None:
        lengths = find_lengths(views)
        begin = text[: max(0, lengths[1] - WORD)]
        ends = number_several(views, data, begin, lengths)
    if ends is None:
        return None
    coding = Coding(pa.string(), begin, *lengths)
    return StandIn(ends, partial(decode_texts, coding=coding), is_ordered=False)


def _read_words(chunks: Sequence[pa.Array], views: Sequence[Array]) -> StandIn | None:
    """Return the ends of texts of several lengths that begin alike as integers; None where not.

    They are made texts as pandas has them a batch at a time: what all take would be handed out page
    by page.
    """
    shortest, longest = find_lengths(views)
    if sys.byteorder != "little" or longest > MOST_BYTES:
        return None
    begin = chunks[0][0].as_py().encode()[: max(0, longest - WORD)]
    coding = Coding(pa.string(), begin, shortest, longest)
    numbers = np.empty(sum(map(len, chunks)), np.uint64)

    def read(start: int, stop: int) -> bool:
        for number, own, rows in batches(chunks, start, stop):
            found, ids = encode_texts(chunks[number][own].cast(coding.kind), coding)
            if found != coding:
                return False
            numbers[rows] = ids.to_numpy()
        return True

    # A few most often decide.
    if not (read(0, min(BATCH, len(numbers))) and all(in_slices(read, 0, len(numbers)))):
        return None
    return StandIn(numbers, partial(decode_texts, coding=coding), is_ordered=False)


def _as_texts(views: Array) -> pa.Array:
    """Return short texts, which are in their views."""
    buffers = [None, pa.py_buffer(views)]
    return pa.Array.from_buffers(pa.string_view(), len(views), buffers)


def _read_positions(texts: pa.Array) -> StandIn:
    """Return the positions of texts among the distinct ones in their order."""
    encoded = texts.dictionary_encode()
    in_order = pc.sort_indices(encoded.dictionary)
    place = np.empty(len(in_order), np.int32)
    place[in_order.to_numpy()] = np.arange(len(in_order), dtype=np.int32)
    distinct = encoded.dictionary.take(in_order)
    return StandIn(place[encoded.indices.to_numpy()], lambda users: distinct.take(pa.array(users)))


def _take_texts(chunk: pa.Array, heads: Array, bounds: Array) -> pa.Array:
    """Return the texts of the first rows of runs, of which these are the views."""
    buffers = [None, pa.py_buffer(heads), *chunk.buffers()[2:]]
    try:
        return pa.Array.from_buffers(chunk.type, len(heads), buffers).cast(pa.large_string())
    except ValueError:  # of an old pyarrow, which takes no data beside views
        return chunk.cast(pa.large_string()).take(pa.array(bounds[:-1]))
