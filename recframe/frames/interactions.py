"""The border: labels and frames above it, arrays below it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_bool_dtype, is_numeric_dtype, is_object_dtype

from recframe.errors import RecframeError
from recframe.frames.columns import Columns, get_column
from recframe.frames.nulls import find_nulls, has_nulls
from recframe.frames.user_groups import Groups, group_users
from recframe.kernel.gains import Gains
from recframe.kernel.grouping import Array, group_offsets, sum_by_user, take
from recframe.kernel.rankings import Rankings
from recframe.metrics.names import Metric
from recframe.options import Options

ALL_USERS = "all"  # the index label where the frame is one ranking
NUMBER_OBJECTS = ("integer", "floating", "mixed-integer-float", "empty")


class Interactions(NamedTuple):
    """The columns of a frame in their roles, as arrays.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,), int, or None
        The positions in the frame of the rows kept; None where all are.
    groups : Groups
        The rows of each user.
    relevant : ndarray of shape (n_rows,), bool
        Whether each row is relevant, in grouped order.
    scores : dict
        Label of each score column: (values, ranked), in grouped order; `ranked` is a boolean
        array, or None where every row is ranked.
    n_unlisted : ndarray of shape (n_users,), int
        Relevant items of each user that have no row.
    gains : Gains, default None
        What the rows, in grouped order, and those items add to nDCG; None: 1 where relevant.
    """

    rows: Array | None
    groups: Groups
    relevant: Array
    scores: dict[Hashable, tuple[Array, Array | None]]
    n_unlisted: Array
    gains: Gains | None = None

    def rankings(self, score: Hashable) -> Rankings:
        """Return the ranked rows of every user by one score column."""
        values, ranked = self.scores[score]
        offsets = self.groups.offsets
        if ranked is None:
            return Rankings(values, self.relevant, offsets, self.n_unlisted, self.gains)
        return Rankings(
            values[ranked],
            self.relevant[ranked],
            group_offsets(sum_by_user(ranked, offsets)),
            sum_by_user(self.relevant & ~ranked, offsets) + self.n_unlisted,
            None if self.gains is None else self.gains.rank(ranked, self.relevant, offsets),
        )


def read_rows(frame: pd.DataFrame, columns: Columns, options: Options) -> Interactions:
    """Return the arrays of a frame's columns, nulls treated as `missing` says.

    Without a relevance column no row is relevant yet: `truth.read_interactions` looks them up.
    """
    user = None if columns.user is None else get_column(frame, columns.user)
    item = None if columns.item is None else get_column(frame, columns.item)
    relevant = None if columns.relevant is None else get_column(frame, columns.relevant)
    scores = [get_column(frame, label) for label in columns.scores]
    rows = None
    n_rows = len(frame)
    if options.missing == "drop":
        complete = np.ones(n_rows, bool)
        for column in [user, item, relevant, *scores]:
            if column is not None:
                complete &= ~find_nulls(column)
        if not complete.all():
            rows = np.flatnonzero(complete)
            n_rows = len(rows)
            user = None if user is None else user[complete]
            relevant = None if relevant is None else relevant[complete]
            scores = [column[complete] for column in scores]
    if user is None:
        groups = Groups(pd.Index([ALL_USERS]), None, np.array([0, n_rows]))
    else:
        groups = group_users(user, columns.user)
    if relevant is None:
        flags = np.zeros(n_rows, bool)
    else:
        flags = _in_order(relevant_flags(relevant, columns.relevant, options), groups)
    read = {
        label: score_values(column, label, options, groups)
        for label, column in zip(columns.scores, scores, strict=True)
    }
    return Interactions(rows, groups, flags, read, np.broadcast_to(np.int64(0), len(groups.users)))


def _in_order(values: Array, groups: Groups) -> Array:
    """Return values of rows in grouped order."""
    return values if groups.order is None else take(values, groups.order)


def relevant_flags(relevant: pd.Series, label: Hashable, options: Options) -> Array:
    """Return which rows are relevant, or raise where the column does not say so."""
    if has_nulls(relevant):
        nulls = find_nulls(relevant)
        raise RecframeError(
            f"relevant={label!r}: must not be null, found {int(nulls.sum())} null of "
            f"{len(relevant)} rows (the first in row {int(nulls.argmax())}); "
            "fill them in or pass missing='drop'"
        )
    values = relevance_values(relevant, label)
    if options.min_relevance is not None:
        return values >= options.min_relevance
    if values.dtype.kind == "b":
        return values
    if len(values) and (values.min() < 0 or values.max() > 1 or _any_fraction(values)):
        raise RecframeError(
            f"relevant={label!r}: must be boolean or 0/1, found values from {values.min()} to "
            f"{values.max()}; pass min_relevance= the value from which on a row is relevant"
        )
    return values.view(bool) if values.itemsize == 1 else values.astype(bool)


def relevance_values(relevant: pd.Series, label: Hashable) -> Array:
    """Return the values of a relevance column without nulls, or raise."""
    if is_object_dtype(relevant.dtype) and infer_dtype(relevant) == "boolean":
        relevant = relevant.astype(bool)
    return _numbers(relevant, "relevant", label, bool_allowed=True)


def _any_fraction(values: Array) -> bool:
    """Return whether values in [0, 1] are neither 0 nor 1."""
    return values.dtype.kind not in "iu" and not np.isin(values, (0, 1)).all()


def score_values(
    score: pd.Series, label: Hashable, options: Options, groups: Groups
) -> tuple[Array, Array | None]:
    """Return the values of a score column in grouped order and which of them are ranked."""
    nulls = find_nulls(score) if has_nulls(score) else None
    if nulls is not None and options.missing == "raise":
        raise RecframeError(
            f"score={label!r}: must not be null, found {int(nulls.sum())} null of {len(score)} "
            f"rows (the first in row {int(nulls.argmax())}); pass missing='unranked' to leave "
            "these rows out of the ranking, or missing='drop' to remove them"
        )
    if nulls is None:
        values = _numbers(score, "score", label)
    else:
        present = _numbers(score[~nulls], "score", label)
        values = np.zeros(len(score), present.dtype)
        values[~nulls] = present
    ranked = None if nulls is None else ~nulls
    if options.min_score is not None:
        recommended = values >= options.min_score
        ranked = recommended if ranked is None else ranked & recommended
    return _in_order(values, groups), None if ranked is None else _in_order(ranked, groups)


def _numbers(column: pd.Series, role: str, label: Hashable, *, bool_allowed: bool = False) -> Array:
    """Return the values of a column without nulls in their own dtype, or raise."""
    dtype = column.dtype
    if is_object_dtype(dtype) and infer_dtype(column) in NUMBER_OBJECTS:
        column = pd.to_numeric(column)
        dtype = column.dtype
    is_bool = is_bool_dtype(dtype)
    is_number = is_numeric_dtype(dtype) and dtype.kind != "c"
    if not (bool_allowed if is_bool else is_number):
        required = "boolean, 0/1 or numbers" if bool_allowed else "numbers"
        found = f"dtype {dtype}"
        if len(column):
            found += f" (such as {column.iloc[0]!r})"
        remedy = "" if is_bool else "; convert it, for example with pd.to_numeric"
        raise RecframeError(f"{role}={label!r}: must be {required}, found {found}{remedy}")
    if isinstance(dtype, np.dtype):
        return column.to_numpy(dtype.newbyteorder("="))
    return column.to_numpy(getattr(dtype, "numpy_dtype", None))


def check_lengths(
    rankings: Rankings,
    users: pd.Index[Any],
    score: Hashable,
    metrics: Sequence[Metric],
    *,
    empty_allowed: bool = False,
) -> None:
    """Raise where a user has fewer ranked rows than the cut-off of a metric."""
    n_ranked = np.diff(rankings.offsets)
    k = max((metric.k for metric in metrics if metric.k is not None), default=0)
    short = np.flatnonzero((n_ranked < k) & (n_ranked >= empty_allowed))
    n_short = len(short)
    if n_short:
        user = int(short[n_ranked[short].argmin()])
        found = f"user {users[[user]].tolist()[0]!r} has {n_ranked[user]}"
        raise RecframeError(
            f"k={k} is more than the ranked rows by {score!r} of {n_short} of {len(users)} users "
            f"({found}); pass short='pad' to divide by k all the same, short='shrink' to divide by "
            "the rows there are, or short='nan' for NaN"
        )
