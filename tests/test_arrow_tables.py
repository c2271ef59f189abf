"""Arrow tables: every type counts as pandas has it, and no column is read that is not needed."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recframe
from recframe import RecframeError
from recframe.arrow_tables import read_frame
from recframe.frames import text_users
from recframe.kernel import views

TEXTS = ["bob", "", "ann", "ann", "bob", "ü" * 13]
DAY = datetime.date(2026, 11, 1)
N = 6
ROWS = {
    "item": pa.array(range(N), pa.int32()),
    "score": pa.array([0.5, 0.25, 0.125, 1.5, -1.0, 2.0]),
    "relevant": pa.array([1, 0, 1, 1, 0, 1], pa.int8()),
}
CATEGORIES = pa.array(["x", "bob", "", "ann", "ü" * 13, "y"])


def dictionary(indices, values, kind, **ordered):
    """Return a column of a dictionary, its indices of a type."""
    return pa.DictionaryArray.from_arrays(pa.array(indices, kind), values, **ordered)


CODES = [1, 2, 3, 3, 1, 4]
# A column of users by what it is, and what pandas has in its place.
USERS = {
    "string": (pa.array(TEXTS, pa.string()), TEXTS),
    "large_string": (pa.array(TEXTS, pa.large_string()), TEXTS),
    "string_view": (pa.array(TEXTS, pa.string_view()), TEXTS),
    "string_view in runs": (pa.array(["bob", "bob", "", "", "ann", "ann"], pa.string_view()), None),
    "int64": (pa.array([3, 1, 3, 2**62, 1, 1]), None),
    "uint8": (pa.array([3, 1, 3, 200, 1, 1], pa.uint8()), None),
    "float32": (pa.array([3, 1, 3, 2.5, 1, 1], pa.float32()), None),
    "bool": (pa.array([True, False] * 3), None),
    "date": (pa.array([DAY, DAY.replace(day=2)] * 3), None),
    "timestamp": (pa.array([9, 2] * 3, pa.timestamp("ms", "Asia/Tokyo")), None),
    "duration": (pa.array([9, 2] * 3, pa.duration("us")), None),
    "decimal": (pa.array([Decimal("1.50"), Decimal("2.25")] * 3), None),
    "binary": (pa.array([b"x", b"y"] * 3), None),
    **{
        f"dictionary of {kind}": (
            dictionary(CODES, CATEGORIES, kind),
            pd.Categorical.from_codes(CODES, CATEGORIES.to_pylist()),
        )
        for kind in (pa.int8(), pa.uint8(), pa.uint32(), pa.int64())
    },
    "ordered dictionary": (
        dictionary(CODES, CATEGORIES, pa.uint16(), ordered=True),
        pd.Categorical.from_codes(CODES, CATEGORIES.to_pylist(), ordered=True),
    ),
    "dictionary of views": (
        dictionary(CODES, CATEGORIES.cast(pa.string_view()), pa.uint32()),
        pd.Categorical.from_codes(CODES, CATEGORIES.to_pylist()),
    ),
    "dictionary of integers": (
        dictionary([0, 1] * 3, pa.array([7, 5]), pa.int32()),
        pd.Categorical.from_codes([0, 1] * 3, [7, 5]),
    ),
    "dictionary with repeated values": (
        dictionary([0, 1, 2] * 2, pa.array(["b", "a", "b"]), pa.int32()),
        pd.Categorical.from_codes([0, 1, 0] * 2, ["b", "a"]),
    ),
}


@pytest.mark.parametrize("n_chunks", [1, 3])
@pytest.mark.parametrize("kind", USERS)
def test_types_of_users(kind, n_chunks):
    """A table counts as pandas has its columns, whatever the type of users and however chunked."""
    users, expected = USERS[kind]
    frame = pd.DataFrame({name: column.to_pandas() for name, column in ROWS.items()})
    frame.insert(0, "user", pd.Series(users.to_pandas() if expected is None else expected))
    table, size = pa.table({"user": users, **ROWS}), N // n_chunks
    table = pa.concat_tables([table.slice(start, size) for start in range(0, N, size)])
    for metrics in (["recall@1", "ndcg"], "mean(score)@1"):
        own = frame.rec(short="pad", min_relevance=1).evaluate(metrics)
        given = recframe.evaluate(table, metrics, short="pad", min_relevance=1)
        pd.testing.assert_frame_equal(own, given)
    own, given = frame.rec, recframe.rec(table)
    for make in (lambda rec: rec.top(1), lambda rec: rec.rank(), lambda rec: rec.describe(1)):
        pd.testing.assert_frame_equal(make(own), make(given))
    assert repr(own) == repr(given)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([2**62 + 1, None]), pd.array([2**62 + 1, None], "Int64")),
        (pa.array([True, None]), pd.array([True, None], "boolean")),
        (pa.array([1.5, None], pa.float32()), np.array([1.5, np.nan], np.float32)),
        (pa.array(["a", None], pa.string_view()), ["a", None]),
        (pa.array(["a", None]).dictionary_encode(), pd.Categorical(["a", None])),
        (
            dictionary([0, 1, None], pa.array(["a", None]), pa.uint8()),
            pd.Categorical(["a", None, None]),
        ),
        (pa.chunked_array([], pa.dictionary(pa.int32(), pa.string())), pd.Categorical([])),
        (pa.nulls(2), [None, None]),
    ],
    ids=["int", "bool", "float", "text", "dictionary", "null in it", "no chunk", "null"],
)
def test_nulls(column, expected):
    """Nulls round no integer, and are none of the categories."""
    read = read_frame(pa.table({"x": column}))["x"]
    expected = pd.Series(expected, name="x")
    if len(expected) == 0:
        assert isinstance(read.dtype, pd.CategoricalDtype)
    else:
        pd.testing.assert_series_equal(expected, read)


def test_columns_without_a_role_are_not_read():
    """What no role needs may be of any type, or there twice; rows have it as it is."""
    table = pa.table({"user": [1, 1, 2], "score": [3, 2, 1], "relevant": [0, 1, 1]})
    expected = recframe.evaluate(table, "recall@1")
    for extra in (pa.array([[1], None, []]), pa.array([{"a": 1}] * 3), pa.nulls(3)):
        more = table.append_column("x", extra).append_column("x", extra)
        pd.testing.assert_frame_equal(expected, recframe.evaluate(more, "recall@1"))
        pd.testing.assert_frame_equal(expected, recframe.rec(more).evaluate("recall@1"))
    rows = recframe.rec(table.append_column("x", pa.array([[1], None, []]))).top(1)

    assert ["user", "score", "relevant", "x", "rank"] == list(rows)


def test_numbers_are_not_copied():
    """Numbers without nulls in one piece are those of the table."""
    values = np.arange(3.0)
    read = read_frame(pa.table({"x": values}))["x"].to_numpy()

    assert np.shares_memory(values, read)


def test_segments_of_a_table():
    """A column of segments, that of users too, is read as pandas has it."""
    texts = pa.array(["b", "b", "a", "a"], pa.string_view())
    table = pa.table({"user": texts, "score": [4, 3, 2, 1], "relevant": [0, 1, 1, 0]})
    frame = pd.DataFrame({"user": list("bbaa"), "score": [4, 3, 2, 1], "relevant": [0, 1, 1, 0]})
    for by in ("user", pd.Series([1, 2], ["a", "b"], name="part")):
        own, given = frame.rec.mean("recall@1", by=by), recframe.rec(table).mean("recall@1", by=by)
        pd.testing.assert_frame_equal(own, given)


@pytest.mark.parametrize("options", [{"truth": "bbac"}, {"exclude": "b"}, {"missing": "drop"}])
def test_texts_in_runs_beside_others(options):
    """Users in runs of text are matched with those of truth, and are of one type with them."""
    texts = ["b", "b", "c", "c", "a", "a"]
    rows = {"item": [1, 2] * 3, "score": [6, 5, 4, 3, 2, 1], "relevant": [0, 1] * 3}
    frame = pd.DataFrame({"user": texts, **rows})
    table = pa.table({"user": pa.array(texts, pa.string_view()), **rows})
    for name in {"truth", "exclude"} & options.keys():
        users = list(options[name])
        options[name] = pd.DataFrame({"user": users, "item": range(len(users))})
    options |= {"short": "pad"}
    metrics = ["recall@1", "auc"]
    expected = frame.rec(**options).evaluate(metrics)

    pd.testing.assert_frame_equal(expected, recframe.evaluate(table, metrics, **options))
    with pytest.raises(RecframeError) as own:
        frame.rec.recall(3)
    with pytest.raises(RecframeError, match="user 'b' has 2") as given:
        recframe.rec(table).recall(3)
    assert str(own.value) == str(given.value)


VIEWS = {
    "numbered": ["user9", "user10", "user9", "user1", "user10", "user1", "user9"],
    "numbered, in runs": ["user9"] * 5 + ["user1"] * 5 + ["user9"] * 2,
    "of one length": ["b", "a", "c", "b", "a", "b"],
    "with empty ones": ["", "a", "", "a\0", "a", "b"],
    "twelve bytes": ["user20000000", "user10000000"] * 3,
    "too many bytes differ": ["123456789", "923456780", "123456789", "1"],
    "long": ["a" * 13, "b" * 13] * 3,
    "long, of several lengths": [f"customer-2026-{n}" for n in (77, 5, 123456, 5, 77, 8)],
    "long, some short": [f"customer-{n}" for n in (1234, 77, 5, 123456, 5, 77, 1234)],
    "long, not of ASCII": [f"customer-{n}" for n in ("77", "é1234567", "5", "77")] * 2,
    "long, that begin with a short one": ["abc", "abc-a-longer-one"] * 3,
    "long, that differ at the front": [f"{n}-of-2026-customers" for n in (77, 5, 12, 5, 77, 8)],
    "long, that differ so in the end": ["customer-2026-1"] * 4 + ["2026-customer-2", "x"],
    "long, in runs, of one begin": ["customer-2026-7"] * 5 + ["customer-2026-12"] * 5,
    "long, in runs of copies": [f"customer-2026-{n // 5 % 3}" for n in range(20)],
    "long and short, in runs of copies": ["customer-7"] * 6 + ["customer-12345"] * 6 + ["é"] * 5,
    "random, in runs of copies": ["63b1ff0e-0b7d"] * 6 + ["f3b1ff0e-0b7c-77"] * 6,
    "long, in runs": ["b" * 13] * 5 + ["a" * 13] * 5,
}


@pytest.mark.parametrize("n_chunks", [1, 2])
@pytest.mark.parametrize("kind", VIEWS)
def test_many_texts_in_views(kind, n_chunks, monkeypatch):
    """Users that integers stand for while rows are read are texts in all that is made."""
    monkeypatch.setattr(text_users, "MANY", 1)
    monkeypatch.setattr(views, "BATCH", 3)
    users = VIEWS[kind]
    n_rows = len(users)
    rows = {"item": list(range(n_rows)), "score": [(7 * n) % n_rows for n in range(n_rows)]}
    rows["relevant"] = [n % 2 for n in range(n_rows)]
    frame = pd.DataFrame({"user": users, **rows})
    # A slice that begins within its buffers, and a chunk without rows.
    column = pa.array(["before", *users, "after"], pa.string_view()).slice(1, n_rows)
    cut = n_rows // n_chunks
    chunks = [column[:cut], column[:0], column[cut:]] if n_chunks > 1 else [column]
    table = pa.table({"user": pa.chunked_array(chunks), **rows})
    half = pd.Series(range(len(set(users))), index=sorted(set(users)), name="half") % 2
    for make in (
        lambda rec: rec(short="pad").evaluate(["recall@1", "auc"]),
        lambda rec: rec(ties="item", missing="drop").ndcg(1),
        lambda rec: rec(short="pad", zero_division=0.0).mean("recall@1", by=half),
        lambda rec: rec(zero_division=0.0).summary("recall@1", weights=half + 1),
        lambda rec: rec.catalogue(1),
        lambda rec: rec.rank(),
    ):
        pd.testing.assert_frame_equal(make(frame.rec), make(recframe.rec(table)))


@pytest.mark.parametrize("missing", ["drop", "unranked"])
@pytest.mark.parametrize("n_more", [0, 9])
def test_nulls_beside_runs_of_texts(missing, n_more):
    """Rows that are left out are those of the users whose runs they are in, in many pieces."""
    numbers = [7] * 6 + [12] * 6 + [7] * 5 + [3] * 7
    n_rows = len(numbers)
    users = [f"{f'customer-{number}':0<{20 + n_more}}" for number in numbers]
    scores = [None if row in (1, 8) else row * 7 % 11 for row in range(n_rows)]
    rows = {"score": pd.array(scores, dtype="Float64"), "relevant": [0, 1, 1] * 8}
    frame = pd.DataFrame({"user": users, **rows})
    table = pa.table({"user": pa.array(users, pa.string_view()), **rows})
    pieces = [table.slice(0, 5), table.slice(5, 8), table.slice(13, n_rows)]
    options = {"missing": missing, "short": "pad"}
    metrics = ["recall@2", "auc"]

    expected = recframe.evaluate(frame, metrics, **options)
    pd.testing.assert_frame_equal(
        expected, recframe.evaluate(pa.concat_tables(pieces), metrics, **options)
    )


@pytest.mark.parametrize("options", [{}, {"duplicates": "raise"}, {"user": "name"}])
def test_what_is_refused_of_many_texts_in_views(options, monkeypatch):
    """What is refused shows the texts, and no integer that stands for them."""
    monkeypatch.setattr(text_users, "MANY", 1)
    rows = {"item": [1, 2, 1, 1], "score": [1.0, 2.0, 3.0, None], "relevant": [0, 1, 1, 0]}
    texts = ["ann", "bob", "ann", "eve"]
    if options:
        rows["score"] = [1, 2, 3, 4]
    user = "name" if "user" in options else "user"
    frame = pd.DataFrame({user: texts, **rows})
    table = pa.table({user: pa.array(texts, pa.string_view()), **rows})
    with pytest.raises(RecframeError) as own:
        recframe.evaluate(frame, "recall@1", **options)
    with pytest.raises(RecframeError, match=r"null|'ann'") as given:
        recframe.evaluate(table, "recall@1", **options)

    assert str(own.value) == str(given.value)


def test_many_users_too_short_in_views(monkeypatch):
    """Of users with too few rows one is shown as it is."""
    monkeypatch.setattr(text_users, "MANY", 1)
    texts = pa.array(["ann", "bob", "ann"], pa.string_view())
    table = pa.table({"user": texts, "score": [3, 2, 1], "relevant": [0, 1, 1]})

    with pytest.raises(RecframeError, match="user 'bob' has 1"):
        recframe.evaluate(table, "recall@2")
