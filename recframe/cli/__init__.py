"""The command line: it parses arguments, runs a command and returns an exit status."""

import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from recframe import __version__
from recframe.cli.commands import add_describe, add_evaluate
from recframe.cli.compare import add_compare
from recframe.cli.flags import ABSENT, GATE_FAILS, HELP_END
from recframe.cli.lists import add_catalogue, add_overlap, add_reconcile
from recframe.cli.parser import Parser, expand_words
from recframe.cli.report import add_report
from recframe.cli.trec import add_trec
from recframe.console import INTERRUPTED, REFUSED, TERMINATED, USAGE, describe, tell
from recframe.errors import RecframeError, quote, show_path

# Signals that end the process. A closed terminal sends SIGHUP, except on Windows.
ENDING = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
COMMANDS = {
    "evaluate": (add_evaluate, "mean metrics over users"),
    "describe": (add_describe, "check the data before you trust a number"),
    "catalogue": (add_catalogue, "coverage and diversity of the items in all lists"),
    "overlap": (add_overlap, "how alike the lists of several models are"),
    "reconcile": (add_reconcile, "the conventions that give a reported number"),
    "report": (add_report, "a page of HTML to share"),
    "compare": (add_compare, "compare two saved tables; a gate for nightly jobs"),
    "trec": (add_trec, "evaluate TREC runs with qrels, as trec_eval does"),
}
EPILOG = f"""examples:
  recframe evaluate runs/ --metric precision@4 recall@4
  recframe evaluate runs/*.parquet --truth test.parquet --output means.json
  recframe describe runs/ --k 4
  recframe catalogue runs/ --items 5000
  recframe reconcile runs/ --metric ndcg@10 --value 0.3120
  recframe report runs/ --by country -o report.html
  recframe compare monday.parquet tuesday.parquet --max-drop 0.01
  recframe evaluate @options.txt runs/

@FILE reads arguments from FILE: one or more on a line; quote those that have
spaces; a # begins a comment. Write a path that begins with @ as ./@path.

{HELP_END.format(gate=GATE_FAILS)}"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    words = sys.argv[1:] if argv is None else argv
    is_main = threading.current_thread() is threading.main_thread()  # others cannot set handlers
    previous = {number: signal.getsignal(number) for number in ENDING if is_main}
    try:
        for number in previous:  # SystemExit removes temporary files on its way out
            signal.signal(number, lambda number, _: sys.exit(TERMINATED + number - signal.SIGTERM))
        return run(words)
    except KeyboardInterrupt:
        tell("interrupted")
        return INTERRUPTED
    except (RecframeError, ImportError) as error:
        if sys.flags.dev_mode and isinstance(error, ImportError):
            raise
        # An ImportError names the missing extra and how to install it.
        tell(str(error))
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        text = describe(error)
        if isinstance(error, MemoryError) or "thread" in text:
            tell(f"the system gave no more memory or threads ({text}). Pass a smaller --memory.")
        else:
            tell(f"unexpected {text}; python -X dev -m recframe shows where")
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    return REFUSED


def run(words: Sequence[str]) -> int:
    """Run the command that the words name; without words, show the help."""
    parser = Parser(
        prog="recframe",
        description="Evaluate rankings of users and items in files: parquet, csv and others.",
        epilog=EPILOG,
    )
    version = f"recframe {__version__}"
    parser.add_argument("--version", action="version", version=version, help="show the version")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", title="commands")
    typed = words
    try:
        words = expand_words(words)
    except RecframeError as error:
        parser.error(str(error))
    for name, (add, help_text) in COMMANDS.items():
        command = commands.add_parser(name, prog=f"recframe {name}", help=help_text)
        if name in words:  # building the arguments of the other commands would take time
            command.set_defaults(parser=command, **ABSENT)
            add(command)
            end = HELP_END.format(gate=GATE_FAILS if name == "compare" else "")
            command.epilog = f"{command.epilog}\n\n{end}"
    if not words:
        parser.print_help()
        parser.exit(USAGE)
    first = words[0]
    # A word with a suffix or a slash is a path, and no command.
    if first[:1] != "-" and (Path(first).suffix or "/" in first):
        parser.error(
            f"{quote(first)} is no command; did you mean recframe evaluate {show_path(first)}?"
        )
    arguments = parser.parse_args(words)
    try:
        if "check" in arguments:
            arguments.check(arguments)
    except RecframeError as error:
        parser.error(str(error))
    if sys.stdout is None:
        raise RecframeError("cannot write to standard output: it is closed")
    started = time.perf_counter()
    try:
        status, done = arguments.run(arguments)
    except RecframeError as error:
        tell(arguments.parser.spell_refusal(["recframe", *typed], error))
        return REFUSED
    if arguments.verbose:
        tell(f"{done} in {time.perf_counter() - started:.2f} s")
    return int(status)
