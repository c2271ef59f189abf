"""Frames from what recommenders return: matrices of the best items, and lists."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from recframe.calls import public
from recframe.errors import RecframeError, quote
from recframe.foreign import find_table, frame_error
from recframe.frames.arrays import (
    are_minus_one,
    as_array,
    as_ids,
    as_numbers,
    check_unmasked,
    read_ids,
)
from recframe.frames.labels import is_infer
from recframe.frames.list_columns import read_lists
from recframe.frames.member_lists import check_falling, check_once, join_lists
from recframe.frames.names import has_role_name
from recframe.frames.numbers import check_digits
from recframe.kernel.threads import Array
from recframe.options import INFER

LISTS = "a dict of items by user, or a frame with a column of lists"
MATRIX = "a matrix (from_lists takes lists of different lengths)"

NO_ITEM = ("-1", "-1.0", "nan", "NaN", "NaT", "None", "none", "null", "NULL", "<NA>")
PADDING = {
    text
    for name in ("", " ", "<PAD>", "<pad>", "[PAD]", *NO_ITEM)
    for text in (name, name.encode())
}


@public
def from_topk(
    items: ArrayLike, users: ArrayLike | None = None, scores: ArrayLike | None = None
) -> pd.DataFrame:
    """
    Return the frame of a matrix of recommended items, one row of the matrix for each user.

    Cells that hold no item are left out: -1, null or masked. A user with no other cells has no
    row in the frame; evaluated with ``truth=``, that is a user for whom nothing is listed.

    Parameters
    ----------
    items : array_like of shape (n_users, k)
        Item ids, best first: an array, or anything that NumPy can view as one, as a CPU tensor.
        Floats must be whole numbers (NaN is no item) and become integers. Text that says there is
        none, as "nan" or "-1", is refused.
    users : array_like of shape (n_users,), default None
        The id of each row's user, all different; None: 0 to n_users - 1.
    scores : array_like of shape (n_users, k), default None
        Scores of the items, which must not rise along a row; None: minus the position, from -1 on.

    Returns
    -------
    DataFrame
        Columns ``user``, ``item``, ``score``; a row for each item, in the order of the matrix.

    Raises
    ------
    RecframeError
        The shapes do not fit, a user or a user's item repeats, scores rise or are masked, or ids
        are not whole or were rounded, are -1 made unsigned or text that says there is no item.

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
    matrix, listed = _read_items(items, has_users=users is not None)
    row, column = np.nonzero(listed)
    item = matrix[row, column]
    user: Any = row
    if users is not None:
        user = read_ids("users", users, (len(matrix), "rows of items")).take(row)
    score = -1 - column if scores is None else _read_scores(scores, listed)
    return _make_frame(user, item.tolist() if item.dtype.kind == "O" else item, score)


@public
def from_lists(
    lists: Mapping[Any, Iterable[Hashable]] | pd.DataFrame | pd.Series,
    *,
    user: Hashable = INFER,
    items: Hashable = INFER,
) -> pd.DataFrame:
    """
    Return the frame of lists of recommended items.

    A user with an empty list has no row in the frame, as one without items in `from_topk`.

    Parameters
    ----------
    lists : dict of {user : sequence of items}, or DataFrame
        The items of each user, best first. A frame has a row for each user and a column of lists:
        of items, or of structs of an item and its score, as ``recommendForAllUsers`` of Spark gives
        them: dicts, rows, structs of Arrow, or pairs. The item is known by its name, the score as
        the only number beside it, or the one that is named as a score or ``rating``. A Series is
        a frame of one column.
    user, items : label, default "infer"
        The columns of a frame: "infer" looks for `user` as `evaluate` does, for the only column of
        lists.

    Returns
    -------
    DataFrame
        Columns as of `from_topk`; the score is minus the position in the list, -1 for the first,
        where structs have none. A distance becomes a score as its negative.

    Raises
    ------
    RecframeError
        A list is no sequence, an item is in it twice, or one is null or -1; a user is null or
        there twice; scores rise along a list; it is not known which column or field is which; or
        an iterator has not ended after 1,000,000 items.

    See Also
    --------
    from_topk : The same for a matrix of items.
    truth_from : What is relevant, from a dict.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> recframe.from_lists({"ann": [7, 3], "cat": []})
      user  item  score
    0  ann     7     -1
    1  ann     3     -2
    >>> recommended = [[{"movieId": 7, "rating": 4.5}, {"movieId": 3, "rating": 4.5}], None]
    >>> frame = pd.DataFrame({"userId": ["ann", "cat"], "recommendations": recommended})
    >>> recframe.from_lists(frame)
      user  item  score
    0  ann     7    4.5
    1  ann     3    4.5
    """
    if isinstance(lists, pd.Series):
        lists = lists.to_frame()
    if isinstance(lists, pd.DataFrame):
        try:
            return _make_frame(*read_lists(lists, user, items))
        except RecframeError as error:
            raise type(error)(f"lists: {error}") from None
    if not (is_infer(user) and is_infer(items)):
        raise RecframeError(
            f"user and items are columns of a frame, found {type(lists)}; leave them out"
        )
    if not isinstance(lists, Mapping):
        raise frame_error("lists", LISTS, lists)
    first = next((items[0] for items in lists.values() if isinstance(items, list) and items), None)
    is_pair = isinstance(first, tuple) and len(first) == 2 and isinstance(first[1], float)
    if is_pair or isinstance(first, dict):
        raise RecframeError(
            f"lists: items of a dict are ids, found {quote(first)}; where that is an item and its "
            "score, pass recframe.from_lists(pd.Series(lists).rename_axis('user'))"
        )
    users, ids, position = join_lists("lists", lists)
    return _make_frame(users, ids, -1 - position)


def _read_items(items: ArrayLike, *, has_users: bool) -> tuple[Array, Array]:
    """Return a matrix of item ids and where it holds one."""
    if isinstance(items, pd.DataFrame):
        _check_only_items(items, has_users=has_users)
    elif find_table("items", items)[0]:
        raise frame_error("items", MATRIX, items)
    matrix = as_array("items", items, MATRIX)
    if matrix.ndim != 2:
        raise RecframeError(
            f"items must be a matrix with a row for each user, found shape {matrix.shape}"
        )
    if matrix.dtype.kind == "U" and isinstance(items, list | tuple):
        matrix = np.asarray(items, dtype=object)  # numbers among text stay numbers
    listed = ~(pd.isna(matrix) | np.ma.getmaskarray(np.ma.asarray(items)))
    if matrix.dtype.kind == "f":
        whole = (np.abs(matrix) < 2.0**63) & (np.floor(matrix) == matrix)
        if refused := matrix[listed & ~whole].tolist():
            raise RecframeError(
                f"items must be whole numbers or text, found {refused[0]}; pass "
                "recframe.from_matrix(items) where these are scores"
            )
        check_digits(matrix[listed], "items")
        matrix = np.where(listed, matrix, -1).astype(np.int64)
    if matrix.dtype.kind == "i":
        listed &= matrix != -1
    elif matrix.dtype.kind == "O":
        listed[listed] = ~are_minus_one(as_ids("items", matrix[listed].tolist()))
    _check_listed(matrix[listed])
    return matrix, listed


def _check_listed(items: Array) -> None:
    """Raise where ids are flags, or say in another way than -1 or null that there is no item."""
    kind = items.dtype.kind
    if kind == "b":
        raise RecframeError("items must be ids, found booleans")
    if kind == "u" and items.itemsize >= 4 and (items == (top := np.iinfo(items.dtype).max)).any():
        raise RecframeError(
            f"items must not be {top}, which is -1 made {items.dtype}; pass them as signed integers"
        )
    if kind in "OSU" and (is_none := pd.Series(items.tolist(), dtype=object).isin(PADDING)).any():
        text = items[is_none].tolist()[0]
        raise RecframeError(
            f"items must not be text that says there is none, found {is_none.sum()} (such as "
            f"{text!r}); make these cells None, for example np.where(np.asarray(items) == {text!r},"
            " None, items); from_lists takes such text as an item"
        )


def _check_only_items(items: pd.DataFrame, *, has_users: bool) -> None:
    """Raise where a frame holds ids of users, in a column or in an index that is not used."""
    ids = [label for label in items.columns if has_role_name(label, "user")]
    if ids:
        raise RecframeError(
            f"items must hold items only, found a column {quote(ids[0])}; pass users= that column, "
            f"and items.drop(columns={quote(ids[0])})"
        )
    if not has_users and not items.index.equals(pd.RangeIndex(len(items))):
        raise RecframeError(
            f"items has an index (such as {quote(items.index[[0]].tolist()[0])}) that may say "
            "whose rows they are; pass users=items.index if it does, or items.to_numpy()"
        )


def _read_scores(scores: ArrayLike, listed: Array) -> Array:
    """Return the scores of the cells that hold an item."""
    values = as_array("scores", scores, "a matrix of numbers")
    if values.shape != listed.shape:
        raise RecframeError(
            f"scores must have the shape of items, found {values.shape} for {listed.shape}"
        )
    check_unmasked("scores of items", np.ma.asarray(scores)[listed])
    row, values = np.nonzero(listed)[0], as_numbers("scores", values[listed])
    check_falling(row, values, "-scores where they are distances")
    return values


def _make_frame(users: pd.Index[Any] | Array, items: Any, scores: Array) -> pd.DataFrame:
    """Return the frame of these columns, or raise where an item is in a list twice."""
    frame = pd.DataFrame({"user": users, "item": items, "score": scores})
    check_once(frame)
    return frame
