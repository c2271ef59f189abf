"""The row groups of files, and the memory that reading them takes."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from recframe.errors import RecframeError, quote, show_path
from recframe.files.source_files import (
    LEAST_BUFFER,
    TEXTS,
    SourceFile,
    StagedRows,
    find_leaves,
    plain_type,
)

FREE = 96 << 20  # bytes that `memory` does not count, like the memory of libraries
MOST_PAGE = 1 << 21  # bytes at which most writers end a page or a dictionary
CODE_BYTES = 4  # bytes of the code for a text in a row
LONG_TEXT = 64  # bytes; shorter texts are read by several threads, plain unless codes are needed
SHORT_TEXT = 16  # bytes for each row; copies of such texts are small compared with the rows
FEW_ROWS = 1 << 10  # Without statistics, one of so many texts may have all their bytes.
UNKNOWN_TEXT = 1 << 10  # bytes of a text whose length is unknown
TEXT_COPIES = 6  # copies of distinct texts: in rows, their block, and the next block
DICTIONARY_COPIES = 12  # copies of a file's dictionary: as read, in batches and in blocks
CODED_SHARE = 32  # Texts that Arrow reads as codes may take 1/32 of the memory.
NOT_CODED = {"DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"}  # Arrow cannot read these as codes.


class RowGroup(NamedTuple):
    """A row group: plans are made of whole row groups."""

    index_overall: int  # ascends in the order of rows
    source: SourceFile  # the file
    number: int  # index in the file
    n_rows: int
    n_bytes: int  # bytes of the columns used, in memory
    coded: tuple[str, ...]  # columns of texts that are read as codes
    low: Any  # No user is lower; None if the file does not tell.
    high: Any  # No user is higher.
    fetched_bytes: int = 0  # bytes of the columns used, in the file
    text_bytes: int = 0  # additional bytes of each row if texts are not read as codes
    open_bytes: int = 0  # bytes of large dictionaries while it is read

    def may_have(self, user: Any) -> bool:
        """Return whether its statistics allow a user."""
        try:
            return self.low is None or bool(self.low <= user <= self.high)
        except TypeError:
            return True  # Pandas has another type of ids than the file.


class File(NamedTuple):
    """A file and facts from its footer, its folders and its table."""

    source: SourceFile
    schema: pa.Schema  # includes columns that are not in the file
    metadata: Any  # the footer, None if rows are staged
    indexes: Sequence[int]  # row groups that may have rows that match


def list_row_groups(
    file: File, names: list[str], users: list[str], memory: int, row_bytes: int
) -> Iterator[RowGroup]:
    """Yield the row groups of a file that have rows, or its batches of staged rows.

    `names` are the columns that are used; rows are bounded by the first column of users.
    """
    names = [*names, *file.source.condition_columns]
    if file.source.staged is not None:
        row_groups = _list_batches(file, file.source.staged, users, row_bytes)
    else:
        leaves = find_leaves(file.metadata, names)
        row_groups = (
            _read_sizes(file, index, leaves, users, memory, row_bytes) for index in file.indexes
        )
    return (one for one in row_groups if one.n_rows)


def _read_sizes(
    file: File, index: int, leaves: dict[str, int], users: list[str], memory: int, row_bytes: int
) -> RowGroup:
    """Return a row group by its footer; raise if the memory has no room to read it."""
    row_group = file.metadata.row_group(index)
    n_rows = row_group.num_rows
    columns = {name: row_group.column(at) for name, at in leaves.items()}
    sizes = {name: column.total_uncompressed_size for name, column in columns.items()}
    texts = [name for name in leaves if plain_type(file.schema.field(name).type) in TEXTS]
    n_bytes, text_bytes, open_bytes = n_rows * row_bytes + sum(sizes.values()), 0, 0
    shown = f"row group {index} of {show_path(file.source.path)} has"
    for name in texts:
        n_copied = TEXT_COPIES - 1 if sizes[name] > SHORT_TEXT * n_rows else 0
        ends = _read_ends(columns[name])
        n_distinct = _estimate_dictionary(columns[name], has_ends=bool(ends))
        least = max(0, DICTIONARY_COPIES * n_distinct - FREE)
        facts = f"{shown} about {n_distinct:,} bytes of distinct {quote(name)}, and reading takes "
        facts += f"up to {DICTIONARY_COPIES} times as many"
        check_room(facts, least, memory, "shorter ids or smaller row groups")
        n_bytes += CODE_BYTES * n_rows + n_copied * sizes[name] + least
        open_bytes += least
        text_bytes += max((len(str(end).encode()) for end in ends), default=UNKNOWN_TEXT)
    n_pages = sum(LEAST_BUFFER + 3 * min(MOST_PAGE, size) // 2 for size in sizes.values())
    facts = f"{shown} {len(sizes):,} columns to read at once, whose pages take about {n_pages:,} "
    check_room(f"{facts}bytes", 2 * (n_pages - FREE // 3), memory, "smaller row groups")
    codable = [name for name in texts if NOT_CODED.isdisjoint(columns[name].encodings)]
    coded = tuple(name for name in codable if CODED_SHARE * sizes[name] <= memory)
    ends = _read_ends(columns[users[0]]) if users and users[0] in columns else ()
    low, high = _find_bounds(file, users, ends)
    fetched_bytes = sum(column.total_compressed_size for column in columns.values())
    return RowGroup(
        *(0, file.source, index, n_rows, n_bytes, coded, low, high),
        *(fetched_bytes, text_bytes, open_bytes),
    )


def check_room(facts: str, least: int, memory: int, remedy: str) -> None:
    """Raise if a part of a file, described by `facts`, takes more than the memory."""
    if least > memory:
        raise RecframeError(
            f"memory: {facts}, but memory is {memory:,}. Pass memory='{-(-least // 10**6)}MB' or "
            f"more, or write the file with {remedy}."
        )


def _list_batches(
    file: File, staged: StagedRows, users: list[str], row_bytes: int
) -> Iterator[RowGroup]:
    """Yield batches of staged rows as row groups."""
    is_stored = bool(users) and users[0] in staged.schema.names
    is_text = is_stored and staged.schema.field(users[0]).type in TEXTS
    for index, batch in enumerate(staged.batches):
        # Text sorts unlike numbers: the bounds of a batch hold in the type that it was staged in.
        is_alike = is_stored and is_text == isinstance(batch.low, str | bytes)
        low, high = _find_bounds(file, users, (batch.low, batch.high) if is_alike else ())
        n_bytes = batch.n_bytes + batch.n_rows * row_bytes
        yield RowGroup(
            *(0, file.source, index, batch.n_rows, n_bytes, (), low, high),
            text_bytes=batch.text_bytes,
        )


def _read_ends(column: pq.ColumnChunkMetaData) -> tuple[Any, ...]:
    """Return the lowest and the highest value of a column; () without statistics."""
    statistics = column.statistics
    return (statistics.min, statistics.max) if statistics and statistics.has_min_max else ()


def _find_bounds(file: File, users: list[str], ends: Sequence[Any]) -> tuple[Any, Any]:
    """Return the bounds of users: from the folder of a file, else these; None if unknown."""
    if users and users[0] in file.source.partitions:
        ends = (file.source.partitions[users[0]].as_py(),) * 2
    low, high = ends or (None, None)
    # NaN should not be in statistics, but may be.
    return (low, high) if low == low and high == high else (None, None)


def _estimate_dictionary(column: pq.ColumnChunkMetaData, *, has_ends: bool) -> int:
    """Return an estimate of the bytes of a text column's dictionary, or of one long text."""
    start, size = column.dictionary_page_offset, column.total_compressed_size
    stored = column.data_page_offset - start if start else 0
    whole: int = column.total_uncompressed_size
    n_bytes = whole * min(max(0, stored), size) // size if size > 0 else 0
    if not has_ends:  # Writers leave long statistics out.
        n_bytes = max(n_bytes, whole * FEW_ROWS // max(FEW_ROWS, column.num_values))
    return n_bytes
