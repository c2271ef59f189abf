"""Results going out: files that appear whole or not at all, and never take the place of input."""

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack
from glob import has_magic
from pathlib import Path
from typing import IO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recframe.disk import Disk, identify
from recframe.errors import RecframeError, show_path
from recframe.foreign import PathLike
from recframe.frames.tables import tidy_table
from recframe.stores import is_uri, show_uri, without_file
from recframe.stores.listings import do_match, search

FILE_ENDINGS = (".parquet", ".csv")


def write_each(
    parts: Iterable[pd.DataFrame],
    file: IO[bytes],
    ending: str,
    tidy: Callable[[pd.DataFrame], pd.DataFrame] = tidy_table,
) -> Generator[pd.DataFrame, None, None]:
    """Yield per-user tables, or parts that hold one; add each to a file in an ending's format."""
    writer: pq.ParquetWriter | None = None  # whose schema the first table decides
    with ExitStack() as stack:
        for number, part in enumerate(parts):
            rows = tidy(part)
            if ending == ".csv":
                rows.to_csv(file, mode="wb", index=False, header=number == 0)
            else:
                schema = None if writer is None else writer.schema
                encoded = pa.Table.from_pandas(rows, schema=schema, preserve_index=False)
                if writer is None:  # pages have checksums, which are verified when they are read
                    new = pq.ParquetWriter(file, encoded.schema, write_page_checksum=True)
                    writer = stack.enter_context(new)
                writer.write_table(encoded)
            yield part
    file.flush()  # what has no room is known before the means are shown


def check_apart(path: PathLike, read: Iterable[str], given: Iterable[str]) -> None:
    """Raise where an output is a file that is read, or would lie where the paths given find it."""
    where, same = os.fspath(path), None
    if is_uri(where):
        given = filter(is_uri, given)
        same = next((where for other in read if show_uri(other) == show_uri(where)), None)
    else:
        read = [other for other in map(without_file, read) if not is_uri(other)]
        given = [folder for folder in map(without_file, given) if not is_uri(folder)]
        if os.path.isfile(where):  # noqa: PTH113 - it raises nothing
            own = identify(where)
            same = next((other for other in read if identify(other) == own), None)
    if same is not None:
        also = "" if same == where else f", named {show_path(same)}"
        raise RecframeError(
            f"cannot write {show_path(path)}: it is an input{also}; write to another file"
        )
    if (folder := next((one for one in given if would_find(one, where)), None)) is not None:
        raise RecframeError(
            f"cannot write {show_path(path)}: the next call would read it, because "
            f"{show_path(folder)} names it too; write it elsewhere"
        )


def would_find(given: str, path: str) -> bool:
    """Return whether a file or folder or pattern that is given means a path, there or not.

    Both are URIs, or neither is.
    """
    if is_uri(path):
        names, steps = (show_uri(uri).rstrip("/").split("/") for uri in (path, given))
        n_plain = next((n for n, step in enumerate(steps) if n > 2 and has_magic(step)), len(steps))
        return names[:n_plain] == steps[:n_plain] and do_match(names[n_plain:], steps[n_plain:])
    disk = Disk()
    folder, below = disk.split(given) if disk.look_up(given) is None else (given, ())
    root, target = (Path(os.path.realpath(end)) for end in (folder, path))
    return target.is_relative_to(root) and do_match(target.parts[len(root.parts) :], below)


def list_files(path: str) -> list[str]:
    """Return a file, or the files in a folder that are read as one table."""
    if not os.path.isdir(path):  # noqa: PTH112 - it raises nothing
        return [path]
    return [entry.path for entry in search(Disk(), path)]
