"""Numbers and nulls: read from objects without loss, compared with a threshold, and refused."""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from recframe.errors import RecframeError, option, quote
from recframe.kernel.threads import Array

NUMBER_OBJECTS = ("integer", "floating", "mixed-integer-float", "empty")  # as pandas infers
REMOVE_ROWS = f"remove those rows or pass {option('missing', 'drop')}"


def has_nulls(column: pd.Series) -> bool:
    """Return whether any value of a column is null; a NaN inside a nullable column is one too."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        return False
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


def read_objects(column: pd.Series, role: str) -> pd.Series:
    """Return numbers held as objects in a dtype, or raise where floats would round whole ones."""
    types = set(map(type, column))
    if len(types) == 1 and issubclass(dtype := types.pop(), np.floating):
        return column.astype(dtype)
    try:
        numbers = pd.to_numeric(column)
    except OverflowError:  # some are beyond all floats
        numbers = pd.to_numeric(column.clip(-sys.float_info.max, sys.float_info.max))
    if numbers.dtype.kind == "f":
        pairs = zip(column, numbers, strict=True)
        rounded = [v for v, number in pairs if isinstance(v, Integral) and v != number]
        if rounded:
            raise RecframeError(
                f"{role}={quote(column.name)}: beside floats whole numbers beyond 2**53 lose "
                f"digits, found {len(rounded)} that would (such as {quote(rounded[0])}); make all "
                "whole with astype('int64'), round them with astype('float64'), or divide them"
            )
    return numbers


def check_digits(floats: Array, what: str) -> None:
    """Raise where floats that stand for ids are so large that neighbouring ones were rounded."""
    if floats.dtype.kind != "f":
        return
    limit = 2.0 ** (np.finfo(floats.dtype).nmant + 1)
    if floats.min(initial=0) > -limit and floats.max(initial=0) < limit:
        return
    large = floats[np.abs(floats) >= limit]
    if len(large):  # a NaN is not
        raise RecframeError(
            f"{what} of {floats.dtype} must be below {limit:.0f}, from where on neighbouring whole "
            f"numbers are one float, found {len(large)} (such as {large[0]:.0f}); read them as "
            "integers in the first place, beside nulls as 'Int64'"
        )


def at_least(values: Array, threshold: Any) -> Array:
    """Return which values are at or above a threshold, a number of any type.

    Among floats it is the nearest one of their own precision: 0.7 is the float32 that a column of
    float32 has for 0.7. Whole numbers are compared exactly.
    """
    kind = values.dtype.kind
    if threshold in (math.inf, -math.inf):
        return np.asarray(values >= threshold, bool)
    if kind == "f":
        # What is finite is above minus infinity, which marks items that must not be recommended.
        most = min(float(np.finfo(values.dtype).max), sys.float_info.max)
        return np.asarray(values >= values.dtype.type(min(max(threshold, -most), most)))
    if kind == "O":  # Arrow's decimals
        is_whole = isinstance(threshold, Integral)
        return values >= Decimal(int(threshold) if is_whole else repr(float(threshold)))
    whole = int(threshold // 1) + bool(threshold % 1)  # rounded up, without a float between
    return np.asarray((values.view(np.uint8) if kind == "b" else values) >= whole)
