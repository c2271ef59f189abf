"""Other libraries differ at the edges: empty lists, scores below zero, ties, other users.

A test without its library is skipped.
"""

import math

import numpy as np
import pandas as pd
import pytest

import recframe  # noqa: F401
from other_libraries import GRADED, Listing, ours

K = 3


@pytest.mark.filterwarnings("ignore:test item list is empty")
def test_lenskit_empty_list():
    """LensKit gives NaN in two metrics of an empty list and 0 in others, and NaN without truth."""
    metrics = pytest.importorskip("lenskit.metrics", reason="LensKit is not installed")
    ranking = pytest.importorskip("lenskit.metrics.ranking")
    items = pytest.importorskip("lenskit.data").ItemList
    recs, test = items(item_ids=np.array([], str), ordered=True), items(["a"], ordered=True)
    none = [metrics.Precision(K), ranking.AveragePrecision(K)]
    zero = [metrics.Recall(K), metrics.Hit(K), metrics.RecipRank(K), metrics.NDCG(K)]

    assert [math.isnan(metric.measure_list(recs, test)) for metric in none] == [True] * 2
    assert [metric.measure_list(recs, test) for metric in zero] == [0] * 4
    assert [math.isnan(metric.measure_list(test, recs)) for metric in zero[1:]] == [True] * 3


@pytest.mark.filterwarnings("ignore")  # RecTools negates a flag by ~.
def test_rectools_diversity():
    """RecTools' diversity by a Hamming distance of one feature equals ours under short="shrink"."""
    pytest.importorskip("rectools.metrics", reason="RecTools is not installed")
    from rectools.metrics import IntraListDiversity
    from rectools.metrics.distances import PairwiseHammingDistanceCalculator

    rng = np.random.default_rng(1)
    items = pd.DataFrame({"genre": rng.integers(0, 3, 50)})
    lists = [(user, rng.choice(50, rng.integers(1, 9), replace=False)) for user in range(40)]
    rows = [(user, *row) for user, listed in lists for row in enumerate(listed)]
    frame = pd.DataFrame(rows, columns=["user_id", "rank", "item_id"])
    frame = frame.assign(rank=frame["rank"] + 1, genre=items["genre"].loc[frame["item_id"]].array)
    options = {"like": "RecTools", "short": "shrink", "zero_division": 0}
    rec = frame.rec(score="rank", ascending=True, **options)
    for k in (2, 3, 7):
        distances = PairwiseHammingDistanceCalculator(items)
        theirs = IntraListDiversity(k, distance_calculator=distances).calc_per_user(frame)
        mine = rec.evaluate(f"diversity(genre)@{k}").iloc[:, 0]
        assert mine.tolist() == pytest.approx(theirs.tolist())


def test_torchmetrics_finds_nothing_below_zero():
    """Torchmetrics counts no hit with a score of 0 or less in four metrics, and does in others."""
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
    """Torchmetrics takes expectations over ties in NDCG and AUC, and row order in precision."""
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
@pytest.mark.filterwarnings("ignore")  # Numba warns about its own types.
def test_ranx_keeps_the_order_of_few():
    """Ranx keeps the order of ties among at most 15 items, like ties="first"."""
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
@pytest.mark.filterwarnings("ignore")  # Numba warns about its own types.
def test_ranx_orders_ties_by_chance():
    """Ranx orders ties of 40 items by the order in which they were passed."""
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
    """Scikit-learn's DCG equals recframe's, with grades and ties."""
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
    """The RBP of cwl_eval equals recframe's without a cut-off, even if cwl_eval has one."""
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    pytest.importorskip("cwl", reason="cwl_eval is not installed")
    run = {"1": {item: float(-place) for place, item in enumerate(listed)}}
    for p in (0.5, 0.8, 0.95):
        whole = ir_measures.RBP(p=p, rel=1)
        for measure in (whole, whole @ 2):
            found = ir_measures.cwl_eval.calc_aggregate([measure], {"1": grades}, run)
            assert ours(listed, grades, f"rbp(p={p})") == pytest.approx(found[measure])


RECS = pd.DataFrame(
    {"user": ["1", "1", "2", "2"], "item": ["a", "b", "a", "c"], "score": [3.0, 2.0, 2.0, 1.0]}
)
TRUTH = pd.DataFrame({"user": ["1", "1", "3"], "item": ["a", "c", "a"]})


def count_trec_eval():
    """Return the recall of each user by trec_eval, with its defaults."""
    evaluator = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
    evaluator = evaluator.RelevanceEvaluator(as_dicts(TRUTH.assign(score=1)), {"recall.2"})
    return {user: one["recall_2"] for user, one in evaluator.evaluate(as_dicts(RECS)).items()}


def count_ir_measures():
    """Return the recall of each user by ir_measures, which works like trec_eval -c."""
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    run = RECS.set_axis(["query_id", "doc_id", "score"], axis=1)
    qrels = TRUTH.set_axis(["query_id", "doc_id"], axis=1).assign(relevance=1)
    found = ir_measures.iter_calc([ir_measures.R @ 2], qrels, run)
    return {metric.query_id: metric.value for metric in found}


def count_ranx():
    """Return the recall of each user by ranx, with its flag to accept different users."""
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    qrels, run = ranx.Qrels(as_dicts(TRUTH.assign(score=1))), ranx.Run(as_dicts(RECS))
    with pytest.raises(AssertionError, match="do not match"):
        ranx.evaluate(qrels, run, "recall@2")
    ranx.evaluate(qrels, run, "recall@2", make_comparable=True)
    return run.scores["recall@2"]


def count_rectools():
    """Return the recall of each user by RecTools."""
    metrics = pytest.importorskip("rectools.metrics", reason="RecTools is not installed")
    reco = RECS.set_axis(["user_id", "item_id", "rank"], axis=1).assign(rank=[1, 2, 1, 2])
    true = TRUTH.set_axis(["user_id", "item_id"], axis=1)
    return metrics.Recall(2).calc_per_user(reco, true).to_dict()


def count_replay():
    """Return the recall of each user by RePlay."""
    metrics = pytest.importorskip("replay.metrics", reason="RePlay is not installed")
    lists = RECS.set_axis(["query_id", "item_id", "rating"], axis=1)
    true = TRUTH.set_axis(["query_id", "item_id"], axis=1)
    (values,) = metrics.Recall([2], mode=metrics.PerUser())(lists, true).values()
    return values


def count_lenskit():
    """Return the recall of each user by LensKit, 0 for users without truth."""
    metrics = pytest.importorskip("lenskit.metrics", reason="LensKit is not installed")
    data = pytest.importorskip("lenskit.data")
    lists, true = (data.ItemListCollection(["user_id"]) for _ in range(2))
    for user, rows in RECS.groupby("user"):
        lists.add(data.ItemList(item_ids=rows["item"].tolist(), ordered=True), user)
    for user, rows in TRUTH.groupby("user"):
        true.add(data.ItemList(item_ids=rows["item"].tolist()), user)
    analysis = metrics.RunAnalysis()
    analysis.add_metric(metrics.Recall(2), default=0.0)  # else lists without truth have no value
    return analysis.measure(lists, true).list_metrics()["Recall@2"].to_dict()


def count_implicit():
    """Return the recall of each user by implicit, whose precision of one user is recall here."""
    evaluation = pytest.importorskip("implicit.evaluation", reason="implicit is not installed")
    matrix = pytest.importorskip("scipy.sparse").csr_matrix
    items, values = list("abc"), {}
    for user in ("1", "2", "3"):
        listed = RECS.query(f"user == '{user}'")["item"].map(items.index)
        true = TRUTH.query(f"user == '{user}'")["item"].map(items.index)
        test = matrix((np.ones(len(true)), ([0] * len(true), true)), (1, 3))
        none = matrix(test.shape)
        if len(true):  # it leaves out a user without truth, and -1 stands for no item
            model = Listing([*listed, -1, -1])
            found = evaluation.precision_at_k(model, none, test, 2, show_progress=False)
            values[user] = found
    return values


def as_dicts(frame):
    """Return rows as a dict of dicts: {user: {item: score}}."""
    return {
        user: dict(zip(rows["item"], rows["score"], strict=True))
        for user, rows in frame.groupby("user")
    }


@pytest.mark.filterwarnings("ignore:invalid value")  # LensKit divides by 0.
@pytest.mark.filterwarnings("ignore::DeprecationWarning:lenskit")
@pytest.mark.parametrize(
    ("count", "library"),
    [
        (count_trec_eval, "trec_eval"),
        (count_ir_measures, "ir_measures"),
        (count_ranx, "ranx"),
        (count_rectools, "RecTools"),
        (count_replay, "RePlay"),
        (count_lenskit, "LensKit"),
        (count_implicit, "implicit"),
    ],
)
def test_populations(count, library):
    """Each library counts the users of one choice of `population` if frame and truth differ."""
    metric = "capped_recall@2" if library == "LensKit" else "recall@2"
    ours = RECS.rec(truth=TRUTH, like=library).evaluate(metric)["score", metric]

    assert ours.to_dict() == pytest.approx(count())


def test_recommenders_counts_users_by_metric():
    """Recommenders counts users in both tables for recall and precision, and of truth for nDCG."""
    theirs = pytest.importorskip(
        "recommenders.evaluation.python_evaluation", reason="Recommenders is not installed"
    )
    true = TRUTH.set_axis(["userID", "itemID"], axis=1).assign(rating=1.0)
    lists = RECS.set_axis(["userID", "itemID", "prediction"], axis=1)
    for name, metric, population in (
        ("recall_at_k", "recall@2", "both"),
        ("precision_at_k", "precision@2", "both"),
        ("ndcg_at_k", "ndcg@2", "truth"),
    ):
        like = {"like": "Recommenders"}
        like |= {"population": population} if metric.startswith("ndcg") else {}
        ours = RECS.rec(truth=TRUTH, **like).mean(metric).iloc[0, 0]
        assert ours == pytest.approx(getattr(theirs, name)(true, lists, k=2))


# Two users: three hits and one other row, and one hit below another row.
FLAGS = pd.DataFrame({"user": [1, 1, 1, 1, 2, 2], "score": [4, 3, 2, 1, 2, 1]})
FLAGS["relevant"] = [1, 0, 1, 1, 0, 1]


def test_recbole_means():
    """RecBole's GAUC weights users by R, and its AUC is of all pairs."""
    metrics = pytest.importorskip("recbole.evaluator.metrics", reason="RecBole is not installed")
    auc = FLAGS.rec.auc()["score"]
    n_relevant = FLAGS.groupby("user")["relevant"].sum()
    gauc, of_all = (object.__new__(one) for one in (metrics.GAUC, metrics.AUC))
    # Sums of the positions of hits, numbers of rows and of hits.
    theirs = gauc.metric_info(np.array([8, 2]), np.array([4, 2]), np.array([3, 1]))

    assert np.average(auc, weights=n_relevant) == pytest.approx(theirs)
    assert auc.mean() != pytest.approx(theirs)
    assert FLAGS.rec(user=None).auc().iloc[0, 0] == pytest.approx(
        of_all.metric_info(FLAGS["score"].to_numpy(float), FLAGS["relevant"].to_numpy())
    )


def test_recbole_catalogue():
    """RecBole divides entropy by the number of items listed, and Gini by n instead of n - 1."""
    metrics = pytest.importorskip("recbole.evaluator.metrics", reason="RecBole is not installed")
    entropy, gini = (object.__new__(one) for one in (metrics.ShannonEntropy, metrics.GiniIndex))
    listed = pd.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 1, 3], "score": [2, 1, 2, 1]})
    ours, matrix = listed.rec.catalogue(2, items=5), listed["item"].to_numpy().reshape(2, 2)

    in_nats = ours["entropy@2"].item() * np.log(2)
    assert in_nats / 3 == pytest.approx(entropy.get_entropy(matrix))
    assert ours["gini@2"].item() * 4 / 5 == pytest.approx(gini.get_gini(matrix, 5))


def test_implicit_precision_is_a_mean_of_all_hits():
    """The precision of implicit divides all hits by the sum of min(R, k) of all users."""
    evaluation = pytest.importorskip("implicit.evaluation", reason="implicit is not installed")
    matrix = pytest.importorskip("scipy.sparse").csr_matrix
    true = ([0, 1, 1, 1], [0, 1, 2, 3])
    test = matrix((np.ones(4), true), (2, 5))
    model, none = Listing([0, 1, 2]), matrix((2, 5))
    theirs = evaluation.ranking_metrics_at_k(model, none, test, 3, show_progress=False)

    lists = pd.DataFrame({"user": [0] * 3 + [1] * 3, "item": [0, 1, 2] * 2, "score": [3, 2, 1] * 2})
    rec = lists.rec(truth=pd.DataFrame({"user": true[0], "item": true[1]}), like="implicit")
    caps = pd.Series({0: 1, 1: 3})
    by_user = rec.capped_recall(3)["score"]
    assert np.average(by_user, weights=caps) == pytest.approx(theirs["precision"])
    assert by_user.mean() != pytest.approx(theirs["precision"])
    mean = rec.mean("map@3").iloc[0, 0]
    assert mean == pytest.approx(theirs["map"])
    assert rec.mean("ndcg@3").iloc[0, 0] == pytest.approx(theirs["ndcg"])


def test_ml_metrics_without_a_relevant_item():
    """The mapk of ml_metrics is 1 without a relevant item, and averages all lists."""
    metrics = pytest.importorskip("ml_metrics", reason="ml_metrics is not installed")
    rows = pd.DataFrame({"user": [1, 1, 2], "item": list("aba"), "score": [2, 1, 1]})
    truth = pd.DataFrame({"user": [1, 2], "item": ["b", "z"], "relevance": [1, 0]})
    theirs = metrics.mapk([["b"], []], [["a", "b"], ["a"]], 2)
    ours = rows.rec(truth=truth, min_relevance=1, like="Kaggle").mean("map@2")

    assert ours.iloc[0, 0] == pytest.approx(theirs)
