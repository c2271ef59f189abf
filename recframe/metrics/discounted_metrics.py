"""Metrics that give lower positions less weight, by a discount or a persistence. NumPy only."""

import numpy as np

from recframe.kernel.threads import Array
from recframe.metrics.falling import Terms, reciprocal
from recframe.metrics.registry import Definition, Parameter, Policy, ratio
from recframe.metrics.statistics import RankStatistics


def ndcg(statistics: RankStatistics, k: int | None, policy: Policy, *, offset: float = 1) -> Array:
    """
    Return ndcg = the sum of gain / log2(1 + position), divided by its ideal, of every user.

    The sum is over relevant rows up to k; the ideal ranks all relevant items of the user, listed
    or not, highest gain first. With `min_relevance` a row's gain is its relevance, or
    2^relevance - 1 under ``gain="exponential"``; else it is 1. In [0, 1]; NaN (or `zero_division`)
    where nothing can be gained, as where R = 0. The discount is max(1, log2(offset + position)),
    which is log2(1 + position) unless another offset is given.

    See Also
    --------
    dcg : What is divided by its ideal.
    average_precision : What averages precision.

    Notes
    -----
    As in trec_eval (``ndcg``, ``ndcg_cut_k``), which has no threshold of relevance, ranx, whose
    ``ndcg_burges`` has the exponential gain, and RePlay, which knows no grades. Scikit-learn and
    torchmetrics know listed items only. The ideal of RecTools has k relevant items whatever R is,
    unless ``divide_by_achievable=True``. LensKit divides gains by max(1, log2(position)), unless
    ``weight=LogRankWeight(offset=1)``, as did K. Järvelin and J. Kekäläinen, "Cumulated gain-based
    evaluation of IR techniques", ACM Transactions on Information Systems 20, 2002: ``offset=0``.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [1, 3, 2]})
    >>> df.rec(min_relevance=1).ndcg(k=1)
    ndcg@1     score
    user
    1       0.333333
    2       1.000000
    """
    gained, ideal = statistics.gained(k, offset), statistics.ideal(k, offset)
    # A tie of equal gains may exceed the ideal in the last bit.
    values = ratio(gained, ideal, policy)
    return np.minimum(values, 1.0, out=values)


def dcg(statistics: RankStatistics, k: int | None, policy: Policy, *, offset: float = 1) -> Array:
    """
    Return dcg = the sum of gain / log2(1 + position) of every user.

    The sum is over relevant rows up to k. With `min_relevance` a row's gain is its relevance, or
    2^relevance - 1 under ``gain="exponential"``; else it is 1. Not negative, and as large as there
    are gains; 0 where R = 0. The discount is max(1, log2(offset + position)), which is
    log2(1 + position) unless another offset is given.

    See Also
    --------
    ndcg : The same divided by its ideal, so that users with more to gain count no more.

    Notes
    -----
    As in ranx (``dcg``, and ``dcg_burges`` with the exponential gain) and scikit-learn's
    ``dcg_score`` of listed items. LensKit divides gains by max(1, log2(position)), as did
    K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM
    Transactions on Information Systems 20, 2002: ``offset=0``.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 1], "score": [0.9, 0.8, 0.7], "relevant": [1, 0, 2]})
    >>> df.rec(min_relevance=1).dcg()
    dcg   score
    user
    1       2.0
    """
    return statistics.gained(k, offset)


def rbp(statistics: RankStatistics, k: int | None, policy: Policy, *, p: float) -> Array:
    """
    Return rbp(p) = (1 - p) times the sum of p^(position - 1) over relevant rows of every user.

    Rank-biased precision: what share of the rows is relevant that are seen by one who goes on from
    each row to the next with probability p (A. Moffat and J. Zobel, "Rank-biased precision for
    measurement of retrieval effectiveness", ACM Transactions on Information Systems 27, 2008). In
    [0, 1]; 0 where R = 0. Relevant rows beyond k, or not ranked, add 0.

    See Also
    --------
    dcg : What gives lower positions less weight in another way.

    Notes
    -----
    As in ir_measures (``RBP(p=0.8, rel=1)``), by cwl_eval, whose cut-off changes nothing, and ranx
    (``rbp.80``), which counts grades, so that only where they are 0 and 1 it is the same. The
    authors have p = 0.5, 0.8 and 0.95 for users who look at two, five and twenty rows in the mean,
    which is 1 / (1 - p). A ranking that ends, or is cut, leaves at most p^n, or p^k, of the weight
    unseen.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 1], "score": [0.9, 0.8, 0.7], "relevant": [1, 0, 1]})
    >>> df.rec.rbp(p=0.5)
    rbp(p=0.5)  score
    user
    1           0.625
    """

    def find(last: int | None) -> Terms:
        return Terms(statistics.positions(last), statistics.powers(last, p).take)

    return statistics.sum(("powers", p), k, find)


def err(statistics: RankStatistics, k: int | None, policy: Policy, *, max: float) -> Array:
    """
    Return err(max) = the sum of the probability to stop at a position / position of every user.

    Expected reciprocal rank: one goes down the rows and stops at one with probability
    (2^grade - 1) / 2^max, where max is the highest grade that there can be (O. Chapelle,
    D. Metzler, Y. Zhang and P. Grinspan, "Expected reciprocal rank for graded relevance", CIKM
    2009). In [0, 1]; 0 where R = 0. Without `min_relevance` a relevant row has grade 1, for which
    max is 1. Rows below `min_relevance` stop nobody; a grade above max is refused.

    See Also
    --------
    reciprocal_rank : Where one always stops at a relevant row.

    Notes
    -----
    As in gdeval and ir_measures (``ERR@k``), which have max = 4 and five digits. Under
    ``gain="exponential"`` grades are the same here. In a tie, the mean over all orders of its rows
    comes from symmetric sums: the mean of (1 - stop) multiplied over j of them.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 1], "score": [0.9, 0.8, 0.7], "relevant": [1, 0, 1]})
    >>> df.rec.err(k=2, max=1)
    err(max=1)@2  score
    user
    1               0.5
    """

    def find(last: int | None) -> Terms:
        found = statistics.stops(last, max, is_exponential=policy.gain == "exponential")
        return Terms(found, reciprocal)

    return statistics.sum(("stops", max), k, find)


HIGHEST = Parameter("max", 1, 100, "The highest grade that there can be")
OFFSET = Parameter("offset", 0, 1000, "What is added to positions under the logarithm", 1)
PERSISTENCE = Parameter("p", 0, 1, "The probability of going on to the next row")

DISCOUNTED_METRICS = {
    "ndcg": Definition(ndcg, "optional", (OFFSET,), needs_gains=True),
    "dcg": Definition(
        dcg,
        "optional",
        (OFFSET,),
        needs_gains=True,
        zero_without_relevant=True,
        is_bounded=False,
    ),
    "err": Definition(err, "optional", (HIGHEST,), needs_gains=True, zero_without_relevant=True),
    "rbp": Definition(rbp, "optional", (PERSISTENCE,), zero_without_relevant=True),
}
