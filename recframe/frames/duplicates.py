"""Duplicates: rows that repeat the user and item of another, which are found, refused or folded."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype

from recframe.errors import RecframeError, RepeatedPairError, option, quote, spell
from recframe.frames.columns import Columns, get_column, other_labels
from recframe.frames.names import find_role, is_of_row, leave_out, shown
from recframe.frames.values import Gains, Scores
from recframe.kernel.grouping import Repeats
from recframe.kernel.threads import Array

N_COMPARED = 1_000  # repeated rows in which a column that tells them apart is looked for
APART = "evaluate each of its values by itself, or make score columns of models by a pivot"
KEEP = spell("'keep'", "--duplicates keep")
REMEDY = (
    f"pass {option('duplicates', 'max')} for the best of each pair, or {KEEP} to count every row"
)
OF_MODELS = (
    f"pass {option('duplicates', 'max', model=None)} for the best of each pair, or "
    f"{option('duplicates', 'keep', model=None)} to count every row"
)


class Folded(NamedTuple):
    """The rows before those of one pair became one.

    They are positions in the frame; `pair` is the position of each one's pair among the pairs, and
    `scores` are as those of `Interactions`, of these rows.
    """

    rows: Array
    pair: Array
    scores: Scores


def repeated_error(
    frame: pd.DataFrame, columns: Columns, rows: Array, repeats: Repeats
) -> RepeatedPairError:
    """Return the refusal of repeated rows; `rows` are the positions of all in the frame."""
    repeated, first = rows[repeats.rows[:N_COMPARED]], rows[repeats.first[:N_COMPARED]]
    labels = [*columns.users, columns.item]
    *ids, item = (get_column(frame, label, repeated[:1]).tolist()[0] for label in labels)
    labels += [] if columns.model is None else [columns.model]
    user = tuple(ids) if len(ids) > 1 else next(iter(ids), None)
    example = f"user {quote(user)}, item {quote(item)}" if ids else f"item {quote(item)}"
    found = (
        f"{' and '.join(map(repr, labels))} must not be the same in two rows, found "
        f"{len(repeats.rows):,} of {len(rows):,} rows that repeat another (such as {example})"
    )
    told = find_telling(frame, columns, np.append(repeated, first), np.append(first, first))
    remedy, answers = advise(told, columns)
    return RepeatedPairError(f"{found}; {remedy}", found, user, item, answers)


def find_telling(
    frame: pd.DataFrame, columns: Columns, rows: Array, pair: Array
) -> tuple[Hashable, list[Any]] | None:
    """Return the column that tells rows of the same pair apart, and its values; None for none."""
    told: dict[Hashable, list[Any]] = {}
    for label in other_labels(frame, columns):
        column = get_column(frame, label, rows)
        if is_of_row(label) or is_float_dtype(column.dtype):  # a measure, which parts no rankings
            continue
        try:
            codes, values = pd.factorize(column, use_na_sentinel=False)
        except TypeError:
            continue  # lists and the like, which cannot be compared
        cells = pd.DataFrame({"pair": pair, "row": rows, "code": codes}).drop_duplicates("row")
        if not cells.duplicated(["pair", "code"]).any():
            told[label] = pd.Index(values).tolist()
    # Of several columns that with fewest values: rather a model or a day than a time of day.
    return min(told.items(), key=lambda column: len(column[1]), default=None)


def advise(told: tuple[Hashable, list[Any]] | None, columns: Columns) -> tuple[str, dict[str, Any]]:
    """Return a remedy and options for repeated rows, given the column that tells them apart."""
    if told is None:
        return REMEDY, {"duplicates": "max"}
    label, (one, other, *_) = told
    users = [label, *columns.users] if columns.users else label
    apart, answers = rank_apart(label, columns), {"user": users}
    if label in columns.doubtful:
        answers = {"model": label}
    elif find_role(label) == "user":  # as a session of a user
        apart = f"pass {option('user', users)} to rank each by itself"
    elif find_role(label) == "item":  # as a passage of a document
        apart, answers = f"pass {option('item', label)} if that is ranked", {"duplicates": "max"}
    shown_values = f"such as {quote(one)} and {quote(other)}"
    remedy = OF_MODELS if label in columns.doubtful else REMEDY
    said = f"the column {quote(label)} tells them apart ({shown_values}): {apart}; else {remedy}"
    return said, answers


def rank_apart(label: Hashable, columns: Columns) -> str:
    """Return what to pass where each value of a column has rankings of its own."""
    if find_role(label) == "model" and columns.item is not None:
        return f"pass {option('model', label)} to evaluate each of its values as a model"
    both = [label, *leave_out(columns.users, [label])] if columns.users else label
    return f"pass {option('user', both)} to {APART}"


def advise_blindly(labels: list[Hashable]) -> str:
    """Return what to do about repeated rows, given columns that may tell them apart."""
    labels = [label for label in labels if not is_of_row(label)]
    if not labels:
        return REMEDY
    return f"if one of the columns {shown(labels)} tells them apart, {APART}; else {REMEDY}"


def fold_scores(
    values: Array, is_ranked: Array | None, repeats: Repeats
) -> tuple[Array, Array | None]:
    """Return scores of rows, and which are ranked, where a first row has the best of its pair."""
    rows, first = repeats
    values = values.copy()
    if is_ranked is not None:
        # What is not ranked must not be the best: it becomes the lowest value there is.
        values[~is_ranked] = -np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).min
        is_ranked = fold_flags(is_ranked, repeats)
    np.maximum.at(values, first, values[rows])
    return values, is_ranked


def fold_flags(flags: Array, repeats: Repeats) -> Array:
    """Return flags of rows, where a first row has one if any row of its pair has."""
    folded = flags.copy()
    folded[repeats.first[flags[repeats.rows]]] = True
    return folded


def fold_gains(find_gains: Callable[[], Gains], repeats: Repeats) -> Gains:
    """Return the gains of rows, where a first row has the highest of its pair."""
    gains = find_gains()
    gain = gains.gain.copy()
    np.maximum.at(gain, repeats.first, gain[repeats.rows])
    return gains._replace(gain=gain)


def fold_values(values: Array, repeats: Repeats, label: Hashable) -> Array:
    """Return values of rows that are the same in all rows of a pair, or raise; null is none."""
    rows, first = repeats
    highest, lowest = values.copy(), values.copy()
    np.fmax.at(highest, first, values[rows])
    np.fmin.at(lowest, first, values[rows])
    differs = np.flatnonzero(highest > lowest)
    if len(differs):
        found = f"{lowest[differs[0]]:g} and {highest[differs[0]]:g}"
        raise RecframeError(
            f"mean column={quote(label)}: a user and item that duplicates='max' makes one row "
            f"must have one value, found {len(differs)} that have several (such as {found}); "
            f"pass {option('duplicates', 'first')}, or give each pair one value"
        )
    return highest
