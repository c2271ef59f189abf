"""The standard streams: text without surprises, errors in one line, from the first import on.

The standard library only, as this is what says that the others could not be imported.
"""

import os
import sys
from contextlib import suppress
from typing import TextIO

from recframe.errors import RecframeError, hide

REFUSED = 1
MAX_LINE = 2000  # characters of an error; the end, which says what to do, is kept


def escape(text: str, kept: str = "", encoding: str = "utf-8") -> str:
    """Return text with what does not print, as control characters, written out; `kept` stays."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        each
        if each in kept or (each.isprintable() and _can_encode(each, encoding))
        else _spell(each)
        for each in text
    )


def _can_encode(text: str, encoding: str) -> bool:
    """Return whether an encoding has a text."""
    try:
        text.encode(encoding)
    except UnicodeError:
        return False
    return True


def _spell(character: str) -> str:
    """Return a character as it is written in Python, and beyond ASCII in JSON too."""
    if character < " ":
        return repr(character)[1:-1]
    if "\udc80" <= character <= "\udcff":  # a byte of a name that is not UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def write(stream: TextIO | None, text: str, kept: str = "\n") -> None:
    """Write text to a stream at once, escaped but for its lines, or raise `OSError`."""
    if stream is None:  # closed before the start
        raise OSError("it is closed")
    try:
        stream.write(escape(text, kept, stream.encoding or "utf-8"))
        stream.flush()
    except (OSError, ValueError) as error:
        # What is left in the buffer must not fail again at exit.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise error if isinstance(error, OSError) else OSError("it is closed") from error


def show(text: str, kept: str = "\n") -> None:
    """Print text; a reader who closes a pipe has seen enough. Raise where it cannot be printed."""
    try:
        write(sys.stdout, f"{text}\n", kept)
    except BrokenPipeError:
        pass
    except OSError as error:
        reason = error.strerror or error
        raise RecframeError(f"cannot write to standard output: {reason}") from error


def check_shown() -> None:
    """Raise where nothing that is printed would arrive."""
    if sys.stdout is None:
        raise RecframeError("cannot write to standard output: it is closed")


def tell(message: str) -> None:
    """Say what went wrong in one line of standard error, if there is one."""
    with suppress(OSError):
        write(sys.stderr, f"recframe: {one_line(message)}\n")


def one_line(message: str) -> str:
    """Return a message as one line of bounded length."""
    line = escape(hide(message))
    half = MAX_LINE // 2
    return line if len(line) <= MAX_LINE else f"{line[:half]} ... {line[-half:]}"


def describe(error: BaseException) -> str:
    """Return the kind of an error and what it, or the first that led to it, says first."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
