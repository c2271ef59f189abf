"""Frames from runs, which are dicts of scores, and from arrays with the rows of queries."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from recframe.errors import RecframeError, quote
from recframe.frames.constructors.rows import (
    as_numbers,
    check_size,
    make_rows_of_scores,
    read_array,
    read_id_list,
)
from recframe.frames.names import find_role
from recframe.kernel.threads import Array
from recframe.options import POSITIONS, ROLE_LABELS
from recframe.other_tables import frame_error
from recframe.public_calls import public


@public
def from_runs(runs: Mapping[Any, Any]) -> pd.DataFrame:
    """
    Return a DataFrame of runs: dicts of scores, such as pytrec_eval and ranx take.

    A query with an empty dict has no row in the frame.

    Parameters
    ----------
    runs : dict of {query : {doc : score}}, or dict of {name : run}
        One run, or several by name. Scores rank; the order of the dicts does not matter.

    Returns
    -------
    DataFrame
        Columns ``user``, ``item`` and ``score``, a row for each score of the run. Each of several
        runs has a column with its name in place of ``score``, null if it has not ranked the item;
        evaluate these with ``missing="unranked"``. The columns' axis is named "score", and
        ``attrs`` has the names, so that ``df.rec`` knows them. Columns that you add are no models.

    Raises
    ------
    RecframeError
        A query has no dict of scores, an id is null or -1, scores are not numbers, or the name of a
        run is None or that of a column of users, items or relevance.

    See Also
    --------
    truth_from : The relevant items, from qrels as a dict of dicts.
    read_run : A run from a TREC file.

    Examples
    --------
    >>> import recframe
    >>> bm25 = {"q1": {"d1": 14.2, "d2": 13.9}, "q2": {"d1": 11.5}}
    >>> recframe.from_runs(bm25)
      user item  score
    0   q1   d1   14.2
    1   q1   d2   13.9
    2   q2   d1   11.5
    >>> dense = {"q1": {"d2": 0.8, "d3": 0.7}, "q2": {"d1": 0.9}}
    >>> frame = recframe.from_runs({"bm25": bm25, "dense": dense})
    >>> frame
    score user item  bm25  dense
    0       q1   d1  14.2    NaN
    1       q1   d2  13.9    0.8
    2       q2   d1  11.5    0.9
    3       q1   d3   NaN    0.7
    >>> truth = recframe.truth_from({"q1": {"d1": 0, "d2": 1}, "q2": {"d1": 1}})
    >>> frame.rec(truth=truth, missing="unranked").mean("reciprocal_rank")
    metric  reciprocal_rank
    score
    bm25               0.75
    dense              1.00
    """
    given: Any = runs
    required = "a dict of {query: {doc: score}}"
    if not isinstance(given, Mapping):
        raise frame_error("runs", f"{required}, or of such runs by name", given)
    queries = (docs for run in runs.values() if isinstance(run, Mapping) for docs in run.values())
    if not any(isinstance(docs, Mapping) for docs in queries):
        return make_rows_of_scores("runs", "scores of runs", runs)
    frames = {}
    for name, run in runs.items():
        where = f"runs[{quote(name)}]"
        if not isinstance(run, Mapping):
            raise frame_error(where, required, run)
        frames[name] = make_rows_of_scores(where, f"scores of {where}", run)
    return join_runs("runs", frames)


@public
def from_groups(
    score: ArrayLike | Mapping[Any, ArrayLike],
    relevant: ArrayLike,
    *,
    sizes: ArrayLike | None = None,
    ids: ArrayLike | None = None,
) -> pd.DataFrame:
    """
    Return a DataFrame of arrays with a row for each candidate of each query.

    LightGBM, XGBoost and CatBoost take and predict such arrays: `relevant` are the labels, `sizes`
    the ``group`` of the first two, `ids` the ``qid`` of XGBoost or ``group_id`` of CatBoost.

    Parameters
    ----------
    score : array_like of shape (n_rows,), or dict of {name : array_like}
        The scores of a model, or of several by name.
    relevant : array_like of shape (n_rows,)
        The relevance of each row, as for `relevant` in `evaluate`; grades need `min_relevance`
        there.
    sizes : array_like of shape (n_queries,), default None
        The number of rows of each query, one query after another. The queries are the users 0 to
        n_queries - 1; a query of size 0 has no row.
    ids : array_like of shape (n_rows,), default None
        The query of each row, in any order. Either `sizes` or `ids` is needed.

    Returns
    -------
    DataFrame
        Columns ``user``, ``relevant``, and ``score``. Each of several models has a column with its
        name in place of ``score``; the columns' axis is named "score", and ``attrs`` has the
        names, so that ``df.rec`` knows them. Columns that you add are no models.

    Raises
    ------
    RecframeError
        Arrays differ in length, or Series in their index; sizes do not add up to it or are no
        sizes, both or neither of `sizes` and `ids` are given, scores are not numbers, an id is
        null, or a model is named None or like a column of users, items or relevance.

    See Also
    --------
    from_runs : The same for dicts of scores, with items.

    Examples
    --------
    >>> import recframe
    >>> frame = recframe.from_groups([0.9, 0.2, 0.4], [1, 0, 1], sizes=[2, 1])
    >>> frame
       user  relevant  score
    0     0         1    0.9
    1     0         0    0.2
    2     1         1    0.4
    >>> frame.rec.mean("reciprocal_rank")
    metric  reciprocal_rank
    score
    score               1.0
    >>> models = {"lgbm": [0.9, 0.2, 0.4], "xgb": [0.1, 0.3, 0.5]}
    >>> frame = recframe.from_groups(models, [1, 0, 1], ids=["q1", "q1", "q2"])
    >>> frame.rec.mean("reciprocal_rank")
    metric  reciprocal_rank
    score
    lgbm               1.00
    xgb                0.75
    """
    several = isinstance(score, Mapping)
    scores: Any = score if several else {"score": score}
    relevance = _read_rows("relevant", relevant)
    indexes = {
        name: of.index
        for name, of in {"relevant": relevant, "ids": ids, **scores}.items()
        if isinstance(of, pd.Series)
    }
    first = next(iter(indexes), None)
    if others := [name for name, index in indexes.items() if not index.equals(indexes[first])]:
        raise RecframeError(
            f"{quote(first)} and {quote(others[0])} are Series with different indexes. Pass Series "
            "with one index, or arrays (.to_numpy()) if their rows are in the same order."
        )
    columns = {}
    for name, values in scores.items():
        label = f"score[{quote(name)}]" if several else "score"
        columns[name] = as_numbers(label, _read_rows(label, values, len(relevance)))
    if several:
        _check_model_names("score", columns)
    if (sizes is None) == (ids is None):
        raise RecframeError(
            "one of sizes and ids must say which rows belong to a query, but "
            f"{'neither does' if ids is None else 'both do'}. Pass sizes= with the number of rows "
            "of each query, or ids= with the query of each row."
        )
    if ids is not None:
        user: Any = read_id_list("ids", ids, (len(relevance), "rows of relevant"))
    else:
        counts = as_numbers("sizes", _read_rows("sizes", sizes))
        is_size = (counts >= 0) & (counts < np.inf) & (counts == np.floor(counts))
        if wrong := counts[~is_size].tolist():
            raise RecframeError(f"sizes must be whole numbers from 0 on, but has {quote(wrong[0])}")
        if (total := int(counts.sum())) != len(relevance):
            raise RecframeError(
                f"sizes must add up to the rows of relevant, but add up to {total} for "
                f"{len(relevance)}. Pass np.diff(sizes) where these are offsets, such as group_ptr "
                "of XGBoost, or ids= where they are the query of each row."
            )
        user = np.arange(len(counts)).repeat(counts.astype(np.int64))
    frame = pd.DataFrame({"user": user, "relevant": relevance, **columns})
    if ids is None:
        frame.attrs[POSITIONS] = {"user": len(counts)}
    return _name_models(frame, list(columns)) if several else frame


def join_runs(
    argument: str,
    frames: Mapping[Any, pd.DataFrame],
    users: Sequence[Hashable] = ("user",),
    others: Sequence[Hashable] = (),
) -> pd.DataFrame:
    """Return the frames of runs as one frame, with a column of scores for each run.

    Of `others` each pair has the values of its first run.
    """
    _check_model_names(argument, frames)
    columns, keys = [], [*users, "item"]
    for frame in frames.values():
        scores = frame.set_index(keys)["score"]
        # Whole numbers stay whole next to nulls.
        columns.append(scores.astype("Int64") if scores.dtype.kind in "iu" else scores)
    names: pd.Index[Any] = pd.Index(list(frames), tupleize_cols=False)
    frame = pd.concat(columns, axis=1, sort=False).set_axis(names, axis=1).reset_index()
    if others:
        rest = pd.concat(frames.values())[[*keys, *others]].drop_duplicates(keys)
        frame = frame.merge(rest, on=keys, how="left")
    return _name_models(frame, list(frames))


def _name_models(frame: pd.DataFrame, models: list[Hashable]) -> pd.DataFrame:
    """Return a frame that remembers which of its columns are models."""
    frame.attrs[ROLE_LABELS] = {"score": models}
    return frame.rename_axis(columns="score")


def _check_model_names(argument: str, names: Mapping[Hashable, Any]) -> None:
    """Raise if a model has the name of a column with another role."""
    for name in names:
        if name is None or find_role(name) in ("user", "item", "relevant"):
            raise RecframeError(
                f"{argument} must not have the name of a column of users, items or relevance, nor "
                f"None, but has {quote(name)}. Rename it."
            )


def _read_rows(name: str, values: Any, n_rows: int | None = None) -> Array:
    """Return an array with a value for each row, `n_rows` if their number is known."""
    rows = read_array(name, values, "an array with a value for each row")
    if rows.ndim != 1:
        remedy = f". Pass np.ravel({name})." if max(rows.shape, default=0) == rows.size else ""
        raise RecframeError(f"{name} must have one dimension, but has shape {rows.shape}{remedy}")
    if n_rows is not None:
        check_size(name, rows, (n_rows, "rows of relevant"))
    return rows
