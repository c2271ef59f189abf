"""Ids have ranks as text, in order of code points."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from recframe import RecframeError
from recframe.frames.id_kinds import rank_as_text

CHUNKED = pa.chunked_array([["b", "\U0001f600"], ["", "\uffff", "B"]])
IDS = {
    "integers": (pd.Index([10, 9, -1, 2]), ["10", "9", "-1", "2"]),
    "small integers": (pd.Index([10, 9, 200], dtype="uint8"), ["10", "9", "200"]),
    "nullable integers": (pd.Index([10, 9, 2], dtype="Int64"), ["10", "9", "2"]),
    "large integers": (
        pd.Index([2**70, 9, -(2**70)], dtype=object),
        [f"{2**70}", "9", f"-{2**70}"],
    ),
    "floats": (pd.Index([10.0, 9.0, 2.5, 1e22]), ["10", "9", "2.5", "1" + "0" * 22]),
    "decimals": (pd.Index([Decimal("1.50"), Decimal(10), Decimal("2E1")]), ["1.5", "10", "20"]),
    "text": (pd.Index(CHUNKED.to_pylist()), CHUNKED.to_pylist()),
    "objects": (pd.Index(CHUNKED.to_pylist(), dtype=object), CHUNKED.to_pylist()),
    "chunks": (pd.Index(pd.array(CHUNKED, dtype=pd.ArrowDtype(pa.string()))), CHUNKED.to_pylist()),
    "categories": (pd.CategoricalIndex(["b", "a", "C"]), ["b", "a", "C"]),
    "surrogates": (pd.Index(["\U0001f600", "\udc80", "\uffff"], dtype=object), None),
    "bytes": (pd.Index([b"b", b"\xff", b"a"]), ["b", "\xff", "a"]),
    "booleans": (pd.Index([True, False]), ["True", "False"]),
    "dates": (pd.Index([date(2026, 2, 1), date(2026, 1, 2)]), ["2026-02-01", "2026-01-02"]),
    "tuples": (pd.Index([("b", 1), ("a", 2)], tupleize_cols=False), ["('b', 1)", "('a', 2)"]),
    "none": (pd.Index([], dtype=object), []),
}


@pytest.mark.parametrize("case", IDS)
def test_ranks_are_those_of_text(case):
    """The rank of an id is the rank of its text in Python, sorted by code points."""
    ids, written = IDS[case]
    written = ids.tolist() if written is None else written
    ranks = rank_as_text(ids, "x")

    assert [sorted(written).index(text) for text in written] == ranks.tolist()
    assert np.issubdtype(ranks.dtype, np.integer)


def test_ids_that_are_written_alike():
    """Different ids with the same text have no order, and are refused."""
    ids = pd.Index([(1, 2), 1, "(1, 2)"], dtype=object)
    with pytest.raises(
        RecframeError, match=r"item='x': .* as text, but two are written '\(1, 2\)'"
    ):
        rank_as_text(ids, "x")
