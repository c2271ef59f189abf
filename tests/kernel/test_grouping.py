"""Rows are grouped, sorted in threads and counted by group."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.strategies import cut, cuts, groups
from recframe.kernel import grouping

INTEGERS = ["int8", "uint8", "int32", "uint32", "int64", "uint64"]


@given(groups(), cuts(), st.integers(0, 99))
def test_rows_of_groups(drawn, cuts, seed):
    """The grouped order has the rows of one group after the other, each in row order."""
    grouped, codes = drawn
    rows = [[] for _ in range(grouped.n_groups)]
    for row, code in enumerate(codes):
        rows[code].append(row)
    order = [row for own in rows for row in own]
    flags = np.random.default_rng(seed).random(len(codes)) < 0.5
    with cut(*cuts):
        found = np.arange(len(codes))[grouped.rows(slice(0, len(codes)))].tolist()

    assert codes == grouped.codes.tolist()
    assert len(codes) == grouped.n_rows
    assert [0, *np.cumsum([len(own) for own in rows])] == grouped.offsets.tolist()
    assert order == found
    assert order[1::2] == grouped.rows(np.arange(len(codes))[1::2]).tolist()
    assert [sum(flags[own]) for own in rows] == grouped.count(flags).tolist()


@given(groups(), st.integers(0, 99), st.sampled_from([0, 3]))
def test_some_rows_of_groups(drawn, seed, n_more):
    """A selection of rows keeps its groups, and added groups have no rows."""
    grouped, codes = drawn
    rows = np.flatnonzero(np.random.default_rng(seed).random(len(codes)) < 0.5)
    found = grouped.take(rows).extend(n_more)
    codes = [codes[row] for row in rows]

    assert grouped.n_groups + n_more == found.n_groups
    assert codes == found.codes.tolist()
    assert [codes.count(code) for code in range(found.n_groups)] == np.diff(found.offsets).tolist()
    ordered = sorted(range(len(codes)), key=codes.__getitem__)
    assert ordered == np.arange(len(codes))[found.rows(slice(0, len(codes)))].tolist()


@given(st.sampled_from(INTEGERS), st.sampled_from([0, 1, 2, 30, 400]), st.integers(0, 99), cuts())
def test_sorted_integers(dtype, n_keys, seed, cuts):
    """Integers are sorted at once, or in buckets that several threads fill."""
    rng, info = np.random.default_rng(seed), np.iinfo(dtype)
    keys = rng.integers(info.min, info.max, n_keys, dtype, endpoint=True)
    keys[rng.random(n_keys) < rng.random()] = info.max
    expected = sorted(keys.tolist())
    with cut(*cuts):
        assert expected == grouping.sort(keys).tolist()


@pytest.mark.parametrize("n_keys", [(1 << 19) + 3, 2_000_001])
def test_many_sorted_integers(n_keys, monkeypatch):
    """Many integers are sorted like few, even if most are equal."""
    monkeypatch.setenv("RECFRAME_MAX_THREADS", "3")
    rng = np.random.default_rng(2)
    for highest in (9, 1 << 60):
        keys = rng.integers(0, highest, n_keys, np.uint64)
        keys[: n_keys // 2] = 5
        expected = np.sort(keys)
        np.testing.assert_array_equal(expected, grouping.sort(keys))


@given(
    st.sampled_from(INTEGERS[:-1]),
    st.lists(st.integers(0, 127) | st.sampled_from([2**31 - 1, 2**62, 2**63 - 1]), max_size=40),
    cuts(),
)
def test_orders_that_sort(dtype, codes, cuts):
    """Equal integers keep their order, and integers of any size are sorted."""
    codes = np.minimum(np.array(codes, np.int64), np.iinfo(dtype).max).astype(dtype)
    with cut(*cuts):
        order = grouping.argsort(codes).tolist()

    assert sorted(range(len(codes)), key=codes.__getitem__) == order


@given(st.permutations(range(20)), cuts())
def test_values_of_rows_in_an_order(order, cuts):
    """`invert` returns the position of each row in an order, and `take_rows` its value."""
    position = grouping.invert(np.array(order)).tolist()
    with cut(*cuts):
        taken = grouping.take_rows(np.arange(20) * 7, np.array(order)).tolist()

    assert list(range(20)) == [order[place] for place in position]
    assert [7 * row for row in order] == taken


def test_combined_integers_are_in_the_order_of_rows():
    """Combined integers sort by the first column first, for any number of values."""
    columns = np.random.default_rng(1).choice([0, 1, 7, 1 << 40], (4, 60))
    rows = list(zip(*columns.tolist(), strict=True))
    codes = grouping.combine(*columns).tolist()

    assert sorted(range(60), key=rows.__getitem__) == sorted(range(60), key=codes.__getitem__)
    assert len(set(rows)) == len(set(codes))
    assert [0, 3, 2, 5] == grouping.combine(np.array([0, 1, 0, 1]), np.array([0, 0, 2, 2])).tolist()


@given(st.lists(st.lists(st.booleans(), max_size=150), max_size=6))
def test_count_flags(flags):
    """The flags of each group are counted, and empty groups have 0."""
    offsets = grouping.group_offsets(np.array([len(group) for group in flags], np.int64))
    joined = np.array([flag for group in flags for flag in group], bool)

    assert [sum(group) for group in flags] == grouping.count_flags(joined, offsets).tolist()


@given(st.lists(st.integers(0, 5)))
def test_members_of_groups(sizes):
    """Each member of a group has the group's number, and a number in the group from 0."""
    group, number = grouping.number_members(np.array(sizes, int))
    expected = [(own, nth) for own, size in enumerate(sizes) for nth in range(size)]

    assert expected == list(zip(group.tolist(), number.tolist(), strict=True))


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1))
def test_runs(rows):
    """A run starts where any key changes and ends at the next change."""
    starts = grouping.run_starts(*np.array(rows).T)
    sizes = np.diff(starts, append=len(rows)).tolist()
    runs = [rows[start : start + size] for start, size in zip(starts, sizes, strict=True)]

    assert rows == [row for run in runs for row in run]
    assert all({run[0]} == set(run) for run in runs)
    assert all(run[-1] != later[0] for run, later in pairwise(runs))
