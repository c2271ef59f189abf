"""Results on Spark: workers evaluate partitions, and tables are made of their results."""

import pickle
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import types as kinds

from recframe.analysis.compare import plain_with_undefined
from recframe.analysis.ranked_rows import is_user
from recframe.analysis.segments import UserValues
from recframe.errors import RecframeError, count_of, quote, say_where
from recframe.frames.columns import Columns
from recframe.frames.companions import BlockResult, Companions, read_companions
from recframe.frames.tables import tidy_table
from recframe.options import Options
from recframe.partitions import Partitions
from recframe.public_calls import public
from recframe.spark.rows import SparkRows, as_frame, as_table, check_kinds, hand_over

RETURNED_ROWS = 1 << 16  # rows of a batch
CELL = "cell"  # the column of pickled results
TEXT, NUMBER = kinds.StringType(), kinds.DoubleType()
IN_CELL = {CELL: kinds.BinaryType()}
TEXT_LABELS = ("score", "other_score", "metric", "baseline", "interval", "test")
Typed = Sequence[tuple[str, Any]]  # labels of columns, and their types
PARTED = Companions(are_parted=True)


class Task(NamedTuple):
    """The work on every partition, and the labels of the columns in each struct of a row.

    Truth and exclude have only the users of the partition, unless `whole` has all of them.
    """

    labels: dict[str, list[Hashable]]
    make: Callable[[pd.DataFrame, Companions], BlockResult]
    columns: Columns
    options: Options
    whole: Companions | None = None

    def read(self, table: pa.Table) -> BlockResult:
        """Return the result for a partition, with the facts it notes."""
        own: dict[str, Any] = {
            name: as_frame(find_rows(table, name), labels) for name, labels in self.labels.items()
        }
        frame, columns = own.pop("frame"), self.columns
        for name, companion in own.items():
            companion.attrs = dict(getattr(self.options, name).attrs)
        try:
            parted = self.whole or read_companions(
                columns, replace(self.options, **own), are_parted=True
            )
            return self.make(frame, parted)
        except RecframeError as error:
            say_where(f"in a partition of {count_of(len(frame), 'row')}: ", error)
            raise


def find_rows(table: pa.Table, name: str) -> pa.Table:
    """Return the rows of the frame, or of a companion, in a partition."""
    rows = table[name]
    return pa.Table.from_struct_array(rows.filter(rows.is_valid()) if rows.null_count else rows)


def map_rows(rows: Any, make: Callable[[pa.Table], pa.Table], types: dict[str, Any]) -> Any:
    """Return the results of every partition that has rows, in columns of these types."""
    return rows.mapInArrow(partial(run, make=make), as_schema(types))


def as_schema(types: dict[str, Any]) -> Any:
    """Return Spark's schema for types by name."""
    return kinds.StructType([kinds.StructField(name, kind) for name, kind in types.items()])


def run(
    batches: Iterable[pa.RecordBatch], make: Callable[[pa.Table], pa.Table]
) -> Iterator[pa.RecordBatch]:
    """Yield the result for the rows of a partition, if it has rows."""
    if found := [batch for batch in batches if batch.num_rows]:
        made = public(make)(pa.Table.from_batches(found))
        yield from made.to_batches(max_chunksize=RETURNED_ROWS)


# Tables of all users, made by the driver.


def collect_results(rows: Any, task: Task) -> list[BlockResult]:
    """Return the results for every partition, computed now."""
    return open_cells(map_rows(rows, partial(read_in_cell, task=task), IN_CELL).toArrow())


def read_in_cell(table: pa.Table, task: Task) -> pa.Table:
    """Return the result for a partition, or its refusal, in a cell."""
    try:
        return put_in_cell(task.read(table))
    except RecframeError as error:
        return put_in_cell(error)


def put_in_cell(value: object) -> pa.Table:
    """Return a table of one row, which has a value in its cell."""
    return pa.table({CELL: pa.array([pickle.dumps(value)], pa.binary())})


def open_cells(table: pa.Table) -> list[BlockResult]:
    """Return the results in cells, or raise the refusal of a partition."""
    values = [pickle.loads(cell) for cell in table[CELL].drop_null().to_pylist()]
    for value in values:
        if isinstance(value, RecframeError):
            raise value
    return values


def put_on_spark(
    table: pd.DataFrame,
    frame: SparkRows,
    columns: Columns,
    users: list[Any],
    by: Sequence[UserValues],
) -> Any:
    """Return a table of all users as plain columns on Spark.

    `users` are the types of users. Segments have the types of columns, or of values by user.
    """
    plain, session = plain_with_undefined(table), frame.rows.sparkSession
    labels, types = list(map(str, plain)), list[Any]()
    check_free_names(labels[: len(by)], labels[len(by) :], "by=")
    for one in by:
        if one.series is not None:
            given = hand_over("by", {"c0": one.series}, session, "the label of a column")
            check_kinds(SparkRows(given, [one.label]), [one.label])
            types.append(given.schema[0].dataType)
        elif one.column in columns.users:
            types.append(users[columns.users.index(one.column)])
        else:
            types.append(frame.kind(one.column))
    for label in labels[len(by) :]:
        is_whole = label == "k" or label.startswith("n_")
        types.append(TEXT if label in TEXT_LABELS else kinds.LongType() if is_whole else NUMBER)
    typed = dict(zip(labels, types, strict=True))
    made = as_table([column for _, column in plain.items()], typed)
    return session.createDataFrame(made, as_schema(typed))


def check_free_names(own: Iterable[str], added: Iterable[str], prefix: str) -> None:
    """Raise if a column has the name of a column that results add; Spark ignores case."""
    names = {label.casefold() for label in added}
    for label in own:
        if label.casefold() in names:
            raise RecframeError(f"{prefix}{quote(label)} has a name that results use. Rename it.")


# Tables with a row for each user or row, computed lazily.


def make_results(
    rows: Any,
    task: Task,
    finish: Callable[[pa.Table, pd.DataFrame, dict[str, Any]], pa.Table],
    own: Typed,
    added: Typed,
    users: Iterable[int],
    check: Callable[[pa.Table], pa.Table] | None,
) -> Any:
    """Return the results of all partitions, with the columns `own` of the partition and `added`.

    They are checked when computed, unless `check` is None; `users` are indexes of user columns.
    """
    check_free_names([label for label, _ in own], [label for label, _ in added], "the column ")
    labels = [label for label, _ in (*own, *added)]
    types = {f"r{at}": kind for at, (_, kind) in enumerate((*own, *added))}
    given: dict[str, Any] = {"task": task, "finish": finish, "types": types}
    if check is None:
        return map_rows(rows, partial(make_result, **given), types).toDF(*labels)
    made = map_rows(rows, partial(make_checked, **given), types | IN_CELL)
    made = made.repartition(*(f"r{at}" for at in users))  # Both reads below share it.
    # The check comes first, so that a refused result shows no rows.
    return map_rows(made, check, types).union(map_rows(made, drop_cells, types)).toDF(*labels)


def make_result(table: pa.Table, task: Task, finish: Any, types: dict[str, Any]) -> pa.Table:
    """Return the result for a partition."""
    return finish(table, task.read(table).made, types)


def make_checked(table: pa.Table, task: Task, finish: Any, types: dict[str, Any]) -> pa.Table:
    """Return the result for a partition, with a cell that holds the facts to check or a refusal."""
    said: Any
    try:
        result = task.read(table)
        said = result._replace(made=None)
    except RecframeError as error:
        # The stage that checks all partitions raises it: if two stages fail at once, Spark's
        # message fills pages.
        table = table.slice(0, 0)
        result, said = task.read(table), error
    # Cells are in rows without a user, which all meet in one partition.
    made = [finish(table, result.made, types), put_in_cell(said)]
    return pa.concat_tables(made, promote_options="default")


def check_cells(table: pa.Table, work: Partitions) -> pa.Table:
    """Return no rows, or raise the refusal of a partition or of all partitions together."""
    work.note_all(open_cells(table), PARTED).check()
    return table.slice(0, 0).drop([CELL])


def drop_cells(table: pa.Table) -> pa.Table:
    """Return the results without the rows of cells."""
    return table.filter(table[CELL].is_null()).drop([CELL])


def make_tidy_part(_: pa.Table, made: pd.DataFrame, types: dict[str, Any]) -> pa.Table:
    """Return the per-user table of a partition in tidy form."""
    return as_table([column for _, column in tidy_table(made).items()], types)


def rank_rows(table: pa.Table, made: pd.DataFrame, types: dict[str, Any]) -> pa.Table:
    """Return the ranked rows of a partition with their ranks."""
    rows = find_rows(table, "frame").take(pa.array(made.index.to_numpy(np.int64)))
    added = dict([*types.items()][rows.num_columns :])
    columns = [column for _, column in made.iloc[:, -len(added) :].items()]
    return pa.table([*rows.columns, *as_table(columns, added).columns], list(types))


def find_user(
    table: pa.Table, user: Hashable, columns: Columns, labels: list[Hashable]
) -> pa.Table:
    """Return the rows of one user."""
    return table.filter(pa.array(is_user(as_frame(table, labels), user, columns)))
