"""One user's rankings: the rows of each, in ranked order."""

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from recframe.analysis.inspection import Inspection
from recframe.analysis.judged import judge_frame
from recframe.analysis.ranks import rank_table
from recframe.errors import RecframeError, as_text, quote
from recframe.frames.columns import find_columns, get_column
from recframe.frames.interactions import ALL_USERS, Interactions, read_interactions
from recframe.frames.kinds import check_dtype
from recframe.frames.names import is_same
from recframe.frames.tables import mean_table, measure_table
from recframe.frames.truth import open_candidates
from recframe.kernel.threads import Array
from recframe.metrics.names import make_metric
from recframe.options import Options, is_key

N_IDS_NAMED = 3  # ids named where the one asked for is not there


def inspect_user(
    frame: pd.DataFrame, user: Hashable, k: int, options: Options, *, is_all: bool = True
) -> Inspection:
    """Return the rankings of one user, one for each score column.

    Where the frame is not all there is, truth may be of users who are not in it.
    """
    columns, grades = find_columns(frame, options, with_item=True), None
    is_own = is_user(frame, user, columns.users)
    # By `exclude` alone, as what truth leaves out, or adds, comes with it.
    n_left = is_own.sum()
    if options.exclude is not None:
        n_left = len(open_candidates(columns, options, None).among(frame[is_own]))
    n_excluded = int(is_own.sum() - n_left)
    leaving = ["exclude"] if options.exclude is not None else []
    leaving += ["unjudged"] if options.is_condensed else []
    if options.has_truth:
        # With the items that truth names and the user's list does not, as rows that are not ranked.
        frame, grades = judge_frame(frame, options, is_all=is_all)
        options = replace(
            options,
            truth=None,
            relevant="relevant",
            min_relevance=None,
            missing="unranked",
            unjudged="nonrelevant",
        )
        columns = find_columns(frame, options, with_item=True)
    else:
        frame = open_candidates(columns, options, None).among(frame, is_all=is_all)
    if leaving and is_own.any() and not is_user(frame, user, columns.users).any():
        n_rows, by = int(is_own.sum()), " and ".join(leaving)
        rows = f"{n_rows:,} row{'s' * (n_rows != 1)}"
        raise RecframeError(f"user={quote(user)}: none of {rows} is left by {by}")
    is_own = _find_user(frame, user, columns.users)
    frame, grades = frame[is_own], None if grades is None else grades[is_own]
    interactions = read_interactions(frame, columns, options)
    if len(interactions.find_rows()[0]) == 0:
        dropped = "every row holds a null, and missing='drop' removes it"
        why = dropped if len(frame) else "the frame has no row"
        raise RecframeError(f"user={quote(user)}: {why}")
    metrics = [make_metric("precision", k), make_metric("recall", k), make_metric("r_precision")]
    per_user = measure_table(interactions, metrics, options)
    ids = zip(columns.users, split_user(user, columns.users), strict=True)
    named = [f"{as_text(label)} {as_text(own)}" for label, own in ids]
    title = ", ".join(named) or as_text(user)
    tables = _ranked_rows(interactions, options, grades)
    return Inspection(title, k, mean_table(per_user), tables, n_excluded)


def check_user(user: Hashable, labels: list[Hashable]) -> None:
    """Raise unless it can be the id of a user in the columns of these labels."""
    if not labels and not is_same(user, ALL_USERS):
        raise RecframeError(
            f"user={quote(user)}: with user=None there is one ranking, {ALL_USERS!r}"
        )
    if not is_key(user):
        raise RecframeError(
            f"user must be one id of the column {_shown(labels)}, found {quote(user)}"
        )
    split_user(user, labels)


def split_user(user: Hashable, labels: list[Hashable]) -> tuple[Hashable, ...]:
    """Return the id in the column of each label; of several it is a tuple of them."""
    if len(labels) < 2:
        return (user,)[: len(labels)]
    if not isinstance(user, tuple) or len(user) != len(labels):
        raise RecframeError(
            f"user must be a tuple of an id of each of {_shown(labels)}, found {quote(user)}"
        )
    return user


def _shown(labels: list[Hashable]) -> str:
    """Return the labels of users as a message has them."""
    return quote(labels if len(labels) > 1 else next(iter(labels), None))


def is_user(frame: pd.DataFrame, user: Hashable, labels: list[Hashable]) -> Array:
    """Return which rows are the user's."""
    is_own = np.ones(len(frame), bool)
    for label, own in zip(labels, split_user(user, labels), strict=True):
        ids = get_column(frame, label)
        check_dtype(ids, "user")
        is_bool = isinstance(own, bool | np.bool_)
        if is_bool and ids.dtype.kind in "iuf":  # of which True equals 1
            return np.zeros(len(frame), bool)
        is_own &= ids.isin([own]).to_numpy(bool)
    return is_own


def _find_user(frame: pd.DataFrame, user: Hashable, labels: list[Hashable]) -> Array:
    """Return which rows are the user's, or raise where none is."""
    found = is_user(frame, user, labels)
    if labels and not found.any():
        cells = {n: get_column(frame, label).array for n, label in enumerate(labels)}
        some = pd.DataFrame(cells).dropna().drop_duplicates().head(N_IDS_NAMED)
        ids = [own if len(own) > 1 else own[0] for own in some.itertuples(index=False, name=None)]
        column = "column" if len(labels) == 1 else "columns"
        examples = ", ".join(map(quote, ids)) or "(there is none)"
        such = f"ids of the {column} {_shown(labels)} are such as {examples}"
        if is_same(user, ALL_USERS):
            raise RecframeError(f"user must be given, as one is shown; {such}")
        raise RecframeError(f"user={quote(user)}: no row has that id; {such}")
    return found


def _ranked_rows(
    interactions: Interactions, options: Options, grades: pd.Series | None
) -> dict[Hashable, pd.DataFrame]:
    """Return the rows in each ranked order with their positions, those not ranked behind.

    Grades of truth, where it has any, stand in place of the relevance that follows from them.
    """
    frame, columns, (rows, place) = (
        interactions.frame,
        interactions.columns,
        interactions.find_rows(),
    )
    relevant = np.zeros(len(frame), bool)
    relevant[rows] = interactions.relevant[place]
    # Arrays, as a level of the index is a column with an index of its own.
    shown: dict[str, Any] = {"position": None, "relevant": relevant}
    roles = {"item": columns.item, "relevance": columns.relevant if grades is None else None}
    for role, label in roles.items():
        if label is not None:
            # Of its own dtype, where pandas might make text of objects that it cannot store.
            column = get_column(frame, label)
            shown[role] = pd.Series(column.array, frame.index, dtype=column.dtype)
    if grades is not None:
        shown["grade"] = grades.array
    positions = rank_table(interactions, options).to_numpy()
    tables = {}
    for score, position in zip(columns.scores, positions.T, strict=True):
        cells = shown | {"position": position, "score": get_column(frame, score).array}
        table = pd.DataFrame(cells, index=frame.index)
        tables[score] = table.iloc[np.sort(rows)].sort_values("position", kind="stable")
    return tables
