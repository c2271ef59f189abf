"""What is shown of the values of every user: their means, intervals of these, or differences."""

import argparse
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import pandas as pd

from recframe.analysis.compare import Comparison, compare_table
from recframe.analysis.resampling import make_resampling
from recframe.analysis.summary import summary_table
from recframe.cli.results import Result, result_of_means, result_of_pairs
from recframe.errors import RecframeError, quote
from recframe.files.output import Means, mean_of_tables
from recframe.frames.tables import join_tables

RESAMPLING = make_resampling(confidence=0.95, n_resamples=9_999, seed=0)


def add_views(command: argparse.ArgumentParser, what: str, whose: str) -> None:
    """Add what may be shown in place of means; `what` are scores or runs, of users or queries."""
    group = command.add_argument_group("intervals").add_mutually_exclusive_group()
    group.add_argument(
        "--summary",
        action="store_true",
        help=f"print each mean with its 95 %% interval over {whose}, as df.rec.summary",
    )
    group.add_argument(
        "--baseline",
        metavar=what.upper(),
        help=f"print how every other {what} differs from this one, with intervals and p-values "
        f"over {whose}, as df.rec.compare",
    )


def add_per_query(group: argparse._ArgumentGroup) -> None:
    """Add that the values of every query are printed too."""
    group.add_argument(
        "-q",
        "--per-query",
        action="store_true",
        help="print the values of every query, and of all last, in trec_eval's lines; with "
        "--baseline the differences from it",
    )


def check_views(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """End where two views are asked for that are not one table."""
    if getattr(arguments, "per_query", False) and arguments.summary:
        parser.error(
            "argument --per-query: --summary is of all queries; ask for one of them, and for the "
            "values of every query by --per-user FILE"
        )


def find_baseline(given: str | None, scores: Mapping[str, Hashable], what: str) -> Hashable | None:
    """Return the score that is to be compared with, None where nothing is.

    `scores` are by the names that they go by; raise where that given is none of them, or where
    there is no other.
    """
    if given is None:
        return None
    distinct = list(dict.fromkeys(scores.values()))
    if given not in scores:
        raise RecframeError(
            f"--baseline must be one of the {what} evaluated, {quote(distinct)}, found "
            f"{quote(given)}"
        )
    if len(distinct) < 2:
        raise RecframeError(
            f"--baseline compares with others, found only {quote(given)}; name two {what} or more"
        )
    return scores[given]


def view(
    tables: Iterable[pd.DataFrame],
    arguments: argparse.Namespace,
    baseline: Hashable | None,
    about: Mapping[str, Any],
) -> tuple[Result, Means]:
    """Return what is asked for of per-user tables that come one by one, and their means.

    Only for means they need not all be held.
    """
    if not arguments.summary and baseline is None:
        means = mean_of_tables(tables)
        return result_of_means(means, about), means
    per_user = join_tables(list(tables))
    means = mean_of_tables([per_user])
    if arguments.summary:
        return result_of_pairs(summary_table(per_user, resampling=RESAMPLING), means, about), means
    how = Comparison("permutation", "holm", RESAMPLING)
    table = compare_table(per_user, baseline=baseline, how=how)
    return result_of_pairs(table, means, {**about, "baseline": baseline}), means
