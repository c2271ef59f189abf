"""Functions of one ranking in arrays, one for each metric; and the recall of two sets."""

import inspect
from collections.abc import Callable
from typing import Any, ParamSpec

import numpy as np
from numpy.typing import ArrayLike

from recframe.errors import RecframeError, WrongTypeError, quote
from recframe.kernel.threads import Array
from recframe.metrics.definitions import DEFINITIONS, describe_arguments
from recframe.metrics.measure import check_no_mask, measure_ranking
from recframe.metrics.names import FOR_EACH, make_metric
from recframe.public_calls import public

__all__ = [
    "all_relevant",
    "auc",
    "average_precision",
    "bpref",
    "capped_average_precision",
    "capped_recall",
    "dcg",
    "err",
    "f1",
    "fall_out",
    "hit_rate",
    "judged",
    "ndcg",
    "precision",
    "precision_at_k",
    "r_precision",
    "rbp",
    "recall",
    "recall_at_k",
    "reciprocal_rank",
]

FLAGS = (bool, np.bool_)
Arguments = ParamSpec("Arguments")
DESCRIPTION = """
{summary}

hits@k is the number of relevant observations among the k with the highest scores, R that of
all, n that of observations. Tied scores count with their exact expectation.

Parameters
----------
relevant, score : array_like of shape (n,)
    Whether each observation is relevant, 0/1 or bool, and its score, highest first
    and never NaN.{parameters}

Returns
-------
float
    The value, {values}; NaN where the metric is not defined.

Raises
------
RecframeError
    A `ValueError`: the lengths differ, an argument is out of its range, `relevant` is not
    0/1, a score is NaN or not a number, or a value is masked.

See Also
--------
recframe.RecAccessor.{name} : The same for every user of a frame, with the convention.

Examples
--------
>>> import recframe
>>> recframe.metrics.{called}({example}
"""


def metric_function(function: Callable[Arguments, float]) -> Callable[Arguments, float]:
    """Return the public function of a metric, with a docstring made from its definition."""
    called = function.__name__
    name = called.removesuffix("_at_k")
    definition = DEFINITIONS[name]
    if formula := inspect.getdoc(definition.formula):  # python -OO removes docstrings
        lines = describe_arguments(definition, "", "in [1, n]")
        function.__doc__ = DESCRIPTION.format(
            summary=formula.splitlines()[0].replace(FOR_EACH, " of one ranking: "),
            parameters="".join(f"\n{line}" for line in lines),
            values="in [0, 1]" if definition.is_bounded else "0 or more",
            name=name,
            called=called,
            example=formula.partition(">>> recframe.metrics.")[2].partition("(")[2],
        )
    function.__module__ = "recframe.metrics"
    return public(function)


@metric_function
def precision(relevant: ArrayLike, score: ArrayLike, k: int) -> float:
    return measure_ranking(relevant, score, make_metric("precision", k=k))


@metric_function
def precision_at_k(relevant: ArrayLike, score: ArrayLike, k: int) -> float:
    return measure_ranking(relevant, score, make_metric("precision", k=k))


@metric_function
def recall_at_k(relevant: ArrayLike, score: ArrayLike, k: int) -> float:
    return measure_ranking(relevant, score, make_metric("recall", k=k))


@metric_function
def r_precision(relevant: ArrayLike, score: ArrayLike) -> float:
    return measure_ranking(relevant, score, make_metric("r_precision"))


@metric_function
def f1(relevant: ArrayLike, score: ArrayLike, k: int) -> float:
    return measure_ranking(relevant, score, make_metric("f1", k=k))


@metric_function
def capped_recall(relevant: ArrayLike, score: ArrayLike, k: int) -> float:
    return measure_ranking(relevant, score, make_metric("capped_recall", k=k))


@metric_function
def fall_out(relevant: ArrayLike, score: ArrayLike, k: int) -> float:
    return measure_ranking(relevant, score, make_metric("fall_out", k=k))


@metric_function
def ndcg(
    relevant: ArrayLike, score: ArrayLike, k: int | None = None, *, offset: float = 1
) -> float:
    return measure_ranking(relevant, score, make_metric("ndcg", k=k, offset=offset))


@metric_function
def dcg(relevant: ArrayLike, score: ArrayLike, k: int | None = None, *, offset: float = 1) -> float:
    return measure_ranking(relevant, score, make_metric("dcg", k=k, offset=offset))


@metric_function
def err(relevant: ArrayLike, score: ArrayLike, k: int | None = None, *, max: float) -> float:
    return measure_ranking(relevant, score, make_metric("err", k=k, max=max))


@metric_function
def rbp(relevant: ArrayLike, score: ArrayLike, k: int | None = None, *, p: float) -> float:
    return measure_ranking(relevant, score, make_metric("rbp", k=k, p=p))


@metric_function
def hit_rate(relevant: ArrayLike, score: ArrayLike, k: int) -> float:
    return measure_ranking(relevant, score, make_metric("hit_rate", k=k))


@metric_function
def all_relevant(relevant: ArrayLike, score: ArrayLike, k: int) -> float:
    return measure_ranking(relevant, score, make_metric("all_relevant", k=k))


@metric_function
def reciprocal_rank(relevant: ArrayLike, score: ArrayLike, k: int | None = None) -> float:
    return measure_ranking(relevant, score, make_metric("reciprocal_rank", k=k))


@metric_function
def average_precision(relevant: ArrayLike, score: ArrayLike, k: int | None = None) -> float:
    return measure_ranking(relevant, score, make_metric("average_precision", k=k))


@metric_function
def capped_average_precision(relevant: ArrayLike, score: ArrayLike, k: int) -> float:
    return measure_ranking(relevant, score, make_metric("capped_average_precision", k=k))


@metric_function
def auc(relevant: ArrayLike, score: ArrayLike) -> float:
    return measure_ranking(relevant, score, make_metric("auc"))


@metric_function
def bpref(relevant: ArrayLike, score: ArrayLike) -> float:
    return measure_ranking(relevant, score, make_metric("bpref"))


@metric_function
def judged(relevant: ArrayLike, score: ArrayLike, k: int) -> float:
    return measure_ranking(relevant, score, make_metric("judged", k=k))


@public
def recall(recommended: list[Any] | Array, target: list[Any] | Array) -> float:
    """
    Return the recall of a set of recommended items.

    recall = n / R, where R is the number of targets and n that of targets recommended: recall@k
    if the k best items are recommended. Without a target it is 0.0, so that each of many users
    counts in a plain mean; `recall_at_k` is undefined there, NaN.

    Parameters
    ----------
    recommended, target : list or ndarray of shape (n,)
        The items recommended, in any order, and the relevant ones; repeated items count once.

    Returns
    -------
    float
        The recall, in [0, 1]; 0.0 without a target.

    Raises
    ------
    RecframeError
        An argument is neither a list nor an array of one dimension, an item is masked or cannot
        be hashed (also a `TypeError`), or the items are flags: booleans, or 0 and 1 repeated.

    See Also
    --------
    recall_at_k : Recall of a ranking of observations with their relevance.

    Examples
    --------
    >>> from recframe.metrics import recall
    >>> recall([1, 2, 3, 4, 5], [1, 3, 4, 6, 8, 11, 13, 14])
    0.375
    """
    sets: list[set[Any]] = []
    arguments: dict[str, Any] = {"recommended": recommended, "target": target}
    for name, items in arguments.items():
        is_taken = isinstance(items, list) or (isinstance(items, np.ndarray) and items.ndim == 1)
        if not is_taken:
            raise WrongTypeError(f"{name} must be a list or an array, but is {quote(items)}")
        check_no_mask(name, items)
        try:
            sets.append(set(items))
        except TypeError as error:
            raise WrongTypeError(f"{name} must hold hashable items, but do not: {error}") from error
        are_flags = len(items) > len(sets[-1]) or any(isinstance(one, FLAGS) for one in items)
        if are_flags and sets[-1] <= {0, 1}:
            raise RecframeError(
                f"{name} must hold items, but holds flags of 0 and 1: {quote(items)}. Pass the "
                "items, or relevant and score to recall_at_k."
            )
    listed, targets = sets
    return len(targets & listed) / len(targets) if targets else 0.0
