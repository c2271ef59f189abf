"""Means and differences as they are shown to others: a text, a picture, a table for a paper."""

import math
import textwrap
from collections.abc import Callable, Hashable
from html import escape
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from recframe.analysis.display import (
    LATEX,
    MARKDOWN,
    TEXT_WIDTH,
    WORDS,
    Markup,
    WideTable,
    import_extra,
    join_words,
    title_of,
)
from recframe.analysis.intervals import find_definition
from recframe.errors import RecframeError, as_text, quote

READ = ["difference", "low", "high", "p_corrected", "n_users"]  # what one reads of a comparison
# That colour-blind readers tell apart (M. Okabe and K. Ito, "Color universal design", 2008).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = "os^Dv"  # the next after each round of colours
N_ACROSS = 4  # panels
MAX_DIGITS = 15
SPREADS = ("interval", "±", None)
Group: TypeAlias = tuple[str, ...]  # a segment, and the baseline where there are several


class Cell(NamedTuple):
    """What a table has of a model in a metric."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    is_significant: bool = False
    is_best: bool = False


Lines: TypeAlias = dict[tuple[Group, str], dict[Hashable, Cell]]  # by group and model


class ResultTable(WideTable):
    """What `summary` and `compare` return: a DataFrame that can be drawn and set in a paper.

    Of a comparison, text and HTML have the columns that one reads; the frame has all.
    """

    @property
    def _constructor(self) -> Callable[..., "ResultTable"]:
        return ResultTable

    def __repr__(self) -> str:
        """Return the columns that one reads, and how they were made."""
        if not self.is_wide:
            return super().__repr__()
        return f"{self[READ]!r}\n{textwrap.fill(self.explain(), TEXT_WIDTH)}"

    def _repr_html_(self) -> str | None:
        """Return the same as HTML."""
        shown = pd.DataFrame(self[READ] if self.is_wide else self)
        html: str | None = shown._repr_html_()  # type: ignore[operator]  # untyped
        return f"{html}\n<p>{escape(self.explain())}</p>" if html and self.is_wide else html

    @property
    def is_wide(self) -> bool:
        """Whether there are all columns of a comparison, of which one reads some."""
        return self.columns.is_unique and {*READ, "interval", "test"} <= {*self.columns}

    def explain(self) -> str:
        """Return what the columns of a comparison are, and which others there are."""
        test, others = self._say_test(), [one for one in self.columns if one not in READ]
        return (
            f"low, high: {self._say_interval()}. p_corrected: {test}. Further columns: "
            f"{', '.join(map(as_text, others))}."
        )

    def plot(  # type: ignore[override]  # pandas' has methods of its own
        self, ax: Any = None, figsize: Any = None, backend: str | None = None
    ) -> Any:
        """
        Draw a dot and its interval for each model, in a panel for each metric.

        Models are in their order, in segments each with a colour. Differences have a line at zero;
        significant ones, of p_corrected below 1 - confidence, have a filled dot.

        Parameters
        ----------
        ax : Axes of Matplotlib, or as many as there are metrics, default None
            Where to draw; None: in a new figure.
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
            A column that is drawn is not there, `ax` are not as many as metrics, or another backend
            is asked for.
        ImportError
            Matplotlib is not there, the extra ``plot``.
        """
        if (found := backend or pd.get_option("plotting.backend")) != "matplotlib":
            raise RecframeError(
                f"plot draws intervals by Matplotlib only, found backend={quote(found)}; pass "
                "backend='matplotlib'"
            )
        lines = self._lines()
        pyplot = import_extra("matplotlib.pyplot", "plot", "plot")
        metrics = list(dict.fromkeys(self.index.get_level_values("metric")))
        groups = list(dict.fromkeys(group for group, _ in lines))
        models = list(dict.fromkeys(model for _, model in lines))
        rows = [", ".join(group) for group in groups] if any(groups) else models
        if ax is None:
            n_across = min(len(metrics), N_ACROSS)
            n_down, n_lines = -(-len(metrics) // n_across), len(groups) * (len(models) + 1)
            size = 1.5 + 3 * n_across + 1.5 * any(groups), n_down * (1.5 + 0.25 * n_lines)
            how = {"squeeze": False, "sharey": True, "layout": "constrained"}
            ax = pyplot.subplots(n_down, n_across, figsize=figsize or size, **how)[1].ravel()
            for spare in ax[len(metrics) :]:
                spare.remove()
            ax = ax[: len(metrics)]
        axes = np.array(ax, dtype=object).reshape(-1)
        if len(axes) != len(metrics):
            raise RecframeError(f"ax must be one for each of {quote(metrics)}, found {len(axes)}")
        filled = f"; filled where p < {self._alpha:g}" if self._is_difference else ""
        said = textwrap.fill(f"{self._say_what()}, {self._percent} interval{filled}", 36)
        for panel, metric in zip(axes, metrics, strict=True):
            if self._is_difference:
                panel.axvline(0, color="0.6", linewidth=1, zorder=0)
            for (group, model), cells in lines.items():
                number, cell = models.index(model), cells.get(metric, Cell())
                at = float(number)
                if any(groups):
                    at = groups.index(group) + (number + 1) / (len(models) + 1) - 0.5
                colour, marker = COLOURS[number % 7], MARKERS[number // 7 % len(MARKERS)]
                face = "white" if self._is_difference and not cell.is_significant else colour
                panel.plot([cell.low, cell.high], [at, at], color=colour)
                panel.plot(cell.value, at, marker, color=colour, markerfacecolor=face)
                if any(groups) and panel is axes[-1] and group == groups[0]:
                    panel.plot([], [], marker, color=colour, label=_plain(model))
            panel.set_title(_plain(title_of(metric)))
            panel.set_xlabel(_plain(said))
            panel.set_yticks(range(len(rows)), map(_plain, rows))
            panel.set_ylim(len(rows) - 0.5, -0.5)
            panel.grid(axis="x", alpha=0.3)
        if any(groups):
            axes[0].set_ylabel(_plain(", ".join(self._outer)))
            axes[-1].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
        return axes

    def to_latex(  # type: ignore[override]  # of which pandas has another form
        self,
        digits: int = 3,
        spread: str | None = "interval",
        caption: str | None = None,
        label: str | None = None,
        compared: "ResultTable | None" = None,
    ) -> str:
        r"""
        Return a table for LaTeX with the package booktabs: a row for each model, metrics across.

        The best of each metric is bold, if it is known whether high or low values are good.
        ``pd.DataFrame(table).to_latex()`` is pandas' own.

        Parameters
        ----------
        digits : int, default 3
            How many follow the decimal point.
        spread : {"interval", "±", None}, default "interval"
            What follows a number: its interval, the distance to the farther end of it, or nothing.
        caption : str, default None
            LaTeX in place of what says how the numbers were made.
        label : str, default None
            What `\ref` names the table by.
        compared : DataFrame, default None
            For means, what `compare` returns of the same models: the means have the letters of the
            models that they are significantly better than, by p_corrected below 1 - confidence.

        Returns
        -------
        str
            The table. Significant differences of `compare` have a star.

        Raises
        ------
        RecframeError
            A column that is shown is not there, or an argument is out of its range.
        """
        names, header, body, said = self._typeset(LATEX, digits, spread, compared)
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
        self,
        digits: int = 3,
        spread: str | None = "interval",
        compared: "ResultTable | None" = None,
    ) -> str:
        """
        Return a table for Markdown as GitHub has it, with a caption: what `to_latex` returns.

        Parameters
        ----------
        digits, spread, compared : int, str or None, DataFrame or None
            As in `to_latex`.

        Returns
        -------
        str
            The caption and the table.

        Raises
        ------
        RecframeError
            A column that is shown is not there, or an argument is out of its range.
        """
        names, header, body, said = self._typeset(MARKDOWN, digits, spread, compared)
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
    def _percent(self) -> str:
        """The confidence of the intervals."""
        return f"{100 - 100 * self._alpha:g}%"

    @property
    def _outer(self) -> list[str]:
        """The names of what parts the rows: segments, and baselines where there are several."""
        return [as_text(one) for one in self.index.names if one not in ("score", "metric")]

    @property
    def _baseline(self) -> str:
        """The name of the only baseline."""
        return as_text(self.columns.name).removeprefix("baseline: ")

    def _lines(self) -> Lines:
        """Return what is shown of each model, in the order of the table."""
        names, shown = [*self.index.names], ["mean", "low", "high"]
        if self._is_difference:
            shown = ["difference", "low", "high", "p_corrected"]
        lacking = {*shown} - {*self.columns} | {"score", "metric"} - {*names}
        if lacking or self.empty:
            raise RecframeError(
                "plot, to_latex and to_markdown take the rows and columns of summary or compare, "
                f"found no {quote(sorted(lacking) or 'row')}; pd.DataFrame(table) has "
                "those of pandas"
            )
        keys = [dict(zip(names, key, strict=True)) for key in self.index]
        best, found = dict[Any, float](), []
        for key, cells in zip(keys, self[shown].to_numpy(float).tolist(), strict=True):
            model, metric = as_text(key.pop("score")), key.pop("metric")
            group, gain = (
                tuple(map(as_text, key.values())),
                round(_sign(metric, math.nan) * cells[0], 12),
            )
            if gain > best.get((group, metric), 0 if self._is_difference else -math.inf):
                best[group, metric] = gain
            found.append((group, model, metric, gain, *cells))
        is_alone = not self._is_difference and len({model for _, model, *_ in found}) == 1
        lines: Lines = {}
        for group, model, metric, gain, value, low, high, *p in found:
            is_best = gain == best.get((group, metric)) and not is_alone
            cell = Cell(value, low, high, min(p, default=1) < self._alpha, is_best)
            lines.setdefault((group, model), {})[metric] = cell
        return lines

    def _typeset(
        self, markup: Markup, digits: Any, spread: Any, compared: Any
    ) -> tuple[int, list[str], list[list[str]], str]:
        """Return how many columns have names, the header, the rows, and what a caption says."""
        if not isinstance(digits, int) or not 0 <= digits <= MAX_DIGITS:
            raise RecframeError(f"digits must be from 0 to {MAX_DIGITS}, found {quote(digits)}")
        if spread not in SPREADS:
            raise RecframeError(f"spread must be one of {SPREADS}, found {quote(spread)}")
        lines = self._lines()
        metrics = list(dict.fromkeys(self.index.get_level_values("metric")))
        letters, marks = ({}, {}) if compared is None else _find_marks(lines, compared)

        def show(number: float, sign: str = "+" if self._is_difference else "") -> str:
            text = f"{number:{sign}.{digits}f}".replace("-", markup.minus)
            return markup.none if math.isnan(number) else text

        def show_cell(key: tuple[Group, str], metric: Hashable) -> str:
            value, low, high, is_significant, is_best = lines[key].get(metric, Cell())
            text = markup.bold.format(show(value)) if is_best else show(value)
            if mark := marks.get((*key, metric), "*" if is_significant else ""):
                text += markup.raised.format(markup.escape(mark))
            if spread == "±" and not math.isnan(low):
                text += f" {markup.plus_minus} {show(max(value - low, high - value), '')}"
            elif spread and not math.isnan(low):
                text += f" [{show(low)}, {show(high)}]"
            return text

        body, above = list[list[str]](), None
        for group, model in lines:
            names = group if group != above else ("",) * len(group)
            named = f"{model} ({letters[model]})" if letters else model
            cells = [show_cell((group, model), metric) for metric in metrics]
            body.append([*map(markup.escape, (*names, named)), *cells])
            above = group
        said = self._say_what()
        said = said[0].upper() + said[1:]
        if spread:
            farther = " as ± its farther end" if spread == "±" else ""
            said += f", with the {self._say_interval()}{farther}"
        if self._is_difference:
            said += f". * p < {self._alpha:g} ({self._say_test()})"
        if any(cell.is_best for cells in lines.values() for cell in cells.values()):
            said += f". Bold: the best {'gain' if self._is_difference else 'mean'}"
        if compared is not None:
            said += f". A letter: better than that model, p < {compared._alpha:g} "
            said += f"({compared._say_test()})"
        header = [markup.escape(one) for one in (*self._outer, "model", *map(title_of, metrics))]
        return len(self._outer) + 1, header, body, f"{said}."

    def _say_interval(self) -> str:
        """Return how intervals were made."""
        how = f" ({join_words(self['interval'])})" if "interval" in self else ""
        return f"{self._percent} confidence interval{how}"

    def _say_test(self) -> str:
        """Return how p-values were made."""
        tests = f"{join_words(self['test'])}, " if "test" in self else ""
        return f"{tests}{WORDS.get(self.attrs.get('correction') or '', 'not corrected')}"

    def _say_what(self) -> str:
        """Return what the numbers are, and of how many users."""
        what = "mean"
        if self._is_difference:
            what = f"difference from {'the ' if 'baseline' in self._outer else ''}{self._baseline}"
        n_users = sorted({*self["n_users"]} if "n_users" in self else {})
        counts = " to ".join(f"{n:,}" for n in dict.fromkeys([*n_users[:1], *n_users[-1:]]))
        each = " each" if self._outer and len(n_users) == 1 else ""
        return f"{what} over {counts} users{each}" if counts else what


def _sign(metric: object, unknown: float) -> float:
    """Return 1 where high values of a metric are better, -1 where low ones are."""
    better = getattr(find_definition(metric), "better", "unknown")
    return {"high": 1.0, "low": -1.0}.get(better, unknown)


def _find_marks(lines: Lines, compared: Any) -> tuple[dict[str, str], dict[Any, str]]:
    """Return a letter for each model, and the letters of those that it is better than."""
    models = list(dict.fromkeys(model for _, model in lines))
    letters = {model: chr(97 + n % 26) * (n // 26 + 1) for n, model in enumerate(models)}
    marks = dict[Any, str]()
    if not isinstance(compared, ResultTable) or not compared._is_difference:
        raise RecframeError(f"compared must be what compare returns, found {quote(compared)}")
    for (group, model), cells in compared._lines().items():
        has_base = "baseline" in compared._outer
        segment, base = (group[:-1], group[-1]) if has_base else (group, compared._baseline)
        if lacking := {model, base} - {*models}:
            raise RecframeError(
                f"compared must be of these models, {quote(models)}, found {quote(min(lacking))}"
            )
        for metric, cell in cells.items():
            is_better = cell.value * _sign(metric, 1.0) > 0
            winner, loser = (model, base) if is_better else (base, model)
            if cell.is_significant:
                key = segment, winner, metric
                marks[key] = "".join(sorted(marks.get(key, "") + letters[loser]))
    return letters, marks


def _plain(text: str) -> str:
    """Return a text as Matplotlib draws it, for which dollars enclose a formula."""
    return text.replace("$", r"\$")
