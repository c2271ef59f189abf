"""`ddf.rec` of recframe.dask equals df.rec bit for bit, lazily, on threads and on a cluster."""

import os
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import recframe
import recframe.dask
import strategies
from dask_frames import (
    IN_NO_ORDER,
    LAZY,
    METRICS,
    OTHERS,
    USERS,
    assert_all_same,
    assert_same,
    interactions,
    parts,
)
from recframe.dask import in_cell
from recframe.files.companion_files import CompanionFiles

ONE_OF_EACH_WAY = ["describe", "compare", "evaluate", "top", "curve"]  # ways from users to a table


@pytest.fixture
def threads():
    """Use Dask's threads, and ids of text as in pandas.

    Tasks that a refused computation leaves running end with the test: they could undo the filters
    of warnings that the next test sets.
    """
    options = {"scheduler": "threads", "dataframe.convert-string": False}
    with ThreadPoolExecutor(2) as pool, dask.config.set(options, pool=pool):
        yield


@pytest.mark.parametrize("ids", USERS)
def test_means(ids, threads):
    """Means are lazy too, and leave NaN out as in pandas."""
    frame = interactions(ids)
    frame["relevant"] &= frame["knn_score"] > 2
    lazy = parts(frame).rec(short="nan").mean(METRICS)

    assert isinstance(lazy, dd.DataFrame)
    expected = frame.rec(short="nan").mean(METRICS)
    pd.testing.assert_frame_equal(expected, lazy.compute(), check_exact=False, rtol=1e-12)


def test_nothing_runs_before_it_is_computed(threads):
    """Making a table reads no data, and wrong data raise when it is computed."""
    ddf = parts(interactions().assign(relevant=7))
    lazy = ddf.rec(short="pad").evaluate(METRICS)
    with pytest.raises(recframe.RecframeError, match="must be boolean or 0/1"):
        lazy.compute()


@pytest.mark.parametrize("truth", [None, "missing.parquet"])
@pytest.mark.parametrize("make", LAZY.values(), ids=LAZY)
def test_no_table_reads_data(make, truth):
    """Making a table runs no task and opens no file of truth."""
    frame = interactions().assign(item=1)
    ddf = dd.from_map(pytest.fail, ["this ran"], meta=frame.iloc[:0])

    assert isinstance(make(ddf.rec(short="pad", truth=truth)), dd.DataFrame)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda rec: rec.top(0, "knn_score"), "k must be"),
        (lambda rec: rec.describe(k=0), "k must be"),
        (lambda rec: rec.inspect(1, k=0), "k must be"),
        (lambda rec: rec.inspect([1]), "user must be one id"),
        (lambda rec: rec(user=None).inspect(1), "there is one ranking"),
        (lambda rec: rec.curve("r_precision"), "a curve takes"),
        (lambda rec: rec.curve(k=[1, 1]), "each cut-off once"),
        (lambda rec: rec.summary("recal@1"), "recal@1"),
        (lambda rec: rec.summary(confidence=2), "confidence must be"),
        (lambda rec: rec.compare(n_resamples=0), "n_resamples must be"),
        (lambda rec: rec.compare(test="u"), "test must be"),
        (lambda rec: rec.compare(correction="u"), "correction must be"),
        (lambda rec: rec.compare(baseline="u"), "baseline must be"),
        (lambda rec: rec(score="knn_score").compare(), "compare needs two score columns"),
    ],
)
def test_arguments_are_checked_at_once(ask, message):
    """Wrong arguments raise before anything is computed."""
    ddf = dd.from_map(pytest.fail, ["this ran"], meta=interactions().iloc[:0])
    with pytest.raises(recframe.RecframeError, match=message):
        ask(ddf.rec)


def test_missing_columns_are_found_at_once():
    """A missing role is refused before anything is computed."""
    with pytest.raises(recframe.MissingColumnError, match="user='usr': no such column"):
        parts(interactions()).rec(user="usr").recall(k=1)


@pytest.mark.parametrize("make", (IN_NO_ORDER | OTHERS).values(), ids=IN_NO_ORDER | OTHERS)
def test_null_users_are_refused(make, threads):
    """The shuffle keeps rows without an id, which are refused as in pandas."""
    frame = interactions("nullable")
    frame.loc[7, "user"] = pd.NA
    with pytest.raises(recframe.RecframeError, match=r"ids must not be null, but 1 .*null"):
        make(parts(frame).rec(short="pad")).compute()


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")  # Pandas warns.
def test_null_users_are_dropped(threads):
    """Rows without an id can be left out, from every table."""
    frame = interactions("nullable")
    frame.loc[7, "user"] = pd.NA

    assert_all_same(frame, parts(frame), missing="drop")


def test_a_promise_that_holds(threads):
    """If each user is in one partition, rows stay there and the table is the same."""
    frame = interactions().sort_values("user", ignore_index=True)
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


def test_every_metric_has_a_method(threads):
    """The method of a metric returns the table of pandas, lazily."""
    frame = interactions()
    calls = {name: None if "none" == cut else 2 for name, cut in strategies.METRICS.items()}
    expected, lazy = (
        {name: strategies.call_method(data.rec(short="pad"), name, k) for name, k in calls.items()}
        for data in (frame, parts(frame))
    )
    (found,) = dask.compute(lazy)
    for name, table in expected.items():
        assert isinstance(lazy[name], dd.DataFrame)
        pd.testing.assert_frame_equal(table, found[name].sort_index(), check_exact=True, obj=name)


def test_a_metric_that_is_undefined(threads):
    """The table of one metric equals pandas' table if some users have no value."""
    frame = interactions()
    frame["relevant"] &= frame["user"] > 9
    expected = frame.rec(short="pad").recall(k=2)

    assert expected.isna().any(axis=None)
    assert_same(expected, parts(frame).rec(short="pad").recall(k=2))


@pytest.mark.parametrize(
    ("ids", "make"), [("category", LAZY["evaluate"]), *(("int", make) for make in LAZY.values())]
)
def test_a_promise_that_does_not_hold(ids, make, threads):
    """Users in several partitions are refused in every table."""
    lazy = make(parts(interactions(ids)).rec(partitioned=True, short="pad"))
    with pytest.raises(
        recframe.RecframeError, match=r"partitioned=True: .* 49 of .* users are in several"
    ):
        lazy.compute()


@pytest.mark.parametrize("ids", USERS)
def test_every_table_is_that_of_pandas(ids, threads):
    """Every method gives the table of pandas, bit for bit except for sums of sums."""
    frame = interactions(ids)

    assert_all_same(frame, parts(frame))


@pytest.mark.parametrize("ids", ["int", "str"])
def test_tables_of_a_promise_that_holds(ids, threads):
    """Every method accepts partitions of whole users without a shuffle."""
    frame = interactions(ids)
    number = frame["user"].rank(method="dense") % 3
    ddf = dd.from_map(lambda n: frame[number == n], range(4), meta=frame.iloc[:0])

    assert_all_same(frame, ddf, partitioned=True)


@pytest.mark.parametrize("ids", ["category", "nullable"])
def test_an_index_of_users(ids, threads):
    """An index with a role has it in every method, and stays the index of rows."""
    # Dask takes int64 and Int64 indexes with equal values to be one.
    frame = interactions(ids).set_index("user").iloc[len(ids) :]

    assert_all_same(frame, parts(frame))


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_every_table_with_ties(ties, threads):
    """Tie rules that read relevance give the tables of pandas in every method."""
    frame = interactions()

    assert_all_same(frame, parts(frame), ties=ties, zero_division=0.0)


def test_sums_over_many_users(threads):
    """Means and their errors over thousands of users are summed as in pandas."""
    rng = np.random.default_rng(5)
    users = {
        "user": rng.integers(0, 9000, 40_000).astype(str),
        "relevant": rng.random(40_000) < 0.3,
    }
    frame = pd.DataFrame(users | {name: rng.random(40_000) for name in ("a_score", "b_score")})
    ddf = dd.from_pandas(frame, npartitions=7, sort=False)
    metrics = ["ndcg@7", "precision@3", "average_precision"]
    for method in ("summary", "compare"):
        expected, lazy = (
            getattr(data.rec(short="shrink"), method)(metrics, n_resamples=9)
            for data in (frame, ddf)
        )
        pd.testing.assert_frame_equal(expected, lazy.compute(), check_exact=True)
    pd.testing.assert_frame_equal(
        frame.rec(short="shrink").describe(7),
        ddf.rec(short="shrink").describe(7).compute(),
        check_exact=True,
    )


def test_top_has_users_together(threads):
    """The first rows of a user are next to each other and in ranked order."""
    top = parts(interactions()).rec.top(3, "other_score").compute()
    users = top["user"]

    assert 49 == (users != users.shift()).sum()
    assert top.groupby("user")["rank"].is_monotonic_increasing.all()


@pytest.mark.parametrize("ids", USERS)
def test_inspect(ids, threads):
    """The rankings of one user equal pandas' rankings, and are displayed alike."""
    frame = interactions(ids).assign(item=range(400))
    user = frame["user"].iloc[9]
    expected, actual = (data.rec.inspect(user, k=2) for data in (frame, parts(frame)))

    assert repr(expected) == repr(actual)
    pd.testing.assert_frame_equal(expected.metrics, actual.metrics, check_exact=True)
    for score, table in expected.tables.items():
        pd.testing.assert_frame_equal(table, actual.tables[score], check_exact=True)


def test_inspect_reads_the_rows_of_one_user(threads):
    """Wrong rows of other users do not matter."""
    frame = interactions()
    user = frame["user"].iloc[0]
    frame["relevant"] = frame["relevant"].astype(int)
    wrong = frame.assign(relevant=frame["relevant"].where(frame["user"] == user, 7))

    assert repr(frame.rec.inspect(user, 3)) == repr(parts(wrong).rec.inspect(user, 3))


def test_inspect_refuses_an_unknown_user(threads):
    """The refusal names some ids of the frame."""
    ddf = parts(interactions())
    ddf = dd.concat([ddf[ddf["knn_score"] > 99], ddf])
    with pytest.raises(recframe.RecframeError, match=r"user=99: no row .* are such as \d+, \d+"):
        ddf.rec.inspect(99, 3)


@pytest.mark.parametrize("user", ["int", "nobody"])
def test_inspect_with_truth(user, threads):
    """Items of truth are shown with and without rows, and rows of other users are not read."""
    frame = interactions().drop(columns="relevant").assign(item=pd.array(range(400), "Int64"))
    others = pd.DataFrame({"user": [60, 61], "item": [1, 500]})
    truth = pd.concat([frame.loc[::7, ["user", "item"]], others])
    asked = 60 if user == "nobody" else frame["user"].iloc[7]
    wrong = frame.assign(item=frame["item"].where(frame["user"] == asked))
    expected, actual = (
        data.rec(truth=truth, short="pad").inspect(asked, k=2) for data in (frame, parts(wrong))
    )

    assert repr(expected) == repr(actual)


def test_a_report(threads):
    """Scores are in the order of columns, and users with equal changes in the order of ids."""
    frame = interactions().iloc[:, [0, 2, 1, 3]].assign(item=range(400))
    pages = [data.rec.report("precision@2").html for data in (frame, parts(frame))]
    expected, actual = (re.sub("<dt>data</dt>.*", "", page) for page in pages)

    assert expected == actual


@pytest.mark.parametrize("partitioned", [False, True])
def test_a_curve_ends_where_the_shortest_ranking_does(partitioned, threads):
    """The cut-offs of a lazy curve end with the shortest ranking of all partitions."""
    frame = interactions().sort_values("user", ignore_index=True)
    ddf = dd.from_map(
        lambda part: frame[frame["user"] // 13 == part], range(4), meta=frame.iloc[:0]
    )
    curve = ddf.rec(partitioned=partitioned).curve("ndcg").compute()
    expected = frame.rec.curve("ndcg")

    assert frame.groupby("user").size().min() == len(expected) < 50
    assert ("k", "ndcg@k") == (curve.index.name, curve.columns.name)
    pd.testing.assert_frame_equal(expected, curve, check_exact=False, rtol=1e-12)


def test_a_curve_with_truth(threads):
    """Users of truth without rows have empty lists, which do not end the curve."""
    frame = interactions().drop(columns="relevant").assign(item=range(400))
    others = pd.DataFrame({"user": [60, 61], "item": [1, 2]})
    truth = pd.concat([frame.loc[::7, ["user", "item"]], others])
    curves = [data.rec(population="all", truth=truth).curve() for data in (frame, parts(frame))]

    pd.testing.assert_frame_equal(curves[0], curves[1].compute(), rtol=1e-12)
    assert frame.groupby("user").size().min() == len(curves[0])


def test_what_is_undefined_has_a_column_where_there_is_any(threads):
    """The data decides which columns of undefined values exist, as in pandas."""
    frame = interactions()
    frame["relevant"] &= frame["user"] > 9
    for method, label in (("summary", "n_undefined"), ("compare", "n_undefined_both")):
        for metric in ("precision@1", "recall@1"):
            lazy = getattr(parts(frame).rec, method)(metric, n_resamples=9)
            assert (metric == "recall@1") == (label in lazy.compute().columns)


def test_a_description_has_its_words_when_computed(threads):
    """The computed table shows the same warnings as pandas' table."""
    frame = interactions()

    lazy = parts(frame).rec.describe(k=4)
    described = frame.rec.describe(k=4)
    assert described.refusal is not None
    described.refusal = None  # Dask does not look for it.
    assert repr(described) == repr(lazy.compute())
    assert lazy.compute().warnings


def test_describe_counts_what_is_refused(threads):
    """Null users, scores and relevance, duplicates and short rankings add up over partitions."""
    frame = interactions("nullable").assign(item=np.arange(400) % 7)
    frame["relevant"] = frame["relevant"].astype("boolean")
    frame.loc[[7, 150, 399], "user"] = pd.NA
    frame.loc[[8, 200], "relevant"] = pd.NA
    frame["other_score"] = frame["other_score"].mask(frame.index % 50 == 3)
    for options in ({}, {"missing": "drop"}, {"short": "shrink", "min_score": 0.5}):
        expected = frame.rec(**options).describe(k=4)

        assert 3 == expected.loc["null users", "knn_score"]
        assert 0 < expected.loc["duplicate pairs", "knn_score"]
        lazy = parts(frame).rec(**options).describe(k=4)
        pd.testing.assert_frame_equal(expected, lazy.compute(), check_exact=True)


def test_describe_without_relevance(threads):
    """If relevance is unclear in one partition, all values that need it are null."""
    frame = interactions().assign(relevant=lambda rows: rows["relevant"].astype(int))
    frame.loc[5, "relevant"] = 4
    expected = frame.rec.describe(k=2)

    assert expected.loc["precision@2, best"].isna().all()
    lazy = parts(frame).rec.describe(k=2)
    pd.testing.assert_frame_equal(expected, lazy.compute(), check_exact=True)


@pytest.mark.parametrize("population", ["all", "rows"])
@pytest.mark.parametrize("is_listed_twice", [False, True])
def test_describe_with_truth(population, is_listed_twice, threads):
    """Users of truth without rows count once, and duplicates leave relevance undefined."""
    frame = interactions().drop(columns="relevant").assign(item=range(400))
    if is_listed_twice:
        frame = pd.concat([frame, frame.iloc[:1]], ignore_index=True)
    others = pd.DataFrame({"user": [60, 61], "item": [1, 2]})
    truth = pd.concat([frame.loc[7:300:7, ["user", "item"]], others])
    expected = frame.rec(truth=truth, population=population).describe(k=2)

    assert (49 if is_listed_twice or population == "rows" else 51) == expected.loc["users"].iloc[0]
    lazy = parts(frame).rec(truth=truth, population=population).describe(k=2)
    pd.testing.assert_frame_equal(expected, lazy.compute(), check_exact=True)


@pytest.mark.parametrize("ties", ["expected", "best"])
def test_every_table_with_truth(ties, threads):
    """Truth is looked up in every partition, even if one has no users of truth."""
    frame = interactions().drop(columns="relevant").assign(item=range(400))
    others = pd.DataFrame({"user": [60, 61], "item": [1, 2]})
    truth = pd.concat([frame.loc[[9, 17, 21], ["user", "item"]], others])

    assert_all_same(frame, parts(frame), truth=truth, ties=ties, population="all")


@pytest.mark.parametrize("table", ONE_OF_EACH_WAY)
def test_truth_is_read_once(table, threads, tmp_path, monkeypatch):
    """One task opens a file of truth for all partitions."""
    frame = interactions().drop(columns="relevant").assign(item=range(400))
    frame.loc[::7, ["user", "item"]].to_parquet(tmp_path / "truth.parquet")
    ours = parts(frame).rec(
        population="all", truth=tmp_path / "truth.parquet", ties="best", short="pad"
    )
    read, paths = CompanionFiles.read_frame, []
    monkeypatch.setattr(CompanionFiles, "read_frame", lambda one: paths.append(one) or read(one))
    LAZY[table](ours).compute()

    assert [str(tmp_path / "truth.parquet")] == list(map(os.fspath, paths))


@pytest.mark.parametrize("table", ONE_OF_EACH_WAY)
def test_truth_of_others(table, threads):
    """Truth without a common user in any partition is refused as for pandas."""
    frame = interactions().assign(item=range(400))
    truth = pd.DataFrame({"user": [60, 61], "item": [1, 2]})
    ours = parts(frame).rec(population="all", truth=truth, ties="best", short="pad")
    with pytest.raises(recframe.RecframeError, match="no user is in both the frame and truth"):
        LAZY[table](ours).compute()


@pytest.mark.filterwarnings("ignore:.*inplace keyword")  # Dask's own, on pandas 3.1
def test_known_divisions_prove_nothing(tmp_path, threads):
    """Known divisions do not save the shuffle, because users may span them."""
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

    assert_all_same(frame, parts(frame), user=None)
    assert_same(frame.rec(user=None).recall(k=9), parts(frame).rec(user=None).recall(k=9))
    assert repr(frame.rec(user=None).inspect(k=3)) == repr(parts(frame).rec(user=None).inspect(k=3))


def test_one_ranking_with_truth(threads):
    """With user=None and truth, the single ranking comes once."""
    frame = interactions().drop(columns="relevant").assign(item=range(400))
    truth = pd.DataFrame({"item": [4, 44, 444]})

    assert_all_same(frame, parts(frame), user=None, truth=truth)


@pytest.mark.parametrize("ties", ["first", "last"])
def test_the_order_of_rows_is_lost(ties):
    """A tie rule that reads row order is refused, with the reason."""
    with pytest.raises(
        recframe.RecframeError, match=f"ties='{ties}' reads the order of rows, which Dask does not"
    ):
        parts(interactions()).rec(ties=ties)


def test_options_are_those_of_pandas():
    """Options are checked as in `recframe.evaluate`."""
    rec = parts(interactions()).rec
    with pytest.raises(recframe.RecframeError, match="short must be one of"):
        rec(short="cut")
    with pytest.raises(recframe.RecframeError, match=r"unknown option 'k'\. Pass a cut-off"):
        rec(k=4)


def test_functions_travel_by_name():
    """Tasks are small and need only recframe on workers."""
    lazy = parts(interactions()).rec(short="pad").evaluate(METRICS)

    assert len(pickle.dumps(in_cell)) < 100
    assert METRICS == list(lazy.columns.unique("metric"))


def test_without_rows_at_all(threads):
    """Partitions that are all empty give the table of an empty frame."""
    ddf = parts(interactions())
    none = ddf[ddf["knn_score"] > 99].rec(short="pad").evaluate(METRICS).compute()

    assert (0, 2 * len(METRICS)) == none.shape
    assert_all_same(interactions().iloc[:0], ddf[ddf["knn_score"] > 99])


@pytest.mark.parametrize(
    ("ids", "population"),
    [("int", "all"), ("str", "rows"), ("category", "all"), ("nullable", "rows")],
)
def test_truth(ids, population, threads):
    """Relevance from truth is found in every partition, and users without rows come once."""
    frame = interactions(ids).drop(columns="relevant").assign(item=range(400))
    truth = frame.loc[::7, ["user", "item"]].assign(item=lambda rows: rows["item"] % 300)
    others = pd.DataFrame({"user": USERS[ids](pd.Series([60, 61])), "item": [1, 2]})
    truth = pd.concat([truth, others.astype({"user": "str"} if ids == "category" else {})])
    options = {"truth": truth, "population": population, "short": "pad"}
    if ids == "category":
        frame["user"] = frame["user"].cat.add_categories(others["user"].cat.categories)
        truth["user"] = truth["user"].astype("str")
    lazy = parts(frame).rec(**options)

    assert_same(frame.rec(**options).evaluate(METRICS), lazy.evaluate(METRICS))
    pd.testing.assert_frame_equal(
        frame.rec(**options).mean(METRICS), lazy.mean(METRICS).compute(), rtol=1e-12
    )
