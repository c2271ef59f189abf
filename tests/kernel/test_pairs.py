"""Pairs: rows found by user and code, and pairs that repeat."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.kernel.pairs import find_pairs


@pytest.mark.parametrize("at_once", [2, 8, 1 << 17])
@given(data=st.data())
def test_find_pairs(at_once, data):
    """Searching finds what a dictionary finds and counts what repeats, however it is cut."""
    pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=30)
    rows = sorted(data.draw(pairs), key=lambda pair: pair[0])
    asked = data.draw(pairs.map(lambda found: list(dict.fromkeys(found))))
    user, code = np.array(rows, np.int64).reshape(-1, 2).T
    offsets = np.searchsorted(user, np.arange(6))
    wanted = np.array(asked, np.int64).reshape(-1, 2).T
    found = find_pairs(code, offsets, 10, *wanted, at_once=at_once)

    assert len(rows) - len(set(rows)) == found.n_repeated
    if found.n_repeated:
        assert rows[found.example] in rows[: found.example]
    else:
        assert [rows.index(pair) if pair in rows else -1 for pair in asked] == found.rows.tolist()
