"""Parquet files: what their footers say of columns, users and rows."""

from collections.abc import Hashable, Iterator
from contextlib import nullcontext
from itertools import chain
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recframe.errors import RecframeError, quote, shorten, show_path
from recframe.files.agreement import check_as_said, common_type
from recframe.files.filters import find_row_groups
from recframe.files.found import Found, PartitionValues, plain_type
from recframe.files.opening import missing_column, naming_file, open_file
from recframe.files.row_groups import (
    File,
    RowGroup,
    fetch_headers,
    is_text,
    join,
    list_row_groups,
)
from recframe.files.sizes import FOOTER_COPIES, check_footer
from recframe.frames.columns import Columns, get_column
from recframe.options import Options
from recframe.stores.remote import REQUESTS, read_each

JOINED_SHARE = 32  # what part of the memory row groups of all files may have that are read as one
MOST_JOINED = 16 << 20  # bytes of these at most, so that threads have one each


class Files(NamedTuple):
    """Parquet files that are evaluated as one frame."""

    columns: Columns
    sample: pd.DataFrame  # of no row; the dtypes are those the whole frame would have
    types: dict[str, pa.DataType]  # plain, of each column used, in the order of the labels
    row_groups: list[RowGroup]  # all that have rows, in order
    user: str | None  # the column, or first column, of users in the files; None for one ranking
    text_users: frozenset[str]  # those of users' columns whose ids are text (or bytes)
    long_text: frozenset[str]  # the columns whose texts must not be repeated for each row
    drop_nulls: bool  # rows without a user are left out; else they are refused
    footer_bytes: int  # what the largest of their footers takes in memory
    footers: dict[str, pq.FileMetaData]  # that of the only file; of several each is read anew
    is_filtered: bool  # there are conditions on rows

    @property
    def users(self) -> list[str]:
        """The names of the columns in the files that tell users apart."""
        return [str(label) for label in self.columns.users]

    @property
    def n_rows(self) -> int:
        """The rows of all files, where they have a condition those of row groups that may match."""
        return sum(row_group.n_rows for row_group in self.row_groups)

    @property
    def has_conditions(self) -> bool:
        """Whether some of the rows may not match."""
        return any(row_group.found.condition is not None for row_group in self.row_groups)

    @property
    def rows_said(self) -> str:
        """The number of rows as a message has it."""
        return f"{'up to ' * self.has_conditions}{self.n_rows:,}"

    def sample_dtype(self, label: Hashable) -> Any:
        """Return the dtype of a column."""
        return get_column(self.sample, label).dtype


def read_sample(found: list[Found], memory: int) -> pd.DataFrame:
    """Return a frame without rows that has all columns of the first file, in their dtypes."""
    return _read_sample(read_schema(found[0], memory), found[0].path)


def open_files(found: list[Found], columns: Columns, options: Options, memory: int) -> Files:
    """Return files with these columns, as their footers describe them; no data is read."""
    names = [str(label) for label in columns.labels]
    opened = _read_footers(found, names, memory)
    first = next(opened)
    schema = first.schema
    users = [str(label) for label in columns.users]
    user = next(iter(users), None)
    types: dict[str, dict[str, pa.DataType]] = {name: {} for name in names}
    row_groups: list[RowGroup] = []
    long_text: set[str] = set()
    footer_bytes = 0
    for file in chain([first], opened):
        footer_bytes = max(footer_bytes, FOOTER_COPIES * file.metadata.serialized_size)
        for name in names:
            if name not in file.schema.names:
                raise missing_column(name, file.schema, file.found.path)
            types[name][file.found.path] = file.schema.field(name).type
            if name in file.said_too:
                check_as_said(file, name)
        with naming_file(file.found.path):
            wanted = [*names, *file.found.looked_at]
            own = list_row_groups(file, wanted, user, memory, long_text)
            # What is read as one: all files together have room for it.
            most = min(MOST_JOINED, memory // (JOINED_SHARE * len(found)))
            row_groups += join(own, len(row_groups), most)
    for name in names:
        field = pa.field(name, common_type(name, types[name]))
        schema = schema.set(schema.get_field_index(name), field)
    sample = _read_sample(schema, found[0].path)
    plain = {name: plain_type(schema.field(name).type) for name in names}
    for name, found_type in plain.items():
        if pa.types.is_nested(found_type):
            raise RecframeError(
                f"{quote(name)} has type {shorten(str(found_type))}, of several values in a cell; "
                "write one value in each, for example one field of it"
            )
    row_groups = [row_group for row_group in row_groups if row_group.n_rows]
    text_users = frozenset(name for name in users if is_text(plain[name]))
    drop_nulls = options.missing == "drop"
    of_text = frozenset(long_text)
    footers = {first.found.path: first.metadata} if len(found) == 1 else {}
    return Files(
        columns,
        sample,
        plain,
        row_groups,
        user,
        text_users,
        of_text,
        drop_nulls,
        footer_bytes,
        footers,
        any(one.condition is not None for one in found),
    )


def _read_footers(found: list[Found], names: list[str], memory: int) -> Iterator[File]:
    """Yield files that were found; of those in stores many are asked at a time."""
    n_at_once = max(1, REQUESTS // len(found))

    def read(one: Found) -> File:
        file = _read_footer(one, memory)
        with naming_file(one.path):
            fetch_headers(file, [*names, *one.looked_at], n_at_once)
        return file

    if all(one.remote is None for one in found):
        return map(read, found)
    return read_each(read, found)


def read_schema(found: Found, memory: int) -> pa.Schema:
    """Return the columns of a file that was found; of text with the types of its first rows."""
    if found.rows is None:
        return _read_footer(found, memory).schema
    with naming_file(found.path):
        schema = found.rows.read_schema()
    return _with_said(schema, found.partitions)


def _with_said(schema: pa.Schema, values: PartitionValues) -> pa.Schema:
    """Return a schema with the columns that only folders have."""
    for name, value in values.items():
        if name not in schema.names:
            schema = schema.append(pa.field(name, value.type))
    return schema


def _read_footer(found: Found, memory: int) -> File:
    """Return a file that was found."""
    path, values, table_schema = found.path, found.partitions, found.table_schema
    holding = nullcontext() if found.remote is None else found.remote.holding_footer()
    with naming_file(path), holding:
        check_footer(found, memory)
        with open_file(found) as opened:
            schema, metadata = opened.schema_arrow, opened.metadata
    if found.staged is not None:
        schema = found.staged.schema
    if table_schema is not None:
        # Columns added later are null in the files that were there before.
        added = [field for field in table_schema if field.name not in schema.names]
        values = {field.name: pa.scalar(None, field.type) for field in added} | values
        said_too, schema = {}, table_schema
    else:
        said_too = {name: value for name, value in values.items() if name in schema.names}
        schema = _with_said(schema, values)
        values = {name: value for name, value in values.items() if name not in said_too}
    for name in found.looked_at:
        if name not in schema.names:
            raise missing_column(name, schema, path)
    with naming_file(path):
        indexes = find_row_groups(found, schema, metadata.num_row_groups)
    return File(found, schema, metadata, values, said_too, indexes)


def _read_sample(schema: pa.Schema, path: str) -> pd.DataFrame:
    """Return the frame of a schema without rows, or raise where pandas does not read it."""
    try:
        return pd.DataFrame(schema.empty_table().to_pandas())
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # A dtype that pandas writes and does not read, or damage to what it has noted.
        raise RecframeError(
            f"cannot read {show_path(path)}: what it holds for pandas is damaged or not known "
            f"({type(error).__name__}: {shorten(str(error))}); write the file anew, without the "
            "index and dtypes of pandas, for example with pyarrow"
        ) from error
