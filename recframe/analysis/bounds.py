"""Bounds: the lowest and highest means that unjudged rows leave possible."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from recframe.analysis.markup import Cell
from recframe.analysis.paper_tables import ResultTable
from recframe.analysis.pictures import Lines
from recframe.analysis.summary import measure_noted
from recframe.errors import RecframeError, as_text, quote
from recframe.frames.interactions import Interactions
from recframe.frames.tables import make_columns, measure_table
from recframe.frames.values import read_gains
from recframe.metrics.names import Metric, make_metric, show_name
from recframe.notes import note
from recframe.options import Options

BOUNDS = ("low", "high", "judged")
# A further relevant row may raise these metrics, and lowers none of them.
RISING = ("precision", "dcg", "err", "rbp", "hit_rate", "reciprocal_rank")
NEED_RELEVANT = ("hit_rate", "reciprocal_rank")  # These need a relevant row.


class BoundsTable(ResultTable):
    """The table that `df.rec.bounds` returns; pictures and papers show the range of each mean."""

    _numbers, _interval = "mean", "range that unjudged rows leave possible"

    def _lines(self) -> Lines:
        lines = Lines()
        for (score, metric), low, high in zip(self.index, self["low"], self["high"], strict=True):
            lines.setdefault(((), as_text(score)), {})[metric] = Cell(low=low, high=high)
        return lines


def check_bounds(metrics: Sequence[Metric], options: Options) -> None:
    """Raise if a metric has no bounds that are known."""
    names = {one.name for one in metrics}
    if others := [one.label for one in metrics if one.name not in RISING]:
        raise RecframeError(
            f"bounds takes {', '.join(map(show_name, RISING))}, not {quote(others)}; a further "
            "relevant row may raise or lower a metric that divides by the number of relevant or "
            "other items, and changes no other"
        )
    if "dcg" in names and options.min_relevance is not None and options.gain != "binary":
        raise RecframeError(
            "bounds of dcg with grades are not known, as its name has no highest grade. Pass "
            "gain='binary', or name err(max=...) in place of it."
        )
    if options.zero_division != 0 and not names.isdisjoint(NEED_RELEVANT):
        raise RecframeError(
            f"bounds of {' and '.join(NEED_RELEVANT)} need a value for users without a relevant "
            "row, as unjudged rows may be their only ones. Pass zero_division=0.0.",
            {"zero_division": 0.0},
        )


def measure_bounds(
    interactions: Interactions, options: Options, metrics: list[Metric]
) -> pd.DataFrame:
    """Return the lowest and highest values of every user, and the shares of judged rows."""
    unjudged = ~interactions.judged().rows
    raised = interactions._replace(relevant=interactions.relevant | unjudged)
    highest = max(dict(one.parameters).get("max", 0) for one in metrics)  # only err has one
    if highest and (gains := interactions.gains(options.gain)) is not None:
        gain = read_gains(np.array([highest]), None, options.gain)
        of_rows = gains._replace(gain=np.where(unjudged, gain, gains.gain))
        raised = raised._replace(find_gains=lambda _: of_rows)
    low = measure_noted(interactions, options, metrics)
    shares = share_judged(interactions, options, [one.k or len(unjudged) + 1 for one in metrics])
    tables = low, measure_table(raised, options, metrics), shares
    shape = len(low), len(interactions.scores), len(metrics)
    values = np.concatenate([one.to_numpy().reshape(shape) for one in tables], axis=2)
    labels = [f"{bound} {one.label}" for bound in BOUNDS for one in metrics]
    columns = make_columns(list(interactions.scores), labels)
    return pd.DataFrame(values.reshape(len(low), len(columns)), low.index, columns)


def share_judged(
    interactions: Interactions, options: Options, cut_offs: Sequence[int]
) -> pd.DataFrame:
    """Return the expected share of judged rows among each user's first k ranked rows.

    A user with fewer rows has the share of all of them, and a user without a row has NaN.
    """
    options = replace(options, truth=None, unjudged="nonrelevant")
    rule = replace(options, ties="expected", short="shrink", zero_division=np.nan)
    return measure_table(interactions, rule, [make_metric("judged", k) for k in cut_offs])


def bounds_table(means: pd.DataFrame) -> pd.DataFrame:
    """Return means of bounds as a table with a row for each score and metric."""
    labels = means.columns[: means.shape[1] // len(BOUNDS)]
    rows = make_columns(list(means.index), [one.removeprefix("low ") for one in labels])
    values = means.to_numpy().reshape(len(means), len(BOUNDS), -1).swapaxes(1, 2)
    table = BoundsTable(values.reshape(len(rows), -1), rows, BOUNDS)
    if table["low"].equals(table["high"]):
        note(bounds_alike=1)
    return table
