"""Files of truth and exclude, read whole, by the rules for files that are evaluated."""

import os
from collections import Counter
from contextlib import suppress
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from recframe.errors import DAMAGE, RecframeError, quote, shorten, unreadable
from recframe.files.batches import check_folder_value
from recframe.files.discovery import find_files
from recframe.files.footers import find_common_type, read_schema
from recframe.files.limits import MEMORY, check_memory
from recframe.files.source_files import SourceFile, naming_file, open_file, plain_type
from recframe.formats import convert_all
from recframe.frames.names import find_role, means_role
from recframe.other_tables import is_path, read_frame
from recframe.stores import ENVIRONMENT, Access
from recframe.stores.store import unchanged
from recframe.text_types import TextTypes


class CompanionFiles(NamedTuple):
    """The path of truth or exclude, and the access to its store."""

    path: str
    access: Access = ENVIRONMENT

    def __fspath__(self) -> str:
        """Return the path."""
        return self.path

    def find(self) -> list[SourceFile]:
        """Return the files of the path."""
        is_away = self.access.leads_away(self.path)
        return find_files(self.path, access=self.access if is_away else ENVIRONMENT)

    def read_labels(self) -> list[str]:
        """Return the columns, none if they cannot be read; reading the rows says why."""
        with suppress(pa.ArrowException, *DAMAGE):
            return list(read_schema(self.find()[0], check_memory(MEMORY)).names)
        return []

    def read_frame(self) -> pd.DataFrame:
        """Return the rows of all files; a column that a file lacks is null in its rows."""
        sources = self.find()
        are_texts = sources[0].rows is not None
        with unchanged(sources):
            tables = _read_texts(sources) if are_texts else list(map(_read_parquet, sources))
        with naming_file(self.path):
            tables = [_add_partitions(*one) for one in zip(tables, sources, strict=True)]
            paths = [source.path for source in sources]
            table = tables[0] if len(tables) == 1 else _concat_tables(tables, paths)
        try:
            return read_frame(table) if are_texts else pd.DataFrame(table.to_pandas())
        except DAMAGE as error:  # Its metadata may be damaged, or times beyond those of pandas.
            raise unreadable(self.path, f"{type(error).__name__}: {shorten(str(error))}") from error


def as_companion_files(given: Any, access: Access = ENVIRONMENT) -> Any:
    """Return truth or exclude; a path becomes its files."""
    is_plain = is_path(given) and not isinstance(given, CompanionFiles)
    return CompanionFiles(os.fspath(given), access) if is_plain else given


def _read_parquet(source: SourceFile) -> pa.Table:
    """Return the rows of a parquet file."""
    with naming_file(source.path), open_file(source, pre_buffer=True) as file:
        table: pa.Table = file.read()
        for column in table.columns:
            if plain_type(column.type) == pa.string():
                column.validate(full=True)  # Arrow reads text without a check that it is UTF-8.
        return table


def _concat_tables(tables: list[pa.Table], paths: list[str]) -> pa.Table:
    """Return the rows of tables with several types in one type for each column.

    A column that no type holds is refused if its name means a role, else its values become text.
    """
    types: dict[str, dict[str, pa.DataType]] = {}
    for table, path in zip(tables, paths, strict=True):
        for field in table.schema:
            types.setdefault(field.name, {})[path] = field.type
    several = {name: one for name, one in types.items() if len({*one.values()}) > 1}
    for name, kinds in several.items():
        # Other files have numbers in place of flags.
        numbers = {path: pa.int8() if kind == pa.bool_() else kind for path, kind in kinds.items()}
        try:
            common = find_common_type(name, numbers)
            tables = [_cast_column(table, name, common) for table in tables]
        except (RecframeError, pa.ArrowException):
            if means_role(name):
                raise
            tables = [_cast_column(table, name, pa.string()) for table in tables]
    return pa.concat_tables(tables, promote_options="default")


def _cast_column(table: pa.Table, name: str, kind: pa.DataType) -> pa.Table:
    """Return a table with a column cast to a type; values without text become their repr."""
    at = table.schema.get_field_index(name)
    if at < 0:
        return table
    column = table.column(at)
    try:
        cast = column.cast(kind)
    except pa.ArrowNotImplementedError:
        if kind != pa.string():
            raise
        cast = pa.array(list(map(repr, column.to_pylist())))
    return table.set_column(at, pa.field(name, kind), cast)


def _read_texts(sources: list[SourceFile]) -> list[pa.Table]:
    """Return the rows of each file without a footer, in types that fit the rows of all."""
    files: list[tuple[str, Any]] = [(source.path, source.rows) for source in sources]
    schemas = list[pa.Schema]()
    for path, rows in files:
        with naming_file(path):
            schemas.append(rows.read_schema())
            for name, n_columns in Counter(schemas[-1].names).items():
                if n_columns > 1:
                    raise pa.ArrowInvalid(
                        f"{n_columns} columns are named {quote(name)}. Write a header with "
                        "different names."
                    )
    names = {name for schema in schemas for name in schema.names}
    types = TextTypes(ids=[name for name in names if find_role(name) in ("user", "item")])
    batches = list[list[pa.RecordBatch]]()
    for (path, rows), schema in zip(files, schemas, strict=True):
        with naming_file(path):
            batches.append(list(rows.iter_batches(schema.names, types)))
    return [
        pa.Table.from_batches([convert_all(one, schema) for one in some], schema)
        for some, schema in zip(batches, map(types.complete, schemas), strict=True)
    ]


def _add_partitions(table: pa.Table, source: SourceFile) -> pa.Table:
    """Return rows with the columns that folders have, or the table that names the file."""
    for name, value in source.partitions.items():
        if name not in table.column_names:
            table = table.append_column(name, pa.repeat(value, len(table)))
        elif source.table_schema is None and means_role(name):
            repeated = source._replace(repeated=source.partitions)
            column = table.column(table.column_names.index(name))
            check_folder_value(name, column.combine_chunks(), repeated)
    for field in source.table_schema or ():
        if field.name not in table.column_names:  # The table got this column later.
            table = table.append_column(field, pa.nulls(len(table), field.type))
    return table
