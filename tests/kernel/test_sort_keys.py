"""Scores as integers in ranked order."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from recframe.kernel.sort_keys import break_ties, key_range, rankable, short_keys, to_keys

INTEGERS = st.sampled_from(["int8", "uint8", "int16", "int32", "int64", "uint64"])
NUMBERS = st.one_of(
    hnp.arrays(st.sampled_from(["float32", "float64"]), st.integers(0, 40)).filter(
        lambda values: not np.isnan(values).any()
    ),
    hnp.arrays(INTEGERS, st.integers(0, 40)),
)


@given(NUMBERS)
@example(np.array([np.inf, -np.inf]))
@example(np.array([-1.0, 1.0, 1 + 2.0**-52, 2.0, 2 - 2.0**-52]))
@example(np.array([1.0, -1.0, -1 - 2.0**-23, -1 - 2.0**-22], np.float32))
def test_keys_order_as_scores_do(scores):
    """Keys fall exactly as scores rise, are equal where scores are, and leave two bits free."""
    sortable = rankable(scores)
    keys = to_keys(sortable.copy())
    _, ranks = np.unique(scores + scores.dtype.type(0), return_inverse=True)
    _, key_ranks = np.unique(-keys.astype(np.int64), return_inverse=True)
    bits = 8 * keys.itemsize

    np.testing.assert_array_equal(ranks, key_ranks)
    assert (np.abs(keys.astype(float)) <= 2.0 ** (bits - 2)).all()


@given(NUMBERS)
@example(np.array([1.0, np.finfo(float).max]))
@example(np.array([1 / 3, 0.0, -0.0]))
@example(np.array([1 / 3, -0.0, 0.0]))
@example(np.array([-1.0, 2, 2 + 2.0**-22, 2 + 2.0**-21], np.float32))
@example(np.array([1.0, -2, -2 - 2.0**-22, -2 - 2.0**-21], np.float32))
@example(np.array([0, (1 << 30) - 1]))
@example(np.array([0, (1 << 31) - 2]))
def test_short_keys_never_rise_as_scores_do(scores):
    """As scores rise keys fall or stay, which exact ones never do; the lowest bit is the mark."""
    sortable = rankable(scores)
    marks = np.arange(len(scores)) % 3 == 0
    keys, is_exact, n_bits = short_keys(sortable, marks, room=3)
    assert marks.tolist() == (keys[: len(scores)] & 1).tolist()
    keys = keys[: len(scores)] & -2
    by_score = np.argsort(-sortable.astype(np.longdouble), kind="stable")
    steps = np.diff(keys[by_score].astype(np.int64))
    differs = sortable[by_score][1:] != sortable[by_score][:-1]

    assert (keys < np.iinfo(np.int32).max - 2).all()
    assert (steps >= 0).all()
    assert (steps[~differs] == 0).all()
    assert not is_exact or (steps[differs] > 0).all()
    assert n_bits == 32 or (keys >> n_bits == 0).all()


@pytest.mark.parametrize("last", [0.0, 0.5, 1 / 3, 1e300, np.inf])
def test_slices_change_nothing(last, monkeypatch):
    """The scores are read a slice at a time, and the keys are those of all of them in one."""
    scores = np.append(np.arange(-6.0, 3), last)
    expected = short_keys(scores, scores > 0, room=0)
    all_keys = to_keys(scores.copy())
    monkeypatch.setattr("recframe.kernel.sort_keys.SLICE", 3)
    found = short_keys(scores, scores > 0, room=0)

    assert expected.keys.tolist() == found.keys.tolist()
    assert expected[1:] == found[1:]
    assert all_keys.tolist() == to_keys(scores.copy()).tolist()


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 0, (0, 0, 2)),
        (5, 50, (0, 50, 7)),
        (-7, -7, (0, -7, 2)),
        (0, 2**30 - 2, (0, 2**30 - 2, 31)),
        (0, 2**30 - 1, (0, 2**30 - 1 - 2**30, 32)),
        (0, 2**31 - 2, (0, 2**31 - 2 - 2**30, 32)),
        (0, 2**31 - 1, (1, 2**30 - 1 - 2**30, 32)),
        (1, 2**31 - 1, (0, 2**31 - 1 - 2**30, 32)),
        (-(2**61), 2**61, (32, 2**29 - 2**30, 32)),
        (-(2**31), 2**31 - 1, (2, 2**29 - 1 - 2**30, 32)),
    ],
)
def test_key_range(low, high, expected):
    """Integers from low to high drop what is beyond 31 bits, and their keys are in the range."""
    n_dropped, top, n_bits = key_range(low, high)
    first, last = (top - (high >> n_dropped)) * 2, (top - (low >> n_dropped)) * 2 + 1

    assert expected == (n_dropped, top, n_bits)
    assert -(2**31) <= first < last < 2**31 - 2
    assert n_bits == 32 or (first >= 0 and last.bit_length() <= n_bits)


def test_numbers_that_keys_can_be_made_of_are_kept():
    """Only integers whose keys would need more than 62 bits are ranked first, and other types."""
    for values in ([-(2**61), 2**61], [0.5, -np.inf], np.arange(3, dtype=np.uint64)):
        scores = np.array(values)
        assert rankable(scores) is scores
    for values in ([-(2**61) - 1, 5, 0], [0, 2**61 + 1, 7], np.array([3, 2**64 - 1], np.uint64)):
        scores = np.array(values)
        assert np.argsort(scores).argsort().tolist() == rankable(scores).tolist()
    for values in ([True, False], np.array([0.5, -1], np.longdouble)):
        assert [1, 0] == rankable(np.array(values)).tolist()
        assert rankable(np.array(values)).dtype == np.int64


def test_short_keys_of_what_a_model_gives_are_exact_or_nearly():
    """Ratings and 32-bit floats lose nothing, 64-bit floats what lies beyond some 25 bits."""
    rng = np.random.default_rng(3)
    ratings = rng.integers(1, 11, 1_000) / 2
    uniform = rng.random(1_000)

    for scores in (ratings, ratings.astype(np.int8), uniform.astype(np.float32), 3 - ratings):
        assert short_keys(scores, uniform < 0, room=0).is_exact
    keys, is_exact, _ = short_keys(uniform, uniform < 0, room=0)
    assert not is_exact
    assert len(np.unique(keys)) == len(uniform)


@pytest.mark.parametrize("n_decimals", [0, 1, 2, 3, 6])
def test_rounded_scores_are_exact(n_decimals):
    """Scores of few decimals, rounded or parsed, are told apart as the whole numbers they are."""
    rounded = np.random.default_rng(5).normal(scale=20, size=500).round(n_decimals)
    parsed = np.array([float(f"{score:.{n_decimals}f}") for score in rounded])
    for scores in (rounded, parsed):
        keys, is_exact, _ = short_keys(scores, scores > 99, room=0)
        expected = np.unique(-scores, return_inverse=True)[1]

        assert is_exact
        assert expected.tolist() == np.unique(keys, return_inverse=True)[1].tolist()


def test_scores_that_are_decimals_but_for_one():
    """One score with more decimals than the others is not rounded to theirs."""
    scores = np.arange(200) / 100
    assert short_keys(scores, scores > 99, room=0).is_exact
    scores[100] += 2.0**-50  # not among those that are tried first
    assert not short_keys(scores, scores > 99, room=0).is_exact


def test_scales_that_would_lose_a_bit_are_not_used():
    """Tiny scores beside a huge negative one are told apart, though no one scale holds them."""
    assert [3, 2, 1, 0] == to_keys(np.array([-1e308, 0.0, 5e-324, 1e-323])).tolist()


@given(
    hnp.arrays("int64", st.tuples(st.integers(1, 4), st.integers(1, 9)), elements=st.integers(0, 3))
    | hnp.arrays("int64", (2, 9), elements=st.sampled_from([-(2**61), 2**61, 1, 3]))
)
def test_break_ties(keys):
    """Tied cells are told apart by column or its reverse, and nothing else changes order."""
    width = keys.shape[1]
    for row_order in (1, -1):
        column = row_order * np.arange(width)
        broken = break_ties(keys, row_order)
        for row, told_apart in zip(keys, broken, strict=True):
            expected = np.lexsort((column, row))

            assert len(set(told_apart.tolist())) == width
            assert expected.tolist() == np.argsort(told_apart).tolist()
