"""``recframe compare``: what has changed since values of users were saved, and a gate for jobs."""

import argparse
from typing import Any

import numpy as np

from recframe import __version__
from recframe.analysis.compare import Comparison
from recframe.analysis.gate import (
    Gate,
    Matched,
    check_limit,
    compare_matched,
    find_failed,
    find_low,
    match_tables,
)
from recframe.analysis.resampling import OfDifferences
from recframe.analysis.segments import segment_given
from recframe.cli.commands import outputs
from recframe.cli.flags import STATUSES, add_how, add_metrics, add_output, add_unit, read_how
from recframe.cli.parser import read_number
from recframe.cli.results import Result, give, join_results, list_segments, result_of_pairs
from recframe.console import DONE, FAILED, tell
from recframe.disk import check_named, identify
from recframe.errors import RecframeError, count_of, quote, shorten, show_path
from recframe.files.saved import read_saved
from recframe.stores import is_uri, show_uri, without_file

SIDES = ("old", "new")


def add_compare(command: argparse.ArgumentParser) -> None:
    """Add the arguments of ``recframe compare``."""
    command.set_defaults(run=run_compare, check=check_gate, paths=(), truth=None, exclude=None)
    command.usage = "%(prog)s [--max-drop D | --non-inferior D] [OPTION ...] OLD NEW"
    command.description = """\
Print what every score of NEW changes against that of the same name in OLD, of
the users and metrics that both have: the table of recframe.compare. Both are
files that recframe evaluate --per-user wrote, as of two nights; those of one
score each may have different ones. With --max-drop or --non-inferior the exit
status is 3 where a metric fails, and a line on standard error says how."""
    command.epilog = f"""a gate:
  --max-drop asks whether something was surely lost. Of few users it fails only
  where the loss is large; passing does not show that nothing was lost.
  --non-inferior asks whether a loss of D can be ruled out. Of few users it
  fails, also where nothing has changed.
  D is a difference of means, as 0.01 of 0.30. Each metric and score is judged
  by its own interval, and less than two users fail. Of fall_out a rise is what
  a drop is of others.

examples:
  recframe compare monday.parquet tuesday.parquet
  recframe compare old.parquet new.parquet --max-drop 0.01
  recframe compare old.csv new.csv --metric recall@10 --non-inferior 0.005

{STATUSES}"""
    command.add_argument("old", metavar="OLD", help="the baseline: .parquet or .csv")
    command.add_argument("new", metavar="NEW", help="the file that is compared")
    command.add_argument(
        "--by",
        action="append",
        metavar="COLUMN",
        help="a table, and the gate, for each segment of users: a column before the score in both "
        "files, as evaluate --by --per-user writes them; for several repeat it",
    )
    add_metrics(command, ["all that both files have"])
    group = command.add_argument_group("gate")
    rule = group.add_mutually_exclusive_group()
    rule.add_argument(
        "--max-drop",
        dest="gate",
        type=lambda text: ("max_drop", check_limit(read_number(text))),
        metavar="D",
        help="fail where a mean fell by more than D and its interval excludes 0",
    )
    rule.add_argument(
        "--non-inferior",
        dest="gate",
        type=lambda text: ("non_inferior", check_limit(read_number(text))),
        metavar="D",
        help="fail unless the low end of every interval is above -D",
    )
    for which, other in (("lower", "fall"), ("higher", "rise")):
        group.add_argument(
            f"--{which}-is-better",
            action="append",
            metavar="METRIC",
            help=f"a {other} of this metric is no loss; a gate must be told so, or the other "
            "way round, of judged and of means of a column",
        )
    group = command.add_argument_group("intervals")
    add_how(group, OfDifferences)
    add_unit(group)
    add_output(command, "the differences")


def check_gate(arguments: argparse.Namespace) -> None:
    """Raise where something is said of a gate that is not asked for, or what does not go."""
    arguments.how = read_how(arguments, OfDifferences)
    given = [name for name in ("lower", "higher") if getattr(arguments, f"{name}_is_better")]
    if given and arguments.gate is None:
        raise RecframeError(
            f"--{given[0]}-is-better is of a gate; add --max-drop or --non-inferior"
        )


def run_compare(arguments: argparse.Namespace) -> tuple[int, str]:
    """Print the differences, and write them if asked; return the exit status and what is done."""
    names = [without_file(arguments.old), without_file(arguments.new)]
    how = arguments.how
    for role, name in zip(("OLD", "NEW"), names, strict=True):
        check_named(role, name)
    if len({show_uri(name) if is_uri(name) else identify(name) for name in names}) == 1:
        raise RecframeError(f"{' and '.join(map(show_path, names))} are one file; name two")
    with outputs(arguments, names[:]) as (output, _):
        matched = match_tables(read_saved(names), names, arguments.metrics)
        gate = None
        if arguments.gate is not None:
            (rule, limit), low = arguments.gate, arguments.lower_is_better or []
            metrics, high = matched.new.columns.unique("metric"), arguments.higher_is_better or []
            gate = Gate(rule, limit, find_low(metrics, low, high))
        segmented = segment_given(matched.new, arguments.by, None)
        by = segmented.grouping.by
        about = {
            "recframe": __version__,
            "command": "compare",
            "paths": [show_uri(name) if is_uri(name) else name for name in names],
            "options": {"test": how.test, "correction": how.correction, "unit": how.unit}
            | how.resampling._asdict(),
            "only": dict(zip(SIDES, matched.only, strict=True)),
        }
        results, failures = [], []
        for rows in segmented.segments:
            users = matched._replace(old=matched.old.iloc[rows], new=matched.new.iloc[rows])
            result, failed = _compare(users, how, gate, names[0], {} if by else about)
            results.append(result)
            failures.append(failed)
        result = results[0]
        if by:
            result = join_results(results, segmented, {**about, "users": len(matched.new)})
        give(result, arguments, output)
    if not arguments.quiet:
        _tell_matched(matched, names)
    for segment, failed in zip(list_segments(segmented), failures, strict=True):
        said = [f"{shorten(name)} is {quote(value)}" for name, value in segment.items()]
        where = f" where {' and '.join(said)}" if said else ""
        for score, reasons in failed.items():
            for metric, reason in reasons.items():
                tell(f"failed: {shorten(metric)} of {quote(score)}{where} {reason}")
    return FAILED if any(failures) else DONE, f"{len(matched.new):,} users"


def _compare(
    matched: Matched, how: Comparison, gate: Gate | None, old: str, about: dict[str, Any]
) -> tuple[Result, dict[str, dict[str, str]]]:
    """Return what has changed of some users, and the metrics that fail, as `find_failed` does."""
    table = compare_matched(matched, how)
    table.columns.name = f"baseline: {show_uri(old)}"
    failed, described = {}, None
    if gate is not None:
        failed = find_failed(table, gate, how.resampling.confidence)
        described = {gate.rule: gate.limit, "lower_is_better": sorted(gate.low), "failed": failed}
    return result_of_pairs(table, matched.new, {**about, "gate": described}), failed


def _tell_matched(matched: Matched, names: list[str]) -> None:
    """Say what only one of the files has, and what else the table does not show."""
    n_users = len(matched.new)
    for name, only in zip(names, matched.only, strict=True):
        n_only, scores, metrics = only.values()
        counts = {"user": n_only, "score": len(scores), "metric": len(metrics)}
        shown = {"user": "", "score": f" {quote(scores)}", "metric": f" {quote(metrics)}"}
        said = [f"{count_of(n, what)}{shown[what]}" for what, n in counts.items() if n]
        if said:
            both = f"; both have {count_of(n_users, 'user')}" if n_only else ""
            tell(f"note: only {show_path(name)} has {', '.join(said)}, left out{both}")
    for old, new in matched.scores:
        if old != new:
            tell(f"note: {quote(new)} is compared with {quote(old)}, each the only score of a file")
    if np.array_equal(matched.old.to_numpy(), matched.new.to_numpy(), equal_nan=True):
        tell("note: all values are the same in both files")
