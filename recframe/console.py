"""The console: exit statuses, text without control characters, errors in one line."""

import codecs
import os
import sys
from typing import Any, TextIO

from recframe.errors import RecframeError, hide

DONE, REFUSED, USAGE, FAILED, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143
MAX_LINE = 2000  # characters of an error; a longer one loses its middle


def escape(text: str, allowed: str = "", encoding: str = "utf-8") -> str:
    """Return text with escapes for characters that do not print or that the encoding lacks."""
    if text.isascii() and text.translate(str.maketrans("", "", allowed)).isprintable():
        return text
    shown = "".join(
        one if one in allowed or one.isprintable() else _escape_character(one) for one in text
    )
    return shown.encode(encoding, "recframe_escape").decode(encoding)


def _escape_character(character: str) -> str:
    """Return the escape of a character in Python; JSON has the same one beyond ASCII."""
    if character < " ":
        return repr(character)[1:-1]
    if "\udc80" <= character <= "\udcff":  # a byte of a name that is not UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _escape_unencodable(error: Any) -> tuple[str, int]:
    """Return the escapes of characters that an encoding lacks, and the position after them."""
    return "".join(map(_escape_character, error.object[error.start : error.end])), error.end


codecs.register_error("recframe_escape", _escape_unencodable)


def write(stream: TextIO | None, text: str, allowed: str = "\n") -> None:
    """Write text to a stream at once, with control characters escaped; raise `OSError`."""
    if stream is None:  # it was closed before the start
        raise OSError("it is closed")
    try:
        stream.write(escape(text, allowed, stream.encoding or "utf-8"))
        stream.flush()
    except (OSError, ValueError) as error:
        try:  # Python flushes the stream again at exit, which must not fail a second time
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        finally:
            raise error if isinstance(error, OSError) else OSError("it is closed") from error


def shows_bar(*, is_quiet: bool) -> bool:
    """Return whether to show progress: only on a terminal, and not with --quiet."""
    return sys.stderr is not None and sys.stderr.isatty() and not is_quiet  # None if it was closed


def show(text: str, allowed: str = "\n") -> None:
    """Print text, or raise `RecframeError` if standard output takes none."""
    try:
        write(sys.stdout, f"{text}\n", allowed)
    except BrokenPipeError:
        pass  # the reader, such as `head`, has seen enough
    except OSError as error:
        reason = error.strerror or error
        raise RecframeError(f"cannot write to standard output: {reason}") from error


def tell(message: str) -> None:
    """Write a message to standard error; a closed one is no error."""
    try:
        lines = [one_line(line) for line in message.split("\n")]
        write(sys.stderr, "recframe: " + "\n".join(lines) + "\n")
    except OSError:
        return


def one_line(message: str) -> str:
    """Return a message as one line of at most about `MAX_LINE` characters."""
    line = escape(hide(message))
    half = MAX_LINE // 2
    return line if len(line) <= MAX_LINE else f"{line[:half]} ... {line[-half:]}"


def describe(error: BaseException) -> str:
    """Return the class and the first line of an error's first cause."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
