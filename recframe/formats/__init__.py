"""Formats of files without footers: which a file has by the ending of its name, and its rows."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from recframe.formats.rows import ArrowFile, GivenRows, Known, read_until_known
from recframe.formats.text import Delimited, JsonLines

Rows = Delimited | JsonLines | ArrowFile | GivenRows  # read as often as asked, or once
DELIMITERS = {"csv": ",", "tsv": "\t"}
JSON = ("jsonl", "ndjson")
ARROW_ENDINGS = ("feather", "arrow", "ipc")
CODECS = {"gz": "gzip", "bz2": "bz2", "zst": "zstd"}  # of text
BUFFER = 1 << 20  # bytes of a compressed file that are read at once
PARQUET = "parquet"  # as which files of other endings are read
WHOLE_BLOCK = 1 << 24  # bytes of text, where all is read at once


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


def read_whole(rows: Rows, known: Known | None = None) -> pa.Table:
    """Return all rows and columns."""
    schema = rows.read_schema()
    batches = read_until_known(
        lambda known: list(rows.iter_batches(schema.names, known)), known or Known(WHOLE_BLOCK)
    )
    return pa.Table.from_batches(batches) if batches else schema.empty_table()
