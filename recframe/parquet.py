"""Parquet files in: the columns an evaluation needs, as a frame."""

import os
from collections.abc import Hashable, Sequence
from glob import glob
from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyarrow import dataset

from recframe.columns import Columns, find_columns
from recframe.errors import RecframeError
from recframe.options import Options

PathLike = str | os.PathLike[str]


def read_frame(
    paths: PathLike | Sequence[PathLike], options: Options
) -> tuple[pd.DataFrame, Columns]:
    """Return the rows of parquet files, only the columns these options need, and their roles."""
    files = _open(paths)
    # The schema alone tells which columns play which role.
    columns = find_columns(files.schema.empty_table().to_pandas(), options)
    labels: list[Hashable] = [columns.user, columns.item, columns.relevant, *columns.scores]
    try:
        table = files.to_table(columns=[label for label in labels if label is not None])
    except (pa.ArrowException, OSError) as error:
        raise RecframeError(f"cannot read {_named(paths)}: {_first_line(error)}") from error
    return table.to_pandas(), columns


def _open(paths: PathLike | Sequence[PathLike]) -> dataset.Dataset:
    """Return the dataset of the files that paths name."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise RecframeError("path: no file named, found an empty list")
    found = [name for path in given for name in _expand(os.fspath(path))]
    try:
        files = dataset.dataset(
            found[0] if len(found) == 1 else found, format="parquet", partitioning="hive"
        )
    except (pa.ArrowException, OSError) as error:
        raise RecframeError(f"cannot read {_named(paths)}: {_first_line(error)}") from error
    if not files.files:
        raise RecframeError(f"cannot read {_named(paths)}: no parquet file in that folder")
    return files


def _expand(path: str) -> list[str]:
    """Return the files of a glob pattern, or the path itself."""
    if Path(path).exists():
        return [path]
    if found := sorted(glob(path, recursive=True)):  # noqa: PTH207 - a pattern may be absolute
        return found
    raise RecframeError(f"cannot read {path}: no such file")


def _named(paths: PathLike | Sequence[PathLike]) -> str:
    """Return paths as a sentence part."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    more = f" and {len(given) - 1} more" if len(given) > 1 else ""
    return f"{os.fspath(given[0])}{more}"


def _first_line(error: BaseException) -> str:
    """Return what an error says, on one line."""
    return str(error).splitlines()[0].rstrip(".")
