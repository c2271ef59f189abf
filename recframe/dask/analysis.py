"""DaskAnalysis: the methods of ``ddf.rec`` that describe data and means, lazily."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from recframe.analysis.compare import Correction, Test, check_comparison, compare_table
from recframe.analysis.describe import count_figures, total_figures
from recframe.analysis.resampling import make_resampling
from recframe.analysis.summary import curve_metrics, curve_table, summary_table
from recframe.dask.lazy import DaskTables, in_one, labels_of
from recframe.dask.tasks import describe_parts
from recframe.frames.columns import find_columns, find_item
from recframe.metrics.definitions import DEFAULT_METRICS
from recframe.metrics.names import check_k


class DaskAnalysis(DaskTables):
    """The tables of whole frames: their description, and means and how sure they are."""

    def describe(self, k: int = 10) -> Any:
        """
        Return what the data is: its users, nulls, duplicates, short rankings and ties.

        What `recframe.RecAccessor.describe` returns, lazily: partitions are described by counts,
        which are added up.

        Parameters
        ----------
        k : int, default 10
            The cut-off to look at, 1 or more.

        Returns
        -------
        dask.dataframe.DataFrame
            Index: the figures. Columns: the score columns. Of one partition.

        Raises
        ------
        RecframeError
            A column is missing or k is not an integer of 1 or more; that scores are not numbers
            is found when computed.

        See Also
        --------
        evaluate : The metrics of every user.

        Examples
        --------
        >>> import dask.dataframe as dd, pandas as pd, recframe.dask
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.5, 0.5, 0.7], "relevant": [0, 1, 1]})
        >>> dd.from_pandas(df, npartitions=2).rec.describe(k=1).compute().tail(3)
        score                      score
        users with a tie across 1    1.0
        precision@1, worst           0.5
        precision@1, best            1.0
        """
        k = check_k(k)
        columns = find_columns(self._frame._meta, self._options)
        item = find_item(self._frame._meta, columns, self._options)
        frame = self._together(self._select(*labels_of(columns), item), columns)
        is_one = columns.user is None
        roles: dict[str, Any] = {"columns": columns, "k": k, "options": self._options}
        count = partial(count_figures, item=item, is_all=is_one, **roles)
        # Truth is not read before it is needed.
        options = replace(self._options, truth=None)
        empty = count_figures(frame._meta, columns, item, k, options, is_all=is_one)
        counts = frame.map_partitions(count, meta=empty)
        listed = self._listed(frame, columns)
        counts = self._keep_promise(counts, columns, listed["user"])
        judged = [] if is_one or self._options.truth is None else [in_one(listed)]
        total = partial(describe_parts, empty=frame._meta, **roles)
        meta = total_figures(empty, columns.scores, k)
        return in_one(counts).map_partitions(total, *judged, meta=meta)

    def curve(self, metric: str = "recall", k: Iterable[int] = range(1, 51)) -> Any:
        """
        Return the mean of a metric over users at every cut-off.

        What `recframe.RecAccessor.curve` returns, lazily, the means taken as by `mean`.

        Parameters
        ----------
        metric : str, default "recall"
            The name of a metric that takes a cut-off, as "recall", "precision" or "ndcg".
        k : iterable of int, default range(1, 51)
            The cut-offs, each 1 or more.

        Returns
        -------
        dask.dataframe.DataFrame
            Index: the cut-offs, named k. Columns: the score columns. Of one partition.

        Raises
        ------
        RecframeError
            The metric takes no cut-off, a cut-off is not valid or given twice, or a column is
            refused; the values are when computed.

        See Also
        --------
        mean : The means of several metrics.

        Examples
        --------
        >>> import dask.dataframe as dd, pandas as pd, recframe.dask
        >>> df = pd.DataFrame({"user": [1, 1, 1], "score": [3, 2, 1], "relevant": [1, 0, 1]})
        >>> dd.from_pandas(df, npartitions=2).rec.curve("recall", k=[1, 2, 3]).compute()
        score  score
        k
        1        0.5
        2        0.5
        3        1.0
        """
        metrics = curve_metrics(metric, k)
        means = self._mean(metrics)
        turn = partial(curve_table, metrics=metrics)
        return means.map_partitions(turn, meta=turn(means._meta))

    def summary(
        self,
        metrics: str | Iterable[str] = DEFAULT_METRICS,
        confidence: float = 0.95,
        n_resamples: int = 9_999,
        seed: int = 0,
    ) -> Any:
        """
        Return the means of metrics over users with their confidence intervals.

        What `recframe.RecAccessor.summary` returns, lazily. The table of users is brought into
        one partition.

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
        dask.dataframe.DataFrame
            Index: (score, metric). Columns: mean, standard_error, low, high, n_users and
            n_undefined. Of one partition.

        Raises
        ------
        RecframeError
            A metric is unknown, a number is out of its range, or a column is refused; the values
            are when computed.

        See Also
        --------
        compare : The differences between models, which share their users.

        Examples
        --------
        >>> import dask.dataframe as dd, pandas as pd, recframe.dask
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
        >>> ddf = dd.from_pandas(df, npartitions=2)
        >>> ddf.rec.summary("recall@1").compute()[["mean", "low", "high", "n_users"]]
                        mean  low  high  n_users
        score metric
        score recall@1   0.5  0.0   1.0        2
        """
        resampling = make_resampling(confidence, n_resamples, seed)
        return self._of_all_users(metrics, partial(summary_table, resampling=resampling))

    def compare(
        self,
        metrics: str | Iterable[str] = DEFAULT_METRICS,
        baseline: Hashable | None = None,
        test: Test = "permutation",
        correction: Correction | None = "holm",
        confidence: float = 0.95,
        n_resamples: int = 9_999,
        seed: int = 0,
    ) -> Any:
        """
        Return what every other score column changes against a baseline, paired over users.

        What `recframe.RecAccessor.compare` returns, lazily. The table of users is brought into
        one partition.

        Parameters
        ----------
        metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
            Names of metrics, as "precision@4", "recall@4", "r_precision".
        baseline : label, default None
            The score column to compare with; None: the first.
        test : {"permutation", "ttest", "wilcoxon"}, default "permutation"
            Where the two-sided p-value comes from.
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
        dask.dataframe.DataFrame
            Index: (score, metric). Columns: difference, low, high, p_value, p_corrected and
            numbers of users. Of one partition.

        Raises
        ------
        RecframeError
            There are fewer than two score columns, the baseline is none of them, an argument has
            a value it does not take, or a column is refused; the values are when computed.
        ImportError
            The test or the correction needs SciPy, the extra ``stats``.

        See Also
        --------
        summary : The means and their intervals.

        Examples
        --------
        >>> import dask.dataframe as dd, pandas as pd, recframe.dask
        >>> df = pd.DataFrame(
        ...     {
        ...         "user": [1, 1, 2, 2, 3, 3],
        ...         "a_score": [2, 1, 2, 1, 2, 1],
        ...         "b_score": [2, 1, 1, 2, 1, 2],
        ...         "relevant": [0, 1, 0, 1, 0, 1],
        ...     }
        ... )
        >>> ddf = dd.from_pandas(df, npartitions=2)
        >>> ddf.rec.compare("recall@1").compute()[["difference", "low", "high", "p_value"]]
        a_score           difference  low  high  p_value
        score   metric
        b_score recall@1    0.666667  0.0   1.0      0.5
        """
        check_comparison(test, correction)
        resampling = make_resampling(confidence, n_resamples, seed)
        options: dict[str, Any] = {"baseline": baseline, "test": test, "correction": correction}
        return self._of_all_users(metrics, partial(compare_table, resampling=resampling, **options))
