"""Threads: rows cut into slices, and users into runs, that threads work on. NumPy only."""

import math
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import pairwise
from threading import Thread
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from recframe.kernel.processors import n_processors

Array = NDArray[Any]
Result = TypeVar("Result")

ROWS_PER_CHUNK = 1 << 20  # what one thread takes at a time
FAR_ROWS = 1 << 17  # what it takes of rows that are far from each other
MOST_CHUNKS = 8  # of these make the longest run of users that one thread takes
MOST_USERS = 1 << 16  # in such a run: arrays of more are handed out page by page each time


def in_slices(
    function: Callable[[int, int], Result], start: int, stop: int, least: int | None = None
) -> list[Result]:
    """Call a function with the bounds of equal slices, one for each thread, where that pays.

    A thread takes as many as are the least that pays: None for what goes from row to row.
    """
    if stop <= start:
        return []
    n_slices = (stop - start) // (least or ROWS_PER_CHUNK)
    if n_slices < 2:  # as of each of thousands of columns of few rows
        return [function(start, stop)]
    n_slices = min(n_processors(), n_slices)
    bounds = np.linspace(start, stop, n_slices + 1).astype(int).tolist()
    return in_threads(function, pairwise(bounds))


def user_bounds(offsets: Array) -> Array:
    """Return the bounds of runs of whole users of about equal size, as many for each thread."""
    # The longer a run, the less threads wait for each other.
    n_rows, n_users = int(offsets[-1]), len(offsets) - 1
    most = 4 * n_rows // ROWS_PER_CHUNK
    if most < 2:
        return np.arange(0, n_users + 1, max(1, n_users))
    n_threads = n_processors()
    n_rounds = max(n_rows / (MOST_CHUNKS * ROWS_PER_CHUNK), n_users / MOST_USERS) / n_threads
    n_runs = n_threads * max(1, math.ceil(n_rounds))
    n_runs = min(n_runs, most)
    # A run begins with the first user at or after its mark.
    marks = np.linspace(0, n_rows, n_runs + 1)[:-1]
    firsts = np.searchsorted(offsets[:-1], np.ceil(marks).astype(offsets.dtype))
    return np.unique(np.append(firsts, n_users))


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
