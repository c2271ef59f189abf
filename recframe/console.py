"""The console: exit statuses, text without control characters, errors in one line."""

import codecs
import os
import sys
from typing import Any, TextIO

from recframe.errors import RecframeError, hide

DONE, REFUSED, USAGE, FAILED, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143
MAX_LINE = 2000  # characters of an error; the end, which says what to do, is kept


def escape(text: str, kept: str = "", encoding: str = "utf-8") -> str:
    """Return text with what does not print, or an encoding lacks, written out; `kept` stays."""
    if text.isascii() and text.translate(str.maketrans("", "", kept)).isprintable():
        return text
    shown = "".join(one if one in kept or one.isprintable() else _spell(one) for one in text)
    return shown.encode(encoding, "spelled").decode(encoding)


def _spell(character: str) -> str:
    """Return a character as it is written in Python, and beyond ASCII in JSON too."""
    if character < " ":
        return repr(character)[1:-1]
    if "\udc80" <= character <= "\udcff":  # a byte of a name that is not UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _spell_lacking(error: Any) -> tuple[str, int]:
    """Return what stands for the characters that an encoding lacks, and where they end."""
    return "".join(map(_spell, error.object[error.start : error.end])), error.end


codecs.register_error("spelled", _spell_lacking)


def write(stream: TextIO | None, text: str, kept: str = "\n") -> None:
    """Write text to a stream at once, escaped but for its lines, or raise `OSError`."""
    if stream is None:  # closed before the start
        raise OSError("it is closed")
    try:
        stream.write(escape(text, kept, stream.encoding or "utf-8"))
        stream.flush()
    except (OSError, ValueError) as error:
        try:  # what is left in the buffer must not fail again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        finally:
            raise error if isinstance(error, OSError) else OSError("it is closed") from error


def shows_bar(*, is_quiet: bool) -> bool:
    """Return whether progress is shown: on a terminal, unless it is to be quiet."""
    return sys.stderr is not None and sys.stderr.isatty() and not is_quiet  # None if it was closed


def show(text: str, kept: str = "\n") -> None:
    """Print text; a reader who closes a pipe has seen enough. Raise where it cannot be printed."""
    try:
        write(sys.stdout, f"{text}\n", kept)
    except BrokenPipeError:
        pass
    except OSError as error:
        reason = error.strerror or error
        raise RecframeError(f"cannot write to standard output: {reason}") from error


def tell(message: str) -> None:
    """Say what went wrong on standard error, if there is one; of questions each in a line."""
    try:
        lines = [one_line(line) for line in message.split("\n")]
        write(sys.stderr, "recframe: " + "\n".join(lines) + "\n")
    except OSError:
        return


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
