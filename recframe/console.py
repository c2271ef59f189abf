"""The console: exit statuses, text without surprises, errors in one line from the first import on.

Imports only what Python has loaded by then: what fails to load is reported from here.
"""

import _signal  # type: ignore[import-not-found]  # what `signal` is made of, without the enums
import codecs
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, NoReturn, TextIO

DONE, REFUSED, USAGE, FAILED, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143
MAX_LINE = 2000  # characters of an error; the end, which says what to do, is kept


def is_command() -> bool:
    """Return whether Python was asked to run the command line, before it is there."""
    program = next(iter(getattr(sys, "argv", ())), "")  # an embedded Python has none
    if program == "-m":  # what it stands for is still looked for
        return not {"recframe", "-mrecframe"}.isdisjoint(sys.orig_argv)
    return program.replace("\\", "/").rpartition("/")[2].partition(".")[0] == "recframe"


class Importing:
    """Has imports for the command line end the process with a line where they do not succeed."""

    def __init__(self, *, for_command: bool = True) -> None:
        self._for_command = for_command

    def __enter__(self) -> None:
        """Take over what an interrupt does."""
        if not self._for_command:
            return
        if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
            # An exception would be another one by the time it has passed the libraries.
            _signal.signal(_signal.SIGINT, _end)
        # Closed standard streams lead nowhere, so that no file opened later takes their place.
        for number in range(3):
            try:
                os.fstat(number)
            except OSError:
                os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
        # Nothing here multiplies large matrices; where memory is short, OpenBLAS cannot start its
        # threads and says so with the signal of Ctrl-C.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        import recframe.errors  # noqa: F401 - there may be no memory for it later

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: "TracebackType | None",
    ) -> None:
        """Give it back, or end."""
        if self._for_command and isinstance(error, Exception) and not sys.flags.dev_mode:
            tell(f"cannot start: {describe(error)}")
            os._exit(REFUSED)  # libraries that are half there may not end well
        if _signal.getsignal(_signal.SIGINT) is _end:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def _end(*_: object) -> "NoReturn":
    """End the process as Ctrl-C asks for."""
    try:
        os.write(2, b"recframe: interrupted\n")
    finally:
        os._exit(INTERRUPTED)


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


def _spell_lacking(error: "Any") -> tuple[str, int]:
    """Return what stands for the characters that an encoding lacks, and where they end."""
    return "".join(map(_spell, error.object[error.start : error.end])), error.end


codecs.register_error("spelled", _spell_lacking)


def write(stream: "TextIO | None", text: str, kept: str = "\n") -> None:
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
        from recframe.errors import RecframeError

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
    from recframe.errors import hide

    line = escape(hide(message))
    half = MAX_LINE // 2
    return line if len(line) <= MAX_LINE else f"{line[:half]} ... {line[-half:]}"


def describe(error: BaseException) -> str:
    """Return the kind of an error and what it, or the first that led to it, says first."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
