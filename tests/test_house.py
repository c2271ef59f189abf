"""The package is plain code: ceilings for its comments, names and reach, which may only fall."""

import ast
import io
import re
import tokenize
from collections import defaultdict
from importlib.resources import files
from pathlib import Path

import pytest

import recframe

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
# Metrics have a formula, and a function of arrays under the same name.
FORMULAS = {"metrics/arrays.py", "metrics/hit_metrics.py", "metrics/position_metrics.py"}
MOST_SHARED_NAMES = 6


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


def test_names_of_functions_have_one_meaning():
    """Few names stand for functions of two modules, but for metrics and their formulas."""
    places = defaultdict(set)
    for name, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
                places[node.name.lstrip("_")].add(name)
    shared = [one for one, modules in places.items() if len(modules) > 1 and modules - FORMULAS]
    assert len(shared) <= MOST_SHARED_NAMES, sorted(shared)
