"""The start of the command line: imports that are interrupted or fail end in one line too."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NoReturn

from recframe.console import INTERRUPTED, REFUSED, first_line, tell


def is_command() -> bool:
    """Return whether Python was asked to run the command line, before it is there."""
    program = next(iter(getattr(sys, "argv", ())), "")  # an embedded Python has none
    if program == "-m":  # what it stands for is still looked for
        return not {"recframe", "-mrecframe"}.isdisjoint(sys.orig_argv)
    return Path(program).stem == "recframe"


@contextmanager
def importing(*, for_command: bool = True) -> Iterator[None]:
    """Have imports for the command line end the process with a line where they do not succeed."""
    if not for_command:
        yield
        return
    _fill_streams()
    # Nothing here multiplies matrices; where memory is short, OpenBLAS cannot start its threads
    # and says so with the signal of Ctrl-C.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with ExitStack() as stack:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            # An exception would be another one by the time it has passed the libraries.
            signal.signal(signal.SIGINT, lambda *_: _end("interrupted", INTERRUPTED))
            stack.callback(signal.signal, signal.SIGINT, signal.default_int_handler)
        try:
            yield
        except Exception as error:
            if sys.flags.dev_mode:
                raise
            _end(f"cannot start: {type(error).__name__}: {first_line(error)}", REFUSED)


def _fill_streams() -> None:
    """Let closed standard streams lead nowhere, so that no file opened later takes their place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free


def _end(message: str, status: int) -> NoReturn:
    """End the process at once, as libraries that are half there may not end well."""
    tell(message)
    os._exit(status)
