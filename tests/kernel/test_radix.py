"""Radix: integers sorted, and values brought along."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from recframe.kernel import radix

INTEGERS = st.sampled_from(["int8", "uint8", "int16", "int32", "int64", "uint64"])
WIDE = {"int64": [-(2**63), 2**63 - 1], "uint64": [0, 2**64 - 1]}


@pytest.mark.parametrize("rows_per_part", [1 << 20, 7])
@given(numbers=hnp.arrays(INTEGERS, st.integers(0, 60)))
def test_sorting_is_stable(rows_per_part, numbers):
    """Equal numbers keep their order, for every type and range, in one piece and in parts."""
    with mock.patch.object(radix, "ROWS_PER_PART", rows_per_part):
        order, begins = radix.sort_numbers(numbers)
    expected = np.argsort(numbers, kind="stable")
    values = numbers[expected].tolist()

    np.testing.assert_array_equal(expected, order)
    assert [value not in values[:i] for i, value in enumerate(values)] == begins.tolist()


@pytest.mark.parametrize("rows_per_part", [1 << 20, 7])
@pytest.mark.parametrize("dtype", WIDE)
def test_sorting_the_widest_range(dtype, rows_per_part, monkeypatch):
    """Numbers from one end of their type to the other are sorted all the same."""
    monkeypatch.setattr(radix, "ROWS_PER_PART", rows_per_part)
    numbers = np.array([*WIDE[dtype], 5] * 9, dtype)

    order, _ = radix.sort_numbers(numbers)
    np.testing.assert_array_equal(np.argsort(numbers, kind="stable"), order)


def test_many_numbers_are_sorted_in_parts(monkeypatch):
    """Parting by the leading bits changes nothing, however the numbers are spread."""
    monkeypatch.setattr(radix, "ROWS_PER_PART", 7)
    rng = np.random.default_rng(8)
    for numbers in (
        rng.integers(0, 300, 900),
        rng.integers(-(2**40), 2**40, 900),
        rng.choice([0, 1, 2**62], 900),
        rng.integers(0, 2**64, 900, dtype=np.uint64),
    ):
        order, begins = radix.sort_numbers(numbers)
        found = numbers[order]

        np.testing.assert_array_equal(np.argsort(numbers, kind="stable"), order)
        np.testing.assert_array_equal(begins, np.append(True, found[1:] != found[:-1]))


@pytest.mark.parametrize("kind", ["int8", "uint64", "float32", "bool", "datetime64[s]"])
def test_the_order_of_numbers_of_any_kind(kind):
    """Equal ones stay as they stand."""
    numbers = np.array([3, 0, 1, 3, 0, 2, 1]).astype(kind)

    assert np.argsort(numbers, kind="stable").tolist() == radix.argsort(numbers).tolist()


@pytest.mark.parametrize("rows_per_part", [1 << 20, 7])
@pytest.mark.parametrize("keep_order", [True, False])
def test_values_come_along(rows_per_part, keep_order, monkeypatch):
    """Values of rows come in the order of their numbers, and the first row of each is known."""
    monkeypatch.setattr(radix, "ROWS_PER_PART", rows_per_part)
    rng = np.random.default_rng(8)
    for numbers in (np.empty(0, int), rng.integers(0, 3, 50), rng.integers(-(2**50), 2**50, 50)):
        numbers = np.repeat(numbers, 2)
        rng.shuffle(numbers)
        values = [rng.random(len(numbers)), rng.random(len(numbers)) < 0.5]
        expected = np.argsort(numbers, kind="stable")
        _, firsts = np.unique(numbers, return_index=True)

        found = radix.sort_beside(numbers, values, keep_order=keep_order)
        np.testing.assert_array_equal(firsts, found.firsts)
        for own, moved in zip(values, found.values, strict=True):
            np.testing.assert_array_equal(own[expected], moved)
            assert own.dtype == moved.dtype
        if keep_order:
            np.testing.assert_array_equal(expected, found.order)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("most_bits", [40, 3])
def test_wide_integers_are_grouped(dtype, most_bits, monkeypatch):
    """Equal ones stand together as they stood, also where the bits sorted by are those of two."""
    monkeypatch.setattr(radix, "ROWS_PER_PART", 7)
    monkeypatch.setattr(radix, "MOST_BITS", max(most_bits, 33))
    if most_bits == 3:  # every integer begins with the same bits
        monkeypatch.setattr(radix, "ODD", np.uint64(1))
    rng = np.random.default_rng(8)
    distinct = rng.integers(0, 1 << 62, 40) if most_bits == 40 else np.arange(40) * 3
    numbers = np.append(rng.choice(distinct, 300).astype(dtype), np.iinfo(dtype).max)
    numbers = numbers.astype(dtype)
    values = np.arange(len(numbers))

    found = radix.group_beside(numbers, [values])
    np.testing.assert_array_equal(found.order, found.values[0])
    in_order = numbers[found.order]
    assert sorted(numbers.tolist()) == sorted(in_order.tolist())
    assert len(found.firsts) == len(np.unique(numbers))
    begins = np.append(True, in_order[1:] != in_order[:-1])
    np.testing.assert_array_equal(found.starts, np.flatnonzero(begins))
    assert all(np.diff(found.order[in_order == each]).min(initial=1) > 0 for each in distinct)
    assert found.is_ascending == (most_bits == 3)
    if found.is_ascending:
        np.testing.assert_array_equal(np.argsort(numbers, kind="stable"), found.order)
