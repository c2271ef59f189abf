"""Rows in ranked order: the position of every row, and the first rows of every user."""

from collections.abc import Hashable
from dataclasses import replace

import numpy as np
import pandas as pd

from recframe.errors import RecframeError
from recframe.frames.columns import Columns, find_columns
from recframe.frames.interactions import Interactions
from recframe.frames.user_groups import sort_users
from recframe.kernel.counting import rank_rows
from recframe.kernel.rankings import split_users
from recframe.kernel.threads import Array, in_threads
from recframe.options import Options


def rank_options(options: Options) -> Options:
    """Return the options, without truth where the tie rule does not read relevance."""
    return replace(options, truth=None) if options.tie_rule.relevant_first is None else options


def rank_columns(frame: pd.DataFrame, options: Options) -> Columns:
    """Return the label of each role; relevance only where the tie rule reads it."""
    return find_columns(frame, options, with_relevant=options.tie_rule.relevant_first is not None)


def top_columns(frame: pd.DataFrame, score: Hashable | None, options: Options) -> Columns:
    """Return the label of each role with one score, or raise where there are several."""
    if "rank" in frame.columns:
        raise RecframeError("top adds a column 'rank', which the frame has; rename that column")
    columns = rank_columns(frame, options if score is None else replace(options, score=score))
    if len(columns.scores) > 1:
        raise RecframeError(
            f"top takes one score column, found {columns.scores}; pass score= one of them"
        )
    return columns


def rank_table(interactions: Interactions, options: Options) -> pd.DataFrame:
    """Return the position of every row in its user's ranking, for each score column."""
    positions = np.full((len(interactions.scores), len(interactions.frame)), np.nan)
    for number, score in enumerate(interactions.scores):
        rows, place, (_, mean) = _rank(interactions, score, options)
        positions[number, rows] = mean[place]
    labels = pd.Index(list(interactions.scores), name="score", tupleize_cols=False)
    return pd.DataFrame(positions.T, index=interactions.frame.index, columns=labels, copy=False)


def top_table(interactions: Interactions, options: Options, k: int) -> pd.DataFrame:
    """Return the rows of the first k positions of every user in ranked order, with their rank."""
    (score,) = interactions.scores
    rows, place, ranks = _rank(interactions, score, options)
    first, mean = ranks[:, place]
    # The rows are grouped: order them by the rank of their user, then by their own.
    sorted_by = sort_users(interactions.groups)
    user_rank = np.empty(len(sorted_by), np.int64)
    user_rank[sorted_by] = np.arange(len(sorted_by))
    user = np.repeat(user_rank, np.diff(interactions.rankings(score).offsets))[place]
    kept = np.flatnonzero(first <= k)
    kept = kept[np.lexsort((rows[kept], first[kept], user[kept]))]
    return interactions.frame.iloc[rows[kept]].assign(rank=mean[kept])


def _rank(
    interactions: Interactions, score: Hashable, options: Options
) -> tuple[Array, Array, Array]:
    """Return the positions of ranked rows in the frame, their places, and what has those places.

    That is a first and a mean rank.
    """
    runs = split_users(interactions.rankings(score))
    ranks = in_threads(lambda run, _: rank_rows(run, options.tie_rule), runs)
    return *interactions.find_ranked(score), np.concatenate(ranks, axis=1)
