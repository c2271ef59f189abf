"""Null relevance counts as not relevant under `null_relevance="nonrelevant"`.

Tests of `relevant` with nulls belong here.
"""

import numpy as np
import pandas as pd
import pytest

from entry_points import ENTRY_POINTS
from recframe import RecframeError

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "user": np.repeat(range(12), 5),
        "item": list(range(5)) * 12,
        "score": RNG.integers(0, 4, 60) / 2,
        "relevant": RNG.choice([1.0, 2.0, 5.0, np.nan], 60),
    }
)
FILLED = FRAME.fillna({"relevant": 0})
OPTIONS = {"min_relevance": 2, "null_relevance": "nonrelevant"}
HOW = {"check_index_type": False, "check_column_type": False, "check_names": False}


@pytest.mark.parametrize("entry", ENTRY_POINTS)
@pytest.mark.parametrize("metric", ["recall@2", "ndcg@3", "auc"])
def test_it_is_0(entry, metric, tmp_path):
    """A null relevance counts as 0 on every engine, also with grades."""
    expected = FILLED.rec(min_relevance=2).evaluate([metric])
    pd.testing.assert_frame_equal(
        expected, ENTRY_POINTS[entry](FRAME, metric, OPTIONS, tmp_path), **HOW
    )


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_without_it_nulls_are_refused(entry, tmp_path):
    """A null relevance is refused without the option, and the message names the option."""
    with pytest.raises(RecframeError, match=r"null[-_]relevance"):
        ENTRY_POINTS[entry](FRAME, "recall@2", {"min_relevance": 2}, tmp_path)


def test_rows_stay_where_others_are_dropped():
    """The option missing="drop" drops rows for other nulls only."""
    frame = FRAME.assign(score=FRAME["score"].where(FRAME["user"] != 3))
    expected = frame.assign(relevant=FILLED["relevant"]).rec(min_relevance=2, missing="drop")
    found = frame.rec(missing="drop", **OPTIONS)
    pd.testing.assert_frame_equal(expected.recall(k=2), found.recall(k=2))


def test_in_truth():
    """A pair of truth without a grade is not relevant."""
    truth = FRAME[["user", "item", "relevant"]]
    rows = FRAME.drop(columns="relevant")
    expected = rows.rec(truth=truth.fillna(0), min_relevance=2).evaluate(["recall@2", "ndcg@2"])
    found = rows.rec(truth=truth, **OPTIONS).evaluate(["recall@2", "ndcg@2"])
    pd.testing.assert_frame_equal(expected, found)


def test_of_models_and_repeats():
    """A pair whose relevance is null in one model's row has the other row's relevance."""
    long = pd.concat([FILLED.assign(run="a"), FILLED.assign(run="b")])
    nulls = long.assign(relevant=long["relevant"].where(long["relevant"] > 0))
    expected = long.rec(min_relevance=2, model="run").mean("recall@2")
    pd.testing.assert_frame_equal(expected, nulls.rec(model="run", **OPTIONS).mean("recall@2"))


def test_describe_counts_them():
    """`describe` counts null relevance, but its other values equal those without nulls."""
    figures = FRAME.rec(**OPTIONS).describe(2)["score"]
    expected = FILLED.rec(min_relevance=2).describe(2)["score"]
    assert FRAME["relevant"].isna().sum() == figures["null relevance"]
    same = [name for name in expected.index if name != "null relevance"]
    assert expected[same].tolist() == figures[same].tolist()


def test_booleans():
    """A None in a column of True and False is not relevant."""
    frame = pd.DataFrame({"user": 1, "score": [3, 2, 1], "relevant": [None, True, False]})
    assert 0.5 == frame.rec(null_relevance="nonrelevant").precision(k=2).loc[1, "score"]


def test_a_refusal_has_its_answer():
    """The refusal of null relevance has the option as its answer."""
    with pytest.raises(RecframeError, match="null_relevance='nonrelevant'") as refused:
        FRAME.rec(min_relevance=2).recall(k=2)
    assert {"null_relevance": "nonrelevant"} == refused.value.answers
