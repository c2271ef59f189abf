"""ScannedRecAccessor: the engine over files, which it reads block by block."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Self

import pandas as pd

from recframe.analysis.describe import Describer, add_dropped
from recframe.analysis.overview import Overview
from recframe.analysis.ranked_rows import is_user, split_user
from recframe.analysis.summary import measure_noted
from recframe.errors import DAMAGE, count_of, prefix_errors
from recframe.files.block_results import iter_parts, make_each, open_companion_files, read_places
from recframe.files.blocks import ROUTES, iter_frames, plan_blocks
from recframe.files.companion_files import as_companion_files
from recframe.files.discovery import ScannedFiles, find_files, set_names
from recframe.files.filters import filter_files
from recframe.files.footers import Files, make_sample, open_files, read_schema, unite
from recframe.files.limits import ROOM, Limits, Progress, room_error, showing
from recframe.files.lists import find_list_rows
from recframe.files.staging import stage
from recframe.frames.columns import Columns
from recframe.frames.companions import BlockResult
from recframe.frames.judgments import load_frame
from recframe.frames.list_frames import make_companion_rows
from recframe.frames.names import get_column, is_infer
from recframe.frames.tables import Make, MakeTable, in_cells, join_tables, mean_of_parts
from recframe.methods import Join, RankingMethods, public_method
from recframe.metrics.definitions import DEFAULT_METRICS
from recframe.note_kinds import Facts
from recframe.notes import list_notes, taking_notes, warn_of
from recframe.options import DEFAULTS, INFER, Options
from recframe.public_calls import public_each, raise_of_handler
from recframe.stores import ENVIRONMENT, Access

__all__ = ["ScannedRecAccessor"]

ROW_SIZED = ("rank", "top", "judge")
LACKED = {
    name: ": its table would be as long as the rows, which may not fit in memory; df = "
    f"pd.read_parquet(path), then df.rec.{name}()"
    for name in ROW_SIZED
}
LACKED["rec"] = (
    ": it has the methods of df.rec itself, such as mean('recall@10'). Pass options as "
    "scan(ties='worst')."
)
HELD_COPIES = 9  # copies of the counts that joining holds, in three quarters of the memory
MOST_ROWS_ASKED = 10**8  # Each open question reads all rows again.
NO_COLUMNS = Columns(None, [], None)
Watch = Callable[[pd.DataFrame], pd.DataFrame]  # it returns the result for a block again


class ScannedRecAccessor(RankingMethods[pd.DataFrame]):
    """
    Ranking metrics of files of any size: the result of ``recframe.scan(source)``.

    Methods, options and values of users are those of ``df.rec``, bit for bit. ``rank``, ``top`` and
    ``judge`` are left out, because their tables are as long as the rows. Every call reads the
    columns that it needs, within `memory`; a table has at most one row for each user.

    Parameters
    ----------
    frame : ScannedFiles
        The files that `recframe.scan` finds.

    See Also
    --------
    recframe.scan : Makes it.
    recframe.RecAccessor : The same for pandas DataFrames.

    Examples
    --------
    >>> import recframe
    >>> recframe.scan("examples/example.parquet").mean("recall@4")
    metric         recall@4
    score
    Random scores  0.117027
    KNN scores     0.226328
    """

    _frame: ScannedFiles
    _watch: Watch | None = None

    rank: Any = property()  # It raises, so that `_lacks` is read.
    top, judge = rank, rank

    _takes = DEFAULTS.keys() | {"union_by_name", "lists", "sep"}
    _lacks = LACKED

    @public_method
    def iter_evaluate(
        self, metrics: str | Iterable[str] = DEFAULT_METRICS
    ) -> Iterator[pd.DataFrame]:
        """
        Return an iterator over the metrics of each user, block by block.

        Use it if the result does not fit in memory: `evaluate` joins and sorts these tables.

        Parameters
        ----------
        metrics : str or iterable of str, default ("precision@10", "recall@10", "r_precision")
            Names of metrics, such as "precision@4", "recall@4", "r_precision".

        Returns
        -------
        iterator of DataFrame
            Tables as `evaluate` returns them, at least one. Each user is in one of them. They are
            sorted if the row groups come in order of users, unless truth is partitioned by user.

        Raises
        ------
        RecframeError
            As in `evaluate`; the data may be refused while iterating.

        See Also
        --------
        evaluate : One table of all users.

        Examples
        --------
        >>> import recframe
        >>> for table in recframe.scan("examples/example.parquet").iter_evaluate("recall@4"):
        ...     print(table.head(2))
        score  Random scores KNN scores
        metric      recall@4   recall@4
        object
        0           0.000000   0.307692
        1           0.190476   0.095238
        """
        asked = self._parse(metrics)
        columns = self._find_columns(metrics=asked)
        self._ask_others(columns)
        measure = partial(measure_noted, metrics=asked)
        return public_each(self._warn_at_end(self._iter_parts(measure, columns, self._options)))

    def _warn_at_end(self, tables: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """Yield tables, then warn of the mistakes that were noted for any of them."""
        facts = Facts()
        while True:
            with taking_notes(facts, only_mistakes=True):  # The caller of `next` has its own.
                table = next(tables, None)
            if table is None:
                break
            yield table
        warn_of(list_notes(facts, self._options))

    def watched(self, watch: Watch, unit: Hashable | None) -> Self:
        """Return the accessor that passes each result for a block through a function.

        Means then read the values of the unit too, for tables that are saved.
        """
        bound = copy(self)
        bound._watch, bound._unit = watch, unit
        return bound

    @property
    def paths(self) -> list[str]:
        """The paths of the source files."""
        return [file.path for file in self._frame.sources]

    @property
    def scores(self) -> list[Hashable]:
        """The score columns that are ranked."""
        return self._find_columns().scores

    def __dir__(self) -> list[str]:
        """Return the names to complete."""
        return [name for name in super().__dir__() if name not in ROW_SIZED]

    def _bind(self, options: Options) -> Self:
        sep = self._frame.sep
        for name in ("truth", "exclude") if sep is not None else ():
            if (source := getattr(options, name)) is not None:
                frame = load_frame(name, self._open_path(source), options)
                with prefix_errors(name):
                    rows: Any = {name: make_companion_rows(name, frame, options, sep)}
                options = replace(options, **rows)
        bound = super()._bind(options)
        bound._watch = None  # Other options make other tables.
        return bound

    def _open_path(self, path: Any) -> Any:
        return as_companion_files(path, self._frame.access)

    @property
    def _sample(self) -> pd.DataFrame:
        first = self._frame.sources[0]
        sample = make_sample(read_schema(first, self._frame.limits.memory), first.path)
        sample.attrs.update(self._frame.attrs)
        return sample

    def _answer(self, answers: Mapping[str, Any]) -> Self:
        bound, others = copy(self), dict(answers)
        if not others.keys().isdisjoint({"lists", "sep"}):
            sep = others.pop("sep", self._frame.sep)
            lists = {"lists": others.pop("lists", INFER), "sep": sep}
            bound._frame = open_lists(self._frame, **lists)
            known = {"lists": INFER, "sep": self._frame.sep}
            texts = [f", {name}={one!r}" for name, one in lists.items() if one != known[name]]
            bound._written = f"{self._written[:-1]}{''.join(texts)})"
        if others.pop("union_by_name", False):  # It is an argument of `scan`.
            sources = unite(bound._frame.sources, self._frame.limits.memory)
            bound._frame = bound._frame._replace(sources=sources)
            bound._written = f"{bound._written[:-1]}, union_by_name=True)"
        return super(ScannedRecAccessor, bound)._answer(others)

    @property
    def _asks_all(self) -> bool:  # type: ignore[override]  # It depends on the files.
        if self._frame.has_no_footers:
            return not any(getattr(file.rows, "is_read", False) for file in self._frame.sources)
        return self._open(NO_COLUMNS).n_rows <= MOST_ROWS_ASKED

    @property
    def _size(self) -> str:
        if not self._frame.has_no_footers:
            return self.open(NO_COLUMNS).size
        n_files = count_of(len(self._frame.sources), "file")
        return f"{n_files} without footers, staged as they are read"

    def _show(self, show: Callable[[Overview], str]) -> str | None:
        def show_route(overview: Overview) -> str:
            if not self._frame.has_no_footers:
                files = self.open(self._find_columns())
                if files.n_rows:
                    route = plan_blocks(files).route
                    overview.rows.append(("read", route, ROUTES[route]))
            return show(overview)

        return super()._show(show_route) or super()._show(show)  # Columns may be unknown.

    def _open(self, columns: Columns) -> Files:
        """Return the files with these columns; no data is read."""
        sources, limits = self._frame.sources, self._frame.limits
        if self._frame.has_no_footers:
            sources = stage(sources, columns, limits)
        return open_files(sources, columns, self._options, limits.memory)

    def open(self, columns: Columns, options: Options | None = None) -> Files:
        """Return the files, and truth and exclude of `options` if they must be partitioned too."""
        files = self._open(columns)
        if options is not None and options.needs_item:
            files = files._replace(
                companions=open_companion_files(files, options, self._frame.limits)
            )
        if self._frame.note is not None:
            self._frame.note(files)
        return files

    def _read_places(self, labels: list[Hashable], columns: Columns) -> list[pd.DataFrame]:
        files, options = self._frame, self._options
        places = read_places(files.sources, labels, columns, options, files.limits)
        return [place for place in places if len(place)]  # Filters may leave no row of a place.

    def _read_values(self, label: Hashable) -> pd.Series:
        files, values = self._open(NO_COLUMNS._replace(of_users=(label,))), list[pd.Series]()
        for frame in iter_frames(files, files.memory, Progress(files.n_rows), None):
            values = [pd.concat([*values, frame[label].drop_duplicates()]).drop_duplicates()]
        return next(iter(values), get_column(files.sample, label))

    def _iter_parts(
        self, make: Make, columns: Columns, options: Options, files: Files | None = None
    ) -> Iterator[pd.DataFrame]:
        """Return an iterator over the results for blocks; footers are read at once."""
        # The accessor's own options may have truth, which a catalogue does not read.
        files = files or self.open(columns, options)
        parts = iter_parts(files, make, options, self._frame.limits)
        return parts if self._watch is None else map(self._watch, parts)

    def _map(
        self, make: Make, columns: Columns, options: Options, *, reads_all: bool = False
    ) -> pd.DataFrame:
        return join_tables(list(self._iter_parts(make, columns, options)))

    def _mean(
        self, make: Make, columns: Columns, options: Options, make_table: MakeTable
    ) -> pd.DataFrame:
        return make_table(mean_of_parts(self._iter_parts(make, columns, options)))

    def _add_up(
        self,
        make: Make,
        columns: Columns,
        options: Options,
        make_table: MakeTable,
        join: Join,
    ) -> pd.DataFrame:
        # Joined cells grow with the number of items, so most of the memory is for them.
        bound, limits, cells, n_joined = copy(self), self._frame.limits, list[Any](), 0
        bound._frame = self._frame._replace(limits=limits._replace(memory=limits.memory // 4))
        files = bound.open(columns, options)
        for part in bound._iter_parts(make, columns, options, files):
            cells += part["cell"].tolist()
            if sum(cell.n_bytes for cell in cells) > 2 * n_joined:
                cells = [join(cells)]
                n_joined = cells[0].n_bytes
                if HELD_COPIES * n_joined > limits.memory + ROOM:
                    most = HELD_COPIES * n_joined * files.n_rows // max(1, cells[0].n_rows)
                    raise room_error("the counts for all items", most, limits.memory)
        return make_table(in_cells(cells))

    def _describe(self, describer: Describer) -> pd.DataFrame:
        # Rows without a user are counted here, not refused.
        columns, limits, describer = describer.columns, self._frame.limits, describer.open()
        files = self.open(columns)._replace(drop_nulls=True)

        def count_blocks() -> Iterator[BlockResult]:
            with showing(limits.progress, files.n_rows) as progress:
                yield from make_each(files, limits, progress, describer.read, in_threads=False)
            if progress.n_dropped or progress.n_evaluated == 0:
                none = describer.read(files.sample)
                add_dropped(none.made, columns, progress.n_dropped, progress.nulls_dropped)
                yield none

        return describer.describe(count_blocks(), files.sample)

    def _rows_of(self, user: Hashable, columns: Columns) -> tuple[pd.DataFrame, bool]:
        # Rows without a user do not matter for this one.
        files, limits = self.open(columns)._replace(drop_nulls=True), self._frame.limits
        own = next(iter(split_user(user, columns).values()), None)
        with showing(limits.progress, files.n_rows) as progress:
            frames = iter_frames(files, limits.memory, progress, own)
            own_rows = [frame[is_user(frame, user, columns)] for frame in frames]
            rows = pd.concat(own_rows, ignore_index=True) if own_rows else files.sample
            if len(rows) == 0 and not self._options.has_truth:  # The refusal names some ids.
                rows = next(iter_frames(files, limits.memory, progress, None), rows).head()
        rows.attrs.update(self._frame.attrs)
        return rows, False


def scan_source(
    argument: str,
    source: Any,
    options: Options,
    limits: Limits,
    access: Access = ENVIRONMENT,
    filters: Any = None,
    call: str = "",
    note: Callable[[Files], object] | None = None,
    *,
    union_by_name: bool = False,
    lists: Any = INFER,
    sep: str | None = None,
    names: Any = None,
) -> ScannedRecAccessor:
    """Return the accessor to files, bound to options; refusals name the `argument`."""
    sources = find_files(source, argument, access)
    sources = sources if names is None else set_names(sources, names)
    files = open_lists(ScannedFiles(sources, limits, access, note), lists, sep)
    sources = files.sources
    if union_by_name:
        sources = unite(sources, limits.memory)
    if filters is not None:
        sources = filter_files(sources, filters, read_schema(sources[0], limits.memory))
    accessor = ScannedRecAccessor(files._replace(sources=sources))
    accessor._call, accessor._shows_bar = call, limits.progress is True
    return accessor._bind(options)


def open_lists(files: ScannedFiles, lists: Any = INFER, sep: str | None = None) -> ScannedFiles:
    """Return files whose columns of lists, passed or found, become rows."""
    try:
        sources, attrs = find_list_rows(files.sources, lists, sep, files.limits.memory)
    except DAMAGE as error:
        raise_of_handler(error)
        if not is_infer(lists):
            raise
        return files  # A call tells of damaged files.
    return files._replace(sources=sources, attrs=attrs, sep=sep)
