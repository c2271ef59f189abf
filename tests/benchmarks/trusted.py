"""Count how often intervals of a judge corrected by people hold the mean of people's values.

python -m tests.benchmarks.trusted --repeat 2000 --sizes 30 50 100 300
"""

import argparse
import time

import numpy as np

from recframe.analysis.intervals import Counted, has_limits, mean_interval
from recframe.analysis.resampling import Resampling, sign_flip_test
from recframe.analysis.trusted import NOT_JUDGED, interval_by_both

N_USERS = 2_000
HOW = Resampling(0.95, 999, 0)


def kind_judge(rng, n):
    """Return values such as nDCG by people, and by a judge who adds 0.06."""
    people = rng.beta(1.2, 1.6, n)
    return people, np.clip(0.12 + 0.85 * people + rng.normal(0, 0.10, n), 0, 1)


def flipped(rng, n, share, errors):
    """Return hits of a share of users, and a judge who is wrong about some of them."""
    people = (rng.random(n) < share).astype(float)
    return people, np.where(rng.random(n) < errors, 1 - people, people)


def sparse_ranks(rng, n, share):
    """Return reciprocal ranks of a share of users, and a judge who draws some of them anew."""
    people = np.where(rng.random(n) < share, 1 / rng.integers(1, 11, n), 0.0)
    drawn = np.where(rng.random(n) < share, 1 / rng.integers(1, 11, n), 0.0)
    return people, np.where(rng.random(n) < 0.15, drawn, people)


def ignorant(rng, n):
    """Return values by people, and a judge whose values do not depend on them."""
    return rng.beta(1.2, 1.6, n), rng.beta(2, 2, n)


def tenths(rng, n):
    """Return values such as precision@10 with many zeros, and a judge who errs by some tenths."""
    people = rng.binomial(10, rng.beta(0.3, 2, n)) / 10
    return people, np.clip(people + rng.integers(-1, 3, n) / 10, 0, 1)


def with_nulls(rng, n):
    """Return values that are undefined for some users, more often where the judge's are low."""
    people, judge = kind_judge(rng, n)
    people[rng.random(n) < 0.4 - 0.3 * judge] = np.nan
    judge[rng.random(n) < 0.1] = np.nan
    return people, judge


MEANS = {
    "nDCG, judge +0.06": kind_judge,
    "hits 0.3, 1 of 10 wrong": lambda rng, n: flipped(rng, n, 0.3, 0.1),
    "hits 0.05, 1 of 20 wrong": lambda rng, n: flipped(rng, n, 0.05, 0.05),
    "ranks 0.25": lambda rng, n: sparse_ranks(rng, n, 0.25),
    "ranks 0.8": lambda rng, n: sparse_ranks(rng, n, 0.8),
    "tenths, many zeros": tenths,
    "ignorant judge": ignorant,
    "undefined users": with_nulls,
}


def equal_models(rng, n):
    """Return differences of two equal models; the judge prefers one of them by 0.02."""
    people = rng.normal(0, 0.20, n)
    return people, 0.02 + 0.7 * people + rng.normal(0, 0.08, n)


def equal_ranks(rng, n):
    """Return differences of reciprocal ranks, many of them 0, by people and by a judge."""
    (one, by_judge), (other, other_by_judge) = sparse_ranks(rng, n, 0.4), sparse_ranks(rng, n, 0.4)
    return one - other, by_judge - other_by_judge


DIFFERENCES = {
    "equal, judge +0.02": equal_models,
    "equal ranks, many zeros": equal_ranks,
    "equal hits": lambda rng, n: tuple(
        a - b for a, b in zip(flipped(rng, n, 0.3, 0.1), flipped(rng, n, 0.3, 0.1), strict=True)
    ),
}


def count_users(rng, n, kind):
    """Return weights and units of users: none, lognormal weights, or units of about 3 rankings."""
    if kind == "weights":
        return Counted(np.exp(rng.standard_normal(n) / 2), None)
    return Counted(None, rng.integers(0, n // 3, n) if kind == "units" else None)


def measure(draw, n, repeat, kind="", *, are_differences=False):
    """Return how often intervals of the judge, of people and of both hold the mean, and lengths.

    The last number is the share of samples in which both find a difference from the mean.
    """
    rng = np.random.default_rng(n)
    mean = np.nanmean(draw(rng, 4_000_000)[0])
    held, lengths, n_found = np.zeros(3), [], 0
    for _ in range(repeat):
        counted = count_users(rng, N_USERS, kind)
        people, judge = draw(rng, N_USERS)
        if kind == "units":  # rankings of a unit are alike
            shared, of_judge = draw(rng, N_USERS)
            people, judge = (
                (people + shared[counted.units]) / 2,
                (judge + of_judge[counted.units]) / 2,
            )
            is_judged = counted.units < n
        else:
            is_judged = np.arange(N_USERS) < n
        own = np.where(is_judged, people, np.nan)
        is_limited = has_limits("", np.abs(judge[~np.isnan(judge)]))
        how = {"is_limited": is_limited, "are_differences": are_differences}
        estimate, figures, known = interval_by_both(
            np.where(is_judged, people, NOT_JUDGED), judge, counted, "", HOW, **how
        )
        intervals = [(figures["low"], figures["high"])]
        for values in (own, judge):
            joined, weights = counted.join(values)
            of_users = spread(joined, weights)
            intervals.append(mean_interval(of_users, resampling=HOW, **how)[:2])
        held += [low <= mean <= high for low, high in intervals]
        lengths.append((intervals[0][1] - intervals[0][0]) / (intervals[1][1] - intervals[1][0]))
        if are_differences:
            joined, weights = counted.join(known)
            by_people = sign_flip_test((joined * weights)[weights > 0], HOW)[0]
            n_found += (estimate.p_value() if estimate.freedom else by_people) <= 0.05
    return [*held / repeat, np.nanmedian(lengths), n_found / repeat]


def spread(values, weights):
    """Return values with the plain mean and error that weighted values have."""
    from recframe.analysis.intervals import spread_by

    return spread_by(values, weights)


def main():
    """Print a row for each population and number of judged users."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.trusted", description=__doc__)
    parser.add_argument("--repeat", type=int, default=2_000, help="samples of each population")
    parser.add_argument("--sizes", type=int, nargs="+", default=(30, 50, 100, 300))
    options = parser.parse_args()
    start = time.perf_counter()
    rows = [(name, draw, "", False) for name, draw in MEANS.items()]
    rows += [(f"nDCG, {kind}", kind_judge, kind, False) for kind in ("weights", "units")]
    rows += [(name, draw, "", True) for name, draw in DIFFERENCES.items()]
    titles = ("both", "people", "judge", "length", "found")
    print(f"{'':28}{'judged':>7}" + "".join(f"{title:>8}" for title in titles))
    for name, draw, kind, are_differences in rows:
        for n in options.sizes:
            figures = measure(draw, n, options.repeat, kind, are_differences=are_differences)
            print(f"{name:28}{n:7}" + "".join(f"{figure:8.3f}" for figure in figures), flush=True)
    print(f"({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
