"""evaluate(): the order of the steps, and nothing but the order."""

import math
import os
from collections.abc import Hashable, Iterable, Iterator, Sequence

import pandas as pd

from recframe.errors import RecframeError
from recframe.files.budget import MEMORY, Report, check_limits
from recframe.files.paths import PathLike
from recframe.files.per_user import iter_tables
from recframe.files.user_ids import sort_table
from recframe.frames.columns import find_columns
from recframe.frames.per_user import per_user_table
from recframe.metrics.definitions import DEFAULT_METRICS
from recframe.metrics.names import parse_metrics
from recframe.options import INFER, Absent, Gain, Missing, Options, Short, Ties, TruthLike

PATHS = (str, os.PathLike, list, tuple)


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
    gain: Gain = "linear",
    min_score: float | None = None,
    truth: TruthLike | None = None,
    truth_user: Hashable = INFER,
    truth_item: Hashable = INFER,
    absent: Absent = "zero",
    memory: int | str = MEMORY,
    tmp: PathLike | None = None,
    progress: bool | Report = False,
) -> pd.DataFrame:
    """
    Return the metrics of every user, for each score column.

    A user's rows are ordered by a score column, highest first. With hits@c the relevant rows
    among the first c and R the relevant rows of the user, precision@k = hits@k / k,
    recall@k = hits@k / R and R-precision = hits@R / R. Further metrics are f1@k, hit_rate@k,
    capped_recall@k, auc, and with or without a cut-off reciprocal_rank, average_precision and
    ndcg; see Notes. The result depends on the values only, never on the order of rows.

    Parameters
    ----------
    frame : DataFrame, path, or list of paths
        One row for each user and item; or parquet files of any size that hold such rows: a file,
        a folder, a glob pattern, or a list of them. It is not modified.
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
        A user with n < k ranked rows, for every metric with a cut-off: an error; as if more rows
        followed, none relevant; the same, but min(k, n) for k in the denominators of precision
        and f1; NaN for that user and metric.
    missing : {"raise", "unranked", "drop"}, default "raise"
        A null score: an error; the row is not ranked, its relevance counts in R; or rows with a
        null in any column used are removed, for all scores alike.
    zero_division : {nan, 0.0, 1.0}, default nan
        The value where a denominator is 0: R = 0 in every metric but precision, which is 0 then;
        n = 0 in precision under ``short="shrink"``; in AUC also that all or none of the ranked
        rows are relevant, in nDCG that all gains are 0.
    min_relevance : float, default None
        Rows at or above it are relevant.
    gain : {"linear", "exponential"}, default "linear"
        What a relevant row adds to nDCG where `min_relevance` is given: its relevance, or
        2^relevance - 1. Without `min_relevance` it adds 1.
    min_score : float, default None
        Rows below it are not recommended: not ranked, their relevance counts in R.
    truth : DataFrame or path, default None
        The relevant items of every user, each pair of user and item once; or a parquet file that
        holds them, read whole. A row is relevant where its pair is in truth, R counts the items
        of truth whether the frame lists them or not, and users without any have R = 0. A
        relevance column of truth is read as `relevant` and `min_relevance` say, and without one
        every pair is relevant; the frame's own relevance is ignored.
    truth_user, truth_item : label, default "infer"
        The columns of ids in truth. "infer" takes the frame's labels where truth has them, and
        else looks for the names above. Ids are compared by value, whatever their dtypes.
    absent : {"zero", "drop"}, default "zero"
        A user for whom nothing is ranked, with truth: one of truth who has no row in the frame,
        or one without a score in that score column. "zero": an empty list, whatever `short` says:
        every metric is 0 (but `zero_division` where R = 0, except precision). "drop": users of
        truth without a row are left out, a user without a score is NaN.
    memory : int or str, default "1GiB"
        Bytes to work in, as a number or "512MiB"; for files only, as the two below. It bounds
        the rows held at a time, beside the libraries, the result and the rows of any one user.
    tmp : path, default None
        The folder of the temporary file that rows are parted in by user where they neither fit
        `memory` nor come in order of users. None: the system's.
    progress : bool or callable, default False
        True shows a bar; a function is called with (done, total) in rows.

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
        does not allow, a user has fewer than k ranked rows, or a file cannot be read. With truth:
        a pair of user and item is there twice, in the frame or in truth, the ids of the two are
        of different kinds (numbers and text), or no user is in both.

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

    Of the further metrics, f1@k = 2 hits@k / (k + R), hit_rate@k is 1 where hits@k > 0 and else
    0, capped_recall@k = hits@k / min(R, k), reciprocal_rank is 1 / the position of the first
    relevant row, average_precision the sum of the precisions at relevant rows / R, ndcg the sum
    of gain / log2(1 + position) / its highest possible value [2]_, and auc the chance that a
    relevant row outscores another, among ranked rows. With a cut-off, positions beyond k count
    for nothing. All are expectations over the orders of tied rows [1]_; "best" and "worst" also
    put higher gains first and last.

    References
    ----------
    .. [1] F. McSherry and M. Najork, "Computing information retrieval performance measures
       efficiently in the presence of tied scores", ECIR 2008.
    .. [2] K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques",
       ACM Transactions on Information Systems 20, 2002.

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
        gain=gain,
        min_score=min_score,
        truth=truth,
        truth_user=truth_user,
        truth_item=truth_item,
        absent=absent,
    )
    parsed = parse_metrics(metrics)
    if isinstance(frame, pd.DataFrame):
        if (memory, tmp, progress) != (MEMORY, None, False):
            raise RecframeError("memory, tmp and progress are for files, found a DataFrame")
        return per_user_table(frame, find_columns(frame, options), parsed, options)
    if not isinstance(frame, PATHS):
        raise RecframeError(
            f"frame must be a pandas DataFrame or the path of parquet files, found {type(frame)}"
        )
    tables = list(iter_tables(frame, parsed, options, check_limits(memory, tmp, progress)))
    return tables[0] if len(tables) == 1 else sort_table(pd.concat(tables))


def iter_evaluate(
    path: PathLike | Sequence[PathLike],
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
    gain: Gain = "linear",
    min_score: float | None = None,
    truth: TruthLike | None = None,
    truth_user: Hashable = INFER,
    truth_item: Hashable = INFER,
    absent: Absent = "zero",
    memory: int | str = MEMORY,
    tmp: PathLike | None = None,
    progress: bool | Report = False,
) -> Iterator[pd.DataFrame]:
    """
    Return an iterator over the metrics of every user of parquet files, block by block.

    For results that do not fit in memory: `evaluate` of the same files is these tables joined and
    sorted. Each user is in one table; within a table users are sorted.

    Parameters
    ----------
    path : path, or list of paths
        Parquet files, as in `evaluate`.
    metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
        Names of metrics, as "precision@4", "recall@4", "r_precision".
    user : label or None, default "infer"
        The column of user ids; None: all rows are one ranking.
    item : label, default "infer"
        The column of item ids.
    score : label or list of labels, default "infer"
        The score columns.
    relevant : label, default "infer"
        The column of relevance.
    ties : {"expected", "first", "last", "best", "worst"}, default "expected"
        The order of rows with equal scores; the order of rows is that of files and in them.
    short : {"raise", "pad", "shrink", "nan"}, default "raise"
        What a user with fewer than k ranked rows scores.
    missing : {"raise", "unranked", "drop"}, default "raise"
        What a null score means.
    zero_division : {nan, 0.0, 1.0}, default nan
        The value where a denominator is 0.
    min_relevance : float, default None
        Rows at or above it are relevant.
    gain : {"linear", "exponential"}, default "linear"
        What a relevant row adds to nDCG where `min_relevance` is given.
    min_score : float, default None
        Rows below it are not recommended.
    truth : DataFrame or path, default None
        The relevant items of every user; held whole.
    truth_user, truth_item : label, default "infer"
        The columns of ids in truth.
    absent : {"zero", "drop"}, default "zero"
        A user for whom nothing is ranked, with truth. Those without a row in any file come last.
    memory : int or str, default "1GiB"
        Bytes to work in, as a number or "512MiB".
    tmp : path, default None
        The folder of the temporary file, if one is needed.
    progress : bool or callable, default False
        True shows a bar; a function is called with (done, total) in rows.

    Returns
    -------
    iterator of DataFrame
        Tables as `evaluate` returns them, at least one. In order of users where the row groups
        are; then all tables together are sorted.

    Raises
    ------
    MissingColumnError
        A column is not there, or none could be inferred.
    RecframeError
        As in `evaluate`; what the data is refused for may come while iterating.

    See Also
    --------
    evaluate : One table of all users, and the options explained.

    Examples
    --------
    >>> import recframe
    >>> for table in recframe.iter_evaluate("examples/example.parquet", ["recall@4"]):
    ...     print(table.head(2))
    score  Random scores KNN scores
    metric      recall@4   recall@4
    object
    0           0.000000   0.307692
    1           0.190476   0.095238
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
        gain=gain,
        min_score=min_score,
        truth=truth,
        truth_user=truth_user,
        truth_item=truth_item,
        absent=absent,
    )
    if not isinstance(path, PATHS):
        raise RecframeError(f"path must be that of parquet files, found {type(path)}")
    limits = check_limits(memory, tmp, progress)
    return iter_tables(path, parse_metrics(metrics), options, limits)
