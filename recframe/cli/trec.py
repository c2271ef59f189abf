"""``recframe trec``: TREC runs against their qrels, with the conventions of trec_eval."""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from recframe import __version__
from recframe.accessor import rec
from recframe.analysis.compare import compare_table
from recframe.analysis.summary import summary_table
from recframe.cli.commands import open_outputs
from recframe.cli.flags import VERBOSITY, add_metrics, add_options, add_output, add_views
from recframe.cli.parser import read_trec_metrics
from recframe.cli.results import (
    Result,
    count_users,
    escape_label,
    find_baseline,
    format_result,
    make_users_result,
    write_result,
)
from recframe.console import DONE, tell
from recframe.conventions import TREC
from recframe.errors import RecframeError, RecframeWarning, prefix_errors, quote, shorten, show_path
from recframe.files.per_user_tables import describe_made, writing_rows
from recframe.files.trec import QRELS_LINES, RUN_LINES, read_lines
from recframe.frames.id_kinds import find_difference
from recframe.frames.tables import mean_table, tidy_table
from recframe.metrics.names import parse_metrics
from recframe.options import DEFAULTS, Options
from recframe.stores import ENVIRONMENT, find_ending, show_uri
from recframe.stores.store import Store, locate

METRICS = ("average_precision", "reciprocal_rank", "precision@10", "recall@100", "ndcg@10")
CONVENTIONS: dict[str, Any] = {
    **TREC,
    "min_relevance": 1,
    "min_score": -math.inf,  # a score of -inf is the lowest
    "unjudged": "nonrelevant",
}
OPTIONS = (*CONVENTIONS, "gain", "exclude")
ROLES: dict[str, Any] = {"user": "query", "item": "doc", "score": "score"}


def add_trec(command: argparse.ArgumentParser) -> None:
    """Add the arguments of ``recframe trec``."""
    command.set_defaults(run=run_trec, truth=None, **CONVENTIONS)
    command.usage = "%(prog)s [--metric NAME ...] [OPTION ...] QRELS RUN [RUN ...]"
    command.description = """\
Print the mean over queries of ranking metrics, a row for each TREC run, as
trec_eval does. Scores are rounded to float32; equal scores are ordered by
document, in descending order. Queries count if both run and qrels have them.
A run has lines of query, Q0, document, rank, score and tag, or of query,
document and rank; qrels, and the pairs of --exclude, of query, iteration,
document and relevance, of which the iteration, or both numbers, may be
missing. All may be compressed by gzip, bzip2 or xz. In the options below, a
user is a query, an item is a document, the frame is the run, and truth is the
qrels."""
    command.epilog = """\
The flags -c, -l, -q, -J and -m of trec_eval work, as do its names of metrics:
P.5,10 is precision@5 and precision@10, ndcg_cut_10 is ndcg@10, map is
average_precision. nDCG reads grades whatever -l says.

examples:
  recframe trec qrels.txt bm25.run
  recframe trec qrels.txt runs/*.gz --metric ndcg@10 recall@1000 --complete
  recframe trec qrels.txt bm25.run -q --metric average_precision
  recframe trec qrels.txt bm25.run dense.run --baseline bm25.run"""
    command.add_argument("qrels", metavar="QRELS", help="the file of qrels")
    command.add_argument("paths", nargs="+", metavar="RUN", help="a file of a run")
    add_metrics(command, METRICS, read_trec_metrics)
    command.add_argument(
        "-c",
        "--complete",
        action="store_true",
        help="count queries of the qrels that a run lacks as 0; otherwise they are left out",
    )
    defaults = {name: CONVENTIONS.get(name, DEFAULTS[name]) for name in OPTIONS}
    add_options(command, defaults, min_relevance=["-l"])
    command.add_argument(
        "-J",
        dest="unjudged",
        action="store_const",
        const="drop",
        help="leave out documents that are not judged (same as --unjudged drop)",
    )
    add_views(command, "run", "queries")
    # -q is the flag of trec_eval here.
    verbosity = {flags.removeprefix("-q "): settings for flags, settings in VERBOSITY.items()}
    add_output(command, "the means", "query", verbosity).add_argument(
        "-q",
        "--per-query",
        action="store_true",
        help="print the values of every query, and of all last, in trec_eval's lines; with "
        "--baseline, print differences from it",
    )


class Run(NamedTuple):
    """The values of queries, the queries that a run ranks, and the numbers without a partner."""

    name: str
    per_query: pd.DataFrame
    ranked: pd.Index[Any]
    n_rows: int
    only: dict[str, int]  # numbers of queries and documents that only the run or the qrels have


def run_trec(arguments: argparse.Namespace) -> tuple[int, str]:
    """Print the means of runs; if asked, write them and the values of every query to files."""
    values = {name: one for name in OPTIONS if (one := getattr(arguments, name)) is not None}
    metrics = [one.label for one in parse_metrics(arguments.metrics or METRICS)]
    names = name_runs(arguments.paths)
    known = dict(zip([*arguments.paths, *names], [*names, *names], strict=True))
    baseline = arguments.baseline = find_baseline(arguments.baseline, known, "runs")
    paths = [arguments.qrels, *arguments.paths]
    with open_outputs(arguments, paths) as (output, each):
        options = {**values, "like": "trec_eval", "population": "truth"}
        options["truth"] = read_lines(arguments.qrels, QRELS_LINES)
        if arguments.exclude is not None:
            with prefix_errors("exclude"):
                options["exclude"] = read_lines(arguments.exclude, QRELS_LINES)
        runs = [
            measure_run_file(path, name, metrics, options)
            for path, name in zip(arguments.paths, names, strict=True)
        ]
        tables = [run.per_query for run in runs]
        if not arguments.complete:
            tables = [run.per_query.loc[run.per_query.index.isin(run.ranked)] for run in runs]
        per_query = pd.concat(tables, axis=1).sort_index()
        if each is not None:
            made = describe_made(Options(**options), complete=arguments.complete)
            ending = find_ending(arguments.per_user)
            with writing_rows(each, ending, made) as write:
                write(tidy_table(per_query))
        about = {
            "recframe": __version__,
            "command": "trec",
            "qrels": show_uri(arguments.qrels),
            "paths": list(map(show_uri, arguments.paths)),
            "rows": sum(run.n_rows for run in runs),
            "options": values | {"complete": arguments.complete},
            "only": {run.name: run.only for run in runs},
        }
        counts = count_users(per_query, 0)
        result = make_users_result(table_queries(per_query, arguments), counts, arguments, about)
        lines = None
        if arguments.per_query:
            lines = write_queries(per_query, baseline, result.document, arguments.format)
        write_result(result, arguments, output, lines)
    if not arguments.quiet:
        for run in runs:
            _tell_unmatched(run, options, is_complete=arguments.complete)
    return DONE, f"{len(per_query):,} queries"


def table_queries(per_query: pd.DataFrame, arguments: argparse.Namespace) -> pd.DataFrame:
    """Return the means that the flags ask for, or differences from the baseline."""
    if arguments.summary:
        return summary_table(per_query, how=arguments.how)
    if arguments.baseline is not None:
        return compare_table(per_query, baseline=arguments.baseline, how=arguments.how)
    return mean_table(per_query)


def name_runs(paths: list[str]) -> list[str]:
    """Return the names of the runs' files, or their paths if two names are the same."""
    by_file, stores = dict[object, str](), dict[str, Store]()
    for path in paths:
        file = locate(path, ENVIRONMENT, stores).identify()
        if file in by_file:
            also = "" if by_file[file] == path else f", also as {show_path(by_file[file])}"
            raise RecframeError(f"{show_path(path)} is named twice{also}. Name each run once.")
        by_file[file] = path
    shown = list(map(show_uri, paths))
    names = [Path(path).name for path in shown]
    names = names if len(set(names)) == len(names) else shown
    if len(set(names)) < len(names):  # Addresses may differ in hidden parts.
        names = [f"{name} ({n})" for n, name in enumerate(names, 1)]
    return names


def measure_run_file(path: str, name: str, metrics: list[str], options: Mapping[str, Any]) -> Run:
    """Return a run's values for all queries of the qrels."""
    rows = read_lines(path, RUN_LINES)[[*ROLES.values()]].astype({"score": "float32"})
    queries = pd.Index(options["truth"]["query"].unique())
    is_known = rows["query"].isin(queries)
    with prefix_errors(show_path(path)):
        if not is_known.any():
            of_run = pd.Index(rows["query"].unique())
            raise RecframeError(
                f"no query is in both the run and the qrels; the run has {quote(of_run[0])}, the "
                f"qrels have {quote(queries[0])}{find_difference(of_run, queries, 'the qrels')}"
            )
        accessor = rec(rows[is_known], **ROLES, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecframeWarning)  # trec_eval says nothing of this.
            table = accessor.evaluate(metrics)
    is_ranked, counted, pairs = queries.isin(rows["query"]), rows[is_known], ["query", "doc"]
    if "exclude" in options:
        found = counted.merge(options["exclude"][pairs], how="left", indicator="found")
        counted = counted[found["found"].to_numpy() == "left_only"]
    qrels = options["truth"]
    judged = counted.merge(qrels.loc[qrels["relevance"] >= 0, pairs])
    only = {
        "unjudged_queries": rows["query"][~is_known].nunique(),
        "unranked_queries": int((~is_ranked).sum()),
        "unjudged_documents": len(counted) - len(judged),
    }
    table = table.rename(columns={"score": name}, level="score")
    return Run(name, table, queries[is_ranked], len(rows), only)


def write_queries(
    per_query: pd.DataFrame, baseline: Hashable | None, document: Mapping[str, Any], form: str
) -> str:
    """Return the values of every query, or differences from the baseline; means come last."""
    if baseline is not None:
        others = [name for name in per_query.columns.unique("score") if name != baseline]
        differences = {name: per_query[name] - per_query[baseline] for name in others}
        per_query = pd.concat(differences, axis=1, names=["score"])
    means = mean_table(per_query)
    if form == "csv":
        rows = tidy_table(per_query).set_index("query")
        all_last = pd.concat([rows, means.reset_index().assign(query="all").set_index("query")])
        return format_result(Result(all_last, all_last, {}), form)
    if form == "json":
        scores = per_query.columns.unique("score")
        queries = {
            query: {score: row[score].to_dict() for score in scores}
            for query, row in per_query.iterrows()
        }
        values = {**document, "queries" if baseline is None else "differences": queries}
        return format_result(Result(per_query, per_query, values), form)
    lines = list[tuple[object, object, object]]()  # trec_eval prints these three columns
    for name, of_all in means.iterrows():
        for query, row in per_query[name].dropna(how="all").iterrows():
            lines += [(metric, query, f"{value:.4f}") for metric, value in row.items()]
        lines.append(("runid", "all", name))
        if baseline is not None:
            lines.append(("baseline", "all", baseline))
        lines += [(metric, "all", f"{value:.4f}") for metric, value in of_all.items()]
    shown = (map(escape_label, line) for line in lines)
    return "\n".join(f"{metric:<22}\t{query}\t{value}" for metric, query, value in shown)


def _tell_unmatched(run: Run, options: Mapping[str, Any], *, is_complete: bool) -> None:
    """Note the queries and documents that only a run or only the qrels have."""
    unranked_are = "counted as 0" if is_complete else "left out, unless with --complete"
    unjudged_are = "left out" if options["unjudged"] == "drop" else "counted as not relevant"
    unjudged, unranked, documents = run.only.values()
    numbers = {
        f"queries that the qrels lack: {unjudged:,}, left out": unjudged,
        f"queries that the run lacks: {unranked:,}, {unranked_are}": unranked,
        f"documents not judged: {documents:,}, {unjudged_are}": documents,
    }
    if parts := [text for text, number in numbers.items() if number]:
        tell(f"note: {shorten(run.name)}: {'; '.join(parts)}")
