"""What Spark's workers run: functions of the Arrow batches of a partition, found there by name."""

import pickle
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from recframe.analysis.inspect import is_user
from recframe.calls import public
from recframe.errors import RecframeError, RepeatedPairError, quote
from recframe.frames.columns import Columns
from recframe.frames.duplicates import advise_blindly
from recframe.methods import Make
from recframe.options import Options
from recframe.spark.beside import Common, check_common, join_ids, put, read_partition
from recframe.spark.tidy import (
    as_arrays,
    as_frame,
    as_tidy,
)

Batches = Iterable[pa.RecordBatch]

RETURNED_ROWS = 1 << 16  # of a batch
SIDE, PARTITION, CELL = "side", "partition", "cell"  # columns beside those of rows and results
CELL_TYPES = {PARTITION: pa.int32(), CELL: pa.binary()}

Said = list[Common] | RecframeError  # what a partition has in common with others, or is refused for


class PartitionLayout(NamedTuple):
    """What the columns of a partition are: names there, and the labels that they stand for.

    Where there are rows of others `beside` those of the frame, by option, the column `SIDE` tells
    them apart. The labels of `others` are of columns of the frame that are not there.
    """

    frame: dict[str, Hashable]
    beside: dict[str, dict[str, Hashable]]
    others: list[Hashable]

    def split(self, table: pa.Table, options: Options) -> tuple[pa.Table, pd.DataFrame, Options]:
        """Return the rows of the frame, as such too, and options with the others' rows."""
        rows = [table.select(list(self.frame))]
        if self.beside:
            of_each = [table.filter(pc.equal(table[SIDE], n)) for n in range(len(self.beside) + 1)]
            rows = [of_each[0].select(list(self.frame))]
            frames = {
                other: as_frame(side.select(list(names)), list(names.values()))
                for side, (other, names) in zip(of_each[1:], self.beside.items(), strict=True)
            }
            options = put(options, frames)
        return rows[0], as_frame(rows[0], list(self.frame.values())), options


class Task(NamedTuple):
    """What is made of the rows of every partition, and how it is handed back.

    That is by columns of these `names`; where the result `is_checked`, with those of `CELL_TYPES`.
    """

    layout: PartitionLayout
    make: Make
    columns: Columns
    options: Options
    names: list[str]
    users: list[list[str]]
    is_checked: bool

    @public
    def run(self, table: pa.Table) -> tuple[pa.Table, pd.DataFrame, list[Common]]:
        """Return rows of the frame, what is made of them, what they have in common with others."""
        rows, frame, options = self.layout.split(table, self.options)
        try:
            interactions, common = read_partition(frame, self.columns, options)
            return rows, self.make(interactions, options), common
        except RecframeError as error:
            said = str(error)
            if isinstance(error, RepeatedPairError) and error.found:
                said = f"{error.found}; {advise_blindly(self.layout.others)}"
            n_rows = f"{len(frame):,} row{'s' * (len(frame) != 1)}"
            raise type(error)(f"in a partition of {n_rows}: {said}") from error

    def attempt(self, table: pa.Table) -> tuple[pa.Table, pd.DataFrame, Said]:
        """Return the same, or where others are beside the rows what is made of none, and why.

        That is raised with what all parts together are refused for, in one stage: of two stages
        that fail at once Spark makes an error of pages.
        """
        try:
            return self.run(table)
        except RecframeError as error:
            if not self.layout.beside or self.columns.user is None:
                raise
            return *self.run(table.slice(0, 0))[:2], error

    def give(self, columns: list[Any], said: Said) -> Iterator[pa.RecordBatch]:
        """Yield a result in batches."""
        table = pa.table(columns, self.names)
        if self.is_checked:
            beside = [pa.repeat(number(), len(table)), pa.nulls(len(table), CELL_TYPES[CELL])]
            for name, column in zip(CELL_TYPES, beside, strict=True):
                table = table.append_column(name, column)
            if said:  # in a row without a user, all of which meet in one partition
                table = pa.concat_tables([table, in_cell(said)], promote_options="default")
        yield from table.to_batches(max_chunksize=RETURNED_ROWS)


def make_users(batches: Batches, task: Task) -> Iterator[pa.RecordBatch]:
    """Yield the per-user table of a partition in tidy form."""
    if (table := gather(batches)) is not None:
        _, made, said = task.attempt(table)
        ids = [_type_of([table.schema.field(name).type for name in names]) for names in task.users]
        yield from task.give(as_tidy(made, ids or [pa.string()]), said)


def _type_of(ids: list[pa.DataType]) -> pa.DataType:
    """Return the type of ids of the frame and of truth, of integers the wider one."""
    are_integers = all(map(pa.types.is_integer, ids))
    return max(ids, key=lambda kind: kind.bit_width) if are_integers else ids[0]


def make_rows(batches: Batches, task: Task) -> Iterator[pa.RecordBatch]:
    """Yield rows of a partition with the ranks that are made of them."""
    if (table := gather(batches)) is not None:
        rows, made, said = task.attempt(table)
        rows = rows.take(pa.array(made.index.to_numpy(np.int64)))
        n_added = len(task.names) - rows.num_columns
        types = [pa.string(), pa.float64()][-n_added:]
        added = [values for _, values in made.iloc[:, -n_added:].items()]
        yield from task.give([*rows.columns, *as_arrays(added, types)], said)


def gather(batches: Batches) -> pa.Table | None:
    """Return the rows of a partition, None where it has none."""
    held = [batch for batch in batches if batch.num_rows]
    return pa.Table.from_batches(held) if held else None


def number() -> pa.Scalar:
    """Return the number of the partition."""
    return pa.scalar(TaskContext.get().partitionId(), CELL_TYPES[PARTITION])


def in_cell(value: object) -> pa.Table:
    """Return a row that has the number of the partition, and a value in its cell."""
    row = {PARTITION: [number()], CELL: [pickle.dumps(value)]}
    return pa.table({name: pa.array(row[name], CELL_TYPES[name]) for name in row})


# What is checked when all results of a user, and all cells, have been brought together.


def finish(batches: Batches, names: list[str], users: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield results that are checked, without what was added to check them."""
    if (table := gather(batches)) is not None:
        table = table.filter(pc.is_null(table[CELL]))
        _check_whole(table, users)
        yield from table.select(names).to_batches(max_chunksize=RETURNED_ROWS)


def check_beside(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Yield nothing; raise what a partition is refused for, or all are that have nothing in common.

    That is with truth, or with exclude.
    """
    if (table := gather(batches)) is not None:
        _check_said([pickle.loads(cell) for cell in table[CELL].drop_null().to_pylist()])
    yield from ()


@public
def _check_said(parts: list[Said]) -> None:
    """Raise what a partition was refused for, or where no user or item is in common with others."""
    refused = [said for said in parts if isinstance(said, RecframeError)]
    if refused:
        raise refused[0]
    check_common([one for said in parts if not isinstance(said, RecframeError) for one in said])


@public
def _check_whole(table: pa.Table, users: list[str]) -> None:
    """Raise where results of a user come from several partitions."""
    of_users = table.group_by([*users, PARTITION]).aggregate([]).drop_null()
    counts = of_users.group_by(users).aggregate([(PARTITION, "count")])
    if of_users.num_rows > counts.num_rows:
        n_partitions = counts[f"{PARTITION}_count"]
        most = pc.index(n_partitions, pc.max(n_partitions)).as_py()
        found = [counts[user][most].as_py() for user in users]
        raise RecframeError(
            f"partitioned=True: user {quote(tuple(found) if len(found) > 1 else found[0])} has "
            f"rows in {n_partitions[most]} partitions; leave "
            "partitioned=True out to have them brought together"
        )


def join_users(parts: Sequence["pd.Index[Any]"]) -> "pd.Index[Any]":
    """Return the users of all partitions; raise where one is in several."""
    users = join_ids(parts)
    if (n_users := users.nunique()) < len(users):
        raise RecframeError(
            f"partitioned=True: {n_users} users in all, but the partitions have {len(users)} "
            "together; leave partitioned=True out to have them brought together"
        )
    return users


def find_rows(
    batches: Batches, user: Hashable, users: list[Hashable], labels: list[Hashable]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one user."""
    for batch in batches:
        is_own = is_user(as_frame(pa.table(batch), labels), user, users)
        yield batch.filter(pa.array(is_own))
