"""Tally: what the definitions read of the counts, each made when first asked for. NumPy only."""

from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np

from recframe.kernel.counting import Counts
from recframe.kernel.grouping import Array
from recframe.metrics.hits import Hits, expected_hits
from recframe.metrics.ideal import Grades
from recframe.metrics.positions import (
    Positions,
    all_positions,
    first_positions,
    last_of_first,
    sum_by,
)


class Tally:
    """The counts of users, and what several metrics need of them.

    Parameters
    ----------
    counts : Counts
        What was counted.
    cut_offs : iterable of int
        All that will be asked for.
    grades : Grades, default None
        The gains of relevant items; None: each is 1.
    hits : mapping, default None
        What `hits` returns for each cut-off, where that has been counted already.
    """

    def __init__(
        self,
        counts: Counts,
        cut_offs: Iterable[int] = (),
        grades: Grades | None = None,
        hits: Mapping[int, Hits] | None = None,
    ) -> None:
        self.counts = counts
        self._cut_offs = np.unique(np.fromiter(cut_offs, np.int64))
        self._grades = grades
        self._hits = dict(hits or {})
        # Those down to the last cut-off serve every cut-off; None: those of all positions.
        self._positions: dict[int | None, Positions] = {}
        self._first_positions: dict[int | None, Positions] = {}
        self._discounts: dict[int | None, Array] = {}

    def hits(self, k: int) -> Hits:
        """Return the relevant rows among the first k, as numerator and denominator."""
        if not self._hits:
            pairs = zip(*expected_hits(self.counts, self._cut_offs[:, None]), strict=True)
            self._hits = dict(zip(self._cut_offs.tolist(), pairs, strict=True))
        return self._hits[k]

    @cached_property
    def hits_at_n_relevant(self) -> Hits:
        """The relevant rows among the first R, as numerator and denominator."""
        numerator, denominator = expected_hits(self.counts, self.counts.n_relevant[None])
        return numerator[0], denominator[0]

    def positions(self, k: int | None) -> Positions:
        """Return the positions of relevant rows, down to k at least."""
        last = self._last(k)
        if last not in self._positions:
            ranked = None if self._grades is None else self._grades.ranked
            self._positions[last] = all_positions(self.counts, last, ranked)
        return self._positions[last]

    def first_positions(self, k: int | None) -> Positions:
        """Return the positions of each user's first relevant row, down to k at least."""
        last = self._last(k)
        if last not in self._first_positions:
            self._first_positions[last] = first_positions(self.counts, last)
        return self._first_positions[last]

    @cached_property
    def last_of_first(self) -> Array:
        """The last position each user's first relevant row may have; 0 where there is none."""
        return last_of_first(self.counts)

    def discounts(self, k: int | None) -> Array:
        """Return 1 / log2(1 + position), which nDCG multiplies gains with, by position; 0 at 0."""
        last = self._last(k)
        if last not in self._discounts:
            n_relevant, n_ranked = self.counts.n_relevant, self.counts.n_ranked
            longest = int(max(n_relevant.max(initial=0), n_ranked.max(initial=0)))
            stop = longest if last is None else min(longest, last)
            discounts = np.zeros(stop + 1)
            discounts[1:] = 1 / np.log2(np.arange(2, stop + 2))
            self._discounts[last] = discounts
        return self._discounts[last]

    def ideal(self, k: int | None) -> Array:
        """Return the DCG of each user's relevant items, highest gain first, down to k."""
        n_relevant, discounts = self.counts.n_relevant, self.discounts(k)
        if self._grades is None:
            deepest = n_relevant if k is None else np.minimum(n_relevant, k)
            # Added one after the other, as those of a ranking are: a perfect one scores exactly 1.
            ideal: Array = discounts.cumsum()[deepest]
            return ideal
        _, user, position, gain = self._grades
        if k is not None:
            inside = np.flatnonzero(position <= k)
            user, position, gain = user[inside], position[inside], gain[inside]
        return sum_by(user, gain * discounts[position], len(n_relevant))

    def _last(self, k: int | None) -> int | None:
        """Return the last cut-off asked for, None without a cut-off."""
        return None if k is None else int(self._cut_offs[-1])
