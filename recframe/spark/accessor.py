"""SparkRecAccessor: the methods of ``df.rec`` on Spark DataFrames, lazily."""

from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from typing import Any, Self, Unpack

import pandas as pd
from pyspark.sql import DataFrame

from recframe.analysis.compare import UNDEFINED
from recframe.analysis.grouping import Grouping
from recframe.analysis.ranks import list_ranks, rank_options, top_columns
from recframe.calls import public
from recframe.errors import RecframeError, quote
from recframe.frames.columns import Columns
from recframe.frames.interactions import read_interactions
from recframe.frames.tables import mean_table, plain_table
from recframe.methods import Join, Make, MakeTable, RankingMethods, as_it_is
from recframe.metrics.names import Metric
from recframe.options import OptionArguments, Options
from recframe.spark import cells, described, tasks
from recframe.spark.beside import BESIDE
from recframe.spark.columns import check_frame, check_kinds, check_order, make_sample
from recframe.spark.given import open_beside
from recframe.spark.lazy import (
    UserRows,
    bring_together,
    find_beside,
    find_user,
    make_checked,
    make_empty,
    make_of_partitions,
    make_of_users,
    pick,
)
from recframe.spelling import spell_options


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

    `rank` and `top` of several score columns have a column ``ranked_by`` before the rank. What is
    undefined is null. Values per user are those of pandas bit for bit; of `mean` and `curve` the
    last digit may differ, as sums of partitions are summed. `describe` and `inspect` are computed
    at once, to what pandas has. Arguments and columns are checked at once, values when computed.

    Rows are shuffled so that those of a user meet, in one Python process with all others of their
    partition; with ``user=["date", "user"]`` each combination is a user. Their order is lost: ties
    cannot go by it. `truth` and `exclude` may be of Spark too, and are shuffled with them, or of
    pandas or a file, which the driver reads; where truth of Spark has other columns, `relevant`
    says which is its relevance, or None. Executors need recframe.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The interactions.

    See Also
    --------
    rec : What makes it.
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
        check_frame(frame)
        super().__init__(frame)
        self._given: dict[str, Any] = {}  # truth and exclude, where they are Spark's

    @spell_options
    @public
    def __call__(self, *, partitioned: bool = False, **options: Unpack[OptionArguments]) -> Self:
        """
        Return an accessor to the same frame with these options.

        What is not passed has its default.

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

        Examples
        --------
        >>> import pandas as pd, recframe.spark
        >>> from pyspark.sql import SparkSession
        >>> spark = SparkSession.builder.getOrCreate()
        >>> df = pd.DataFrame({"user": [1, 1], "score": [0.5, 0.5], "relevant": [0, 1]})
        >>> recframe.spark.rec(spark.createDataFrame(df))(ties="worst").recall(k=1).show()
        +----+-----+--------+
        |user|score|recall@1|
        +----+-----+--------+
        |   1|score|     0.0|
        +----+-----+--------+
        <BLANKLINE>
        """
        if not isinstance(partitioned, bool):
            raise RecframeError(f"partitioned must be True or False, found {quote(partitioned)}")
        asked: dict[str, Any] = {**options}
        given = {name: asked[name] for name in BESIDE if isinstance(asked.get(name), DataFrame)}
        samples: Any = {name: make_sample(one) for name, one in given.items()}
        options |= samples
        bound = super().__call__(**options)
        bound._partitioned, bound._given = partitioned, given
        check_order(bound._options)
        return bound

    def rank(self) -> Any:
        """
        Return every row with its position in its user's ranking.

        1 is the best. Tied rows share the mean of their positions, as in ``Series.rank``: all under
        "expected", those of the same relevance under "best" and "worst".

        Returns
        -------
        DataFrame
            The rows of the frame with a column ``rank`` added, null for rows that are not ranked.
            Of several score columns, each row is there once for each, and a column ``ranked_by``
            has the score column.

        Raises
        ------
        RecframeError
            The frame has a column of the name of one that is added, or it is refused; its relevance
            is read only for "best" and "worst".

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

    def _per_user(self, metrics: list[Metric], make_table: MakeTable = as_it_is) -> Any:
        return super()._per_user(metrics)  # one form for one metric or several

    def _map(
        self, make: Make, columns: Columns, options: Options, *, reads_all: bool = False
    ) -> Any:
        source, options = self._together(columns, options, reads_all=reads_all)
        made = self._make_sample(make, columns, options)
        result = source.make_result(made, self._frame.columns, columns, reads_all=reads_all)
        is_checked = columns.user is not None and bool(source.layout.beside or self._partitioned)
        names = result.schema.names
        task = tasks.Task(source.layout, make, columns, options, names, source.users, is_checked)
        run = partial(tasks.make_rows if reads_all else tasks.make_users, task=task)
        return make_checked(source.rows, run, result, task)

    def _make_sample(self, make: Make, columns: Columns, options: Options) -> pd.DataFrame:
        """Return what is made of no row."""
        # Without rows user=None is one short ranking, which only the data may be refused for.
        return make(
            read_interactions(self._sample, columns, options), replace(options, short="pad")
        )

    def _together(
        self, columns: Columns, options: Options, *, reads_all: bool = False
    ) -> tuple[UserRows, Options]:
        """Return the rows of the frame and those beside it, and the options that go with them."""
        check_kinds(self._frame, columns)
        beside, options = open_beside(self._given, self._frame, columns, options)
        own = {"reads_all": reads_all, "keeps": self._partitioned}
        return bring_together(self._frame, beside, columns, options, **own), options

    def _add_up(
        self,
        make: Make,
        columns: Columns,
        options: Options,
        make_table: MakeTable,
        join: Join | None = None,
    ) -> Any:
        (rows, layout, users), options = self._together(columns, options)
        empty = self._make_sample(make, columns, options)
        task = tasks.Task(layout, make, columns, options, [], users, is_checked=True)
        read = partial(cells.make_partition, task=task, lists_users=self._partitioned)
        of_all = partial(cells.make_of_made, make_table=make_table, empty=empty)
        return make_of_partitions(rows, read, of_all, list(plain_table(make_table(empty)).columns))

    def _by_segment(self, grouping: Grouping, *_: Any) -> Any:
        asked = " and ".join(dict.fromkeys(one.argument for one in grouping.all))
        raise RecframeError(
            f"{asked}: Spark takes none yet; join users' segments to .evaluate(...) and group "
            "by them there, or pass its pandas table to recframe.summary"
        )

    def _whole(self, per_user: Any, make_table: MakeTable) -> Any:
        empty = make_empty(per_user, self._sample, self._options)
        table = make_table(empty)  # which checks what is left to check
        # Columns are there whatever the data are.
        undefined = ["n_undefined"] if "mean" in table else UNDEFINED
        labels = [*plain_table(table).columns, *undefined]
        make = partial(cells.make_of_all, make_table=make_table, empty=empty)
        return make_of_users(per_user, cells.read_table, make, labels, empty)

    def _mean(self, per_user: Any, make_table: MakeTable) -> Any:
        empty = make_empty(per_user, self._sample, self._options)
        labels = list(plain_table(make_table(mean_table(empty))).columns)
        make = partial(cells.make_of_sums, make_table=make_table, empty=empty)
        return make_of_users(per_user, cells.read_sums, make, labels, empty)

    def _describe(self, columns: Columns, k: int) -> Any:
        check_kinds(self._frame, columns)
        beside, options = open_beside(self._given, self._frame, columns, self._options)
        truth = beside.pop("truth", None)
        source = bring_together(self._frame, beside, columns, options, keeps=self._partitioned)
        return described.describe(source, truth, self._sample, columns, k, options)

    def _options_for(self, user: Hashable, columns: Columns) -> Options:
        beside, options = open_beside(self._given, self._frame, columns, self._options)
        return find_beside(beside, user, columns, options)

    def _rows_of(self, user: Hashable, columns: Columns) -> tuple[pd.DataFrame, bool]:
        check_kinds(self._frame, columns)
        return find_user(pick(self._frame, columns.labels), user, columns.users), False
