"""`inspect` and `describe` show grades from truth, and mark rows that truth does not hold."""

import dask
import dask.dataframe as dd
import pandas as pd
import pytest

import recframe
from recframe.dask import DaskRecAccessor

BOUND = {"relevant": "rating", "min_relevance": 2, "short": "pad"}
WARNING = "truth holds {} of the first 3 rows, by default the others count as not relevant (option"


@pytest.fixture
def frame():
    """Return a list with a tie across 3 and a list of three rows."""
    users, items = ["ann"] * 5 + ["bob"] * 3, [1, 2, 3, 4, 5, 1, 2, 9]
    return pd.DataFrame(
        {"user": users, "item": items, "score": [0.9, 0.8, 0.7, 0.7, 0.1, 0.9, 0.5, 0.1]}
    )


@pytest.fixture
def truth():
    """Return grades of three of ann's items, of one item not listed and of one of bob's items."""
    users, items = ["ann"] * 4 + ["bob"], [2, 3, 5, 8, 2]
    return pd.DataFrame({"user": users, "item": items, "rating": [0, 3, 1, 2, 2]})


def test_inspect_shows_grades(frame, truth):
    """Each row shows its grade, or a mark that a note explains if truth does not hold the row."""
    shown = frame.rec(truth=truth, **BOUND).inspect("ann", k=6)

    expected = [pd.NA, 0, 3, pd.NA, 1, 2]
    assert expected == shown.tables["score"]["grade"].tolist()
    lines = [line.split() for line in repr(shown).splitlines()]
    assert ["position", "item", "grade", "score"] in lines
    assert ["1", "1", "–", "0.9"] in lines
    assert ["=3.5", "✓", "3", "3", "0.7"] in lines
    assert ["not", "ranked", "✓", "8", "2"] in lines
    assert "– unjudged: not in truth, so not relevant" in repr(shown).splitlines()
    assert "<td" in shown.to_html()
    assert ">–<" in shown.to_html().replace(" ", "")


@pytest.mark.parametrize("dtype", ["int8", "Int64", "float32", "bool", "object"])
def test_grades_keep_their_kind(dtype, frame, truth):
    """Grades keep the dtype that truth has, so whole numbers stay whole."""
    truth["rating"] = truth["rating"].clip(upper=1).astype(dtype)
    bound = BOUND | {"min_relevance": None if dtype == "bool" else 1}
    grades = frame.rec(truth=truth, **bound).inspect("ann").tables["score"]["grade"]

    kept = {"int8": "Int8", "bool": "boolean"}.get(dtype, dtype)
    assert kept == grades.dtype
    assert [0, 1, 1, 1] == grades.dropna().tolist()


def test_repeated_rows_share_a_grade(frame, truth):
    """Each row of a repeated pair shows the pair's grade under duplicates="keep"."""
    twice = pd.concat([frame, frame.iloc[[1, 1]]])
    shown = twice.rec(truth=truth, **BOUND, duplicates="keep").inspect("ann")
    grades = shown.tables["score"].groupby("item")["grade"]

    assert [0, 0, 0] == grades.get_group(2).tolist()


def test_truth_without_grades_is_shown_as_before(frame, truth):
    """Rows have no grade, and no row is called judged, when all pairs of truth are relevant."""
    rec = frame.rec(truth=truth, relevant=None, short="pad")

    assert "grade" not in rec.inspect("ann").tables["score"]
    assert not [name for name in rec.describe(3).index if "judged" in name]


def test_describe_counts_judged_rows(frame, truth, tmp_path):
    """Four rows are judged: 1.5 in expectation of ann's first three, and one of bob's."""
    rec = frame.rec(truth=truth, **BOUND)
    column = rec.describe(3)["score"]

    assert 4 == column["judged rows"]
    assert pytest.approx((1.5 / 3 + 1 / 3) / 2) == column["judged@3"]
    begin = f"judged@3: {WARNING.format('42%')}"
    assert [begin] == [line[: len(begin)] for line in rec.describe(3).warnings if "judged" in line]
    frame.to_parquet(tmp_path / "run.parquet", row_group_size=2)
    scanned = recframe.scan(tmp_path / "run.parquet", memory=2_000)
    of_files = scanned(truth=truth, **BOUND).describe(3)
    assert column.to_dict() == of_files["score"].to_dict()
    with dask.config.set({"dataframe.convert-string": False}):
        ddf = dd.from_pandas(frame, npartitions=2)
    of_dask = DaskRecAccessor(ddf)(truth=truth, **BOUND).describe(3).compute(scheduler="sync")
    assert column.to_dict() == of_dask["score"].to_dict()


def test_mostly_judged_is_no_worry(frame, truth):
    """Truth that judges half of the first rows or more gives no warning."""
    rec = frame.rec(truth=truth, **BOUND, unjudged="drop")

    assert 1.0 == rec.describe(3).loc["judged@3", "score"]
    assert not [line for line in rec.describe(3).warnings if line.startswith("judged")]


def test_short_lists_are_judged_as_long_as_they_are(frame, truth):
    """The judged share of a list shorter than k is the share of all its rows."""
    more = pd.concat([truth, truth.iloc[[4]].assign(user="cat")])
    column = frame.rec(truth=more, **BOUND).describe(10)["score"]

    assert pytest.approx((3 / 5 + 1 / 3) / 2) == column["judged@10"]


def test_repeated_pairs_leave_it_open(frame, truth):
    """The number of judged rows is NaN when pairs repeat, because they cannot be looked up."""
    column = pd.concat([frame, frame[:1]]).rec(truth=truth, **BOUND).describe(3)["score"]

    assert column[["judged rows", "judged@3"]].isna().all()
