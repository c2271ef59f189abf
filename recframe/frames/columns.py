"""Which column plays which role: inference of labels, and a label's column or index level."""

import difflib
import re
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from recframe.errors import MissingColumnError, RecframeError
from recframe.kernel.threads import Array
from recframe.options import INFER, Options

# Names are compared lower-cased, without spaces and underscores.
NAMES = {
    "user": ("user", "userid", "object", "objectid", "query", "queryid", "qid"),
    "item": ("item", "itemid", "doc", "docid", "docno"),
    "relevant": ("relevant", "relevance", "target", "label"),
    "score": ("score", "scores", "prediction", "predictions", "pred"),
}
SHOWN = 12


class Columns(NamedTuple):
    """The labels of the columns in their roles.

    `user` is None for one ranking, `relevant` where relevance is not read or every row is
    relevant, `item` where items are not read.
    """

    user: Hashable | None
    scores: list[Hashable]
    relevant: Hashable | None
    item: Hashable | None = None

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
    labels = {role: label for role, label in given.items() if not _is_infer(label)}
    for role, label in labels.items():
        if label is not None or role != "user":
            _check_label(frame, role, label)
    labels |= {role: _infer_one(frame, role) for role in needed if role not in labels}
    taken = [label for label in labels.values() if label is not None]
    scores = _find_scores(frame, options.score, taken)
    _check_distinct(labels, scores)
    with_item |= options.duplicates != "keep"
    if "item" not in labels and with_item:
        labels["item"] = _find_item(frame, [*taken, *scores])
    item = labels["item"] if with_item or "item" in needed else None
    if item is None and options.duplicates in ("max", "first"):
        raise MissingColumnError(
            f"duplicates={options.duplicates!r} needs a column of items, found none; the frame has "
            f"{shown(_labels(frame))}; pass item= the right column"
        )
    return Columns(labels["user"], scores, labels.get("relevant"), item)


def _find_item(frame: pd.DataFrame, taken: list[Hashable]) -> Hashable | None:
    """Return the label of the item column among those not taken; None where there is none."""
    found = [label for label in _labels(frame, taken) if _plain(label) in NAMES["item"]]
    return _infer_one(frame, "item") if len(found) > 1 else next(iter(found), None)


def find_truth_columns(truth: pd.DataFrame, columns: Columns, options: Options) -> Columns:
    """Return the label of each role in truth: given, that of the frame, or inferred."""
    user = columns.user
    if user is not None:
        user = _find_in_truth(truth, "truth_user", options.truth_user, user)
    item = _find_in_truth(truth, "truth_item", options.truth_item, columns.item)
    relevant = None
    is_named = any(_plain(label) in NAMES["relevant"] for label in _labels(truth))
    if is_named or not _is_infer(options.relevant):
        relevant = _find_in_truth(truth, "relevant", options.relevant)
    _check_distinct({"truth_user": user, "truth_item": item, "relevant": relevant}, [])
    return Columns(user, [], relevant, item)


def _find_in_truth(
    truth: pd.DataFrame, role: str, given: Hashable, own: Hashable | None = None
) -> Hashable:
    """Return the label of a role in truth, where `own` is the one that it has in the frame."""
    if _is_infer(given):
        if own is None or not any(_same(own, label) for label in _labels(truth)):
            return _infer_one(truth, role)
        given = own
    _check_label(truth, role, given)
    return given


def get_column(frame: pd.DataFrame, label: Hashable, rows: Array | None = None) -> pd.Series:
    """Return the column, or index level, of a label that has been checked; of these rows only."""
    names = [*frame.columns, *frame.index.names]
    position = next(number for number, name in enumerate(names) if _same(name, label))
    if position < frame.shape[1]:
        column = frame.iloc[:, position]
    else:
        column = pd.Series(frame.index.get_level_values(position - frame.shape[1]), name=label)
    if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:
        column = column.astype(column.dtype.newbyteorder("="))  # pandas takes and hashes no other
    return column if rows is None else column.iloc[rows]


def other_labels(frame: pd.DataFrame, taken: list[Hashable]) -> list[Hashable]:
    """Return the labels that are not taken and name one column each."""
    labels = _labels(frame, taken)
    return [label for label in labels if sum(_same(label, other) for other in labels) == 1]


def _labels(frame: pd.DataFrame, taken: Iterable[Hashable] = ()) -> list[Hashable]:
    """Return the labels of all columns and of the named index levels that are not taken."""
    labels = [*frame.columns, *(name for name in frame.index.names if name is not None)]
    return [label for label in labels if not any(_same(label, other) for other in taken)]


def _same(name: Any, label: Any) -> bool:
    """Return whether two labels are one."""
    return name is label or (name is not pd.NA and label is not pd.NA and bool(name == label))


def _is_infer(label: object) -> bool:
    """Return whether a label asks for inference."""
    return isinstance(label, str) and label == INFER


def _check_label(frame: pd.DataFrame, role: str, label: Hashable) -> None:
    """Raise unless the label given for a role names exactly one column."""
    labels = _labels(frame)
    n_found = sum(_same(name, label) for name in labels)
    if n_found == 0:
        names = [name for name in labels if isinstance(name, str)]
        near = difflib.get_close_matches(label, names, n=1) if isinstance(label, str) else []
        hint = f"; did you mean {near[0]!r}?" if near else ""
        if role == "score" and isinstance(label, tuple):
            hint = "; several columns are passed as a list, a tuple is one label"
        raise MissingColumnError(
            f"{role}={label!r}: no such column; the frame has {shown(labels)}{hint}"
        )
    if n_found > 1:
        raise RecframeError(
            f"{role}={label!r}: {n_found} columns (or index levels) have that name; rename them"
        )


def _check_distinct(labels: dict[str, Any], scores: list[Hashable]) -> None:
    """Raise where one column was given two roles."""
    roles = [(role, label) for role, label in labels.items() if label is not None]
    roles += [("score", label) for label in scores]
    for number, (role, label) in enumerate(roles):
        for other_role, other in roles[:number]:
            if _same(label, other):
                raise RecframeError(
                    f"{other_role} and {role} are the same column, {label!r}; "
                    f"pass {other_role}= and {role}= as different columns"
                )


def _infer_one(frame: pd.DataFrame, role: str) -> Hashable:
    """Return the one label whose name means this role."""
    labels = _labels(frame)
    names = NAMES[role.removeprefix("truth_")]
    found = [label for label in labels if _plain(label) in names]
    if len(found) == 1:
        return found[0]
    looked_for = f"looked for one of {', '.join(names)} (ignoring case, spaces and underscores)"
    remedy = f"pass {role}= the right column"
    remedy += ", or user=None for one ranking" if role == "user" else ""
    if found:
        raise RecframeError(
            f"{role}: {len(found)} columns could be it, {shown(found)}; {looked_for}; {remedy}"
        )
    raise MissingColumnError(
        f"{role}: no column found; {looked_for}; the frame has {shown(labels)}; {remedy}"
    )


def _find_scores(frame: pd.DataFrame, given: Any, taken: list[Hashable]) -> list[Hashable]:
    """Return the labels given for scores, or all that name scores, in column order."""
    if not _is_infer(given):
        scores = list(given) if isinstance(given, list) else [given]
        if not scores:
            raise RecframeError("score must name at least one column, found an empty list")
    else:
        scores = [label for label in _labels(frame, taken) if _is_score(frame, label)]
        if not scores:
            raise MissingColumnError(
                f"score: no column found; looked for one of {', '.join(NAMES['score'])} (ignoring "
                "case, spaces and underscores) and for numeric columns whose name ends in the "
                f"word score or scores; the frame has {shown(_labels(frame))}; "
                "pass score= the right column or a list of columns"
            )
    for label in scores:
        _check_label(frame, "score", label)
        if sum(_same(label, other) for other in scores) > 1:
            raise RecframeError(f"score must name different columns, found {label!r} twice")
    return scores


def _is_score(frame: pd.DataFrame, label: Hashable) -> bool:
    """Return whether a label names a score column."""
    if _plain(label) in NAMES["score"]:
        return True
    if not isinstance(label, str) or not _ends_in_score(label):
        return False
    dtype = get_column(frame, label).dtype
    return is_numeric_dtype(dtype) and not is_bool_dtype(dtype)


def _ends_in_score(name: str) -> bool:
    """Return whether the last word of a name is score or scores."""
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name.strip())
    return re.split(r"[\W_]+", words)[-1].lower() in ("score", "scores")


def _plain(label: Hashable) -> str:
    """Return a name as inference compares it; labels that are not text match nothing."""
    return re.sub(r"[\s_]", "", label).lower() if isinstance(label, str) else ""


def shown(labels: list[Any]) -> str:
    """Return labels for a message, the first few of many."""
    first = ", ".join(repr(label) for label in labels[:SHOWN]) or "no columns"
    return first + (f" and {len(labels) - SHOWN} more" if len(labels) > SHOWN else "")
