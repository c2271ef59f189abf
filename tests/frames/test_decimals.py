"""Decimals and categories of numbers are scores, relevance and columns to average."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recframe
from entry_points import ENTRY_POINTS

BIG = 2**62
FRAME = pd.DataFrame(
    {
        "user": [1, 1, 1, 2, 2, 2],
        "item": [1, 2, 3, 1, 2, 3],
        "score": [0.9, 0.8, 0.1, 0.2, 0.2, 0.3],
        "relevant": [1, 0, 2, 0, 1, 0],
        "price": [1.5, 2.5, 3.0, 4.0, 5.0, 6.25],
    }
)
OPTIONS = {"min_relevance": 1, "short": "pad", "min_score": 0.15}
METRICS = ("ndcg@2", "recall@2", "mean(price)@2")


def as_objects(column):
    """Return a column as objects of Decimal."""
    return pd.Series([Decimal(str(value)) for value in column], dtype=object)


KINDS = {
    "objects": as_objects,
    "arrow": lambda column: as_objects(column).astype(pd.ArrowDtype(pa.decimal128(38, 3))),
    "categories": lambda column: column.astype("category"),
    "categories of decimals": lambda column: as_objects(column).astype("category"),
}
# Numbers in these files have only one kind.
LOST = ("csv", "jsonl")
# These metrics read each column.
READERS = {"score": METRICS, "relevant": METRICS[:2], "price": METRICS[2:]}


@pytest.mark.parametrize("entry", [entry for entry in ENTRY_POINTS if entry not in LOST])
@pytest.mark.parametrize("column", READERS)
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_any_kind(kind, column, entry, tmp_path):
    """A column of decimals, or of categories of numbers, gives the table of its numbers."""
    if entry == "Dask" and kind == "objects":
        pytest.skip("Dask makes text of objects")
    frame = FRAME.assign(**{column: KINDS[kind](FRAME[column])})
    for metric in READERS[column]:
        expected = ENTRY_POINTS["frame"](FRAME, metric, OPTIONS, tmp_path)
        found = ENTRY_POINTS[entry](frame, metric, OPTIONS, tmp_path)
        # Older versions of pandas lose last digits in the command line's csv.
        np.testing.assert_allclose(found.to_numpy(float), expected.to_numpy(), rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_nulls(kind):
    """A null among decimals or categories is an ordinary null."""
    is_there = FRAME["score"] != 0.8
    given = KINDS[kind](FRAME["score"])
    frame = FRAME.assign(score=given.where(is_there, None))
    with pytest.raises(recframe.RecframeError, match="score='score': must not be null, but 1"):
        frame.rec(min_relevance=1).recall(k=1)
    options = {"min_relevance": 1, "short": "pad", "missing": "unranked"}
    pd.testing.assert_frame_equal(
        FRAME.assign(score=FRAME["score"].where(is_there)).rec(**options).recall(k=2),
        frame.rec(**options).recall(k=2),
    )


def test_masks():
    """A score of -inf in categories and decimals masks its row."""
    for scores in (
        pd.Series([0.9, -np.inf] * 3).astype("category"),
        pd.Series([Decimal("0.9"), Decimal("-Infinity")] * 3),
    ):
        with pytest.raises(recframe.RecframeError, match="must not be -inf, but 3"):
            FRAME.assign(score=scores).rec(min_relevance=1).recall(k=1)


@pytest.mark.parametrize("make", [as_objects, KINDS["arrow"]], ids=["objects", "arrow"])
@pytest.mark.parametrize("values", [[BIG + 1, BIG, 0], ["0.000000000000002", "1E-15", "0"]])
def test_no_digit_is_lost(values, make):
    """Whole decimals of 64 bits, and decimals of 15 digits, are ranked exactly."""
    scores = as_objects(values)
    if make is not as_objects:
        scores = scores.astype(pd.ArrowDtype(pa.decimal128(38, 15)))
    frame = pd.DataFrame({"user": 1, "score": scores, "relevant": [1, 0, 0]})

    assert [1, 2, 3] == frame.rec.rank()["score"].tolist()


@pytest.mark.parametrize(
    "value", ["0.1234567890123456", str(2**63) + "1", "1e400", "1e-400", "12345678901234567890.5"]
)
def test_decimals_that_floats_round(value):
    """Decimals with more digits than a float has are refused, and the suggested call runs."""
    for column in ("score", "relevant", "price"):
        frame = FRAME.assign(**{column: as_objects([value, 0, 0, 0, 0, "0.5"])})
        with pytest.raises(
            recframe.RecframeError, match=r"at most 15 digits.* but have 1 "
        ) as error:
            frame.rec(min_relevance=1, short="pad").evaluate(["recall@1", "mean(price)@1"])
        call = str(error.value).rpartition("for example with ")[2].removesuffix(".")
        assert "float64" == eval(call, {"df": frame}).dtype


def test_sums_of_duckdb():
    """A sum of integers in DuckDB has 128 bits, and is read as a score, relevance and price."""
    duckdb = pytest.importorskip("duckdb")
    given = FRAME.assign(score=FRAME["score"] * 10)
    with duckdb.connect() as connection:
        connection.register("rows", given)
        query = "sum(score::INT) AS score, sum(relevant) AS relevant, sum(price) AS price"
        table = connection.sql(f"SELECT user, item, {query} FROM rows GROUP BY user, item")
        assert "HUGEINT" in map(str, table.types)
        for read in (recframe.rec, recframe.scan):
            found = read(table, min_relevance=1).evaluate(list(METRICS))
            expected = given.rec(min_relevance=1).evaluate(list(METRICS))
            assert expected.to_numpy().tolist() == found.to_numpy().tolist()


def test_decimals_in_what_makes_frames():
    """Runs and truth in dicts may hold decimals."""
    run = {"q1": {"d1": Decimal("0.5"), "d2": Decimal("0.25")}}

    assert [0.5, 0.25] == recframe.from_runs(run)["score"].tolist()
    assert [1, 2] == recframe.truth_from({"q1": {"d1": Decimal(1), "d2": Decimal(2)}})[
        "relevance"
    ].tolist()
    with pytest.raises(recframe.RecframeError, match=r"scores of runs.*: decimals must have at mo"):
        recframe.from_runs({"q1": {"d1": Decimal("0.1234567890123456")}})
