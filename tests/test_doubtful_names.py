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


def test_a_weak_name_beside_others():
    """A text of queries, a fraction or a name of another role is not likelier."""
    rows = {"query": IDS, "query_text": "a", "user_rate": 0.5, "user_score": 0.5, **ROWS}
    assert "query" == pd.DataFrame(rows).rec(score="score").recall(k=1).index.name


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
