"""Grouping: what is found out about groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.kernel import grouping
from recframe.kernel.threads import ROWS_PER_CHUNK


@given(st.lists(st.integers(1, 5), max_size=9), st.randoms())
def test_rows_of_runs(lengths, random):
    """The rows of a run stay together and in order, the runs come as they are told to."""
    starts = np.cumsum([0, *lengths])[:-1].astype(np.int64)
    order = list(range(len(lengths)))
    random.shuffle(order)
    expected = [starts[run] + nth for run in order for nth in range(lengths[run])]

    found = grouping.rows_of_runs(np.array(order, np.int64), starts, sum(lengths))
    assert expected == found.tolist()


@pytest.mark.parametrize("n_rows", [0, 1, 6, 7, 100, 3 * ROWS_PER_CHUNK + 1])
def test_passes_in_slices(n_rows):
    """Passes over rows give the same, in slices and threads or in one piece."""
    rng = np.random.default_rng(5)
    values = rng.integers(0, 3, n_rows, dtype=np.int8)
    changes = np.flatnonzero(values[1:] != values[:-1]) + 1
    order = rng.permutation(n_rows)

    bounds = [0, *changes, n_rows] if n_rows else [0]
    np.testing.assert_array_equal(bounds, grouping.run_bounds(values))
    np.testing.assert_array_equal(values[order], grouping.take(values, order))
    np.testing.assert_array_equal(np.argsort(order), grouping.invert(order))
    assert values.min(initial=3 if n_rows else 0) == grouping.lowest(values)
    if n_rows:
        last = np.arange(n_rows) == n_rows - 1
        assert np.isnan(grouping.lowest(np.where(last, np.nan, values)))


@pytest.mark.parametrize("share", [0, 0.02, 0.05, 0.09, 0.1, 0.11, 1])
def test_find_flags(share):
    """The positions of set flags are found, few or many."""
    for n_flags in (0, 1, 9, 1_000):
        flags = np.random.default_rng(n_flags).random(n_flags) < share

        assert np.flatnonzero(flags).tolist() == grouping.find_flags(flags).tolist()


@given(st.lists(st.lists(st.booleans(), max_size=150), max_size=6))
def test_sum_by_user(flags):
    """The flags of each group are counted, empty groups included."""
    offsets = grouping.group_offsets(np.array([len(group) for group in flags], np.int64))
    joined = np.array([flag for group in flags for flag in group], bool)

    assert [sum(group) for group in flags] == grouping.sum_by_user(joined, offsets).tolist()


@pytest.mark.parametrize("high", [4, 1 << 40])
def test_distinct_rows(high):
    """Rows are numbered such that equal ones share a number, which is that of the first of them."""
    columns = np.random.default_rng(0).choice([0, 1, high], (3, 50))
    first, number = grouping.number_distinct(*columns)
    rows = list(zip(*columns.tolist(), strict=True))

    assert len(set(rows)) == len(first)
    assert [rows.index(row) for row in rows] == first[number].tolist()


@given(st.lists(st.integers(1, 5)))
def test_sizes_of_runs(sizes):
    """Each run goes from its start to the next, the last one to the end; there may be none."""
    starts = np.cumsum([0, *sizes])[:-1]

    assert sizes == grouping.run_sizes(starts, sum(sizes)).tolist()


def test_combined_integers_are_in_the_order_of_rows():
    """The first column leads, however many values the columns have."""
    columns = np.random.default_rng(1).choice([0, 1, 7, 1 << 40], (4, 60))
    rows = list(zip(*columns.tolist(), strict=True))
    codes = grouping.combine(*columns).tolist()

    assert sorted(range(60), key=rows.__getitem__) == sorted(range(60), key=codes.__getitem__)
    assert len(set(rows)) == len(set(codes))
    assert [0, 3, 2, 5] == grouping.combine(np.array([0, 1, 0, 1]), np.array([0, 0, 2, 2])).tolist()


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "uint64"])
def test_integers_that_are_near_each_other(kind):
    """They are counted from the lowest one; what is spread wider than rows are many is left."""
    for low in (np.iinfo(kind).min, np.iinfo(kind).max - 8):
        numbers = np.array([low + 8, low, low + 5], kind)
        assert [8, 0, 5] == grouping.narrow(numbers).tolist()
        assert grouping.narrow(numbers[:2]).dtype == np.int64
        assert grouping.narrow(numbers[:1]).tolist() == [0]
    assert grouping.narrow(np.array([0, 9, 0], kind)).tolist() == [0, 9, 0]
    assert grouping.narrow(np.array([0, 13, 0], kind)) is None
    assert [] == grouping.narrow(np.array([], kind)).tolist()
