"""Truth's relevance is found by name, or `min_relevance` is asked for if it looks like grades."""

from datetime import date
from decimal import Decimal

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import recframe
import recframe.dask  # This import registers ddf.rec.
from recframe.cli import main
from recframe.frames.names import NAMES

# The recall@2 is ALL if every pair of truth is relevant, and FIRST if only the first is.
ALL, FIRST = 2 / 4, 1 / 1


@pytest.fixture
def recs():
    """Return a list of two items, both in truth."""
    return pd.DataFrame({"user": 1, "item": [1, 2], "score": [0.9, 0.8]})


@pytest.fixture
def truth():
    """Return four items of truth without grades."""
    return pd.DataFrame({"user": 1, "item": [1, 2, 3, 4]})


def recall(recs, truth, **options):
    """Return recall@2 of the only user."""
    return recs.rec(truth=truth, **options).recall(k=2).iloc[0, 0]


@pytest.mark.parametrize("name", NAMES["relevant"])
def test_relevance_by_every_name(name, recs, truth):
    """A column of truth with a name of relevance is read as relevance."""
    assert FIRST == recall(recs, truth.assign(**{name.upper(): [1, 0, 0, 0]}))


def test_ratings_still_need_a_threshold(recs, truth):
    """Ratings need a threshold to tell relevant items."""
    rated = truth.assign(rating=[5, 3, 2, 1])
    with pytest.raises(
        recframe.RecframeError, match=r"but has values from 1 to 5\. Pass min_relevan"
    ):
        recall(recs, rated)

    assert FIRST == recall(recs, rated, min_relevance=4)
    assert ALL == recall(recs, rated, relevant=None)


def test_an_index_is_no_relevance(recs, truth):
    """The index of a table that pandas wrote to csv is no relevance."""
    assert ALL == recall(recs, truth.assign(**{"Unnamed: 0": range(4)}))


def test_two_names_are_ambiguous(recs, truth):
    """Two columns that may be relevance are refused as ambiguous."""
    with pytest.raises(
        recframe.RecframeError, match="truth: relevant: 2 columns could be it, 'lab"
    ):
        recall(recs, truth.assign(label=1, clicked=[1, 0, 0, 0]))


def test_ids_are_no_relevance(recs, truth):
    """A column passed as ids is not relevance, under any name."""
    named = truth.rename(columns={"item": "label"})

    assert ALL == recall(recs, named, truth_item="label")
    assert FIRST == recall(recs, named.assign(rel=[1, 0, 0, 0]), truth_item="label")


GRADES = {
    "whole": [5, 3, 3, 1],
    "floats": [0.5, 1.0, 4.5, np.nan],
    "booleans": [True, False, False, False],
    "nullable": pd.array([1, None, None, None], dtype="Int8"),
    "one or null": [1.0, np.nan, 1.0, 1.0],
    "categories": pd.Categorical([2, 1, 0, 0]),
    "objects": pd.Series([True, None, False, False], dtype=object),
    "decimals": [Decimal(1), Decimal(0), Decimal(0), Decimal(0)],
    "text": ["1", "0", "0", "0"],
    "negative": [-1, 0, 1, 2],
}


@pytest.mark.parametrize("kind", GRADES)
def test_what_looks_like_grades_is_refused(kind, recs, truth):
    """A column of few distinct numbers without a role is refused, because it may be relevance."""
    graded = truth.assign(stars=GRADES[kind])
    with pytest.raises(
        recframe.RecframeError,
        match=r"truth: relevant: no column found by its name, but 'stars' holds few distinct "
        r"values \(.*1.*\), as relevance does. Pass relevant='stars' if it says which pairs are "
        "relevant, or relevant=None where all are",
    ):
        recall(recs, graded)

    assert ALL == recall(recs, graded, relevant=None)


def test_grades_of_a_column_without_a_name(recs, truth):
    """A column without a name may hold grades, and is not taken for the index."""
    graded = truth.assign(stars=GRADES["negative"])
    graded.columns = pd.Index([*truth.columns, None], dtype=object)
    with pytest.raises(recframe.RecframeError, match=r"None holds few distinct values \(-1, 0, 1"):
        recall(recs, graded)


def test_grades_of_columns_of_one_name(recs, truth):
    """Grades are found in the second of two columns with one name."""
    graded = truth.assign(stars=1, grade=GRADES["negative"])
    graded.columns = [*truth.columns, "stars", "stars"]
    with pytest.raises(
        recframe.RecframeError, match=r"'stars' holds few distinct values \(-1, 0, "
    ):
        recall(recs, graded)


def test_what_is_found_is_shown(recs, truth):
    """The message shows the values of the first column and names the other columns."""
    graded = truth.assign(stars=[2.5, 1.0, np.nan, 1.0], score=[0, 1, 0, 0], flag=True)
    with pytest.raises(
        recframe.RecframeError,
        match=r"but 'stars' holds few distinct values \(1, 2.5, null\), as relevance does "
        r"\(likewise 'score'\). Pass",
    ):
        recall(recs, graded)


LEFT_ALONE = {
    "iter": [0, 0, 0, 0],
    "stamp": [881250949, 891717742, 891717742, 881250949],
    "timestamp": [1, 2, 3, 4],
    "review_date": [20, 21, 22, 20],
    "createdAt": [1, 2, 3, 4],
    "yyyymmdd": [20240101, 20240102, 20240102, 20240102],
    "when": pd.to_datetime(["2020-01-01", "2020-01-02"] * 2),
    "on": [date(2020, 1, 1), date(2020, 1, 2)] * 2,
    "duration": pd.to_timedelta([1, 2, 3, 4], unit="s"),
    "title": ["one", "two", "3", "4"],
    "genres": [["a"], ["b"], ["a"], []],
    "query": [1, 2, 3, 4],
    "nothing": [None] * 4,
    "same": [5, 5, 5, 5],
    "event": ["click", "click", "click", "click"],
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_does_not_is_left_alone(name, recs, truth):
    """Times, constants, text and other ids are no grades, so every pair is relevant."""
    assert ALL == recall(recs, truth.assign(**{name: LEFT_ALONE[name]}), truth_user="user")


@pytest.mark.parametrize(("n_values", "is_refused"), [(20, True), (21, False)])
@pytest.mark.parametrize("n_rows", [21, 5000])
def test_few_are_up_to_20(n_values, is_refused, n_rows, recs):
    """A column of up to 20 distinct values looks like grades, and one of 21 does not."""
    # The last values stand after many rows.
    values = np.minimum(np.arange(n_rows), n_values - 1)
    truth = pd.DataFrame({"user": 1, "item": np.arange(n_rows), "stars": values})
    if is_refused:
        with pytest.raises(recframe.RecframeError, match="'stars' holds few distinct values"):
            recall(recs, truth)
    else:
        assert 2 / n_rows == recall(recs, truth)


def test_values_that_come_late_count(recs):
    """A column that begins with few values is read to its end."""
    truth = pd.DataFrame({"user": 1, "item": np.arange(3000), "stars": 0})
    truth.loc[2999, "stars"] = 1
    with pytest.raises(recframe.RecframeError, match=r"'stars' holds few .* \(0, 1\)"):
        recall(recs, truth)

    truth.loc[2000:, "stars"] = np.arange(1000)
    assert 2 / 3000 == recall(recs, truth)


def test_every_entry_point_asks(recs, truth, tmp_path, capsys):
    """Frames, files, Dask and the command line refuse possible grades, and take relevant=None."""
    path, truth_path = tmp_path / "recs.parquet", tmp_path / "truth.parquet"
    recs.to_parquet(path)
    truth.assign(stars=[1, 0, 0, 0]).to_parquet(truth_path)
    entry_points = {
        "evaluate": lambda **options: recframe.evaluate(recs, "recall@2", **options),
        "files": lambda **options: recframe.evaluate(path, "recall@2", **options),
        "blocks": lambda **options: pd.concat(recframe.iter_evaluate(path, "recall@2", **options)),
        "judge": lambda **options: (
            recs.rec(**options).judge().tail(4).assign(relevant=ALL)[["relevant"]]
        ),
        "describe": lambda **options: (
            recs.rec(**options, short="pad").describe(k=4).loc[["precision@4, best"]]
        ),
        "inspect": lambda **options: recs.rec(**options).inspect(1, k=2).metrics[["recall@2"]],
        "Dask": lambda **options: (
            dd.from_pandas(recs, npartitions=1).rec(**options).evaluate("recall@2").compute()
        ),
    }
    for entry in entry_points.values():
        with pytest.raises(recframe.RecframeError, match="truth: relevant: no column found by its"):
            entry(truth=truth_path)
        assert ALL == entry(truth=truth_path, relevant=None).iloc[0, 0]

    command = ["evaluate", str(path), "--truth", str(truth_path), "--metric", "recall@2"]
    assert 1 == main(command)
    assert "truth: relevant: no column found by its name" in capsys.readouterr().err
    assert 0 == main([*command, "--no-relevant", "--format", "csv"])
    assert f"score,{ALL}" in capsys.readouterr().out


def test_relevance_of_truth_is_nothing_to_ranks(recs, truth):
    """Ranks do not need relevance, so a relevant column of truth need not be in the frame."""
    graded = truth.assign(stars=[1, 0, 0, 0])
    for relevant in ("stars", None):
        bound = recs.rec(truth=graded, relevant=relevant)

        assert [1.0, 2.0] == bound.rank()["score"].tolist()
        assert [1.0, 2.0] == bound.top(2)["rank"].tolist()


def test_a_threshold_needs_a_column(recs, truth):
    """min_relevance needs a column of relevance in truth."""
    for options in ({}, {"relevant": None}):
        with pytest.raises(recframe.RecframeError, match="min_relevance needs a column of relevan"):
            recall(recs, truth, min_relevance=2, **options)


@pytest.mark.parametrize("scores", [[1, 1, 1, 1], [0, 1, 2, 1]])
def test_a_threshold_names_the_column(recs, truth, scores):
    """min_relevance proposes the columns of numbers, such as the score of BEIR's qrels."""
    graded = truth.assign(score=scores, note="x")
    with pytest.raises(
        recframe.RecframeError, match=r"but has none\. Pass relevant='score', or leave"
    ):
        recall(recs, graded, min_relevance=1, like="ir_measures")
    with pytest.raises(
        recframe.RecframeError, match=r"its label \('score', 'votes'\), or"
    ) as asked:
        recall(recs, graded.assign(votes=7), min_relevance=1)
    assert ["score", "votes"] == asked.value.answers["relevant"].candidates
    assert recall(recs, graded, min_relevance=1, relevant="score")


@pytest.mark.parametrize("values", [["dislike", "like"], ["True", "False"], ["Yes", None, "no"]])
def test_texts_that_are_verdicts_are_refused(values):
    """Text that may tell which pairs are relevant is refused."""
    recs = pd.DataFrame({"user": 1, "item": [1, 2, 3], "score": [3, 2, 1]})
    truth = pd.DataFrame({"user": 1, "item": range(1, len(values) + 1), "feedback": values})
    with pytest.raises(recframe.RecframeError, match="'feedback' holds few distinct values"):
        recs.rec(truth=truth).recall(k=1)
    assert 1 == len(recs.rec(truth=truth, relevant=None).recall(k=1))
    other = truth.assign(feedback=["shoe", "hat", "scarf"][: len(values)])
    assert 1 == len(recs.rec(truth=other).recall(k=1))


@pytest.mark.parametrize(
    "name", ["has_answer", "is_correct_answer", "passage_relevance", "chunk_used", "sentence_label"]
)
def test_attributes_that_say_relevance(name):
    """Flags of chunks and answers are asked about; other attributes of 0 and 1 are not."""
    recs = pd.DataFrame({"user": [1, 1, 2, 2], "item": ["a", "b", "c", "a"], "score": [2, 1] * 2})
    truth = recs[["user", "item"]].assign(**{name: [0, 1, 1, 0]})
    with pytest.raises(recframe.RecframeError, match=f"{name!r} holds few distinct values"):
        recs.rec(truth=truth).recall(k=1)
    with pytest.warns(recframe.RecframeWarning, match="every ranked row is relevant"):
        recs.rec(truth=truth.rename(columns={name: "country_match"})).mean("mrr")


@pytest.mark.parametrize("texts", [["clicked", None], ["", "clicked"], ["correct", "wrong"]])
def test_verdicts_of_some_pairs(texts):
    """A verdict in some rows of truth, next to nulls or empty texts, is asked about."""
    recs = pd.DataFrame({"user": [1, 1, 2, 2], "item": ["a", "b", "c", "a"], "score": [2, 1] * 2})
    truth = recs[["user", "item"]].assign(outcome=[*texts, *texts[::-1]])
    with pytest.raises(recframe.RecframeError, match="'outcome' holds few distinct values"):
        recs.rec(truth=truth).recall(k=1)


@pytest.mark.parametrize("gain", ["linear", "exponential"])
@pytest.mark.parametrize("metric", ["ndcg@3", "dcg", "err(max=3)@5"])
def test_grades_that_no_threshold_changes(metric, gain, tmp_path):
    """NDCG, DCG and ERR alone need no min_relevance, and have its value under any of them."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"user": np.repeat(range(9), 6), "item": np.tile(range(6), 9)})
    frame = frame.assign(score=rng.integers(0, 4, 54) / 4, grade=rng.integers(0, 4, 54))
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=6)
    rows, options = frame.drop(columns="grade"), {"gain": gain, "zero_division": 0}
    means = [frame.rec(**options, min_relevance=least).mean(metric) for least in (1, 2, 3)]
    means += [frame.rec(**options).mean(metric)]
    means += [rows.rec(truth=frame[["user", "item", "grade"]], **options).mean(metric)]
    means += [recframe.scan(tmp_path / "rows.parquet", memory=4096, **options).mean(metric)]

    assert [means[0].iloc[0, 0]] * 6 == [pytest.approx(mean.iloc[0, 0]) for mean in means]
    for asked, others in (([metric, "recall@3"], {}), (metric, {"gain": "binary"})):
        with pytest.raises(recframe.RecframeError, match=r"^relevant=.grade.: must be boolean"):
            frame.rec(**options | others).mean(asked)
    with pytest.raises(recframe.RecframeError, match=r"has values from -1 to 3"):
        frame.assign(grade=frame["grade"].replace(0, -1)).rec(**options).mean(metric)
