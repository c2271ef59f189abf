"""Files of Arrow's own format: Feather, and streams."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from recframe.formats.rows import Known

MAGIC = b"ARROW1"


class ArrowFile:
    """A file of record batches."""

    def __init__(self, open_file: Callable[[], Any]) -> None:
        self._open_file = open_file

    def read_schema(self) -> pa.Schema:
        """Return the columns."""
        with self._open() as reader:
            schema: pa.Schema = reader.schema
            return schema

    def iter_batches(self, names: Sequence[str], known: Known) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows."""
        with self._open(names) as reader:
            if isinstance(reader, pa.RecordBatchFileReader):
                for index in range(reader.num_record_batches):
                    yield reader.get_batch(index).select(names)
            else:
                for batch in reader:
                    yield batch.select(names)

    @contextmanager
    def _open(self, names: Sequence[str] = ()) -> Iterator[Any]:
        """Give what reads a file or a stream, of these columns or of all."""
        with self._open_file() as file:
            is_file = file.read(len(MAGIC)) == MAGIC
            file.seek(0)
            open_reader = pa.ipc.open_file if is_file else pa.ipc.open_stream
            reader = open_reader(file)
            if names:
                fields = [reader.schema.get_field_index(name) for name in names]
                file.seek(0)
                reader = open_reader(file, options=pa.ipc.IpcReadOptions(included_fields=fields))
            yield reader
