"""Measuring: what metrics take, planned once."""

import pytest

import strategies
from recframe.kernel.counting import Depth
from recframe.metrics.measure import make_plan
from recframe.metrics.names import make_metric, parse_metrics

OF_WHOLE = [make_metric(name).label for name, k in strategies.every_metric(3) if k is None]


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
    """Metrics look down to the last cut-off, to R, or without a cut-off to the end."""
    assert depth == make_plan(parse_metrics(asked)).depth


def test_plan():
    """Cut-offs are sorted and each is there once; gains are needed where a metric counts them."""
    plan = make_plan(parse_metrics(["recall@9", "precision@4", "f1@9", "auc"]))

    assert ((4, 9), 9) == (plan.cut_offs, plan.deepest)
    assert not plan.needs_gains
    assert make_plan(parse_metrics("ndcg@2")).needs_gains
    assert 0 == make_plan(parse_metrics("r_precision")).deepest
