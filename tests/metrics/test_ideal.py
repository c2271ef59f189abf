"""Graded relevance decides the gains of `ndcg`, on every engine and from every source.

Tests of `gain` belong here.
"""

import math

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
import recframe.dask
import strategies

LABELS = ["ndcg", "ndcg@2", "recall@2"]


def graded(seed=0, n_rows=600, n_users=30):
    """Return lists with ties, nulls and low scores, and truth with many unlisted items."""
    rng = np.random.default_rng(seed)
    pairs = pd.DataFrame(
        {"user": rng.integers(0, n_users, n_rows), "item": rng.integers(0, 60, n_rows)}
    ).drop_duplicates()
    recs = pairs.sample(frac=0.6, random_state=seed)
    recs["score"] = rng.integers(-2, 6, len(recs)).astype(float)
    recs.loc[rng.random(len(recs)) < 0.1, "score"] = None
    truth = pairs.sample(frac=0.5, random_state=seed + 1)
    truth["relevance"] = rng.choice([0.0, 0.3, 0.5, 0.7, 1.1, 3.0], len(truth))
    others = pd.DataFrame({"user": [97, 98], "item": [1, 2], "relevance": [3.0, 0.3]})
    return recs.reset_index(drop=True), pd.concat([truth, others], ignore_index=True)


OPTIONS = {"min_relevance": 0.3, "min_score": -1, "missing": "unranked", "short": "pad"}


def test_values_by_hand():
    """The nDCG of rows with relevance 1, 3 and 0 equals a hand count, for two thresholds."""
    frame = pd.DataFrame({"user": 1, "score": [3, 2, 1], "relevant": [1, 3, 0]})
    late = 1 / math.log2(3)
    for gain, first, second in (("linear", 1, 3), ("exponential", 1, 7)):
        table = frame.rec(min_relevance=1, gain=gain).evaluate(LABELS)["score"]
        expected = (first + second * late) / (second + first * late)
        assert [expected, expected, 1.0] == pytest.approx(table.loc[1].tolist())
        high = frame.rec(min_relevance=2, gain=gain).evaluate(LABELS)["score"]
        # The row below the threshold keeps its gain.
        assert table.equals(high)


def test_a_tie_of_equal_gains_scores_1():
    """A tie of equal gains has nDCG 1 exactly, although their mean is rounded."""
    frame = pd.DataFrame({"user": 1, "score": [1, 1, 1], "relevant": 0.1})
    ours = frame.rec(min_relevance=0.1)

    assert [1.0, 1.0] == ours.evaluate(["ndcg", "ndcg@2"])["score"].loc[1].tolist()


@pytest.mark.parametrize(("ties", "first"), [("best", 3), ("worst", 0), ("first", 1), ("last", 0)])
def test_tie_rules(ties, first):
    """The best order has the highest gains first, and the worst has them last."""
    frame = pd.DataFrame({"user": 1, "score": 1.0, "relevant": [1, 3, 2, 0]})
    orders = {
        "best": [3, 2, 1, 0],
        "worst": [0, 1, 2, 3],
        "first": [1, 3, 2, 0],
        "last": [0, 2, 3, 1],
    }
    dcg = {
        order: sum(g / math.log2(i + 2) for i, g in enumerate(orders[order])) for order in orders
    }
    value = frame.rec(min_relevance=1, ties=ties).ndcg().loc[1, "score"]

    assert first == orders[ties][0]
    assert dcg[ties] / dcg["best"] == pytest.approx(value)
    mean = frame.rec(min_relevance=1).ndcg().loc[1, "score"]
    assert dcg["worst"] / dcg["best"] < mean < 1


@given(strategies.rows(relevance="binary", min_rows=1), st.sampled_from(strategies.TIES))
def test_grades_of_0_and_1_are_no_grades(rows, ties):
    """Relevance of 0 and 1 gives the same bits with a threshold of 1 as without."""
    frame = strategies.frame(rows, relevance="binary")
    for gain in ("linear", "exponential"):
        pd.testing.assert_frame_equal(
            frame.rec(short="pad", ties=ties).evaluate(LABELS),
            frame.rec(short="pad", ties=ties, min_relevance=1, gain=gain).evaluate(LABELS),
            check_exact=True,
        )


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
def test_row_order_changes_nothing(ties):
    """The order of rows changes no bit of nDCG, for gains that floats round."""
    recs, truth = graded()
    options = OPTIONS | {"ties": ties}
    expected = recframe.evaluate(recs, LABELS, population="all", truth=truth, **options)
    for seed in range(5):
        shuffled = [frame.sample(frac=1, random_state=seed) for frame in (recs, truth)]
        actual = recframe.evaluate(
            shuffled[0], LABELS, population="all", truth=shuffled[1], **options
        )
        pd.testing.assert_frame_equal(expected, actual, check_exact=True)


@pytest.mark.parametrize(("gain", "population"), [("linear", "rows"), ("exponential", "all")])
def test_every_entry_point_gives_the_same(gain, population, tmp_path, monkeypatch):
    """Threads, files and Dask give the same bits, with truth that is not listed."""
    recs, truth = graded()
    options = OPTIONS | {"gain": gain, "population": population, "truth": truth}
    expected = recframe.evaluate(recs, LABELS, **options)
    recs.to_parquet(tmp_path / "run.parquet", row_group_size=50)
    for memory in (1, "1GiB"):
        actual = recframe.evaluate(tmp_path, LABELS, memory=memory, **options)
        pd.testing.assert_frame_equal(expected, actual, check_exact=True)
    lazy = dd.from_pandas(recs, npartitions=3, sort=False).rec(**options).evaluate(LABELS)
    actual = lazy.compute(scheduler="sync").sort_index()
    pd.testing.assert_frame_equal(expected, actual, check_exact=True, check_index_type=False)
    monkeypatch.setattr("recframe.kernel.threads.ROWS_PER_THREAD", 40)
    actual = recframe.evaluate(recs, LABELS, **options)
    pd.testing.assert_frame_equal(expected, actual, check_exact=True)


def test_grades_without_truth(tmp_path):
    """Files and Dask give the same bits for grades in the frame, also as one ranking."""
    recs, truth = graded()
    frame = recs.merge(truth, how="left").fillna({"relevance": 0}).astype({"relevance": "Float64"})
    frame.to_parquet(tmp_path / "run.parquet", row_group_size=50)
    for user in ("user", None):
        options = OPTIONS | {"user": user, "duplicates": "keep"}
        expected = recframe.evaluate(frame, LABELS, **options)
        actual = recframe.evaluate(tmp_path, LABELS, memory=1, **options)
        pd.testing.assert_frame_equal(expected, actual, check_exact=True)
        lazy = dd.from_pandas(frame, npartitions=3, sort=False).rec(**options).evaluate(LABELS)
        actual = lazy.compute(scheduler="sync").sort_index()
        pd.testing.assert_frame_equal(expected, actual, check_exact=True, check_index_type=False)


def test_what_is_not_listed_is_in_the_ideal():
    """A graded item of truth that is not listed lowers nDCG by its grade, not by 1."""
    recs = pd.DataFrame({"user": [1], "item": ["a"], "score": [1.0]})
    truth = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "relevance": [1, 4, 2]})
    found = recs.rec(population="all", truth=truth, min_relevance=1).ndcg()["score"]

    assert {1: pytest.approx(1 / (4 + 1 / math.log2(3))), 2: 0.0} == found.to_dict()


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_the_highest_grade_of_a_narrow_type(dtype):
    """The highest integer of a narrow type is a grade as any other, in truth and in a frame."""
    grades = [np.iinfo(dtype).max, 1, 2]
    recs = pd.DataFrame({"user": 1, "item": ["b", "a", "c"], "score": [3, 2, 1]})
    truth = pd.DataFrame({"user": 1, "item": ["a", "b", "c"], "relevant": grades})
    for options in ({"truth": truth.astype({"relevant": dtype})}, {}):
        frame = recs if options else recs.merge(truth.astype({"relevant": dtype}))
        expected = recs.merge(truth).rec(min_relevance=1).ndcg()
        pd.testing.assert_frame_equal(expected, frame.rec(min_relevance=1, **options).ndcg())


def test_nothing_to_gain():
    """The nDCG is `zero_division` if no relevant row has a gain."""
    frame = pd.DataFrame({"user": 1, "score": [2, 1], "relevant": [0.0, -0.0]})
    for value in (math.nan, 0.0, 1.0):
        found = frame.rec(min_relevance=0, zero_division=value).ndcg().loc[1, "score"]
        assert repr(value) == repr(float(found))


@pytest.mark.parametrize(
    ("relevant", "gain", "message"),
    [
        (
            [math.inf, 2],
            "linear",
            r"relevance of at most 8.45e\+270 under gain='linear', but it is inf",
        ),
        ([1e280, 2], "linear", r"under gain='linear', but it is 1e\+280$"),
        (
            [1000, 2],
            "exponential",
            "at most 900 under gain='exponential', but it is 1000. Pass gain=",
        ),
        ([math.inf, 2], "exponential", "inf. Pass gain='linear'"),
    ],
)
def test_gains_that_are_refused(relevant, gain, message):
    """Gains that are infinite, or too large to add up, are refused in the frame and in truth."""
    frame = pd.DataFrame({"user": 1, "item": [1, 2], "score": [2, 1], "relevant": relevant})
    options = {"min_relevance": -5, "gain": gain}
    with pytest.raises(recframe.RecframeError, match=message):
        frame.rec(**options).ndcg()
    with pytest.raises(
        recframe.RecframeError, match=r"^truth: relevant='relevant': metrics of grades need"
    ):
        frame.rec(truth=frame, **options).ndcg()
    assert 1.0 == frame.rec(**options).recall(k=2).loc[1, "score"]


@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_grades_are_read_whatever_is_relevant(gain):
    """A row below the threshold gains its grade, and a negative grade gains nothing."""
    frame = pd.DataFrame({"user": 1, "score": [3, 2, 1], "relevant": [-math.inf, 1.0, -3.0]})

    assert 1 / math.log2(3) == pytest.approx(
        frame.rec(min_relevance=1, gain=gain).ndcg().loc[1, "score"]
    )
    for least in (-5, 0, 2):
        bound = frame.rec(min_relevance=least, gain=gain)
        assert 1 / math.log2(3) == pytest.approx(bound.ndcg().loc[1, "score"])
    assert math.isnan(frame.rec(min_relevance=2, gain="binary").ndcg().loc[1, "score"])
    assert math.isnan(frame[::2].rec(min_relevance=-5, gain=gain).ndcg().loc[1, "score"])


def test_binary_gains_are_those_without_grades():
    """Relevant rows gain 1 under gain="binary", as without grades."""
    recs, truth = graded()
    options = OPTIONS | {"population": "all", "min_relevance": 2}
    flags = truth.assign(relevance=truth["relevance"] >= 2)

    pd.testing.assert_frame_equal(
        recs.rec(truth=flags, **options | {"min_relevance": None}).evaluate(LABELS),
        recs.rec(truth=truth, gain="binary", **options).evaluate(LABELS),
        check_exact=True,
    )


def test_gain_is_checked():
    """An unknown gain is refused with the choices."""
    with pytest.raises(recframe.RecframeError, match="gain must be one of 'linear', 'exponential'"):
        pd.DataFrame().rec(gain="quadratic")
