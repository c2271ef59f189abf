"""Compare recframe's table on Spark with a `mapInPandas` that does nothing, in turn.

python -m tests.benchmarks.spark --rows 5000000 --repeat 7

Both calls shuffle the same rows by user and pass them to Python.
"""

import argparse
import os
import statistics
import sys
import time
import warnings

import pyarrow as pa
from pyspark.sql import SparkSession

import recframe.spark
from tests.benchmarks import data

METRICS = ("precision@4", "recall@4", "r_precision")
USED = ["user", "score", "relevant"]


def main():
    """Print the medians of paired calls for ids of every kind, and their ratio."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.spark")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--ids", choices=["int", "str"], action="append", help="default: both")
    options = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Spark warns about pandas.
    warnings.filterwarnings("ignore")
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
    quiet = {"spark.ui.enabled": False, "spark.ui.showConsoleProgress": False}
    spark = builder.config(map=quiet).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    print(f"{'ids':>5} {'nothing, s':>11} {'recframe, s':>12} {'ratio':>6}")
    for ids in options.ids or ["int", "str"]:
        frame = data.make(options.rows, ids=ids, shuffled=True).drop(columns="item")
        table = pa.Table.from_pandas(frame, preserve_index=False)
        rows = spark.createDataFrame(table).repartition(8).cache()
        rows.count()
        both = time_both(rows, options.repeat)
        nothing, own = (statistics.median(times) for times in both)
        ratio = statistics.median(b / a for a, b in zip(*both, strict=True))
        print(f"{ids:>5} {nothing:11.2f} {own:12.2f} {ratio:6.2f}", flush=True)
        rows.unpersist()
    spark.stop()


def time_both(rows, repeat):
    """Return the seconds of each call until all its rows are done; the idle call comes first."""
    shuffled = rows.select(*USED).repartition("user")
    nothing = shuffled.mapInPandas(do_nothing, "user string")
    own = recframe.spark.rec(rows, short="pad").evaluate(METRICS)
    times = [], []
    for repetition in range(repeat + 1):
        for table, seconds in zip((nothing, own), times, strict=True):
            start = time.perf_counter()
            table.write.format("noop").mode("overwrite").save()
            # The first repetition warms up.
            if repetition:
                seconds.append(time.perf_counter() - start)
    return times


def do_nothing(frames):
    """Read all frames and yield nothing."""
    for _ in frames:
        pass
    yield from ()


if __name__ == "__main__":
    main()
