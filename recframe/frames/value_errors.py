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
        if role == "relevant" and column.dtype.kind == "M":
            remedy = f". Convert it, for example with {label}.notna(), true where it has a time."
        elif not is_bool_dtype(column.dtype):
            remedy = f". Convert it, for example with pd.to_numeric({label})."
        if isinstance(example, str) and not _means_number(example):
            call = _compare_words(column) if role == "relevant" else _convert_texts(column, example)
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


def _compare_words(column: pd.Series) -> str:
    """Return code that makes flags of words, with the word that means relevant if it is known."""
    words = list(dict.fromkeys(one for one in column if isinstance(one, str)))
    means = [word for word in words if word.strip().casefold() in YES]
    call = f"df[{quote(column.name)}] == {quote(means[0]) if means else '...'}"
    if not means:
        call += f", where ... is the word that means relevant: {Choice(words)}"
    return f"{call}; or pass relevant=None where these are rows of truth, all relevant"


def _convert_texts(column: pd.Series, example: str) -> str:
    """Return code that makes numbers of texts such as the example, which float() does not read."""
    label = f"df[{quote(column.name)}]"
    others = [text for text in column if isinstance(text, str) and not _means_number(text)]
    if _means_number(example.rstrip("% ")):
        return f"pd.to_numeric({label}.str.rstrip('% '))"
    if re.fullmatch(r"\D?\d{1,3}(,\d{3})+(\.\d+)?", example):
        return f"pd.to_numeric({label}.str.replace(',', '')), or '.' if that is its point"
    if _means_number(example.replace(",", ".")):
        return f"pd.to_numeric({label}.str.replace(',', '.'))"
    if len(others) < column.count() and not any(map(re.compile(r"\d").search, others)):
        return f"pd.to_numeric({label}, errors='coerce'), which makes nulls of such text"
    return f"{label}.map(function), where function returns the number of each text"


def _means_number(value: Any) -> bool:
    """Return whether a value is a number, or text of a number."""
    if isinstance(value, np.ndarray):  # float(np.array([1])) works, but an array is no number.
        return False
    try:
        float(value)
    except (TypeError, ValueError, ArithmeticError):
        return False
    return True
