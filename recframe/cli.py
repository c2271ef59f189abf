"""The command line: arguments, printing and exit status."""

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pandas as pd

from recframe.errors import RecframeError
from recframe.files.budget import MEMORY, check_memory
from recframe.files.output import FILE_ENDINGS, mean_of_tables, whole_file, write_each
from recframe.functions import iter_evaluate
from recframe.metrics.definitions import DEFAULT_METRICS
from recframe.metrics.names import describe_metrics, parse_metric
from recframe.options import CHOICES, DEFAULTS, MEANINGS, make_options

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
    with ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():  # no other may handle signals
            previous = signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
            stack.callback(signal.signal, signal.SIGTERM, previous)
        yield


def print_means(arguments: argparse.Namespace) -> None:
    """Evaluate as asked, write the values of every user if asked, and print the means."""
    names = (*MEANINGS, "memory", "tmp")
    options = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    options["progress"] = sys.stderr.isatty() and not arguments.no_progress
    if len(options.get("ascending", ())) == 1 and len(arguments.score or ()) < 2:
        (options["ascending"],) = options["ascending"]  # else it could be of the last score only
    options |= {name: None for name in ("user", "relevant") if getattr(arguments, f"no_{name}")}
    output = nullcontext() if arguments.per_user is None else whole_file(arguments.per_user)
    with output as path:
        tables = iter_evaluate(arguments.paths, arguments.metrics or DEFAULT_METRICS, **options)
        means = mean_of_tables(tables if path is None else write_each(tables, path))
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
    command = parser.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "evaluate",
        help="mean metrics over users",
        description="Print the mean over users of ranking metrics, a row for each score column.",
        epilog=describe_metrics(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = command.add_argument
    add("paths", nargs="+", metavar="PATH", help="a parquet file, a folder of them or a pattern")
    add(
        "--metric",
        dest="metrics",
        action="append",
        type=_usage(lambda text: parse_metric(text).label),
        metavar="NAME",
        help=f"as precision@4; once for each (default: {' '.join(DEFAULT_METRICS)})",
    )
    for name, meaning in MEANINGS.items():
        add(f"--{name.replace('_', '-')}", **_describe_flag(name, meaning))
    add(
        "--no-ascending",
        dest="ascending",
        action="append_const",
        const=False,
        help="the highest score is the best, whatever its name",
    )
    add("--no-user", action="store_true", help="all rows are one ranking")
    add("--no-relevant", action="store_true", help="every pair of truth is relevant")
    add(
        "--per-user",
        type=_usage(_table_path),
        metavar="FILE",
        help=f"also write the values of every user to FILE ({' or '.join(FILE_ENDINGS)})",
    )
    add(
        "--format",
        choices=("table", "csv", "json"),
        default="table",
        help="how the means are printed (default: %(default)s)",
    )
    add(
        "--memory",
        type=_usage(check_memory),
        default=MEMORY,
        metavar="SIZE",
        help="memory to work in, as 512MiB (default: %(default)s)",
    )
    add("--tmp", metavar="FOLDER", help="where a temporary file may be made if one is needed")
    add("--no-progress", action="store_true", help="no bar on a terminal")
    return parser


def _describe_flag(name: str, meaning: str) -> dict[str, Any]:
    """Return the arguments of the flag of one option; default and choices are its own."""
    default = DEFAULTS[name]
    flag = {"help": meaning if default is None else f"{meaning} (default: {default})"}
    if name == "ascending":
        each = "; with several scores --ascending or --no-ascending for each, in their order"
        return {"help": meaning + each, "action": "append_const", "const": True}
    if name in CHOICES:
        return {**flag, "choices": CHOICES[name]}
    if name == "truth":
        return {**flag, "metavar": "FILE"}
    if isinstance(default, str):
        return {**flag, "metavar": "COLUMN", "action": "append" if name == "score" else "store"}
    number = _usage(lambda text: getattr(make_options({name: _number(text)}), name))
    return {**flag, "metavar": "NUMBER", "type": number}


def _usage(read: Callable[[str], object]) -> Callable[[str], object]:
    """Return a reader of an argument whose refusals argparse reports as wrong usage."""

    def reader(text: str) -> object:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return reader


def _number(text: str) -> float:
    """Return the number that a text means; whole numbers stay exact."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _table_path(text: str) -> Path:
    """Return the path of a table to write, or raise where its ending names no format."""
    path = Path(text)
    if path.suffix not in FILE_ENDINGS:
        raise RecframeError(f"must end in {' or '.join(FILE_ENDINGS)}, found {text!r}")
    return path
