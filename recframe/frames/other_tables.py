"""Tables of other libraries, as Arrow has them: read to arrays, of no more columns than needed."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa

from recframe.arrow_tables import read_frame, restore_texts, sample_of
from recframe.errors import RepeatedPairError
from recframe.frames.columns import Columns, find_columns
from recframe.frames.interactions import Interactions
from recframe.frames.labels import is_same
from recframe.frames.tables import measure_table
from recframe.frames.truth import read_judged
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
    # Users as categories are not shown, nor matched with others, before they are texts again.
    others = [*(label for _, label in columns.averaged), *columns.of_users]
    is_alone = not any(is_same(label, columns.user) for label in others)
    in_runs = columns.user if is_alone and not options.needs_item else None
    table = read(columns.labels)
    try:
        frame = read_frame(table, columns.labels, in_runs)
        made = make(read_judged(frame, columns, options), options)
    except RepeatedPairError:  # of which another column may say why
        return make(read_judged(read_frame(read(None)), columns, options), options)
    return restore_texts(made, table, columns.user)
