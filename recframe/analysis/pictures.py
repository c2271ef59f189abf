"""Pictures: dots and intervals, drawn by Matplotlib, which is an extra."""

import math
import textwrap
from collections.abc import Hashable
from itertools import chain, cycle, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from recframe.analysis.display import import_extra, title_of
from recframe.errors import RecframeError, quote

# That colour-blind readers tell apart (M. Okabe and K. Ito, "Color universal design", 2008).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = "os^Dv"  # the next after each round of colours
N_ACROSS = 4  # panels
Group: TypeAlias = tuple[str, ...]  # a segment, and the baseline where there are several


class Cell(NamedTuple):
    """What a table has of a model in a metric."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    is_significant: bool = False
    is_best: bool = False


Lines = dict[tuple[Group, str], dict[Hashable, Cell]]  # by group and model


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
