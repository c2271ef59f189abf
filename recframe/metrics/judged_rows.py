"""Judged rows: those that truth holds, relevant or not, counted when asked for. NumPy only."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from recframe.kernel.counting import Counts, Depth, count
from recframe.kernel.grouping import group_offsets, sum_by_user
from recframe.kernel.pieces import whole
from recframe.kernel.rankings import Rankings, TieRule
from recframe.kernel.threads import Array
from recframe.metrics.hits import Hits, expected_hits


class JudgedRows:
    """What is counted of the rows of rankings that truth holds.

    Where relevant rows come first of a tie, other judged ones come next, as that is the best for
    what counts them; where last, before them.
    """

    def __init__(self, rankings: Rankings, rule: TieRule, cut_offs: Sequence[int]) -> None:
        self._rankings = rankings
        self._rule = rule
        self._cut_offs = cut_offs

    @cached_property
    def _rows(self) -> Array | None:
        judged = self._rankings.judged
        return None if judged is None else judged.rows

    @cached_property
    def hits(self) -> dict[int, Hits]:
        """The judged rows among the first, as numerator and denominator, by cut-off."""
        sizes = np.diff(self._rankings.offsets)
        if self._rows is None:
            return {k: (np.minimum(sizes, k), np.ones_like(sizes)) for k in self._cut_offs}
        none = np.zeros_like(sizes)
        rankings = Rankings(self._rankings.scores, self._rows, self._rankings.offsets, none)
        depth = Depth(self._cut_offs[-1], at_n_relevant=False)
        return dict(expected_hits(count(rankings, self._rule, depth), self._cut_offs))

    def count(self, counts: Counts) -> Counts:
        """Return the counts of relevant rows among judged ones only, given those among all."""
        if self._rows is None:
            return counts
        scores, relevant, offsets, n_unranked, *_ = self._rankings
        own = group_offsets(sum_by_user(self._rows, offsets))
        kept = Rankings(whole(scores)[self._rows], relevant[self._rows], own, n_unranked)
        return count(kept, self._rule)

    @property
    def n_others(self) -> Array | int:
        """The items of each user that truth holds, not relevant and not ranked."""
        judged = self._rankings.judged
        return 0 if judged is None else judged.n_others
