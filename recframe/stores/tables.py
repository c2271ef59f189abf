"""Tables of a lakehouse: a log names their live files.

The folder also has files of earlier versions, so it holds more than the table's rows.
"""

import importlib
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, NoReturn

from recframe.errors import RecframeError, first_line, quote, shorten, show_path, unreadable

# The subfolder by which a table is known; that of Iceberg also has a file with this ending.
MARKS = {"Delta": "_delta_log", "Hudi": ".hoodie", "Iceberg": "metadata"}
NOTE = ".metadata.json"
REMEDIES = {
    "Delta": "pass the folder {root}",
    "Hudi": "read it with Spark and evaluate that DataFrame",
    "Iceberg": "read it with pyiceberg, table.scan().to_pandas(), and evaluate that DataFrame",
}


def refuse_part(path: str, kind: str, root: str, *, is_whole: bool = False) -> NoReturn:
    """Refuse a path that is a table of this kind, or a part of one."""
    table = f"it is {'' if is_whole else 'part of '}the {kind} table {show_path(root)}, where files"
    remedy = REMEDIES[kind].format(root=show_path(root))
    raise unreadable(path, f"{table} of earlier versions are next to the live ones; {remedy}")


def open_delta(root: str) -> Any:
    """Return a Delta table as a dataset of its live files."""
    try:
        deltalake = importlib.import_module("deltalake")
    except ImportError as error:
        why = f"deltalake, which reads Delta tables, could not be imported ({error}). "
        raise unreadable(root, f"{why}Install it with pip install 'recframe[delta]'.") from error
    dataset = as_dataset(root, deltalake.DeltaTable)
    for fragment in dataset.get_fragments():
        path = PurePath(fragment.path)
        if path.is_absolute() or ".." in path.parts or "://" in fragment.path:
            why = "the log of this Delta table names a file outside its folder, "
            remedy = f"to let deltalake read it, pass deltalake.DeltaTable({quote(root)})"
            raise unreadable(root, f"{why}{quote(fragment.path)}; {remedy} to recframe.scan")
    return dataset


def as_dataset(root: str, open_table: Callable[[str], Any]) -> Any:
    """Return a table of deltalake as a dataset, in the version that was opened."""
    try:
        table = open_table(root)
        root = table.table_uri
        mapping = table.metadata().configuration.get("delta.columnMapping.mode", "none")
        if mapping != "none":  # Old protocols would read it as nulls.
            raise ValueError(f"its columns are mapped by {mapping} (columnMapping)")
        return table.to_pyarrow_dataset()
    except Exception as error:  # Invalid JSON raises a bare Exception.
        raise RecframeError(
            f"cannot read the Delta table {show_path(root)}: {shorten(first_line(error))}; if "
            "deltalake lacks a feature of the table, read it with Spark and evaluate that DataFrame"
        ) from error
