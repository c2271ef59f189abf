"""recframe.spark warns on the driver of the facts that workers note."""

import re

import pytest

import recframe.spark
from note_cases import MISTAKES, SILENT, warnings_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # warnings of Spark
]


@pytest.mark.parametrize("kind", MISTAKES)
def test_mistakes(spark, kind):
    """A call that makes a table of all users warns of mistakes, as in pandas."""
    frame, options, metrics, start = MISTAKES[kind]
    expected = warnings_of(lambda: frame.rec(**options).mean(metrics))
    rec = recframe.spark.rec(spark.createDataFrame(frame), **options)

    assert [start] == [one[: len(start)] for one in expected]
    assert expected == warnings_of(lambda: rec.mean(metrics))


def test_figures_of_pairs_written_differently(spark):
    """A description counts pairs that match but for spelling, and means with truth warn."""
    frame, options, metrics, match = MISTAKES["written_differently"]
    rec = recframe.spark.rec(spark.createDataFrame(frame), **options)

    assert any("pairs written differently: 3" in line for line in rec.describe(1).warnings)
    options = options | {"truth": spark.createDataFrame(options["truth"])}
    rec = recframe.spark.rec(spark.createDataFrame(frame), **options)
    (warning,) = warnings_of(lambda: rec.mean(metrics))
    assert re.match(match, warning)


@pytest.mark.parametrize("case", SILENT)
def test_silence(spark, case):
    """Clean data, tables of every user, and complete data cause no warning."""
    frame, options, call = SILENT[case]
    rec = recframe.spark.rec(spark.createDataFrame(frame), **options)

    assert [] == warnings_of(lambda: call(rec).collect())
