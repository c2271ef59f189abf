"""Threads: their number, and slices of rows for them to work on. NumPy only."""

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from threading import get_ident
from typing import Any, TypeVar

from numpy.typing import NDArray

from recframe.errors import RecframeError, quote

Array = NDArray[Any]
Result = TypeVar("Result")
Task = TypeVar("Task")

VARIABLE = "RECFRAME_MAX_THREADS"
QUOTA = Path("/sys/fs/cgroup/cpu.max")  # a file of control groups, version 2
ROWS_PER_THREAD = 1 << 17  # work on fewer rows ends before another thread has started
BATCH = 1 << 16  # rows that are read at a time, so that they stay in the cache
# The number of threads that share the processors.
_n_sharing: ContextVar[int] = ContextVar("_n_sharing", default=1)


def in_slices(function: Callable[[int, int], Result], n_rows: int) -> list[Result]:
    """Call a function with the start and stop of each of several equal slices of rows."""
    if n_rows <= ROWS_PER_THREAD:
        return [function(0, n_rows)]
    n_slices = min(n_processors(), n_rows // ROWS_PER_THREAD)
    bounds = [n_rows * number // n_slices for number in range(n_slices + 1)]
    return in_threads(function, pairwise(bounds))


def in_batches(function: Callable[[slice], Result], n_rows: int) -> list[Result]:
    """Call a function with each of many slices of rows, which the cache holds."""
    results = in_slices(
        lambda start, stop: [
            function(slice(first, min(first + BATCH, stop))) for first in range(start, stop, BATCH)
        ],
        n_rows,
    )
    return list(chain.from_iterable(results))


def in_threads(function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]]) -> list[Result]:
    """Call a function with each tuple of arguments; several calls run in threads.

    The calling thread works too, on the first tasks, while other threads are starting. The first
    task that fails decides which error is raised.
    """
    tasks = list(tasks)
    n_threads = min(len(tasks), n_processors())
    if n_threads < 2:
        return [function(*task) for task in tasks]
    n_own = len(tasks) // n_threads
    pool = ThreadPoolExecutor(n_threads - 1)
    try:
        others = [pool.submit(function, *task) for task in tasks[n_own:]]
        return [function(*task) for task in tasks[:n_own]] + [one.result() for one in others]
    finally:
        pool.shutdown(cancel_futures=True)


def run_ahead(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    n_threads: int,
    size: Callable[[Task], int] = lambda _: 0,
    most: int = 0,
) -> Iterator[Result]:
    """Yield the result of each task in order, while threads work on later tasks.

    All unfinished tasks together have at most `most` bytes by `size`, unless there is only one.
    """
    workers: list[int] = []
    pool = ThreadPoolExecutor(n_threads, initializer=lambda: workers.append(get_ident()))
    coming: deque[tuple[Future[Result], int]] = deque()
    n_held = 0
    try:
        for task in tasks:
            n_held += size(task)
            while coming and n_held > most:
                made, n_bytes = coming.popleft()
                yield made.result()
                n_held -= n_bytes
            context = copy_context()  # the thread's notes are the caller's
            context.run(_n_sharing.set, n_threads)
            coming.append((pool.submit(context.run, function, task), size(task)))
            if len(coming) > n_threads:
                made, n_bytes = coming.popleft()
                yield made.result()
                n_held -= n_bytes
        while coming:
            yield coming.popleft()[0].result()
    finally:
        # After an error one of the workers may collect this generator, and a thread cannot wait for
        # itself.
        pool.shutdown(wait=get_ident() not in workers, cancel_futures=True)


def n_processors() -> int:
    """Return the number of threads that work at a time. Results never depend on it.

    It is the variable's number, or that of the processors that this process may use, divided among
    threads that run ahead.
    """
    asked = os.environ.get(VARIABLE, "").strip()
    if not asked:
        has_affinity = hasattr(os, "sched_getaffinity")
        n_usable = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
        number = min(n_usable, math.ceil(find_quota() or n_usable))
    elif asked.isascii() and asked.isdigit() and len(asked) < 10 and int(asked):
        number = int(asked)
    else:
        raise RecframeError(
            f"the environment variable {VARIABLE} must be a whole number of 1 or more, but is "
            f"{quote(asked)}. Unset it to use the processors there are."
        )
    return max(1, number // _n_sharing.get())


@cache
def find_quota(path: Path = QUOTA) -> float | None:
    """Return the processors that a container has; None for no limit."""
    with suppress(OSError, ValueError, ZeroDivisionError):  # no such file, or its quota is "max"
        quota, period = map(int, path.read_text().split())
        return quota / period
    return None
