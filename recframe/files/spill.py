"""Rows parted by user in a temporary file, for files whose order of rows does not help.

The file has no name, so nothing of it is left however the process ends.
"""

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby, pairwise
from operator import itemgetter
from threading import Lock
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from recframe.files.batches import gather, without_unused
from recframe.files.budget import writing_to
from recframe.files.packing import is_wide, pack, unpack
from recframe.files.sizes import batch_bytes
from recframe.files.user_ids import hash_users
from recframe.kernel.threads import Array

MAX_BUCKETS = 96  # 10^8 rows in 256 MiB: a bucket and the next, read ahead, have room in it
WRITTEN = pa.ipc.IpcWriteOptions(use_threads=False)
PACKED_BYTES = 4 << 20  # that are unpacked at a time


class BucketedBatch(NamedTuple):
    """Rows of a batch, by the buckets of their users."""

    schema: pa.Schema
    stored: pa.Schema | None  # of what is written down; None where that says it
    buckets: list[int]  # those that have rows
    n_rows: Array  # of each of these
    n_bytes: list[int]  # the same in memory
    rows: list[pa.RecordBatch]  # the same; none where they are written down
    offsets: list[int]  # of each in what is written down
    written: bytes


class HeldRows(NamedTuple):
    """Rows of a bucket that were written at once."""

    schema: pa.Schema
    stored: pa.Schema | None
    rows: pa.RecordBatch | tuple[int, int]  # or where they are in the file, and how many bytes


class Spill:
    """Buckets of rows in a temporary file: a user's rows are in one, in the order written.

    Where memory has room for all rows, they stay there.
    """

    # Which bits of a hash decide, `level` says: those of the next part the users of one bucket.
    def __init__(
        self,
        folder: str | None,
        users: list[str],
        n_buckets: int,
        level: int = 0,
        *,
        in_memory: bool = False,
    ) -> None:
        self._folder = folder
        self._users = users
        self._level = level
        self._held: list[list[HeldRows]] = [[] for _ in range(n_buckets)]
        self.n_rows = np.zeros(n_buckets, np.int64)
        self.n_bytes = np.zeros(n_buckets, np.int64)  # in memory
        self._lock = Lock()  # on where the file is read
        self._file = None
        if not in_memory:
            with writing_to(self._folder):
                self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - see close

    def close(self) -> None:
        """Give the space back; what could not be written no longer matters."""
        self._held.clear()
        if self._file is not None:
            with suppress(OSError):
                self._file.close()

    def write(self, batch: pa.RecordBatch) -> None:
        """Add each row of a batch to the bucket of its user."""
        self.add(self.divide(batch))

    def divide(self, batch: pa.RecordBatch) -> BucketedBatch:
        """Return the rows of a batch by bucket, ready to be added; in any thread."""
        bits = hash_users(*(batch[user] for user in self._users)) >> np.uint64(16 * self._level)
        bucket = (bits % np.uint64(len(self.n_rows))).astype(np.uint8)
        # NumPy sorts bytes by counting them; being stable, that keeps the order of rows.
        batch = _encode_texts(batch, self._users)
        rows = pack(batch).take(pa.array(np.argsort(bucket, kind="stable")))
        counts = np.bincount(bucket, minlength=len(self.n_rows))
        buckets = np.flatnonzero(counts)
        starts = (np.cumsum(counts) - counts)[buckets]
        runs = zip(starts.tolist(), counts[buckets].tolist(), strict=True)
        parts = [rows.slice(start, n_rows) for start, n_rows in runs]
        has_texts = any(map(pa.types.is_dictionary, rows.schema.types))
        if has_texts:
            parts = [_with_own_texts(part) for part in parts]
        n_bytes = [batch_bytes(part, 0) for part in parts]
        n_rows = counts[buckets]
        each = buckets.tolist(), n_rows, n_bytes, parts
        bucketed = BucketedBatch(batch.schema, None, *each, [], b"")
        if self._file is None:
            return bucketed
        write = _write_with_texts if has_texts else pa.RecordBatch.serialize
        written = [write(part) for part in parts]
        offsets = np.append(0, np.cumsum([part.size for part in written])).tolist()
        schema = None if has_texts else rows.schema
        return bucketed._replace(stored=schema, rows=[], offsets=offsets, written=b"".join(written))

    def add(self, bucketed: BucketedBatch) -> None:
        """Add the rows of a batch."""
        self._schema = bucketed.schema
        self.n_rows[bucketed.buckets] += bucketed.n_rows
        self.n_bytes[bucketed.buckets] += bucketed.n_bytes
        kind = bucketed.schema, bucketed.stored
        if self._file is None:
            for bucket, rows in zip(bucketed.buckets, bucketed.rows, strict=True):
                self._held[bucket].append(HeldRows(*kind, rows))
            return
        with writing_to(self._folder):
            first = self._file.tell()
            self._file.write(bucketed.written)
        for bucket, (start, stop) in zip(bucketed.buckets, pairwise(bucketed.offsets), strict=True):
            self._held[bucket].append(HeldRows(*kind, (first + start, stop - start)))

    def read(self, bucket: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a bucket, ids of users that are text as dictionaries."""
        for schema, held in groupby(self._held[bucket], itemgetter(0)):
            batches = map(self._read, held)
            if is_wide(schema):
                yield from (unpack(batch, schema) for batch in gather(batches, PACKED_BYTES))
            else:
                yield from batches

    def _read(self, held: HeldRows) -> pa.RecordBatch:
        """Return rows as they were written."""
        if self._file is None or isinstance(held.rows, pa.RecordBatch):
            return held.rows
        start, size = held.rows
        with writing_to(self._folder):
            with self._lock:
                self._file.seek(start)
                data = self._file.read(size)
            if held.stored is None:
                return pa.ipc.open_stream(data).read_next_batch()
            return pa.ipc.read_record_batch(pa.py_buffer(data), held.stored)


def _encode_texts(batch: pa.RecordBatch, users: list[str]) -> pa.RecordBatch:
    """Return rows with ids of users that are text as dictionaries."""
    for name in users:
        if batch[name].type in (pa.string(), pa.binary()):
            number = batch.schema.get_field_index(name)
            batch = batch.set_column(number, name, batch[name].dictionary_encode())
    return batch


def _write_with_texts(batch: pa.RecordBatch) -> pa.Buffer:
    """Return rows written down with the texts of dictionaries."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=WRITTEN) as stream:
        stream.write_batch(batch)
    return sink.getvalue()


def _with_own_texts(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows with no texts but their own."""
    for number, column in enumerate(batch.columns):
        if pa.types.is_dictionary(column.type):
            batch = batch.set_column(number, batch.schema.names[number], without_unused(column))
    return batch
