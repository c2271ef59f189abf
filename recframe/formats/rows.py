"""Rows that no footer describes: what is known of their types so far, and those Arrow reads."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa

FIRST_BLOCK = 1 << 20  # bytes of text that tell of which types columns are, before all is read
ARROW_FILE = b"ARROW1"  # how a file of Arrow begins, and a stream does not

Read = TypeVar("Read")


class AgainError(Exception):
    """Raised where rows show what has them read anew from the first, by what is known then."""


class Known:
    """What is known of columns before all rows are read: it grows as rows show more."""

    def __init__(self, n_bytes: int | None = None, most: int = 1 << 30) -> None:
        self.types: dict[str, pa.DataType] = {}
        self.n_bytes = n_bytes or FIRST_BLOCK  # of a block of text
        self.most = most  # bytes that a block may be given for one long row

    def widen(self, name: str, wider: pa.DataType) -> AgainError:
        """Return the error after which a column has a type that holds more."""
        self.types[name] = wider
        return AgainError(name)

    def lengthen(self) -> AgainError:
        """Return the error after which blocks are longer, as one row is."""
        if self.n_bytes >= self.most:
            raise pa.ArrowInvalid(
                f"a row has more than {self.n_bytes:,} bytes, or a quote is never closed"
            )
        self.n_bytes = min(4 * self.n_bytes, self.most)
        return AgainError()


def read_until_known(read: Callable[[Known], Read], known: Known) -> Read:
    """Return what is read once all that it takes is known."""
    while True:
        with suppress(AgainError):
            return read(known)


class GivenRows:
    """Rows of a dataset whose files are not looked at, or of a reader, which gives them once."""

    def __init__(self, given: Any) -> None:
        self._given, self._is_read = given, False

    def read_schema(self) -> pa.Schema:
        """Return the columns."""
        schema: pa.Schema = self._given.schema
        return schema

    def iter_batches(self, names: Sequence[str], known: Known) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows; raise where a reader's were read before."""
        if not isinstance(self._given, pa.RecordBatchReader):
            # Arrow reads many batches ahead unless it is told.
            yield from self._given.scanner(
                columns=list(names), batch_readahead=1, fragment_readahead=1, use_threads=False
            ).to_batches()
            return
        if self._is_read:
            raise pa.ArrowInvalid(
                "it gives its rows once, and they have been read; scan a new reader, or a file"
            )
        self._is_read = True
        for batch in self._given:
            yield batch.select(names)


@dataclass(frozen=True)
class ArrowFile:
    """A file of Arrow's own format: Feather, or a stream."""

    open_file: Callable[[], Any]

    def read_schema(self) -> pa.Schema:
        """Return the columns."""
        with self._opened() as reader:
            schema: pa.Schema = reader.schema
            return schema

    def iter_batches(self, names: Sequence[str], known: Known) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows."""
        with self._opened(names) as reader:
            n_batches = getattr(reader, "num_record_batches", None)  # None of a stream
            for batch in reader if n_batches is None else map(reader.get_batch, range(n_batches)):
                yield batch.select(names)

    @contextmanager
    def _opened(self, names: Sequence[str] = ()) -> Iterator[Any]:
        """Give what reads a file or a stream, of these columns or of all."""
        with self.open_file() as file:
            is_file = file.read(len(ARROW_FILE)) == ARROW_FILE
            file.seek(0)
            open_reader = pa.ipc.open_file if is_file else pa.ipc.open_stream
            reader = open_reader(file)
            if names:
                fields = [reader.schema.get_field_index(name) for name in names]
                file.seek(0)
                reader = open_reader(file, options=pa.ipc.IpcReadOptions(included_fields=fields))
            yield reader
