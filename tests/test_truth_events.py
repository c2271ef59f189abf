"""Option `truth` with a column of events or amounts: recframe asks whether every pair counts."""

import random
import string

import numpy as np
import pandas as pd
import pytest

import recframe
from entry_points import ENTRY_POINTS
from recframe import RecframeError

METRIC = "recall@5"
RANDOM = "".join(random.Random(19).choices(string.ascii_lowercase, k=7))
RNG = np.random.default_rng(19)
PAIRS = pd.DataFrame([(user, item) for user in range(20) for item in range(15)])
PAIRS.columns = ["user", "item"]
ROWS = PAIRS.assign(score=RNG.random(300))
TRUTH = PAIRS.sample(150, random_state=19, ignore_index=True)
WORDS = {
    "otto": ["clicks", "carts", "orders"],
    "esci": ["E", "S", "C", "I"],
    "plays": ["play", "skip"],
    "stages": ["besteld", "bekeken"],
}
OF_PAIRS = {name: RNG.choice(words, 150) for name, words in WORDS.items()}
OF_PAIRS |= {"seconds": RNG.integers(5, 2_000, 150) / 7, "quantity": RNG.integers(1, 60, 150)}
OTHERS = {
    "brand": TRUTH["item"].map(lambda item: f"brand {item % 4}"),
    "country": TRUTH["user"].map(lambda user: ["NL", "BE", "FR"][user % 3]),
    "title": TRUTH["item"].map(lambda item: f"title {item}"),
    "price": TRUTH["item"] * 1.37 + 1,
    "stock": TRUTH["item"] % 3,
    "age": TRUTH["user"] + 20,
    "row": range(150),
    "batch": np.arange(150) // 3,
    "unique": RNG.permutation(150),
    "seconds since": RNG.integers(1_700_000_000, 1_800_000_000, 150),
}


@pytest.mark.parametrize("name", OF_PAIRS)
def test_they_are_asked_about(name):
    """A column of truth that varies in the rows of an item is asked about, under any name."""
    truth = TRUTH.assign(**{RANDOM: OF_PAIRS[name]})
    with pytest.raises(RecframeError, match=rf"'{RANDOM}' holds (few|many) distinct\s+values"):
        ROWS.rec(truth=truth).mean(METRIC)
    every = ROWS.rec(truth=truth, relevant=None).mean(METRIC)
    assert ROWS.rec(truth=TRUTH).mean(METRIC).equals(every)


AMOUNTS = {
    "different in each row": RNG.gamma(1, 1, 150),
    "of both signs": RNG.uniform(-10, 10, 150).round(2),
    "sorted": np.sort(RNG.random(150)),
}


@pytest.mark.parametrize(
    "name", ["watch_ratio", "dwell_time", "play time", "gain", "value", RANDOM]
)
@pytest.mark.parametrize("kind", AMOUNTS)
@pytest.mark.parametrize("repeats", [True, False])
def test_amounts_are_asked_about(name, kind, repeats):
    """Fractions that hardly repeat are asked about, even if no item of truth is repeated."""
    others = pd.DataFrame({"user": 19, "item": range(15, 60)})
    pairs = TRUTH if repeats else pd.concat([TRUTH.drop_duplicates("item"), others])
    truth = pairs.assign(**{name: AMOUNTS[kind][: len(pairs)]})
    with pytest.raises(RecframeError, match=f"'{name}' holds many distinct") as refused:
        ROWS.rec(truth=truth, population="both").mean(METRIC)
    assert "relevant" in refused.value.answers
    every = ROWS.rec(truth=truth, population="both", relevant=None).mean(METRIC)
    assert ROWS.rec(truth=pairs, population="both").mean(METRIC).equals(every)


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_every_entry_point_asks(entry, tmp_path):
    """Every engine asks about a column of events or amounts, and accepts the selected rows."""
    truth = TRUTH.assign(**{RANDOM: OF_PAIRS["otto"]})
    with pytest.raises(RecframeError, match=rf"'{RANDOM}'\s+holds\s+few\s+distinct"):
        ENTRY_POINTS[entry](ROWS, METRIC, {"truth": truth}, tmp_path)
    options = {"truth": truth[truth[RANDOM] == "orders"], "population": "both"}
    assert len(ENTRY_POINTS[entry](ROWS, METRIC, options, tmp_path)) <= 20


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_of_users_items_or_rows_is_left_alone(name):
    """Columns that users, items or row numbers decide are not asked about."""
    truth = TRUTH.assign(**{RANDOM: OTHERS[name]})
    assert ROWS.rec(truth=TRUTH).mean(METRIC).equals(ROWS.rec(truth=truth).mean(METRIC))


def test_an_attribute_of_rows_is_left_alone():
    """Text that the rows have too is no relevance."""
    truth, rows = TRUTH.assign(**{RANDOM: OF_PAIRS["plays"]}), ROWS.assign(**{RANDOM: "play"})
    assert ROWS.rec(truth=TRUTH).mean(METRIC).equals(rows.rec(truth=truth).mean(METRIC))


FEW = {
    "platform": ["ios", "web"],
    "gender": ["f", "m"],
    "age_group": [20, 30],
    "coupon": [0, 1],
    "days_ago": [1, 2, 3],
    "add_to_cart_order": [1, 2, 3],
    "revenue": RNG.gamma(1, 1, 150),
    "answer": ["foo", "bar"],
}


@pytest.mark.parametrize("name", FEW)
def test_a_name_of_an_attribute_is_left_alone(name):
    """An attribute of purchases that differs within users and items is not asked about."""
    truth = TRUTH.assign(**{name: RNG.choice(FEW[name], 150)})
    assert ROWS.rec(truth=TRUTH).mean(METRIC).equals(ROWS.rec(truth=truth).mean(METRIC))


@pytest.mark.parametrize(("name", "yes", "no"), [("answer", "yes", "no"), (RANDOM, "T", "f")])
def test_verdicts_are_asked_about(name, yes, no):
    """Words and letters of verdicts are asked about under any name."""
    truth = TRUTH.assign(**{name: RNG.choice([yes, no], 150)})
    with pytest.raises(RecframeError, match=f"'{name}' holds few distinct"):
        ROWS.rec(truth=truth).mean(METRIC)


@pytest.mark.parametrize("name", ["watch_hours", "plays"])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_amounts_with_many_zeros_are_asked_about(name, share):
    """Amounts are asked about if most of them are 0, too."""
    amounts = RNG.gamma(1, 1_000, 150) if name == "watch_hours" else RNG.integers(1, 10_000, 150)
    truth = TRUTH.assign(**{name: np.where(RNG.random(150) < share, 0, amounts)})
    with pytest.raises(RecframeError, match=f"'{name}' holds many distinct"):
        ROWS.rec(truth=truth).mean(METRIC)
    of_items = TRUTH.assign(**{name: TRUTH["item"].map(lambda item: item * (item % 3 > 1))})
    assert ROWS.rec(truth=TRUTH).mean(METRIC).equals(ROWS.rec(truth=of_items).mean(METRIC))


ONE_EACH = pd.DataFrame({"user": range(20), "item": [n % 14 for n in range(20)]})


@pytest.mark.parametrize("values", [["a", "b", "c"], [1, 2, 3], [0, 1], [0.5, 2.5]])
def test_one_pair_of_each_user(values):
    """Values of truth with one pair of each user divide no pairs, unless names or values judge."""
    truth = ONE_EACH.assign(**{RANDOM: RNG.choice(values, 20)})
    assert ROWS.rec(truth=ONE_EACH).mean(METRIC).equals(ROWS.rec(truth=truth).mean(METRIC))
    for name, judged in (("stars", values), ("event", values), (RANDOM, ["view", "click"])):
        with pytest.raises(RecframeError, match=f"'{name}' holds few distinct"):
            ROWS.rec(truth=ONE_EACH.assign(**{name: np.resize(judged, 20)})).mean(METRIC)


def test_chunks_of_documents(tmp_path):
    """Chunks that rows and truth number are asked about, and the line shown makes one id."""
    rows = pd.DataFrame({"query": [1, 1, 2, 2], "doc_id": [*"abab"], "chunk_index": [0, 3, 1, 2]})
    rows["score"] = [2.0, 1, 2, 1]
    truth = pd.DataFrame({"query": [1, 2], "doc_id": [*"ab"], "chunk_index": [9, 2]})
    paths = tmp_path / "rows.parquet", tmp_path / "truth.parquet"
    for frame, path in zip((rows, truth), paths, strict=True):
        frame.to_parquet(path)
    for rec in (rows.rec(truth=truth), recframe.scan(paths[0], truth=paths[1])):
        with pytest.raises(RecframeError, match=r"'chunk_index' too, so that an item") as refused:
            rec.mean("mrr")
        assert 0.75 == rec(**vars(rec._options) | {"item": "doc_id"}).mean("mrr").iloc[0, 0]
    line = str(refused.value).split(", as ")[1].removesuffix(".")
    for frame in (rows, truth):
        exec(line, {"df": frame})

    assert [0.0, 0.5] == rows.rec(truth=truth).reciprocal_rank()["score"].tolist()
    twice = rows.assign(doc_id="a", chunk_index=[0, 3, 1, 2])
    with pytest.raises(RecframeError, match=r"where an item is the pair, make one id in df, and"):
        twice.rec(truth=truth, user="query").mean("mrr")


SPARSE = pd.DataFrame({"user": np.repeat(range(30), 2), "item": range(60)})


@pytest.mark.parametrize("words", [[*"IE"], ["clicks", "orders"], ["hired", "rejected"], [*"ESCI"]])
@pytest.mark.parametrize("n_rows", [8, 60])
def test_items_that_truth_has_once(words, n_rows):
    """Words that differ within users are asked about, although each item is in truth once."""
    truth = SPARSE.assign(**{RANDOM: np.resize(words, 60)}).iloc[:n_rows]
    rows = SPARSE.assign(score=1.0).iloc[:n_rows]
    with pytest.raises(RecframeError, match=f"'{RANDOM}' holds few distinct\\s+values"):
        rows.rec(truth=truth).mean("mrr")
    titles = truth.rename(columns={RANDOM: "genre"})
    assert 1.0 == rows.rec(truth=titles).mean("mrr").iloc[0, 0]


IS_EVENT = RNG.random(150) < 0.5
TIMES = pd.Series(pd.date_range("2026-01-01", periods=150, freq="h"))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("clicked_at", TIMES),
        (RANDOM, TIMES),
        ("purchase_time", TIMES.astype(str)),
        ("click_ts", pd.Series(range(1_700_000_000, 1_700_000_150))),
        ("transactionid", pd.Series(range(150))),
        ("order_id", pd.Series(range(150)).astype(str)),
    ],
)
def test_events_of_some_pairs_are_asked_about(name, values):
    """Times and ids that some pairs lack may say that these had no event."""
    truth = TRUTH.assign(**{name: values.where(IS_EVENT)})
    n_null = 150 - IS_EVENT.sum()
    with pytest.raises(RecframeError, match=f"'{name}' is null in {n_null} of 150 rows") as asked:
        ROWS.rec(truth=truth).mean(METRIC)
    assert f"truth[truth['{name}'].notna()]" in str(asked.value)
    every = ROWS.rec(truth=truth, relevant=None).mean(METRIC)
    assert ROWS.rec(truth=TRUTH).mean(METRIC).equals(every)


@pytest.mark.parametrize("by", ["user", "item"])
def test_attributes_that_some_users_or_items_lack(by):
    """Items without a parent, and users who have not signed up, are not asked about."""
    known = TRUTH[by].where(TRUTH[by] % 3 > 0)
    truth = TRUTH.assign(parent_id=known, signup_date=TIMES.where(known.notna()), note=None)
    expected = ROWS.rec(truth=TRUTH).mean(METRIC)
    pd.testing.assert_frame_equal(expected, ROWS.rec(truth=truth).mean(METRIC))
