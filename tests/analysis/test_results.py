"""Tables of `summary` and `compare` become pictures, tables for papers and plain words."""

import pickle
import re
import shutil
import subprocess
import sys

import dask.dataframe as dd
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import recframe
import recframe.dask
from recframe.analysis.paper_tables import MAIN_COLUMNS
from recframe.analysis.pictures import COLOURS
from recframe.cli import main

mpl.use("Agg")
from matplotlib import pyplot as plt

METRICS = ["ndcg@2", "fall_out@2", "judged@2"]
ODD = r"50% of_$x$ & #1 {~^\} [a] <b>|`*--"


@pytest.fixture
def per_user():
    """Return the values of twelve users for three models, the second better than the first."""
    base, other = np.arange(12) % 4 / 4, np.arange(12) % 3 / 10
    columns = {}
    for score, gain in {"old": 0.0, "new": 0.2, "odd_one": 0.01}.items():
        columns[score, "ndcg@2"] = base + gain * (1 + other)
        columns[score, "fall_out@2"] = 0.5 - other / 2 - gain * (1 + other) / 2
        columns[score, "judged@2"] = other + gain * (1 + other)
    index = pd.Index(range(12), name="user")
    return pd.DataFrame(columns, index=index).rename_axis(["score", "metric"], axis=1)


@pytest.fixture
def countries(per_user):
    """Return the segment of each user."""
    return pd.Series(["NL", "A & B"] * 6, per_user.index, name="country")


@pytest.fixture(autouse=True)
def closed():
    """Close every figure after a test."""
    yield
    plt.close("all")


def dots(panel):
    """Return x, y, colour and fill of every dot in a panel."""
    lines = [line for line in panel.lines if line.get_marker() != "None" and len(line.get_xdata())]
    return [
        (line.get_xdata()[0], line.get_ydata()[0], line.get_color(), line.get_markerfacecolor())
        for line in lines
    ]


def caption(axes):
    """Return the words below a figure, or below the first of several axes."""
    shown = axes[0].figure.get_supxlabel() or axes[0].get_xlabel()
    return shown.replace("\n", " ")


def test_a_picture_of_means(per_user):
    """A picture has a panel for each metric, with a dot and its interval for each model."""
    table = recframe.summary(per_user)
    axes = table.plot()

    assert ["nDCG@2", "fall-out@2", "judged@2"] == [panel.get_title() for panel in axes]
    assert ["old", "new", "odd_one"] == [text.get_text() for text in axes[0].get_yticklabels()]
    assert axes[0].yaxis_inverted()
    of_metric = table.xs("ndcg@2", level="metric")
    found = dots(axes[0])
    assert of_metric["mean"].tolist() == [x for x, *_ in found]
    assert [0, 1, 2] == [y for _, y, *_ in found]
    assert list(COLOURS[:3]) == [colour for *_, colour, _ in found]
    spans = [[*line.get_xdata()] for line in axes[0].lines if len(line.get_xdata()) == 2]
    assert of_metric[["low", "high"]].to_numpy().tolist() == spans
    assert "mean over 12 users, 95% confidence interval (skewness-adjusted t)" == caption(axes)


def test_a_picture_of_differences(per_user):
    """A picture of differences has a line at zero, and fills the dots of significant ones."""
    per_user["odd_one", "ndcg@2"] += np.arange(12) % 2 / 10 - 0.06
    table = recframe.compare(per_user)
    axes = table.plot()
    is_significant = (table["p_corrected"] < 0.05).xs("ndcg@2", level="metric").tolist()

    assert [0.0, 0.0] == [*axes[0].lines[0].get_xdata()]
    assert [True, False] == is_significant
    assert is_significant == [face == colour for *_, colour, face in dots(axes[0])]
    expected = "difference from old over 12 users, 95% confidence interval (skewness-adjusted t); "
    expected += "filled where p < 0.05, corrected by Holm"
    assert expected == caption(axes)


def test_segments_are_rows(per_user, countries):
    """Models have a colour each, in a legend, and stand side by side in their segment's row."""
    axes = recframe.summary(per_user, by=countries).plot()
    found = dots(axes[0])

    assert ["A & B", "NL"] == [text.get_text() for text in axes[0].get_yticklabels()]
    assert ["old", "new", "odd_one"] == [text.get_text() for text in axes[-1].get_legend().texts]
    assert [-0.25, 0, 0.25, 0.75, 1, 1.25] == [y for _, y, *_ in found]
    assert [*COLOURS[:3]] * 2 == [colour for *_, colour, _ in found]
    assert "country" == axes[0].get_ylabel()


def test_several_baselines_are_rows(per_user):
    """Each baseline has a row in the picture."""
    axes = recframe.compare(per_user, baseline="all").plot()

    assert ["old", "new"] == [text.get_text() for text in axes[0].get_yticklabels()]
    assert "from the baseline over 12 users," in caption(axes)


def test_many_metrics_and_models():
    """Panels stand four abreast, and from the ninth model on colours repeat with other marks."""
    columns = {f"m{n}": [0.1 * n, 0.2, 0.3] for n in range(10)}
    wide = pd.concat({f"recall@{k}": pd.DataFrame(columns) for k in range(1, 6)}, axis=1)
    axes = recframe.summary(wide).plot()
    marks = [line.get_marker() for line in axes[0].lines if line.get_marker() != "None"]

    assert (5,) == axes.shape
    assert 5 == len(axes[0].figure.axes)
    assert ["o"] * 8 + ["s"] * 2 == marks


def test_where_it_is_drawn(per_user):
    """A picture is drawn on the axes passed, or in a figure of the size passed."""
    table = recframe.summary(per_user)
    _, axes = plt.subplots(3)
    _, one = plt.subplots()

    assert [*axes] == [*table.plot(ax=axes)]
    assert one is recframe.summary(per_user.loc[:, [("old", "ndcg@2")]]).plot(ax=one)[0]
    assert [7.0, 3.0] == table.plot(figsize=(7, 3))[0].figure.get_size_inches().tolist()
    with pytest.raises(recframe.RecframeError, match=r"ax must be one for each of \['ndcg@2', .*1"):
        table.plot(ax=one)


def test_names_are_drawn_as_they_are(per_user):
    """Dollar signs in names are no formula, and undefined values have no dot."""
    odd = per_user.rename(columns={"old": "a $x_y$"})
    odd.iloc[1:, 0] = np.nan
    axes = recframe.summary(odd).plot()
    axes[0].figure.canvas.draw()

    assert r"a \$x_y\$" == axes[0].get_yticklabels()[0].get_text()


def test_other_backends_are_refused(per_user, monkeypatch):
    """Other plotting backends, and a missing Matplotlib, are refused with a way to continue."""
    table = recframe.summary(per_user)
    with pytest.raises(recframe.RecframeError, match=r"not backend='plotly'\. Pass backend='matp"):
        table.plot(backend="plotly")
    with monkeypatch.context() as patched:
        patched.setattr(pd, "get_option", lambda name: "hvplot")
        with pytest.raises(recframe.RecframeError, match="backend='hvplot'"):
            table.plot()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"plot needs matplotlib.*pip install 'recframe\[plot\]'"):
        table.plot()


def test_markdown_of_means(per_user):
    """The Markdown of means is as expected, character by character."""
    expected = """\
Mean over 12 users, with the 95% confidence interval (skewness-adjusted t). Bold: the best mean.

| model | nDCG@2 | fall-out@2 | judged@2 |
| :-- | --: | --: | --: |
| old | 0.375 [0.190, 0.560] | 0.450 [0.423, 0.477] | 0.100 [0.046, 0.154] |
| new | **0.595** [0.409, 0.781] | **0.340** [0.307, 0.373] | 0.320 [0.255, 0.385] |
| odd\\_one | 0.386 [0.201, 0.571] | 0.444 [0.417, 0.472] | 0.111 [0.056, 0.166] |
"""
    assert expected == recframe.summary(per_user).to_markdown()


def test_digits_and_spread(per_user):
    """A table shows as many digits as asked, and the distance to the farther bound or no spread."""
    table = recframe.summary(per_user)
    value, low, high = table.loc[("new", "ndcg@2"), ["mean", "low", "high"]]

    assert "| **0.60** |" in table.to_markdown(digits=2, spread=None)
    farther = max(value - low, high - value)
    assert f"| **{value:.4f}** ± {farther:.4f} |" in table.to_markdown(4, "±")
    assert rf" & \textbf{{{value:.3f}}} $\pm$ {farther:.3f}" in table.to_latex(spread="±")
    for wrong in ({"digits": -1}, {"digits": 1.5}, {"digits": True}, {"spread": "sd"}):
        with pytest.raises(recframe.RecframeError, match=f"{next(iter(wrong))} must be"):
            table.to_markdown(**wrong)


def test_latex_of_differences(per_user):
    """The LaTeX of differences has signs and stars, and its caption names test and correction."""
    table = recframe.compare(per_user, confidence=0.99, correction="bonferroni", baseline="new")
    found = table.to_latex(label="tab:one").splitlines()

    assert found[:2] == [r"\begin{table}", r"\centering"]
    assert (
        r"\caption{Difference from new over 12 users, with the 99\% confidence interval "
        r"(skewness-adjusted t). {*} p \textless{} 0.01 (exact sign-flip permutation test, "
        "corrected by Bonferroni).}"
    ) == found[2]
    assert [r"\label{tab:one}", r"\begin{tabular}{lrrr}", r"\toprule"] == found[3:6]
    assert r"model & nDCG@2 & fall-out@2 & judged@2 \\" == found[6]
    assert found[8].startswith(r"old & $-$0.220\textsuperscript{{*}} [$-$0.")
    assert [r"\bottomrule", r"\end{tabular}", r"\end{table}"] == found[-3:]
    assert r"\caption{\emph{Mine}}" in table.to_latex(caption=r"\emph{Mine}")


def test_the_best_is_a_gain(per_user):
    """The best difference is bold if it is a gain, and all tied ones are bold."""
    lines = recframe.compare(per_user).to_markdown(spread=None).splitlines()
    cells = ["**+0.220**<sup>\\*</sup>", "**-0.110**<sup>\\*</sup>", "+0.220<sup>\\*</sup>"]

    assert f"| new | {' | '.join(cells)} |" in lines
    assert "**" not in recframe.compare(per_user, "new").to_markdown()
    twin = per_user[["old", "new"]].join(pd.concat({"twin": per_user["new"]}, axis=1))
    assert 2 == recframe.summary(twin).to_markdown().count("**0.595**")
    assert "**" not in recframe.summary(per_user[["old"]]).to_markdown()


def odd_tables(per_user, countries):
    """Return tables whose names have a meaning in LaTeX and Markdown."""
    odd = per_user.rename(columns={"old": ODD, "new": "[x]", "odd_one": "*y"})
    by = countries.replace({"NL": "[NL] é"})
    summary = recframe.summary(odd, by=by)
    return [
        summary.to_latex(),
        recframe.summary(odd).to_latex(spread="±"),
        recframe.compare(odd, ODD).to_latex(),
        recframe.compare(odd, "all", by=by).to_latex(),
        recframe.summary(odd.iloc[:1]).to_latex(),
    ]


def test_names_are_escaped(per_user, countries):
    """Markdown and LaTeX escape names, so that they are shown as they are."""
    odd = per_user.rename(columns={"old": ODD})
    text = recframe.summary(odd).to_markdown()

    assert r"| 50% of\_\$x\$ \& \#1 \{\~^\\\} \[a\] \<b\>\|\`\*-- |" in text
    shown = re.search(r"midrule\n(.*?) & 0", recframe.summary(odd).to_latex())[1]
    assert (
        r"50\% of\_\$x\$ \& \#1 \{\textasciitilde{}\textasciicircum{}\textbackslash{}\} {[}a{]} "
        r"\textless{}b\textgreater{}\textbar{}`{*}-{}-"
    ) == shown


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex on the PATH")
def test_latex_compiles(per_user, countries, tmp_path):
    """The LaTeX compiles with booktabs as its only package, under any names."""
    page = "\n".join(
        [
            r"\documentclass{article}\usepackage{booktabs}\begin{document}",
            *odd_tables(per_user, countries),
            r"\end{document}",
        ]
    )
    (tmp_path / "page.tex").write_text(page, "utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)

    assert 0 == run.returncode, run.stdout[-2000:]
    assert (tmp_path / "page.pdf").stat().st_size > 10_000


def test_a_comparison_shows_what_one_reads(per_user):
    """A comparison shows its main columns within 80 columns of text, while the frame has all."""
    table = recframe.compare(per_user)
    head, *_, foot = repr(table).split("\nlow, high: ")

    assert ["baseline:", "old", *MAIN_COLUMNS] == head.splitlines()[0].split()
    assert max(map(len, repr(table).splitlines())) <= 80
    assert "p_corrected: exact sign-flip permutation test, corrected by Holm" in " ".join(
        foot.split()
    )
    for label in table.columns.drop(MAIN_COLUMNS):
        assert label in foot
    page = table._repr_html_()
    assert "<p>low, high: 95% confidence interval" in page
    assert "n_won</th>" not in page
    assert "n_won" in repr(table[["n_won", "test"]])
    assert "low, high:" not in repr(table[["n_won", "test"]])
    assert "interval</th>" in recframe.summary(per_user)._repr_html_()


def test_words_that_one_can_look_up(per_user):
    """The tables call each test and interval by the name that textbooks use."""
    pytest.importorskip("scipy")
    shares = per_user.round().clip(0, 1)
    tests = {
        "permutation": "exact sign-flip permutation test",
        "ttest": "paired t-test",
        "wilcoxon": "Wilcoxon signed-rank test",
    }

    for test, words in tests.items():
        assert words in set(recframe.compare(per_user, test=test)["test"])
    drawn = recframe.compare(per_user, n_resamples=100)["test"]
    assert "Monte Carlo sign-flip permutation test" in set(drawn)
    assert "Wilson score" in set(recframe.summary(shares)["interval"])
    assert "Tango score" in set(recframe.compare(shares)["interval"])
    for interval, words in {"t": "Student t", "bootstrap": "percentile bootstrap"}.items():
        assert words in set(recframe.summary(per_user, interval=interval)["interval"])


def test_what_was_asked_stays_with_the_table(per_user, countries, tmp_path):
    """A sorted, pickled, scanned or Dask table still knows its confidence and correction."""
    how = {"confidence": 0.9, "correction": "bonferroni"}
    table = recframe.compare(per_user, by=countries, **how)
    frame = pd.DataFrame({"user": [1, 1, 2, 2], "a_score": [1, 2] * 2, "relevant": [0, 1, 1, 0]})
    frame["b_score"] = [2, 1, 2, 1]
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    ddf = dd.from_pandas(frame, npartitions=2)
    for one in (
        table.sort_values("difference"),
        pickle.loads(pickle.dumps(table)),
        recframe.scan(tmp_path / "rows.parquet").compare("recall@1", **how),
        ddf.rec.compare("recall@1", **how).compute(),
    ):
        assert "with the 90\\% confidence interval" in one.to_latex()
        assert "p \\textless{} 0.1 (" in one.to_latex()
        assert "corrected by Bonferroni" in one.to_latex()


def test_parts_of_a_table_are_refused(per_user):
    """Pictures and papers' tables are refused for a part of a table that lacks needed columns."""
    table = recframe.summary(per_user)
    for call in (table[["mean"]].plot, table[["mean"]].to_latex, table[["mean"]].to_markdown):
        with pytest.raises(
            recframe.RecframeError, match=r"but these have no \['high', 'interval', 'low', "
        ):
            call()
    with pytest.raises(recframe.RecframeError, match="no 'row'"):
        table.iloc[:0].plot()


@pytest.mark.parametrize("asked", [["--summary"], ["--baseline", "a_score"]])
def test_command_line(asked, tmp_path, capsys):
    """The command's formats latex and markdown equal Python's, and need --summary or --baseline."""
    frame = pd.DataFrame({"user": [1, 1, 2, 2], "a_score": [1, 2] * 2, "relevant": [0, 1, 1, 0]})
    frame["b_score"] = [2, 1, 2, 1]
    frame.to_parquet(path := str(tmp_path / "rows.parquet"), index=False)
    table = frame.rec.summary("recall@1")
    if asked != ["--summary"]:
        table = frame.rec.compare("recall@1", baseline="a_score")
    words = ["evaluate", path, "--metric", "recall@1", "-q"]

    for name, expected in {"latex": table.to_latex(), "markdown": table.to_markdown()}.items():
        assert 0 == main([*words, *asked, "--format", name])
        assert expected == capsys.readouterr().out
        with pytest.raises(SystemExit) as ended:
            main([*words, "--format", name])
        assert 2 == ended.value.code
        assert "Add --summary or --baseline" in capsys.readouterr().err
