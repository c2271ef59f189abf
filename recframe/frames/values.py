"""Values: what the cells of a relevance or score column say, as arrays."""

import math
from collections.abc import Hashable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_bool_dtype, is_numeric_dtype, is_object_dtype

from recframe.errors import RecframeError, option, option_with, quote, spell
from recframe.frames.numbers import (
    NUMBER_OBJECTS,
    at_least,
    find_nulls,
    has_nulls,
    null_error,
    read_objects,
)
from recframe.kernel.threads import Array
from recframe.options import Options

MAX_GAIN = 2.0**900  # what a user's gains or values add up to is far from overflow
OF_MEAN = "mean column"

# Of each score column its values, the highest the best, and which rows are ranked; None: all.
Scores: TypeAlias = dict[Hashable, tuple[Array, Array | None]]


class Gains(NamedTuple):
    """The gains of rows, and of relevant items that have none.

    Parameters
    ----------
    gain : ndarray of shape (n_rows,), real
        The gain of each relevant row; of others it is never looked at.
    user : ndarray of shape (n_unlisted,), int
        The users of relevant items that have no row.
    unlisted : ndarray of shape (n_unlisted,), float
        The gains of these.
    """

    gain: Array
    user: Array
    unlisted: Array


def read_relevance(relevance: pd.Series, options: Options) -> tuple[Array, Array | None]:
    """Return which rows are relevant, and their grades; None where they have none."""
    label = relevance.name
    if has_nulls(relevance):
        remedy = (
            "fill them in, with fillna(0) where they mean not relevant (as after a merge); "
            "missing='drop' takes those rows out of the rankings"
        )
        raise null_error(f"relevant={quote(label)}:", find_nulls(relevance), remedy)
    values = _numbers(_as_bool(relevance), "relevant")
    relevant = _relevant_flags(values, label, options)
    return relevant, None if options.min_relevance is None else values


def _relevant_flags(values: Array, label: Hashable, options: Options) -> Array:
    """Return which values mean relevant, or raise where they do not say so."""
    if options.min_relevance is not None:
        return at_least(values, options.min_relevance)
    if values.dtype.kind == "b":
        return values
    is_whole = values.dtype.kind in "iu"
    is_flag = values.min(initial=0) >= 0 and values.max(initial=0) <= 1
    if not is_flag or not (is_whole or np.isin(values, (0, 1)).all()):
        raise RecframeError(
            f"relevant={quote(label)}: must be boolean or 0/1, found values from {values.min()} to "
            f"{values.max()}; pass "
            f"{option_with('min_relevance', 'the value from which on a row is relevant')}"
        )
    return values.view(bool) if values.itemsize == 1 else values.astype(bool)


def read_gains(grades: Array, relevant: Array, label: Hashable, gain: str) -> Gains:
    """Return the gains of rows, or raise where a relevant one has a grade that cannot be counted.

    The grades of rows that are not relevant mean nothing.
    """
    if grades.dtype == np.float16:  # in which gains do not add up, nor hold the limit
        grades = grades.astype(np.float64)
    limit = MAX_GAIN if gain == "linear" else math.log2(MAX_GAIN)
    if grades.min(initial=0) < 0 or grades.max(initial=0) > limit:
        _check_grades(grades[relevant], limit, label, gain)
    if gain == "exponential":
        gains = np.zeros(len(grades))
        gains[relevant] = np.exp2(grades[relevant].astype(np.float64)) - 1
        grades = gains
    return Gains(grades, np.empty(0, np.int64), np.empty(0))


def _check_grades(grades: Array, limit: float, label: Hashable, gain: str) -> None:
    """Raise where the grade of a relevant row is negative or above the limit."""
    low, high = float(grades.min(initial=0)), float(grades.max(initial=0))
    required = f"relevant={quote(label)}: metrics of grades need relevance of"
    if low < 0:
        raise RecframeError(
            f"{required} 0 or more, found {low:g} in a relevant row; "
            f"pass {spell('a min_relevance= of 0 or more', '--min-relevance of 0 or more')}"
        )
    if high > limit:
        remedy = f"; pass {option('gain', 'linear')}" if gain == "exponential" else ""
        found = f"under gain={gain!r}, found {high:g}"
        raise RecframeError(f"{required} at most {limit:.3g} {found}{remedy}")


def read_scores(
    score: pd.Series, options: Options, lenient: bool, is_low_best: bool
) -> tuple[Array, Array | None]:
    """Return the values of a score column and which of them are ranked; None: every one.

    Where the lowest score is the best, the values are turned round.
    """
    is_ranked = None
    if has_nulls(score):
        nulls = find_nulls(score)
        if options.missing == "raise" and not lenient:
            remedy = (
                f"pass {option('missing', 'unranked')} to leave them out of this ranking only (as "
                f"where lists of models differ), or {option('missing', 'drop')} to remove these "
                "rows, for every score"
            )
            raise null_error(f"score={quote(score.name)}:", nulls, remedy)
        is_ranked = ~nulls
        present = _numbers(score[is_ranked], "score")
        values = np.zeros(len(score), present.dtype)
        values[is_ranked] = present
    else:
        values = _numbers(score, "score")
    if options.min_score is not None:
        recommended = at_least(values, options.min_score)
        is_ranked = recommended if is_ranked is None else is_ranked & recommended
    if is_low_best:
        # Every integer has its complement, not every one its negative.
        values = ~values if values.dtype.kind in "iu" else -values
    return values, is_ranked


def read_values(column: pd.Series, scores: Scores, options: Options) -> Array:
    """Return the values of a column that a metric is of as floats.

    A null in a row that no score ranks stays one, under ``missing="unranked"``.
    """
    nulls = find_nulls(column) if has_nulls(column) else None
    is_checked = options.missing != "unranked"
    if nulls is not None and (is_checked or _is_any_ranked(nulls, scores)):
        remedy = (
            "fill them in, with fillna(0) where they mean nothing; "
            f"{option('missing', 'drop')} removes these rows, for every score"
        )
        raise null_error(f"{OF_MEAN}={quote(column.name)}:", nulls, remedy)
    present = column if nulls is None else column[~nulls]
    numbers = _numbers(_as_bool(present), OF_MEAN).astype(np.float64)
    beyond = np.flatnonzero(~(np.abs(numbers) <= MAX_GAIN))
    if len(beyond):
        raise RecframeError(
            f"{OF_MEAN}={quote(column.name)}: must be at most {MAX_GAIN:.3g} in size, found "
            f"{len(beyond)} beyond (such as {numbers[beyond[0]]:g}); clip them, for example with "
            f"df[{quote(column.name)}].clip(-1e9, 1e9)"
        )
    numbers += 0.0  # of the two zeros, the positive one
    if nulls is not None:
        values = np.full(len(column), np.nan)
        values[~nulls] = numbers
        return values
    return numbers


def _is_any_ranked(flags: Array, scores: Scores) -> bool:
    """Return whether any of the flagged rows is ranked by some score."""
    return any(
        is_ranked is None or bool((flags & is_ranked).any()) for _, is_ranked in scores.values()
    )


def _as_bool(column: pd.Series) -> pd.Series:
    """Return booleans held as objects in their dtype, any other column as it is."""
    is_bool = is_object_dtype(column.dtype) and infer_dtype(column) == "boolean"
    return column.astype(bool) if is_bool else column


def _numbers(column: pd.Series, role: str) -> Array:
    """Return the values of a column without nulls in their own dtype, or raise."""
    dtype = column.dtype
    if is_object_dtype(dtype) and infer_dtype(column) in NUMBER_OBJECTS:
        column = read_objects(column, role)
        dtype = column.dtype
    is_relevance = role == "relevant"
    is_bool, may_be_bool = is_bool_dtype(dtype), is_relevance or role == OF_MEAN
    is_number = is_numeric_dtype(dtype) and dtype.kind != "c"
    if not (may_be_bool if is_bool else is_number):
        required = "boolean, 0/1 or numbers" if is_relevance else "numbers"
        found, remedy = f"dtype {dtype}", ""
        if len(column):
            example = _find_no_number(column)
            found += f" (such as {quote(example)})"
            if not is_bool:
                remedy = "; convert it, for example with pd.to_numeric"
            if isinstance(example, str) and not _is_number(example):
                to_numbers = "with pd.to_numeric(errors='coerce')"
                call = f"== {quote(example)}" if is_relevance else to_numbers
                remedy = f"; make numbers of it, for example df[{quote(column.name)}] {call}"
        raise RecframeError(
            f"{role}={quote(column.name)}: must be {required}, found {found}{remedy}"
        )
    if isinstance(dtype, np.dtype):
        return column.to_numpy(dtype.newbyteorder("="))
    return column.to_numpy(getattr(dtype, "numpy_dtype", None))


def _find_no_number(column: pd.Series) -> Any:
    """Return a value of a column that is not a number, the first of all where each may be one."""
    return next((value for value in column if not _is_number(value)), column.iloc[0])


def _is_number(value: Any) -> bool:
    """Return whether a value is a number, or text that says one."""
    if isinstance(value, np.ndarray):  # of which NumPy takes one of one number for it
        return False
    try:
        float(value)
    except (TypeError, ValueError, ArithmeticError):
        return False
    return True
