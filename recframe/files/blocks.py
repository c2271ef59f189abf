"""Blocks of whole users, read as the plan says.

Where the footers bound the users of every row group, a sweep reads the row groups in order of
users and carries on those whose rows may go on; else all rows are parted by user, in memory or in a
temporary file. Where several columns tell users apart, a sweep goes by the first.
"""

from collections.abc import Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from threading import get_ident
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.arrow_tables import NULLABLE
from recframe.errors import RecframeError, quote, show_path
from recframe.files.batches import MOST_ROWS, Read, cut, fold, gather, read_batches, run_ahead
from recframe.files.budget import Limits, Progress
from recframe.files.footers import Files
from recframe.files.plans import bytes_of, plan_blocks, row_bytes_of
from recframe.files.row_groups import may_have
from recframe.files.sizes import batch_bytes
from recframe.files.spill import MAX_BUCKETS, Spill
from recframe.kernel.threads import n_processors

BUCKET_ROWS = 3 << 17  # with more of them the cache does not hold a bucket
MAX_LEVEL = 3  # of spilling again what is still too large; MAX_BUCKETS ** 4 in all

Batches = Iterator[pa.RecordBatch]


def iter_blocks(files: Files, limits: Limits, progress: Progress) -> Iterator[pd.DataFrame]:
    """Yield frames of whole users, each user's rows in the order of files.

    Ids that are text come as categories, which has them hashed once a row group at most.
    """
    if files.n_rows == 0:
        return
    route, row_groups, memory = plan_blocks(files, limits.memory)
    limits = limits._replace(memory=memory)
    read = partial(read_batches, files, row_groups, n_bytes=memory // 24, progress=progress)
    if route == "sweep":
        blocks = _sweep(files, read(encode=True), memory)
        yield from _read_ahead(_frame(block, files) for block in blocks)
    elif route == "whole":
        frame = _frame((batch for _, batch in read(encode=True)), files)
        if len(frame):
            yield frame
    else:
        batches = (batch for _, batch in read(encode=False))
        n_bytes = bytes_of(files, row_groups)
        in_memory = route == "parts"
        yield from _spilled(
            files, limits, progress, batches, files.n_rows, n_bytes, in_memory=in_memory
        )


def iter_frames(
    files: Files, memory: int, progress: Progress, user: Hashable
) -> Iterator[pd.DataFrame]:
    """Yield frames of rows among which are all of a user, as they stand in files.

    Of several columns that tell users apart it is the id in the first.
    """
    row_groups = [row_group for row_group in files.row_groups if may_have(row_group, user)]
    for _, batch in read_batches(files, row_groups, memory // 24, progress, encode=False):
        frame = _frame([batch], files)
        texts = frame.select_dtypes("category")
        yield frame.astype({label: texts[label].cat.categories.dtype for label in texts})


def _sweep(files: Files, reads: Iterator[Read], memory: int) -> Iterator[list[pa.RecordBatch]]:
    """Yield the rows of users that no later row group has, as soon as there are enough of them."""
    held: list[Read] = []
    user, row_bytes = str(files.user), row_bytes_of(files)
    n_held = n_carried = 0
    for row_group, batch in reads:
        # With this true of every row group, no user can come back after its block.
        if _below(batch[user], row_group.low).true_count:
            first, last = row_group.indexes[0], row_group.indexes[-1]
            part = f"row group {first}" if first == last else f"row groups {first} to {last}"
            raise RecframeError(
                f"{show_path(row_group.path)}: the statistics of {part} say that no {quote(user)} "
                f"is below {quote(row_group.low)}, but one is; write the file anew"
            )
        enough = max(min(MOST_ROWS * row_bytes, memory // 2), 2 * n_carried)
        is_full = n_held >= enough or n_held + bytes_of(files, [row_group]) > memory
        if is_full and held and held[-1][0] is not row_group:
            done, held = _split(held, user, row_group.low)
            # The plan has a quarter of the memory free then, so that this is rarely done.
            n_held = n_carried = sum(batch_bytes(batch, row_bytes) for _, batch in held)
            if done:
                yield _in_order_of_files(done)
        held.append((row_group, batch))
        n_held += batch_bytes(batch, row_bytes)
    if n_held:
        yield _in_order_of_files(held)


def _split(held: list[Read], user: str, low: Any) -> tuple[list[Read], list[Read]]:
    """Return the rows of users below a bound, and the others."""
    split: tuple[list[Read], list[Read]] = [], []
    for row_group, batch in held:
        is_below = _below(batch[user], low)
        n_below = is_below.true_count
        if is_below.slice(0, n_below).true_count == n_below:
            # They come first, as in a sorted file: nothing need be copied.
            halves = batch.slice(0, n_below), batch.slice(n_below)
        else:
            halves = batch.filter(is_below), batch.filter(pc.invert(is_below))
        for found, half in zip(split, halves, strict=True):
            if half.num_rows:
                found.append((row_group, half))
    return split


def _below(ids: pa.Array, low: Any) -> pa.Array:
    """Return which ids are below a bound; of encoded ones each value is compared once."""
    if not pa.types.is_dictionary(ids.type):
        return pc.less(ids, pa.scalar(low, ids.type))
    is_below = _below(ids.dictionary, low)
    return is_below.take(ids.indices) if is_below.true_count else pa.repeat(False, len(ids))


def _in_order_of_files(held: list[Read]) -> list[pa.RecordBatch]:
    """Return rows in the order of files."""
    return [batch for _, batch in sorted(held, key=lambda read: read[0].index_overall)]


def _spilled(
    files: Files,
    limits: Limits,
    progress: Progress,
    batches: Batches,
    n_rows: int,
    n_bytes: int,
    level: int = 0,
    *,
    in_memory: bool = False,
) -> Iterator[pd.DataFrame]:
    """Yield the frames of buckets of users; a bucket beyond the limit is spilled again."""
    memory = limits.memory
    n_least = 1 + n_rows // BUCKET_ROWS
    n_buckets = min(MAX_BUCKETS, max(n_least, 1 + (n_bytes - 1) // max(1, memory // 4)))
    made = Spill(limits.folder, files.users, n_buckets, level, in_memory=in_memory)
    n_threads = n_processors()
    with closing(made) as spill:
        pieces = cut(_read_ahead(gather(batches, memory // 24)))
        with _threads(n_threads) as pool:
            for bucketed in run_ahead(pool, spill.divide, pieces, n_threads):
                spill.add(bucketed)
                progress.report()
        sizes = spill.n_bytes + spill.n_rows * row_bytes_of(files)
        # One giant user cannot be parted.
        again = (sizes > memory) & (spill.n_rows < n_rows) & (level < MAX_LEVEL)
        whole = np.flatnonzero(~again & (spill.n_rows > 0))
        # Beside the one that is worked on, as many as there is room for.
        n_ahead = min(n_threads, max(1, memory // int(sizes[whole].max(initial=1)) - 1))
        with _threads(n_ahead) as pool:
            make = partial(_make_frame, files, spill)
            yield from run_ahead(pool, make, whole.tolist(), n_ahead)
        for bucket in np.flatnonzero(again).tolist():
            own = spill.read(bucket), int(spill.n_rows[bucket]), int(sizes[bucket])
            yield from _spilled(files, limits, progress, *own, level + 1)


def _make_frame(files: Files, spill: Spill, bucket: int) -> pd.DataFrame:
    """Return the rows of a bucket as a frame."""
    return _frame(spill.read(bucket), files)


def _frame(batches: Iterable[pa.RecordBatch], files: Files) -> pd.DataFrame:
    """Return rows as a frame with the labels of the columns, ids that are text as categories."""
    table = fold(batches) if files.long_text else pa.Table.from_batches(batches)
    arrays: dict[Hashable, Any] = {}
    for label, name in zip(files.columns.labels, files.types, strict=True):
        if name in files.text_users | files.long_text:
            arrays[label] = _categorical(table[name])
        else:
            mapper = NULLABLE.get if table[name].null_count else None
            arrays[label] = table[name].to_pandas(types_mapper=mapper)
    return pd.DataFrame(arrays, copy=False)


def _categorical(ids: pa.ChunkedArray) -> pd.Categorical:
    """Return ids as categories; Arrow's own way there takes four times as long."""
    encoded = ids.dictionary_encode().combine_chunks()
    dtype = pd.CategoricalDtype(encoded.dictionary.to_pandas())
    codes = encoded.indices.fill_null(-1).to_numpy()
    return pd.Categorical.from_codes(codes, dtype=dtype, validate=False)


def _read_ahead(elements: Iterator[Any]) -> Iterator[Any]:
    """Yield what an iterator yields; the next is made in a thread while one is worked on."""
    with _threads(1) as pool:
        following = pool.submit(next, elements, None)
        while (element := following.result()) is not None:
            following = pool.submit(next, elements, None)
            yield element


@contextmanager
def _threads(n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """Give threads, and wait for their end."""
    own: list[int] = []
    pool = ThreadPoolExecutor(n_threads, initializer=lambda: own.append(get_ident()))
    try:
        yield pool
    finally:
        # Left alone by an error, this may be collected in one of them, which cannot wait for its
        # own end.
        pool.shutdown(wait=get_ident() not in own)
