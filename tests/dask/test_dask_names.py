"""recframe.dask names its tasks so that different frames never share a result."""

import dask
import dask.dataframe as dd
import pandas as pd
import pytest

import recframe.dask  # noqa: F401 - registers ddf.rec
from dask_frames import USERS, interactions


@pytest.fixture(autouse=True)
def texts():
    """Keep ids of text as in pandas."""
    with dask.config.set({"scheduler": "threads", "dataframe.convert-string": False}):
        yield


NUMBERS, TEXTS = pd.Series([1, 1, 2, 3]), pd.Series(["a", "a", "b", "c"])
BESIDE_NULL = pd.Series([1, 1, 2, None], dtype="Int64")
ALIKE = {  # ids of the same values in two dtypes
    "Int64": (NUMBERS, NUMBERS.astype("Int64")),
    "Float64": (NUMBERS.astype("float64"), NUMBERS.astype("Float64")),
    "Int32": (BESIDE_NULL, BESIDE_NULL.astype("Int32")),
    "Float64 beside a null": (BESIDE_NULL, BESIDE_NULL.astype("Float64")),
    "string": (TEXTS.astype("str"), TEXTS.astype("string")),
    "category": (NUMBERS.astype("category"), NUMBERS.astype("Int64").astype("category")),
}


def with_ids(ids, *, as_index):
    """Return rows of these users, as a column or as the index."""
    frame = pd.DataFrame({"user": ids, "score": range(4), "relevant": True})
    return frame[ids.notna()].set_index("user") if as_index else frame


@pytest.mark.parametrize("as_index", [False, True])
@pytest.mark.parametrize("ids", ALIKE.values(), ids=ALIKE)
def test_dtypes_are_part_of_the_name(ids, as_index):
    """Frames with equal values in different dtypes keep their dtypes if computed together."""
    frames = [with_ids(alike, as_index=as_index) for alike in ids]
    lazy = [dd.from_pandas(frame).rec(missing="drop").recall(k=1) for frame in frames]

    for frame, actual in zip(frames, dask.compute(*lazy), strict=True):
        pd.testing.assert_frame_equal(frame.rec(missing="drop").recall(k=1), actual)


def test_places_are_part_of_the_name():
    """Frames with columns in another order do not share results."""
    scores = [pd.array(values, "Float64") for values in ([0.5, 0.9], [0.9, 0.5])]
    frame, other = (pd.DataFrame({"user": [1, 1], "relevant": [0, 1]}) for _ in range(2))
    frame["a_score"], frame["b_score"] = scores
    other["b_score"] = scores[0]
    other.insert(2, "a_score", scores[1])  # It is stored after b_score.
    lazy = [dd.from_pandas(each).rec.recall(k=1) for each in (frame, other)]

    for each, actual in zip((frame, other), dask.compute(*lazy), strict=True):
        pd.testing.assert_frame_equal(each.rec.recall(k=1), actual)


def test_truth_of_another_dtype_has_another_name():
    """Truth with equal values in another dtype has another name."""
    ddf = dd.from_pandas(pd.DataFrame({"user": ["a", "b"], "item": [1, 1], "score": 0.5}))
    truths = [pd.DataFrame({"user": ids, "item": 1})[1:] for ids in ALIKE["string"]]
    lazy = [ddf.rec(truth=truth).recall(k=1) for truth in truths]

    assert lazy[0]._name != lazy[1]._name


@pytest.mark.parametrize("ids", USERS)
def test_equal_frames_share_a_name(ids):
    """Equal frames have one name, so that only one is computed."""
    first, second = (dd.from_pandas(interactions(ids)).rec(short="pad").recall(k=1) for _ in "ab")

    assert first._name == second._name
