"""Threads: rows cut into slices, and users into runs, that threads work on. NumPy only."""

import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from recframe.kernel.processors import n_processors

Array = NDArray[Any]
Result = TypeVar("Result")

ROWS_PER_CHUNK = 1 << 20  # what one thread takes at a time
FAR_ROWS = 1 << 17  # what it takes of rows that are far from each other
MOST_CHUNKS = 8  # of these make the longest run of users that one thread takes
MOST_USERS = 1 << 18  # in such a run: arrays of more are handed out page by page each time


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
    firsts = np.searchsorted(offsets[:-1], np.linspace(0, n_rows, n_runs + 1)[:-1])
    return np.unique(np.append(firsts, n_users))


def in_threads(function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]]) -> list[Result]:
    """Call a function with each tuple of arguments, in threads where there is more than one."""
    tasks = list(tasks)
    n_threads = len(tasks) if len(tasks) < 2 else min(len(tasks), n_processors())
    if n_threads < 2:
        return [function(*task) for task in tasks]
    pool = ThreadPoolExecutor(n_threads - 1)
    futures = [pool.submit(function, *task) for task in tasks]
    n_others, own = len(tasks), []
    try:
        # This thread takes part, from the end: one less is to be started, woken and waited for.
        while n_others and futures[n_others - 1].cancel():
            n_others -= 1
            own.append(function(*tasks[n_others]))
        return [future.result() for future in futures[:n_others]] + own[::-1]
    except Exception:
        for future in futures[:n_others]:
            future.result()  # of several errors the first task's is raised
        raise
    finally:
        pool.shutdown(cancel_futures=True)
