"""What files are read from: paths, and objects of Arrow and deltalake that stand for rows."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from recframe.errors import RecframeError
from recframe.files.found import Found, keep_footers, list_files
from recframe.files.paths import find_files
from recframe.foreign import is_of, is_source
from recframe.formats.streams import DatasetRows, ReaderRows
from recframe.lakehouse import as_dataset
from recframe.stores.access import ENVIRONMENT, Access, is_uri, without_file
from recframe.stores.remote import Remote
from recframe.stores.store import Store


def find_source(source: Any, argument: str, access: Access = ENVIRONMENT) -> list[Found]:
    """Return the files that are read of a source; what is refused is so by the argument's name."""
    if not is_source(source):
        return find_files(source, argument, access)
    if access != ENVIRONMENT:
        raise RecframeError(
            f"storage_options and filesystem are for paths, found {argument} of type "
            f"{type(source).__name__}, which has its own"
        )
    if isinstance(source, pa.RecordBatchReader):
        return [Found("the RecordBatchReader", {}, given=ReaderRows(source))]
    if not is_of(source, "deltalake", "DeltaTable"):
        return _find_parquet(source) or [Found("the dataset", {}, given=DatasetRows(source))]
    dataset, root = as_dataset(source), without_file(source.table_uri)
    if is_uri(root):
        found = _find_stored(dataset, f"{root.rstrip('/')}/")
    else:
        # Older versions of deltalake give a path, with blanks as those of URIs are.
        found = list_files(dataset, Path(root if is_uri(source.table_uri) else unquote(root)))
    return found or [Found(source.table_uri, {}, given=DatasetRows(dataset))]


def _find_parquet(dataset: Any) -> list[Found]:
    """Return the files of a dataset if they are parquet files, of which all rows are meant."""
    import pyarrow.dataset as ds  # only datasets need it

    is_of_files = isinstance(dataset, ds.FileSystemDataset)
    if not is_of_files or not isinstance(dataset.format, ds.ParquetFileFormat):
        return []
    try:
        is_here = dataset.filesystem.type_name == "local"
        return list_files(dataset) if is_here else _find_stored(dataset, "")
    except ValueError:  # it is filtered, which only its own reader respects
        return []


def _find_stored(dataset: Any, shown: str) -> list[Found]:
    """Return the files of a dataset in a store, whose paths are shown below an address."""
    store = Store(dataset.filesystem, "", shown)
    found = []
    for file in list_files(dataset):
        remote = Remote(store, file.path)
        found.append(file._replace(path=store.show(file.path), remote=remote))
    keep_footers(found)
    return found
