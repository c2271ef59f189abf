"""Pairs: rows found by user and code, and pairs that repeat."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.kernel import pairs
from recframe.kernel.pairs import find_members, find_pairs


@pytest.mark.parametrize("at_once", [2, 8, 1 << 17])
@given(data=st.data())
def test_find_pairs(at_once, data):
    """Searching finds what a dictionary finds, and whether in several rows, however it is cut."""
    pairs_of_rows = st.tuples(st.integers(0, 4), st.integers(0, 9))
    rows = sorted(data.draw(st.lists(pairs_of_rows, max_size=30)), key=lambda pair: pair[0])
    unknown = st.sampled_from([(-1, 0), (-1, 9), (0, -1), (4, -1), (-1, -1)])
    asked = data.draw(st.lists(pairs_of_rows | unknown, max_size=30, unique=True))
    user, code = np.array(rows, np.int64).reshape(-1, 2).T
    offsets = np.searchsorted(user, np.arange(6))
    wanted = np.array(asked, np.int64).reshape(-1, 2).T
    found = find_pairs(code, offsets, 10, *wanted, at_once=at_once)

    assert found.has_repeats == any(rows.count(pair) > 1 for pair in asked)
    twice = find_pairs(code, offsets, 10, *np.hstack([wanted, wanted]), at_once=at_once)
    assert [0, sum(min(pair) >= 0 for pair in asked)] == [len(found.repeated), len(twice.repeated)]
    expected = [pair if pair in rows else None for pair in asked]
    assert expected == [None if row < 0 else rows[row] for row in found.rows.tolist()]


@pytest.mark.parametrize("at_once", [2, 8, 1 << 17])
@given(data=st.data())
def test_find_members(at_once, data):
    """Every row has the pair that it holds, if asked for, however often either is there."""
    pairs_of_rows = st.tuples(st.integers(0, 4), st.integers(0, 9))
    rows = sorted(data.draw(st.lists(pairs_of_rows, max_size=30)), key=lambda pair: pair[0])
    unknown = st.sampled_from([(-1, 0), (-1, 9), (0, -1), (4, -1), (-1, -1)])
    asked = data.draw(st.lists(pairs_of_rows | unknown, max_size=30))
    user, code = np.array(rows, np.int64).reshape(-1, 2).T
    offsets = np.searchsorted(user, np.arange(6))
    wanted = np.array(asked, np.int64).reshape(-1, 2).T
    found = find_members(code, offsets, 10, *wanted, at_once=at_once)

    expected = [pair if pair in asked else None for pair in rows]
    assert expected == [None if at < 0 else asked[at] for at in found.tolist()]
    assert len(set(found.tolist()) - {-1}) == len({*rows} & {*asked})


def test_pairs_for_one_place():
    """Pairs are told apart that are for one place of the table, and so are their rows."""
    n_bits = (pairs.PLACES * 3).bit_length()
    codes = np.arange(1 << 16)
    places = pairs._places(codes, np.array(pairs.ODD), n_bits)
    same = codes[places == places[5]][:4]
    found = find_pairs(same, np.array([0, 4]), 1 << 16, np.zeros(3, int), same[[2, 0, 3]])

    assert [2, 0, 3] == found.rows.tolist()
    assert not found.has_repeats
    assert [] == found.repeated.tolist()
