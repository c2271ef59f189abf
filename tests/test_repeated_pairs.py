"""Rows that repeat a pair are refused, and the column that tells them apart is named."""

import re

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recframe
import recframe.dask
from entry_points import ENTRY_POINTS
from recframe import RecframeError, RepeatedPairError
from recframe.cli import main


@pytest.fixture
def days():
    """Return two days of the same users and items, for one model."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"user": np.repeat(range(30), 4), "item": list("abcd") * 30})
    frame["relevant"] = rng.random(120) < 0.5
    both = [frame.assign(day=day, score=rng.random(120)) for day in ("2026-01-01", "2026-01-02")]
    return pd.concat(both, ignore_index=True)


FOUND = r"each combination of 'user' and 'item' must occur once, but 120 of 240 rows "
FOUND += r"repeat another \(such as user \d+, item '[abcd]'\)\. "
TOLD = r"The column 'day' tells them apart \(such as '2026-01-0\d' and '2026-01-0\d'\): pass user="
MAYBE = r"If the column 'day' tells them apart, pass it, for example user=\['day', "
MAYBE += (
    r"'user'\], to evaluate each of its values by itself, or make .*\. Otherwise pass duplicates="
)
REMEDY = r"[Pp]ass duplicates='max' for the best of each pair, or 'keep' to count every row\.$"


@pytest.mark.parametrize(
    "ask",
    [
        lambda rec: rec.recall(k=2),
        lambda rec: rec.mean("recall@2"),
        lambda rec: rec.rank(),
        lambda rec: rec.top(k=2),
        lambda rec: rec.curve(k=[1, 2]),
    ],
)
def test_frames_name_the_column_that_tells_rows_apart(days, ask):
    """The refusal counts the rows, shows a pair, and names the column that differs."""
    with pytest.raises(RepeatedPairError, match=f"^{FOUND}{TOLD}.*Otherwise {REMEDY}"):
        ask(days.rec)


def test_the_column_with_fewest_values_is_named(days):
    """The column with the fewest values is named, lists are ignored, and nulls are values."""
    days["time"] = np.arange(240.0)
    days["tags"] = [["x"]] * 240
    with pytest.raises(RepeatedPairError, match=FOUND + TOLD):
        days.rec.recall(k=2)
    days["day"] = days["day"].where(days["day"] == "2026-01-01")
    with pytest.raises(RepeatedPairError, match=r"'day' tells them apart \(such as .*nan"):
        days.rec.recall(k=2)
    with pytest.raises(RepeatedPairError, match=FOUND + REMEDY):
        days.drop(columns=["day", "time"]).rec.recall(k=2)


def test_the_answer_pools_no_days(days):
    """The answer ranks each day by itself, and a column of floats is no reason for repeats."""
    with pytest.raises(RepeatedPairError, match=FOUND + TOLD) as refused:
        days.assign(price=np.arange(240.0)).rec.recall(k=2)
    assert {"user": ["day", "user"]} == refused.value.answers
    assert 60 == len(days.rec(**refused.value.answers).recall(k=2))
    with pytest.raises(RepeatedPairError, match=FOUND + REMEDY):
        days.drop(columns="day").assign(price=np.arange(240.0)).rec.recall(k=2)


def test_a_day_that_truth_lacks_is_asked_by_a_command(days, tmp_path, capsys):
    """The command line suggests to evaluate a day that truth lacks as a model."""
    days.drop(columns="relevant").to_parquet(tmp_path / "runs.parquet")
    truth = days[days["relevant"]][["user", "item"]].drop_duplicates()
    truth.to_parquet(tmp_path / "truth.parquet")
    words = ["evaluate", f"{tmp_path}/runs.parquet", "--truth", f"{tmp_path}/truth.parquet"]
    assert 1 == main([*words, "--metric", "recall@2"])
    assert "for example user=['day', 'user'], to" in capsys.readouterr().err
    assert 1 == main([*words, "--metric", "recall@2", "--user", "day", "--user", "user"])
    assert "or model='day' with one user= and one score, to" in capsys.readouterr().err
    model = ["--model", "day", "--population", "both"]
    assert 0 == main([*words, "--metric", "recall@2", *model])


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_a_column_that_truth_lacks_holds_models(entry, tmp_path):
    """The answer for a user column that truth lacks evaluates each of its values as a model."""
    rows = {"user": ["u"] * 4, "item": list("abba"), "score": [2.0, 1, 2, 1]}
    frame = pd.DataFrame({"method": ["m1", "m1", "m2", "m2"], **rows})
    truth = pd.DataFrame({"user": ["u"], "item": ["b"]})
    with pytest.raises(RepeatedPairError, match="questions are open") as refused:
        frame.rec(truth=truth).mean("mrr")
    assert {"user": "user", "model": "method"} == refused.value.answers
    options = {"truth": truth, **refused.value.answers}
    table = ENTRY_POINTS[entry](frame, "mrr", options, tmp_path)
    assert {("m1", "mrr"): 0.5, ("m2", "mrr"): 1.0} == table.iloc[0].to_dict()


def test_with_truth_the_remedy_does_not_delete_a_model(days):
    """The column that tells rows apart is named with truth too."""
    truth = days[days["relevant"]][["user", "item"]].drop_duplicates()
    with pytest.raises(RepeatedPairError, match=FOUND + TOLD):
        days.rec(truth=truth).recall(k=2)
    twice = pd.concat([truth, truth]).assign(relevant=1)
    message = r"truth: .* 'user' and 'item' .* Keep one row of each, as truth.sort_values\('rel"
    with pytest.raises(RecframeError, match=message):
        days[:120].rec(truth=twice).recall(k=2)


@pytest.mark.parametrize("memory", ["1GiB", 4_000])
@pytest.mark.parametrize("grouped", [True, False])
def test_files_name_the_folder_that_may_tell_rows_apart(days, tmp_path, memory, grouped):
    """Daily folders are refused, and their key is named as one that may tell rows apart."""
    for day, rows in days.groupby("day"):
        (tmp_path / f"day={day}").mkdir()
        rows = rows if grouped else rows.sample(frac=1, random_state=3)
        rows.drop(columns="day").to_parquet(tmp_path / f"day={day}/0.parquet", row_group_size=16)
    with pytest.raises(RepeatedPairError, match=f"2 files .*{MAYBE}") as refusal:
        recframe.evaluate(tmp_path, ["recall@2"], memory=memory)
    assert (memory == "1GiB") == bool(re.search(FOUND, str(refusal.value)))
    assert ["recall@2"] == recframe.evaluate(
        tmp_path / "day=2026-01-02", ["recall@2"], memory=memory
    ).columns.unique("metric").tolist()


def test_files_name_a_column_that_is_not_read(days, tmp_path):
    """A column of a file that no role uses is named as one that may tell rows apart."""
    days.sample(frac=1, random_state=3).to_parquet(tmp_path / "0.parquet", row_group_size=16)
    with pytest.raises(RepeatedPairError, match=MAYBE):
        recframe.evaluate(tmp_path, ["recall@2"], memory=4_000)


def test_tables_of_arrow_name_a_column_that_is_not_read(days):
    """A column of an Arrow table that no role uses is named as one that may tell rows apart."""
    with pytest.raises(RepeatedPairError, match=f"^{FOUND}{MAYBE}"):
        recframe.rec(pa.Table.from_pandas(days)).recall(k=2)


def test_files_name_several_files(days, tmp_path):
    """The same rows in two files are refused with the number of files, not as two models."""
    for name in ("a", "b"):
        days[:120].drop(columns="day").to_parquet(tmp_path / f"{name}.parquet")
    message = r"2 files \(evaluate one file at a time if each has lists of its own, such as"
    with pytest.raises(RepeatedPairError, match=message) as refused:
        recframe.evaluate(tmp_path, ["recall@2"])
    # Pooling lists of several nights would be a wrong default.
    assert {} == refused.value.answers


def test_users_in_folders(days, tmp_path):
    """Repeated rows are refused if folder names are the users, and in a single ranking."""
    for user, rows in days.groupby("user"):
        (tmp_path / f"user={user}").mkdir()
        rows.drop(columns="user").to_parquet(tmp_path / f"user={user}/0.parquet")
    with pytest.raises(RepeatedPairError, match=FOUND + MAYBE):
        recframe.evaluate(tmp_path, ["recall@2"])
    match = "columns 'day', 'user' tells them apart, pass it, for example user='day', to"
    with pytest.raises(RepeatedPairError, match=match):
        recframe.evaluate(tmp_path / "user=7", ["recall@2"], user=None)


def test_dask_names_the_columns_that_may_tell_rows_apart(days):
    """Dask names the columns that may tell rows apart, because it does not compare them."""
    lazy = dd.from_pandas(days, npartitions=3).rec.recall(k=2)
    with pytest.raises(RepeatedPairError, match=MAYBE):
        lazy.compute(scheduler="sync")
    with pytest.raises(RepeatedPairError, match=r"rows repeat another .*\). Pass duplicates="):
        dd.from_pandas(days.drop(columns="day")).rec.recall(k=2).compute(scheduler="sync")


def test_dask_keeps_no_first_row(days):
    """Dask refuses duplicates="first", because its rows have no order."""
    with pytest.raises(RecframeError, match="duplicates='first' reads the order of rows, which"):
        dd.from_pandas(days).rec(duplicates="first")


def test_the_command_line(days, tmp_path, capsys):
    """The command line refuses in the same words, and takes the option."""
    path = str(tmp_path / "days.parquet")
    days.to_parquet(path)
    asked = ["evaluate", path, "--metric", "recall@2", "--format", "csv"]

    assert 1 == main(asked)
    assert re.search(FOUND + MAYBE, capsys.readouterr().err)
    for duplicates in ("max", "first", "keep"):
        expected = days.rec(duplicates=duplicates).mean("recall@2").to_csv()
        assert 0 == main([*asked, "--duplicates", duplicates])
        assert expected.splitlines()[1:] == capsys.readouterr().out.splitlines()[1:]


def test_without_items_there_is_nothing_to_compare(days):
    """Frames without items may repeat users, and options that need items are refused."""
    without = days.drop(columns="item")

    assert 30 == len(without.rec(user="user").recall(k=2))
    for duplicates in ("max", "first"):
        with pytest.raises(
            recframe.MissingColumnError, match=f"item: .* duplicates='{duplicates}' needs"
        ):
            without.rec(duplicates=duplicates).recall(k=2)


def test_items_given_by_name(days):
    """A named item column is checked, and one of two possible ones must be named."""
    renamed = days.rename(columns={"item": "film"})

    assert 30 == len(renamed.rec(user="user").recall(k=2))
    with pytest.raises(RepeatedPairError, match="'user' and 'film' must occur once"):
        renamed.rec(item="film").recall(k=2)
    with pytest.raises(RecframeError, match="item: 2 columns could be it, 'item', 'doc'"):
        days.assign(doc=range(240)).rec.recall(k=2)
    of_users = days.assign(doc=range(240)).rec(item="doc", user="user")
    assert 30 == len(of_users.recall(k=2))


def test_null_items(days):
    """A null item is refused or dropped, and ignored under duplicates="keep"."""
    days = days[:120].astype({"item": object})
    days.loc[[3, 5], "item"] = None
    with pytest.raises(RecframeError, match=r"item='item': ids must not be null, but 2 of"):
        days.rec.recall(k=2)
    expected = days.dropna().rec.recall(k=2)
    pd.testing.assert_frame_equal(expected, days.rec(missing="drop").recall(k=2))
    assert 30 == len(days.rec(duplicates="keep").recall(k=2))


def test_users_and_items_in_folders(tmp_path):
    """Rows whose user and item are both names of folders repeat the pair."""
    folder = tmp_path / "user=1" / "item=a"
    folder.mkdir(parents=True)
    rows = {"score": [0.5, 0.4], "relevant": [1, 0], "day": ["mon", "tue"]}
    pd.DataFrame(rows).to_parquet(folder / "0.parquet")
    with pytest.raises(RepeatedPairError, match=r"item 'a'\). If the column 'day' tells"):
        recframe.evaluate(tmp_path, ["recall@1"])


@pytest.mark.parametrize(
    ("label", "advice"),
    [
        (
            "session_id",
            r"pass user=\['session_id', 'user_id'\] to rank each by itself. Otherwise pass dupl",
        ),
        ("passage", "pass item='passage' if that is ranked. Otherwise pass duplicates='max'"),
        (
            "model",
            "pass model='model' to evaluate each of its values as a model. Otherwise pass ",
        ),
    ],
)
def test_what_tells_repeats_apart_may_be_a_role(label, advice):
    """The suggestion depends on the column: lists of users, finer items or models."""
    frame = pd.DataFrame({"user_id": 1, "doc": [7, 7], "score": [0.5, 0.4], "relevant": 1})
    frame[label] = ["a", "b"]

    with pytest.raises(RepeatedPairError, match=rf"{label}' tells them apart .*: {advice}"):
        frame.rec(user="user_id", item="doc").recall(k=1)


@pytest.fixture
def lists():
    """Return the lists of four items of 20 queries, and their truth."""
    rows = [(f"q{user}", f"d{user + at}", 1 - at / 8) for user in range(20) for at in range(4)]
    truth = pd.DataFrame({"query": [f"q{user}" for user in range(20)]})
    frame = pd.DataFrame(rows, columns=["query", "doc_id", "score"])
    return frame, truth.assign(doc_id=[f"d{user + 1}" for user in range(20)])


def paste(message, names):
    """Return the value of the call that a message ends with."""
    return eval(message[message.rindex("\ndf.") :], names)


@pytest.mark.parametrize("first", ["retriever", "alpha"])
@pytest.mark.parametrize("second", ["reranker", "chunk"])
@pytest.mark.parametrize("is_passed", [True, False])
def test_settings_are_joined_to_models(lists, first, second, is_passed):
    """The call that answers a grid of two settings has a model for each combination."""
    frame, truth = lists
    grid = [frame.assign(**{first: one, second: other}) for one in (0.1, 0.5) for other in "nz"]
    df, names = pd.concat(grid), ([first, second] if is_passed else [None])
    for name in names:
        rec = df.rec(truth=truth, **({"model": name} if is_passed else {}))
        with pytest.raises(RecframeError, match=r"This answers all") as refused:
            rec.mean("mrr")
        table = paste(str(refused.value), {"df": df, "truth": truth})
        assert [0.5] * 4 == table["mrr"].tolist()


def test_a_level_without_a_name_holds_models(lists):
    """The keys of pd.concat are models, and the call names their level of the index."""
    frame, truth = lists
    df = pd.concat({"before": frame, "after": frame.assign(score=-frame["score"])})
    with pytest.raises(RepeatedPairError, match=r"'model' of df.rename_axis\(\['mo") as refused:
        df.rec(truth=truth).mean("mrr")
    table = paste(str(refused.value), {"df": df, "truth": truth})
    assert [1 / 2, 1 / 3] == pytest.approx(table.loc[["before", "after"], "mrr"])


def test_a_grid_is_answered_by_no_flag(lists, tmp_path, capsys):
    """A command has no flag that joins settings."""
    frame, truth = lists
    grid = [frame.assign(run=one, retriever=other) for one in "ab" for other in "xy"]
    pd.concat(grid).to_parquet(tmp_path / "runs.parquet")
    truth.to_parquet(tmp_path / "truth.parquet")
    words = ["evaluate", f"{tmp_path}/runs.parquet", "--truth", f"{tmp_path}/truth.parquet"]
    assert 1 == main([*words, "--metric", "mrr", "--model", "run"])
    assert "As flags" not in capsys.readouterr().err


def test_copies_of_rows_are_no_rankings(lists):
    """Rows with the score and relevance of another, as after a join, are not ranked apart."""
    frame, truth = lists
    genres = [["a", "b"] if row % 3 else ["c"] for row in range(len(frame))]
    copied = frame.assign(genre=genres).explode("genre")
    with pytest.raises(RepeatedPairError, match=r"'d1'\)\. Pass duplicates=") as refused:
        copied.rec(truth=truth).mean("mrr")
    assert {"duplicates": "max"} == refused.value.answers


def test_a_column_of_one_row_per_ranking_is_the_item(lists):
    """A column with another value in each row of a query is asked about as the item."""
    frame, truth = lists
    parts = pd.concat([frame] * 3)
    parts["section"] = [f"s{row}" for row in range(len(parts))]
    with pytest.raises(RepeatedPairError, match=r"pass item='section' if that is ranked"):
        parts.rec(truth=truth).mean("mrr")


def test_a_topic_of_items_is_no_user():
    """A user that each item decides is asked about, next to a column that may be the user."""
    cells = {"topic": ["x", "y"] * 24, "article": np.arange(48) % 12, "score": np.arange(48.0)}
    frame = pd.DataFrame({**cells, "reader": np.repeat(range(8), 6), "clicked": 1})
    with pytest.raises(RepeatedPairError, match=r"pass user='reader' if 'topic' is of items"):
        frame.rec.mean("mrr")


def test_a_few_repeats_show_no_settings(lists):
    """Two repeated rows that differ in one of two columns are not told apart by both together."""
    frame, truth = lists
    df = pd.concat([frame.assign(colour="red", size="s"), frame[:2].assign(score=0.1)])
    df["colour"] = df["colour"].fillna(pd.Series(["blue", "red"]))
    df["size"] = df["size"].fillna(pd.Series(["s", "xl"]))
    with pytest.raises(RepeatedPairError, match=r"'d0'\)\. Pass duplicates='max' for the best"):
        df.rec(truth=truth, user="query").mean("mrr")
