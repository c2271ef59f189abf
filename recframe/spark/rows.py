"""Rows of Spark with their labels: the frame, and truth and exclude with their checks."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that all give it
from pyspark.sql import types as kinds
from pyspark.sql.pandas.types import from_arrow_schema

from recframe.errors import RecframeError, prefix_errors, quote, shorten
from recframe.frames.columns import Columns, Features
from recframe.frames.judgments import (
    find_partitioned_columns,
    load_frame,
    read_excluded,
    read_judgments,
)
from recframe.frames.list_columns import find_list_columns
from recframe.frames.names import find_role, get_column, is_infer
from recframe.frames.words import has_word
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
RELEVANCE_TYPES = (kinds.NumericType, kinds.BooleanType, kinds.StringType)


class SparkRows(NamedTuple):
    """Rows with columns named by position, as labels may have any characters, and their labels.

    `attrs` are attributes of frames of these rows. Workers have no `rows`, and read tables of them.
    """

    rows: Any
    labels: list[Hashable]
    attrs: Any = None

    @property
    def sample(self) -> pd.DataFrame:
        """A DataFrame without rows that has these columns; one without a simple type is null."""
        types = [(one.name, SIMPLE.get(type(one.dataType), pa.null())) for one in self.rows.schema]
        return self.read(pa.schema(types).empty_table())

    def column(self, label: Hashable) -> Any:
        """Return the column of a label."""
        return F.col(self.rows.columns[self.labels.index(label)])

    def kind(self, label: Hashable) -> Any:
        """Return Spark's type of a column."""
        return self.rows.schema[self.labels.index(label)].dataType

    def select(self, labels: Sequence[Hashable]) -> "SparkRows":
        """Return the columns of these labels."""
        return self._replace(rows=self.rows.select(*map(self.column, labels)), labels=list(labels))

    def read(self, table: pa.Table) -> pd.DataFrame:
        """Return a table of these columns as a frame; integers stay exact next to nulls."""
        frame = pd.DataFrame(dict(enumerate(map(read_column, table.columns))), copy=False)
        frame.attrs = dict(self.attrs or {})
        return frame.set_axis(self.labels, axis=1)


Side = tuple[SparkRows, Columns]  # the frame, truth or exclude, with its roles


def open_frame(frame: Any, companion: str, asked: Mapping[str, Any]) -> SparkRows:
    """Return the rows of a Spark DataFrame; columns of lists become rows."""
    if frame.isStreaming:
        raise RecframeError(
            f"{companion or 'frame'} must have all its rows, but is a stream. Pass each of its "
            "batches, with writeStream.foreachBatch."
        )
    attrs = None
    has_lists = any(isinstance(field.dataType, kinds.ArrayType) for field in frame.schema)
    if has_lists and len({*frame.columns}) == len(frame.columns):
        schema = frame.limit(0).toArrow().schema
        columns = find_list_columns(schema, companion, asked)
        attrs = columns.attrs
        if columns.lists:
            none = columns.flatten(pa.RecordBatch.from_pylist([], schema))
            types = from_arrow_schema(none.schema)
            frame = frame.mapInArrow(lambda rows: public_each(map(columns.flatten, rows)), types)
    names = map("c{}".format, range(len(frame.columns)))
    return SparkRows(frame.toDF(*names), frame.columns, attrs)


def check_kinds(rows: SparkRows, labels: Sequence[Hashable], vectors: Features = ()) -> None:
    """Raise if a cell of a column may have several values, unless it may be a vector."""
    for label in labels:
        kind = rows.kind(label)
        if type(kind) not in SIMPLE and label not in dict(vectors).values():
            raise RecframeError(
                f"the column {quote(label)} must have one value in a cell, but is Spark's "
                f"{shorten(kind.simpleString())}. Take one field of it, or make a row of each "
                "member with F.explode or F.inline."
            )


def hand_over(
    name: str, columns: Mapping[Hashable, pd.Series], session: Any, instead: str
) -> SparkRows:
    """Return columns of pandas on Spark, or name an argument to pass instead."""
    arrays = {}
    try:
        for at, column in enumerate(columns.values()):
            array = pa.array(column.array, from_pandas=True)
            if pa.types.is_dictionary(array.type):
                array = array.cast(array.type.value_type)
            if pa.types.is_unsigned_integer(array.type):  # Spark has no such type.
                array = array.cast(pa.int64())
            if pa.types.is_timestamp(array.type):  # Spark would cut nanoseconds.
                array = array.cast(pa.timestamp("us", array.type.tz))
            arrays[f"c{at}"] = array
        return SparkRows(session.createDataFrame(pa.table(arrays)), list(columns))
    except (TypeError, ValueError, pa.ArrowException) as error:  # Spark raises subclasses of these.
        raise RecframeError(
            f"{name}: Spark cannot hold its columns ({shorten(str(error))}). Convert them, or "
            f"pass {instead}."
        ) from error


def open_companions(
    given: Mapping[str, SparkRows], frame: SparkRows, columns: Columns, options: Options
) -> tuple[dict[str, Side], Options]:
    """Return truth and exclude, if any, and options with samples of them; the frame is checked too.

    Those in `given` are on Spark; the driver reads and checks others.
    """
    check_kinds(frame, columns.labels, columns.features)
    sides = dict[str, Side]()
    for name, read in (("truth", read_judgments), ("exclude", read_excluded)):
        if getattr(options, name) is None:
            continue
        source: Any = load_frame(name, getattr(options, name), options)
        options = replace(options, **{name: source})
        with prefix_errors(name):
            roles = find_partitioned_columns(name, source, columns, options)
        rows = given.get(name)
        if rows is None:
            cells = {label: get_column(source, label) for label in roles.labels}
            rows = hand_over(name, cells, frame.rows.sparkSession, "a Spark DataFrame")
        check_kinds(rows, roles.labels)
        _check_alike(name, (frame, columns), (rows, roles))
        if name == "truth":
            _check_relevance(rows, roles, options)
        read(columns, options, is_all=name not in given)
        sides[name] = rows.select(roles.labels)._replace(attrs=source.attrs), roles
        options = replace(options, **{name: source[:0]})
    return sides, options


def _check_alike(name: str, frame: Side, side: Side) -> None:
    """Raise if ids of truth or exclude have types that never equal the ids of the frame."""
    (rows, columns), (others, roles) = frame, side
    pairs = [("user", *pair) for pair in zip(columns.users, roles.users, strict=True)]
    for role, own, label in [*pairs, ("item", columns.item, roles.item)]:
        both = rows.kind(own), others.kind(label)
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
        is_id = find_role(label) in ("user", "item") or has_word(label, "time")
        is_verdict = isinstance(truth.kind(label), RELEVANCE_TYPES)
        if is_verdict and not is_id and label not in roles.labels:
            raise RecframeError(
                f"truth: relevant: no column found by its name, but {quote(label)} may be it. Pass "
                f"relevant={quote(label)} if it marks the relevant pairs, or relevant=None if all "
                "pairs are relevant."
            )
