"""Results on Spark: workers evaluate partitions, and tables are made of their results."""

import pickle
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import Any

import pandas as pd
import pyarrow as pa
from pandas.api.types import is_numeric_dtype
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that all give it
from pyspark.sql import types as kinds

from recframe.analysis.compare import plain_with_undefined
from recframe.analysis.segments import UserValues
from recframe.errors import RecframeError, count_of, quote, say_where
from recframe.frames.companions import BlockResult, Blocks
from recframe.frames.tables import tidy_table
from recframe.partitions import check_promise, make_empty
from recframe.public_calls import public
from recframe.spark.rows import SIMPLE, Side, SparkRows, check_kinds, hand_over

RETURNED_ROWS = 1 << 16  # rows of a batch
CELL = "cell"  # the column of pickled results


def map_rows(rows: Any, make: Callable[[pa.Table], pa.Table], schema: Any) -> Any:
    """Return the results of every partition that has rows, in columns of Spark's schema."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if filled := [batch for batch in batches if batch.num_rows]:
            made = public(make)(pa.Table.from_batches(filled))
            yield from made.to_batches(max_chunksize=RETURNED_ROWS)

    return rows.mapInArrow(run, schema)


def bring_together(
    tables: Mapping[str, Side], read: Callable[..., BlockResult], *, keeps: bool
) -> tuple[Any, Callable[[pa.Table], BlockResult]]:
    """Return rows with a struct for each table, and the function that reads a partition of them.

    All rows of a user are in one partition. With `keeps`, the frame is partitioned so already, and
    only companions require a shuffle.
    """
    columns = tables["frame"][1]
    keys: list[Any] = [f"key{at}" for at in range(len(columns.users))]
    parts = [
        one.rows.select(
            *(_find_key(one, user).alias(key) for user, key in zip(roles.users, keys, strict=True)),
            F.struct("*").alias(name),
        )
        for name, (one, roles) in tables.items()
    ]
    rows = reduce(partial(DataFrame.unionByName, allowMissingColumns=True), parts)
    if not keys or len(tables) > 1 or not keeps:
        rows = rows.repartition(*(keys or [1]))
    named = {name: one._replace(rows=None) for name, (one, _) in tables.items()}

    def read_table(table: pa.Table) -> BlockResult:
        frames = {name: one.read(find_rows(table, name)) for name, one in named.items()}
        frame = frames.pop("frame")
        try:
            return read(frame, **frames)
        except RecframeError as error:
            say_where(f"in a partition of {count_of(len(frame), 'row')}: ", error)
            raise

    return rows.select(*tables), read_table


def _find_key(rows: SparkRows, user: Hashable) -> Any:
    """Return a key that equal ids of users share, even if their types differ.

    Texts that are equal once `simplify_text` has made them simple share it too.
    """
    if isinstance(rows.kind(user), kinds.NumericType):
        return rows.column(user).cast("double")
    text = rows.column(user).cast("string")
    return F.regexp_replace(F.ltrim(F.lower(F.trim(text)), F.lit("0")), r"\.0$", "")


def find_rows(table: pa.Table, name: str) -> pa.Table:
    """Return the rows of the frame, or of a companion, in a partition."""
    return pa.Table.from_struct_array(table[name].drop_null())


def find_user_types(tables: Mapping[str, Side]) -> list[Any]:
    """Return the types of users in results; truth may widen integers."""
    frame, columns = tables["frame"]
    truth, roles = tables.get("truth", tables["frame"])
    users = frame.select(columns.users).rows
    both = zip(users.schema, users.union(truth.select(roles.users).rows).schema, strict=True)
    types = [(own.dataType, wide.dataType) for own, wide in both]
    return [wide if isinstance(wide, kinds.IntegralType) else own for own, wide in types]


def as_table(frame: pd.DataFrame, schema: Any) -> pa.Table:
    """Return a frame in Spark's schema; NaN becomes null, because Spark's means skip nulls."""
    arrays = []
    for (_, column), kind in zip(frame.items(), [one.dataType for one in schema], strict=True):
        is_decimal = isinstance(kind, kinds.DecimalType)
        own = pa.decimal128(kind.precision, kind.scale) if is_decimal else SIMPLE[type(kind)]
        arrays.append(pa.Array.from_pandas(column, type=own))
    return pa.table(arrays, schema.names)


# Tables of all users, made by the driver.


def collect_results(
    tables: Mapping[str, Side], read: Callable[..., BlockResult], *, keeps: bool
) -> Sequence[BlockResult]:
    """Return the results for every partition, computed now."""
    rows, read_table = bring_together(tables, read, keeps=keeps)

    def read_in_cell(table: pa.Table) -> pa.Table:
        try:
            return put_in_cell(read_table(table))
        except RecframeError as error:
            return put_in_cell(error)

    return open_cells(map_rows(rows, read_in_cell, f"{CELL} binary").toArrow())


def put_in_cell(value: BlockResult | RecframeError) -> pa.Table:
    """Return a table of one row, which has a value in its cell."""
    return pa.table({CELL: pa.array([pickle.dumps(value)], pa.binary())})


def open_cells(table: pa.Table) -> Sequence[BlockResult]:
    """Return the results in cells, or raise the refusal of a partition or of all partitions."""
    values = [pickle.loads(cell) for cell in table[CELL].drop_null().to_pylist()]
    for error in (value for value in values if isinstance(value, RecframeError)):
        raise error
    return check_promise(values)


def put_on_spark(table: pd.DataFrame, tables: Mapping[str, Side], by: Sequence[UserValues]) -> Any:
    """Return a table of all users as plain columns on Spark.

    Segments have the types of columns, or of values by user.
    """
    plain, (frame, columns) = plain_with_undefined(table), tables["frame"]
    labels, session, types = list(map(str, plain)), frame.rows.sparkSession, list[Any]()
    check_free_names(labels[: len(by)], labels[len(by) :], "by=")
    of_users = dict(zip(columns.users, find_user_types(tables), strict=True))
    for one in by:
        if one.series is not None:
            given = hand_over("by", {one.label: one.series}, session, "the label of a column")
            check_kinds(given, [one.label])
            types.append(given.kind(one.label))
        else:
            types.append(of_users.get(one.column) or frame.kind(one.column))
    for label, dtype in zip(labels[len(by) :], plain.dtypes.iloc[len(by) :], strict=True):
        is_whole = label == "k" or label.startswith("n_")
        number = kinds.LongType() if is_whole else kinds.DoubleType()
        types.append(number if is_numeric_dtype(dtype) else kinds.StringType())
    schema = kinds.StructType(list(map(kinds.StructField, labels, types)))
    return session.createDataFrame(as_table(plain, schema), schema)


def check_free_names(own: Iterable[Any], added: Iterable[str], prefix: str) -> None:
    """Raise if a column has the name of a column that results add; Spark ignores case."""
    names = {label.casefold() for label in added}
    for label in own:
        if label.casefold() in names:
            raise RecframeError(f"{prefix}{quote(label)} has a name that results use. Rename it.")


# Tables with a row for each user or row, computed lazily.


def make_results(blocks: Blocks, tables: Mapping[str, Side], *, reads_all: bool) -> Any:
    """Return the results of all partitions: ranked rows if `reads_all`, else tidy tables.

    If only all partitions together show whether they are right, they are checked when computed.
    """
    frame, columns = tables["frame"]
    if reads_all:
        labels, types = frame.labels, [field.dataType for field in frame.rows.schema]
        texts, numbers = ["ranked_by"] * (len(columns.scores) > 1), ["rank"]
    else:
        labels, types = columns.users or ["user"], find_user_types(tables) or [kinds.StringType()]
        texts, numbers = ["score"], list(make_empty(blocks).columns.unique("metric"))
    check_free_names(labels, [*texts, *numbers], "the column ")
    types = [*types, *[kinds.StringType()] * len(texts), *[kinds.DoubleType()] * len(numbers)]
    schema = kinds.StructType([kinds.StructField(f"r{at}", one) for at, one in enumerate(types)])
    rows, read = bring_together(tables, blocks.read, keeps=blocks.lists_users)

    def finish(table: pa.Table, made: pd.DataFrame) -> pa.Table:
        if not reads_all:
            return as_table(tidy_table(made), schema)
        own = find_rows(table, "frame").take(pa.array(made.index, pa.int64()))
        added = kinds.StructType(schema.fields[own.num_columns :])
        ranks = as_table(made.iloc[:, -len(added) :], added)
        return pa.table([*own.columns, *ranks.columns], schema.names)

    def make_checked(table: pa.Table) -> pa.Table:
        try:
            result = read(table)
            cell = put_in_cell(result._replace(made=None))
        except RecframeError as error:
            # The stage that checks all partitions raises it: if two stages fail at once, Spark's
            # message fills pages.
            table, cell = table.slice(0, 0), put_in_cell(error)
            result = read(table)
        # Cells are in rows without a user, which all meet in one partition.
        return pa.concat_tables([finish(table, result.made), cell], promote_options="default")

    def check_cells(table: pa.Table) -> pa.Table:
        list(blocks.iter_tables(open_cells(table)))
        return table.slice(0, 0).drop([CELL])

    def drop_cells(table: pa.Table) -> pa.Table:
        return table.filter(table[CELL].is_null()).drop([CELL])

    if columns.user is None or (len(tables) == 1 and not blocks.lists_users):
        made = map_rows(rows, lambda table: finish(table, read(table).made), schema)
    else:
        rows = map_rows(rows, make_checked, kinds.StructType([*schema]).add(CELL, "binary"))
        # Both reads share this shuffle. The check comes first: a refused result shows no rows.
        rows = rows.repartition(*(schema.names[labels.index(user)] for user in columns.users))
        made = map_rows(rows, check_cells, schema).union(map_rows(rows, drop_cells, schema))
    return made.toDF(*labels, *texts, *numbers)
