"""``recframe.spark.rec(sdf)``: the methods of ``df.rec`` on Spark DataFrames, lazily."""

from collections.abc import Hashable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Self, Unpack

import pandas as pd
from pyspark.sql import DataFrame

from recframe import partitions
from recframe.analysis.ranks import is_user, list_ranks, rank_options, top_columns
from recframe.analysis.segments import Grouping, Own
from recframe.calls import public
from recframe.errors import RecframeError
from recframe.foreign import frame_error
from recframe.frames.columns import Columns, find_columns
from recframe.frames.tables import Make, MakeTable, make_columns, sort_table
from recframe.methods import RankingMethods
from recframe.metrics.names import Metric
from recframe.options import OptionArguments, Options, spell_options
from recframe.spark import lazy, tasks
from recframe.spark.columns import (
    BESIDE,
    as_frame,
    check_kinds,
    check_whole,
    find_roles,
    make_sample,
    open_beside,
)

__all__ = ["SparkRecAccessor", "rec"]


class SparkRecAccessor(RankingMethods[Any]):
    """
    Ranking metrics of a Spark DataFrame of interactions, as ``recframe.spark.rec(sdf)``.

    Methods and options are those of ``df.rec``; in place of ``judge``, pass ``truth=``. Tables are
    lazy Spark DataFrames with plain columns, their rows in no order:

    ====================== ======================================================= ==============
    method                 columns                                                 a row for each
    ====================== ======================================================= ==============
    of a metric, evaluate  the users', score, one for each metric                  user and score
    mean                   score, one for each metric                              score
    curve                  score, k, the metric's                                  score and k
    summary                score, metric, mean, low, high, ..., n_undefined        score, metric
    compare                score, metric, baseline, difference, low, high, ...     score, metric
    catalogue              score, coverage@k, gini@k, entropy@k, personalization@k score
    rank                   the frame's, rank                                       row and score
    top                    the frame's, rank                                       row of the first
    ====================== ======================================================= ==============

    `rank` and `top` of several score columns have a column ``ranked_by`` before the rank. Undefined
    values are null. Columns of `by` come first; a Series for `by` or `weights` is one of pandas
    whose index holds users. Values per user are those of pandas bit for bit. The last digit of
    `mean` and `curve` without segments may differ, because sums of partitions are summed.
    `describe` and `inspect` are computed at once and return the results of pandas. Arguments and
    columns are checked at once, values when computed.

    A shuffle brings the rows of each user together, in one Python process per partition; with
    ``user=["date", "user"]`` each combination is a user. It loses the order of rows, so ties cannot
    use it. `truth` and `exclude` may be Spark DataFrames, which are shuffled too, or a pandas
    DataFrame or a file, which the driver reads. If truth of Spark has further columns, `relevant`
    names its relevance, or is None. Executors need recframe.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The interactions.

    See Also
    --------
    rec : Makes it.
    recframe.RecAccessor : The same for pandas DataFrames.

    Examples
    --------
    >>> import pandas as pd, recframe.spark
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> sdf = spark.createDataFrame(df)
    >>> recframe.spark.rec(sdf).recall(k=1).orderBy("user").show()
    +----+-----+--------+
    |user|score|recall@1|
    +----+-----+--------+
    |   1|score|     0.0|
    |   2|score|     1.0|
    +----+-----+--------+
    <BLANKLINE>
    """

    _partitioned = False
    _call = "recframe.spark.rec(sdf)"

    def __init__(self, frame: Any) -> None:
        if isinstance(frame, pd.DataFrame):
            raise RecframeError(
                "frame must be a Spark DataFrame, found one of pandas; pass "
                "spark.createDataFrame(frame), or use frame.rec"
            )
        if not isinstance(frame, DataFrame):
            raise frame_error("frame", "a Spark DataFrame", frame)
        check_whole("frame", frame)
        super().__init__(frame)
        self._given: dict[str, Any] = {}  # truth and exclude, where they are Spark's
        self._by: tuple[Own, ...] = ()  # what parts users, in the call that asks for it

    @spell_options
    @public
    def __call__(self, *, partitioned: bool = False, **options: Unpack[OptionArguments]) -> Self:
        """
        Return an accessor to the same frame with these options.

        Options that are not passed have their defaults.

        Parameters
        ----------
        partitioned : bool, default False
            Promises that each user's rows are in one partition, which saves their shuffle; with
            truth they are shuffled all the same. A promise that does not hold is found when
            computed, and refused.
        **options
            Those of `recframe.evaluate`; `truth` and `exclude` may be Spark DataFrames too.

        Returns
        -------
        SparkRecAccessor
            An accessor bound to the options.

        Raises
        ------
        RecframeError
            An option is unknown or has a value it does not take, or reads the order of rows.

        See Also
        --------
        recframe.evaluate : The options explained.
        """
        asked: dict[str, Any] = {**options}
        given = {name: asked[name] for name in BESIDE if isinstance(asked.get(name), DataFrame)}
        samples: Any = {name: make_sample(one) for name, one in given.items()}
        options |= samples
        bound = super().__call__(**options)
        partitions.check_bound("Spark", partitioned, bound._options)
        bound._partitioned, bound._given = partitioned, given
        return bound

    def rank(self) -> Any:
        """
        Return every row with its position in its user's ranking.

        1 is the best. Tied rows share the mean of their positions, as in ``Series.rank``: all under
        "expected", those of the same relevance under "best" and "worst".

        Returns
        -------
        DataFrame
            The rows of the frame with a new column ``rank``, null for rows that are not ranked.
            With several score columns, each has all rows, and a column ``ranked_by`` names it.

        Raises
        ------
        RecframeError
            The frame has a column named like a new one, or it is refused; its relevance is read
            only for "best" and "worst".

        See Also
        --------
        top : The first rows of every user.
        """
        options = rank_options(self._options)
        columns = top_columns(self._sample, None, options, self._call)
        return self._map(list_ranks, columns, options, reads_all=True)

    @property
    def _sample(self) -> pd.DataFrame:
        return make_sample(self._frame)

    def _per_user(self, metrics: list[Metric], *, is_single: bool = False) -> Any:
        return super()._per_user(metrics)  # one form for one metric or several

    def _open(self, columns: Columns, options: Options) -> tuple[dict[str, Any], Options]:
        """Return truth and exclude, if any, and the options that go with them, all checked."""
        check_kinds(self._frame, columns)
        return open_beside(self._given, self._frame, columns, options)

    def _map(
        self, make: Make, columns: Columns, options: Options, *, reads_all: bool = False
    ) -> Any:
        beside, options = self._open(columns, options)
        how = {"reads_all": reads_all, "keeps": self._partitioned}
        source = lazy.bring_together(self._frame, beside, columns, options, **how)
        made = partitions.make_empty(make, self._sample, columns, options)
        own = self._frame.columns if reads_all else list(map(str, columns.users)) or ["user"]
        result = lazy.name_results(source, columns, made, own, reads_all=reads_all)
        is_checked = columns.user is not None and bool(beside or self._partitioned)
        names = result.schema.names
        task = tasks.Task(source.layout, make, columns, options, source.ids, names, is_checked)
        return lazy.make_results(source, task, result, reads_all=reads_all)

    def _whole(self, make: Make, columns: Columns, options: Options, make_table: MakeTable) -> Any:
        beside, options = self._open(columns, options)
        keeps = self._partitioned
        source = lazy.bring_together(self._frame, beside, columns, options, keeps=keeps)
        task = tasks.Task(source.layout, make, columns, options, source.ids)
        read = partial(tasks.read_part, task=task, lists_users=keeps)
        given = make, columns, options, make_table, self._sample
        make_whole = partial(partitions.make_of_partitions, *given)
        # To make it of no user checks what is left to check.
        labels = lazy.list_labels(make_whole([])[0])
        own = lazy.find_kinds(self._by, source, columns)
        return lazy.make_of_partitions(source.rows, read, make_whole, labels, own)

    def _by_segment(self, grouping: Grouping, *asked: Any) -> Any:
        bound = copy(self)
        bound._by = grouping.by
        return super(SparkRecAccessor, bound)._by_segment(grouping, *asked)

    def _read_values(self, label: Hashable) -> pd.Series:
        rows = lazy.select(self._frame, [label]).distinct().toArrow()
        return as_frame(rows, [label])[label]

    def _mean(self, make: Make, columns: Columns, options: Options, make_table: MakeTable) -> Any:
        add_up, make_of_sums = partitions.make_by_sums(make, make_table)
        return self._whole(add_up, columns, options, make_of_sums)

    def _collect(self, table: Any) -> pd.DataFrame:
        if isinstance(table, pd.DataFrame):
            return table
        rows = table.toArrow()
        if table.columns[0] == "score" or "metric" in table.columns:
            return as_frame(rows, table.columns)
        # Which columns are scores depends on no other role, and some metrics need no relevance.
        columns = find_columns(self._sample, self._options, with_relevant=False)
        n_users = max(1, len(columns.users))
        users, metrics = table.columns[:n_users], table.columns[n_users + 1 :]
        tidy = as_frame(rows, table.columns)
        wide = tidy.pivot(index=users, columns="score", values=metrics)  # noqa: PD010 - no sums
        labels = make_columns(columns.scores, metrics)
        return sort_table(wide.swaplevel(axis=1).reindex(columns=labels).astype(float))

    def _describe(self, columns: Columns, k: int, options: Options) -> Any:
        beside, options = self._open(columns, options)
        lookups = partitions.Lookups()
        if "truth" in beside:  # of which the driver tells which items no partition has
            read: Any = {name: as_frame(one.toArrow(), one.columns) for name, one in beside.items()}
            lookups = partitions.read_lookups(columns, replace(options, **read))
            del beside["truth"]
        keeps = self._partitioned
        source = lazy.bring_together(self._frame, beside, columns, options, keeps=keeps)
        roles: dict[str, Any] = {"columns": columns, "k": k, "options": options}
        layout, judgments = source.layout, lookups.judgments
        count = partial(tasks.count_rows, layout=layout, judgments=judgments, **roles)
        parts = tasks.read_cells(lazy.make_cells(source.rows, count).toArrow())
        return partitions.describe_partitions(parts, lookups, self._sample, **roles)

    def _options_for(self, user: Hashable, columns: Columns) -> Options:
        beside, options = self._open(columns, self._options)
        for other, one in beside.items():  # of which the user's rows are enough
            roles = find_roles(other, columns, options)
            rows: Any = lazy.find_user(one, user, roles, one.columns)
            options = replace(options, **{other: rows})
        return options

    def _rows_of(self, user: Hashable, columns: Columns) -> tuple[pd.DataFrame, bool]:
        check_kinds(self._frame, columns)
        rows = lazy.find_user(self._frame, user, columns, columns.labels)
        # Rows of others may be wrong, and with truth they are read.
        return rows[is_user(rows, user, columns)] if self._options.has_truth else rows, False


@spell_options
@public
def rec(
    frame: Any, *, partitioned: bool = False, **options: Unpack[OptionArguments]
) -> SparkRecAccessor:
    """
    Return the accessor of a Spark DataFrame, which has the methods of ``df.rec``.

    Options are set here, or by calling it: ``recframe.spark.rec(sdf)(ties="worst")``.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The interactions.
    partitioned : bool, default False
        Promises that each user's rows are in one partition, as in `SparkRecAccessor`.
    **options
        Those of `recframe.evaluate`; `truth` and `exclude` may be Spark DataFrames too.

    Returns
    -------
    SparkRecAccessor
        The accessor, bound to the options; it displays how it understands the frame.

    Raises
    ------
    RecframeError
        The frame is no Spark DataFrame, or an option is unknown or has a value that it does not
        take.

    See Also
    --------
    SparkRecAccessor : The methods, and their results.
    recframe.evaluate : The options explained.

    Examples
    --------
    >>> import pandas as pd, recframe.spark
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> recframe.spark.rec(spark.createDataFrame(df)).mean("recall@1").show()
    +-----+--------+
    |score|recall@1|
    +-----+--------+
    |score|     0.5|
    +-----+--------+
    <BLANKLINE>
    """
    return SparkRecAccessor(frame)(partitioned=partitioned, **options)
