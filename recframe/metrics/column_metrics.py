"""Metrics of a column: what its values add up to over the first rows. NumPy only."""

from collections.abc import Mapping

import numpy as np

from recframe.kernel.first_rows import FirstRows, find_each
from recframe.kernel.rankings import Rankings, TieRule
from recframe.kernel.runs import sum_runs
from recframe.kernel.threads import Array
from recframe.metrics.registry import Definition, Policy, ratio
from recframe.metrics.statistics import RankStatistics, Sum


def mean(statistics: RankStatistics, k: int, policy: Policy, *, column: str) -> Array:
    """
    Return mean(COLUMN)@k = the sum of a column over the first k rows / k, of every user.

    The column is numeric or boolean, True being 1; it is named as in ``mean(price)@10``, or in
    quotes, with those inside doubled, where its name has brackets, commas, quotes, @ or =. Which
    rows are relevant does not count. Of the rows tied across the cut each adds its chance to be
    above it times its value. Rows that are not there add 0; under ``short="shrink"`` a user with
    n < k ranked rows is divided by n, and with n = 0 the value is NaN (or `zero_division`).

    See Also
    --------
    precision : The mean of relevance.

    Notes
    -----
    Popularity, novelty, the share of the long tail, of unseen or of unexpected items and revenue
    are means of a column: see `recframe.RecAccessor.evaluate`.
    """
    numerator, denominator = statistics.sums[column, k]
    depth = np.minimum(k, statistics.counts.n_ranked) if policy.short == "shrink" else k
    return ratio(numerator, denominator * depth, policy)


def sum_columns(
    rankings: Rankings, rule: TieRule, cut_offs: tuple[int, ...], columns: Mapping[str, Array]
) -> dict[tuple[str, int], Sum]:
    """Return the expected sum of each column over the first rows at each cut-off, by user.

    The columns hold a value for each row of the rankings. The sum is a numerator and a denominator,
    so that of whole numbers the mean is the float nearest to the exact one.
    """
    n_users, sums = len(rankings.offsets) - 1, {}
    for k, first in zip(cut_offs, find_each(rankings, rule, cut_offs), strict=True):
        for name, values in columns.items():
            sums[name, k] = _sum(first, values[first.row], n_users)
    return sums


def _sum(first: FirstRows, values: Array, n_users: int) -> Sum:
    """Return the expected sum of the values of first rows, by user."""
    _, user, chosen, among = first
    is_cut = among > 1
    if not is_cut.any():
        n_rows = np.bincount(user, minlength=n_users)
        return sum_runs(values, n_rows), np.broadcast_to(np.int64(1), n_users)
    whole, part = (
        sum_runs(values[some], np.bincount(user[some], minlength=n_users))
        for some in (np.flatnonzero(~is_cut), np.flatnonzero(is_cut))
    )
    # Of each user one group of rows at most is cut, all of the same chance.
    numerators, denominators = np.zeros(n_users, np.int64), np.ones(n_users, np.int64)
    numerators[user[is_cut]], denominators[user[is_cut]] = chosen[is_cut], among[is_cut]
    return whole * denominators + part * numerators, denominators


COLUMN_METRICS = {
    "mean": Definition(
        mean,
        "needed",
        of_column=True,
        zero_without_relevant=True,
        is_bounded=False,
        better="unknown",
    )
}
