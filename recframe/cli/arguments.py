"""The arguments of the command line: what there is to ask for, and how it is written."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recframe.cli import compare, trec
from recframe.cli.commands import WITHOUT, run_catalogue, run_describe, run_evaluate
from recframe.cli.examples import (
    CATALOGUE_EXAMPLES,
    COMPARE_EXAMPLES,
    DESCRIBE_EXAMPLES,
    EVALUATE_EXAMPLES,
    EXAMPLES,
    TREC_EXAMPLES,
)
from recframe.cli.filters import add_filters
from recframe.cli.parser import Parser, ShowVersion
from recframe.cli.results import QUIET, add_output, add_per_user
from recframe.cli.segments import add_segments
from recframe.cli.spelling import spell_flags
from recframe.cli.statuses import STATUSES, USAGE
from recframe.cli.values import (
    as_usage,
    describe_flag,
    read_items,
    read_k,
    read_memory,
    refuse_k,
)
from recframe.cli.views import add_per_query, add_views
from recframe.cli.words import METRIC_FLAGS, expand, split_metrics
from recframe.errors import RecframeError, quote, show_path
from recframe.files.budget import MEMORY
from recframe.metrics.definitions import DEFAULT_METRICS
from recframe.metrics.names import describe_metrics
from recframe.options import DEFAULTS, MEANINGS

GROUPS = {
    "columns": ("user", "item", "score", "ascending", "relevant"),
    "edge cases": ("ties", "short", "missing", "duplicates", "zero_division"),
    "relevance": ("min_relevance", "gain", "min_score"),
    "truth": ("truth", "truth_user", "truth_item", "absent"),
    "candidates": ("exclude", "unjudged"),
}
NOT_SHOWN = ("gain", "absent")  # which no figure of the catalogue depends on
NOT_DESCRIBED = ("ties", "zero_division", "gain")  # which no figure depends on


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return what the words of a command line ask for; where that is nothing, show the help."""
    parser = build_parser()
    if not words:
        parser.print_help()
        parser.exit(USAGE)
    try:
        words = expand(words)
    except RecframeError as error:
        parser.error(str(error))
    first = next(iter(words), "-")
    if first[:1] != "-" and (Path(first).suffix or "/" in first):  # as no command has
        parser.error(
            f"{quote(first)} is no command; did you mean recframe evaluate {show_path(first)}?"
        )
    arguments = parser.parse_args(words)
    try:
        if "check" in arguments:
            arguments.check(arguments)
    except RecframeError as error:
        parser.error(spell_flags(str(error)))
    return arguments


def build_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="recframe",
        description="Evaluate rankings of users and items in files: parquet, csv and others.",
        epilog=f"{EXAMPLES}\n\n{STATUSES}",
    )
    parser.add_argument("--version", action=ShowVersion, nargs=0, help="show the version")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", title="commands")
    command = commands.add_parser(
        "evaluate",
        help="mean metrics over users",
        description="Print the mean over users of ranking metrics, a row for each score column.",
        prog="recframe evaluate",
        usage="%(prog)s [--metric NAME ...] [OPTION ...] PATH [PATH ...]",
        epilog=f"{describe_metrics()}\n\n{EVALUATE_EXAMPLES}\n\n{STATUSES}",
    )
    command.set_defaults(run=run_evaluate)
    _add_paths(command)
    add_filters(command)
    _add_metrics(command, DEFAULT_METRICS)
    _add_options(command, DEFAULTS)
    add_segments(command)
    add_views(command, "score", "users")
    add_per_user(add_output(command, "the means"), "user")
    _add_limits(command)
    command = commands.add_parser(
        "describe",
        help="what the files hold, before a number is trusted",
        prog="recframe describe",
        usage="%(prog)s [--k K] [OPTION ...] PATH [PATH ...]",
        description="Print what the data is, for each score column: its users, nulls, duplicates,\n"
        "short rankings and ties. Nothing that is counted is refused.",
        epilog=f"{DESCRIBE_EXAMPLES}\n\n{STATUSES}",
    )
    command.set_defaults(run=run_describe)
    _add_paths(command)
    add_filters(command)
    _add_k(command, "the cut-off to look at")
    _add_options(command, [name for name in DEFAULTS if name not in NOT_DESCRIBED])
    add_output(command, "the figures")
    _add_limits(command)
    command = commands.add_parser(
        "catalogue",
        help="what the lists of all users show of the items",
        prog="recframe catalogue",
        usage="%(prog)s [--k K] [--items FILE|NUMBER] [OPTION ...] PATH [PATH ...]",
        description="Print what all users' first k rows show of the items, for each score column:\n"
        "coverage, Gini index and entropy (in bits) of shares, personalization.",
        epilog=f"{CATALOGUE_EXAMPLES}\n\n{STATUSES}",
    )
    command.set_defaults(run=run_catalogue)
    _add_paths(command)
    add_filters(command)
    _add_k(command, "the length of the lists")
    command.add_argument(
        "--items",
        type=as_usage(read_items),
        metavar="FILE|NUMBER",
        help="the catalogue: a file with a column of its items, or how many it has "
        "(default: the items of PATH)",
    )
    _add_options(command, [name for name in DEFAULTS if name not in NOT_SHOWN])
    add_output(command, "the figures")
    _add_limits(command)
    command = commands.add_parser(
        "compare",
        help="what has changed since values of users were saved, and a gate for jobs",
        prog="recframe compare",
        usage="%(prog)s [--max-drop D | --non-inferior D] [OPTION ...] OLD NEW",
        description="Print what every score of NEW changes against that of the same name "
        "in OLD, of\n"
        "the users and metrics that both have: the table of recframe.compare. Both are\n"
        "files that recframe evaluate --per-user wrote, as of two nights; those of one\n"
        "score each may have different ones. With --max-drop or --non-inferior the exit\n"
        "status is 3 where a metric fails, and a line on standard error says how.",
        epilog=f"{COMPARE_EXAMPLES}\n\n{STATUSES}",
    )
    compare.add_compared(command)
    _add_metrics(command, ["all that both files have"])
    compare.add_gate(command)
    add_output(command, "the differences")
    command = commands.add_parser(
        "trec",
        help="runs of TREC against their qrels, as trec_eval",
        prog="recframe trec",
        usage="%(prog)s [--metric NAME ...] [OPTION ...] QRELS RUN [RUN ...]",
        description="Print the mean over queries of ranking metrics of TREC's runs, "
        "a row for each, as\n"
        "trec_eval has it: scores are cut to float32, equal ones go by document, the last\n"
        "first, and those queries count that both run and qrels have. A run has lines of\n"
        "query, Q0, document, rank, score and tag; qrels, and the pairs of --exclude, of\n"
        "query, iteration, document and relevance. All may be compressed by gzip.",
        epilog=f"{TREC_EXAMPLES}\n\n{STATUSES}",
    )
    command.set_defaults(run=trec.run_trec, truth=None)
    command.add_argument("qrels", metavar="QRELS", help="the file of qrels")
    command.add_argument("paths", nargs="+", metavar="RUN", help="a file of a run")
    _add_metrics(command, trec.METRICS)
    command.add_argument(
        "--complete",
        action="store_true",
        help="queries of the qrels that a run does not have count as 0; else they are left out",
    )
    _add_options(command, trec.OPTIONS, trec.CONVENTIONS)
    add_views(command, "run", "queries")
    group = add_output(command, "the means", QUIET[1:])  # -q is that of trec_eval
    add_per_user(group, "query")
    add_per_query(group)
    return parser


def _add_k(command: argparse.ArgumentParser, what: str) -> None:
    """Add the cut-off of a command."""
    text = f"{what} (default: %(default)s)"
    flags = ("-k", "--k")
    command.add_argument(*flags, type=as_usage(read_k), default=10, metavar="K", help=text)


def _add_paths(command: argparse.ArgumentParser) -> None:
    """Add the files that are read."""
    help_text = (
        "a file, a folder of them or a pattern, also as s3://: parquet, csv, tsv, jsonl, feather"
    )
    command.add_argument("paths", nargs="+", metavar="PATH", help=help_text)


def _add_metrics(command: argparse.ArgumentParser, default: Sequence[str]) -> None:
    """Add what is measured."""
    command.add_argument(
        *METRIC_FLAGS,
        dest="metrics",
        action="extend",
        type=as_usage(split_metrics),
        metavar="NAME",
        help=f"as precision@4; several with blanks or commas between them, or --metric for each "
        f"(default: {' '.join(default)})",
    )
    command.add_argument("-k", "--k", type=as_usage(refuse_k), help=argparse.SUPPRESS)


def _add_options(
    command: argparse.ArgumentParser,
    names: Sequence[str] | dict[str, Any],
    defaults: dict[str, Any] = DEFAULTS,
) -> None:
    """Add the options of these names."""
    for title, members in GROUPS.items():
        group = command.add_argument_group(title)
        for name in (name for name in members if name in names):
            either = group.add_mutually_exclusive_group()
            flag = f"--{name.replace('_', '-')}"
            default = defaults.get(name, DEFAULTS[name])
            either.add_argument(flag, **describe_flag(name, MEANINGS[name], default))
            if name in WITHOUT:
                either.add_argument(f"--no-{name}", action="store_true", help=WITHOUT[name])
            if name == "ascending":
                group.add_argument(
                    "--no-ascending",
                    dest="ascending",
                    action="append_const",
                    const=False,
                    help="the highest score is the best, whatever its name",
                )


def _add_limits(command: argparse.ArgumentParser) -> None:
    """Add what work may take."""
    limits = command.add_argument_group("limits")
    limits.add_argument(
        "--memory",
        type=as_usage(read_memory),
        default=MEMORY,
        metavar="SIZE",
        help="memory to work in, as 512MiB; without a unit bytes (default: %(default)s)",
    )
    limits.add_argument(
        "--tmp", metavar="FOLDER", help="where a temporary file may be made if one is needed"
    )
