"""Threads: slices of rows and runs of users."""

from itertools import pairwise
from threading import get_ident
from time import sleep

import numpy as np
import pytest

from recframe.kernel import threads
from recframe.kernel.threads import ROWS_PER_CHUNK, in_slices, in_threads, user_bounds


@pytest.fixture(params=[1, 3])
def n_threads(request, monkeypatch):
    """As many processors as said."""
    monkeypatch.setattr(threads, "n_processors", lambda: request.param)
    return request.param


@pytest.mark.parametrize("n_rows", [0, 1, ROWS_PER_CHUNK, 5 * ROWS_PER_CHUNK + 3])
def test_slices_are_the_whole(n_rows, n_threads):
    """The slices follow one another from the first row to the last, at most one a thread."""
    slices = in_slices(lambda start, stop: (start, stop), 2, 2 + n_rows)

    assert bool(n_rows) <= len(slices) <= n_threads
    assert [row for bounds in slices for row in bounds][:1] == [2] * bool(n_rows)
    assert all(before[1] == after[0] for before, after in pairwise(slices))
    assert n_rows == sum(stop - start for start, stop in slices)


def test_results_come_in_the_order_of_the_tasks(n_threads):
    """Whatever thread is done first."""
    assert [i * n_threads for i in range(9)] == in_threads(
        lambda one, other: one * other, [(i, n_threads) for i in range(9)]
    )


def test_no_more_threads_than_processors(n_threads):
    """However many tasks there are."""

    def name_thread() -> int:
        sleep(0.001)
        return get_ident()

    assert n_threads >= len(set(in_threads(name_thread, [()] * 9)))


def test_the_first_error_is_raised(n_threads):
    """Of several tasks that fail it is always the same one that is told of."""

    def fail(number: int) -> int:
        sleep(0.001 * (9 - number))
        if number in (3, 7, 8):
            raise ValueError(f"task {number}")
        return number

    with pytest.raises(ValueError, match="task 3"):
        in_threads(fail, [(number,) for number in range(9)])


@pytest.mark.parametrize("n_users", [1, 2, 1_000])
def test_runs_are_of_whole_users(n_users, n_threads):
    """Bounds go from the first user to the last, and no run is empty."""
    for n_rows in (n_users, 9 * ROWS_PER_CHUNK):
        offsets = np.linspace(0, n_rows, n_users + 1).astype(np.int64)
        bounds = user_bounds(offsets).tolist()

        assert [0, n_users] == [bounds[0], bounds[-1]]
        assert sorted(set(bounds)) == bounds
        assert len(bounds) - 1 <= max(n_threads, 4 * n_rows // ROWS_PER_CHUNK)
