"""df.rec.reconcile lists the conventions that give a number; df.rec.robustness has their range.

Tests of recframe reconcile belong here.
"""

import io
import json
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recframe
import recframe.dask
import recframe.polars
from recframe import RecframeError
from recframe.cli import main
from recframe.conventions import LIKE


def make_lists(n_users=60, seed=0):
    """Return lists with ties and short ones, and a test set with other users and grades."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(3, 9, n_users)
    user = np.repeat(np.arange(n_users), lengths)
    item = np.concatenate([rng.permutation(20)[:n] for n in lengths])
    lists = pd.DataFrame({"user": user, "item": item, "a_score": rng.integers(0, 5, len(user))})
    lists["b_score"] = rng.random(len(user))
    test = pd.DataFrame(
        {"user": rng.integers(5, n_users + 5, 300), "item": rng.integers(0, 20, 300)}
    )
    test["grade"] = rng.integers(0, 4, len(test))
    return lists, test.drop_duplicates(["user", "item"])


LISTS, TEST = make_lists()
PAIRS = TEST.loc[TEST["grade"] > 1, ["user", "item"]]
# One score, ties, a repeated pair, a null score, a user without relevant rows.
ROWS = LISTS.merge(PAIRS.assign(relevant=1), "left").fillna({"relevant": 0})[
    ["user", "item", "a_score", "relevant"]
]
REPEATED = pd.concat([ROWS, ROWS[::7].assign(a_score=ROWS["a_score"] + 1)], ignore_index=True)
NULLS = ROWS.assign(a_score=ROWS["a_score"].where(ROWS.index % 9 != 0))
UNRATED = ROWS.assign(relevant=ROWS["relevant"].where(ROWS.index % 9 != 0))
GRADED = ROWS.assign(relevant=np.arange(len(ROWS)) % 4)
# Options of a frame, an option to find, its value, and the metric.
CASES = {
    "ties": (ROWS, {}, {"ties": "last", "short": "pad"}, "precision@5"),
    "item": (ROWS, {}, {"ties": "item", "short": "pad"}, "recall@5"),
    "short": (ROWS, {}, {"short": "shrink"}, "precision@5"),
    "nan": (ROWS, {}, {"short": "nan"}, "recall@5"),
    "zero_division": (ROWS, {}, {"zero_division": 1.0}, "recall@2"),
    "missing": (NULLS, {}, {"missing": "drop"}, "recall@2"),
    "duplicates": (REPEATED, {}, {"duplicates": "keep"}, "recall@2"),
    "null_relevance": (UNRATED, {}, {"null_relevance": "nonrelevant"}, "recall@2"),
    "dropped": (UNRATED, {}, {"missing": "drop", "null_relevance": "nonrelevant"}, "recall@2"),
    "min_relevance": (GRADED, {}, {"min_relevance": 3}, "recall@2"),
    "gain": (GRADED, {}, {"min_relevance": 1, "gain": "exponential"}, "ndcg@2"),
    "binary": (GRADED, {}, {"min_relevance": 2, "gain": "binary"}, "ndcg@2"),
    "population": (LISTS, {"truth": PAIRS}, {"population": "all"}, "hit_rate@2"),
    "rows": (LISTS, {"truth": PAIRS}, {"population": "rows", "zero_division": 0.0}, "recall@2"),
    "unjudged": (
        LISTS,
        {"truth": TEST},
        {"unjudged": "drop", "min_relevance": 2, "population": "both", "short": "pad"},
        "ndcg@2",
    ),
    "two": (ROWS, {}, {"ties": "first", "short": "nan"}, "reciprocal_rank@5"),
    "fall_out": (ROWS, {}, {"ties": "worst", "zero_division": 1.0}, "fall_out@2"),
}
# Metrics of libraries that have no hit rate.
OF_LIBRARIES = {"Recommenders": "recall@5", "Spark": "recall@5", "implicit": "ndcg@5"}
OF_LIBRARIES |= {"scikit-learn": "ndcg@5", "Kaggle": "capped_average_precision@5"}


def run(*words):
    """Return the output of the command line, its errors and its status."""
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        status = main([str(word) for word in words])
    return out.getvalue(), errors.getvalue(), status


def rerun(call, frame, truth=None):
    """Return the mean that a call gives."""
    return eval(call, {"df": frame, "truth": truth, "recframe": recframe}).iloc[0, 0]


@pytest.mark.parametrize("name", CASES)
def test_it_finds_an_option(name):
    """A number made with options is the first row, and every call gives its value."""
    frame, given, options, metric = CASES[name]
    frame = frame.drop(columns="b_score", errors="ignore")
    value = frame.rec(**given, **options).mean(metric).iloc[0, 0]
    before = frame.copy(), *(one.copy() for one in given.values())
    table = frame.rec(**given).reconcile(metric, value)

    assert pytest.approx(value, abs=1e-12) == table["value"].iloc[0]
    assert table["matches"].iloc[0]
    assert (table["difference"].abs().diff().dropna() >= 0).all()
    assert len(table) == table["value"].round(12).nunique()
    truth = given.get("truth")
    assert table["value"].tolist() == [rerun(call, frame, truth) for call in table["call"]]
    for old, new in zip(before, (frame, *given.values()), strict=True):
        pd.testing.assert_frame_equal(old, new)


@pytest.mark.parametrize("library", LIKE)
def test_it_finds_a_library(library):
    """A number made under `like` is found with the library's name, on the simplest call."""
    frame = LISTS.drop(columns="b_score")
    given = {"truth": PAIRS, "like": library}
    given |= {} if "population" in LIKE[library] else {"population": "both"}
    value = frame.rec(**given).mean(OF_LIBRARIES.get(library, "hit_rate@5"))
    kept = {"truth": PAIRS} | {name: one for name, one in given.items() if name == "population"}
    table = frame.rec(**kept).reconcile(value.columns[0], value.iloc[0, 0])
    first = table.iloc[0]

    assert first["matches"]
    named = first["libraries"].split(", ")
    assert library in named
    options = [f"like={one!r}" for one in named] + ["short='pad'"]
    assert table.index[0].endswith((*options, value.columns[0]))


@pytest.mark.parametrize(
    ("asked", "metric"),
    [
        ("recall@2", "capped_recall@2"),
        ("capped_recall@2", "recall@2"),
        ("average_precision@2", "capped_average_precision@2"),
        ("map@2", "average_precision@2"),
        ("map@2", "capped_average_precision@2"),
        ("ndcg@2", "ndcg(offset=0)@2"),
        ("ndcg", "ndcg(offset=2)"),
        ("dcg@2", "dcg(offset=0)@2"),
    ],
)
def test_it_finds_other_metrics_of_the_name(asked, metric):
    """Capped metrics and other offsets are tried under the plain name."""
    value = ROWS.rec.mean(metric).iloc[0, 0]
    table = ROWS.rec.reconcile(asked, value)

    assert metric == table.index[0]
    assert 1 == table["matches"].sum()


@pytest.mark.parametrize(
    ("value", "digits", "matches"),
    [
        ("0.5", None, True),
        (0.5, None, True),
        ("0.50", None, True),
        ("0.500", None, False),
        (0.5, 3, False),
        ("0.45", None, False),
        ("0.496", None, True),
        ("0.4955", None, True),
        ("0.4954", None, False),
        (0.4955, None, True),
        (0, None, True),
        ("1", None, False),
    ],
)
def test_digits(value, digits, matches):
    """A value matches if it rounds to the number with its digits, a half up or down."""
    frame = pd.DataFrame({"user": range(10_000), "score": 1.0})
    frame["relevant"] = np.arange(len(frame)) < 4955
    table = frame.rec.reconcile("precision@1", value, digits)

    assert [0.4955] == table["value"].tolist()
    assert [matches] == table["matches"].tolist()


@pytest.mark.parametrize("digits", [1, 2, 3])
def test_a_half_rounds_either_way(digits):
    """A mean that ends in 5 matches the number above and the one below."""
    frame = pd.DataFrame({"user": range(2 * 10**digits), "score": 1.0})
    frame["relevant"] = np.arange(len(frame)) < 3
    for number in (1, 2):
        assert frame.rec.reconcile("precision@1", number / 10**digits)["matches"].all()
    for number in (0, 3):
        assert not frame.rec.reconcile("precision@1", number / 10**digits, digits)["matches"].any()


@pytest.mark.parametrize(
    ("value", "digits"),
    [("31.2", None), ("x", None), (None, None), ("nan", None), (np.inf, 2), (0.5, -1), (0.5, "2")],
)
def test_numbers_that_are_none_are_refused(value, digits):
    """A value must be a number that the metric can have."""
    with pytest.raises(RecframeError, match=r"value must be a number that recall@2 can have"):
        ROWS.rec.reconcile("recall@2", value, digits)


def test_the_note():
    """The note counts conventions, matches, and numbers that match by chance."""
    (note,) = ROWS.rec(short="pad").reconcile("recall@2", "0.999").notes
    figures = note.figures
    table = ROWS.rec(short="pad").reconcile("recall@2", 0)
    alike, _ = table.notes

    assert "chance" == note.kind
    assert "means_matching" not in figures
    assert figures["calls_tried"] == table["n_calls"].sum()
    assert 0 < figures["numbers_of_means"] <= figures["numbers_in_range"]
    assert {"means_alike": table["matches"].sum()} == alike.figures
    assert "note: the number has too few digits to tell" in repr(table)
    assert "df.rec" not in repr(table)


def test_libraries_have_the_metric():
    """A library is named for the metrics that it has only."""
    table = LISTS.rec(truth=PAIRS, score="a_score").reconcile("recall@2", 0.5)
    named = table["libraries"].groupby(table.index.str.startswith("capped")).agg(", ".join)

    assert "LensKit" in named[True]
    assert "ranx" in named[False]
    assert not {"LensKit", "Kaggle"} & set(named[False].split(", "))
    assert not {"ranx", "trec_eval"} & set(named[True].split(", "))


def test_options_stay():
    """Options that the accessor was called with are in every call."""
    table = ROWS.rec(ties="worst", short="pad").reconcile("recall@5", 0.5)

    assert table["call"].str.contains("ties='worst', short='pad'", regex=False).all()
    assert not table.index.str.contains("ties").any()
    liked = LISTS.rec(truth=PAIRS, like="LensKit", score="a_score")
    assert liked.reconcile("capped_recall@2", 0.5)["call"].str.contains("like='LensKit'").all()
    assert not liked.reconcile("capped_recall@2", 0.5)["libraries"].any()


def test_a_library_that_options_contradict_is_not_named():
    """No library is named if an option was set otherwise."""
    libraries = ROWS.rec(short="shrink").reconcile("precision@5", 0.5)["libraries"]

    assert {"LensKit"} == set(", ".join(filter(None, libraries)).split(", "))


def test_without_edge_cases_there_is_one_value():
    """A frame that leaves nothing open has one mean."""
    frame = pd.DataFrame({"user": [1, 1, 2, 2], "score": [1, 2, 3, 4], "relevant": [1, 0, 0, 1]})
    table = frame.rec.reconcile("precision@1", 0.5)

    assert [0.5] == table["value"].tolist()
    assert ["df.rec.mean('precision@1')"] == table["call"].tolist()


def test_other_questions_are_asked():
    """Questions that no convention decides are asked, and several scores need a name."""
    for call in (
        lambda rec: rec.reconcile("recall@2", 0.5),
        lambda rec: rec.robustness("recall@2"),
    ):
        with pytest.raises(RecframeError, match="user: no column found"):
            call(ROWS.rename(columns={"user": "x"}).rec)
    with pytest.raises(
        RecframeError, match=r"score must be one of \['a_score', 'b_score'\], but is None"
    ):
        LISTS.rec(truth=PAIRS).reconcile("recall@2", 0.5)
    with pytest.raises(RecframeError, match=r"score must be one of .*, but is 'c'. Pass score="):
        LISTS.rec(truth=PAIRS).reconcile("recall@2", 0.5, score="c")
    with pytest.raises(RecframeError, match="did you mean 'recall@2'"):
        ROWS.rec.reconcile("recal@2", 0.5)


def test_models():
    """A score or a model can be named."""
    long = LISTS.melt(["user", "item"], ["a_score", "b_score"], "model", "score")
    rec = LISTS.rec(truth=PAIRS)
    expected = rec.reconcile("recall@2", 0.5, score="b_score")
    found = long.rec(truth=PAIRS, model="model").reconcile("recall@2", 0.5, score="b_score")

    values = ["value", "difference", "matches", "libraries"]
    pd.testing.assert_frame_equal(expected[values], found[values])
    assert not found["call"].str.contains("ties='(?:first|last)'").any()  # models share no order
    means = eval(expected["call"].iloc[0], {"df": LISTS, "truth": PAIRS})
    assert expected["value"].iloc[0] == means.loc["b_score"].item()


def test_robustness():
    """The range holds every mean of `reconcile`, and ranks say whether the order changes."""
    rec = LISTS.rec(truth=PAIRS)
    table = rec.robustness("recall@2")
    for score, row in table.iterrows():
        values = rec.reconcile("recall@2", 0.5, score=score)["value"]
        assert (values.min(), values.max()) == (row["lowest"], row["highest"])
        by_call = rec.reconcile("recall@2", row["lowest"], score=score)
        assert row["lowest_by"] == by_call.index[0]
    frame = pd.DataFrame(
        {"user": [1, 1, 2], "relevant": [1, 0, 1], "a_score": [3, 2, 1], "b_score": [3, 3, 1]}
    )
    changing = frame.rec.robustness("hit_rate@1")
    assert [[1, 1], [1, 2]] == changing[["best_rank", "worst_rank"]].to_numpy().tolist()
    (note,) = changing.notes
    assert (
        note.figures["calls_reordered"]
        == note.figures["calls_ordered"]
        - note.figures["best:a_score"]
        + note.figures["best:b_score"]
    )
    assert [1, 2] == frame.rec(ties="last").robustness("fall_out@1")["worst_rank"].tolist()
    assert () == tuple(frame.drop(columns="b_score").rec.robustness("hit_rate@1").notes)


def test_undefined_means():
    """Means that are undefined under every convention are left out."""
    frame = ROWS.assign(b=ROWS["a_score"].where(ROWS.index < 0)).rec(
        missing="unranked", short="nan", score=["a_score", "b"]
    )
    table = frame.robustness("precision@1")

    assert table.loc["b", ["lowest", "lowest_by"]].isna().all()
    assert 0 == len(frame.reconcile("precision@1", 0.5, score="b"))


@pytest.mark.parametrize("engine", ["Polars", "LazyFrame", "Arrow", "files", "Dask"])
def test_engines(engine, tmp_path):
    """Every engine gives the table of pandas; engines without an order leave out its ties."""
    frame = LISTS.drop(columns="b_score")
    frame.to_parquet(tmp_path / "lists.parquet", index=False)
    make = {
        "Polars": lambda: pl.from_pandas(frame).rec(truth=PAIRS),
        "LazyFrame": lambda: pl.from_pandas(frame).lazy().rec(truth=PAIRS),
        "Arrow": lambda: recframe.rec(pl.from_pandas(frame).to_arrow(), truth=PAIRS),
        "files": lambda: recframe.scan(tmp_path / "lists.parquet", truth=PAIRS),
        "Dask": lambda: recframe.dask.dd.from_pandas(frame, npartitions=2).rec(truth=PAIRS),
    }
    columns = ["value", "difference", "matches"]
    expected = frame.rec(truth=PAIRS)
    if engine in ("LazyFrame", "Dask"):
        short = {"truth": PAIRS, "short": "pad", "population": "truth", "zero_division": 1.0}
        bound = make[engine]()(**short)
        table = bound.reconcile("recall@2", 0.5)
        assert not table.index.str.contains("first|last").any()
        of_order = {
            round(frame.rec(**short, ties=ties).mean(metric).iloc[0, 0], 12)
            for ties in ("first", "last")
            for metric in ("recall@2", "capped_recall@2")
        }
        all_means = set(expected(**short).reconcile("recall@2", 0.5)["value"].round(12))
        assert all_means - of_order <= set(table["value"].round(12)) <= all_means
        return
    table = make[engine]().reconcile("recall@2", 0.5)
    pd.testing.assert_frame_equal(expected.reconcile("recall@2", 0.5)[columns], table[columns])
    if engine == "files":
        assert table["call"].str.startswith("recframe.scan(").all()


def test_the_command_line(tmp_path):
    """The command prints the tables, and writes them; zeros at the end of a number count."""
    paths = tmp_path / "lists.parquet", tmp_path / "test.parquet", tmp_path / "out.json"
    LISTS.to_parquet(paths[0], index=False)
    PAIRS.to_parquet(paths[1], index=False)
    words = "reconcile", paths[0], "--truth", paths[1], "--metric", "recall@2"
    rec = LISTS.rec(truth=PAIRS, score="a_score")
    value = f"{rec(truth=PAIRS, score='a_score', like='ranx').mean('recall@2').iloc[0, 0]:.4f}"
    expected = rec.reconcile("recall@2", value)
    printed, errors, status = run(*words, "--score", "a_score", "--value", value, "-o", paths[2])
    document = json.loads(paths[2].read_text())

    assert 0 == status
    assert expected.index[0] in printed
    assert "as many digits" in errors
    assert expected["value"].tolist() == [one["value"] for one in document["conventions"]]
    assert value == document["value"]
    assert {"chance"} <= {note["kind"] for note in document["notes"]}
    printed, errors, status = run(*words)
    assert 0 == status
    assert "lowest_by" in printed
    assert "order the models" in errors
    _, errors, status = run(*words, "--value", "0.5")
    assert 1 == status
    assert "Pass score=" in errors
