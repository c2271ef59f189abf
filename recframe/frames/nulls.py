"""Nulls: which values of a column are missing."""

import numpy as np
import pandas as pd

from recframe.kernel.grouping import Array, lowest


def has_nulls(column: pd.Series) -> bool:
    """Return whether any value of a column is null; a NaN inside a nullable column is one too."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        return False
    # The lowest value tells, without an array of flags.
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "f":
        return bool(np.isnan(lowest(column.to_numpy())))
    if isinstance(column.dtype, pd.CategoricalDtype):
        return bool(lowest(column.array.codes) < 0)
    return bool(find_nulls(column).any())


def find_nulls(column: pd.Series) -> Array:
    """Return which values of a column are null; a NaN inside a nullable column is one too."""
    nulls = column.isna().to_numpy(bool)
    if not isinstance(column.dtype, np.dtype) and column.dtype.kind == "f" and not nulls.all():
        nulls = nulls.copy()
        nulls[~nulls] = np.isnan(column[~nulls].to_numpy(np.float64))
    return nulls
