"""The parser of the command line: how what it says is shown."""

import argparse
import sys
from contextlib import suppress
from typing import Any, NoReturn

from recframe import __version__
from recframe.cli.statuses import DONE, USAGE
from recframe.console import one_line, show, write
from recframe.errors import find_near


class Parser(argparse.ArgumentParser):
    """A parser that says what it says to streams of any state."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options["formatter_class"] = argparse.RawDescriptionHelpFormatter
        super().__init__(*args, **options)
        self.color = False  # of Python 3.14: what is shown has its control characters escaped

    def print_help(self, file: object = None) -> None:
        """Print the help."""
        show(self.format_help().rstrip("\n"))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return what is known and what is not, or end at a flag that is not, with the nearest."""
        known, rest = super().parse_known_args(args, namespace)
        flag = next((word.partition("=")[0] for word in rest if word.startswith("--")), "")
        flags = {one.lstrip("-"): one for one in self._option_string_actions}
        if near := find_near(flag.lstrip("-"), flags):
            self.error(f"unrecognized arguments: {flag}; did you mean {flags[near[0]]}?")
        return known, rest

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the usage, and end."""
        with suppress(OSError):
            usage = f"{self.format_usage()}{self.prog}: error: "
            write(sys.stderr, f"{usage}{one_line(message)}\n")
        self.exit(USAGE)


class ShowVersion(argparse.Action):
    """Prints the version, to a stream of any state too."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print it, and end."""
        show(f"recframe {__version__}")
        parser.exit(DONE)
