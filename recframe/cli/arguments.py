"""The arguments of the command line: what there is to ask for, and how it is written."""

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from recframe import __version__
from recframe.cli.commands import WITHOUT, run_catalogue, run_describe, run_evaluate
from recframe.cli.examples import (
    CATALOGUE_EXAMPLES,
    DESCRIBE_EXAMPLES,
    EVALUATE_EXAMPLES,
    EXAMPLES,
)
from recframe.cli.results import OUTPUT_ENDINGS
from recframe.cli.statuses import DONE, STATUSES, USAGE
from recframe.cli.values import (
    as_usage,
    read_items,
    read_k,
    read_memory,
    read_number,
    read_path,
    refuse_k,
)
from recframe.cli.words import METRIC_FLAGS, expand, split_metrics
from recframe.console import one_line, show, write
from recframe.errors import RecframeError, find_near, quote
from recframe.files.budget import MEMORY
from recframe.files.output import FILE_ENDINGS
from recframe.metrics.definitions import DEFAULT_METRICS
from recframe.metrics.names import describe_metrics
from recframe.options import CHOICES, DEFAULTS, MEANINGS, make_options

GROUPS = {
    "columns": ("user", "item", "score", "ascending", "relevant"),
    "edge cases": ("ties", "short", "missing", "duplicates", "zero_division"),
    "relevance": ("min_relevance", "gain", "min_score"),
    "truth": ("truth", "truth_user", "truth_item", "absent"),
    "candidates": ("exclude", "unjudged"),
}
FILES = ("truth", "exclude")
NOT_SHOWN = ("gain", "absent")  # which no figure of the catalogue depends on
NOT_DESCRIBED = ("ties", "zero_division", "gain")  # which no figure depends on


class Parser(argparse.ArgumentParser):
    """A parser that says what it says to streams of any state."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options["formatter_class"] = argparse.RawDescriptionHelpFormatter
        super().__init__(*args, **options)
        self.color = False  # of Python 3.14: what is shown has its control characters escaped

    def print_help(self, file: object = None) -> None:
        """Print the help."""
        show(self.format_help().rstrip("\n"))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return what is known and what is not, or end at a flag that is not, with the nearest."""
        known, rest = super().parse_known_args(args, namespace)
        flag = next((word.partition("=")[0] for word in rest if word.startswith("--")), "")
        flags = {one.lstrip("-"): one for one in self._option_string_actions}
        if near := find_near(flag.lstrip("-"), flags):
            self.error(f"unrecognized arguments: {flag}; did you mean {flags[near[0]]}?")
        return known, rest

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the usage, and end."""
        with suppress(OSError):
            usage = f"{self.format_usage()}{self.prog}: error: "
            write(sys.stderr, f"{usage}{one_line(message)}\n")
        self.exit(USAGE)


class ShowVersion(argparse.Action):
    """Prints the version, to a stream of any state too."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print it, and end."""
        show(f"recframe {__version__}")
        parser.exit(DONE)


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
        parser.error(f"{quote(first)} is no command; did you mean recframe evaluate {first}?")
    return parser.parse_args(words)


def build_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="recframe",
        description="Evaluate rankings of users and items in parquet files.",
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
    command.add_argument(
        *METRIC_FLAGS,
        dest="metrics",
        action="extend",
        type=as_usage(split_metrics),
        metavar="NAME",
        help=f"as precision@4; several with blanks or commas between them, or --metric for each "
        f"(default: {' '.join(DEFAULT_METRICS)})",
    )
    command.add_argument("-k", "--k", type=as_usage(refuse_k), help=argparse.SUPPRESS)
    _add_options(command, DEFAULTS)
    group = _add_output(command, "the means")
    group.add_argument(
        "--per-user",
        type=as_usage(lambda text: read_path(text, FILE_ENDINGS)),
        metavar="FILE",
        help=f"also write the values of every user to FILE ({' or '.join(FILE_ENDINGS)})",
    )
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
    _add_k(command, "the cut-off to look at")
    _add_options(command, [name for name in DEFAULTS if name not in NOT_DESCRIBED])
    _add_output(command, "the figures")
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
    _add_k(command, "the length of the lists")
    command.add_argument(
        "--items",
        type=as_usage(read_items),
        metavar="FILE|NUMBER",
        help="the catalogue: a parquet file with a column of its items, or how many it has "
        "(default: the items of PATH)",
    )
    _add_options(command, [name for name in DEFAULTS if name not in NOT_SHOWN])
    _add_output(command, "the figures")
    return parser


def _add_k(command: argparse.ArgumentParser, what: str) -> None:
    """Add the cut-off of a command."""
    text = f"{what} (default: %(default)s)"
    flags = ("-k", "--k")
    command.add_argument(*flags, type=as_usage(read_k), default=10, metavar="K", help=text)


def _add_paths(command: argparse.ArgumentParser) -> None:
    """Add the files that are read."""
    help_text = "a parquet file, a folder of them or a pattern"
    command.add_argument("paths", nargs="+", metavar="PATH", help=help_text)


def _add_options(command: argparse.ArgumentParser, names: Sequence[str] | dict[str, Any]) -> None:
    """Add the options of these names."""
    for title, members in GROUPS.items():
        group = command.add_argument_group(title)
        for name in (name for name in members if name in names):
            either = group.add_mutually_exclusive_group()
            flag = f"--{name.replace('_', '-')}"
            either.add_argument(flag, **_describe_flag(name, MEANINGS[name]))
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


def _add_output(command: argparse.ArgumentParser, what: str) -> Any:
    """Add where results go, and what work on them may take; return the group of the former."""
    group = command.add_argument_group("output")
    group.add_argument(
        "--format",
        choices=("table", "csv", "json"),
        default="table",
        help=f"how {what} are printed; json has columns, options and version beside them "
        "(default: %(default)s)",
    )
    group.add_argument(
        "-o",
        "--output",
        type=as_usage(lambda text: read_path(text, OUTPUT_ENDINGS)),
        metavar="FILE",
        help=f"also write {what} to FILE ({', '.join(OUTPUT_ENDINGS)}), whole or not at all",
    )
    said = group.add_mutually_exclusive_group()
    quiet = ("-q", "--quiet", "--no-progress")
    said.add_argument(*quiet, dest="quiet", action="store_true", help="no progress bar, no notes")
    said.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="also say what is read and how, rows, users and seconds, on standard error",
    )
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
    return group


def _describe_flag(name: str, meaning: str) -> dict[str, Any]:
    """Return the arguments of the flag of one option; default and choices are its own."""
    default = DEFAULTS[name]
    flag = {"help": meaning if default is None else f"{meaning} (default: {default})"}
    if name == "ascending":
        each = "; with several scores --ascending or --no-ascending for each, in their order"
        return {"help": meaning + each, "action": "append_const", "const": True}
    if name in CHOICES:
        return {**flag, "choices": CHOICES[name]}
    if name in FILES:
        return {**flag, "metavar": "FILE"}
    if isinstance(default, str):
        return {**flag, "metavar": "COLUMN", "action": "append" if name == "score" else "store"}
    number = as_usage(lambda text: getattr(make_options({name: read_number(text)}), name))
    return {**flag, "metavar": "NUMBER", "type": number}
