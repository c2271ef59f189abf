"""Tables of other libraries, as Arrow has them: read to arrays, of no more columns than needed."""

from collections.abc import Callable
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
from recframe.frames.tables import measure_table
from recframe.frames.text_users import find_stand_in
from recframe.frames.truth import read_judged
from recframe.frames.user_groups import UserIds
from recframe.kernel.grouping import join
from recframe.kernel.threads import Array
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
            frame = read_frame(table, columns.labels, _join_numbers(table, columns))
            interactions = read_judged(frame, columns, options)
        return make(interactions, options)
    except RepeatedPairError:  # of which another column may say why
        return make(read_judged(read_frame(read(None)), columns, options), options)


def _read_with_stand_in(table: pa.Table, columns: Columns, options: Options) -> Interactions | None:
    """Return the arrays of the rows, read with a stand-in for users; None: to be read as they are.

    It is not shown, so that what is wrong with the rows is for the texts themselves to say.
    """
    number = table.column_names.index(columns.user)
    stand_in = find_stand_in(table.column(number))
    if stand_in is not None:
        with suppress(RecframeError):
            cells, users = stand_in.cells, None
            if stand_in.bounds is not None:
                runs = pd.Series(cells, name=columns.users[0], copy=False)
                users = UserIds([runs], [cells], stand_in.bounds)
                cells = np.zeros(len(table), bool)  # which are not read
            known = _join_numbers(table, columns) | {number: cells}
            frame = read_frame(table, columns.labels, known)
            return stand_in.restore(read_judged(frame, columns, options, users))
    return None


def _join_numbers(table: pa.Table, columns: Columns) -> dict[int, Array]:
    """Return the columns in a role that are numbers in many pieces, as of parquet, in one piece."""
    known = {}
    for label in columns.labels:
        number = table.column_names.index(label)
        column = table.column(number)
        is_plain = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if is_plain and column.null_count == 0 and column.num_chunks > 1:
            known[number] = join([chunk.to_numpy() for chunk in column.chunks])
    return known
