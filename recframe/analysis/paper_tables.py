"""Tables of means and differences as text, as a picture, and in LaTeX or Markdown for a paper."""

from collections.abc import Hashable, Iterable
from itertools import chain
from typing import Any

import pandas as pd

from recframe.analysis.display import WORDS, NotedTable, WideTable, title_of
from recframe.analysis.intervals import find_sign
from recframe.analysis.markup import LATEX, MARKDOWN, Cell, Markup
from recframe.analysis.pictures import Lines, draw_intervals
from recframe.errors import RecframeError, as_text, count_of, is_number, quote

# The columns of a comparison that are printed, and those that say how its numbers were made.
MAIN_COLUMNS = ["difference", "low", "high", "p_corrected", "n_users"]
METHOD_COLUMNS = ["n_users", "interval", "test"]
MAX_DIGITS = 15
SPREADS = ("interval", "±", None)


def join_words(values: Iterable[object]) -> str:
    """Return the distinct values as one text, in their order."""
    return ", ".join(dict.fromkeys(map(as_text, values)))


def check_decimals(digits: Any) -> None:
    """Raise unless numbers can be written with so many digits after the point."""
    if not is_number(digits, int) or not 0 <= digits <= MAX_DIGITS:
        raise RecframeError(f"digits must be from 0 to {MAX_DIGITS}, but is {quote(digits)}")


class MeanTable(NotedTable):
    """The result of `mean`: a DataFrame that can be set in a paper, with its notes."""

    def to_latex(  # type: ignore[override]  # pandas' method has other parameters
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
            Shown after a number that has an interval: the interval, the distance to its farther
            end, or nothing.
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
        text, header, rows, n_names = self._typeset(LATEX, digits, spread)
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{LATEX.escape(text) if caption is None else caption}}}",
            *([] if label is None else [rf"\label{{{label}}}"]),
            rf"\begin{{tabular}}{{{'l' * n_names}{'r' * (len(header) - n_names)}}}",
            r"\toprule",
            " & ".join(header) + r" \\",
        ]
        for row in rows:
            lines += [r"\midrule"] if any(row[: n_names - 1]) or row is rows[0] else []
            lines.append(" & ".join(row) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])

    def to_markdown(  # type: ignore[override]  # pandas' method has other parameters
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
        caption, header, rows, n_names = self._typeset(MARKDOWN, digits, spread)
        rule = [":--"] * n_names + ["--:"] * (len(header) - n_names)
        lines = [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)]
        return "\n".join([MARKDOWN.escape(caption), "", *lines, ""])

    @property
    def _is_difference(self) -> bool:
        """Whether the rows hold differences from a baseline."""
        return "difference" in self.columns

    @property
    def _alpha(self) -> float:
        """The p-value below which a difference is significant."""
        return round(1 - float(self.attrs.get("confidence", 0.95)), 12)

    @property
    def _outer(self) -> list[str]:
        """The names of the outer index levels: segments, and several baselines."""
        return [as_text(one) for one in self.index.names if one not in ("score", "metric", "k")]

    @property
    def _corrected(self) -> str:
        """The words for the correction of p-values."""
        return WORDS.get(self.attrs.get("correction") or "", "not corrected")

    def _lines(self) -> Lines:
        """Return the cells of each row, in the order of the table."""
        names = ["score" if one == "k" else one for one in self.index.names]
        columns = range(self.shape[1]) if "k" in self.index.names else self.columns  # no metrics
        plain = pd.DataFrame(self).set_axis(columns, axis=1)
        long: Any = plain.stack(future_stack=True)  # noqa: PD013 - melt has no index
        table = long.rename_axis([*names, "metric"]).to_frame("mean")
        return ResultTable(table.reindex(columns=["mean", "low", "high", *METHOD_COLUMNS]))._lines()

    def _typeset(
        self, markup: Markup, digits: Any, spread: Any
    ) -> tuple[str, list[str], list[list[str]], int]:
        """Return the caption, not escaped yet, the titles, the rows, and the number of names."""
        check_decimals(digits)
        if spread not in SPREADS:
            raise RecframeError(f"spread must be one of {SPREADS}, but is {quote(spread)}")
        lines, sign = self._lines(), "+" if self._is_difference else ""
        metrics = list(dict.fromkeys(chain(*lines.values())))
        rows, above = list[list[str]](), None
        for (group, model), cells in lines.items():
            names = *(group if group != above else [""] * len(group)), model
            shown = [cells.get(metric, Cell()) for metric in metrics]
            rows.append([markup.escape(name) for name in names])
            rows[-1] += [cell.format(markup, digits, spread, sign) for cell in shown]
            above = group
        titles = ["model", *map(title_of, metrics)]
        if "k" in self.index.names:  # The columns of a curve are models.
            titles = ["k", *map(as_text, self.columns)]
        header = [markup.escape(one) for one in (*self._outer, *titles)]
        has_best = any(cell.is_best for cells in lines.values() for cell in cells.values())
        return self._caption(spread, has_best), header, rows, len(self._outer) + 1

    def _caption(self, spread: str | None, has_best: bool) -> str:
        """Return sentences that explain the numbers, then the notes."""
        text = self._numbers
        if spread and "low" in self.columns:
            farther = " as ± its farther end" if spread == "±" else ""
            text += f", with the {self._interval}{farther}"
        sentences = [text]
        if self._is_difference:
            sentences.append(f"* p < {self._alpha:g} ({self._test})")
        if has_best:
            sentences.append(f"Bold: the best {'gain' if self._is_difference else 'mean'}")
        sentences += [one.text for one in self.notes]
        return "".join(f"{one[:1].upper()}{one[1:]}. " for one in sentences).rstrip()

    @property
    def _interval(self) -> str:
        """The words for the intervals."""
        return f"{100 - 100 * self._alpha:g}% confidence interval ({join_words(self['interval'])})"

    @property
    def _test(self) -> str:
        """The words for the p-values."""
        return f"{join_words(self['test'])}, {self._corrected}"

    @property
    def _numbers(self) -> str:
        """The words for the numbers."""
        of_curve = f"{title_of(self.columns.name)} " if "k" in self.index.names else ""
        segments = f"the users of each {join_words(self._outer)}" if self._outer else "users"
        return f"mean {of_curve}over {segments}"


class ResultTable(MeanTable):
    """The result of `summary` or `compare`: a DataFrame that can be drawn and set in a paper.

    A comparison is printed with its main columns; the frame has all of them.
    """

    def _compose_display(self) -> tuple[pd.DataFrame, list[str]]:
        """Return the main columns, and sentences on how they were made."""
        return WideTable(self[self.main_columns]), [self.explain()] if self.is_wide else []

    @property
    def is_wide(self) -> bool:
        """Whether the table has all columns of a comparison."""
        return self.columns.is_unique and {*MAIN_COLUMNS, *METHOD_COLUMNS} <= {*self.columns}

    @property
    def main_columns(self) -> list[Hashable]:
        """The columns that are printed."""
        if not self.is_wide:
            return list(self.columns)
        return [*MAIN_COLUMNS, *self.columns.intersection(["n_trusted"])]

    def explain(self) -> str:
        """Return sentences about the columns of a comparison, printed or not."""
        others = join_words(self.columns.drop(self.main_columns))
        text = f"low, high: {self._interval}. p_corrected: {self._test}. "
        return f"{text}Further columns: {others}."

    def plot(  # type: ignore[override]  # pandas' plot is an accessor
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
        if (backend := backend or pd.get_option("plotting.backend")) != "matplotlib":
            raise RecframeError(
                f"plot draws intervals by Matplotlib only, not backend={quote(backend)}. Pass "
                "backend='matplotlib'."
            )
        lines, caption = self._lines(), f"{self._numbers}, {self._interval}"
        if self._is_difference:
            caption += f"; filled where p < {self._alpha:g}, {self._corrected}"
        return draw_intervals(
            lines, self._outer, caption, ax, figsize, is_difference=self._is_difference
        )

    def _lines(self) -> Lines:
        """Return the cells of each model, with intervals."""
        names, shown, methods = [*self.index.names], ["mean", "low", "high"], METHOD_COLUMNS[:2]
        if self._is_difference:
            shown, methods = MAIN_COLUMNS[:4], METHOD_COLUMNS
        lacking = {*shown, *methods} - {*self.columns} | {"score", "metric"} - {*names}
        if lacking or self.empty:
            raise RecframeError(
                "plot, to_latex and to_markdown take rows with all columns of their method, "
                f"but these have no {quote(sorted(lacking) or 'row')}; pd.DataFrame(table) has "
                "pandas' own"
            )
        metrics = self.index.get_level_values("metric")
        gains = (self[shown[0]] * [find_sign(metric) for metric in metrics]).round(12)
        levels = [n for n, name in enumerate(names) if name != "score"]
        is_best = gains == gains.groupby(level=levels, dropna=False, sort=False).transform("max")
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

    @property
    def _numbers(self) -> str:
        """The words for the numbers and the number of users."""
        noun, outer = "mean", {*self._outer}
        if self._is_difference:
            only = f"{self.columns.name}".removeprefix("baseline: ")
            noun = f"difference from {'the baseline' if 'baseline' in outer else only}"
        least, most = int(self["n_users"].min()), int(self["n_users"].max())
        if least < most:
            return f"{noun} over {least:,} to {count_of(most, 'user')}"
        return f"{noun} over {count_of(most, 'user')}{' each' if outer - {'baseline'} else ''}"
