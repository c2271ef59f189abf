"""Truth and exclude in parts, each with the rows of the same users, and what all have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.frames.columns import Columns, find_pair_columns, find_truth_columns
from recframe.frames.ids import as_users, encode
from recframe.frames.interactions import Interactions, read_interactions
from recframe.frames.judgments import (
    Candidates,
    Judgments,
    check_rows,
    naming,
    read_excluded,
    read_judgments,
)
from recframe.frames.overlap import N_EXAMPLES, Items, Overlap, find_items
from recframe.frames.truth import Judge
from recframe.options import Options

BESIDE = ("truth", "exclude")  # the options that are frames
N_USERS = 1000  # named as examples by a part without a user in common


class Common(NamedTuple):
    """What a part of a frame and the rows of its users in another have in common.

    Of what is not common there are examples.
    """

    other: str
    are_users: bool
    users: "pd.Index[Any]"
    other_users: "pd.Index[Any]"
    items: Items
    other_items: "pd.Index[Any]"


def put(options: Options, frames: Mapping[str, Any]) -> Options:
    """Return options with other frames beside, by their names."""
    return replace(options, **frames)


def find_roles(other: str, columns: Columns, options: Options) -> Columns:
    """Return the label of each role in truth, or in what is excluded, where it is a frame."""
    frame: Any = getattr(options, other)
    with naming(other):
        if other == "truth":
            return find_truth_columns(frame, columns, options)
        return find_pair_columns(frame, columns)


def read_partition(
    frame: pd.DataFrame, columns: Columns, options: Options
) -> tuple[Interactions, list[Common]]:
    """Return the arrays of a part, by the truth and the excluded pairs of its users in the options.

    Users of truth without a row are added. Where all is one ranking there is but one part, which
    is refused here where it has nothing in common with these.
    """
    is_all = columns.user is None
    judge = None
    if options.has_truth:
        judge = Judge(read_judgments(columns, options, is_all=is_all), options)
    judged = None if judge is None else judge.judgments
    left, common = leave_candidates(frame, judged, columns, options)
    interactions = read_interactions(left, columns, options)
    if judge is None:
        return interactions, common
    if is_all:
        return judge.judge(interactions, is_all=True), common
    interactions, overlap = judge.judge_apart(interactions)
    # Condensed rows have lost what is not common.
    return interactions, common if options.is_condensed else [*common, _find_common(overlap)]


def leave_candidates(
    frame: pd.DataFrame, judgments: Judgments | None, columns: Columns, options: Options
) -> tuple[pd.DataFrame, list[Common]]:
    """Return the candidates among the rows of a part, and what it has in common with each side."""
    is_all = columns.user is None
    judged = judgments.pairs if judgments is not None and options.is_condensed else None
    candidates = Candidates(columns, read_excluded(columns, options, is_all=is_all), judged)
    left = candidates.among(frame, is_all=is_all)
    return left, [] if is_all else list(map(_find_common, candidates.overlaps))


def _find_common(overlap: Overlap) -> Common:
    """Return what a part has in common with the other side, as far as all parts together ask."""
    items = overlap.items
    other_items = overlap.other_items.distinct()[: 0 if items.are_common else N_EXAMPLES]
    # Joined, these keep no more ids in their levels.
    users, others = (join_ids([ids[:N_USERS]]) for ids in (overlap.users, overlap.other_users))
    are_users = bool(overlap.is_listed.any())
    return Common(overlap.other, are_users, users, others, items, other_items)


def check_common(parts: Sequence[Common]) -> None:
    """Raise where all parts together have no user, or no item, in common with one of the sides."""
    for other in BESIDE:
        of_other = [part for part in parts if part.other == other]
        if of_other:
            _check_side(other, of_other)


def _check_side(other: str, parts: Sequence[Common]) -> None:
    """Raise where all parts have no user, or no item, in common with the other side."""
    with naming(other):
        check_rows(other, sum(len(part.other_users) for part in parts))
    are_users = any(part.are_users for part in parts)
    items = Items(any(part.items.are_common for part in parts))
    if are_users and items.are_common:
        return
    other_items = encode(_join_items([part.other_items for part in parts]), "item")
    if not items.are_common:  # in any one part
        items = find_items(_join_items([part.items.examples for part in parts]), other_items, other)
    users, other_users = (
        join_ids(of_each).unique()
        for of_each in ([part.users for part in parts], [part.other_users for part in parts])
    )
    overlap = Overlap(other_users, other_items, other)
    overlap.note_users(users, np.full(len(other_users), are_users))
    if any(N_USERS in (len(part.users), len(part.other_users)) for part in parts):
        overlap.note_users(users[:1], np.full(len(other_users), are_users))  # there may be others
    overlap.note_items([items])
    overlap.check()


def _join_items(parts: Sequence["pd.Index[Any]"]) -> pd.Series:
    """Return the distinct items of several parts."""
    return pd.Series(join_ids(parts).unique(), name="item")


def join_ids(parts: Sequence["pd.Index[Any]"]) -> "pd.Index[Any]":
    """Return the ids of several parts, those of each level joined."""
    parts = [part for part in parts if len(part)] or [*parts[:1], pd.Index([])][:1]
    levels = [
        pd.concat([pd.Series(part.get_level_values(level)) for part in parts])
        for level in range(parts[0].nlevels)
    ]
    return as_users([pd.Index(ids, dtype=ids.dtype) for ids in levels])
