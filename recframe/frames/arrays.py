"""What callers pass as arrays or lists: checked under the argument's name, and made a frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import infer_dtype, is_object_dtype

from recframe.errors import RecframeError, quote, shorten
from recframe.frames.kinds import NO_IDS, compare
from recframe.frames.names import is_same
from recframe.frames.numbers import NUMBER_OBJECTS, read_objects
from recframe.kernel.grouping import group_offsets
from recframe.kernel.threads import Array


def as_array(name: str, values: Any, required: str) -> Array:
    """Return values as an array, or raise where they are none."""
    if isinstance(values, str | bytes | bytearray):
        raise RecframeError(f"{name} must be {required}, found {quote(values)}")
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:  # the last of tensors with gradients
        raise RecframeError(
            f"{name} must be {required}, found {quote(values)} ({shorten(str(error))})"
        ) from error


def as_ids(name: str, values: Any) -> pd.Index[Any]:
    """Return values as ids, or raise where they cannot be compared."""
    try:
        ids: pd.Index[Any] = pd.Index(values, tupleize_cols=False).to_flat_index()
        if is_object_dtype(ids.dtype):
            compare(pd.Index(pd.factorize(ids)[1], dtype=object))
    except NO_IDS as error:
        raise RecframeError(
            f"{name} must be ids, such as can be keys of a dict, found {shorten(str(error))}"
        ) from error
    return ids


def check_unmasked(name: str, values: Any) -> None:
    """Raise where an array masks values, which would be read as if it did not."""
    if n_masked := np.count_nonzero(np.ma.getmask(values)):
        raise RecframeError(f"{name} must not be masked, found {n_masked} masked; leave them out")


def as_numbers(name: str, values: Array) -> Array:
    """Return an array of numbers in a dtype of numbers, or raise where they are none."""
    check_unmasked(name, values)
    values = np.asarray(values)
    if values.dtype.kind == "O" and infer_dtype(values) in NUMBER_OBJECTS:
        numbers = read_objects(pd.Series(values.ravel(), name=name), name)
        values = numbers.to_numpy().reshape(values.shape)
    if values.size and values.dtype.kind not in "iuf":
        raise RecframeError(
            f"{name} must be numbers, found {values.dtype} (such as {quote(values.item(0))})"
        )
    return values


def read_ids(
    name: str, values: ArrayLike | None, size: tuple[int, str] | None = None, role: str = "user"
) -> pd.Index[Any]:
    """Return ids, which are different and not null; as many as there are of what `size` says.

    Where none are given they are the numbers from 0 on.
    """
    if values is None and size is not None:
        return pd.RangeIndex(size[0])
    check_unmasked(name, values)
    if not isinstance(values, pd.Index | pd.Series | list):
        values = as_array(name, values, "a list of ids")
        if values.ndim != 1:
            raise RecframeError(f"{name} must be a list of ids, found shape {values.shape}")
    ids = as_ids(name, values)
    if n_null := np.count_nonzero(ids.isna()):
        raise RecframeError(f"{name} must not have a null {role}, found {n_null}")
    if size is not None and len(ids) != size[0]:
        needed, of = size
        raise RecframeError(
            f"{name} must be as many as the {of}, found {len(ids)} for {needed} {of.split()[0]}"
        )
    if same := ids[ids.duplicated()].tolist():
        raise RecframeError(
            f"{name} must differ, found {len(same)} repeated (such as {quote(same[0])})"
        )
    return ids


def are_no_items(ids: pd.Index[Any]) -> Array:
    """Return which ids are null or -1, as which lists are filled up."""
    if ids.dtype != object:
        return np.asarray(ids.isna() | (ids == -1), dtype=bool)
    codes, distinct = pd.factorize(ids, use_na_sentinel=False)
    return ids.isna() | np.array([is_same(id_, -1) for id_ in distinct], bool)[codes]


def make_frame(
    name: str, users: pd.Index[Any], sizes: Array, items: pd.Index[Any], scores: Any = None
) -> pd.DataFrame:
    """Return the rows of lists of items; raise where they say two things, or nothing.

    `sizes` are the lengths of the users' lists, and `items` those of all lists, one after another.
    Where there are no scores, they are minus the position in the list, from -1 on.
    """
    row = np.arange(len(sizes)).repeat(sizes)
    if scores is None:
        scores = group_offsets(sizes)[row] - np.arange(len(row)) - 1
    frame = pd.DataFrame({"user": users.take(row), "item": items, "score": scores})
    if len(no_items := frame[are_no_items(items)]):
        raise RecframeError(
            f"{name} must not be filled up, found {len(no_items)} null or -1 "
            f"({_example(no_items)}); leave them out"
        )
    if len(rising := np.unique(row[1:][(row[1:] == row[:-1]) & (scores[1:] > scores[:-1])])):
        raise RecframeError(
            f"scores must not rise along a row, as items come best first; found {len(rising)} rows "
            f"where they do (the first is row {rising[0]}); pass lists sorted by their scores, or "
            "-scores where they are distances"
        )
    if len(repeated := frame[frame.duplicated(["user", "item"])]):
        raise RecframeError(
            f"an item must be in a list once, found {len(repeated)} repeated "
            f"({_example(repeated)}); pass list(dict.fromkeys(items)) to keep the first of each"
        )
    return frame


def _example(rows: pd.DataFrame) -> str:
    """Return the user and item of the first row as a message has them."""
    user, item = (rows[name].tolist()[0] for name in ("user", "item"))
    return f"such as user {quote(user)}, item {quote(item)}"
