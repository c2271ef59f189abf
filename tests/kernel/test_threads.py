"""No result depends on the slices, tasks and number of threads."""

import os
import signal
from _thread import interrupt_main
from itertools import pairwise
from threading import Barrier, get_ident
from time import sleep

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe.kernel import threads
from recframe.kernel.threads import (
    ROWS_PER_THREAD,
    VARIABLE,
    find_quota,
    in_slices,
    in_threads,
    n_processors,
    run_ahead,
)

QUOTAS = {"max 100000\n": None, "150000 100000\n": 1.5, "50000 100000": 0.5, "what\n": None}


@pytest.fixture(params=[1, 3])
def n_threads(request, monkeypatch):
    """Set the number of processors."""
    monkeypatch.setenv(VARIABLE, str(request.param))
    return request.param


@pytest.mark.parametrize("n_rows", [0, 1, ROWS_PER_THREAD, 5 * ROWS_PER_THREAD + 3])
def test_slices_are_the_whole(n_rows, n_threads):
    """The slices follow one another from the first row to the last, at most one for a thread."""
    slices = in_slices(lambda start, stop: (start, stop), n_rows)

    assert 1 <= len(slices) <= n_threads
    assert (0, n_rows) == (slices[0][0], slices[-1][1])
    assert all(before[1] == after[0] for before, after in pairwise(slices))
    assert n_rows <= ROWS_PER_THREAD or n_threads == len(slices)


def test_results_come_in_the_order_of_the_tasks(n_threads):
    """Results come in the order of the tasks, whichever thread ends first."""
    assert [i * n_threads for i in range(9)] == in_threads(
        lambda one, other: one * other, [(i, n_threads) for i in range(9)]
    )


def test_no_more_threads_than_processors(n_threads):
    """Tasks run in no more threads than the processors allow."""

    def name_thread() -> int:
        sleep(0.001)
        return get_ident()

    assert n_threads >= len(set(in_threads(name_thread, [()] * 9)))


def test_the_first_error_is_raised(n_threads):
    """The error of the first failing task is raised."""

    def fail(number: int) -> int:
        sleep(0.001 * (9 - number))
        if number in (3, 7, 8):
            raise ValueError(f"task {number}")
        return number

    with pytest.raises(ValueError, match="task 3"):
        in_threads(fail, [(number,) for number in range(9)])


def test_small_frames_start_no_thread(monkeypatch):
    """Small frames start no thread, in any row order."""
    monkeypatch.setenv(VARIABLE, "8")
    monkeypatch.setattr(threads, "ThreadPoolExecutor", None)
    frame = pd.DataFrame(
        {"user": [1, 2, 3] * 100, "score": range(300), "relevant": [1, 0, 0] * 100}
    )

    for ordered in (frame, frame.sort_values("user")):
        assert [1, 0, 0] == ordered.rec.recall(k=100)["score"].fillna(0).tolist()


@pytest.mark.parametrize("row", [0, -1])
def test_a_null_score_is_seen_in_every_slice(row, n_threads):
    """A null score is noticed in every slice of rows."""
    n_rows = 5 * ROWS_PER_THREAD
    frame = pd.DataFrame({"user": 1, "score": np.arange(n_rows, dtype=float), "relevant": 1})
    frame.iloc[row, 1] = np.nan

    with pytest.raises(recframe.RecframeError, match=r"but 1 .*null"):
        frame.rec.recall(k=1)


def test_an_interruption_begins_no_more_tasks(n_threads):
    """An interruption of the calling thread starts no more tasks."""
    done = []

    def work(number: int) -> None:
        if number == 0:
            interrupt_main()
        sleep(0.05)
        done.append(number)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell may ignore it.
    try:
        with pytest.raises(KeyboardInterrupt):
            in_threads(work, [(number,) for number in range(99)])
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(done) <= 2 * n_threads


@pytest.mark.parametrize(("text", "expected"), QUOTAS.items())
def test_the_quota_of_a_container(text, expected, tmp_path):
    """The quota of a container comes from its control group, version 2."""
    (tmp_path / "cpu.max").write_text(text)

    assert expected == find_quota(tmp_path / "cpu.max")
    assert find_quota(tmp_path / "none") is None


@pytest.mark.parametrize(("quota", "expected"), [(None, 4), (0.5, 1), (1.5, 2), (2.0, 2), (9.0, 4)])
def test_as_many_as_there_are(quota, expected, monkeypatch):
    """A process has a thread for each of its processors, or its quota rounded up."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(4), raising=False)
    monkeypatch.setattr(threads, "find_quota", lambda: quota)

    assert expected == n_processors()


@pytest.mark.parametrize(("n_counted", "expected"), [(5, 5), (None, 1)])
def test_as_many_as_the_system_counts(n_counted, expected, monkeypatch):
    """The number of threads is the system's count, or 1 if it is unknown."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: n_counted)
    monkeypatch.setattr(threads, "find_quota", lambda: None)

    assert expected == n_processors()


@pytest.mark.parametrize(("given", "expected"), [("1", 1), (" 64 ", 64), ("007", 7)])
def test_as_many_as_asked_for(given, expected, monkeypatch):
    """The environment variable sets the number of threads, also above the processors."""
    monkeypatch.setenv(VARIABLE, given)

    assert expected == n_processors()


@pytest.mark.parametrize("given", ["0", "-1", "two", "1.5", "\uff19", "1" * 99])
def test_what_is_no_number_of_threads(given, monkeypatch):
    """An invalid number of threads is refused."""
    monkeypatch.setenv(VARIABLE, given)
    with pytest.raises(recframe.RecframeError, match=f"variable {VARIABLE} must be a whole number"):
        n_processors()


def test_results_do_not_depend_on_threads(monkeypatch):
    """A million rows in one thread and in seven give the same bits."""
    rng = np.random.default_rng(1)
    rows = {"user": rng.integers(0, 9_000, 10**6), "score": rng.random(10**6)}
    frame = pd.DataFrame(rows | {"relevant": rng.random(10**6) < 0.1})
    tables = []
    for n_threads in ("1", "7"):
        monkeypatch.setenv(VARIABLE, n_threads)
        tables.append(frame.rec(short="pad").evaluate(["ndcg@9", "auc"]))

    pd.testing.assert_frame_equal(*tables, check_exact=True)


def test_bytes_that_are_worked_on():
    """Later results start while they fit, and the largest runs alone."""
    sizes, held, seen, two = [3, 3, 3, 20, 1, 1], [], [], Barrier(2, timeout=20)

    def begin(number):
        if number < 2:
            two.wait()
        held.append(sizes[number])
        seen.append(sum(held))
        return number

    held.extend(-sizes[number] for number in run_ahead(begin, range(6), 6, sizes.__getitem__, 7))

    assert [20] == [n_held for n_held in seen if n_held > 7]


def test_many_run_ahead():
    """Tasks that run ahead give results in order, and a failing task stops the others."""
    both = Barrier(2)

    def meet(number):
        # A single thread would never pass this barrier.
        both.wait(timeout=10)
        return number

    assert list(range(50)) == list(run_ahead(meet, range(50), 2))
    begun = []

    def fail(number):
        begun.append(number)
        raise OSError(f"{number} fails")

    with pytest.raises(OSError, match="0 fails"):
        list(run_ahead(fail, range(50), 2))
    assert 50 > len(begun)


def test_processors_are_shared(monkeypatch):
    """Threads that run ahead divide the processors among them."""
    monkeypatch.setenv(VARIABLE, "8")

    assert [8, 8] == list(run_ahead(lambda _: n_processors(), range(2), 1))
    assert [2] * 9 == list(run_ahead(lambda _: n_processors(), range(9), 4))
    assert [1] * 9 == list(run_ahead(lambda _: n_processors(), range(9), 16))
    assert 8 == n_processors()
