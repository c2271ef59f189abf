"""Means and differences as they are shown to others: a text, a picture, a table for a paper."""

import math
import re
import textwrap
from collections.abc import Callable, Hashable, Iterable
from html import escape
from itertools import chain, cycle, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from recframe.analysis.display import (
    TEXT_WIDTH,
    UNJUDGED,
    WORDS,
    NotedTable,
    WideTable,
    fill_notes,
    import_extra,
    title_of,
)
from recframe.analysis.intervals import find_sign
from recframe.errors import RecframeError, as_text, count_of, is_number, quote

READ = ["difference", "low", "high", "p_corrected", "n_users"]  # what one reads of a comparison
MADE = ["n_users", "interval", "test"]  # what says of how many users they are, and how made
MAX_DIGITS = 15
SPREADS = ("interval", "±", None)
# That colour-blind readers tell apart (M. Okabe and K. Ito, "Color universal design", 2008).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = "os^Dv"  # the next after each round of colours
N_ACROSS = 4  # panels
Group: TypeAlias = tuple[str, ...]  # a segment, and the baseline where there are several


def join_words(values: Iterable[object]) -> str:
    """Return the distinct texts of a column, in their order."""
    return ", ".join(dict.fromkeys(map(as_text, values)))


class Markup(NamedTuple):
    """How a table is marked up."""

    escape: Callable[[str], str]
    bold: str
    star: str
    minus: str
    plus_minus: str
    none: str


def _escape_latex(text: str) -> str:
    """Return a text as LaTeX sets it, also where a row begins with it."""
    names = {"\\": "backslash", "~": "asciitilde", "^": "asciicircum"}
    names |= {"<": "less", ">": "greater", "|": "bar"}
    signs: dict[str, Any] = {sign: rf"\text{name}{{}}" for sign, name in names.items()}
    signs |= {"±": r"$\pm$"}
    signs |= {sign: rf"\{sign}" for sign in "&%$#_{}"} | {sign: f"{{{sign}}}" for sign in "[]*"}
    return " ".join(text.split()).translate(str.maketrans(signs)).replace("--", "-{}-")


def _escape_markdown(text: str) -> str:
    """Return a text as Markdown shows it, in one line."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&$])", r"\\\1", " ".join(text.split()))


LATEX = Markup(_escape_latex, r"\textbf{{{}}}", r"\textsuperscript{{*}}", "$-$", r"$\pm$", "--")
MARKDOWN = Markup(_escape_markdown, "**{}**", r"<sup>\*</sup>", "-", "±", UNJUDGED)


class Cell(NamedTuple):
    """What a table has of a model in a metric."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    is_significant: bool = False
    is_best: bool = False


Lines = dict[tuple[Group, str], dict[Hashable, Cell]]  # by group and model


class ResultTable(NotedTable):
    """What `summary` and `compare` return: a DataFrame that can be drawn and set in a paper.

    Of a comparison, text and HTML have the columns that one reads; the frame has all.
    """

    def __repr__(self) -> str:
        """Return the columns that one reads, how they were made, and the notes."""
        shown = [repr(WideTable(self[READ] if self.is_wide else self))]
        if self.is_wide:
            shown.append(textwrap.fill(self.explain(), TEXT_WIDTH, break_on_hyphens=False))
        return "\n".join([*shown, *fill_notes(self.notes)])

    def _repr_html_(self) -> str | None:
        """Return the same as HTML."""
        html: str | None = pd.DataFrame(self[READ] if self.is_wide else self)._repr_html_()  # type: ignore[operator]  # untyped
        said = [self.explain()] if self.is_wide else []
        said += [one.text for one in self.notes]
        return html and "\n".join([html, *(f"<p>{escape(one)}</p>" for one in said)])

    @property
    def is_wide(self) -> bool:
        """Whether there are all columns of a comparison, of which one reads some."""
        return self.columns.is_unique and {*READ, *MADE} <= {*self.columns}

    def explain(self) -> str:
        """Return what the columns of a comparison are, and which others there are."""
        others = join_words(self.columns.drop(READ))
        text = f"low, high: {self._say_interval()}. p_corrected: {self._say_test()}. "
        return f"{text}Further columns: {others}."

    def plot(  # type: ignore[override]  # pandas' has methods of its own
        self, ax: Any = None, figsize: Any = None, backend: str | None = None
    ) -> Any:
        """
        Draw a dot and its interval for each model, in a panel for each metric.

        Models keep their order; in segments each has a colour. Differences have a line at zero, and
        a filled dot if p_corrected is below 1 - confidence.

        Parameters
        ----------
        ax : Axes of Matplotlib, or as many as there are metrics, default None
            The axes to draw on; None: a new figure.
        figsize : tuple of float, default None
            Width and height of a new figure in inches.
        backend : str, default None
            "matplotlib": pandas' other backends cannot draw this.

        Returns
        -------
        ndarray of Axes
            One for each metric.

        Raises
        ------
        RecframeError
            A column to draw is missing, the number of `ax` is not that of metrics, or another
            backend is asked for.
        ImportError
            The picture needs Matplotlib, the extra ``plot``.
        """
        if (found := backend or pd.get_option("plotting.backend")) != "matplotlib":
            raise RecframeError(
                f"plot draws intervals by Matplotlib only, found backend={quote(found)}; pass "
                "backend='matplotlib'"
            )
        lines, said = self._lines(), f"{self._say_what()}, {self._say_interval()}"
        if self._is_difference:
            said += f"; filled where p < {self._alpha:g}, {self._corrected}"
        return draw(lines, self._outer, said, ax, figsize, is_difference=self._is_difference)

    def to_latex(  # type: ignore[override]  # of which pandas has another form
        self,
        digits: int = 3,
        spread: str | None = "interval",
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        r"""
        Return a table for LaTeX with the package booktabs: a row for each model, metrics across.

        The best of each metric is bold, if it is known whether high or low values are good.
        ``pd.DataFrame(table).to_latex()`` is pandas' own.

        Parameters
        ----------
        digits : int, default 3
            The number of digits after the decimal point.
        spread : {"interval", "±", None}, default "interval"
            Shown after a number: its interval, the distance to the farther end of it, or nothing.
        caption : str, default None
            LaTeX in place of the caption that explains the numbers.
        label : str, default None
            The name of the table for `\ref`.

        Returns
        -------
        str
            The table. Significant differences of `compare` have a star.

        Raises
        ------
        RecframeError
            A column to show is missing, or an argument is out of its range.
        """
        names, header, body, said = self._typeset(LATEX, digits, spread)
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{LATEX.escape(said) if caption is None else caption}}}",
            *([] if label is None else [rf"\label{{{label}}}"]),
            rf"\begin{{tabular}}{{{'l' * names}{'r' * (len(header) - names)}}}",
            r"\toprule",
            " & ".join(header) + r" \\",
        ]
        for row in body:
            lines += [r"\midrule"] if any(row[: names - 1]) or row is body[0] else []
            lines.append(" & ".join(row) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])

    def to_markdown(  # type: ignore[override]  # of which pandas has another form
        self, digits: int = 3, spread: str | None = "interval"
    ) -> str:
        """
        Return the table of `to_latex` as GitHub's Markdown, with a caption.

        Parameters
        ----------
        digits, spread : int, str or None
            As in `to_latex`.

        Returns
        -------
        str
            The caption and the table.

        Raises
        ------
        RecframeError
            A column to show is missing, or an argument is out of its range.
        """
        names, header, body, said = self._typeset(MARKDOWN, digits, spread)
        rule = [":--"] * names + ["--:"] * (len(header) - names)
        lines = [f"| {' | '.join(cells)} |" for cells in (header, rule, *body)]
        return "\n".join([MARKDOWN.escape(said), "", *lines, ""])

    @property
    def _is_difference(self) -> bool:
        """Whether the rows are of differences from a baseline."""
        return "difference" in self.columns

    @property
    def _alpha(self) -> float:
        """The p-value below which a difference is significant."""
        return round(1 - float(self.attrs.get("confidence", 0.95)), 12)

    @property
    def _outer(self) -> list[str]:
        """The names of what parts the rows: segments, and baselines where there are several."""
        return [as_text(one) for one in self.index.names if one not in ("score", "metric")]

    @property
    def _corrected(self) -> str:
        """How p-values were corrected."""
        return WORDS.get(self.attrs.get("correction") or "", "not corrected")

    def _lines(self) -> Lines:
        """Return what is shown of each model, in the order of the table."""
        names, shown, made = [*self.index.names], ["mean", "low", "high"], MADE[:2]
        if self._is_difference:
            shown, made = READ[:4], MADE
        lacking = {*shown, *made} - {*self.columns} | {"score", "metric"} - {*names}
        if lacking or self.empty:
            raise RecframeError(
                "plot, to_latex and to_markdown take rows with the columns of summary or compare, "
                f"found no {quote(sorted(lacking) or 'row')}; pd.DataFrame(table) has pandas' own"
            )
        metrics = self.index.get_level_values("metric")
        gains = (self[shown[0]] * [find_sign(metric) for metric in metrics]).round(12)
        parts = [n for n, name in enumerate(names) if name != "score"]
        is_best = gains == gains.groupby(level=parts, dropna=False, sort=False).transform("max")
        if self._is_difference:
            is_best &= gains > 0
        elif len({*self.index.get_level_values("score")}) == 1:
            is_best &= False
        cells, lines = self[shown].to_numpy(float).tolist(), Lines()
        for key, is_good, (value, low, high, *p) in zip(self.index, is_best, cells, strict=True):
            labels = dict(zip(names, key, strict=True))
            model, metric = as_text(labels.pop("score")), labels.pop("metric")
            line = lines.setdefault((tuple(map(as_text, labels.values())), model), {})
            line[metric] = Cell(value, low, high, min(p, default=1) < self._alpha, bool(is_good))
        return lines

    def _typeset(
        self, markup: Markup, digits: Any, spread: Any
    ) -> tuple[int, list[str], list[list[str]], str]:
        """Return how many columns have names, the header, the rows, and what a caption says."""
        if not is_number(digits, int) or not 0 <= digits <= MAX_DIGITS:
            raise RecframeError(f"digits must be from 0 to {MAX_DIGITS}, found {quote(digits)}")
        if spread not in SPREADS:
            raise RecframeError(f"spread must be one of {SPREADS}, found {quote(spread)}")
        lines, sign = self._lines(), "+" if self._is_difference else ""
        metrics = list(dict.fromkeys(chain(*lines.values())))

        def show(number: float, sign: str = sign) -> str:
            text = f"{number:{sign}.{digits}f}".replace("-", markup.minus)
            return markup.none if math.isnan(number) else text

        def show_cell(cell: Cell) -> str:
            value, low, high, is_significant, is_best = cell
            text = markup.bold.format(show(value)) if is_best else show(value)
            text += markup.star if is_significant else ""
            if spread is None or math.isnan(low):
                return text
            if spread == "±":
                return f"{text} {markup.plus_minus} {show(max(value - low, high - value), '')}"
            return f"{text} [{show(low)}, {show(high)}]"

        body, above = list[list[str]](), None
        for (group, model), cells in lines.items():
            names = *(group if group != above else [""] * len(group)), model
            shown = [show_cell(cells.get(metric, Cell())) for metric in metrics]
            body.append([*map(markup.escape, names), *shown])
            above = group
        said = f"{self._say_what()[0].upper()}{self._say_what()[1:]}"
        if spread:
            farther = " as ± its farther end" if spread == "±" else ""
            said += f", with the {self._say_interval()}{farther}"
        if self._is_difference:
            said += f". * p < {self._alpha:g} ({self._say_test()})"
        if any(cell.is_best for cells in lines.values() for cell in cells.values()):
            said += f". Bold: the best {'gain' if self._is_difference else 'mean'}"
        header = [markup.escape(one) for one in (*self._outer, "model", *map(title_of, metrics))]
        said = ". ".join([said, *(f"{one.text[:1].upper()}{one.text[1:]}" for one in self.notes)])
        return len(self._outer) + 1, header, body, f"{said}."

    def _say_interval(self) -> str:
        """Return how intervals were made."""
        return f"{100 - 100 * self._alpha:g}% confidence interval ({join_words(self['interval'])})"

    def _say_test(self) -> str:
        """Return how p-values were made."""
        return f"{join_words(self['test'])}, {self._corrected}"

    def _say_what(self) -> str:
        """Return what the numbers are, and of how many users."""
        what, outer = "mean", {*self._outer}
        if self._is_difference:
            only = f"{self.columns.name}".removeprefix("baseline: ")
            what = f"difference from {'the baseline' if 'baseline' in outer else only}"
        least, most = int(self["n_users"].min()), int(self["n_users"].max())
        if least < most:
            return f"{what} over {least:,} to {count_of(most, 'user')}"
        return f"{what} over {count_of(most, 'user')}{' each' if outer - {'baseline'} else ''}"


def draw(
    lines: Lines, outer: list[str], said: str, ax: Any, figsize: Any, *, is_difference: bool
) -> Any:
    """Return the axes of a dot and an interval for each model, a panel for each metric."""
    pyplot = import_extra("matplotlib.pyplot", "plot", "plot")
    metrics = list(dict.fromkeys(chain(*lines.values())))
    groups, models = (list(dict.fromkeys(labels)) for labels in zip(*lines, strict=True))
    styles = dict(zip(models, cycle(product(MARKERS, COLOURS)), strict=False))
    rows = [", ".join(group) for group in groups] if outer else models
    figure, n_across = None, 1
    if ax is None:
        n_across = min(len(metrics), N_ACROSS)
        n_down, n_lines = -(-len(metrics) // n_across), len(groups) * (len(models) + 1)
        size = 1.5 + 3 * n_across + 1.5 * bool(outer), n_down * (1.5 + 0.25 * n_lines)
        how = {"squeeze": False, "sharey": True, "layout": "constrained"}
        figure, ax = pyplot.subplots(n_down, n_across, figsize=figsize or size, **how)
        for spare in ax.ravel()[len(metrics) :]:
            spare.remove()
        ax = ax.ravel()[: len(metrics)]
    axes = np.array(ax, dtype=object).reshape(-1)
    if len(axes) != len(metrics):
        raise RecframeError(f"ax must be one for each of {quote(metrics)}, found {len(axes)}")
    caption = _plain(textwrap.fill(said, 36 * n_across, break_on_hyphens=False))
    for show in [figure.supxlabel] if figure else [panel.set_xlabel for panel in axes]:
        show(caption, fontsize="medium")
    for panel, metric in zip(axes, metrics, strict=True):
        if is_difference:
            panel.axvline(0, color="0.6", linewidth=1, zorder=0)
        for (group, model), cells in lines.items():
            at, cell = float(models.index(model)), cells.get(metric, Cell())
            if outer:
                at = groups.index(group) + (at + 1) / (len(models) + 1) - 0.5
            marker, colour = styles[model]
            face = "white" if is_difference and not cell.is_significant else colour
            panel.plot([cell.low, cell.high], [at, at], color=colour)
            panel.plot(cell.value, at, marker, color=colour, markerfacecolor=face)
        panel.set_title(_plain(title_of(metric)))
        panel.set_yticks(range(len(rows)), map(_plain, rows))
        panel.set_ylim(len(rows) - 0.5, -0.5)
        panel.locator_params(axis="x", nbins=4)  # longer numbers would meet
        panel.grid(axis="x", alpha=0.3)
    if outer:
        for model, (marker, colour) in styles.items():
            axes[-1].plot([], [], marker, color=colour, label=_plain(model))
        axes[0].set_ylabel(_plain(", ".join(outer)))
        axes[-1].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return axes


def _plain(text: str) -> str:
    """Return a text as Matplotlib draws it, for which dollars enclose a formula."""
    return text.replace("$", r"\$")
