"""Tables of other libraries, read by Arrow's protocol: columns as pandas has them.

What pandas holds as Arrow does is not copied: numbers without nulls in one piece, and text that is
not in views.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

# Arrow's way to pandas makes floats of integers beside nulls; these dtypes keep them exact.
NULLABLE = {pa.bool_(): pd.BooleanDtype()} | {
    pa.from_numpy_dtype(name.lower()): pd.api.types.pandas_dtype(name)
    for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
}


def open_table(value: Any) -> pa.Table:
    """Return what has Arrow's protocol as a table; its columns are as they are there."""
    return value if isinstance(value, pa.Table) else pa.table(value)


def sample_of(table: pa.Table) -> pd.DataFrame:
    """Return a DataFrame without rows that has the columns of a table."""
    return read_frame(table.schema.empty_table())


def read_frame(table: pa.Table, labels: Sequence[Any] | None = None) -> pd.DataFrame:
    """Return the columns of these labels as pandas reads them; None: all."""
    names = table.column_names
    numbers = range(len(names)) if labels is None else [names.index(one) for one in labels]
    columns = {}
    for number in numbers:
        if _has_no_order(table.schema.field(number)):
            columns[number] = _read_categories(table.column(number), in_text_order=True)
        else:
            columns[number] = read_column(table.column(number))
    frame = pd.DataFrame(columns, index=pd.RangeIndex(len(table)), copy=False)
    frame.columns = pd.Index([names[number] for number in numbers])  # set_axis may copy
    return frame


def read_column(column: pa.ChunkedArray) -> Any:
    """Return a column as pandas has it; nulls round no integer."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _read_categories(column)
    if is_view(kind):
        column = column.cast(pa.large_string())
        kind = column.type
    mapper: Any = NULLABLE.get if column.null_count else None
    if pa.types.is_large_string(kind) and isinstance(dtype := text_dtype(), pd.StringDtype):
        mapper = {kind: dtype}.get
    try:
        return column.to_pandas(types_mapper=mapper)
    except pa.ArrowNotImplementedError:  # as of lists of texts in views
        return pd.Series(column.to_pylist(), dtype=object)


def text_dtype() -> Any:
    """Return the dtype in which this version of pandas holds text."""
    return pd.Series([""]).dtype


def is_view(kind: pa.DataType) -> bool:
    """Return whether a type is text in views, as Polars has it."""
    return bool(pa.types.is_string_view(kind))


def _has_no_order(field: pa.Field) -> bool:
    """Return whether a dictionary has its values as rows happen to have them, as that of Polars."""
    return any(key.startswith(b"_PL_CATEGORICAL") for key in field.metadata or {})


def _read_categories(column: pa.ChunkedArray, *, in_text_order: bool = False) -> pd.Categorical:
    """Return a dictionary as categories, those that no row has too."""
    if column.num_chunks == 0:
        column = pa.chunked_array([pa.array([], column.type)])
    encoded = column.unify_dictionaries().combine_chunks()
    values, codes, ordered = encoded.dictionary, encoded.indices, encoded.type.ordered
    if is_view(values.type):
        values = values.cast(pa.large_string())
    if values.null_count or len(values.unique()) < len(values):
        encoded = values.take(codes).dictionary_encode()
        values, codes = encoded.dictionary, encoded.indices
    if in_text_order:
        order = pc.sort_indices(values)
        values, codes = values.take(order), pc.sort_indices(order).cast(pa.int32()).take(codes)
    if codes.null_count:
        codes = codes.cast(pa.int64()).fill_null(-1)
    numbers = codes.to_numpy()
    if numbers.dtype.kind == "u":  # which pandas has none of
        numbers = numbers.astype(np.min_scalar_type(-max(1, len(values))), copy=False)
    dtype = pd.CategoricalDtype(pd.Index(read_column(pa.chunked_array([values]))), ordered)
    return pd.Categorical.from_codes(numbers, dtype=dtype, validate=False)
