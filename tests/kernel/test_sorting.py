"""Rows sorted, blocks of users of like size at a time."""

from itertools import pairwise

import numpy as np
import pytest

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


@pytest.mark.parametrize("name", ["expected", "best"])
def test_pads_are_tied_with_none(name):
    """Beside a longer user, what follows a shorter one's rows is no tie."""
    scores = np.array([1.0, 1, 2, 3, 4, 5, 7, 7])
    rankings = Rankings(scores, scores > 1, np.array([0, 6, 8]), np.zeros(2, np.int64))
    (block,) = sorted_blocks(rankings, TIE_RULES[name])

    assert [0, 1] == block.users.tolist()
    assert [[4], [0]] == [np.flatnonzero(row).tolist() for row in block.is_tied_with_next]


@pytest.mark.parametrize("name", TIE_RULES)
def test_ratings_are_sorted_once(name):
    """Short keys decide the order of ratings, and row order is in them where there is room."""
    rng = np.random.default_rng(2)
    scores = rng.integers(1, 6, 900)
    rankings = Rankings(scores, scores > 4, np.arange(0, 901, 30), np.zeros(30, np.int64))
    blocks = list(sorted_blocks(rankings, TIE_RULES[name]))

    assert [np.int32] == [block.keys.dtype for block in blocks]
    assert (blocks[0].is_tied_with_next is None) == bool(TIE_RULES[name].row_order)


@pytest.mark.parametrize("name", ["first", "last"])
@pytest.mark.parametrize(
    "scores",
    [
        np.arange(40, dtype=np.float32),
        np.arange(-20, 20, dtype=np.float32) / 4,
        np.arange(40) * 2.0**40,
        np.array([7.0], np.float32),
        np.array([0.1, 0.2, 3], np.float32),
        np.array([1, 1 + 2.0**-52, 3, 7]),  # two share a short key, which ends in zeros
    ],
)
def test_short_keys_with_room_for_the_order_of_rows(name, scores):
    """Rows of one score come in their order or its reverse, whatever bits the scores leave."""
    rng = np.random.default_rng(3)
    offsets = np.array([0, 100, 103, 190, 250])
    scores = rng.choice(scores, 250)
    relevant = rng.random(250) < 0.2
    rankings = Rankings(scores, relevant, offsets, np.zeros(4, np.int64))
    found = {}
    for users, keys, _ in sorted_blocks(rankings, TIE_RULES[name]):
        found |= dict(zip(users.tolist(), (keys & 1).astype(bool), strict=True))

    for user, (start, stop) in enumerate(pairwise(offsets.tolist())):
        rows = np.arange(start, stop)[:: -1 if name == "last" else 1]
        in_order = rows[np.argsort(-scores[rows], kind="stable")]
        assert relevant[in_order].tolist() == found[user][: stop - start].tolist()
