"""``recframe trec``: runs against qrels with trec_eval's conventions, and against trec_eval."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe.cli import main

QRELS, BM25, DENSE = (f"examples/{name}" for name in ("qrels.txt", "bm25.run", "dense.run"))
# Each name of trec_eval, and the same here.
CUTS = (1, 3, 5, 10, 20, 100)
FIGURES = {
    **{f"P_{k}": f"precision@{k}" for k in CUTS if k not in (1, 3)},
    **{f"recall_{k}": f"recall@{k}" for k in CUTS if k not in (1, 3)},
    **{f"map_cut_{k}": f"average_precision@{k}" for k in CUTS if k not in (1, 3)},
    **{f"ndcg_cut_{k}": f"ndcg@{k}" for k in CUTS if k not in (1, 3)},
    **{f"success_{k}": f"hit_rate@{k}" for k in (1, 5, 10)},
    "map": "average_precision",
    "Rprec": "r_precision",
    "recip_rank": "reciprocal_rank",
    "ndcg": "ndcg",
}


@pytest.fixture(autouse=True)
def at_root(monkeypatch):
    """Paths are those of the README."""
    monkeypatch.chdir(Path(__file__).parents[1])


def trec(*words):
    """Return what a command line gives as JSON."""
    assert 0 == main(["trec", *map(str, words), "--format", "json"])


def scores_of(capsys, *words):
    """Return the means of each run."""
    trec(*words)
    document = json.loads(capsys.readouterr().out)
    return {
        run: {metric: figure["mean"] for metric, figure in figures.items()}
        for run, figures in document["scores"].items()
    }


def test_the_means_by_hand(capsys):
    """Ties go by document, last first; queries count that run and qrels have."""
    found = scores_of(capsys, QRELS, BM25, DENSE, "--metric", "recall@2", "reciprocal_rank")

    # bm25 ranks d12, d7, d3 (a tie, turned), d20 for 101 and d5, d9, d10 (a tie), d1 for 102;
    # dense has 101 and 102 of the qrels.
    bm25 = {"recall@2": (1 / 2 + 1 / 2 + 0) / 3, "reciprocal_rank": (1 + 1 / 2 + 0) / 3}
    assert {"bm25.run", "dense.run"} == set(found)
    assert bm25 == pytest.approx(found["bm25.run"])
    assert {"recall@2": (1 / 2 + 1 / 2) / 2, "reciprocal_rank": 3 / 4} == pytest.approx(
        found["dense.run"]
    )


def test_complete_counts_queries_that_are_not_ranked(capsys):
    """With --complete every query of the qrels counts, 0 where the run has none."""
    found = scores_of(capsys, QRELS, BM25, DENSE, "--metric", "reciprocal_rank", "--complete")

    assert {"reciprocal_rank": (1 + 1 / 2) / 4} == pytest.approx(found["bm25.run"])
    assert {"reciprocal_rank": (1 + 1 / 2) / 4} == pytest.approx(found["dense.run"])


def test_what_one_side_knows_is_said(capsys):
    """A note says how many queries and documents only the run or the qrels have; -q does not."""
    main(["trec", QRELS, BM25, DENSE])
    notes = capsys.readouterr().err.splitlines()
    main(["trec", QRELS, DENSE, "--complete"])
    complete = capsys.readouterr().err
    main(["trec", QRELS, BM25, "-q"])

    assert [
        "recframe: note: bm25.run: queries of the qrels not in it (1) left out, unless with "
        "--complete; documents not judged (6) not relevant",
        "recframe: note: dense.run: queries not in the qrels (1) left out; queries of the qrels "
        "not in it (2) left out, unless with --complete; documents not judged (3) not relevant",
    ] == notes
    assert "queries of the qrels not in it (2) count as 0;" in complete
    assert "" == capsys.readouterr().err


def test_values_of_every_query(capsys, tmp_path):
    """--per-query prints them and all last, --per-user writes them, --output the means."""
    csv, means = tmp_path / "queries.csv", tmp_path / "means.csv"
    words = [QRELS, BM25, DENSE, "--metric", "reciprocal_rank", "--per-user", csv, "-o", means]
    main(["trec", *map(str, words), "--per-query", "--format", "csv"])

    assert [
        "query,score,reciprocal_rank",
        *("101,bm25.run,1.0", "101,dense.run,0.5", "102,bm25.run,0.5", "102,dense.run,1.0"),
        *("103,bm25.run,0.0", "103,dense.run,", "all,bm25.run,0.5", "all,dense.run,0.75"),
    ] == capsys.readouterr().out.splitlines()
    assert ["101", "101", "102", "102", "103", "103"] == pd.read_csv(csv, dtype=str)[
        "query"
    ].tolist()
    assert "score,reciprocal_rank\nbm25.run,0.5\ndense.run,0.75\n" == means.read_text()


def test_json_has_the_conventions(capsys):
    """The document says what was read, under which options, and what only one side knows."""
    trec(QRELS, DENSE, "--complete", "--min-relevance", "2", "--metric", "ndcg@3", "--per-query")
    document = json.loads(capsys.readouterr().out)

    assert {
        **{"ties": "item", "short": "pad", "zero_division": 0.0, "min_relevance": 2},
        "complete": True,
    } == document["options"]
    assert {
        "dense.run": {"unjudged_queries": 1, "unranked_queries": 2, "unjudged_documents": 3}
    } == document["only"]
    assert ["101", "102", "103", "105"] == list(document["queries"])
    assert 0 == document["queries"]["105"]["dense.run"]["ndcg@3"]


def test_scores_are_cut(tmp_path, capsys):
    """Scores that are one float32 tie, and go by document."""
    (tmp_path / "a.run").write_text("1 Q0 a 1 1.000000001 t\n1 Q0 b 2 1.0 t\n")
    (tmp_path / "qrels").write_text("1 0 b 1\n")
    words = [tmp_path / "qrels", tmp_path / "a.run", "--metric", "precision@1"]

    assert {"a.run": {"precision@1": 1}} == scores_of(capsys, *words)


def test_runs_are_named_by_their_files(tmp_path, capsys):
    """Runs called alike in two folders have their whole paths; one named twice is refused."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.run").write_text("1 Q0 a 1 1 t\n")
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    paths = [str(tmp_path / folder / "x.run") for folder in ("a", "b")]
    qrels = str(tmp_path / "qrels")

    assert paths == list(scores_of(capsys, qrels, *paths))
    assert 1 == main(["trec", qrels, paths[0], paths[0]])
    assert "x.run is named twice; name each run once" in capsys.readouterr().err


REFUSED = {
    "swapped": ([BM25, QRELS], r"examples/bm25.run, line 1: must have 4 fields \(query iteration"),
    "no run": ([QRELS, "none.run"], "cannot read none.run: no such file"),
    "written over": ([QRELS, BM25, "--per-user", "{}"], "cannot write .*: it is read"),
}


@pytest.mark.parametrize(("words", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(words, message, tmp_path, capsys):
    """What cannot be read, or would be written over, is refused in one line."""
    run = tmp_path / "run.csv"
    run.write_text("1 Q0 a 1 1 t\n")
    if "{}" in words:
        words = [QRELS, run, "--per-user", run]
    assert 1 == main(["trec", *map(str, words)])
    assert re.search(message, capsys.readouterr().err)


def test_queries_that_never_meet(tmp_path, capsys):
    """A run of other queries is refused, with its name and examples of either side."""
    (tmp_path / "other.run").write_text("q7 Q0 a 1 1 t\nq8 Q0 a 1 1 t\n")

    assert 1 == main(["trec", QRELS, str(tmp_path / "other.run")])
    assert re.search("other.run: .*'q7'.*'101'", capsys.readouterr().err)


def write_random(folder, seed):
    """Write a run and qrels with ties, grades, and queries and documents that one side has."""
    rng = np.random.default_rng(seed)
    names = [*(f"{n}" for n in range(5, 80)), *(f"doc-{n}" for n in range(30)), "é", "～", "😀"]  # noqa: RUF001
    pairs = pd.DataFrame({"query": rng.integers(0, 25, 1500), "doc": rng.choice(names, 1500)})
    pairs = pairs.astype({"query": str}).drop_duplicates(ignore_index=True)
    run, qrels = (
        pairs[pairs["query"] != "3"][:700].copy(),
        pairs[pairs["query"] != "4"][500:].copy(),
    )
    run["score"] = rng.integers(1, 7, len(run)) / 3 + rng.integers(0, 3, len(run)) * 1e-9 - 1
    qrels["relevance"] = rng.integers(-1, 4, len(qrels))
    qrels.loc[qrels["query"] == "5", "relevance"] = 0
    run_lines = [f"{q} Q0 {d} 1 {s!r} t\n" for q, d, s in run.itertuples(index=False)]
    (folder / "run").write_text("".join(run_lines))
    (folder / "qrels").write_text(
        "".join(f"{q} 0 {d} {r}\n" for q, d, r in qrels.itertuples(index=False))
    )
    return run, qrels


def nested(frame):
    """Return a frame of query, document and value as the dicts that pytrec_eval takes."""
    return {
        query: dict(zip(rows["doc"], rows.iloc[:, 2].tolist(), strict=True))
        for query, rows in frame.groupby("query")
    }


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("level", [1, 2])
def test_every_figure_is_that_of_trec_eval(seed, level, tmp_path, capsys):
    """Of random runs with many ties every figure is trec_eval's, far beyond what it prints."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run, qrels = write_random(tmp_path, seed)
    measures = [name for name in FIGURES if level == 1 or not name.startswith("ndcg")]
    asked = {re.sub(r"_\d+$", "", name) for name in measures}
    theirs = pytrec_eval.RelevanceEvaluator(nested(qrels), asked, relevance_level=level)
    theirs = pd.DataFrame(theirs.evaluate(nested(run))).T.sort_index()[measures]
    mine = tmp_path / "mine.parquet"
    words = [tmp_path / "qrels", tmp_path / "run", "--min-relevance", level, "--per-user", mine]
    means = scores_of(capsys, *words, "--metric", *(FIGURES[name] for name in measures))["run"]
    values = pd.read_parquet(mine).set_index("query")[[FIGURES[name] for name in measures]]

    assert theirs.index.tolist() == values.index.tolist()
    assert theirs.size > 400
    np.testing.assert_allclose(values.to_numpy(), theirs.to_numpy(), rtol=0, atol=1e-12)
    printed = [f"{value:.4f}" for value in theirs.to_numpy().ravel()]
    assert printed == [f"{value:.4f}" for value in values.to_numpy().ravel()]
    complete = scores_of(
        capsys, *words[:4], "--complete", "--metric", *(FIGURES[name] for name in measures)
    )["run"]
    n_queries = qrels["query"].nunique()
    for name in measures:
        assert means[FIGURES[name]] == pytest.approx(theirs[name].mean(), abs=1e-12)
        total = math.fsum(theirs[name])
        assert complete[FIGURES[name]] == pytest.approx(total / n_queries, abs=1e-12)


def test_read_frames_give_what_the_command_gives(capsys):
    """The note of `read_run` tells how the accessor gives the same."""
    qrels, run = recframe.read_qrels(QRELS), recframe.read_run(BM25).astype({"score": "float32"})
    options = {"ties": "item", "short": "pad", "zero_division": 0, "min_relevance": 1}
    means = run.rec(truth=qrels, absent="drop", **options).mean(["ndcg@3", "average_precision"])
    found = scores_of(capsys, QRELS, BM25, "--metric", "ndcg@3", "average_precision")

    assert found["bm25.run"] == means.loc["score"].to_dict()
