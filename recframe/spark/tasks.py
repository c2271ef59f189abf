"""The tasks of Spark's workers: functions of a partition's Arrow table, found by name."""

import pickle
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.accumulators import AddingAccumulatorParam

from recframe.analysis.ranks import is_user
from recframe.calls import public
from recframe.errors import RecframeError, RecframeWarning, count_of, quote, say_where
from recframe.frames.columns import Columns
from recframe.frames.judgments import Judgments, read_excluded
from recframe.frames.tables import Make, plain_table
from recframe.notes import list_mistakes
from recframe.options import Options
from recframe.partitions import (
    Lookups,
    MakeWhole,
    PartitionResult,
    check_common,
    count_partition,
    make_partition,
    read_lookups,
    take_notes,
)
from recframe.spark.columns import as_arrays, as_frame, as_tidy

RETURNED_ROWS = 1 << 16  # of a batch
SIDE, PARTITION, CELL = "side", "partition", "cell"  # columns beside those of rows and results
CELL_TYPES = {PARTITION: pa.int32(), CELL: pa.binary()}


def run(
    batches: Iterable[pa.RecordBatch], make: Callable[[pa.Table], pa.Table]
) -> Iterator[pa.RecordBatch]:
    """Yield the result for the rows of a partition, if it has rows."""
    if found := [batch for batch in batches if batch.num_rows]:
        made = public(make)(pa.Table.from_batches(found))
        yield from made.to_batches(max_chunksize=RETURNED_ROWS)


class PartitionLayout(NamedTuple):
    """The columns of a partition: names there, and the labels that they stand for.

    The column `SIDE` tells rows of others `beside`, by option, from those of the frame. The labels
    of `others` are of columns of the frame that it lacks.
    """

    frame: dict[str, Hashable]
    beside: dict[str, dict[str, Hashable]]
    others: list[Hashable]

    def split(self, table: pa.Table, options: Options) -> tuple[pa.Table, pd.DataFrame, Options]:
        """Return the rows of the frame, as such too, and options with the others' rows."""
        rows, given = table, dict[str, Any]()
        if self.beside:
            rows = table.filter(pc.equal(table[SIDE], 0))
            for number, (other, names) in enumerate(self.beside.items(), 1):
                side = table.filter(pc.equal(table[SIDE], number)).select(list(names))
                given[other] = as_frame(side, list(names.values()))
        rows = rows.select(list(self.frame))
        return rows, as_frame(rows, list(self.frame.values())), replace(options, **given)


class Task(NamedTuple):
    """The work on every partition, and the names of its columns.

    Users have the types of the columns `ids`; where it `is_checked`, `CELL_TYPES` are added.
    """

    layout: PartitionLayout
    make: Make
    columns: Columns
    options: Options
    ids: list[str]
    names: Sequence[str] = ()
    is_checked: bool = False

    def run(self, table: pa.Table) -> tuple[pa.Table, PartitionResult]:
        """Return rows of the frame, and their result."""
        rows, frame, options = self.layout.split(table, self.options)
        roles = self.columns, options
        try:
            lookups = read_lookups(*roles, is_all=self.columns.user is None)
            made = make_partition(
                frame, lookups, self.make, *roles, self.layout.others, is_apart=True
            )
        except RecframeError as error:
            say_where(f"in a partition of {count_of(len(frame), 'row')}: ", error)
            raise
        return rows, made


def make_result(table: pa.Table, task: Task, *, reads_all: bool) -> pa.Table:
    """Return the per-user table of a partition in tidy form, or its rows with their ranks."""
    said: Any
    try:
        rows, result = task.run(table)
        said = result._replace(made=None, users=result.users[:0])
    except RecframeError as error:
        if not task.layout.beside or task.columns.user is None:
            raise
        # Raised with what all parts together are refused for, in one stage: of two stages that
        # fail at once Spark makes an error of pages.
        (rows, result), said = task.run(table.slice(0, 0)), error
    if reads_all:
        rows = rows.take(pa.array(result.made.index.to_numpy(np.int64)))
        n_added = len(task.names) - rows.num_columns
        added = [values for _, values in result.made.iloc[:, -n_added:].items()]
        columns = [*rows.columns, *as_arrays(added, [pa.string(), pa.float64()][-n_added:])]
    else:
        types = [table.schema.field(name).type for name in task.ids]
        columns = as_tidy(result.made, types or [pa.string()])
    made = pa.table(columns, task.names)
    if task.is_checked:
        cell = _in_cell(said)
        made = made.append_column(PARTITION, pa.repeat(cell[PARTITION][0], len(made)))
        # In a row without a user, all of which meet in one partition.
        made = pa.concat_tables([made, cell], promote_options="default")
    return made


def _in_cell(value: object) -> pa.Table:
    """Return a row that has the number of the partition, and a value in its cell."""
    row = {PARTITION: [TaskContext.get().partitionId()], CELL: [pickle.dumps(value)]}
    return pa.table({name: pa.array(row[name], CELL_TYPES[name]) for name in row})


def read_cells(table: pa.Table) -> list[Any]:
    """Return the values in cells, in the order of the partitions that they come from."""
    cells = table.filter(pc.is_valid(table[CELL])).sort_by(PARTITION)[CELL]
    return [pickle.loads(cell) for cell in cells.to_pylist()]


# What is checked when all results of a user, and all cells, have been brought together.


def check_beside(table: pa.Table, names: list[str]) -> pa.Table:
    """Return no row, or raise the refusal of a partition, or of all together."""
    parts = read_cells(table)
    for said in parts:
        if isinstance(said, RecframeError):
            raise said
    check_common([one for part in parts for one in part.common], [part.counts for part in parts])
    return table.select(names).slice(0, 0)


def finish(table: pa.Table, names: list[str], users: list[str]) -> pa.Table:
    """Return results that were checked, or raise if a user's come from several partitions."""
    table = table.filter(pc.is_null(table[CELL]))
    of_users = table.group_by([*users, PARTITION]).aggregate([]).drop_null()
    counts = of_users.group_by(users).aggregate([(PARTITION, "count")])
    if of_users.num_rows > counts.num_rows:
        n_partitions = counts[f"{PARTITION}_count"]
        most = pc.index(n_partitions, pc.max(n_partitions)).as_py()
        found = [counts[user][most].as_py() for user in users]
        raise RecframeError(
            "partitioned=True: all rows of a user must be in one partition, found user "
            f"{quote(tuple(found) if len(found) > 1 else found[0])} in {n_partitions[most]}; leave "
            "partitioned=True out, and a shuffle brings them together"
        )
    return table.select(names)


# What is said of all users: made of one cell of each partition.


class WarningsOfTasks(AddingAccumulatorParam):  # type: ignore[misc]  # Spark has no types
    """Adds up sentences that tasks say; the driver warns of them."""

    def addInPlace(self, value1: list[str], value2: list[str]) -> list[str]:  # noqa: N802
        """Return both."""
        for sentence in value2 if TaskContext.get() is None else ():
            # In a thread of its own an error that is made of a warning does not end Spark's.
            thread = Thread(target=warnings.warn, args=(sentence, RecframeWarning))
            thread.start()
            thread.join()
        return [*value1, *value2]


def make_of_cells(
    table: pa.Table, make: MakeWhole, types: dict[str, pa.DataType], said: Any
) -> pa.Table:
    """Return the table made from the cells of all partitions, in tidy form."""
    whole, notes = make(read_cells(table))
    if said is not None:
        said.add(list_mistakes(notes))
    made, labels = plain_table(whole).rename(columns=str), list(types)
    columns = [made[label] if label in made else np.zeros(len(made)) for label in labels]
    return pa.table(as_arrays(columns, list(types.values())), labels)


def read_part(table: pa.Table, task: Task, *, lists_users: bool) -> pa.Table:
    """Return the result for a partition, and its users if they are listed, in a cell."""
    return _in_cell(take_notes(lambda: task.run(table)[1], lists_users=lists_users))


def count_rows(
    table: pa.Table, layout: PartitionLayout, judgments: Judgments | None, **roles: Any
) -> pa.Table:
    """Return the figures of a partition, given all of truth, in a cell."""
    _, frame, roles["options"] = layout.split(table, roles["options"])
    columns, options = roles["columns"], roles["options"]
    excluded = read_excluded(columns, options, is_all=columns.user is None)
    return _in_cell(count_partition(frame, Lookups(judgments, excluded), **roles))


def find_rows(
    table: pa.Table, user: Hashable, columns: Columns, labels: list[Hashable]
) -> pa.Table:
    """Return the rows of one user."""
    return table.filter(pa.array(is_user(as_frame(table, labels), user, columns)))
