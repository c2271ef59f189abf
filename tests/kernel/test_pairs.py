"""Repeated pairs and matched pairs equal those that a dictionary finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.strategies import cut, cuts, groups
from recframe.kernel.grouping import Groups, SortedPairs


@st.composite
def some_items(draw):
    """Return groups, the group of each row, and items that repeat seldom or often."""
    grouped, users = draw(groups())
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    highest = draw(st.sampled_from([100, 300, 2**31, 2**40]))
    pool = np.append(rng.integers(0, highest, draw(st.sampled_from([0, 9, 99]))), [0, highest])
    items = rng.choice(pool, len(users))
    kinds = [np.min_scalar_type(-highest - 1), np.int64]
    return grouped, users, items.astype(draw(st.sampled_from(kinds)))


@given(some_items(), cuts())
def test_repeats_are_those_of_a_dictionary(drawn, cuts):
    """Every row that repeats a pair is found, with the first row of the pair."""
    grouped, users, items = drawn
    with cut(*cuts):
        found = SortedPairs(grouped, items).find_repeats()

    firsts, expected = {}, []
    for row, pair in enumerate(zip(users, items.tolist(), strict=True)):
        first = firsts.setdefault(pair, row)
        if first != row:
            expected.append((row, first))
    assert expected == list(zip(found.rows.tolist(), found.first.tolist(), strict=True))


@given(some_items(), cuts(), st.integers(0, 999), st.sampled_from([0, 1, 60]), st.booleans())
def test_matches_are_those_of_a_dictionary(drawn, cuts, seed, n_asked, is_kept):
    """Every row with a pair is found, also for repeated and unknown pairs."""
    grouped, users, items = drawn
    rng = np.random.default_rng(seed)
    user = rng.integers(-1, grouped.n_groups, n_asked)
    unknown = [-1, 2, 2**20, 1 << int(items.max(initial=0)).bit_length()]
    item = rng.choice(np.append(np.unique(items), unknown).astype(np.int64), n_asked)
    with cut(*cuts):
        pairs = SortedPairs(grouped, items, is_kept=is_kept)
        pairs.find_repeats()
        found = pairs.match(user, item)

    rows = {}
    for row, pair in enumerate(zip(users, items.tolist(), strict=True)):
        rows.setdefault(pair, []).append(row)
    asked = enumerate(zip(user.tolist(), item.tolist(), strict=True))
    expected = [(number, row) for number, pair in asked for row in rows.get(pair, [])]
    assert expected == sorted(zip(*(each.tolist() for each in found), strict=True))


@pytest.mark.parametrize("n_rows", range(2, 19))
def test_the_last_row_repeats_the_first(n_rows):
    """A repeat of the first row in the last is found among any number of rows."""
    items = np.arange(n_rows) % (n_rows - 1)
    found = SortedPairs(Groups(1, offsets=np.array([0, n_rows])), items).find_repeats()

    assert [(n_rows - 1, 0)] == list(zip(found.rows.tolist(), found.first.tolist(), strict=True))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_items_apart_in_memory_are_left_as_they_are(dtype):
    """Items may be a column of a matrix, of every dtype of codes, and are not changed."""
    matrix = (np.arange(18_000).reshape(6_000, 3) % 251 // 2).astype(dtype)
    matrix[4_000, 1] = matrix[4_003, 1] = 126
    before = matrix.copy()
    found = SortedPairs(Groups(60, offsets=np.arange(0, 6_001, 100)), matrix[:, 1]).find_repeats()

    np.testing.assert_array_equal(before, matrix)
    assert (4_003, 4_000) in zip(found.rows.tolist(), found.first.tolist(), strict=True)


@pytest.mark.parametrize(("n_users", "gap"), [(1, 1), (70_000, 1), (70_000, 2**20)])
def test_many_rows(n_users, gap, monkeypatch):
    """Threads find the repeats of a user with many rows and of many users, for any items."""
    monkeypatch.setenv("RECFRAME_MAX_THREADS", "3")
    rng = np.random.default_rng(1)
    users = rng.integers(0, n_users, 400_000)
    items = rng.integers(0, 2**31 // n_users, 400_000) * gap
    items[rng.integers(0, 400_000, 500)] = 7
    found = SortedPairs(Groups(n_users, codes=users), items).find_repeats()

    pairs = users * 2**36 + items
    _, first, number = np.unique(pairs, return_index=True, return_inverse=True)
    first = first[number]
    assert np.flatnonzero(first != np.arange(400_000)).tolist() == found.rows.tolist()
    assert first[found.rows].tolist() == found.first.tolist()
    pair, row = SortedPairs(Groups(n_users, codes=users), items).match(users[:1_000], items[:1_000])
    expected = sum(np.isin(pairs, pairs[n]).sum() for n in range(20))
    assert expected == (pair < 20).sum()
    assert (pairs[pair] == pairs[row]).all()


def test_kept_pairs_do_not_depend_on_the_number_of_threads(monkeypatch):
    """Fewer threads can find pairs than sorted them."""
    users, items = np.repeat(np.arange(4_000), 100), np.tile(np.arange(100), 4_000)
    pairs = SortedPairs(Groups(4_000, offsets=np.arange(0, 400_001, 100)), items, is_kept=True)
    monkeypatch.setenv("RECFRAME_MAX_THREADS", "3")
    assert len(pairs.find_repeats().rows) == 0
    monkeypatch.setenv("RECFRAME_MAX_THREADS", "1")
    _, row = pairs.match(users, items)

    assert sorted(row.tolist()) == list(range(400_000))
