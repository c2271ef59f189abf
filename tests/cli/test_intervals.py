"""--summary and --baseline print intervals of means and differences from a baseline."""

import io
import json
import re
import sys
from textwrap import fill

import pandas as pd
import pytest

from command_line_example import EXAMPLE
from recframe.analysis.paper_tables import MAIN_COLUMNS
from recframe.cli import main

SURE = {
    "summary": (["--summary"], lambda rec, metrics: rec.summary(metrics)),
    "baseline": (
        ["--baseline", "KNN scores"],
        lambda rec, metrics: rec.compare(metrics, baseline="KNN scores"),
    ),
}


@pytest.mark.parametrize("name", SURE)
def test_how_sure(name, tmp_path, capsys):
    """--summary and --baseline give the table of df.rec in every format."""
    flags, expect = SURE[name]
    metrics = ["recall@4", "auc"]
    found = expect(pd.read_parquet(EXAMPLE).rec, metrics)
    expected = pd.DataFrame(found)
    words = ["evaluate", str(EXAMPLE), "--metric", *metrics, *flags]
    output = tmp_path / "table.parquet"
    main([*words, "--output", str(output), "--per-user", str(tmp_path / "users.csv")])
    table = capsys.readouterr().out
    main([*words, "--format", "csv"])
    csv = pd.read_csv(io.StringIO(capsys.readouterr().out), index_col=[0, 1])
    main([*words, "--format", "json"])
    document = json.loads(capsys.readouterr().out)

    printed = (expected[MAIN_COLUMNS] if found.is_wide else expected).rename_axis(
        index=[None, None]
    )
    words = f"{fill(found.explain(), 80, break_on_hyphens=False)}\n" if found.is_wide else ""
    assert f"{printed.to_string()}\n{words}" == table
    assert expected.equals(pd.read_parquet(output).set_index(["score", "metric"]))
    pd.testing.assert_frame_equal(expected.rename_axis(columns=None), csv)
    assert {
        score: expected.loc[score].to_dict("index") for score in expected.index.unique("score")
    } == document["scores"]
    assert (10, metrics) == (document["users"], document["metrics"])
    assert (document.get("baseline") == "KNN scores") == (name == "baseline")
    assert 20 == len(pd.read_csv(tmp_path / "users.csv"))


def test_how_sure_of_many_blocks(large, capsys):
    """A summary of many blocks equals the summary of the frame."""
    words = ["--metric", "recall@3", "--memory", "16MiB", "--summary", "--format", "csv"]
    main(["evaluate", str(large), *words])
    found = pd.read_csv(io.StringIO(capsys.readouterr().out), index_col=[0, 1])

    pd.testing.assert_frame_equal(pd.read_parquet(large).rec.summary("recall@3"), found)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"interval": "t", "confidence": 0.9}, ["--summary"]),
        ({"interval": "bootstrap", "seed": 3}, ["--baseline", "Random scores"]),
        ({"test": "ttest", "correction": None}, ["--baseline", "Random scores"]),
    ],
)
def test_how_intervals_are_made(flags, words, capsys):
    """Flags are the arguments of df.rec.summary and compare."""
    metrics = ["recall@4", "auc"]
    given = [f"--{name}={'none' if value is None else value}" for name, value in flags.items()]
    rec = pd.read_parquet(EXAMPLE).rec
    expected = (rec.summary if words == ["--summary"] else rec.compare)(metrics, **flags)
    main(["evaluate", str(EXAMPLE), "--metric", *metrics, *words, *given, "--format", "csv"])
    found = pd.read_csv(io.StringIO(capsys.readouterr().out), index_col=[0, 1])

    pd.testing.assert_frame_equal(pd.DataFrame(expected).rename_axis(columns=None), found)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--seed", "1"], "--seed is for intervals. Add --summary or --baseline"),
        (["--format", "latex"], "Add --summary or --baseline, or --bounds"),
        (["--summary", "--test", "ttest"], "--test is for differences. Add --baseline, not --summ"),
        (["--baseline", "x", "--interval", "wilson"], "interval must be one of .*but is 'wilson'"),
        (["--summary", "--interval", "tango"], "interval must be one of .*but is 'tango'"),
        (["--summary", "--confidence", "95"], "confidence must be between 0 and 1, but is 95"),
        (["--summary", "--seed", "0.5"], "seed must be an integer of 0 or more, but is 0.5"),
        (
            ["--baseline", "x", "--test", "ttest", "--correction", "max_t"],
            "not test='ttest'. Pass correction='holm'",
        ),
    ],
)
def test_flags_of_intervals_in_vain(words, message, capsys):
    """Flags without an effect, and impossible ones, are wrong usage."""
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", str(EXAMPLE), *words])
    assert re.search(message, capsys.readouterr().err)


def test_an_interval_that_does_not_fit_the_values(capsys):
    """A refused interval names the value to pass."""
    words = ["--metric", "recall@4", "--summary", "--interval", "wilson"]
    assert 1 == main(["evaluate", str(EXAMPLE), *words])
    assert ". Pass interval='auto'.\n" in capsys.readouterr().err


def test_a_missing_extra_is_named(monkeypatch, capsys):
    """A missing extra is named with the command that installs it."""
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    assert 1 == main(["evaluate", str(EXAMPLE), "--baseline", "KNN scores", "--test", "ttest"])
    assert "Install it with pip install 'recframe[stats]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--baseline", "knn"],
            "--baseline must be one of the score columns evaluated, ['Random scores', "
            "'KNN scores'], but is 'knn'",
        ),
        (
            ["--baseline", "KNN scores", "--score", "KNN scores"],
            "--baseline compares with others, but has only 'KNN scores'. Name two score columns or "
            "more.",
        ),
    ],
)
def test_no_baseline(words, message, capsys):
    """An unknown baseline, or one that is the only score, is refused."""
    assert 1 == main(["evaluate", str(EXAMPLE), *words])
    assert f"recframe: {message}\n" == capsys.readouterr().err
