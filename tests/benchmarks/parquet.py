"""Compare recframe, a plain read, DuckDB and Polars on files larger and smaller than memory.

python -m tests.benchmarks.parquet --rows 20000000 --users 200000 --memory 256MiB 4GiB

Each engine runs in a fresh process of two threads, with the repeats interleaved. The table shows
the median of the seconds without imports, and the highest peak of resident memory, interpreter
and imports included.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

# Nothing else is imported here, because it would count in the memory of every engine.
K = 4
METRICS = (f"precision@{K}", f"recall@{K}", "r_precision")
USED = ["user", "score", "relevant"]
THREADS = 2
ORDERS = ("grouped", "shuffled")
ENVIRONMENT = {"RECFRAME_MAX_THREADS": f"{THREADS}", "POLARS_MAX_THREADS": f"{THREADS}"}
MAX_BY = f"""
    SELECT user, list_sum(max_by(relevant, score, {K})) AS hits, sum(relevant) AS n_relevant
    FROM '{{path}}' GROUP BY user"""
WINDOW = f"""
    SELECT user, sum(relevant) FILTER (place <= {K}) AS hits, sum(relevant) AS n_relevant
    FROM (SELECT user, relevant,
                 row_number() OVER (PARTITION BY user ORDER BY score DESC) AS place
          FROM '{{path}}')
    GROUP BY user"""


def run_recframe(path, memory, duplicates="keep"):
    """Precision, recall, R-precision; exact with ties."""
    import recframe
    import recframe.scanned

    options = {"short": "pad", "duplicates": duplicates, "memory": memory}
    return lambda: recframe.evaluate(path, METRICS, **options)


def run_recframe_items(path, memory):
    """Precision, recall, R-precision by default: items are read to check for repeated pairs."""
    return run_recframe(path, memory, "raise")


def run_read(path, memory):
    """A plain read of the used columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(THREADS)
    return lambda: pq.read_table(path, columns=USED)


def run_duckdb(path, memory, query=WINDOW):
    """Hits@4 and R by a window, within the same memory."""
    import duckdb

    folder = tempfile.TemporaryDirectory()
    limits = {"threads": THREADS, "memory_limit": memory, "temp_directory": folder.name}
    connection = duckdb.connect(config=limits)
    return lambda: connection.sql(query.format(path=path)).to_arrow_table()


def run_duckdb_max_by(path, memory):
    """Hits@4 and R by max_by, within the same memory."""
    return run_duckdb(path, memory, MAX_BY)


def run_polars(path, memory):
    """Hits@4 and R without a limit of memory, which Polars does not have."""
    import polars as pl

    hits = pl.col("relevant").sort_by("score", descending=True).head(K).sum()
    query = pl.scan_parquet(path).group_by("user")
    query = query.agg(hits=hits, n_relevant=pl.col("relevant").sum())
    return lambda: query.collect(engine="streaming")


def run_polars_fair(path, memory):
    """Precision, recall, R-precision, as a user would write them."""
    import polars as pl

    best = pl.col("relevant").sort_by("score", descending=True)
    n_relevant = pl.col("relevant").sum()
    hits = best.head(K).sum()
    query = pl.scan_parquet(path).group_by("user")
    query = query.agg(
        precision=hits / K, recall=hits / n_relevant, r_precision=best.head(n_relevant).mean()
    )
    return lambda: query.collect(engine="streaming")


def run_dask(path, memory):
    """recframe.dask without a limit of memory, which Dask does not have."""
    import dask.dataframe as dd

    import recframe.dask  # noqa: F401 - registers ddf.rec

    frame = dd.read_parquet(path, columns=USED, split_row_groups=True)
    lazy = frame.rec(short="pad").evaluate(METRICS)
    return lambda: lazy.compute(scheduler="threads")


BY_MEMORY = {
    "recframe": run_recframe,
    "recframe items": run_recframe_items,
    "DuckDB window": run_duckdb,
    "DuckDB max_by": run_duckdb_max_by,
}
ENGINES = BY_MEMORY | {
    "read_table": run_read,
    "Polars streaming": run_polars,
    "Polars fair": run_polars_fair,
    "Dask threads": run_dask,
}


def main():
    """Make the files and print a table for each, or run one engine in a fresh process."""
    options = arguments()
    if options.engine is not None:
        run_one(options)
        return
    if options.kept:
        Path(options.kept).mkdir(exist_ok=True)
        print_tables(options, Path(options.kept))
    else:
        with tempfile.TemporaryDirectory() as folder:
            print_tables(options, Path(folder))


def arguments():
    """Return the command line's arguments."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.parquet", description=__doc__)
    add = parser.add_argument
    add("--rows", type=int, default=20_000_000)
    add("--users", type=int, help="default: one for every 100 rows")
    add("--memory", nargs="+", default=["256MiB", "4GiB"], help="for recframe and DuckDB")
    add("--repeat", type=int, default=3, help="the median of so many interleaved runs")
    add("--kept", metavar="FOLDER", help="where the files are, or are made for the next time")
    add("--orders", nargs="+", default=list(ORDERS), choices=ORDERS)
    add("--engines", nargs="+", default=list(ENGINES)[:-1], choices=ENGINES)
    add("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    add("--path", help=argparse.SUPPRESS)
    return parser.parse_args()


def print_tables(options, folder):
    """Print a table for each file in a folder, and make missing files."""
    users = options.users or max(1, options.rows // 100)
    paths = {order: folder / f"{order}-{options.rows}-{users}.parquet" for order in options.orders}
    missing = [order for order, path in paths.items() if not path.exists()]
    if missing:
        # Another process writes the file, so its memory does not count.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            for order in missing:
                process.submit(make_file, options.rows, users, order, paths[order]).result()
    for order, path in paths.items():
        print_table(order, path, options)


def make_file(rows, users, order, path):
    """Write rows whose ids of users and items are text."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from tests.benchmarks import data

    rng = np.random.default_rng(0)
    sizes = data.user_sizes(rng, rows, users, "lognormal")
    columns = {
        "user": np.repeat(np.arange(users), sizes),
        "item": data.item_column(rng, sizes),
        "score": rng.random(rows, dtype=np.float32),
        "relevant": data.relevance(rng, sizes, 0.1),
    }
    if order == "shuffled":
        in_order = rng.permutation(rows)
        columns = {name: values[in_order] for name, values in columns.items()}
    # Ids of equal length keep the users in ascending order.
    for name, first in (("user", 100_000), ("item", 10_000_000)):
        names = pa.array([f"{name}{first + at}" for at in range(int(columns[name].max()) + 1)])
        columns[name] = names.take(pa.array(columns[name]))
    pq.write_table(pa.table(columns), path)


def print_table(order, path, options):
    """Print the seconds and peak memory of every engine for one file."""
    each = {
        name: options.memory if name in BY_MEMORY else options.memory[:1]
        for name in options.engines
    }
    runs = {(name, memory): [] for name, memories in each.items() for memory in memories}
    for _ in range(options.repeat):
        for run, found in runs.items():
            found.append(run_fresh(*run, path))
    caption = f"{options.rows:,} rows, {order}, file of {path.stat().st_size >> 20} MiB"
    print(f"{caption}, median of {options.repeat}, load {os.getloadavg()[0]:.1f}")
    ours = [run for run in runs if run[0] == "recframe"]
    heads = "".join(f"{'at ' + memory + ' / it':>17}" for _, memory in ours)
    print(f"{'':24}{'seconds':>9}{'from':>7}{'to':>7}{'peak MiB':>10}{heads}  note")
    seconds = {run: [one[0] for one in found if one] for run, found in runs.items()}
    for run, found in runs.items():
        name = f"{run[0]} {run[1] if run[0] in BY_MEMORY else ''}"
        note = ENGINES[run[0]].__doc__.splitlines()[0]
        if not seconds[run]:
            print(f"{name:24} failed, most likely out of memory; {note}")
            continue
        median, low, high = statistics.median(seconds[run]), min(seconds[run]), max(seconds[run])
        peak = max(one[1] for one in found if one)
        ratios = "".join(f"{statistics.median(seconds[own]) / median:17.2f}" for own in ours)
        print(f"{name:24}{median:9.2f}{low:7.2f}{high:7.2f}{peak:10.0f}{ratios}  {note}")
    print(flush=True)


def run_fresh(name, memory, path):
    """Return seconds and peak MiB of an engine in a new process, or None if it failed."""
    command = [sys.executable, "-m", "tests.benchmarks.parquet", "--engine", name]
    run = subprocess.run(
        [*command, "--path", str(path), "--memory", memory],
        env=os.environ | ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    return tuple(map(float, run.stdout.split())) if run.returncode == 0 else None


def run_one(options):
    """Run an engine in this process, and print its seconds and peak MiB."""
    call = ENGINES[options.engine](options.path, *options.memory)
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    del result
    # Linux counts this peak for one process; ru_maxrss starts at the parent's peak.
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]
    print(seconds, int(peak) / 1024)


if __name__ == "__main__":
    main()
