"""Columns of Spark DataFrames: their types, and what they cannot be."""

from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as kinds

from recframe.errors import RecframeError, quote, shorten
from recframe.foreign import frame_error
from recframe.frames.columns import Columns
from recframe.frames.names import has_role_name, is_infer, is_time
from recframe.frames.values import OF_MEAN
from recframe.options import Options
from recframe.spark.tidy import as_series

# What a cell of one value may be. Times have a zone that Spark tells, which no role asks for.
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


def make_sample(frame: Any) -> pd.DataFrame:
    """Return a DataFrame without rows that has the columns of a Spark DataFrame."""
    columns = []
    for field in frame.schema:
        kind = SIMPLE.get(type(field.dataType))
        empty = pd.Series([], dtype=object)
        columns.append(empty if kind is None else as_series(pa.chunked_array([], kind)))
    return pd.DataFrame(dict(enumerate(columns))).set_axis(frame.columns, axis=1)


def check_frame(frame: Any) -> None:
    """Raise for what is no Spark DataFrame, and for a stream."""
    if isinstance(frame, pd.DataFrame):
        raise RecframeError(
            "frame must be a Spark DataFrame, found pandas' own; pass spark.createDataFrame(frame)"
            ", or use frame.rec"
        )
    if not isinstance(frame, DataFrame):
        raise frame_error("frame", "a Spark DataFrame", frame)
    check_whole("frame", frame)


def check_whole(name: str, frame: Any) -> None:
    """Raise for a stream."""
    if frame.isStreaming:
        raise RecframeError(
            f"{name} must have all its rows, found a stream; pass each batch of it, with "
            "writeStream.foreachBatch"
        )


def check_kinds(frame: Any, columns: Columns) -> None:
    """Raise where a column in a role does not have one value in a cell, or decimals for floats."""
    roles = {columns.relevant: "relevant"} | dict.fromkeys(columns.scores, "score")
    roles |= {label: OF_MEAN for _, label in columns.averaged if label not in roles}
    for label in columns.labels:
        kind = frame.schema[label].dataType
        if label in roles and isinstance(kind, kinds.DecimalType):
            raise RecframeError(
                f"{roles[label]}={quote(label)}: must be integers or floats, found Spark's "
                f"{kind.simpleString()}; convert it with F.col({quote(label)}).cast('double')"
            )
        if type(kind) in SIMPLE:
            continue
        remedy = "take one field of it"
        if isinstance(kind, kinds.ArrayType):
            remedy = "make a row of each member, with F.explode or F.inline"
        raise RecframeError(
            f"the column {quote(label)} must have one value in a cell, found Spark's "
            f"{shorten(kind.simpleString())}; {remedy}"
        )


def check_alike(frame: Any, columns: Columns, side: Any, roles: Columns, other: str) -> None:
    """Raise where ids of truth, or of exclude, never equal those of the frame, by their types."""
    pairs = [("user", *pair) for pair in zip(columns.users, roles.users, strict=True)]
    for role, own, label in [*pairs, ("item", columns.item, roles.item)]:
        of_frame, of_side = frame.schema[own].dataType, side.schema[label].dataType
        if _kind(of_frame) is not _kind(of_side):
            raise RecframeError(
                f"{other}: {role}: ids of different kinds are never equal; {quote(own)} of the "
                f"frame is {of_frame.simpleString()}, {quote(label)} of {other} "
                f"{of_side.simpleString()}; make them one, as with F.col(...).cast('string')"
            )


def _kind(kind: Any) -> Any:
    """Return what ids of a type of Spark may equal others by."""
    return kinds.NumericType if isinstance(kind, kinds.NumericType) else type(kind)


def check_said(truth: Any, roles: Columns, options: Options) -> None:
    """Raise where another column of truth may say what is relevant, which no value is read for."""
    if roles.relevant is not None or not is_infer(options.relevant):
        return
    for field in truth.schema:
        label, is_verdict = field.name, isinstance(field.dataType, RELEVANCE_TYPES)
        is_id = has_role_name(label, "user") or has_role_name(label, "item") or is_time(label)
        if is_verdict and not is_id and label not in roles.labels:
            raise RecframeError(
                f"truth: relevant: no column found by its name, but {quote(label)} may be it; pass "
                f"relevant={quote(label)} if it says which pairs are relevant, or relevant=None "
                "where all are"
            )


def check_order(options: Options) -> None:
    """Raise for options that Spark cannot follow, which keeps no order of rows."""
    if options.tie_rule.row_order:
        raise RecframeError(
            f"ties={options.ties!r} reads the order of rows, which Spark does not keep; "
            "pass ties='expected', 'best', 'worst' or 'item'"
        )
    if options.duplicates == "first":
        raise RecframeError(
            "duplicates='first' reads the order of rows, which Spark does not keep; pass "
            "duplicates='max' or 'keep'"
        )
