"""Which column plays which role: inference of labels, and a label's column or index level."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from recframe.errors import MissingColumnError, RecframeError, quote
from recframe.frames.labels import (
    SHOWN,
    are_distinct_texts,
    check_distinct,
    check_label,
    find_position,
    is_infer,
    is_same,
    leave_out,
    list_labels,
    shown,
)
from recframe.frames.names import (
    NAMES,
    ends_in_score,
    has_role_name,
    is_no_model,
    less_is_better,
)
from recframe.kernel.threads import Array
from recframe.options import Options


class Columns(NamedTuple):
    """The labels of the columns in their roles.

    `user` is None for one ranking, `relevant` where relevance is not read or every row is
    relevant, `item` where items are not read. `ascending` says of each score whether the lowest
    is the best.
    """

    user: Hashable | None
    scores: list[Hashable]
    relevant: Hashable | None
    item: Hashable | None = None
    ascending: Sequence[bool] = ()

    @property
    def labels(self) -> list[Hashable]:
        """All labels, the user's first."""
        labels = [self.user, self.item, self.relevant, *self.scores]
        return [label for label in labels if label is not None]


def find_columns(
    frame: pd.DataFrame, options: Options, *, with_relevant: bool = True, with_item: bool = False
) -> Columns:
    """Return the label of each role, given or inferred; raise where that is not unambiguous.

    The item is looked for where truth needs it and, `with_item` or where repeated pairs count,
    where the frame may have one.
    """
    given = {"user": options.user, "relevant": options.relevant, "item": options.item}
    needed = ["user"]
    if with_relevant:
        needed.append("item" if options.has_truth else "relevant")
    if options.has_truth:
        del given["relevant"]  # it names a column of truth
    labels = {role: label for role, label in given.items() if not is_infer(label)}
    for role, label in labels.items():
        if label is None and role == "relevant":
            raise RecframeError(
                "relevant=None says that every pair of truth is relevant, found no truth; pass "
                "truth=, or relevant= the column of relevance"
            )
        if label is not None or role != "user":
            check_label(frame, role, label)
    taken = [label for label in labels.values() if label is not None]
    if not is_infer(options.score):
        taken += _listed(options.score)
    labels |= {role: _infer_one(frame, role, taken) for role in needed if role not in labels}
    taken = [label for label in labels.values() if label is not None]
    scores = _find_scores(frame, options.score, taken)
    check_distinct(labels, scores)
    with_item |= options.duplicates != "keep"
    if "item" not in labels and with_item:
        labels["item"] = _find_item(frame, [*taken, *scores])
    item = labels["item"] if with_item or "item" in needed else None
    if item is None and options.duplicates in ("max", "first"):
        raise MissingColumnError(
            f"duplicates={options.duplicates!r} needs a column of items, found none; the frame has "
            f"{shown(list_labels(frame))}; pass item= the right column"
        )
    ascending = _find_directions(scores, options.ascending)
    return Columns(labels["user"], scores, labels.get("relevant"), item, ascending)


def _find_item(frame: pd.DataFrame, taken: list[Hashable]) -> Hashable | None:
    """Return the label of the item column among those not taken; None where there is none."""
    found = [label for label in list_labels(frame, taken) if has_role_name(label, "item")]
    return _infer_one(frame, "item") if len(found) > 1 else next(iter(found), None)


def find_truth_columns(truth: pd.DataFrame, columns: Columns, options: Options) -> Columns:
    """Return the label of each role in truth: given, that of the frame, or inferred."""
    user = columns.user
    if user is not None:
        user = _find_in_truth(truth, "truth_user", options.truth_user, user)
    item = _find_in_truth(truth, "truth_item", options.truth_item, columns.item)
    relevant, taken = None, [user, item]
    names = [has_role_name(label, "relevant") for label in list_labels(truth, taken)]
    if any(names) if is_infer(options.relevant) else options.relevant is not None:
        relevant = _find_in_truth(truth, "relevant", options.relevant, taken=taken)
    check_distinct({"truth_user": user, "truth_item": item, "relevant": relevant}, [])
    return Columns(user, [], relevant, item)


def _find_in_truth(
    truth: pd.DataFrame,
    role: str,
    given: Hashable,
    own: Hashable | None = None,
    taken: Sequence[Hashable] = (),
) -> Hashable:
    """Return the label of a role in truth, where `own` is the one that it has in the frame."""
    if is_infer(given):
        if own is None or not any(is_same(own, label) for label in list_labels(truth)):
            return _infer_one(truth, role, taken)
        given = own
    check_label(truth, role, given)
    return given


def get_column(frame: pd.DataFrame, label: Hashable, rows: Array | None = None) -> pd.Series:
    """Return the column, or index level, of a label that has been checked; of these rows only."""
    position = find_position(frame, label)
    if position < frame.shape[1]:
        column = frame.iloc[:, position]
    else:
        column = pd.Series(frame.index.get_level_values(position - frame.shape[1]), name=label)
    if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:
        column = column.astype(column.dtype.newbyteorder("="))  # pandas takes and hashes no other
    return column if rows is None else column.iloc[rows]


def _infer_one(frame: pd.DataFrame, role: str, taken: Sequence[Hashable] = ()) -> Hashable:
    """Return the one label whose name means this role; one that is taken only where no other is.

    That one is then refused as the same column in two roles.
    """
    labels, meant = list_labels(frame), role.removeprefix("truth_")
    names = NAMES[meant]
    named = [label for label in labels if has_role_name(label, meant)]
    found = leave_out(named, taken) or named
    if len(found) == 1:
        return found[0]
    some = ", ".join(names) if len(names) <= SHOWN else f"{', '.join(names[:SHOWN])}, …"
    looked_for = f"looked for one of {some} (ignoring case, spaces and underscores)"
    remedy = f"pass {role}= the right column"
    remedy += ", or user=None for one ranking" if role == "user" else ""
    if found:
        raise RecframeError(
            f"{role}: {len(found)} columns could be it, {shown(found)}; {looked_for}; {remedy}"
        )
    raise MissingColumnError(
        f"{role}: no column found; {looked_for}; the frame has {shown(labels)}; {remedy}"
    )


def find_label(frame: pd.DataFrame, role: str, given: Hashable) -> Hashable:
    """Return the label of a role, given or inferred."""
    return _find_in_truth(frame, role, given)


def _find_scores(frame: pd.DataFrame, given: Any, taken: list[Hashable]) -> list[Hashable]:
    """Return the labels given for scores, or all that name scores, in column order."""
    if not is_infer(given):
        scores = _listed(given)
        if not scores:
            raise RecframeError("score must name at least one column, found an empty list")
    else:
        scores = _infer_scores(frame, list_labels(frame, taken))
    labels = list_labels(frame)
    if are_distinct_texts(labels) and are_distinct_texts(scores) and set(scores) <= set(labels):
        return scores
    for label in scores:
        check_label(frame, "score", label)
        if sum(is_same(label, other) for other in scores) > 1:
            raise RecframeError(f"score must name different columns, found {quote(label)} twice")
    return scores


def _infer_scores(frame: pd.DataFrame, labels: list[Hashable]) -> list[Hashable]:
    """Return all labels whose names mean scores; raise where that need not be models."""
    scores = [label for label in labels if _is_score(frame, label)]
    if not scores:
        low = [label for label in labels if less_is_better(label)]
        example = f", as score={quote(low[0])}, ascending=True" if low else ""
        raise MissingColumnError(
            f"score: no column found; looked for one of {', '.join(NAMES['score'])} (ignoring "
            "case, spaces and underscores) and for numeric columns whose name ends in the "
            f"word score or scores; the frame has {shown(list_labels(frame))}; "
            f"pass score= the right column or a list of columns{example}"
        )
    doubtful = [label for label in scores if is_no_model(label)]
    if doubtful and len(scores) > 1:
        raise RecframeError(
            f"score: {len(scores)} columns are named as scores, {shown(scores)}, but "
            f"{quote(doubtful[0])} may be no model to evaluate; pass score= the column or the list "
            "of columns to rank by"
        )
    return scores


def _is_score(frame: pd.DataFrame, label: Hashable) -> bool:
    """Return whether a label names a score column."""
    if has_role_name(label, "score"):
        return True
    if not ends_in_score(label):
        return False
    dtype = get_column(frame, label).dtype
    return is_numeric_dtype(dtype) and not is_bool_dtype(dtype)


def _find_directions(scores: list[Hashable], ascending: bool | list[bool] | None) -> list[bool]:
    """Return of each score whether the lowest is the best; raise where that is not known."""
    if isinstance(ascending, list):
        if len(ascending) != len(scores):
            raise RecframeError(
                f"ascending must have an entry for each score column, found {len(ascending)} for "
                f"{shown(scores)}; pass as many, or True or False for all"
            )
        return ascending
    is_low = [less_is_better(label) for label in scores]
    if ascending is None and any(is_low):
        label, rule = scores[is_low.index(True)], is_low if len(scores) > 1 else True
        raise RecframeError(
            f"score={quote(label)}: by its name less is better; pass ascending={rule} to rank the "
            "lowest first, or ascending=False where the highest is the best"
        )
    return [bool(ascending)] * len(scores)


def _listed(given: Any) -> list[Hashable]:
    """Return one label, or a list of labels, as a list."""
    return list(given) if isinstance(given, list) else [given]
