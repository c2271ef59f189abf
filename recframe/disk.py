"""Files and folders of this machine, looked up before they are opened, and tables with a log.

A table's log names its live files. Files of earlier versions lie beside these, so the files on disk
hold more than the table's rows.
"""

import importlib
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from glob import has_magic
from pathlib import Path, PurePath
from typing import Any, NamedTuple, NoReturn

from recframe.errors import RecframeError, quote, shorten, show_path

SPECIAL = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
# The folder that tells a table; in that of Iceberg there is a note as well.
MARKS = {"Delta": "_delta_log", "Hudi": ".hoodie", "Iceberg": "metadata"}
NOTE = ".metadata.json"
REMEDIES = {
    "Delta": "pass the folder {root}",
    "Hudi": "read it with Spark and evaluate that DataFrame",
    "Iceberg": "read it with pyiceberg, table.scan().to_pandas(), and evaluate that DataFrame",
}


def identify(path: str) -> object:
    """Return the identity of a file or folder, whatever its name is."""
    try:
        path.encode()  # Arrow opens no other names
        found = os.stat(path)  # noqa: PTH116 - of many files it takes half the time
    except OSError as error:
        raise RecframeError(f"cannot read {show_path(path)}: {reason(error)}") from error
    except ValueError as error:  # of an odd byte, or of a null character
        raise RecframeError(
            f"cannot read {show_path(path)}: its name is not UTF-8 text; rename it"
        ) from error
    check_kind(path, found)
    return (found.st_dev, found.st_ino) if found.st_ino else Path(path).resolve()


def check_kind(path: str, found: os.stat_result, act: str = "read") -> None:
    """Raise for an entry that is neither a file nor a folder."""
    kind = SPECIAL.get(stat.S_IFMT(found.st_mode))
    if kind is not None:
        raise RecframeError(f"cannot {act} {show_path(path)}: it is {kind}, not a file")


def check_named(role: str, path: str) -> None:
    """Raise where a path is empty, which some calls take for the current folder."""
    if not path:
        raise RecframeError(
            f"{role} must name a file or folder, found '' (an unset variable?); "
            "the current folder is '.'"
        )


def reason(error: OSError) -> str:
    """Return why a file or folder cannot be read."""
    return "no such file" if isinstance(error, FileNotFoundError) else str(error.strerror)


class Entry(NamedTuple):
    """An entry of a folder."""

    name: str
    path: str
    is_folder: bool
    key: str = ""  # of a file in a store


class Table(NamedTuple):
    """A table of a lakehouse and its folder."""

    kind: str
    root: str


class Disk:
    """A tree of folders, that of this machine; stores have the same methods."""

    identify = staticmethod(identify)
    show = staticmethod(os.fspath)

    def look_up(self, path: str) -> Entry | None:
        """Return the entry that a path leads to, None for a pattern; if missing, a file."""
        is_folder = os.path.isdir(path)  # noqa: PTH112 - it raises nothing
        is_plain = is_folder or os.path.exists(path) or not has_magic(path)  # noqa: PTH110 - as above
        return Entry("", path, is_folder) if is_plain else None

    def split(self, path: str) -> tuple[str, tuple[str, ...]]:
        """Return the folder that a pattern begins with, and the steps below it."""
        steps = Path(path).parts
        n_plain = next(number for number, step in enumerate(steps) if has_magic(step))
        return os.fspath(Path(*steps[:n_plain])), steps[n_plain:]

    def list_folder(self, folder: str, is_meant: Callable[[str], object]) -> list[Entry]:
        """Return the entries of a folder whose names are meant, in order of names."""
        try:
            with os.scandir(folder) as entries:
                found = [entry for entry in entries if is_meant(entry.name)]
        except OSError as error:
            raise RecframeError(
                f"cannot read {show_path(folder)}: {reason(error)}; its rows would be missing"
            ) from error
        for entry in filter(os.DirEntry.is_symlink, found):
            try:
                entry.stat()
            except OSError as error:
                gone, target = isinstance(error, FileNotFoundError), ""
                with suppress(OSError):  # where links are not told to lead, as in /proc
                    target = f" to {show_path(Path(entry.path).readlink())}"
                raise RecframeError(
                    f"cannot read {show_path(entry.path)}: it is a symbolic link{target}, "
                    + ("which does not exist; remove it" if gone else f"{reason(error)}")
                ) from error
        return sorted(Entry(entry.name, entry.path, entry.is_dir()) for entry in found)

    def above(self, folder: str) -> list[str]:
        """Return a folder and those above it by its name, then those where it really lies."""
        ends = os.path.abspath(folder), os.path.realpath(folder)  # noqa: PTH100 - no link followed
        paths = [path for end in map(Path, dict.fromkeys(ends)) for path in (end, *end.parents)]
        return [os.fspath(path) for path in paths]

    def has_mark(self, asked: tuple[str, str]) -> bool:
        """Return whether a table of a kind has its mark in a folder."""
        kind, folder = asked
        mark = Path(folder, MARKS[kind])
        is_there = os.path.isdir(mark)  # noqa: PTH112 - False where it cannot be read
        return is_there and (kind != "Iceberg" or any(mark.glob(f"*{NOTE}")))


def refuse_part(path: str, kind: str, root: str, *, is_whole: bool = False) -> NoReturn:
    """Refuse a path that is a table of this kind, or a part of one."""
    raise RecframeError(
        f"cannot read {show_path(path)}: it is {'' if is_whole else 'part of '}the {kind} table "
        f"{show_path(root)}, where files of earlier versions lie beside the live ones; "
        + REMEDIES[kind].format(root=show_path(root))
    )


def open_delta(root: str) -> Any:
    """Return a Delta table as a dataset of its live files."""
    try:
        deltalake = importlib.import_module("deltalake")
    except ImportError as error:
        raise RecframeError(
            f"cannot read {show_path(root)}: deltalake, which reads Delta tables, could "
            f"not be imported ({error}); install it with pip install 'recframe[delta]'"
        ) from error
    dataset = as_dataset(root, deltalake.DeltaTable)
    for fragment in dataset.get_fragments():
        path = PurePath(fragment.path)
        if path.is_absolute() or ".." in path.parts or "://" in fragment.path:
            raise RecframeError(
                f"cannot read {show_path(root)}: the log of this Delta table names a file outside "
                f"its folder, {quote(fragment.path)}; to let deltalake read it, pass "
                f"deltalake.DeltaTable({quote(root)}) to recframe.scan"
            )
    return dataset


def as_dataset(root: str, open_table: Callable[[str], Any]) -> Any:
    """Return a table of deltalake, of the version it is opened at, as a dataset."""
    try:
        table = open_table(root)
        root = table.table_uri
        mapping = table.metadata().configuration.get("delta.columnMapping.mode", "none")
        if mapping != "none":  # of an old protocol, it is read as columns of nulls
            raise ValueError(f"its columns are mapped by {mapping} (columnMapping)")
        return table.to_pyarrow_dataset()
    except Exception as error:  # what is no JSON is a bare one
        message = shorten(str(error).partition("\n")[0].rstrip("."))
        raise RecframeError(
            f"cannot read the Delta table {show_path(root)}: {message}; if deltalake lacks a "
            "feature of the table, read it with Spark and evaluate that DataFrame"
        ) from error
