"""`df.rec` of recframe.polars gives tables with the values of pandas, bit for bit."""

import datetime
import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recframe
from recframe import MissingColumnError, RecframeError
from recframe.polars import PolarsRecAccessor

DAY = datetime.date(2026, 11, 1)
DAYS = [DAY, DAY.replace(day=2), DAY.replace(day=3)]
TEXTS = ["b", "", "a much longer text"]
USERS = {
    "String": pl.Series(TEXTS),
    "Categorical": pl.Series(TEXTS, dtype=pl.Categorical),
    "Enum": pl.Series(TEXTS, dtype=pl.Enum(["z", *TEXTS])),
    "Int64": pl.Series([2**62, -1, 7]),
    "UInt8": pl.Series([200, 1, 7], dtype=pl.UInt8),
    "Date": pl.Series(DAYS),
    "Datetime": pl.Series(DAYS).cast(pl.Datetime("ms", "Asia/Tokyo")),
}
ROWS = {
    "item": ["p", "q", "r", "p", "q", "s", "p"],
    "a_score": [0.5, 0.5, 0.1, 3.0, 1.0, 2.0, 1.0],
    "b_score": [1, 2, None, 1, 1, 1, None],
    "relevant": [True, False, True, False, True, True, False],
    "price": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5],
    "tags": [["x"], [], None, ["y"], [], [], []],
}
# Each number is the user of a row.
OF = [0, 0, 0, 2, 2, 2, 1]
SEGMENTS = ["u", "u", "u", None, None, None, "v"]
OPTIONS = {"missing": "unranked", "short": "pad"}
METRICS = ["precision@2", "recall@2", "r_precision", "ndcg", "auc", "mean(price)@2"]


def make(users="String", **columns):
    """Return the rows in Polars and in pandas."""
    frame = pl.DataFrame({"user": USERS[users].gather(OF), **ROWS, "part": SEGMENTS, **columns})
    frame = frame.with_columns(pl.col("part").cast(pl.Categorical))
    own = frame.drop("tags").to_pandas().astype({"b_score": "Int64"})
    # Polars orders these as texts, in any order of rows.
    if users == "Categorical":
        own["user"] = own["user"].cat.reorder_categories(sorted(TEXTS))
    # Arrow gives dates as objects.
    if users == "Date":
        own["user"] = pd.Series(frame["user"].to_list(), dtype=object)
    return frame, own


def as_is(value):
    """Return a value in a form that both libraries share: null and NaN are equal."""
    if value is None or value is pd.NaT or value is pd.NA or value != value:
        return None
    return value.to_pydatetime() if isinstance(value, pd.Timestamp) else value


def rows_of(table):
    """Return the rows of a table, as a list of dicts."""
    rows = table.to_dicts() if isinstance(table, pl.DataFrame) else table.to_dict("records")
    return [{name: as_is(value) for name, value in row.items()} for row in rows]


def rows_of_users(table):
    """Return the per-user table of pandas as rows of users and scores."""
    return [
        {"user": as_is(user), "score": score}
        | {metric: as_is(table.loc[user, (score, metric)]) for metric in table.columns.unique(1)}
        for user in table.index
        for score in table.columns.unique(0)
    ]


@pytest.mark.parametrize("lazy", [False, True], ids=["eager", "lazy"])
@pytest.mark.parametrize("users", USERS)
def test_metrics_of_users(users, lazy):
    """A per-user table has pandas' values, and the ids have the frame's dtype."""
    frame, own = make(users)
    expected = own.rec(**OPTIONS).evaluate(METRICS)
    given = (frame.lazy() if lazy else frame).rec(**OPTIONS).evaluate(METRICS)

    assert rows_of_users(expected) == rows_of(given)
    assert frame.schema["user"] == given.schema["user"]
    assert [pl.String, *[pl.Float64] * len(METRICS)] == given.dtypes[1:]


@pytest.mark.parametrize("users", ["String", "Categorical", "Enum"])
def test_order_of_rows(users):
    """The order of rows changes neither the values nor the order of users."""
    frame, _ = make(users)
    order = [6, 0, 3, 2, 1, 5, 4]
    expected = frame.rec(**OPTIONS).evaluate(METRICS)

    assert expected.equals(frame[order].rec(**OPTIONS).evaluate(METRICS))
    ids = expected["user"].cast(pl.String).to_list()[::2]
    assert ids == (TEXTS if users == "Enum" else sorted(TEXTS))


@pytest.mark.parametrize(
    "options",
    [
        {"ties": "worst", "min_score": 0.5},
        {"user": None, "duplicates": "first"},
        {"missing": "drop", "zero_division": 0.0},
        {"score": "price", "ascending": True, "relevant": "a_score", "min_relevance": 1},
        {"score": ["price", "a_score"], "duplicates": "keep"},
    ],
)
@pytest.mark.parametrize("users", ["String", "Enum"])
def test_options(users, options):
    """Options mean the same as in pandas, also for methods of single metrics."""
    frame, own = make(users)
    options = OPTIONS | options
    expected = own.rec(**options).evaluate(["recall@1", "ndcg"])
    given = frame.rec(**options)

    expected.index.name = "user"
    assert rows_of_users(expected) == rows_of(given.evaluate(["recall@1", "ndcg"]))
    expected = rows_of_users(expected[[(score, "ndcg") for score in expected.columns.unique(0)]])
    assert expected == rows_of(given.ndcg())


def test_users_of_several_columns():
    """Users identified by several columns have as many columns in the table."""
    frame, own = make(day=OF)
    expected = own.rec(user=["day", "user"], **OPTIONS).evaluate(METRICS)
    given = frame.rec(user=["day", "user"], **OPTIONS).evaluate(METRICS)

    assert ["day", "user", "score", *METRICS] == given.columns
    ids = [pair for pair in expected.index for _ in range(2)]
    assert ids == given.select("day", "user").rows()
    assert rows_of_users(expected.droplevel("day")) == rows_of(given.drop("day"))


SEGMENT = pd.Series(["y", "x"], pd.Index(["b", ""], name="user"), name="side")
TABLES = {
    "mean": lambda rec, **by: rec.mean(METRICS, **by),
    "curve": lambda rec, **by: rec.curve("recall", 2, **by),
    "summary": lambda rec, **by: rec.summary(["recall@2", "auc"], **by),
    "compare": lambda rec, **by: rec.compare(["recall@2", "auc"], **by),
    "compare all": lambda rec, **by: rec.compare("recall@2", "all", **by),
}


@pytest.mark.parametrize("by", [{}, {"by": "part"}, {"by": [SEGMENT, "part"], "weights": "weight"}])
@pytest.mark.parametrize("name", TABLES)
def test_tables(name, by):
    """Every table has pandas' rows, with the index as columns."""
    frame, own = make(weight=[2, 2, 2, 1, 1, 1, 3])
    expected = TABLES[name](own.rec(**OPTIONS), **by)
    given = TABLES[name](frame.rec(**OPTIONS), **by)
    rows = rows_of(given)
    levels = [level for level in expected.index.names if level is not None]
    if name == "curve":
        label = expected.columns.name
        cells = expected.rename_axis(columns=None).reset_index()
        scores = list(expected)
        expected = pd.DataFrame(
            [
                {level: row[level] for level in levels} | {"score": score, label: row[score]}
                for _, row in cells.iterrows()
                for score in scores
            ]
        )
        assert [*levels[:-1], "score", "k", label] == given.columns
    else:
        assert levels == given.columns[: len(levels)]
    if name == "compare":
        assert {"a_score"} == {row.pop("baseline") for row in rows}
    plain = pd.DataFrame(expected if name == "curve" else expected.reset_index()).astype(object)
    for row, found in zip(rows_of(plain), rows, strict=True):
        undefined = {key: found[key] for key in found if key.startswith("n_undefined")}
        assert {**dict.fromkeys(undefined, 0), **row} == found
    if "part" in levels:
        assert pl.Categorical == given.schema["part"]


@pytest.mark.parametrize("items", [None, 9, pl.DataFrame({"item": list("pqrst")})])
def test_catalogue(items):
    """A catalogue equals pandas', also if its items are a Polars frame."""
    frame, own = make()
    known = items.to_pandas() if isinstance(items, pl.DataFrame) else items
    expected = own.rec(**OPTIONS).catalogue(2, known)

    assert rows_of(expected.reset_index()) == rows_of(frame.rec(**OPTIONS).catalogue(2, items))


@pytest.mark.parametrize("users", ["String", "Enum", "Date"])
def test_rows(users):
    """`top` and `rank` add ranks to the frame's rows, and keep dtypes that pandas lacks."""
    frame, own = make(users)
    first = frame.rec(score="a_score").top(2)
    expected = own.rec(score="a_score").top(2)
    assert rows_of(expected) == rows_of(first.drop("tags"))
    assert first["tags"].to_list() == [ROWS["tags"][row] for row in expected.index]
    assert dict(frame.schema) == {name: first.schema[name] for name in frame.columns}

    both = frame.rec(**OPTIONS)
    assert rows_of(own.rec(**OPTIONS).top(1)) == rows_of(both.top(1).drop("tags"))
    ranks = own.rec(**OPTIONS).rank()
    found = both.rank()
    assert [*ranks["a_score"], *ranks["b_score"].map(as_is)] == [
        rank if rank is not None else pytest.approx(math.nan, nan_ok=True) for rank in found["rank"]
    ]
    assert found["ranked_by"].to_list() == ["a_score"] * 7 + ["b_score"] * 7
    assert pl.concat([frame, frame]).equals(found.drop("ranked_by", "rank"))
    one = frame.rec(score="a_score").rank()
    assert frame.with_columns(rank=one["rank"]).equals(one)


@pytest.mark.parametrize("dropped", [[], ["relevant"]])
def test_judged_rows(dropped):
    """Judged rows have the relevance of truth, whether or not the frame has relevance."""
    frame, own = make()
    truth = pd.DataFrame({"user": ["b", "a much longer text"], "item": ["q", "new"]})
    options = {"score": "a_score", "truth": truth}
    expected = own.drop(columns=dropped).rec(**options).judge()
    found = frame.drop(dropped).rec(**options).judge()

    assert rows_of(expected) == rows_of(found.drop("tags").select(expected.columns))


@pytest.mark.parametrize("lazy", [False, True], ids=["eager", "lazy"])
@pytest.mark.parametrize("users", ["String", "Int64", "Categorical"])
def test_truth_and_exclude(users, lazy):
    """Truth and `exclude` may be Polars frames, and judging adds rows with nulls."""
    frame, own = make(users)
    new = pl.Series(["new"]) if frame.schema["user"] != pl.Int64 else pl.Series([5])
    listed = pl.concat([USERS[users].gather([0, 2]).cast(new.dtype), new])
    truth = pl.DataFrame({"user": listed, "item": ["q", "t", "q"]})
    seen = pl.DataFrame({"user": listed[:1], "item": ["r"]})
    rec = (frame.lazy() if lazy else frame).rec
    given = rec(population="all", truth=truth, exclude=seen, **OPTIONS)
    expected = own.rec(
        population="all", truth=truth.to_pandas(), exclude=seen.to_pandas(), **OPTIONS
    )

    assert rows_of_users(expected.evaluate(METRICS)) == rows_of(given.evaluate(METRICS))
    judged, of_pandas = given.judge(), expected.judge()
    names = [name for name in of_pandas if name != "part"]
    assert rows_of(of_pandas[names].astype(object)) == rows_of(judged.select(names))
    assert judged["tags"].to_list() == [
        *(ROWS["tags"][row] for row in (0, 1, 3, 4, 5, 6)),
        None,
        None,
    ]
    assert rows_of(judged) == rows_of(rec(exclude=seen, **OPTIONS).judge(truth))
    with pytest.raises(RecframeError, match="truth: judge needs it"):
        rec(**OPTIONS).judge()


def test_describe_and_inspect():
    """`describe`, `inspect` and the accessor show the text of pandas."""
    frame, own = make()
    expected, given = own.drop(columns="part").rec(**OPTIONS), frame.drop("part").rec(**OPTIONS)

    assert repr(expected.describe(2)) == repr(given.describe(2))
    assert repr(expected.inspect("b", 2)) == repr(given.inspect("b", 2))
    assert repr(expected).replace("7 columns", "8 columns").replace("6 col", "7 col") == repr(given)


def fail(*_, **__):
    """Fail when data are read."""
    raise AssertionError("the data was looked at")


def test_lazy_frames_are_read_late():
    """A lazy frame is shown by its schema, and only needed columns are collected."""
    frame, _ = make()
    expected = frame.rec(score="a_score").recall(1)
    failing = pl.col("price").map_batches(fail, return_dtype=pl.Float64)
    lazy = frame.lazy().with_columns(failing).filter(pl.col("item").is_not_null())
    rec = lazy.rec(score="a_score")

    assert repr(rec).startswith("df.rec: 8 columns\n  user      inferred   'user'")
    assert expected.equals(rec.recall(1))
    with pytest.raises((AssertionError, pl.exceptions.ComputeError), match="was looked at"):
        rec.evaluate("mean(price)@1")


@pytest.mark.parametrize("schema", [{"user": pl.String}, {"user": pl.Int64}])
def test_frames_without_rows(schema):
    """Frames without rows give tables without rows."""
    frame = pl.DataFrame(schema=schema | {"score": pl.Float64, "relevant": pl.Int8})
    given = frame.rec.evaluate("recall@1")

    assert schema | {"score": pl.String, "recall@1": pl.Float64} == dict(given.schema)
    assert [None] == frame.rec.mean("recall@1")["recall@1"].to_list()
    assert frame.rec.top(1).equals(frame.with_columns(rank=pl.lit(None, pl.Float64)))


def test_names_are_literal():
    """The name of a column is no regular expression."""
    frame, _ = make()
    odd = frame.rename({"user": "^.*$", "a_score": "*"}).drop("b_score")
    given = odd.rec(user="^.*$", score="*").recall(1)

    assert ["^.*$", "score", "recall@1"] == given.columns
    assert {"*"} == set(given["score"])


@pytest.mark.parametrize(
    ("make_call", "kind", "match"),
    [
        (lambda rec: rec.recall(1), RecframeError, r"score='b_score': must not be null"),
        (lambda rec: rec(score="c").auc(), MissingColumnError, r"score='c': no such column"),
        (
            lambda rec: rec(user="tags", missing="drop").auc(),
            RecframeError,
            "user='tags': ids must be one value in a cell",
        ),
        (lambda rec: rec.mean("recall@1", recall=1), TypeError, r"mean\(\) got an unexpected"),
        (lambda rec: rec.mean("recall@1", ties="best"), TypeError, r"df\.rec\(ties='best'\)\.mean"),
        (
            lambda rec: rec(**OPTIONS).mean("recall@1", by=pl.Series(["x"])),
            RecframeError,
            r"by must be a column of the frame or a Series indexed by user \(of pandas\), but is",
        ),
        (
            lambda rec: rec(**OPTIONS).summary("recall@1", by=SEGMENT.rename("low")),
            RecframeError,
            "by='low' has a name that results use. Rename it",
        ),
    ],
)
def test_refusals(make_call, kind, match):
    """A refusal suggests calls of `df.rec`."""
    frame, _ = make()
    with pytest.raises(kind, match=match):
        make_call(frame.rec)


def test_nulls_and_repeated_pairs():
    """Null ids and repeated pairs are refused in the words of pandas."""
    frame, own = make(user=["b", "b", "b", None, "", "", ""])
    message = r"user='user': ids must not be null, but 1 of 7 rows are null \(the first in row 3\)"
    for one in (frame, own):
        with pytest.raises(RecframeError, match=message):
            one.rec(score="price").recall(1)
    objects = pl.Series([object()] * 7, dtype=pl.Object)
    frame, own = make(user=["b"] * 7, model=[1, 1, 1, 2, 2, 1, 3])
    match = "The column 'model' tells them apart"
    with pytest.raises(RecframeError, match=match) as expected:
        own.drop(columns=["price", "part"]).rec(score="a_score").recall(1)
    frame = frame.drop("price", "part").with_columns(made=objects)
    with pytest.raises(RecframeError, match=match) as given:
        frame.rec(score="a_score").recall(1)
    assert str(expected.value) == str(given.value)


def test_columns_that_arrow_does_not_have():
    """A column of Python objects is refused in a role and ignored elsewhere."""
    frame, _ = make(made=pl.Series([object()] * 7, dtype=pl.Object))
    expected = frame.drop("made").rec(score="a_score")
    given = frame.rec(score="a_score")
    assert expected.recall(1).equals(given.recall(1))
    assert expected.rank().equals(given.rank().drop("made"))
    with pytest.raises(RecframeError, match="'made' must be of a type that Arrow has, but is Obj"):
        frame.rec(user="made", score="a_score").recall(1)


def test_what_is_no_frame_of_polars():
    """A pandas frame passed to Polars' accessor is refused with a call, and other objects too."""
    with pytest.raises(RecframeError, match=r"but is one of pandas. Pass pl\.from_pandas\(frame\)"):
        PolarsRecAccessor(pd.DataFrame())
    with pytest.raises(RecframeError, match="must be a Polars DataFrame or LazyFrame, but is 5"):
        PolarsRecAccessor(5)


def test_the_other_entry_points_return_pandas():
    """`recframe.rec` and `recframe.evaluate` take a Polars frame and return pandas tables."""
    frame, own = make()
    expected = own.rec(**OPTIONS).evaluate(METRICS)

    pd.testing.assert_frame_equal(expected, recframe.evaluate(frame, METRICS, **OPTIONS))
    pd.testing.assert_frame_equal(expected, recframe.rec(frame, **OPTIONS).evaluate(METRICS))


@pytest.mark.parametrize("text", ["a", "a long user name", "a longer user name, of 32 bytes."])
def test_texts_of_which_no_row_is_left(text):
    """A table is empty, with its dtypes, if no row of text users is left."""
    texts = [text + end for end in ("", "", "", "", "1", "1", "1", "1")]
    frame = pl.DataFrame({"user": texts, "relevant": [1] * 8})
    frame = frame.with_columns(score=pl.lit(None, pl.Float64))

    table = frame.rec(missing="drop", short="pad").recall(2)
    assert {"user": pl.String, "score": pl.String, "recall@2": pl.Float64} == table.schema
    assert table.is_empty()


@pytest.mark.parametrize(
    "kind",
    [*(USERS[name].dtype for name in USERS), pl.Time(), pl.Binary(), pl.Decimal(38, 0)],
    ids=str,
)
def test_users_of_no_row_have_the_type_of_the_frame(kind):
    """The users of a table without rows have the dtype of the frame."""
    frame = pl.DataFrame(schema={"user": kind, "score": pl.Float64, "relevant": pl.Int8})

    assert kind == frame.rec.auc().schema["user"]


def test_decimal_users_keep_their_precision():
    """Decimal users keep the precision of the frame."""
    users = pl.Series([7, 12]).cast(pl.Decimal(2, 0))
    frame = pl.DataFrame({"user": users, "score": [0.5, 0.25], "relevant": [1, 0]})
    wide = frame.with_columns(pl.col("user").cast(pl.Decimal(38, 0)))
    for rows in (frame, wide):
        assert rows.schema["user"] == rows.rec(short="pad").recall(1).schema["user"]


def test_decimal_users_of_truth_alone_are_not_cut_off():
    """Decimal users of truth may have more digits than the frame's dtype."""
    users = pl.Series([7, 12]).cast(pl.Decimal(2, 0))
    frame = pl.DataFrame({"user": users, "item": [1, 2], "score": [0.5, 0.25]})
    of_truth = pl.Series([7, 1234567]).cast(pl.Decimal(10, 0))
    truth = pl.DataFrame({"user": of_truth, "item": [1, 1]})

    table = frame.rec(population="all", truth=truth, short="pad", zero_division=0.0).recall(1)
    assert [7, 12, 1234567] == [int(user) for user in table["user"]]


@pytest.mark.parametrize("kind", [pl.List(pl.Int128), pl.Struct({"a": pl.Array(pl.Int128, 2)})])
def test_columns_in_which_is_what_arrow_has_not(kind):
    """A column of a dtype that Arrow lacks is refused in a role and ignored elsewhere."""
    frame = pl.DataFrame({"user": [1, 1], "score": [0.5, 0.25], "relevant": [1, 0]})
    frame = frame.with_columns(other=pl.lit(None, kind))

    assert [1.0] == frame.rec.recall(1)["recall@1"].to_list()
    with pytest.raises(RecframeError, match="'other' must be of a type that Arrow has"):
        frame.rec(user="other").recall(1)


def test_segments_of_half_floats():
    """Segments may be floats of 16 bits, although pandas has no such index."""
    halves = np.array([1, 1, 0.5], np.float16)
    frame = pl.DataFrame({"user": [1, 1, 2], "score": [0.5, 0.25, 1], "relevant": [1, 0, 1]})
    options = {"short": "pad"}
    own = frame.to_pandas().assign(half=halves).rec(**options).mean("recall@1", by="half")
    given = frame.with_columns(half=pl.Series(halves)).rec(**options).mean("recall@1", by="half")

    assert [0.5, 1.0] == own.index.get_level_values("half").to_list()
    assert [0.5, 1.0] == given["half"].to_list()


@pytest.mark.parametrize("given", [{"ties": "first"}, {"ties": "last"}, {"duplicates": "first"}])
def test_a_lazy_frame_has_no_order(given):
    """Options that read the order of rows are refused for a LazyFrame, not for a DataFrame."""
    frame, own = make()
    message = f"{next(iter(given))}='{next(iter(given.values()))}' reads the order of rows, which a"
    with pytest.raises(RecframeError, match=f"{message} LazyFrame does not keep. Pass "):
        frame.lazy().rec(**given)
    expected = rows_of_users(own.rec(score="a_score", **given).evaluate(["recall@1"]))
    assert expected == rows_of(frame.rec(score="a_score", **given).recall(k=1))


def test_columns_do_not_depend_on_the_data():
    """The columns about undefined users always exist, as lazy frames need a fixed schema."""
    frame, _ = make()
    rec = frame.rec(**OPTIONS)
    assert ["n_undefined"] == rec.summary("precision@2").columns[-1:]
    undefined = ["n_undefined_score", "n_undefined_baseline", "n_undefined_both"]
    assert undefined == rec.compare("precision@2").columns[-3:]
    assert "n_undefined" not in rec.compare("precision@2").columns


RECS = {"userId": [1, 2, 3, 4], "picks": [["a", "b"], [], ["c"], None]}


@pytest.mark.parametrize("lazy", [False, True])
def test_lists_are_refused_with_a_call_that_runs(lazy):
    """A column of lists is refused with a call that makes rows of it."""
    df = pl.DataFrame(RECS)
    with pytest.raises(RecframeError) as caught:
        (df.lazy() if lazy else df).rec.mean("recall@1")
    (call,) = re.findall(r"recframe\.from_lists\(.*?\)", str(caught.value))
    rows = eval(call, {"recframe": recframe, "df": df})

    assert ["a", "b", "c"] == rows["item"].dropna().tolist()


def test_truth_takes_lists_of_polars():
    """Truth with lists equals truth with a row for each item."""
    recs = recframe.from_lists(pl.DataFrame(RECS))
    truth = pl.DataFrame({"userId": [1, 2, 3, 4], "itemIds": [["b", "z"], ["y"], ["c"], ["x"]]})
    rows = truth.explode("itemIds").to_pandas()
    options = {"short": "pad", "truth_user": "userId", "truth_item": "itemIds"}

    expected = recs.rec(truth=rows, **options).evaluate(["recall@1", "mrr"])
    pd.testing.assert_frame_equal(
        expected, recs.rec(truth=truth, short="pad").evaluate(["recall@1", "mrr"])
    )
    ours = pl.from_pandas(recs.dropna()).rec(truth=truth, short="pad", population="truth")
    assert expected["score", "recall@1"].tolist() == ours.recall(1)["recall@1"].to_list()
