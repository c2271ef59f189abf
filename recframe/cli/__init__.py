"""The command line: arguments in, tables and an exit status out."""

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from recframe.cli.arguments import parse
from recframe.cli.spelling import spell_flags
from recframe.cli.statuses import DONE, TERMINATED
from recframe.console import REFUSED, describe, tell
from recframe.errors import RecframeError
from recframe.startup import INTERRUPTED


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status, one of `statuses`."""
    try:
        with unwinding_on_sigterm():
            arguments = parse(sys.argv[1:] if argv is None else argv)
            status: int | None = arguments.run(arguments)  # only a gate has one of its own
    except RecframeError as error:
        tell(spell_flags(str(error)))
        return REFUSED
    except KeyboardInterrupt:
        tell("interrupted")
        return INTERRUPTED
    except ImportError as error:  # of an extra: it says which, and how to install it
        if sys.flags.dev_mode:
            raise
        tell(spell_flags(str(error)))
        return REFUSED
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        found = describe(error)
        if isinstance(error, MemoryError) or "thread" in found:
            tell(f"the system gave no more memory or threads ({found}); pass a smaller --memory")
        else:
            tell(f"unexpected {found}; python -X dev -m recframe shows where")
        return REFUSED
    return DONE if status is None else status


@contextmanager
def unwinding_on_sigterm() -> Iterator[None]:
    """Let a request to end leave as few files behind as an error does."""
    with ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():  # no other may handle signals
            previous = signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
            stack.callback(signal.signal, signal.SIGTERM, previous)
        yield
