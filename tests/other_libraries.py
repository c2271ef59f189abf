"""Other libraries' values of one list, by their names, each with the label in recframe.

The names are in the table on the page of conventions. A third value, if any, is computed by hand
from the formula in the table. Each function imports its library itself.
"""

import math
import os
import shutil
import sys
from importlib import import_module
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import recframe  # noqa: F401
from recframe import conventions

# Each metric has the names of each library: {metric: {library: names}}.
LIBRARIES = {}
for name in conventions.read_library_names():
    libraries = LIBRARIES.setdefault(name.metric.removesuffix("@k"), {})
    libraries.setdefault(name.library, []).append(name)
K = 3
# Each entry has a list, best first, and its relevant items. The lists have hits at 2 and 3 of
# R = 6 and one beyond k, fewer rows than k and R, hits only, no hit, and R < k.
LISTS = [
    ("abcde", "bcexyz"),
    ("ab", "bcxyz"),
    ("bcd", "bcdx"),
    ("abcd", "xy"),
    ("abcde", "bd"),
]
BINARY = [(listed, dict.fromkeys(true, 1)) for listed, true in LISTS]
# These grades judge most, few or none of the rows.
GRADED = [
    *BINARY,
    ("abcdefgh", {"a": 0, "b": 2, "d": 0, "e": 1, "f": 0, "g": 4, "y": 3, "z": 0}),
    ("abcd", {"b": 1, "c": 0, "d": 3}),
    ("ab", {"a": 0, "b": 0}),
    ("abc", {"a": 1, "c": 1}),
    ("abc", {"a": 0, "y": 1, "z": 1}),
]
# All items with a grade are listed, for libraries that see only lists.
WHOLE = [("abcde", {"b": 1, "c": 1, "e": 1}), ("bcd", {"b": 1, "c": 1, "d": 1})]


def as_frames(listed, grades):
    """Return a list and grades as frames; some scores tie if positions are halved."""
    frame = pd.DataFrame({"user": "u", "item": list(listed.lower())})
    frame["score"] = np.arange(len(frame), 0, -1) / 8
    if listed.isupper():
        frame["score"] = np.ceil(frame["score"] * 4)
    truth = pd.DataFrame({"user": "u", "item": list(grades), "relevant": list(grades.values())})
    return frame, truth


def ours(listed, grades, label, **options):
    """Return recframe's value of one list and grades."""
    frame, truth = as_frames(listed, grades)
    if "like" not in options:
        options = {"short": "pad", "zero_division": 0.0} | options
    options = {"min_relevance": 1} | options
    return frame.rec(truth=truth, **options).evaluate(label).iloc[0, 0]


def relevant_items(grades):
    """Return the items of a grade of 1 or more."""
    return [item for item, grade in grades.items() if grade > 0]


def hits(listed, grades):
    """Return the positions of the hits among the first k rows."""
    return [place for place, item in enumerate(listed[:K], 1) if grades.get(item, 0) > 0]


def sum_of_precision(listed, grades):
    """Return the sum of the precision at each hit, which every average precision divides."""
    return sum(n / place for n, place in enumerate(hits(listed, grades), 1))


def dcg(places):
    """Return the discounted gain of hits at these positions."""
    return sum(1 / math.log2(1 + place) for place in places)


def trec_eval(listed, grades):
    """Return trec_eval's values, computed by pytrec_eval."""
    library = import_module("pytrec_eval")
    names = {
        "P_k": "precision@3",
        "recall_k": "recall@3",
        "Rprec": "r_precision",
        "success_k": "hit_rate@3",
        "recip_rank": "reciprocal_rank",
        "map": "average_precision",
        "map_cut_k": "average_precision@3",
        "ndcg": "ndcg",
        "ndcg_cut_k": "ndcg@3",
        "bpref": "bpref",
    }
    run = {"u": {item: float(-place) for place, item in enumerate(listed)}}
    asked = {name.replace("_k", ".3") for name in names}
    (found,) = library.RelevanceEvaluator({"u": grades}, asked).evaluate(run).values()
    return {name: (label, found[name.replace("_k", "_3")]) for name, label in names.items()}


def ir_measures(listed, grades):
    """Return ir_measures' values; its ERR is gdeval's, with five digits."""
    library = import_module("ir_measures")
    names = {
        "P@k": "precision@3",
        "R@k": "recall@3",
        "Rprec": "r_precision",
        "Success@k": "hit_rate@3",
        "RR": "reciprocal_rank",
        "AP@k": "average_precision@3",
        "nDCG@k": "ndcg@3",
        "ERR@k": "err(max=4)@3",
        "Accuracy": "auc",
        "Bpref": "bpref",
        "Judged@k": "judged@3",
    }
    measures = {name: library.parse_measure(name.replace("@k", "@3")) for name in names}
    # gdeval needs a numeric query.
    run = {"1": {item: float(-place) for place, item in enumerate(listed)}}
    if math.isnan(ours(listed, grades, "auc", zero_division=math.nan)):
        # Accuracy divides by zero.
        del measures["Accuracy"]
    found = library.calc_aggregate(list(measures.values()), {"1": grades}, run) | {None: 0.0}
    values = {name: (label, found[measures.get(name)]) for name, label in names.items()}
    judged = sum(item in grades for item in listed[:K]) / min(len(listed), K)
    values["Judged@k"] = (*values["Judged@k"], judged)
    return values


def ranx(listed, grades):
    """Return ranx's values."""
    library = import_module("ranx")
    names = {
        "precision@k": "precision@3",
        "recall@k": "recall@3",
        "r-precision": "r_precision",
        "f1@k": "f1@3",
        "hit_rate@k": "hit_rate@3",
        "mrr@k": "reciprocal_rank@3",
        "map@k": "average_precision@3",
        "ndcg@k": "ndcg@3",
        "ndcg_burges@k": "ndcg@3",
        "dcg@k": "dcg@3",
        "dcg_burges@k": "dcg@3",
        "rbp.80": "rbp(p=0.8)",
        "bpref": "bpref",
    }
    run = library.Run({"u": {item: float(len(listed) - i) for i, item in enumerate(listed)}})
    qrels = library.Qrels({"u": grades})
    values = {
        name: (label, float(library.evaluate(qrels, run, name.replace("@k", "@3"))))
        for name, label in names.items()
    }
    for name in ("ndcg_burges@k", "dcg_burges@k"):
        label, value = values[name]
        values[name] = label, value, ours(listed, grades, label, gain="exponential")
    of_grades = sum(0.2 * 0.8**i * max(grades.get(item, 0), 0) for i, item in enumerate(listed))
    values["rbp.80"] = (*values["rbp.80"], of_grades)
    return values


def rectools(listed, grades):
    """Return RecTools' values; the ideal of its NDCG has k hits by default."""
    metrics = import_module("rectools.metrics")
    ranked = pd.DataFrame({"user_id": "u", "item_id": list(listed)})
    ranked["rank"] = np.arange(1, len(ranked) + 1)
    interactions = pd.DataFrame({"user_id": "u", "item_id": relevant_items(grades)})

    def value(metric):
        return metric.calc_per_user(ranked, interactions)["u"]

    achievable = value(metrics.NDCG(K, divide_by_achievable=True))
    assert achievable == pytest.approx(ours(listed, grades, "ndcg@3"))
    capped = value(metrics.Precision(K, r_precision=True))
    return {
        "Precision": ("precision@3", value(metrics.Precision(K))),
        "Recall": ("recall@3", value(metrics.Recall(K))),
        "Precision(r_precision=True)": ("capped_recall@3", capped),
        "F1Beta": ("f1@3", value(metrics.F1Beta(K))),
        "HitRate": ("hit_rate@3", value(metrics.HitRate(K))),
        "MRR": ("reciprocal_rank@3", value(metrics.MRR(K))),
        "MAP": ("average_precision@3", value(metrics.MAP(K))),
        "NDCG": (
            "ndcg@3",
            value(metrics.NDCG(K)),
            dcg(hits(listed, grades)) / dcg(range(1, K + 1)),
        ),
    }


def replay(listed, grades):
    """Return RePlay's values, whose AUC is of the first k rows."""
    metrics = import_module("replay.metrics")
    lists = pd.DataFrame({"query_id": "u", "item_id": list(listed)})
    lists["rating"] = np.arange(len(lists), 0, -1.0)
    relevant = pd.DataFrame({"query_id": "u", "item_id": relevant_items(grades)})

    def value(name):
        (by_user,) = getattr(metrics, name)([K], mode=metrics.PerUser())(lists, relevant).values()
        return by_user["u"]

    first, n_hits = listed[:K], len(hits(listed, grades))
    # recframe has no value for these lists.
    no_value = {0: 0.0, len(first): 1.0}
    return {
        "Precision": ("precision@3", value("Precision")),
        "Recall": ("recall@3", value("Recall")),
        "HitRate": ("hit_rate@3", value("HitRate")),
        "MRR": ("reciprocal_rank@3", value("MRR")),
        "NDCG": ("ndcg@3", value("NDCG")),
        "MAP": ("capped_average_precision@3", value("MAP")),
        "RocAuc": ("auc", value("RocAuc"), no_value.get(n_hits, ours(first, grades, "auc"))),
    }


def recommenders(listed, grades):
    """Return the values of Recommenders, whose R-precision stops at k."""
    metrics = import_module("recommenders.evaluation.python_evaluation")
    true = pd.DataFrame({"userID": 1, "itemID": relevant_items(grades), "rating": 1.0})
    listing = pd.DataFrame({"userID": 1, "itemID": list(listed)})
    listing["prediction"] = np.arange(len(listing), 0, -1.0)
    labels = {
        "precision_at_k": "precision@3",
        "recall_at_k": "recall@3",
        "r_precision_at_k": "r_precision",
        "map": "average_precision@3",
        "map_at_k": "capped_average_precision@3",
        "ndcg_at_k": "ndcg@3",
    }
    values = {
        name: (label, float(getattr(metrics, name)(true, listing, k=K)))
        for name, label in labels.items()
    }
    of_r = [place for place in hits(listed, grades) if place <= len(true)]
    values["r_precision_at_k"] = (*values["r_precision_at_k"], len(of_r) / len(true))
    return values


def lenskit(listed, grades):
    """Return LensKit's values: AP is divided by min(R, k, n), and NDCG has another offset."""
    metrics = import_module("lenskit.metrics")
    ranking = import_module("lenskit.metrics.ranking")
    items = import_module("lenskit.data").ItemList
    recs = items(item_ids=list(listed), ordered=True)
    test = items(item_ids=relevant_items(grades), ordered=True)

    def value(metric):
        return metric.measure_list(recs, test)

    weight = metrics.LogRankWeight(offset=1)
    for name in ("NDCG", "DCG"):
        mine = ours(listed, grades, f"{name.lower()}@3", short="shrink")
        assert mine == pytest.approx(value(getattr(metrics, name)(K, weight=weight)))
    capped = value(metrics.Recall(K))
    of_list = min(len(relevant_items(grades)), len(listed), K)
    theirs = {
        "Precision": ("precision@3", value(metrics.Precision(K))),
        "Recall": ("capped_recall@3", capped),
        "Hit": ("hit_rate@3", value(metrics.Hit(K))),
        "RecipRank": ("reciprocal_rank@3", value(metrics.RecipRank(K))),
        "AveragePrecision": (
            "average_precision@3",
            value(ranking.AveragePrecision(K)),
            sum_of_precision(listed, grades) / of_list,
        ),
        "RBP(patience=0.8)": ("rbp(p=0.8)@3", value(metrics.RBP(K, patience=0.8))),
    }
    for name in ("NDCG", "DCG"):
        first = ours(listed, grades, f"{name.lower()}(offset=0)@3", short="shrink")
        theirs[name] = f"{name.lower()}@3", value(getattr(metrics, name)(K)), first
    return theirs


def torchmetrics(listed, grades):
    """Return torchmetrics' values for the listed rows; AP at k is divided by the hits there."""
    functional = import_module("torchmetrics.functional.retrieval")
    torch = import_module("torch")
    score = torch.arange(len(listed), 0, -1) / 8
    relevant = torch.tensor([grades.get(item, 0) > 0 for item in listed])

    def value(name, **options):
        return getattr(functional, f"retrieval_{name}")(score, relevant, **options).item()

    whole = value("average_precision")
    assert whole == pytest.approx(ours(listed, grades, "average_precision"), rel=1e-6)
    by_hits = sum_of_precision(listed, grades) / max(len(hits(listed, grades)), 1)
    return {
        "RetrievalPrecision": ("precision@3", value("precision", top_k=K)),
        "RetrievalRecall": ("recall@3", value("recall", top_k=K)),
        "RetrievalRPrecision": ("r_precision", value("r_precision")),
        "RetrievalHitRate": ("hit_rate@3", value("hit_rate", top_k=K)),
        "RetrievalMRR": ("reciprocal_rank@3", value("reciprocal_rank", top_k=K)),
        "RetrievalMAP": ("average_precision@3", value("average_precision", top_k=K), by_hits),
        "RetrievalNormalizedDCG": ("ndcg@3", value("normalized_dcg", top_k=K)),
        "RetrievalFallOut": ("fall_out@3", value("fall_out", top_k=K)),
        "RetrievalAUROC": ("auc", value("auroc")),
    }


def scikit_learn(listed, grades):
    """Return scikit-learn's values for the listed rows."""
    metrics = import_module("sklearn.metrics")
    frame, _ = as_frames(listed, grades)
    relevance = frame["item"].map(grades).fillna(0)
    average, auc = metrics.average_precision_score, metrics.roc_auc_score
    scores, binary = frame["score"], relevance > 0
    by_step = pd.DataFrame({"hits": binary, "rows": 1}).groupby(-scores).sum().cumsum()
    steps = by_step["hits"].diff().fillna(by_step["hits"].iloc[0])
    stepwise = (by_step["hits"] / by_step["rows"] * steps).sum() / binary.sum()
    return {
        "average_precision_score": ("average_precision", average(binary, scores), stepwise),
        "ndcg_score": ("ndcg@3", metrics.ndcg_score([relevance], [scores], k=K)),
        "dcg_score": ("dcg@3", metrics.dcg_score([relevance], [scores], k=K)),
        "roc_auc_score": ("auc", 0.0 if binary.all() else auc(binary, scores)),
    }


def evidently(listed, grades):
    """Return evidently's values for the listed rows, if the list has k or more."""
    metrics = import_module("evidently.metrics")
    library = import_module("evidently")
    frame = pd.DataFrame({"user_id": "u", "item_id": list(listed)})
    frame["prediction"] = np.arange(len(frame), 0, -1.0)
    frame["target"] = frame["item_id"].map(grades).fillna(0).astype(int)
    definition = library.DataDefinition(ranking=[library.Recsys()])
    data = library.Dataset.from_pandas(frame, data_definition=definition)
    names = {
        "PrecisionTopK": "precision@3",
        "RecallTopK": "recall@3",
        "FBetaTopK": "f1@3",
        "HitRate": "hit_rate@3",
        "MRR": "reciprocal_rank@3",
        "MAP": "average_precision@3",
        "NDCG": "ndcg@3",
    }
    report = library.Report([getattr(metrics, name)(k=K) for name in names]).run(data, None)
    found = [metric["value"]["value"][K - 1] for metric in report.dict()["metrics"]]
    return {name: (names[name], value) for name, value in zip(names, found, strict=True)}


def beir(listed, grades):
    """Return BEIR's R_cap, which is rounded to five digits."""
    metrics = import_module("beir.retrieval.custom_metrics")
    run = {item: float(-place) for place, item in enumerate(listed)}
    (theirs,) = metrics.recall_cap({"u": grades}, {"u": run}, [K]).values()
    exact = ours(listed, grades, "capped_recall@3")
    return {"R_cap@k": ("capped_recall@3", exact if round(exact, 5) == theirs else theirs)}


def recbole(listed, grades):
    """Return RecBole's values; it needs lists of k items, and a name that NumPy no longer has."""
    metrics = import_module("recbole.evaluator.metrics")
    found = [[int(item in relevant_items(grades)) for item in listed.ljust(K)[:K]]]
    labels = {
        "Precision": "precision@3",
        "Recall": "recall@3",
        "Hit": "hit_rate@3",
        "MRR": "reciprocal_rank@3",
        "MAP": "capped_average_precision@3",
        "NDCG": "ndcg@3",
    }
    values = {}
    for name, label in labels.items():
        metric = object.__new__(getattr(metrics, name))  # the constructor needs an experiment
        n_relevant = [np.array([len(grades)])] * (name in ("MAP", "NDCG", "Recall"))
        with patch.object(np, "float", float, create=True):
            values[name] = label, metric.metric_info(np.array(found), *n_relevant)[0, K - 1]
    return values


def spark(listed, grades):
    """Return Spark's values by RankingMetrics, and by RankingEvaluator with names in At*K*."""
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    mllib = import_module("pyspark.mllib.evaluation")
    ml = import_module("pyspark.ml.evaluation")
    builder = import_module("pyspark.sql").SparkSession.builder.master("local[1]")
    ranking = list(listed), relevant_items(grades)
    labels = {
        "precisionAt": "precision@3",
        "recallAt": "recall@3",
        "meanAveragePrecision": "average_precision",
        "meanAveragePrecisionAt": "capped_average_precision@3",
        "ndcgAt": "ndcg@3",
    }
    with patch.dict(os.environ, PYSPARK_PYTHON=sys.executable):
        session = builder.config("spark.ui.enabled", value=False).getOrCreate()
        try:
            metrics = mllib.RankingMetrics(session.sparkContext.parallelize([ranking], 1))
            frame = session.createDataFrame([ranking], ["prediction", "label"])
            frame = frame.selectExpr(
                *(
                    f"transform({column}, one -> double(ascii(one))) AS {column}"
                    for column in frame.columns
                )
            )
            values = {}
            for name, label in labels.items():
                theirs = getattr(metrics, name)
                values[name] = label, theirs(K) if name.endswith("At") else theirs
                if name.endswith("At"):
                    evaluator = ml.RankingEvaluator(metricName=f"{name}K", k=K)
                    values[f"{name}K"] = label, evaluator.evaluate(frame)
        finally:
            session.stop()
    return values


class Listing:
    """A model of implicit that recommends the same items to every user."""

    def __init__(self, items):
        self.items = np.array(items, np.int32)

    def recommend(self, users, _, N):  # noqa: N803 - the parameter's name in implicit
        """Return the first N items for each user, and scores, as the models of implicit do."""
        first = np.tile(self.items[:N], (len(users), 1))
        return first, np.ones(first.shape, np.float32)


def implicit(listed, grades):
    """Return implicit's values of one user, whose other items are in the middle for its AUC."""
    evaluation = import_module("implicit.evaluation")
    matrix = import_module("scipy.sparse").csr_matrix
    items = {item: code for code, item in enumerate(sorted({*listed, *grades}))}
    items |= {"one more": len(items)}  # the AUC needs an item that is not relevant
    relevant = [items[item] for item in relevant_items(grades)]
    test = matrix((np.ones(len(relevant)), ([0] * len(relevant), relevant)), (1, len(items)))
    model, none = Listing([items[item] for item in listed]), matrix(test.shape)
    theirs = evaluation.ranking_metrics_at_k(model, none, test, K, show_progress=False)
    places = hits(listed, grades)
    n_others = len(items) - len(relevant)
    missed = [place for place in range(1, K + 1) if place not in places]
    won = sum(sum(hit < place for hit in places) for place in missed)
    won += (len(places) + len(relevant)) / 2 * (n_others - len(missed))
    by_cap = len(places) / min(len(relevant), K)
    return {
        "precision_at_k": ("precision@3", theirs["precision"], by_cap),
        "mean_average_precision_at_k": ("capped_average_precision@3", theirs["map"]),
        "ndcg_at_k": ("ndcg@3", theirs["ndcg"]),
        "AUC_at_k": ("auc", theirs["auc"], won / (len(relevant) * n_others)),
    }


def kaggle(listed, grades):
    """Return the values of ml_metrics."""
    metrics = import_module("ml_metrics")
    flags = [int(item in relevant_items(grades)) for item in listed]
    auc = metrics.auc(flags, list(range(len(flags), 0, -1)))
    by_cap = metrics.mapk([relevant_items(grades)], [list(listed)], K)
    return {"mapk": ("capped_average_precision@3", by_cap), "auc": ("auc", auc)}


LISTED = pd.DataFrame({"user": [1, 1, 1, 2, 2, 2, 3, 3], "item": [1, 2, 3, 1, 2, 4, 1, 5]})
CATALOGUE_ITEMS = [1, 2, 3, 4, 5, 6]


def of_catalogue(library, k):
    """Return a library's catalogue metrics of three lists, over a catalogue of six items."""
    known = pd.DataFrame({"user": 9, "item": CATALOGUE_ITEMS})
    ranked = LISTED.assign(rank=LISTED.groupby("user").cumcount() + 1)
    if library == "RecTools":
        coverage = import_module("rectools.metrics").CatalogCoverage(k, normalize=True)
        value = coverage.calc(
            ranked.set_axis(["user_id", "item_id", "rank"], axis=1), CATALOGUE_ITEMS
        )
        return {"CatalogCoverage(normalize=True)": ("coverage", value)}
    if library == "RePlay":
        coverage = import_module("replay.metrics").Coverage(k)
        lists = ranked.assign(rank=-ranked["rank"]).set_axis(
            ["query_id", "item_id", "rating"], axis=1
        )
        (value,) = coverage(lists, known.set_axis(["query_id", "item_id"], axis=1)).values()
        return {"Coverage": ("coverage", value)}
    if library == "Recommenders":
        metrics = import_module("recommenders.evaluation.python_evaluation")
        columns = ["userID", "itemID"]
        first = ranked.query(f"rank <= {k}")[["user", "item"]].set_axis(columns, axis=1)
        frames = known.set_axis(columns, axis=1), first
        return {
            "catalog_coverage": ("coverage", metrics.catalog_coverage(*frames)),
            "distributional_coverage": ("entropy", metrics.distributional_coverage(*frames)),
        }
    if library == "RecBole":
        metrics = import_module("recbole.evaluator.metrics")
        first = ranked.query(f"rank <= {k}")["item"].to_numpy().reshape(-1, k)
        coverage = object.__new__(metrics.ItemCoverage)
        value = coverage.get_coverage(first, len(CATALOGUE_ITEMS))
        return {"ItemCoverage": ("coverage", value)}
    if library == "evidently":
        evidently = import_module("evidently")
        frame = ranked.assign(prediction=-ranked["rank"].astype(float), target=1)
        frame = frame.rename(columns={"user": "user_id", "item": "item_id"})
        definition = evidently.DataDefinition(ranking=[evidently.Recsys()])
        data = evidently.Dataset.from_pandas(frame, data_definition=definition)
        asked = import_module("evidently.metrics").Personalization(k=k)
        value = evidently.Report([asked]).run(data, None).dict()["metrics"][0]["value"]
        return {"Personalization": ("personalization", value)}
    return {}


# Each library has its function, the module that it needs, and the lists that it takes.
RUN = {
    "trec_eval": (trec_eval, "pytrec_eval", GRADED),
    "ir_measures": (ir_measures, "ir_measures", GRADED),
    "ranx": (ranx, "ranx", GRADED),
    "RecTools": (rectools, "rectools", BINARY),
    "RePlay": (replay, "replay", BINARY),
    "Recommenders": (recommenders, "recommenders", BINARY),
    "LensKit": (lenskit, "lenskit", BINARY),
    "torchmetrics": (torchmetrics, "torchmetrics", BINARY),
    "scikit-learn": (scikit_learn, "sklearn", [*WHOLE, ("ABCDE", {"b": 1, "c": 1, "e": 1})]),
    "evidently": (evidently, "evidently", WHOLE),
    "RecBole": (recbole, "recbole", BINARY),
    "Spark": (spark, "pyspark", BINARY),
    "implicit": (implicit, "implicit", BINARY),
    # Its AUC divides by zero without a hit, or with hits only.
    "Kaggle": (kaggle, "ml_metrics", [BINARY[0], BINARY[1], BINARY[4]]),
    "BEIR": (beir, "beir", BINARY),
}
