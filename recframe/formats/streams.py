"""Rows that come in batches from where Arrow reads them: datasets, and readers that read once."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from recframe.formats.rows import Known


class DatasetRows:
    """A dataset whose files are not looked at: of any format, in memory, filtered."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def read_schema(self) -> pa.Schema:
        """Return the columns."""
        schema: pa.Schema = self._dataset.schema
        return schema

    def iter_batches(self, names: Sequence[str], known: Known) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows."""
        # Arrow reads many batches ahead unless it is told.
        scanner = self._dataset.scanner(
            columns=list(names), batch_readahead=1, fragment_readahead=1, use_threads=False
        )
        yield from scanner.to_batches()


class ReaderRows:
    """A reader of batches, which gives its rows once."""

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self._reader = reader
        self._is_read = False

    def read_schema(self) -> pa.Schema:
        """Return the columns."""
        schema: pa.Schema = self._reader.schema
        return schema

    def iter_batches(self, names: Sequence[str], known: Known) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows; raise where they were read before."""
        if self._is_read:
            raise pa.ArrowInvalid(
                "it gives its rows once, and they have been read; scan a new reader, or a file"
            )
        self._is_read = True
        for batch in self._reader:
            yield batch.select(names)
