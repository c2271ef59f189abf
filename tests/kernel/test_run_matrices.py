"""Matrices of runs: users' numbers as rows that are sorted."""

import numpy as np
import pytest

from recframe.kernel import run_matrices
from recframe.kernel.run_matrices import count_like, pick_rows, sort_rows


@pytest.mark.parametrize("width", [1, 100, 512, 513, 1_500, 2_049, 8_192])
def test_rows_are_picked_and_sorted(width):
    """Rows of every width are in order, whether or not they are cut in pieces."""
    numbers = np.random.default_rng(width).integers(0, 2**32, 30_000, np.uint32)
    before = numbers.copy()
    starts = np.array([7, 0, 9_000, 100])
    cells = pick_rows(numbers, starts, width)
    picked = cells.copy()
    sort_rows(cells)

    assert width <= cells.shape[1] < width + 128
    np.testing.assert_array_equal(before, numbers)
    for start, row in zip(starts, picked, strict=True):
        np.testing.assert_array_equal(numbers[start : start + len(row)], row)
    np.testing.assert_array_equal(np.sort(picked, axis=1), cells)


def test_every_merge_of_zeros_and_ones(monkeypatch):
    """What orders all rows of zeros and ones orders all rows: here of eight pieces of one."""
    monkeypatch.setattr(run_matrices, "PIECE", 1)
    cells = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(np.uint32)
    expected = np.sort(cells, axis=1)
    sort_rows(cells)

    np.testing.assert_array_equal(expected, cells)


@pytest.mark.parametrize(("n_pads", "expected"), [(0, 2), (1, 3), (4, 4), (99, 5)])
def test_users_of_like_size(n_pads, expected, monkeypatch):
    """A matrix has no more users than it may have pads and cells, but one at least."""
    monkeypatch.setattr(run_matrices, "PADS", n_pads)
    n_before = np.cumsum([10, 5, 5, 4, 2, 1])

    assert expected == count_like(n_before, 5)
    monkeypatch.setattr(run_matrices, "CELLS", 3)
    assert 1 == count_like(n_before, 5)
