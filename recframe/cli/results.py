"""Results of commands: tables and documents, printed as text and written to files."""

import json
import math
import shutil
import sys
from argparse import Namespace
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from textwrap import fill
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.bounds import bounds_table
from recframe.analysis.compare import compare_table
from recframe.analysis.description import Description
from recframe.analysis.display import TEXT_WIDTH
from recframe.analysis.paper_tables import ResultTable
from recframe.analysis.segments import Segmented, join_segments, list_segments, mean_by_segment
from recframe.analysis.summary import summary_table
from recframe.console import escape, show, shows_bar
from recframe.errors import RecframeError, hide, quote
from recframe.frames.tables import Means, join_tables, mean_of_tables, mean_table, name_figures
from recframe.notes import Note
from recframe.stores import find_ending

# Text shows no names for these levels.
UNNAMED_LEVELS = (None, "baseline", "score", "other_score", "metric")


class Result(NamedTuple):
    """The result of a command, in each of its forms."""

    shown: pd.DataFrame  # the table for text, LaTeX and Markdown
    by_score: pd.DataFrame  # the table for csv and parquet, a row for each score
    document: Mapping[str, Any]  # the document for JSON; text shows its warnings below the table


def make_figures_result(table: pd.DataFrame, about: Mapping[str, Any]) -> Result:
    """Return the result of a table of figures by score; a description has warnings too."""
    by_score, warnings = pd.DataFrame(table), dict[str, list[str]]()
    if isinstance(table, Description):
        by_score, warnings = by_score.T.rename_axis(columns=None), {"warnings": table.warnings}
    if by_score.index.nlevels > 1:  # groups of items
        figures: Any = {"groups": by_score.reset_index().to_dict("records")}
    else:
        figures = {"scores": {str(score): row.to_dict() for score, row in by_score.iterrows()}}
    shown = pd.DataFrame(table).rename_axis(columns=None)
    return Result(shown, by_score, {**about, **figures, **warnings})


def make_pairs_result(table: pd.DataFrame, n_users: int, about: Mapping[str, Any]) -> Result:
    """Return the result of a table with a row for each score and metric."""
    scores = dict[str, dict[str, Any]]()
    for (score, metric), figures in zip(table.index, table.to_dict("records"), strict=True):
        scores.setdefault(str(score), {})[str(metric)] = figures
    metrics = list(map(str, table.index.unique("metric")))
    figures_of_all = {"users": n_users, "metrics": metrics, "scores": scores}
    return Result(table, table, {**about, **figures_of_all})


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


def make_users_result(
    tables: Iterable[pd.DataFrame],
    arguments: Namespace,
    baseline: Hashable | None,
    about: Mapping[str, Any],
    weights: pd.Series | None = None,
) -> tuple[Result, Means]:
    """Return the result that the flags ask for, and the means, of per-user tables."""
    is_resampled = arguments.summary or baseline is not None
    if is_resampled or weights is not None:  # plain means need one table at a time
        per_user = join_tables(list(tables))
        tables = [per_user]
    means = mean_of_tables(tables)
    if is_resampled:
        return _resample(per_user, weights, arguments, baseline, about), means
    if weights is not None:
        means = means._replace(means=mean_table(per_user, weights))
    by_score, n_users, n_all = means
    if getattr(arguments, "bounds", False):
        return make_pairs_result(bounds_table(by_score), n_all, about), means
    (document,) = describe_means(by_score, n_users, [n_all])
    return Result(by_score.rename_axis(columns=None), by_score, {**about, **document}), means


def _resample(
    per_user: pd.DataFrame, weights: Any, arguments: Namespace, baseline: Any, about: Any
) -> Result:
    """Return the means with intervals, or the differences from a baseline."""
    if arguments.summary:
        table = summary_table(per_user, weights, how=arguments.how)
    else:
        table = compare_table(per_user, weights, baseline=baseline, how=arguments.how)
        about = {**about, "baseline": baseline}
    return make_pairs_result(table, len(per_user), about)


def make_segments_result(
    segmented: Segmented,
    arguments: Namespace,
    baseline: Hashable | None,
    about: Mapping[str, Any],
) -> tuple[Result, Means]:
    """Return the result that the flags ask for by segment, and the means of all users."""
    _, per_user, weights, keys, *_ = segmented
    if keys.empty:  # there are no users
        return make_users_result([per_user], arguments, baseline, about, weights)
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
    results = [_resample(users, weights, arguments, baseline, {}) for _, users, weights in each]
    return join_results(results, segmented, about), means


def describe_means(means: pd.DataFrame, n_users: Any, n_all: Sequence[int]) -> Iterator[Any]:
    """Yield a document for each segment: its means, with numbers of users."""
    scores, metrics = ([*map(str, one)] for one in (means.index.unique("score"), means.columns))
    n_undefined = np.repeat(n_all, len(scores) * len(metrics)) - np.ravel(n_users)
    cells = zip(*(np.ravel(one).tolist() for one in (means, n_users, n_undefined)), strict=True)
    figures = ({"mean": mean, "users": n, "undefined": m} for mean, n, m in cells)
    for n in n_all:
        by_score = {score: {metric: next(figures) for metric in metrics} for score in scores}
        yield {"users": n, "metrics": metrics, "scores": by_score}


def join_results(results: list[Result], segmented: Segmented, about: Mapping[str, Any]) -> Result:
    """Return one result from the results of all segments."""
    shown = join_segments([result.shown for result in results], segmented)
    documents = (result.document for result in results)
    return Result(shown, shown, {**about, "segments": join_documents(documents, segmented)})


def join_documents(documents: Iterable[Any], segmented: Segmented) -> list[dict[str, Any]]:
    """Return the document of each segment, headed by the segment's values."""
    pairs = zip(list_segments(segmented), documents, strict=True)
    return [{"segment": segment, **document} for segment, document in pairs]


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
    if lines is None:
        show(format_result(result, arguments.format))
    else:
        show(lines, allowed="\n\t")


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
