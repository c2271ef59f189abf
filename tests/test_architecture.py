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
    "groups": set(),
    "places": {"groups"},
    "gains": {"groups"},
    "rankings": {"gains", "groups"},
    "order": {"groups", "places", "rankings"},
    "kernel": {"groups", "order", "places", "rankings"},
    "grades": {"gains", "groups", "kernel", "rankings"},
    "hits": {"groups", "kernel"},
    "positions": {"groups", "kernel"},
    "tally": {"grades", "groups", "hits", "kernel", "positions"},
    "definitions": {"groups", "tally"},
    "labels": {"definitions", "errors"},
    "measure": {"definitions", "grades", "groups", "kernel", "labels", "tally"},
    "metrics": {
        *("definitions", "errors", "groups", "kernel", "labels", "measure", "rankings"),
    },
    "options": {"definitions", "errors"},
    "columns": {"errors", "options"},
    "nulls": {"groups"},
    "users": {"errors", "groups", "nulls"},
    "frames": {
        *("columns", "errors", "gains", "groups", "labels", "nulls", "options", "rankings"),
        "users",
    },
    "tables": {"errors", "groups", "labels"},
    "graded": {
        *("columns", "definitions", "errors", "frames", "gains", "groups", "labels", "options"),
    },
    "paths": {"errors"},
    "limits": {"errors", "paths"},
    "parquet": {"columns", "errors", "options", "paths"},
    "rows": {"errors", "limits", "parquet"},
    "file_ids": {"columns", "groups", "parquet", "users"},
    "spill": {"errors", "file_ids"},
    "blocks": {"errors", "limits", "parquet", "rows", "spill"},
    "ids": {"errors", "groups"},
    "join": {"groups"},
    "truth": {
        *("columns", "errors", "frames", "gains", "graded", "groups", "ids", "join", "options"),
        "users",
    },
    "judged": {"columns", "frames", "groups", "ids", "options", "truth"},
    "lists": {"errors", "groups"},
    "per_user": {
        *("columns", "frames", "graded", "grades", "groups", "kernel", "labels", "measure"),
        *("options", "rankings", "truth", "users"),
        "tables",
    },
    "streamed": {
        *("blocks", "errors", "file_ids", "frames", "graded", "labels", "limits", "options"),
        *("parquet", "paths", "per_user", "truth"),
    },
    "evaluate": {
        *("columns", "definitions", "errors", "file_ids", "labels", "limits", "options", "paths"),
        *("per_user", "streamed"),
    },
    "ranking": {
        *("columns", "errors", "frames", "groups", "kernel", "labels", "options"),
        *("rankings", "truth", "users"),
    },
    "extras": set(),
    "ties": {"groups", "order", "rankings"},
    "describe": {
        *("columns", "errors", "frames", "groups", "kernel", "labels", "measure", "nulls"),
        *("options", "rankings", "tally", "ties", "truth"),
    },
    "notebook": {"extras"},
    "inspection": {
        *(
            "columns",
            "errors",
            "per_user",
            "frames",
            "groups",
            "judged",
            "labels",
            "notebook",
            "options",
        ),
        "ranking",
        "tables",
    },
    "resampling": {"errors", "groups"},
    "summary": {"definitions", "errors", "labels", "resampling"},
    "compare": {"errors", "extras", "groups", "resampling"},
    "metric_methods": {"labels"},
    "accessor": {
        *("columns", "compare", "definitions", "describe", "per_user", "frames", "inspection"),
        *("judged", "labels", "metric_methods"),
        *("notebook", "options", "ranking", "resampling", "summary"),
        "tables",
    },
    "dask_parts": {
        *("columns", "describe", "errors", "frames", "graded", "inspection", "labels", "options"),
        *("per_user", "truth", "users"),
    },
    "dask_tables": {
        *("columns", "dask_parts", "frames", "labels", "metric_methods", "options", "per_user"),
        "tables",
    },
    "dask_analysis": {
        *("columns", "compare", "dask_parts", "dask_tables", "definitions", "describe", "labels"),
        *("resampling", "summary"),
    },
    "dask": {
        *("columns", "dask_analysis", "dask_parts", "dask_tables", "definitions", "errors"),
        *("frames", "inspection", "labels", "notebook", "options", "ranking"),
    },
    "output": {"errors", "tables"},
    "cli": {"definitions", "errors", "evaluate", "labels", "limits", "options", "output"},
    "__main__": {"cli"},
    "__init__": {"accessor", "errors", "evaluate", "lists"},
}
NUMPY_ONLY = (
    *("definitions", "errors", "gains", "grades", "groups", "hits", "join", "kernel", "labels"),
    *(
        "measure",
        "metrics",
        "order",
        "places",
        "positions",
        "rankings",
        "resampling",
        "tally",
        "ties",
    ),
)
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
