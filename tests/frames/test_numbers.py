"""Thresholds such as `min_score` mean the same for every type, without rounding.

Tests of `min_relevance` with numbers of any type belong here.
"""

import math
from fractions import Fraction

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recframe
import recframe.dask
from recframe import RecframeError
from recframe.cli import main
from recframe.frames.values import at_least

BIG = 2**53
FLOATS = {
    "float16": "float16",
    "float32": "float32",
    "float64": "float64",
    "longdouble": np.longdouble,
    "Float32": "Float32",
    "Float64": "Float64",
    "arrow float": pd.ArrowDtype(pa.float32()),
    "arrow double": pd.ArrowDtype(pa.float64()),
    "arrow decimal": pd.ArrowDtype(pa.decimal128(5, 2)),
    "object": object,
}
WHOLE = {
    "int64": "int64",
    "uint64": "uint64",
    "Int64": "Int64",
    "arrow int": pd.ArrowDtype(pa.int64()),
    "arrow decimal": pd.ArrowDtype(pa.decimal128(30, 0)),
    "object": object,
}
TENTHS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]


def make_frame(scores):
    """Return one ranking whose last row is relevant, with the scores as grades too."""
    relevant = [0] * (len(scores) - 1) + [1]
    return pd.DataFrame({"user": 1, "score": scores, "relevant": relevant, "level": scores})


@pytest.mark.parametrize("kind", [float, np.float64, np.longdouble, Fraction])
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_threshold_is_a_number_of_the_column(dtype, kind):
    """A threshold of 0.7 keeps the same rows for every dtype of scores and type of threshold."""
    column = pd.Series(TENTHS).astype(FLOATS[dtype] if dtype != "arrow decimal" else "string")
    frame = make_frame(column.astype(FLOATS[dtype]))
    for place, threshold in enumerate(TENTHS):
        least = Fraction(place + 1, 10) if kind is Fraction else kind(threshold)
        ranked = frame.rec(min_score=least).rank()["score"].notna()
        assert [n >= place for n in range(9)] == ranked.tolist()
        graded = frame.rec(relevant="level", min_relevance=least, short="pad")
        assert (9 - place) / 9 == graded.precision(k=9)["score"].item()


@pytest.mark.parametrize("dtype", WHOLE)
@pytest.mark.parametrize(
    ("threshold", "expected"),
    [
        (BIG + 1, [0, 1, 1]),
        (np.int64(BIG + 1), [0, 1, 1]),
        (np.uint64(BIG + 1), [0, 1, 1]),
        (float(BIG), [1, 1, 1]),
        (np.float32(BIG), [1, 1, 1]),
        (BIG + 3, [0, 0, 0]),
        (0.5, [1, 1, 1]),
        (np.float16(0.5), [1, 1, 1]),
        (10**30, [0, 0, 0]),
        (-(10**30), [1, 1, 1]),
        (1e300, [0, 0, 0]),
        (math.inf, [0, 0, 0]),
        (-math.inf, [1, 1, 1]),
        (2**63, [0, 0, 0]),
        (float(2**64), [0, 0, 0]),
        (np.float32(2**63), [0, 0, 0]),
        (np.uint64(2**64 - 1), [0, 0, 0]),
    ],
    ids=repr,
)
def test_whole_numbers_are_compared_exactly(threshold, expected, dtype):
    """Thresholds and whole numbers are compared exactly, at any size."""
    values = [BIG, BIG + 1, BIG + 2]
    column = pd.Series(values, dtype="int64")
    column = column.astype("string").astype(WHOLE[dtype]) if "dec" in dtype else column
    ranked = make_frame(column.astype(WHOLE[dtype])).rec(min_score=threshold).rank()["score"]

    assert [bool(n) for n in expected] == ranked.notna().tolist()


@pytest.mark.parametrize("threshold", [Fraction(2 * BIG + 1, 2), np.longdouble(BIG) + 0.5])
def test_between_two_whole_numbers(threshold):
    """A threshold between two whole numbers that a float cannot tell apart separates them."""
    if int(threshold) == threshold:
        pytest.skip("long doubles are doubles here")
    assert [False, True] == at_least(np.array([BIG, BIG + 1]), threshold).tolist()


def test_small_dtypes_hold_large_thresholds():
    """A threshold that the column's dtype cannot hold is above or below all its values."""
    values = np.array([-128, 127], np.int8)

    for threshold in (128, 127.5, 10**400, Fraction(10**400), math.inf):
        assert [False, False] == at_least(values, threshold).tolist()
    for threshold in (-128, -128.5, -(10**400), -math.inf):
        assert [True, True] == at_least(values, threshold).tolist()
    assert [True, False] == at_least(np.array([True, False]), 0.5).tolist()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("threshold", [-1e300, -(10**400), Fraction(-(10**400))], ids=type)
def test_minus_infinity_is_below_every_number(dtype, threshold):
    """A score of minus infinity is below a low threshold, even one that the dtype cannot hold."""
    ranked = make_frame([-math.inf, 0.0, 1.0]).astype({"score": dtype})
    ranks = ranked.rec(min_score=threshold).rank()["score"]

    assert [False, True, True] == ranks.notna().tolist()
    assert not at_least(np.array([1.0], dtype), 10**400).any()


def test_half_precision_scores_are_no_warning():
    """Scores of float16 are compared with limits that it cannot hold, without a warning."""
    scores = np.random.default_rng(0).random(400)
    frame = pd.DataFrame({"user": np.repeat(range(20), 20), "score": scores.astype("float16")})
    frame["relevant"] = [1, 0] * 200
    wider = frame.astype({"score": "float32"})

    pd.testing.assert_frame_equal(wider.rec.mean("mrr"), frame.rec.mean("mrr"))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_thresholds_on_every_entry_point(dtype, tmp_path, capsys):
    """The accessor, files, Dask and the command line apply a threshold alike."""
    if dtype == "int64":
        scores, threshold, text = [BIG, BIG + 1, BIG + 2], BIG + 1, str(BIG + 1)
    else:
        scores, threshold, text = [0.6, 0.7, 0.9], np.float64(0.7), "0.7"
    frame = make_frame(pd.Series(scores, dtype=dtype))
    frame.to_parquet(tmp_path / "frame.parquet")
    options = {"short": "shrink", "min_score": threshold}
    graded = {"relevant": "level", "min_relevance": threshold}
    for more, value in (({}, 1 / 2), (graded, 1.0)):
        tables = [
            frame.rec(**options, **more).precision(k=3),
            recframe.evaluate(tmp_path / "frame.parquet", "precision@3", **options, **more),
            dd.from_pandas(frame, npartitions=2).rec(**options, **more).precision(k=3).compute(),
        ]
        assert [value] * 3 == [table.iloc[0, 0] for table in tables]
    paths = ["evaluate", str(tmp_path / "frame.parquet"), "--metric", "precision@3", "--short"]
    flags = ["--min-relevance", text, "--min-score", text, "--relevant", "level"]
    assert 0 == main([*paths, "shrink", *flags, "--format", "csv"])
    assert "score,precision@3\nscore,1.0\n" == capsys.readouterr().out


def test_object_scores_are_not_rounded():
    """Whole numbers beyond 2**53 in a column with floats are refused if a float would round."""
    frame = make_frame(pd.Series([BIG, BIG + 1, 0.5], dtype=object))
    message = rf"score='score': next to floats, .* and 1 would \(such as {BIG + 1}\). Make"
    with pytest.raises(RecframeError, match=message):
        frame.rec.rank()
    with pytest.raises(RecframeError, match=r"relevant='level': .* and 1 would"):
        frame.assign(score=1).rec(relevant="level", min_relevance=1).recall(k=1)
    with pytest.raises(RecframeError, match="and 1 would"):
        make_frame(pd.Series([10**400, 0.5], dtype=object)).rec.rank()
    held = make_frame(pd.Series([BIG, BIG + 2, 0.5], dtype=object))
    assert [2.0, 1.0, 3.0] == held.rec.rank()["score"].tolist()


def test_object_scores_of_one_precision():
    """Objects of float32 keep their precision, so that thresholds mean the same."""
    scores = pd.Series([np.float32(score) for score in TENTHS], dtype=object)

    assert 3 == make_frame(scores).rec(min_score=0.7).rank()["score"].count()
