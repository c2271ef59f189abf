"""Enumerate the limits of every interval and test if few users have a hit or differ.

python -m tests.benchmarks.enumerated
"""

import numpy as np
from scipy import stats

from recframe.analysis.intervals import mean_interval, wilson
from recframe.analysis.resampling import Resampling

SIZES = (20, 50, 200, 1_000)
WANTED = (0.93, 0.97)
# This many users win or lose in expectation.
EXPECTED = (0, 0.5, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30)


def share_coverages(n, share):
    """Return the coverage of a share by Wilson's interval of n users, and all possible coverages.

    An interval with bounds that do not fall as hits rise covers a share for hits from a to b. All
    possible coverages of 0.8 or more are returned once, rounded.
    """
    hits = np.arange(n + 1)
    probability = stats.binom.pmf(hits, n, share)
    bounds = np.array([wilson(count / n, n, 0.95) for count in hits])
    held = (bounds[:, 0] <= share) & (share <= bounds[:, 1])
    upto = np.append(0, probability.cumsum())
    reached = (upto[None, :] - upto[:, None]).round(4)
    return probability[held].sum(), np.unique(reached[(reached >= 0.8) & (reached < 1)])


def best_of_all(n, shares):
    """Return the number of shares with the wanted coverage, by Wilson and by any rising bounds.

    The second number comes from dynamic programming: the hits from a to b that cover a share rise
    with it.
    """
    best = np.zeros((n + 2, n + 2))
    n_wilson = 0
    for share in shares:
        of_wilson, _ = share_coverages(n, share)
        n_wilson += WANTED[0] <= of_wilson <= WANTED[1]
        upto = np.append(0, stats.binom.cdf(np.arange(n + 1), n, share))
        coverage = upto[None, :] - upto[:, None]
        is_wanted = (coverage >= WANTED[0]) & (coverage <= WANTED[1])
        best = np.maximum.accumulate(np.maximum.accumulate(best, 0), 1)
        best = best + np.where(coverage < 0.9, -np.inf, is_wanted)
    return n_wilson / len(shares), best.max() / len(shares)


def sign_intervals(n, name):
    """Return the numbers of users who won and lost, of n, and the bounds of their intervals."""
    counts = [(won, lost) for won in range(min(n, 80) + 1) for lost in range(min(n - won, 80) + 1)]
    how = Resampling(0.95, 1, 0, name)
    bounds = []
    for won, lost in counts:
        signs = np.repeat([1.0, -1.0, 0.0], [won, lost, n - won - lost])
        bounds.append(mean_interval(signs, True, how, are_differences=True)[:2])
    return np.array(counts), np.array(bounds)


def sign_coverages(n, name):
    """Return coverages and mean lengths for expected numbers of winning and losing users.

    At least one user is expected to differ, and nine of ten at most.
    """
    counts, bounds = sign_intervals(n, name)
    counts = np.column_stack([counts, n - counts.sum(axis=1)])
    cells = []
    for won in EXPECTED:
        for lost in EXPECTED:
            if lost <= won and 1 <= won + lost <= min(0.9 * n, 45):
                shares = [won / n, lost / n, 1 - (won + lost) / n]
                chance = np.exp(stats.multinomial.logpmf(counts, n, shares))
                difference = (won - lost) / n
                held = (bounds[:, 0] <= difference + 1e-9) & (difference - 1e-9 <= bounds[:, 1])
                cells.append((chance @ held, chance @ np.ptp(bounds, axis=1)))
    return np.array(cells).T


def flip_sizes(n_differing):
    """Return how often differences of 1 and -1 have p <= 0.05, by p and by mid-p."""
    n_won = np.arange(n_differing + 1)
    probability = stats.binom.pmf(n_won, n_differing, 0.5)
    sums = np.abs(2 * n_won - n_differing)
    larger = np.array([probability[sums > one].sum() for one in sums])
    equal = np.array([probability[sums == one].sum() for one in sums])
    p_values = larger + equal, larger + equal / 2
    return [probability[p <= 0.05 + 1e-12].sum() for p in p_values]


def different_sizes(n_differing):
    """Return the same for differences with distinct sums only."""
    n_pairs = 2.0 ** (n_differing - 1)
    exact, middle = np.floor(0.05 * n_pairs + 1e-9), np.floor(0.05 * n_pairs + 0.5 + 1e-9)
    return [exact / n_pairs, middle / n_pairs] if n_differing else [0.0, 0.0]


def main():
    """Print the limits."""
    print("hits expected, users: coverage of Wilson's interval; those within reach beside 0.95")
    for n_hits in (1, 2, 3, 5):
        for n in SIZES:
            of_wilson, reached = share_coverages(n, n_hits / n)
            below, above = reached[reached <= 0.95].max(), reached[reached > 0.95].min()
            print(f"{n_hits:3} of {n:<6} {of_wilson:.4f}    {below:.4f} {above:.4f}")
    print(f"\nof shares from 1 / n to 0.5, those of coverage in {WANTED}: Wilson, the best bounds")
    for n in (20, 50):
        of_wilson, best = best_of_all(n, np.arange(20, 10 * n + 1) / (20 * n))
        print(f"n = {n:<6} {of_wilson:.3f} {best:.3f}")
    print(f"\ndifferences of 0 and 1: cells of coverage in {WANTED}, least coverage, mean length")
    for n in (20, 50, 200):
        for name in ("tango", "skewed"):
            held, length = sign_coverages(n, name)
            inside = ((held >= WANTED[0]) & (held <= WANTED[1])).sum()
            shown = f"{inside:3} of {len(held)}  {held.min():.3f}  {length.mean():.4f}"
            print(f"n = {n:<6} {name:8} {shown}")
    print("\nusers who differ: smallest p-value; found at 5% by chance, p and mid-p,")
    print("where all differ by 1, and where no two differ alike")
    for n in (4, 5, 6, 7, 8, 10, 12, 16, 20, 50, 200):
        cells = [*flip_sizes(n), *different_sizes(n)]
        print(f"{n:4} {2.0 ** (1 - n):8.4f}    " + " ".join(f"{cell:.4f}" for cell in cells))
    print("\nthe same for users of whom on average so many differ, of 20 and of 1,000")
    sizes = np.array([[*flip_sizes(n), *different_sizes(min(n, 30))] for n in range(1_001)])
    for expected in (4, 6, 8, 10, 16, 20, 40, 100):
        cells = []
        for n in (20, 1_000):
            if expected <= n:
                chance = stats.binom.pmf(np.arange(n + 1), n, expected / n)
                cells += [" ".join(f"{cell:.4f}" for cell in chance @ sizes[: n + 1])]
        print(f"{expected:4}    " + "    ".join(cells))


if __name__ == "__main__":
    main()
