"""Measuring plans once for all metrics."""

import numpy as np
import pandas as pd
import pytest

import recframe  # noqa: F401
import strategies
from recframe.kernel.counting import Counts, Depth
from recframe.metrics.measure import make_plan, measure_one
from recframe.metrics.names import parse_metric, parse_metrics
from recframe.metrics.statistics import Policy, RankStatistics

NONE = np.empty(0, np.int64)
OF_WHOLE = [strategies.label(name) for name, k in strategies.every_metric(3) if k is None]


@pytest.mark.parametrize(
    ("asked", "depth"),
    [
        (["precision@4", "recall@9"], Depth(9, at_n_relevant=False)),
        (["precision@4", "r_precision"], Depth(4, at_n_relevant=True)),
        (["r_precision"], Depth(0, at_n_relevant=True)),
        *(([name, "r_precision"], None) for name in OF_WHOLE if name != "r_precision"),
    ],
)
def test_depth(asked, depth):
    """Metrics need rows down to the last cut-off, to R, or to the end without a cut-off."""
    assert depth == make_plan(parse_metrics(asked)).depth


def test_plan():
    """A plan sorts cut-offs without repeats, and needs gains if a metric counts them."""
    plan = make_plan(parse_metrics(["recall@9", "precision@4", "f1@9", "auc"]))

    assert (4, 9) == plan.cut_offs
    assert not plan.needs_gains
    assert make_plan(parse_metrics("ndcg@2")).needs_gains
    assert () == make_plan(parse_metrics("r_precision")).cut_offs


@pytest.mark.parametrize(("name", "k"), strategies.every_metric(3))
def test_users_without_a_ranked_row(name, k):
    """A metric without a ranked row is 0, or `zero_division` without relevant or compared rows."""
    none = np.zeros(2, np.int64)
    counts = Counts(none, np.array([0, 2]), NONE, NONE, NONE, none, NONE)
    metric = parse_metric(strategies.label(name, k))
    of_none = 0.0 if name == "judged" else strategies.of_no_relevant(name, 0.5, fall_out=0.5)
    for has_truth, expected in {
        False: [of_none, 0.5 if name in ("auc", "fall_out") else 0.0],
        True: [of_none, 0.0],
    }.items():
        found = measure_one(metric, RankStatistics(counts), Policy("pad", 0.5, has_truth))
        np.testing.assert_array_equal(expected, found)


def test_statistics_of_hits_alone():
    """Metrics that count hits need only their number."""
    counts = np.array([5, 2]), np.array([4, 0])
    statistics = RankStatistics.of_hits(*counts, np.array([1, 0]))
    expected = {"precision": [0.5, 0], "recall": [0.25, 7], "f1": [1 / 3, 7]}

    for name, values in expected.items():
        found = measure_one(parse_metric(f"{name}@2"), statistics, Policy("pad", 7))
        assert values == found.tolist()


@pytest.mark.parametrize("relevance", ["binary", "graded"])
def test_a_user_without_ties_beside_one_with_ties(relevance):
    """Every metric of a user has the same bits alone as with other users, with and without ties."""
    rng = np.random.default_rng(3)
    users = np.repeat(np.arange(24), 30)
    scores = np.where(users < 12, rng.permutation(len(users)), rng.integers(0, 5, len(users)))
    grades = rng.integers(0, 2 if relevance == "binary" else 4, len(users))
    frame = pd.DataFrame({"user": users, "score": scores, "relevant": grades})
    labels = [strategies.label(name, k) for k in (3, 30) for name, k in strategies.every_metric(k)]
    labels = list(dict.fromkeys(labels))
    whole = frame.rec(min_relevance=1, short="pad").evaluate(labels)
    alone = [frame[users == user].rec(min_relevance=1, short="pad") for user in range(24)]

    pd.testing.assert_frame_equal(
        whole, pd.concat([bound.evaluate(labels) for bound in alone]), check_exact=True
    )
