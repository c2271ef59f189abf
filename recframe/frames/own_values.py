"""Own values: columns that say something of users, the same in all of a user's rows."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from recframe.errors import RecframeError, quote
from recframe.frames.columns import get_column
from recframe.frames.interactions import Interactions
from recframe.frames.labels import is_same
from recframe.frames.user_index import as_users


def read_own(interactions: Interactions, name: str, label: Hashable) -> pd.Series:
    """Return each user's value of a column, by user; null for users who have no row.

    Raise where a user has two: `name` is the argument that asked for the column.
    """
    groups = interactions.groups
    users, order, offsets = groups.users, groups.order, groups.offsets
    for number, own_label in enumerate(interactions.columns.users):
        if is_same(label, own_label):  # known of users without a row too
            return pd.Series(users.get_level_values(number)).set_axis(users)
    rows = interactions.rows
    if order is not None:
        rows = order if rows is None else rows[order]
    column = get_column(interactions.frame, label, rows)
    if column.dtype == np.float16:  # of which pandas makes no index
        column = column.astype(np.float32)
    try:
        codes, _ = pd.factorize(column, use_na_sentinel=False)
    except TypeError as error:
        raise RecframeError(
            f"{name}={quote(label)} must hold values that can be compared, found {error}"
        ) from error
    n_rows = np.diff(offsets)
    has_rows = np.flatnonzero(n_rows)
    first = np.zeros(len(n_rows), np.intp)
    first[has_rows] = offsets[has_rows]
    differs = np.flatnonzero(codes != np.repeat(codes[first[has_rows]], n_rows[has_rows]))
    if len(differs):
        row = differs[0]
        user = int(np.searchsorted(offsets, row, side="right")) - 1
        n_users = len(np.unique(np.searchsorted(offsets, differs, side="right")))
        both = " and ".join(quote(value) for value in column.iloc[[first[user], row]].tolist())
        raise RecframeError(
            f"{name}={quote(label)} must hold one value for each user, found several for {n_users} "
            f"of {len(users)} (user {quote(users[[user]].tolist()[0])} has {both}); pass a column "
            "that does not vary within users, or a Series indexed by user"
            f"{_apart(interactions, label)}"
        )
    own = column.iloc[first[has_rows]].reset_index(drop=True)
    place = np.full(len(users), -1)
    place[has_rows] = np.arange(len(has_rows))
    return own.reindex(place).set_axis(users)


def _apart(interactions: Interactions, label: Hashable) -> str:
    """Return what ranks the rows of each of a user's values by itself, as a sentence part."""
    users = interactions.columns.users
    return f", or user={quote([label, *users])} to rank each by itself" if users else ""


def find_level(given: Any, users: pd.Index[Any]) -> Any:
    """Return what users have in the index level of a given name; anything else as it is."""
    if isinstance(given, pd.Series):
        return given
    for number, name in enumerate(users.names):
        if name is not None and is_same(given, name):
            return pd.Series(users.get_level_values(number), users, name=name)
    return given


def of_users(argument: str, given: pd.Series, users: pd.Index[Any]) -> pd.Series:
    """Return the values given for users, null for those it does not have.

    Where several columns tell users apart they may be given by some of these, by their names.
    """
    names = given.index.names
    if users.nlevels > 1 and all(name in users.names for name in names):
        places = [list(users.names).index(name) for name in names]
        users = as_users([users.get_level_values(place) for place in places])
    place = given.index.get_indexer(users)
    if len(users) and (place < 0).all():
        raise RecframeError(
            f"{argument}: the index of the Series must hold users, found none of {len(users)} "
            f"(user {quote(users[[0]].tolist()[0])}, index {quote(given.index[:1].tolist())})"
        )
    return given.reset_index(drop=True).reindex(place)
