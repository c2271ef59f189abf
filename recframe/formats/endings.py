"""Which format a file has, by the ending of its name."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pyarrow as pa

from recframe.formats.rows import Rows

# The module of each format and the class there, imported where a file has it.
TEXT_FORMATS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "csv": ("delimited", "Delimited", {"delimiter": ","}),
    "tsv": ("delimited", "Delimited", {"delimiter": "\t"}),
    "jsonl": ("json_lines", "JsonLines", {}),
    "ndjson": ("json_lines", "JsonLines", {}),
}
CODECS = {"gz": "gzip", "bz2": "bz2", "zst": "zstd"}
BINARY_FORMATS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "feather": ("arrow_files", "ArrowFile", {}),
    "arrow": ("arrow_files", "ArrowFile", {}),
    "ipc": ("arrow_files", "ArrowFile", {}),
}
PARQUET = "parquet"  # as which files of other endings are read


def find_format(path: str) -> str:
    """Return the name of the format of a file."""
    return _split(path)[0]


def open_rows(path: str, open_file: Callable[[], Any]) -> Rows | None:
    """Return the rows of a file, or None of parquet, whose footer describes them."""
    ending, codec = _split(path)
    if ending == PARQUET:
        return None
    module, name, given = (TEXT_FORMATS | BINARY_FORMATS)[ending]
    read = getattr(import_module(f"recframe.formats.{module}"), name)
    rows: Rows = read((lambda: _decompress(open_file, codec)) if codec else open_file, **given)
    return rows


def _split(path: str) -> tuple[str, str]:
    """Return the format of a file and what it is compressed by."""
    *_, before, last = ("", "", *path.lower().split(".")[1:])
    if last in CODECS and before in TEXT_FORMATS:
        return before, CODECS[last]
    return (last, "") if last in TEXT_FORMATS or last in BINARY_FORMATS else (PARQUET, "")


def _decompress(open_file: Callable[[], Any], codec: str) -> Any:
    """Return a file opened to be read decompressed."""
    return pa.CompressedInputStream(open_file(), codec)
