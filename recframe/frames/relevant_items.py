"""Truth from what holds the relevant items of users otherwise: dicts, and sparse matrices."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from recframe.calls import public
from recframe.errors import RecframeError, quote
from recframe.foreign import frame_error, is_sparse
from recframe.frames.arrays import as_numbers, read_ids
from recframe.frames.member_lists import check_once, join_lists
from recframe.kernel.threads import Array

TRUTH = "a dict of the items of each user, or a sparse matrix of SciPy"


@public
def truth_from(
    truth: Mapping[Any, Any], users: ArrayLike | None = None, items: ArrayLike | None = None
) -> pd.DataFrame:
    """
    Return the frame of relevant items that ``truth=`` takes.

    A user with no items has no row: as far as evaluation goes, a user whom truth does not know.

    Parameters
    ----------
    truth : dict of {user : items}, dict of {user : {item : grade}}, or sparse matrix
        The relevant items of each user, as a set, list or array; with their grades; or as a matrix
        or array of SciPy with a row for each user and a column for each item. What is not stored
        there, or 0, is not relevant; where an entry is stored more than once, its sum counts.
    users, items : array_like of shape (n_users,) and (n_items,), default None
        The ids of rows and columns of a matrix, all different; None: the numbers from 0 on.

    Returns
    -------
    DataFrame
        Columns ``user`` and ``item``, and ``relevance`` where `truth` holds grades or is a matrix:
        with other values than 0 and 1, evaluation needs `min_relevance`, or ``relevant=None`` where
        every pair is relevant.

    Raises
    ------
    RecframeError
        The items of a user are no collection or repeat, an id is null, or -1 as what fills a list
        up; grades are not numbers; a matrix is dense, has NaN or a negative value, or ids repeat
        or are not as many as it has rows or columns.

    See Also
    --------
    from_lists : What is recommended, from a dict of lists.
    evaluate : Takes the frame as `truth`.

    Examples
    --------
    >>> import recframe
    >>> recframe.truth_from({"ann": {3}, "bob": [5, 7], "cat": set()})
      user  item
    0  ann     3
    1  bob     5
    2  bob     7
    >>> recframe.truth_from({"ann": {3: 5.0, 4: 1.0}})
      user  item  relevance
    0  ann     3        5.0
    1  ann     4        1.0
    """
    if is_sparse(truth):
        return _read_matrix(truth, users, items)
    if users is not None or items is not None:
        raise RecframeError(
            f"users and items are the ids of a matrix, found {type(truth).__name__}; leave them out"
        )
    given: Any = truth
    if isinstance(given, pd.DataFrame):
        raise RecframeError(
            "truth must be a dict or a sparse matrix, found a DataFrame, which truth= takes as it "
            "is; pass truth=frame, or frame.explode(column) where a column holds lists"
        )
    if not isinstance(given, Mapping):
        raise frame_error("truth", TRUTH, given)
    graded = {user: items for user, items in truth.items() if isinstance(items, Mapping)}
    if graded and len(graded) < len(truth):
        user, plain = next(pair for pair in truth.items() if pair[0] not in graded)
        raise RecframeError(
            f"truth must have grades for all users or none, found {len(graded)} of {len(truth)} "
            f"with grades, {quote(plain)} for user {quote(user)}"
        )
    user, item, _ = join_lists("truth", truth, as_sets=True)
    frame = pd.DataFrame({"user": user, "item": item})
    check_once(frame, "; pass sets of items where that means nothing")
    if graded:
        grades = list(chain.from_iterable(items.values() for items in graded.values()))
        frame["relevance"] = as_numbers("grades of truth", np.asarray(grades))
    return frame


def _read_matrix(truth: Any, users: ArrayLike | None, items: ArrayLike | None) -> pd.DataFrame:
    """Return the frame of what is stored in a sparse matrix."""
    if truth.ndim != 2:
        raise RecframeError(
            f"truth must have a row for each user and a column for each item, found {truth.ndim} "
            "dimension; pass truth.reshape(1, -1) where it is one user"
        )
    rows = truth.tocsr(copy=True)
    rows.sum_duplicates()
    stored = rows.tocoo()
    values: Array = stored.data
    if values.dtype.kind != "b":
        values = as_numbers("truth", values)
        wrong = values[~(values >= 0)].tolist()
        if wrong:
            raise RecframeError(
                f"truth must be 0 or more, found {len(wrong)} others (such as {quote(wrong[0])}); "
                "pass truth > 0 where these are not relevant"
            )
    is_kept = values != 0
    n_users, n_items = truth.shape
    user, item = (found[is_kept].astype(np.int64) for found in (stored.row, stored.col))
    frame = pd.DataFrame({"user": user, "item": item, "relevance": values[is_kept]})
    if users is not None:
        frame["user"] = read_ids("users", users, (n_users, "rows of truth")).take(user)
    if items is not None:
        frame["item"] = read_ids("items", items, (n_items, "columns of truth"), "item").take(item)
    return frame
