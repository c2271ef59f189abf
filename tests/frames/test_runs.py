"""recframe.from_runs and recframe.from_groups make frames from dicts and from arrays."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
from recframe import RecframeError

BM25 = {"q1": {"d1": 14.2, "d2": 13.9}, "q2": {"d1": 11.5}, "q3": {}}
DENSE = {"q2": {"d1": 0.9}, "q1": {"d2": 0.8, "d3": 0.7}}
QRELS = {"q1": {"d1": 0, "d2": 1}, "q2": {"d1": 1}}
LABEL = [1, 0, 2, 0, 1]
PREDICTED = np.array([0.9, 0.2, 0.4, 0.8, 0.1], np.float32)


def test_one_run():
    """A run has a row for each of its scores, and a query without scores has no row."""
    frame = recframe.from_runs(BM25)

    expected = [("q1", "d1", 14.2), ("q1", "d2", 13.9), ("q2", "d1", 11.5)]
    assert expected == list(frame.itertuples(index=False, name=None))
    assert ["user", "item", "score"] == frame.columns.tolist()


RUN = st.dictionaries(
    st.integers(0, 3),
    st.dictionaries(st.integers(0, 5), st.sampled_from([0.25, 0.5, 1.0]), max_size=5),
    max_size=4,
)


@given(st.dictionaries(st.sampled_from(["bm25", "run", 7, ("x", 1)]), RUN, min_size=1))
def test_several_runs_are_merged_as_pandas_does(runs):
    """Each run is a column by its name, and the rows are an outer merge of all runs."""
    rows = [
        (user, item, str(name), score)
        for name, run in runs.items()
        for user, items in run.items()
        for item, score in items.items()
    ]
    frame = recframe.from_runs(runs)
    if not rows:
        assert frame.empty
        return
    long = pd.DataFrame(rows, columns=["user", "item", "name", "score"])
    expected = long.pivot_table(index=["user", "item"], columns="name", values="score")
    found = frame.set_index(["user", "item"]).sort_index().rename(columns=str)

    assert ["user", "item", *runs] == frame.columns.tolist()
    assert expected.columns.tolist() == sorted(found.dropna(axis=1, how="all"))
    assert expected.equals(found[expected.columns].astype(float).rename_axis(columns="name"))


def test_runs_are_read_as_they_are():
    """Runs are scores by any name, and a run has the same values alone as among others."""
    runs = {"bm25": BM25, "run": DENSE, "z score": DENSE}
    truth = recframe.truth_from(QRELS)
    options = {"truth": truth, "missing": "unranked", "population": "both", "short": "pad"}
    table = recframe.from_runs(runs).rec(**options).mean(["ndcg", "recall@1"])

    assert [*runs] == table.index.tolist()
    for name, run in runs.items():
        alone = recframe.from_runs(run).rec(**options).mean(["ndcg", "recall@1"])
        assert alone.loc["score"].tolist() == table.loc[name].tolist()
    assert [0.5, 1.0, 1.0] == table["recall@1"].tolist()


def test_nulls_of_runs_are_refused_as_others():
    """An item that a run has not ranked is a null, and nulls are refused by default."""
    frame = recframe.from_runs({"bm25": BM25, "dense": DENSE})

    with pytest.raises(RecframeError, match=r"score='bm25': must not be null.*missing='unranked'"):
        frame.rec(truth=recframe.truth_from(QRELS)).recall(k=1)


def test_scores_are_kept():
    """Integers beyond floats stay exact in a column with nulls, and others keep their dtype."""
    frame = recframe.from_runs({"a": {1: {2: 2**60 + 1, 3: 1}}, "b": {1: {2: 0.5}}})

    assert [2**60 + 1, 1] == frame["a"].tolist()
    assert [0.5] == frame["b"].dropna().tolist()
    assert "int64" == recframe.from_runs({1: {2: 2**60 + 1}})["score"].dtype


def test_columns_of_an_axis_of_scores():
    """Runs are scores, and in other frames numbers if the axis of columns is named "score"."""
    frame = recframe.from_runs({"bm25": BM25, "dense": BM25}).assign(
        label=[1, 0, 1], title="x", seen=True
    )
    assert "score     inferred   'bm25', 'dense'" in repr(frame.rec)
    assert "score     inferred   'bm25', 'dense'" in repr(frame.rename_axis(columns=None).rec)
    assert "score     given      'dense'" in repr(frame.rec(score="dense"))
    frame.attrs.clear()
    assert "score     inferred   'bm25', 'dense'" in repr(frame.rec)
    assert "score     not found" in repr(frame.rename_axis(columns=None).rec)
    texts = frame.drop(columns=["bm25", "dense"])
    assert "score     not found" in repr(texts.rec)


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        (
            [BM25],
            r"^runs must be a dict of {query: {doc: score}}, or of such runs by name, but is",
        ),
        (
            {"q1": ["d1"]},
            r"of {doc: score}, but are <class 'list'> \(query 'q1'\); recframe.from_li",
        ),
        ({"a": BM25, "b": {"q1": 0.5}}, r"^runs\['b'\]: the scores of a query must be .* 'float'"),
        ({"a": BM25, "b": [0.5]}, r"^runs\['b'\] must be a dict of {query: .* but is \[0.5\]"),
        ({"q1": {"d1": "x"}}, "^scores of runs must be numbers, but is <U1"),
        ({"a": {"q1": {"d1": True}}}, r"^scores of runs\['a'\] must be numbers, but is bool"),
        ({"q1": {None: 0.5}}, "runs must not be padded, but has 1 null, empty or -1"),
        ({None: {"d1": 0.5}}, "runs must not have a null user, but 1 of 1 are null"),
        (
            {"a": BM25, "doc_id": BM25},
            "^runs must not have the name .*, but has 'doc_id'. Rename it",
        ),
        ({None: BM25}, "^runs must not .*nor None, but has None"),
    ],
)
def test_refused_runs(runs, message):
    """Objects that are no dicts of dicts of numbers are refused, and so are reserved names."""
    with pytest.raises(RecframeError, match=message):
        recframe.from_runs(runs)


@pytest.mark.parametrize(
    "groups",
    [
        {"sizes": [3, 0, 2]},
        {"sizes": np.array([3.0, 0.0, 2.0])},
        {"ids": [0, 0, 0, 2, 2]},
        {"ids": pd.Series([0, 0, 0, 2, 2], index=[5] * 5)},
    ],
)
def test_groups(groups):
    """Sizes in order, and ids of rows, give the frame that pandas makes of the arrays."""
    frame = recframe.from_groups(PREDICTED, pd.Series(LABEL, index=[5] * 5), **groups)
    expected = pd.DataFrame({"user": [0, 0, 0, 2, 2], "relevant": LABEL, "score": PREDICTED})

    pd.testing.assert_frame_equal(expected, frame)
    ndcg = frame.rec(min_relevance=1, gain="exponential").ndcg(k=2)["score"]
    ideal = 3 + 1 / np.log2(3)
    assert np.allclose([(1 + 3 / np.log2(3)) / ideal, 1 / np.log2(3)], ndcg)


def test_several_models_of_groups():
    """Several models are score columns by their names."""
    models = {"lgbm": PREDICTED, "xgb": -PREDICTED}
    frame = recframe.from_groups(models, np.array(LABEL) > 0, ids=list("yyyxx"))

    assert [*"yyyxx"] == frame["user"].tolist()
    assert [0.5, 1.0] == frame.rec.precision(k=2)["lgbm"].tolist()
    assert [*models] == frame.rec.mean("recall@2").index.tolist()


MODELS = {
    "groups": lambda: recframe.from_groups(
        {"lgbm": PREDICTED, "xgb": -PREDICTED}, np.array(LABEL) > 0, ids=list("yyyxx")
    ),
    "runs": lambda: recframe.from_runs({"lgbm": RUN, "xgb": RUN}).assign(relevant=[1, 0, 1, 1]),
    "lists": lambda: recframe.from_lists(
        pd.DataFrame({"user": [1, 1], "model": ["lgbm", "xgb"], "items": [[7, 8], [8, 7]]}),
        model="model",
    ).assign(relevant=[1, 0]),
}
RUN = {"q1": {"d1": 3, "d2": 2}, "q2": {"d1": 1, "d3": 0}}


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_columns_added_to_models(make):
    """A column added to several models is no score, even if a call uses it."""
    frame = make().assign(price=2.5, cost=1.0, n=3, group=4)
    rec = frame.query("user == user").rec
    n_of_user = frame.groupby("user")["n"].first()

    assert ["lgbm", "xgb"] == rec.mean("precision@1").index.tolist()
    assert ["lgbm", "xgb"] == rec.mean("mean(price)@1", weights="n").index.tolist()
    assert ["lgbm", "xgb"] == rec.mean("precision@1", by="group").index.unique(1).tolist()
    assert ["lgbm", "xgb"] == rec.mean("precision@1", weights=n_of_user).index.tolist()
    assert ["lgbm", "price"] == rec(score=["lgbm", "price"]).mean("precision@1").index.tolist()
    renamed = make().rename(columns={"lgbm": "L", "xgb": "X"})
    assert ["L", "X"] == renamed.rec.mean("precision@1").index.tolist()
    assert ["xgb"] == frame.drop(columns="lgbm").rec.mean("precision@1").index.tolist()


def test_columns_that_a_call_uses_are_no_scores():
    """A column of weights, segments or averages is no score, under any name."""
    frame = pd.DataFrame({"user": [1, 1, 2], "relevant": [1, 0, 1], "a_score": [3, 2, 1]})
    frame = frame.assign(b_score=[1, 1, 2], credit_score=[5, 5, 6])

    assert ["a_score"] == frame.drop(columns="credit_score").rec.mean(
        ["precision@1", "mean(b_score)@1"]
    ).index.tolist()
    assert ["a_score", "b_score"] == frame.rec.mean("auc", weights="credit_score").index.tolist()
    by = frame.rec.summary("precision@1", by=frame["credit_score"])
    assert ["a_score", "b_score"] == by.index.unique("score").tolist()
    alone = frame[["user", "relevant", "a_score"]]
    assert ["a_score"] == alone.rec.mean("mean(a_score)@1").index.tolist()


def test_groups_of_series_with_different_indexes():
    """Series with different indexes are refused, and arrays are paired by position."""
    label = pd.Series(LABEL)
    for shuffled in (label[::-1], label.set_axis([5, 6, 7, 8, 9])):
        with pytest.raises(RecframeError, match="'relevant' and 'score' are Series with diff"):
            recframe.from_groups(pd.Series(PREDICTED), shuffled, sizes=[5])
        with pytest.raises(RecframeError, match="'ids' and 'a' are Series with different indexes"):
            recframe.from_groups({"a": shuffled}, LABEL, ids=label)
    frame = recframe.from_groups(PREDICTED, label[::-1], sizes=[5])
    assert LABEL[::-1] == frame["relevant"].tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "^one of sizes and ids must say .*, but neither does. Pass sizes= with the"),
        ({"sizes": [5], "ids": [1] * 5}, "^one of sizes and ids must say .*, but both do"),
        ({"sizes": [2, 2]}, "^sizes must add up to the rows of relevant, but add up to 4 for 5"),
        (
            {"sizes": [0, 3, 5]},
            r"but add up to 8 for 5. Pass np.diff\(sizes\) where these are offsets",
        ),
        ({"sizes": [6, -1]}, "^sizes must be whole numbers from 0 on, but has -1"),
        ({"sizes": [2.5, 2.5]}, "^sizes must be whole numbers from 0 on, but has 2.5"),
        ({"sizes": ["a"]}, "^sizes must be numbers, but is <U1"),
        ({"sizes": 5}, r"^sizes must have one dimension, but has shape \(\)"),
        (
            {"ids": [1, 2]},
            "^ids must be as many as the rows of relevant, but are 2 for 5 rows",
        ),
        ({"ids": [1, 1, 2, 2, None]}, "^ids must not have a null user, but 1 of 5 are null"),
        ({"sizes": [5], "relevant": [1]}, "^score must be as many as the rows .* 5 for 1"),
        ({"sizes": [5], "score": PREDICTED[:, None]}, r"\(5, 1\). Pass np.ravel\(score\)\.$"),
        ({"sizes": [5], "score": np.ones((5, 2))}, r"one dimension, but has shape \(5, 2\)$"),
        ({"sizes": [5], "score": list("abcde")}, "^score must be numbers, but is <U1"),
        ({"sizes": [5], "score": {"a": [1]}}, r"^score\['a'\] must be as many as the rows"),
        ({"sizes": [5], "score": {"label": PREDICTED}}, "^score must not have the name .* 'label'"),
    ],
)
def test_refused_groups(arguments, message):
    """Arrays that do not fit together are refused, and queries must come from sizes or ids."""
    with pytest.raises(RecframeError, match=message):
        recframe.from_groups(**{"score": PREDICTED, "relevant": LABEL} | arguments)
