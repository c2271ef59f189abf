"""Messages quote any value on one short line."""

import numpy as np
import pandas as pd
import pytest

from recframe.errors import MAX_QUOTED, quote
from unusual_values import Mute, nest


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a\nb", r"'a\nb'"),
        ([1, "x", (None,)], "[1, 'x', (None,)]"),
        (pd.Series([1, 2]), "0 1 1 2 dtype: int64"),
        (10**5000, "<int that cannot be shown>"),
        (nest(10**4), "[[[[[[[...]]]]]]]"),
        (range(20), "range(0, 20)"),
    ],
    ids=["lines", "list", "Series", "digits", "deep", "range"],
)
def test_values_are_quoted_on_one_line(value, expected):
    """A value is shown as in Python, on one line and only as deep as the line allows."""
    assert expected == quote(value)


@pytest.mark.parametrize(
    "value",
    ["x" * 10**6, 10**4000, ["x" * 200] * 9, {"x" * 10**4: 1}],
    ids=["text", "digits", "list", "dict"],
)
def test_long_values_are_cut(value):
    """A long value is cut to a number of characters."""
    assert 200 < len(quote(value)) <= MAX_QUOTED


def test_what_cannot_be_shown_is_named():
    """An object that cannot show itself is named by its class."""
    assert quote(Mute()).startswith("<Mute instance at 0x")


def test_control_signs_are_escaped():
    """Control characters in an object's text are escaped."""

    class Red:
        def __repr__(self):
            return "\x1b[31mred"

    assert r"\x1b[31mred" == quote(Red())


def test_numbers_of_numpy_are_written_as_those_of_python():
    """Messages show numbers of NumPy without their types."""
    for value in (np.int64(2), np.float32(0.5)):
        assert repr(value.item()) == quote(value)
