"""Results going out: a file that appears whole or not at all, and means taken in passing."""

import os
import secrets
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from glob import has_magic
from pathlib import Path
from typing import IO, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recframe.disk import Disk, check_kind, identify, identity
from recframe.errors import RecframeError, show_path
from recframe.files.paths import would_find
from recframe.frames.tables import add_up, mean_of_sums, sum_and_count, tidy_table
from recframe.stores import Address, is_uri, show_uri, without_file
from recframe.stores.listings import do_match, search
from recframe.stores.store import uploaded

Target = Path | Address  # what is written to, on this machine or in a store
FILE_ENDINGS = (".parquet", ".csv")


def write_each(
    parts: Iterable[pd.DataFrame],
    file: IO[bytes],
    ending: str,
    tidy: Callable[[pd.DataFrame], pd.DataFrame] = tidy_table,
) -> Generator[pd.DataFrame, None, None]:
    """Yield per-user tables, or what has them, each also added to a file in an ending's format."""
    schema = None  # of a parquet file; the first table decides it
    with ExitStack() as stack:
        for number, part in enumerate(parts):
            rows = tidy(part)
            if ending == ".csv":
                rows.to_csv(file, mode="wb", index=False, header=number == 0)
            else:
                encoded = pa.Table.from_pandas(rows, schema=schema, preserve_index=False)
                if schema is None:
                    schema = encoded.schema
                    writer = stack.enter_context(pq.ParquetWriter(file, schema))
                writer.write_table(encoded)
            yield part
    file.flush()  # what has no room is known before the means are shown


def check_apart(path: Target, read: Iterable[str], given: Iterable[str]) -> None:
    """Raise where an output is a file that is read, or would lie where the paths given find it."""
    if isinstance(path, Address):
        _check_stored_apart(path, read, given)
        return
    where = os.fspath(path)
    read = [other for other in map(without_file, read) if not is_uri(other)]
    given = [folder for folder in map(without_file, given) if not is_uri(folder)]
    if os.path.isfile(where):  # noqa: PTH113 - it raises nothing
        own = identity(where, path.stat())
        for other in read:
            if identify(other) == own:
                also = "" if other == where else f", as {show_path(other)}"
                raise RecframeError(
                    f"cannot write {show_path(path)}: it is read{also}; write to another file"
                )
    for folder in given:
        if would_find(folder, where):
            raise RecframeError(
                f"cannot write {show_path(path)}: it would be read the next time, as "
                f"{show_path(folder)} names it too; write it elsewhere"
            )


def _check_stored_apart(path: Address, read: Iterable[str], given: Iterable[str]) -> None:
    """Raise as `check_apart` does for an output in a store."""
    if show_uri(path) in set(map(show_uri, read)):
        raise RecframeError(f"cannot write {show_path(path)}: it is read; write to another file")
    names = show_uri(path).split("/")
    for folder in filter(is_uri, given):
        steps = show_uri(folder).rstrip("/").split("/")
        n_plain = next((n for n, step in enumerate(steps) if n > 2 and has_magic(step)), len(steps))
        if names[:n_plain] == steps[:n_plain] and do_match(names[n_plain:], steps[n_plain:]):
            raise RecframeError(
                f"cannot write {show_path(path)}: it would be read the next time, as "
                f"{show_path(folder)} names it too; write it elsewhere"
            )


def list_files(path: str) -> list[str]:
    """Return a file, or the files in a folder that are read as one table."""
    if not os.path.isdir(path):  # noqa: PTH112 - it raises nothing
        return [path]
    return [entry.path for entry in search(Disk(), path)]


def whole_file(target: Target) -> AbstractContextManager[IO[bytes]]:
    """Give an open file, which is in its place once it is whole."""
    return uploaded(target) if isinstance(target, Address) else _whole_file(target)


@contextmanager
def _whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Give an open file beside `path`, which is renamed to it once it is whole.

    Its name is its own, so that no other run, nor what one left behind, is in its way. A link
    stays, and what it leads to is replaced; so do the permissions of an old file.
    """
    with _naming_output(path):
        target = Path(os.path.realpath(path))
        partial = target.with_name(f".recframe-{secrets.token_hex(8)}{target.suffix}")
        _check_replaceable(target)
        file = partial.open("xb")  # a path that cannot be written is found before the work
        try:
            with file:
                if target.exists():
                    shutil.copymode(target, partial)
                yield file
            partial.replace(target)
        except BaseException:
            with suppress(OSError):
                partial.unlink()
            raise


def _check_replaceable(target: Path) -> None:
    """Raise where there is something that may not be overwritten."""
    if target.is_dir():
        raise IsADirectoryError("it is a folder")
    if target.exists():
        check_kind(os.fspath(target), target.stat(), "write")
        target.open("ab").close()  # what is read-only is not replaced behind its back


@contextmanager
def _naming_output(path: Path) -> Iterator[None]:
    """Raise what goes wrong with an output as a `RecframeError` that names it."""
    try:
        yield
    except OSError as error:
        raise RecframeError(f"cannot write {show_path(path)}: {error.strerror or error}") from error


class Means(NamedTuple):
    """The means of per-user tables, and how many users each is of, out of how many."""

    means: pd.DataFrame
    n_users: pd.DataFrame
    n_all: int


def mean_of_tables(tables: Iterable[pd.DataFrame]) -> Means:
    """Return the means of per-user tables that come one by one."""
    n_all, parts = 0, []
    for table in tables:
        n_all += len(table)
        parts.append(sum_and_count(table))
    sums = pd.concat(parts)
    means = mean_of_sums(sums)
    n_users = add_up(sums)["count"].to_numpy().reshape(means.shape)
    return Means(means, pd.DataFrame(n_users, means.index, means.columns), n_all)
