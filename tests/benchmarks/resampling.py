"""Compare the seconds for intervals and tests of many users with SciPy's for the same values.

python -m tests.benchmarks.resampling --users 100000 --scipy 500
"""

import argparse
import time

import numpy as np
import pandas as pd

import recframe
from recframe.analysis.resampling import Resampling, bootstrap_interval, sign_flip_test

# This is the default number of resamples.
DEFAULT = 9_999
# SciPy holds this many samples at a time; all of 100,000 users would need 8 GB.
BATCH = 50


def columns(n, seed):
    """Return values of three metrics: 11 distinct ones, 1,000, and nearly one for each user."""
    rng = np.random.default_rng(seed)
    share = rng.beta(0.5, 3 - seed / 10, n)
    return {
        "few": rng.binomial(10, share) / 10,
        "some": np.rint(share * 999) / 999,
        "many": share,
    }


def seconds(call, *arguments, **options):
    """Return the seconds that a call takes."""
    start = time.perf_counter()
    call(*arguments, **options)
    return time.perf_counter() - start


def beside_scipy(n, n_scipy, repeat):
    """Print medians of interleaved calls on one column; SciPy's are scaled to the default."""
    from scipy import stats

    print(f"{'':22}{'recframe':>10}{'SciPy':>10}   ({n_scipy:,} of its resamples, scaled)")
    scale = DEFAULT / n_scipy
    how = Resampling(0.95, DEFAULT, 0)
    olds, news = columns(n, 0), columns(n, 1)
    for kind, values in news.items():
        differences, zeros = values - olds[kind], np.zeros(n)
        times = {"bootstrap": [], "permutation": []}
        for _ in range(repeat):
            ours = seconds(lambda x: bootstrap_interval(np.sort(x), how), values)
            theirs = seconds(
                stats.bootstrap,
                (values,),
                np.mean,
                method="percentile",
                n_resamples=n_scipy,
                batch=BATCH,
            )
            times["bootstrap"].append((ours, theirs * scale))
            ours = seconds(sign_flip_test, differences, how)
            theirs = seconds(
                stats.permutation_test,
                (differences, zeros),
                lambda x, y, axis: np.mean(x - y, axis=axis),
                permutation_type="samples",
                vectorized=True,
                n_resamples=n_scipy,
                batch=BATCH,
            )
            times["permutation"].append((ours, theirs * scale))
        for name, pairs in times.items():
            ours, theirs = np.median(pairs, axis=0)
            print(f"{f'{name}, {kind}':22}{ours:9.2f}s{theirs:9.1f}s")


def whole_calls(n, repeat):
    """Print medians of calls on three metrics of two models, with as many values each."""
    for kind in ("few", "some", "many"):
        table = pd.DataFrame(
            {
                (score, f"metric_{i}"): columns(n, seed + 2 * i)[kind]
                for seed, score in enumerate(("old", "new"))
                for i in range(3)
            }
        ).rename_axis(columns=["score", "metric"])
        for call in (recframe.summary, recframe.compare):
            for interval in ("auto", "bootstrap"):
                taken = [seconds(call, table, interval=interval) for _ in range(repeat)]
                name = f"{call.__name__}, {interval}, {kind}"
                print(f"{name:30}{np.median(taken):8.2f}s")


def main():
    """Read the arguments and print the times."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.resampling", description=__doc__
    )
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--scipy", type=int, default=500, help="resamples of SciPy; 0 for none")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    print(f"{options.users:,} users, {DEFAULT:,} resamples, median of {options.repeat}")
    if options.scipy:
        beside_scipy(options.users, options.scipy, options.repeat)
    whole_calls(options.users, options.repeat)


if __name__ == "__main__":
    main()
