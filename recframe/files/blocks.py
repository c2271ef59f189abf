"""Blocks of whole users: the plan for files of any size, made before any data is read.

Where the footers bound the users of every row group, a sweep reads the row groups in order of
users and carries on those whose rows may go on; else all rows are spilled, parted by user.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import RecframeError
from recframe.files.batches import read_ahead, read_rows
from recframe.files.budget import Limits, Progress
from recframe.files.footers import Files, RowGroup, plain_type
from recframe.files.spill import MAX_BUCKETS, Spill

BLOCK_ROWS = 1 << 20  # enough for full speed; larger blocks only take more memory
ROW_BYTES = 64  # for the work on a row: read, joined, grouped, ranked
SCORE_BYTES = 32  # the same for each score
MAX_LEVEL = 3  # of spilling again what is still too large; 64 ** 4 buckets in all
# Arrow's way to pandas makes floats of integers beside nulls; these dtypes keep them exact.
NULLABLE = {pa.bool_(): pd.BooleanDtype()} | {
    pa.from_numpy_dtype(name.lower()): pd.api.types.pandas_dtype(name)
    for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
}

Part = tuple[int, pa.RecordBatch]  # rows of a row group, and its place in the order of files


def iter_blocks(
    files: Files, limits: Limits, progress: Progress, *, drop_nulls: bool
) -> Iterator[pd.DataFrame]:
    """Yield frames of whole users, each user's rows in the order of files.

    Ids that are text come as categories, which has them hashed once a row group at most.
    """
    n_rows = progress.total
    if n_rows == 0:
        return
    n_bytes = sum(group.n_bytes for group in files.row_groups)
    row_bytes = ROW_BYTES + SCORE_BYTES * len(files.columns.scores) + n_bytes // n_rows
    limit = max(1, limits.memory // row_bytes)

    def read(groups: Iterable[RowGroup], *, encode: bool) -> Iterator[tuple[RowGroup, Any]]:
        batch_rows = max(1, min(BLOCK_ROWS, limit // 8))
        return read_rows(files, groups, batch_rows, progress, encode=encode, drop_nulls=drop_nulls)

    in_order = _in_order(files)
    if in_order is not None and _most_open(in_order) <= limit:
        tables = _sweep(read(in_order, encode=True), str(files.user), limit)
        yield from read_ahead(_frame(table, files) for table in tables)
    elif files.user is None or n_rows <= limit:
        table = _join([(0, batch) for _, batch in read(files.row_groups, encode=True)])
        if table.num_rows:
            yield _frame(table, files)
    else:
        batches = (batch for _, batch in read(files.row_groups, encode=False))
        yield from _spilled(files, batches, n_rows, limit, limits.folder, progress)


def _in_order(files: Files) -> list[RowGroup] | None:
    """Return the row groups in order of their lowest users, or None where some are not known."""
    if files.user is None or any(group.low is None for group in files.row_groups):
        return None
    found = plain_type(files.types[files.user])
    kinds = ("integer", "float32", "float64", "string", "binary", "date", "timestamp")
    if not any(getattr(pa.types, f"is_{kind}")(found) for kind in kinds):
        return None
    return sorted(files.row_groups, key=lambda group: (group.low, group.high))


def _most_open(groups: list[RowGroup]) -> int:
    """Return the most rows a sweep over row groups in order of users holds at a time."""
    most = n_open = 0
    ends: list[tuple[Any, int, int]] = []
    for group in groups:
        while ends and ends[0][0] < group.low:
            n_open -= heapq.heappop(ends)[2]
        heapq.heappush(ends, (group.high, group.place, group.n_rows))
        n_open += group.n_rows
        most = max(most, n_open)
    return most


def _sweep(
    rows: Iterator[tuple[RowGroup, pa.RecordBatch]], user: str, limit: int
) -> Iterator[pa.Table]:
    """Yield the rows of users that no later row group has, as soon as there are enough of them."""
    held: list[Part] = []
    n_held = n_open = 0
    last = None
    for group, batch in rows:
        # With this true of every row group, no user can come back after its block.
        if _below(batch[user], group.low).true_count:
            raise RecframeError(
                f"{group.path}: the statistics of row group {group.number} say that no "
                f"{user!r} is below {group.low!r}, but one is; write the file anew"
            )
        is_full = n_held >= max(min(BLOCK_ROWS, limit // 2), 2 * n_open)
        if group is not last and (is_full or n_held + group.n_rows > limit):
            done, held = _split(held, user, group.low)
            n_held = n_open = sum(batch.num_rows for _, batch in held)
            if done:
                yield _join(done)
        held.append((group.place, batch))
        n_held += batch.num_rows
        last = group
    if n_held:
        yield _join(held)


def _split(held: list[Part], user: str, low: Any) -> tuple[list[Part], list[Part]]:
    """Return the rows of users below a bound, and the others."""
    below: list[Part] = []
    others: list[Part] = []
    for place, batch in held:
        is_below = _below(batch[user], low)
        n_below = is_below.true_count
        if is_below.slice(0, n_below).true_count == n_below:
            # They come first, as in a sorted file: nothing need be copied.
            parts = batch.slice(0, n_below), batch.slice(n_below)
        else:
            parts = batch.filter(is_below), batch.filter(pc.invert(is_below))
        for found, part in zip((below, others), parts, strict=True):
            if part.num_rows:
                found.append((place, part))
    return below, others


def _below(ids: pa.Array, low: Any) -> pa.Array:
    """Return which ids are below a bound; of encoded ones each value is compared once."""
    if not pa.types.is_dictionary(ids.type):
        return pc.less(ids, pa.scalar(low, ids.type))
    is_below = pc.less(ids.dictionary, pa.scalar(low, ids.type.value_type))
    if is_below.true_count == 0:
        return pa.repeat(False, len(ids))
    return is_below.take(ids.indices)


def _join(held: list[Part]) -> pa.Table:
    """Return the rows held as one table, in the order of files."""
    return pa.Table.from_batches([batch for _, batch in sorted(held, key=lambda part: part[0])])


def _spilled(
    files: Files,
    batches: Iterator[pa.RecordBatch],
    n_rows: int,
    limit: int,
    folder: str | None,
    progress: Progress,
    level: int = 0,
) -> Iterator[pd.DataFrame]:
    """Yield the frames of buckets of users; a bucket beyond the limit is spilled again."""
    n_buckets = min(MAX_BUCKETS, math.ceil(n_rows / max(1, min(BLOCK_ROWS, limit // 4))))
    with Spill(folder, str(files.user), n_buckets, level) as spill:
        for batch in read_ahead(_gathered(batches, min(BLOCK_ROWS, limit // 8))):
            spill.write(batch)
            progress.report()
        # One giant user cannot be parted.
        again = (spill.n_rows > limit) & (spill.n_rows < n_rows) & (level < MAX_LEVEL)
        tables = (
            pa.Table.from_batches(spill.read(bucket))
            for bucket in np.flatnonzero(~again & (spill.n_rows > 0)).tolist()
        )
        yield from read_ahead(_frame(table, files) for table in tables)
        for bucket in np.flatnonzero(again).tolist():
            yield from _spilled(
                files,
                spill.read(bucket),
                int(spill.n_rows[bucket]),
                limit,
                folder,
                progress,
                level + 1,
            )


def _gathered(batches: Iterable[pa.RecordBatch], n_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches of at least so many, for few and large writes."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(batch.num_rows for batch in held) >= n_rows:
            yield from pa.Table.from_batches(held).combine_chunks().to_batches()
            held = []
    if held:
        yield from pa.Table.from_batches(held).combine_chunks().to_batches()


def _frame(table: pa.Table, files: Files) -> pd.DataFrame:
    """Return rows as a frame with the labels of the columns, ids that are text as categories."""
    columns = files.columns
    labels = [columns.user, columns.item, columns.relevant, *columns.scores]
    labels = [label for label in labels if label is not None]
    arrays: dict[Hashable, Any] = {}
    for label, name in zip(labels, table.column_names, strict=True):
        if name == files.user and files.has_text_ids:
            arrays[label] = _categorical(table[name])
        else:
            mapper = NULLABLE.get if table[name].null_count else None
            arrays[label] = table[name].to_pandas(types_mapper=mapper)
    return pd.DataFrame(arrays, copy=False)


def _categorical(ids: pa.ChunkedArray) -> pd.Categorical:
    """Return ids as categories; Arrow's own way there takes four times as long."""
    encoded = ids.dictionary_encode().unify_dictionaries()
    codes = pa.chunked_array([chunk.indices for chunk in encoded.chunks], pa.int32())
    categories = encoded.chunk(0).dictionary.to_pandas()
    dtype = pd.CategoricalDtype(categories)
    return pd.Categorical.from_codes(codes.to_numpy(), dtype=dtype, validate=False)
