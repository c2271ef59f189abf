"""Rows parted by user in a temporary file, for files whose order of rows does not help.

The file has no name, so nothing of it is left however the process ends.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np
import pyarrow as pa

from recframe.errors import RecframeError
from recframe.files.user_ids import hash_users

MAX_BUCKETS = 64


class Spill:
    """Buckets of rows in a temporary file: a user's rows are in one, in the order written."""

    # Which bits of a hash decide, `level` says: those of the next part the users of one bucket.
    def __init__(self, folder: str | None, user: str, n_buckets: int, level: int = 0) -> None:
        self._folder = tempfile.gettempdir() if folder is None else folder
        self._user = user
        self._level = level
        self._segments: list[list[tuple[int, int]]] = [[] for _ in range(n_buckets)]
        self.n_rows = np.zeros(n_buckets, np.int64)
        with self._naming_folder():
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - see close

    def close(self) -> None:
        """Give the space back; what could not be written no longer matters."""
        with suppress(OSError):
            self._file.close()

    def write(self, batch: pa.RecordBatch) -> None:
        """Add each row of a batch to the bucket of its user."""
        bits = hash_users(batch[self._user]) >> np.uint64(16 * self._level)
        buckets = (bits % np.uint64(len(self.n_rows))).astype(np.uint8)
        # NumPy sorts bytes by counting them; being stable, that keeps the order of rows.
        rows = batch.take(pa.array(np.argsort(buckets, kind="stable")))
        counts = np.bincount(buckets, minlength=len(self.n_rows))
        starts = np.cumsum(counts) - counts
        self.n_rows += counts
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with self._naming_folder():
            for bucket in np.flatnonzero(counts).tolist():
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, rows.schema, options=options) as stream:
                    stream.write_batch(rows.slice(starts[bucket], counts[bucket]))
                start = self._file.tell()
                self._segments[bucket].append((start, self._file.write(sink.getvalue())))

    def read(self, bucket: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a bucket."""
        for start, size in self._segments[bucket]:
            with self._naming_folder():
                self._file.seek(start)
                yield pa.ipc.open_stream(self._file.read(size)).read_next_batch()

    @contextmanager
    def _naming_folder(self) -> Iterator[None]:
        """Raise what goes wrong with the file as a `RecframeError` that names its folder."""
        try:
            yield
        except OSError as error:
            raise RecframeError(
                f"cannot write temporary files to {self._folder}: {error.strerror or error}; "
                "pass tmp= a folder with more room"
            ) from error
