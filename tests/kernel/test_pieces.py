"""Pieces: values in several arrays are those of one, however they are read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.kernel import pieces
from recframe.kernel.counting import Depth, count, rank_rows
from recframe.kernel.first_rows import find_first_rows
from recframe.kernel.pieces import Pieces, arrays_of, in_turn, whole
from recframe.kernel.rankings import TIE_RULES, Rankings
from recframe.kernel.sort_keys import short_keys

SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=6)


def cut(values, sizes):
    """Return values as pieces of these sizes, the last one what is left."""
    return Pieces(np.split(values, np.cumsum(sizes)[:-1]))


@pytest.mark.parametrize("sizes", [[3], [0, 2, 0], [1 << 21, 5, 1 << 20]])
def test_join(sizes):
    """Arrays come one after the other, whatever threads copy."""
    arrays = [np.arange(size, dtype=np.int32) for size in sizes]

    joined = pieces.join(arrays)
    assert joined.dtype == np.int32
    np.testing.assert_array_equal(np.concatenate(arrays), joined)


@given(SIZES, st.integers(0, 60), st.integers(0, 60))
def test_slices(sizes, start, stop):
    """A slice has the values of the slice of all, and shares their memory."""
    values = np.arange(100, 100 + sum(sizes), dtype=np.uint8)
    part = cut(values, sizes)[start:stop]

    assert values[start:stop].tolist() == whole(part).tolist()
    assert len(values[start:stop]) == len(part)
    assert part.dtype == values.dtype
    assert all(np.shares_memory(values, array) for array in arrays_of(part) if len(array))


@pytest.mark.parametrize("many", [0, pieces.MANY])
@given(SIZES, st.lists(st.integers(0, 70), max_size=5))
def test_take(many, sizes, rows):
    """Values are taken as of one array, few of many or many, in any shape."""
    values = np.arange(100, 100 + sum(sizes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "MANY", many)
        of_pieces, rows = cut(values, sizes), np.array([rows, rows], np.int64)
        expected = values.take(rows, mode="clip")
        np.testing.assert_array_equal(expected, of_pieces.take(rows, mode="clip"))
        inside = rows % len(values)
        np.testing.assert_array_equal(values.take(inside), of_pieces.take(inside))


@given(SIZES, st.integers(1, 12))
def test_in_turn(sizes, most):
    """All values come in order, at most so many at a time."""
    values = np.arange(sum(sizes))
    for given_as in (values, cut(values, sizes)):
        parts = list(in_turn(given_as, most))
        assert values.tolist() == np.concatenate(parts).tolist()
        assert max(map(len, parts)) <= most


SCORES = {
    "float64": lambda rng, n: rng.random(n),
    "decimals": lambda rng, n: rng.integers(-9, 9, n) / 10,
    "in the last bits": lambda rng, n: 1 + rng.integers(0, 4, n) * 2.0**-52 + (rng.random(n) > 0.9),
    "float32": lambda rng, n: rng.standard_normal(n).astype(np.float32),
    "float16": lambda rng, n: rng.random(n).astype(np.float16),
    "int64": lambda rng, n: rng.integers(-5, 5, n),
    "uint64": lambda rng, n: rng.integers(0, 2**64, n, dtype=np.uint64),
}


@pytest.mark.parametrize("is_single", [False, True])
@pytest.mark.parametrize("rule", TIE_RULES.values(), ids=TIE_RULES)
@pytest.mark.parametrize("kind", SCORES)
def test_counts_of_pieces(kind, rule, is_single):
    """Rankings by scores in pieces are counted as by the same in one array."""
    rng = np.random.default_rng(8)
    offsets = np.append(0, np.cumsum(rng.integers(0, 40, 60)))
    n_rows = int(offsets[-1])
    relevant = rng.random(n_rows) < 0.3
    if is_single:
        relevant = np.isin(np.arange(n_rows), offsets)
    scores = SCORES[kind](rng, n_rows)
    none = np.zeros(len(offsets) - 1, np.int64)
    rankings = Rankings(scores, relevant, offsets, none)
    in_pieces = rankings._replace(scores=Pieces(np.array_split(scores, 7)))
    for users in (slice(0, 60), slice(7, 31)):
        one, several = rankings.part(users), in_pieces.part(users)
        for depth in (None, Depth(3, at_n_relevant=True)):
            for own, other in zip(
                count(one, rule, depth), count(several, rule, depth), strict=True
            ):
                np.testing.assert_array_equal(own, other)
        np.testing.assert_array_equal(rank_rows(one, rule), rank_rows(several, rule))
        pairs = zip(find_first_rows(one, rule, 3), find_first_rows(several, rule, 3), strict=True)
        for own, other in pairs:
            np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize("kind", ["float64", "decimals", "in the last bits", "float32", "int64"])
def test_short_keys_of_pieces(kind):
    """Short keys are those of the same scores in one array."""
    scores = SCORES[kind](np.random.default_rng(2), 500)
    marks = np.arange(500) % 3 == 0
    own, other = (
        short_keys(scores, marks, 5),
        short_keys(Pieces(np.split(scores, [9, 200])), marks, 5),
    )

    np.testing.assert_array_equal(own.keys, other.keys)
    assert own[1:] == other[1:]
