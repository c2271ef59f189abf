"""Positions of relevant rows: the order that sums are made in, and their probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.kernel.counting import Counts, count
from recframe.kernel.rankings import TIE_RULES, Rankings
from recframe.metrics.falling import Terms
from recframe.metrics.first_positions import first_positions, first_ties, probabilities_of_first
from recframe.metrics.positions import all_positions

USERS = st.lists(
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=12), min_size=1, max_size=6
)


def rankings(users):
    """Return rankings of lists of (score, relevant)."""
    rows = [row for rows in users for row in rows]
    return Rankings(
        np.array([float(score) for score, _ in rows]),
        np.array([relevant for _, relevant in rows], bool),
        np.cumsum([0, *map(len, users)]),
        np.zeros(len(users), np.int64),
    )


def tie_counts(tied, n_relevant):
    """Return the counts of one user whose rows are all tied."""
    above = np.zeros(n_relevant, np.int64)
    n_found = np.array([n_relevant])
    return Counts(np.array([tied]), n_found, above, above, above + tied, n_found)


@given(USERS, st.sampled_from(list(TIE_RULES)))
def test_rows_are_counted_in_ranked_order(users, ties):
    """The rows of a user are counted together, from the first in rank to the last."""
    counts = count(rankings(users), TIE_RULES[ties])
    ends = np.flatnonzero(np.diff(counts.user, append=-1))

    assert len(ends) == len(set(counts.user.tolist()))
    same_user = counts.user[1:] == counts.user[:-1]
    assert (counts.above[1:] >= counts.above[:-1])[same_user].all()


@given(USERS, st.sampled_from([1, 3]))
def test_probabilities_add_up(users, last):
    """Down to the last position they are the relevant rows, of which the first is one."""
    given_rankings = rankings(users)
    counts = count(given_rankings, TIE_RULES["expected"])
    n_ranked = [sum(relevant for _, relevant in rows) for rows in users]
    n_first = [float(n > 0) for n in n_ranked]

    for find, expected in ((all_positions, n_ranked), (first_of, n_first)):
        found, limited = find(counts, None), find(counts, last)
        assert expected == pytest.approx(add_up(found).tolist())
        np.testing.assert_array_equal(add_up(found.up_to(last)), add_up(limited))
        assert (limited.position <= last).all()


def first_of(counts, last):
    """Return the positions of each user's first relevant row."""
    return first_positions(counts, last, *first_ties(counts))


def add_up(positions):
    """Return the sums of probabilities by user."""
    return Terms(positions, np.ones_like).sum()


@pytest.mark.parametrize("cells", [1, 40, 1 << 16])
def test_blocks_change_no_probability(cells, monkeypatch):
    """Probabilities of the first relevant row are the same in blocks of any size."""
    rng = np.random.default_rng(4)
    tied = rng.integers(1, 30, 50)
    n_relevant = rng.integers(1, tied + 1)
    depth = rng.integers(1, tied - n_relevant + 2)
    expected = probabilities_of_first(tied, n_relevant, depth)
    monkeypatch.setattr("recframe.metrics.first_positions.CELLS_PER_BLOCK", cells)

    np.testing.assert_array_equal(expected, probabilities_of_first(tied, n_relevant, depth))


@pytest.mark.parametrize(("tied", "n_relevant"), [(10**6, 1), (10**6, 5), (10**6, 900_000)])
def test_probabilities_of_a_huge_tie(tied, n_relevant):
    """The probabilities of a tie of a million rows add up to one, and none is negative."""
    found = first_of(tie_counts(tied, n_relevant), None)

    assert 1 == pytest.approx(add_up(found)[0], rel=1e-11)
    assert found.shapes.chance.min() >= 0
    assert tied - n_relevant + 1 == len(found.position)


def test_ties_that_are_alike_are_spread_once():
    """Two users with the same ties have the positions of one; those of one row come first."""
    rows = [(3, False), (3, True), (2, True), (1, True), (1, False), (1, False)]
    counts = count(rankings([rows, rows]), TIE_RULES["expected"])
    found = all_positions(counts, None)

    assert [3, 3, 1, 2, 4, 5, 6] == found.position.tolist()
    assert [3.0, 3.0] == pytest.approx(add_up(found).tolist())
    assert [1.5 + 3 + 5, 1.5 + 3 + 5] == pytest.approx(Terms(found, np.positive).sum().tolist())
