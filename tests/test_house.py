"""The package is plain code: ceilings for its comments, names and reach, which may only fall."""

import ast
import io
import re
import sys
import tokenize
from collections import defaultdict
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe.cli import main

PACKAGE = Path(str(files(recframe)))
MODULES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text("utf-8")) for name, path in MODULES.items()}
# The beginning of a clause whose subject is somewhere else.
FRAGMENT = re.compile(
    r"(which|what|whose|whom|that|those|of|else|by what|in which|for which|and|or|but)\b"
    r"|(as|where|so that|such)\b[^,]*$",
    re.IGNORECASE,
)
IDLE = re.compile(r"\b(what|that of|those of|of which|of whom|whatever)\b", re.IGNORECASE)
MOST_SHARED_NAMES = 4


def list_comments(path):
    """Return the comments of a module that are sentences for readers."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline)
    comments = [one.string.lstrip("# ").strip() for one in tokens if one.type == tokenize.COMMENT]
    return [one for one in comments if not one.startswith(("type:", "noqa"))]


def list_first_lines(tree):
    """Return the first lines of the docstrings of a module."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(tree) if isinstance(node, documented)]
    return [(ast.get_docstring(node) or "").partition("\n")[0] for node in nodes]


@pytest.mark.parametrize("name", MODULES)
def test_sentences_have_a_subject(name):
    """Comments and first lines of docstrings begin with their subject."""
    found = [one for one in list_comments(MODULES[name]) if FRAGMENT.match(one)]
    lines = list_first_lines(TREES[name])
    found += [one for one in lines if FRAGMENT.match(one) or IDLE.search(one)]
    assert [] == found


def test_docstrings_of_tests_have_a_subject():
    """First lines of docstrings of tests and helpers begin with their subject."""
    paths = sorted(Path(__file__).parent.rglob("*.py"))
    trees = [ast.parse(path.read_text("utf-8")) for path in paths]
    lines = [line for tree in trees for line in list_first_lines(tree)]
    assert [] == [one for one in lines if FRAGMENT.match(one) or IDLE.search(one)]


def test_names_of_functions_have_one_meaning():
    """Few names stand for functions of two modules."""
    places = defaultdict(set)
    for name, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
                places[node.name.lstrip("_")].add(name)
    shared = [one for one, modules in places.items() if len(modules) > 1]
    assert len(shared) <= MOST_SHARED_NAMES, sorted(shared)


# Attributes that begin with _ of another object, outside its class and its module.
MOST_PRIVATE_USES = 5
FOREIGN = {"_replace", "_asdict", "_meta", "_getframe", "_strip_protocol"}  # of other libraries
FOREIGN |= {"_ArgumentGroup", "_ActionsContainer"}
ACCESSORS = {"accessor.py", "methods.py", "scanned.py"}  # one class and its heirs


def list_private_uses(tree):
    """Return the private attributes that a module uses but does not define."""
    nodes = [*ast.walk(tree)]
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    uses = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr[:1] == "_"]
    by_self = [one for one in uses if ast.unparse(one.value) in ("self", "cls", "super()")]
    own |= FOREIGN | {one.attr for one in by_self}
    return [ast.unparse(one) for one in uses if one.attr not in own and one.attr[:2] != "__"]


def test_private_attributes_stay_in_their_module():
    """Hardly a module uses an attribute of another module's object that begins with _."""
    found = [
        use
        for name, tree in TREES.items()
        if name not in ACCESSORS
        for use in list_private_uses(tree)
    ]
    assert len(found) <= MOST_PRIVATE_USES, found


ROWS = pd.DataFrame(
    {
        "user": np.repeat(np.arange(20), 10),
        "item": np.arange(200),
        "score": np.sin(np.arange(200)),
        "b_score": np.cos(np.arange(200)),
        "relevant": np.arange(200) % 3 == 0,
    }
)
ONE = ROWS.drop(columns="b_score")
TRUTH = ROWS.loc[ROWS["relevant"], ["user", "item"]]
# The files and functions of the package that a call goes through.
ROADS = {
    "recall": (lambda path: ONE.rec.recall(k=4), 28, 143),
    "ndcg": (lambda path: ONE.rec.mean("ndcg@4"), 29, 162),
    "compare": (lambda path: ROWS.rec.compare("recall@4"), 33, 180),
    "truth": (lambda path: ONE.drop(columns="relevant").rec(truth=TRUTH).recall(k=4), 36, 199),
    "a file": (lambda path: main(["evaluate", path, "-m", "recall@4", "-q"]), 52, 315),
}


@pytest.mark.parametrize("road", ROADS)
def test_roads_are_short(road, tmp_path, monkeypatch, capsys):
    """A call goes through few files and functions, so that a reader can follow it."""
    monkeypatch.setenv("RECFRAME_MAX_THREADS", "1")  # Calls in other threads are not seen.
    call, most_files, most_functions = ROADS[road]
    path = str(tmp_path / "rows.parquet")
    ONE.to_parquet(path)
    seen = set()

    def see(frame, event, _):
        code = frame.f_code
        if (
            event == "call"
            and code.co_filename.startswith(str(PACKAGE))
            and "<" not in code.co_name
        ):
            seen.add((code.co_filename, code.co_qualname))

    call(path)  # Caches are filled.
    profile = sys.getprofile()
    sys.setprofile(see)
    try:
        call(path)
    finally:
        sys.setprofile(profile)
    capsys.readouterr()
    n_files = len({name for name, _ in seen})
    assert n_files <= most_files, n_files
    assert len(seen) <= most_functions, len(seen)
