"""``recframe compare``: the differences between two saved tables, and a gate for nightly jobs."""

import argparse
import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any, get_args

import numpy as np
import pandas as pd

from recframe import __version__
from recframe.analysis.compare import Comparison, trust
from recframe.analysis.gate import (
    Gate,
    Matched,
    Reasons,
    Rule,
    check_limit,
    compare_matched,
    find_failed,
    find_low,
    list_missing,
    match_tables,
)
from recframe.analysis.intervals import is_share
from recframe.analysis.resampling import OfDifferences
from recframe.analysis.segments import Segmented, segment_table
from recframe.analysis.trusted import UNJUDGED, check_users_known, read_people
from recframe.cli.commands import open_outputs, tell_notes
from recframe.cli.flags import (
    PAPERS,
    STATISTICS,
    UNIT,
    add_flags,
    add_metrics,
    add_output,
    read_comparison,
)
from recframe.cli.parser import as_flag, read_number
from recframe.cli.results import (
    Result,
    join_results,
    list_segments,
    make_pairs_result,
    write_result,
)
from recframe.console import DONE, FAILED, USAGE, shows_bar, tell
from recframe.errors import RecframeError, count_of, quote, shorten, show_path
from recframe.files.saved import Saved, join_weights, read_joined, read_saved
from recframe.frames.tables import make_columns, mean_table
from recframe.metrics.names import find_alike
from recframe.notes import list_notes, taking_notes
from recframe.options import INFER
from recframe.stores import is_uri, show_uri, without_file
from recframe.stores.disk import check_named, identify

RULES: dict[Rule, str] = {
    "max_drop": "fail where a mean fell by more than D and its interval excludes 0",
    "non_inferior": "fail unless the low end of every interval is above -D",
}
MIN_USERS = 0.95  # this share of the old file's users with a value needs one in the new file
DEFAULT_RULE: tuple[Rule, float] = ("max_drop", math.inf)  # every difference passes


def add_compare(command: argparse.ArgumentParser) -> None:
    """Add the arguments of ``recframe compare``."""
    command.set_defaults(run=run_compare, check=check_gate, paths=(), truth=None, exclude=None)
    command.usage = "%(prog)s [--max-drop D | --non-inferior D] [OPTION ...] OLD NEW"
    command.description = """\
Compare every score of NEW with the score of the same name in OLD, for the
users and metrics that both files have: the table of recframe.compare. recframe
evaluate --per-user writes such files, for example every night. If each file
has one score, their names may differ. With --max-drop, --non-inferior or
--at-least it is a gate: the exit status is 3 if a metric fails, or if NEW
lacks something that OLD has, and a line on standard error gives the reason."""
    command.epilog = """a gate:
  --max-drop asks whether something was surely lost. With few users it fails
  only if the loss is large; passing does not show that nothing was lost.
  --non-inferior asks whether a loss of D can be ruled out. With few users it
  fails, even if nothing has changed.
  D is a difference of means, such as 0.01 for a mean of 0.30. Each metric and
  score is judged by its own interval; fewer than two users fail. For fall_out,
  lower is better. If a metric lies between 0 and 1, so must D and MEAN.
  D must be below the old mean, since no loss could be larger. Files made with
  other options are refused; csv does not record them.
  The gate also fails if NEW lacks something that OLD has. A single score under
  another name counts as missing. A segment that only NEW has is not judged.

examples:
  recframe compare monday.parquet tuesday.parquet
  recframe compare old.parquet new.parquet --max-drop 0.01
  recframe compare old.csv new.csv --metric recall@10 --non-inferior 0.005
  recframe compare old.csv new.csv --max-drop 0.01 --at-least ndcg@10=0.2"""
    command.add_argument("old", metavar="OLD", help="the baseline: .parquet or .csv")
    command.add_argument("new", metavar="NEW", help="the file that is compared")
    command.add_argument(
        "--by",
        action="append",
        metavar="COLUMN",
        help="a table, and the gate, for each segment of users: a column before the score in both "
        "files, as evaluate --by --per-user writes them; repeat it for several columns",
    )
    add_metrics(command, ["all that both files have"])
    group = command.add_argument_group("gate")
    rule = group.add_mutually_exclusive_group()
    for name, meaning in RULES.items():
        read = partial(_read_rule, name)
        rule.add_argument(as_flag(name), dest="gate", type=read, metavar="D", help=meaning)
    group.add_argument(
        "--at-least",
        action="append",
        default=[],
        type=_read_floor,
        metavar="METRIC=MEAN",
        help="fail where the mean of all users of NEW with a value is below this; repeat it for "
        "several metrics",
    )
    group.add_argument(
        "--min-users",
        type=lambda text: check_limit(read_number(text), 1),
        metavar="SHARE",
        help=f"the share of users with a value in OLD that need one in NEW (default: {MIN_USERS})",
    )
    group.add_argument(
        "--allow-missing",
        action="store_true",
        help="allow users, segments, scores and metrics to be missing in NEW",
    )
    for which, other in (("lower", "fall"), ("higher", "rise")):
        group.add_argument(
            f"--{which}-is-better",
            action="append",
            default=[],
            metavar="METRIC",
            help=f"a {other} of this metric is no loss; for judged and means of a column, a "
            "gate needs --lower-is-better or --higher-is-better",
        )
    group = command.add_argument_group("intervals")
    of_differences = STATISTICS["--interval"] | {"choices": get_args(OfDifferences)}
    add_flags(group, STATISTICS | {"--interval": of_differences})
    add_flags(group.add_mutually_exclusive_group(), UNIT)
    group.add_argument(
        "--trusted",
        action="append",
        metavar="FILE",
        help="values by people of some users, drawn at random, that correct those of a judge in "
        "OLD and NEW; if a score has one name in both, repeat it: people's values for OLD, then "
        "for NEW",
    )
    add_output(command, "the differences", papers=PAPERS)


def check_gate(arguments: argparse.Namespace) -> None:
    """Raise if flags contradict each other, or if a flag of the gate stands alone."""
    arguments.how = read_comparison(arguments, OfDifferences)
    of_gate = ("lower_is_better", "higher_is_better", "min_users", "allow_missing")
    flags = [as_flag(name) for name in of_gate if getattr(arguments, name)]
    if flags and not (arguments.gate or arguments.at_least):
        raise RecframeError(
            f"{flags[0]} belongs to a gate; add --max-drop, --non-inferior or --at-least"
        )


def _read_rule(rule: Rule, text: str) -> tuple[Rule, float]:
    """Return a rule with the limit in a text."""
    return rule, check_limit(read_number(text))


def _read_floor(text: str) -> tuple[str, float]:
    """Return the metric and the mean in a text such as ndcg@10=0.2."""
    metric, _, mean = text.rpartition("=")
    if not metric:
        raise RecframeError(f"must be METRIC=MEAN, such as ndcg@10=0.2, found {quote(text)}")
    return metric, check_limit(read_number(mean), 1 if is_share(metric) else math.inf)


def _read_gate(arguments: argparse.Namespace, matched: Matched) -> Gate | None:
    """Return the gate of the arguments, None without one; exit if no loss could fail it."""
    metrics = list(matched.per_user.columns.unique("metric"))
    if not (arguments.gate or arguments.at_least):
        return None
    rule, limit = arguments.gate or DEFAULT_RULE
    low = find_low(metrics, arguments.lower_is_better, arguments.higher_is_better)
    means = mean_table(matched.per_user, matched.weights).to_dict("records")
    for (old, _), of_score in zip(matched.scores, means, strict=False):  # the new ones come last
        for metric in filter(is_share, metrics) if limit < math.inf else ():
            most, mean, why = 1.0, of_score[metric], "which lies between 0 and 1"
            if rule == "max_drop" and limit < 1:
                most = 1 - mean if metric in low else mean
                why = f"whose old mean by {quote(old)} is {mean:.4g}"
            if 0 < most <= limit + 1e-12:  # floats may differ in their last digits
                tell(
                    f"{as_flag(rule)} must be below {most:.4g} for {shorten(metric)}, {why}, found "
                    f"{limit:g}; pass a difference of means such as {most / 20:.2g}"
                )
                raise SystemExit(USAGE)
    share = MIN_USERS if arguments.min_users is None else arguments.min_users
    alike = find_alike([*metrics, *dict(arguments.at_least)])
    return Gate(rule, limit, low, {alike[name]: mean for name, mean in arguments.at_least}, share)


def _check_same_options(
    saved: list[Saved], names: list[str], arguments: argparse.Namespace
) -> None:
    """Note options that differ between the files; with a gate, raise.

    "raise" never changes a value, so it agrees with every other value of its option.
    """
    has_gate, (old, new) = bool(arguments.gate or arguments.at_least), (one.made for one in saved)
    pairs = {name: (old.get(name), new.get(name)) for name in old | new}
    others = [name for name, two in pairs.items() if two[0] != two[1] and "'raise'" not in two]
    texts, lines = [], []
    for name, made in zip(names, (old, new), strict=True):
        texts.append(
            f"{show_path(name)} with {', '.join(f'{one}={made.get(one)}' for one in others)}"
        )
        if has_gate and not made:
            lines.append(f"{show_path(name)} does not say which options it was made with")
    if others and old and new:
        lines.append(f"{' and '.join(texts)} were made with other options")
        if has_gate:
            raise RecframeError(f"{lines[0]}; evaluate both with the same")
    for line in () if arguments.quiet else lines:
        tell(f"note: {line}")


@dataclass(frozen=True)
class Inputs:
    """Two saved tables, matched and split into segments, and how they are compared."""

    names: list[str]
    matched: Matched
    segmented: Segmented
    gate: Gate | None
    how: Comparison


@dataclass
class Outcome:
    """The results of the segments, and the reasons why a gate fails."""

    missing: list[str]
    failures: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    is_shared: list[bool] = field(default_factory=list)  # whether the files share a segment's users
    gone: list[dict[str, Any]] = field(default_factory=list)  # segments that only OLD has users of


def run_compare(arguments: argparse.Namespace) -> tuple[int, str]:
    """Print the differences and write them if asked; return the exit status and a summary."""
    names = _name_files(arguments)
    with (
        open_outputs(arguments, [*names, *(arguments.trusted or ())]) as (output, _),
        taking_notes() as facts,
    ):
        inputs = _read_inputs(arguments, names)
        outcome = _compare_segments(inputs, arguments)
        # `_tell_matched` reports what other notes would.
        kinds = ("disagreement", "judge")
        notes = [one for one in list_notes(facts) if one.kind.startswith(kinds)]
        result = _join_outcome(inputs, outcome)
        result = result._replace(document={**result.document, "notes": notes})
        write_result(result, arguments, output)
    if not arguments.quiet:
        _tell_matched(inputs.matched, names)
    tell_notes(notes, arguments)
    failures = outcome.failures
    if arguments.allow_missing:
        for line in outcome.missing:
            tell(f"note: {line}, which --allow-missing lets pass")
    elif inputs.gate is not None:
        failures = outcome.missing + failures
    for line in failures:
        tell(f"failed: {line}")
    return FAILED if failures else DONE, f"{len(inputs.matched.shared):,} users"


def _name_files(arguments: argparse.Namespace) -> list[str]:
    """Return the paths of both files, or raise if they are one file."""
    names = [without_file(arguments.old), without_file(arguments.new)]
    for role, name in zip(("OLD", "NEW"), names, strict=True):
        check_named(role, name)
    if len({show_uri(name) if is_uri(name) else identify(name) for name in names}) == 1:
        raise RecframeError(f"{' and '.join(map(show_path, names))} are one file; name two")
    return names


def _read_inputs(arguments: argparse.Namespace, names: list[str]) -> Inputs:
    """Return the tables of both files in segments, and how the arguments compare them."""
    saved = read_saved(names)
    tables, floors = [one.table for one in saved], dict(arguments.at_least)
    matched = match_tables(tables, names, arguments.metrics, floors)
    segmented = segment_table(matched.per_user, arguments.by, join_weights(saved, names))
    arguments.weights = segmented.weights
    matched = matched._replace(weights=segmented.weights)
    gate, how = _read_gate(arguments, matched), read_comparison(arguments, OfDifferences)
    old_unit, new_unit = (one.made.pop("unit", INFER) for one in saved)
    if how.unit == INFER and old_unit == new_unit:
        how = how._replace(unit=new_unit)
    _check_same_options(saved, names, arguments)
    if arguments.trusted:
        how = trust(how, _read_trusted_files(arguments.trusted, matched))
    return Inputs(names, matched, segmented, gate, how)


def _read_trusted_files(paths: list[str], matched: Matched) -> pd.DataFrame:
    """Return people's values in the columns of matched tables, whose scores are numbered."""
    renamed = [pair for pair in matched.scores if pair[0] != pair[1]]
    if len(paths) > 2 or (len(paths) == 1 and len(renamed) < len(matched.scores)):
        raise RecframeError(
            "--trusted must be two files, people's values for OLD and for NEW, or one whose scores "
            f"have other names in OLD and NEW, found {count_of(len(paths), 'file')}; repeat "
            "--trusted"
        )
    metrics, sides = matched.per_user.columns.unique("metric"), zip(*matched.scores, strict=True)
    tables = []
    for path, scores in zip([paths[0], paths[-1]], sides, strict=True):
        table = read_joined([path])
        check_users_known(table, matched.shared.index)
        tables.append(read_people(table, make_columns(scores, metrics)))
    users = tables[0].index.union(tables[1].index)
    both = [one.reindex(users, fill_value=UNJUDGED) for one in tables]
    return pd.concat(both, axis=1).set_axis(matched.per_user.columns, axis=1)


def _compare_segments(inputs: Inputs, arguments: argparse.Namespace) -> Outcome:
    """Return the outcome of all segments; without --by, all users are one segment."""
    matched, segmented = inputs.matched, inputs.segmented
    outcome = Outcome(list_missing(matched, inputs.names))
    each = segmented.each(shows_bar=shows_bar(is_quiet=arguments.quiet))
    for (rows, users, weights), segment in zip(each, list_segments(segmented), strict=True):
        has_user = matched.has_user[:, rows]
        of_segment = matched._replace(per_user=users, has_user=has_user, weights=weights)
        values = [f"{shorten(name)} is {quote(value)}" for name, value in segment.items()]
        where = f" where {' and '.join(values)}" if values else ""
        outcome.is_shared.append(not of_segment.shared.empty)
        if outcome.is_shared[-1]:
            _compare_users(of_segment, where, inputs, outcome, arguments)
        elif of_segment.has_user[0].any():
            outcome.gone.append(segment)
            outcome.missing.append(f"no user{where} is in both files")
    return outcome


def _compare_users(
    matched: Matched, where: str, inputs: Inputs, outcome: Outcome, arguments: argparse.Namespace
) -> None:
    """Add the result of the users of one segment, and the reasons why they fail the gate."""
    table = compare_matched(matched, inputs.how)
    table.columns.name = f"baseline: {show_uri(inputs.names[0])}"
    gate, described = inputs.gate, None
    if gate is not None:
        failed, lacking = find_failed(table, gate, inputs.how.resampling.confidence)
        outcome.failures += _list_reasons(failed, where)
        outcome.missing += _list_reasons(lacking, where)
        described = {
            gate.rule: gate.limit,
            "at_least": gate.floors,
            "min_users": gate.min_users,
            "allow_missing": arguments.allow_missing,
            "lower_is_better": sorted(gate.low),
            "failed": failed,
            "missing": lacking,
        }
    result = make_pairs_result(table, len(matched.shared), {"gate": described})
    # Only the document has the values of users without a partner in the other file.
    shown = result.shown.drop(columns=["n_old", "new_mean"])
    outcome.results.append(result._replace(shown=shown, by_score=shown))


def _join_outcome(inputs: Inputs, outcome: Outcome) -> Result:
    """Return one result for all segments, with the document of the command."""
    matched, how, segmented = inputs.matched, inputs.how, inputs.segmented
    about: dict[str, Any] = {
        "recframe": __version__,
        "command": "compare",
        "paths": list(map(show_uri, inputs.names)),
        "options": {"test": how.test, "correction": how.correction, "unit": how.unit}
        | how.resampling._asdict(),
        "only": dict(zip(("old", "new"), matched.only, strict=True)),
    }
    if not segmented.grouping.by:
        (result,) = outcome.results
        return result._replace(document={**about, **result.document})
    about |= {"users": len(matched.shared), "segments_gone": outcome.gone}
    segmented = segmented._replace(keys=segmented.keys[outcome.is_shared])
    return join_results(outcome.results, segmented, about)


def _list_reasons(reasons: Reasons, where: str) -> list[str]:
    """Return a line for each reason by score and metric; `where` names the segment."""
    return [
        f"{shorten(metric)} of {quote(score)}{where} {reason}"
        for score, of_score in reasons.items()
        for metric, reason in of_score.items()
    ]


def _tell_matched(matched: Matched, names: list[str]) -> None:
    """Note everything that only one of the files has, renamed scores, and equal values."""
    shared = matched.shared
    for name, only in zip(names, matched.only, strict=True):
        n_only, scores, metrics = only.values()
        counts = {"user": n_only, "score": len(scores), "metric": len(metrics)}
        shown = {"user": "", "score": f" {quote(scores)}", "metric": f" {quote(metrics)}"}
        parts = [f"{count_of(n, noun)}{shown[noun]}" for noun, n in counts.items() if n]
        if parts:
            both = f"; both have {count_of(len(shared), 'user')}" if n_only else ""
            tell(f"note: only {show_path(name)} has {', '.join(parts)}, left out{both}")
    for old, new in matched.scores:
        if old != new:
            tell(f"note: {quote(new)} is compared with {quote(old)}, each the only score of a file")
    old, new = np.split(shared.to_numpy(), 2, axis=1)
    if np.array_equal(old, new, equal_nan=True):
        tell("note: all values are the same in both files")
