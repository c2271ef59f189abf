"""What other libraries do at the edges: empty lists, scores below zero, ties.

Each test is skipped where its library is not installed.
"""

import math

import numpy as np
import pandas as pd
import pytest

import recframe  # noqa: F401
from elsewhere import GRADED, ours

K = 3


@pytest.mark.filterwarnings("ignore:test item list is empty")
def test_lenskit_empty_list():
    """Of an empty list two of its metrics are NaN, the others 0; without truth hits are NaN."""
    metrics = pytest.importorskip("lenskit.metrics", reason="LensKit is not installed")
    ranking = pytest.importorskip("lenskit.metrics.ranking")
    items = pytest.importorskip("lenskit.data").ItemList
    recs, test = items(item_ids=np.array([], str), ordered=True), items(["a"], ordered=True)
    none = [metrics.Precision(K), ranking.AveragePrecision(K)]
    zero = [metrics.Recall(K), metrics.Hit(K), metrics.RecipRank(K), metrics.NDCG(K)]

    assert [math.isnan(metric.measure_list(recs, test)) for metric in none] == [True] * 2
    assert [metric.measure_list(recs, test) for metric in zero] == [0] * 4
    assert [math.isnan(metric.measure_list(test, recs)) for metric in zero[1:]] == [True] * 3


def test_torchmetrics_finds_nothing_below_zero():
    """A score of 0 or less is no hit in four of its metrics, and one like others in the rest."""
    functional = pytest.importorskip(
        "torchmetrics.functional.retrieval", reason="torchmetrics is not installed"
    )
    torch = pytest.importorskip("torch")
    score, relevant = torch.tensor([0.0, -1.0]), torch.tensor([True, False])
    blind = ["precision", "recall", "average_precision", "reciprocal_rank"]
    others = ["hit_rate", "r_precision", "normalized_dcg", "auroc"]

    def values(names):
        return [getattr(functional, f"retrieval_{name}")(score, relevant).item() for name in names]

    assert [0.0] * 4 == values(blind)
    assert [1.0] * 4 == values(others)


def test_torchmetrics_ties():
    """Its NDCG, of grades too, and AUC are expectations, as recframe's; precision goes by rows."""
    functional = pytest.importorskip(
        "torchmetrics.functional.retrieval", reason="torchmetrics is not installed"
    )
    torch = pytest.importorskip("torch")
    frame = pd.DataFrame({"user": "u", "score": [0.5, 0.5, 0.5, 0.1], "relevant": [3, 0, 1, 2]})
    score, grade = torch.tensor(frame["score"].to_numpy()), torch.tensor(frame["relevant"])
    theirs = functional.retrieval_normalized_dcg(score, grade, top_k=2).item()
    tied, rows = torch.tensor([0.5, 0.5]), ([True, False], [False, True])
    auc = functional.retrieval_auroc(score, grade > 1).item()
    by_row = [functional.retrieval_precision(tied, torch.tensor(row), top_k=1) for row in rows]

    assert frame.rec(min_relevance=1).ndcg(k=2).iloc[0, 0] == pytest.approx(theirs, rel=1e-6)
    assert frame.rec(min_relevance=2).auc().iloc[0, 0] == pytest.approx(auc, rel=1e-6)
    assert {0.0, 1.0} == {value.item() for value in by_row}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # numba's, about its own types
def test_ranx_keeps_the_order_of_few():
    """Ties among at most 15 items go as they were given, as ties="first" has it."""
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    rng = np.random.default_rng(1)
    for n_items in (2, 8, 15):
        items = rng.permutation([f"d{number:02}" for number in range(n_items)]).tolist()
        scores = rng.integers(0, 3, n_items).astype(float).tolist()
        true = items[1::3]
        qrels = ranx.Qrels({"u": dict.fromkeys(true, 1)})
        run = ranx.Run({"u": dict(zip(items, scores, strict=True))})
        frame = pd.DataFrame({"user": "u", "item": items, "score": scores})
        frame["relevant"] = frame["item"].isin(true)
        mine = frame.rec(ties="first").average_precision().iloc[0, 0]

        assert mine == pytest.approx(float(ranx.evaluate(qrels, run, "map")))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # numba's, about its own types
def test_ranx_orders_ties_by_chance():
    """Of 40 tied items the value depends on the order they were given in."""
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    items = [f"d{number:02}" for number in range(40)]
    qrels = ranx.Qrels({"u": dict.fromkeys(items[:10], 1)})
    values = set()
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(items).tolist()
        run = ranx.Run({"u": dict.fromkeys(order, 1.0)})
        values.add(float(ranx.evaluate(qrels, run, "precision@10")))

    assert len(values) > 1


@pytest.mark.parametrize("grades", [[0, 2, 0, 0, 1, 0, 4, 0], [0, 1, 0, 3], [0, 0], [1, 0, 1]])
def test_scikit_learn(grades):
    """Scikit-learn's DCG is of grades and of ties too."""
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    of_rows = [grades]
    for scores in (range(len(grades), 0, -1), [n // 2 for n in range(len(grades), 0, -1)]):
        frame = pd.DataFrame({"user": "u", "score": scores, "relevant": grades})
        bound = frame.rec(min_relevance=1, short="pad")
        for k in (None, 2):
            theirs = metrics.dcg_score(of_rows, [list(scores)], k=k)
            assert theirs == pytest.approx(bound.dcg(k=k).iloc[0, 0])


@pytest.mark.parametrize(("listed", "grades"), GRADED)
def test_cwl_eval(listed, grades):
    """ir_measures has RBP from cwl_eval: ours of the whole ranking, where it is cut too."""
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    pytest.importorskip("cwl", reason="cwl_eval is not installed")
    run = {"1": {item: float(-place) for place, item in enumerate(listed)}}
    for p in (0.5, 0.8, 0.95):
        whole = ir_measures.RBP(p=p, rel=1)
        for measure in (whole, whole @ 2):
            found = ir_measures.cwl_eval.calc_aggregate([measure], {"1": grades}, run)
            assert ours(listed, grades, f"rbp(p={p})") == pytest.approx(found[measure])
