"""recframe.spark has the segments and weights of pandas, bit for bit, in plain columns."""

import datetime

import pandas as pd
import pytest
from pyspark.sql import functions as F  # noqa: N812 - the name that all give it

import recframe
import recframe.spark
from engines_page import check_column
from spark.frames import IDS, OF_TRUTH, ROLES, make, on_spark, refusal

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # warnings of Spark
]
USER = ROLES["user"]
TABLES = {
    "mean": {"metrics": ["recall@2", "r_precision"]},
    "curve": {"metric": "precision", "k": [1, 3]},
    "summary": {"metrics": ["recall@2", "r_precision"], "n_resamples": 99},
    "compare": {"metrics": "recall@2", "n_resamples": 99},
}
UNDEFINED = {
    "summary": ["n_undefined"],
    "compare": ["n_undefined_score", "n_undefined_baseline", "n_undefined_both"],
}
ASKED = [
    {"by": "Home.Country"},
    {"by": ["since", "level"]},
    {"weights": "clicks"},
    {"by": "level", "weights": "clicks"},
    {"by": USER},
]


def make_segments():
    """Return rows and truth; users have a day, a level, clicks, and a country or null."""
    frame, truth = make()
    user = frame[USER]
    frame["Home.Country"] = user.map({number: ["NL", "FR"][number % 2] for number in range(25)})
    frame["since"] = user.map(lambda number: datetime.date(2026, 1, 1 + number % 3))
    frame["level"] = user % 2 + 2**60
    frame["clicks"] = user * 0.1
    return frame, truth


def as_plain(table, method):
    """Return a table of pandas with plain columns, as on Spark."""
    if method == "curve":
        name, table = table.columns.name, table.rename_axis(columns="score")
        plain = table.stack(future_stack=True).rename(name).reset_index()  # noqa: PD013 - NaN stays
        return plain[[*plain.columns.drop(["k", name]), "k", name]]
    plain = table.rename_axis(columns=None).reset_index()
    if method == "compare":
        plain.insert(list(plain).index("metric") + 1, "baseline", "knn_score")
    return plain.assign(**{name: 0 for name in UNDEFINED.get(method, []) if name not in plain})


def as_lists(plain):
    """Return the values of each column as lists, with None for every kind of null."""
    columns = (column.astype(object).where(column.notna(), None) for _, column in plain.items())
    return dict(zip(plain, map(list, columns), strict=True))


def assert_segments(theirs, ours, method, **asked):
    """Assert that a table of Spark equals pandas' table, and return it."""
    asked = {**TABLES[method], **asked}
    table = getattr(ours, method)(**asked)
    expected = as_plain(getattr(theirs, method)(**asked), method)
    assert as_lists(expected) == as_lists(table.toPandas())
    return table


@pytest.mark.parametrize("method", TABLES)
def test_segments_are_those_of_pandas(spark, method):
    """Segments by one or several columns, weighted or not, have the values of pandas."""
    frame, _ = make_segments()
    sdf = on_spark(spark, frame)
    theirs, ours = frame.rec(**ROLES), recframe.spark.rec(sdf, **ROLES)

    for asked in ASKED:
        table, by = assert_segments(theirs, ours, method, **asked), asked.get("by", [])
        labels = by if isinstance(by, list) else [by]
        kinds = [*((label, dict(sdf.dtypes)[label]) for label in labels), ("score", "string")]
        assert kinds == table.dtypes[: len(kinds)]


@pytest.mark.parametrize("kind", ["pandas", "Spark"])
def test_users_of_truth_without_rows(spark, kind):
    """Users of truth without rows are in the segment of null, and with by=user each in one."""
    frame, truth = make_segments()
    theirs = frame.rec(truth=truth, **OF_TRUTH)
    companion = truth if kind == "pandas" else on_spark(spark, truth)
    ours = recframe.spark.rec(on_spark(spark, frame, "int"), truth=companion, **OF_TRUTH)

    assert_segments(theirs, ours, "mean", by=["since", "Home.Country"])
    table = assert_segments(theirs, ours, "summary", by=[USER, "Home.Country"])
    assert [(USER, "bigint"), ("Home.Country", "string")] == table.dtypes[:2]
    message = refusal(lambda: ours.mean(weights="clicks"))
    assert "a Series indexed by user can weigh users without rows too" in message


def test_series_by_user(spark):
    """A Series of pandas is matched by user, and its segments have Spark's type."""
    frame, _ = make_segments()
    theirs, ours = frame.rec(**ROLES), recframe.spark.rec(on_spark(spark, frame), **ROLES)
    users = pd.RangeIndex(20, name=USER)
    kinds = {
        "string": pd.Series(["a", "b"] * 10, users, name="group"),
        "bigint": pd.Series(range(20), users, "uint32", "group") % 3,
        "float": pd.Series(range(20), users, "float32", "group") % 2,
        "boolean": pd.Series([True, False] * 10, users, name="group"),
    }
    kinds["string"] = kinds["string"].astype("category")
    for kind, by in kinds.items():
        weights = pd.Series(1.5, pd.RangeIndex(30, name=USER))
        table = assert_segments(theirs, ours, "mean", by=by, weights=weights)
        assert ("group", kind) == table.dtypes[0]


def test_columns_of_every_type(spark):
    """Segments may have every type of users, also one that pandas stores differently."""
    for ids in IDS:
        frame, _ = make(ids)
        theirs, sdf = frame.rec(**ROLES), on_spark(spark, frame, ids)
        table = assert_segments(theirs, recframe.spark.rec(sdf, **ROLES), "mean", by=USER)
        assert (USER, ids) == table.dtypes[0]
        copy = {"timestamp_ntz": "timestamp", "string": "binary", "int": "boolean"}.get(ids, ids)
        rec = recframe.spark.rec(sdf.withColumn("copy", F.col(f"`{USER}`").cast(copy)), **ROLES)
        copied = rec.mean(by="copy")
        n_segments = 2 if copy == "boolean" else frame[USER].nunique()
        assert [("copy", copy), 2 * n_segments] == [copied.dtypes[0], copied.count()]


def test_models_in_rows_and_a_promise(spark):
    """Segments work with models in rows, and with rows that need no shuffle."""
    frame, _ = make_segments()
    labels = [USER, "doc", "relevant", "level"]
    long = frame.melt(labels, ["knn_score", "other.score"], "model", "score")
    sdf = on_spark(spark, long)
    asked = {"user": USER, "short": "pad", "model": "model"}
    theirs = long.rec(**asked)
    assert_segments(theirs, recframe.spark.rec(sdf, **asked), "compare", by="level")
    kept = recframe.spark.rec(sdf.repartition(3, f"`{USER}`"), partitioned=True, **asked)
    assert_segments(theirs, kept, "curve", by="level")
    broken = recframe.spark.rec(sdf, partitioned=True, **asked)
    assert "partitioned=True: " in refusal(lambda: broken.mean(by="level"))


def test_no_row(spark):
    """An empty frame has no segment, and one mean if weighted."""
    frame, _ = make_segments()
    rec = recframe.spark.rec(on_spark(spark, frame).where("doc is null"), **ROLES)

    assert [0, 2] == [
        rec.mean(**asked).count() for asked in ({"by": "level"}, {"weights": "clicks"})
    ]
    named = pd.Series("x", pd.RangeIndex(3, name=USER), name=7)
    assert ["7", "score"] == rec.mean(by=named).toPandas().columns[:2].tolist()


def test_what_is_refused(spark):
    """Columns and types are refused at once, values that vary within users when computed."""
    frame, _ = make_segments()
    sdf = on_spark(spark, frame)
    rec = recframe.spark.rec(sdf, **ROLES)
    lists = sdf.withColumn("level", F.array("level")).withColumn("N_Users", F.lit(1))
    others = recframe.spark.rec(lists, **ROLES)
    refusals = {
        "by='country': no such column": lambda: rec.mean(by="country"),
        "by must be a column's label, or a Series whose .* it is a column, pass by='level'": (
            lambda: rec.curve(by=frame["level"])
        ),
        "by must be a column of the frame or a Series .*, but is Column": lambda: rec.mean(
            by=sdf["since"]
        ),
        "weights must be a column of the frame or a Series .*, but is": lambda: rec.summary(
            by=["level"], weights=F.col("clicks")
        ),
        "by: Spark cannot hold its columns .* pass the label of a column": lambda: rec.mean(
            by=pd.Series(pd.interval_range(0, 20), pd.RangeIndex(20, name=USER))
        ),
        "the column 'segment' must have one value in a cell, but is Spark's interval": lambda: (
            rec.mean(by=pd.Series(pd.Timedelta(1, "D"), pd.RangeIndex(20, name=USER)))
        ),
        "by='score' has the name of an index level": lambda: recframe.spark.rec(
            sdf.withColumn("score", F.lit(1)), **ROLES
        ).compare(by="score"),
        "by='N_Users' has a name that results use. Rename it": lambda: others.summary(by="N_Users"),
        "'level' must have one value in a cell": lambda: others.mean(by="level"),
        "weights='Home.Country' must hold numbers": lambda: rec.mean(weights="Home.Country"),
    }
    for message, ask in refusals.items():
        with pytest.raises(recframe.RecframeError, match=message):
            ask()
    message = refusal(lambda: rec.mean(by="doc"))
    assert "in a partition of " in message
    assert "by='doc' must hold one value for each user, but holds several for " in message


def test_engines_page(spark):
    """The guide on engines says yes for Spark exactly where the call gives a table."""
    check_column(
        "Spark",
        lambda frame, **options: recframe.spark.rec(on_spark(spark, frame), **options),
    )
