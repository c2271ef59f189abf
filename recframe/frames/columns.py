"""Which column plays which role: inference of labels, and a label's column or index level."""

import difflib
import re
from collections.abc import Hashable
from typing import Any, NamedTuple

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from recframe.errors import MissingColumnError, RecframeError
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


def find_columns(frame: pd.DataFrame, options: Options, *, with_relevant: bool = True) -> Columns:
    """Return the label of each role, given or inferred; raise where that is not unambiguous."""
    given = {"user": options.user, "relevant": options.relevant, "item": options.item}
    needs_item = with_relevant and options.truth is not None
    if options.truth is not None:
        del given["relevant"]  # it names a column of truth
        with_relevant = False
    labels = {role: label for role, label in given.items() if not _is_infer(label)}
    for role, label in labels.items():
        if label is not None or role != "user":
            _check_label(frame, role, label)
    if "user" not in labels:
        labels["user"] = _infer_one(frame, "user", "or user=None for one ranking")
    if "relevant" not in labels and with_relevant:
        labels["relevant"] = _infer_one(frame, "relevant")
    if "item" not in labels and needs_item:
        labels["item"] = _infer_one(frame, "item")
    taken = [label for label in labels.values() if label is not None]
    if _is_infer(options.score):
        scores = _infer_scores(frame, taken)
    else:
        scores = list(options.score) if isinstance(options.score, list) else [options.score]
        _check_scores(frame, scores)
    _check_distinct(labels, scores)
    item = labels["item"] if needs_item else None
    return Columns(labels["user"], scores, labels.get("relevant"), item)


def find_truth_columns(truth: pd.DataFrame, columns: Columns, options: Options) -> Columns:
    """Return the label of each role in truth: given, that of the frame, or inferred."""
    labels: dict[str, Any] = {}
    for role, label in {"truth_user": columns.user, "truth_item": columns.item}.items():
        given = getattr(options, role)
        if columns.user is None and role == "truth_user":
            labels[role] = None
        elif not _is_infer(given):
            _check_label(truth, role, given)
            labels[role] = given
        elif any(_same(label, other) for other in _labels(truth)):
            _check_label(truth, role, label)
            labels[role] = label
        else:
            labels[role] = _infer_one(truth, role)
    if not _is_infer(options.relevant):
        _check_label(truth, "relevant", options.relevant)
        labels["relevant"] = options.relevant
    elif any(_plain(label) in NAMES["relevant"] for label in _labels(truth)):
        labels["relevant"] = _infer_one(truth, "relevant")
    _check_distinct(labels, [])
    return Columns(labels["truth_user"], [], labels.get("relevant"), labels["truth_item"])


def find_item(frame: pd.DataFrame, columns: Columns, options: Options) -> Hashable | None:
    """Return the label of the item column, given or inferred; None where there is none."""
    if not _is_infer(options.item):
        return options.item  # find_columns has checked it
    taken = [columns.user, columns.relevant, *columns.scores]
    free = [label for label in _labels(frame) if not any(_same(label, other) for other in taken)]
    found = [label for label in free if _plain(label) in NAMES["item"]]
    return _infer_one(frame, "item") if len(found) > 1 else next(iter(found), None)


def get_column(frame: pd.DataFrame, label: Hashable) -> pd.Series:
    """Return the column, or the index level, of a label that has been checked."""
    for position, name in enumerate(frame.columns):
        if _same(name, label):
            return frame.iloc[:, position]
    level = [_same(name, label) for name in frame.index.names].index(True)
    return pd.Series(frame.index.get_level_values(level), name=label)


def _labels(frame: pd.DataFrame) -> list[Hashable]:
    """Return the labels of all columns and of the named index levels."""
    return [*frame.columns, *(name for name in frame.index.names if name is not None)]


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
            f"{role}={label!r}: no such column; the frame has {_shown(labels)}{hint}"
        )
    if n_found > 1:
        raise RecframeError(
            f"{role}={label!r}: {n_found} columns (or index levels) have that name; rename them"
        )


def _check_scores(frame: pd.DataFrame, scores: list[Hashable]) -> None:
    """Raise unless the score labels given are there, at least one, and differ."""
    if not scores:
        raise RecframeError("score must name at least one column, found an empty list")
    for label in scores:
        _check_label(frame, "score", label)
        if sum(_same(label, other) for other in scores) > 1:
            raise RecframeError(f"score must name different columns, found {label!r} twice")


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


def _infer_one(frame: pd.DataFrame, role: str, remedy: str = "") -> Hashable:
    """Return the one label whose name means this role."""
    labels = _labels(frame)
    names = NAMES[role.removeprefix("truth_")]
    found = [label for label in labels if _plain(label) in names]
    if len(found) == 1:
        return found[0]
    looked_for = f"looked for one of {', '.join(names)} (ignoring case, spaces and underscores)"
    remedy = f"pass {role}= the right column{', ' + remedy if remedy else ''}"
    if found:
        raise RecframeError(
            f"{role}: {len(found)} columns could be it, {_shown(found)}; {looked_for}; {remedy}"
        )
    raise MissingColumnError(
        f"{role}: no column found; {looked_for}; the frame has {_shown(labels)}; {remedy}"
    )


def _infer_scores(frame: pd.DataFrame, taken: list[Any]) -> list[Hashable]:
    """Return all labels that name scores, in column order."""
    found = [
        label
        for label in _labels(frame)
        if _is_score(frame, label) and not any(_same(label, other) for other in taken)
    ]
    if not found:
        raise MissingColumnError(
            f"score: no column found; looked for one of {', '.join(NAMES['score'])} (ignoring "
            "case, spaces and underscores) and for numeric columns whose name ends in the word "
            f"score or scores; the frame has {_shown(_labels(frame))}; "
            "pass score= the right column or a list of columns"
        )
    for label in found:
        _check_label(frame, "score", label)
    return found


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


def _shown(labels: list[Any]) -> str:
    """Return labels for a message, the first few of many."""
    shown = ", ".join(repr(label) for label in labels[:SHOWN]) or "no columns"
    return shown + (f" and {len(labels) - SHOWN} more" if len(labels) > SHOWN else "")
