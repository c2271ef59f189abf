"""The names of columns that mean a role, and the columns of a frame by their labels."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from recframe.errors import MissingColumnError, RecframeError, as_text, find_near, quote, shorten
from recframe.frames.words import (
    N_KEPT,
    ends_in,
    has_word,
    less_is_better,
    may_be_score,
    split_words,
)
from recframe.kernel.threads import Array
from recframe.options import INFER, is_key

SHOWN = 12  # labels in a message
POSITIVE = ("1", "pos", "positive", "true", "yes")  # ends of the name of a class
N_ROWS_ADDED = 1_000  # rows in which two probabilities must sum to 1
NUMBER_AS_NAME = re.compile(r"\s*-?(\d+(\.\d*)?|\.\d+)([eE]-?\d+)?\s*")
TYPE_OR_SEPARATOR = re.compile(r":(token|float)(_seq)?$|[\s_.-]")


# Names are compared in lower case, without spaces, underscores, hyphens and dots. A star stands for
# "" or "id".
WORDS_OF_ROLES = {
    "user": "user* query* customer* uid qid member* visitor* question* topic* object* accountid "
    "clientid personid profileid reviewerid session* request* impressionid useridx userindex "
    "useruuid userinput",
    "item": "item* doc* document* product* movie* track* song* article* video* book* passage* "
    "chunk* candidate* items iid docno corpusid sku asin isbn newsid recipeid gameid listingid "
    "businessid contentid postid itemidx itemindex itemuuid",
    "score": "score prediction similarity pred sim scores predictions est similarities "
    "predictedrating ypred yscore",
    "relevant": "relevant relevance label rating isrelevant rel isrel qrel judgment judgement "
    "target groundtruth ytrue grade rui click clicked isclicked isclick purchase purchased "
    "ispurchase ispurchased bought isbought buy isbuy booked isbooked conversion converted "
    "isconverted like liked islike isliked follow followed isfollow addtocart",
}
# The only column of numbers with one of these names is the score, if no column is named as one.
WORDS_OF_SCORES_ALONE = (
    "prob proba probability predproba ypredproba predictproba predictedprobability predicted yhat "
    "logit logits bm25 cosinesim dotproduct innerproduct affinity predrating ratingpred "
    "estimatedrating pctr"
)
SCORES_ALONE = frozenset(WORDS_OF_SCORES_ALONE.split())
NAMES = {
    role: list(
        dict.fromkeys(word.replace("*", end) for word in words.split() for end in ("", "id"))
    )
    for role, words in WORDS_OF_ROLES.items()
}
ROLES = {name: role for role, names in NAMES.items() for name in names}
# A column of models may tell several rankings of a user apart.
ROLES |= dict.fromkeys(("model", "run", "system", "retriever", "algorithm", "variant"), "model")
ID_KINDS = "iuOUm"  # the kinds of dtypes that ids may have


@lru_cache(N_KEPT)
def find_role(label: Hashable) -> str | None:
    """Return the role that a name means, None if it means no role."""
    name = plain_name(label)
    is_merged = name.endswith("idx") and split_words(label)[-1] == "x"  # An example is item_id_x.
    return None if is_merged else ROLES.get(name)


def means_role(label: Hashable) -> bool:
    """Return whether a name means a role, as score_knn does too."""
    return find_role(label) is not None or may_be_score(label)


def may_be_item(label: Hashable) -> bool:
    """Return whether the last word of a name, such as next_item or parent_asin, is an item."""
    *_, before, last = ("", *split_words(label))
    names = (last, before) if ends_in(label, "id") else (last,)
    return "item" in map(find_role, names) and not has_word(label, "statistic")


def is_same(name: Any, label: Any) -> bool:
    """Return whether two labels are equal."""
    try:
        return name is label or bool(name == label)
    except Exception:  # Labels that cannot be compared, such as pd.NA, equal only themselves.
        return False


def is_infer(label: object) -> bool:
    """Return whether a label asks for inference."""
    return isinstance(label, str) and label == INFER


def as_labels(labels: Any) -> list[Hashable]:
    """Return one label, or a list of labels, as a list; None becomes an empty list."""
    return list(labels) if isinstance(labels, list) else [] if labels is None else [labels]


def remove_labels(labels: Iterable[Hashable], removed: Iterable[Hashable]) -> list[Hashable]:
    """Return the labels without those removed."""
    removed = set(removed)
    return [label for label in labels if label not in removed]


def shown(labels: list[Any]) -> str:
    """Return labels for a message; a long list is cut and its rest counted."""
    shown = shorten(", ".join(map(quote, labels[:SHOWN]))) or "no columns"
    return shown + (f" and {len(labels) - SHOWN} more" if len(labels) > SHOWN else "")


def list_fields(frame: pd.DataFrame) -> list[tuple[Hashable, Any]]:
    """Return the label and dtype of each column and of each named index level."""
    levels = [level.dtype for level in getattr(frame.index, "levels", [frame.index])]
    named = [one for one in zip(frame.index.names, levels, strict=True) if one[0] is not None]
    return [*zip(frame.columns, frame.dtypes.array, strict=True), *named]


def list_labels(frame: pd.DataFrame, taken: Iterable[Hashable] = ()) -> list[Hashable]:
    """Return the labels of all columns and named index levels, without those taken."""
    named = [name for name in frame.index.names if name is not None]
    return remove_labels([*frame.columns, *named], taken)


def list_numeric_names(labels: Iterable[Hashable]) -> list[str]:
    """Return labels that are numbers, as of a file without a header, none if most are names."""
    labels = list(labels)
    values = [one for one in labels if isinstance(one, str) and NUMBER_AS_NAME.fullmatch(one)]
    n_named = sum(find_role(label) is not None for label in labels)
    return values if len(values) > n_named and 3 * len(values) >= len(labels) else []


def list_scores_alone(numbers: Sequence[tuple[Hashable, Any]]) -> list[Hashable]:
    """Return the only column of numbers that may be a score, if it has the name of one alone."""
    named = [label for label, _ in numbers if plain_name(label) in SCORES_ALONE]
    fractions = [label for label, dtype in numbers if dtype.kind == "f" and not find_role(label)]
    models = [one for one in fractions if not has_word(one, "attribute", "time")]
    # Next to other fractions it may be one of several models.
    return named if len(named) == 1 and not remove_labels(models, named) else []


def check_label(frame: pd.DataFrame, role: str, *labels: Hashable) -> None:
    """Raise unless each label names one column, and no label comes twice."""
    if not labels:
        raise RecframeError(f"{role} must name at least one column, but is an empty list")
    listed = list_labels(frame)
    n_columns, seen = Counter(listed), set()
    for label in labels:
        if not is_key(label) or n_columns[label] == 0:
            near = find_near(label, listed)
            hint = f"; did you mean {quote(near[0])}?" if near else ""
            if role in ("score", "user") and isinstance(label, tuple):
                hint = "; several columns are passed as a list, a tuple is one label"
            raise MissingColumnError(
                f"{role}={quote(label)}: no such column; the frame has {shown(listed)}{hint}"
            )
        if n_columns[label] > 1:
            raise RecframeError(
                f"{role}={quote(label)}: {n_columns[label]} columns (or index levels) have that "
                "name. Rename them."
            )
        if label in seen:
            raise RecframeError(
                f"{role} must name different columns, but names {quote(label)} twice"
            )
        seen.add(label)


def plain_name(label: Hashable) -> str:
    """Return a name in the form in which names are compared; "" for labels that are not text.

    It has no type, which RecBole's files write behind names, as in user_id:token.
    """
    return TYPE_OR_SEPARATOR.sub("", label).lower() if isinstance(label, str) else ""


def find_like(labels: Iterable[Hashable], others: Iterable[Hashable]) -> list[Hashable]:
    """Return the labels that are named as one of others, but for "id" at the end."""
    names = {plain_name(other).removesuffix("id") for other in others} - {""}
    return [label for label in labels if plain_name(label).removesuffix("id") in names]


def find_users_of_lists(
    frame: pd.DataFrame, labels: list[Hashable], passed: Hashable
) -> list[Hashable]:
    """Return the column of users next to lists: the one passed, or the only one that may be it."""
    named = [one for one in labels if is_same(one, passed)]
    if named or len(labels) != 1:
        return named
    column, others = get_column(frame, labels[0]), ("time", "statistic", "spent", "attribute")
    is_other = has_word(labels[0], *others, "cycle") or less_is_better(labels[0])
    is_other |= find_role(labels[0]) is not None or column.dtype.kind in "fb"
    return labels if not is_other and column.astype(str).is_unique else []


def has_some(frame: pd.DataFrame, label: Hashable, values: Any) -> bool:
    """Return whether a frame has a column or index level of this label with some of the values."""
    return label in list_labels(frame) and bool(get_column(frame, label).isin(values).any())


def get_column(frame: pd.DataFrame, label: Hashable, rows: Array | None = None) -> pd.Series:
    """Return the column or index level of a label, or some of its rows.

    If several columns have the label, it is the last of them.
    """
    levels = {name: at for at, name in enumerate(frame.index.names) if name is not None}
    if label in levels:
        column = pd.Series(frame.index.get_level_values(levels[label]), name=label)
    else:
        found: Any = frame[label]
        column = found.iloc[:, -1] if isinstance(found, pd.DataFrame) else found
    if isinstance(column.dtype, pd.SparseDtype):
        column = column.astype(column.dtype.subtype)
    if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:
        column = column.astype(column.dtype.newbyteorder("="))  # pandas cannot hash other orders
    return column if rows is None else column.iloc[rows]


def order_classes(frame: pd.DataFrame, labels: list[Hashable]) -> list[Hashable]:
    """Return labels; if two are probabilities that sum to 1, the positive class comes first."""
    if len(labels) == 2:
        first, second = (get_column(frame, label).iloc[:N_ROWS_ADDED] for label in labels)
        with suppress(TypeError):  # Cells may be no numbers.
            if len(first) and np.allclose(first.astype(float) + second.astype(float), 1):
                return sorted(labels, key=lambda one: not as_text(one).lower().endswith(POSITIVE))
    return labels
