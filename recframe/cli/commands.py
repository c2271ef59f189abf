"""The commands evaluate and describe, and functions for all commands that read interactions."""

import argparse
import os
from argparse import Namespace
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import IO, Any

import pandas as pd

from recframe import __version__
from recframe.analysis.bounds import check_bounds, measure_bounds
from recframe.analysis.compare import trust
from recframe.analysis.description import Description
from recframe.analysis.segments import Grouping, segment_users, tidy_cell
from recframe.analysis.summary import measure_noted
from recframe.cli.flags import (
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
    add_views,
)
from recframe.cli.parser import Parser, read_like_metrics, spell_flags
from recframe.cli.results import (
    find_baseline,
    make_figures_result,
    make_segments_result,
    make_users_result,
    write_result,
)
from recframe.console import DONE, shows_bar, tell
from recframe.conventions import REMAINING
from recframe.errors import RecframeError, count_of, shorten, show_path
from recframe.files.blocks import ROUTES, plan_blocks
from recframe.files.footers import Files
from recframe.files.limits import check_limits
from recframe.files.per_user_tables import describe_made, write_each
from recframe.frames.names import is_infer
from recframe.frames.tables import tidy_table
from recframe.metrics.definitions import DEFAULT_METRICS
from recframe.metrics.names import Metric, describe_metrics, parse_metrics
from recframe.notes import Note, list_notes, taking_notes
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
    command.epilog = f"""{describe_metrics()}

examples:
  recframe evaluate run.parquet
  recframe evaluate --metric precision@4 recall@4 r_precision runs/
  recframe evaluate runs/ --score knn --score als --ties worst --format csv
  recframe evaluate runs/ --truth test.parquet --short pad --population both
  recframe evaluate runs/ --output means.json --per-user users.parquet -q"""
    add_flags(command, FILES)
    add_metrics(command, DEFAULT_METRICS, read_like_metrics)
    add_options(command, DEFAULTS)
    group = command.add_argument_group("segments")
    group.add_argument(
        "--by",
        action="append",
        metavar="COLUMN",
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
    add_options(command, {one: DEFAULTS[one] for one in DEFAULTS if one not in UNUSED_BY_DESCRIBE})
    add_output(command, "the counts")
    add_flags(command.add_argument_group("limits"), LIMITS)


def run_evaluate(arguments: Namespace) -> tuple[int, str]:
    """Print the means; if asked, write them and the values of every user to files."""
    options = read_options(arguments)
    default = DEFAULT_METRICS[:1] if arguments.bounds else DEFAULT_METRICS
    metrics = parse_metrics(arguments.metrics or default, options.map_at_k)
    rec, opened = scan_files(arguments, options)
    try:
        if arguments.trusted:
            arguments.how = trust(arguments.how, rec._read_trusted(metrics, arguments.trusted))
            opened.clear()  # they have the roles of people's labels
        with (
            open_outputs(arguments, rec.paths, list_trusted(arguments)) as (output, each),
            taking_notes() as facts,
            ExitStack() as stack,
        ):
            if arguments.bounds:
                check_bounds(metrics, options)
            grouping, tables = _measure_users(arguments, rec, metrics)
            known = {str(score): score for score in opened[0].columns.scores}
            baseline = find_baseline(arguments.baseline, known, "score columns")
            notes = list[Note]()  # the last table completes them
            about = {**describe_run(arguments, options, opened[0]), "notes": notes}
            about |= {"trusted": arguments.trusted} if arguments.trusted else {}
            stack.enter_context(closing(tables))
            if each is not None:
                tidy = tidy_table if grouping is None else partial(tidy_cell, grouping=grouping)
                unit = arguments.unit if len(opened[0].columns.users) > 1 else None
                made = describe_made(options, weights=arguments.weights, unit=unit)
                tables = write_each(tables, each, find_ending(arguments.per_user), tidy, made)
                stack.enter_context(closing(tables))
            if grouping is None:
                result, means = make_users_result(tables, arguments, baseline, about)
            else:
                cells = pd.concat(tables, ignore_index=True)
                segmented = segment_users(cells, grouping, opened[0].columns.scores, metrics)
                result, means = make_segments_result(segmented, arguments, baseline, about)
            notes += list_notes(facts, options)
            write_result(result, arguments, output)
    except RecframeError as error:
        if error.answers:  # the public method raises with all open questions
            labels = [one.label for one in metrics]
            if arguments.bounds:
                rec.bounds(labels)
            rec.mean(labels, arguments.by, arguments.weights)
        raise
    tell_notes(notes, arguments, [REMAINING[options.like]] if options.like else [])
    return DONE, count_of(means.n_all, "user")


def _measure_users(
    arguments: Namespace, rec: ScannedRecAccessor, metrics: list[Metric]
) -> tuple[Grouping | None, Generator[pd.DataFrame, None, None]]:
    """Return the segments and weights of users, if any, and the metrics of every user by block."""
    measure: Any = measure_bounds if arguments.bounds else measure_noted
    unit = arguments.unit
    if is_infer(unit) and not arguments.summary and arguments.baseline is None:
        unit = None  # plain means need none
    return rec.iter_users(metrics, (arguments.by, arguments.weights, unit), measure)


def list_trusted(arguments: Namespace) -> list[str]:
    """Return the file of --trusted, if it is no column."""
    return [arguments.trusted] if arguments.trusted and find_ending(arguments.trusted) else []


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

    No file that is read may be written: neither those in `read` nor those at the `others` paths.
    """
    paths = [arguments.output, per_user := getattr(arguments, "per_user", None)]
    others = [*others, *filter(None, (arguments.truth, arguments.exclude))]
    read = [*read, *(file for path in others for file in list_files(path) if any(paths))]
    with ExitStack() as stack:
        names = []
        for path in filter(None, paths):
            check_apart(path, read, [*arguments.paths, *others])
            names.append(show_uri(path) if is_uri(path) else os.path.realpath(path))
        if len(set(names)) < len(names):
            raise RecframeError(f"cannot write {show_path(per_user)}: --output writes to it too")
        files = [path and stack.enter_context(whole_file(path)) for path in paths]
        yield files[0], files[1]


def tell_notes(notes: Iterable[Note], arguments: Namespace, others: Iterable[str] = ()) -> None:
    """Print notes to standard error, unless --quiet; JSON has the notes in its document."""
    texts = [] if arguments.format == "json" else [one.text for one in notes]
    for sentence in () if arguments.quiet else (*others, *texts):
        tell(f"note: {sentence}")
