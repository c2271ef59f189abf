"""Threads: how many work at a time, and rows cut into slices that they work on. NumPy only."""

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import pairwise
from pathlib import Path
from threading import get_ident
from typing import Any, TypeVar

from numpy.typing import NDArray

from recframe.errors import RecframeError, quote

Array = NDArray[Any]
Result = TypeVar("Result")
Given = TypeVar("Given")

VARIABLE = "RECFRAME_MAX_THREADS"
QUOTA = Path("/sys/fs/cgroup/cpu.max")  # of control groups, version 2
ROWS_PER_THREAD = 1 << 17  # fewer are done sooner than another thread has started
_n_sharing: ContextVar[int] = ContextVar("_n_sharing", default=1)  # how many threads share them


def in_slices(function: Callable[[int, int], Result], n_rows: int) -> list[Result]:
    """Call a function with the bounds of equal slices of rows, one for each thread."""
    if n_rows <= ROWS_PER_THREAD:
        return [function(0, n_rows)]
    n_slices = min(n_processors(), n_rows // ROWS_PER_THREAD)
    bounds = [n_rows * number // n_slices for number in range(n_slices + 1)]
    return in_threads(function, pairwise(bounds))


def in_threads(function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]]) -> list[Result]:
    """Call a function with each tuple of arguments, in threads where there is more than one.

    This thread takes tasks too, from the last one back, as others need a while to start.
    """
    tasks = list(tasks)
    n_threads = len(tasks) if len(tasks) < 2 else min(len(tasks), n_processors())
    if n_threads < 2:
        return [function(*task) for task in tasks]
    pool = ThreadPoolExecutor(n_threads - 1)
    submitted = [pool.submit(function, *task) for task in tasks]
    last: list[Result] = []
    try:
        while submitted and submitted[-1].cancel():
            submitted.pop()
            last.append(function(*tasks[len(submitted)]))
        return [one.result() for one in submitted] + last[::-1]
    except Exception:
        for one in submitted:
            one.result()  # of several errors that of the first task is raised
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def run_ahead(
    function: Callable[[Given], Result],
    given: Iterable[Given],
    n_threads: int,
    size: Callable[[Given], int] = lambda _: 0,
    most: int = 0,
) -> Iterator[Result]:
    """Yield the results of a function for the given objects, in order; threads make later ones.

    Together these have at most so many bytes, by the `size` of each, or there is one of them.
    """
    own: list[int] = []
    pool = ThreadPoolExecutor(n_threads, initializer=lambda: own.append(get_ident()))
    coming: deque[tuple[Future[Result], int]] = deque()
    n_held = 0
    try:
        for one in given:
            n_held += size(one)
            while coming and n_held > most:
                made, n_bytes = coming.popleft()
                yield made.result()
                n_held -= n_bytes
            context = copy_context()  # in which notes are taken
            context.run(_n_sharing.set, n_threads)
            coming.append((pool.submit(context.run, function, one), size(one)))
            if len(coming) > n_threads:
                made, n_bytes = coming.popleft()
                yield made.result()
                n_held -= n_bytes
        while coming:
            yield coming.popleft()[0].result()
    finally:
        # Left alone by an error, this may be collected in one of the threads, which cannot wait
        # for its own end.
        pool.shutdown(wait=get_ident() not in own, cancel_futures=True)


def n_processors() -> int:
    """Return how many threads work at a time: as many as are asked for, else as there is room for.

    Threads that run ahead share them. Results never depend on it.
    """
    return max(1, _count_processors() // _n_sharing.get())


def _count_processors() -> int:
    """Return the processors that this process may use, or how many threads are asked for."""
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        has_affinity = hasattr(os, "sched_getaffinity")
        n_own = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
        quota = find_quota()
        return n_own if quota is None else max(1, min(n_own, math.ceil(quota)))
    if not (given.isascii() and given.isdigit() and 0 < len(given) < 10 and int(given)):
        raise RecframeError(
            f"the environment variable {VARIABLE} must be a whole number of 1 or more, found "
            f"{quote(given)}; unset it to use the processors there are"
        )
    return int(given)


@cache
def find_quota(path: Path = QUOTA) -> float | None:
    """Return the processors that a container has; None for no limit."""
    with suppress(OSError, ValueError, ZeroDivisionError):  # there is none, or it is "max"
        quota, period = map(int, path.read_text().split())
        return quota / period
    return None
