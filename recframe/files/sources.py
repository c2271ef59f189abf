"""The sources of files: paths, objects of Arrow and deltalake, and staged rows.

Rows without footers are staged: written once as parquet, which the rest of the engine reads. Small
staged rows are in memory, others in a temporary file without a name.
"""

from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from weakref import finalize

import pyarrow as pa
import pyarrow.parquet as pq

from recframe.cells import Known, read_until_known
from recframe.disk import as_dataset
from recframe.errors import RecframeError
from recframe.files.batches import gather
from recframe.files.budget import Limits, TemporaryRows
from recframe.files.found import (
    TEXTS,
    FilePart,
    Found,
    Staged,
    check_names,
    find_files,
    keep_footers,
    list_files,
    naming_file,
    plain_type,
)
from recframe.foreign import RELATION, is_of, is_source
from recframe.formats import GivenRows, Rows
from recframe.frames.columns import Columns
from recframe.stores import ENVIRONMENT, Access, is_uri, without_file
from recframe.stores.remote import Remote
from recframe.stores.store import Store

STAGED_SHARE = 8  # what part of the memory may hold what is staged
PIECE_SHARE = 64  # the same of a block of text, which is a row group as well
LEAST_PIECE, MOST_PIECE = 1 << 18, 1 << 24  # bytes


def find_source(source: Any, argument: str, access: Access) -> list[Found]:
    """Return the files that are read for a source; a refusal names the argument."""
    if not is_source(source):
        return find_files(source, argument, access)
    if access != ENVIRONMENT:
        raise RecframeError(
            f"storage_options and filesystem are for paths, found {argument} of type "
            f"{type(source).__name__}, which has its own; leave them out"
        )
    if isinstance(source, pa.RecordBatchReader):
        return [Found("the RecordBatchReader", {}, given=GivenRows(source))]
    if is_of(source, *RELATION):
        return [Found("the DuckDB relation", {}, given=GivenRows(source))]
    if not is_of(source, "deltalake", "DeltaTable"):
        return _find_parquet(source) or [Found("the dataset", {}, given=GivenRows(source))]
    dataset, root = as_dataset(source.table_uri, lambda _: source), without_file(source.table_uri)
    if is_uri(root):
        found = _find_stored(dataset, f"{root.rstrip('/')}/")
    else:
        # Older versions of deltalake give a path, with blanks as those of URIs are.
        found = list_files(dataset, Path(root if is_uri(source.table_uri) else unquote(root)))
    return found or [Found(source.table_uri, {}, given=GivenRows(dataset))]


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
    found = [
        file._replace(path=store.show(file.path), remote=Remote(store, file.path))
        for file in list_files(dataset)
    ]
    keep_footers(found)
    return found


def stage(found: list[Found], columns: Columns, limits: Limits) -> list[Found]:
    """Return files with those that have no footer as parquet, in which these columns are."""
    rows_of = [file.rows for file in found]
    if not any(rows_of):
        return found
    names = [str(label) for label in columns.labels]
    ids = [*map(str, columns.users), str(columns.item)]
    n_bytes = max(LEAST_PIECE, min(MOST_PIECE, limits.memory // PIECE_SHARE))
    most = limits.memory // STAGED_SHARE
    known = Known(n_bytes // 2, limits.memory, ids)  # as Arrow reads many blocks ahead
    known.flags = {str(columns.relevant)}

    def stage_all(known: Known) -> list[Found]:
        """Return the files; all of them share the known types."""
        staging = TemporaryRows(most, limits.folder)
        written = pa.PythonFile(staging, "r")  # of which several threads may read parts
        finalize(written, staging.close)
        try:
            return [
                one if rows is None else _stage(one, rows, names, known, staging, written)
                for one, rows in zip(found, rows_of, strict=True)
            ]
        except BaseException:
            staging.close()
            raise

    return read_until_known(stage_all, known)


def _stage(
    found: Found,
    rows: Rows,
    names: list[str],
    known: Known,
    staging: TemporaryRows,
    written: pa.NativeFile,
) -> Found:
    """Return a file of rows as parquet."""
    with naming_file(found.path):
        known.path, schema = found.path, rows.read_schema(known.memory)
        names = list(dict.fromkeys([*names, *found.looked_at]))
        stored = [name for name in names if name in schema.names] or schema.names[:1]
        check_names((name for name in names if name not in found.partitions), schema, found.path)
        n_bytes = 2 * known.n_bytes
        batches = gather(map(_storable, rows.iter_batches(stored, known)), n_bytes)
        first = next(batches, None)
        own = pa.schema(map(schema.field, stored)) if first is None else first.schema
        texts = [field.name for field in own if plain_type(field.type) in TEXTS]
        footers: list[pq.FileMetaData] = []
        start = staging.tell()
        with pq.ParquetWriter(
            pa.PythonFile(staging, "w"),
            own,
            compression="lz4",
            use_dictionary=texts,
            metadata_collector=footers,
        ) as writer:
            for batch in () if first is None else chain([first], batches):
                n_rows = max(1, batch.num_rows * n_bytes // max(1, batch.nbytes))
                writer.write_batch(batch, row_group_size=n_rows)
    for field in own:  # in the types of all rows
        schema = schema.set(schema.get_field_index(field.name), field)
    file = pa.PythonFile(FilePart(written.read_at, start, staging.tell()), "r")
    return found._replace(given=None, remote=None, staged=Staged(file, footers[0], schema))


def _storable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows in types that parquet has."""
    for at, field in enumerate(batch.schema):
        if pa.types.is_string_view(field.type):
            batch = batch.set_column(at, field.name, batch.column(at).cast(pa.large_string()))
    return batch
