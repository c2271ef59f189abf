"""Option `duplicates` decides about rows that repeat a user and item, on every engine."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import recframe
import recframe.dask
import reference
import strategies
from recframe import RecframeError, RepeatedPairError
from recframe.metrics.definitions import DEFINITIONS

DUPLICATES = ("raise", "max", "first", "keep")
ITEMS = {
    "int": ([0, 1, 2**40, -3], "int64", "Int64"),
    "uint8": ([0, 1, 255], "uint8", "UInt8"),
    "float": ([0.0, -0.0, 1.0, 2.0], "float64", "Float64"),
    "str": (["a", "b", "", "x12345678", "y12345678"], "str", "str"),
    "object": (["a", "b", "x12345678", "y12345678"], object, object),
    "category": (["a", "b"], "category", "category"),
    "date": (pd.to_datetime(["2026-01-01", "2026-01-02"]).tolist(), "datetime64[us]", None),
}
LABELS = [strategies.label(*asked) for asked in strategies.every_metric(2)]
# These labels depend on relevant rows only, whether or not the other rows are judged.
OF_RELEVANT = [label for label in LABELS if not DEFINITIONS[strategies.name_of(label)].needs_judged]
# So many bytes hold some ten rows at a time.
IN_BLOCKS = {"memory": 2_000}


@st.composite
def repeated_rows(draw, relevance="binary", nulls=("score",), users=(0, 3, 2**53), least=0):
    """Return the kind of items, and rows (user, item, score, relevant) that often repeat a pair."""
    kind = draw(st.sampled_from(sorted(ITEMS)))
    cells = {
        "user": st.sampled_from(users),
        "item": st.sampled_from(ITEMS[kind][0]),
        "score": st.sampled_from([-1.5, 0.0, 0.5, 1.0, 2.0]),
        "relevant": strategies.RELEVANCE[relevance].cells,
    }
    cells = {name: own | st.none() if name in nulls else own for name, own in cells.items()}
    return kind, draw(st.lists(st.tuples(*cells.values()), min_size=least, max_size=12 + least))


def make_frame(kind, rows):
    """Return rows as a frame with items of this kind."""
    columns = dict(
        zip(("user", "item", "score", "relevant"), zip(*rows, strict=True), strict=False)
    )
    _, dtype, nullable = ITEMS[kind]
    dtypes = {"user": "int64", "item": dtype, "score": "float64", "relevant": "float64"}
    item = columns.get("item", [])
    dtypes["item"] = nullable if None in item and nullable else dtype
    return pd.DataFrame(
        {name: pd.Series(list(columns.get(name, [])), dtype=own) for name, own in dtypes.items()}
    )


def has_no_order(options):
    """Return whether these options order ties by item but keep rows of one item."""
    return options["ties"] == "item" and options["duplicates"] == "keep"


def expected_table(rows, options):
    """Return the reference's values of every user for each label, or raise its `Refused`."""
    duplicates = options["duplicates"]
    rest = {name: value for name, value in options.items() if name != "duplicates"}
    # The later rows of a pair are checked too.
    if duplicates == "first":
        for row in rows:
            if options["missing"] != "drop" or None not in row:
                reference.is_relevant(row[-1], options["min_relevance"])
    folded = reference.fold(rows, duplicates, options["missing"], options["ascending"])
    return {
        strategies.label(name, k): reference.evaluate(folded, name, k, **rest)
        for name, k in strategies.every_metric(2)
    }


def assert_table(expected, table):
    """Assert that a table has the reference's values."""
    for (name, _), label in zip(strategies.every_metric(2), LABELS, strict=True):
        actual = table["score", label]
        assert set(expected[label]) == set(actual.index)
        for user, value in actual.items():
            strategies.assert_value(expected[label][user], value, name)


def ask_every_entry_point(frame, folder, options, truth=None):
    """Return the tables of a frame's files, in one block and in many, and of Dask partitions."""
    path = folder / "run.parquet"
    frame.to_parquet(path, row_group_size=3, index=False)
    yield recframe.evaluate(path, LABELS, truth=truth, **options)
    yield recframe.evaluate(path, LABELS, truth=truth, **options, **IN_BLOCKS)
    if options["ties"] in ("first", "last") or options["duplicates"] == "first":
        return
    ddf = dd.from_pandas(frame, npartitions=2, sort=False)
    with dask.config.set({"dataframe.convert-string": False}):
        yield (
            ddf.rec(truth=truth, **options).evaluate(LABELS).compute(scheduler="sync").sort_index()
        )


@given(
    repeated_rows(relevance="graded", nulls=("item", "score")),
    strategies.options(has_items=True),
    st.sampled_from(DUPLICATES),
)
def test_frames_equal_the_reference(kind_and_rows, options, duplicates):
    """Every value equals the reference's under every option, or both refuse."""
    kind, rows = kind_and_rows
    options["duplicates"] = duplicates
    assume(not has_no_order(options))
    frame = make_frame(kind, rows)
    try:
        expected = expected_table(rows, options)
    except reference.Refused:
        with pytest.raises(RecframeError):
            recframe.evaluate(frame, LABELS, **options)
        return
    assert_table(expected, recframe.evaluate(frame, LABELS, **options))


@settings(max_examples=15)  # A file and a Dask graph take time.
@given(
    repeated_rows(nulls=()),
    strategies.options(has_items=True, short="pad", missing="raise", min_relevance=None),
    st.sampled_from(DUPLICATES),
)
def test_every_entry_point_is_that_of_frames(tmp_path_factory, kind_and_rows, options, duplicates):
    """Files and Dask give the table of the frame bit for bit, or refuse like it."""
    kind, rows = kind_and_rows
    options["duplicates"] = duplicates
    assume(not has_no_order(options))
    frame = make_frame(kind, rows or [(0, ITEMS[kind][0][0], 1.0, 1)])
    entry_points = ask_every_entry_point(frame, tmp_path_factory.mktemp("entry"), options)
    try:
        expected = recframe.evaluate(frame, LABELS, **options)
    except RepeatedPairError:
        assert "raise" == duplicates
        with pytest.raises(RepeatedPairError):
            list(entry_points)
        return
    for table in entry_points:
        pd.testing.assert_frame_equal(expected, table, check_exact=True)


@settings(max_examples=12)  # Files and Dask graphs of many users take time.
@given(
    repeated_rows(nulls=(), users=(0, 3, 5, -1, 2**53, 2**53 + 1), least=8),
    strategies.options(
        has_items=True, short="pad", missing="raise", zero_division=0.0, min_score=None
    ),
    st.sampled_from(DUPLICATES),
    st.lists(st.integers(0, 19), max_size=8),
    st.booleans(),
)
def test_truth_with_repeated_rows(tmp_path_factory, kind_and_rows, options, duplicates, own, drop):
    """All rows of a pair have its grade in truth, on every engine."""
    kind, rows = kind_and_rows
    rows = rows or [(0, ITEMS[kind][0][0], 1.0, 1)]
    options["min_relevance"] = 1
    assume(not has_no_order({**options, "duplicates": duplicates}))
    pairs = {row[:2]: 1.0 + number % 3 for number, row in enumerate(rows) if number in own}
    pairs.setdefault(rows[0][:2], 2.0)
    listed = [(*row[:3], pairs.get(row[:2], 0.0)) for row in rows]
    frame, truth = (
        make_frame(kind, listed),
        make_frame(kind, [(*p, 0, g) for p, g in pairs.items()]),
    )
    truth = truth.drop(columns="score")
    options |= {"duplicates": duplicates, "population": "rows" if drop else "all"}
    try:
        expected = recframe.evaluate(frame, OF_RELEVANT, **options | {"population": "all"})
    except RepeatedPairError:
        with pytest.raises(RepeatedPairError):
            recframe.evaluate(frame, LABELS, truth=truth, **options)
        return
    recs = frame.drop(columns="relevant")
    found = recframe.evaluate(recs, LABELS, truth=truth, **options)
    pd.testing.assert_frame_equal(expected, found.loc[:, (slice(None), OF_RELEVANT)])
    for table in ask_every_entry_point(recs, tmp_path_factory.mktemp("entry"), options, truth):
        pd.testing.assert_frame_equal(found, table, check_exact=True)


@pytest.fixture
def passages():
    """Return two documents of two passages and one of one, for two users and two score columns."""
    return pd.DataFrame(
        {
            "query": [1, 1, 1, 1, 1, 2, 2],
            "doc": ["a", "b", "a", "c", "b", "a", "a"],
            "score": [0.1, 0.5, 0.9, 0.7, 0.5, 0.3, 0.3],
            "other_score": [9, 1, 2, 3, 4, 5, 6],
            "relevant": [0, 0, 1, 0, 0, 1, 0],
        }
    )


def test_a_pair_is_one_row_with_the_best_of_its_rows(passages):
    """The rule "max" takes the highest values of a pair, and "first" its first row."""
    labels = ["query", "doc"]
    pairs = {
        "max": passages.groupby(labels, as_index=False, sort=False).max(),
        "first": passages.drop_duplicates(labels),
    }
    for duplicates, frame in pairs.items():
        expected = frame.rec(short="pad").evaluate(LABELS)
        actual = passages.rec(short="pad", duplicates=duplicates).evaluate(LABELS)
        pd.testing.assert_frame_equal(expected, actual)


def test_the_rows_that_stand_for_a_pair(passages):
    """The rows with the pair's score have its position under "max", and the others have none."""
    bound = passages.rec(duplicates="max")
    nan = np.nan

    assert [nan, 3, 1, 2, 3, 1, 1] == pytest.approx(bound.rank()["score"].tolist(), nan_ok=True)
    expected = [1, nan, nan, 3, 2, nan, 1]
    assert expected == pytest.approx(bound.rank()["other_score"].tolist(), nan_ok=True)
    assert [2, 3, 5, 6] == bound.top(k=2, score="score").index.tolist()
    assert [0, 4, 6] == bound.top(k=2, score="other_score").index.tolist()
    shown = bound.inspect(1, k=1).tables["score"]
    assert [2, 3, 1, 4, 0] == shown.index.tolist()
    assert [True, False, False, False, True] == shown["relevant"].tolist()


def test_the_first_row_stands_for_its_pair(passages):
    """Only the first row of a pair has a position under "first"."""
    positions = passages.rec(duplicates="first").rank()["score"]

    expected = [3, 2, np.nan, 1, np.nan, 1, np.nan]
    assert expected == pytest.approx(positions.tolist(), nan_ok=True)


@pytest.mark.parametrize("duplicates", ["max", "first", "keep"])
def test_a_judged_frame_evaluates_alike(passages, duplicates):
    """The judged frame gives the values of truth= under the same option."""
    truth = pd.DataFrame({"query": [1, 1, 2, 3], "doc": ["b", "z", "a", "a"]})
    recs = passages.drop(columns="relevant")
    options = {"duplicates": duplicates, "short": "pad", "missing": "unranked"}
    judged = recs.rec(**options).judge(truth)

    assert {"max": 9, "keep": 9, "first": 6}[duplicates] == len(judged)
    # These are 0 for an empty list, and undefined otherwise.
    undefined = ("auc", "fall_out")
    labels = [label for label in OF_RELEVANT if strategies.name_of(label) not in undefined]
    pd.testing.assert_frame_equal(
        recs.rec(population="all", truth=truth, **options).evaluate(labels),
        judged.rec(**options).evaluate(labels),
    )


def test_describe_counts_and_folds(passages):
    """Repeated rows are counted under every rule, and folded under "max" and "first"."""
    for duplicates, longest in {"raise": 5, "keep": 5, "max": 3, "first": 3}.items():
        described = passages.rec(duplicates=duplicates).describe(k=1)["score"]
        assert 3 == described["duplicate pairs"]
        assert 7 == described["rows"]
        assert longest == described["longest ranking"]


def test_describe_with_truth(passages):
    """`describe` knows the relevance of repeated rows once `duplicates` is set."""
    truth = pd.DataFrame({"query": [1, 2], "doc": ["b", "a"]})
    recs = passages.drop(columns="relevant")
    for duplicates, is_known in {"raise": False, "keep": True, "max": True}.items():
        for rec in (recs.rec, dd.from_pandas(recs, npartitions=2).rec):
            described = rec(truth=truth, duplicates=duplicates, short="pad").describe(k=1)
            described = described if isinstance(described, pd.DataFrame) else described.compute()
            assert is_known == described.loc["precision@1, best"].notna().all()


@pytest.mark.parametrize(
    "items",
    [
        pd.array(["ends alike " + "x" * 20, "is long, ends alike " + "x" * 20] * 2, dtype="str"),
        pd.Series([("a", 1), ("a", 2), ("b",), ()], dtype=object).array,
        pd.array([1, 2, 2**63, 2**64 - 1], dtype="UInt64"),
        pd.array([True, False, True, False]),
        pd.timedelta_range("1h", periods=4),
        pd.array(["1", "2", "3", "4"], dtype="string[python]"),
        pd.Categorical([3, 1, 2, 4]),
        np.array([1, 2, 3, 4], ">i4"),
        np.array([1.5, -0.0, 3.5, 7.0], ">f4"),
    ],
    ids=lambda items: str(items.dtype),
)
def test_every_kind_of_item(items):
    """Repeated items are found by value, in any dtype."""
    frame = pd.DataFrame({"user": [1, 1, 2, 2], "item": items, "score": 0.5, "relevant": 1})
    again = [items[position] for position in (0, 1, 2, 3, 3)]
    kept = items.dtype if isinstance(items, np.ndarray) else None
    twice = pd.DataFrame({"user": [1, 1, 2, 2, 2], "item": pd.Series(again, dtype=kept)})
    twice = twice.assign(score=0.5, relevant=1)

    assert 2 == len(frame.rec.recall(k=1))
    with pytest.raises(RepeatedPairError, match="but 1 of 5 rows"):
        twice.rec.recall(k=1)
    assert [1.5] * 5 == twice.rec(duplicates="max").rank()["score"].tolist()


def test_items_that_cannot_be_compared():
    """Items of two kinds, huge floats and lists are refused unless duplicates="keep"."""
    frame = pd.DataFrame({"user": [1, 1], "score": 0.5, "relevant": 1})
    refused = {
        "ids must be of one kind, but are numbers .* and text": pd.Series([1, "1"], dtype=object),
        "ids of float32 must be below 16777216": pd.Series([2.0**24, 1], dtype="float32"),
        "ids must be hashable": pd.Series([[1], [2]]),
    }
    for message, items in refused.items():
        with pytest.raises(RecframeError, match=f"item='item': {message}"):
            frame.assign(item=items).rec.recall(k=1)
        assert 1 == len(frame.assign(item=items).rec(duplicates="keep").recall(k=1))


def test_a_second_column_of_items():
    """If another column of items tells repeated rows apart, it is asked for as the item."""
    frame = pd.DataFrame({"user_id": [1, 1, 2, 2], "item_id": [7, 7, 8, 8], "score": [2, 1] * 2})
    frame = frame.assign(next_item_id=[3, 4, 3, 4], label=[0, 1] * 2)
    with pytest.raises(RecframeError, match="pass item='next_item_id' if that is ranked") as no:
        frame.rec.mean("mrr")

    assert ["item"] == [*no.value.answers]
    assert 0.5 == frame.rec(item="next_item_id").mean("mrr").iloc[0, 0]
