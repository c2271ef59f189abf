"""Rows in ranked order: the position of every row, and the first rows of every user."""

from collections.abc import Collection, Hashable
from dataclasses import replace

import numpy as np
import pandas as pd

from recframe.errors import RecframeError, quote
from recframe.frames.columns import Columns, find_columns
from recframe.frames.interactions import Interactions
from recframe.frames.names import is_same
from recframe.kernel.counting import find_positions
from recframe.kernel.grouping import invert
from recframe.kernel.threads import Array
from recframe.options import INFER, Options


def rank_options(options: Options) -> Options:
    """Return the options, without truth where neither the tie rule nor `unjudged` reads it."""
    reads_truth = options.tie_rule.reads_relevance or options.is_condensed
    if options.has_truth and not reads_truth:
        return replace(options, truth=None, relevant=INFER)  # which names a column of truth
    return options


def rank_columns(frame: pd.DataFrame, options: Options, call: str = "") -> Columns:
    """Return the label of each role; relevance only where the tie rule reads it."""
    return find_columns(frame, options, with_relevant=options.tie_rule.reads_relevance, call=call)


def top_columns(
    frame: pd.DataFrame, score: Hashable | None, options: Options, call: str = ""
) -> Columns:
    """Return the label of each role, with one score where it is named."""
    if score is not None:
        ascending = _ascending_of(frame, score, options)
        options = replace(options, score=score, ascending=ascending)
    columns = rank_columns(frame, options, call)
    for name in _added_names(columns.scores):
        if name in frame.columns:
            raise RecframeError(
                f"top adds a column {name!r}, which the frame has; rename that column"
            )
    return columns


def _added_names(scores: Collection[Hashable]) -> list[str]:
    """Return the names of the columns that `top` adds."""
    return ["rank"] if len(scores) == 1 else ["ranked_by", "rank"]


def _ascending_of(frame: pd.DataFrame, score: Hashable, options: Options) -> bool | None:
    """Return what `ascending` says of one score; a list says it of all the score columns."""
    if not isinstance(options.ascending, list):
        return options.ascending
    columns = rank_columns(frame, options)
    for label, is_ascending in zip(columns.scores, columns.ascending, strict=True):
        if is_same(label, score):
            return is_ascending
    raise RecframeError(
        f"ascending={quote(options.ascending)} is of the score columns {quote(columns.scores)}, "
        f"found score={quote(score)}; pass ascending=True or False"
    )


def rank_table(interactions: Interactions, options: Options) -> pd.DataFrame:
    """Return the position of every row in its user's ranking, for each score column."""
    positions = np.full((len(interactions.scores), len(interactions.frame)), np.nan)
    for number, score in enumerate(interactions.scores):
        rows, (_, mean, _) = _rank(interactions, score, options)
        positions[number, rows] = mean
    labels = pd.Index(list(interactions.scores), name="score", tupleize_cols=False)
    return pd.DataFrame(positions.T, index=interactions.frame.index, columns=labels, copy=False)


def list_ranks(interactions: Interactions, options: Options) -> pd.DataFrame:
    """Return the rank of every row by every score, in the columns that `top` adds."""
    ranks = rank_table(interactions, options)
    long = {score: ranks[score].rename("rank") for score in ranks.columns}
    return pd.DataFrame(pd.concat(long, names=["ranked_by"]).reset_index(level=0))


def top_table(interactions: Interactions, options: Options, k: int) -> pd.DataFrame:
    """Return the rows of the first k positions of every user in ranked order, with their rank.

    Of several scores a user's rows by the first come first, and a column has the score's label.
    """
    scores = list(interactions.scores)
    # The rows are ordered by the rank of their user, then by their own.
    user_rank = invert(interactions.users.sort())
    parts = []
    for number, score in enumerate(scores):
        rows, (first, mean, user) = _rank(interactions, score, options, k)
        parts.append((rows, first, np.full(len(rows), number), user_rank[user], mean))
    row, *keys, mean = map(np.concatenate, zip(*parts, strict=True))
    order = np.lexsort((row, *keys))
    top = interactions.frame.iloc[row[order]].copy()
    labels = pd.Index(scores, tupleize_cols=False).take(keys[1][order])
    # Of labels of several levels they have the first.
    lower = [""] * (top.columns.nlevels - 1)
    for name in _added_names(scores):
        values = mean[order] if name == "rank" else labels.array
        top[(name, *lower) if lower else name] = values
    return top


def _rank(
    interactions: Interactions, score: Hashable, options: Options, k: int | None = None
) -> tuple[Array, tuple[Array, Array, Array]]:
    """Return the rows of the frame that a score ranks, or those of the first k positions.

    With them, the first and the mean of the positions that each shares, and its user.
    """
    rankings = interactions.rankings(score, options)
    row, first, size, user = find_positions(rankings, options.tie_rule, k)
    rows, place = interactions.find_ranked(score)
    number = np.full(len(interactions.relevant), -1)
    number[row] = np.arange(len(row))
    found = number[place]
    rows, found = rows[found >= 0], found[found >= 0]
    first, size = first[found], size[found]
    return rows, (first, first + (size - 1) / 2, user[found])
