"""Columns of Polars: as Arrow and pandas have them, and of pandas as Polars has them."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
import pyarrow as pa

from recframe.errors import RecframeError, quote
from recframe.foreign import read_frame
from recframe.frames.columns import Columns
from recframe.frames.tables import tidy_columns
from recframe.options import Options


def make_sample(schema: pl.Schema) -> pd.DataFrame:
    """Return a DataFrame of pandas without rows that has the columns of a frame."""
    own: dict[str, Any] = dict(schema)
    own |= {name: pl.List(pl.Int8) for name, kind in schema.items() if kind.is_nested()}
    own |= {name: pl.String() for name, kind in schema.items() if is_foreign(kind)}
    return read_frame(pa.table(pl.DataFrame(schema=own)))


def as_polars(table: Any, schema: pl.Schema) -> pl.DataFrame:
    """Return columns of pandas as Polars has them: categories in the type of the frame's."""
    made = pl.DataFrame([_as_series(name, column) for name, column in table.items()])
    kinds = {
        name: schema[name]
        for name, column in zip(made.columns, dict(table).values(), strict=True)
        if isinstance(column.dtype, pd.CategoricalDtype) and name in schema
    }
    return made.cast(kinds)  # type: ignore[arg-type]  # by names, as it may be


def per_user_rows(per_user: pd.DataFrame, schema: pl.Schema, options: Options) -> pl.DataFrame:
    """Return a per-user table as plain columns: the users', score, and one for each metric."""
    made = as_polars(tidy_columns(per_user), schema)
    # Cells do not tell the type where there is none, and of decimals not the precision.
    names: list[Any] = [*per_user.index.names]
    kinds = {
        name: schema[name]
        for name in names
        if name in schema
        and (len(per_user) == 0 or (schema[name].is_decimal() and not options.has_truth))
    }
    # Which score it is Polars writes into each row far sooner than pandas.
    scores = pl.Series("score", per_user.columns.unique("score"))
    of_rows = scores.gather(np.tile(np.arange(len(scores)), len(per_user)))
    return made.cast(kinds).insert_column(per_user.index.nlevels, of_rows)


def _as_series(name: Any, column: Any) -> pl.Series:
    """Return a column of pandas as Polars has it; of numbers at once, without Arrow between."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf":
        return pl.Series(name, np.asarray(column), nan_to_null=True)
    made: pl.Series = pl.from_pandas(column, nan_to_null=True)
    return made.rename(name)


def collect(frame: Any, labels: list[Any] | None = None) -> pl.DataFrame:
    """Return the rows of a DataFrame or LazyFrame, of these columns or of all."""
    if isinstance(frame, pl.DataFrame):
        return frame if labels is None else frame[labels]
    if labels is not None:  # by number, as a name may look like a pattern
        names = frame.collect_schema().names()
        frame = frame.select(cs.by_index(*map(names.index, labels)))
    rows: pl.DataFrame = frame.collect()
    return rows


def read_table(frame: Any, labels: list[Any] | None) -> pa.Table:
    """Return these columns, or all that Arrow has, as Arrow has them."""
    if labels is None:
        schema = frame.collect_schema()
        labels = [name for name in schema if not is_foreign(schema[name])]
    return as_table(collect(frame, labels))


def as_frame(rows: pl.DataFrame, columns: Columns) -> pd.DataFrame:
    """Return rows as pandas reads them, of the columns in a role."""
    labels: list[Any] = columns.labels
    return read_frame(as_table(rows[labels]), labels)


def as_table(rows: pl.DataFrame) -> pa.Table:
    """Return rows as Arrow has them; raise for a column that it does not have."""
    columns, fields = [], []
    for column in rows.iter_columns():
        name, dtype = column.name, column.dtype
        if is_foreign(dtype):
            raise RecframeError(
                f"the column {quote(name)} must be of a type that Arrow has, found {dtype}; "
                f"convert it, for example with pl.col({quote(name)}).cast(pl.Int64)"
            )
        if dtype == pl.String or dtype.is_integer() or dtype.is_float():
            # In the pieces that there are, as of parquet, which a frame copies to one.
            columns.append(pa.chunked_array(column))
            fields.append(pa.field(name, columns[-1].type))
        else:
            table = pa.table(column.to_frame())  # which notes what is special of a column
            columns.append(table.column(0))
            fields.append(table.schema.field(0))
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def is_foreign(dtype: pl.DataType) -> bool:
    """Return whether Arrow has no such type: Python objects, integers of 128 bits."""
    if isinstance(dtype, pl.List | pl.Array):
        return is_foreign(dtype.inner)  # type: ignore[arg-type]  # which is made a type
    if isinstance(dtype, pl.Struct):
        return any(is_foreign(field.dtype) for field in dtype.fields)  # type: ignore[arg-type]
    return dtype == pl.Object or str(dtype).endswith("128")
