"""Scores that are classes, and the probabilities of classes."""

from collections.abc import Hashable, Sequence
from contextlib import suppress

import numpy as np
import pandas as pd

from recframe.errors import DAMAGE, Choice, RecframeError, quote
from recframe.frames.columns import Columns
from recframe.frames.names import (
    get_column,
    is_infer,
    order_classes,
    plain_name,
    remove_labels,
    shown,
)
from recframe.frames.seen_rows import concat_places, decides, factorize
from recframe.options import Options

FEW_SHARES, MANY_ROWS = 3, 20  # Probabilities have more distinct values in so many rows.


def are_classes(places: Sequence[pd.DataFrame], columns: Columns) -> bool:
    """Return whether the score has the values 0 and 1, or -1 and 1, and no other."""
    with suppress(*DAMAGE):  # Scores may be text.
        score = get_column(concat_places(places), columns.score_columns[0])
        return _list_classes(score) in ([0, 1], [-1, 1])
    return False


def _list_classes(score: pd.Series) -> list[float]:
    """Return the distinct numbers of a score in order."""
    distinct = np.unique(score.to_numpy(float, na_value=np.nan))
    values: list[float] = distinct[~np.isnan(distinct)].tolist()
    return values


def check_classes(
    places: Sequence[pd.DataFrame], labels: Sequence[Hashable], columns: Columns
) -> None:
    """Raise if columns of fractions, such as probabilities, stand next to a score of classes."""
    rows, score = concat_places(places), columns.score_columns[0]
    values = " and ".join(f"{one:g}" for one in _list_classes(get_column(rows, score)))
    found = f"score: {quote(score)} holds {values} alone, as classes do, and "
    vectors = [label for label in labels if get_column(rows, label).dtype.kind == "O"]
    if vectors:
        last = f"df[{quote(vectors[0])}].map(lambda vector: vector[-1])"
        raise RecframeError(
            f"{found}{quote(vectors[0])} a number of each class. Pass df.assign(score={last}) with "
            f"score='score' to rank by the last class, or score={quote(score)}."
        )
    others = [label for label in labels if _may_rank(get_column(rows, label))]
    with suppress(*DAMAGE):  # Ids may be invalid.
        ids = [one for one in (*columns.users, columns.item) if one is not None]
        by = [factorize(rows, one)[0] for one in ids]
        codes = {one: factorize(rows, one)[0] for one in others if len(rows) >= MANY_ROWS}
        decided = [one for one in codes if any(decides(ids, codes[one]) for ids in by)]
        others = order_classes(rows, remove_labels(others, decided))
    if others:
        raise RecframeError(
            f"{found}{shown(others)} fractions, as probabilities and logits are. Pass "
            f"score={quote(others[0])} to rank by it, or score={quote(score)}.",
            {"score": Choice([*others, score])},
        )


def check_confidence(
    rows: pd.DataFrame, label: Hashable, columns: Columns, options: Options
) -> None:
    """Raise if the score is the probability of the class in each row, as PyCaret returns it."""
    score, classes = columns.score_columns[0], get_column(rows, label)
    if not is_infer(options.score) or plain_name(score) != "predictionscore":
        return
    are_confident = False
    with suppress(*DAMAGE):  # Cells may be unhashable, or no numbers.
        values = get_column(rows, score)
        are_confident = {*classes} == {0, 1} and bool(values.between(0.5, 1).all())
    if are_confident:
        one, other = f"df[{quote(score)}]", f"df[{quote(label)}]"
        raise RecframeError(
            f"score: {quote(score)} is at least 0.5 in each row, as the probability of the class "
            f"in {quote(label)} is, whichever it is. Rank by that of class 1, with "
            f"df[{quote(score)}] = np.where({other} == 1, {one}, 1 - {one}), or pass "
            f"score={quote(score)}."
        )


def _may_rank(column: pd.Series) -> bool:
    """Return whether a column has many fractions, within 0 and 1 like probabilities or negative."""
    values = column.to_numpy(float, na_value=np.nan)
    values = values[np.isfinite(values)]
    are_many = len(np.unique(values)) > FEW_SHARES or len(values) < MANY_ROWS
    are_prices = values.min(initial=0) >= 0 and values.max(initial=0) > 1
    return bool((values % 1 > 0).any() and are_many and not are_prices)
