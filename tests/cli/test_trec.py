"""recframe trec scores runs against qrels with trec_eval's conventions, and equals trec_eval."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest

import recframe
from command_line_example import ROOT
from recframe.cli import main

QRELS, BM25, DENSE = (f"examples/{name}" for name in ("qrels.txt", "bm25.run", "dense.run"))
# Each metric has a name in trec_eval and a name in recframe.
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
    "bpref": "bpref",
}


@pytest.fixture(autouse=True)
def at_root(monkeypatch):
    """Make the root the current folder, as the README's paths need."""
    monkeypatch.chdir(ROOT)


def trec(*words):
    """Return the JSON document that a command line prints."""
    assert 0 == main(["trec", *map(str, words), "--format", "json"])


def scores_of(capsys, *words):
    """Return the means of each run in the document."""
    trec(*words)
    document = json.loads(capsys.readouterr().out)
    return {
        run: {metric: figure["mean"] for metric, figure in figures.items()}
        for run, figures in document["scores"].items()
    }


def test_the_means_by_hand(capsys):
    """Ties are ordered by document, last first, and queries of both run and qrels count."""
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
    """--complete counts every query of the qrels, as 0 if the run lacks it."""
    found = scores_of(capsys, QRELS, BM25, DENSE, "--metric", "reciprocal_rank", "--complete")

    assert {"reciprocal_rank": (1 + 1 / 2) / 4} == pytest.approx(found["bm25.run"])
    assert {"reciprocal_rank": (1 + 1 / 2) / 4} == pytest.approx(found["dense.run"])


def test_flags_and_names_of_trec_eval(capsys):
    """-c, -l, -J, -m and the names of metrics have the meanings of trec_eval."""
    short = trec("-m", "P.1,2", "-mmap", "-c", "-l", 2, "-J", QRELS, BM25), capsys.readouterr().out
    few = trec(QRELS, BM25, "--metric", "ndcg_cut_2", "recall.2"), capsys.readouterr().out

    names = ["--metric", "precision@1,precision@2", "average_precision"]
    rest = ["--complete", "--min-relevance", 2, "--unjudged", "drop"]
    assert (trec(QRELS, BM25, *names, *rest), capsys.readouterr().out) == short
    assert (trec(QRELS, BM25, "-m", "ndcg@2", "recall@2"), capsys.readouterr().out) == few
    with pytest.raises(SystemExit):
        main(["trec", "-m", "P_0", QRELS, BM25])
    assert "precision needs a cut-off" in capsys.readouterr().err


def test_what_one_side_knows_is_said(capsys):
    """A note counts the queries and documents that only one file has, unless --quiet is passed."""
    main(["trec", QRELS, BM25, DENSE])
    notes = capsys.readouterr().err.splitlines()
    main(["trec", QRELS, DENSE, "--complete"])
    complete = capsys.readouterr().err
    main(["trec", QRELS, BM25, "--quiet"])

    assert [
        "recframe: note: bm25.run: queries that the run lacks: 1, left out, unless with "
        "--complete; documents not judged: 6, counted as not relevant",
        "recframe: note: dense.run: queries that the qrels lack: 1, left out; queries that the run "
        "lacks: 2, left out, unless with --complete; documents not judged: 3, counted as not "
        "relevant",
    ] == notes
    assert "queries that the run lacks: 2, counted as 0;" in complete
    assert "" == capsys.readouterr().err


def test_values_of_every_query(capsys, tmp_path):
    """--per-query prints all values and "all" last, --per-user and --output write files."""
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
    """The JSON document has the options, and the queries and documents of only one file."""
    trec(QRELS, DENSE, "--complete", "--min-relevance", "2", "--metric", "ndcg@3", "--per-query")
    document = json.loads(capsys.readouterr().out)

    assert {
        **{"ties": "item", "short": "pad", "zero_division": 0.0, "min_relevance": 2},
        **{"min_score": "-inf", "unjudged": "nonrelevant", "complete": True},
    } == document["options"]
    assert {
        "dense.run": {"unjudged_queries": 1, "unranked_queries": 2, "unjudged_documents": 3}
    } == document["only"]
    assert ["101", "102", "103", "105"] == list(document["queries"])
    assert 0 == document["queries"]["105"]["dense.run"]["ndcg@3"]


def test_scores_are_cut(tmp_path, capsys):
    """Scores that are equal as float32 tie, and are ordered by document."""
    (tmp_path / "a.run").write_text("1 Q0 a 1 1.000000001 t\n1 Q0 b 2 1.0 t\n")
    (tmp_path / "qrels").write_text("1 0 b 1\n")
    words = [tmp_path / "qrels", tmp_path / "a.run", "--metric", "precision@1"]

    assert {"a.run": {"precision@1": 1}} == scores_of(capsys, *words)


def test_runs_are_named_by_their_files(tmp_path, capsys):
    """Runs of the same name in two folders are named by their paths; a repeated run is refused."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.run").write_text("1 Q0 a 1 1 t\n")
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    paths = [str(tmp_path / folder / "x.run") for folder in ("a", "b")]
    qrels = str(tmp_path / "qrels")

    assert paths == list(scores_of(capsys, qrels, *paths))
    assert 1 == main(["trec", qrels, paths[0], paths[0]])
    assert "x.run is named twice. Name each run once" in capsys.readouterr().err
    (tmp_path / "c.run").hardlink_to(paths[0])
    assert 1 == main(["trec", qrels, paths[0], str(tmp_path / "c.run")])
    assert re.search(r"c.run is named twice, also as .*x.run. Name", capsys.readouterr().err)


LINES = """\
recall@2              \t101\t0.5000
recall@2              \t102\t0.5000
recall@2              \t103\t0.0000
runid                 \tall\tbm25.run
recall@2              \tall\t0.3333
recall@2              \t101\t0.5000
recall@2              \t102\t0.5000
runid                 \tall\tdense.run
recall@2              \tall\t0.5000
"""


def test_lines_of_trec_eval(capsys):
    """-q prints trec_eval's lines: every query, then the run and the means, for each run."""
    main(["trec", QRELS, BM25, DENSE, "-q", "--quiet", "--metric", "recall@2"])
    assert (LINES, "") == capsys.readouterr()

    words = ["--metric", "reciprocal_rank", "recall@2", "--baseline", DENSE]
    main(["trec", QRELS, BM25, DENSE, "-q", *words])
    fields = [re.split(r" *\t", line) for line in capsys.readouterr().out.splitlines()]
    assert [
        *(["reciprocal_rank", "101", "0.5000"], ["recall@2", "101", "0.0000"]),
        *(["reciprocal_rank", "102", "-0.5000"], ["recall@2", "102", "0.0000"]),
        *(["runid", "all", "bm25.run"], ["baseline", "all", "dense.run"]),
        *(["reciprocal_rank", "all", "0.0000"], ["recall@2", "all", "0.0000"]),
    ] == fields


def test_differences_of_every_query(capsys):
    """--baseline puts the differences of every query, and the mean ones last, in csv and JSON."""
    words = [QRELS, BM25, DENSE, "-q", "--metric", "reciprocal_rank", "--baseline", "bm25.run"]
    main(["trec", *words, "--format", "csv"])
    csv = capsys.readouterr().out.splitlines()
    trec(*words)
    document = json.loads(capsys.readouterr().out)

    assert [
        "101,dense.run,-0.5",
        "102,dense.run,0.5",
        "103,dense.run,",
        "all,dense.run,0.0",
    ] == csv[1:]
    assert "bm25.run" == document["baseline"]
    assert {"dense.run": {"reciprocal_rank": None}} == document["differences"]["103"]
    assert "queries" not in document


REFUSED = {
    "swapped": ([BM25, QRELS], r"examples/bm25.run, line 1: must have 4 fields \(query iteration"),
    "no run": ([QRELS, "none.run"], "cannot read none.run: no such file"),
    "no such baseline": (
        [QRELS, BM25, DENSE, "--baseline", "bm25"],
        r"--baseline must be one of the runs evaluated, \['bm25.run', 'dense.run'\], but is 'bm25'",
    ),
    "nothing to compare": (
        [QRELS, BM25, "--baseline", BM25],
        "--baseline compares with others, but has only 'examples/bm25.run'. Name two runs or more",
    ),
    "bad pairs": ([QRELS, BM25, "--exclude", BM25], "exclude: examples/bm25.run, line 1: must"),
    "written over": ([QRELS, BM25, "--per-user", "{}"], "cannot write .*: it is an input"),
}


@pytest.mark.parametrize(("words", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(words, message, tmp_path, capsys):
    """Files that cannot be read, or that an output would overwrite, are refused in one line."""
    run = tmp_path / "run.csv"
    run.write_text("1 Q0 a 1 1 t\n")
    if "{}" in words:
        words = [QRELS, run, "--per-user", run]
    assert 1 == main(["trec", *map(str, words)])
    assert re.search(message, capsys.readouterr().err)


def test_queries_that_never_meet(tmp_path, capsys):
    """A run that shares no query with the qrels is refused with examples of both."""
    (tmp_path / "other.run").write_text("q7 Q0 a 1 1 t\nq8 Q0 a 1 1 t\n")

    assert 1 == main(["trec", QRELS, str(tmp_path / "other.run")])
    assert re.search(
        "other.run: no query is in both the run and the qrels; .*'q7'.*'101'",
        capsys.readouterr().err,
    )


def write_random(folder, seed, n_runs=1):
    """Write runs and qrels with ties, grades, and queries and documents that only one file has."""
    rng = np.random.default_rng(seed)
    names = [*(f"{n}" for n in range(5, 80)), *(f"doc-{n}" for n in range(30)), "é", "～", "😀"]  # noqa: RUF001
    pairs = pd.DataFrame({"query": rng.integers(0, 25, 1500), "doc": rng.choice(names, 1500)})
    pairs = pairs.astype({"query": str}).drop_duplicates(ignore_index=True)
    qrels = pairs[pairs["query"] != "4"][500:].copy()
    qrels["relevance"] = rng.integers(-2, 4, len(qrels))
    qrels.loc[qrels["query"] == "5", "relevance"] = 0
    qrels.loc[qrels["query"] == "7", "relevance"] = -1
    runs = [pairs[pairs["query"] != "3"][:700].copy()]
    for left in range(1, n_runs):
        sample = pairs.sample(frac=0.5, random_state=seed + left)
        runs.append(sample[sample["query"] != str(5 + left)].reset_index(drop=True))
    for number, run in enumerate(runs):
        run["score"] = rng.integers(1, 7, len(run)) / 3 + rng.integers(0, 3, len(run)) * 1e-9 - 1
        lines = [f"{q} Q0 {d} 1 {s!r} t\n" for q, d, s in run.itertuples(index=False)]
        (folder / f"run{number or ''}").write_text("".join(lines))
    (folder / "qrels").write_text(
        "".join(f"{q} 0 {d} {r}\n" for q, d, r in qrels.itertuples(index=False))
    )
    return runs, qrels


def nested(frame):
    """Return a frame of query, document and value as the dicts that pytrec_eval takes."""
    return {
        query: dict(zip(rows["doc"], rows.iloc[:, 2].tolist(), strict=True))
        for query, rows in frame.groupby("query")
    }


@pytest.mark.parametrize(("seed", "level"), [(0, 1), (1, 1), (2, 2)])
def test_every_figure_is_that_of_trec_eval(seed, level, tmp_path, capsys):
    """Every value for random runs with many ties equals trec_eval's, beyond the printed digits."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    runs, qrels = write_random(tmp_path, seed, 3)
    measures = [name for name in FIGURES if level == 1 or not name.startswith("ndcg")]
    asked, own = {re.sub(r"_\d+$", "", name) for name in measures}, [FIGURES[m] for m in measures]
    paths, mine = [tmp_path / name for name in ("run", "run1", "run2")], tmp_path / "mine.parquet"
    words = [tmp_path / "qrels", *paths, "--min-relevance", level, "--metric", *own]
    for condensed in ([], ["--unjudged", "drop"]):
        means = scores_of(capsys, *words, *condensed, "--per-user", mine)
        complete = scores_of(capsys, *words, *condensed, "--complete")
        main(["trec", *map(str, words), *condensed, "-q", "--quiet"])
        lines = [re.split(" *\t", line) for line in capsys.readouterr().out.splitlines()]
        found = dict(iter(pd.read_parquet(mine).groupby("score")))
        for path, run in zip(paths, runs, strict=True):
            evaluator = pytrec_eval.RelevanceEvaluator(
                nested(qrels), asked, relevance_level=level, judged_docs_only_flag=bool(condensed)
            )
            theirs = pd.DataFrame(evaluator.evaluate(nested(run))).T.sort_index()[measures]
            values = found[path.name].set_index("query")[own].dropna(how="all")
            assert theirs.index.tolist() == values.index.tolist()
            assert theirs.size > 400
            np.testing.assert_allclose(values.to_numpy(), theirs.to_numpy(), rtol=0, atol=1e-12)
            printed = [f"{value:.4f}" for value in theirs.to_numpy().ravel()]
            ends = [at for at, line in enumerate(lines) if line[0] == "runid"]
            assert printed == [line[2] for line in lines[: ends[0]]]
            lines = lines[ends[0] + 1 + len(own) :]
            for name, of_all in theirs.items():
                assert means[path.name][FIGURES[name]] == pytest.approx(of_all.mean(), abs=1e-12)
                of_complete = math.fsum(of_all) / qrels["query"].nunique()
                assert complete[path.name][FIGURES[name]] == pytest.approx(of_complete, abs=1e-12)


@pytest.mark.parametrize("complete", [False, True])
def test_runs_are_evaluated_one_by_one(complete, tmp_path, capsys):
    """The command prints for each run the same bits as the accessor for this run alone."""
    runs, qrels = write_random(tmp_path, 3, 3)
    names, metrics = ["run", "run1", "run2"], ["ndcg@5", "average_precision", "judged@3"]
    judged = qrels[qrels["relevance"] >= 0]
    others = qrels[~qrels["query"].isin(judged["query"])].assign(doc="", relevance=0)
    # These queries have no relevant document and count as well.
    truth = pd.concat([judged, others.drop_duplicates()])
    options = {"ties": "item", "short": "pad", "zero_division": 0, "min_relevance": 1}
    options |= {"truth": truth, "population": "truth" if complete else "both"}
    per_query = pd.concat(
        [
            run.astype({"score": "float32"}).rec(**options).evaluate(metrics)["score"]
            for run in runs
        ],
        axis=1,
        keys=names,
    ).sort_index()
    words = ["trec", *(str(tmp_path / name) for name in ["qrels", *names]), "--metric", *metrics]
    words += ["--complete"] * complete
    asked = {
        "summary": (["--summary"], recframe.summary(per_query)),
        "compare": (["--baseline", "run1"], recframe.compare(per_query, "run1")),
    }

    for name, (flags, expected) in asked.items():
        main([*words, *flags, "--output", str(tmp_path / f"{name}.parquet")])
        capsys.readouterr()
        found = pd.read_parquet(tmp_path / f"{name}.parquet").set_index(["score", "metric"])
        assert found.equals(pd.DataFrame(expected))
        assert found["n_users"].gt(10).all()
    assert ("n_undefined" in asked["summary"][1]) != complete


@pytest.mark.parametrize("unjudged", ["nonrelevant", "drop"])
def test_candidates(unjudged, tmp_path, capsys):
    """--exclude and --unjudged leave rows out first, like the options of these names."""
    (run,), qrels = write_random(tmp_path, 5)
    qrels = qrels[qrels["relevance"] >= 0]
    run = run[run["query"].isin(qrels["query"])]
    run.assign(Q0="Q0", rank=1, tag="t")[["query", "Q0", "doc", "rank", "score", "tag"]].to_csv(
        tmp_path / "run", sep=" ", header=False, index=False
    )
    qrels.assign(iteration=0)[["query", "iteration", "doc", "relevance"]].to_csv(
        tmp_path / "qrels", sep=" ", header=False, index=False
    )
    pairs = run.sample(frac=0.2, random_state=0)[["query", "doc"]]
    (tmp_path / "pairs").write_text(
        "# seen\n" + "".join(f"{query} 0 {doc} 1\n" for query, doc in pairs.to_numpy())
    )
    words = [tmp_path / "qrels", tmp_path / "run", "--exclude", tmp_path / "pairs"]
    words += ["--unjudged", unjudged, "--metric", "ndcg", "recall@3"]
    found = scores_of(capsys, *words)["run"]
    options = {"ties": "item", "short": "pad", "zero_division": 0, "min_relevance": 1}
    options |= {"population": "all", "truth": qrels, "exclude": pairs, "unjudged": unjudged}
    frame = run.astype({"score": "float32"})
    values = frame.rec(**options).evaluate(["ndcg", "recall@3"])["score"]

    assert found == pytest.approx(values.loc[run["query"].unique()].mean().to_dict())


def test_pairs_without_numbers(tmp_path, capsys):
    """Qrels and --exclude may have lines of query and document alone."""
    (tmp_path / "qrels").write_text("q1 d2\nq1 d3\n")
    (tmp_path / "exclude").write_text("q1 d1\n")
    (tmp_path / "run").write_text("q1 d1 1\nq1 d2 2\nq1 d4 3\n")
    words = [tmp_path / "qrels", tmp_path / "run", "-m", "P_2", "recip_rank"]

    assert {"run": {"precision@2": 0.5, "reciprocal_rank": 0.5}} == scores_of(capsys, *words)
    words += ["--exclude", tmp_path / "exclude"]
    assert {"run": {"precision@2": 0.5, "reciprocal_rank": 1.0}} == scores_of(capsys, *words)


def test_queries_without_candidates_count(tmp_path, capsys):
    """A query whose documents are all left out counts as 0, as in trec_eval."""
    (tmp_path / "a.run").write_text("1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n2 Q0 x 1 1 t\n")
    (tmp_path / "qrels").write_text("1 0 b 1\n2 0 y 1\n3 0 z 1\n")
    words = [tmp_path / "qrels", tmp_path / "a.run", "--unjudged", "drop", "--metric", "recall@1"]

    assert {"a.run": {"recall@1": 1 / 2}} == scores_of(capsys, *words)
    main(["trec", *map(str, words)])
    assert (
        "queries that the run lacks: 1, left out, unless with --complete; documents not judged: 2, "
        "left out" in capsys.readouterr().err
    )


def test_read_frames_give_what_the_command_gives(capsys):
    """The note of `measure_run_file` tells how the accessor gives the command's values."""
    qrels, run = recframe.read_qrels(QRELS), recframe.read_run(BM25).astype({"score": "float32"})
    options = {"ties": "item", "short": "pad", "zero_division": 0, "min_relevance": 1}
    means = run.rec(truth=qrels, population="rows", **options).mean(["ndcg@3", "average_precision"])
    found = scores_of(capsys, QRELS, BM25, "--metric", "ndcg@3", "average_precision")

    assert found["bm25.run"] == means.loc["score"].to_dict()


def test_queries_have_no_unit(capsys):
    """A query is a ranking by itself, so --unit is refused."""
    with pytest.raises(SystemExit):
        main(["trec", QRELS, BM25, "--unit", "query"])
    assert "unrecognized arguments: --unit" in capsys.readouterr().err
