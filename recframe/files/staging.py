"""Staged rows: the rows of sources without footers, in a temporary file.

They are written once, batch by batch, to memory while they are few, else to a temporary file
without a name. Then the types that fit all rows are known, and the rows are read in these types.
"""

from contextlib import suppress
from itertools import groupby
from weakref import finalize

import pyarrow as pa
import pyarrow.compute as pc

from recframe.files.batches import gather
from recframe.files.limits import Limits, TemporaryRows
from recframe.files.source_files import (
    TEXTS,
    SourceFile,
    StagedBatch,
    StagedRows,
    check_names,
    naming_file,
    plain_type,
)
from recframe.frames.columns import Columns
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
    types.flags, types.numbers = {str(columns.relevant)}, {*map(str, columns.score_columns)}
    rows = TemporaryRows(limits.memory // STAGED_SHARE, limits.folder)
    file = pa.PythonFile(rows, "r")  # Several threads may read parts.
    finalize(file, rows.close)
    staged = []
    with unchanged(sources):
        try:
            for source in sources:
                with naming_file(source.path):
                    staged.append(_stage(source, columns, types, rows, file))
        except BaseException:
            rows.close()
            raise
    for at, source in enumerate(staged):
        if source.staged is not None:
            types.path = source.path
            schema = types.complete(source.staged.schema)
            staged[at] = source._replace(staged=source.staged._replace(schema=schema))
    return staged


def _stage(
    source: SourceFile, columns: Columns, types: TextTypes, rows: TemporaryRows, file: pa.NativeFile
) -> SourceFile:
    """Return a file with its rows staged batch by batch; a file with a footer stays as it is."""
    if source.rows is None:
        return source
    types.path, schema = source.path, source.rows.read_schema(types.memory)
    names = list(dict.fromkeys([*map(str, columns.labels), *source.condition_columns]))
    check_names((name for name in names if name not in source.partitions), schema, source.path)
    stored = [name for name in names if name in schema.names] or schema.names[:1]
    n_bytes, staged = 2 * types.n_bytes, list[StagedBatch]()
    batches = map(_to_plain_types, source.rows.iter_batches(stored, types))
    for _, alike in groupby(batches, lambda batch: batch.schema):
        for batch in gather(alike, n_bytes):
            n_rows = max(1, batch.num_rows * n_bytes // max(1, batch.nbytes))
            starts = range(0, batch.num_rows, n_rows)
            staged += [_write_batch(batch.slice(start, n_rows), rows) for start in starts]
    for name in stored:
        at = schema.get_field_index(name)
        schema = schema.set(at, schema.field(at).with_type(plain_type(schema.field(at).type)))
    return source._replace(rows=None, place=NOWHERE, staged=StagedRows(file, staged, schema))


def _to_plain_types(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows in plain types."""
    arrays = [column.cast(plain_type(column.type)) for column in batch.columns]
    return pa.record_batch(arrays, batch.schema.names)


def _write_batch(batch: pa.RecordBatch, rows: TemporaryRows) -> StagedBatch:
    """Write rows, with texts as a dictionary and codes, and return their place in the file."""
    sizes, longest, columns = {}, {}, {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if column.type in TEXTS:
            column = column.dictionary_encode()
            longest[name] = pc.max(pc.binary_length(column.dictionary)).as_py() or 0
        columns[name], sizes[name] = column, column.nbytes
    low = high = None
    first = batch.columns[0]
    with suppress(pa.ArrowNotImplementedError, OverflowError, ValueError):  # Some types lack it.
        low, high = pc.min_max(getattr(first, "dictionary", first)).as_py().values()
    written = pa.BufferOutputStream()
    table = pa.record_batch(columns)
    with pa.ipc.new_stream(written, table.schema, options=WRITE_OPTIONS) as writer:
        writer.write_batch(table)
    start = rows.tell()
    size = rows.write(written.getvalue())
    return StagedBatch(start, size, batch.num_rows, sizes, low, high, longest)
