"""Source files: how they are opened and checked, and facts on their columns from outside them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from recframe.errors import (
    MissingColumnError,
    RecframeError,
    first_line,
    quote,
    shorten,
    show_path,
    unreadable,
)
from recframe.files.limits import TemporaryRows
from recframe.files.trec import find_trec
from recframe.formats import PARQUET, RowSource, convert_all, find_format
from recframe.frames.names import list_numeric_names, shown
from recframe.other_tables import advise_reader
from recframe.stores.store import NOWHERE, Location, Part

# Bytes for each column; without a buffer, Arrow holds a row group to read a part of it.
LEAST_BUFFER, MOST_BUFFER = 1 << 16, 1 << 20

UNION = "pass union_by_name=True to recframe.scan to read columns that a file lacks as null"
TEXTS = (pa.string(), pa.binary())  # plain types whose values have any length
ARE_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)

PartitionValues = dict[str, pa.Scalar]  # values of all rows, such as NL in country=NL


class StagedBatch(NamedTuple):
    """Rows that were staged together; a column may have another type in other batches."""

    extent: tuple[int, int]  # start and size in the temporary file
    n_rows: int
    n_bytes: int  # in memory, without the work on rows
    text_bytes: int  # additional bytes of each row if texts are not read as codes
    low: Any  # the lowest value of the first column, None if unknown
    high: Any  # the highest


class StagedRows(NamedTuple):
    """The source of a file without a footer: its rows in a temporary file."""

    rows: TemporaryRows
    batches: list[StagedBatch]
    schema: pa.Schema  # types that fit all rows; it includes columns that are not staged

    def read(self, number: int, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield these columns of a batch, or all columns, in the types of all rows."""
        staged = self.batches[number]
        for batch in pa.ipc.open_stream(self.rows.read_part(*staged.extent)):
            yield convert_all(batch.select(list(names) or batch.schema.names), self.schema)


class SourceFile(NamedTuple):
    """A file, and facts on its columns from outside it."""

    path: str
    partitions: PartitionValues  # from the names of its folders or the log of its table
    table_schema: pa.Schema | None = None  # schema of the Delta table or dataset that names it
    rows: RowSource | None = None  # rows without a footer, until they are staged
    staged: StagedRows | None = None
    fragment: Any = None  # part of the dataset that names it, perhaps only some row groups
    condition: Any = None  # an expression of Arrow; other rows are ignored
    condition_columns: tuple[str, ...] = ()  # columns that the condition reads
    place: Location = NOWHERE  # its store, and its key there
    version: object = None  # its size and time of change when it was opened
    repeated: Mapping[str, pa.Scalar] = MappingProxyType({})  # `partitions` that the file has too

    @property
    def is_here(self) -> bool:
        """Whether the file is on this machine, so that reading takes no requests."""
        return self.place.store.is_here


def open_file(
    source: SourceFile,
    as_codes: Sequence[str] = (),
    footer: pq.FileMetaData | None = None,
    buffer: int = MOST_BUFFER,
    *,
    pre_buffer: bool = False,
) -> pq.ParquetFile:
    """Open a file so that reading a part of it holds only that part.

    Pages are compared with their checksums if the file has any: otherwise damage could pass for a
    number. This takes up to 16% of the time for such a file, and no time for others.
    """
    return pq.ParquetFile(
        source.place.open(),
        metadata=footer,
        read_dictionary=as_codes,
        buffer_size=max(LEAST_BUFFER, buffer),
        pre_buffer=pre_buffer,
        page_checksum_verification=True,
    )


def find_leaves(metadata: pq.FileMetaData, names: Collection[str]) -> dict[str, int]:
    """Return where these columns are in a footer; a list is where its members are."""
    # Each level of lists adds two names, as in "vector.list.element".
    paths = [leaf.path.rsplit(".", 2 * leaf.max_repetition_level)[0] for leaf in metadata.schema]
    return {path: at for at, path in enumerate(paths) if path in names}


def check_columns(metadata: pq.FileMetaData, size: int, names: Sequence[str]) -> None:
    """Raise if a footer's description of these columns is damaged, for a file of this size.

    Python crashes if it asks a damaged footer for columns or statistics. Arrow checks all but the
    types of statistics when it begins to read, before it asks for a byte; no byte is given here.
    """
    groups = range(metadata.num_row_groups)
    used = find_leaves(metadata, names).values()
    types = {at: metadata.schema.column(at).physical_type for at in used}
    asked: dict[int, bytes] = {}  # by offset; an error would stay alive, no bytes do not
    unread = Part(size, lambda start, _: asked.setdefault(start, b""))
    file = pq.ParquetFile(pa.PythonFile(unread, "r"), metadata=metadata, pre_buffer=True)
    try:
        next(file.reader.iter_batches(1, groups, [*types], use_threads=False), None)
    except OSError:
        if not asked:
            raise
    for row_group in map(metadata.row_group, groups):
        if any(row_group.column(at).physical_type != kind for at, kind in types.items()):
            raise OSError("its footer gives one column two types. Write it anew.")


def make_plain(schema: pa.Schema) -> pa.Schema:
    """Return a schema with plain types."""
    fields = [field.with_type(plain_type(field.type)) for field in schema]
    return pa.schema(fields, schema.metadata)


@contextmanager
def naming_file(path: str) -> Iterator[None]:
    """Turn an error in reading a file into a `RecframeError` that names the file."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError) as error:
        message = shorten(first_line(error))
        if isinstance(error, pa.ArrowInvalid):
            remedy = advise_reader(path, message) if find_format(path) == PARQUET else ""
            message = find_trec(path) or message + remedy
        raise unreadable(path, message) from error


def check_names(names: Iterable[str], schema: pa.Schema, path: str) -> None:
    """Raise if a file lacks one of these columns of another file."""
    for name in names:
        if name not in schema.names and (values := list_numeric_names(schema.names)):
            raise RecframeError(
                f"the first row of {show_path(path)} looks like values ({shown(values)}), not like "
                "names. Write a header before it."
            )
        if name not in schema.names:
            alike = [one for one in schema.names if one.casefold() == name.casefold()]
            remedy = f"rename {quote(alike[0])} in it" if alike else UNION
            raise MissingColumnError(
                f"{quote(name)}: no such column in {show_path(path)}; "
                f"it has {shown(schema.names)}; {remedy}",
                {} if alike else {"union_by_name": True},
            )


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the plain type of values: categories become their values, and all text is string."""
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    return pa.binary() if pa.types.is_large_binary(kind) else kind
