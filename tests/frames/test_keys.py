"""Ids as keys: numbers, text, or neither."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from recframe.errors import RecframeError
from recframe.frames import keys, shared_objects, text_words
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


@pytest.mark.parametrize("are_runs", [True, False])
@pytest.mark.parametrize("is_strided", [True, False])
@pytest.mark.parametrize("null", [None, float("nan"), pd.NA, "".join(["i", "d", "2"])])
def test_objects_that_rows_share(null, is_strided, are_runs, monkeypatch):
    """Few objects are numbered by where they lie, those that are equal alike, nulls as such."""
    monkeypatch.setattr(shared_objects, "N_SAMPLED", 16)
    of_each = np.arange(300) // 30 if are_runs else np.random.default_rng(4).permutation(300) % 10
    objects = np.empty((10, 2), object)
    objects[:, 0] = [*(f"id{n}" for n in range(8)), "".join(["i", "d", "1"]), null]
    cells = objects[of_each]
    cells = cells[:, 0] if is_strided else cells[:, 0].copy()
    column = pd.Series(cells, name="user", dtype=object, copy=False)
    assert is_strided != column.to_numpy().flags.c_contiguous
    expected, ids = pd.factorize(column)

    assert shared_objects.find_shared(column) is not None
    codes, found = keys.factorize(column, "user")
    np.testing.assert_array_equal(expected, codes)
    pd.testing.assert_index_equal(ids, found)
    numbers = keys.find_keys(column)
    assert keys.have_nulls(numbers, column) == pd.isna(null)
    np.testing.assert_array_equal(
        expected, pd.factorize(numbers)[0] if numbers.min() >= 0 else codes
    )


def test_objects_that_are_not_shared(monkeypatch):
    """Objects that rows do not share, few rows, and objects that are no text are read as such."""
    monkeypatch.setattr(shared_objects, "N_SAMPLED", 16)
    texts = [f"{n % 9}" for n in range(300)]
    assert pa.types.is_string(keys.find_keys(pd.Series(texts, dtype=object)).type)
    assert pa.types.is_string(keys.find_keys(pd.Series(["a"] * 20, dtype=object)).type)
    for cell in (7, ("a",), [1]):
        column = pd.Series(["a", cell] * 150, dtype=object)
        assert shared_objects.find_shared(column) is not None
        assert keys.find_keys(column) is None


@pytest.mark.parametrize("order", ["grouped", "shuffled"])
def test_frames_of_objects_that_rows_share(order, monkeypatch):
    """Tables and refusals of such frames are those of text."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"user": np.repeat(np.arange(20), 30), "item": np.tile(np.arange(30), 20)})
    frame = frame.assign(score=rng.integers(0, 9, 600), relevant=rng.random(600) < 0.3)
    frame = frame if order == "grouped" else frame.sample(frac=1, random_state=1)
    texts = frame.assign(user="u" + frame["user"].astype("str"), item=frame["item"].astype("str"))
    shared = texts.copy()
    for column in ("user", "item"):
        ids, codes = np.unique(texts[column].to_numpy(object), return_inverse=True)
        shared[column] = pd.Series(ids[codes], dtype=object, index=shared.index)
    truth = texts.iloc[::7][["user", "item"]]
    monkeypatch.setattr(shared_objects, "N_SAMPLED", 16)

    assert shared_objects.find_shared(shared["user"]) is not None
    assert shared_objects.find_shared(shared["item"]) is not None
    calls = [
        lambda frame: frame.rec(short="pad").recall(k=3),
        lambda frame: frame.drop(columns="relevant").rec(truth=truth, short="pad").recall(k=3),
        lambda frame: (
            frame.drop(columns="relevant")
            .rec(truth=truth.astype(object), short="pad", ties="item")
            .recall(k=3)
        ),
    ]
    for call in calls:
        pd.testing.assert_frame_equal(call(texts), call(shared), check_index_type=False)
    for column in ("user", "item"):
        cells = shared[column].to_numpy().copy()
        cells[77] = None
        with pytest.raises(
            RecframeError,
            match=f"{column}='{column}': ids must not be null, found 1 null of 600 rows .* row 77",
        ):
            shared.assign(**{column: cells}).rec.recall(k=1)
    with pytest.raises(RecframeError, match="found 1 of 601 rows that repeat another"):
        pd.concat([shared, shared.iloc[[5]]]).rec.recall(k=1)


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
    monkeypatch.setattr(kernel_texts, "BATCH", 3)
    monkeypatch.setattr(text_words, "BATCH", 3)
    # A slice of an array begins in the midst of its bytes.
    own = pa.array(["user", *texts, "user"], width)[1:-1]
    coding, numbers = text_words.encode_texts(own, None)

    assert is_told == (coding is not None)
    if coding is None:
        assert numbers is own
    else:
        expected = [texts.index(text) for text in texts]
        assert expected == [numbers.tolist().index(number) for number in numbers.tolist()]


@pytest.mark.parametrize("width", [pa.string(), pa.large_string()])
@pytest.mark.parametrize(
    ("texts", "dtype"),
    [
        (["user10", "user9", "user", "user10", "user123"], np.uint32),
        (["", "0", "00"], np.uint32),
        (["user-10", "user-9"], np.uint64),  # a byte below "0"
        (["user/1", "user1", "user"], np.uint64),
        (["b", "", "ab", "b\0", "b\0\0", "\0b"], np.uint64),
        (["u9", "uA", "ua1"], np.uint64),
        (["ü1", "ä22", "u"], np.uint64),
        (["a" * 13, "a" * 14], None),
        (["a" * 9, "b" * 9], None),
        (["a", None], None),
    ],
)
def test_short_texts_are_numbered_in_their_order(texts, dtype, width, monkeypatch):
    """Integers of short texts are equal where these are, and in their order."""
    monkeypatch.setattr(keys, "SOME", 1)
    # A slice of an array begins in the midst of its bytes.
    numbers = keys.number_short(pa.array(["a long one before", *texts, "after"], width)[1:-1])

    assert dtype == (None if numbers is None else numbers.dtype)
    if numbers is not None:
        rank = {text: number for number, text in enumerate(sorted(set(texts)))}
        expected = [rank[text] for text in texts]
        assert expected == np.unique(numbers, return_inverse=True)[1].tolist()


def test_short_texts_that_are_too_far_apart():
    """Arrow makes no views of texts in more than 2 GiB: then there are no integers."""
    data = np.empty((1 << 31) + 100, np.uint8)  # of which next to nothing is ever in memory
    data[-30:] = ord("a")
    ends = len(data) - np.array([30, 16, 2])
    buffers = [None, pa.py_buffer(np.repeat(ends, keys.SOME)[:-1]), pa.py_buffer(data)]
    n_texts = 3 * keys.SOME - 2
    text = pa.Array.from_buffers(pa.large_string(), n_texts, buffers)

    assert keys.number_short(text) is None


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
