"""Rows in ranked order: positions of all rows, the first k of each user, one user's rankings."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from recframe.analysis.display import Inspection
from recframe.errors import RecframeError, as_text, count_of, quote
from recframe.frames.columns import Columns, find_columns
from recframe.frames.companions import Companions, judge_frame, read_block, read_companions
from recframe.frames.ids import ALL_USERS, check_dtype, sort_ids
from recframe.frames.interactions import Interactions, read_interactions
from recframe.frames.names import as_labels, check_label, get_column, is_same, shown
from recframe.frames.tables import mean_table, measure_table
from recframe.kernel.counting import find_positions
from recframe.kernel.grouping import invert, run_starts
from recframe.kernel.threads import Array
from recframe.metrics.names import Metric
from recframe.notes import note
from recframe.options import INFER, Models, Options, is_key

# The columns of the rows that `inspect` shows.
SHOWN_COLUMNS = ("", "position", "relevant", "item", "relevance", "grade", "score")
TOP_COLUMNS = ["ranked_by", "rank"]  # `top` adds these; for one score only the last
N_IDS_NAMED = 3  # known ids in the message about an unknown one


def rank_options(options: Options) -> Options:
    """Return the options, without truth if neither the tie rule nor `unjudged` reads it."""
    reads_truth = options.tie_rule.reads_relevance or options.is_condensed
    if options.has_truth and not reads_truth:
        return replace(options, truth=None, relevant=INFER)  # it names a column of truth
    return replace(options, population="rows")


def top_columns(
    frame: pd.DataFrame, score: Hashable | None, options: Options, call: str
) -> Columns:
    """Return the label of each role, with one score if it is named."""
    with_relevant = options.tie_rule.reads_relevance
    if score is not None and isinstance(options.model, Models):
        label, names = options.model
        if score not in names:
            raise RecframeError(
                f"score={quote(score)}: no such model; {quote(label)} has {shown(names)}"
            )
        options = replace(options, model=Models(label, [score]))
    elif score is not None:
        ascending: Any = options.ascending
        if isinstance(ascending, list):  # a value for each score column
            scores = find_columns(frame, options, with_relevant=with_relevant).scores
            pairs = zip(scores, ascending, strict=True)
            of_score = [is_low for label, is_low in pairs if is_same(label, score)]
            if not of_score:
                raise RecframeError(
                    f"ascending={quote(ascending)} is for the score columns {quote(scores)}, "
                    f"not score={quote(score)}. Pass ascending=True or False."
                )
            ascending = of_score[0]
        options = replace(options, score=score, ascending=ascending)
    columns = find_columns(frame, options, with_relevant=with_relevant, call=call)
    for name in TOP_COLUMNS if len(columns.scores) > 1 else TOP_COLUMNS[1:]:
        if name in frame.columns:
            raise RecframeError(
                f"top adds a column {name!r}, which the frame has. Rename that column, with "
                f"df = df.rename(columns={{{name!r}: 'frame_{name}'}})."
            )
    return columns


def rank_table(interactions: Interactions, options: Options) -> pd.DataFrame:
    """Return the position of every row in its user's ranking, for each score column."""
    positions = np.full((len(interactions.scores), len(interactions.frame)), np.nan)
    for number, score in enumerate(interactions.scores):
        rows, _, _, mean = _rank_positions(interactions, score, options)
        positions[number, rows] = mean
    labels = pd.Index(list(interactions.scores), name="score", tupleize_cols=False)
    return pd.DataFrame(positions.T, index=interactions.frame.index, columns=labels, copy=False)


def list_ranks(interactions: Interactions, options: Options) -> pd.DataFrame:
    """Return the rank of every row by every score, in the columns of `top`."""
    ranks = rank_table(interactions, options)
    return ranks.melt(var_name="ranked_by", value_name="rank", ignore_index=False)


def top_table(interactions: Interactions, options: Options, k: int) -> pd.DataFrame:
    """Return the rows at the first k positions of every user by every score, in ranked order."""
    scores = list(interactions.scores)
    # Rows are sorted by the place of their user, then by their own rank.
    user_rank = invert(sort_ids(interactions.users.ids))
    parts = []
    for number, score in enumerate(scores):
        rows, user, first, mean = _rank_positions(interactions, score, options, k)
        parts.append((rows, first, np.full(len(rows), number), user_rank[user], mean))
        note(lists_longer_for_ties=int(np.count_nonzero(np.bincount(user) > k)))
    row, *keys, mean = map(np.concatenate, zip(*parts, strict=True))
    order = np.lexsort((row, *keys))
    top = interactions.frame.iloc[row[order]].copy()
    labels = pd.Index(scores, tupleize_cols=False).take(keys[1][order])
    # With labels of several levels the names are those of the first level.
    lower = [""] * (top.columns.nlevels - 1)
    for name in TOP_COLUMNS if len(scores) > 1 else TOP_COLUMNS[1:]:
        values = mean[order] if name == "rank" else labels.array
        top[(name, *lower) if lower else name] = values
    return top


def _rank_positions(
    interactions: Interactions, score: Hashable, options: Options, k: int | None = None
) -> tuple[Array, Array, Array, Array]:
    """Return the rows that a score ranks, or those among the first k, with their positions.

    The arrays are the rows, the user of each, and the first and the mean of the positions that a
    row shares with its equals.
    """
    rankings = interactions.rankings(score, options)
    row, first, size, user = find_positions(rankings, options.tie_rule, k)
    rows, place = interactions.find_ranked(score)
    number = np.full(len(interactions.relevant), -1)
    number[row] = np.arange(len(row))
    number = number[place]
    rows, number = rows[number >= 0], number[number >= 0]
    first, size = first[number], size[number]
    return rows, user[number], first, first + (size - 1) / 2


def check_shown(frame: pd.DataFrame, label: Any) -> list[Hashable]:
    """Return the labels of columns to show next to items; raise if one cannot be shown."""
    labels = as_labels(label)
    if labels:
        check_label(frame, "label", *labels)
    for one in labels:
        if as_text(one) in SHOWN_COLUMNS:
            raise RecframeError(
                f"label={quote(one)}: the rows have a column of that name. Rename it."
            )
    return labels


def inspect_user(
    frame: pd.DataFrame,
    user: Hashable,
    k: int,
    options: Options,
    *,
    is_all: bool = True,
    labels: Sequence[Hashable] = (),
    metrics: list[Metric],
) -> Inspection:
    """Return the ranking of one user by each score column, with these metrics."""
    columns, grades, per_user = find_columns(frame, options, with_item=True), None, None
    features = find_columns(frame, options, with_item=True, metrics=metrics).features
    columns = columns._replace(features=features)
    rows, companions = frame[is_user(frame, user, columns)], read_companions(columns, options)
    # The number left out by `exclude` alone: truth may add rows or leave others out.
    of_exclude = companions._replace(judgments=None)
    n_excluded = len(rows) - len(of_exclude.find_candidates(rows, columns, options)[0])
    removing = ["exclude"] * (options.exclude is not None) + ["unjudged"] * options.is_condensed
    if options.has_truth:
        options = replace(options, population="all")  # the user is shown, whoever has rows
        per_user = _measure_judged(rows, user, companions, columns, options, metrics)
        frame = frame.reset_index([one for one in labels if one in frame.index.names])
        # Items of truth that the user's list lacks are added as rows that are not ranked.
        frame, grades = judge_frame(frame, options, is_all=is_all)
        roles: dict[str, Any] = {"truth": None, "relevant": "relevant", "min_relevance": None}
        options = replace(options, missing="unranked", unjudged="nonrelevant", **roles)
        columns = find_columns(frame, options, with_item=True)
    else:
        frame, _ = companions.find_candidates(frame, columns, options, is_all=is_all)
    are_shown = is_user(frame, user, columns)
    if removing and len(rows) and not are_shown.any():
        removed = f"{count_of(len(rows), 'row')} is left by {' and '.join(removing)}"
        raise RecframeError(f"user={quote(user)}: none of {removed}")
    if columns.users and not are_shown.any():
        raise _unknown_user(frame, user, columns)
    frame, grades = frame[are_shown], None if grades is None else grades[are_shown]
    interactions = read_interactions(frame, columns, options)
    if len(interactions.find_rows()[0]) == 0:
        dropped = "every row holds a null, and missing='drop' removes it"
        why = dropped if len(frame) else "the frame has no row"
        raise RecframeError(f"user={quote(user)}: {why}")
    if per_user is None:
        per_user = measure_table(interactions, options, metrics)
    ids = [f"{as_text(label)} {as_text(one)}" for label, one in split_user(user, columns).items()]
    tables = _ranked_rows(interactions, options, grades, labels)
    title = ", ".join(ids) or as_text(user)
    return Inspection(title, k, mean_table(per_user), tables, n_excluded, labels)


def _measure_judged(
    rows: pd.DataFrame,
    user: Hashable,
    companions: Companions,
    columns: Columns,
    options: Options,
    metrics: list[Metric],
) -> pd.DataFrame:
    """Return the metrics of one user's rows, judged by truth and its grades."""
    candidates, _ = companions.find_candidates(rows, columns, options)
    companions = companions._replace(are_partitioned=candidates.empty)  # True adds absent users.
    block = read_block(rows, companions, columns, options, is_all=False)
    per_user = measure_table(block.interactions, options, metrics)
    ids = per_user.index.to_frame(index=False)
    ids.columns = pd.Index(columns.users or ids.columns, tupleize_cols=False)
    return per_user[is_user(ids, user, columns)]


def split_user(user: Hashable, columns: Columns) -> dict[Hashable, Hashable]:
    """Return a user's id in each user column; raise if no user can have it."""
    labels = columns.users
    if not labels and not is_same(user, ALL_USERS):
        raise RecframeError(
            f"user={quote(user)}: with user=None there is one ranking, {ALL_USERS!r}"
        )
    if not is_key(user):
        raise RecframeError(
            f"user must be one id of the column {quote(columns.user)}, but is {quote(user)}"
        )
    if len(labels) < 2:
        return dict.fromkeys(labels, user)
    if not isinstance(user, tuple) or len(user) != len(labels):
        raise RecframeError(
            f"user must be a tuple of an id of each of {quote(labels)}, but is {quote(user)}"
        )
    return dict(zip(labels, user, strict=True))


def is_user(frame: pd.DataFrame, user: Hashable, columns: Columns) -> Array:
    """Return which rows are the user's."""
    are_rows = np.ones(len(frame), bool)
    for label, user_id in split_user(user, columns).items():
        ids = get_column(frame, label)
        check_dtype(ids, "user")
        is_flag = isinstance(user_id, bool | np.bool_) and ids.dtype.kind in "iuf"  # 1 equals True
        try:
            are_rows &= ids.isin([] if is_flag else [user_id]).to_numpy(bool)
        except TypeError:  # pandas cannot compare ids with it
            are_rows[:] = False
    return are_rows


def _unknown_user(frame: pd.DataFrame, user: Hashable, columns: Columns) -> RecframeError:
    """Return the error for a user without rows; it names some users with rows."""
    cells = {n: get_column(frame, label).array for n, label in enumerate(columns.users)}
    some = pd.DataFrame(cells).dropna().drop_duplicates().head(N_IDS_NAMED)
    ids = [one if len(one) > 1 else one[0] for one in some.itertuples(index=False, name=None)]
    column = "columns" if len(cells) > 1 else "column"
    examples = ", ".join(map(quote, ids)) or "(there is none)"
    known = f"ids of the {column} {quote(columns.user)} are such as {examples}"
    if is_same(user, ALL_USERS):
        return RecframeError(f"user must be given, because one is shown; {known}")
    return RecframeError(f"user={quote(user)}: no row has that id; {known}")


def _ranked_rows(
    interactions: Interactions,
    options: Options,
    grades: pd.Series | None,
    labels: Sequence[Hashable],
) -> dict[Hashable, pd.DataFrame]:
    """Return the rows in the order of each score with their positions, unranked rows last."""
    frame, columns = interactions.frame, interactions.columns
    rows, place = interactions.find_rows()
    relevant = np.zeros(len(frame), bool)
    relevant[rows] = interactions.relevant[place]
    # Arrays, because the column of an index level has another index.
    shown: dict[Hashable, Any] = {"position": None, "relevant": relevant}
    roles = {"item": columns.item, "relevance": columns.relevant if grades is None else None}
    for role, label in roles.items():
        if label is not None:
            # With its dtype: pandas might convert objects to text.
            column = get_column(frame, label)
            shown[role] = pd.Series(column.array, frame.index, dtype=column.dtype)
        if role == "item":
            shown.update((one, get_column(frame, one).array) for one in labels)
    if grades is not None:
        shown["grade"] = grades.array
    positions = rank_table(interactions, options).to_numpy()
    tables = {}
    for score, position in zip(columns.scores, positions.T, strict=True):
        scores, listed = get_column(frame, columns.column_of(score)), rows
        if columns.model is not None:  # a pair of another model has one row, without a score
            scores = scores.where(~np.isnan(position))
            in_order = np.lexsort((np.isnan(position[rows]), place))
            listed = rows[in_order[run_starts(place[in_order])]]
        cells = shown | {"position": position, "score": scores.array}
        table = pd.DataFrame(cells, index=frame.index)
        tables[score] = table.iloc[np.sort(listed)].sort_values("position", kind="stable")
    return tables
