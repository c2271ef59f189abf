"""Parquet files opened, and what goes wrong with them told by their names."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from recframe.errors import MissingColumnError, RecframeError, quote, shorten, show_path, spell
from recframe.files.found import Found
from recframe.foreign import find_reader
from recframe.formats.endings import PARQUET, find_format
from recframe.frames.names import shown

BUFFER = 1 << 20  # bytes; without a buffer, reading any part of a row group holds all of it


def open_file(
    found: Found, as_codes: Sequence[str] = (), footer: pq.FileMetaData | None = None
) -> pq.ParquetFile:
    """Return a file opened such that reading a part of it holds that part only.

    Pages are held against their checksums, where the file has any: what is damaged would else be
    another number. It takes up to 16 % of the time of such a file, and none of that of others.
    """
    if found.remote is not None and footer is None:
        footer = pq.read_metadata(pa.BufferReader(found.remote.read_footer()))
    return pq.ParquetFile(
        found.path if found.staged is None and found.remote is None else found.open(),
        metadata=footer,
        read_dictionary=as_codes,
        buffer_size=BUFFER,
        pre_buffer=False,
        page_checksum_verification=True,
    )


def missing_column(name: str, schema: pa.Schema, path: str) -> MissingColumnError:
    """Return the refusal of a file that has not all columns."""
    return MissingColumnError(
        f"{quote(name)}: no such column in {show_path(path)}; it has {shown(schema.names)}"
    )


@contextmanager
def naming_file(path: str) -> Iterator[None]:
    """Raise what goes wrong in reading a file as a `RecframeError` that names the file."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        message = shorten(str(error).partition("\n")[0].rstrip(".")) or type(error).__name__
        is_odd = isinstance(error, pa.ArrowInvalid) and find_format(path) == PARQUET
        call = find_reader(path, quote(path)) if is_odd else ""
        if call and not call.startswith("pd.read_parquet"):
            message += f"; pass {spell(f'{call}, or write it as parquet', 'it as a parquet file')}"
        raise RecframeError(f"cannot read {show_path(path)}: {message}") from error
