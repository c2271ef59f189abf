"""The shape of the package: who imports whom, what is public, what stays unimported."""

import ast
import subprocess
import sys
from importlib.resources import files

import pytest

import recframe

# module: the modules of recframe it may import. NumPy-only modules never see pandas.
ALLOWED = {
    "errors": set(),
    "kernel": set(),
    "metrics": {"errors", "kernel"},
    "options": {"errors", "metrics"},
    "columns": {"errors", "options"},
    "frames": {"columns", "errors", "kernel", "metrics", "options"},
    "paths": {"errors"},
    "limits": {"errors", "paths"},
    "parquet": {"columns", "errors", "options", "paths"},
    "rows": {"errors", "limits", "parquet"},
    "ids": {"columns", "frames", "kernel", "parquet"},
    "spill": {"errors", "ids"},
    "blocks": {"errors", "limits", "parquet", "rows", "spill"},
    "evaluate": {
        *("blocks", "columns", "errors", "frames", "ids", "kernel", "limits", "metrics"),
        *("options", "parquet", "paths"),
    },
    "ranking": {"columns", "errors", "frames", "kernel", "metrics", "options"},
    "accessor": {"columns", "evaluate", "frames", "metrics", "options", "ranking"},
    "dask": {"columns", "errors", "evaluate", "frames", "metrics", "options"},
    "output": {"errors", "frames"},
    "cli": {"errors", "evaluate", "limits", "metrics", "options", "output"},
    "__main__": {"cli"},
    "__init__": {"accessor", "errors", "evaluate"},
}
NUMPY_ONLY = ("errors", "kernel", "metrics")
OPTIONAL = ("dask", "duckdb", "jinja2", "matplotlib", "polars", "pyspark", "scipy", "torch", "tqdm")


def imports(module):
    """Return the modules that a module of recframe imports, by full name."""
    tree = ast.parse(files(recframe).joinpath(f"{module}.py").read_text("utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    return found


def test_the_table_names_every_module():
    """A new module is entered in the table on arrival."""
    modules = {path.name.removesuffix(".py") for path in files(recframe).iterdir()}

    assert set(ALLOWED) == {name for name in modules if name not in ("py.typed", "__pycache__")}


@pytest.mark.parametrize("module", ALLOWED)
def test_imports_run_one_way(module):
    """A module imports exactly the modules of recframe that the table allows."""
    found = {name.removeprefix("recframe.") for name in imports(module) if "recframe" in name}

    assert ALLOWED[module] == found


@pytest.mark.parametrize("module", NUMPY_ONLY)
def test_counting_and_metrics_never_see_pandas(module):
    """Below the border there are arrays only."""
    assert not {"pandas", "pyarrow"} & {name.split(".")[0] for name in imports(module)}


def test_import_brings_no_optional_library():
    """`import recframe` loads none of the libraries of the extras."""
    code = f"import sys, recframe; print([n for n in {OPTIONAL} if n in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]" == run.stdout.strip()


def test_package_is_typed():
    """Type checkers find the marker in the installed package."""
    assert files(recframe).joinpath("py.typed").is_file()


def test_public_names_exist():
    """Every public name is there."""
    assert all(hasattr(recframe, name) for name in recframe.__all__)
