"""Which files a path means, and what the names of their folders say."""

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from glob import has_magic
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa

from recframe.disk import (
    Table,
    check_named,
    find_delta,
    find_table,
    identify,
    open_delta,
    raise_part,
    reason,
)
from recframe.errors import RecframeError, say_where, show_path
from recframe.files.found import Found, check_one_format, keep_footers, list_files
from recframe.foreign import PathLike
from recframe.stores import ENVIRONMENT, Access, without_file
from recframe.stores.listings import Listings, do_match
from recframe.stores.remote import Remote
from recframe.stores.store import Place

NULL_VALUE = "__HIVE_DEFAULT_PARTITION__"
WHOLE_NUMBER = re.compile("0|-?[1-9][0-9]{0,17}")  # of 64 bits, in its usual form ("007" is not)


def find_files(
    paths: PathLike | Sequence[PathLike], argument: str = "", access: Access = ENVIRONMENT
) -> list[Found]:
    """Return the files that paths name, in order, each with what is known of its columns.

    What is refused is so by the name of the argument, if there is one.
    """
    try:
        return _find(paths, access)
    except RecframeError as error:
        if argument:
            say_where(f"{argument}: ", error)
        raise


def _find(paths: PathLike | Sequence[PathLike], access: Access) -> list[Found]:
    """Return the files that paths name."""
    listed = [paths] if isinstance(paths, str | os.PathLike) else paths
    known = [path for path in listed if isinstance(path, Found)]
    if known and len(known) == len(listed):
        return known
    given = [os.fspath(path) for path in listed]
    for path in given:
        check_named("path", path)
    access.check_used(given)
    tables: dict[Path, Table | None] = {}
    listings = Listings(access)
    found: list[Found] = []
    for path in given:
        is_away = access.leads_away(path)
        found += _find_stored(path, listings) if is_away else _expand(without_file(path), tables)
    if not found:
        raise RecframeError("no file named, found an empty list")
    here = [file for file in found if file.remote is None]
    _check_named_once([file.path for file in here])
    of_no_log = [file.path for file in here if file.table_schema is None]
    _check_no_part(of_no_log, set(map(without_file, given)), tables)
    listings.check()
    keep_footers(found)
    check_one_format(found)
    return _typed(found)


def _find_stored(path: str, listings: Listings) -> list[Found]:
    """Return the files that one path in a store names."""
    named = listings.find(path)
    if not isinstance(named, Place):
        return [Found(file.path, {}, remote=file.remote) for file in named]
    store, root = named
    found = []
    for file in _read_log(listings.of_delta(path)):
        key = f"{root.rstrip('/')}/{file.path}"
        found.append(file._replace(path=store.show(key), remote=Remote(store, key)))
    return found


def _expand(path: str, tables: dict[Path, Table | None]) -> list[Found]:
    """Return the files that one path names."""
    if os.path.isdir(path):  # noqa: PTH112 - it raises nothing
        root = find_delta(Path(path), tables)
        if root is not None:
            return _read_log(root)
        files = [Found(entry.path, {}) for entry in walk(path) if not entry.is_dir()]
        if not files:
            raise RecframeError(f"cannot read {show_path(path)}: no file in that folder")
        return files
    if os.path.exists(path) or not has_magic(path):  # noqa: PTH110 - it raises nothing
        return [Found(path, {})]
    steps = Path(path).parts
    n_plain = next(number for number, step in enumerate(steps) if has_magic(step))
    matches = sorted(set(_match(os.fspath(Path(*steps[:n_plain])), steps[n_plain:])))
    if not matches:
        raise RecframeError(f"cannot read {show_path(path)}: no such file")
    # A pattern may match a folder and what is in it.
    found = {file.path: file for match in matches for file in _expand(match, tables)}
    return list(found.values())


def walk(folder: str) -> Iterator[os.DirEntry[str]]:
    """Yield the files and folders below a folder; a link to a folder above is not followed."""
    above: tuple[object, ...] = (identify(folder),)
    # A stack of what is to come, as folders may be nested deeper than calls.
    following = [(entry, above) for entry in reversed(_list(folder))]
    while following:
        entry, above = following.pop()
        if not entry.is_dir():
            yield entry
        elif (identity := identify(entry.path)) not in above:
            yield entry
            inside = (*above, identity)
            following += [(found, inside) for found in reversed(_list(entry.path))]


def would_find(given: str, path: str) -> bool:
    """Return whether a file or folder or pattern that is given means a path, there or not."""
    steps = Path(given).parts
    n_plain = len(steps)
    if has_magic(given) and not os.path.exists(given):  # noqa: PTH110 - it raises nothing
        n_plain = next(number for number, step in enumerate(steps) if has_magic(step))
    root, target = (Path(os.path.realpath(end)) for end in (Path(*steps[:n_plain]), path))
    below = target.parts[len(root.parts) :]
    return target.is_relative_to(root) and do_match(below, steps[n_plain:])


def _match(folder: str, steps: Sequence[str]) -> Iterator[str]:
    """Yield the paths below a folder that the steps of a pattern match."""
    step, *rest = steps
    if step == "**" and rest:
        below = [entry.path for entry in walk(folder) if entry.is_dir()]
        for path in (folder, *below):
            yield from _match(path, rest)
        return
    for entry in _list(folder, step):
        if not rest:
            yield entry.path
        elif entry.is_dir():
            yield from _match(entry.path, rest)


def _list(folder: str, pattern: str = "*") -> list[os.DirEntry[str]]:
    """Return what a folder has under names that match, in order of names."""
    # Names that begin so are the notes of a writer, nowhere read as data.
    skipped = "" if pattern[0] in "_." else "_."
    try:
        with os.scandir(folder) as entries:
            found = [entry for entry in entries if fnmatch(entry.name, pattern)]
    except OSError as error:
        raise RecframeError(
            f"cannot read {show_path(folder)}: {reason(error)}; its rows would be missing"
        ) from error
    found = [entry for entry in found if entry.name[0] not in skipped]
    for entry in found:
        if entry.is_symlink():
            _check_link(entry)
    return sorted(found, key=lambda entry: entry.name)


def _check_link(entry: os.DirEntry[str]) -> None:
    """Raise where a symbolic link does not lead to anything that can be reached."""
    try:
        entry.stat()
    except OSError as error:
        gone = isinstance(error, FileNotFoundError)
        raise RecframeError(
            f"cannot read {show_path(entry.path)}: it is a symbolic link to "
            f"{show_path(Path(entry.path).readlink())}, "
            + ("which is not there; remove it" if gone else f"{reason(error)}")
        ) from error


def _check_named_once(paths: list[str]) -> None:
    """Raise where two paths are one file."""
    seen: dict[object, str] = {}
    for path in paths:
        identity = identify(path)
        if identity in seen:
            also = "" if seen[identity] == path else f", first as {show_path(seen[identity])}"
            raise RecframeError(
                f"path: {show_path(path)} is named twice{also}; its rows would count twice"
            )
        seen[identity] = path


def _check_no_part(paths: list[str], given: set[str], tables: dict[Path, Table | None]) -> None:
    """Raise where files are those on disk of a table whose log knows which of them are live.

    One file that is given is what was meant; several may be what a shell made of a pattern.
    """
    folders: dict[str, Table | None] = {}
    first: dict[Table, str] = {}
    for path in paths:
        folder = _folder(path)
        if folder not in folders:
            folders[folder] = find_table(Path(folder), tables)
        table = folders[folder]
        if table and (path not in given or first.setdefault(table, path) != path):
            raise_part(path, table)


def _read_log(root: Path | str) -> list[Found]:
    """Return the live files of a Delta table, with the values of what it is partitioned by."""
    found = list_files(open_delta(root), root if isinstance(root, Path) else None)
    if not found:
        raise RecframeError(f"cannot read {show_path(root)}: the Delta table has no file")
    return found


def _typed(found: list[Found]) -> list[Found]:
    """Return files with what folders say: numbers where all are whole numbers, else texts."""
    folders = [None if file.table_schema else _folder(file.path) for file in found]
    texts = {
        folder: _partition_texts(folder) for folder in dict.fromkeys(folders) if folder is not None
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
        file if folder is None else file._replace(partitions=values[folder])
        for file, folder in zip(found, folders, strict=True)
    ]


def _folder(path: str) -> str:
    """Return the folder of a file."""
    return os.path.dirname(path)  # noqa: PTH120 - of many files it takes a tenth of the time


def _partition_texts(folder: str) -> dict[str, str | None]:
    """Return what the names of a folder and those above say, as text; None for a null."""
    pairs = [name.split("=", 1) for name in Path(folder).parts if "=" in name]
    return {name: None if text == NULL_VALUE else unquote(text) for name, text in pairs}
