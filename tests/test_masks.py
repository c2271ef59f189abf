"""Scores of -inf mask their rows like nulls, and `min_score` says so for the lowest scores."""

import math

import numpy as np
import pandas as pd
import pytest

import recframe
from entry_points import ENTRY_POINTS
from recframe import RecframeError
from recframe.cli import main

METRIC = "recall@2"
# JSON has null in the place of -inf.
HOLDS_MASKS = [entry for entry in ENTRY_POINTS if entry != "jsonl"]
ROWS = pd.DataFrame(
    {
        "user": [1, 1, 1, 2, 2],
        "item": [1, 2, 3, 1, 2],
        "score": [0.5, -math.inf, 0.1, -math.inf, 0.2],
        "relevant": [0, 1, 1, 1, 1],
    }
)


@pytest.mark.parametrize("entry", HOLDS_MASKS)
def test_masks_are_refused(entry, tmp_path):
    """Scores of -inf are refused with their number and the choices."""
    with pytest.raises(RecframeError) as refused:
        ENTRY_POINTS[entry](ROWS, METRIC, {}, tmp_path)
    message = " ".join(str(refused.value).split())

    assert "score='score': must not be -inf, but " in message
    assert "rows are -inf " in message
    assert "min_score=-inf" in message


@pytest.mark.parametrize("missing", ["unranked", "drop"])
@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_masks_are_what_nulls_are(entry, missing, tmp_path):
    """A score of -inf counts like a null under the option `missing`."""
    nulls = ROWS.assign(score=ROWS["score"].replace(-math.inf, np.nan))
    options = {"missing": missing, "short": "pad"}
    expected = nulls.rec(**options).evaluate([METRIC])

    found = ENTRY_POINTS[entry](ROWS, METRIC, options, tmp_path)
    assert expected["score", METRIC].to_dict() == found["score", METRIC].to_dict()


@pytest.mark.parametrize("entry", HOLDS_MASKS)
def test_min_score_says_what_they_are(entry, tmp_path):
    """A finite `min_score` leaves scores of -inf out, and min_score=-inf ranks them last."""
    for least, expected in {0.0: [0.5, 0.5], -math.inf: [0.5, 1.0]}.items():
        found = ENTRY_POINTS[entry](ROWS, METRIC, {"min_score": least, "short": "pad"}, tmp_path)
        assert expected == found["score", METRIC].tolist()


@pytest.mark.parametrize("dtype", ["float32", "Float64", "double[pyarrow]", "object"])
def test_in_whatever_holds_them(dtype):
    """Scores of -inf are found in every dtype that can hold them."""
    frame = ROWS.astype({"score": dtype})
    with pytest.raises(
        RecframeError, match=r"must not be -inf, but 2 of 5 rows are -inf .* in row 1\)"
    ):
        frame.rec.recall(k=1)
    assert [1.0, math.nan, 2.0] == pytest.approx(
        frame.rec(missing="unranked").rank()["score"].tolist()[:3], nan_ok=True
    )


def test_where_the_lowest_is_best_inf_masks():
    """Scores of inf mask their rows if the lowest score is best, and -inf is then the best."""
    frame = ROWS.assign(score=-ROWS["score"])
    with pytest.raises(RecframeError, match="must not be inf, but 2 of 5 rows are inf") as refused:
        frame.rec(ascending=True).recall(k=1)
    assert "min_score" not in str(refused.value)
    rec = ROWS.rec(ascending=True)
    assert [3.0, 1.0, 2.0, 1.0, 2.0] == rec.rank()["score"].tolist()


def masked(low, dtype="float64", **columns):
    """Return rows of three users with two equal scores in each; other columns can be replaced."""
    scores = [0.9, low, 0.1, low, 0.3, low, 0.6, low]
    ids = {"user": [1, 1, 1, 2, 2, 3, 3, 3], "item": [1, 2, 3, 1, 2, 1, 2, 3]}
    frame = pd.DataFrame({**ids, "relevant": [1, 1, 0, 1, 0, 0, 1, 1], "score": scores, **columns})
    return frame.astype({"score": dtype})


@pytest.mark.parametrize("low", [-1e9, -3.4e38, float(np.finfo("float32").min), -9999.0])
@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_finite_masks_are_asked_about(entry, low, tmp_path):
    """A low score far below all others, in several users, is asked about and can be left out."""
    with pytest.raises(RecframeError) as refused:
        ENTRY_POINTS[entry](masked(low), METRIC, {"short": "pad"}, tmp_path)
    message = " ".join(str(refused.value).split())
    assert "score='score': -" in message
    assert "looks like a mask, and is in " in message
    assert "min_score=-400" in message

    nulls = masked(math.nan).rec(missing="unranked", short="pad").evaluate([METRIC])
    found = ENTRY_POINTS[entry](masked(low), METRIC, {"min_score": -400, "short": "pad"}, tmp_path)
    assert nulls["score", METRIC].to_dict() == found["score", METRIC].to_dict()


@pytest.mark.parametrize(
    "dtype", ["float32", "Float64", "double[pyarrow]", "int64", "Int64", "object"]
)
def test_finite_masks_of_every_dtype(dtype):
    """A finite mask is found in every dtype that can hold it."""
    frame = masked(-1e9).assign(score=lambda rows: rows["score"] * 10).astype({"score": dtype})
    with pytest.raises(RecframeError, match=r"-1e\+10 looks like a mask"):
        frame.rec.recall(k=1)
    assert -math.inf < frame.rec(min_score=-math.inf).mean("recall@1").iloc[0, 0]


def test_finite_masks_beside_nulls():
    """Nulls and -inf are left out before the lowest score is compared with the others."""
    frame = masked(-1e9, score=[0.9, -1e9, math.nan, -math.inf, 0.3, -1e9, 0.6, -1e9])
    with pytest.raises(RecframeError, match=r"-1e\+09 looks like a mask, and is in 3 of 8 rows"):
        frame.rec(missing="unranked").recall(k=1)


@pytest.mark.parametrize(
    "frame",
    [
        *map(masked, [0, -1, -100, -5.0]),
        masked(101, score=[101, 602] * 4),
        masked(0, score=[900, 901, 902, 900, 901, 900, 901, 999]),
        masked(-1e9).query("user == 1"),
        masked(-1e9, score=[3, -1e9, 2, 1, 2, 3, 1, 2]),
        masked(-1e9, score=[-1e9, -2e8, -1e9, -3, -1e9, -4, -5, -6]),
        masked(-1e9, score=[1.7e9, 0, 1.6e9, 0, 1.65e9, 0, 1.7e9, 0]),
    ],
)
def test_scores_that_are_no_masks(frame):
    """Small scores, scores of one user, and scores not far from others are no masks."""
    frame.rec.recall(k=1)


def test_lowest_is_best():
    """A low score is no mask if the lowest score is best, but a very high one is."""
    masked(-1e9).rec(ascending=True).recall(k=1)
    for high in (1e9, 999):
        with pytest.raises(RecframeError, match="looks like a mask, and is in 4 of 8") as refused:
            masked(high).rec(ascending=True).recall(k=1)
        assert "Set it to null, and pass missing='unranked'" in str(refused.value)


@pytest.mark.parametrize("low", [-999, -9999, -1000])
def test_marks_of_scores_that_spread(low):
    """A mark of nines, or a power of ten, is asked about next to scores from 3 to 8 too."""
    scores = [8.1, low, 3.2, low, 5.5, low, 4.0, low]
    with pytest.raises(RecframeError, match=f"{low} looks like a mask") as refused:
        masked(low, score=scores).rec.recall(k=1)
    least = refused.value.answers["min_score"]
    assert low < least < 3.2
    rows = masked(low, score=scores)
    rows.replace({low: -407.5}).rec.recall(k=1)  # no number that marks rows


@pytest.mark.parametrize("entry", ["frame", "Arrow", "Polars", "parquet", "csv", "Dask"])
@pytest.mark.parametrize("mark", [-1, 0])
def test_marks_of_ranks(entry, mark, tmp_path):
    """A rank of -1, or 0 for several rows of a user, would be the best, and is asked about."""
    ranks = [1, mark, mark, mark, 1, 1, mark, 2]
    rows = masked(0, score=ranks).rename(columns={"score": "rank"})
    options = {"score": "rank", "ascending": True, "short": "pad"}
    with pytest.raises(RecframeError) as refused:
        ENTRY_POINTS[entry](rows, METRIC, options, tmp_path)
    said = " ".join(str(refused.value).split())
    assert f"score='rank': {mark} is in " in said
    assert "rows, and would be the first rank of all" in said
    for name, ranks in {
        "rank": [1, 2, 0, 0, 1, 0, 1, 2],  # from 0 on
        "item_rank": [0, 2, 0, 0, 1, 0, 0, 2],  # with ties at 0
        "ranking_loss": [0.5, 0, 0, 0, 0.1, 1, 0, 0],
        "rank_change": [1, -1, 0, 0, -1, 1, 0, 2],
    }.items():
        frame = rows.assign(**{name: ranks}).drop(columns={"rank"} - {name})
        ENTRY_POINTS[entry](frame, METRIC, options | {"score": name}, tmp_path)


def test_from_topk_refuses_scores_that_are_not_known():
    """from_topk refuses a NaN score of an item, and ignores one of no item."""
    items, scores = [[1, 2], [3, -1]], [[0.9, 0.5], [0.4, math.nan]]
    assert [1, 2, 3] == recframe.from_topk(items, scores=scores)["item"].tolist()
    with pytest.raises(RecframeError, match=r"scores must not be NaN, but 1 are. Pass np\.where"):
        recframe.from_topk([[1, 2], [3, 4]], scores=scores)


def test_constructors_leave_them_out():
    """from_matrix and from_topk make no row of a cell with -inf."""
    scores = [[0.9, -math.inf, 0.1], [-math.inf, -math.inf, 0.3]]
    matrix = recframe.from_matrix(scores)
    order = np.argsort(-np.array(scores), kind="stable")
    topk = recframe.from_topk(order, scores=np.take_along_axis(np.array(scores), order, axis=1))

    expected = {(0, 0): 0.9, (0, 2): 0.1, (1, 2): 0.3}
    for frame in (matrix, topk):
        assert expected == frame.set_index(["user", "item"])["score"].to_dict()


def test_describe_counts_them_as_nulls():
    """`describe` counts scores of -inf among the nulls."""
    assert 2 == ROWS.rec.describe(1).loc["null scores", "score"]


def test_trec_ranks_them(tmp_path, capsys):
    """`recframe trec` ranks scores of -inf last, as trec_eval does."""
    (tmp_path / "qrels").write_text("1 0 a 0\n1 0 b 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 -inf x\n1 Q0 b 2 -1 x\n")
    paths = [str(tmp_path / "qrels"), str(tmp_path / "run")]

    assert 0 == main(["trec", *paths, "--metric", "reciprocal_rank", "--format", "csv"])
    assert "run,1.0\n" in capsys.readouterr().out
