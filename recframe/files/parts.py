"""The results of files, block by block: whole users, judged if truth is given."""

import warnings
from collections.abc import Callable, Generator, Hashable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa

from recframe.cells import Known, read_until_known
from recframe.errors import DAMAGE, RecframeError, RepeatedPairError, say_where
from recframe.files.blocks import iter_blocks
from recframe.files.budget import Limits, Progress, showing
from recframe.files.filters import FILTERS, matching
from recframe.files.footers import Files, open_files
from recframe.files.found import TEXTS, Found, RowGroup, naming_file, open_file
from recframe.files.sources import PAIR_BYTES
from recframe.formats import GivenRows
from recframe.frames.columns import Columns
from recframe.frames.companions import (
    BlockResult,
    Companions,
    NotedBlocks,
    make_block,
    read_companions,
)
from recframe.frames.duplicates import advise, find_telling
from recframe.frames.ids import as_users, list_levels
from recframe.frames.interactions import Interactions, read_interactions
from recframe.frames.names import get_column, leave_out
from recframe.frames.partings import MOST_SEEN, MOST_WHOLE, take_places, take_users
from recframe.frames.splits import find_part
from recframe.frames.tables import Make
from recframe.notes import note
from recframe.options import Options

MOST_OPENED = 64  # row groups of a place that is looked at
LOOKUP_ROWS = 1 << 16  # of all columns, that are read at a time to look a pair up

Made = TypeVar("Made")


def iter_parts(
    files: Files, make: Make, options: Options, limits: Limits
) -> Generator[pd.DataFrame]:
    """Return an iterator over the results for blocks of files, at least one.

    Truth and exclude are read with each block if they are files beside it, else once.
    """
    columns = files.columns
    read_interactions(files.sample, columns, options)  # which refuses columns at once
    whole = Companions(are_parted=True) if files.beside else read_companions(columns, options)
    held = [one for one in (whole.judgments and whole.judgments.pairs, whole.excluded) if one]
    n_bytes = PAIR_BYTES * sum(one.users.groups.n_rows for one in held)
    files = files._replace(memory=max(files.memory // 2, files.memory - n_bytes))

    def parts() -> Generator[pd.DataFrame]:
        dtypes, blocks = read_dtypes(files), NotedBlocks(whole, columns, options)

        def make_restored(interactions: Interactions, _: Options) -> pd.DataFrame:
            return make(dtypes.restore_users(interactions), options)

        def make_part(block: pd.DataFrame, *beside: pd.DataFrame) -> BlockResult:
            given: dict[str, Any] = dict(zip(files.beside, beside, strict=True))
            own = replace(options, **given)
            companions = read_companions(columns, own, are_parted=True) if given else whole
            return make_block(dtypes.restore(block), companions, make_restored, columns, own)

        with showing(limits.progress, files.n_rows) as progress:
            for result in make_each(files, limits, progress, make_part, in_threads=not held):
                blocks.add(result)
                yield result.made
        if progress.n_dropped:  # for want of a user
            note(rows_dropped=progress.n_dropped, rows_read=progress.n_dropped)
        none = None
        if blocks.n_added == 0:
            none = make_block(files.sample, whole, make_restored, columns, options)
            blocks.add(none)
        absent = blocks.judge_absent(dtypes.restore(files.sample))
        if absent is not None and len(absent.users.ids):
            yield make(absent, options)
        elif none is not None:
            yield none.made

    return parts()


def make_each(
    files: Files, limits: Limits, progress: Progress, make: Callable[..., Made], *, in_threads: bool
) -> Iterator[Made]:
    """Yield the result for each block of whole users and the rows beside it.

    Several are made at a time where threads may make them. A refusal names the part it is for.
    """

    def make_one(frames: list[pd.DataFrame]) -> tuple[int, Made]:
        block, *beside = frames
        try:
            return len(block), make(block, *beside)
        except RecframeError as error:
            part = f"in a part of {len(block):,} of the {files.rows_said} rows: "
            part = "" if len(block) == files.n_rows else part
            if isinstance(error, RepeatedPairError):
                advice, answers = _advise(files, error.user, error.item)
                message = f"{part}{error.found}; {advice}"
                raise RepeatedPairError(message, answers=answers) from error
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
        pa.default_memory_pool().release_unused()  # else the pool grows with the blocks
    progress.report()  # also what was dropped since
    if files.is_filtered and progress.n_evaluated + progress.n_dropped == 0:
        raise RecframeError(
            f"{FILTERS}: no row of the files matches, so nothing is left to evaluate; check the "
            "values that they compare with"
        )


def read_places(
    found: list[Found], labels: list[Hashable], columns: Columns, options: Options, limits: Limits
) -> list[pd.DataFrame]:
    """Return these columns of rows of row groups at the beginning, in the middle and at the end.

    Of few rows they are those of some users, all of them; of text the first rows; of queries and
    stores none, as each place is a request.
    """
    first, names, memory = found[0], list(map(str, labels)), limits.memory
    if isinstance(first.rows, GivenRows) or not all(one.is_here for one in found):
        return []

    def read_head(row_group: RowGroup, n_rows: int = MOST_SEEN) -> pd.DataFrame:
        own, (rows, said) = row_group.found, (row_group.found.rows, row_group.found.partitions)
        stored = [one for one in dict.fromkeys([*names, *own.looked_at]) if one not in said]
        if rows is not None:
            known = Known(memory=memory)
            head = read_until_known(lambda known: next(rows.iter_batches(stored, known)), known)
        else:
            with open_file(own) as file:
                head = next(file.iter_batches(n_rows, [row_group.number], stored))
        head = matching(head[:n_rows], row_group)
        values = {name: one.as_py() for name, one in said.items() if name in names}
        return pd.DataFrame(head.to_pandas()).assign(**values)

    with suppress(RecframeError, StopIteration, *DAMAGE):  # of which reading all rows tells
        of_parts = {tuple(map(_say_part, one.partitions.items())): one for one in found[::-1]}
        heads = [*of_parts.values()] if len(of_parts) > 1 else [first]
        if first.rows is not None or len(heads) > 1:
            n_rows = MOST_WHOLE if len(heads) == 1 else MOST_SEEN
            read = [read_head(RowGroup(0, one, 0, 0, 0, (), None, None), n_rows) for one in heads]
            return read if len(heads) > 1 else [_of_users(read[0], columns)]
        several = found if len(found) < 4 else [first, found[len(found) // 2], found[-1]]
        row_groups = open_files(several, columns, options, memory).row_groups
        starts = np.cumsum([0, *(one.n_rows for one in row_groups)])
        slices = take_places(int(starts[-1]))
        begin = np.searchsorted(starts, [place.start for place in slices], "right") - 1
        end = np.searchsorted(starts, [place.stop for place in slices])
        spans = dict.fromkeys(zip(begin, np.minimum(end, begin + MOST_OPENED), strict=True))
        with warnings.catch_warnings():  # pandas 2 warns of columns without a value
            warnings.simplefilter("ignore", FutureWarning)
            if several is found and starts[-1] <= MOST_WHOLE and len(row_groups) <= MOST_OPENED:
                rows = pd.concat([read_head(one, MOST_WHOLE) for one in row_groups])
                return [_of_users(rows, columns)]
            return [pd.concat(map(read_head, row_groups[one:other])) for one, other in spans]
    return []


def _of_users(rows: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """Return all rows of some users, of these rows."""
    return rows.iloc[take_users(get_column(rows, columns.users[0]))]


def _say_part(said: tuple[str, pa.Scalar]) -> str:
    """Return the part of a split that the name of a folder or file says."""
    return find_part(said[0], said[1].as_py())


def _read_dtype(files: Files, label: Hashable) -> Any:
    """Return the dtype that a column would have in a frame of all rows."""
    dtype = get_column(files.sample, label).dtype
    if not isinstance(dtype, pd.CategoricalDtype) or not files.row_groups:
        return dtype
    found: list[pa.Array] = []
    for path, of_file in groupby(files.row_groups, lambda row_group: row_group.found.path):
        row_groups = list(of_file)
        indexes = [row_group.number for row_group in row_groups]
        with naming_file(path), open_file(row_groups[0].found) as file:
            for batch in file.iter_batches(row_groups=indexes, columns=[str(label)]):
                ids = batch[str(label)].slice(0, 0)
                if not found or not ids.dictionary.equals(found[0].dictionary):
                    found = pa.chunked_array([*found, ids]).unify_dictionaries().chunks[:1]
    return found[0].to_pandas().dtype


class Dtypes(NamedTuple):
    """The dtypes that columns would have in a frame of all rows: of users, and of others."""

    users: list[Any]
    others: dict[Hashable, Any]

    def restore(self, block: pd.DataFrame) -> pd.DataFrame:
        """Return a block with columns of these dtypes, but those of users."""
        return block.astype(self.others) if self.others else block

    def restore_users(self, interactions: Interactions) -> Interactions:
        """Return the interactions of a block with users of these dtypes; of none they stay."""
        users, _, sorted_by = interactions.users
        columns = []
        for ids, dtype in zip(list_levels(users), self.users, strict=False):
            name = ids.name
            if isinstance(ids, pd.CategoricalIndex):
                # Categories of a block come in its order, in which users do not sort.
                ids, sorted_by = ids.categories.take(ids.codes), None
            columns.append(ids.astype(dtype).rename(name))
        ids = as_users(columns) if columns else users
        return interactions._replace(
            users=interactions.users._replace(ids=ids, sorted_by=sorted_by)
        )


def read_dtypes(files: Files) -> Dtypes:
    """Return the dtypes that the columns of blocks do not have."""
    columns = files.columns
    others = {
        label: _read_dtype(files, label)
        for label in leave_out([*columns.of_users], columns.users)
        if files.types[str(label)] in TEXTS
        or isinstance(get_column(files.sample, label).dtype, pd.CategoricalDtype)
    }
    return Dtypes([_read_dtype(files, label) for label in columns.users], others)


def _advise(files: Files, user: Any, item: Any) -> tuple[str, dict[str, Any]]:
    """Return the advice on the rows of one pair, looked up with all their columns."""
    users = files.users
    of_user = user if len(users) > 1 else [user][: len(users)]
    ids = {str(files.columns.item): item, **dict(zip(users, of_user, strict=True))}
    found: list[pd.DataFrame] = []
    paths: list[str] = []
    for row_group in files.row_groups:
        if not users or row_group.may_have(ids[users[0]]):
            for part in _find_rows(row_group, ids):
                found.append(part)
                paths += [row_group.found.path] * len(part)
        if len(paths) > 1:
            break
    if len(paths) < 2:  # as of integers that pandas has rounded beside nulls
        return advise(None, files.columns)
    frame = pd.concat(found, ignore_index=True)
    rows = np.arange(len(frame))
    told = find_telling(frame, files.columns, rows, np.zeros_like(rows))
    if told is None and len(set(paths)) > 1:
        # To make them one would pool the lists of several nights, which no answer may do unasked.
        return (
            f"one row is in {paths[0]}, another in {paths[-1]}: evaluate one file if each has "
            f"lists of its own, such as those of a night; else {advise(None, files.columns)[0]}"
        ), {}
    return advise(told, files.columns)


def _find_rows(row_group: RowGroup, ids: dict[str, Any]) -> Iterator[pd.DataFrame]:
    """Yield the rows of a row group that have these ids, with all columns."""
    said = {name: value.as_py() for name, value in row_group.found.partitions.items()}
    stored = [name for name in ids if name not in said]
    if not all(said[name] == ids[name] for name in ids if name in said):
        return
    with naming_file(row_group.found.path), open_file(row_group.found) as file:
        read = partial(file.iter_batches, LOOKUP_ROWS, [row_group.number])
        if not stored:  # all are the pair's, by the names of folders
            yield matching(next(read()), row_group).to_pandas().assign(**said)
            return
        is_own = [
            np.logical_and.reduce([batch[name].to_pandas().isin([ids[name]]) for name in stored])
            for batch in read(columns=stored)
        ]
        rows = np.flatnonzero(np.concatenate(is_own))
        n_before = 0
        for batch in read() if len(rows) else ():
            own = rows[(rows >= n_before) & (rows < n_before + batch.num_rows)] - n_before
            yield matching(batch.take(pa.array(own)), row_group).to_pandas().assign(**said)
            n_before += batch.num_rows
