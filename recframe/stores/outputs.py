"""Outputs, here and in stores: never incomplete, and never among the files that are read."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO

from pyarrow.fs import copy_files

from recframe.errors import show_path, unreadable
from recframe.other_tables import PathLike
from recframe.stores import ENVIRONMENT, check_kind, expand_path, identify, is_uri, show_uri
from recframe.stores.listings import is_match, look_up
from recframe.stores.store import HERE, Store, locate

# Object stores: a file appears only when its upload completes.
OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "oci", "memory"}


@contextmanager
def whole_file(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a file next to `path`, which is renamed to `path` once it is complete.

    Its name is random, so that neither another run nor a leftover file is in the way. If `path` is
    a link, its target is replaced. The permissions of an old file are kept.
    """
    where = expand_path(os.fspath(path))
    if is_uri(where):
        with _uploaded(where) as file:
            yield file
        return
    try:
        target = Path(os.path.realpath(where))
        partial = target.with_name(f".recframe-{secrets.token_hex(8)}{target.suffix}")
        if target.is_dir():
            raise IsADirectoryError("it is a folder")
        if target.exists():
            check_kind(os.fspath(target), target.stat(), "write")
            target.open("ab").close()  # A rename would replace a read-only file.
        file = partial.open("xb")  # This raises before the work if it cannot be written.
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
    except OSError as error:
        raise unreadable(path, error.strerror or error, "write") from error


@contextmanager
def _uploaded(uri: str) -> Iterator[IO[bytes]]:
    """Open a file of this machine, which is sent to a store once it is complete."""
    store, key = locate(uri, ENVIRONMENT, {}, "write")
    with store.reaching(key, "write"):
        if store.is_web:
            raise OSError(
                "a web server accepts no files. Write to this machine, or to a store such as s3://."
            )
        asked = [key, *([store.root] if store.handler is None and store.root.strip("/") else [])]
        kinds = [info.type.name for info in store.filesystem.get_file_info(asked)]
        if kinds[0] == "Directory":
            raise IsADirectoryError("it is a folder")
        if "NotFound" in kinds[1:]:
            raise OSError(f"the bucket {store.root} does not exist")
    with tempfile.TemporaryDirectory(prefix="recframe-") as folder:
        path = Path(folder) / "output"
        with path.open("xb") as file:
            yield file
        # A thread sends it: an interrupted upload would be closed and leave an incomplete file.
        with ThreadPoolExecutor(1) as pool, store.reaching(key, "write"):
            pool.submit(_upload, store, os.fspath(path), key).result()


def _upload(store: Store, path: str, key: str) -> None:
    """Send a file; if the store would show it incomplete, send it next to its place and move it."""
    name, place = PurePosixPath(key), key
    if OBJECT_STORES.isdisjoint(store.protocols):
        suffix = f".recframe-{secrets.token_hex(8)}{name.suffix}"
        place = f"{key[: len(key) - len(name.name)]}{suffix}"
    try:
        if store.handler is not None:  # A failed stream would leave a file.
            store.handler.fs.put_file(path, place)
        else:
            copy_files(path, place, HERE.filesystem, store.filesystem)
        if place != key:
            store.filesystem.move(place, key)
    except BaseException:
        if place != key:
            with suppress(Exception):
                store.filesystem.delete_file(place)
        raise


def check_apart(path: PathLike, read: Iterable[str], given: Iterable[str]) -> None:
    """Raise if an output is a file that is read, or if the paths in `given` would find it."""
    where, same = expand_path(os.fspath(path)), None
    if is_uri(where):
        given = filter(is_uri, given)
        same = next((where for other in read if show_uri(other) == show_uri(where)), None)
    else:
        read = [other for other in map(expand_path, read) if not is_uri(other)]
        given = [folder for folder in map(expand_path, given) if not is_uri(folder)]
        if os.path.isfile(where):  # noqa: PTH113 - it raises nothing
            own = identify(where)
            same = next((other for other in read if identify(other) == own), None)
    if same is not None:
        also = "" if same == where else f", named {show_path(same)}"
        raise unreadable(path, f"it is an input{also}. Write to another file.", "write")
    if (folder := next((one for one in given if would_find(one, where)), None)) is not None:
        why = f"the next call would read it, because {show_path(folder)} names it too. "
        raise unreadable(path, f"{why}Write it elsewhere.", "write")


def would_find(given: str, path: str) -> bool:
    """Return whether a file, folder or pattern would find a path, which may not exist yet.

    Both are URIs, or neither is one.
    """
    if is_uri(path):
        names, steps = (show_uri(uri).rstrip("/").split("/") for uri in (path, given))
        n = min(3, len(steps))  # the parts of the scheme and the bucket, if there is one
        return names[:n] == steps[:n] and is_match(names[n:], steps[n:])
    folder, below = look_up(HERE, given) or (given, ())
    root, target = (Path(os.path.realpath(end)) for end in (folder, path))
    return target.is_relative_to(root) and is_match(target.parts[len(root.parts) :], below)
