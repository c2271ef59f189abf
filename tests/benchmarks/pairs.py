"""Compare one checkout of recframe with another, call by call in turn.

python -m tests.benchmarks.pairs OLD --cases grouped "shuffled text" --rows 1000000

OLD is the folder of the other checkout, for example one that `git worktree add` made. Each
checkout has a process of its own. A call in one is followed by the same call in the other, so
that a slower machine slows both. The table shows the medians of the times, the medians of the
ratios new / old, of time and of the processors' time, and the memory of a call beyond its frame.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
METRICS = ["precision@4", "recall@4", "r_precision"]
# The small case has this many rows.
SMALL = 300
TREC = {"ties": "item", "short": "pad", "zero_division": 0.0, "min_relevance": 1}
TREC_METRICS = ["average_precision", "reciprocal_rank", "precision@10", "recall@100", "ndcg@10"]


class Case(NamedTuple):
    """The frame and the options of a timed call."""

    made: dict[str, Any] = {}  # noqa: RUF012
    options: dict[str, Any] = {"short": "pad", "duplicates": "keep"}  # noqa: RUF012
    kind: str = ""
    metrics: list[str] = METRICS
    # The row shows the ratio to the time of these other metrics.
    beside: list[str] | None = None


CHECKED = {"short": "pad", "duplicates": "raise"}
CASES = {
    "300 rows": Case(),
    "grouped int": Case(),
    "grouped text": Case({"ids": "str"}),
    "ten rows a user": Case({"mean_size": 10}),
    "shuffled int": Case({"shuffled": True}),
    "shuffled ratings": Case({"shuffled": True, "scores": "ratings"}),
    "shuffled two decimals": Case({"shuffled": True, "scores": "two decimals"}),
    "shuffled half 0": Case({"shuffled": True, "scores": "half 0"}),
    "shuffled 300 mantissas": Case({"shuffled": True, "scores": "300 mantissas"}),
    "shuffled category": Case({"shuffled": True, "ids": "category"}),
    "shuffled far apart": Case({"shuffled": True, "ids": "far apart"}),
    "shuffled text": Case({"shuffled": True, "ids": "str"}),
    "shuffled long text": Case({"shuffled": True, "ids": "path"}),
    "shuffled shared objects": Case({"shuffled": True, "ids": "shared"}),
    "shuffled objects": Case({"shuffled": True, "ids": "distinct"}),
    "truth int": Case({"ids": "int"}, kind="truth"),
    "truth text": Case({"ids": "str"}, kind="truth"),
    "repeated pairs int": Case(options=CHECKED),
    "repeated pairs text": Case(options=CHECKED, kind="text items"),
    "polars": Case(kind="polars"),
    "arrow": Case(kind="arrow"),
    "trec": Case({"ids": "str"}, TREC, "trec", TREC_METRICS),
    "50 cut-offs": Case(metrics=[f"recall@{k}" for k in range(1, 51)], beside=["recall@1"]),
}


def main():
    """Print a row for each case."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.pairs", description=__doc__)
    parser.add_argument("old", type=Path, help="the folder of the other checkout")
    parser.add_argument("--repeat", type=int, default=15, help="pairs of calls")
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--cases", nargs="+", default=[""], help="those with one of these in them")
    options = parser.parse_args()
    old = options.old.resolve()
    heads = "old, ms", "new, ms", "time", "processors", "old, MB", "new, MB"
    print(f"{'case':22}", *(f"{head:>10}" for head in heads))
    asked = [name for name in ("import", *CASES) if any(part in name for part in options.cases)]
    for name in asked:
        if name == "import":
            print_row(name, in_turn(import_times, [old, ROOT], options.repeat))
            continue
        rows, repeat = int(options.rows), options.repeat
        if name == "300 rows":
            rows, repeat = SMALL, 20 * repeat
        with Caller(old, name, rows) as first, Caller(ROOT, name, rows) as second:
            callers = [first, second]
            pairs = in_turn(lambda caller: caller.ask("time"), callers, repeat)
            print_row(name, pairs, [caller.ask("memory")[0] for caller in callers])


def in_turn(call, both, repeat):
    """Return pairs of a call's results for both checkouts, which take turns to come first."""
    pairs = []
    for turn in range(repeat):
        order = (1, 0) if turn % 2 else (0, 1)
        found = {place: call(both[place]) for place in order}
        pairs.append((found[0], found[1]))
    return pairs


def print_row(name, pairs, megabytes=()):
    """Print the medians of pairs of (time, processors' time, other time) and of their ratios."""
    columns = [list(zip(*own, strict=True)) for own in zip(*pairs, strict=True)]
    old, new = columns
    times = [1000 * statistics.median(own[0]) for own in columns]
    ratios = [median_ratio(new[place], old[place]) for place in (0, 1)]
    figures = [*(f"{time:10.2f}" for time in times), *(f"{ratio:10.3f}" for ratio in ratios)]
    print(f"{name:22}", *figures, *(f"{number:10.1f}" for number in megabytes), flush=True)
    if len(old) > 2:
        beside = [median_ratio(own[0], own[2]) for own in columns]
        print(f"{'  x ' + CASES[name].beside[0]:22}", *(f"{ratio:10.2f}" for ratio in beside))


def median_ratio(numerators, denominators):
    """Return the median of the ratios."""
    return statistics.median(a / b for a, b in zip(numerators, denominators, strict=True))


def environment(folder):
    """Return an environment in which recframe is imported from a checkout."""
    return os.environ | {"PYTHONPATH": str(folder)}


def import_times(folder):
    """Return the seconds and the processors' seconds of importing recframe from a checkout."""
    code = "from time import *; t = perf_counter(), process_time(); import recframe; "
    code += "print(perf_counter() - t[0], process_time() - t[1])"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(folder),
        cwd=folder,
        capture_output=True,
        check=True,
    )
    return [float(number) for number in run.stdout.split()]


class Caller:
    """A process that evaluates the frame of a case whenever it is asked to."""

    def __init__(self, folder, case, rows):
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--answer", case, str(rows)],
            env=environment(folder),
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        # The first calls fill caches.
        for _ in range(2):
            self.ask("time")

    def ask(self, what):
        """Return the numbers that a call prints: its times or its megabytes."""
        print(what, file=self.process.stdin, flush=True)
        return [float(number) for number in self.process.stdout.readline().split()]

    def __enter__(self):
        """Return itself."""
        return self

    def __exit__(self, *_):
        """End the process."""
        self.process.stdin.close()
        self.process.wait()


def answer(name, rows):
    """Answer each line of input with the times or the megabytes of evaluating a case's frame."""
    # This is the recframe of the other checkout.
    import recframe

    # All other modules come from this checkout.
    sys.path.insert(0, str(ROOT))
    case = CASES[name]
    frame, options = make_frame(case, rows)

    def evaluate(metrics=case.metrics):
        start = time.perf_counter(), time.process_time()
        recframe.evaluate(frame, metrics, **options)
        return time.perf_counter() - start[0], time.process_time() - start[1]

    for line in sys.stdin:
        if line.strip() == "memory":
            print(megabytes_of(evaluate), flush=True)
        else:
            beside = [] if case.beside is None else [evaluate(case.beside)[0]]
            print(*evaluate(), *beside, flush=True)


def make_frame(case, rows):
    """Return the frame of a case and its options."""
    from recframe.options import DEFAULTS
    from tests.benchmarks import data, duplicates, truth

    made, options = dict(case.made), dict(case.options)
    if case.kind in ("truth", "trec"):
        shuffled = case.kind == "trec"
        frame, options["truth"] = truth.make(rows, rows // 10, made["ids"], shuffled=shuffled)
        # 298cd59 lacks this option and counts all users.
        if "population" in DEFAULTS:
            options["population"] = "all"
        if case.kind == "trec":
            graded = options["truth"].index.to_numpy() % 3
            frame["score"] = frame["score"].astype("float32")
            options["truth"] = options["truth"].assign(relevance=graded)
        return frame, options
    users = max(1, rows // made.pop("mean_size", 30 if rows == SMALL else data.MEAN_SIZE))
    frame = data.make(rows, users, **made)
    if case.kind == "text items":
        frame["item"] = duplicates.ITEMS["str"](frame["item"].to_numpy())
    if case.kind == "polars":
        import polars as pl

        return pl.from_pandas(frame), options
    if case.kind == "arrow":
        import pyarrow as pa

        return pa.Table.from_pandas(frame), options
    return frame, options


def megabytes_of(call):
    """Return the peak megabytes of a call beyond the memory before it; Linux only."""
    from tests.benchmarks import memory

    memory.release()
    Path("/proc/self/clear_refs").write_text("5")
    before = memory.resident_bytes("VmRSS")
    call()
    return (memory.resident_bytes("VmHWM") - before) / 1e6


if __name__ == "__main__":
    if sys.argv[1:2] == ["--answer"]:
        answer(sys.argv[2], int(sys.argv[3]))
    else:
        main()
