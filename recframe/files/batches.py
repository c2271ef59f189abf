"""Rows of parquet files, read in batches that are conformed to one schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from recframe.errors import RecframeError
from recframe.files.budget import Progress
from recframe.files.footers import Files, RowGroup, naming_file, open_file, plain_type

Piece = TypeVar("Piece")

MAX_OPEN = 32  # files; a sweep over files that all have the same users alternates between them


def read_rows(
    files: Files,
    groups: Iterable[RowGroup],
    n_rows: int,
    progress: Progress,
    *,
    encode: bool,
    drop_nulls: bool,
) -> Iterator[tuple[RowGroup, pa.RecordBatch]]:
    """Yield row groups in batches of at most `n_rows`, the columns as `Files.types` says.

    Ids that are text are dictionary-encoded where `encode` says so, else plain. Null ids are
    refused or dropped here, so that no plan meets one: statistics do not show them.
    """
    encoded = files.user if encode and files.has_text_ids else None

    @lru_cache(MAX_OPEN)
    def opened(path: str) -> pq.ParquetFile:
        as_codes = [] if encoded is None or encoded in files.keys[path] else [encoded]
        return open_file(path, as_codes)

    for group in groups:
        keys = files.keys[group.path]
        stored = [name for name in files.types if name not in keys]
        with naming_file(group.path):
            batches = opened(group.path).iter_batches(
                n_rows, row_groups=[group.number], columns=stored
            )
        while True:
            with naming_file(group.path):
                read = next(batches, None)
                if read is None:
                    break
                arrays = {name: read[name] for name in stored}
                arrays |= {name: pa.repeat(key, read.num_rows) for name, key in keys.items()}
                batch = pa.record_batch(
                    {
                        name: _conform(arrays[name], found, encode=name == encoded)
                        for name, found in files.types.items()
                    }
                )
            if files.user is not None:
                batch = _without_nulls(batch, files.user, group.path, drop=drop_nulls)
            progress.n_read += read.num_rows
            progress.n_dropped += read.num_rows - batch.num_rows
            yield group, batch


def _conform(array: pa.Array, wanted: pa.DataType, *, encode: bool) -> pa.Array:
    """Return an array in the type wanted, dictionary-encoded or plain."""
    wanted = plain_type(wanted)
    if pa.types.is_dictionary(array.type):
        values = array.dictionary
        values = values if values.type == wanted else values.cast(wanted)
        return (
            pa.DictionaryArray.from_arrays(array.indices, values)
            if encode
            else values.take(array.indices)
        )
    array = array if array.type == wanted else array.cast(wanted)
    return array.dictionary_encode() if encode else array


def _without_nulls(batch: pa.RecordBatch, user: str, path: str, *, drop: bool) -> pa.RecordBatch:
    """Return the rows that have an id; raise where some have none and `drop` is not set."""
    ids = batch[user]
    if ids.null_count == 0 and not pa.types.is_floating(ids.type):
        return batch
    nulls = pc.is_null(ids, nan_is_null=True)
    n_nulls = nulls.true_count
    if n_nulls and not drop:
        raise RecframeError(
            f"user={user!r}: ids must not be null, found {n_nulls} null of {len(ids)} rows read "
            f"from {path}; remove those rows or pass missing='drop'"
        )
    return batch.filter(pc.invert(nulls)) if n_nulls else batch


def read_ahead(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Yield what an iterator yields; the next is made in a thread while one is worked on."""
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, pieces, None)
        while (piece := following.result()) is not None:
            following = pool.submit(next, pieces, None)
            yield piece
