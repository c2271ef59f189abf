"""Tables of other libraries, recognised by their types and read by Arrow's protocol.

Their libraries are not imported. Numbers without nulls in one chunk, and text of another type than
string_view, are not copied: pandas and Arrow lay them out alike.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from typing import Any, Protocol, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import is_list_like

from recframe.errors import RecframeError, quote, shorten

# Messages name the required types with these words.
ARROW = "an Arrow table (such as one of Polars or DuckDB)"
TABLE, TABLE_OR = f"a pandas DataFrame or {ARROW}", f"a pandas DataFrame, {ARROW} or "
READER = "pyarrow RecordBatchReader"
RELATION = "duckdb", "DuckDBPyRelation"  # a query, which runs at each reading
# Methods that turn tables of other libraries into DataFrames.
TO_PANDAS = ("to_pandas", "toPandas", "to_pandas_df", "to_dataframe", "df")
# Calls for types that need more than one such method; {} is the argument.
CALLS = {
    "polars LazyFrame": "{}.collect().to_pandas(), or use its .rec after import recframe.polars",
    "polars Series": "{}.to_frame().to_pandas()",
    READER: "{}.read_pandas()",
    "pyarrow FileSystemDataset": "{}.to_table().to_pandas()",
    "pyarrow InMemoryDataset": "{}.to_table().to_pandas()",
    "pandas Series": "{}.reset_index(), in which the index is columns",
    "pyspark DataFrame": "{0}.toPandas(), or recframe.spark.rec({0}) after import recframe.spark",
    "recframe ScannedRecAccessor": "options as {}(ties='worst'); it has the methods of df.rec",
    "dask DataFrame": "{}.compute(), or use its .rec after import recframe.dask",
}
READERS = {
    **dict.fromkeys(("csv", "txt"), "pd.read_csv({})"),
    "tsv": "pd.read_csv({}, sep='\\t')",
    "json": "pd.read_json({})",
    **dict.fromkeys(("jsonl", "ndjson"), "pd.read_json({}, lines=True)"),
    **dict.fromkeys(("feather", "arrow"), "pd.read_feather({})"),
    **dict.fromkeys(("xlsx", "xls"), "pd.read_excel({})"),
    **dict.fromkeys(("pickle", "pkl"), "pd.read_pickle({})"),
    "orc": "pd.read_orc({})",
    "parquet": "pd.read_parquet({})",
}
LOADED = "recframe_loaded"  # the key in `attrs` of a frame that was another table
COMPRESSED = (".gz", ".bz2", ".zip", ".xz", ".zst")
# Arrow converts integers with nulls to floats by default; these dtypes keep them exact.
NULLABLE = {pa.bool_(): pd.BooleanDtype()} | {
    pa.from_numpy_dtype(name.lower()): pd.api.types.pandas_dtype(name)
    for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
}


class ArrowStream(Protocol):
    """A table of Polars, PyArrow, DuckDB, Ibis or another library with Arrow's protocol."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as a capsule."""


PathLike = str | os.PathLike[str]
TableLike = pd.DataFrame | ArrowStream
TruthLike = TableLike | PathLike
# `scan` also takes a Dataset, a DeltaTable and a relation of DuckDB; no import defines their types.
Source = PathLike | Sequence[PathLike] | pa.RecordBatchReader
Term: TypeAlias = tuple[str, str, Any]
Filters: TypeAlias = Sequence[Term] | Sequence[Sequence[Term]] | pc.Expression


def is_sparse(value: object) -> bool:
    """Return whether a value is a sparse matrix or array of SciPy."""
    return type(value).__module__.startswith("scipy.sparse")


def is_table(name: str, value: object) -> bool:
    """Return whether an object is a table that Arrow's protocol reads.

    Objects in `CALLS` are not: their calls leave the user a choice. A reader has its rows only
    once, so it may be truth or exclude but not the frame.
    """
    known = _name_type(value)
    has_call = known in CALLS and (known != READER or name == "frame")
    return hasattr(type(value), "__arrow_c_stream__") and not has_call


def is_of_dicts(value: object) -> bool:
    """Return whether an object is a Series of dicts, such as scores of items by user."""
    return isinstance(value, pd.Series) and isinstance(next(iter(value), None), Mapping)


def is_source(value: object) -> bool:
    """Return whether an object is a source of rows that `scan` reads block by block."""
    return isinstance(value, pa.RecordBatchReader) or any(
        is_instance(value, *names)
        for names in (("pyarrow.dataset", "Dataset"), ("deltalake", "DeltaTable"), RELATION)
    )


def is_instance(value: object, module: str, name: str) -> bool:
    """Return whether an object is an instance of a class, without importing its module."""
    known = sys.modules.get(module)
    return known is not None and isinstance(value, getattr(known, name))


def _name_type(value: object) -> str:
    """Return the library and the class name of a value, such as "polars LazyFrame"."""
    kind = type(value)
    return f"{kind.__module__.partition('.')[0].lstrip('_')} {kind.__name__}"


def find_table(name: str, value: object) -> tuple[str, str]:
    """Return the type of a table in words, and a call that makes a DataFrame; ("", "") if none."""
    kind, known = type(value), _name_type(value)
    if is_of_dicts(value):
        maker = "truth_from" if name in ("truth", "exclude") else "from_runs"
        return "a pandas Series of dicts", f"recframe.{maker}({name}.to_dict())"
    method = next((one for one in TO_PANDAS if hasattr(kind, one)), None)
    call = CALLS.get(known, f"{{}}.{method}()" if method else "")
    if name != "frame":  # an accessor of another engine is no remedy for truth and exclude
        call = call.partition(", or ")[0]
    article = "an" if known[0] in "aeioux" else "a"
    return (f"{article} {known}", call.format(name)) if call else ("", "")


def find_call(name: str, value: object) -> str:
    """Return a call that makes a frame from an object, "" if none is known."""
    if isinstance(value, str | os.PathLike):
        return find_reader(value, name)
    is_truth = name in ("truth", "exclude")
    columns = ["user", "item"] if is_truth else ["user", "item", "score"]
    lists = f"recframe.{'truth_from' if is_truth else 'from_lists'}"
    if is_sparse(value):
        of_scores = f"recframe.from_matrix({name}.toarray()) where its cells are scores"
        return f"recframe.truth_from({name})" if is_truth else of_scores
    if isinstance(value, Mapping):
        if not is_truth and any(isinstance(one, Mapping) for one in value.values()):
            return f"recframe.from_runs({name}) where it holds scores of items by user"
        frame = f"pd.DataFrame({name}) where its keys are columns"
        return f"{lists}({name}) where its keys are users, or {frame}"
    if getattr(value, "ndim", 0) == 2:  # an array or a tensor
        calls = [f"recframe.from_{kind}({name})" for kind in ("matrix", "topk")]
        matrix = f"{calls[0]} where its cells are scores, {calls[1]} where they are items, or "
        if is_truth:
            matrix = f"recframe.truth_from(scipy.sparse.csr_array({name})) where its cells are "
            matrix += "relevance, or "
        return f"{matrix}pd.DataFrame({name}, columns={columns}) where its columns are these"
    member = next(iter(value), None) if isinstance(value, list | tuple | Set) else None
    if isinstance(member, Mapping):
        return f"pd.DataFrame({name})"
    if isinstance(member, tuple):
        rows = name if isinstance(value, list) else f"list({name})"
        return f"pd.DataFrame({rows}, columns={columns}) where its members are these"
    if isinstance(member, list | Set):
        return f"{lists}(dict(zip(users, {name}))) where each member has the items of a user"
    return ""


def find_reader(path: PathLike, name: str) -> str:
    """Return the call of pandas that reads a file with this ending, "" if none is known."""
    ending = os.fsdecode(path).lower()
    for compressed in COMPRESSED:
        ending = ending.removesuffix(compressed)
    call = READERS.get(ending.rpartition(".")[2], "").format(name)
    with suppress(OSError, ValueError), open(path, "rb") as file:  # noqa: PTH123 - bytes too
        json.loads(next(file, b""))
        # The first line is valid JSON by itself; if another follows, these are JSON lines.
        if next(file, b"").strip() and call.startswith("pd.read_json("):
            return f"{call[:-1]}, lines=True)"
    return call


def advise_reader(path: PathLike, reason: str) -> str:
    """Return the remedy for a file that cannot be read as parquet, "" if none is known.

    The `reason` is the message of Arrow.
    """
    call = find_reader(path, quote(path))
    if call and not call.startswith("pd.read_parquet"):
        return f". Pass {call}, or write it as parquet."
    if "magic bytes" in reason:
        endings = "in .csv, .tsv (for tabs) or .jsonl, and one of Arrow in .arrow"
        return f". A text file must end {endings}: rename it."
    return ""


def is_path(path: object) -> bool:
    """Return whether a value is a path; nothing needs to exist there."""
    return isinstance(path, str | os.PathLike) and isinstance(os.fspath(path), str)


def frame_error(name: str, required: str, value: object) -> RecframeError:
    """Return the error for an object that is no frame, with a call that makes one."""
    table, call = find_table(name, value)
    call = call or find_call(name, value)
    remedy = f". Pass {call}." if call else ""
    return RecframeError(f"{name} must be {required}, but is {table or quote(value)}{remedy}")


def load_table(name: str, required: str, value: Any) -> pa.Table:
    """Return a table of another library as an Arrow table; raise for any other object."""
    if not is_table(name, value):
        raise frame_error(name, required, value)
    try:
        table = value if isinstance(value, pa.Table) else pa.table(value)
        return table.rename_columns(table.column_names)  # raises if a name is not UTF-8
    except Exception as error:  # a query may fail with any exception of its library
        shown = find_table(name, value)[0] or quote(value)
        reason = shorten(str(error).partition("\n")[0])
        raise RecframeError(f"{name}: cannot read {shown}: {reason}") from error


def load_companion(name: str, value: Any) -> Any:
    """Return truth or exclude: None and paths as they are, every table as a DataFrame."""
    if isinstance(value, pd.DataFrame):
        return read_views(value)
    if value is None or is_path(value):
        return value
    is_series = isinstance(value, pd.Series) and not is_of_dicts(value)
    if is_series and is_list_like(next(iter(value), None)):
        frame = value.to_frame("item" if value.name is None else value.name)
        return frame.rename_axis("user") if frame.index.names == [None] else frame
    # A query runs only once, and a reader has its rows only once.
    frame = read_frame(load_table(name, f"{TABLE_OR}the path of a file", value))
    frame.attrs[LOADED] = True
    return frame


def read_frame(table: pa.Table, labels: Sequence[Any] | None = None) -> pd.DataFrame:
    """Return the columns with these labels as a DataFrame; None: all."""
    if labels is not None:
        table = table.select([table.column_names.index(one) for one in labels])
    columns = []
    for field, column in zip(table.schema, table.columns, strict=True):
        try:  # Arrow itself does not check that text is UTF-8
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            raise RecframeError(f"the column {quote(field.name)}: {error}") from error
        # Polars orders the values of a dictionary by their first rows, which is arbitrary.
        if any(key.startswith(b"_PL_CATEGORICAL") for key in field.metadata or ()):
            columns.append(_read_categories(column, in_text_order=True))
        else:
            columns.append(read_column(column))
    index = pd.RangeIndex(len(table))
    frame = pd.DataFrame(dict(enumerate(columns)), index=index, copy=False)
    frame.columns = pd.Index(table.column_names)  # set_axis may copy
    return frame


def read_column(column: pa.ChunkedArray) -> Any:
    """Return a column as a pandas array; integers with nulls stay exact."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _read_categories(column)
    if "string_view" in str(kind):  # the type that Polars exports
        return read_column(column.cast(_without_views(kind)))
    mapper: Any = NULLABLE.get if column.null_count else None
    text = pd.Series([""]).dtype  # this version's dtype for text
    if pa.types.is_large_string(kind) and isinstance(text, pd.StringDtype):
        mapper = {kind: text}.get
    if hasattr(kind, "value_type"):  # Lists stay Arrow's.
        return pd.Series(pd.arrays.ArrowExtensionArray(column))
    return column.to_pandas(types_mapper=mapper)


def _without_views(kind: pa.DataType) -> pa.DataType:
    """Return a type without string_view, because Arrow takes no rows of it."""
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_without_views(field.type)) for field in kind])
    if pa.types.is_nested(kind) and hasattr(kind, "value_type"):
        return pa.large_list(_without_views(kind.value_type))
    return pa.large_string() if pa.types.is_string_view(kind) else kind


def _is_view(dtype: Any) -> bool:
    """Return whether a dtype is Arrow's string_view."""
    return isinstance(dtype, pd.ArrowDtype) and pa.types.is_string_view(dtype.pyarrow_dtype)


def read_views(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame without string_view columns, from which pandas cannot take rows."""
    # A subclass may raise when it is asked for its columns.
    dtypes = (frame if type(frame) is pd.DataFrame else pd.DataFrame(frame)).dtypes.array
    views = [at for at, dtype in enumerate(dtypes) if _is_view(dtype)]
    frame = frame.copy(deep=False) if views else frame
    for at in views:
        frame.isetitem(at, read_column(frame.iloc[:, at].array.__arrow_array__()).array)
    if _is_view(frame.index.dtype):
        frame = frame.set_axis(frame.index.astype(pd.Series([""]).dtype))
    return frame


def _read_categories(column: pa.ChunkedArray, *, in_text_order: bool = False) -> pd.Categorical:
    """Return a dictionary column as a Categorical; unused categories stay."""
    encoded = column.unify_dictionaries().combine_chunks()
    values, codes, ordered = encoded.dictionary, encoded.indices, encoded.type.ordered
    if pa.types.is_string_view(values.type):
        values = values.cast(pa.large_string())
    if values.null_count or len(values.unique()) < len(values):
        encoded = values.take(codes).dictionary_encode()
        values, codes = encoded.dictionary, encoded.indices
    if in_text_order:
        order = pc.sort_indices(values)
        values, codes = values.take(order), pc.sort_indices(order).cast(pa.int32()).take(codes)
    # Codes of pandas are signed, and -1 for null.
    signed = pa.from_numpy_dtype(np.min_scalar_type(-max(1, len(values))))
    numbers = codes.cast(signed).fill_null(-1).to_numpy()
    dtype = pd.CategoricalDtype(pd.Index(read_column(pa.chunked_array([values]))), ordered)
    return pd.Categorical.from_codes(numbers, dtype=dtype, validate=False)
