"""Metrics of what truth holds, for truth that leaves much unjudged. NumPy only."""

import numpy as np

from recframe.kernel.grouping import run_starts
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
    user, above, tied = counts.user, counts.above, counts.tied
    # The first relevant row of each row's tie: how many stand there and before it.
    ties = run_starts(user, above)
    n_in_tie = np.diff(ties, append=len(user))
    tie = np.repeat(np.arange(len(ties)), n_in_tie)
    of_user = run_starts(user)
    before = ties - np.repeat(of_user, np.diff(of_user, append=len(user)))[ties]
    # Below this many others, and as many more as the tie has, each as probably.
    fewest = (above[ties] - before)[tie]
    more = (tied[ties] - n_in_tie)[tie]
    most = counts.n_relevant[user]
    n_below = np.clip(most - fewest, 0, more + 1)  # so many of those numbers are less than R
    total = n_below * fewest + n_below * (n_below - 1) // 2 + (more + 1 - n_below) * most
    whole = (more + 1) * np.maximum(np.minimum(most, n_others[user]), 1)
    summed = sum_by(user, (whole - total) / whole, len(counts.n_ranked))
    return ratio(summed, counts.n_relevant, policy)


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
    "judged": Definition(judged, "needed", needs_judged=True, zero_without_relevant=True),
}
