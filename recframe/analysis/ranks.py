"""Rows in ranked order: the position of every row, and the first rows of every user."""

from collections.abc import Hashable
from dataclasses import replace

import numpy as np
import pandas as pd

from recframe.errors import RecframeError
from recframe.frames.columns import Columns, find_columns
from recframe.frames.interactions import Interactions
from recframe.frames.truth import read_interactions
from recframe.frames.user_groups import sort_users
from recframe.kernel.counting import rank_rows
from recframe.kernel.grouping import Array, in_threads
from recframe.kernel.rankings import split_users
from recframe.metrics.names import check_k
from recframe.options import Options


def rank_table(frame: pd.DataFrame, options: Options) -> pd.DataFrame:
    """Return the position of every row in its user's ranking, for each score column."""
    interactions = read_interactions(frame, ranking_columns(frame, options), options)
    return place_rows(frame, interactions, options)


def place_rows(frame: pd.DataFrame, interactions: Interactions, options: Options) -> pd.DataFrame:
    """Return the position of every row of a frame whose arrays have been read."""
    positions = np.full((len(interactions.scores), len(frame)), np.nan)
    for number, score in enumerate(interactions.scores):
        rows, places = row_places(interactions, score, options)
        positions[number, rows] = places[1]
    labels = pd.Index(list(interactions.scores), name="score", tupleize_cols=False)
    return pd.DataFrame(positions.T, index=frame.index, columns=labels, copy=False)


def top_table(
    frame: pd.DataFrame, k: object, score: Hashable | None, options: Options
) -> pd.DataFrame:
    """Return the rows of the first k places of every user in ranked order, with their rank."""
    k = check_k(k)
    columns = top_columns(frame, score, options)
    return first_rows(frame, read_interactions(frame, columns, options), k, options)


def first_rows(
    frame: pd.DataFrame, interactions: Interactions, k: int, options: Options
) -> pd.DataFrame:
    """Return the first rows of every user of a frame whose arrays have been read."""
    (score,) = interactions.scores
    rows, (first, mean) = row_places(interactions, score, options)
    # The rows are grouped: place them by the rank of their user, then by their own.
    sorted_by = sort_users(interactions.groups)
    user_rank = np.empty(len(sorted_by), np.int64)
    user_rank[sorted_by] = np.arange(len(sorted_by))
    user = np.repeat(user_rank, np.diff(interactions.rankings(score).offsets))
    kept = np.flatnonzero(first <= k)
    kept = kept[np.lexsort((rows[kept], first[kept], user[kept]))]
    return frame.iloc[rows[kept]].assign(rank=mean[kept])


def ranking_columns(frame: pd.DataFrame, options: Options) -> Columns:
    """Return the label of each role; relevance only where the tie rule reads it."""
    return find_columns(frame, options, with_relevant=options.ties in ("best", "worst"))


def top_columns(frame: pd.DataFrame, score: Hashable | None, options: Options) -> Columns:
    """Return the label of each role with one score, or raise where there are several."""
    if "rank" in frame.columns:
        raise RecframeError("top adds a column 'rank', which the frame has; rename that column")
    columns = ranking_columns(frame, options if score is None else replace(options, score=score))
    if len(columns.scores) > 1:
        raise RecframeError(
            f"top takes one score column, found {columns.scores}; pass score= one of them"
        )
    return columns


def row_places(
    interactions: Interactions, score: Hashable, options: Options
) -> tuple[Array, Array]:
    """Return the positions in the frame of the ranked rows, and their first and mean places."""
    rankings = interactions.rankings(score)
    places = in_threads(lambda chunk, _: rank_rows(chunk, options.ties), split_users(rankings))
    rows, order = interactions.rows, interactions.groups.order
    if rows is None:
        rows = np.arange(len(interactions.relevant))
    rows = rows if order is None else rows[order]
    ranked = interactions.scores[score][1]
    return rows if ranked is None else rows[ranked], np.concatenate(places, axis=1)
