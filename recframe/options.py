"""Options: the column roles and the edge-case policies, with defaults, choices and meanings."""

import inspect
import math
import os
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar, get_args

import pandas as pd

from recframe.calls import CUT_OFFS
from recframe.conventions import LIKE
from recframe.errors import Choice, RecframeError, find_near, hide, is_number, option, quote, spell
from recframe.foreign import TABLE_OR, TruthLike, load_table, read_frame, read_views
from recframe.kernel.ranking import TIE_RULES, TieRule

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
LOADED = "recframe_loaded"  # of frames that were tables of another library
MODELS = "recframe_models"  # of frames of several models: their columns
POSITIONS = "recframe_positions"  # of frames whose ids number a matrix: how many, by role
SEVERAL = ("user", "score", "truth_user")  # which a list of labels may be given for


def _option(default: Any, takes: Any, meaning: str) -> Any:
    """Return the field of an option: what it takes, a text or a Literal, and what that means."""
    return field(default=default, metadata={"takes": takes, "meaning": meaning})


class Models(NamedTuple):
    """A column that says which model a row is of, and all that it holds."""

    label: Hashable
    names: list[Hashable]

    def __repr__(self) -> str:
        """Return the label, as it was given."""
        return repr(self.label)


@dataclass(frozen=True)
class Options:
    """How a frame is read and what its edge cases mean; checked when made."""

    user: Hashable | list[Hashable] | None = _option(
        INFER, "label, list of labels, or None", "column of users; several: each combination is one"
    )
    item: Hashable = _option(INFER, "label", "column of items")
    score: Hashable | list[Hashable] = _option(
        INFER, "label or list of labels", "column to rank by; several: each is a model"
    )
    ascending: bool | list[bool] | None = _option(
        None,
        "bool, list of bool, or None",
        "the lowest score is the best, as for distances; by default the highest is, and a score "
        "named like a distance, rank or loss is refused",
    )
    relevant: Hashable | None = _option(
        INFER, "label, or None where every pair of truth is relevant", "column of relevance"
    )
    model: Hashable | None = _option(
        INFER,
        "label or None",
        "column that names the model of each row; each model becomes a score column. By default, a "
        "column such as model or run that varies within a user's rows is refused",
    )
    ties: Ties = _option(
        "expected",
        Ties,
        "rows of equal score: exact expectation over all orders, row order, reverse row order, "
        "relevant rows first, relevant rows last, by item id as text, last first",
    )
    short: Short = _option(
        "raise",
        Short,
        "a user with fewer than k ranked rows: refuse, divide by k all the same, divide by the "
        "rows there are (precision, that in f1, items that lists share), no value",
    )
    missing: Missing = _option(
        "raise",
        Missing,
        "a null score, or one of -inf (inf where the lowest is best), which masks its row: refuse, "
        "leave the row out of the ranking but count its relevance, remove rows with a null in any "
        "column used",
    )
    duplicates: Duplicates = _option(
        "raise",
        Duplicates,
        "rows of one user and item, where the frame has items: refuse, make them one row with its "
        "best scores and highest relevance, take the first, count every row",
    )
    zero_division: float = _option(
        math.nan, "{nan, 0.0, 1.0}", "value where a denominator is 0, such as R (relevant items)"
    )
    min_relevance: float | None = _option(None, "float", "rows at or above it are relevant")
    null_relevance: NullRelevance = _option(
        "raise", NullRelevance, "a null relevance, such as an item not rated: refuse, not relevant"
    )
    gain: Gain = _option(
        "linear",
        Gain,
        "the gain of a row in nDCG, DCG and ERR under `min_relevance`: its relevance (whatever "
        "that threshold is), 2^relevance - 1, or 1 from the threshold on",
    )
    min_score: float | None = _option(
        None,
        "float",
        "rows below it are not ranked, but their relevance counts; -inf ranks all rows",
    )
    truth: TruthLike | None = _option(
        None,
        "DataFrame, Arrow table or path",
        "the relevant items of every user, listed or not; `relevant` and `min_relevance` then "
        "apply to its column",
    )
    truth_user: Hashable | list[Hashable] = _option(
        INFER, "label or list of labels", "column of users in truth; as many as the frame has"
    )
    truth_item: Hashable = _option(INFER, "label", "column of items in truth")
    population: Population = _option(
        "raise",
        Population,
        "users of the table if the frame and truth differ: refuse, those with rows in "
        "both, those of truth (without rows an empty list), those of the frame, those of either",
    )
    exclude: TruthLike | None = _option(
        None,
        "DataFrame, Arrow table or path",
        "pairs of user and item that are no candidates, such as those seen in training: their rows "
        "leave the frame before anything is ranked; truth stays as it is",
    )
    unjudged: Unjudged = _option(
        "nonrelevant",
        Unjudged,
        "rows whose pair truth does not hold: not relevant, left out before anything is ranked",
    )
    like: str | None = _option(
        None, "a library", "a library whose conventions apply; options that you give win"
    )

    def __post_init__(self) -> None:
        """Raise `RecframeError` for a value that an option does not take."""
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in choices:
                listed = ", ".join(map(repr, choices))
                raise RecframeError(f"{name} must be one of {listed}, found {quote(value)}")
        if self.tie_rule.by_item and self.duplicates == "keep":
            raise RecframeError(
                "ties='item' with duplicates='keep' gives rows of one user, item and score no "
                f"order; pass {option('duplicates', 'max')} to make them one row"
            )
        for name in ("user", "item", "relevant", "score", "model", "truth_user", "truth_item"):
            given = getattr(self, name)
            if isinstance(given, Models):  # made of a label, once the frame is known
                continue
            several = " or a list of labels" if name in SEVERAL else ""
            labels = given if several and isinstance(given, list) else [given]
            may_be_none = name in ("user", "relevant", "model") and labels is not given
            if not all(is_key(label) and (may_be_none or label is not None) for label in labels):
                raise RecframeError(f"{name} must be a column label{several}, found {quote(given)}")
        directions = self.ascending if isinstance(self.ascending, list) else [self.ascending]
        if self.ascending is not None and not all(isinstance(one, bool) for one in directions):
            raise RecframeError(
                f"ascending must be True, False or a list of these, found {quote(self.ascending)}"
            )
        if any(directions) and self.min_score is not None:
            raise RecframeError(
                f"min_score={quote(self.min_score)} with ascending={quote(self.ascending)} could "
                "mean either side; in place of min_score set the scores that are not recommended "
                f"to null and pass {option('missing', 'unranked')}, or negate the column"
            )
        number = self.zero_division
        if not is_number(number) or (number not in (0, 1) and number == number):
            raise RecframeError(f"zero_division must be NaN, 0.0 or 1.0, found {quote(number)}")
        for name in ("min_relevance", "min_score"):
            number = getattr(self, name)
            if number is not None and not (is_number(number) and number == number):  # not NaN
                raise RecframeError(f"{name} must be a number or None, found {quote(number)}")
        for name in ("truth", "exclude"):
            given = getattr(self, name)
            if isinstance(given, pd.DataFrame):
                object.__setattr__(self, name, read_views(given))
            if given is None or isinstance(given, pd.DataFrame) or is_path(given):
                continue
            required = f"{TABLE_OR}the path of a file"
            # Read once: what runs a query, or has its rows once, is a frame from here on.
            frame = read_frame(load_table(name, required, given))
            frame.attrs[LOADED] = True
            object.__setattr__(self, name, frame)
        if self.unjudged == "drop" and self.truth is None:
            raise RecframeError(
                "unjudged='drop' leaves out the rows that truth does not hold, found no truth; "
                f"pass {spell('truth=', '--truth FILE')}"
            )

    def __repr__(self) -> str:
        """Return the options as they were given, without what is secret in paths."""
        given = (f"{option.name}={getattr(self, option.name)!r}" for option in fields(self))
        return hide(f"Options({', '.join(given)})")

    @property
    def has_truth(self) -> bool:
        """Whether relevance comes from another frame."""
        return self.truth is not None

    @property
    def needs_item(self) -> bool:
        """Whether rows are looked up by user and item."""
        return self.has_truth or self.exclude is not None

    @property
    def is_condensed(self) -> bool:
        """Whether only rows that truth holds are ranked."""
        return self.unjudged == "drop"

    @property
    def tie_rule(self) -> TieRule:
        """What `ties` means to the kernel."""
        return TIE_RULES[self.ties]

    def check_unordered(self, engine: str) -> None:
        """Raise where an option reads the order of rows, which an engine does not keep."""
        lost = f"reads the order of rows, which {engine} does not keep; pass"
        if self.tie_rule.row_order:
            raise RecframeError(
                f"ties={self.ties!r} {lost} ties='expected', 'best', 'worst' or 'item'"
            )
        if self.duplicates == "first":
            raise RecframeError(f"duplicates='first' {lost} duplicates='max' or 'keep'")


class OptionArguments(TypedDict, total=False):
    """The options as keyword arguments, for static readers of functions that pass them on."""

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


ELSEWHERE = {  # what is taken for an option
    **dict.fromkeys(
        CUT_OFFS, ", which a metric takes: df.rec.recall(k=4), or 'recall@4' by its name"
    ),
    "metrics": ", which a method takes: df.rec.evaluate(['recall@4', 'ndcg@4'])",
}
DEFAULTS = {option.name: option.default for option in fields(Options)}
MEANINGS = {option.name: option.metadata["meaning"] for option in fields(Options)}
CHOICES: dict[str, tuple[str, ...]] = {
    option.name: choices
    for option in fields(Options)
    if (choices := get_args(option.metadata["takes"]))
}


def make_options(given: Mapping[str, Any]) -> Options:
    """Return options given by name, or raise `RecframeError` for one that is not there."""
    for name in given:
        if name not in DEFAULTS:
            near = find_near(name, DEFAULTS)
            hint = f", did you mean {near[0]!r}?" if near else ""
            hint += f"; options are {', '.join(DEFAULTS)}"
            raise RecframeError(f"unknown option {quote(name)}{ELSEWHERE.get(name, hint)}")
    library = given.get("like")
    if library is not None:
        if not is_key(library) or library not in LIKE:
            near = find_near(library, LIKE)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise RecframeError(
                f"like must be one of {', '.join(map(repr, LIKE))}, found {quote(library)}{hint}"
            )
        given = {**LIKE[library], **given}
    return Options(**given)


def is_key(value: object) -> bool:
    """Return whether a value can be a label or an id, which `Hashable` says of too many."""
    try:
        hash(value)
    except Exception:  # of a tuple, what its members raise
        return False
    return True


def is_path(path: object) -> bool:
    """Return whether a value is a path, whatever it leads to."""
    return isinstance(path, str | os.PathLike) and isinstance(os.fspath(path), str)


def spell_options(function: Function) -> Function:
    """Return a function whose signature at run time, which notebooks complete, has every option.

    Static readers see the types of `OptionArguments`.
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
    """Return each argument as it is written, in the order of the options."""
    return [f"{name}={_spell(name, arguments[name])}" for name in DEFAULTS if name in arguments]


def list_changed(options: Options) -> dict[str, Any]:
    """Return the options that differ from their defaults."""
    return {
        name: value
        for name, value in vars(options).items()
        if _spell(name, value) != _spell(name, DEFAULTS[name])
    }


def _spell(name: str, value: Any) -> str:
    """Return a value as it is written in a call; a frame under the name of its option."""
    if isinstance(value, Choice):
        return "..."
    if isinstance(value, pd.DataFrame):
        return name
    return quote(os.fspath(value) if isinstance(value, os.PathLike) else value)
