"""What files are read from: paths, and objects of Arrow and deltalake that stand for rows."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pyarrow as pa

from recframe.files.found import Found, list_files
from recframe.files.paths import PathLike, find_files
from recframe.formats.streams import DatasetRows, ReaderRows
from recframe.lakehouse import as_dataset
from recframe.stores.access import ENVIRONMENT, Access

# Or a pyarrow.dataset.Dataset, or a deltalake.DeltaTable, whose types nothing here imports.
Source: TypeAlias = PathLike | Sequence[PathLike] | pa.RecordBatchReader


def is_source(value: object) -> bool:
    """Return whether an object stands for rows that are read block by block, as files are."""
    return isinstance(value, pa.RecordBatchReader) or any(
        _is_of(value, *kind)
        for kind in (("pyarrow.dataset", "Dataset"), ("deltalake", "DeltaTable"))
    )


def _is_of(value: object, module: str, name: str) -> bool:
    """Return whether an object is of a class, whose module it has then imported."""
    return module in sys.modules and isinstance(value, getattr(sys.modules[module], name))


def find_source(source: Any, argument: str, access: Access = ENVIRONMENT) -> list[Found]:
    """Return the files that are read of a source; what is refused is so by the argument's name."""
    if not is_source(source):
        return find_files(source, argument, access)
    if isinstance(source, pa.RecordBatchReader):
        return [Found("the RecordBatchReader", {}, given=ReaderRows(source))]
    if not _is_of(source, "deltalake", "DeltaTable"):
        return _find_here(source, None) or [Found("the dataset", {}, given=DatasetRows(source))]
    dataset, uri = as_dataset(source), urlsplit(source.table_uri)
    root = Path(url2pathname(uri.path)) if uri.scheme in ("", "file") else None
    found = [] if root is None else _find_here(dataset, root)
    return found or [Found(source.table_uri, {}, given=DatasetRows(dataset))]


def _find_here(dataset: Any, root: Path | None) -> list[Found]:
    """Return the files of a dataset if they are whole parquet files on this machine."""
    import pyarrow.dataset as ds  # only datasets need it

    is_of_files = isinstance(dataset, ds.FileSystemDataset)
    if not is_of_files or not isinstance(dataset.format, ds.ParquetFileFormat):
        return []
    if root is None and dataset.filesystem.type_name != "local":
        return []
    try:
        return list_files(dataset, root)
    except ValueError:  # it is filtered, which only its own reader respects
        return []
