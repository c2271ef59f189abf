"""recframe.summary, recframe.compare and other functions take existing per-user values.

Tests of recframe.users_needed and recframe.read_per_user belong here.
"""

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe.cli import main
from recframe.frames.tables import tidy_table

METRICS = ["precision@2", "recall@1"]
RNG = np.random.default_rng(0)
TWO = pd.DataFrame({"old": [0.0, 0.5, 0.5], "new": [0.5, 0.5, 1.0]})


@pytest.fixture
def bound(frame):
    """Return the small frame's accessor with two score columns."""
    return frame.assign(b_score=frame["relevant"]).rec


@pytest.fixture
def save(tmp_path):
    """Return a function that saves a table as --per-user does, and returns the path."""

    def save(per_user, name):
        rows, path = tidy_table(per_user), tmp_path / name
        path.parent.mkdir(exist_ok=True)
        rows.to_csv(path, index=False) if path.suffix == ".csv" else rows.to_parquet(path)
        return path

    return save


def test_methods_are_the_functions_on_evaluate(bound):
    """`summary` and `compare` of a per-user table equal the methods bit for bit."""
    per_user = bound.evaluate(METRICS)

    pd.testing.assert_frame_equal(bound.summary(METRICS), recframe.summary(per_user))
    pd.testing.assert_frame_equal(bound.compare(METRICS), recframe.compare(per_user))
    one = recframe.compare(bound.recall(k=1), baseline="b_score", test="ttest")
    expected = bound.compare("recall@1", baseline="b_score", test="ttest")
    pd.testing.assert_frame_equal(expected, one)


def test_segments_are_a_line_of_pandas(bound):
    """A selection of users in pandas gives the summary of the frame with these users."""
    per_user = bound.evaluate(METRICS)
    alone = bound(missing="drop").evaluate(METRICS).loc[["ann", "bob"]]

    pd.testing.assert_frame_equal(
        recframe.summary(alone), recframe.summary(per_user[per_user.index != "cat"])
    )


@pytest.mark.parametrize("function", [recframe.summary, recframe.compare])
def test_tables_of_one_metric_are_joined(bound, function):
    """Tables of one metric joined by `pd.concat` equal a dict of them: keys name the models."""
    tables = {name: bound(score=name).precision(k=1) for name in ("b_score", "score")}
    joined = pd.concat(tables, axis=1)

    pd.testing.assert_frame_equal(function(tables), function(joined))


def test_own_tables():
    """Columns without names hold values, nulls are undefined, and integers and booleans count."""
    table = pd.DataFrame({"a": pd.array([1, None, 0], "Int64"), "b": [True, False, True]})
    summary = recframe.summary(table)

    assert [("a", "value"), ("b", "value")] == summary.index.tolist()
    assert [2, 3] == summary["n_users"].tolist()
    assert 2 / 3 == summary.loc[("b", "value"), "mean"]


def test_metrics_that_a_score_lacks_are_undefined():
    """Joined tables of different metrics are compared where both have values."""
    both = pd.concat({"a": TWO.set_axis(["m", "n"], axis=1), "b": TWO[["new"]]}, axis=1)
    both = both.rename(columns={"new": "n"}).rename_axis(columns=["score", "metric"])
    table = recframe.compare(both)

    assert [("b", "m"), ("b", "n")] == table.index.tolist()
    assert [0, 3] == table["n_users"].tolist()
    assert [3, 0] == table["n_undefined_score"].tolist()


@pytest.mark.parametrize(
    "function", [recframe.summary, partial(recframe.compare, baseline="score")]
)
def test_levels_are_read_by_their_names_or_by_what_is_in_them(bound, function):
    """The levels of the columns may be in any order, and are known by name or content."""
    per_user = bound.evaluate(METRICS)
    long = tidy_table(per_user)
    pivot, swapped = long.pivot, per_user.swaplevel(axis=1)
    own = per_user.rename(columns={"recall@1": "revenue"}, level="metric")
    expected = function(per_user)

    for table in (
        pivot(index="user", columns="score"),
        pivot(index="user", columns="score", values=METRICS),
        swapped,
        *(table.rename_axis(columns=[None, None]) for table in (per_user, swapped)),
        swapped.rename_axis(columns=["metric", "model"]),
    ):
        pd.testing.assert_frame_equal(
            expected, function(table).reindex(expected.index), check_names=False
        )
    assert function(own).equals(function(own.swaplevel(axis=1).rename_axis(columns=[None, None])))
    wide = function(pivot(index="user", columns="score", values="recall@1"))
    assert {"value"} == set(wide.index.unique("metric"))


@pytest.mark.parametrize("labels", [(["a", "b"], ["m", "n"]), (["auc", "b"], ["recall@1", "n"])])
def test_levels_that_do_not_say_what_they_are_are_refused(labels):
    """Ambiguous column levels are refused, and each suggested call runs."""
    columns = pd.MultiIndex.from_product(labels)
    per_user = pd.DataFrame([[0.0, 1.0, 0.5, 0.5]] * 3, columns=columns)
    with pytest.raises(recframe.RecframeError, match=r"say which is which\. Pass") as refused:
        recframe.compare(per_user)
    calls = str(refused.value).partition(". Pass ")[2].removesuffix(".").split(" or ")

    tables = [recframe.compare(eval(call, {"per_user": per_user})) for call in calls]
    assert [{labels[0][1]}, {labels[1][1]}] == [set(table.index.unique(0)) for table in tables]
    with pytest.raises(recframe.RecframeError, match="say which is which"):
        recframe.compare(per_user.rename_axis(columns=["score", "score"]))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TWO["old"], "per_user must be a DataFrame .*but is a pandas Series"),
        (pd.DataFrame(), "per_user must have a column for each score, but has none"),
        (TWO.set_index([[1, 1, 2]]), "each user once, but has user 1 more than once"),
        (TWO[["old", "old"]], "each column once, but has column 'old'"),
        (TWO.assign(old="x"), r"must hold numbers, but holds .* in column \('old', 'value'\)"),
        (TWO / 0, r"must hold finite numbers, but holds inf in \('old', 'value'\)"),
        (TWO.assign(item=1), "but has the column 'item'. Pass df.rec.evaluate"),
        (TWO.set_axis(METRICS, axis=1), r"the metrics \['precision@2', 'recall@1'\] without"),
        (TWO.rename_axis(columns="metric"), r"the metrics \['old', 'new'\] without a score"),
        (pd.concat({1: pd.concat({2: TWO}, axis=1)}, axis=1), "two levels of which neither"),
        (TWO.add_suffix("_auc").assign(b_mrr=0), r"end in several metrics, \['auc', 'mrr'\]"),
        (100 * TWO.rename_axis(columns="auc"), r"of auc from 0 to 1, but holds \d\d.* in .*Divide"),
        ([TWO, TWO.rename_axis(columns="auc")], "metrics in common, but the first has .'value'"),
        (TWO[["old"]], r"per_user must have 2 scores or more to compare, but has \['old'\]"),
    ],
)
def test_what_is_no_table_of_users_is_refused(table, message):
    """An object that is no table of users is refused with a fault and a remedy."""
    with pytest.raises(recframe.RecframeError, match=message):
        recframe.compare(table)


def test_names_that_join_model_and_metric():
    """Columns such as als_recall@5 are refused with a call that runs; one metric is a model's."""
    rng = np.random.default_rng(0)
    names = ["als_recall@5", "als_P@5", "b-v2 recall@5", "b-v2 P@5"]
    table = pd.DataFrame(rng.random((50, 4)), columns=names)
    with pytest.raises(recframe.RecframeError, match=r"end in several metrics, .* Pass") as refused:
        recframe.compare(table)
    call = str(refused.value).partition(". Pass ")[2].removesuffix(".")

    compared = recframe.compare(eval(call, {"pd": pd, "per_user": table}))
    assert [("b-v2", "recall@5"), ("b-v2", "P@5")] == compared.index.tolist()
    objectives = table[names[::2]].set_axis(["xgb_ndcg", "xgb_map"], axis=1)
    assert 1 == len(recframe.compare(objectives.rename_axis(columns="recall@5")))
    assert ["b-v2 recall@5"] == [one for one, _ in recframe.compare(table[names[::2]]).index]


@pytest.mark.parametrize("difference", [0.02, 0.1, 2.0])
@pytest.mark.parametrize("power", [0.6, 0.9])
def test_users_needed_detect_the_difference(difference, power):
    """The difference is detectable with the users needed, and not with one fewer."""
    stats = pytest.importorskip("scipy.stats")
    per_user = pd.DataFrame({"a": RNG.random(50), "b": RNG.random(50)})
    row = recframe.users_needed(per_user, difference, power=power).loc[("b", "value")]
    deviation = (per_user["b"] - per_user["a"]).std()

    def detectable(n):
        errors = stats.t.ppf(0.975, n - 1) + stats.t.ppf(power, n - 1)
        return errors * deviation / np.sqrt(n)

    needed = int(row["n_needed"])
    assert deviation == pytest.approx(row["deviation"])
    assert detectable(50) == pytest.approx(row["detectable"])
    assert detectable(needed) <= difference
    assert needed == 2 or detectable(needed - 1) > difference


def test_users_needed_of_scores_that_do_not_differ():
    """The number of users needed is null, in an integer column, if the scores do not differ."""
    table = recframe.users_needed(TWO.assign(same=TWO["old"]), difference=0.1)

    assert "Int64" == table["n_needed"].dtype
    assert [False, True] == table["n_needed"].isna().tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"difference": 0}, "difference must be a number above 0, but is 0"),
        ({"difference": 1e-12}, "difference must be one that some users could show, but is 1e-12"),
        ({"power": 0.5}, "power must be between 0.5 and 1, but is 0.5"),
        ({"alpha": 0.5}, "alpha must be between 0 and 0.5, but is 0.5"),
        ({"baseline": "x"}, "baseline must be a score column, .*but is 'x'"),
    ],
)
def test_users_needed_refuses(arguments, message):
    """Numbers out of range, and unknown baselines, are refused."""
    with pytest.raises(recframe.RecframeError, match=message):
        recframe.users_needed(TWO, **({"difference": 0.1} | arguments))


@pytest.mark.parametrize("difference", [1, 5])
def test_differences_that_shares_cannot_have(difference):
    """A difference of 1 or more is refused for metrics in [0, 1], and accepted for others."""
    named = [
        TWO.set_axis(pd.MultiIndex.from_product([["old", "new"], [metric]]), axis=1)
        for metric in ("recall@2", "dcg@2")
    ]
    with pytest.raises(recframe.RecframeError, match=f"between 0 and 1, but is {difference}"):
        recframe.users_needed(named[0], difference)
    assert 2 <= recframe.users_needed(named[1], difference)["n_needed"].item()


@pytest.mark.parametrize("name", ["users.csv", "users.parquet"])
def test_a_saved_table_is_read_as_it_was(bound, save, name):
    """A saved table is read with the same users, scores, metrics and values to the last bit."""
    per_user = bound.evaluate(METRICS) / 3

    pd.testing.assert_frame_equal(per_user, recframe.read_per_user(save(per_user, name)))


@pytest.mark.parametrize("users", [["user"], ["user", "weights"], [None], ["day", "user"]])
def test_a_table_that_pandas_wrote(users, bound, save, tmp_path):
    """The table of `evaluate` is read as it was from the parquet file of pandas."""
    per_user = bound.evaluate(METRICS) / 3
    ids = [per_user.index, pd.Index([1.0, 2.0, 0.5])][: len(users)]
    per_user.index = pd.MultiIndex.from_arrays(ids, names=users) if len(ids) > 1 else ids[0]
    per_user.index.names = users
    per_user.to_parquet(tmp_path / "pandas.parquet")
    found = recframe.read_per_user(tmp_path / "pandas.parquet")

    pd.testing.assert_frame_equal(recframe.read_per_user(save(per_user, "tidy.parquet")), found)
    pd.testing.assert_frame_equal(per_user, found, check_names=users != [None])
    recframe.read_per_user([tmp_path / "pandas.parquet", tmp_path / "tidy.parquet"])


def test_users_that_became_columns(bound, tmp_path):
    """A table whose users `reset_index` made a column is read by its users, not by position."""
    table = bound.evaluate(METRICS)
    flat = table.reset_index()
    pd.testing.assert_frame_equal(recframe.summary(table), recframe.summary(flat))
    flat.sample(frac=1, random_state=0).to_parquet(tmp_path / "new.parquet")
    found = recframe.read_per_user(tmp_path / "new.parquet")
    pd.testing.assert_frame_equal(table, found.reindex(table.index), check_names=False)


def test_users_that_became_positions(bound):
    """A table whose index is lost is not paired by its positions with the users of another."""
    old = bound.evaluate("recall@2")
    new = old.reset_index(drop=True)
    lost = r"^per_user must have users in the index of each table, but table 2 has the positions 0"
    for function in (recframe.compare, recframe.summary, recframe.gate):
        with pytest.raises(recframe.RecframeError, match=lost):
            function(old, new) if function is not recframe.summary else function([old, new])

    both = [recframe.compare(one, one)["n_users"].tolist() for one in (old, new)]
    assert both[0] == both[1]


def test_tables_of_other_options_are_noted():
    """Other options of the tables that evaluate made are noted wherever these are compared."""
    rng = np.random.default_rng(0)
    users = {"user": np.repeat(range(30), 10), "score": rng.random(300)}
    frame = pd.DataFrame({**users, "relevant": rng.integers(1, 6, 300)})
    old, new = (frame.rec(min_relevance=n).evaluate("precision@5") for n in (4, 2))
    padded = frame.rec(min_relevance=4, short="pad").evaluate("precision@5")
    unknown = pd.DataFrame(new.to_numpy(), new.index, new.columns)
    said = "made with other values of min_relevance, to which differences may be due"

    for function in (recframe.compare, recframe.summary):
        assert [said in one.text for one in function({"old": old, "new": new}).notes] == [True]
        # "raise" agrees with every value, and the options of other tables are not known.
        for others in ([old, padded], [old, unknown]):
            assert not [one for one in function(others).notes if "min_relevance" in one.text]
    for limits in ({}, {"max_drop": 0.01}):
        noted = "old with min_relevance=4.0 and new with min_relevance=2.0 were made with other"
        assert recframe.gate(old, new, **limits).notes[0].startswith(noted)
    notes = recframe.gate(old, padded, max_drop=0.01).notes
    assert not [one for one in notes if "other options" in one]


def test_other_options_of_files_that_were_read(tmp_path):
    """A table that is read from files tells the options that all of them record."""
    scores = np.random.default_rng(0).random(300)
    frame = pd.DataFrame({"user": np.repeat(range(30), 10), "score": scores})
    frame["relevant"] = np.resize([1, 0, 0, 1, 0, 1, 1], 300)
    new = frame.rec(ties="worst").evaluate("precision@5")
    paths = [tmp_path / f"{name}.parquet" for name in "ab"]
    for path in paths:
        recframe.save_per_user(frame.rec.evaluate("precision@5"), path, {}, unit="user")
    said = "with ties='expected' and new with ties='worst' were made with other options"

    assert said in recframe.gate(paths[0], new).notes[0]
    for old in (recframe.read_per_user(paths[0]), recframe.read_per_user(paths)):
        (note,) = recframe.compare({"old": old, "new": new}).notes
        assert "made with other values of ties" in note.text


def test_ids_of_an_unknown_name_are_no_score():
    """A column of ids beside scores of users belongs in the index."""
    table = TWO.assign(customer_no=[1, 2, 3])
    with pytest.raises(recframe.RecframeError, match=r"per_user\.set_index\('customer_no'\)"):
        recframe.compare(table)
    assert "sasrec_id" in recframe.summary(TWO.rename(columns={"new": "sasrec_id"})).index
    found = recframe.compare(table.set_index("customer_no"))
    pd.testing.assert_frame_equal(recframe.compare(TWO), found)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_folder_of_saved_tables(ending, bound, save, tmp_path):
    """The files of a folder have one table, as an engine writes it; ids have one type."""
    per_user = bound.evaluate(METRICS).set_axis(pd.Index(["7", "8", "b"], name="user"))
    for part in range(3):
        save(per_user.iloc[part : part + 1], f"out.parquet/part-{part}.{ending}")
    (tmp_path / "out.parquet" / "_SUCCESS").touch()

    pd.testing.assert_frame_equal(per_user, recframe.read_per_user(tmp_path / "out.parquet"))
    both = recframe.read_per_user([tmp_path / "out.parquet", save(per_user, f"next.{ending}")])
    assert ["out: score", "out: b_score", "next: score", "next: b_score"] == list(
        both.columns.unique("score")
    )
    (tmp_path / "out.parquet" / "note.txt").touch()
    with pytest.raises(recframe.RecframeError, match=r"note\.txt must end in"):
        recframe.read_per_user(tmp_path / "out.parquet")


def test_ids_of_csv_are_numbers_only_where_all_are(save):
    """Ids in csv are numbers only if all are, so 007 stays text."""
    columns = pd.MultiIndex.from_tuples([("a", "recall@1")], names=["score", "metric"])
    per_user = TWO[["old"]].set_axis(columns, axis=1)
    ids = ["007", "7", "NA"]
    table = recframe.read_per_user(save(per_user.set_axis(ids), "text.csv"))

    assert sorted(ids) == table.index.tolist()
    assert [0, 1, 2] == recframe.read_per_user(save(per_user, "whole.csv")).index.tolist()


def test_two_runs_of_one_model_get_the_names_of_their_files(bound, save):
    """Runs of one model are named by their files, and with the score if a file has several."""
    both = bound.evaluate(METRICS)
    one = both[["score"]]
    nights = [save(one, "monday.csv"), save(one.iloc[1:], "tuesday.parquet")]
    table = recframe.read_per_user(nights)

    assert ["monday", "tuesday"] == list(table.columns.unique("score"))
    assert table["tuesday"].isna().sum(axis=1).iloc[0] == 2
    several = recframe.read_per_user([save(both, "all.csv"), nights[0]])
    assert ["all: score", "b_score", "monday"] == list(several.columns.unique("score"))
    same = [save(one, "1/users.csv"), save(one, "2/users.csv")]
    names = [str(path.with_suffix("")) for path in same]
    assert names == list(recframe.read_per_user(same).columns.unique("score"))


def test_files_that_cannot_be_joined_are_refused(bound, save, tmp_path):
    """Files that repeat, share no users, have faults or do not exist are refused."""
    per_user = bound.evaluate(METRICS)
    path = save(per_user, "users.csv")
    other = save(per_user.set_axis([1, 2, 3]), "other.csv")
    rows = tidy_table(per_user)
    faults = {
        "rows.csv": (rows.drop(columns="score"), "must have rows with a user column"),
        "raw.csv": (rows.assign(item=1), "must have rows with a user column"),
        "twice.csv": (pd.concat([rows, rows]), "each user and score once"),
        "text.csv": (rows.assign(**{"recall@1": "x"}), "must hold numbers in 'recall@1'"),
    }
    for name, (table, message) in faults.items():
        table.to_csv(tmp_path / name, index=False)
        with pytest.raises(recframe.RecframeError, match=f"path: .*{name}.* {message}"):
            recframe.read_per_user(tmp_path / name)
    for name in ("bad.parquet", "users.txt"):
        (tmp_path / name).write_text("x")
    for given, message in {
        (path, path): "path must name each file once",
        (path, other): "other.csv has no user of .*users.csv: they begin with '1' and 'ann'",
        (tmp_path / "bad.parquet",): "path: cannot read .*bad.parquet",
        (tmp_path / "no.csv",): "path: cannot read .*no.csv: no such file",
        (tmp_path / "users.txt",): "path: .*users.txt must end in .parquet or .csv",
        (): "path must be the path of a file of --per-user",
    }.items():
        with pytest.raises(recframe.RecframeError, match=message):
            recframe.read_per_user(list(given))


def test_a_csv_that_pandas_wrote(bound, tmp_path):
    """A csv with two lines of names is refused with a call that reads it."""
    bound.evaluate(METRICS).to_csv(tmp_path / "users.csv")
    with pytest.raises(recframe.RecframeError, match=r"two lines of names.*index_col=0") as refused:
        recframe.read_per_user(tmp_path / "users.csv")
    call = re.search(r"pd\.read_csv\(.*?\]?, index_col=0\)", str(refused.value))[0]
    read = eval(call, {"pd": pd, "path": tmp_path / "users.csv"})

    expected, found = recframe.summary(bound.evaluate(METRICS)), recframe.summary(read)
    pd.testing.assert_frame_equal(expected, found)
    (tmp_path / "tidy.csv").write_text("score,user,recall@5\ns,1,0.5\ns,2,0.75\n")
    assert [0.5, 0.75] == recframe.read_per_user(tmp_path / "tidy.csv").iloc[:, 0].tolist()


@pytest.mark.parametrize("seed", range(4))
def test_a_flipped_bit_is_seen(seed, tmp_path, capsys):
    """A flipped bit in a saved file never changes a value without a refusal."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"user": np.repeat(range(60), 3), "score": rng.random(180)})
    frame.assign(relevant=rng.integers(0, 2, 180)).to_parquet(tmp_path / "rows.parquet")
    path = tmp_path / "users.parquet"
    words = ["--metric", "precision@2", "ndcg", "-q", "--per-user", str(path)]
    assert 0 == main(["evaluate", str(tmp_path / "rows.parquet"), *words])
    expected, content = recframe.read_per_user(path), path.read_bytes()
    for at in rng.choice(len(content), 60, replace=False).tolist():
        damaged = bytearray(content)
        damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            found = recframe.read_per_user(path)
        except recframe.RecframeError:
            continue
        assert np.array_equal(expected.to_numpy(), found.to_numpy(), equal_nan=True), at


@pytest.mark.parametrize("n_cut", [1, 2, 5])
def test_a_csv_that_is_cut_off_is_refused(n_cut, bound, save):
    """A csv file that is cut off is refused, because its last number could be wrong."""
    path = save(bound.evaluate(METRICS), "users.csv")
    path.write_bytes(path.read_bytes()[:-n_cut])
    with pytest.raises(recframe.RecframeError, match=r"users\.csv: .*its last line has no end"):
        recframe.read_per_user(path)
