"""The steps that all constructors of frames share: arguments to arrays, arrays to rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set, Sized
from itertools import chain, islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import infer_dtype, is_list_like, is_object_dtype

from recframe.errors import RecframeError, count_of, quote, shorten
from recframe.frames.id_kinds import ID_ERRORS, check_dtype, compare
from recframe.frames.ids import encode
from recframe.frames.list_columns import ListRows
from recframe.frames.values import NUMBER_OBJECTS, read_objects
from recframe.kernel.grouping import Groups, SortedPairs, group_offsets
from recframe.kernel.threads import Array
from recframe.options import POSITIONS

MAX_ITERATED = 1_000_000  # items of one user from an iterator, which may have no end


def read_array(name: str, values: Any, required: str) -> Array:
    """Return values as an array, or raise if they are none."""
    if isinstance(values, str | bytes | bytearray):
        raise RecframeError(f"{name} must be {required}, but is {quote(values)}")
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:  # Tensors with gradients raise the last.
        raise RecframeError(
            f"{name} must be {required}, but is {quote(values)} ({shorten(str(error))})"
        ) from error


def as_ids(name: str, values: Any) -> pd.Index[Any]:
    """Return values as ids, or raise if they cannot be compared."""
    try:
        ids: pd.Index[Any] = pd.Index(values, tupleize_cols=False).to_flat_index()
        check_dtype(ids.rename(name), name)
        if is_object_dtype(ids.dtype):
            compare(pd.Index(pd.factorize(ids)[1], dtype=object))
    except ID_ERRORS as error:
        raise RecframeError(
            f"{name} must be hashable ids, but are not: {shorten(str(error))}"
        ) from error
    return ids


def as_numbers(name: str, values: Array) -> Array:
    """Return an array in a dtype of numbers, or raise if its values are no numbers."""
    check_no_mask(name, values)
    values = np.asarray(values)
    if values.dtype.kind == "O" and infer_dtype(values) in NUMBER_OBJECTS:
        numbers = read_objects(pd.Series(values.ravel(), name=name), name)
        values = numbers.to_numpy().reshape(values.shape)
    if values.size and values.dtype.kind not in "iuf":
        raise RecframeError(
            f"{name} must be numbers, but is {values.dtype} (such as {quote(values.item(0))})"
        )
    return values


def check_no_mask(name: str, values: Any) -> None:
    """Raise if an array masks values; other code would read them as if it did not."""
    if n_masked := np.count_nonzero(np.ma.getmask(values)):
        raise RecframeError(
            f"{name} must not be masked, but has {n_masked} masked. Leave them out."
        )


def check_size(name: str, values: Any, size: tuple[int, str]) -> None:
    """Raise if values are not as many as `size` demands, such as (3, "rows of items")."""
    if len(values) != size[0]:
        needed, of = size
        raise RecframeError(
            f"{name} must be as many as the {of}, but are {len(values)} for "
            f"{count_of(needed, of.split()[0].removesuffix('s'))}"
        )


def read_id_list(
    name: str, values: ArrayLike, size: tuple[int, str] | None = None, role: str = "user"
) -> pd.Index[Any]:
    """Return ids that may repeat but not be null; `size` is as in `check_size`."""
    check_no_mask(name, values)
    if not isinstance(values, pd.Index | pd.Series | list):
        values = read_array(name, values, "a list of ids")
        if values.ndim != 1:
            raise RecframeError(f"{name} must be a list of ids, but has shape {values.shape}")
    ids = as_ids(name, values)
    if n_null := np.count_nonzero(ids.isna()):
        raise RecframeError(
            f"{name} must not have a null {role}, but {n_null} of {len(ids)} are null"
        )
    if size is not None:
        check_size(name, ids, size)
    return ids


def read_axis(
    name: str, values: Any, size: tuple[int, str] | None = None, role: str = "user"
) -> pd.Index[Any]:
    """Return the ids of an axis, all different; None stands for the positions from 0 on."""
    if values is None and size is not None:
        return pd.RangeIndex(size[0])
    ids = read_id_list(name, values, size, role)
    if same := ids[ids.duplicated()].tolist():
        raise RecframeError(
            f"{name} must differ, but {len(same)} are repeated (such as {quote(same[0])})"
        )
    return ids


def read_lists(name: str, users: Iterable[Any], cells: Iterable[Any]) -> tuple[list[Any], Array]:
    """Return the list of each user and its size; raise if a cell holds no list."""
    as_sets = name == "truth"  # In truth, sets and dicts of grades need no order.
    refused = (bytearray,) if as_sets else (bytearray, Set, Mapping)
    lists = []
    for user, items in zip(users, cells, strict=True):
        # A list has one dimension, a table two.
        if not is_list_like(items) or isinstance(items, refused) or getattr(items, "ndim", 1) != 1:
            required = "a set or list" if as_sets else "a sequence, best first"
            remedy = "" if is_list_like(items) else ". Pass [item] where a user has one."
            if isinstance(items, Set):
                remedy = (
                    "; where these are the relevant items, recframe.truth_from takes a dict of them"
                )
            elif isinstance(items, Mapping):
                remedy = "; where these are scores, recframe.from_runs takes a dict of them by user"
            raise RecframeError(
                f"{name}: the items of a user must be {required}, but are {type(items)} "
                f"(user {quote(user)}){remedy}"
            )
        if np.ma.isMaskedArray(items):
            check_no_mask(f"{name}: items of user {quote(user)}", items)
        if not isinstance(items, Sized):
            items = list(islice(items, MAX_ITERATED + 1))
            if len(items) > MAX_ITERATED:
                raise RecframeError(
                    f"{name}: an iterator must end within {MAX_ITERATED:,} items, but has more "
                    f"(user {quote(user)}). Pass a list."
                )
        lists.append(np.asarray(items) if hasattr(items, "__array__") else list(items))
    return lists, np.array(list(map(len, lists)), np.int64)


def make_rows_of_dict(
    name: str, lists: Mapping[Any, Any], *, duplicates: str | None = None
) -> pd.DataFrame:
    """Return the rows of a dict with the items of each user."""
    items, sizes = read_lists(name, lists, lists.values())
    users, ids = read_axis(name, list(lists)), as_ids(name, list(chain.from_iterable(items)))
    return make_rows(name, users, sizes, ids, duplicates=duplicates)


def make_rows_of_scores(name: str, numbers: str, dicts: Mapping[Any, Any]) -> pd.DataFrame:
    """Return the rows of dicts of {item: score}; `numbers` names the scores in a message."""
    for user, items in dicts.items():
        if not isinstance(items, Mapping):
            remedy = (
                "; recframe.from_lists takes items without scores" if is_list_like(items) else ""
            )
            raise RecframeError(
                f"{name}: the scores of a query must be a dict of {{doc: score}}, but are "
                f"{type(items)} (query {quote(user)}){remedy}"
            )
    sizes = np.array(list(map(len, dicts.values())), np.int64)
    ids = as_ids(name, list(chain.from_iterable(dicts.values())))
    frame = make_rows(name, read_axis(name, list(dicts)), sizes, ids)
    scores = chain.from_iterable(items.values() for items in dicts.values())
    return frame.assign(score=as_numbers(numbers, np.asarray(list(scores))))


def make_rows(
    name: str,
    users: pd.Index[Any],
    sizes: Array,
    items: pd.Index[Any],
    scores: Any = None,
    *,
    duplicates: str | None = None,
) -> pd.DataFrame:
    """Return the rows of lists of items; raise if a list repeats an item or has padding.

    `sizes` are the lengths of the users' lists, and `items` are the items of all lists, one list
    after another. Without scores, the score is minus the position in the list, from -1 on. If
    `duplicates` is "max", a repeated item keeps its best score.
    """
    row = np.arange(len(sizes)).repeat(sizes)
    if scores is None:
        scores = group_offsets(sizes)[row] - np.arange(len(row)) - 1
    frame = pd.DataFrame({"user": users.take(row), "item": items, "score": scores})
    position = np.empty(0, np.int64)
    return check_rows(name, frame, ["user"], ListRows(row, position, None, {}), duplicates)


def check_rows(
    name: str,
    frame: pd.DataFrame,
    users: Sequence[Hashable],
    rows: ListRows,
    duplicates: str | None,
) -> pd.DataFrame:
    """Return the rows of lists; raise if a list repeats an item, has padding, or scores rise."""
    items, scores, row, is_empty = frame["item"], frame["score"], rows.row, rows.is_empty
    are_none = are_no_items(pd.Index(items, copy=False))
    is_padded = are_none if is_empty is None else are_none & ~is_empty
    if is_padded.any():
        no_items = frame[is_padded]
        raise RecframeError(
            f"{name} must not be padded, but has {len(no_items)} null or -1 "
            f"({_show_example(no_items, users)}). Leave them out."
        )
    values = scores.to_numpy()
    if is_empty is not None:  # Nulls have no order.
        values = scores.to_numpy(np.float64, na_value=np.nan)
    if len(rising := np.unique(row[1:][(row[1:] == row[:-1]) & (values[1:] > values[:-1])])):
        raise RecframeError(
            f"scores must not rise along a row, as items come best first, but rise in "
            f"{count_of(len(rising), 'row')} (the first is row {rising[0]}). Pass lists sorted by "
            "their scores, or -scores where they are distances."
        )
    if items.dtype == object:  # Items of several kinds are refused when they are evaluated.
        codes = pd.factorize(items, use_na_sentinel=False)[0]
    else:
        codes = encode(items, "item", lenient=True).codes
    groups = Groups(int(row.max(initial=-1)) + 1, codes=row)
    repeated = SortedPairs(groups, codes).find_repeats().rows
    repeated = repeated if is_empty is None else repeated[~is_empty[repeated]]
    if len(repeated) and duplicates == "max":  # Scores never rise, so the first one is the best.
        is_first = np.ones(len(frame), bool)
        is_first[repeated] = False
        return frame[is_first].reset_index(drop=True)
    if len(repeated):
        remedy = "list(dict.fromkeys(items))" if duplicates is None else "duplicates='max'"
        raise RecframeError(
            f"an item must be in a list once, but {len(repeated)} are repeated "
            f"({_show_example(frame.iloc[repeated], users)}). Pass {remedy} to keep the first of "
            "each.",
            {} if duplicates is None else {"duplicates": "max"},
        )
    return frame


def make_rows_of_cells(
    name: str,
    shape: tuple[int, int],
    cells: Sequence[Array],
    axes: tuple[ArrayLike | None, ArrayLike | None],
    **values: Array,
) -> pd.DataFrame:
    """Return a row for each of these cells of a matrix: the ids of its axes, and its values."""
    roles = (("user", "rows"), ("item", "columns"))
    ids = {
        role: read_axis(f"{role}s", axis, (size, f"{of} of {name}"), role).take(position)
        for (role, of), axis, size, position in zip(roles, axes, shape, cells, strict=True)
    }
    return with_positions(pd.DataFrame({**ids, **values}), shape, axes)


def with_positions(
    frame: pd.DataFrame, shape: tuple[int, ...], axes: tuple[Any, Any]
) -> pd.DataFrame:
    """Return a frame whose attributes say which ids are positions in a matrix of this shape.

    Users or items are positions if the ids of their axis are None.
    """
    roles = zip(("user", "item"), shape, axes, strict=True)
    if positions := {role: n for role, n, ids in roles if ids is None}:
        frame.attrs[POSITIONS] = positions
    return frame


def are_no_items(ids: pd.Index[Any]) -> Array:
    """Return which ids are null or -1: short lists are filled up with these."""
    are_none = np.asarray(ids.isna())
    if isinstance(ids.dtype, pd.StringDtype):
        return are_none
    is_padding: Any = pd.array(ids == -1, dtype="boolean")
    return np.asarray(are_none | is_padding.to_numpy(bool, na_value=False))


def _show_example(rows: pd.DataFrame, users: Sequence[Hashable]) -> str:
    """Return the user and item of the first row for a message."""
    *ids, item = (rows[label].tolist()[0] for label in (*users, "item"))
    return f"such as user {quote(ids[0] if len(ids) == 1 else tuple(ids))}, item {quote(item)}"
