"""What a path leads to, looked up before anything is opened, so that nothing is waited for."""

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
