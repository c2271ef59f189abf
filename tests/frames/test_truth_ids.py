"""Ids of a frame and of `truth` match by value, in any dtype."""

from datetime import date, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from recframe import RecframeError, truth_from

LABELS = ["precision@2", "recall@2", "r_precision"]

# These columns hold the same four ids, 1 to 4, in different dtypes.
NUMBERS = {
    "int64": lambda ids: ids.astype("int64"),
    "int32": lambda ids: ids.astype("int32"),
    "int8": lambda ids: ids.astype("int8"),
    "uint64": lambda ids: ids.astype("uint64"),
    "float64": lambda ids: ids.astype("float64"),
    "Int32": lambda ids: ids.astype("Int32"),
    "object": lambda ids: ids.astype(object),
    "arrow": lambda ids: ids.astype(pd.ArrowDtype(pa.int16())),
    "category": lambda ids: ids.astype("category"),
    "wide": lambda ids: ids.astype("int64").astype(pd.CategoricalDtype([4, 2**60, 3, 2, 1])),
}
TEXTS = {
    "str": lambda ids: ids.astype("str"),
    "object": lambda ids: ids.astype(str).astype(object),
    "string": lambda ids: ids.astype("string"),
    "string[pyarrow]": lambda ids: ids.astype("string[pyarrow]"),
    "arrow": lambda ids: ids.astype(str).astype(pd.ArrowDtype(pa.string())),
    "dictionary": lambda ids: ids.astype(str).astype(
        pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    ),
    "category": lambda ids: ids.astype(str).astype("category"),
    "ordered": lambda ids: ids.astype(str).astype(
        pd.CategoricalDtype(["4", "x", "3", "2", "1"], ordered=True)
    ),
}
TIMES = {
    "datetime": lambda ids: pd.to_datetime(ids, unit="D"),
    "seconds": lambda ids: pd.to_datetime(ids, unit="D").astype("datetime64[s]"),
    "object": lambda ids: pd.Series([datetime(1970, 1, 1 + id) for id in ids], dtype=object),
    "arrow": lambda ids: pd.to_datetime(ids, unit="D").astype(pd.ArrowDtype(pa.timestamp("us"))),
}
OTHERS = {
    "tuples": lambda ids: pd.Series([(id, "x") for id in ids], dtype=object),
    "dates": lambda ids: pd.Series([date(2026, 1, id) for id in ids], dtype=object),
}
PAIRS_OF_DTYPES = [
    (kinds[a], kinds[b], f"{a}-{b}")
    for kinds in (NUMBERS, TEXTS, TIMES)
    for a in kinds
    for b in kinds
] + [(kind, kind, name) for name, kind in OTHERS.items()]
USERS, ITEMS, SCORES = [3, 3, 1, 1], [1, 2, 2, 3], [0.9, 0.8, 0.7, 0.6]
TRUE_USERS, TRUE_ITEMS = [1, 3, 2, 1], [3, 1, 1, 4]


@pytest.mark.parametrize(
    ("of_frame", "of_truth"),
    [pair[:2] for pair in PAIRS_OF_DTYPES],
    ids=[p[2] for p in PAIRS_OF_DTYPES],
)
def test_ids_match_by_value(of_frame, of_truth):
    """Equal ids of any dtypes match, and the table's index keeps the frame's dtype."""
    users, items = of_frame(pd.Series(USERS)), of_frame(pd.Series(ITEMS))
    frame = pd.DataFrame({"user": users, "item": items, "score": SCORES})
    users, items = of_truth(pd.Series(TRUE_USERS)), of_truth(pd.Series(TRUE_ITEMS))
    truth = pd.DataFrame({"user": users, "item": items})
    table = frame.rec(population="all", truth=truth).evaluate(LABELS)["score"]

    index = of_frame(pd.Series([1, 2, 3]))
    if isinstance(frame["user"].dtype, pd.CategoricalDtype):
        holds_all = of_frame(pd.Series([2])).iloc[0] in frame["user"].cat.categories
        index = index.astype(frame["user"].dtype if holds_all else index.cat.categories.dtype)
    expected = dict(zip(index.tolist(), [[0.5, 0.5, 0.5], [0, 0, 0], [0.5, 1, 1]], strict=True))
    assert expected == dict(zip(table.index.tolist(), table.to_numpy().tolist(), strict=True))
    assert index.dtype == table.index.dtype


def test_ids_beyond_the_dtype_of_the_frame():
    """The index becomes as wide as truth's ids need."""
    frame = pd.DataFrame({"user": [1, 1], "item": [1, 2], "score": [2, 1]}, dtype="int8")
    truth = pd.DataFrame({"user": [1, 300], "item": [2, 300]})
    table = frame.rec(population="all", truth=truth).recall(k=2)

    assert [1, 300] == table.index.tolist()
    assert np.dtype("int64") == table.index.dtype


@pytest.mark.parametrize("dtype", ["str", "object", "string", "category"])
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 2, 0]])
def test_text_that_ends_alike(dtype, order):
    """Texts of equal length with equal ends are different items."""
    items = ["a/00000001", "b/00000001", "b/00000002", "c/00000003"]
    frame = pd.DataFrame({"user": [2, 1, 1, 2], "item": items, "score": [4, 3, 2, 1]}).iloc[order]
    frame = frame.astype({"item": dtype})
    truth = pd.DataFrame({"user": [1, 1, 2, 2], "item": [items[1], "c/00000002", *items[::3]]})
    one = frame.assign(user=1)
    rec = {"population": "all", "truth": truth, "short": "pad"}

    assert [0.5, 1.0] == frame.rec(**rec).recall(k=2)["score"].tolist()
    assert [0.5, 0.0] == one.rec(**rec).recall(k=2)["score"].tolist()
    left = one.rec(**rec, unjudged="drop").precision(k=1)["score"]
    assert [1.0, 0.0] == left.tolist()


@pytest.mark.parametrize("shift", [28, 40, 60])
def test_ids_with_equal_low_bits(shift):
    """Integer ids with equal low bits are different items, and repeats are found."""
    items = [(number << shift) + 5 for number in (0, 1, 3)]
    frame = pd.DataFrame({"user": 1, "item": items, "score": [3, 2, 1]})
    for true, expected in (([0], 1.0), ([2], 0.0), ([0, 2], 0.5), ([1, 2], 0.0)):
        truth = pd.DataFrame({"user": 1, "item": [items[place] for place in true]})
        assert [expected] == frame.rec(truth=truth).recall(k=1)["score"].tolist()
        alone = frame[:1].rec(truth=truth).recall(k=1)
        assert [float(0 in true) / len(true)] == alone["score"].tolist()
    with pytest.raises(RecframeError, match=f"1 of 4 rows .*item {items[1]}"):
        frame.iloc[[0, 1, 1, 2]].rec(truth=truth).recall(k=1)


def test_large_ids_are_not_rounded():
    """Integers that are equal as floats are different items, in every dtype."""
    big = 2**53
    frame = pd.DataFrame({"user": [-big, -big], "item": [big, big + 1], "score": [0.2, 0.1]})
    truth = pd.DataFrame({"user": [-big, -big - 1], "item": [big + 1, big]})
    for dtype in ("int64", "uint64", object, "Int64"):
        converted = frame.astype({"item": dtype})
        assert [0.0, 0.0] == converted.rec(population="all", truth=truth).recall(k=1)[
            "score"
        ].tolist()


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
@pytest.mark.parametrize("listed", ["xyz", "xz", "yz", "z"])
@pytest.mark.parametrize("asked", ["xy", "x", "y"])
def test_texts_that_end_alike(asked, listed, order):
    """Texts that differ only before their last eight bytes are matched exactly."""
    ids = {"x": "x12345678", "y": "y12345678", "z": "z"}
    recs = pd.DataFrame({"user": 1, "item": list(map(ids.get, listed))})
    recs["score"] = np.arange(len(recs), 0, -1.0)
    given = pd.DataFrame({"user": 1, "item": list(map(ids.get, asked))})
    given = given.iloc[[n for n in order if n < len(given)]]
    both = [item for item in listed if item in asked]

    bound = recs.rec(truth=pd.concat([given, recs[-1:][["user", "item"]]]))
    assert (len(both) + 1) / (len(asked) + 1) == bound.recall(k=len(listed)).loc[1, "score"]
    if both:
        left = recs.rec(exclude=given, relevant=None, truth=recs)
        assert [item for item in listed if item not in both] == [
            item[0] for item in left.top(k=5)["item"]
        ]


DOCUMENTS = pd.DataFrame({"query": [1, 1, 2, 2], "chunk": [5, 6, 7, 5], "score": [9, 8, 9, 7]})
SESSIONS = pd.DataFrame({"session": [1, 1, 2, 2], "item": [5, 6, 7, 5], "score": [9, 8, 9, 7]})


@pytest.mark.parametrize("name", ["chunk_id", "chunkId", "chunk"])
def test_names_of_the_rows_settle_ids_of_truth(name):
    """The ids of truth are those named as in the rows if columns correspond one to one."""
    truth = pd.DataFrame({"query_id": [1, 2], "document_id": [5, 9], name: [6, 7]})
    assert 0.75 == DOCUMENTS.rec(truth=truth).mean("mrr").iloc[0, 0]
    truth = pd.DataFrame({"user_id": [2, 1], "session_id": [1, 2], "item_id": [6, 7]})
    assert 0.75 == SESSIONS.rec(truth=truth).mean("mrr").iloc[0, 0]


def test_documents_of_one_chunk_are_asked_about():
    """Ids of documents and of chunks that correspond one to one are different ids for truth."""
    rows = DOCUMENTS.assign(document_id=[6, 5, 9, 6], relevant=[0, 1, 1, 0])
    rows = rows.rename(columns={"chunk": "chunk_id"})
    assert 0.75 == rows.rec.mean("mrr").iloc[0, 0]
    truth = truth_from({1: [6], 2: [7]})
    with pytest.raises(RecframeError, match="item: 2 columns could be it, 'chunk_id', 'd"):
        rows.drop(columns="relevant").rec(truth=truth).mean("mrr")
    named = truth.rename(columns={"item": "chunk"})
    assert 0.75 == rows.drop(columns="relevant").rec(truth=named).mean("mrr").iloc[0, 0]
