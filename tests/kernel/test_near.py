"""Integers near each other."""

import numpy as np
import pytest

from recframe.kernel import near


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "uint64"])
@pytest.mark.parametrize("batch", [3, 1 << 17])
def test_near_integers_are_numbered_in_their_order(dtype, batch, monkeypatch):
    """Their numbers are positions among the distinct ones, of any width and sign."""
    monkeypatch.setattr(near, "BATCH", batch)
    low = 100 if dtype.startswith("u") else -100
    numbers = (np.random.default_rng(1).permutation(200) % 90 + low).astype(dtype)
    expected, positions = np.unique(numbers, return_inverse=True)
    found = near.find_near(numbers)

    np.testing.assert_array_equal(expected, found.distinct())
    np.testing.assert_array_equal(positions, found.number(numbers))


@pytest.mark.parametrize(
    "numbers",
    [[], [0.5], [0, 5], [-(2**63), 2**63 - 1], np.array([0, 2**64 - 1], np.uint64), [2**62] * 2],
)
def test_integers_far_apart(numbers):
    """No table is made of integers further apart than they are many, or of none."""
    assert near.find_near(np.asarray(numbers)) is None


def test_integers_that_are_apart():
    """Of integers that are some bits apart, aligned or not, each has a number of its own."""
    numbers = np.array([1_000_000, 1_000_016, 1_000_037, 1_000_053, 1_000_080, 1_000_016])

    assert near.find_near(numbers) is None
    assert near.find_near(numbers, 4).number(numbers).tolist() == [0, 1, 2, 3, 4, 1]
