"""The published examples S1 to S4 of `precision` and `recall` have their printed values."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe.metrics import precision_at_k, r_precision, recall, recall_at_k

DATA = Path(__file__).parent / "data"
EXAMPLES = Path(__file__).parents[1] / "examples"
N_RELEVANT = [13, 21, 16, 17, 13, 13, 18, 16, 13, 19]
RELEVANT, SCORE = [1, 1, 0, 0, 1], [0.4, 0.1, 0.2, 0.5, 0.3]


@pytest.fixture(scope="module")
def example():
    """Return the example frame of the repository."""
    return pd.read_parquet(EXAMPLES / "example.parquet")


def published(name):
    """Return a published per-object table."""
    return pd.read_csv(DATA / name, index_col="object")


def test_s1_recall_table(example):
    """S1: recall@4 of every object equals the six decimals printed, with an index named object."""
    actual = example.rec.recall(k=4)

    pd.testing.assert_frame_equal(
        published("recall_at_4.csv"), actual.round(6), check_names=False, check_column_type=False
    )
    assert actual.index.name == "object"
    assert actual.columns.name == "recall@4"


def test_s2_precision_table(example):
    """S2: precision@4 of every object equals the published value exactly."""
    actual = example.rec.precision(k=4)

    pd.testing.assert_frame_equal(
        published("precision_at_4.csv"), actual, check_names=False, check_column_type=False
    )
    assert actual.columns.name == "precision@4"


@pytest.mark.parametrize(
    ("metric", "random", "knn"), [("recall", 0.117027, 0.226328), ("precision", 0.475, 0.875)]
)
def test_s1_s2_mean_value_row(example, metric, random, knn):
    """S1, S2: the table of means has the published row, by plain pandas and by `mean`."""
    table = getattr(example.rec, metric)(k=4)
    row = table.mean().to_frame("mean value").T

    assert [random, knn] == row.loc["mean value"].round(6).tolist()
    means = example.rec.mean([f"{metric}@4"])
    assert [random, knn] == means[f"{metric}@4"].round(6).tolist()
    assert ["Random scores", "KNN scores"] == means.index.tolist()


def test_s1_relevant_items_per_object(example):
    """S1: the two published tables imply the numbers of relevant items."""
    assert N_RELEVANT == example.groupby("object")["relevant"].sum().tolist()


def test_s1_object_4_rows(example):
    """S1: all thirty rows of object 4 are as published."""
    actual = example[example["object"] == 4].reset_index(drop=True)

    pd.testing.assert_frame_equal(pd.read_csv(DATA / "object_4.csv"), actual)


@pytest.mark.parametrize(
    ("score", "recall", "precision"),
    [("Random scores", "15.38%", "66.67%"), ("KNN scores", "23.08%", "100.00%")],
)
def test_s1_s2_consider_one_object(example, score, recall, precision):
    """S1, S2: object 4 at k = 3 has the same values by the frame and by the array functions."""
    one = example[example["object"] == 4]
    by_frame = one.rec.evaluate(["recall@3", "precision@3"]).loc[4, score]

    assert [recall, precision] == [f"{value:.2%}" for value in by_frame]
    assert recall == f"{recall_at_k(one['relevant'], one[score], 3):.2%}"
    assert precision == f"{precision_at_k(one['relevant'], one[score], 3):.2%}"


@pytest.mark.parametrize("function", [recall_at_k, precision_at_k])
def test_s1_s2_array_functions(function):
    """S1, S2: the five observations at k = 3 give 2/3."""
    assert 2 / 3 == function(RELEVANT, SCORE, k=3)


@pytest.mark.parametrize("function", [recall_at_k, precision_at_k])
def test_s1_s2_array_functions_refuse(function):
    """S1, S2: unequal lengths and a k beyond the observations raise ValueError."""
    with pytest.raises(ValueError, match=r"of one length, but have shapes \(4,\) and \(5,\)"):
        function(RELEVANT[:4], SCORE, k=3)
    with pytest.raises(ValueError, match="k must be at most the 5 observations, but is 6"):
        function(RELEVANT, SCORE, k=6)


def test_array_r_precision():
    """R-precision of one ranking is NaN without a relevant row."""
    assert 2 / 3 == r_precision(RELEVANT, SCORE)
    assert np.isnan(r_precision([0, 0], [0.1, 0.2]))


@pytest.mark.parametrize(
    ("relevant", "score", "message"),
    [
        ([1, 2], [0.1, 0.2], "relevant must be boolean or 0/1"),
        ([1, 0], [0.1, np.nan], "score must not be NaN, but has 1"),
        ([1, 0], ["a", "b"], "score must be numbers, but has dtype <U1"),
        ([[1, 0]], [[0.1, 0.2]], "one-dimensional"),
        (np.ma.masked_array([1, 0], [0, 1]), [0.1, 0.2], "relevant must .* but has 1 masked of 2"),
        (
            [1, 0],
            np.ma.masked_array([0.1, 0.2], [1, 1]),
            "score must not be masked, but has 2 .*of 2",
        ),
        (
            [1, 0],
            pd.array([0.1, None]),
            "score must not be masked, but has 1 masked of 2. Leave the",
        ),
        (pd.Series([1, 0]), pd.Series([0.1, 0.2], [1, 0]), "Series with different indexes; align"),
    ],
)
def test_array_functions_refuse_bad_values(relevant, score, message):
    """Arrays that are no ranking are refused."""
    with pytest.raises(ValueError, match=message):
        precision_at_k(relevant, score, 1)


SHOWN, TARGETS = list(range(1, 11)), [1, 3, 4, 6, 8, 11, 13, 14]


@pytest.mark.parametrize("make", [list, np.array])
@pytest.mark.parametrize(("k", "value"), [(10, 0.625), (5, 0.375)])
def test_s3_recall_of_sets(make, k, value):
    """S3: recall of the items shown is the same for lists, arrays and frames."""
    assert value == recall(make(SHOWN[:k]), make(TARGETS))
    recs = recframe.from_lists({"ann": SHOWN})
    truth = pd.DataFrame({"user": "ann", "item": TARGETS})
    assert [value] == recs.rec(truth=truth).recall(k=k)["score"].tolist()


def test_what_is_not_masked_counts():
    """A masked array without masks is an array, and Series with equal indexes are paired."""
    relevant, score = np.ma.masked_array([1, 0], False), pd.Series([0.1, 0.2], [5, 4])

    assert 0.0 == precision_at_k(relevant, score, 1)
    assert 1.0 == precision_at_k(pd.Series([0, 1], [5, 4]), score, 1)
    with pytest.raises(ValueError, match="target must not be masked, but has 1 masked of 2"):
        recall([1], np.ma.masked_array([1, 2], [0, 1]))


def test_s3_recall_without_targets():
    """S3: recall without targets is 0.0, and other types than lists and arrays raise TypeError."""
    assert 0.0 == recall(SHOWN, [])
    assert 0.0 == recall([], TARGETS)
    for recommended, target in ((tuple(SHOWN), TARGETS), (SHOWN, set(TARGETS)), ("abc", TARGETS)):
        with pytest.raises(TypeError, match="must be a list or an array, but is"):
            recall(recommended, target)


def test_s3_recall_at_k_of_a_frame():
    """S3: users without targets count as 0, and recall allows fewer than k rows."""
    targets = {1, 3, 4, 6, 8, 11, 13, 14}
    shown = pd.DataFrame({"user": "a", "item": range(1, 15)})
    shown["score"] = -shown["item"]
    shown["target"] = shown["item"].isin(targets).astype(int)
    none = pd.DataFrame({"user": "b", "item": [1, 2], "score": [2.0, 1.0], "target": 0})
    bound = pd.concat([shown, none]).rec(zero_division=0.0, short="pad")

    assert [0.625, 0.0] == bound.recall(k=10)["score"].tolist()
    assert [0.375, 0.0] == bound.recall(k=5)["score"].tolist()
    assert 0.1875 == bound.mean("recall@5").loc["score", "recall@5"]


@pytest.fixture
def ratings():
    """S4: ratings with R = 11 have 2, 8 and 10 hits in the first 3, 10 and 12 recommended."""
    hit = [1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1]
    frame = pd.DataFrame(
        {
            "y_actual": [4.0 if h else 1.0 for h in hit] + [2.0, 0.0, 1.5, np.nan, 3.0],
            "y_recommended": [4.0 - 0.15 * i for i in range(12)] + [1.9, 1.0, 0.0, 4.0, np.nan],
        }
    )
    return frame.sample(frac=1, random_state=4)


@pytest.mark.parametrize(
    ("k", "precision", "recall"), [(3, 0.67, 0.18), (10, 0.80, 0.73), (15, 0.83, 0.91)]
)
def test_s4_ratings(ratings, k, precision, recall):
    """S4: precision and recall of one ranking of ratings equal the two decimals printed."""
    bound = ratings.rec(
        user=None,
        score="y_recommended",
        relevant="y_actual",
        min_relevance=2.0,
        min_score=2.0,
        missing="drop",
        short="shrink",
    )
    table = bound.evaluate([f"precision@{k}", f"recall@{k}"])

    assert [precision, recall] == table.loc["all", "y_recommended"].round(2).tolist()


def test_s4_no_value_where_nothing_is_recommended(ratings):
    """S4: precision and recall have no value if nothing is recommended."""
    bound = ratings.rec(
        user=None,
        score="y_recommended",
        relevant="y_actual",
        min_relevance=5.0,
        min_score=5.0,
        missing="drop",
        short="shrink",
    )

    assert bound.evaluate(["precision@3", "recall@3"]).isna().all(axis=None)


def test_s4_refuses():
    """S4: a k of 0 or less and a missing column raise ValueError."""
    frame = pd.DataFrame({"y_actual": [1.0], "y_recommended": [1.0]})
    bound = frame.rec(user=None, score="y_recommended", relevant="y_actual", min_relevance=2.0)
    with pytest.raises(ValueError, match="k must be an integer of 1 or more, but is 0"):
        bound.precision(k=0)
    with pytest.raises(ValueError, match="score='y_predicted': no such column"):
        frame.rec(user=None, score="y_predicted", relevant="y_actual").precision(k=1)
