"""The names of metrics in other libraries, and the options that reproduce their values.

Messages know all these names: `df.rec.mean("ndcg_cut_10")` suggests the name here. The guide shows
the table: https://github.com/recframe/recframe/blob/main/examples/guide/conventions.md
"""

import csv
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from recframe.errors import MISSPELT, RecframeError, as_text, find_near, quote

TREC: dict[str, Any] = {"ties": "item", "short": "pad", "zero_division": 0.0}
# The options that reproduce the values of a library.
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
    "RecBole": {"population": "truth", "short": "pad"},
    "Spark": {"short": "pad", "zero_division": 0.0},
    "implicit": {"population": "truth", "short": "pad"},
    "Kaggle": {"short": "pad", "zero_division": 1.0},
}
# Differences that no option removes.
REMAINING: dict[str, str] = {
    "trec_eval": "trec_eval rounds scores to float32 first, which can make ties",
    "ir_measures": "RR@k of ir_measures does not round scores, and ranks ties by name, ascending",
    "ranx": "ranx keeps the order of ties in lists of up to 15 items (ties='first')",
    "RecTools": "RecTools reads ranks, so it has no ties",
    "RePlay": "RePlay ranks ties by item, in descending order (ties='item' by text)",
    "Recommenders": "Recommenders ranks ties by row order; its nDCG gives users without rows 0",
    "LensKit": "LensKit keeps the order of ties, and from 2026.4 leaves out lists without truth",
    "torchmetrics": "torchmetrics sees listed items only, and finds no hit at a score of 0 or less",
    "scikit-learn": "scikit-learn sees listed items only",
    "evidently": "evidently sees listed items only, and truncates mean positions of ties",
    "RecBole": "RecBole ranks ties in any order, and rounds means to four digits",
    "Spark": "Spark reads lists, so it has no ties; its nDCG counts grades if gain='exponential'",
    "implicit": "implicit reads lists of its models, so it has no ties",
    "Kaggle": "ml_metrics reads lists, so it has no ties",
}


class Theirs(NamedTuple):
    """A library's name for a metric, and how its values differ under its options in `LIKE`.

    The metric `equals` here has the same values, or the further `option` gives them; otherwise
    `differs` describes the difference. The library's argument `unless` removes it.
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
        """The difference in words, "" if the values are the same."""
        name, _, value = self.option.partition("=")
        words = self.differs or (self.equals and f"it is `{self.equals}`")
        words = words or (name and f'`{name}="{value}"`')
        return f"{words}, unless `{self.unless}`" if self.unless else words


@cache
def read_library_names() -> list[Theirs]:
    """Return each library's names for metrics; tests compare each with the library."""
    lines = (files("recframe") / "conventions.csv").read_text("utf-8").splitlines()
    return [Theirs(*row) for row in csv.reader(lines[1:])]


def find_options(library: object) -> dict[str, Any]:
    """Return the options that reproduce the values of a library; raise for an unknown one."""
    if isinstance(library, str) and library in LIKE:
        return LIKE[library]
    known = {one.lower(): one for one in LIKE} | {"ml_metrics": "Kaggle"}
    near = find_near(as_text(library).lower(), known, MISSPELT)
    hint = f"; did you mean {known[near[0]]!r}?" if near else ""
    raise RecframeError(
        f"like must be one of {', '.join(map(repr, LIKE))}, but is {quote(library)}{hint}"
    )


def name_map_at_k(library: str) -> str:
    """Return the metric here that a library calls MAP at k."""
    has_cap = any(
        one.library == library and one.metric.startswith("capped_average_precision")
        for one in read_library_names()
    )
    return "capped_average_precision" if has_cap else "average_precision"


def check_like(metrics: Iterable[Any], options: Mapping[str, Any]) -> None:
    """Raise if the library of the option `like` defines one of the metrics otherwise."""
    library = options["like"]
    for metric in metrics:
        base = metric.label.partition("@")[0]
        theirs = [
            one
            for one in read_library_names()
            if one.library == library and one.metric.removesuffix("@k") == metric.name
        ]
        if not theirs or any(_is_alike(one, base, options) for one in theirs):
            continue
        here = "No metric here has its value; leave like out for the one here."
        if equal := theirs[0].equals:
            cut_off = "@k" if metric.k is None else f"@{metric.k}"
            here = f"Pass {equal.replace('@k', cut_off)!r}."
        elif theirs[0].option and not theirs[0].differs:
            here = "Pass this option next to like."
        raise RecframeError(
            f"{metric.label} with like={library!r}: {theirs[0].name} of {library} is another "
            f"metric ({theirs[0].difference}). {here}"
        )


def _is_alike(theirs: Theirs, name: str, options: Mapping[str, Any]) -> bool:
    """Return whether a library's metric has the values of the metric with this name here."""
    if theirs.option:
        option, _, value = theirs.option.partition("=")
        return bool(options[option] == value)
    return not theirs.difference or theirs.equals.partition("@")[0] == name
