"""Positions of relevant rows: the order that sums are made in, and chances that add up to one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.kernel.counting import Counts, count
from recframe.kernel.rankings import Rankings
from recframe.metrics import positions
from recframe.metrics.positions import all_positions, first_positions

USERS = st.lists(
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=12), min_size=1, max_size=6
)
TIES = ("expected", "first", "last", "best", "worst")


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
    return Counts(np.array([tied]), np.array([n_relevant]), above, above, above + tied)


@given(USERS, st.sampled_from(TIES))
def test_rows_are_counted_in_ranked_order(users, ties):
    """The rows of a user are counted together, from the first in rank to the last."""
    counts = count(rankings(users), ties)
    ends = np.flatnonzero(np.diff(counts.user, append=-1))

    assert len(ends) == len(set(counts.user.tolist()))
    same_user = counts.user[1:] == counts.user[:-1]
    assert (counts.above[1:] >= counts.above[:-1])[same_user].all()


@given(USERS, st.sampled_from([None, 1, 3]))
def test_chances_add_up(users, last):
    """Down to the last position the chances are the relevant rows, and the first is one of them."""
    given_rankings = rankings(users)
    counts = count(given_rankings, "expected")
    all_rows = all_positions(counts, None)
    n_ranked = [sum(relevant for _, relevant in rows) for rows in users]

    assert n_ranked == pytest.approx(all_rows.sum(all_rows.chance, None).tolist())
    first = first_positions(counts, None)
    has_one = [float(n > 0) for n in n_ranked]
    assert has_one == pytest.approx(first.sum(first.chance, None).tolist())
    for found, limited in (
        (all_rows, all_positions(counts, last)),
        (first, first_positions(counts, last)),
    ):
        expected = found.sum(found.chance, last)
        np.testing.assert_array_equal(expected, limited.sum(limited.chance, last))
        assert last is None or (limited.position <= last).all()


@pytest.mark.parametrize("cells", [1, 40, 1 << 16])
def test_blocks_change_no_chance(cells, monkeypatch):
    """Chances of the first relevant row are the same in blocks of any size."""
    rng = np.random.default_rng(4)
    users = [[(0, flag) for flag in rng.random(rng.integers(1, 30)) < 0.2] for _ in range(50)]
    counts = count(rankings(users), "expected")
    expected = first_positions(counts, None)
    monkeypatch.setattr(positions, "CELLS_PER_BLOCK", cells)

    for one, other in zip(expected[:-1], first_positions(counts, None)[:-1], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("tied", "n_relevant"), [(10**6, 1), (10**6, 5), (10**6, 900_000)])
def test_chances_of_a_huge_tie(tied, n_relevant):
    """The chances of a tie of a million rows add up to one, and none is negative."""
    found = first_positions(tie_counts(tied, n_relevant), None)

    assert 1 == pytest.approx(found.chance.sum(), rel=1e-11)
    assert found.chance.min() >= 0
    assert tied - n_relevant + 1 == len(found.position)
