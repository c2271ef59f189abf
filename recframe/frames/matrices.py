"""Frames from dense matrices of scores, a row for each user and a column for each item."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from recframe.calls import public
from recframe.errors import RecframeError, quote
from recframe.foreign import find_table, frame_error, is_sparse
from recframe.frames.arrays import as_array, as_numbers, read_ids
from recframe.frames.names import has_role_name
from recframe.kernel.threads import Array
from recframe.metrics.names import check_k

MATRIX = "a matrix with a row for each user and a column for each item"
N_CELLS = 1 << 22  # looked at together: what that takes beside matrix and result is some 100 MB


@public
def from_matrix(
    scores: ArrayLike,
    users: ArrayLike | None = None,
    items: ArrayLike | None = None,
    k: int | None = None,
) -> pd.DataFrame:
    """
    Return the frame of a dense matrix of scores, one row for each user and item.

    Cells that are -inf, as scores of items that must not be recommended are set to, or masked are
    no candidates and have no row. A user with no other cells has none either, as one without items
    in `from_topk`.

    Parameters
    ----------
    scores : array_like of shape (n_users, n_items)
        An array, a DataFrame, or anything that NumPy can view as one, as a CPU tensor. NaN is
        refused, for it may be a fault or mean -inf.
    users, items : array_like of shape (n_users,) and (n_items,), default None
        The ids of rows and columns, all different; None: index and columns of a DataFrame, else
        the numbers from 0 on.
    k : int, default None
        Only the k best of each user are kept, and all that tie with the last of these, so that
        with ``truth=`` a metric with a cut-off of at most k is that of all rows, whatever `ties`
        is. None: all.

    Returns
    -------
    DataFrame
        Columns ``user``, ``item``, ``score``; a row for each cell kept, in the order of the matrix.

    Raises
    ------
    RecframeError
        The shapes do not fit, ids repeat, a score is NaN or no number, or the matrix is sparse: it
        does not say whether what is not stored is a score of 0 or none.

    See Also
    --------
    from_topk : The same for a matrix of the best items.
    truth_from : What is relevant, from a sparse matrix.

    Examples
    --------
    >>> import recframe
    >>> scores = [[0.1, 0.9, 0.5], [0.3, -float("inf"), 0.2]]
    >>> recframe.from_matrix(scores, users=["ann", "bob"], k=2)
      user  item  score
    0  ann     1    0.9
    1  ann     2    0.5
    2  bob     0    0.3
    3  bob     2    0.2
    """
    k = None if k is None else check_k(k)
    if isinstance(scores, pd.DataFrame):
        _check_only_scores(scores)
        users = scores.index if users is None else users
        items = scores.columns if items is None else items
    elif is_sparse(scores):
        raise RecframeError(
            f"scores must be dense, found {quote(scores)}; pass scores.toarray() where what is not "
            "stored is a score of 0; else coo = scores.tocoo() has the rows of a frame: "
            "pd.DataFrame({'user': coo.row, 'item': coo.col, 'score': coo.data})"
        )
    elif find_table("scores", scores)[0]:
        raise frame_error("scores", MATRIX, scores)
    matrix = as_array("scores", scores, MATRIX)
    if matrix.ndim != 2:
        raise RecframeError(f"scores must be {MATRIX}, found shape {matrix.shape}")
    if matrix.dtype.kind not in "iuf":
        matrix = as_numbers("scores", matrix.ravel()).reshape(matrix.shape)
    row, column = _find_candidates(matrix, np.ma.getmask(scores), k)
    n_users, n_items = matrix.shape
    user: Any = row
    item: Any = column
    if users is not None:
        user = read_ids("users", users, (n_users, "rows of scores")).take(row)
    if items is not None:
        item = read_ids("items", items, (n_items, "columns of scores"), "item").take(column)
    return pd.DataFrame({"user": user, "item": item, "score": matrix[row, column]})


def _check_only_scores(scores: pd.DataFrame) -> None:
    """Raise where a frame has a column of users, or nulls, which a column may hold as objects."""
    ids = [label for label in scores.columns if has_role_name(label, "user")]
    if ids:
        raise RecframeError(
            f"scores must have a column for each item, found {quote(ids[0])}; pass "
            f"scores.set_index({quote(ids[0])}) where the others are of items; a frame with a row "
            "for each user and item needs no from_matrix"
        )
    _check_known(int(scores.isna().to_numpy().sum()), "scores.fillna(-np.inf)")


def _check_known(n_null: int, call: str) -> None:
    """Raise where scores are null."""
    if n_null:
        raise RecframeError(
            f"scores must not be NaN, found {n_null}; pass {call} where that is no candidate"
        )


def _find_candidates(matrix: Array, mask: Any, k: int | None) -> tuple[Array, Array]:
    """Return the rows and columns of the cells that are kept."""
    n_users, n_items = matrix.shape
    is_float = matrix.dtype.kind == "f"
    lowest = -np.inf if is_float else np.iinfo(matrix.dtype).min
    found = [(np.empty(0, np.intp), np.empty(0, np.intp))]
    n_null = 0
    step = max(1, N_CELLS // max(1, n_items))
    for start in range(0, n_users, step):
        cells = matrix[start : start + step]
        is_kept = cells > -np.inf if is_float else np.ones(cells.shape, bool)
        if np.ndim(mask):
            is_kept &= ~mask[start : start + step]
            cells = np.where(is_kept, cells, matrix.dtype.type(lowest))
        if is_float:
            n_null += int(np.isnan(cells).sum())
        if k is not None and k < n_items:
            # Those that tie with the last are kept: which of them is in the first k is chance.
            at = n_items - k
            is_kept &= cells >= np.partition(cells, at, axis=1)[:, at, np.newaxis]
        row, column = np.nonzero(is_kept)
        found.append((row + start, column))
    _check_known(n_null, "np.where(np.isnan(scores), -np.inf, scores)")
    rows, columns = zip(*found, strict=True)
    return np.concatenate(rows), np.concatenate(columns)
