"""Rows of parquet files, read in batches that are conformed to one schema.

Text becomes a dictionary and codes, however a file stores it. It stays plain in rows that will be
partitioned by user, because few rows of a partition share a text.
"""

from collections.abc import Generator, Iterator, Sequence
from functools import lru_cache
from itertools import chain, repeat, takewhile
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from recframe.errors import RecframeError, quote, shorten, show_path
from recframe.files.filters import filter_rows
from recframe.files.footers import ROW_BYTES, Files
from recframe.files.limits import POOL, Progress
from recframe.files.row_groups import LONG_TEXT, TEXT_COPIES, RowGroup
from recframe.files.source_files import (
    MOST_BUFFER,
    TEXTS,
    SourceFile,
    naming_file,
    open_file,
    plain_type,
)
from recframe.frames.value_errors import REMOVE_ROWS
from recframe.kernel.threads import run_ahead
from recframe.stores.listings import REQUESTS
from recframe.stores.store import check_unchanged

MAX_OPEN = 32  # files; a sweep over files with the same users alternates between them
OPEN_BYTES = 16 << 20  # the most bytes for footers of open files; one file may always be open
AHEAD = 3  # batches that stores may send ahead, with 3/16 of the memory
LEAST_AHEAD = 16 << 20  # bytes that stores may send ahead, however little memory there is
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
) -> Generator[Read, None, None]:
    """Yield row groups in batches of about `n_bytes`, the columns in the types of `Files.types`.

    Text comes as a dictionary and codes, unless `is_plain`.

    Null ids of users are refused or dropped here, because the statistics that a plan is made of
    do not show them.
    """
    reader = RowGroupReader(files, row_groups, n_bytes, is_plain=is_plain)
    reads: Iterator[tuple[RowGroup, Iterator[pa.RecordBatch]]]
    if reader.is_here:
        reads = ((row_group, reader.iter_rows(row_group)) for row_group in row_groups)
    else:
        room = reader.room
        reads = run_ahead(reader.read_first, row_groups, REQUESTS, reader.count_bytes, room)
    for row_group, batches in reads:
        n_left, source = row_group.n_rows, row_group.source
        with naming_file(source.path):
            for read in batches:
                n_left -= read.num_rows
                matching = read if source.condition is None else filter_rows(read, source)
                rows = _conform_all(matching, row_group, files, is_plain=is_plain)
                batch = _without_nulls(rows, files, source.path)
                progress.n_read += 2 * read.num_rows - matching.num_rows
                if batch.num_rows < rows.num_rows:
                    progress.note_dropped(rows, batch)
                yield row_group, batch
            if n_left:  # Arrow does not raise if rows are missing.
                raise OSError(
                    f"row group {row_group.number} must have the {row_group.n_rows} rows that the "
                    f"footer counts, but has {row_group.n_rows - n_left}. Write the file anew."
                )
    sources = list({row_group.source.path: row_group.source for row_group in row_groups}.values())
    check_unchanged(sources, [source.version for source in sources])


class RowGroupReader:
    """Reads row groups in batches of about `n_bytes`.

    Here, Arrow's threads read the columns of a row group. In stores, threads ahead of the caller
    request as many row groups as have room, each at once.
    """

    def __init__(
        self, files: Files, row_groups: Sequence[RowGroup], n_bytes: int, *, is_plain: bool
    ) -> None:
        self.files, self.is_plain, self.n_bytes = files, is_plain, n_bytes
        self.is_here = is_here = all(one.source.is_here for one in row_groups)
        self.room = max(AHEAD * n_bytes, LEAST_AHEAD)  # in stores
        by_path, n_used = {one.source.path: one.source for one in row_groups}, len(files.types)
        # Each time that a buffer is filled, a store gets a request.
        buffer = (min(n_bytes, n_used * MOST_BUFFER) if is_here else self.room) // n_used

        @lru_cache(max(1, min(MAX_OPEN, OPEN_BYTES // max(1, files.open_bytes))))
        def open_cached(path: str, as_codes: tuple[str, ...]) -> pq.ParquetFile:
            return open_file(by_path[path], as_codes, files.footers.get(path), buffer)

        self.open_cached = open_cached

    def count_bytes(self, row_group: RowGroup) -> int:
        """Return the bytes that a row group takes while it is read: as fetched, and one batch."""
        n_bytes = row_group.n_bytes
        sizes = n_bytes - row_group.n_rows * self.files.row_bytes
        return row_group.fetched_bytes + sizes * min(self.n_bytes, n_bytes) // n_bytes

    def read_first(self, row_group: RowGroup) -> tuple[RowGroup, Iterator[pa.RecordBatch]]:
        """Return a row group of a store, and its batches; the first one has been read."""
        rows = self.iter_rows(row_group)
        if self.count_bytes(row_group) > self.room:
            return row_group, next_ahead(rows)
        return row_group, chain([next(rows)], rows)

    def iter_rows(self, row_group: RowGroup) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a row group as its file stores them."""
        source, number = row_group.source, row_group.number
        names = dict.fromkeys([*self.files.types, *source.condition_columns])
        stored = [name for name in names if name not in source.partitions]
        with naming_file(source.path):
            if source.staged is not None:
                yield from source.staged.read(number, stored)
                return
            has_long = row_group.text_bytes > LONG_TEXT
            as_codes = row_group.coded if has_long or not self.is_plain else ()
            if not self.is_here and self.count_bytes(row_group) <= self.room:
                # The columns are fetched at once, and their memory is freed with this file.
                footer = self.files.footers.get(source.path)
                file = open_file(source, as_codes, footer, pre_buffer=True)
            else:
                file = self.open_cached(source.path, as_codes)
            n_bytes = row_group.n_bytes + self.is_plain * row_group.n_rows * row_group.text_bytes
            n_rows = max(1, min(MOST_ROWS, self.n_bytes * row_group.n_rows // n_bytes))
            # Each of Arrow's threads would keep memory of long texts.
            yield from file.iter_batches(n_rows, [number], stored, use_threads=not has_long)


def _conform_all(
    batch: pa.RecordBatch, row_group: RowGroup, files: Files, *, is_plain: bool
) -> pa.RecordBatch:
    """Return the columns that are used, in the types of `files`."""
    columns = {}
    for name, wanted in files.types.items():
        value = row_group.source.partitions.get(name)
        array = batch[name] if value is None else pa.repeat(value, batch.num_rows)
        if name in row_group.source.repeated:
            check_folder_value(name, array, row_group.source)
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


def check_folder_value(name: str, array: pa.Array, source: SourceFile) -> None:
    """Raise if a column of a file has another value than the name of its folder."""
    value = source.repeated[name]
    text = pa.scalar(str(value) if value.is_valid else None, pa.string())
    try:
        wanted = text.cast(plain_type(array.type))
    except pa.ArrowException:  # The file has values of another kind.
        wanted = text
    values = array.cast(wanted.type)
    others = pc.invert(pc.is_in(values, pa.array([wanted])))
    if others.true_count:
        raise RecframeError(
            f"{quote(name)} is {quote(values.filter(others)[0].as_py())} in "
            f"{show_path(source.path)}, but {quote(value.as_py())} by the name of its folder. "
            "Correct the one that is wrong."
        )


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


def next_ahead(elements: Iterator[Element]) -> Generator[Element, None, None]:
    """Yield the elements of an iterator; a thread makes the next one while the caller uses one."""
    made = run_ahead(lambda _: next(elements, None), repeat(None), 1)
    yield from takewhile(lambda element: element is not None, made)
