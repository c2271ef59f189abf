"""The border: labels and frames above it, arrays below it; and arrays back to tables."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_bool_dtype, is_numeric_dtype, is_object_dtype

from recframe.columns import Columns, get_column
from recframe.errors import RecframeError
from recframe.kernel import Array, Rankings, group_offsets, group_rows, sum_by_user
from recframe.metrics import Metric
from recframe.options import Options

ALL_USERS = "all"  # the index label where the frame is one ranking
NUMBER_OBJECTS = ("integer", "floating", "mixed-integer-float", "empty")


class Groups(NamedTuple):
    """The rows of each user.

    Parameters
    ----------
    users : Index of length n_users
        The user ids, each once, in the order the groups are counted in.
    order : ndarray of shape (n_rows,), int, or None
        The rows in grouped order; None where they are grouped as they stand.
    offsets : ndarray of shape (n_users + 1,), int
        The bounds of the groups in that order.
    """

    users: pd.Index[Any]
    order: Array | None
    offsets: Array


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
    """

    rows: Array | None
    groups: Groups
    relevant: Array
    scores: dict[Hashable, tuple[Array, Array | None]]

    def rankings(self, score: Hashable) -> Rankings:
        """Return the ranked rows of every user by one score column."""
        values, ranked = self.scores[score]
        offsets = self.groups.offsets
        if ranked is None:
            unranked = np.zeros(len(offsets) - 1, np.int64)
            return Rankings(values, self.relevant, offsets, unranked)
        return Rankings(
            values[ranked],
            self.relevant[ranked],
            group_offsets(sum_by_user(ranked, offsets)),
            sum_by_user(self.relevant & ~ranked, offsets),
        )


def read_interactions(frame: pd.DataFrame, columns: Columns, options: Options) -> Interactions:
    """Return the arrays of a frame's columns, nulls treated as `missing` says."""
    user = None if columns.user is None else get_column(frame, columns.user)
    relevant = None if columns.relevant is None else get_column(frame, columns.relevant)
    scores = [get_column(frame, label) for label in columns.scores]
    rows = None
    n_rows = len(frame)
    if options.missing == "drop":
        complete = np.ones(n_rows, bool)
        for column in [user, relevant, *scores]:
            if column is not None:
                complete &= ~_nulls(column)
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
    return Interactions(rows, groups, flags, read)


def _in_order(values: Array, groups: Groups) -> Array:
    """Return values of rows in grouped order."""
    return values if groups.order is None else values[groups.order]


def group_users(user: pd.Series, label: Hashable) -> Groups:
    """Return the rows of each user, or raise where an id is null."""
    starts = _run_starts(user)
    # Ids usually come in runs; then only the first of each run is looked at.
    in_runs = 2 * len(starts) <= len(user)
    codes, found = pd.factorize(user.iloc[starts] if in_runs else user)
    if len(codes) and codes.min() < 0:
        nulls = _nulls(user)
        raise RecframeError(
            f"user={label!r}: ids must not be null, found {int(nulls.sum())} null of "
            f"{len(user)} rows (the first in row {int(nulls.argmax())}); "
            "remove those rows or pass missing='drop'"
        )
    users = pd.Index(found, name=label)
    if in_runs and len(users) == len(starts):
        return Groups(users, None, np.append(starts, len(user)))
    if in_runs:
        codes = np.repeat(codes, np.diff(starts, append=len(user)))
    order, offsets = group_rows(codes, len(users))
    return Groups(users, order, offsets)


def _run_starts(user: pd.Series) -> Array:
    """Return the rows where an id differs from the one before; all where that is not looked for."""
    if isinstance(user.dtype, pd.CategoricalDtype):
        values = user.cat.codes.to_numpy()
    elif isinstance(user.dtype, np.dtype) and user.dtype.kind in "iufbmM":
        values = user.to_numpy()
    else:
        return np.arange(len(user))
    changes = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return np.flatnonzero(changes)


def relevant_flags(relevant: pd.Series, label: Hashable, options: Options) -> Array:
    """Return which rows are relevant, or raise where the column does not say so."""
    nulls = _nulls(relevant)
    if nulls.any():
        raise RecframeError(
            f"relevant={label!r}: must not be null, found {int(nulls.sum())} null of "
            f"{len(relevant)} rows (the first in row {int(nulls.argmax())}); "
            "fill them in or pass missing='drop'"
        )
    if is_object_dtype(relevant.dtype) and infer_dtype(relevant) == "boolean":
        relevant = relevant.astype(bool)
    values = _numbers(relevant, "relevant", label, bool_allowed=True)
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


def _any_fraction(values: Array) -> bool:
    """Return whether values in [0, 1] are neither 0 nor 1."""
    return values.dtype.kind not in "iu" and not np.isin(values, (0, 1)).all()


def score_values(
    score: pd.Series, label: Hashable, options: Options, groups: Groups
) -> tuple[Array, Array | None]:
    """Return the values of a score column in grouped order and which of them are ranked."""
    nulls = _nulls(score) if score.hasnans or score.dtype.kind == "f" else None
    if nulls is not None and not nulls.any():
        nulls = None
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


def _nulls(column: pd.Series) -> Array:
    """Return which values of a column are null; a NaN inside a nullable column is one too."""
    nulls = column.isna().to_numpy(bool)
    if not isinstance(column.dtype, np.dtype) and column.dtype.kind == "f" and not nulls.all():
        nulls = nulls.copy()
        nulls[~nulls] = np.isnan(column[~nulls].to_numpy(np.float64))
    return nulls


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
        return column.to_numpy()
    return column.to_numpy(getattr(dtype, "numpy_dtype", None))


def check_lengths(
    rankings: Rankings, users: pd.Index[Any], score: Hashable, metrics: Sequence[Metric]
) -> None:
    """Raise where a user has fewer ranked rows than the cut-off of a metric."""
    n_ranked = np.diff(rankings.offsets)
    k = max((metric.k for metric in metrics if metric.k is not None), default=0)
    n_short = int((n_ranked < k).sum())
    if n_short:
        user = int(n_ranked.argmin())
        found = f"user {users[[user]].tolist()[0]!r} has {n_ranked[user]}"
        raise RecframeError(
            f"k={k} is more than the ranked rows by {score!r} of {n_short} of {len(users)} users "
            f"({found}); pass short='pad' to divide by k all the same, short='shrink' to divide by "
            "the rows there are, or short='nan' for NaN"
        )


def sort_users(users: pd.Index[Any]) -> tuple[Array | slice, pd.Index[Any]]:
    """Return what picks users in sorted order, and the users sorted."""
    if users.is_monotonic_increasing:
        return slice(None), users
    ranks, in_order = pd.factorize(users, sort=True)
    order = np.empty(len(ranks), np.int64)
    order[ranks] = np.arange(len(ranks))
    return order, pd.Index(in_order, name=users.name)


def to_table(
    values: dict[Hashable, Array], users: pd.Index[Any], metrics: Sequence[str]
) -> pd.DataFrame:
    """Return the per-user table of values of shape (n_metrics, n_users) for each score."""
    order, index = sort_users(users)
    scores = pd.Index(list(values), tupleize_cols=False)
    columns = pd.MultiIndex.from_product([scores, metrics], names=["score", "metric"])
    cells = np.concatenate(list(values.values()))[:, order]
    return pd.DataFrame(cells.T, index=index, columns=columns, copy=False)


def tidy_table(per_user: pd.DataFrame) -> pd.DataFrame:
    """Return a per-user table as plain columns: user, score, and one for each metric."""
    scores, metrics = (list(per_user.columns.unique(level)) for level in ("score", "metric"))
    user = "user" if per_user.index.name is None else per_user.index.name
    if user in ("score", *metrics):
        raise RecframeError(f"the user column {user!r} has the name of a result; rename it")
    cells = per_user.to_numpy().reshape(-1, len(metrics))
    tidy = pd.DataFrame(cells, columns=metrics)
    tidy.insert(0, user, per_user.index.repeat(len(scores)))
    tidy.insert(1, "score", np.tile(pd.Index(scores).to_numpy(), len(per_user)))
    return tidy


def mean_table(per_user: pd.DataFrame) -> pd.DataFrame:
    """Return the means of a per-user table: a row for each score, a column for each metric."""
    scores, metrics = (per_user.columns.unique(level) for level in ("score", "metric"))
    means = per_user.mean().to_numpy().reshape(len(scores), len(metrics))
    return pd.DataFrame(means, index=scores, columns=metrics)


def sum_and_count(per_user: pd.DataFrame) -> pd.DataFrame:
    """Return what a part of a per-user table adds to the means; NaN is left out."""
    return pd.DataFrame({"sum": per_user.sum(), "count": per_user.count()})


def add_up(parts: pd.DataFrame) -> pd.DataFrame:
    """Return the sums and counts of several parts of a per-user table, joined, as those of one."""
    return parts.groupby(level=["score", "metric"], sort=False).sum()


def mean_of_sums(parts: pd.DataFrame) -> pd.DataFrame:
    """Return the means of a per-user table from the sums and counts of its parts, joined."""
    totals = add_up(parts)
    return mean_table((totals["sum"] / totals["count"]).to_frame().T)


def single_table(per_user: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    """Return a per-user table of one metric with a plain column for each score."""
    return per_user.set_axis(per_user.columns.unique("score").rename(metric.label), axis=1)
