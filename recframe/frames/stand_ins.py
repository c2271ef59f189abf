"""Stand-ins for users: integers that are read in their place, for each row or each run of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from recframe.arrow_tables import read_column
from recframe.frames.id_runs import find_piece_runs
from recframe.frames.interactions import Interactions
from recframe.frames.user_groups import sort_users
from recframe.kernel.grouping import run_bounds
from recframe.kernel.threads import Array


class StandIn(NamedTuple):
    """What stands for the users of a column.

    Parameters
    ----------
    cells : ndarray of int
        What stands in each row, or in each run of rows of one user.
    write : callable, default None
        Returns the texts of such cells; None: these are the users themselves.
    is_ordered : bool, default True
        Whether cells are in the order of users.
    bounds : ndarray of shape (n_runs + 1,), int, default None
        The bounds of runs; None: each row has a cell.
    """

    cells: Array
    write: Callable[[Array], pa.Array] | None = None
    is_ordered: bool = True
    bounds: Array | None = None

    def restore(self, interactions: Interactions) -> Interactions:
        """Return the arrays of rows of users for which these stand, with the users themselves."""
        if self.write is None:
            return interactions
        groups = interactions.groups
        texts = read_column(pa.chunked_array([self.write(groups.users.to_numpy())]))
        users = pd.Index(texts, name=groups.users.name)
        sorted_by = sort_users(groups) if self.is_ordered else None
        groups = groups._replace(users=users, sorted_by=sorted_by)
        return interactions._replace(groups=groups)


def find_integers(column: pa.ChunkedArray) -> StandIn | None:
    """Return integers in many pieces as runs; None where they do not come in runs."""
    if column.num_chunks < 2 or not pa.types.is_integer(column.type) or column.null_count:
        return None
    pieces = [chunk.to_numpy() for chunk in column.chunks if len(chunk)]
    runs = find_piece_runs(run_bounds, pieces, pieces, least=2) if pieces else None
    if runs is None:
        return None
    users, bounds = runs.join(np.concatenate(runs.heads))
    return StandIn(users, bounds=bounds)
