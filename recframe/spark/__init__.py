"""``recframe.spark.rec(sdf)``: the methods of ``df.rec`` on Spark DataFrames."""

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, Self, Unpack, cast

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame

from recframe.analysis.describe import Describer
from recframe.analysis.ranked_rows import N_IDS_NAMED, is_user
from recframe.errors import RecframeError
from recframe.frames.columns import Columns
from recframe.frames.companions import Blocks, Companions
from recframe.frames.tables import Make, MakeTable, join_tables, make_columns, sort_table
from recframe.methods import public_method
from recframe.metrics.names import Metric
from recframe.notes import facts_noted
from recframe.options import OptionArguments, Options, spell_options
from recframe.other_tables import frame_error, read_frame
from recframe.partitions import PartitionedAccessor, check_bound
from recframe.public_calls import public
from recframe.spark import results, rows

__all__ = ["SparkRecAccessor", "rec"]


class SparkRecAccessor(PartitionedAccessor):
    """
    Ranking metrics of a Spark DataFrame of interactions, as ``recframe.spark.rec(sdf)``.

    Methods and options are those of ``df.rec``; in place of ``judge``, pass ``truth=``. Tables are
    Spark DataFrames with plain columns, their rows in no order:

    ====================== ======================================================= ==============
    method                 columns                                                 a row for each
    ====================== ======================================================= ==============
    of a metric, evaluate  the users', score, one for each metric                  user and score
    mean                   score, one for each metric                              score
    curve                  score, k, the metric's                                  score and k
    summary                score, metric, mean, low, high, ..., n_undefined        score, metric
    compare                score, metric, baseline, difference, low, high, ...     score, metric
    bounds                 score, metric, low, high, judged                        score, metric
    catalogue              score, coverage@k, gini@k, entropy@k, personalization@k score
    catalogue with `by`    score, exposure@k, catalogue_share, coverage@k, ...     group and score
    overlap                score, other_score, overlap@k or rbo(p=...)             two scores
    rank                   the frame's, rank                                       row and score
    top                    the frame's, rank                                       row of the first
    ====================== ======================================================= ==============

    `rank` and `top` of several score columns have a column ``ranked_by`` before the rank. Undefined
    values are null. Columns of `by` come first; a Series for `by` or `weights` is one of pandas
    whose index holds users. Values per user are those of pandas bit for bit. The last digit of
    `mean` and `curve` without segments may differ, because sums of partitions are summed.

    The tables of `evaluate`, metrics, `rank` and `top` are lazy: arguments and columns are checked
    at once, values when computed. All others are computed at once by the workers and the driver.
    `summary`, `compare`, `by` and `weights` need the values of every user on the driver.
    `describe`, `inspect`, `reconcile` and `robustness` return the results of pandas; the last two
    run a job for each convention.

    A shuffle brings the rows of each user together, in one Python process per partition; with
    ``user=["date", "user"]`` each combination is a user. It loses the order of rows, so ties cannot
    use it. `truth` and `exclude` may be Spark DataFrames, which are shuffled too, or a pandas
    DataFrame or a file, which the driver reads. If truth of Spark has further columns, `relevant`
    names its relevance, or is None. Executors need recframe.

    Columns of arrays become rows, as lists in files do (`recframe.scan`), if no other column is
    named as an item or a score; also in truth and exclude of Spark.

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

    _frame: rows.SparkRows
    _engine = "Spark"
    _call = "recframe.spark.rec(sdf)"
    _asks_all = False  # Each answer would compute all rows again.

    def __init__(self, frame: Any) -> None:
        if isinstance(frame, pd.DataFrame):
            raise RecframeError(
                "frame must be a Spark DataFrame, but is one of pandas. Pass "
                "spark.createDataFrame(frame), or use frame.rec."
            )
        if not isinstance(frame, DataFrame):
            raise frame_error("frame", "a Spark DataFrame", frame)
        super().__init__(rows.open_frame(frame, "", {}))
        self._given = dict[str, rows.SparkRows]()  # truth and exclude if they are on Spark

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
            truth they are shuffled anyway. A promise that does not hold is found when
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
        given, asked = dict[str, rows.SparkRows](), cast("dict[str, Any]", options)
        for name, one in asked.items():
            if isinstance(one, DataFrame):
                given[name] = rows.open_frame(one, name, asked)
                asked[name] = given[name].sample
        bound = super().__call__(**options)
        bound._partitioned, bound._given = check_bound(partitioned), given
        return bound

    @public_method
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
        return self._list_ranks()

    @property
    def _sample(self) -> pd.DataFrame:
        return self._frame.sample

    def _per_user(self, metrics: list[Metric], *, is_single: bool = False) -> Any:
        return super()._per_user(metrics)  # One metric and several have the same form.

    def _start(
        self, make: Make, columns: Columns, options: Options, *, reads_all: bool = False
    ) -> tuple[Blocks, dict[str, rows.Side]]:
        """Return the work on partitions, and the frame, truth and exclude that they have."""
        sides, options = rows.open_companions(self._given, self._frame, columns, options)
        frame = self._frame if reads_all else self._frame.select(columns.labels)
        none, notes = Companions(are_partitioned=True), facts_noted().only_mistakes
        blocks = Blocks(make, columns, options, self._sample, none, self._partitioned, notes)
        return blocks, {"frame": (frame, columns), **sides}

    def _map(
        self, make: Make, columns: Columns, options: Options, *, reads_all: bool = False
    ) -> Any:
        blocks, tables = self._start(make, columns, options, reads_all=reads_all)
        return results.make_results(blocks, tables, reads_all=reads_all)

    def _whole(self, make: Make, columns: Columns, options: Options, make_table: MakeTable) -> Any:
        blocks, tables = self._start(make, columns, options)
        parts = results.collect_results(tables, blocks.read, keeps=self._partitioned)
        table = make_table(join_tables(list(blocks.iter_tables(parts))))
        return results.put_on_spark(table, tables, self._by)

    def _read_values(self, label: Hashable) -> pd.Series:
        one = self._frame.select([label])
        return one.read(one.rows.distinct().toArrow())[label]

    def _collect(self, table: Any) -> pd.DataFrame:
        if isinstance(table, pd.DataFrame):
            return table
        tidy, at = read_frame(table.toArrow()), table.columns.index("score")
        users, metrics = table.columns[:at], table.columns[at + 1 :]
        if at == 0 or "metric" in metrics:
            return tidy
        wide = tidy.pivot(index=users, columns="score", values=metrics)  # noqa: PD010 - no sums
        labels = make_columns(tidy["score"].unique(), metrics)
        return sort_table(wide.swaplevel(axis=1).reindex(columns=labels).astype(float))

    def _describe(self, describer: Describer) -> Any:
        columns = describer.columns
        sides, options = rows.open_companions(self._given, self._frame, columns, describer.options)
        # Items that no partition has are known only from all of truth.
        read: Any = {name: one.read(one.rows.toArrow()) for name, (one, _) in sides.items()}
        describer = describer._replace(options=replace(options, **read)).open()
        describer = describer._replace(options=options)
        tables = {"frame": (self._frame.select(columns.labels), columns)}
        parts = results.collect_results(tables, describer.read, keeps=self._partitioned)
        return describer.describe(parts, self._sample)

    def _options_for(self, user: Hashable, columns: Columns) -> Options:
        sides, options = rows.open_companions(self._given, self._frame, columns, self._options)
        # The rows of this user are enough.
        rows_of: Any = {name: self._find_user(*side, user) for name, side in sides.items()}
        return replace(options, **rows_of)

    def _rows_of(self, user: Hashable, columns: Columns) -> tuple[pd.DataFrame, bool]:
        rows.check_kinds(self._frame, columns.labels, columns.features)
        found = self._find_user(self._frame.select(columns.labels), columns, user)
        # With truth, rows of other users would be checked too, and refused if wrong.
        return found[is_user(found, user, columns)] if self._options.has_truth else found, False

    def _find_user(self, side: rows.SparkRows, columns: Columns, user: Hashable) -> pd.DataFrame:
        """Return the rows of one user; a few others if the user has none."""
        of_worker = side._replace(rows=None)

        def find(table: pa.Table) -> pa.Table:
            return table.filter(pa.array(is_user(of_worker.read(table), user, columns)))

        found = side.read(results.map_rows(side.rows, find, side.rows.schema).toArrow())
        return found if len(found) else side.read(side.rows.limit(N_IDS_NAMED).toArrow())


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
