"""Ids of two frames: found in each other by value, whatever their dtypes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

from recframe.errors import RecframeError
from recframe.kernel import Array

# Ids of two kinds are never equal. What is not listed (tuples, mixtures) is compared as it is.
KINDS = {
    "integer": "number",
    "floating": "number",
    "mixed-integer-float": "number",
    "decimal": "number",
    "string": "text",
    "bytes": "bytes",
    "boolean": "boolean",
    "datetime": "time",
    "datetime64": "time",
    "date": "date",
    "period": "period",
    "timedelta": "duration",
    "timedelta64": "duration",
}
CODED_RANGE = 1 << 28  # integers in a range of this size are codes without a table


class Coded(NamedTuple):
    """A column of ids as integers.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,), int
        A number for each row, equal where ids are equal; -1 where the id is null.
    known : ndarray of shape (n_known,), int
        The code of each id that was asked for, -1 where no row has it.
    n_codes : int
        A number above all codes.
    """

    codes: Array
    known: Array
    n_codes: int


def encode(column: pd.Series, known: pd.Index[Any], role: str) -> Coded:
    """Return a column of ids as integers, with the integers of distinct ids known."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        categories = column.cat.categories
        return Coded(
            column.cat.codes.to_numpy(), match(known, categories, role), len(categories)
        )
    integers, wanted = _integers(column), _integers(plain(known))
    if integers is not None and wanted is not None and len(integers):
        low, high = integers.min(), integers.max()
        if int(high) - int(low) < CODED_RANGE:
            within = (wanted >= low) & (wanted <= high)
            codes = np.where(within, wanted - low, -1)
            return Coded(integers - low, codes, int(high - low) + 1)
    codes, distinct = pd.factorize(column)
    return Coded(codes, match(known, pd.Index(distinct), role), len(distinct))


def match(ids: pd.Index[Any], among: pd.Index[Any], role: str) -> Array:
    """Return the position of each id of truth among those of the frame, -1 where there is none.

    The ids are distinct on either side. Those of two kinds, as numbers and text, are refused.
    """
    own, others = plain(ids), plain(among)
    kinds = [KINDS.get(infer_dtype(each, skipna=True)) for each in (own, others)]
    if None not in kinds and kinds[0] != kinds[1]:
        raise RecframeError(
            f"{role}: ids of different kinds are never equal; {shown(among, ids)}; convert one, "
            f"for example with astype({'str' if 'text' in kinds else 'int'!r})"
        )
    integers = _integers(own), _integers(others)
    if integers[0] is not None and integers[1] is not None:
        own, others = pd.Index(integers[0]), pd.Index(integers[1])
    elif own.dtype != others.dtype:
        # As Python objects 1 equals 1.0, and no integer is rounded to be compared.
        own, others = own.astype(object), others.astype(object)
    return np.asarray(others.get_indexer(own))


def append(ids: pd.Index[Any], others: pd.Index[Any], positions: Array) -> pd.Index[Any]:
    """Return ids followed by those of others at these positions, of the first one's dtype.

    Where that dtype does not hold them all, as categories do not hold other values, the result
    has the dtype that pandas gives the values of both.
    """
    if len(positions) == 0:
        return ids
    used, inverse = np.unique(positions, return_inverse=True)
    same = _cast(others[used], ids.dtype)
    if same is None:
        ids, same = plain(ids), plain(others[used])
    return ids.append(same.take(inverse)).rename(ids.name)


def _cast(ids: pd.Index[Any], dtype: Any) -> pd.Index[Any] | None:
    """Return distinct ids in a dtype, or None where it does not hold them."""
    if isinstance(dtype, pd.CategoricalDtype):
        codes = match(ids, dtype.categories, "user")
        return None if codes.min() < 0 else pd.CategoricalIndex.from_codes(codes, dtype=dtype)
    try:
        same = ids.astype(dtype)
    except (TypeError, ValueError, OverflowError, NotImplementedError):
        return None
    kept = same.is_unique and np.array_equal(match(ids, same, "user"), np.arange(len(ids)))
    return same if kept else None


def plain(ids: pd.Index[Any]) -> pd.Index[Any]:
    """Return ids out of what only stores them: categories, nullable and Arrow arrays."""
    dtype = ids.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return plain(ids.astype(dtype.categories.dtype))
    numpy_dtype = getattr(dtype, "numpy_dtype", None)
    if numpy_dtype is not None and np.dtype(numpy_dtype).kind in "iufb":
        return pd.Index(ids.to_numpy(numpy_dtype))
    return ids.astype(object) if isinstance(dtype, pd.ArrowDtype) else ids


def _integers(ids: pd.Series | pd.Index[Any]) -> Array | None:
    """Return integers as int64, or None for ids that are not integers of at most 64 bits."""
    dtype = ids.dtype
    if not isinstance(dtype, np.dtype) or dtype.kind not in "iu":
        return None
    return ids.to_numpy().astype(np.int64) if np.can_cast(dtype, np.int64) else None


def shown(ids: pd.Index[Any], truth_ids: pd.Index[Any]) -> str:
    """Return the dtypes and an example of the ids of the frame and of truth."""
    return f"the frame has {_example(ids)}, truth has {_example(truth_ids)}"


def _example(ids: pd.Index[Any]) -> str:
    """Return the dtype of ids and one of them."""
    return f"{ids.dtype} (such as {ids[[0]].tolist()[0]!r})" if len(ids) else "no rows"
