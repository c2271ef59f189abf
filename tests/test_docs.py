"""README and examples show true outputs."""

import doctest
import re
import shlex
import tomllib
from pathlib import Path

import pandas as pd
import pytest

from recframe.cli import main
from recframe.metrics.definitions import DEFINITIONS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
SET_UP = [
    "pip install . && recframe evaluate examples/example.parquet "
    "--metric precision@4 recall@4 r_precision",
    "pip install '.[test]' && pytest",
]


def blocks(language):
    """Return the README's blocks in a language."""
    return [text for name, text in BLOCKS if name == language]


def test_set_up_commands():
    """The first two shell blocks are the commands for a fresh machine, one line each."""
    assert SET_UP == [text.strip() for text in blocks("sh")]


def test_first_output(monkeypatch, capsys):
    """The first command prints the text of the block after it."""
    monkeypatch.chdir(ROOT)
    main(shlex.split(SET_UP[0].split(" && ")[1])[1:])

    assert blocks("text") == [capsys.readouterr().out]


def test_python_blocks(tmp_path, monkeypatch):
    """The Python blocks, run in order, print the text shown, and need no checkout."""
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest("".join(blocks("python")), {}, "README", None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    with pd.option_context("display.width", 120):
        runner.run(example)

    assert (0, True) == (runner.failures, runner.tries > 3)


def test_readme_is_one_page_whose_links_are_there():
    """The README has at most 140 lines and 1,100 words, and its links lead to existing files."""
    links = re.findall(r"recframe/recframe/(?:blob/)?main/([^)#\s]+)", README)

    assert len(README.splitlines()) <= 140
    assert len(re.sub(r"\(http\S*?\)", "", README).split()) <= 1100
    assert [] == [link for link in links if not (ROOT / link).exists()]
    assert len(links) > 20
    assert [] == re.findall(r"\]\((?!https)", README)


def test_example_is_what_its_script_makes(tmp_path):
    """examples/example.parquet has the rows that examples/make_example.py makes."""
    code = (ROOT / "examples" / "make_example.py").read_text("utf-8")
    script = {"__name__": "make_example", "__file__": str(ROOT / "examples" / "make_example.py")}
    exec(compile(code, "make_example.py", "exec"), script)
    saved = pd.read_parquet(ROOT / "examples" / "example.parquet")

    pd.testing.assert_frame_equal(saved, script["make_example"]())


def test_report_of_the_example():
    """The README links the report and its picture; its script still makes the same page."""
    path = ROOT / "examples" / "make_report.py"
    script = {"__name__": "make_report", "__file__": str(path)}
    exec(compile(path.read_text("utf-8"), path.name, "exec"), script)
    pages = script["make_report"]().html, (ROOT / "examples" / "report.html").read_text("utf-8")
    made, saved = (re.sub(r"\d{4}-\d\d-\d\d", "DAY", page) for page in pages)

    assert saved == made
    assert "(https://recframe.github.io/recframe/report.html)" in README
    assert "/main/examples/report.png)" in README
    assert (ROOT / "examples" / "report.png").stat().st_size < 300_000


def test_picture_of_inspect():
    """The README links the picture, which is small; its script still makes the page drawn."""
    path = ROOT / "examples" / "draw_inspect.py"
    script = {"__name__": "draw_inspect", "__file__": str(path)}
    exec(compile(path.read_text("utf-8"), path.name, "exec"), script)
    text = re.sub("<[^>]*>", " ", script["make_page"]())

    assert "/main/examples/inspect.png)" in README
    assert (ROOT / "examples" / "inspect.png").stat().st_size < 150_000
    assert "object 4: 30 rows, 13 relevant" in text
    assert ["50.00%", "100.00%"] == re.findall(r"precision@4: (\S+%)", text)


def test_readme_links_every_metric():
    """The README lists each metric, with a link to its definition."""
    page = (ROOT / "examples" / "guide" / "metrics.md").read_text("utf-8")
    links = re.findall(r"\[(\w+)[^]]*\]\(\S+/guide/metrics\.md#(\w+)\)", README)

    assert sorted(DEFINITIONS) == sorted(anchor for _, anchor in links)
    assert [] == [name for name, anchor in links if name != anchor]
    assert [] == [anchor for _, anchor in links if f'<a id="{anchor}"></a>`{anchor}' not in page]


def test_readme_has_the_words_that_people_search():
    """The first sentence names the subject, and the words of the field occur."""
    first = README.partition("\n\n```python")[0].rpartition("\n\n")[2]
    words = ("pandas", "accessor", "recommenders", "search", "RAG", "retrieval", "ranking metrics")

    assert [] == [word for word in (*words, "MRR", "MAP", "hit rate", "nDCG") if word not in first]
    assert [] == [word for word in ("A/B test", "LightGBM", "trec_eval") if word not in README]


def test_citation_is_of_this_version():
    """CITATION.cff and pyproject.toml have one version, and CITATION.cff has a date."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")

    assert f"\nversion: {project['version']}\n" in citation
    assert re.search(r"^date-released: \d{4}-\d\d-\d\d$", citation, re.MULTILINE)


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_developers_read_of_are_there(name):
    """A module or folder in code quotes exists in the package or in the project."""
    text = (ROOT / name).read_text("utf-8")
    paths = set(re.findall(r"`([\w.]+(?:/[\w.]+)*/?(?:\.py|\.md|/))`", text))
    assert paths
    modules = {path.name for path in (ROOT / "recframe").rglob("*.py")}
    for path in paths:
        is_there = (ROOT / path).exists() or (ROOT / "recframe" / path).exists()
        assert is_there or path in modules, path


def test_percentages_have_one_form():
    """A percent sign follows its number without a space, in pages and docstrings alike."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("examples/**/*.md"), *ROOT.glob("examples/*.ipynb")]
    pages += [ROOT / "examples" / "report.html", *ROOT.glob("recframe/**/*.j2")]
    pages += ROOT.glob("recframe/**/*.py")
    found = {path.name: re.findall(r"\d %[^}]", path.read_text("utf-8")) for path in pages}

    assert {} == {name: signs for name, signs in found.items() if signs}
