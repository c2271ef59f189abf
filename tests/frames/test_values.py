"""Grades, values and repeated pairs are read up to their limits and refused beyond."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
import reference
from recframe import RecframeError

LABELS = ["precision@2", "recall@2", "r_precision", "ndcg@3", "auc"]


@pytest.mark.parametrize(
    ("gain", "most", "too_much"),
    [("linear", 2.0**900, 2.0**900 * (1 + 2.0**-52)), ("exponential", 900.0, 900.5)],
)
def test_the_largest_grade(gain, most, too_much):
    """A gain of up to 2**900 counts, and a larger gain of a relevant row is refused."""

    def evaluate(grade, relevance=1):
        frame = pd.DataFrame({"user": 1, "score": [3, 2, 1], "relevant": [relevance, 1.0, grade]})
        return frame.rec(min_relevance=1, gain=gain).ndcg().iloc[0, 0]

    assert 0 < evaluate(most) < 1
    with pytest.raises(RecframeError, match=r"relevance of at most .* under gain=.*, but it is"):
        evaluate(too_much)
    assert 1 > evaluate(3.0, relevance=-5.0) > 0


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_value_of_a_column(sign):
    """A value of a column of up to 2**900 in size counts, and a larger one is refused."""
    frame = pd.DataFrame({"user": 1, "score": [1], "relevant": 1, "price": sign * 2.0**900})

    assert sign * 2.0**900 == frame.rec.evaluate("mean(price)@1").iloc[0, 0]
    with pytest.raises(RecframeError, match=r"must be at most .* in size, but has 1 beyond"):
        frame.assign(price=sign * 2.0**900 * (1 + 2.0**-52)).rec.evaluate("mean(price)@1")


def test_a_negative_grade():
    """A row of negative grade may be relevant, and gains nothing."""
    frame = pd.DataFrame({"user": 1, "score": [3, 2], "relevant": [-0.5, 1]})

    assert 0.0 == frame.rec(min_relevance=-1).ndcg(k=1).iloc[0, 0]
    assert 1 == frame.rec(min_relevance=-1).precision(k=1).iloc[0, 0]


PAIRS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from("abc"),
        st.none() | st.integers(0, 3).map(float),
        st.integers(0, 2).map(float),
    ),
    min_size=1,
    max_size=14,
)


@given(PAIRS, st.sampled_from(["first", "max"]), st.booleans())
def test_pairs_are_made_one(rows, duplicates, is_graded):
    """A repeated pair counts once, by its first row or by the best of each value."""
    options = {"missing": "unranked", "short": "pad", "min_relevance": 1 if is_graded else None}
    if not is_graded:
        rows = [(*row, relevant > 0) for *row, relevant in rows]
    frame = pd.DataFrame(rows, columns=["user", "item", "score", "relevant"])
    pairs = reference.fold(rows, duplicates, "unranked")
    folded = pd.DataFrame(pairs, columns=["user", "score", "relevant", "item"])
    frame["score"], folded["score"] = frame["score"].astype(float), folded["score"].astype(float)
    ours = frame.rec(duplicates=duplicates, **options)

    pd.testing.assert_frame_equal(
        recframe.evaluate(folded, LABELS, **options), ours.evaluate(LABELS)
    )
    expected = folded.rec(**options).rank()["score"]
    by_pair = expected.to_numpy()[frame.groupby(["user", "item"], sort=False).ngroup()]
    if duplicates == "max":
        stands = frame["score"] == frame.groupby(["user", "item"])["score"].transform("max")
    else:
        stands = ~frame.duplicated(["user", "item"])
    np.testing.assert_array_equal(np.where(stands, by_pair, np.nan), ours.rank()["score"])


def test_repeated_rows_that_are_kept_are_judged_alike():
    """Every row of a repeated pair has the pair's relevance and gain under duplicates="keep"."""
    frame = pd.DataFrame({"user": 1, "item": list("aab"), "score": [3, 2, 1]})
    truth = pd.DataFrame({"user": 1, "item": list("ac"), "relevant": [3, 1]})
    table = frame.rec(truth=truth, duplicates="keep", min_relevance=1).evaluate(
        ["precision@2", "precision@3", "ndcg@2"]
    )

    assert [1.0, 2 / 3] == table.iloc[0, :2].tolist()
    assert table.iloc[0, 2] == pytest.approx(1)
    once = frame.iloc[[0, 2]].rec(truth=truth, min_relevance=1, short="pad").ndcg(k=1)
    assert [1] == once["score"].tolist()


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i8", ">i2"])
def test_numbers_in_the_other_order_of_bytes(dtype):
    """Scores and grades in the other byte order are read correctly."""
    scores = [300, 1, 2, -5, 256, 7]
    frame = pd.DataFrame({"user": 1, "score": scores, "relevant": [1, 0, 1, 0, 0, 1]})
    stored = frame.assign(**{name: frame[name].astype(dtype) for name in ("score", "relevant")})

    assert stored["score"].dtype == dtype
    pd.testing.assert_frame_equal(frame.rec.evaluate(LABELS), stored.rec.evaluate(LABELS))
    pd.testing.assert_frame_equal(frame.rec.rank(), stored.rec.rank())


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (
            ["0.5", "1"],
            r"'0\.5'\). Convert it, for example with pd\.to_numeric\(df\['score'\]\)\.$",
        ),
        (["0.5", "x"], r"'x'\). Make numbers of it, for example pd\.to_numeric"),
        (pd.to_datetime(["2020", "2021"]), r"Timestamp.*\). Convert it, for example"),
        ([True, False], r"True_?\)$"),
    ],
)
def test_scores_that_are_no_numbers(values, found):
    """Scores that are no numbers are refused with an example and a conversion."""
    frame = pd.DataFrame({"user": 1, "score": values, "relevant": 1})

    with pytest.raises(RecframeError, match=rf"but has dtype .* \(such as .*{found}"):
        frame.rec(score="score").precision(k=1)


def test_items_are_not_looked_at_where_repeats_are_kept():
    """The item column may hold anything under duplicates="keep"."""
    frame = pd.DataFrame({"user": 1, "item": [["a"], {}, None], "score": [3, 2, 1], "relevant": 1})

    assert 1 == frame.rec(duplicates="keep").precision(k=3).iloc[0, 0]
    with pytest.raises(RecframeError, match="item"):
        frame.rec.precision(k=3)


def test_whole_numbers_beside_floats():
    """Integers and floats as objects are read as floats, unless one would lose digits."""
    frame = pd.DataFrame({"user": 1, "relevant": [1, 0, 0]})

    def rank(*scores):
        return frame.assign(score=pd.Series(scores, dtype=object)).rec.rank()["score"].tolist()

    assert [2, 3, 1] == rank(3, 0.5, np.inf)
    assert [1, 3, 2] == rank(2**53, 0.5, 2.0**52)
    with pytest.raises(RecframeError, match=r"lose digits, and 1 would \(such as 90071992547"):
        rank(2**53 + 1, 0.5, 1)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_items_that_floats_round(dtype):
    """Float items too large to tell neighbouring integers apart are refused, without truth too."""
    most = 2.0**53 if dtype == "float64" else 2.0**24
    frame = pd.DataFrame({"user": 1, "item": [1, most - 1], "score": [2, 1], "relevant": [1, 0]})

    assert 1 == frame.astype({"item": dtype}).rec.precision(k=1).iloc[0, 0]
    with pytest.raises(RecframeError, match="item='item': ids"):
        frame.assign(item=[1, most]).astype({"item": dtype}).rec.precision(k=1)


def test_grades_stay_with_their_rows():
    """Grades stay with their rows, so unsorted users have the nDCG of the sorted frame."""
    frame = pd.DataFrame(
        {"user": [2, 1, 2, 1, 1], "score": [1, 2, 3, 4, 5], "relevant": [4, 3, 0, 2, 1]}
    )
    ours, ordered = (rows.rec(min_relevance=1) for rows in (frame, frame.sort_values("user")))

    pd.testing.assert_frame_equal(ordered.ndcg(), ours.ndcg(), check_exact=True)
    assert ours.ndcg().loc[2, "score"] == pytest.approx(1 / np.log2(3))


@pytest.mark.parametrize(
    ("scores", "dtype"),
    [([-(2**63), 0, 2**63 - 1], "int64"), ([0, 3, 255], "uint8"), ([-3e38, -0.5, 7], "float32")],
)
def test_the_lowest_score_first(scores, dtype):
    """ascending=True reverses the order of scores of every dtype."""
    frame = pd.DataFrame({"user": 1, "score": np.array(scores, dtype)[[1, 2, 0]]})

    assert [2, 3, 1] == frame.rec(ascending=True).rank()["score"].tolist()
    assert [2, 1, 3] == frame.rec.rank()["score"].tolist()


def test_both_zeros_are_one_item():
    """0.0 and -0.0 are one item, and all other floats are different items."""
    frame = pd.DataFrame({"user": 1, "item": [0.0, 1e-17, -1e-17], "score": 1.0, "relevant": 1})

    assert 1 == frame.rec.precision(k=3).iloc[0, 0]
    with pytest.raises(RecframeError, match="but 1 of 3 rows repeat"):
        frame.assign(item=[0.0, 1e-17, -0.0]).rec.precision(k=3)


def test_null_relevance_names_truth_first():
    """A null relevance is refused with truth= as the first remedy."""
    frame = pd.DataFrame({"user": [1, 1], "score": [2, 1], "relevant": [1, None]})
    message = r"Pass the judgments as truth=, which .* lost them\). Where null means not relevant"
    with pytest.raises(RecframeError, match=message + ", .* null_relevance='nonrelevant'"):
        frame.rec.recall(k=1)
    expected = frame.fillna(0).rec.recall(k=1)
    pd.testing.assert_frame_equal(expected, frame.rec(null_relevance="nonrelevant").recall(k=1))


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["no", " Yes "], "== ' Yes '"),
        (["view", "buy"], "== ..., where ... is the word that means relevant: 'view', 'buy'"),
        (["no", ["yes"]], "== ..., where ... is the word that means relevant: 'no'"),
    ],
)
def test_words_of_relevance(words, code):
    """The word that means relevant is compared if it is known, and asked about if it is not."""
    frame = pd.DataFrame({"user": 1, "score": [2, 1], "relevant": words})
    with pytest.raises(recframe.RecframeError) as refused:
        frame.rec(relevant="relevant").recall(k=1)
    assert f"df['relevant'] {code}" in str(refused.value)
