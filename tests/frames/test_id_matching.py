"""A frame and truth that share no user, or no item, are refused on every engine."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import recframe
import recframe.dask
from recframe import RecframeError
from recframe.cli import main

TIMES = pd.Series(pd.to_datetime(["2026-01-01", "2026-01-02"]))


def objects(*ids):
    """Return a column of objects."""
    return pd.Series(ids, dtype=object)


DIFFERENT = {
    "case": (objects("A", "B"), objects("b"), r"case \('B' in the frame is 'b' in truth\): .*fold"),
    "spaces": (objects("a ", "b"), objects("a"), r"spaces at the ends \('a ' .*.str.strip\(\)"),
    "'.0'": (objects("1.0", "2.0"), objects("1", "2"), r"'.0' at the end .*removesuffix\('.0'\)"),
    "zeros": (objects("007"), objects("7"), r"zeros at the front .*.str.lstrip\('0'\)"),
    "Unicode": (objects("caf\u00e9"), objects("cafe\u0301"), r"the form of Unicode .*'NFKC'"),
    "two": (
        objects(" A"),
        objects("a"),
        r"spaces at the ends and case \(' A' .*strip\(\).str.casefold",
    ),
    "zones": (
        TIMES.dt.tz_localize("Europe/Rome"),
        TIMES.dt.tz_localize("UTC"),
        r"time zones .*both with .dt.tz_localize\(None\)",
    ),
    "tuples": (objects((1, 2)), objects(("1", "2")), r"types .*map\(str, id\)"),
    "two ways of one": (objects("\ufb01x"), objects("fix"), "the form of Unicode .*normalize"),
    "precision": (objects(0.1), pd.Series([np.float32(0.1)], dtype="float64"), "precision .*flo"),
}


@pytest.mark.parametrize("case", DIFFERENT)
@pytest.mark.parametrize("role", ["user", "item"])
def test_what_ids_differ_in(role, case):
    """The message about ids with nothing in common shows one of each frame and the difference."""
    own, others, difference = DIFFERENT[case]
    frame = pd.DataFrame({"user": 1, "item": 1, "score": np.ones(len(own))}).assign(**{role: own})
    truth = pd.DataFrame({"user": 1, "item": np.arange(len(others)) + 1}).assign(**{role: others})
    message = rf"^{role}: no {role} is in both the frame and truth; the frame has \w+.* \(such as "
    with pytest.raises(RecframeError, match=message + f".*; they differ in {difference}"):
        frame.rec(truth=truth, short="pad").recall(k=1)
    with pytest.raises(RecframeError, match=difference):
        frame.rec.judge(truth)
    with pytest.raises(RecframeError, match=difference):
        frame.rec(truth=truth).describe()


def test_periods_of_two_frequencies():
    """Ids of days and of months do not match, and the message shows both dtypes."""
    days, months = TIMES.dt.to_period("D"), TIMES.dt.to_period("M")
    frame = pd.DataFrame({"user": days, "item": 1, "score": 1.0})
    truth = pd.DataFrame({"user": months[:1], "item": 1})
    with pytest.raises(RecframeError, match=r"has period\[D\] .*, truth has period\[M\] \(such"):
        frame.rec(truth=truth).recall(k=1)


def make_frames(n_users=60, n_items=7):
    """Return lists of many users, and truth with one item of the last user only."""
    user = np.repeat(np.arange(n_users), n_items)
    item = np.tile(np.arange(n_items), n_users) + 100 * user
    frame = pd.DataFrame({"user": user, "item": item, "score": np.arange(len(user)) % 11})
    truth = pd.DataFrame({"user": [1, 2, n_users - 1], "item": [-1, -2, int(item[-1])]})
    return frame, truth


def entry_points(frame, tmp_path, **options):
    """Return a function for each entry point that evaluates the frame."""
    frame.to_parquet(tmp_path / "x.parquet", row_group_size=20)
    ddf = dd.from_pandas(frame, npartitions=3)
    files = [tmp_path / "x.parquet"]
    return [
        lambda: recframe.evaluate(frame, "recall@3", **options),
        lambda: recframe.evaluate(files, "recall@3", **options),
        lambda: recframe.evaluate(files, "recall@3", memory="8KiB", **options),
        lambda: ddf.rec(**options).evaluate("recall@3").compute().sort_index(),
    ]


@pytest.mark.parametrize("population", ["all", "rows"])
def test_items_on_every_entry_point(population, tmp_path, capsys):
    """Truth that shares no item gives values of 0, and is refused if spelling differs."""
    frame, truth = make_frames()
    own, *others = entry_points(frame, tmp_path, truth=truth, population=population)
    for evaluate in others:
        pd.testing.assert_frame_equal(own(), evaluate(), check_index_type=False)

    for evaluate in entry_points(frame, tmp_path, truth=truth[:2], population=population):
        assert 0 == evaluate()["score", "recall@3"].sum()
    frame, truth = frame.assign(item="a" + frame["item"].astype(str)), truth.assign(item="A1")
    message = r"no item is in both the frame and truth; .*; they differ in case \('a1' in the frame"
    for evaluate in entry_points(frame, tmp_path, truth=truth[:2], population=population):
        with pytest.raises(RecframeError, match=message):
            evaluate()
    truth[:2].to_parquet(tmp_path / "truth.parquet")
    paths = [str(tmp_path / "x.parquet"), "--truth", str(tmp_path / "truth.parquet")]
    assert 1 == main(["evaluate", *paths, "--short", "pad"])
    assert "no item is in both" in capsys.readouterr().err


def test_users_on_every_entry_point(tmp_path):
    """Truth that shares no user is refused with an example from the frame and from truth."""
    frame, truth = make_frames()
    message = (
        r"user: no user is in both .*has int64 \(such as \d+\), truth has int64 \(such as -\d\)"
    )
    for evaluate in entry_points(frame, tmp_path, truth=truth.assign(user=[-1, -2, -3])):
        with pytest.raises(RecframeError, match=message):
            evaluate()


def test_one_ranking_may_miss(tmp_path):
    """A single ranking without a relevant item is no fault, unless ids are written differently."""
    frame = pd.DataFrame({"user": 1, "item": ["a", "b"], "score": [2, 1]})
    truth = pd.DataFrame({"user": [1, 1], "item": ["x", "y"]})
    for options in ({"truth": truth}, {"truth": truth[["item"]], "user": None}):
        for evaluate in entry_points(frame, tmp_path, short="pad", **options):
            assert [0.0] == evaluate()["score", "recall@3"].tolist()
        upper = options["truth"].assign(item=["A", "y"])
        for evaluate in entry_points(frame, tmp_path, short="pad", **options | {"truth": upper}):
            with pytest.raises(RecframeError, match="they differ in case"):
                evaluate()
    categories = pd.CategoricalDtype(["a", "b", "x", "y"])
    two = pd.concat([frame, frame.assign(user=2)]).astype({"item": categories})
    both = pd.DataFrame({"user": [1, 2], "item": ["x", "y"]}).astype({"item": categories})
    assert [0, 0] == two.rec(truth=both).recall(k=1)["score"].tolist()


def test_items_found_nowhere_are_described(tmp_path):
    """`describe` counts the relevant items of truth that no row has, once for all partitions."""
    frame, truth = make_frames()
    truth = pd.concat([truth, truth.assign(user=3), truth[:1].assign(item=-9, user=5)])
    ddf = dd.from_pandas(frame, npartitions=3)
    graded = truth.assign(relevant=[1, 1, 1, 1, 1, 1, 0])
    for options, expected in (({"truth": truth}, 3), ({"truth": graded}, 2)):
        tables = [frame.rec(**options).describe(k=2), ddf.rec(**options).describe(k=2).compute()]
        assert [expected] * 2 == [
            table.loc["truth items in nobody's list", "score"] for table in tables
        ]
        pd.testing.assert_frame_equal(*tables)
    assert "truth items in nobody's list" not in frame.assign(relevant=1).rec.describe().index


def test_unsigned_users_match_no_larger_user_of_truth():
    """User 257 of truth is not user 1 of rows whose users are single bytes."""
    rows = pd.DataFrame({"user": [1, 2], "item": [5, 5], "score": [0.5, 0.5]})
    truth = pd.DataFrame({"user": [2, 256 + 1], "item": [5, 5]})
    options = {"truth": truth, "population": "all"}
    expected = recframe.rec(rows, **options).recall(k=1)
    actual = recframe.rec(rows.astype({"user": "uint8"}), **options).recall(k=1)
    assert [1, 2, 257] == actual.index.tolist()
    pd.testing.assert_frame_equal(expected, actual)
