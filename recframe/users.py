"""Rows by user: which rows are whose, and the users in sorted order."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import RecframeError
from recframe.groups import Array, argsort, group_rows, in_slices, run_starts, sort_numbers


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
    sorted_by : ndarray of shape (n_users,), int, or None
        The order that sorts the users, where it is known already.
    """

    users: pd.Index[Any]
    order: Array | None
    offsets: Array
    sorted_by: Array | None = None


def group_users(user: pd.Series, label: Hashable) -> Groups:
    """Return the rows of each user, or raise where an id is null."""
    if user.hasnans:
        nulls = user.isna().to_numpy()
        raise RecframeError(
            f"user={label!r}: ids must not be null, found {int(nulls.sum())} null of "
            f"{len(user)} rows (the first in row {int(nulls.argmax())}); "
            "remove those rows or pass missing='drop'"
        )
    numbers, text = _as_numbers(user), _as_text(user)
    if numbers is not None:
        starts = run_starts(numbers)
    elif text is not None:
        starts = _text_run_starts(text)
    else:
        starts = np.arange(len(user))
    # Ids usually come in runs; then only the first of each run is looked at.
    if 2 * len(starts) <= len(user):
        return _group_runs(user, label, starts)
    if numbers is not None and (found := sort_numbers(numbers)) is not None:
        order, in_order = found
        starts = run_starts(in_order)
        users = pd.Index(user.iloc[order[starts]], dtype=user.dtype, name=label)
        return Groups(users, order, np.append(starts, len(user)), np.arange(len(starts)))
    if text is not None:
        codes, distinct = _encode_text(text)
        users = pd.Index(distinct, dtype=user.dtype, name=label)
    else:
        codes, distinct = pd.factorize(user)
        users = pd.Index(distinct, dtype=distinct.dtype, name=label)
    return Groups(users, *group_rows(codes, len(users)))


def _group_runs(user: pd.Series, label: Hashable, starts: Array) -> Groups:
    """Return the rows of each user, whose ids change at these rows only."""
    codes, distinct = pd.factorize(user.iloc[starts])
    users = pd.Index(distinct, dtype=distinct.dtype, name=label)
    if len(users) == len(starts):
        return Groups(users, None, np.append(starts, len(user)))
    codes = np.repeat(codes, np.diff(starts, append=len(user)))
    return Groups(users, *group_rows(codes, len(users)))


def _as_numbers(user: pd.Series) -> Array | None:
    """Return numbers in the order of the ids, or None where they are not of that kind."""
    if isinstance(user.dtype, pd.CategoricalDtype):
        return user.cat.codes.to_numpy()
    if isinstance(user.dtype, np.dtype) and user.dtype.kind in "iufbmM":
        return user.to_numpy()
    return None


def _as_text(user: pd.Series) -> pa.Array | None:
    """Return ids that Arrow holds as text, or None where they are not of that kind."""
    if not isinstance(user.dtype, pd.StringDtype | pd.ArrowDtype):
        return None
    values = pa.array(user.array)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    return (
        values if pa.types.is_large_string(values.type) or pa.types.is_string(values.type) else None
    )


def _text_run_starts(text: pa.Array) -> Array:
    """Return the positions of the texts that differ from the one before; the first does."""
    differs = np.ones(len(text), bool)
    if len(text) > 1:
        changes = pc.not_equal(text.slice(1), text.slice(0, len(text) - 1))
        differs[1:] = changes.to_numpy(zero_copy_only=False)
    return np.flatnonzero(differs)


def _encode_text(text: pa.Array) -> tuple[Array, pa.Array]:
    """Return the code of each text and the distinct texts."""

    def encode(start: int, stop: int) -> pa.Array:
        return text.slice(start, stop - start).dictionary_encode()

    # Slices are encoded in threads, each with codes of its own, which are then made one.
    encoded = pa.chunked_array(in_slices(encode, 0, len(text))).unify_dictionaries()
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in encoded.chunks])
    return codes, encoded.chunk(0).dictionary


def sort_users(groups: Groups) -> Array:
    """Return the order that sorts the users."""
    return order_of_ids(groups.users) if groups.sorted_by is None else groups.sorted_by


def order_of_ids(users: pd.Index[Any]) -> Array:
    """Return the order that sorts distinct ids."""
    if isinstance(users.dtype, np.dtype) and users.dtype.kind in "iufmM":
        return argsort(users.to_numpy())
    # Sorts ids of several types too, numbers before texts.
    return argsort(pd.factorize(users, sort=True)[0])
