"""Inspection: a user's rankings side by side, as HTML in a notebook and as text elsewhere."""

import hashlib
import html
import math
from collections.abc import Hashable
from typing import Any, NamedTuple

import pandas as pd

from recframe.analysis.extras import import_extra

N_SHOWN = 30  # rows of a longer list; k of them and a few more are shown in any case
N_BEYOND_K = 5
NAMES = {"r_precision": "R-precision"}

# Colours that are there in light and dark alike: the text's own, and a transparent green.
LINE = "border-bottom: 2px solid currentColor"
RELEVANT = "font-weight: bold; background-color: rgba(46, 160, 67, 0.2)"
STYLES: list[Any] = [
    {"selector": "", "props": "border-collapse: collapse; margin: 0"},
    {"selector": "caption", "props": "caption-side: top; text-align: left; color: inherit"},
    {"selector": "caption", "props": "padding: 0 0 0.6em 0.6em"},
    {"selector": "th, td", "props": "color: inherit; padding: 0.2em 0.6em; text-align: right"},
    {"selector": "td", "props": "font-variant-numeric: tabular-nums"},
    {"selector": "th", "props": "border-bottom: 1px solid currentColor"},
]


class View(NamedTuple):
    """What is shown of one ranking: a caption, cells as text, the row above the line, notes."""

    score: str
    metrics: list[str]
    cells: pd.DataFrame
    n_above: int
    notes: list[str]


class Inspection:
    """The rankings of one user side by side, as `df.rec.inspect` returns them.

    It displays itself. `tables` holds the ranked rows of each score column as DataFrames, and
    `metrics` their precision@k, recall@k and R-precision.
    """

    def __init__(
        self, title: str, k: int, metrics: pd.DataFrame, tables: dict[Hashable, pd.DataFrame]
    ) -> None:
        self.title = title
        self.k = k
        self.metrics = metrics
        self.tables = tables

    def __repr__(self) -> str:
        """Return the rankings as text, side by side where the display is wide enough."""
        blocks = [_text_block(view) for view in self._views()]
        width = sum(len(block[0]) + 4 for block in blocks) - 4
        if width > (pd.get_option("display.width") or 80):
            parts = ["\n".join(line.rstrip() for line in block) for block in blocks]
        else:
            height = max(len(block) for block in blocks)
            padded = [block + [" " * len(block[0])] * (height - len(block)) for block in blocks]
            lines = ["    ".join(parts).rstrip() for parts in zip(*padded, strict=True)]
            parts = ["\n".join(lines)]
        return "\n\n".join([self._headline(), *parts])

    def _repr_html_(self) -> str | None:
        """Return the HTML for a notebook; without jinja2 None, and the notebook shows the text."""
        try:
            return self.to_html()
        except ImportError:
            return None

    def to_html(self) -> str:
        """Return the rankings as HTML tables; `ImportError` without the extra ``notebook``."""
        import_extra("jinja2", "notebook", "the HTML of inspect")
        tables = "\n".join(_html_block(view) for view in self._views())
        return (
            f"<p><strong>{html.escape(self._headline())}</strong></p>\n"
            f'<div style="display: flex; flex-wrap: wrap; gap: 1.5em 3em; align-items: start">\n'
            f"{tables}\n</div>"
        )

    def _headline(self) -> str:
        """Return who this is."""
        rows = next(iter(self.tables.values()))
        return f"{self.title}: {len(rows):,} rows, {rows['relevant'].sum():,} relevant"

    def _views(self) -> list[View]:
        """Return what is shown of each ranking."""
        return [
            _view(score, rows, list(values.items()), self.k)
            for (score, rows), (_, values) in zip(
                self.tables.items(), self.metrics.iterrows(), strict=True
            )
        ]


def _view(
    score: Hashable, rows: pd.DataFrame, metrics: list[tuple[Hashable, float]], k: int
) -> View:
    """Return what is shown of one ranking."""
    captions = [
        f"{NAMES.get(str(label), label)} – {'undefined' if math.isnan(value) else f'{value:.2%}'}"
        for label, value in metrics
    ]
    n_ranked = int(rows["position"].notna().sum())
    is_shared = rows["position"].duplicated(keep=False) & rows["position"].notna()
    n_shown = max(N_SHOWN, k + N_BEYOND_K)
    head, n_hidden = rows.iloc[:n_shown], max(0, len(rows) - n_shown)
    cells = pd.DataFrame({"position": _positions(head["position"], is_shared.iloc[:n_shown])})
    cells[""] = head["relevant"].map({True: "✓", False: ""}).to_numpy()
    for name in ("item", "relevance"):
        if name in head:
            cells[name] = [str(value) for value in head[name]]
    cells["score"] = _numbers(head["score"])
    notes = []
    if n_hidden:
        notes.append(f"… {n_hidden:,} more rows")
    if is_shared.any():
        notes.append("= tied, at their mean position")
    if k < n_ranked and rows["position"].iloc[k - 1] == rows["position"].iloc[k]:
        notes.append(f"the cut at {k} falls inside a tie")
    return View(str(score), captions, cells, k if k <= n_ranked else 0, notes)


def _positions(positions: pd.Series, is_shared: pd.Series) -> list[str]:
    """Return positions as text, an equals sign before those that rows share."""
    return [
        "not ranked"
        if pd.isna(position)
        else f"{'=' if shared else ''}{position:.1f}".removesuffix(".0")
        for position, shared in zip(positions, is_shared, strict=True)
    ]


def _numbers(scores: pd.Series) -> list[str]:
    """Return scores as pandas prints them, with one number of decimals; nothing for a null."""
    lines = scores.to_frame().to_string(index=False, header=False).splitlines()
    nulls = scores.isna()
    return ["" if null else line.strip() for line, null in zip(lines, nulls, strict=True)]


def _text_block(view: View) -> list[str]:
    """Return the lines of one ranking, all of the same width."""
    lines = view.cells.to_string(index=False, max_colwidth=40).splitlines()
    width = len(lines[0])
    lines.insert(1, "─" * width)
    if view.n_above:
        lines.insert(2 + view.n_above, "─" * width)
    lines = [view.score, *view.metrics, "", *lines, *view.notes]
    width = max(map(len, lines))
    return [line.ljust(width) for line in lines]


def _html_block(view: View) -> str:
    """Return the table of one ranking."""
    caption = [f"<strong>{html.escape(view.score)}</strong>", *view.metrics]
    is_relevant = view.cells[""] == "✓"

    def style_row(row: pd.Series) -> list[str]:
        number = int(str(row.name))
        styles = [RELEVANT] if is_relevant[number] else []
        styles += [LINE] if number + 1 == view.n_above else []
        return ["; ".join(styles)] * len(row)

    styler = (
        view.cells.style.hide(axis="index")
        .format(escape="html")
        .set_caption("<br>".join(caption))
        .set_table_styles(STYLES)
        .apply(style_row, axis=1)
        # The same rows have the same id in every run: saved notebooks do not change.
        .set_uuid(hashlib.sha256(repr(view).encode()).hexdigest()[:8])
    )
    notes = "".join(f'<div style="padding: 0.3em 0.6em">{note}</div>' for note in view.notes)
    return f"<div>{styler.to_html()}{notes}</div>"
