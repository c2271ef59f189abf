"""Columns that hold a list in each cell: of items, or of structs of an item and its score."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Set, Sized
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import is_bool_dtype, is_numeric_dtype, is_object_dtype, is_string_dtype

from recframe.errors import RecframeError, quote
from recframe.frames.arrays import as_ids, as_numbers, read_ids
from recframe.frames.columns import find_label, get_column
from recframe.frames.labels import check_label, is_infer, leave_out, list_labels, shown
from recframe.frames.member_lists import check_falling, check_filled, find_positions
from recframe.frames.names import has_role_name, is_time, less_is_better, may_be_score
from recframe.kernel.threads import Array

LISTS = (list, tuple, np.ndarray)
STRUCTS = (Mapping, *LISTS)
LIKE_LISTS = (Set, *STRUCTS)  # what a cell may hold; those without an order are refused there
PAIR = ("item", "score")  # what the members of a tuple without names are
NO_FIELD = object()  # of members that are no structs, but items
SCORES = ("rating", "similarity", "distance")  # as ALS of Spark and vector stores name them


class Lists(NamedTuple):
    """The lists of a column: their lengths, and the fields of their members, one after another."""

    sizes: Array
    fields: dict[Any, Any]


def read_lists(
    frame: pd.DataFrame, user: Hashable, items: Hashable
) -> tuple[pd.Index[Any], pd.Index[Any], Array]:
    """Return the users, items and scores of a frame with a row for each user and lists of items."""
    user = find_label(frame, "user", user)
    label = _find_lists(frame, items, user)
    users = read_ids(f"user={quote(user)}", get_column(frame, user))
    column = get_column(frame, label)
    sizes, fields = _read_column(label, column)
    users, row = users.repeat(sizes), np.arange(len(frame)).repeat(sizes)
    of_item, of_score = _find_fields(label, fields)
    ids = as_ids(f"items={quote(label)}", fields[of_item])
    check_filled(f"items={quote(label)}", users, ids)
    if of_score is None:
        return users, ids, -1 - find_positions(sizes)
    scores = as_numbers(f"items={quote(label)}: {of_score}", np.asarray(fields[of_score]))
    if less_is_better(of_score):
        scores = -scores
    check_falling(row, scores, "lists sorted by their scores")
    return users, ids, scores


def _find_lists(frame: pd.DataFrame, given: Hashable, user: Hashable) -> Hashable:
    """Return the label of the column that holds lists, given or the only one."""
    labels = leave_out(list_labels(frame), [user])
    if not is_infer(given):
        check_label(frame, "items", given)
        return given
    found = [label for label in labels if _holds_lists(get_column(frame, label))]
    if len(found) == 1:
        return found[0]
    if found:
        raise RecframeError(
            f"items: {len(found)} columns hold lists, {shown(found)}; pass items= the one of items,"
            f" or make rows of them with frame.explode({found})"
        )
    texts = [label for label in labels if _is_text_of_list(get_column(frame, label))]
    remedy = "a frame with a row for each item is evaluated as it is, else pass items= the column"
    if texts:
        column = f"frame[{quote(texts[0])}]"
        remedy = f"{quote(texts[0])} is text; pass {column}.map(ast.literal_eval) in its place"
    raise RecframeError(
        f"items: no column of lists found; the frame has {shown(list_labels(frame))}; {remedy}"
    )


def _holds_lists(column: pd.Series) -> bool:
    """Return whether the first cell of a column that is not null holds several values."""
    return _is_arrow(column) or (
        is_object_dtype(column.dtype) and isinstance(_first(column), LIKE_LISTS)
    )


def _is_text_of_list(column: pd.Series) -> bool:
    """Return whether a column holds lists as text, as a CSV file does."""
    is_text = is_object_dtype(column.dtype) or is_string_dtype(column.dtype)
    return is_text and str(_first(column)).startswith("[")


def _first(column: pd.Series) -> Any:
    """Return the first cell that is not null, None where all are."""
    return next(iter(column[column.notna()]), None)


def _is_arrow(column: pd.Series) -> bool:
    """Return whether a column holds the lists of Arrow."""
    dtype = column.dtype
    if not isinstance(dtype, pd.ArrowDtype):
        return False
    is_kind = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(is_one(dtype.pyarrow_dtype) for is_one in is_kind)


def _read_column(label: Hashable, column: pd.Series) -> Lists:
    """Return the lists of a column."""
    if not _is_arrow(column):
        return _read_objects(label, column)
    lists = pa.array(column.array)
    sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    members = pc.list_flatten(lists)
    if not pa.types.is_struct(members.type):
        return Lists(sizes, {NO_FIELD: members.to_pandas()})
    names = [field.name for field in members.type]
    columns = [pc.struct_field(members, [number]).to_pandas() for number in range(len(names))]
    return Lists(sizes, dict(zip(names, columns, strict=True)))


def _read_objects(label: Hashable, column: pd.Series) -> Lists:
    """Return the lists of a column of objects."""
    cells = [() if is_null else cell for cell, is_null in zip(column, column.isna(), strict=True)]
    for cell in cells:
        if not isinstance(cell, LISTS) or getattr(cell, "ndim", 1) != 1:
            raise RecframeError(
                f"items={quote(label)}: must hold a list in each cell, best first, found "
                f"{type(cell)} ({quote(cell)})"
            )
    sizes = np.array(list(map(len, cells)), np.int64)
    filled = [cell for cell in cells if len(cell)]
    dtypes = {getattr(cell, "dtype", np.dtype(object)) for cell in filled}
    if len(dtypes) == 1 and dtypes.pop().kind not in "OV":
        return Lists(sizes, {NO_FIELD: np.concatenate(filled)})
    members = list(chain.from_iterable(cells))
    if not members or not isinstance(members[0], STRUCTS):
        return Lists(sizes, {NO_FIELD: members})
    return Lists(sizes, _read_fields(label, members))


def _read_fields(label: Hashable, members: list[Any]) -> dict[Hashable, pd.Series]:
    """Return the fields of structs, or of pairs of an item and its score."""
    first = members[0]
    names = _list_names(first)
    keys = names if isinstance(first, Mapping) else range(len(names))
    try:
        columns = [list(map(itemgetter(key), members)) for key in keys]
        are_alike = set(map(len, members)) == {len(names)} and len(set(map(type, members))) == 1
        if hasattr(first, "__fields__"):  # a Row of Spark, one type whatever the fields
            are_alike &= all(member.__fields__ == names for member in members)
    except (AttributeError, LookupError, TypeError):
        are_alike = False
    if not are_alike:
        shape = _shape(first)
        other = next((member for member in members if _shape(member) != shape), first)
        raise RecframeError(
            f"items={quote(label)}: lists must hold items, structs of the same fields, or pairs of "
            f"an item and its score, found {quote(first)} and {quote(other)}"
        )
    return {name: pd.Series(column) for name, column in zip(names, columns, strict=True)}


def _list_names(member: Any) -> list[Any]:
    """Return the names of the fields of a struct; an unnamed pair is an item and its score."""
    if isinstance(member, Mapping):
        return list(member)
    return list(getattr(member, "__fields__", getattr(member, "_fields", PAIR)))


def _shape(member: Any) -> tuple[object, ...]:
    """Return what is the same of all members of lists."""
    names = _list_names(member)
    is_dict = isinstance(member, Mapping)
    n_values = len(member) if isinstance(member, Sized) else None
    return type(member), n_values, sorted(map(str, names)) if is_dict else names


def _find_fields(label: Hashable, fields: Mapping[Hashable, Any]) -> tuple[Hashable, Hashable]:
    """Return the fields of the item and of its score, which is None where there is none."""
    if NO_FIELD in fields:
        return NO_FIELD, None
    named = [name for name in fields if has_role_name(name, "item")]
    numbers = [name for name in fields if name not in named and _is_number(name, fields[name])]
    scores = [name for name in numbers if _is_score(name)]
    if not named and len(fields) == 2 and len(scores) == 1:
        # As Spark's ALS has them, where the item is named as the caller likes.
        return next(name for name in fields if name not in scores), scores[0]
    if len(numbers) == 1:
        scores = numbers
    if len(named) == 1 and (len(scores) == 1 or not numbers):
        return named[0], scores[0] if scores else None
    raise RecframeError(
        f"items={quote(label)}: lists must hold structs with a field of the item, known by its "
        f"name, and at most one number beside it, or one named as a score, found fields "
        f"{shown(list(fields))}; make pairs of them, with frame[{quote(label)}].map(lambda row: "
        "[(one['item'], one['score']) for one in row])"
    )


def _is_number(name: Hashable, values: pd.Series) -> bool:
    """Return whether a field holds numbers that may be scores."""
    is_number = is_numeric_dtype(values.dtype) and not is_bool_dtype(values.dtype)
    return is_number and not is_time(name)


def _is_score(name: Hashable) -> bool:
    """Return whether a field is named as a score is."""
    return has_role_name(name, "score") or may_be_score(name) or name in SCORES
