"""Metrics that count relevant or judged rows. NumPy only."""

import numpy as np

from recframe.kernel.threads import Array
from recframe.metrics.statistics import Policy, RankStatistics, ratio
from recframe.metrics.ties import expected_hits, find_ties, sum_by


def precision_per_user(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return precision@k for each user: hits@k / k.

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
    >>> recframe.metrics.precision([1, 0, 1], [0.9, 0.8, 0.7], k=2)
    0.5
    """
    numerator, denominator = expected_hits(statistics.counts, k)
    return ratio(numerator, denominator * statistics.rows(k, policy), policy)


def recall_per_user(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return recall@k for each user: hits@k / R.

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
    >>> recframe.metrics.recall_at_k([1, 0, 1], [0.9, 0.8, 0.7], k=2)
    0.5
    """
    numerator, denominator = expected_hits(statistics.counts, k)
    return ratio(numerator, denominator * statistics.counts.n_relevant, policy)


def r_precision_per_user(statistics: RankStatistics, k: None, policy: Policy) -> Array:
    """
    Return R-precision for each user: hits@R / R.

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
    >>> recframe.metrics.r_precision([1, 0, 1], [0.9, 0.8, 0.7])
    0.5
    """
    counts = statistics.counts
    numerator, denominator = expected_hits(counts, counts.n_relevant[counts.user])
    return ratio(numerator, denominator * counts.n_relevant, policy)


def f1_per_user(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return f1@k for each user: 2 hits@k / (k + R).

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
    >>> recframe.metrics.f1([1, 0, 1], [0.9, 0.8, 0.7], k=2)
    0.5
    """
    numerator, denominator = expected_hits(statistics.counts, k)
    n_relevant = statistics.counts.n_relevant
    both = np.where(n_relevant == 0, 0, statistics.rows(k, policy) + n_relevant)
    return ratio(2 * numerator, denominator * both, policy)


def capped_recall_per_user(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return capped_recall@k for each user: hits@k / min(R, k).

    Recall scaled so that a perfect top k scores 1 even if R > k. In [0, 1]; NaN (or
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
    >>> recframe.metrics.capped_recall([1, 0, 1], [0.9, 0.8, 0.7], k=2)
    0.5
    """
    numerator, denominator = expected_hits(statistics.counts, k)
    return ratio(numerator, denominator * np.minimum(statistics.counts.n_relevant, k), policy)


def fall_out_per_user(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return fall_out@k for each user: non-relevant rows up to k / all non-relevant ranked rows.

    The lower the better. In [0, 1]; NaN (or `zero_division`) where all ranked rows are relevant.
    Where R = 0 it is min(k, n) / n, and for a user of truth without a row 0, as nothing wrong is
    listed. Under ``ties="best"`` relevant rows come first here too, which gives the lowest value.

    See Also
    --------
    recall : The same of relevant rows.
    auc : Compares the two at every cut-off.

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
    >>> recframe.metrics.fall_out([1, 0, 0], [0.9, 0.8, 0.7], k=2)
    0.5
    """
    hits, denominator = expected_hits(statistics.counts, k)
    n_ranked = statistics.counts.n_ranked
    n_others = n_ranked - statistics.counts.n_ranked_relevant
    return ratio(np.minimum(n_ranked, k) * denominator - hits, denominator * n_others, policy)


def auc_per_user(statistics: RankStatistics, k: None, policy: Policy) -> Array:
    """
    Return auc for each user: the probability that a relevant row outscores one that is not.

    The area under the ROC curve: of ranked rows only, as others have no score to compare, and a
    tie counts half (J. A. Hanley and B. J. McNeil, Radiology 143, 1982). In [0, 1]; NaN (or
    `zero_division`) where all or none of the ranked rows are relevant.

    See Also
    --------
    average_precision : Counts the first positions most.

    Notes
    -----
    As scikit-learn's ``roc_auc_score`` for each user, and torchmetrics, which has 0 where there is
    no value. RePlay's is that of the first k rows: 0 where none of them is relevant, 1 where all
    are.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 1], "score": [0.9, 0.8, 0.7], "relevant": [1, 0, 1]})
    >>> df.rec.auc()
    auc   score
    user
    1       0.5
    >>> recframe.metrics.auc([1, 0, 1], [0.9, 0.8, 0.7])
    0.5
    """
    n_ranked, _, user, above, tied, n_found, _ = statistics.counts
    # Twice the mean position of a tie is whole, and floats add up whole numbers exactly.
    doubled = 2 * above + tied + 1
    total = np.bincount(user, weights=doubled, minlength=len(n_ranked)).astype(np.int64)
    # Twice the number of pairs in which the relevant row is above the other one.
    wins = 2 * n_found * n_ranked - total - n_found * (n_found - 1)
    return ratio(wins, 2 * n_found * (n_ranked - n_found), policy)


def bpref_per_user(statistics: RankStatistics, k: None, policy: Policy) -> Array:
    """
    Return bpref for each user: the sum of 1 - min(above, R) / min(N, R) over relevant rows / R.

    `above` counts the judged non-relevant rows above a relevant row; N is the number of such items
    of the user, ranked or not. Rows that truth does not hold are ignored, and relevant items that
    are not ranked add 0. In [0, 1]; NaN (or `zero_division`) where R = 0. If N = 0, a relevant row
    adds 1. Without `truth` every row with a relevance is judged (C. Buckley and E. M. Voorhees,
    "Retrieval evaluation with incomplete information", SIGIR 2004).

    See Also
    --------
    judged : The share of the first k rows that truth holds.
    average_precision : Counts rows that truth does not hold as not relevant.

    Notes
    -----
    As in trec_eval and ir_measures (``bpref``, ``Bpref``), which have 0 where R = 0 and take a
    grade below 0 in truth as not judged (as `like` does for both), and ranx, which has no number
    where N = 0. If truth holds relevant items only, it is the recall of the whole ranking. A
    relevant row tied with d others has 0 to d of them above it, each with the same probability.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 1], "score": [0.9, 0.8, 0.7], "relevant": [1, 0, 1]})
    >>> df.rec.bpref()
    bpref  score
    user
    1        0.5
    >>> recframe.metrics.bpref([1, 0, 1], [0.9, 0.8, 0.7])
    0.5
    """
    rows = statistics.judged
    counts = statistics.counts if rows is None else rows.count()
    n_others = counts.n_ranked - counts.n_ranked_relevant
    if rows is not None:
        n_others = n_others + rows.n_others
    n_relevant, ties = counts.n_relevant, find_ties(counts)
    # All relevant rows of a tie have the same other rows above them and tied with them.
    n_above, n_tied = ties.above - ties.n_relevant_above, ties.size - ties.n_relevant
    most = n_relevant[ties.user]
    lost = ties.n_relevant * np.minimum(n_above, most)
    # From none to all of the tied others are above a row, each number with the same probability.
    # At most `most` of them count. `n_below` of these numbers are less than that.
    n_below = np.clip(most - n_above, 0, n_tied + 1)
    total = n_below * n_above + n_below * (n_below - 1) // 2 + (n_tied + 1 - n_below) * most
    more = (total - (n_tied + 1) * np.minimum(n_above, most)) / (n_tied + 1)
    of_tied = ties.n_relevant * more
    # Whole numbers are added first, then the fractions of ties.
    lost_by_user = sum_by(ties.user, lost, len(n_relevant))
    lost_by_user += sum_by(ties.user, of_tied, len(n_relevant))
    of_all = np.maximum(np.minimum(n_relevant, n_others), 1)
    gained = np.maximum(counts.n_ranked_relevant * of_all - lost_by_user, 0)
    return ratio(gained / of_all, n_relevant, policy)


def judged_per_user(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return judged@k for each user: rows among the first k that truth holds / k.

    Truth may hold them as relevant or not; other rows are unjudged and count as not relevant. In
    [0, 1]; without `truth` every row with a relevance is judged. Under ``short="shrink"`` a user
    with n < k ranked rows is divided by n, as in precision.

    See Also
    --------
    bpref : Ignores rows that are not judged.
    precision : Counts them as not relevant.

    Notes
    -----
    As ``Judged@k`` of ir_measures under ``short="shrink"``; there ties go by document name, first
    name first. Under ``ties="best"`` tied rows that truth holds come before others. T. Sakai,
    "Alternatives to bpref", SIGIR 2007, discusses low values.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1], "item": ["a", "b"], "score": [0.9, 0.8]})
    >>> truth = pd.DataFrame({"user": [1, 1], "item": ["b", "c"], "relevant": [0, 1]})
    >>> df.rec(truth=truth).judged(k=2)
    judged@2  score
    user
    1           0.5
    >>> recframe.metrics.judged([1, 0, 1], [0.9, 0.8, 0.7], k=2)
    1.0
    """
    hits = np.minimum(statistics.counts.n_ranked, k)
    denominator = np.ones_like(hits)
    if statistics.judged is not None:
        hits, denominator = statistics.judged.hits[k]
    return ratio(hits, denominator * statistics.rows(k, policy), policy)
