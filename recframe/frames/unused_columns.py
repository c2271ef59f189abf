"""Columns without a role that seem to divide a user's rows: lists, models, train and test.

They are found by the values in rows at a few places, and not by their names.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

from recframe.errors import DAMAGE, Choice, RecframeError, as_text, quote
from recframe.frames.classes import check_confidence
from recframe.frames.columns import Columns
from recframe.frames.names import find_role, get_column, has_some, is_infer, list_fields, plain_name
from recframe.frames.roles import list_truth_labels
from recframe.frames.seen_rows import (
    MOST_SEEN,
    NEARLY,
    SeenColumn,
    SeenRows,
    concat_places,
    decides,
    factorize,
)
from recframe.frames.splits import OFF, ON, check_splits
from recframe.frames.words import (
    BY_MEANING,
    has_word,
    is_index,
    is_of_row,
    less_is_better,
    may_rank_anew,
    means_rank,
    split_words,
)
from recframe.kernel.grouping import combine
from recframe.notes import note
from recframe.options import Options

N_VALUES_SEEN = 20  # the most values of a column of models
MOST_RANKINGS = 20  # the most rankings of a unit; a tenant or a country has more
MANY_CELLS = 20  # users times values: so many have equally many rows by no chance
LEAST_STEPS = 6  # from row to row, so that ranks and scores do not agree by chance
FEW_TEXTS = 5  # So few texts may be features of rows, such as devices.
SOME_USERS = 0.25  # the least share of users with several lists
OF_CLASSES = ("probability", "rawprediction")  # Classifiers of Spark name these so.
# Times as text and numbers: 2024-01-31, 20240131, 202401, 7:30, seconds since 1970 or their parts.
MOMENT = re.compile(
    r"1\d{9}(\d{3})*|(19|20)\d\d[0-5]\d([0-3]\d)?|.*\d[-/]\d\d?[-/]\d.*|.*\d:[0-5]\d.*"
    r"|.*(19|20)\d\d\.\d\d?\.\d.*|.*\d\.\d\d?\.(19|20)\d\d.*"
)


def list_others(
    sample: pd.DataFrame, columns: Columns, options: Options, *, asks_unit: bool
) -> tuple[list[Hashable], list[Hashable]]:
    """Return the labels that by name and dtype may divide rows, and the labels of other scores."""
    may_divide = is_infer(options.user) or options.model is not None
    may_rank = is_infer(options.score) and len(columns.score_columns) == 1
    kinds = {label: dtype.kind for label, dtype in list_fields(sample)}
    others, floats = list[Hashable](), list[Hashable]()
    for label in columns.others if columns.users else ():
        kind, role = kinds[label], find_role(label)
        if role == "user":  # A session may be one of several lists of a user.
            others += [label] * (asks_unit or is_infer(options.user))
        elif role is None and not is_index(label):
            is_number = kind in "iu" and not has_word(label, "cycle")
            is_number |= kind == "f" and not has_word(label, "attribute")
            is_other = kind in "bMOU" or is_number
            others += [label] * (may_divide and is_other)
            is_float = kind == "f" and not has_word(label, "time")
            floats += [label] * (may_rank and (is_float or plain_name(label) in OF_CLASSES))
    others.sort(key=lambda label: kinds[label] in "iuf")  # Texts first: numbers may be ranks.
    return others, floats


def check_others(
    places: Sequence[pd.DataFrame], labels: Sequence[Hashable], columns: Columns, options: Options
) -> None:
    """Raise if a column seems to hold the lists or models of two users or more."""
    rows = concat_places(places)
    try:
        user = combine(*(factorize(rows, label)[0] for label in columns.users))
    except DAMAGE:  # Reading all rows refuses invalid ids.
        return
    check_splits(rows, labels, columns, options)
    for label in [one for one in labels if plain_name(one) == "predictionlabel"]:
        check_confidence(rows, label, columns, options)
    if len(places) > 1 or len(rows) >= MOST_SEEN:  # The users at both ends may have more rows.
        ends = np.cumsum([len(place) for place in places])
        is_complete = ~np.isin(user, user[[0, *ends[:-1], *(ends - 1)]])
        rows, user = rows[is_complete], pd.factorize(user[is_complete])[0]
    seen = SeenRows(rows, user, columns, options)
    for label in labels if seen.n_users > 1 else ():
        if column := seen.read(label):
            is_time = has_word(label, "time") or _are_moments(column.distinct[:N_VALUES_SEEN])
            check = _check_times if is_time else _check_other
            check(seen, column)
    if columns.model is not None:  # Each model has ranks of its own.
        seen = replace(seen, user=combine(user, factorize(rows, columns.model)[0]))
    for label in labels:
        if means_rank(label) or may_rank_anew(label):
            _check_rank(seen, label)


def check_unit(places: Sequence[pd.DataFrame], label: Hashable, columns: Columns) -> None:
    """Raise if each ranking has one value in a column of users, and several have the same value.

    The rows are all rows of some of the users in this column.
    """
    rows = concat_places(places)
    rows = rows[get_column(rows, label).notna().to_numpy()]
    try:
        user = combine(*(factorize(rows, one)[0] for one in columns.users))
        codes, values = factorize(rows, label)
    except DAMAGE:  # Cells may be unhashable.
        return
    of_rankings = np.unique(combine(user, codes)) % max(1, len(values))
    n_again = int(np.count_nonzero(np.bincount(of_rankings) > 1))
    are_few = len(of_rankings) <= MOST_RANKINGS * len(values)
    if len(rows) and decides(user, codes) and n_again > 1 and are_few:
        raise RecframeError(
            f"unit: rankings of one {quote(label)} are not independent, and {n_again:,} of "
            f"{len(values):,} that were looked at have several. Pass unit={quote(label)} to "
            "count the mean of each one's rankings as one value, or unit=None to "
            "count each ranking by itself.",
            {"unit": Choice([label, None])},
        )


def _check_other(seen: SeenRows, column: SeenColumn) -> None:
    """Raise if a column seems to hold lists or models; note one that may hold them.

    A value that the item decides, such as a brand, is a model only if many users have equally many
    rows of each: models may rank different items.
    """
    label, codes, distinct, cells, counts, n_several = column
    columns, options, n_users, n_values = seen.columns, seen.options, seen.n_users, len(distinct)
    if n_values > len(codes) // 2:
        return
    if options.has_truth and is_infer(options.user):
        _check_shared(seen, column)
    is_of_one, is_of_all = len(cells) == n_values, len(cells) >= NEARLY * n_users * n_values
    if not (is_of_one or is_of_all):
        _note_divided(seen, column)
        return
    # A flag may be of a model, as "reranked" is.
    may_be_lists = is_infer(options.user) and is_of_one and not _are_flags(distinct)
    are_many = n_several > n_users // 2 or len(counts) >= MANY_CELLS
    is_usual = n_several > 1 and n_several >= SOME_USERS * n_users
    are_lists = may_be_lists and are_many and is_usual and np.mean(counts > 1) >= NEARLY
    are_models = is_infer(options.model) and is_of_all and _may_be_models(seen, column)
    if not (are_lists or are_models) or _are_times_or_texts(distinct, are_models=are_models):
        return
    is_of_item = seen.is_decided_by(columns.item, codes)
    if seen.is_decided_by(columns.relevant, codes) or (is_of_item and len(cells) < MANY_CELLS):
        return
    if are_lists and not is_of_item:
        reason = (
            f"each value of the column {quote(label)} is in rows of one user alone, and "
            f"{n_several:,} of {n_users:,} users that were looked at have several, as users have "
            "who were shown several lists"
        )
        raise _lists_error(label, columns, reason)
    if are_models:
        _check_models(seen, column, is_of_item=is_of_item)


def _check_shared(seen: SeenRows, column: SeenColumn) -> None:
    """Raise if users seem to have a list for each value of a column that truth has too.

    Each has as many rows as the user's others.
    """
    label, _, distinct, cells, counts, n_several = column
    is_usual = n_several > 1 and n_several >= SOME_USERS * seen.n_users
    is_of_page = less_is_better(label) or is_of_row(label)
    if is_of_page or not is_usual or np.mean(counts > 1) < NEARLY:
        return
    are_times = _are_times_or_texts(distinct, are_models=True)
    if are_times or label not in list_truth_labels(seen.options):
        return
    user, truth = cells // len(distinct), seen.options.truth
    are_equal = bool((counts == counts[np.searchsorted(user, user)]).all())
    are_equal &= not isinstance(truth, pd.DataFrame) or has_some(truth, label, distinct)
    if are_equal:
        reason = f"{n_several:,} of {seen.n_users:,} users that were looked at have several rows "
        reason += f"of each of several values of {quote(label)}, and truth has this column too"
        raise _lists_error(label, seen.columns, reason)


def _are_named_models(seen: SeenRows, column: SeenColumn) -> bool:
    """Return whether a column is named as one of models, and the rows of each lie together.

    Products have models too, and rows of one list may name the model that found them.
    """
    lists = seen.user * len(column.distinct) + column.codes
    n_changes = np.count_nonzero(np.diff(lists[np.argsort(seen.user, kind="stable")]))
    is_named = has_word(column.label, "model") and not has_word(column.label, "attribute")
    return is_named and int(n_changes) < len(column.cells)


def _may_be_models(seen: SeenRows, column: SeenColumn) -> bool:
    """Return whether values may be models: they are few, and in several rows of each user."""
    n_values = len(column.distinct)
    # Without items, values may be items.
    least = 2 if seen.columns.item is not None else n_values + 1
    least = 1 if _are_named_models(seen, column) else least
    # The values of ranks and of rows of a page are no models.
    is_of_page = less_is_better(column.label) or is_of_row(column.label)
    return n_values <= N_VALUES_SEEN and not is_of_page and int(column.counts.min()) >= least


def _note_divided(seen: SeenRows, column: SeenColumn) -> None:
    """Note texts that may tell the lists of users apart, such as searched words.

    Few texts, and numbers, may as well be features of rows.
    """
    are_texts = len(column.distinct) > FEW_TEXTS and column.distinct.dtype.kind not in "biuf"
    is_open = is_infer(seen.options.user) and is_infer(seen.options.model)
    may_be_lists = are_texts and is_open and not has_word(column.label, "attribute")
    if may_be_lists and not _are_times_or_texts(column.distinct, are_models=False):
        note(**{f"models:{quote(column.label)}": int(_count_divided(seen, column) > 0)})


def _check_models(seen: SeenRows, column: SeenColumn, *, is_of_item: bool) -> None:
    """Raise if all users have equally many rows of each value.

    Note values that have as many rows of nearly all users, of all if the item decides them, and
    perhaps more of one value than of another. Flags are not noted. A name of models is enough.
    """
    label = column.label
    steps = seen.list_steps(label)
    if len(steps) and ((steps >= 0).all() or (steps <= 0).all()):
        return  # Numbers of pages rise or fall with the score of every user.
    shape = seen.n_users, len(column.distinct)
    n_rows = np.bincount(column.cells, column.counts, shape[0] * shape[1]).reshape(shape)
    if (n_rows == n_rows[:, :1]).all():
        raise _models_error(label, seen.columns, column.distinct)
    share = np.mean(n_rows == np.median(n_rows, axis=0))
    is_even = share >= (1 if is_of_item else NEARLY) and not _are_flags(column.distinct)
    if is_even or _are_named_models(seen, column):
        note(**{f"models:{quote(label)}": 1})


def _check_times(seen: SeenRows, column: SeenColumn) -> None:
    """Raise if most users have several rows at each of several times, as in daily lists.

    A day such as the release of an item is decided by the item. Truth is asked about its own times.
    """
    label, options, distinct = column.label, seen.options, column.distinct
    first, *others = split_words(label)
    is_period = first in BY_MEANING["period"] and BY_MEANING["id"].issuperset(others)
    # Numbers with a time in their name, such as clicks_7_day, may be no times.
    are_times = is_period or distinct.dtype.kind not in "biu" or _are_moments(distinct)
    if not (is_infer(options.user) and are_times):
        return
    # Rows of truth do not know the day, so lists of different items are asked about too.
    n_several = _count_divided(seen, column, may_be_of_items=options.has_truth)
    if n_several and label not in list_truth_labels(options):
        reason = (
            f"{n_several:,} of {seen.n_users:,} users that were looked at have several rows "
            f"at each of several values of {quote(label)}, as daily lists have"
        )
        raise _lists_error(label, seen.columns, reason)


def _count_divided(seen: SeenRows, column: SeenColumn, *, may_be_of_items: bool = False) -> int:
    """Return the users with several rows at each of several values, 0 unless most users have them.

    The number is 0 too if items or relevance decide the value. If it `may_be_of_items`, items may
    decide values of which all users have equally many rows. Without items, all users must have so.
    """
    codes, counts, columns = column.codes, column.counts, seen.columns
    if np.mean(counts > 1) < NEARLY or column.n_several <= max(1, seen.n_users // 2):
        return 0
    are_equal = (counts == counts[0]).all() and len(counts) >= MANY_CELLS
    if columns.item is None:
        return column.n_several if are_equal and seen.options.duplicates == "raise" else 0
    with suppress(*DAMAGE):  # Items may not be read, and ids may be invalid.
        item, items = factorize(seen.frame, columns.item)
        # An item that a user has twice is asked about as such. Without items that users share,
        # values may be those of documents.
        is_once = len(np.unique(combine(seen.user, item))) == len(item) > len(items)
        by_item = decides(item, codes) and not (are_equal and may_be_of_items)
        if is_once and not (by_item or seen.is_decided_by(columns.relevant, codes)):
            return column.n_several
    return 0


def _are_times_or_texts(values: pd.Index[Any], *, are_models: bool) -> bool:
    """Return whether values are times, texts of several words, or neither integers nor texts.

    The names of models may have several words, and be fractions of a setting.
    """
    known: pd.Index[Any] = getattr(values, "categories", values)
    if (
        known.dtype.kind not in ("biuf" if are_models else "biu")
        and infer_dtype(known.tolist()) != "string"
    ):
        return True
    first = values[:N_VALUES_SEEN]
    are_texts = not are_models and any(str(one).count(" ") > 1 for one in first.tolist())
    return are_texts or _are_moments(first)


def _are_flags(values: pd.Index[Any]) -> bool:
    """Return whether all values are such as False and True, 0 and 1, or yes and no."""
    flags = [one.casefold() if isinstance(one, str) else one for one in values.tolist()]
    return {*flags} <= {*OFF, *ON}


def _are_moments(values: pd.Index[Any]) -> bool:
    """Return whether all values are times as text or numbers."""
    return all(MOMENT.fullmatch(as_text(value)) for value in values.tolist())


def _check_rank(seen: SeenRows, label: Hashable) -> None:
    """Raise if the scores of all users rise with their ranks, as distances do, or contradict them.

    Positions may be those that users saw, but ranks and scores should be of one ranking.
    """
    columns, options, score = seen.columns, seen.options, seen.columns.score_columns[0]
    if options.ascending is not None or len(columns.score_columns) > 1 or less_is_better(score):
        return
    steps = seen.list_steps(label)
    if len(steps) < LEAST_STEPS:
        return
    if (steps > 0).all():
        raise RecframeError(
            f"ascending: the scores of all users rise with {quote(label)}, as distances rise with "
            f"ranks. Pass ascending=True if the lowest {quote(score)} is the best, or False if "
            "the highest is.",
            {"ascending": True},
        )
    codes, values = factorize(seen.frame, label)
    are_ranks = len(values) <= np.bincount(seen.user).max() and (steps != 0).all()
    if not (are_ranks and is_infer(options.score) and may_rank_anew(label)):
        return  # Numbers of all rows are no ranks.
    steps = seen.list_steps(label, falls=True)
    if np.mean(steps > 0) > 1 - NEARLY and not seen.is_decided_by(columns.item, codes):
        raise RecframeError(
            f"score: {quote(label)} orders the rows otherwise than {quote(score)}. Pass "
            f"score={quote(label)} or score={quote(score)}, whichever is to be evaluated.",
            {"score": Choice([score, label])},
        )


def _lists_error(label: Hashable, columns: Columns, reason: str) -> RecframeError:
    """Return the refusal that asks whether a column tells the lists of a user apart."""
    both = [label, *columns.users]
    return RecframeError(
        f"{reason}: pass user={quote(both)} to rank each by itself; else pass "
        f"user={quote(columns.user)}",
        {"user": Choice([both, columns.user])},
    )


def _models_error(label: Hashable, columns: Columns, values: Any) -> RecframeError:
    """Return the refusal that asks whether a column tells models apart, or rankings of a user."""
    both = [label, *columns.users]
    one, other, *_ = values.tolist()
    alike = (
        f"each value of the column {quote(label)} has equally many rows of each user (such as "
        f"{quote(one)} and {quote(other)}), as the lists of models have: "
    )
    if columns.item is None:
        remedy = f"pass user={quote(both)} to rank each by itself; else pass model=None"
        return RecframeError(alike + remedy, {"user": both})
    apart = f"user={quote(both)} if each is a ranking with relevant items of its own"
    if len(columns.scores) > 1:  # A model has one score column.
        remedy = "pass model=None if the score columns are the models; else score= one and "
        remedy += f"model={quote(label)} to rank each by itself, or {apart}"
        return RecframeError(alike + remedy, {"model": None})
    is_named = find_role(label) == "model"
    remedy = f"pass model={quote(label)} to rank each by itself, {apart}, else model=None"
    answer = label if is_named else Choice([label, None], apart)
    return RecframeError(alike + remedy, {"model": answer})
