"""``recframe compare``: the differences between two saved tables, and a gate for nightly jobs."""

import argparse
import math
from functools import partial
from typing import Any

import pandas as pd

from recframe import __version__
from recframe.analysis.gate import (
    MIN_USERS,
    OTHERS,
    LimitError,
    Sides,
    Verdict,
    check_limit,
    find_verdict,
)
from recframe.analysis.resampling import OfDifferences
from recframe.analysis.segments import join_segments, list_segments
from recframe.analysis.verdict import make_gate
from recframe.cli.commands import open_outputs, tell_notes
from recframe.cli.flags import (
    COLUMNS,
    PAPERS,
    UNIT,
    add_flags,
    add_metrics,
    add_output,
    add_statistics,
    read_comparison,
)
from recframe.cli.parser import as_flag, read_number
from recframe.cli.results import Result, describe_rows, write_result
from recframe.console import DONE, FAILED, USAGE, shows_bar, tell
from recframe.errors import RecframeError, count_of, quote, show_path
from recframe.files.per_user_tables import join_weights, read_joined, read_saved
from recframe.frames.names import shown
from recframe.metrics.names import is_share
from recframe.stores import check_named, expand_path, identify, is_uri, show_uri

RULES = {
    "max_drop": "fail where a mean fell by more than D and its interval excludes 0; repeat it for "
    "several metrics, such as --max-drop recall@10=0.005 --max-drop 0.01",
    "non_inferior": "fail unless the low end of every interval is above -D",
}
FLOOR = "fail where the mean of all users of NEW with a value is below this; such as ndcg@10=0.2"
OF_GATE = ("lower_is_better", "higher_is_better", "min_users", "allow_missing")


def add_compare(command: argparse.ArgumentParser) -> None:
    """Add the arguments of ``recframe compare``."""
    command.set_defaults(run=run_compare, check=check_gate, paths=())
    command.usage = "%(prog)s [--max-drop D | --non-inferior D] [OPTION ...] OLD NEW"
    command.description = """\
Compare every score of NEW with the score of the same name in OLD, for the
users and metrics that both files have: the table of recframe.compare. recframe
evaluate --per-user writes such files, for example every night. If each file
has one score, their names may differ. With --max-drop, --non-inferior or
--at-least it is a gate: the exit status is 3 if a metric fails, or if NEW
lacks something that OLD has, and a line on standard error gives the reason."""
    command.epilog = """a gate:
  --max-drop fails if there is clear evidence of a loss larger than D. With
  few users only a large loss is clear; passing does not show that nothing was
  lost.
  --non-inferior fails unless a loss of D can be ruled out. With few users it
  fails, even if nothing has changed.
  D is a difference of means, such as 0.01 for a mean of 0.30. Each metric and
  score is judged by its own interval; fewer than two users fail. For fall_out,
  lower is better. If a metric lies between 0 and 1, D and the limit of
  --at-least must too. D must be below the old mean, since no loss could be
  larger. Files made with other options are refused; csv does not record them.
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
        **COLUMNS,
        help="a table, and the gate, for each segment of users: a column before the score in both "
        "files, as evaluate --by --per-user writes them; repeat it for several columns",
    )
    add_metrics(command, ["all that both files have"])
    group = command.add_argument_group("gate")
    rule = group.add_mutually_exclusive_group()
    for name, meaning in (RULES | {"at_least": FLOOR}).items():
        (group if name == "at_least" else rule).add_argument(
            as_flag(name),
            action="append",
            default=[],
            type=partial(_read_limit, name),
            metavar="[METRIC=]D",
            help=meaning,
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
    for which, loss in (("lower", "rise"), ("higher", "fall")):
        group.add_argument(
            f"--{which}-is-better",
            action="append",
            default=[],
            metavar="METRIC",
            help=f"{which} is better for this metric, so a {loss} is the loss; for judged and "
            "means of a column, a gate needs --lower-is-better or --higher-is-better",
        )
    group = command.add_argument_group("intervals")
    add_statistics(group, OfDifferences)
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
    read_comparison(arguments, OfDifferences)
    flags = [as_flag(name) for name in OF_GATE if getattr(arguments, name)]
    if flags and not (arguments.max_drop or arguments.non_inferior or arguments.at_least):
        raise RecframeError(
            f"{flags[0]} belongs to a gate. Add --max-drop, --non-inferior or --at-least."
        )
    for name in (*RULES, "at_least"):
        named = [metric for metric, _ in getattr(arguments, name)]
        for metric in {one for one in named if named.count(one) > 1}:
            whose = "without a metric" if metric == OTHERS else f"for {metric}"
            raise RecframeError(f"{as_flag(name)} {whose} may be given once")


def _read_limit(rule: str, text: str) -> tuple[str, float]:
    """Return the metric and the limit in a text such as ndcg@10=0.2; 0.2 is for others."""
    metric, _, number = text.rpartition("=")
    if rule in RULES and number.endswith("%"):
        raise RecframeError(
            f"must be a difference of means, but is {number!r}; 1% of a mean of 0.30 is 0.003"
        )
    most = 1 if rule == "at_least" and (not metric or is_share(metric)) else math.inf
    return metric or OTHERS, check_limit(read_number(number), most)


def run_compare(arguments: argparse.Namespace) -> tuple[int, str]:
    """Print the differences and write them if asked; return the exit status and a summary."""
    names = [expand_path(arguments.old), expand_path(arguments.new)]
    for role, name in zip(("OLD", "NEW"), names, strict=True):
        check_named(role, name)
    if len({show_uri(name) if is_uri(name) else identify(name) for name in names}) == 1:
        raise RecframeError(f"{' and '.join(map(show_path, names))} are one file. Name two.")
    with open_outputs(arguments, [*names, *(arguments.trusted or ())]) as (output, _):
        verdict, comment = _judge_files(arguments, names), None
        if arguments.format == "markdown":
            comment = make_gate(verdict).to_markdown().rstrip("\n")
        result = _make_compare_result(verdict, names)
        result = result._replace(document={**result.document, "notes": verdict.facts})
        write_result(result, arguments, output, comment)
    tell_notes(verdict.facts, arguments, verdict.notes)
    for line in verdict.missing if arguments.allow_missing else ():
        tell(f"note: {line}, which --allow-missing lets pass")
    for line in verdict.failures:
        tell(f"failed: {line}")
    n_users = count_of(len(verdict.matched.shared), "user")
    return FAILED if verdict.failures else DONE, n_users


def _judge_files(arguments: argparse.Namespace, names: list[str]) -> Verdict:
    """Return the verdict on two files; exit if no values could reach a limit."""
    saved = read_saved(names)
    tables, made = [one.table for one in saved], [one.made for one in saved]
    known = [one for one in tables[0].index.names if one in tables[1].index.names]
    for name in arguments.by or ():
        if name not in known:
            raise RecframeError(
                f"--by must be a column before the score in both files, {shown(known)}, but is "
                f"{quote(name)}; recframe evaluate --by --per-user writes others"
            )
    arguments.weights = join_weights(saved, names)
    limits = {name: getattr(arguments, name) for name in OF_GATE}
    limits |= {name: dict(getattr(arguments, name)) or None for name in (*RULES, "at_least")}
    try:
        return find_verdict(
            Sides(tables, names, made, arguments.weights),
            limits,
            read_comparison(arguments, OfDifferences),
            metrics=arguments.metrics,
            by=arguments.by,
            trusted=[read_joined([path]) for path in arguments.trusted or ()],
            shows_bar=shows_bar(is_quiet=arguments.quiet),
        )
    except LimitError as error:
        tell(str(error))
        raise SystemExit(USAGE) from None


def _make_compare_result(verdict: Verdict, names: list[str]) -> Result:
    """Return one result for all segments, with the document of the command."""
    how, matched = verdict.how, verdict.matched
    about: dict[str, Any] = {
        "recframe": __version__,
        "command": "compare",
        "paths": list(map(show_uri, names)),
        "options": {"test": how.test, "correction": how.correction, "unit": how.unit}
        | how.resampling._asdict(),
        "only": dict(zip(("old", "new"), matched.only, strict=True)),
    }
    limits, tables, documents = verdict.limits, list[pd.DataFrame](), list[dict[str, Any]]()
    for one in verdict.segments:
        if one.changes is None:
            continue
        described: dict[str, Any] | None = None
        if limits.any:
            described = {limits.rule: limits.losses} if limits.rule else {}
            described |= {
                "at_least": limits.floors,
                "min_users": limits.min_users,
                "allow_missing": limits.allow_missing,
                "lower_is_better": sorted(limits.low),
                "failed": one.failed,
                "missing": one.lacking,
            }
        table, n_users = one.changes, len(one.matched.shared)
        table.columns.name = f"baseline: {show_uri(names[0])}"
        documents.append({"gate": described, **describe_rows(table, n_users)})
        # Only the document has the values of users without a partner in the other file.
        tables.append(table.drop(columns=["n_old", "new_mean", "old", "new"]))
    if not verdict.segmented.grouping.by:
        return Result(tables[0], tables[0], {**about, **documents[0]})
    gone = [
        one.segment
        for one in verdict.segments
        if one.changes is None and one.matched.has_user[0].any()
    ]
    about |= {"users": len(matched.shared), "segments_gone": gone}
    shown = join_segments(tables, verdict.shared)
    pairs = zip(list_segments(verdict.shared), documents, strict=True)
    about["segments"] = [{"segment": segment, **document} for segment, document in pairs]
    return Result(shown, shown, about)
