"""Option `model`: a column of a long frame names each row's model."""

import contextlib
import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from entry_points import ENTRY_POINTS
from recframe import RecframeError
from recframe.cli import main

METRICS = ["precision@2", "recall@2", "ndcg@3", "r_precision", "average_precision"]
LONG = {"model": "retriever"}
WIDE = {"score": ["bm25", "dense"], "missing": "unranked"}


def make_long(seed=0, n_users=12, n_items=9):
    """Return rows of two models with ties, where users' lists differ in items and lengths."""
    rng = np.random.default_rng(seed)
    rows = []
    for user in range(n_users):
        grades = rng.integers(0, 3, n_items) * rng.integers(0, 2, n_items)
        for name in ("dense", "bm25"):
            listed = rng.choice(n_items, rng.integers(3, 7), replace=False)
            scores = rng.integers(0, 4, len(listed)) / 2
            cells = zip(listed.tolist(), scores, strict=True)
            rows += [(user, item, name, score, grades[item], user % 2) for item, score in cells]
    names = ["user", "item", "retriever", "score", "relevant", "arm"]
    return pd.DataFrame(rows, columns=names).sample(frac=1, random_state=seed)


def pivot(long):
    """Return a row for each user and item, with a score column for each model."""
    others = [name for name in ("user", "item", "relevant", "arm") if name in long]
    # No pair repeats, so `pivot_table` is not needed.
    wide = long.set_index([*others, "retriever"])["score"].unstack()  # noqa: PD010
    return wide.rename_axis(columns=None).reset_index()


def same(expected, found):
    """Raise unless two tables have the same labels and values."""
    how = {"check_index_type": False, "check_column_type": False, "check_names": False}
    pd.testing.assert_frame_equal(expected, found, **how)


@pytest.mark.parametrize("entry", ENTRY_POINTS)
@pytest.mark.parametrize("metric", ["ndcg@3", "average_precision"])
def test_it_is_the_pivot(entry, metric, tmp_path):
    """A long frame has the values of its pivot on every engine, with grades and ties."""
    long = make_long()
    expected = pivot(long).rec(min_relevance=1, **WIDE).evaluate([metric])
    same(expected, ENTRY_POINTS[entry](long, metric, {"min_relevance": 1, **LONG}, tmp_path))


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_with_truth(entry, tmp_path):
    """Items that only truth has count, and so do users whom a model does not rank."""
    long = make_long(1).query("~(user == 3 and retriever == 'dense')").drop(columns="relevant")
    truth = pd.DataFrame({"user": np.repeat(range(12), 4), "item": [0, 3, 8, 11] * 12})
    given = {"truth": truth, "short": "pad"}
    expected = pivot(long).rec(**given, **WIDE).evaluate(["recall@2"])
    same(expected, ENTRY_POINTS[entry](long, "recall@2", {**given, **LONG}, tmp_path))
    assert 0.0 == expected.loc[3, ("dense", "recall@2")]


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("mean", {"metrics": METRICS}),
        ("mean", {"metrics": METRICS, "by": "arm"}),
        ("summary", {"metrics": "ndcg@3"}),
        ("compare", {"metrics": "ndcg@3"}),
        ("curve", {"metric": "recall", "k": 3}),
        ("catalogue", {"k": 2}),
    ],
)
def test_methods(method, arguments):
    """Each method gives the result of the pivot."""
    long = make_long(2)
    options = {"min_relevance": 1}
    expected = getattr(pivot(long).rec(**options, **WIDE), method)(**arguments)
    same(expected, getattr(long.rec(**options, **LONG), method)(**arguments))


def test_rows_stay_those_of_the_frame():
    """A row is ranked only by the model that it names."""
    long = make_long(3).reset_index(drop=True)
    rec, is_dense = long.rec(min_relevance=1, **LONG), long["retriever"] == "dense"
    ranks = rec.rank()
    of_dense = long[is_dense].rec(min_relevance=1).rank()["score"]
    assert ranks["dense"].notna().tolist() == is_dense.tolist()
    pd.testing.assert_series_equal(of_dense, ranks.loc[is_dense, "dense"], check_names=False)

    top = rec.top(2, score="dense")
    expected = long[is_dense].rec(min_relevance=1).top(2)
    assert expected.index.tolist() == top.index.tolist()
    assert {"dense", "bm25"} == set(rec.top(2)["ranked_by"])
    with pytest.raises(RecframeError, match=r"score='x': no such model; 'retriever' has 'bm25'"):
        rec.top(2, score="x")


def test_inspect_shows_each_pair_once():
    """`inspect` shows an item that only the other model lists last, without a score."""
    long = make_long(4)
    shown = long.rec(min_relevance=1, **LONG).inspect(5, k=2)
    n_pairs = long[long["user"] == 5]["item"].nunique()
    for name in ("bm25", "dense"):
        table = shown.tables[name]
        own = long[(long["user"] == 5) & (long["retriever"] == name)]
        assert n_pairs == len(table) == table["item"].nunique()
        assert len(own) == table["position"].notna().sum()
        assert table["score"].notna().tolist() == table["position"].notna().tolist()


def test_describe_counts_each_model():
    """`describe` counts repeated pairs within each model."""
    long = make_long(5)
    figures = long.rec(min_relevance=1, **LONG).describe(2)
    assert ["bm25", "dense"] == figures.columns.tolist()
    assert [0, 0] == figures.loc["duplicate pairs"].tolist()
    assert [0, 0] == figures.loc["null scores"].tolist()


def test_judged_rows_evaluate_alike():
    """Items that judging adds have no model, and count."""
    long = make_long(6).drop(columns="relevant")
    truth = pd.DataFrame({"user": range(12), "item": 20})
    judged = long.rec(truth=truth, **LONG).judge()
    expected = long.rec(truth=truth, **LONG).recall(k=2)
    same(expected, judged.rec(missing="unranked", **LONG).recall(k=2))


FRAME = pd.DataFrame(
    {
        "user": [1, 1, 1, 1],
        "item": [1, 2, 1, 2],
        "retriever": ["a", "a", "b", "b"],
        "score": [0.9, 0.5, 0.4, 0.1],
        "relevant": [1, 0, 1, 0],
    }
)


@pytest.mark.parametrize("entry", ENTRY_POINTS)
@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (FRAME.assign(relevant=[1, 0, 0, 0]), {}, "one relevance in the rows of all models, but"),
        (FRAME.assign(item=[1, 1, 1, 2]), {}, "'retriever' must occur once, but "),
        (FRAME.assign(retriever=["a", None, "b", "b"]), {}, "model='retriever': must not be null"),
        (FRAME.assign(b_score=1.0), {}, "one score column, but has score 'score', 'b_score'"),
        (FRAME, {"duplicates": "keep"}, "one row of a user, item and model counts"),
        (FRAME.drop(columns="item"), {}, "which model='retriever' needs"),
        (FRAME.assign(retriever=None), {"missing": "unranked"}, "must hold one model or more, but"),
        (FRAME, {"ties": "first"}, "ties='first' reads the order of rows"),
        (FRAME, {"model": "x"}, "model='x': no such column"),
        (FRAME, {"model": "score"}, "model='score' needs a column without another role"),
    ],
)
def test_what_is_refused(entry, frame, options, message, tmp_path):
    """Models that contradict each other or repeat rows, and unsuitable options, are refused."""
    with pytest.raises(RecframeError) as refused:
        ENTRY_POINTS[entry](frame, "recall@1", LONG | options, tmp_path)
    said = re.sub(r"\s+", " ", str(refused.value))
    assert message.replace("'", "") in said.replace("'", "")


def test_what_missing_and_duplicates_say():
    """The rule "max" takes a pair's highest relevance; `missing` covers rows without a model."""
    differ = FRAME.assign(relevant=[1, 0, 0, 0])
    assert [1.0, 1.0] == differ.rec(duplicates="max", **LONG).mean("recall@1")["recall@1"].tolist()
    lost = FRAME.assign(retriever=["a", None, "b", "b"], relevant=[1, 1, 1, 1])
    counted = lost.rec(missing="unranked", **LONG).recall(k=1)
    assert [0.5, 0.5] == counted.loc[1].tolist()
    means = lost.rec(missing="drop", short="pad", **LONG).mean("recall@2")
    assert ["a", "b"] == means.index.tolist()
    assert any("removed 1 of 4 rows" in note.text for note in means.notes)


def test_no_row_has_no_model():
    """A frame without rows is refused as having no model."""
    with pytest.raises(RecframeError, match="model='retriever': must hold one model or more"):
        FRAME[:0].rec(**LONG).recall(k=1)


def test_too_many_models():
    """A column of more than 1,000 values is no column of models."""
    many = pd.DataFrame({"user": 1, "item": range(1001), "score": 1.0, "relevant": 1})
    many["run"] = many["item"]
    with pytest.raises(RecframeError, match="at most 1,000 models, but holds 1,001 values"):
        many.rec(model="run").recall(k=1)


def test_numbers_are_models_too(tmp_path):
    """Models may be numbers, which are sorted by value, and JSON names the column."""
    long = make_long(7).assign(retriever=lambda frame: frame["retriever"].map({"dense": 10}))
    long = long.fillna({"retriever": 9}).astype({"retriever": "int64"})
    assert [9, 10] == long.rec(min_relevance=1, **LONG).mean("recall@2").index.tolist()
    long.to_csv(tmp_path / "log.csv", index=False)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        words = ["--model", "retriever", "--min-relevance", "1", "--metric", "recall@2"]
        status = main(["evaluate", str(tmp_path / "log.csv"), *words, "--format", "json"])
    document = json.loads(said.getvalue())
    assert (0, "retriever") == (status, document["options"]["model"])
    assert ["9", "10"] == list(document["scores"])
