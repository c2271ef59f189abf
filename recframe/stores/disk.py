"""Files of this machine: the checks before they are opened."""

import os
import stat
from pathlib import Path

from recframe.errors import RecframeError, show_path

SPECIAL = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def identify(path: str) -> object:
    """Return the identity of a file or folder, the same under all its names."""
    try:
        path.encode()  # Arrow opens UTF-8 names only.
        found = os.stat(path)  # noqa: PTH116 - it takes half the time
    except OSError as error:
        raise RecframeError(f"cannot read {show_path(path)}: {reason(error)}") from error
    except ValueError as error:  # a byte that is not UTF-8, or a null character
        raise RecframeError(
            f"cannot read {show_path(path)}: its name is not UTF-8 text. Rename it."
        ) from error
    check_kind(path, found)
    return (found.st_dev, found.st_ino) if found.st_ino else Path(path).resolve()


def check_kind(path: str, found: os.stat_result, act: str = "read") -> None:
    """Raise for an entry that is neither a file nor a folder."""
    kind = SPECIAL.get(stat.S_IFMT(found.st_mode))
    if kind is not None:
        raise RecframeError(f"cannot {act} {show_path(path)}: it is {kind}, not a file")


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
