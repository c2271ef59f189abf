"""Rows of parquet files, read in batches that are conformed to one schema.

Text becomes a dictionary and codes, however a file stores it. It stays plain in rows that will be
partitioned by user, because few rows of a partition share a text.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, repeat, takewhile
from threading import get_ident
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from recframe.errors import RecframeError, quote, shorten, show_path
from recframe.files.filters import matching
from recframe.files.footers import ROW_BYTES, Files
from recframe.files.limits import POOL, Progress
from recframe.files.row_groups import LONG_TEXT, TEXT_COPIES, RowGroup
from recframe.files.source_files import MOST_BUFFER, TEXTS, naming_file, open_file
from recframe.frames.values import REMOVE_ROWS
from recframe.kernel.threads import n_processors, run_ahead
from recframe.stores.listings import REQUESTS
from recframe.stores.store import check_unchanged

MAX_OPEN = 32  # files; a sweep over files with the same users alternates between them
OPEN_BYTES = 16 << 20  # the most bytes for footers of open files; one file may always be open
AHEAD = 3  # batches that may be read ahead, with 3/16 of the memory
LEAST_AHEAD = 16 << 20  # bytes that may be fetched ahead, however little memory there is
MOST_ROWS = 1 << 20  # rows of a batch or block; more take more memory and are no faster

Element = TypeVar("Element")
Read = tuple[RowGroup, pa.RecordBatch]  # a row group, and some of its rows


def read_batches(
    files: Files,
    row_groups: Sequence[RowGroup],
    n_bytes: int,
    progress: Progress,
    *,
    is_plain: bool = False,
) -> Iterator[Read]:
    """Yield row groups in batches of about `n_bytes`, the columns in the types of `Files.types`.

    Text comes as a dictionary and codes, unless `is_plain`.

    Null ids of users are refused or dropped here, because the statistics that a plan is made of
    do not show them.
    """
    n_open = max(1, min(MAX_OPEN, OPEN_BYTES // max(1, files.open_bytes)))

    @lru_cache(n_open)
    def opened(path: str, as_codes: tuple[str, ...], _: int) -> pq.ParquetFile:
        # Each time that a buffer is filled, a store gets a request.
        n_used = len(files.types)
        buffer = (min(n_bytes, n_used * MOST_BUFFER) if is_here else room) // n_used
        return open_file(by_path[path], as_codes, files.footers.get(path), buffer)

    def count_begun(row_group: RowGroup) -> int:
        """Return the bytes that a row group takes while it is read: as fetched, and one batch."""
        own_bytes = row_group.n_bytes
        own_sizes = own_bytes - row_group.n_rows * files.row_bytes
        return row_group.fetched_bytes + own_sizes * min(n_bytes, own_bytes) // own_bytes

    def begin(row_group: RowGroup) -> tuple[RowGroup, Iterator[pa.RecordBatch]]:
        """Return a row group of a store, and its batches; the first one has been read."""
        rows = read_rows(row_group)
        if count_begun(row_group) > room:
            return row_group, next_ahead(rows)
        return row_group, chain([next(rows)], rows)

    def read_rows(row_group: RowGroup) -> Iterator[pa.RecordBatch]:
        names = dict.fromkeys([*files.types, *row_group.source.condition_columns])
        stored = [name for name in names if name not in row_group.source.partitions]
        own_bytes = row_group.n_bytes + is_plain * row_group.n_rows * row_group.text_bytes
        n_rows = max(1, min(MOST_ROWS, n_bytes * row_group.n_rows // own_bytes))
        n_rows = MOST_ROWS if in_threads else n_rows
        with naming_file(row_group.source.path):
            if row_group.source.staged is not None:
                yield from row_group.source.staged.read(row_group.number, stored)
                return
            is_short = is_plain and row_group.text_bytes <= LONG_TEXT
            as_codes = () if is_short else row_group.coded
            path = row_group.source.path
            if not is_here and count_begun(row_group) <= room:
                # The columns are fetched at once, and their memory is freed with this file.
                footer = files.footers.get(path)
                file = open_file(row_group.source, as_codes, footer, pre_buffer=True)
            else:
                file = opened(path, as_codes, get_ident())  # Each thread has its own.
            yield from file.iter_batches(
                n_rows, [row_group.number], stored, use_threads=not in_threads
            )

    by_path = {row_group.source.path: row_group.source for row_group in row_groups}
    reads: Iterator[tuple[RowGroup, Iterable[pa.RecordBatch]]]
    is_here = all(one.source.is_here for one in row_groups)
    room = AHEAD * n_bytes if is_here else max(AHEAD * n_bytes, LEAST_AHEAD)
    sizes = [one.n_bytes - one.n_rows * files.row_bytes for one in row_groups]
    # Besides the row groups that threads read, two are in memory: one read, one in use.
    n_threads = min(n_processors(), room // max([1, *sizes]) - 2)
    in_threads = is_here and n_threads > 1  # Each thread reads whole row groups.
    if in_threads:
        reads = run_ahead(lambda one: (one, list(read_rows(one))), row_groups, n_threads)
    elif is_here:
        reads = ((one, read_rows(one)) for one in row_groups)
    else:
        reads = run_ahead(begin, row_groups, REQUESTS, count_begun, room)
    for row_group, batches in reads:
        n_left = row_group.n_rows
        with naming_file(row_group.source.path):
            for read in batches:
                n_left -= read.num_rows
                kept = matching(read, row_group)
                rows = _conform_all(kept, row_group, files, is_plain=is_plain)
                batch = _without_nulls(rows, files, row_group.source.path)
                progress.n_read += 2 * (read.num_rows - kept.num_rows) + kept.num_rows
                if batch.num_rows < rows.num_rows:
                    progress.note_dropped(rows, batch)
                yield row_group, batch
            if n_left:  # Arrow does not raise if rows are missing.
                raise OSError(
                    f"row group {row_group.number} must have the {row_group.n_rows} rows that the "
                    f"footer counts, but has {row_group.n_rows - n_left}. Write the file anew."
                )
    check_unchanged([*by_path.values()], [one.version for one in by_path.values()])


def _conform_all(
    batch: pa.RecordBatch, row_group: RowGroup, files: Files, *, is_plain: bool
) -> pa.RecordBatch:
    """Return the columns that are used, in the types of `files`."""
    columns = {}
    for name, wanted in files.types.items():
        value = row_group.source.partitions.get(name)
        array = batch[name] if value is None else pa.repeat(value, batch.num_rows)
        try:
            columns[name] = array.cast(wanted) if is_plain else _conform(array, wanted)
        except pa.ArrowInvalid as error:  # The type of the other files lacks such a number.
            fault = shorten(f"{array.type}, and some values do not fit {wanted} ({error})")
            raise RecframeError(
                f"{quote(name)} in {show_path(row_group.source.path)} has type {fault}. "
                "Write the files with one type."
            ) from error
    rows = pa.record_batch(columns)
    rows.validate(full=True)  # Arrow reads text without a check that it is UTF-8.
    return rows


def _conform(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Return an array in the wanted type, text as a dictionary and codes."""
    if pa.types.is_dictionary(array.type):
        values = array.dictionary
        values = values if values.type == wanted else values.cast(wanted)
        if wanted not in TEXTS:
            return values.take(array.indices)
        # Files with categories may have narrower codes; the width may differ from file to file.
        codes = pa.DictionaryArray.from_arrays(array.indices.cast(pa.int32()), values)
        if len(values) > len(codes):  # Texts without a row are left out.
            used = codes.indices.dictionary_encode()
            codes = pa.DictionaryArray.from_arrays(used.indices, values.take(used.dictionary))
        return codes
    # Even a cast that changes nothing takes time, which shows on tiny files.
    array = array if array.type == wanted else array.cast(wanted)
    return array.dictionary_encode() if wanted in TEXTS else array


def _without_nulls(batch: pa.RecordBatch, files: Files, path: str) -> pa.RecordBatch:
    """Return the rows that have an id; raise if some have none and must not be dropped."""
    for user in files.users:
        nulls = pc.is_null(batch[user], nan_is_null=True)
        if nulls.true_count == 0:
            continue
        if not files.drop_nulls:
            raise RecframeError(
                f"user={quote(user)}: ids must not be null, but {nulls.true_count} of "
                f"{len(nulls)} rows are null in {show_path(path)}. {REMOVE_ROWS}",
                {"missing": "drop"},
            )
        batch = batch.filter(pc.invert(nulls))
    return batch


def gather(batches: Iterator[pa.RecordBatch], n_bytes: int) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches of at least `n_bytes`, for few and large writes."""
    for first in batches:
        held, n_rows = [first], first.num_rows
        n_held = batch_bytes(first, ROW_BYTES)
        while n_held < n_bytes and n_rows < MOST_ROWS:
            if (batch := next(batches, None)) is None:
                break
            held.append(batch)
            n_rows += batch.num_rows
            n_held += batch_bytes(batch, ROW_BYTES)
        yield from pa.Table.from_batches(held).combine_chunks(POOL).to_batches()


def batch_bytes(batch: pa.RecordBatch, row_bytes: int) -> int:
    """Return the bytes that rows take, including `row_bytes` for the work on each row."""
    n_bytes: int = row_bytes * batch.num_rows + batch.nbytes
    for column in batch.columns:
        if pa.types.is_dictionary(column.type):
            n_bytes += (TEXT_COPIES - 1) * column.dictionary.nbytes
    return n_bytes


def next_ahead(elements: Iterator[Element]) -> Iterator[Element]:
    """Yield the elements of an iterator; a thread makes the next one while the caller uses one."""
    made = run_ahead(lambda _: next(elements, None), repeat(None), 1)
    yield from takewhile(lambda element: element is not None, made)
