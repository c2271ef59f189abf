"""Other libraries give equal values under the options that follow their conventions.

A test without its library is skipped. CONTRIBUTING.md says how to run them all.
"""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe

LABELS = ["precision@5", "recall@5", "r_precision"]
RANKING = [
    "hit_rate@5",
    "reciprocal_rank",
    "reciprocal_rank@5",
    "average_precision",
    "average_precision@5",
]
NDCG = ["ndcg", "ndcg@5"]
IR_MEASURES = {
    "precision": "P",
    "recall": "R",
    "r_precision": "Rprec",
    "hit_rate": "Success",
    "reciprocal_rank": "RR",
    "average_precision": "AP",
    "ndcg": "nDCG",
}
TREC = {"short": "pad", "zero_division": 0.0}


def make(seed):
    """Return lists without ties and truth, whose ids are text.

    Users u0 to u29 have lists of 1 to 12 of 40 items. Users u5 to u34 have truth of 1 to 9 items,
    graded 0 to 3; all grades of u9 and u33 are 0.
    """
    rng = np.random.default_rng(seed)
    items = np.array([f"i{number:02}" for number in range(40)])
    lists, truths = [], []
    for number in range(35):
        listed = rng.choice(items, rng.integers(1, 13), replace=False)
        true = rng.choice(items, rng.integers(1, 10), replace=False)
        lists.append(pd.DataFrame({"user": f"u{number}", "item": listed}))
        truths.append(pd.DataFrame({"user": f"u{number}", "item": true}))
    recs, truth = pd.concat(lists[:30]), pd.concat(truths[5:])
    recs["score"] = rng.permutation(len(recs)) / len(recs) - 0.5
    truth["relevance"] = rng.integers(0, 4, len(truth))
    truth.loc[truth["user"].isin(["u9", "u33"]), "relevance"] = 0
    return recs.reset_index(drop=True), truth.reset_index(drop=True)


@pytest.fixture(params=[0, 1], ids="seed {}".format)
def frames(request):
    """Return generated lists and truth."""
    return make(request.param)


def with_truth(recs, truth):
    """Return the lists of users in truth, because other libraries see only these."""
    return recs[recs["user"].isin(truth["user"])]


def assert_table(expected, table):
    """Assert that a table of one score equals another library's values, by label and user."""
    table = table.droplevel("score", axis=1)
    assert set(expected) == set(table.columns)
    for label, by_user in expected.items():
        assert by_user == pytest.approx(table[label].to_dict(), rel=1e-6, nan_ok=True)


def trec(recs, truth, labels, grade=1):
    """Return the values of ir_measures by label and user; grades from `grade` on count."""
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    run = recs.set_axis(["query_id", "doc_id", "score"], axis=1)
    qrels = truth.set_axis(["query_id", "doc_id", "relevance"], axis=1)
    measures = {}
    for label in labels:
        name, _, k = label.partition("@")
        measure = getattr(ir_measures, IR_MEASURES[name])
        # Its gains are the grades.
        if name != "ndcg":
            measure = measure(rel=grade)
        measures[measure @ int(k) if k else measure] = label
    values = {label: {} for label in labels}
    for value in ir_measures.iter_calc(list(measures), qrels, run):
        values[measures[value.measure]][value.query_id] = value.value
    return values


@pytest.mark.parametrize("grade", [1, 2, 3])
def test_ir_measures(frames, grade):
    """trec_eval pads short lists, and gives 0 without a relevant item and to absent users."""
    recs, truth = frames
    labels = LABELS + RANKING + (NDCG if grade == 1 else [])
    expected = trec(recs, truth, labels, grade)
    table = recframe.evaluate(
        with_truth(recs, truth), labels, population="all", truth=truth, min_relevance=grade, **TREC
    )

    assert_table(expected, table)


def test_ir_measures_f1():
    """The F1 of ir_measures is computed over whole lists."""
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    recs, truth = one_user(["m", "a", "b"], [0.9, 0.5, 0.1])
    run = recs.set_axis(["query_id", "doc_id", "score"], axis=1)
    qrels = truth.set_axis(["query_id", "doc_id", "relevance"], axis=1)
    theirs = ir_measures.calc_aggregate([ir_measures.SetF], qrels, run)[ir_measures.SetF]

    assert recs.rec(truth=truth).f1(k=3).loc["u", "score"] == pytest.approx(theirs)


def test_ir_measures_gains_all_grades(frames):
    """The nDCG of ir_measures and ours gain from all grades, under any threshold."""
    recs, truth = frames
    known = with_truth(recs, truth)
    theirs = trec(recs, truth, NDCG)["ndcg"]
    for grade in (1, 2):
        ours = (
            known.rec(population="all", truth=truth, min_relevance=grade, **TREC)
            .ndcg()["score"]
            .to_dict()
        )
        assert theirs == pytest.approx(ours)


def test_ir_measures_breaks_ties_by_document(frames):
    """trec_eval ranks ties by name, last first, so new names change its values, but not ours."""
    recs, truth = frames
    recs, truth = with_truth(recs, truth).assign(score=1.0), truth.assign(relevance=1)
    renamed = {item: f"{99 - int(item[1:])}" for item in truth["item"].unique()}
    renamed |= {item: f"{99 - int(item[1:])}" for item in recs["item"].unique()}
    new_recs, new_truth = (x.assign(item=x["item"].map(renamed)) for x in (recs, truth))

    assert trec(recs, truth, LABELS[:1]) != trec(new_recs, new_truth, LABELS[:1])
    pd.testing.assert_frame_equal(
        recframe.evaluate(recs, "precision@5", population="all", truth=truth, **TREC),
        recframe.evaluate(new_recs, "precision@5", population="all", truth=new_truth, **TREC),
    )


@pytest.fixture(params=range(5), ids="seed {}".format)
def tied(request):
    """Return lists with many ties, some of them only as float32, and truth with text ids."""
    rng = np.random.default_rng(request.param)
    items = [*(f"{number}" for number in range(5, 30)), "Z", "a", "aa", "é", "～", "😀"]  # noqa: RUF001
    pairs = pd.DataFrame({"user": rng.integers(0, 20, 600), "item": rng.choice(items, 600)})
    pairs = pairs.astype({"user": str}).drop_duplicates(ignore_index=True)
    recs, truth = pairs[:300].copy(), pairs[200:].copy()
    recs["score"] = rng.integers(1, 4, len(recs)) / 3 + rng.integers(0, 3, len(recs)) * 1e-9
    truth["relevance"] = rng.integers(0, 4, len(truth))
    return with_truth(recs, truth), truth


def test_ties_by_item_are_those_of_trec_eval(tied):
    """ties="item" with float32 scores ranks ties like trec_eval, in any order of rows."""
    recs, truth = tied
    labels = [label for label in LABELS + RANKING + NDCG if label != "reciprocal_rank@5"]
    theirs = trec(recs, truth, labels)
    cut = recs.astype({"score": "float32"})
    options = {"truth": truth, "min_relevance": 1, "ties": "item", **TREC}

    assert_table(theirs, recframe.evaluate(cut, labels, **options))
    uncut = recframe.evaluate(recs, labels, **options)
    assert theirs["ndcg"] != pytest.approx(uncut["score"]["ndcg"].to_dict())


def test_ir_measures_ranks_ties_of_one_metric_otherwise(tied):
    """The RR@k of ir_measures ranks ties by name, first first, unlike trec_eval."""
    recs, truth = tied
    theirs = trec(recs, truth, ["reciprocal_rank@5"])
    by_name = recs.sort_values("item")
    options = {"truth": truth, "min_relevance": 1, "ties": "first", **TREC}

    assert_table(theirs, recframe.evaluate(by_name, list(theirs), **options))


def one_user(items, scores):
    """Return a list of one user, and a truth with the single item "m"."""
    recs = pd.DataFrame({"user": "u", "item": items, "score": scores})
    return recs, pd.DataFrame({"user": ["u"], "item": ["m"], "relevance": [1]})


def test_ir_measures_places_null_scores_by_document():
    """trec_eval ranks a null score by name, and recframe refuses it or leaves it out."""
    values = {}
    for other in ("a", "z"):
        recs, truth = one_user(["m", other], [math.nan, 1.0])
        values[other] = trec(recs, truth, ["precision@1"])["precision@1"]["u"]
        with pytest.raises(recframe.RecframeError, match="must not be null"):
            recs.rec(truth=truth).precision(k=1)
        assert 0.0 == recs.rec(truth=truth, missing="unranked").precision(k=1).loc["u", "score"]

    assert {"a": 1.0, "z": 0.0} == values


def test_ir_measures_keeps_the_last_of_repeated_pairs():
    """ir_measures keeps the last row of a repeated document, and recframe refuses it."""
    recs, truth = one_user(["m", "a", "m"], [0.9, 0.5, 0.1])

    assert {"precision@1": {"u": 0.0}} == trec(recs, truth, ["precision@1"])
    with pytest.raises(recframe.RecframeError, match="but 1 of 3 rows repeat"):
        recs.rec(truth=truth).precision(k=1)


def test_ir_measures_ignores_users_without_truth(frames):
    """ir_measures has no value for a user without truth, where recframe has precision 0."""
    recs, truth = frames
    table = recframe.evaluate(
        recs, LABELS, population="all", truth=truth, min_relevance=1, short="pad"
    )["score"]
    others = set(recs["user"]) - set(truth["user"])

    assert set(trec(recs, truth, ["precision@5"])["precision@5"]) == set(table.index) - others
    assert others
    assert (table.loc[list(others), "precision@5"] == 0).all()
    assert table.loc[list(others), ["recall@5", "r_precision"]].isna().all(axis=None)


def nested(frame, column):
    """Return a frame of user, item and a value as dictionaries in a dictionary."""
    return {
        user: dict(zip(rows["item"], rows[column].tolist(), strict=True))
        for user, rows in frame.groupby("user")
    }


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Numba warns about its own types.
def test_ranx():
    """Ranx follows trec_eval, once make_comparable adds and removes users.

    Its ndcg has linear gains, and its ndcg_burges exponential ones.
    """
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    recs, truth = make(0)
    qrels, run = ranx.Qrels(nested(truth, "relevance")), ranx.Run(nested(recs, "score"))
    names = dict(zip(["precision@5", "recall@5", "r-precision"], LABELS, strict=True))
    ranx.evaluate(qrels, run, list(names), make_comparable=True)
    expected = {names[name]: dict(by_user) for name, by_user in run.scores.items()}
    table = recframe.evaluate(
        with_truth(recs, truth), LABELS, population="all", truth=truth, min_relevance=1, **TREC
    )

    assert_table(expected, table)
    names = {"f1@5": "f1@5", "hit_rate@5": "hit_rate@5", "mrr": "reciprocal_rank"}
    names |= {"mrr@5": "reciprocal_rank@5", "map": "average_precision"}
    names |= {"map@5": "average_precision@5"}
    for gain, ndcg in (("linear", "ndcg"), ("exponential", "ndcg_burges")):
        names |= {ndcg: "ndcg", f"{ndcg}@5": "ndcg@5"}
        ranx.evaluate(qrels, run, list(names), make_comparable=True)
        expected = {label: dict(run.scores[name]) for name, label in names.items()}
        options = {"truth": truth, "population": "all", "min_relevance": 1, **TREC}
        bound = with_truth(recs, truth).rec(gain=gain, **options)
        assert_table(expected, bound.evaluate(list(expected)))
    # Ties of short lists stay in their order.
    rng = np.random.default_rng(4)
    tied = pd.DataFrame({"q": np.repeat([f"q{n}" for n in range(40)], 15)}).astype(object)
    tied["d"] = np.concatenate([rng.permutation([f"d{n}" for n in range(15)]) for _ in range(40)])
    tied = tied.astype({"d": object}).assign(s=rng.integers(0, 4, len(tied)).astype(float))
    judged = tied[["q", "d"]].sample(frac=0.3, random_state=1).assign(relevance=1)
    run = ranx.Run.from_df(tied, "q", "d", "s")
    ranx.evaluate(ranx.Qrels.from_df(judged, "q", "d", "relevance"), run, ["map@5", "ndcg"])
    names |= {"ndcg": "ndcg"}
    expected = {names[name]: dict(run.scores[name]) for name in ("map@5", "ndcg")}
    rec = tied.rec(user="q", item="d", score="s", truth=judged, ties="first", **TREC)
    assert_table(expected, rec.evaluate(["average_precision@5", "ndcg"]))
    repeated = pd.DataFrame({"q": ["u"] * 3, "d": ["m", "a", "m"], "s": [0.9, 0.5, 0.1]})
    run = ranx.Run.from_df(repeated.astype({"q": object, "d": object}), "q", "d", "s")
    assert 0.0 == ranx.evaluate(ranx.Qrels({"u": {"m": 1}}), run, "precision@1")


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), min_size=2, max_size=12),
    st.integers(1, 6),
)
def test_scikit_learn(rows, k):
    """Scikit-learn averages NDCG over ties and halves ties in AUC; its AP takes a tie at once."""
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    score, grade = np.transpose(rows)
    frame = pd.DataFrame({"score": score, "relevant": grade})
    found = frame.rec(user=None, min_relevance=1, short="pad", zero_division=0.0)
    for gain, gains in (("linear", grade), ("exponential", 2**grade - 1)):
        bound = frame.rec(user=None, min_relevance=1, gain=gain, short="pad", zero_division=0.0)
        ours = bound.evaluate(["ndcg", f"ndcg@{k}"]).iloc[0].tolist()
        assert ours == pytest.approx(
            [metrics.ndcg_score([gains], [score], k=cut) for cut in (None, k)]
        )
    if 0 < (grade > 0).sum() < len(grade):
        assert metrics.roc_auc_score(grade > 0, score) == pytest.approx(found.auc().iloc[0, 0])
        order = np.arange(len(score))
        untied = frame.assign(score=order).rec(user=None, min_relevance=1)
        expected = metrics.average_precision_score(grade > 0, order)
        assert expected == pytest.approx(untied.average_precision().iloc[0, 0])


def test_scikit_learn_knows_listed_items_only():
    """Scikit-learn's AP of a tie is no expectation, and its ideal sees only listed items."""
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    tied = pd.DataFrame({"user": 1, "score": [1, 1], "relevant": [1, 0]})
    assert 1 / 2 == metrics.average_precision_score(tied["relevant"], tied["score"])
    assert 3 / 4 == tied.rec.average_precision().loc[1, "score"]
    recs, truth = one_user(["m", "a"], [2.0, 1.0])
    truth = pd.concat([truth, truth.assign(item="z")])
    assert 1.0 == metrics.ndcg_score([[1, 0]], [recs["score"]])
    assert recs.rec(truth=truth).ndcg().loc["u", "score"] < 1


def positive(truth):
    """Return the relevant pairs of truth, for libraries that take all pairs as relevant."""
    return truth[truth["relevance"] > 0].drop(columns="relevance")


def test_rectools(frames):
    """RecTools pads, gives 0 to absent users, and no value to users without a relevant item."""
    metrics = pytest.importorskip("rectools.metrics", reason="RecTools is not installed")
    recs, truth = frames[0], positive(frames[1])
    ranked = recs.set_axis(["user_id", "item_id", "score"], axis=1)
    ranked["rank"] = ranked.groupby("user_id")["score"].rank(ascending=False).astype(int)
    true = truth.set_axis(["user_id", "item_id"], axis=1)
    expected = {
        "precision@5": metrics.Precision(k=5).calc_per_user(ranked, true).to_dict(),
        "recall@5": metrics.Recall(k=5).calc_per_user(ranked, true).to_dict(),
    }
    known = with_truth(recs, truth)

    options = {"truth": truth, "population": "all", "short": "pad"}
    assert_table(expected, recframe.evaluate(known, LABELS[:2], **options))
    theirs = metrics.Precision(k=5, r_precision=True).calc_per_user(ranked, true)
    ours = known.rec(truth=truth, population="all").r_precision()["score"]
    assert not np.allclose(ours, theirs.loc[ours.index])  # They divide hits@5 by min(5, R).


@pytest.mark.filterwarnings("ignore")  # RePlay's versions of Spark and pandas warn.
def test_replay(frames):
    """RePlay pads, gives 0 to absent users, and no value to users without a relevant item."""
    metrics = pytest.importorskip("replay.metrics", reason="RePlay is not installed")
    recs, truth = frames[0], positive(frames[1])
    lists = recs.set_axis(["query_id", "item_id", "rating"], axis=1)
    true = truth.set_axis(["query_id", "item_id"], axis=1)
    expected = {}
    for label, metric in (("precision@5", metrics.Precision), ("recall@5", metrics.Recall)):
        (expected[label],) = metric([5], mode=metrics.PerUser())(lists, true).values()
    known = with_truth(recs, truth)

    options = {"truth": truth, "population": "all", "short": "pad"}
    assert_table(expected, recframe.evaluate(known, LABELS[:2], **options))
    tied = known.assign(score=1.0).sort_values("item", ascending=False, ignore_index=True)
    lists = tied.sample(frac=1, random_state=0).set_axis(lists.columns, axis=1)
    (theirs,) = metrics.NDCG([5], mode=metrics.PerUser())(lists, true).values()
    mine = tied.rec(ties="first", **options).ndcg(k=5)["score"]
    assert theirs == pytest.approx(mine.to_dict())  # RePlay orders ties by item, last first.


@pytest.mark.parametrize(("adaptive", "short"), [(False, "pad"), (True, "shrink")])
def test_torchmetrics(frames, adaptive, short):
    """Torchmetrics sees only listed rows; adaptive_k shrinks, and "neg" gives 0."""
    retrieval = pytest.importorskip(
        "torchmetrics.retrieval", reason="torchmetrics is not installed"
    )
    torch = pytest.importorskip("torch")
    recs, truth = frames[0], positive(frames[1])
    # torchmetrics finds no rows with negative scores.
    recs["score"] += 1
    listed = recs.rec(population="rows").judge(truth).dropna()
    codes, users = pd.factorize(listed["user"], sort=True)
    columns = [torch.tensor(listed[name].to_numpy()) for name in ("score", "relevant")]
    several = {"precision@5": {"top_k": 5, "adaptive_k": adaptive}, "recall@5": {"top_k": 5}}
    expected = {}
    for label, name in zip(LABELS, ("Precision", "Recall", "RPrecision"), strict=True):
        metric = getattr(retrieval, f"Retrieval{name}")(
            empty_target_action="neg", aggregation=lambda x, dim=None: x, **several.get(label, {})
        )
        metric.update(*columns, indexes=torch.tensor(codes))
        expected[label] = dict(zip(users, metric.compute().tolist(), strict=True))

    assert_table(expected, recframe.evaluate(listed, LABELS, short=short, zero_division=0.0))


def test_lenskit(frames):
    """LensKit shrinks and leaves out absent users, is NaN without truth, and caps recall.

    Its NDCG counts the first two positions alike by default, and its average precision divides by
    the length of the list if that is less than R.
    """
    metrics = pytest.importorskip("lenskit.metrics", reason="LensKit is not installed")
    ranking = pytest.importorskip("lenskit.metrics.ranking")
    items = pytest.importorskip("lenskit.data").ItemList
    recs, truth = frames[0], positive(frames[1])
    recs = with_truth(recs, truth)
    true = {user: items(item_ids=rows["item"].tolist()) for user, rows in truth.groupby("user")}
    same = {
        "precision@5": metrics.Precision(5),
        "capped_recall@5": metrics.Recall(5),
        "hit_rate@5": metrics.Hit(5),
        "reciprocal_rank@5": metrics.RecipRank(5),
        "ndcg@5": metrics.NDCG(5, weight=metrics.LogRankWeight(offset=1)),
    }
    others = {"ndcg": metrics.NDCG(), "average_precision@5": ranking.AveragePrecision(5)}
    expected = {label: {} for label in same | others}
    for user, rows in recs.sort_values("score", ascending=False).groupby("user"):
        listed = items(item_ids=rows["item"].tolist(), ordered=True)
        for label, metric in (same | others).items():
            expected[label][user] = metric.measure_list(listed, true[user])
    options = {"truth": truth, "population": "rows", "short": "shrink"}
    different = recframe.evaluate(recs, list(others), **options)["score"]
    for label in others:
        assert expected.pop(label) != pytest.approx(different[label].to_dict(), nan_ok=True)

    assert_table(expected, recframe.evaluate(recs, list(same), **options))
