"""Numbers: read from objects without loss, and compared with a threshold of any type."""

from __future__ import annotations

import math
from decimal import Decimal
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

from recframe.errors import RecframeError, quote
from recframe.kernel.threads import Array

NUMBER_OBJECTS = ("integer", "floating", "mixed-integer-float", "empty")  # as pandas infers


def read_objects(column: pd.Series, role: str) -> pd.Series:
    """Return numbers held as objects in a dtype, or raise where floats would round whole ones."""
    types = set(map(type, column))
    if len(types) == 1 and issubclass(dtype := types.pop(), np.floating):
        return column.astype(dtype)
    if infer_dtype(column) == "mixed-integer-float":
        rounded = [v for v in column if isinstance(v, Integral) and not _is_float(int(v))]
        if rounded:
            raise RecframeError(
                f"{role}={quote(column.name)}: beside floats whole numbers beyond 2**53 lose "
                f"digits, found {len(rounded)} that would (such as {quote(rounded[0])}); make all "
                "whole with astype('int64'), or round them with astype('float64')"
            )
    try:
        return pd.to_numeric(column)
    except OverflowError as error:
        raise RecframeError(
            f"{role}={quote(column.name)}: must be numbers that a float holds, found whole numbers "
            "beyond 1.8e308; divide them, or convert them with decimal to fewer digits"
        ) from error


def check_digits(floats: Array, what: str) -> None:
    """Raise where floats that stand for ids are so large that neighbouring ones were rounded."""
    if floats.dtype.kind != "f":
        return
    limit = 2.0 ** (np.finfo(floats.dtype).nmant + 1)
    if floats.min(initial=0) > -limit and floats.max(initial=0) < limit:
        return
    large = floats[np.abs(floats) >= limit]
    if len(large):
        raise RecframeError(
            f"{what} of {floats.dtype} must be below {limit:.0f}, from where on neighbouring whole "
            f"numbers are one float, found {len(large)} (such as {large[0]:.0f}); read them as "
            "integers in the first place, beside nulls as 'Int64'"
        )


def _is_float(number: int) -> bool:
    """Return whether a float stands for exactly this number."""
    try:
        return float(number) == number
    except OverflowError:
        return False


def at_least(values: Array, threshold: Any) -> Array:
    """Return which values are at or above a threshold, a number of any type.

    Among floats it is the nearest one of their own precision: 0.7 is the float32 that a column of
    float32 has for 0.7. Whole numbers are compared exactly.
    """
    kind = values.dtype.kind
    if kind == "f":
        return np.asarray(values >= _nearest(threshold, values.dtype))
    if kind == "O":  # Arrow's decimals
        return np.asarray(values >= _as_decimal(threshold), bool)
    if kind == "b":
        values = values.view(np.uint8)
    limits, exact = np.iinfo(values.dtype), _exact(threshold)
    if not limits.min < exact <= limits.max:
        return np.full(len(values), exact <= limits.min)
    return np.asarray(values >= values.dtype.type(math.ceil(exact)))


def _nearest(threshold: Any, dtype: np.dtype[Any]) -> Any:
    """Return the float nearest to a threshold."""
    with np.errstate(over="ignore"):
        try:
            number = threshold if isinstance(threshold, np.floating) else float(threshold)
        except OverflowError:
            number = math.inf if threshold > 0 else -math.inf
        nearest = dtype.type(number)
    # What is finite is above minus infinity, which marks items that must not be recommended.
    return np.finfo(dtype).min if nearest == -math.inf and threshold > -math.inf else nearest


def _exact(threshold: Any) -> Any:
    """Return a threshold as it is, of a type that compares exactly with integers."""
    if isinstance(threshold, Integral):
        return int(threshold)
    from fractions import Fraction  # which `import recframe` need not load

    return Fraction(*threshold.as_integer_ratio()) if abs(threshold) < math.inf else threshold


def _as_decimal(threshold: Any) -> Decimal:
    """Return a threshold as the decimal number it is written as."""
    if isinstance(threshold, Integral):
        return Decimal(int(threshold))
    return Decimal(repr(float(threshold)))
