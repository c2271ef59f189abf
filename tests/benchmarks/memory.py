"""Measure peak memory and first calls in fresh processes.

python -m tests.benchmarks.memory --memory 64MiB 128MiB 256MiB --folder /tmp

It prints for each kind of file the peak of resident memory in MB, beyond the memory after all
imports. The peak should be at most the memory limit and 100 MB. The tables of users are not kept.
NaN means that the file is refused.
"""

import argparse
import ctypes
import gc
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tests.benchmarks import data, engines

FIRST_CALL = """
import time
import pandas as pd
frame = pd.DataFrame({"user": [1, 1], "score": [0.2, 0.1], "relevant": [0, 1]})
start = time.perf_counter()
import recframe
recframe.evaluate(frame, ("precision@1", "r_precision"))
print(time.perf_counter() - start)
"""

SCAN = """
import sys
from pathlib import Path
import recframe
path, first, memory, user, truth = sys.argv[1:]
user = user.split(",") if "," in user else user
options = {"user": user, "memory": memory, "short": "pad"}

def run(path, truth):
    given = {"truth": truth, "population": "rows"} if truth else {}
    for table in recframe.iter_evaluate(path, ["recall@10"], **options, **given):
        pass

def status(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1000

for _ in range(2):
    run(first, "")
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
try:
    run(path, truth)
except recframe.RecframeError as error:
    print(error, file=sys.stderr)
    print("nan")
else:
    print(status("VmHWM") - before)
"""
# Other cases have users in the column "user".
USERS = {"two columns": "date,user"}
# Truth holds all pairs here, and the rows have no relevance.
WITH_TRUTH = ("truth", "truth, users of text")
WRITTEN = {"one dictionary of 1 KB users": {"dictionary_pagesize_limit": 1 << 30}}


def make_plain(n_rows=5_000_000, *, is_shuffled=False):
    """Return rows of integers as ids."""
    return data.make(n_rows, shuffled=is_shuffled)


def make_scores(n_rows=200_000, *, is_shuffled=False):
    """Return rows of 200 score columns."""
    scores = np.random.default_rng(0).random((200, n_rows))
    named = pd.DataFrame({f"model{number}_score": one for number, one in enumerate(scores)})
    frame = data.make(n_rows, shuffled=is_shuffled).drop(columns="score")
    return pd.concat([frame, named], axis=1)


def make_long(n_rows=500_000, *, role="user"):
    """Return shuffled rows with ids of 1 KB, each in ten rows."""
    rows = np.random.default_rng(0).permutation(n_rows)
    frame = data.make(n_rows).assign(user=rows // 10, item=(rows // 10 + rows % 10) % n_rows)
    texts = frame[role].map(lambda number: f"{number:01024}")
    return frame.assign(**{role: pd.array(texts, dtype="str")})


def make_texts(n_rows=2_000_000):
    """Return shuffled rows whose users and items are texts."""
    frame = data.make(n_rows, shuffled=True)
    return frame.assign(
        user="user-" + frame["user"].astype("str"), item=frame["item"].astype("str")
    )


def make_two(n_rows=3_000_000):
    """Return shuffled rows in which a user on a date has a ranking."""
    frame = data.make(n_rows, shuffled=True)
    dates = np.array([f"2026-11-{day:02}" for day in range(1, 29)])
    return frame.assign(
        date=pd.array(dates[frame["user"] % 28], dtype="str"), user=frame["user"] // 28
    )


def write_parquet(frame, path, **options):
    """Write rows in row groups of 100,000."""
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=100_000, **options)


CASES = {
    "plain, sorted": (lambda: make_plain().sort_values("user", kind="stable"), "parquet"),
    "plain, shuffled": (lambda: make_plain(is_shuffled=True), "parquet"),
    "200 scores, grouped": (make_scores, "parquet"),
    "200 scores, shuffled": (lambda: make_scores(is_shuffled=True), "parquet"),
    "csv": (lambda: make_plain(is_shuffled=True), "csv"),
    "csv of 200 scores": (lambda: make_scores(50_000, is_shuffled=True).round(6), "csv"),
    "jsonl": (lambda: make_plain(2_000_000, is_shuffled=True), "jsonl"),
    "users of 1 KB": (make_long, "parquet"),
    "one dictionary of 1 KB users": (make_long, "parquet"),
    "items of 1 KB": (lambda: make_long(role="item"), "parquet"),
    "items of 1 KB, csv": (lambda: make_long(200_000, role="item"), "csv"),
    "two columns": (make_two, "parquet"),
    "truth": (lambda: make_plain(is_shuffled=True), "parquet"),
    "truth, users of text": (make_texts, "parquet"),
}
WRITERS = {
    "parquet": write_parquet,
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
}


def peaks_beyond_imports(folder, memories, cases):
    """Return peaks in MB, with a row for each kind of file and a column for each memory limit."""
    table = {}
    for case in cases:
        make, ending = CASES[case]
        name = case.replace(" ", "-").replace(",", "")
        path, first = (Path(folder) / f"{name}{part}.{ending}" for part in ("", "-first"))
        if not path.exists():
            frame = make()
            WRITERS[ending](frame, path, **WRITTEN.get(case, {}))
            WRITERS[ending](frame.head(100), first)
        user, truth = USERS.get(case, "user"), ""
        if case in WITH_TRUTH:
            truth = path.with_suffix(".truth.parquet")
            pairs = pd.read_parquet(path, columns=["user", "item"])
            write_parquet(pairs.sample(frac=1, random_state=0, ignore_index=True), truth)
        table[case] = {
            memory: float(
                subprocess.run(
                    [sys.executable, "-W", "ignore", "-c", SCAN, path, first, memory, user, truth],
                    check=True,
                    stdout=subprocess.PIPE,
                ).stdout
            )
            for memory in memories
        }
    return pd.DataFrame(table).T.round()


def main():
    """Print the peaks of files that exist in a folder or are made there."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--memory", nargs="+", default=["64MiB", "128MiB", "256MiB"])
    parser.add_argument("--folder")
    parser.add_argument("--cases", nargs="+", default=list(CASES))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        where = arguments.folder or folder
        print(peaks_beyond_imports(where, arguments.memory, arguments.cases).to_string())


def first_call_seconds(repeat):
    """Return the median seconds that importing recframe and a first call add to `import pandas`."""
    command = [sys.executable, "-c", FIRST_CALL]
    outputs = [subprocess.run(command, check=True, capture_output=True) for _ in range(repeat)]
    return statistics.median(float(output.stdout) for output in outputs)


def peak_ratio(make=data.make, **frame_arguments):
    """Return recframe's peak memory beyond the frame, divided by the bytes of the used columns."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_peak_ratio, make, frame_arguments).result()


def _peak_ratio(make, frame_arguments):
    """Return the ratio measured in this process; Linux only, because it resets the peak."""
    # The first call imports modules, which the measured call should not pay for.
    engines.recframe_call(data.make(1_000))()
    frame = make(**frame_arguments)
    used = frame[engines.USED].memory_usage(index=False, deep=True).sum()
    # Otherwise the call would use memory that making the frame left free.
    release()
    Path("/proc/self/clear_refs").write_text("5")
    before = resident_bytes("VmRSS")
    result = engines.recframe_call(frame)()
    peak = resident_bytes("VmHWM")
    del result
    return (peak - before) / used


def release():
    """Give the free memory of this process back to the system."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)


def resident_bytes(field):
    """Return a field of this process's memory status, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))


if __name__ == "__main__":
    main()
