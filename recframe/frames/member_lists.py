"""Lists of items by user: joined to a column, and what is refused in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from recframe.errors import RecframeError, quote
from recframe.frames.arrays import are_minus_one, as_ids, check_unmasked, list_items, read_ids
from recframe.kernel.threads import Array

NO_SEQUENCES = (str, bytes, bytearray)
NO_ORDER = (Set, Mapping)


def join_lists(
    name: str, lists: Mapping[Any, Any], *, as_sets: bool = False
) -> tuple[pd.Index[Any], pd.Index[Any], Array]:
    """Return the users, items and positions in lists by user, each user as often as it has items.

    The first position is 0. Sets, and dicts of grades, have no order but are taken `as_sets`.
    """
    refused = NO_SEQUENCES if as_sets else NO_SEQUENCES + NO_ORDER
    for user, items in lists.items():
        is_other = isinstance(items, refused) or not isinstance(items, Iterable)
        if is_other or getattr(items, "ndim", 1) != 1:  # as of tables
            required = "a set or list" if as_sets else "a sequence, best first"
            remedy = _remedy(name, items)
            raise RecframeError(
                f"{name}: the items of a user must be {required}, found {type(items)} "
                f"(user {quote(user)}){remedy}"
            )
        check_unmasked(f"{name}: items of user {quote(user)}", items)
    sequences = [list_items(name, *pair) for pair in lists.items()]
    sizes = np.array([len(items) for items in sequences], np.int64)
    users = read_ids(name, list(lists)).repeat(sizes)
    items = as_ids(name, list(chain.from_iterable(sequences)))
    check_filled(name, users, items)
    return users, items, find_positions(sizes)


def find_positions(sizes: Array) -> Array:
    """Return the positions, from 0 on, of the members of lists of these sizes."""
    starts = np.cumsum(sizes) - sizes
    positions: Array = np.arange(int(sizes.sum())) - np.repeat(starts, sizes)
    return positions


def _remedy(name: str, item: object) -> str:
    """Return the call that takes these items, or makes lists of them, where one does."""
    if isinstance(item, Set):
        return f"; pass recframe.truth_from({name}) where these are the relevant items"
    if isinstance(item, Mapping):
        best = "sorted(items, key=items.get, reverse=True)"
        return f"; pass {{user: {best} for user, items in {name}.items()}} where these are scores"
    is_item = isinstance(item, str) or not isinstance(item, Iterable)
    one = f"{{user: [item] for user, item in {name}.items()}}"
    return f"; pass {one} where each user has one" if is_item else ""


def check_filled(name: str, users: pd.Index[Any], items: pd.Index[Any]) -> None:
    """Raise where lists are filled up with what is no item."""
    if (is_none := items.isna() | are_minus_one(items)).any():
        user, item = (ids[is_none].tolist()[0] for ids in (users, items))
        raise RecframeError(
            f"{name} must not be filled up, found {is_none.sum()} null or -1 (such as "
            f"{quote(item)} of user {quote(user)}); leave them out"
        )


def check_falling(row: Array, scores: Array, remedy: str) -> None:
    """Raise where scores rise within a row, of which the items come best first."""
    rising = np.unique(row[1:][(row[1:] == row[:-1]) & (scores[1:] > scores[:-1])])
    if len(rising):
        raise RecframeError(
            f"scores must not rise along a row, as items come best first; found {len(rising)} rows "
            f"where they do (the first is row {rising[0]}); pass {remedy}"
        )


def check_once(frame: pd.DataFrame, remedy: str = "") -> None:
    """Raise where an item is in the list of a user twice."""
    repeated = frame[frame.duplicated(["user", "item"])]
    if len(repeated):
        user, item = (repeated[name].tolist()[0] for name in ("user", "item"))
        raise RecframeError(
            f"an item must be in a list once, found {len(repeated)} repeated "
            f"(such as user {quote(user)}, item {quote(item)}){remedy}"
        )
