"""Pairs of score columns that are compared: which, and the values of each, metric by metric."""

from collections.abc import Hashable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.display import WideTable
from recframe.errors import RecframeError, as_text, quote
from recframe.frames.names import is_same
from recframe.kernel.threads import Array


class ScorePairs(NamedTuple):
    """What is compared with what, as positions of score columns.

    Parameters
    ----------
    per_user : DataFrame
        A row for each user, a column for each score and metric, all metrics of each score.
    pairs : list of (int, int)
        The baseline and the other score of each pair.
    are_several : bool
        Whether rows are told apart by their baselines too.
    """

    per_user: pd.DataFrame
    pairs: list[tuple[int, int]]
    are_several: bool

    def columns(self) -> Iterator[tuple[Array, Array]]:
        """Yield the values of a score and of its baseline, pair by pair, metric by metric."""
        values = self._values()
        for base, other in self.pairs:
            yield from zip(values[other], values[base], strict=True)

    def labels(self) -> list[Any]:
        """Return the metric of each row."""
        return list(self.per_user.columns.unique("metric")) * len(self.pairs)

    def table(self, rows: list[dict[str, Any]]) -> pd.DataFrame:
        """Return a table of a row for each pair and metric."""
        scores, metrics = self._scores(), self.per_user.columns.unique("metric")
        levels: list[Any] = [pd.Index(scores, tupleize_cols=False)] * 2 + [metrics]
        base, other = np.repeat(self.pairs, len(metrics), axis=0).T.tolist()
        metric = list(range(len(metrics))) * len(self.pairs)
        names = ["baseline", "score", "metric"]
        index = pd.MultiIndex(levels, [base, other, metric], names=names).remove_unused_levels()
        table = pd.DataFrame(rows, index=index)
        if not self.are_several:
            table = table.droplevel("baseline")
            table.columns.name = f"baseline: {as_text(scores[self.pairs[0][0]])}"
        return WideTable(table)

    def _scores(self) -> list[Hashable]:
        return list(self.per_user.columns.unique("score"))

    def _values(self) -> Array:
        """Return the values by score, metric and user."""
        shape = len(self._scores()), len(self.per_user.columns.unique("metric")), len(self.per_user)
        values: Array = self.per_user.to_numpy().T.reshape(shape)
        return values


def find_pairs(per_user: pd.DataFrame, baseline: Any) -> ScorePairs:
    """Return the pairs that a baseline means; raise where nothing can be compared.

    It may be pairs already, which no one baseline means.
    """
    if isinstance(baseline, ScorePairs):
        return baseline
    scores = list[Hashable](per_user.columns.unique("score"))
    if len(scores) < 2:
        raise RecframeError(
            f"compare needs two score columns or more, found {quote(scores)}; pass score= a list "
            "of them"
        )
    is_all = isinstance(baseline, str) and baseline == "all" and baseline not in scores
    if is_all:
        return ScorePairs(per_user, list(combinations(range(len(scores)), 2)), are_several=True)
    given = baseline if isinstance(baseline, list) else [baseline]
    if not given:
        raise RecframeError("baseline must name a score column at least, found []")
    bases = [_find_baseline(scores, one) for one in given]
    pairs: list[tuple[int, int]] = []
    for base in dict.fromkeys(bases):
        others = (other for other in range(len(scores)) if other != base)
        # Two baselines are compared once.
        pairs += [(base, other) for other in others if (other, base) not in pairs]
    return ScorePairs(per_user, pairs, are_several=isinstance(baseline, list))


def _find_baseline(scores: list[Hashable], baseline: Any) -> int:
    """Return the position of a baseline, 0 for None."""
    if baseline is None:
        return 0
    for position, score in enumerate(scores):
        if is_same(score, baseline):
            return position
    raise RecframeError(
        f"baseline must be a score column, one of {quote(scores)}, a list of them or 'all', found "
        f"{quote(baseline)}"
    )
