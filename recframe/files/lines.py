"""Lines of TREC's text files, parsed to frames; the number of each that cannot be read."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.disk import check_named, identify, reason
from recframe.errors import RecframeError, quote, shorten, show_path
from recframe.frames.ids import encode, group_users
from recframe.kernel.grouping import SortedPairs
from recframe.kernel.threads import in_slices

TEXT_DTYPE = pd.StringDtype("pyarrow", na_value=np.nan)  # older pandas takes no "str"
GZIP = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
CACHED_BYTES = 1 << 20  # that stay in the cache from one pass over them to the next
PARSED_BYTES = 1 << 22  # that one thread parses at a time, so that all end at about the same time


class LineLayout(NamedTuple):
    """What the fields of a line are, and what the number among them must be."""

    kind: str
    fields: tuple[str, ...]
    number: str
    type: pa.DataType
    required: str
    pattern: str

    @property
    def names(self) -> str:
        """The fields as a message has them."""
        return " ".join(self.fields)


RUN_LINES = LineLayout(
    "a run",
    ("query", "Q0", "doc", "rank", "score", "tag"),
    "score",
    pa.float64(),
    "a number",
    r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity)",
)
QRELS_LINES = LineLayout(
    "qrels",
    ("query", "iteration", "doc", "relevance"),
    "relevance",
    pa.int64(),
    "a whole number of at most 18 digits",
    r"[+-]?\d{1,18}",
)


def read_lines(path: str, layout: LineLayout) -> pd.DataFrame:
    """Return a file of this layout as a frame."""
    data = _regular(_read_bytes(path))
    table = _parse(data, layout, layout.type)
    if table is None:
        for number, fault in _find_faults(data, layout):
            raise RecframeError(f"{show_path(path)}, line {number}: {fault}")
        table = _parse(data, layout, pa.string())  # of numbers as only Python takes them
    if table is None or table.num_rows == 0:
        raise RecframeError(
            f"{show_path(path)}: must have lines of {layout.kind} ({layout.names}), found none"
        )
    # In one piece each, columns need not be put together by whatever reads them.
    table = table.combine_chunks()
    frame = pd.DataFrame(table.to_pandas(types_mapper={pa.string(): TEXT_DTYPE}.get))
    _check_repeats(path, data, frame)
    return frame


def _read_bytes(path: str) -> bytes:
    """Return what a file holds, decompressed."""
    check_named("it", path)
    identify(path)
    try:
        data = Path(path).read_bytes()
        return gzip.decompress(data) if data.startswith(GZIP) else data
    except OSError as error:
        why = reason(error) if error.strerror else shorten(str(error))
        raise RecframeError(f"cannot read {show_path(path)}: {why}") from error
    except (EOFError, zlib.error) as error:
        found = shorten(str(error))
        raise RecframeError(f"cannot read {show_path(path)}: {found}; fetch it anew") from error


def _regular(data: bytes) -> bytes:
    """Return the same lines with one blank between fields, and empty where nothing is said."""
    data = data.removeprefix(BOM)
    # One byte is looked for twenty times as fast as two, the first of which is in every line.
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\t" in data:
        data = data.replace(b"\t", b" ")
    if not _is_regular(data):
        data = re.sub(rb" {2,}", b" ", data)
        data = data.replace(b"\n ", b"\n").replace(b" \n", b"\n").strip(b" ")
    if b"#" in data and (data.startswith(b"#") or b"\n#" in data):
        data = re.sub(rb"(?m)^#.*", b"", data)
    return data


def _is_regular(data: bytes) -> bool:
    """Return whether no blank or end of line follows another, nor begins or ends the data."""
    signs = np.frombuffer(data, np.uint8)

    def check(start: int, stop: int) -> bool:
        for begin in range(start, stop, CACHED_BYTES):
            is_blank = signs[begin : min(begin + CACHED_BYTES, stop) + 1] <= ord(" ")
            if (is_blank[1:] & is_blank[:-1]).any():
                return False
        return True

    return not data.startswith((b" ", b"\n")) and all(in_slices(check, len(signs)))


def _parse(data: bytes, layout: LineLayout, number: pa.DataType) -> pa.Table | None:
    """Return the columns of lines, the number read as of this type; None where some is wrong."""
    from pyarrow import csv  # which `import recframe` need not load

    types = {"query": pa.string(), "doc": pa.string(), layout.number: number}
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(column_names=layout.fields, block_size=PARSED_BYTES),
            csv.ParseOptions(delimiter=" ", quote_char=False),
            csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[]),
        )
        if number != layout.type:
            numbers = pc.cast(pc.utf8_ltrim(table[layout.number], "+"), layout.type)
            return table.set_column(2, layout.number, numbers)
    except pa.ArrowInvalid:
        return None
    is_nan = layout.type == pa.float64() and pc.any(pc.is_nan(table[layout.number])).as_py()
    return None if is_nan else table


def _find_faults(data: bytes, layout: LineLayout) -> Iterator[tuple[int, str]]:
    """Yield the numbers of lines that cannot be read, and what is wrong with each."""
    for number, line in enumerate(io.BytesIO(data), 1):
        fields = line.rstrip(b"\n").split(b" ")
        if fields == [b""]:
            continue
        try:
            texts = [field.decode() for field in fields]
        except UnicodeDecodeError:
            yield number, f"must be UTF-8 text, found {quote(line)}; convert the file, as by iconv"
            continue
        if len(texts) != len(layout.fields):
            n_fields = f"{len(layout.fields)} fields ({layout.names})"
            yield number, f"must have {n_fields}, found {len(texts)}: {quote(' '.join(texts))}"
            continue
        value = texts[layout.fields.index(layout.number)]
        if not re.fullmatch(layout.pattern, value, re.IGNORECASE):
            yield number, f"{layout.number} must be {layout.required}, found {quote(value)}"


def _check_repeats(path: str, data: bytes, frame: pd.DataFrame) -> None:
    """Raise where a query has a document in two lines."""
    groups = group_users([frame["query"]]).groups
    rows, first = SortedPairs(groups, encode(frame["doc"], "item").codes).find_repeats()
    if len(rows) == 0:
        return
    at = int(rows.argmin())
    query, doc, *_ = frame.iloc[int(rows[at])].tolist()
    line, before = (_find_line(data, int(row)) for row in (rows[at], first[at]))
    raise RecframeError(
        f"{show_path(path)}, line {line}: query {quote(query)} has the document {quote(doc)} in "
        f"line {before} already ({len(rows):,} of {len(frame):,} lines repeat another); keep one"
    )


def _find_line(data: bytes, row: int) -> int:
    """Return the number of the line that a row was read from."""
    written = (number for number, line in enumerate(io.BytesIO(data), 1) if line != b"\n")
    return next(islice(written, row, None))
