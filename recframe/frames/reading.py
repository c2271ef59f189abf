"""Reading: from a frame to arrays. Labels and dtypes above, arrays below; the only way in."""

from collections.abc import Hashable, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.errors import RecframeError
from recframe.frames.columns import Columns, get_column
from recframe.frames.duplicates import (
    Unfolded,
    find_item_repeats,
    fold_relevance,
    fold_scores,
    fold_values,
    read_item_keys,
    repeated_error,
)
from recframe.frames.interactions import ALL_USERS, Interactions
from recframe.frames.nulls import find_nulls, has_nulls
from recframe.frames.user_groups import UserGroups, UserIds, Values, group_values, read_users
from recframe.frames.values import Scores, read_gains, read_relevance, read_scores, read_values
from recframe.kernel.pieces import Pieces
from recframe.kernel.repeats import Repeats
from recframe.kernel.threads import Array
from recframe.options import Options


class Given(NamedTuple):
    """What is known of the rows of a frame, whose own cells are not read.

    Parameters
    ----------
    users : UserIds
        The ids of users, of runs of rows.
    scores : dict
        The values of score columns, every one of which is ranked, the highest first.
    """

    users: UserIds
    scores: dict[Hashable, Pieces]


def read_interactions(
    frame: pd.DataFrame,
    columns: Columns,
    options: Options,
    *,
    lenient: bool = False,
    given: Given | None = None,
) -> Interactions:
    """Return the arrays of a frame's columns, nulls treated as `missing` says.

    With truth no row is relevant yet: `truth.read_judged` looks them up. Where reading is lenient,
    rows with a null user or relevance are left out, those with a null score not ranked, and a
    relevance column that cannot be read says nothing.
    """
    checked = [*columns.users, columns.relevant] if lenient else []
    if options.missing == "drop":
        checked = [*columns.users, columns.relevant, *columns.scores]
        checked += [columns.item] if _reads_items(options) else []
        checked += [label for _, label in columns.averaged]
    rows = complete_rows(frame, [label for label in checked if label is not None])
    n_rows = len(frame) if rows is None else len(rows)
    if given is None:
        users = read_users([get_column(frame, label, rows) for label in columns.users])
    else:
        users = given.users.take_rows(rows)
    relevant, grades = None, None
    if columns.relevant is not None:
        relevance = get_column(frame, columns.relevant, rows)
        with suppress(RecframeError) if lenient else nullcontext():
            relevant, grades = read_relevance(relevance, options)
    scores: Scores = {}
    for label, is_low_best in zip(columns.scores, columns.ascending, strict=True):
        if given is not None and label in given.scores:
            own = given.scores[label]
            scores[label] = own if rows is None else own.take(rows), None
        else:
            score = get_column(frame, label, rows)
            scores[label] = read_scores(score, options, lenient, is_low_best)
    averaged = [
        read_values(get_column(frame, label, rows), scores, options)
        for _, label in columns.averaged
    ]
    of_scores = list(chain.from_iterable(scores.values()))
    items = None
    if columns.item is not None and (_reads_items(options) or lenient):
        item = get_column(frame, columns.item, rows)
        items = read_item_keys(item, lenient=lenient, keep_bits=options.has_truth)
    # What stands in rows goes through the sort with them.
    groups, (item_bits, relevant, grades, *values) = group_cells(
        users,
        n_rows,
        [None if items is None else items.write_bits, relevant, grades, *averaged, *of_scores],
        keep_order=items is not None and (options.has_truth or options.duplicates == "max"),
    )
    averaged, ranked = values[: len(averaged)], values[len(averaged) :]
    find_gains = None
    if relevant is not None and grades is not None:
        find_gains = partial(
            read_gains, grades, relevant, groups.offsets, columns.relevant, options.gain
        )
    interactions = Interactions(
        frame,
        columns,
        rows,
        groups,
        np.zeros(n_rows, bool) if relevant is None else relevant,
        dict(zip(scores, zip(ranked[::2], ranked[1::2], strict=True), strict=True)),
        np.broadcast_to(np.int64(0), len(groups.users)),
        relevant is not None,
        find_gains,
        averaged=tuple(averaged),
    )
    if items is None:
        return interactions
    known = None if callable(item_bits) else item_bits
    repeats = find_item_repeats(items, groups, known)
    if items.bits is not None:
        interactions = interactions._replace(text_keys=items.bits if known is None else known)
    return _settle_repeats(interactions, repeats, options, lenient=lenient)


def find_groups(frame: pd.DataFrame, users: list[Hashable], rows: Array | None) -> UserGroups:
    """Return the rows of each user, of a frame or of some of its rows; of no column one user."""
    n_rows = len(frame) if rows is None else len(rows)
    ids = read_users([get_column(frame, label, rows) for label in users])
    return group_cells(ids, n_rows, [], keep_order=True)[0]


def group_cells(
    users: UserIds, n_rows: int, values: Sequence[Values | None], *, keep_order: bool
) -> tuple[UserGroups, list[Any]]:
    """Return what `find_groups` does, and values of the rows in grouped order, None as it is."""
    if not users.columns:
        return UserGroups(pd.Index([ALL_USERS]), None, np.array([0, n_rows])), list(values)
    known = [each for each in values if each is not None]
    groups, grouped = group_values(users, known, keep_order=keep_order)
    in_order = iter(grouped)
    return groups, [None if each is None else next(in_order) for each in values]


def _reads_items(options: Options) -> bool:
    """Return whether items count, where a frame has them."""
    return options.has_truth or options.duplicates != "keep"


def _settle_repeats(
    interactions: Interactions, repeats: Repeats, options: Options, *, lenient: bool
) -> Interactions:
    """Return what `duplicates` makes of rows that repeat the user and item of another."""
    if len(repeats.rows) == 0:
        return interactions
    if options.duplicates == "raise" and not lenient:
        rows = interactions.find_rows()[0]
        raise repeated_error(interactions.frame, interactions.columns, rows, repeats)
    if options.duplicates in ("raise", "keep"):
        return interactions._replace(n_repeated=len(repeats.rows), repeats=repeats)
    return _fold(interactions, repeats, best=options.duplicates == "max")


def _fold(interactions: Interactions, repeats: Repeats, *, best: bool) -> Interactions:
    """Return interactions with one row for each pair: its first row, or with the best of all."""
    _, _, _, groups, relevant, scores, _, _, find_gains, *_ = interactions
    is_first = np.ones(len(relevant), bool)
    is_first[repeats.rows] = False
    first = np.flatnonzero(is_first)
    folded = interactions._replace(
        groups=groups._replace(offsets=np.searchsorted(first, groups.offsets)),
        n_repeated=len(repeats.rows),
    )
    if best:
        place = np.cumsum(is_first) - 1
        place[repeats.rows] = place[repeats.first]
        unfolded = Unfolded(interactions.find_rows()[0], place, scores)
        labels = [label for _, label in interactions.columns.averaged]
        averaged = tuple(
            fold_values(values, repeats, label)
            for values, label in zip(interactions.averaged, labels, strict=True)
        )
        scores = {label: fold_scores(*values, repeats) for label, values in scores.items()}
        relevant, find_gains = fold_relevance(relevant, find_gains, repeats)
        folded = folded._replace(
            unfolded=unfolded,
            relevant=relevant,
            scores=scores,
            averaged=averaged,
            find_gains=find_gains,
        )
    return folded.take(first)


def complete_rows(frame: pd.DataFrame, labels: list[Hashable]) -> Array | None:
    """Return the rows in which no column of these labels is null, None where all are such."""
    columns = [column for label in labels if has_nulls(column := get_column(frame, label))]
    if not columns:
        return None
    return np.flatnonzero(~np.any([find_nulls(column) for column in columns], axis=0))
