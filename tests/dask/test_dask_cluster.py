"""recframe.dask gives the tables of pandas on a cluster of two worker processes."""

import os
import signal
import time
import warnings

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import recframe
import recframe.dask
from dask_frames import METRICS, assert_all_same, assert_same, interactions, parts
from note_cases import RELEVANT


@pytest.fixture(scope="module")
def cluster():
    """Yield a client of a cluster of two worker processes."""
    # Port 0 means any free port: another cluster may use the usual one.
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    # Workers are forks of one process that has imported all modules.
    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}),
        LocalCluster(**options, processes=True) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("ids", ["category", "nullable"])
def test_every_table_on_a_cluster(ids, cluster):
    """Workers find the functions of all methods, and tables and indexes are the same."""
    frame = interactions(ids)
    with dask.config.set({"dataframe.convert-string": False}):
        assert_all_same(frame, parts(frame))


def test_truth_on_a_cluster(cluster):
    """Workers match truth with the rows of their partitions."""
    frame = interactions().drop(columns="relevant").assign(item=range(400))
    truth = pd.DataFrame({"user": [*frame["user"][:9], 60], "item": range(10)})

    assert_all_same(frame, parts(frame), truth=truth, population="all")


def test_warnings_on_a_cluster(cluster):
    """The warning of the worker that makes the table reaches the user's process."""
    table = dd.from_pandas(RELEVANT, npartitions=2, sort=False).rec.mean("precision@1")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table.compute()
        last = time.monotonic() + 30
        while not caught and time.monotonic() < last:  # It may come after the table.
            time.sleep(0.01)

    assert [True] == [str(one.message).startswith("every ranked row") for one in caught]


def test_a_broken_promise_on_a_cluster(cluster):
    """The refusal of a worker arrives unchanged."""
    with pytest.raises(
        recframe.RecframeError, match=r"partitioned=True: .* 49 of 49 users are in several"
    ):
        parts(interactions()).rec(partitioned=True, short="pad").evaluate(METRICS).compute()


def test_a_worker_that_dies(cluster, tmp_path):
    """The work of a killed worker is done again, and the table is the same."""
    frame, mark = interactions(), tmp_path / "died"

    def die_once(part):
        if len(part) and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    dying = parts(frame).map_partitions(die_once, meta=frame.iloc[:0])

    assert_same(frame.rec(short="pad").evaluate(METRICS), dying.rec(short="pad").evaluate(METRICS))
    assert mark.exists()
