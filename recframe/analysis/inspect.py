"""One user's rankings: the rows of each, in ranked order."""

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from recframe.analysis.inspection import Inspection
from recframe.analysis.judged import judged_frame
from recframe.analysis.ranks import row_places
from recframe.errors import RecframeError
from recframe.frames.columns import find_columns, find_item, get_column
from recframe.frames.interactions import ALL_USERS, Interactions, read_rows
from recframe.frames.per_user import per_user_table
from recframe.frames.tables import mean_table
from recframe.kernel.grouping import Array
from recframe.metrics.names import make_metric
from recframe.options import Options

N_EXAMPLES = 3  # ids named where the one asked for is not there


def inspect_user(
    frame: pd.DataFrame, user: Hashable, k: int, options: Options, *, is_all: bool = True
) -> Inspection:
    """Return the rankings of one user, one for each score column.

    Where the frame is not all there is, truth may be of users who are not in it.
    """
    metrics = [make_metric("precision", k), make_metric("recall", k), make_metric("r_precision")]
    if options.truth is not None:
        # With the items that truth names and the user's list does not, as rows that are not ranked.
        frame = judged_frame(frame, options, is_all=is_all)
        judged: dict[str, Any] = {
            "relevant": "relevant",
            "min_relevance": None,
            "missing": "unranked",
        }
        options = replace(options, truth=None, **judged)
    columns = find_columns(frame, options)
    item = find_item(frame, columns, options)
    frame = frame[_find_user(frame, user, columns.user)]
    interactions = read_rows(frame, columns, options)
    users = interactions.groups.users
    if len(users) == 0:
        raise RecframeError(f"user={user!r}: every row holds a null, and missing='drop' removes it")
    per_user = per_user_table(frame, columns, metrics, options)
    of_user = per_user.iloc[per_user.index.get_indexer(users[:1])]
    roles = {"item": item, "relevance": columns.relevant}
    shown = {role: get_column(frame, label) for role, label in roles.items() if label is not None}
    tables = {}
    for score in columns.scores:
        shown["score"] = get_column(frame, score)
        tables[score] = _ranked_rows(shown, interactions, score, options)
    title = str(user) if columns.user is None else f"{columns.user} {user}"
    return Inspection(title, int(k), mean_table(of_user), tables)


def check_user(user: Hashable, label: Hashable | None) -> None:
    """Raise unless it can be the id of a user in the column of this label."""
    if label is None and user != ALL_USERS:
        raise RecframeError(f"user={user!r}: with user=None there is one ranking, {ALL_USERS!r}")
    if not isinstance(user, Hashable):
        raise RecframeError(f"user must be one id of the column {label!r}, found {user!r}")


def is_user(frame: pd.DataFrame, user: Hashable, label: Hashable | None) -> Array:
    """Return which rows are the user's."""
    if label is None:
        return np.ones(len(frame), bool)
    return get_column(frame, label).isin([user]).to_numpy(bool)


def _find_user(frame: pd.DataFrame, user: Hashable, label: Hashable | None) -> Array:
    """Return which rows are the user's, or raise where none is."""
    check_user(user, label)
    found = is_user(frame, user, label)
    if label is not None and not found.any():
        ids = get_column(frame, label).dropna().unique()
        examples = ", ".join(map(repr, ids[:N_EXAMPLES].tolist()))
        raise RecframeError(
            f"user={user!r}: no row has that id; ids of the column {label!r} are such as "
            f"{examples or '(there is none)'}"
        )
    return found


def _ranked_rows(
    shown: dict[str, pd.Series], interactions: Interactions, score: Hashable, options: Options
) -> pd.DataFrame:
    """Return the rows in ranked order with their positions, those that are not ranked behind."""
    n_rows = len(shown["score"])
    kept = np.arange(n_rows) if interactions.rows is None else interactions.rows
    if interactions.groups.order is not None:
        kept = kept[interactions.groups.order]
    relevant = np.zeros(n_rows, bool)
    relevant[kept] = interactions.relevant
    rows, (first, mean) = row_places(interactions, score, options)
    position = np.full(n_rows, np.nan)
    position[rows] = mean
    unranked = np.setdiff1d(kept, rows)
    order = np.append(rows[np.lexsort((rows, first))], unranked)
    table = pd.DataFrame({"position": position, "relevant": relevant}, index=shown["score"].index)
    return table.assign(**shown).iloc[order]
