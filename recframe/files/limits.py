"""The resources that an evaluation of files may use, and its progress."""

import math
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NamedTuple
from weakref import proxy

import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import RecframeError, is_number, quote
from recframe.other_tables import PathLike, is_path

Report = Callable[[int, int], object]

MEMORY = "1GiB"
POOL = pa.system_memory_pool()  # Arrow's default pool keeps memory that other threads have freed.
ROOM = 24 << 20  # bytes by which data that are held together may exceed the memory
AMOUNT = r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+) *((?:[KMGT]I?)?B)"
UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


class Limits(NamedTuple):
    """Bytes of memory to work in, the folder of temporary files, and how progress is reported."""

    memory: int
    folder: str | None
    progress: bool | Report


def check_limits(memory: int | str, tmp: PathLike | None, progress: bool | Report) -> Limits:
    """Return the limits, or raise `RecframeError` if one is not valid."""
    if not isinstance(progress, bool) and not callable(progress):
        raise RecframeError(
            f"progress must be True, False or a function of (done, total), but is {quote(progress)}"
        )
    # Unlike Path.is_dir, isdir does not raise if a name is too long.
    if tmp is not None and not (is_path(tmp) and os.path.isdir(tmp)):  # noqa: PTH112 - see above
        raise RecframeError(f"tmp must be an existing folder, but is {quote(tmp)}")
    return Limits(check_memory(memory), None if tmp is None else os.fspath(tmp), progress)


def check_memory(memory: object) -> int:
    """Return an amount of memory in bytes, or raise `RecframeError`."""
    n_bytes: float = 0
    if is_number(memory, Integral):
        n_bytes = int(memory)
    elif isinstance(memory, str) and (found := re.fullmatch(AMOUNT, memory.strip().upper())):
        n_bytes = float(found[1]) * UNITS[found[2]]
    if 1 <= n_bytes < math.inf:
        return int(n_bytes)
    raise RecframeError(
        "memory must be a number of bytes above 0 or a text such as '512MiB', "
        f"but is {quote(memory)}"
    )


def room_error(what: str, n_bytes: int, memory: int) -> RecframeError:
    """Return the refusal of data that must be in memory together and do not fit."""
    return RecframeError(
        f"memory must hold {what}, which take about {n_bytes:,} bytes, but is {memory:,}. Pass "
        f"memory='{-(-n_bytes // 10**6)}MB' or more."
    )


@contextmanager
def writing_to(folder: str | None) -> Iterator[None]:
    """Turn an error of a temporary file into a `RecframeError` that names its folder."""
    try:
        yield
    except OSError as error:
        raise RecframeError(
            f"cannot write temporary files to {tempfile.gettempdir() if folder is None else folder}"
            f": {error.strerror or error}. Pass tmp= a folder with more room."
        ) from error


class TemporaryRows(tempfile.SpooledTemporaryFile[bytes]):
    """Rows that are written to memory while they are few, else to a file without a name."""

    def __init__(self, most: int, folder: str | None) -> None:
        super().__init__(most, dir=folder)
        self.folder = folder
        # Several threads may read. Arrow's file would form a cycle that is never collected.
        self._reader = pa.PythonFile(proxy(self), "r")

    def append(self, data: Any) -> tuple[int, int]:
        """Add bytes at the end, and return the offset of the first, and their number."""
        with writing_to(self.folder):
            start = self.seek(0, os.SEEK_END)  # This may write what a buffer still holds.
            return start, super().write(data)

    def read_part(self, start: int, size: int) -> bytes:
        """Return bytes that were added together."""
        with writing_to(self.folder):
            part: bytes = self._reader.read_at(size, start)
            return part

    def close(self) -> None:
        """Free the space; errors no longer matter."""
        with suppress(OSError):
            super().close()

    def __del__(self) -> None:
        """Free the space, without a warning that nobody closed the file."""
        self.close()


@dataclass
class Progress:
    """The progress of an evaluation: each row is read once, and evaluated once or dropped."""

    total: int  # rows
    tell: Report = lambda done, total: None  # called only by the thread that evaluates
    n_read: int = 0  # written by the thread that reads; a row dropped counts twice
    n_evaluated: int = 0  # written by the thread that evaluates
    n_dropped: int = 0  # rows without a user
    nulls_dropped: Counter[str] = field(default_factory=Counter)  # in dropped rows, by column

    def note_dropped(self, rows: pa.RecordBatch, kept: pa.RecordBatch) -> None:
        """Count the rows that are not kept, and their nulls."""
        n_dropped = rows.num_rows - kept.num_rows
        self.n_dropped += n_dropped
        self.n_read += n_dropped
        for name in rows.schema.names:
            n_nulls = [pc.is_null(one[name], nan_is_null=True).true_count for one in (rows, kept)]
            self.nulls_dropped[name] += n_nulls[0] - n_nulls[1]

    def report(self) -> None:
        """Report the number of rows that are done."""
        self.tell((self.n_read + self.n_evaluated) // 2, self.total)


@contextmanager
def showing(progress: bool | Report, total: int) -> Iterator[Progress]:
    """Make a progress that reports to the caller's function or to a bar."""
    if callable(progress):
        yield Progress(total, progress)
    elif not progress:
        yield Progress(total)
    else:
        from tqdm.auto import tqdm  # It takes 0.1 s, so only bars import it.

        with tqdm(total=total, unit=" rows", unit_scale=True, leave=False) as bar:
            yield Progress(total, lambda done, total: bar.update(done - bar.n))
