"""Segments and weights on the command line give the tables of df.rec."""

import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe.cli import main

METRICS = ["recall@4", "auc"]
BY = {"one": ["country"], "two": ["country", "day"]}


@pytest.fixture
def frame(tmp_path, monkeypatch):
    """Write the example with facts about its users, in a file of small row groups."""
    frame = pd.read_parquet("examples/example.parquet")
    monkeypatch.chdir(tmp_path)
    own = frame["object"]
    frame = frame.assign(
        country=np.where(own == 3, None, np.where(own % 2 == 0, "NL", "FR")),
        day=pd.Timestamp("2026-11-01") + pd.to_timedelta(own // 5, "D"),
        clicks=own % 4,
    )
    frame.to_parquet("runs.parquet", row_group_size=50)
    return frame


def run(capsys, *words):
    """Return the output of a command that succeeds."""
    assert 0 == main(["evaluate", "runs.parquet", "--metric", *METRICS, *words]), (
        capsys.readouterr()
    )
    return capsys.readouterr().out


def read(text, names):
    """Return a table from csv text, with these index levels."""
    table = pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""])
    return table.set_index(names)


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("view", ["mean", "summary", "compare"])
@pytest.mark.parametrize("weighted", [True, False])
def test_segments(frame, by, view, weighted, capsys):
    """Means, intervals and differences are computed in each segment, with and without weights."""
    flags = [word for name in BY[by] for word in ("--by", name)]
    flags += ["--weights", "clicks"] if weighted else []
    flags += {"mean": [], "summary": ["--summary"], "compare": ["--baseline", "KNN scores"]}[view]
    given = {"baseline": "KNN scores"} if view == "compare" else {}
    weights = {"weights": "clicks"} if weighted else {}
    expected = getattr(frame.rec, view)(METRICS, by=BY[by], **given, **weights)

    found = read(run(capsys, *flags, "--format", "csv"), list(expected.index.names))
    assert expected.index.names == found.index.names
    segments = zip(expected.reset_index().country, found.reset_index().country, strict=True)
    assert all(one == other or (pd.isna(one) and pd.isna(other)) for one, other in segments)
    numbers = expected.select_dtypes("number"), found.select_dtypes("number")
    np.testing.assert_allclose(*numbers, rtol=1e-12)


def test_a_table_of_segments(frame, capsys):
    """The table names the levels, and null is a separate segment."""
    lines = run(capsys, "--by", "country").splitlines()
    expected = frame.rec.mean(METRICS, by="country").iloc[-1]

    assert ["                       recall@4       auc", "country"] == [
        line.rstrip() if number else line for number, line in enumerate(lines[:2])
    ]
    assert f"        KNN scores     {expected.iloc[0]:.6f}  {expected.iloc[1]:.6f}" == lines[-1]
    assert ["FR", "NL", "NaN"] == [line.split()[0] for line in lines[2::2]]


def test_segments_as_json(frame, capsys):
    """A document has each segment with its values, users and scores."""
    document = json.loads(run(capsys, "--by", "country", "--by", "day", "--format", "json"))
    expected = frame.rec.mean(METRICS, by=["country", "day"])

    assert 10 == document["users"]
    assert 10 == sum(segment["users"] for segment in document["segments"])
    assert {"country": None, "day": "2026-11-01 00:00:00"} == document["segments"][-1]["segment"]
    first = document["segments"][0]
    assert {"country": "FR", "day": "2026-11-01 00:00:00"} == first["segment"]
    assert expected.iloc[1, 0] == first["scores"]["KNN scores"]["recall@4"]["mean"]


def test_integers_that_part_users_are_integers_beside_floats(frame, capsys):
    """A segment's value in the JSON document keeps the type of its column."""
    frame.assign(share=frame["clicks"] / 2).to_parquet("runs.parquet")
    document = json.loads(run(capsys, "--by", "clicks", "--by", "share", "--format", "json"))

    assert [(n, n / 2) for n in range(4)] == [
        tuple(segment["segment"].values()) for segment in document["segments"]
    ]
    assert all(isinstance(one["segment"]["clicks"], int) for one in document["segments"])


def test_segments_in_a_file(frame, capsys):
    """A file of results has the segments as they are in the data, with nulls."""
    run(capsys, "--by", "country", "--by", "day", "-o", "means.parquet")
    expected = frame.rec.mean(METRICS, by=["country", "day"]).reset_index()

    written = pd.read_parquet("means.parquet")
    assert frame["day"].dtype == written["day"].dtype
    expected["country"], written["country"] = (
        table["country"].fillna("nothing").astype(object) for table in (expected, written)
    )
    pd.testing.assert_frame_equal(expected, written, check_dtype=False, check_names=False)


@pytest.mark.parametrize("text_format", ["table", "csv", "json"])
def test_means_of_many_segments(text_format, tmp_path, capsys):
    """A further segment costs only the calls of Python functions that print its lines."""
    path, n_calls = tmp_path / "runs.parquet", dict[int, int]()
    frame = pd.DataFrame({"user": range(2000), "score": 1.0, "relevant": 1})

    def count(_, event, __):
        n_calls[n_segments] += event == "call"

    # The first run imports modules.
    for n_segments in (10, 10, 1000):
        frame.assign(part=frame["user"] % n_segments).to_parquet(path)
        words = ["--by", "part", "--metric", "recall@1", "r_precision", "--format", text_format]
        n_calls[n_segments] = 0
        sys.setprofile(count)
        try:
            main(["evaluate", str(path), *words])
        finally:
            sys.setprofile(None)
        capsys.readouterr()
    assert n_calls[1000] - n_calls[10] < 550 * 990


def test_segments_of_no_user(frame, capsys):
    """The table of files without rows is the same with and without segments."""
    frame[:0].to_parquet("runs.parquet")
    expected = run(capsys)

    assert expected == run(capsys, "--by", "country")


def test_weighted_means(frame, capsys):
    """Weights without segments give one table, and a user of weight 0 does not count."""
    expected = frame.rec.mean(METRICS, weights="clicks")

    found = read(run(capsys, "--weights", "clicks", "--format", "csv"), ["score"])
    np.testing.assert_allclose(expected, found, rtol=1e-15)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--by", "item"],
            r"by='item' must hold one value for each user, but holds several for 10 of",
        ),
        (["--by", "none"], r"by='none'.*no such column"),
        (["--weights", "country"], r"weights='country' must hold numbers, but holds str|object"),
        (["--by", "day", "--by", "day"], r"by must name each column once"),
    ],
)
def test_what_is_no_segment(frame, words, message, capsys):
    """Segments and weights need one valid value for each user."""
    assert 1 == main(["evaluate", "runs.parquet", *words])
    assert re.search(message, capsys.readouterr().err)


def test_each_day_of_a_user_is_a_ranking(frame, tmp_path, capsys):
    """Several `--user` columns tell rankings apart, so one call evaluates folders of nights."""
    again = frame.assign(day=frame["day"] + pd.Timedelta(2, "D"), score=frame["KNN scores"] * -1)
    nights = pd.concat([frame, again.drop(columns="score")])
    nights["day"] = nights["day"].dt.strftime("%Y-%m-%d")
    for day, rows in nights.groupby("day"):
        folder = tmp_path / "nights" / f"day={day}"
        folder.mkdir(parents=True)
        rows.drop(columns="day").to_parquet(folder / "run.parquet", index=False)
    bound = nights.rec(user=["day", "object"])
    words = ["evaluate", "nights", "--user", "day", "--user", "object", "--metric", "recall@4"]

    assert 0 == main([*words, "--by", "day", "--format", "csv", "--per-user", "users.csv"])
    found = read(capsys.readouterr().out, ["day", "score"])
    np.testing.assert_allclose(bound.mean("recall@4", by="day"), found, rtol=1e-15)
    saved, expected = recframe.read_per_user("users.csv"), bound.evaluate("recall@4")
    pd.testing.assert_index_equal(expected.index, saved.index)
    np.testing.assert_allclose(expected, saved, rtol=1e-15)
    assert "day,object,score,recall@4" == Path("users.csv").read_text().partition("\n")[0]
    assert 0 == main([*words, "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    assert [["day", "object"]] * 2 == [document[at]["user"] for at in ("columns", "options")]
    assert 0 == main(
        [*words[:4], "--metric", "recall@4", "--duplicates", "keep", "--format", "json"]
    )
    assert "day" == json.loads(capsys.readouterr().out)["options"]["user"]
    assert 1 == main(["evaluate", "nights", "--by", "day", "--duplicates", "keep"])
    assert "or user=['day', 'object'] to rank each by itself" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_values_of_users_beside_their_segments(frame, ending, capsys):
    """--by leaves the written values of users unchanged."""
    run(capsys, "--by", "country", "--per-user", f"users.{ending}")

    saved = recframe.read_per_user(f"users.{ending}")
    np.testing.assert_allclose(frame.rec.evaluate(METRICS), saved, rtol=1e-15)
