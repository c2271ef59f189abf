"""Compare each metric's time with precision, recall and R-precision, and time all together.

python -m tests.benchmarks.metrics --rows 10000000 --users 100000 --repeat 5
"""

import argparse
import os

import numpy as np

from recframe.metrics.definitions import DEFINITIONS
from tests.benchmarks import data
from tests.benchmarks.engines import medians, recframe_call

CUT_OFFS = (5, 10, 20)
# Each metric that needs no column has the text that follows its name.
PARAMETERS = {name: "" for name, definition in DEFINITIONS.items() if not definition.of_column}
PARAMETERS |= {"rbp": "(p=0.8)", "err": "(max=3)"}
# The grades go from 1 to 3.
GRADED = ", grades"
FIRST = ("precision", "recall", "r_precision")


def main():
    """Read the arguments and print the times."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.metrics", description=__doc__)
    add = parser.add_argument
    add("--rows", type=int, default=10_000_000)
    add("--users", type=int, help="default: one for every 100 rows")
    add("--repeat", type=int, default=5, help="the median of so many interleaved runs")
    add("--shuffled", action="store_true", help="rows in random order, not grouped by user")
    add("--scores", nargs="*", default=["float64", "ratings"], help="float32 too; ratings: five")
    options = parser.parse_args()
    for scores in options.scores:
        measure(scores, options)


def measure(scores, options):
    """Print the times for one kind of scores."""
    frame = data.make(options.rows, options.users, scores=scores, shuffled=options.shuffled)
    times = medians(calls(frame), options.repeat)
    print(
        f"{len(frame):,} rows, {frame['user'].nunique():,} users, {scores} scores, "
        f"{'shuffled' if options.shuffled else 'grouped'}, cut-offs {CUT_OFFS}, "
        f"median of {options.repeat}, load before {os.getloadavg()[0]:.1f}"
    )
    print(f"{'':40}{'median ms':>10}{'x first':>9}")
    for name, time in times.items():
        first = ", ".join(FIRST) + (GRADED if name.endswith(GRADED) else "")
        print(f"{name:40}{time:10,.1f}{time / times[first]:9.2f}")


def calls(frame):
    """Return a call of the first metrics, of these with each other one, and of all."""
    graded = frame.assign(relevant=frame["relevant"] * np.arange(1, len(frame) + 1) % 4)
    others = [name for name in PARAMETERS if name not in FIRST]
    return {
        ", ".join(FIRST): recframe_call(frame, labels(FIRST)),
        **{f"and {name}": recframe_call(frame, labels([*FIRST, name])) for name in others},
        "all": recframe_call(frame, labels(PARAMETERS)),
        f"{', '.join(FIRST)}{GRADED}": recframe_call(graded, labels(FIRST), min_relevance=1),
        f"all{GRADED}": recframe_call(graded, labels(PARAMETERS), min_relevance=1),
    }


def labels(names):
    """Return the metrics at every cut-off, and the metrics of whole rankings."""
    cut_off = {name: DEFINITIONS[name].cut_off for name in names}
    written = {name: f"{name}{PARAMETERS[name]}" for name in names}
    return [
        *(f"{written[name]}@{k}" for k in CUT_OFFS for name in names if cut_off[name] != "none"),
        *(written[name] for name in names if cut_off[name] != "needed"),
    ]


if __name__ == "__main__":
    main()
