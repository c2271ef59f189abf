"""Frames from matrices of items, of scores and of relevance."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from recframe.errors import RecframeError, count_of, quote
from recframe.frames.constructors.rows import (
    are_no_items,
    as_ids,
    as_numbers,
    make_rows,
    make_rows_of_cells,
    read_array,
    read_axis,
)
from recframe.frames.names import find_role, shown
from recframe.frames.values import check_digits
from recframe.kernel.threads import Array
from recframe.metrics.names import check_k
from recframe.notes import Note, warn_of
from recframe.options import POSITIONS
from recframe.other_tables import find_table, frame_error, is_sparse
from recframe.public_calls import public

N_ROWS_SEEN, LEAST_CELLS = 100, 30  # rows and cells that show whether scores are ranks
N_CELLS = 1 << 22  # cells of a block, which is copied and partitioned
NULLS = ("-1", "-1.0", "nan", "NaN", "NaT", "None", "none", "null", "NULL", "<NA>")
NO_ITEM = ("", " ", "<PAD>", "<pad>", "[PAD]", *NULLS)
PADDING = {*NO_ITEM, *map(str.encode, NO_ITEM)}


@public
def from_topk(
    items: ArrayLike, users: ArrayLike | None = None, scores: ArrayLike | None = None
) -> pd.DataFrame:
    """
    Return a DataFrame of a matrix of recommended items, one row of the matrix for each user.

    Cells without an item are left out: -1, null or masked, or with a score of -inf. A user with
    no other cells has no row in the frame; with ``truth=``, nothing is listed for this user.

    Parameters
    ----------
    items : array_like of shape (n_users, k)
        Item ids, best first: an array, or anything that NumPy can view as one, such as a CPU
        tensor. Floats must be whole numbers (NaN is no item) and become integers. Text that stands
        for no item, such as "nan" or "-1", is refused.
    users : array_like of shape (n_users,), default None
        The id of each row's user, all different; None: positions, as in `from_matrix`.
    scores : array_like of shape (n_users, k), default None
        Scores of the items, not NaN, which must not rise along a row; None: minus the position,
        from -1 on.

    Returns
    -------
    DataFrame
        Columns ``user``, ``item``, ``score``; a row for each item, in the order of the matrix.

    Raises
    ------
    RecframeError
        The shapes do not fit, a user or a user's item repeats, scores rise or are masked, or ids
        are not whole or were rounded, are -1 as an unsigned integer or text that stands for no
        item.

    See Also
    --------
    from_lists : The same for lists of different lengths.

    Examples
    --------
    >>> import recframe
    >>> recframe.from_topk([[7, 3], [5, -1]], users=["ann", "bob"])
      user  item  score
    0  ann     7     -1
    1  ann     3     -2
    2  bob     5     -1
    """
    _check_order(items, users=users)
    ids, listed = _read_items(items, has_users=users is not None)
    user = read_axis("users", users, (len(listed), "rows of items"))
    score = -1 - np.nonzero(listed)[1]
    if scores is not None:
        score = read_array("scores", scores, "a matrix of numbers")
        if score.shape != listed.shape:
            raise RecframeError(
                f"scores must have the shape of items, but have {score.shape} for {listed.shape}"
            )
        score = as_numbers("scores", np.ma.asarray(scores)[listed])
        _check_known(score)
        is_candidate = score > -np.inf
        ids, score = ids[is_candidate], score[is_candidate]
        listed[listed] = is_candidate
    frame = make_rows("items", user, listed.sum(axis=1), ids, score)
    if users is None:
        frame.attrs[POSITIONS] = {"user": len(listed)}
    return frame


@public
def from_matrix(
    scores: ArrayLike,
    users: ArrayLike | None = None,
    items: ArrayLike | None = None,
    k: int | None = None,
) -> pd.DataFrame:
    """
    Return a DataFrame of a dense matrix of scores, one row for each user and item.

    Cells that are masked or -inf (the usual score of items that must not be recommended) are no
    candidates and have no row. A user with no other cells has no row either.

    Parameters
    ----------
    scores : array_like of shape (n_users, n_items)
        An array, a DataFrame, or anything that NumPy can view as one, such as a CPU tensor. NaN is
        refused, because it may be a fault or mean -inf.
    users, items : array_like of shape (n_users,) and (n_items,), default None
        The ids of rows and columns, all different; None: index and columns of a DataFrame,
        otherwise positions from 0 on, beyond which `truth` is refused.
    k : int, default None
        Keep only the k best items of each user, and all that tie with the last of these. With
        ``truth=``, a metric with a cut-off of at most k then equals that of all rows under any
        `ties`. None: keep all.

    Returns
    -------
    DataFrame
        Columns ``user``, ``item``, ``score``; a row for each cell kept, in the order of the matrix.

    Raises
    ------
    RecframeError
        The shapes do not fit, ids repeat, a score is NaN or no number, or the matrix is sparse, so
        that an entry not stored may be a score of 0 or no score.

    See Also
    --------
    from_topk : The same for a matrix of the best items.
    truth_from : The relevant items, from a sparse matrix.

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
    if is_sparse(scores):
        raise RecframeError(
            f"scores must be dense, but is {quote(scores)}. Pass scores.toarray() if a cell that "
            "is not stored is a score of 0; else coo = scores.tocoo() has the rows of a frame: "
            "pd.DataFrame({'user': coo.row, 'item': coo.col, 'score': coo.data})."
        )
    required = "a matrix with a row for each user and a column for each item"
    matrix = as_numbers("scores", _read_matrix("scores", scores, required))
    _check_order(scores, users=users, items=items)
    if isinstance(scores, pd.DataFrame):
        is_default = [type(ids) is pd.RangeIndex and ids.name is None for ids in scores.axes]
        users = scores.index if users is None and not is_default[0] else users
        items = scores.columns if items is None and not is_default[1] else items
    mask = np.ma.getmask(scores)
    cells = np.ma.masked_array(matrix, mask).filled(np.ma.maximum_fill_value(matrix))
    _check_known(cells)
    is_kept = (cells > -np.inf) & ~mask
    if isinstance(scores, pd.DataFrame):
        _warn_of_zeros(cells)
    if k is not None and k < cells.shape[1]:
        _warn_of_ranks(cells)
        # Items that tie with the k-th are kept: which of them comes first is chance.
        at = cells.shape[1] - k
        blocks = np.array_split(cells, cells.size // N_CELLS + 1)
        lowest = np.concatenate([np.partition(block, at, axis=1)[:, [at]] for block in blocks])
        is_kept &= cells >= lowest
    listed = np.nonzero(is_kept)
    return make_rows_of_cells("scores", matrix.shape, listed, (users, items), score=matrix[listed])


def _warn_of_zeros(cells: Array) -> None:
    """Warn if most cells are 0 and all others are above, as where 0 fills a pivot."""
    n_zeros = int(np.count_nonzero(cells == 0))
    if cells.size >= LEAST_CELLS and n_zeros < cells.size < 2 * n_zeros and cells.min() == 0:
        text = (
            f"{n_zeros:,} of {cells.size:,} scores are 0 and all others are above, so these items "
            "are ranked last; if 0 fills cells without a score, as fill_value=0 of a pivot does, "
            "pass scores.where(scores > 0, -np.inf)"
        )
        warn_of([Note("filled", text, {})])


def _warn_of_ranks(cells: Array) -> None:
    """Warn if each row has the numbers from 0 or 1 on once, as ranks; the highest are kept."""
    rows = np.sort(cells[:N_ROWS_SEEN], axis=1)
    numbers, are_many = np.arange(cells.shape[1]), rows.size >= LEAST_CELLS and cells.shape[1] > 2
    if are_many and ((rows == numbers).all() or (rows == numbers + 1).all()):
        text = (
            f"each row of scores holds the numbers from {rows[0, 0]:g} to {rows[0, -1]:g} once, as "
            "ranks and np.argsort do, and the highest are kept; pass -scores if the first rank is "
            "the best"
        )
        warn_of([Note("ranks", text, {})])


def read_sparse(truth: Any, users: ArrayLike | None, items: ArrayLike | None) -> pd.DataFrame:
    """Return the frame of the values stored in a sparse matrix of relevance."""
    if truth.ndim != 2:
        raise RecframeError(
            f"truth must have a row for each user and a column for each item, but has {truth.ndim} "
            "dimension. Pass truth.reshape(1, -1) where it is one user."
        )
    rows = truth.tocsr(copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    stored = rows.tocoo()
    values: Array = stored.data
    if values.dtype.kind != "b":
        values = as_numbers("truth", values)
        if wrong := values[~(values >= 0)].tolist():
            raise RecframeError(
                f"truth must be 0 or more, but has {count_of(len(wrong), 'other')} (such as "
                f"{quote(wrong[0])}). Pass truth > 0 where these are not relevant."
            )
    cells = stored.row, stored.col
    return make_rows_of_cells("truth", truth.shape, cells, (users, items), relevance=values)


def _check_known(scores: Array) -> None:
    """Raise if a score of an item is NaN."""
    if n_null := np.count_nonzero(np.isnan(scores)):
        raise RecframeError(
            f"scores must not be NaN, but {n_null} are. Pass np.where(np.isnan(scores), -np.inf, "
            "scores), or scores.fillna(-np.inf) of a frame, where that is no candidate."
        )


def _read_matrix(name: str, values: Any, required: str) -> Array:
    """Return a dense matrix, or raise if it has another shape or a column of users."""
    if isinstance(values, pd.DataFrame):
        _check_axes(name, values)
        if ids := [label for label in values.columns if find_role(label) == "user"]:
            raise RecframeError(
                f"{name} must hold {name} only, but holds a column {quote(ids[0])}. Pass users= "
                f"that column, and {name}.drop(columns={quote(ids[0])}); a frame with a row for "
                "each user and item is evaluated as it is."
            )
    elif find_table(name, values)[0]:
        raise frame_error(name, required, values)
    matrix = read_array(name, values, required)
    if matrix.ndim != 2:
        raise RecframeError(f"{name} must be {required}, but has shape {matrix.shape}")
    return matrix


def _check_axes(name: str, values: pd.DataFrame) -> None:
    """Raise if a frame has users as columns, an index among its columns, or positions unsorted."""
    of_rows, of_columns = find_role(values.index.name), find_role(values.columns.name)
    if of_columns == "user" != of_rows:
        names = f"{quote(values.index.name)} and {quote(values.columns.name)}"
        raise RecframeError(
            f"{name} must have a row for each user, but its axes are named {names}. Pass {name}.T."
        )
    every: list[Any] = values.columns.tolist()
    labels = [label for label in every if isinstance(label, str)]
    if unnamed := [label for label in labels if label.startswith("Unnamed: ")]:
        raise RecframeError(
            f"{name}: {quote(unnamed[0])} is the index of a frame that was saved as csv. Read it "
            "with pd.read_csv(path, index_col=0)."
        )
    ends = [re.fullmatch(r"(.*?)(\d+)", label) for label in labels]
    places = [(end[1], int(end[2])) for end in ends if end]
    is_one = len(places) == len(every) and len({start for start, _ in places}) == 1
    if name == "items" and is_one and places != sorted(places):
        raise RecframeError(
            f"items must come best first, but their columns are {shown(labels)}. Pass them in the "
            "order of their numbers."
        )


def _check_order(frame: Any, **passed: ArrayLike | None) -> None:
    """Raise if ids that are passed are the labels of a frame in another order."""
    axes = frame.axes if isinstance(frame, pd.DataFrame) else []
    for (name, ids), labels in zip(passed.items(), axes, strict=False):
        if ids is None or (type(labels) is pd.RangeIndex and labels.name is None):
            continue  # The default labels are positions.
        axis = read_axis(name, ids)
        if len(axis) == len(labels) and not (axis == labels).all() and labels.isin(axis).all():
            raise RecframeError(
                f"{name} must be in the order of the frame, but begin with {quote(axis[0])}, and "
                f"its own labels, the same ids, with {quote(labels[0])}. Leave {name}= out."
            )


def _read_items(items: ArrayLike, *, has_users: bool) -> tuple[pd.Index[Any], Array]:
    """Return the items in a matrix of ids, and which cells hold them."""
    required = "a matrix with a row for each user (from_lists takes lists of different lengths)"
    matrix = _read_matrix("items", items, required)
    if isinstance(items, pd.DataFrame) and not has_users:
        if not items.index.equals(pd.RangeIndex(len(items))):
            raise RecframeError(
                f"items has an index (such as {quote(items.index[[0]].tolist()[0])}) that may say "
                "whose rows they are. Pass users=items.index if it does, or items.to_numpy()."
            )
    elif matrix.dtype.kind == "U" and isinstance(items, list | tuple):
        matrix = np.asarray(items, dtype=object)  # Numbers among text stay numbers.
    kind = matrix.dtype.kind
    listed = ~(pd.isna(matrix) | np.ma.getmaskarray(np.ma.asarray(items)))
    cells = matrix[listed]
    if kind == "f":
        is_whole = (np.abs(cells) < 2.0**63) & (np.floor(cells) == cells)
        if refused := cells[~is_whole].tolist():
            raise RecframeError(
                f"items must be whole numbers or text, but are {refused[0]}. Pass "
                "recframe.from_matrix(items) where these are scores."
            )
        check_digits(cells, "items")
        cells = cells.astype(np.int64)
    if kind == "b":
        raise RecframeError("items must be ids, but are booleans")
    if kind == "u" and cells.itemsize >= 4 and (cells == (top := np.iinfo(cells.dtype).max)).any():
        raise RecframeError(
            f"items must not be {top}, which is -1 made {cells.dtype}. Pass them as signed "
            "integers."
        )
    if kind in "OSU" and (is_none := pd.Series(cells.tolist(), dtype=object).isin(PADDING)).any():
        text = cells[is_none].tolist()[0]
        raise RecframeError(
            f"items must not be text that stands for no item, but {is_none.sum()} are (such as "
            f"{text!r}). Make these cells None, for example np.where(np.asarray(items) == {text!r},"
            " None, items); from_lists takes such text as an item."
        )
    is_item = ~are_no_items(as_ids("items", cells))
    listed[listed] = is_item
    ids = cells[is_item]  # Without -1, objects may become a dtype of text.
    return as_ids("items", ids.tolist() if kind == "O" else ids), listed
