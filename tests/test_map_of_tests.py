"""The tables of tests/README.md have a module of tests for every public name."""

import ast
import re

import pytest

from map_of_tests import README, TABLES, TESTS, find_places, render

PLACES = find_places()


@pytest.mark.parametrize(("kind", "name"), PLACES)
def test_every_name_has_tests(kind, name):
    """Each name has a module, and each of its modules uses the name."""
    assert PLACES[kind, name]
    if kind == "engine":
        return
    for path in PLACES[kind, name]:
        text = (TESTS / path).read_text("utf-8")
        docstring = ast.get_docstring(ast.parse(text), clean=False)
        assert re.search(rf"\b{name}\b", text.replace(docstring, "")), path


def test_the_tables_are_up_to_date():
    """The README of the tests has the tables as the docstrings of the tests give them."""
    text = README.read_text("utf-8")

    assert render(text) == text


def test_a_name_without_tests_is_noticed(monkeypatch):
    """A new option has no module until a docstring has its name."""
    monkeypatch.setitem(TABLES, "option", (["new_option"], TABLES["option"][1]))

    assert [] == find_places()["option", "new_option"]
