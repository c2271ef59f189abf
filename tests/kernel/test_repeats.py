"""Repeats: rows of a user with a key that a row before them has."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.kernel import repeats, run_matrices, threads
from recframe.kernel.repeats import find_repeats
from recframe.kernel.row_order import KnownOrder
from recframe.kernel.texts import Texts

ALIKE = pow(int(repeats.ODD), -1, 2**64)  # keys so far apart share the 32 bits compared first
KEYS = st.sampled_from(
    [0, 1, 2, -1, ALIKE - 2**64, 1 + ALIKE - 2**64, 2**32, 2**63 - 1, -(2**63)]
) | st.integers(-(2**63), 2**63 - 1)


def expected_repeats(users, keys):
    """Return each row that repeats a pair, and the first row of the pair."""
    firsts = {}
    for row, pair in enumerate(zip(users, keys, strict=True)):
        firsts.setdefault(pair, row)
    pairs = [firsts[pair] for pair in zip(users, keys, strict=True)]
    return [(row, first) for row, first in enumerate(pairs) if row != first]


@pytest.mark.parametrize("at_once", [2, 16, repeats.WIDEST])
@pytest.mark.parametrize("is_grouped", [True, False])
@given(rows=st.lists(st.tuples(st.integers(0, 4), KEYS), max_size=40), seed=st.integers(0, 99))
def test_repeats_are_those_of_a_dictionary(at_once, is_grouped, rows, seed):
    """Every repeated row is found with the first of its pair, however rows are cut."""
    rows = sorted(rows, key=lambda row: row[0])
    users, keys = [user for user, _ in rows], [key for _, key in rows]
    offsets = np.searchsorted(users, np.arange(6))
    stored = np.array(keys, np.int64)
    order = None
    if not is_grouped:
        order = np.random.default_rng(seed).permutation(len(rows))
        stored[order] = keys
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeats, "WIDEST", at_once)
        patch.setattr(repeats, "BATCH", at_once)
        patch.setattr(run_matrices, "PIECE", max(1, at_once // 8))
        patch.setattr(run_matrices, "PADS", at_once)
        patch.setattr(run_matrices, "SHORTEST", 1)
        found = find_repeats(stored, offsets, order if order is None else KnownOrder(order))

    assert expected_repeats(users, keys) == list(zip(*map(np.ndarray.tolist, found), strict=True))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint64, bool])
def test_every_kind_of_integer(dtype):
    """Keys are compared as they are, in every type."""
    keys = np.array([0, 1, 1, 0, 1], dtype)
    found = find_repeats(keys, np.array([0, 2, 5]))

    assert [4] == found.rows.tolist()
    assert [2] == found.first.tolist()


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
@pytest.mark.parametrize("order", [None, KnownOrder(np.arange(6_000))])
def test_keys_apart_in_memory(dtype, order):
    """Keys may be a column of a matrix, and what they are in is left as it is."""
    matrix = np.arange(18_000).reshape(6_000, 3) % 251
    matrix[4_000, 1] = matrix[4_003, 1] = 252
    matrix = matrix.astype(dtype)
    before = matrix.copy()
    found = find_repeats(matrix[:, 1], np.arange(0, 6_001, 100), order)

    np.testing.assert_array_equal(before, matrix)
    assert [4_003] == found.rows.tolist()
    assert [4_000] == found.first.tolist()


@pytest.mark.parametrize("n_users", [1, 700])
def test_many_rows(n_users, monkeypatch):
    """A user of more rows than a table has, and many users over several threads."""
    for module in (threads, repeats):
        monkeypatch.setattr(module, "ROWS_PER_CHUNK", 20_000)
    rng = np.random.default_rng(1)
    users = np.sort(rng.integers(0, n_users, 150_000))
    keys = rng.integers(0, 2**40, 150_000)
    keys[rng.integers(0, 150_000, 500)] = 7
    found = find_repeats(keys, np.searchsorted(users, np.arange(n_users + 1)))

    expected = expected_repeats(users.tolist(), keys.tolist())
    assert len(expected) > 10
    assert expected == list(zip(*map(np.ndarray.tolist, found), strict=True))


def test_the_first_of_rows():
    """Rows that repeat none are their own first."""
    found = find_repeats(np.array([5, 6, 5, 6, 5]), np.array([0, 5]))

    assert [0, 1, 0, 1, 0] == found.first_of(np.arange(5)).tolist()
    assert [0, 1] == find_repeats(np.arange(2), np.array([0, 2])).first_of(np.arange(2)).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", ">f8"])
@pytest.mark.parametrize("order", [None, KnownOrder(np.arange(6))])
def test_floats(dtype, order):
    """Floats are keys as they are, and the two zeros are one."""
    keys = np.array([0.5, 1, -0.0, 2**20, 0, 1], dtype)
    found = find_repeats(keys, np.array([0, 2, 6]), order)

    assert [(4, 2)] == list(zip(*map(np.ndarray.tolist, found), strict=True))


@pytest.mark.parametrize("n_users", [1, 40])
@pytest.mark.parametrize("is_grouped", [True, False])
def test_texts(n_users, is_grouped, monkeypatch):
    """Texts are compared by their bits, which are written run by run where rows are grouped."""
    monkeypatch.setattr(threads, "ROWS_PER_CHUNK", 500)
    rng = np.random.default_rng(1)
    users = np.sort(rng.integers(0, n_users, 2_000))
    names = [f"item{number}" for number in rng.integers(0, 2_000, 2_000)]
    order = np.arange(2_000) if is_grouped else rng.permutation(2_000)
    stored = dict(zip(order.tolist(), names, strict=True))
    encoded = [stored[row].encode() for row in range(2_000)]
    texts = Texts(np.cumsum([0, *map(len, encoded)]), np.frombuffer(b"".join(encoded), np.uint8))
    offsets = np.searchsorted(users, np.arange(n_users + 1))
    found = find_repeats(texts, offsets, None if is_grouped else KnownOrder(order))

    expected = expected_repeats(users.tolist(), names)
    assert len(expected) > 10
    assert expected == list(zip(*map(np.ndarray.tolist, found), strict=True))
