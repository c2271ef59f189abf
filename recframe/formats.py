"""Files without footers: the format that the ending of a name tells, and their rows.

Text is read block by block, delimited (CSV, TSV) or lines of JSON, in types of all rows.
"""

import re
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from recframe.foreign import RELATION, is_of

DELIMITERS = {"csv": ",", "tsv": "\t"}
JSON = ("jsonl", "ndjson")
ARROW_ENDINGS = ("feather", "arrow", "ipc")
CODECS = {"gz": "gzip", "bz2": "bz2", "zst": "zstd"}  # of text
BUFFER = 1 << 20  # bytes of a compressed file that are read at once
PARQUET = "parquet"  # as which files of other endings are read
WHOLE_BLOCK = 1 << 24  # bytes of text, where all is read at once
FIRST_BLOCK = 1 << 20  # bytes of text that tell of which types columns are, before all is read
ARROW_FILE = b"ARROW1"  # how a file of Arrow begins, and a stream does not

# A column of CSV has the first of these types that holds all its cells, else it is text.
TYPES = (pa.null(), pa.int64(), pa.uint64(), pa.bool_(), pa.float64())
# What may follow each where cells of later blocks are not of it; text may follow all.
WIDER_TYPES = {
    pa.null(): TYPES,
    pa.int64(): (pa.uint64(), pa.float64()),
    pa.uint64(): (pa.float64(),),
}
WIDER_NUMBER = {pa.int64(): pa.float64()}  # of JSON, beside null, which all are
TRUTHS = pa.array(["True", "TRUE", "true"])
FALSEHOODS = pa.array(["False", "FALSE", "false"])
NULLS = ("None", "<NA>")  # which pandas takes for null, beside those that Arrow does
FIRST_CELLS = 64
EXACT = 2.0**53  # up to which floats hold all integers
FLOAT_ID = r"^-?[0-9]+(\.0|\.[0-9]*[1-9])?$"  # of ids, "1.10" is not 1.1, nor is "1e5" 100000
PADDED = "^-?0[0-9xX]"  # "007" is not 7, nor is "0x7"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
TOO_LONG = "straddles two block boundaries"
IN_ROW = re.compile(r" in row (\d+)")

Read = TypeVar("Read")


class AgainError(Exception):
    """Raised where rows show what has them read anew from the first, by what is known then."""


class Known:
    """What is known of columns before all rows are read: it grows as rows show more."""

    path = ""  # the file that is read
    flags: Container[str] = ()  # columns of which each file has a type of its own

    def __init__(self, n_bytes: int = 0, most: int = 1 << 30, ids: Container[str] = ()) -> None:
        self.types: dict[Any, pa.DataType] = {}
        self.ids = ids  # columns of which 1.1 and 1.10 are two
        self.n_bytes = n_bytes or FIRST_BLOCK  # of a block of text
        self.most = most  # bytes that a block may be given for one long row

    def key(self, name: str) -> Any:
        """Return by what `types` has a column of the file that is read."""
        return (self.path, name) if name in self.flags else name

    def widen(self, name: str, wider: pa.DataType) -> AgainError:
        """Return the error after which a column has a type that holds more."""
        self.types[self.key(name)] = wider
        return AgainError(name)

    def lengthen(self) -> AgainError:
        """Return the error after which blocks are longer, as one row is."""
        if self.n_bytes >= self.most:
            raise pa.ArrowInvalid(
                f"a row has more than {self.n_bytes:,} bytes, or a quote is never closed"
            )
        self.n_bytes = min(4 * self.n_bytes, self.most)
        return AgainError()


def read_until_known(read: Callable[[Known], Read], known: Known) -> Read:
    """Return what is read once all that it takes is known."""
    while True:
        with suppress(AgainError):
            return read(known)


class GivenRows:
    """Rows of a dataset whose files are not looked at, of a query, or, once, of a reader."""

    def __init__(self, given: Any) -> None:
        self._given, self._is_read = given, False

    def read_schema(self) -> pa.Schema:
        """Return the columns."""
        given = self._given
        is_query = is_of(given, *RELATION)
        schema: pa.Schema = (_run(given.limit(0)) if is_query else given).schema
        return schema

    def iter_batches(self, names: Sequence[str], known: Known) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows; raise where a reader's were read before."""
        batches = self._given
        if is_of(batches, *RELATION):
            batches = _run(batches)
        elif not isinstance(batches, pa.RecordBatchReader):
            # Arrow reads many batches ahead unless it is told.
            yield from batches.scanner(
                columns=list(names), batch_readahead=1, fragment_readahead=1, use_threads=False
            ).to_batches()
            return
        elif self._is_read:
            raise pa.ArrowInvalid(
                "it gives its rows once, and they have been read; scan a new reader, or a file"
            )
        self._is_read = True
        for batch in batches:
            yield batch.select(names)


def _run(query: Any) -> pa.RecordBatchReader:
    """Return the rows of a relation of DuckDB as they come, or raise what it says."""
    try:
        return pa.RecordBatchReader.from_stream(query)
    except Exception as error:  # of classes of DuckDB's own
        raise pa.ArrowInvalid(str(error)) from error


@dataclass(frozen=True)
class ArrowFile:
    """A file of Arrow's own format: Feather, or a stream."""

    open_file: Callable[[], Any]

    def read_schema(self) -> pa.Schema:
        """Return the columns."""
        with self._opened() as reader:
            schema: pa.Schema = reader.schema
            return schema

    def iter_batches(self, names: Sequence[str], known: Known) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows."""
        with self._opened(names) as reader:
            n_batches = getattr(reader, "num_record_batches", None)  # None of a stream
            for batch in reader if n_batches is None else map(reader.get_batch, range(n_batches)):
                yield batch.select(names)

    @contextmanager
    def _opened(self, names: Sequence[str] = ()) -> Iterator[Any]:
        """Give what reads a file or a stream, of these columns or of all."""
        with self.open_file() as file:
            is_file = file.read(len(ARROW_FILE)) == ARROW_FILE
            file.seek(0)
            open_reader = pa.ipc.open_file if is_file else pa.ipc.open_stream
            reader = open_reader(file)
            if names:
                fields = [reader.schema.get_field_index(name) for name in names]
                file.seek(0)
                reader = open_reader(file, options=pa.ipc.IpcReadOptions(included_fields=fields))
            yield reader


@dataclass(frozen=True)
class Delimited:
    """A file of text whose first row names its columns."""

    open_file: Callable[[], Any]
    delimiter: str

    def read_schema(self) -> pa.Schema:
        """Return the columns, with the types of the first block."""
        with self.open_file() as file:
            if file.read(2) in UTF_16:
                raise pa.ArrowInvalid("it is UTF-16 text; convert it to UTF-8")
        return read_until_known(self._find_types, Known())

    def _find_types(self, known: Known) -> pa.Schema:
        """Return the columns, with the types of a block of this length."""
        with self._opened(known) as reader:
            names = reader.schema.names
        types = dict.fromkeys(names, pa.null())
        with self._opened(known, names) as reader:
            cells = next((block for block in reader if block.num_rows), None)
        if cells is not None:
            types = {name: _read_cells(name, cells[name], Known()).type for name in types}
        return pa.schema([(name, types[name]) for name in names])

    def iter_batches(self, names: Sequence[str], known: Known) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows; raise `AgainError` where they need other types."""
        with self._opened(known, names) as reader:
            for cells in reader:
                if cells.num_rows:
                    columns = {name: _read_cells(name, cells[name], known) for name in names}
                    yield pa.record_batch(columns)

    @contextmanager
    def _opened(self, known: Known, names: Sequence[str] = ()) -> Iterator[Any]:
        """Give what reads columns, as text those that are named."""
        from pyarrow import csv  # which `import recframe` need not load

        try:
            with self.open_file() as file:
                reader = csv.open_csv(
                    file,
                    # In threads, Arrow does not say in which row something is wrong.
                    csv.ReadOptions(use_threads=False, block_size=known.n_bytes),
                    csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
                    csv.ConvertOptions(
                        column_types=dict.fromkeys(names, pa.string()),
                        include_columns=list(dict.fromkeys(names)),
                        null_values=[*csv.ConvertOptions().null_values, *NULLS],
                        strings_can_be_null=True,
                    ),
                )
                yield reader
        except UnicodeDecodeError as error:
            raise pa.ArrowInvalid("its first row is not UTF-8 text") from error
        except pa.ArrowInvalid as error:
            if TOO_LONG in str(error):
                raise known.lengthen() from error
            raise


@dataclass(frozen=True)
class JsonLines:
    """A file whose lines are objects of JSON; their members are the columns.

    Where one column holds lists of objects, each of these is a row, with the line's other columns.
    """

    open_file: Callable[[], Any]

    def read_schema(self) -> pa.Schema:
        """Return the columns, with the types of the first block."""
        return _unnest(self._read_first()).schema

    def _read_first(self) -> pa.Table:
        """Return the first lines."""
        first = read_until_known(lambda known: next(self._iter_lines(known), None), Known())
        if first is None:
            raise pa.ArrowInvalid("it is empty")
        number, text = first
        return _parse(text, number)

    def iter_batches(self, names: Sequence[str], known: Known) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows; raise `AgainError` where they need other types."""
        schema = self._read_first().schema
        for number, text in self._iter_lines(known):
            for name in set(names).intersection(schema.names):
                if wanted := known.types.get(known.key(name)):
                    schema = schema.set(schema.get_field_index(name), pa.field(name, wanted))
            try:
                table = _parse(text, number, schema)
            except pa.ArrowInvalid:
                table = _parse(text, number)  # which tells of what types it is, or what is wrong
                if late := [name for name in table.schema.names if name not in schema.names]:
                    raise pa.ArrowInvalid(
                        f"{late[0]!r} is in a line from {number} on, but in none of the first "
                        f"{FIRST_BLOCK >> 20} MiB; write it in the first line too, as null"
                    ) from None
            table, columns = _unnest(table), {}
            for name in names:
                values = table[name] if name in table.schema.names else pa.nulls(table.num_rows)
                columns[name] = _conform(name, values, number, known)
            yield from pa.table(columns).combine_chunks().to_batches()

    def _iter_lines(self, known: Known) -> Iterator[tuple[int, bytes]]:
        """Yield whole lines of a file, many at a time, with the number of the first."""
        with self.open_file() as file:
            rest, number = b"", 1
            data = file.read(known.n_bytes)
            while data:
                following = file.read(known.n_bytes)
                rest += data
                n_whole = rest.rfind(b"\n") + 1 if following else len(rest)
                if n_whole == 0 and len(rest) > known.n_bytes:
                    raise known.lengthen()
                text, rest, data = rest[:n_whole], rest[n_whole:], following
                if text.strip():
                    yield number, text
                number += text.count(b"\n")


def _unnest(table: pa.Table) -> pa.Table:
    """Return a row for each member of the lists of objects, where one column holds such lists."""
    nested = [
        field.name
        for field in table.schema
        if pa.types.is_list(field.type) and pa.types.is_struct(field.type.value_type)
    ]
    if len(nested) != 1:
        return table
    lists = table[nested[0]].combine_chunks()
    members = pa.Table.from_struct_array(pc.list_flatten(lists))
    others = table.drop_columns(nested)
    if not set(members.column_names).isdisjoint(others.column_names):
        return table
    others = others.take(pc.list_parent_indices(lists))
    names = [*others.column_names, *members.column_names]
    return pa.table([*others.columns, *members.columns], names)


Rows = Delimited | JsonLines | ArrowFile | GivenRows  # read as often as asked, or once


def find_format(path: str) -> str:
    """Return the name of the format of a file."""
    *_, before, last = ("", "", *path.lower().split(".")[1:])
    if last in CODECS and before in (*DELIMITERS, *JSON):
        return before
    return last if last in (*DELIMITERS, *JSON, *ARROW_ENDINGS) else PARQUET


def open_rows(path: str, open_file: Callable[[], Any]) -> Rows | None:
    """Return the rows of a file, or None of parquet, whose footer describes them."""
    ending = find_format(path)
    if ending == PARQUET:
        return None
    if ending in ARROW_ENDINGS:
        return ArrowFile(open_file)
    codec = CODECS.get(path.lower().rpartition(".")[2])

    def open_text() -> Any:
        return pa.input_stream(open_file(), codec, BUFFER) if codec else open_file()

    return JsonLines(open_text) if ending in JSON else Delimited(open_text, DELIMITERS[ending])


def read_whole(rows: Rows, is_id: Callable[[str], bool]) -> pa.Table:
    """Return all rows and columns, given which of these have ids by their names."""
    schema = rows.read_schema()
    known = Known(WHOLE_BLOCK, ids=list(filter(is_id, schema.names)))
    batches = read_until_known(lambda known: list(rows.iter_batches(schema.names, known)), known)
    return pa.Table.from_batches(batches) if batches else schema.empty_table()


def _read_cells(name: str, cells: pa.Array, known: Known) -> pa.Array:
    """Return the cells of a column in the type known; raise where they show a wider one."""
    wanted = known.types.get(known.key(name))
    if wanted == pa.string():
        return cells
    is_id = name in known.ids
    kind, found = _parse_cells(cells, TYPES if wanted is None else (wanted,), is_id)
    if wanted is None:
        known.types[known.key(name)] = kind
    elif kind != wanted:
        kind, _ = _parse_cells(cells, TYPES, is_id)
        raise known.widen(name, kind if kind in WIDER_TYPES.get(wanted, ()) else pa.string())
    return found


def _parse_cells(
    cells: pa.Array, kinds: tuple[pa.DataType, ...], is_id: bool = False
) -> tuple[pa.DataType, pa.Array]:
    """Return the first of these types that all cells are of, else text, and the cells so."""
    for kind in kinds:
        if (found := _cast(cells, kind, is_id)) is not None:
            return kind, found
    # Pandas reads numbers that have blanks around them, or a plus before them.
    trimmed = pc.ascii_ltrim(pc.ascii_trim_whitespace(cells), "+")
    for kind in () if trimmed.equals(cells) else kinds:
        if kind != pa.bool_() and (found := _cast(trimmed, kind, is_id)) is not None:
            return kind, found
    return pa.string(), cells


def _cast(cells: pa.Array, kind: pa.DataType, is_id: bool) -> pa.Array | None:
    """Return cells as values of a type, or None where some are none."""
    # Arrow parses all cells even where the first is none, and is slow to find so of each.
    if len(cells) > FIRST_CELLS and _cast(cells[:FIRST_CELLS], kind, is_id) is None:
        return None
    if kind == pa.null():  # which pandas has as floats
        return pa.nulls(len(cells), pa.float64()) if cells.null_count == len(cells) else None
    if kind == pa.bool_():
        is_true, is_false = pc.is_in(cells, TRUTHS), pc.is_in(cells, FALSEHOODS)
        n_known = is_true.true_count + is_false.true_count + cells.null_count
        return cells.cast(kind) if n_known == len(cells) else None
    if pc.starts_with(cells, "+").true_count:
        return None  # which Arrow takes in floats only
    try:
        found = cells.cast(kind)
    except pa.ArrowInvalid:
        return None
    zeros = cells.filter(pc.or_(pc.starts_with(cells, "0"), pc.starts_with(cells, "-0")))
    if pc.match_substring_regex(zeros, PADDED).true_count:
        return None
    if kind == pa.float64():  # an integer that a float rounds is none
        large = cells.filter(pc.greater_equal(pc.abs(found), EXACT))
        if pc.match_substring_regex(large, "^-?[0-9]+$").true_count:
            return None
        if is_id and pc.match_substring_regex(cells, FLOAT_ID).false_count:
            return None
    return found


def _parse(
    text: bytes, number: int, schema: pa.Schema | None = None, texts: Sequence[str] = ()
) -> pa.Table:
    """Return lines of JSON as a table of this schema, or of the types that they show."""
    from pyarrow import json  # which `import recframe` need not load

    wanted = schema or pa.schema([(name, pa.string()) for name in texts])
    others = "infer" if schema is None else "error"
    try:
        table = json.read_json(
            pa.BufferReader(text),
            json.ReadOptions(use_threads=False, block_size=len(text) + 1),
            json.ParseOptions(explicit_schema=wanted, unexpected_field_behavior=others),
        )
    except pa.ArrowInvalid as error:
        found = IN_ROW.search(str(error))
        where = f", in line {number + int(found[1])}" if found else ""
        raise pa.ArrowInvalid(IN_ROW.sub("", str(error)) + where) from error
    # What looks like a time is text, as it stands there.
    if times := [field.name for field in table.schema if pa.types.is_timestamp(field.type)]:
        return _parse(text, number, None, times)
    try:
        table.validate(full=True)
    except pa.ArrowInvalid as error:
        raise pa.ArrowInvalid(f"no UTF-8 text in a line from {number} on") from error
    return table


def _conform(name: str, values: pa.ChunkedArray, number: int, known: Known) -> pa.ChunkedArray:
    """Return the values of a column of JSON in the type known; raise where they show another."""
    wanted, found = known.types.setdefault(known.key(name), values.type), values.type
    if found in (wanted, pa.null()) or WIDER_NUMBER.get(found) == wanted:
        # What is null in all lines, pandas has as floats.
        return values.cast(pa.float64() if wanted == pa.null() else wanted)
    if wanted == pa.null() or WIDER_NUMBER.get(wanted) == found:
        raise known.widen(name, found)
    raise pa.ArrowInvalid(
        f"{name!r} is {wanted} in lines before and {found} in some of those from line "
        f"{number} on; write values of one type"
    )
