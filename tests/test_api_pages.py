"""The API as HTML pages: they hold every public name with its docstring."""

import html
import importlib
import inspect
import re
import shlex
import subprocess
import sys
from functools import cache
from importlib.util import find_spec

import pytest

import recframe
import recframe.metrics
from recframe.dask import DaskRecAccessor
from recframe.polars import PolarsRecAccessor
from recframe.scanned import ScannedRecAccessor

COMMAND = (
    "pdoc -d numpy -o build/api "
    "recframe recframe.methods recframe.metrics recframe.scanned recframe.dask recframe.polars "
    "recframe.conventions"
)


def methods(accessor):
    """Return the names of an accessor's public methods, its own and inherited ones."""
    return [name for name, _ in inspect.getmembers(accessor, callable) if not name.startswith("_")]


# The module on whose page an object is, and the object's name there.
PUBLIC = [
    *(("recframe", name) for name in recframe.__all__ if name != "metrics"),
    *(("recframe", f"RecAccessor.{name}") for name in methods(recframe.RecAccessor)),
    *(("recframe.metrics", name) for name in recframe.metrics.__all__),
    ("recframe.scanned", "ScannedRecAccessor"),
    *(("recframe.scanned", f"ScannedRecAccessor.{name}") for name in methods(ScannedRecAccessor)),
    ("recframe.dask", "DaskRecAccessor"),
    *(("recframe.dask", f"DaskRecAccessor.{name}") for name in methods(DaskRecAccessor)),
    ("recframe.polars", "PolarsRecAccessor"),
    *(("recframe.polars", f"PolarsRecAccessor.{name}") for name in methods(PolarsRecAccessor)),
]
if find_spec("pyspark"):  # as in the environment that tests Spark
    COMMAND += " recframe.spark"
    accessor = importlib.import_module("recframe.spark").SparkRecAccessor
    PUBLIC += [("recframe.spark", name) for name in ("rec", "SparkRecAccessor")]
    PUBLIC += [("recframe.spark", f"SparkRecAccessor.{name}") for name in methods(accessor)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of the pages, made away from the checkout."""
    pytest.importorskip("pdoc", reason="pdoc is not installed")
    away = tmp_path_factory.mktemp("away")
    subprocess.run([sys.executable, "-m", *shlex.split(COMMAND)], cwd=away, check=True)
    return away / "build" / "api"


@cache
def read(path):
    """Return the HTML of every object on a page by name, and the links of inherited ones."""
    page = path.read_text("utf-8")
    _, *parts = re.split(r'<(?:section|div) id="([\w.]+)"', page)
    links = re.findall(r'<dd id="([\w.]+)"[^>]*><a href="([^"]+)"', page)
    return dict(zip(parts[::2], parts[1::2], strict=True)), dict(links)


def find(module, name):
    """Return a public object."""
    found = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part)
    return found


def letters(text):
    """Return the letters of a text, which no markup changes."""
    return re.sub("[^A-Za-z]", "", text)


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_pages_hold_every_public_name(folder, module, name):
    """The name is on its page with its summary, or links to the class that it comes from."""
    path = folder / f"{module.replace('.', '/')}.html"
    objects, links = read(path)
    summary, *_ = inspect.getdoc(find(module, name)).split("\n\n")
    if name in links:
        page, _, name = links[name].partition("#")
        objects, _ = read(path.parent / (page or path.name))

    assert letters(summary) in letters(html.unescape(re.sub("<[^>]*>", "", objects[name])))
