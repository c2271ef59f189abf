"""Columns of Spark: their types, what they cannot be, and as Arrow and pandas have them."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import types as kinds

from recframe.errors import RecframeError, quote, shorten
from recframe.foreign import NULLABLE
from recframe.frames.columns import Columns
from recframe.frames.ids import as_users
from recframe.frames.names import find_role, is_infer, is_time
from recframe.frames.values import OF_MEAN
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
        are_numbers = all(isinstance(kind, kinds.NumericType) for kind in (of_frame, of_side))
        if type(of_frame) is not type(of_side) and not are_numbers:
            raise RecframeError(
                f"{other}: {role}: ids of different kinds are never equal; {quote(own)} of the "
                f"frame is {of_frame.simpleString()}, {quote(label)} of {other} "
                f"{of_side.simpleString()}; make them one, as with F.col(...).cast('string')"
            )


def check_said(truth: Any, roles: Columns, options: Options) -> None:
    """Raise where another column of truth may say what is relevant, which no value is read for."""
    if roles.relevant is not None or not is_infer(options.relevant):
        return
    for field in truth.schema:
        label, is_verdict = field.name, isinstance(field.dataType, RELEVANCE_TYPES)
        is_id = find_role(label) in ("user", "item") or is_time(label)
        if is_verdict and not is_id and label not in roles.labels:
            raise RecframeError(
                f"truth: relevant: no column found by its name, but {quote(label)} may be it; pass "
                f"relevant={quote(label)} if it says which pairs are relevant, or relevant=None "
                "where all are"
            )


def as_frame(table: pa.Table, labels: Sequence[Hashable]) -> pd.DataFrame:
    """Return a table as a frame with these labels; nulls round no integer."""
    frame = pd.DataFrame(dict(enumerate(map(as_series, table.columns))), copy=False)
    return frame.set_axis(pd.Index(labels, tupleize_cols=False), axis=1)


def as_series(column: pa.ChunkedArray) -> pd.Series:
    """Return a column: text as Arrow has it, integers with nulls as such."""
    kind = column.type
    mapper: Any = NULLABLE.get if column.null_count else None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        mapper = {kind: pd.StringDtype("pyarrow")}.get
    return pd.Series(column.to_pandas(types_mapper=mapper))


def as_arrays(columns: Sequence[Any], types: Sequence[pa.DataType]) -> list[pa.Array]:
    """Return columns as Arrow has them: what is NaN is null, which Spark's own means leave out."""
    pairs = zip(columns, types, strict=True)
    return [pa.Array.from_pandas(column, type=kind) for column, kind in pairs]


def as_tidy(per_user: pd.DataFrame, ids: Sequence[pa.DataType]) -> list[pa.Array]:
    """Return a per-user table as columns, those of users, whose types are given, first."""
    scores = list(per_user.columns.unique("score"))
    shape = len(per_user) * len(scores), per_user.shape[1] // len(scores)
    cells = per_user.to_numpy().reshape(shape)
    users, texts = per_user.index.repeat(len(scores)), np.tile(scores, len(per_user))
    types = [*ids, pa.string(), *[pa.float64()] * cells.shape[1]]
    levels = [users.get_level_values(level) for level in range(users.nlevels)]
    columns = [*levels, texts.astype(object), *cells.T]
    return as_arrays(columns, types)


def as_per_user(table: pa.Table, labels: "pd.Index[Any]") -> pd.DataFrame:
    """Return a per-user table with these columns, given it in tidy form in any order."""
    scores, metrics = (list(labels.unique(level)) for level in ("score", "metric"))
    *users, score = map(as_series, table.columns[: -len(metrics)])
    values = map(as_series, table.columns[-len(metrics) :])
    rows = pd.DataFrame(dict(zip(metrics, values, strict=True)))
    rows.index = as_users(list(map(pd.Index, users)))
    of_each = [rows[(score == one).to_numpy(bool)] for one in scores]
    of_each = [values.reindex(of_each[0].index) for values in of_each]
    per_user = pd.concat(of_each, axis=1, keys=scores, names=["score", "metric"])
    return pd.DataFrame(per_user, dtype=float)
