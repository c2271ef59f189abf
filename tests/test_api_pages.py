"""The pages of guides and of the API have every public name once, with its docstring."""

import html
import inspect
import re
import subprocess
import sys
from functools import reduce
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote

import pytest

import recframe
import recframe.metrics
from recframe import cli
from recframe.options import DEFAULTS

ROOT = Path(__file__).parents[1]
COMMAND = "sphinx-build -W -c .docs examples build/site"
METHODS = [name for name, _ in inspect.getmembers(recframe.RecAccessor) if not name.startswith("_")]
PUBLIC = {
    "recframe": [name for name in recframe.__all__ if name != "metrics"],
    "recframe.RecAccessor": METHODS,
    "recframe.metrics": recframe.metrics.__all__,
    "recframe.scanned": ["ScannedRecAccessor"],
    "recframe.scanned.ScannedRecAccessor": ["iter_evaluate", "paths", "scores"],
    "recframe.polars": ["PolarsRecAccessor"],
    "recframe.dask": ["DaskRecAccessor"],
    "recframe.spark": ["SparkRecAccessor", "rec"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make the pages without a warning and away from the checkout, and return their folder."""
    for module in ("sphinx", "numpydoc", "myst_nb", "pydata_sphinx_theme", "dask", "polars"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    made = tmp_path_factory.mktemp("pages") / "site"
    options = COMMAND.split()[1:-1]
    program = [sys.executable, "-m", "sphinx", "-q", *options, made]
    run = subprocess.run(program, cwd=ROOT, capture_output=True, text=True)

    assert (0, "") == (run.returncode, run.stderr)
    return made


@pytest.fixture(scope="module")
def texts(folder):
    """Return the text of every name's entry, from its signature to the next one."""
    found = []
    for page in (folder / "api").glob("*.html"):
        parts = re.split(r'<dt class="sig sig-object py" id="([\w.]+)">', page.read_text("utf-8"))
        found += [
            (name, as_text(part)) for name, part in zip(parts[1::2], parts[2::2], strict=True)
        ]
    return sorted(found)


def as_text(page):
    """Return the text of a part of a page."""
    return html.unescape(re.sub("<[^>]*>", "", page))


def letters(text):
    """Return the letters of a text, which markup does not change."""
    return re.sub("[^A-Za-z]", "", text)


def test_pages_hold_every_public_name_once(texts):
    """The pages have the public names and no others, with Spark's even if it is not installed."""
    expected = sorted(f"{owner}.{name}" for owner, names in PUBLIC.items() for name in names)

    assert expected == [name for name, _ in texts]


def test_pages_hold_the_summaries(texts):
    """Each entry has the first paragraph of its docstring."""
    for name, text in texts:
        # Spark may not be installed.
        if not name.startswith("recframe.spark"):
            _, *parts = name.split(".")
            parts = parts[1:] if parts[0] in ("scanned", "polars", "dask") else parts
            module = import_module(name.removesuffix("." + ".".join(parts)))
            summary, *_ = inspect.getdoc(reduce(getattr, parts, module)).split("\n\n")

            assert letters(summary) in letters(text), name


def test_signatures_have_public_types(texts):
    """Signatures have no private types, modules of the package or type variables."""
    signatures = [text.partition("#\n")[0] for _, text in texts]

    assert [] == [
        one for one in signatures if re.search(r"recframe\.\w|\b_\w|\bTable\b|→ Any\b", one)
    ]


def test_table_of_options_leads_to_each(folder):
    """The table of options has every option with a link to its paragraph."""
    page = (folder / "api" / "evaluate.html").read_text("utf-8")
    links = re.findall(r'<a href="#([\w-]+)"><code>(\w+)=', page)

    assert list(DEFAULTS) == sorted((name for _, name in links), key=list(DEFAULTS).index)
    assert [] == [target for target, _ in links if f'id="{target}"' not in page]


def test_links_lead_to_pages_of_the_site(folder):
    """Links and pictures of each page lead to a file, and fragments to an anchor."""
    pages = {path: path.read_text("utf-8") for path in folder.rglob("*.html")}
    pages = {path: text for path, text in pages.items() if "_static" not in path.parts}
    dead = []
    for path, text in pages.items():
        for link in re.findall(r' (?:href|src)="([^"]*)"', text):
            if not re.match(r"\w+:", link):
                target, _, fragment = unquote(html.unescape(link)).partition("#")
                found = (path.parent / target.partition("?")[0]).resolve() if target else path
                named = f' id="{fragment}"' in pages.get(found, f' id="{fragment}"')
                dead += [(path.name, link)] * (not found.exists() or bool(fragment and not named))

    assert [] == dead
    assert len(pages) > 30


def test_pages_hold_the_notebooks(folder):
    """Each notebook has a page with its pictures, and the list of notebooks links to it."""
    listed = (folder / "notebooks.html").read_text("utf-8")
    for path in (ROOT / "examples").glob("*.ipynb"):
        page = (folder / f"{path.stem}.html").read_text("utf-8")

        assert f'href="{path.stem}.html"' in listed
        assert path.read_text("utf-8").count('"image/png"') == page.count('src="_images/')


def test_pages_hold_the_guides(folder):
    """Each guide has a page, and the list of guides links to it."""
    listed = (folder / "guides.html").read_text("utf-8")
    guides = [path.stem for path in (ROOT / "examples" / "guide").glob("*.md")]

    assert guides
    assert [] == [name for name in guides if f'href="guide/{name}.html"' not in listed]
    assert all((folder / "guide" / f"{name}.html").exists() for name in guides)


def test_site_has_a_page_for_language_models(folder):
    """The root of the site has the report and llms.txt, which is short, and whose calls run."""
    text = (folder / "llms.txt").read_text("utf-8")
    code = text.partition("```python\n")[2].partition("```")[0]
    exec(code, {})

    assert '<a href="index.html">' in (folder / "report.html").read_text("utf-8")
    assert len(text.splitlines()) <= 40
    pages = re.findall(r"\(https://recframe\.github\.io/recframe/([^)]+)\)", text)
    assert [] == [page for page in pages if not (folder / page).exists()]


def test_the_command_of_the_pages_is_the_same_everywhere():
    """The workflows that build and publish the pages run the documented command."""
    for name in ("ci", "pages"):
        workflow = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8")
        assert f" && {COMMAND}\n" in workflow


def test_pages_hold_the_commands(folder, capsys):
    """The page of the command line has the help of each command."""
    page = as_text((folder / "api" / "command_line.html").read_text("utf-8"))
    for command in cli.COMMANDS:
        with pytest.raises(SystemExit, match="0"):
            cli.main([command, "--help"])

        assert letters(capsys.readouterr().out) in letters(page)


def test_command_is_documented():
    """CONTRIBUTING has the command that makes the pages."""
    assert f" && {COMMAND}\n" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")
