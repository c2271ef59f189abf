"""Docstrings are valid numpydoc, and their examples are true."""

import doctest
import importlib
import inspect
import pkgutil
from pkgutil import resolve_name

import pandas as pd
import pytest
from numpydoc.validate import validate

import recframe
from recframe.metrics.definitions import DEFINITIONS

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(recframe.__path__, prefix="recframe.")
    # The tests in tests/spark check these on Spark.
    if not module.name.startswith("recframe.spark")
)


def methods(accessor):
    """Return the names of an accessor's public methods."""
    members = inspect.getmembers(accessor, inspect.isfunction)
    return [name for name, _ in members if not name.startswith("_") or name == "__call__"]


PUBLIC = [
    *(f"recframe.{name}" for name in recframe.__all__ if name != "metrics"),
    *(f"recframe.accessor.RecAccessor.{name}" for name in methods(recframe.RecAccessor)),
    "recframe.dask.DaskRecAccessor",
    "recframe.dask.DaskRecAccessor.__call__",
    "recframe.polars.PolarsRecAccessor",
    *(f"recframe.polars.PolarsRecAccessor.{name}" for name in ("describe", "judge", "rank")),
    *(f"recframe.metrics.{name}" for name in recframe.metrics.__all__),
]


@pytest.mark.parametrize("name", PUBLIC)
def test_docstring_is_valid_numpydoc(name):
    """Every public object passes every check of numpydoc, with options documented at `evaluate`."""
    with pytest.MonkeyPatch.context() as patch:
        if "**options" in (resolve_name(name).__doc__ or ""):
            patch.delattr(resolve_name(name), "__signature__")
        assert [] == validate(name)["errors"]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_docstring_examples(name):
    """The examples in docstrings print the text shown."""
    module = importlib.import_module(name)
    with pd.option_context("display.width", 120):
        failed = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed

    assert 0 == failed


def test_accessor_lists_its_methods():
    """The docstring of the accessor names each method that is not a metric."""
    names = {one for one in methods(recframe.RecAccessor) if one not in DEFINITIONS} - {"__call__"}

    assert [] == sorted(one for one in names if f"`{one}`" not in recframe.RecAccessor.__doc__)
