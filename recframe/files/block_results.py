"""The results for files, block by block: each has whole users, judged if truth is passed.

Truth and exclude are partitioned by user like the rows if they have more pairs than a block has
rows: matching all of them with each block would take longer than the block. Fewer pairs, and pairs
without footers, are in memory.
"""

import warnings
from collections.abc import Callable, Generator, Hashable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa

from recframe.errors import DAMAGE, RecframeError, RepeatedPairError, prefix_errors, say_where
from recframe.files.batches import MOST_ROWS
from recframe.files.blocks import iter_blocks
from recframe.files.filters import filter_rows
from recframe.files.footers import Files, open_files, read_head, unite
from recframe.files.limits import Limits, Progress, showing
from recframe.files.source_files import TEXTS, SourceFile, open_file
from recframe.files.staging import stage
from recframe.formats import GivenRows, convert_all
from recframe.frames.columns import Columns
from recframe.frames.companions import BlockResult, Blocks, Companions, read_companions
from recframe.frames.grades import check_no_grades
from recframe.frames.id_matching import append
from recframe.frames.ids import as_users, list_levels
from recframe.frames.interactions import Interactions, read_interactions
from recframe.frames.judgments import find_partitioned_columns
from recframe.frames.list_frames import make_companion_rows
from recframe.frames.names import get_column, is_infer, list_labels, remove_labels
from recframe.frames.seen_rows import MOST_SEEN, MOST_WHOLE, take_places, take_users
from recframe.frames.splits import check_splits, find_part
from recframe.frames.tables import Make
from recframe.notes import facts_noted, note
from recframe.options import Options
from recframe.text_types import TextTypes

PAIR_BYTES = 128  # memory of a pair and its share of an index
NAMED = Options(user="user", item="item", score="score")  # No column is inferred.
MOST_OPENED = 64  # row groups that are read at each of the places in `read_places`

Made = TypeVar("Made")


def open_companion_files(files: Files, options: Options, limits: Limits) -> dict[str, Files]:
    """Return truth and exclude as files, by option, if they must be partitioned by user."""
    both: dict[str, Any] = {"truth": options.truth, "exclude": options.exclude}
    given = {name: one for name, one in both.items() if one is not None}
    most = min(MOST_ROWS, files.memory // (2 * PAIR_BYTES))
    # Frames have a length; files tell their number of pairs only once they are opened.
    n_known = sum(len(one) if isinstance(one, pd.DataFrame) else most + 1 for one in given.values())
    if not files.users or files.n_rows == 0 or n_known <= most:
        return {}
    companions = dict[str, Files]()
    for name, one in given.items():
        with prefix_errors(name):
            if (opened := _open_companion(name, one, files.columns, options, limits)) is None:
                return {}
            companions[name] = opened
    return companions if sum(one.n_rows for one in companions.values()) > most else {}


def _open_companion(
    name: str, given: Any, columns: Columns, options: Options, limits: Limits
) -> Files | None:
    """Return the value of an option as files, or None if they have no footers."""
    is_frame = isinstance(given, pd.DataFrame)
    if is_frame:
        own = find_partitioned_columns(name, given, columns, options)
        if own.has_empty:
            return None
        try:
            table = pa.table({str(one): pa.array(get_column(given, one)) for one in own.labels})
        except (pa.ArrowException, TypeError):  # Files cannot have such ids either.
            return None
        sources = stage([SourceFile(name, {}, rows=GivenRows(table.to_reader()))], own, limits)
    else:
        sources = given.find()
        if any(one.rows is not None for one in sources):
            return None
        if len(sources) > 1:
            sources = unite(sources, limits.memory)
        given = pd.concat([read_head(one) for one in (sources[0], sources[-1])])
        if make_companion_rows(name, given, options) is not given:  # Lists become rows in memory.
            return None
        own = find_partitioned_columns(name, given, columns, options)
    if name == "truth":
        check_splits(given, list_labels(given, own.labels), own, options, of_truth=True)
        if own.relevant is None and is_infer(options.relevant):
            check_no_grades(given, own, columns)
    reading = replace(NAMED, relevant=options.relevant, missing=options.missing)
    return open_files(sources, own, reading, limits.memory)


def iter_parts(
    files: Files, make: Make, options: Options, limits: Limits
) -> Generator[pd.DataFrame]:
    """Return an iterator over the results for blocks of files; it yields at least one.

    Truth and exclude are read with each block if they are files of their own, else once.
    """
    columns, sample = files.columns, files.sample
    read_interactions(sample, columns, options)  # This refuses columns at once.
    companions = Companions(are_partitioned=True)
    if not files.companions:
        companions = read_companions(columns, options)
    both = (companions.judgments and companions.judgments.pairs, companions.excluded)
    pairs = [one for one in both if one]
    n_bytes = PAIR_BYTES * sum(one.users.groups.n_rows for one in pairs)
    files = files._replace(memory=max(files.memory // 2, files.memory - n_bytes))
    # In blocks, texts are categories; segments have the dtypes of a frame of all rows.
    segments = remove_labels(columns.of_users, columns.users)
    dtypes = {one: get_column(sample, one).dtype for one in segments}
    texts = {one: dtype for one, dtype in dtypes.items() if files.types[str(one)] in TEXTS}
    blocks = Blocks(
        lambda interactions, options: make(_restore_users(interactions, files), options),
        columns,
        options,
        sample.astype(texts),
        companions,
        only_mistakes=facts_noted().only_mistakes,
    )

    def read(block: pd.DataFrame, **partitioned: pd.DataFrame) -> BlockResult:
        typed = block.astype(texts) if texts else block  # Without texts it would be a copy.
        return blocks.read(typed, **partitioned)

    def read_all() -> Iterator[BlockResult]:
        with showing(limits.progress, files.n_rows) as progress:
            yield from make_each(files, limits, progress, read, in_threads=not pairs)
        if progress.n_dropped:  # Their user is null.
            note(rows_dropped=progress.n_dropped, rows_read=progress.n_dropped)

    return blocks.iter_tables(read_all())


def make_each(
    files: Files, limits: Limits, progress: Progress, make: Callable[..., Made], *, in_threads: bool
) -> Iterator[Made]:
    """Yield the result for each block of whole users, with their rows of truth and exclude.

    Threads make several at a time if `in_threads`. A refusal names the part of the rows.
    """

    def make_one(frames: list[pd.DataFrame]) -> tuple[int, Made]:
        block, *others = frames
        companions = dict(zip(files.companions, others, strict=True))
        try:
            return len(block), make(block, **companions)
        except RecframeError as error:
            part = f"in a part of {len(block):,} of the {files.rows_in_words}: "
            part = "" if len(block) == files.n_rows else part
            if isinstance(error, RepeatedPairError) and len(files.paths) > 1:
                if "duplicates" in error.answers:
                    error.answers = {}  # The lists of several nights are not pooled unasked.
                part += (
                    f"{len(files.paths)} files (evaluate one file at a time if each has lists of "
                    "its own, such as those of a night): "
                )
            say_where(part, error)
            raise

    progress.report()
    if in_threads:
        results = iter_blocks(files, limits, progress, make_one)
    else:
        results = map(make_one, iter_blocks(files, limits, progress, list))
    for n_rows, made in results:
        progress.n_evaluated += n_rows
        progress.report()
        yield made
        pa.default_memory_pool().release_unused()  # The pool would grow.
    progress.report()  # Rows may have been dropped since.
    if files.is_filtered and progress.n_evaluated + progress.n_dropped == 0:
        raise RecframeError(
            "filters: no row of the files matches, so nothing is left to evaluate; check the "
            "values that they compare with"
        )


def read_places(
    sources: list[SourceFile],
    labels: list[Hashable],
    columns: Columns,
    options: Options,
    limits: Limits,
) -> list[pd.DataFrame]:
    """Return samples of these columns, from the first row groups, the middle and the last ones.

    If the rows are few, the sample has all rows of some users. Text files give their first rows,
    and parts of a split one sample each. Queries and stores give none, because each place would
    take a request.
    """
    first, names, memory = sources[0], list(map(str, labels)), limits.memory
    is_query = isinstance(getattr(first.rows, "rows", first.rows), GivenRows)
    if is_query or not all(source.is_here for source in sources):
        return []
    read = partial(_read_sample, names=names, memory=memory)
    with suppress(RecframeError, StopIteration, *DAMAGE):  # Reading all rows will raise these.
        splits = {tuple(map(_find_split, one.partitions.items())): one for one in sources[::-1]}
        if len(splits) > 1:
            return [read(source) for source in splits.values()]
        if first.rows is not None:
            return [_sample_users(read(first, n_rows=MOST_WHOLE), columns)]
        several = sources if len(sources) < 4 else [first, sources[len(sources) // 2], sources[-1]]
        row_groups = open_files(several, columns, options, memory).row_groups
        starts = np.cumsum([0, *(one.n_rows for one in row_groups)])
        with warnings.catch_warnings():  # Pandas 2 warns of empty columns.
            warnings.simplefilter("ignore", FutureWarning)
            if several is sources and starts[-1] <= MOST_WHOLE and len(row_groups) <= MOST_OPENED:
                heads = [read(one.source, one.number, MOST_WHOLE) for one in row_groups]
                return [_sample_users(pd.concat(heads), columns)]
            slices = take_places(int(starts[-1]))
            begin = np.searchsorted(starts, [place.start for place in slices], "right") - 1
            end = np.searchsorted(starts, [place.stop for place in slices])
            spans = dict.fromkeys(zip(begin, np.minimum(end, begin + MOST_OPENED), strict=True))
            places = [row_groups[start:stop] for start, stop in spans]
            return [pd.concat(read(one.source, one.number) for one in place) for place in places]
    return []


def _read_sample(
    source: SourceFile, number: int = 0, n_rows: int = MOST_SEEN, *, names: list[str], memory: int
) -> pd.DataFrame:
    """Return the first matching rows of a row group, or of a text file."""
    values, rows = source.partitions, source.rows
    columns = dict.fromkeys([*names, *source.condition_columns])
    stored = [name for name in columns if name not in values]
    if rows is not None:
        types = TextTypes(memory=memory)
        head = next(rows.iter_batches(stored, types))
        head = convert_all(head, types.complete(head.schema))
    else:
        with open_file(source) as file:
            head = next(file.iter_batches(n_rows, [number], stored))
    head = head[:n_rows] if source.condition is None else filter_rows(head[:n_rows], source)
    frame = pd.DataFrame(head.to_pandas())
    return frame.assign(**{name: one.as_py() for name, one in values.items() if name in names})


def _sample_users(rows: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """Return all rows of some of the users in these rows."""
    return rows.iloc[take_users(get_column(rows, columns.users[0]))]


def _find_split(partition: tuple[str, pa.Scalar]) -> str:
    """Return the part of a split, such as "train", that a folder or file is named after."""
    name, value = partition
    return find_part(name, value.as_py())


def _restore_users(interactions: Interactions, files: Files) -> Interactions:
    """Return the interactions of a block with ids of users as a frame of all rows has them.

    In a block, texts are categories in the order of its rows, not of the users.
    """
    users, ids = interactions.users, list[Any]()
    levels = list_levels(users.ids)
    for level, label in zip(levels, files.columns.users, strict=False):  # One ranking has no label.
        plain: Any = level
        if isinstance(level, pd.CategoricalIndex):
            plain = level.categories.take(level.codes)
        column = get_column(files.sample, label)
        none = pd.Index(column, dtype=column.dtype, name=level.name)
        # Users that only truth has may need a wider dtype, which `append` finds.
        ids.append(plain.rename(level.name) if plain.dtype == none.dtype else append(none, plain))
    users = users._replace(ids=as_users(ids)) if ids else users
    return interactions._replace(users=users)
