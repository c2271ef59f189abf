"""Columns without telling names may divide a user's rows into lists or models by their values."""

import re
from random import Random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recframe
import recframe.polars
from entry_points import ENTRY_POINTS
from note_cases import texts_of
from recframe import RecframeError

METRIC = "precision@2"
# The rows of these are not read before the computation.
LAZY = ("Dask",)
LOOKING = [entry for entry in ENTRY_POINTS if entry not in LAZY]
N_USERS, N_LISTS, N_ROWS = 6, 3, 4


def make_rows(n_users=N_USERS):
    """Return three lists of each user, numbered within the user and among all lists."""
    rng, n = np.random.default_rng(1), n_users * N_LISTS * N_ROWS
    place = np.arange(n)
    items = [rng.choice(30, N_LISTS * N_ROWS, replace=False) for _ in range(n_users)]
    return pd.DataFrame(
        {
            "user": place // (N_LISTS * N_ROWS),
            "item": np.concatenate(items),
            "score": rng.random(n),
            "relevant": rng.integers(0, 2, n),
            "list": place // N_ROWS,
            "model": place // N_ROWS % N_LISTS,
        }
    )


ROWS = make_rows()
# The number of a list or model is written in these ways.
WRITTEN = {
    "numbers": lambda number: number + 4_711,
    "texts": lambda number: ("x-" + number.astype(str)).astype(object),
    "categories": lambda number: ("x" + number.astype(str)).astype("category"),
}

OF_MODELS = WRITTEN | {"fractions of a setting": lambda number: number / 4}


def name_anew(seed):
    """Return a name without a meaning."""
    return "".join(Random(seed).choices("bcdfgklmnpqrstvwz", k=7))


def part_by(values, name="zzz"):
    """Return the rows with one column besides the roles."""
    return ROWS.drop(columns=["list", "model"]).assign(**{name: values})


def refuse(entry, frame, folder, **options):
    """Return the message of an entry point for a frame that it refuses."""
    with pytest.raises(RecframeError) as refused:
        ENTRY_POINTS[entry](frame, METRIC, options, folder)
    return re.sub(r"\s+", " ", str(refused.value))


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("entry", LOOKING)
def test_lists_of_users_are_asked_about(entry, written, tmp_path):
    """A column of several lists by user is asked about with two choices, and both run."""
    name = name_anew(entry + written)
    frame = part_by(WRITTEN[written](ROWS["list"]), name)
    said = refuse(entry, frame, tmp_path)

    assert f"each value of the column '{name}' is in rows of one user alone" in said
    assert "and 6 of 6 users that were looked at have several" in said
    assert f"user=['{name}', 'user']" in said
    assert "else pass user='user'" in said
    assert len(ROWS) // N_ROWS == len(frame.rec(user=[name, "user"]).evaluate(METRIC))
    assert N_USERS == len(ENTRY_POINTS[entry](frame, METRIC, {"user": "user"}, tmp_path))


@pytest.mark.parametrize("written", OF_MODELS)
@pytest.mark.parametrize("entry", LOOKING)
def test_models_are_asked_about(entry, written, tmp_path):
    """A column of models is asked about with two choices, and both run."""
    name = name_anew(entry + written)
    frame = part_by(OF_MODELS[written](ROWS["model"]), name)
    said = refuse(entry, frame, tmp_path)

    assert f"each value of the column '{name}' has equally many rows of each user" in said
    assert f"model='{name}'" in said
    assert "model=None" in said
    assert N_LISTS == len(frame.rec(model=name).mean(METRIC))
    if entry != "command line":
        assert N_USERS == len(ENTRY_POINTS[entry](frame, METRIC, {"model": None}, tmp_path))


@pytest.mark.parametrize("entry", LOOKING)
@pytest.mark.parametrize("name", ["method", "source", "index_name", "zzz"])
def test_models_of_different_items_are_asked_about(entry, name, tmp_path):
    """Models that share no item are asked about if many users have equally many rows of each."""
    rows = make_rows(10).drop(columns=["list", "relevant"])
    rows["item"] += 100 * rows["model"]
    frame = rows.assign(relevant=rows["item"] % 3 == 0, model="m" + rows["model"].astype(str))
    frame = frame.rename(columns={"model": name})
    said = refuse(entry, frame, tmp_path)
    assert f"each value of the column '{name}' has equally many rows of each user" in said
    assert N_LISTS == len(frame.rec(model=name).mean(METRIC))
    brands = frame.drop(index=range(0, len(frame), 5))
    assert [] == brands.rec.mean(METRIC).notes


TRUTH = pd.DataFrame({"user": np.repeat(range(12), 3), "item": [*range(0, 300, 25)] * 3})
OF_LISTS = {
    "date": lambda rows: rows["model"].map("2026-11-0{}".format),
    "timestamp": lambda rows: rows["model"].map("2026-11-01 0{}:00:00".format),
    "session_id": lambda rows: rows["list"].map("s{}".format),
    "request_id": lambda rows: rows["list"] + 50,
    "query": lambda rows: rows["model"].map(["shoes", "hats", "red"].__getitem__),
    "reranked": lambda rows: rows["model"] > 0,
}


@pytest.mark.parametrize("entry", LOOKING)
@pytest.mark.parametrize("name", OF_LISTS)
@pytest.mark.parametrize("shared", [True, False])
def test_lists_of_other_items_are_asked_about_with_truth(entry, name, shared, tmp_path):
    """Lists of a user are asked about if truth does not have the column that tells them apart."""
    rows = make_rows(12).drop(columns="relevant")
    rows = rows[rows["model"] < 2] if name == "reranked" else rows
    rows["item"] += 0 if shared else 100 * rows["model"]
    frame = rows.drop(columns=["list", "model"]).assign(**{name: OF_LISTS[name](rows)})
    said = refuse(entry, frame, tmp_path, truth=TRUTH, population="both")
    assert f"user=['{name}', 'user'] " in said
    user, n_lists = [name, "user"], frame.groupby(["user", name]).ngroups
    truth = TRUTH.merge(frame[[name, "user"]].drop_duplicates())
    apart = frame.rec(truth=truth, user=user, population="rows").evaluate(METRIC)
    assert n_lists == len(apart)
    every = frame.rec(truth=TRUTH, user="user", model=None, population="both").evaluate(METRIC)
    assert 12 == len(every)


@pytest.mark.parametrize("entry", LOOKING)
@pytest.mark.parametrize("name", ["event_id", "row_group", "index"])
def test_lists_are_told_by_values_and_not_by_names(entry, name, tmp_path):
    """A name such as event_id may be of a list as well as of a row."""
    said = refuse(entry, part_by(ROWS["list"], name), tmp_path)
    assert f"user=['{name}', 'user']" in said


@pytest.mark.parametrize("name", ["search_id", "case"])
def test_few_users_have_several_lists(name):
    """If there are many lists, a quarter of the users with several is enough to ask."""
    rows = make_rows(n_users=30)
    moved = rows["list"].where(rows["user"] < 6, 1_000 + rows["user"])  # 6 changed an address
    assert [] == rows.drop(columns=["list", "model"]).assign(address=moved).rec.mean(METRIC).notes
    rows = rows[(rows["user"] < 9) | (rows["model"] == 0)].drop(columns="model")
    said = refuse("frame", rows.rename(columns={"list": name}), None)
    assert "and 9 of 30 users that were looked at have several" in said


INNOCENT = {
    "ids of rows": range(len(ROWS)),
    "times of rows": pd.to_datetime("2024-01-01") + pd.to_timedelta(range(len(ROWS)), "h"),
    "days of items": "2024-01-" + (ROWS["item"] % 3 + 1).astype(str).str.zfill(2),
    "floats": ROWS["list"] / 7,
    "texts": "rows of the list " + ROWS["list"].astype(str),
    "a category of items": ROWS["item"] % 3,
    "a group of users": ROWS["user"] % 3,
    "a user once more": 7 * ROWS["user"],
    "flags": ROWS["model"] > 0,
    "of one value": 1,
    "null": None,
    "some null": ROWS["list"].where(ROWS["user"] > 0).astype("Int64"),
    "relevance once more": ROWS["relevant"].map({0: "no", 1: "yes"}),
    "a position": ROWS.groupby("user")["score"].rank(ascending=False).astype(int),
    "a page": ROWS.groupby("user")["score"].rank(ascending=False).astype(int).sub(1) // N_ROWS,
    "a feature": np.random.default_rng(2).integers(0, 3, len(ROWS)),
    "lists": [[1]] * len(ROWS),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_others_are_let_pass(name):
    """Attributes, times, texts and features of rows are neither asked about nor noted."""
    assert [] == part_by(INNOCENT[name]).rec.mean(METRIC).notes


TIMES_OF_LISTS = {
    "times": pd.to_datetime("2024-01-01") + pd.to_timedelta(ROWS["list"], "h"),
    "seconds": 1_700_000_000 + ROWS["list"],
    "days as numbers": 20_240_101 + ROWS["list"],
    "days as texts": "2024-01-" + (ROWS["list"] + 1).astype(str).str.zfill(2),
}


@pytest.mark.parametrize("name", TIMES_OF_LISTS)
def test_times_of_lists_are_asked_about(name):
    """Times that all rows of a list share are asked about, under a name without a meaning."""
    said = refuse("frame", part_by(TIMES_OF_LISTS[name]), None)
    assert "6 of 6 users that were looked at have several rows at each of several values" in said
    assert "user=['zzz', 'user']" in said


@pytest.mark.parametrize("name", ["genre", "is_new", "category_id", "year"])
@pytest.mark.parametrize("n_first", [7, 10])
def test_attributes_of_a_whole_catalogue_are_let_pass(name, n_first):
    """An attribute of items is no model or day where users have nearly every item."""
    rows = pd.DataFrame({"user": np.repeat(range(50), 20), "item": np.tile(range(20), 50)})
    rows["score"] = np.random.default_rng(0).random(1_000)
    values = ["drama", "comedy"] if name == "genre" else [2_000, 2_001]
    rows[name] = np.where(rows["item"] < n_first, *values)
    rows = rows[rows["item"] != rows["user"] % n_first]  # Each user has bought one of these.
    truth = rows[rows.index % 7 == 0].drop(columns="score")
    expected = rows.drop(columns=name).rec(truth=truth[["user", "item"]]).mean(METRIC)
    for one in (truth, truth.drop(columns=name)):
        assert expected.equals(rows.rec(truth=one).mean(METRIC))
    assert [] == rows.assign(relevant=rows.index % 7 == 0).rec.mean(METRIC).notes


FEATURES = [
    "hour",
    "weekday",
    "shelf_row",
    "clicks_7_day",
    "lead_time",
    "day_of_week",
    "birth_year",
]


@pytest.mark.parametrize("name", FEATURES)
def test_integers_that_come_again_are_let_pass(name):
    """Numbers of hours, weekdays, rows of a page and counts are features of rows."""
    rng = np.random.default_rng(2)
    feature = ROWS["model"] + 7 if name in FEATURES[:3] else rng.integers(0, 2, len(ROWS))
    assert [] == part_by(feature, name).rec.mean(METRIC).notes
    assert [] == part_by(ROWS["model"] > 0, "is_same_day").rec.mean(METRIC).notes


@pytest.mark.parametrize("dtype", [bool, int, str, "category"])
def test_flags_of_fixed_places_are_let_pass(dtype):
    """Flags of equally many rows by user are no models, also as 0 and 1 or as texts."""
    of_ads = np.tile([True] * 2 + [False] * 10, N_USERS)
    assert [] == part_by(pd.Series(of_ads).astype(dtype), "is_ad").rec.mean(METRIC).notes


@pytest.mark.parametrize("kind", ["list", "model"])
def test_a_question_needs_two_users(kind):
    """A single user with several lists or models is not asked about."""
    frame = part_by(ROWS[kind])
    assert [] == frame[frame["user"] == 1].rec.mean(METRIC).notes


def test_models_of_nearly_as_many_rows_are_noted():
    """A column whose values have nearly equal numbers of rows by user is noted as models."""
    frame = part_by(WRITTEN["texts"](ROWS["model"]))
    start = "'zzz' may tell models or lists apart: most users have several rows of several of its"

    assert texts_of(frame.drop(index=5).rec.mean(METRIC))["models"].startswith(start)
    shorter = frame[(frame["zzz"] != "x-1") | (frame.index % N_ROWS > 0)]
    assert ["models"] == list(texts_of(shorter.rec.mean(METRIC)))
    assert [] == shorter.rec(model=None).mean(METRIC).notes


def make_thresholds():
    """Return lists of two models, of unequal lengths and with ids of their own."""
    rng = np.random.default_rng(0)
    lists = [(user, model) for model in ("e5-base", "e5-large") for user in range(40)]
    rows = pd.DataFrame(lists, columns=["query", "zzz"])
    rows = rows.loc[rows.index.repeat(rng.integers(1, 11, len(rows)))].reset_index(drop=True)
    rows["chunk_id"] = [f"{model}-{at}" for at, model in enumerate(rows["zzz"])]
    return rows.assign(score=rng.random(len(rows)), relevant=rng.random(len(rows)) < 0.3)


@pytest.mark.parametrize("name", ["embedding_model", "algo", "rerankerName", "run_id", "zzz"])
def test_models_of_unequal_lists_are_noted_by_their_names(name):
    """Lists of any length are noted if they lie together, and their column is named as models."""
    rows = make_thresholds().rename(columns={"zzz": name})
    noted = texts_of(rows.rec(short="pad").mean(METRIC))
    assert (name != "zzz") == noted.get("models", "").startswith(f"'{name}' may tell models")
    assert 2 == len(rows.rec(model=name).mean("mrr"))
    one_list = rows.sample(frac=1, random_state=1)
    of_users = rows.assign(**{name: rows["query"] % 2})
    many = rows.assign(**{name: "e" + (rows.index % 19).astype(str)})
    for frame in (one_list, of_users, many):
        assert "models" not in texts_of(frame.rec(short="pad").mean(METRIC))


def make_searches(n_words, share=0.8):
    """Return rows of 20 users who searched three words each, with lists of different lengths."""
    rng = np.random.default_rng(3)
    rows = pd.DataFrame({"user": np.repeat(range(20), 24), "item": np.tile(range(24), 20)})
    rows["item"] = rng.permuted(rows["item"].to_numpy().reshape(20, 24), axis=1).ravel()
    words = [rng.choice(n_words, 3, replace=False) for _ in range(20)]
    rows["keyword"] = np.repeat(["w" + str(word) for three in words for word in three], 8)
    rows["score"], rows["relevant"] = rng.random(480), rng.random(480) < 0.2
    return rows[rng.random(480) < share].reset_index(drop=True)


def test_texts_that_divide_the_rows_of_users_are_noted():
    """A column of searched words is noted, as lists of any length may belong to them."""
    rows = make_searches(n_words=10)
    assert ["models"] == list(texts_of(rows.rec.mean(METRIC)))
    assert [] == rows.rec(user=["keyword", "user"]).mean(METRIC).notes
    assert [] == rows.rec(model=None).mean(METRIC).notes
    of_items = rows.assign(keyword="brand" + (rows["item"] % 5).astype(str))
    assert [] == of_items.rec.mean(METRIC).notes
    assert [] == make_searches(n_words=3).rec.mean(METRIC).notes  # They may be devices.


def test_without_an_item_models_are_rankings():
    """Each model of a user is suggested as a ranking if no items exist."""
    frame = part_by(ROWS["model"]).drop(columns="item")
    with pytest.raises(RecframeError, match=r"pass user=\['zzz', 'user'\] to rank each by itself"):
        frame.rec.mean(METRIC)


@pytest.mark.parametrize("name", ["Unnamed: 0", "", "__index_level_0__", "level_0"])
def test_an_index_in_a_file_holds_no_lists(name, tmp_path):
    """The index of models that were joined has each number twice for a user, and is no session."""
    one = ROWS.iloc[::2].drop(columns=["list", "model"]).reset_index(drop=True)
    both = pd.concat([one.assign(model=name) for name in "ab"]).reset_index(names=name)
    truth = one.loc[one["relevant"] == 1, ["user", "item"]]
    both.drop(columns="relevant").to_csv(tmp_path / "rows.csv", index=False)
    tables = [both.rec(model="model").mean(METRIC)]
    how = {"truth": truth, "model": "model"}
    tables.append(recframe.scan(tmp_path / "rows.csv", **how).mean(METRIC))
    tables.append(both.drop(columns="relevant").rec(**how).mean(METRIC))

    expected = one.rec.mean(METRIC).iloc[0, 0]
    assert [[expected] * 2] * 3 == [table[METRIC].tolist() for table in tables]


def test_an_answer_keeps_the_model(tmp_path):
    """Where user= has a column that truth lacks, the model that is passed is not replaced."""
    truth = pd.DataFrame({"user": [0], "item": [ROWS["item"][0]]})
    how = {"user": ["list", "user"], "model": "model", "truth": truth}
    with pytest.raises(RecframeError, match="needs each of these columns here too") as refused:
        ROWS.drop(columns="relevant").rec(**how).mean(METRIC)
    assert "model" not in refused.value.answers


def test_a_column_that_is_named_is_not_asked_about():
    """A column used as `by` or in a metric is not asked about."""
    frame = part_by(ROWS["model"]).assign(user=ROWS["list"])
    assert N_LISTS == len(frame.rec.mean(METRIC, by="zzz"))
    lists = part_by(ROWS["list"])
    assert np.isfinite(lists.rec(short="pad").mean("mean(zzz)@2").iloc[0, 0])


@pytest.mark.parametrize(
    "method", ["mean", "summary", "rank", "top", "bounds", "catalogue", "precision"]
)
def test_every_method_asks(method):
    """Every method that ranks asks about lists, and `describe` and `inspect` show rows."""
    frame = part_by(ROWS["list"])
    with pytest.raises(RecframeError, match=r"pass user=\['zzz', 'user'\]"):
        getattr(frame.rec, method)(2) if method == "precision" else getattr(frame.rec, method)()
    assert N_USERS == frame.rec.describe(1).loc["users", "score"]
    assert "score" in str(frame.rec.inspect(1))


LONG = {
    "frame": lambda frame, _: frame.rec,
    "Arrow": lambda frame, _: recframe.rec(pa.Table.from_pandas(frame)),
    "Polars": lambda frame, _: pl.from_pandas(frame).rec,
    "LazyFrame": lambda frame, _: pl.from_pandas(frame).lazy().rec,
    "parquet": lambda frame, folder: save(frame, folder, "parquet", row_group_size=1_000),
    "one row group": lambda frame, folder: save(frame, folder, "parquet"),
    "csv": lambda frame, folder: save(frame, folder, "csv", index=False),
}


def save(frame, folder, ending, **how):
    """Return the accessor of a file with the rows."""
    getattr(frame, f"to_{ending}")(folder / f"rows.{ending}", **how)
    return recframe.scan(folder / f"rows.{ending}")


@pytest.mark.parametrize("entry", LONG)
def test_long_tables_are_looked_at_in_places(entry, tmp_path):
    """A sample of a long table has all rows of its users, so its questions are right."""
    rows = make_rows(2_000)
    for kind, said in (("list", "one user alone"), ("model", "equally many rows")):
        frame = rows.drop(columns={"list", "model"} - {kind}).rename(columns={kind: "zzz"})
        with pytest.raises(RecframeError, match=said):
            LONG[entry](frame, tmp_path).mean(METRIC)


def make_many(n_users=1_000, n_items=5):
    """Return concatenated rows of two models, with more users than a sample has rows."""
    rows = pd.DataFrame({"user": np.repeat(range(n_users), n_items)})
    rows["item"] = rows["user"] * 7 + np.tile(range(n_items), n_users)
    models = [rows.assign(zzz=f"x-{n}", item=(rows["item"] + 70 * n) % 97) for n in range(2)]
    frame = pd.concat(models, ignore_index=True)
    rng = np.random.default_rng(0)
    return frame.assign(score=rng.random(len(frame)), relevant=rng.integers(0, 2, len(frame)))


@pytest.mark.parametrize("entry", ["frame", "Arrow", "Polars", "csv", "command line"])
@pytest.mark.parametrize("is_shuffled", [False, True])
def test_rows_of_a_user_are_found_wherever_they_are(entry, is_shuffled, tmp_path):
    """A sample has all rows of its users, also if the frame's rows are in random order."""
    frame = make_many()
    frame = frame.sample(frac=1, random_state=1, ignore_index=True) if is_shuffled else frame
    assert "each value of the column 'zzz' has equally many rows" in refuse(entry, frame, tmp_path)


def test_a_rank_is_no_model():
    """A column of ranks is no model, although each rank has equally many rows of each user."""
    rows = make_many(50)
    rows["rank"] = rows.groupby(["user", "zzz"])["score"].rank(ascending=False).astype(int)
    with pytest.raises(RecframeError, match=r"pass model='zzz'") as refused:
        rows.rec(short="pad").mean(METRIC)
    assert ["zzz", None] == refused.value.answers["model"].candidates


def test_a_column_of_models_may_be_of_rankings():
    """Places of one user, such as home and cart, are offered as rankings of their own too."""
    rows = make_many(50).rename(columns={"zzz": "place"})
    with pytest.raises(RecframeError, match=r"user=\['place', 'user'\] if each is a ranking"):
        rows.rec(short="pad").mean(METRIC)


DAYS = {
    "text": str,
    "times": pd.Timestamp,
    "numbers": lambda day: int(day.replace("-", "")),
    "seconds": lambda day: int(pd.Timestamp(day).timestamp()),
}


@pytest.mark.parametrize("make", DAYS.values(), ids=DAYS)
@pytest.mark.parametrize("entry", ["frame", "Arrow", "Polars", "csv", "command line"])
def test_lists_of_several_days(entry, make, tmp_path):
    """Lists of several days are asked about, if rows have relevance and no truth."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"user": np.repeat(range(20), 10), "item": np.arange(200)})
    rows["item"] = (rows["user"] + rows["item"] % 10 * 3) % 40
    rows["date"] = np.tile(list(map(make, ["2026-11-01"] * 5 + ["2026-11-02"] * 5)), 20)
    rows["score"], rows["relevant"] = rng.random(200), rng.integers(0, 2, 200)
    said = "20 of 20 users that were looked at have several rows"
    assert said in refuse(entry, rows, tmp_path)
    unnamed = rows.rename(columns={"date": name_anew(entry)})
    assert said in refuse(entry, unnamed, tmp_path)
    for user, n_rankings in (("user", 20), (["date", "user"], 40)):
        assert n_rankings == len(rows.rec(user=user).evaluate(METRIC))


def test_lists_of_several_days_without_items():
    """Lists of several days are asked about without items too, if all have equally many rows."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"user": np.repeat(range(30), 9), "score": rng.random(270)})
    rows = rows.assign(
        relevant=rng.integers(0, 2, 270), date=["2026-11-01", "2026-11-02", "x"] * 90
    )
    rows["date"] = rows["date"].replace("x", "2026-11-03")
    assert "30 of 30 users that were looked at have several rows" in refuse("frame", rows, None)
    assert 30 == len(rows[1:].rec.evaluate(METRIC))


QUERIES = pd.DataFrame(
    {"query_id": [*range(40), *range(38)], "dataset": ["nq"] * 40 + ["fiqa"] * 38}
)


@pytest.mark.parametrize("has_own_items", [True, False])
@pytest.mark.parametrize("entry", ["frame", "LazyFrame", "parquet", "command line"])
def test_queries_of_two_datasets(entry, has_own_items, tmp_path):
    """Ids of queries that several datasets have are asked about if truth names the dataset."""
    rows = QUERIES.merge(pd.DataFrame({"score": [9, 7, 4, 1]}), how="cross")
    rows["doc_id"] = rows["query_id"] * 3 + 9 - rows["score"]
    rows["doc_id"] += 500 * has_own_items * (rows["dataset"] == "fiqa")
    truth = rows[rows["score"] == 7].drop(columns="score")
    said = refuse(entry, rows, tmp_path, truth=truth, duplicates="max")
    assert "user=['dataset', 'query_id'] to rank each by itself" in said
    apart = rows.rec(truth=truth, user=["dataset", "query_id"]).mean("mrr")
    assert 0.5 == apart.loc["score", "mrr"]


def test_columns_of_rows_and_truth_that_are_no_lists():
    """Attributes of items, and sources of rows that truth has in part, are not asked about."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"user": np.repeat(range(60), 12), "score": rng.random(720)})
    rows["item"] = np.concatenate([rng.choice(200, 12, replace=False) for _ in range(60)])
    rows = rows.assign(genre=rows["item"] % 3, source=rng.choice(["new", "popular"], 720))
    truth = rows[rng.random(720) < 0.1].drop(columns="score")
    every = rows.rec(truth=truth, population="both", relevant=None).mean("mrr")
    plain, known = rows[["user", "item", "score"]], truth[["user", "item"]]
    assert plain.rec(truth=known, population="both").mean("mrr").equals(every)


def test_times_of_events_and_items_are_no_days():
    """A time for each row, or one that each item has by itself, does not divide rows."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"user": np.repeat(range(20), 10), "item": np.tile(range(10), 20)})
    rows["score"], rows["relevant"] = rng.random(200), rng.integers(0, 2, 200)
    days = pd.to_datetime(rng.integers(0, 10**9, 200), unit="s")
    years = pd.to_datetime((rows["item"] % 3 + 2000).astype(str))
    plain = rows.rec.evaluate(METRIC)
    pd.testing.assert_frame_equal(plain, rows.assign(date=days).rec.evaluate(METRIC))
    pd.testing.assert_frame_equal(plain, rows.assign(released=years).rec.evaluate(METRIC))


@pytest.mark.parametrize("entry", ["frame", "Arrow", "Polars", "csv", "command line"])
def test_ranks_that_rise_with_scores(entry, tmp_path):
    """Ranks that rise with the scores of all users ask whether scores are distances."""
    rows = pd.DataFrame({"user": np.repeat([1, 2, 3], 3), "item": list("xyz") * 3})
    rows = rows.assign(rank=[1, 2, 3] * 3, relevant=[1, 0, 0] * 3)
    rows["score"] = [0.1, 0.4, 0.6, 0.2, 0.3, 0.9, 0.5, 0.7, 0.8]
    assert "the scores of all users rise with 'rank'" in refuse(entry, rows, tmp_path)
    for ascending, mean in ((True, 1.0), (False, 1 / 3)):
        assert mean == rows.rec(ascending=ascending).mean("mrr").loc["score", "mrr"]
    assert 1.0 == rows.assign(score=-rows["score"]).rec.mean("mrr").loc["score", "mrr"]


@pytest.mark.parametrize("entry", ["frame", "Arrow", "Polars", "csv", "command line"])
def test_ranks_that_contradict_scores(entry, tmp_path):
    """Ranks that order rows otherwise than scores are asked about, unless users saw that order."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"user": np.repeat(range(6), 5), "item": np.tile(range(5), 6)})
    rows["score"], rows["relevant"] = rng.random(30), np.tile([1, 0, 0, 0, 0], 6)
    by_score = rows.groupby("user")["score"].rank(ascending=False).astype(int)
    other = rows.assign(rank=rows.groupby("user")["item"].transform(rng.permutation) + 1)
    other["relevant"] = (other["rank"] == 1).astype(int)
    assert "'rank' orders the rows otherwise than 'score'" in refuse(entry, other, tmp_path)
    assert 1.0 == other.rec(score="rank", ascending=True).mean("mrr").loc["rank", "mrr"]
    assert 1.0 > other.rec(score="score").mean("mrr").loc["score", "mrr"]
    expected = rows.rec.mean("mrr").loc["score", "mrr"]
    two = pd.concat([rows.assign(model="a"), rows.assign(model="b", score=rows["score"] / 100)])
    ranks = pd.concat([by_score, by_score])
    table = two.assign(rank=ranks).rec(model="model").mean("mrr")
    assert [expected] * 2 == table["mrr"].tolist()
    for let_pass in (
        rows.assign(rank=by_score),
        rows.assign(rank=range(30)),  # numbers of rows
        rows.assign(rank=(rows["item"] * 3) % 5 + 1),  # popularity
        rows.assign(rank=by_score, score=rows["score"].round(1)),  # ties
        rows.assign(position=rows["item"] + 1),
    ):
        assert [] == let_pass.rec.mean("mrr").notes


def make_reranked(name):
    """Return rows of documents that were ranked by a score, and then anew in another column."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"query": np.repeat(range(30), 10), "doc_id": range(300)})
    rows["score"] = np.tile(np.linspace(20, 11, 10), 30)
    rows[name] = np.concatenate([rng.permutation(10) + 1 for _ in range(30)])
    return rows.assign(relevant=(rows[name] == 1).astype(int))


NEW = ["llm_rank", "rerank_rank", "newRank", "final_rank", "rank_new", "rerank_position", "ranking"]


@pytest.mark.parametrize("name", NEW)
def test_new_ranks_that_contradict_scores(name):
    """Ranks of a reranker that contradict scores are asked about."""
    rows = make_reranked(name)
    assert f"'{name}' orders the rows otherwise than 'score'" in refuse("frame", rows, None)
    by_score = rows.groupby("query")["score"].rank(ascending=False).astype(int)
    assert [] == rows.assign(**{name: by_score}).rec.mean("mrr").notes


ATTRIBUTES = ["price_rank", "rank_of_seller", "popularity_rank", "sales_rank", "search_rank"]
ATTRIBUTES += ["page_rank", "bm25_rank", "original_rank", "position", "display_position"]


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_other_ranks_are_let_pass(name):
    """Ranks of attributes, of earlier rankings and positions of shown rows may contradict."""
    assert [] == make_reranked(name).rec.mean("mrr").notes


@pytest.mark.parametrize("n_rows", [0, 5_000])
@pytest.mark.parametrize("entry", ["frame", "Arrow", "Polars", "csv", "parquet"])
def test_ranks_of_no_whole_user(entry, n_rows, tmp_path):
    """Frames without rows, and one long list that is looked at in places, have a result."""
    rows = pd.DataFrame({"user": "ann", "item": range(n_rows), "score": np.arange(n_rows) * -0.5})
    rows = rows.assign(relevant=rows["item"] % 2, rank=rows["item"] + 1)
    if len(rows):
        assert 0.5 == ENTRY_POINTS[entry](rows, "precision@2", {}, tmp_path).iloc[0, 0]
    else:
        assert rows.rec.mean("mrr").isna().all(axis=None)


@pytest.mark.parametrize("names", [("v1.2.3", "v1.2.4"), ("BM25 + MiniLM rerank", "BM25 only")])
def test_names_of_models(names):
    """Versions and phrases are names of models, not times or texts of rows."""
    rows = make_many(50)
    rows["zzz"] = rows["zzz"].map(dict(zip(["x-0", "x-1"], names, strict=True)))
    with pytest.raises(RecframeError, match="each value of the column 'zzz' has equally many rows"):
        rows.rec.mean(METRIC)


def test_one_user_without_a_model():
    """A column of models that lacks one user's model is noted instead of asked about."""
    rows = make_many(50)
    rows = rows[(rows["user"] != 3) | (rows["zzz"] == "x-0")]
    assert ["models"] == list(texts_of(rows.rec(short="pad").mean(METRIC)))
