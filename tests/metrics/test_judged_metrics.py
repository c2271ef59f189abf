"""`judged`, `bpref` and `all_relevant` are right by hand, at edges and on every engine."""

import math
from fractions import Fraction
from itertools import permutations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recframe
import recframe.dask
import reference
import strategies

LABELS = ["bpref", "judged@2", "judged@4", "all_relevant@3"]
# None is the flag of an item that truth does not hold.
FLAGS = st.sampled_from([True, False, None])
ROWS = st.lists(st.tuples(st.integers(1, 3), FLAGS), min_size=1, max_size=6)
UNRANKED = st.lists(st.tuples(st.none(), FLAGS), max_size=3)
OPTIONS = {"short": "pad", "zero_division": 0.0}


def evaluate(rows, unlisted=(), labels=LABELS, **options):
    """Return the values of the only user; rows are (score, flag), and truth holds more flags."""
    frame = pd.DataFrame({"user": "u", "item": range(len(rows)), "score": [row[0] for row in rows]})
    flags = [*(row[1] for row in rows), *unlisted]
    truth = pd.DataFrame({"user": "u", "item": range(len(flags)), "relevant": flags})
    truth = truth.dropna().astype({"relevant": bool})
    # Truth must hold a user of the frame, so this row is another user's.
    other = pd.DataFrame({"user": ["v"], "item": [0], "relevant": [True], "score": [1]})
    frame = pd.concat([frame, other.drop(columns="relevant")])
    table = recframe.evaluate(
        frame.astype({"score": "Float64"}),
        labels,
        truth=pd.concat([truth, other.drop(columns="score")]),
        missing="unranked",
        population="all",
        **OPTIONS | options,
    )
    return table["score"].loc["u"].tolist()


@given(ROWS, UNRANKED, st.lists(st.booleans(), max_size=3), st.sampled_from(strategies.TIES))
def test_the_reference(rows, unranked, unlisted, ties):
    """Values equal the reference's, with unjudged and unranked rows and unlisted items."""
    own = [*rows, *unranked]
    every = [*own, *((None, flag) for flag in unlisted)]
    expected = [
        reference.value(every, name, k, ties=ties, **OPTIONS)
        for name, k in [("bpref", None), ("judged", 2), ("judged", 4), ("all_relevant", 3)]
    ]

    assert list(map(float, expected)) == pytest.approx(evaluate(own, unlisted, ties=ties))


@given(
    ROWS,
    UNRANKED,
    st.sets(st.integers(0, 5)),
    st.sampled_from(["nonrelevant", "drop"]),
    st.sampled_from(strategies.TIES_OF_ITEMS),
)
def test_rows_that_leave(rows, unranked, excluded, unjudged, ties):
    """Excluded rows count as unlisted items, and unjudged rows are dropped."""
    own = list(enumerate([*rows, *unranked]))
    # Otherwise truth does not hold the user.
    assume(any(flag is not None for _, (_, flag) in own))
    found = [(None if i in excluded else score, flag, 0, 0, i) for i, (score, flag) in own]
    left = [row for row in found if unjudged == "nonrelevant" or row[1] is not None]
    expected = [
        reference.value(left, name, k, ties=ties, **OPTIONS)
        for name, k in [("bpref", None), ("judged", 2), ("judged", 4), ("all_relevant", 3)]
    ]
    pairs = pd.DataFrame({"user": "u", "item": sorted(excluded & {i for i, _ in own})})
    options = {"unjudged": unjudged, "exclude": None if pairs.empty else pairs, "ties": ties}

    assert list(map(float, expected)) == pytest.approx(evaluate([*rows, *unranked], **options))


@pytest.mark.parametrize(("metric", "k"), [("bpref", None), ("judged", 2), ("all_relevant", 2)])
@given(ranked=ROWS)
def test_the_expectation_is_the_mean_over_orders(metric, k, ranked):
    """The expectation is the mean over orders of tied rows; best and worst are the extremes."""
    found = [
        reference.value(rows, metric, k, ties="first", **OPTIONS)
        for rows in reference.rankings(ranked)
    ]
    expected = {"expected": Fraction(sum(found)) / len(found), "best": max(found)}
    for ties, value in (expected | {"worst": min(found)}).items():
        assert value == reference.value(ranked, metric, k, ties=ties, **OPTIONS)


def test_by_hand():
    """`bpref` and `judged` of relevant, other and unjudged rows equal a hand count."""
    rows = [(9 - i, flag) for i, flag in enumerate([False, True, None, False, True, None])]

    assert [(1 / 2 + 0) / 2, 1.0, 3 / 4, 0.0] == evaluate(rows, [False, False])
    assert [1 / 2, 1 / 2] == evaluate(rows[2:], labels=["judged@2", "judged@4"])
    # An unlisted relevant item makes R = 3, and N = 2: min(1, 3) / 2 and min(2, 3) / 2.
    assert [(1 / 2 + 0) / 3] == evaluate(rows, [True], labels="bpref")


def test_rows_that_leave_by_hand():
    """`bpref` and `judged` equal a hand count after excluding and dropping unjudged rows."""
    recs = pd.DataFrame({"user": 1, "item": list("xbad"), "score": [4, 3, 2, 1]})
    truth = pd.DataFrame({"user": 1, "item": list("abcd"), "relevant": [True, False, True, False]})
    exclude = pd.DataFrame({"user": [1], "item": ["b"]})
    for options, expected in (
        ({}, [(1 - 1 / 2) / 2, 1 / 2]),
        ({"unjudged": "drop"}, [(1 - 1 / 2) / 2, 1.0]),
        # N is still 2.
        ({"exclude": exclude}, [1 / 2, 1 / 2]),
        ({"exclude": exclude, "unjudged": "drop"}, [1 / 2, 1.0]),
    ):
        found = recs.rec(truth=truth, **options).evaluate(["bpref", "judged@2"])
        assert expected == found["score"].loc[1].tolist()


def test_tied_by_hand():
    """A relevant row tied with two others has none, one or two above it in `bpref`."""
    rows = [(2, True), (1, True), (1, False), (1, False), (1, None), (None, False)]
    of_tied = (1 + 1 / 2 + 0) / 3

    assert [(1 + of_tied) / 2] == pytest.approx(evaluate(rows, labels="bpref"))


@pytest.mark.parametrize("zero_division", [math.nan, 0.0, 1.0])
def test_edges(zero_division):
    """`bpref` is defined without other items or ranked rows, and for R beyond the ranking."""
    for rows, bpref in {
        ((2, False), (1, None)): zero_division,  # R = 0.
        ((2, True), (1, None)): 1.0,  # N = 0.
        ((2, None), (1, True), (None, True)): 1 / 2,  # N = 0, and a row is not ranked.
        ((None, True), (None, False)): 0.0,  # No row is ranked.
        ((2, False), (1, True), (None, True), (None, True)): 0.0,  # R = 3 > 2 rows, min(N, R) = 1.
    }.items():
        found = evaluate(list(rows), labels="bpref", zero_division=zero_division)
        assert repr([float(bpref)]) == repr(found)


@pytest.mark.parametrize(("short", "value"), [("pad", 1 / 4), ("shrink", 1 / 2), ("nan", math.nan)])
def test_judged_of_short_lists(short, value):
    """`judged` of two rows at k = 4 follows option `short`, like precision."""
    found = evaluate([(2, False), (1, None)], labels="judged@4", short=short)

    assert repr([value]) == repr(found)


def test_without_truth_every_row_is_judged():
    """Every row is judged without truth, also rows that are not ranked."""
    frame = pd.DataFrame(
        {"user": 1, "score": [3, 2, 1, None, None], "relevant": [0, 1, 0, 0, 1]}
    ).astype({"score": "Float64"})
    found = frame.rec(missing="unranked").evaluate(["judged@3", "bpref"])["score"].loc[1]

    assert [1.0, (1 - 1 / 2) / 2] == found.tolist()


def test_grades_below_the_threshold_are_judged():
    """An item of truth below `min_relevance` is judged and not relevant."""
    recs = pd.DataFrame({"user": 1, "item": [1, 2, 3], "score": [3, 2, 1]})
    truth = pd.DataFrame({"user": 1, "item": [2, 3], "relevance": [1, 2]})
    for least, expected in ((1, [1 / 2, 1.0]), (2, [1 / 2, 0.0])):
        bound = recs.rec(truth=truth, min_relevance=least)
        assert expected == bound.evaluate(["judged@2", "bpref"])["score"].loc[1].tolist()


def make_frames(seed):
    """Return lists with ties and nulls, and truth with many unlisted items."""
    rng = np.random.default_rng(seed)
    pairs = pd.DataFrame({"user": rng.integers(0, 30, 600), "item": rng.integers(0, 60, 600)})
    pairs = pairs.drop_duplicates()
    recs = pairs.sample(frac=0.6, random_state=seed).reset_index(drop=True)
    recs["score"] = rng.integers(0, 6, len(recs)).astype(float)
    recs.loc[rng.random(len(recs)) < 0.1, "score"] = None
    truth = pairs.sample(frac=0.5, random_state=seed + 1).reset_index(drop=True)
    return recs, truth.assign(relevant=rng.random(len(truth)) < 0.4)


@pytest.mark.parametrize(("ties", "unjudged"), [("expected", "drop"), ("item", "nonrelevant")])
def test_every_entry_point_gives_the_same(ties, unjudged, tmp_path, monkeypatch):
    """Any row order, files in any memory, Dask and threads give the same bits."""
    recs, truth = make_frames(0)
    options = {"truth": truth, "ties": ties, "missing": "unranked", "short": "pad"}
    options |= {"unjudged": unjudged, "exclude": recs[["user", "item"]][::9]}
    expected = recframe.evaluate(recs, LABELS, **options)
    assert not expected.isna().all(axis=None)
    shuffled = recs.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(expected, recframe.evaluate(shuffled, LABELS, **options))
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


def test_repeated_rows_that_are_kept():
    """Rows that repeat a pair are judged like the first one."""
    recs = pd.DataFrame({"user": 1, "item": list("aabbc"), "score": [5, 4, 3, 2, 1]})
    truth = pd.DataFrame({"user": 1, "item": ["a", "c"], "relevant": [False, True]})
    bound = recs.rec(truth=truth, duplicates="keep")

    assert [2 / 4, 1 - 1 / 1] == bound.evaluate(["judged@4", "bpref"])["score"].loc[1].tolist()


def test_all_relevant_over_a_tie():
    """`all_relevant` over a tie is the share of orders with all relevant rows in the list."""
    frame = pd.DataFrame({"user": 1, "score": 1, "relevant": [1, 1, 0, 0, 0]})
    for k in range(1, 6):
        lists = [order[:k] for order in permutations([1, 1, 0, 0, 0])]
        expected = Fraction(sum(sum(own) == 2 for own in lists), len(lists))
        assert float(expected) == pytest.approx(frame.rec.all_relevant(k=k).iloc[0, 0])
    many = pd.DataFrame({"user": 1, "score": 1, "relevant": [1] * 50 + [0] * 50})
    expected = Fraction(math.comb(50, 30), math.comb(100, 80))
    assert float(expected) == pytest.approx(many.rec.all_relevant(k=80).iloc[0, 0], rel=1e-13)


def test_bpref_of_ties_that_reach_beyond_r():
    """`bpref` counts at most R other rows above a row, also inside a tie."""
    # One is above and three tie, R = 2: 1, 2, 2 or 2 of 2 are lost; the last row is below four.
    reaching = pd.DataFrame(
        {"user": 1, "score": [3, 2, 2, 2, 2, 1], "relevant": [0, 1, 0, 0, 0, 1]}
    )
    assert (1 - 7 / 8) / 2 == pytest.approx(reaching.rec.bpref().loc[1, "score"])
    # Three are above and one ties, so nothing more can be lost.
    beyond = pd.DataFrame({"user": 1, "score": [5, 4, 4, 4, 3, 3], "relevant": [1, 0, 0, 0, 1, 0]})
    assert 1 / 2 == beyond.rec.bpref().loc[1, "score"]
