"""The commands catalogue, overlap and reconcile, which describe lists and conventions."""

import argparse
import warnings
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any

from recframe.analysis.catalogue import catalogue_options, read_catalogue
from recframe.cli.commands import describe_run, open_outputs, read_options, scan_files, tell_notes
from recframe.cli.flags import CUT_OFF, FILES, ITEMS, add_flags, add_shared
from recframe.cli.parser import read_number
from recframe.cli.results import make_figures_result, write_result
from recframe.console import DONE
from recframe.errors import RecframeError, RecframeWarning, quote
from recframe.files.companion_files import as_companion_files
from recframe.files.footers import Files
from recframe.frames.judgments import load_frame
from recframe.options import Options
from recframe.scanned import ScannedRecAccessor

UNUSED_BY_CATALOGUE = ("gain", "trusted_min_relevance")  # these change nothing in the table


def add_catalogue(command: argparse.ArgumentParser) -> None:
    """Add the arguments of ``recframe catalogue``."""
    command.set_defaults(run=run_catalogue)
    command.usage = "%(prog)s [--k K] [OPTION ...] PATH [PATH ...]"
    command.description = (
        "Print which items the first k rows of all users show, for each score column:\n"
        "coverage, Gini index and entropy (in bits) of shares, personalization."
    )
    command.epilog = """examples:
  recframe catalogue run.parquet --items 5000
  recframe catalogue runs/ --k 4 --items items.parquet --short pad
  recframe catalogue runs/ --items items.parquet --by provider"""
    add_flags(command, FILES)
    command.add_argument("-k", "--k", help="the length of the lists (default: 10)", **CUT_OFF)
    add_flags(command, ITEMS)
    command.add_argument(
        "--by",
        action="append",
        metavar="COLUMN",
        help="a row for each group of items: a column of the file of --items; repeat it for "
        "several columns",
    )
    add_shared(command, "the values", UNUSED_BY_CATALOGUE)


def add_overlap(command: argparse.ArgumentParser) -> None:
    """Add the arguments of ``recframe overlap``."""
    command.set_defaults(run=run_overlap)
    command.usage = "%(prog)s (--k K | --rbo P) [OPTION ...] PATH [PATH ...]"
    command.description = (
        "Print how alike the rankings of each two score columns are, as means over\n"
        "users: the share of items that both have among the first k, or rank-biased\n"
        "overlap."
    )
    command.epilog = """examples:
  recframe overlap run.parquet --k 10
  recframe overlap runs/ --rbo 0.9 --model model"""
    add_flags(command, FILES)
    measure = command.add_mutually_exclusive_group(required=True)
    measure.add_argument("-k", "--k", help="the length of the lists", **CUT_OFF | {"default": None})
    probability = "rank-biased overlap: the probability of going on to the next rank, in [0, 1)"
    measure.add_argument("--rbo", type=read_number, metavar="P", help=probability)
    add_shared(command, "the values", UNUSED_BY_CATALOGUE)


def add_reconcile(command: argparse.ArgumentParser) -> None:
    """Add the arguments of ``recframe reconcile``."""
    command.set_defaults(run=run_reconcile)
    command.usage = "%(prog)s -m NAME [--value NUMBER] [OPTION ...] PATH [PATH ...]"
    command.description = (
        "Print the conventions that give a reported number, the nearest first; without\n"
        "--value, the lowest and highest mean of each score column under any convention.\n"
        "Options that you pass stay as they are."
    )
    command.epilog = """examples:
  recframe reconcile run.parquet --metric ndcg@10 --value 0.3120
  recframe reconcile run.parquet --truth test.parquet -m map@10 --value 0.21
  recframe reconcile runs/ --metric recall@10"""
    add_flags(command, FILES)
    command.add_argument(
        *("-m", "--metric"),
        dest="metrics",
        action="append",
        required=True,
        metavar="NAME",
        help="one metric, such as ndcg@10",
    )
    command.add_argument(
        "--value", metavar="NUMBER", help="the number as reported; keep its final zeros"
    )
    add_shared(command, "the conventions")


def run_catalogue(arguments: Namespace) -> tuple[int, str]:
    """Print how the lists cover the catalogue, and write the figures to a file if asked."""
    items, k, by = arguments.items, arguments.k, arguments.by
    paths = [items] if isinstance(items, str) else []

    def make(rec: ScannedRecAccessor, opened: list[Files]) -> tuple[Any, dict[str, Any]]:
        known = load_frame("items", as_companion_files(items)) if paths else items
        table = rec.catalogue(k, known, by)
        return table, {"k": k, "items": read_catalogue(known, opened[0].columns).n_items}

    options = catalogue_options(read_options(arguments), by)
    return _print_table(arguments, options, make, paths)


def run_overlap(arguments: Namespace) -> tuple[int, str]:
    """Print how alike rankings are, and write the table to a file if asked."""
    options = catalogue_options(read_options(arguments))
    asked = {"k": arguments.k, "rbo": arguments.rbo}
    return _print_table(arguments, options, lambda rec, _: (rec.overlap(**asked), asked))


def run_reconcile(arguments: Namespace) -> tuple[int, str]:
    """Print the conventions that give a number, or their range; write them if asked."""
    options, value, (metric, *others) = read_options(arguments), arguments.value, arguments.metrics
    if others:
        raise RecframeError(f"--metric must be one metric, but is {quote(arguments.metrics)}")

    def make(rec: ScannedRecAccessor, _: list[Files]) -> tuple[Any, dict[str, Any]]:
        table = rec.robustness(metric) if value is None else rec.reconcile(metric, value)
        return table, {"metric": metric, "value": value}

    return _print_table(arguments, options, make)


def _print_table(
    arguments: Namespace, options: Options, make: Callable[..., Any], others: Sequence[str] = ()
) -> tuple[int, str]:
    """Print and write the table that `make` returns with its arguments; it reads `others` too."""
    rec, opened = scan_files(arguments, options)
    with open_outputs(arguments, rec.paths, others) as (output, _):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecframeWarning)  # the notes have the same sentences
            table, asked = make(rec, opened)
        about = describe_run(arguments, options, opened[0]) | asked | {"notes": table.notes}
        write_result(make_figures_result(table, about), arguments, output)
    tell_notes(table.notes, arguments)
    return DONE, opened[0].rows_in_words
