"""The README's table of other libraries, by metric: each cell on lists that tell formulas apart.

A library's value is that of recframe, or that of the formula the table names, by hand. Each test is
skipped where its library is not installed.
"""

import math

import numpy as np
import pandas as pd
import pytest

import recframe

K = 3
# What is listed, best first, and what is relevant: hits at 2 and 3 of R = 5 and one row beyond k,
# fewer rows than k and R, nothing but hits, no hit.
LISTS = [("abcde", "bcexyz"), ("ab", "bcxyz"), ("bcd", "bcdx"), ("abcd", "xy")]
by_list = pytest.mark.parametrize(("listed", "true"), LISTS)


def ours(listed, true, labels, **options):
    """Return recframe's values of one list."""
    frame = pd.DataFrame({"user": "u", "item": list(listed)})
    frame["score"] = np.arange(len(frame), 0, -1) / 8
    truth = pd.DataFrame({"user": "u", "item": list(true)})
    table = recframe.evaluate(frame, labels, truth=truth, **options)
    return table["score"].iloc[0].to_dict()


def hits(listed, true):
    """Return the positions of the hits among the first k."""
    return [place for place, item in enumerate(listed[:K], 1) if item in true]


def sum_of_precision(listed, true):
    """Return what every average precision divides: precision at each hit, added up."""
    return sum(n / place for n, place in enumerate(hits(listed, true), 1))


def dcg(places):
    """Return the discounted gain of hits at these places."""
    return sum(1 / math.log2(1 + place) for place in places)


def assert_differ(formulas, theirs, listed, true):
    """Assert that their values are those of other formulas, and on the first list not ours."""
    assert formulas == pytest.approx(theirs, rel=1e-6)
    if (listed, true) == LISTS[0]:
        mine = ours(listed, true, list(theirs), short="pad")
        assert not any(mine[label] == pytest.approx(theirs[label]) for label in theirs)


@by_list
def test_rectools(listed, true):
    """RecTools: the ideal of its NDCG has k hits, unless told otherwise; R-precision is capped."""
    metrics = pytest.importorskip("rectools.metrics", reason="RecTools is not installed")
    ranked = pd.DataFrame({"user_id": "u", "item_id": list(listed)})
    ranked["rank"] = np.arange(1, len(ranked) + 1)
    interactions = pd.DataFrame({"user_id": "u", "item_id": list(true)})

    def value(metric):
        return metric.calc_per_user(ranked, interactions)["u"]

    theirs = {
        "precision@3": value(metrics.Precision(K)),
        "recall@3": value(metrics.Recall(K)),
        "capped_recall@3": value(metrics.Precision(K, r_precision=True)),
        "f1@3": value(metrics.F1Beta(K)),
        "hit_rate@3": value(metrics.HitRate(K)),
        "reciprocal_rank@3": value(metrics.MRR(K)),
        "average_precision@3": value(metrics.MAP(K)),
        "ndcg@3": value(metrics.NDCG(K, divide_by_achievable=True)),
    }
    assert ours(listed, true, list(theirs), short="pad") == pytest.approx(theirs)
    of_k_places = dcg(hits(listed, true)) / dcg(range(1, K + 1))
    assert of_k_places == pytest.approx(value(metrics.NDCG(K)))


def test_rectools_ideal_has_k_hits():
    """Its default NDCG is below 1 for a perfect list of fewer than k items."""
    metrics = pytest.importorskip("rectools.metrics", reason="RecTools is not installed")
    ranked = pd.DataFrame({"user_id": ["u"], "item_id": ["a"], "rank": [1]})
    theirs = metrics.NDCG(K).calc_per_user(ranked, ranked[["user_id", "item_id"]])["u"]

    assert 1.0 == ours("a", "a", "ndcg@3", short="pad")["ndcg@3"]
    assert 1 / dcg([1, 2, 3]) == pytest.approx(theirs)


@by_list
@pytest.mark.filterwarnings("ignore")  # those of its Spark and pandas versions
def test_replay(listed, true):
    """RePlay: average precision is divided by min(R, k); AUC is that of the first k rows."""
    metrics = pytest.importorskip("replay.metrics", reason="RePlay is not installed")
    lists = pd.DataFrame({"query_id": "u", "item_id": list(listed)})
    lists["rating"] = np.arange(len(lists), 0, -1.0)
    relevant = pd.DataFrame({"query_id": "u", "item_id": list(true)})

    def value(name):
        (by_user,) = getattr(metrics, name)([K], mode=metrics.PerUser())(lists, relevant).values()
        return by_user["u"]

    same = {
        "precision@3": value("Precision"),
        "recall@3": value("Recall"),
        "hit_rate@3": value("HitRate"),
        "reciprocal_rank@3": value("MRR"),
        "ndcg@3": value("NDCG"),
    }
    assert ours(listed, true, list(same), short="pad") == pytest.approx(same)
    first, n_hits = listed[:K], len(hits(listed, true))
    no_value = {0: 0.0, len(first): 1.0}  # where recframe has none
    auc = ours(first, true, "auc")["auc"]
    assert (n_hits in no_value) == math.isnan(auc)
    formulas = {
        "average_precision@3": sum_of_precision(listed, true) / min(len(true), K),
        "auc": no_value.get(n_hits, auc),
    }
    theirs = {"average_precision@3": value("MAP"), "auc": value("RocAuc")}
    assert_differ(formulas, theirs, listed, true)


@by_list
def test_lenskit(listed, true):
    """LensKit: shrink; AP is divided by min(R, k, n), its NDCG is that of another offset."""
    metrics = pytest.importorskip("lenskit.metrics", reason="LensKit is not installed")
    ranking = pytest.importorskip("lenskit.metrics.ranking")
    items = pytest.importorskip("lenskit.data").ItemList
    recs, test = items(item_ids=list(listed), ordered=True), items(item_ids=list(true))

    def value(metric):
        return metric.measure_list(recs, test)

    same = {
        "precision@3": value(metrics.Precision(K)),
        "capped_recall@3": value(metrics.Recall(K)),
        "hit_rate@3": value(metrics.Hit(K)),
        "reciprocal_rank@3": value(metrics.RecipRank(K)),
        "ndcg@3": value(metrics.NDCG(K, weight=metrics.LogRankWeight(offset=1))),
        "ndcg(offset=0)@3": value(metrics.NDCG(K)),
        "ndcg(offset=0)": value(metrics.NDCG()),
        "dcg(offset=0)@3": value(metrics.DCG(K)),
        "dcg@3": value(metrics.DCG(K, weight=metrics.LogRankWeight(offset=1))),
    }
    assert ours(listed, true, list(same), short="shrink") == pytest.approx(same)

    n_rows = min(len(listed), K)
    formulas = {
        "recall@3": len(hits(listed, true)) / min(len(true), K),
        "average_precision@3": sum_of_precision(listed, true) / min(len(true), n_rows),
    }
    theirs = {
        "recall@3": value(metrics.Recall(K)),
        "average_precision@3": value(ranking.AveragePrecision(K)),
    }
    assert_differ(formulas, theirs, listed, true)


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


@by_list
def test_torchmetrics(listed, true):
    """Torchmetrics: of what is listed; AP at k is divided by the hits among the first k."""
    functional = pytest.importorskip(
        "torchmetrics.functional.retrieval", reason="torchmetrics is not installed"
    )
    torch = pytest.importorskip("torch")
    score = torch.arange(len(listed), 0, -1) / 8
    relevant = torch.tensor([item in true for item in listed])

    def value(name, **options):
        return getattr(functional, f"retrieval_{name}")(score, relevant, **options).item()

    theirs = {
        "precision@3": value("precision", top_k=K),
        "recall@3": value("recall", top_k=K),
        "r_precision": value("r_precision"),
        "hit_rate@3": value("hit_rate", top_k=K),
        "reciprocal_rank@3": value("reciprocal_rank", top_k=K),
        "average_precision": value("average_precision"),
        "ndcg@3": value("normalized_dcg", top_k=K),
        "fall_out@3": value("fall_out", top_k=K),
        "auc": value("auroc"),
    }
    frame = pd.DataFrame({"user": "u", "score": score.numpy(), "relevant": relevant.numpy()})
    bound = frame.rec(short="pad", zero_division=0.0)
    mine = bound.evaluate(list(theirs))["score"].loc["u"].to_dict()
    assert mine == pytest.approx(theirs, rel=1e-6)
    by_hits = sum_of_precision(listed, true) / max(len(hits(listed, true)), 1)
    at_k = value("average_precision", top_k=K)
    assert by_hits == pytest.approx(at_k, rel=1e-6)
    if (listed, true) == LISTS[0]:
        assert bound.average_precision(k=K).iloc[0, 0] != pytest.approx(at_k)


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


@by_list
def test_beir(listed, true):
    """BEIR's R_cap is `capped_recall`, rounded to five digits."""
    metrics = pytest.importorskip("beir.retrieval.custom_metrics", reason="BEIR is not installed")
    run = {item: -place for place, item in enumerate(listed)}
    (theirs,) = metrics.recall_cap({"u": dict.fromkeys(true, 1)}, {"u": run}, [K]).values()
    mine = ours(listed, true, "capped_recall@3", short="pad")["capped_recall@3"]

    assert theirs == round(mine, 5)


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


# Rows of which truth says much, little or nothing: graded, with relevant and other rows unlisted.
GRADED = [
    ("abcdefgh", {"a": 0, "b": 2, "d": 0, "e": 1, "f": 0, "g": 4, "y": 3, "z": 0}),
    ("abcd", {"b": 1, "c": 0, "d": 3}),
    ("ab", {"a": 0, "b": 0}),
    ("abc", {"a": 1, "c": 1}),
    ("abc", {"a": 0, "y": 1, "z": 1}),
]
by_grade = pytest.mark.parametrize(("listed", "grades"), GRADED)


def ours_graded(listed, grades, labels, **options):
    """Return recframe's values of one list and grades of items."""
    frame = pd.DataFrame({"user": "u", "item": list(listed)})
    frame["score"] = np.arange(len(frame), 0, -1) / 8
    truth = pd.DataFrame({"user": "u", "item": list(grades), "relevant": list(grades.values())})
    options = {"truth": truth, "min_relevance": 1, "short": "pad", "zero_division": 0.0} | options
    return recframe.evaluate(frame, labels, **options)["score"].iloc[0].to_dict()


@by_grade
def test_ir_measures(listed, grades):
    """ir_measures: bpref is trec_eval's, ERR gdeval's of five digits, Judged@k shrinks."""
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    measures = {
        "bpref": ir_measures.Bpref,
        "judged@3": ir_measures.Judged @ 3,
        "judged@6": ir_measures.Judged @ 6,
        "err(max=4)@3": ir_measures.ERR @ 3,
        "err(max=4)@20": ir_measures.ERR @ 20,
    }
    run = {"1": {item: float(-place) for place, item in enumerate(listed)}}  # gdeval: a number
    found = ir_measures.calc_aggregate(list(measures.values()), {"1": grades}, run)
    theirs = {label: found[measure] for label, measure in measures.items()}

    mine = ours_graded(listed, grades, list(measures), short="shrink")
    assert mine == pytest.approx(theirs, abs=6e-6)


@by_grade
def test_cwl_eval(listed, grades):
    """ir_measures has RBP from cwl_eval: the same of whole rankings, and of cut ones too."""
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    pytest.importorskip("cwl", reason="cwl_eval is not installed")
    run = {"1": {item: float(len(listed) - i) for i, item in enumerate(listed)}}
    for p in (0.5, 0.8, 0.95):
        label, whole = f"rbp(p={p})", ir_measures.RBP(p=p, rel=1)
        for measure in (whole, whole @ 2):
            found = ir_measures.cwl_eval.calc_aggregate([measure], {"1": grades}, run)
            assert ours_graded(listed, grades, label)[label] == pytest.approx(found[measure])


@by_grade
@pytest.mark.filterwarnings("ignore")  # numba's, about its own types
def test_ranx(listed, grades):
    """Ranx: the same, but that its bpref has no number where N = 0, and its RBP counts grades."""
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    run = ranx.Run({"u": {item: float(len(listed) - i) for i, item in enumerate(listed)}})
    flags = {item: int(grade > 0) for item, grade in grades.items()}

    def value(of_items, name):
        return float(ranx.evaluate(ranx.Qrels({"u": of_items}), run, name))

    same = {
        "dcg@3": value(grades, "dcg@3"),
        "dcg": value(grades, "dcg"),
        "rbp(p=0.8)": value(flags, "rbp.80"),
        "rbp(p=0.95)": value(flags, "rbp.95"),
    }
    if min(grades.values()) == 0 < max(grades.values()):
        same["bpref"] = value(grades, "bpref")
    assert ours_graded(listed, grades, list(same)) == pytest.approx(same)
    by_grades = value(grades, "rbp.80")
    mine = ours_graded(listed, grades, "rbp(p=0.8)")["rbp(p=0.8)"]
    assert (mine == pytest.approx(by_grades)) == (max(grades.get(item, 0) for item in listed) <= 1)


@by_grade
def test_scikit_learn(listed, grades):
    """Scikit-learn's DCG is of listed items, of grades and of ties too."""
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    of_rows = [[grades.get(item, 0) for item in listed]]
    for scores in (range(len(listed), 0, -1), [n // 2 for n in range(len(listed), 0, -1)]):
        frame = pd.DataFrame({"user": "u", "score": scores, "relevant": of_rows[0]})
        bound = frame.rec(min_relevance=1, short="pad")
        for k in (None, 2):
            theirs = metrics.dcg_score(of_rows, [list(scores)], k=k)
            assert theirs == pytest.approx(bound.dcg(k=k).iloc[0, 0])
