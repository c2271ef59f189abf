"""The steps that all constructors of frames share: arguments to arrays, arrays to rows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike
from pandas.api.types import infer_dtype, is_list_like, is_object_dtype

from recframe.errors import RecframeError, count_of, quote, shorten
from recframe.frames.id_kinds import ID_ERRORS, check_equality
from recframe.frames.ids import check_dtype, encode
from recframe.frames.list_columns import ListRows, find_fields
from recframe.frames.list_frames import FieldColumns, kind_of
from recframe.frames.names import NAMES, plain_name, shown
from recframe.frames.values import NUMBER_OBJECTS, read_objects
from recframe.frames.words import less_is_better
from recframe.kernel.grouping import Groups, SortedPairs, number_members
from recframe.kernel.threads import Array
from recframe.metrics.measure import check_no_mask
from recframe.options import POSITIONS


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
            distinct = pd.Index(pd.factorize(ids)[1], dtype=object)
            check_equality(distinct)
            for kind, one in {type(one): one for one in distinct}.items():
                if one is not None and hash(one) == object.__hash__(one):
                    raise TypeError(f"each {kind.__name__} is equal to itself alone")
    except ID_ERRORS as error:
        raise RecframeError(
            f"{name} must be hashable ids, but are not: {shorten(str(error))}. Pass the id of each."
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


def tells_apart(column: pd.Series, ids: pd.Index[Any]) -> bool:
    """Return whether a column of few values has a different one in each list of a user."""
    with suppress(TypeError, NotImplementedError):  # Cells may be lists, of Python or of Arrow.
        is_again = pd.DataFrame({"id": pd.factorize(ids)[0], "value": column.array}).duplicated()
        return 2 * column.nunique() <= len(column) and not is_again.any()
    return False


def make_rows_of_dict(name: str, lists: Mapping[Any, Any]) -> pd.DataFrame:
    """Return the rows of a dict with the items of each user, as a list or as keys of a dict."""
    users, ids = read_axis(name, list(lists)), list(chain.from_iterable(lists.values()))
    sizes = np.array([*map(len, lists.values())], np.int64)
    return make_rows(name, users, sizes, as_ids(name, ids))


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
    frame = make_rows_of_dict(name, dicts)
    scores = chain.from_iterable(items.values() for items in dicts.values())
    return frame.assign(score=as_numbers(numbers, np.asarray(list(scores))))


def make_rows(
    name: str, users: pd.Index[Any], sizes: Array, items: pd.Index[Any], scores: Any = None
) -> pd.DataFrame:
    """Return the rows of lists of items; raise if a list repeats an item or has padding.

    `sizes` are the lengths of the users' lists, and `items` are the items of all lists, one list
    after another. Without scores, the score is minus the position in the list, from -1 on.
    """
    row, position = number_members(sizes)
    scores = -1 - position if scores is None else scores
    frame = pd.DataFrame({"user": users.take(row), "item": items, "score": scores})
    rows = ListRows(row, position, is_empty=np.zeros(len(row), bool))
    return check_rows(name, frame, ["user"], rows)


def check_rows(
    name: str, frame: pd.DataFrame, users: list[Any], rows: ListRows, duplicates: str = ""
) -> pd.DataFrame:
    """Return the rows of lists; raise if a list repeats an item, has padding, or scores rise.

    If `duplicates` is "max", a repeated item keeps its best score.
    """
    items, row = frame["item"], rows.row
    is_padded = are_no_items(pd.Index(items, copy=False)) & ~rows.is_empty
    if is_padded.any():
        no_items = frame[is_padded]
        raise RecframeError(
            f"{name} must not be padded, but has {len(no_items)} null, empty or -1 "
            f"({_show_example(no_items, users)}). Leave them out."
        )
    if items.dtype.kind == "f" and (fractions := items[items % 1 > 0]).any():
        raise RecframeError(
            f"{name} must hold ids, but holds fractions (such as {fractions.iloc[0]:g}), as lists "
            "of scores do. Pass items=[items, scores], with the list of ids first."
        )
    scores = frame["score"].array
    rises: Any = pd.array(scores[1:] > scores[:-1], "boolean")  # null next to an empty list
    is_within = row[1:] == row[:-1]
    if len(rising := np.unique(row[1:][is_within & rises.to_numpy(bool, na_value=False)])):
        raise RecframeError(
            f"scores must not rise along a row, as items come best first, but rise in "
            f"{count_of(len(rising), 'row')} (the first is row {rising[0]}). Pass lists sorted by "
            "their scores, -scores where they are distances, or no scores where items stand best "
            "first."
        )
    if items.dtype == object:  # Items of several kinds are refused when they are evaluated.
        codes = pd.factorize(items, use_na_sentinel=False)[0]
    else:
        codes = encode(items, "item", lenient=True).codes
    groups, is_repeated = Groups(int(row.max(initial=-1)) + 1, codes=row), np.zeros(len(row), bool)
    is_repeated[SortedPairs(groups, codes).find_repeats().rows] = True
    if is_repeated.any() and duplicates == "max":  # Scores never rise: the first one is the best.
        return frame[~is_repeated].reset_index(drop=True)
    if is_repeated.any():
        remedy, answers = _advise_repeats(items, row, np.flatnonzero(is_repeated), duplicates)
        raise RecframeError(
            f"an item must be in a list once, but {is_repeated.sum()} are repeated "
            f"({_show_example(frame[is_repeated], users)}). {remedy}",
            answers,
        )
    return frame


def _advise_repeats(
    items: pd.Series, row: Array, repeated: Array, duplicates: str
) -> tuple[str, dict[str, Any]]:
    """Return advice for repeated items, and an answer if they may be no flags and no padding."""
    if items.isin([0, 1]).all():
        return (
            "Where these say which ranks are relevant, pass each list to recframe.metrics, as "
            "recframe.metrics.reciprocal_rank(row, range(len(row), 0, -1))."
        ), {}
    if not duplicates:
        return "Where a repeat stands for no item, write -1 there; else keep the first.", {}
    remedy = "Pass duplicates='max' to keep the first of each."
    of_last = np.searchsorted(row, row[repeated], side="right") - 1
    ends = [items.iloc[at].to_numpy() for at in (repeated, repeated - 1, of_last)]
    if len({*chain.from_iterable(ends)}) > 1:
        return remedy, {"duplicates": "max"}
    filler = quote(ends[0].tolist()[0])
    leave = f"Where {filler} fills lists up, pass [one for one in row if one != {filler}] of each."
    return f"{leave} Else {remedy[0].lower()}{remedy[1:]}", {}


def make_rows_of_cells(
    name: str,
    shape: tuple[int, int],
    cells: Sequence[Array],
    axes: tuple[ArrayLike | None, ArrayLike | None],
    **values: Array,
) -> pd.DataFrame:
    """Return a row for each of these cells of a matrix: the ids of its axes, and its values."""
    users = read_axis("users", axes[0], (shape[0], f"rows of {name}"))
    items = read_axis("items", axes[1], (shape[1], f"columns of {name}"), "item")
    ids = {"user": users.take(cells[0]), "item": items.take(cells[1])}
    frame = pd.DataFrame({**ids, **values})
    roles = zip(ids, shape, axes, strict=True)
    if positions := {role: n for role, n, of_axis in roles if of_axis is None}:
        frame.attrs[POSITIONS] = positions
    return frame


def are_no_items(ids: pd.Index[Any]) -> Array:
    """Return which ids are null, empty or -1: short lists are filled up with these."""
    are_none = np.asarray(ids.isna())
    fillers = [""] if isinstance(ids.dtype, pd.StringDtype) else [-1, *[""] * is_object_dtype(ids)]
    for filler in fillers:
        is_filler: Any = pd.array(ids == filler, dtype="boolean")
        are_none |= is_filler.to_numpy(bool, na_value=False)
    return are_none


def _show_example(rows: pd.DataFrame, users: Sequence[Hashable]) -> str:
    """Return the user and item of the first row for a message."""
    *ids, item = (rows[label].tolist()[0] for label in (*users, "item"))
    return f"such as user {quote(ids[0] if len(ids) == 1 else tuple(ids))}, item {quote(item)}"


def find_item_and_score(
    name: str, fields: FieldColumns, labels: Sequence[Hashable], passed: Hashable
) -> tuple[Hashable, Hashable | None]:
    """Return the field of the item and the field of the score, None without a score."""
    types = {label: kind_of(column) for label, column in fields.items()}
    names, (items, scores, doubtful) = list(fields), find_fields(types, labels, passed)
    if items and isinstance(next(iter(fields[items[0]]), None), Mapping):
        items = []  # The id is in a dict within.
    if len(items) > 1 and len(scores) < 2:
        likely = min(items, key=lambda field: NAMES["item"].index(plain_name(field)))
        raise RecframeError(
            f"{name}: {len(items)} fields could be the item, {shown(items)}. Pass "
            f"item={quote(likely)} or another.",
            {"item": likely},
        )
    if len(items) != 1 or len(scores) > 1 or doubtful:
        one = f"one[{quote((items or names)[0])}]"
        for label in () if items else names:  # The id may be in metadata.
            cell = next(iter(fields[label]), None)
            inner = cell if isinstance(cell, Mapping) else {}
            keys = sorted((key for key in inner if plain_name(key).endswith("id")), key=len)
            one = f"one[{quote(label)}][{quote(keys[0])}]" if keys else one
        numbers = [label for label in names if pa.types.is_primitive(types[label])]
        pair = one
        for score in [*scores, *doubtful, *numbers][:1]:
            pair = f"({one}, {'-' * less_is_better(score)}one[{quote(score)}])"
        raise RecframeError(
            f"{name}: lists must hold items, pairs of an item and its score, or structs whose "
            f"names say which is which, but have fields {shown(names)}. Make pairs of them, with "
            f"frame[{quote(labels[0])}].map(lambda row: [{pair} for one in row])."
        )
    return items[0], scores[0] if scores else None
