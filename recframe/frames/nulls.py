"""Nulls: whether a column has any, which values are, and their refusal."""

from __future__ import annotations

import numpy as np
import pandas as pd

from recframe.errors import RecframeError, quote
from recframe.kernel.grouping import lowest
from recframe.kernel.threads import Array

REMOVE_ROWS = "remove those rows or pass missing='drop'"


def has_nulls(column: pd.Series) -> bool:
    """Return whether any value of a column is null; a NaN inside a nullable column is one too."""
    # The lowest value tells, without an array of flags.
    if isinstance(column.dtype, pd.CategoricalDtype):
        return bool(lowest(column.array.codes) < 0)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iubf":
        return column.dtype.kind == "f" and bool(np.isnan(lowest(column.to_numpy())))
    return bool(find_nulls(column).any())


def find_nulls(column: pd.Series) -> Array:
    """Return which values of a column are null; a NaN inside a nullable column is one too."""
    try:
        nulls = column.isna().to_numpy(bool)
    except ArithmeticError as error:
        raise RecframeError(
            f"the column {quote(column.name)} must hold what can be compared with itself, found a "
            "signaling NaN of decimal; set such cells to null"
        ) from error
    if not isinstance(column.dtype, np.dtype) and column.dtype.kind == "f" and not nulls.all():
        nulls = nulls.copy()
        nulls[~nulls] = np.isnan(column[~nulls].to_numpy(np.float64))
    return nulls


def null_error(what: str, nulls: Array, remedy: str = REMOVE_ROWS) -> RecframeError:
    """Return the refusal of nulls in a column."""
    return RecframeError(
        f"{what} must not be null, found {int(nulls.sum())} null of {len(nulls)} rows "
        f"(the first in row {int(nulls.argmax())}); {remedy}"
    )
