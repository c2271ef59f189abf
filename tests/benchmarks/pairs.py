"""One checkout of recframe against another, call by call in turn.

python -m tests.benchmarks.pairs OLD

OLD is the folder of the other checkout, for example one that `git worktree add` made. Each has a
process of its own; after a call in one comes the same call in the other, so that a machine that
gets slower does so for both. The table shows the medians, and the median of the ratios.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
CASES = {  # arguments of data.make, and of evaluate
    "10M rows grouped": ({"rows": 10_000_000}, {}),
    "10M rows shuffled": ({"rows": 10_000_000, "shuffled": True}, {}),
    "1M users": ({"rows": 10_000_000, "users": 1_000_000}, {}),
    "10M ratings": ({"rows": 10_000_000, "scores": "ratings"}, {}),
    "10M rows, text ids": ({"rows": 10_000_000, "ids": "str"}, {}),
    "300 rows": ({"rows": 300, "users": 10}, {}),
}
METRICS = ["precision@4", "recall@4", "r_precision"]


def main():
    """Print a row for each case."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.pairs", description=__doc__)
    parser.add_argument("old", type=Path, help="the folder of the other checkout")
    parser.add_argument("--repeat", type=int, default=15, help="pairs of calls")
    arguments = parser.parse_args()
    print(f"{'case':20} {'old, ms':>9} {'new, ms':>9} {'new / old':>9}")
    print_row("import", [import_times(arguments.old, ROOT) for _ in range(arguments.repeat)])
    for name in CASES:
        with Caller(arguments.old, name) as old, Caller(ROOT, name) as new:
            repeat = arguments.repeat if CASES[name][0]["rows"] > 1000 else 20 * arguments.repeat
            print_row(name, [(old.call(), new.call()) for _ in range(repeat)])


def print_row(name, pairs):
    """Print the medians of pairs of seconds, and of their ratios."""
    old, new = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(new / old for old, new in pairs)
    print(f"{name:20} {1000 * old:9.2f} {1000 * new:9.2f} {ratio:9.3f}", flush=True)


def environment(folder):
    """Return an environment in which recframe is that of a checkout."""
    return os.environ | {"PYTHONPATH": str(folder)}


def import_times(*folders):
    """Return the seconds that importing recframe takes in each checkout."""
    code = "import time; t = time.perf_counter(); import recframe; "
    code += "print(time.perf_counter() - t)"
    runs = (
        subprocess.run(
            [sys.executable, "-c", code],
            env=environment(folder),
            cwd=folder,
            capture_output=True,
            check=True,
        )
        for folder in folders
    )
    return [float(run.stdout) for run in runs]


class Caller:
    """A process that evaluates the frame of a case whenever it is asked to."""

    def __init__(self, folder, case):
        self.process = subprocess.Popen(
            [sys.executable, __file__, case],
            env=environment(folder),
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2):  # the first calls fill caches
            self.call()

    def call(self):
        """Return the seconds that a call takes."""
        print(file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def __enter__(self):
        """Return itself."""
        return self

    def __exit__(self, *_):
        """End the process."""
        self.process.stdin.close()
        self.process.wait()


def answer(case):
    """Evaluate the frame of a case once for each line that comes in, and print the seconds."""
    from importlib.util import module_from_spec, spec_from_file_location

    import recframe

    spec = spec_from_file_location("data", Path(__file__).with_name("data.py"))
    data = module_from_spec(spec)
    spec.loader.exec_module(data)
    made, options = CASES[case]
    frame = data.make(**made)
    for _ in sys.stdin:
        start = time.perf_counter()
        recframe.evaluate(frame, METRICS, short="pad", **options)
        print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    answer(sys.argv[1]) if sys.argv[1:2] and sys.argv[1] in CASES else main()
