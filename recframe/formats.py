"""Files without footers: their format, found by the ending of the name, and their rows.

Delimited text (CSV, TSV) and lines of JSON are read block by block, in types that fit all rows.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from recframe.other_tables import RELATION, is_instance
from recframe.text_types import (
    FIRST_BLOCK,
    TextBlocks,
    TextTypes,
    check_type,
    convert,
    infer_lines,
    parse_lines,
    read_cells,
)

DELIMITERS = {"csv": ",", "tsv": "\t"}
JSON = ("jsonl", "ndjson", "json")
ARROW_ENDINGS = ("feather", "arrow", "ipc")
CODECS = {"gz": "gzip", "bz2": "bz2", "zst": "zstd"}  # compressions of text files
BUFFER = 1 << 20  # bytes that are read at once from a compressed file
PARQUET = "parquet"  # the format of files with other endings
ARROW_FILE = b"ARROW1"  # the first bytes of an Arrow file; a stream has others

PANDAS_NULLS = ("None", "<NA>")  # Pandas reads these as null too, Arrow does not.
SEPARATOR_NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
UTF_16 = "it is UTF-16 text. Convert it to UTF-8."
TO_UTF_8 = "Convert it to UTF-8, or in Python pass pd.read_csv(path, encoding='latin-1')."
# The first bytes of files that are no text of UTF-8.
OTHER_STARTS = {
    b"\xff\xfe": UTF_16,
    b"\xfe\xff": UTF_16,
    b"PAR1": "it looks like parquet. Rename it to end in .parquet.",
    b"\x1f\x8b": "it is compressed by gzip. Rename it to end in .gz, such as .csv.gz.",
    b"PK\x03\x04": "it is a zip file, as those of Excel are. Pass what pandas reads of it.",
}
# Without dtype=False, pandas reads the id "007" as 7.
DOCUMENT = (
    "each line must be a JSON object; if it is one JSON document, pass "
    "pd.read_json(path, dtype=False), or, if its keys are users, as in {user: {item: score}}, "
    "recframe.from_runs(json.load(open(path))), or recframe.truth_from of the relevant items"
)
TOO_LONG = "straddles two block boundaries"


class RowSource(Protocol):
    """The rows of a source that no footer describes, read as often as asked, or once."""

    def read_schema(self, memory: int | None = None) -> pa.Schema:
        """Return the columns."""

    def iter_batches(self, names: Sequence[str], types: TextTypes) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows."""


@dataclass(eq=False, repr=False)
class GivenRows:
    """Rows of a dataset, a query or a reader; a reader can be read only once."""

    given: Any
    is_read: bool = False  # only set for a reader

    def read_schema(self, memory: int | None = None) -> pa.Schema:
        """Return the columns."""
        given = self.given
        schema: pa.Schema = (
            _run(given.limit(0)) if is_instance(given, *RELATION) else given
        ).schema
        return schema

    def iter_batches(self, names: Sequence[str], types: TextTypes) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows; raise if a reader was read before."""
        batches = self.given
        if is_instance(batches, *RELATION):
            batches = _run(batches)
        elif not isinstance(batches, pa.RecordBatchReader):
            # By default, Arrow reads many batches ahead.
            batches = batches.scanner(
                columns=list(names), batch_readahead=1, fragment_readahead=1, use_threads=False
            ).to_batches()
        elif self.is_read:
            raise pa.ArrowInvalid(
                "it gives its rows once, and they have been read; scan a new reader, or a file"
            )
        self.is_read = batches is self.given
        for batch in batches:
            yield batch.select(names)


def _run(query: Any) -> pa.RecordBatchReader:
    """Return a reader for the rows of a DuckDB relation; raise with the message of DuckDB."""
    try:
        return pa.RecordBatchReader.from_stream(query)
    except Exception as error:  # DuckDB raises its own classes.
        raise pa.ArrowInvalid(str(error)) from error


@dataclass(frozen=True)
class ArrowFile:
    """A file in Arrow's own format: Feather, or a stream."""

    open_file: Callable[[], Any]

    def read_schema(self, memory: int | None = None) -> pa.Schema:
        """Return the columns."""
        with self._opened([]) as reader:
            schema: pa.Schema = reader.schema
            return schema

    def iter_batches(self, names: Sequence[str], types: TextTypes) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows."""
        with self._opened(list(map(self.read_schema().get_field_index, names))) as reader:
            n_batches = getattr(reader, "num_record_batches", None)  # A stream has no such number.
            for batch in reader if n_batches is None else map(reader.get_batch, range(n_batches)):
                batch.validate(full=True)  # Values of a damaged file could crash Python.
                yield batch.select(names)

    @contextmanager
    def _opened(self, fields: list[int]) -> Iterator[Any]:
        """Open a file or a stream for the columns with these numbers; an empty list means all."""
        with self.open_file() as file:
            is_file = file.read(len(ARROW_FILE)) == ARROW_FILE
            file.seek(0)
            open_reader = pa.ipc.open_file if is_file else pa.ipc.open_stream
            yield open_reader(file, options=pa.ipc.IpcReadOptions(included_fields=fields))


@dataclass(frozen=True)
class Delimited:
    """A file of text whose first row names its columns, unless `names` do."""

    open_file: Callable[[], Any]
    delimiter: str
    names: tuple[str, ...] = ()

    def read_schema(self, memory: int | None = None) -> pa.Schema:
        """Return the columns, with the types of the first block."""
        with self.open_file() as file:
            first = file.read(FIRST_BLOCK)
        _check_start(first)
        # The first cells are read as text: Arrow takes seconds to guess the type of a long cell.
        line = first.partition(b"\n")[0].decode(errors="replace").strip("\r\ufeff")
        texts = self.names or line.replace('"', "").split(self.delimiter)
        found = next((one for one in SEPARATOR_NAMES if len(texts) == 1 and one in texts[0]), "")
        if found:
            ending = next((name for name, one in DELIMITERS.items() if one == found), "")
            other = (
                "but recframe reads commas and tabs only; in Python, pass "
                f"pd.read_csv(path, sep={found!r}), with decimal=',' for such numbers"
            )
            remedy = f"so rename it to end in .{ending}" if ending else other
            raise pa.ArrowInvalid(
                f"its columns are separated by {SEPARATOR_NAMES[found]}, {remedy}"
            )
        types = TextTypes(memory=memory)
        types.check_columns(len(texts))
        with self._opened(types, texts=texts) as reader:
            names = reader.schema.names
        next(self.iter_batches(names, types), None)
        return types.complete(pa.schema([(name, pa.null()) for name in names]))

    def iter_batches(self, names: Sequence[str], types: TextTypes) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows; their cells are text, integers or null."""
        with self._opened(types, names) as reader:
            for cells in reader:
                if cells.num_rows:
                    columns = {
                        name: cells[name]
                        if name in types.texts
                        else read_cells(name, cells[name], types)
                        for name in names
                    }
                    yield pa.record_batch(columns)

    @contextmanager
    def _opened(
        self, types: TextTypes, names: Sequence[str] = (), texts: Sequence[str] = ()
    ) -> Iterator[Any]:
        """Open a reader of the columns `names`, or of all; `names` and `texts` are read as text."""
        from pyarrow import csv  # `import recframe` does not need it.

        try:
            with self.open_file() as file, closing(TextBlocks(file, types)) as blocks:
                reader = csv.open_csv(
                    blocks,
                    # With threads, Arrow's messages do not name the row.
                    csv.ReadOptions(
                        use_threads=False,
                        block_size=types.most + types.n_bytes,
                        column_names=self.names,
                    ),
                    csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
                    csv.ConvertOptions(
                        column_types=dict.fromkeys([*names, *texts], pa.string()),
                        include_columns=list(dict.fromkeys(names)),
                        null_values=list_null_texts(),
                        strings_can_be_null=True,
                    ),
                )
                yield reader
        except UnicodeDecodeError as error:
            raise pa.ArrowInvalid(f"its first row is not UTF-8 text. {TO_UTF_8}") from error
        except pa.ArrowInvalid as error:
            if "invalid UTF8" in str(error):
                raise pa.ArrowInvalid(f"{error}. {TO_UTF_8}") from error
            if TOO_LONG in str(error):
                raise types.refuse(types.n_bytes) from error
            raise


def list_null_texts() -> list[str]:
    """Return the texts that stand for a null in delimited text."""
    from pyarrow import csv  # `import recframe` does not need it.

    return [*csv.ConvertOptions().null_values, *PANDAS_NULLS]


@dataclass(frozen=True)
class JsonLines:
    """A file whose lines are JSON objects; their members are the columns."""

    open_file: Callable[[], Any]

    def read_schema(self, memory: int | None = None) -> pa.Schema:
        """Return the columns, with the types of the first block."""
        types = TextTypes(memory=memory)
        for number, text in self._iter_lines(types):
            schema: pa.Schema = infer_lines(text, number, types).schema
            if all(map(pa.types.is_struct, schema.types)):  # {"user": {"0": 1}} is one.
                raise pa.ArrowInvalid(DOCUMENT)
            return schema
        raise pa.ArrowInvalid("it is empty")

    def iter_batches(self, names: Sequence[str], types: TextTypes) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows; the types may differ from batch to batch."""
        schema = self.read_schema(types.memory)
        for number, text in self._iter_lines(types):
            for name in set(names).intersection(schema.names):
                if wanted := types.find(name):
                    schema = schema.set(schema.get_field_index(name), pa.field(name, wanted))
            try:
                table = parse_lines(text, number, schema)
            except pa.ArrowInvalid:
                # Inference finds the new types, or raises an error that names the fault.
                table = infer_lines(text, number, types)
                late = [field for field in table.schema if field.name not in schema.names]
                for name in (field.name for field in late if types.has_role(field.name)):
                    raise pa.ArrowInvalid(
                        f"{name!r} first appears in a line from {number} on, and not in the first "
                        f"{FIRST_BLOCK >> 20} MiB. Write it in the first line too, as null."
                    ) from None
                schema = pa.schema([*schema, *late])
            columns = {}
            for name in names:
                values = table[name] if name in table.schema.names else pa.nulls(table.num_rows)
                check_type(name, values.type, number, types)
                columns[name] = values
            yield from pa.table(columns).combine_chunks().to_batches()

    def _iter_lines(self, types: TextTypes) -> Iterator[tuple[int, bytes]]:
        """Yield whole lines of a file, many at a time, with the number of the first."""
        with self.open_file() as file:
            blocks, rest, number = TextBlocks(file, types), file.read(4), 1
            _check_start(rest)
            if rest.startswith(b"["):
                raise pa.ArrowInvalid(DOCUMENT)
            data = blocks.read()
            while data:
                following = blocks.read()
                rest += data
                n_whole = rest.rfind(b"\n") + 1 if following else len(rest)
                text, rest, data = rest[:n_whole], rest[n_whole:], following
                if text.strip():
                    yield number, text
                number += text.count(b"\n")


def find_format(path: str) -> str:
    """Return the name of a file's format."""
    *_, before, last = ("", "", *path.lower().split(".")[1:])
    if last in CODECS and before in (*DELIMITERS, *JSON):
        return before
    return last if last in (*DELIMITERS, *JSON, *ARROW_ENDINGS) else PARQUET


def open_rows(path: str, open_file: Callable[[], Any]) -> RowSource | None:
    """Return the rows of a file; None for parquet, whose footer describes its rows."""
    ending = find_format(path)
    if ending == PARQUET:
        return None
    if ending in ARROW_ENDINGS:
        return ArrowFile(open_file)
    codec = CODECS.get(path.lower().rpartition(".")[2])

    def open_text() -> Any:
        return pa.input_stream(open_file(), codec, BUFFER) if codec else open_file()

    return JsonLines(open_text) if ending in JSON else Delimited(open_text, DELIMITERS[ending])


def _check_start(first: bytes) -> None:
    """Raise if a file begins like one of another format."""
    for start, reason in OTHER_STARTS.items():
        if first.startswith(start):
            raise pa.ArrowInvalid(reason)


def convert_all(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return rows with their cells converted to the types of a schema."""
    fields = [schema.field(name) for name in batch.schema.names]
    columns = [convert(one, to.type) for one, to in zip(batch.columns, fields, strict=True)]
    return pa.record_batch(columns, schema=pa.schema(fields, schema.metadata))
