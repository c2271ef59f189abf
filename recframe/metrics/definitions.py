"""The definitions: each metric with its formula, its source and what others do. NumPy only.

A user's rows are ranked by score; hits@c is the number of relevant rows among the first c of
them, n the number of ranked rows and R that of relevant items, ranked or not. Under
``ties="expected"`` every metric is its expectation over all orders of tied rows [1]_.

Without a relevant item (R = 0) precision is 0, as nothing can be a hit; every other metric asks
how well relevant items were found, which has no answer then: `zero_division`.

References
----------
.. [1] F. McSherry and M. Najork, "Computing information retrieval performance measures
   efficiently in the presence of tied scores", ECIR 2008.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from recframe.kernel.grouping import Array
from recframe.metrics.statistics import Tally


class Policy(NamedTuple):
    """What a metric does at its edges: the options of these names in `recframe.evaluate`.

    `absent` is None where there is no truth that a user could be absent from.
    """

    short: str
    zero_division: float
    absent: str | None = None


def precision(tally: Tally, k: int, policy: Policy) -> Array:
    """Return precision@k = hits@k / k of each user.

    In [0, 1]. Under ``short="shrink"`` a user with n < k ranked rows is divided by n; with n = 0
    the value is `zero_division`. A user without relevant items scores 0. As in trec_eval
    (``P_k``); LensKit and evidently shrink.
    """
    numerator, denominator = tally.hits(k)
    return _ratio(numerator, denominator * _depth(tally, k, policy), policy)


def recall(tally: Tally, k: int, policy: Policy) -> Array:
    """Return recall@k = hits@k / R of each user.

    In [0, 1]; `zero_division` where R = 0. As in trec_eval (``recall_k``); LensKit divides by
    min(R, k).
    """
    numerator, denominator = tally.hits(k)
    return _ratio(numerator, denominator * tally.counts.n_relevant, policy)


def capped_recall(tally: Tally, k: int, policy: Policy) -> Array:
    """Return capped_recall@k = hits@k / min(R, k) of each user.

    In [0, 1], and 1 can be reached where k < R; `zero_division` where R = 0. As in BEIR
    (``R_cap@k``); LensKit calls it recall, and RecTools R-precision.
    """
    numerator, denominator = tally.hits(k)
    return _ratio(numerator, denominator * np.minimum(tally.counts.n_relevant, k), policy)


def r_precision(tally: Tally, k: None, policy: Policy) -> Array:
    """Return R-precision = hits@R / R of each user.

    In [0, 1]; `zero_division` where R = 0. As in trec_eval (``Rprec``); what RecTools calls
    R-precision divides hits@k by min(R, k).
    """
    numerator, denominator = tally.hits_at_n_relevant
    return _ratio(numerator, denominator * tally.counts.n_relevant, policy)


def f1(tally: Tally, k: int, policy: Policy) -> Array:
    """Return f1@k = 2 hits@k / (k + R), the harmonic mean of precision@k and recall@k.

    In [0, 1]; `zero_division` where R = 0, as there is no recall then. Under ``short="shrink"`` k
    is min(k, n), as in precision. (C. J. van Rijsbergen, "Information Retrieval", 1979.) As in
    ranx; trec_eval has it of whole lists only (``set_F``). The mean over users is not the
    harmonic mean of mean precision and mean recall.
    """
    numerator, denominator = tally.hits(k)
    n_relevant = tally.counts.n_relevant
    both = np.where(n_relevant == 0, 0, _depth(tally, k, policy) + n_relevant)
    return _ratio(2 * numerator, denominator * both, policy)


def hit_rate(tally: Tally, k: int, policy: Policy) -> Array:
    """Return hit_rate@k = 1 if hits@k > 0 else 0, of each user.

    In [0, 1]; `zero_division` where R = 0. In a tie it is the chance of a hit, one minus the
    hypergeometric chance of none. As in trec_eval (``success_k``), which scores 0 where R = 0,
    and LensKit (NaN).
    """
    found = tally.first_positions(k)
    # Chances that are added up may miss 1 by a bit.
    chance = np.minimum(found.sum(found.chance, k), 1.0)
    chance[(tally.last_of_first > 0) & (tally.last_of_first <= k)] = 1.0
    return _defined(chance, tally, policy)


def reciprocal_rank(tally: Tally, k: int | None, policy: Policy) -> Array:
    """Return reciprocal_rank = 1 / the position of the first relevant row; 0 beyond k.

    In [0, 1]; `zero_division` where R = 0, 0 where no relevant row is ranked (E. M. Voorhees,
    "The TREC-8 question answering track report", 1999). As in trec_eval (``recip_rank``), which
    has no cut-off and scores 0 where R = 0.
    """
    found = tally.first_positions(k)
    return _defined(found.sum(found.chance / found.position, k), tally, policy)


def average_precision(tally: Tally, k: int | None, policy: Policy) -> Array:
    """Return average_precision = the sum of precision at each relevant row (up to k) / R.

    In [0, 1]; `zero_division` where R = 0 (C. Buckley and E. M. Voorhees, "Evaluating evaluation
    measure stability", SIGIR 2000). As in trec_eval (``map``, ``map_cut_k``) and ranx; LensKit
    divides by the smaller of R and the rows listed up to k, others by min(R, k), and
    scikit-learn's ``average_precision_score`` takes a tie as one step.
    """
    ranked = tally.positions(k)
    total = ranked.sum(ranked.chance * ranked.number / ranked.position, k)
    return _ratio(total, tally.counts.n_relevant, policy)


def ndcg(tally: Tally, k: int | None, policy: Policy) -> Array:
    """Return ndcg = DCG / ideal DCG, where DCG = the sum of gain / log2(1 + position) (up to k).

    In [0, 1]; `zero_division` where the ideal is 0, as where R = 0. The gain is the relevance (or
    2^relevance - 1) of relevant rows, 1 where relevance is 0/1; the ideal ranks all relevant
    items of the user, listed or not, highest gain first [1]_. As in trec_eval (``ndcg``,
    ``ndcg_cut_k``), which has no threshold of relevance. Scikit-learn's ideal knows listed items
    only, and LensKit discounts by max(1, log2(position)), as [1]_ did.

    References
    ----------
    .. [1] K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques",
       ACM Transactions on Information Systems 20, 2002.
    """
    ranked = tally.positions(k)
    gained = ranked.sum(ranked.gain * tally.discounts(k)[ranked.position], k)
    # A tie of equal gains may exceed the ideal in the last bit.
    return np.minimum(_ratio(gained, tally.ideal(k), policy), 1.0)


def auc(tally: Tally, k: None, policy: Policy) -> Array:
    """Return auc = the chance that a relevant ranked row outscores a ranked one that is not.

    In [0, 1], a tie counting half (J. A. Hanley and B. J. McNeil, Radiology 143, 1982). It is
    about ranked rows: items that are not ranked have no score to compare, and `zero_division` is
    the value where all or none of the ranked rows are relevant. As scikit-learn's
    ``roc_auc_score`` for each user; recommenders pools the rows of all users.
    """
    n_ranked, user = tally.counts.n_ranked, tally.counts.user
    n_found = np.bincount(user, minlength=len(n_ranked))
    # Twice the mean position of a tie is whole, and floats add up whole numbers exactly.
    places = 2 * tally.counts.above + tally.counts.tied + 1
    total = np.bincount(user, weights=places, minlength=len(n_ranked)).astype(np.int64)
    # Rows below the relevant ones, twice, without the relevant ones among them.
    wins = 2 * n_found * n_ranked - total - n_found * (n_found - 1)
    return _ratio(wins, 2 * n_found * (n_ranked - n_found), policy)


def _depth(tally: Tally, k: int, policy: Policy) -> Array | int:
    """Return how many rows precision@k looks at."""
    return np.minimum(k, tally.counts.n_ranked) if policy.short == "shrink" else k


def _defined(values: Array, tally: Tally, policy: Policy) -> Array:
    """Return values, `zero_division` where there is no relevant item."""
    values[tally.counts.n_relevant == 0] = policy.zero_division
    return values


def _ratio(numerator: Array, denominator: Array, policy: Policy) -> Array:
    """Return the quotients, `zero_division` where the denominator is 0."""
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: nothing is counted where nothing can be
        quotient: Array = numerator / denominator
    if not np.isnan(policy.zero_division):
        quotient[denominator == 0] = policy.zero_division
    return quotient


class Definition(NamedTuple):
    """A metric: its formula, whether it takes a cut-off, and whether grades of relevance count.

    Without a cut-off it is about the whole ranking, or `at_n_relevant` about the first R rows.
    """

    formula: Callable[..., Array]
    cut_off: Literal["needed", "optional", "none"]
    needs_gains: bool = False
    at_n_relevant: bool = False


# The order is that of help texts and messages.
DEFINITIONS = {
    "precision": Definition(precision, "needed"),
    "recall": Definition(recall, "needed"),
    "r_precision": Definition(r_precision, "none", at_n_relevant=True),
    "f1": Definition(f1, "needed"),
    "hit_rate": Definition(hit_rate, "needed"),
    "reciprocal_rank": Definition(reciprocal_rank, "optional"),
    "average_precision": Definition(average_precision, "optional"),
    "ndcg": Definition(ndcg, "optional", needs_gains=True),
    "capped_recall": Definition(capped_recall, "needed"),
    "auc": Definition(auc, "none"),
}

DEFAULT_METRICS = ("precision@10", "recall@10", "r_precision")
