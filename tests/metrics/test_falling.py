"""Falling cut-offs: what one gives is to the bit the same, whichever others are asked for."""

import numpy as np
import pandas as pd
import pytest

import recframe  # noqa: F401
import strategies
from recframe.metrics.falling import Falling, find_across, find_ends


@pytest.mark.parametrize("cut_offs", [range(1, 51), [1, 2, 3, 30], [7, 20, 1000]])
@pytest.mark.parametrize("n_scores", [1, 5, 40, 10**6])
@pytest.mark.parametrize("relevance", ["binary", "graded", "all"])
def test_a_cut_off_beside_others(cut_offs, n_scores, relevance):
    """To the last bit what it is alone, by every metric and however many rows are tied."""
    rng = np.random.default_rng(n_scores)
    users = np.repeat(np.arange(40), rng.integers(1, 90, 40))
    frame = pd.DataFrame(
        {
            "user": users,
            "score": rng.integers(0, n_scores, len(users)),
            "relevant": {
                "binary": rng.random(len(users)) < 0.3,
                "graded": rng.integers(0, 4, len(users)),
                "all": np.ones(len(users)),
            }[relevance],
        }
    )
    bound = frame.rec(short="pad", min_relevance=None if relevance == "binary" else 1)
    names = [name for name, k in strategies.every_metric(3) if k is not None]
    labels = [strategies.label(name, k) for k in cut_offs for name in names]
    beside = bound.evaluate(labels)

    for label in labels[:: 1 + len(labels) // 40]:
        found = bound.evaluate(label)
        pd.testing.assert_frame_equal(found, beside[found.columns], check_exact=True)


def test_spans_by_the_cut_off_that_they_end_at():
    """At it or above it, beyond the last one they come last; as they stand where that is one."""
    ends = find_ends(np.array([9, 2, 3, 1, 3, 2]), [2, 3, 5])

    assert [1, 3, 5, 2, 4, 0] == ends.order.tolist()
    assert [[1, 3, 5], [2, 4], [], [0]] == [ends.order[ends.at(n)].tolist() for n in range(4)]


def test_spans_across_a_cut_off():
    """Those with positions on both sides of one, by the cut-off that they end at."""
    above, last = np.array([0, 1, 2, 2, 4, 0]), np.array([2, 3, 3, 9, 5, 5])
    across = find_across(above, last, [2, 3, 5])

    assert [1, 5, 3] == across.order.tolist()
    assert [[], [1], [5], [3]] == [across.order[across.at(n)].tolist() for n in range(4)]


def test_further_down_is_made_anew():
    """Further up is made from what is at hand, which is there for as long as it is asked for."""
    made = []

    def make(cut_offs):
        for k in cut_offs[::-1]:
            made.append(k)
            yield k, 10 * k

    falling = Falling(make, (2, 3, 5))

    assert [30, 30, 20, 50, 30] == [falling.at(k) for k in (3, 3, 2, 5, 3)]
    assert [5, 3, 2, 5, 3] == made
