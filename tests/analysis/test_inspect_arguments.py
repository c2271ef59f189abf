"""df.rec.inspect shows the label columns, metrics and number of rows that the call asks for."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest

import recframe
import recframe.dask
import recframe.polars
from recframe.errors import MissingColumnError

METRICS = ["ndcg@3", "judged@3", "bpref", "dcg@3", "mrr", "mean(price)@2"]
BOUND = {"relevant": "rating", "min_relevance": 2, "short": "pad"}


@pytest.fixture
def frame():
    """Return rows of two models, where two of ann's items share a title and one has none."""
    return pd.DataFrame(
        {
            "user": ["ann"] * 5 + ["bob"] * 3,
            "item": [1, 2, 3, 4, 5, 1, 2, 8],
            "title": ["A", "<b>B", "A", None, "E", "A", "<b>B", "missed"],
            "price": [1.0, 2, 3, 4, 5, 1, 2, 8],
            "a_score": [0.9, 0.8, 0.7, 0.7, 0.1, 0.9, 0.5, 0.1],
            "b_score": [0.1, 0.8, 0.7, 0.2, 0.1, 0.9, 0.5, 0.1],
        }
    )


@pytest.fixture
def truth():
    """Return grades of items listed and not listed, and of a user without a row."""
    users, items = ["ann"] * 4 + ["bob", "eve"], [2, 3, 5, 8, 2, 1]
    return pd.DataFrame({"user": users, "item": items, "rating": [0, 3, 1, 2, 2, 3]})


def engines(frame, folder):
    """Yield `rec` of every engine with these rows."""
    frame.to_parquet(folder / "rows.parquet", index=False)
    yield frame.rec
    yield recframe.scan(folder / "rows.parquet")
    yield pl.from_pandas(frame).rec
    yield dd.from_pandas(frame, npartitions=3, sort=False).rec


def test_another_column_beside_the_item(frame):
    """A label column stands after the item, empty for a null; several items may share a text."""
    shown = frame.assign(relevant=1).rec(score="a_score").inspect("ann", 4, label="title")
    table = shown.tables["a_score"]

    assert ["position", "relevant", "item", "title", "relevance", "score"] == list(table)
    assert ["A", "<b>B", "A", None, "E"] == table["title"].astype(object).replace(
        {np.nan: None}
    ).tolist()
    lines = [line.split() for line in repr(shown).splitlines()]
    assert ["=3.5", "✓", "3", "A", "1", "0.7"] in lines
    assert ["=3.5", "✓", "4", "1", "0.7"] in lines
    assert "&lt;b&gt;B" in shown.to_html()


def test_several_columns(frame):
    """Several labels are shown in their order."""
    table = frame.assign(relevant=1).rec.inspect("ann", 3, ["price", "title"]).tables["b_score"]

    assert ["item", "price", "title"] == list(table)[2:5]


def test_items_of_truth_alone_have_the_column_too(frame, truth):
    """An item of truth outside the user's list has its grade, a row and a null label."""
    for rec in (frame.rec, frame.set_index("title").rec):
        table = rec(truth=truth, **BOUND).inspect("ann", 3, "title").tables["a_score"]
        assert [8, 2] == table[["item", "grade"]].iloc[-1].tolist()
        assert pd.isna(table["title"].iloc[-1])


def test_metrics_asked_for(frame, truth, tmp_path):
    """The metrics asked for have the values of `evaluate` on every engine, with truth too."""
    bound = {"truth": truth, **BOUND}
    per_user = frame.rec(**bound, population="all").evaluate(METRICS)
    expected = per_user.loc["ann"].unstack().loc[:, METRICS]  # noqa: PD010 - no label repeats
    for rec in engines(frame, tmp_path):
        shown = rec(**bound).inspect("ann", 3, "title", METRICS)
        pd.testing.assert_frame_equal(expected, shown.metrics, check_names=False)
        assert {"A", "<b>B", "E"} <= set(shown.tables["b_score"]["title"])


def test_the_caption(frame, truth):
    """The caption names each metric, with shares in percent and others as numbers."""
    text = repr(frame.rec(truth=truth, **BOUND).inspect("ann", 3, None, METRICS))

    for line in ("nDCG@3: 15.75%", "DCG@3: 0.75", "mrr: 29.17%", "mean(price)@2: 1.5"):
        assert line in text.splitlines()


def test_a_user_of_truth_alone(frame, truth):
    """A user of truth without a row has the metrics of an empty list."""
    shown = frame.rec(truth=truth, **BOUND).inspect("eve", 3, "title", ["ndcg@3", "recall@3"])

    assert [[0.0, 0.0]] * 2 == shown.metrics.to_numpy().tolist()
    assert [True] == shown.tables["a_score"]["title"].isna().tolist()


def test_a_user_of_truth_alone_with_nothing_relevant(frame, truth):
    """A user without a row and without gain has no nDCG, even if other users have gain."""
    added = pd.DataFrame({"user": ["zoe"], "item": [1], "rating": [0]})
    truth = pd.concat([truth, added], ignore_index=True)
    shown = frame.rec(truth=truth, **BOUND).inspect("zoe", 3, None, ["ndcg@3", "judged@3"])

    assert [[None, 0.0]] * 2 == shown.metrics.astype(object).replace(
        {np.nan: None}
    ).to_numpy().tolist()


def test_only_a_column_is_averaged(frame):
    """Relevance is shown also if no metric asked for reads it."""
    shown = frame.assign(relevant=1).rec.inspect("ann", 2, metrics="mean(price)@2")

    assert [1.5, 2.5] == shown.metrics["mean(price)@2"].tolist()
    assert shown.tables["a_score"]["relevant"].all()


def test_ten_by_default():
    """The default cut-off is 10, as in every method."""
    frame = pd.DataFrame({"user": 1, "score": range(20), "relevant": 1})

    assert ["precision@10", "recall@10", "r_precision"] == list(frame.rec.inspect(1).metrics)


def test_refused(frame):
    """A label must be a column that no role uses, and a metric must exist."""
    rec = frame.assign(relevant=1, grade=1).rec
    with pytest.raises(MissingColumnError, match=r"label='titel'.*did you mean 'title'\?"):
        rec.inspect("ann", 3, "titel")
    with pytest.raises(recframe.RecframeError, match="label='grade': the rows have a column of"):
        rec.inspect("ann", 3, "grade")
    with pytest.raises(recframe.RecframeError, match="nothing@3"):
        rec.inspect("ann", 3, metrics=["nothing@3"])
