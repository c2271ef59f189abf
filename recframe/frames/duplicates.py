"""Duplicates: rows that repeat the user and item of another, by mistake or for several models."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype, is_integer_dtype, is_numeric_dtype

from recframe.errors import RecframeError, RepeatedPairError, option, quote, spell
from recframe.frames.columns import Columns, get_column, other_labels
from recframe.frames.ids import sort_ids
from recframe.frames.names import find_role, is_of_row, is_time, means_ids, shown
from recframe.frames.overlap import plain
from recframe.frames.values import Scores
from recframe.kernel.grouping import Repeats
from recframe.kernel.threads import Array
from recframe.options import Models, Options

MAX_MODELS = 1_000  # more are rather ids
N_COMPARED = 1_000  # rows in which a column that tells them apart is looked for
MOST_REPEATED = 0.4  # of the rows of rankings, where a column may hold items
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


def find_repeated(
    frame: pd.DataFrame, columns: Columns, rows: Array | None, users: Array
) -> Hashable | None:
    """Return the column that seems to hold the items of rows, but repeats some for a user.

    It has text or, by its name, ids, most of them once in a ranking. None: there is none, or one
    that repeats nothing. A sample of rows tells.
    """
    labels, found = other_labels(frame, columns), dict[Hashable, float]()
    if not labels or len(users) == 0:
        return None
    first = np.linspace(0, max(0, len(users) - N_COMPARED), 3).astype(
        int
    )  # of rows in three places
    sample = np.unique(np.minimum(first[:, None] + np.arange(N_COMPARED), len(users) - 1))
    user = users[sample]
    is_long = np.bincount(user)[user] > 2
    user, rows = user[is_long], (sample if rows is None else rows[sample])[is_long]
    for label in labels:
        column = get_column(frame, label, rows)
        is_number = is_numeric_dtype(column.dtype)
        if is_time(label) or (is_number and not (is_integer_dtype(column) and means_ids(label))):
            continue
        try:
            codes, values = pd.factorize(column)
        except TypeError:
            continue  # lists and the like
        is_repeated = pd.DataFrame({"user": user, "item": codes})[codes >= 0].duplicated()
        n_repeated = int(is_repeated.sum())
        if n_repeated == 0 and 0 < len(values) < len(codes):
            return None
        n_users = len(np.unique(user[is_repeated.index[is_repeated]]))
        if n_users > 1 or (n_users == 1 and len(np.unique(user)) == 1):
            found[label] = n_repeated / len(codes)
    label = min(found, key=lambda one: found[one], default=None)
    return label if found.get(label, 1) < MOST_REPEATED else None


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
    both = [label, *columns.users] if columns.users else label
    return f"pass {option('user', both)} to {APART}"


def advise_blindly(labels: list[Hashable]) -> str:
    """Return what to do about repeated rows, given columns that may tell them apart."""
    labels = [label for label in labels if not is_of_row(label)]
    if not labels:
        return REMEDY
    return f"if one of the columns {shown(labels)} tells them apart, {APART}; else {REMEDY}"


def check_same_relevance(relevance: pd.Series, repeats: Repeats) -> None:
    """Raise where rows of one user and item differ in relevance, whatever models they are of."""
    own, first = relevance.iloc[repeats.rows].array, relevance.iloc[repeats.first].array
    differs = np.flatnonzero(np.asarray(own != first))
    if len(differs):
        both = f"{quote(first[differs[0]])} and {quote(own[differs[0]])}"
        raise RecframeError(
            f"relevant={quote(relevance.name)}: a user and item must have one relevance in the "
            f"rows of all models, found {len(differs):,} rows with another (such as {both}); pass "
            f"{option('duplicates', 'max')} for the highest, or the relevant pairs as truth",
            {"duplicates": "max"},
        )


def find_models(label: Hashable, column: pd.Series, options: Options) -> Models:
    """Return the models that a column holds, sorted; raise for what they cannot be evaluated by."""
    options.check_unordered("a frame with a row for each model")
    if options.duplicates == "keep":
        raise RecframeError(
            f"duplicates='keep' with model={quote(label)}: one row of a user, item and model "
            f"counts; pass {option('duplicates', 'max')} for the best"
        )
    found = pd.Index(column.drop_duplicates(), tupleize_cols=False)
    present = plain(found.dropna())
    if len(present) < len(found) and options.missing == "raise":
        raise RecframeError(
            f"model={quote(label)}: must not be null, found null in some rows; pass "
            f"{option('missing', 'unranked')} to rank these by no model but count their relevance, "
            f"or {option('missing', 'drop')} to remove them",
            {"missing": "unranked"},
        )
    if len(present) == 0:
        raise RecframeError(
            f"model={quote(label)}: must hold one model or more, found none in any row"
        )
    if len(present) > MAX_MODELS:
        raise RecframeError(
            f"model={quote(label)}: must hold at most {MAX_MODELS:,} models, found "
            f"{len(present):,} values (such as {quote(present.tolist()[0])})"
        )
    return Models(label, present.take(sort_ids(present)).tolist())
