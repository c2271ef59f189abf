"""``df.rec`` on DataFrames and LazyFrames of Polars; ``import recframe.polars`` registers it."""

from collections.abc import Hashable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
import pyarrow as pa

from recframe.accessor import RecAccessor
from recframe.analysis.compare import plain_with_undefined
from recframe.analysis.describe import Describer
from recframe.analysis.overview import say_size
from recframe.errors import DAMAGE, RecframeError, quote
from recframe.frames.columns import Columns, find_columns
from recframe.frames.companions import judge_frame, read_judged
from recframe.frames.names import get_column
from recframe.frames.seen_rows import MOST_SEEN, take_users
from recframe.frames.tables import Make, MakeTable, tidy_table
from recframe.methods import RankingMethods, public_method
from recframe.metrics.names import Metric
from recframe.options import Options
from recframe.other_tables import TruthLike, read_frame

__all__ = ["PolarsRecAccessor"]

ROW = 0  # the label of a column of row numbers; names in Polars are text, so no other has it


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
    bounds                 score, metric, low, high, judged                        score, metric
    catalogue              score, coverage@k, gini@k, entropy@k, personalization@k score
    catalogue with `by`    score, exposure@k, catalogue_share, coverage@k, ...     group and score
    overlap                score, other_score, overlap@k or rbo(p=...)             two scores
    rank                   the frame's, rank                                       row and score
    top                    the frame's, rank                                       row of the first
    judge                  the frame's, relevant                                   row and more
    ====================== ======================================================= ==============

    Columns of `by` come first. `rank` and `top` of several score columns have a column
    ``ranked_by`` before the rank. Users are sorted, values are those of pandas bit for bit, and
    undefined ones are null. `describe`, `inspect`, `reconcile` and `robustness` return the results
    of pandas.

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
            shown = "one of pandas. Pass pl.from_pandas(frame)." if is_pandas else quote(frame)
            raise RecframeError(f"frame must be a Polars DataFrame or LazyFrame, but is {shown}")
        super().__init__(frame)

    def _bind(self, options: Options) -> Self:
        if isinstance(self._frame, pl.LazyFrame):
            options.check_unordered("a LazyFrame")
        return super()._bind(options)

    @public_method
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
        return self._list_ranks()

    @public_method
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
        bound = self if truth is None else self._bind(replace(self._options, truth=truth))
        options = bound._options
        columns = find_columns(self._sample, options, call=self._call)
        rows = self._collect_rows()
        frame = _to_pandas(rows, columns.labels)
        frame[ROW] = np.arange(len(frame))
        judged = judge_frame(frame, options)[0]
        number = pl.from_pandas(judged[ROW].astype("Int64"))
        ids = judged.drop(columns=[ROW, *columns.score_columns])
        others = rows.drop("relevant", strict=False).select(pl.all().gather(number))
        return others.with_columns(self._finish(ids))

    @public_method
    def describe(  # type: ignore[override]  # pandas' Description
        self, k: int = 10, trusted: Any = None
    ) -> pd.DataFrame:
        """
        Return counts that describe the data: users, nulls, duplicates, short rankings and ties.

        The result is that of pandas' ``df.rec.describe``, with the same display.

        Parameters
        ----------
        k : int, default 10
            The cut-off, 1 or more.
        trusted : label, DataFrame or path, default None
            Labels of people, as in pandas' method.

        Returns
        -------
        pandas.DataFrame
            Index: names of the counts. Columns: the score columns. ``warnings`` is a list of lines.

        Raises
        ------
        RecframeError
            k is below 1, or a column is missing or does not fit its role.

        See Also
        --------
        recframe.RecAccessor.describe : The counts explained.

        Examples
        --------
        >>> import polars as pl, recframe.polars
        >>> df = pl.DataFrame({"user": [1, 1], "score": [0.5, 0.5], "relevant": [0, 1]})
        >>> df.rec.describe(1).loc[["users", "users with a tie across 1"]]
        score                      score
        users                          1
        users with a tie across 1      1
        """
        return super().describe(k, trusted)  # type: ignore[return-value]  # `_describe` is that of pandas

    @property
    def _sample(self) -> pd.DataFrame:
        schema = self._frame.collect_schema()
        # Structs, and columns that Arrow lacks, have no role; any such type will do.
        types: dict[str, Any] = dict(schema)
        types |= {name: pl.Binary() for name, kind in schema.items() if isinstance(kind, pl.Struct)}
        types |= {name: pl.String() for name, kind in schema.items() if _lacks_arrow_type(kind)}
        return read_frame(pa.table(pl.DataFrame(schema=types)))

    @property
    def _size(self) -> str:
        return super()._size if isinstance(self._frame, pl.LazyFrame) else say_size(self._frame)

    def _read_values(self, label: Hashable) -> pd.Series:
        return get_column(self._read([label]), label)

    def _read_places(self, labels: list[Hashable], columns: Columns) -> list[pd.DataFrame]:
        frame, labels = self._frame, list(dict.fromkeys([*columns.users, *labels]))
        if isinstance(frame, pl.LazyFrame):
            frame = self._select(labels).head(MOST_SEEN).collect()
        with suppress(*DAMAGE):  # a later step refuses a type without ids, or that Arrow lacks
            user = columns.users[0]
            rows = take_users(get_column(_to_pandas(frame, [user]), user))
            return [_to_pandas(frame[rows], labels)]
        return []

    def _map(
        self, make: Make, columns: Columns, options: Options, *, reads_all: bool = False
    ) -> Any:
        if not reads_all:
            return make(read_judged(self._read(columns.labels), columns, options), options)
        rows = self._collect_rows()
        frame = _to_pandas(rows, columns.labels)
        made = make(read_judged(frame, columns, options), options)
        n_added = 1 if len(columns.scores) == 1 else 2
        added = made.iloc[:, -n_added:].reset_index(drop=True)
        return rows[made.index.to_numpy()].hstack(self._finish(added))

    def _per_user(self, metrics: list[Metric], *, is_single: bool = False) -> pl.DataFrame:
        per_user: Any = super()._per_user(metrics)
        schema, has_truth = self._frame.collect_schema(), self._options.has_truth
        # An empty column has lost its type, and decimals have lost their precision.
        names: list[Any] = list(per_user.index.names)
        kinds = {
            name: schema[name]
            for name in names
            if name in schema
            and (len(per_user) == 0 or (schema[name].is_decimal() and not has_truth))
        }
        return self._finish(tidy_table(per_user)).cast(kinds)

    def _whole(
        self, make: Make, columns: Columns, options: Options, make_table: MakeTable
    ) -> pl.DataFrame:
        return self._finish(plain_with_undefined(make_table(self._map(make, columns, options))))

    def _collect(self, table: Any) -> pd.DataFrame:
        return table if isinstance(table, pd.DataFrame) else table.to_pandas()

    def _finish(self, table: pd.DataFrame) -> pl.DataFrame:
        """Return a plain table as a Polars DataFrame; categories get the frame's types."""
        made, schema = pl.from_pandas(table, nan_to_null=True), self._frame.collect_schema()
        kinds = {
            name: schema[name]
            for name, dtype in zip(made.columns, table.dtypes, strict=True)
            if isinstance(dtype, pd.CategoricalDtype) and name in schema
        }
        return made.cast(kinds)  # type: ignore[arg-type]  # a dict by name is allowed

    def _read(self, labels: list[Any]) -> pd.DataFrame:
        """Return these columns of the rows as a DataFrame of pandas."""
        return _to_pandas(self._collect_rows(labels), labels)

    def _collect_rows(self, labels: list[Any] | None = None) -> pl.DataFrame:
        """Return the rows with these columns; None: all."""
        frame = self._frame
        if isinstance(frame, pl.DataFrame):
            return frame if labels is None else frame[labels]
        rows: pl.DataFrame = (frame if labels is None else self._select(labels)).collect()
        return rows

    def _select(self, labels: list[Any]) -> Any:
        """Return these columns; they are selected by number, since a name may be a pattern."""
        names = self._frame.collect_schema().names()
        return self._frame.select(cs.by_index(*map(names.index, labels)))

    def _describe(self, describer: Describer) -> Any:
        return RecAccessor(self._read(describer.columns.labels))._describe(describer)

    def _rows_of(self, user: Hashable, columns: Columns) -> tuple[pd.DataFrame, bool]:
        return self._read(columns.labels), True


def _to_pandas(rows: pl.DataFrame, labels: list[Any]) -> pd.DataFrame:
    """Return these columns of rows as a DataFrame of pandas; raise for a type that Arrow lacks."""
    rows = rows[labels]
    for name, dtype in rows.schema.items():
        if _lacks_arrow_type(dtype):
            raise RecframeError(
                f"the column {quote(name)} must be of a type that Arrow has, but is {dtype}. "
                f"Convert it, for example with pl.col({quote(name)}).cast(pl.Int64)."
            )
    return read_frame(pa.table(rows), labels)


def _lacks_arrow_type(dtype: pl.DataType) -> bool:
    """Return whether Arrow lacks a type, such as Python objects and integers of 128 bits."""
    if isinstance(dtype, pl.List | pl.Array):
        return _lacks_arrow_type(dtype.inner)  # type: ignore[arg-type]  # the constructor makes it a type
    if isinstance(dtype, pl.Struct):
        return any(_lacks_arrow_type(field.dtype) for field in dtype.fields)  # type: ignore[arg-type]
    return dtype == pl.Object or str(dtype).endswith("128")
