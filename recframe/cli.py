"""The command line: arguments, printing and exit status."""

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from recframe.errors import RecframeError
from recframe.files.budget import MEMORY, check_memory
from recframe.files.output import FILE_ENDINGS, mean_of_tables, whole_file, written
from recframe.functions import iter_evaluate
from recframe.metrics.definitions import DEFAULT_METRICS
from recframe.metrics.names import describe_metrics, parse_metric
from recframe.options import CHOICES, MEANINGS, Options

DONE, REFUSED, INTERRUPTED, TERMINATED = 0, 1, 130, 143


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0 done, 1 data refused, 2 usage."""
    arguments = build_parser().parse_args(argv)
    try:
        with unwinding_on_sigterm():
            print_means(arguments)
        sys.stdout.flush()
    except RecframeError as error:
        print(f"recframe: {error}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print("recframe: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough; what is left in the buffer must not fail at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return DONE


@contextmanager
def unwinding_on_sigterm() -> Iterator[None]:
    """Let a request to end leave as few files behind as an error does."""

    def stop(*_: object) -> None:
        raise SystemExit(TERMINATED)

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
        return
    previous = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def print_means(arguments: argparse.Namespace) -> None:
    """Evaluate as asked, write the values of every user if asked, and print the means."""
    given = {name: getattr(arguments, name) for name in MEANINGS}
    options = {name: value for name, value in given.items() if value is not None}
    if arguments.no_user:
        options["user"] = None
    output = nullcontext() if arguments.per_user is None else whole_file(arguments.per_user)
    with output as path:
        tables = iter_evaluate(
            arguments.paths,
            arguments.metrics or DEFAULT_METRICS,
            memory=arguments.memory,
            tmp=arguments.tmp,
            progress=sys.stderr.isatty() and not arguments.no_progress,
            **options,
        )
        means = mean_of_tables(tables if path is None else written(tables, path))
    print(as_text(means, arguments.format))


def as_text(table: pd.DataFrame, text_format: str) -> str:
    """Return the table of means as text."""
    if text_format == "csv":
        return table.to_csv().rstrip("\n")
    if text_format == "json":
        values = table.astype(object).where(table.notna(), None)
        return json.dumps(values.to_dict("index"), indent=2, ensure_ascii=False)
    return table.rename_axis(index=None, columns=None).to_string()


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="recframe", description="Evaluate rankings of users and items in parquet files."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "evaluate",
        help="mean metrics over users",
        description="Print the mean over users of ranking metrics, a row for each score column.",
        epilog=describe_metrics(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "paths", nargs="+", metavar="PATH", help="a parquet file, a folder of them or a pattern"
    )
    command.add_argument(
        "--metric",
        dest="metrics",
        action="append",
        type=_usage(lambda text: parse_metric(text).label),
        metavar="NAME",
        help=f"as precision@4; once for each (default: {' '.join(DEFAULT_METRICS)})",
    )
    for name, meaning in MEANINGS.items():
        _add_option(command, name, meaning)
    command.add_argument("--no-user", action="store_true", help="all rows are one ranking")
    command.add_argument(
        "--per-user",
        type=_usage(_table_path),
        metavar="FILE",
        help=f"also write the values of every user to FILE ({' or '.join(FILE_ENDINGS)})",
    )
    command.add_argument(
        "--format",
        choices=("table", "csv", "json"),
        default="table",
        help="how the means are printed (default: %(default)s)",
    )
    command.add_argument(
        "--memory",
        type=_usage(check_memory),
        default=MEMORY,
        metavar="SIZE",
        help="memory to work in, as 512MiB (default: %(default)s)",
    )
    command.add_argument(
        "--tmp", metavar="FOLDER", help="where a temporary file may be made if one is needed"
    )
    command.add_argument("--no-progress", action="store_true", help="no bar on a terminal")
    return parser


def _add_option(command: argparse.ArgumentParser, name: str, meaning: str) -> None:
    """Add the flag of one option; its default and choices are those of `Options`."""
    flag = f"--{name.replace('_', '-')}"
    default = getattr(Options(), name)
    meaning = meaning if default is None else f"{meaning} (default: {default})"
    if name in CHOICES:
        command.add_argument(flag, choices=CHOICES[name], help=meaning)
    elif name == "truth":
        command.add_argument(flag, metavar="FILE", help=meaning)
    elif isinstance(default, str):
        action = "append" if name == "score" else "store"
        command.add_argument(flag, action=action, metavar="COLUMN", help=meaning)
    else:

        def number(text: str) -> float:
            given: dict[str, Any] = {name: float(text)}
            replace(Options(), **given)  # checks it
            return float(text)

        command.add_argument(flag, type=_usage(number), metavar="NUMBER", help=meaning)


def _usage(read: Callable[[str], object]) -> Callable[[str], object]:
    """Return a reader of an argument whose refusals argparse reports as wrong usage."""

    def reader(text: str) -> object:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return reader


def _table_path(text: str) -> Path:
    """Return the path of a table to write, or raise where its ending names no format."""
    path = Path(text)
    if path.suffix not in FILE_ENDINGS:
        raise RecframeError(f"must end in {' or '.join(FILE_ENDINGS)}, found {text!r}")
    return path
