"""Cells of text files: of which types columns are, as far as rows have shown."""

import re
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MOST_NESTED = 1_000  # objects or lists in one another; Arrow's parser crashes at some 10,000
# A text that is not closed ends with the lines, so that none of its bytes are read again.
TEXT_OR_KEY = re.compile(rb'"((?:[^"\\]|\\.)*)"?(\s*:)?', re.DOTALL)
COLUMN_BYTES = 1 << 13  # that a column of text takes, were it empty
CELL_BYTES = 1 << 5  # that a cell takes beside, be it null, while its type is found
COLUMNS, MOST_COLUMNS = 1 << 12, 1 << 17  # so many may be in any memory, and where none is given
FIRST_BLOCK = 1 << 20  # bytes of text that tell of which types columns are, before all is read
MOST_ROW = 1 << 24  # bytes of a row of text, where no memory is given
ROW_SHARE = 8  # what part of the memory a row of text may have, as several copies of it are made
MOST_BLOCK = 1 << 30  # bytes; Arrow takes no 2 ** 31
BLOCK_SHARE = 32  # the same of a block, as Arrow reads 33 ahead
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
FIRST_CELLS = 64
EXACT = 2.0**53  # up to which floats hold all integers
FLOAT_ID = r"^-?[0-9]+(\.0|\.[0-9]*[1-9])?$"  # of ids, "1.10" is not 1.1, nor is "1e5" 100000
PADDED = "^-?0[0-9xX]"  # "007" is not 7, nor is "0x7"
IN_ROW = re.compile(r" in row (\d+)")

Read = TypeVar("Read")


class AgainError(Exception):
    """Raised where rows show what has them read anew from the first, by what is known then."""


class Known:
    """What is known of columns before all rows are read: it grows as rows show more."""

    path = ""  # the file that is read
    flags: Container[str] = ()  # columns of which each file has a type of its own

    def __init__(
        self, n_bytes: int = 0, memory: int | None = None, ids: Container[str] = ()
    ) -> None:
        self.types: dict[Any, pa.DataType] = {}
        self.ids = ids  # columns of which 1.1 and 1.10 are two
        self.n_bytes = n_bytes or FIRST_BLOCK  # of a block of text
        self.memory = memory  # to work in, if that is bounded
        most = MOST_ROW if memory is None else min(memory // ROW_SHARE, MOST_BLOCK)
        self.most = max(self.n_bytes, most)  # bytes that a row may have

    def key(self, name: str) -> Any:
        """Return by what `types` has a column of the file that is read."""
        return (self.path, name) if name in self.flags else name

    def lengthen(self) -> AgainError:
        """Return the error after which blocks are longer, as one row that has line ends is."""
        most = self.most * ROW_SHARE // BLOCK_SHARE
        if self.n_bytes >= most:
            raise self.refuse(self.n_bytes)
        self.n_bytes = min(4 * self.n_bytes, most)
        return AgainError()

    def check_columns(self, n_columns: int, n_rows: int = 0) -> None:
        """Raise where so many columns, each with a cell in so many rows, have no room."""
        most = MOST_COLUMNS if self.memory is None else max(COLUMNS, self.memory // COLUMN_BYTES)
        most = most * COLUMN_BYTES // (COLUMN_BYTES + CELL_BYTES * n_rows)
        if n_columns > most:
            raise pa.ArrowInvalid(
                f"it must have at most {most:,} columns, found {n_columns:,} or more; write the "
                "columns that you need as parquet"
            )

    def refuse(self, n_bytes: int) -> pa.ArrowInvalid:
        """Return the error of a row that is longer than this."""
        remedy = "write it as parquet"
        if self.memory is not None:
            remedy = f"pass memory of {-(-2 * self.memory // 10**6):,} MB or more, or {remedy}"
        return pa.ArrowInvalid(
            f"a row has more than {n_bytes:,} bytes, or a quote is never closed; {remedy}"
        )


class Blocks:
    """A file of text, read in blocks each of which has the end of a line, however long that is."""

    closed = False

    def __init__(self, file: Any, known: Known) -> None:
        self._file, self._known, self._lock = file, known, Lock()

    def read(self, _: int = 0) -> bytes:
        """Return the next block, which is empty at the end and once this is closed."""
        parts, n_bytes = list[bytes](), 0
        with self._lock:
            while not self.closed and (data := self._file.read(self._known.n_bytes)):
                parts.append(data)
                if b"\n" in data or b"\r" in data:
                    break
                n_bytes += len(data)
                if n_bytes > self._known.most:
                    raise self._known.refuse(self._known.most)
        return b"".join(parts)

    def close(self) -> None:
        """Wait for a thread of Arrow's that reads ahead, which may not when Python ends."""
        with self._lock:
            self.closed = True


def read_until_known(read: Callable[[Known], Read], known: Known) -> Read:
    """Return what is read once all that it takes is known."""
    while True:
        with suppress(AgainError):
            return read(known)


def unnest(table: pa.Table) -> pa.Table:
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


def read_cells(name: str, cells: pa.Array, known: Known) -> pa.Array:
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
        is_wider = kind in WIDER_TYPES.get(wanted, ())
        known.types[known.key(name)] = kind if is_wider else pa.string()
        raise AgainError(name)
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


def parse_lines(
    text: bytes, number: int, schema: pa.Schema | None = None, texts: Sequence[str] = ()
) -> pa.Table:
    """Return lines of JSON as a table of this schema, or of the types that they show."""
    from pyarrow import json  # which `import recframe` need not load

    _check_depth(text, number)
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
        return parse_lines(text, number, None, times)
    try:
        table.validate(full=True)
    except pa.ArrowInvalid as error:
        raise pa.ArrowInvalid(f"no UTF-8 text in a line from {number} on") from error
    return table


def infer_lines(text: bytes, number: int, known: Known) -> pa.Table:
    """Return lines of JSON in the types that they show, unless their keys are too many."""
    keys = {found[1] for found in TEXT_OR_KEY.finditer(text) if found[2]}
    known.check_columns(len(keys), n_rows=text.count(b"\n"))
    return parse_lines(text, number)


def _check_depth(text: bytes, number: int) -> None:
    """Raise where a line is nested so deep that Arrow's parser, which recurs, may crash."""
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    cuts = np.concatenate([[0], ends + 1, [len(text)]])
    for line in np.flatnonzero(np.diff(cuts) > 2 * MOST_NESTED).tolist():
        own = text[cuts[line] : cuts[line + 1]]
        if own.count(b"[") + own.count(b"{") <= MOST_NESTED:
            continue
        signs = np.frombuffer(TEXT_OR_KEY.sub(b"", own), np.uint8)
        steps = np.isin(signs, list(b"[{")).astype(np.int64) - np.isin(signs, list(b"]}"))
        if steps.cumsum().max(initial=0) > MOST_NESTED:
            raise pa.ArrowInvalid(
                f"line {number + line} is nested more than {MOST_NESTED:,} deep; write values of "
                "one type in each member"
            )


def conform(name: str, values: pa.ChunkedArray, number: int, known: Known) -> pa.ChunkedArray:
    """Return the values of a column of JSON in the type known; raise where they show another."""
    wanted, found = known.types.setdefault(known.key(name), values.type), values.type
    if found in (wanted, pa.null()) or WIDER_NUMBER.get(found) == wanted:
        # What is null in all lines, pandas has as floats.
        return values.cast(pa.float64() if wanted == pa.null() else wanted)
    if wanted == pa.null() or WIDER_NUMBER.get(wanted) == found:
        known.types[known.key(name)] = found
        raise AgainError(name)
    raise pa.ArrowInvalid(
        f"{name!r} is {wanted} in lines before and {found} in some of those from line "
        f"{number} on; write values of one type"
    )
