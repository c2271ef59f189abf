"""Scores become integers that fall as scores rise, and are equal for equal scores."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.strategies import POOLS, cut, cuts, score_columns
from recframe.kernel.scores import find_bits, rank_densely, rankable


@given(st.integers(0, 60).flatmap(score_columns), cuts())
def test_integers_fall_as_scores_rise(scores, cuts):
    """Integers fall as scores rise, are equal for equal scores, and fit the stated bits."""
    values = scores.tolist() if scores.dtype != np.longdouble else list(scores)
    given = rankable(scores)
    before = given.copy()
    with cut(*cuts):
        bits = find_bits(given)
        found = bits.read(given)

    np.testing.assert_array_equal(before, given)
    assert np.uint64 == found.dtype
    assert 0 <= bits.n_leading <= 64
    assert int(found.max(initial=0)).bit_length() <= bits.n_bits <= 64
    integer = dict(zip(values, found.tolist(), strict=True))
    assert [integer[value] for value in values] == found.tolist()
    fallen = [integer[value] for value in sorted(integer)]
    assert sorted(set(fallen), reverse=True) == fallen


@given(
    st.integers(1, 60).flatmap(score_columns),
    cuts(),
    st.integers(1, 63),
)
def test_shorter_integers_never_rise_as_scores_rise(scores, cuts, n_kept):
    """Shortened integers fit the bits asked for and never rise as scores rise."""
    given = rankable(scores)
    with cut(*cuts):
        bits = find_bits(given)
        n_kept = min(n_kept, bits.n_bits - 1)
        if n_kept < 1:
            return
        found = bits.shorten(given, n_kept)

    assert int(found.max()).bit_length() <= n_kept
    assert (np.diff(found[np.argsort(given)].astype(np.int64)) <= 0).all()


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
@pytest.mark.parametrize("n_decimals", [0, 3, 7])
def test_shorter_integers_tell_most_scores_apart(dtype, n_decimals):
    """Most of two thousand evenly spaced scores stay distinct in twenty bits."""
    scores = (np.arange(2_000) * 1_000_003 / 10**n_decimals).astype(dtype)
    scores = scores if dtype != "int64" else np.arange(2_000) * 1_000_003
    bits = find_bits(scores)

    assert bits.n_bits > 20
    assert len(np.unique(bits.shorten(scores, 20))) > 1_500


@pytest.mark.parametrize(
    ("scores", "n_bits"),
    [
        ([3, 1, 2, 8], 3),
        ([0.25, 0.5, 1.75], 8),
        ([0.5, 0.5], 0),
        ([-(2**63), 2**63 - 1], 64),
        # These rows are too few for a table.
        ([1 / 3, 2 / 3, 1 / 7, -1 / 9], 63),
        ([1 / 3, 2 / 3, 1 / 7, -1 / 9] * 2_000, 2),
    ],
)
def test_few_bits(scores, n_bits):
    """Integers and decimals need the bits of their range; few distinct others need fewer."""
    assert n_bits == find_bits(np.array(scores)).n_bits


@pytest.mark.parametrize("n_distinct", [2, 100, 512, 513])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("is_late", [False, True])
def test_few_distinct_scores_have_the_bits_of_their_ranks(n_distinct, dtype, is_late):
    """Up to 512 distinct scores need only the bits of their ranks, even if met late."""
    for seed in range(9):
        pool = np.random.default_rng(seed).standard_normal(n_distinct).astype(dtype)
        scores = np.resize(pool, 20_000)
        if is_late:
            scores[: -2 * n_distinct] = scores[0]
        bits = find_bits(scores)
        fallen = np.iinfo(np.uint64).max - bits.read(scores)

        assert (n_distinct <= 512) == (bits.n_bits == (n_distinct - 1).bit_length())
        np.testing.assert_array_equal(rank_densely(scores), rank_densely(fallen))


@pytest.mark.parametrize("kind", POOLS)
def test_ranks_of_scores(kind):
    """The rank of a value is the number of distinct values below it."""
    values = POOLS[kind](np.random.default_rng(5), 50)
    distinct = list(values) if values.dtype == np.longdouble else values.tolist()
    below = [len({low for low in distinct if low < value}) for value in distinct]

    assert below == rank_densely(values).tolist()


def test_scores_that_are_met_again_and_again_before_one_that_is_new():
    """A different score in the last row counts, although a sample shows only one score."""
    n_rows = 1 << 21
    pool = np.random.default_rng(0).random(40)
    scores = np.full(n_rows, pool[0])
    # The sample takes every 512th row from row 0.
    scores[1::512] = np.resize(pool, len(scores[1::512]))
    scores[-1] = 2.0
    found = find_bits(scores).read(scores)

    assert 1 == (found == 0).sum()
    np.testing.assert_array_equal(rank_densely(scores), rank_densely(-found.view(np.int64)))


def test_scores_that_are_hardly_apart():
    """Scores so close that their steps cannot be counted are still ranked correctly."""
    frame = pd.DataFrame({"user": 1, "score": [-5e-324, 5e-300], "relevant": [1, 0]})
    assert 0.0 == frame.rec.mean("precision@1").loc["score", "precision@1"]
