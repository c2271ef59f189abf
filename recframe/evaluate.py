"""evaluate(): the order of the steps, and nothing but the order."""

import math
import os
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import pandas as pd

from recframe.columns import Columns, find_columns
from recframe.errors import RecframeError
from recframe.frames import check_lengths, read_interactions, to_table
from recframe.kernel import Array, Rankings, count, map_chunks
from recframe.metrics import DEFAULT_METRICS, Metric, measure, parse_metrics
from recframe.options import INFER, Missing, Options, Short, Ties
from recframe.parquet import PathLike, read_frame


def evaluate(
    frame: pd.DataFrame | PathLike | Sequence[PathLike],
    metrics: str | Iterable[str] = DEFAULT_METRICS,
    *,
    user: Hashable | None = INFER,
    item: Hashable = INFER,
    score: Hashable | list[Hashable] = INFER,
    relevant: Hashable = INFER,
    ties: Ties = "expected",
    short: Short = "raise",
    missing: Missing = "raise",
    zero_division: float = math.nan,
    min_relevance: float | None = None,
    min_score: float | None = None,
) -> pd.DataFrame:
    """
    Return the metrics of every user, for each score column.

    A user's rows are ordered by a score column, highest first. With hits@c the relevant rows
    among the first c and R the relevant rows of the user, precision@k = hits@k / k,
    recall@k = hits@k / R and R-precision = hits@R / R. The result depends on the values only,
    never on the order of rows.

    Parameters
    ----------
    frame : DataFrame, path, or list of paths
        One row for each user and item; or parquet files that hold such rows: a file, a folder, a
        glob pattern, or a list of them. It is not modified.
    metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
        Names of metrics, as "precision@4", "recall@4", "r_precision".
    user : label or None, default "infer"
        The column of user ids; index levels count as columns. None: the whole frame is one
        ranking, labelled "all". "infer" looks for user, userid, object, objectid, query, queryid
        or qid; here and below case, spaces and underscores are ignored.
    item : label, default "infer"
        The column of item ids: item, itemid, doc, docid or docno.
    score : label or list of labels, default "infer"
        The score columns, each ranked by itself. "infer" takes all that are named score, scores,
        prediction, predictions or pred, and all numeric ones whose name ends in the word score
        or scores.
    relevant : label, default "infer"
        The column of relevance, boolean or 0/1 unless `min_relevance` is given: relevant,
        relevance, target or label.
    ties : {"expected", "first", "last", "best", "worst"}, default "expected"
        Rows of equal score: the exact expectation over all their orders; row order; reverse row
        order; relevant rows first; relevant rows last.
    short : {"raise", "pad", "shrink", "nan"}, default "raise"
        A user with n < k ranked rows, for precision@k and recall@k: an error; divide by k all the
        same; divide precision by min(k, n); NaN for that user and metric.
    missing : {"raise", "unranked", "drop"}, default "raise"
        A null score: an error; the row is not ranked, its relevance counts in R; or rows with a
        null in any column used are removed, for all scores alike.
    zero_division : {nan, 0.0, 1.0}, default nan
        The value where a denominator is 0: R = 0 in recall and R-precision, n = 0 in precision
        under ``short="shrink"``. The precision of a user with R = 0 is 0, not this.
    min_relevance : float, default None
        Rows at or above it are relevant.
    min_score : float, default None
        Rows below it are not recommended: not ranked, their relevance counts in R.

    Returns
    -------
    DataFrame
        Index: the users, sorted, named as the user column. Columns: a MultiIndex (score, metric).
        Values in [0, 1], NaN where undefined.

    Raises
    ------
    MissingColumnError
        A column is not there, or none could be inferred.
    RecframeError
        An option or metric is unknown, a column is ambiguous, has nulls or holds what its role
        does not allow, a user has fewer than k ranked rows, or a file cannot be read.

    See Also
    --------
    recframe.metrics.precision_at_k : Precision of one ranking given as arrays.
    recframe.metrics.recall_at_k : Recall of one ranking given as arrays.
    recframe.metrics.r_precision : R-precision of one ranking given as arrays.

    Notes
    -----
    The definitions are trec_eval's. Under ``ties="expected"`` the tie group across the cut c adds
    (c - above) * relevant / size, where `above` counts the rows before the group [1]_. Hits are
    counted in integers and divided once.

    References
    ----------
    .. [1] F. McSherry and M. Najork, "Computing information retrieval performance measures
       efficiently in the presence of tied scores", ECIR 2008.

    Examples
    --------
    >>> import pandas as pd
    >>> import recframe
    >>> frame = pd.DataFrame(
    ...     {
    ...         "user": ["ann", "ann", "ann", "bob", "bob", "bob"],
    ...         "score": [0.9, 0.8, 0.1, 0.7, 0.2, 0.2],
    ...         "relevant": [1, 0, 1, 0, 1, 0],
    ...     }
    ... )
    >>> recframe.evaluate(frame, ["precision@2", "recall@2"])
    score        score
    metric precision@2 recall@2
    user
    ann           0.50      0.5
    bob           0.25      0.5
    """
    options = Options(
        user=user,
        item=item,
        score=score,
        relevant=relevant,
        ties=ties,
        short=short,
        missing=missing,
        zero_division=zero_division,
        min_relevance=min_relevance,
        min_score=min_score,
    )
    parsed = parse_metrics(metrics)
    if isinstance(frame, pd.DataFrame):
        columns = find_columns(frame, options)
    elif isinstance(frame, str | os.PathLike | list | tuple):
        frame, columns = read_frame(frame, options)
    else:
        raise RecframeError(
            f"frame must be a pandas DataFrame or the path of parquet files, found {type(frame)}"
        )
    return per_user_table(frame, columns, parsed, options)


def per_user_table(
    frame: pd.DataFrame, columns: Columns, metrics: list[Metric], options: Options
) -> pd.DataFrame:
    """Return the metrics of every user; the arguments have been checked."""
    interactions = read_interactions(frame, columns, options)
    values = {}
    for score in columns.scores:
        rankings = interactions.rankings(score)
        if options.short == "raise":
            check_lengths(rankings, interactions.groups.users, score, metrics)
        values[score] = measure_all(rankings, metrics, options)
    return to_table(values, interactions.groups.users, [metric.label for metric in metrics])


def measure_all(rankings: Rankings, metrics: list[Metric], options: Options) -> Array:
    """Return the metrics of every user, an array of shape (n_metrics, n_users)."""

    def measure_chunk(chunk: Rankings) -> Array:
        return measure(count(chunk, options.ties), metrics, options.policy)

    return np.concatenate(map_chunks(measure_chunk, rankings), axis=1)
