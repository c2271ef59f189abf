"""Metrics of what truth holds, for truth that leaves much unjudged. NumPy only."""

import numpy as np

from recframe.kernel.grouping import run_sizes, run_starts
from recframe.kernel.threads import Array
from recframe.metrics.hit_metrics import rows_at
from recframe.metrics.positions import sum_by
from recframe.metrics.registry import Definition, Policy, ratio
from recframe.metrics.statistics import RankStatistics


def bpref(statistics: RankStatistics, k: None, policy: Policy) -> Array:
    """
    Return bpref = the sum of 1 - min(above, R) / min(N, R) over relevant rows / R of every user.

    Above a relevant row are counted the rows that truth holds and that are not relevant; N is the
    number of such items of the user, ranked or not. Rows that truth does not hold are passed over,
    and relevant items that are not ranked add 0. In [0, 1]; NaN (or `zero_division`) where R = 0.
    Where N = 0 a relevant row adds 1. Without `truth` every row is judged (C. Buckley and
    E. M. Voorhees, "Retrieval evaluation with incomplete information", SIGIR 2004).

    See Also
    --------
    judged : How much of the first k rows truth holds.
    average_precision : What takes rows that truth does not hold as not relevant.

    Notes
    -----
    As in trec_eval and ir_measures (``bpref``, ``Bpref``), which have 0 where R = 0 and take a
    grade below 0 in truth as not judged, and ranx, which has no number where N = 0. Truth that
    holds relevant items only makes it the recall of the whole ranking. Tied with d others a
    relevant row has 0 to d of them above it, each as probably.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 1], "score": [0.9, 0.8, 0.7], "relevant": [1, 0, 1]})
    >>> df.rec.bpref()
    bpref  score
    user
    1        0.5
    """
    counts, n_others = statistics.among_judged
    _, n_relevant, user, above, tied, _ = counts
    n_users, first = len(n_relevant), run_starts(user)
    n_before = np.arange(len(user)) - np.repeat(first, run_sizes(first, len(user)))
    n_above, n_tied = above - n_before, None
    if tied.max(initial=1) > 1:
        # All of a tie are below as many others as its first one is, and stand among the same.
        ties = run_starts(user, above)
        n_in_tie = run_sizes(ties, len(user))
        n_tied = tied[ties] - n_in_tie
        n_above = np.repeat(n_above[ties], n_in_tie)
    most = n_relevant[user]
    # Whole numbers, of rows that stand among no others; then each tie divides by its own.
    lost = sum_by(user, np.minimum(n_above, most), n_users)
    of_all = np.maximum(np.minimum(n_relevant, n_others), 1)
    if n_tied is not None and len(among := np.flatnonzero(n_tied)):
        own = ties[among]
        extra = _mean_above(n_above[own], n_tied[among], most[own])
        lost += sum_by(user[own], n_in_tie[among] * extra, n_users)
    kept = np.maximum(counts.n_ranked_relevant * of_all - lost, 0)
    return ratio(kept / of_all, n_relevant, policy)


def _mean_above(fewest: Array, n_tied: Array, most: Array) -> Array:
    """Return what others tied with rows add to the mean of how many are above them, `most` at most.

    There are from none to all of them above, each number as probably.
    """
    n_below = np.clip(most - fewest, 0, n_tied + 1)  # so many of these numbers are less than most
    total = n_below * fewest + n_below * (n_below - 1) // 2 + (n_tied + 1 - n_below) * most
    added: Array = (total - (n_tied + 1) * np.minimum(fewest, most)) / (n_tied + 1)
    return added


def judged(statistics: RankStatistics, k: int, policy: Policy) -> Array:
    """
    Return judged@k = rows among the first k that truth holds / k of every user.

    They are held as relevant or not: what is left is unjudged, and counts as not relevant. In
    [0, 1]; without `truth` every row is judged. Under ``short="shrink"`` a user with n < k ranked
    rows is divided by n, as in precision.

    See Also
    --------
    bpref : What passes over rows that are not judged.
    precision : What counts them as not relevant.

    Notes
    -----
    As ``Judged@k`` of ir_measures under ``short="shrink"``; there ties go by document name, first
    name first. Under ``ties="best"`` tied rows that truth holds come before others. T. Sakai,
    "Alternatives to bpref", SIGIR 2007, tells what follows where it is low.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1], "item": ["a", "b"], "score": [0.9, 0.8]})
    >>> truth = pd.DataFrame({"user": [1, 1], "item": ["b", "c"], "relevant": [0, 1]})
    >>> df.rec(truth=truth).judged(k=2)
    judged@2  score
    user
    1           0.5
    """
    hits, denominator = statistics.judged_hits(k)
    return ratio(hits, denominator * rows_at(statistics, k, policy), policy)


JUDGED_METRICS = {
    "bpref": Definition(bpref, "none", needs_judged=True),
    "judged": Definition(
        judged, "needed", needs_judged=True, zero_without_relevant=True, better="unknown"
    ),
}
