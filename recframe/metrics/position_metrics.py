"""Metrics computed from the positions of relevant rows. NumPy only."""

import numpy as np

from recframe.errors import RecframeError
from recframe.kernel.grouping import number_members
from recframe.kernel.threads import Array
from recframe.metrics.statistics import Policy, RankStatistics, defined, ratio
from recframe.metrics.ties import expect_stop, sum_by


def ndcg_per_user(
    statistics: RankStatistics, k: int | None, policy: Policy, *, offset: float = 1
) -> Array:
    """
    Return ndcg for each user: the sum of gain / log2(1 + position), divided by its ideal.

    The sum is over rows up to k; the ideal ranks all items of the user, listed or not, highest
    gain first. With `min_relevance`, at any threshold, a row gains its relevance, and 0 if that is
    negative; under ``gain="exponential"`` it gains 2^relevance - 1. Without `min_relevance`, and
    under ``gain="binary"``, relevant rows gain 1. In [0, 1]; NaN (or `zero_division`) where nothing
    can be gained. The discount is max(1, log2(offset + position)), which is log2(1 + position) by
    default.

    See Also
    --------
    dcg : The sum before it is divided by its ideal.
    average_precision : Averages precision.

    Notes
    -----
    * The same: trec_eval (``ndcg``, ``ndcg_cut_k``; its ``-l`` does not change gains either), ranx
      (its ``ndcg_burges`` has the exponential gain) and RePlay (which has no grades).
    * Listed items only: scikit-learn and torchmetrics.
    * Another ideal: RecTools takes k relevant items for every R, unless
      ``divide_by_achievable=True``.
    * Another discount, ``offset=0``: LensKit divides gains by max(1, log2(position)), unless
      ``weight=LogRankWeight(offset=1)``. So did K. Järvelin and J. Kekäläinen, "Cumulated
      gain-based evaluation of IR techniques", ACM Transactions on Information Systems 20, 2002.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [1, 3, 2]})
    >>> df.rec(min_relevance=1).ndcg(k=1)
    ndcg@1     score
    user
    1       0.333333
    2       1.000000
    >>> recframe.metrics.ndcg([0, 0, 1], [0.9, 0.8, 0.7])
    0.5
    """
    discounts: Array = 1 / np.log2(np.maximum(2, statistics.positions(k) + offset))
    gained = statistics.sum_positions(k, discounts, statistics.ties.gain)
    if statistics.grades is None:
        # Terms are added in order, as in a ranking, so that a perfect ranking scores exactly 1.
        down_to = np.append(0.0, discounts.cumsum())
        ideal = down_to.take(
            statistics.counts.n_relevant, mode="clip"
        )  # the last sum where R is larger
    else:
        _, user, position, gain = statistics.grades
        added = gain * np.append(discounts, 0.0).take(position - 1, mode="clip")
        ideal = sum_by(user, added, len(gained))
    # A tie of equal gains may exceed the ideal in the last bit.
    values = ratio(gained, ideal, policy)
    return np.minimum(values, 1.0, out=values)


def dcg_per_user(
    statistics: RankStatistics, k: int | None, policy: Policy, *, offset: float = 1
) -> Array:
    """
    Return dcg for each user: the sum of gain / log2(1 + position).

    The sum is over rows up to k, with the gains of `ndcg`. Not negative and without an upper bound;
    0 if nothing is gained. The discount is max(1, log2(offset + position)), which is
    log2(1 + position) by default.

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
    >>> recframe.metrics.dcg([0, 0, 1], [0.9, 0.8, 0.7])
    0.5
    """
    discounts: Array = 1 / np.log2(np.maximum(2, statistics.positions(k) + offset))
    return statistics.sum_positions(k, discounts, statistics.ties.gain)


def rbp_per_user(statistics: RankStatistics, k: int | None, policy: Policy, *, p: float) -> Array:
    """
    Return rbp(p) for each user: (1 - p) times the sum of p^(position - 1) over relevant rows.

    Rank-biased precision: the share of relevant rows among the rows that a user sees, if the user
    goes on from each row to the next with probability p (A. Moffat and J. Zobel, "Rank-biased
    precision for measurement of retrieval effectiveness", ACM Transactions on Information Systems
    27, 2008). In [0, 1]; 0 where R = 0. Relevant rows beyond k, or not ranked, add 0.

    See Also
    --------
    dcg : Gives lower positions less weight in another way.

    Notes
    -----
    As in ir_measures (``RBP(p=0.8, rel=1)``), by cwl_eval, whose cut-off changes nothing. For
    grades of 0 and 1 as in ranx (``rbp.80``), which counts higher grades. The authors have p = 0.5,
    0.8 and 0.95 for users who look at two, five and twenty rows on average, which is 1 / (1 - p).
    Rows after the end of a ranking have at most p^n of the weight, and rows after a cut-off p^k.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 1], "score": [0.9, 0.8, 0.7], "relevant": [1, 0, 1]})
    >>> df.rec.rbp(p=0.5)
    rbp(p=0.5)  score
    user
    1           0.625
    >>> recframe.metrics.rbp([1, 0, 1], [0.9, 0.8, 0.7], p=0.5)
    0.625
    """
    powers = (1 - p) * p ** (statistics.positions(k) - 1.0)
    return statistics.sum_positions(k, powers, statistics.ties.chance)


def err_per_user(statistics: RankStatistics, k: int | None, policy: Policy, *, max: float) -> Array:
    """
    Return err(max) for each user: the sum of the probability to stop at a position / position.

    Expected reciprocal rank: a user goes down the rows and stops at each with probability
    (2^grade - 1) / 2^max, where max is the highest possible grade (O. Chapelle,
    D. Metzler, Y. Zhang and P. Grinspan, "Expected reciprocal rank for graded relevance", CIKM
    2009). In [0, 1]; 0 where no grade is above 0. With `min_relevance`, at any threshold, grades
    are read as they are. Without it, and under ``gain="binary"``, a relevant row has grade 1: pass
    max=1 then. A grade above max is refused.

    See Also
    --------
    reciprocal_rank : The user always stops at a relevant row.

    Notes
    -----
    As in gdeval and ir_measures (``ERR@k``), which have max = 4 and five digits. Under
    ``gain="exponential"`` grades are the same here. In a tie, the mean over all orders of its rows
    is computed by adding row after row: each comes before or after a position with its probability.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 1], "score": [0.9, 0.8, 0.7], "relevant": [1, 0, 1]})
    >>> df.rec.err(k=2, max=1)
    err(max=1)@2  score
    user
    1               0.5
    >>> recframe.metrics.err([1, 0, 1], [0.9, 0.8, 0.7], k=2, max=1)
    0.5
    """
    counts, grades = statistics.counts, statistics.grades
    satisfaction = np.broadcast_to(2.0**-max, len(counts.user))
    if grades is not None:
        is_exponential, highest = policy.gain == "exponential", grades.ideal.max(initial=0)
        highest = np.log2(highest + 1) if is_exponential else highest
        if highest > max * (1 + 1e-12):
            raise RecframeError(
                f"err(max={max:g}): max must be the highest grade that there can be, "
                f"but a grade is {highest:g}. Pass max={highest:g} or more."
            )
        gain = grades.gain if is_exponential else np.exp2(grades.gain) - 1
        satisfaction = gain / 2.0**max
    return expect_stop(counts, satisfaction, k)


def hit_rate_per_user(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return hit_rate@k for each user: 1 if hits@k > 0, else 0.

    In [0, 1]; NaN (or `zero_division`) where R = 0. In a tie across the cut it is the probability
    of a hit, one minus the hypergeometric probability of none.

    See Also
    --------
    reciprocal_rank : The position of the first hit.

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
    >>> recframe.metrics.hit_rate([1, 0, 1], [0.9, 0.8, 0.7], k=1)
    1.0
    """
    # A sum of probabilities may miss 1 by a bit.
    probability = np.minimum(statistics.expect_first(k, np.ones_like), 1.0)
    ties = statistics.first_ties
    is_certain = ties.above + ties.size - ties.n_relevant < k
    probability[ties.user[is_certain]] = 1.0
    return defined(probability, statistics, policy)


def all_relevant_per_user(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return all_relevant@k for each user: 1 if every relevant item is among the first k, else 0.

    For questions that need all the evidence, as in multi-hop retrieval. In [0, 1];
    0 where a relevant item is not ranked, or R > k, and NaN (or `zero_division`) where R = 0. In a
    tie across the cut it is the hypergeometric probability that no relevant row is below the cut.

    See Also
    --------
    hit_rate : 1 if any relevant item is among the first k.
    recall : The share of relevant items among the first k.

    Notes
    -----
    It is 1 where recall@k is 1, and 0 elsewhere. Trec_eval, ir_measures and ranx do not have it.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [1, 1, 1]})
    >>> df.rec.all_relevant(k=1)
    all_relevant@1  score
    user
    1                 0.0
    2                 1.0
    >>> recframe.metrics.all_relevant([1, 0, 1], [0.9, 0.8, 0.7], k=2)
    0.0
    """
    ties, n_relevant = statistics.ties, statistics.counts.n_relevant
    n_users, room = len(n_relevant), k - ties.above
    above = np.flatnonzero(ties.size <= room)
    n_left = n_relevant - sum_by(ties.user[above], ties.n_relevant[above], n_users)
    # The value is 1 or 0 unless a tie across the cut has the last m relevant rows. Of the C(t, r)
    # choices of r of its t rows above the cut, C(t - m, r - m) have all m relevant rows. The
    # quotient is the product of (r - i) / (t - i) over i < m.
    chances = np.where(n_left == 0, 1.0, 0.0)
    last = (ties.size > room) & (ties.n_relevant <= room) & (ties.n_relevant == n_left[ties.user])
    across = np.flatnonzero(last)
    tie, nth = number_members(ties.n_relevant[across])
    tie = across[tie]
    factors = (room[tie] - nth) / (ties.size[tie] - nth)
    chances[ties.user[across]] = np.multiply.reduceat(factors, np.flatnonzero(nth == 0))
    return defined(chances, statistics, policy)


def reciprocal_rank_per_user(statistics: RankStatistics, k: int | None, policy: Policy) -> Array:
    """
    Return reciprocal_rank for each user: 1 / the position of the first relevant row.

    In [0, 1]; 0 where that row is beyond k, or none is ranked, and NaN (or `zero_division`) where
    R = 0 (E. M. Voorhees, "The TREC-8 question answering track report", 1999).

    See Also
    --------
    average_precision : Counts every relevant row.

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
    >>> recframe.metrics.reciprocal_rank([0, 1, 1], [0.9, 0.8, 0.7])
    0.5
    """
    return defined(statistics.expect_first(k, lambda position: 1 / position), statistics, policy)


def average_precision_per_user(statistics: RankStatistics, k: int | None, policy: Policy) -> Array:
    """
    Return average_precision for each user: the sum of precision at each relevant row / R.

    Relevant items that are beyond k or not ranked add 0. In [0, 1]; NaN (or `zero_division`) where
    R = 0 (C. Buckley and E. M. Voorhees, "Evaluating evaluation measure stability", SIGIR 2000).

    See Also
    --------
    capped_average_precision : The same divided by min(R, k), which other libraries mean by MAP@k.
    ndcg : Gives lower positions less weight in another way.

    Notes
    -----
    As in trec_eval (``map``, ``map_cut_k``), ranx and RecTools. In place of R, LensKit divides by
    min(R, k, n) and torchmetrics by hits@k. Scikit-learn takes a tie as one step.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> df.rec.average_precision()
    average_precision  score
    user
    1                    0.5
    2                    1.0
    >>> recframe.metrics.average_precision([0, 1], [0.9, 0.8])
    0.5
    """
    return ratio(_sum_precision(statistics, k), statistics.counts.n_relevant, policy)


def capped_average_precision_per_user(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return capped_average_precision@k for each user: the sum of precision at hits / min(R, k).

    It is the sum of precision at each relevant row among the first k, divided by the number of
    relevant items that k rows can hold. So k relevant rows at the top score 1 where R > k, too. In
    [0, 1]; NaN (or `zero_division`) where R = 0. Where R <= k it is average_precision@k.

    See Also
    --------
    average_precision : The same sum divided by R.
    capped_recall : The hits among the first k, divided by min(R, k).

    Notes
    -----
    The MAP@k of Kaggle (``ml_metrics.mapk``), Spark (``meanAveragePrecisionAt``), RecBole,
    Recommenders (``map_at_k``), RePlay and implicit. The MAP@k of trec_eval, ranx and RecTools is
    average_precision@k, and LensKit divides by min(R, k, n).

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [1, 1, 1]})
    >>> df.rec.capped_average_precision(k=1)
    capped_average_precision@1  score
    user
    1                             1.0
    2                             1.0
    >>> recframe.metrics.capped_average_precision([0, 1, 1], [0.9, 0.8, 0.7], k=2)
    0.25
    """
    n_relevant = np.minimum(statistics.counts.n_relevant, k)
    return ratio(_sum_precision(statistics, k), n_relevant, policy)


def _sum_precision(statistics: RankStatistics, k: int | None) -> Array:
    """Return each user's sum of precision at the relevant rows up to k."""
    ties = statistics.ties
    wide, spread = statistics.spread_ties(k)
    position, hits = ties.above + 1, ties.n_relevant_above + 1
    # A tie of one row needs one division of whole numbers.
    added = hits / position
    if k is not None:
        added[position > k] = 0.0
    # From each position to the next, (m - 1) / (t - 1) more relevant rows are expected.
    step = (ties.n_relevant[wide] - 1) / (ties.size[wide] - 1)
    added[wide] = hits[wide] * spread.sum(1 / spread.position)
    added[wide] += step * spread.sum(spread.nth / spread.position)
    return sum_by(ties.user, ties.chance * added, len(statistics.counts.n_relevant))
