"""Statistics: the numbers that formulas read, computed from the counts once. NumPy only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from recframe.kernel.counting import Counts
from recframe.kernel.grouping import number_members, run_starts
from recframe.kernel.threads import Array
from recframe.metrics.gains import Feature, Grades, JudgedRows
from recframe.metrics.ties import (
    Fractions,
    Spread,
    Ties,
    find_ties,
    products_before,
    sum_by,
)


class Policy(NamedTuple):
    """The options of `recframe.evaluate` that decide edge cases of metrics.

    With truth (`has_truth`) a user may have no ranked row.
    """

    short: str
    zero_division: float
    has_truth: bool = False
    gain: str = "linear"


@dataclass(eq=False)
class RankStatistics:
    """The counts of users, and numbers that several metrics compute from them.

    Without `grades` every relevant item gains 1; without `judged` every row is judged. `sums` has
    the sum of each column over the first k rows, by metric and cut-off.
    """

    counts: Counts
    grades: Grades | None = None
    sums: Mapping[tuple[Feature, int], Fractions] = field(default_factory=dict)
    judged: JudgedRows | None = None

    @classmethod
    def of_hits(cls, n_ranked: Array, n_relevant: Array, hits: Array) -> Self:
        """Return statistics of users whose first rows are hits, as many as known for each."""
        user, above = number_members(hits)
        ones = np.ones_like(user)
        return cls(Counts(n_ranked, n_relevant, user, above, ones, n_relevant, ones))

    def rows(self, k: int, policy: Policy) -> Array | int:
        """Return the number of rows that hits@k is divided by."""
        return np.minimum(k, self.counts.n_ranked) if policy.short == "shrink" else k

    @cached_property
    def ties(self) -> Ties:
        """The ties that hold a relevant row."""
        return find_ties(self.counts, None if self.grades is None else self.grades.gain)

    @cached_property
    def first_ties(self) -> Ties:
        """The ties that hold each user's first relevant row."""
        return self.ties.take(run_starts(self.ties.user))

    def positions(self, k: int | None) -> Array:
        """Return the positions from 1 to k, or to the last one that a relevant item may have."""
        counts = self.counts
        longest = int(max(counts.n_relevant.max(initial=0), counts.n_ranked.max(initial=0)))
        return np.arange(1, 1 + (longest if k is None else min(longest, k)))

    def sum_positions(self, k: int | None, terms: Array, weights: Array) -> Array:
        """Return each user's sum of the terms at the positions of relevant rows.

        `terms` has a term for each of `positions(k)`, `weights` a factor for each of `ties`.
        """
        wide, spread = self.spread_ties(k)
        added = np.append(terms, 0.0).take(
            self.ties.above, mode="clip"
        )  # 0 after the last position
        added[wide] = spread.sum(terms[spread.position - 1])
        return sum_by(self.ties.user, weights * added, len(self.counts.n_ranked))

    def expect_first(self, k: int | None, terms: Callable[[Array], Array]) -> Array:
        """Return the expectation of a term of the position of each user's first relevant row."""
        ties = self.first_ties
        depth = ties.size - ties.n_relevant + 1
        depth = depth if k is None else np.minimum(depth, k - ties.above)
        ties, depth = ties.take(depth > 0), depth[depth > 0]
        spread = Spread(ties.above, depth, ties.size, ties.n_relevant)
        # A tie has t rows, m of them relevant. The probability that none of the first j is relevant
        # is the product of (t - m - i) / (t - i) over i < j; that the next one is, m / (t - j).
        n_left, n_relevant = ties.size[spread.tie] - spread.nth, ties.n_relevant[spread.tie]
        none_yet = products_before((n_left - n_relevant) / n_left, spread.nth)
        chances = none_yet * n_relevant / n_left
        values = np.zeros(len(self.counts.n_ranked))
        values[ties.user] = spread.sum(chances * terms(spread.position))
        return values

    def spread_ties(self, k: int | None) -> tuple[Array, Spread]:
        """Return the ties that have several positions up to k, and these positions."""
        size, above = self.ties.size, self.ties.above
        depth = size if k is None else np.minimum(size, k - above)
        wide = np.flatnonzero(depth > 1)
        return wide, Spread(above[wide], depth[wide])


def defined(values: Array, statistics: RankStatistics, policy: Policy) -> Array:
    """Return the values, or `zero_division` for users without a relevant item."""
    values[statistics.counts.n_relevant == 0] = policy.zero_division
    return values


def ratio(numerator: Array, denominator: Array, policy: Policy) -> Array:
    """Return the quotients, and `zero_division` where the denominator is 0."""
    with np.errstate(invalid="ignore"):  # a denominator is 0 only where the numerator is, too
        quotient: Array = numerator / denominator
    if not np.isnan(policy.zero_division):
        quotient[denominator == 0] = policy.zero_division
    return quotient
