"""Metrics of the positions that relevant rows stand at. NumPy only."""

import numpy as np

from recframe.kernel.threads import Array
from recframe.metrics.falling import PrecisionTerms, Terms, reciprocal
from recframe.metrics.hits import probability_of_all
from recframe.metrics.registry import Definition, Policy, defined, ratio
from recframe.metrics.statistics import RankStatistics


def hit_rate(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return hit_rate@k = 1 if hits@k > 0 else 0 of every user.

    In [0, 1]; NaN (or `zero_division`) where R = 0. In a tie across the cut it is the probability
    of a hit, one minus the hypergeometric probability of none.

    See Also
    --------
    reciprocal_rank : How far up the first hit is.

    Notes
    -----
    As in trec_eval (``success_k``), ranx and torchmetrics, which score 0 where R = 0, and LensKit,
    RecTools and RePlay, which have no value there.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> df.rec.hit_rate(k=1)
    hit_rate@1  score
    user
    1             0.0
    2             1.0
    """

    def find(last: int | None) -> Terms:
        return Terms(statistics.first_positions(last), np.ones_like)

    # Probabilities that are added up may miss 1 by a bit.
    probability = np.minimum(statistics.sum("first", k, find), 1.0)
    probability[(statistics.last_of_first > 0) & (statistics.last_of_first <= k)] = 1.0
    return defined(probability, statistics, policy)


def all_relevant(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return all_relevant@k = 1 if every relevant item is among the first k, else 0 of every user.

    For questions that only all the evidence together answers, as in multi-hop retrieval. In [0, 1];
    0 where a relevant item is not ranked, or R > k, and NaN (or `zero_division`) where R = 0. In a
    tie across the cut it is the hypergeometric probability that none is left below.

    See Also
    --------
    hit_rate : 1 if any relevant item is.
    recall : The share of them that is.

    Notes
    -----
    Recall@k where it is 1, and 0 elsewhere. Trec_eval, ir_measures and ranx do not have it.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [1, 1, 1]})
    >>> df.rec.all_relevant(k=1)
    all_relevant@1  score
    user
    1                 0.0
    2                 1.0
    """
    probability = probability_of_all(statistics.counts, k, statistics.hits(k))
    return defined(probability, statistics, policy)


def reciprocal_rank(statistics: RankStatistics, k: int | None, policy: Policy) -> Array:
    """
    Return reciprocal_rank = 1 / the position of the first relevant row of every user.

    In [0, 1]; 0 where that row is beyond k, or none is ranked, and NaN (or `zero_division`) where
    R = 0 (E. M. Voorhees, "The TREC-8 question answering track report", 1999).

    See Also
    --------
    average_precision : What counts every relevant row.

    Notes
    -----
    As in trec_eval (``recip_rank``), which has no cut-off, ranx and torchmetrics, which score 0
    where R = 0, and LensKit, RecTools and RePlay, which have no value there. The ``RR@k`` of
    ir_measures is not trec_eval's: its ties go by document name in the other direction.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> df.rec.reciprocal_rank()
    reciprocal_rank  score
    user
    1                  0.5
    2                  1.0
    """

    def find(last: int | None) -> Terms:
        return Terms(statistics.first_positions(last), reciprocal)

    return defined(statistics.sum("reciprocal of first", k, find), statistics, policy)


def average_precision(statistics: RankStatistics, k: int | None, policy: Policy) -> Array:
    """
    Return average_precision = the sum of precision at each relevant row / R of every user.

    Relevant items that are beyond k or not ranked add 0. In [0, 1]; NaN (or `zero_division`) where
    R = 0 (C. Buckley and E. M. Voorhees, "Evaluating evaluation measure stability", SIGIR 2000).

    See Also
    --------
    ndcg : What gives lower positions less weight in another way.

    Notes
    -----
    As in trec_eval (``map``, ``map_cut_k``), ranx and RecTools. In place of R, RePlay divides by
    min(R, k), LensKit by min(R, k, n) and torchmetrics by hits@k. Scikit-learn takes a tie as one
    step.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> df.rec.average_precision()
    average_precision  score
    user
    1                    0.5
    2                    1.0
    """

    def find(last: int | None) -> Terms:
        return PrecisionTerms(statistics.positions(last))

    return ratio(statistics.sum("precision", k, find), statistics.n_relevant, policy)


def auc(statistics: RankStatistics, k: None, policy: Policy) -> Array:
    """
    Return auc = the probability that a relevant row outscores one that is not, of every user.

    The area under the ROC curve: of ranked rows only, as others have no score to compare, and a
    tie counts half (J. A. Hanley and B. J. McNeil, Radiology 143, 1982). In [0, 1]; NaN (or
    `zero_division`) where all or none of the ranked rows are relevant.

    See Also
    --------
    average_precision : What counts the first positions most.

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
    """
    n_ranked, _, user, above, tied, n_found = statistics.counts
    # Twice the mean position of a tie is whole, and floats add up whole numbers exactly.
    doubled = 2 * above + tied + 1
    total = np.bincount(user, weights=doubled, minlength=len(n_ranked)).astype(np.int64)
    # Rows below the relevant ones, twice, without the relevant ones among them.
    wins = 2 * n_found * n_ranked - total - n_found * (n_found - 1)
    return ratio(wins, 2 * n_found * (n_ranked - n_found), policy)


POSITION_METRICS = {
    "hit_rate": Definition(hit_rate, "needed"),
    "all_relevant": Definition(all_relevant, "needed"),
    "reciprocal_rank": Definition(reciprocal_rank, "optional"),
    "average_precision": Definition(average_precision, "optional"),
    "auc": Definition(auc, "none"),
}
