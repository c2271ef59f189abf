"""Runs and qrels of TREC: text files with a line for each query and document, read as frames."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import shlex
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import RecframeError, prefix_errors, quote, shorten, show_path, unreadable
from recframe.frames.names import find_role
from recframe.other_tables import PathLike, frame_error, is_path
from recframe.public_calls import public

TEXT_DTYPE = pd.StringDtype("pyarrow", na_value=np.nan)  # older pandas takes no "str"
GZIP = b"\x1f\x8b"
DECOMPRESSORS = {GZIP: gzip, b"BZh": bz2, b"\xfd7zXZ": lzma}  # by the first bytes of files
BOM = b"\xef\xbb\xbf"
PARSED_BYTES = 1 << 22  # bytes that are parsed at a time, or looked at to recognise a file


class LineLayout(NamedTuple):
    """The fields of a line, and which of them is a number."""

    kind: str
    fields: str  # their names
    number: str


class Number(NamedTuple):
    """The type of a number in lines, and its requirement in words and as a pattern."""

    type: pa.DataType
    required: str
    pattern: str


RUN_LINES = LineLayout("a run", "query Q0 doc rank score tag", "score")
QRELS_LINES = LineLayout("qrels", "query iteration doc relevance", "relevance")
# Shorter lines: runs of MS MARCO, and qrels of BEIR.
SHORT_RUN_LINES = LineLayout("a run", "query doc rank", "rank")
SHORT_QRELS_LINES = LineLayout("qrels", "query doc relevance", "relevance")
PAIR_LINES = LineLayout("qrels", "query doc", "doc")
LAYOUTS = (RUN_LINES, SHORT_RUN_LINES, QRELS_LINES, SHORT_QRELS_LINES, PAIR_LINES)
WITH_SCORES = f"with scores, write lines of {RUN_LINES.fields}"
FLOAT = r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity)"
NUMBERS = {
    "score": Number(pa.float64(), "a number", FLOAT),
    "relevance": Number(pa.int64(), "a whole number of at most 18 digits", r"[+-]?\d{1,18}"),
    "rank": Number(pa.int64(), f"a whole number ({WITH_SCORES})", r"\d{1,18}"),
    "doc": Number(pa.string(), "text", ".*"),
}


@public
def read_run(path: PathLike) -> pd.DataFrame:
    """
    Return a TREC run as a frame: a row for each query and document, with its score.

    A line has the fields query, Q0, document, rank, score and tag, separated by spaces or tabs. Q0
    and the rank are ignored: as in trec_eval, scores alone order documents. A file with several
    tags holds several runs and is refused. Lines of query, document and rank, as MS MARCO has
    them, are read too: the score is minus the rank. The ranks of each query must be 1, 2 and so on,
    in this order, so that they are not taken for scores.

    Parameters
    ----------
    path : path
        The file, plain or compressed by gzip, bzip2 or xz. Empty lines and lines that begin with #
        are skipped.

    Returns
    -------
    DataFrame
        Columns ``query`` and ``doc``, text as written ("007" is not 7), and ``score``, floats. Rows
        are in the order of lines.

    Raises
    ------
    RecframeError
        The file cannot be read, has no line or several tags, a line has more or fewer fields, a
        score is no number, or a query repeats a document; the message has the number of the line.

    See Also
    --------
    read_qrels : The relevance of documents, for ``truth``.

    Notes
    -----
    Trec_eval keeps scores as float32 and orders equal ones by document, as do
    ``run.astype({"score": "float32"}).rec(truth=qrels, ties="item", short="pad",
    zero_division=0, min_relevance=1, population="both")``, and ``recframe trec``.

    Examples
    --------
    >>> import recframe
    >>> recframe.read_run("examples/bm25.run").head(2)
      query  doc  score
    0   101  d12   14.2
    1   101   d7   13.9
    """
    return _read_given(path, RUN_LINES)


@public
def read_qrels(path: PathLike) -> pd.DataFrame:
    """
    Return TREC qrels as a frame: a row for each query and document, with its relevance.

    A line has the fields query, iteration, document and relevance, separated by spaces or tabs. The
    iteration is ignored, and may be missing in all lines. So may the relevance too: then every pair
    has the relevance 1. A first line of names, as BEIR has it, is skipped.

    Parameters
    ----------
    path : path
        The file, plain or compressed by gzip, bzip2 or xz. Empty lines and lines that begin with #
        are skipped.

    Returns
    -------
    DataFrame
        Columns ``query`` and ``doc``, text as written, and ``relevance``, integers, which may be
        negative. Rows are in the order of lines.

    Raises
    ------
    RecframeError
        The file cannot be read or has no line, a line has more or fewer fields, a relevance is no
        whole number, or a query repeats a document; the message has the number of the line.

    See Also
    --------
    read_run : The documents ranked by a system.

    Examples
    --------
    >>> import recframe
    >>> qrels = recframe.read_qrels("examples/qrels.txt")
    >>> qrels.head(2)
      query  doc  relevance
    0   101  d12          2
    1   101   d3          1
    >>> run = recframe.read_run("examples/bm25.run")
    >>> rec = run.rec(truth=qrels, population="truth", min_relevance=1, ties="item", short="pad")
    >>> rec.recall(k=2)
    recall@2  score
    query
    101         0.5
    102         0.5
    103         0.0
    105         0.0
    """
    return _read_given(path, QRELS_LINES)


def _read_given(path: Any, layout: LineLayout) -> pd.DataFrame:
    """Return the file of a path as a frame; a refusal names the argument."""
    if not is_path(path):
        raise frame_error("path", f"the path of a file with {layout.kind}", path)
    with prefix_errors("path"):
        return read_lines(os.fspath(path), layout)


def read_lines(path: str, layout: LineLayout) -> pd.DataFrame:
    """Return a file of this layout as a frame."""
    data = _regular(_read_bytes(path))
    first = _find_first(data)
    names = [find_role(name) for name in first.decode(errors="replace").split(" ", 4)]
    if layout is QRELS_LINES and (names[-1] in ("relevant", "score") or names == ["user", "item"]):
        data = data.replace(first, b"", 1)
        first = _find_first(data)
    alike = [one for one in LAYOUTS if one.fields.count(" ") == first.count(b" ")]
    layout = next((one for one in alike if one.kind == layout.kind), layout)
    table = _parse(data, layout, NUMBERS[layout.number].type)
    if table is None:
        first += b"\n"
        others = [one for one in LAYOUTS if not any(_find_faults(first, one))]
        is_swapped = bool(others) and layout.kind not in {one.kind for one in others}
        hint = (
            f"; are these lines of {others[0].kind}, and the files swapped?" if is_swapped else ""
        )
        for number, fault in _find_faults(data, layout):
            raise RecframeError(f"{show_path(path)}, line {number}: {fault}{hint}")
        table = _parse(data, layout, pa.string())  # Python accepts numbers that Arrow does not.
    if table is None or table.num_rows == 0:
        raise RecframeError(
            f"{show_path(path)}: must have lines of {layout.kind} ({layout.fields}), but has none"
        )
    # Columns in one piece are faster to read.
    table = table.combine_chunks()
    frame = pd.DataFrame(table.to_pandas(types_mapper={pa.string(): TEXT_DTYPE}.get))
    if layout is RUN_LINES:  # Several runs repeat documents, so that tags are checked first.
        _check_tag(path, frame.pop("tag").cat.categories)
    _check_repeats(path, data, frame)
    if layout is PAIR_LINES:
        frame["relevance"] = 1
    if layout is SHORT_RUN_LINES:
        wrong = frame[frame["rank"] != frame.groupby("query").cumcount() + 1]
        for query, _, rank in wrong.head(1).itertuples(index=False):
            raise RecframeError(
                f"{show_path(path)}: lines of three fields must be of query, doc and rank (1, 2, … "
                f"in each query, in this order), but the rank is {rank} in query {quote(query)}; "
                f"{WITH_SCORES}"
            )
        frame["score"] = -frame.pop("rank").astype(float)
    return frame


def _find_first(data: bytes) -> bytes:
    """Return the first line that is not empty."""
    found = re.search(rb"[^\n]+", data)
    return found[0] if found else b""


def _read_bytes(path: str) -> bytes:
    """Return the contents of a file, here or in a store, decompressed."""
    from recframe.stores import ENVIRONMENT, check_named, identify, reason  # Frames do not need it.
    from recframe.stores.store import locate

    check_named("it", path)
    store, key = place = locate(path, ENVIRONMENT, {})
    if not store.is_here:
        with store.reaching(key), place.open() as file:
            data = file.read()
        return _decompress(data, store.show(key))
    identify(key)
    try:
        data = Path(key).read_bytes()
    except OSError as error:
        raise unreadable(key, reason(error)) from error
    return _decompress(data, key)


def _decompress(data: bytes, path: str) -> bytes:
    """Return the contents of a file, decompressed if its first bytes say that it is compressed."""
    codec = next((one for start, one in DECOMPRESSORS.items() if data.startswith(start)), None)
    try:
        return codec.decompress(data) if codec else data
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise unreadable(path, f"{shorten(str(error))}; fetch it anew") from error


def _regular(data: bytes) -> bytes:
    """Return the same lines with one space between fields; lines of comments become empty."""
    data = data.removeprefix(BOM)
    # Searching for one byte is twenty times as fast as for two if each line has the first.
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    data = data.replace(b"\t", b" ")
    is_blank = np.frombuffer(data, np.uint8) <= ord(" ")
    if is_blank[:1].any() or (is_blank[1:] & is_blank[:-1]).any():
        data = re.sub(rb" {2,}", b" ", data)
        data = data.replace(b"\n ", b"\n").replace(b" \n", b"\n").strip(b" ")
    if b"#" in data and (data.startswith(b"#") or b"\n#" in data):
        data = re.sub(rb"(?m)^#.*", b"", data)
    return data


def _parse(data: bytes, layout: LineLayout, number: pa.DataType) -> pa.Table | None:
    """Return the columns of lines, with the number in this type; None if a line is wrong."""
    from pyarrow import csv  # `import recframe` does not need it.

    types = {"query": pa.string(), "doc": pa.string(), layout.number: number}
    if layout is RUN_LINES:
        types["tag"] = pa.dictionary(pa.int32(), pa.binary())
    wanted = NUMBERS[layout.number].type
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            # After an error, threads of Arrow may end Python with "terminate called".
            csv.ReadOptions(
                use_threads=False, column_names=layout.fields.split(), block_size=PARSED_BYTES
            ),
            csv.ParseOptions(delimiter=" ", quote_char=False),
            csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[]),
        )
        if number != wanted:
            numbers = pc.cast(pc.utf8_ltrim(table[layout.number], "+"), wanted)
            return table.set_column(2, layout.number, numbers)
    except pa.ArrowInvalid:
        return None
    is_nan = wanted == pa.float64() and pc.any(pc.is_nan(table[layout.number])).as_py()
    return None if is_nan else table


def find_trec(path: str) -> str:
    """Return advice on a file whose first line is one of a TREC run or of qrels, else ""."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(PARSED_BYTES)
        if head.startswith(GZIP):  # It may unpack to a thousand times as much.
            head = zlib.decompressobj(31).decompress(head, PARSED_BYTES)
    except (OSError, zlib.error):
        return ""
    line = _regular(head[: head.find(b"\n") + 1])
    if not line.strip():
        return ""
    if not any(_find_faults(line, RUN_LINES)):
        call = f"recframe.read_run({quote(path)}) to recframe.rec"
        return f"it is a TREC run. Pass {call}, or run recframe trec QRELS {shlex.quote(path)}"
    # Other tables of four fields, such as MovieLens, have an item in place of the iteration.
    if any(_find_faults(line, QRELS_LINES)) or line.split()[1] not in (b"0", b"Q0"):
        return ""
    call = f"truth=recframe.read_qrels({quote(path)}) in Python"
    return f"these are TREC qrels. Run recframe trec {shlex.quote(path)} RUN, or pass {call}"


def _find_faults(data: bytes, layout: LineLayout) -> Iterator[tuple[int, str]]:
    """Yield the number and the fault of each line that cannot be read."""
    fields, wanted = layout.fields.split(), NUMBERS[layout.number]
    for number, line in enumerate(io.BytesIO(data), 1):
        if line == b"\n":
            continue
        try:
            texts = line.decode().rstrip("\n").split(" ")
        except UnicodeDecodeError:
            yield number, f"must be UTF-8 text, but is {quote(line)}. Convert it, such as by iconv."
            continue
        if len(texts) != len(fields):
            # The first line decides on the layout, so it may have another one.
            alike = [one.fields for one in LAYOUTS if one.kind == layout.kind and number == 1]
            layouts = [f"{one.count(' ') + 1} fields ({one})" for one in alike or [layout.fields]]
            n_fields = " or ".join(layouts)
            yield number, f"must have {n_fields}, but has {len(texts)}: {quote(' '.join(texts))}"
            continue
        value = texts[fields.index(layout.number)]
        if not re.fullmatch(wanted.pattern, value, re.IGNORECASE):
            yield number, f"{layout.number} must be {wanted.required}, but is {quote(value)}"


def _check_tag(path: str, tags: pd.Index[Any]) -> None:
    """Raise if lines of a run have several tags."""
    if len(tags) > 1:
        one, other = (quote(tag.decode(errors="replace")) for tag in tags[:2])
        raise RecframeError(
            f"{show_path(path)}: a run must have one tag in all lines, but has {len(tags)} (such "
            f"as {one} and {other}). Write the lines of each tag to a file of its own."
        )


def _check_repeats(path: str, data: bytes, frame: pd.DataFrame) -> None:
    """Raise if a query has a document in two lines."""
    is_repeated = frame.duplicated(["query", "doc"]).to_numpy()
    if not is_repeated.any():
        return
    row = int(is_repeated.argmax())
    query, doc, *_ = frame.iloc[row].tolist()
    first = int(((frame["query"] == query) & (frame["doc"] == doc)).to_numpy().argmax())
    written = (number for number, line in enumerate(io.BytesIO(data), 1) if line != b"\n")
    before, line = (number for at, number in enumerate(written) if at in (first, row))
    raise RecframeError(
        f"{show_path(path)}, line {line}: query {quote(query)} has the document {quote(doc)} in "
        f"line {before} already ({is_repeated.sum():,} of {len(frame):,} lines repeat another). "
        "Keep one."
    )
