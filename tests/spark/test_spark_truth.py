"""recframe.spark with truth, excluded pairs and several columns of users equals pandas."""

import datetime
import re

import numpy as np
import pandas as pd
import pytest
from pyspark.errors import PythonException
from pyspark.sql import functions as F  # noqa: N812 - the name that all give it

import recframe
import recframe.spark
import test_truth_days
from spark.frames import (
    METRICS,
    OF_GRADES,
    OF_TRUTH,
    ROLES,
    START,
    TRUTHS,
    assert_catalogue,
    assert_same,
    make,
    make_excluded,
    on_spark,
    refusal,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # warnings of Spark
]


@pytest.mark.parametrize(
    ("kind", "options", "excludes"),
    [
        ("pandas", {"population": "rows", "unjudged": "drop"}, True),
        ("file", {"gain": "exponential", "missing": "drop"}, True),
        ("Spark", {"ties": "item", "unjudged": "drop", "population": "truth"}, True),
        ("Spark", {"ties": "item", "unjudged": "drop"}, False),
        ("Spark", {"ties": "best", "population": "both"}, False),
        ("Spark, narrower", {"ties": "worst", "population": "rows"}, True),
        ("Spark, decimals", {}, False),
    ],
)
def test_truth_counts_once_and_what_is_excluded_never(spark, kind, options, excludes, tmp_path):
    """The table equals pandas' table for users with rows, truth or both, and excluded pairs."""
    frame, truth = make()
    asked = {**OF_TRUTH, **options, "truth": truth}
    companions = {"truth": TRUTHS[kind](truth, spark, tmp_path)}
    if excludes:
        asked["exclude"] = make_excluded(frame)
        companions["exclude"] = TRUTHS[kind](asked["exclude"], spark, tmp_path)
    result = recframe.spark.rec(on_spark(spark, frame))(**asked | companions).evaluate(OF_GRADES)

    assert ("User.Id", "bigint") == result.dtypes[0]
    assert_same(frame.rec(**asked).evaluate(OF_GRADES), result)


def test_what_is_excluded_leaves_every_table(spark):
    """Excluded pairs leave every table, as in pandas, also without truth."""
    frame, _ = make()
    asked = {**ROLES, "exclude": make_excluded(frame)}
    spark_options = {**asked, "exclude": on_spark(spark, asked["exclude"])}
    ours, theirs = recframe.spark.rec(on_spark(spark, frame))(**spark_options), frame.rec(**asked)
    keys = ["User.Id", "doc"]
    left = frame.merge(asked["exclude"], how="left", indicator=True).query("_merge == 'left_only'")
    expected = left.rec(**ROLES).rank()["knn_score"].set_axis(pd.MultiIndex.from_frame(left[keys]))
    ranked = ours.rank().where("ranked_by = 'knn_score'").toPandas().set_index(keys)["rank"]

    assert expected.sort_index().to_dict() == ranked.sort_index().to_dict()
    assert str(theirs.describe(2)) == str(ours.describe(2))
    assert_catalogue(theirs.catalogue(2), ours.catalogue(2))
    pd.testing.assert_frame_equal(theirs.inspect(12, 3).metrics, ours.inspect(12, 3).metrics)
    with pytest.raises(recframe.RecframeError, match=r"user=5: none of .* left by exclude"):
        ours.inspect(5)


def test_truth_of_wider_integers_keeps_them(spark):
    """Users of truth beyond the frame's type of integers are kept."""
    frame, truth = make("int")
    truth["who"] = truth["who"].where(truth["who"] < 30, truth["who"] + 2**40)
    sdf = on_spark(spark, frame, "int")
    result = recframe.spark.rec(sdf, truth=on_spark(spark, truth), **OF_TRUTH).recall(k=2)

    assert ("User.Id", "bigint") == result.dtypes[0]
    assert_same(frame.rec(truth=truth, **OF_TRUTH).evaluate("recall@2"), result)
    excluded = on_spark(spark, make_excluded(frame))  # Its users have no rows.
    for options in (ROLES, {**OF_TRUTH, "truth": on_spark(spark, make("int")[1], "int")}):
        result = recframe.spark.rec(sdf, exclude=excluded, **options).recall(k=2)
        assert ("User.Id", "int") == result.dtypes[0]


def test_truth_of_all_sorts(spark):
    """Truth of pandas may have categories, unsigned and nullable integers, and NaN as null."""
    frame, truth = make()
    gaps = truth.astype({"what": object})
    gaps.loc[3, "what"] = np.nan
    odd = gaps.astype({"who": "uint32", "what": "category", "grade": "Int8"})
    asked = {**OF_TRUTH, "missing": "drop"}
    expected = frame.rec(truth=gaps, **asked).evaluate("recall@2")

    for companion in (odd, gaps):
        rec = recframe.spark.rec(on_spark(spark, frame), truth=companion, **asked)
        assert_same(expected, rec.recall(k=2))


def test_inspect_reads_no_row_of_others(spark):
    """A user of truth without rows is shown even if rows of others are wrong."""
    frame, truth = make()
    user = next(iter({*truth["who"]} - {*frame["User.Id"]}))
    wrong = on_spark(spark, frame).withColumn("doc", F.lit(None).cast("string"))
    expected, actual = (
        rec.inspect(user, 3)
        for rec in (
            frame.rec(truth=truth, **OF_TRUTH),
            recframe.spark.rec(wrong, truth=on_spark(spark, truth), **OF_TRUTH),
        )
    )

    pd.testing.assert_frame_equal(expected.metrics, actual.metrics)


def test_one_ranking(spark):
    """user=None ranks all rows together, with truth and without."""
    frame, truth = make()
    frame, truth = (rows.drop_duplicates(rows.columns[1]) for rows in (frame, truth))
    alone = {**ROLES, "user": None}
    judged = {**OF_TRUTH, "user": None, "truth_user": "infer", "truth": truth}
    sdf = on_spark(spark, frame)
    for asked in (alone, judged):
        table = frame.rec(**asked).evaluate(METRICS).rename_axis(index="user")
        assert_same(table, recframe.spark.rec(sdf, **asked).evaluate(METRICS))
    short = recframe.spark.rec(sdf, **judged | {"short": "raise"})
    assert "fewer than k=99 ranked rows" in refusal(lambda: short.recall(99))


def test_items_that_no_partition_shares_with_its_truth(spark):
    """Items common to the frame and truth may be in different partitions."""
    frame = pd.DataFrame({"user": range(8), "item": range(8), "score": 1.0})
    truth = frame[["user"]].assign(item=lambda rows: 7 - rows["user"])
    truth = truth.assign(timestamp=1.5, item_id="x", born=START)  # They mark no pair.
    sdf = on_spark(spark, frame)
    result = recframe.spark.rec(sdf, truth=truth).recall(k=1)

    assert_same(frame.rec(truth=truth).evaluate("recall@1"), result)


DISJOINT = {
    "no user is in both the frame and": lambda pairs, user, item: pairs.assign(
        **{user: pairs[user] + 1000}
    ),
    "no item is in both the frame and": lambda pairs, user, item: pairs.assign(
        **{item: pairs[item].str.upper()}
    ),
    "there are no rows": lambda pairs, user, item: pairs[pairs[user] < 0],
}


@pytest.mark.parametrize("message", DISJOINT)
def test_others_of_other_ids_are_refused(spark, message):
    """Ids that no partition shares are refused, even if only the first rows are shown."""
    frame, truth = make()
    sdf, excluded = on_spark(spark, frame), make_excluded(frame)
    spark_truth = on_spark(spark, DISJOINT[message](truth, "who", "what"))
    rec = recframe.spark.rec(sdf, truth=spark_truth, **OF_TRUTH)

    assert message in refusal(rec.evaluate, lambda table: table.take(1))
    excluded = on_spark(spark, DISJOINT[message](excluded, "User.Id", "doc"))
    rec = recframe.spark.rec(sdf, exclude=excluded, **ROLES)
    if "rows" in message:  # They exclude nothing.
        assert_same(frame.rec(**ROLES).evaluate("recall@2"), rec.recall(k=2))
        return
    assert message in refusal(rec.mean if "item" in message else rec.top)


def test_days_of_truth(spark):
    """A day in both rows and truth is asked about, as in pandas."""
    rows, truth = test_truth_days.ROWS[:6], test_truth_days.TRUTH
    other_days = truth["day"].to_numpy()[::-1]  # Every item has several days, in any partition.
    options = {"truth": spark.createDataFrame(pd.concat([truth, truth.assign(day=other_days)]))}
    table = recframe.spark.rec(spark.createDataFrame(rows), **options).recall(k=1)
    with pytest.raises(
        PythonException, match="the rows have 'day' too, and it divides the pairs of"
    ):
        table.collect()

    options["truth_user"] = "user"
    table = recframe.spark.rec(spark.createDataFrame(rows), **options).recall(k=1)
    assert [0.5, 0.5] == [row["recall@1"] for row in table.collect()]


def test_users_that_differ_are_refused(spark):
    """A refusal counts the users of frame and truth over all partitions, as in pandas."""
    frame, truth = make()
    asked = {**OF_TRUTH, "population": "raise", "truth": truth}
    with pytest.raises(recframe.RecframeError) as refused:
        frame.rec(**asked).evaluate()
    counts = re.search("truth: .* in both, .* only in the frame", str(refused.value))[0]
    for companion in (truth, on_spark(spark, truth)):
        rec = recframe.spark.rec(on_spark(spark, frame), **asked | {"truth": companion})
        assert counts in refusal(rec.evaluate, lambda table: table.take(1))
        assert counts in refusal(rec.mean)


def test_truth_is_checked(spark):
    """Pairs that repeat, and columns that look like grades, are refused as in pandas."""
    frame, truth = make()
    sdf = on_spark(spark, frame)
    asked = {**OF_TRUTH, "relevant": "infer", "min_relevance": None}
    truth = truth.rename(columns={"grade": "n"})
    with pytest.raises(recframe.RecframeError, match="truth: relevant: no column found"):
        recframe.spark.rec(sdf, truth=truth, **asked).evaluate()
    spark_truth = on_spark(spark, pd.concat([truth, truth]))
    assert "truth: each combination of 'who' and 'what' must occur once" in refusal(
        recframe.spark.rec(sdf, truth=spark_truth, **{**OF_TRUTH, "relevant": "n"}).evaluate
    )
    spark_truth = on_spark(spark, truth)
    with pytest.raises(recframe.RecframeError, match=r"truth: relevant: .* 'n' may be it. Pass"):
        recframe.spark.rec(sdf, truth=spark_truth, **asked).evaluate()


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
    """Each combination of columns is a ranking in every table, with truth and excluded pairs."""
    frame, truth, excluded = make_days()
    asked = SEVERAL if kind == "none" else {**OF_DAYS, "truth": truth, "exclude": excluded}
    companions = {} if kind == "none" else {"truth": TRUTHS[kind](truth, spark, tmp_path)}
    if companions:
        companions["exclude"] = excluded if kind == "pandas" else on_spark(spark, excluded, "date")
    theirs = frame.rec(**asked)
    ours = recframe.spark.rec(on_spark(spark, frame))(**asked | companions)
    result = ours.evaluate(METRICS)

    assert [("day", "date"), ("User.Id", "bigint"), ("score", "string")] == result.dtypes[:3]
    assert_same(theirs.evaluate(METRICS), result)
    compared = ours.compare("recall@2", n_resamples=99, unit=None).toPandas()
    expected = theirs.compare("recall@2", n_resamples=99, unit=None).reset_index()
    compared = compared[list(expected)]  # It also has the columns of undefined values.
    pd.testing.assert_frame_equal(
        expected, compared, check_exact=True, check_dtype=False, check_names=False
    )
    mean = ours.mean("recall@2").toPandas().set_index("score")
    np.testing.assert_allclose(theirs.mean("recall@2"), mean, rtol=1e-12)
    assert str(theirs.describe(2)) == str(ours.describe(2))
    keys = truth.rename(columns={"who": "User.Id", "when": "day"})[["User.Id", "day"]]
    user = tuple(frame.merge(keys).loc[0, ["day", "User.Id"]])
    pd.testing.assert_frame_equal(theirs.inspect(user, 3).metrics, ours.inspect(user, 3).metrics)
    assert_catalogue(theirs.catalogue(2), ours.catalogue(2))


def test_ranks_of_users_of_several_columns(spark):
    """The methods rank and top rank each combination of columns as a user."""
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
    """Rows of one day and user must be in one partition; other days may be in others."""
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
    found = r"partitioned=True: .* in several \(such as \(datetime.date\(.*, \d+\)\). Leave"
    with pytest.raises(PythonException, match=found):
        broken.rank().toPandas()
    with pytest.raises(recframe.RecframeError, match=r"partitioned=True: .* \d+ of \d+ users"):
        broken.describe()


def test_users_of_several_columns_in_none_of_truth(spark):
    """If no user is common, the refusal names the column without a common id."""
    frame, truth, excluded = make_days()
    later = truth.assign(when=truth["when"] + datetime.timedelta(days=30))
    rec = recframe.spark.rec(on_spark(spark, frame), truth=on_spark(spark, later), **OF_DAYS)
    assert "user='day': no 'day' is in both the frame and truth" in refusal(rec.evaluate)
    few = excluded.assign(doc="D")
    rec = recframe.spark.rec(
        on_spark(spark, frame), exclude=on_spark(spark, few, "date"), **SEVERAL
    )
    assert "no item is in both the frame and" in refusal(rec.mean)


def test_no_row_of_users_of_several_columns(spark):
    """An empty frame gives tables without users, and is refused if truth has users."""
    frame, truth, _ = make_days()
    rec = recframe.spark.rec(on_spark(spark, frame).where("doc is null"))

    assert 0 == rec(**SEVERAL).evaluate().count()
    assert rec(**SEVERAL).mean("recall@2").toPandas()["recall@2"].isna().all()
    assert str(frame[:0].rec(**SEVERAL).describe()) == str(rec(**SEVERAL).describe())
    for one in (frame[:0].rec, rec):
        with pytest.raises(recframe.RecframeError, match="the frame has no rows"):
            one(**OF_DAYS, truth=truth).describe()
