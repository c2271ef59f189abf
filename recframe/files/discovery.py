"""The source files of paths, and of objects of Arrow, deltalake and DuckDB."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path
from posixpath import join
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa

from recframe.errors import RecframeError, prefix_errors, quote, show_path, unreadable
from recframe.files.footers import Files
from recframe.files.limits import Limits
from recframe.files.source_files import SourceFile, make_plain
from recframe.formats import PARQUET, Delimited, GivenRows, find_format, open_rows
from recframe.frames.splits import OF_FILES, split_files
from recframe.other_tables import RELATION, is_instance
from recframe.stores import ENVIRONMENT, Access, check_named, expand_path, is_uri
from recframe.stores.listings import ListedFile, Listing
from recframe.stores.store import HERE, Location, Store
from recframe.stores.tables import as_dataset, open_delta

NULL_VALUE = "__HIVE_DEFAULT_PARTITION__"
WHOLE_NUMBER = re.compile("0|-?[1-9][0-9]{0,17}")  # 64-bit integers; "007" is text


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
    listing, sources, is_named = Listing(access), list[SourceFile](), False
    with prefix_errors(argument) if argument else nullcontext():
        paths = [os.fspath(path) for path in listed]
        for path in paths:
            check_named("path", path)
        if access.storage_options is not None and not any(map(access.leads_away, paths)):
            raise RecframeError(
                "storage_options are for paths with a scheme, such as s3://bucket/folder, not "
                f"{quote(paths)}. Leave them out."
            )
        for one in chain.from_iterable(map(listing.find, paths)):
            if one.log:
                sources += _read_log(one, listing)
            else:
                rows = open_rows(one.path, one.place.open)
                sources.append(SourceFile(one.path, {}, rows=rows, place=one.place))
                is_named = is_named or one.is_given
        if not sources:
            raise RecframeError("must name at least one file, but is an empty list")
        listing.check()
        _check_one_format(sources)
    splits = [] if is_named else split_files([source.path for source in sources])
    sources = _read_folder_names(sources)
    for at, split in enumerate(splits):
        values = sources[at].partitions | {OF_FILES: pa.scalar(split)}
        sources[at] = sources[at]._replace(partitions=values)
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
        raise unreadable(table.log, "the Delta table has no file")
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
        dataset, root = as_dataset(name, lambda _: source), expand_path(name)
        if not is_uri(name):  # Older versions give a path with escapes as in a URI.
            root = unquote(root)
    rows = [SourceFile(name, {}, rows=GivenRows(dataset))]
    is_of_files = isinstance(dataset, ds.FileSystemDataset)
    if not is_of_files or not isinstance(dataset.format, ds.ParquetFileFormat):
        return rows
    store = Store(dataset.filesystem, "", root and f"{root.rstrip('/')}/")

    def locate(path: str) -> tuple[str, Location]:
        """Return the name and the place of a file; deltalake's filesystem is for stores only."""
        if root and not is_uri(root):
            path = os.fspath(Path(root, path))
            return path, Location(HERE, path)
        return store.show(path), Location(store, path)

    try:
        sources = _list_dataset_files(dataset, locate, is_of_delta=bool(root))
    except ValueError:  # Only its own reader applies the filter of a dataset.
        return rows
    return sources or rows


def _read_folder_names(sources: list[SourceFile]) -> list[SourceFile]:
    """Return files with the values in the names of their folders, such as day=7.

    The values of a name are integers if all of them are, else text.
    """
    # For many files, Path would take ten times as long.
    folders = [None if one.table_schema else os.path.dirname(one.path) for one in sources]  # noqa: PTH120
    values: dict[str, dict[str, pa.Scalar]] = {}
    are_texts: set[str] = set()
    for folder in filter(None, dict.fromkeys(folders)):
        values[folder] = {}
        for name, value in (part.split("=", 1) for part in Path(folder).parts if "=" in part):
            text = None if value == NULL_VALUE else unquote(value)
            values[folder][name] = pa.scalar(text, pa.string())
            if text is not None and not WHOLE_NUMBER.fullmatch(text):
                are_texts.add(name)
    for of_folder in values.values():
        numbers = [name for name in of_folder if name not in are_texts]
        of_folder |= {name: of_folder[name].cast(pa.int64()) for name in numbers}
    return [
        source._replace(partitions=values[folder]) if folder else source
        for source, folder in zip(sources, folders, strict=True)
    ]


def _list_dataset_files(
    dataset: Any, locate: Callable[[str], Sequence[Any]], *, is_of_delta: bool
) -> list[SourceFile]:
    """Return the files of a dataset of parquet files; `locate` finds the name and place of each."""
    import pyarrow.dataset as ds  # Only datasets need it.

    # A partition is one category, but the users of all files need not be categories.
    sources, schema = [], make_plain(dataset.schema)
    for fragment in dataset.get_fragments():
        values = ds.get_partition_keys(fragment.partition_expression)
        partitions = {
            name: pa.scalar(value, schema.field(name).type)
            for name, value in values.items()
            if name in schema.names
        }
        path, place, *_ = locate(fragment.path)
        part = None if is_of_delta else fragment  # Delta means all row groups of a file.
        sources.append(SourceFile(path, partitions, schema, fragment=part, place=place))
    return sources


def _check_one_format(sources: list[SourceFile]) -> None:
    """Raise if files have several formats, as in a folder with a table and notes on it."""
    first: dict[str, str] = {}
    for file in sources:
        first.setdefault(PARQUET if file.table_schema else find_format(file.path), file.path)
    if len(first) > 1:
        (one, path), (other, also), *_ = first.items()
        # Files with unknown endings, such as README.md, count as parquet.
        named = next((kind for kind in first if first[kind].lower().endswith(f".{kind}")), one)
        raise RecframeError(
            f"cannot read {show_path(path)} ({one}) and {show_path(also)} ({other}) as one table. "
            f"Name the files of one format, for example by a pattern such as '*.{named}'."
        )
