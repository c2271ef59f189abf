"""Labels: of the columns and index levels that a frame has, and checks of those given."""

from collections.abc import Hashable, Iterable
from contextlib import suppress
from typing import Any

import pandas as pd

from recframe.errors import MissingColumnError, RecframeError, find_near, quote, shorten
from recframe.options import INFER

SHOWN = 12
MANY = 64  # columns; of so many one is looked up by its hash


def list_labels(frame: pd.DataFrame, taken: Iterable[Hashable] = ()) -> list[Hashable]:
    """Return the labels of all columns and of the named index levels that are not taken."""
    labels = [*frame.columns, *(name for name in frame.index.names if name is not None)]
    return leave_out(labels, taken)


def as_labels(given: Any) -> list[Hashable]:
    """Return one label, or a list of labels, as a list; of None none."""
    return list(given) if isinstance(given, list) else [] if given is None else [given]


def other_labels(frame: pd.DataFrame, taken: Iterable[Hashable]) -> list[Hashable]:
    """Return the labels that are not taken and name one column each."""
    labels = list_labels(frame, taken)
    return [label for label in labels if sum(is_same(label, other) for other in labels) == 1]


def leave_out(labels: list[Hashable], taken: Iterable[Hashable]) -> list[Hashable]:
    """Return the labels that are not taken."""
    texts = {label for label in taken if isinstance(label, str)}
    others = [label for label in taken if not isinstance(label, str)]
    return [
        label
        for label in labels
        if not (isinstance(label, str) and label in texts)
        and not any(is_same(label, other) for other in others)
    ]


def find_position(frame: pd.DataFrame, label: Hashable) -> int:
    """Return where a label that has been checked is among the columns, index levels behind them."""
    if isinstance(label, str):
        with suppress(KeyError):
            position = frame.columns.get_loc(label)
            # Of texts it is the same for sure; dates find what is not.
            is_text = isinstance(frame.columns.dtype, pd.StringDtype)
            if isinstance(position, int) and (is_text or is_same(frame.columns[position], label)):
                return position
    names = [*frame.columns, *frame.index.names]
    return next(number for number, name in enumerate(names) if is_same(name, label))


def are_distinct_texts(labels: list[Hashable]) -> bool:
    """Return whether labels are texts, none there twice, without comparing each with each."""
    return all(isinstance(label, str) for label in labels) and len(set(labels)) == len(labels)


def find_by_name(frame: pd.DataFrame, name: str) -> Hashable:
    """Return the label of the column that a metric names; a number is named by its digits."""
    labels = list_labels(frame)
    if not any(is_same(name, label) for label in labels):
        labels = [label for label in labels if str(label) == name]
        if len(labels) == 1:
            return labels[0]
    check_label(frame, "mean column", name)
    return name


def is_same(name: Any, label: Any) -> bool:
    """Return whether two labels are one."""
    try:
        return name is label or bool(name == label)
    except Exception:  # what cannot be compared, as pd.NA, is the same as itself only
        return False


def is_infer(label: object) -> bool:
    """Return whether a label asks for inference."""
    return isinstance(label, str) and label == INFER


def check_label(frame: pd.DataFrame, role: str, label: Hashable) -> None:
    """Raise unless the label given for a role names exactly one column."""
    labels = list_labels(frame)
    n_found = sum(is_same(name, label) for name in labels)
    if n_found == 0:
        near = find_near(label, labels)
        hint = f"; did you mean {quote(near[0])}?" if near else ""
        if role == "score" and isinstance(label, tuple):
            hint = "; several columns are passed as a list, a tuple is one label"
        raise MissingColumnError(
            f"{role}={quote(label)}: no such column; the frame has {shown(labels)}{hint}"
        )
    if n_found > 1:
        raise RecframeError(
            f"{role}={quote(label)}: {n_found} columns (or index levels) have that name; "
            "rename them"
        )


def check_distinct(labels: dict[str, list[Hashable]]) -> None:
    """Raise where one column was given two roles."""
    roles = [(role, label) for role, several in labels.items() for label in several]
    if are_distinct_texts([label for _, label in roles]):
        return
    for number, (role, label) in enumerate(roles):
        for other_role, other in roles[:number]:
            if is_same(label, other):
                raise RecframeError(
                    f"{other_role} and {role} are the same column, {quote(label)}; "
                    f"pass {other_role}= and {role}= as different columns"
                )


def shown(labels: list[Any]) -> str:
    """Return labels for a message, the first few of many."""
    shown = shorten(", ".join(map(quote, labels[:SHOWN]))) or "no columns"
    return shown + (f" and {len(labels) - SHOWN} more" if len(labels) > SHOWN else "")
