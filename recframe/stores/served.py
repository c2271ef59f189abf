"""Files of fsspec, of which parts are read with no more than they ask for."""

import os
import tempfile
from threading import Lock
from typing import Any


class OfFsspec:
    """A file of fsspec, which reads ahead by itself where it is opened; here parts are fetched."""

    def __init__(self, filesystem: Any, key: str) -> None:
        self._filesystem, self._key = filesystem, key

    def size(self) -> int:
        """Return its bytes."""
        found = self._filesystem.info(self._key)
        if found["type"] != "file":
            raise IsADirectoryError("it is a folder")
        return int(found["size"])

    def read_at(self, n_bytes: int, start: int) -> bytes:
        """Return bytes of it."""
        return bytes(self._filesystem.cat_file(self._key, start=start, end=start + n_bytes))


class OfWeb:
    """A file of a web server; one that sends no parts of files has it copied to this machine."""

    def __init__(self, filesystem: Any, key: str) -> None:
        self._filesystem, self._key = filesystem, key
        self._lock = Lock()
        size = filesystem.info(key).get("size")
        opened = filesystem.open(key, "rb", size=size, cache_type="none") if size else None
        self._opened: Any = opened if hasattr(opened, "_fetch_range") else None
        self._copy = None if self._opened is not None else self._copied()

    def size(self) -> int:
        """Return its bytes."""
        return os.fstat(self._copy.fileno()).st_size if self._copy else int(self._opened.size)

    def read_at(self, n_bytes: int, start: int) -> bytes:
        """Return bytes of it."""
        if self._copy is None:
            try:
                return bytes(self._opened._fetch_range(start, start + n_bytes))
            except ValueError as error:  # it would begin with the whole file each time
                if "range" not in str(error):
                    raise
                with self._lock:
                    # Another thread may have it by now.
                    self._copy = self._copy or self._copied()  # type: ignore[redundant-expr]
        with self._lock:
            self._copy.seek(start)
            return bytes(self._copy.read(n_bytes))

    def __del__(self) -> None:
        """Let the copy go, without a warning that it was open."""
        if copy := getattr(self, "_copy", None):
            copy.close()

    def _copied(self) -> Any:
        """Return a nameless file with the bytes of this one."""
        copy = tempfile.TemporaryFile()  # noqa: SIM115 - it goes when this one does
        self._filesystem.get_file(self._key, copy)
        copy.flush()
        return copy
