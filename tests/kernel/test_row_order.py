"""The order of rows: found for few users, sought for all."""

import numpy as np
import pytest

from recframe.kernel import row_order
from recframe.kernel.radix import group_beside


@pytest.mark.parametrize("few", [0, 2, 99])
def test_rows_at_places(few, monkeypatch):
    """The rows of few users are those that sorting all of them gives."""
    monkeypatch.setattr(row_order, "FEW", few)
    rng = np.random.default_rng(8)
    numbers = rng.integers(-5, 5, 300) << 40
    begins, rows, *_ = group_beside(numbers, [])
    offsets = np.append(np.flatnonzero(begins), len(numbers))
    order = row_order.LazyOrder(numbers, lambda user: numbers[rows[offsets[user]]], offsets)
    known = row_order.KnownOrder(rows)

    for places in (np.arange(0), offsets[:-1], offsets[1:] - 1, rng.integers(0, 300, 90)):
        expected = known.take(places)
        np.testing.assert_array_equal(expected, order.take(places))
        one_user = offsets[3] + np.arange(5)
        np.testing.assert_array_equal(known.take(one_user), order.take(one_user))
    assert ("rows" in vars(order)) == (few < 10)
    np.testing.assert_array_equal(known.rows, order.rows)
