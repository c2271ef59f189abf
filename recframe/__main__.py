"""The command line, as ``python -m recframe`` and as the program ``recframe``."""

import os
import signal

from recframe.cli import main


def run() -> int:
    """Run the command line and return its exit status."""
    # A file that is opened must not take the place of a closed standard stream.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    status = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what was asked for is done
    return status


if __name__ == "__main__":
    raise SystemExit(run())
