"""Arrays and lists as callers pass them: read, or refused by the argument's name."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sized
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import infer_dtype, is_object_dtype

from recframe.errors import RecframeError, quote, shorten
from recframe.frames.keys import NO_IDS, compare
from recframe.frames.labels import is_same
from recframe.frames.numbers import NUMBER_OBJECTS, read_objects
from recframe.kernel.threads import Array

MAX_ITERATED = 1_000_000  # items of one user from an iterator, as one without end must end


def as_array(name: str, values: Any, required: str) -> Array:
    """Return values as an array, or raise where they are none."""
    if isinstance(values, str | bytes | bytearray):
        raise RecframeError(f"{name} must be {required}, found {quote(values)}")
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:  # the last of tensors with gradients
        raise RecframeError(
            f"{name} must be {required}, found {quote(values)} ({shorten(str(error))})"
        ) from error


def as_ids(name: str, values: Any) -> pd.Index[Any]:
    """Return values as ids, or raise where they cannot be compared."""
    try:
        ids: pd.Index[Any] = pd.Index(values, tupleize_cols=False).to_flat_index()
        if is_object_dtype(ids.dtype):
            compare(pd.Index(pd.factorize(ids)[1], dtype=object))
    except NO_IDS as error:
        raise RecframeError(
            f"{name} must be ids, such as can be keys of a dict, found {shorten(str(error))}"
        ) from error
    return ids


def read_ids(
    name: str, values: ArrayLike, size: tuple[int, str] | None = None, role: str = "user"
) -> pd.Index[Any]:
    """Return ids, which are different and not null; as many as there are of what `size` says."""
    check_unmasked(name, values)
    if not isinstance(values, pd.Index | pd.Series | list):
        values = as_array(name, values, "a list of ids")
        if values.ndim != 1:
            raise RecframeError(f"{name} must be a list of ids, found shape {values.shape}")
    ids = as_ids(name, values)
    if n_null := np.count_nonzero(ids.isna()):
        raise RecframeError(f"{name} must not have a null {role}, found {n_null}")
    if size is not None and len(ids) != size[0]:
        needed, of = size
        raise RecframeError(
            f"{name} must be as many as the {of}, found {len(ids)} for {needed} {of.split()[0]}"
        )
    if same := ids[ids.duplicated()].tolist():
        raise RecframeError(
            f"{name} must differ, found {len(same)} repeated (such as {quote(same[0])})"
        )
    return ids


def as_numbers(name: str, values: Array) -> Array:
    """Return an array of numbers in a dtype of numbers, or raise where they are none."""
    if values.dtype.kind == "O" and infer_dtype(values) in NUMBER_OBJECTS:
        values = read_objects(pd.Series(values, name=name), name).to_numpy()
    if len(values) and values.dtype.kind not in "iuf":
        (example,) = values[:1].tolist()
        raise RecframeError(
            f"{name} must be numbers, found {values.dtype} (such as {quote(example)})"
        )
    return values


def check_unmasked(name: str, values: Any) -> None:
    """Raise where an array masks values, which would be read as if it did not."""
    if n_masked := np.count_nonzero(np.ma.getmask(values)):
        raise RecframeError(f"{name} must not be masked, found {n_masked} masked; leave them out")


def list_items(name: str, user: Hashable, items: Iterable[Hashable]) -> list[Hashable]:
    """Return the items of a user, or raise where their iterator has no end."""
    if isinstance(items, Sized):
        return list(items)
    taken = list(islice(items, MAX_ITERATED + 1))
    if len(taken) > MAX_ITERATED:
        raise RecframeError(
            f"{name}: an iterator must end within {MAX_ITERATED:,} items, found more "
            f"(user {quote(user)}); pass a list"
        )
    return taken


def are_minus_one(ids: pd.Index[Any]) -> Array:
    """Return which ids are -1."""
    if ids.dtype != object:
        return np.asarray(ids.isin([-1]))
    codes, distinct = pd.factorize(ids, use_na_sentinel=False)
    return np.array([is_same(id_, -1) for id_ in distinct], bool)[codes]
