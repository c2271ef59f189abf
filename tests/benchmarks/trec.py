"""Compare recframe with pytrec_eval, on one run and in one process.

python -m tests.benchmarks.trec --queries 10000 --documents 100 --repeat 5

The first times are of the evaluation alone: `recframe.evaluate` on frames in memory, and a new
`RelevanceEvaluator` and its `evaluate` on the same values in dicts of dicts. Making the frames and
dicts is not timed. The second times are from TREC files to the values of every query, by
`recframe.read_run` and `read_qrels`, and by `pytrec_eval.parse_run` and `parse_qrel`.
"""

import argparse
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import pandas as pd
import pytrec_eval

import recframe

CUTS = (5, 10, 20, 100)
PAIRS = {"P": "precision", "recall": "recall", "map_cut": "average_precision", "ndcg_cut": "ndcg"}
FIGURES = {f"{name}.{k}": f"{own}@{k}" for name, own in PAIRS.items() for k in CUTS}
FIGURES |= {"map": "average_precision", "Rprec": "r_precision", "recip_rank": "reciprocal_rank"}
FIGURES |= {"ndcg": "ndcg", "success.10": "hit_rate@10"}
OPTIONS = {"ties": "item", "short": "pad", "zero_division": 0.0, "min_relevance": 1}
OPTIONS["population"] = "both"


def main():
    """Print the times and ratios of both, with ties everywhere and almost nowhere."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.trec", description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--documents", type=int, default=100, help="of each query")
    parser.add_argument("--repeat", type=int, default=5, help="the median of interleaved runs")
    options = parser.parse_args()
    for name, scores in {"one of 40 scores": 40, "as good as no tie": 1 << 24}.items():
        run, qrels = make(options.queries, options.documents, scores)
        dicts = nest(run), nest(qrels)
        report(name, options.repeat, partial(theirs, *dicts), partial(ours, run, qrels))
        del dicts
        with TemporaryDirectory() as folder:
            paths = write(run, qrels, Path(folder))
            report(
                f"{name}, from files", options.repeat, partial(parse, paths), partial(read, paths)
            )


def report(name, n_repeats, their, our):
    """Print the medians of interleaved calls, and of their ratios."""
    times = [(timed(their), timed(our)) for _ in range(n_repeats)]
    ratio = median(own / other for other, own in times)
    other, own = map(median, zip(*times, strict=True))
    print(f"{name}: pytrec_eval {other:.3f} s, recframe {own:.3f} s, ratio {ratio:.2f}")


def make(n_queries, n_documents, n_scores):
    """Return a run and qrels of a tenth of its rows; the documents are two million texts."""
    rng = np.random.default_rng(0)
    query = np.repeat([f"q{number}" for number in range(n_queries)], n_documents)
    doc = [f"d{number}" for number in rng.integers(0, 2_000_000, len(query))]
    run = pd.DataFrame({"query": query, "doc": doc}).drop_duplicates(ignore_index=True)
    run["score"] = rng.integers(0, n_scores, len(run)).astype(np.float32)
    qrels = run[["query", "doc"]].sample(frac=0.1, random_state=1)
    return run, qrels.assign(relevance=rng.integers(0, 3, len(qrels)))


def write(run, qrels, folder):
    """Write the files of a run and qrels, and return their paths."""
    paths = folder / "run", folder / "qrels"
    run.assign(q0="Q0", rank=1, tag="t")[["query", "q0", "doc", "rank", "score", "tag"]].to_csv(
        paths[0], sep=" ", header=False, index=False
    )
    qrels.assign(iteration=0)[["query", "iteration", "doc", "relevance"]].to_csv(
        paths[1], sep=" ", header=False, index=False
    )
    return paths


def parse(paths):
    """Return pytrec_eval's values of every query of the files."""
    parsers = pytrec_eval.parse_run, pytrec_eval.parse_qrel
    with paths[0].open() as run, paths[1].open() as qrels:
        return theirs(*(parser(file) for parser, file in zip(parsers, (run, qrels), strict=True)))


def read(paths):
    """Return recframe's values of every query of the files."""
    return ours(recframe.read_run(paths[0]), recframe.read_qrels(paths[1]))


def nest(frame):
    """Return a frame of query, document and value as a dict of dicts."""
    nested = {}
    for query, doc, value in frame.itertuples(index=False, name=None):
        nested.setdefault(query, {})[doc] = value
    return nested


def theirs(run, qrels):
    """Return pytrec_eval's values of every query."""
    return pytrec_eval.RelevanceEvaluator(qrels, set(FIGURES)).evaluate(run)


def ours(run, qrels):
    """Return recframe's values of every query."""
    return recframe.evaluate(run, list(FIGURES.values()), truth=qrels, **OPTIONS)


def timed(function, *arguments):
    """Return the seconds that a call takes."""
    began = perf_counter()
    function(*arguments)
    return perf_counter() - began


if __name__ == "__main__":
    main()
