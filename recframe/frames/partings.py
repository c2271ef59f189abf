"""Partings: columns without a role that seem to part a user's rows: lists, models, train and test.

They are looked for in rows of a few places, by what they hold and not by their names.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_numeric_dtype

from recframe.errors import DAMAGE, Choice, RecframeError, option, quote
from recframe.frames.columns import Columns
from recframe.frames.names import find_role, get_column, is_infer, leave_out, list_fields
from recframe.frames.splits import check_splits, is_flag
from recframe.frames.words import is_of_row, is_time, less_is_better
from recframe.kernel.grouping import combine
from recframe.kernel.threads import Array
from recframe.notes import note
from recframe.options import Options

MOST_SEEN = 1 << 12  # rows of a place; with fewer a place has all rows of its users
MOST_WHOLE = 1 << 16  # rows among which all of some users are looked at
N_USERS_SEEN = 100  # at each place, of rows in memory
N_VALUES_SEEN = 20  # of a column; more are no models
MOST_RANKINGS = 20  # of a unit; more are of a group, such as a tenant or a country
FEW_SHARES, MANY_ROWS = 3, 20  # values, of which probabilities have more in so many rows
NEARLY = 0.9  # of the values, or of the users with one, that are as all must be
# Times as text and numbers: 2024-01-31, 20240131, 7:30, seconds since 1970 or parts of them.
MOMENT = re.compile(
    r"1\d{9}(\d{3})*|(19|20)\d\d[01]\d[0-3]\d|.*\d[-/]\d\d?[-/]\d.*|.*\d:[0-5]\d.*"
    r"|.*(19|20)\d\d\.\d\d?\.\d.*|.*\d\.\d\d?\.(19|20)\d\d.*"
)


def list_others(
    sample: pd.DataFrame, columns: Columns, options: Options, *, asks_unit: bool
) -> tuple[list[Hashable], list[Hashable]]:
    """Return the labels that may part rows by name and dtype, and those that may be scores."""
    may_part = is_infer(options.user) or options.model is not None
    may_rank = is_infer(options.score) and len(columns.score_columns) == 1
    kinds = {label: dtype.kind for label, dtype in list_fields(sample)} if columns.others else {}
    others, floats = list[Hashable](), list[Hashable]()
    for label in columns.others if columns.users else ():
        role, kind = find_role(label), kinds[label]
        if role == "user" and asks_unit:
            others.append(label)
        elif role is None:  # numbers of times and events part nothing, and texts say what they are
            is_number = kind in "iu" and not (is_of_row(label) or is_time(label))
            is_other = kind in "OU" or (kind in "biuf" and is_flag(label))
            others += [label] * (may_part and (is_number or is_other))
            floats += [label] * (may_rank and kind == "f")
    texts_first = sorted(others, key=lambda label: kinds[label] in "iu")  # numbers may be ranks
    return texts_first, floats


def take_places(n_rows: int) -> list[slice]:
    """Return the places at which rows are looked at: all of few rows, else three."""
    if n_rows <= MOST_SEEN:
        return [slice(0, n_rows)]
    starts = np.linspace(0, n_rows - MOST_SEEN, 3, dtype=int).tolist()
    return [slice(start, start + MOST_SEEN) for start in starts]


def take_users(ids: pd.Series) -> Array:
    """Return the positions of all rows of some users, who stand at three places of their ids.

    Of users with very many rows they are the first ones.
    """
    if len(ids) <= MOST_SEEN:
        return np.arange(len(ids))
    places = [ids.iloc[place].drop_duplicates() for place in take_places(len(ids))]
    users = pd.concat([one.head(N_USERS_SEEN) for one in places])
    rows = np.flatnonzero(ids.isin(users))
    if len(rows) > 3 * MOST_SEEN:  # fewer users, but two
        codes, _ = pd.factorize(ids.iloc[rows])
        n_before = np.bincount(codes).cumsum()
        rows = rows[codes < max(2, int(np.searchsorted(n_before, 3 * MOST_SEEN)))]
    return rows[:MOST_WHOLE]


def _join(places: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all places."""
    with warnings.catch_warnings():  # pandas 2 warns of columns without a value
        warnings.simplefilter("ignore", FutureWarning)
        return places[0] if len(places) == 1 else pd.concat(places)


def check_others(
    places: Sequence[pd.DataFrame], labels: Sequence[Hashable], columns: Columns, options: Options
) -> None:
    """Raise where a column seems to hold the lists of users or the models, of two users or more."""
    rows, kept = _join(places), None
    try:
        user = combine(*(_encode(rows, label)[0] for label in columns.users))
    except DAMAGE:  # of ids that are none, which reading all rows refuses
        return
    if len(places) > 1 or len(rows) >= MOST_SEEN:  # users may have rows beyond these
        ends = np.cumsum([len(place) for place in places])
        kept = np.flatnonzero(~np.isin(user, user[[0, *ends[:-1], *(ends - 1)]]))
        user = pd.factorize(user[kept])[0]
    check_splits(rows, labels, columns, options)
    for label in labels if user.max(initial=0) else ():
        if not (is_of_row(label) or is_time(label)):
            _check_other(rows, label, user, kept, columns, options)


def are_classes(places: Sequence[pd.DataFrame], columns: Columns) -> bool:
    """Return whether the score holds 0 and 1 alone, or nothing."""
    with suppress(*DAMAGE):  # of texts
        scores = [get_column(one, columns.score_columns[0]) for one in places]
        values = np.concatenate([one.to_numpy(float, na_value=np.nan) for one in scores])
        zeros, ones = values == 0, values == 1
        return bool((zeros | ones | np.isnan(values)).all() and zeros.any() and ones.any())
    return False


def check_classes(
    places: Sequence[pd.DataFrame], labels: Sequence[Hashable], columns: Columns
) -> None:
    """Raise where one column of numbers between 0 and 1 stands beside a score of classes."""
    rows, score = _join(places), columns.score_columns[0]
    shares = [one for one in labels if _are_shares(get_column(rows, one))]
    with suppress(*DAMAGE):  # of ids that are none
        by = [_encode(rows, one)[0] for one in (*columns.users, columns.item) if one is not None]
        own = {one: _encode(rows, one)[0] for one in shares}
        decided = [one for one in shares if any(_are_decided(own[one], of) for of in by)]
        shares = leave_out(shares, decided if len(rows) >= MANY_ROWS else [])
    if len(shares) == 1:
        raise RecframeError(
            f"score: {quote(score)} holds 0 and 1 alone, as classes do, and {quote(shares[0])} "
            f"numbers between them, as probabilities; pass {option('score', shares[0])} to rank by "
            f"it, or {option('score', score)}",
            {"score": Choice([shares[0], score])},
        )


def _are_shares(column: pd.Series) -> bool:
    """Return whether numbers lie between 0 and 1, some of them neither."""
    values = column.to_numpy(float, na_value=np.nan)
    values = values[~np.isnan(values)]
    are_inside = (values >= 0) & (values <= 1)
    are_many = len(np.unique(values)) > FEW_SHARES or len(values) < MANY_ROWS
    return bool(are_inside.all() and (values % 1 > 0).any() and are_many)


def check_unit(places: Sequence[pd.DataFrame], label: Hashable, columns: Columns) -> None:
    """Raise where each ranking has one value of a column of users, and several have the same.

    The rows are those of some of these users, all of them.
    """
    rows = _join(places)
    rows = rows[get_column(rows, label).notna().to_numpy()]
    try:
        user = combine(*(_encode(rows, one)[0] for one in columns.users))
        codes, values = _encode(rows, label)
    except DAMAGE:  # of objects that are no values
        return
    of_rankings = np.unique(combine(user, codes)) % max(1, len(values))
    n_again = int(np.count_nonzero(np.bincount(of_rankings) > 1))
    are_few = len(of_rankings) <= MOST_RANKINGS * len(values)
    if len(rows) and _are_decided(codes, user) and n_again > 1 and are_few:
        raise RecframeError(
            f"unit: rankings of one {quote(label)} are not independent, and {n_again:,} of "
            f"{len(values):,} that were looked at have several; pass {option('unit', label)} to "
            f"count the mean of each one's rankings as one value, or {option('unit', None)} to "
            "count each ranking by itself"
        )


def _check_other(
    rows: pd.DataFrame,
    label: Hashable,
    user: Array,
    kept: Array | None,
    columns: Columns,
    options: Options,
) -> None:
    """Raise where a column seems to hold lists or models; note one that may hold models."""
    codes, values = np.empty(0, int), pd.Index([])
    with suppress(*DAMAGE):  # of objects that are no values
        codes, values = _encode(rows, label, kept)
    n_users, n_values = int(user.max()) + 1, len(values)
    if not 1 < n_values <= len(codes) // 2:
        return
    cells, counts = np.unique(user * n_values + codes, return_counts=True)
    n_most = n_users * n_values  # cells, where each user has each value
    if (len(cells) != n_values and len(cells) < NEARLY * n_most) or values.hasnans:
        return
    n_several = int(np.count_nonzero(np.bincount(cells // n_values) > 1))
    each_of_one = len(cells) == n_values and bool(np.mean(counts > 1) >= NEARLY)
    are_lists = is_infer(options.user) and each_of_one and n_several > max(1, n_users // 2)
    least = 2 if columns.item is not None else n_values + 1  # else items may be meant
    each_of_all = len(cells) >= NEARLY * n_most and int(counts.min()) >= least
    are_models = is_infer(options.model) and each_of_all and n_values <= N_VALUES_SEEN
    are_models = are_models and not less_is_better(label)  # as a rank or a position
    if not (are_lists or are_models) or _are_times_or_texts(values, are_models=are_models):
        return
    by = [one for one in (columns.item, columns.relevant) if one is not None]
    with suppress(*DAMAGE):  # of ids that are none
        if any(_are_decided(codes, _encode(rows, one, kept)[0]) for one in by):
            return
    if are_lists:
        raise _lists_error(label, columns, n_several, n_users)
    flat = np.zeros(n_most, int)
    flat[cells] = counts
    of_users = flat.reshape(n_users, n_values)
    if not _follows_score(rows, kept, user, values, codes, columns):
        if (of_users == of_users[:, :1]).all():
            raise _models_error(label, columns, values)
        if np.mean(of_users == np.median(of_users, axis=0)) >= NEARLY:
            note(**{f"models:{quote(label)}": 1})


def _encode(
    frame: pd.DataFrame, label: Hashable, rows: Array | None = None
) -> tuple[Array, pd.Index[Any]]:
    """Return the values of a column as codes, and the value of each code."""
    codes, values = pd.factorize(get_column(frame, label, rows), use_na_sentinel=False)
    return codes, pd.Index(values)


def _are_times_or_texts(values: pd.Index[Any], *, are_models: bool) -> bool:
    """Return whether values are times, texts of several words, or neither integers nor texts.

    The names of models may have several words.
    """
    known: pd.Index[Any] = getattr(values, "categories", values)
    if known.dtype.kind not in "iu" and infer_dtype(known.tolist()) != "string":
        return True
    first = list(map(str, values[:N_VALUES_SEEN].tolist()))
    are_texts = not are_models and any(one.count(" ") > 1 for one in first)
    return all(map(MOMENT.fullmatch, first)) or are_texts


def _are_decided(codes: Array, by: Array) -> bool:
    """Return whether rows that are alike in one column, some of them, are so in another."""
    n_pairs, n_alike = len(np.unique(combine(by, codes))), int(by.max()) + 1
    return n_pairs == n_alike < len(by)


def _follows_score(
    rows: pd.DataFrame, kept: Array | None, user: Array, values: Any, codes: Array, columns: Columns
) -> bool:
    """Return whether numbers rise or fall with the score of every user, as those of pages do."""
    score = get_column(rows, columns.score_columns[0], kept)
    if values.dtype.kind not in "iu" or not is_numeric_dtype(score.dtype):
        return False
    order = np.lexsort((score.to_numpy(float, na_value=np.nan), user))
    steps = np.diff(np.asarray(values, float)[codes[order]])[np.diff(user[order]) == 0]
    return bool((steps >= 0).all() or (steps <= 0).all())


def _lists_error(label: Hashable, columns: Columns, n_several: int, n_users: int) -> RecframeError:
    """Return the question whether a column tells the lists of a user apart."""
    both = [label, *columns.users]
    return RecframeError(
        f"each value of the column {quote(label)} is in rows of one user alone, and {n_several:,} "
        f"of {n_users:,} users that were looked at have several, as users have who were shown "
        f"several lists: pass {option('user', both)} to rank each by itself; else pass "
        f"{option('user', columns.user)}",
        {"user": Choice([both, columns.user])},
    )


def _models_error(label: Hashable, columns: Columns, values: Any) -> RecframeError:
    """Return the question whether a column tells models apart."""
    name, answer = (
        ("model", label) if columns.item is not None else ("user", [label, *columns.users])
    )
    one, other, *_ = values.tolist()
    return RecframeError(
        f"each value of the column {quote(label)} has equally many rows of each user (such as "
        f"{quote(one)} and {quote(other)}), as the lists of models have: pass "
        f"{option(name, answer)} to rank each by itself; else pass {option('model', None)}",
        {name: answer},
    )
