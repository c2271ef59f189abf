"""A value at a cut-off does not depend on the other cut-offs, to the last bit."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import recframe  # noqa: F401
import strategies


@pytest.mark.parametrize("cut_offs", [range(1, 51), [1, 2, 3, 30], [7, 20, 1000]])
@pytest.mark.parametrize("n_scores", [1, 5, 40, 10**6])
@pytest.mark.parametrize("relevance", ["binary", "graded", "all"])
def test_a_cut_off_beside_others(cut_offs, n_scores, relevance):
    """Every metric at a cut-off has the same bits alone as among others, with any ties."""
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

    for label in labels[:: 1 + len(labels) // 16]:
        found = bound.evaluate(label)
        pd.testing.assert_frame_equal(found, beside[found.columns], check_exact=True)


def test_a_whole_ranking_beside_its_first_rows():
    """A metric of whole rankings is right next to cut-offs above the ties, in any order."""
    frame = pd.DataFrame({"user": 1, "score": [3, 2, 0, 0], "relevant": [0, 0, 1, 0]})
    for labels in itertools.permutations(["ndcg@1", "ndcg@2", "ndcg", "ndcg@4"]):
        found = frame.rec.evaluate(labels)["score"].loc[1]
        whole = (1 / math.log2(4) + 1 / math.log2(5)) / 2

        expected = {"ndcg@1": 0.0, "ndcg@2": 0.0, "ndcg@4": whole, "ndcg": whole}
        assert expected == pytest.approx(found.to_dict())
