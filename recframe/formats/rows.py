"""Rows that no footer describes: what gives them, and what is known of their types so far."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import pyarrow as pa

FIRST_BLOCK = 1 << 20  # bytes of text that tell of which types columns are, before all is read
WHOLE_BLOCK = 1 << 24  # the same where all is read at once


class Rows(Protocol):
    """What gives rows in blocks, all of them each time it is asked, or once."""

    def read_schema(self) -> pa.Schema:
        """Return the columns; of text, with the types of the first block."""

    def iter_batches(self, names: Sequence[str], known: "Known") -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows, in the types known; raise `AgainError` where wider."""


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


def read_whole(rows: Rows, known: Known | None = None) -> pa.Table:
    """Return all rows and columns."""
    known = known or Known(WHOLE_BLOCK)
    schema = rows.read_schema()
    while True:
        try:
            batches = list(rows.iter_batches(schema.names, known))
        except AgainError:
            continue
        return pa.Table.from_batches(batches) if batches else schema.empty_table()
