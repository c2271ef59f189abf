"""What other libraries call each metric, and the options that give their figures.

Messages know all these names: `df.rec.mean("ndcg_cut_10")` says what it is here. The guide shows
the table: https://github.com/recframe/recframe/blob/main/examples/guide/conventions.md
"""

import csv
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from recframe.errors import RecframeError

TREC: dict[str, Any] = {"ties": "item", "short": "pad", "zero_division": 0.0}
# The options with which figures are those of a library, where names do not differ.
LIKE: dict[str, dict[str, Any]] = {
    "trec_eval": {"population": "both", **TREC},
    "ir_measures": {"population": "truth", **TREC},
    "ranx": {"population": "truth", "short": "pad", "zero_division": 0.0},
    "RecTools": {"population": "truth", "short": "pad"},
    "RePlay": {"population": "truth", "short": "pad"},
    "Recommenders": {"population": "both", "short": "pad"},
    "LensKit": {"population": "rows", "short": "shrink", "zero_division": 0.0},
    "torchmetrics": {"short": "pad", "zero_division": 0.0},
    "scikit-learn": {"short": "pad", "zero_division": 0.0},
    "evidently": {"short": "pad"},
}
# What no option does.
LEFT: dict[str, str] = {
    "trec_eval": "trec_eval cuts scores to float32 first, which can make ties",
    "ir_measures": "RR@k of ir_measures does not cut scores, and ranks ties first name first",
    "ranx": "ranx keeps the order of ties in lists of up to 15 items (ties='first')",
    "RecTools": "RecTools has ranks, and no ties",
    "RePlay": "RePlay ranks ties by item, the last first (ties='item' by text)",
    "Recommenders": "Recommenders goes by row order, and its nDCG counts users without a row as 0",
    "LensKit": "LensKit keeps the order of ties",
    "torchmetrics": "torchmetrics sees listed items only, and finds no hit at a score of 0 or less",
    "scikit-learn": "scikit-learn sees listed items only",
    "evidently": "evidently sees listed items only, and cuts mean positions of ties to integers",
}


class Theirs(NamedTuple):
    """A library's name for a metric, and how its figures differ under its options in `LIKE`.

    They are those of the metric `equals` here, or those under the further `option`; for others
    `differs` says how. The argument `unless` of the library takes the difference away.
    """

    metric: str
    library: str
    name: str
    differs: str
    equals: str
    option: str
    unless: str

    @property
    def difference(self) -> str:
        """The difference in words, "" where there is none."""
        name, _, value = self.option.partition("=")
        words = self.differs or (self.equals and f"it is `{self.equals}`")
        words = words or (name and f'`{name}="{value}"`')
        return f"{words}, unless `{self.unless}`" if self.unless else words


@cache
def read_names() -> list[Theirs]:
    """Return the names of libraries for metrics; tests assert each difference with the library."""
    lines = (files("recframe") / "conventions.csv").read_text("utf-8").splitlines()
    return [Theirs(*row) for row in csv.reader(lines[1:])]


def check_like(metrics: Iterable[Any], options: Mapping[str, Any]) -> None:
    """Raise where the library that options are like defines one of the metrics otherwise."""
    library = options["like"]
    for metric in metrics:
        base = metric.label.partition("@")[0]
        theirs = [
            one
            for one in read_names()
            if one.library == library and one.metric.removesuffix("@k") == metric.name
        ]
        if not theirs or any(_is_alike(one, base, options) for one in theirs):
            continue
        here = "no metric here has its figure; leave like out for the one here"
        if equal := theirs[0].equals:
            cut_off = "@k" if metric.k is None else f"@{metric.k}"
            here = f"pass {equal.replace('@k', cut_off)!r}"
        raise RecframeError(
            f"{metric.label} with like={library!r}: {theirs[0].name} of {library} is another "
            f"metric ({theirs[0].difference}); {here}"
        )


def _is_alike(theirs: Theirs, name: str, options: Mapping[str, Any]) -> bool:
    """Return whether figures of a library are those of a metric, by its name with parameters."""
    if theirs.option:
        option, _, value = theirs.option.partition("=")
        return bool(options[option] == value)
    return not theirs.difference or theirs.equals.partition("@")[0] == name
