"""The package's folders import one way, names are public as listed, and extras stay unloaded."""

import ast
import inspect
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from pathlib import Path
from typing import get_type_hints

import pytest

import recframe

# A folder imports only those above it. A module at the top counts as a folder.
FOLDERS = (
    *("errors", "console", "public_calls", "note_kinds", "notes", "conventions"),
    *("other_tables", "text_types", "formats", "kernel", "stores"),
    *("metrics", "options", "frames", "analysis", "files", "methods"),
    *("partitions", "accessor", "scanned", "functions", "polars", "dask", "spark"),
    *("cli", "__init__", "__main__"),
)
ARRAYS_ONLY = {"kernel": {"errors"}, "metrics": {"public_calls", "errors", "kernel"}}
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


def folder_of(module):
    """Return the folder of a module."""
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def imports(module):
    """Return the full names of the modules that a module imports."""
    found = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    return found


@cache
def imported_folders(name):
    """Return the other folders that the modules of a folder import."""
    found = {found for module in MODULES if folder_of(module) == name for found in imports(module)}
    folders = {found.split(".")[1] for found in found if found.startswith("recframe.")}
    return folders - {name}


@cache
def n_levels(name):
    """Return the number of folders on the longest chain of imports from this one."""
    return 1 + max(map(n_levels, imported_folders(name)), default=0)


def test_every_folder_is_in_the_table():
    """Every folder is in the table."""
    assert sorted(FOLDERS) == sorted({folder_of(module) for module in MODULES})


@pytest.mark.parametrize("name", FOLDERS)
def test_folders_import_one_way(name):
    """A folder imports only the folders above it."""
    assert imported_folders(name) <= set(FOLDERS[: FOLDERS.index(name)])


def test_folders_are_few_levels_deep():
    """No chain of imports has more than nine folders."""
    assert 9 >= max(map(n_levels, FOLDERS))


@pytest.mark.parametrize("name", ARRAYS_ONLY)
def test_counting_and_metrics_see_arrays_only(name):
    """The folders kernel and metrics import no library but NumPy."""
    found = {found for module in MODULES if folder_of(module) == name for found in imports(module)}
    libraries = {found.split(".")[0] for found in found} - set(sys.stdlib_module_names)

    assert {"numpy", "recframe"} >= libraries
    assert ARRAYS_ONLY[name] >= imported_folders(name)


def test_the_command_line_reads_by_others():
    """The folder cli imports no library that reads files, and no module that does so directly."""
    found = {found for module in MODULES if folder_of(module) == "cli" for found in imports(module)}
    libraries = {found.split(".")[0] for found in found} - set(sys.stdlib_module_names)

    assert {"numpy", "pandas", "recframe"} == libraries
    assert not {"recframe.files.source_files", "recframe.files.discovery"} & found


def test_modules_of_frames_import_one_way():
    """In the folder frames no module imports one above it, and its constructors are on top."""
    inside = {}
    for module in MODULES:
        if folder_of(module) == "frames":
            tree, name = ast.parse(module.read_text("utf-8")), module.relative_to(PACKAGE.parent)
            # Imports for type checkers alone are not at the top of a module.
            found = [node.module for node in tree.body if isinstance(node, ast.ImportFrom)]
            used = {one for one in found if one.startswith("recframe.frames.")}
            inside[".".join(name.with_suffix("").parts)] = used
    in_order = TopologicalSorter(inside).static_order()  # raises if imports are circular
    constructors = {name for name in in_order if "constructors." in name}

    assert all(name in constructors or not constructors & inside[name] for name in inside)


def test_import_brings_no_optional_library():
    """`import recframe` loads no library of the extras."""
    code = f"import sys, recframe; print([n for n in {OPTIONAL} if n in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]" == run.stdout.strip()


def test_frames_load_no_other_engine():
    """`import recframe` and tables of frames load no code for files or other engines."""
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

    assert {"files", "files.limits", "files.trec"} == {
        name for name in loaded if name.split(".")[0] == "files"
    }
    assert not {name.split(".")[0] for name in loaded} & OTHERS


def test_package_is_typed():
    """Type checkers find the marker in the installed package."""
    assert (PACKAGE / "py.typed").is_file()


def test_public_names_exist():
    """Every public name exists."""
    assert all(hasattr(recframe, name) for name in recframe.__all__)


def test_completion_offers_public_names():
    """Completion of `recframe.` shows the public names and no modules."""
    assert set(recframe.__all__) == {name for name in dir(recframe) if name[:2] != "__"}
    assert "__version__" in dir(recframe)


def test_types_of_public_calls_are_found():
    """`typing` resolves the types of arguments and results of all public calls."""
    assert recframe.__getattr__("scanned") is recframe.scanned
    public = [getattr(recframe, name) for name in recframe.__all__]
    public += [getattr(recframe.metrics, name) for name in recframe.metrics.__all__]
    for owner in (recframe.RecAccessor, recframe.scanned.ScannedRecAccessor):
        public += [member for name, member in inspect.getmembers(owner) if name[0] != "_"]
    for call in filter(inspect.isfunction, public):
        assert "return" in get_type_hints(call)
