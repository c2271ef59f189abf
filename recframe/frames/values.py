"""The cells of columns as arrays: numbers and nulls, read without loss."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Hashable
from contextlib import suppress
from decimal import Decimal
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.types import infer_dtype, is_bool_dtype, is_numeric_dtype, is_object_dtype

from recframe.errors import Choice, RecframeError, as_text, quote
from recframe.frames.value_errors import ABSTAINED, missing_error, null_error, numbers_error
from recframe.frames.words import means_rank
from recframe.kernel.grouping import Groups
from recframe.kernel.threads import Array
from recframe.notes import note
from recframe.options import Options

MAX_GAIN = 2.0**900  # Sums of a user's gains or values stay far from overflow.
MOST_GRADE, N_GRADES_SHOWN = 10, 20  # the highest grade of common scales; grades in a message
# A mask is below -100, or above 100 where the lowest score is the best. Its distance to all other
# scores is more than FAR times their range, which counts as MIN_SPAN or more. A mark such as -999
# may be nearer.
MIN_MASK, FAR, FAR_MARK, MIN_SPAN = 100, 1_000, 10, 0.5
MARK = re.compile(r"9{3,}|10{3,}")
LEAST_TIME = 1e8  # The times of rows, as seconds, rise in a log; distances are lower.
LEAST_RANKS = 60  # In fewer rows, scores may be 3, 2 and 1, or all equal, by chance.
# The kinds of objects, as `infer_dtype` names them, that are numbers.
NUMBER_OBJECTS = ("integer", "floating", "mixed-integer-float", "decimal", "empty")


# The values of each score, the highest the best, and the rows that are ranked; None: all rows.
Scores: TypeAlias = dict[Hashable, tuple[Array, Array | None]]


class Gains(NamedTuple):
    """The gain of each row, 0 or more.

    `user` and `unlisted` are the users of items with a gain that have no row, and their gains.
    """

    gain: Array
    user: Array
    unlisted: Array


def read_relevance(
    relevance: pd.Series, options: Options, *, of_grades: bool = False
) -> tuple[Array, Array | None]:
    """Return which rows are relevant, and the grades of rows; None if they have no grades.

    If metrics count only `of_grades`, no threshold is needed.
    """
    label, nulls = relevance.name, find_nulls(relevance)
    if nulls.any():
        if options.null_relevance == "raise":
            answer = {"null_relevance": "nonrelevant"}
            remedy = (
                "Where null means not relevant, as not rated, null_relevance='nonrelevant'; "
                "missing='drop' takes those rows out of the rankings."
            )
            if not options.has_truth:
                remedy = (
                    "Pass the judgments as truth=, which counts relevant items that are in no list "
                    f"too (a merge with the lists has lost them). {remedy}"
                )
            raise null_error(f"relevant={quote(label)}:", nulls, remedy, answers=answer)
        flags, grades = read_relevance(relevance[~nulls], options, of_grades=of_grades)
        return _scatter(flags, ~nulls), None if grades is None else _scatter(grades, ~nulls)
    values = read_numbers(relevance, "relevant")
    if options.min_relevance is not None:
        return at_least(values, options.min_relevance), None if options.gain == "binary" else values
    if values.dtype.kind == "b":
        return values, None
    is_flag = values.min(initial=0) >= 0 and values.max(initial=0) <= 1
    if not is_flag or not (values.dtype.kind in "iu" or np.isin(values, (0, 1)).all()):
        # On a scale from 0 the first grade above 0 is usual, on a scale from 1 the first above its
        # middle. Of other numbers, such as counts of plays, only the caller knows.
        grades = np.unique(values).tolist()
        low, high = grades[0], grades[-1]
        if of_grades and low >= 0 and high <= MOST_GRADE:
            return values > 0, values
        lowest = next((one for one in grades if one > (0 if low <= 0 else (low + high) / 2)), high)
        is_scale = low <= 1 and high <= MOST_GRADE
        proposed = lowest if is_scale else Choice(grades[:N_GRADES_SHOWN], "another number")
        remedy = "Pass min_relevance= the lowest value that is relevant."
        remedy += ABSTAINED if low == -1 else ""
        raise RecframeError(
            f"relevant={quote(label)}: must be boolean or 0/1, but has values from {values.min()} "
            f"to {values.max()}. {remedy}",
            {"min_relevance": proposed},
        )
    return values.view(bool) if values.itemsize == 1 else values.astype(bool), None


def read_gains(grades: Array, label: Hashable, gain: str) -> Array:
    """Return the gains of rows, 0 if a grade is below 0; raise if a grade is too large."""
    if grades.dtype.kind == "b":
        grades = grades.view(np.uint8)
    if grades.dtype == np.float16:  # float16 cannot hold sums of gains, or the limit.
        grades = grades.astype(np.float64)
    limit = MAX_GAIN if gain == "linear" else math.log2(MAX_GAIN)
    if (high := grades.max(initial=0)) > limit:
        remedy = ". Pass gain='linear'." if gain == "exponential" else ""
        raise RecframeError(
            f"relevant={quote(label)}: metrics of grades need relevance of at most {limit:.3g} "
            f"under gain={gain!r}, but it is {high:g}{remedy}"
        )
    if grades.min(initial=0) < 0:
        grades = np.maximum(grades, 0)
    if gain == "exponential":
        return np.asarray(np.exp2(grades.astype(np.float64)) - 1)
    return grades


def read_scores(
    score: pd.Series, groups: Groups, options: Options, lenient: bool, is_low_best: bool
) -> tuple[Array, Array | None]:
    """Return the values of a score column and the rows that are ranked; None: all rows.

    If the lowest score is the best, the order of values is reversed. `groups` are the rows of
    users.
    """
    is_ranked, missing = None, find_missing(score, options, is_low_best)
    if missing.any():
        if options.missing == "raise" and not lenient:
            raise missing_error(score, find_nulls(score), missing, is_low_best)
        is_ranked = ~missing
        values = _scatter(read_numbers(score[is_ranked], "score"), is_ranked)
    else:
        values = read_numbers(score, "score")
    if is_ranked is None and options.ties == "expected":
        _note_few_values(score.name, values, groups)
    if options.min_score is not None:
        recommended = at_least(values, options.min_score)
        is_ranked = recommended if is_ranked is None else is_ranked & recommended
    elif not lenient and len(values):
        _check_masks(score.name, values, is_ranked, groups, is_low_best)
        if is_ranked is None and is_low_best:
            _check_marks_of_ranks(score.name, values, groups)
        elif is_ranked is None and options.ascending is None and len(values) >= LEAST_RANKS:
            _note_order(score.name, values, groups)
    if is_low_best:
        # The negative of the lowest integer overflows, but the complement does not.
        values = ~values if values.dtype.kind in "iu" else -values
    return values, is_ranked


def _note_few_values(label: Hashable, values: Array, groups: Groups) -> None:
    """Note whether all scores are equal, or are 0 and 1 as classes are."""
    if len(values) < LEAST_RANKS or groups.n_groups >= groups.n_rows:
        return
    for some in (values[:LEAST_RANKS], values):  # The first values usually decide.
        are_equal, are_flags = (some == some[0]).all(), ((some == 0) | (some == 1)).all()
        if not (are_equal or are_flags):
            break
    are_classes = are_flags and not are_equal and groups.n_rows > 2 * groups.n_groups
    tied, classes = "not_" * (not are_equal) + "tied", "not_" * (not are_classes) + "classes"
    note(**{f"{tied}:{as_text(label)}": 1, f"{classes}:{as_text(label)}": 1})


def _check_masks(
    label: Hashable, values: Array, is_ranked: Array | None, groups: Groups, is_low_best: bool
) -> None:
    """Raise if rows of several users have one score that is far worse than all others."""
    worst = values.max() if is_low_best else values.min()
    if (float(worst) if is_low_best else -float(worst)) <= MIN_MASK:
        return
    is_worst, numbers = values == worst, values.astype(np.float64)
    others = numbers[~is_worst if is_ranked is None else is_ranked & ~is_worst]
    if len(others) == 0 or len(np.unique(groups.codes[is_worst])) < 2:
        return
    first, last = float(others.min()), float(others.max())  # Python floats overflow silently.
    span = max(last - first, MIN_SPAN)
    distance = float(worst) - last if is_low_best else first - float(worst)
    size = abs(float(worst))
    is_mark = distance > size / 2 and MARK.fullmatch(f"{size:.15g}") is not None
    far = FAR_MARK if is_mark and distance <= FAR * span else FAR
    if distance > far * span:
        found = (
            f"score={quote(label)}: {worst:g} looks like a mask, and is in {is_worst.sum():,} of "
            f"{len(values):,} rows, next to scores from {first:g} to {last:g}"
        )
        if is_low_best:  # `min_score` is not allowed.
            raise RecframeError(
                f"{found}. Set it to null, and pass missing='unranked' to leave these rows out; to "
                "rank them last, rank by the negative of the column with min_score=-inf."
            )
        least = math.floor(first - far / 2 * span)
        raise RecframeError(
            f"{found}. Pass min_score={quote(least)} to leave these rows out of the ranking, as "
            "nulls are by missing='unranked', or min_score=-inf to rank them last.",
            {"min_score": least},
        )


def _check_marks_of_ranks(label: Hashable, values: Array, groups: Groups) -> None:
    """Raise if -1 or a repeated 0, which would be the best rank, seems to mark rows unranked.

    If a user has ties at 0, no row of this user has the rank 1.
    """
    best = values.min(initial=1)
    if best not in (-1, 0) or not means_rank(label) or (values % 1 > 0).any():
        return
    is_best = values == best
    n_best = np.bincount(groups.codes[is_best], minlength=groups.n_groups)
    n_first = np.bincount(groups.codes[values == 1], minlength=groups.n_groups)
    if best == -1 or ((n_best > 1) & (n_first > 0)).any():
        raise RecframeError(
            f"score={quote(label)}: {best:g} is in {is_best.sum():,} of {len(values):,} rows, and "
            "would be the first rank of all. If it marks rows that are not ranked, set it to null, "
            "and pass missing='unranked'; if ranks have ties from 0 on, add 1 to all."
        )


def _note_order(label: Hashable, values: Array, groups: Groups) -> None:
    """Note whether scores rise down the rows of users, and users whose scores are like ranks.

    Ranks are 0, 1, 2 and so on, or begin with 1. Scores that fall down the rows of all users are
    best first, as n, ..., 2, 1 are.
    """
    lowest, highest, name = values.min(), values.max(), as_text(label)
    n_rising = groups.count_rising(values) if float(lowest) < LEAST_TIME else 0
    n_ranks = _count_ranks(values, groups) if lowest in (0, 1) else 0
    # Lists of one or two ranks tell nothing, but do not contradict longer ones.
    are_long = n_ranks > 0 and highest - lowest > 1
    are_unordered = are_long and not groups.count_rising(highest - values)
    note(**{f"rising:{name}": n_rising, "scores_that_fall": int(n_rising == 0)})
    note(**{f"ranks:{name}": n_ranks, f"not_ranks:{name}": int(n_ranks == 0)})
    note(**{f"ranks_unordered:{name}": int(are_unordered)})


def _count_ranks(values: Array, groups: Groups) -> int:
    """Return the number of users with rows if the scores of all are consecutive numbers, else 0."""
    first = values.min()
    if np.count_nonzero(values == first) > groups.n_groups:
        return 0
    sizes = np.diff(groups.offsets)
    if sizes.max() != values.max() - first + 1:
        return 0
    sums = np.bincount(groups.codes, values, groups.n_groups)
    are_ranks = (sums == sizes * (sizes - 1 + 2 * float(first)) / 2).all()
    return int(np.count_nonzero(sizes)) if are_ranks else 0


def find_missing(score: pd.Series, options: Options, is_low_best: bool) -> Array:
    """Return which scores are null, or the worst infinite value, which masks their rows.

    With `min_score`, no score masks its row.
    """
    dtype, missing = score.dtype, find_nulls(score)
    are_objects = is_object_dtype(dtype) and infer_dtype(score) in NUMBER_OBJECTS
    are_categories = isinstance(dtype, pd.CategoricalDtype)
    if options.min_score is None and (dtype.kind == "f" or are_objects or are_categories):
        present = score if not missing.any() else score[~missing]
        masks = np.asarray(present.array == (math.inf if is_low_best else -math.inf), bool)
        if masks.any():
            missing = missing.copy()
            missing[~missing] = masks
    return missing


def _scatter(values: Array, has_value: Array) -> Array:
    """Return values at the rows that have one, and 0 in all other rows."""
    of_rows = np.zeros(len(has_value), values.dtype)
    of_rows[has_value] = values
    return of_rows


def read_numbers(column: pd.Series, role: str) -> Array:
    """Return the values of a column without nulls in its dtype, or raise if they are no numbers."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        of_values = column.dtype.categories
        if is_numeric_dtype(of_values.dtype) or infer_dtype(of_values) in NUMBER_OBJECTS:
            column = column.astype(of_values.dtype)
    if pa.types.is_decimal(getattr(column.dtype, "pyarrow_dtype", pa.null())):
        column = column.astype(object)
    may_be_bool = role == "relevant" or role.endswith(" column")
    kind = infer_dtype(column) if is_object_dtype(column.dtype) else ""
    if kind in NUMBER_OBJECTS:
        column = read_objects(column, role)
    elif kind == "boolean" and may_be_bool:
        column = column.astype(bool)
    dtype = column.dtype
    is_bool = is_bool_dtype(dtype)
    is_number = is_numeric_dtype(dtype) and dtype.kind != "c"
    if not (may_be_bool if is_bool else is_number):
        raise numbers_error(column, role)
    return column.to_numpy(getattr(dtype, "numpy_dtype", None))


def find_nulls(column: pd.Series) -> Array:
    """Return which values of a column are null; a NaN inside a nullable column counts as null."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        return np.zeros(len(column), bool)
    try:
        nulls = column.isna().to_numpy(bool)
    except ArithmeticError as error:
        raise RecframeError(
            f"the column {quote(column.name)} must hold comparable values, but holds a "
            "signaling NaN of decimal. Set such cells to null."
        ) from error
    if not isinstance(column.dtype, np.dtype) and column.dtype.kind == "f" and not nulls.all():
        nulls = nulls.copy()
        nulls[~nulls] = np.isnan(column[~nulls].to_numpy(np.float64))
    return nulls


def read_objects(column: pd.Series, role: str) -> pd.Series:
    """Return objects that are numbers in a dtype of numbers; raise if floats would round them."""
    types = set(map(type, column))
    if len(types) == 1 and issubclass(dtype := next(iter(types)), np.floating):
        return column.astype(dtype)
    if types <= {Decimal}:
        with suppress(ArithmeticError, ValueError):  # A value may not fit into 64 bits.
            whole = pd.Series(list(map(int, column)), column.index, np.int64, column.name)
            if (whole == column).all():
                return whole
        floats = column.astype(np.float64)
        pairs = zip(column, floats.tolist(), strict=True)
        if rounded := [value for value, number in pairs if value != Decimal(f"{number:.15g}")]:
            raise RecframeError(
                f"{role}={quote(column.name)}: decimals must have at most 15 digits, or be whole "
                f"and of 64 bits, but have {len(rounded)} beyond (such as {quote(rounded[0])}). "
                f"Round them, for example with df[{quote(column.name)}].astype('float64')."
            )
        return floats
    try:
        numbers = pd.to_numeric(column)
    except OverflowError:  # A value is beyond all floats.
        numbers = pd.to_numeric(column.clip(-sys.float_info.max, sys.float_info.max))
    if numbers.dtype.kind == "f":
        pairs = zip(column, numbers, strict=True)
        rounded = [v for v, number in pairs if isinstance(v, Integral) and v != number]
        if rounded:
            raise RecframeError(
                f"{role}={quote(column.name)}: next to floats, whole numbers beyond 2**53 lose "
                f"digits, and {len(rounded)} would (such as {quote(rounded[0])}). Make all "
                "whole with astype('int64'), round them with astype('float64'), or divide them."
            )
    return numbers


def check_digits(floats: Array, what: str) -> None:
    """Raise if ids are floats so large that integers were rounded."""
    if floats.dtype.kind != "f":
        return
    limit = 2.0 ** (np.finfo(floats.dtype).nmant + 1)
    large = floats[np.abs(floats) >= limit]
    if len(large):  # NaN is not large.
        raise RecframeError(
            f"{what} of {floats.dtype} must be below {limit:.0f}, from where on neighbouring whole "
            f"numbers are one float, but {len(large)} are not (such as {large[0]:.0f}). Read them "
            "as integers in the first place, with nulls as 'Int64'."
        )


def at_least(values: Array, threshold: Any) -> Array:
    """Return which values are at or above a threshold, a number of any type.

    For floats the threshold is rounded to their precision, so that 0.7 equals the 0.7 in a column
    of float32. Integers are compared exactly.
    """
    kind = values.dtype.kind
    if threshold in (math.inf, -math.inf):
        return np.asarray(values >= threshold, bool)
    if kind == "f":
        # The lowest finite threshold must stay above minus infinity, which masks items.
        most = min(float(np.finfo(values.dtype).max), sys.float_info.max)
        return np.asarray(values >= values.dtype.type(min(max(threshold, -most), most)))
    whole = int(threshold // 1) + bool(threshold % 1)  # rounded up, without a float
    return np.asarray((values.view(np.uint8) if kind == "b" else values) >= whole)
