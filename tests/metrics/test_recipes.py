"""A name of the field that is a line of pandas is refused with the line, where it is right."""

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recframe
import recframe.dask
import recframe.polars
from recframe.cli import main
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.other_names import CATALOGUE_METRICS, NO_NAMES, SYNONYMS, read_synonym
from recframe.metrics.recipes import GUIDE, read_recipes

K = 3
RNG = np.random.default_rng(5)
# The labels are none that recframe writes by default.
ROWS = pd.DataFrame(
    {
        "qid": np.repeat(["ann", "bob", "cat", "dan"], 8),
        "docno": np.tile(range(8), 4),
        "knn_score": RNG.permutation(32) / 10,
        "clicked": RNG.integers(0, 2, 32),
        "genre": RNG.choice(["a", "b", "c"], 32),
    }
)
TRAIN = pd.DataFrame(
    {
        "qid": ["ann", "ann", "bob", "bob", "bob", "eve", "dan"],
        "docno": [0, 1, 0, 2, 3, 0, 1],
        "genre": ["a", "a", "b", "c", "b", "a", "c"],
    }
)
GRADES = ROWS.assign(clicked=RNG.integers(0, 5, 32))
TRUTH = ROWS.loc[ROWS["clicked"] == 1, ["qid", "docno"]]
# Each setting has a frame, its options, and the relevant rows.
SETTINGS = {
    "plain": (ROWS, {}, ROWS["clicked"] == 1),
    "grades": (GRADES, {"min_relevance": 3}, GRADES["clicked"] >= 3),
    "truth": (ROWS.drop(columns="clicked"), {"truth": TRUTH}, ROWS["clicked"] == 1),
    "labels": (
        ROWS.rename(columns={"qid": "who is it", "knn_score": "x"}),
        {"user": "who is it", "score": "x", "relevant": "clicked"},
        ROWS["clicked"] == 1,
    ),
}


def find_refusal(call):
    """Return the message of a refusal."""
    with pytest.raises((recframe.RecframeError, AttributeError)) as refused:
        call()
    return str(refused.value)


def find_line(call):
    """Return the line of pandas in a refusal, "" if it names the guide instead."""
    _, *lines = find_refusal(call).splitlines()
    return lines[0] if lines else ""


def run_line(line, metric="", options=None, **names):
    """Return the value of a line of code; of a line for a column, the mean of the metric."""
    *statements, value = line.split("; ")
    names |= {"np": np, "pd": pd}
    exec("\n".join([*statements, *([value] if metric else [])]), names)
    return names["df"].rec(**options).mean(metric) if metric else eval(value, names)


def as_number(value):
    """Return the only number of a table, a Series or a scalar."""
    return float(np.ravel(value)[0]) if np.size(value) == 1 else math.nan


def users_of(rows, relevant):
    """Return each user's rows, the best first, as tuples (item, relevant, genre, score)."""
    rows = rows.rename(columns={"who is it": "qid", "x": "knn_score"})
    rows = rows.assign(hit=relevant.to_numpy()).sort_values("knn_score", ascending=False)
    return {
        user: list(zip(one["docno"], one["hit"], one["genre"], one["knn_score"], strict=True))
        for user, one in rows.groupby("qid")
    }


def popularity(item):
    """Return how often an item is in the pairs known before."""
    return TRAIN["docno"].tolist().count(item)


def is_popular(item):
    """Return whether an item is among the K that are known best, ties included."""
    counts = sorted(map(popularity, set(TRAIN["docno"])), reverse=True)
    return popularity(item) >= counts[min(K, len(counts)) - 1]


def mean_of_items(value):
    """Return a function: the mean over users of the mean value of the first K rows."""

    def of_users(users):
        return np.mean([sum(value(*row) for row in rows[:K]) / K for rows in users.values()])

    return of_users


def gauc(users):
    """Return the mean of users' AUC weighted by their numbers of rows."""
    total, weight = 0.0, 0
    for rows in users.values():
        pairs = [(a[3] > b[3]) for a in rows if a[1] for b in rows if not b[1]]
        if pairs:
            total, weight = total + len(rows) * np.mean(pairs), weight + len(rows)
    return total / weight


def micro_recall(users):
    """Return the hits of all users divided by all relevant items."""
    hits = sum(row[1] for rows in users.values() for row in rows[:K])
    return hits / sum(row[1] for rows in users.values() for row in rows)


def f_two(users):
    """Return the mean of F-beta with beta = 2: 5 hits / (4 R + K)."""
    hits = [sum(row[1] for row in rows[:K]) for rows in users.values()]
    n_relevant = [sum(row[1] for row in rows) for rows in users.values()]
    return np.mean([5 * h / (4 * n + K) for h, n in zip(hits, n_relevant, strict=True)])


COLUMNS = [name for name, one in read_recipes().items() if "column" in one]
FORMULAS = {
    "popularity": mean_of_items(lambda item, *_: popularity(item)),
    "novelty": mean_of_items(lambda item, *_: -math.log2(max(popularity(item), 1) / 4)),
    "long_tail": mean_of_items(
        lambda item, *_: popularity(item) < np.quantile([popularity(one) for one in range(4)], 0.8)
    ),
    "unexpectedness": mean_of_items(lambda item, *_: not is_popular(item)),
    "serendipity": mean_of_items(lambda item, hit, *_: hit and not is_popular(item)),
    "gauc": gauc,
    "micro_recall": micro_recall,
    "f2": f_two,
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", FORMULAS)
def test_lines_run(name, setting):
    """The line in the refusal runs on the frame, and its number equals the formula."""
    frame, options, relevant = SETTINGS[setting]
    label = name if name == "gauc" else f"{name}@{K}"
    line = find_line(lambda: frame.rec(**options).mean(label))
    if setting == "truth" and name in ("serendipity", "micro_recall"):
        assert line == ""  # The line reads a column of relevance.
        return
    train = TRAIN.rename(columns={"qid": "who is it"}) if setting == "labels" else TRAIN
    before, metric = frame.copy(), f"mean({name})@{K}" if name in COLUMNS else ""
    found = run_line(line, metric, options, df=frame, train=train, truth=TRUTH)
    pd.testing.assert_frame_equal(before, frame)
    assert FORMULAS[name](users_of(frame, relevant)) == pytest.approx(as_number(found))


@pytest.mark.parametrize("name", [name for name in COLUMNS if name != "serendipity"])
def test_columns_for_any_call(name):
    """The line for a column is right with several models, segments and repeated purchases."""
    again = pd.concat([TRAIN, TRAIN])  # A second purchase of a pair does not count.
    models = [ROWS.assign(model="a"), ROWS.assign(model="b", knn_score=-ROWS["knn_score"])]
    frame = pd.concat(models, ignore_index=True)
    segments = pd.Series({"ann": "x", "bob": "x", "cat": "y", "dan": "y"}).rename_axis("qid")
    line = find_line(
        lambda: frame.rec(model="model", like="RecTools").mean(f"{name}@{K}", segments)
    )
    names = {"df": frame, "train": again, "np": np}
    exec(line, names)
    found = names["df"].rec(model="model").mean(f"mean({name})@{K}", by=segments)
    expected = [
        FORMULAS[name](users_of(rows := of_model[of_model["qid"].isin(users)], rows["clicked"]))
        for users in (["ann", "bob"], ["cat", "dan"])
        for of_model in models
    ]
    assert expected == pytest.approx(found.iloc[:, 0].tolist())


def test_ids_of_other_types():
    """The line for a column raises if ids are text in one frame and integers in the other."""
    line = find_line(lambda: ROWS.rec.mean("novelty@2"))
    train = TRAIN.astype({"docno": str})
    with pytest.raises(ValueError, match="merge on int64 and"):
        exec(line, {"df": ROWS.copy(), "train": train, "np": np})


TWO = ROWS.assign(als_score=-ROWS["knn_score"])
LINELESS = {
    "calibration": (ROWS, {}),
    "kendall": (ROWS, {}),
    "spearman": (ROWS, {}),
    "f0.5@3": (ROWS, {}),
    "fbeta(0.5)@3": (ROWS, {}),
    "unseen@2": (ROWS, {}),
    "gauc": (ROWS, {"like": "RecBole"}),
    "f2@3": (ROWS, {"like": "LensKit"}),
    "micro_recall@3": (ROWS, {"duplicates": "max"}),
    "serendipity": (ROWS, {"truth": TRUTH}),
    "novelty@2": (ROWS.set_index("qid"), {}),
    "popularity@2": (ROWS, {"user": None}),
    "long_tail@2": (ROWS, {"user": ["qid", "genre"]}),
    "F2@3": (ROWS, {"exclude": TRAIN}),
    "gauc ": (ROWS, {"ascending": True}),
    "unexpected@2": (ROWS.drop(columns="docno"), {}),
}


@pytest.mark.parametrize(("label", "case"), LINELESS.items())
def test_lines_that_would_be_wrong(label, case):
    """Where no line is right as it is, the message names the section of the guide."""
    frame, options = case
    message = find_refusal(lambda: frame.rec(**options).mean(label))
    assert "\n" not in message
    assert re.search(f"adapt the one in {re.escape(GUIDE)}, section '[A-Z][^']*'; metrics", message)


def test_sections_exist():
    """Every section that messages name is in the guide."""
    text = (Path(__file__).parents[2] / "examples/guide/beyond-accuracy.md").read_text()
    titles, recipes = re.findall("^## (.*)$", text, re.MULTILINE), read_recipes().values()
    assert {one["section"] for one in recipes if "section" in one} <= {*titles}
    assert all("section" in one or "says" in one for one in recipes)


def test_methods_of_figures():
    """Names of figures that a method has are refused with the method."""
    assert "'mean(revenue)@2' of a column" in find_refusal(lambda: ROWS.rec.mean("revenue@2"))
    for label, call in {"overlap@2": "overlap(k=2)", "rbo": "overlap(rbo=0.9)"}.items():
        assert f"see df.rec.{call}" in find_refusal(lambda label=label: ROWS.rec.mean(label))
    names = ("median", "median(recall)@10", "median of recall@2", "median gauc", "recall_median")
    for label in names:
        assert "evaluate(METRIC).median()" in find_refusal(lambda label=label: ROWS.rec.mean(label))
    for label in ("quantile_ndcg@10", "percentile"):
        assert "METRIC).quantile(0.1)" in find_refusal(lambda label=label: ROWS.rec.mean(label))
    for name in ("coverage", "gini"):
        assert "catalogue(k=10)" in find_refusal(lambda name=name: getattr(ROWS.rec, name))
    for name in ("diversity", "share", "ild"):
        message = find_refusal(lambda name=name: getattr(ROWS.rec, name))
        assert "(COLUMN)@10')" in message
        assert "did you mean" not in message


def test_cut_offs_that_are_not_taken():
    """A name without a cut-off is not answered as if it had one."""
    for label in ("GAUC@10", "kendall@10", "spearman"):
        message = find_refusal(lambda label=label: ROWS.rec.mean(label))
        assert "which takes no cut-off and is a line of pandas over all users" in message


def test_every_name_has_a_formula():
    """Every line is tested, and its names mean nothing else and are written as synonyms are."""
    recipes = read_recipes()
    has_line = {name for name, one in recipes.items() if "line" in one or "column" in one}
    assert FORMULAS.keys() == has_line
    names = [name.replace("_", "") for name in recipes]
    names += [name for one in recipes.values() for name in one["names"]]
    others = [
        *DEFINITIONS,
        *CATALOGUE_METRICS,
        *(one for known in SYNONYMS.values() for one in known),
    ]
    assert len({*names}) == len(names)
    assert not {*names} & {*others, *NO_NAMES}
    assert all(name.isalnum() and name.islower() for name in names)


SPELLINGS = {
    "ARP@10": "popularity=seen",
    "Novelty": "novelty=",
    "APLT@5": "long_tail=",
    "GAUC": '.mean("auc", weights=',
    "F2@10": "beta = df.rec.precision(k=10)",
    "microRecall@10": '.mean("recall@10", weights=',
}


@pytest.mark.parametrize(("label", "part"), SPELLINGS.items())
def test_spellings(label, part):
    """Usual spellings have the line of the name, at the cut-off that was passed."""
    assert part in find_line(lambda: ROWS.rec.evaluate(label))


def test_methods_have_the_lines_too():
    """A recipe's name is no method, and the message has the line."""
    line = find_line(lambda: ROWS.rec.novelty)
    assert line == find_line(lambda: ROWS.rec.mean("novelty@10"))
    assert "df[['docno']]" in line


def test_several_unknown_names():
    """A message about several names has the line of each."""
    with pytest.raises(recframe.RecframeError) as refused:
        ROWS.rec.mean(["gauc", "foo", "novelty@5"])
    lines = str(refused.value).splitlines()
    assert (
        lines[0]
        == "unknown metrics 'gauc', which takes no cut-off and is a line of pandas over all users:"
    )
    assert lines[1] == "df.rec.mean(\"auc\", weights=df['qid'].value_counts())"
    assert lines[2].startswith(" and 'foo' and 'novelty@5', which is 'mean(novelty)@5' after a ")
    assert lines[4].startswith("metrics are precision@k, ")


def test_other_engines(tmp_path, capsys):
    """Other engines and the command line name the guide, as the lines are for pandas."""
    pl, dd = pytest.importorskip("polars"), pytest.importorskip("dask.dataframe")
    ROWS.to_parquet(tmp_path / "rows.parquet")
    for rec in (
        pl.from_pandas(ROWS).rec,
        dd.from_pandas(ROWS, npartitions=2).rec,
        recframe.scan(tmp_path / "rows.parquet"),
        recframe.rec(pa.table(ROWS)),
    ):
        for label in ("micro_recall@3", "novelty@3", "gauc"):
            assert GUIDE in find_refusal(lambda rec=rec, label=label: rec.mean(label))
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", str(tmp_path / "rows.parquet"), "--metric", "micro_recall@3"])
    error = capsys.readouterr().err
    assert GUIDE in error
    assert "df.rec" not in error


def test_names_of_metrics_are_no_lines():
    """No metric here, and no synonym of one, is answered with a line of pandas."""
    for name in [*DEFINITIONS, *(one for known in SYNONYMS.values() for one in known)]:
        known = {key: tuple(one["names"]) for key, one in read_recipes().items()}
        assert read_synonym(name, known) is None
