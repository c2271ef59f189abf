"""Each block of the guides, examples/guide/*.md, runs as pasted and prints the output shown.

A section needs only the blocks before the first section. In guides for a first visit, a block needs
no other.
"""

import ast
import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from recframe import RecframeError
from recframe.cli import main
from recframe.conventions import read_library_names
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.recipes import PAGE
from recframe.options import DEFAULTS

ROOT = Path(__file__).parents[1]
GUIDES = {path.stem: path.read_text("utf-8") for path in (ROOT / "examples/guide").glob("*.md")}
START = ("prepare-data", "which-metric", "reading-results", "cheat-sheet")
NAMES = (
    *START,
    *("metrics", "edge-cases", "beyond-accuracy", "compare", "trusted-labels"),
    *("files", "engines", "command-line", "pull-requests"),
    *("coming-from", "conventions", "reconcile", "speed", "questions-and-words"),
)
# Each match is a block and the output that follows it.
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
HEADING = re.compile("^## ", re.MULTILINE)
SECTIONS = [
    (name, section.partition("\n")[0])
    for name, text in sorted(GUIDES.items())
    for section in HEADING.split(text)[1:]
    if any(language in ("python", "console") for language, *_ in BLOCK.findall(section))
]


def run_python(code, names):
    """Run a block and return a notebook's output: its printed text and its last value."""
    body = ast.parse(code).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(ast.Module(body, []), "guide", "exec"), names)
            value = last and eval(compile(ast.Expression(last.value), "guide", "eval"), names)
        except RecframeError as error:
            value = None
            out.write(f"{type(error).__name__}: {error}\n")
        if value is not None:
            out.write(f"{value}\n")
    return out.getvalue()


def run_doctest(code, names):
    """Run a block of prompts and return nothing, or the differences."""
    example = doctest.DocTestParser().get_doctest(code, names, "guide", None, 0)
    out = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    runner.run(example, out=out.write, clear_globs=False)
    names |= example.globs
    return out.getvalue()


def run_console(block):
    """Run the commands of a block, and return each line typed with its output."""
    shown, status = [], 0
    for line in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            if line == "echo $?":
                out.write(f"{status}\n")
            else:
                status = main(shlex.split(line.removeprefix("recframe "))) or 0
        shown.append((f"$ {line}\n", out.getvalue(), errors.getvalue()))
    return shown


def is_shown(expected, found):
    """Return whether two texts are equal except for spaces."""
    return expected.split() == found.split()


def check_blocks(text, names):
    """Assert that each block of a text prints the output shown."""
    for language, code, output in BLOCK.findall(text):
        if language == "console":
            shown = run_console(code)
            whole = "".join(line + out + errors for line, out, errors in shown)
            other = "".join(line + errors + out for line, out, errors in shown)
            assert is_shown(code, whole) or is_shown(code, other), whole
        elif language == "python" and ">>> " in code:
            assert not run_doctest(code, names)
        elif language == "python":
            found = run_python(code, names)
            assert not output or is_shown(output, found), found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Make a folder with the files that examples read, and change to it."""
    examples = tmp_path / "examples"
    examples.mkdir()
    for pattern in ("*.parquet", "*.run", "qrels.txt"):
        for path in (ROOT / "examples").glob(pattern):
            shutil.copy(path, examples)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    return tmp_path


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize(("name", "title"), SECTIONS, ids=lambda value: value.strip("?"))
def test_section(name, title, folder):
    """The blocks of a section print the output shown, after those at the head of the guide."""
    head, *sections = HEADING.split(GUIDES[name])
    (section,) = [one for one in sections if one.startswith(f"{title}\n")]
    code = "".join(code for language, code, _ in BLOCK.findall(section) if language == "python")
    for module in re.findall(r"^(?:>>> )?(?:import|from) ([\w.]+)", code, re.MULTILINE):
        pytest.importorskip(module, reason=f"{module} is not installed")
    with pd.option_context("display.width", 100, "display.max_columns", 20):
        if name in START:  # Blocks share files, but no names.
            for block in BLOCK.finditer(section):
                check_blocks(block[0], {})
        else:
            names: dict = {}
            check_blocks(head, names)
            check_blocks(section, names)


@pytest.mark.parametrize("name", NAMES)
def test_begins_with_a_question_and_a_block(name, folder):
    """A guide is short, and has a title, a question and a block that runs as pasted."""
    text = GUIDES[name]
    title, question, *_ = text.split("\n\n")
    assert title.startswith("# ")
    assert question.endswith("?")
    lines = text.splitlines()
    assert len(lines) >= 60
    assert len(lines) <= {"prepare-data": 320, "beyond-accuracy": 190}.get(name, 150)
    head = HEADING.split(text)[0]
    assert BLOCK.search(head)
    with pd.option_context("display.width", 100, "display.max_columns", 20):
        check_blocks(head, {})


def test_links_lead_somewhere():
    """The links of guides and docstrings lead to existing files."""
    assert set(NAMES) == set(GUIDES)
    for text in GUIDES.values():
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (ROOT / "examples/guide" / target).resolve().exists(), target


def test_addresses_are_those_of_one_constant():
    """The addresses of guides in messages and docstrings are PAGE with the name of a page."""
    code = "".join(path.read_text("utf-8") for path in (ROOT / "recframe").rglob("*.py"))
    pages = [PAGE.format(name) for name in ("guides", *(f"guide/{name}" for name in NAMES))]
    addresses = re.findall(r"https://[\w.]*(?:github\.com|github\.io)/[\w./{}#-]*[\w}]", code)
    assert len(addresses) > 5
    assert [] == [one for one in addresses if one not in (*pages, PAGE)]


def test_site_has_the_guides_in_order():
    """The page of guides has each guide once, described: start, use, migrate, reference."""
    page = (ROOT / "examples" / "guides.md").read_text("utf-8")
    described = re.findall(r"^\* \[(.*)\]\(guide/([\w-]+)\.md\): .+\.$", page, re.MULTILINE)
    assert list(NAMES) == re.findall(r"^guide/([\w-]+)$", page, re.MULTILINE)
    assert [(GUIDES[name].partition("\n")[0].strip("# "), name) for name in NAMES] == described
    captions = re.findall("^:caption: (.*)$", page, re.MULTILINE)
    assert ["Start", "Use", "Migrate", "Reference"] == captions


def test_calls_of_the_cheat_sheet_run(folder):
    """Each call in the table of the cheat sheet runs after the block above it."""
    names: dict = {}
    check_blocks(HEADING.split(GUIDES["cheat-sheet"])[0], names)
    calls = re.findall(r"^\| [^|]* \| `(df\.rec\.[^`]*)` \|", GUIDES["cheat-sheet"], re.MULTILINE)
    assert len(calls) > 10
    for call in calls:
        run_python(call, names)


def list_conventions():
    """Return the rows of the table of names, with a library before the first of its names."""
    rows, library = {}, ""
    for one in read_library_names():
        cells = rows.setdefault(one.metric, [])
        before = "" if cells and one.library == library else f"{one.library} "
        behind = f" ({one.difference})" if one.difference else ""
        cells.append(f"{before}`{one.name}`{behind}")
        library = one.library
    return [f"| `{metric}` | {', '.join(cells)} |" for metric, cells in rows.items()]


def test_every_name_has_its_place():
    """The guides name every metric, every option and every convention of the code."""
    assert [] == [name for name in DEFINITIONS if f"`{name}" not in GUIDES["metrics"]]
    assert [] == [name for name in DEFAULTS if not re.search(rf"\b{name}\b", GUIDES["edge-cases"])]
    assert "\n".join(list_conventions()) in GUIDES["conventions"]


@pytest.mark.skipif(os.name != "posix", reason="needs a shell of POSIX")
def test_nightly_job(tmp_path, monkeypatch, capsys):
    """The nightly job passes the first night, and its gate has status 3 if the model gets worse."""
    blocks = BLOCK.findall(GUIDES["command-line"])
    (job,) = [code for language, code, _ in blocks if language == "bash"]
    assert job in (ROOT / "README.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "recframe"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m recframe "$@"\n')
    program.chmod(0o755)
    (tmp_path / "runs").mkdir()
    frame = pd.read_parquet(ROOT / "examples" / "example.parquet")
    frame.loc[frame["relevant"] == 1, ["object", "item"]].to_parquet("test.parquet")

    def save_run(score):
        frame[["object", "item"]].assign(score=frame[score]).to_parquet("runs/run.parquet")

    save_run("KNN scores")
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(["sh", "-c", job], env=environment, capture_output=True, text=True)
    save_run("Random scores")
    lines = [shlex.split(line)[1:] for line in job.splitlines() if line.startswith("recframe ")]

    assert (0, "recframe: note: all values are the same in both files\n") == (
        run.returncode,
        run.stderr,
    )
    assert ["recframe", "runs", "test.parquet", "yesterday.parquet"] == sorted(
        path.name for path in tmp_path.iterdir()
    )
    assert [0, 3] == [main(line) for line in lines]
    assert "recframe: failed: recall@10 of 'score' fell by " in capsys.readouterr().err
