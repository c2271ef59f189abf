"""Compare lists as rows with pandas' explode, and files of lists with the same rows, flat.

python -m tests.benchmarks.lists --lists 1000000 --repeats 3

The first table makes rows of lists of twelve text ids. The second evaluates recall@10 of a parquet
file of lists of structs, and of the same rows in a flat file, within memory. Each run is a process
of its own, which prints its seconds and how far its peak is above what it held before.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import recframe

LENGTH, N_ITEMS = 12, 100_000
FRAMES = ("explode", "python", "arrow", "polars")
FILES = ("flat", "structs")


def make_frame(kind, n_lists):
    """Return a table with a list of text ids for each user."""
    first = np.random.default_rng(0).integers(0, N_ITEMS, (n_lists, 1))
    items = (first + np.arange(LENGTH) * 7919) % N_ITEMS
    users = [f"u{number:07d}" for number in range(n_lists)]
    names = np.array([f"{number:010d}" for number in range(N_ITEMS)], dtype=object)
    if kind in ("explode", "python"):
        return pd.DataFrame({"user_id": users, "recommendations": names[items].tolist()})
    offsets = pa.array(np.arange(0, items.size + 1, LENGTH, dtype=np.int32))
    lists = pa.ListArray.from_arrays(offsets, pa.array(names).take(pa.array(items.ravel())))
    table = pa.table({"user_id": users, "recommendations": lists})
    if kind == "polars":
        import polars as pl

        return pl.from_arrow(table)
    return table.to_pandas(types_mapper=pd.ArrowDtype)


def write_files(folder, n_lists):
    """Write the same rows as a flat file and as a file of lists, and truth."""
    rng, n_rows = np.random.default_rng(0), n_lists * LENGTH
    first = rng.integers(0, N_ITEMS, (n_lists, 1))
    item = ((first + np.arange(LENGTH) * 7919) % N_ITEMS).ravel().astype(np.int32)
    score = -np.sort(-rng.random((n_lists, LENGTH), np.float32), axis=1).ravel()
    user = np.arange(n_lists)
    flat = pa.table({"user": user.repeat(LENGTH), "item": item, "score": score})
    pq.write_table(flat, folder / "flat.parquet")
    structs = pa.StructArray.from_arrays([pa.array(item), pa.array(score)], ["item", "rating"])
    offsets = pa.array(np.arange(0, n_rows + 1, LENGTH, dtype=np.int32))
    lists = pa.ListArray.from_arrays(offsets, structs)
    pq.write_table(pa.table({"user": user, "recommendations": lists}), folder / "structs.parquet")
    rows = rng.choice(n_rows, n_lists, replace=False)
    truth = pa.table({"user": (rows // LENGTH), "item": item[rows]})
    pq.write_table(truth, folder / "truth.parquet")


def peak():
    """Return the largest memory that this process has had, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000


def run(kind, n_lists, folder, memory):
    """Print the seconds and the peak of one way, and the size of its result."""
    if kind in FILES:
        options = {"truth": folder / "truth.parquet", "short": "pad", "population": "both"}

        def work():
            path = folder / f"{kind}.parquet"
            return recframe.scan(path, memory=memory, **options).mean("recall@10")

    else:
        frame = make_frame(kind, n_lists)

        def work():
            if kind == "explode":
                return frame.explode("recommendations")
            return recframe.from_lists(frame)

    before, start = peak(), time.perf_counter()
    result = work()
    seconds = time.perf_counter() - start
    print(seconds, peak() - before, result.memory_usage(deep=True).sum() / 1e6)


def measure(kind, asked, folder):
    """Return the medians of several runs, each in a new process."""
    words = [sys.executable, "-P", "-m", "tests.benchmarks.lists", "--run", kind]
    words += ["--lists", str(asked.lists), "--folder", str(folder), "--memory", asked.memory]
    runs = [
        [
            *map(
                float,
                subprocess.run(words, check=True, capture_output=True, text=True).stdout.split(),
            )
        ]
        for _ in range(asked.repeats)
    ]
    return [statistics.median(column) for column in zip(*runs, strict=True)]


def main():
    """Print both tables, each next to its first row."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lists", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--memory", default="256MiB")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--run", choices=(*FRAMES, *FILES))
    asked = parser.parse_args()
    if asked.run:
        run(asked.run, asked.lists, asked.folder, asked.memory)
        return
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), asked.lists)
        for kinds in (FRAMES, FILES):
            first = None
            print(f"{'':10}{'seconds':>9}{'times':>7}{'peak MB':>9}{'result MB':>11}")
            for kind in kinds:
                seconds, megabytes, size = measure(kind, asked, folder)
                first = first or seconds
                print(f"{kind:10}{seconds:9.2f}{seconds / first:7.2f}{megabytes:9.0f}{size:11.0f}")


if __name__ == "__main__":
    main()
