"""The definitions: each metric with its formula and source, and the parsing of its name.

NumPy only. A metric divides what `kernel.count` has counted; it knows nothing of frames.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from recframe.errors import RecframeError
from recframe.groups import Array
from recframe.kernel import Counts, Rankings, count


class Metric(NamedTuple):
    """A metric as asked for: its label, its name and its cut-off (None where it takes none)."""

    label: str
    name: str
    k: int | None


class Policy(NamedTuple):
    """What a metric does at its edges: the options of these names in `recframe.evaluate`.

    `absent` is None where there is no truth that a user could be absent from.
    """

    short: str
    zero_division: float
    absent: str | None = None


Hits = tuple[Array, Array]  # numerator and denominator


def expected_hits(counts: Counts, cut_offs: Array) -> Hits:
    """Return the expected relevant rows in the first positions, as numerator and denominator.

    A tie group wholly above the cut counts fully; of the one group across it, (cut - above) of
    its `tied` rows come first in expectation [1]_. Numerator and denominator are whole numbers, so
    that a metric divides once and its value is the nearest float to the exact one. Every row is
    looked at once, however many cut-offs there are.

    Parameters
    ----------
    counts : Counts
        What was counted.
    cut_offs : ndarray of shape (n_cut_offs, 1) or (1, n_users), int
        How many positions to look at: the same for all users, each cut-off once and in increasing
        order, or one for each user.

    Returns
    -------
    tuple of two ndarrays of shape (n_cut_offs, n_users), int
        Numerator and denominator (the size of the group across the cut, or 1).

    References
    ----------
    .. [1] F. McSherry and M. Najork, "Computing information retrieval performance measures
       efficiently in the presence of tied scores", ECIR 2008.
    """
    shape = len(cut_offs), len(counts.n_ranked)
    last = cut_offs[-1, 0] if len(cut_offs[0]) == 1 else cut_offs[0][counts.user]
    inside = np.flatnonzero(counts.above < last)
    user, above, tied = counts.user[inside], counts.above[inside], counts.tied[inside]
    begin = _first_cut_off(cut_offs, user, above + 1)
    end = _first_cut_off(cut_offs, user, above + tied)
    whole = np.flatnonzero(end < shape[0])
    cells = end[whole] * shape[1] + user[whole]
    hits = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    _sum_up(hits)
    across = np.flatnonzero(begin < end)
    if len(across) == 0:
        return hits, np.broadcast_to(np.int64(1), shape)
    # The rows of a group stand together: the first one speaks for all.
    user, above = user[across], above[across]
    first = np.flatnonzero(np.append(True, (user[1:] != user[:-1]) | (above[1:] != above[:-1])))
    n_relevant = np.diff(first, append=len(across))
    user, above, tied = user[first], above[first], tied[across[first]]
    begin, end = begin[across[first]], end[across[first]]
    # Of every cut the one group across it, numbered from 1, or 0: summed up from where a group
    # begins to be across, there added, to where it ends, there subtracted.
    number = np.arange(1, len(first) + 1)
    group = np.zeros((shape[0] + 1, shape[1]), np.int64)
    group[begin, user] = number
    group[end, user] -= number
    _sum_up(group)
    group = group[:-1]
    size = np.append(1, tied).take(group)
    expected: Array = cut_offs - np.append(0, above).take(group)
    expected *= np.append(0, n_relevant).take(group)
    hits *= size
    hits += expected
    return hits, size


def _sum_up(rows: Array) -> None:
    """Add to every row the sum of those above it; ten times as fast as cumsum along this axis."""
    for above, row in pairwise(rows):
        row += above


def _first_cut_off(cut_offs: Array, user: Array, position: Array) -> Array:
    """Return the index of the first cut-off at or after each position; their number for none."""
    found: Array
    if len(cut_offs[0]) == 1:
        found = np.searchsorted(cut_offs[:, 0], np.arange(position.max(initial=0) + 1))[position]
    else:
        found = (position > cut_offs[0][user]).astype(np.int64)
    return found


def precision(hits: Hits, counts: Counts, k: int, policy: Policy) -> Array:
    """Return precision@k = hits@k / k of each user.

    Under ``short="shrink"`` a user with n < k ranked rows is divided by n; with n = 0 the value is
    `zero_division`. A user without relevant items scores 0. As in trec_eval (``P_k``); LensKit
    and evidently shrink.
    """
    depth = np.minimum(k, counts.n_ranked) if policy.short == "shrink" else k
    return _ratio(hits[0], hits[1] * depth, policy.zero_division)


def recall_at_cutoff(hits: Hits, counts: Counts, k: int, policy: Policy) -> Array:
    """Return recall@k = hits@k / R of each user; `zero_division` where R = 0.

    As in trec_eval (``recall_k``); LensKit divides by min(R, k).
    """
    return _ratio(hits[0], hits[1] * counts.n_relevant, policy.zero_division)


def precision_at_n_relevant(hits: Hits, counts: Counts, k: None, policy: Policy) -> Array:
    """Return R-precision = hits@R / R of each user; `zero_division` where R = 0.

    As in trec_eval (``Rprec``); what RecTools calls R-precision divides hits@k by min(R, k).
    """
    return _ratio(hits[0], hits[1] * counts.n_relevant, policy.zero_division)


def _ratio(numerator: Array, denominator: Array, zero_division: float) -> Array:
    """Return the quotients, `zero_division` where the denominator is 0."""
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: nothing is counted where nothing can be
        quotient: Array = numerator / denominator
    if not np.isnan(zero_division):
        quotient[denominator == 0] = zero_division
    return quotient


# name: (formula, whether it takes a cut-off). The order is that of help texts and messages.
FORMULAS: dict[str, tuple[Callable[..., Array], bool]] = {
    "precision": (precision, True),
    "recall": (recall_at_cutoff, True),
    "r_precision": (precision_at_n_relevant, False),
}

DEFAULT_METRICS = ("precision@10", "recall@10", "r_precision")


def measure(counts: Counts, metrics: Sequence[Metric], policy: Policy) -> Array:
    """Return metrics of each user, a float array of shape (n_metrics, n_users)."""
    hits: dict[int | None, Hits] = {}
    if cut_offs := sorted({metric.k for metric in metrics if metric.k is not None}):
        pairs = zip(*expected_hits(counts, np.array(cut_offs)[:, None]), strict=True)
        hits.update(zip(cut_offs, pairs, strict=True))
    if any(metric.k is None for metric in metrics):
        numerator, denominator = expected_hits(counts, counts.n_relevant[None])
        hits[None] = numerator[0], denominator[0]
    values = np.empty((len(metrics), len(counts.n_ranked)))
    for row, metric in zip(values, metrics, strict=True):
        row[:] = divide(hits[metric.k], metric, counts, policy)
    return values


def divide(hits: Hits, metric: Metric, counts: Counts, policy: Policy) -> Array:
    """Return a metric of each user from the hits at its cut-off, and the sizes in the counts."""
    formula = FORMULAS[metric.name][0]
    values: Array = formula(hits, counts, metric.k, policy)
    if metric.k is not None and policy.short == "nan":
        values[counts.n_ranked < metric.k] = np.nan
    if policy.absent is not None:
        nothing = counts.n_ranked == 0
        if policy.absent == "zero":
            padded = formula(hits, counts, metric.k, policy._replace(short="pad"))
        values[nothing] = padded[nothing] if policy.absent == "zero" else np.nan
    return values


def check_k(k: object) -> int:
    """Return the cut-off as an int, or raise `RecframeError` unless it is an integer >= 1."""
    if isinstance(k, bool | np.bool_) or not isinstance(k, Integral) or k < 1:
        raise RecframeError(f"k must be an integer of 1 or more, found {k!r}")
    return int(k)


def make_metric(name: str, k: object = None) -> Metric:
    """Return the metric of this name, labelled; raise `RecframeError` where k is not valid."""
    if not FORMULAS[name][1]:
        return Metric(name, name, None)
    k = check_k(k)
    return Metric(f"{name}@{k}", name, k)


def parse_metric(label: object) -> Metric:
    """Return the metric a label such as "recall@4" names, or raise `RecframeError`."""
    if isinstance(label, Metric):
        return label
    name, at, k = label.partition("@") if isinstance(label, str) else ("", "", "")
    if name not in FORMULAS:
        raise RecframeError(
            f"unknown metric {label!r}{_suggestion(label)}; metrics are {_metric_names()}"
        )
    if not FORMULAS[name][1]:
        if at:
            raise RecframeError(f"{label!r}: {name} takes no cut-off, pass {name!r}")
        return make_metric(name)
    if not re.fullmatch(r"[1-9][0-9]*", k):
        found = f"found {k!r}" if at else "found none"
        raise RecframeError(
            f"{label!r}: {name} needs a cut-off, an integer of 1 or more as in '{name}@10', {found}"
        )
    return make_metric(name, int(k))


def parse_metrics(labels: str | Iterable[str]) -> list[Metric]:
    """Return the metrics that labels name, or raise `RecframeError` for none or a repeated one."""
    if isinstance(labels, str):
        labels = [labels]
    elif not isinstance(labels, Iterable):
        raise RecframeError(
            f"metrics must be a name such as 'recall@4' or a list of names, found {labels!r}"
        )
    metrics = [parse_metric(label) for label in labels]
    if not metrics:
        raise RecframeError(f"metrics must name at least one metric: {_metric_names()}")
    seen: set[str] = set()
    for metric in metrics:
        if metric.label in seen:
            raise RecframeError(f"metrics must differ, found {metric.label!r} more than once")
        seen.add(metric.label)
    return metrics


def describe_metrics() -> str:
    """Return a line on each metric: its name and its definition."""
    lines = [
        (f"{name}@k" if takes_k else name, (formula.__doc__ or "").splitlines()[0])
        for name, (formula, takes_k) in FORMULAS.items()
    ]
    width = max(len(name) for name, _ in lines)
    texts = [f"  {name:{width}}  {line.removeprefix('Return ')}" for name, line in lines]
    return "\n".join(["metrics, with hits@c the relevant rows among the first c:", *texts])


def _metric_names() -> str:
    """Return the names of all metrics as a sentence part."""
    return ", ".join(f"{name}@k" if takes_k else name for name, (_, takes_k) in FORMULAS.items())


def _suggestion(label: object) -> str:
    """Return a question naming the metric most like the label, or nothing."""
    if not isinstance(label, str):
        return ""
    name, _, k = label.partition("@")
    near = difflib.get_close_matches(name.lower().replace("-", "_"), FORMULAS, n=1)
    if not near:
        return ""
    ending = f"@{k if k.isdigit() else 'k'}" if FORMULAS[near[0]][1] else ""
    return f", did you mean '{near[0]}{ending}'?"


def precision_at_k(relevant: ArrayLike, score: ArrayLike, k: int) -> float:
    """
    Return precision@k of one ranking.

    precision@k = hits@k / k, where hits@k is the number of relevant observations among the k
    with the highest scores. Tied scores count with their exact expectation.

    Parameters
    ----------
    relevant : array_like of shape (n,), bool or 0/1
        Whether each observation is relevant.
    score : array_like of shape (n,), real
        The score of each observation, higher first; no NaN.
    k : int
        The cut-off, in [1, n].

    Returns
    -------
    float
        The precision, in [0, 1].

    Raises
    ------
    RecframeError
        A `ValueError`: the lengths differ, k is not in [1, n], `relevant` is not 0/1, or a score
        is NaN or not a number.

    See Also
    --------
    recall_at_k : The same hits divided by the number of relevant observations.
    recframe.evaluate : The metrics of every user of a frame.

    Notes
    -----
    The definition is trec_eval's ``P_k`` [1]_.

    References
    ----------
    .. [1] C. D. Manning, P. Raghavan and H. Schütze, "Introduction to Information Retrieval",
       ch. 8, 2008.

    Examples
    --------
    >>> from recframe.metrics import precision_at_k
    >>> round(precision_at_k([1, 1, 0, 0, 1], [0.4, 0.1, 0.2, 0.5, 0.3], k=3), 4)
    0.6667
    """
    return _measure_one(relevant, score, make_metric("precision", k))


def recall_at_k(relevant: ArrayLike, score: ArrayLike, k: int) -> float:
    """
    Return recall@k of one ranking.

    recall@k = hits@k / R, where hits@k is the number of relevant observations among the k with
    the highest scores and R the number of all relevant ones. Tied scores count with their exact
    expectation.

    Parameters
    ----------
    relevant : array_like of shape (n,), bool or 0/1
        Whether each observation is relevant.
    score : array_like of shape (n,), real
        The score of each observation, higher first; no NaN.
    k : int
        The cut-off, in [1, n].

    Returns
    -------
    float
        The recall, in [0, 1]; NaN where nothing is relevant.

    Raises
    ------
    RecframeError
        A `ValueError`: the lengths differ, k is not in [1, n], `relevant` is not 0/1, or a score
        is NaN or not a number.

    See Also
    --------
    precision_at_k : The same hits divided by k.
    recframe.evaluate : The metrics of every user of a frame.

    Notes
    -----
    The definition is trec_eval's ``recall_k`` [1]_; LensKit divides by min(R, k) instead.

    References
    ----------
    .. [1] C. D. Manning, P. Raghavan and H. Schütze, "Introduction to Information Retrieval",
       ch. 8, 2008.

    Examples
    --------
    >>> from recframe.metrics import recall_at_k
    >>> round(recall_at_k([1, 1, 0, 0, 1], [0.4, 0.1, 0.2, 0.5, 0.3], k=3), 4)
    0.6667
    """
    return _measure_one(relevant, score, make_metric("recall", k))


def r_precision(relevant: ArrayLike, score: ArrayLike) -> float:
    """
    Return the R-precision of one ranking.

    R-precision = hits@R / R, where R is the number of relevant observations: precision and recall
    at the cut-off where they are equal. Tied scores count with their exact expectation.

    Parameters
    ----------
    relevant : array_like of shape (n,), bool or 0/1
        Whether each observation is relevant.
    score : array_like of shape (n,), real
        The score of each observation, higher first; no NaN.

    Returns
    -------
    float
        The R-precision, in [0, 1]; NaN where nothing is relevant.

    Raises
    ------
    RecframeError
        A `ValueError`: the lengths differ, `relevant` is not 0/1, or a score is NaN or not a
        number.

    See Also
    --------
    precision_at_k : The precision at a cut-off of one's choice.
    recframe.evaluate : The metrics of every user of a frame.

    Notes
    -----
    The definition is trec_eval's ``Rprec`` [1]_.

    References
    ----------
    .. [1] C. Buckley and E. M. Voorhees, "Retrieval System Evaluation", in "TREC: Experiment and
       Evaluation in Information Retrieval", 2005.

    Examples
    --------
    >>> from recframe.metrics import r_precision
    >>> round(r_precision([1, 1, 0, 0, 1], [0.4, 0.1, 0.2, 0.5, 0.3]), 4)
    0.6667
    """
    return _measure_one(relevant, score, make_metric("r_precision"))


def recall(recommended: list[Any] | Array, target: list[Any] | Array) -> float:
    """
    Return the recall of a set of recommended items.

    recall = n / R, where R is the number of targets and n that of targets recommended: recall@k
    where the k best items are recommended.

    Parameters
    ----------
    recommended : list or ndarray of shape (n,)
        The items recommended, in any order; an item there twice counts once.
    target : list or ndarray of shape (n,)
        The relevant items; an item there twice counts once.

    Returns
    -------
    float
        The recall, in [0, 1]; 0.0 where there is no target.

    Raises
    ------
    TypeError
        An argument is neither a list nor an array, or an item cannot be hashed.

    See Also
    --------
    recall_at_k : Recall of a ranking of observations with their relevance.
    recframe.evaluate : The metrics of every user of a frame, with the targets as ``truth=``.

    Examples
    --------
    >>> from recframe.metrics import recall
    >>> recall([1, 2, 3, 4, 5], [1, 3, 4, 6, 8, 11, 13, 14])
    0.375
    """
    for name, items in {"recommended": recommended, "target": target}.items():
        if not isinstance(items, list | np.ndarray):
            raise TypeError(f"{name} must be a list or an array, found {type(items)}")
    targets = set(target)
    return len(targets.intersection(recommended)) / len(targets) if targets else 0.0


def _measure_one(relevant: ArrayLike, score: ArrayLike, metric: Metric) -> float:
    """Return a metric of one ranking given as arrays."""
    relevant, score = np.asarray(relevant), np.asarray(score)
    if relevant.ndim != 1 or score.ndim != 1 or len(relevant) != len(score):
        raise RecframeError(
            "relevant and score must be one-dimensional and of one length, "
            f"found shapes {relevant.shape} and {score.shape}"
        )
    if len(score) and score.dtype.kind not in "iuf":
        raise RecframeError(f"score must be numbers, found dtype {score.dtype}")
    if score.dtype.kind == "f" and np.isnan(score).any():
        raise RecframeError(f"score must not be NaN, found {int(np.isnan(score).sum())}")
    if not np.isin(relevant, (0, 1)).all():
        raise RecframeError("relevant must be boolean or 0/1")
    if metric.k is not None and metric.k > len(score):
        raise RecframeError(f"k must be at most the {len(score)} observations, found {metric.k}")
    rankings = Rankings(score, relevant == 1, np.array([0, len(score)]), np.zeros(1, np.int64))
    policy = Policy(short="raise", zero_division=np.nan)
    return float(measure(count(rankings, "expected"), [metric], policy)[0, 0])
