"""Several rankings of a user: rows that repeat a pair, models in rows, several lists."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import partial
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype, is_numeric_dtype

from recframe.errors import Choice, RecframeError, RepeatedPairError, count_of, quote
from recframe.frames.columns import Columns, other_labels
from recframe.frames.id_matching import unwrap_ids
from recframe.frames.ids import sort_ids
from recframe.frames.made_models import MOST_SETTINGS, find_made_models, find_telling
from recframe.frames.names import (
    find_role,
    get_column,
    list_labels,
    may_be_item,
    remove_labels,
    shown,
)
from recframe.frames.roles import list_truth_labels
from recframe.frames.values import Scores
from recframe.frames.words import ends_in, has_word, is_of_row
from recframe.kernel.grouping import Repeats, combine
from recframe.kernel.threads import Array
from recframe.options import Models, Options

if TYPE_CHECKING:  # It imports this module.
    from recframe.frames.interactions import Interactions

MAX_MODELS = 1_000  # A column with more values probably holds ids.
N_REPEATED = 1_000  # repeated rows that are compared, to find a column in which they differ
MOST_REPEATED = 0.6  # the largest share of repeated values in a column that may hold items
APART = "evaluate each of its values by itself, or make score columns of models by a pivot"
REMEDY = "Pass duplicates='max' for the best of each pair, or 'keep' to count every row."
OF_MODELS = (
    "Pass duplicates='max', model=None for the best of each pair, or duplicates='keep', model=None "
    "to count every row."
)


class Folded(NamedTuple):
    """The rows before the rows of each pair were folded into one.

    `rows` are positions in the frame, `pair` is the position of each row's pair among the pairs,
    and `scores` are the scores of these rows, as in `Interactions`.
    """

    rows: Array
    pair: Array
    scores: Scores


def repeated_error(
    frame: pd.DataFrame, columns: Columns, rows: Array, repeats: Repeats, options: Options
) -> RepeatedPairError:
    """Return the refusal of repeated rows; `rows` are the positions of all rows in the frame."""
    repeated, first = rows[repeats.rows[:N_REPEATED]], rows[repeats.first[:N_REPEATED]]
    labels = [*columns.users, columns.item]
    *ids, item = (get_column(frame, label, repeated[:1]).tolist()[0] for label in labels)
    labels += [] if columns.model is None else [columns.model]
    user_id = tuple(ids) if len(ids) > 1 else next(iter(ids), None)
    example = f"user {quote(user_id)}, item {quote(item)}" if ids else f"item {quote(item)}"
    found = (
        f"each {'combination of ' * (len(labels) > 1)}{' and '.join(map(repr, labels))} must occur "
        f"once, but {len(repeats.rows):,} of {len(rows):,} rows repeat another (such as "
        f"{example})"
    )
    cells = np.append(repeated, first), np.append(first, first)
    telling, made = find_telling(frame, columns, *cells), None
    is_of_truth = telling is not None and telling[0] in list_truth_labels(options)
    if telling is None or (columns.model is not None and not is_of_truth):
        made = find_made_models(frame, columns, *cells)
    if telling is None:  # Some pairs may differ in a model that repeats other pairs.
        of_first = np.append(repeated[:1], first[:1])
        one = find_telling(frame, columns, of_first, np.zeros_like(of_first))
        telling = one if one is not None and one[0] in columns.doubtful else None
    elif _are_copies(frame, columns, telling[0], *cells):
        telling = None
    unread = [
        label
        for label in remove_labels(columns.others, [*list_labels(frame), *columns.measures])
        if not (is_of_row(label) or find_role(label) in ("relevant", "score"))
    ]
    if made is not None:
        remedy, answers = f"{made[0]}. Otherwise {_lower(OF_MODELS)}", made[1]
    elif telling is None and unread:
        remedy, answers = _advise_unread(unread, columns)
    else:
        remedy, answers = say_remedy(telling, columns, partial(_count_distinct, frame, rows))
    return RepeatedPairError(f"{found}. {remedy}", found, user_id, item, answers)


def _advise_unread(unread: list[Hashable], columns: Columns) -> tuple[str, dict[str, Any]]:
    """Return a remedy and options for repeated rows that columns not read here may tell apart."""
    # The values of the column are not known here, so no answer may name one of them.
    label, is_item = unread[0], find_role(unread[0]) == "item"
    users = [label, *columns.users] if columns.users else label
    named = "the column" if len(unread) == 1 else "one of the columns"
    of_item = f"item={quote(label)} if that is ranked"
    apart = of_item if is_item else f"user={quote(users)}, to {APART}"
    remedy = (
        f"If {named} {shown(unread)} tells them apart, pass it, for example {apart}. "
        f"Otherwise {_lower(REMEDY)}"
    )
    return remedy, {"duplicates": "max"} if is_item and len(unread) == 1 else {}


def find_repeated(frame: pd.DataFrame, columns: Columns, rows: Array, user: Array) -> Any:
    """Return the column of text or ids that repeats the fewest values within users, but some.

    It may hold items. Return None if no column may, or if the best one repeats nothing. The rows
    are a sample.
    """
    # If a column has one value for each user, all rows of a user but the first repeat it.
    most = 1 - len(np.unique(user)) / max(1, len(user))
    shares: dict[Any, float] = {None: MOST_REPEATED * most}
    for label in other_labels(frame, columns):
        column = get_column(frame, label, rows)
        is_number = is_numeric_dtype(column.dtype) and not ends_in(label, "id")
        with suppress(TypeError):  # Cells such as lists cannot be compared.
            if not (is_number or is_float_dtype(column.dtype) or has_word(label, "time")):
                item, values = pd.factorize(column, use_na_sentinel=False)
                if len(values) < len(item):  # Items repeat; a text for each row does not.
                    share = pd.DataFrame({"user": user, "item": item}).duplicated().mean()
                    shares[label] = float(share)
    found = min(shares, key=lambda label: shares[label])
    return found if shares[found] > 0 else None


def say_remedy(
    telling: tuple[Hashable, list[Any]] | None, columns: Columns, count: Callable[..., int]
) -> tuple[str, dict[str, Any]]:
    """Return a remedy and options for repeated rows; `telling` is the result of `find_telling`.

    `count` counts the distinct values of columns. A user that each item decides, such as a topic,
    is probably none. A column with another value in each row of a user may hold items.
    """
    if telling is None:
        of_models = "Pass duplicates='max' for the best of each pair."
        return REMEDY if columns.model is None else of_models, {"duplicates": "max"}
    (label, values), (item, model) = telling, (columns.item, columns.model)
    one, other, *_ = values
    users = [label, *columns.users] if columns.users else label
    apart, answers = rank_apart(label, columns), {"user": users}
    if label in columns.doubtful:
        answers = {"model": label}
    elif find_role(label) == "user":  # for example a session of a user
        apart = f"pass user={quote(users)} to rank each by itself"
    elif find_role(label) == "item":  # for example a passage of a document
        apart, answers = f"pass item={quote(label)} if that is ranked", {"duplicates": "max"}
    elif has_word(label, "part"):  # for example the number of a chunk in its document
        own, part, answers = quote(item), quote(label), {"duplicates": "max"}
        apart = f"where an item is the pair, make one id in df, and so in truth: df[{own}] = "
        apart += f"df[{own}].astype(str) + '#' + df.pop({part}).astype(str)"
    elif (
        columns.users
        and not has_word(label, "time")
        and count(item) == count(item, *columns.users) < count(label, item) == count()
        and 1 < count(*columns.users) < count(label)
    ):
        answers = {"user": Choice([label, users])}
        apart = f"pass user={quote(label)} if {quote(columns.user)} is of items, else {apart[5:]}"
    elif may_be_item(label) or (  # for example the next item, beside the last one
        len(values) > MOST_SETTINGS
        and not (isinstance(one, Number) or has_word(label, "time") or is_of_row(label))
        and count(label, *columns.users, *[model] * (model is not None)) == count()
    ):
        apart = f"pass item={quote(label)} if that is ranked"
        answers = {"item": Choice([label, columns.item])}
    examples = f"such as {quote(one)} and {quote(other)}"
    remedy = OF_MODELS if label in columns.doubtful else REMEDY
    return (
        f"The column {quote(label)} tells them apart ({examples}): {apart}. Otherwise "
        f"{_lower(remedy)}",
        answers,
    )


def _count_distinct(frame: pd.DataFrame, rows: Array, *labels: Hashable) -> int:
    """Return how many distinct values rows have in columns; without columns, how many rows."""
    cells = {at: get_column(frame, one, rows).array for at, one in enumerate(labels)}
    return len(pd.DataFrame(cells).drop_duplicates()) if labels else len(rows)


def _are_copies(
    frame: pd.DataFrame, columns: Columns, label: Hashable, rows: Array, first: Array
) -> bool:
    """Return whether rows repeat the scores and relevance of others, and differ in an attribute.

    Values of settings or models have equally many rows.
    """
    counts = get_column(frame, label).value_counts(dropna=False)
    is_attribute = find_role(label) is None and not has_word(label, "time", "id")
    return bool(is_attribute and counts.max() > counts.min()) and all(
        get_column(frame, one, rows).array.equals(get_column(frame, one, first).array)
        for one in (*columns.score_columns, columns.relevant)
        if one is not None
    )


def _lower(sentence: str) -> str:
    """Return a sentence without its capital, to be put after another word."""
    return sentence[0].lower() + sentence[1:]


def rank_apart(label: Hashable, columns: Columns) -> str:
    """Return advice to evaluate each value of a column by itself."""
    if find_role(label) == "model" and columns.item is not None:
        return f"pass model={quote(label)} to evaluate each of its values as a model"
    both = [label, *columns.users] if columns.users else label
    return f"pass user={quote(both)} to {APART}"


def check_same_relevance(relevance: pd.Series, repeats: Repeats) -> None:
    """Raise if rows of one user and item differ in relevance, even between models."""
    again, first = relevance.iloc[repeats.rows].array, relevance.iloc[repeats.first].array
    differs = np.flatnonzero(np.asarray(again != first))
    if len(differs):
        both = f"{quote(first[differs[0]])} and {quote(again[differs[0]])}"
        raise RecframeError(
            f"relevant={quote(relevance.name)}: a user and item must have one relevance in the "
            "rows of all models, but have another in "
            f"{count_of(len(differs), 'row')} (such as {both}). "
            "Pass duplicates='max' for the highest, or the relevant pairs as truth.",
            {"duplicates": "max"},
        )


def fold_pairs(interactions: Interactions, repeats: Repeats, *, is_best: bool) -> Interactions:
    """Return interactions with one row for each pair: its first, with the best values of all."""
    is_first = np.ones(len(interactions.relevant), bool)
    is_first[repeats.rows] = False
    first = np.flatnonzero(is_first)
    if not is_best:
        return interactions.take(first)
    pair = np.cumsum(is_first) - 1
    pair[repeats.rows] = pair[repeats.first]
    grades = interactions.grades
    best = interactions._replace(
        folded=Folded(interactions.find_rows()[0], pair, interactions.scores),
        relevant=_merge(np.logical_or, interactions.relevant, repeats),
        scores={
            label: _fold_scores(*values, repeats) for label, values in interactions.scores.items()
        },
        features={
            key: _fold_values(interactions.features[key], repeats, interactions.get_column(label))
            for key, label in interactions.columns.features
        },
        grades=None if grades is None else _merge(np.maximum, grades, repeats),
    )
    return best.take(first)


def _merge(function: np.ufunc, values: Array, repeats: Repeats) -> Array:
    """Return values in which a function merges all rows of a pair into its first row."""
    merged = values.copy()
    function.at(merged, repeats.first, values[repeats.rows])
    return merged


def _fold_scores(
    values: Array, is_ranked: Array | None, repeats: Repeats
) -> tuple[Array, Array | None]:
    """Return scores and ranked rows; the first row of each pair has the best of the pair."""
    if is_ranked is not None:
        # A row that is not ranked must not be the best, so it gets the lowest possible value.
        lowest = -np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).min
        values = np.where(is_ranked, values, np.array(lowest, values.dtype))
        is_ranked = _merge(np.logical_or, is_ranked, repeats)
    return _merge(np.maximum, values, repeats), is_ranked


def _fold_values(values: Array, repeats: Repeats, column: pd.Series) -> Array:
    """Return values, one for each pair at its first row; raise if a pair has several."""
    highest, lowest = (_merge(one, values, repeats) for one in (np.fmax, np.fmin))
    differs = np.unique(np.nonzero(highest > lowest)[0])
    if len(differs):
        cells = column.iloc[[differs[0], *repeats.rows[repeats.first == differs[0]]]].dropna()
        one, other, *_ = sorted({*map(quote, cells)})
        raise RecframeError(
            f"{quote(column.name)}: a user and item that duplicates='max' makes one row must have "
            f"one value, but {len(differs)} have several (such as {one} and {other}). Pass "
            "duplicates='first', or give each pair one value."
        )
    return highest


def find_models(label: Hashable, column: pd.Series, options: Options) -> Models:
    """Return the models in a column, sorted; raise if options or values do not fit models."""
    options.check_unordered("a frame with a row for each model")
    if options.duplicates == "keep":
        raise RecframeError(
            f"duplicates='keep' with model={quote(label)}: one row of a user, item and model "
            "counts. Pass duplicates='max' for the best."
        )
    found = pd.Index(column.drop_duplicates(), tupleize_cols=False)
    present = unwrap_ids(found.dropna())
    if len(present) < len(found) and options.missing == "raise":
        raise RecframeError(
            f"model={quote(label)}: must not be null, but is null in some rows. Pass "
            "missing='unranked' to rank these by no model but count their relevance, "
            "or missing='drop' to remove them.",
            {"missing": "unranked"},
        )
    if len(present) == 0:
        raise RecframeError(
            f"model={quote(label)}: must hold one model or more, but holds none in any row"
        )
    if len(present) > MAX_MODELS:
        raise RecframeError(
            f"model={quote(label)}: must hold at most {MAX_MODELS:,} models, but holds "
            f"{len(present):,} values (such as {quote(present.tolist()[0])})"
        )
    return Models(label, present.take(sort_ids(present)).tolist())


def check_model(interactions: Interactions, label: Hashable, models: Array | None) -> None:
    """Raise if a column named like models varies in the rows of a user, or of a user and model."""
    users, column = interactions.users, interactions.get_column(label).array
    cells = {"user": users.groups.codes, "of": 0 if models is None else models, "model": column}
    each = pd.DataFrame(cells).drop_duplicates()
    several = each[each.duplicated(["user", "of"], keep=False)]
    if len(several):
        user = several["user"].iloc[0]
        one, other, *_ = several["model"][several["user"] == user].tolist()
        shown = f"{quote(one)} and {quote(other)} for user {quote(users.ids[[user]].tolist()[0])}"
        raise RecframeError(
            f"the column {quote(label)} has several values in the rows of "
            f"{several['user'].nunique():,} of {len(users.ids):,} users (such as {shown}), as "
            f"several rankings of a user have: {rank_apart(label, interactions.columns)}; else "
            "pass model=None",
            {"model": label if interactions.columns.item is not None else None},
        )


def check_one_list(interactions: Interactions, models: Array | None) -> None:
    """Raise if a user, or a user and model, has several lists, which are several rankings."""
    columns, groups = interactions.columns, interactions.users.groups
    lists = interactions.get_column(columns.list_number)
    rankings = groups.codes if models is None else combine(groups.codes, models + 1)
    first = pd.Series(rankings)[~lists.duplicated().to_numpy()]
    several = first[first.duplicated()]
    if columns.users and len(several):
        others = [one for one in columns.others if one != columns.list_number]
        both = quote([*others[:1], *columns.users]) if others else "several columns"
        raise RecframeError(
            f"user={quote(columns.user)} must have one list, but has several for "
            f"{count_of(several.nunique(), 'user')}. Pass user={both} to rank each list "
            "by itself, or join them in the files."
        )
