"""``ddf.rec``: the accessor of Dask DataFrames, lazily. Imported only by those who use Dask."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import partial
from typing import Any

from dask.dataframe.extensions import register_dataframe_accessor

from recframe.analysis.inspect import check_user, inspect_user
from recframe.analysis.inspection import Inspection
from recframe.analysis.ranks import first_rows, place_rows, ranking_columns, top_columns
from recframe.dask.analysis import DaskAnalysis
from recframe.dask.lazy import labels_of
from recframe.dask.tasks import rows_of_user
from recframe.errors import RecframeError
from recframe.frames.columns import find_columns, find_item
from recframe.frames.interactions import ALL_USERS
from recframe.metrics.definitions import DEFAULT_METRICS
from recframe.metrics.names import check_k, parse_metrics
from recframe.options import Options


@register_dataframe_accessor("rec")  # type: ignore[no-untyped-call]  # Dask has none
class DaskRecAccessor(DaskAnalysis):
    """
    Ranking metrics of a Dask DataFrame of interactions, as ``ddf.rec``.

    The methods, their parameters and the options are those of ``df.rec``, where they are explained:
    one for each metric, `evaluate`, `mean`, `rank`, `top`, `describe`, `curve`, `summary`,
    `compare` and `inspect`; in place of ``judge``, pass ``truth=``. What they return is lazy, but
    for `inspect`, and holds the same values bit for bit, users in no order; of `mean` and `curve`
    the last digit may differ. Arguments are checked at once, the data when computed.

    Rows are shuffled so that those of a user meet. Their order is lost: ties cannot go by it.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The interactions.

    See Also
    --------
    recframe.RecAccessor : The same for pandas DataFrames.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd, recframe.dask
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> ddf = dd.from_pandas(df, npartitions=2)
    >>> ddf.rec.recall(k=1).compute().sort_index()
    recall@1  score
    user
    1           0.0
    2           1.0
    """

    def __call__(self, *, partitioned: bool = False, **options: Any) -> DaskRecAccessor:
        """
        Return an accessor to the same frame with these options.

        They are not added to options set before: what is not passed has its default.

        Parameters
        ----------
        partitioned : bool, default False
            Promises that each user's rows are in one partition, so that they stay where they are.
            A promise that does not hold is found when computed, and refused.
        **options : object
            The options of `recframe.evaluate`.

        Returns
        -------
        DaskRecAccessor
            An accessor bound to the options.

        Raises
        ------
        RecframeError
            An option has a value it does not take, or the tie rule reads the order of rows.

        See Also
        --------
        recframe.evaluate : The options explained.

        Examples
        --------
        >>> import dask.dataframe as dd, pandas as pd, recframe.dask
        >>> df = pd.DataFrame({"user": [1, 1], "score": [0.5, 0.5], "relevant": [0, 1]})
        >>> dd.from_pandas(df).rec(ties="worst").recall(k=1).compute()
        recall@1  score
        user
        1           0.0
        """
        bound = type(self)(self._frame)
        bound._options = Options(**options)
        bound._partitioned = partitioned
        if bound._options.ties in ("first", "last"):
            raise RecframeError(
                f"ties={bound._options.ties!r} reads the order of rows, which Dask does not keep; "
                "pass ties='expected', 'best' or 'worst'"
            )
        return bound

    def evaluate(self, metrics: str | Iterable[str] = DEFAULT_METRICS) -> Any:
        """
        Return metrics of every user, for each score column.

        What `recframe.RecAccessor.evaluate` returns, lazily and in no order.

        Parameters
        ----------
        metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
            Names of metrics, as "precision@4", "recall@4", "r_precision".

        Returns
        -------
        dask.dataframe.DataFrame
            Index: users, in no order. Columns: a MultiIndex (score, metric).

        Raises
        ------
        RecframeError
            A metric is unknown or a column is refused; the values are when computed.

        See Also
        --------
        mean : The means over users.

        Examples
        --------
        >>> import dask.dataframe as dd, pandas as pd, recframe.dask
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
        >>> ddf = dd.from_pandas(df, npartitions=2)
        >>> ddf.rec.evaluate(["recall@1", "r_precision"]).compute().sort_index()
        score     score
        metric recall@1 r_precision
        user
        1           0.0         0.0
        2           1.0         1.0
        """
        return self._per_user(parse_metrics(metrics))

    def mean(self, metrics: str | Iterable[str] = DEFAULT_METRICS) -> Any:
        """
        Return the means of metrics over users, for each score column.

        The tables of users are summed where they are; NaN is left out, as pandas does. The last
        digit may differ from pandas', which sums the users in another order.

        Parameters
        ----------
        metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
            Names of metrics, as "precision@4", "recall@4", "r_precision".

        Returns
        -------
        dask.dataframe.DataFrame
            Index: the score columns. Columns: the metrics. Of one partition.

        Raises
        ------
        RecframeError
            A metric is unknown or a column is refused; the values are when computed.

        See Also
        --------
        evaluate : The values the mean is taken of.

        Examples
        --------
        >>> import dask.dataframe as dd, pandas as pd, recframe.dask
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
        >>> ddf = dd.from_pandas(df, npartitions=2)
        >>> ddf.rec.mean(["recall@1", "r_precision"]).compute()
        metric  recall@1  r_precision
        score
        score        0.5          0.5
        """
        return self._mean(parse_metrics(metrics))

    def rank(self) -> Any:
        """
        Return the position of every row in its user's ranking, rows in no order.

        What `recframe.RecAccessor.rank` returns, lazily. The index labels are those of the frame:
        where each is there once, they join the positions to the rows.

        Returns
        -------
        dask.dataframe.DataFrame
            Index: that of the frame, in no order. Columns: the score columns. NaN for rows that
            are not ranked.

        Raises
        ------
        RecframeError
            A column is refused; the values are when computed.

        See Also
        --------
        top : The first rows of every user.

        Examples
        --------
        >>> import dask.dataframe as dd, pandas as pd, recframe.dask
        >>> df = pd.DataFrame({"user": [1, 1, 1], "score": [0.5, 0.9, 0.5]})
        >>> dd.from_pandas(df, npartitions=2).rec.rank().compute().sort_index()
        score  score
        0        2.5
        1        1.0
        2        2.5
        """
        columns = ranking_columns(self._frame._meta, self._options)
        frame = self._together(self._select(*labels_of(columns)), columns)
        return self._ranked(frame, columns, partial(place_rows, options=self._options))

    def top(self, k: int = 10, score: Hashable | None = None) -> Any:
        """
        Return the rows of the first k places of every user, users in no order.

        What `recframe.RecAccessor.top` returns, lazily. The rows of a user are together, in
        ranked order; those that share a place are in no order.

        Parameters
        ----------
        k : int, default 10
            The number of places, 1 or more.
        score : label, default None
            The score column to rank by; needed where there are several.

        Returns
        -------
        dask.dataframe.DataFrame
            The rows of the frame with their index and a column ``rank`` added.

        Raises
        ------
        RecframeError
            k is not an integer of 1 or more, there are several score columns and none is named,
            the frame has a column "rank", or a column is refused; the values are when computed.

        See Also
        --------
        rank : The position of every row.

        Examples
        --------
        >>> import dask.dataframe as dd, pandas as pd, recframe.dask
        >>> df = pd.DataFrame({"user": [1, 1, 1], "item": [7, 8, 9], "score": [0.5, 0.9, 0.1]})
        >>> dd.from_pandas(df, npartitions=2).rec.top(k=2).compute()
           user  item  score  rank
        1     1     8    0.9   1.0
        0     1     7    0.5   2.0
        """
        k = check_k(k)
        columns = top_columns(self._frame._meta, score, self._options)
        frame = self._together(self._frame, columns)
        return self._ranked(frame, columns, partial(first_rows, k=k, options=self._options))

    def inspect(self, user: Hashable = ALL_USERS, k: int = 3) -> Inspection:
        """
        Return the rankings of one user side by side, one for each score column.

        What `recframe.RecAccessor.inspect` returns. It displays itself, so this is not lazy: the
        rows of the user, and no others, are computed at once. Under ``truth=`` these are numbered
        by themselves, and whether truth speaks of any other user is not looked at.

        Parameters
        ----------
        user : label, default "all"
            The id of the user; "all" is the one ranking of ``user=None``.
        k : int, default 3
            The cut-off, 1 or more.

        Returns
        -------
        Inspection
            With its ``tables``, ``metrics`` and ``to_html()``.

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
        >>> import dask.dataframe as dd, pandas as pd, recframe.dask
        >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.5, 0.9, 0.7], "relevant": [0, 1, 1]})
        >>> dd.from_pandas(df, npartitions=2).rec.inspect(1, k=1).metrics
        metric  precision@1  recall@1  r_precision
        score
        score           1.0       1.0          1.0
        """
        k = check_k(k)
        columns = find_columns(self._frame._meta, self._options)
        check_user(user, columns.user)
        frame = self._select(
            *labels_of(columns), find_item(self._frame._meta, columns, self._options)
        )
        find = partial(rows_of_user, user=user, label=columns.user)
        rows = frame.map_partitions(find, meta=frame._meta).compute()
        if len(rows) == 0 and self._options.truth is None:
            rows = frame.head(npartitions=-1)  # the refusal names ids that are there
        return inspect_user(rows, user, k, self._options, is_all=False)
