"""Row groups: how many rows and bytes they have, and which users, as footers describe them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from recframe.files.found import Found, PartitionValues, plain_type
from recframe.files.pages import PAGE_HEADER, find_start
from recframe.files.sizes import DAMAGED, LONG_TEXT, TEXT_COPIES, measure_texts
from recframe.stores.remote import Range, Remote


class File(NamedTuple):
    """A file as its footer and what is known beside it describe it."""

    found: Found
    schema: pa.Schema  # with the columns that are not in it
    metadata: pq.FileMetaData
    partitions: PartitionValues  # of the columns that are not read from it
    said_too: PartitionValues  # by the names of its folders, of columns that are in it
    indexes: Sequence[int]  # of the row groups that may have rows that match


class RowGroup(NamedTuple):
    """Row groups that follow each other, the smallest piece of a file that a plan is made of."""

    index_overall: int  # ascends in the order of rows
    found: Found  # the file it is in
    indexes: range  # in the file
    partitions: PartitionValues  # of the columns that are not read from its file
    n_rows: int
    n_bytes: int  # of the columns used, long texts as often as they are held, not once a row
    n_read: int  # of the same as they are read
    coded: frozenset[str]  # the columns of texts that are read as codes
    low: Any  # no user is lower; None where the file does not say
    high: Any  # none is higher
    ranges: tuple[Range, ...] = ()  # of its columns, of a file that is not on this machine

    @property
    def path(self) -> str:
        """The path of its file."""
        return self.found.path


def list_row_groups(
    file: File, names: list[str], user: str | None, memory: int, long_text: set[str]
) -> Iterator[RowGroup]:
    """Yield the row groups of a file, and take note of columns of long texts."""
    used = _find_used(file, names)
    texts = [name for name in used if _has_text(file, name)]
    for index in file.indexes:
        row_group = file.metadata.row_group(index)
        columns = {name: row_group.column(at) for name, at in used.items()}
        n_rows = row_group.num_rows
        n_bytes = n_read = 0
        coded: set[str] = set()
        for name, column in columns.items():
            size = column.total_uncompressed_size
            if name not in texts or n_rows == 0:
                n_bytes, n_read = n_bytes + size, n_read + size
                continue
            length, are_coded = measure_texts(file.found, name, column, n_rows, memory)
            in_rows = max(size, int(length * n_rows))
            n_read += size if are_coded else in_rows
            n_bytes += TEXT_COPIES * size if length > LONG_TEXT else in_rows
            if length > LONG_TEXT:
                long_text.add(name)
            if are_coded:
                coded.add(name)
        low = high = None
        if user in file.partitions:
            low = high = file.partitions[user].as_py()
        elif user in columns:
            low, high = _bounds(columns[user].statistics)
        indexes = range(index, index + 1)
        yield RowGroup(
            0,
            file.found,
            indexes,
            file.partitions,
            n_rows,
            n_bytes,
            n_read,
            frozenset(coded),
            low,
            high,
            _ranges(file.found.remote, columns.values()),
        )
    if file.found.remote is not None:
        file.found.remote.release_all()


def join(row_groups: Iterable[RowGroup], n: int, most: int) -> Iterator[RowGroup]:
    """Yield row groups of a file, `n` others before them, small ones as one of so many bytes."""
    held: RowGroup | None = None
    for one in row_groups:
        if held is None:
            held = one
        elif held.n_bytes + one.n_bytes <= most and _is_alike(held, one):
            held = held._replace(
                indexes=range(held.indexes.start, one.indexes.stop),
                n_rows=held.n_rows + one.n_rows,
                n_bytes=held.n_bytes + one.n_bytes,
                n_read=held.n_read + one.n_read,
                ranges=held.ranges + one.ranges,
                low=None if held.low is None else min(held.low, one.low),
                high=None if held.low is None else max(held.high, one.high),
            )
        else:
            yield held._replace(index_overall=n)
            held, n = one, n + 1
    if held is not None:
        yield held._replace(index_overall=n)


def fetch_headers(file: File, names: list[str], n_at_once: int) -> None:
    """Fetch what is looked at of a file in a store for each row group, many parts at a time."""
    remote, metadata = file.found.remote, file.metadata
    if remote is None:
        return
    columns = [at for name, at in _find_used(file, names).items() if _has_text(file, name)]
    row_groups = map(metadata.row_group, file.indexes)
    starts = [
        start
        for one in row_groups
        for at in columns
        for start, _ in _ranges(remote, [one.column(at)])
    ]
    remote.hold_all(((start, min(start + PAGE_HEADER, remote.size)) for start in starts), n_at_once)


def _find_used(file: File, names: list[str]) -> dict[str, int]:
    """Return which columns of a file have these names."""
    return {leaf.path: at for at, leaf in enumerate(file.metadata.schema) if leaf.path in names}


def _has_text(file: File, name: str) -> bool:
    """Return whether a column of a file is text or bytes."""
    return is_text(plain_type(file.schema.field(name).type))


def _ranges(remote: Remote | None, columns: Iterable[pq.ColumnChunkMetaData]) -> tuple[Range, ...]:
    """Return where columns of a row group are in a file in a store, but where that is damaged."""
    found: list[Range] = []
    for column in columns if remote is not None else ():
        with suppress(*DAMAGED):
            start = find_start(column)
            stop = start + column.total_compressed_size
            if remote is not None and 0 <= start < stop <= remote.size:
                found.append((start, stop))
    return tuple(found)


def may_have(row_group: RowGroup, user: Any) -> bool:
    """Return whether the statistics of a row group leave room for a user."""
    try:
        return row_group.low is None or bool(row_group.low <= user <= row_group.high)
    except TypeError:
        return True  # ids that pandas has as something else than the file


def _is_alike(one: RowGroup, other: RowGroup) -> bool:
    """Return whether two row groups can be read as one."""
    follows = one.indexes.stop == other.indexes.start
    return follows and (one.low is None) == (other.low is None) and one.coded == other.coded


def _bounds(statistics: pq.Statistics | None) -> tuple[Any, Any]:
    """Return values that no value is below or above, or None twice where none are known."""
    if statistics is None or not statistics.has_min_max:
        return None, None
    low, high = statistics.min, statistics.max
    # Writers should leave NaN out of statistics; where one did not, they say nothing.
    return (low, high) if low == low and high == high else (None, None)


def is_text(plain: pa.DataType) -> bool:
    """Return whether values are text or bytes, of any length each."""
    return plain in (pa.string(), pa.binary())
