"""Pairs by users: a part of a frame is given all pairs of its users, and few others."""

import datetime

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe.frames.ids import encode, find_users
from recframe.frames.pairs import Pairs, PartedPairs

IDS = {
    "int64": (np.arange(6), lambda ids: ids),
    "int32 and float64": (np.arange(6, dtype=np.int32), lambda ids: ids.astype(float)),
    "zeros of either sign": (np.array([-0.0, 1.5, 2, 3, 4, 5]), lambda ids: ids + 0.0),
    "nullable": (pd.array(range(6), "Int16"), lambda ids: ids.astype("int64")),
    "text": ([f"u{n}" for n in range(6)], lambda ids: ids.astype(object)),
    "text of Arrow": ([f"ü{n}" for n in range(6)], lambda ids: ids.astype("string[pyarrow]")),
    "categories": ([f"u{n}" for n in range(6)], lambda ids: ids.astype("category")),
}


def make(users):
    """Return pairs of six users, number n with n + 1 items, in mixed order, and their frame."""
    number = np.repeat(np.arange(6), np.arange(6) + 1)
    frame = pd.DataFrame({"user": pd.Series(users).take(number), "item": np.arange(21) % 7})
    frame = frame.sample(frac=1, random_state=0)
    return frame, Pairs(find_users(frame, ["user"]), encode(frame["item"], "item").used())


@pytest.mark.parametrize("kind", IDS)
def test_all_pairs_of_users_and_no_others(kind):
    """However either side holds the ids; where a share's rows and items are is said."""
    ids, convert = IDS[kind]
    frame, pairs = make(ids)
    share = PartedPairs(pairs).of(
        pd.Index(convert(pd.Series(ids).take([4, 0, 2]))), pd.Index([1, 6, 9])
    )

    own = frame.iloc[share.rows]
    is_own = frame["user"].isin(pd.Series(ids).take([0, 2, 4]))
    assert sorted(np.flatnonzero(is_own)) == sorted(share.rows)
    users, item = share.pairs
    assert own["user"].tolist() == users.ids.take(users.groups.codes).tolist()
    assert own["item"].tolist() == item.ids.take(item.codes).tolist()
    assert users.ids.tolist() == pairs.users.ids.take(share.users).tolist()
    assert item.ids.tolist() == pairs.item.ids.take(share.items).tolist()
    assert sorted({*own["item"], 1, 6}) == sorted(item.ids)


@pytest.mark.parametrize(
    "users", [[datetime.date(2026, 1, day) for day in range(1, 7)], [True, False]]
)
def test_all_may_be_of_users_of_other_kinds(users):
    """Dates and booleans are equal to others in ways that their bits do not show."""
    frame, pairs = make(users) if len(users) == 6 else make(users * 3)
    assert PartedPairs(pairs).of(pd.Index(frame["user"].unique()), pd.Index([1])) is None


def test_ids_of_different_kinds_are_left_to_who_refuses_them():
    """Numbers are not looked up among text."""
    _, pairs = make(range(6))
    assert PartedPairs(pairs).of(pd.Index(["1"]), pd.Index([1])) is None


def test_ids_that_are_no_text_are_looked_up_whole(tmp_path):
    """Lone surrogates, which UTF-8 does not have, and integers beyond 64 bits have no such bits."""
    rows = pd.DataFrame({"user": np.arange(2_000) % 500, "item": np.arange(2_000) // 500})
    rows = rows.sample(frac=1, random_state=0).astype(str).assign(score=np.arange(2_000))
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    truth = pd.DataFrame({"user": ["1", "2", "\ud800"], "item": ["0", "3", "\ud800"]}, dtype=object)
    options = {"truth": truth, "population": "both", "short": "pad"}
    scan = recframe.scan(tmp_path / "rows.parquet", memory="20KiB")

    assert rows.rec(**options).mean("mrr").equals(scan(**options).mean("mrr"))
    assert (
        PartedPairs(make([10**30 + n for n in range(6)])[1]).of(pd.Index([1]), pd.Index([1]))
        is None
    )


@pytest.mark.parametrize("by", [["user"], ["day", "user"]])
@pytest.mark.parametrize("population", ["all", "both", "truth", "rows"])
def test_files_in_many_blocks_have_the_values_of_a_frame(by, population, tmp_path):
    """Truth with grades and pairs to exclude, of users told apart by one column or two."""
    rng = np.random.default_rng(1)
    n_rows = 60_000
    rows = pd.DataFrame(
        {
            "user": rng.integers(0, 3_000, n_rows),
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 3, n_rows), "D"),
            "item": rng.integers(0, 400, n_rows),
        }
    ).drop_duplicates()
    truth = rows.sample(frac=0.3, random_state=1).assign(grade=rng.integers(0, 4, 1)[0])
    truth["grade"] = rng.integers(0, 4, len(truth))
    truth["user"] += rng.integers(0, 2, len(truth)) * 1_000
    truth = truth.drop_duplicates(["user", "day", "item"] if len(by) > 1 else ["user", "item"])
    rows = rows.assign(score=rng.random(len(rows)).round(2))
    rows = rows if len(by) > 1 else rows.drop(columns="day").drop_duplicates(["user", "item"])
    truth = truth if len(by) > 1 else truth.drop(columns="day")
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=5_000)
    options = {
        "user": by if len(by) > 1 else by[0],
        "truth": truth,
        "exclude": truth.drop(columns="grade").iloc[::7],
        "population": population,
        "min_relevance": 2,
        "short": "pad",
    }
    metrics = ["recall@5", "ndcg@5", "judged@5", "bpref"]
    expected = rows.rec(**options).evaluate(metrics).sort_index()
    scan = recframe.scan(tmp_path / "rows.parquet", memory="256KiB")
    pd.testing.assert_frame_equal(expected, scan(**options).evaluate(metrics), check_exact=True)
