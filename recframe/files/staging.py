"""Rows without footers, staged: written once as parquet, which the rest of the engine reads.

What is staged is in memory while it is small, else in a temporary file that has no name.
"""

import io
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from threading import Lock
from typing import Any
from weakref import finalize

import pyarrow as pa
import pyarrow.parquet as pq

from recframe.files.batches import gather
from recframe.files.budget import Limits, writing_to
from recframe.files.found import Found, Staged, plain_type
from recframe.files.opening import missing_column, naming_file
from recframe.files.row_groups import is_text
from recframe.formats.rows import AgainError, Known, Rows
from recframe.frames.columns import Columns

STAGED_SHARE = 8  # what part of the memory may hold what is staged
PIECE_SHARE = 64  # the same of a block of text, which is a row group as well
LEAST_PIECE, MOST_PIECE = 1 << 18, 1 << 24  # bytes


def stage(found: list[Found], columns: Columns, limits: Limits) -> list[Found]:
    """Return files with those that have no footer as parquet, in which these columns are."""
    if all(file.rows is None for file in found):
        return found
    names = [str(label) for label in columns.labels]
    n_bytes = max(LEAST_PIECE, min(MOST_PIECE, limits.memory // PIECE_SHARE))
    known = Known(n_bytes, max(n_bytes, limits.memory // STAGED_SHARE))
    while True:
        pieces = Pieces(limits)
        try:
            return [
                file if file.rows is None else _stage(file, file.rows, names, known, pieces)
                for file in found
            ]
        except AgainError:  # what is known of the types is so of all files
            pieces.close()
        except BaseException:
            pieces.close()
            raise


def _stage(found: Found, rows: Rows, names: list[str], known: Known, pieces: "Pieces") -> Found:
    """Return a file of rows as parquet."""
    with naming_file(found.path):
        schema = rows.read_schema()
        names = list(dict.fromkeys([*names, *found.looked_at]))
        stored = [name for name in names if name in schema.names]
        for name in names:
            if name not in schema.names and name not in found.partitions:
                raise missing_column(name, schema, found.path)
        batches = gather(map(_storable, rows.iter_batches(stored, known)), known.n_bytes)
        own = pa.schema([schema.field(name) for name in stored])
        own, piece = pieces.write(batches, own, known.n_bytes)
    for field in own:  # in the types of all rows
        schema = schema.set(schema.get_field_index(field.name), field)
    return found._replace(given=None, remote=None, staged=Staged(piece.open, schema))


class Pieces:
    """What is staged, one parquet file after the other in one of no name."""

    def __init__(self, limits: Limits) -> None:
        self._folder = limits.folder
        most = limits.memory // STAGED_SHARE
        self._file = tempfile.SpooledTemporaryFile(most, dir=limits.folder)  # noqa: SIM115 - see close
        self._lock = Lock()
        self.size = 0
        finalize(self, self._file.close)

    def close(self) -> None:
        """Give the space back; what could not be written no longer matters."""
        with suppress(OSError):
            self._file.close()

    def read(self, start: int, size: int) -> bytes:
        """Return bytes; several threads may ask."""
        with self._lock:
            self._file.seek(start)
            return self._file.read(size)

    def append(self, data: bytes) -> None:
        """Add bytes at the end."""
        with self._lock, writing_to(self._folder):
            self._file.seek(self.size)
            self._file.write(data)
            self.size += len(data)

    def write(
        self, batches: Iterator[pa.RecordBatch], schema: pa.Schema, n_bytes: int
    ) -> tuple[pa.Schema, "Piece"]:
        """Add rows as a parquet file with row groups of so many bytes; return what is in it."""
        start = self.size
        first = next(batches, None)
        if first is not None:
            schema = first.schema
        texts = [field.name for field in schema if is_text(plain_type(field.type))]
        with pq.ParquetWriter(
            Piece(self, start), schema, compression="lz4", use_dictionary=texts
        ) as writer:
            for batch in () if first is None else chain([first], batches):
                n_rows = max(1, batch.num_rows * n_bytes // max(1, batch.nbytes))
                writer.write_batch(batch, row_group_size=n_rows)
        return schema, Piece(self, start)


class Piece(io.RawIOBase):
    """One of the files staged, with a place in it of its own; it is read once it is written."""

    def __init__(self, pieces: Pieces, start: int) -> None:
        super().__init__()
        self._pieces, self._start, self._at = pieces, start, 0
        self._size = pieces.size - start

    def open(self) -> "Piece":
        """Return it opened to be read from its beginning."""
        opened = Piece(self._pieces, self._start)
        opened._size = self._size
        return opened

    def readable(self) -> bool:
        """Return that it is read."""
        return True

    def writable(self) -> bool:
        """Return that it is written."""
        return True

    def seekable(self) -> bool:
        """Return that any part of it can be read."""
        return True

    def tell(self) -> int:
        """Return where it is read or written next."""
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes."""
        left = max(0, self._size - self._at)
        wanted = left if size is None or size < 0 else min(size, left)
        data = self._pieces.read(self._start + self._at, wanted)
        self._at += len(data)
        return data

    def write(self, data: Any) -> int:
        """Add bytes at the end."""
        self._pieces.append(data)
        self._at += len(data)
        return len(data)


def _storable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows in types that parquet has."""
    for at, field in enumerate(batch.schema):
        if pa.types.is_string_view(field.type):
            batch = batch.set_column(at, field.name, batch.column(at).cast(pa.large_string()))
    return batch
