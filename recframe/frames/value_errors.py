"""The refusals of cells that are null or no numbers."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype

from recframe.errors import Choice, RecframeError, quote
from recframe.kernel.threads import Array

YES = {"yes", "y", "true", "t", "relevant", "positive", "1"}  # words that mean relevant
REMOVE_ROWS = "Remove those rows, or pass missing='drop'."
ABSTAINED = " Where -1 means not judged, set it to null first."


def null_error(
    what: str,
    nulls: Array,
    remedy: str = REMOVE_ROWS,
    found: str = "null",
    answers: Mapping[str, Any] = MappingProxyType({"missing": "drop"}),
) -> RecframeError:
    """Return the refusal of nulls in a column, or of values that count as null."""
    return RecframeError(
        f"{what} must not be {found}, but {int(nulls.sum())} of {len(nulls)} rows are {found} "
        f"(the first in row {int(nulls.argmax())}). {remedy}",
        answers,
    )


def missing_error(
    score: pd.Series, nulls: Array, missing: Array, is_low_best: bool
) -> RecframeError:
    """Return the refusal of scores that are null, or that are infinite and mask their rows."""
    what = "null"
    if not nulls.any():
        nulls, what = missing, "inf" if is_low_best else "-inf"
    remedy = (
        "Pass missing='unranked' to leave them out of this ranking only (as where lists of models "
        "differ), or missing='drop' to remove these rows, for every score."
    )
    remedy += " min_score=-inf ranks them last." * (what == "-inf")
    return null_error(f"score={quote(score.name)}:", nulls, remedy, what, {"missing": "unranked"})


def numbers_error(column: pd.Series, role: str) -> RecframeError:
    """Return the refusal of a column that must hold numbers, with a call that makes numbers."""
    required = "boolean, 0/1 or numbers" if role == "relevant" else "numbers"
    found, remedy = f"dtype {column.dtype}", ""
    if len(column):
        example = next((one for one in column if not _means_number(one)), column.iloc[0])
        found += f" (such as {quote(example)})"
        label = f"df[{quote(column.name)}]"
        if not is_bool_dtype(column.dtype):
            remedy = f". Convert it, for example with pd.to_numeric({label})."
        if isinstance(example, str) and not _means_number(example):
            call = f"pd.to_numeric({label}, errors='coerce'), which makes nulls of such text"
            if role == "relevant":
                words = list(dict.fromkeys(one for one in column if isinstance(one, str)))
                means = [word for word in words if word.strip().casefold() in YES]
                call = f"{label} == {quote(means[0]) if means else '...'}"
                if not means:
                    call += f", where ... is the word that means relevant: {Choice(words)}"
                call += "; or pass relevant=None where every pair of truth is relevant"
            elif _means_number(example.rstrip("% ")):
                call = f"pd.to_numeric({label}.str.rstrip('% '))"
            elif re.fullmatch(r"\D?\d{1,3}(,\d{3})+(\.\d+)?", example):
                call = f"pd.to_numeric({label}.str.replace(',', '')), or '.' if that is its point"
            elif _means_number(example.replace(",", ".")):
                call = f"pd.to_numeric({label}.str.replace(',', '.'))"
            remedy = f". Make numbers of it, for example {call}."
    elif isinstance(column.dtype, pd.StringDtype):  # It stands for a column of files.
        remedy = (
            ". It is text: one cell such as '-', '0,9' or 'yes' makes a column of csv text, and "
            "other files may hold numbers as text. Write numbers, or read the file with pandas "
            "and convert the column."
        )
    return RecframeError(
        f"{role}={quote(column.name)}: must be {required}, but has {found}{remedy}"
    )


def _means_number(value: Any) -> bool:
    """Return whether a value is a number, or text of a number."""
    if isinstance(value, np.ndarray):  # float(np.array([1])) works, but an array is no number.
        return False
    try:
        float(value)
    except (TypeError, ValueError, ArithmeticError):
        return False
    return True
