"""Count how often intervals hold the mean and tests find a difference in generated populations.

python -m tests.benchmarks.coverage intervals --repeat 20000 --sizes 20 50
python -m tests.benchmarks.coverage differences tests power together weights
"""

import argparse
import time
from functools import partial

import numpy as np

from recframe.analysis.compare import correct, scipy_test
from recframe.analysis.intervals import detectable, has_limits, mean_interval, spread_by
from recframe.analysis.resampling import Resampling, max_t_test, sign_flip_test

SIZES = (20, 50, 200, 1_000)
# Each repetition draws this many sign patterns and resamples.
DRAWS = 999


def reciprocal_ranks(rng, n, share):
    """Return 1 / rank for a share of users with a hit among ten, and 0 for others."""
    return (rng.random(n) < share) / rng.integers(1, 11, n)


def hits(rng, n, share):
    """Return 1 for a share of users, and 0 for others."""
    return (rng.random(n) < share).astype(float)


def sometimes(rng, n, share, a, b):
    """Return a beta-distributed value for a share of users, and 0 for others."""
    return (rng.random(n) < share) * rng.beta(a, b, n)


def tenths(rng, n, a, b):
    """Return multiples of 1 / 10, like precision@10."""
    return rng.binomial(10, rng.beta(a, b, n)) / 10


MEAN_RR = np.mean(1 / np.arange(1, 11))
# Each name has a function that draws a sample of n, and its mean. A share c / n is c hits.
MEANS = {
    "0/1, 1 hit": (lambda rng, n: hits(rng, n, 1 / n), lambda n: 1 / n),
    "0/1, 2 hits": (lambda rng, n: hits(rng, n, 2 / n), lambda n: 2 / n),
    "0/1, 5 hits": (lambda rng, n: hits(rng, n, 5 / n), lambda n: 5 / n),
    "0/1, 0.3": (lambda rng, n: hits(rng, n, 0.3), lambda n: 0.3),
    "RR, 1 hit": (lambda rng, n: reciprocal_ranks(rng, n, 1 / n), lambda n: MEAN_RR / n),
    "RR, 2 hits": (lambda rng, n: reciprocal_ranks(rng, n, 2 / n), lambda n: 2 * MEAN_RR / n),
    "RR, 5 hits": (lambda rng, n: reciprocal_ranks(rng, n, 5 / n), lambda n: 5 * MEAN_RR / n),
    "RR, 0.3": (lambda rng, n: reciprocal_ranks(rng, n, 0.3), lambda n: 0.3 * MEAN_RR),
    "RR, 0.8": (lambda rng, n: reciprocal_ranks(rng, n, 0.8), lambda n: 0.8 * MEAN_RR),
    "zeros, 3 hits": (lambda rng, n: sometimes(rng, n, 3 / n, 1, 3), lambda n: 0.75 / n),
    "zeros, 0.2": (lambda rng, n: sometimes(rng, n, 0.2, 1, 3), lambda n: 0.05),
    "skewed right": (lambda rng, n: rng.beta(0.3, 3, n), lambda n: 1 / 11),
    "skewed left": (lambda rng, n: rng.beta(3, 0.3, n), lambda n: 10 / 11),
    "symmetric": (lambda rng, n: rng.beta(2, 2, n), lambda n: 0.5),
    "tenths, 0.13": (lambda rng, n: tenths(rng, n, 0.3, 2), lambda n: 0.3 / 2.3),
    "tenths, 0.03": (lambda rng, n: tenths(rng, n, 0.1, 3), lambda n: 0.1 / 3.1),
    "lognormal": (lambda rng, n: np.exp(rng.standard_normal(n)), lambda n: np.exp(0.5)),
    "Pareto 3": (lambda rng, n: rng.pareto(3, n), lambda n: 0.5),
}


def changed(rng, n, share):
    """Return differences of reciprocal ranks, nonzero for about half of the users."""
    return hits(rng, n, 0.5) * (reciprocal_ranks(rng, n, share) - reciprocal_ranks(rng, n, share))


def won_and_lost(rng, n, won, lost):
    """Return 1 for a share of users, -1 for another share, and 0 for others."""
    drawn = rng.random(n)
    return (drawn < won) * 1.0 - (drawn > 1 - lost)


def paired_tenths(rng, n, factor):
    """Return differences of precision@10 for users who are equally hard for both models."""
    share = rng.beta(0.5, 3, n)
    return (rng.binomial(10, share) - rng.binomial(10, share * factor)) / 10


DIFFERENCES = {
    "RR, 0.3": (partial(changed, share=0.3), lambda n: 0.0),
    "RR, 3 hits": (lambda rng, n: changed(rng, n, 3 / n), lambda n: 0.0),
    "0/1, 0.1 won": (lambda rng, n: won_and_lost(rng, n, 0.1, 0.05), lambda n: 0.05),
    "0/1, 0.4 won": (lambda rng, n: won_and_lost(rng, n, 0.4, 0.2), lambda n: 0.2),
    "0/1, 2 won": (lambda rng, n: won_and_lost(rng, n, 2 / n, 1 / n), lambda n: 1 / n),
    "0/1, 4 only won": (lambda rng, n: won_and_lost(rng, n, 4 / n, 0), lambda n: 4 / n),
    "0.2 only won": (lambda rng, n: sometimes(rng, n, 0.2, 1, 3), lambda n: 0.05),
    "tenths, equal": (partial(paired_tenths, factor=1.0), lambda n: 0.0),
    "tenths, halved": (partial(paired_tenths, factor=0.5), lambda n: 0.5 * 0.5 / 3.5),
    "skewed apart": (
        lambda rng, n: sometimes(rng, n, 0.2, 1, 1) - sometimes(rng, n, 0.6, 1, 3),
        lambda n: 0.1 - 0.15,
    ),
    "lognormals": (
        lambda rng, n: np.exp(rng.standard_normal(n)) - np.exp(rng.standard_normal(n)),
        lambda n: 0.0,
    ),
    "Student's t, 3": (lambda rng, n: rng.standard_t(3, n), lambda n: 0.0),
    "normal": (lambda rng, n: rng.standard_normal(n), lambda n: 0.0),
}
# If two models do not differ, both signs of a difference are equally likely.
NULLS = {
    "RR, 0.3": partial(changed, share=0.3),
    "RR, 0.8": partial(changed, share=0.8),
    "0/1, 0.1": partial(won_and_lost, won=0.1, lost=0.1),
    "0/1, 0.4": partial(won_and_lost, won=0.4, lost=0.4),
    "tenths": partial(paired_tenths, factor=1.0),
    "lognormals": DIFFERENCES["lognormals"][0],
    "Student's t, 3": DIFFERENCES["Student's t, 3"][0],
    "normal": DIFFERENCES["normal"][0],
}


def beta_bootstrap_t(values, confidence, weights):
    """Return the bootstrap-t interval with beta-distributed weights (A. Owen, 2025)."""
    total = weights.sum(axis=1)
    means = weights @ values / total
    variance = np.maximum(weights @ values**2 / total - means**2, 1e-300)
    mean, deviation = values.mean(), values.std()
    outside = (1 - confidence) / 2
    low, high = np.quantile((means - mean) / np.sqrt(variance), [outside, 1 - outside])
    return mean - high * deviation, mean - low * deviation


def measure_intervals(populations, names, sizes, repeat, confidence, *, are_differences):
    """Print the share of samples whose interval holds the mean, and its relative width."""
    for n in sizes:
        rng = np.random.default_rng(n)
        weights = rng.beta(0.5, 1.5, (DRAWS, n)) if "beta_t" in names else None
        print(f"\nn = {n}, {repeat} samples: coverage of {confidence}, width beside Student's")
        print(f"{'':16}" + "".join(f"{name:>14}" for name in names))
        for shape, (draw, mean_of) in populations.items():
            held, width = np.zeros(len(names)), np.zeros(len(names))
            student = 0.0
            for _ in range(repeat):
                values, mean = draw(rng, n), mean_of(n)
                is_limited = has_limits("", np.abs(values))
                how = Resampling(confidence, 1, 0, "t")
                low, high, _ = mean_interval(
                    values, is_limited, how, are_differences=are_differences
                )
                student += high - low
                for column, name in enumerate(names):
                    if name == "beta_t" and np.ptp(values) > 0:
                        low, high = beta_bootstrap_t(values, confidence, weights)
                    else:
                        how = Resampling(confidence, DRAWS, 0, "auto" if name == "beta_t" else name)
                        low, high, _ = mean_interval(
                            values, is_limited, how, are_differences=are_differences
                        )
                    held[column] += low <= mean <= high
                    width[column] += high - low
            cells = zip(held / repeat, width / student, strict=True)
            print(f"{shape:16}" + "".join(f"{cover:8.3f} x{wide:4.2f}" for cover, wide in cells))


def p_value(values, test, how):
    """Return the p-value of a test for no difference."""
    return (sign_flip_test(values, how) if test == "permutation" else scipy_test(values, test))[0]


def measure_tests(sizes, repeat):
    """Print the share of samples in which each test finds a difference at 5% without one."""
    tests = ("permutation", "ttest", "wilcoxon")
    print(f"\nfound at 5% without a difference, {repeat} samples: {', '.join(tests)}")
    print(f"{'':16}" + "".join(f"{f'n = {n}':>22}" for n in sizes))
    for shape, draw in NULLS.items():
        cells = []
        for n in sizes:
            rng = np.random.default_rng(n)
            found = np.zeros(len(tests))
            # A single draw of signs would have the same error each time.
            for seed in range(repeat):
                values, how = draw(rng, n), Resampling(0.95, DRAWS, seed)
                found += [p_value(values, test, how) <= 0.05 for test in tests]
            cells.append(" ".join(f"{share:.3f}" for share in found / repeat))
        print(f"{shape:16}" + "".join(f"{cell:>22}" for cell in cells))


def measure_power(sizes, repeat):
    """Print the share of samples that find a difference as large as the detectable one."""
    how = Resampling(0.95, DRAWS, 0)
    print(f"\nfound at 5% at the detectable difference, {repeat} samples: permutation, ttest")
    print(f"{'':16}" + "".join(f"{f'n = {n}':>22}" for n in sizes))
    for shape in ("RR, 0.8", "tenths", "0/1, 0.4", "Student's t, 3", "normal"):
        cells = []
        for n in sizes:
            rng = np.random.default_rng(n)
            # This is the deviation of the whole population, not of the sample.
            shift = detectable(NULLS[shape](rng, 1_000_000).std(), n)
            found = np.zeros(2)
            for _ in range(repeat):
                values = NULLS[shape](rng, n) + shift
                found += [p_value(values, test, how) <= 0.05 for test in ("permutation", "ttest")]
            cells.append(" ".join(f"{share:.3f}" for share in found / repeat))
        print(f"{shape:16}" + "".join(f"{cell:>22}" for cell in cells))


def measure_together(sizes, repeat):
    """Print how often max-T and Holm find a difference in ten correlated metrics."""
    how = Resampling(0.95, DRAWS, 0)
    print(f"\nten metrics, correlated 0.8, {repeat} samples: found by max_t, holm")
    print("no difference: samples with any found; 0.2 deviations: found of all")
    for n in sizes:
        rng = np.random.default_rng(n)
        any_found, n_found = np.zeros(2), np.zeros(2)
        for _ in range(repeat):
            shared, own = rng.standard_t(5, (n, 1)), rng.standard_t(5, (n, 10))
            values = np.sqrt(0.8) * shared + np.sqrt(0.2) * own
            for shift, found in ((0.0, any_found), (0.2 * (200 / n) ** 0.5, n_found)):
                shifted = values + shift
                alone = np.array([sign_flip_test(column, how)[0] for column in shifted.T])
                p_values = max_t_test(shifted, how), correct(alone, "holm")
                shares = [(p <= 0.05).any() if shift == 0 else (p <= 0.05).mean() for p in p_values]
                found += shares
        text = "   ".join(f"{share:.3f}" for share in [*any_found / repeat, *n_found / repeat])
        print(f"n = {n:<6} {text}")


WEIGHTS = {
    "1 to 4": lambda rng, n: rng.integers(1, 5, n).astype(float),
    "lognormal": lambda rng, n: np.exp(rng.standard_normal(n)),
}


def measure_weights(sizes, repeat):
    """Print how often intervals hold a weighted mean, and tests find a difference by chance."""
    how = Resampling(0.95, DRAWS, 0)
    populations = ("RR, 0.3", "RR, 0.8", "symmetric")
    print(f"\nweighted users, {repeat} samples: holds the mean, weighted signs found by chance")
    print(f"{'':22}" + "".join(f"{f'n = {n}':>16}" for n in sizes))
    for kind, draw_weights in WEIGHTS.items():
        for name in populations:
            draw, mean_of = MEANS[name]
            cells = []
            for n in sizes:
                rng, n_held, n_found = np.random.default_rng(n), 0, 0
                for _ in range(repeat):
                    values, weights = draw(rng, n), draw_weights(rng, n)
                    low, high, _ = mean_interval(spread_by(values, weights), True, how)
                    n_held += low <= mean_of(n) <= high
                    n_found += sign_flip_test((values - draw(rng, n)) * weights, how)[0] <= 0.05
                cells.append(f"{n_held / repeat:.3f} {n_found / repeat:.3f}")
            print(f"{kind:10} {name:11}" + "".join(f"{cell:>16}" for cell in cells))


def main():
    """Read the arguments and print the tables that they name."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.coverage", description=__doc__
    )
    choices = ("intervals", "differences", "tests", "power", "together", "weights")
    parser.add_argument("what", nargs="+", choices=choices)
    parser.add_argument("--repeat", type=int, default=2_000, help="samples of each population")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="users in a sample")
    parser.add_argument("--confidence", type=float, default=0.95)
    parser.add_argument("--names", nargs="+", help="intervals; beta_t is a bootstrap-t")
    options = parser.parse_args()
    for what in options.what:
        start = time.perf_counter()
        if what in ("intervals", "differences"):
            are_differences = what == "differences"
            print(f"\n{what}")
            measure_intervals(
                DIFFERENCES if are_differences else MEANS,
                options.names or ["auto", "t"],
                options.sizes,
                options.repeat,
                options.confidence,
                are_differences=are_differences,
            )
        else:
            measure = {
                "tests": measure_tests,
                "power": measure_power,
                "together": measure_together,
                "weights": measure_weights,
            }[what]
            measure(options.sizes, options.repeat)
        print(f"({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
