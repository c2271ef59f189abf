"""Many columns of one type packed as one, which makes it cheap to cut a few rows out of them."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

UNPACKED_COLUMNS = 32  # of one type; so few are cut one by one


def is_wide(schema: pa.Schema) -> bool:
    """Return whether a batch has columns that are packed."""
    return any(len(names) > 1 for names in _list_groups(schema))


def pack(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch in which many columns of one type are one column of lists."""
    arrays = {}
    for names in _list_groups(batch.schema):
        arrays[names[0]] = batch[names[0]]
        if len(names) > 1:
            values = _transpose(pa.concat_arrays([batch[name] for name in names]), batch.num_rows)
            arrays[names[0]] = pa.FixedSizeListArray.from_arrays(values, len(names))
    return pa.record_batch(arrays)


def unpack(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return the batch that was packed, of this schema."""
    arrays, n_rows = {}, batch.num_rows
    for names in _list_groups(schema):
        arrays[names[0]] = batch[names[0]]
        if len(names) > 1:
            values = _transpose(batch[names[0]].flatten(), len(names))
            for number, name in enumerate(names):
                arrays[name] = values.slice(number * n_rows, n_rows)
    return pa.record_batch({name: arrays[name] for name in schema.names})


def _list_groups(schema: pa.Schema) -> Iterator[list[str]]:
    """Yield the names of columns that are packed as one, and of each other by itself."""
    groups: dict[pa.DataType, list[str]] = {}
    for field in schema:
        groups.setdefault(field.type, []).append(field.name)
    for kind, names in groups.items():
        if len(names) > UNPACKED_COLUMNS and pa.types.is_primitive(kind):
            yield names
        else:
            yield from ([name] for name in names)


def _transpose(values: pa.Array, n_columns: int) -> pa.Array:
    """Return the values of a matrix with so many columns column by column, not row by row."""
    places = np.arange(len(values)).reshape(-1, max(1, n_columns))
    return values.take(pa.array(places.T.ravel()))
