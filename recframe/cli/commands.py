"""What the commands do: read files, show what is found, and write it where asked."""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import IO, Any

from recframe.analysis.catalogue import catalogue_columns, read_catalogue
from recframe.analysis.ranks import rank_options
from recframe.analysis.segments import measure_with_own, tidy_part
from recframe.cli.filters import filter_as_asked
from recframe.cli.results import (
    Result,
    as_text,
    describe_run,
    result_of_figures,
    result_of_table,
    write_result,
)
from recframe.cli.segments import read_grouping, view_each
from recframe.cli.views import find_baseline, view
from recframe.console import check_shown, show, tell
from recframe.errors import RecframeError, shorten, show_path
from recframe.files.budget import Limits, check_limits
from recframe.files.footers import Files, open_files, read_sample
from recframe.files.output import (
    Means,
    Target,
    check_apart,
    list_files,
    whole_file,
    write_each,
)
from recframe.files.parts import iter_parts
from recframe.files.paths import find_files
from recframe.files.plans import ROUTES, plan_blocks
from recframe.files.staging import stage
from recframe.frames.columns import find_columns
from recframe.frames.judgments import load_frame
from recframe.frames.tables import tidy_table
from recframe.methods import measure_each
from recframe.metrics.definitions import DEFAULT_METRICS
from recframe.metrics.names import parse_metrics
from recframe.options import MEANINGS, Options
from recframe.scanned import scan_files
from recframe.stores.access import Address, show_uri

WITHOUT = {"user": "all rows are one ranking", "relevant": "every pair of truth is relevant"}


def run_evaluate(arguments: argparse.Namespace) -> None:
    """Print the means, and write them and the values of every user if asked."""
    started = time.perf_counter()
    options, limits = _read_options(arguments), _read_limits(arguments)
    metrics = parse_metrics(arguments.metrics or DEFAULT_METRICS)
    check_shown()
    found = find_files(arguments.paths)
    with outputs(arguments, [file.path for file in found], arguments.per_user) as (output, each):
        found = filter_as_asked(found, arguments.filter, limits)
        sample = read_sample(found, limits.memory)
        columns = find_columns(sample, options, metrics=metrics)
        baseline = find_baseline(
            arguments.baseline, {str(score): score for score in columns.scores}, "score columns"
        )
        grouping, make = read_grouping(arguments, sample), partial(measure_each, metrics=metrics)
        if grouping is not None:
            columns = columns._replace(of_users=tuple(grouping.labels))
            make = partial(measure_with_own, measure=make, grouping=grouping)
        found = stage(found, columns, limits)
        files = open_files(found, columns, options, limits.memory)
        _tell_plan(arguments, files, limits)
        about = describe_run(arguments, "evaluate", files, options)
        with closing(iter_parts(files, make, options, limits)) as parts:
            writing = parts
            if each is not None:
                tidy = tidy_table if grouping is None else partial(tidy_part, grouping=grouping)
                writing = write_each(parts, each, arguments.per_user.suffix, tidy)
            with closing(writing) as tables:
                if grouping is None:
                    result, means = view(tables, arguments, baseline, about)
                else:
                    of_all = arguments, baseline, about, grouping, columns, metrics
                    result, means = view_each(tables, *of_all)
        _show(arguments, result, output)
    if not arguments.quiet and arguments.format != "json":
        _tell_undefined(means)
    _tell_done(arguments, f"{means.n_all:,} users", started)


def run_describe(arguments: argparse.Namespace) -> None:
    """Print what the files hold, and write it if asked."""
    started = time.perf_counter()
    options, limits = _read_options(arguments), _read_limits(arguments)
    check_shown()
    found = find_files(arguments.paths)
    with outputs(arguments, [file.path for file in found]) as (output, _):
        found = filter_as_asked(found, arguments.filter, limits)
        columns = find_columns(read_sample(found, limits.memory), options, with_item=True)
        found = stage(found, columns, limits)
        files = open_files(found, columns, options, limits.memory)
        _tell_plan(arguments, files, limits)
        table: Any = scan_files(found, options, limits).describe(arguments.k)
        about = describe_run(arguments, "describe", files, options)
        _show(arguments, result_of_figures(table, {**about, "k": arguments.k}), output)
    _tell_done(arguments, f"{files.rows_said} rows", started)


def run_catalogue(arguments: argparse.Namespace) -> None:
    """Print what the lists show of the catalogue, and write it if asked."""
    started = time.perf_counter()
    options, limits = rank_options(_read_options(arguments)), _read_limits(arguments)
    check_shown()
    found = find_files(arguments.paths)
    is_number = isinstance(arguments.items, int)
    beside = [] if arguments.items is None or is_number else [arguments.items]
    with outputs(arguments, [file.path for file in found], beside=beside) as (output, _):
        found = filter_as_asked(found, arguments.filter, limits)
        columns = catalogue_columns(read_sample(found, limits.memory), options)
        found = stage(found, columns, limits)
        files = open_files(found, columns, options, limits.memory)
        items = load_frame("items", arguments.items) if beside else arguments.items
        known = read_catalogue(items, columns)
        _tell_plan(arguments, files, limits)
        table = scan_files(found, options, limits).catalogue(arguments.k, items)
        about = describe_run(arguments, "catalogue", files, options)
        n_items = None if known is None else known.n_items
        about |= {"k": arguments.k, "items": n_items}
        _show(arguments, result_of_table(table, about), output)
    _tell_done(arguments, f"{files.rows_said} rows", started)


def _read_options(arguments: argparse.Namespace) -> Options:
    """Return the options that are given."""
    given = vars(arguments)
    options = {name: given[name] for name in MEANINGS if given.get(name) is not None}
    if len(options.get("ascending", ())) == 1 and len(arguments.score or ()) < 2:
        (options["ascending"],) = options["ascending"]  # else it could be of the last score only
    for name in ("user", "truth_user"):
        if len(options.get(name, ())) == 1:
            (options[name],) = options[name]
    options |= {name: None for name in WITHOUT if given[f"no_{name}"]}
    return Options(**options)


def _read_limits(arguments: argparse.Namespace) -> Limits:
    """Return what may be used, and whether a bar is shown."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()  # None where it was closed
    progress = is_terminal and not arguments.quiet
    return check_limits(arguments.memory, arguments.tmp, progress)


@contextmanager
def outputs(
    arguments: argparse.Namespace,
    read: list[str],
    per_user: Target | None = None,
    beside: Sequence[str] = (),
) -> Iterator[tuple[IO[bytes] | None, IO[bytes] | None]]:
    """Give the files that are written to, in place once the results have been shown too.

    Raise where one is read, or would be the next time.
    """
    paths = [arguments.output, per_user]
    asked = [path for path in (arguments.truth, arguments.exclude) if path is not None]
    beside = [*beside, *asked]
    read += [file for given in beside for file in list_files(given) if any(paths)]
    with ExitStack() as stack:
        for path in filter(None, paths):
            check_apart(path, read, [*arguments.paths, *beside])
        if all(paths) and len({_identity(path) for path in paths if path}) == 1:
            raise RecframeError(f"cannot write {show_path(per_user)}: --output writes to it too")
        files = [path and stack.enter_context(whole_file(path)) for path in paths]
        yield files[0], files[1]


def _identity(path: Target) -> str:
    """Return what an output is, whatever it is called."""
    return show_uri(path) if isinstance(path, Address) else os.path.realpath(path)


def _show(arguments: argparse.Namespace, result: Result, output: IO[bytes] | None) -> None:
    """Write a result where asked, and print it."""
    if output is not None:
        write_result(result, output, arguments.output)
    show(as_text(result, arguments.format))


def _tell_plan(arguments: argparse.Namespace, files: Files, limits: Limits) -> None:
    """Say, if asked, what will be read and how."""
    if not arguments.verbose:
        return
    paths = list(dict.fromkeys(row_group.path for row_group in files.row_groups))
    n_groups = sum(len(row_group.indexes) for row_group in files.row_groups)
    which = f": {paths[0]}" if paths else ""
    which += f" … {paths[-1]}" if len(paths) > 1 else ""
    tell(
        f"{files.rows_said} rows in {count_of(len(paths), 'file')}, "
        f"{count_of(n_groups, 'row group')}{shorten(which)}"
    )
    columns = files.columns
    roles: dict[str, Any] = {
        "user": columns.user,
        "item": columns.item,
        "relevant": columns.relevant,
    }
    said = [f"{role} {label!r}" for role, label in roles.items() if label is not None]
    scores = ", ".join(map(repr, columns.scores))
    tell(f"columns: {', '.join(said)}, score {shorten(scores)}")
    if files.n_rows:
        route = ROUTES[plan_blocks(files, limits.memory).route]
        tell(f"read {route}, within {limits.memory:,} bytes")


def _tell_undefined(means: Means) -> None:
    """Say of how many users a metric has no value, where there are such."""
    n_undefined = means.n_all - means.n_users.max()
    labels = list(n_undefined.index[n_undefined > 0])
    if labels:
        most = int(n_undefined.max())
        same = "" if n_undefined[labels].nunique() == 1 else "up to "
        tell(
            f"note: {shorten(', '.join(labels))} undefined for {same}{most:,} of "
            f"{count_of(means.n_all, 'user')}, left out of the mean; --zero-division 0 counts "
            "them as 0"
        )


def _tell_done(arguments: argparse.Namespace, what: str, started: float) -> None:
    """Say, if asked, how long it took."""
    if arguments.verbose:
        tell(f"{what} in {time.perf_counter() - started:.2f} s")


def count_of(number: int, noun: str) -> str:
    """Return a number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
