"""Files going to a store: what was written on this machine, there whole or not at all."""

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO

from recframe.errors import RecframeError, show_path
from recframe.stores.access import ENVIRONMENT
from recframe.stores.opening import find_place
from recframe.stores.store import Store

CHUNK = 8 << 20  # bytes


@contextmanager
def uploaded(uri: str) -> Iterator[IO[bytes]]:
    """Give an open file of this machine, which goes to a store once it is whole."""
    store, key = find_place(uri, ENVIRONMENT, {}, "write")
    _check_writable(store, key)
    with tempfile.TemporaryDirectory(prefix="recframe-") as folder:
        path = Path(folder) / "output"
        with path.open("xb") as file:
            yield file
        # In a thread: an interruption would leave what has been sent, which closing makes a file.
        with ThreadPoolExecutor(1) as pool, store.reaching(key, "write"):
            pool.submit(_upload, store, path, key).result()


def _check_writable(store: Store, key: str) -> None:
    """Raise for what is known before the work: a web server, a folder, a bucket that is not."""
    if store.is_web:
        raise RecframeError(
            f"cannot write {show_path(store.show(key))}: a web server takes no files; write one of "
            "this machine, or of a store as s3://"
        )
    with store.reaching(key, "write"):
        asked = [key, *([store.root] if store.of_fsspec is None and store.root.strip("/") else [])]
        kinds = [info.type.name for info in store.filesystem.get_file_info(asked)]
        if kinds[0] == "Directory":
            raise IsADirectoryError("it is a folder")
        if "NotFound" in kinds[1:]:
            raise OSError(f"there is no bucket {store.root}")


def _upload(store: Store, path: Path, key: str) -> None:
    """Send a file; where a part of it would be seen, beside its place, to be moved there."""
    if store.is_whole:
        _send(store, path, key)
        return
    name = PurePosixPath(key)
    beside = f"{key[: len(key) - len(name.name)]}.recframe-{secrets.token_hex(8)}{name.suffix}"
    try:
        _send(store, path, beside)
        store.filesystem.move(beside, key)
    except BaseException:
        with suppress(Exception):
            store.filesystem.delete_file(beside)
        raise


def _send(store: Store, path: Path, key: str) -> None:
    """Send a file."""
    if store.of_fsspec is not None:
        store.of_fsspec.put_file(str(path), key)
        return
    with path.open("rb") as file, store.filesystem.open_output_stream(key) as stream:
        shutil.copyfileobj(file, stream, CHUNK)
