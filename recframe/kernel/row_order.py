"""The order of rows, which as a rule nobody asks for: what stands in them is sorted with users.

NumPy only.
"""

from collections.abc import Callable
from functools import cached_property
from threading import Lock
from typing import Any, TypeAlias

import numpy as np

from recframe.kernel.radix import group_beside
from recframe.kernel.threads import Array

FEW = 16  # users whose rows are sooner found by themselves than all are sorted


class KnownOrder:
    """The rows in grouped order, an array of shape (n_rows,)."""

    def __init__(self, rows: Array) -> None:
        self.rows = rows

    def take(self, places: Array) -> Array:
        """Return the rows at these places of the order."""
        taken: Array = self.rows[places]
        return taken


class LazyOrder:
    """The rows in grouped order, looked for where they are asked for.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows,), int
        The integer of each row's user, by which `group_beside` has grouped rows.
    of_user : callable
        What returns the integer of a user.
    offsets : ndarray of shape (n_users + 1,), int
        The bounds of the groups.
    """

    def __init__(self, numbers: Array, of_user: Callable[[int], Any], offsets: Array) -> None:
        self._numbers, self._of_user, self._offsets = numbers, of_user, offsets
        self._lock = Lock()

    @cached_property
    def rows(self) -> Array:
        """All rows."""
        return group_beside(self._numbers, []).kept

    def take(self, places: Array) -> Array:
        """Return the rows at these places of the order."""
        user = np.searchsorted(self._offsets, places, side="right") - 1
        users = np.unique(user)
        if len(users) > FEW or "rows" in self.__dict__:
            with self._lock:  # several threads may ask
                return self.rows[places]
        found = np.empty(len(places), np.int64)
        for each in users:
            # Of a user rows stand in their order.
            own = np.flatnonzero(self._numbers == self._of_user(each))
            found[user == each] = own[places[user == each] - self._offsets[each]]
        return found


RowOrder: TypeAlias = KnownOrder | LazyOrder
