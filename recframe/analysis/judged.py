"""The judged frame: rows with the relevance that truth gives them, and the items not listed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from recframe.frames.columns import Columns, find_columns
from recframe.frames.ids import append
from recframe.frames.interactions import read_rows
from recframe.frames.truth import (
    Pairs,
    Places,
    judge_rows,
    load_truth,
    locate,
    raise_no_common,
    read_pairs,
)
from recframe.kernel.grouping import Array
from recframe.options import Options


def judged_frame(frame: pd.DataFrame, options: Options, *, is_all: bool = True) -> pd.DataFrame:
    """Return a frame with a column of relevance, and with the items of truth it does not list.

    Where it is not all there is, truth need not be of its users.
    """
    truth = load_truth(options.truth)
    columns = find_columns(frame, options)
    interactions = read_rows(frame, columns, options)
    pairs = read_pairs(truth, columns, options)
    places = locate(pairs, frame, columns, interactions)
    if is_all and places.user.max() < 0:
        raise_no_common(interactions.groups.users, pairs.users)
    added = _added(pairs, places, options)

    kept = frame if interactions.rows is None else frame.iloc[interactions.rows]
    in_index = [name for name in (columns.user, columns.item) if name in frame.index.names]
    kept = kept.reset_index([name for name in in_index if name is not None])
    judged = [
        _extend(kept.iloc[:, position], columns, pairs, added)
        for position, name in enumerate(kept.columns)
        if name != "relevant"
    ]
    flags = judge_rows(interactions, pairs, places).relevant
    if interactions.groups.order is not None:
        flags[interactions.groups.order] = flags.copy()
    judged.append(pd.Series(np.append(flags, pairs.relevant[added]), name="relevant"))
    return pd.concat(judged, axis=1)


def _added(pairs: Pairs, places: Places, options: Options) -> Array:
    """Return the pairs that judging adds as rows.

    They are the relevant items that are not listed and, so that no user of truth is lost, what
    truth says of users who have neither a row nor a relevant item.
    """
    n_relevant = np.bincount(pairs.user[pairs.relevant], minlength=len(pairs.users))
    added = (places.row < 0) & (pairs.relevant | (n_relevant[pairs.user] == 0))
    is_absent = places.user < 0
    if options.absent == "drop":
        return np.flatnonzero(added & ~is_absent & pairs.relevant)
    return np.flatnonzero(added & (pairs.relevant | is_absent))


def _extend(column: pd.Series, columns: Columns, pairs: Pairs, added: Array) -> pd.Series:
    """Return a column with a cell for each pair added, null where it holds no id."""
    if len(added) and column.name == columns.item:
        cells = append(pd.Index(column), pairs.item.take(added))
    elif len(added) and columns.user is not None and column.name == columns.user:
        cells = append(pd.Index(column), pairs.users[pairs.user[added]])
    else:
        if len(added) and isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
            # These hold no null, and as floats large integers would lose digits.
            column = column.astype(pd.array(np.empty(0, column.dtype)).dtype)
        return column.reset_index(drop=True).reindex(range(len(column) + len(added)))
    return pd.Series(cells, name=column.name)
