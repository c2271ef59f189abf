"""Views of texts as integers: in the order of the texts, which they give back."""

import numpy as np
import pyarrow as pa
import pytest

from recframe.kernel import views as module
from recframe.kernel.views import find_window


def view(texts):
    """Return the views of texts, two words each."""
    array = pa.array(texts, pa.string_view())
    return np.frombuffer(array.buffers()[1], np.uint64)[: 2 * len(texts)].reshape(-1, 2)


@pytest.mark.parametrize("batch", [2, module.BATCH])
@pytest.mark.parametrize(
    "texts",
    [
        ["user10", "user9", "user", "user10", "user123456"],
        ["", "b", "a\0", "a", "\0", "\0\0", "b"],
        ["abcdefgh", "abcdefgi", "zbcdefgh"],
        ["user20000000", "user10000001", "user10000000"],
        ["abcd1234567", "abcd123456", "abcd", "abcd\0"],
        ["aéx", "aÿx", "a\U0001f600", "azx"],
        ["u1_id", "u22_id", "u_", "u"],
        ["same", "same"],
        ["same", "same\0"],
        [""],
    ],
)
def test_numbers_are_in_the_order_of_texts(texts, batch, monkeypatch):
    """Numbers compare as the bytes of texts do, and give their views back."""
    monkeypatch.setattr(module, "BATCH", batch)
    views = view(texts)
    window = find_window([views[:1], views[1:]] if len(views) > 1 else [views])
    numbers = np.empty(len(texts), np.uint64)
    window.number([views], numbers)

    rank = {text: number for number, text in enumerate(sorted(set(texts)))}
    expected = [rank[text] for text in texts]
    assert expected == np.unique(numbers, return_inverse=True)[1].tolist()
    assert views.tolist() == window.write_views(numbers).tolist()


@pytest.mark.parametrize("batch", [2, module.BATCH])
@pytest.mark.parametrize(
    ("texts", "are_told"),
    [
        (["user10", "user9", "user1", "user", "user100", "user000", "user123456"], True),
        (["0", "00", "", "1", "01", "10"], True),
        (["u20000000", "u10000001", "u10000000"], True),
        (["u9?", "u9", "u?9"], True),
        (["u9", "uA"], False),
        (["u9", "u-"], False),
        (["u9", "u9\0", "u90"], False),
        (["id-12", "id-7"], True),
        (["12345678x", "22345678x"], True),
        (["u9", "u9", "u9", "u9", "user9"], False),
    ],
)
def test_digits_take_half_the_bits(texts, are_told, batch, monkeypatch):
    """Of digits the lower halves are in the order of the texts; what is none is told."""
    monkeypatch.setattr(module, "BATCH", batch)
    views, numbers = view(texts), np.empty(len(texts), np.uint32)

    assert are_told == find_window([views]).number([views], numbers)
    if are_told:
        rank = {text: number for number, text in enumerate(sorted(set(texts)))}
        expected = [rank[text] for text in texts]
        assert expected == np.unique(numbers, return_inverse=True)[1].tolist()
        assert views.tolist() == find_window([views]).write_views(numbers).tolist()


@pytest.mark.parametrize(
    "texts",
    [
        ["a" * 13] * 3,
        ["a", "b", "a" * 13],
        ["123456789", "223456780", "223456789"],
        ["1", "22345678", "3"],
        ["abcd12345678", "abcd"],
    ],
    ids=["long", "one long", "nine bytes differ", "eight and the length", "up to the last"],
)
@pytest.mark.parametrize("batch", [1, module.BATCH])
def test_texts_that_no_window_holds(texts, batch, monkeypatch):
    """Long texts, and such as differ in too many bytes, have no numbers."""
    monkeypatch.setattr(module, "BATCH", batch)

    assert find_window([view(texts)]) is None
