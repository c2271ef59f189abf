"""Docstrings: valid numpydoc, and their examples true."""

import doctest
import importlib
import inspect
import pkgutil

import pandas as pd
import pytest
from numpydoc.validate import validate

import recframe
import recframe.metrics

MODULES = sorted(module.name for module in pkgutil.iter_modules(recframe.__path__))
METHODS = [
    name
    for name, _ in inspect.getmembers(recframe.RecAccessor, inspect.isfunction)
    if not name.startswith("_") or name == "__call__"
]
PUBLIC = [
    *(f"recframe.{name}" for name in recframe.__all__ if "evaluate" not in name),
    "recframe.evaluate.evaluate",
    "recframe.evaluate.iter_evaluate",
    *(f"recframe.accessor.RecAccessor.{name}" for name in METHODS),
    *(f"recframe.metrics.{name}" for name in ("precision_at_k", "recall_at_k", "r_precision")),
]


@pytest.mark.parametrize("name", PUBLIC)
def test_docstring_is_valid_numpydoc(name):
    """Every check of numpydoc holds for every public object."""
    assert [] == validate(name)["errors"]


@pytest.mark.parametrize("name", [name for name in MODULES if name != "__main__"])
def test_docstring_examples(name):
    """The examples print what they show."""
    module = importlib.import_module(f"recframe.{name}")
    with pd.option_context("display.width", 120):
        failed = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed

    assert 0 == failed
