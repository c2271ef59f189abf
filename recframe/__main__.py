"""The command line, as ``python -m recframe`` and as the program ``recframe``."""

import signal

from recframe.console import Importing


def run() -> int:
    """Run the command line and return its exit status."""
    with Importing():
        from recframe.cli import main
    status = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what was asked for is done
    return status


if __name__ == "__main__":
    raise SystemExit(run())
