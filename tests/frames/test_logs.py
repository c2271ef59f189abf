"""Logs of retrieval have a line for each query and retriever, with a list of results."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import recframe
from entry_points import of_tidy
from recframe import RecframeError
from recframe.cli import main

MODELS = ("dense", "bm25")


def make_lines(seed=0, n_queries=10):
    """Return lines with chunks of documents from two retrievers for each query."""
    rng = np.random.default_rng(seed)
    lines = []
    for query in range(n_queries):
        for model in MODELS:
            chunks = rng.choice(24, 6, replace=False).tolist()
            scores = np.sort(rng.integers(0, 8, 6) / 8)[::-1].tolist()
            found = [
                {"chunk_id": f"c{chunk}", "doc_id": f"d{chunk // 2}", "score": score}
                for chunk, score in zip(chunks, scores, strict=True)
            ]
            lines.append({"query_id": f"q{query}", "retriever": model, "results": found})
    return lines


LINES = make_lines()
LOG = pd.DataFrame(LINES)
TRUTH = pd.DataFrame({"query_id": np.repeat([f"q{n}" for n in range(10)], 2)}).assign(
    doc_id=[f"d{n % 12}" for n in range(20)]
)
CALL = {"item": "doc_id", "model": "retriever", "duplicates": "max"}


def expected():
    """Return recall@3 of each query by plain pandas; no tie crosses the cut."""
    rows = pd.DataFrame(
        [
            {"query": line["query_id"], "model": line["retriever"], **one}
            for line in LINES
            for one in line["results"]
        ]
    )
    best = rows.groupby(["query", "model", "doc_id"])["score"].max().reset_index()
    # No pair repeats, so `pivot_table` is not needed.
    wide = best.set_index(["query", "doc_id", "model"])["score"].unstack()  # noqa: PD010
    wide = wide.reset_index().rename(columns={"query": "query_id"}).rename_axis(columns=None)
    options = {"score": sorted(MODELS), "missing": "unranked"}
    return wide.rec(truth=TRUTH, short="pad", **options).evaluate(["recall@3"])


def test_a_frame_of_lists():
    """The best chunk stands for its document, and each retriever has a column."""
    frame = recframe.from_lists(LOG, **CALL)
    assert ["user", "item", "bm25", "dense", "chunk_id"] == frame.columns.tolist()
    found = frame.rec(truth=TRUTH, missing="unranked", short="pad").evaluate(["recall@3"])
    pd.testing.assert_frame_equal(expected(), found, check_names=False, check_column_type=False)


def test_what_it_asks():
    """from_lists asks all its questions at once, and the call shown answers them."""
    with pytest.raises(RecframeError) as refused:
        recframe.from_lists(LOG)
    message = str(refused.value)
    assert message.startswith("3 questions are open:")
    code = message.split("This answers all:\n")[1]
    made = eval(code, {"recframe": recframe, "lists": LOG})
    pd.testing.assert_frame_equal(recframe.from_lists(LOG, **CALL), made)
    with pytest.raises(RecframeError, match="where 'results' holds lists"):
        LOG.rec(truth=TRUTH).recall(k=3)


def test_a_frame_of_lists_is_asked_all_at_once():
    """A frame with a column of lists is refused with one call that answers all questions."""
    with pytest.raises(RecframeError, match=r"5 questions are open") as refused:
        LOG.rec(truth=TRUTH).evaluate(["recall@3"])
    code = str(refused.value).split("This answers all:\n")[1]
    found = eval(code, {"recframe": recframe, "df": LOG, "truth": TRUTH})
    how = {"check_names": False, "check_column_type": False}
    pd.testing.assert_frame_equal(expected(), found, **how)
    # These lists hold no scores to rank by.
    with pytest.raises(RecframeError, match="holds lists"):
        pd.DataFrame({"user": [1], "scores": [[1.0, 0.5]]}).rec.recall(k=1)


@pytest.mark.parametrize(
    ("log", "options", "message"),
    [
        (LOG, {**CALL, "model": "x"}, "model='x': no such column"),
        (LOG.assign(retriever=None), CALL, "model='retriever': must not be null, but has 20"),
        (LOG, {**CALL, "duplicates": "first"}, "duplicates must be one of 'raise', 'max'"),
        (LOG, {**CALL, "item": "x"}, "lists must hold items, pairs"),
        (LOG.assign(retriever="user"), {**CALL}, "must differ, but has 10 repeated"),
        ({"q": ["d"]}, {"model": "retriever"}, "are for a frame, not"),
    ],
)
def test_what_is_refused(log, options, message):
    """Arguments that name nothing, and lists that still repeat items, are refused."""
    with pytest.raises(RecframeError, match=re.escape(message)):
        recframe.from_lists(log, **options)


def test_repeats_of_a_dict():
    """The first of repeated items in a list is kept under duplicates="max"."""
    frame = recframe.from_lists({"q": ["a", "b", "a"]}, duplicates="max")
    assert [("a", -1), ("b", -2)] == list(zip(frame["item"], frame["score"], strict=True))


def test_tuples_are_ids():
    """Tuples are ids, not lists."""
    frame = pd.DataFrame({"user": [(1, "a"), (2, "b")], "score": [0.5, 0.4], "relevant": [1, 0]})
    assert [(1, "a"), (2, "b")] == frame.rec.precision(k=1).index.tolist()


@pytest.mark.parametrize("name", ["scores", "predictions"])
def test_a_column_of_lists_is_no_score(name):
    """A column of lists is no score, under any name."""
    frame = pd.DataFrame({"user": [1, 2], "relevant": [1, 0], name: [[1.0], [2.0]]})
    with pytest.raises(RecframeError, match="score: no column found"):
        frame.rec.recall(k=1)


def test_a_file_of_json_lines(tmp_path, capsys):
    """Each object in a list is a row, and the command's suggested flags give the table."""
    path, truth = tmp_path / "log.jsonl", tmp_path / "truth.csv"
    path.write_text("\n".join(map(json.dumps, LINES)))
    TRUTH.to_csv(truth, index=False)
    words = ["evaluate", str(path), "--truth", str(truth), "--metric", "recall@3"]
    assert 1 == main(words)
    said = capsys.readouterr().err.splitlines()[-1]
    # Truth has doc_id, not chunk_id.
    for flags in ("--model retriever", "--duplicates max"):
        assert flags in said
    words += ["--model", "retriever", "--duplicates", "max", "--short", "pad"]
    assert 0 == main([*words, "--quiet", "--per-user", str(tmp_path / "users.csv")])
    found = of_tidy(pd.read_csv(tmp_path / "users.csv"))
    how = {"check_names": False, "check_column_type": False, "check_index_type": False}
    pd.testing.assert_frame_equal(expected(), found, **how)


def test_lines_that_are_not_unnested(tmp_path):
    """Two columns of lists, or a field named like a column, are refused."""
    for extra in ({"other": [{"a": 1}]}, {"score": 1.0}):
        path = tmp_path / "log.jsonl"
        path.write_text("\n".join(json.dumps(line | extra) for line in LINES))
        with pytest.raises(RecframeError, match=r"no column found|one value in a cell"):
            recframe.evaluate(path, ["recall@3"], truth=TRUTH)
