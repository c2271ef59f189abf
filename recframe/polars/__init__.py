"""``df.rec`` of Polars, on DataFrames and LazyFrames. Imported only by those who use Polars."""

from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
import polars as pl

from recframe.accessor import RecAccessor
from recframe.analysis.compare import UNDEFINED
from recframe.analysis.overview import say_size
from recframe.analysis.ranks import list_ranks, rank_options, top_columns
from recframe.errors import RecframeError, quote
from recframe.foreign import TruthLike, read_frame
from recframe.frames.columns import Columns, find_columns, get_column
from recframe.frames.tables import Make, MakeTable, make_of_table, measure_table, plain_table
from recframe.frames.truth import judge_frame, read_judged
from recframe.methods import RankingMethods
from recframe.metrics.names import Metric
from recframe.options import Options
from recframe.polars.columns import (
    as_frame,
    as_polars,
    collect,
    make_sample,
    per_user_rows,
    read_table,
)

__all__ = ["PolarsRecAccessor"]

ROW = 0  # the label of a column of row numbers: no column of Polars has a number for a name


@pl.api.register_dataframe_namespace("rec")
@pl.api.register_lazyframe_namespace("rec")
class PolarsRecAccessor(RankingMethods[pl.DataFrame]):
    """
    Ranking metrics of a Polars DataFrame or LazyFrame of interactions, as ``df.rec``.

    Methods and options are those of pandas' ``df.rec``; `truth` and `exclude` may be DataFrames of
    Polars too. Tables are DataFrames with plain columns:

    ====================== ======================================================= ==============
    method                 columns                                                 a row for each
    ====================== ======================================================= ==============
    of a metric, evaluate  the user's, score, one for each metric                  user and score
    mean                   score, one for each metric                              score
    curve                  score, k, the metric's                                  score and k
    summary                score, metric, mean, low, high, ..., n_undefined        score, metric
    compare                score, metric, baseline, difference, low, high, ...     score, metric
    catalogue              score, coverage@k, gini@k, entropy@k, personalization@k score
    rank                   the frame's, rank                                       row and score
    top                    the frame's, rank                                       row of the first
    judge                  the frame's, relevant                                   row and more
    ====================== ======================================================= ==============

    Columns of `by` come first. `rank` and `top` of several score columns have a column
    ``ranked_by`` before the rank. Users are sorted, values are those of pandas bit for bit, and
    undefined ones are null. `describe` and `inspect` return the results of pandas.

    For a LazyFrame, each call collects only the columns that it needs; `rank`, `top` and `judge`
    return rows and collect all. Its tables are DataFrames too. The namespace and its display read
    the schema only. A LazyFrame has no order of rows, so options that need one are refused.

    Parameters
    ----------
    frame : polars.DataFrame or polars.LazyFrame
        The interactions.

    See Also
    --------
    recframe.RecAccessor : The same for pandas DataFrames.
    recframe.rec : Takes a DataFrame of Polars as well, and returns tables of pandas.

    Examples
    --------
    >>> import polars as pl, recframe.polars
    >>> df = pl.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> df.rec.recall(k=1)
    shape: (2, 3)
    ┌──────┬───────┬──────────┐
    │ user ┆ score ┆ recall@1 │
    │ ---  ┆ ---   ┆ ---      │
    │ i64  ┆ str   ┆ f64      │
    ╞══════╪═══════╪══════════╡
    │ 1    ┆ score ┆ 0.0      │
    │ 2    ┆ score ┆ 1.0      │
    └──────┴───────┴──────────┘
    """

    def __init__(self, frame: Any) -> None:
        if not isinstance(frame, pl.DataFrame | pl.LazyFrame):
            is_pandas = isinstance(frame, pd.DataFrame)
            found = "one of pandas; pass pl.from_pandas(frame)" if is_pandas else quote(frame)
            raise RecframeError(f"frame must be a Polars DataFrame or LazyFrame, found {found}")
        super().__init__(frame)

    def _bind(self, options: Options) -> Self:
        if isinstance(self._frame, pl.LazyFrame):
            options.check_unordered("a LazyFrame")
        return super()._bind(options)

    def rank(self) -> pl.DataFrame:
        """
        Return every row with its position in its user's ranking.

        1 is the best. Tied rows share the mean of their positions, as in pandas' ``Series.rank``:
        all under "expected", those of the same relevance under "best" and "worst".

        Returns
        -------
        DataFrame
            The rows of the frame, in their order, with a new column ``rank``, null for rows that
            are not ranked. With several score columns, each has all rows, and a column
            ``ranked_by`` names it.

        Raises
        ------
        RecframeError
            The frame has a column named like a new one, or it is refused; its relevance is read
            only for "best" and "worst".

        See Also
        --------
        top : The first rows of every user.

        Examples
        --------
        >>> import polars as pl, recframe.polars
        >>> df = pl.DataFrame({"user": [1, 1, 1], "score": [0.5, 0.9, 0.5]})
        >>> df.rec.rank()["rank"].to_list()
        [2.5, 1.0, 2.5]
        """
        options = rank_options(self._options)
        columns = top_columns(self._sample, None, options, self._call)
        ranked: pl.DataFrame = self._map(list_ranks, columns, options, reads_all=True)
        return ranked

    def judge(self, truth: TruthLike | None = None) -> pl.DataFrame:
        """
        Return the frame with the relevance that truth gives, and the items it does not list.

        The rows of the frame come first, then the relevant items of truth without a row, null in
        all other columns; also those of users without a row, unless `population` leaves them out.
        Grades are dropped.

        Parameters
        ----------
        truth : DataFrame, Arrow table or path, default None
            The relevant items of every user; None: the `truth` the accessor was called with.

        Returns
        -------
        DataFrame
            The columns of the frame and a boolean column ``relevant``.

        Raises
        ------
        RecframeError
            No truth is given, or the frame or truth is refused as in `recframe.evaluate`.

        See Also
        --------
        recframe.evaluate : The metrics of a frame against truth.

        Examples
        --------
        >>> import polars as pl, recframe.polars
        >>> recs = pl.DataFrame({"user": [1, 1], "item": ["a", "b"], "score": [0.9, 0.8]})
        >>> recs.rec.judge(pl.DataFrame({"user": [1, 1], "item": ["b", "c"]})).rows()
        [(1, 'a', 0.9, False), (1, 'b', 0.8, True), (1, 'c', None, True)]
        """
        options = self._options if truth is None else replace(self._options, truth=truth)
        columns = find_columns(self._sample, options, call=self._call)
        rows = collect(self._frame)
        frame = as_frame(rows, columns)
        frame[ROW] = np.arange(len(frame))
        judged = judge_frame(frame, options)[0]
        number = pl.from_pandas(judged[ROW].astype("Int64"))
        ids = judged.drop(columns=[ROW, *columns.score_columns])
        others = rows.drop("relevant", strict=False).select(pl.all().gather(number))
        return others.with_columns(self._finish(ids))

    def describe(self, k: int = 10) -> pd.DataFrame:  # type: ignore[override]  # with its warnings
        """
        Return figures of the data: users, nulls, duplicates, short rankings and ties.

        The result is that of pandas' ``df.rec.describe``, with the same display.

        Parameters
        ----------
        k : int, default 10
            The cut-off, 1 or more.

        Returns
        -------
        pandas.DataFrame
            Index: the figures. Columns: the score columns. ``warnings`` is a list of lines.

        Raises
        ------
        RecframeError
            k is below 1, or a column is missing or does not fit its role.

        See Also
        --------
        recframe.RecAccessor.describe : The figures explained.

        Examples
        --------
        >>> import polars as pl, recframe.polars
        >>> df = pl.DataFrame({"user": [1, 1], "score": [0.5, 0.5], "relevant": [0, 1]})
        >>> df.rec.describe(1).loc[["users", "users with a tie across 1"]]
        score                      score
        users                          1
        users with a tie across 1      1
        """
        return super().describe(k)  # type: ignore[return-value]  # of pandas, as below

    @property
    def _sample(self) -> pd.DataFrame:
        return make_sample(self._frame.collect_schema())

    @property
    def _size(self) -> str:
        return super()._size if isinstance(self._frame, pl.LazyFrame) else say_size(self._frame)

    def _read_values(self, label: Hashable) -> pd.Series:
        return get_column(read_frame(read_table(self._frame, [label]), [label]), label)

    def _map(
        self, make: Make, columns: Columns, options: Options, *, reads_all: bool = False
    ) -> Any:
        if not reads_all:
            return make_of_table(partial(read_table, self._frame), make, columns, options)
        rows = collect(self._frame)
        made = make(read_judged(as_frame(rows, columns), columns, options), options)
        n_added = 1 if len(columns.scores) == 1 else 2
        added = made.iloc[:, -n_added:].reset_index(drop=True)
        return rows[made.index.to_numpy()].hstack(self._finish(added))

    def _per_user(self, metrics: list[Metric], *, is_single: bool = False) -> pl.DataFrame:
        columns, options = self._find_columns(metrics=metrics), self._options
        read, make = partial(read_table, self._frame), partial(measure_table, metrics=metrics)
        # One form for one metric or several.
        per_user = make_of_table(read, make, columns, options)
        return per_user_rows(per_user, self._frame.collect_schema(), options)

    def _whole(
        self, make: Make, columns: Columns, options: Options, make_table: MakeTable
    ) -> pl.DataFrame:
        plain = plain_table(make_table(self._map(make, columns, options)))
        if "low" in plain:  # whose columns are there whatever the data are
            undefined = ["n_undefined"] if "mean" in plain else UNDEFINED
            plain = plain.assign(**{name: 0 for name in undefined if name not in plain})
        return self._finish(plain)

    def _collect(self, table: Any) -> pd.DataFrame:
        return table if isinstance(table, pd.DataFrame) else table.to_pandas()

    def _finish(self, table: pd.DataFrame) -> pl.DataFrame:
        """Return a table of pandas as one of Polars."""
        return as_polars(table, self._frame.collect_schema())

    def _describe(self, columns: Columns, k: int, options: Options) -> Any:
        table = read_table(self._frame, columns.labels)
        return RecAccessor(table)._describe(columns, k, options)

    def _rows_of(self, user: Hashable, columns: Columns) -> tuple[pd.DataFrame, bool]:
        return as_frame(collect(self._frame, columns.labels), columns), True
