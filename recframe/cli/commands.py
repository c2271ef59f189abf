"""The commands evaluate and describe, and functions for all commands that read interactions."""

import argparse
import os
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import IO, Any

import pandas as pd

from recframe import __version__
from recframe.analysis.description import Description
from recframe.analysis.segments import tidy_block
from recframe.cli.flags import (
    COLUMNS,
    CUT_OFF,
    FILES,
    LIMITS,
    NO_COLUMN,
    PAPERS,
    TRUSTED,
    add_flags,
    add_metrics,
    add_options,
    add_output,
    add_shared,
    add_views,
)
from recframe.cli.parser import METRICS_HERE, Parser, spell_flags
from recframe.cli.results import (
    add_up_users,
    count_users,
    find_baseline,
    make_figures_result,
    make_users_result,
    write_result,
)
from recframe.console import DONE, shows_bar, tell
from recframe.conventions import REMAINING
from recframe.errors import RecframeError, RecframeWarning, count_of, quote, shorten, show_path
from recframe.files.blocks import ROUTES, plan_blocks
from recframe.files.footers import Files
from recframe.files.limits import check_limits
from recframe.files.per_user_tables import describe_made, writing_rows
from recframe.frames.names import is_infer
from recframe.frames.user_values import WEIGHTS
from recframe.metrics.definitions import DEFAULT_METRICS
from recframe.metrics.names import Metric, parse_metrics
from recframe.notes import Note
from recframe.options import DEFAULTS, INFER, MEANINGS, Options, list_changed, make_options
from recframe.scanned import ScannedRecAccessor, scan_source
from recframe.stores import find_ending, is_uri, show_uri
from recframe.stores.listings import list_files
from recframe.stores.outputs import check_apart, whole_file

# Options that change nothing in the table of a command.
UNUSED_BY_DESCRIBE = ("ties", "zero_division", "gain")


def add_evaluate(command: argparse.ArgumentParser) -> None:
    """Add the arguments of ``recframe evaluate``."""
    command.set_defaults(run=run_evaluate)
    command.description = (
        "Print the mean over users of ranking metrics, a row for each score column."
    )
    command.usage = "%(prog)s [--metric NAME ...] [OPTION ...] PATH [PATH ...]"
    command.epilog = f"""{METRICS_HERE}

examples:
  recframe evaluate run.parquet
  recframe evaluate --metric precision@4 recall@4 r_precision runs/
  recframe evaluate runs/ --score knn --score als --ties worst --format csv
  recframe evaluate runs/ --truth test.parquet --short pad --population both
  recframe evaluate runs/ --output means.json --per-user users.parquet -q"""
    add_flags(command, FILES)
    add_metrics(command, DEFAULT_METRICS)
    add_options(command, DEFAULTS)
    group = command.add_argument_group("segments")
    group.add_argument(
        "--by",
        **COLUMNS,
        help="a table for each segment of users: a column that does not vary within a user's rows; "
        "repeat it for several columns",
    )
    group.add_argument(
        "--weights",
        metavar="COLUMN",
        help="the weight of each user, 0 or more: a column that does not vary within a user's rows",
    )
    add_views(command, "score", "users")
    add_output(command, "the means", "user", papers=PAPERS)
    add_flags(command.add_argument_group("limits"), LIMITS)


def add_describe(command: argparse.ArgumentParser) -> None:
    """Add the arguments of ``recframe describe``."""
    command.set_defaults(run=run_describe)
    command.usage = "%(prog)s [--k K] [OPTION ...] PATH [PATH ...]"
    command.description = (
        "Describe the data of each score column: users, nulls, duplicates, short\n"
        "rankings and ties. Problems that are counted here are not refused."
    )
    command.epilog = """examples:
  recframe describe run.parquet
  recframe describe runs/ --k 4 --truth test.parquet
  recframe describe @options.txt runs/ --format json"""
    add_flags(command, FILES)
    command.add_argument("-k", "--k", help="the cut-off to look at (default: 10)", **CUT_OFF)
    add_flags(command, TRUSTED)
    add_shared(command, "the counts", UNUSED_BY_DESCRIBE)


def run_evaluate(arguments: Namespace) -> tuple[int, str]:
    """Print the means; if asked, write them and the values of every user to files."""
    options = read_options(arguments)
    metrics = arguments.metrics or DEFAULT_METRICS[: 1 if arguments.bounds else None]
    rec, opened = scan_files(arguments, options)
    counts, n_levels = list[pd.DataFrame](), len(arguments.by or ())
    with open_outputs(arguments, rec.paths) as (output, each):
        if arguments.baseline is not None:
            _label_baseline(arguments, rec, parse_metrics(metrics, options.map_at_k))
        with nullcontext() if each is None else _writing_users(each, arguments, options) as write:

            def watch(block: pd.DataFrame) -> pd.DataFrame:
                if len(opened) > 1 and not counts and arguments.verbose:
                    _tell_files(opened[-1])  # The first were those of people's labels.
                counts.append(count_users(block, n_levels))
                if write is not None:
                    write(block)
                return block

            unit = None if is_infer(arguments.unit) else arguments.unit  # plain means need none
            table = _call_method(rec.watched(watch, unit), metrics, arguments, arguments.by)
        users = add_up_users(pd.concat(counts), n_levels)
        if users.empty:  # A table of no users has no segments.
            users = add_up_users(users.iloc[:, n_levels:], 0)
            table = _call_method(rec, metrics, arguments)
        about = {**describe_run(arguments, options, opened[-1]), "notes": table.notes}
        about |= {"trusted": arguments.trusted} if arguments.trusted else {}
        write_result(make_users_result(table, users, arguments, about), arguments, output)
    tell_notes(table.notes, arguments, [REMAINING[options.like]] if options.like else [])
    return DONE, count_of(int(users["users"].sum()), "user")


def _label_baseline(
    arguments: Namespace, rec: ScannedRecAccessor, metrics: Sequence[Metric]
) -> None:
    """Replace the name of the baseline by its label; raise if no score has this name."""
    try:
        columns = rec._find_columns(metrics=metrics, used=(arguments.by, arguments.weights))
    except RecframeError:
        return  # The comparison raises with all open questions.
    known = {str(score): score for score in columns.scores}
    arguments.baseline = find_baseline(arguments.baseline, known, "score columns")


def _call_method(
    rec: ScannedRecAccessor, metrics: Sequence[str], arguments: Namespace, by: Any = None
) -> Any:
    """Return the table of the method that the flags ask for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecframeWarning)  # The notes have the same sentences.
        if arguments.bounds:
            return rec.bounds(metrics)
        if not arguments.summary and arguments.baseline is None:
            return rec.mean(metrics, by, arguments.weights)
        how = arguments.how
        users = {"by": by, "weights": arguments.weights, "unit": arguments.unit}
        asked = {**how.resampling._asdict(), **users, "trusted": arguments.trusted}
        if arguments.summary:
            return rec.summary(metrics, **asked)
        return rec.compare(metrics, arguments.baseline, how.test, how.correction, **asked)


@contextmanager
def _writing_users(
    file: IO[bytes], arguments: Namespace, options: Options
) -> Iterator[Callable[[pd.DataFrame], None]]:
    """Yield a function that adds the users of a block to the file of --per-user."""
    by, weights, unit = arguments.by or [], arguments.weights, arguments.unit
    if WEIGHTS in by:
        raise RecframeError(f"by={quote(WEIGHTS)} has a name that saved tables use. Rename it.")
    names = [*by, *([] if weights is None else [WEIGHTS]), unit]
    unit = unit if isinstance(options.user, list) else None
    made = describe_made(options, weights=weights, unit=unit)
    with writing_rows(file, find_ending(arguments.per_user), made) as write:
        yield lambda block: write(tidy_block(block, names))


def run_describe(arguments: Namespace) -> tuple[int, str]:
    """Print the figures of the data, and write them to a file if asked."""
    options = read_options(arguments)
    rec, opened = scan_files(arguments, options)
    with open_outputs(arguments, rec.paths) as (output, _):
        table = rec.describe(arguments.k, arguments.trusted)
        about = describe_run(arguments, options, opened[0])
        write_result(make_figures_result(table, {**about, "k": arguments.k}), arguments, output)
    refusal = table.refusal if isinstance(table, Description) else None
    if refusal is not None and not arguments.quiet and arguments.format != "json":
        changed = {"filter": [text for text, _ in arguments.filter], **list_changed(options)}
        of_files = ("union_by_name", "lists", "sep", "names")
        changed |= {name: one for name in of_files if (one := getattr(arguments, name))}
        words = ["recframe", "evaluate", *arguments.paths, *spell_flags(changed)]
        add_evaluate(parser := Parser())
        tell(f"note: recframe evaluate asks: {parser.spell_refusal(words, refusal)}")
    return DONE, opened[0].rows_in_words


def read_options(arguments: Namespace) -> Options:
    """Return the options of the arguments."""
    values = vars(arguments)
    options = {name: values[name] for name in MEANINGS if values.get(name) is not None}
    if len(options.get("ascending", ())) == 1 and len(arguments.score or ()) < 2:
        (options["ascending"],) = options["ascending"]  # one flag is for all scores
    for name in ("user", "truth_user"):
        if len(options.get(name, ())) == 1:
            (options[name],) = options[name]
    options |= {name: None for name in NO_COLUMN if values[f"no_{name}"]}
    return make_options(options)


def scan_files(arguments: Namespace, options: Options) -> tuple[ScannedRecAccessor, list[Files]]:
    """Return the accessor to the files, and a list that the files join when they are opened."""
    opened: list[Files] = []

    def note(files: Files) -> None:
        opened.append(files)
        if arguments.verbose and len(opened) == 1:
            _tell_files(files)

    has_bar = shows_bar(is_quiet=arguments.quiet)
    accessor = scan_source(
        "",
        arguments.paths,
        options,
        check_limits(arguments.memory, arguments.tmp, has_bar),
        filters=[term for _, term in arguments.filter] or None,
        note=note,
        union_by_name=arguments.union_by_name,
        lists=arguments.lists or INFER,
        sep=arguments.sep,
        names=arguments.names,
    )
    return accessor, opened


def _tell_files(files: Files) -> None:
    """Report the files, the columns in their roles, and the way of reading."""
    paths, columns = files.paths, files.columns
    ends = " … ".join(dict.fromkeys([*paths[:1], *paths[-1:]]))
    tell(f"{files.size}{shorten(f': {ends}') if ends else ''}")
    roles = {"user": columns.user, "item": columns.item, "relevant": columns.relevant}
    labels = [f"{role} {label!r}" for role, label in roles.items() if label is not None]
    scores = ", ".join(map(repr, columns.scores))
    tell(f"columns: {', '.join(labels)}, score {shorten(scores)}")
    if files.n_rows:
        tell(f"read {ROUTES[plan_blocks(files).route]}, within {files.memory:,} bytes")


def describe_run(arguments: Namespace, options: Options, files: Files) -> dict[str, Any]:
    """Return the version, arguments and columns of a run, for its document."""
    columns = files.columns
    return {
        "recframe": __version__,
        "command": arguments.run.__name__.removeprefix("run_"),
        "paths": arguments.paths,
        "filters": [text for text, _ in arguments.filter],
        "rows": None if files.is_filtered else files.n_rows,  # filters leave the number open
        "columns": {
            "user": columns.user,
            "item": columns.item,
            "score": columns.scores,
            "relevant": columns.relevant,
            **({} if columns.model is None else {"model": columns.model}),
        },
        "options": vars(options),
    }


@contextmanager
def open_outputs(
    arguments: Namespace, read: list[str], others: Sequence[str] = ()
) -> Iterator[tuple[IO[bytes] | None, IO[bytes] | None]]:
    """Yield the files of --output and --per-user; they appear only if the body succeeds.

    No file that is read may be written: neither those in `read`, nor those at the `others` paths,
    nor those that options name.
    """
    paths, trusted = [arguments.output, arguments.per_user], arguments.trusted
    people = trusted if isinstance(trusted, str) and find_ending(trusted) else None  # no column
    others = [*others, *filter(None, (arguments.truth, arguments.exclude, people))]
    read = [*read, *(file for path in others for file in list_files(path) if any(paths))]
    with ExitStack() as stack:
        names = []
        for path in filter(None, paths):
            check_apart(path, read, [*arguments.paths, *others])
            names.append(show_uri(path) if is_uri(path) else os.path.realpath(path))
        if len(set(names)) < len(names):
            raise RecframeError(f"cannot write {show_path(paths[1])}: --output writes to it too")
        files = [path and stack.enter_context(whole_file(path)) for path in paths]
        yield files[0], files[1]


def tell_notes(notes: Iterable[Note], arguments: Namespace, others: Iterable[str] = ()) -> None:
    """Print notes to standard error, unless --quiet; JSON has the notes in its document."""
    texts = [] if arguments.format == "json" else [one.text for one in notes]
    for sentence in () if arguments.quiet else (*others, *texts):
        tell(f"note: {sentence}")
