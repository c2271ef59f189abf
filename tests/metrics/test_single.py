"""Metrics of one ranking take arrays."""

import math

import numpy as np
import pandas as pd
import pytest

from recframe.errors import RecframeError
from recframe.metrics import precision_at_k, r_precision, recall, recall_at_k

RELEVANT, SCORE = [1, 1, 0, 0, 1], [4, 1, 2, 5, 3]


@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_values(kind):
    """Metrics of relevant rows at 2, 3 and 5 are the same for lists, arrays and Series."""
    relevant, score = kind(RELEVANT), kind(SCORE)

    assert [0.0, 1 / 2, 2 / 3, 2 / 4, 3 / 5] == [
        precision_at_k(relevant, score, k) for k in range(1, 6)
    ]
    assert [0.0, 1 / 3, 2 / 3, 2 / 3, 1.0] == [recall_at_k(relevant, score, k) for k in range(1, 6)]
    for pair in (relevant, score), (RELEVANT, score), (relevant, SCORE):
        assert r_precision(*pair) == 2 / 3


def test_edges():
    """Without a relevant row precision is 0 and recall NaN, and a tie has expected hits."""
    assert precision_at_k([0, 0], [0.5, 0.1], 1) == 0
    assert math.isnan(recall_at_k([0, 0], [0.5, 0.1], 1))
    assert math.isnan(r_precision([], []))
    assert recall_at_k([True, False], [7, 7], 1) == 1 / 2
    assert recall_at_k(pd.Series([True, 0], dtype=object), [7, 7], 1) == 1 / 2


@pytest.mark.parametrize(
    ("relevant", "score", "k", "message"),
    [
        ([1, 0], [2, 1], 3, "k must be at most the 2 observations, but is 3"),
        ([1, 0], [2, 1], 0, "k must be an integer of 1 or more, but is 0"),
        ([1], [2, 1], 1, r"of one length, but have shapes \(1,\) and \(2,\)"),
        ([[1]], [2], 1, r"one-dimensional and of one length, but have shapes \(1, 1\) and \(1,\)"),
        ([1], [[2]], 1, r"one-dimensional and of one length, but have shapes \(1,\) and \(1, 1\)"),
        ([1, 0], ["a", "b"], 1, "score must be numbers, but has dtype <U1"),
        ([1, 0], [True, False], 1, "score must be numbers, but has dtype bool"),
        ([1, 0, 0], [math.nan, 1, math.nan], 1, "score must not be NaN, but has 2"),
        ([1, 2], [2, 1], 1, "relevant must be boolean or 0/1"),
        ([1, -1], [2, 1], 1, "relevant must be boolean or 0/1"),
        (np.ma.array([1, 0], mask=[0, 1]), [2, 1], 1, "relevant must not be masked, but has 1 mas"),
        ([1, 0], np.ma.array([2, 1], mask=[1, 1]), 1, "score must not be masked, but has 2 masked"),
        (pd.Series([1, 0]), pd.Series([2, 1], index=[1, 0]), 1, "Series with different indexes"),
    ],
)
def test_refusals(relevant, score, k, message):
    """Arrays that are no ranking are refused with the reason."""
    with pytest.raises(RecframeError, match=message):
        precision_at_k(relevant, score, k)


def test_recall_of_a_set():
    """Repeated items count once, and the recall without a target is 0."""
    assert recall([1, 2, 3, 4, 5], [1, 3, 4, 6, 8, 11, 13, 14]) == 3 / 8
    assert recall(np.array([3, 3, 9]), [3, 3, 4]) == 1 / 2
    assert recall([1], []) == 0
    for arguments, name in (("ab", [1]), "recommended"), (([1], {1}), "target"):
        with pytest.raises(TypeError, match=f"{name} must be a list or an array, but is"):
            recall(*arguments)
    with pytest.raises(RecframeError, match="target must not be masked, but has 1 masked of 2"):
        recall([1], np.ma.array([1, 2], mask=[0, 1]))


@pytest.mark.parametrize("flags", [[1, 0, 1], [True, False], np.array([0, 0, 1]), np.array([True])])
def test_flags_are_no_sets_of_items(flags):
    """Recall of sets refuses flags of relevance, because they would collapse to one set."""
    with pytest.raises(RecframeError, match="must hold items, but holds flags of 0 and 1"):
        recall(flags, [1, 2])
    with pytest.raises(RecframeError, match="target must hold items, but holds flags of 0 and 1"):
        recall([1, 2], flags)


def test_items_zero_and_one():
    """The items may be 0 and 1, each once."""
    assert 0.5 == recall([0], [1, 0])
