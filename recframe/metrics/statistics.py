"""Statistics: what the definitions read of the counts, at each cut-off by itself. NumPy only."""

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple, Self

import numpy as np

from recframe.errors import RecframeError
from recframe.kernel.counting import Counts
from recframe.kernel.grouping import run_starts
from recframe.kernel.threads import Array
from recframe.metrics.supplements import Grades, JudgedRows, Sum
from recframe.metrics.ties import (
    Hits,
    Spread,
    Stops,
    Ties,
    chances_of_first,
    expected_hits,
    find_stops,
    find_ties,
    sum_by,
)


class Policy(NamedTuple):
    """What a metric does at its edges: the options of these names in `recframe.evaluate`.

    Where it `has_truth`, a user may be without a ranked row.
    """

    short: str
    zero_division: float
    has_truth: bool = False
    gain: str = "linear"


class RankStatistics:
    """The counts of users, and what several metrics need of them.

    Without `grades` the gain of every relevant item is 1, and without `judged` every row is.
    `sums` are those of columns over the first rows, by the name of the column and the cut-off.
    """

    def __init__(
        self,
        counts: Counts,
        grades: Grades | None = None,
        sums: Mapping[tuple[str, int], Sum] = MappingProxyType({}),
        judged: JudgedRows | None = None,
    ) -> None:
        self.counts = counts
        self.sums = sums
        self._grades = grades
        self.judged = judged
        self._hits: dict[int, Hits] = {}
        self._stops: dict[float, tuple[float, Stops]] = {}

    @classmethod
    def of_hits(cls, n_ranked: Array, n_relevant: Array, k: int, hits: Array) -> Self:
        """Return statistics of users of whom only the hits among the first k are known."""
        none = np.empty(0, np.int64)
        statistics = cls(Counts(n_ranked, n_relevant, none, none, none, n_relevant, none))
        statistics._hits[k] = hits, np.ones_like(hits)
        return statistics

    def hits(self, k: int) -> Hits:
        """Return the relevant rows among the first k, as numerator and denominator."""
        if k not in self._hits:
            self._hits = {k: expected_hits(self.counts, k)}  # metrics come by cut-off
        return self._hits[k]

    @cached_property
    def ties(self) -> Ties:
        """The ties that hold a relevant row."""
        return find_ties(self.counts, None if self._grades is None else self._grades.gain)

    @cached_property
    def first_ties(self) -> Ties:
        """The ties that hold each user's first relevant row."""
        return self.ties.take(run_starts(self.ties.user))

    def positions(self, k: int | None) -> Array:
        """Return the positions from 1 to k, or to the last that a relevant item may have."""
        counts = self.counts
        longest = int(max(counts.n_relevant.max(initial=0), counts.n_ranked.max(initial=0)))
        return np.arange(1, 1 + (longest if k is None else min(longest, k)))

    def sum_positions(self, k: int | None, terms: Array, weights: Array) -> Array:
        """Return the terms of the positions of relevant rows, added up by user.

        The terms are those of `positions(k)`; the weights, of `ties`, multiply those of each tie.
        """
        wide, spread = self._spread(k)
        added = np.append(terms, 0.0).take(self.ties.above, mode="clip")  # 0 after the last
        added[wide] = spread.sum(terms[spread.position - 1])
        return sum_by(self.ties.user, weights * added, len(self.counts.n_ranked))

    def sum_precisions(self, k: int | None) -> Array:
        """Return the precision at each relevant row up to k, added up by user."""
        ties, (wide, spread) = self.ties, self._spread(k)
        position, hits = ties.above + 1, ties.n_relevant_above + 1
        # Where there is but one position it is one division, of whole numbers.
        added = hits / position
        if k is not None:
            added[position > k] = 0.0
        # At each next one (m - 1) / (t - 1) more rows are relevant in expectation.
        step = (ties.n_relevant[wide] - 1) / (ties.size[wide] - 1)
        added[wide] = hits[wide] * spread.sum(1 / spread.position)
        added[wide] += step * spread.sum(spread.nth / spread.position)
        return sum_by(ties.user, ties.chance * added, len(self.counts.n_ranked))

    def expect_first(self, k: int | None, terms: Callable[[Array], Array]) -> Array:
        """Return the expectation of a term of the position of each user's first relevant row."""
        ties = self.first_ties
        depth = ties.size - ties.n_relevant + 1
        depth = depth if k is None else np.minimum(depth, k - ties.above)
        ties, depth = ties.take(depth > 0), depth[depth > 0]
        spread = Spread(ties.above, depth, ties.size, ties.n_relevant)
        values = np.zeros(len(self.counts.n_ranked))
        values[ties.user] = spread.sum(chances_of_first(spread, ties) * terms(spread.position))
        return values

    def expect_stop(self, k: int | None, highest: float, *, is_exponential: bool) -> Array:
        """Return the expectation of 1 / the position up to k where one stops, by user.

        A row satisfies with (2^grade - 1) / 2^highest; gains are grades, or exponential in them.
        Raise where a grade is above the highest.
        """
        far = np.inf if k is None else k
        depth, stops = self._stops.get(highest, (0, None))
        if stops is None or far > depth:
            stop = np.broadcast_to(2.0**-highest, len(self.counts.user))
            if (grades := self._grades) is not None:
                found = grades.ideal.max(initial=0)
                found = np.log2(found + 1) if is_exponential else found
                if found > highest * (1 + 1e-12):
                    raise RecframeError(
                        f"err(max={highest:g}): max must be the highest grade that there can be, "
                        f"found grade {found:g}; pass max={found:g} or more"
                    )
                stop = (grades.gain if is_exponential else np.exp2(grades.gain) - 1) / 2.0**highest
            stops = find_stops(self.counts, stop, k)
            self._stops[highest] = far, stops
        return stops.expect(k, len(self.counts.n_ranked))

    def ideal(self, k: int | None, discounts: Array) -> Array:
        """Return the DCG of each user's relevant items, highest gain first, down to k."""
        if self._grades is None:
            # Added one after the other, as those of a ranking are: a perfect one scores exactly 1.
            down_to = np.append(0.0, discounts.cumsum())
            return down_to.take(self.counts.n_relevant, mode="clip")  # the last where R is more
        _, user, position, gain = self._grades
        added = gain * np.append(discounts, 0.0).take(position - 1, mode="clip")
        return sum_by(user, added, len(self.counts.n_ranked))

    def _spread(self, k: int | None) -> tuple[Array, Spread]:
        """Return the ties that have several positions up to k, and these positions."""
        size, above = self.ties.size, self.ties.above
        depth = size if k is None else np.minimum(size, k - above)
        wide = np.flatnonzero(depth > 1)
        return wide, Spread(above[wide], depth[wide])


def defined(values: Array, statistics: RankStatistics, policy: Policy) -> Array:
    """Return values, `zero_division` where there is no relevant item."""
    values[statistics.counts.n_relevant == 0] = policy.zero_division
    return values


def ratio(numerator: Array, denominator: Array, policy: Policy) -> Array:
    """Return the quotients, `zero_division` where the denominator is 0."""
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: nothing is counted where nothing can be
        quotient: Array = numerator / denominator
    if not np.isnan(policy.zero_division):
        quotient[denominator == 0] = policy.zero_division
    return quotient
