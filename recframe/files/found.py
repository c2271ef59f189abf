"""Files that were found: opened and checked, with facts on their columns from beside them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from recframe.errors import MissingColumnError, RecframeError, quote, shorten, show_path
from recframe.files.trec import find_trec
from recframe.formats import PARQUET, Rows, convert_all, find_format
from recframe.frames.names import shown
from recframe.other_tables import find_reader
from recframe.stores.store import NOWHERE, Part, Place

# Bytes for each column; without, reading a part of a row group holds all of it.
LEAST_BUFFER, MOST_BUFFER = 1 << 16, 1 << 20

UNION = "pass union_by_name=True to recframe.scan to read columns that a file lacks as null"
TEXTS = (pa.string(), pa.binary())  # plain types of values of any length

PartitionValues = dict[str, pa.Scalar]  # of all rows of a file, as its folder country=NL says


class Piece(NamedTuple):
    """Rows that were written down together, each column in the type that it has in them."""

    start: int  # where they are in the temporary file
    size: int  # bytes there
    n_rows: int
    sizes: dict[str, int]  # bytes of each column in memory
    low: Any  # the lowest value of the first column, None where it is not known
    high: Any  # the highest
    longest: dict[str, int]  # bytes of the longest text of each column


class Staged(NamedTuple):
    """The source of a file without a footer: its rows in a temporary file."""

    file: pa.NativeFile
    pieces: list[Piece]
    schema: pa.Schema  # the types of all rows, with the columns that are not in it

    def read(self, number: int, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield these columns of the rows of a piece, or all, in the types of all rows."""
        piece = self.pieces[number]
        for batch in pa.ipc.open_stream(self.file.read_at(piece.size, piece.start)):
            yield convert_all(batch.select(list(names) or batch.schema.names), self.schema)


class Found(NamedTuple):
    """A file, and facts on its columns from beside it."""

    path: str
    partitions: PartitionValues  # that its folders or the log of its table say, or null
    table_schema: pa.Schema | None = None  # of the Delta table or dataset that names it
    rows: Rows | None = None  # where no footer describes them, until they are staged
    staged: Staged | None = None
    fragment: Any = None  # of the dataset that names it, which may mean some row groups only
    condition: Any = None  # an expression of Arrow; rows of others are as if they were not there
    looked_at: tuple[str, ...] = ()  # the columns that it reads
    place: Place = NOWHERE  # where it is
    version: object = None  # its size and time of change when it was opened

    @property
    def is_here(self) -> bool:
        """Whether to read it takes no requests."""
        return self.place.store.is_here


class RowGroup(NamedTuple):
    """A row group, the smallest piece of a file that a plan is made of."""

    index_overall: int  # ascends in the order of rows
    found: Found  # the file it is in
    number: int  # in the file
    n_rows: int
    n_bytes: int  # of the columns used, as they are held
    coded: tuple[str, ...]  # the columns of texts that are read as codes
    low: Any  # no user is lower; None where the file does not say
    high: Any  # none is higher
    fetched_bytes: int = 0  # of the columns used, as they are in the file
    text_bytes: int = 0  # more of each row where texts are held as they are, not as codes
    open_bytes: int = 0  # of large dictionaries, while it is read

    def may_have(self, user: Any) -> bool:
        """Return whether its statistics leave room for a user."""
        try:
            return self.low is None or bool(self.low <= user <= self.high)
        except TypeError:
            return True  # ids that pandas has as something else than the file


def open_file(
    found: Found,
    as_codes: Sequence[str] = (),
    footer: pq.FileMetaData | None = None,
    buffer: int = MOST_BUFFER,
    *,
    pre_buffer: bool = False,
) -> pq.ParquetFile:
    """Return a file opened such that reading a part of it holds that part only.

    Pages are compared with their checksums, if the file has any: damage would else be another
    number. This takes up to 16 % of the time of such a file, and no time of others.
    """
    source = found.place.open()
    return pq.ParquetFile(
        source,
        metadata=footer,
        read_dictionary=as_codes,
        buffer_size=max(LEAST_BUFFER, buffer),
        pre_buffer=pre_buffer,
        page_checksum_verification=True,
    )


def check_columns(metadata: pq.FileMetaData, size: int, names: Sequence[str]) -> None:
    """Raise if a footer's description of these columns is damaged, for a file of this size.

    To ask such a footer of them, or of their statistics, ends the process. To begin to read checks
    all but the types of statistics before the first byte is asked for; none is given.
    """
    groups = range(metadata.num_row_groups)
    types = {at: one.physical_type for at, one in enumerate(metadata.schema) if one.path in names}
    asked: dict[int, bytes] = {}  # by place; an error in place of no bytes would be kept alive
    unread = Part(size, lambda start, _: asked.setdefault(start, b""))
    file = pq.ParquetFile(pa.PythonFile(unread, "r"), metadata=metadata, pre_buffer=True)
    try:
        next(file.reader.iter_batches(1, groups, [*types], use_threads=False), None)
    except OSError:
        if not asked:
            raise
    for row_group in map(metadata.row_group, groups):
        if any(row_group.column(at).physical_type != kind for at, kind in types.items()):
            raise OSError("its footer gives one column two types; write it anew")


@contextmanager
def naming_file(path: str) -> Iterator[None]:
    """Raise a failure to read a file as a `RecframeError` that names the file."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError) as error:
        message = shorten(str(error).partition("\n")[0].rstrip(".")) or type(error).__name__
        if isinstance(error, pa.ArrowInvalid) and (trec := find_trec(path)):
            raise RecframeError(f"cannot read {show_path(path)}: {trec}") from error
        is_odd = isinstance(error, pa.ArrowInvalid) and find_format(path) == PARQUET
        call = find_reader(path, quote(path)) if is_odd else ""
        if call and not call.startswith("pd.read_parquet"):
            message += f"; pass {call}, or write it as parquet"
        raise RecframeError(f"cannot read {show_path(path)}: {message}") from error


def check_names(names: Iterable[str], schema: pa.Schema, path: str) -> None:
    """Raise where a file lacks one of these columns, which another has."""
    for name in names:
        if name not in schema.names:
            raise MissingColumnError(
                f"{quote(name)}: no such column in {show_path(path)}; "
                f"it has {shown(schema.names)}; {UNION}",
                {"union_by_name": True},
            )


def plain_type(found: pa.DataType) -> pa.DataType:
    """Return the type of the values of a type, text of any kind being one."""
    if pa.types.is_dictionary(found):
        return plain_type(found.value_type)
    if pa.types.is_large_string(found) or pa.types.is_string_view(found):
        return pa.string()
    return pa.binary() if pa.types.is_large_binary(found) else found
