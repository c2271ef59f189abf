"""Files that paths name, found and opened, with facts on their columns from beside them."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from posixpath import join
from typing import Any, NamedTuple, NoReturn
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from recframe.disk import check_named, open_delta
from recframe.errors import (
    MissingColumnError,
    RecframeError,
    option,
    quote,
    shorten,
    show_path,
    spell,
)
from recframe.files.trec import find_trec
from recframe.foreign import PathLike, find_reader
from recframe.formats import PARQUET, Rows, find_format, open_rows
from recframe.frames.judgments import naming
from recframe.frames.names import shown
from recframe.stores import ENVIRONMENT, Access
from recframe.stores.listings import Listed, Listings
from recframe.stores.remote import Range, Reader, Remote

NULL_VALUE = "__HIVE_DEFAULT_PARTITION__"
WHOLE_NUMBER = re.compile("0|-?[1-9][0-9]{0,17}")  # of 64 bits, in its usual form ("007" is not)
KEPT_FOOTERS = 256  # of so few files they are kept, as every call reads them
# Bytes for each column; without, reading a part of a row group holds all of it.
LEAST_BUFFER, MOST_BUFFER = 1 << 16, 1 << 20

UNION = (
    f"pass {option('union_by_name', True)}{spell(' to recframe.scan', '')} to read columns that a "
    "file lacks as null"
)
TEXTS = (pa.string(), pa.binary())  # plain types of values of any length

PartitionValues = dict[str, pa.Scalar]  # of all rows of a file, as its folder country=NL says


class Staged(NamedTuple):
    """The source of a file without a footer: the same rows as parquet."""

    file: pa.NativeFile
    footer: pq.FileMetaData
    schema: pa.Schema  # with the columns that are not in it


class Found(NamedTuple):
    """A file, and facts on its columns from beside it."""

    path: str
    partitions: PartitionValues  # that its folders or the log of its table say, or null
    table_schema: pa.Schema | None = None  # of the Delta table or dataset that names it
    given: Rows | None = None  # what gives its rows, where it is no file
    staged: Staged | None = None
    only: tuple[int, ...] | None = None  # its row groups, where not all are meant
    condition: Any = None  # an expression of Arrow; rows of others are as if they were not there
    looked_at: tuple[str, ...] = ()  # the columns that it reads
    remote: Remote | None = None  # where it is, if not on this machine

    @property
    def rows(self) -> Rows | None:
        """Its rows where no footer describes them, until they are staged."""
        if self.given is not None or self.staged is not None or self.table_schema is not None:
            return self.given
        return open_rows(self.path, self.open)

    def open(self) -> Any:
        """Return it opened to be read."""
        return Path(self.path).open("rb") if self.remote is None else Reader(self.remote)


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
    ranges: tuple[Range, ...] = ()  # of its columns, of a file that is not on this machine
    text_bytes: int = 0  # more of each row where texts are held as they are, not as codes
    open_bytes: int = 0  # of large dictionaries, while it is read

    def may_have(self, user: Any) -> bool:
        """Return whether its statistics leave room for a user."""
        try:
            return self.low is None or bool(self.low <= user <= self.high)
        except TypeError:
            return True  # ids that pandas has as something else than the file


def find_files(
    paths: PathLike | Sequence[PathLike], argument: str = "", access: Access = ENVIRONMENT
) -> list[Found]:
    """Return the files that paths name, in order, each with facts on its columns."""
    listed = [paths] if isinstance(paths, str | os.PathLike) else paths
    listings, found = Listings(access), list[Found]()
    with naming(argument) if argument else nullcontext():
        given = [os.fspath(path) for path in listed]
        for path in given:
            check_named("path", path)
        if access.storage_options is not None and not any(map(access.leads_away, given)):
            raise RecframeError(
                "storage_options are for paths with a scheme, such as s3://bucket/folder, found "
                f"{quote(given)}; leave them out"
            )
        for path in given:
            for one in listings.find(path):
                if one.log:
                    found += _read_log(one, listings)
                else:
                    found.append(Found(one.path, {}, remote=one.remote))
        if not found:
            raise RecframeError("must name at least one file, found an empty list")
        listings.check()
        keep_footers(found)
        _check_one_format(found)
    return _typed(found)


def _read_log(table: Listed, listings: Listings) -> list[Found]:
    """Return the live files of a Delta table, with the values that it is partitioned by."""
    found = list_files(open_delta(table.log))
    if not found:
        raise RecframeError(f"cannot read {show_path(table.log)}: the Delta table has no file")
    named = [listings.name(table.tree, join(table.path, file.path)) for file in found]
    return [
        file._replace(path=one.path, remote=one.remote)
        for file, one in zip(found, named, strict=True)
    ]


def _typed(found: list[Found]) -> list[Found]:
    """Return files with the values of folders: numbers if all are whole numbers, else texts."""
    # Of many files Path would take ten times as long.
    folders = [None if file.table_schema else os.path.dirname(file.path) for file in found]  # noqa: PTH120
    texts: dict[str, dict[str, str | None]] = {}  # None for a null
    types: dict[str, pa.DataType] = {}
    for folder in filter(None, dict.fromkeys(folders)):
        pairs = dict(name.split("=", 1) for name in Path(folder).parts if "=" in name)
        texts[folder] = {}
        for name, said in pairs.items():
            texts[folder][name] = text = None if said == NULL_VALUE else unquote(said)
            types.setdefault(name, pa.int64())
            if text is not None and not WHOLE_NUMBER.fullmatch(text):
                types[name] = pa.string()
    values = {
        folder: {
            name: pa.scalar(text, pa.string()).cast(types[name]) for name, text in said.items()
        }
        for folder, said in texts.items()
    }
    return [
        file._replace(partitions=values[folder]) if folder else file
        for file, folder in zip(found, folders, strict=True)
    ]


def list_files(dataset: Any, root: Path | None = None) -> list[Found]:
    """Return the files of a dataset of parquet files; on this machine paths are below a root."""
    import pyarrow.dataset as ds  # only datasets need it

    found, schema = [], dataset.schema
    for fragment in dataset.get_fragments():
        values = ds.get_partition_keys(fragment.partition_expression)
        # Of categories there is one here, which is no reason to have the users of all files so.
        for name in {*values, *dataset.format.read_options.dictionary_columns} & {*schema.names}:
            at = schema.get_field_index(name)
            schema = schema.set(at, pa.field(name, plain_type(schema.field(at).type)))
        said = {
            name: pa.scalar(value, schema.field(name).type)
            for name, value in values.items()
            if name in schema.names
        }
        path = fragment.path if root is None else os.fspath(root / fragment.path)
        # As it is pickled, since to ask for its row groups reads its footer.
        *_, only = fragment.__reduce__()[1]
        found.append(Found(path, said, schema, only=None if only is None else tuple(only)))
    return found


def _check_one_format(found: list[Found]) -> None:
    """Raise where files are of several formats, as in a folder with a table and notes on it."""
    first: dict[str, str] = {}
    for file in found:
        first.setdefault(PARQUET if file.table_schema else find_format(file.path), file.path)
    if len(first) > 1:
        (one, path), (other, also), *_ = first.items()
        raise RecframeError(
            f"cannot read {show_path(path)} ({one}) and {show_path(also)} ({other}) as one table; "
            f"name the files of one format, for example by a pattern such as '*.{one}'"
        )


def keep_footers(found: list[Found]) -> None:
    """Have the footers of files in stores kept once they are read, if the files are few."""
    for file in found if len(found) <= KEPT_FOOTERS else ():
        if file.remote is not None:
            file.remote.keeps_footer = True


def open_file(
    found: Found,
    as_codes: Sequence[str] = (),
    footer: pq.FileMetaData | None = None,
    buffer: int = MOST_BUFFER,
) -> pq.ParquetFile:
    """Return a file opened such that reading a part of it holds that part only.

    Pages are compared with their checksums, if the file has any: damage would else be another
    number. This takes up to 16 % of the time of such a file, and no time of others.
    """
    source: Any = found.path
    if found.staged is not None:
        source, footer, _ = found.staged
    elif found.remote is not None:
        source = Reader(found.remote)
        footer = footer or pq.read_metadata(pa.BufferReader(found.remote.read_footer()))
    return pq.ParquetFile(
        source,
        metadata=footer,
        read_dictionary=as_codes,
        buffer_size=min(MOST_BUFFER, max(LEAST_BUFFER, buffer)),
        pre_buffer=False,
        page_checksum_verification=True,
    )


class FilePart:
    """A part of a file, with a reading position of its own, as Arrow reads files."""

    closed = False

    def __init__(self, read_at: Callable[[int, int], Any], start: int, stop: int) -> None:
        self._read_at, self._start, self._stop, self._at = read_at, start, stop, start

    def seek(self, offset: int, whence: int = 0) -> None:
        """Go to a place."""
        self._at = offset + (self._start, self._at, self._stop)[whence]

    def tell(self) -> int:
        """Return where it is read next."""
        return self._at - self._start

    def read(self, size: int) -> Any:
        """Return the next bytes."""
        at, self._at = self._at, min(self._at + size, self._stop)
        return self._read_at(self._at - at, at)


def _leave_unread(size: int, at: int) -> NoReturn:
    """Raise, as nothing is to be read."""
    raise EOFError


def check_columns(metadata: pq.FileMetaData, size: int, names: Sequence[str]) -> None:
    """Raise if a footer's description of these columns is damaged, for a file of this size.

    To ask such a footer of them, or of their statistics, ends the process. To begin to read checks
    all but the types of statistics; no byte is read.
    """
    groups = range(metadata.num_row_groups)
    types = {at: one.physical_type for at, one in enumerate(metadata.schema) if one.path in names}
    unread = pa.PythonFile(FilePart(_leave_unread, 0, size), "r")
    file = pq.ParquetFile(unread, metadata=metadata, pre_buffer=True)
    with suppress(EOFError):
        next(file.reader.iter_batches(1, groups, [*types], use_threads=False), None)
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
            message += f"; pass {spell(f'{call}, or write it as parquet', 'it as a parquet file')}"
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
