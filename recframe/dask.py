"""``ddf.rec``: the metrics of Dask DataFrames, lazily. Imported only by those who use Dask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import dask.dataframe as dd
import pandas as pd
from dask.dataframe.extensions import register_dataframe_accessor

from recframe.columns import Columns, find_columns
from recframe.definitions import DEFAULT_METRICS
from recframe.errors import RecframeError
from recframe.frames import (
    Interactions,
    add_up,
    mean_of_sums,
    mean_table,
    read_rows,
    single_table,
    sum_and_count,
)
from recframe.graded import needs_gains
from recframe.labels import Metric, parse_metrics
from recframe.metric_methods import MetricMethods
from recframe.options import Options
from recframe.per_user import measure_table
from recframe.truth import open_judge, read_part


@register_dataframe_accessor("rec")  # type: ignore[no-untyped-call]
class DaskRecAccessor(MetricMethods[Any]):
    """
    Ranking metrics of a Dask DataFrame of interactions, as ``ddf.rec``.

    The methods and options are those of ``df.rec``; what they return is lazy, and holds the same
    values bit for bit, users in no order. Rows are shuffled so that those of a user meet; the
    order of rows is lost, so there is no ``rank``, and ties cannot go by it. For the first rows
    of every user: ``ddf.shuffle(on=user).map_partitions(lambda part: part.rec.top(k=10))``.

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

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._options = Options()
        self._partitioned = False

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
        table = self.evaluate(metrics)
        return table.reduction(
            chunk=sum_and_count,
            combine=add_up,
            aggregate=mean_of_sums,
            meta=mean_table(table._meta),
        )

    def _per_user(self, metrics: list[Metric]) -> Any:
        """Return metrics of every user."""
        columns = find_columns(self._frame._meta, self._options)
        labels = [columns.user, columns.item, columns.relevant, *columns.scores]
        frame = self._frame
        if frame.index.name is not None and frame.index.name in labels:
            frame = frame.reset_index()
        frame = frame[[label for label in labels if label is not None]]
        if columns.user is None:
            frame = frame.repartition(npartitions=1)
        elif not self._partitioned:
            # Known divisions prove nothing: a user may be on both sides of one.
            frame = frame.shuffle(on=columns.user)
        # Without rows user=None is one short ranking, which only the data may be refused for.
        empty = read_rows(frame._meta, columns, self._options)
        meta = measure_table(empty, metrics, replace(self._options, short="pad"))
        evaluate = partial(_evaluate, columns=columns, metrics=metrics, options=self._options)
        tables = frame.map_partitions(evaluate, meta=meta)
        if self._partitioned and columns.user is not None:
            users = tables.index
            tables = tables.map_partitions(_keep_promise, users.size, users.nunique(), meta=meta)
        if self._options.truth is not None:
            listed = frame.map_partitions(
                _listed, columns, self._options, meta=_listed(frame._meta, columns, self._options)
            )
            roles: dict[str, Any] = {
                "columns": columns,
                "metrics": metrics,
                "options": self._options,
            }
            add_absent = partial(_evaluate_absent, empty=empty, **roles)
            absent = listed.repartition(npartitions=1).map_partitions(add_absent, meta=meta)
            tables = dd.concat([tables, absent])  # type: ignore[no-untyped-call]
        return tables

    def _single(self, metric: Metric) -> Any:
        """Return one metric of every user, a column for each score."""
        table = self._per_user([metric])
        return table.map_partitions(single_table, metric, meta=single_table(table._meta, metric))


def _evaluate(
    frame: pd.DataFrame, columns: Columns, metrics: list[Metric], options: Options
) -> pd.DataFrame:
    """Return metrics of every user of a partition (a function of its own, for workers to find)."""
    graded = needs_gains(metrics, options)
    judge = None if options.truth is None else open_judge(columns, options, graded=graded)
    interactions = read_part(frame, columns, options, judge, graded=graded)
    return measure_table(interactions, metrics, options)


def _listed(frame: pd.DataFrame, columns: Columns, options: Options) -> pd.DataFrame:
    """Return the users of a partition."""
    return pd.DataFrame({"user": read_rows(frame, columns, options).groups.users})


def _evaluate_absent(
    listed: pd.DataFrame,
    empty: Interactions,
    columns: Columns,
    metrics: list[Metric],
    options: Options,
) -> pd.DataFrame:
    """Return metrics of the users of truth that no partition lists."""
    judge = open_judge(columns, options, graded=needs_gains(metrics, options))
    judge.note(pd.Index(listed["user"]))
    return measure_table(judge.add_absent(empty), metrics, options)


def _keep_promise(table: pd.DataFrame, n_rows: int, n_users: int) -> pd.DataFrame:
    """Return the table of a partition, or raise where those of all have a user twice."""
    if n_rows != n_users:
        raise RecframeError(
            f"partitioned=True: {n_users} users in all, but the partitions have {n_rows} together; "
            "leave partitioned=True out to have them brought together"
        )
    return table
