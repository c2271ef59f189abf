"""Duplicates: rows that repeat the user and item of another, which are found, refused or folded."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_object_dtype

from recframe.errors import RecframeError, RepeatedPairError, quote
from recframe.frames.columns import Columns, get_column
from recframe.frames.ids import encode
from recframe.frames.keys import (
    as_texts,
    check_dtype,
    factorize,
    find_keys,
    have_nulls,
    read_text,
)
from recframe.frames.labels import other_labels, shown
from recframe.frames.names import has_role_name
from recframe.frames.nulls import find_nulls, has_nulls, null_error
from recframe.frames.numbers import check_digits
from recframe.frames.user_groups import UserGroups
from recframe.frames.values import Scores
from recframe.kernel.pieces import Pieces, whole
from recframe.kernel.rankings import Gains
from recframe.kernel.repeats import Repeats, find_repeats, write_bits
from recframe.kernel.texts import Texts
from recframe.kernel.threads import Array

N_EXAMPLES = 1_000  # repeated rows in which a column that tells them apart is looked for
APART = "evaluate each of its values by itself, or make score columns of models by a pivot"
REMEDY = "pass duplicates='max' for the best of each pair, or 'keep' to count every row"


class Unfolded(NamedTuple):
    """The rows before those of one pair became one, in grouped order.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,), int
        Their positions in the frame.
    pair : ndarray of shape (n_rows,), int
        The position of each one's pair among the pairs.
    scores : dict
        As those of `Interactions`, of these rows.
    """

    rows: Array
    pair: Array
    scores: Scores


class ItemKeys(NamedTuple):
    """The items of rows as numbers that are equal where items are, or as texts.

    `bits` are those of `write_bits`, of texts, where they are kept.
    """

    item: pd.Series
    keys: Array | Texts
    bits: Array | None = None

    def write_bits(self) -> Array:
        """Return 32 bits of each item, equal where items are."""
        return write_bits(self.keys) if self.bits is None else self.bits


def read_item_keys(item: pd.Series, *, lenient: bool = False, keep_bits: bool = False) -> ItemKeys:
    """Return the items of rows as what is compared.

    A null item is refused; where reading is lenient, it is like no other.
    """
    keys = find_keys(item) if item.dtype == object else read_text(item)
    if keys is None or have_nulls(keys, item):
        return ItemKeys(item, _find_keys(item, lenient=lenient))
    if isinstance(keys, np.ndarray):
        return ItemKeys(item, keys)
    texts = as_texts(keys)
    return ItemKeys(item, texts, write_bits(texts) if keep_bits else None)


def find_item_repeats(items: ItemKeys, groups: UserGroups, grouped: Array | None = None) -> Repeats:
    """Return the rows, counted in grouped order, that repeat the item of their user.

    `grouped` are the bits of items in that order, where they are known.
    """
    item, keys, bits = items
    own = keys if bits is None else bits
    found = find_repeats(own, groups.offsets, groups.row_order, grouped)
    if len(found.rows) == 0 or not isinstance(keys, Texts):
        return found
    # Different texts can have the same bits: those of the rows found are compared themselves.
    rows = np.unique(np.concatenate([found.rows, found.first]))
    codes = pd.factorize(item.iloc[groups.take_rows(rows)])[0]
    exact = find_repeats(codes, np.searchsorted(rows, groups.offsets))
    return Repeats(rows[exact.rows], rows[exact.first])


def _find_keys(item: pd.Series, *, lenient: bool) -> Array:
    """Return a number for each id that is equal where ids are, for each null one of its own."""
    if has_nulls(item):
        nulls = find_nulls(item)
        if not lenient:
            raise null_error(f"item={quote(item.name)}: ids", nulls)
        codes, _ = factorize(item, "item")
        codes[nulls] = -1 - np.arange(nulls.sum())
        return codes
    check_dtype(item, "item")
    of = item.cat.categories.dtype if isinstance(item.dtype, pd.CategoricalDtype) else item.dtype
    # What objects are, and float categories, must be looked at.
    is_plain = not is_object_dtype(of) and (of is item.dtype or of.kind != "f")
    keys = find_keys(item) if is_plain else None
    if keys is None:
        return encode(item, "item").codes
    check_digits(keys, f"item={quote(item.name)}: ids")
    return keys


def repeated_error(
    frame: pd.DataFrame, columns: Columns, rows: Array, repeats: Repeats
) -> RepeatedPairError:
    """Return the refusal of repeated rows; `rows` are the positions of all in the frame."""
    repeated, first = rows[repeats.rows[:N_EXAMPLES]], rows[repeats.first[:N_EXAMPLES]]
    labels = [*columns.users, columns.item]
    *ids, item = (get_column(frame, label, repeated[:1]).tolist()[0] for label in labels)
    user = tuple(ids) if len(ids) > 1 else next(iter(ids), None)
    example = f"user {quote(user)}, item {quote(item)}" if ids else f"item {quote(item)}"
    found = (
        f"{' and '.join(map(repr, labels))} must not be the same in two rows, found "
        f"{len(repeats.rows):,} of {len(rows):,} rows that repeat another (such as {example})"
    )
    told = find_telling(frame, columns, np.append(repeated, first), np.append(first, first))
    return RepeatedPairError(f"{found}; {advise(told, columns)}", found, user, item)


def find_telling(
    frame: pd.DataFrame, columns: Columns, rows: Array, pair: Array
) -> tuple[Hashable, list[Any]] | None:
    """Return the column that tells rows of the same pair apart, and its values; None for none."""
    told: dict[Hashable, list[Any]] = {}
    for label in other_labels(frame, columns.labels):
        try:
            codes, values = pd.factorize(get_column(frame, label, rows), use_na_sentinel=False)
        except TypeError:
            continue  # lists and the like, which cannot be compared
        cells = pd.DataFrame({"pair": pair, "row": rows, "code": codes}).drop_duplicates("row")
        if not cells.duplicated(["pair", "code"]).any():
            told[label] = pd.Index(values).tolist()
    # Of several columns that with fewest values: rather a model or a day than a time of day.
    return min(told.items(), key=lambda column: len(column[1]), default=None)


def advise(told: tuple[Hashable, list[Any]] | None, columns: Columns) -> str:
    """Return what to do about repeated rows, given the column that tells them apart."""
    if told is None:
        return REMEDY
    label, (one, other, *_) = told
    both = [label, *columns.users] if columns.users else label
    apart = f"pass user={quote(both)} to {APART}"
    if has_role_name(label, "user"):  # as a session of a user
        apart = f"pass user={quote(label)} to rank each by itself"
    elif has_role_name(label, "item"):  # as a passage of a document
        apart = f"pass item={quote(label)} where it is what is ranked"
    shown_values = f"such as {quote(one)} and {quote(other)}"
    return f"the column {quote(label)} tells them apart ({shown_values}): {apart}; else {REMEDY}"


def advise_blindly(labels: list[Hashable]) -> str:
    """Return what to do about repeated rows, given columns that may tell them apart."""
    if not labels:
        return REMEDY
    return f"if one of the columns {shown(labels)} tells them apart, {APART}; else {REMEDY}"


def fold_scores(
    values: Array | Pieces, is_ranked: Array | None, repeats: Repeats
) -> tuple[Array, Array | None]:
    """Return scores of rows, and which are ranked, where a first row has the best of its pair."""
    rows, first = repeats
    values = whole(values).copy()
    if is_ranked is not None:
        is_ranked = is_ranked.copy()
        # What is not ranked must not be the best: it becomes the lowest value there is.
        values[~is_ranked] = -np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).min
        is_ranked[first[is_ranked[rows]]] = True
    np.maximum.at(values, first, values[rows])
    return values, is_ranked


def fold_values(values: Array, repeats: Repeats, label: Hashable) -> Array:
    """Return values of rows that are the same in all rows of a pair, or raise; null is none."""
    rows, first = repeats
    highest, lowest = values.copy(), values.copy()
    np.fmax.at(highest, first, values[rows])
    np.fmin.at(lowest, first, values[rows])
    differs = np.flatnonzero(highest > lowest)
    if len(differs):
        found = f"{lowest[differs[0]]:g} and {highest[differs[0]]:g}"
        raise RecframeError(
            f"mean column={quote(label)}: a user and item of which duplicates='max' makes one row "
            f"must have one value, found {len(differs)} that have several (such as {found}); "
            "pass duplicates='first', or give each pair one value"
        )
    return highest


def fold_relevance(
    relevant: Array, find_gains: Callable[[], Gains] | None, repeats: Repeats
) -> tuple[Array, Callable[[], Gains] | None]:
    """Return which rows are relevant and their gains, a first row as the best of its pair."""
    rows, first = repeats
    folded = relevant.copy()
    folded[first[relevant[rows]]] = True
    if find_gains is None:
        return folded, None

    def find_best() -> Gains:
        gains = find_gains()
        gain = np.where(relevant, gains.gain, 0)
        np.maximum.at(gain, first, gain[rows])
        return gains._replace(gain=gain)

    return folded, find_best
