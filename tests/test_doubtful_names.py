"""Columns whose names may mean something else are asked about at every entry point."""

import re

import pandas as pd
import pytest

from entry_points import ENTRY_POINTS
from recframe import RecframeError

METRIC = "recall@1"
ROWS = {"item": [1, 2, 1], "score": [0.9, 0.5, 0.1], "relevant": [1, 0, 1]}
IDS = [1, 1, 2]
OPTIONS = {"duplicates": "keep"}


def refusal(entry, frame, folder, **options):
    """Return the message of an entry point for a frame that it refuses."""
    with pytest.raises(RecframeError) as refused:
        ENTRY_POINTS[entry](frame, METRIC, {**OPTIONS, **options}, folder)
    return re.sub(r"\s+", " ", str(refused.value))


def test_a_weak_name_beside_others():
    """Texts of queries, fractions and names of other roles do not compete with a likelier name."""
    rows = {"query": IDS, "query_text": "a", "user_rate": 0.5, "user_score": 0.5, **ROWS}
    assert "query" == pd.DataFrame(rows).rec(score="score").recall(k=1).index.name


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_statistics_of_scores(entry, tmp_path):
    """Statistics of scores are no models, and are not suggested as scores."""
    names = ["n_scores", "std_score", "score_variance", "score_upper", "lower_score", "ScoreStd"]
    frame = pd.DataFrame({"user": IDS, **ROWS, **dict.fromkeys(names, 0.5)})
    table = ENTRY_POINTS[entry](frame, METRIC, OPTIONS, tmp_path)

    assert ["score"] == table.columns.unique("score").tolist()
    message = refusal(entry, frame.drop(columns="score"), tmp_path)
    assert "score: no column found" in message
    assert not any(f"score={name!r}" in message for name in names)
