"""Columns of lists: which columns hold them, and the rows that their members make."""

import secrets
from collections.abc import Hashable, Mapping, Sequence, Set
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import Choice, RecframeError, count_of, quote
from recframe.frames.names import find_role, is_infer, is_same, plain_name, remove_labels, shown
from recframe.frames.words import ends_in, has_word, less_is_better, may_be_score
from recframe.kernel.grouping import number_members
from recframe.kernel.threads import Array
from recframe.options import EMPTY, INFER, LIST, LISTS, ROLE_LABELS

SCORE_FIELDS = ("rating", "similarity", "distance")  # names in Spark's ALS and vector stores
ORDER = "score"  # the column of the score that the order of a list gives
NO_IDS = (pa.struct([]).id, pa.null().id)  # metadata next to ids, as those of vector stores
Types = Mapping[Any, pa.DataType]  # the type of the members of each column of lists


class ListRows(NamedTuple):
    """The rows of lists: one for each member, and one for each list without members.

    `row` is the number of a row's list, `position` its place in the list, from 0. `is_empty` says
    which rows have no member.
    """

    row: Array
    position: Array
    is_empty: Array

    @property
    def order(self) -> pa.Array:
        """The score that the order of a list gives: -1 for the first member."""
        return pa.array(-1 - self.position, mask=self.is_empty)

    @property
    def members(self) -> pa.Array:
        """The number of each row's member among the members of all lists."""
        return pa.array(np.cumsum(~self.is_empty) - 1, mask=self.is_empty)


class MemberColumns(NamedTuple):
    """The columns of the rows that lists in a table of Arrow make.

    `carried` are the columns next to lists, by their names in the rows. `fields` are those of
    members. `order` has the score that the order of a list gives, if no field may be the score.
    `attrs` are attributes of frames of these rows: the labels of the item and the scores, as far as
    fields say them. Rows that are ranked have the number of their list.
    """

    lists: Sequence[str]
    carried: dict[str, str]
    fields: Sequence[str]
    order: Sequence[str]
    attrs: dict[str, Any]
    is_ranked: bool = True

    def flatten(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a row for each member of the lists in a batch, with the columns that it has."""
        rows, fields = make_list_rows({name: batch[name] for name in self.lists})
        name = self.attrs[ROLE_LABELS].get("item")
        items = fields.get(name, pa.nulls(0))
        if pa.types.is_integer(items.type) and pc.any(pc.equal(items, -1)).as_py():
            raise padding_error(name)
        at, none = pa.array(rows.row), pa.nulls(len(rows.row))
        others = {to: name for to, name in self.carried.items() if name in batch.schema.names}
        columns = {to: batch[name].take(at) for to, name in others.items()}
        columns |= {name: fields.get(name, none) for name in self.fields}
        if self.is_ranked:  # Numbers of other batches have another beginning.
            columns[LIST] = pa.array(rows.row + secrets.randbits(62))
        return pa.record_batch(columns | dict.fromkeys(self.order, rows.order))


def make_list_rows(lists: Mapping[Any, pa.Array]) -> tuple[ListRows, dict[Any, pa.Array]]:
    """Return the rows of one or several columns of lists, and the fields of their members.

    Fields have the names in structs, or the name of the column. They are null if there is no
    member. Lists must be equally long in each row. This is the only place where lists become rows.
    """
    sizes = {name: _count_members(cells) for name, cells in lists.items()}
    first, counts = next(iter(sizes.items()))
    for name, others in sizes.items():
        if len(differ := np.flatnonzero(others != counts)):
            at = int(differ[0])
            raise RecframeError(
                f"{quote(first)} and {quote(name)} must have equally long lists in each row, but "
                f"differ in {count_of(len(differ), 'row')} (such as {counts[at]} and {others[at]} "
                "members). Name the columns of one list only, as items= of recframe.from_lists or "
                "lists= of recframe.scan."
            )
    row, position = number_members(np.maximum(counts, 1))
    rows, fields = ListRows(row, position, (counts == 0)[row]), dict[Any, pa.Array]()
    for name, cells in lists.items():
        members = pc.list_flatten(cells)
        is_struct = pa.types.is_struct(members.type)
        names = [name_field(field.name) for field in members.type] if is_struct else [name]
        for to, values in zip(names, members.flatten() if is_struct else [members], strict=True):
            if pa.types.is_string_view(values.type):  # Arrow takes no rows of it.
                values = values.cast(pa.large_string())
            fields[to] = values.take(rows.members) if rows.is_empty.any() else values
    return rows, fields


def _count_members(cells: pa.Array) -> Array:
    """Return the length of each list, 0 for null."""
    return np.asarray(pc.fill_null(pc.list_value_length(cells), 0)).astype(np.int64)


def check_no_padding(fields: Mapping[Hashable, Any], items: Sequence[Hashable]) -> None:
    """Raise if items that are numbers, and so may be positions, are padded with -1."""
    for one in items:
        if fields[one].dtype.kind in "iuf" and (fields[one] == -1).any():
            raise padding_error(one)


def padding_error(item: Hashable) -> RecframeError:
    """Return the error for lists of items that are filled up with -1."""
    return RecframeError(f"{quote(item)}: lists must not be padded, but hold -1. Leave it out.")


def check_no_dict_or_set(label: Hashable, cell: Any, others: Sequence[Hashable]) -> None:
    """Raise if a cell of truth is a set, or a dict of grades by item.

    `others` are the columns of no list.
    """
    if isinstance(cell, Set):
        lists = f"truth.assign(**{{{quote(label)}: truth[{quote(label)}].map(list)}})"
        raise RecframeError(f"{quote(label)} holds sets: pass {lists}")
    if isinstance(cell, Mapping):
        user = next((quote(one) for one in others if find_role(one) == "user"), "user")
        grades = f"recframe.truth_from(dict(zip(truth[{user}], truth[{quote(label)}])))"
        raise RecframeError(f"{quote(label)} holds dicts of grades: pass {grades}")


def join_chunks(cells: Any) -> pa.Array:
    """Return the lists of all chunks in one array."""
    if not isinstance(cells, pa.ChunkedArray):
        return cells
    if pa.types.is_list(cells.type) and cells.num_chunks > 1:
        cells = cells.cast(pa.large_list(cells.type.value_field))
    return cells.combine_chunks()


def is_list_type(kind: pa.DataType) -> bool:
    """Return whether a type is one of Arrow's lists."""
    are_lists = pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list
    return any(is_kind(kind) for is_kind in are_lists)


def choose_lists(types: Types, companion: str = "") -> list[Any]:
    """Return the columns whose lists hold the items, by the types of members.

    It is the only column, or the only one of structs. Else it is the only one that may hold ids,
    together with a column of scores, by its name or as the only one of floats, and one of
    relevance. A `companion`, such as truth, may have the ranked lists too, so structs are asked
    about there, and so are negatives of truth.
    """
    if companion == "truth" and all(has_word(label, "negative") for label in types):
        raise open_lists_error(list(types), list(types), companion)
    ids = [label for label in types if plain_name(label) in ("id", "ids")]
    if ids:
        types = {one: types[one] for one in types if one in ids or types[one].id not in NO_IDS}
    structs = [label for label, kind in types.items() if pa.types.is_struct(kind)]
    if len(types) == 1:
        return list(types)
    if len(structs) == 1 and not companion:
        return structs
    ids = find_id_lists(types, is_ranked=not companion)
    floats = [label for label, kind in types.items() if pa.types.is_floating(kind)]
    others = remove_labels(types, ids)
    scores = list(filter(_is_score, others)) or floats
    if len(ids) != 1 or len(scores) > 1:
        raise open_lists_error(list(types), ids or list(types), companion)
    relevant = [label for label in others if find_role(label) == "relevant"]
    return [*ids, *scores, *(one for one in relevant if pa.types.is_primitive(types[one]))]


def choose_relevance(
    types: Types, item: Any, relevant: Any, parallel: Sequence[Any] = ()
) -> list[Any]:
    """Return the lists that say which items of a list are relevant, by name or as passed.

    Lists known to be `parallel` to that of items may say so under any name. Next to other lists of
    ids they may belong to these, so that none says so unasked.
    """
    if not is_infer(relevant):
        return [one for one in types if is_same(one, relevant)]
    numbers = [one for one in types if one != item and pa.types.is_primitive(types[one])]
    named = [one for one in numbers if _means(one, "relevant")]
    ids = list_other_ids(types, item)
    if named and ids:
        raise RecframeError(
            f"{shown(named)} may say which of {quote(item)} are relevant, or belong to "
            f"{shown(ids)}. Pass relevant={quote(named[0])}, or relevant=None where all are.",
            {"relevant": Choice([None, *named])},
        )
    return [*dict.fromkeys([*named, *(one for one in parallel if not ids or one in ids)])]


def list_other_ids(types: Types, item: Any) -> list[Any]:
    """Return the other lists that may hold ids of the kind that a list of items has."""
    texts = [one for one, kind in types.items() if not pa.types.is_primitive(kind)]
    integers = [one for one, kind in types.items() if pa.types.is_integer(kind)]
    scores = [one for one in integers if may_be_score(one) or one in SCORE_FIELDS]
    grades = [one for one in integers if _means(one, "relevant") or has_word(one, "grade")]
    plain = remove_labels(integers, [*scores, *grades]) if item in integers else []
    return remove_labels([*texts, *plain], [item])


def find_id_lists(types: Types, *, is_ranked: bool = True) -> list[Any]:
    """Return the columns whose lists may hold the ids of items, by names and types of members.

    Text may be ids under any name. If lists are ranked, a name of items decides among such names
    only. Next to text or a name of items, integers named as scores or relevance are none; alone,
    those named as predictions or relevance may be ids.
    """
    empty = {label for label, kind in types.items() if pa.types.is_null(kind)}
    texts = [one for one in types if one not in empty and not pa.types.is_primitive(types[one])]
    integers = [one for one in types if one in empty or pa.types.is_integer(types[one])]
    numbers = [one for one in types if one not in texts and not pa.types.is_floating(types[one])]
    plain = [one for one in integers if not _is_score(one) and find_role(one) != "relevant"]
    named = _find_items([*texts, *(label for label in numbers if not _is_score(label))])
    if is_ranked and len(named) == 1:
        return named + [one for one in (*texts, *plain) if not _means_items(one)]
    if not texts:
        vague = [one for one in integers if not may_be_score(one) and one not in SCORE_FIELDS]
        return named or vague
    return texts + (plain if is_ranked else [])


def open_lists_error(lists: list[Any], ids: list[Any], companion: str = "") -> RecframeError:
    """Return the question which list holds the items; a `companion` has them in one list."""
    found = f"{count_of(len(lists), 'column')} hold{'s' * (len(lists) == 1)} lists, {shown(lists)}"
    if companion == "truth":
        ids = sorted(ids, key=lambda label: has_word(label, "negative"))
        answers = {"truth_item": Choice(ids)}
        by_user = "where names are users, recframe.truth_from makes truth of a dict of lists"
        remedy = f"Pass truth_item= the one of relevant items; {by_user}."
        return RecframeError(f"{found}. {remedy}", answers)
    if companion:
        return RecframeError(f"{found}. Drop all but the one of items.")
    gold = [label for label in ids if find_role(label) == "relevant"]
    others = [label for label in ids if label not in gold]
    are_named = len(gold) == len(others) == 1
    item, of_truth = map(quote, (*others, *gold)) if are_named else ("...", "...")
    call = f"recframe.from_lists(lists, items={item}).rec(truth=lists, truth_item={of_truth})"
    return RecframeError(
        f"{found}. Pass items= the one of items, or several whose lists belong together, that of "
        f"items first. Where another has the relevant items, pass {call}.",
        {"items": Choice(ids)},
    )


def find_fields(
    types: Types, lists: Sequence[Any] = (), item: Any = INFER
) -> tuple[list[Any], list[Any], list[Any]]:
    """Return fields of items, fields of scores, and if there are none, floats that may be scores.

    They are found by their names, or by the item that is passed. Without a name of scores, these
    are the only list of floats of several lists, or else a rank. The only field next to a score is
    the item, whatever its name. Of several lists it is the first.
    """
    names = list(types)
    if is_infer(item) and len(names) == 1 and names[0] in lists:
        return names, [], []
    floats = [name for name in names if pa.types.is_floating(types[name])]
    scores = list(filter(_is_score, names))
    if not scores:
        low = [one for one in filter(less_is_better, names) if pa.types.is_primitive(types[one])]
        scores = floats if len(lists) > 1 and len(floats) == 1 else low[:1]
    others = [name for name in names if name not in scores]
    if not is_infer(item):
        items = [name for name in names if is_same(name, item)]
    else:
        is_lone = len(others) == 1 and bool(scores)
        items = others if is_lone else _find_items(others)
        if len(items) != 1 and len(lists) > 1:
            items = [name for name in others if name in lists][:1]
    doubtful = [name for name in floats if name not in items and find_role(name) is None]
    return items, scores, [] if scores else doubtful


def _is_score(name: Hashable) -> bool:
    """Return whether a name means scores in lists."""
    return find_role(name) == "score" or may_be_score(name) or name in SCORE_FIELDS


def _find_items(names: Sequence[Any]) -> list[Any]:
    """Return the names that mean items in lists, such as doc_ids; names of ids win over others."""
    named = [name for name in names if _means_items(name)]
    of_ids = [name for name in named if ends_in(name, "id")]
    roles = [name for name in of_ids if plain_name(name).rstrip("s") != "id"]
    return roles or of_ids or named


def _means_items(name: Any) -> bool:
    """Return whether a name means items in lists, in the singular or plural."""
    return _means(name, "item") or plain_name(name).rstrip("s") == "id"


def _means(name: Any, role: str) -> bool:
    """Return whether a name means a role in lists, in the singular or plural."""
    singular = name.rstrip("sS") if isinstance(name, str) else name
    return role in (find_role(name), find_role(singular))


def name_field(name: Any) -> Any:
    """Return the name of a field; one named like a user, such as an author's, is no user here."""
    return f"member_{name}" if find_role(name) == "user" else name


def name_carried(names: Sequence[Any], fields: Sequence[Any]) -> list[Any]:
    """Return the names of columns next to lists; one that a field has too is named list_NAME.

    No such name is that of a role.
    """
    renamed = {name: f"list_{name}" for name in fields}
    renamed |= {name: f"{to}_value" for name, to in renamed.items() if may_be_score(to)}
    return [renamed.get(name, name) for name in names]


def find_member_columns(
    schema: pa.Schema, lists: Sequence[str], *, is_ranked: bool = True
) -> MemberColumns:
    """Return the columns of the rows that lists make, given all columns.

    The order of lists of truth and exclude, which are not ranked, gives no score.
    """
    fields: dict[str, pa.DataType] = {}
    for name in lists:
        kind = schema.field(name).type
        kind = kind.value_type if is_list_type(kind) else pa.string()  # Text holds texts.
        is_struct = pa.types.is_struct(kind)
        fields |= {name_field(one.name): one.type for one in kind} if is_struct else {name: kind}
    items, scores, doubtful = find_fields(fields, lists)
    order = [f"{ORDER}_of_order" if ORDER in fields else ORDER]
    if scores or doubtful or not is_ranked:
        order = []
    roles: dict[str, Any] = {"item": items[0]} if len(items) == 1 else {}
    roles |= {"score": score} if (score := scores or order) else {}
    others = [name for name in schema.names if name not in lists]
    carried = dict(zip(name_carried(others, [*fields, *order]), others, strict=True))
    attrs = {ROLE_LABELS: roles, EMPTY: True}
    return MemberColumns(lists, carried, [*fields], order, attrs, is_ranked)


def find_list_columns(schema: pa.Schema, companion: str, asked: Mapping[str, Any]) -> MemberColumns:
    """Return the columns of the rows that lists make, without lists if none become rows.

    Lists become rows if no other column is named as an item or a score. If they are unclear,
    attributes say which columns the caller is asked about. Options that are `asked` may name the
    list of a companion, and its relevance.
    """
    nested = {one.name: one.type.value_type for one in schema if is_list_type(one.type)}
    if (item := asked.get(f"{companion}_item")) in nested:
        labels = [item, *choose_relevance(nested, item, asked.get("relevant", INFER))]
        return find_member_columns(schema, labels, is_ranked=False)
    flat = [name for name in schema.names if name not in nested]
    roles = {"score" if may_be_score(name) else find_role(name) for name in flat}
    are_users = "user" in map(find_role, nested)
    are_asked = bool(nested) and not are_users and roles.isdisjoint({"item", "score"})
    are_vectors = all(map(pa.types.is_floating, nested.values()))  # Lists of floats may be vectors.
    with suppress(RecframeError):  # Several columns may hold the items.
        if are_asked and not are_vectors:
            labels = choose_lists(nested, companion)
            return find_member_columns(schema, labels, is_ranked=not companion)
    attrs = {LISTS: dict.fromkeys(nested, "")} if are_asked else {}
    return MemberColumns([], {}, [], [], attrs)


def relist(lists: pa.Array, members: pa.Array) -> pa.Array:
    """Return lists of the same lengths with other members."""
    return pa.LargeListArray.from_arrays(np.append(0, np.cumsum(_count_members(lists))), members)
