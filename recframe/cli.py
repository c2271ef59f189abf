"""The command line: arguments, printing and exit status."""

import argparse
import json
import math
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

from recframe.console import (
    REFUSED,
    check_shown,
    describe,
    escape,
    one_line,
    show,
    tell,
    write,
)
from recframe.errors import RecframeError
from recframe.files.budget import MEMORY, check_memory
from recframe.files.output import (
    FILE_ENDINGS,
    check_apart,
    list_files,
    mean_of_tables,
    whole_file,
    write_each,
)
from recframe.files.paths import find_files
from recframe.functions import iter_evaluate
from recframe.metrics.definitions import DEFAULT_METRICS
from recframe.metrics.names import describe_metrics, parse_metric
from recframe.options import CHOICES, DEFAULTS, MEANINGS, make_options
from recframe.startup import INTERRUPTED

DONE, USAGE, TERMINATED = 0, 2, 143
WITHOUT = {"user": "all rows are one ranking", "relevant": "every pair of truth is relevant"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0 done, 1 refused or failed, 2 usage."""
    try:
        with unwinding_on_sigterm():
            print_means(build_parser().parse_args(argv))
    except RecframeError as error:
        tell(str(error))
        return REFUSED
    except KeyboardInterrupt:
        tell("interrupted")
        return INTERRUPTED
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        found = describe(error)
        if isinstance(error, MemoryError) or "thread" in found:
            tell(f"the system gave no more memory or threads ({found}); pass a smaller --memory")
        else:
            tell(f"unexpected {found}; python -X dev -m recframe shows where")
        return REFUSED
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
    is_terminal = sys.stderr is not None and sys.stderr.isatty()  # None where it was closed
    options["progress"] = is_terminal and not arguments.no_progress
    if len(options.get("ascending", ())) == 1 and len(arguments.score or ()) < 2:
        (options["ascending"],) = options["ascending"]  # else it could be of the last score only
    options |= {name: None for name in WITHOUT if getattr(arguments, f"no_{name}")}
    check_shown()
    files = find_files(arguments.paths)
    tables = partial(iter_evaluate, files, arguments.metrics or DEFAULT_METRICS, **options)
    path = arguments.per_user
    if path is None:
        show(as_text(mean_of_tables(tables()), arguments.format))
        return
    truth = [] if arguments.truth is None else [arguments.truth]
    read = [
        *(file.path for file in files),
        *(file for given in truth for file in list_files(given)),
    ]
    check_apart(path, read, [*arguments.paths, *truth])
    with whole_file(path) as file:  # in place once the means have been shown too
        with closing(write_each(tables(), file, path.suffix)) as passing:
            means = mean_of_tables(passing)
        show(as_text(means, arguments.format))


def as_text(table: pd.DataFrame, text_format: str) -> str:
    """Return the table of means as text."""
    if text_format == "json":
        values = table.astype(object).where(table.notna(), None)
        return json.dumps(values.to_dict("index"), indent=2, ensure_ascii=False)
    table = table.rename(index=_printable, columns=_printable)
    if text_format == "csv":
        return table.to_csv().rstrip("\n")
    return table.rename_axis(index=None, columns=None).to_string()


def _printable(label: object) -> str:
    """Return a label as it is printed, in one line."""
    return escape(str(label))


class Parser(argparse.ArgumentParser):
    """A parser that says what it says to streams of any state."""

    def print_help(self, file: object = None) -> None:
        """Print the help."""
        show(self.format_help().rstrip("\n"))

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the usage, and end."""
        with suppress(OSError):
            usage = f"{self.format_usage()}{self.prog}: error: "
            write(sys.stderr, f"{usage}{one_line(message)}\n")
        self.exit(USAGE)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = Parser(
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
        group = command.add_mutually_exclusive_group()
        group.add_argument(f"--{name.replace('_', '-')}", **_describe_flag(name, meaning))
        if name in WITHOUT:
            group.add_argument(f"--no-{name}", action="store_true", help=WITHOUT[name])
    add(
        "--no-ascending",
        dest="ascending",
        action="append_const",
        const=False,
        help="the highest score is the best, whatever its name",
    )
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
        type=_usage(_memory),
        default=MEMORY,
        metavar="SIZE",
        help="memory to work in, as 512MiB; without a unit bytes (default: %(default)s)",
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
        except (ValueError, OverflowError) as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return reader


def _number(text: str) -> float:
    """Return the number that a text means; whole numbers stay exact."""
    number = float(text)
    if math.isinf(number) and "inf" not in text.lower():
        raise RecframeError(f"must be a number that floats can hold, found {text!r}")
    try:
        return int(text)
    except ValueError:
        return number


def _memory(text: str) -> int:
    """Return the bytes that a text means; a number alone is one of bytes."""
    is_bytes = text.isdecimal() and len(text) < 20  # Python does not read thousands of digits
    return check_memory(int(text) if is_bytes else text[:100])  # nor is any amount that long


def _table_path(text: str) -> Path:
    """Return the path of a table to write, or raise where its ending names no format."""
    path = Path(text)
    if path.suffix not in FILE_ENDINGS:
        raise RecframeError(f"must end in {' or '.join(FILE_ENDINGS)}, found {text!r}")
    return path
