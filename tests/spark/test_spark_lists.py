"""recframe.spark makes rows of columns of arrays, with the values of pandas' from_lists."""

import re

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import functions as F  # noqa: N812 - the name that all give it

import recframe
import recframe.spark
from spark.frames import refusal

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # warnings of Spark
]

USERS = range(12)
LISTS = [
    None if user == 7 else [(item, 5 - item / 4) for item in range(user % 4, 9, 2)][: user % 5]
    for user in USERS
]
ALS = "userId int, recommendations array<struct<movieId:int,rating:float>>"
TRUTH = pd.DataFrame({"userId": [*USERS, *USERS], "movieId": [user % 6 for user in USERS] * 2})
TRUTH.loc[len(USERS) :, "movieId"] += 3
METRICS = ["recall@2", "precision@3", "mrr", "ndcg"]
# The columns of lists that stand for the same rows, made of Spark's output.
SHAPES = {
    "structs": ["recommendations"],
    "items": ["recommendations.movieId as recommendations"],
    "items and scores": ["recommendations.movieId as movieIds", "recommendations.rating as scores"],
    "others": ["recommendations", "timestamp'2026-11-28' as at", "map('a', 1) as m", "'NL' as is"],
}


@pytest.fixture(scope="module")
def recs(spark):
    """Return lists as recommendForAllUsers writes them, some of them empty and one null."""
    return spark.createDataFrame(list(zip(USERS, LISTS, strict=True)), ALS).repartition(3)


def evaluate(**options):
    """Return the values of pandas, by user."""
    lists = {"userId": USERS, "recommendations": LISTS}
    return recframe.from_lists(pd.DataFrame(lists)).rec(short="pad", **options).evaluate(METRICS)


def assert_values(expected, result):
    """Assert that a result has the values of a per-user table of pandas, bit for bit."""
    table = result.toPandas().set_index("userId").sort_index()
    assert expected.index.tolist() == table.index.tolist()
    np.testing.assert_array_equal(expected.to_numpy(), table[METRICS].to_numpy(float))


@pytest.mark.parametrize("shape", SHAPES)
def test_arrays_become_rows(spark, recs, shape):
    """Lists have the values of pandas at the first call, with a value for empty lists."""
    truth = spark.createDataFrame(TRUTH)
    rec = recframe.spark.rec(recs.selectExpr("userId", *SHAPES[shape]), truth=truth, short="pad")

    assert_values(evaluate(truth=TRUTH), rec.evaluate(METRICS))


@pytest.mark.parametrize("form", ["pandas", "Spark"])
@pytest.mark.parametrize("role", ["truth", "exclude"])
def test_truth_and_exclude_take_arrays(spark, recs, role, form):
    """Truth and exclude with lists equal the same pairs with a row for each item."""
    pairs = TRUTH if role == "truth" else pd.DataFrame({"userId": [1, 1, 2], "movieId": [1, 3, 4]})
    lists = pairs.groupby("userId")["movieId"].agg(list).rename("movieIds").reset_index()
    lists["movieIds"] = lists["movieIds"].where(lists["userId"] != 1, pd.Series([[]] * len(lists)))
    pairs = pairs[pairs["userId"] != 1]
    options = {"truth": TRUTH, "population": "rows"}
    given = spark.createDataFrame(lists, "userId int, movieIds array<int>")
    asked = options | {role: given if form == "Spark" else lists}
    rec = recframe.spark.rec(recs, **asked, short="pad")

    assert_values(evaluate(**options | {role: pairs}), rec.evaluate(METRICS))
    assert len(USERS) == rec.describe(2).loc["users", "rating"]


def test_ranked_rows_of_arrays(recs):
    """Fields of members and the other columns have their names in ranked rows of a list."""
    top = recframe.spark.rec(recs.withColumn("country", F.lit("NL"))).top(1)
    n_lists = sum(map(bool, LISTS))

    assert ["userId", "country", "movieId", "rating", "list_number", "rank"] == top.columns
    kinds = [kind for name, kind in top.dtypes if name != "list_number"]
    assert ["int", "string", "int", "float", "double"] == kinds
    assert n_lists == top.where("country = 'NL' and rank = 1").count()


def test_one_user_of_arrays(spark, recs):
    """A user of lists is shown as in pandas, with truth in lists too."""
    lists = TRUTH.groupby("userId")["movieId"].agg(list).reset_index()
    truth = spark.createDataFrame(lists, "userId int, movieId array<int>")
    shown = recframe.spark.rec(recs, truth=truth, short="pad").inspect(3, k=2)

    expected = recframe.from_lists(pd.DataFrame({"userId": USERS, "recommendations": LISTS}))
    assert len(expected.rec(truth=TRUTH, short="pad").inspect(3, k=2).tables["score"]) == len(
        shown.tables["rating"]
    )


def test_which_array_is_asked(recs):
    """Several arrays of ids are refused, and one of them alone is read."""
    both = recs.selectExpr("userId", "recommendations.movieId as recs", "array(1) as seen")

    with pytest.raises(recframe.RecframeError) as caught:
        recframe.spark.rec(both).top(1)
    assert "holds lists, pass it as the only column of arrays" in str(caught.value)
    assert "lists=" not in str(caught.value)
    assert 1 == recframe.spark.rec(both.drop("seen")).top(1).first()["rank"]


def test_arrays_next_to_rows_stay(spark):
    """Arrays next to columns of items and scores are left as they are."""
    schema = "user int, item int, score double, x array<int>"
    rows = spark.createDataFrame([(1, 2, 0.5, [1, 2])], schema)

    assert [*rows.columns, "rank"] == recframe.spark.rec(rows).top(1).columns


def test_arrays_of_different_lengths_are_refused(recs):
    """Lists that belong together must be equally long in each row."""
    both = recs.selectExpr("userId", "recommendations.movieId as items", "array(0.5D) as scores")
    message = refusal(lambda: recframe.spark.rec(both.coalesce(1)).top(1))

    assert re.search("'items' and 'scores' must have equally long lists in each row", message)


def test_truth_item_chooses_an_array(spark, recs):
    """If truth has two arrays, truth_item= names the one with relevant items."""
    lists = TRUTH.groupby("userId")["movieId"].agg(list).reset_index(name="actual")
    lists = lists.assign(recommended=[[0]] * len(lists))
    truth = spark.createDataFrame(lists, "userId int, actual array<int>, recommended array<int>")
    with pytest.raises(recframe.RecframeError, match="truth_item"):
        recframe.spark.rec(recs, truth=truth, short="pad").mean("recall@2")
    means = recframe.spark.rec(recs, truth=truth, truth_item="actual", short="pad").mean("recall@2")

    expected = recframe.from_lists(pd.DataFrame({"userId": USERS, "recommendations": LISTS}))
    mean = expected.rec(truth=TRUTH, short="pad").mean("recall@2")
    assert mean.iloc[0, 0] == means.toPandas()["recall@2"][0]
