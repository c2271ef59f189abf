"""Frames with columns of lists: which columns these are, and the rows that they make."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set, Sized
from itertools import chain, islice
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.types import is_float_dtype, is_list_like, is_numeric_dtype

from recframe.errors import DAMAGE, Choice, RecframeError, quote
from recframe.frames.list_columns import (
    ListRows,
    Types,
    check_no_dict_or_set,
    check_no_padding,
    choose_lists,
    choose_relevance,
    find_fields,
    find_id_lists,
    is_list_type,
    join_chunks,
    list_other_ids,
    make_list_rows,
    name_carried,
    name_field,
    open_lists_error,
    relist,
)
from recframe.frames.names import (
    ID_KINDS,
    find_role,
    find_users_of_lists,
    get_column,
    is_infer,
    is_same,
    list_fields,
    list_labels,
    may_be_item,
    remove_labels,
    shown,
)
from recframe.frames.text_lists import N_CELLS_SEEN, NUMBER, find_separator, split_texts
from recframe.frames.words import has_word, may_be_gold, may_be_score
from recframe.kernel.threads import Array
from recframe.metrics.measure import check_no_mask
from recframe.metrics.names import find_name
from recframe.options import EMPTY, INFER, LISTS, ROLE_LABELS, Options
from recframe.other_tables import read_column
from recframe.text_types import TextTypes, convert, read_cells

STRUCTS = (Mapping, list, tuple, np.ndarray)  # members that have fields
MOST_GRADES = 10  # words for grades of relevance
MAX_ITERATED = 1_000_000  # items of one user from an iterator, which may have no end
FieldColumns = dict[Hashable, pd.Series]


def list_types(
    frame: pd.DataFrame, taken: Iterable[Any] = (), *, with_tuples: bool = True
) -> dict[Hashable, pa.DataType]:
    """Return the type of the members of each column that holds lists.

    Tuples may be ids if all have one length.
    """
    taken = {*taken}
    types = {
        label: _find_type(get_column(frame, label), with_tuples)
        for label, dtype in zip(frame.columns, frame.dtypes, strict=True)
        if dtype.kind == "O" and not isinstance(dtype, pd.StringDtype) and label not in taken
    }
    return {label: kind for label, kind in types.items() if kind is not None}


def _find_type(column: pd.Series, with_tuples: bool) -> pa.DataType | None:
    """Return the type of the members of a column of lists, None for another column.

    Integers that are all 0 or 1 are flags, so their type is that of booleans.
    """
    kind = column.dtype.pyarrow_dtype if isinstance(column.dtype, pd.ArrowDtype) else None
    if kind is not None and not is_list_type(kind):
        return None
    cells = [cell for cell in column.iloc[:N_CELLS_SEEN] if is_list_like(cell)]
    members = [one for cell in cells for one in (cell if hasattr(cell, "__len__") else ())]
    lengths = {len(cell) for cell in cells if hasattr(cell, "__len__")}
    are_tuples = len(lengths) < 2 and all(isinstance(cell, Hashable) for cell in cells)
    if kind is not None:
        kind = kind.value_type
    elif not cells or (are_tuples and not with_tuples):
        return None
    elif members and isinstance(members[0], STRUCTS):
        return pa.struct([])
    else:
        try:
            kind = pa.array(members, from_pandas=True).type
        except (pa.ArrowException, *DAMAGE):
            return pa.string()  # ids of several kinds
    return pa.bool_() if pa.types.is_integer(kind) and {*members} <= {0, 1} else kind


def list_texts(
    frame: pd.DataFrame, taken: Iterable[Any] = (), known: str | None = None
) -> dict[Hashable, str]:
    """Return the separator of each column of text that looks like lists of ids."""
    texts: dict[Hashable, str] = {}
    for label in list_labels(frame, taken):
        cells = get_column(frame, label).iloc[:N_CELLS_SEEN].dropna().tolist()
        words = [cell for cell in cells if isinstance(cell, str)]
        are_numbers = all(NUMBER.fullmatch(text) or text.isdecimal() for text in words)
        separator = None if are_numbers and known is None else find_separator(cells, known)
        if separator is not None:
            texts[label] = separator
    return texts


def find_lists(frame: pd.DataFrame) -> dict[Hashable, str]:
    """Return the columns that may hold lists; the value is the separator of text, or ""."""
    if LISTS in frame.attrs:
        return dict(frame.attrs[LISTS])
    return dict.fromkeys(list_types(frame, with_tuples=False), "") or list_texts(frame)


def advise_lists(lists: Mapping[Hashable, str], source: str = "df") -> tuple[str, dict[str, Any]]:
    """Return advice that makes rows of lists, and its answers; `lists` are as of `find_lists`."""
    sep = next(iter(lists.values()))
    scores = [one for one in lists if find_role(one) == "score" or may_be_score(one)]
    items = remove_labels(lists, scores) or [*lists]
    several = [[one, *scores] if len(scores) == 1 and items != scores else one for one in items]
    is_one = len(several) == 1
    answers: dict[str, Any] = {"lists": several[0] if is_one else Choice(several)}
    answers |= {"sep": sep} if sep else {}
    column = (quote(several[0]) if is_one else "...") + (f", sep={quote(sep)}" if sep else "")
    calls = f"recframe.from_lists({source}, items={column}), or lists={column} of recframe.scan"
    return f"{calls}, makes rows of them", answers


def check_no_texts(ids: pd.Index[Any], item: Hashable, source: str) -> None:
    """Raise if items are text that looks like lists of ids; each user of the source has one."""
    is_number = is_numeric_dtype(ids.dtype)
    separator = None if is_number else find_separator(ids[:N_CELLS_SEEN].tolist())
    if separator is not None:
        how, answers = advise_lists({item: separator}, source)
        raise RecframeError(
            f"item={quote(item)} must be one id in a cell, but is text that looks like a list of "
            f"ids, such as {quote(ids[0])}; {how}",
            answers if source == "df" else {"sep": separator},
        )


def read_list_rows(
    frame: pd.DataFrame,
    labels: Sequence[Hashable],
    users: pd.Index[Any],
    sep: str | None = None,
    name: str = "",
) -> tuple[ListRows, FieldColumns]:
    """Return the rows of columns of lists, and the fields of their members as columns.

    `sep` separates ids in lists that are text. Messages have the ids of the lists, `users`, and
    the `name` of the argument.
    """
    lists: dict[Hashable, pa.Array] = {}
    members: dict[Hashable, FieldColumns] = {}
    for label in labels:
        column = get_column(frame, label)
        if isinstance(column.dtype, pd.ArrowDtype) and is_list_type(column.dtype.pyarrow_dtype):
            lists[label] = join_chunks(pa.array(column.array))
            continue
        where, cells = name or f"items={quote(label)}", column.tolist()
        n_texts = sum(isinstance(cell, str) for cell in cells)
        is_text = not name and 0 < n_texts == len(cells) - column.isna().sum()
        if sep is not None and n_texts == 0 and cells:
            raise RecframeError(
                f"sep={quote(sep)} is for lists that are text, not {type(cells[0])} in "
                f"{quote(label)}. Leave it out."
            )
        if is_text:
            texts = join_chunks(pa.array(column, pa.large_string(), from_pandas=True))
            cells = split_texts(where, texts, sep)
            if isinstance(cells, pa.Array):
                types = TextTypes(ids=["id"])
                ids = read_cells("id", cells.flatten(), types)
                lists[label] = relist(cells, convert(ids, types.find("id") or pa.string()))
                continue
        lists[label], members[label] = _join_cells(where, users, cells, label)
    rows, arrays = make_list_rows(lists)
    fields: FieldColumns = {}
    for label, cells in arrays.items():
        if label in members:  # These are the positions of members.
            fields |= {of: take(column, cells) for of, column in members[label].items()}
        else:
            fields[label] = pd.Series(read_column(pa.chunked_array([cells])))
    return rows, fields


def _join_cells(
    name: str, users: pd.Index[Any], cells: Sequence[Any], label: Hashable
) -> tuple[pa.Array, FieldColumns]:
    """Return lists of positions, and the fields of the members at these positions."""
    is_null = pd.isna(pd.Series(cells, dtype=object))
    if is_null.any():
        cells = [() if null else cell for cell, null in zip(cells, is_null, strict=True)]
    if not {*map(type, cells)} <= {list, tuple}:
        cells = read_lists(name, users, cells)
    ends = np.append(0, np.cumsum([*map(len, cells)], dtype=np.int64))
    filled = [cell for cell in cells if len(cell)]
    dtypes = {getattr(cell, "dtype", None) for cell in filled}
    if len(dtypes) == 1 and getattr(dtypes.pop(), "kind", "O") not in "OV":
        fields: FieldColumns = {label: pd.Series(np.concatenate(filled))}
    else:
        members = list(chain.from_iterable(cells))
        first = members[0] if members else None
        if isinstance(first, STRUCTS):
            fields = _read_structs(name, members)
        else:
            fields = {label: pd.Series(pd.Index(members, tupleize_cols=False))}
    return pa.LargeListArray.from_arrays(ends, pa.array(np.arange(ends[-1]))), fields


def read_lists(name: str, users: Iterable[Any], cells: Iterable[Any]) -> list[Any]:
    """Return the list of each user; raise if a cell holds no list."""
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
    return lists


def _read_structs(name: str, structs: list[Any]) -> FieldColumns:
    """Return the fields of structs, or of pairs of an item and its score."""
    first = structs[0]
    kinds = {(type(one), *getattr(one, "__fields__", ())): one for one in structs}
    are_alike = len(kinds) == 1 and len({*map(len, structs)}) == 1
    # Rows of Spark are tuples with their names in `__fields__`.
    table = pd.DataFrame(structs if are_alike else [], columns=getattr(first, "__fields__", None))
    if table.empty or table.shape[1] != len(first):
        raise RecframeError(
            f"{name}: lists must hold items, structs of the same fields, or pairs of an item and "
            f"its score, but hold {quote(first)} and {quote(list(kinds.values())[-1])}"
        )
    if list(table) == [0, 1]:
        table = table.set_axis(["item", "score"], axis=1)
        if is_float_dtype(table["item"]) and not is_float_dtype(table["score"]):
            raise RecframeError(f"{name}: pairs must be (item, score), but are {quote(first)}")
    return {name_field(label): table[label] for label in table}


def take(column: pd.Series, positions: pa.Array) -> pd.Series:
    """Return the values at positions, null for a null."""
    if positions.null_count == 0 and len(positions) == len(column):  # The positions ascend.
        return column
    return reindex_rows(column, positions.fill_null(-1).to_numpy())


def reindex_rows(column: pd.Series, rows: Array) -> pd.Series:
    """Return rows of a column, null for -1 and rows that it lacks; integers stay integers."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        column = column.convert_dtypes()
    return column.reset_index(drop=True).reindex(rows).reset_index(drop=True)


def kind_of(column: pd.Series) -> pa.DataType:
    """Return a type of Arrow that says whether a column holds floats, other numbers, or neither."""
    of_numbers = pa.int64() if is_numeric_dtype(column.dtype) else pa.string()
    return pa.float64() if is_float_dtype(column.dtype) else of_numbers


def make_companion_rows(
    name: str, frame: pd.DataFrame, options: Options | None = None, sep: str | None = None
) -> pd.DataFrame:
    """Return truth or exclude with a row for each member of its lists, if it has lists.

    Options may name the list of items. Lists are not looked for if another column is named as an
    item; those of text only with `sep`. A user with an empty list keeps a row. If there is
    only one other column and its name means no role, it is that of users.
    """
    item = getattr(options, f"{name}_item", INFER)
    types = list_types(frame, with_tuples=False)
    if sep is not None and not types:
        types = dict.fromkeys(list_texts(frame, known=sep), pa.string())
    flat = remove_labels(list_labels(frame), types)
    is_named = not is_infer(item) and item in types
    is_flat = any(find_role(label) == "item" or is_same(label, item) for label in flat)
    if types and name == "truth" and is_infer(item):
        _check_items(frame, list(types), is_flat=is_flat)
    if not types or (is_flat and not is_named):
        return frame
    label = item if is_named else choose_lists(types, name)[0]
    if name == "truth":
        flat = [one for one in flat if not _is_of_list(frame, one, options)]
        check_no_dict_or_set(label, next(iter(get_column(frame, label)), None), flat)
    labels = [label, *_list_relevance(name, frame, types, label, options)]
    rows, fields = read_list_rows(frame, labels, pd.RangeIndex(len(frame)), sep)
    kinds = {one: kind_of(column) for one, column in fields.items()}
    items, _, _ = find_fields(kinds, labels, item if item in fields else INFER)
    if is_named and item not in fields and len(items) == 1:  # Its members are structs.
        renamed, items = {items[0]: item}, [item]
        fields = {renamed.get(one, one): fields[one] for one in fields}
    check_no_padding(fields, items)
    made = pd.DataFrame({**carry(frame, flat, rows, list(fields)), **fields}, copy=False)
    made.attrs = dict(frame.attrs)
    users = find_users_of_lists(frame, flat, getattr(options, f"{name}_user", INFER))
    known = {role: one[0] for role, one in (("item", items), ("user", users)) if len(one) == 1}
    return remember_lists(made, known, rows)


def _check_items(frame: pd.DataFrame, lists: list[Hashable], *, is_flat: bool) -> None:
    """Raise if truth may have items in a column next to lists of items.

    If a column is named as an item (`is_flat`), lists are items only if they are named so too. One
    named gold may have items if no list is named as items. Names of negatives are of no items.
    """
    fields = [label for label, dtype in list_fields(frame) if dtype.kind in ID_KINDS]
    flat = [one for one in remove_labels(fields, lists) if not has_word(one, "negative")]
    named = [one for one in lists if may_be_item(one) and not has_word(one, "negative")]
    gold = [] if named else list(filter(may_be_gold, flat))
    ids = list(dict.fromkeys([*gold, *filter(may_be_item, flat)]))
    lists = named if is_flat else lists
    if ids and lists:
        raise RecframeError(
            f"{shown(ids)} may hold items, and {shown(lists)} lists of items. Pass truth_item= the "
            "one of relevant items.",
            {"truth_item": Choice([*ids, *lists])},
        )


def _is_of_list(frame: pd.DataFrame, label: Hashable, options: Options | None) -> bool:
    """Return whether a column has the value of a metric, or texts of answers, which all differ."""
    if options is not None and is_same(label, options.relevant):
        return False
    texts = [one for one in get_column(frame, label)[:N_CELLS_SEEN] if isinstance(one, str)]
    are_many = len({*texts}) > max(MOST_GRADES, len(texts) // 2)
    is_value = find_name(str(label).replace("_at_", "@")) != ""
    return is_value or (are_many and find_role(label) == "relevant")


def _list_relevance(
    name: str, frame: pd.DataFrame, types: Types, items: Hashable, options: Options | None
) -> list[Hashable]:
    """Return the lists of numbers that may say which items of truth or exclude are relevant."""
    others = remove_labels(types, [items, *find_id_lists(types, is_ranked=False)])
    numbers = [one for one in others if pa.types.is_primitive(types[one])]
    sizes = {
        label: [len(one) if hasattr(one, "__len__") else 0 for one in get_column(frame, label)]
        for label in (items, *numbers)
    }
    unequal = [one for one in numbers if sizes[one] != sizes[items]]
    integers = [one for one in unequal if pa.types.is_integer(types[one])]
    if integers and not (options and is_same(options.truth_item, items)):
        raise open_lists_error(list(types), [items, *integers], name)
    removed = unequal if list_other_ids(types, items) else integers
    own = {one: kind for one, kind in types.items() if one not in removed}
    relevant = options.relevant if options else None
    return choose_relevance(own, items, relevant, remove_labels(numbers, removed))


def carry(
    frame: pd.DataFrame, labels: Sequence[Hashable], rows: ListRows, fields: Sequence[Hashable]
) -> dict[Hashable, Any]:
    """Return the values of columns next to lists for the rows of members, by their new names."""
    named = zip(name_carried(labels, fields), labels, strict=True)
    return {to: get_column(frame, label).take(rows.row).array for to, label in named}


def remember_lists(frame: pd.DataFrame, roles: Mapping[str, Any], rows: ListRows) -> pd.DataFrame:
    """Return a frame whose attributes say the labels of roles, and whether lists are empty."""
    if roles:
        frame.attrs[ROLE_LABELS] = frame.attrs.get(ROLE_LABELS, {}) | roles
    if rows.is_empty.any():
        frame.attrs[EMPTY] = True
    return frame
