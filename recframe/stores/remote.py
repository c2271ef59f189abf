"""A file in a store: parts of it fetched, held until they are read, and read as a file is."""

import io
from bisect import bisect_right, insort
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from recframe.stores.served import OfFsspec, OfWeb
from recframe.stores.store import Store

TAIL = 8 << 10, 64 << 10  # bytes that are read first of a file; most footers are in it
TAIL_SHARE = 64  # of the file, as large ones have large footers
END = 8  # bytes behind the footer: how many it has, and what kind of file it is
MIN_FETCH = 64 << 10  # bytes; what is read of a part that is not held, at least
MAX_FETCH = 4 << 20  # the same at most, of what is read from its beginning to its end
HOLE = 64 << 10  # bytes; parts with less between them are fetched as one
REQUESTS = 16  # at a time

Read = TypeVar("Read")
Given = TypeVar("Given")
Range = tuple[int, int]  # the first byte, and the first behind it


class HeldPart(NamedTuple):
    """A part of a file that is fetched, or being so."""

    start: int
    stop: int
    fetched: Future[bytes]
    done: Callable[[], None] | None


class Remote:
    """A file in a store, opened at its first use; parts may be fetched from several threads."""

    def __init__(self, store: Store, key: str, size: int | None = None) -> None:
        self._store, self._key, self._size = store, key, size
        self._held: dict[int, HeldPart] = {}  # by where they begin
        self._starts: list[int] = []  # of the same, in order
        self._opened: Any = None
        self._lock = Lock()
        self.footer_bytes = 0  # as far as it is known
        self.keeps_footer = False  # as it is read again and again
        self._footer: bytes | None = None

    def __repr__(self) -> str:
        """Return its name."""
        return f"<file {self._store.show(self._key)}>"

    @property
    def footer_range(self) -> Range:
        """Where its footer is, as far as it is known."""
        least, most = TAIL
        n_bytes = self.footer_bytes or max(least, min(most, self.size // TAIL_SHARE))
        return max(0, self.size - n_bytes), self.size

    def read_footer(self) -> bytes:
        """Return the end of it from its footer on, as a file of nothing else."""
        if self._footer is not None:
            return self._footer
        reader = self.open()
        start, _ = self.footer_range
        reader.seek(start)
        found = reader.read()
        n_bytes = int.from_bytes(found[-END : -END + 4], "little") + END
        if len(found) < n_bytes <= self.size:
            reader.seek(self.size - n_bytes)
            found = reader.read(n_bytes - len(found)) + found
        found = found[-n_bytes:]
        self.footer_bytes = len(found)
        if self.keeps_footer:
            self._footer = found
        return found

    @property
    def size(self) -> int:
        """Its bytes."""
        if self._size is None:
            with self._store.guarded():
                self._size = int(self._open().size())
        return self._size

    def _open(self) -> Any:
        """Return the file as its library opens it, with `size` and `read_at`."""
        with self._lock:  # cached_property has one for all files
            if self._opened is None:
                self._opened = _open(self._store, self._key)
            return self._opened

    def fetch(self, start: int, stop: int) -> bytes:
        """Return bytes of it, by one request."""
        with self._store.guarded():
            read = bytes(self._open().read_at(stop - start, start))
            if len(read) != stop - start:
                raise OSError(f"of {stop - start:,} bytes at {start:,} there came {len(read):,}")
        return read

    def hold(
        self, start: int, stop: int, fetched: Future[bytes], done: Callable[[], None] | None = None
    ) -> None:
        """Keep a part that is being fetched; once its end is read, say so where it is asked for."""
        with self._lock:
            if start not in self._held:
                insort(self._starts, start)
            self._held[start] = HeldPart(start, stop, fetched, done)

    def release(self, start: int) -> None:
        """Let a part go."""
        with self._lock:
            if self._held.pop(start, None):
                self._starts.remove(start)

    def hold_all(self, ranges: Iterable[Range], n_at_once: int = 1) -> None:
        """Fetch parts, many at a time, and keep them."""
        parts = merge(ranges)
        with ThreadPoolExecutor(max(1, min(n_at_once, len(parts)))) as pool:
            for start, stop in parts:
                self.hold(start, stop, pool.submit(self.fetch, start, stop))

    @contextmanager
    def holding_footer(self) -> Iterator[None]:
        """Keep the end of it while its footer is read."""
        if self._footer is None:
            self.hold_all([self.footer_range])
        else:
            self.hold(self.footer_range[0], self.size, _done(self._footer))
        try:
            yield
        finally:
            self.release_all()

    def release_all(self) -> None:
        """Let all parts go."""
        with self._lock:
            self._held.clear()
            self._starts.clear()

    def find(self, at: int) -> HeldPart | None:
        """Return the part held that has a byte."""
        with self._lock:
            index = bisect_right(self._starts, at) - 1
            if index < 0:
                return None
            found = self._held[self._starts[index]]
        return found if at < found.stop else None

    def open(self) -> "Reader":
        """Return it opened to be read from its beginning."""
        return Reader(self)


class Reader(io.RawIOBase):
    """A file in a store as Python and Arrow read files, from the parts that are held."""

    def __init__(self, remote: Remote) -> None:
        super().__init__()
        self._remote, self._at = remote, 0
        self._block_at, self._block = 0, b""  # what small parts are read from, byte by byte
        self._fetched_to, self._step = -1, MIN_FETCH

    def readable(self) -> bool:
        """Return that it is read."""
        return True

    def seekable(self) -> bool:
        """Return that any part of it can be."""
        return True

    def tell(self) -> int:
        """Return where it is read next."""
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        self._at = offset + (0, self._at, self._remote.size if whence == 2 else 0)[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        return bytes(self.read_buffer(size))

    def read_buffer(self, size: int = -1) -> Any:
        """Return the next bytes as Arrow takes them, without a copy where they are in one part."""
        left = max(0, self._remote.size - self._at)
        size = left if size < 0 else min(size, left)
        parts = []
        while size > 0:
            part = self._next(size)
            parts.append(part)
            self._at += len(part)
            size -= len(part)
        if len(parts) == 1:
            return pa.py_buffer(parts[0])
        return pa.py_buffer(b"".join(parts))

    def _next(self, size: int) -> memoryview:
        """Return up to so many bytes from where it is read."""
        at = self._at
        if not self._block_at <= at < self._block_at + len(self._block):
            found = self._remote.find(at)
            if found is not None:
                part, skipped = found.fetched.result(), at - found.start
                if found.done is not None and skipped + size >= len(part):
                    found.done()
                if len(part) > MIN_FETCH or size > MIN_FETCH:
                    return memoryview(part)[skipped : skipped + size]
                self._block_at, self._block = found.start, part
            else:
                # What is read on and on, as text is, is fetched in larger and larger parts.
                self._step = min(2 * self._step, MAX_FETCH) if at == self._fetched_to else MIN_FETCH
                self._fetched_to = min(self._remote.size, at + max(size, self._step))
                self._block_at, self._block = at, self._remote.fetch(at, self._fetched_to)
        skipped = at - self._block_at
        return memoryview(self._block)[skipped : skipped + size]


def _open(store: Store, key: str) -> Any:
    """Return a file as its library opens it."""
    if store.of_fsspec is None:
        return store.filesystem.open_input_file(key)
    return OfWeb(store.of_fsspec, key) if store.is_web else OfFsspec(store.of_fsspec, key)


def _done(found: bytes) -> Future[bytes]:
    """Return what is there already, as what is fetched is."""
    fetched = Future[bytes]()
    fetched.set_result(found)
    return fetched


def merge(ranges: Iterable[Range], hole: int = HOLE) -> Sequence[Range]:
    """Return ranges in order, those with little between them as one."""
    merged: list[Range] = []
    for start, stop in sorted(ranges):
        if merged and start - merged[-1][1] <= hole:
            merged[-1] = merged[-1][0], max(stop, merged[-1][1])
        else:
            merged.append((start, stop))
    return merged


def read_each(read: Callable[[Given], Read], given: Iterable[Given]) -> Iterator[Read]:
    """Yield what is read of each, many at a time and in order."""
    pool, coming = ThreadPoolExecutor(REQUESTS), deque[Future[Read]]()
    try:
        for one in given:
            coming.append(pool.submit(read, one))
            if len(coming) == REQUESTS:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
