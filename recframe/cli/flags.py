"""The flags that several commands share: files, metrics, options, intervals, output."""

import argparse
import inspect
import re
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, get_args

from recframe.analysis.compare import METHODS, Comparison, Correction, Test, make_comparison
from recframe.analysis.resampling import Interval, OfDifferences
from recframe.cli.parser import (
    METRIC_FLAGS,
    as_flag,
    read_checked,
    read_integer,
    read_metrics,
    read_target,
    read_term,
    refuse_k,
)
from recframe.console import DONE, FAILED, INTERRUPTED, REFUSED, TERMINATED, USAGE
from recframe.conventions import LIKE
from recframe.errors import RecframeError
from recframe.files.limits import MEMORY, check_memory
from recframe.files.per_user_tables import FILE_ENDINGS
from recframe.metrics.names import check_k
from recframe.options import CHOICES, DEFAULTS, INFER, MEANINGS, SEVERAL, Options

GATE_FAILS = f"  {FAILED}    recframe compare: its gate fails\n"
HELP_END = f"""Messages name options in Python's words: short='pad' is --short pad.

exit status:
  {DONE}    done
  {REFUSED}    the data are refused, or the system failed
  {USAGE}    wrong usage, or no arguments
{{gate}}  {INTERRUPTED}  interrupted, for example by Ctrl-C
  {TERMINATED}  ended by SIGTERM (129 by SIGHUP)"""
GROUPS = {
    "columns": ("user", "item", "score", "ascending", "relevant", "model"),
    "edge cases": ("ties", "short", "missing", "duplicates", "zero_division"),
    "relevance": ("min_relevance", "trusted_min_relevance", "null_relevance", "gain", "min_score"),
    "truth": ("truth", "truth_user", "truth_item", "population"),
    "candidates": ("exclude", "unjudged"),
    "conventions": ("like",),
}
NO_COLUMN = {
    "user": "all rows are one ranking",
    "relevant": "every pair of truth is relevant",
    "model": "no column names the model of each row",
}
PAPERS = ("latex", "markdown")  # formats for tables with intervals
OUTPUT_ENDINGS = (".csv", ".json", ".parquet")
STATISTICS_FLAGS = ("interval", "confidence", "seed", "test", "correction")
# The values of flags that only some commands have.
ABSENT: dict[str, Any] = dict.fromkeys(
    ("truth", "exclude", "by", "weights", "trusted", "per_user", "bounds", "per_query")
) | {"unit": INFER}
Flags = dict[str, dict[str, Any]]  # flag -> arguments of `add_argument`
# The arguments of a flag that names a column, and may be repeated for several.
COLUMNS: Any = {"action": "append", "metavar": "COLUMN"}

FILES: Flags = {
    "paths": {
        "nargs": "+",
        "metavar": "PATH",
        "help": "a file, a folder or a pattern, also in a store (s3://): parquet, csv, tsv, jsonl, "
        "feather",
    },
    "--filter": {
        "action": "append",
        "default": [],
        "type": lambda text: (text, read_term(text)),
        "metavar": "TEXT",
        "help": "read only rows that match, such as 'day >= 2026-11-01' or 'country in (NL, BE)': "
        "a column, one of = != < <= > >= in, not in, and a value; quote names and values that have "
        "spaces. All must match if repeated. Row groups that cannot match are not read",
    },
    "--lists": {
        **COLUMNS,
        "help": "the column of lists whose members become rows; repeat it for several, such as ids "
        "and scores (default: the only one, if no column is named as an item or a score)",
    },
    "--sep": {
        "metavar": "TEXT",
        "help": "the separator of lists that are text, such as ' ', also in truth and exclude",
    },
    "--names": {
        "action": "extend",
        "type": lambda text: text.split(","),
        "metavar": "NAMES",
        "help": "the names of the columns of csv or tsv without a header, such as user,item,score",
    },
    "--union-by-name": {
        "action": "store_true",
        "help": "columns that only some of the files have are null in the others",
    },
}
# The arguments of -k.
CUT_OFF: Any = {"type": lambda number: check_k(read_integer(number)), "default": 10, "metavar": "K"}
# The unit matters if there are several user columns.
UNIT: Flags = {
    "--unit": {
        "default": INFER,
        "metavar": "COLUMN",
        "help": "the column that identifies independent users: their rankings are averaged before "
        "intervals and tests. Required if a user has several rankings in a table",
    },
    "--no-unit": {"dest": "unit", "action": "store_const", "help": "rankings are independent"},
}
TRUSTED: Flags = {
    "--trusted": {
        "metavar": "COLUMN|FILE",
        "help": "labels of people for some users, drawn at random, that correct those of a judge, "
        "such as a language model: a column that is null for other rows, or a file of pairs like "
        "that of --truth",
    },
}
ITEMS: Flags = {
    "--items": {
        "type": read_integer,
        "metavar": "FILE|NUMBER",
        "help": "the catalogue: a file with a column of its items, or how many it has "
        "(default: the items of PATH)",
    },
}
VERBOSITY: Flags = {
    "-q --quiet --no-progress": {"action": "store_true", "help": "no progress bar, no notes"},
    "-v --verbose": {
        "action": "store_true",
        "help": "also report input, rows, users and seconds on standard error",
    },
}
LIMITS: Flags = {
    "--memory": {
        "type": lambda text: check_memory(read_integer(text[:100])),
        "default": check_memory(MEMORY),
        "metavar": "SIZE",
        "help": f"memory to work in, such as 512MiB; without a unit, bytes (default: {MEMORY})",
    },
    "--tmp": {"metavar": "FOLDER", "help": "where a temporary file may be made if one is needed"},
}


def add_flags(group: argparse._ActionsContainer, flags: Flags) -> None:
    """Add flags to a group or a command."""
    for spellings, settings in flags.items():
        group.add_argument(*spellings.split(), **settings)


def add_statistics(group: argparse._ActionsContainer, intervals: Any) -> None:
    """Add the flags of intervals and tests; `intervals` is a Literal of the choices."""
    defaults = inspect.signature(make_comparison).parameters
    for name, what, choices in (
        ("interval", "how intervals are made", get_args(intervals)),
        ("confidence", "confidence level of the intervals, between 0 and 1", ()),
        ("seed", "seed of the random numbers", ()),
        ("test", "test that gives p-values of differences", get_args(Test)),
        ("correction", "how p-values are corrected", (*get_args(Correction), "none")),
    ):
        lines = [f"{what} (default: {defaults[name].default})"]
        lines += [f"{one}: {METHODS[one]}" for one in choices]
        read = partial(read_checked, make_comparison, name)
        settings: Any = {"choices": choices} if choices else {"metavar": "NUMBER", "type": read}
        group.add_argument(f"--{name}", help="\n".join(lines), **settings)


def add_metrics(
    command: argparse.ArgumentParser, default: Sequence[str], read: Any = read_metrics
) -> None:
    """Add the flags that name metrics."""
    command.add_argument(
        *METRIC_FLAGS,
        dest="metrics",
        action="extend",
        type=read,
        metavar="NAME",
        help=f"such as precision@4; separate several by spaces or commas, or repeat --metric "
        f"(default: {' '.join(default)})",
    )
    command.add_argument("-k", "--k", type=refuse_k, help=argparse.SUPPRESS)


def add_options(
    command: argparse.ArgumentParser, defaults: dict[str, Any], **short: Sequence[str]
) -> None:
    """Add a flag for each option that has a default here, some with short flags too."""
    for title, members in GROUPS.items():
        group = command.add_argument_group(title)
        for name in (name for name in members if name in defaults):
            either = group.add_mutually_exclusive_group()
            flags = *short.get(name, ()), as_flag(name)
            either.add_argument(*flags, **_describe_option(name, defaults[name]))
            if name in NO_COLUMN:
                either.add_argument(f"--no-{name}", action="store_true", help=NO_COLUMN[name])
            if name == "ascending":
                group.add_argument(
                    "--no-ascending",
                    dest="ascending",
                    action="append_const",
                    const=False,
                    help="the highest score is the best, whatever its name",
                )


def add_shared(command: argparse.ArgumentParser, what: str, unused: Sequence[str] = ()) -> None:
    """Add the flags of options, output and limits, without the options that are `unused`.

    Results are named by `what`.
    """
    add_options(command, {one: DEFAULTS[one] for one in DEFAULTS if one not in unused})
    add_output(command, what)
    add_flags(command.add_argument_group("limits"), LIMITS)


def _describe_option(name: str, default: Any) -> dict[str, Any]:
    """Return the arguments of `add_argument` for one option."""
    meaning = re.sub("`.*?`", lambda match: as_flag(match[0][1:-1]), MEANINGS[name])
    flag = {"help": meaning if default is None else f"{meaning} (default: {default})"}
    if name == "ascending":
        each = "; for several scores, give --ascending or --no-ascending for each, in their order"
        return {"help": meaning + each, "action": "append_const", "const": True}
    if name in CHOICES:
        lines = [flag["help"], *map(": ".join, CHOICES[name].items())]
        return {**flag, "help": "\n".join(lines), "choices": list(CHOICES[name])}
    if name == "like":
        flag["help"] = f"{meaning}: {', '.join(LIKE)}"
        return {**flag, "metavar": "LIBRARY", "choices": list(LIKE)}
    if name in ("truth", "exclude"):
        return {**flag, "metavar": "FILE"}
    if name in SEVERAL:
        return {**flag, **COLUMNS}
    if isinstance(default, str):
        return {**flag, "metavar": "COLUMN"}
    return {**flag, "metavar": "NUMBER", "type": partial(read_checked, Options, name)}


def add_views(command: argparse.ArgumentParser, what: str, whose: str) -> None:
    """Add the flags that show intervals or differences in place of means.

    `what` is "score" or "run", `whose` is "users" or "queries".
    """
    command.set_defaults(check=check_views)
    group = command.add_argument_group("intervals")
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--summary",
        action="store_true",
        help=f"print each mean with its interval over {whose}",
    )
    either.add_argument(
        "--baseline",
        metavar=what.upper(),
        help=f"print how every other {what} differs from this one, with intervals and p-values "
        f"over {whose}",
    )
    add_statistics(group, Literal[Interval, OfDifferences])
    if whose == "users":
        bounds = "print the lowest and highest mean that unjudged rows leave possible"
        either.add_argument("--bounds", action="store_true", help=bounds)
        add_flags(group.add_mutually_exclusive_group(), UNIT)
        add_flags(group, TRUSTED)


def check_views(arguments: argparse.Namespace) -> None:
    """Raise if flags need --summary or --baseline, or contradict it."""
    is_comparison = arguments.baseline is not None
    for name in ("by", "weights", "per_user") if arguments.bounds else ():
        if getattr(arguments, name) is not None:
            raise RecframeError(f"{as_flag(name)} takes no --bounds. Leave one of the two out.")
    flags = [name for name in STATISTICS_FLAGS if getattr(arguments, name) is not None]
    flags += ["trusted"] if arguments.trusted else []
    # The file of --per-user has the unit.
    flags += ["unit"] if arguments.unit != INFER and arguments.per_user is None else []
    flags += [f"format {arguments.format}"] * (arguments.format in PAPERS and not arguments.bounds)
    if flags and not arguments.summary and not is_comparison:
        other = ", or --bounds" if flags[0].startswith("format") else ""
        raise RecframeError(f"--{flags[0]} is for intervals. Add --summary or --baseline{other}.")
    differences = [name for name in flags if name in ("test", "correction")]
    if differences and arguments.summary:
        raise RecframeError(
            f"--{differences[0]} is for differences. Add --baseline, not --summary."
        )
    if arguments.summary or is_comparison:
        arguments.how = read_comparison(arguments, OfDifferences if is_comparison else Interval)
    if arguments.summary and arguments.per_query:
        raise RecframeError(
            "argument --per-query: --summary is for all queries. Choose one of the two, and write "
            "the values of every query with --per-user FILE."
        )


def read_comparison(arguments: argparse.Namespace, intervals: Any) -> Comparison:
    """Return how intervals and p-values are computed; raise if flags contradict each other."""
    values = {name: getattr(arguments, name) for name in STATISTICS_FLAGS}
    how = {name: value for name, value in values.items() if value is not None}
    if values["correction"] == "none":
        how["correction"] = None
    users = {"weights": arguments.weights, "unit": arguments.unit}
    return make_comparison(**how, intervals=intervals, **users)


def add_output(
    command: argparse.ArgumentParser,
    what: str,
    whose: str = "",
    verbosity: Flags = VERBOSITY,
    papers: Sequence[str] = (),
) -> argparse._ArgumentGroup:
    """Add the flags for printed and written results; return their group.

    `what` names the results; `whose`, "user" or "query", adds a file of every value.
    """
    of_papers = f"; {' and '.join(papers)} print a paper's table with intervals" if papers else ""
    group = command.add_argument_group("output")
    group.add_argument(
        "--format",
        choices=("table", "csv", "json", *papers),
        default="table",
        help=f"how {what} are printed; json adds columns, options and version"
        f"{of_papers} (default: %(default)s)",
    )
    group.add_argument(
        "-o",
        "--output",
        type=partial(read_target, OUTPUT_ENDINGS),
        metavar="FILE",
        help=f"also write {what} to FILE ({', '.join(OUTPUT_ENDINGS)}), whole or not at all",
    )
    add_flags(group.add_mutually_exclusive_group(), verbosity)
    if whose:
        group.add_argument(
            "--per-user",
            type=partial(read_target, FILE_ENDINGS),
            metavar="FILE",
            help=f"also write the values of every {whose} to FILE ({' or '.join(FILE_ENDINGS)})",
        )
    return group
