"""DaskTables: a Dask DataFrame and its options, and the way from its rows to lazy tables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import dask.dataframe as dd
import pandas as pd

from recframe.dask.tasks import (
    evaluate_absent,
    evaluate_part,
    keep_promise,
    list_users,
    rank_part,
    refuse_other_truth,
    sort_users_of,
)
from recframe.frames.columns import Columns, find_columns
from recframe.frames.interactions import Interactions, read_rows
from recframe.frames.per_user import measure_table
from recframe.frames.tables import add_up, mean_of_sums, mean_table, single_table, sum_and_count
from recframe.methods import MetricMethods
from recframe.metrics.names import Metric, parse_metrics
from recframe.options import Options


class DaskTables(MetricMethods[Any]):
    """Lazy tables of a Dask DataFrame, which the methods of ``ddf.rec`` return."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._options = Options()
        self._partitioned = False

    def _select(self, *labels: Hashable | None) -> Any:
        """Return the columns of these labels; an index that has one of them stays."""
        return self._frame[[label for label in self._frame.columns if label in labels]]

    def _together(self, frame: Any, columns: Columns) -> Any:
        """Return a frame with the rows of every user in one partition."""
        if columns.user is None:
            return in_one(frame)
        # Known divisions prove nothing: a user may be on both sides of one.
        return frame if self._partitioned else frame.shuffle(on=[columns.user])

    def _listed(self, frame: Any, columns: Columns) -> Any:
        """Return the users that each partition lists."""
        find = partial(list_users, columns=columns, options=self._options)
        return frame.map_partitions(find, meta=find(frame._meta))

    def _keep_promise(self, tables: Any, columns: Columns, users: Any) -> Any:
        """Return tables of partitions, which raise if a promise was made that does not hold."""
        if columns.user is None or not self._partitioned:
            return tables
        n_listed, n_users = users.size, users.nunique()
        return tables.map_partitions(keep_promise, n_listed, n_users, meta=tables._meta)

    def _per_user(self, metrics: list[Metric]) -> Any:
        """Return metrics of every user."""
        columns = find_columns(self._frame._meta, self._options)
        frame = self._together(self._select(*labels_of(columns)), columns)
        # Without rows user=None is one short ranking, which only the data may be refused for.
        empty = read_rows(frame._meta, columns, self._options)
        meta = measure_table(empty, metrics, replace(self._options, short="pad"))
        roles: dict[str, Any] = {"columns": columns, "metrics": metrics, "options": self._options}
        tables = frame.map_partitions(partial(evaluate_part, **roles), meta=meta)
        tables = self._keep_promise(tables, columns, tables.index)
        absent = partial(evaluate_absent, empty=empty, **roles)
        return self._with_absent(tables, frame, columns, absent)

    def _ranked(
        self,
        frame: Any,
        columns: Columns,
        make_table: Callable[[pd.DataFrame, Interactions], pd.DataFrame],
    ) -> Any:
        """Return the tables of rows that are made of the partitions and their arrays."""
        empty = read_rows(frame._meta, columns, self._options)
        meta = make_table(frame._meta, empty)
        roles: dict[str, Any] = {"columns": columns, "options": self._options}
        tables = frame.map_partitions(partial(rank_part, make_table=make_table, **roles), meta=meta)
        tables = self._keep_promise(tables, columns, self._listed(frame, columns)["user"])
        refuse = partial(refuse_other_truth, empty=empty, table=meta, **roles)
        return self._with_absent(tables, frame, columns, refuse)

    def _with_absent(
        self,
        tables: Any,
        frame: Any,
        columns: Columns,
        make_table: Callable[[pd.DataFrame], pd.DataFrame],
    ) -> Any:
        """Return tables of partitions and, where there is truth, that of users whom none lists."""
        if columns.item is None or columns.user is None:
            return tables
        listed = in_one(self._listed(frame, columns))
        absent = listed.map_partitions(make_table, meta=tables._meta)
        return dd.concat([tables, absent])  # type: ignore[no-untyped-call]  # Dask has none

    def _single(self, metric: Metric) -> Any:
        """Return one metric of every user, a column for each score."""
        table = self._per_user([metric])
        return table.map_partitions(single_table, metric, meta=single_table(table._meta, metric))

    def _mean(self, metrics: list[Metric]) -> Any:
        """Return the means of metrics, from the sums and counts of the partitions."""
        table = self._per_user(metrics)
        return table.reduction(
            chunk=sum_and_count,
            combine=add_up,
            aggregate=mean_of_sums,
            meta=mean_table(table._meta),
        )

    def _of_all_users(
        self,
        metrics: str | Iterable[str],
        make_table: Callable[[pd.DataFrame], pd.DataFrame],
    ) -> Any:
        """Return the table that is made of metrics of every user."""
        per_user = self._per_user(parse_metrics(metrics))
        meta = make_table(per_user._meta)  # which checks what is left to check
        make = partial(sort_users_of, make_table=make_table)
        return in_one(per_user).map_partitions(make, meta=meta)


def labels_of(columns: Columns) -> list[Hashable | None]:
    """Return the labels of the columns that play a role."""
    return [columns.user, columns.item, columns.relevant, *columns.scores]


def in_one(frame: Any) -> Any:
    """Return a frame of one partition."""
    return frame.repartition(npartitions=1)
