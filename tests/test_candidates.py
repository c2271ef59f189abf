"""exclude=: rows that are no candidates leave the frame as by an anti-join, on every door."""

import dask.dataframe as dd
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dask
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
    ask_every_door,
    assert_table,
    expected_table,
    make_frame,
    repeated_rows,
)

METRICS = ["precision@2", "recall@2", "r_precision"]


@pytest.fixture
def seen():
    """Pairs seen in training: one twice, one of a user whom nobody ranks."""
    return pd.DataFrame({"user": ["ann", "ann", "bob", "zoe"], "item": [1, 1, 3, 1]})


def anti_join(frame, exclude):
    """Return the rows whose pair is not excluded, by a set of Python."""
    pairs = set(zip(exclude["user"], exclude["item"], strict=True))
    rows = zip(frame["user"], frame["item"], strict=True)
    return frame[[pair not in pairs for pair in rows]]


@st.composite
def rows_and_pairs(draw, users=(0, 3, 2**53), **kinds):
    """Return the kind of items, rows, and pairs to exclude, some of which are in the rows."""
    kind, rows = draw(repeated_rows(users=users, **kinds))
    own = [row[:2] for row in rows if None not in row[:2]]
    pair = st.tuples(st.sampled_from([*users, 77]), st.sampled_from(ITEMS[kind][0]))
    pairs = st.lists(st.sampled_from(own) | pair if own else pair, min_size=1, max_size=8)
    return kind, rows, draw(pairs)


def make_pairs(kind, pairs):
    """Return pairs as a frame, with a column that means nothing here."""
    item = pd.Series([item for _, item in pairs], dtype=ITEMS[kind][1])
    return pd.DataFrame({"rating": 3, "user": [user for user, _ in pairs], "item": item})


@given(
    rows_and_pairs(relevance="graded", nulls=("score",)),
    strategies.options(),
    st.sampled_from(DUPLICATES),
)
def test_frames_equal_the_reference(drawn, options, duplicates):
    """Every value is that of the reference, or both refuse, under every option."""
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


@settings(max_examples=25)
@given(
    rows_and_pairs(nulls=(), users=(0, 3, 5, -1, 2**53), least=6),
    strategies.options(short="pad", missing="raise", min_relevance=None),
    st.sampled_from(DUPLICATES),
    st.booleans(),
)
def test_every_door_is_an_anti_join(tmp_path_factory, drawn, options, duplicates, with_truth):
    """Frames, files and Dask give the table of what an anti-join leaves, or refuse as it is."""
    kind, rows, pairs = drawn
    options["duplicates"] = duplicates
    frame, exclude = make_frame(kind, rows), make_pairs(kind, pairs)
    truth = None
    if with_truth:
        truth = frame.loc[::2, ["user", "item"]].drop_duplicates()
    folder = tmp_path_factory.mktemp("door")
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
            list(ask_every_door(frame, folder, bound, truth))
        return
    doors = [recframe.evaluate(frame, LABELS, truth=truth, **bound)]
    for table in [*doors, *ask_every_door(frame, folder, bound, truth)]:
        pd.testing.assert_frame_equal(expected, table, check_exact=True)


ROW_METHODS = {
    "evaluate": lambda rec: rec.evaluate(METRICS),
    "rank": lambda rec: rec.rank(),
    "top": lambda rec: rec.top(2),
    "describe": lambda rec: rec.describe(2),
    "inspect": lambda rec: rec.inspect("ann", 1).tables["score"],
    "curve": lambda rec: rec.curve(k=3),
}


@pytest.mark.parametrize("with_truth", [False, True])
@pytest.mark.parametrize("name", [*ROW_METHODS, "judge"])
def test_every_method_sees_what_is_left(name, with_truth, recs, test, seen):
    """Each method gives what it gives of the frame after an anti-join."""
    frame = recs.assign(relevant=[1, 0, 0, 1, 1])
    bound = {"short": "pad"} | ({"truth": test} if with_truth else {})
    ask = ROW_METHODS.get(name, lambda rec: rec.judge(test))
    expected = ask(anti_join(frame, seen).rec(**bound))

    pd.testing.assert_frame_equal(expected, ask(frame.rec(**bound, exclude=seen)))
    if name == "judge":
        return
    with dask.config.set({"dataframe.convert-string": False}):
        table = ask(dd.from_pandas(frame, npartitions=2).rec(**bound, exclude=seen))
    table = table.compute(scheduler="sync") if hasattr(table, "compute") else table
    if name in ("evaluate", "rank", "top"):  # whose rows are in no order
        expected, table = expected.sort_index(), table.sort_index()
    if name == "inspect":  # one that is judged has an index of its own
        expected, table = (one.reset_index(drop=True) for one in (expected, table))
    pd.testing.assert_frame_equal(pd.DataFrame(expected), pd.DataFrame(table), check_dtype=False)


def test_values_by_hand(recs, test, seen):
    """Without her 1, ann's 2 comes first; R counts what truth holds, excluded or not."""
    recall = recs.rec(truth=test, short="pad").recall(1)["score"]
    assert [0, 1, 0] == recall[["ann", "bob", "cat"]].tolist()
    left = recs.rec(truth=test, short="pad", exclude=seen)
    assert [1 / 3, 1, 0] == left.recall(1).loc[["ann", "bob", "cat"], "score"].tolist()
    both = recs.rec(truth=test, short="pad", exclude=pd.concat([seen, test[:1]]))
    assert "ann" in both.recall(1).index
    assert 0 == both.recall(1).loc["ann", "score"]


def test_command_line(recs, test, seen, tmp_path, capsys):
    """Both commands take --exclude; the file is not one that --output may replace."""
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
    assert "is read" in capsys.readouterr().err


def test_one_ranking(recs, seen):
    """user=None: items are excluded, whoever the pairs are of."""
    frame = recs.drop_duplicates("item").assign(relevant=1)
    expected = frame[~frame["item"].isin(seen["item"])].rec(user=None, short="pad").evaluate()

    for exclude in (seen, seen[["item"]]):
        table = frame.rec(user=None, short="pad", exclude=exclude).evaluate()
        pd.testing.assert_frame_equal(expected, table)


def test_a_user_of_whom_nothing_is_left(recs, test):
    """He has no row: not in the table, unless truth has him, and then as one who is absent."""
    frame = recs.assign(relevant=1)
    gone = frame[frame["user"] == "ann"]
    assert "ann" not in frame.rec(short="pad", exclude=gone).precision(2).index
    table = frame.rec(short="pad", exclude=gone, truth=test).precision(2)
    assert 0.0 == table.loc["ann", "score"]
    with pytest.raises(RecframeError, match=r"user='ann': exclude leaves none of \d rows"):
        frame.rec(exclude=gone).inspect("ann")


def test_null_ids_are_left_to_missing(recs, seen):
    """A row without a user or item is excluded by no pair; its null is refused or dropped."""
    frame = recs.assign(relevant=1, user=recs["user"].mask(recs["user"] == "eve"))
    with pytest.raises(RecframeError, match="user='user': ids must not be null, found 1 null of 3"):
        frame.rec(short="pad", exclude=seen).recall(2)
    table = frame.rec(short="pad", exclude=seen, missing="drop").evaluate()
    left = anti_join(frame, seen).rec(short="pad", missing="drop").evaluate()
    pd.testing.assert_frame_equal(left, table)
    assert 1 == frame.rec(exclude=seen).describe().loc["null users", "score"]


def test_faults_of_excluded_rows_do_not_count(recs, seen):
    """A null score or relevance that leaves with its row is not refused."""
    is_seen = ~recs.index.isin(anti_join(recs, seen).index)
    assert is_seen.any()
    frame = recs.assign(relevant=pd.Series(1, recs.index, "Int64").mask(is_seen))
    frame["score"] = frame["score"].mask(is_seen)

    expected = anti_join(frame, seen).rec(short="pad").evaluate()
    pd.testing.assert_frame_equal(expected, frame.rec(short="pad", exclude=seen).evaluate())


def test_the_frames_labels_come_first(recs, seen):
    """Where both have a column of the frame's label, that is the one; an index level is one too."""
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
        (lambda x: x.assign(item_id=1).drop(columns="item").assign(doc=1), RecframeError,
         "exclude: item: 2 columns could be it, 'item_id', 'doc'; it has 'user', 'item_id', 'doc'; "
         "name one 'item', as that of the frame evaluated"),
        (lambda x: x.assign(item=x["item"].astype(str)), RecframeError,
         "item: ids of different kinds are never equal; the frame has int64 .*, exclude has "),
        (lambda x: x.assign(user="x"), RecframeError, "no user is in both the frame and exclude"),
        (lambda x: x.assign(user=x["user"].str.upper()), RecframeError,
         r"they differ in case \('ann' in the frame is 'ANN' in exclude\)"),
        (lambda x: x.assign(item=99), RecframeError, "no item is in both the frame and exclude"),
        (lambda x: x.assign(item=x["item"].mask(x["user"] == "zoe")), RecframeError,
         "exclude: item='item': ids must not be null, found 1 null of 4"),
        (lambda x: x[:0], RecframeError, "exclude: there are no rows, so that nothing is excluded"),
        (lambda x: "nowhere.parquet", RecframeError, "exclude: cannot read nowhere.parquet: no"),
        (lambda x: "seen.csv", RecframeError, "exclude: cannot read seen.csv: no such file"),
        (lambda x: {"ann": [7]}, RecframeError,
         r"exclude must be a pandas DataFrame or the path .*; pass recframe.truth_from\(exclude\)"),
    ],
)  # fmt: skip
def test_refusals(change, error, message, recs, seen):
    """What could not exclude what is meant is refused, in pandas and, when computed, in Dask."""
    frame, exclude = recs.assign(relevant=1), change(seen)
    with pytest.raises(error, match=message):
        frame.rec(exclude=exclude, short="pad").recall(2)
    with dask.config.set({"dataframe.convert-string": False}):
        ddf = dd.from_pandas(frame, npartitions=2)
    for ask in (lambda rec: rec.recall(2), lambda rec: rec.describe(2)):
        with pytest.raises(error, match=message):
            ask(ddf.rec(exclude=exclude, short="pad")).compute(scheduler="sync")


def test_files_are_refused_too(recs, seen, tmp_path):
    """Where no user of a file is in exclude, which is known only at its end, it is refused."""
    recs.assign(relevant=1).to_parquet(tmp_path / "recs.parquet", row_group_size=2)
    other = seen.assign(user="x")
    with pytest.raises(RecframeError, match="no user is in both the frame and exclude"):
        recframe.evaluate(tmp_path / "recs.parquet", exclude=other, short="pad", memory=2_000)


def test_a_frame_without_items_is_refused(recs, seen):
    """Items are needed; the message has the call to complete."""
    frame = recs.drop(columns="item").assign(relevant=1)
    with pytest.raises(MissingColumnError, match=r"item: no column found .*exclude=exclude"):
        frame.rec(exclude=seen).recall(1)
