"""Rows sorted, blocks of users of like size at a time."""

import numpy as np

from recframe.kernel.rankings import TIE_RULES, Rankings
from recframe.kernel.sorting import sorted_blocks


def test_keys_go_down_to_the_depth(monkeypatch):
    """Rows beyond the depth are left out, unless a tie goes on there."""
    monkeypatch.setattr("recframe.kernel.sorting.MOST_COLUMNS", 16)
    rng = np.random.default_rng(6)
    relevant = rng.random(500) < 0.02
    untied, tied = (
        next(
            sorted_blocks(
                Rankings(scores, relevant, np.array([0, 500]), np.zeros(1, np.int64)),
                TIE_RULES["expected"],
                np.array([7]),
            )
        )
        for scores in (rng.permutation(500), np.arange(500) // 3)
    )

    assert untied.keys.shape == (1, 7)
    assert untied.is_tied_with_next is None
    assert tied.keys.shape == (1, 8)
    assert tied.is_tied_with_next.tolist() == [[True, False, *[True, True, False] * 2]]
