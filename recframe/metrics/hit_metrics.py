"""Metrics that count hits, the relevant rows among the first ones. NumPy only."""

import numpy as np

from recframe.kernel.threads import Array
from recframe.metrics.registry import Definition, Policy, ratio
from recframe.metrics.statistics import RankStatistics


def precision(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return precision@k = hits@k / k of every user.

    hits@k is the number of relevant rows among the first k of the user's ranking. In [0, 1]; 0
    for a user without relevant items. Under ``short="shrink"`` a user with n < k ranked rows is
    divided by n, and with n = 0 the value is NaN (or `zero_division`).

    See Also
    --------
    recall : The same hits divided by the relevant items of the user.

    Notes
    -----
    As in trec_eval (``P_k``), ranx, RecTools, RePlay and torchmetrics. LensKit divides by
    min(k, n), and has NaN for an empty list.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> df.rec.precision(k=1)
    precision@1  score
    user
    1              0.0
    2              1.0
    """
    numerator, denominator = statistics.hits(k)
    return ratio(numerator, denominator * rows_at(statistics, k, policy), policy)


def recall(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return recall@k = hits@k / R of every user.

    hits@k is the number of relevant rows among the first k of the user's ranking, R that of all
    relevant items of the user, ranked or not. In [0, 1]; NaN (or `zero_division`) where R = 0.

    See Also
    --------
    precision : The same hits divided by k.
    capped_recall : The same hits divided by min(R, k).

    Notes
    -----
    As in trec_eval (``recall_k``), ranx, RecTools, RePlay and torchmetrics. LensKit divides by
    min(R, k), which is `capped_recall`.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [1, 1, 1]})
    >>> df.rec.recall(k=1)
    recall@1  score
    user
    1           0.5
    2           1.0
    """
    numerator, denominator = statistics.hits(k)
    return ratio(numerator, denominator * statistics.counts.n_relevant, policy)


def r_precision(statistics: RankStatistics, k: None, policy: Policy) -> Array:
    """
    Return R-precision = hits@R / R of every user.

    R is the number of relevant items of the user, hits@R that of relevant rows among the first R
    of the user's ranking. In [0, 1]; NaN (or `zero_division`) where R = 0.

    See Also
    --------
    precision : The precision at a cut-off of one's choice.

    Notes
    -----
    As in trec_eval (``Rprec``), ranx and torchmetrics. What RecTools calls R-precision is hits@k
    divided by min(R, k), which is `capped_recall`.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> df.rec.r_precision()
    r_precision  score
    user
    1              0.0
    2              1.0
    """
    numerator, denominator = statistics.hits_at_n_relevant
    return ratio(numerator, denominator * statistics.counts.n_relevant, policy)


def f1(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return f1@k = 2 hits@k / (k + R) of every user.

    The harmonic mean of precision@k and recall@k (C. J. van Rijsbergen, "Information Retrieval",
    1979), but not of their means over users. In [0, 1]; NaN (or `zero_division`) where R = 0. Under
    ``short="shrink"`` k is min(k, n), as in precision.

    See Also
    --------
    precision : The hits divided by k.
    recall : The hits divided by R.

    Notes
    -----
    As in ranx and RecTools (``F1Beta``). Trec_eval has it of whole lists only (``set_F``).

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [1, 1, 1]})
    >>> df.rec.f1(k=1)
    f1@1     score
    user
    1     0.666667
    2     1.000000
    """
    numerator, denominator = statistics.hits(k)
    n_relevant = statistics.counts.n_relevant
    both = np.where(n_relevant == 0, 0, rows_at(statistics, k, policy) + n_relevant)
    return ratio(2 * numerator, denominator * both, policy)


def capped_recall(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return capped_recall@k = hits@k / min(R, k) of every user.

    A recall that is 1 where all that fits among the first k is relevant. In [0, 1]; NaN (or
    `zero_division`) where R = 0.

    See Also
    --------
    recall : The same hits divided by R.

    Notes
    -----
    As in BEIR (``R_cap@k``). LensKit calls it recall, and RecTools R-precision.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [1, 1, 1]})
    >>> df.rec.capped_recall(k=1)
    capped_recall@1  score
    user
    1                  1.0
    2                  1.0
    """
    numerator, denominator = statistics.hits(k)
    return ratio(numerator, denominator * np.minimum(statistics.counts.n_relevant, k), policy)


def fall_out(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return fall_out@k = rows up to k that are not relevant / all such ranked rows of every user.

    The lower the better. In [0, 1]; NaN (or `zero_division`) where all ranked rows are relevant.
    Where R = 0 it is min(k, n) / n, and for a user of truth without a row 0, as nothing wrong is
    listed, or NaN under ``absent="drop"``. Under ``ties="best"`` relevant rows come first here
    too, which gives the lowest value.

    See Also
    --------
    recall : The same of relevant rows.
    auc : What compares the two at every cut-off.

    Notes
    -----
    C. D. Manning, P. Raghavan and H. Schütze, "Introduction to Information Retrieval", 2008,
    chapter 8: the false positive rate. As in torchmetrics (``retrieval_fall_out``), which has 0
    where all rows are relevant. Rows that truth does not hold are not relevant.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 1], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 0]})
    >>> df.rec.fall_out(k=1)
    fall_out@1  score
    user
    1             0.5
    """
    hits, denominator = statistics.hits(k)
    n_ranked = statistics.counts.n_ranked
    n_others = n_ranked - statistics.counts.n_ranked_relevant
    return ratio(np.minimum(n_ranked, k) * denominator - hits, denominator * n_others, policy)


def rows_at(statistics: RankStatistics, k: int, policy: Policy) -> Array | int:
    """Return how many rows precision@k looks at."""
    return np.minimum(k, statistics.counts.n_ranked) if policy.short == "shrink" else k


HIT_METRICS = {
    "precision": Definition(precision, "needed", zero_without_relevant=True),
    "recall": Definition(recall, "needed"),
    "r_precision": Definition(r_precision, "none", at_n_relevant=True),
    "f1": Definition(f1, "needed"),
    "capped_recall": Definition(capped_recall, "needed"),
    "fall_out": Definition(fall_out, "needed", better="low"),
}
