"""Compare the time of the default check for repeated pairs with duplicates="keep".

python -m tests.benchmarks.duplicates --rows 10000000 --repeat 15
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import recframe
from tests.benchmarks import data

METRICS = ("precision@4", "recall@4", "r_precision")
ITEMS = {
    "int32": lambda codes: codes,
    "wide int64": lambda codes: codes * np.int64(0x1E3779B97F4A7C15),
    "float64": lambda codes: codes.astype(np.float64),
    "str": lambda codes: names(codes, "str").take(codes),
    "object": lambda codes: pd.Series(np.asarray(names(codes, object))[codes], dtype=object),
    "category": lambda codes: pd.Categorical.from_codes(codes, categories=names(codes, "str")),
}


def main():
    """Print the medians of paired calls for every kind of items, grouped and shuffled."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.duplicates")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--users", type=int, help="default: one for every 100 rows")
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--items", choices=ITEMS, action="append", help="default: all")
    parser.add_argument("--files", action="store_true", help="parquet files instead of frames")
    options = parser.parse_args()
    print(f"{'items':>12} {'rows':>9} {'keep, ms':>9} {'raise, ms':>10} {'ratio':>6}")
    for shuffled in (False, True):
        frame = data.make(options.rows, options.users, shuffled=shuffled)
        codes = frame["item"].to_numpy()
        for name in options.items or ITEMS:
            own = frame.assign(item=ITEMS[name](codes))
            with tempfile.TemporaryDirectory() as folder:
                if options.files:
                    own.to_parquet(Path(folder) / "run.parquet", index=False)
                    own = folder
                keep, check = time_both(own, options.repeat)
            order = "shuffled" if shuffled else "grouped"
            ratio = statistics.median(c / k for c, k in zip(check, keep, strict=True))
            medians = f"{statistics.median(keep):9.1f} {statistics.median(check):10.1f}"
            print(f"{name:>12} {order:>9} {medians} {ratio:6.2f}", flush=True)


def time_both(source, repeat):
    """Return the milliseconds of calls that ignore items, and of calls that check them."""
    times = {"keep": [], "raise": []}
    for _ in range(repeat):
        for duplicates, own in times.items():
            start = time.perf_counter()
            recframe.evaluate(source, METRICS, short="pad", duplicates=duplicates)
            own.append(1e3 * (time.perf_counter() - start))
    return times.values()


def names(codes, dtype):
    """Return a name for every number up to the largest code."""
    return pd.array([f"item{number}" for number in range(int(codes.max()) + 1)], dtype=dtype)


if __name__ == "__main__":
    main()
