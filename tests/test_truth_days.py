"""Option `truth` with a day: recframe asks to which days of the rows a pair belongs."""

import pandas as pd
import pytest

import recframe
from entry_points import ENTRY_POINTS
from recframe import RecframeError

DAYS = ["2026-11-01", "2026-11-02"]
PAIRS = pd.DataFrame({"user": [1, 1, 1, 2, 2, 2], "item": [1, 2, 3, 1, 2, 3]})
ROWS = pd.concat(
    [
        PAIRS.assign(day=day, score=scores)
        for day, scores in zip(DAYS, ([3, 2, 1] * 2, [1, 2, 3] * 2), strict=True)
    ]
)
TRUTH = pd.DataFrame({"user": [1, 1, 2, 2], "item": [1, 3, 2, 1], "day": DAYS * 2})


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_it_is_asked(entry, tmp_path):
    """Truth of two days for rows of one day is asked about, and each reading has options."""
    one = ROWS[ROWS["day"] == DAYS[0]]
    with pytest.raises(
        RecframeError, match=r"the rows have 'day' too, and it divides the pairs of 2"
    ):
        ENTRY_POINTS[entry](one, "recall@1", {"truth": TRUTH}, tmp_path)

    of_all = ENTRY_POINTS[entry](one, "recall@1", {"truth": TRUTH, "truth_user": "user"}, tmp_path)
    assert [0.5, 0.5] == of_all["score", "recall@1"].tolist()


@pytest.mark.parametrize("relevance", [{}, {"relevant": [1, 0, 1, 1]}])
def test_the_answer_keeps_days_apart(relevance):
    """The suggested answer keeps days apart, and does not count days without rows as 0."""
    one, truth = ROWS[ROWS["day"] == DAYS[0]], TRUTH.assign(**relevance)
    with pytest.raises(RecframeError, match="the rows have 'day' too") as asked:
        one.rec(truth=truth).mean("recall@1")
    assert {} == asked.value.answers
    of_days = {"truth": truth, "user": ["day", "user"]}
    with pytest.raises(RecframeError, match=r"truth alone has 1 day .such as '2026-11-02'") as no:
        one.rec(**of_days).mean("recall@1")
    assert {"population": "both"} == no.value.answers
    assert [1.0, 0.0] == one.rec(**of_days, **no.value.answers).recall(k=1)["score"].tolist()


def test_one_user_with_lists_of_two_days():
    """Days are asked about even if no item of a small truth is there on two days."""
    days = pd.DataFrame({"date": DAYS * 2, "user": "ann", "item": list("afbe")})
    rows = days.assign(score=[0.9, 0.7, 0.8, 0.6])
    with pytest.raises(RecframeError, match="the rows have 'date' too"):
        rows.rec(truth=days[:2]).mean("mrr")
    apart = rows.rec(truth=days[:2], user=["date", "user"]).mean("mrr")
    assert 1.0 == apart.loc["score", "mrr"]


@pytest.mark.parametrize("memory", ["1GiB", 1 << 17])
def test_days_far_apart_in_a_file(memory, tmp_path):
    """Truth with far-apart days is checked in all its rows."""
    pairs = pd.DataFrame({"user": range(6_000), "item": 1})
    pairs.assign(day=DAYS[0], score=1.0).to_parquet(tmp_path / "rows.parquet")
    days = [pairs.assign(item=n + 1, day=day) for n, day in enumerate([*DAYS, DAYS[0]])]
    pd.concat([*days, TRUTH]).to_parquet(tmp_path / "truth.parquet")
    with pytest.raises(RecframeError, match="the rows have 'day' too"):
        recframe.evaluate(
            tmp_path / "rows.parquet",
            "recall@1",
            truth=tmp_path / "truth.parquet",
            population="rows",
            memory=memory,
        )


# Columns can hold days in these forms.
MAKE = {
    "text": lambda days: days,
    "digits": lambda days: days.str.replace("-", ""),
    "integers": lambda days: days.str.replace("-", "").astype(int),
    "times": pd.to_datetime,
    "zoned": lambda days: pd.to_datetime(days, utc=True),
    "dates": lambda days: pd.to_datetime(days).dt.date,
    "categories": lambda days: days.astype("category"),
}


@pytest.mark.parametrize("name", ["ds", "kqzv", "timestamp"])
@pytest.mark.parametrize("kind", MAKE)
def test_days_by_their_values(kind, name):
    """Days are found by their values, in any dtype and under any name."""
    one, truth = (
        frame.assign(day=MAKE[kind](frame["day"])).rename(columns={"day": name})
        for frame in (ROWS[:6], TRUTH)
    )
    with pytest.raises(RecframeError, match=f"the rows have '{name}' too, and it divides"):
        one.rec(truth=truth).recall(k=1)
    assert [0.5, 0.5] == one.rec(truth=truth, truth_user="user").recall(k=1)["score"].tolist()
    apart = one.rec(truth=truth, user=[name, "user"], population="both")
    assert [1.0, 0.0] == apart.recall(k=1)["score"].tolist()


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_days_by_their_values_on_every_entry_point(entry, tmp_path):
    """Days are found by their values on every engine."""
    one, truth = (frame.rename(columns={"day": "kqzv"}) for frame in (ROWS[:6], TRUTH))
    with pytest.raises(RecframeError, match=r"the\s+rows\s+have\s+'kqzv'\s+too"):
        ENTRY_POINTS[entry](one, "recall@1", {"truth": truth}, tmp_path)


def test_other_names_of_users():
    """The suggestion names the user columns of the frame and of truth."""
    truth = TRUTH.rename(columns={"user": "customer_id"})
    with pytest.raises(RecframeError, match="the rows have 'day' too") as asked:
        ROWS[:6].rec(truth=truth).recall(k=1)
    said = "Pass user=['day', 'user'], truth_user=['day', 'customer_id'] if a pair belongs to the "
    assert said in str(asked.value)
    days = {"user": ["day", "user"], "truth_user": ["day", "customer_id"], "population": "both"}
    assert [1.0, 0.0] == ROWS[:6].rec(truth=truth, **days).recall(k=1)["score"].tolist()


def test_what_is_not_asked():
    """Days in one table only, constant days, and days that items decide are not asked about."""
    one = ROWS[ROWS["day"] == DAYS[0]]
    no_day, of_item = one.drop(columns="day"), {1: "a", 2: "b", 3: "c"}
    alike = [
        no_day.rec(truth=TRUTH),
        one.rec(truth=TRUTH.drop(columns="day")),
        one.rec(truth=TRUTH.assign(day=DAYS[0])),
        one.assign(day=one["item"].map(of_item)).rec(
            truth=TRUTH.assign(day=TRUTH["item"].map(of_item))
        ),
    ]
    tagged = TRUTH.drop(columns="day")
    others = (["a", "b"] * 2, [1, 2] * 2, ["2026-11-01 12:30", "2026-11-01 12:45"] * 2)
    alike += [
        one.assign(tag="a").rec(truth=tagged.assign(tag=values), relevant=None) for values in others
    ]
    assert [[0.5, 0.5]] * 7 == [rec.recall(k=1)["score"].tolist() for rec in alike]


def test_lists_of_ids_come_with_their_days():
    """Lists of items in truth are asked about days as single items are."""
    truth = TRUTH.assign(item=[[one] for one in TRUTH["item"]])
    for form in (truth, TRUTH):
        with pytest.raises(RecframeError, match="truth_user"):
            ROWS.rec(truth=form).recall(k=1)


WRITTEN = {
    "slashes": ["30/01/2024", "31/01/2024"],
    "names of months": ["30 Jan 2024", "31 Jan 2024"],
    "nightly": pd.to_datetime(["2024-01-30 05:00", "2024-01-31 05:00"]),
    "numbers": [20240130.0, 20240131.0],
}


@pytest.mark.parametrize("written", WRITTEN)
def test_days_as_they_are_written(written):
    """Days are found in any common notation, under any name."""
    days = dict(zip(DAYS, WRITTEN[written], strict=True))
    one, truth = (
        frame.assign(tag=frame["day"].map(days)).drop(columns="day")
        for frame in (ROWS[ROWS["day"] == DAYS[0]], TRUTH)
    )
    with pytest.raises(RecframeError, match="the rows have 'tag' too"):
        one.rec(truth=truth).mean("recall@1")


def test_days_as_models():
    """Days that are models are asked about too if truth has them."""
    truth = PAIRS.iloc[[0, 4]].assign(day=DAYS)
    with pytest.raises(RecframeError, match="the rows have 'day' too, and it divides"):
        ROWS.rec(truth=pd.concat([truth, truth.assign(item=3, day=DAYS[::-1])]), model="day").mean(
            "mrr"
        )
    every = ROWS.rec(truth=truth, model="day", truth_user="user").mean("mrr")
    assert DAYS == every.index.tolist()


def test_models_that_truth_has():
    """A column of models that truth has too divides its pairs, and is asked about."""
    rows = pd.DataFrame({"user": [1, 1, 2, 2] * 2, "item": list("abcd") * 2})
    rows["window"], rows["score"] = ["w1"] * 4 + ["w2"] * 4, [2, 1] * 4
    truth = pd.DataFrame({"user": [1, 2] * 2, "item": list("acbd")})
    truth["window"] = ["w1"] * 2 + ["w2"] * 2
    for options in ({"model": "window"}, {}):
        with pytest.raises(RecframeError, match=r"user=\['window', 'user'\]"):
            rows.rec(truth=truth, relevant=None, **options).mean("precision@1")
    apart = rows.rec(truth=truth, relevant=None, user=["window", "user"])
    assert 0.5 == apart.mean("precision@1").iloc[0, 0]
    assert 2 == len(rows.rec(truth=truth[:2].drop(columns="window"), model="window").mean("mrr"))
    of_phones = truth[:2].assign(window=["iphone", "pixel"])
    assert 2 == len(rows.rec(truth=of_phones, model="window", relevant=None).mean("mrr"))
