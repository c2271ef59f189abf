"""``ddf.rec``: the accessor of Dask DataFrames, lazily. Imported only by those who use Dask."""

from collections.abc import Hashable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Self, Unpack

import dask.dataframe as dd
import pandas as pd
from dask.dataframe.extensions import register_dataframe_accessor

from recframe.calls import public
from recframe.dask import tasks
from recframe.dask.lazy import (
    Partitions,
    check_named,
    in_one,
    leave_candidates,
    list_items,
    open_truth,
)
from recframe.dask.tokens import register_tokens
from recframe.errors import RecframeError, quote
from recframe.frames.columns import Columns, other_labels
from recframe.frames.interactions import read_interactions
from recframe.frames.names import is_same
from recframe.frames.tables import add_up, mean_of_sums, mean_table, sum_and_count
from recframe.methods import Make, MakeTable, RankingMethods
from recframe.options import OptionArguments, Options
from recframe.spelling import spell_options

__all__ = ["DaskRecAccessor"]

register_tokens()


@register_dataframe_accessor("rec")  # type: ignore[no-untyped-call]  # Dask has none
class DaskRecAccessor(RankingMethods[Any]):
    """
    Ranking metrics of a Dask DataFrame of interactions, as ``ddf.rec``.

    Methods and options are those of ``df.rec``; in place of ``judge``, pass ``truth=``. A table is
    a lazy Dask DataFrame of the same values bit for bit, its users or rows in no order; of `mean`
    and `curve` the last digit may differ, as sums of partitions are summed. `inspect` computes the
    rows of its user at once. Arguments and columns are checked at once, the values when computed.

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

    _partitioned = False
    _call = "ddf.rec"

    def __init__(self, frame: Any) -> None:
        if not isinstance(frame, dd.DataFrame):
            is_pandas = isinstance(frame, pd.DataFrame)
            remedy = "; pass dd.from_pandas(frame), or use frame.rec" if is_pandas else ""
            raise RecframeError(f"frame must be a Dask DataFrame, found {quote(frame)}{remedy}")
        super().__init__(frame)

    @spell_options
    @public
    def __call__(self, *, partitioned: bool = False, **options: Unpack[OptionArguments]) -> Self:
        """
        Return an accessor to the same frame with these options.

        What is not passed has its default.

        Parameters
        ----------
        partitioned : bool, default False
            Promises that each user's rows are in one partition, which saves the shuffle. A promise
            that does not hold is found when computed, and refused.
        **options
            Those of `recframe.evaluate`.

        Returns
        -------
        DaskRecAccessor
            An accessor bound to the options.

        Raises
        ------
        RecframeError
            An option is unknown or has a value it does not take, or the tie rule reads the order
            of rows.

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
        if not isinstance(partitioned, bool):
            raise RecframeError(f"partitioned must be True or False, found {quote(partitioned)}")
        bound = super().__call__(**options)
        for name in ("min_relevance", "min_score"):
            check_named(name, getattr(bound._options, name))
        bound._partitioned = partitioned
        if bound._options.tie_rule.row_order:
            raise RecframeError(
                f"ties={bound._options.ties!r} reads the order of rows, which Dask does not keep; "
                "pass ties='expected', 'best', 'worst' or 'item'"
            )
        if bound._options.duplicates == "first":
            raise RecframeError(
                "duplicates='first' reads the order of rows, which Dask does not keep; pass "
                "duplicates='max' or 'keep'"
            )
        return bound

    @property
    def _sample(self) -> pd.DataFrame:
        sample: pd.DataFrame = self._frame._meta
        return sample

    @property
    def _size(self) -> str:
        return f"{super()._size} in {self._frame.npartitions:,} partitions"

    def _map(
        self, make: Make, columns: Columns, options: Options, *, reads_all: bool = False
    ) -> Any:
        truth = open_truth(columns, options)
        frame, listed, check = self._together(columns, options, truth, reads_all=reads_all)
        # Without rows user=None is one short ranking, which only the data may be refused for.
        empty = read_interactions(frame._meta, columns, options)
        meta = make(empty, replace(options, short="pad"))
        roles: dict[str, Any] = {"columns": columns, "options": options}
        others = other_labels(self._sample, columns.labels)
        made = frame.map_partitions(
            tasks.make_partition, truth, make, **roles, others=others, meta=meta
        )
        made = check(made)
        if truth is None or columns.user is None:
            return made
        absent = in_one(listed).map_partitions(
            tasks.make_absent,
            list_items(frame, truth, columns),
            truth,
            make,
            empty=frame._meta,
            **roles,
            meta=meta,
        )
        return dd.concat([made, absent])  # type: ignore[no-untyped-call]  # Dask has none

    def _whole(self, per_user: Any, make_table: MakeTable) -> Any:
        meta = make_table(per_user._meta)  # which checks what is left to check
        # What is undefined has columns only where there is any, which the data tells.
        return in_one(per_user).map_partitions(
            tasks.make_of_all, make_table, meta=meta, enforce_metadata=False
        )

    def _mean(self, per_user: Any, make_table: MakeTable) -> Any:
        means = per_user.reduction(
            sum_and_count, combine=add_up, aggregate=mean_of_sums, meta=mean_table(per_user._meta)
        )
        return means.map_partitions(make_table, meta=make_table(means._meta))

    def _describe(self, columns: Columns, k: int) -> Any:
        truth = open_truth(columns, self._options)
        frame, listed, check = self._together(columns, self._options, truth)
        roles: dict[str, Any] = {"columns": columns, "k": k, "options": self._options}
        empty = tasks.count_partition(frame._meta, None, **roles)
        counts = frame.map_partitions(tasks.count_partition, truth, **roles, meta=empty)
        counts = check(counts)
        judged, items = None, None
        if truth is not None and columns.user is not None:
            judged, items = in_one(listed), list_items(frame, truth, columns)
        meta = tasks.describe_partitions(empty, None, None, None, empty=frame._meta, **roles)
        return in_one(counts).map_partitions(
            tasks.describe_partitions, judged, items, truth, empty=frame._meta, **roles, meta=meta
        )

    def _rows_of(self, user: Hashable, columns: Columns) -> tuple[pd.DataFrame, bool]:
        check_named("user", user)
        frame = self._select(columns.labels)
        find = partial(tasks.rows_of_user, user=user, labels=columns.users)
        rows = frame.map_partitions(find, meta=frame._meta).compute()
        if len(rows) == 0 and not self._options.has_truth:
            rows = frame.head(npartitions=-1)  # the refusal names ids that are there
        return rows, False

    def _select(self, labels: Iterable[Hashable]) -> Any:
        """Return the columns of these labels; an index that has one of them stays."""
        own = [name for name in self._frame.columns if any(is_same(name, one) for one in labels)]
        return self._frame[own]

    def _together(
        self, columns: Columns, options: Options, truth: Any, *, reads_all: bool = False
    ) -> Partitions:
        """Return the candidates, those of every user in one partition."""
        frame = self._frame if reads_all else self._select(columns.labels)
        if columns.user is None:
            frame = in_one(frame)
        elif any(isinstance(label, tuple) for label in columns.users):
            raise RecframeError(
                f"user={quote(columns.user)}: Dask does not shuffle by a column whose label is a "
                "tuple; rename it"
            )
        elif not self._partitioned:
            # Known divisions prove nothing: a user may be on both sides of one.
            frame = frame.shuffle(on=columns.users)
        find = partial(tasks.list_users, columns=columns, options=options)
        listed = frame.map_partitions(find, meta=find(frame._meta))
        rows = Partitions(frame, listed, partial(self._keep_promise, listed=listed))
        return leave_candidates(rows, find, truth, columns, options)

    def _keep_promise(self, tables: Any, listed: Any) -> Any:
        """Return tables of partitions, which raise if a promise was made that does not hold."""
        if not self._partitioned:
            return tables
        distinct = listed.drop_duplicates()
        n_listed, n_users = (users[users.columns[0]].size for users in (listed, distinct))
        return tables.map_partitions(tasks.keep_promise, n_listed, n_users, meta=tables._meta)
