"""The command line, as ``python -m recframe`` and as the program ``recframe``."""

import os
import signal
import threading

from recframe.console import Importing


def run() -> int:
    """Run the command line and return its exit status."""
    with Importing():
        from recframe.cli import main
        from recframe.stores import REQUEST
    status = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what was asked for is done
    if any(thread.name == REQUEST for thread in threading.enumerate()):
        os._exit(status)  # at its end Arrow would wait for what a store still sends
    return status


if __name__ == "__main__":
    raise SystemExit(run())
