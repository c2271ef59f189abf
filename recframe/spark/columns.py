"""Columns of Spark DataFrames: their types, and what they cannot be."""

from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import types as kinds

from recframe.errors import RecframeError, quote, shorten
from recframe.frames.columns import Columns
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


def make_sample(frame: Any) -> pd.DataFrame:
    """Return a DataFrame without rows that has the columns of a Spark DataFrame."""
    columns = []
    for field in frame.schema:
        kind = SIMPLE.get(type(field.dataType))
        empty = pd.Series([], dtype=object)
        columns.append(empty if kind is None else as_series(pa.chunked_array([], kind)))
    return pd.DataFrame(dict(enumerate(columns))).set_axis(frame.columns, axis=1)


def check_kinds(frame: Any, columns: Columns) -> None:
    """Raise where a column in a role does not have one value in a cell, or decimals for floats."""
    for label in columns.labels:
        kind = next(field.dataType for field in frame.schema if field.name == label)
        if label in (*columns.scores, columns.relevant) and isinstance(kind, kinds.DecimalType):
            role = "relevant" if label == columns.relevant else "score"
            raise RecframeError(
                f"{role}={quote(label)}: must be integers or floats, found Spark's "
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


def check_order(options: Options) -> None:
    """Raise for options that Spark cannot follow, which keeps no order of rows."""
    if options.tie_rule.row_order:
        raise RecframeError(
            f"ties={options.ties!r} reads the order of rows, which Spark does not keep; "
            "pass ties='expected', 'best' or 'worst'"
        )
    if options.duplicates == "first":
        raise RecframeError(
            "duplicates='first' reads the order of rows, which Spark does not keep; pass "
            "duplicates='max' or 'keep'"
        )
    if getattr(options, "exclude", None) is not None:
        raise RecframeError(
            "exclude is not taken on Spark; leave its pairs out beforehand, with "
            "sdf.join(pairs, ['user', 'item'], 'left_anti')"
        )
