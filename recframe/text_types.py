"""Cells of text files, which stay text until all rows have shown the types of their columns."""

import re
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MOST_NESTED = 1_000  # objects or lists in one another; Arrow's parser crashes at some 10,000
# A text without a closing quote ends where the lines end, so that no byte is searched twice.
TEXT_OR_KEY = re.compile(rb'"((?:[^"\\]|\\.)*)"?(\s*:)?', re.DOTALL)
COLUMN_BYTES = 1 << 13  # memory of a column of text, even if it is empty
CELL_BYTES = 1 << 5  # additional memory of a cell, even if it is null, while its type is found
COLUMNS, MOST_COLUMNS = 1 << 12, 1 << 17  # allowed in any memory, and in unlimited memory
FIRST_BLOCK = 1 << 20  # bytes of text that show the first types of columns
MOST_ROW = 1 << 24  # bytes of a row of text if memory is unlimited
ROW_SHARE = 8  # A row of text is copied several times: it may take 1/8 of the memory.
MOST_BLOCK = 1 << 30  # bytes; Arrow refuses 2 ** 31
# A column of CSV has the first of these types that holds all its cells, else it is text.
TYPES = (pa.null(), pa.int64(), pa.uint64(), pa.bool_(), pa.float64())
WHOLE_NUMBERS = (pa.int64(), pa.uint64())
TRUTHS = pa.array(["True", "TRUE", "true"])
FALSEHOODS = pa.array(["False", "FALSE", "false"])
FIRST_CELLS = 64
EXACT = 2.0**53  # floats hold all integers up to this one
FLOAT_ID = r"^-?[0-9]+(\.0|\.[0-9]*[1-9])?$"  # the id "1.10" is not 1.1, nor is "1e5" 100000
PADDED = "^-?0[0-9xX]"  # "007" is not 7, nor is "0x7"
IN_ROW = re.compile(r" in row (\d+)")


class ColumnType(NamedTuple):
    """The type of a column's cells, and the bounds of its integers, None without integers."""

    kind: pa.DataType
    low: int | None = None
    high: int | None = None


class TextTypes:
    """The types of columns that rows have shown so far, and the memory for reading text."""

    path = ""  # the file that is read
    flags: Container[str] = ()  # columns whose type may differ from file to file
    texts: Container[str] = ()  # columns whose cells stay text
    numbers: Container[str] = ()  # columns that must not hold text, so that no text is kept
    # A member of JSON lines that first appears late is skipped if this is False for its name.
    has_role: Callable[[str], bool] = staticmethod(bool)

    def __init__(
        self, n_bytes: int = 0, memory: int | None = None, ids: Container[str] = ()
    ) -> None:
        self._found: dict[Any, ColumnType] = {}
        self.ids = ids  # columns in which 1.1 and 1.10 are two ids
        self.n_bytes = n_bytes or FIRST_BLOCK  # size of a block of text
        self.memory = memory  # None if it is unlimited
        most = MOST_ROW if memory is None else min(memory // ROW_SHARE, MOST_BLOCK)
        self.most = max(self.n_bytes, most)  # most bytes of a row

    def _key(self, name: str) -> Any:
        """Return the key of a column; flags have one key for each file."""
        return (self.path, name) if name in self.flags else name

    def find(self, name: str) -> pa.DataType | None:
        """Return the type of a column so far, None where no row has been read."""
        found = self._found.get(self._key(name))
        return None if found is None else found.kind

    def note(self, name: str, shown: ColumnType) -> None:
        """Record the type of some cells of a column."""
        known = self._found.get(self._key(name), shown)
        self._found[self._key(name)] = _widen(known, shown)

    def complete(self, schema: pa.Schema) -> pa.Schema:
        """Return a schema with the types that rows have shown."""
        fields = []
        for field in schema:
            kind = self.find(field.name)
            # Pandas reads a column that is null in all rows as floats.
            kind = pa.float64() if kind == pa.null() else kind
            fields.append(field if kind is None else field.with_type(kind))
        return pa.schema(fields, schema.metadata)

    def check_columns(self, n_columns: int, n_rows: int = 0) -> None:
        """Raise if the memory has no room for so many columns with so many rows."""
        most = MOST_COLUMNS if self.memory is None else max(COLUMNS, self.memory // COLUMN_BYTES)
        most = most * COLUMN_BYTES // (COLUMN_BYTES + CELL_BYTES * n_rows)
        if n_columns > most:
            raise pa.ArrowInvalid(
                f"it must have at most {most:,} columns, but has {n_columns:,} or more. Write the "
                "columns that you need as parquet."
            )

    def refuse(self, n_bytes: int) -> pa.ArrowInvalid:
        """Return the error for a row that is longer than this."""
        remedy = "write it as parquet"
        if self.memory is not None and n_bytes == self.most:  # more memory allows it
            remedy = f"pass memory of {-(-2 * self.memory // 10**6):,} MB or more, or {remedy}"
        return pa.ArrowInvalid(
            f"a row has more than {n_bytes:,} bytes, or a quote is never closed; {remedy}"
        )


def _widen(one: ColumnType, other: ColumnType) -> ColumnType:
    """Return the type that holds the cells of two parts of a column; text always does."""
    low = min((end for end in (one.low, other.low) if end is not None), default=None)
    high = max((end for end in (one.high, other.high) if end is not None), default=None)
    kinds = {one.kind, other.kind} - {pa.null()}
    if len(kinds) < 2:
        return ColumnType(next(iter(kinds), pa.null()), low, high)
    if kinds == {pa.int64(), pa.uint64()} and low is not None and low >= 0:
        return ColumnType(pa.uint64(), low, high)
    is_exact = low is None or high is None or max(-low, high) < EXACT
    if pa.float64() in kinds and kinds <= {*WHOLE_NUMBERS, pa.float64()} and is_exact:
        return ColumnType(pa.float64(), low, high)
    return ColumnType(pa.string())


class TextBlocks:
    """A text file, read in blocks that each contain the end of at least one line."""

    closed = False

    def __init__(self, file: Any, types: TextTypes) -> None:
        self._file, self._types, self._lock = file, types, Lock()

    def read(self, _: int = 0) -> bytes:
        """Return the next block; it is empty at the end of the file and after `close`."""
        parts, n_bytes = list[bytes](), 0
        with self._lock:
            while not self.closed and (data := self._file.read(self._types.n_bytes)):
                parts.append(data)
                if b"\n" in data or b"\r" in data:
                    break
                n_bytes += len(data)
                if n_bytes > self._types.most:
                    raise self._types.refuse(self._types.most)
        return b"".join(parts)

    def close(self) -> None:
        """End reading once Arrow's thread waits: it must not read ahead while Python exits."""
        with self._lock:
            self.closed = True


def read_cells(name: str, cells: pa.Array, types: TextTypes) -> pa.Array:
    """Return the cells of a column, parsed where none need stay text, and record their type."""
    if types.find(name) == pa.string():
        return cells
    kind, values, texts = _parse_cells(cells, name in types.ids)
    low = high = None
    if kind in WHOLE_NUMBERS:
        low, high = pc.min_max(values).as_py().values()
    types.note(name, ColumnType(kind, low, high))
    # Without spaces, a plus and -0, each integer is written in one way only.
    is_one = kind in WHOLE_NUMBERS and texts is cells and not pc.starts_with(cells, "-0").true_count
    is_number = kind == pa.float64() and name in types.numbers
    return values if kind == pa.null() or is_one or is_number else cells


def convert(cells: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Return cells, as text or in the type of some rows, in the type of all rows."""
    if cells.type == wanted:
        return cells
    if pa.types.is_dictionary(cells.type):  # Text of staged rows is a dictionary and codes.
        return convert(cells.dictionary, wanted).take(cells.indices)
    try:
        return cells.cast(wanted)
    except pa.ArrowInvalid:
        if not pa.types.is_string(cells.type):
            raise
        return _trim(cells).cast(wanted)


def _parse_cells(cells: pa.Array, is_id: bool) -> tuple[pa.DataType, pa.Array, pa.Array]:
    """Return the first type that fits all cells, else text; the cells in this type, and as text."""
    for kind in TYPES:
        if (found := _cast(cells, kind, is_id)) is not None:
            return kind, found, cells
    # Pandas reads numbers with spaces around them, or with a plus before them.
    trimmed = _trim(cells)
    for kind in () if trimmed.equals(cells) else TYPES:
        if kind != pa.bool_() and (found := _cast(trimmed, kind, is_id)) is not None:
            return kind, found, trimmed
    return pa.string(), cells, cells


def _trim(cells: pa.Array) -> pa.Array:
    """Return cells without the spaces around them and the plus before them."""
    return pc.ascii_ltrim(pc.ascii_trim_whitespace(cells), "+")


def _cast(cells: pa.Array, kind: pa.DataType, is_id: bool) -> pa.Array | None:
    """Return cells as values of a type, or None if a cell is no such value."""
    # Arrow parses all cells even if the first does not fit, which is slow if none fits.
    if len(cells) > FIRST_CELLS and _cast(cells[:FIRST_CELLS], kind, is_id) is None:
        return None
    if kind == pa.null():
        return pa.nulls(len(cells)) if cells.null_count == len(cells) else None
    if kind == pa.bool_():
        is_true, is_false = pc.is_in(cells, TRUTHS), pc.is_in(cells, FALSEHOODS)
        n_known = is_true.true_count + is_false.true_count + cells.null_count
        return cells.cast(kind) if n_known == len(cells) else None
    if pc.starts_with(cells, "+").true_count:
        return None  # Arrow reads a plus in floats only.
    try:
        found = cells.cast(kind)
    except pa.ArrowInvalid:
        return None
    zeros = pc.or_(pc.starts_with(cells, "0"), pc.starts_with(cells, "-0"))
    zeros = cells.filter(pc.and_not(zeros, pc.starts_with(cells, "0.")))  # most are fractions
    if pc.match_substring_regex(zeros, PADDED).true_count:
        return None
    if kind == pa.float64():  # An integer that a float would round is no float.
        large = cells.filter(pc.greater_equal(pc.abs(found), EXACT))
        if pc.match_substring_regex(large, "^-?[0-9]+$").true_count:
            return None
        if is_id and pc.match_substring_regex(cells, FLOAT_ID).false_count:
            return None
    return found


def parse_lines(
    text: bytes, number: int, schema: pa.Schema | None = None, texts: Sequence[str] = ()
) -> pa.Table:
    """Return lines of JSON as a table with this schema, or with the types found in the lines."""
    from pyarrow import json  # `import recframe` does not need it.

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
    # Times stay text, as they are written.
    if times := [field.name for field in table.schema if pa.types.is_timestamp(field.type)]:
        return parse_lines(text, number, None, times)
    try:
        table.validate(full=True)
    except pa.ArrowInvalid as error:
        reason = f"no UTF-8 text in a line from {number} on"
        with suppress(UnicodeDecodeError):
            text.decode()
            reason = f"a list begins with null in a line from {number} on, and Arrow misreads it: "
            reason += "leave the null out"
        raise pa.ArrowInvalid(reason) from error
    return table


def infer_lines(text: bytes, number: int, types: TextTypes) -> pa.Table:
    """Return lines of JSON with the types found in them; raise if they have too many keys."""
    keys = {found[1] for found in TEXT_OR_KEY.finditer(text) if found[2]}
    types.check_columns(len(keys), n_rows=text.count(b"\n"))
    return parse_lines(text, number)


def _check_depth(text: bytes, number: int) -> None:
    """Raise if a line is nested so deeply that Arrow's recursive parser may crash."""
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
                f"line {number + line} is nested more than {MOST_NESTED:,} deep. Write values of "
                "one type in each member."
            )


def check_type(name: str, found: pa.DataType, number: int, types: TextTypes) -> None:
    """Record the type of a column of JSON; raise if earlier lines have another type."""
    known = types.find(name)
    kinds = {found, found if known is None else known} - {pa.null()}
    if pa.types.is_nested(found):
        return  # The fields of lists are compared when they have become columns.
    if len(kinds) > 1 and kinds != {pa.int64(), pa.float64()}:
        raise pa.ArrowInvalid(
            f"{name!r} is {known} in lines before and {found} in some of those from line "
            f"{number} on. Write values of one type."
        )
    types.note(name, ColumnType(found))
