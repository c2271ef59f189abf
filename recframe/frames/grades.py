"""Grades: columns of truth that look like relevance, though no name says so."""

import numpy as np
import pandas as pd
from pandas.api import types

from recframe.errors import RecframeError, quote
from recframe.frames.columns import Columns, get_column
from recframe.frames.labels import list_labels, shown
from recframe.frames.names import has_role_name, is_time

MAX_GRADES = 20  # distinct values; ten stars in halves are as many
MIN_TIME = 1e6  # counts of seconds or days, as dates in digits, are far above; grades below
FIRST_ROWS = 1000  # tell most columns of many values from grades
# Texts that say of a pair whether it is relevant.
VERDICTS = (
    *("yes", "no", "y", "n", "true", "false", "t", "f", "relevant", "irrelevant", "not relevant"),
    *("like", "liked", "dislike", "disliked", "positive", "negative", "pos", "neg", "good", "bad"),
    *("view", "click", "cart", "purchase", "buy", "exact", "substitute", "complement"),
)
KINDS = (
    types.is_numeric_dtype,
    types.is_bool_dtype,
    types.is_object_dtype,
    types.is_string_dtype,
    lambda dtype: isinstance(dtype, pd.CategoricalDtype),
)


def check_no_grades(truth: pd.DataFrame, columns: Columns) -> None:
    """Raise where a column without a role looks like grades, so that not every pair need count."""
    grades = {}
    for label in list_labels(truth, columns.labels):
        is_id = has_role_name(label, "user") or has_role_name(label, "item")
        if not is_id and not is_time(label) and (found := _find_grades(get_column(truth, label))):
            grades[label] = found
    if grades:
        label, values = next(iter(grades.items()))
        others = f" (likewise {shown([*grades][1:])})" if len(grades) > 1 else ""
        raise RecframeError(
            f"relevant: no column found by its name, but {quote(label)} holds few distinct values "
            f"({', '.join(values)}), as relevance does{others}; pass relevant={quote(label)} if it "
            "says which pairs are relevant, or relevant=None where all are"
        )


def _find_grades(column: pd.Series) -> list[str]:
    """Return the distinct numbers of a column that looks like grades; none of another."""
    if not any(is_kind(column.dtype) for is_kind in KINDS):
        return []
    first = [column.iloc[:FIRST_ROWS]] if len(column) > FIRST_ROWS else []
    for part in (*first, column):
        try:
            values = part.unique()
            if len(values) > MAX_GRADES or (len(values) < 2 and part is column):
                return []
            numbers = pd.to_numeric(pd.Series(values, dtype=object).dropna()).to_numpy(float)
        except (TypeError, ValueError):  # text that is no number; lists
            return _find_verdicts(column)
    if len(numbers) == 0 or np.abs(numbers).min() >= MIN_TIME:
        return []
    nulls = ["null"] if len(numbers) < len(values) else []
    return [f"{number:g}" for number in np.sort(numbers)] + nulls


def _find_verdicts(column: pd.Series) -> list[str]:
    """Return the distinct texts of a column where some are verdicts; none of another."""
    try:
        values = [value for value in column.unique() if isinstance(value, str)]
    except TypeError:  # lists
        return []
    are_some = any(value.strip().casefold() in VERDICTS for value in values)
    return sorted(map(repr, values)) if are_some and 2 <= len(values) <= MAX_GRADES else []
