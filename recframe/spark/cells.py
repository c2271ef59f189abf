"""What is said of all users: made of one cell of each partition."""

import pickle
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.calls import public
from recframe.frames.ids import as_users
from recframe.frames.tables import mean_of_sums, plain_table, sort_table, sum_and_count
from recframe.methods import MakeTable
from recframe.spark.beside import Common, check_common
from recframe.spark.tasks import CELL, PARTITION, Batches, Task, gather, in_cell, join_users
from recframe.spark.tidy import as_arrays, as_per_user, as_series, type_of


class Computed(NamedTuple):
    """What is made of a partition, and its users and what it has in common, to be checked."""

    made: pd.DataFrame
    users: "pd.Index[Any]"
    common: list[Common]


def make_partition(table: pa.Table, task: Task, *, lists_users: bool) -> Computed:
    """Return what is made of the rows of a partition, and its users where they are listed."""
    rows, made, common = task.run(table)
    if not lists_users or not task.users:
        return Computed(made, pd.Index([]), common)
    users = rows.group_by([of_frame for of_frame, *_ in task.users]).aggregate([]).drop_null()
    return Computed(made, as_users([pd.Index(as_series(ids)) for ids in users.columns]), common)


def make_of_made(parts: list[Computed], make_table: MakeTable, empty: pd.DataFrame) -> pd.DataFrame:
    """Return what is made of what is made of all partitions."""
    join_users([part.users for part in parts])
    check_common([one for part in parts for one in part.common])
    return make_table(pd.concat([part.made for part in parts]) if parts else empty)


def make_cell(batches: Batches, make: Callable[[pa.Table], Any]) -> Iterator[pa.RecordBatch]:
    """Yield what is made of the rows of a partition, in a cell."""
    if (table := gather(batches)) is not None:
        yield from in_cell(public(make)(table)).to_batches()


def make_of_cells(
    batches: Batches, make: Callable[[list[Any]], pd.DataFrame], labels: list[str]
) -> Iterator[pa.RecordBatch]:
    """Yield what is made of the cells of all partitions, in tidy form.

    A row without a cell is there in any case.
    """
    if (table := gather(batches)) is not None:
        made = plain_table(public(make)(read_cells(table)))
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
    cells = table.filter(pc.is_valid(table[CELL])).sort_by(PARTITION)[CELL]
    return [pickle.loads(cell) for cell in cells.to_pylist()]
