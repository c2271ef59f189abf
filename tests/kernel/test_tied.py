"""Tied rows: those that share their score with a relevant row of their user."""

import numpy as np
import pytest

from recframe.kernel import tied
from recframe.kernel.rankings import Rankings
from recframe.kernel.tied import find_relevant_ties, place_by_text

SCORES = {
    "float32 of whole numbers": lambda rng, n: rng.integers(0, 5, n).astype(np.float32),
    "float32 of either sign": lambda rng, n: (rng.integers(-3, 3, n) / 2).astype(np.float32),
    "decimals": lambda rng, n: rng.integers(0, 9, n) / 100,
    "float64 of long mantissas": lambda rng, n: rng.random(6)[rng.integers(0, 6, n)],
    "infinities": lambda rng, n: rng.choice([-np.inf, -0.0, 0.0, np.inf], n),
    "integers": lambda rng, n: rng.integers(0, 7, n),
    "one score": lambda rng, n: np.full(n, 3, np.uint8),
    "large integers": lambda rng, n: (1 << 62) - rng.integers(0, 7, n),
    "next to no tie": lambda rng, n: rng.random(n).astype(np.float32),
}


@pytest.mark.parametrize("looks_first", [False, True])
@pytest.mark.parametrize("kind", SCORES)
def test_tied_with_a_relevant_row(monkeypatch, kind, looks_first):
    """Whatever the scores are, and whether ties are expected to be many."""
    if looks_first:
        monkeypatch.setattr(tied, "_find_numbered", lambda rankings: None)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        offsets = np.append(0, rng.integers(0, 9, 12).cumsum())
        n_rows = offsets[-1]
        scores, relevant = SCORES[kind](rng, n_rows), rng.random(n_rows) < 0.3
        user = np.repeat(np.arange(12), np.diff(offsets))
        is_like = (user[:, None] == user) & (scores[:, None] == scores)
        is_found = (is_like & relevant).any(axis=1) & (is_like.sum(axis=1) > 1)

        rankings = Rankings(scores, relevant, offsets, np.zeros(12, int))
        assert {tuple(np.flatnonzero(like)) for like in is_like[is_found]} == list_ties(rankings)


def list_ties(rankings):
    """Return the ties that are found, as a set of rows in order."""
    rows, sizes = find_relevant_ties(rankings)
    found = [tuple(tie.tolist()) for tie in np.split(rows, sizes.cumsum())[:-1]]
    assert len(found) == len(set(found))
    return set(found)


@pytest.mark.parametrize("n_rows", [3, 4, 7, 8])
def test_rows_beside_shorter_ones(n_rows):
    """What fills up the rows of users who have fewer is tied with none of theirs."""
    for n_scores in range(1, 20):
        for step in (1, 1 << 20, 1 << 25):
            scores = np.append(np.arange(n_rows) % n_scores, 0) * step
            relevant = np.ones(n_rows + 1, bool)
            rankings = Rankings(scores, relevant, np.array([0, n_rows, n_rows + 1]), np.zeros(2))

            ties = [tuple(range(first, n_rows, n_scores)) for first in range(n_scores)]
            assert {tie for tie in ties if len(tie) > 1} == list_ties(rankings)


@pytest.mark.parametrize("kind", SCORES)
def test_places_of_relevant_rows(kind):
    """Above a row are those of higher score, and those of the same score and higher text."""
    n_placed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        offsets = np.append(0, rng.integers(0, 9, 12).cumsum())
        n_rows = offsets[-1]
        scores, relevant = SCORES[kind](rng, n_rows), rng.random(n_rows) < 0.3
        text, user = rng.permutation(n_rows), np.repeat(np.arange(12), np.diff(offsets))

        def find_higher(rows, others, sizes, text=text):
            return text[others] > np.repeat(text[rows], sizes)

        places = place_by_text(Rankings(scores, relevant, offsets, np.zeros(12, int)), find_higher)
        if places is None:
            continue
        n_placed += 1
        is_above = (scores > scores[:, None]) | (
            (scores == scores[:, None]) & (text > text[:, None])
        )
        above = (is_above & (user == user[:, None])).sum(axis=1)
        assert np.flatnonzero(relevant).tolist() == sorted(places.row)
        assert user[places.row].tolist() == places.user.tolist()
        assert above[places.row].tolist() == places.above.tolist()
        same = places.user[1:] == places.user[:-1]
        assert (np.diff(places.above)[same] > 0).all()
        assert same.sum() == relevant.sum() - len(np.unique(user[relevant]))
    has_room = kind not in ("float64 of long mantissas", "next to no tie")
    assert (n_placed == 20) == has_room


def test_places_that_cannot_be_told():
    """Where a text repeats in a tie, or ties are large, rows are put in order otherwise."""
    rankings = Rankings(np.ones(9), np.ones(9, bool), np.array([0, 9]), np.zeros(1, int))

    assert place_by_text(rankings, None) is None
    few = rankings._replace(relevant=np.arange(9) < 2)
    assert place_by_text(few, lambda *_: None) is None
