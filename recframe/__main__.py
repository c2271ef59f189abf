"""The command line, as ``python -m recframe`` and as the program ``recframe``."""

import os
import signal

from recframe.cli import main


def run() -> int:
    """Run the command line and return its exit status."""
    # A file that is opened must not get the descriptor of a closed standard stream.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the system gives it the lowest free descriptor
    status = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the work is done
    return status


if __name__ == "__main__":
    raise SystemExit(run())
