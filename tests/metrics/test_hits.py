"""Hits: expected relevant rows at many cut-offs for all users, and at one for each."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recframe.kernel.counting import count
from recframe.kernel.rankings import TIE_RULES, Rankings
from recframe.metrics.hits import expected_hits, expected_hits_at

USERS = st.lists(
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=12), min_size=1, max_size=6
)
CUT_OFFS = st.lists(st.integers(1, 14), min_size=1, max_size=5, unique=True).map(sorted)


def counts_of(users):
    """Return the counts of lists of (score, relevant)."""
    rows = [row for rows in users for row in rows]
    return count(
        Rankings(
            np.array([float(score) for score, _ in rows]),
            np.array([relevant for _, relevant in rows], bool),
            np.cumsum([0, *map(len, users)]),
            np.zeros(len(users), np.int64),
        ),
        TIE_RULES["expected"],
    )


def hits_by_hand(rows, cut):
    """Return the expected relevant rows among the first, from the rows of one user."""
    total = Fraction(0)
    for score, relevant in rows:
        above = sum(other > score for other, _ in rows)
        tied = sum(other == score for other, _ in rows)
        total += relevant * Fraction(min(max(cut - above, 0), tied), tied)
    return total


@given(USERS, CUT_OFFS)
def test_hits(users, cut_offs):
    """Every row counts with its share of the positions that are above the cut."""
    yielded = list(expected_hits(counts_of(users), cut_offs))

    assert cut_offs[::-1] == [cut for cut, _ in yielded]
    for cut, of_users in yielded:
        found = [Fraction(int(hit), int(size)) for hit, size in zip(*of_users, strict=True)]
        assert [hits_by_hand(rows, cut) for rows in users] == found


@given(USERS, st.randoms())
def test_hits_at_cut_offs_of_users(users, random):
    """Each user may have a cut-off of its own; that of all gives the same, not reduced either."""
    counts = counts_of(users)
    cut_offs = [random.randrange(15) for _ in users]
    hits, sizes = expected_hits_at(counts, np.array(cut_offs))
    found = [Fraction(int(hit), int(size)) for hit, size in zip(hits, sizes, strict=True)]

    assert [hits_by_hand(*user) for user in zip(users, cut_offs, strict=True)] == found
    ((_, of_all),) = expected_hits(counts, [3])
    of_each = expected_hits_at(counts, np.full(len(users), 3))
    for same, other in zip(of_all, of_each, strict=True):
        assert same.tolist() == other.tolist()


def test_the_worked_example():
    """Three tied rows, one of them relevant, and k = 2: two thirds of a hit."""
    ((_, (hits, size)),) = expected_hits(counts_of([[(1, True), (1, False), (1, False)]]), [2])

    assert ([2], [3]) == (hits.tolist(), size.tolist())
