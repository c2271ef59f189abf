"""Compare the time of the analysis methods with `evaluate`, on one frame and in one run.

python -m tests.benchmarks.analysis --rows 10000000 --users 100000 --repeat 5
"""

import argparse
import os

from tests.benchmarks import data
from tests.benchmarks.engines import medians

CUT_OFFS = range(1, 51)


def main():
    """Read the arguments and print the times."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.analysis", description=__doc__
    )
    add = parser.add_argument
    add("--rows", type=int, default=10_000_000)
    add("--users", type=int, help="default: one for every 100 rows")
    add("--repeat", type=int, default=5, help="the median of so many interleaved runs")
    add("--shuffled", action="store_true", help="rows in random order, not grouped by user")
    add("--scores", choices=["float64", "float32", "ratings"], default="float64")
    add("--score-columns", type=int, default=1, help="with two or more also compare")
    options = parser.parse_args()
    frame = data.make(
        options.rows,
        options.users,
        scores=options.scores,
        shuffled=options.shuffled,
        score_columns=options.score_columns,
    )
    times = medians(calls(frame, options.score_columns), options.repeat)
    print(
        f"{len(frame):,} rows, {frame['user'].nunique():,} users, {options.scores} scores, "
        f"{options.score_columns} score columns, {'shuffled' if options.shuffled else 'grouped'}, "
        f"median of {options.repeat}, load before {os.getloadavg()[0]:.1f}"
    )
    print(f"{'':32}{'median ms':>10}{'x evaluate':>12}")
    for name, time in times.items():
        print(f"{name:32}{time:10,.1f}{time / times['evaluate']:12.2f}")
    ratio = times["curve, 50 cut-offs"] / times["curve, one cut-off"]
    print(f"curve: 50 cut-offs / one = {ratio:.2f}")


def calls(frame, n_score_columns):
    """Return a call of each method, with short rankings padded."""
    bound = frame.rec(short="pad")
    user = frame["user"].iloc[len(frame) // 2]
    one = ["precision@10"]
    timed = {
        "evaluate": bound.evaluate,
        "describe": bound.describe,
        "catalogue": bound.catalogue,
        "mean of a column": lambda: bound.evaluate("mean(item)@10"),
        "inspect": lambda: bound.inspect(user).to_html(),
        "curve, one cut-off": lambda: bound.curve("recall", k=[10]),
        "curve, 50 cut-offs": lambda: bound.curve("recall", k=CUT_OFFS),
        "evaluate, one metric": lambda: bound.evaluate(one),
        "summary, one metric": lambda: bound.summary(one),
        "summary, three metrics": bound.summary,
    }
    if n_score_columns > 1:
        timed["compare, one metric"] = lambda: bound.compare(one)
        timed["compare, three metrics"] = bound.compare
    return timed


if __name__ == "__main__":
    main()
