"""Rows by user: which rows are whose, and the users in sorted order."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import is_integer_dtype

from recframe.errors import RecframeError
from recframe.frames.nulls import find_nulls, has_nulls
from recframe.kernel.grouping import (
    Array,
    argsort,
    group_offsets,
    in_slices,
    rows_of_runs,
    run_bounds,
    sort_numbers,
)

N_SAMPLED = 1 << 16  # rows in which runs of ids are looked for first


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
    if isinstance(user.dtype, np.dtype) and not user.dtype.isnative:
        user = user.astype(user.dtype.newbyteorder("="))  # pandas hashes no other
    if has_nulls(user):
        nulls = find_nulls(user)
        raise RecframeError(
            f"user={label!r}: ids must not be null, found {int(nulls.sum())} null of "
            f"{len(user)} rows (the first in row {int(nulls.argmax())}); "
            "remove those rows or pass missing='drop'"
        )
    numbers, text = _as_numbers(user), _as_text(user)
    bounds = _find_runs(numbers, text)
    if bounds is None:
        order, begins, are_sorted = _sort_ids(user, numbers, text)
        offsets = np.append(np.flatnonzero(begins), len(user))
    else:
        heads = _ids(user, bounds[:-1], label)
        order, begins, are_sorted = _sort_ids(heads, _as_numbers(heads), _as_text(heads))
        if begins.all():
            # Each user is one run: the rows stay as they are.
            return Groups(heads, None, bounds, order if are_sorted else None)
        offsets = group_offsets(np.add.reduceat(np.diff(bounds)[order], np.flatnonzero(begins)))
        order = rows_of_runs(order, bounds[:-1], len(user))
    users = _ids(user, order[offsets[:-1]], label)
    return Groups(users, order, offsets, np.arange(len(users)) if are_sorted else None)


def _find_runs(numbers: Array | None, text: pa.Array | None) -> Array | None:
    """Return the bounds of runs of one id, or None where ids do not come in runs.

    Ids usually do; then only the first row of each run is looked at. As the first rows are, so
    are the others as a rule: where they have no runs the others are not searched.
    """
    if numbers is None and text is None:
        return None
    find: Any = _text_run_bounds if numbers is None else run_bounds
    ids: Any = text if numbers is None else numbers
    for rows in (ids[:N_SAMPLED], ids):
        bounds: Array = find(rows)
        if 2 * (len(bounds) - 1) > len(rows):
            return None
    return bounds


def _sort_ids(ids: Any, numbers: Array | None, text: pa.Array | None) -> tuple[Array, Array, bool]:
    """Return what `sort_numbers` does, of ids or codes of them, and whether ids are sorted then."""
    if numbers is not None and numbers.dtype.kind in "iu":
        return *sort_numbers(numbers), True
    codes = pd.factorize(ids)[0] if text is None else _encode_text(text)
    return *sort_numbers(codes), False


def _ids(user: pd.Series, rows: Array, label: Hashable) -> pd.Index[Any]:
    """Return the ids of rows."""
    ids: pd.Index[Any] = pd.Index(user.array.take(rows), dtype=user.dtype, name=label)
    return ids


def _as_numbers(user: pd.Series | pd.Index[Any]) -> Array | None:
    """Return numbers in the order of the ids, or None where they are not of that kind."""
    if isinstance(user.dtype, pd.CategoricalDtype):
        codes: Array = user.array.codes  # `user.cat.codes` would copy them
        return codes
    if is_integer_dtype(user.dtype) and not isinstance(user.dtype, np.dtype):
        return user.to_numpy(getattr(user.dtype, "numpy_dtype", None))
    if isinstance(user.dtype, np.dtype) and user.dtype.kind in "iufbmM":
        values = user.to_numpy()
        integer = {"b": np.uint8, "m": np.int64, "M": np.int64}.get(user.dtype.kind)
        return values if integer is None else values.view(integer)
    return None


def _as_text(user: pd.Series | pd.Index[Any]) -> pa.Array | None:
    """Return ids that Arrow holds as text, or None where they are not of that kind."""
    if not isinstance(user.dtype, pd.StringDtype | pd.ArrowDtype):
        return None
    values = pa.array(user.array)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    return (
        values if pa.types.is_large_string(values.type) or pa.types.is_string(values.type) else None
    )


def _text_run_bounds(text: pa.Array) -> Array:
    """Return the positions of the texts that differ from the one before, and the end."""
    differs = np.ones(len(text) + 1, bool)
    if len(text) > 1:
        changes = pc.not_equal(text.slice(1), text.slice(0, len(text) - 1))
        differs[1:-1] = changes.to_numpy(zero_copy_only=False)
    return np.flatnonzero(differs)


def _encode_text(text: pa.Array) -> Array:
    """Return the code of each text."""

    def encode(start: int, stop: int) -> pa.Array:
        return text.slice(start, stop - start).dictionary_encode()

    # Slices are encoded in threads, each with codes of its own, which are then made one.
    slices = in_slices(encode, 0, len(text)) or [encode(0, 0)]
    encoded = pa.chunked_array(slices).unify_dictionaries()
    codes: Array = np.concatenate([chunk.indices.to_numpy() for chunk in encoded.chunks])
    return codes


def sort_users(groups: Groups) -> Array:
    """Return the order that sorts the users."""
    return order_of_ids(groups.users) if groups.sorted_by is None else groups.sorted_by


def order_of_ids(users: pd.Index[Any]) -> Array:
    """Return the order that sorts distinct ids."""
    if isinstance(users.dtype, np.dtype) and users.dtype.kind in "iufmM":
        return argsort(users.to_numpy())
    # Sorts ids of several types too, numbers before texts.
    return argsort(pd.factorize(users, sort=True)[0])
