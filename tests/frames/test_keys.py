"""Ids as keys: numbers, text, or neither."""

import pandas as pd
import pyarrow as pa
import pytest

from recframe.frames.keys import find_keys


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
    keys = find_keys(pd.Series(cells, dtype=object))

    assert (expected is None) == (keys is None)
    assert keys is None or expected == pa.array(keys).to_pylist()
