"""recframe.from_topk and recframe.from_lists make frames from the output of recommenders."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
from recframe import RecframeError

ROWS = [("ann", 7, -1), ("ann", 3, -2), ("bob", 5, -1)]
MATRICES = {
    "int64": np.array([[7, 3], [5, -1]]),
    "int8": np.array([[7, 3], [5, -1]], np.int8),
    "read-only": np.array([[7, 3], [5, -1]]),
    "column order": np.array([[7, 5], [3, -1]]).T,
    "float": np.array([[7, 3], [5, np.nan]]),
    "float32": np.array([[7, 3], [5, -1]], np.float32),
    "masked": np.ma.masked_array([[7, 3], [5, 9]], [[False, False], [False, True]]),
    "masked float": np.ma.masked_array([[7.0, 3.0], [5.0, 0.5]], [[0, 0], [0, 1]]),
    "lists": [[7, 3], [5, -1]],
    "object": np.array([[7, 3], [5, None]], dtype=object),
    "frame": pd.DataFrame([[7, 3], [5, -1]]),
    "nullable frame": pd.DataFrame([[7, 3], [5, None]], dtype="Int64"),
}
MATRICES["read-only"].flags.writeable = False


def rows(frame):
    """Return the rows of a frame of lists."""
    assert ["user", "item", "score"] == frame.columns.tolist()
    assert list(range(len(frame))) == frame.index.tolist()
    return list(frame.dropna(subset=["item"]).itertuples(index=False, name=None))


@pytest.mark.parametrize("kind", MATRICES)
def test_matrices(kind):
    """Every matrix of integers gives the same rows, and -1, null and masked cells give none."""
    frame = recframe.from_topk(MATRICES[kind], users=["ann", "bob"])

    assert ROWS == rows(frame)
    assert "i" == frame["item"].dtype.kind


def test_text_items():
    """Items may be text, and text and numbers stay distinct."""
    expected = [(0, "x", -1), (0, "y", -2), (1, "z", -1)]
    for matrix in ([["x", "y"], ["z", None]], np.array([["x", "y"], ["z", None]], dtype=object)):
        frame = recframe.from_topk(matrix)
        assert expected == rows(frame)
        assert pd.Series(["x"]).dtype == frame["item"].dtype
    assert [(0, "x", -1), (0, 1, -2)] == rows(recframe.from_topk([["x", 1]]))
    assert [(0, "x", -1), (0, "y", -2)] == rows(recframe.from_topk(np.array([["x", "y"]])))
    padded = recframe.from_topk(np.array([["x", -1]], dtype=object))
    assert pd.Series(["x"]).dtype == padded["item"].dtype


@pytest.mark.parametrize(
    "users",
    [
        ["ann", "bob"],
        np.array(["ann", "bob"]),
        pd.Series(["ann", "bob"], index=[5, 6]),
        ("ann", "bob"),
    ],
    ids=["list", "array", "series", "tuple"],
)
def test_users(users):
    """Users may be any sequence with an entry for each row of the matrix."""
    assert ROWS == rows(recframe.from_topk([[7, 3], [5, -1]], users))


def test_users_keep_their_dtype():
    """Users keep the dtype of their column."""
    users = pd.Series(["ann", "bob"], dtype="category")

    assert users.dtype == recframe.from_topk([[7], [5]], users)["user"].dtype


def test_scores():
    """Scores stay unchanged, and scores of cells without an item are left out."""
    scores = np.array([[0.9, 0.9], [0.3, 99.0]], np.float32)
    frame = recframe.from_topk([[7, 3], [5, -1]], scores=scores)

    assert [np.float32(x) for x in (0.9, 0.9, 0.3)] == frame["score"].tolist()
    assert np.float32 == frame["score"].dtype


class Tensor:
    """An object that NumPy can view, like a tensor on the CPU."""

    def __init__(self, values):
        self.values = np.array(values)

    def __array__(self, dtype=None, copy=None):
        """Return the values as an array."""
        return self.values if dtype is None else self.values.astype(dtype)


def test_anything_numpy_can_view():
    """Tensors are read through the array that they give."""
    frame = recframe.from_topk(
        Tensor([[7, 3], [5, -1]]), Tensor(["ann", "bob"]), Tensor([[2.0, 1.0], [3.0, 0.0]])
    )

    assert [("ann", 7, 2.0), ("ann", 3, 1.0), ("bob", 5, 3.0)] == rows(frame)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"items": [7, 3]}, r"with a row for each user \(from_lists .*\), but has shape \(2,\)"),
        ({"items": [[[7]]]}, r"but has shape \(1, 1, 1\)"),
        ({"items": [[7, 3], [5]]}, "from_lists takes lists of different lengths"),
        ({"items": [[7.5, 3]]}, "items must be whole numbers .* 7.5. Pass recframe.from_matrix"),
        ({"items": [[1e300, 3]]}, r"whole numbers or text, but are 1e\+300"),
        (
            {"items": [["x", "nan"], ["y", "nan"]]},
            r"stands for no item, but 2 are \(such as 'nan'\)",
        ),
        ({"items": [["x", ""]]}, r"but 1 are .*np.where\(np.asarray\(items\) == '', None, items\)"),
        ({"items": np.array([["x", "-1"]])}, "items must not be text .*'-1'.*from_lists takes"),
        ({"items": np.array([["x", None]]).astype(str)}, r"but 1 are \(such as 'None'\)"),
        ({"items": [[b"x", b"-1"]]}, r"but 1 are \(such as b'-1'\)"),
        ({"items": np.array([[7, 2**64 - 1]], "uint64")}, f"not be {2**64 - 1}, which is -1 made"),
        ({"items": np.array([[7, -1]]).astype("uint32")}, "which is -1 made uint32. .*signed"),
        ({"items": np.array([[7, 2**24 + 1]], "float32")}, r"float32 must .*such as 16777216\)"),
        ({"items": np.array([[7, 2.0**53]])}, "of float64 must be below 9007199254740992, from"),
        ({"items": np.array([[True, False]])}, "items must be ids, but are booleans"),
        (
            {"items": [[7, 5]], "scores": np.ma.masked_array([[2.0, 1.0]], [[0, 1]])},
            "scores must not be masked, but has 1",
        ),
        (
            {"items": [[7], [5]], "users": np.ma.masked_array([1, 2], [0, 1])},
            "users must not be masked, but has 1",
        ),
        (
            {"items": [[7, 7, 7], [7, 8, -1]]},
            r"2 are repeated \(such as user 0, item 7\). Where a repeat stands for no item",
        ),
        ({"items": [[7], [5]], "users": [1]}, "but are 1 for 2 rows"),
        (
            {"items": [[7], [5]], "users": [1, 1]},
            r"users must differ, but 1 are repeated .*such as 1\)",
        ),
        ({"items": [[7, 5]], "scores": [2, 1]}, r"but have \(2,\) for \(1, 2\)"),
        (
            {"items": [[7, 5], [7, 5]], "scores": [[1, 1], [1, 2]]},
            "but rise in 1 row .*is row 1.*-scores",
        ),
    ],
)
def test_refused_matrices(arguments, message):
    """Shapes that do not fit and contradictory lists are refused."""
    with pytest.raises(RecframeError, match=message):
        recframe.from_topk(**arguments)


def test_what_looks_like_no_item_and_is_one():
    """Masked scores of masked items, the text "nan" and small unsigned ids are read as they are."""
    masked = [np.ma.masked_array(values, [[0, 1]]) for values in ([[7, 3]], [[2.0, 1.0]])]

    assert [(0, 7, 2.0)] == rows(recframe.from_topk(masked[0], scores=masked[1]))
    assert [("ann", "nan", -1)] == rows(recframe.from_lists({"ann": ["nan"]}))
    assert [(0, 255, -1), (0, 1, -2)] == rows(recframe.from_topk(np.array([[255, 1]], "uint8")))


def test_scores_may_rise_where_no_item_is():
    """Scores of cells without an item may rise."""
    frame = recframe.from_topk([[-1, 7, 5]], scores=[[0.0, 2.0, 1.0]])

    assert [(0, 7, 2.0), (0, 5, 1.0)] == rows(frame)


def test_lists():
    """Lists of any length and type keep their order."""
    lists = {"ann": [7, 3], "bob": (5,)}
    assert ROWS == rows(recframe.from_lists(lists))
    assert ROWS == rows(recframe.from_lists({user: np.array(x) for user, x in lists.items()}))
    assert ROWS == rows(recframe.from_lists({user: iter(x) for user, x in lists.items()}))
    assert ROWS == rows(recframe.from_lists({user: pa.array(x) for user, x in lists.items()}))


def test_ids_of_lists():
    """Ids keep their types: text, tuples, and numbers next to text."""
    lists = {(1, "a"): ["x", ("y", 1), 2], (2, "b"): ["x"]}

    assert [((1, "a"), "x"), ((1, "a"), ("y", 1)), ((1, "a"), 2), ((2, "b"), "x")] == [
        row[:2] for row in rows(recframe.from_lists(lists))
    ]


@pytest.mark.parametrize("empty", [{}, {"ann": []}])
def test_no_item_at_all(empty):
    """Empty lists and matrices give a frame without items."""
    assert [] == rows(recframe.from_lists(empty))
    assert [] == rows(recframe.from_topk(np.empty((len(empty), 3), int)[:, :0]))


def test_scores_in_place_of_lists():
    """The call suggested for dicts of scores runs and keeps their ties."""
    lists = {"ann": {1: 0.5, 2: 0.5}, "bob": {2: 0.25}}
    with pytest.raises(recframe.RecframeError) as refusal:
        recframe.from_lists(lists)
    assert str(refusal.value).endswith("scores, recframe.from_runs takes a dict of them by user")
    frame = recframe.from_runs(lists)

    expected = {"user": ["ann", "ann", "bob"], "item": [1, 2, 2], "score": [0.5, 0.5, 0.25]}
    assert expected == frame.to_dict("list")


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        (
            [[1, 2]],
            r"lists must be a dict of items by user, or a frame .*but is \[\[1, 2\]\]. Pa",
        ),
        ({"ann": "abc"}, r"must be a sequence, best first, but are <class 'str'> \(user 'ann'\)"),
        ({"ann": {1, 2}}, r"<class 'set'> .*relevant items, recframe.truth_from takes"),
        ({"ann": {1: 2}}, "but are <class 'dict'> .* recframe.from_runs"),
        ({"ann": 3}, "but are <class 'int'>"),
        (
            {"bob": [1], "ann": ["x", None]},
            r"padded, but has 1 .*\(such as user 'ann', item None\)",
        ),
        (
            {"ann": [1, -1], "bob": [2, -1]},
            r"but has 2 null, empty or -1 \(such as user 'ann', item -1\). Leave",
        ),
        ({"ann": np.ma.masked_array([1, 2], [0, 1])}, "items of user 'ann' must not be masked"),
        ({"ann": [1, 2, 1], "bob": [1]}, r"1 are repeated \(such as user 'ann', item 1\)"),
        ({"ann": [1.0, 0.5], "bob": [0.2]}, r"must hold ids, but holds fractions \(such as 0\.5\)"),
    ],
)
def test_refused_lists(lists, message):
    """Items without an order, and items listed twice, are refused."""
    with pytest.raises(RecframeError, match=message):
        recframe.from_lists(lists)


@pytest.mark.parametrize("missing", ["raise", "unranked", "drop"])
@pytest.mark.parametrize("short", ["raise", "pad", "shrink", "nan"])
def test_empty_lists_keep_their_users(missing, short):
    """A user with an empty list is a user of the frame, with the value 0 against truth."""
    truth = pd.DataFrame({"user": ["ann", "nobody"], "item": [3, 7]})
    recs = recframe.from_lists({"ann": [7, 3], "nobody": []})
    options = {"missing": missing, "short": short}

    assert [1.0, 0.0] == recs.rec(truth=truth, **options).recall(k=2)["score"].tolist()
    assert [0.5, 0.0] == recs.rec(truth=truth, **options).reciprocal_rank()["score"].tolist()
    assert [1.0, 0.0] == recs.rec(truth=truth, exclude=truth.iloc[:0], **options).recall(k=2)[
        "score"
    ].tolist()
    without = recs.iloc[:2].rec(truth=truth, population="truth", **options)
    pd.testing.assert_frame_equal(without.recall(k=2), recs.rec(truth=truth, **options).recall(k=2))


LISTS = st.dictionaries(
    st.integers(0, 9), st.lists(st.integers(0, 5), unique=True, max_size=5), min_size=1
)


@given(LISTS)
def test_padded_matrix_and_lists_agree(lists):
    """Lists padded to a matrix give the frame of the lists."""
    matrix = [items + [-1] * (5 - len(items)) for items in lists.values()]
    frame = recframe.from_topk(matrix, users=list(lists))

    assert rows(recframe.from_lists(lists)) == rows(frame)


@given(LISTS, st.integers(1, 6))
def test_the_order_is_the_ranking(lists, k):
    """`top` returns each list's first items in their order."""
    frame = recframe.from_lists(lists)
    top = frame.rec.top(k=k)

    expected = [(user, item) for user in sorted(lists) for item in lists[user][:k]]
    assert expected == list(zip(top["user"], top["item"], strict=True))


def test_frames_that_say_whose_rows_they_are():
    """A frame with an index or a column of users needs `users`."""
    items = pd.DataFrame([[7, 9], [8, 7]], index=[5, 6])
    with pytest.raises(
        recframe.RecframeError, match=r"items has an index \(such as 5\) .*users=it"
    ):
        recframe.from_topk(items)
    assert [5, 5, 6, 6] == recframe.from_topk(items, users=items.index)["user"].tolist()
    assert [0, 0, 1, 1] == recframe.from_topk(items.to_numpy())["user"].tolist()
    with pytest.raises(
        recframe.RecframeError, match=r"items only, but holds a column 'user_id'\. Pass u"
    ):
        recframe.from_topk(pd.DataFrame({"user_id": [101], "first": [7]}))


@pytest.mark.parametrize("dtype", ["uint8", "uint32", "uint64"])
def test_unsigned_items(dtype):
    """Unsigned ids are ordinary, except for the one that -1 becomes."""
    assert [7, 3] == [row[1] for row in rows(recframe.from_topk(np.array([[7, 3]], dtype)))]
    assert [255, 3] == [row[1] for row in rows(recframe.from_topk(np.array([[255, 3]], dtype)))]
    if dtype != "uint8":
        top = np.array([[7, -1]]).astype(dtype)
        with pytest.raises(recframe.RecframeError, match="which is -1 made uint"):
            recframe.from_topk(top)
