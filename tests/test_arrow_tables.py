"""Arrow tables of every type count like pandas frames, and unneeded columns are not read."""

import datetime
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recframe
from recframe import RecframeError
from recframe.other_tables import read_frame

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
    """Return a column of a dictionary, with indices of a dtype."""
    return pa.DictionaryArray.from_arrays(pa.array(indices, kind), values, **ordered)


CODES = [1, 2, 3, 3, 1, 4]
# Each column of users has its form in pandas, or None if pandas' own is right.
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
    """A table counts like pandas' frame, for every type of users and any number of chunks."""
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
    """Nulls round no integer and are no category."""
    read = read_frame(pa.table({"x": column}))["x"]
    expected = pd.Series(expected, name="x")
    if len(expected) == 0:
        assert isinstance(read.dtype, pd.CategoricalDtype)
    else:
        pd.testing.assert_series_equal(expected, read)


def test_columns_without_a_role_are_not_read():
    """A column without a role may have any type and may repeat, and rows keep it."""
    table = pa.table({"user": [1, 1, 2], "score": [3, 2, 1], "relevant": [0, 1, 1]})
    expected = recframe.evaluate(table, "recall@1")
    for extra in (pa.array([[1], None, []]), pa.array([{"a": 1}] * 3), pa.nulls(3)):
        more = table.append_column("x", extra).append_column("x", extra)
        pd.testing.assert_frame_equal(expected, recframe.evaluate(more, "recall@1"))
        pd.testing.assert_frame_equal(expected, recframe.rec(more).evaluate("recall@1"))
    rows = recframe.rec(table.append_column("x", pa.array([[1], None, []]))).top(1)

    assert ["user", "score", "relevant", "x", "rank"] == list(rows)


def test_numbers_are_not_copied():
    """Numbers without nulls in one chunk share the memory of the table."""
    values = np.arange(3.0)
    read = read_frame(pa.table({"x": values}))["x"].to_numpy()

    assert np.shares_memory(values, read)


def test_segments_of_a_table():
    """A column of segments, also the user column, is read as by pandas."""
    texts = pa.array(["b", "b", "a", "a"], pa.string_view())
    table = pa.table({"user": texts, "score": [4, 3, 2, 1], "relevant": [0, 1, 1, 0]})
    frame = pd.DataFrame({"user": list("bbaa"), "score": [4, 3, 2, 1], "relevant": [0, 1, 1, 0]})
    for by in ("user", pd.Series([1, 2], pd.Index(["a", "b"], name="user"), name="part")):
        own, given = frame.rec.mean("recall@1", by=by), recframe.rec(table).mean("recall@1", by=by)
        pd.testing.assert_frame_equal(own, given)


@pytest.mark.parametrize("options", [{"truth": "bbac"}, {"exclude": "b"}, {"missing": "drop"}])
def test_texts_in_runs_beside_others(options):
    """Users in runs of text match the users of truth and exclude, and share a type with them."""
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
def test_many_texts_in_views(kind, n_chunks):
    """Users that are text in views give the results of pandas' text."""
    users = VIEWS[kind]
    n_rows = len(users)
    rows = {"item": list(range(n_rows)), "score": [(7 * n) % n_rows for n in range(n_rows)]}
    rows["relevant"] = [n % 2 for n in range(n_rows)]
    frame = pd.DataFrame({"user": users, **rows})
    # The first slice begins within its buffers, and a chunk has no rows.
    column = pa.array(["before", *users, "after"], pa.string_view()).slice(1, n_rows)
    cut = n_rows // n_chunks
    chunks = [column[:cut], column[:0], column[cut:]] if n_chunks > 1 else [column]
    table = pa.table({"user": pa.chunked_array(chunks), **rows})
    views = frame.assign(user=pd.arrays.ArrowExtensionArray(table["user"]))
    half = pd.Series(range(len(set(users))), index=sorted(set(users)), name="half") % 2
    half = half.rename_axis("user")
    for make in (
        lambda rec: rec(short="pad").evaluate(["recall@1", "auc"]),
        lambda rec: rec(ties="item", missing="drop").ndcg(1),
        lambda rec: rec(short="pad", zero_division=0.0).mean("recall@1", by=half),
        lambda rec: rec(zero_division=0.0).summary("recall@1", weights=half + 1),
        lambda rec: rec.catalogue(1),
        lambda rec: rec.rank(),
    ):
        pd.testing.assert_frame_equal(make(frame.rec), make(recframe.rec(table)))
        pd.testing.assert_frame_equal(make(frame.rec), make(views.rec))


def test_views_in_all_roles():
    """Text in views is an id in rows, truth and exclude, and is refused as a score."""
    frame = pd.DataFrame({"user": [*"aab"], "item": [*"xyz"], "score": [3, 2, 1]})
    frame.index = [7, 7, 8]
    text = pa.chunked_array([frame["item"].tolist()]).cast(pa.string_view())
    views = frame.assign(item=pd.arrays.ArrowExtensionArray(text))
    before = views.copy(deep=False)
    means = [
        one.rec(truth=other[1:], relevant=None, exclude=other[:1]).mean("precision@1")
        for one in (frame, views)
        for other in (frame, views)
    ]

    assert [means[0].iloc[0, 0]] * 4 == [mean.iloc[0, 0] for mean in means]
    with pytest.raises(RecframeError, match=r"score='item': must be numbers, but has dtype"):
        views.assign(relevant=1).rec(score="item").mean("recall@1")
    assert before.dtypes.equals(views.dtypes)


@pytest.mark.parametrize("missing", ["drop", "unranked"])
@pytest.mark.parametrize("n_more", [0, 9])
def test_nulls_beside_runs_of_texts(missing, n_more):
    """Rows with nulls are left out of the users whose runs hold them, in several chunks."""
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
def test_what_is_refused_of_many_texts_in_views(options):
    """A refusal of text in views shows the texts."""
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


def test_many_users_too_short_in_views():
    """A refusal of short rankings shows one user's text."""
    texts = pa.array(["ann", "bob", "ann"], pa.string_view())
    table = pa.table({"user": texts, "score": [3, 2, 1], "relevant": [0, 1, 1]})

    with pytest.raises(RecframeError, match="user 'bob' has 1"):
        recframe.evaluate(table, "recall@2")


def in_pieces(frame, cuts):
    """Return a frame as a table, with the columns in chunks between cuts."""
    columns = {}
    for number, (name, column) in enumerate(frame.items()):
        bounds = [0, *(cut + number % 2 for cut in cuts), len(frame)]
        is_plain = isinstance(column.dtype, np.dtype)
        # A NaN of floats stays a NaN.
        own = pa.array(column.to_numpy() if is_plain else column)
        slices = [own.slice(start, stop - start) for start, stop in pairwise(bounds)]
        columns[name] = pa.chunked_array(slices)
    return pa.table(columns)


def assert_alike(make, frame, table):
    """Assert that a frame and a table have equal results bit for bit, or equal errors."""
    own, read = (outcome_of(make, rows) for rows in (frame, table))
    if isinstance(own, str):
        assert own == read
    else:
        pd.testing.assert_frame_equal(own, read, check_exact=True)


def outcome_of(make, rows):
    """Return the result for rows, or the message that refuses them."""
    try:
        return make(recframe.rec(rows))
    except RecframeError as error:
        return str(error)


METRICS = ["precision@2", "recall@3", "r_precision", "ndcg@2", "auc", "reciprocal_rank"]
TIES = ["expected", "first", "last", "best", "worst", "item"]
PIECES_USERS = {
    "in runs": [7] * 6 + [12] * 8 + [3] * 7 + [5] * 3,
    "in several runs": [7] * 6 + [12] * 4 + [7] * 4 + [3] * 7 + [12] * 3,
    "in no runs": [7, 12, 3] * 8,
    "one": [7] * 24,
}
LAST_BITS = 1 + np.arange(24) * 2.0**-52
PIECES_SCORES = {
    "apart": np.arange(24) * 7 % 24 / 8,
    "tied": np.arange(24) * 7 % 5 / 4,
    "apart in the last bits": np.append(LAST_BITS[::-1][:23], 1e9),
    "float32": np.arange(24, dtype=np.float32)[::-1] / 7,
    "float16": np.arange(24, dtype=np.float16) % 7,
    "int8": np.arange(24, dtype=np.int8) * 5 % 7,
    "too large": np.arange(24) * (2**63 // 24),
    "unsigned": np.arange(24, dtype=np.uint64) % 9 + np.uint64(2**64 - 9),
    "infinite": np.where(np.arange(24) % 5, np.inf, -np.inf),
}


@pytest.mark.parametrize(
    ("users", "scores"),
    [
        *((users, "tied") for users in PIECES_USERS),
        *(("in several runs", scores) for scores in PIECES_SCORES if scores != "tied"),
    ],
)
def test_numbers_in_pieces(users, scores):
    """A frame in many chunks, as parquet is read, has the tables of the frame in one chunk."""
    frame = pd.DataFrame({"user": PIECES_USERS[users], "score": PIECES_SCORES[scores]})
    frame["b_score"] = np.arange(24.0)[::-1] % 11
    frame["relevant"] = (np.arange(24) % 3 == 0).astype(np.int8)
    frame["item"] = np.arange(24)
    frame["is_first"] = (~frame["user"].duplicated()).astype(np.int8)
    table = in_pieces(frame, [5, 11, 17])
    given = {"score": ["score", "b_score"], "short": "pad"}
    few = {**given, "relevant": "is_first"}
    for make in (
        *(lambda rec, ties=ties: rec(**given, ties=ties).evaluate(METRICS) for ties in TIES),
        lambda rec: rec(**given, duplicates="keep").evaluate(
            ["reciprocal_rank", "mean(b_score)@2"]
        ),
        lambda rec: rec(**given, ascending=[False, True]).recall(2),
        lambda rec: rec(**given, min_score=1).recall(2),
        lambda rec: rec(short="pad", score="score").mean("recall@1", by="user"),
        lambda rec: rec(**given).catalogue(2),
        lambda rec: rec(**given, zero_division=0.0).curve("precision", k=[1, 3]),
        lambda rec: rec(**given).describe(2),
        lambda rec: rec(**given).rank(),
        lambda rec: rec(**given).top(2),
        lambda rec: rec(**few).evaluate(METRICS),
    ):
        assert_alike(make, frame, table)


@pytest.mark.parametrize("missing", ["raise", "drop", "unranked"])
@pytest.mark.parametrize("column", ["user", "score", "b_score", "relevant"])
def test_nulls_in_pieces(column, missing):
    """A null or NaN counts the same in many chunks as in one."""
    frame = pd.DataFrame({"user": PIECES_USERS["in several runs"], "score": np.arange(24.0)})
    frame["b_score"] = np.arange(24.0)[::-1]
    frame["relevant"] = np.arange(24) % 2
    if column in ("user", "relevant"):
        frame[column] = frame[column].astype("Int64")
    frame.loc[13, column] = None
    options = {"missing": missing, "short": "pad", "score": ["score", "b_score"]}
    table = in_pieces(frame, [5, 11, 17])

    assert_alike(lambda rec: rec(**options).evaluate(METRICS), frame, table)


@pytest.mark.parametrize("duplicates", ["raise", "max", "first", "keep"])
def test_repeated_pairs_in_pieces(duplicates):
    """Repeated pairs count the same in several chunks as in one."""
    frame = pd.DataFrame({"user": PIECES_USERS["in runs"], "item": np.arange(24) % 5})
    frame["score"] = np.arange(24) * 7 % 24 / 8
    frame["relevant"] = (np.arange(24) % 5 < 2).astype(np.int8)
    options = {"duplicates": duplicates, "short": "pad"}
    table = in_pieces(frame, [5, 11, 17])
    for make in (
        lambda rec: rec(**options).evaluate(METRICS),
        lambda rec: rec(**options).rank(),
    ):
        assert_alike(make, frame, table)


@pytest.mark.parametrize("start", [0, 1, 8, 11])
def test_flags_in_pieces(start):
    """Flags in bits are read correctly for any bounds of chunks."""
    rng = np.random.default_rng(start)
    frame = pd.DataFrame({"user": np.arange(60) // 12, "score": np.arange(60.0) * 7 % 60})
    frame["relevant"] = rng.random(60) < 0.5
    before = pa.array(rng.random(start) < 0.5)
    flags = pa.concat_arrays([before, pa.array(frame["relevant"].to_numpy())])
    cuts = [0, 1, 9, 9, 30, 47, 60]
    pieces = [flags.slice(start + cut, end - cut) for cut, end in pairwise(cuts)]
    for column in (flags[start:], pa.chunked_array(pieces)):
        table = pa.table({"user": frame["user"], "score": frame["score"], "relevant": column})
        assert_alike(lambda rec: rec().evaluate(METRICS), frame, table)


ODD = {
    "table": lambda path: recframe.evaluate(pa.ipc.open_file(path).read_all()),
    "truth": lambda path: recframe.rec(pd.DataFrame(), truth=pa.ipc.open_file(path).read_all()),
    "file": lambda path: recframe.evaluate(path),
}


@pytest.mark.parametrize("way", ODD)
def test_names_that_are_not_utf_8(way, tmp_path):
    """A column whose name is not UTF-8 is refused, in an Arrow table and in a file."""
    path = tmp_path / "x.arrow"
    table = pa.table({"user": [1], "score": [1], "relevant": [1], "other": [1]})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    path.write_bytes(path.read_bytes().replace(b"other", b"oth\xffr"))
    with pytest.raises(
        RecframeError, match=r"cannot read .*: 'utf-8' codec can't decode byte 0xff"
    ):
        ODD[way](path)


def test_views_in_series():
    """A Series whose values or users are views gives the segments that text gives."""
    frame = pd.DataFrame({"user": ["a", "a", "b"], "score": [3, 2, 1], "relevant": [0, 1, 1]})
    views = pd.ArrowDtype(pa.string_view())
    users = pd.Index(pd.Series(["a", "b"], dtype=views), name="user")
    of_users = pd.Series(["x", "y"], users, dtype=views, name="part")
    of_texts = pd.Series(["x", "y"], pd.Index(["a", "b"], name="user"), name="part")

    expected = frame.rec.mean("recall@1", by=of_texts)
    pd.testing.assert_frame_equal(expected, frame.rec.mean("recall@1", by=of_users))
