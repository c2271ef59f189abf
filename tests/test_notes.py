"""RecframeWarning: what aggregates say of what was left out, once for a table."""

import json
import re
import warnings
from random import Random

import dask.dataframe as dd
import pandas as pd
import polars as pl
import pytest

import noted
import recframe
import recframe.dask
import recframe.polars
from noted import (
    AGGREGATES,
    ALIKE,
    ALL_RELEVANT,
    CASES,
    DROPPED,
    FRAME,
    LOST,
    NEAR,
    NONE_RANKED,
    OF_FEWER,
    SEEN,
    SILENT,
    TRUTH,
    TWO_MODELS,
    WRITTEN,
    warnings_of,
)
from recframe import RecframeWarning
from recframe.analysis.describe import EXCLUDED, NEAR_PAIRS
from recframe.cli import main


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

    assert [noted.__file__] == [warning.filename for warning in said]


@pytest.mark.parametrize("engine", ["frame", "Polars", "files"])
def test_relevant_pairs_excluded(engine, tmp_path):
    """How many relevant pairs `exclude` holds, which count in R."""
    options = {"truth": TRUTH, "exclude": SEEN, "missing": "unranked"}
    with pytest.warns(RecframeWarning, match=LOST):
        make_recs(tmp_path)[engine](**options).mean("recall@1")


def make_written(tmp_path, rows=WRITTEN):
    """Return rows some of whose ids truth writes differently, as each engine has them."""
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=2)
    return {
        "frame": rows.rec,
        "Polars": pl.from_pandas(rows).rec,
        "files": recframe.scan(tmp_path / "rows.parquet", memory="64KiB"),  # which holds truth
        "parted": recframe.scan(tmp_path / "rows.parquet", memory=1),  # by user, as truth is
        "Dask": dd.from_pandas(rows, npartitions=2, sort=False).rec,
    }


@pytest.mark.parametrize("engine", ["frame", "Polars", "files", "parted"])
def test_ids_written_differently(engine, tmp_path):
    """How many pairs of truth match but for case, blanks and zeros: all but that of ann and x."""
    rec = make_written(tmp_path)[engine](truth=ALIKE, population="all")
    with pytest.warns(RecframeWarning, match=NEAR):
        rec.mean("recall@1")


def write_differently(id_, random):
    """Return an id, in a third of all cases in capitals or with a blank or a zero."""
    return random.choice([id_.upper(), f" {id_}", f"{id_} ", f"0{id_}"] + 8 * [id_])


def plain(id_):
    """Return an id without what it may be written differently in."""
    return id_.strip().casefold().lstrip("0")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("engine", ["frame", "Polars", "files", "parted", "Dask"])
def test_figure_of_pairs_written_differently(engine, seed, tmp_path):
    """It is that of pair after pair, whatever parts rows and truth are in."""
    random = Random(seed)
    users, items = ([f"{role}{n}" for n in range(20)] for role in ("u", "i"))
    written = {id_: write_differently(id_, random) for id_ in [*users, *items]}
    pairs = [(user, item) for user in users for item in random.sample(items, 6)]
    rows = pd.DataFrame([(written[user], written[item]) for user, item in pairs])
    rows = rows.set_axis(["user", "item"], axis=1).assign(score=range(len(pairs)))
    truth = [
        (
            random.choice([written[user], write_differently(user, random)]),
            random.choice([written[item], item]),
        )
        for user, item in random.sample(pairs, 50)
    ]
    own, of_frame = set(zip(rows["user"], rows["item"], strict=True)), list(written.values())
    by_plain = {plain(id_): id_ for id_ in of_frame}
    n_near = 0
    for user, item in truth:
        near = by_plain[plain(user)], by_plain[plain(item)]
        n_near += user not in of_frame or (item not in of_frame and (user, near[1]) in own)
    rec = make_written(tmp_path, rows)[engine](
        truth=pd.DataFrame(truth, columns=["user", "item"]), population="all"
    )
    table = rec.describe(1)

    assert n_near == (table.compute() if engine == "Dask" else table).loc[NEAR_PAIRS, "score"]


def test_ids_written_in_two_ways():
    """An id of truth may differ from one that other pairs of truth write as the frame does."""
    truth = pd.DataFrame({"user": ["ann", "ann", "Bob"], "item": ["x", "X", "x"]})
    frame = WRITTEN[WRITTEN["item"] == "x"]
    with pytest.warns(RecframeWarning, match="1 pair of truth would match the frame"):
        frame.rec(truth=truth).mean("recall@1")


def test_ids_told_apart_by_case():
    """Where ids of the frame differ in case alone, others of truth do so on purpose."""
    truth = pd.DataFrame({"user": ["ann", "ann"], "item": ["aB", "ab"]})
    frame = pd.DataFrame({"user": ["ann", "ann"], "item": ["AB", "ab"], "score": [2, 1]})

    assert [] == warnings_of(lambda: frame.rec(truth=truth).mean("recall@1"))


@pytest.mark.parametrize("engine", ["frame", "files", "parted", "Dask"])
def test_figures_of_notes(engine, tmp_path):
    """A description has the same figures, and says what they mean."""
    seen = pd.DataFrame({"user": ["ann"], "item": ["x"]})
    rec = make_written(tmp_path)[engine](truth=ALIKE, exclude=seen)
    table = rec.describe(1)
    table = table.compute() if engine == "Dask" else table

    assert [3, 1] == table.loc[[NEAR_PAIRS, EXCLUDED], "score"].tolist()
    if engine != "Dask":
        assert any(line.startswith(f"{NEAR_PAIRS}: 3; not in the frame") for line in table.warnings)


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
    frame = ALL_RELEVANT
    with pytest.warns(RecframeWarning, match=OF_FEWER):
        frame.rec.mean(["auc", "precision@1"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame.rec.mean("auc")
        frame.assign(relevant=[1, 0, 0]).rec.mean(["recall@1", "precision@1"])


def test_users_written_differently():
    """A refusal of users who differ says how some are written."""
    with pytest.raises(recframe.RecframeError, match=r"they differ in case \('Bob' in the frame"):
        WRITTEN.rec(truth=ALIKE).mean("recall@1")


@pytest.mark.parametrize("case", SILENT)
def test_silence(case):
    """Nothing is said on clean data, of what is asked of each user, or where nothing was lost."""
    frame, options, call = SILENT[case]

    assert [] == warnings_of(lambda: call(frame.rec(**options)))
    ddf = dd.from_pandas(frame, npartitions=2, sort=False)
    assert [] == warnings_of(lambda: call(ddf.rec(**options)).compute())


@pytest.mark.parametrize("case", CASES)
def test_notes_of_partitions(case):
    """What workers of Dask note is said by the last task, once, as in pandas."""
    frame, options, metrics, match = CASES[case]
    expected = warnings_of(lambda: frame.rec(**options).mean(metrics))
    table = dd.from_pandas(frame, npartitions=2, sort=False).rec(**options).mean(metrics)

    assert [True] == [re.match(match, sentence) is not None for sentence in expected]
    assert expected == warnings_of(table.compute)


@pytest.mark.parametrize("name", AGGREGATES)
def test_rows_that_partitions_dropped(name):
    """Every aggregate of Dask says so once it is computed, and not before."""
    ddf = dd.from_pandas(FRAME, npartitions=2, sort=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = AGGREGATES[name](ddf.rec(missing="drop"))
    (said,) = warnings_of(table.compute)

    assert re.match(DROPPED, said)


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
    rec = TWO_MODELS.rec(score=["a", "b"], missing="unranked", short="shrink")
    with pytest.warns(recframe.RecframeWarning, match=NONE_RANKED):
        rec.mean("precision@1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TWO_MODELS.rec(score="b", missing="unranked", short="shrink").mean("precision@1")
        for short in ("nan", "pad"):
            rec(score=["a", "b"], missing="unranked", short=short).mean("precision@1")
