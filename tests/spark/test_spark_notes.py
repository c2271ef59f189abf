"""RecframeWarning on Spark: the driver warns of what workers note, once a table is computed."""

import re
import warnings

import pytest

import recframe
import recframe.spark
from noted import MISTAKES, RELEVANT, SILENT, warnings_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Spark's own
]


@pytest.mark.parametrize("kind", MISTAKES)
def test_mistakes(spark, kind):
    """They are said once the table is computed, each time, and not before, as in pandas."""
    frame, options, metrics, start = MISTAKES[kind]
    expected = warnings_of(lambda: frame.rec(**options).mean(metrics))
    with warnings.catch_warnings():
        warnings.simplefilter("error", recframe.RecframeWarning)
        table = recframe.spark.rec(spark.createDataFrame(frame), **options).mean(metrics)

    assert [start] == [one[: len(start)] for one in expected]
    assert [expected] * 2 == [warnings_of(table.collect) for _ in range(2)]


def test_figures_of_pairs_written_differently(spark):
    """A description has the figure too; so has a table where truth is of Spark."""
    frame, options, metrics, match = MISTAKES["written_differently"]
    rec = recframe.spark.rec(spark.createDataFrame(frame), **options)

    assert any("pairs written differently: 3" in line for line in rec.describe(1).warnings)
    options = options | {"truth": spark.createDataFrame(options["truth"])}
    rec = recframe.spark.rec(spark.createDataFrame(frame), **options)
    (said,) = warnings_of(rec.mean(metrics).collect)
    assert re.match(match, said)


@pytest.mark.parametrize("case", SILENT)
def test_silence(spark, case):
    """Nothing is said on clean data, of what is asked of each user, or where nothing was lost."""
    frame, options, call = SILENT[case]
    table = call(recframe.spark.rec(spark.createDataFrame(frame), **options))

    assert [] == warnings_of(table.collect)


def test_a_driver_elsewhere(spark, monkeypatch):
    """Where the driver is another process it warns of nothing, and the table is the same."""
    monkeypatch.setattr("recframe.spark.lazy.is_remote", lambda: True)
    table = recframe.spark.rec(spark.createDataFrame(RELEVANT)).mean("precision@1")

    assert [] == warnings_of(table.collect)
    assert [1.0] == [row["precision@1"] for row in table.collect()]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_warnings_that_are_errors(spark):
    """They end neither the table nor what Spark tells the driver next."""
    rec = recframe.spark.rec(spark.createDataFrame(RELEVANT))
    with warnings.catch_warnings():
        warnings.simplefilter("error", recframe.RecframeWarning)
        assert [1.0] == [row["precision@1"] for row in rec.mean("precision@1").collect()]

    assert 1 == len(warnings_of(rec.mean("precision@1").collect))
