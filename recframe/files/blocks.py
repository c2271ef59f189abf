"""Blocks of whole users, and the plan for reading files, which is made before any data is read.

If the footers bound the users of every row group, a sweep reads the row groups in order of users
and keeps the users whose rows may go on. Else all rows are one block, or they are partitioned by
user in a temporary file. If several columns tell users apart, a sweep uses the first. Truth and
exclude are partitioned by the same hashes as the rows.
"""

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from contextlib import ExitStack, closing, nullcontext
from operator import le, lt
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import RecframeError, prefix_errors, quote, show_path
from recframe.files.batches import MOST_ROWS, Read, batch_bytes, gather, next_ahead, read_batches
from recframe.files.footers import SCORE_BYTES, Files
from recframe.files.limits import POOL, ROOM, Limits, Progress, TemporaryRows, room_error
from recframe.files.row_groups import FREE, RowGroup
from recframe.files.source_files import ARE_NUMBERS, TEXTS
from recframe.frames.id_matching import simplify_text
from recframe.kernel.threads import Array, n_processors, run_ahead
from recframe.other_tables import read_column

Route = Literal["sweep", "whole", "spill"]
Part = tuple[int, int, int, pa.Buffer]  # bucket, n_rows, bytes in memory, the rows
ROUTES: dict[Route, str] = {
    "sweep": "in order of users, block by block",
    "whole": "in one piece",
    "spill": "in any order, partitioned by user in a temporary file",
}
BUCKET_ROWS = 3 << 17  # The cache does not hold a larger bucket.
SWEPT_SHARE = 4  # A block of a sweep takes 1/4 of the memory.
MAX_BUCKETS = 96  # 10^8 rows in 256 MiB: the memory has room for a bucket and the next one
RELEASED_BATCHES = 8  # Unused memory is released once for so many: that takes as long as one.
MAX_LEVEL = 3  # Too large buckets are spilled again, so often: MAX_BUCKETS ** 4 buckets in all.
# A bucket gets few rows of a smaller batch, each by calls of Arrow that release Python's lock. All
# threads then queue for the lock: in 16 scans at 4 MiB, that took more than half of the time.
LEAST_BATCH = 1 << 21  # bytes, if the memory allows them
HASHED_BYTES = 64  # the last bytes of a text, in which ids usually differ
MIX = np.uint64(0x9E3779B97F4A7C15)  # bits of the golden ratio, as in Knuth's hash

Made = TypeVar("Made")


class RowsToSpill(NamedTuple):
    """Rows to partition by user, from the evaluated files, truth or exclude."""

    files: Files
    batches: Generator[pa.RecordBatch, None, None]
    n_rows: int
    n_bytes: int  # in memory


class ReadingPlan(NamedTuple):
    """How files are read: in order of users, as one block, or by way of a temporary file."""

    route: Route
    row_groups: list[RowGroup]  # in the order they are read
    memory: int  # bytes for the work on rows


def plan_blocks(files: Files) -> ReadingPlan:
    """Return the plan for reading files that have rows in their memory; no data is read."""
    n_scores = len(files.columns.scores)
    # With less memory, the columns of a block would take more time than its rows.
    least = min(FREE, SCORE_BYTES * n_scores * n_scores)
    # Open footers and dictionaries reduce the memory, but for the bytes that are free for them.
    memory = max(files.memory - max(0, files.open_bytes - FREE // 4), least)
    in_order, n_bytes = _in_order(files), sum(one.n_bytes for one in files.row_groups)
    if files.companions:
        return ReadingPlan("spill", files.row_groups, memory)
    # A sweep of row groups that are all open at once would yield one block.
    if in_order and _most_open(files, in_order) <= min(memory - memory // 4, n_bytes - 1):
        return ReadingPlan("sweep", in_order, memory)
    is_whole = not files.users or n_bytes <= memory
    return ReadingPlan("whole" if is_whole else "spill", files.row_groups, memory)


def _in_order(files: Files) -> list[RowGroup] | None:
    """Return the row groups in order of their lowest users, or None if one of these is unknown."""
    if not files.users or any(row_group.low is None for row_group in files.row_groups):
        return None
    kinds = ("integer", "float32", "float64", "string", "binary", "date", "timestamp")
    if not any(getattr(pa.types, f"is_{kind}")(files.types[files.users[0]]) for kind in kinds):
        return None
    return sorted(files.row_groups, key=lambda row_group: (row_group.low, row_group.high))


def _most_open(files: Files, row_groups: list[RowGroup]) -> int:
    """Return the most bytes that a sweep over row groups in order of users holds at a time.

    A user's rows may go on where row groups touch; every route holds these rows together.
    """
    is_done = le if len(files.users) == 1 else lt
    most = n_open = 0
    last_to_first = sorted(row_groups, key=lambda row_group: row_group.high, reverse=True)
    for row_group in row_groups:
        n_open += row_group.n_bytes
        while last_to_first and is_done(last_to_first[-1].high, row_group.low):
            n_open -= last_to_first.pop().n_bytes
        most = max(most, n_open)
    return most


def iter_blocks(
    files: Files, limits: Limits, progress: Progress, make: Callable[[list[pd.DataFrame]], Made]
) -> Iterator[Made]:
    """Yield the result of `make` for each block, in order; threads make as many as fit at a time.

    A block has a frame of whole users, in the order of files, and their frames of companions.
    """
    if files.n_rows == 0:
        return
    route, row_groups, memory = plan_blocks(files)
    limits = limits._replace(memory=memory)
    if route == "sweep":
        most = min(MOST_ROWS * files.row_bytes, memory // SWEPT_SHARE)
        n_threads = min(n_processors(), max(1, memory // most - 3))  # Reading needs room.
        with closing(read_batches(files, row_groups, memory // 16, progress)) as reads:
            blocks = _sweep(files, reads, memory)
            yield from run_ahead(lambda block: make([make_frame(block, files)]), blocks, n_threads)
    elif route == "spill":
        inputs = [
            _read_rows_to_spill(name, one, limits, Progress(0) if name else progress)
            for name, one in {"": files, **files.companions}.items()
        ]
        yield from _spilled(inputs, limits, progress, make)
    else:
        if (n_bytes := sum(one.n_bytes for one in row_groups)) > files.memory + ROOM:
            raise room_error("all rows of the one ranking", n_bytes, files.memory)
        with closing(read_batches(files, row_groups, memory // 16, progress)) as reads:
            frame = make_frame((batch for _, batch in reads), files)
        if len(frame):
            pa.default_memory_pool().release_unused()  # The pool keeps the memory of batches.
            yield make([frame])


def _read_rows_to_spill(name: str, files: Files, limits: Limits, progress: Progress) -> RowsToSpill:
    """Return rows to partition by user; a refusal of truth or exclude names the option.

    A bucket gets few rows of a batch, which hardly ever share a text, so text stays plain.
    """
    row_groups = files.row_groups
    n_bytes = sum(one.n_bytes + one.n_rows * one.text_bytes for one in row_groups)

    def read() -> Generator[pa.RecordBatch, None, None]:
        n_bytes_read = _bytes_to_divide(limits.memory)
        with prefix_errors(name) if name else nullcontext():
            for _, batch in read_batches(files, row_groups, n_bytes_read, progress, is_plain=True):
                yield batch

    return RowsToSpill(files, read(), files.n_rows, n_bytes)


def iter_frames(
    files: Files, memory: int, progress: Progress, user: Hashable
) -> Iterator[pd.DataFrame]:
    """Yield frames of rows that include all rows of a user, in the order of files.

    If several columns tell users apart, `user` is the id in the first.
    """
    row_groups = [row_group for row_group in files.row_groups if row_group.may_have(user)]
    for _, batch in read_batches(files, row_groups, memory // 16, progress, is_plain=True):
        yield make_frame([batch], files)


def make_frame(batches: Iterable[pa.RecordBatch], files: Files) -> pd.DataFrame:
    """Return rows as a frame with the labels of the columns."""
    table = pa.Table.from_batches(batches)
    columns = dict(zip(table.column_names, table.columns, strict=True))
    del table  # The memory of each column is freed as soon as the frame has it.
    roles = zip(files.columns.labels, files.types, strict=True)
    arrays = {label: read_column(columns.pop(name)) for label, name in roles}
    return pd.DataFrame(arrays, copy=False)


def _sweep(files: Files, reads: Iterator[Read], memory: int) -> Iterator[list[pa.RecordBatch]]:
    """Yield blocks of users who are in no later row group, as soon as a block is large enough."""
    held: list[Read] = []
    user, row_bytes = files.users[0], files.row_bytes
    n_held = n_carried = 0
    for row_group, batch in reads:
        # If no row group has a lower user, no user can come back after its block.
        if _are_below(batch[user], row_group.low).true_count:
            raise RecframeError(
                f"{show_path(row_group.source.path)}: the statistics of row group "
                f"{row_group.number} say that no {quote(user)} is below {quote(row_group.low)}, "
                "but one is. Write the file anew."
            )
        enough = max(min(MOST_ROWS * row_bytes, memory // SWEPT_SHARE), 2 * n_carried)
        is_full = n_held >= enough or n_held + row_group.n_bytes > memory
        if is_full and held and held[-1][0] is not row_group:
            done, held = _split(held, user, row_group.low)
            # The plan leaves a quarter of the memory free, so that this is rarely done.
            n_held = n_carried = sum(batch_bytes(batch, row_bytes) for _, batch in held)
            if done:
                yield _in_order_of_files(done)
        held.append((row_group, batch))
        n_held += batch_bytes(batch, row_bytes)
        if n_held > files.memory + ROOM:  # Only the rows of one user can exceed the plan.
            n_rows = sum(one.n_rows for one in files.row_groups if one.may_have(row_group.low))
            n_bytes = n_held * n_rows // sum(batch.num_rows for _, batch in held)
            raise room_error("all rows of each user", max(n_held, n_bytes), files.memory)
    if n_held:
        yield _in_order_of_files(held)


def _split(held: list[Read], user: str, low: Any) -> tuple[list[Read], list[Read]]:
    """Return the rows of users below a bound, and the others."""
    split: tuple[list[Read], list[Read]] = [], []
    for row_group, batch in held:
        is_below = _are_below(batch[user], low)
        for reads, is_chosen in zip(split, (is_below, pc.invert(is_below)), strict=True):
            if (half := batch.filter(is_chosen)).num_rows:
                reads.append((row_group, half))
    return split


def _are_below(ids: pa.Array, low: Any) -> pa.Array:
    """Return which ids are below a bound; each value of a dictionary is compared once."""
    if not pa.types.is_dictionary(ids.type):
        return pc.less(ids, pa.scalar(low, ids.type))
    is_below = _are_below(ids.dictionary, low)
    return is_below.take(ids.indices) if is_below.true_count else pa.repeat(False, len(ids))


def _in_order_of_files(held: list[Read]) -> list[pa.RecordBatch]:
    """Return rows in the order of files."""
    return [batch for _, batch in sorted(held, key=lambda read: read[0].index_overall)]


def _bytes_to_divide(memory: int) -> int:
    """Return the bytes of rows that are partitioned at a time."""
    return max(memory // 16, min(memory // 4, LEAST_BATCH))


def _spilled(
    inputs: list[RowsToSpill],
    limits: Limits,
    progress: Progress,
    make: Callable[[list[pd.DataFrame]], Made],
    level: int = 0,
) -> Iterator[Made]:
    """Yield the result of `make` for each bucket of users; too large buckets are spilled again."""
    memory, n_threads = limits.memory, n_processors()
    n_rows, n_bytes = sum(rows.n_rows for rows in inputs), sum(rows.n_bytes for rows in inputs)
    n_least = 1 + n_rows // BUCKET_ROWS
    n_buckets = min(MAX_BUCKETS, max(n_least, 1 + (n_bytes - 1) // max(1, memory // 4)))
    with ExitStack() as stack:
        spills = []
        for rows in inputs:
            schema = pa.schema(rows.files.types)
            spill = Spill(limits.folder, schema, rows.files.users, n_buckets, level)
            spills.append(stack.enter_context(closing(spill)))
            # After an error, a garbage collector would end these in any thread, which may hang.
            stack.enter_context(closing(rows.batches))
            batches = next_ahead(gather(rows.batches, _bytes_to_divide(memory)))
            stack.enter_context(closing(batches))
            for number, parts in enumerate(run_ahead(spill.divide, batches, n_threads)):
                spill.add(parts)
                progress.report()
                if number % RELEASED_BATCHES == 0:
                    pa.default_memory_pool().release_unused()  # The pool would grow.
        pa.default_memory_pool().release_unused()  # The pool keeps the memory of batches.
        counts = np.array([spill.n_rows for spill in spills])  # by input and bucket
        row_bytes = np.array([[rows.files.row_bytes] for rows in inputs])
        sizes = np.array([spill.n_bytes for spill in spills]) + counts * row_bytes
        bucket_rows, bucket_bytes = counts.sum(axis=0), sizes.sum(axis=0)
        # A giant user cannot be split: most rows in one bucket are taken to be of one user.
        is_too_large = (bucket_bytes > memory) & (2 * bucket_rows <= n_rows) & (level < MAX_LEVEL)
        buckets = np.flatnonzero(~is_too_large & (bucket_rows > 0))
        if (most := int(bucket_bytes[buckets].max(initial=1))) > inputs[0].files.memory + ROOM:
            raise room_error("all rows of each user", most, inputs[0].files.memory)

        def make_block(bucket: int) -> Made:
            pairs = zip(spills, inputs, strict=True)
            return make(
                [make_frame(spill.read_bucket(bucket), rows.files) for spill, rows in pairs]
            )

        yield from run_ahead(make_block, buckets.tolist(), min(n_threads, max(1, memory // most)))
        for bucket in np.flatnonzero(is_too_large).tolist():
            smaller = [
                RowsToSpill(rows.files, spill.read_bucket(bucket), *map(int, figures))
                for spill, rows, *figures in zip(
                    spills, inputs, counts[:, bucket], sizes[:, bucket], strict=True
                )
            ]
            yield from _spilled(smaller, limits, progress, make, level + 1)


class Spill(TemporaryRows):
    """Buckets of rows in a temporary file; each user's rows are in one bucket, as ordered."""

    # `level` selects bits of a hash: the next level's bits split the users of one bucket.
    def __init__(
        self, folder: str | None, schema: pa.Schema, users: list[str], n_buckets: int, level: int
    ) -> None:
        super().__init__(1, folder)
        self._schema, self._users, self._level = schema, users, level
        self._extents: list[list[tuple[int, int]]] = [[] for _ in range(n_buckets)]
        self.n_rows = np.zeros(n_buckets, np.int64)
        self.n_bytes = np.zeros(n_buckets, np.int64)  # in memory

    def divide(self, batch: pa.RecordBatch) -> list[Part]:
        """Return the rows of a batch by bucket, ready for `add`; any thread may call this."""
        bits = hash_users(*(batch[user] for user in self._users)) >> np.uint64(16 * self._level)
        bucket = (bits % np.uint64(len(self.n_rows))).astype(np.uint8)
        # NumPy sorts bytes by counting them, and the stable sort keeps the order of rows.
        rows = pc.take(batch, pa.array(np.argsort(bucket, kind="stable")), memory_pool=POOL)
        parts, start = [], 0
        for number, n_rows in enumerate(np.bincount(bucket).tolist()):
            if n_rows:
                own = rows.slice(start, n_rows)
                parts.append((number, n_rows, own.nbytes, own.serialize(memory_pool=POOL)))
                start += n_rows
        return parts

    def add(self, parts: list[Part]) -> None:
        """Add the rows of a batch."""
        for bucket, n_rows, n_bytes, written in parts:
            self.n_rows[bucket] += n_rows
            self.n_bytes[bucket] += n_bytes
            self._extents[bucket].append(self.append(written))

    def read_bucket(self, bucket: int) -> Generator[pa.RecordBatch, None, None]:
        """Yield the rows of a bucket, in one batch or more."""
        if not self._extents[bucket]:
            yield pa.RecordBatch.from_pylist([], self._schema)
        for extent in self._extents[bucket]:
            yield pa.ipc.read_record_batch(self.read_part(*extent), self._schema)


def hash_users(*columns: pa.Array) -> Array:
    """Return a 64-bit hash of each row's ids; equal ids have equal hashes."""
    bits = _hash(columns[0])
    for ids in columns[1:]:
        mixed: Array = bits * MIX  # Now the low bits depend on the high ones.
        bits = mixed ^ (mixed >> np.uint64(32)) ^ _hash(ids)
    return bits


def _hash(ids: pa.Array) -> Array:
    """Return a 64-bit hash of each id; equal ids have equal hashes, even if their types differ.

    Texts that are equal once simplified have equal hashes too, so that such users of rows and truth
    meet in one bucket, where a note names them.
    """
    if ids.type not in TEXTS:
        if pa.types.is_date(ids.type) or pa.types.is_timestamp(ids.type):
            ids = ids.cast(pa.timestamp("us"), safe=False)
        elif any(is_number(ids.type) for is_number in ARE_NUMBERS):
            # -0.0 and 0.0 are one user.
            ids = pc.add(ids.cast(pa.float64(), safe=False), 0.0)
        return pd.util.hash_pandas_object(ids.to_pandas(), index=False).to_numpy()
    # The last bytes of a text are read as integers, which are multiplied and added up.
    is_text = not pa.types.is_binary(ids.type)  # Bytes may be no text of UTF-8.
    trimmed = simplify_text(ids) if is_text else ids.view(pa.string())
    n_bytes = pc.max(pc.binary_length(trimmed)).as_py() or 0
    last = trimmed.view(pa.binary())
    last = pc.binary_slice(last, -HASHED_BYTES, None) if n_bytes > HASHED_BYTES else last
    n_words = max(1, -(-min(n_bytes, HASHED_BYTES) // 8))
    padded = pc.ascii_rpad(last.view(pa.string()), 8 * n_words, padding="\0")
    words = np.frombuffer(padded.buffers()[2], np.uint64, n_words * len(ids))
    bits = np.zeros(len(ids), np.uint64)
    for number in range(n_words):  # Zeros, the padding for longer texts, add nothing.
        bits += words[number::n_words] * MIX ** np.uint64(number + 1)
    bits ^= bits >> np.uint64(32)
    bits *= MIX
    bits ^= bits >> np.uint64(29)
    return bits
