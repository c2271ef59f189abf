"""The report: one page of HTML to share, made from tables of findings."""

import math
import os
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import cache, partial
from html import escape
from importlib.metadata import version
from importlib.resources import files
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.compare import ScorePairs, compare_pairs, find_pairs, make_comparison
from recframe.analysis.description import ONLY_ROWS, ONLY_TRUTH, Description
from recframe.analysis.display import Inspection, as_name, as_number, import_extra
from recframe.analysis.intervals import ALPHA, find_sign
from recframe.analysis.overview import Overview
from recframe.analysis.pictures import Axis, find_axis, find_axis_of_k
from recframe.analysis.summary import summary_table
from recframe.errors import RecframeError, as_text, quote, show_path
from recframe.frames.names import plain_name
from recframe.frames.tables import make_columns, plain_table
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import Metric, define, is_metric, parse_metric, parse_name
from recframe.notes import Note, list_notes, taking_notes
from recframe.options import CHOICES, EDGE_CASES, MEANINGS, Options
from recframe.other_tables import PathLike

TITLE = "Ranking report"
K = 10  # the length of lists if no metric has a cut-off
PAGE_ENDINGS = (".html", ".htm")
# Users are queries on a page if their column has one of these names.
QUERIES = ("query", "queryid", "qid", "topic", "topicid", "question", "questionid")
USERS_AND_QUOTES = re.compile(r"(?<!\w)'[^']*'|`[^`]*`|\b[Uu]sers?\b")
NOUNS = {"user": "query", "users": "queries", "User": "Query", "Users": "Queries"}
# With these limits a page has less than 300 kB, whatever the data.
N_METRICS, N_MODELS, N_ROWS, N_EXTREME, N_LISTED = 6, 6, 60, 5, 10
N_CUT_OFFS, N_BINS, N_TEXT = 20, 10, 150
QUANTILES = [0.1, 0.25, 0.5, 0.75, 0.9]
FEW_USERS = 5  # flips of so few users' signs give no p-value below 0.05
Row = dict[Hashable, Any]  # a row of a table, by its columns
DESCRIBED = ("all_relevant", "exclude", "excluded_relevant", "unjudged", "written_differently")


class Report:
    """The page that `df.rec.report` returns; a notebook displays it.

    `html` is the page: static, without a script, and complete in itself.
    """

    def __init__(self, title: str, html: str, inputs: Sequence[str]) -> None:
        self.title, self.html, self._inputs = title, html, inputs

    def __repr__(self) -> str:
        """Return the title, the size, and how to save the page."""
        size = len(self.html.encode()) / 1000
        return f"<Report {as_name(self.title)!r}: {size:,.0f} kB; .save('report.html') writes it>"

    def _repr_html_(self) -> str:
        """Return the page in an iframe, where the notebook's styles do not apply."""
        style = "width: 100%; height: 48em; border: 1px solid #8888; border-radius: 6px"
        title, page = escape(as_name(self.title, 200)), escape(self.html)
        return f'<iframe title="{title}" srcdoc="{page}" sandbox style="{style}"></iframe>'

    def save(self, path: PathLike) -> None:
        """
        Write the page to a file, which is there whole or not at all.

        Parameters
        ----------
        path : str or path
            The file, as report.html, here or in a store.

        Raises
        ------
        RecframeError
            It cannot be written, does not end in .html or .htm, or is a file that the page was
            made of.
        """
        # Imported here to keep `import recframe` fast.
        from recframe.stores import find_ending
        from recframe.stores.outputs import check_apart, whole_file

        name = os.fspath(path)
        check_apart(path, self._inputs, [])
        if find_ending(name).lower() not in PAGE_ENDINGS:
            raise RecframeError(
                f"path must end in {' or '.join(PAGE_ENDINGS)}, but is {show_path(name)}; the page "
                "is HTML, which a browser prints to other formats"
            )
        with whole_file(path) as file:
            file.write(self.html.encode())


class Findings(NamedTuple):
    """The tables of a page; None or empty for those that are not known.

    Parameters
    ----------
    per_user : DataFrame
        The metrics of every user.
    facts : list of (str, str)
        The name and the text of each fact about the data.
    worries, notes : list of str, list of Note
        The problems of the data.
    inputs : list of str
        The files that were read.
    by_segment : callable, default None
        Applies a function to the users of each segment and returns its tables, joined.
    curves : dict of DataFrame
        The means by cut-off and score, for each family of metrics.
    catalogue : DataFrame, default None
        The figures of the catalogue.
    inspect : callable, default None
        Returns the rankings of a user.
    texts : DataFrame, default None
        Values of labels with one for each user, such as the text of a query, by user.
    conventions : list of (str, object, str)
        The options in force with their meanings.
    trusted : DataFrame, default None
        People's values of some users, which correct those of `per_user`.
    """

    per_user: pd.DataFrame
    facts: list[tuple[str, str]]
    worries: list[str]
    notes: list[Note]
    inputs: list[str]
    by_segment: Callable[[Callable[..., pd.DataFrame]], pd.DataFrame] | None = None
    curves: Mapping[str, pd.DataFrame] | None = None
    catalogue: pd.DataFrame | None = None
    inspect: Callable[[Hashable], Inspection] | None = None
    texts: pd.DataFrame | None = None
    conventions: Sequence[tuple[str, object, str]] = ()
    trusted: pd.DataFrame | None = None


def check_title(title: Any) -> str:
    """Return the title of a page; raise if it is no text, or if jinja2 is missing."""
    import_extra("jinja2", "notebook", "a report")
    if not isinstance(title, str | None):
        raise RecframeError(f"title must be a text, but is {quote(title)}")
    return title or TITLE


def list_facts(
    size: str, paths: Sequence[str], roles: Overview, described: Description, n_users: int
) -> list[tuple[str, str]]:
    """Return the facts about the data in the first table of a page."""
    figures = described.iloc[:, 0]
    alone = [f"{figures[name]:,} {name[6:]}" for name in (ONLY_ROWS, ONLY_TRUTH) if name in figures]
    facts = [("data", size)]
    facts += [("files", " … ".join(dict.fromkeys((paths[0], paths[-1]))))] if paths else []
    facts += [(name, f"{columns} ({source})") for name, source, columns in roles.rows]
    return [*facts, ("users", "; ".join([f"{n_users:,} evaluated", *alone]))]


def list_conventions(options: Options) -> list[tuple[str, object, str]]:
    """Return the name and the value of each option that decides definitions, and its meaning."""
    conventions = []
    for name in EDGE_CASES:
        value, meaning = getattr(options, name), MEANINGS[name]
        of_value = f": {CHOICES[name][value]}" if name in CHOICES else ""
        conventions.append((name, value, meaning + of_value))
    return conventions


def check_baseline(scores: Sequence[Hashable], baseline: Any) -> None:
    """Raise unless a baseline is one of the scores, before any row is read."""
    if baseline is not None:
        find_pairs(pd.DataFrame(columns=make_columns(scores, ["any"])), baseline)


def make_page(
    findings: Findings, title: str, baseline: Any, unit: Any, paired: Sequence[tuple[int, int]] = ()
) -> Report:
    """Return the page of findings, with scores compared with a baseline or paired by number."""
    from jinja2 import Environment, StrictUndefined  # `check_title` has imported it

    per_user, how = findings.per_user, make_comparison(unit=unit)._replace(trusted=findings.trusted)
    scores, labels = (list(per_user.columns.unique(level)) for level in ("score", "metric"))
    pairs = ScorePairs(per_user, list(paired), are_several=bool(paired))
    if not paired and (len(scores) > 1 or baseline is not None):
        pairs = find_pairs(per_user, baseline)

    def measure(users: pd.DataFrame, weights: pd.Series | None = None) -> pd.DataFrame:
        """Return the means of a segment, and how each score differs from its first baseline."""
        means = summary_table(users, weights, how=how)
        means = pd.DataFrame(means[["mean", "low", "high", "n_users"]])
        if not pairs.pairs:
            return means
        firsts = {other: (base, other) for base, other in reversed(pairs.pairs)}
        of_segment = ScorePairs(users, sorted(firsts.values()), are_several=True)
        changes = compare_pairs(of_segment, weights, how).reset_index("baseline")
        changes = changes[["baseline", "difference", "low", "high", "p_corrected"]]
        of_base = means["mean"].rename_axis(["baseline", "metric"]).rename("mean_of_baseline")
        changes = changes.join(of_base, on=["baseline", "metric"])
        suffixes = "_of_difference", ""
        return changes.merge(means, left_index=True, right_index=True, suffixes=suffixes)

    def list_rows(table: pd.DataFrame) -> list[Row]:
        rows = plain_table(table).to_dict("records")
        return sorted(rows, key=lambda row: labels.index(row["metric"]))

    changes = list[Row]()
    with taking_notes() as facts:
        means = list_rows(summary_table(per_user, how=how))
        if pairs.pairs:
            table = compare_pairs(pairs._replace(are_several=True), None, how)
            words = np.where(table["difference"] > 0, "higher", "lower")
            table["finding"] = np.where(table["p_corrected"] < ALPHA, words, "not shown")
            changes = [{**row, "why": _explain(row, len(table))} for row in list_rows(table)]
    nouns = NOUNS if any(plain_name(one) in QUERIES for one in per_user.index.names) else {}
    segments = pd.DataFrame() if findings.by_segment is None else findings.by_segment(measure)
    drawn = labels[:N_METRICS]
    context = {
        "title": title,
        "version": version("recframe"),
        "date": date.today().isoformat(),
        "findings": findings,
        "scores": scores,
        "labels": labels,
        "compared": [(scores[base], scores[other]) for base, other in pairs.pairs],
        "is_several": pairs.are_several,
        "means": means,
        "changes": changes,
        "notes": list_notes(facts),
        "spreads": list(_draw_spreads(per_user, scores[:N_MODELS], drawn)),
        "quantiles": QUANTILES,
        "by": list(segments)[: list(segments).index("score")] if len(segments) else [],
        "segments": list(_sort_segments(segments, drawn)) if len(segments) else [],
        "extremes": list(_find_extremes(findings, pairs)),
        "definitions": list(_list_definitions(labels)),
        "find_axis": find_axis,
        "find_axis_of_k": find_axis_of_k,
        "n_rows": N_ROWS,
        "n_metrics": N_METRICS,
        "n_models": N_MODELS,
    }
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    say = partial(USERS_AND_QUOTES.sub, lambda match: nouns.get(match[0], match[0]))
    environment.filters |= {"number": as_number, "name": as_name, "said": say}
    text = (files("recframe.analysis") / "report.html.j2").read_text("utf-8")
    return Report(title, environment.from_string(text).render(context), findings.inputs)


def list_points(metrics: Sequence[Metric]) -> list[tuple[str, int]]:
    """Return the families of metrics, such as "recall", with cut-offs up to each metric's own."""
    deepest, families = dict[str, int](), dict[Hashable, str]()
    for metric in metrics:
        family = families.setdefault(metric.meaning[:-1], metric.label.rpartition("@")[0])
        deepest[family] = max(metric.k or 0, deepest.get(family, 0))
    return [
        (family, k)
        for family, last in islice(deepest.items(), N_METRICS)
        if last > 1
        for k in sorted({1, *range(last, 0, -math.ceil(last / N_CUT_OFFS))})
        if k >= DEFINITIONS[parse_name(family)].least_k
    ]


def make_curves(means: pd.DataFrame, points: list[tuple[str, int]]) -> dict[str, pd.DataFrame]:
    """Return the means of each family, a row for each cut-off and a column for each score."""
    columns = means.set_index("score").head(N_MODELS).T
    curves: Any = columns.set_axis(pd.MultiIndex.from_tuples(points))
    return {family: curves.loc[family] for family in dict(points)}


def _list_definitions(labels: Sequence[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the label of each metric, its definition, and its parameters."""
    for metric in map(parse_metric, filter(is_metric, labels[:N_ROWS])):
        name, *parameters, k = metric.meaning
        parameters += [("k", k)] if k else []
        yield metric.label, define(name), [f"{one} = {value}" for one, value in parameters]


def _explain(row: Row, n_rows: int) -> str:
    """Return a sentence on why interval and test disagree in a row of `compare`, "" if not."""
    holds_0, p, corrected = row["low"] <= 0 <= row["high"], row["p_value"], row["p_corrected"]
    if holds_0 == (corrected >= ALPHA) or np.isnan([row["low"], corrected]).any():
        return ""
    why = f"{row['interval']} and {row['test']} are different methods, which may disagree"
    if not holds_0 and p < ALPHA:
        why = f"p is {as_number(p)} before its correction for {n_rows} rows, the interval has none"
    elif not holds_0 and (n := row["n_won"] + row["n_lost"]) <= FEW_USERS:
        why = f"only {n} users differ, and no flips of their signs give p < {ALPHA}"
    return f"The interval {'holds' if holds_0 else 'excludes'} 0, unlike the test: {why}."


def _draw_spreads(
    per_user: pd.DataFrame, scores: Sequence[Hashable], labels: list[str]
) -> Iterator[tuple[str, Axis, list[tuple[Hashable, list[int], list[float]]]]]:
    """Yield each metric with an axis, and for each model the users in bins and the quantiles."""
    for label in labels:
        columns = [per_user[(score, label)].dropna() for score in scores]
        axis = find_axis(np.concatenate(columns))
        edges = np.linspace(axis.low, axis.high, N_BINS + 1)
        bins = [np.histogram(values, edges)[0].tolist() for values in columns]
        quantiles = [values.quantile(QUANTILES).tolist() for values in columns]
        yield label, axis, list(zip(scores, bins, quantiles, strict=True))


def _sort_segments(
    segments: pd.DataFrame, labels: list[str]
) -> Iterator[tuple[str, list[Row], int]]:
    """Yield each metric with its rows, the worst segments first, and the number of segments."""
    figure = "difference" if "difference" in segments else "mean"
    for label in labels:
        rows = segments[segments["metric"] == label]
        rows = rows.sort_values(figure, ascending=find_sign(label) != -1, kind="stable")
        yield label, rows.head(N_ROWS // len(labels)).to_dict("records"), len(rows)


def _find_extremes(findings: Findings, pairs: ScorePairs) -> Iterator[tuple[Any, ...]]:
    """Yield two models with the users whose first metric falls and rises most, and their lists.

    The last value yielded has the texts of users by user.
    """
    scores, metrics = map(pairs.per_user.columns.unique, ("score", "metric"))
    look = findings.inspect and cache(findings.inspect)
    for base, other in pairs.pairs[:N_MODELS]:
        values = pairs.per_user.iloc[:, [base * len(metrics), other * len(metrics)]]
        values = values.set_axis(["baseline", "score"], axis=1).dropna()
        values["difference"] = values["score"] - values["baseline"]
        falls = values[values["difference"] < 0].nsmallest(N_EXTREME, "difference")
        rises = values[values["difference"] > 0].nlargest(N_EXTREME, "difference")
        both, lists = [scores[base], scores[other]], []
        for user in [*falls.index[:1], *rises.index[:1]] if look else []:
            with suppress(RecframeError):  # the list may be shorter than k
                shown = look(user)  # type: ignore[misc]  # without it no user is asked for
                lists.append((user, {one: list(_list_items(shown, one)) for one in both}))
        sides = [("falls", falls), ("rises", rises)]
        users = [user for _, table in sides for user in table.index]
        said = [] if findings.texts is None else _join_texts(findings.texts.loc[users])
        yield both, metrics[0], sides, lists, dict(zip(users, said, strict=False))


def _list_items(shown: Inspection, score: Hashable) -> Iterator[tuple[float, bool, Any, str]]:
    """Yield the position, relevance, name and texts of the first items in a user's ranking."""
    rows = shown.tables[score].dropna(subset="position").head(N_LISTED)
    texts = _join_texts(rows[list(shown.labels)])
    names = rows["item"] if "item" in rows else rows["score"].map(as_number)
    yield from zip(rows["position"], rows["relevant"], names, texts, strict=True)


def _join_texts(table: pd.DataFrame) -> list[str]:
    """Return the texts of each row as one, without nulls; a long one loses its end."""
    texts = [" · ".join(map(as_text, row.dropna())) for _, row in table.astype(object).iterrows()]
    return [one if len(one) <= N_TEXT else f"{one[: N_TEXT - 1]}…" for one in texts]
