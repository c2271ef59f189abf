"""Ids as keys: numbers, text, or neither."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from recframe.frames import keys
from recframe.kernel import texts as kernel_texts


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["b", "", "é"], ["b", "", "é"]),
        ([None, "b"], [None, "b"]),
        ([float("nan"), "b"], [None, "b"]),
        ([], None),
        ([1, 2], None),
        ([1.5, "b"], None),
        (["b", 1], None),
        ([b"b"], None),
        (["b", "\ud800"], None),
    ],
)
def test_objects(cells, expected):
    """Objects are keys where they are text or null, as columns of text are."""
    found = keys.find_keys(pd.Series(cells, dtype=object))

    assert (expected is None) == (found is None)
    assert found is None or expected == pa.array(found).to_pylist()


@pytest.mark.parametrize("width", [pa.string(), pa.large_string()])
@pytest.mark.parametrize(
    ("texts", "is_told"),
    [
        (["a", "b", "", "ab", "b\0", "\0b", "a"], True),
        (["user1", "user12", "user12345678", "user1"], True),
        (["12345678", "12345679", "87654321"], True),
        (["é1", "é2", "ü2"], True),  # of one length
        ([f"customer-2026-{n:08}" for n in (5, 77, 5, 10**7)], True),
        ([f"{n * 0x9E3779B97F4A7C15F39CC0605CEDC834:036x}" for n in range(5)], False),
        (["é1", "é22"], False),  # no room for the length
        (["a", "a" * 300], False),
        (["user1234567890", "usher12345678"], False),  # differ before the last eight
        (["u1", "user12345678"], False),  # the first does not say how others begin
        (["b" * 9, "a" + "b" * 8, "b" * 10], False),
    ],
)
def test_texts_are_numbered_exactly(texts, is_told, width, monkeypatch):
    """Where texts begin alike they are told apart by a number; where not, there is none."""
    monkeypatch.setattr(keys, "MANY", 1)
    monkeypatch.setattr(kernel_texts, "BATCH", 3)
    # A slice of an array begins in the midst of its bytes.
    numbers = keys.number_ids(pa.array(["user", *texts, "user"], width)[1:-1])

    assert is_told == (numbers is not None)
    if numbers is not None:
        expected = [texts.index(text) for text in texts]
        assert expected == [numbers.tolist().index(number) for number in numbers.tolist()]


def test_few_texts_are_not_numbered():
    """It pays for many only."""
    assert keys.number_ids(pa.array(["a", "b"])) is None


def test_many_text_users_are_told_apart():
    """Ids that begin alike and ids that do not give the tables of integers."""
    users = np.random.default_rng(8).permutation(np.arange(keys.MANY + 5) % 999)
    frame = pd.DataFrame({"score": np.arange(len(users)) * 0.5, "relevant": users % 7 == 0})
    expected = frame.assign(user=users).rec.recall(k=3)
    for name in ("user-{:05}", "u{}", "{:x}" + "z" * 40):
        texts = pd.Series([name.format(user) for user in users], dtype="str")
        found = frame.assign(user=texts).rec.recall(k=3)
        names = pd.Index([name.format(user) for user in range(999)])
        pd.testing.assert_frame_equal(
            expected.set_axis(names).sort_index(), found, check_names=False, check_index_type=False
        )
