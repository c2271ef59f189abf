"""Rows parted by user in a temporary file, for files whose order of rows does not help.

The file has no name, so nothing of it is left however the process ends.
"""

import tempfile
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pyarrow as pa

from recframe.files.batches import gather, without_unused
from recframe.files.budget import writing_to
from recframe.files.packing import is_wide, pack, unpack
from recframe.files.sizes import batch_bytes
from recframe.files.user_ids import hash_users

MAX_BUCKETS = 96  # 10^8 rows in 256 MiB: a bucket and the next, read ahead, have room in it
PACKED_BYTES = 4 << 20  # that are unpacked at a time


class Spill:
    """Buckets of rows in a temporary file: a user's rows are in one, in the order written."""

    # Which bits of a hash decide, `level` says: those of the next part the users of one bucket.
    def __init__(
        self, folder: str | None, users: list[str], n_buckets: int, level: int = 0
    ) -> None:
        self._folder = folder
        self._users = users
        self._level = level
        self._segments: list[list[tuple[int, int]]] = [[] for _ in range(n_buckets)]
        self.n_rows = np.zeros(n_buckets, np.int64)
        self.n_bytes = np.zeros(n_buckets, np.int64)  # in memory
        with writing_to(self._folder):
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - see close

    def close(self) -> None:
        """Give the space back; what could not be written no longer matters."""
        with suppress(OSError):
            self._file.close()

    def write(self, batch: pa.RecordBatch) -> None:
        """Add each row of a batch to the bucket of its user."""
        self._schema = batch.schema
        bits = hash_users(*(batch[user] for user in self._users)) >> np.uint64(16 * self._level)
        buckets = (bits % np.uint64(len(self.n_rows))).astype(np.uint8)
        # NumPy sorts bytes by counting them; being stable, that keeps the order of rows.
        rows = pack(batch).take(pa.array(np.argsort(buckets, kind="stable")))
        counts = np.bincount(buckets, minlength=len(self.n_rows))
        starts = np.cumsum(counts) - counts
        self.n_rows += counts
        options = pa.ipc.IpcWriteOptions(use_threads=False)
        with writing_to(self._folder):
            for bucket in np.flatnonzero(counts).tolist():
                own = _with_own_texts(rows.slice(starts[bucket], counts[bucket]))
                self.n_bytes[bucket] += batch_bytes(own, 0)
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, own.schema, options=options) as stream:
                    stream.write_batch(own)
                start = self._file.tell()
                self._segments[bucket].append((start, self._file.write(sink.getvalue())))

    def read(self, bucket: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a bucket."""
        if is_wide(self._schema):
            for batch in gather(self._read(bucket), PACKED_BYTES):
                yield unpack(batch, self._schema)
        else:
            yield from self._read(bucket)

    def _read(self, bucket: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a bucket as they were written."""
        for start, size in self._segments[bucket]:
            with writing_to(self._folder):
                self._file.seek(start)
                yield pa.ipc.open_stream(self._file.read(size)).read_next_batch()


def _with_own_texts(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows with no texts but their own."""
    for number, column in enumerate(batch.columns):
        if pa.types.is_dictionary(column.type):
            batch = batch.set_column(number, batch.schema.names[number], without_unused(column))
    return batch
