"""A score of 0 and 1 next to a probability is a class, and recframe asks which of them ranks."""

import random
import string

import numpy as np
import pandas as pd
import pytest

from entry_points import ENTRY_POINTS
from recframe import RecframeError

METRIC = "precision@1"
RANDOM = "".join(random.Random(110).choices(string.ascii_lowercase, k=7))
ROWS = pd.DataFrame(
    {
        "user": np.repeat([1, 2], 3),
        "item": [1, 2, 3] * 2,
        "prediction": [1, 1, 0] * 2,
        RANDOM: [0.2, 0.9, 0.1] * 2,
        "relevant": [0, 1, 0] * 2,
    }
)


@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("entry", [entry for entry in ENTRY_POINTS if entry != "Dask"])
def test_they_are_asked_about(entry, dtype, tmp_path):
    """A class next to a probability is asked about, and the named score ranks."""
    rows = ROWS.astype({"prediction": dtype})
    with pytest.raises(RecframeError) as refused:
        ENTRY_POINTS[entry](rows, METRIC, {}, tmp_path)
    message = " ".join(str(refused.value).split())
    assert f"'prediction' holds 0 and 1 alone, as classes do, and '{RANDOM}' fractions" in message
    for score, value in ((RANDOM, 1.0), ("prediction", 0.5)):
        table = ENTRY_POINTS[entry](rows, METRIC, {"score": score}, tmp_path)
        assert [value] * 2 == table[score, METRIC].tolist()


def test_the_answer_runs():
    """The answer to the question runs, and booleans are asked about too."""
    predictions = ROWS["prediction"]
    for values in (predictions, predictions == 1, 2 * predictions - 1):
        rows = ROWS.assign(prediction=values)
        with pytest.raises(RecframeError, match="as classes do") as refused:
            rows.rec.mean(METRIC)
        assert [RANDOM, "prediction"] == refused.value.answers["score"].candidates
        assert 1.0 == rows.rec(score=RANDOM).mean(METRIC).loc[RANDOM, METRIC]


@pytest.mark.parametrize(
    "others",
    [
        {RANDOM: [0.25, 2.5, -1.5] * 2},
        {RANDOM: [0.25, 0.75, 0.5] * 2, "other": [0.75, 0.25, 0.5] * 2},
        {RANDOM: [-0.25, -0.05, -2.5] * 2, "price": [2.5, 9.99, 5.0] * 2},
    ],
    ids=["logits", "a probability for each class", "log probabilities next to a price"],
)
def test_all_fractions_are_candidates(others):
    """Logits rank like probabilities, and each column of fractions is a candidate."""
    with pytest.raises(RecframeError, match="as classes do") as refused:
        ROWS.assign(**others).rec.mean(METRIC)
    fractions = [name for name in others if name != "price"]
    assert [*fractions, "prediction"] == refused.value.answers["score"].candidates


@pytest.mark.parametrize("name", ["probability", "rawPrediction"])
def test_vectors_of_classes(name):
    """Spark's vectors next to a class are asked about, and the suggested score ranks."""
    vectors = ROWS[RANDOM].map(lambda one: [1 - one, one])
    rows = ROWS.drop(columns=RANDOM).assign(**{name: vectors})
    with pytest.raises(RecframeError, match=f"'{name}' a number of each class") as refused:
        rows.rec.mean(METRIC)
    call = str(refused.value).split("Pass ")[1].split(" with score=")[0]
    ranked = eval(call, {"df": rows}).rec(score="score")
    assert 1.0 == ranked.mean(METRIC).loc["score", METRIC]
    assert 0.5 == rows.rec(score="prediction").mean(METRIC).loc["prediction", METRIC]


def test_no_question():
    """No fractions, a time, a single class, and a score that is no class are not asked about."""
    others = [
        {RANDOM: [1.0, 0.0, 1.0] * 2},
        {RANDOM: [3.0, 5.0, 4.0] * 2},
        {"prediction": [1, 1, 0.5] * 2},
        {"prediction": [1, 1, 1] * 2},
    ]
    names = [ROWS.assign(**other).rec.mean(METRIC).index.item() for other in others]
    names.append(ROWS.rename(columns={RANDOM: "timestamp"}).rec.mean(METRIC).index.item())
    assert ["prediction"] * 5 == names


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize("decided", ["user", "item", "few"])
def test_what_users_or_items_decide_is_no_probability(decided):
    """A share for each item or user, or a discount of three values, is no probability."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"user": np.repeat(range(20), 10), "item": np.tile(range(10), 20)})
    rows["prediction"], rows["relevant"] = rng.integers(0, 2, (2, 200))
    of = rng.random(200)
    shares = {
        "user": of[rows["user"]],
        "item": of[rows["item"]],
        "few": rng.choice([0, 0.1, 0.2], 200),
    }
    assert ["prediction"] == rows.assign(ctr=shares[decided]).rec.mean(METRIC).index.tolist()
    with pytest.raises(RecframeError, match="as classes do"):
        rows.assign(ctr=of).rec.mean(METRIC)


@pytest.mark.parametrize("names", [("proba_0", "proba_1"), ("p_true", "p_false"), ("p0", "p1")])
def test_the_positive_class_is_offered_first(names):
    """The positive class is the first candidate of two probabilities that sum to 1."""
    values = np.array([0.25, 0.75, 0.5] * 2)
    rows = ROWS[["user", "item", "relevant"]].assign(**{names[0]: values, names[1]: 1 - values})
    ordered = sorted(names, key=lambda name: name[-1] not in "1e" or "false" in name)
    for frame in (rows, rows.assign(prediction=[1, 1, 0] * 2)):
        with pytest.raises(RecframeError) as refused:
            frame.rec.mean(METRIC)
        assert ordered == refused.value.answers["score"].candidates[:2]


def test_the_probability_of_the_class_of_each_row():
    """PyCaret's score of a row's own class is refused with the line that ranks by class 1."""
    rows = ROWS.drop(columns=["prediction", RANDOM])
    rows = rows.assign(prediction_label=[1, 0, 0] * 2, prediction_score=[0.6, 0.9, 0.7] * 2)
    with pytest.raises(RecframeError, match=r"at least 0\.5 in each row.* np\.where\(df\['pred"):
        rows.rec.mean(METRIC)
    for other in (
        {"prediction_score": [0.6, 0.1, 0.3] * 2},
        {"prediction_label": 1},
    ):
        assert ["prediction_score"] == rows.assign(**other).rec.mean(METRIC).index.tolist()
    assert [1.0] == rows.rec(score="prediction_score").mean(METRIC)[METRIC].tolist()
