"""Frames of every dtype, size and order give right tables or refusals.

Tests of `missing` with nulls in any column belong here.
"""

import math
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recframe

LABELS = ["precision@2", "recall@2", "r_precision"]
BIG = 2**53

# Two users have three rows each; one is first in the frame and last in sorted order.
USERS = {
    "int64": pd.Series([9, 2], dtype="int64"),
    "int64 above 2**53": pd.Series([BIG + 1, BIG], dtype="int64"),
    "uint64": pd.Series([2**64 - 1, 2**64 - 2], dtype="uint64"),
    "int8": pd.Series([9, -2], dtype="int8"),
    "bool": pd.Series([True, False]),
    "float64": pd.Series([9.5, 2.0]),
    "str": pd.Series(["b", "a"], dtype="str"),
    "object": pd.Series(["b", "a"], dtype=object),
    "object of tuples": pd.Series([("b", 1), ("a", 2)], dtype=object),
    "object of dates": pd.Series([date(2026, 1, 2), date(2026, 1, 1)], dtype=object),
    "string": pd.Series(["b", "a"], dtype="string"),
    "Int64": pd.Series([9, 2], dtype="Int64"),
    "boolean": pd.Series([True, False], dtype="boolean"),
    "category": pd.Series(["b", "a"], dtype=pd.CategoricalDtype(["unused", "a", "b"])),
    "ordered category": pd.Series([1, 7], dtype=pd.CategoricalDtype([9, 7, 1], ordered=True)),
    "datetime": pd.Series([datetime(2026, 1, 2), datetime(2026, 1, 1)]),
    "datetime with zone": pd.Series(
        pd.to_datetime(["2026-01-02", "2026-01-01"]).tz_localize("Europe/Rome")
    ),
    "timedelta": pd.to_timedelta(pd.Series([2, 1]), unit="h"),
    "period": pd.Series(pd.PeriodIndex(["2026-02", "2026-01"], freq="M")),
    "arrow int": pd.Series([9, 2], dtype=pd.ArrowDtype(pa.int32())),
    "arrow string": pd.Series(["b", "a"], dtype=pd.ArrowDtype(pa.string())),
    "arrow timestamp": pd.Series(
        [datetime(2026, 1, 2), datetime(2026, 1, 1)], dtype=pd.ArrowDtype(pa.timestamp("us"))
    ),
    "arrow dictionary": pd.Series(
        ["b", "a"], dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    ),
}
LAYOUTS = {"grouped": [0, 0, 0, 1, 1, 1], "mixed": [0, 1, 1, 0, 1, 0]}


def with_users(users, layout):
    """Return a frame whose rows belong to the two users in the order of a layout."""
    frame = pd.DataFrame({"user": users.iloc[LAYOUTS[layout]].reset_index(drop=True)})
    return frame.assign(
        score=[0.1, 0.9, 0.5, 0.4, 0.3, 0.3], relevant=[0, 1, 1, 1, 0, 0], item=range(6)
    )


def by_notebook(frame, k):
    """Return recall@k as a notebook's groupby computes it, for a frame without ties."""
    top = frame.sort_values("score", ascending=False).groupby("user", observed=True).head(k)
    hits = top.groupby("user", observed=True)["relevant"].sum()
    return hits / frame.groupby("user", observed=True)["relevant"].sum()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", USERS)
def test_user_dtypes(kind, layout):
    """The table has the ids and order of a groupby, and the dtype of the user column."""
    frame = with_users(USERS[kind], layout)
    # This breaks ties.
    frame["score"] += frame["item"] / 100
    recall = frame.rec.recall(k=2)
    # The groupby of pandas 3 turns an index of objects into text if it can.
    index = by_notebook(frame, 2).index.astype(frame["user"].dtype)

    pd.testing.assert_series_equal(
        by_notebook(frame, 2).set_axis(index), recall["score"], check_names=False, check_dtype=False
    )
    assert frame["user"].dtype == recall.index.dtype
    assert "user" == recall.index.name


SCORES = {
    "float64": "float64",
    "float32": "float32",
    "float16": "float16",
    "longdouble": np.longdouble,
    "int64": "int64",
    "int8": "int8",
    "uint64": "uint64",
    "Int64": "Int64",
    "Float64": "Float64",
    "Float32": "Float32",
    "arrow int": pd.ArrowDtype(pa.int16()),
    "arrow float": pd.ArrowDtype(pa.float64()),
    "arrow decimal": pd.ArrowDtype(pa.decimal128(30, 2)),
    "object of numbers": object,
    "sparse": pd.SparseDtype("float64", 0.0),
}


@pytest.mark.parametrize("kind", SCORES)
def test_score_dtypes(kind):
    """Every numeric dtype of scores gives the same table and the same ranks."""
    frame = with_users(USERS["int64"], "mixed")
    frame["score"] = [1, 9, 5, 4, 3, 3]
    converted = frame.assign(score=frame["score"].astype(SCORES[kind]))

    pd.testing.assert_frame_equal(frame.rec.evaluate(LABELS), converted.rec.evaluate(LABELS))
    pd.testing.assert_frame_equal(frame.rec.rank(), converted.rec.rank())


RELEVANCE = ["bool", "int8", "int64", "uint8", "float64", "boolean", "Int8", "Float32", object]


@pytest.mark.parametrize("dtype", [*RELEVANCE, pd.ArrowDtype(pa.bool_())], ids=str)
def test_relevance_dtypes(dtype):
    """Relevance may be boolean or 0 and 1 of any dtype."""
    frame = with_users(USERS["int64"], "mixed")
    converted = frame.assign(relevant=frame["relevant"].astype(bool).astype(dtype))

    pd.testing.assert_frame_equal(frame.rec.evaluate(LABELS), converted.rec.evaluate(LABELS))


@pytest.mark.parametrize(
    "scores",
    [
        [BIG, BIG + 1, BIG + 2],
        [-(2**63), -(2**63) + 1, 2**63 - 1],
        np.array([2**64 - 3, 2**64 - 2, 2**64 - 1], dtype="uint64"),
        pd.array([BIG, BIG + 1, BIG + 2], dtype="Int64"),
        [5e-324, 1e-323, 1.5e-323],
        [-1e308, 1e-320, 1.5e-320],
        [1.0, 1 + 2**-52, 1 + 2**-51],
        [-1.7976931348623157e308, -0.5, math.inf],
        np.array([-3e38, 1e-45, 3e-45], dtype="float32"),
    ],
    ids=str,
)
def test_neighbouring_scores_are_told_apart(scores):
    """Scores that differ in their last bit do not tie, at any size."""
    frame = pd.DataFrame({"user": 1, "score": scores, "relevant": [1, 0, 0]})

    assert [3.0, 2.0, 1.0] == frame.rec.rank()["score"].tolist()
    assert [0.0, 0.0, 1.0] == frame.rec.evaluate([f"recall@{k}" for k in (1, 2, 3)]).loc[1].tolist()


def test_zero_has_no_sign():
    """-0.0 and 0.0 tie."""
    frame = pd.DataFrame({"user": 1, "score": [0.0, -0.0, -3.0], "relevant": [1, 0, 0]})

    assert 0.5 == frame.rec.recall(k=1).loc[1, "score"]


def test_infinite_scores_are_values():
    """Infinite scores rank first, or last if asked to, and tie with each other."""
    scores = [math.inf, math.inf, 0.0, -math.inf]
    frame = pd.DataFrame({"user": 1, "score": scores, "relevant": [1, 0, 1, 1]})

    rec = frame.rec(min_score=-math.inf)
    assert [1.5, 1.5, 3.0, 4.0] == rec.rank()["score"].tolist()
    assert 0.5 == rec.precision(k=1).loc[1, "score"]


def test_nullable_scores_with_nulls():
    """A null of any kind is not ranked, and integers in its column stay exact."""
    scores = pd.array([BIG + 1, None, BIG], dtype="Int64")
    frame = pd.DataFrame({"user": 1, "score": scores, "relevant": [1, 1, 0]})
    table = frame.rec(missing="unranked").evaluate(["precision@1", "recall@1"])

    assert [1.0, 0.5] == table.loc[1].tolist()


@pytest.mark.parametrize("dtype", ["Float64", pd.ArrowDtype(pa.float64())], ids=str)
def test_nan_inside_a_nullable_column_is_null(dtype):
    """A NaN inside a nullable column counts as a null."""
    zero = pd.Series([0.0, 1.0], dtype=dtype)
    frame = pd.DataFrame({"user": 1, "score": zero / zero, "relevant": [1, 0]})

    assert 1 == frame.rec(missing="unranked").rank()["score"].count()
    with pytest.raises(recframe.RecframeError, match="but 1 of 2 rows are null"):
        frame.rec.recall(k=1)


def test_empty_frame():
    """A frame without rows gives an empty table with its columns, and means of NaN."""
    for frame in (
        pd.DataFrame({"user": [], "score": [], "relevant": []}),
        with_users(USERS["str"], "mixed").iloc[:0],
    ):
        table = frame.rec.evaluate(LABELS)

        assert (0, 3) == table.shape
        assert "user" == table.index.name
        assert frame["user"].dtype == table.index.dtype
        assert frame.rec.mean(LABELS).isna().all(axis=None)
        assert 0 == len(frame.rec.rank()) == len(frame.rec.top(k=1))


def test_empty_frame_as_one_ranking():
    """A single ranking without rows is too short for any k."""
    frame = pd.DataFrame({"score": [], "relevant": []})
    with pytest.raises(recframe.RecframeError, match="1 of 1 users have fewer than k=1"):
        frame.rec(user=None).recall(k=1)
    assert [0.0] == frame.rec(user=None, short="pad").precision(k=1)["score"].tolist()


def test_one_row():
    """A single row is a ranking."""
    frame = pd.DataFrame({"user": ["a"], "score": [1.0], "relevant": [True]})

    expected = [[1.0, 1.0, 1.0]]
    assert (
        expected
        == frame.rec.evaluate(["precision@1", "recall@1", "r_precision"]).to_numpy().tolist()
    )


def test_all_tied():
    """Equal scores give the share of relevant rows, in any row order."""
    frame = pd.DataFrame({"user": 1, "score": 7, "relevant": [1] * 10 + [0] * 30})

    for order in (frame, frame[::-1]):
        assert 0.25 == order.rec.precision(k=10).loc[1, "score"]
        assert 0.25 == order.rec.r_precision().loc[1, "score"]


def test_one_giant_user_beside_many_small_ones():
    """A user of a million rows among a hundred thousand users of one row gets right values."""
    n_giant, n_small = 1_000_000, 100_000
    rng = np.random.default_rng(1)
    giant = pd.DataFrame({"user": 50_000.5, "score": rng.permutation(n_giant) / n_giant})
    giant["relevant"] = giant["score"] >= 0.75
    small = pd.DataFrame({"user": np.arange(n_small), "score": 0.5, "relevant": True})
    table = pd.concat([small, giant]).rec(short="pad").evaluate(["precision@10", "r_precision"])

    assert n_small + 1 == len(table)
    assert [1.0, 1.0] == table.loc[50_000.5].tolist()
    assert [0.1, 1.0] == table.drop(50_000.5).drop_duplicates().to_numpy().ravel().tolist()


def test_missing_rules_by_hand():
    """An unranked row counts in R, and a dropped one does not; one null drops it for all scores."""
    frame = pd.DataFrame(
        {"user": 1, "a_score": [0.9, 0.8, None], "b_score": [None, 0.8, 0.9], "relevant": [1, 0, 1]}
    )
    unranked = frame.rec(missing="unranked").recall(k=1)
    dropped = frame.rec(missing="drop").evaluate(["precision@1", "recall@1"])

    assert [[0.5, 0.5]] == unranked.to_numpy().tolist()
    assert dropped["a_score"].equals(dropped["b_score"])
    assert [0.0] == dropped["a_score", "precision@1"].tolist()


def test_dropped_users_vanish():
    """A user without a complete row is not in the table, as after dropna in a notebook."""
    frame = pd.DataFrame({"user": [1, 2, None], "score": [0.1, None, 0.3], "relevant": [1, 1, 1]})

    assert [1.0] == frame.rec(missing="drop").recall(k=1).index.tolist()


REFUSED = {
    "null user": (
        {"user": [1, None, 2]},
        {},
        r"user='user': ids must not be null, but 1 of 3 rows are null \(the first in row 1\)",
    ),
    "null category": ({"user": pd.Categorical(["a", None, "a"])}, {}, "but 1 of 3 rows are null"),
    "null text": (
        {"user": ["a", "b", None]},
        {},
        r"but 1 of 3 rows are null \(the first in row 2\)",
    ),
    "null score": (
        {"score": [0.1, math.nan, math.nan]},
        {},
        r"score='score': must not be null, but 2 of 3 rows are null \(the first in row 1\). "
        "Pass missing='unranked'",
    ),
    "null relevance": (
        {"relevant": [1, 0, None]},
        {},
        r"relevant='relevant': must not be null, but 1 of 3 rows are null \(the first in row 2\)",
    ),
    "null relevance, unranked": (
        {"relevant": [1, 0, None]},
        {"missing": "unranked"},
        "not be null",
    ),
    "text scores": (
        {"score": ["0.1", "0.2", "0.3"]},
        {},
        r"score='score': must be numbers, but has dtype .* \(such as '0.1'\). .*pd.to_numeric",
    ),
    "object scores": (
        {"score": pd.Series(["a", 1, 2], dtype=object)},
        {},
        r"must be numbers, but has dtype object \(such as 'a'\)",
    ),
    "decimals beside floats": (
        {"score": pd.Series([Decimal(1), 0.5, 0.5], dtype=object)},
        {},
        "must be numbers, but has dtype object",
    ),
    "boolean scores": ({"score": [True, False, True]}, {}, "must be numbers, but has dtype bool"),
    "complex scores": ({"score": [1j, 2j, 3j]}, {}, "must be numbers, but has dtype complex128"),
    "category scores": ({"score": pd.Categorical(["1", "2", "3"])}, {}, "dtype category"),
    "datetime scores": ({"score": pd.to_datetime(["2026"] * 3)}, {}, "dtype datetime64"),
    "graded relevance": (
        {"relevant": [0.0, 2.5, 4.0]},
        {},
        "relevant='relevant': must be boolean or 0/1, but has values from 0.0 to 4.0. "
        "Pass min_relevance=",
    ),
    "fractional relevance": ({"relevant": [0.0, 0.5, 1.0]}, {}, "values from 0.0 to 1.0"),
    "negative relevance": ({"relevant": [-1, 0, 1]}, {}, "values from -1 to 1"),
    "text relevance": ({"relevant": ["yes", "no", "no"]}, {}, "must be boolean, 0/1 or numbers"),
    "short lists": (
        {},
        {},
        r"1 of 2 users have fewer than k=2 ranked rows by 'score' \(user 2 has 1\). "
        "Pass short='pad'",
    ),
    "unknown tie rule": ({}, {"ties": "random"}, "ties must be one of 'expected', .* 'random'"),
    "unknown short": ({}, {"short": None}, "short must be one of 'raise', .* None"),
    "unknown missing": ({}, {"missing": "skip"}, "missing must be one of 'raise', .* 'skip'"),
    "zero_division": ({}, {"zero_division": 0.5}, "zero_division must be NaN, 0.0 or 1.0"),
    "zero_division text": ({}, {"zero_division": "nan"}, "'nan'"),
    "min_relevance": ({}, {"min_relevance": "2"}, "min_relevance must be a number or None"),
    "min_score": ({}, {"min_score": math.nan}, "min_score must be a number or None, but is nan"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_data(case):
    """Data and options without a right answer are refused with the fault."""
    columns, options, message = REFUSED[case]
    frame = pd.DataFrame({"user": [1, 1, 2], "score": [0.1, 0.2, 0.3], "relevant": [1, 0, 1]})
    with pytest.raises(recframe.RecframeError, match=message):
        frame.assign(**columns).rec(**options).recall(k=2)


BAD_K = [0, -1, True, np.True_, 4.0, 4.5, "4", None, math.nan]


@pytest.mark.parametrize("k", BAD_K, ids=repr)
@pytest.mark.parametrize("method", ["precision", "recall", "top"])
def test_refused_k(frame, method, k):
    """A value of k that is no integer of 1 or more is refused."""
    with pytest.raises(recframe.RecframeError, match="k must be an integer of 1 or more, but is"):
        getattr(frame.rec, method)(k=k)


def test_numpy_integers_are_integers(frame):
    """A value of k may have any integer type."""
    pd.testing.assert_frame_equal(frame.rec.recall(k=2), frame.rec.recall(k=np.int8(2)))


BAD_METRICS = {
    "recal@4": "unknown metric 'recal@4', did you mean 'recall@4'",
    "R-Precision": "unknown metric 'R-Precision', did you mean 'r_precision'",
    "xyz": "unknown metric 'xyz'; metrics are precision@k, recall@k, r_precision",
    "": "unknown metric ''",
    "recall": "'recall': recall needs a cut-off, .* 'recall@10', but has none",
    "recall@": "needs a cut-off, .* ''",
    "recall@0": "needs a cut-off, .* '0'",
    "recall@-1": "needs a cut-off, .* '-1'",
    "recall@04": "needs a cut-off, .* '04'",
    "recall@4.0": "needs a cut-off, .* '4.0'",
    "recall@٤": "needs a cut-off",
    "r_precision@3": "'r_precision@3': r_precision takes no cut-off",
}


@pytest.mark.parametrize("label", BAD_METRICS)
def test_refused_metrics(frame, label):
    """An unknown metric is answered with the nearest name."""
    with pytest.raises(recframe.RecframeError, match=BAD_METRICS[label]):
        frame.rec.evaluate([label])


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ([], "metrics must name at least one metric"),
        (["recall@1", "recall@1"], "metrics must differ, but have 'recall@1' more than once"),
        (4, "metrics must be a name such as 'recall@4' or a list of names, but is 4"),
        ([4], "unknown metric 4"),
    ],
)
def test_refused_lists_of_metrics(frame, metrics, message):
    """Metrics must be a name or a list of different names."""
    with pytest.raises(recframe.RecframeError, match=message):
        recframe.evaluate(frame, metrics)


@pytest.mark.parametrize("other", [None, 4, {"user": [1]}, pd.Series([1])], ids=repr)
def test_refused_frames(other):
    """An object that is neither a frame nor a path is refused."""
    with pytest.raises(
        recframe.RecframeError, match="frame must be a pandas DataFrame, an Arrow table"
    ):
        recframe.evaluate(other)


@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "i4", "u2"])
def test_either_byte_order(kind):
    """Columns in the other byte order, as some file formats have it, are read correctly."""
    columns = {"user": [1, 1, 256, 256], "score": [3, 256, 1, 2], "relevant": [0, 1, 0, 1]}
    frames = [
        pd.DataFrame({name: np.array(values, order + kind) for name, values in columns.items()})
        for order in "<>"
    ]
    expected, found = (frame.rec.recall(k=1)["score"].to_dict() for frame in frames)

    assert {1: 1.0, 256: 1.0} == expected == found


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("relevant", ["no", "yes"], r"Make numbers of it, for example df\['relevant'\] == 'yes'"),
        ("score", [0.9, "NULL"], r"\(such as .NULL.\). .*pd.to_numeric\(.*, errors=.coerce.\)"),
        (
            "relevant",
            [1.0, None],
            r"Where null means not relevant, as not rated, null_relevance='nonrelevant'",
        ),
        ("score", [1.0, None], r"missing='unranked' to leave them out of this ranking only"),
    ],
)
def test_remedies_fit_what_was_found(column, values, message):
    """A refusal of nulls or text suggests a remedy that suits the column."""
    frame = pd.DataFrame({"user": [1, 1], "score": [0.9, 0.8], "relevant": [1, 0]})
    with pytest.raises(recframe.RecframeError, match=message):
        frame.assign(**{column: values}).rec.recall(k=1)
