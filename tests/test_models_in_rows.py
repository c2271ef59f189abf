"""Option `model`: a column that varies in a user's rows makes several rankings in one frame."""

import re

import pandas as pd
import pytest

from entry_points import ENTRY_POINTS
from recframe import RecframeError

METRIC = "recall@1"
ROWS = pd.DataFrame(
    {
        "user": [1, 1, 2, 2],
        "item": [1, 2, 1, 2],
        "model": ["a", "b", "a", "a"],
        "score": [0.9, 0.5, 0.4, 0.1],
        "relevant": [1, 0, 1, 1],
    }
)


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_it_is_refused(entry, tmp_path):
    """A column of models is refused with the number of users, two values and both choices."""
    with pytest.raises(RecframeError) as refused:
        ENTRY_POINTS[entry](ROWS, METRIC, {}, tmp_path)
    message = re.sub(r"\s+", " ", str(refused.value))

    assert "the column 'model' has several values in the rows of 1 of " in message
    assert "'a' and 'b' for user 1" in message
    assert "model='model'" in message or "--model model" in message
    assert "model=None" in message or "--no-model" in message


@pytest.mark.parametrize("entry", [entry for entry in ENTRY_POINTS if entry != "command line"])
def test_both_choices(entry, tmp_path):
    """Each model can be a ranking by itself, or the column can be ignored with model=None."""
    apart = {"user": ["model", "user"]}
    table = ENTRY_POINTS[entry](ROWS, METRIC, apart, tmp_path)
    assert [("a", 1), ("a", 2), ("b", 1)] == table.index.tolist()

    table = ENTRY_POINTS[entry](ROWS, METRIC, {"model": None}, tmp_path)
    assert [1.0, 0.5] == table["score", METRIC].tolist()


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_one_model_for_each_user(entry, tmp_path):
    """A column that is constant for each user, also null, is no column of models."""
    for values in (["b", "b", "a", "a"], [1, 1, 2, 2], ["a", "a", None, None]):
        table = ENTRY_POINTS[entry](ROWS.assign(model=values), METRIC, {}, tmp_path)
        assert [1.0, 0.5] == table["score", METRIC].tolist()


@pytest.mark.parametrize("name", ["Model", "run", "system", "retriever", "algorithm", "variant"])
def test_names(name):
    """Names of models are compared like names of roles, and a column with a role is not one."""
    frame = ROWS.rename(columns={"model": name})
    with pytest.raises(RecframeError, match=f"the column '{name}' has several values"):
        frame.rec.evaluate(METRIC)
    assert [1.0, 0.5] == frame.rec(item=name, duplicates="keep").recall(k=1)["score"].tolist()
    assert [1.0, 0.5] == frame.rename(columns={name: "arm"}).rec.recall(k=1)["score"].tolist()


def test_a_null_beside_a_name_is_another():
    """A null next to a name counts as another model, also in a single ranking of all rows."""
    frame = ROWS.assign(model=["a", None, "a", "a"])
    with pytest.raises(
        RecframeError, match=r"1 of 2 users \(such as 'a' and (None|nan) for user 1\)"
    ):
        frame.rec.recall(k=1)
    with pytest.raises(RecframeError, match=r"pass user='model' to evaluate"):
        frame.rec(user=None, duplicates="keep").recall(k=1)


def test_null_categories_are_no_model():
    """A null category in a named column of models is refused."""
    models = pd.Categorical(["a", None, "b", "b"])
    with pytest.raises(RecframeError, match="model='model': must not be null"):
        ROWS.assign(model=models).rec(model="model").recall(k=1)


@pytest.mark.parametrize(
    "method", ["mean", "rank", "top", "summary", "bounds", "catalogue", "judge"]
)
def test_every_method_refuses(method):
    """Every method that ranks refuses models in rows, and `describe` shows them."""
    truth = {"truth": ROWS[["user", "item"]]} if method == "judge" else {}
    with pytest.raises(RecframeError, match="pass model=None"):
        getattr(ROWS.rec(**truth), method)()
    assert 4 == ROWS.rec.describe(k=1).loc["rows", "score"]


def test_repeated_pairs():
    """Repeated pairs are refused before models, with a call that also answers about models."""
    frame = ROWS.assign(item=[1, 1, 1, 2])
    with pytest.raises(RecframeError, match=r"or duplicates='keep', model=None to count every row"):
        frame.rec.recall(k=1)
    assert [1.0, 0.5] == frame.rec(duplicates="keep", model=None).recall(k=1)["score"].tolist()
    with pytest.raises(RecframeError, match="the column 'model' has several values"):
        frame.rec(duplicates="keep").recall(k=1)


def test_lists_are_no_models():
    """A column of lists tells no models apart."""
    frame = ROWS.assign(model=[[1], [2], [1], [1]])
    assert [1.0, 0.5] == frame.rec.recall(k=1)["score"].tolist()
