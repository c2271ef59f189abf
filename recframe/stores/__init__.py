"""Stores: paths with a scheme and the access to their stores, and checks of paths without one.

This module imports no library.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from recframe.errors import RecframeError, hide, show_path, unreadable

URI = re.compile(r"((?:[A-Za-z0-9+.-]+::)*[A-Za-z][A-Za-z0-9+.-]+)://")  # a drive has one letter

SPECIAL = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class Access(NamedTuple):
    """The access to stores that is passed with paths; the default reads the environment."""

    storage_options: Mapping[str, Any] | None = None
    filesystem: Any = None

    def __repr__(self) -> str:
        """Return the name of the class; the contents may be secret."""
        return "Access(…)"

    def leads_away(self, path: str) -> bool:
        """Return whether a path is in a store, not on this machine."""
        return self.filesystem is not None or (is_uri(path) and not path.startswith("file://"))


ENVIRONMENT = Access()


def is_uri(path: str) -> bool:
    """Return whether a path begins with a scheme, such as s3://."""
    return URI.match(path) is not None


def expand_path(path: str) -> str:
    """Return a path of this machine for a file:// URI or one that begins with ~, else the path."""
    if not path.startswith("file://"):
        return os.path.expanduser(path)  # noqa: PTH111 - Path would lose the slashes of URIs
    from urllib.request import url2pathname  # Other paths do not need it.

    host, slash, rest = path.removeprefix("file://").partition("/")
    if host not in ("", "localhost"):
        such = "such as file:///folder/file.parquet"
        raise unreadable(path, f"the path of a file:// URI must begin with a slash, {such}")
    return url2pathname(slash + rest)


def show_uri(path: str) -> str:
    """Return a path to show; a URI loses its secrets and query."""
    return hide(path).removesuffix("#…").removesuffix("?…") if is_uri(path) else path


def find_ending(path: str) -> str:
    """Return the ending of a path, which tells the format of its file."""
    return PurePosixPath(show_uri(path)).suffix


def check_access(storage_options: Any, filesystem: Any) -> Access:
    """Return the access to stores, or raise if it is not valid; no value is shown."""
    if storage_options is not None and filesystem is not None:
        raise RecframeError(
            "storage_options and filesystem were both given; a filesystem has its options already: "
            "pass one of them"
        )
    if storage_options is not None and not (
        isinstance(storage_options, Mapping)
        and all(isinstance(key, str) for key in storage_options)
    ):
        found = type(storage_options).__name__
        raise RecframeError(
            f"storage_options must be a dict of names and values, but is an object of type {found}"
        )
    return Access(storage_options, None if filesystem is None else as_arrow(filesystem))


def as_arrow(filesystem: Any) -> Any:
    """Return a filesystem of either library as Arrow's, or raise for any other object."""
    from pyarrow.fs import FileSystem, FSSpecHandler, PyFileSystem

    from recframe.stores.store import Handler

    if isinstance(filesystem, PyFileSystem) and isinstance(filesystem.handler, FSSpecHandler):
        filesystem = filesystem.handler.fs
    if isinstance(filesystem, FileSystem):
        return filesystem
    if all(hasattr(filesystem, name) for name in ("cat_file", "find", "protocol")):
        return PyFileSystem(Handler(filesystem))
    raise RecframeError(
        "filesystem must be a filesystem of pyarrow or fsspec, such as pyarrow.fs.S3FileSystem(…), "
        f"but is an object of type {type(filesystem).__name__}"
    )


def identify(path: str) -> object:
    """Return the identity of a file or folder, the same under all its names."""
    try:
        path.encode()  # Arrow opens UTF-8 names only.
        found = os.stat(path)  # noqa: PTH116 - it takes half the time
    except OSError as error:
        why = reason(error)
        if isinstance(error, FileNotFoundError) and os.path.islink(path):  # noqa: PTH114 - as above
            target = ""
            with suppress(OSError):  # Some links have no target, as in /proc.
                target = f" to {show_path(Path(path).readlink())}"
            why = f"it is a symbolic link{target}, which does not exist. Remove it."
        raise unreadable(path, why) from error
    except ValueError as error:  # a byte that is not UTF-8, or a null character
        raise unreadable(path, "its name is not UTF-8 text. Rename it.") from error
    check_kind(path, found)
    return (found.st_dev, found.st_ino) if found.st_ino else Path(path).resolve()


def check_kind(path: str, found: os.stat_result, act: str = "read") -> None:
    """Raise for an entry that is neither a file nor a folder."""
    kind = SPECIAL.get(stat.S_IFMT(found.st_mode))
    if kind is not None:
        raise unreadable(path, f"it is {kind}, not a file", act)


def check_named(role: str, path: str) -> None:
    """Raise if a path is empty: some calls take it for the current folder."""
    if not path:
        raise RecframeError(
            f"{role} must name a file or folder, but is '' (an unset variable?); "
            "the current folder is '.'"
        )


def reason(error: OSError) -> str:
    """Return the reason why a file or folder cannot be read."""
    return "no such file" if isinstance(error, FileNotFoundError) else str(error.strerror)
