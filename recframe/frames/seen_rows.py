"""Samples of rows, from which the meaning of a column without a role is found."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from recframe.errors import DAMAGE
from recframe.frames.names import get_column
from recframe.kernel.grouping import combine
from recframe.kernel.threads import Array

MOST_SEEN = 1 << 12  # rows of a place; a smaller place has all rows of its users
MOST_WHOLE = 1 << 16  # rows of all users that are looked at
N_USERS_SEEN = 100  # users at each place of rows in memory


def take_places(n_rows: int) -> list[slice]:
    """Return the places whose rows are looked at: all rows if they are few, else three places."""
    if n_rows <= MOST_SEEN:
        return [slice(0, n_rows)]
    starts = np.linspace(0, n_rows - MOST_SEEN, 3, dtype=int).tolist()
    return [slice(start, start + MOST_SEEN) for start in starts]


def take_users(ids: pd.Series) -> Array:
    """Return the positions of all rows of some users, who have rows at one of three places.

    If users have very many rows, only the first rows are returned.
    """
    if len(ids) <= MOST_SEEN:
        return np.arange(len(ids))
    places = [ids.iloc[place].drop_duplicates() for place in take_places(len(ids))]
    users = pd.concat([one.head(N_USERS_SEEN) for one in places])
    rows = np.flatnonzero(ids.isin(users))
    if len(rows) > 3 * MOST_SEEN:  # Fewer users will do, but at least two.
        codes, _ = pd.factorize(ids.iloc[rows])
        n_before = np.bincount(codes).cumsum()
        rows = rows[codes < max(2, int(np.searchsorted(n_before, 3 * MOST_SEEN)))]
    return rows[:MOST_WHOLE]


def concat_places(places: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all places."""
    with warnings.catch_warnings():  # pandas 2 warns of columns without a value
        warnings.simplefilter("ignore", FutureWarning)
        return places[0] if len(places) == 1 else pd.concat(places)


class SeenRows(NamedTuple):
    """All rows of some users, and the user of each row as a code."""

    frame: pd.DataFrame
    user: Array

    def factorize(self, label: Hashable) -> tuple[Array, pd.Index[Any]]:
        """Return the codes and values of a column, none for unhashable cells."""
        with suppress(*DAMAGE):
            return factorize(self.frame, label)
        return np.empty(0, int), pd.Index([])

    def count_cells(self, codes: Array, n_values: int) -> tuple[Array, Array, int]:
        """Return each user's values as cells, their rows, and the users with several values.

        A cell is one integer, from which the value is the remainder by `n_values`.
        """
        cells, counts = np.unique(self.user * n_values + codes, return_counts=True)
        return cells, counts, int(np.count_nonzero(np.bincount(cells // n_values) > 1))

    def list_steps(self, score: Hashable, label: Hashable, *, falls: bool = False) -> Array:
        """Return how much integers rise from row to row of each user in order of scores.

        Integers of rows with equal scores rise, unless they are to fall.
        """
        integers, scores = get_column(self.frame, label), get_column(self.frame, score)
        if integers.dtype.kind not in "biu" or not is_numeric_dtype(scores.dtype):
            return np.empty(0)
        numbers = integers.to_numpy(float, na_value=np.nan)
        by_score = scores.to_numpy(float, na_value=np.nan)
        order = np.lexsort((-numbers if falls else numbers, by_score, self.user))
        steps: Array = np.diff(numbers[order])
        of_users: Array = steps[np.diff(self.user[order]) == 0]
        return of_users


def factorize(frame: pd.DataFrame, label: Hashable) -> tuple[Array, pd.Index[Any]]:
    """Return the values of a column as codes, and the value of each code."""
    codes, values = pd.factorize(get_column(frame, label), use_na_sentinel=False)
    return codes, pd.Index(values)


def is_decided(codes: Array, others: Iterable[Array]) -> bool:
    """Return whether another column, with values that repeat, decides the values of a column."""
    return any(len(np.unique(combine(by, codes))) == by.max() + 1 < len(by) for by in others)
