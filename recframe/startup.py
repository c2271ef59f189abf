"""The start of the command line: imports that are interrupted or fail end in one line too.

Imports only what Python has loaded by then, as nothing guards those imports.
"""

import _signal  # type: ignore[import-not-found]  # what `signal` is made of, without the enums
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import NoReturn

INTERRUPTED = 130


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
        self._handles = False

    def __enter__(self) -> None:
        """Take over what an interrupt does."""
        if not self._for_command:
            return
        if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
            # An exception would be another one by the time it has passed the libraries.
            _signal.signal(_signal.SIGINT, _end)
            self._handles = True
        _fill_streams()
        # Nothing here multiplies large matrices; where memory is short, OpenBLAS cannot start its
        # threads and says so with the signal of Ctrl-C.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        import recframe.console  # noqa: F401 - there may be no memory for it later

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: "TracebackType | None",
    ) -> None:
        """Give it back, or end."""
        if self._for_command and isinstance(error, Exception) and not sys.flags.dev_mode:
            from recframe.console import REFUSED, describe, tell

            tell(f"cannot start: {describe(error)}")
            os._exit(REFUSED)  # libraries that are half there may not end well
        if self._handles:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def _fill_streams() -> None:
    """Let closed standard streams lead nowhere, so that no file opened later takes their place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free


def _end(*_: object) -> "NoReturn":
    """End the process as Ctrl-C asks for."""
    try:
        os.write(2, b"recframe: interrupted\n")
    finally:
        os._exit(INTERRUPTED)
