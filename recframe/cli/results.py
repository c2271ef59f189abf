"""Results: tables as text, as one document, and in files."""

import argparse
import json
import math
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from textwrap import fill
from typing import IO, Any, NamedTuple, cast

import numpy as np
import pandas as pd

from recframe import __version__
from recframe.analysis.description import Description
from recframe.analysis.overview import TEXT_WIDTH
from recframe.cli.values import as_usage, read_path
from recframe.console import escape
from recframe.errors import hide
from recframe.files.footers import Files
from recframe.files.output import FILE_ENDINGS, Means, Target
from recframe.options import Options

QUIET = ("-q", "--quiet", "--no-progress")
UNNAMED_LEVELS = (None, "baseline", "score", "metric")  # of rows, whose names go without saying
OUTPUT_ENDINGS = (".csv", ".json", ".parquet")


def add_per_user(group: Any, whose: str) -> None:
    """Add where the values of every user, or query, go."""
    group.add_argument(
        "--per-user",
        type=as_usage(lambda text: read_path(text, FILE_ENDINGS)),
        metavar="FILE",
        help=f"also write the values of every {whose} to FILE ({' or '.join(FILE_ENDINGS)})",
    )


def add_output(command: argparse.ArgumentParser, what: str, quiet: Sequence[str] = QUIET) -> Any:
    """Add where results go; return the group."""
    group = command.add_argument_group("output")
    group.add_argument(
        "--format",
        choices=("table", "csv", "json"),
        default="table",
        help=f"how {what} are printed; json has columns, options and version beside them "
        "(default: %(default)s)",
    )
    group.add_argument(
        "-o",
        "--output",
        type=as_usage(lambda text: read_path(text, OUTPUT_ENDINGS)),
        metavar="FILE",
        help=f"also write {what} to FILE ({', '.join(OUTPUT_ENDINGS)}), whole or not at all",
    )
    said = group.add_mutually_exclusive_group()
    said.add_argument(*quiet, dest="quiet", action="store_true", help="no progress bar, no notes")
    said.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="also say what is read and how, rows, users and seconds, on standard error",
    )
    return group


class Result(NamedTuple):
    """What a command has found, in each of its forms."""

    shown: pd.DataFrame  # as it is printed
    by_score: pd.DataFrame  # a row for each score
    document: Mapping[str, Any]  # all there is to know, for JSON
    words: tuple[str, ...] = ()  # printed below the table
    corner: str | None = None  # printed above its rows


def result_of_means(means: Means, about: Mapping[str, Any]) -> Result:
    """Return the means, with the users that each is of."""
    table, n_users, n_all = means
    scores = {
        str(score): {
            str(metric): {
                "mean": float(mean),
                "users": int(n_users.loc[score, metric]),
                "undefined": int(n_all - n_users.loc[score, metric]),
            }
            for metric, mean in table.loc[score].items()
        }
        for score in table.index
    }
    found = {"users": n_all, "metrics": list(map(str, table.columns)), "scores": scores}
    return Result(table, table, {**about, **found})


def result_of_figures(described: Description, about: Mapping[str, Any]) -> Result:
    """Return the figures of a description, and in words those that should worry."""
    table, words = pd.DataFrame(described), described.warnings
    by_score = table.T.rename_axis(columns=None)
    scores = {str(score): row.to_dict() for score, row in by_score.iterrows()}
    return Result(table, by_score, {**about, "scores": scores, "warnings": words}, tuple(words))


def result_of_table(table: pd.DataFrame, about: Mapping[str, Any]) -> Result:
    """Return a table of figures, a row for each score."""
    scores = {str(score): row.to_dict() for score, row in table.iterrows()}
    return Result(table, table, {**about, "scores": scores})


def result_of_pairs(table: pd.DataFrame, means: Means, about: Mapping[str, Any]) -> Result:
    """Return a table with a row for each score and metric, of as many users as the means."""
    table, scores = pd.DataFrame(table), dict[str, dict[str, Any]]()
    for label, figures in table.to_dict("index").items():
        score, metric = map(str, cast("tuple[object, object]", label))
        scores.setdefault(score, {})[metric] = figures
    found = {"users": means.n_all, "metrics": list(map(str, means.means)), "scores": scores}
    corner = None if table.columns.name is None else printable(table.columns.name)
    return Result(table, table, {**about, **found}, corner=corner)


def describe_run(
    arguments: argparse.Namespace, command: str, files: Files, options: Options
) -> dict[str, Any]:
    """Return what is to know of a run beside its results."""
    columns = files.columns
    return {
        "recframe": __version__,
        "command": command,
        "paths": arguments.paths,
        "filters": arguments.filter,
        "rows": None if files.has_conditions else files.n_rows,  # before any is read
        "columns": {
            "user": columns.user,
            "item": columns.item,
            "score": columns.scores,
            "relevant": columns.relevant,
        },
        "options": {option.name: getattr(options, option.name) for option in fields(options)},
    }


def as_text(result: Result, text_format: str) -> str:
    """Return a result as it is printed."""
    if text_format == "json":
        return as_json(result.document)
    if text_format == "csv":
        table = result.by_score.rename(index=printable, columns=printable)
        return table.to_csv().rstrip("\n")
    table = result.shown.rename(index=_show_label, columns=printable)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    # In a file lines are of any length; a terminal would break them in the middle.
    unnamed = table.rename_axis(columns=result.corner)
    unnamed.index.names = [None if name in UNNAMED_LEVELS else name for name in table.index.names]
    lines = [unnamed.to_string(line_width=width)]
    for number, word in enumerate(result.words):
        begin = "\n- " if number == 0 else "- "
        lines.append(fill(word, width or TEXT_WIDTH, initial_indent=begin, subsequent_indent="  "))
    return "\n".join(lines)


def write_result(result: Result, file: IO[bytes], path: Target) -> None:
    """Write a result to a file, in the format that its ending names."""
    table = result.by_score
    if path.suffix == ".json":
        file.write(f"{as_json(result.document)}\n".encode("utf-8", "backslashreplace"))
    elif path.suffix == ".csv":
        table.to_csv(file, mode="wb")
    else:
        # What parts users keeps its type; labels may be of any.
        level = "score" if "score" in table.index.names else None
        plain = table.infer_objects().rename(index=str, level=level).rename(columns=str)
        plain.reset_index().to_parquet(file, index=False)
    file.flush()  # what has no room is known before anything is shown


def as_json(value: object) -> str:
    """Return a value as JSON: NaN is null, infinities are "inf" and "-inf"."""
    return json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def _plain(value: object) -> Any:
    """Return a value made of what JSON has."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, str | os.PathLike):
        return hide(os.fspath(value))
    if value is None or value is pd.NA or isinstance(value, bool):
        return value if value is not pd.NA else None
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float):
        return None if math.isnan(value) else value if math.isfinite(value) else str(value)
    return str(value)  # a label of another kind


def _show_label(label: Any) -> Any:
    """Return a label as a table has it, nothing as NaN in every version of pandas."""
    shown = printable(label)
    return shown if isinstance(shown, str) else "NaN"


def printable(label: Any) -> Any:
    """Return a label as it is printed, in one line; nothing stays nothing."""
    is_null = pd.api.types.is_scalar(label) and pd.isna(label)
    return label if is_null else escape(str(label))
