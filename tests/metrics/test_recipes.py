"""A name of the field that is a line of pandas is refused with the line, which runs as it is."""

import math

import numpy as np
import pandas as pd
import pytest

import recframe
import recframe.dask
import recframe.polars
from recframe.cli import main
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.other_names import FIGURES, NO_NAMES, SYNONYMS, find_meant
from recframe.metrics.recipes import read_recipes

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


def find_line(call):
    """Return the line of pandas in a refusal."""
    with pytest.raises((recframe.RecframeError, AttributeError)) as refused:
        call()
    return str(refused.value).splitlines()[1]


def run_line(line, **names):
    """Return the value of a line of code, which may have statements before the last one."""
    *statements, value = line.split("; ")
    names |= {"np": np, "pd": pd}
    exec("\n".join(statements), names)
    return eval(value, names)


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


def kl_divergence(users):
    """Return the mean divergence of each list's genres from those that the user had before."""
    found = []
    for user, rows in users.items():
        before = TRAIN.loc[TRAIN["qid"] == user, "genre"].tolist()
        listed = [genre for _, _, genre, _ in rows[:K]]
        if before:
            p = {genre: before.count(genre) / len(before) for genre in before}
            q = {genre: 0.99 * listed.count(genre) / K + 0.01 * p[genre] for genre in p}
            found.append(sum(p[genre] * math.log2(p[genre] / q[genre]) for genre in p))
    return np.mean(found)


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


def kendall(users):
    """Return the mean of Kendall's tau-b of scores and relevance."""
    found = []
    for rows in users.values():
        signs = [(np.sign(a[3] - b[3]), np.sign(int(a[1]) - int(b[1]))) for a in rows for b in rows]
        agreement = sum(one * other for one, other in signs)
        size = sum(one != 0 for one, _ in signs) * sum(other != 0 for _, other in signs)
        found.append(agreement / math.sqrt(size))
    return np.mean(found)


def spearman(users):
    """Return the mean of Spearman's rho, the correlation of mean ranks."""

    def rank(values):
        return [sum(b < a for b in values) + (values.count(a) + 1) / 2 for a in values]

    columns = [
        tuple(map(list, zip(*((row[3], row[1]) for row in rows), strict=True)))
        for rows in users.values()
    ]
    return np.mean([np.corrcoef(rank(one), rank(other))[0, 1] for one, other in columns])


def recalls(users):
    """Return the recall of every user."""
    return [
        sum(row[1] for row in rows[:K]) / sum(row[1] for row in rows) for rows in users.values()
    ]


def f_two(users):
    """Return the mean of F-beta with beta = 2: 5 hits / (4 R + K)."""
    hits = [sum(row[1] for row in rows[:K]) for rows in users.values()]
    n_relevant = [sum(row[1] for row in rows) for rows in users.values()]
    return np.mean([5 * h / (4 * n + K) for h, n in zip(hits, n_relevant, strict=True)])


FORMULAS = {
    "popularity": mean_of_items(lambda item, *_: popularity(item)),
    "novelty": mean_of_items(lambda item, *_: -math.log2(max(popularity(item), 1) / 4)),
    "long_tail": mean_of_items(
        lambda item, *_: popularity(item) < np.quantile([popularity(one) for one in range(4)], 0.8)
    ),
    "unexpectedness": mean_of_items(lambda item, *_: not is_popular(item)),
    "serendipity": mean_of_items(lambda item, hit, *_: hit and not is_popular(item)),
    "calibration": kl_divergence,
    "gauc": gauc,
    "micro_recall": micro_recall,
    "kendall": kendall,
    "spearman": spearman,
    "f_beta": f_two,
    "median": lambda users: np.median(recalls(users)),
    "quantile": lambda users: np.quantile(recalls(users), 0.1),
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", FORMULAS)
def test_lines_run(name, setting):
    """The line in the refusal runs on the frame, and its number is that of the formula."""
    if name == "kendall":
        pytest.importorskip("scipy")
    frame, options, relevant = SETTINGS[setting]
    label = f"{name}_recall@{K}" if name in ("median", "quantile") else f"{name}@{K}"
    line = find_line(lambda: frame.rec(**options).mean(label))
    if setting == "grades" and name in ("kendall", "spearman"):
        relevant = frame["clicked"]  # Correlations read grades.
    train = TRAIN.rename(columns={"qid": "who is it"}) if setting == "labels" else TRAIN
    before = frame.copy()
    found = run_line(line, df=frame, train=train, truth=TRUTH)
    pd.testing.assert_frame_equal(before, frame)
    assert FORMULAS[name](users_of(frame, relevant)) == pytest.approx(as_number(found))


def test_every_name_has_a_formula():
    """Every line is tested, and its names mean nothing else and are written as synonyms are."""
    recipes = read_recipes()
    assert FORMULAS.keys() == recipes.keys()
    names = [name.replace("_", "") for name in recipes]
    names += [name for one in recipes.values() for name in one["names"]]
    others = [*DEFINITIONS, *FIGURES, *(one for known in SYNONYMS.values() for one in known)]
    assert len({*names}) == len(names)
    assert not {*names} & {*others, *NO_NAMES}
    assert all(name.isalnum() and name.islower() for name in names)


SPELLINGS = {
    "ARP@10": "popularity",
    "Novelty": "novelty",
    "APLT@5": "long_tail",
    "GAUC": "gauc",
    "kendall_tau": "kendall",
    "KendallTau": "kendall",
    "Spearman": "spearman",
    "F2@10": "f_beta",
    "fbeta@10": "f_beta",
    "microRecall@10": "micro_recall",
    "median(recall@10)": "median",
    "recall_median": "median",
    "quantile_ndcg@10": "quantile",
    "percentile": "quantile",
}


@pytest.mark.parametrize(("label", "name"), SPELLINGS.items())
def test_spellings(label, name):
    """Usual spellings have the line of the name, at the cut-off that was passed."""
    line = find_line(lambda: ROWS.rec.evaluate(label))
    expected = read_recipes()[name]["line"].strip().partition("{")[0]
    assert line.startswith(expected)
    if name == "quantile" and label != "percentile":
        assert '"ndcg@10"' in line


def test_methods_have_the_lines_too():
    """A method of such a name does not exist, and the message has the line."""
    line = find_line(lambda: ROWS.rec.novelty)
    assert line == find_line(lambda: ROWS.rec.mean("novelty@10"))
    assert "df['docno']" in line


def test_several_unknown_names():
    """A message about several names has the line of each."""
    with pytest.raises(recframe.RecframeError) as refused:
        ROWS.rec.mean(["gauc", "foo", "novelty@5"])
    lines = str(refused.value).splitlines()
    assert lines[0] == "unknown metrics 'gauc', which is a line of pandas:"
    assert lines[1] == "df.rec.mean(\"auc\", weights=df['qid'].value_counts())"
    assert lines[2].startswith(" and 'foo' and 'novelty@5', which is a line of pandas (train: ")
    assert lines[4].startswith("metrics are precision@k, ")


def test_other_engines(tmp_path, capsys):
    """Other engines and the command line name the line of pandas with the columns they have."""
    pl, dd = pytest.importorskip("polars"), pytest.importorskip("dask.dataframe")
    ROWS.to_parquet(tmp_path / "rows.parquet")
    line = find_line(lambda: ROWS.rec.mean("micro_recall@3"))
    for rec in (
        pl.from_pandas(ROWS).rec,
        dd.from_pandas(ROWS, npartitions=2).rec,
        recframe.scan(tmp_path / "rows.parquet"),
    ):
        assert line == find_line(lambda rec=rec: rec.mean("micro_recall@3"))
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", str(tmp_path / "rows.parquet"), "--metric", "micro_recall@3"])
    assert "which is a line of pandas" in capsys.readouterr().err


def test_names_of_metrics_are_no_lines():
    """No metric here, and no synonym of one, is answered with a line of pandas."""
    for name in [*DEFINITIONS, *(one for known in SYNONYMS.values() for one in known)]:
        known = {key: tuple(one["names"]) for key, one in read_recipes().items()}
        assert find_meant(name, known) is None
