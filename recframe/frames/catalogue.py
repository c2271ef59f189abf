"""The catalogue that is passed: how many items it has, and which."""

from __future__ import annotations

from collections.abc import Set
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.arrow_tables import read_frame
from recframe.errors import RecframeError, quote
from recframe.foreign import frame_error, is_table, load_table
from recframe.frames.arrays import as_array, as_ids, check_unmasked
from recframe.frames.columns import Columns, find_label, get_column
from recframe.frames.ids import match, plain
from recframe.frames.kinds import find_kinds
from recframe.frames.labels import is_same, list_labels
from recframe.metrics.names import MAX_K
from recframe.options import INFER

REQUIRED = "a list or Series of ids, a frame with a column of them, or their number"


class Catalogue(NamedTuple):
    """The items there are, each once; `ids` is None where only their number is known."""

    n_items: int
    ids: pd.Index[Any] | None = None

    def check(self, shown: pd.Index[Any]) -> None:
        """Raise where distinct items that are recommended are not all in the catalogue."""
        remedy = "pass the whole catalogue, or items=None for the items of the frame"
        if self.ids is None:
            if len(shown) > self.n_items:
                raise RecframeError(
                    f"items must be the number of all items, found {self.n_items:,}, of which "
                    f"{len(shown):,} are recommended; {remedy}"
                )
            return
        kinds = [find_kinds(ids) for ids in (self.ids, shown)]
        if len(kinds[0]) == len(kinds[1]) == 1 and kinds[0].keys() != kinds[1].keys():
            raise RecframeError(
                "items must be of the kind that the frame's ids have, found "
                f"{quote(self.ids.tolist()[0])} for such as {quote(shown.tolist()[0])}; convert "
                "them, for example with .astype(str)"
            )
        unknown = shown[match(shown, self.ids, "item") < 0]
        if len(unknown):
            raise RecframeError(
                f"items must have every item that is recommended, found {len(unknown):,} of "
                f"{len(shown):,} missing (such as {quote(unknown.tolist()[0])}); {remedy}"
            )


def read_catalogue(items: Any, columns: Columns) -> Catalogue | None:
    """Return the catalogue that is passed, None where it is that of the frame."""
    if items is None:
        return None
    if isinstance(items, Integral):
        number = int(items)
        if number < 1 or items is True:
            raise RecframeError(f"items must be {REQUIRED}, 1 or more, found {quote(items)}")
        if number > MAX_K:
            raise RecframeError(f"items must be at most 2**53 in number, found {quote(items)}")
        return Catalogue(number)
    ids = _read_ids(items, columns)
    if n_null := np.count_nonzero(ids.isna()):
        raise RecframeError(f"items must not be null, found {n_null} null of {len(ids)}")
    if len(ids) == 0:
        raise RecframeError("items must hold at least one item, found none")
    distinct = plain(ids).unique()
    return Catalogue(len(distinct), distinct)


def _read_ids(items: Any, columns: Columns) -> pd.Index[Any]:
    """Return the ids that are passed as items."""
    if not isinstance(items, pd.DataFrame) and is_table("items", items):
        items = read_frame(load_table("items", REQUIRED, items))
    if isinstance(items, pd.DataFrame):
        is_there = any(is_same(label, columns.item) for label in list_labels(items))
        try:
            label = find_label(items, "item", columns.item if is_there else INFER)
        except RecframeError as error:
            raise type(error)(f"items: {error}") from None
        return as_ids("items", get_column(items, label))
    if isinstance(items, Set):
        items = list(items)
    check_unmasked("items", items)
    if not isinstance(items, list | tuple | pd.Series | pd.Index | np.ndarray):
        raise frame_error("items", REQUIRED, items)
    if not isinstance(items, pd.Series | pd.Index):
        if as_array("items", items, REQUIRED).ndim != 1:
            raise frame_error("items", REQUIRED, items)
        items = list(items)
    return as_ids("items", items)
