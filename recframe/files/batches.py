"""Rows of parquet files, read in batches that are conformed to one schema."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from threading import get_ident
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from recframe.errors import RecframeError, quote, shorten, show_path
from recframe.files.ahead import read_ahead
from recframe.files.budget import Progress
from recframe.files.filters import matching
from recframe.files.footers import Files
from recframe.files.opening import naming_file, open_file
from recframe.files.row_groups import RowGroup
from recframe.files.sizes import ROW_BYTES, batch_bytes
from recframe.frames.numbers import REMOVE_ROWS
from recframe.kernel.threads import n_processors

MAX_OPEN = 32  # files; a sweep over files that all have the same users alternates between them
FOLD_BYTES = 8 << 20  # of rows whose texts are not yet made one
OPEN_BYTES = 16 << 20  # what the footers of open files take at most, but that of one
AHEAD = 3  # times the bytes of a batch may be read ahead: an eighth of the memory
CACHED_ROWS = 3 << 16
FEW_ROWS = 1 << 20  # are read by one thread
MOST_ROWS = 1 << 20  # of a batch or block: enough for full speed, more only take more memory

Element = TypeVar("Element")
Made = TypeVar("Made")
Read = tuple[RowGroup, pa.RecordBatch]  # rows, and the row group that they are of


def read_batches(
    files: Files, row_groups: Sequence[RowGroup], n_bytes: int, progress: Progress, *, encode: bool
) -> Iterator[Read]:
    """Yield row groups in batches of some `n_bytes`, the columns as `Files.types` says.

    Long texts are dictionary-encoded, other ids of users that are text where `encode` says so.
    Null ids are refused or dropped here, so that no plan meets one: statistics do not show them.
    What is on this machine is read in threads, a row group each, where there is room for these.
    """
    encoded = files.long_text | (files.text_users if encode else set())
    found_at = {row_group.path: row_group.found for row_group in files.row_groups}
    n_open = max(1, min(MAX_OPEN, OPEN_BYTES // max(1, files.footer_bytes)))

    @lru_cache(n_open)
    def opened(path: str, as_codes: tuple[str, ...], thread: int) -> pq.ParquetFile:
        return open_file(found_at[path], as_codes, files.footers.get(path))

    def read(
        row_group: RowGroup, progress: Progress, n_rows: int, *, use_threads: bool = True
    ) -> Iterator[pa.RecordBatch]:
        return _read(files, row_group, n_rows, progress, encoded, opened, use_threads=use_threads)

    n_threads = min(n_processors(), n_open, len(row_groups))
    most = max((row_group.n_read for row_group in row_groups), default=0)
    pays = sum(row_group.n_rows for row_group in row_groups) > FEW_ROWS
    is_here = all(row_group.found.remote is None for row_group in row_groups)
    if n_threads > 1 and pays and is_here and (n_threads + 1) * most <= AHEAD * n_bytes:
        yield from _read_in_threads(row_groups, read, n_threads, progress)
        return
    for row_group in read_ahead(row_groups, AHEAD * n_bytes, with_footers=not files.footers):
        n_rows = n_bytes // (ROW_BYTES + row_group.n_read // row_group.n_rows)
        for batch in read(row_group, progress, max(1, min(MOST_ROWS, n_rows))):
            yield row_group, batch


def _read_in_threads(
    row_groups: Sequence[RowGroup],
    read: Callable[..., Iterator[pa.RecordBatch]],
    n_threads: int,
    progress: Progress,
) -> Iterator[Read]:
    """Yield row groups in batches; each is read whole, and one for each thread beside it."""

    def read_whole(row_group: RowGroup) -> tuple[RowGroup, list[pa.RecordBatch], Progress]:
        own = Progress(row_group.n_rows, progress.tell)
        return row_group, list(read(row_group, own, MOST_ROWS, use_threads=False)), own

    with ThreadPoolExecutor(n_threads) as pool:
        for row_group, batches, own in run_ahead(pool, read_whole, row_groups, n_threads):
            progress.add_read(own)
            for batch in batches:
                yield row_group, batch


def run_ahead(
    pool: ThreadPoolExecutor,
    function: Callable[[Element], Made],
    elements: Iterable[Element],
    n_ahead: int,
) -> Iterator[Made]:
    """Yield what a function makes of each element, in their order, while so many more are made."""
    coming: deque[Future[Made]] = deque()
    try:
        for element in elements:
            coming.append(pool.submit(function, element))
            if len(coming) > n_ahead:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()
    finally:
        for future in coming:
            future.cancel()


def _read(
    files: Files,
    row_group: RowGroup,
    n_rows: int,
    progress: Progress,
    encoded: Collection[str],
    opened: Callable[[str, tuple[str, ...], int], pq.ParquetFile],
    *,
    use_threads: bool,
) -> Iterator[pa.RecordBatch]:
    """Yield a row group in batches of so many rows, its columns read in threads or in this one."""
    names = dict.fromkeys([*files.types, *row_group.found.looked_at])
    stored = [name for name in names if name not in row_group.partitions]
    # Of texts that are not codes in the file, Arrow would keep all it has met.
    as_codes = tuple(name for name in stored if name in encoded and name in row_group.coded)
    with naming_file(row_group.path):
        file = opened(row_group.path, as_codes, get_ident())
        n_left = row_group.n_rows
        for read in file.iter_batches(n_rows, row_group.indexes, stored, use_threads=use_threads):
            n_left -= read.num_rows
            kept = matching(read, row_group)
            progress.n_read += 2 * (read.num_rows - kept.num_rows)
            columns = {}
            for name, wanted in files.types.items():
                value = row_group.partitions.get(name)
                array = kept[name] if value is None else pa.repeat(value, kept.num_rows)
                try:
                    columns[name] = _conform(array, wanted, encode=name in encoded)
                except pa.ArrowInvalid as error:  # a number that the other files' type has not
                    found = shorten(f"{array.type}, not all of it in {wanted} ({error})")
                    raise RecframeError(
                        f"{quote(name)} in {show_path(row_group.path)} has type {found}; "
                        "write the files with one type"
                    ) from error
            rows = pa.record_batch(columns)
            batch = _without_nulls(rows, files, row_group.path)
            progress.n_read += rows.num_rows
            if batch.num_rows < rows.num_rows:
                progress.note_dropped(rows, batch)
            yield batch
        if n_left:  # Arrow gives what there is
            raise OSError(
                f"row group {row_group.indexes[0]} has {row_group.n_rows - n_left} of the "
                f"{row_group.n_rows} rows that the footer says"
            )


def _conform(array: pa.Array, wanted: pa.DataType, *, encode: bool) -> pa.Array:
    """Return an array in the type wanted, dictionary-encoded or plain."""
    if pa.types.is_dictionary(array.type):
        values = _conform(array.dictionary, wanted, encode=False)
        if encode:
            # Files that name their categories may have narrower codes, each its own.
            codes = array.indices.cast(pa.int32())
            codes = pa.DictionaryArray.from_arrays(codes, values)
            return without_unused(codes) if len(values) > len(codes) else codes
        return values.take(array.indices)
    # Even a cast that changes nothing takes a time that tiny files notice.
    array = array if array.type == wanted else array.cast(wanted)
    return array.dictionary_encode() if encode else array


def without_unused(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return texts without those of no row."""
    used = array.indices.dictionary_encode()
    return pa.DictionaryArray.from_arrays(used.indices, array.dictionary.take(used.dictionary))


def _without_nulls(batch: pa.RecordBatch, files: Files, path: str) -> pa.RecordBatch:
    """Return the rows that have an id; raise where some have none and are not to be dropped."""
    for user in files.users:
        nulls = pc.is_null(batch[user], nan_is_null=True)
        if nulls.true_count == 0:
            continue
        if not files.drop_nulls:
            raise RecframeError(
                f"user={quote(user)}: ids must not be null, found {nulls.true_count} null of "
                f"{len(nulls)} rows read from {show_path(path)}; {REMOVE_ROWS}"
            )
        batch = batch.filter(pc.invert(nulls))
    return batch


def gather(batches: Iterator[pa.RecordBatch], n_bytes: int) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches of at least so many bytes, for few and large writes."""
    for first in batches:
        held, n_rows = [first], first.num_rows
        n_held = batch_bytes(first, ROW_BYTES)
        while n_held < n_bytes and n_rows < MOST_ROWS:
            if (batch := next(batches, None)) is None:
                break
            held.append(batch)
            n_rows += batch.num_rows
            n_held += batch_bytes(batch, ROW_BYTES)
        yield from pa.Table.from_batches(held).combine_chunks().to_batches()


def cut(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches that the cache holds while they are put in another order."""
    for batch in batches:
        n_pieces = -(-batch.num_rows // CACHED_ROWS)
        offsets = np.linspace(0, batch.num_rows, n_pieces + 1).astype(int).tolist()
        yield from (batch.slice(start, stop - start) for start, stop in pairwise(offsets))


def fold(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Return rows as a table; what texts several batches have is made one on the way."""
    held: list[pa.RecordBatch] = []
    n_held, most = 0, FOLD_BYTES
    for batch in batches:
        held.append(batch)
        n_held += batch_bytes(batch, 0)
        if n_held > most:
            held = pa.Table.from_batches(held).combine_chunks().to_batches()
            n_held = sum(batch_bytes(one, 0) for one in held)
            most = max(FOLD_BYTES, 2 * n_held)
    return pa.Table.from_batches(held)
