"""Metrics that read a column of the ranked rows. NumPy only."""

import numpy as np

from recframe.kernel.threads import Array
from recframe.metrics.statistics import Policy, RankStatistics, ratio


def mean_per_user(statistics: RankStatistics, k: int, policy: Policy, *, column: str) -> Array:
    """
    Return mean(COLUMN)@k for each user: the sum of a column over the first k rows / k.

    Each row tied across the cut adds its value times its chance to be above it. Missing rows add 0;
    under ``short="shrink"`` a user with n < k ranked rows is divided by n, and with n = 0 the value
    is NaN (or `zero_division`), with truth too. `recframe.evaluate` explains the name.

    See Also
    --------
    precision : The mean of relevance.

    Notes
    -----
    Popularity, novelty, the share of the long tail, of unseen or of unexpected items and revenue
    are means of a column: see `recframe.RecAccessor.evaluate`.
    """
    numerator, denominator = statistics.sums[("mean", column), k]
    return ratio(numerator, denominator * statistics.rows(k, policy), policy)


def share_per_user(statistics: RankStatistics, k: int, policy: Policy, *, column: str) -> Array:
    """
    Return share(COLUMN)@k for each user: a column's sum over the first k rows / over all rows.

    All rows of the user count in the denominator, ranked or not; items of truth without a row have
    no value. In [0, 1]; NaN (or `zero_division`) where all rows sum to 0. No value is negative.
    Each row tied across the cut adds its value times its chance to be above it.

    See Also
    --------
    recall : The share of relevant items, those without a row included.
    mean : The sum over the first k rows / k.

    Notes
    -----
    With relevance / propensity as the column it is recall weighted by inverse propensity (L. Yang
    et al., "Unbiased offline recommender evaluation for missing-not-at-random implicit feedback",
    RecSys 2018).
    """
    # Fractions of tied rows may exceed the sum of all rows in the last bit.
    return np.minimum(ratio(*statistics.sums[("share", column), k], policy), 1.0)


def diversity_per_user(statistics: RankStatistics, k: int, policy: Policy, *, column: str) -> Array:
    """
    Return diversity(COLUMN)@k = share of pairs up to k that differ, or mean 1 - cosine of vectors.

    A column of categories has pairs of equal or of different values. Vectors of numbers differ by
    1 - their cosine. The value of a user is the mean over pairs. Pairs with a missing row add 0;
    under ``short="shrink"`` a user with n < k ranked rows has the pairs of n rows. In [0, 1] for
    categories, [0, 2] for vectors; NaN (or `zero_division`) for users without a pair. k is 2 or
    more.

    See Also
    --------
    mean : The mean of a column.

    Notes
    -----
    Intra-list diversity (B. Smyth and P. McClave, "Similarity vs. diversity", ICCBR 2001). As in
    RecTools (``IntraListDiversity`` of one feature) under ``short="shrink"``; a list of one row has
    0 there.
    """
    numerator, denominator = statistics.sums[("diversity", column), k]
    rows = statistics.rows(k, policy)
    return ratio(numerator, denominator * (rows * (rows - 1) // 2), policy)
