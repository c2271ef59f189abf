"""The judged frame: rows with the relevance that truth gives them, and the items not listed."""

import numpy as np
import pandas as pd

from recframe.errors import RecframeError
from recframe.frames.columns import Columns, find_columns
from recframe.frames.interactions import read_interactions
from recframe.frames.judgments import Judgments, Matches, read_judgments
from recframe.frames.names import is_same
from recframe.frames.overlap import append
from recframe.frames.truth import Judge, judge_rows, open_candidates
from recframe.kernel.threads import Array
from recframe.options import Options


def judge_frame(
    frame: pd.DataFrame, options: Options, *, is_all: bool = True
) -> tuple[pd.DataFrame, pd.Series | None]:
    """Return the judged frame, and the grade of each row where truth has grades, null for others.

    Where it is not all there is, truth need not be of its users.
    """
    if not options.has_truth:
        raise RecframeError("truth: judge needs it; pass the frame of relevant items")
    columns = find_columns(frame, options, call="df.rec")
    judge = Judge(read_judgments(columns, options), options)
    frame = open_candidates(columns, options, judge).among(frame, is_all=is_all)
    interactions = read_interactions(frame, columns, options)
    judgments, matches = judge.judgments, judge.find(interactions, is_all=is_all)
    added = _find_added(judgments, matches, options)

    rows, place = interactions.find_rows()
    kept = frame if len(rows) == len(frame) else frame.iloc[rows]
    ids = (*columns.users, columns.item)
    in_index = [name for name in ids if name in frame.index.names]
    kept = kept.reset_index([name for name in in_index if name is not None])
    judged = [
        _extend(kept.iloc[:, position], columns, judgments, added)
        for position, name in enumerate(kept.columns)
        if not is_same(name, "relevant")
    ]
    flags = judge_rows(interactions, judgments, matches).relevant[place]
    judged.append(pd.Series(np.append(flags, judgments.relevant[added]), name="relevant"))
    if judgments.find_grades is None:
        return pd.concat(judged, axis=1), None
    pair = np.full(len(interactions.relevant), -1)
    pair[matches.row] = matches.pair
    grades = _take(judgments.find_grades(), np.append(pair[place], added))
    return pd.concat(judged, axis=1), grades


def _take(column: pd.Series, rows: Array) -> pd.Series:
    """Return rows of a column in its own dtype, or what it is with nulls; null for other rows."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        # These hold no null, and as floats large integers would lose digits.
        column = column.astype(pd.array(np.empty(0, column.dtype)).dtype)
    return column.reset_index(drop=True).reindex(rows).reset_index(drop=True)


def _find_added(judgments: Judgments, matches: Matches, options: Options) -> Array:
    """Return the pairs that judging adds as rows: relevant items not listed, and absent users.

    Those of a user stand together.
    """
    is_unlisted, is_absent = ~matches.are_listed(), matches.user < 0
    user = judgments.pairs.users.groups.codes
    if options.absent == "drop":
        added = np.flatnonzero(is_unlisted & judgments.relevant & ~is_absent)
    else:
        # No user of truth is lost: who has neither a row nor a relevant item keeps what truth says.
        has_none = ~np.isin(user, user[judgments.relevant])
        added = np.flatnonzero(is_unlisted & (judgments.relevant | (is_absent & has_none)))
    return added[np.argsort(user[added], kind="stable")]


def _extend(column: pd.Series, columns: Columns, judgments: Judgments, added: Array) -> pd.Series:
    """Return a column with a cell for each pair added, null where it holds no id."""
    if len(added) == 0:
        return column.reset_index(drop=True)
    if is_same(column.name, columns.item):
        return pd.Series(append(pd.Index(column), judgments.pairs.item.take(added)))
    for number, label in enumerate(columns.users):
        if is_same(column.name, label):
            ids, codes = judgments.pairs.users.ids, judgments.pairs.users.groups.codes
            return pd.Series(append(pd.Index(column), ids.get_level_values(number)[codes[added]]))
    return _take(column, np.arange(len(column) + len(added)))
