"""Threads: how many work at a time, and rows cut into slices that they work on. NumPy only."""

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from numpy.typing import NDArray

from recframe.errors import RecframeError, quote

Array = NDArray[Any]
Result = TypeVar("Result")

VARIABLE = "RECFRAME_MAX_THREADS"
ROWS_PER_THREAD = 1 << 17  # fewer are done sooner than another thread has started


def in_slices(function: Callable[[int, int], Result], n_rows: int) -> list[Result]:
    """Call a function with the bounds of equal slices of rows, one for each thread."""
    n_slices = count_slices(n_rows)
    bounds = [n_rows * number // n_slices for number in range(n_slices + 1)]
    return in_threads(function, pairwise(bounds))


def count_slices(n_rows: int) -> int:
    """Return into how many slices `in_slices` cuts rows."""
    return min(n_processors(), n_rows // ROWS_PER_THREAD) if n_rows > ROWS_PER_THREAD else 1


def in_threads(function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]]) -> list[Result]:
    """Call a function with each tuple of arguments, in threads where there is more than one."""
    tasks = list(tasks)
    n_threads = len(tasks) if len(tasks) < 2 else min(len(tasks), n_processors())
    if n_threads < 2:
        return [function(*task) for task in tasks]
    results: dict[int, Result] = {}
    errors: dict[int, BaseException] = {}
    left = deque(range(len(tasks)))

    # Not a pool, which takes a lock and a future for every task.
    def work() -> None:
        while left:
            with suppress(IndexError):  # another thread may have taken the last one
                number = left.popleft()
                try:
                    results[number] = function(*tasks[number])
                except BaseException as error:
                    errors[number] = error
                    left.clear()

    others = [Thread(target=work) for _ in range(n_threads - 1)]
    try:
        for thread in others:
            thread.start()
        work()  # this thread takes part
        for thread in others:
            thread.join()
    finally:
        left.clear()  # where this one is interrupted while it waits
    if errors:  # of several the first task's is raised: those before a task have begun before it
        raise errors[min(errors)]
    return [results[number] for number in range(len(tasks))]


def n_processors() -> int:
    """Return how many threads work at a time: as many as are asked for, else as there is room for.

    Results never depend on it.
    """
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return _count()
    if not (given.isascii() and given.isdigit() and 0 < len(given) < 10 and int(given)):
        raise RecframeError(
            f"the environment variable {VARIABLE} must be a whole number of 1 or more, found "
            f"{quote(given)}; unset it to use the processors there are"
        )
    return int(given)


def _count() -> int:
    """Return how many processors this process may use, its container's share included."""
    if hasattr(os, "sched_getaffinity"):
        n_own = len(os.sched_getaffinity(0))
    else:
        n_own = os.cpu_count() or 1
    quota = _own_quota()
    return n_own if quota is None else max(1, min(n_own, math.ceil(quota)))


@cache
def _own_quota() -> float | None:
    """Return the processors that this process has, which is looked up once."""
    return find_quota(Path("/"))


def find_quota(root: Path) -> float | None:
    """Return the processors that the control groups of this process have; None for no limit."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except (OSError, ValueError):  # there are no such groups on this system
        return None
    quotas = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            of_group = _read_max
            mounts = ["sys/fs/cgroup", "sys/fs/cgroup/unified"]
        elif "cpu" in controllers.split(","):
            of_group = _read_cfs
            mounts = [f"sys/fs/cgroup/{controllers}", "sys/fs/cgroup/cpu"]
        else:
            continue
        for mount in mounts:
            for folder in _list_groups(root / mount, path):
                with suppress(OSError, ValueError, ZeroDivisionError):  # none is set there
                    quotas.append(of_group(folder))
    return min((quota for quota in quotas if quota > 0), default=None)


def _list_groups(mount: Path, path: str) -> Iterator[Path]:
    """Yield the folder of a group and of those it is in; a container may see the last alone."""
    folder = mount / path.lstrip("/")
    while folder.is_relative_to(mount):
        yield folder
        folder = folder.parent


def _read_max(folder: Path) -> float:
    """Return what a group of version 2 may use."""
    quota, period = (folder / "cpu.max").read_text().split()
    return int(quota) / int(period)


def _read_cfs(folder: Path) -> float:
    """Return what a group of version 1 may use, below 0 where that is not limited."""
    quota, period = (
        int((folder / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period")
    )
    return quota / period
