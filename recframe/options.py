"""Options: column roles and edge-case policies, with their defaults, choices and meanings."""

import inspect
import math
import os
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar, get_args

import pandas as pd

from recframe.conventions import find_options, name_map_at_k
from recframe.errors import Choice, RecframeError, check_choice, find_near, hide, is_number, quote
from recframe.kernel.ranking import TIE_RULES, TieRule
from recframe.other_tables import TruthLike, load_companion
from recframe.public_calls import CUT_OFFS

Function = TypeVar("Function", bound=Callable[..., Any])

Ties = Literal["expected", "first", "last", "best", "worst", "item"]
Short = Literal["raise", "pad", "shrink", "nan"]
Missing = Literal["raise", "unranked", "drop"]
Duplicates = Literal["raise", "max", "first", "keep"]
Population = Literal["raise", "both", "truth", "rows", "all"]
Unjudged = Literal["nonrelevant", "drop"]
Gain = Literal["linear", "exponential", "binary"]
NullRelevance = Literal["raise", "nonrelevant"]

INFER = "infer"
# Keys of `DataFrame.attrs`.
EMPTY = "recframe_empty_lists"  # rows without item and score stand for lists without items
LIST = "list_number"  # the column that tells the lists of files and engines apart
LISTS = "recframe_lists"  # columns of lists, and the separators of those that are text
ROLE_LABELS = "recframe_roles"  # the labels of items and scores that their names do not say
NEGATED = "recframe_negated"  # the field of lists whose negative is the score
MADE = "recframe_options"  # the options that made a table of users, as texts
POSITIONS = "recframe_positions"  # the number of ids by role, if ids are positions in a matrix
LABELS = ("user", "item", "relevant", "score", "model", "truth_user", "truth_item")
SEVERAL = ("user", "score", "truth_user")  # options that take a list of labels too
MAY_BE_NONE = ("user", "relevant", "model")  # labels that may be None


def _define_option(default: Any, meaning: str, *meanings: str) -> Any:
    """Return the field of an option; its choices, if any, have `meanings` in their order."""
    return field(default=default, metadata={"meaning": meaning, "meanings": meanings})


class Models(NamedTuple):
    """The column that names the model of each row, and the names in it."""

    label: Hashable
    names: list[Hashable]

    def __repr__(self) -> str:
        """Return the label as Python writes it."""
        return repr(self.label)


@dataclass(frozen=True)
class Options:
    """How a frame is read and how edge cases count. Values are checked when it is made."""

    user: Hashable | list[Hashable] | None = _define_option(
        INFER, "column of users; several: each combination is one"
    )
    item: Hashable = _define_option(INFER, "column of items")
    score: Hashable | list[Hashable] = _define_option(
        INFER, "column to rank by; several: each is a model"
    )
    ascending: bool | list[bool] | None = _define_option(
        None,
        "the lowest score is the best, as for distances; by default the highest is, and a score "
        "named like a distance, rank or loss is refused",
    )
    relevant: Hashable | None = _define_option(INFER, "column of relevance")
    model: Hashable | None = _define_option(
        INFER,
        "column that names the model of each row; each model becomes a score column. By default, a "
        "column such as model or run that varies within a user's rows is refused",
    )
    ties: Ties = _define_option(
        "expected",
        "the order of rows with equal scores",
        "the mean over all orders, computed exactly",
        "row order",
        "reverse row order",
        "relevant rows first",
        "relevant rows last",
        "by item id as text, in descending order",
    )
    short: Short = _define_option(
        "raise",
        "a user with fewer than k ranked rows",
        "refuse",
        "divide by k: missing rows count as misses",
        "use min(k, n) in place of k in precision, f1, judged, and means and diversity of a column",
        "give no value",
    )
    missing: Missing = _define_option(
        "raise",
        "a row whose score is null or -inf, a mask (inf if the lowest is best)",
        "refuse",
        "leave the row out of the ranking, but count its relevance",
        "remove rows with a null in any column used",
    )
    duplicates: Duplicates = _define_option(
        "raise",
        "rows that repeat a user and item, if the frame has items",
        "refuse",
        "make them one row with the best scores and the highest relevance",
        "take the first",
        "count every row",
    )
    zero_division: float = _define_option(
        math.nan, "the value if a denominator is 0, such as R (relevant items); means leave out NaN"
    )
    min_relevance: float | None = _define_option(None, "rows at or above it are relevant")
    trusted_min_relevance: float | None = _define_option(
        None, "the same for labels of people, which some methods take as trusted="
    )
    null_relevance: NullRelevance = _define_option(
        "raise",
        "a null relevance, such as an item not rated",
        "refuse",
        "count it as not relevant",
    )
    gain: Gain = _define_option(
        "linear",
        "the gain of a row in nDCG, DCG and ERR under `min_relevance`",
        "its relevance, also below the threshold",
        "2^relevance - 1, also below the threshold",
        "1 from the threshold on",
    )
    min_score: float | None = _define_option(
        None, "rows below it are not ranked, but their relevance counts; -inf ranks all rows"
    )
    truth: TruthLike | None = _define_option(
        None,
        "the relevant items of each user, listed or not; `relevant` and `min_relevance` then "
        "apply to its column",
    )
    truth_user: Hashable | list[Hashable] = _define_option(
        INFER, "column of users in truth; as many as the frame has"
    )
    truth_item: Hashable = _define_option(INFER, "column of items in truth, or of lists of items")
    population: Population = _define_option(
        "raise",
        "the users that count if those of the frame and truth differ",
        "refuse",
        "users of both",
        "users of truth; those without a row have an empty list",
        "users of the frame",
        "all users",
    )
    exclude: TruthLike | None = _define_option(
        None,
        "pairs of user and item that are no candidates, such as those seen in training: their rows "
        "leave the frame before anything is ranked; truth stays as it is",
    )
    unjudged: Unjudged = _define_option(
        "nonrelevant",
        "rows whose user and item are not in truth",
        "rank them as not relevant",
        "leave them out before anything is ranked",
    )
    like: str | None = _define_option(
        None, "a library whose conventions apply; options that you give win"
    )

    def __post_init__(self) -> None:
        """Raise `RecframeError` for a value that an option does not take."""
        for name, choices in CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        for name in LABELS:
            self._check_labels(name)
        self._check_numbers()
        self._check_pairs()
        for name in ("truth", "exclude"):
            object.__setattr__(self, name, load_companion(name, getattr(self, name)))

    def _check_labels(self, name: str) -> None:
        """Raise unless an option is a column label, or a list of them if it takes one."""
        value = getattr(self, name)
        if isinstance(value, Models):  # `_bind` made it from a label
            return
        several = " or a list of labels" if name in SEVERAL else ""
        labels = value if several and isinstance(value, list) else [value]
        may_be_none = name in MAY_BE_NONE and labels is not value
        if not all(is_key(one) and (may_be_none or one is not None) for one in labels):
            raise RecframeError(f"{name} must be a column label{several}, but is {quote(value)}")

    def _check_numbers(self) -> None:
        """Raise if an option that takes numbers or directions has another value."""
        directions = self.ascending if isinstance(self.ascending, list) else [self.ascending]
        if self.ascending is not None and not all(isinstance(one, bool) for one in directions):
            raise RecframeError(
                f"ascending must be True, False or a list of these, but is {quote(self.ascending)}"
            )
        number: Any = self.zero_division
        if not is_number(number) or (number not in (0, 1) and number == number):
            raise RecframeError(f"zero_division must be NaN, 0.0 or 1.0, but is {quote(number)}")
        for name in ("min_relevance", "trusted_min_relevance", "min_score"):
            number = getattr(self, name)
            if number is not None and not (is_number(number) and number == number):  # not NaN
                raise RecframeError(f"{name} must be a number or None, but is {quote(number)}")

    def _check_pairs(self) -> None:
        """Raise if two options contradict each other, or one lacks the other."""
        is_reversed = any(self.ascending) if isinstance(self.ascending, list) else self.ascending
        if is_reversed and self.min_score is not None:
            raise RecframeError(
                f"min_score={quote(self.min_score)} with ascending={quote(self.ascending)} could "
                "mean either side; in place of min_score set the scores that are not recommended "
                "to null and pass missing='unranked', or negate the column"
            )
        if self.tie_rule.by_item and self.duplicates == "keep":
            raise RecframeError(
                "ties='item' with duplicates='keep' gives rows of one user, item and score no "
                "order. Pass duplicates='max' to make them one row."
            )
        if self.unjudged == "drop" and self.truth is None:
            raise RecframeError(
                "unjudged='drop' leaves out the rows that truth does not hold, but truth is not "
                "passed. Pass truth="
            )

    def __repr__(self) -> str:
        """Return the options and their values; paths show no passwords."""
        values = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self))
        return hide(f"Options({', '.join(values)})")

    @property
    def has_truth(self) -> bool:
        """Whether relevance comes from another frame."""
        return self.truth is not None

    @property
    def needs_item(self) -> bool:
        """Whether pairs of user and item are looked up."""
        return self.has_truth or self.exclude is not None

    @property
    def is_condensed(self) -> bool:
        """Whether only rows whose pair is in truth are ranked."""
        return self.unjudged == "drop"

    @property
    def map_at_k(self) -> str:
        """The metric that the library of `like` calls MAP at k, "" without a library."""
        return "" if self.like is None else name_map_at_k(self.like)

    @property
    def tie_rule(self) -> TieRule:
        """The kernel's rule for `ties`."""
        return TIE_RULES[self.ties]

    def check_unordered(self, engine: str) -> None:
        """Raise if an option depends on the order of rows; the engine does not keep it."""
        lost = f"reads the order of rows, which {engine} does not keep. Pass"
        if self.tie_rule.row_order:
            raise RecframeError(
                f"ties={self.ties!r} {lost} ties='expected', 'best', 'worst' or 'item'."
            )
        if self.duplicates == "first":
            raise RecframeError(f"duplicates='first' {lost} duplicates='max' or 'keep'.")


class OptionArguments(TypedDict, total=False):
    """The options as keyword arguments, for type checkers and editors."""

    user: Hashable | list[Hashable] | None
    item: Hashable
    score: Hashable | list[Hashable]
    ascending: bool | list[bool] | None
    relevant: Hashable | None
    model: Hashable | None
    ties: Ties
    short: Short
    missing: Missing
    duplicates: Duplicates
    zero_division: float
    min_relevance: float | None
    trusted_min_relevance: float | None
    null_relevance: NullRelevance
    gain: Gain
    min_score: float | None
    truth: TruthLike | None
    truth_user: Hashable | list[Hashable]
    truth_item: Hashable
    population: Population
    exclude: TruthLike | None
    unjudged: Unjudged
    like: str | None


# Arguments of methods and metrics that callers pass as options by mistake.
NO_OPTIONS = {
    **dict.fromkeys(
        CUT_OFFS, ". Pass a cut-off to the metric: df.rec.recall(k=4), or 'recall@4' by its name."
    ),
    "metrics": ". Pass metrics to a method: df.rec.evaluate(['recall@4', 'ndcg@4']).",
}
DEFAULTS = {option.name: option.default for option in fields(Options)}
MEANINGS: dict[str, str] = {option.name: option.metadata["meaning"] for option in fields(Options)}
# The choices of options with their meanings.
CHOICES: dict[str, dict[str, str]] = {
    option.name: dict(zip(get_args(option.type), meanings, strict=True))
    for option in fields(Options)
    if (meanings := option.metadata["meanings"])
}
EDGE_CASES = (*CHOICES, "zero_division", "min_relevance", "min_score")  # they change values


def make_options(values: Mapping[str, Any]) -> Options:
    """Return the options with these values by name; raise `RecframeError` for an unknown name."""
    for name in values:
        if name not in DEFAULTS:
            near = find_near(name, DEFAULTS)
            hint = f", did you mean {near[0]!r}? Options" if near else "; options"
            hint += f" are {', '.join(DEFAULTS)}"
            raise RecframeError(f"unknown option {quote(name)}{NO_OPTIONS.get(name, hint)}")
    library = values.get("like")
    if library is not None:
        values = {**find_options(library), **values}
    return Options(**values)


def is_key(value: object) -> bool:
    """Return whether a value is hashable; the members of a tuple are checked too."""
    try:
        hash(value)
    except Exception:  # a member may raise any exception
        return False
    return True


def spell_options(function: Function) -> Function:
    """Return the function with a signature at run time that lists every option, for notebooks.

    Type checkers read `OptionArguments` instead.
    """
    signature = inspect.signature(function)
    arguments = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    by_name = inspect.Parameter.KEYWORD_ONLY
    for one in fields(Options):
        argument = inspect.Parameter(one.name, by_name, default=one.default, annotation=one.type)
        arguments.append(argument)
    function.__signature__ = signature.replace(parameters=arguments)  # type: ignore[attr-defined]  # every function takes one
    return function


def spell_arguments(arguments: dict[str, Any]) -> list[str]:
    """Return each argument as Python code, in the order of the options."""
    return [
        f"{name}={_format_value(name, arguments[name])}" for name in DEFAULTS if name in arguments
    ]


def spell_made(options: Options) -> dict[str, str]:
    """Return the options that change the values of a table, as texts by name."""
    values: dict[str, Any] = {name: getattr(options, name) for name in EDGE_CASES}
    values |= {"truth": options.has_truth, "exclude": options.exclude is not None}
    # 2 and 2.0 are one threshold; larger integers may have no float.
    small = [name for name, one in values.items() if type(one) is int and abs(one) < 1 << 53]
    return {name: quote(float(one) if name in small else one) for name, one in values.items()}


def list_changed(options: Options) -> dict[str, Any]:
    """Return the options that differ from their defaults."""
    return {
        name: value
        for name, value in vars(options).items()
        if _format_value(name, value) != _format_value(name, DEFAULTS[name])
    }


def _format_value(name: str, value: Any) -> str:
    """Return a value as Python code; a frame is shown by the name of its option."""
    if value is ... or isinstance(value, Choice):
        return "..."
    if isinstance(value, pd.DataFrame):
        return name
    return quote(os.fspath(value) if isinstance(value, os.PathLike) else value)
