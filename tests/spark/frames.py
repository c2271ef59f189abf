"""Frames for Spark, and comparisons of its tables with pandas."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import functions as F  # noqa: N812 - the usual name

from recframe.errors import RecframeError
from recframe.metrics.definitions import DEFINITIONS

# Every metric has a cut-off if it takes one, and the parameters that it needs.
PARAMETERS = {"rbp": "(p=0.8)", "err": "(max=3)"}
METRICS = [
    f"{name}{PARAMETERS.get(name, '')}{'' if one.cut_off == 'none' else '@2'}"
    for name, one in DEFINITIONS.items()
    # Others need grades or a column.
    if name != "err" and not one.of_column
]
METRICS += ["ndcg", "mean(other.score)@3"]
START = datetime.date(2026, 1, 1)
# Each type of Spark has a function that makes an id from a number.
IDS = {
    "bigint": int,
    "int": int,
    "string": "user {}".format,
    "date": lambda number: START + datetime.timedelta(days=int(number)),
    "decimal(20,2)": lambda number: Decimal(int(number)) / 4,
    "timestamp_ntz": lambda number: pd.Timestamp(START) + pd.Timedelta(hours=int(number)),
}


def make(ids="bigint"):
    """Return rows of users, half of them one user's, and truth of some of these and other users."""
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
OF_TRUTH = {
    "population": "all",
    **ROLES,
    "truth_user": "who",
    "truth_item": "what",
    "relevant": "grade",
}
OF_TRUTH["min_relevance"] = 2


OF_GRADES = [*METRICS, "err(max=3)", "err(max=3)@2"]


def on_spark(spark, frame, ids="bigint"):
    """Return a Spark DataFrame of the frame, with the ids in its first column in a Spark type."""
    sdf = spark.createDataFrame(pa.Table.from_pandas(frame, preserve_index=False))
    label = frame.columns[0]
    return sdf.withColumn(label, F.col(f"`{label}`").cast(ids)).repartition(3)


def as_per_user(tidy, label="User.Id"):
    """Return the per-user table of a result in tidy form, with users sorted."""
    tables = {score: rows.set_index(label) for score, rows in tidy.toPandas().groupby("score")}
    tables = {score: table.drop(columns="score") for score, table in tables.items()}
    return pd.concat(tables, axis=1, names=["score", "metric"]).sort_index()


def assert_same(expected, tidy):
    """Assert that a result equals the per-user table of pandas, bit for bit."""
    actual = as_per_user(tidy, list(expected.index.names))[expected.columns]
    assert expected.index.tolist() == actual.index.tolist()
    np.testing.assert_array_equal(expected.to_numpy(), actual.to_numpy())


def refusal(make_table, find=lambda table: table.toPandas()):
    """Return the last line of the message for a refused result, at once or by Spark."""
    with pytest.raises((PythonException, RecframeError)) as caught:
        find(make_table())
    *_, last = str(caught.value).strip().splitlines()
    # The message has a traceback of few lines.
    assert len(str(caught.value).splitlines()) < 12
    return last


TRUTHS = {
    "pandas": lambda truth, spark, tmp_path: truth,
    "file": lambda truth, spark, tmp_path: (
        truth.to_parquet(path := tmp_path / f"{truth.columns[0]}.parquet") or path
    ),
    "Spark": lambda truth, spark, tmp_path: on_spark(spark, truth),
    "Spark, narrower": lambda truth, spark, tmp_path: on_spark(spark, truth, "int"),
    "Spark, decimals": lambda truth, spark, tmp_path: on_spark(spark, truth, "decimal(9,1)"),
}


def make_excluded(frame):
    """Return pairs of a frame, all of one user, and a pair of an unknown user."""
    pairs = frame.loc[(frame.index % 3 == 0) | (frame["User.Id"] == 5), ["User.Id", "doc"]]
    return pd.concat([pairs, pd.DataFrame({"User.Id": [99], "doc": ["d1"]})], ignore_index=True)


def assert_catalogue(expected, table):
    """Assert that a result equals a catalogue of pandas, bit for bit."""
    actual = table.toPandas().set_index("score")
    assert list(expected) == list(actual)
    figures = actual.loc[expected.index].to_numpy(float)
    # NumPy's comparison treats NaN as equal to NaN.
    np.testing.assert_array_equal(expected.to_numpy(), figures)
