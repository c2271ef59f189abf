"""The judged frame has the rows with truth's relevance, and the rows that truth adds."""

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe import RecframeError
from recframe.frames.companions import judge_frame
from recframe.options import Options


def test_judge_by_hand(recs, test):
    """The judged frame has the frame's rows in order, then truth's items not listed."""
    judged = recs.set_axis(list("vwxyz")).rec.judge(test)

    assert list(range(8)) == judged.index.tolist()
    assert ["user", "item", "score", "relevant"] == judged.columns.tolist()
    pd.testing.assert_frame_equal(recs, judged.iloc[:5, :3])
    assert [True, False, False, True, False, True, True, True] == judged["relevant"].tolist()
    added = judged.iloc[5:].sort_values(["user", "item"])
    assert [("ann", 8), ("ann", 9), ("cat", 1)] == list(
        added[["user", "item"]].itertuples(index=False, name=None)
    )
    assert added["score"].isna().all()
    assert 7 == len(recs.rec(population="rows").judge(test))
    pd.testing.assert_frame_equal(judged, recs.rec(truth=test).judge())


def test_judge_reads_lists_of_truth(recs, test):
    """Lists of items in truth give the same judged frame as rows, wherever truth is passed."""
    lists = test.groupby("user", as_index=False)["item"].agg(list)

    pd.testing.assert_frame_equal(recs.rec.judge(test), recs.rec.judge(lists))
    pd.testing.assert_frame_equal(recs.rec.judge(test), recs.rec(truth=lists).judge())


def test_judge_keeps_dtypes(recs, test):
    """Columns keep their dtypes, and integers that need a null stay exact as nullable ones."""
    frame = recs.astype({"user": "category", "item": "int32"}).assign(
        score=np.arange(2**60, 2**60 + 5), seen=True, note="x", relevant=5, weight=np.float32(1)
    )
    judged = frame.rec.judge(test[test["user"] != "cat"])
    dtypes = {"score": "Int64", "seen": "boolean", "relevant": "bool"}

    assert frame.astype(dtypes).dtypes.to_dict() == judged.dtypes.to_dict()
    assert frame["score"].tolist() == judged["score"].tolist()[:5]
    complete = pd.concat([recs[["user", "item"]], test]).drop_duplicates()
    listed = complete.assign(score=1)
    assert np.dtype("int64") == listed.rec.judge(test)["score"].dtype


def test_judge_index_levels(recs, test):
    """Ids in index levels become columns, and other levels are dropped."""
    frame = recs.assign(row=range(5)).set_index(["row", "user", "item"])

    pd.testing.assert_frame_equal(recs.rec.judge(test), frame.rec.judge(test))


def test_judge_refuses_truth_of_others(recs, test):
    """Truth that shares no user with the frame is refused."""
    with pytest.raises(recframe.RecframeError, match="no user is in both the frame and truth"):
        recs.rec.judge(test.assign(user=test["user"] + "?"))


def test_judge_needs_truth(recs):
    """Judging without truth is refused."""
    with pytest.raises(RecframeError, match="truth: judge needs it"):
        recs.rec.judge()


@pytest.mark.parametrize("population", ["all", "rows"])
def test_what_truth_adds(recs, population):
    """Truth adds relevant items not listed, and all items of absent users without relevant ones."""
    truth = pd.DataFrame(
        [
            ("ann", 2, 1),
            ("ann", 7, 0),  # A listed user gains no row that is not relevant.
            ("bob", 8, 1),
            ("bob", 8.5, 0),
            ("eve", 9, 0),
            ("cat", 1, 1),
            ("cat", 3, 0),  # An absent user with a relevant item gains no other row.
            ("dan", 4, 0),
            ("dan", 5, 0),
        ],
        columns=["user", "item", "relevant"],
    )
    added = recs.rec(population=population).judge(truth).iloc[5:]
    expected = {("bob", 8, True)}
    if population == "all":
        expected |= {("cat", 1, True), ("dan", 4, False), ("dan", 5, False)}

    assert len(expected) == len(added)
    assert expected == set(added[["user", "item", "relevant"]].itertuples(index=False, name=None))


def test_one_ranking_is_judged(recs):
    """Without a user column the frame is one ranking, and truth is a list of items."""
    judged = recs[["item", "score"]].iloc[2:4].rec(user=None).judge(pd.DataFrame({"item": [2, 5]}))

    assert [[1, 0.9, False], [2, 0.8, True]] == judged.iloc[:2].to_numpy().tolist()
    assert [5, True] == judged.iloc[2, [0, 2]].tolist()


def test_rows_left_out_are_not_judged(recs, test):
    """Rows without a score are dropped under missing="drop", and truth adds their items again."""
    recs.loc[3, "score"] = None
    judged = recs.rec(missing="drop").judge(test)

    assert [1, 3, 1, 2] == judged["item"].tolist()[:4]
    assert [True, False, False, False] == judged["relevant"].tolist()[:4]
    assert {("ann", 2), ("ann", 8), ("ann", 9), ("cat", 1)} == set(
        judged.iloc[4:, :2].itertuples(index=False, name=None)
    )


def test_truth_of_users_beyond_the_frame(recs, test):
    """Truth need not share users with a frame that is only a part of the data."""
    options = Options(truth=test.assign(user=test["user"] + "?"))
    judged = judge_frame(recs, options, is_all=False)[0]

    assert not judged["relevant"].iloc[:5].any()
    assert 10 == len(judged)
