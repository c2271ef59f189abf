"""Columns of unusual values give a result or one clear refusal, in every role."""

from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recframe
from unusual_values import FRAME, TRUTH, Mute, Unequal, Unkeyed

SCORES = ["a_score", "b_score"]
ROLES = ("user", "item", "a_score", "relevant", "truth user", "truth item")
GRADES = {"missing": "drop", "min_relevance": 1, "score": SCORES}
ENTRY_POINTS = {
    "evaluate": lambda frame, truth, user: recframe.evaluate(frame, "recall@1", score=SCORES),
    "max": lambda frame, truth, user: frame.rec(duplicates="max", score=SCORES).recall(1),
    "drop": lambda frame, truth, user: frame.rec(**GRADES).ndcg(1),
    "rank": lambda frame, truth, user: frame.rec(score=SCORES).rank(),
    "describe": lambda frame, truth, user: frame.rec(truth=truth, score=SCORES).describe(1),
    "inspect": lambda frame, truth, user: repr(frame.rec(score=SCORES).inspect(user, 1)),
    "compare": lambda frame, truth, user: frame.rec.compare("recall@1"),
    "truth": lambda frame, truth, user: frame.rec(truth=truth, score=SCORES).recall(1),
    "judge": lambda frame, truth, user: frame.rec.judge(truth),
}
# The other calls do not read truth.
OF_TRUTH = ("describe", "truth", "judge")
NESTED = {
    "list": (pa.list_(pa.int64()), [[1], [2]]),
    "struct": (pa.struct([("a", pa.int64())]), [{"a": 1}, {"a": 2}]),
    "map": (pa.map_(pa.string(), pa.int64()), [[("a", 1)], [("b", 1)]]),
}


def of_arrow(values, kind):
    """Return values in a dtype of Arrow."""
    return pd.Series(pd.array(values, dtype=pd.ArrowDtype(kind)))


def objects(*values):
    """Return values as objects."""
    return pd.Series(values, dtype=object)


# Each column has two ids.
COLUMNS = {
    "lists": objects([1], [2]),
    "dicts": objects({}, {"a": 2}),
    "arrays": objects(np.array([1]), np.array([2, 3])),
    "tuples with None": objects((1, None), (1, 2)),
    "tuples of lists": objects(([1],), ([2],)),
    "tuple and None": objects((1, 2), None),
    "plain objects": objects(Mute(), Mute()),
    "unequal": objects(Unequal(), Unequal()),
    "unkeyed": objects(Unkeyed(), Unkeyed()),
    "types": objects(int, str),
    "frozensets": objects(frozenset([1]), frozenset([2])),
    "complex": pd.Series([1j, 2j]),
    "complex objects": objects(1j, 2j),
    "bytes": objects(b"a", b"b"),
    "bytearrays": objects(bytearray(b"a"), bytearray(b"b")),
    "decimals": objects(Decimal(1), Decimal(2)),
    "signaling NaN": objects(Decimal("sNaN"), Decimal(2)),
    "ints beyond floats": objects(10**400, 2),
    "ints beyond print": objects(10**5000, 2),
    "float16": pd.Series([1, 0], dtype="float16"),
    "longdouble": pd.Series(np.array([1, 0], np.longdouble)),
    "all null": objects(None, None),
    "NA": objects(pd.NA, pd.NA),
    "mixed categories": pd.Series(pd.Categorical(objects(1, "a"))),
    "no categories": pd.Series(pd.Categorical([None, None], categories=[])),
    "periods": pd.Series(pd.PeriodIndex(["2020", "2021"], freq="Y")),
    "intervals": pd.Series(pd.IntervalIndex.from_tuples([(0, 1), (1, 2)])),
    "sparse": pd.Series(pd.arrays.SparseArray([1.0, np.nan])),
    "durations": pd.Series(pd.to_timedelta([1, 2], unit="s")),
    "arrow decimal": of_arrow([Decimal(1), Decimal(0)], pa.decimal128(5, 2)),
    "arrow duration": of_arrow([1, 2], pa.duration("s")),
    "arrow half": of_arrow(np.array([1, 0], np.float16), pa.float16()),
    "arrow null": of_arrow([None, None], pa.null()),
    "surrogates": objects("\ud800", "b"),
    "frames": objects(pd.DataFrame(), pd.DataFrame()),
    **{f"arrow {name}": of_arrow(values, kind) for name, (kind, values) in NESTED.items()},
}


def put(role, ids):
    """Return a frame and truth with these values in a role, and one of the users."""
    frame, truth = FRAME.copy(), TRUTH.copy()
    if role.startswith("truth"):
        truth[role.removeprefix("truth ")] = ids
    else:
        rows = [0, 1, 0, 1] if role == "item" else [0, 0, 1, 1]
        frame[role] = ids.iloc[rows].reset_index(drop=True)
        if role in truth:
            truth[role] = ids
    return frame, truth, frame["user"].tolist()[0]


def find_refusals(calls):
    """Return the messages of the calls that refuse; any other error is a fault."""
    refused = []
    for call in calls:
        try:
            call()
        except recframe.RecframeError as error:
            # Several questions have a line each.
            refused += str(error).split("\n")
    return refused


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", COLUMNS)
def test_odd_columns_end_in_a_table_or_a_refusal(name, role):
    """No value in a column makes a call end in an error of pandas, Arrow or an object."""
    given = put(role, COLUMNS[name])
    entry_points = OF_TRUTH if role.startswith("truth") else ENTRY_POINTS
    refused = find_refusals(partial(ENTRY_POINTS[entry], *given) for entry in entry_points)

    assert all(len(message) <= 1200 for message in refused)


@pytest.mark.parametrize(
    ("name", "role", "message"),
    [
        ("lists", "user", "user='user': ids must be hashable, but are not: unhash"),
        ("lists", "item", "item='item': ids must be hashable, but are not: unhash"),
        ("tuples of lists", "user", "user='user': ids must be hashable"),
        ("plain objects", "user", r"user='user': ids must be sortable, .* <Mute inst"),
        ("complex objects", "user", "user='user': ids must be sortable"),
        ("unequal", "user", "user='user': ids must be comparable, .* ZeroDivisionErr"),
        ("arrow list", "user", r"user='user': ids must be one value in a cell, but is list<"),
        ("arrow struct", "item", r"item='item': ids must be one value in a cell, but is struct<"),
        ("longdouble", "user", "user='user': ids must not be .*: pandas has no index for it"),
        ("arrow half", "item", "item='item': ids must not be float16"),
        (
            "signaling NaN",
            "a_score",
            "'a_score' must hold comparable values, but holds a signaling NaN",
        ),
        ("ints beyond floats", "a_score", "score='a_score': .* lose digits, and"),
        ("ints beyond floats", "relevant", "relevant='relevant': .* lose digits, and"),
    ],
)
def test_odd_columns_are_refused(name, role, message):
    """The message names the role, the column, the valid values and the value in the column."""
    frame, _, _ = put(role, COLUMNS[name])

    with pytest.raises(recframe.RecframeError, match=message):
        frame.rec(score=SCORES).recall(1)


def test_half_floats_are_grades():
    """Grades of 16 bits have the gain of equal grades of 64 bits."""
    frame = FRAME.assign(relevant=[3, 700, 2, 1])
    of_half = frame.astype({"relevant": "float16"})
    expected, actual = (each.rec(min_relevance=1).ndcg(2) for each in (frame, of_half))

    pd.testing.assert_frame_equal(expected, actual)


def test_top_keeps_labels_of_several_levels():
    """`top` adds the rank as a column next to labels of two levels."""
    frame = FRAME.set_axis(pd.MultiIndex.from_product([["a"], list(FRAME)]), axis=1)
    labels = frame.columns
    top = frame.rec(user=labels[0], item=labels[1], score=labels[2]).top(1)

    assert [*labels, ("rank", "")] == list(top.columns)
    assert [1.0, 1.0] == top["rank"].tolist()


def test_numbers_beyond_floats_are_ids():
    """Integers of any length are ids, and so are frozensets, types and plain objects as items."""
    for name in ("ints beyond floats", "frozensets", "plain objects", "types"):
        frame, truth, _ = put("item", COLUMNS[name])
        expected = FRAME.rec(truth=TRUTH).recall(1)

        pd.testing.assert_frame_equal(expected, frame.rec(truth=truth, score=SCORES).recall(1))


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("role", ["user", "item", "a_score", "relevant"])
def test_nested_columns_of_files_are_refused(name, role, tmp_path):
    """A list, struct or map in a role is refused by its type before a row is read."""
    kind, values = NESTED[name]
    column = pa.array([values[0], values[0], values[1], values[1]], kind)
    table = pa.Table.from_pandas(FRAME)
    table = table.set_column(table.schema.get_field_index(role), role, column)
    pa.parquet.write_table(table.replace_schema_metadata(None), tmp_path / "rows.parquet")

    with pytest.raises(recframe.RecframeError, match=f"'{role}' must .* type {name}<"):
        recframe.evaluate(tmp_path / "rows.parquet", "recall@1", score="a_score", memory=1)


def test_dtypes_that_pandas_does_not_read_are_refused(tmp_path):
    """A file with a dtype that pandas cannot read is refused in a line that names the file."""
    frame, _, _ = put("user", COLUMNS["arrow list"])
    frame.to_parquet(tmp_path / "rows.parquet")

    with pytest.raises(recframe.RecframeError, match=r"rows.parquet: .*data type 'list<"):
        recframe.evaluate(tmp_path / "rows.parquet", "recall@1")


METHODS = [
    lambda rec, options: rec(**options).recall(1),
    lambda rec, options: rec(**options).describe(1),
    lambda rec, options: rec(**options).top(1),
    lambda rec, options: repr(rec(**options).inspect(1, 1)),
    lambda rec, options: rec(**options).judge(TRUTH),
]
LABELS = {
    "none": [],
    "twice": ["user", "item", "a_score", "a_score", "relevant"],
    "tuples": [(name, 1) for name in FRAME],
    "numbers": range(5),
    "null": ["user", "item", "a_score", "b_score", np.nan],
    "None": ["user", "item", "a_score", "b_score", None],
    "NA": ["user", "item", "a_score", "b_score", pd.NA],
    "dates": pd.date_range("2020", periods=5),
    "intervals": pd.interval_range(0, 5),
    "levels": pd.MultiIndex.from_product([["a"], list(FRAME)]),
    "bytes": [name.encode() for name in FRAME],
    "objects": ["user", "item", "a_score", "b_score", Unequal()],
    "long": ["user", "item", "a_score", "b_score", "x" * 10**5],
}


@pytest.mark.parametrize("name", LABELS)
def test_odd_labels_end_in_a_table_or_a_refusal(name):
    """Columns with unusual labels are used, named in a message or refused."""
    labels = pd.Index(LABELS[name], tupleize_cols=False) if name != "levels" else LABELS[name]
    frame = FRAME.iloc[:, : len(labels)].set_axis(labels, axis=1)
    roles = {}
    if len(labels):
        roles = dict(zip(("user", "item", "score", "relevant"), labels[[0, 1, 2, -1]], strict=True))
    refused = find_refusals(
        partial(call, frame.rec, options)
        for options in ({}, roles, roles | {"user": None})
        for call in METHODS
    )

    assert all(len(message) <= 1200 for message in refused)
