"""Columns of truth without a role that may hold the relevance of its pairs."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from recframe.errors import Choice, RecframeError, quote
from recframe.frames.columns import Columns
from recframe.frames.names import find_role, get_column, list_labels, plain_name, shown
from recframe.frames.splits import find_parts
from recframe.frames.words import has_word, is_attribute, is_id_without_outcome, is_index
from recframe.options import ROLE_LABELS

MAX_GRADES = 20  # distinct values: ten stars in halves are 20
FEW_WORDS = 5  # distinct values of the words for events
MIN_TIME = 1e6  # Times and dates as numbers are above this, grades below.
FIRST_ROWS = 1000  # Most columns that are no grades have too many values in these rows already.
MOST_COMPARED = 1 << 16  # rows that are compared by user and by item
LEAST_REPEATED = 10  # repeated rows that show whether users or items decide a value
ANY_DIFFER, MOST_DIFFER = 1e-9, 0.5  # shares of the rows that repeat an item
# Texts for a relevant pair, and for one that is not.
VERDICTS = (
    *("yes", "no", "true", "false", "relevant", "irrelevant", "not relevant"),
    *("like", "liked", "dislike", "disliked", "positive", "negative", "pos", "neg", "good", "bad"),
    *("view", "click", "cart", "purchase", "buy", "exact", "substitute", "complement"),
    *("viewed", "clicked", "purchased", "bought", "ordered", "correct", "incorrect", "wrong"),
)
LETTERS = ({"y", "n"}, {"t", "f"})  # the letters of two verdicts


def check_no_grades(truth: pd.DataFrame, columns: Columns, of_rows: Columns) -> None:
    """Raise if a column without a role looks like grades, so that some pairs may not count.

    A few distinct numbers look like grades, and so do texts such as "yes" and "no". Other texts do
    if they differ within items and within users, and many distinct numbers if they differ so in
    most rows. Many distinct fractions do unless users or items decide them. A column that the rows
    have too does not look like grades.
    """
    grades = dict[Hashable, list[str]]()
    for label in list_labels(truth, columns.labels):
        _check_events(truth, label, columns)
        if _is_other(truth, label):
            continue
        with suppress(TypeError, NotImplementedError):  # Cells such as lists are unhashable.
            values, least = _find_grades(get_column(truth, label))
            are_verdicts = bool(values) and least == 0 and values[0][:1] in "\"'"
            is_other = not values or (is_attribute(label) and not are_verdicts)
            if is_other or find_parts(get_column(truth, label)):
                continue  # `check_splits` has asked about parts.
            is_named = are_verdicts or has_word(label, "outcome", "grade")
            share = _share_of_others(truth, label, columns, is_named=is_named)
            if share >= least and (least == 0 or label not in of_rows.others):
                grades[label] = values
    if grades:
        label, values = next(iter(grades.items()))
        others = f" (likewise {shown([*grades][1:])})" if len(grades) > 1 else ""
        few, is_text = "many" if "…" in values else "few", values[0][:1] in "\"'"
        which = f"relevant={quote(label)} if it says which pairs are relevant"
        which = f"the rows that count, as truth[truth[{quote(label)}] == ...]" if is_text else which
        raise RecframeError(
            f"relevant: no column found by its name, but {quote(label)} holds {few} distinct "
            f"values ({', '.join(values)}), as relevance does{others}. Pass {which}, or "
            "relevant=None where all are.",
            {"relevant": Choice([*([] if is_text else grades), None])},
        )


def _check_events(truth: pd.DataFrame, label: Hashable, columns: Columns) -> None:
    """Raise if a column has times or ids, but not in all rows, as of events of some pairs.

    Users or items may decide where it is null, as items without a parent do.
    """
    column, ids = get_column(truth, label), columns.labels
    is_event = column.dtype.kind == "M" or has_word(label, "time")
    is_event |= plain_name(label).endswith("id") and find_role(label) not in ("user", "item")
    n_null = int(column.isna().sum())
    if not is_event or n_null in (0, len(column)):
        return
    pairs = pd.DataFrame({one: get_column(truth, one).array for one in ids})
    pairs["is_null"] = column.isna().array
    if _share_of_others(pairs, "is_null", columns, is_named=True) >= 0:
        raise RecframeError(
            f"relevant: no column found by its name, but {quote(label)} is null in {n_null:,} of "
            f"{len(column):,} rows, which may be those without an event. Pass the rows that count, "
            f"as truth[truth[{quote(label)}].notna()], or relevant=None where all are.",
            {"relevant": Choice([None])},
        )


def list_numbers(truth: pd.DataFrame, columns: Columns) -> list[Hashable]:
    """Return the columns without a role that hold numbers, so that they may be relevance."""
    return [
        label
        for label in list_labels(truth, columns.labels)
        if not (_is_other(truth, label) or is_id_without_outcome(label))
        and is_numeric_dtype(get_column(truth, label).dtype)
    ]


def _is_other(truth: pd.DataFrame, label: Hashable) -> bool:
    """Return whether a column has ids, times, or a score that was made from the order of lists."""
    role = find_role(label)
    if is_index(label):
        return True
    if role != "score" or ROLE_LABELS not in truth.attrs:
        is_moment = has_word(label, "time") and not has_word(label, "spent")
        return role in ("user", "item") or is_moment
    column = get_column(truth, label)
    return column.dtype.kind == "i" and column.max() == -1


def _find_grades(column: pd.Series) -> tuple[list[str], float]:
    """Return values that may be grades, and the share of an item's rows that must differ."""
    values = column.iloc[:FIRST_ROWS].unique()
    values = values if len(values) > MAX_GRADES else column.unique()
    are_ids = is_id_without_outcome(column.name)
    if len(values) > MAX_GRADES:
        is_number = is_numeric_dtype(column.dtype) and not are_ids
        if not is_number or column.abs().min() >= MIN_TIME:
            return [], 0
        if not _are_fractions(column) and column.is_monotonic_increasing:
            return [], 0
        return [f"{column.min():g}", "…", f"{column.max():g}"], MOST_DIFFER
    known = pd.Series(values, dtype=object).dropna()
    try:
        numbers = np.sort(pd.to_numeric(known).to_numpy(float))
    except (TypeError, ValueError):  # texts
        texts = [value for value in known if isinstance(value, str)]
        folded = {text.strip().casefold() for text in texts}
        are_verdicts = not folded.isdisjoint(VERDICTS) or folded in LETTERS
        names = sorted(map(repr, texts)) if are_verdicts or not are_ids else []
        names += ["null"] * (are_verdicts and len(known) < len(values))  # It may mean no.
        return names if len(names) > 1 else [], 0 if are_verdicts else ANY_DIFFER
    if are_ids or len(values) < 2 or len(numbers) == 0 or np.abs(numbers).min() >= MIN_TIME:
        return [], 0
    return [f"{number:g}" for number in numbers] + ["null"] * (len(numbers) < len(values)), 0


def _are_fractions(column: pd.Series) -> bool:
    """Return whether some numbers are fractions, so that they count or name no rows."""
    return column.dtype.kind == "f" and bool((column % 1 > 0).any())


def _share_of_others(
    truth: pd.DataFrame, label: Hashable, columns: Columns, *, is_named: bool
) -> float:
    """Return the share of rows with a new value among the rows that repeat an item.

    It is -1 if enough rows show that the user or the item decides the value, that each row has a
    different whole number, or unless it `is_named` as relevance, that no user has two pairs. It is
    1 if no row repeats an item, and values are fractions. Of many numbers, rows of 0 do not count.
    Of few values, it is the share among the rows of users if hardly an item is repeated.
    """
    labels, n_rows, share = [*columns.users, columns.item], min(len(truth), MOST_COMPARED), 0.0
    user, item, value = (
        pd.factorize(get_column(truth, one).iloc[:n_rows], use_na_sentinel=False)[0]
        for one in (labels[0], labels[-1], label)
    )
    n_values, n_users = (int(codes.max(initial=-1)) + 1 for codes in (value, user))
    are_fractions = _are_fractions(get_column(truth, label))
    is_by_user = len(labels) > 1
    is_alone = is_by_user and n_users == n_rows and not is_named
    if n_rows >= LEAST_REPEATED and (is_alone or (n_values == n_rows and not are_fractions)):
        return -1
    if n_values > MAX_GRADES:
        counts = get_column(truth, label).iloc[:n_rows].ne(0).fillna(True).to_numpy(bool)
        user, item, value, n_rows = user[counts], item[counts], value[counts], int(counts.sum())
    most_words = min(FEW_WORDS, n_rows // 2)
    for by in (user, item)[not is_by_user :]:
        n_by = len(np.unique(by))
        n_others = len(np.unique(by * n_values + value)) - n_by
        if n_others == 0 and n_rows - n_by >= LEAST_REPEATED:
            return -1
        if n_rows - n_by >= LEAST_REPEATED or n_values > most_words:
            share = 0.0  # Items show more than users do.
        share = max(share, n_others / (n_rows - n_by) if n_others > 1 else 0.0)
        if are_fractions and n_others == n_rows - n_by:
            share = 1.0
    return share
