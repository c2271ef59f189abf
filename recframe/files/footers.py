"""Parquet files: their columns, users, rows and bytes, as footers describe them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recframe.errors import DAMAGE, RecframeError, count_of, quote, shorten, show_path, unreadable
from recframe.files.filters import find_row_groups
from recframe.files.row_groups import FREE, File, RowGroup, check_room, list_row_groups
from recframe.files.source_files import (
    PartitionValues,
    SourceFile,
    check_columns,
    check_names,
    make_plain,
    naming_file,
    open_file,
    plain_type,
)
from recframe.frames.columns import Columns
from recframe.frames.names import find_role, is_infer
from recframe.frames.words import may_be_score
from recframe.kernel.threads import run_ahead
from recframe.options import Options
from recframe.stores.listings import REQUESTS
from recframe.stores.store import find_version

ROW_BYTES = 64  # for the work on a row: read, joined, grouped, ranked
SCORE_BYTES = 32  # the same for each score
HEAD_ROWS = 1 << 12  # rows of a file that are searched for columns of grades
TAIL = 64 << 10  # bytes at the end of a file that are read first; most footers fit
KEPT_ENDS = 256  # files of a store whose footers are kept
KEPT_BYTES = 16 << 20  # bytes for footers that are kept
FOOTER_COPIES = 10  # A footer takes ten times its bytes in the file.
FILE_ENDS = (b"PAR1", b"PARE")  # the last bytes of a file; the second is for encrypted footers

Read = TypeVar("Read")


class Files(NamedTuple):
    """Parquet files that are evaluated as one frame."""

    columns: Columns
    users: list[str]  # the columns in the files that tell users apart; none for one ranking
    sample: pd.DataFrame  # no rows, with the dtypes of a frame of all rows
    types: dict[str, pa.DataType]  # plain types of the columns used, in the order of labels
    row_groups: list[RowGroup]  # row groups with rows, in order
    row_bytes: int  # bytes for the work on a row, without the row
    memory: int  # bytes to work in
    drop_nulls: bool  # True drops rows without a user, False refuses them.
    open_bytes: int  # the most bytes that a footer and dictionaries take in memory
    footers: dict[str, pq.FileMetaData]  # by path, while they are small; others are read again
    is_filtered: bool  # Some of the rows may not match.
    n_rows: int  # rows of the row groups, some of which may not match
    companions: Mapping[str, Any] = MappingProxyType({})  # Files of truth and exclude, by option

    @property
    def rows_in_words(self) -> str:
        """The number of rows, in words."""
        return f"{'up to ' * self.is_filtered}{count_of(self.n_rows, 'row')}"

    @property
    def paths(self) -> list[str]:
        """The files that have rows."""
        return list(dict.fromkeys(row_group.source.path for row_group in self.row_groups))

    @property
    def size(self) -> str:
        """The numbers of rows, files and row groups, in words."""
        counts = {"file": len(self.paths), "row group": len(self.row_groups)}
        said = [count_of(n, what) for what, n in counts.items()]
        return f"{self.rows_in_words} in {', '.join(said)}"


def read_schema(source: SourceFile, memory: int) -> pa.Schema:
    """Return the columns of a file; a text file has the types that its first rows show."""
    if source.rows is None:
        return _read_footer(source, memory).schema
    with naming_file(source.path):
        return _add_partition_fields(source.rows.read_schema(memory), source.partitions)


def _read_each(sources: list[SourceFile], read: Callable[[SourceFile], Read]) -> Iterator[Read]:
    """Yield the result of reading each file; files in stores are read several at a time."""
    is_here = all(one.is_here for one in sources)
    return map(read, sources) if is_here else run_ahead(read, sources, REQUESTS)


def unite(sources: list[SourceFile], memory: int) -> list[SourceFile]:
    """Return files with the columns of all; a column that a file lacks is null in its rows."""
    schemas = list(_read_each(sources, partial(read_schema, memory=memory)))
    nulls: PartitionValues = {}
    for field in chain.from_iterable(schemas):
        nulls.setdefault(field.name, pa.scalar(None, plain_type(field.type)))
    lacking = [[name for name in nulls if name not in schema.names] for schema in schemas]
    return [
        file._replace(partitions=file.partitions | {name: nulls[name] for name in names})
        for file, names in zip(sources, lacking, strict=True)
    ]


def open_files(sources: list[SourceFile], columns: Columns, options: Options, memory: int) -> Files:
    """Return files with these columns, as footers describe them; no data is read."""
    names = [str(label) for label in columns.labels]
    users = [str(label) for label in columns.users]
    row_bytes = ROW_BYTES + SCORE_BYTES * len(columns.scores)
    opened = _read_each(sources, partial(_read_footer, memory=memory, names=names))
    first = next(opened)
    types: dict[str, dict[str, pa.DataType]] = {name: {} for name in names}
    row_groups: list[RowGroup] = []
    footers: dict[str, pq.FileMetaData] = {}
    open_bytes = kept_bytes = 0
    for file in chain([first], opened):
        path, footer = file.source.path, file.metadata
        footer_bytes = 0 if footer is None else FOOTER_COPIES * footer.serialized_size
        kept_bytes += footer_bytes
        if footer is not None and (len(sources) == 1 or kept_bytes <= KEPT_BYTES):
            footers[path] = footer
        open_bytes = max(open_bytes, footer_bytes)
        for name in names:
            value = file.source.partitions.get(name)
            is_null = value is not None and not value.is_valid  # It fits any type.
            types[name][path] = pa.null() if is_null else file.schema.field(name).type
        if names and file is not first:
            _check_first_roles(file, first, options)
        with naming_file(path):
            for one in list_row_groups(file, names, users, memory, row_bytes):
                row_groups.append(one._replace(index_overall=len(row_groups)))
                open_bytes = max(open_bytes, one.open_bytes + footer_bytes)
    schema = _unite_types(first.schema, types, columns)
    return Files(
        columns=columns,
        users=users,
        sample=make_sample(schema, sources[0].path),
        types={name: plain_type(schema.field(name).type) for name in names},
        row_groups=row_groups,
        row_bytes=row_bytes,
        memory=memory,
        drop_nulls=options.missing == "drop",
        open_bytes=open_bytes,
        footers=footers,
        is_filtered=any(one.condition is not None for one in sources),
        n_rows=sum(row_group.n_rows for row_group in row_groups),
    )


def _check_first_roles(file: File, first: File, options: Options) -> None:
    """Raise if the first file lacks a column of another file that has a role by its name.

    Inferred roles must not depend on which file comes first.
    """
    for name in sorted({*file.schema.names} - {*first.schema.names}):
        role = find_role(name) or ("score" if may_be_score(name) else "")
        is_read = role != "relevant" or not options.has_truth
        if role and is_read and is_infer(getattr(options, role)):
            check_names([name], first.schema, first.source.path)


def _unite_types(
    schema: pa.Schema, types: dict[str, dict[str, pa.DataType]], columns: Columns
) -> pa.Schema:
    """Return a schema with types that hold the columns of all files; raise for lists and structs.

    `types` has the type of each column by path.
    """
    features = {str(label) for label in dict(columns.features).values()}
    for name, by_path in types.items():
        if name == columns.relevant and {pa.bool_()} < {*by_path.values()}:
            as_number = {pa.bool_(): pa.int8()}  # Other files have numbers in place of flags.
            by_path = {path: as_number.get(kind, kind) for path, kind in by_path.items()}
        if (common := find_common_type(name, by_path)) != pa.null():
            schema = schema.set(schema.get_field_index(name), pa.field(name, common))
        kind = plain_type(schema.field(name).type)
        if pa.types.is_nested(kind) and name not in features:
            raise RecframeError(
                f"{quote(name)} must have one value in a cell, but is of type "
                f"{shorten(str(kind))}. Write one value, such as one field; for lists in a frame, "
                "recframe.from_lists makes the rows."
            )
    return schema


def _read_footer(source: SourceFile, memory: int, names: Sequence[str] = ()) -> File:
    """Return a file with its footer, or raise if it lacks one of these columns."""
    indexes: Sequence[int]
    metadata: Any = None
    names = [*names, *source.condition_columns]
    with naming_file(source.path):
        if source.staged is not None:
            schema, indexes = source.staged.schema, range(len(source.staged.batches))
        else:
            source = source._replace(version=find_version(source.place))
            size, footer = _read_end(source, memory)
            opened = pq.ParquetFile(pa.BufferReader(footer))
            schema, metadata = opened.schema_arrow, opened.metadata
            indexes = range(metadata.num_row_groups)
            if wanted := {*names}.intersection(schema.names):
                check_columns(metadata, size, [*wanted])
    values, repeated = source.partitions, dict[str, pa.Scalar]()
    if source.table_schema is None:
        repeated = {name: values[name] for name in values if name in schema.names}
        values = {name: values[name] for name in values if name not in repeated}
    else:
        # Columns that a table got later are null in its older files.
        added = [field for field in source.table_schema if field.name not in schema.names]
        values = {field.name: pa.scalar(None, field.type) for field in added} | values
        schema = source.table_schema
    schema = _add_partition_fields(schema, values)
    check_names(names, schema, source.path)
    with naming_file(source.path):
        if source.fragment is not None:
            indexes = [row_group.id for row_group in source.fragment.row_groups]
        if source.condition is not None and source.staged is None:
            left = find_row_groups(source, schema, footer)
            indexes = [index for index in left if index in indexes]
    # From here on, `partitions` has only columns that are not in the file.
    return File(source._replace(partitions=values, repeated=repeated), schema, metadata, indexes)


def _add_partition_fields(schema: pa.Schema, values: PartitionValues) -> pa.Schema:
    """Return a schema with the columns that only folders have."""
    known = set(schema.names)
    added = [pa.field(name, value.type) for name, value in values.items() if name not in known]
    return pa.schema([*schema, *added], schema.metadata)


def _read_end(source: SourceFile, memory: int) -> tuple[int, bytes]:
    """Return the size of a file and its end from the footer on, which Arrow opens like a file.

    Raise if its footer would take the memory to work in.
    """
    kept = {} if source.is_here else source.place.store.ends  # Every call reads the first file.
    if source.place.key in kept:
        return kept[source.place.key]
    file = source.place.open()
    size: int = file.size()
    end = bytes(file.read_at(min(size, TAIL), max(0, size - TAIL)))
    n_bytes = int.from_bytes(end[-8:-4], "little")
    if end[-4:] not in FILE_ENDS or n_bytes + 8 > size:
        pq.ParquetFile(file)  # This raises: the file is no whole parquet file.
    least = (FOOTER_COPIES * n_bytes - FREE // 4) * 4 // 3  # Small footers are free.
    facts = f"the footer of {show_path(source.path)} has {n_bytes:,} bytes, and reading takes about"
    facts += f" {FOOTER_COPIES} times as many"
    check_room(facts, least, memory, "larger row groups")
    if n_bytes + 8 > len(end):
        end = bytes(file.read_at(n_bytes + 8, size - n_bytes - 8))
    if len(kept) < KEPT_ENDS:
        kept[source.place.key] = size, end[-n_bytes - 8 :]
    return size, end


def make_sample(schema: pa.Schema, path: str) -> pd.DataFrame:
    """Return a frame without rows for a schema, or raise if pandas cannot read the schema.

    Categories become plain values, because other rows may have other categories.
    """
    try:
        return pd.DataFrame(make_plain(schema).empty_table().to_pandas())
    except DAMAGE as error:
        # Pandas cannot read some dtypes that it writes; or its metadata are damaged.
        why = f"damaged or unknown ({type(error).__name__}: {shorten(str(error))})"
        remedy = "Write the file anew, without the index and dtypes of pandas, as pyarrow does."
        raise unreadable(path, f"its pandas metadata is {why}. {remedy}") from error


def read_head(source: SourceFile) -> pd.DataFrame:
    """Return the first rows of a file, with the values in the names of its folders."""
    said = {name: one.as_py() for name, one in source.partitions.items()}
    with naming_file(source.path), open_file(source) as file:
        head = next(file.iter_batches(HEAD_ROWS), file.schema_arrow.empty_table())
        return pd.DataFrame(head.to_pandas()).assign(**said)


def find_common_type(name: str, types: dict[str, pa.DataType]) -> pa.DataType:
    """Return the type that holds a column of all files, or raise if no type does."""
    first, common = next(iter(types.items()))
    for path, own in types.items():
        if own == common:
            continue
        own, common = plain_type(own), plain_type(common)
        try:
            for is_kind in (pa.types.is_binary, pa.types.is_decimal):
                if len({is_kind(one) for one in {own, common} - {pa.null()}}) > 1:
                    # Text and bytes are different ids; no type holds all decimals and integers.
                    raise pa.ArrowTypeError
            fields = [pa.schema([pa.field(name, kind)]) for kind in (own, common)]
            common = pa.unify_schemas(fields, promote_options="permissive").field(0).type
        except pa.ArrowTypeError as error:
            raise RecframeError(
                f"{quote(name)} has type {shorten(str(types[path]))} in {show_path(path)} but "
                f"{shorten(str(types[first]))} in {show_path(first)}. Write the files with one "
                "type."
            ) from error
    return common
