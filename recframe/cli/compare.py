"""``recframe compare``: what has changed since values of users were saved, and a gate for jobs."""

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from recframe import __version__
from recframe.analysis.compare import Comparison
from recframe.analysis.gate import Failed, Gate, check_limit, find_failed, find_low
from recframe.analysis.intervals import OfDifferences
from recframe.analysis.matched import Matched, compare_matched, match_tables
from recframe.analysis.segments import segment_given
from recframe.cli.commands import count_of, outputs
from recframe.cli.intervals import add_how, check_how, read_how
from recframe.cli.results import Result, as_text, result_of_pairs, write_result
from recframe.cli.segments import join_results, list_segments
from recframe.cli.statuses import DONE, FAILED
from recframe.cli.values import as_usage, read_number
from recframe.console import check_shown, show, tell
from recframe.disk import check_named, identify
from recframe.errors import RecframeError, quote, shorten, show_path
from recframe.files.output import mean_of_tables
from recframe.files.saved import read_saved
from recframe.stores.access import is_uri, show_uri, without_file

SIDES = ("old", "new")


def add_compared(command: argparse.ArgumentParser) -> None:
    """Add what is compared."""
    command.set_defaults(run=run_compare, check=check_gate, paths=(), truth=None, exclude=None)
    command.add_argument("old", metavar="OLD", help="the baseline: .parquet or .csv")
    command.add_argument("new", metavar="NEW", help="the file that is compared")
    command.add_argument(
        "--by",
        action="append",
        metavar="COLUMN",
        help="a table, and the gate, for each segment of users: a column before the score in both "
        "files, as evaluate --by --per-user writes them; for several repeat it",
    )


def add_gate(command: argparse.ArgumentParser) -> None:
    """Add what is allowed, and how differences are judged."""
    group = command.add_argument_group("gate")
    rule = group.add_mutually_exclusive_group()
    limit: dict[str, Any] = {"type": as_usage(lambda text: check_limit(read_number(text)))}
    rule.add_argument(
        "--max-drop",
        metavar="D",
        help="fail where a mean fell by more than D and its interval excludes 0",
        **limit,
    )
    rule.add_argument(
        "--non-inferior",
        metavar="D",
        help="fail unless the low end of every interval is above -D",
        **limit,
    )
    for which, other in (("lower", "fall"), ("higher", "rise")):
        group.add_argument(
            f"--{which}-is-better",
            action="append",
            metavar="METRIC",
            help=f"a {other} of this metric is no loss; a gate must be told so, or the other "
            "way round, of judged and of means of a column",
        )
    add_how(command.add_argument_group("intervals"), OfDifferences)


def check_gate(arguments: argparse.Namespace) -> None:
    """Raise where something is said of a gate that is not asked for, or what does not go."""
    check_how(arguments, is_summary=False, is_comparison=True)
    given = [name for name in ("lower", "higher") if getattr(arguments, f"{name}_is_better")]
    if given and _find_rule(arguments) is None:
        raise RecframeError(
            f"--{given[0]}-is-better is of a gate; add --max-drop or --non-inferior"
        )


def run_compare(arguments: argparse.Namespace) -> int:
    """Print the differences, and write them if asked; return the exit status."""
    started = time.perf_counter()
    names = [without_file(arguments.old), without_file(arguments.new)]
    how = read_how(arguments)
    check_shown()
    for role, name in zip(("OLD", "NEW"), names, strict=True):
        check_named(role, name)
    if len({show_uri(name) if is_uri(name) else identify(name) for name in names}) == 1:
        raise RecframeError(f"{' and '.join(map(show_path, names))} are one file; name two")
    with outputs(arguments, names[:]) as (output, _):
        matched = match_tables(read_saved(names), names, arguments.metrics)
        gate = _read_gate(arguments, matched)
        grouping, segmented = segment_given(matched.new, arguments.by, None)
        about = {
            "recframe": __version__,
            "command": "compare",
            "paths": [show_uri(name) if is_uri(name) else name for name in names],
            "options": {"test": how.test, "correction": how.correction} | how.resampling._asdict(),
            "only": {side: only._asdict() for side, only in zip(SIDES, matched.only, strict=True)},
        }
        made = [
            _compare(matched.of_users(rows), how, gate, names[0], {} if grouping.by else about)
            for rows in segmented.segments
        ]
        results, failures = map(list, zip(*made, strict=True))
        result = results[0]
        if grouping.by:
            result = join_results(
                results, segmented, grouping, {**about, "users": len(matched.new)}
            )
        if output is not None:
            write_result(result, output, arguments.output)
        show(as_text(result, arguments.format))
    if not arguments.quiet:
        _tell_matched(matched, names)
    for segment, failed in zip(list_segments(segmented, grouping), failures, strict=True):
        said = [f"{shorten(name)} is {quote(value)}" for name, value in segment.items()]
        where = f" where {' and '.join(said)}" if said else ""
        for score, metric, reason in failed:
            tell(f"failed: {shorten(metric)} of {quote(score)}{where} {reason}")
    if arguments.verbose:
        tell(f"{len(matched.new):,} users in {time.perf_counter() - started:.2f} s")
    return FAILED if any(failures) else DONE


def _compare(
    matched: Matched, how: Comparison, gate: Gate | None, old: str, about: dict[str, Any]
) -> tuple[Result, list[Failed]]:
    """Return what has changed of some users, and which metrics fail."""
    table = compare_matched(matched, how)
    table.columns.name = f"baseline: {show_uri(old)}"
    failed = [] if gate is None else find_failed(table, gate, how.resampling.confidence)
    described = None if gate is None else _describe_gate(gate, failed)
    means = mean_of_tables([matched.new])
    return result_of_pairs(table, means, {**about, "gate": described}), failed


def _find_rule(arguments: argparse.Namespace) -> Any:
    """Return the rule that is asked for, if one is."""
    rules = ("max_drop", "non_inferior")
    return next((name for name in rules if getattr(arguments, name) is not None), None)


def _read_gate(arguments: argparse.Namespace, matched: Matched) -> Gate | None:
    """Return what is allowed, None where nothing is asked."""
    rule = _find_rule(arguments)
    if rule is None:
        return None
    given = [arguments.lower_is_better or [], arguments.higher_is_better or []]
    low = find_low(matched.new.columns.unique("metric"), *given)
    return Gate(rule, getattr(arguments, rule), low)


def _describe_gate(gate: Gate, failed: Sequence[Failed]) -> dict[str, Any]:
    """Return what is to know of a gate."""
    reasons: dict[str, dict[str, str]] = {}
    for score, metric, reason in failed:
        reasons.setdefault(str(score), {})[str(metric)] = reason
    return {gate.rule: gate.limit, "lower_is_better": sorted(gate.low), "failed": reasons}


def _tell_matched(matched: Matched, names: list[str]) -> None:
    """Say what only one of the files has, and what else the table does not show."""
    n_users = len(matched.new)
    for name, (n_only, scores, metrics) in zip(names, matched.only, strict=True):
        counts = {"user": n_only, "score": len(scores), "metric": len(metrics)}
        shown = {"user": "", "score": f" {quote(scores)}", "metric": f" {quote(metrics)}"}
        said = [f"{count_of(n, what)}{shown[what]}" for what, n in counts.items() if n]
        if said:
            both = f"; both have {count_of(n_users, 'user')}" if n_only else ""
            tell(f"note: only {show_path(name)} has {', '.join(said)}, left out{both}")
    for old, new in matched.scores():
        if old != new:
            tell(f"note: {quote(new)} is compared with {quote(old)}, each the only score of a file")
    if np.array_equal(matched.old.to_numpy(), matched.new.to_numpy(), equal_nan=True):
        tell("note: all values are the same in both files")
