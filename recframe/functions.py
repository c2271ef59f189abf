"""The public functions: evaluate with all options, scan, and functions of per-user tables."""

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from inspect import unwrap
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import pandas as pd

import recframe  # tools that resolve the annotation of `scan` look its class up here
from recframe.accessor import RecAccessor
from recframe.analysis.compare import (
    Comparison,
    Correction,
    Test,
    compare_table,
    make_comparison,
    trust,
)
from recframe.analysis.display import with_notes
from recframe.analysis.gate import Sides, find_verdict
from recframe.analysis.plans import plan_table
from recframe.analysis.resampling import Interval, OfDifferences
from recframe.analysis.segments import By, MakeWeighted, apply_by_segment, segment_table
from recframe.analysis.summary import summary_table
from recframe.analysis.trusted import check_users_known, read_people
from recframe.analysis.verdict import Gate, make_gate
from recframe.errors import RecframeError, WrongTypeError, as_text, find_near, quote
from recframe.files.limits import MEMORY, Report, check_limits
from recframe.frames.names import is_infer
from recframe.frames.questions import ask_all, write
from recframe.frames.tables import name_figures
from recframe.frames.user_values import check_per_user, find_units
from recframe.metrics.definitions import DEFAULT_METRICS
from recframe.notes import list_notes, taking_notes
from recframe.options import INFER, MADE, OptionArguments, make_options, spell_options
from recframe.other_tables import (
    RELATION,
    TABLE_OR,
    Filters,
    PathLike,
    Source,
    TableLike,
    frame_error,
    is_instance,
    is_path,
    is_source,
    is_table,
)
from recframe.public_calls import public

if TYPE_CHECKING:
    import recframe.scanned


# The function `evaluate` asks all open questions itself.
evaluate_rows: Callable[..., pd.DataFrame] = unwrap(RecAccessor.evaluate)


@spell_options
@partial(public, ask=ask_all)
def evaluate(
    frame: TableLike | PathLike | Sequence[PathLike],
    metrics: str | Iterable[str] = DEFAULT_METRICS,
    *,
    memory: int | str = MEMORY,
    tmp: PathLike | None = None,
    progress: bool | Report = False,
    **options: Unpack[OptionArguments],
) -> pd.DataFrame:
    """
    Return the metrics of each user, for each score column.

    A user's rows are ordered by a score column, highest first (with `ascending` lowest). The
    metrics are those of `recframe.RecAccessor`'s methods, which define them. The result depends
    on the values only. The order of rows matters only if you ask for it with `ties` "first" or
    "last", or `duplicates` "first".

    Parameters
    ----------
    frame : DataFrame, Arrow table, path, or list of paths
        One row for each user and item, in a DataFrame or another table that Arrow's protocol reads
        (of Polars, PyArrow, DuckDB, Ibis), which counts as pandas would read it; or files of any
        size, or another source: see `scan`. It is not modified.
    metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
        Names of metrics, such as "precision@4" or "r_precision"; or "mean(price)@10", the
        mean of the column price over the first 10 rows (see Notes). Names are case-insensitive.
        Aliases are P, R, hr and success with a cut-off, and mrr, RR, Rprec and map without one.
        Labels keep your spelling. "map@10" has two meanings and is refused, unless `like` names
        the library.
    memory : int or str, default "1GiB"
        The working memory in bytes, a number or a text such as "512MiB"; only for files, like `tmp`
        and `progress`. It bounds the rows held at a time, and parquet files of truth and exclude.
        It does not include the libraries, the result, a page of each column and the rows of any one
        user. A file whose footer does not fit in it is refused.
    tmp : path, default None
        The folder of the temporary file that groups rows by user if they neither fit in
        `memory` nor come in order of users. None: the system's default.
    progress : bool or callable, default False
        True shows a bar; a function is called with (done, total) in rows.
    user : label, list of labels, or None, default "infer"
        The column of user ids; index levels count as columns. A list such as ["date", "user"]: each
        combination of their values is one ranking, and the index of users is a MultiIndex (for one
        column a plain index, as in ``DataFrame.groupby``); a tuple is one label.
        None: the frame is one ranking, labelled "all". "infer" looks for user, query,
        customer, member, visitor, question, topic, object, session or request, each with or
        without id, uid, qid, accountid, clientid, personid, profileid, reviewerid, impressionid,
        useridx, userindex, useruuid or userinput;
        here and below case, spaces, underscores, hyphens and dots are ignored, and query_id is
        taken if there is query too. If several columns could be the user, such as session and user,
        you are asked which of them has the rankings. If names leave it open, the column whose label
        `truth` has too is taken; in pandas frames also the one column of text whose values are ids
        of the other frame (9 of 10 are, and no other column has any). The same holds for items.
    item : label, default "infer"
        The column of item ids: item, doc, document, product, movie, track, song, article, video,
        book, passage, chunk or candidate, each with or without id, items, iid, docno, corpusid,
        sku, asin, isbn, newsid, recipeid, gameid, listingid, businessid, contentid, postid,
        itemidx, itemindex or itemuuid.
    score : label or list of labels, default "infer"
        The score columns, each ranked by itself. "infer" takes all that are named score, scores,
        prediction, predictions, pred, ypred, yscore, similarity, sim, est, similarities or
        predictedrating, and all numeric ones whose last word is score, scores or similarity, or
        whose first is score (not score_rank, n_scores and others that describe a score). Columns of
        lists are ignored. Without these, the only one named prob, proba, probability, predproba,
        ypredproba, predictproba, predictedprobability, predicted, yhat, logit, logits, bm25,
        cosinesim, dotproduct, innerproduct, affinity, predrating, ratingpred, estimatedrating or
        pctr is, if no other column without a role has fractions (prices may), and under
        ascending=True the only one whose name says that lower is better. If one of several may not
        be a model, such as credit_score, or if there is a prediction and a probability, you must
        name the score columns. Scores, relevance and columns of means are numbers of any dtype,
        decimals (of at most 15 digits, or integers of 64 bits) or categories of them.
    ascending : bool, list of bool, or None, default None
        True ranks the lowest score first, as for distances and ranks; a list has an entry for
        each score column. None is False, but refuses a score column whose name says that
        lower is better, as rank, pos, position, distance, dist, loss, error and cost do.
    relevant : label or None, default "infer"
        The column of relevance, boolean or 0/1 unless `min_relevance` is given: relevant,
        relevance, isrelevant, rel, isrel, qrel, judgment, judgement, label, target, groundtruth,
        ytrue, grade, rating, rui (Surprise's true rating), click, clicked, isclick, isclicked,
        purchase, purchased, ispurchase, ispurchased, buy, bought, isbuy, isbought, booked,
        isbooked, conversion, converted, isconverted, like, liked, islike, isliked, follow,
        followed, isfollow or addtocart. None: every pair of `truth` is relevant.
    model : label or None, default "infer"
        The column that names the model of each row, where each model has its own rows. Each
        model becomes a score column of the result. A user and item must have one relevance; R
        counts the relevant items in the rows of all models, or of `truth`. "infer" refuses a
        column without another role that is named model, run, system, retriever, algorithm or
        variant and varies within a user's rows. None: no column tells rankings apart.
    ties : {"expected", "first", "last", "best", "worst", "item"}, default "expected"
        The order of rows with equal scores:

        * "expected": the mean over all their orders, computed exactly.
        * "first": row order.
        * "last": reverse row order.
        * "best": relevant rows first.
        * "worst": relevant rows last.
        * "item": by item id as text, in descending order ("9" before "10", "b" before "a"), as in
          trec_eval.
    short : {"raise", "pad", "shrink", "nan"}, default "raise"
        A user with n < k ranked rows, in a metric with a cut-off:

        * "raise": refuse.
        * "pad": divide by k, as if more rows followed that are not relevant.
        * "shrink": the same, but with min(k, n) in place of k in the denominators of precision, f1,
          judged, and means and diversity of a column.
        * "nan": NaN for that user and metric.
    missing : {"raise", "unranked", "drop"}, default "raise"
        A row whose score is null or -inf, a mask (inf if the lowest is best):

        * "raise": refuse.
        * "unranked": leave the row out of the ranking, but count it in R.
        * "drop": remove rows with a null in any used column, for all scores.
    duplicates : {"raise", "max", "first", "keep"}, default "raise"
        Rows that repeat a user and item, if the frame has an item column:

        * "raise": refuse.
        * "max": make them one row, in place of the first, with the best score in each column and
          the highest relevance.
        * "first": take the first row.
        * "keep": count every row.
    zero_division : {nan, 0.0, 1.0}, default nan
        The value if the denominator of a metric is 0. precision, dcg, rbp and err never have
        one that depends on R: they are 0 if R = 0.

        ===============================  ============================  =======================
        metric                           denominator                   when it is 0
        ===============================  ============================  =======================
        ndcg                             the ideal DCG                 no gain above 0
        precision, judged, mean(COLUMN)  min(k, n), under              no ranked row
                                         ``short="shrink"``
        fall_out                         rows that are not relevant    all rows relevant
        auc                              pairs of a relevant row and   all or no rows relevant
                                         another
        share(COLUMN)                    the sum of the column         all values are 0
        diversity(COLUMN)                pairs of min(k, n) rows,      fewer than two rows
                                         under ``short="shrink"``
        all others                       R, or a number that is 0      no relevant item
                                         with R
        ===============================  ============================  =======================
    min_relevance : float, default None
        Rows at or above it are relevant. nDCG, DCG and ERR alone need none for grades from 0 to 10,
        unless `gain` is "binary". Here and below a column of floats is compared with the
        nearest float of its own precision: 0.7 means float32's 0.7 for a float32 column. Integers
        are compared exactly.
    trusted_min_relevance : float, default None
        The same for labels of people, which `df.rec.summary`, `compare`, `report` and `describe`
        take as `trusted`. None: those are boolean or 0/1.
    null_relevance : {"raise", "nonrelevant"}, default "raise"
        A null in the column of relevance, also in that of `truth`:

        * "raise": refuse.
        * "nonrelevant": count it as not relevant, like an item that was not rated.
    gain : {"linear", "exponential", "binary"}, default "linear"
        The gain of a row in nDCG, DCG and ERR under `min_relevance`:

        * "linear": its relevance, also below the threshold.
        * "exponential": 2^relevance - 1, also below the threshold.
        * "binary": 1 from the threshold on.
    min_score : float, default None
        Rows below it are not recommended: they are not ranked, but their relevance counts in R.
        -inf ranks all rows, those of -inf last. Not with `ascending` True. None: every row is
        recommended; but a lowest score that rows of several users share is refused as a mask if it
        is below -100 and 1,000 times further from the others than their range.
    truth : DataFrame, Arrow table or path, default None
        The relevant items of each user. Large files in parquet are read like those of `frame`,
        others in full: see `memory`. A row is
        relevant if its pair is in truth. R counts the items of truth, in the frame or not. A
        relevance column in truth is read by `relevant` and `min_relevance`, and then each pair must
        be there once. Without one every pair is relevant, and repeated pairs count once. The
        frame's relevance column is ignored. A column of 2 to 20 distinct numbers, not named like
        times, may be relevance by another name: truth is refused until you set `relevant`.
    truth_user, truth_item : label, default "infer"
        The columns of ids in truth. "infer" takes the frame's labels if truth has them, and
        otherwise looks for the names above. If the frame has several user columns, truth must have
        each, or you list as many. Ids are compared by value, whatever their dtypes. If rows and
        truth both have a column of days, and a user of truth has several days, truth is refused
        until you set `truth_user`. Of several columns of lists in truth that may hold ids,
        `truth_item` names the one of relevant items.
    population : {"raise", "both", "truth", "rows", "all"}, default "raise"
        With `truth`: which users the table has if the users of frame and truth differ:

        * "raise": refuse, with the counts of both.
        * "both": users of both.
        * "truth": users of truth. One without a row has an empty list, whatever `short` says: every
          metric is 0, or `zero_division` if R = 0 (but not precision, dcg, rbp, err and judged).
          A mean or diversity of a column is NaN under ``short="shrink"`` and "nan", and a share
          `zero_division`.
        * "rows": users of the frame, with R = 0 if truth lacks them.
        * "all": all users.

        A user of the frame has a row left after `exclude`, ``missing="drop"`` and
        ``unjudged="drop"``; a user of truth has any row there, relevant or not. All score columns
        share one population: a user whom one of them leaves unranked has an empty list in it.
    exclude : DataFrame, Arrow table or path, default None
        Pairs of user and item that are no candidates, such as those seen in training or a query's
        own document. Files of them are read like those of `truth`. All rows of such a pair leave
        the frame before anything is ranked or counted. `truth` stays as it is, so R counts its
        items, excluded or not. Its columns of ids have the frame's labels or the names above; if
        the frame has several user columns, it must have their labels. Other columns are ignored.
        Ids are compared as those of truth. A user all of whose rows are excluded has no row. An
        empty frame excludes nothing.
    unjudged : {"nonrelevant", "drop"}, default "nonrelevant"
        A row whose pair is not in `truth`, with any relevance:

        * "nonrelevant": rank it as not relevant.
        * "drop": leave it out before anything is ranked or counted, which makes condensed lists
          (T. Sakai, "Alternatives to bpref", SIGIR 2007). A user left without rows counts as a user
          that only truth has. Requires `truth`.
    like : str, default None
        A library whose conventions the other options follow: "trec_eval", "ir_measures", "ranx",
        "RecTools", "RePlay", "Recommenders", "LensKit", "torchmetrics", "scikit-learn",
        "evidently", "RecBole", "Spark", "implicit" or "Kaggle". Options that you pass win. A metric
        that the library defines differently is refused, with the metric that has its definition, if
        there is one:
        https://github.com/recframe/recframe/blob/main/examples/guide/conventions.md.

    Returns
    -------
    DataFrame
        Index: the users, sorted, named as the user column. Columns: a MultiIndex (score, metric).
        Values in [0, 1], except for `dcg`, means of columns and diversity of
        vectors, which reaches 2; NaN where undefined.

    Raises
    ------
    MissingColumnError
        A column is not there, or none could be inferred.
    RepeatedPairError
        Rows repeat the user and item of another, and `duplicates` is "raise".
    RecframeError
        A metric is unknown, an option has a value it does not take, a column is ambiguous, has
        nulls or holds what its role does not allow, a user has fewer than k ranked rows, or a file
        cannot be read. Ids of one column, or of the frame and truth, are of different kinds, such
        as numbers and text, or are floats that may have been rounded. With truth: it has a column
        of relevance and a pair twice, no user is in both, or no item is and ids look written in
        two ways. With exclude: no user, or no item of several users' lists, is in both.

    See Also
    --------
    recframe.RecAccessor : A method for each metric, and methods that describe per-user tables.
    recframe.metrics : Functions for one ranking given as arrays.

    Notes
    -----
    Definitions follow trec_eval. Hits are counted in integers and divided once. Under
    ``ties="expected"`` every metric is its expectation over the orders of tied rows (F. McSherry
    and M. Najork, "Computing information retrieval performance measures efficiently in the
    presence of tied scores", ECIR 2008); "best" and "worst" also put higher gains first and last.

    ``mean(COLUMN)@k`` is the mean of a numeric column over the first k rows, in expectation under
    ties; a boolean counts as 0 or 1. It needs no relevance, but under ``ties="best"`` and "worst",
    which put relevant rows first and last here too. The name of the column is in single or
    double quotes, with those inside doubled, where it has brackets, commas, quotes, @ or =. Rows
    that are not there add 0; ``short="shrink"`` divides by the length of the list, and an empty
    list has no mean. A null in the column
    is refused; ``missing="drop"`` removes its row, "unranked" allows it where no score ranks the
    row. Rows that ``duplicates="max"`` makes one must have one value.

    ``share(COLUMN)@k`` is the column's sum over the first k rows, divided by its sum over all rows
    of the user, ranked or not. No value may be negative or, even where no score ranks the row,
    null. Items of truth without a row have no value. Users whose values sum to 0 have none, or
    that of `zero_division`. If lists are cut at k, every share is 1, and a note says so.

    ``diversity(COLUMN)@k`` is the share of pairs among the first k rows whose values differ, for
    text, integers, booleans and other categories, but no floats. For lists of numbers, all of one
    length, it is 1 - the mean cosine of pairs, in [0, 2]. Text such as "A|B" is one category, and
    "B|A" another: for several labels in a cell pass vectors of 0 and 1, one number for each label.
    k must be 2 or more. Pairs with a row that is not there add 0; under ``short="shrink"`` only the
    pairs of the list count, and a user without a pair has no
    value. Lists may be cells of pandas or Arrow's lists; Dask needs Arrow's.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> rows = {"score": [0.9, 0.8, 0.1, 0.7, 0.2, 0.2], "relevant": [1, 0, 1, 0, 1, 0]}
    >>> frame = pd.DataFrame({"user": ["ann"] * 3 + ["bob"] * 3, **rows})
    >>> recframe.evaluate(frame, ["precision@2", "recall@2"])
    score        score
    metric precision@2 recall@2
    user
    ann           0.50      0.5
    bob           0.25      0.5

    With a test set, relevant items that are not in a list count in recall:

    >>> lists = recframe.from_lists({"ann": ["tea", "jam"], "bob": ["fig", "tea"]})
    >>> test = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["jam", "rye", "fig"]})
    >>> recframe.evaluate(lists, "recall@2", truth=test)
    score     score
    metric recall@2
    user
    ann         0.5
    bob         1.0
    """
    checked = make_options(options)
    is_frame = isinstance(frame, pd.DataFrame)
    is_read_whole = not is_source(frame) or is_instance(frame, *RELATION)
    if is_frame or (is_table("frame", frame) and is_read_whole):
        has_limits = tmp is not None or progress is not False
        if has_limits or not isinstance(memory, str) or memory != MEMORY:
            shown = "a DataFrame" if is_frame else "a table"
            raise RecframeError(f"memory, tmp and progress are for files, not {shown}")
        accessor = RecAccessor(frame)  # type: ignore[arg-type]  # the tests above leave only tables
        accessor._call = ""  # messages of a function name no accessor
        return evaluate_rows(accessor._bind(checked), metrics)
    _check_paths("frame", f"{TABLE_OR}the path of files", frame)
    from recframe.scanned import scan_source  # frames do not need this import, here and below

    limits = check_limits(memory, tmp, progress)
    return evaluate_rows(scan_source("frame", frame, checked, limits), metrics)


@spell_options
@public
def iter_evaluate(
    path: Source,
    metrics: str | Iterable[str] = DEFAULT_METRICS,
    *,
    memory: int | str = MEMORY,
    tmp: PathLike | None = None,
    progress: bool | Report = False,
    **options: Unpack[OptionArguments],
) -> Iterator[pd.DataFrame]:
    """
    Return an iterator over the metrics of each user of files, block by block.

    Use it if the result does not fit in memory: `evaluate` joins and sorts these tables.

    Parameters
    ----------
    path : path, or list of paths
        Files, as in `evaluate`.
    metrics, memory, tmp, progress : str or iterable of str, int or str, path, bool or callable
        As in `evaluate`.
    **options
        Those of `evaluate`.

    Returns
    -------
    iterator of DataFrame
        Tables as `evaluate` returns them, at least one. Each user is in one of them. They are
        sorted if the row groups come in order of users, unless truth is partitioned by user.

    Raises
    ------
    MissingColumnError
        A column is not there, or none could be inferred.
    RecframeError
        As in `evaluate`; data may also be refused while iterating.

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
    _check_paths("path", "that of files", path)
    from recframe.scanned import scan_source

    limits = check_limits(memory, tmp, progress)
    return scan_source("path", path, make_options(options), limits).iter_evaluate(metrics)


@spell_options
@public
def scan(
    source: Source,
    memory: int | str = MEMORY,
    tmp: PathLike | None = None,
    progress: bool | Report = False,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
    filters: Filters | None = None,
    union_by_name: bool = False,
    lists: Hashable | list[Hashable] = INFER,
    sep: str | None = None,
    names: Sequence[str] | None = None,
    **options: Unpack[OptionArguments],
) -> "recframe.scanned.ScannedRecAccessor":
    """
    Return the methods of ``df.rec`` for files of any size, except `rank`, `top` and `judge`.

    Each call reads the columns that it needs block by block, within `memory`. Results equal those
    of one frame of all rows, bit for bit.

    Parameters
    ----------
    source : path, list of paths, Dataset, RecordBatchReader, DeltaTable, or relation of DuckDB
        Files of one format with one row for each user and item: a file, a folder, a glob
        pattern, or a list of these; or the folder of a Delta table. Names that begin with _ or .
        are left out. The ending gives the format: .csv, .tsv, .jsonl, .ndjson and .json (JSON
        lines; these also with .gz, .bz2, .zst), .feather, .arrow and .ipc, otherwise parquet. Also
        a dataset or reader of pyarrow (a reader serves one call), a table of deltalake at its
        version, or a relation of DuckDB, whose query runs at each call. Files are listed once,
        here. A path may be a URI such as ``s3://bucket/runs``: pyarrow opens s3, gs, abfs and hdfs
        with the credentials of the environment, fsspec opens https and others (``pip install
        'recframe[cloud]'``).
    memory, tmp, progress : int or str, path, bool or callable
        As in `evaluate`. ``progress=True`` also shows how many segments `summary` and `compare`
        have done.
    storage_options : dict, default None
        Options for fsspec, as in pandas: ``{"key": …, "secret": …}`` for s3. They open URIs of
        `truth` and `exclude` too. No message shows them.
    filesystem : filesystem of pyarrow or fsspec, default None
        The filesystem of all paths, also of `truth` and `exclude`. Not with `storage_options`.
    filters : list of tuple, list of lists of tuple, or Expression, default None
        Which rows to read, as in ``pd.read_parquet``: tuples (column, operator, value) with ==,
        !=, <, <=, >, >=, in or not in, which must all hold; lists of such tuples, of which one
        must hold; or an expression of pyarrow. Other rows, and rows with a null there, are
        ignored. Files and row groups that cannot match, by their folders' names or their
        statistics, are not read. A text stands for a date or time if the column holds these.
        Text in the files is before or after a date as times are; dates in another form, such as
        31.12.2026, are refused there.
    union_by_name : bool, default False
        Whether a column that only some files have is null in the others, as in DuckDB; `missing`
        may allow these nulls. All files are opened here for that. Otherwise a file without a
        column that is used is refused.
    lists : label, list of labels, or None, default "infer"
        The columns of lists whose members become rows, as in `from_lists`; several are equally long
        in each row. Fields of members keep their names. "infer" takes a column of lists if no other
        column is named as an item or a score. None: no list becomes rows.
    sep : str, default None
        The separator of lists that are text, also in `truth` and `exclude`, as in `from_lists`.
    names : list of str, default None
        The names of the columns of csv or tsv without a header, as in ``pd.read_csv``.
    **options
        Those of `evaluate`.

    Returns
    -------
    ScannedRecAccessor
        The accessor, bound to the options. Call it with other options to bind those. It displays
        how it understands the files, and how it will read them.

    Raises
    ------
    RecframeError
        A file does not exist, or an argument or option has a value that it does not take.

    See Also
    --------
    evaluate : One call for one table, with all options explained.

    Notes
    -----
    Columns of csv get the types that ``pd.read_csv`` gives them for all rows of all files: whole
    numbers, floats, booleans, otherwise text; an empty cell is null. Digits that a number would
    lose stay text: ids with leading zeros ("007"), with more digits than 64 bits hold, or written
    in several ways ("1.10", "1e5"). In JSON lines a column has values of one type. Relevance may be
    true and false in one file, 0 and 1 in another. Files without a footer are first written to a
    temporary file (in `tmp`), as parquet of the columns that a call needs.

    Examples
    --------
    >>> import recframe
    >>> recframe.scan("examples/example.parquet", score="KNN scores")
    recframe.scan(source): 300 rows in 1 file, 1 row group
      user      inferred   'object'
      item      inferred   'item'
      score     given      'KNN scores'
      relevant  inferred   'relevant'
      read      whole      in one piece
    Try .describe(k=10), .mean(['precision@10', 'recall@10']), .inspect(user)
    >>> runs = recframe.scan("examples/example.parquet")
    >>> runs.mean(["recall@4", "r_precision"])
    metric         recall@4  r_precision
    score
    Random scores  0.117027     0.496026
    KNN scores     0.226328     0.758140
    >>> recframe.scan("examples/example.parquet", filters=[("object", "<", 3)]).recall(k=4)
    recall@4  Random scores  KNN scores
    object
    0              0.000000    0.307692
    1              0.190476    0.095238
    2              0.062500    0.250000
    """
    _check_paths("source", "the path of files", source)
    if not isinstance(union_by_name, bool):
        raise RecframeError(f"union_by_name must be True or False, but is {quote(union_by_name)}")
    from recframe.scanned import scan_source
    from recframe.stores import check_access

    limits, access = check_limits(memory, tmp, progress), check_access(storage_options, filesystem)
    arguments = {"tmp": tmp, "storage_options": storage_options, "filesystem": filesystem}
    arguments |= {"filters": filters, "union_by_name": union_by_name or None}
    arguments |= {"memory": None if memory == MEMORY else memory}
    arguments |= {"lists": None if is_infer(lists) else lists, "sep": sep, "names": names}
    accessor = scan_source(
        "source",
        source,
        make_options(options),
        limits,
        access,
        filters,
        "recframe.scan(source)",
        union_by_name=union_by_name,
        lists=lists,
        sep=sep,
        names=names,
    )
    others = [f", {name}={write(name, one)}" for name, one in arguments.items() if one is not None]
    accessor._written = f"recframe.scan({write('source', source)}{''.join(others)})"
    return accessor


def _check_paths(name: str, required: str, value: Any) -> None:
    """Raise unless a value is a path, a list of paths, or another source of rows."""
    paths = value if isinstance(value, list | tuple) else [value]
    if is_source(value) or all(map(is_path, paths)):
        return
    if isinstance(value, pd.DataFrame) or is_table(name, value):
        raise RecframeError(
            f"{name} must be {required}, but is a table in memory. Pass it to recframe.rec, "
            "which gives it the same methods."
        )
    raise frame_error(name, required, value)


@public
def read_per_user(path: PathLike | Sequence[PathLike]) -> pd.DataFrame:
    """
    Return the values of each user from files that ``recframe evaluate --per-user`` wrote.

    Several files are joined by user, so that their models can be compared. The tables of `evaluate`
    are read too, as pandas, Polars and Spark write them in parquet.

    Parameters
    ----------
    path : path, or list of paths
        A file, folder, pattern or URI of .parquet or .csv, with one or more columns of users under
        any name, then ``score`` and one column for each metric; before the score, ``weights`` may
        weigh users. The files of a folder are one table. In csv, ids are whole numbers if all of
        them are, unless another file has text ids; otherwise they are text.

    Returns
    -------
    DataFrame
        As `evaluate` returns it: the index holds the users, sorted, with a level for each of
        several columns; the columns are (score, metric). If several files have a score, such as
        two runs of one model on two nights, it is renamed to the file's name; with other scores
        in the file, to both, such as "tuesday: knn". Values are NaN for a user or metric that a
        file lacks. Weights are the last level of the index, those of the last file that has the
        user: pass ``weights="weights"`` to `summary` or `compare`.

    Raises
    ------
    RecframeError
        A file cannot be read, is no such table, repeats a user and score, or shares no user with
        another file; or only some files have weights.

    See Also
    --------
    summary : The means of such a table, with their intervals.
    compare : The differences between its scores.

    Notes
    -----
    In parquet, the values have checksums, which are verified. The footer has none: a bit that flips
    there may change the name or type of a column, or the number of rows. Files of csv have none.

    Examples
    --------
    >>> import pandas as pd, recframe, tempfile
    >>> rows = {"user": [1, 2], "score": ["knn", "knn"], "recall@4": [0.5, 1.0]}
    >>> path = tempfile.mkdtemp() + "/tuesday.csv"
    >>> pd.DataFrame(rows).to_csv(path, index=False)
    >>> recframe.read_per_user(path)
    score       knn
    metric recall@4
    user
    1           0.5
    2           1.0
    """
    from recframe.files.per_user_tables import read_joined  # frames do not need this import

    return read_joined(path)


@public
def save_per_user(
    per_user: pd.DataFrame,
    path: PathLike,
    options: Mapping[str, Any] | None = None,
    weights: pd.Series | None = None,
    unit: Hashable | None = INFER,
) -> None:
    """
    Write the values of every user to a file, as ``recframe evaluate --per-user`` does.

    The file appears whole or not at all. `read_per_user` returns the same values from it, bit for
    bit, and ``recframe compare`` takes it.

    Parameters
    ----------
    per_user : DataFrame
        A table as `summary` takes it, with text as scores. Segments may be levels of its index, and
        weights the last one, named ``weights``. Tables of Polars and Spark have methods for this:
        ``per_user.write_parquet(path)`` and ``per_user.write.parquet(path)``.
    path : path
        The file, .parquet or .csv, here or in a store. It must not be the file of `truth` or
        `exclude`, nor one that they name.
    options : dict, default None
        The options of the call that made the table: ``{"ties": "worst"}`` if that was
        ``df.rec(ties="worst").evaluate(metrics)``, ``{}`` if it had none. A parquet file records
        them and the version, so that the gate of ``recframe compare`` refuses a comparison with
        values by other options. None: the file says nothing about them, and the gate notes that. A
        DataFrame is not asked, since pandas keeps its attributes when values change.
    weights : Series, default None
        The weight of each user, 0 or more, indexed by user; the file records its name, as that of
        ``--weights``. None: those in the index, if any.
    unit : label or None, default "infer"
        As in `summary`: ``recframe compare`` takes it if both files have it. It needs several
        levels of users.

    Returns
    -------
    None
        The file is written.

    Raises
    ------
    RecframeError
        The table holds no values of users, a null user, or scores other than text; the path has
        another ending, is an input or cannot be written; or an argument has a wrong value.

    See Also
    --------
    read_per_user : Read the file.
    flat : Means by name, for experiment trackers.

    Notes
    -----
    A level of users without a name becomes ``user``. In csv, ids come back as `read_per_user` says,
    and options are not recorded.

    Examples
    --------
    >>> import pandas as pd, recframe, tempfile
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> path = tempfile.mkdtemp() + "/tuesday.parquet"
    >>> recframe.save_per_user(df.rec(ties="worst").recall(k=1), path, {"ties": "worst"})
    >>> recframe.read_per_user(path)
    score     score
    metric recall@1
    user
    1           0.0
    2           1.0
    """
    from recframe.files.per_user_tables import save_table

    if not isinstance(options, Mapping | None):
        raise frame_error("options", "a dict of the options that made the table", options)
    table = check_per_user(per_user)
    find_units(table.index, None if is_infer(unit) else unit)
    unit = unit if table.index.nlevels > 1 else None
    if weights is not None:
        of_users: Any = segment_table(table, None, weights).weights
        table = table.set_index(of_users.rename("weights"), append=True)
    save_table(table, path, options, unit, None if weights is None else as_text(weights.name))


@public
def summary(
    per_user: pd.DataFrame | Mapping[Any, pd.DataFrame] | Sequence[pd.DataFrame],
    confidence: float | pd.DataFrame = 0.95,
    n_resamples: int = 9_999,
    seed: int = 0,
    interval: Interval = "auto",
    by: By | None = None,
    weights: pd.Series | Hashable | None = None,
    unit: Hashable | None = INFER,
    trusted: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """
    Return the means of an existing per-user table, with their confidence intervals.

    `df.rec.summary` does the same for the table that `df.rec.evaluate` returns.

    Parameters
    ----------
    per_user : DataFrame, or a dict or list of them
        A row for each user, in the index; columns (score, metric), as `evaluate` and
        `read_per_user` return them, or the scores of one metric, as `df.rec.recall` does. The names
        of two levels, or names of metrics in one of them, tell which is which, so the result of
        ``long.pivot(index="user", columns="score")`` is one too. Several tables are joined by
        user: keys of a dict, or the outer level of ``pd.concat(dict, axis=1)``, name their scores.
    confidence, n_resamples, seed, interval : float, int, int, str
        As in `df.rec.summary`. https://github.com/recframe/recframe/blob/main/examples/guide/compare.md
        explains the intervals.
    by, weights : Series, label, or list of them, default None
        As in `df.rec.mean`: Series with the table's own index, or one named as its users; or index
        levels.
    unit : label or None, default "infer"
        As in `df.rec.summary`, one of several levels of users.
    trusted : DataFrame, default None
        People's values of some of the users, drawn at random, in the same scores and metrics;
        `per_user` then holds those of a judge, as in `df.rec.summary`. A user whom it lacks is not
        judged by people; a null is a user whom they judged, without a value.

    Returns
    -------
    DataFrame
        As in `df.rec.summary`; NaN where the table lacks a metric of a score.

    Raises
    ------
    RecframeError
        The table holds no values of users, or a number is out of its range.

    See Also
    --------
    compare : The differences between its scores.
    read_per_user : Read saved tables.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> recframe.summary(df.rec.recall(k=1))
                    mean       low      high  n_users      interval  standard_error
    score metric
    score recall@1   0.5  0.094531  0.905469        2  Wilson score             0.5
    """
    if isinstance(confidence, pd.DataFrame):  # a second table
        tables: Any = [per_user, confidence]
        per_user, confidence = tables, 0.95
    draws = confidence, n_resamples, seed, interval
    how = make_comparison(*draws, intervals=Interval, unit=unit)
    return _tabulate(summary_table, how, per_user, 1, by, weights, trusted)


@public
def compare(
    per_user: pd.DataFrame | Mapping[Any, pd.DataFrame] | Sequence[pd.DataFrame],
    baseline: Hashable | list[Hashable] | pd.DataFrame | None = None,
    test: Test = "permutation",
    correction: Correction | None = "holm",
    confidence: float = 0.95,
    n_resamples: int = 9_999,
    seed: int = 0,
    interval: OfDifferences = "auto",
    by: By | None = None,
    weights: pd.Series | Hashable | None = None,
    unit: Hashable | None = INFER,
    trusted: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """
    Return how the scores of an existing per-user table differ from a baseline.

    `df.rec.compare` does the same for the table that `df.rec.evaluate` returns; it explains the
    columns.

    Parameters
    ----------
    per_user : DataFrame, or a dict or list of them
        A row for each user, in the index; columns (score, metric), as `evaluate` and
        `read_per_user` return them, or the scores of one metric, as `df.rec.recall` does. The names
        of two levels, or names of metrics in one of them, tell which is which, so the result of
        ``long.pivot(index="user", columns="score")`` is one too. Several tables are joined by
        user: keys of a dict, or the outer level of ``pd.concat(dict, axis=1)``, name their scores.
    baseline, test, correction : label or list of labels, str, str or None
        As in `df.rec.compare`. ``compare(old, new)`` of two tables is ``compare([old, new])``.
    confidence, n_resamples, seed, interval : float, int, int, str
        As in `df.rec.compare`. https://github.com/recframe/recframe/blob/main/examples/guide/compare.md
        explains the intervals.
    by, weights : Series, label, or list of them, default None
        As in `df.rec.mean`: Series with the table's own index, or one named as its users; or index
        levels.
    unit : label or None, default "infer"
        As in `df.rec.summary`, one of several levels of users.
    trusted : DataFrame, default None
        People's values of some of the users, drawn at random, in the same scores and metrics;
        `per_user` then holds those of a judge, as in `df.rec.summary`. A user whom it lacks is not
        judged by people; a null is a user whom they judged, without a value.

    Returns
    -------
    DataFrame
        As in `df.rec.compare`.

    Raises
    ------
    RecframeError
        The table holds no values of users or fewer than two scores, the baseline is none of these,
        or an argument is out of its range.
    ImportError
        The test or the correction needs SciPy, the extra ``stats``.

    See Also
    --------
    users_needed : How many users a difference needs.
    read_per_user : Read saved tables.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> per_user = pd.DataFrame({"old": [0.0, 0.5, 0.5], "new": [0.5, 0.5, 1.0]})
    >>> recframe.compare(per_user)[["difference", "p_value", "relative"]]
    baseline: old  difference  p_value  relative
    score metric
    new   value      0.333333      0.5       1.0
    """
    if isinstance(baseline, pd.DataFrame):  # a second table, compared with the first
        tables: Any = [per_user, baseline]
        per_user, baseline = tables, None
    draws = confidence, n_resamples, seed, interval
    how = make_comparison(*draws, test, correction, weights=weights, unit=unit)
    make_table = partial(compare_table, baseline=baseline)
    return _tabulate(make_table, how, per_user, 2, by, weights, trusted)


def _tabulate(
    make_table: MakeWeighted,
    how: Comparison,
    per_user: Any,
    n_scores: int,
    by: Any,
    weights: Any,
    trusted: Any,
) -> pd.DataFrame:
    """Return the table that `make_table` makes of each segment of users, with notes."""
    with taking_notes() as facts:
        by_judge = check_per_user(per_user, n_scores)
        how = trust(how, _read_trusted_table(trusted, by_judge))
        segmented = segment_table(by_judge, by, weights)
        table = apply_by_segment(segmented, partial(make_table, how=how))
    return with_notes(table, list_notes(facts))


class GateStatistics(TypedDict, total=False):
    """Arguments of `compare` that `gate` takes too."""

    test: Test
    correction: Correction | None
    confidence: float
    n_resamples: int
    seed: int
    interval: OfDifferences
    weights: pd.Series | Hashable | None
    unit: Hashable | None


@public
def gate(
    old: pd.DataFrame | PathLike,
    new: pd.DataFrame | PathLike,
    max_drop: float | Mapping[str, float] | None = None,
    non_inferior: float | Mapping[str, float] | None = None,
    at_least: float | Mapping[str, float] | None = None,
    metrics: str | list[str] | None = None,
    min_users: float = 0.95,
    allow_missing: bool = False,
    lower_is_better: Sequence[str] = (),
    higher_is_better: Sequence[str] = (),
    by: By | None = None,
    trusted: pd.DataFrame | PathLike | Sequence[pd.DataFrame | PathLike] | None = None,
    **statistics: Unpack[GateStatistics],
) -> Gate:
    """
    Return whether a new table of users passes limits, compared with an old one.

    ``recframe compare`` is this function. It compares every score of the new table with the score
    of the same name in the old one, or the only score of each.

    Parameters
    ----------
    old, new : DataFrame or path
        Tables with a row for each user, as `summary` takes them; or files, as `read_per_user` reads
        them, which also tell the options that made them: files of other options are refused. Tables
        of `evaluate` remember theirs, and other options are noted.
    max_drop : float or dict, default None
        A metric fails if its mean fell by more and the interval of the difference excludes 0, which
        is clear evidence of a loss. A dict has a limit for each metric, "others" for those it does
        not name: ``{"recall@10": 0.005, "others": 0.01}``.
    non_inferior : float or dict, default None
        A metric fails unless the interval rules out a fall of so much or more. Not with `max_drop`.
    at_least : float or dict, default None
        A metric fails if the mean of all new users with a value is below.
    metrics : str or list of str, default None
        The metrics to compare; None: those that both tables have.
    min_users : float, default 0.95
        The share of the old users with a value that need one in both tables, from 0 to 1.
    allow_missing : bool, default False
        Whether users, segments, scores and metrics of the old table may be missing in the new one.
    lower_is_better, higher_is_better : sequence of str, default ()
        Metrics with a direction that only you know, such as means of a column.
    by : Series, label, or list of them, default None
        Segments of users, each judged by itself, as in `summary`.
    trusted : DataFrame or path, or a list of one for each table, default None
        People's values of some users, as in `compare`: one table if the scores have other names in
        both, or a table for old and one for new.
    **statistics
        Those of `compare`: test, correction, confidence, n_resamples, seed, interval, weights and
        unit.

    Returns
    -------
    Gate
        ``passed`` and ``reasons``, ``table`` with old and new means, and ``to_markdown()``, a
        comment for a pull request.

    Raises
    ------
    RecframeError
        The tables share nothing, a limit is one that no fall could reach, or names no metric that
        is compared, or an argument is out of its range.

    See Also
    --------
    compare : The differences, with all columns.
    read_per_user : Read saved tables.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> old = pd.DataFrame({"als": [0.25, 0.5, 0.75, 1.0] * 10}).rename_axis(columns="recall@10")
    >>> recframe.gate(old, 0.8 * old, max_drop=0.05)
    Failed
    - recall@10 of 'als' fell by 0.125, more than 0.05 (95% interval -0.1431 to -0.1069)
                       old  new  difference       low      high  n_users  passed
    score metric
    als   recall@10  0.625  0.5      -0.125 -0.143106 -0.106894       40   False
    """
    limits: dict[str, Any] = {
        "max_drop": max_drop,
        "non_inferior": non_inferior,
        "at_least": at_least,
        "min_users": min_users,
        "allow_missing": allow_missing,
        "lower_is_better": lower_is_better,
        "higher_is_better": higher_is_better,
    }
    for name in statistics.keys() - GateStatistics.__annotations__.keys():
        near = find_near(name, limits)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise WrongTypeError(f"gate() got an unexpected keyword argument {name!r}{hint}")
    how = make_comparison(**statistics)
    is_one = isinstance(trusted, pd.DataFrame) or is_path(trusted)
    given: Any = [] if trusted is None else [trusted] if is_one else trusted
    people = [read_per_user(one) if is_path(one) else one for one in given]
    sides = _read_sides(old, new, statistics.get("weights"))
    return make_gate(find_verdict(sides, limits, how, metrics=metrics, by=by, trusted=people))


def _read_sides(old: Any, new: Any, weights: Any) -> Sides:
    """Return two tables of users, with the options of those that are files."""
    names = [os.fspath(one) if is_path(one) else name for one, name in ((old, "old"), (new, "new"))]
    if is_path(old) and is_path(new):
        from recframe.files.per_user_tables import (  # frames do not need this import
            join_weights,
            read_saved,
        )

        saved = read_saved(names)
        weights = join_weights(saved, names) if weights is None else weights
        return Sides([one.table for one in saved], names, [one.made for one in saved], weights)
    tables = [read_per_user(one) if is_path(one) else one for one in (old, new)]
    made = [dict(getattr(one, "attrs", {}).get(MADE, {})) for one in tables]
    return Sides(tables, names, made if all(made) else None, weights, are_files=False)


@public
def users_needed(
    per_user: pd.DataFrame,
    difference: float,
    baseline: Hashable | list[Hashable] | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    unit: Hashable | None = INFER,
    trusted: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """
    Return how many users a comparison needs to show a difference.

    It assumes that the differences of future users deviate as much as those of the users at hand.

    Parameters
    ----------
    per_user : DataFrame
        A row for each user, as `compare` takes it.
    difference : float
        The true difference of the means to detect, above 0; below 1 if a metric is at most 1.
    baseline : label, list of labels, or "all", default None
        The score to compare with, as in `compare`.
    power : float, default 0.8
        The probability of detecting it, in (0.5, 1).
    alpha : float, default 0.05
        The p-value below which a two-sided test detects it, in (0, 0.5). To correct for m rows,
        pass alpha / m.
    unit : label or None, default "infer"
        As in `df.rec.summary`, one of several levels of users. The
        result counts these, each with as many rankings as those at hand.
    trusted : DataFrame, default None
        People's values of some of the users, as in `compare`. The result then counts the users whom
        people must judge, if a judge has values of all users at hand.

    Returns
    -------
    DataFrame
        The index is that of `compare`. Columns: n_needed, null if users' differences do not
        deviate; n_users at hand; the standard deviation of their differences; and the smallest
        difference detectable with them. With `trusted`: n_needed, users whom people must judge,
        null if all users at hand are too few; n_more, those whom they have not judged yet;
        n_trusted; n_users; the standard deviation of what the judge does not explain; and
        detectable.

    Raises
    ------
    RecframeError
        The table holds no values of users, or a number is out of its range.

    See Also
    --------
    compare : The differences, and the smallest detectable one.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> per_user = pd.DataFrame({"old": [0.0, 0.5, 0.5], "new": [0.5, 0.5, 1.0]})
    >>> recframe.users_needed(per_user, difference=0.1)
    baseline: old  n_needed  n_users  deviation  detectable
    score metric
    new   value          68        3   0.288675    0.893885
    """
    by_judge = check_per_user(per_user, 2)
    people = _read_trusted_table(trusted, by_judge)
    return plan_table(by_judge, baseline, difference, power, alpha, unit, people)


@public
def flat(table: TableLike) -> dict[str, float]:
    """
    Return the values of a table as a dict of names that experiment trackers accept.

    A name joins the score and the metric by a dot, such as ``als_score.recall_at_10``. MLflow and
    the columns of Delta accept it; each part is a name for W&B and Prometheus too.

    Parameters
    ----------
    table : DataFrame or Arrow table
        The table of `mean`, `summary`, `compare`, `curve`, `catalogue` or `users_needed`, also
        in segments, or selected or computed from it if its index and column names stay. Polars'
        tables are accepted too.

    Returns
    -------
    dict of str and float
        Every finite number, in the order of the table. NaN and infinities are left out, because
        trackers store them in different ways or refuse them. The mean has no name of its own,
        other values of `summary` follow it: ``als_score.recall_at_10.low``. Those of `compare`
        follow ``difference``: ``als_score.recall_at_10.difference.low``. Segments and several
        baselines come first: ``country_NL.als_score.recall_at_10``.

    Raises
    ------
    RecframeError
        It is no such table, or two labels become one name.

    See Also
    --------
    recframe.RecAccessor.mean : The means over users.
    save_per_user : Save the values of every user.

    Notes
    -----
    Each part of a name has the letters, digits and underscores of ASCII. @ becomes ``_at_``, any
    other run of signs one underscore (``rbp(p=0.8)@10`` is ``rbp_p_0_8_at_10``), and another letter
    its code (``é`` is ``xe9``). An underscore precedes a digit in front.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "als score": [3, 2, 1], "relevant": [0, 1, 1]})
    >>> recframe.flat(df.rec.mean(["recall@1", "r_precision"]))
    {'als_score.recall_at_1': 0.5, 'als_score.r_precision': 0.5}
    """
    return name_figures(table)


def _read_trusted_table(trusted: Any, by_judge: pd.DataFrame) -> pd.DataFrame | None:
    """Return people's values of users of a judge's table, None without."""
    if trusted is None:
        return None
    columns: Any = by_judge.columns
    people = read_people(trusted, columns)
    check_users_known(people, by_judge.index)
    return people
