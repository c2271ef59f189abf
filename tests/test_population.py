"""Option `population` decides which users count if frame and truth have different users."""

import re

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recframe
from entry_points import ENTRY_POINTS
from recframe import RecframeError

METRIC = "recall@2"
OPTIONS = {"short": "pad", "zero_division": 0.0}


@st.composite
def sides(draw):
    """Return a frame and truth that share a pair; each may have users that the other lacks."""
    users, items = st.integers(1, 6), st.integers(1, 4)
    rows = draw(st.lists(st.tuples(users, items), unique=True, min_size=1, max_size=14))
    pairs = draw(st.lists(st.tuples(users, items), unique=True, max_size=10))
    frame = pd.DataFrame(rows, columns=["user", "item"])
    frame["score"] = draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    return frame, pd.DataFrame([*{*pairs, rows[0]}], columns=["user", "item"])


@pytest.mark.parametrize("entry", ENTRY_POINTS)
@settings(max_examples=15)
@given(sides(), st.sampled_from(["raise", "both", "truth", "rows", "all"]))
def test_users_of_each_choice(entry, tmp_path_factory, frames, population):
    """`population` alone decides who counts, and each user's value stays the same."""
    frame, truth = frames
    rows, true = set(frame["user"]), set(truth["user"])
    users = {"both": rows & true, "truth": true, "rows": rows, "all": rows | true, "raise": rows}
    options = {"truth": truth, **OPTIONS}
    folder = tmp_path_factory.mktemp("entry")
    if population == "raise" and rows != true:
        with pytest.raises(RecframeError, match=f": {len(rows & true)} in both"):
            ENTRY_POINTS[entry](frame, METRIC, options, folder)
        return
    every = frame.rec(**options, population="all").recall(k=2)["score"]
    table = ENTRY_POINTS[entry](frame, METRIC, options | {"population": population}, folder)

    expected = every[every.index.isin(users[population])]
    assert expected.to_dict() == table["score", METRIC].to_dict()


RECS = pd.DataFrame({"user": [1, 1, 2, 3], "item": [1, 2, 1, 1], "score": [2, 1, 1, 1]})
TEST = pd.DataFrame({"user": [1, 1, 5, 7], "item": [1, 3, 1, 1]})


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_the_refusal(entry, tmp_path):
    """The refusal counts the users that only one table has, names one, and lists the choices."""
    with pytest.raises(RecframeError) as refused:
        ENTRY_POINTS[entry](RECS, METRIC, {"truth": TEST, **OPTIONS}, tmp_path)
    message = " ".join(str(refused.value).split())

    found = r"1 in both, 2 only in the frame \(such as [23]\) and 2 only in truth \(such as [57]\)"
    assert re.search(found, message)
    choices = re.findall(r"population='(\w+)", message)
    assert ["both", "truth", "rows", "all"] == choices


def test_one_side_alone():
    """The refusal names only the table that has users which the other lacks."""
    with pytest.raises(RecframeError, match=r"1 in both, 2 only in the frame \(such as 2\)."):
        RECS.rec(truth=TEST[:2]).recall(k=1)
    with pytest.raises(RecframeError, match=r"1 in both, 2 only in truth \(such as 5\)."):
        RECS[:2].rec(truth=TEST).recall(k=1)


@pytest.mark.parametrize("population", ["raise", "both", "truth", "rows", "all"])
def test_what_shows_rows_never_refuses(population):
    """`rank`, `top`, `inspect`, `describe` and `judge` work under every `population`."""
    rec = RECS.rec(truth=TEST, population=population)

    assert [1, 2, 1, 1] == rec.rank()["score"].tolist()
    assert 3 == len(rec.top(1))
    assert 1 == len(rec.inspect(3, k=1).tables["score"])
    described = rec.describe(1)["score"]
    assert [2, 2] == described[["users only in the frame", "users only in truth"]].tolist()
    users = {"both": 1, "truth": 3, "rows": 3, "all": 5, "raise": 5}
    assert users[population] == described["users"]
    judged = rec.judge()
    assert {"both": {1}, "truth": {1, 5, 7}, "rows": {1, 2, 3}}.get(
        population, {1, 2, 3, 5, 7}
    ) == set(judged["user"])


def test_rows_that_leave_take_their_user_along():
    """A user whose rows `exclude`, `unjudged` or `missing` all remove is not in the frame."""
    gone = {
        "exclude": pd.DataFrame({"user": [2], "item": [1]}),
        "unjudged": "drop",
        "missing": "drop",
    }
    frame = RECS[:3].assign(score=[2, 1, None])
    for name, value in gone.items():
        options = {"truth": TEST[:2], name: value, "missing": "unranked"} | {name: value}
        assert [1] == frame.rec(**options).recall(k=1).index.tolist()
    with pytest.raises(RecframeError, match="1 only in the frame"):
        frame.rec(truth=TEST[:2], missing="unranked").recall(k=1)


def test_scores_share_one_population():
    """A user whom one model does not rank has an empty list for it."""
    frame = RECS[:3].assign(other_score=[None, None, 1])
    truth = pd.DataFrame({"user": [1, 2], "item": [1, 1]})
    table = frame.rec(truth=truth, missing="unranked").recall(k=1)

    assert [[1.0, 0.0], [1.0, 1.0]] == table.to_numpy().tolist()


def test_users_of_any_judged_item_are_in_truth():
    """A user with irrelevant items only is in truth, with R = 0."""
    truth = TEST[:2].assign(user=[1, 2], relevant=[1, 0])
    table = RECS[:3].rec(truth=truth, zero_division=0.0).recall(k=1)

    assert {1: 1.0, 2: 0.0} == table["score"].to_dict()


def test_one_ranking():
    """A single ranking has no users that could differ."""
    truth = pd.DataFrame({"item": [1]})
    assert 1.0 == RECS[:2].rec(user=None, truth=truth).recall(k=1).iloc[0, 0]


def test_a_choice_of_another_name():
    """An unknown population is refused with the choices."""
    with pytest.raises(RecframeError, match="population must be one of 'raise', 'both', 'truth'"):
        recframe.evaluate(RECS, METRIC, truth=TEST, population="inner")
