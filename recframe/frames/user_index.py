"""The index of users: ids of rows as an index, and the order that sorts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import RecframeError, quote, shorten
from recframe.frames.keys import NO_IDS, Keys, factorize, find_keys, number_short
from recframe.kernel.grouping import combine, invert, take
from recframe.kernel.radix import argsort
from recframe.kernel.threads import Array

Ids: TypeAlias = "Sequence[pd.Series | pd.Index[Any]]"  # of each column that tells users apart


def take_ids(columns: Ids, keys: Sequence[Keys | None], rows: Array) -> list[pd.Index[Any]]:
    """Return the ids of rows."""
    found: list[pd.Index[Any]] = []
    for column, own in zip(columns, keys, strict=True):
        ids: Any
        if isinstance(own, pa.Array) and column.dtype != object:
            # The texts of a column may be in many pieces, which to take from copies all of them.
            ids = pd.array(own.take(pa.array(rows)), dtype=column.dtype)
        else:
            is_plain = isinstance(own, np.ndarray) and isinstance(column.dtype, np.dtype)
            # Without what pandas asks of its arrays first.
            ids = take(column.to_numpy(), rows) if is_plain else column.array.take(rows)
        found.append(pd.Index(ids, dtype=column.dtype, copy=False, name=column.name))
    return found


def as_users(columns: Sequence[pd.Index[Any]]) -> pd.Index[Any]:
    """Return the ids of each column as those of users, several as levels."""
    if len(columns) == 1:
        return columns[0]
    levels: list[Any] = []
    codes: list[Any] = []
    for ids in columns:
        code, distinct = factorize(ids, "user")
        level = pd.Index(distinct, dtype=ids.dtype, name=ids.name)
        order = order_of_ids(level)
        levels.append(level.take(order))
        codes.append(invert(order)[code])
    names = [ids.name for ids in columns]
    return pd.MultiIndex(levels, codes, names=names, verify_integrity=False)


def take_users(users: pd.Index[Any], order: Array) -> pd.Index[Any]:
    """Return users in an order."""
    if type(users) is pd.Index and isinstance(users.dtype, np.dtype) and users.dtype.kind in "iu":
        return pd.Index(take(users.to_numpy(), order), copy=False, name=users.name)
    return users.take(order)


def order_of_ids(users: pd.Index[Any]) -> Array:
    """Return the order that sorts distinct ids."""
    if isinstance(users, pd.MultiIndex):
        pairs = zip(users.levels, users.codes, strict=True)
        ranks = [invert(order_of_ids(level))[codes] for level, codes in pairs]
        return argsort(combine(*ranks))
    if isinstance(users.dtype, np.dtype) and users.dtype.kind in "iufmM":
        return argsort(users.to_numpy())
    if isinstance(text := find_keys(users), pa.Array):
        if (numbers := number_short(text)) is not None:
            return argsort(numbers)
        in_order: Array = pc.sort_indices(text).to_numpy()  # by code points, as Python has it
        return in_order.view(np.int64)
    # Sorts ids of several types too, numbers before texts.
    try:
        return argsort(pd.factorize(users, sort=True)[0])
    except NO_IDS as error:
        raise RecframeError(
            f"user={quote(users.name)}: ids must be such as can be sorted, as the tables have "
            f"users in order, found {quote(users[[0]].tolist()[0])} ({shorten(str(error))}); "
            f"convert them, for example with df[{quote(users.name)}].map(str)"
        ) from error
