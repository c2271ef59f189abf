"""The files that paths name, each with what the names of its folders say."""

import os
import re
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from posixpath import join
from urllib.parse import unquote

import pyarrow as pa

from recframe.disk import Disk, check_named, open_delta
from recframe.errors import RecframeError, show_path
from recframe.files.found import Found, check_one_format, keep_footers, list_files
from recframe.foreign import PathLike
from recframe.frames.judgments import naming
from recframe.stores import ENVIRONMENT, Access
from recframe.stores.listings import Listed, Listings, do_match

NULL_VALUE = "__HIVE_DEFAULT_PARTITION__"
WHOLE_NUMBER = re.compile("0|-?[1-9][0-9]{0,17}")  # of 64 bits, in its usual form ("007" is not)


def find_files(
    paths: PathLike | Sequence[PathLike], argument: str = "", access: Access = ENVIRONMENT
) -> list[Found]:
    """Return the files that paths name, in order, each with what is known of its columns.

    What is refused is so by the name of the argument, if there is one.
    """
    listed = [paths] if isinstance(paths, str | os.PathLike) else paths
    listings, found = Listings(access), list[Found]()
    with naming(argument) if argument else nullcontext():
        given = [os.fspath(path) for path in listed]
        for path in given:
            check_named("path", path)
        access.check_used(given)
        for path in given:
            for one in listings.find(path):
                if one.log:
                    found += _read_log(one, listings)
                else:
                    found.append(Found(one.path, {}, remote=one.remote))
        if not found:
            raise RecframeError("no file named, found an empty list")
        listings.check()
        keep_footers(found)
        check_one_format(found)
    return _typed(found)


def _read_log(table: Listed, listings: Listings) -> list[Found]:
    """Return the live files of a Delta table, with the values of what it is partitioned by."""
    found = list_files(open_delta(table.log))
    if not found:
        raise RecframeError(f"cannot read {show_path(table.log)}: the Delta table has no file")
    named = [listings.name(table.tree, join(table.path, file.path)) for file in found]
    return [
        file._replace(path=one.path, remote=one.remote)
        for file, one in zip(found, named, strict=True)
    ]


def would_find(given: str, path: str) -> bool:
    """Return whether a file or folder or pattern that is given means a path, there or not."""
    disk = Disk()
    folder, steps = disk.split(given) if disk.look_up(given) is None else (given, ())
    root, target = (Path(os.path.realpath(end)) for end in (folder, path))
    below = target.parts[len(root.parts) :]
    return target.is_relative_to(root) and do_match(below, steps)


def _typed(found: list[Found]) -> list[Found]:
    """Return files with what folders say: numbers where all are whole numbers, else texts."""
    # Of many files Path would take ten times as long.
    folders = [None if file.table_schema else os.path.dirname(file.path) for file in found]  # noqa: PTH120
    texts: dict[str, dict[str, str | None]] = {}  # None for a null
    for folder in filter(None, dict.fromkeys(folders)):
        pairs = [name.split("=", 1) for name in Path(folder).parts if "=" in name]
        texts[folder] = {
            name: None if text == NULL_VALUE else unquote(text) for name, text in pairs
        }
    types: dict[str, pa.DataType] = {}
    for name, text in (pair for of_folder in texts.values() for pair in of_folder.items()):
        types.setdefault(name, pa.int64())
        if text is not None and not WHOLE_NUMBER.fullmatch(text):
            types[name] = pa.string()
    values = {
        folder: {
            name: pa.scalar(text, pa.string()).cast(types[name]) for name, text in said.items()
        }
        for folder, said in texts.items()
    }
    return [
        file._replace(partitions=values[folder]) if folder else file
        for file, folder in zip(found, folders, strict=True)
    ]
