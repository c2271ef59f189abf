"""The shape of the package: which room imports which, what is public, what stays unimported."""

import ast
import inspect
import subprocess
import sys
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import get_type_hints

import pytest

import recframe

# A room imports only what stands above it. A module at the top is a room of its own.
ROOMS = (
    *("errors", "console", "disk", "calls", "notes", "conventions"),
    *("foreign", "cells", "formats", "kernel", "stores"),
    *("metrics", "options", "frames", "analysis", "files", "methods"),
    *("partitions", "accessor", "scanned", "functions", "polars", "dask", "spark"),
    *("cli", "__init__", "__main__"),
)
ARRAYS_ONLY = {"kernel": {"errors"}, "metrics": {"calls", "errors", "kernel"}}
OPTIONAL = (
    *(
        "aiohttp",
        "dask",
        "deltalake",
        "duckdb",
        "fsspec",
        "jinja2",
        "matplotlib",
        "polars",
        "pyspark",
        "scipy",
        "torch",
    ),
    "tqdm",
)
OTHERS = {"cli", "dask", "formats", "polars", "scanned", "spark", "stores"}
PACKAGE = Path(str(files(recframe)))
MODULES = sorted(PACKAGE.rglob("*.py"))


def room(module):
    """Return the room that a module lies in."""
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def imports(module):
    """Return the modules that a module imports, by full name."""
    found = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    return found


@cache
def imported_rooms(name):
    """Return the other rooms that the modules of a room import."""
    found = {found for module in MODULES if room(module) == name for found in imports(module)}
    rooms = {found.split(".")[1] for found in found if found.startswith("recframe.")}
    return rooms - {name}


@cache
def n_levels(name):
    """Return how many rooms lie one upon the other down from this one."""
    return 1 + max(map(n_levels, imported_rooms(name)), default=0)


def test_every_room_is_in_the_table():
    """A new room is entered in the table on arrival."""
    assert sorted(ROOMS) == sorted({room(module) for module in MODULES})


@pytest.mark.parametrize("name", ROOMS)
def test_rooms_import_one_way(name):
    """A room imports no room but those above it."""
    assert imported_rooms(name) <= set(ROOMS[: ROOMS.index(name)])


def test_rooms_are_few_levels_deep():
    """No room stands on more than eight others."""
    assert 9 >= max(map(n_levels, ROOMS))


@pytest.mark.parametrize("name", ARRAYS_ONLY)
def test_counting_and_metrics_see_arrays_only(name):
    """Below the border there is NumPy only."""
    found = {found for module in MODULES if room(module) == name for found in imports(module)}
    libraries = {found.split(".")[0] for found in found} - set(sys.stdlib_module_names)

    assert {"numpy", "recframe"} >= libraries
    assert ARRAYS_ONLY[name] >= imported_rooms(name)


def test_the_command_line_reads_by_others():
    """The command line parses, calls and prints: no library that reads a format is among it."""
    found = {found for module in MODULES if room(module) == "cli" for found in imports(module)}
    libraries = {found.split(".")[0] for found in found} - set(sys.stdlib_module_names)

    assert {"numpy", "pandas", "recframe"} == libraries
    assert not {"recframe.files.found", "recframe.files.sources"} & found


def test_import_brings_no_optional_library():
    """`import recframe` loads none of the libraries of the extras."""
    code = f"import sys, recframe; print([n for n in {OPTIONAL} if n in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]" == run.stdout.strip()


def test_frames_load_no_other_engine():
    """`import recframe` and tables of frames load neither the engine over files nor any other."""
    code = """if True:
        import sys, pandas as pd, pyarrow as pa, recframe
        frame = pd.DataFrame({"user": [1], "item": [1], "score": [1], "relevant": [1]})
        for table in (frame, pa.table(frame)):
            recframe.evaluate(table, "recall@1", truth=frame, exclude=frame.assign(item=[2]))
        loaded = {name.removeprefix("recframe.") for name in sys.modules if "recframe." in name}
        print(*sorted(loaded))
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = run.stdout.split()

    assert {"files", "files.budget", "files.trec"} == {
        name for name in loaded if name.split(".")[0] == "files"
    }
    assert not {name.split(".")[0] for name in loaded} & OTHERS


def test_package_is_typed():
    """Type checkers find the marker in the installed package."""
    assert (PACKAGE / "py.typed").is_file()


def test_public_names_exist():
    """Every public name is there."""
    assert all(hasattr(recframe, name) for name in recframe.__all__)


def test_completion_offers_public_names():
    """What follows `recframe.` in a notebook are the public names, and none of its modules."""
    assert set(recframe.__all__) == {name for name in dir(recframe) if name[:2] != "__"}
    assert "__version__" in dir(recframe)


def test_types_of_public_calls_are_found():
    """What arguments and results are is there for all that reads it, as `typing` does."""
    assert recframe.__getattr__("scanned") is recframe.scanned
    public = [getattr(recframe, name) for name in recframe.__all__]
    public += [getattr(recframe.metrics, name) for name in recframe.metrics.__all__]
    for owner in (recframe.RecAccessor, recframe.scanned.ScannedRecAccessor):
        public += [member for name, member in inspect.getmembers(owner) if name[0] != "_"]
    for call in filter(inspect.isfunction, public):
        assert "return" in get_type_hints(call)
