"""Rows of Spark: their conversion to Arrow and pandas, and the shuffle by user."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that all give it
from pyspark.sql import types as kinds
from pyspark.sql.pandas.types import from_arrow_schema

from recframe.errors import RecframeError, quote, shorten
from recframe.frames.columns import Columns, Features
from recframe.frames.judgments import (
    find_parted_columns,
    load_frame,
    naming,
    read_excluded,
    read_judgments,
)
from recframe.frames.list_columns import find_list_columns
from recframe.frames.names import find_role, get_column, is_infer
from recframe.frames.words import is_time
from recframe.options import Options
from recframe.other_tables import read_column
from recframe.public_calls import public_each

# The types of a cell with one value. The zone of times does not matter for any role.
SIMPLE = {
    kinds.NullType: pa.null(),
    kinds.BooleanType: pa.bool_(),
    kinds.ByteType: pa.int8(),
    kinds.ShortType: pa.int16(),
    kinds.IntegerType: pa.int32(),
    kinds.LongType: pa.int64(),
    kinds.FloatType: pa.float32(),
    kinds.DoubleType: pa.float64(),
    kinds.DecimalType: pa.decimal128(38),
    kinds.StringType: pa.string(),
    kinds.BinaryType: pa.binary(),
    kinds.DateType: pa.date32(),
    kinds.TimestampType: pa.timestamp("us", "UTC"),
    kinds.TimestampNTZType: pa.timestamp("us"),
}
INTEGERS = [kinds.ByteType, kinds.ShortType, kinds.IntegerType, kinds.LongType]
RELEVANCE_TYPES = (kinds.NumericType, kinds.BooleanType, kinds.StringType)


class SparkRows(NamedTuple):
    """Rows with columns named by position, as labels may have any characters, and their labels.

    `attrs` are attributes of frames of these rows.
    """

    rows: Any
    labels: list[Hashable]
    attrs: Any = None

    def column(self, label: Hashable) -> Any:
        """Return the column of a label."""
        return F.col(self.rows.columns[self.labels.index(label)])

    def kind(self, label: Hashable) -> Any:
        """Return Spark's type of a column."""
        return self.rows.schema[self.labels.index(label)].dataType

    def select(self, labels: Sequence[Hashable]) -> "SparkRows":
        """Return the columns of these labels."""
        return self._replace(rows=self.rows.select(*map(self.column, labels)), labels=list(labels))

    def collect(self) -> pd.DataFrame:
        """Return all rows."""
        return as_frame(self.rows.toArrow(), self.labels, self.attrs)


Side = tuple[SparkRows, Columns]  # truth or exclude, with its roles


class Together(NamedTuple):
    """Rows with all rows of a user in one partition: a struct for the frame and each companion.

    `kinds` are the types of users in results.
    """

    rows: Any
    labels: dict[str, list[Hashable]]  # labels of columns, by struct
    kinds: list[Any]


def by_place(frame: Any, attrs: Any = None) -> SparkRows:
    """Return the rows of a Spark DataFrame, with columns named by position."""
    names = map("c{}".format, range(len(frame.columns)))
    return SparkRows(frame.toDF(*names), frame.columns, attrs)


def make_empty_frame(frame: Any, attrs: Any) -> pd.DataFrame:
    """Return a DataFrame without rows that has the columns of a Spark DataFrame, and attributes."""
    types = [(field.name, SIMPLE.get(type(field.dataType), pa.null())) for field in frame.schema]
    return as_frame(pa.schema(types).empty_table(), frame.columns, attrs)


def make_array_rows(
    frame: Any, companion: str = "", item: Hashable = None
) -> tuple[Any, dict[str, Any]]:
    """Return a Spark DataFrame whose columns of lists became rows, and attributes of its sample."""
    has_lists = any(isinstance(field.dataType, kinds.ArrayType) for field in frame.schema)
    if not has_lists or frame.isStreaming or len({*frame.columns}) < len(frame.columns):
        return frame, {}
    schema = frame.limit(0).toArrow().schema
    columns = find_list_columns(schema, companion, item)
    if columns.lists:
        types = from_arrow_schema(columns.flatten(pa.RecordBatch.from_pylist([], schema)).schema)
        frame = frame.mapInArrow(lambda rows: public_each(map(columns.flatten, rows)), types)
    return frame, columns.attrs


def check_whole(name: str, frame: Any) -> None:
    """Raise for a stream."""
    if frame.isStreaming:
        raise RecframeError(
            f"{name} must have all its rows, but is a stream. Pass each of its batches, with "
            "writeStream.foreachBatch."
        )


def check_kinds(rows: SparkRows, labels: Sequence[Hashable], vectors: Features = ()) -> None:
    """Raise if a cell of a column may have several values, unless it may be a vector."""
    for label in labels:
        kind = rows.kind(label)
        if type(kind) in SIMPLE or label in dict(vectors).values():
            continue
        raise RecframeError(
            f"the column {quote(label)} must have one value in a cell, but is Spark's "
            f"{shorten(kind.simpleString())}. Take one field of it, or make a row of each member "
            "with F.explode or F.inline."
        )


def as_frame(table: pa.Table, labels: Sequence[Hashable], attrs: Any = None) -> pd.DataFrame:
    """Return a table as a frame with these labels; integers stay exact next to nulls."""
    frame = pd.DataFrame(dict(enumerate(map(read_column, table.columns))), copy=False)
    frame.attrs = dict(attrs or {})
    return frame.set_axis(list(labels), axis=1)


def as_table(columns: Sequence[Any], types: Mapping[str, Any]) -> pa.Table:
    """Return columns in Spark's types; NaN becomes null, because Spark's means skip nulls."""
    arrays = []
    for column, kind in zip(columns, types.values(), strict=True):
        is_decimal = isinstance(kind, kinds.DecimalType)
        own = pa.decimal128(kind.precision, kind.scale) if is_decimal else SIMPLE[type(kind)]
        arrays.append(pa.Array.from_pandas(column, type=own))
    return pa.table(arrays, list(types))


def hand_over(name: str, given: Mapping[str, pd.Series], session: Any, instead: str) -> Any:
    """Return columns of pandas on Spark, or name an argument to pass instead."""
    try:
        arrays = {label: _as_array(column) for label, column in given.items()}
        return session.createDataFrame(pa.table(arrays))
    except (TypeError, ValueError, pa.ArrowException) as error:  # Spark raises subclasses of these.
        raise RecframeError(
            f"{name}: Spark cannot hold its columns ({shorten(str(error))}). Convert them, or "
            f"pass {instead}."
        ) from error


def _as_array(column: pd.Series) -> pa.Array | pa.ChunkedArray:
    """Return a column of pandas in a type that Spark has."""
    array = pa.array(column.array, from_pandas=True)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_unsigned_integer(array.type):
        array = array.cast(pa.int64())
    if pa.types.is_timestamp(array.type):
        array = array.cast(pa.timestamp("us", array.type.tz))
    return array


def open_companions(
    given: Mapping[str, Any], frame: SparkRows, columns: Columns, options: Options
) -> tuple[dict[str, Side], Options]:
    """Return truth and exclude, if any, all checked, and options with samples of them.

    Those in `given` are Spark DataFrames; the driver reads and checks others.
    """
    sides = dict[str, Side]()
    for name, read in (("truth", read_judgments), ("exclude", read_excluded)):
        if getattr(options, name) is None:
            continue
        own: dict[str, Any] = {name: load_frame(name, getattr(options, name), options)}
        options = replace(options, **own)
        with naming(name):
            roles = find_parted_columns(name, own[name], columns, options)
        if name in given:
            check_whole(name, given[name])
            rows = by_place(given[name], own[name].attrs)
        else:
            cells = {f"c{at}": get_column(own[name], one) for at, one in enumerate(roles.labels)}
            session = frame.rows.sparkSession
            handed = hand_over(name, cells, session, "a Spark DataFrame")
            rows = SparkRows(handed, roles.labels, own[name].attrs)
        check_kinds(rows, roles.labels)
        _check_alike(frame, columns, rows, roles, name)
        if name == "truth":
            _check_relevance(rows, roles, options)
        read(columns, options, is_all=name not in given)
        sides[name] = rows.select(roles.labels), roles
        own[name] = own[name][:0]
        options = replace(options, **own)
    return sides, options


def _check_alike(
    frame: SparkRows, columns: Columns, side: SparkRows, roles: Columns, name: str
) -> None:
    """Raise if ids of truth or exclude have types that never equal the ids of the frame."""
    pairs = [("user", *pair) for pair in zip(columns.users, roles.users, strict=True)]
    for role, own, label in [*pairs, ("item", columns.item, roles.item)]:
        both = frame.kind(own), side.kind(label)
        are_numbers = all(isinstance(kind, kinds.NumericType) for kind in both)
        if type(both[0]) is not type(both[1]) and not are_numbers:
            raise RecframeError(
                f"{name}: {role}: ids of different kinds are never equal; {quote(own)} of the "
                f"frame is {both[0].simpleString()}, {quote(label)} of {name} is "
                f"{both[1].simpleString()}. Convert one, for example with "
                "F.col(...).cast('string')."
            )


def _check_relevance(truth: SparkRows, roles: Columns, options: Options) -> None:
    """Raise if another column of truth may mark relevant pairs; no value is read for this."""
    if roles.relevant is not None or not is_infer(options.relevant):
        return
    for label in truth.labels:
        is_id = find_role(label) in ("user", "item") or is_time(label)
        is_verdict = isinstance(truth.kind(label), RELEVANCE_TYPES)
        if is_verdict and not is_id and label not in roles.labels:
            raise RecframeError(
                f"truth: relevant: no column found by its name, but {quote(label)} may be it. Pass "
                f"relevant={quote(label)} if it marks the relevant pairs, or relevant=None if all "
                "pairs are relevant."
            )


def bring_together(
    frame: SparkRows,
    sides: Mapping[str, Side],
    columns: Columns,
    *,
    keeps: bool,
    reads_all: bool = False,
) -> Together:
    """Return the rows of a frame and its companions, with all rows of a user in one partition.

    With `keeps`, the frame is partitioned so already, and only companions require a shuffle.
    """
    own = [label for label in frame.labels if label in columns.labels]
    tables = {"frame": (frame if reads_all else frame.select(own), columns), **sides}
    keys = [f"key{at}" for at in range(len(columns.users))]
    parts = [
        one.rows.select(
            *(_find_key(one, user).alias(key) for user, key in zip(roles.users, keys, strict=True)),
            F.struct(*one.rows.columns).alias(name),
        )
        for name, (one, roles) in tables.items()
    ]
    rows = reduce(partial(DataFrame.unionByName, allowMissingColumns=True), parts)
    if not keys:
        rows = rows.repartition(1)
    elif sides or not keeps:
        rows = rows.repartition(*keys)
    labels = {name: one.labels for name, (one, _) in tables.items()}
    # Users of truth without a row have results too.
    named = [tables[name] for name in ("frame", "truth") if name in tables]
    types = [[one.kind(user) for user in roles.users] for one, roles in named]
    return Together(rows.select(*tables), labels, list(map(_find_widest, zip(*types, strict=True))))


def _find_widest(types: Sequence[Any]) -> Any:
    """Return the widest type if all are integers, else the first."""
    are_integers = all(type(kind) in INTEGERS for kind in types)
    return max(types, key=lambda kind: INTEGERS.index(type(kind))) if are_integers else types[0]


def _find_key(rows: SparkRows, user: Hashable) -> Any:
    """Return a key that equal ids of users share, even if their types differ.

    Texts that differ only in case, spaces at the ends or zeros at the front share it too, so that
    such users of frame and truth meet in one partition, where a note names them.
    """
    if isinstance(rows.kind(user), kinds.NumericType):
        return rows.column(user).cast("double")
    text = rows.column(user).cast("string")
    return F.ltrim(F.lower(F.trim(text)), F.lit("0"))
