"""Lines of JSON, an object each."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from recframe.formats.rows import FIRST_BLOCK, AgainError, Known

IN_ROW = re.compile(r" in row (\d+)")
WIDER_NUMBER = {pa.int64(): pa.float64()}  # beside null, which all are


class Lines(NamedTuple):
    """Whole lines of a file."""

    text: bytes
    number: int  # of the first


class JsonLines:
    """A file whose lines are objects of JSON; their members are the columns."""

    def __init__(self, open_file: Callable[[], Any]) -> None:
        self._open_file = open_file

    def read_schema(self) -> pa.Schema:
        """Return the columns, with the types of the first block."""
        known = Known()
        while True:
            try:
                for lines in self._iter_lines(known):
                    return _parse(lines).schema
            except AgainError:
                continue
            raise pa.ArrowInvalid("it is empty")

    def iter_batches(self, names: Sequence[str], known: Known) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows; raise `AgainError` where they need other types."""
        schema = self.read_schema()
        for lines in self._iter_lines(known):
            for name in {*names} & {*known.types}:
                schema = schema.set(schema.get_field_index(name), pa.field(name, known.types[name]))
            try:
                table = _parse(lines, schema)
            except pa.ArrowInvalid:
                table = _parse(lines)  # which tells of what types it is, or what is wrong
                _check_members(table, schema, lines)
            columns = {}
            for name in names:
                values = table[name] if name in table.schema.names else pa.nulls(table.num_rows)
                columns[name] = _conform(name, values, lines, known)
            yield from pa.table(columns).combine_chunks().to_batches()

    def _iter_lines(self, known: Known) -> Iterator[Lines]:
        """Yield the lines of a file, many at a time."""
        with self._open_file() as file:
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
                    yield Lines(text, number)
                number += text.count(b"\n")


def _check_members(table: pa.Table, schema: pa.Schema, lines: Lines) -> None:
    """Raise where lines have members that the first ones do not, as columns are looked up there."""
    late = [name for name in table.schema.names if name not in schema.names]
    if late:
        raise pa.ArrowInvalid(
            f"{late[0]!r} is in a line from {lines.number} on, but in none of the first "
            f"{FIRST_BLOCK >> 20} MiB; write it in the first line too, as null"
        )


def _parse(lines: Lines, schema: pa.Schema | None = None, texts: Sequence[str] = ()) -> pa.Table:
    """Return lines as a table of this schema, or of the types that they show."""
    from pyarrow import json  # which `import recframe` need not load

    wanted = schema or pa.schema([(name, pa.string()) for name in texts])
    others = "infer" if schema is None else "error"
    try:
        table = json.read_json(
            pa.BufferReader(lines.text),
            json.ReadOptions(use_threads=False, block_size=len(lines.text) + 1),
            json.ParseOptions(explicit_schema=wanted, unexpected_field_behavior=others),
        )
    except pa.ArrowInvalid as error:
        found = IN_ROW.search(str(error))
        where = f", in line {lines.number + int(found[1])}" if found else ""
        raise pa.ArrowInvalid(IN_ROW.sub("", str(error)) + where) from error
    # What looks like a time is text, as it stands there.
    times = [field.name for field in table.schema if pa.types.is_timestamp(field.type)]
    if times:
        return _parse(lines, None, times)
    try:
        table.validate(full=True)
    except pa.ArrowInvalid as error:
        raise pa.ArrowInvalid(f"no UTF-8 text in a line from {lines.number} on") from error
    return table


def _conform(name: str, values: pa.ChunkedArray, lines: Lines, known: Known) -> pa.ChunkedArray:
    """Return the values of a column in the type known; raise where they show another."""
    wanted, found = known.types.setdefault(name, values.type), values.type
    if found in (wanted, pa.null()) or WIDER_NUMBER.get(found) == wanted:
        # What is null in all lines, pandas has as floats.
        return values.cast(pa.float64() if wanted == pa.null() else wanted)
    if wanted == pa.null() or WIDER_NUMBER.get(wanted) == found:
        raise known.widen(name, found)
    raise pa.ArrowInvalid(
        f"{name!r} is {wanted} in lines before and {found} in some of those from line "
        f"{lines.number} on; write values of one type"
    )
