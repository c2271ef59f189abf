"""Statistics: what the definitions read of the counts, made when first asked for. NumPy only."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Self, TypeVar

import numpy as np

from recframe.errors import RecframeError
from recframe.kernel.counting import Counts
from recframe.kernel.threads import Array
from recframe.metrics.falling import Falling, Terms, falling_sums
from recframe.metrics.first_positions import first_positions, first_ties
from recframe.metrics.hits import Hits, expected_hits, expected_hits_at
from recframe.metrics.ideal import Grades
from recframe.metrics.judged_rows import JudgedRows
from recframe.metrics.positions import Positions, all_positions, sum_by
from recframe.metrics.stops import stop_positions

Made = TypeVar("Made")
Sum = tuple[Array, Array]  # of every user, as numerator and denominator


class RankStatistics:
    """The counts of users, and what several metrics need of them.

    `cut_offs` are all that will be asked for, each once, in increasing order. Without `grades` the
    gain of every relevant item is 1, and without `judged` every row is. `sums` are those of columns
    over the first rows, by the name of the column and the cut-off.
    """

    def __init__(
        self,
        counts: Counts,
        cut_offs: Sequence[int] = (),
        grades: Grades | None = None,
        sums: Mapping[tuple[str, int], Sum] = MappingProxyType({}),
        judged: JudgedRows | None = None,
    ) -> None:
        self.counts = counts
        self.sums = sums
        self._cut_offs = cut_offs
        self._grades = grades
        self._judged = judged
        self._hits = Falling(partial(expected_hits, counts), cut_offs)
        self._sums: dict[Hashable, Falling[Array]] = {}
        self._last: dict[Hashable, tuple[float, Positions]] = {}
        self._made: dict[tuple[object, int | None, Any], Any] = {}

    @classmethod
    def of_hits(cls, n_ranked: Array, n_relevant: Array, k: int, hits: Array) -> Self:
        """Return statistics of users of whom only the hits among the first k are known."""
        none = np.empty(0, np.int64)
        statistics = cls(Counts(n_ranked, n_relevant, none, none, none, n_relevant), (k,))
        statistics._hits = Falling(lambda _: iter([(k, (hits, np.ones_like(hits)))]), (k,))
        return statistics

    def hits(self, k: int) -> Hits:
        """Return the relevant rows among the first k, as numerator and denominator."""
        return self._hits.at(k)

    @cached_property
    def n_relevant(self) -> Array:
        """The relevant items of users (R) as floats, by which floats are divided twice as fast."""
        return self.counts.n_relevant.astype(np.float64)

    @cached_property
    def hits_at_n_relevant(self) -> Hits:
        """The relevant rows among the first R, as numerator and denominator."""
        return expected_hits_at(self.counts, self.counts.n_relevant)

    def judged_hits(self, k: int) -> Hits:
        """Return the judged rows among the first k, as numerator and denominator."""
        if self._judged is not None:
            return self._judged.hits[k]
        n_ranked = self.counts.n_ranked
        return np.minimum(n_ranked, k), np.ones_like(n_ranked)

    @cached_property
    def among_judged(self) -> tuple[Counts, Array]:
        """The counts of relevant rows among judged ones; judged items that are not relevant."""
        counts, judged = self.counts, self._judged
        if judged is not None:
            counts = judged.count(counts)
        n_others = counts.n_ranked - counts.n_ranked_relevant
        return counts, n_others if judged is None else n_others + judged.n_others

    def positions(self, k: int | None) -> Positions:
        """Return the positions of relevant rows up to k."""
        gain = None if self._grades is None else self._grades.gain
        return self._up_to(k, "all", lambda: all_positions(self.counts, k, gain))

    def first_positions(self, k: int | None) -> Positions:
        """Return the positions of each user's first relevant row up to k."""
        return self._up_to(k, "first", lambda: first_positions(self.counts, k, *self._first_ties))

    @cached_property
    def _first_ties(self) -> tuple[Array, Array]:
        return first_ties(self.counts)

    @cached_property
    def last_of_first(self) -> Array:
        """The last position each user's first relevant row may have; 0 where there is none."""
        _, n_relevant, user, above, tied, _ = self.counts
        first, n_in_tie = self._first_ties
        position = np.zeros(len(n_relevant), np.int64)
        position[user[first]] = above[first] + tied[first] - n_in_tie + 1
        return position

    def discounts(self, k: int | None, offset: float) -> Array:
        """Return 1 / max(1, log2(offset + position)), which DCG multiplies gains with, by position.

        At 0 it is 0.
        """
        return self._make(_discounts, k, offset, key=offset)

    def gained(self, k: int | None, offset: float) -> Array:
        """Return the DCG of each user's relevant rows up to k."""

        def find(last: int | None) -> Terms:
            found, discounts = self.positions(last), self.discounts(last, offset)
            return Terms(found, discounts.take, found.gain)

        return self.sum(("gained", offset), k, find)

    def sum(self, key: Hashable, k: int | None, find: Callable[[int | None], Terms]) -> Array:
        """Return by user what spans of positions up to k add, found down to the last cut-off.

        The key says which terms they are.
        """
        if k is None:
            if (key, k, None) not in self._made:
                self._made[key, k, None] = find(k).sum()
            whole: Array = self._made[key, k, None]
            return whole.copy()
        if key not in self._sums or k > self._sums[key].cut_offs[-1]:
            cut_offs = [*(cut_off for cut_off in self._cut_offs if cut_off < k), k]
            self._sums[key] = Falling(partial(falling_sums, find(k)), cut_offs)
        return self._sums[key].at(k).copy()

    def powers(self, k: int | None, p: float) -> Array:
        """Return (1 - p) p^(position - 1), which RBP adds up, by position; at 0 it is 0."""
        return self._make(_powers, k, p, key=p)

    def stops(self, k: int | None, highest: float, *, is_exponential: bool) -> Positions:
        """Return where up to k one stops whom a row satisfies with (2^grade - 1) / 2^highest.

        Gains are grades, or exponential in them. Raise where a grade is above the highest.
        """

        def find() -> Positions:
            return stop_positions(self.counts, k, self._stop(highest, is_exponential))

        return self._up_to(k, ("stops", highest), find)

    def _stop(self, highest: float, is_exponential: bool) -> Array:
        """Return how probably one stops at each counted row."""
        grades = self._grades
        if grades is None:
            return np.broadcast_to(2.0**-highest, len(self.counts.user))
        found = grades.ideal.max(initial=0)
        found = np.log2(found + 1) if is_exponential else found
        if found > highest * (1 + 1e-12):
            raise RecframeError(
                f"err(max={highest:g}): max must be the highest grade that there can be, found "
                f"grade {found:g}; pass max={found:g} or more"
            )
        stop: Array = (grades.gain if is_exponential else np.exp2(grades.gain) - 1) / 2.0**highest
        return stop

    def ideal(self, k: int | None, offset: float) -> Array:
        """Return the DCG of each user's relevant items, highest gain first, down to k."""
        n_relevant, discounts = self.counts.n_relevant, self.discounts(k, offset)
        if self._grades is None:
            # Added one after the other, as those of a ranking are: a perfect one scores exactly 1.
            down_to = discounts[: None if k is None else k + 1].cumsum()
            return down_to.take(n_relevant, mode="clip")  # the last one where R is more
        user, position, terms = self._make(_ideal_terms, k, self._grades, discounts, key=offset)
        # Zeros that follow change no bit of a sum.
        return sum_by(user, terms if k is None else terms * (position <= k), len(n_relevant))

    def _up_to(self, k: int | None, key: Hashable, find: Callable[[], Positions]) -> Positions:
        """Return the positions up to k (all: None) of a kind: found, or cut off from the last ones.

        These go down as far if the whole ranking, and then the largest cut-off, comes first.
        """
        far = np.inf if k is None else k
        last, found = self._last.get(key, (0, None))
        if found is None or far > last:
            found = find()
        elif k is not None and far < last:
            found = found.up_to(k)
        self._last[key] = far, found
        return found

    def _make(
        self, function: Callable[..., Made], k: int | None, *arguments: object, key: object = None
    ) -> Made:
        """Return what a function makes of the counts, once for all that is asked for.

        Where its arguments are not always the same, the key tells them apart.
        """
        # What goes down to the last cut-off serves every cut-off; None: to the end.
        last = None if k is None else self._cut_offs[-1]
        if (function, last, key) not in self._made:
            self._made[function, last, key] = function(self.counts, last, *arguments)
        made: Made = self._made[function, last, key]
        return made


def _discounts(counts: Counts, last: int | None, offset: float) -> Array:
    """Return the discounts down to the last position, or to the last that there is."""
    return np.append(0.0, 1 / np.log2(np.maximum(2, _positions(counts, last) + offset)))


def _ideal_terms(
    counts: Counts, last: int | None, grades: Grades, discounts: Array
) -> tuple[Array, Array, Array]:
    """Return users, positions down to the last, and discounted gains, of ideal rankings."""
    _, user, position, gain = grades
    if last is not None:
        inside = np.flatnonzero(position <= last)
        user, position, gain = user[inside], position[inside], gain[inside]
    return user, position, gain * discounts[position]


def _powers(counts: Counts, last: int | None, p: float) -> Array:
    """Return what RBP adds up down to the last position, or to the last that there is."""
    return np.append(0.0, (1 - p) * p ** (_positions(counts, last) - 1.0))


def _positions(counts: Counts, last: int | None) -> Array:
    """Return the positions from 1 to the last, or to the last that a relevant item may have."""
    longest = int(max(counts.n_relevant.max(initial=0), counts.n_ranked.max(initial=0)))
    return np.arange(1, 1 + (longest if last is None else min(longest, last)))
