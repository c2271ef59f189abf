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


PARTED = {"MOST_AT_ONCE": 7, "ROWS_PER_SLICE": 5}
SIZES = pytest.mark.parametrize(
    "sizes", [{"MOST_AT_ONCE": 1 << 20}, PARTED], ids=["whole", "parted"]
)


@SIZES
@given(numbers=hnp.arrays(INTEGERS, st.integers(0, 60)))
def test_sorting_is_stable(sizes, numbers):
    """Equal numbers keep their order, for every type and range, in one piece and in parts."""
    with mock.patch.multiple(radix, **sizes):
        order, begins = radix.sort_numbers(numbers)
    expected = np.argsort(numbers, kind="stable")
    values = numbers[expected].tolist()

    np.testing.assert_array_equal(expected, order)
    assert [value not in values[:i] for i, value in enumerate(values)] == begins.tolist()


@SIZES
@pytest.mark.parametrize("dtype", WIDE)
def test_sorting_the_widest_range(dtype, sizes):
    """Numbers from one end of their type to the other are sorted all the same."""
    numbers = np.array([*WIDE[dtype], 5] * 9, dtype)

    with mock.patch.multiple(radix, **sizes):
        order, _ = radix.sort_numbers(numbers)
        distinct = radix.sort_beside(numbers, [], "numbers").kept
    np.testing.assert_array_equal(np.argsort(numbers, kind="stable"), order)
    np.testing.assert_array_equal(np.unique(numbers), distinct)


@mock.patch.multiple(radix, **PARTED)
def test_many_numbers_are_sorted_in_parts():
    """Parting by the leading bits changes nothing, however the numbers are spread."""
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


@SIZES
@pytest.mark.parametrize("keep", ["order", "firsts", "numbers"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint64"])
def test_values_come_along(sizes, keep, dtype):
    """Values of rows come in the order of their numbers, and what is to be kept of these."""
    rng = np.random.default_rng(8)
    for low, high in ((0, 0), (0, 3), (0, 70_000), (-(2**30), 2**30), (-(2**50), 2**50)):
        numbers = np.repeat(rng.integers(low, high, 50 if high else 0).astype(dtype), 2)
        rng.shuffle(numbers)
        values = [rng.random(len(numbers)), rng.random(len(numbers)) < 0.5]
        order = np.argsort(numbers, kind="stable")
        distinct, firsts = np.unique(numbers, return_index=True)

        with mock.patch.multiple(radix, **sizes):
            found = radix.sort_beside(numbers, values, keep)
        expected = {"order": order, "firsts": firsts, "numbers": distinct}[keep]
        np.testing.assert_array_equal(expected, found.kept)
        assert found.kept.dtype == expected.dtype
        np.testing.assert_array_equal(np.isin(order, firsts), found.begins)
        for own, moved in zip(values, found.values, strict=True):
            np.testing.assert_array_equal(own[order], moved)
            assert own.dtype == moved.dtype


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("most_bits", [40, 3])
@mock.patch.multiple(radix, **PARTED)
def test_wide_integers_are_grouped(dtype, most_bits, monkeypatch):
    """Equal ones stand together as they stood, also where the bits sorted by are those of two."""
    monkeypatch.setattr(radix, "MOST_BITS", max(most_bits, 33))
    if most_bits == 3:  # every integer begins with the same bits
        monkeypatch.setattr(radix, "ODD", np.uint64(1))
    rng = np.random.default_rng(8)
    distinct = rng.integers(0, 1 << 62, 40) if most_bits == 40 else np.arange(40) * 3
    numbers = np.append(rng.choice(distinct, 300).astype(dtype), np.iinfo(dtype).max)
    numbers = numbers.astype(dtype)
    values = np.arange(len(numbers))

    begins, order, moved, is_ascending = radix.group_beside(numbers, [values])
    np.testing.assert_array_equal(order, moved[0])
    in_order = numbers[order]
    assert sorted(numbers.tolist()) == sorted(in_order.tolist())
    np.testing.assert_array_equal(np.append(True, in_order[1:] != in_order[:-1]), begins)
    assert np.count_nonzero(begins) == len(np.unique(numbers))
    assert all(np.diff(order[in_order == each]).min(initial=1) > 0 for each in distinct)
    assert is_ascending == (most_bits == 3)
    if is_ascending:
        np.testing.assert_array_equal(np.argsort(numbers, kind="stable"), order)
    for keep, expected in (("firsts", order[begins]), ("numbers", in_order[begins])):
        found = radix.group_beside(numbers, [values], keep)
        np.testing.assert_array_equal(expected, found.kept)
        np.testing.assert_array_equal(begins, found.begins)
        np.testing.assert_array_equal(order, found.values[0])
