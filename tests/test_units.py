"""Argument `unit` treats several rankings of the same user as dependent."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recframe
import recframe.dask
import recframe.polars
from recframe import RecframeError
from recframe.cli import main

METRIC = "ndcg@2"
OPTIONS = {"user": ["date", "user"], "score": ["a", "b"]}


def make_rows(n_days=5, users=("ann", "bob", "cat"), n_items=3):
    """Return rows of each user on each day, with two scores that are often equal."""
    rng = np.random.default_rng(1)
    days = pd.date_range("2026-01-01", periods=n_days).strftime("%F")
    index = pd.MultiIndex.from_product([days, users, range(n_items)])
    frame = index.to_frame(index=False).set_axis(["date", "user", "item"], axis=1)
    frame["a"] = rng.integers(0, 3, len(frame))
    frame["b"] = frame["a"].where(rng.random(len(frame)) < 0.7, 5)
    return frame.assign(relevant=rng.integers(0, 2, len(frame)))


ROWS = make_rows()
ACCESSORS = {
    "frame": lambda frame, _: frame.rec,
    "Arrow": lambda frame, _: recframe.rec(pa.Table.from_pandas(frame)),
    "Polars": lambda frame, _: pl.from_pandas(frame).rec,
    "LazyFrame": lambda frame, _: pl.from_pandas(frame).lazy().rec,
    "parquet": lambda frame, folder: recframe.scan(save(frame, folder)),
    "Dask": lambda frame, _: dd.from_pandas(frame, npartitions=2).rec,
}
ASKED = {"summary": {}, "compare": {}, "max_t": {"correction": "max_t"}}


def save(frame, folder):
    """Return the path of a file of the rows."""
    frame.to_parquet(folder / "rows.parquet", index=False)
    return str(folder / "rows.parquet")


def ask(accessor, asked="summary", **arguments):
    """Return a table with plain columns on every engine."""
    table = getattr(accessor, asked if asked == "summary" else "compare")(METRIC, **arguments)
    table = table.compute() if hasattr(table, "compute") else table
    return table.to_pandas() if isinstance(table, pl.DataFrame) else table.reset_index()


@pytest.mark.parametrize("entry", ACCESSORS)
@pytest.mark.parametrize("asked", ASKED)
def test_a_unit_is_one_value(entry, asked, tmp_path):
    """A unit counts as one value, the mean of its rankings."""
    accessor = ACCESSORS[entry](ROWS, tmp_path)(**OPTIONS)
    means = ROWS.rec(**OPTIONS).evaluate(METRIC).fillna(0).groupby(level="user").mean()
    function = recframe.summary if asked == "summary" else recframe.compare
    expected = function(means, **ASKED[asked]).reset_index()
    bound = accessor(**OPTIONS, zero_division=0.0)
    found = ask(bound, asked, unit="user", **ASKED[asked])

    pd.testing.assert_frame_equal(
        expected, found[list(expected)], check_dtype=False, rtol=1e-12, check_names=False
    )
    assert {3} == set(found["n_users"])


@pytest.mark.parametrize("entry", ACCESSORS)
@pytest.mark.parametrize("asked", ["summary", "compare"])
def test_units_that_come_again_are_asked_for(entry, asked, tmp_path):
    """A user in several rankings makes `unit` necessary, and each suggested choice runs."""
    accessor = ACCESSORS[entry](ROWS, tmp_path)(**OPTIONS)
    with pytest.raises(RecframeError, match=r"15 rankings by \['date', 'user'\] of 3 'user'"):
        ask(accessor, asked)
    with pytest.raises(RecframeError, match=r"Pass unit='user' to .*, or unit=None to"):
        ask(accessor, asked, by="user")
    with pytest.raises(RecframeError, match="unit='item' must hold one value for each user"):
        ask(accessor, asked, unit="item")
    alone = ROWS.assign(user=ROWS["date"] + ROWS["user"]).rec(score=["a", "b"])
    counts = [column for column in ask(alone, asked).columns if column not in ("score", "user")]

    pd.testing.assert_frame_equal(
        ask(alone, asked)[counts],
        ask(accessor, asked, unit=None)[counts],
        check_dtype=False,
        rtol=1e-12,
        check_names=False,
    )
    assert 5 * (1 + (asked == "summary")) == len(ask(accessor, asked, by="date"))
    assert {3} >= set(ask(accessor(**OPTIONS, zero_division=0.0), asked, by="date")["n_users"])


def test_means_weigh_by_the_number_of_rankings():
    """The mean is over all defined rankings, and intervals over units equal a hand count."""
    users = pd.MultiIndex.from_tuples(
        [(1, "ann"), (2, "ann"), (3, "ann"), (1, "bob"), (2, "cat"), (3, "cat")],
        names=["date", "user"],
    )
    per_user = pd.DataFrame({"a": [0.2, 0.4, None, 0.9, 0.1, 0.5], "b": 0.5}, users)
    row = recframe.summary(per_user, unit="user", interval="t").loc[("a", "value")]
    means, weights = np.array([0.3, 0.9, 0.3]), np.array([2.0, 1.0, 2.0])
    mean = (0.2 + 0.4 + 0.9 + 0.1 + 0.5) / 5
    residuals = weights / weights.mean() * (means - mean)

    assert [mean, 3, 1] == [pytest.approx(row["mean"]), row["n_users"], row["n_undefined"]]
    assert np.sqrt((residuals**2).sum() / 2 / 3) == pytest.approx(row["standard_error"])
    difference = recframe.compare(per_user, unit="user").loc[("b", "value")]
    assert 0.5 - mean == pytest.approx(difference["difference"])
    assert [2, 0, 1, 3] == difference[["n_won", "n_tied", "n_lost", "n_users"]].tolist()
    weighted = recframe.summary(per_user, unit="user", weights=pd.Series(2.0, users))
    pd.testing.assert_frame_equal(recframe.summary(per_user, unit="user"), weighted, rtol=1e-12)
    with pytest.raises(RecframeError, match="Pass test='permutation', or unit=None"):
        recframe.compare(per_user, unit="user", test="wilcoxon")


def test_users_needed_are_units():
    """The number of users needed is a number of units, which detect the difference."""
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(3)
    users = np.arange(12).repeat(rng.integers(1, 6, 12))
    index = pd.MultiIndex.from_arrays([np.arange(len(users)), users], names=["date", "user"])
    per_user = pd.DataFrame({"a": rng.random(len(users)), "b": 0.5}, index)
    row = recframe.users_needed(per_user, 0.1, unit="user").loc[("b", "value")]
    differences = (0.5 - per_user["a"]).groupby(level="user").agg(["mean", "size"])
    weights = differences["size"] / differences["size"].mean()
    mean = (weights * differences["mean"]).mean()
    deviation = np.sqrt((weights**2 * (differences["mean"] - mean) ** 2).sum() / 11)

    def detectable(n):
        errors = stats.t.ppf(0.975, n - 1) + stats.t.ppf(0.8, n - 1)
        return errors * deviation / np.sqrt(n)

    needed = int(row["n_needed"])
    assert [12, deviation] == [row["n_users"], pytest.approx(row["deviation"])]
    assert detectable(needed) <= 0.1 < detectable(needed - 1)
    compared = recframe.compare(per_user, unit="user").loc[("b", "value")]
    assert detectable(12) == pytest.approx(row["detectable"]) == compared["detectable"]
    assert len(users) == recframe.users_needed(per_user, 0.1, unit=None)["n_users"].item()
    with pytest.raises(RecframeError, match=f": {len(users)} rankings by .* of 12 'user'"):
        recframe.users_needed(per_user, 0.1)


def test_days_of_two_people_are_two_values():
    """40 equal differences of two people have a p-value of 0.5, the lowest for two."""
    days = pd.MultiIndex.from_product([range(20), ["ann", "bob"]], names=["date", "user"])
    per_user = pd.DataFrame({"old": 0.2, "new": 0.3}, days)

    found = [recframe.compare(per_user, unit=unit)["p_value"].item() for unit in (None, "user")]
    assert found[0] < 0.001
    assert 0.5 == found[1]


@pytest.mark.parametrize(
    ("names", "asked"),
    [
        (["date", "user"], "user"),
        (["user", "date"], "user"),
        (["user", "session"], "user"),
        (["day", "cust"], "cust"),
        (["cust", "day"], "cust"),
        (["country", "shop"], "shop"),
    ],
)
def test_which_column_has_the_units(names, asked):
    """The unit is the column named like users, or the last one without times."""
    index = pd.MultiIndex.from_product([[1, 2], [3, 4]], names=names)
    if "session" in names:
        index = pd.MultiIndex.from_tuples([(1, 3), (1, 4), (2, 5)], names=names)
    per_user = pd.DataFrame({"a": 0.5}, index)
    with pytest.raises(RecframeError, match=f"Pass unit='{asked}' to"):
        recframe.summary(per_user)


def test_the_command_line(tmp_path, capsys):
    """--unit and --no-unit work in evaluate, and in compare for saved tables."""
    paths = save(ROWS, tmp_path), str(tmp_path / "users.parquet")
    words = ["evaluate", paths[0], "--user=date", "--user=user", "--score=a", "--metric", METRIC]
    for more, refused in ((["--score=b", "--baseline=a"], 1), (["--summary"], 1), ([], 0)):
        assert refused == main([*words, *more])
    assert "unit='user'" in " ".join(capsys.readouterr().err.split())
    expected = ROWS.rec(user=["date", "user"], score="a").summary(METRIC, unit="user")
    assert 0 == main([*words, "--summary", "--unit=user", "--per-user", paths[1], "--format=csv"])
    low = expected["low"].item()
    assert [low] == pytest.approx([float(capsys.readouterr().out.splitlines()[1].split(",")[3])])
    assert 0 == main([*words, "--summary", "--no-unit"])
    new = pd.read_parquet(paths[1])
    new.assign(**{METRIC: new[METRIC] / 2}).to_parquet(tmp_path / "new.parquet")
    both = ["compare", paths[1], str(tmp_path / "new.parquet")]
    assert [1, 0, 0, 0] == [
        main([*both, *more]) for more in ([], ["--unit=user"], ["--no-unit"], ["--by=date"])
    ]
    with pytest.raises(SystemExit):
        main([*words, "--unit=user"])
    assert "--unit is for intervals. Add --summary or --baseline" in capsys.readouterr().err


SESSIONS = pd.DataFrame(
    {
        "session": np.repeat(range(40), 6),
        "user_id": np.repeat(range(40), 6) // 4,
        "item": list(range(6)) * 40,
        "a": np.random.default_rng(5).random(240),
        "b": np.random.default_rng(6).random(240),
        "relevant": [1, 0, 0, 1, 0, 0] * 40,
    }
)


@pytest.mark.parametrize("entry", [entry for entry in ACCESSORS if entry != "Dask"])
@pytest.mark.parametrize("asked", ["summary", "compare"])
def test_sessions_of_users_ask_for_the_unit(entry, asked, tmp_path):
    """A column with a user's name that each ranking decides is a unit, for any `user`."""
    bound = ACCESSORS[entry](SESSIONS, tmp_path)(user="session", score=["a", "b"])
    with pytest.raises(RecframeError, match=r"unit: rankings of one 'user_id' are not indep.*10"):
        ask(bound, asked, **ASKED[asked])
    found = ask(bound, asked, unit="user_id", **ASKED[asked])
    assert {10} == set(found["n_users"])
    assert {40} == set(ask(bound, asked, unit=None, **ASKED[asked])["n_users"])
    users = ["session", "user_id"]
    both = ACCESSORS[entry](SESSIONS, tmp_path)(user=users, score=["a", "b"])
    expected = ask(both, asked, unit="user_id", **ASKED[asked])
    pd.testing.assert_frame_equal(expected, found, check_dtype=False, rtol=1e-12)


@pytest.mark.parametrize("asked", ["summary", "compare"])
def test_a_unit_beside_segments_and_weights(asked):
    """A unit read from the rows works together with segments and weights."""
    rows = SESSIONS.assign(half=SESSIONS["session"] % 2, weight=SESSIONS["session"] % 3 + 1.0)
    given = {"unit": "user_id", "by": "half", "weights": "weight"}
    found = ask(rows.rec(user="session", score=["a", "b"]), asked, **given)
    both = rows.rec(user=["session", "user_id"], score=["a", "b"])
    pd.testing.assert_frame_equal(ask(both, asked, **given), found)


@pytest.mark.parametrize("entry", list(ACCESSORS))
def test_a_report_counts_units_of_a_column(entry, tmp_path):
    """The report of every engine counts the units of a column, and refuses one that varies."""
    bound = ACCESSORS[entry](SESSIONS, tmp_path)(user="session", score=["a", "b"])
    expected = SESSIONS.rec(user="session", score=["a", "b"]).report(METRIC, unit="user_id").html
    actual = bound.report(METRIC, unit="user_id").html
    assert expected.count("<td>10") == actual.count("<td>10") > 0
    with pytest.raises(RecframeError, match="unit='item' must hold one value for each user"):
        bound.report(METRIC, unit="item")


def test_the_report_asks_for_the_unit_too(tmp_path, capsys):
    """The report and the command line ask for the unit, and count units."""
    bound = SESSIONS.rec(user="session", score=["a", "b"])
    with pytest.raises(RecframeError, match="unit: rankings of one 'user_id'"):
        bound.report(METRIC)
    both = SESSIONS.rec(user=["session", "user_id"], score=["a", "b"])
    figures = [one.report(METRIC, unit="user_id").html.count("<td>10") for one in (bound, both)]
    assert figures[0] == figures[1] > 0

    SESSIONS.to_parquet(tmp_path / "0.parquet")
    words = ["evaluate", str(tmp_path / "0.parquet"), "--user=session", "--metrics", METRIC]
    words += ["--score=a", "--score=b", "--baseline=a", "--quiet"]
    assert 1 == main(words)
    assert "unit='user_id'" in " ".join(capsys.readouterr().err.split())
    assert 0 == main([*words, "--unit=user_id", "--format=csv"])
    expected = bound.compare(METRIC, unit="user_id")
    assert expected.to_csv().strip() == capsys.readouterr().out.strip()


@pytest.mark.parametrize(
    "users",
    [range(40), [0] * 40, [0, 0, *range(1, 39)], np.random.default_rng(1).permutation(240) % 7],
    ids=["one each", "one in all", "one alone", "not nested"],
)
def test_no_unit_is_asked_for(users):
    """Users with a ranking each, a single user, and values that vary need no unit."""
    values = users if len(users) == 240 else np.repeat(users, 6)
    bound = SESSIONS.assign(user_id=values).rec(user="session", score=["a", "b"])
    assert {40} == set(bound.summary(METRIC)["n_users"])


@pytest.mark.parametrize("asked", ["summary", "compare"])
def test_a_ranking_without_a_unit_is_its_own(asked):
    """A ranking with a null unit counts as one unit."""
    rows = SESSIONS.assign(user_id=SESSIONS["user_id"].where(SESSIONS["user_id"] % 2 == 0))
    bound = rows.rec(user="session", score=["a", "b"])
    with pytest.raises(RecframeError, match="unit: rankings of one 'user_id'"):
        ask(bound, asked)
    assert {5 + 20} == set(ask(bound, asked, unit="user_id")["n_users"])
    truth = pd.DataFrame({"session": range(42), "item": 1})
    bound = SESSIONS.drop(columns="relevant").rec(
        user="session", score=["a", "b"], truth=truth, population="truth"
    )
    assert {10 + 2} == set(ask(bound, asked, unit="user_id")["n_users"])


@pytest.mark.parametrize("cell", [{"text": "a"}, ["a", "b"], np.array([1.0, 2.0])])
def test_cells_that_are_no_ids_ask_nothing(cell):
    """A column named like users that holds texts, lists or arrays is no unit."""
    rows = SESSIONS.assign(user_id=[cell] * len(SESSIONS))
    assert 40 == rows.rec(user="session", score="a").summary(METRIC)["n_users"].item()


def test_a_group_of_users_is_no_unit():
    """A group of very many rankings is no unit."""
    many = pd.concat([SESSIONS.assign(session=SESSIONS["session"] + 40 * n) for n in range(5)])
    rows = many.assign(user_id=many["session"] % 3)
    assert 200 == rows.rec(user="session", score="a").summary(METRIC)["n_users"].item()


def test_units_are_saved_with_values(tmp_path, capsys):
    """A saved table has the unit of each ranking, and a gate can use it."""
    path, saved = tmp_path / "0.parquet", tmp_path / "users.parquet"
    SESSIONS.to_parquet(path)
    words = ["evaluate", str(path), "--user=session", "--score=a", "--metrics", METRIC, "--quiet"]
    assert 0 == main([*words, "--per-user", str(saved), "--unit=user_id"])
    assert "user_id" in recframe.read_per_user(saved).index.names
    new = tmp_path / "new.parquet"
    new.write_bytes(saved.read_bytes())
    capsys.readouterr()
    assert 0 == main(["compare", str(saved), str(new), "--unit=user_id", "--format=csv"])
    assert ",10," in capsys.readouterr().out
