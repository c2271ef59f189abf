"""RecframeWarning on Spark: the driver warns of what workers note, once a table is computed."""

import re
import warnings

import pytest

import recframe
import recframe.spark
from noted import AGGREGATES, CASES, DROPPED, FRAME, SEEN, SILENT, TRUTH, warnings_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Spark's own
]


@pytest.mark.parametrize("case", CASES)
def test_notes_of_partitions(spark, case):
    """What workers note is said once, as in pandas."""
    frame, options, metrics, match = CASES[case]
    expected = warnings_of(lambda: frame.rec(**options).mean(metrics))
    table = recframe.spark.rec(spark.createDataFrame(frame), **options).mean(metrics)

    assert [True] == [re.match(match, sentence) is not None for sentence in expected]
    assert expected == warnings_of(table.collect)


def test_truth_and_exclude_of_spark(spark):
    """Pairs that are lost are counted where those of a user meet."""
    sides = {"truth": spark.createDataFrame(TRUTH), "exclude": spark.createDataFrame(SEEN)}
    rec = recframe.spark.rec(spark.createDataFrame(FRAME), missing="unranked", **sides)
    (said,) = warnings_of(rec.mean("recall@1").collect)

    assert said.startswith("exclude holds 1 of 3 relevant pairs of truth")


def test_figures_of_pairs_written_differently(spark):
    """A description has the figure too; so has a table where truth is of Spark."""
    frame, options, metrics, match = CASES["written differently"]
    rec = recframe.spark.rec(spark.createDataFrame(frame), **options)

    assert any("pairs written differently: 3" in line for line in rec.describe(1).warnings)
    options = options | {"truth": spark.createDataFrame(options["truth"])}
    rec = recframe.spark.rec(spark.createDataFrame(frame), **options)
    (said,) = warnings_of(rec.mean(metrics).collect)
    assert re.match(match, said)


@pytest.mark.parametrize("name", AGGREGATES)
def test_dropped_rows(spark, name):
    """Every aggregate says so once it is computed, each time, and not before."""
    rec = recframe.spark.rec(spark.createDataFrame(FRAME), missing="drop")
    with warnings.catch_warnings():
        warnings.simplefilter("error", recframe.RecframeWarning)
        table = AGGREGATES[name](rec)

    for _ in range(2):
        (said,) = warnings_of(table.collect)
        assert re.match(DROPPED, said)


@pytest.mark.parametrize("case", SILENT)
def test_silence(spark, case):
    """Nothing is said on clean data, of what is asked of each user, or where nothing was lost."""
    frame, options, call = SILENT[case]
    table = call(recframe.spark.rec(spark.createDataFrame(frame), **options))

    assert [] == warnings_of(table.collect)


def test_a_driver_elsewhere(spark, monkeypatch):
    """Where the driver is another process it warns of nothing, and the table is the same."""
    monkeypatch.setattr("recframe.spark.lazy.is_remote", lambda: True)
    table = recframe.spark.rec(spark.createDataFrame(FRAME), missing="drop").mean("recall@1")

    assert [] == warnings_of(table.collect)
    assert [1.0] == [row["recall@1"] for row in table.collect()]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_warnings_that_are_errors(spark):
    """They end neither the table nor what Spark tells the driver next."""
    rec = recframe.spark.rec(spark.createDataFrame(FRAME), missing="drop")
    with warnings.catch_warnings():
        warnings.simplefilter("error", recframe.RecframeWarning)
        assert [1.0] == [row["recall@1"] for row in rec.mean("recall@1").collect()]

    assert 1 == len(warnings_of(rec.mean("recall@1").collect))
