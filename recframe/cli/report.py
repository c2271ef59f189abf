"""``recframe report``: a page of HTML about files of interactions or saved per-user tables."""

import argparse
from argparse import Namespace
from functools import partial
from itertools import combinations
from typing import Any

import pandas as pd

from recframe.analysis.report import PAGE_ENDINGS, Findings, Report, check_title, make_page
from recframe.analysis.segments import apply_by_segment, segment_table
from recframe.cli.commands import open_outputs, read_options, scan_files
from recframe.cli.flags import (
    COLUMNS,
    FILES,
    ITEMS,
    LIMITS,
    TRUSTED,
    UNIT,
    VERBOSITY,
    add_flags,
    add_metrics,
    add_options,
)
from recframe.cli.parser import as_flag, read_target
from recframe.cli.results import find_baseline
from recframe.console import DONE, tell
from recframe.errors import RecframeError, count_of, quote, show_path
from recframe.files.companion_files import as_companion_files
from recframe.files.per_user_tables import read_joined
from recframe.frames.judgments import load_frame
from recframe.frames.tables import make_columns, plain_table
from recframe.frames.user_values import WEIGHTS
from recframe.metrics.definitions import DEFAULT_METRICS
from recframe.metrics.names import find_alike, is_metric
from recframe.options import DEFAULTS, list_changed


def add_report(command: argparse.ArgumentParser) -> None:
    """Add the arguments of ``recframe report``."""
    command.set_defaults(run=run_report)
    command.usage = "%(prog)s [--metric NAME ...] [OPTION ...] PATH [PATH ...] -o FILE"
    command.description = """\
Write one page of HTML that a colleague can open offline. It lists problems in
the data first, then means, differences from a baseline, segments and users.
PATH may also name files that recframe evaluate --per-user wrote, such as those
of two nights, which the page compares."""
    command.epilog = """examples:
  recframe report run.parquet -o report.html
  recframe report runs/ -m ndcg@10 recall@10 --baseline knn --by country \\
    --title "Candidates of November" -o report.html
  recframe report monday.parquet tuesday.parquet -o nights.html"""
    add_flags(command, FILES)
    add_metrics(command, DEFAULT_METRICS)
    add_options(command, DEFAULTS)
    group = command.add_argument_group("page")
    group.add_argument("--title", metavar="TEXT", help="the title of the page")
    group.add_argument("--baseline", metavar="SCORE", help="score that others are compared with")
    group.add_argument(
        "--by",
        **COLUMNS,
        help="segments of users: a column that does not vary within a user's rows, or before the "
        "score in saved values; repeat it for several columns",
    )
    add_flags(group.add_mutually_exclusive_group(), UNIT)
    group.add_argument(
        "--label",
        **COLUMNS,
        help="shown next to items, such as a title, or next to users if each has one value, such "
        "as the text of a query; repeat it for several columns",
    )
    add_flags(group, {**ITEMS, **TRUSTED})
    group = command.add_argument_group("output")
    group.add_argument(
        "-o",
        "--output",
        required=True,
        type=partial(read_target, PAGE_ENDINGS),
        metavar="FILE",
        help=f"the page ({' or '.join(PAGE_ENDINGS)}), written whole or not at all",
    )
    add_flags(group.add_mutually_exclusive_group(), VERBOSITY)
    add_flags(command.add_argument_group("limits"), LIMITS)


def run_report(arguments: Namespace) -> tuple[int, str]:
    """Write the page; return the exit status and a summary."""
    title, options = check_title(arguments.title), read_options(arguments)
    first = Namespace(**{**vars(arguments), "paths": arguments.paths[:1], "verbose": False})
    labels = list(scan_files(first, options)[0]._sample)
    pairs = [one[-1] for one in labels if isinstance(one, tuple)]  # (score, metric), by pandas
    if is_saved := any(map(is_metric, pairs or labels[-1:] * ("score" in labels))):
        of_files = ("filter", "union_by_name", "lists", "sep", "names")
        of_rows = [
            name for name in (*of_files, "trusted", "label", "items") if getattr(arguments, name)
        ]
        if of_rows := [*of_rows, *list_changed(options)]:
            raise RecframeError(
                f"{as_flag(of_rows[0])} is for rows of users and items; "
                f"{show_path(first.paths[0])} has values of users, which recframe evaluate "
                "--per-user wrote"
            )
    rec = None if is_saved else scan_files(arguments, options)[0]
    read = arguments.paths if rec is None else rec.paths
    items = arguments.items
    with open_outputs(arguments, read, [items] * isinstance(items, str)) as (output, _):
        if rec is None:
            report = _report_saved(arguments, title)
        else:
            known = {str(score): score for score in rec.scores}
            baseline = find_baseline(arguments.baseline, known, "scores")
            metrics = arguments.metrics or DEFAULT_METRICS
            if isinstance(items, str):
                items = load_frame("items", as_companion_files(items))
            asked = baseline, arguments.by, title, arguments.unit, arguments.trusted
            report = rec.report(metrics, *asked, arguments.label, items)
        if output is not None:  # --output is required
            output.write(report.html.encode())
    if not arguments.quiet:
        tell(f"{show_path(arguments.output)}: {len(report.html.encode()) / 1000:,.0f} kB")
    return DONE, "1 page"


def _report_saved(arguments: Namespace, title: str) -> Report:
    """Return the page of saved per-user tables; two files are compared score by score."""
    paths, by = arguments.paths, arguments.by
    per_user = read_joined(paths)
    scores, known = (per_user.columns.unique(level).tolist() for level in ("score", "metric"))
    alike = find_alike([*known, *(arguments.metrics or ())])
    asked = [alike[label] for label in arguments.metrics or known]
    if lacking := [label for label in asked if label not in known]:
        raise RecframeError(f"{quote(lacking[0])} must be in the files, which have {quote(known)}")
    per_user = per_user.reindex(columns=make_columns(scores, asked))
    notes = [
        f"{score}: {count_of(n, 'user')} of {len(per_user):,} without a value, left out of its "
        "means and differences"
        for score in scores
        if (n := len(per_user) - len(per_user[[score]].dropna(how="all")))
    ]
    notes += ["the weights of users are not used: each counts alike"] * (
        WEIGHTS in per_user.index.names
    )
    users, files = f"{len(per_user):,}", ", ".join(map(show_path, paths))
    facts = [("files", files), ("users", users), ("metrics", ", ".join(asked))]

    def by_segment(make_table: Any) -> pd.DataFrame:
        return plain_table(apply_by_segment(segment_table(per_user, by, None), make_table))

    findings = Findings(per_user, facts, notes, [], paths, by_segment if by else None)
    baseline = find_baseline(arguments.baseline, dict(zip(scores, scores, strict=True)), "scores")
    paired = []
    if len(paths) == 2 and baseline is None:
        # `read_joined` labels a score that both files have as "file: score".
        names = [str(score).partition(": ")[2] for score in scores]
        pairs = combinations(range(len(names)), 2)
        paired = [(old, new) for old, new in pairs if names[old] == names[new] != ""]
    return make_page(findings, title, baseline, arguments.unit, paired)
