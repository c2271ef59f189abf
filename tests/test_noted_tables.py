"""NotedTable keeps its notes in pandas' selections and copies, and becomes plain when computed."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import recframe
from note_cases import EQUAL, texts_of
from recframe.analysis.display import NotedTable

METRICS = ["recall@1", "precision@1"]
TABLES = {
    "mean": lambda rec: rec.mean(METRICS),
    "curve": lambda rec: rec.curve("recall", k=[1, 2]),
    "summary": lambda rec: rec.summary(METRICS),
    "compare": lambda rec: rec.compare(METRICS, n_resamples=99),
}
KEEPING = {
    "columns": lambda table: table[list(table)[:1]],
    "rows": lambda table: table[[True] + [False] * (len(table) - 1)],
    "iloc": lambda table: table.iloc[:1],
    "loc": lambda table: table.loc[table.index[:1]],
    "head": lambda table: table.head(1),
    "drop": lambda table: table.drop(columns=list(table)[:1]),
    "copy": lambda table: table.copy(),
    "shallow": copy.copy,
    "deep": copy.deepcopy,
    "pickle": lambda table: pickle.loads(pickle.dumps(table)),
    "sorted": lambda table: table.sort_index(),
    "by values": lambda table: table.sort_values(next(iter(table))),
    "renamed": lambda table: table.rename(columns=str.upper),
    "rounded": lambda table: table.round(2),
}
PLAIN = {
    "sum": lambda table: table + table,
    "from 1": lambda table: 1 - table,
    "negative": lambda table: -table,
    "comparison": lambda table: table > 0,
    "exponential": np.exp,
    "absolute": lambda table: table.abs(),
    "transposed": lambda table: table.T,
    "melted": lambda table: table.melt(),
    "joined": lambda table: pd.concat([table, table]),
    "grouped": lambda table: table.groupby(level=0).sum(),
    "cumulative": lambda table: table.cumsum(),
    "applied": lambda table: table.apply(lambda column: column),
}


@pytest.fixture(params=TABLES)
def table(request):
    """Return a table with a note."""
    made = TABLES[request.param](EQUAL.assign(other_score=range(12)).rec)
    assert "undefined" in texts_of(made)
    return made


@pytest.mark.parametrize("way", KEEPING)
def test_notes_are_kept(table, way):
    """Selecting, copying, sorting, renaming and rounding a table keep its notes."""
    made = KEEPING[way](table)

    assert (type(table), table.notes) == (type(made), made.notes)


@pytest.mark.parametrize("way", PLAIN)
def test_plain_frames(table, way):
    """Computing and reshaping a table give pandas' plain results."""
    numbers = table.select_dtypes("number")
    made, expected = PLAIN[way](numbers), PLAIN[way](pd.DataFrame(numbers))

    assert pd.DataFrame is type(made)
    pd.testing.assert_frame_equal(expected, made)


def test_notes_are_shown_below():
    """The text has pandas' table, and then the notes within the width of a terminal."""
    table = EQUAL.rec.mean(METRICS)
    rows, _, said = repr(table).partition("\nnote: ")

    assert repr(pd.DataFrame(table)) == rows
    assert table.notes[0].text.split() == said.split()
    assert max(map(len, repr(table).splitlines())) <= 80
    assert table._repr_html_().endswith("</p>")
    plain = EQUAL.rec.mean("precision@1")
    assert ([], repr(pd.DataFrame(plain))) == (plain.notes, repr(plain))
    assert pd.DataFrame(plain)._repr_html_() == plain._repr_html_()


def test_exports_are_those_of_pandas():
    """The exports and plots of a table of means are pandas' exports and plots, without notes."""
    table = EQUAL.rec.mean(METRICS)

    assert pd.DataFrame(table).to_csv() == table.to_csv()
    assert pd.DataFrame(table).to_string() == table.to_string()
    assert pd.DataFrame.plot is NotedTable.plot


@pytest.mark.parametrize("method", ["summary", "compare"])
def test_captions_for_papers(method):
    """The caption of a table for a paper ends with the notes."""
    table = TABLES[method](EQUAL.assign(other_score=range(12)).rec)

    assert ". Of 4 users, means leave out 1 in recall@1 (no relevant row)" in table.to_latex()
    assert ". Of 4 users, means leave out 1 in recall@1 (no" in table.to_markdown()
    assert "no relevant row" not in table.to_latex(caption="Mine.")


def test_no_plain_frame_has_notes():
    """Per-user values are a plain DataFrame, and a NotedTable may have no notes."""
    assert pd.DataFrame is type(EQUAL.rec.evaluate(METRICS))
    assert [] == list(NotedTable({"a": [1]}).notes)


def make_differences(n_apart):
    """Return values of two models, which differ for n_apart of 40 users."""
    old = np.zeros(40)
    new = np.r_[np.full(n_apart, 1.0), np.zeros(40 - n_apart)]
    return pd.DataFrame({("old", "recall@1"): old, ("new", "recall@1"): new}).rename_axis(
        columns=["score", "metric"]
    )


def test_interval_and_test_that_disagree():
    """A note tells that the test and the interval of a difference disagree."""
    tables = [recframe.compare(make_differences(n), n_resamples=999) for n in range(1, 12)]
    for table in tables:
        (row,) = table.to_dict("records")
        is_shown, holds = row["p_corrected"] < 0.05, row["low"] <= 0 <= row["high"]
        text = texts_of(table).get("disagreement", "")
        verb = "holds" if holds else "excludes"

        assert (is_shown == holds) == (f"recall@1 of new (its interval {verb} 0)" in text)
        for shown in (repr(table), table.to_latex(), table.to_markdown()):
            assert bool(text) == ("nterval and p_corrected disagree" in shown.replace("\\", ""))
    assert any(table.notes for table in tables)
    assert not all(table.notes for table in tables)
