"""Means, curves and catalogues are set in papers like summaries, without other libraries."""

import subprocess
import sys

import pandas as pd
import pytest

import recframe
from note_cases import EQUAL

FRAME = pd.DataFrame(
    {
        "user": [1, 1, 1, 2, 2, 2],
        "item": ["a", "b", "c"] * 2,
        "relevant": [1, 0, 1, 0, 1, 0],
        "old": [3, 1, 2, 3, 1, 2],
        "n_w": [3, 2, 1, 1, 3, 2],
    }
)
COUNTRY = pd.Series(["NL", "FR"], pd.Index([1, 2], name="user"), name="country")
OPTIONS = {"score": ["old", "n_w"], "ties": "worst"}


@pytest.fixture
def rec():
    """Return the accessor of two users and two models."""
    return FRAME.rec(**OPTIONS)


def test_markdown_of_means(rec):
    """A row for each model, metrics across, the best in bold, low fall-out being better."""
    expected = """\
Mean over users. Bold: the best mean.

| model | precision@2 | fall-out@2 |
| :-- | --: | --: |
| old | 0.500 | 0.500 |
| n\\_w | 0.500 | 0.750 |
"""
    expected = expected.replace("0.500 | 0.500", "**0.500** | **0.500**")
    expected = expected.replace("w | 0.500", "w | **0.500**")
    assert expected == rec.mean(["precision@2", "fall_out@2"]).to_markdown()


def test_markdown_of_segments(rec):
    """Segments come before the models, each with its best."""
    expected = """\
Mean over the users of each country. Bold: the best mean.

| country | model | recall@1 |
| :-- | :-- | --: |
| FR | old | 0.0 |
|  | n\\_w | **1.0** |
| NL | old | **0.5** |
|  | n\\_w | **0.5** |
"""
    assert expected == rec.mean("recall@1", by=COUNTRY).to_markdown(digits=1)


def test_markdown_of_curves(rec):
    """A curve has a row for each cut-off and a column for each model, under the model's name."""
    table = rec.curve("ndcg", k=[1, 2])
    lines = table.rename(columns={"old": "recall"}).to_markdown().splitlines()

    assert ["Mean nDCG@k over users.", "", "| k | recall | n\\_w |"] == lines[:3]
    assert [f"| {k} | {a:.3f} | {b:.3f} |" for k, (a, b) in table.T.items()] == lines[4:]
    by = rec.curve("recall", k=[1, 2], by=COUNTRY).to_markdown(digits=0).splitlines()
    assert ["| country | k | old | n\\_w |", "| FR | 1 | 0 | 1 |", "|  | 2 | 0 | 1 |"] == [
        by[2],
        *by[4:6],
    ]


def test_latex(rec):
    """The LaTeX has booktabs' rules, a caption and a label."""
    expected = r"""\begin{table}
\centering
\caption{Mean over users. Bold: the best mean.}
\label{tab:means}
\begin{tabular}{lr}
\toprule
model & recall@1 \\
\midrule
old & 0.25 \\
n\_w & \textbf{0.75} \\
\bottomrule
\end{tabular}
\end{table}
"""
    assert expected == rec.mean("recall@1").to_latex(digits=2, label="tab:means")
    assert r"\caption{Mine}" in rec.mean("recall@1").to_latex(caption="Mine")


def test_catalogue(rec):
    """The figures of a catalogue are no means over users, and none is the best."""
    text = rec.catalogue(2, items=3).to_markdown()

    assert text.startswith("Values over the lists of all users.\n\n| model | coverage@2 |")
    assert "**" not in text


@pytest.mark.parametrize("method", ["mean", "curve", "catalogue"])
def test_captions_end_with_notes(method):
    """The notes of a table stand in its caption."""
    rec = EQUAL.rec
    arguments = {"mean": ["recall@1"], "curve": ["recall", 1], "catalogue": [3]}[method]
    table = getattr(rec, method)(*arguments)
    (text,) = [one.text for one in table.notes]

    first = f"{text[:1].upper()}{text[1:]}."
    assert first.replace("_", "\\_") in table.to_markdown().splitlines()[0]
    assert text[10:40].replace("_", "\\_") in table.to_latex()


def test_selected_and_sorted_tables(rec):
    """Selecting, sorting and rounding keep the methods; other results are plain pandas tables."""
    table = rec.mean(["recall@1", "precision@1"]).sort_values("recall@1").round(1)

    assert "| n\\_w | **0.8** |" in table[["recall@1"]].to_markdown(digits=1)
    assert "**" not in table.loc[["old"]].to_markdown()
    assert pd.DataFrame is type(table.T)
    assert pd.DataFrame(table).to_latex() == (table * 1).to_latex()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda table: table[:0], "but these have no 'row'"),
        (lambda table: table.rename_axis("model"), "no .'score'.; pd.DataFrame"),
    ],
)
def test_tables_without_names_or_rows_are_refused(rec, make, message):
    """A table that lost its rows or the names of its levels is refused."""
    with pytest.raises(recframe.RecframeError, match=message):
        make(rec.mean("recall@1")).to_markdown()


@pytest.mark.parametrize("wrong", [{"digits": -1}, {"digits": True}, {"spread": "sd"}])
def test_arguments_are_those_of_summary(rec, wrong):
    """Wrong arguments are refused as in tables with intervals, and means show no spread."""
    table = rec.mean("recall@1")
    with pytest.raises(recframe.RecframeError, match=f"{next(iter(wrong))} must be"):
        table.to_latex(**wrong)
    assert table.to_markdown(spread="±") == table.to_markdown(spread=None) == table.to_markdown()


def test_no_other_library_is_loaded():
    """Neither tabulate nor jinja2 is imported."""
    program = (
        "import sys, pandas as pd, recframe\n"
        "sys.modules['tabulate'] = sys.modules['jinja2'] = None\n"
        "rec = pd.DataFrame({'user': [1, 1], 'score': [2, 1], 'relevant': [1, 0]}).rec\n"
        "tables = rec.mean('recall@1'), rec.curve('recall', k=1), rec.summary('recall@1')\n"
        "print([len(one.to_markdown() + one.to_latex()) > 0 for one in tables])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert ("[True, True, True]\n", 0) == (run.stdout, run.returncode)
