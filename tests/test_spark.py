"""The recipe for Spark, where Spark and Java are installed."""

import os
import runpy
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recframe

METRICS = ["precision@2", "recall@2", "r_precision"]


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
@pytest.mark.filterwarnings("ignore")  # Spark's own
def test_the_recipe_gives_the_table_of_pandas(monkeypatch):
    """Users parted over Spark's partitions get what they get in pandas, bit for bit."""
    sql = pytest.importorskip("pyspark.sql", reason="the recipe needs pyspark")
    monkeypatch.setitem(os.environ, "PYSPARK_PYTHON", sys.executable)
    recipe = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "spark.py"))
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "user": [f"user {number}" for number in rng.integers(0, 40, 600)],
            "knn_score": rng.integers(0, 5, 600),
            "other_score": rng.random(600).round(1),
            "relevant": rng.random(600) < 0.3,
        }
    )
    session = sql.SparkSession.builder.master("local[2]").getOrCreate()
    try:
        spark_frame = session.createDataFrame(frame).repartition(7)
        result = recipe["evaluate"](spark_frame, METRICS, n_partitions=3, short="pad").toPandas()
    finally:
        session.stop()
    expected = recframe.evaluate(frame, METRICS, short="pad")

    assert 2 * len(expected) == len(result)
    for score, values in result.groupby("score"):
        actual = values.set_index("user").drop(columns="score").sort_index()
        pd.testing.assert_frame_equal(
            expected[score], actual, check_exact=True, check_names=False, check_index_type=False
        )
