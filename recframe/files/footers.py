"""Parquet files: what their footers say of columns, users and rows."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recframe.errors import MissingColumnError, RecframeError
from recframe.files.paths import PartitionValues, PathLike, find_files
from recframe.frames.columns import Columns, find_columns
from recframe.options import Options

BUFFER = 1 << 20  # bytes; without a buffer, reading any part of a row group holds all of it


class RowGroup(NamedTuple):
    """A row group, the smallest piece of a file that a plan is made of."""

    index_overall: int  # ascends in the order of rows
    path: str
    index_in_file: int
    partitions: PartitionValues  # of the columns that only the folders of its file name
    n_rows: int
    n_bytes: int  # of the columns used, as they are encoded
    low: Any  # no user is lower; None where the file does not say
    high: Any  # none is higher


class File(NamedTuple):
    """A file as its footer and the names of its folders describe it."""

    path: str
    schema: pa.Schema  # with the columns that only folders name
    metadata: pq.FileMetaData
    partitions: PartitionValues  # of the columns that only folders name


class Files(NamedTuple):
    """Parquet files that are evaluated as one frame."""

    columns: Columns
    sample: pd.DataFrame  # of no row; the dtypes are those the whole frame would have
    types: dict[str, pa.DataType]  # plain, of each column used, in the order of the labels
    row_groups: list[RowGroup]  # all that have rows, in order
    user: str | None  # the name of the column in the files; None for one ranking
    text_user: str | None  # the same where the ids are text (or bytes), else None
    drop_nulls: bool  # rows without a user are left out; else they are refused
    unused_keys: dict[str, list[Any]]  # what folders say of no column used, if it differs

    @property
    def n_rows(self) -> int:
        """The rows of all files."""
        return sum(row_group.n_rows for row_group in self.row_groups)


def open_files(paths: PathLike | Sequence[PathLike], options: Options) -> Files:
    """Return the files that paths name, as their footers describe them; no data is read."""
    found = find_files(paths)
    # The schema alone tells which columns play which role.
    schema = _read_footer(*next(iter(found.items()))).schema
    columns = find_columns(schema.empty_table().to_pandas(), options)
    names = [str(label) for label in columns.labels]
    user = None if columns.user is None else str(columns.user)
    types: dict[str, dict[str, pa.DataType]] = {name: {} for name in names}
    row_groups: list[RowGroup] = []
    unused: dict[str, dict[Any, None]] = {}
    for file in map(_read_footer, found, found.values()):
        for name in names:
            if name not in file.schema.names:
                has = ", ".join(map(repr, file.schema.names))
                raise MissingColumnError(f"{name!r}: no such column in {file.path}; it has {has}")
            types[name][file.path] = file.schema.field(name).type
        for name, value in file.partitions.items():
            if name not in types:
                unused.setdefault(name, {})[value.as_py()] = None
        row_groups += _row_groups(file, names, user, len(row_groups))
    for name in names:
        field = pa.field(name, _common_type(name, types[name]))
        schema = schema.set(schema.get_field_index(name), field)
    sample = schema.empty_table().to_pandas()
    plain = {name: plain_type(schema.field(name).type) for name in names}
    row_groups = [row_group for row_group in row_groups if row_group.n_rows]
    text_user = user if user in plain and plain[user] in (pa.string(), pa.binary()) else None
    keys = {name: list(values) for name, values in unused.items() if len(values) > 1}
    drop_nulls = options.missing == "drop"
    return Files(columns, sample, plain, row_groups, user, text_user, drop_nulls, keys)


def _read_footer(path: str, values: PartitionValues) -> File:
    """Return a file whose folders say these values."""
    with naming_file(path), open_file(path) as opened:
        schema, metadata = opened.schema_arrow, opened.metadata
    values = {name: value for name, value in values.items() if name not in schema.names}
    for name, value in values.items():
        schema = schema.append(pa.field(name, value.type))
    return File(path, schema, metadata, values)


def open_file(path: str, as_codes: Sequence[str] = ()) -> pq.ParquetFile:
    """Return a file opened such that reading a part of it holds that part only."""
    return pq.ParquetFile(path, read_dictionary=as_codes, buffer_size=BUFFER, pre_buffer=False)


def _row_groups(file: File, names: list[str], user: str | None, n: int) -> Iterator[RowGroup]:
    """Yield the row groups of a file that comes after `n` others."""
    used = {leaf.path: at for at, leaf in enumerate(file.metadata.schema) if leaf.path in names}
    for index in range(file.metadata.num_row_groups):
        row_group = file.metadata.row_group(index)
        columns = {name: row_group.column(at) for name, at in used.items()}
        n_bytes = sum(column.total_uncompressed_size for column in columns.values())
        low = high = None
        if user in file.partitions:
            low = high = file.partitions[user].as_py()
        elif user in columns:
            with naming_file(file.path):
                low, high = _bounds(columns[user].statistics)
        n_rows = row_group.num_rows
        yield RowGroup(n + index, file.path, index, file.partitions, n_rows, n_bytes, low, high)


def _bounds(statistics: pq.Statistics | None) -> tuple[Any, Any]:
    """Return values that no value is below or above, or None twice where none are known."""
    if statistics is None or not statistics.has_min_max:
        return None, None
    low, high = statistics.min, statistics.max
    # Writers should leave NaN out of statistics; where one did not, they say nothing.
    return (low, high) if low == low and high == high else (None, None)


def _common_type(name: str, types: dict[str, pa.DataType]) -> pa.DataType:
    """Return the one type that holds a column of all files, or raise where there is none."""
    first, common = next(iter(types.items()))
    for path, own in types.items():
        if own == common:
            continue
        own, common = plain_type(own), plain_type(common)
        try:
            if pa.types.is_binary(own) != pa.types.is_binary(common):
                raise pa.ArrowTypeError  # text and bytes are not the same ids
            fields = [pa.schema([pa.field(name, found)]) for found in (own, common)]
            common = pa.unify_schemas(fields, promote_options="permissive").field(0).type
        except pa.ArrowTypeError as error:
            raise RecframeError(
                f"{name!r} has type {types[path]} in {path} but {types[first]} in {first}; "
                "write the files with one type"
            ) from error
    return common


def plain_type(found: pa.DataType) -> pa.DataType:
    """Return the type of the values of a type, text of any kind being one."""
    if pa.types.is_dictionary(found):
        return plain_type(found.value_type)
    if pa.types.is_large_string(found) or pa.types.is_string_view(found):
        return pa.string()
    return pa.binary() if pa.types.is_large_binary(found) else found


@contextmanager
def naming_file(path: str) -> Iterator[None]:
    """Raise what goes wrong in reading a file as a `RecframeError` that names the file."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        message = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
        raise RecframeError(f"cannot read {path}: {message}") from error
