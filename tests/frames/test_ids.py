"""Ids are grouped, matched, joined and sorted by value, in any dtype."""

import pickle
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from recframe.errors import RecframeError
from recframe.frames import ids as module
from recframe.frames.id_matching import append, match
from recframe.frames.ids import encode, find_users, sort_ids

# Each kind has distinct ids in sorted order.
IDS = {
    "int64": pd.Series([-3, 0, 7, 8]),
    "far apart": pd.Series([-(2**63), 0, 2**53, 2**53 + 1, 2**63 - 1]),
    "int8": pd.Series([-128, 0, 127], dtype="int8"),
    "int32": pd.Series([-5, 0, 3], dtype="int32"),
    "positive int32": pd.Series([0, 3, 9], dtype="int32"),
    "high int32": pd.Series([2**31 - 3, 2**31 - 1], dtype="int32"),
    "uint8": pd.Series([0, 200, 255], dtype="uint8"),
    "uint64": pd.Series([0, 2**63, 2**64 - 1], dtype="uint64"),
    "high uint64": pd.Series([2**64 - 3, 2**64 - 1], dtype="uint64"),
    "Int64": pd.Series([-(2**62) - 1, 3, 4], dtype="Int64"),
    "int64[pyarrow]": pd.Series([3, 4, 2**62 + 1], dtype="int64[pyarrow]"),
    "float": pd.Series([-2.0, -0.5, 0.0, 1.0, 3.0]),
    "bool": pd.Series([False, True]),
    "str": pd.Series(["", "10", "9", "Z", "a", "é", "～", "😀"], dtype="str"),  # noqa: RUF001
    "string": pd.Series(["user1", "user10", "user2"], dtype="string"),
    "string[pyarrow]": pd.Series(["a", "a\0", "b"], dtype="string[pyarrow]"),
    "large string": pd.Series(["a" * 300, "b"], dtype=pd.ArrowDtype(pa.large_string())),
    "objects": pd.Series(["a", "b", "é"], dtype=object),
    "no UTF-8": pd.Series(["a", "b", "\ud800"], dtype=object),
    "numbers": pd.Series([1, 2.5, 2**70], dtype=object),
    "tuples": pd.Series([(1, "a"), (1, "b"), (2, "a")], dtype=object),
    "dates": pd.Series([date(2026, 1, 1), date(2026, 1, 2)], dtype=object),
    "bytes": pd.Series([b"", b"a", b"\xff"], dtype=object),
    "datetime": pd.Series(pd.to_datetime(["2026-01-01", "2026-01-02"])),
    "categories": pd.Series(pd.Categorical(list("bca"), ["unused", "b", "c", "a"])),
    "categories of numbers": pd.Series(pd.Categorical([9, 1], [9, 5, 1])),
}
ORDERS = ["grouped", "in runs", "turned", "shuffled"]


def repeat(ids, order):
    """Return a column with each id four times in an order, and the number of each row's id."""
    numbers = np.repeat(np.arange(len(ids)), 4)
    rng = np.random.default_rng(7)
    if order == "in runs":
        numbers = np.concatenate([numbers, numbers])
    elif order == "turned":
        numbers = numbers[::-1]
    elif order == "shuffled":
        numbers = rng.permutation(numbers)
    return ids.take(numbers).reset_index(drop=True).rename("user"), numbers


@pytest.fixture(params=[False, True], ids=["at once", "in slices"])
def is_cut(request, monkeypatch):
    """Decide whether rows are read at once, or in slices by three threads."""
    if request.param:
        monkeypatch.setenv("RECFRAME_MAX_THREADS", "3")
        monkeypatch.setattr("recframe.kernel.threads.ROWS_PER_THREAD", 3)
        monkeypatch.setattr(module, "N_FIRST_ROWS", 4)
    return request.param


@pytest.mark.usefixtures("is_cut")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", IDS)
def test_users_of_rows(kind, order):
    """Each row belongs to the user of its id, each user occurs once, and users can be sorted."""
    column, numbers = repeat(IDS[kind], order)
    users = find_users(column.to_frame(), ["user"])

    assert column.tolist() == users.ids.take(users.groups.codes).tolist()
    assert (column.dtype, "user") == (users.ids.dtype, users.ids.name)
    assert len(IDS[kind]) == len(users.ids) == users.groups.n_groups
    assert IDS[kind].tolist() == users.ids.take(sort_ids(users.ids)).tolist()
    sizes = np.diff(users.groups.offsets)
    assert np.bincount(numbers).tolist() == sizes[sort_ids(users.ids)].tolist()


@pytest.mark.usefixtures("is_cut")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("other", ["int64", "objects", "categories"])
@pytest.mark.parametrize("kind", ["int64", "str", "categories", "numbers"])
def test_users_of_two_columns(kind, other, order):
    """Each combination of two ids in the rows is a user, sorted by the first column first."""
    first, number = repeat(IDS[kind], order)
    second, others = repeat(IDS[other], "shuffled")
    n_rows = min(len(first), len(second))
    columns = [first[:n_rows], second[:n_rows].rename("other")]
    users = find_users(pd.concat(columns, axis=1), ["user", "other"])
    pairs = list(zip(number[:n_rows].tolist(), others[:n_rows].tolist(), strict=True))
    expected = [
        (IDS[kind].tolist()[own], IDS[other].tolist()[beside]) for own, beside in sorted(set(pairs))
    ]

    assert list(zip(*columns, strict=True)) == users.ids.take(users.groups.codes).tolist()
    assert expected == users.ids.take(sort_ids(users.ids)).tolist()
    assert ["user", "other"] == users.ids.names


@pytest.mark.usefixtures("is_cut")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", IDS)
def test_ids_as_codes(kind, order):
    """Codes are equal for equal ids, and give the ids back in the column's dtype."""
    column, numbers = repeat(IDS[kind], order)
    found = encode(column, "item")
    used = found.used()
    code_of = dict(zip(numbers.tolist(), found.codes.tolist(), strict=True))

    assert column.tolist() == used.ids.take(used.codes).tolist()
    pd.testing.assert_index_equal(pd.Index(column), found.restore(found.codes), check_names=False)
    assert [code_of[number] for number in numbers] == found.codes.tolist()
    assert sorted(range(len(IDS[kind]))) == sorted(set(used.codes.tolist()))
    assert set(IDS[kind]) == set(found.distinct())
    assert len(IDS[kind]) == len(found.distinct())
    if found.is_sorted:
        assert sorted(code_of.values()) == [code_of[number] for number in sorted(code_of)]


@pytest.mark.usefixtures("is_cut")
@pytest.mark.parametrize("ids", [["user1", "é10"], [2**70, 2.5], [(1, "a"), (1, "b")]], ids=str)
@pytest.mark.parametrize("copied", [slice(0), slice(100), slice(None)], ids=["no", "some", "all"])
def test_objects_that_rows_share(ids, copied):
    """Equal objects have one code, whether rows share an object or have copies."""
    objects = ids * 300
    objects[copied] = [pickle.loads(pickle.dumps(one)) for one in objects[copied]]
    found = encode(pd.Series(objects, dtype=object, name="item"), "item")

    assert [0, 1] * 300 == found.codes.tolist()
    assert ids == found.ids.tolist()
    with pytest.raises(RecframeError, match="but 2 of 602 rows are null"):
        encode(pd.Series([*objects, None, None], dtype=object, name="item"), "item")


@pytest.mark.usefixtures("is_cut")
@pytest.mark.parametrize(
    ("kind", "null"),
    [("Int64", None), ("float", None), ("str", None), ("objects", pd.NA), ("categories", None)],
)
def test_nulls_have_codes_of_their_own_where_reading_is_lenient(kind, null):
    """Null has a code under lenient=True, like an id, and is refused otherwise."""
    column = pd.concat([IDS[kind], IDS[kind]], ignore_index=True)
    column[[1, 3]] = null
    codes = encode(column, "item", lenient=True).codes.tolist()

    assert len(column.dropna().unique()) + 2 == len(set(codes))
    assert {1: 1, 3: 1} == {row: codes.count(codes[row]) for row in (1, 3)}
    with pytest.raises(RecframeError, match=r"ids must not be null, but \d .*null"):
        encode(column.rename("item"), "item")


PAIRS = {
    "signs": ("int8", "uint64"),
    "widths": ("int64", "uint8"),
    "large integers": ("far apart", "uint64"),
    "integers and floats": ("float", "far apart"),
    "nullable": ("Int64", "int64"),
    "of Arrow": ("int64[pyarrow]", "int64"),
    "texts": ("str", "string"),
    "long texts": ("large string", "string[pyarrow]"),
    "objects": ("objects", "str"),
    "no UTF-8": ("no UTF-8", "str"),
    "categories": ("categories", "str"),
    "categories of both": ("categories", "categories"),
    "categories of numbers": ("categories of numbers", "int64"),
    "tuples": ("tuples", "tuples"),
    "dates": ("dates", "dates"),
    "datetimes": ("datetime", "datetime"),
    "bool": ("bool", "bool"),
}


@pytest.mark.parametrize("n_own", [1, 99])
@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("case", PAIRS)
def test_ids_found_among_others(case, is_turned, n_own):
    """Equal ids match in all dtypes, and no number is rounded."""
    own, others = (IDS[kind] for kind in PAIRS[case][:: -1 if is_turned else 1])
    own, others = pd.Index(own[:n_own]), pd.Index(others[::-1])
    place = {id_: place for place, id_ in enumerate(others.tolist())}
    expected = [place.get(id_, -1) for id_ in own.tolist()]

    assert expected == match(own, others, "user").tolist()
    if case not in ("integers and floats", "no UTF-8"):
        assert others.tolist() + own.tolist() == append(others, own).tolist()


def test_users_of_several_columns_are_matched_level_by_level():
    """Ids of several columns match level by level, and a part of an id does not match."""
    own = pd.MultiIndex.from_arrays([[1.0, 2.0, 1.0, 9.0], list("abba")], names=["u", "v"])
    among = pd.MultiIndex.from_arrays([[2, 1, 1], pd.Categorical(list("bab"))], names=["u", "v"])

    assert [1, 0, 2, -1] == match(own, among, "user").tolist()
    assert [*among, *own] == append(among, own).tolist()
    assert among.names == append(among, own).names


@pytest.mark.parametrize(
    ("kind", "added", "dtype"),
    [
        ("int8", [5], "int8"),
        ("int8", [300], "int64"),
        ("uint8", [2.5], "float64"),
        ("str", ["x"], "str"),
        ("string", ["x"], "string"),
        ("categories", ["unused"], IDS["categories"].dtype),
        ("categories", ["x"], IDS["categories"].cat.categories.dtype),
        ("int64", ["x"], "object"),
    ],
)
def test_dtype_of_appended_ids(kind, added, dtype):
    """Appended ids take the dtype of the first ids if it can hold them."""
    ids = pd.Index(IDS[kind], name="user")
    both = append(ids, pd.Index(added))

    assert (pd.Series([], dtype=dtype).dtype, "user") == (both.dtype, both.name)
    assert [*ids.tolist(), *added] == both.tolist()


@pytest.mark.parametrize("kind", IDS)
def test_order_of_ids(kind):
    """Ids sort in the order of their dtype, or in Python's order."""
    turned = pd.Index(IDS[kind][::-1])

    assert list(range(len(turned)))[::-1] == sort_ids(turned).tolist()


TEXTS = ("str", "string[pyarrow]", "string", object, "category")


def small_frame(user, item):
    """Return rows of twenty users and thirty items, with ids formatted by these functions."""
    rng = np.random.default_rng(5)
    users, items = np.repeat(np.arange(10, 30), 30), np.tile(np.arange(10, 40), 20)
    frame = pd.DataFrame({"user": [user(n) for n in users], "item": [item(n) for n in items]})
    return frame.assign(score=rng.integers(0, 9, 600), relevant=rng.random(600) < 0.3)


@pytest.mark.usefixtures("is_cut")
@pytest.mark.parametrize(
    ("text", "order", "dtype"),
    [
        *(("u{:02}", "grouped", dtype) for dtype in TEXTS),
        *(("{0:02}-of-one-end", "shuffled", dtype) for dtype in TEXTS),
        *(("a-name-of-{0:02}", "grouped", dtype) for dtype in TEXTS[:2]),
        *(("é{:02}", "shuffled", dtype) for dtype in TEXTS[:2]),
    ],
)
def test_frames_of_texts_are_those_of_numbers(dtype, text, order):
    """Frames of text ids have the tables, ranks and refusals of integer ids in the same order."""
    numbers = small_frame(int, int)
    texts = small_frame(text.format, text.format).astype({"user": dtype, "item": dtype})
    if order == "shuffled":
        numbers, texts = (frame.sample(frac=1, random_state=1) for frame in (numbers, texts))
    calls = [
        lambda frame: frame.rec(short="pad").recall(k=3),
        lambda frame: frame.rec(short="pad", ties="item").ndcg(k=3),
        lambda frame: (
            frame.drop(columns="relevant")
            .rec(truth=frame[frame["relevant"]][["item", "user"]][::2], short="pad")
            .recall(k=3)
        ),
        lambda frame: frame.rec(exclude=frame[["user", "item"]][::3], short="pad").recall(k=3),
        lambda frame: frame.rec(ties="item").rank(),
    ]
    for call in calls:
        expected, found = call(numbers), call(texts)
        if expected.index.name == "user":
            assert [text.format(user) for user in expected.index] == found.index.tolist()
            assert texts["user"].dtype == found.index.dtype
        np.testing.assert_array_equal(expected.to_numpy(), found.to_numpy())
    for column in ("user", "item"):
        nulls = texts.assign(**{column: texts[column].where(np.arange(600) != 77)})
        with pytest.raises(
            RecframeError,
            match=f"{column}='{column}': ids must not be null, but 1 of 600 rows are null",
        ):
            nulls.rec.recall(k=1)
    with pytest.raises(RecframeError, match="but 1 of 601 rows repeat another"):
        pd.concat([texts, texts.iloc[[5]]]).rec.recall(k=1)


@pytest.mark.parametrize("null", [None, float("nan"), pd.NA])
def test_objects_that_are_equal_and_lie_apart_are_one_user(null):
    """Equal objects are one user wherever they are in memory, and nulls are refused."""
    users = ["".join(["i", "d", digit]) for digit in "1121"]
    frame = pd.DataFrame({"user": pd.Series(users, dtype=object), "score": [4, 3, 2, 1]})
    frame["relevant"] = [0, 1, 1, 1]

    assert {"id1": 0.0, "id2": 1.0} == frame.rec.recall(k=1)["score"].to_dict()
    frame.loc[2, "user"] = null
    with pytest.raises(RecframeError, match="ids must not be null, but 1 of 4 rows are null"):
        frame.rec.recall(k=1)


@pytest.mark.parametrize("role", ["user", "item"])
def test_a_signaling_nan_is_no_id(role):
    """A signaling NaN is refused by name as an id."""
    frame = pd.DataFrame({"user": [1, 1], "item": [1, 2], "score": [2, 1], "relevant": [0, 1]})
    frame[role] = pd.Series([Decimal("sNaN"), Decimal(1)], dtype=object)
    with pytest.raises(
        RecframeError, match=f"'{role}' must hold comparable values, but holds a sig"
    ):
        frame.rec.recall(k=1)


@pytest.mark.parametrize("dtype", ["boolean", "bool[pyarrow]", "Float64", "Int8", "int8[pyarrow]"])
def test_null_users_of_nullable_dtypes(dtype):
    """A null user is refused, whether a user's rows stand together or not."""
    for users in ([1, 1, 0, None], [1, 0, 1, None], [None] * 4):
        frame = pd.DataFrame({"user": pd.array(users, dtype), "score": [4, 3, 2, 1]})
        with pytest.raises(RecframeError, match=r"ids must not be null, but \d .*null"):
            frame.assign(relevant=1).rec.recall(k=1)


@pytest.mark.parametrize("dtype", ["int64", "str"])
@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_runs_at_one_end_only(dtype, order, monkeypatch):
    """A user has all its rows, whether the first ids of the column repeat in runs or not."""
    monkeypatch.setattr(module, "N_FIRST_ROWS", 8)
    runs, mixed = np.repeat([3, 1, 2], 20), np.tile([2, 3, 1], 4)
    users = np.concatenate([[runs, mixed][part] for part in order])
    frame = pd.DataFrame({"user": users}).astype(dtype)
    frame = frame.assign(score=np.arange(len(frame)) % 7, relevant=np.arange(len(frame)) % 3 == 0)
    alone = [frame[frame["user"] == user].rec.recall(k=5) for user in sorted(set(frame["user"]))]

    pd.testing.assert_frame_equal(pd.concat(alone), frame.rec.recall(k=5))
