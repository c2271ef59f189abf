"""Tables of other libraries, read by Arrow's protocol: columns as pandas has them.

What pandas holds as Arrow does is not copied: numbers without nulls in one piece, and text that is
not in views.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

# Arrow's way to pandas makes floats of integers beside nulls; these dtypes keep them exact.
NULLABLE = {pa.bool_(): pd.BooleanDtype()} | {
    pa.from_numpy_dtype(name.lower()): pd.api.types.pandas_dtype(name)
    for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
}
N_SAMPLED = 1 << 16  # rows in which runs of one text are looked for first

Array: TypeAlias = NDArray[Any]


def open_table(value: Any) -> pa.Table:
    """Return what has Arrow's protocol as a table; its columns are as they are there."""
    return value if isinstance(value, pa.Table) else pa.table(value)


def sample_of(table: pa.Table) -> pd.DataFrame:
    """Return a DataFrame without rows that has the columns of a table."""
    return read_frame(table.schema.empty_table())


def read_frame(
    table: pa.Table, labels: Sequence[Any] | None = None, in_runs: object = None
) -> pd.DataFrame:
    """Return the columns of these labels as pandas reads them; None: all.

    Texts of the column `in_runs` that stand in runs are categories in the order of texts, which
    `restore_texts` makes texts again.
    """
    names = table.column_names
    numbers = range(len(names)) if labels is None else [names.index(one) for one in labels]
    columns = {}
    for number in numbers:
        column, made = table.column(number), None
        if names[number] == in_runs and _is_view(column.type):
            made = _read_runs(column)
        if _has_no_order(table.schema.field(number)):
            made = _read_categories(column, in_text_order=True)
        columns[number] = read_column(column) if made is None else made
    frame = pd.DataFrame(columns, index=pd.RangeIndex(len(table)), copy=False)
    frame.columns = pd.Index([names[number] for number in numbers])  # set_axis may copy
    return frame


def read_column(column: pa.ChunkedArray) -> Any:
    """Return a column as pandas has it; nulls round no integer."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _read_categories(column)
    if _is_view(kind):
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


def restore_texts(made: pd.DataFrame, table: pa.Table, label: object) -> pd.DataFrame:
    """Return a table of users whose ids, categories made of texts, are texts again."""
    users: Any = made.index
    is_made = isinstance(users, pd.CategoricalIndex) and users.name == label
    if not is_made or pa.types.is_dictionary(table.schema.field(label).type):
        return made
    return made.set_axis(users.categories.take(users.codes).rename(users.name))


def _is_view(kind: pa.DataType) -> bool:
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
    if _is_view(values.type):
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


def _read_runs(column: pa.ChunkedArray) -> pd.Categorical | None:
    """Return texts as categories, of which only the first of each run is read; None without runs.

    Short texts stand in their views, so that these tell runs; what is long may be stored again for
    each row, and has none then.
    """
    if column.null_count or len(column) == 0:
        return None
    heads, lengths = [], []
    for chunk in column.chunks:
        if len(chunk) == 0:
            continue
        _, buffer, *data = chunk.buffers()
        views = np.frombuffer(buffer, np.uint64)[2 * chunk.offset : 2 * (chunk.offset + len(chunk))]
        for words in (views[: 2 * N_SAMPLED], views):
            begins = _find_begins(words)
            if 4 * len(begins) > len(words):
                return None
        lengths.append(np.diff(begins, append=len(chunk)))
        buffers = [None, pa.py_buffer(views.reshape(-1, 2)[begins]), *data]
        try:
            own = pa.Array.from_buffers(chunk.type, len(begins), buffers).cast(pa.large_string())
        except ValueError:  # of an old pyarrow, which takes no data beside views
            own = chunk.cast(pa.large_string()).take(pa.array(begins))
        heads.append(own)
    texts = pa.chunked_array(heads).combine_chunks().dictionary_encode()
    in_order = pc.sort_indices(texts.dictionary)
    place = np.empty(len(in_order), np.int32)
    place[in_order.to_numpy()] = np.arange(len(in_order), dtype=np.int32)
    codes = np.repeat(place[texts.indices.to_numpy()], np.concatenate(lengths))
    distinct = read_column(pa.chunked_array([texts.dictionary.take(in_order)]))
    dtype = pd.CategoricalDtype(pd.Index(distinct))
    return pd.Categorical.from_codes(codes, dtype=dtype, validate=False)


def _find_begins(views: Array) -> Array:
    """Return the rows whose view, two words each, differs from the one before; the first is one."""
    differs = (views[2:] != views[:-2]).view(np.uint16) != 0
    return np.append(0, np.flatnonzero(differs) + 1)
