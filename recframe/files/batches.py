"""Rows of parquet files, read in batches that are conformed to one schema."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import RecframeError
from recframe.files.budget import Progress
from recframe.files.footers import Files, RowGroup, naming_file, open_file

MAX_OPEN = 32  # files; a sweep over files that all have the same users alternates between them

Read = tuple[RowGroup, pa.RecordBatch]  # rows, and the row group that they are of


def read_batches(
    files: Files, row_groups: Iterable[RowGroup], n_rows: int, progress: Progress, *, encode: bool
) -> Iterator[Read]:
    """Yield row groups in batches of at most `n_rows`, the columns as `Files.types` says.

    Ids that are text are dictionary-encoded where `encode` says so, else plain. Null ids are
    refused or dropped here, so that no plan meets one: statistics do not show them.
    """
    encoded = files.text_user if encode else None
    opened = lru_cache(MAX_OPEN)(open_file)
    for row_group in row_groups:
        stored = [name for name in files.types if name not in row_group.partitions]
        with naming_file(row_group.path):
            file = opened(row_group.path, (encoded,) if encoded in stored else ())
            n_left = row_group.n_rows
            for read in file.iter_batches(n_rows, [row_group.index_in_file], columns=stored):
                columns = {}
                for name, wanted in files.types.items():
                    value = row_group.partitions.get(name)
                    array = read[name] if value is None else pa.repeat(value, read.num_rows)
                    columns[name] = _conform(array, wanted, encode=name == encoded)
                batch = _without_nulls(pa.record_batch(columns), files, row_group.path)
                progress.n_read += 2 * read.num_rows - batch.num_rows
                n_left -= read.num_rows
                yield row_group, batch
            if n_left:  # Arrow gives what there is
                raise OSError(
                    f"row group {row_group.index_in_file} has {row_group.n_rows - n_left} of the "
                    f"{row_group.n_rows} rows that the footer says"
                )


def _conform(array: pa.Array, wanted: pa.DataType, *, encode: bool) -> pa.Array:
    """Return an array in the type wanted, dictionary-encoded or plain."""
    if pa.types.is_dictionary(array.type):
        values = _conform(array.dictionary, wanted, encode=False)
        if encode:
            return pa.DictionaryArray.from_arrays(array.indices, values)
        return values.take(array.indices)
    # Even a cast that changes nothing takes a time that tiny files notice.
    array = array if array.type == wanted else array.cast(wanted)
    return array.dictionary_encode() if encode else array


def _without_nulls(batch: pa.RecordBatch, files: Files, path: str) -> pa.RecordBatch:
    """Return the rows that have an id; raise where some have none and are not to be dropped."""
    if files.user is None:
        return batch
    nulls = pc.is_null(batch[files.user], nan_is_null=True)
    if nulls.true_count == 0:
        return batch
    if not files.drop_nulls:
        raise RecframeError(
            f"user={files.user!r}: ids must not be null, found {nulls.true_count} null of "
            f"{len(nulls)} rows read from {path}; remove those rows or pass missing='drop'"
        )
    return batch.filter(pc.invert(nulls))
