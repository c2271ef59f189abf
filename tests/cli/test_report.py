"""recframe report writes the page of files, or of saved per-user values."""

import html
import re

import pandas as pd
import pytest

import recframe
from recframe.cli import main

METRICS = ["precision@4", "recall@4"]


@pytest.fixture
def run(tmp_path):
    """Write a file of the example with users of two countries."""
    frame = pd.read_parquet("examples/example.parquet")
    frame["country"] = (frame["object"] % 2).map({0: "NL", 1: "FR"})
    frame.to_parquet(tmp_path / "run.parquet")
    return tmp_path / "run.parquet"


@pytest.fixture
def nights(tmp_path, run):
    """Save the values of users on two nights, in two formats, the second without one user."""
    frame, paths = pd.read_parquet(run), [tmp_path / "monday.parquet", tmp_path / "tuesday.csv"]
    for path, rows in zip(paths, (frame, frame[frame["object"] > 0]), strict=True):
        rows.to_parquet(tmp_path / "night.parquet")
        words = ["evaluate", str(tmp_path / "night.parquet"), "--metric", *METRICS, "-q"]
        assert 0 == main([*words, "--by", "country", "--per-user", str(path)])
    return list(map(str, paths))


def test_page_of_files(run, tmp_path, capsys):
    """The command writes the page that a scan gives, and prints its size."""
    words = ["--by", "country", "--title", "a <b>", "--baseline", "KNN scores"]
    path = tmp_path / "report.html"
    assert 0 == main(["report", str(run), "--metric", *METRICS, *words, "-o", str(path)])
    expected = recframe.scan(run).report(METRICS, "KNN scores", "country", "a <b>").html

    assert expected == path.read_text("utf-8")
    assert "<title>a &lt;b&gt;</title>" in expected
    assert ("", f"recframe: {path}: {len(expected.encode()) / 1000:.0f} kB") == tuple(
        map(str.strip, capsys.readouterr())
    )


@pytest.mark.parametrize("items", ["50", "{folder}/items.csv"])
def test_labels_and_items(items, run, tmp_path):
    """The command passes labels and the catalogue, a number or a file, to the report."""
    frame = pd.read_parquet(run).assign(title=lambda rows: "title " + rows["item"].astype(str))
    frame.to_parquet(run)
    pd.DataFrame({"item": range(50)}).to_csv(tmp_path / "items.csv", index=False)
    words = ["--label", "country", "--label", "title", "--items", items.format(folder=tmp_path)]
    path = tmp_path / "report.html"
    assert 0 == main(["report", str(run), "--metric", *METRICS, *words, "-o", str(path), "-q"])
    asked = {"label": ["country", "title"], "items": 50}

    assert recframe.scan(run).report(METRICS, **asked).html == path.read_text("utf-8")


def test_two_nights(nights, tmp_path, capsys):
    """A page of two nights compares each score with the first night's."""
    path = tmp_path / "nights.html"
    assert 0 == main(["report", *nights, "-o", str(path), "-q", "--by", "country"])
    page = html.unescape(path.read_text("utf-8"))
    per_user = recframe.read_per_user(nights)
    means = recframe.summary(per_user)
    rows = re.findall("<tr.*?</tr>", page[page.index('id="differences"') :], re.DOTALL)

    for (_, metric), row in means.iterrows():
        assert f"<td>{row['mean']:.4f}</td><td>{row['low']:.4f} to {row['high']:.4f}</td>" in page
        assert metric in page
    for row, metric in zip(rows[1:5], [*METRICS[:1] * 2, *METRICS[1:] * 2], strict=True):
        named = re.findall("<bdi>(.*?)</bdi>", row)
        assert [metric, named[1].replace("tuesday", "monday")] == [named[0], named[2]]
    assert "tuesday: KNN scores: 1 user of 10 without a value" in page
    assert 'id="segments"' in page
    assert "Nothing in the data" not in page
    assert "Differences between models" in page
    assert 2 == page.count("have the same value by both models")


def test_a_night_that_pandas_wrote(nights, tmp_path):
    """A table of `evaluate`, saved by pandas, gives the same page as a file of --per-user."""
    words = ["-q", "--title", "night", "-o", str(tmp_path / "night.html")]
    by_pandas, pages = str(tmp_path / "by_pandas.parquet"), []
    recframe.read_per_user(nights[0]).to_parquet(by_pandas)
    for night in (nights[0], by_pandas):
        assert 0 == main(["report", night, *words])
        page = (tmp_path / "night.html").read_text("utf-8")
        pages.append(page.replace(night, "night"))

    assert pages[0] == pages[1]


def test_one_night_of_some_metrics(nights, tmp_path):
    """A page of one saved file compares its scores in the metrics asked for."""
    path = tmp_path / "night.html"
    words = ["--metric", "Recall@4", "--baseline", "KNN scores", "-q"]
    assert 0 == main(["report", nights[0], *words, "-o", str(path)])
    page = path.read_text("utf-8")

    assert "Differences from KNN scores" in page
    assert "recall@4" in page
    assert "precision@4" not in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{night}", "--ties", "worst"], "--ties is for rows of users and items; .* has values of"),
        (["{night}", "--filter", "object = 1"], "--filter is for rows of users and items"),
        (["{night}", "--label", "title"], "--label is for rows of users and items"),
        (["{night}", "--items", "9"], "--items is for rows of users and items"),
        (["{run}", "--label", "titel"], "--label titel|label='titel'"),
        (["{run}", "--items", "3", "--metric", "recall@4"], "items must be the number of all"),
        (["{night}", "--metric", "auc"], "'auc' must be in the files, which have"),
        (["{night}", "--baseline", "none"], "--baseline must be one of the scores evaluated"),
        (["{run}", "--baseline", "none"], "--baseline must be one of the scores"),
        (["{run}", "--metric", "recall@40"], "fewer than k=40 ranked rows"),
        (["{run}", "--by", "none"], "by='none'|--by none"),
    ],
)
def test_refusals(words, message, run, nights, tmp_path, capsys):
    """Arguments that do not fit together are refused in a line, and no file is written."""
    words = [word.format(night=nights[0], run=run) for word in words]
    path = tmp_path / "report.html"

    assert 1 == main(["report", *words, "-o", str(path)])
    assert re.search(message, capsys.readouterr().err)
    assert not path.exists()


def test_never_over_what_is_read(run, tmp_path, capsys):
    """A page must end in .html, and must not stand where the paths would find it."""
    with pytest.raises(SystemExit):
        main(["report", str(run), "-o", str(run)])
    assert "must end in .html or .htm" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["report", str(run)])
    assert "the following arguments are required: -o" in capsys.readouterr().err
    assert 1 == main(["report", str(tmp_path / "*"), "-o", str(tmp_path / "report.html")])
    assert "the next call would read it" in capsys.readouterr().err


def test_what_is_read_is_said_once(run, tmp_path, capsys):
    """-v names the files once, although they are read several times."""
    assert 0 == main(["report", str(run), "-v", "-o", str(tmp_path / "report.html")])
    said = capsys.readouterr().err

    assert 1 == said.count("columns: ")
    assert "recframe: 1 page in " in said
