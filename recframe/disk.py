"""What a path leads to: a file or folder, looked up before it is opened, or a lakehouse's table.

A table's log says which of its files are live. Files of earlier versions lie beside these, so what
is on disk are not the table's rows.
"""

import importlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from recframe.errors import RecframeError, shorten, show_path

SPECIAL = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
MARKS = {"Delta": "_delta_log", "Hudi": ".hoodie", "Iceberg": "metadata"}
REMEDIES = {
    "Delta": "pass the folder {root}",
    "Hudi": "read it with Spark and evaluate that DataFrame",
    "Iceberg": "read it with pyiceberg, table.scan().to_pandas(), and evaluate that DataFrame",
}


def identify(path: str) -> object:
    """Return what tells a file or folder from all others, whatever it is called.

    Raise where it is neither, or where the path cannot be followed.
    """
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
    return identity(path, found)


def identity(path: str, found: os.stat_result) -> object:
    """Return the same of what was found at a path."""
    return (found.st_dev, found.st_ino) if found.st_ino else Path(path).resolve()


def check_kind(path: str, found: os.stat_result, act: str = "read") -> None:
    """Raise where what was found is neither a file nor a folder."""
    kind = SPECIAL.get(stat.S_IFMT(found.st_mode))
    if kind is not None:
        raise RecframeError(f"cannot {act} {show_path(path)}: it is {kind}, not a file")


def check_opens(path: str) -> None:
    """Raise where opening a path would wait; what is not there is for those to say who open it."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a path may be an address, which Path changes
    except (OSError, ValueError):
        return
    check_kind(path, found)


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


class Table(NamedTuple):
    """A table of a lakehouse and its folder."""

    kind: str
    root: Path


def find_table(folder: Path, known: dict[Path, Table | None]) -> Table | None:
    """Return the table that a folder is or lies in, by the name given or where it really is.

    What is found is kept in `known`, so that of many folders each is looked at once.
    """
    as_named = Path(os.path.abspath(folder))  # noqa: PTH100 - without "..", and no link followed
    return _find_above(as_named, known) or _find_above(folder.resolve(), known)


def _find_above(folder: Path, known: dict[Path, Table | None]) -> Table | None:
    """Return the table that a folder is, or the nearest that it lies in."""
    passed: list[Path] = []
    table = None
    for above in (folder, *folder.parents):
        if above not in known:
            kind = next((kind for kind in MARKS if _is_table(kind, above)), None)
            passed.append(above)
            if kind is None:
                continue
            table = Table(kind, above)
        else:
            table = known[above]
        break
    known.update(dict.fromkeys(passed, table))
    return table


def _is_table(kind: str, folder: Path) -> bool:
    """Return whether a folder is a table of this kind."""
    mark = folder / MARKS[kind]
    is_there = os.path.isdir(mark)  # noqa: PTH112 - False where it cannot be read
    return is_there and (kind != "Iceberg" or any(mark.glob("*.metadata.json")))


def find_delta(folder: Path, known: dict[Path, Table | None]) -> Path | None:
    """Return the root of the Delta table that a folder is, None where it is no table's.

    Raise where it is another table, or a part of one.
    """
    table = find_table(folder, known)
    if table is not None and not (table.kind == "Delta" and table.root.samefile(folder)):
        raise_part(folder, table)
    return None if table is None else table.root


def raise_part(path: str | Path, table: Table) -> NoReturn:
    """Refuse a path that is a table whose live files are not known, or a part of a table."""
    refuse_part(path, table.kind, table.root, is_whole=table.root.samefile(path))


def refuse_part(
    path: str | Path, kind: str, root: str | Path, *, is_whole: bool = False
) -> NoReturn:
    """Refuse a path that is a table of this kind, or a part of one."""
    raise RecframeError(
        f"cannot read {show_path(path)}: it is {'' if is_whole else 'part of '}the {kind} table "
        f"{show_path(root)}, where files of earlier versions lie beside the live ones; "
        + REMEDIES[kind].format(root=show_path(root))
    )


def open_delta(root: Path | str) -> Any:
    """Return a Delta table as a dataset of its live files."""
    try:
        deltalake = importlib.import_module("deltalake")
    except ImportError as error:
        raise RecframeError(
            f"cannot read {show_path(root)}: its log as a Delta table is read by deltalake, "
            f"which could not be imported ({error}); install it with pip install 'recframe[delta]'"
        ) from error
    with _naming_table(root):
        return as_dataset(deltalake.DeltaTable(os.fspath(root)))


def as_dataset(table: Any) -> Any:
    """Return a table of deltalake, of the version it was opened at, as a dataset."""
    with _naming_table(table.table_uri):
        mapping = table.metadata().configuration.get("delta.columnMapping.mode", "none")
        if mapping != "none":  # of an old protocol, it is read as columns of nulls
            raise ValueError(f"its columns are mapped by {mapping} (columnMapping)")
        return table.to_pyarrow_dataset()


@contextmanager
def _naming_table(root: str | Path) -> Iterator[None]:
    """Raise what goes wrong with the log of a Delta table as a `RecframeError`."""
    try:
        yield
    except RecframeError:
        raise
    except Exception as error:  # what is no JSON is a bare one
        message = shorten(str(error).partition("\n")[0].rstrip("."))
        raise RecframeError(
            f"cannot read the Delta table {show_path(root)}: {message}; a table with features "
            "that deltalake does not read can be read with Spark: evaluate that DataFrame"
        ) from error
