"""Many threads on one scan each get the table of a single thread."""

import time
from concurrent.futures import ThreadPoolExecutor

import pandas as pd

import recframe
from tests.stress.signals import write_runs


def run(folder, arguments):
    """Print the seconds of threads on one scan, and return the threads with a wrong table."""
    write_runs(folder / "runs", 500_000)
    rows, finds = {}, []
    for memory in ("4MiB", "64MiB", "1GiB"):
        scanned = recframe.scan(folder / "runs", memory=memory)(short="pad")
        expected, seconds = timed(scanned)
        rows[memory] = {1: seconds}
        for n_threads in (4, 16):
            began = time.monotonic()
            with ThreadPoolExecutor(n_threads) as pool:
                found = list(pool.map(timed, [scanned] * n_threads))
            rows[memory][n_threads] = time.monotonic() - began
            n_other = sum(not table.equals(expected) for table, _ in found)
            if n_other:
                finds.append(f"{memory}: {n_other} of {n_threads} threads have other tables")
    print("seconds of so many threads, each a whole evaluation")
    print(pd.DataFrame(rows).T.round(1).to_string())
    return finds


def timed(scanned):
    """Return a table and its seconds."""
    began = time.monotonic()
    return scanned.evaluate(["recall@1"]), time.monotonic() - began
