"""Pages of parquet files: how large they are, which footers do not say but their headers do."""

from typing import Any, BinaryIO, NamedTuple

import pyarrow.parquet as pq

# The types of fields in Thrift's compact form, which headers are written in.
STOP, TRUE, FALSE, BYTE, DOUBLE, BINARY, STRUCT = 0, 1, 2, 3, 7, 8, 12
INTEGER_KINDS = (4, 5, 6)
MAX_SHIFT = 63
PAGE_HEADER = 512  # bytes; more than one has, unless the texts in its statistics are long


class Page(NamedTuple):
    """A page: where the next one begins, its bytes once it is decompressed, and its values."""

    end: int
    n_bytes: int
    n_values: int
    is_dictionary: bool


def first_page(file: BinaryIO, column: pq.ColumnChunkMetaData) -> Page:
    """Return the first page of a column of a row group."""
    return _read_page(file, find_start(column))


def largest_page(file: BinaryIO, column: pq.ColumnChunkMetaData) -> int:
    """Return the bytes of the largest page of a column of a row group."""
    largest, at = 0, find_start(column)
    end = at + column.total_compressed_size
    while at < end:
        page = _read_page(file, at)
        largest, at = max(largest, page.n_bytes), page.end
    return largest


def find_start(column: pq.ColumnChunkMetaData) -> int:
    """Return where a column of a row group begins."""
    offsets = (column.dictionary_page_offset, column.data_page_offset)
    return min(int(offset) for offset in offsets if offset)


def _read_page(file: BinaryIO, start: int) -> Page:
    """Return the page whose header begins at a place."""
    file.seek(start)
    header = _read_struct(file)
    if header[3] < 0:
        raise ValueError("a page ends before it begins")
    n_values = next((header[kind][1] for kind in (5, 7, 8) if kind in header), 0)
    return Page(file.tell() + header[3], header[2], n_values, 7 in header)


def _read_struct(file: BinaryIO) -> dict[int, Any]:
    """Return the fields of a struct by their numbers, those of structs in it too."""
    fields: dict[int, Any] = {}
    number = 0
    while (head := _read_byte(file)) != STOP:
        step, kind = head >> 4, head & 15
        number = number + step if step else _read_number(file)
        fields[number] = _read_value(file, kind)
    return fields


def _read_value(file: BinaryIO, kind: int) -> Any:
    """Return a number or a struct; of all else only what is behind it matters."""
    if kind in INTEGER_KINDS:
        return _read_number(file)
    if kind == STRUCT:
        return _read_struct(file)
    if kind == BINARY:
        file.seek(_read_varint(file), 1)
    elif kind not in (TRUE, FALSE):
        file.seek({BYTE: 1, DOUBLE: 8}[kind], 1)
    return None


def _read_number(file: BinaryIO) -> int:
    """Return a number whose lowest bit is its sign."""
    bits = _read_varint(file)
    return bits >> 1 ^ -(bits & 1)


def _read_varint(file: BinaryIO) -> int:
    """Return a number that is written seven bits at a time, the lowest first."""
    bits = shift = 0
    while (byte := _read_byte(file)) & 128:
        bits |= (byte & 127) << shift
        shift += 7
        if shift > MAX_SHIFT:
            raise ValueError("a number of more than 64 bits")
    return bits | byte << shift


def _read_byte(file: BinaryIO) -> int:
    """Return the next byte."""
    return file.read(1)[0]
