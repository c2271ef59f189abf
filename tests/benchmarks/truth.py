"""Compare `truth=` and `exclude=` with an evaluation that has the relevance column.

The excluded pairs are the pairs of truth. Each ratio is to the time before it.

python -m tests.benchmarks.truth --rows 10000000 --pairs 1000000 --repeat 5
"""

import argparse
import statistics
import time

import numpy as np
import pandas as pd

import recframe
from tests.benchmarks import data

# This is a prime, so every stride visits all items before it repeats one.
N_ITEMS = 100_003
METRICS = ["precision@10", "recall@10", "r_precision"]
IDS = {
    "int": lambda codes: codes,
    "wide int": lambda codes: codes * 0x1E3779B97F4A7C15,
    "category": lambda codes: pd.Categorical.from_codes(codes, names(codes)),
    "str": lambda codes: pd.array(names(codes), dtype="str").take(codes),
    "object": lambda codes: np.array(names(codes), dtype=object)[codes],
}


def main():
    """Print the medians of interleaved runs, and their ratio, for every kind of ids."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.truth", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--shuffled", action="store_true", help="rows in random order")
    parser.add_argument("--ids", choices=IDS, action="append", help="default: all, one by one")
    options = parser.parse_args()
    print(f"{'ids':>10} {'column':>10} {'truth':>10} {'ratio':>6} {'exclude':>10} {'of truth':>8}")
    for ids in options.ids or IDS:
        recs, truth = make(options.rows, options.pairs, ids, shuffled=options.shuffled)
        judged = recs.rec.judge(truth).iloc[: len(recs)]
        runs = {
            "column": lambda frame=judged: recframe.evaluate(frame, METRICS, short="pad"),
            "truth": lambda frame=recs, truth=truth: recframe.evaluate(
                frame, METRICS, short="pad", truth=truth, population="all"
            ),
            "exclude": lambda frame=judged, truth=truth: recframe.evaluate(
                frame, METRICS, short="pad", exclude=truth
            ),
        }
        seconds = {name: [] for name in runs}
        for _ in range(options.repeat):
            for name, run in runs.items():
                start = time.perf_counter()
                run()
                seconds[name].append(time.perf_counter() - start)
        column, looked_up, excluded = (statistics.median(seconds[name]) for name in runs)
        print(
            f"{ids:>10} {column:8.3f} s {looked_up:8.3f} s {looked_up / column:6.2f} "
            f"{excluded:8.3f} s {excluded / looked_up:8.2f}"
        )


def make(rows, pairs, ids, *, shuffled):
    """Return recommendations, and a truth that has half of its pairs from these."""
    rng = np.random.default_rng(0)
    n_users = rows // data.MEAN_SIZE
    sizes = data.user_sizes(rng, rows, n_users, "lognormal")
    user = np.repeat(rng.permutation(n_users), sizes)
    place = np.arange(rows) - np.repeat(sizes.cumsum() - sizes, sizes)
    first, stride = rng.integers(1, N_ITEMS, (2, n_users))
    item = (np.repeat(first, sizes) + place * np.repeat(stride, sizes)) % N_ITEMS
    recs = pd.DataFrame({"user": user, "item": item, "score": rng.random(rows)})
    listed = recs[["user", "item"]].sample(pairs // 2, random_state=0)
    others = pd.DataFrame(rng.integers(0, [n_users, N_ITEMS], (pairs, 2)), columns=listed.columns)
    truth = pd.concat([listed, others]).drop_duplicates()[:pairs].sample(frac=1, random_state=0)
    if shuffled:
        recs = recs.sample(frac=1, random_state=0, ignore_index=True)
    for frame in (recs, truth):
        for column in ("user", "item"):
            frame[column] = IDS[ids](frame[column].to_numpy())
    return recs, truth.reset_index(drop=True)


def names(codes):
    """Return a name for every number up to the largest code."""
    return [f"id{number}" for number in range(max(int(codes.max()) + 1, N_ITEMS))]


if __name__ == "__main__":
    main()
