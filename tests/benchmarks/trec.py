"""Recframe against pytrec_eval, on one run and in one process.

python -m tests.benchmarks.trec --queries 10000 --documents 100 --repeat 5

Timed is the evaluation alone: of frames in memory by `recframe.evaluate`, of the same values in
dicts of dicts by a new `RelevanceEvaluator` and its `evaluate`. Neither time has the reading of
files, nor what makes frames or dicts of them, which is shown beside.
"""

import argparse
from statistics import median
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


def main():
    """Print the times of either, with ties everywhere and next to nowhere, and their ratio."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.trec", description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--documents", type=int, default=100, help="of each query")
    parser.add_argument("--repeat", type=int, default=5, help="the median of interleaved runs")
    options = parser.parse_args()
    for name, scores in {"one of 40 scores": 40, "as good as no tie": 1 << 24}.items():
        run, qrels = make(options.queries, options.documents, scores)
        began = perf_counter()
        dicts = nest(run), nest(qrels)
        n_nested = perf_counter() - began
        times = [(timed(theirs, *dicts), timed(ours, run, qrels)) for _ in range(options.repeat)]
        their, our = map(median, zip(*times, strict=True))
        print(
            f"{name}: pytrec_eval {their:.3f} s (dicts made in {n_nested:.3f} s), "
            f"recframe {our:.3f} s, ratio {our / their:.2f}"
        )


def make(n_queries, n_documents, n_scores):
    """Return a run and qrels of a tenth of it; the documents are text, of two million."""
    rng = np.random.default_rng(0)
    query = np.repeat([f"q{number}" for number in range(n_queries)], n_documents)
    doc = [f"d{number}" for number in rng.integers(0, 2_000_000, len(query))]
    run = pd.DataFrame({"query": query, "doc": doc}).drop_duplicates(ignore_index=True)
    run["score"] = rng.integers(0, n_scores, len(run)).astype(np.float32)
    qrels = run[["query", "doc"]].sample(frac=0.1, random_state=1)
    return run, qrels.assign(relevance=rng.integers(0, 3, len(qrels)))


def nest(frame):
    """Return a frame of query, document and value as a dict of dicts."""
    nested = {}
    for query, doc, value in frame.itertuples(index=False, name=None):
        nested.setdefault(query, {})[doc] = value
    return nested


def theirs(run, qrels):
    """Return the figures of every query."""
    return pytrec_eval.RelevanceEvaluator(qrels, set(FIGURES)).evaluate(run)


def ours(run, qrels):
    """Return the same figures."""
    return recframe.evaluate(run, list(FIGURES.values()), truth=qrels, **OPTIONS)


def timed(function, *arguments):
    """Return the seconds that a call takes."""
    began = perf_counter()
    function(*arguments)
    return perf_counter() - began


if __name__ == "__main__":
    main()
