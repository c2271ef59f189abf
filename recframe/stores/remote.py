"""A file in a store: its parts are fetched ahead, held until they are read, and read as a file.

A slow store then costs its bandwidth and not its latency. Arrow's pre_buffer waits for each row
group, 2.8 times the transfer alone at 1 MB and 20 ms a request; fsspec's caches are of its files.
"""

import io
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from threading import Lock, Thread
from typing import Any, NamedTuple, TypeVar
from weakref import finalize

from recframe.errors import RecframeError, quote, show_path
from recframe.stores import REQUEST
from recframe.stores.store import Store

TIMEOUT = "RECFRAME_STORE_TIMEOUT"  # the environment variable of the seconds of a request
TAIL = 8 << 10, 64 << 10  # bytes that are read first of the end of a file; most footers are in it
TAIL_SHARE = 64  # of the file, as large ones have large footers
KEPT_FOOTERS = 256  # of so few files of a store they are kept
END = 8  # bytes behind the footer: how many it has, and what kind of file it is
BLOCK = 512 << 10  # bytes; what is not held is read in blocks
N_FOLLOWING, N_BLOCKS = 4, 64  # blocks that are fetched ahead of a large part, and kept in all
HOLE = 64 << 10  # bytes; parts with less between them are fetched as one
LARGEST = 1 << 20  # bytes of parts that are fetched as one
LEAST_AHEAD = 16 << 20  # bytes that may be fetched ahead, however little memory there is
REQUESTS = 16  # at a time

Made = TypeVar("Made")
Given = TypeVar("Given")
Range = tuple[int, int]  # the first byte, and the first behind it


class Remote:
    """A file in a store, opened at its first use; several threads may read it."""

    def __init__(self, store: Store, key: str) -> None:
        self.store, self.key, self.version = store, key, store.versions.get(key)
        self._size: int | None = self.version and self.version[0]
        self._held: dict[Range, Future[bytes]] = {}
        self._opened: Any = None
        self._lock = Lock()
        self._footer_bytes = 0  # as far as it is known
        self._tail = b""  # the end of it, once that is read
        self.ends: set[int] = set()  # where columns end, each of which is read on and on
        store.n_files += 1

    @property
    def keeps_footer(self) -> bool:
        """Whether its footer is kept once it is read, as every call reads it."""
        return self.store.n_files <= KEPT_FOOTERS

    @property
    def size(self) -> int:
        """Its bytes."""
        if self._size is None:
            with self.store.guarded():
                self._size = int(self._open().size())
        return self._size

    def _open(self) -> Any:
        """Return the file as its library opens it, with `size` and `read_at`."""
        with self._lock:  # cached_property has one for all files
            if self._opened is None:
                of_fsspec = self.store.of_fsspec
                if of_fsspec is None:
                    self._opened = self.store.filesystem.open_input_file(self.key)
                else:
                    self._opened = OfFsspec(of_fsspec, self.key, is_web=self.store.is_web)
            return self._opened

    def fetch(self, start: int, stop: int) -> bytes:
        """Return bytes of it, by one request."""
        with self.store.guarded():
            read = in_time(lambda: bytes(self._open().read_at(stop - start, start)))
            if len(read) != stop - start:
                raise OSError(f"{len(read):,} of {stop - start:,} bytes came from {start:,} on")
        return read

    def hold(self, ranges: Iterable[Range], pool: ThreadPoolExecutor) -> list[Range]:
        """Fetch ranges, and its footer where that is not kept; return the parts that are held."""
        parts: list[Range] = []
        for start, stop in sorted([*ranges, *(() if self.keeps_footer else (self._tail_range,))]):
            before, end = parts[-1] if parts else (0, -HOLE - 1)
            if start - end <= HOLE and stop - before <= LARGEST:  # with little between them
                parts[-1] = before, max(end, stop)
            else:
                parts.append((start, stop))
        self._held |= {part: pool.submit(self.fetch, *part) for part in parts}
        return parts

    def release(self, parts: Iterable[Range]) -> None:
        """Let parts go."""
        for part in parts:
            self._held.pop(part, None)

    def find(self, start: int, stop: int) -> bytes | None:
        """Return bytes of a part that is held, or of its end; None of others."""
        for (begin, end), fetched in list(self._held.items()):  # which another thread may change
            if begin <= start and stop <= end:
                return fetched.result()[start - begin : stop - begin]
        begin, end = self._tail_range
        if start < begin:
            return None
        self._tail = tail = self._tail or self.fetch(begin, end)
        return tail[start - begin : stop - begin]

    @property
    def _tail_range(self) -> Range:
        """Where its footer is, as far as that is known."""
        least, most = TAIL
        n_bytes = self._footer_bytes or max(least, min(most, self.size // TAIL_SHARE))
        return max(0, self.size - n_bytes), self.size

    def read_footer(self) -> bytes:
        """Return the end of it from its footer on, as a file of nothing else."""
        end = self.find(max(0, self.size - END), self.size) or b""
        start = max(0, self.size - int.from_bytes(end[:4], "little") - END)
        footer = self.find(start, self.size) or self.fetch(start, self.size)
        self._footer_bytes, self._tail = len(footer), footer if self.keeps_footer else b""
        return footer


def in_time(ask: Callable[[], bytes]) -> bytes:
    """Return the answer to a request, or raise if that takes longer than the environment allows.

    A thread asks; nobody waits for it once it is late, as a slow answer cannot be interrupted.
    """
    if not (given := os.environ.get(TIMEOUT, "").strip()):
        return ask()
    if not (re.fullmatch(r"\d{1,6}(\.\d+)?", given) and float(given)):
        raise RecframeError(
            f"the environment variable {TIMEOUT} must be a number of seconds above 0, found "
            f"{quote(given)}; unset it to wait as long as requests take"
        )
    answered: Future[bytes] = Future()

    def answer() -> None:
        try:
            answered.set_result(ask())
        except BaseException as error:
            answered.set_exception(error)

    Thread(target=answer, name=REQUEST, daemon=True).start()
    if not wait([answered], float(given)).done:
        raise TimeoutError(f"a request took more than {given} s; set {TIMEOUT} higher")
    return answered.result()


def find_version(file: Any) -> object:
    """Return the size and time of change of a file that is listed; None where nothing tells it."""
    if file.remote is not None:
        return file.remote.version
    with suppress(OSError):  # objects that are no paths have names too
        found = os.stat(file.path)  # noqa: PTH116 - of many files it takes half the time
        return found.st_size, found.st_mtime_ns
    return None


def check_unchanged(files: Sequence[Any], versions: Sequence[object]) -> None:
    """Raise where a file, or else its store's listing, has another version by now."""
    stores = {one.remote.store for one in files if one.remote}
    listed = {store: store.list_again() for store in stores}
    for file, version in zip(files, versions, strict=True):
        remote = file.remote
        now = listed[remote.store].get(remote.key) if remote else find_version(file)
        if version not in (None, now):
            message = "it changed while it was read; pass its path again once it is written"
            raise RecframeError(f"cannot read {show_path(file.path)}: {message}")


@contextmanager
def unchanged(files: Sequence[Any]) -> Iterator[None]:
    """Raise if a file changes while this is open."""
    versions = [*map(find_version, files)]
    yield
    check_unchanged(files, versions)


class FilePart(NamedTuple):
    """A part of a file that is at hand, for a `Reader`."""

    size: int
    find: Callable[[int, int], bytes]  # returns those from the first on to the second


class Reader(io.RawIOBase):
    """A file in a store as Python and Arrow read files; long runs of reads are read ahead."""

    def __init__(self, remote: Remote | FilePart) -> None:
        super().__init__()
        self._remote: Any = remote  # a part finds whatever is read, and nothing else is asked of it
        self._at = 0
        self._blocks: dict[int, Future[bytes]] = {}  # by their numbers
        self._pool = ThreadPoolExecutor(REQUESTS)

    def readable(self) -> bool:
        """Return that any part of it can be read."""
        return True

    seekable = readable

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        self._at = offset + (0, self._at, self._remote.size if whence == 2 else 0)[whence]
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes."""
        left = max(0, self._remote.size - self._at)
        size = left if size is None or size < 0 else min(size, left)
        start = self._at
        self._at = stop = start + size
        held: bytes | None = self._remote.find(start, stop)
        if held is not None:
            return held
        # What is not held is read in blocks; behind a large part some of its column follow.
        first, last = start // BLOCK, -(-stop // BLOCK)
        is_large = size >= BLOCK
        end = min((one for one in self._remote.ends if one >= stop), default=self._remote.size)
        for number in range(first, last + N_FOLLOWING * is_large):
            begin = number * BLOCK
            if number not in self._blocks and (number < last or begin < end):
                upto = min(begin + BLOCK, self._remote.size)
                self._blocks[number] = self._pool.submit(self._remote.fetch, begin, upto)
        found = b"".join(self._blocks[number].result() for number in range(first, last))
        behind = [number for number in range(first, last) if (number + 1) * BLOCK <= stop]
        for number in [*behind, *list(self._blocks)[:-N_BLOCKS]]:
            self._blocks.pop(number, None)
        return found[start - first * BLOCK :][: stop - start]


class OfFsspec:
    """A file of fsspec, fetched in parts, or copied whole from a web server that sends no parts."""

    def __init__(self, filesystem: Any, key: str, *, is_web: bool) -> None:
        self._filesystem, self._key, self._is_web = filesystem, key, is_web
        self._lock, self._size = Lock(), 0
        self._copy: Any = None

    def size(self) -> int:
        """Return its bytes."""
        found = self._filesystem.info(self._key)
        if found["type"] != "file":
            raise IsADirectoryError("it is a folder")
        self._size = found.get("size") or 0
        if self._is_web and not self._size:  # it does not say
            self._size = self._make_copy().seek(0, 2)
        return self._size

    def read_at(self, n_bytes: int, start: int) -> bytes:
        """Return bytes of it, and no more than these are asked for."""
        if not self._is_web:
            return bytes(self._filesystem.cat_file(self._key, start=start, end=start + n_bytes))
        if self._copy is None:
            try:
                with self._filesystem.open(self._key, size=self._size, cache_type="none") as file:
                    file.seek(start)
                    return bytes(file.read(n_bytes))
            except ValueError as error:  # it would begin with the whole file each time
                if "range" not in str(error):
                    raise
        with self._lock:
            copy = self._copy or self._make_copy()
            copy.seek(start)
            return bytes(copy.read(n_bytes))

    def _make_copy(self) -> Any:
        """Return a nameless file with the bytes of this one, which goes when this one does."""
        self._copy = copy = tempfile.TemporaryFile()  # noqa: SIM115
        finalize(self, copy.close)
        self._filesystem.get_file(self._key, copy)
        return copy


def read_ahead(
    given: Sequence[Given],
    find_ranges: Callable[[Given], tuple[Remote | None, Sequence[Range]]],
    n_bytes: int,
) -> Iterator[Given]:
    """Yield the given objects; ranges of later ones are fetched meanwhile, in so many bytes."""
    n_left = most = max(n_bytes, LEAST_AHEAD)
    found = [find_ranges(one) for one in given]
    sizes = [sum(stop - start for start, stop in ranges) for _, ranges in found]
    sizes = [size if size <= most else 0 for size in sizes]
    for remote, ranges in found:
        if remote:
            remote.ends |= {stop for _, stop in ranges}
    held: list[list[Range]] = []  # of those begun
    pool = ThreadPoolExecutor(REQUESTS)
    try:
        for number, one in enumerate(given):
            while len(held) < len(given) and sizes[len(held)] <= n_left:
                (remote, ranges), size = found[len(held)], sizes[len(held)]
                held.append(remote.hold(ranges, pool) if remote and size else [])
                n_left -= size
            yield one
            if remote := found[number][0]:
                remote.release(held[number])
            n_left += sizes[number]
    finally:
        for (remote, _), parts in zip(found, held, strict=False):
            if remote:
                remote.release(parts)
        pool.shutdown(wait=False, cancel_futures=True)
