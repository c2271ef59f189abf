"""Reading ahead of files in stores, so that a slow store costs its bandwidth and not its latency.

Footers say which bytes of a file the row groups to come are made of. These are fetched in the order
in which they will be read, several parts at a time, in so many bytes of memory. What is read before
it is fetched, or was not foreseen, is fetched when it is read.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import NamedTuple

from recframe.files.found import RowGroup
from recframe.stores.remote import REQUESTS, Range, Remote, merge

LEAST_AHEAD = 8 << 20  # bytes that may be read ahead, however little memory there is
LARGEST, SMALLEST = 8 << 20, 64 << 10  # bytes of a part
N_PARTS_AHEAD = 8  # parts of the largest size that there is room for


class Part(NamedTuple):
    """Bytes of a file that are fetched at once."""

    remote: Remote
    start: int
    stop: int
    number: int  # of the row group in whose reading they are read, or of the last
    is_read_once: bool  # from its beginning to its end, of one column


def read_ahead(
    row_groups: Sequence[RowGroup], n_bytes: int, *, with_footers: bool
) -> Iterator[RowGroup]:
    """Yield row groups; what is in stores of those to come is fetched, in so many bytes.

    `with_footers` says that footers are read again, where a file is opened.
    """
    if all(row_group.found.remote is None for row_group in row_groups):
        yield from row_groups
        return
    with _Ahead(row_groups, max(LEAST_AHEAD, n_bytes), with_footers=with_footers) as ahead:
        for number, row_group in enumerate(row_groups):
            yield row_group
            ahead.done(number)


class _Ahead:
    """The parts of row groups to come, fetched in their order while others are read."""

    def __init__(self, row_groups: Sequence[RowGroup], n_bytes: int, *, with_footers: bool) -> None:
        self._free = n_bytes
        self._coming = _parts(row_groups, n_bytes, with_footers=with_footers)
        self._next = next(self._coming, None)
        self._held: dict[tuple[Remote, int], Part] = {}
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(REQUESTS)

    def __enter__(self) -> "_Ahead":
        """Begin."""
        with self._lock:
            self._fill()
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of what was not read; what is under way is not waited for."""
        with self._lock:
            self._next = None
            self._let_go(list(self._held.values()))
        self._pool.shutdown(wait=False, cancel_futures=True)

    def done(self, number: int) -> None:
        """Let go of what the row groups up to this one had, and fetch on."""
        with self._lock:
            self._let_go([part for part in self._held.values() if part.number <= number])
            self._fill()

    def _read(self, part: Part) -> None:
        """Let go of a part that has been read to its end."""
        with self._lock:
            if (part.remote, part.start) in self._held:
                self._let_go([part])
                self._fill()

    def _let_go(self, parts: list[Part]) -> None:
        """Make room."""
        for part in parts:
            del self._held[part.remote, part.start]
            part.remote.release(part.start)
            self._free += part.stop - part.start

    def _fill(self) -> None:
        """Fetch what there is room for."""
        while self._next is not None:
            part = self._next
            n_bytes = part.stop - part.start
            if self._held and n_bytes > self._free:
                return
            self._free -= n_bytes
            self._held[part.remote, part.start] = part
            fetched = self._pool.submit(part.remote.fetch, part.start, part.stop)
            read = partial(self._read, part) if part.is_read_once else None
            part.remote.hold(part.start, part.stop, fetched, read)
            self._next = next(self._coming, None)


def _parts(row_groups: Sequence[RowGroup], n_bytes: int, *, with_footers: bool) -> Iterator[Part]:
    """Yield what is fetched of row groups, in the order in which it is read."""
    size = max(SMALLEST, min(LARGEST, n_bytes // N_PARTS_AHEAD))
    opened: set[Remote] = set()
    small: list[Range] = []  # of row groups before, of one file, that are fetched as one
    remote, number = None, 0
    for following, row_group in enumerate(row_groups):
        ranges = list(row_group.ranges)
        n_own = sum(stop - start for start, stop in ranges)
        own = row_group.found.remote
        if remote is not None and (
            own is not remote or n_own + sum(stop - start for start, stop in small) > size
        ):
            yield from _cut(remote, small, number, size)
            small = []
        remote, number = own, following
        if remote is None:
            continue
        if with_footers and remote not in opened:
            opened.add(remote)
            small.append(remote.footer_range)
        if n_own <= n_bytes // 2:
            small += ranges
        else:
            yield from _cut(remote, small, number, size)
            small = []
            yield from _cut_columns(remote, ranges, number, n_bytes)
    if remote is not None:
        yield from _cut(remote, small, number, size)


def _cut(remote: Remote, ranges: list[Range], number: int, size: int) -> Iterator[Part]:
    """Yield parts of row groups that are held until the last of them has been read."""
    for start, stop in merge(ranges):
        for at in range(start, stop, size):
            yield Part(remote, at, min(stop, at + size), number, is_read_once=False)


def _cut_columns(remote: Remote, ranges: list[Range], number: int, n_bytes: int) -> Iterator[Part]:
    """Yield parts of the columns of a large row group, which are read side by side."""
    size = max(SMALLEST, min(LARGEST, n_bytes // (2 * len(ranges)), n_bytes // N_PARTS_AHEAD))
    parts = [
        (
            (at - start) / (stop - start),
            Part(remote, at, min(stop, at + size), number, is_read_once=True),
        )
        for start, stop in ranges
        for at in range(start, stop, size)
    ]
    yield from (part for _, part in sorted(parts, key=lambda one: one[0]))
