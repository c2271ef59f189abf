"""ddf.rec: what pandas gives, bit for bit, lazily, on threads and on a cluster."""

import pickle
from itertools import pairwise

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import recframe
import recframe.dask
import strategies
from recframe.labels import make_metric

METRICS = [make_metric(*asked).label for asked in strategies.every_metric(2)]
USERS = {
    "int": lambda number: number,
    "str": lambda number: number.map("user {}".format).astype("str"),
    "category": lambda number: number.map("user {}".format).astype("category"),
    "nullable": lambda number: number.astype("Int64"),
}


def interactions(ids="int"):
    """Return 400 rows of 49 users in random order, with ties, in two score columns."""
    rng = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "user": USERS[ids](pd.Series(rng.integers(0, 50, 400))),
            "knn_score": rng.integers(0, 5, 400),
            "other_score": rng.random(400).round(1),
            "relevant": rng.random(400) < 0.3,
        }
    )


def parts(frame, n=4):
    """Return a Dask DataFrame of the frame with an empty partition amid the others."""
    ddf = dd.from_pandas(frame, npartitions=n, sort=False)
    return dd.concat([ddf, ddf[ddf["knn_score"] > 99], ddf[ddf["knn_score"] > 99]]).persist()


@pytest.fixture
def threads():
    """Dask's scheduler of threads, with ids of text as pandas has them."""
    with dask.config.set({"scheduler": "threads", "dataframe.convert-string": False}):
        yield


def assert_same(expected, lazy):
    """Assert that a lazy table, its users sorted, is the expected one to the last bit."""
    assert isinstance(lazy, dd.DataFrame)
    actual = lazy.compute()
    pd.testing.assert_frame_equal(expected, actual.sort_index(), check_exact=True)


@pytest.mark.parametrize(
    ("ids", "ties"), [*((ids, "expected") for ids in USERS), ("int", "best"), ("int", "worst")]
)
def test_tables_equal_those_of_pandas(ids, ties, threads):
    """Ids of every kind, partitions without rows, several scores: the table is pandas'."""
    frame = interactions(ids)
    options = {"ties": ties, "short": "pad", "zero_division": 0.0}
    ours = parts(frame).rec(**options)

    assert_same(frame.rec(**options).evaluate(METRICS), ours.evaluate(METRICS))
    assert_same(frame.rec(**options).precision(k=2), ours.precision(k=2))
    assert_same(frame.rec(**options).recall(k=2), ours.recall(k=2))
    assert_same(frame.rec(**options).r_precision(), ours.r_precision())


@pytest.mark.parametrize("ids", USERS)
def test_means(ids, threads):
    """Means are lazy too, and leave NaN out as pandas does."""
    frame = interactions(ids)
    frame["relevant"] &= frame["knn_score"] > 2
    lazy = parts(frame).rec(short="nan").mean(METRICS)

    assert isinstance(lazy, dd.DataFrame)
    expected = frame.rec(short="nan").mean(METRICS)
    pd.testing.assert_frame_equal(expected, lazy.compute(), check_exact=False, rtol=1e-12)


def test_nothing_runs_before_it_is_computed(threads):
    """Making a table reads no data; what is wrong in it is found when computed."""
    ddf = parts(interactions().assign(relevant=7))
    lazy = ddf.rec(short="pad").evaluate(METRICS)
    with pytest.raises(recframe.RecframeError, match="must be boolean or 0/1"):
        lazy.compute()


def test_missing_columns_are_found_at_once():
    """Roles are sought in the labels."""
    with pytest.raises(recframe.MissingColumnError, match="user='usr': no such column"):
        parts(interactions()).rec(user="usr").recall(k=1)


def test_null_users_are_refused(threads):
    """The shuffle keeps rows without an id; they are refused as in pandas."""
    frame = interactions("nullable")
    frame.loc[7, "user"] = pd.NA
    with pytest.raises(recframe.RecframeError, match="ids must not be null, found 1 null"):
        parts(frame).rec(short="pad").evaluate(METRICS).compute()

    expected = frame.rec(short="pad", missing="drop").evaluate(METRICS)
    assert_same(expected, parts(frame).rec(short="pad", missing="drop").evaluate(METRICS))


@pytest.mark.parametrize("ids", USERS)
def test_a_promise_that_holds(ids, threads):
    """With each user in one partition the rows stay there and the table is the same."""
    frame = interactions(ids).sort_values("user", ignore_index=True)
    starts = [
        0,
        *(1 + np.flatnonzero(frame["user"].iloc[:-1] != frame["user"].shift(-1).iloc[:-1])),
    ]
    cuts = [starts[0], starts[15], starts[16], starts[40], len(frame)]
    ddf = dd.from_map(
        lambda first, stop: frame.iloc[first:stop], cuts[:-1], cuts[1:], meta=frame.iloc[:0]
    )
    lazy = ddf.rec(partitioned=True, short="pad").evaluate(METRICS)

    assert_same(frame.rec(short="pad").evaluate(METRICS), lazy)
    for number, (first, stop) in enumerate(pairwise(cuts)):
        there = lazy.partitions[number].compute().index
        assert frame["user"][first:stop].unique().tolist() == there.tolist()


@pytest.mark.parametrize("name", strategies.METRICS)
def test_every_metric_has_a_method(name, threads):
    """The method of a metric returns what pandas' does, lazily."""
    frame = interactions()
    k = {} if strategies.METRICS[name] == "none" else {"k": 2}
    expected = getattr(frame.rec(short="pad"), name)(**k)

    assert_same(expected, getattr(parts(frame).rec(short="pad"), name)(**k))


@pytest.mark.parametrize("ids", ["int", "category"])
def test_a_promise_that_does_not_hold(ids, threads):
    """Users in several partitions are found, for tables and for means."""
    ours = parts(interactions(ids)).rec(partitioned=True, short="pad")
    for lazy in (ours.evaluate(METRICS), ours.recall(k=1), ours.mean(METRICS)):
        with pytest.raises(recframe.RecframeError, match=r"partitioned=True: 49 users in all, but"):
            lazy.compute()


@pytest.mark.filterwarnings("ignore:.*inplace keyword")  # Dask's own, on pandas 3.1
def test_known_divisions_prove_nothing(tmp_path, threads):
    """Divisions from the statistics of files that users straddle must not save the shuffle."""
    frame = interactions().sort_values("user").set_index("user")
    for number in range(4):
        frame[100 * number : 100 * number + 100].to_parquet(tmp_path / f"{number}.parquet")
    ddf = dd.read_parquet(tmp_path, index="user", calculate_divisions=True)

    assert ddf.known_divisions
    expected = frame.rec(short="pad").evaluate(METRICS)
    assert_same(expected, ddf.rec(short="pad").evaluate(METRICS))


def test_one_ranking(threads):
    """user=None makes one ranking of all partitions."""
    frame = interactions()

    assert_same(
        frame.rec(user=None).evaluate(METRICS), parts(frame).rec(user=None).evaluate(METRICS)
    )


@pytest.mark.parametrize("ties", ["first", "last"])
def test_the_order_of_rows_is_lost(ties):
    """A tie rule that reads row order is refused, with the reason."""
    with pytest.raises(
        recframe.RecframeError, match=f"ties='{ties}' reads the order of rows, which Dask does not"
    ):
        parts(interactions()).rec(ties=ties)


def test_options_are_those_of_pandas():
    """The options are checked as `recframe.evaluate` checks them."""
    rec = parts(interactions()).rec
    with pytest.raises(recframe.RecframeError, match="short must be one of"):
        rec(short="cut")
    with pytest.raises(TypeError, match="unexpected keyword argument 'k'"):
        rec(k=4)


def test_functions_travel_by_name():
    """What is sent to workers is small and needs no more than recframe there."""
    lazy = parts(interactions()).rec(short="pad").evaluate(METRICS)

    assert len(pickle.dumps(recframe.dask_parts.evaluate_part)) < 100
    assert METRICS == list(lazy.columns.unique("metric"))


def test_without_rows_at_all(threads):
    """Partitions without rows only are a frame without rows."""
    ddf = parts(interactions())
    none = ddf[ddf["knn_score"] > 99].rec(short="pad").evaluate(METRICS).compute()

    assert (0, 2 * len(METRICS)) == none.shape


@pytest.mark.parametrize("ids", USERS)
@pytest.mark.parametrize("absent", ["zero", "drop"])
def test_truth(ids, absent, threads):
    """Relevance from truth is looked up in every partition; users without a row come once."""
    frame = interactions(ids).drop(columns="relevant").assign(item=range(400))
    truth = frame.loc[::7, ["user", "item"]].assign(item=lambda rows: rows["item"] % 300)
    others = pd.DataFrame({"user": USERS[ids](pd.Series([60, 61])), "item": [1, 2]})
    truth = pd.concat([truth, others.astype({"user": "str"} if ids == "category" else {})])
    options = {"truth": truth, "absent": absent, "short": "pad"}
    if ids == "category":
        frame["user"] = frame["user"].cat.add_categories(others["user"].cat.categories)
        truth["user"] = truth["user"].astype("str")
    lazy = parts(frame).rec(**options)

    assert_same(frame.rec(**options).evaluate(METRICS), lazy.evaluate(METRICS))
    pd.testing.assert_frame_equal(
        frame.rec(**options).mean(METRICS), lazy.mean(METRICS).compute(), rtol=1e-12
    )
