"""Compare recframe with a plain read, Polars, DuckDB and pandas, on one frame in one run.

python -m tests.benchmarks.peers --rows 10000000 --users 100000 --repeat 5
python -m tests.benchmarks.peers --case table  # many frames and their targets, minutes
"""

import argparse
import os

# The last two kinds are objects of text.
IDS = ["int", "int32", "str", "category", "shared", "distinct"]


def main():
    """Read the arguments, set the number of threads before anything counts cores, and print."""
    options = arguments()
    for name in ("POLARS_MAX_THREADS", "RECFRAME_MAX_THREADS"):
        os.environ[name] = str(options.threads)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    # Polars reads its number of threads when it is imported.
    from tests.benchmarks import tables, targets

    if options.growth and options.shuffled:
        tables.print_shuffled_growth(options.rows, options.repeat)
        return
    if options.growth:
        tables.print_growth(options.repeat)
        return
    if options.case == "table":
        targets.print_table(options)
    if options.case in ("all", "peers"):
        tables.print_peers(options)
    if options.case in ("all", "cases"):
        tables.print_cases(options.rows, options.repeat, options.threads)


def arguments():
    """Return the command line's arguments."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.peers", description=__doc__)
    add = parser.add_argument
    add("--rows", type=int, default=10_000_000)
    add("--users", type=int, help="default: one for every 100 rows")
    add("--repeat", type=int, default=5, help="the median of so many interleaved runs")
    add("--threads", type=int, default=2, help="for every engine, recframe included")
    add("--shuffled", action="store_true", help="rows in random order, not grouped by user")
    add("--sizes", choices=["lognormal", "equal"], default="lognormal", help="rows per user")
    add("--ids", choices=IDS, default="int")
    add("--scores", choices=["float64", "float32", "ratings"], default="float64")
    add("--score-columns", type=int, default=1, help="for recframe only")
    add("--cutoffs", type=int, default=1, help="1: k = 4; n: k = 1 to n, for recframe only")
    add("--relevant", type=share, default=0.1, help='share of relevant rows, or "one" per user')
    add("--case", choices=["all", "peers", "cases", "table"], default="peers", help="which tables")
    add("--only", default="", help="of --case table the rows with this in their names")
    add(
        "--growth",
        action="store_true",
        help="instead: recframe from 1M to 30M rows; with --shuffled a tenth of --rows and all",
    )
    return parser.parse_args()


def share(text):
    """Return the share of relevant rows, or "one"."""
    return text if text == "one" else float(text)


if __name__ == "__main__":
    main()
