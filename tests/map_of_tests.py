"""The tables of tests/README.md: `python -m tests.map_of_tests` writes them anew.

A module of tests is the place for each name that its docstring writes as in `TABLES`.
"""

import ast
import inspect
import re
from pathlib import Path

import recframe
from recframe.cli import COMMANDS
from recframe.methods import RankingMethods
from recframe.metrics.definitions import DEFINITIONS
from recframe.options import DEFAULTS

TESTS = Path(__file__).parent
README = TESTS / "README.md"
PACKAGE = Path(recframe.__file__).parent
BEGIN = "<!-- The tables begin here. Write them anew with: python -m tests.map_of_tests -->\n"
METRICS = list(DEFINITIONS)
METHODS = [name for name in dir(RankingMethods) if name[0] != "_" and name not in METRICS]
FUNCTIONS = [name for name in recframe.__all__ if name[0].islower() and name != "metrics"]
# The arguments of calls on tables of users and on files that are no options.
CALLS = (recframe.compare, recframe.scan)
ARGUMENTS = [name for call in CALLS for name in list(inspect.signature(call).parameters)[1:]]
# Modules with an accessor.
ENGINES = [
    path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for path in sorted(PACKAGE.rglob("*.py"))
    if re.search(r"^class \w*RecAccessor\(", path.read_text("utf-8"), re.MULTILINE)
]
IN_BACKTICKS = r"`{}([@=(][^`]*)?`"
# The names in each table, and the form in which a docstring writes them.
TABLES = {
    "option": (list(DEFAULTS), IN_BACKTICKS),
    "metric": (METRICS, IN_BACKTICKS),
    "method": (["mean", *METHODS], r"\bdf\.rec\.{}\b"),
    "function": (FUNCTIONS, r"\brecframe\.{}\b"),
    "argument": ([name for name in ARGUMENTS if name not in DEFAULTS], IN_BACKTICKS),
    "command": (list(COMMANDS), r"\brecframe {}\b"),
    "engine": (ENGINES, r"\brecframe\.{}\b"),
}


def find_places():
    """Return the modules of each name of each table."""
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(TESTS.rglob("test_*.py"))}
    docstrings = {path: ast.get_docstring(tree) or "" for path, tree in trees.items()}
    return {
        (kind, name): [
            path.relative_to(TESTS).as_posix()
            for path, docstring in docstrings.items()
            if re.search(form.format(name), docstring)
        ]
        for kind, (names, form) in TABLES.items()
        for name in names
    }


def render(text):
    """Return the text of a README with the tables of the tests as they are."""
    places = find_places()
    lines = []
    for kind, (names, _) in TABLES.items():
        lines += ["", f"| {kind} | tests |", "| --- | --- |"]
        links = {name: ", ".join(f"[{one}]({one})" for one in places[kind, name]) for name in names}
        lines += [f"| `{name}` | {links[name]} |" for name in names]
    return text.partition(BEGIN)[0] + BEGIN + "\n".join(lines) + "\n"


if __name__ == "__main__":
    README.write_text(render(README.read_text("utf-8")), "utf-8")
