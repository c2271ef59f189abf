"""Option `user` with several columns makes each combination of ids a ranking, on every engine."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import recframe
import recframe.dask  # This import registers ddf.rec.
import reference
import strategies
from recframe.errors import MissingColumnError, RecframeError
from recframe.frames.tables import tidy_table

BOTH = ["date", "user"]
METRICS = ["recall@2", "ndcg@2", "auc"]
PADDED = {"short": "pad", "user": BOTH}
# A day of the files below takes fewer bytes, and all days take more.
SMALL = 32 << 10
DAYS = pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-04"])


@pytest.fixture
def frame():
    """Return 300 shuffled rows of 4 users on 3 days, with ties and clicks by user and day."""
    rng = np.random.default_rng(3)
    day, user = rng.integers(0, 3, 300), rng.integers(0, 4, 300)
    return pd.DataFrame(
        {
            "date": DAYS[day],
            "user": np.array(["ann", "bob", "cat", "dan"])[user],
            "item": np.arange(300) % 97,
            "a_score": rng.random(300).round(2),
            "b_score": rng.integers(0, 9, 300),
            "relevant": rng.random(300) < 0.3,
            "clicks": day + 2 * user,
        }
    ).drop_duplicates([*BOTH, "item"], ignore_index=True)


@pytest.fixture
def truth(frame):
    """Return truth with unlisted items, a day without rows and a user without rows."""
    listed = frame.loc[frame["relevant"], [*BOTH, "item"]]
    day = pd.Timestamp("2026-01-03")
    more = pd.DataFrame(
        {"date": [DAYS[0], day, DAYS[1]], "user": ["ann", "bob", "zoe"], "item": [999, 5, 6]}
    )
    return pd.concat([listed, more], ignore_index=True)


def joined(frame):
    """Return a frame with one text that joins the user columns in their order."""
    texts = (frame[label].map(str) for label in BOTH)
    return frame.assign(both=["|".join(ids) for ids in zip(*texts, strict=True)])


def assert_same(expected, actual):
    """Assert that a table of one user column has the values and order of one of several."""
    users = actual.index
    ids = (users.get_level_values(level).map(str) for level in BOTH)
    assert ["|".join(own) for own in zip(*ids, strict=True)] == expected.index.tolist()
    assert BOTH == users.names
    pd.testing.assert_frame_equal(
        expected.reset_index(drop=True), actual.reset_index(drop=True), check_exact=True
    )


def other_entry_points(path, frame, **options):
    """Yield the accessors of a frame on every other engine."""
    in_order, mixed = path / "in_order.parquet", path / "mixed.parquet"
    frame.sort_values("date", kind="stable").to_parquet(in_order, row_group_size=25)
    frame.to_parquet(mixed, row_group_size=25)
    yield recframe.scan(in_order, memory=SMALL)(**options)
    yield recframe.scan(mixed, memory=SMALL)(**options)
    with dask.config.set({"dataframe.convert-string": False}):
        yield dd.from_pandas(frame, npartitions=3).rec(**options)


def computed(table):
    """Return a table, computed if it is lazy, with its users sorted."""
    if hasattr(table, "compute"):
        table = table.compute(scheduler="sync")
        table = table.sort_index() if list(table.index.names) == BOTH else table
    return table


OPTIONS = {
    "as it is": {},
    "graded": {"relevant": "clicks", "min_relevance": 4},
    "by item": {"ties": "item"},
    "missing": {"missing": "drop"},
    "one score": {"score": "a_score"},
    "distances": {"ascending": True},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_combination_is_a_user(frame, options):
    """A combination of user columns has the values of one joined column, in every table."""
    options = {"short": "pad", **options}
    expected = joined(frame).rec(user="both", **options)
    actual = frame.rec(user=BOTH, **options)

    assert_same(expected.evaluate(METRICS), actual.evaluate(METRICS))
    assert_same(expected.recall(k=2), actual.recall(k=2))
    for method in ("mean", "summary", "compare"):
        if method == "compare" and "score" in options:
            continue
        each = {} if method == "mean" else {"unit": None}
        pd.testing.assert_frame_equal(
            getattr(expected, method)("recall@2", **each),
            getattr(actual, method)("recall@2", **each),
        )
    pd.testing.assert_frame_equal(expected.rank(), actual.rank())
    pd.testing.assert_frame_equal(expected.top(2)[["rank"]], actual.top(2)[["rank"]])
    pd.testing.assert_frame_equal(expected.describe(3), actual.describe(3))
    pd.testing.assert_frame_equal(expected.catalogue(3), actual.catalogue(3))
    pd.testing.assert_frame_equal(expected.curve("recall", 3), actual.curve("recall", 3))


def test_the_index_is_that_of_pandas(frame):
    """The index equals the index of `groupby`, and its first level selects users."""
    table = frame.rec(**PADDED).recall(k=2)

    pd.testing.assert_index_equal(frame.groupby(BOTH).size().index, table.index)
    assert 4 == len(table.loc[DAYS[1]])
    assert table.loc[(DAYS[2], "bob")].equals(table.iloc[9])


@pytest.mark.parametrize("population", ["all", "rows"])
def test_truth_and_what_is_excluded(frame, truth, population):
    """Pairs of truth and `exclude` belong to a combination of ids, like rows."""
    excluded = frame.loc[frame.index % 5 == 0, [*BOTH, "item"]]
    options = {"short": "pad", "population": population, "unjudged": "drop"}
    expected = joined(frame).rec(
        user="both", truth=joined(truth), exclude=joined(excluded), **options
    )
    actual = frame.rec(user=BOTH, truth=truth, exclude=excluded, **options)

    if population == "all":
        assert (DAYS[1], "zoe") in actual.recall(k=2).index
    assert_same(expected.evaluate(METRICS), actual.evaluate(METRICS))
    pd.testing.assert_frame_equal(expected.describe(3), actual.describe(3))
    judged = expected.judge(), joined(actual.judge())
    shown = ["both", "item", "a_score", "relevant"]
    want, found = (one.sort_values(shown)[shown].to_numpy().tolist() for one in judged)
    assert repr(want) == repr(found)


def test_truth_by_other_names(frame, truth):
    """Truth may name its user columns by a list, in the order of the frame's."""
    other = truth.rename(columns={"date": "day", "user": "who"}).astype({"who": "category"})
    expected = frame.rec(population="all", truth=truth, **PADDED).evaluate(METRICS)
    actual = frame.rec(
        population="all", truth=other, truth_user=["day", "who"], relevant=None, **PADDED
    )

    pd.testing.assert_frame_equal(expected, actual.evaluate(METRICS))
    in_index = frame.set_index(BOTH).rec(population="all", truth=truth, **PADDED)
    pd.testing.assert_frame_equal(expected, in_index.evaluate(METRICS))
    assert expected.index.tolist() == in_index.judge().groupby(BOTH).size().index.tolist()


@pytest.mark.parametrize("with_truth", [True, False])
def test_every_entry_point(frame, truth, with_truth, tmp_path):
    """Files by every way of reading, and Dask, give the tables of the frame bit for bit."""
    options = {**PADDED, **({"population": "all", "truth": truth} if with_truth else {})}
    expected = frame.rec(**options)
    calls = [("evaluate", {"metrics": METRICS}), ("describe", {"k": 3})]
    # A user of truth without a row has a date, but no clicks.
    if with_truth:
        calls.append(("mean", {"by": ["date", "user"]}))
    else:
        calls.append(("summary", {"metrics": "auc", "by": "date", "weights": "clicks"}))
    for entry in other_entry_points(tmp_path, frame, **options):
        for name, arguments in calls:
            want = getattr(expected, name)(**arguments)
            found = computed(getattr(entry, name)(**arguments))
            pd.testing.assert_frame_equal(want, found, check_exact=True)
        user = (DAYS[1], "cat")
        assert repr(expected.inspect(user, k=2)) == repr(entry.inspect(user, k=2))


def test_routes(frame, tmp_path):
    """Files in order of the first user column are swept, and others are partitioned by all."""
    routes = [
        repr(entry).partition("  read      ")[2].split()[:1]
        for entry in other_entry_points(tmp_path, frame, **PADDED)
    ]

    assert [["sweep"], ["spill"], []] == routes


def test_folders_of_days(frame, tmp_path):
    """The names of folders may be the first user column."""
    for day, rows in frame.groupby(frame["date"].dt.strftime("%Y-%m-%d")):
        folder = tmp_path / f"date={day}"
        folder.mkdir()
        rows.drop(columns="date").to_parquet(folder / "run.parquet", index=False)
    expected = frame.assign(date=frame["date"].dt.strftime("%Y-%m-%d")).rec(**PADDED)

    for memory in (SMALL, 4 << 10):
        files = recframe.scan(tmp_path, memory=memory)(**PADDED)
        pd.testing.assert_frame_equal(expected.evaluate(METRICS), files.evaluate(METRICS))
        pd.testing.assert_frame_equal(expected.mean(by="date"), files.mean(by="date"))


KINDS = {
    "integers": lambda ids: ids,
    "integers far apart": lambda ids: ids * 2**60 - 2**62,
    "unsigned": lambda ids: ids.astype("uint64") * 2**61 + 7,
    "bytes": lambda ids: ids.astype("int8") - 3,
    "floats": lambda ids: ids.astype("float32") / 2,
    "booleans": lambda ids: ids > 1,
    "nullable": lambda ids: ids.astype("Int32"),
    "texts": lambda ids: ids.astype(str),
    "objects": lambda ids: ids.map(str).astype(object),
    "Arrow's texts": lambda ids: ids.map(str).astype("string[pyarrow]"),
    "categories": lambda ids: pd.Series(
        pd.Categorical.from_codes(ids, ["d", "b", "a", "c"]), name=ids.name
    ),
    "times": lambda ids: pd.Series(pd.to_datetime(ids * 10**9), name=ids.name),
    "durations": lambda ids: pd.Series(pd.to_timedelta(ids, "D"), name=ids.name),
    "tuples": lambda ids: ids.map(lambda one: (one, "x")),
}


@pytest.mark.parametrize("is_grouped", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_any_kind(kind, is_grouped):
    """Levels have the dtypes of the columns, and users have each column's order."""
    ids = np.random.default_rng(1).integers(0, 4, (2, 60))
    ids = ids[:, np.lexsort(ids)] if is_grouped else ids
    one, other = pd.Series(ids[0], name="x"), pd.Series(ids[1], name="y")
    frame = pd.DataFrame(
        {"x": KINDS[kind](one), "y": other, "score": np.arange(60) % 7, "relevant": one > 1}
    )
    for users in (["x", "y"], ["y", "x"]):
        groups = frame.groupby(users, observed=True)
        table = frame.rec(user=users, short="pad").recall(k=2)
        numbered = frame.assign(user=groups.ngroup()).rec(user="user", short="pad").recall(k=2)

        assert groups.size().index.tolist() == table.index.tolist()
        assert frame.dtypes[users].tolist() == table.index.dtypes.tolist()
        assert numbered.to_numpy().tobytes() == table.to_numpy().tobytes()


def test_ids_that_are_far_apart():
    """Many columns of many ids may have more combinations than an integer holds."""
    rng = np.random.default_rng(2)
    ids = {name: rng.integers(0, 2**62, 50).repeat(2) for name in "abcd"}
    frame = pd.DataFrame({**ids, "item": 5, "score": range(100), "relevant": [0, 1] * 50})
    frame["item"] += frame["relevant"]
    frame = frame.sample(frac=1, random_state=0)
    bound = frame.rec(user=[*"abcd"], item="item", truth=frame[frame["relevant"] == 1])
    table = bound.recall(k=2)

    assert frame.groupby([*"abcd"]).size().index.equals(table.index)
    assert [1.0] * 50 == table["score"].tolist()


@settings(max_examples=25)
@given(st.data())
def test_values_are_those_of_the_reference(data):
    """Values equal the reference's bit for bit, with nulls in both columns, or both refuse."""
    kinds = data.draw(strategies.kinds())
    second = data.draw(st.sampled_from(sorted(strategies.USERS)))
    rows = data.draw(strategies.many_rows(**kinds, nulls=("user", "score")))
    cells = strategies.USERS[second].cells | st.none()
    others = data.draw(st.lists(cells, min_size=len(rows), max_size=len(rows)))
    options, (metric, k) = data.draw(strategies.options()), data.draw(strategies.metrics())
    frame = strategies.frame(rows, **kinds)
    kind = strategies.USERS[second]
    dtype = kind.nullable if None in others else kind.dtype
    frame["other"] = pd.Series(others, dtype=dtype)
    pairs = [
        (None if None in (other, row[0]) else (other, row[0]), *row[1:])
        for other, row in zip(others, rows, strict=True)
    ]
    label = strategies.label(metric, k)
    assume(not strategies.looks_masked([row for row in pairs if row[0] is not None]))
    if metric in ("ndcg", "dcg", "err") and options["min_relevance"] is None:
        options["min_relevance"] = 1  # Grades alone need no threshold.
    try:
        expected = reference.evaluate(pairs, metric, k, **options)
    except reference.Refused:
        with pytest.raises(RecframeError):
            frame.rec(user=["other", "user"], **options).evaluate(label)
        return
    table = frame.rec(user=["other", "user"], **options).evaluate(label).squeeze(axis=1)
    assert set(expected) == set(table.index)
    for user, value in table.items():
        strategies.assert_value(expected[user], value, metric)


def test_one_column_is_that_column(frame):
    """A list of one label equals the label, and a tuple is a single label."""
    expected = frame.rec(user="user", duplicates="keep").evaluate(METRICS)

    pd.testing.assert_frame_equal(
        expected, frame.rec(user=["user"], duplicates="keep").evaluate(METRICS)
    )
    renamed = frame.rename(columns={"user": ("a", "b")})
    assert ("a", "b") == renamed.rec(user=("a", "b"), duplicates="keep").recall(k=1).index.name


def test_segments_and_weights(frame, truth):
    """A user column can be a segment, and a Series applies to the level with its name."""
    bound = frame.rec(**PADDED)
    per_user = bound.evaluate("recall@2")
    expected = {day: recframe.summary(own) for day, own in per_user.groupby(level="date")}

    pd.testing.assert_frame_equal(
        pd.concat(expected, names=["date"]), pd.DataFrame(bound.summary("recall@2", by="date"))
    )
    country = pd.Series({"ann": "NL", "bob": "NL", "cat": "FR", "dan": "FR"}, name="country")
    country.index.name = "user"
    found = bound.mean("recall@2", by=[country, "date"])
    assert 6 == len(found.xs("a_score", level="score"))
    french = per_user.loc[per_user.index.get_level_values("user") > "c"].loc[DAYS[0]]
    wanted = french["a_score", "recall@2"].mean()
    assert wanted == found.loc[("FR", DAYS[0], "a_score"), "recall@2"]
    pd.testing.assert_frame_equal(
        recframe.summary(per_user, by=country, unit="user"),
        pd.DataFrame(bound.summary("recall@2", by=country, unit="user")),
    )
    days = (
        frame.rec(population="all", truth=truth, **PADDED)
        .mean("recall@2", by="date")
        .index.unique("date")
    )
    assert 4 == len(days)
    clicks = bound.mean("auc", weights="clicks")
    by_pair = frame.groupby(BOTH)["clicks"].first()
    pd.testing.assert_frame_equal(clicks, bound.mean("auc", weights=by_pair))


REFUSED = {
    "an empty list": ({"user": []}, "user must name at least one column, but is an empty list"),
    "repeated": (
        {"user": ["user", "user"]},
        "user must name different columns, but names 'user' twi",
    ),
    "not there": ({"user": ["dat", "user"]}, "user='dat': no such column; .*mean 'date'"),
    "null": ({"user": ["date", None]}, r"user must be a column label or a list of labels, but is "),
    "a list in it": ({"user": [["date"]]}, r"user must be a column label or a list of labels, "),
    "a score too": ({"user": ["b_score", "user"], "score": "b_score"}, "are the same column"),
    "as many": (
        {"user": BOTH, "truth": None, "truth_user": "user"},
        r"truth: truth_user must be as many columns as user=\['date', 'user'\], but is 'user'",
    ),
    "one": (
        {"user": "user", "truth": None, "truth_user": BOTH},
        r"truth_user must be as many columns as user=\['user'\], but is \['date', 'user'\]",
    ),
    "k": ({"user": BOTH, "short": "raise"}, r"user \(Timestamp\('2026.*'\), '...'\) has \d+\)\. "),
}


@pytest.mark.parametrize(("options", "match"), REFUSED.values(), ids=REFUSED)
def test_refused_labels(frame, truth, options, match):
    """An unsuitable list of user columns is refused with the reason."""
    options = {"short": "pad", "duplicates": "keep", **options}
    if "truth" in options:
        options["truth"] = truth
    with pytest.raises(RecframeError, match=match):
        frame.rec(**options).recall(k=99)


@pytest.mark.parametrize("label", BOTH)
def test_nulls_are_of_a_column(frame, tmp_path, label):
    """A null in any user column is refused by the column's name, or dropped."""
    frame.loc[7, label] = None
    for entry in [frame.rec(**PADDED), *other_entry_points(tmp_path, frame, **PADDED)]:
        with pytest.raises(RecframeError, match=f"user='{label}': ids must not be null, but 1 of "):
            computed(entry.evaluate("auc"))
    expected = frame.drop(index=7).rec(**PADDED).evaluate("auc")
    options = {**PADDED, "missing": "drop"}
    for entry in [frame.rec(**options), *other_entry_points(tmp_path, frame, **options)]:
        pd.testing.assert_frame_equal(expected, computed(entry.evaluate("auc")))
    assert 1 == frame.rec(**PADDED).describe().loc["null users", "a_score"]


@pytest.mark.parametrize("other", ["truth", "exclude"])
def test_frames_beside_need_every_column(frame, truth, other):
    """Truth and `exclude` need every user column, and the message shows a cross merge."""
    beside = truth[["user", "item"]].drop_duplicates()
    match = (
        rf"^{other}: user=\['date', 'user'\] needs each of these columns here too, but has no "
        f"'date'; .*; if it holds for all of them, pass "
        rf"{other}={other}.merge\(df\[\['date'\]\].drop_duplicates\(\), how='cross'\)"
    )
    with pytest.raises(MissingColumnError, match=match):
        frame.rec(**PADDED, **{other: beside}).recall(k=2)
    crossed = beside.merge(frame[["date"]].drop_duplicates(), how="cross")
    assert len(frame.rec(**PADDED, **{other: crossed}, population="rows").recall(k=2))


def test_ids_are_compared_column_by_column(frame, truth):
    """Ids of other kinds, and a column with no common id, are refused by the column's name."""
    truth = truth[truth["date"] == DAYS[0]]
    for date, match in {
        "2026-01-01": "user='date': ids of different kinds .*. Convert both with pd.to_datetime",
        pd.Timestamp(0): "user='date': no 'date' is in both the frame and truth; the frame has dat",
    }.items():
        with pytest.raises(RecframeError, match=match):
            frame.rec(truth=truth.assign(date=date), relevant=None, **PADDED).recall(k=2)
    apart = pd.DataFrame({"date": DAYS[:1], "user": ["zoe"], "item": [1]})
    apart.loc[1] = [pd.Timestamp(0), "ann", 1]
    with pytest.raises(RecframeError, match=r"^user: no user is in both .* \(such as \(Timesta"):
        frame.rec(truth=apart, **PADDED).recall(k=2)
    mixed = frame.assign(user=frame["user"].astype(object).where(frame["item"] > 3, 5))
    with pytest.raises(RecframeError, match="user='user': ids must be of one kind, but are "):
        mixed.rec(**PADDED).recall(k=2)


def test_rows_that_repeat_a_pair(frame):
    """Rows that repeat an item of a combination are refused, and the message has its ids."""
    alike = pd.concat([frame, frame[:1]])
    match = r"'date' and 'user' and 'item' must .* \(such as user \(Timestamp.*, '...'\), item 0\)"
    with pytest.raises(recframe.RepeatedPairError, match=match) as refused:
        alike.rec(**PADDED).recall(k=2)
    assert (frame.loc[0, "date"], frame.loc[0, "user"]) == refused.value.user
    match = r"The column 'date' tells them apart .*: pass user=\['date', 'user'\] to evaluate each"
    with pytest.raises(recframe.RepeatedPairError, match=match):
        frame.rec(user="user").recall(k=2)


def test_what_varies_within_users_is_refused_with_the_remedy(frame):
    """A segment that varies within users is refused, and suggested as a user column."""
    match = r"by='date' must hold one value .*, or user=\['date', 'user'\] to rank each by itself"
    with pytest.raises(RecframeError, match=match):
        frame.rec(user="user", duplicates="keep").mean("auc", by="date")


@pytest.mark.parametrize(
    ("user", "match"),
    [
        ("ann", r"user must be a tuple of an id of each of \['date', 'user'\], but is 'ann'"),
        ((1, 2, 3), r"user must be a tuple of an id of each of \['date', 'user'\], but is \(1"),
        (DAYS[:1], r"user must be one id of the column \['date', 'user'\], but is "),
        ((DAYS[0], "zoe"), r"no row has that id; ids of the columns \['date', 'user'\] are such "),
    ],
)
def test_one_user_is_a_tuple(frame, user, match):
    """`inspect` takes a tuple of ids, as in the index, and refuses others."""
    title = repr(frame.rec(**PADDED).inspect((DAYS[0], "ann"), k=1)).partition(":")[0]

    assert title.startswith("date 2026-01-01")
    with pytest.raises(RecframeError, match=match):
        frame.rec(**PADDED).inspect(user)


def test_a_promise_of_partitions(frame):
    """partitioned=True is a promise about combinations, so users may span partitions."""
    with dask.config.set({"dataframe.convert-string": False}):
        parts = [dd.from_pandas(day, npartitions=1) for _, day in frame.groupby("date")]
        by_day = dd.concat(parts).rec(partitioned=True, **PADDED)
        pd.testing.assert_frame_equal(frame.rec(**PADDED).recall(k=2), computed(by_day.recall(k=2)))
        in_any = dd.from_pandas(frame, npartitions=2).rec(partitioned=True, **PADDED)
        with pytest.raises(RecframeError, match=r"partitioned=True: .* of 12 users are in several"):
            computed(in_any.recall(k=2))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_saved_tables(frame, tmp_path, ending):
    """Every level of a saved table is a column, and is read as a level again."""
    frame = frame.assign(date=frame["date"].dt.strftime("%Y-%m-%d"), number=frame.index % 3)
    users = ["date", "number", "user"]
    per_user = frame.rec(user=users, short="pad", duplicates="keep").evaluate("recall@2")
    rows, path = tidy_table(per_user), tmp_path / f"users.{ending}"
    rows.to_csv(path, index=False) if ending == "csv" else rows.to_parquet(path)

    assert [*users, "score", "recall@2"] == list(rows)
    pd.testing.assert_frame_equal(per_user, recframe.read_per_user(path))


def test_saved_tables_are_joined(tmp_path):
    """Saved tables are joined by all user columns, or refused if their numbers differ."""
    rows = pd.DataFrame({"date": [1, 2], "user": ["7", "8"], "score": "knn", "auc": [0.5, 1.0]})
    rows.to_csv(tmp_path / "a.csv", index=False)
    rows.assign(score="als").to_parquet(tmp_path / "b.parquet")
    rows.drop(columns="date").to_csv(tmp_path / "c.csv", index=False)
    joined = recframe.read_per_user([tmp_path / "a.csv", tmp_path / "b.parquet"])

    assert [(1, "7"), (2, "8")] == joined.index.tolist()
    assert ["date", "user"] == joined.index.names
    assert [0.5, 1.0] == joined["als", "auc"].tolist() == joined["knn", "auc"].tolist()
    assert [0.5, 1.0] == recframe.summary(joined, by="date")["mean"].xs("knn", level=1).tolist()
    match = (
        r"c.csv must have as many user columns as .*a.csv, but they have \['user'\] and \['date'"
    )
    with pytest.raises(RecframeError, match=match):
        recframe.read_per_user([tmp_path / "a.csv", tmp_path / "c.csv"])
