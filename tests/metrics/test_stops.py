"""Metric `err` stops by grades, in ties too, and refuses grades that are too high."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
import reference
import strategies

# Scores and grades: half of the rows tie as a rule, and all rows of some ties are equal.
LISTS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([0, 0, 1, 1, 2, 4])), min_size=1, max_size=6
)


def make(rows):
    """Return the frame of one user's (score, grade) rows."""
    return pd.DataFrame(
        {
            "user": 1,
            "score": [score for score, _ in rows],
            "relevant": [float(grade) for _, grade in rows],
        }
    )


def by_hand(grades, k=None, highest=4):
    """Return the ERR of grades in ranked order by its definition."""
    total, reached = 0.0, 1.0
    for place, grade in enumerate(grades[:k], 1):
        stop = (2**grade - 1) / 2**highest
        total += reached * stop / place
        reached *= 1 - stop
    return total


@given(LISTS, st.sampled_from([None, 1, 2, 4]), st.sampled_from(["linear", "exponential"]))
def test_the_expectation_is_the_mean_over_orders(rows, k, gain):
    """ERR is the mean over all orders of tied rows, and the same under every gain."""
    orders = [
        [grade for _, grade in order]
        for order in itertools.permutations(rows)
        if all(a[0] >= b[0] for a, b in itertools.pairwise(order))
    ]
    found = [by_hand(grades, k) for grades in orders]
    bound = make(rows).rec(min_relevance=1, short="pad", gain=gain)
    least = {ties: bound(min_relevance=1, short="pad", ties=ties) for ties in ("best", "worst")}

    assert math.fsum(found) / len(found) == pytest.approx(bound.err(k, max=4).iloc[0, 0])
    extremes = [least[ties].err(k, max=4).iloc[0, 0] for ties in ("worst", "best")]
    assert [min(found), max(found)] == pytest.approx(extremes)


@given(
    st.lists(st.tuples(st.integers(10, 60), st.integers(0, 2**32 - 1)), min_size=1, max_size=3),
    st.integers(2, 9),
    st.sampled_from([None, 1, 5, 40]),
)
def test_large_ties_of_mixed_grades(ties, max_grade, k):
    """The ERR of large ties equals exact products over all choices of rows."""
    rows = [
        (-nth, grade > 0, grade, grade)
        for nth, (size, seed) in enumerate(ties)
        for grade in np.random.default_rng(seed).integers(0, max_grade + 1, size).tolist()
    ]
    expected = reference.err(rows, k, "expected", max=max_grade)
    bound = make([(row[0], row[2]) for row in rows]).rec(min_relevance=1, short="pad")

    assert float(expected) == pytest.approx(bound.err(k, max=max_grade).iloc[0, 0], rel=1e-13)


@pytest.mark.parametrize("grades", [[0, 0, 0, 1], [0, 1, 1, 2, 3], [0.5, 1.25, 2]])
def test_what_is_alike_is_counted_once(grades, monkeypatch):
    """Shared computations of equal ties leave the bits of each tie, user and row order."""
    rng = np.random.default_rng(2)
    users = np.repeat(np.arange(60), rng.integers(1, 40, 60))
    scores, drawn = rng.integers(0, 3, len(users)), rng.choice(grades, len(users))
    frame = pd.DataFrame({"user": users, "score": scores, "relevant": drawn})
    labels = ["err(max=3)", "err(max=3)@2", "err(max=5)@20"]
    expected = frame.rec(min_relevance=0.5, short="pad").evaluate(labels)
    shuffled = frame.sample(frac=1, random_state=1).rec(min_relevance=0.5, short="pad")
    pd.testing.assert_frame_equal(expected, shuffled.evaluate(labels), check_exact=True)
    alone = frame[frame["user"] == 7].rec(min_relevance=0.5, short="pad").evaluate(labels)
    pd.testing.assert_frame_equal(expected.loc[[7]], alone, check_exact=True)
    monkeypatch.setattr("recframe.metrics.ties.MOST_VALUES", 0)
    found = frame.rec(min_relevance=0.5, short="pad").evaluate(labels)
    pd.testing.assert_frame_equal(expected, found, check_exact=True)


@pytest.mark.parametrize(("size", "n_relevant"), [(300_000, 1), (20_000, 5_000), (3_000, 3_000)])
def test_a_large_tie(size, n_relevant):
    """The ERR of a large tie of one grade equals its closed form."""
    frame = make([(1, 1)] * n_relevant + [(1, 0)] * (size - n_relevant))
    found = frame.rec(min_relevance=1).err(max=1).iloc[0, 0]
    places = np.arange(1, size + 1)
    if n_relevant == 1:
        expected = math.fsum(1 / (2 * size * places))
    elif n_relevant == size:
        expected = math.fsum(0.5 ** places[:1000] / places[:1000])
    # Rows are almost independent: each is passed with probability 1 - 1/8.
    else:
        expected = math.fsum(0.875 ** (places[:1000] - 1) / 8 / places[:1000])
    assert expected == pytest.approx(found, rel=1e-12 if n_relevant != 5_000 else 1e-3)


def test_without_grades_a_relevant_row_has_grade_1():
    """A relevant row without grades has the bits of grade 1 under a threshold of 1."""
    frame = make([(3, 1), (2, 0), (2, 1), (1, 1)])
    for label in ("err(max=1)", "err(max=4)@2"):
        expected = frame.rec(min_relevance=1).evaluate(label)
        pd.testing.assert_frame_equal(expected, frame.rec.evaluate(label), check_exact=True)


@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_a_grade_above_the_highest(gain, tmp_path):
    """A grade above the highest is refused, listed or not, under every `min_relevance`."""
    frame = make([(2, 3), (1, 1)]).assign(item=[1, 2])
    message = r"err\(max=2\): max must be the highest grade .* but a grade is 3. Pass max=3 or more"
    with pytest.raises(recframe.RecframeError, match=message):
        frame.rec(min_relevance=1, gain=gain).err(max=2)
    with pytest.raises(recframe.RecframeError, match=message):
        frame[1:].rec(min_relevance=1, gain=gain, truth=frame, short="pad").err(k=5, max=2)
    frame.to_parquet(tmp_path / "0.parquet")
    with pytest.raises(recframe.RecframeError, match=message):
        recframe.evaluate(tmp_path, "err(max=2)", min_relevance=1, gain=gain)
    assert by_hand([3, 1], highest=3) == frame.rec(min_relevance=1).err(max=3).iloc[0, 0]
    with pytest.raises(recframe.RecframeError, match=message):
        frame.rec(min_relevance=4, gain=gain).err(max=2)
    assert 0.0 == frame.rec(min_relevance=4, gain="binary").err(max=2).iloc[0, 0]


@given(strategies.many_rows(relevance="graded"), st.sampled_from(strategies.TIES))
def test_it_is_a_share(rows, ties):
    """ERR is in [0, 1], never falls as k grows, and ends at the value of the whole ranking."""
    labels = ["err(max=4)@1", "err(max=4)@3", "err(max=4)@50", "err(max=4)"]
    bound = strategies.frame(rows, relevance="graded").rec(
        ties=ties, min_relevance=1, short="pad", zero_division=0.0
    )
    table = bound.evaluate(labels)["score"].to_numpy()

    assert (table >= 0).all()
    assert (table <= 1).all()
    assert (np.diff(table, axis=1) >= 0).all()
    np.testing.assert_array_equal(table[:, 2], table[:, 3])
