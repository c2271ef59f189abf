"""Put recframe under stress: python -m tests.stress fuzz --count 500.

Each program prints a table and the faults that it found, and ends with status 1 if there were any.
"""

import argparse
import runpy
import sys
import tempfile
from pathlib import Path

from tests.stress import faults, fuzz, signals, threads

PROGRAMS = {
    "fuzz": fuzz.run,
    "signals": signals.run,
    "faults": faults.run,
    "threads": threads.run,
}


def main():
    """Read the arguments and run one program."""
    # This table of peaks has other arguments.
    if sys.argv[1:2] == ["memory"]:
        sys.argv[:2] = ["python -m tests.benchmarks.memory"]
        runpy.run_module("tests.benchmarks.memory", run_name="__main__")
        return
    parser = argparse.ArgumentParser(prog="python -m tests.stress", description=__doc__)
    parser.add_argument("name", choices=[*PROGRAMS, "memory"])
    parser.add_argument("--count", type=int, default=100, help="mutants of each format, runs, …")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", help="these formats or faults")
    parser.add_argument("--keep", type=Path, default=Path("finds"), help="where mutants are saved")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stress-") as folder:
        finds = PROGRAMS[arguments.name](Path(folder), arguments)
    print(*finds or ["nothing found"], sep="\n")
    sys.exit(bool(finds))


if __name__ == "__main__":
    main()
