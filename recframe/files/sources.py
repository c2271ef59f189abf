"""The sources of files: paths, objects of Arrow and deltalake, and staged rows.

Rows without footers are staged: they are written once, piece by piece, to memory while they are
few, else to a temporary file without a name. Then the types that fit all rows are known, and the
rows are read in these types.

Truth and exclude are partitioned by user like the rows if they have more pairs than a block has
rows: matching all of them with each block would take longer than the block. Fewer pairs, and pairs
without footers, are held in memory.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from posixpath import join
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import unquote
from weakref import finalize

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import RecframeError, quote, show_path
from recframe.files.batches import MOST_ROWS, gather
from recframe.files.footers import Files, open_files, read_head
from recframe.files.limits import Limits, TemporaryRows
from recframe.files.source_files import (
    TEXTS,
    SourceFile,
    StagedBatch,
    StagedRows,
    check_names,
    naming_file,
    plain_type,
)
from recframe.formats import PARQUET, Delimited, GivenRows, find_format, open_rows
from recframe.frames.columns import Columns
from recframe.frames.grades import check_no_grades
from recframe.frames.judgments import find_parted_columns, naming
from recframe.frames.list_frames import make_companion_rows
from recframe.frames.names import get_column, is_infer, list_labels
from recframe.frames.splits import OF_FILES, check_splits, split_files
from recframe.options import Options
from recframe.other_tables import RELATION, is_instance
from recframe.stores import ENVIRONMENT, Access, PathWithAccess, is_uri, without_file
from recframe.stores.disk import check_named
from recframe.stores.listings import ListedFile, Listing
from recframe.stores.store import HERE, NOWHERE, Location, Store, unchanged
from recframe.stores.tables import as_dataset, open_delta
from recframe.text_types import TextTypes

NULL_VALUE = "__HIVE_DEFAULT_PARTITION__"
WHOLE_NUMBER = re.compile("0|-?[1-9][0-9]{0,17}")  # 64-bit integers; "007" is text
STAGED_SHARE = 8  # Staged rows may take 1/8 of the memory.
PIECE_SHARE = 64  # A piece of staged rows may take 1/64 of the memory.
LEAST_PIECE, MOST_PIECE = 1 << 18, 1 << 24  # bytes
PIECE_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")
PAIR_BYTES = 128  # memory of a pair and its share of an index
NAMED = Options(user="user", item="item", score="score")  # No column is inferred.


class ScannedFiles(NamedTuple):
    """The source files, and the resources that reading them may use."""

    sources: list[SourceFile]
    limits: Limits
    access: Access = ENVIRONMENT  # to the stores of these files and of other paths
    note: Callable[[Files], object] | None = None  # called with the files when they are opened
    attrs: Mapping[str, Any] = MappingProxyType({})  # attributes of the sample, as lists have them
    sep: str | None = None  # between ids in lists that are text

    @property
    def has_no_footers(self) -> bool:
        """Whether a file has no footer, so that nothing is known before rows are read."""
        return any(file.rows is not None for file in self.sources)


def find_files(source: Any, argument: str = "", access: Access = ENVIRONMENT) -> list[SourceFile]:
    """Return the files of paths or an object, in order, each with facts on its columns.

    A refusal names the argument.
    """
    if not isinstance(source, str | os.PathLike | list | tuple):
        return _find_given(source, argument, access)
    listed = [source] if isinstance(source, str | os.PathLike) else source
    listings, sources, is_named = Listing(access), list[SourceFile](), False
    with naming(argument) if argument else nullcontext():
        given = [os.fspath(path) for path in listed]
        for path in given:
            check_named("path", path)
        if access.storage_options is not None and not any(map(access.leads_away, given)):
            raise RecframeError(
                "storage_options are for paths with a scheme, such as s3://bucket/folder, not "
                f"{quote(given)}. Leave them out."
            )
        for path in given:
            for one in listings.find(path):
                if one.log:
                    sources += _read_log(one, listings)
                else:
                    rows = open_rows(one.path, one.place.open_stream)
                    sources.append(SourceFile(one.path, {}, rows=rows, place=one.place))
                    is_named = is_named or one.is_given
        if not sources:
            raise RecframeError("must name at least one file, but is an empty list")
        listings.check()
        _check_one_format(sources)
    parts = [] if is_named else split_files([file.path for file in sources])
    sources = _typed(sources)
    for at, part in enumerate(parts):
        said = sources[at].partitions | {OF_FILES: pa.scalar(part)}
        sources[at] = sources[at]._replace(partitions=said)
    return sources


def set_names(sources: list[SourceFile], names: Any) -> list[SourceFile]:
    """Return files of csv or tsv without a header, whose columns have these names."""
    is_list = isinstance(names, list | tuple) and all(isinstance(one, str) for one in names)
    if not is_list or not 0 < len(names) == len(set(names)):
        raise RecframeError(f"names must be a list of different texts, but is {quote(names)}")
    for path in (one.path for one in sources if not isinstance(one.rows, Delimited)):
        raise RecframeError(f"names are for csv and tsv without a header, not {show_path(path)}")
    return [one._replace(rows=replace(one.rows, names=tuple(names))) for one in sources]  # type: ignore[type-var]


def _read_log(table: ListedFile, listings: Listing) -> list[SourceFile]:
    """Return the live files of a Delta table, with their partition values."""
    sources = _list_dataset_files(
        open_delta(table.log),
        lambda path: listings.name(Location(table.place.store, join(table.place.key, path))),
        is_of_delta=True,
    )
    if not sources:
        raise RecframeError(f"cannot read {show_path(table.log)}: the Delta table has no file")
    return sources


def _find_given(source: Any, argument: str, access: Access) -> list[SourceFile]:
    """Return the files of an object of Arrow or deltalake, or its rows if it has no files."""
    import pyarrow.dataset as ds  # Only objects need it.

    if access != ENVIRONMENT:
        raise RecframeError(
            f"storage_options and filesystem are for paths, not {argument} of type "
            f"{type(source).__name__}, which has its own. Leave them out."
        )
    name, dataset, root = "the dataset", source, ""
    if isinstance(source, pa.RecordBatchReader):
        name = "the RecordBatchReader"
    elif is_instance(source, *RELATION):
        name = "the DuckDB relation"
    elif is_instance(source, "deltalake", "DeltaTable"):
        name = source.table_uri
        dataset, root = as_dataset(name, lambda _: source), without_file(name)
        if not is_uri(name):  # Older versions give a path with escapes as in a URI.
            root = unquote(root)
    rows = [SourceFile(name, {}, rows=GivenRows(dataset))]
    is_of_files = isinstance(dataset, ds.FileSystemDataset)
    if not is_of_files or not isinstance(dataset.format, ds.ParquetFileFormat):
        return rows
    is_here = not is_uri(root) if root else dataset.filesystem.type_name == "local"
    store = Store(dataset.filesystem, "", root and f"{root.rstrip('/')}/")

    def locate(path: str) -> tuple[str, Location]:
        """Return the name and the place of a file."""
        if is_here:
            return os.fspath(Path(root, path)), Location(HERE, os.fspath(Path(root, path)))
        return store.show(path), Location(store, path)

    try:
        sources = _list_dataset_files(dataset, locate, is_of_delta=bool(root))
    except ValueError:  # Only its own reader applies the filter of a dataset.
        return rows
    return sources or rows


def _typed(sources: list[SourceFile]) -> list[SourceFile]:
    """Return files with the values of folders, as integers if all of a name are, else as text."""
    # For many files, Path would take ten times as long.
    folders = [None if file.table_schema else os.path.dirname(file.path) for file in sources]  # noqa: PTH120
    values: dict[str, dict[str, pa.Scalar]] = {}
    are_texts: set[str] = set()
    for folder in filter(None, dict.fromkeys(folders)):
        pairs = dict(name.split("=", 1) for name in Path(folder).parts if "=" in name)
        values[folder] = {}
        for name, said in pairs.items():
            text = None if said == NULL_VALUE else unquote(said)  # None for a null
            values[folder][name] = pa.scalar(text, pa.string())
            if text is not None and not WHOLE_NUMBER.fullmatch(text):
                are_texts.add(name)
    for own in values.values():
        own |= {name: own[name].cast(pa.int64()) for name in own if name not in are_texts}
    return [
        file._replace(partitions=values[folder]) if folder else file
        for file, folder in zip(sources, folders, strict=True)
    ]


def _list_dataset_files(
    dataset: Any, locate: Callable[[str], Sequence[Any]], *, is_of_delta: bool
) -> list[SourceFile]:
    """Return the files of a dataset of parquet files; `locate` finds the name and place of each."""
    import pyarrow.dataset as ds  # Only datasets need it.

    sources, schema = [], dataset.schema
    for fragment in dataset.get_fragments():
        values = ds.get_partition_keys(fragment.partition_expression)
        # A partition is one category, but the users of all files need not be categories.
        for name in {*values, *dataset.format.read_options.dictionary_columns} & {*schema.names}:
            at = schema.get_field_index(name)
            schema = schema.set(at, pa.field(name, plain_type(schema.field(at).type)))
        said = {
            name: pa.scalar(value, schema.field(name).type)
            for name, value in values.items()
            if name in schema.names
        }
        path, place, *_ = locate(fragment.path)
        meant = None if is_of_delta else fragment  # Delta means all row groups of a file.
        sources.append(SourceFile(path, said, schema, fragment=meant, place=place))
    return sources


def _check_one_format(sources: list[SourceFile]) -> None:
    """Raise if files have several formats, as in a folder with a table and notes on it."""
    first: dict[str, str] = {}
    for file in sources:
        first.setdefault(PARQUET if file.table_schema else find_format(file.path), file.path)
    if len(first) > 1:
        (one, path), (other, also), *_ = first.items()
        raise RecframeError(
            f"cannot read {show_path(path)} ({one}) and {show_path(also)} ({other}) as one table. "
            f"Name the files of one format, for example by a pattern such as '*.{one}'."
        )


def stage(sources: list[SourceFile], columns: Columns, limits: Limits) -> list[SourceFile]:
    """Return the files; the rows of those without a footer are now in a temporary file."""
    if all(file.rows is None for file in sources):
        return sources
    n_bytes = max(LEAST_PIECE, min(MOST_PIECE, limits.memory // PIECE_SHARE))
    ids = [*map(str, columns.users), str(columns.item)]
    types = TextTypes(n_bytes // 2, limits.memory, ids)  # Arrow reads many blocks ahead.
    types.flags, types.numbers = {str(columns.relevant)}, {*map(str, columns.score_columns)}
    rows = TemporaryRows(limits.memory // STAGED_SHARE, limits.folder)
    written = pa.PythonFile(rows, "r")  # Several threads may read parts.
    finalize(written, rows.close)
    staged = []
    with unchanged(sources):
        try:
            for one in sources:
                with naming_file(one.path):
                    staged.append(_stage(one, columns, types, rows, written, n_bytes))
        except BaseException:
            rows.close()
            raise
    for at, one in enumerate(staged):
        if one.staged is not None:
            types.path, schema = one.path, one.staged.schema
            own = one.staged._replace(schema=types.complete(schema))
            staged[at] = one._replace(staged=own)
    return staged


def _stage(
    source: SourceFile,
    columns: Columns,
    types: TextTypes,
    rows: TemporaryRows,
    written: pa.NativeFile,
    n_bytes: int,
) -> SourceFile:
    """Return a file with its rows staged piece by piece; a file with a footer stays as it is."""
    if source.rows is None:
        return source
    types.path, schema = source.path, source.rows.read_schema(types.memory)
    names = list(dict.fromkeys([*map(str, columns.labels), *source.condition_columns]))
    check_names((name for name in names if name not in source.partitions), schema, source.path)
    stored = [name for name in names if name in schema.names] or schema.names[:1]
    pieces: list[StagedBatch] = []
    batches = map(_store, source.rows.iter_batches(stored, types))
    for _, alike in groupby(batches, lambda batch: batch.schema):
        for batch in gather(alike, n_bytes):
            n_rows = max(1, batch.num_rows * n_bytes // max(1, batch.nbytes))
            starts = range(0, batch.num_rows, n_rows)
            pieces += [_write_piece(batch.slice(start, n_rows), rows) for start in starts]
    for name in stored:
        at = schema.get_field_index(name)
        schema = schema.set(at, schema.field(at).with_type(plain_type(schema.field(at).type)))
    return source._replace(rows=None, place=NOWHERE, staged=StagedRows(written, pieces, schema))


def _store(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows in plain types."""
    arrays = [column.cast(plain_type(column.type)) for column in batch.columns]
    return pa.record_batch(arrays, batch.schema.names)


def _write_piece(batch: pa.RecordBatch, rows: TemporaryRows) -> StagedBatch:
    """Write rows, with texts as a dictionary and codes, and return their place in the file."""
    sizes, longest, columns = {}, {}, {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if column.type in TEXTS:
            column = column.dictionary_encode()
            longest[name] = pc.max(pc.binary_length(column.dictionary)).as_py() or 0
        columns[name], sizes[name] = column, column.nbytes
    low = high = None
    first = batch.columns[0]
    with suppress(pa.ArrowNotImplementedError, OverflowError, ValueError):  # Some types lack it.
        low, high = pc.min_max(getattr(first, "dictionary", first)).as_py().values()
    written = pa.BufferOutputStream()
    table = pa.record_batch(columns)
    with pa.ipc.new_stream(written, table.schema, options=PIECE_OPTIONS) as writer:
        writer.write_batch(table)
    start = rows.tell()
    size = rows.write(written.getvalue())
    return StagedBatch(start, size, batch.num_rows, sizes, low, high, longest)


def open_companions(files: Files, options: Options, limits: Limits) -> dict[str, Files]:
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
        with naming(name):
            if (opened := _open(name, one, files.columns, options, limits)) is None:
                return {}
            companions[name] = opened
    return companions if sum(one.n_rows for one in companions.values()) > most else {}


def _open(
    name: str, given: Any, columns: Columns, options: Options, limits: Limits
) -> Files | None:
    """Return the value of an option as files, or None if they have no footers."""
    is_frame = isinstance(given, pd.DataFrame)
    if is_frame:
        own = find_parted_columns(name, given, columns, options)
        if own.has_empty:
            return None
        try:
            table = pa.table({str(one): pa.array(get_column(given, one)) for one in own.labels})
        except (pa.ArrowException, TypeError):  # Files cannot have such ids either.
            return None
        sources = stage([SourceFile(name, {}, rows=GivenRows(table.to_reader()))], own, limits)
    else:
        path, access = (
            given if isinstance(given, PathWithAccess) else (os.fspath(given), ENVIRONMENT)
        )
        sources = find_files(path, access=access if access.leads_away(path) else ENVIRONMENT)
        if any(one.rows is not None for one in sources):
            return None
        given = pd.concat([read_head(one) for one in (sources[0], sources[-1])])
        if make_companion_rows(name, given, options) is not given:  # Lists become rows in memory.
            return None
        own = find_parted_columns(name, given, columns, options)
    if name == "truth":
        check_splits(given, list_labels(given, own.labels), own, options, of_truth=True)
        if own.relevant is None and is_infer(options.relevant):
            check_no_grades(given, own, columns)
    reading = replace(NAMED, relevant=options.relevant, missing=options.missing)
    return open_files(sources, own, reading, limits.memory)
