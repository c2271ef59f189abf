"""``ddf.rec``: the accessor of Dask DataFrames, lazily. Imported only by those who use Dask."""

import sys
import warnings
from collections.abc import Hashable, Iterable
from typing import Any, Self, Unpack, cast

import dask.dataframe as dd
import dask.tokenize
import pandas as pd
import pyarrow as pa
from dask.base import tokenize
from dask.dataframe.extensions import register_dataframe_accessor

from recframe.analysis.describe import Describer
from recframe.analysis.ranked_rows import is_user
from recframe.errors import RecframeError, quote
from recframe.frames.columns import Columns
from recframe.frames.companions import Blocks, Companions, read_companions
from recframe.frames.judgments import check_given_columns
from recframe.frames.list_columns import MemberColumns, find_list_columns
from recframe.frames.list_frames import list_types
from recframe.frames.names import get_column, is_same
from recframe.frames.tables import Make, MakeTable, in_cells, join_tables, sort_table
from recframe.notes import facts_noted, list_notes, taking_notes, warn_of
from recframe.options import OptionArguments, Options, spell_options
from recframe.partitions import PartitionedAccessor, check_bound, check_promise, make_empty
from recframe.public_calls import public

__all__ = ["DaskRecAccessor"]

ANY_CELL = in_cells([None])

# Dask names frames and indexes of pandas by their values, and takes equal names to be one object.
# Here, names also include the columns, and dtypes such as Int64 and string.
normalize_token: Any = dask.tokenize.normalize_token  # It has no types.
_token_of_index = normalize_token.dispatch(pd.Index)
normalize_token.register(pd.Index, lambda index: (index.dtype.name, _token_of_index(index)))


def _token_of_frame(frame: pd.DataFrame) -> list[Any]:
    """Return tokens by which a frame differs from others."""
    columns = (frame.iloc[:, place] for place in range(frame.shape[1]))
    tokens = [(column.dtype.name, normalize_token(column.array)) for column in columns]
    return [normalize_token(frame.columns), normalize_token(frame.index), tokens]


normalize_token.register(pd.DataFrame, _token_of_frame)


@register_dataframe_accessor("rec")  # type: ignore[no-untyped-call]  # Dask has none
class DaskRecAccessor(PartitionedAccessor):
    """
    Ranking metrics of a Dask DataFrame of interactions, as ``ddf.rec``.

    Methods and options are those of ``df.rec``; in place of ``judge``, pass ``truth=``. A table is
    a lazy Dask DataFrame with the same values bit for bit, in no order of users or rows. The last
    digit of `mean` and `curve` may differ, because sums of partitions are summed. `inspect`
    computes the rows of its user at once. Arguments and columns are checked at once, values when
    computed.

    A shuffle brings the rows of each user together. It loses their order, so ties cannot use it.
    Columns of lists become rows if their types are Arrow's, and if no other column is named as an
    item or a score.

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

    _engine = "Dask"
    _call = "ddf.rec"

    def __init__(self, frame: Any) -> None:
        if not isinstance(frame, dd.DataFrame):
            is_pandas = isinstance(frame, pd.DataFrame)
            remedy = ". Pass dd.from_pandas(frame), or use frame.rec." if is_pandas else ""
            raise RecframeError(f"frame must be a Dask DataFrame, but is {quote(frame)}{remedy}")
        super().__init__(make_member_rows(frame))

    @spell_options
    @public
    def __call__(self, *, partitioned: bool = False, **options: Unpack[OptionArguments]) -> Self:
        """
        Return an accessor to the same frame with these options.

        Options that are not passed have their defaults.

        Parameters
        ----------
        partitioned : bool, default False
            Promises that each user's rows are in one partition, which saves the shuffle. A promise
            that does not hold is found when computed, and refused.
        **options
            Those of `recframe.evaluate`; `truth` and `exclude` may be Dask DataFrames too, which
            are computed at once.

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
        asked = cast("dict[str, Any]", options)
        for name, one in asked.items():
            if isinstance(one, dd.DataFrame):
                asked[name] = one.compute()  # type: ignore[no-untyped-call]  # Dask has none
        bound = super().__call__(**options)
        for name in ("min_relevance", "trusted_min_relevance", "min_score"):
            check_token(name, getattr(bound._options, name))
        bound._partitioned = check_bound(partitioned)
        return bound

    @property
    def _sample(self) -> pd.DataFrame:
        sample: pd.DataFrame = self._frame._meta
        return sample

    @property
    def _size(self) -> str:
        return f"{super()._size} in {self._frame.npartitions:,} partitions"

    def _read_values(self, label: Hashable) -> pd.Series:
        values = self._select([label]).map_partitions(get_column, label)
        distinct: pd.Series = values.drop_duplicates().compute()
        return distinct

    def _map(
        self, make: Make, columns: Columns, options: Options, *, reads_all: bool = False
    ) -> Any:
        blocks, frame, pairs = self._start(make, columns, options, reads_all=reads_all)
        results = frame.map_partitions(in_cell, pairs, blocks, meta=ANY_CELL)
        none = make_empty(blocks)
        if not blocks.lists_users:
            return results.map_partitions(get_made, None, meta=none)
        unmade = results.map_partitions(leave_made, meta=ANY_CELL).repartition(npartitions=1)
        checked = unmade.map_partitions(make_absent, pairs, blocks, none, meta=none)
        made = results.map_partitions(get_made, checked, meta=none)
        if not options.has_truth or columns.user is None:
            return made
        return dd.concat([made, checked])  # type: ignore[no-untyped-call]  # Dask has none

    def _whole(self, make: Make, columns: Columns, options: Options, make_table: MakeTable) -> Any:
        blocks, frame, pairs = self._start(make, columns, options)
        results = frame.map_partitions(in_cell, pairs, blocks, meta=ANY_CELL)
        given = blocks, make_table
        meta = make_table(make_empty(blocks))  # This raises if options are wrong.
        # Columns of undefined values exist only if the data has such values.
        return results.repartition(npartitions=1).map_partitions(
            make_whole, pairs, *given, meta=meta, enforce_metadata=False
        )

    def _collect(self, table: Any) -> pd.DataFrame:
        computed: pd.DataFrame = table.compute()
        return sort_table(computed) if computed.columns.nlevels == 2 else computed

    def _describe(self, describer: Describer) -> Any:
        frame, pairs = self._open(describer.columns, describer.options)
        results = frame.map_partitions(in_cell, pairs, describer, meta=ANY_CELL)
        given = describer, self._sample
        meta = describe(in_cells([]), in_cells([Companions()]), *given)
        one = results.repartition(npartitions=1)
        return one.map_partitions(describe, pairs, *given, meta=meta)

    def _rows_of(self, user: Hashable, columns: Columns) -> tuple[pd.DataFrame, bool]:
        check_token("user", user)
        frame = self._select(columns.labels)
        is_own = frame.map_partitions(is_user, user, columns, meta=(None, bool))
        rows = frame[is_own].compute()
        if len(rows) == 0 and not self._options.has_truth:
            rows = frame.head(npartitions=-1)  # The refusal names some of these ids.
        return rows, False

    def _select(self, labels: Iterable[Hashable]) -> Any:
        """Return the columns with these labels; the index stays."""
        own = [name for name in self._frame.columns if any(is_same(name, one) for one in labels)]
        return self._frame[own]

    def _start(
        self, make: Make, columns: Columns, options: Options, *, reads_all: bool = False
    ) -> tuple[Blocks, Any, Any]:
        """Return the work on partitions, their rows, and truth and exclude, if any."""
        frame, pairs = self._open(columns, options, reads_all=reads_all)
        lists_users = self._partitioned or options.has_truth or options.exclude is not None
        notes = facts_noted().only_mistakes
        blocks = Blocks(make, columns, options, self._sample, Companions(), lists_users, notes)
        return blocks, frame, pairs

    def _open(self, columns: Columns, options: Options, *, reads_all: bool = False) -> Any:
        """Return the rows, each user's in one partition, and a task for truth and exclude."""
        check_given_columns(columns, options)
        frame = self._frame if reads_all else self._select(columns.labels)
        if columns.user is None:
            frame = frame.repartition(npartitions=1)
        elif any(isinstance(label, tuple) for label in columns.users):
            raise RecframeError(
                f"user={quote(columns.user)}: Dask does not shuffle by a column whose label is a "
                "tuple. Rename it."
            )
        elif not self._partitioned:
            # Known divisions are not enough: a user may be on both sides of one.
            frame = frame.shuffle(on=columns.users)
        # A task needs a frame, with any values. The oldest Dask takes no delayed object here.
        one = dd.from_pandas(pd.DataFrame({"": [0]}))  # type: ignore[no-untyped-call]  # Dask has none
        return frame, one.map_partitions(read_pairs, columns, options, meta=ANY_CELL)


def make_member_rows(frame: Any) -> Any:
    """Return a Dask DataFrame whose columns of lists of Arrow became rows."""
    if not list_types(frame._meta) or not frame.columns.is_unique:
        return frame
    frame = frame if frame.index.name is None else frame.reset_index()
    columns = find_list_columns(pa.Schema.from_pandas(frame._meta), "", {})
    if not columns.lists:
        return frame
    meta = make_partition_rows(frame._meta, columns)
    meta.attrs.update(columns.attrs)
    return frame.map_partitions(make_partition_rows, columns, meta=meta)


def check_token(name: str, value: object) -> None:
    """Raise if Dask cannot name a task with this value."""
    try:
        tokenize(value, ensure_deterministic=True)
    except (RuntimeError, TypeError, ValueError) as error:
        raise RecframeError(
            f"{name} must be a value that Dask can tokenize (a number, text), but is {quote(value)}"
        ) from error


# Functions of partitions, which workers find here by name.


@public
def make_partition_rows(frame: pd.DataFrame, columns: MemberColumns) -> pd.DataFrame:
    """Return a row for each member of the lists in a partition."""
    rows = columns.flatten(pa.RecordBatch.from_pandas(frame))
    return pd.DataFrame(rows.to_pandas(types_mapper=pd.ArrowDtype))


@public
def read_pairs(_: pd.DataFrame, columns: Columns, options: Options) -> pd.DataFrame:
    """Return truth and exclude, in one cell."""
    return in_cells([read_companions(columns, options)])


@public
def in_cell(frame: pd.DataFrame, pairs: pd.DataFrame, work: Blocks | Describer) -> pd.DataFrame:
    """Return the result for a partition, in one cell."""
    return in_cells([work._replace(companions=pairs["cell"].iloc[0]).read(frame)])


def get_made(results: pd.DataFrame, _: pd.DataFrame | None) -> pd.DataFrame:
    """Return the table of a partition, once all partitions are checked."""
    made: pd.DataFrame = results["cell"].iloc[0].made
    return made


def leave_made(results: pd.DataFrame) -> pd.DataFrame:
    """Return the facts to check for a partition, without the table."""
    return in_cells([results["cell"].iloc[0]._replace(made=None)])


# Functions of the results for all partitions, which the last task calls.


@public
def make_absent(
    results: pd.DataFrame, pairs: pd.DataFrame, blocks: Blocks, none: pd.DataFrame
) -> pd.DataFrame:
    """Return the table for users of truth who are in no partition, once all are checked."""
    parts = check_promise(results["cell"].tolist())
    tables: list[Any] = list(blocks._replace(companions=pairs["cell"].iloc[0]).iter_tables(parts))
    return none if tables[-1] is None else tables[-1]  # Tables of partitions were left out.


@public
def make_whole(
    results: pd.DataFrame, pairs: pd.DataFrame, blocks: Blocks, make_table: MakeTable
) -> pd.DataFrame:
    """Return the table of all users; warn of mistakes that are noted."""
    parts = check_promise(results["cell"].tolist())
    with taking_notes() as facts:
        tables = blocks._replace(companions=pairs["cell"].iloc[0]).iter_tables(parts)
        table = make_table(join_tables(list(tables)))
    # A worker of a cluster warns in the user's process too.
    warn = getattr(sys.modules.get("distributed.worker"), "warn", warnings.warn)
    warn_of(list_notes(facts, blocks.options), warn)
    return table


@public
def describe(
    results: pd.DataFrame, pairs: pd.DataFrame, describer: Describer, empty: pd.DataFrame
) -> pd.DataFrame:
    """Return the description of all partitions."""
    parts = check_promise(results["cell"].tolist())
    with taking_notes():
        return describer._replace(companions=pairs["cell"].iloc[0]).describe(parts, empty)
