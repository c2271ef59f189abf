"""RecframeWarning: what aggregates say of what was left out, once for a table."""

import json
import warnings

import dask.dataframe as dd
import pandas as pd
import polars as pl
import pytest

import recframe
import recframe.dask
import recframe.polars
from recframe import RecframeWarning
from recframe.analysis.describe import EXCLUDED, NEAR_IDS
from recframe.cli import main

FRAME = pd.DataFrame(
    {
        "user": [1, 1, 1, 2, 2],
        "item": [1, 2, 3, 1, 2],
        "score": [3, None, 1, 2, None],
        "relevant": [1, 1, 0, 1, 0],
    }
)
TRUTH = pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1]})
SEEN = pd.DataFrame({"user": [1, 2, 2], "item": [2, 2, 9]})
DROPPED = r"missing='drop' removed 2 of 5 rows \(40%\)"
LOST = "exclude holds 1 of 3 relevant pairs of truth"
AGGREGATES = {
    "mean": lambda rec: rec.mean("recall@1"),
    "summary": lambda rec: rec.summary("recall@1"),
    "curve": lambda rec: rec.curve("recall", k=1),
    "catalogue": lambda rec: rec.catalogue(1),
    "by": lambda rec: rec.mean("recall@1", by="user"),
}


def make_recs(tmp_path):
    """Return the rows as each engine of this process has them, in blocks too."""
    FRAME.to_parquet(tmp_path / "rows.parquet", row_group_size=2)
    return {
        "frame": FRAME.rec,
        "Polars": pl.from_pandas(FRAME).rec,
        "LazyFrame": pl.from_pandas(FRAME).lazy().rec,
        "files": recframe.scan(tmp_path / "rows.parquet", memory=1),
    }


@pytest.mark.parametrize("engine", ["frame", "Polars", "LazyFrame", "files"])
@pytest.mark.parametrize("name", AGGREGATES)
def test_dropped_rows(name, engine, tmp_path):
    """How many rows `missing` has removed, at the caller's line."""
    rec = make_recs(tmp_path)[engine](missing="drop")
    with pytest.warns(RecframeWarning, match=DROPPED) as said:
        AGGREGATES[name](rec)

    assert [__file__] == [warning.filename for warning in said]


@pytest.mark.parametrize("engine", ["frame", "Polars", "files"])
def test_relevant_pairs_excluded(engine, tmp_path):
    """How many relevant pairs `exclude` holds, which count in R."""
    options = {"truth": TRUTH, "exclude": SEEN, "missing": "unranked"}
    with pytest.warns(RecframeWarning, match=LOST):
        make_recs(tmp_path)[engine](**options).mean("recall@1")


WRITTEN = pd.DataFrame(
    {"user": ["ann", "ann", "Bob", "eve"], "item": ["x", "Y", "x", " z"], "score": [3, 2, 1, 4]}
)
ALIKE = pd.DataFrame({"user": ["ann", "ann", "bob", "eve"], "item": ["x", "y", "z", "z"]})


def make_written(tmp_path):
    """Return rows some of whose ids truth writes differently, as each engine has them."""
    WRITTEN.to_parquet(tmp_path / "rows.parquet", row_group_size=2)
    return {
        "frame": WRITTEN.rec,
        "Polars": pl.from_pandas(WRITTEN).rec,
        "files": recframe.scan(tmp_path / "rows.parquet", memory="64KiB"),  # which holds truth
        "Dask": dd.from_pandas(WRITTEN, npartitions=2, sort=False).rec,
    }


@pytest.mark.parametrize("engine", ["frame", "Polars", "files"])
def test_ids_written_differently(engine, tmp_path):
    """How many ids of truth match but for case, blanks and zeros: bob, y and z."""
    rec = make_written(tmp_path)[engine](truth=ALIKE, population="all")
    with pytest.warns(RecframeWarning, match="3 ids of truth would match one of the frame"):
        rec.mean("recall@1")


@pytest.mark.parametrize("engine", ["frame", "files", "Dask"])
def test_figures_of_notes(engine, tmp_path):
    """A description has the same figures, and says what they mean."""
    seen = pd.DataFrame({"user": ["ann"], "item": ["x"]})
    rec = make_written(tmp_path)[engine](truth=ALIKE, exclude=seen)
    table = rec.describe(1)
    table = table.compute() if engine == "Dask" else table

    assert [3, 1] == table.loc[[NEAR_IDS, EXCLUDED], "score"].tolist()
    if engine != "Dask":
        assert any(line.startswith(f"{NEAR_IDS}: 3; none in the frame") for line in table.warnings)


@pytest.mark.parametrize("engine", ["frame", "Polars", "LazyFrame", "files"])
@pytest.mark.parametrize(("k", "is_cut"), [(2, False), (3, True)])
def test_lists_cut_at_k(k, is_cut, engine, tmp_path):
    """Where no ranking is longer than k and there is no truth, recall is 1; curves show it."""
    whole = FRAME.assign(score=range(5))
    whole.to_parquet(tmp_path / "whole.parquet", row_group_size=2)
    rec = {
        "frame": whole.rec,
        "Polars": pl.from_pandas(whole).rec,
        "LazyFrame": pl.from_pandas(whole).lazy().rec,
        "files": recframe.scan(tmp_path / "whole.parquet", memory=1),
    }[engine](short="pad")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        rec.mean(["recall@1", f"recall@{k}"])
        rec.curve("recall", k=[k])
        rec.evaluate(f"recall@{k}")

    assert is_cut * ["no ranking is"] == [str(one.message)[:13] for one in said]


def test_means_of_different_users():
    """AUC has no value where all rows are relevant, and is averaged over fewer users."""
    frame = pd.DataFrame({"user": [1, 1, 2], "score": [2, 1, 1], "relevant": [1, 0, 1]})
    with pytest.warns(RecframeWarning, match="auc is undefined for 1 user with relevant"):
        frame.rec.mean(["auc", "precision@1"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame.rec.mean("auc")
        frame.assign(relevant=[1, 0, 0]).rec.mean(["recall@1", "precision@1"])


def test_users_written_differently():
    """A refusal of users who differ says how some are written."""
    with pytest.raises(recframe.RecframeError, match=r"they differ in case \('Bob' in the frame"):
        WRITTEN.rec(truth=ALIKE).mean("recall@1")


def test_silence():
    """Nothing is said on clean data, of what is asked of each user, or where nothing was lost."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FRAME.rec(missing="unranked").mean("recall@1")
        FRAME.rec(missing="drop").evaluate("recall@1")
        FRAME.dropna().rec(missing="drop").mean("recall@1")
        FRAME.rec(missing="unranked", truth=TRUTH, exclude=SEEN[1:]).mean("recall@1")


def test_the_command_line(tmp_path, capsys):
    """Notes below the table, figures in JSON, and silence where asked for."""
    FRAME.to_parquet(tmp_path / "rows.parquet")
    words = ["evaluate", str(tmp_path / "rows.parquet"), "--metric", "recall@1"]
    words += ["--missing", "drop"]

    assert 0 == main(words)
    assert "note: missing='drop' removed 2 of 5 rows (40%)" in capsys.readouterr().err
    assert 0 == main([*words, "--quiet"])
    assert "" == capsys.readouterr().err
    assert 0 == main([*words, "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    lists = {"rankings": 2, "rankings_longer_than_recall": 1}
    assert {"rows_dropped": 2, "rows_read": 5, **lists} == document["notes"]


def test_a_model_that_does_not_rank_a_user():
    """Its empty list counts, where others rank the user; not where `short` says how."""
    rows = {"user": [1, 2], "relevant": [1, 1], "a": [1.0, 1.0], "b": [1.0, None]}
    rec = pd.DataFrame(rows).rec(score=["a", "b"], missing="unranked", short="shrink")
    with pytest.warns(recframe.RecframeWarning, match="b ranks no row of 1 user, whom others rank"):
        rec.mean("precision@1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pd.DataFrame(rows).rec(score="b", missing="unranked", short="shrink").mean("precision@1")
        for short in ("nan", "pad"):
            rec(score=["a", "b"], missing="unranked", short=short).mean("precision@1")
