"""What is shown of the values of every user: their means, intervals of these, or differences."""

import argparse
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import pandas as pd

from recframe.analysis.compare import compare_table
from recframe.analysis.summary import summary_table
from recframe.cli.intervals import add_how, check_how, read_how
from recframe.cli.results import Result, result_of_means, result_of_pairs
from recframe.errors import RecframeError, quote
from recframe.files.output import Means, mean_of_tables
from recframe.frames.tables import join_tables, mean_table


def add_views(command: argparse.ArgumentParser, what: str, whose: str) -> None:
    """Add what may be shown in place of means; `what` are scores or runs, of users or queries."""
    command.set_defaults(check=check_views)
    group = command.add_argument_group("intervals")
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--summary",
        action="store_true",
        help=f"print each mean with its interval over {whose}, as df.rec.summary",
    )
    either.add_argument(
        "--baseline",
        metavar=what.upper(),
        help=f"print how every other {what} differs from this one, with intervals and p-values "
        f"over {whose}, as df.rec.compare",
    )
    add_how(group)


def add_per_query(group: argparse._ArgumentGroup) -> None:
    """Add that the values of every query are printed too."""
    group.add_argument(
        "-q",
        "--per-query",
        action="store_true",
        help="print the values of every query, and of all last, in trec_eval's lines; with "
        "--baseline the differences from it",
    )


def check_views(arguments: argparse.Namespace) -> None:
    """Raise where two views are asked for that are not one table, or what is of none of them."""
    is_comparison = arguments.baseline is not None
    check_how(arguments, is_summary=arguments.summary, is_comparison=is_comparison)
    if getattr(arguments, "per_query", False) and arguments.summary:
        raise RecframeError(
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
    weights: pd.Series | None = None,
) -> tuple[Result, Means]:
    """Return what is asked for of per-user tables that come one by one, and their means.

    Only for means of users that count alike they need not all be held.
    """
    if not arguments.summary and baseline is None and weights is None:
        means = mean_of_tables(tables)
        return result_of_means(means, about), means
    how, per_user = read_how(arguments), join_tables(list(tables))
    means = mean_of_tables([per_user])
    if arguments.summary:
        table = summary_table(per_user, weights, resampling=how.resampling)
        return result_of_pairs(table, means, about), means
    if baseline is None:
        means = means._replace(means=mean_table(per_user, weights))
        return result_of_means(means, about), means
    table = compare_table(per_user, weights, baseline=baseline, how=how)
    return result_of_pairs(table, means, {**about, "baseline": baseline}), means
