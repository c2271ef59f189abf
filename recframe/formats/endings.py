"""Which format a file has, by the ending of its name."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa

from recframe.formats.arrow_files import ArrowFile
from recframe.formats.delimited import Delimited
from recframe.formats.json_lines import JsonLines
from recframe.formats.rows import Rows

TEXTS: dict[str, Callable[..., Rows]] = {
    "csv": partial(Delimited, delimiter=","),
    "tsv": partial(Delimited, delimiter="\t"),
    "jsonl": JsonLines,
    "ndjson": JsonLines,
}
CODECS = {"gz": "gzip", "bz2": "bz2", "zst": "zstd"}
BINARIES: dict[str, Callable[..., Rows]] = {"feather": ArrowFile, "arrow": ArrowFile}
PARQUET = "parquet"  # as which files of other endings are read


def find_format(path: str) -> str:
    """Return the name of the format of a file."""
    return _split(path)[0]


def open_rows(path: str, open_file: Callable[[], Any]) -> Rows | None:
    """Return the rows of a file, or None of parquet, whose footer describes them."""
    ending, codec = _split(path)
    if ending == PARQUET:
        return None
    if codec:
        return TEXTS[ending](lambda: _decompress(open_file, codec))
    return (TEXTS | BINARIES)[ending](open_file)


def _split(path: str) -> tuple[str, str]:
    """Return the format of a file and what it is compressed by."""
    *_, before, last = ("", "", *path.lower().split(".")[1:])
    if last in CODECS and before in TEXTS:
        return before, CODECS[last]
    return (last, "") if last in TEXTS or last in BINARIES else (PARQUET, "")


def _decompress(open_file: Callable[[], Any], codec: str) -> Any:
    """Return a file opened to be read decompressed."""
    return pa.CompressedInputStream(open_file(), codec)
