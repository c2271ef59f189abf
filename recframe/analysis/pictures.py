"""Pictures: axes with round numbers, and panels of Matplotlib with intervals and curves."""

import math
import textwrap
from collections.abc import Hashable, Sequence
from itertools import chain, cycle, islice, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.display import import_extra, title_of
from recframe.analysis.markup import Cell
from recframe.errors import RecframeError, as_text, quote

# Colour-blind readers tell these apart (M. Okabe and K. Ito, "Color universal design", 2008).
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c8c8c"]
# Each round of colours has the next marker, or the next style of lines.
MARKERS, LINE_STYLES = "os^Dv", ("-", "--", ":", "-.")
N_ACROSS, N_TICKS = 4, 4  # panels next to each other, and steps between ticks
# The cells by metric, of each model in a group: a segment, and the baseline if there are several.
Lines = dict[tuple[tuple[str, ...], str], dict[Hashable, Cell]]


class Axis(NamedTuple):
    """The range of an axis, and the numbers written along it."""

    low: float
    high: float
    ticks: list[float]

    def at(self, value: float) -> float:
        """Return the place of a value along the axis, in [0, 1]."""
        return (value - self.low) / (self.high - self.low)


def find_axis(values: Any, n_steps: int = N_TICKS) -> Axis:
    """Return an axis for values that ends in round numbers; from 0 to 1 without values."""
    known = np.asarray(values, float)
    known = known[np.isfinite(known)] if np.isfinite(known).any() else np.array([0.0, 1.0])
    low, high = float(known.min()), float(known.max())
    least = (high - low or abs(high) or 1) / n_steps
    power = 10.0 ** math.floor(math.log10(least))
    step = next(n * power for n in (1, 2, 5, 10) if n * power >= least * 0.999)
    first = math.floor(low / step + 1e-9)
    last = max(math.ceil(high / step - 1e-9), first + 1)
    return Axis(first * step, last * step, [n * step for n in range(first, last + 1)])


def find_axis_of_k(last: int) -> Axis:
    """Return an axis for cut-offs, from 1 to the last one."""
    ticks = (n for n in find_axis([0, last], 2 * N_TICKS).ticks if 1 < n <= last and n == int(n))
    return Axis(1, last, [1, *ticks])


def open_panels(names: Sequence[object], ax: Any, figsize: Any, size: tuple[float, float]) -> Any:
    """Return an array of axes, one for each name: `ax`, or new panels of this size in inches."""
    pyplot = import_extra("matplotlib.pyplot", "plot", "plot")
    if ax is None:
        n_across = min(len(names), N_ACROSS)
        n_down = -(-len(names) // n_across)
        how = {"squeeze": False, "sharey": True, "layout": "constrained"}
        figsize = figsize or (1.5 + size[0] * n_across, size[1] * n_down)
        ax = pyplot.subplots(n_down, n_across, figsize=figsize, **how)[1].ravel()
        for spare in ax[len(names) :]:
            spare.remove()
        ax = ax[: len(names)]
    axes = np.array(ax, dtype=object).reshape(-1)
    if len(axes) != len(names):
        raise RecframeError(f"ax must be one for each of {quote(list(names))}, but has {len(axes)}")
    return axes


def draw_intervals(
    lines: Lines, outer: list[str], caption: str, ax: Any, figsize: Any, *, is_difference: bool
) -> Any:
    """Draw a dot and an interval for each model, a panel for each metric; return the axes."""
    metrics = list(dict.fromkeys(chain(*lines.values())))
    groups, models = (list(dict.fromkeys(labels)) for labels in zip(*lines, strict=True))
    styles = dict(zip(models, cycle(product(MARKERS, COLOURS)), strict=False))
    rows = [", ".join(group) for group in groups] if outer else models
    size = 3.4 if outer else 3.0, 1.5 + len(groups) * (len(models) + 1) / 4
    is_new, axes = ax is None, open_panels(metrics, ax, figsize, size)
    width = 36 * len(axes[:N_ACROSS]) if is_new else 36
    caption = _escape_dollars(textwrap.fill(caption, width, break_on_hyphens=False))
    for show in [axes[0].figure.supxlabel] if is_new else [one.set_xlabel for one in axes]:
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
        panel.set_title(_escape_dollars(title_of(metric)))
        panel.set_yticks(range(len(rows)), map(_escape_dollars, rows))
        panel.set_ylim(len(rows) - 0.5, -0.5)
        panel.locator_params(axis="x", nbins=4)  # more numbers would overlap
        panel.grid(axis="x", alpha=0.3)
    if outer:
        for model, (marker, colour) in styles.items():
            axes[:N_ACROSS][-1].plot([], [], marker, color=colour, label=_escape_dollars(model))
        axes[0].set_ylabel(_escape_dollars(", ".join(outer)))
        _add_legend(axes)
    return axes


def draw_curves(table: pd.DataFrame, ax: Any, figsize: Any, legend: bool, arguments: Any) -> Any:
    """Draw a line for each model over the cut-offs, a panel for each segment; return the axes."""
    levels = list(range(table.index.nlevels - 1))
    if (arguments.get("backend") or pd.get_option("plotting.backend")) != "matplotlib":
        return table.plot(**arguments)
    by: Any = [table.index.get_level_values(n) for n in levels]
    by = table.groupby(by, sort=False, dropna=False, observed=True) if by else [((), table)]
    parts = [(", ".join(map(as_text, key)), part.droplevel(levels)) for key, part in by]
    axes = open_panels([name for name, _ in parts], ax, figsize, size=(3.8, 3.2))
    styles = list(islice(cycle(product(LINE_STYLES, COLOURS)), table.shape[1]))
    looks = {"style": [line for line, _ in styles], "color": [colour for _, colour in styles]}
    arguments = {"ylabel": table.columns.names[0], **looks, **arguments}
    for panel, (name, part) in zip(axes, parts, strict=True):
        part.rename_axis(columns=None).plot(ax=panel, legend=False, **arguments)
        least, most = part.index.min(), part.index.max()
        panel.set_xticks([least, *(k for k in find_axis_of_k(most).ticks if k > least)])
        if levels:
            panel.set_title(_escape_dollars(name))
    if legend:
        _add_legend(axes)
    return axes


def _add_legend(axes: Any) -> None:
    """Add the legend at the right of the first panels, where it covers nothing."""
    axes[:N_ACROSS][-1].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


def _escape_dollars(text: str) -> str:
    """Return a text that Matplotlib draws as it is; dollars would enclose a formula."""
    return text.replace("$", r"\$")
