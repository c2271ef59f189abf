"""The order of rows, which as a rule nobody asks for: what stands in them is sorted with users.

NumPy only.
"""

from functools import cached_property
from threading import Lock
from typing import TypeAlias

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
    firsts : ndarray of shape (n_users,), int
        The first row of each user.
    offsets : ndarray of shape (n_users + 1,), int
        The bounds of the groups.
    """

    def __init__(self, numbers: Array, firsts: Array, offsets: Array) -> None:
        self._numbers, self._firsts, self._offsets = numbers, firsts, offsets
        self._lock = Lock()

    @cached_property
    def rows(self) -> Array:
        """All rows."""
        order = group_beside(self._numbers, []).order
        assert order is not None
        return order

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
            own = np.flatnonzero(self._numbers == self._numbers[self._firsts[each]])
            found[user == each] = own[places[user == each] - self._offsets[each]]
        return found


RowOrder: TypeAlias = KnownOrder | LazyOrder
