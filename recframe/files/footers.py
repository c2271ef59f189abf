"""Parquet files: what their footers say of columns, users and rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recframe.errors import MissingColumnError, RecframeError
from recframe.files.paths import Keys, PathLike, find_files
from recframe.frames.columns import Columns, find_columns
from recframe.options import Options

BUFFER_BYTES = 1 << 20  # without a buffer, reading any part of a row group holds all of it


class RowGroup(NamedTuple):
    """A row group, the smallest piece of a file that a plan is made of.

    Parameters
    ----------
    place : int
        Its place among all row groups in the order of files, which is that of rows.
    path : str
        Its file.
    number : int
        Its number in that file.
    n_rows : int
        Its rows.
    n_bytes : int
        Bytes of the columns used, as they are encoded.
    low : object
        No user is lower; None where the file does not say.
    high : object
        No user is higher; None where the file does not say.
    """

    place: int
    path: str
    number: int
    n_rows: int
    n_bytes: int
    low: Any
    high: Any


class Files(NamedTuple):
    """Parquet files that are evaluated as one frame.

    Parameters
    ----------
    columns : Columns
        The columns in their roles.
    sample : DataFrame
        The columns without any row; the dtypes are those the whole frame would have.
    types : dict
        Type of each column used, one for all files; the user comes first where there is one.
    keys : dict
        Path of each file, in order: values of the columns that only its folders name.
    row_groups : list of RowGroup
        All that have rows, in order.
    """

    columns: Columns
    sample: pd.DataFrame
    types: dict[str, pa.DataType]
    keys: dict[str, Keys]
    row_groups: list[RowGroup]

    @property
    def user(self) -> str | None:
        """The name of the user column in the files; None for one ranking."""
        return None if self.columns.user is None else str(self.columns.user)

    @property
    def has_text_ids(self) -> bool:
        """Whether the ids of users are text (or bytes), in the files perhaps as a dictionary."""
        if self.user is None:
            return False
        found = plain_type(self.types[self.user])
        return bool(pa.types.is_string(found) or pa.types.is_binary(found))


def open_files(paths: PathLike | Sequence[PathLike], options: Options) -> Files:
    """Return the files that paths name, as their footers describe them; no data is read."""
    keys = find_files(paths)
    first = next(iter(keys))
    # The schema alone tells which columns play which role.
    schema = _with_keys(_read_footer(first)[0], keys[first])
    columns = find_columns(schema.empty_table().to_pandas(), options)
    labels: list[Any] = [columns.user, columns.item, columns.relevant, *columns.scores]
    names = [str(label) for label in labels if label is not None]
    user = None if columns.user is None else str(columns.user)
    types: dict[str, dict[str, pa.DataType]] = {name: {} for name in names}
    groups: list[RowGroup] = []
    for path, found in keys.items():
        own, metadata = _read_footer(path)
        keys[path] = {
            name: found[name] for name in names if name in found and name not in own.names
        }
        own = _with_keys(own, keys[path])
        for name in names:
            if name not in own.names:
                raise MissingColumnError(
                    f"{name!r}: no such column in {path}; it has {', '.join(map(repr, own.names))}"
                )
            types[name][path] = own.field(name).type
        groups += _row_groups(path, metadata, names, user, keys[path])
    common = {name: _common_type(name, found) for name, found in types.items()}
    for name, found in common.items():
        if found != schema.field(name).type:
            schema = schema.set(schema.get_field_index(name), pa.field(name, found))
    groups = [group._replace(place=place) for place, group in enumerate(groups)]
    return Files(columns, schema.empty_table().to_pandas(), common, keys, groups)


def _with_keys(schema: pa.Schema, keys: Keys) -> pa.Schema:
    """Return the schema of a file with the columns that only its folders name."""
    for name, key in keys.items():
        if name not in schema.names:
            schema = schema.append(pa.field(name, key.type))
    return schema


def _read_footer(path: str) -> tuple[pa.Schema, pq.FileMetaData]:
    """Return the schema and the metadata of a file."""
    with naming_file(path), open_file(path) as file:
        return file.schema_arrow, file.metadata


def open_file(path: str, as_codes: Sequence[str] = ()) -> pq.ParquetFile:
    """Return a file opened such that reading a part of it holds that part only."""
    return pq.ParquetFile(
        path, read_dictionary=list(as_codes), buffer_size=BUFFER_BYTES, pre_buffer=False
    )


def _row_groups(
    path: str, metadata: pq.FileMetaData, names: list[str], user: str | None, keys: Keys
) -> Iterator[RowGroup]:
    """Yield the row groups of a file that have rows."""
    paths = [metadata.schema.column(place).path for place in range(metadata.num_columns)]
    places = {name: paths.index(name) for name in names if name in paths}
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        chunks = {name: group.column(place) for name, place in places.items()}
        n_bytes = sum(chunk.total_uncompressed_size for chunk in chunks.values())
        low = high = None
        if user in keys:
            low = high = keys[user].as_py()
        elif user in chunks:
            with naming_file(path):
                low, high = _bounds(chunks[user].statistics)
        if group.num_rows:
            yield RowGroup(0, path, number, group.num_rows, n_bytes, low, high)


def _bounds(statistics: pq.Statistics | None) -> tuple[Any, Any]:
    """Return values that no value is below or above, or None twice where none are known."""
    if statistics is None or not statistics.has_min_max:
        return None, None
    low, high = statistics.min, statistics.max
    # Writers should leave NaN out of statistics; where one did not, they say nothing.
    return (low, high) if low == low and high == high else (None, None)


def _common_type(name: str, types: dict[str, pa.DataType]) -> pa.DataType:
    """Return the one type that holds a column of all files, or raise where there is none."""
    first, *others = types
    common = types[first]
    for path in others:
        own = types[path]
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
        lines = str(error).splitlines()
        message = lines[0].rstrip(".") if lines else type(error).__name__
        raise RecframeError(f"cannot read {path}: {message}") from error
