"""Options: the column roles and the edge-case policies, with their names, defaults and choices."""

import math
import os
from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Real
from typing import Literal, get_args

import pandas as pd

from recframe.errors import RecframeError
from recframe.metrics.definitions import Policy

Ties = Literal["expected", "first", "last", "best", "worst"]
Short = Literal["raise", "pad", "shrink", "nan"]
Missing = Literal["raise", "unranked", "drop"]
Absent = Literal["zero", "drop"]
Gain = Literal["linear", "exponential"]
TruthLike = pd.DataFrame | str | os.PathLike[str]

CHOICES: dict[str, tuple[str, ...]] = {
    "ties": get_args(Ties),
    "short": get_args(Short),
    "missing": get_args(Missing),
    "gain": get_args(Gain),
    "absent": get_args(Absent),
}
ZERO_DIVISIONS = (math.nan, 0.0, 1.0)
INFER = "infer"

# What each option means, in a line; the command line prints it as help.
MEANINGS = {
    "user": "column of user ids",
    "item": "column of item ids",
    "score": "column to rank by; once for each model",
    "relevant": "column of relevance",
    "ties": "order of rows with equal scores: exact expectation over all orders, row order, "
    "reverse row order, relevant rows first, relevant rows last",
    "short": "a user with fewer than k ranked rows: refuse, divide by k all the same, divide "
    "precision (and that in f1) by the rows there are, no value",
    "missing": "a null score: refuse, leave the row out of the ranking but count its relevance, "
    "remove rows with a null in any column used",
    "zero_division": "value where a denominator is 0, as of all metrics but precision without "
    "relevant items",
    "min_relevance": "rows at or above it are relevant",
    "gain": "what a relevant row adds to nDCG under --min-relevance: its relevance, "
    "2^relevance - 1",
    "min_score": "rows below it are not recommended, but count in recall's denominator",
    "truth": "parquet file of the relevant items: relevance comes from there, and counts whether "
    "an item is listed or not; --relevant and --min-relevance then speak of its column",
    "truth_user": "column of user ids in truth",
    "truth_item": "column of item ids in truth",
    "absent": "a user of truth for whom nothing is listed: score 0, leave out",
}


@dataclass(frozen=True)
class Options:
    """How a frame is read and what its edge cases mean; checked when made."""

    user: Hashable | None = INFER
    item: Hashable = INFER
    score: Hashable | list[Hashable] = INFER
    relevant: Hashable = INFER
    ties: Ties = "expected"
    short: Short = "raise"
    missing: Missing = "raise"
    zero_division: float = math.nan
    min_relevance: float | None = None
    gain: Gain = "linear"
    min_score: float | None = None
    truth: TruthLike | None = None
    truth_user: Hashable = INFER
    truth_item: Hashable = INFER
    absent: Absent = "zero"

    def __post_init__(self) -> None:
        """Raise `RecframeError` for a value outside an option's choices."""
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in choices:
                raise RecframeError(f"{name} must be one of {_listed(choices)}, found {value!r}")
        for name in ("user", "item", "relevant", "score", "truth_user", "truth_item"):
            label = getattr(self, name)
            labels = label if name == "score" and isinstance(label, list) else [label]
            if not all(isinstance(label, Hashable) for label in labels):
                raise RecframeError(f"{name} must be {_shape(name)}, found {label!r}")
        number = self.zero_division
        if not _is_number(number) or not (number in (0, 1) or math.isnan(number)):
            raise RecframeError(f"zero_division must be NaN, 0.0 or 1.0, found {number!r}")
        for name in ("min_relevance", "min_score"):
            number = getattr(self, name)
            if number is not None and (not _is_number(number) or math.isnan(number)):
                raise RecframeError(f"{name} must be a number or None, found {number!r}")
        if self.truth is not None and not isinstance(self.truth, pd.DataFrame | str | os.PathLike):
            raise RecframeError(
                "truth must be a pandas DataFrame or the path of a parquet file, "
                f"found {type(self.truth)}"
            )

    @property
    def policy(self) -> Policy:
        """What the metrics need to know."""
        absent = None if self.truth is None else self.absent
        return Policy(self.short, float(self.zero_division), absent)


def _shape(role: str) -> str:
    """Return what an option that names columns takes, as a sentence part."""
    return "a column label or a list of labels" if role == "score" else "a column label"


def _is_number(value: object) -> bool:
    """Return whether a value is a real number, which a boolean is not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _listed(names: tuple[str, ...]) -> str:
    """Return names quoted, as a sentence part."""
    return ", ".join(repr(name) for name in names)
