"""Truth that comes in parts, each with the rows of the same users, and what all have in common."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.errors import RecframeError
from recframe.frames.columns import Columns, find_truth_columns, get_column
from recframe.frames.ids import encode
from recframe.frames.interactions import Interactions
from recframe.frames.overlap import N_EXAMPLES, Items, Overlap, find_items
from recframe.frames.truth import Judge, read_judgments
from recframe.options import Options

N_USERS = 1000  # named as examples by a part without a user in common


class Common(NamedTuple):
    """What a part of a frame and the truth of its users have in common.

    Of what is not common there are examples.
    """

    are_users: bool
    users: "pd.Index[Any]"
    truth_users: "pd.Index[Any]"
    items: Items
    truth_items: "pd.Index[Any]"


def judge_part(
    interactions: Interactions, truth: pd.DataFrame, columns: Columns, options: Options
) -> tuple[Interactions, Common | None]:
    """Return the rows of a part judged by the truth of its users, and what they have in common.

    Users of truth without a row are added. Where all is one ranking there is but one part, which
    is refused here where it has nothing in common with truth.
    """
    options = replace(options, truth=drop_nulls(truth, columns, options))
    if columns.user is not None and len(truth) == 0:
        nobody: pd.Index[Any] = pd.Index([])
        items = _list_items(interactions)
        common = Common(False, interactions.groups.users[:N_USERS], nobody, items, nobody)
        return interactions._replace(is_judged=True), common
    judge = Judge(read_judgments(columns, options), options)
    if columns.user is None:
        return judge.judge(interactions, is_all=True), None
    judged, overlap = judge.judge_apart(interactions)
    items = Items(True) if overlap.has_items else _list_items(interactions)
    truth_items = overlap.truth_items.distinct()[: 0 if items.are_common else N_EXAMPLES]
    users, of_truth = (ids[:N_USERS] for ids in (interactions.groups.users, overlap.truth_users))
    return judged, Common(bool(overlap.is_listed.any()), users, of_truth, items, truth_items)


def find_roles(columns: Columns, options: Options) -> Columns:
    """Return the label of each role in a truth that is a frame."""
    truth: Any = options.truth
    return find_truth_columns(truth, columns, options)


def drop_nulls(truth: pd.DataFrame, columns: Columns, options: Options) -> pd.DataFrame:
    """Return truth without the rows that ``missing="drop"`` removes, where it is that."""
    if options.missing != "drop":
        return truth
    return truth.dropna(subset=find_truth_columns(truth, columns, options).labels)


def _list_items(interactions: Interactions) -> Items:
    """Return the items of a part, none of which is in its truth."""
    item = get_column(interactions.frame, interactions.columns.item, interactions.rows)
    return Items(False, encode(item.dropna(), "item").distinct()[:N_EXAMPLES])


def check_common(parts: Sequence[Common]) -> None:
    """Raise where all parts together have no user, or no item, in common with truth."""
    if not any(len(part.truth_users) for part in parts):
        raise RecframeError("truth: there are no rows, so no item is relevant to anyone")
    are_users = any(part.are_users for part in parts)
    items = Items(any(part.items.are_common for part in parts))
    if are_users and items.are_common:
        return
    truth_items = encode(_join([part.truth_items for part in parts]), "item")
    if not items.are_common:  # in any one part
        items = find_items(_join([part.items.examples for part in parts]), truth_items)
    truth_users = pd.Index(_join([part.truth_users for part in parts]))
    overlap = Overlap(truth_users, truth_items)
    users = pd.Index(_join([part.users for part in parts]))
    overlap.note_users(users, np.full(len(truth_users), are_users))
    overlap.note_items([items])
    overlap.check()


def _join(parts: Sequence["pd.Index[Any]"]) -> pd.Series:
    """Return the distinct ids of several parts."""
    ids = [pd.Series(part) for part in parts if len(part)]
    return pd.Series(pd.concat(ids).unique() if ids else [], name="item")
