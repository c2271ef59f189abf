"""Samples of rows, from which the meaning of a column without a role is found."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from recframe.errors import DAMAGE
from recframe.frames.columns import Columns
from recframe.frames.names import get_column
from recframe.kernel.grouping import combine
from recframe.kernel.threads import Array
from recframe.options import Options

MOST_SEEN = 1 << 12  # rows of a place; a smaller place has all rows of its users
MOST_WHOLE = 1 << 16  # rows of all users that are looked at
N_USERS_SEEN = 100  # users at each place of rows in memory
NEARLY = 0.9  # the share of values, or of users, that must show a pattern


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


class SeenColumn(NamedTuple):
    """The `distinct` values of a column, their codes, and the rows of each user with each value.

    A cell is a user with a value, as one integer, from which the value is the remainder by the
    number of values. `counts` are the rows of the cells; `n_several` users have several values.
    """

    label: Hashable
    codes: Array
    distinct: pd.Index[Any]
    cells: Array
    counts: Array
    n_several: int


@dataclass(frozen=True, eq=False)
class SeenRows:
    """All rows of some users, the user of each row as a code, and how they are read."""

    frame: pd.DataFrame
    user: Array
    columns: Columns
    options: Options

    @property
    def n_users(self) -> int:
        """The number of users."""
        return int(self.user.max(initial=-1)) + 1

    @cached_property
    def has_all_items(self) -> bool:
        """Whether nearly all users have every item, as where a whole catalogue is scored."""
        with suppress(*DAMAGE):  # Ids may be invalid, and items unknown.
            n_items = len(factorize(self.frame, self.columns.item)[1])
            return len(self.user) >= NEARLY * self.n_users * n_items
        return False

    def read(self, label: Hashable) -> SeenColumn | None:
        """Return a column, None if it has one value, a null or unhashable cells.

        It is None too for an attribute of items of which nearly all users have every one.
        """
        with suppress(*DAMAGE):
            codes, distinct = factorize(self.frame, label)
            is_of_catalogue = self.has_all_items and self.is_decided_by(self.columns.item, codes)
            if len(distinct) > 1 and not (distinct.hasnans or is_of_catalogue):
                numbers = self.user * len(distinct) + codes
                cells, counts = np.unique(numbers, return_counts=True)
                n_several = int(np.count_nonzero(np.bincount(cells // len(distinct)) > 1))
                return SeenColumn(label, codes, distinct, cells, counts, n_several)
        return None

    def is_decided_by(self, label: Hashable, codes: Array) -> bool:
        """Return whether the item, or the relevance, of a row decides its value in a column."""
        with suppress(*DAMAGE):  # Ids may be invalid.
            return label is not None and decides(factorize(self.frame, label)[0], codes)
        return False

    def list_steps(self, label: Hashable, *, falls: bool = False) -> Array:
        """Return how much integers rise from row to row of each user in order of scores.

        Integers of rows with equal scores rise, unless they are to fall.
        """
        integers = get_column(self.frame, label)
        scores = get_column(self.frame, self.columns.score_columns[0])
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


def decides(by: Array, codes: Array) -> bool:
    """Return whether a column, with values that repeat, decides the values of another."""
    return bool(len(np.unique(combine(by, codes))) == by.max() + 1 < len(by))
