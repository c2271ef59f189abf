"""recframe.from_matrix makes frames from dense matrices of scores."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import recframe
from recframe import RecframeError

SCORES = [[0.1, 0.9, 0.5], [0.3, -np.inf, 0.2]]
ROWS = [
    ("ann", "x", 0.1),
    ("ann", "y", 0.9),
    ("ann", "z", 0.5),
    ("bob", "x", 0.3),
    ("bob", "z", 0.2),
]
IDS = {"users": ["ann", "bob"], "items": ["x", "y", "z"]}


class Tensor:
    """An object that NumPy can view, like a tensor on the CPU."""

    def __init__(self, values):
        """Hold the values."""
        self.values = values

    def __array__(self, dtype=None, copy=None):
        """Return the values as an array."""
        return np.array(self.values, dtype)


class Gradient:
    """An object that NumPy cannot view, like a tensor with gradients."""

    def __array__(self, dtype=None, copy=None):
        """Refuse as PyTorch does."""
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use detach().")


def rows(frame):
    """Return the rows of a frame of scores."""
    assert ["user", "item", "score"] == frame.columns.tolist()
    assert list(range(len(frame))) == frame.index.tolist()
    return list(frame.itertuples(index=False, name=None))


@pytest.mark.parametrize(
    "scores",
    [
        SCORES,
        np.array(SCORES),
        np.array(SCORES, order="F"),
        Tensor(SCORES),
        np.ma.masked_array(np.nan_to_num(SCORES, neginf=9.0), [[0, 0, 0], [0, 1, 0]]),
        np.ma.masked_array([[0.1, 0.9, 0.5], [0.3, np.nan, 0.2]], [[0, 0, 0], [0, 1, 0]]),
        np.array(SCORES, object),
    ],
    ids=["lists", "array", "columns", "tensor", "masked", "masked NaN", "objects"],
)
def test_matrices(scores):
    """A cell is a row unless it is -inf or masked."""
    assert ROWS == rows(recframe.from_matrix(scores, **IDS))


def test_frames_have_labels():
    """A DataFrame's index and columns are ids unless ids are passed; an array's are numbered."""
    frame = pd.DataFrame(SCORES, index=["ann", "bob"], columns=["x", "y", "z"])

    assert ROWS == rows(recframe.from_matrix(frame))
    assert [1, 2] == recframe.from_matrix(frame, users=[1, 2])["user"].unique().tolist()
    assert [(0, 0, 5), (0, 1, 6)] == rows(recframe.from_matrix([[5, 6]]))
    assert [(0, 0, 5)] == rows(recframe.from_matrix(pd.DataFrame([[5]], dtype="Int64")))
    pairs = pd.DataFrame([[5]], index=pd.MultiIndex.from_tuples([("a", 1)]))
    assert [(("a", 1), 0, 5)] == rows(recframe.from_matrix(pairs))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint64"])
def test_scores_keep_their_dtype(dtype):
    """Scores and ids keep their dtypes."""
    frame = recframe.from_matrix(np.array([[5, 6]], dtype), items=np.array([7, 8], "int16"), k=1)

    assert [dtype, "int16"] == [str(frame[name].dtype) for name in ("score", "item")]
    assert [(0, 8, 6)] == rows(frame)


def test_ties_at_the_cut_are_kept():
    """All items that tie with the k-th best are kept, and lists of fewer than k stay complete."""
    scores = [[1, 2, 2, 3], [4, 4, 4, 4]]
    kept = recframe.from_matrix(scores, k=2)

    assert [(0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3)] == [x[:2] for x in rows(kept)]
    assert [(0, 3)] == [x[:2] for x in rows(recframe.from_matrix(scores[:1], k=1))]
    assert 5 == len(recframe.from_matrix(SCORES, k=3)) == len(recframe.from_matrix(SCORES, k=9))
    masked = np.ma.masked_array([[-128, 5, 4]], [[1, 0, 0]], dtype="int8")
    assert [(0, 1, 5), (0, 2, 4)] == rows(recframe.from_matrix(masked, k=2))


@given(st.data())
def test_the_k_best_give_the_metrics_of_all(data):
    """The k best cells give the metrics of all cells up to k, under every tie rule."""
    n_items, k = data.draw(st.integers(3, 6)), data.draw(st.integers(1, 3))
    cells = st.sampled_from([0, 1, 2, -np.inf]) if data.draw(st.booleans()) else st.integers(0, 2)
    row = st.lists(cells, min_size=n_items, max_size=n_items)
    scores = np.array(data.draw(st.lists(row, min_size=1, max_size=4)))
    # Everyone has an item, and truth has one that is kept.
    scores[:, 0], scores[0, 0] = 1, 3
    truth = recframe.truth_from(
        {user: {0} | data.draw(st.sets(st.integers(0, 6))) for user in range(len(scores) + 1)}
    )
    metrics = [f"{name}@{k}" for name in ("precision", "recall", "ndcg", "average_precision")]
    ties = data.draw(st.sampled_from(["expected", "first", "last", "best", "worst"]))
    options = {"population": "all", "truth": truth, "short": "pad", "ties": ties}
    ids = {"users": range(len(scores)), "items": range(n_items)}
    expected = recframe.from_matrix(scores, **ids).rec(**options).evaluate(metrics)
    best = recframe.from_matrix(scores, **ids, k=k)

    pd.testing.assert_frame_equal(expected, best.rec(**options).evaluate(metrics), rtol=1e-15)


def test_blocks_of_rows(monkeypatch):
    """A matrix read row by row gives the same frame as one read at once."""
    scores = np.random.default_rng(1).integers(0, 9, (20, 7)).astype(float)
    whole = [recframe.from_matrix(scores, k=k) for k in (None, 3)]
    monkeypatch.setattr("recframe.frames.constructors.matrices.N_CELLS", 1)
    for expected, k in zip(whole, (None, 3), strict=True):
        pd.testing.assert_frame_equal(expected, recframe.from_matrix(scores, k=k))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_no_cell_at_all(shape):
    """An empty matrix gives a frame without rows."""
    assert [] == rows(recframe.from_matrix(np.empty(shape), k=1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": [0.5]}, r"scores must be a matrix with a row for each user .* shape \(1,\)"),
        ({"scores": [["x"]]}, r"scores must be numbers, but is <U1 \(such as 'x'\)"),
        (
            {"scores": np.ma.masked_array([[np.nan, np.nan]], [[0, 1]])},
            "scores must not be NaN, but 1 are",
        ),
        ({"scores": [[True]]}, r"scores must be numbers, but is bool \(such as True\)"),
        (
            {"scores": [[0.5, np.nan]]},
            r"scores must not be NaN, but 1 are. Pass np.where\(np.isnan\(scores\), -np.inf, sco",
        ),
        (
            {"scores": pd.DataFrame([[0.5, None]])},
            r"scores must not be NaN, but 1 are. .*scores.fillna\(-np.inf\) of a frame, where that",
        ),
        ({"scores": pd.DataFrame([[5, None]], dtype="Int64")}, "scores must not be NaN, but 1 are"),
        (
            {"scores": pd.DataFrame({"user_id": [1], "x": [0.5]})},
            r"but holds a column 'user_id'. Pass users= that column, and scores.drop\(columns='us",
        ),
        (
            {"scores": csr_array([[0, 1]])},
            r"scores must be dense, but is .*. Pass scores.toarray\(\) if .* coo.data}\)",
        ),
        ({"scores": Gradient()}, r"scores must be a matrix .*requires grad. Use detach\(\)"),
        ({"scores": [[1]], "users": [1, 2]}, "as many as the rows of scores, but are 2 for 1 row$"),
        (
            {"scores": [[1]], "items": [1, 2]},
            "as many as the columns of scores, but are 2 for 1 col",
        ),
        (
            {"scores": [[1, 2]], "items": [1, 1]},
            r"items must differ, but 1 are repeated .*such as 1\)",
        ),
        (
            {"scores": [[1, 2]], "items": [1, None]},
            "items must not have a null item, but 1 of 2 are null",
        ),
        ({"scores": [[1]], "k": 0}, "k must be an integer of 1 or more, but is 0"),
    ],
)
def test_refused_matrices(arguments, message):
    """A matrix with two possible meanings is refused with the call for each."""
    with pytest.raises(RecframeError, match=message):
        recframe.from_matrix(**arguments)


def test_frames_of_other_libraries():
    """A table of Polars is no matrix, because a column may hold users."""
    table = pytest.importorskip("polars").DataFrame({"user": [1], "x": [0.5]})
    for function, name in ((recframe.from_matrix, "scores"), (recframe.from_topk, "items")):
        with pytest.raises(RecframeError, match=rf"a polars DataFrame. Pass {name}.to_pandas\(\)"):
            function(table)


def test_a_sparse_matrix_by_the_line_shown():
    """The code in the message about a sparse matrix makes the frame of its stored cells."""
    coo = csr_array([[0, 0.5], [0.25, 0]]).tocoo()
    frame = pd.DataFrame({"user": coo.row, "item": coo.col, "score": coo.data})

    assert [(0, 1, 0.5), (1, 0, 0.25)] == rows(frame)


@pytest.mark.parametrize("in_index", [True, False])
def test_a_pivot_of_items(in_index):
    """A matrix of scores as a frame is refused with the call that makes rows of it."""
    rows = {"customer": ["a", "a", "b", "b"], "sku": [1, 2, 1, 2], "stars": [0.1, 0.2, 0.3, 0.4]}
    df = pd.DataFrame(rows).pivot_table("stars", "customer", "sku")
    df = df if in_index else df.reset_index()
    truth = pd.DataFrame({"customer": ["a", "b"], "sku": [2, 1]})
    with pytest.raises(recframe.RecframeError, match="where cells are scores of items") as asked:
        df.rec(truth=truth).recall(k=1)
    call = re.search(r"recframe\.from_matrix\(.*\)(?= makes rows)", str(asked.value))[0]
    rec = eval(call, {"recframe": recframe, "df": df}).rec(truth=truth)
    assert [1.0, 0.0] == rec.recall(k=1)["score"].tolist()
    models = df.rename_axis("model", axis=1)
    with pytest.raises(recframe.RecframeError, match=r"score=\[1, 2\], truth=truth\), where item"):
        models.rec(truth=truth).recall(k=1)


@pytest.mark.parametrize("first", [0, 1])
def test_ranks_cut_at_k(first):
    """Ranks whose highest would be kept give a warning; scores and negative ranks give none."""
    scores = np.random.default_rng(0).random((20, 12))
    ranks = (-scores).argsort(axis=1).argsort(axis=1) + first
    with pytest.warns(recframe.RecframeWarning, match=r"once, as ranks .*; pass -scores if"):
        recframe.from_matrix(ranks, k=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = recframe.from_matrix(-ranks, k=5)
        expected = recframe.from_matrix(scores, k=5)
        recframe.from_matrix(np.arange(12).reshape(1, 12), k=5)  # one user by chance
    pd.testing.assert_frame_equal(expected[["user", "item"]], kept[["user", "item"]])


def test_pivots_that_are_filled_with_0():
    """A pivot that 0 fills gives a warning, and its answer ranks the rows alone."""
    user, place = np.divmod(np.arange(60), 3)
    rows = pd.DataFrame(
        {"user": user, "item": (7 * user + 5 * place) % 20, "score": 0.9 - place / 4}
    )
    scores = rows.pivot_table(index="user", columns="item", values="score", fill_value=0)
    with pytest.warns(
        recframe.RecframeWarning, match="340 of 400 scores are 0 and .* fill_value=0"
    ):
        assert len(recframe.from_matrix(scores)) == scores.size
    with warnings.catch_warnings(action="error"):
        kept = recframe.from_matrix(scores.where(scores > 0, -np.inf))
        recframe.from_matrix(scores.to_numpy())  # Arrays of models often have many scores of 0.
        recframe.from_matrix(scores - 0.1)
    expected = rows.sort_values(["user", "item"], ignore_index=True)
    pd.testing.assert_frame_equal(expected, kept, check_dtype=False)


def test_axes_the_other_way_round():
    """A frame whose columns are users is refused, one of similar items is not."""
    scores = pd.DataFrame([[0.1, 0.9], [0.3, 0.2]]).rename_axis(index="item_id", columns="user_id")
    with pytest.raises(RecframeError, match=r"axes are named 'item_id' and 'user_id'. Pass scores"):
        recframe.from_matrix(scores)
    alike = recframe.from_matrix(scores.rename_axis(columns="item_id"))

    assert recframe.from_matrix(scores.T).to_numpy().tolist()[1] == [0, 1, 0.3]
    assert alike["score"].tolist() == [0.1, 0.9, 0.3, 0.2]


def test_an_index_that_was_saved_as_csv():
    """The column that pandas reads of a saved index is no item."""
    scores = pd.DataFrame({"Unnamed: 0": [0, 1], "x": [0.1, 0.2]})
    with pytest.raises(RecframeError, match=r"'Unnamed: 0' is the index of a frame that was saved"):
        recframe.from_matrix(scores)


def test_columns_in_the_order_of_their_characters():
    """Numbered columns of items must be in the order of their numbers, as advice shows them."""
    wide = pd.DataFrame({f"rec_{n}": [n, 100 + n] for n in (1, 10, 2)}).assign(user=["a", "b"])
    with pytest.raises(RecframeError, match="items must come best first, but their columns are"):
        recframe.from_topk(wide[["rec_1", "rec_10", "rec_2"]], users=wide["user"])
    with pytest.raises(
        RecframeError, match=r"from_topk\(df\[\['rec_1', 'rec_2', 'rec_10'\]\], use"
    ):
        wide.rec(truth=pd.DataFrame({"user": ["a"], "item": [1]})).mean("mrr")

    assert [1, 2, 10] == recframe.from_topk(wide[["rec_1", "rec_2", "rec_10"]])["item"].tolist()[:3]


def test_ids_in_another_order_than_the_labels():
    """Ids that are a frame's own labels in another order are refused, as pivot sorts labels."""
    scores = pd.DataFrame([[0.1, 0.2], [0.4, 0.3]], index=["ann", "bob"], columns=["tea", "jam"])
    whole = recframe.from_matrix(scores)

    pd.testing.assert_frame_equal(whole, recframe.from_matrix(scores, ["ann", "bob"]))
    assert ["cat", "dan"] == recframe.from_matrix(scores, ["cat", "dan"])["user"].unique().tolist()
    with pytest.raises(RecframeError, match=r"^users must be in the order of the frame, but begin"):
        recframe.from_matrix(scores, users=["bob", "ann"])
    with pytest.raises(RecframeError, match=r"with 'tea'\. Leave items= out\.$"):
        recframe.from_matrix(scores, items=["jam", "tea"])
    with pytest.raises(RecframeError, match=r"^users must be in the order"):
        recframe.from_topk(scores.round().astype(int), users=["bob", "ann"])
    by_position = scores.reset_index(drop=True)
    assert [1, 0] == recframe.from_matrix(by_position, users=[1, 0])["user"].unique().tolist()


def read_advice(df, names):
    """Return the frame that the call in a refusal of a frame makes."""
    with pytest.raises(RecframeError) as refused:
        df.rec(**names).mean("mrr")
    call = re.search(r"hold the items of each rank, (.*) makes rows of them", str(refused.value))[1]
    return eval(call, {"df": df, "recframe": recframe})


@pytest.mark.parametrize("as_label", [int, str])
def test_columns_numbered_by_ranks_hold_items(as_label):
    """Distinct integers in columns from 0 on are items, which from_topk reads."""
    frame = pd.DataFrame([[4, 9, 2], [7, 1, 4]]).rename(columns=as_label)
    truth = pd.DataFrame({"user_id": ["u", "v"], "item_id": [9, 1]})
    made = read_advice(frame.assign(user_id=["u", "v"]), {"truth": truth})
    assert [4, 9, 2, 7, 1, 4] == made["item"].tolist()
    assert 0.5 == made.rec(truth=truth).mean("mrr").iloc[0, 0]


def test_repeated_numbers_are_cells_of_a_matrix():
    """Columns of integers that repeat in a row hold scores, so from_matrix reads them."""
    frame = pd.DataFrame([[4, 4, 2], [7, 1, 4]]).assign(user_id=["u", "v"])
    truth = pd.DataFrame({"user_id": ["u", "v"], "item_id": [1, 1]})
    with pytest.raises(RecframeError, match=r"pass df.rec\(item=\.\.\., score="):
        frame.rec(truth=truth).mean("mrr")


def test_wide_items_have_wide_scores():
    """Columns item_1, score_1 and so on are read by from_topk with both, in the order of ranks."""
    ranks = range(10, 0, -1)
    cells = {f"item_{rank}": [f"a{rank}", f"b{rank}"] for rank in ranks}
    cells |= {f"score_{rank}": [1 / rank, 2 / rank] for rank in ranks}
    frame = pd.DataFrame(cells).assign(user=["u", "v"])
    truth = pd.DataFrame({"user": ["u", "v"], "item": ["a1", "b2"]})
    made = read_advice(frame, {"truth": truth})
    assert 0.75 == made.rec(truth=truth).mean("mrr").iloc[0, 0]
    with pytest.raises(RecframeError, match=r"item: no column found .*pass df.rec\(item="):
        frame.assign(price=0.5).rec(truth=truth).mean("mrr")


def test_wide_truth_has_a_column_of_users():
    """The call that stacks wide truth leaves out the column of users."""
    frame = pd.DataFrame({"user": ["u", "v"], "item": ["a", "b"], "score": 1.0})
    truth = pd.DataFrame({"user": ["u", "v"], "a": [1, 0], "b": [0, 0]}).rename_axis(columns="item")
    with pytest.raises(RecframeError, match=r"relevance of items, pass truth") as refused:
        frame.rec(truth=truth).mean("mrr")
    read = eval(str(refused.value).rpartition("pass ")[2], {"truth": truth})
    assert [1, 0, 0, 0] == read["relevant"].tolist()


def test_lists_of_candidates_are_exploded():
    """Lists of scores and relevance, which need not be sorted, become rows by explode."""
    df = pd.DataFrame({"user": ["u"], "y_true": [[0, 1, 0]], "y_score": [[0.1, 0.3, 0.2]]})
    with pytest.raises(RecframeError, match=r"holds lists, df\.explode") as refused:
        df.rec.mean("mrr")
    call = re.search(r"df.explode\(.*?\)", str(refused.value))[0]
    assert 1 == eval(call, {"df": df}).rec.mean("mrr").iloc[0, 0]


def test_exclude_after_a_cut():
    """Lists that exclude made shorter than a cut-off are refused, and the cause is named."""
    scores = [[0.9, 0.8, 0.7, 0.6], [0.9, 0.8, 0.1, 0.7]]
    truth, seen = recframe.truth_from({0: [2], 1: [3]}), recframe.truth_from({0: [0], 1: [0]})
    cut, whole = (
        recframe.from_matrix(scores, k=k).rec(truth=truth, exclude=seen) for k in (2, None)
    )
    with pytest.raises(recframe.RecframeError, match="were cut before exclude took rows from them"):
        cut.mean("recall@2")
    assert 1.0 == whole.mean("recall@2").iloc[0, 0]
