"""Compare calls on Polars frames with pandas' call and a query of Polars, in time and memory.

Polars makes a frame from pandas' or, under "read", reads it from a parquet file that it wrote.
Each call runs once before it is timed, so that none pays for memory that another gave back.

python -m tests.benchmarks.arrow_tables --rows 10000000 --repeat 7
"""

import argparse
import ctypes
import gc
import os
import statistics
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

THREADS = 2
# A call may take this many times as long as pandas' call.
LIMIT = 1.15


def main():
    """Print a line for every case, and the peak memory beyond the frame."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=7, help="the median of so many ratios")
    options = parser.parse_args()
    os.environ["POLARS_MAX_THREADS"] = str(THREADS)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    print(f"{options.rows:,} rows; medians of {options.repeat} interleaved runs, x pandas' call")
    heads = f"{'case':16}{'pandas ms':>10}{'df.rec':>8}{'evaluate':>10}{'read':>8}{'hits@4':>8}"
    print(f"{heads}  {'<= 1.15':9}<= hits@4")
    for shuffled in (False, True):
        for ids in ("int", "str", "long", "coded"):
            arguments = {"rows": options.rows, "ids": ids, "shuffled": shuffled}
            print_times(arguments, options.repeat)
    for entry in ("pandas", "polars"):
        for ids in ("int", "str"):
            peak = peak_bytes(entry, {"rows": options.rows, "ids": ids})
            print(f"{entry}, {ids} users: {peak / options.rows:.1f} bytes a row beyond the frame")


def print_times(arguments, repeat):
    """Print the times of one case."""
    from tests.benchmarks import data, engines

    frame = data.make(**arguments)
    calls = {
        "pandas": make_call(frame),
        "df.rec": make_call(as_polars(frame)),
        "evaluate": engines.recframe_call(as_polars(frame)),
        "read": make_call(read_back(frame)),
        "hits@4": engines.polars_call(frame),
    }
    runs = [measure(calls) for _ in range(repeat)]
    ratio = {name: statistics.median(run[name] / run["pandas"] for run in runs) for name in calls}
    millis = statistics.median(run["pandas"] for run in runs)
    name = f"{'shuffled' if arguments['shuffled'] else 'grouped'}, {arguments['ids']}"
    numbers = f"{ratio['df.rec']:8.2f}{ratio['evaluate']:10.2f}{ratio['read']:8.2f}"
    numbers += f"{ratio['hits@4']:8.2f}"
    slowest = max(ratio["df.rec"], ratio["read"])
    is_near, is_below = slowest <= LIMIT, slowest <= ratio["hits@4"] or ratio["hits@4"] < 1
    reached = f"{'yes' if is_near else 'NO':9}{'yes' if is_below else 'NO'}"
    print(f"{name:16}{millis:10,.1f}{numbers}  {reached}", flush=True)


def measure(calls):
    """Return the milliseconds of each call, each timed after an untimed call."""
    from tests.benchmarks import engines

    return {name: engines.rounds({name: call}, 2)[name][-1][0] for name, call in calls.items()}


def read_back(frame):
    """Return a frame as Polars reads it from a file that Polars wrote."""
    import polars as pl

    with TemporaryDirectory() as folder:
        path = Path(folder) / "frame.parquet"
        as_polars(frame).write_parquet(path)
        return pl.read_parquet(path, memory_map=False)


def as_polars(frame):
    """Return a frame in Polars, in one chunk that shares no memory with pandas."""
    import polars as pl

    return pl.from_pandas(frame).rechunk()


def make_call(frame):
    """Return the call of a frame's accessor."""
    import recframe.polars  # noqa: F401 - registers df.rec
    from tests.benchmarks import engines

    return lambda: frame.rec(short="pad", duplicates="keep").evaluate(engines.METRICS)


def peak_bytes(entry, arguments):
    """Return the peak bytes of a call beyond the frame, measured in a new process; Linux only."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_peak_bytes, entry, arguments).result()


def _peak_bytes(entry, arguments):
    """Return the peak bytes, measured in this process."""
    import pyarrow as pa

    from tests.benchmarks import data, memory

    # The first call imports modules, which the measured call should not pay for.
    make_call(as_polars(data.make(1_000)))()
    frame = data.make(**arguments)
    frame = as_polars(frame) if entry == "polars" else frame
    call = make_call(frame)
    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = memory.resident_bytes("VmRSS")
    result = call()
    peak = memory.resident_bytes("VmHWM")
    del result
    return peak - before


if __name__ == "__main__":
    main()
