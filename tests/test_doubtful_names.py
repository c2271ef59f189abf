"""Names of columns that may mean something else, which are asked for on every door."""

import re

import pandas as pd
import pytest

from doors import DOORS
from recframe import RecframeError

METRIC = "recall@1"
ROWS = {"item": [1, 2, 1], "score": [0.9, 0.5, 0.1], "relevant": [1, 0, 1]}
IDS = [1, 1, 2]
OPTIONS = {"duplicates": "keep"}


def refusal(door, frame, folder, **options):
    """Return what a door says of a frame that it refuses."""
    with pytest.raises(RecframeError) as refused:
        DOORS[door](frame, METRIC, {**OPTIONS, **options}, folder)
    return re.sub(r"\s+", " ", str(refused.value))


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("weak", "likelier"),
    [("topic", "student"), ("session_id", "cust_id"), ("question", "reader"), ("object", "Usr")],
)
def test_a_weak_name_beside_a_likelier_one(door, weak, likelier, tmp_path):
    """Both are named, and the likelier one is suggested; either may be passed."""
    frame = pd.DataFrame({weak: IDS, likelier: IDS, **ROWS})
    message = refusal(door, frame, tmp_path)

    assert f"user: 2 columns could be it, {weak!r}, {likelier!r}" in message
    assert f"user='{likelier}'" in message.replace("--user ", "user=").replace(
        f"user={likelier}", f"user='{likelier}'"
    )
    for user in (weak, likelier):
        table = DOORS[door](frame, METRIC, {**OPTIONS, "user": user}, tmp_path)
        assert user == table.index.name


def test_a_weak_name_beside_others():
    """A text of queries, a fraction or a name of another role is not likelier."""
    rows = {"query": IDS, "query_text": "a", "user_rate": 0.5, "user_score": 0.5, **ROWS}
    assert "query" == pd.DataFrame(rows).rec(score="score").recall(k=1).index.name


def test_a_likelier_name_alone():
    """It is asked for as before, though another column of a weak name is taken."""
    frame = pd.DataFrame({"question": IDS, "student": IDS, **ROWS}).drop(columns="item")
    with pytest.raises(RecframeError, match="user and item are the same column, 'question'"):
        frame.rec(item="question").recall(k=1)


@pytest.mark.parametrize("door", DOORS)
def test_a_prediction_beside_a_probability(door, tmp_path):
    """A class is not ranked by where its probability is there."""
    frame = pd.DataFrame({"user": IDS, **ROWS}).rename(columns={"score": "probability"})
    frame.insert(0, "prediction", [1, 1, 0])
    message = refusal(door, frame, tmp_path)

    assert "'prediction', 'probability', but 'prediction' may be no model" in message
    assert re.search("score[= ]'?probability", message)
    with pytest.raises(RecframeError, match="score: no column found"):
        frame.drop(columns="relevant").rec(relevant="prediction").recall(k=1)


@pytest.mark.parametrize("door", DOORS)
def test_statistics_of_scores(door, tmp_path):
    """They are no models beside a score, and not suggested as one without."""
    names = ["n_scores", "std_score", "score_variance", "score_upper", "lower_score", "ScoreStd"]
    frame = pd.DataFrame({"user": IDS, **ROWS, **dict.fromkeys(names, 0.5)})
    table = DOORS[door](frame, METRIC, OPTIONS, tmp_path)

    assert ["score"] == table.columns.unique("score").tolist()
    message = refusal(door, frame.drop(columns="score"), tmp_path)
    assert "score: no column found" in message
    assert not any(f"score={name!r}" in message for name in names)
