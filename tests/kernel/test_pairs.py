"""Pairs: rows found by user and code, and pairs that repeat."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.kernel.pairs import find_pairs


@pytest.mark.parametrize("at_once", [2, 8, 1 << 17])
@given(data=st.data())
def test_find_pairs(at_once, data):
    """Searching finds what a dictionary finds and whether rows repeat, however it is cut."""
    pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=30)
    rows = sorted(data.draw(pairs), key=lambda pair: pair[0])
    asked = data.draw(pairs.map(lambda found: list(dict.fromkeys(found))))
    user, code = np.array(rows, np.int64).reshape(-1, 2).T
    offsets = np.searchsorted(user, np.arange(6))
    wanted = np.array(asked, np.int64).reshape(-1, 2).T
    found = find_pairs(code, offsets, 10, *wanted, at_once=at_once)

    assert (len(set(rows)) < len(rows)) == found.has_repeats
    expected = [pair if pair in rows else None for pair in asked]
    assert expected == [None if row < 0 else rows[row] for row in found.rows.tolist()]
