"""df.rec.rank returns the position of every row, and df.rec.top the first rows of every user."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from recframe import RecframeError

ROWS = strategies.rows(scores="ratings", nulls=("score",), min_rows=1)


def position(rows, row, ties):
    """Return the first and the mean position that a row shares with its ties."""

    def key(at):
        _, score, relevant = rows[at]
        return -score, {"first": at, "last": -at, "best": not relevant, "worst": relevant}.get(ties)

    keys = [key(at) for at, (user, score, _) in enumerate(rows) if user == rows[row][0] and score]
    n_above = sum(other[0] < key(row)[0] for other in keys)
    if ties != "expected":
        n_above = sum(other < key(row) for other in keys)
    return n_above + 1, n_above + (keys.count(key(row)) + 1) / 2


@given(ROWS, st.sampled_from(strategies.TIES), st.sampled_from([1, 2, 4]))
def test_positions_are_those_counted_one_by_one(rows, ties, k):
    """Positions equal a count row by row; `top` keeps the rows whose first position is within k."""
    frame = strategies.frame(rows, scores="ratings").set_index(np.arange(len(rows)) * 7)
    ours = frame.rec(ties=ties, missing="unranked")
    positions = {
        row * 7: position(rows, row, ties) for row in range(len(rows)) if rows[row][1] is not None
    }
    ranks, top = ours.rank(), ours.top(k=k)
    expected = [positions.get(row, (0, math.nan))[1] for row in frame.index]
    chosen = sorted(
        (rows[row // 7][0], first, row) for row, (first, _) in positions.items() if first <= k
    )

    assert (["score"], "score") == (ranks.columns.tolist(), ranks.columns.name)
    np.testing.assert_array_equal(expected, ranks["score"])
    assert frame.index.tolist() == ranks.index.tolist()
    assert [row for *_, row in chosen] == top.index.tolist()
    assert [positions[row][1] for *_, row in chosen] == top["rank"].tolist()
    rows = top.drop(columns="rank")
    pd.testing.assert_frame_equal(frame.loc[top.index], rows, check_frame_type=False)


@pytest.fixture
def two():
    """Return one user with two scores, the second one a distance."""
    rows = {"item": list("abc"), "model_score": [3, 1, 2], "far_score": [0.3, 0.1, 0.2]}
    return pd.DataFrame({"user": 1, **rows})


def test_scores_side_by_side(two):
    """Each score column has positions in the direction of this column."""
    ranks = two.rec(ascending=[False, True]).rank()

    assert ["model_score", "far_score"] == ranks.columns.tolist()
    assert [[1, 3], [3, 1], [2, 2]] == ranks.to_numpy().tolist()
    ours = two.rec(ascending=[False, True])
    assert ["a", "c"] == ours.top(k=2, score="model_score")["item"].tolist()
    assert ["b", "c"] == ours.top(k=2, score="far_score")["item"].tolist()
    assert ["b", "c"] == two.rec(ascending=True).top(k=2, score="far_score")["item"].tolist()


@given(
    strategies.rows(scores="ratings", nulls=("score",), min_rows=1),
    st.sampled_from(strategies.TIES),
    st.integers(0, 9),
)
def test_the_top_of_several_scores(rows, ties, seed):
    """`top` of two scores has one list for each score, sorted by user and then by score."""
    frame = strategies.frame(rows, scores="ratings").set_index(np.arange(len(rows)) * 7)
    frame["b_score"] = np.random.default_rng(seed).integers(0, 3, len(frame))
    ours = frame.rec(ties=ties, missing="unranked")
    top = ours.top(k=2)

    assert [*frame.columns, "ranked_by", "rank"] == top.columns.tolist()
    for score in ("score", "b_score"):
        of_score = top[top["ranked_by"] == score].drop(columns="ranked_by")
        pd.testing.assert_frame_equal(ours.top(k=2, score=score), of_score)
    keys = list(zip(top["user"], top["ranked_by"] == "b_score", top["rank"], strict=True))
    assert keys == sorted(keys)


@pytest.mark.parametrize("labels", [[0, 1], [("m", 1), ("m", 2)], ["a", 2]])
def test_labels_of_any_kind_are_ranked_by(labels):
    """The column `ranked_by` has the labels themselves."""
    columns = pd.Index(["user", *labels], tupleize_cols=False)
    frame = pd.DataFrame([[1, 2, 1], [1, 1, 2]], columns=columns)
    top = frame.rec(user="user", score=labels).top(1)

    assert labels == top["ranked_by"].tolist()
    assert [0, 1] == top.index.tolist()


def test_columns_of_several_levels():
    """The added labels stand in the first level of the columns."""
    columns = pd.MultiIndex.from_tuples([("user", ""), ("a", "score"), ("b", "score")])
    frame = pd.DataFrame([[1, 2, 1], [1, 1, 2]], columns=columns)
    scores = [("a", "score"), ("b", "score")]
    top = frame.rec(user=("user", ""), score=scores).top(1)

    assert scores == top["ranked_by", ""].tolist()
    assert [1.0, 1.0] == top["rank", ""].tolist()


def test_refusals(two):
    """A score needs a known direction, and the added columns need free names."""
    for frame, options, score, message in (
        (two.assign(ranked_by=1), {}, None, "a column 'ranked_by', which the frame has. Rename"),
        (two.assign(rank=1), {"score": ["model_score", "far_score"]}, None, "a column 'rank', wh"),
        (two.assign(rank=1), {}, "far_score", "a column 'rank', which the frame has"),
        (
            two.assign(x=1),
            {"ascending": [False, True]},
            "x",
            r"ascending=\[False, True\] is for the score columns .*, not score=",
        ),
    ):
        with pytest.raises(RecframeError, match=message):
            frame.rec(**options).top(score=score)


@pytest.mark.parametrize("ties", ["expected", "first", "last"])
def test_relevance_is_read_only_where_it_decides(two, ties):
    """Truth and relevance are read only under ties="best" and ties="worst"."""
    frame, truth = two.assign(relevant="?"), pd.DataFrame({"no": ["such column"]})

    assert ["a", "c", "b"] == frame.rec(ties=ties).top(score="model_score")["item"].tolist()
    assert 3 == len(two.rec(ties=ties, truth=truth).rank())
    for rule in ("best", "worst"):
        with pytest.raises(RecframeError, match="relevant"):
            frame.rec(ties=rule).rank()
        with pytest.raises(RecframeError, match="truth"):
            two.rec(ties=rule, truth=truth).rank()
