"""Sizes: what footers and texts take in memory, found before it is taken."""

from contextlib import suppress
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from recframe.errors import RecframeError, option, quote, show_path
from recframe.files.found import Found
from recframe.files.pages import first_page, largest_page

ROW_BYTES = 64  # for the work on a row: read, joined, grouped, ranked
SCORE_BYTES = 32  # the same for each score
FREE = 96 << 20  # bytes; so much is beside the memory given, as the libraries are
FOOTER_COPIES = 10  # a footer that is read takes so many times its bytes in the file
PAGE_COPIES = 8  # a page of texts is decompressed, decoded, made distinct, and handed on
CODE_COPIES = 16  # of a dictionary, which Arrow hands on with every batch anew
TEXT_COPIES = 4  # of distinct texts: of the rows and of their block, and of the block to follow
LONG_TEXT = 64  # bytes; texts above it are kept once each, however many rows have them
FILE_ENDS = (b"PAR1", b"PARE")  # behind the length of a footer, plain or encrypted
PREFIXED, LONGEST_PREFIX = "DELTA_BYTE_ARRAY", 1 << 10  # what begins alike is left out there
CODED_SHARE = 32  # what part of the memory a dictionary of texts read as codes may have
PAGE_HEADERS = 1 << 16  # bytes; rather more than those of a row group have
DAMAGED = (LookupError, ValueError, OverflowError, RecursionError)
LEAST_TEXT_BYTES = 1 << 20  # as they would be in the rows; of fewer no page is looked at


def check_footer(found: Found, memory: int) -> None:
    """Raise where the footer of a file would take the memory that there is to work in."""
    with found.open() as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 8))
        n_bytes, end = int.from_bytes(file.read(4), "little"), file.read(4)
    if end not in FILE_ENDS or n_bytes > size:
        return  # it is no whole parquet file, which reading it will say
    least = left_after(FOOTER_COPIES * n_bytes, 0) * -4 // 3
    if least > memory:
        raise RecframeError(
            f"memory: the footer of {show_path(found.path)} has {n_bytes:,} bytes and takes about "
            f"{FOOTER_COPIES} times as many when it is read, found memory of {memory:,}; pass "
            f"{option('memory', _in_megabytes(least))} or more, or write the file with "
            "larger row groups"
        )


def left_after(footer_bytes: int, memory: int) -> int:
    """Return the bytes of memory that are left to work in beside an open footer."""
    return memory - max(0, footer_bytes - FREE // 4)


def batch_bytes(batch: pa.RecordBatch, row_bytes: int) -> int:
    """Return the bytes that rows take, so many for the work on each among them."""
    n_bytes: int = row_bytes * batch.num_rows + batch.nbytes
    for number, kind in enumerate(batch.schema.types):
        if pa.types.is_dictionary(kind):
            n_bytes += (TEXT_COPIES - 1) * batch.column(number).dictionary.nbytes
    return n_bytes


class Texts(NamedTuple):
    """What texts a row group has: their mean bytes, and whether they are read as codes."""

    length: float
    are_coded: bool


def measure_texts(
    found: Found, name: str, column: pq.ColumnChunkMetaData, n_rows: int, memory: int
) -> Texts:
    """Return what texts a row group has; raise where they cannot be read in memory."""
    n_bytes = int(column.total_uncompressed_size)
    length = n_bytes / n_rows
    if PREFIXED in column.encodings:
        length = max(length, LONGEST_PREFIX)
    if n_rows * n_bytes <= LEAST_TEXT_BYTES:
        return Texts(length, are_coded=False)
    page, largest = None, 0
    copies = PAGE_COPIES
    # Where headers are damaged, reading the pages will say so.
    with suppress(*DAMAGED), found.open() as file:
        page = first_page(file, column)
        if page.is_dictionary:
            copies = CODE_COPIES
        if copies * n_bytes > max(memory, FREE):
            largest = largest_page(file, column)
    least = copies * largest
    if least > max(memory, FREE):
        raise RecframeError(
            f"memory: {show_path(found.path)} has {largest:,} bytes of {quote(name)} in one piece, "
            f"which takes about {copies} times as many when read, found memory of {memory:,}; pass "
            f"{option('memory', _in_megabytes(least))} or more, or write the file with "
            "shorter ids or smaller pages"
        )
    if page is not None and page.is_dictionary and page.n_values:
        n_coded = page.n_bytes + n_rows * page.n_values.bit_length() // 7 + PAGE_HEADERS
        # A large dictionary would be copied for every batch.
        are_coded = n_bytes <= n_coded and page.n_bytes <= memory // CODED_SHARE
        return Texts(page.n_bytes / page.n_values, are_coded)
    return Texts(length, are_coded=False)


def _in_megabytes(n_bytes: int) -> str:
    """Return an amount of memory as text, rounded up."""
    return f"{-(-n_bytes // 10**6)}MB"
