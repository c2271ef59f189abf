"""RecAccessor: holds the frame and its options; one short method per table.

Those of single metrics are in `metric_methods`.
"""

import math
from collections.abc import Hashable, Iterable
from dataclasses import replace

import pandas as pd

from recframe.analysis.compare import Correction, Test, check_comparison, compare_table
from recframe.analysis.describe import describe_table
from recframe.analysis.inspect import inspect_user
from recframe.analysis.inspection import Inspection
from recframe.analysis.judged import judged_frame
from recframe.analysis.ranks import rank_table, top_table
from recframe.analysis.resampling import make_resampling
from recframe.analysis.summary import curve_metrics, curve_table, summary_table
from recframe.frames.columns import find_columns
from recframe.frames.interactions import ALL_USERS
from recframe.frames.per_user import per_user_table
from recframe.frames.tables import mean_table, single_table
from recframe.methods import MetricMethods
from recframe.metrics.definitions import DEFAULT_METRICS
from recframe.metrics.names import Metric, parse_metrics
from recframe.options import INFER, Absent, Gain, Missing, Options, Short, Ties, TruthLike


class RecAccessor(MetricMethods[pd.DataFrame]):
    """
    Ranking metrics of a frame of interactions, as ``df.rec``.

    The frame has one row for each user and item, one or more score columns and a relevance column.
    Nothing is cached and the frame is never changed. Call the accessor to set options.

    Parameters
    ----------
    frame : DataFrame
        The interactions.

    See Also
    --------
    recframe.evaluate : The same as a function, with all options explained.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> df.rec.recall(k=1)
    recall@1  score
    user
    1           0.0
    2           1.0
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        # pandas makes an accessor at every access and for tab completion: no work here.
        self._frame = frame
        self._options: Options | None = None

    def __call__(
        self,
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
    ) -> "RecAccessor":
        """
        Return an accessor to the same frame with these options.

        The options are those of `recframe.evaluate`. They are not added to options set before:
        what is not passed has its default.

        Parameters
        ----------
        user : label or None, default "infer"
            The column of user ids; None: the whole frame is one ranking.
        item : label, default "infer"
            The column of item ids.
        score : label or list of labels, default "infer"
            The score columns.
        relevant : label, default "infer"
            The column of relevance.
        ties : {"expected", "first", "last", "best", "worst"}, default "expected"
            The order of rows with equal scores.
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
            The relevant items of every user, listed in the frame or not.
        truth_user, truth_item : label, default "infer"
            The columns of ids in truth.
        absent : {"zero", "drop"}, default "zero"
            What a user of truth scores for whom nothing is listed.

        Returns
        -------
        RecAccessor
            An accessor bound to the options.

        Raises
        ------
        RecframeError
            An option has a value it does not take.

        See Also
        --------
        recframe.evaluate : The options explained.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1], "score": [0.5, 0.5], "relevant": [0, 1]})
        >>> df.rec(ties="worst").recall(k=1)
        recall@1  score
        user
        1           0.0
        """
        bound = type(self)(self._frame)
        bound._options = Options(
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
        return bound

    def evaluate(self, metrics: str | Iterable[str] = DEFAULT_METRICS) -> pd.DataFrame:
        """
        Return metrics of every user, for each score column.

        The columns are counted once, however many metrics are asked for.

        Parameters
        ----------
        metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
            Names of metrics, as "precision@4", "recall@4", "r_precision".

        Returns
        -------
        DataFrame
            Index: users, sorted. Columns: a MultiIndex (score, metric).

        Raises
        ------
        RecframeError
            A metric is unknown, or the frame is refused as in `recframe.evaluate`.

        See Also
        --------
        mean : The means over users.
        recframe.evaluate : The same as a function, with all options explained.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
        >>> df.rec.evaluate(["recall@1", "r_precision"])
        score     score
        metric recall@1 r_precision
        user
        1           0.0         0.0
        2           1.0         1.0
        """
        return self._per_user(parse_metrics(metrics))

    def mean(self, metrics: str | Iterable[str] = DEFAULT_METRICS) -> pd.DataFrame:
        """
        Return the means of metrics over users, for each score column.

        The mean of a column of `evaluate`; users whose value is NaN are left out, as pandas does.

        Parameters
        ----------
        metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
            Names of metrics, as "precision@4", "recall@4", "r_precision".

        Returns
        -------
        DataFrame
            Index: the score columns. Columns: the metrics.

        Raises
        ------
        RecframeError
            A metric is unknown, or the frame is refused as in `recframe.evaluate`.

        See Also
        --------
        evaluate : The values the mean is taken of.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
        >>> df.rec.mean(["recall@1", "r_precision"])
        metric  recall@1  r_precision
        score
        score        0.5          0.5
        """
        return mean_table(self.evaluate(metrics))

    def rank(self) -> pd.DataFrame:
        """
        Return the position of every row in its user's ranking.

        1 is the best. Rows that the tie rule does not tell apart share the mean of their
        positions: under "expected" all tied rows, as ``Series.rank(method="average")`` does, under
        "best" and "worst" those of the same relevance.

        Returns
        -------
        DataFrame
            Index: that of the frame. Columns: the score columns. NaN for rows that are not ranked.

        Raises
        ------
        RecframeError
            The frame is refused as in `recframe.evaluate`. The relevance column is read only
            under "best" and "worst".

        See Also
        --------
        top : The first rows of every user.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 1], "score": [0.5, 0.9, 0.5]})
        >>> df.rec.rank()
        score  score
        0        2.5
        1        1.0
        2        2.5
        """
        return rank_table(self._frame, self._bound_options)

    def top(self, k: int = 10, score: Hashable | None = None) -> pd.DataFrame:
        """
        Return the rows of the first k places of every user, in ranked order.

        Rows that the tie rule does not tell apart are never split by the cut: where they share
        the k-th place all of them are returned, in row order. With ``ties="first"`` or "last"
        every row has a place of its own, and a user has at most k rows.

        Parameters
        ----------
        k : int, default 10
            The number of places, 1 or more.
        score : label, default None
            The score column to rank by; needed where there are several.

        Returns
        -------
        DataFrame
            The rows of the frame with their index and a column ``rank`` added, users sorted.

        Raises
        ------
        RecframeError
            k is not an integer of 1 or more, there are several score columns and none is named,
            the frame has a column "rank", or it is refused as in `recframe.evaluate`.

        See Also
        --------
        rank : The position of every row.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 1], "item": list("abc"), "score": [0.5, 0.9, 0.1]})
        >>> df.rec.top(k=2)
           user item  score  rank
        1     1    b    0.9   1.0
        0     1    a    0.5   2.0
        """
        return top_table(self._frame, k, score, self._bound_options)

    def judge(self, truth: TruthLike | None = None) -> pd.DataFrame:
        """
        Return the frame with the relevance that truth gives, and the items it does not list.

        The rows of the frame come first, in their order. Then come the relevant items of truth
        that have no row, with null scores: those of users who have no row either unless
        ``absent="drop"``. So ``judged.rec(missing="unranked")`` evaluates to what ``truth=``
        does; with ``short="pad"``, as a user without a score is an empty list there. Grades of
        relevance, which nDCG counts, are not kept.

        Parameters
        ----------
        truth : DataFrame or path, default None
            The relevant items of every user, as in `recframe.evaluate`; None: the `truth` that
            the accessor was called with.

        Returns
        -------
        DataFrame
            The columns of the frame and a boolean column ``relevant``, which replaces one of that
            name. The index is new; ids in index levels become columns. Columns keep their dtypes;
            where rows are added, integers and booleans other than ids become nullable.

        Raises
        ------
        RecframeError
            There is no truth, or the frame or truth is refused as in `recframe.evaluate`.

        See Also
        --------
        recframe.evaluate : The metrics of a frame against truth.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> recs = pd.DataFrame({"user": [1, 1], "item": ["a", "b"], "score": [0.9, 0.8]})
        >>> test = pd.DataFrame({"user": [1, 1], "item": ["b", "c"]})
        >>> recs.rec.judge(test)
           user item  score  relevant
        0     1    a    0.9     False
        1     1    b    0.8      True
        2     1    c    NaN      True
        """
        options = self._bound_options
        return judged_frame(
            self._frame, options if truth is None else replace(options, truth=truth)
        )

    def inspect(self, user: Hashable = ALL_USERS, k: int = 3) -> Inspection:
        """
        Return the rankings of one user side by side, one for each score column.

        Rows stand in ranked order, relevant ones marked, with a line under position k and the
        user's precision@k, recall@k and R-precision above. The result displays itself: as HTML in
        a notebook (with the extra ``notebook``), as text elsewhere. Of a long list the first rows
        are shown, those up to k in any case.

        Parameters
        ----------
        user : label, default "all"
            The id of the user; "all" is the one ranking of ``user=None``.
        k : int, default 3
            The cut-off, 1 or more.

        Returns
        -------
        Inspection
            Its ``tables`` are DataFrames, one for each score column: the rows with their position
            (NaN where not ranked) and whether they are relevant. ``metrics`` is a DataFrame too,
            and ``to_html()`` the HTML.

        Raises
        ------
        RecframeError
            No row has that id, k is not an integer of 1 or more, or the user's rows are refused
            as in `recframe.evaluate`.

        See Also
        --------
        top : The first rows of every user.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame(
        ...     {
        ...         "user": [1, 1, 1],
        ...         "item": ["a", "b", "c"],
        ...         "score": [0.5, 0.9, 0.5],
        ...         "relevant": [1, 1, 0],
        ...     }
        ... )
        >>> df.rec.inspect(1, k=1)
        user 1: 3 rows, 2 relevant
        <BLANKLINE>
        score
        precision@1 – 100.00%
        recall@1 – 50.00%
        R-precision – 75.00%
        <BLANKLINE>
        position   item relevance score
        ───────────────────────────────
               1 ✓    b         1   0.9
        ───────────────────────────────
            =2.5 ✓    a         1   0.5
            =2.5      c         0   0.5
        = tied, at their mean position
        """
        return inspect_user(self._frame, user, k, self._bound_options)

    def describe(self, k: int = 10) -> pd.DataFrame:
        """
        Return what the data is: its users, nulls, duplicates, short rankings and ties.

        Nothing that is counted here is refused: rows with a null user or relevance are counted
        and left out of the rest, rows with a null score are not ranked. With `missing` "drop"
        these are left out too. Where it is not said what is relevant (the relevance column is not
        0/1 and there is no `min_relevance`, or there is a `truth` that duplicate pairs cannot be
        looked up in), the figures that need it are NaN.

        Parameters
        ----------
        k : int, default 10
            The cut-off to look at, 1 or more.

        Returns
        -------
        DataFrame
            Index: the figures. Columns: the score columns. Duplicate pairs are rows whose user
            and item another row before them has; the precisions are means over users with the
            relevant rows of every tie last and first, so that all that ties can change lies
            between them. They are divided as `short` says, by k where it says "raise".

        Raises
        ------
        RecframeError
            A column is missing, scores are not numbers, or k is not an integer of 1 or more.

        See Also
        --------
        evaluate : The metrics of every user.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame(
        ...     {
        ...         "user": [1, 1, 1, 2],
        ...         "item": ["a", "b", "b", "a"],
        ...         "score": [0.5, 0.5, 0.1, None],
        ...         "relevant": [0, 1, 0, 0],
        ...     }
        ... )
        >>> df.rec.describe(k=1)
        score                        score
        rows                           4.0
        null users                     0.0
        null relevance                 0.0
        duplicate pairs                1.0
        null scores                    1.0
        users                          2.0
        users without relevant rows    1.0
        shortest ranking               0.0
        longest ranking                3.0
        users with fewer than 1        1.0
        rows in ties                   2.0
        users with a tie across 1      1.0
        precision@1, worst             0.0
        precision@1, best              0.5
        """
        return describe_table(self._frame, k, self._bound_options)

    def curve(self, metric: str = "recall", k: Iterable[int] = range(1, 51)) -> pd.DataFrame:
        """
        Return the mean of a metric over users at every cut-off.

        The rows are ranked once, however many cut-offs there are. ``.plot()`` draws the table.

        Parameters
        ----------
        metric : str, default "recall"
            The name of a metric that takes a cut-off, as "recall", "precision" or "ndcg".
        k : iterable of int, default range(1, 51)
            The cut-offs, each 1 or more.

        Returns
        -------
        DataFrame
            Index: the cut-offs, named k. Columns: the score columns. The values are those of
            `mean`; users whose value is NaN are left out of the mean at that cut-off.

        Raises
        ------
        RecframeError
            The metric takes no cut-off, a cut-off is not valid or given twice, or the frame is
            refused as in `recframe.evaluate`.

        See Also
        --------
        mean : The means of several metrics.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 1], "score": [3, 2, 1], "relevant": [1, 0, 1]})
        >>> df.rec.curve("recall", k=[1, 2, 3])
        score  score
        k
        1        0.5
        2        0.5
        3        1.0
        """
        metrics = curve_metrics(metric, k)
        return curve_table(mean_table(self._per_user(metrics)), metrics)

    def summary(
        self,
        metrics: str | Iterable[str] = DEFAULT_METRICS,
        confidence: float = 0.95,
        n_resamples: int = 9_999,
        seed: int = 0,
    ) -> pd.DataFrame:
        """
        Return the means of metrics over users with their confidence intervals.

        The interval is the percentile bootstrap over users: quantiles of the means of samples of
        users drawn with replacement. With fewer than about 30 users it is somewhat too narrow.

        Parameters
        ----------
        metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
            Names of metrics, as "precision@4", "recall@4", "r_precision".
        confidence : float, default 0.95
            The confidence of the intervals, in (0, 1).
        n_resamples : int, default 9999
            The number of samples drawn, 1 or more.
        seed : int, default 0
            The seed of the random numbers: the same seed, the same intervals.

        Returns
        -------
        DataFrame
            Index: (score, metric). Columns: mean, standard_error (of the mean), low and high (the
            bounds of the interval), n_users (that have a value), n_undefined (users whose value
            is NaN). Bounds and standard error are NaN for fewer than two users.

        Raises
        ------
        RecframeError
            A metric is unknown, a number is out of its range, or the frame is refused as in
            `recframe.evaluate`.

        See Also
        --------
        compare : The differences between models, which share their users.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
        >>> df.rec.summary("recall@1").T
        score              score
        metric          recall@1
        mean                 0.5
        standard_error       0.5
        low                  0.0
        high                 1.0
        n_users              2.0
        n_undefined          0.0
        """
        resampling = make_resampling(confidence, n_resamples, seed)
        return summary_table(self.evaluate(metrics), resampling)

    def compare(
        self,
        metrics: str | Iterable[str] = DEFAULT_METRICS,
        baseline: Hashable | None = None,
        test: Test = "permutation",
        correction: Correction | None = "holm",
        confidence: float = 0.95,
        n_resamples: int = 9_999,
        seed: int = 0,
    ) -> pd.DataFrame:
        """
        Return what every other score column changes against a baseline, paired over users.

        A row compares one score column in one metric, over the users who have both values. The
        p-values are corrected for the number of all rows of the table.

        Parameters
        ----------
        metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
            Names of metrics, as "precision@4", "recall@4", "r_precision".
        baseline : label, default None
            The score column to compare with; None: the first.
        test : {"permutation", "ttest", "wilcoxon"}, default "permutation"
            Where the two-sided p-value comes from: flipping the signs of users' differences (all
            patterns of signs if they are at most `n_resamples`, else that many random ones),
            ``scipy.stats.ttest_rel`` or ``scipy.stats.wilcoxon``.
        correction : {"holm", "bonferroni", "fdr_bh"} or None, default "holm"
            How p-values are corrected for their number. None: not at all.
        confidence : float, default 0.95
            The confidence of the intervals, in (0, 1).
        n_resamples : int, default 9999
            The number of samples and of sign patterns drawn, 1 or more.
        seed : int, default 0
            The seed of the random numbers: the same seed, the same table.

        Returns
        -------
        DataFrame
            Index: (score, metric). Columns: difference (of the means), low and high (its
            percentile bootstrap interval), p_value, p_corrected, and users: n_won, n_tied and
            n_lost by the score, n_users (all three), and those left out because the metric is
            undefined: n_undefined_score, n_undefined_baseline and n_undefined_both.
            ``columns.name`` is the baseline.

        Raises
        ------
        RecframeError
            There are fewer than two score columns, the baseline is none of them, an argument has
            a value it does not take, or the frame is refused as in `recframe.evaluate`.
        ImportError
            The test or the correction needs SciPy, the extra ``stats``.

        See Also
        --------
        summary : The means and their intervals.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> df = pd.DataFrame(
        ...     {
        ...         "user": [1, 1, 2, 2, 3, 3],
        ...         "a_score": [2, 1, 2, 1, 2, 1],
        ...         "b_score": [2, 1, 1, 2, 1, 2],
        ...         "relevant": [0, 1, 0, 1, 0, 1],
        ...     }
        ... )
        >>> df.rec.compare("recall@1").iloc[0]
        a_score
        difference              0.666667
        low                     0.000000
        high                    1.000000
        p_value                 0.500000
        p_corrected             0.500000
        n_won                   2.000000
        n_tied                  1.000000
        n_lost                  0.000000
        n_users                 3.000000
        n_undefined_score       0.000000
        n_undefined_baseline    0.000000
        n_undefined_both        0.000000
        Name: (b_score, recall@1), dtype: float64
        """
        check_comparison(test, correction)
        resampling = make_resampling(confidence, n_resamples, seed)
        return compare_table(self.evaluate(metrics), baseline, test, correction, resampling)

    @property
    def _bound_options(self) -> Options:
        """The options this accessor was called with, or the defaults."""
        return Options() if self._options is None else self._options

    def _per_user(self, metrics: list[Metric]) -> pd.DataFrame:
        """Return metrics of every user."""
        columns = find_columns(self._frame, self._bound_options)
        return per_user_table(self._frame, columns, metrics, self._bound_options)

    def _single(self, metric: Metric) -> pd.DataFrame:
        """Return one metric of every user, a column for each score."""
        return single_table(self._per_user([metric]), metric)
