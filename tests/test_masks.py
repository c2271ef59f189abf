"""Scores of -inf, which mask their rows: as nulls on every door, unless asked to rank last."""

import math

import numpy as np
import pandas as pd
import pytest

import recframe
from doors import DOORS
from recframe import RecframeError
from recframe.cli import main

METRIC = "recall@2"
HOLDS_MASKS = [door for door in DOORS if door != "jsonl"]  # JSON has null in their place
ROWS = pd.DataFrame(
    {
        "user": [1, 1, 1, 2, 2],
        "item": [1, 2, 3, 1, 2],
        "score": [0.5, -math.inf, 0.1, -math.inf, 0.2],
        "relevant": [0, 1, 1, 1, 1],
    }
)


@pytest.mark.parametrize("door", HOLDS_MASKS)
def test_masks_are_refused(door, tmp_path):
    """With how many there are, the first of them, and the choices."""
    with pytest.raises(RecframeError) as refused:
        DOORS[door](ROWS, METRIC, {}, tmp_path)
    message = " ".join(str(refused.value).split())

    assert "score='score': must not be -inf, found " in message
    assert "-inf of " in message
    assert "min_score=-inf" in message.replace("--min-score=", "min_score=")


@pytest.mark.parametrize("missing", ["unranked", "drop"])
@pytest.mark.parametrize("door", DOORS)
def test_masks_are_what_nulls_are(door, missing, tmp_path):
    """The table is that of the frame with nulls in their place."""
    nulls = ROWS.assign(score=ROWS["score"].replace(-math.inf, np.nan))
    options = {"missing": missing, "short": "pad"}
    expected = nulls.rec(**options).evaluate([METRIC])

    found = DOORS[door](ROWS, METRIC, options, tmp_path)
    assert expected["score", METRIC].to_dict() == found["score", METRIC].to_dict()


@pytest.mark.parametrize("door", HOLDS_MASKS)
def test_min_score_says_what_they_are(door, tmp_path):
    """A finite `min_score` leaves them out as it does what is below it; -inf ranks them last."""
    for least, expected in {0.0: [0.5, 0.5], -math.inf: [0.5, 1.0]}.items():
        found = DOORS[door](ROWS, METRIC, {"min_score": least, "short": "pad"}, tmp_path)
        assert expected == found["score", METRIC].tolist()


@pytest.mark.parametrize("dtype", ["float32", "Float64", "double[pyarrow]", "object"])
def test_in_whatever_holds_them(dtype):
    """Of every dtype that holds infinite scores."""
    frame = ROWS.astype({"score": dtype})
    with pytest.raises(RecframeError, match=r"must not be -inf, found 2 -inf of 5 .* in row 1\)"):
        frame.rec.recall(k=1)
    assert [1.0, math.nan, 2.0] == pytest.approx(
        frame.rec(missing="unranked").rank()["score"].tolist()[:3], nan_ok=True
    )


def test_where_the_lowest_is_best_inf_masks():
    """There -inf is the best of all."""
    frame = ROWS.assign(score=-ROWS["score"])
    with pytest.raises(RecframeError, match="must not be inf, found 2 inf of 5 rows") as refused:
        frame.rec(ascending=True).recall(k=1)
    assert "min_score" not in str(refused.value)
    rec = ROWS.rec(ascending=True)
    assert [3.0, 1.0, 2.0, 1.0, 2.0] == rec.rank()["score"].tolist()


def test_constructors_leave_them_out():
    """A matrix of scores or of the best items has no row for them."""
    scores = [[0.9, -math.inf, 0.1], [-math.inf, -math.inf, 0.3]]
    matrix = recframe.from_matrix(scores)
    order = np.argsort(-np.array(scores), kind="stable")
    topk = recframe.from_topk(order, scores=np.take_along_axis(np.array(scores), order, axis=1))

    expected = {(0, 0): 0.9, (0, 2): 0.1, (1, 2): 0.3}
    for frame in (matrix, topk):
        assert expected == frame.set_index(["user", "item"])["score"].to_dict()


def test_describe_counts_them_as_nulls():
    """Its figure of nulls has them, as the same options decide about both."""
    assert 2 == ROWS.rec.describe(1).loc["null scores", "score"]


def test_trec_ranks_them(tmp_path, capsys):
    """As trec_eval does, last."""
    (tmp_path / "qrels").write_text("1 0 a 0\n1 0 b 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 -inf x\n1 Q0 b 2 -1 x\n")
    paths = [str(tmp_path / "qrels"), str(tmp_path / "run")]

    assert 0 == main(["trec", *paths, "--metric", "reciprocal_rank", "--format", "csv"])
    assert "run,1.0\n" in capsys.readouterr().out
