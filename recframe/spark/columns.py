"""Columns of Spark as Arrow and pandas have them, and truth and exclude, opened and checked."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import types as kinds

from recframe.errors import RecframeError, quote, shorten
from recframe.foreign import NULLABLE
from recframe.frames.columns import Columns
from recframe.frames.judgments import (
    find_parted_columns,
    load_frame,
    naming,
    read_excluded,
    read_judgments,
)
from recframe.frames.names import find_role, get_column, is_infer
from recframe.frames.tables import tidy_table
from recframe.frames.words import is_time
from recframe.options import Options

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
BESIDE = ("truth", "exclude")  # the options that are frames
RELEVANCE_TYPES = (kinds.NumericType, kinds.BooleanType, kinds.StringType)


def make_sample(frame: Any) -> pd.DataFrame:
    """Return a DataFrame without rows that has the columns of a Spark DataFrame."""
    columns = []
    for field in frame.schema:
        kind = SIMPLE.get(type(field.dataType))
        empty = pd.Series([], dtype=object)
        columns.append(empty if kind is None else as_series(pa.chunked_array([], kind)))
    return pd.DataFrame(dict(enumerate(columns))).set_axis(frame.columns, axis=1)


def check_whole(name: str, frame: Any) -> None:
    """Raise for a stream."""
    if frame.isStreaming:
        raise RecframeError(
            f"{name} must have all its rows, found a stream; pass each of its batches, with "
            "writeStream.foreachBatch"
        )


def check_kinds(frame: Any, columns: Columns) -> None:
    """Raise where a column in a role does not have one value in a cell."""
    for label in columns.labels:
        kind = frame.schema[label].dataType
        if type(kind) in SIMPLE:
            continue
        remedy = "take one field of it"
        if isinstance(kind, kinds.ArrayType):
            remedy = "make a row of each member, with F.explode or F.inline"
        raise RecframeError(
            f"the column {quote(label)} must have one value in a cell, found Spark's "
            f"{shorten(kind.simpleString())}; {remedy}"
        )


def as_frame(table: pa.Table, labels: Sequence[Hashable]) -> pd.DataFrame:
    """Return a table as a frame with these labels; nulls round no integer."""
    frame = pd.DataFrame(dict(enumerate(map(as_series, table.columns))), copy=False)
    return frame.set_axis(list(labels), axis=1)


def as_series(column: pa.ChunkedArray) -> pd.Series:
    """Return a column: text as Arrow has it, integers with nulls as such."""
    kind = column.type
    mapper: Any = NULLABLE.get if column.null_count else None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        mapper = {kind: pd.StringDtype("pyarrow")}.get
    return pd.Series(column.to_pandas(types_mapper=mapper))


def arrow_type(kind: Any) -> pa.DataType:
    """Return Arrow's type for a type of one value."""
    if isinstance(kind, kinds.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    return SIMPLE[type(kind)]


def as_arrays(columns: Sequence[Any], types: Sequence[pa.DataType]) -> list[pa.Array]:
    """Return columns as Arrow has them: NaN becomes null, which Spark's own means leave out."""
    pairs = zip(columns, types, strict=True)
    return [pa.Array.from_pandas(column, type=kind) for column, kind in pairs]


def as_tidy(per_user: pd.DataFrame, ids: Sequence[pa.DataType]) -> list[pa.Array]:
    """Return a per-user table as columns, those of users, whose types are given, first."""
    tidy = tidy_table(per_user)
    types = [*ids, pa.string(), *[pa.float64()] * (tidy.shape[1] - len(ids) - 1)]
    return as_arrays([column for _, column in tidy.items()], types)


def find_roles(other: str, columns: Columns, options: Options) -> Columns:
    """Return the label of each role in truth, or in exclude, where it is a frame."""
    with naming(other):
        return find_parted_columns(other, getattr(options, other), columns, options)


def open_beside(
    given: Mapping[str, Any], frame: Any, columns: Columns, options: Options
) -> tuple[dict[str, Any], Options]:
    """Return truth and exclude as Spark DataFrames, if any, and the options that go with them.

    Those in `given` are Spark's; the driver reads and checks those of pandas, or of a file.
    """
    beside = {}
    for other in BESIDE:
        if getattr(options, other) is None:
            continue
        if other in given:
            one = given[other]
        else:
            one, options = _hand_over(other, frame, columns, options)
        sample: Any = make_sample(one)
        options = replace(options, **{other: sample})
        roles = find_roles(other, columns, options)
        check_whole(other, one)
        check_kinds(one, roles)
        _check_alike(frame, columns, one, roles, other)
        if other == "truth":
            _check_said(one, roles, options)
            read_judgments(columns, options, is_all=False)
        beside[other] = one
    return beside, options


def _hand_over(other: str, frame: Any, columns: Columns, options: Options) -> tuple[Any, Options]:
    """Return truth or exclude of pandas, or of a file, on Spark; those of truth have new names."""
    table: Any = load_frame(other, getattr(options, other))
    options = replace(options, **{other: table})
    found = find_roles(other, columns, options)
    users: list[Any] = columns.users  # by which those of exclude are found, as is its item
    item: Any = columns.item
    if other == "truth":
        read_judgments(columns, options)
        users, item = [f"user{number}" for number in range(len(found.users))], "item"
        relevant = None if found.relevant is None else "relevant"
        options = replace(options, truth_user=users, truth_item=item, relevant=relevant)
    else:
        read_excluded(columns, options)
    labels = [
        *zip(users, found.users, strict=True),
        (item, found.item),
        ("relevant", found.relevant),
    ]
    given = {str(name): get_column(table, label) for name, label in labels if label is not None}
    return hand_over(other, given, frame, "a Spark DataFrame"), options


def hand_over(name: str, given: Mapping[str, pd.Series], frame: Any, instead: str) -> Any:
    """Return columns of pandas on Spark, or name an argument to pass instead."""
    try:
        arrays = {label: _as_array(column) for label, column in given.items()}
        return frame.sparkSession.createDataFrame(pa.table(arrays))
    except (TypeError, ValueError, pa.ArrowException) as error:  # and those of Spark
        raise RecframeError(
            f"{name}: Spark cannot hold its columns ({shorten(str(error))}); convert them, or "
            f"pass {instead}"
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


def _check_alike(frame: Any, columns: Columns, side: Any, roles: Columns, other: str) -> None:
    """Raise where ids of truth, or of exclude, never equal those of the frame, by their types."""
    pairs = [("user", *pair) for pair in zip(columns.users, roles.users, strict=True)]
    for role, own, label in [*pairs, ("item", columns.item, roles.item)]:
        of_frame, of_side = frame.schema[own].dataType, side.schema[label].dataType
        are_numbers = all(isinstance(kind, kinds.NumericType) for kind in (of_frame, of_side))
        if type(of_frame) is not type(of_side) and not are_numbers:
            raise RecframeError(
                f"{other}: {role}: ids of different kinds are never equal; {quote(own)} of the "
                f"frame is {of_frame.simpleString()}, {quote(label)} of {other} is "
                f"{of_side.simpleString()}; convert one, for example with F.col(...).cast('string')"
            )


def _check_said(truth: Any, roles: Columns, options: Options) -> None:
    """Raise if another column of truth may mark relevant pairs; no value is read for this."""
    if roles.relevant is not None or not is_infer(options.relevant):
        return
    for field in truth.schema:
        label, is_verdict = field.name, isinstance(field.dataType, RELEVANCE_TYPES)
        is_id = find_role(label) in ("user", "item") or is_time(label)
        if is_verdict and not is_id and label not in roles.labels:
            raise RecframeError(
                f"truth: relevant: no column found by its name, but {quote(label)} may be it; pass "
                f"relevant={quote(label)} if it marks the relevant pairs, or relevant=None if all "
                "pairs are relevant"
            )
