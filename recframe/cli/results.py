"""Results: what is asked for of the values of users, as text, as one document, and in files."""

import json
import math
import shutil
import sys
from argparse import Namespace
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from textwrap import fill
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.compare import compare_table
from recframe.analysis.describe import Description
from recframe.analysis.display import TEXT_WIDTH
from recframe.analysis.paper_tables import MAIN_COLUMNS, ResultTable
from recframe.analysis.segments import Segmented, join_segments, mean_by_segment
from recframe.analysis.summary import summary_table
from recframe.console import escape, show, shows_bar
from recframe.errors import RecframeError, hide, quote
from recframe.frames.tables import add_up, join_tables, mean_of_sums, mean_table, sum_and_count
from recframe.notes import Note
from recframe.stores import find_ending

UNNAMED_LEVELS = (None, "baseline", "score", "metric")  # of rows, whose names go without saying


class Means(NamedTuple):
    """The means of per-user tables, and how many users each is of, out of how many."""

    means: pd.DataFrame  # a row for each score
    n_users: pd.Series  # by score and metric
    n_all: int


def mean_of_tables(tables: Iterable[pd.DataFrame]) -> Means:
    """Return the means of per-user tables that come one by one."""
    n_all, parts = 0, []
    for table in tables:
        n_all += len(table)
        parts.append(sum_and_count(table))
    sums = pd.concat(parts)
    return Means(mean_of_sums(sums), add_up(sums)["count"], n_all)


class Result(NamedTuple):
    """What a command has found, in each of its forms."""

    shown: pd.DataFrame  # as it is printed, the name of its columns above its rows
    by_score: pd.DataFrame  # a row for each score
    document: Mapping[str, Any]  # all there is to know, for JSON; warnings stand below the table


def result_of_figures(table: pd.DataFrame, about: Mapping[str, Any]) -> Result:
    """Return a table of figures, a row for each score; of a description its warnings too."""
    by_score, words = pd.DataFrame(table), dict[str, list[str]]()
    if isinstance(table, Description):
        by_score, words = by_score.T.rename_axis(columns=None), {"warnings": table.warnings}
    scores = {str(score): row.to_dict() for score, row in by_score.iterrows()}
    shown = pd.DataFrame(table).rename_axis(columns=None)
    return Result(shown, by_score, {**about, "scores": scores, **words})


def result_of_pairs(table: pd.DataFrame, n_users: int, about: Mapping[str, Any]) -> Result:
    """Return a table with a row for each score and metric, of so many users."""
    scores = dict[str, dict[str, Any]]()
    for (score, metric), figures in zip(table.index, table.to_dict("records"), strict=True):
        scores.setdefault(str(score), {})[str(metric)] = figures
    metrics = list(map(str, table.index.unique("metric")))
    found = {"users": n_users, "metrics": metrics, "scores": scores}
    return Result(table, table, {**about, **found})


def find_baseline(given: str | None, scores: Mapping[str, Hashable], what: str) -> Hashable | None:
    """Return the score that is to be compared with, if any; raise unless there are others too."""
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
    arguments: Namespace,
    baseline: Hashable | None,
    about: Mapping[str, Any],
    weights: pd.Series | None = None,
) -> tuple[Result, Means]:
    """Return what is asked for of per-user tables that come one by one, and their means."""
    is_resampled = arguments.summary or baseline is not None
    if is_resampled or weights is not None:  # for means alone the tables need not all be held
        per_user = join_tables(list(tables))
        tables = [per_user]
    means = mean_of_tables(tables)
    if is_resampled:
        return _resample(per_user, weights, arguments, baseline, about), means
    if weights is not None:
        means = means._replace(means=mean_table(per_user, weights))
    by_score, n_users, n_all = means
    (document,) = describe_means(by_score, n_users, [n_all])
    return Result(by_score.rename_axis(columns=None), by_score, {**about, **document}), means


def _resample(
    per_user: pd.DataFrame, weights: Any, arguments: Namespace, baseline: Any, about: Any
) -> Result:
    """Return the intervals of users' means, or of their differences from a baseline."""
    if arguments.summary:
        how = {"resampling": arguments.how.resampling, "unit": arguments.how.unit}
        table = summary_table(per_user, weights, **how)
    else:
        table = compare_table(per_user, weights, baseline=baseline, how=arguments.how)
        about = {**about, "baseline": baseline}
    return result_of_pairs(table, len(per_user), about)


def view_segments(
    segmented: Segmented,
    arguments: Namespace,
    baseline: Hashable | None,
    about: Mapping[str, Any],
) -> tuple[Result, Means]:
    """Return what is asked for of the users of each segment, and the means of all."""
    _, per_user, weights, keys, *_ = segmented
    if keys.empty:  # as of no user
        return view([per_user], arguments, baseline, about, weights)
    means = mean_of_tables([per_user])
    about = {**about, "users": means.n_all}
    if not arguments.summary and baseline is None:
        shown = mean_by_segment(segmented).rename_axis(columns=None)
        if arguments.format == "json" or find_ending(arguments.output or "") == ".json":
            n_users = segmented.add_up(per_user.notna().to_numpy(float))
            n_all = np.diff(segmented.offsets).tolist()
            documents = describe_means(shown, n_users.astype(int), n_all)
            about["segments"] = join_documents(documents, segmented)
        return Result(shown, shown, about), means
    each = segmented.each(shows_bar=shows_bar(is_quiet=arguments.quiet))
    results = [_resample(users, own, arguments, baseline, {}) for _, users, own in each]
    return join_results(results, segmented, about), means


def describe_means(means: pd.DataFrame, n_users: Any, n_all: Sequence[int]) -> Iterator[Any]:
    """Yield the document of each segment's means, of its users with a value, and of its users."""
    scores, metrics = ([*map(str, one)] for one in (means.index.unique("score"), means.columns))
    n_undefined = np.repeat(n_all, len(scores) * len(metrics)) - np.ravel(n_users)
    cells = zip(*(np.ravel(one).tolist() for one in (means, n_users, n_undefined)), strict=True)
    figures = ({"mean": mean, "users": n, "undefined": m} for mean, n, m in cells)
    for n in n_all:
        found = {score: {metric: next(figures) for metric in metrics} for score in scores}
        yield {"users": n, "metrics": metrics, "scores": found}


def join_results(results: list[Result], segmented: Segmented, about: Mapping[str, Any]) -> Result:
    """Return the results of segments as one."""
    shown = join_segments([result.shown for result in results], segmented)
    documents = (result.document for result in results)
    return Result(shown, shown, {**about, "segments": join_documents(documents, segmented)})


def join_documents(documents: Iterable[Any], segmented: Segmented) -> list[dict[str, Any]]:
    """Return what each segment is, with its document."""
    found = zip(list_segments(segmented), documents, strict=True)
    return [{"segment": segment, **document} for segment, document in found]


def list_segments(segmented: Segmented) -> list[dict[str, Any]]:
    """Return what each segment is: its values by the names of columns."""
    names = [str(one.label) for one in segmented.grouping.by]
    keys = segmented.keys.itertuples(name=None)
    return [dict(zip(names, key, strict=True)) for _, *key in keys]


def give(
    result: Result, arguments: Namespace, output: IO[bytes] | None, lines: str | None = None
) -> None:
    """Write a result to a file as its ending says, and print it, or lines with tabs instead."""
    if output is not None:
        table, ending = result.by_score, find_ending(arguments.output)
        if ending == ".json":
            text = f"{as_text(result, 'json')}\n"
            output.write(text.encode("utf-8", "backslashreplace"))
        elif ending == ".csv":
            table.to_csv(output, mode="wb")
        else:
            # What parts users keeps its type; labels may be of any.
            level = "score" if "score" in table.index.names else None
            plain = table.infer_objects().rename(index=str, level=level).rename(columns=str)
            plain.reset_index().to_parquet(output, index=False, write_page_checksum=True)
        output.flush()  # what has no room is known before anything is shown
    if lines is None:
        show(as_text(result, arguments.format))
    else:
        show(lines, kept="\n\t")


def as_text(result: Result, text_format: str) -> str:
    """Return a result as it is printed."""
    if text_format == "json":
        document = _plain(result.document)
        return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    if text_format == "csv":
        table = result.by_score.rename(index=printable, columns=printable)
        return table.to_csv().rstrip("\n")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    table, about = result.shown, list[str]()
    if isinstance(table, ResultTable) and text_format != "table":
        table.notes = result.document.get("notes", ())
        return (table.to_latex() if text_format == "latex" else table.to_markdown()).rstrip("\n")
    if isinstance(table, ResultTable) and table.is_wide:
        about = [fill(table.explain(), width or TEXT_WIDTH, break_on_hyphens=False)]
        table = table[MAIN_COLUMNS]
    # Nothing is shown as NaN in every version of pandas.
    table = table.rename(columns=printable)
    table = table.rename(
        index=lambda label: shown if isinstance(shown := printable(label), str) else "NaN"
    )
    # In a file lines are of any length; a terminal would break them in the middle.
    unnamed = table.rename_axis(columns=printable)
    unnamed.index.names = [None if name in UNNAMED_LEVELS else name for name in table.index.names]
    lines = [unnamed.to_string(line_width=width), *about]
    for number, word in enumerate(result.document.get("warnings", ())):
        begin = "\n- " if number == 0 else "- "
        lines.append(fill(word, width or TEXT_WIDTH, initial_indent=begin, subsequent_indent="  "))
    return "\n".join(lines)


def _plain(value: object) -> Any:
    """Return a value made of what JSON has: NaN is null, infinities are "inf" and "-inf"."""
    if isinstance(value, float):  # the commonest first
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict | Mapping):  # an abstract class is slow to ask
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Note):
        return _plain(value._asdict())
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if value is None or value is pd.NA:
        return None
    return int(value) if isinstance(value, np.integer) else str(value)  # a label of another kind


def printable(label: Any) -> Any:
    """Return a label as it is printed, in one line; nothing stays nothing."""
    is_null = pd.api.types.is_scalar(label) and pd.isna(label)
    return label if is_null else escape(str(label))
