"""``recframe trec``: runs of TREC against their qrels, with the conventions of trec_eval."""

import argparse
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from recframe import __version__
from recframe.cli.commands import outputs
from recframe.cli.results import Result, as_text, result_of_means, write_result
from recframe.console import check_shown, show, tell
from recframe.errors import RecframeError, shorten, show_path
from recframe.files.lines import QRELS, RUN, read_lines
from recframe.files.output import mean_of_tables, write_each
from recframe.frames.columns import Columns
from recframe.frames.judgments import read_judgments
from recframe.frames.reading import read_interactions
from recframe.frames.tables import measure_table, tidy_table
from recframe.frames.truth import Judge
from recframe.metrics.names import Metric, parse_metrics
from recframe.options import Options

METRICS = ("average_precision", "reciprocal_rank", "precision@10", "recall@100", "ndcg@10")
CONVENTIONS: dict[str, Any] = {
    "ties": "item",
    "short": "pad",
    "zero_division": 0.0,
    "min_relevance": 1,
}
OPTIONS = (*CONVENTIONS, "gain", "min_score")
COLUMNS = Columns("query", ["score"], None, "doc", [False])
DESCRIPTION = """Print the mean over queries of ranking metrics of TREC's runs, a row for each, as
trec_eval has it: scores are cut to float32, equal ones go by document, the last
first, and those queries count that both run and qrels have. A run has lines of
query, Q0, document, rank, score and tag, qrels of query, iteration, document
and relevance; either may be compressed by gzip."""
EPILOG = """as in trec_eval:
  -c          --complete
  -l LEVEL    --min-relevance LEVEL (nDCG, which there knows no level, then
              counts grades from it on)
  -q          --per-query (-q is --quiet, as of the other commands)
  -m NAME     --metric NAME, as P.10 precision@10, recall.10 recall@10, map
              average_precision, map_cut.10 average_precision@10,
              recip_rank reciprocal_rank, Rprec r_precision, ndcg_cut.10
              ndcg@10, success.10 hit_rate@10

examples:
  recframe trec qrels.txt bm25.run
  recframe trec qrels.txt runs/*.gz --metric ndcg@10 recall@1000 --complete
  recframe trec qrels.txt bm25.run dense.run --per-query --format csv"""


class Run(NamedTuple):
    """What became of a run: the values of every query, and what only it or the qrels know."""

    name: str
    per_query: pd.DataFrame
    n_rows: int
    unjudged_queries: int
    unranked_queries: int
    unjudged_documents: int


def run_trec(arguments: argparse.Namespace) -> None:
    """Print the means of runs, and write them and the values of every query if asked."""
    started = time.perf_counter()
    given = {name: getattr(arguments, name) for name in OPTIONS}
    given = CONVENTIONS | {name: value for name, value in given.items() if value is not None}
    options = Options(**given, absent="zero" if arguments.complete else "drop")
    metrics = parse_metrics(arguments.metrics or METRICS)
    check_shown()
    paths = [arguments.qrels, *arguments.paths]
    names = name_runs(arguments.paths)
    with outputs(arguments, paths, arguments.per_user) as (output, each):
        qrels = read_lines(arguments.qrels, QRELS)
        runs = [
            read_run(path, name, qrels, metrics, options)
            for path, name in zip(arguments.paths, names, strict=True)
        ]
        per_query = pd.concat([run.per_query for run in runs], axis=1).sort_index()
        tables = (
            [per_query]
            if each is None
            else write_each([per_query], each, arguments.per_user.suffix)
        )
        means = mean_of_tables(tables)
        about = {
            "recframe": __version__,
            "command": "trec",
            "qrels": arguments.qrels,
            "paths": arguments.paths,
            "rows": sum(run.n_rows for run in runs),
            "options": given | {"complete": arguments.complete},
            "only": {run.name: dict(zip(run._fields[3:], run[3:], strict=True)) for run in runs},
        }
        result = result_of_means(means, about)
        if output is not None:
            write_result(result, output, arguments.output)
        shown = _with_queries(result, per_query) if arguments.per_query else result
        show(as_text(shown, arguments.format))
    if not arguments.quiet:
        for run in runs:
            _tell_unknown(run, complete=arguments.complete)
    if arguments.verbose:
        tell(f"{means.n_all:,} queries in {time.perf_counter() - started:.2f} s")


def name_runs(paths: list[str]) -> list[str]:
    """Return the names of runs: of their files, the whole paths where files are called alike."""
    if twice := [path for path, count in Counter(paths).items() if count > 1]:
        raise RecframeError(f"{show_path(twice[0])} is named twice; name each run once")
    names = [Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else paths


def read_run(
    path: str, name: str, qrels: pd.DataFrame, metrics: list[Metric], options: Options
) -> Run:
    """Return the values of the queries of a run that the qrels have."""
    whole = read_lines(path, RUN).astype({"score": "float32"})
    is_judged = whole["query"].isin(qrels["query"])
    # Where no query is, the refusal says why.
    run = whole[is_judged].reset_index(drop=True) if is_judged.any() else whole
    options = replace(options, truth=qrels)
    try:
        judge = Judge(read_judgments(COLUMNS, options), options)
        judged = judge.judge(read_interactions(run, COLUMNS, options), is_all=True)
    except RecframeError as error:
        raise RecframeError(f"{show_path(path)}: {error}") from error
    table = measure_table(judged, metrics, options).rename(columns={"score": name}, level="score")
    return Run(
        name,
        table,
        len(whole),
        whole["query"][~is_judged].nunique(),
        qrels["query"].nunique() - run["query"].nunique(),
        len(run) - judge.n_found,
    )


def _with_queries(result: Result, per_query: pd.DataFrame) -> Result:
    """Return a result that shows the values of every query, and those of all last."""
    rows = tidy_table(per_query).set_index("query")
    means = result.by_score.reset_index().assign(query="all").set_index("query")
    listed = pd.concat([rows, means])
    queries = {
        query: {score: row[score].to_dict() for score in per_query.columns.unique("score")}
        for query, row in per_query.iterrows()
    }
    document = {**result.document, "queries": queries}
    return Result(listed, listed, document)


def _tell_unknown(run: Run, *, complete: bool) -> None:
    """Say what only a run, or only the qrels, know."""
    what = "count as 0" if complete else "left out, unless with --complete"
    unjudged, unranked, documents = run[3:]
    numbers = {
        f"queries not in the qrels ({unjudged:,}) left out": unjudged,
        f"queries of the qrels not in it ({unranked:,}) {what}": unranked,
        f"documents not judged ({documents:,}) not relevant": documents,
    }
    said = [text for text, number in numbers.items() if number]
    if said:
        tell(f"note: {shorten(run.name)}: {'; '.join(said)}")
