"""recframe.truth_from makes frames of relevant items from dicts and sparse matrices."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import recframe
import reference
import strategies
from recframe import RecframeError

PAIRS = [("ann", 3), ("bob", 5), ("bob", 7)]


def rows(frame):
    """Return the rows of a frame of truth."""
    assert ["user", "item", "relevance"][: frame.shape[1]] == frame.columns.tolist()
    return sorted(frame.itertuples(index=False, name=None))


@pytest.mark.parametrize(
    "kind", [set, frozenset, list, tuple, np.array, pd.Series, pd.Index, iter], ids=str
)
def test_dicts_of_items(kind):
    """Items may be in any collection, and a user without items has no row."""
    truth = {"ann": kind([3]), "bob": kind([5, 7]), "cat": kind([])}
    if kind is np.array:
        truth["cat"] = np.array([], int)

    assert PAIRS == rows(recframe.truth_from(truth))


def test_dicts_of_grades():
    """Grades become relevance, to which min_relevance applies."""
    truth = recframe.truth_from({"ann": {3: 5, 4: 1}, "bob": {5: 2}, "cat": {}})

    assert [("ann", 3, 5), ("ann", 4, 1), ("bob", 5, 2)] == rows(truth)
    recs = recframe.from_lists({"ann": [4, 3], "bob": [5]})
    table = recs.rec(truth=truth, min_relevance=2, short="pad").recall(k=1)
    assert [0.0, 1.0] == table["score"].tolist()


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("form", ["array", "matrix"])
def test_sparse_matrices(kind, form):
    """Every sparse format of SciPy gives the same rows, with its values as relevance."""
    dense = np.array([[0, 2, 0], [1, 0, 3]])
    truth = getattr(scipy.sparse, f"{kind}_{form}")(dense)

    expected = [("ann", 20, 2), ("bob", 10, 1), ("bob", 30, 3)]
    assert expected == rows(recframe.truth_from(truth, ["ann", "bob"], [10, 20, 30]))
    assert [(0, 1, 2), (1, 0, 1), (1, 2, 3)] == rows(recframe.truth_from(truth))


def test_what_is_stored():
    """Stored zeros are not relevant, and repeated cells are added."""
    twice = scipy.sparse.coo_array(([1, 1, 0], ([0, 0, 1], [2, 2, 1])), shape=(2, 3))
    csr = scipy.sparse.csr_array(([1, 1], [2, 2], [0, 2, 2]), shape=(2, 3))

    assert [(0, 2, 2)] == rows(recframe.truth_from(twice)) == rows(recframe.truth_from(csr))
    assert 2 == csr.nnz
    assert [(0, 0, True)] == rows(recframe.truth_from(scipy.sparse.csr_array([[True, False]])))
    assert [] == rows(recframe.truth_from(scipy.sparse.csr_array((2, 3))))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"truth": {"ann": "abc"}},
            r"must be a set or list, but are <class 'str'> \(user 'ann'\). Pass \[item\] where a u",
        ),
        ({"truth": {"ann": 3}}, r"but are <class 'int'> .*. Pass \[item\] where a user has one"),
        (
            {"truth": {"ann": {3}, "bob": {5: 1}}},
            "grades for all users or none, but has 1 of 2 with",
        ),
        ({"truth": {"ann": {3: "x"}}}, r"grades of truth must be numbers, but is .*such as 'x'\)"),
        (
            {"truth": {"ann": [3, 3]}},
            r"1 are repeated \(such as user 'ann', item 3\). Where a repeat",
        ),
        ({"truth": {"ann": [3, None]}}, "truth must not be padded, but has 1 null, empty or -1"),
        ({"truth": {None: [3]}}, "truth must not have a null user, but 1 of 1 are null"),
        ({"truth": {"ann": [3]}, "users": [1]}, "users and items are for a matrix, not d"),
        (
            {"truth": pd.DataFrame()},
            r"truth= takes that as it is: pass truth=frame, or frame.explode\(",
        ),
        ({"truth": [{3}]}, r"Pass recframe.truth_from\(dict\(zip\(users, truth\)\)\) where each m"),
        ({"truth": np.eye(2)}, r"Pass recframe.truth_from\(scipy.sparse.csr_array\(truth\)\) wher"),
        ({"truth": scipy.sparse.csr_array([[-1]])}, r"0 or more, but has 1 .*-1\). Pass truth > 0"),
        (
            {"truth": scipy.sparse.csr_array([[np.nan]])},
            r"0 or more, but has 1 other \(such as na",
        ),
        ({"truth": scipy.sparse.csr_array([[1j]])}, "truth must be numbers, but is complex128"),
        ({"truth": scipy.sparse.coo_array([1, 0])}, "but has 1 dimension. Pass truth.reshape"),
        (
            {"truth": scipy.sparse.csr_array([[1]]), "users": [1, 2]},
            "users must be as many as the rows of truth, but are 2 for 1 row$",
        ),
        (
            {"truth": scipy.sparse.csr_array([[1]]), "items": [1, 2]},
            "items must be as many as the columns of truth, but are 2 for 1 column$",
        ),
    ],
)
def test_refused_truth(arguments, message):
    """An unclear or contradictory truth is refused with the call to make instead."""
    with pytest.raises(RecframeError, match=message):
        recframe.truth_from(**arguments)


def test_truth_of_another_form_is_told_of():
    """A dict or sparse matrix passed as truth is refused with the call of truth_from."""
    recs = recframe.from_lists({"ann": [3]})
    for truth in ({"ann": {3}}, scipy.sparse.csr_array([[1]])):
        with pytest.raises(RecframeError, match=r"Pass recframe.truth_from\(truth\)"):
            recs.rec(truth=truth)


@pytest.mark.parametrize("label", ["item", "bought"])
def test_lists_in_cells_of_truth(label):
    """A column of lists in truth is read as the rows that pandas makes of it."""
    recs = recframe.from_lists({"ann": [3]})
    truth = pd.DataFrame({"user": ["ann"], label: [[3, 5]]})
    for form in (truth, truth.set_index("user")[label], pa.Table.from_pandas(truth)):
        assert [0.5] == recs.rec(truth=form).recall(k=1)["score"].tolist()
    options = {"truth": truth.explode(label), "truth_item": label}
    assert [0.5] == recs.rec(**options).recall(k=1)["score"].tolist()


@given(st.data())
def test_all_forms_equal_the_reference(data):
    """A dict of sets, a dict of grades and a sparse matrix give the reference's values."""
    n_items = 5
    lists = data.draw(
        st.dictionaries(
            st.integers(0, 3), st.lists(st.integers(0, 4), unique=True, min_size=1), min_size=1
        )
    )
    sets = {
        user: {items[0]} | data.draw(st.sets(st.integers(0, 4))) for user, items in lists.items()
    }
    matrix = scipy.sparse.lil_array((4, n_items), dtype=int)
    for user, items in sets.items():
        for item in items:
            matrix[user, item] = 1
    scored = [
        (user, -place, item in sets[user])
        for user, items in lists.items()
        for place, item in enumerate([*items, *sorted(sets[user] - set(items))])
    ]
    for truth in (
        recframe.truth_from(sets),
        recframe.truth_from({user: dict.fromkeys(items, 1) for user, items in sets.items()}),
        recframe.truth_from(matrix),
    ):
        recs = recframe.from_lists(lists).rec(truth=truth, short="pad")
        actual = recs.evaluate(["recall@1", "precision@1"])["score"]
        for name in ("recall", "precision"):
            expected = reference.evaluate(
                scored,
                name,
                1,
                ties="expected",
                short="pad",
                missing="raise",
                zero_division=float("nan"),
                min_relevance=None,
                min_score=None,
            )
            for user, value in actual[f"{name}@1"].items():
                strategies.assert_value(expected[user], value, name)


def test_a_matrix_of_relevance_in_a_frame():
    """A frame of a column for each item is refused with the line that makes rows of it."""
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 0]}, index=pd.Index([1, 2], name="user"))
    with pytest.raises(recframe.RecframeError, match=r"relevance of items, frame\.ren") as refused:
        recframe.truth_from(frame)
    truth = eval(str(refused.value).partition("relevance of items, ")[2], {"frame": frame})
    recs = recframe.from_lists({1: ["a", "b"], 2: ["a", "b"]})
    assert 0.75 == recs.rec(truth=truth).mean("mrr").iloc[0, 0]
