"""Staged rows: the rows of sources without footers, in a temporary file.

They are written once, batch by batch, to memory while they are few, else to a temporary file
without a name. Then the types that fit all rows are known, and the rows are read in these types.
"""

from contextlib import suppress
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from recframe.files.batches import gather
from recframe.files.limits import Limits, TemporaryRows
from recframe.files.row_groups import CODE_BYTES, SHORT_TEXT, TEXT_COPIES
from recframe.files.source_files import (
    TEXTS,
    SourceFile,
    StagedBatch,
    StagedRows,
    check_names,
    make_plain,
    naming_file,
)
from recframe.frames.columns import Columns
from recframe.frames.names import means_role
from recframe.stores.store import NOWHERE, unchanged
from recframe.text_types import TextTypes

STAGED_SHARE = 8  # Staged rows may take 1/8 of the memory.
BATCH_SHARE = 64  # A batch of staged rows may take 1/64 of the memory.
LEAST_BATCH, MOST_BATCH = 1 << 18, 1 << 24  # bytes
WRITE_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


def stage(sources: list[SourceFile], columns: Columns, limits: Limits) -> list[SourceFile]:
    """Return the files; the rows of those without a footer are now in a temporary file."""
    n_bytes = max(LEAST_BATCH, min(MOST_BATCH, limits.memory // BATCH_SHARE))
    ids = [*map(str, columns.users), str(columns.item)]
    types = TextTypes(n_bytes // 2, limits.memory, ids)  # Arrow reads many blocks ahead.
    types.has_role = means_role
    types.flags, types.numbers = {str(columns.relevant)}, {*map(str, columns.score_columns)}
    rows = TemporaryRows(limits.memory // STAGED_SHARE, limits.folder)
    staged = []
    with unchanged(sources):
        try:
            for source in sources:
                with naming_file(source.path):
                    staged.append(_stage(source, columns, types, rows))
        except BaseException:
            rows.close()
            raise
    files = []
    for source, written in zip(sources, staged, strict=True):
        types.path = source.path
        complete = written._replace(schema=types.complete(written.schema))
        files.append(source._replace(rows=None, place=NOWHERE, staged=complete))
    return files


def _stage(source: Any, columns: Columns, types: TextTypes, rows: TemporaryRows) -> StagedRows:
    """Write the rows of a file without a footer to the temporary file, batch by batch."""
    types.path, schema = source.path, source.rows.read_schema(types.memory)
    names = list(dict.fromkeys([*map(str, columns.labels), *source.condition_columns]))
    check_names((name for name in names if name not in source.partitions), schema, source.path)
    stored = [name for name in names if name in schema.names] or schema.names[:1]
    n_bytes, staged = 2 * types.n_bytes, list[StagedBatch]()
    read = source.rows.iter_batches(stored, types)
    batches = (batch.cast(make_plain(batch.schema)) for batch in read)
    for _, alike in groupby(batches, lambda batch: batch.schema):
        for batch in gather(alike, n_bytes):
            n_rows = max(1, batch.num_rows * n_bytes // max(1, batch.nbytes))
            starts = range(0, batch.num_rows, n_rows)
            staged += [_write_batch(batch.slice(start, n_rows), rows) for start in starts]
    return StagedRows(rows, staged, make_plain(schema))


def _write_batch(batch: pa.RecordBatch, rows: TemporaryRows) -> StagedBatch:
    """Write rows, with texts as a dictionary and codes, and return facts on them."""
    n_rows, n_bytes, text_bytes, columns = batch.num_rows, 0, 0, {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if column.type in TEXTS:
            column = column.dictionary_encode()
            n_copied = TEXT_COPIES if column.nbytes > SHORT_TEXT * n_rows else 1
            n_bytes += CODE_BYTES * n_rows + n_copied * column.nbytes
            text_bytes += pc.max(pc.binary_length(column.dictionary)).as_py() or 0
        else:
            n_bytes += column.nbytes
        columns[name] = column
    low = high = None
    first = batch.columns[0]
    with suppress(pa.ArrowNotImplementedError, OverflowError, ValueError):  # Some types lack it.
        low, high = pc.min_max(getattr(first, "dictionary", first)).as_py().values()
    written = pa.BufferOutputStream()
    table = pa.record_batch(columns)
    with pa.ipc.new_stream(written, table.schema, options=WRITE_OPTIONS) as writer:
        writer.write_batch(table)
    extent = rows.append(written.getvalue())
    return StagedBatch(extent, n_rows, n_bytes, text_bytes, low, high)
