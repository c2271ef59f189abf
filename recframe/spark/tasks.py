"""What Spark's workers run: functions of the Arrow batches of a partition, found there by name."""

import pickle
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from recframe.analysis.inspect import is_user
from recframe.analysis.ranks import rank_table
from recframe.calls import public
from recframe.errors import RecframeError, RepeatedPairError, quote
from recframe.frames.columns import Columns
from recframe.frames.duplicates import advise_blindly
from recframe.frames.interactions import Interactions, read_interactions
from recframe.frames.tables import mean_of_sums, sort_table, sum_and_count
from recframe.methods import Make, MakeTable
from recframe.options import Options
from recframe.spark.tidy import (
    as_arrays,
    as_frame,
    as_per_user,
    as_plain,
    as_tidy,
    type_of,
)
from recframe.spark.truth import Common, check_common, judge_part

Batches = Iterable[pa.RecordBatch]

MOST_ROWS = 1 << 16  # of a batch that is handed back
IS_TRUTH, PART, CELL = "is_truth", "part", "cell"  # columns beside those of rows and results
CELLS = {PART: pa.int32(), CELL: pa.binary()}


class Layout(NamedTuple):
    """What the columns of a partition are: names there, and the labels that they stand for.

    Where truth has any, rows of the frame and of truth are told apart by the column `IS_TRUTH`.
    The labels of `others` are of columns of the frame that are not there.
    """

    frame: dict[str, Hashable]
    truth: dict[str, Hashable]
    others: list[Hashable]

    def split(self, table: pa.Table) -> tuple[pa.Table, pd.DataFrame | None]:
        """Return the rows of the frame, and those of truth where there is one."""
        if not self.truth:
            return table.select(list(self.frame)), None
        is_truth = table[IS_TRUTH]
        truth = table.filter(is_truth).select(list(self.truth))
        rows = table.filter(pc.invert(is_truth)).select(list(self.frame))
        return rows, as_frame(truth, list(self.truth.values()))


class Task(NamedTuple):
    """What is made of the rows of every partition, and how it is handed back.

    That is by columns of these `names`; where the result `is_checked`, with those of `CELLS`.
    """

    layout: Layout
    make: Make
    columns: Columns
    options: Options
    names: list[str]
    users: list[str]
    is_checked: bool

    @public
    def run(self, table: pa.Table) -> tuple[pa.Table, pd.DataFrame, Common | None]:
        """Return rows of the frame, what is made of them, what they have in common with truth."""
        rows, truth = self.layout.split(table)
        frame, common = as_frame(rows, list(self.layout.frame.values())), None
        try:
            interactions = read_interactions(frame, self.columns, self.options)
            if truth is not None:
                interactions, common = judge_part(interactions, truth, self.columns, self.options)
            return rows, self.make(interactions, self.options), common
        except RecframeError as error:
            said = str(error)
            if isinstance(error, RepeatedPairError) and error.found:
                said = f"{error.found}; {advise_blindly(self.layout.others)}"
            n_rows = f"{len(frame):,} row{'s' * (len(frame) != 1)}"
            raise type(error)(f"in a partition of {n_rows}: {said}") from error

    def give(self, columns: list[Any], common: Common | None) -> Iterator[pa.RecordBatch]:
        """Yield a result in batches."""
        table = pa.table(columns, self.names)
        if self.is_checked:
            beside = [pa.repeat(_number(), len(table)), pa.nulls(len(table), CELLS[CELL])]
            for name, column in zip(CELLS, beside, strict=True):
                table = table.append_column(name, column)
            if common is not None:  # in a row without a user, all of which meet in one partition
                row = {PART: [_number()], CELL: [pickle.dumps(common)]}
                cells = pa.table({name: pa.array(row[name], CELLS[name]) for name in row})
                table = pa.concat_tables([table, cells], promote_options="default")
        yield from table.to_batches(max_chunksize=MOST_ROWS)


def make_users(batches: Batches, task: Task) -> Iterator[pa.RecordBatch]:
    """Yield the per-user table of a partition in tidy form."""
    if (table := gather(batches)) is not None:
        _, made, common = task.run(table)
        # Of integers of the frame and of truth the wider ones.
        ids = [table.schema.field(name).type for name in task.users] or [pa.string()]
        are_integers = all(map(pa.types.is_integer, ids))
        kind = max(ids, key=lambda kind: kind.bit_width) if are_integers else ids[0]
        yield from task.give(as_tidy(made, kind), common)


def make_rows(batches: Batches, task: Task) -> Iterator[pa.RecordBatch]:
    """Yield rows of a partition with the ranks that are made of them."""
    if (table := gather(batches)) is not None:
        rows, made, common = task.run(table)
        rows = rows.take(pa.array(made.index.to_numpy(np.int64)))
        n_added = len(task.names) - rows.num_columns
        types = [pa.string(), pa.float64()][-n_added:]
        added = [values for _, values in made.iloc[:, -n_added:].items()]
        yield from task.give([*rows.columns, *as_arrays(added, types)], common)


def rank_rows(interactions: Interactions, options: Options) -> pd.DataFrame:
    """Return the rank of every row by every score, in the columns that `top` adds."""
    ranks = rank_table(interactions, options).reset_index(drop=True)
    long = {score: ranks[score].rename("rank") for score in ranks.columns}
    return pd.DataFrame(pd.concat(long, names=["ranked_by"]).reset_index(level=0))


def gather(batches: Batches) -> pa.Table | None:
    """Return the rows of a partition, None where it has none."""
    held = [batch for batch in batches if batch.num_rows]
    return pa.Table.from_batches(held) if held else None


def _number() -> pa.Scalar:
    """Return the number of the partition."""
    return pa.scalar(TaskContext.get().partitionId(), CELLS[PART])


# What is checked when all results of a user, and all cells, have been brought together.


def finish(batches: Batches, names: list[str], user: str) -> Iterator[pa.RecordBatch]:
    """Yield results that are checked, without what was added to check them."""
    if (table := gather(batches)) is not None:
        table = table.filter(pc.is_null(table[CELL]))
        _check_whole(table, user)
        yield from table.select(names).to_batches(max_chunksize=MOST_ROWS)


def check_truth(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Yield nothing; raise where truth has no user, or no item, that any partition has."""
    table = gather(batches)
    cells = [] if table is None else table[CELL].drop_null().to_pylist()
    if cells:
        public(check_common)([pickle.loads(cell) for cell in cells])
    yield from ()


@public
def _check_whole(table: pa.Table, user: str) -> None:
    """Raise where results of a user come from several partitions."""
    parts = table.group_by([user, PART]).aggregate([])
    if parts.num_rows > pc.count_distinct(parts[user], "all").as_py():
        counts = parts.group_by(user).aggregate([(PART, "count")])
        most = pc.index(counts["part_count"], pc.max(counts["part_count"])).as_py()
        found, n_parts = counts[user][most].as_py(), counts["part_count"][most].as_py()
        raise RecframeError(
            f"partitioned=True: user {quote(found)} has rows in {n_parts} partitions; leave "
            "partitioned=True out to have them brought together"
        )


# What is said of all users is made of one cell of each partition.


def make_cell(batches: Batches, make: Callable[[pa.Table], Any]) -> Iterator[pa.RecordBatch]:
    """Yield what is made of the rows of a partition, in a cell."""
    if (table := gather(batches)) is not None:
        cell = pa.array([pickle.dumps(public(make)(table))], CELLS[CELL])
        yield pa.record_batch([pa.repeat(_number(), 1), cell], names=list(CELLS))


def make_of_cells(
    batches: Batches, make: Callable[[list[Any]], pd.DataFrame], labels: list[str]
) -> Iterator[pa.RecordBatch]:
    """Yield what is made of the cells of all partitions, in tidy form.

    A row without a cell is there in any case.
    """
    if (table := gather(batches)) is not None:
        made = as_plain(public(make)(read_cells(table)))
        columns = [made[label] if label in made else np.zeros(len(made)) for label in labels]
        arrays = as_arrays(columns, list(map(type_of, labels)))
        yield from pa.table(arrays, labels).to_batches()


def read_table(table: pa.Table, scores: list[str], metrics: list[str]) -> pd.DataFrame:
    """Return the per-user table of a partition that has it in tidy form."""
    return as_per_user(table, scores, metrics)


def read_sums(table: pa.Table, scores: list[str], metrics: list[str]) -> pd.DataFrame:
    """Return what the per-user table of a partition adds to the means."""
    return sum_and_count(as_per_user(table, scores, metrics))


def make_of_all(
    parts: list[pd.DataFrame], make_table: MakeTable, empty: pd.DataFrame
) -> pd.DataFrame:
    """Return what is made of the per-user tables of all partitions, users sorted."""
    # Sums depend on the order of what is summed: in this one they are those of pandas.
    return make_table(sort_table(pd.concat(parts)) if parts else empty)


def make_of_sums(
    parts: list[pd.DataFrame], make_table: MakeTable, empty: pd.DataFrame
) -> pd.DataFrame:
    """Return what is made of the means that sums of all partitions give."""
    return make_table(mean_of_sums(pd.concat([sum_and_count(empty), *parts])))


def read_cells(table: pa.Table) -> list[Any]:
    """Return what is in cells, in the order of the partitions that they come from."""
    cells = table.filter(pc.is_valid(table[CELL])).sort_by(PART)[CELL]
    return [pickle.loads(cell) for cell in cells.to_pylist()]


def find_rows(
    batches: Batches, user: Hashable, label: Hashable, labels: list[Hashable]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one user."""
    for batch in batches:
        is_own = is_user(as_frame(pa.table(batch), labels), user, label)
        yield batch.filter(pa.array(is_own))
