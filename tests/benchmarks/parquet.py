"""Files larger than the memory given, by recframe, a plain read, DuckDB, Polars and Dask.

python -m tests.benchmarks.parquet --rows 20000000 --users 200000 --memory 256MiB

Each engine runs in a fresh process, the repeats interleaved: the median of the seconds without
imports, and the highest peak of resident memory, interpreter and imports included.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# No other imports here: they would be in the memory of every engine.
K = 4
METRICS = (f"precision@{K}", f"recall@{K}", "r_precision")
USED = ["user", "score", "relevant"]
MAX_BY = f"""
    SELECT user, list_sum(max_by(relevant, score, {K})) AS hits, sum(relevant) AS n_relevant
    FROM '{{path}}' GROUP BY user"""
WINDOW = f"""
    SELECT user, sum(relevant) FILTER (place <= {K}) AS hits, sum(relevant) AS n_relevant
    FROM (SELECT user, relevant,
                 row_number() OVER (PARTITION BY user ORDER BY score DESC) AS place
          FROM '{{path}}')
    GROUP BY user"""


def run_recframe(path, memory):
    """Precision, recall, R-precision; exact with ties."""
    import recframe

    return lambda: recframe.evaluate(path, METRICS, short="pad", memory=memory)


def run_read(path, memory):
    """The columns used, read and nothing else."""
    import pyarrow.parquet as pq

    return lambda: pq.read_table(path, columns=USED)


def run_duckdb(path, memory, query=WINDOW):
    """Hits@4 and R, within the same memory."""
    import duckdb

    folder = tempfile.TemporaryDirectory()
    limits = {"threads": 2, "memory_limit": memory, "temp_directory": folder.name}
    connection = duckdb.connect(config=limits)
    return lambda: connection.sql(query.format(path=path)).to_arrow_table()


def run_duckdb_max_by(path, memory):
    """Hits@4 and R, within the same memory."""
    return run_duckdb(path, memory, MAX_BY)


def run_polars(path, memory):
    """Hits@4 and R; there is no limit of memory to give."""
    import polars as pl

    hits = pl.col("relevant").sort_by("score", descending=True).head(K).sum()
    query = pl.scan_parquet(path).group_by("user")
    query = query.agg(hits=hits, n_relevant=pl.col("relevant").sum())
    return lambda: query.collect(engine="streaming")


def run_dask(path, memory):
    """recframe.dask; there is no limit of memory to give."""
    import dask.dataframe as dd

    import recframe.dask  # noqa: F401 - registers ddf.rec

    frame = dd.read_parquet(path, columns=USED, split_row_groups=True)
    lazy = frame.rec(short="pad").evaluate(METRICS)
    return lambda: lazy.compute(scheduler="threads")


ENGINES = {
    "recframe": run_recframe,
    "read_table": run_read,
    "DuckDB window": run_duckdb,
    "DuckDB max_by": run_duckdb_max_by,
    "Polars streaming": run_polars,
    "Dask threads": run_dask,
}


def main():
    """Make the files and print a table for each, or be one of the fresh processes."""
    options = arguments()
    if options.engine is not None:
        run_one(options)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for order, path in make_files(options.rows, options.users, Path(folder)).items():
            print_table(order, path, options)


def arguments():
    """Return the command line's arguments."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.parquet", description=__doc__)
    add = parser.add_argument
    add("--rows", type=int, default=20_000_000)
    add("--users", type=int, help="default: one for every 100 rows")
    add("--memory", default="256MiB", help="for recframe and DuckDB")
    add("--repeat", type=int, default=3, help="the median of so many interleaved runs")
    add("--folder", help="where the files are made (default: the system's temporary folder)")
    add("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    add("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    add("--path", help=argparse.SUPPRESS)
    return parser.parse_args()


def make_files(rows, users, folder):
    """Write rows in order of users and shuffled; return the paths."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from tests.benchmarks import data

    rng = np.random.default_rng(0)
    sizes = data.user_sizes(rng, rows, users or rows // data.MEAN_SIZE, "lognormal")
    names = pa.array([f"u{number:09}" for number in range(len(sizes))])
    user = np.repeat(np.arange(len(sizes)), sizes)
    paths = {}
    for order in ("grouped", "shuffled"):
        columns = {
            "user": names.take(pa.array(user)),
            "item": rng.integers(0, 100_000, rows, dtype=np.int32),
            "score": rng.random(rows, dtype=np.float32),
            "relevant": (rng.random(rows) < 0.1).astype(np.int8),
        }
        paths[order] = folder / f"{order}.parquet"
        pq.write_table(pa.table(columns), paths[order])
        rng.shuffle(user)
    return paths


def print_table(order, path, options):
    """Print what every engine takes for one file."""
    runs = {name: [] for name in options.engines}
    for _ in range(options.repeat):
        for name, found in runs.items():
            found.append(run_fresh(name, path, options.memory))
    caption = f"{options.rows:,} rows, {order}, file of {path.stat().st_size >> 20} MiB"
    load = os.getloadavg()[0]
    print(f"{caption}, memory {options.memory}, median of {options.repeat}, load {load:.1f}")
    print(f"{'':18}{'seconds':>9}{'peak MiB':>10}{'recframe/it':>13}  note")
    seconds = {name: [run[0] for run in found if run] for name, found in runs.items()}
    medians = {name: statistics.median(found) for name, found in seconds.items() if found}
    for name, found in runs.items():
        note = ENGINES[name].__doc__.splitlines()[0]
        if name not in medians:
            print(f"{name:18}{'-':>9}{'-':>10}{'-':>13}  failed, most likely out of memory; {note}")
            continue
        peak = max(run[1] for run in found if run)
        ratio = medians["recframe"] / medians[name] if "recframe" in medians else float("nan")
        print(f"{name:18}{medians[name]:9.2f}{peak:10.0f}{ratio:13.2f}  {note}")
    print(flush=True)


def run_fresh(name, path, memory):
    """Return seconds and peak MiB of an engine in a process of its own, or None if it failed."""
    command = [sys.executable, "-m", "tests.benchmarks.parquet", "--engine", name]
    run = subprocess.run(
        [*command, "--path", str(path), "--memory", memory], capture_output=True, text=True
    )
    return tuple(map(float, run.stdout.split())) if run.returncode == 0 else None


def run_one(options):
    """Run an engine in this process and print its seconds and peak MiB."""
    call = ENGINES[options.engine](options.path, options.memory)
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    del result
    # Linux's own count, since ru_maxrss of a new process begins at what its parent had.
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]
    print(seconds, int(peak) / 1024)


if __name__ == "__main__":
    main()
