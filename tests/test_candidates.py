"""Options `exclude` and `unjudged` leave rows out of the frame first, on every engine."""

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import recframe
import recframe.dask
import reference
import strategies
from recframe import MissingColumnError, RecframeError
from recframe.cli import main
from test_duplicates import (
    DUPLICATES,
    ITEMS,
    LABELS,
    ask_every_entry_point,
    assert_table,
    expected_table,
    make_frame,
    repeated_rows,
)

METRICS = ["precision@2", "recall@2", "r_precision"]


@pytest.fixture
def seen():
    """Return pairs seen in training: one repeated, one of a user without rows."""
    return pd.DataFrame({"user": ["ann", "ann", "bob", "zoe"], "item": [1, 1, 3, 1]})


def anti_join(frame, exclude):
    """Return the rows whose pair is not excluded, by a Python set."""
    pairs = set(zip(exclude["user"], exclude["item"], strict=True))
    rows = zip(frame["user"], frame["item"], strict=True)
    return frame[[pair not in pairs for pair in rows]]


@st.composite
def rows_and_pairs(draw, users=(0, 3, 2**53), **kinds):
    """Return the kind of items, rows, and pairs to exclude, some of them in the rows."""
    kind, rows = draw(repeated_rows(users=users, **kinds))
    own = [row[:2] for row in rows if None not in row[:2]]
    pair = st.tuples(st.sampled_from([*users, 77]), st.sampled_from(ITEMS[kind][0]))
    pairs = st.lists(st.sampled_from(own) | pair if own else pair, min_size=1, max_size=8)
    return kind, rows, draw(pairs)


def make_pairs(kind, pairs):
    """Return pairs as a frame, with a column that has no meaning."""
    item = pd.Series([item for _, item in pairs], dtype=ITEMS[kind][1])
    return pd.DataFrame({"rating": 3, "user": [user for user, _ in pairs], "item": item})


@given(
    rows_and_pairs(relevance="graded", nulls=("score",)),
    strategies.options(),
    st.sampled_from(DUPLICATES),
)
@example(  # In this example the lowest score of a repeated pair is the best.
    (
        "category",
        [(3, "b", -1.5, 0), (0, "a", 1.0, 0), (3, "a", -1.5, 1), (3, "a", 0.0, 0)],
        [(0, "a")],
    ),
    {"ties": "expected", "short": "pad", "missing": "raise", "zero_division": float("nan")}
    | {"min_relevance": None, "min_score": None, "gain": "linear", "ascending": True},
    "max",
)
def test_frames_equal_the_reference(drawn, options, duplicates):
    """Every value equals the reference's under every option, or both refuse."""
    kind, rows, pairs = drawn
    options["duplicates"] = duplicates
    frame, exclude = make_frame(kind, rows), make_pairs(kind, pairs)
    try:
        expected = expected_table(reference.leave_out(rows, pairs), options)
    except reference.Refused:
        with pytest.raises(RecframeError):
            recframe.evaluate(frame, LABELS, exclude=exclude, **options)
        return
    assert_table(expected, recframe.evaluate(frame, LABELS, exclude=exclude, **options))


@settings(max_examples=12)
@given(
    rows_and_pairs(nulls=(), users=(0, 3, 5, -1, 2**53), least=6),
    strategies.options(short="pad", missing="raise", min_relevance=None),
    st.sampled_from(DUPLICATES),
    st.booleans(),
)
def test_entry_points_give_an_anti_join(tmp_path_factory, drawn, options, duplicates, with_truth):
    """Frames, files and Dask give the table of an anti-join, or refuse as it is refused."""
    kind, rows, pairs = drawn
    options["duplicates"] = duplicates
    frame, exclude = make_frame(kind, rows), make_pairs(kind, pairs)
    truth = None
    if with_truth:
        truth = frame.loc[::2, ["user", "item"]].drop_duplicates()
    folder = tmp_path_factory.mktemp("entry")
    exclude.to_parquet(folder / "exclude.parquet")
    bound = options | {"exclude": folder / "exclude.parquet"}
    if not {user for user, _ in pairs} & set(frame["user"]):
        with pytest.raises(RecframeError, match="user: no user is in both the frame and exclude"):
            recframe.evaluate(frame, LABELS, truth=truth, **bound)
        return
    try:
        expected = recframe.evaluate(anti_join(frame, exclude), LABELS, truth=truth, **options)
    except RecframeError:
        with pytest.raises(RecframeError):
            recframe.evaluate(frame, LABELS, truth=truth, **bound)
        with pytest.raises(RecframeError):
            list(ask_every_entry_point(frame, folder, bound, truth))
        return
    entry_points = [recframe.evaluate(frame, LABELS, truth=truth, **bound)]
    for table in [*entry_points, *ask_every_entry_point(frame, folder, bound, truth)]:
        pd.testing.assert_frame_equal(expected, table, check_exact=True)


ROW_METHODS = {
    "evaluate": lambda rec: rec.evaluate(METRICS),
    "rank": lambda rec: rec.rank(),
    "top": lambda rec: rec.top(2),
    "describe": lambda rec: rec.describe(2),
    "inspect": lambda rec: rec.inspect("ann", 1).tables["score"],
    "curve": lambda rec: rec.curve(k=3),
}


def assert_same(name, expected, table):
    """Assert that a method gives the same for Dask as for the frame."""
    table = table.compute(scheduler="sync") if hasattr(table, "compute") else table
    # The rows of these tables have no order.
    if name in ("evaluate", "rank", "top"):
        expected, table = expected.sort_index(), table.sort_index()
    # The description of Dask tells how many relevant pairs are excluded.
    if name == "describe":
        table = table.drop("relevant pairs excluded", errors="ignore")
    # The judged rows have another index.
    if name == "inspect":
        expected, table = (one.reset_index(drop=True) for one in (expected, table))
    pd.testing.assert_frame_equal(pd.DataFrame(expected), pd.DataFrame(table), check_dtype=False)


@pytest.mark.parametrize("with_truth", [False, True])
@pytest.mark.parametrize("name", [*ROW_METHODS, "judge"])
def test_every_method_sees_what_is_left(name, with_truth, recs, test, seen):
    """Each method gives the result of the frame after an anti-join."""
    frame = recs.assign(relevant=[1, 0, 0, 1, 1])
    bound = {"short": "pad"} | ({"population": "all", "truth": test} if with_truth else {})
    ask = ROW_METHODS.get(name, lambda rec: rec.judge(test))
    expected = ask(anti_join(frame, seen).rec(**bound))

    assert_same(name, expected, ask(frame.rec(**bound, exclude=seen)))
    if name == "judge":
        return
    with dask.config.set({"dataframe.convert-string": False}):
        table = ask(dd.from_pandas(frame, npartitions=2).rec(**bound, exclude=seen))
    assert_same(name, expected, table)


def test_values_by_hand(recs, test, seen):
    """Excluding ann's first item lifts her second, and R still counts all items of truth."""
    recall = recs.rec(population="all", truth=test, short="pad").recall(1)["score"]
    assert [0, 1, 0] == recall[["ann", "bob", "cat"]].tolist()
    left = recs.rec(population="all", truth=test, short="pad", exclude=seen)
    assert [1 / 3, 1, 0] == left.recall(1).loc[["ann", "bob", "cat"], "score"].tolist()
    both = recs.rec(population="all", truth=test, short="pad", exclude=pd.concat([seen, test[:1]]))
    assert "ann" in both.recall(1).index
    assert 0 == both.recall(1).loc["ann", "score"]


def test_command_line(recs, test, seen, tmp_path, capsys):
    """Both commands take --exclude, and --output must not replace its file."""
    run = recs.assign(relevant=1)
    run.to_parquet(tmp_path / "recs.parquet")
    seen.to_parquet(tmp_path / "seen.parquet")
    path, pairs = str(tmp_path / "recs.parquet"), str(tmp_path / "seen.parquet")
    asked = ["--exclude", pairs, "--short", "pad", "--format", "csv"]
    assert 0 == main(["evaluate", path, "--metric", "precision@2", *asked])
    mean = anti_join(run, seen).rec(short="pad").precision(2)["score"].mean()
    assert f"score,precision@2\nscore,{mean}\n" == capsys.readouterr().out
    assert 0 == main(["describe", path, "--exclude", pairs, "--format", "csv"])
    assert f"\nscore,{len(anti_join(run, seen))}," in capsys.readouterr().out
    assert 1 == main(["evaluate", path, *asked, "-q", "--output", str(tmp_path / "seen.parquet")])
    assert "is an input" in capsys.readouterr().err


def test_one_ranking(recs, seen):
    """Pairs of any user exclude items from a single ranking."""
    frame = recs.drop_duplicates("item").assign(relevant=1)
    expected = frame[~frame["item"].isin(seen["item"])].rec(user=None, short="pad").evaluate()

    for exclude in (seen, seen[["item"]]):
        table = frame.rec(user=None, short="pad", exclude=exclude).evaluate()
        pd.testing.assert_frame_equal(expected, table)


def test_a_user_of_whom_nothing_is_left(recs, test):
    """A user without a row left is not in the table, unless truth has the user."""
    frame = recs.assign(relevant=1)
    gone = frame[frame["user"] == "ann"]
    assert "ann" not in frame.rec(short="pad", exclude=gone).precision(2).index
    table = frame.rec(short="pad", exclude=gone, population="all", truth=test).precision(2)
    assert 0.0 == table.loc["ann", "score"]
    with pytest.raises(RecframeError, match=r"user='ann': none of \d rows is left by exclude"):
        frame.rec(exclude=gone).inspect("ann")
    with pytest.raises(RecframeError, match="user='eve': none of 1 row is left by unjudged"):
        frame.rec(unjudged="drop", population="all", truth=test).inspect("eve")


def test_null_ids_are_left_to_missing(recs, seen):
    """A row with a null id is excluded by no pair, and option `missing` decides about it."""
    frame = recs.assign(relevant=1, user=recs["user"].mask(recs["user"] == "eve"))
    with pytest.raises(
        RecframeError, match="user='user': ids must not be null, but 1 of 3 rows are null"
    ):
        frame.rec(short="pad", exclude=seen).recall(2)
    left = anti_join(frame, seen).rec(short="pad", missing="drop").evaluate()
    nowhere = pd.DataFrame({"user": [None, "bob"], "item": [1, None]})
    for exclude in (seen, pd.concat([seen, nowhere])):
        table = frame.rec(short="pad", exclude=exclude, missing="drop").evaluate()
        pd.testing.assert_frame_equal(left, table)
    assert 1 == frame.rec(exclude=seen).describe().loc["null users", "score"]


def test_faults_of_excluded_rows_do_not_count(recs, seen):
    """Nulls in excluded rows are not refused."""
    is_seen = ~recs.index.isin(anti_join(recs, seen).index)
    assert is_seen.any()
    frame = recs.assign(relevant=pd.Series(1, recs.index, "Int64").mask(is_seen))
    frame["score"] = frame["score"].mask(is_seen)

    expected = anti_join(frame, seen).rec(short="pad").evaluate()
    pd.testing.assert_frame_equal(expected, frame.rec(short="pad", exclude=seen).evaluate())


def test_the_frames_labels_come_first(recs, seen):
    """`exclude` is read by the labels of the frame's columns first, also in an index level."""
    frame = recs.rename(columns={"user": "who"}).assign(relevant=1)
    exclude = seen.rename(columns={"user": "who"}).assign(user="nobody")
    bound = {"user": "who", "short": "pad"}
    expected = frame.rec(**bound, exclude=exclude).evaluate()

    for other in (seen, exclude.set_index("who"), seen.rename(columns={"item": "movie_id"})):
        pd.testing.assert_frame_equal(expected, frame.rec(**bound, exclude=other).evaluate())


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda x: x.drop(columns="user"), MissingColumnError, "exclude: user: no column found"),
        (lambda x: x.assign(article=1).drop(columns="item").assign(doc=1), RecframeError,
         "exclude: item: 2 columns could be it, 'article', 'doc'; user is 'user'; the frame has "
         "'user', 'article', 'doc'; name one 'item', as that of the frame evaluated"),
        (lambda x: x.assign(item=x["item"].astype(str)), RecframeError,
         "item: ids of different kinds are never equal; the frame has int64 .*, exclude has "),
        (lambda x: x.assign(user="x"), RecframeError, "no user is in both the frame and exclude"),
        (lambda x: x.assign(user=x["user"].str.upper()), RecframeError,
         r"they differ in case \('ann' in the frame is 'ANN' in exclude\)"),
        (lambda x: x.assign(item=99), RecframeError, "no item is in both the frame and exclude"),
        (lambda x: x.assign(item=x["item"].mask(x["user"] == "zoe")), RecframeError,
         "exclude: item='item': ids must not be null, but 1 of 4 rows are null"),
        (lambda x: "nowhere.parquet", RecframeError, "exclude: cannot read nowhere.parquet: no"),
        (lambda x: "seen.csv", RecframeError, "exclude: cannot read seen.csv: no such file"),
        (lambda x: {"ann": [7]}, RecframeError,
         r"exclude must be a pandas DataFrame, an Arrow .*. Pass recframe.truth_from\(exclude\)"),
    ],
)  # fmt: skip
def test_refusals(change, error, message, recs, seen):
    """Pairs that cannot be matched are refused by pandas, and by Dask when computed."""
    frame, exclude = recs.assign(relevant=1), change(seen)
    with pytest.raises(error, match=message):
        frame.rec(exclude=exclude, short="pad").recall(2)
    with dask.config.set({"dataframe.convert-string": False}):
        ddf = dd.from_pandas(frame, npartitions=2)
    for ask in (lambda rec: rec.recall(2), lambda rec: rec.describe(2)):
        with pytest.raises(error, match=message):
            ask(ddf.rec(exclude=exclude, short="pad")).compute(scheduler="sync")


def test_files_are_refused_too(recs, seen, tmp_path):
    """A file that shares no user with `exclude` is refused at its end."""
    recs.assign(relevant=1).to_parquet(tmp_path / "recs.parquet", row_group_size=2)
    other = seen.assign(user="x")
    with pytest.raises(RecframeError, match="no user is in both the frame and exclude"):
        recframe.evaluate(tmp_path / "recs.parquet", exclude=other, short="pad", memory=2_000)


def test_a_frame_without_items_is_refused(recs, seen):
    """A frame without items is refused with the call to complete."""
    frame = recs.drop(columns="item").assign(relevant=1)
    with pytest.raises(MissingColumnError, match=r"item: no column found .*exclude=exclude"):
        frame.rec(exclude=seen).recall(1)


@st.composite
def rows_and_truth(draw, **kinds):
    """Return the kind of items, rows, and graded pairs of truth, some of them in the rows."""
    kind, rows, pairs = draw(rows_and_pairs(**kinds))
    grades = st.sampled_from([0, 1, 2])
    return kind, rows, {pair: draw(grades) for pair in pairs}


def make_truth(kind, grades):
    """Return truth as a frame."""
    return make_pairs(kind, list(grades)).assign(rating=list(grades.values()))


@settings(max_examples=12)
@given(
    rows_and_truth(nulls=(), users=(0, 3, 5, -1, 2**53), least=6),
    strategies.options(short="pad", missing="raise", min_relevance=1),
    st.sampled_from(DUPLICATES),
    st.sampled_from(["both", "truth", "rows", "all"]),
)
def test_unjudged_rows_leave_as_by_a_filter(
    tmp_path_factory, drawn, options, duplicates, population
):
    """unjudged="drop" gives the table of the judged rows alone, on every engine."""
    kind, rows, grades = drawn
    options |= {"duplicates": duplicates, "population": population, "relevant": "rating"}
    frame, truth = make_frame(kind, rows), make_truth(kind, grades)
    bound = options | {"unjudged": "drop"}
    judged = frame[[row[:2] in grades for row in rows]]
    folder = tmp_path_factory.mktemp("entry")
    try:
        expected = recframe.evaluate(judged, LABELS, truth=truth, **options)
    except RecframeError as error:
        if "the frame has no rows" not in str(error):
            with pytest.raises(RecframeError):
                recframe.evaluate(frame, LABELS, truth=truth, **bound)
            with pytest.raises(RecframeError):
                list(ask_every_entry_point(frame, folder, bound, truth))
        return
    entry_points = [recframe.evaluate(frame, LABELS, truth=truth, **bound)]
    for table in [*entry_points, *ask_every_entry_point(frame, folder, bound, truth)]:
        pd.testing.assert_frame_equal(expected, table, check_exact=True)


@pytest.mark.parametrize("name", [*ROW_METHODS, "judge"])
def test_every_method_drops_unjudged_rows(name, recs, test):
    """Each method gives the result of the frame filtered to judged rows."""
    bound = {"short": "pad", "truth": test, "population": "all"}
    pairs = set(zip(test["user"], test["item"], strict=True))
    judged = recs[[pair in pairs for pair in zip(recs["user"], recs["item"], strict=True)]]
    assert 0 < len(judged) < len(recs)
    ask = ROW_METHODS.get(name, lambda rec: rec.judge())
    expected = ask(judged.rec(**bound))

    pd.testing.assert_frame_equal(expected, ask(recs.rec(**bound, unjudged="drop")))
    if name == "judge":
        return
    with dask.config.set({"dataframe.convert-string": False}):
        table = ask(dd.from_pandas(recs, npartitions=2).rec(**bound, unjudged="drop"))
    assert_same(name, expected, table)


def test_condensed_lists_by_hand():
    """The condensed list of a, b, c, d is b, c if truth judges only these."""
    frame = pd.DataFrame({"user": 1, "item": list("abcd"), "score": [4, 3, 2, 1]})
    truth = pd.DataFrame({"user": 1, "item": ["b", "c", "e"], "relevant": [0, 1, 1]})
    asked = ["precision@2", "recall@2", "reciprocal_rank"]

    for unjudged, values in {"nonrelevant": [0, 0, 1 / 3], "drop": [1 / 2, 1 / 2, 1 / 2]}.items():
        table = frame.rec(truth=truth, unjudged=unjudged).evaluate(asked)
        assert values == table.loc[1].tolist()


def test_lists_without_a_judged_row(recs, tmp_path):
    """A model without a judged row has the value 0, and truth with unknown ids is refused."""
    truth = pd.DataFrame({"user": ["ann", "bob"], "item": [3, 2]})
    recs.to_parquet(tmp_path / "recs.parquet", row_group_size=2)
    with dask.config.set({"dataframe.convert-string": False}):
        ddf = dd.from_pandas(recs, npartitions=2)
    bound = {"population": "all", "truth": truth, "unjudged": "drop"}
    entry_points = [
        lambda: recs.rec(**bound).evaluate(METRICS),
        lambda: recframe.evaluate(tmp_path / "recs.parquet", METRICS, **bound, memory=2_000),
        lambda: ddf.rec(**bound).evaluate(METRICS).compute(scheduler="sync").sort_index(),
    ]
    for ask in entry_points:
        table = ask()
        assert ["ann", "bob"] == table.index.tolist()
        assert (table == 0).all(axis=None)

    bound["truth"] = truth.assign(user="x")
    for ask in entry_points:
        with pytest.raises(RecframeError, match="no user is in both the frame and truth; the fram"):
            ask()


def test_unjudged_and_excluded_rows(recs, test, seen):
    """The rows left by both options are judged and not excluded."""
    rec = recs.rec(population="all", truth=test, short="pad", exclude=seen, unjudged="drop")

    left = anti_join(recs, seen).merge(test)[["user", "item", "score"]]
    pd.testing.assert_frame_equal(
        left.rec(population="all", truth=test, short="pad").evaluate(METRICS), rec.evaluate(METRICS)
    )
    assert 2 == len(left)
    assert 2 == rec.describe(1).loc["rows", "score"]


def test_unjudged_needs_truth(frame, tmp_path, capsys):
    """unjudged="drop" without truth is refused, on the command line too."""
    with pytest.raises(
        RecframeError, match=r"unjudged='drop' .*, but truth is not passed. Pass truth="
    ):
        frame.rec(unjudged="drop")
    frame.to_parquet(tmp_path / "run.parquet")
    assert 1 == main(["evaluate", str(tmp_path / "run.parquet"), "--unjudged", "drop"])
    assert "truth is not passed" in capsys.readouterr().err


def test_unjudged_on_the_command_line(recs, test, tmp_path, capsys):
    """--unjudged drop gives the mean of the condensed lists."""
    recs.to_parquet(tmp_path / "recs.parquet")
    test.to_parquet(tmp_path / "test.parquet")
    paths = [str(tmp_path / "recs.parquet"), "--truth", str(tmp_path / "test.parquet")]
    asked = ["--unjudged", "drop", "--short", "pad", "--metric", "precision@1", "--format", "csv"]
    asked += ["--population", "all"]
    assert 0 == main(["evaluate", *paths, *asked])
    assert f"score,precision@1\nscore,{2 / 3}\n" == capsys.readouterr().out


def test_a_small_exclude_may_have_other_items(recs, seen):
    """A few seen items of the same form that no list has are noted, others are refused."""
    frame = recs.assign(relevant=1, item="d" + recs["item"].astype(str))
    others = [f"d{90 + at}" for at in range(len(seen))]
    table = frame.rec(exclude=seen.assign(item=others), short="pad").mean("recall@2")
    assert any("no item is in both the frame and exclude" in one.text for one in table.notes)
    for wrong in ([f"x{at}" for at in range(len(seen))], ["d99"] * len(seen)):
        with pytest.raises(RecframeError, match="no item is in both the frame and exclude"):
            frame.rec(exclude=seen.assign(item=wrong), short="pad").mean("recall@2")
