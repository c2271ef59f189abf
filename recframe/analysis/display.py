"""Display: tables that print all columns and notes, and the rankings of one user."""

import hashlib
import importlib
import math
import re
import textwrap
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import pandas as pd
from pandas.api.types import is_numeric_dtype

from recframe.errors import as_text, count_of, hide, printable
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import is_share
from recframe.notes import Note

Shown = TypeVar("Shown")

TEXT_WIDTH = 80  # characters, unless the terminal has another width
MAX_SHOWN = 20  # columns; pandas has the same limit outside a terminal
LEAST_TEXT = 20  # characters to which longer texts may be cut or wrapped
UNJUDGED = "–"
# Methods that keep values and labels, by the names that pandas passes to `__finalize__`.
KEEPS_NOTES = (None, "copy", "take", "reindex", "rename", "round", "sort_index", "sort_values")
TITLES = {"r_precision": "R-precision", "ndcg": "nDCG", "f1": "F1", "fall_out": "fall-out"}
TITLES |= {name: name.upper() for name in ("auc", "dcg", "err", "rbp")}

# The names of methods in textbooks, by the names of arguments.
WORDS = {
    "wilson": "Wilson score",
    "tango": "Tango score",
    "skewed": "skewness-adjusted t",
    "t": "Student t",
    "bootstrap": "percentile bootstrap",
    "equal": "Wilson score for equal values",
    "exact": "exact sign-flip permutation test",
    "drawn": "Monte Carlo sign-flip permutation test",
    "regression": "regression on the judge, Student t",
    "ttest": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "holm": "corrected by Holm",
    "bonferroni": "corrected by Bonferroni",
    "fdr_bh": "corrected by Benjamini-Hochberg",
    "max_t": "corrected by max-T (Westfall-Young)",
    "none": "none",
}

# These colours fit light and dark pages: the colour of the text, and a transparent green.
TEXT_STYLE = "text-align: left"
LONG_STYLE = "; white-space: normal; overflow-wrap: anywhere; min-width: 12em"
BLOCK_STYLE = "flex: 1 1 32em; max-width: max-content; overflow-x: auto"
CUT_STYLE = "border-bottom: 2px solid currentColor;"
RELEVANT_STYLE = "font-weight: bold; background-color: rgba(46, 160, 67, 0.2);"
STYLES: list[Any] = [
    {"selector": "", "props": "border-collapse: collapse; margin: 0"},
    {"selector": "caption", "props": "caption-side: top; text-align: left; color: inherit"},
    {"selector": "caption", "props": "padding: 0 0 0.6em 0.6em"},
    {"selector": "th, td", "props": "color: inherit; padding: 0.2em 0.6em; text-align: right"},
    {"selector": "th, td", "props": "white-space: nowrap; vertical-align: top"},
    {"selector": "td", "props": "font-variant-numeric: tabular-nums"},
    {"selector": "th", "props": "border-bottom: 1px solid currentColor"},
]


def title_of(metric: object) -> str:
    """Return the usual spelling of a metric, such as nDCG@10 for "ndcg@10"."""
    text = as_text(metric)
    name = re.split(r"[(@]", text)[0]
    if name not in DEFINITIONS:
        return text
    return TITLES.get(name, name.replace("_", " ")) + text[len(name) :]


def as_number(value: float, sign: str = "") -> str:
    """Return a number with four decimals, or with three digits if four decimals show fewer."""
    value = float(value) + 0.0  # no minus before a zero
    if math.isnan(value):
        return "–"
    return f"{value:{sign}.4f}" if value == 0 or 1e-3 <= abs(value) < 1e6 else f"{value:{sign}.3g}"


def as_name(label: object, n: int = 60) -> str:
    """Return a label on one line; a long one loses its middle."""
    text = " · ".join(map(as_text, label)) if isinstance(label, tuple) else as_text(label)
    is_null = label is None or label is pd.NA or label != label
    line = "(none)" if is_null else " ".join(hide(text[:10_000]).split())
    line = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in line)
    n = n if len(escape(line).encode()) < 2 * n else max(12, n // 4)
    return line if len(line) <= n else f"{line[: n - n // 3 - 1]}…{line[-(n // 3) :]}"


class WideTable(pd.DataFrame):
    """A DataFrame whose text has all columns, in blocks where the display is too narrow."""

    # Sorted, selected and rounded tables are displayed in the same way.
    _constructor = property(lambda self: type(self))

    def __repr__(self) -> str:
        """Return the table as pandas prints it, with all columns, however wide."""
        n_shown = pd.get_option("display.max_columns") or MAX_SHOWN
        with pd.option_context("display.max_columns", n_shown):
            return printable(super().__repr__())


class NotedTable(pd.DataFrame):
    """A DataFrame that prints notes below it.

    Selected, sorted, renamed, rounded and copied tables keep the notes. Every other operation
    returns a plain DataFrame.
    """

    _metadata = ["notes"]  # noqa: RUF012 - pandas reads this name
    notes: Sequence[Note] = ()

    # pandas calls this for computed values, and the method below for selected arrays.
    _constructor = property(lambda _: pd.DataFrame)

    def _constructor_from_mgr(self, mgr: Any, axes: Any) -> pd.DataFrame:
        return type(self)(super()._constructor_from_mgr(mgr, axes))  # type: ignore[misc]  # no stub

    def __finalize__(self, other: Any, method: str | None = None, **kwargs: Any) -> pd.DataFrame:
        """Return the table with the notes of another; a plain table if values or labels changed."""
        made: pd.DataFrame = super().__finalize__(other, method, **kwargs)  # type: ignore[misc]  # no stub
        return made if method in KEEPS_NOTES and not kwargs else as_plain(made)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Return the result of a function of NumPy on plain tables."""
        tables = [as_plain(one) if isinstance(one, NotedTable) else one for one in inputs]
        return getattr(ufunc, method)(*tables, **kwargs)

    def _compose_display(self) -> tuple[pd.DataFrame, list[str]]:
        """Return the table that is displayed, and sentences that explain its columns."""
        return self, []

    def __repr__(self) -> str:
        """Return the table as pandas prints it, an explanation of its columns, and the notes."""
        table, about = self._compose_display()
        text = super().__repr__() if table is self else repr(table)
        lines = [textwrap.fill(one, TEXT_WIDTH, break_on_hyphens=False) for one in about]
        notes = [printable(f"note: {one.text}") for one in self.notes]
        lines += [textwrap.fill(one, TEXT_WIDTH, subsequent_indent="  ") for one in notes]
        return "\n".join([text, *lines])

    def _repr_html_(self) -> str | None:
        """Return the same as HTML."""
        table, about = self._compose_display()
        html: str | None = as_plain(table)._repr_html_()  # type: ignore[operator]  # untyped
        texts = [*about, *(one.text for one in self.notes)]
        return html and "\n".join([html, *(f"<p>{escape(one)}</p>" for one in texts)])


def with_notes(table: Shown, notes: Sequence[Note]) -> Shown:
    """Return a table with notes, if it is of a type that carries them."""
    if isinstance(table, NotedTable):
        table.notes = notes
    return table


def as_plain(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table as a DataFrame of pandas."""
    plain = pd.DataFrame(table, copy=False)
    plain.attrs = table.attrs
    return plain


def as_html(title: str, tables: list[str], *notes: str) -> str:
    """Return a title, tables next to each other where they fit, and notes, as HTML."""
    style = "display: flex; flex-wrap: wrap; gap: 1.5em 2em; align-items: start"
    lines = escape(title).replace("\n", "<br>")
    head = f'<p><strong>{lines}</strong></p>\n<div style="{style}">'
    return "\n".join([head, *tables, "</div>", *notes])


def import_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Return a module that an extra installs, or raise `ImportError` naming the extra."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs {module.partition('.')[0]}, which could not be imported ({error}). "
            f"Install it with pip install 'recframe[{extra}]'."
        ) from error


class View(NamedTuple):
    """One ranking as text: a caption, cells, the number of rows above the line, and notes.

    `texts` are the columns of texts, which are aligned at the left and may be long.
    """

    score: str
    metrics: list[str]
    cells: pd.DataFrame
    texts: list[str]
    n_above: int
    notes: list[str]


@dataclass(eq=False)
class Inspection:
    """The rankings of one user side by side, as `df.rec.inspect` returns them.

    It displays itself. `tables` holds a DataFrame of ranked rows for each score column, `metrics`
    the metrics. `n_excluded` is the number of the user's rows that `exclude` removed, and `labels`
    are the columns shown next to the item.
    """

    title: str
    k: int
    metrics: pd.DataFrame
    tables: dict[Hashable, pd.DataFrame]
    n_excluded: int = 0
    labels: Sequence[Hashable] = ()

    def __repr__(self) -> str:
        """Return the rankings as text, side by side where the display is wide enough."""
        width, views = pd.get_option("display.width") or TEXT_WIDTH, list(self._views())
        room = (width + 4) // len(views) - 4  # spaces between lists
        blocks = [_text_block(view, room) for view in views]
        widths = [max(map(len, block)) for block in blocks]
        rows = zip_longest(*blocks, fillvalue="")
        lines = ["", *("    ".join(map(str.ljust, cells, widths)) for cells in rows)]
        if len(lines[1]) > width:
            lines = [line for view in views for line in ("", *_text_block(view, width))]
        head = [textwrap.fill(line, width) for line in self._headlines()]
        return printable("\n".join([*head, *(line.rstrip() for line in lines)]))

    def _repr_html_(self) -> str | None:
        """Return the HTML for a notebook; without jinja2 None, and the notebook shows the text."""
        try:
            return self.to_html()
        except ImportError:
            return None

    def to_html(self) -> str:
        """Return the rankings as HTML tables; `ImportError` without the extra ``notebook``."""
        import_extra("jinja2", "notebook", "the HTML of inspect")
        title = "\n".join(self._headlines())
        return as_html(title, [_html_block(view) for view in self._views()])

    @property
    def of_user(self) -> dict[Hashable, str]:
        """The labels with one value in all ranked rows, such as the text of a query, as texts."""
        ranked = pd.concat(list(self.tables.values())).dropna(subset="position")
        known = [label for label in self.labels if ranked[label].notna().all()]
        texts = {label: {*ranked[label].map(as_text)} for label in known}
        are_several = (ranked["position"] > 1).any()
        return {one: texts[one].pop() for one in known if are_several and len(texts[one]) == 1}

    def _headlines(self) -> list[str]:
        """Return the user and the numbers of rows, then values that all rows have."""
        rows = next(iter(self.tables.values()))
        excluded = f", {self.n_excluded:,} more excluded" if self.n_excluded else ""
        n_relevant = f"{rows['relevant'].sum():,} relevant{excluded}"
        values = [f"{as_text(label)}: {text}" for label, text in self.of_user.items()]
        return [f"{self.title}: {count_of(len(rows), 'row')}, {n_relevant}", *values]

    def _views(self) -> Iterator[View]:
        """Yield the view of each ranking, its first k rows."""
        k, hidden = self.k, ["position", "relevant", "score", *self.of_user]
        metrics = self.metrics.to_dict("records")
        for (score, rows), values in zip(self.tables.items(), metrics, strict=True):
            captions = []
            for metric, mean in values.items():
                text = f"{mean:.2%}" if is_share(metric) else f"{mean:.4g}"
                captions.append(f"{title_of(metric)}: {'undefined' if math.isnan(mean) else text}")
            head, position = rows.iloc[:k], rows["position"]
            n_ranked, n_more = position.count(), len(rows) - len(head)
            is_shared = position.duplicated(keep=False) & position.notna()
            places = head["position"].map("{:.1f}".format).str.removesuffix(".0")
            places = places.mask(is_shared.head(k), "=" + places)
            cells = {
                "position": places.mask(head["position"].isna(), "not ranked").tolist(),
                "": ["✓" if relevant else "" for relevant in head["relevant"]],
            }
            nulls = {**dict.fromkeys(self.labels, ""), "grade": UNJUDGED}
            for name in head.columns.drop(hidden):
                shown = zip(map(as_text, head[name]), head[name].isna(), strict=True)
                cells[as_text(name)] = [
                    nulls.get(name, text) if is_null else text for text, is_null in shown
                ]
            n_below = int((position.iloc[k:] == head["position"].iloc[-1]).sum())
            n_relevant = int(rows["relevant"].iloc[k:].sum())
            notes = {
                f"… {n_more:,} more row{'s' * (n_more > 1)}, {n_relevant:,} relevant": n_more > 0,
                "= tied, at their mean position": is_shared.head(k).any(),
                f"the cut at {k} falls inside a tie, {n_below:,} more of its rows below": n_below,
                f"{UNJUDGED} unjudged: not in truth, so not relevant": UNJUDGED
                in cells.get("grade", ()),
            }
            table = pd.DataFrame(cells | {"score": _format_scores(head["score"])})
            named = [one for one in ("item", *self.labels) if as_text(one) in cells]
            texts = [as_text(one) for one in named if not is_numeric_dtype(rows[one].dtype)]
            true = [text for text, is_true in notes.items() if is_true]
            n_above = k if k <= n_ranked else 0
            yield View(as_text(score), captions, table, texts, n_above, true)


def _format_scores(scores: pd.Series) -> list[str]:
    """Return scores as pandas prints them, with equally many decimals; "" for a null."""
    if scores.dtype == "float16":  # pandas fails to format float16
        scores = scores.astype("float32")
    lines = scores.to_frame().to_string(index=False, header=False).splitlines()
    return ["" if null else line.strip() for line, null in zip(lines, scores.isna(), strict=True)]


def _text_block(view: View, width: int) -> list[str]:
    """Return the lines of one ranking; long texts are cut to fit into the width."""
    cells, names = view.cells.drop(columns=view.texts), dict[str, str]()
    longest = {one: max(map(len, [one, *view.cells[one]])) for one in view.texts}
    room = width - len(cells.to_string(index=False).splitlines()[0]) - len(longest)
    most = max(LEAST_TEXT, *longest.values(), 0)
    while most > LEAST_TEXT and sum(min(n, most) for n in longest.values()) > room:
        most -= 1
    cells = view.cells.copy()
    for one, length in longest.items():
        n = min(length, most)
        texts = (text if len(text) <= n else f"{text[: n - 1]}…" for text in cells[one])
        cells[one], names[one] = [text.ljust(n) for text in texts], one[:n].ljust(n)
    lines = cells.rename(columns=names).to_string(index=False).splitlines()
    rule = "─" * len(lines[0])
    lines.insert(1, rule)
    if view.n_above:
        lines.insert(2 + view.n_above, rule)
    return [view.score, *view.metrics, "", *lines, *view.notes]


def _html_block(view: View) -> str:
    """Return the table of one ranking."""
    styles = [
        (RELEVANT_STYLE if mark else "") + (CUT_STYLE if number == view.n_above else "")
        for number, mark in enumerate(view.cells[""], 1)
    ]
    places = {view.cells.columns.get_loc(one): view.cells[one].str.len() for one in view.texts}
    looks = {at: LONG_STYLE * int((n > LEAST_TEXT).any()) for at, n in places.items()}
    of_texts = [{"selector": f".col{at}", "props": TEXT_STYLE + look} for at, look in looks.items()]
    styler = (
        view.cells.style.hide(axis="index")
        .format(escape="html")
        .set_caption("<br>".join([f"<strong>{escape(view.score)}</strong>", *view.metrics]))
        .set_table_styles(STYLES + of_texts)
        .apply(lambda column: styles)
        # The id depends on the rows alone, so that saved notebooks do not change.
        .set_uuid(hashlib.sha256(repr(view).encode()).hexdigest()[:8])
    )
    notes = "".join(f'<div style="padding: 0.3em 0.6em">{note}</div>' for note in view.notes)
    return f'<div style="{BLOCK_STYLE}">{styler.to_html()}{notes}</div>'
