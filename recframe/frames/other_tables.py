"""Tables of other libraries, as Arrow has them: read to arrays, of no more columns than needed."""

from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from recframe.arrow_tables import read_frame, sample_of
from recframe.errors import RecframeError, RepeatedPairError
from recframe.frames.columns import Columns, find_columns
from recframe.frames.interactions import Interactions
from recframe.frames.labels import is_same
from recframe.frames.reading import Given
from recframe.frames.stand_ins import find_integers
from recframe.frames.tables import measure_table
from recframe.frames.text_users import find_texts
from recframe.frames.truth import read_judged
from recframe.frames.user_groups import read_users
from recframe.kernel.grouping import group_offsets
from recframe.kernel.pieces import LEAST, Pieces, join
from recframe.kernel.threads import ROWS_PER_CHUNK, Array, in_threads
from recframe.metrics.names import Metric
from recframe.options import Options

Read = Callable[[list[Any] | None], pa.Table]


def evaluate_table(table: pa.Table, metrics: list[Metric], options: Options) -> pd.DataFrame:
    """Return the metrics of every user; the arguments have been checked."""
    columns = find_columns(sample_of(table), options, metrics=metrics)

    def make(interactions: Interactions, options: Options) -> pd.DataFrame:
        return measure_table(interactions, metrics, options)

    return make_of_table(lambda _: table, make, columns, options)


def make_of_table(
    read: Read,
    make: Callable[[Interactions, Options], pd.DataFrame],
    columns: Columns,
    options: Options,
) -> pd.DataFrame:
    """Return what is made of the arrays of the rows, and the options.

    What reads the table gets the labels of the columns that are needed, None for all.
    """
    others = [*(label for _, label in columns.averaged), *columns.of_users]
    is_alone = not any(is_same(label, columns.user) for label in others)
    table = read(columns.labels)
    interactions = None
    if is_alone and not options.needs_item and columns.user in table.column_names:
        interactions = _read_with_stand_in(table, columns, options)
    try:
        if interactions is None:
            frame = read_frame(table, columns.labels, _read_plain(table, columns, {}))
            interactions = read_judged(frame, columns, options)
        return make(interactions, options)
    except RepeatedPairError:  # of which another column may say why
        return make(read_judged(read_frame(read(None)), columns, options), options)


def _read_with_stand_in(table: pa.Table, columns: Columns, options: Options) -> Interactions | None:
    """Return the arrays of the rows, read with a stand-in for users; None: to be read as they are.

    It is not shown, so that what is wrong with the rows is for the users themselves to say.
    """
    (user,) = columns.users
    column = _get_column(table, user)
    stand_in = find_texts(column) or find_integers(column)
    if stand_in is None:
        return None
    known = {user: stand_in.cells}
    given = None
    if stand_in.bounds is not None:
        runs = pd.Series(stand_in.cells, name=user, copy=False)
        pieces = _find_scores(table, columns, options)
        given = Given(read_users([runs])._replace(bounds=stand_in.bounds), pieces)
        known = dict.fromkeys([user, *pieces], np.broadcast_to(False, len(table)))
    with suppress(RecframeError):
        frame = read_frame(table, columns.labels, _read_plain(table, columns, known))
        return stand_in.restore(read_judged(frame, columns, options, given))
    return None


def _find_scores(table: pa.Table, columns: Columns, options: Options) -> dict[Hashable, Pieces]:
    """Return the scores that need not be joined to be read: in pieces, ranked as they are."""
    others = [columns.relevant, columns.item, *(label for _, label in columns.averaged)]
    others += columns.of_users
    found = {}
    for label, is_low_best in zip(columns.scores, columns.ascending, strict=True):
        column = _get_column(table, label)
        is_alone = not any(is_same(label, other) for other in others)
        is_as_it_is = options.min_score is None and not is_low_best
        is_long = len(column) >= LEAST * column.num_chunks
        if is_alone and is_as_it_is and is_long and _is_in_pieces(column):
            arrays = [chunk.to_numpy() for chunk in column.chunks if len(chunk)]
            # The lowest value tells of NaN, as in `nulls`.
            if not np.isnan(in_threads(np.min, [(array,) for array in arrays])).any():
                found[label] = Pieces(arrays)
    return found


def _read_plain(
    table: pa.Table, columns: Columns, known: Mapping[Hashable, Array]
) -> dict[int, Array]:
    """Return the columns in a role that are known, numbers in many pieces, or flags, as arrays."""
    joined = {}
    for label in columns.labels:
        number = table.column_names.index(label)
        column = table.column(number)
        if label in known:
            joined[number] = known[label]
        elif _is_in_pieces(column):
            joined[number] = join([chunk.to_numpy() for chunk in column.chunks])
        elif pa.types.is_boolean(column.type) and column.null_count == 0:
            joined[number] = _read_flags(column)
    return joined


def _read_flags(column: pa.ChunkedArray) -> Array:
    """Return flags, which Arrow has as bits; in threads."""
    flags = np.empty(len(column), bool)
    firsts = group_offsets(np.array([len(chunk) for chunk in column.chunks], np.int64))[:-1]

    def write(chunk: pa.Array, first: int, start: int) -> None:
        n_flags = min(len(chunk) - start, ROWS_PER_CHUNK)
        byte, bit = divmod(chunk.offset + start, 8)
        bits = np.frombuffer(chunk.buffers()[1], np.uint8)[byte : byte + n_flags // 8 + 2]
        own = np.unpackbits(bits, bitorder="little")[bit : bit + n_flags]
        flags[first + start : first + start + n_flags] = own

    pieces = zip(column.chunks, firsts.tolist(), strict=True)
    in_threads(
        write,
        ((*each, start) for each in pieces for start in range(0, len(each[0]), ROWS_PER_CHUNK)),
    )
    return flags


def _get_column(table: pa.Table, label: Hashable) -> pa.ChunkedArray:
    """Return the column of a label, the first one of that name."""
    return table.column(table.column_names.index(label))


def _is_in_pieces(column: pa.ChunkedArray) -> bool:
    """Return whether a column is numbers in many pieces, as of parquet, none of which is null."""
    is_plain: bool = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    return is_plain and column.null_count == 0 and column.num_chunks > 1
