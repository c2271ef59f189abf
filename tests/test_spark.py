"""The recipe for Spark: groups of users simulated, and run for real where Spark is installed."""

# ruff: noqa: D102, D105, N802, N815  (the names, and meanings, are those of Spark)
import datetime
import os
import re
import runpy
import shutil
import sys
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recframe

METRICS = ["precision@2", "recall@2", "r_precision", "auc", "ndcg@3"]
ROLES = {"item": "doc", "truth_user": "who", "truth_item": "what"}
OPTIONS = {"short": "pad", "min_relevance": 1, **ROLES}
START = datetime.date(2026, 1, 1)
KINDS = {
    "int": int,
    "string": "user {}".format,
    "date": lambda number: START + datetime.timedelta(days=int(number)),
}


@pytest.fixture(scope="module")
def evaluate():
    """The recipe."""
    path = Path(__file__).parents[1] / "examples" / "spark.py"
    return runpy.run_path(str(path))["evaluate"]


class Simulated:
    """The few methods of a Spark DataFrame that the recipe calls, on pandas."""

    def __init__(self, frame, other=None):
        self.frame, self.other = frame, other
        self.dtypes = [(label, "any") for label in frame.columns]
        self.sparkSession = self

    createDataFrame = staticmethod(lambda frame: Simulated(frame))

    def limit(self, n):
        return Simulated(self.frame.head(n))

    def toPandas(self):
        return self.frame

    def first(self):
        return next(self.frame.itertuples(index=False), None)

    def select(self, name):
        return Simulated(self.frame[[name.strip("`")]])

    def where(self, is_kept):
        return Simulated(self.frame[is_kept])

    def __getitem__(self, name):
        return self.frame[name.strip("`")]

    def selectExpr(self, *expressions):
        columns = {}
        for text in expressions:
            if text == "*":
                columns |= dict(self.frame.items())
            elif hashed := re.fullmatch(
                r"pmod\(hash\(cast\(`(.+)` AS any\)\), (\d+)\) AS (\w+)", text
            ):
                label, n_groups, name = hashed.groups()
                columns[name] = self[label].map(
                    lambda x, n=n_groups: zlib.crc32(f"{x}".encode()) % int(n)
                )
            else:
                label, name = re.fullmatch(r"`(.+)` AS `(.+)`", text).groups()
                columns[name] = self[label]
        return Simulated(pd.DataFrame(columns))

    def join(self, other, labels, how):
        assert how == "left_semi"
        return Simulated(self.frame.merge(other.frame[labels].drop_duplicates(), on=labels))

    def groupBy(self, label):
        assert label in self.frame
        return self

    def cogroup(self, other):
        return Simulated(self.frame, other.frame)

    def applyInPandas(self, function, schema):
        frames = [self.frame] if self.other is None else [self.frame, self.other]
        label = self.frame.columns[-1]
        groups = sorted(set().union(*(frame[label] for frame in frames)))
        tables = [
            function(*(frame[frame[label] == group].reset_index(drop=True) for frame in frames))
            for group in groups
        ]
        assert all(re.findall("`(.+?)`", schema)[1:] == list(t.columns[2:]) for t in tables)
        return Simulated(pd.concat(tables))


def make(make_id):
    """Return rows of users 0 to 29 and truth of users 10 to 39, under unusual names."""
    rng = np.random.default_rng(4)

    def draw(n_rows, users, items, names):
        user, item = rng.choice(users, n_rows), rng.choice(items, n_rows)
        pairs = {names[0]: [make_id(x) for x in user], names[1]: [f"d{x}" for x in item]}
        return pd.DataFrame(pairs).drop_duplicates(ignore_index=True)

    frame = draw(200, range(30), range(20), ["Query ID", "doc"])
    frame["knn_score"] = rng.integers(0, 5, len(frame))
    frame["other score"] = rng.random(len(frame)).round(1)
    truth = draw(150, range(10, 40), range(25), ["who", "what"])
    truth["relevance"] = rng.integers(0, 4, len(truth))
    return frame, truth


def assert_tables(expected, result):
    """Assert that the recipe's frame holds the table of pandas, bit for bit."""
    result = result.toPandas()
    user = expected.index.name
    assert list(result.columns) == [user, "score", *expected.columns.unique("metric")]
    assert len(result) == len(expected) * expected.columns.unique("score").size
    for score, values in result.groupby("score"):
        actual = values.set_index(user).drop(columns="score").sort_index()
        pd.testing.assert_frame_equal(
            expected[score], actual, check_exact=True, check_names=False, check_index_type=False
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("absent", ["zero", "drop"])
@pytest.mark.parametrize("n_groups", [1, 3, 100])
def test_groups_with_truth_are_the_whole(evaluate, kind, absent, n_groups):
    """Truth counts once however users are parted: with rows and truth, with one of them only."""
    frame, truth = make(KINDS[kind])
    expected = recframe.evaluate(frame, METRICS, truth=truth, absent=absent, **OPTIONS)
    options = {"n_groups": n_groups, "absent": absent, **OPTIONS}

    for given in (truth, Simulated(truth)):
        assert_tables(expected, evaluate(Simulated(frame), METRICS, truth=given, **options))


@pytest.mark.parametrize("n_groups", [1, 3, 100])
def test_groups_without_truth_are_the_whole(evaluate, n_groups):
    """Without truth too, whatever the columns are called."""
    frame, _ = make(int)
    frame = frame.assign(hit=np.arange(len(frame)) % 3 == 0).rename(columns={"Query ID": "who"})
    options = {"user": "who", "relevant": "hit", "score": "other score", "short": "nan"}
    expected = recframe.evaluate(frame, "precision@2", **options)

    assert_tables(expected, evaluate(Simulated(frame), "precision@2", n_groups=n_groups, **options))


def test_the_recipe_refuses(evaluate):
    """What the groups could not know of each other is refused before they are made."""
    frame, truth = make(int)
    refusals = {
        "user=None is one ranking": {"user": None},
        "no such column": {"user": "nobody"},
        "keeps no order of rows": {"ties": "first"},
        "needs item=": {"truth": truth},
        "missing='drop'": {"truth": truth, "missing": "drop", **ROLES},
        "no pair of 'Query ID' and 'doc' is in truth": {
            "truth": truth.assign(who=truth["who"] + 99),
            **ROLES,
        },
    }

    for message, options in refusals.items():
        with pytest.raises(ValueError, match=message):
            evaluate(Simulated(frame), METRICS, **options)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
@pytest.mark.filterwarnings("ignore")  # Spark's own
def test_spark(evaluate, monkeypatch):
    """Spark itself gives the tables of pandas, for every type of user, with truth and without."""
    sql = pytest.importorskip("pyspark.sql", reason="the recipe needs pyspark")
    monkeypatch.setitem(os.environ, "PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master("local[2]")
    session = builder.config("spark.sql.shuffle.partitions", 3).getOrCreate()
    try:
        for kind, make_id in KINDS.items():
            frame, truth = make(make_id)
            cast = f"cast(`Query ID` AS {kind}) AS `Query ID`"  # pandas has no 32-bit integers here
            lists = session.createDataFrame(frame).repartition(7)
            lists = lists.selectExpr(cast, "doc", "`knn_score`", "`other score`")
            for given in (truth, session.createDataFrame(truth)):
                result = evaluate(lists, METRICS, truth=given, n_groups=8, **OPTIONS)
                assert_tables(recframe.evaluate(frame, METRICS, truth=truth, **OPTIONS), result)
            judged = frame.assign(relevant=np.arange(len(frame)) % 2)
            result = evaluate(session.createDataFrame(judged), METRICS, n_groups=8, short="pad")
            assert_tables(recframe.evaluate(judged, METRICS, short="pad"), result)
    finally:
        session.stop()
