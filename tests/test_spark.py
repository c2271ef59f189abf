"""recframe.spark: what pandas gives, bit for bit, lazily, on Spark itself; skipped without it."""

import datetime
import doctest
import os
import re
import shutil
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recframe
import strategies

pytest.importorskip("pyspark", reason="pyspark is not installed")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)

from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that all give it

import recframe.spark
from recframe.frames.overlap import Items
from recframe.metrics.definitions import DEFINITIONS
from recframe.spark import accessor, beside

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Spark's own
]
# Every metric there is, with a cut-off where it takes one and the parameters that it needs.
PARAMETERS = {"rbp": "(p=0.8)", "err": "(max=3)"}
METRICS = [
    f"{name}{PARAMETERS.get(name, '')}{'' if one.cut_off == 'none' else '@2'}"
    for name, one in DEFINITIONS.items()
    if name not in ("err", "mean")  # which need grades, and a column
]
METRICS += ["ndcg", "mean(other.score)@3"]
START = datetime.date(2026, 1, 1)
IDS = {  # a type of Spark, and what makes an id of a number
    "bigint": int,
    "int": int,
    "string": "user {}".format,
    "date": lambda number: START + datetime.timedelta(days=int(number)),
    "decimal(20,2)": lambda number: Decimal(int(number)) / 4,
    "timestamp_ntz": lambda number: pd.Timestamp(START) + pd.Timedelta(hours=int(number)),
}


@pytest.fixture(scope="module")
def spark():
    """A session whose shuffles have four partitions, and keep them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "PYSPARK_PYTHON", sys.executable)
        root = str(Path(__file__).parents[1])
        patch.setenv("PYTHONPATH", root, prepend=os.pathsep)
        options = {
            "spark.sql.shuffle.partitions": 4,
            "spark.default.parallelism": 2,
            "spark.python.daemon.module": "tests.spark_daemon",
            # What makes long jobs quick makes short ones slow.
            "spark.sql.codegen.wholeStage": False,
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.sql.adaptive.enabled": False,
            "spark.ui.enabled": False,
            "spark.ui.showConsoleProgress": False,
            "spark.sql.session.timeZone": "Asia/Tokyo",
        }
        builder = SparkSession.builder.master("local[2]")
        for name, value in options.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


def make(ids="bigint"):
    """Return rows of users of whom one has half, and truth of some of them and of others."""
    rng = np.random.default_rng(4)

    def draw(n_rows, first, last, labels):
        user = np.where(rng.random(n_rows) < 0.5, first, rng.integers(first, last, n_rows))
        pairs = zip(map(IDS[ids], user), rng.integers(0, 60, n_rows), strict=True)
        return pd.DataFrame(pairs, columns=labels).drop_duplicates(ignore_index=True)

    frame = draw(200, 0, 30, ["User.Id", "doc"])
    frame["doc"] = frame["doc"].map("d{}".format)
    frame["knn_score"] = rng.integers(0, 5, len(frame))
    frame["other.score"] = rng.random(len(frame)).round(1)
    frame["relevant"] = rng.random(len(frame)) < 0.3
    truth = draw(100, 10, 40, ["who", "what"])
    truth["what"] = truth["what"].map("d{}".format)
    truth["grade"] = rng.integers(0, 4, len(truth))
    return frame, truth


ROLES = {"user": "User.Id", "item": "doc", "score": ["knn_score", "other.score"], "short": "pad"}
OF_TRUTH = {**ROLES, "truth_user": "who", "truth_item": "what", "relevant": "grade"}
OF_TRUTH["min_relevance"] = 2


OF_GRADES = [*METRICS, "err(max=3)", "err(max=3)@2"]


def on_spark(spark, frame, ids="bigint"):
    """Return a Spark DataFrame of the frame, the ids of its first column of a type."""
    sdf = spark.createDataFrame(pa.Table.from_pandas(frame, preserve_index=False))
    label = frame.columns[0]
    return sdf.withColumn(label, F.col(f"`{label}`").cast(ids)).repartition(3)


def as_per_user(tidy, label="User.Id"):
    """Return the table that a result in tidy form holds, users sorted."""
    tables = {score: rows.set_index(label) for score, rows in tidy.toPandas().groupby("score")}
    tables = {score: table.drop(columns="score") for score, table in tables.items()}
    return pd.concat(tables, axis=1, names=["score", "metric"]).sort_index()


def assert_same(expected, tidy):
    """Assert that a result holds the per-user table of pandas, bit for bit."""
    actual = as_per_user(tidy, list(expected.index.names))[expected.columns]
    assert expected.index.tolist() == actual.index.tolist()
    np.testing.assert_array_equal(expected.to_numpy(), actual.to_numpy())


def refusal(make_table, find=lambda table: table.toPandas()):
    """Return the last line of what Spark says of a result that is refused."""
    table = make_table()
    with pytest.raises(PythonException) as caught:
        find(table)
    *_, last = str(caught.value).strip().splitlines()
    assert len(str(caught.value).splitlines()) < 12  # a traceback of few lines
    return last


@pytest.mark.parametrize(
    ("ids", "ties"),
    [*zip(IDS, ["expected", "best", "item", "worst", "item", "expected"], strict=True)],
)
def test_values_equal_those_of_pandas(spark, ids, ties):
    """In every metric, of users of every type, who keep it; some partitions have no row."""
    frame, _ = make(ids)
    asked = {**ROLES, "ties": ties}
    result = recframe.spark.rec(on_spark(spark, frame, ids))(**asked).evaluate(METRICS)

    assert [("User.Id", ids), ("score", "string")] == result.dtypes[:2]
    assert {"double"} == {kind for _, kind in result.dtypes[2:]}
    assert_same(frame.rec(**asked).evaluate(METRICS), result)


def test_what_is_undefined_is_null(spark):
    """Spark's own means leave null out, and would be NaN for NaN."""
    frame, _ = make()
    result = recframe.spark.rec(on_spark(spark, frame), **ROLES).r_precision()
    (mean,) = result.where("score = 'knn_score'").agg(F.avg("r_precision")).first()

    assert frame.rec(**ROLES).r_precision()["knn_score"].isna().any()
    assert mean == pytest.approx(frame.rec(**ROLES).r_precision()["knn_score"].mean(), rel=1e-12)


def test_tables_of_all_users(spark):
    """Means, curves, intervals and differences are those of pandas, in plain columns."""
    frame, _ = make()
    theirs = frame.rec(**ROLES)
    ours = recframe.spark.rec(on_spark(spark, frame), **ROLES)

    mean = ours.mean(METRICS).toPandas().set_index("score").rename_axis(columns="metric")
    pd.testing.assert_frame_equal(
        theirs.mean(METRICS), mean, rtol=1e-12, check_index_type=False, check_column_type=False
    )
    curve = ours.curve("precision", k=[1, 3]).toPandas()
    assert ["score", "k", "precision@k"] == list(curve)
    expected = theirs.curve("precision", k=[1, 3]).to_numpy().ravel()
    np.testing.assert_allclose(expected, curve["precision@k"], rtol=1e-12)
    summary = ours.summary("recall@2", n_resamples=99).toPandas()
    expected = theirs.summary("recall@2", n_resamples=99).reset_index()
    pd.testing.assert_frame_equal(expected, summary, check_exact=True, check_dtype=False)
    compared = ours.compare("recall@2", n_resamples=99).toPandas()
    expected = theirs.compare("recall@2", n_resamples=99).reset_index()
    assert ["knn_score"] == compared["baseline"].tolist()
    assert {"n_undefined_score", "n_undefined_baseline"} < set(compared)
    for label in expected:
        assert expected[label].tolist() == compared[label].tolist()


def test_curve_ends_at_the_shortest_ranking(spark):
    """Which may be in any partition."""
    frame, _ = make()
    asked = {**ROLES, "short": "raise"}
    curve = recframe.spark.rec(on_spark(spark, frame), **asked).curve()

    assert frame.rec(**asked).curve().index.tolist() == sorted(set(curve.toPandas()["k"]))


def test_rows_keep_what_they_have(spark):
    """Ranked rows have all columns, of types of Spark that pandas has not, and their ranks."""
    frame, _ = make()
    sdf = on_spark(spark, frame).withColumn("tags", F.array(F.struct("doc")))
    asked = {**ROLES, "score": "knn_score"}
    ours, theirs = recframe.spark.rec(sdf, **asked), frame.rec(**asked)
    ranked, top = ours.rank(), ours.top(2)

    for result, expected in ((ranked, theirs.rank()["knn_score"]), (top, theirs.top(2)["rank"])):
        assert [*sdf.dtypes, ("rank", "double")] == result.dtypes
        rows = result.where("tags[0].doc = doc").toPandas().set_index(["User.Id", "doc"])["rank"]
        own = frame.loc[expected.index].set_index(["User.Id", "doc"]).index
        expected = expected.set_axis(own).sort_index()
        pd.testing.assert_series_equal(
            expected, rows.sort_index(), check_names=False, check_index_type=False
        )
    both = recframe.spark.rec(sdf, **ROLES).rank()
    assert ["ranked_by", "rank"] == both.columns[-2:]
    assert 2 * len(frame) == both.count()


@pytest.mark.parametrize("missing", ["unranked", "drop"])
def test_nulls(spark, missing):
    """Null and NaN are both missing; integers beside nulls are not rounded."""
    frame, _ = make()
    frame["User.Id"] += 2**60
    frame = frame.astype({"User.Id": "Int64", "knn_score": "Int64", "relevant": "boolean"})
    frame.loc[[3, 70], "knn_score"] = pd.NA
    frame.loc[[5, 90], "other.score"] = np.nan
    if missing == "drop":
        frame.loc[8, "User.Id"], frame.loc[9, "relevant"] = pd.NA, pd.NA
    asked = {**ROLES, "missing": missing}
    sdf = on_spark(spark, frame)
    sdf = sdf.withColumn(
        "other.score", F.when(F.col("knn_score") == 4, F.col("`other.score`")).otherwise(np.nan)
    )
    frame["other.score"] = frame["other.score"].where(frame["knn_score"] == 4)

    metrics = METRICS[:-1]  # the column has nulls in rows that the other score ranks
    assert_same(
        frame.rec(**asked).evaluate(metrics), recframe.spark.rec(sdf, **asked).evaluate(metrics)
    )


def test_nulls_are_refused(spark):
    """By default, in one message."""
    frame, _ = make()
    sdf = on_spark(spark, frame)
    sdf = sdf.withColumn("knn_score", F.nullif(F.col("knn_score"), F.lit(3)))

    said = refusal(recframe.spark.rec(sdf, **ROLES).evaluate)
    assert said.startswith("recframe.errors.RecframeError: in a partition of ")
    assert " rows: score='knn_score': must not be null, found " in said


TRUTHS = {
    "pandas": lambda truth, spark, tmp_path: truth,
    "file": lambda truth, spark, tmp_path: (
        truth.to_parquet(path := tmp_path / f"{truth.columns[0]}.parquet") or path
    ),
    "Spark": lambda truth, spark, tmp_path: on_spark(spark, truth),
    "Spark, narrower": lambda truth, spark, tmp_path: on_spark(spark, truth, "int"),
    "Spark, decimals": lambda truth, spark, tmp_path: on_spark(spark, truth, "decimal(9,1)"),
}


@pytest.mark.parametrize(
    ("kind", "options", "excludes"),
    [
        ("pandas", {"absent": "drop", "unjudged": "drop"}, True),
        ("file", {"gain": "exponential", "missing": "drop"}, True),
        ("Spark", {"ties": "item", "unjudged": "drop"}, True),
        ("Spark", {"ties": "item", "unjudged": "drop"}, False),
        ("Spark", {"ties": "best"}, False),
        ("Spark, narrower", {"ties": "worst", "absent": "drop"}, True),
        ("Spark, decimals", {}, False),
    ],
)
def test_truth_counts_once_and_what_is_excluded_never(spark, kind, options, excludes, tmp_path):
    """Users with rows and truth, with one of them only: the table is that of pandas."""
    frame, truth = make()
    asked = {**OF_TRUTH, **options, "truth": truth}
    given = {"truth": TRUTHS[kind](truth, spark, tmp_path)}
    if excludes:
        asked["exclude"] = make_excluded(frame)
        given["exclude"] = TRUTHS[kind](asked["exclude"], spark, tmp_path)
    result = recframe.spark.rec(on_spark(spark, frame))(**asked | given).evaluate(OF_GRADES)

    assert ("User.Id", "bigint") == result.dtypes[0]
    assert_same(frame.rec(**asked).evaluate(OF_GRADES), result)


def make_excluded(frame):
    """Return pairs of a frame, all of one user, and a pair of a user who is not in it."""
    pairs = frame.loc[(frame.index % 3 == 0) | (frame["User.Id"] == 5), ["User.Id", "doc"]]
    return pd.concat([pairs, pd.DataFrame({"User.Id": [99], "doc": ["d1"]})], ignore_index=True)


def test_what_is_excluded_leaves_every_table(spark):
    """Of rows, lists, figures and users, as in pandas, without truth too."""
    frame, _ = make()
    asked = {**ROLES, "exclude": make_excluded(frame)}
    given = {**asked, "exclude": on_spark(spark, asked["exclude"])}
    ours, theirs = recframe.spark.rec(on_spark(spark, frame))(**given), frame.rec(**asked)
    keys = ["User.Id", "doc"]
    left = frame.merge(asked["exclude"], how="left", indicator=True).query("_merge == 'left_only'")
    expected = left.rec(**ROLES).rank()["knn_score"].set_axis(pd.MultiIndex.from_frame(left[keys]))
    ranked = ours.rank().where("ranked_by = 'knn_score'").toPandas().set_index(keys)["rank"]

    assert expected.sort_index().to_dict() == ranked.sort_index().to_dict()
    assert str(theirs.describe(2)) == str(ours.describe(2))
    assert_catalogue(theirs.catalogue(2), ours.catalogue(2))
    pd.testing.assert_frame_equal(theirs.inspect(12).metrics, ours.inspect(12).metrics)
    with pytest.raises(recframe.RecframeError, match=r"user=5: none of .* left by exclude"):
        ours.inspect(5)


def assert_catalogue(expected, table):
    """Assert that a result has the figures of a catalogue, bit for bit."""
    actual = table.toPandas().set_index("score")
    assert list(expected) == list(actual)
    assert expected.to_numpy().tolist() == actual.loc[expected.index].to_numpy().tolist()


def test_catalogue(spark):
    """Its figures are those of pandas, under ties, with given items and of truth."""
    frame, truth = make()
    sdf = on_spark(spark, frame)
    items = [f"d{number}" for number in range(99)]
    assert_catalogue(
        frame.rec(**ROLES).catalogue(3, items), recframe.spark.rec(sdf, **ROLES).catalogue(3, items)
    )
    asked = {**OF_TRUTH, "unjudged": "drop", "ties": "best"}
    given = recframe.spark.rec(sdf, truth=on_spark(spark, truth), **asked)
    assert_catalogue(frame.rec(truth=truth, **asked).catalogue(3), given.catalogue(3))
    few = recframe.spark.rec(sdf, **ROLES).catalogue
    assert "items must have every item" in refusal(lambda: few(3, items[:2]))


def test_means_of_columns_need_no_relevance(spark):
    """Nor do the tables of all users that are made of them."""
    frame, _ = make()
    frame, metric = frame.drop(columns="relevant"), "mean(other.score)@2"
    ours = recframe.spark.rec(on_spark(spark, frame), **ROLES)
    theirs = frame.rec(**ROLES)

    assert_same(theirs.evaluate(metric), ours.evaluate(metric))
    (mean,) = ours.mean(metric).where("score = 'knn_score'").toPandas()[metric]
    assert mean == pytest.approx(theirs.mean(metric).loc["knn_score", metric], rel=1e-12)


def test_truth_of_wider_integers_keeps_them(spark):
    """Users of truth whom the type of the frame cannot hold have rows of their own."""
    frame, truth = make("int")
    truth["who"] = truth["who"].where(truth["who"] < 30, truth["who"] + 2**40)
    sdf = on_spark(spark, frame, "int")
    result = recframe.spark.rec(sdf, truth=on_spark(spark, truth), **OF_TRUTH).recall(k=2)

    assert ("User.Id", "bigint") == result.dtypes[0]
    assert_same(frame.rec(truth=truth, **OF_TRUTH).evaluate("recall@2"), result)


def test_truth_of_all_sorts(spark):
    """Categories, unsigned and nullable integers of pandas are what they stand for."""
    frame, truth = make()
    odd = truth.astype({"who": "uint32", "what": "category", "grade": "Int8"})
    result = recframe.spark.rec(on_spark(spark, frame), truth=odd, **OF_TRUTH).recall(k=2)

    assert_same(frame.rec(truth=truth, **OF_TRUTH).evaluate("recall@2"), result)


def test_one_ranking(spark):
    """With user=None, with truth and without."""
    frame, truth = make()
    frame, truth = (rows.drop_duplicates(rows.columns[1]) for rows in (frame, truth))
    alone = {**ROLES, "user": None}
    judged = {**OF_TRUTH, "user": None, "truth_user": "infer", "truth": truth}
    sdf = on_spark(spark, frame)
    for asked in (alone, judged):
        table = frame.rec(**asked).evaluate(METRICS).rename_axis(index="user")
        assert_same(table, recframe.spark.rec(sdf, **asked).evaluate(METRICS))


def test_items_that_no_partition_shares_with_its_truth(spark):
    """Items are in common with truth wherever they are: hits are none, and nothing is refused."""
    frame = pd.DataFrame({"user": range(8), "item": range(8), "score": 1.0})
    truth = frame[["user"]].assign(item=lambda rows: 7 - rows["user"])
    sdf = on_spark(spark, frame)
    result = recframe.spark.rec(sdf, truth=truth).recall(k=1)

    assert_same(frame.rec(truth=truth).evaluate("recall@1"), result)


DISJOINT = {
    "no user is in both the frame and": lambda pairs, user, item: pairs.assign(
        **{user: pairs[user] + 1000}
    ),
    "no item is in both the frame and": lambda pairs, user, item: pairs.assign(
        **{item: "D" + pairs[item]}
    ),
    "there are no rows": lambda pairs, user, item: pairs[pairs[user] < 0],
}


@pytest.mark.parametrize("message", DISJOINT)
def test_others_of_other_ids_are_refused(spark, message):
    """By all partitions together, even where the first rows are shown only."""
    frame, truth = make()
    sdf, excluded = on_spark(spark, frame), make_excluded(frame)
    given = on_spark(spark, DISJOINT[message](truth, "who", "what"))
    rec = recframe.spark.rec(sdf, truth=given, **OF_TRUTH)

    assert message in refusal(rec.evaluate, lambda table: table.take(1))
    excluded = on_spark(spark, DISJOINT[message](excluded, "User.Id", "doc"))
    rec = recframe.spark.rec(sdf, exclude=excluded, **ROLES)
    assert message in refusal(rec.mean if "item" in message else rec.top)


def test_truth_is_checked(spark):
    """Pairs that repeat, and columns that look like grades, are refused as in pandas."""
    frame, truth = make()
    sdf = on_spark(spark, frame)
    asked = {**OF_TRUTH, "relevant": "infer", "min_relevance": None}
    truth = truth.rename(columns={"grade": "n"})
    with pytest.raises(recframe.RecframeError, match="truth: relevant: no column found"):
        recframe.spark.rec(sdf, truth=truth, **asked).evaluate()
    given = on_spark(spark, pd.concat([truth, truth]))
    assert "truth: 'who' and 'what' must not be the same" in refusal(
        recframe.spark.rec(sdf, truth=given, **{**OF_TRUTH, "relevant": "n"}).evaluate
    )
    given = on_spark(spark, truth)
    with pytest.raises(recframe.RecframeError, match=r"truth: relevant: .* 'n' may be it; pass"):
        recframe.spark.rec(sdf, truth=given, **asked).evaluate()


SEVERAL = {**ROLES, "user": ["day", "User.Id"]}
OF_DAYS = {**OF_TRUTH, "user": ["day", "User.Id"], "truth_user": ["when", "who"]}


def make_days():
    """Return rows and truth of users with a ranking on each of three days, and excluded pairs."""
    frame, truth = make()
    days = [START + datetime.timedelta(days=day) for day in range(4)]
    frame.insert(1, "day", [days[number % 3] for number in frame.index])
    truth.insert(1, "when", [days[number % 4] for number in truth.index])
    labels = {"User.Id": "who", "day": "when", "doc": "what"}
    hits = frame.loc[frame["relevant"], [*labels]].rename(columns=labels).assign(grade=2)
    truth = pd.concat([hits, truth]).drop_duplicates([*labels.values()], ignore_index=True)
    return frame, truth, frame.loc[frame.index % 4 == 0, ["day", "User.Id", "doc"]]


@pytest.mark.parametrize("kind", ["none", "pandas", "Spark, narrower"])
def test_users_of_several_columns(spark, kind, tmp_path):
    """Each combination is a ranking, in every table, with truth and excluded pairs of as many."""
    frame, truth, excluded = make_days()
    asked = SEVERAL if kind == "none" else {**OF_DAYS, "truth": truth, "exclude": excluded}
    given = {} if kind == "none" else {"truth": TRUTHS[kind](truth, spark, tmp_path)}
    if given:
        given["exclude"] = excluded if kind == "pandas" else on_spark(spark, excluded, "date")
    theirs = frame.rec(**asked)
    ours = recframe.spark.rec(on_spark(spark, frame))(**asked | given)
    result = ours.evaluate(METRICS)

    assert [("day", "date"), ("User.Id", "bigint"), ("score", "string")] == result.dtypes[:3]
    assert_same(theirs.evaluate(METRICS), result)
    compared = ours.compare("recall@2", n_resamples=99).toPandas()
    expected = theirs.compare("recall@2", n_resamples=99).reset_index()
    compared = compared[list(expected)]  # it has those of undefined values too
    pd.testing.assert_frame_equal(
        expected, compared, check_exact=True, check_dtype=False, check_names=False
    )
    mean = ours.mean("recall@2").toPandas().set_index("score")
    np.testing.assert_allclose(theirs.mean("recall@2"), mean, rtol=1e-12)
    assert str(theirs.describe(2)) == str(ours.describe(2))
    keys = truth.rename(columns={"who": "User.Id", "when": "day"})[["User.Id", "day"]]
    user = tuple(frame.merge(keys).loc[0, ["day", "User.Id"]])
    pd.testing.assert_frame_equal(theirs.inspect(user).metrics, ours.inspect(user).metrics)
    assert_catalogue(theirs.catalogue(2), ours.catalogue(2))


def test_ranks_of_users_of_several_columns(spark):
    """Of rows of each combination; the first of them too."""
    frame, _, _ = make_days()
    asked = {**SEVERAL, "score": "knn_score"}
    ours, theirs = recframe.spark.rec(on_spark(spark, frame), **asked), frame.rec(**asked)
    keys = ["day", "User.Id", "doc"]

    for result, expected in (
        (ours.rank(), theirs.rank()["knn_score"]),
        (ours.top(1), theirs.top(1)["rank"]),
    ):
        rows = result.toPandas().set_index(keys)["rank"]
        of_rows = frame.loc[expected.index].set_index(keys).index
        assert expected.set_axis(of_rows).to_dict() == rows.to_dict()


def test_promises_about_users_of_several_columns(spark):
    """Rows of one user on several days may be in several partitions, those of a day in one."""
    frame, _, _ = make_days()
    frame["day"] = frame["day"].where(frame.index != 7, None)
    asked = {**SEVERAL, "missing": "drop"}
    sdf = on_spark(spark, frame)
    held = recframe.spark.rec(sdf.repartition(3, "day", "`User.Id`"), partitioned=True, **asked)
    theirs = frame.rec(**asked)

    assert_same(theirs.evaluate("recall@2"), held.evaluate("recall@2"))
    assert 2 * len(frame) == held.rank().count()
    assert str(theirs.describe(2)) == str(held.describe(2))
    assert_catalogue(theirs.catalogue(2), held.catalogue(2))
    broken = recframe.spark.rec(sdf, partitioned=True, **asked)
    found = r"partitioned=True: user \(datetime.date\(.*, \d+\) has rows in [23] partitions; leave"
    with pytest.raises(PythonException, match=found):
        broken.rank().toPandas()
    with pytest.raises(recframe.RecframeError, match=r"partitioned=True: \d+ users in all"):
        broken.describe()


def test_users_of_several_columns_in_none_of_truth(spark):
    """All partitions together refuse them, and say in which column no id is common."""
    frame, truth, excluded = make_days()
    later = truth.assign(when=truth["when"] + datetime.timedelta(days=30))
    rec = recframe.spark.rec(on_spark(spark, frame), truth=on_spark(spark, later), **OF_DAYS)
    assert "user='day': no 'day' is in both the frame and truth" in refusal(rec.evaluate)
    few = excluded.assign(doc="D")
    rec = recframe.spark.rec(
        on_spark(spark, frame), exclude=on_spark(spark, few, "date"), **SEVERAL
    )
    assert "no item is in both the frame and" in refusal(rec.mean)


def test_no_column_is_blamed_by_examples_alone():
    """Of parts with more users than they name, others may have the ids of a column in common."""
    users, others = (
        pd.MultiIndex.from_product([[day], range(beside.N_USERS)], names=["day", "user"])
        for day in (1, 2)
    )
    items, no_ids = Items(True), pd.Index([])
    for n_named, blamed in (
        (beside.N_USERS - 1, "user='day': no 'day' is"),
        (None, "user: no user"),
    ):
        part = beside.Common("truth", False, users[:n_named], others[:n_named], items, no_ids)
        with pytest.raises(recframe.RecframeError, match=blamed):
            beside.check_common([part])


def test_no_row_of_users_of_several_columns(spark):
    """Gives tables of no user, and figures as in pandas; of truth, a refusal."""
    frame, truth, _ = make_days()
    rec = recframe.spark.rec(on_spark(spark, frame).where("doc is null"))

    assert 0 == rec(**SEVERAL).evaluate().count()
    assert rec(**SEVERAL).mean("recall@2").toPandas()["recall@2"].isna().all()
    assert str(frame[:0].rec(**SEVERAL).describe()) == str(rec(**SEVERAL).describe())
    for one in (frame[:0].rec, rec):
        with pytest.raises(recframe.RecframeError, match="the frame has no rows"):
            one(**OF_DAYS, truth=truth).describe()


def test_a_promise_that_holds(spark):
    """With each user in one partition the rows stay there and the table is the same."""
    frame, _ = make()
    sdf = on_spark(spark, frame).repartition(3, "`User.Id`")
    rec = recframe.spark.rec(sdf, partitioned=True, **ROLES)
    result = rec.evaluate(METRICS)

    assert_same(frame.rec(**ROLES).evaluate(METRICS), result)
    assert len(frame.rec(**ROLES).top(2)) == rec.top(2).count()
    assert frame.rec(**ROLES).describe(2).to_dict() == rec.describe(2).to_dict()


def test_cut_offs_and_whole_rankings_of_one_user_at_a_time(spark):
    """A partition of one user gives to the last bit what pandas gives of each metric alone."""
    frame, labels = strategies.sparse_frame(), strategies.at_cut_offs([1, 2, 5])
    options = {"short": "pad", "min_relevance": 1}
    n_users = frame["user"].nunique()
    sdf = on_spark(spark, frame).repartitionByRange(n_users, "user")
    expected = pd.concat([frame.rec(**options).evaluate(label) for label in labels], axis=1)

    assert n_users == sdf.select(F.spark_partition_id()).distinct().count()
    assert_same(expected, recframe.spark.rec(sdf, partitioned=True, **options).evaluate(labels))


def test_a_broken_promise_is_refused(spark):
    """Wherever a user has rows in two partitions."""
    frame, _ = make()
    rec = recframe.spark.rec(on_spark(spark, frame), partitioned=True, **ROLES)

    found = "partitioned=True: user .* has rows in [23] partitions; leave partitioned=True out"
    for make_table in (rec.evaluate, rec.top):
        with pytest.raises(PythonException, match=found):
            make_table().toPandas()
    with pytest.raises(recframe.RecframeError, match=r"partitioned=True: \d+ users in all"):
        rec.describe()


@pytest.mark.parametrize("kind", [None, "pandas", "Spark"])
def test_describe_and_inspect(spark, kind):
    """They are computed at once, to what pandas has."""
    frame, truth = make()
    asked = ROLES if kind is None else OF_TRUTH
    given = {} if kind is None else {"truth": TRUTHS[kind](truth, spark, None)}
    ours = recframe.spark.rec(on_spark(spark, frame), **given, **asked)
    theirs = frame.rec(**asked, **({} if kind is None else {"truth": truth}))

    assert str(theirs.describe(2)) == str(ours.describe(2))
    user = 12
    pd.testing.assert_frame_equal(theirs.inspect(user).metrics, ours.inspect(user).metrics)
    assert len(theirs.inspect(3).tables["knn_score"]) == len(ours.inspect(3).tables["knn_score"])
    with pytest.raises(recframe.RecframeError, match="user=999: no row has that id; ids of"):
        ours.inspect(999)


def test_a_frame_without_rows(spark):
    """Has no user, and means that are undefined."""
    frame, _ = make()
    rec = recframe.spark.rec(on_spark(spark, frame).where("doc is null"), **ROLES)

    assert 0 == rec.evaluate().count()
    means = rec.mean("recall@2").toPandas()
    assert (["knn_score", "other.score"], True) == (
        means["score"].tolist(),
        means["recall@2"].isna().all(),
    )
    assert [0, 0] == rec.describe().loc["rows"].tolist()


def test_partitions_that_spark_joins(spark):
    """As it does by default: the tables, and what is refused, are the same."""
    frame, truth = make()
    spark.conf.set("spark.sql.adaptive.enabled", True)
    try:
        sdf, given = on_spark(spark, frame), on_spark(spark, truth)
        rec = recframe.spark.rec(sdf, truth=given, **OF_TRUTH)
        assert_same(frame.rec(truth=truth, **OF_TRUTH).evaluate(METRICS), rec.evaluate(METRICS))
        # Where two stages fail at once Spark's error is of pages, and not Python's.
        refused = recframe.spark.rec(sdf, truth=given, **{**OF_TRUTH, "short": "raise"})
        for find in (lambda table: table.toPandas(), lambda table: table.count()):
            assert "k=50 is more than the ranked rows" in refusal(lambda: refused.recall(50), find)
        promised = recframe.spark.rec(sdf, partitioned=True, **ROLES)
        assert "partitioned=True: user" in refusal(promised.evaluate)
    finally:
        spark.conf.set("spark.sql.adaptive.enabled", False)


def test_nothing_runs_before_it_is_computed(spark):
    """Making a table reads no row."""
    frame, truth = make()

    def fail(batches):
        raise AssertionError("this ran")
        yield

    sdf, given = (on_spark(spark, rows) for rows in (frame, truth))
    plain = (one.toDF(*(f"c{at}" for at in range(len(one.columns)))) for one in (sdf, given))
    failing = [one.mapInArrow(fail, one.schema) for one in plain]
    sdf, given = failing[0].toDF(*sdf.columns), failing[1].toDF(*given.columns)
    for asked in (ROLES, {**OF_TRUTH, "truth": given}):
        rec = recframe.spark.rec(sdf, **asked)
        tables = [rec.evaluate(), rec.recall(), rec.mean(), rec.summary(), rec.compare()]
        tables += [rec.curve(), rec.rank(), rec.top(), rec.catalogue()]
        assert "knn_score" in repr(rec)
    assert all(isinstance(table, type(sdf)) for table in tables)


def test_what_is_refused_at_once(spark):
    """Arguments, options that read the order of rows, and columns of several values in a cell."""
    frame, truth = make()
    sdf = on_spark(spark, frame)
    rec = recframe.spark.rec
    lists = sdf.withColumn("doc", F.array("doc"))
    stream = spark.readStream.format("rate").load()
    refusals = {
        "frame must be a Spark DataFrame, .* pass spark.createDataFrame": lambda: rec(frame),
        "partitioned must be True or False": lambda: rec(sdf, partitioned=1),
        "ties='first' reads the order of rows, which Spark": lambda: rec(sdf, ties="first"),
        "user='qid': no such column": lambda: rec(
            sdf, **{**ROLES, "user": ["User.Id", "qid"]}
        ).recall(),
        r"user must be a tuple of an id of each of \['knn_score', 'User.Id'\], found 5": lambda: (
            rec(sdf, **{**ROLES, "user": ["knn_score", "User.Id"], "score": "other.score"}).inspect(
                5
            )
        ),
        "truth: user: ids of different kinds .* 'doc' of the frame is string": lambda: rec(
            sdf,
            user=["User.Id", "doc"],
            item="knn_score",
            score="other.score",
            truth=on_spark(spark, truth),
            truth_user=["who", "grade"],
            truth_item="what",
        ).evaluate(),
        "duplicates='first' reads the order": lambda: rec(sdf)(duplicates="first"),
        "unknown option 'tie'": lambda: rec(sdf, tie="best"),
        "recframe.spark.rec.sdf.": lambda: rec(sdf.select("doc", "relevant")).top(),
        "no such column": lambda: rec(sdf, user="usr").recall(),
        "k must be": lambda: rec(sdf, **ROLES).top(0),
        "compare needs two score columns": lambda: rec(
            sdf, **{**ROLES, "score": "knn_score"}
        ).compare(),
        "'doc' must have one value in a cell, found Spark's array<string>; make a row": lambda: rec(
            lists, **ROLES
        ).evaluate(),
        "score='knn_score': .* found Spark's decimal.*double": lambda: rec(
            sdf.withColumn("knn_score", F.col("knn_score").cast("decimal(9,2)")), **ROLES
        ).recall(),
        "truth_user='nobody': no such column": lambda: rec(
            sdf, **{**OF_TRUTH, "truth": truth, "truth_user": "nobody"}
        ).evaluate(),
        "'Rank' has the name of one of the result": lambda: rec(
            sdf.withColumn("Rank", F.lit(1)), **ROLES
        ).rank(),
        "'Score' has the name of one of the result": lambda: rec(
            sdf.withColumnRenamed("User.Id", "Score"), **{**ROLES, "user": "Score"}
        ).evaluate(),
        "found a stream; pass each batch": lambda: rec(stream),
        "truth must have all its rows, found a stream": lambda: rec(
            sdf, **ROLES, truth=stream, truth_user="value", truth_item="timestamp"
        ).evaluate(),
        "truth: user: ids of different kinds .* is bigint, 'who' of truth string": lambda: rec(
            sdf, **{**OF_TRUTH, "truth": on_spark(spark, truth, "string")}
        ).evaluate(),
        "exclude: item: ids of different kinds are never equal; 'doc' of the frame": lambda: rec(
            sdf, **ROLES, exclude=on_spark(spark, frame).withColumn("doc", F.lit(1))
        ).evaluate(),
        "exclude: user: no column found": lambda: rec(
            sdf, **ROLES, exclude=sdf.select("doc")
        ).top(),
        "exclude: there are no rows, so that nothing": lambda: rec(
            sdf, **ROLES, exclude=frame[:0]
        ).top(),
        "unjudged='drop' leaves out the rows": lambda: rec(sdf, unjudged="drop"),
        "mean column='n': .* found Spark's decimal": lambda: rec(
            sdf.withColumn("n", F.lit(Decimal(1))), **ROLES
        ).evaluate("mean(n)@2"),
        "by and weights: Spark takes none yet; join": lambda: rec(sdf, **ROLES).mean(
            by="User.Id", weights="knn_score"
        ),
        "there is one ranking": lambda: rec(sdf, **{**ROLES, "user": None}).inspect(1),
    }
    for message, ask in refusals.items():
        with pytest.raises(recframe.RecframeError) as caught:
            pytest.fail(f"not refused: {message}, but {ask()}")
        assert re.search(message, str(caught.value))
        assert "\n" not in str(caught.value)


def test_repeated_pairs_are_refused_with_columns_that_may_tell_them_apart(spark):
    """Those of the frame, which need not be read."""
    frame, _ = make()
    sdf = on_spark(spark, pd.concat([frame.assign(day=1), frame.assign(day=2)]))
    said = refusal(recframe.spark.rec(sdf, **ROLES).evaluate)

    assert "'User.Id' and 'doc' must not be the same in two rows" in said
    assert "if one of the columns 'day' tells them apart" in said.replace("relevant', ", "")


@pytest.mark.parametrize(
    "name", ["rec", *(f"SparkRecAccessor{end}" for end in ("", ".__call__", ".rank"))]
)
def test_docstrings_are_valid_numpydoc(name):
    """Every check of numpydoc holds, but that rank needs no example of its own."""
    numpydoc = pytest.importorskip("numpydoc.validate", reason="numpydoc is not installed")
    errors = numpydoc.validate(f"recframe.spark.{name}")["errors"]

    assert [] == [said for code, said in errors if code != "EX01"]


def test_examples(spark):
    """The examples of docstrings print what they show."""
    flags = doctest.NORMALIZE_WHITESPACE
    results = [doctest.testmod(module, optionflags=flags) for module in (recframe.spark, accessor)]

    assert [(0, True)] * 2 == [(result.failed, result.attempted > 4) for result in results]
