"""Delimited text: CSV and TSV."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa

from recframe.formats.cells import read_cells
from recframe.formats.rows import AgainError, Known

NULLS = ("None", "<NA>")  # which pandas takes for null, beside those that Arrow does
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
TOO_LONG = "straddles two block boundaries"


class Delimited:
    """A file of text whose first row names its columns."""

    def __init__(self, open_file: Callable[[], Any], delimiter: str) -> None:
        self._open_file = open_file
        self._delimiter = delimiter

    def read_schema(self) -> pa.Schema:
        """Return the columns, with the types of the first block."""
        known = Known()
        while True:
            try:
                return self._read_first(known)
            except AgainError:
                continue

    def _read_first(self, known: Known) -> pa.Schema:
        """Return the columns, with the types of a block of this length."""
        with self._open_file() as file:
            if file.read(2) in UTF_16:
                raise pa.ArrowInvalid("it is UTF-16 text; convert it to UTF-8")
        with self._open_file() as file:
            names = self._open(file, known).schema.names
        for cells in self._iter_cells(names, known):
            types = [read_cells("", cells[name], Known()).type for name in cells.schema.names]
            found = dict(zip(cells.schema.names, types, strict=True))
            return pa.schema([(name, found[name]) for name in names])
        return pa.schema([(name, pa.null()) for name in names])

    def iter_batches(self, names: Sequence[str], known: Known) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows; raise `AgainError` where they need other types."""
        for cells in self._iter_cells(names, known):
            yield pa.record_batch({name: read_cells(name, cells[name], known) for name in names})

    def _iter_cells(self, names: Sequence[str], known: Known) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows as text."""
        with self._open_file() as file:
            batches = iter(self._open(file, known, names))
            while True:
                try:
                    batch = next(batches, None)
                except pa.ArrowInvalid as error:
                    raise _read_error(error, known) from error
                if batch is None:
                    return
                if batch.num_rows:
                    yield batch

    def _open(self, file: BinaryIO, known: Known, names: Sequence[str] = ()) -> Any:
        """Return what reads columns, as text those that are named."""
        from pyarrow import csv  # which `import recframe` need not load

        try:
            reader = csv.open_csv(
                file,
                # In threads, Arrow does not say in which row something is wrong.
                csv.ReadOptions(use_threads=False, block_size=known.n_bytes),
                csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
                csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    include_columns=list(dict.fromkeys(names)),
                    null_values=[*csv.ConvertOptions().null_values, *NULLS],
                    strings_can_be_null=True,
                ),
            )
            _ = reader.schema.names
        except UnicodeDecodeError as error:
            raise pa.ArrowInvalid("its first row is not UTF-8 text") from error
        except pa.ArrowInvalid as error:
            raise _read_error(error, known) from error
        return reader


def _read_error(error: Exception, known: Known) -> Exception:
    """Return what to raise in place of an error of Arrow."""
    return known.lengthen() if TOO_LONG in str(error) else error
