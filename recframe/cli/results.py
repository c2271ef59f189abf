"""Results of commands: tables and documents, printed as text and written to files."""

import json
import math
import shutil
import sys
from argparse import Namespace
from collections.abc import Hashable, Iterator, Mapping
from contextlib import suppress
from textwrap import fill
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.compare import UNDEFINED
from recframe.analysis.description import Description
from recframe.analysis.display import TEXT_WIDTH
from recframe.analysis.paper_tables import ResultTable
from recframe.analysis.reconcile import CallTable
from recframe.analysis.segments import RESULT_LEVELS, read_cell
from recframe.console import escape, show
from recframe.errors import RecframeError, hide, quote
from recframe.frames.tables import name_figures
from recframe.notes import Note
from recframe.stores import find_ending

# Text shows no names for these levels.
UNNAMED_LEVELS = (None, "baseline", "score", "other_score", "metric")
ALL_UNDEFINED = ("n_undefined", *UNDEFINED)  # columns that tables may leave out


class Result(NamedTuple):
    """The result of a command, in each of its forms."""

    shown: pd.DataFrame  # the table for text, LaTeX and Markdown
    by_score: pd.DataFrame  # the table for csv and parquet, a row for each score
    document: Mapping[str, Any]  # the document for JSON; text shows its warnings below the table


def make_figures_result(table: pd.DataFrame, about: Mapping[str, Any]) -> Result:
    """Return the result of a table of figures by score, or of conventions with their calls.

    A description has warnings too.
    """
    by_score, warnings = pd.DataFrame(table), dict[str, list[str]]()
    shown, is_of_calls = by_score.rename_axis(columns=None), isinstance(table, CallTable)
    if isinstance(table, Description):
        by_score, warnings = by_score.T.rename_axis(columns=None), {"warnings": table.warnings}
    if is_of_calls or by_score.index.nlevels > 1:
        records = by_score.reset_index().to_dict("records")
        figures: Any = {"conventions" if is_of_calls else "groups": records}
    else:
        figures = {"scores": {str(score): row.to_dict() for score, row in by_score.iterrows()}}
    if is_of_calls:
        shown = shown.drop(columns="call", errors="ignore")  # the calls are long
    return Result(shown, by_score, {**about, **figures, **warnings})


def find_baseline(name: str | None, scores: Mapping[str, Hashable], what: str) -> Hashable | None:
    """Return the score with the name of the baseline; raise if no other score is left."""
    if name is None:
        return None
    distinct = list(dict.fromkeys(scores.values()))
    if name not in scores:
        raise RecframeError(
            f"--baseline must be one of the {what} evaluated, {quote(distinct)}, but is "
            f"{quote(name)}"
        )
    if len(distinct) < 2:
        raise RecframeError(
            f"--baseline compares with others, but has only {quote(name)}. Name two {what} or more."
        )
    return scores[name]


def count_users(block: pd.DataFrame, n_levels: int) -> pd.DataFrame:
    """Return the number of users of a block by segment, and how many of them have each value."""
    per_user, values = read_cell(block)
    is_known = pd.DataFrame(per_user.notna().to_numpy(int)).add_prefix("users of ")
    is_known.insert(0, "users", 1)
    return add_up_users(pd.concat([values.iloc[:, :n_levels], is_known], axis=1), n_levels)


def add_up_users(counts: pd.DataFrame, n_levels: int) -> pd.DataFrame:
    """Return the sums of counts of users by segment, whose values are the first columns."""
    if n_levels == 0:
        return counts.sum().to_frame().T
    segments = list(range(n_levels))
    return counts.groupby(segments, dropna=False, observed=True, as_index=False).sum()


def make_users_result(
    table: pd.DataFrame, counts: pd.DataFrame, arguments: Namespace, about: Mapping[str, Any]
) -> Result:
    """Return the result of a table of means, intervals or differences.

    `counts` are those of `count_users`, for the segments of the table.
    """
    levels = [name for name in table.index.names if name not in RESULT_LEVELS]
    are_means, n_users = "metric" not in table.index.names, counts.iloc[:, len(levels) :]
    table = pd.DataFrame(table) if are_means else table
    documents = describe_means(table, n_users) if are_means else describe_pairs(table, n_users)
    shown = table.rename_axis(columns=None) if are_means else table
    head = {} if arguments.baseline is None else {"baseline": arguments.baseline}
    if not levels:
        return Result(shown, table, {**about, **head, **next(documents)})
    about = {**about, "users": int(n_users["users"].sum())}
    is_json = arguments.format == "json" or find_ending(arguments.output or "") == ".json"
    if is_json or not are_means:
        keys = table.index[:: len(table) // len(counts)].to_frame(index=False)[levels]
        pairs = zip(keys.rename(columns=str).to_dict("records"), documents, strict=True)
        about["segments"] = [{"segment": one, **head, **document} for one, document in pairs]
    return Result(shown, shown, about)


def describe_means(means: pd.DataFrame, counts: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the document of each segment: its means, with numbers of users."""
    scores, metrics = ([*map(str, one)] for one in (means.index.unique("score"), means.columns))
    n_all, n_users = counts["users"].tolist(), counts.drop(columns="users").to_numpy()
    n_undefined = np.repeat(n_all, len(scores) * len(metrics)) - np.ravel(n_users)
    cells = zip(*(np.ravel(one).tolist() for one in (means, n_users, n_undefined)), strict=True)
    figures = ({"mean": mean, "users": n, "undefined": m} for mean, n, m in cells)
    for n in n_all:
        by_score = {score: {metric: next(figures) for metric in metrics} for score in scores}
        yield {"users": n, "metrics": metrics, "scores": by_score}


def describe_pairs(table: pd.DataFrame, counts: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the document of each segment of a table with a row for each score and metric."""
    n_rows, rows = len(table) // len(counts), pd.DataFrame(table)
    for number, n in enumerate(counts["users"].tolist()):
        segment = rows[number * n_rows : (number + 1) * n_rows]
        # A table leaves out numbers of users that are all 0.
        undefined = [name for name in ALL_UNDEFINED if name in segment and segment[name].any()]
        names = [name for name in segment if name not in ALL_UNDEFINED]
        yield describe_rows(segment[names + undefined], n)


def describe_rows(table: pd.DataFrame, n_users: int) -> dict[str, Any]:
    """Return the document of a table with a row for each score and metric."""
    scores = dict[str, dict[str, Any]]()
    for (*_, score, metric), figures in zip(table.index, table.to_dict("records"), strict=True):
        scores.setdefault(str(score), {})[str(metric)] = figures
    metrics = list(map(str, table.index.unique("metric")))
    return {"users": n_users, "metrics": metrics, "scores": scores}


def write_result(
    result: Result, arguments: Namespace, output: IO[bytes] | None, lines: str | None = None
) -> None:
    """Write a result to the file of --output, and print it; `lines` are printed in its place."""
    if output is not None:
        table, ending = result.by_score, find_ending(arguments.output)
        if ending == ".json":
            text = f"{format_result(result, 'json')}\n"
            output.write(text.encode("utf-8", "backslashreplace"))
        elif ending == ".csv":
            table.to_csv(output, mode="wb")
        else:
            # Parquet needs text for labels; the values of segments keep their types.
            level = "score" if "score" in table.index.names else None
            saved = table.infer_objects().rename(index=str, level=level).rename(columns=str)
            saved.reset_index().to_parquet(output, index=False, write_page_checksum=True)
        output.flush()  # a full disk is an error before anything is printed
    show(format_result(result, arguments.format) if lines is None else lines, allowed="\n\t")


def format_result(result: Result, text_format: str) -> str:
    """Return a result as text in a format: json, csv, table, latex or markdown."""
    if text_format == "json":
        document = {**result.document}
        if document["command"] in ("evaluate", "compare"):
            with suppress(RecframeError):  # two labels may become one name
                document["flat"] = name_figures(result.by_score)
        return json.dumps(_to_json(document), indent=2, ensure_ascii=False, allow_nan=False)
    if text_format == "csv":
        table = result.by_score.rename(index=escape_label, columns=escape_label)
        return table.to_csv().rstrip("\n")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    table, about = result.shown, list[str]()
    if isinstance(table, ResultTable) and text_format != "table":
        table.notes = result.document.get("notes", ())
        return (table.to_latex() if text_format == "latex" else table.to_markdown()).rstrip("\n")
    if isinstance(table, ResultTable) and table.is_wide:
        about = [fill(table.explain(), width or TEXT_WIDTH, break_on_hyphens=False)]
        table = table[table.main_columns]
    # Null labels are shown as NaN in every version of pandas.
    table = table.rename(columns=escape_label)
    table = table.rename(
        index=lambda label: shown if isinstance(shown := escape_label(label), str) else "NaN"
    )
    # A terminal would break long lines in the middle; in a file they may have any length.
    unnamed = table.rename_axis(columns=escape_label)
    unnamed.index.names = [None if name in UNNAMED_LEVELS else name for name in table.index.names]
    lines = [unnamed.to_string(line_width=width), *about]
    for number, text in enumerate(result.document.get("warnings", ())):
        begin = "\n- " if number == 0 else "- "
        lines.append(fill(text, width or TEXT_WIDTH, initial_indent=begin, subsequent_indent="  "))
    return "\n".join(lines)


def _to_json(value: object) -> Any:
    """Return a value with types of JSON only: NaN is null, infinities are "inf" and "-inf"."""
    if isinstance(value, float):  # the most frequent type comes first
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict | Mapping):  # the test of an abstract class is slow
        return {str(key): _to_json(each) for key, each in value.items()}
    if isinstance(value, Note):
        return _to_json(value._asdict())
    if isinstance(value, list | tuple):
        return [_to_json(each) for each in value]
    if value is None or value is pd.NA:
        return None
    return int(value) if isinstance(value, np.integer) else str(value)  # str is for dates


def escape_label(label: Any) -> Any:
    """Return a label as printable text on one line; a null stays as it is."""
    is_null = pd.api.types.is_scalar(label) and pd.isna(label)
    return label if is_null else escape(str(label))
