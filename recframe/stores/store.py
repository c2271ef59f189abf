"""A store: a filesystem of Arrow, local or remote, and names of its files without secrets."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import quote as quote_url
from urllib.parse import unquote
from weakref import finalize

from pyarrow import ArrowInvalid, PythonFile
from pyarrow.fs import FileInfo, FileSystem, FileType, FSSpecHandler, LocalFileSystem

from recframe.errors import QUERY, USER, RecframeError, first_line, hide, quote, shorten, unreadable
from recframe.stores import Access, as_arrow, expand_path, identify, is_uri, show_uri

WEB = ("http", "https")  # In these, a question mark begins the query.
OF_ARROW = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
SHARED = ("s3", "gcs", "abfs")  # Threads share open files; opening takes a request.
CHANGED = ("mtime", "LastModified", "last_modified", "updated", "created")  # keys of fsspec
LEAST_SECRET = 4  # characters; a shorter value may be part of other words
IN_URLS = "%/:=&?~#+!$,;'@()*[]"  # characters that are not escaped
INSTALL = "install it with pip install 'recframe[cloud]'"

Find = Callable[[int, int], bytes]  # (start, stop) to bytes


class Part(io.RawIOBase):
    """A Python file whose bytes come from a function, such as a part of another file."""

    def __init__(self, size: int, find: Find) -> None:
        super().__init__()
        self._size, self._find, self._at = size, find, 0

    def readable(self) -> bool:
        """Return True: any part can be read."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Set the position, and return it."""
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes."""
        start, left = self._at, max(0, self._size - self._at)
        self._at += left if size is None or size < 0 else min(size, left)
        return self._find(start, self._at) if self._at > start else b""


@contextmanager
def guarded(secrets: frozenset[str]) -> Iterator[None]:
    """Turn an error of a library into an `OSError` without secrets, and without its chain."""
    try:
        yield
    except RecframeError:
        raise
    except Exception as error:  # Any library may raise its own.
        reworded = _reword(error, secrets)
        try:
            raise reworded from None
        finally:  # Raising has set it.
            reworded.__context__ = None


def _reword(error: Exception, secrets: frozenset[str]) -> OSError:
    """Return the `OSError` for an error of a library, without secrets."""
    cause = error.__cause__
    if isinstance(error, FileNotFoundError) and isinstance(cause, Exception):
        # Fsspec raises FileNotFoundError also if there is no server.
        is_other = isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)
        error = cause if is_other or getattr(cause, "status", 404) != 404 else error
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError("no such file")
    text = first_line(error)
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "…")
    return OSError(hide(text))


class Handler(FSSpecHandler):  # type: ignore[misc]  # pyarrow has no types
    """An fsspec filesystem for Arrow. It requests exactly the bytes that are read."""

    def __init__(self, filesystem: Any) -> None:
        super().__init__(filesystem)
        protocol = filesystem.protocol
        self.protocols = {protocol} if isinstance(protocol, str) else {*protocol}
        self.is_web = not self.protocols.isdisjoint(WEB)
        self.secrets = frozenset[str]()
        self._files: dict[str, tuple[int, Find]] = {}

    def _create_file_info(self, path: str, info: dict[str, Any]) -> Any:
        """Return Arrow's description of a file, with its time of change, which libraries name."""
        times = (one for one in map(info.get, CHANGED) if isinstance(one, datetime | float))
        return super()._create_file_info(path, info | {"mtime": next(times, None)})

    def get_file_info_selector(self, selector: Any) -> list[Any]:
        """Return the files in a folder; in a web page, those that it links to."""
        if not self.is_web:
            infos: list[Any] = super().get_file_info_selector(selector)
            return infos
        return [FileInfo(url, FileType.File) for url in self.fs.find(f"{selector.base_dir}/")]

    def open_input_file(self, path: str) -> Any:
        """Return an open file; several threads may open the same."""
        self._files[path] = known = self._files.get(path) or self._find_parts(path)
        return PythonFile(Part(*known), "r")

    def _find_parts(self, path: str) -> tuple[int, Find]:
        """Return the size of a file, and a function that requests a part of it."""
        info = self.fs.info(path)
        if info["type"] != "file":
            raise IsADirectoryError("it is a folder")
        size: int = info.get("size") or 0

        def find(start: int, stop: int) -> bytes:
            with guarded(self.secrets):
                if not self.is_web:
                    return bytes(self.fs.cat_file(path, start=start, end=stop))
                with self.fs.open(path, size=size, cache_type="none") as file:
                    file.seek(start)
                    return bytes(file.read(stop - start))

        try:
            if not self.is_web or (size > 1 and find(size - 1, size)):
                return size, find
        except OSError as error:  # Some web servers send only whole files.
            if "range" not in str(error):
                raise
        copied = tempfile.TemporaryFile()  # noqa: SIM115
        finalize(self, copied.close)
        self.fs.get_file(path, copied)
        copy = PythonFile(copied, "r")
        return copy.size(), lambda start, stop: copy.read_at(stop - start, start)


class Store:
    """An Arrow filesystem, the names of its paths, and the secrets to hide in them."""

    def __init__(
        self,
        filesystem: Any,
        root: str = "",
        shown: str = "",
        secrets: frozenset[str] = frozenset(),
    ) -> None:
        self.filesystem, self.root, self._shown, self.secrets = filesystem, root, shown, secrets
        self.is_here = isinstance(filesystem, LocalFileSystem)
        handler = getattr(filesystem, "handler", None)
        self.handler = handler if isinstance(handler, Handler) else None  # None for Arrow's own
        own = getattr(filesystem, "type_name", "")
        self.protocols = {own} if self.handler is None else self.handler.protocols
        self.is_web = self.handler is not None and self.handler.is_web
        if self.handler is not None:
            self.handler.secrets = secrets
        self.versions: dict[str, tuple[Any, Any]] = {}  # size and time of change of listed files
        self._asked: list[Any] = []
        self.listed: list[str] = []  # folders whose whole contents are known
        self.tables: dict[str, str] = {}  # kinds of tables by folder, "" for no table
        self.ends: dict[str, tuple[int, bytes]] = {}  # sizes of files and their footers
        self.opened: dict[str, Any] = {}  # files that threads share

    def show(self, key: str) -> str:
        """Return the name of a path in this store, without secrets."""
        return key if self.is_here else show_uri(f"{self._shown}{key.removeprefix(self.root)}")

    def ask(self, asked: Any) -> list[Any]:
        """Return Arrow's descriptions of paths, or of everything that a selector finds."""
        infos: list[Any] = self.filesystem.get_file_info(asked)
        self.versions |= {info.path: (info.size, info.mtime_ns) for info in infos}
        self._asked.append(asked)
        return infos

    def ask_again(self) -> dict[str, tuple[Any, Any]]:
        """Return the versions that the same requests find now."""
        with self.reaching(self.root):
            if self.handler is not None:
                self.handler.fs.invalidate_cache()
            infos = [info for asked in self._asked for info in self.filesystem.get_file_info(asked)]
        return {info.path: (info.size, info.mtime_ns) for info in infos}

    @contextmanager
    def reaching(self, key: str, act: str = "read") -> Iterator[None]:
        """Turn an error into a `RecframeError` that names the path."""
        try:
            with guarded(self.secrets):
                yield
        except OSError as error:
            message = shorten(first_line(error), len(INSTALL))  # It may end with INSTALL.
            raise unreadable(self.show(key), message, act) from error


class Location(NamedTuple):
    """A path in a store."""

    store: Store
    key: str

    def identify(self) -> object:
        """Return the identity of the file or folder, the same under all its names."""
        return identify(self.key) if self.store.is_here else self

    def open(self) -> Any:
        """Return the file, opened by Arrow."""
        filesystem, opened = self.store.filesystem, self.store.opened.get(self.key)
        if filesystem.type_name not in SHARED:
            with guarded(self.store.secrets):
                return filesystem.open_input_file(self.key)
        if opened is None or opened.closed:
            self.store.opened[self.key] = opened = filesystem.open_input_file(self.key)
        return opened


HERE = Store(LocalFileSystem())
NOWHERE = Location(HERE, "")  # the place of rows that are no file


def find_version(place: Location) -> object:
    """Return the size and time of change of a listed file, or None if they are not known."""
    if not place.store.is_here:
        return place.store.versions.get(place.key)
    with suppress(OSError):
        found = os.stat(place.key)  # noqa: PTH116 - it takes half the time
        return found.st_size, found.st_mtime_ns
    return None


def check_unchanged(files: Sequence[Any], versions: Sequence[object]) -> None:
    """Raise if a file has changed, or its entry in a new listing of its store."""
    stores = {one.place.store for one in files}
    listed = {store: store.ask_again() for store in stores if not store.is_here}
    for file, version in zip(files, versions, strict=True):
        store, key = file.place
        now = listed[store].get(key) if store in listed else find_version(file.place)
        if version not in (None, now):
            message = "it changed while it was read. Pass its path again once it is written."
            raise unreadable(file.path, message)


@contextmanager
def unchanged(files: Sequence[Any]) -> Iterator[None]:
    """Raise at the end if a file has changed since the beginning."""
    versions = [find_version(one.place) for one in files]
    yield
    check_unchanged(files, versions)


def locate(path: str, access: Access, stores: dict[str, Store], act: str = "read") -> Location:
    """Return the place of a path; each store is opened once and kept in `stores`."""
    if not access.leads_away(path):
        return Location(HERE, expand_path(path))
    if access.filesystem is not None:
        store = stores.setdefault("filesystem", Store(access.filesystem))
        if store.handler is not None:
            return Location(store, str(store.handler.fs._strip_protocol(path)))
        if is_uri(path):
            why = "with a filesystem of pyarrow, a path must have no scheme, such as "
            raise unreadable(path, f"{why}'bucket/folder/file.parquet'", act)
        return Location(store, path.rstrip("/") or path)
    is_web = path.partition("://")[0] in WEB
    at = path.find("?") if is_web else next((one.start() for one in QUERY.finditer(path)), -1)
    whole, query = (path, "") if at < 0 else (path[:at], path[at:])
    scheme, rest = whole.split("://", 1)
    host, slash, below = rest.partition("/")
    if (user := USER.match(path)) and "/" in user[2]:
        raise unreadable(path, "write a slash before the @ as %2F", act)
    base, of_base = f"{scheme}://{host}", "" if is_web else query
    if base + of_base not in stores:
        stores[base + of_base] = _open(base, of_base, access, f"{base}/{below}", act)
    store = stores[base + of_base]
    if is_web:  # Addresses of folders end in a slash.
        return Location(store, quote_url(f"{store.root}{slash}{below}{query}", safe=IN_URLS))
    gap = "" if not store.root or not below or store.root.endswith("/") else "/"
    return Location(store, f"{store.root}{gap}{below.rstrip('/')}")


def _open(base: str, query: str, access: Access, path: str, act: str) -> Store:
    """Return the store of a URI, passed without its path; messages name the whole `path`."""
    scheme, host = base.split("://", 1)
    user, _, name = host.rpartition("@")
    is_container = scheme in ("abfs", "abfss") and ":" not in user
    shown = base if is_container else f"{scheme}://{name}"
    secrets = _find_secrets(access.storage_options)
    secrets |= {one.partition("=")[2] for one in query[1:].split("&")}
    secrets |= set() if is_container else {*user.split(":")}
    secrets |= {unquote(secret) for secret in secrets}
    kept = frozenset(secret for secret in secrets if len(secret) >= LEAST_SECRET)
    with Store(None, base, shown, kept).reaching(path, act):
        filesystem, root = _open_filesystem(base + query, access.storage_options)
    return Store(filesystem, root, shown, kept)


def _open_filesystem(uri: str, storage_options: Mapping[str, Any] | None) -> tuple[Any, str]:
    """Return the filesystem of a URI and the path in it; Arrow's own if no options are passed."""
    scheme = uri.partition("://")[0]
    if storage_options is None and scheme in OF_ARROW:
        try:
            filesystem, root = FileSystem.from_uri(uri)
            return filesystem, root
        except (ArrowInvalid, NotImplementedError) as error:  # This Arrow may be built without it.
            if isinstance(error, ArrowInvalid) and "nrecognized filesystem" not in str(error):
                raise
    try:
        import fsspec

        filesystem, root = fsspec.core.url_to_fs(uri, **(storage_options or {}))
    except ImportError as error:  # The scheme's library may be missing.
        said = first_line(error)
        if error.name == "fsspec":
            said = f"{scheme}:// is opened by fsspec, which could not be imported ({error})"
        raise OSError(f"{said}; {INSTALL}") from None
    except ValueError as error:
        if "rotocol not known" not in str(error):
            raise
        raise OSError(
            f"neither pyarrow nor fsspec (the extra cloud) knows the scheme {quote(scheme)}. Use "
            "one that they know, such as s3, gs, abfs or https."
        ) from None
    return as_arrow(filesystem), str(root)


def _find_secrets(value: Any) -> set[str]:
    """Return every text in storage_options: each may be a secret."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, Mapping):
        value = list(value.values())
    return set().union(*map(_find_secrets, value)) if isinstance(value, list | tuple) else set()
