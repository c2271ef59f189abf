"""A store: how a filesystem is opened and written to, with its secrets kept out of messages."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple
from urllib.parse import quote as quote_url
from urllib.parse import unquote

from pyarrow.fs import FSSpecHandler

from recframe.disk import check_kind
from recframe.errors import QUERY, USER, RecframeError, hide, quote, shorten, show_path
from recframe.foreign import PathLike
from recframe.stores import ENVIRONMENT, Access, as_arrow, is_uri, show_uri

WEB = ("http", "https")  # whose addresses have no patterns with question marks
# Where what is written is there once it is whole, and not before.
OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "oci", "memory"}
CHANGED = ("mtime", "LastModified", "last_modified", "updated", "created")  # times, in fsspec
OF_ARROW = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
LEAST_SECRET = 4  # characters; a shorter value would be cut out of other words
IN_URLS = "%/:=&?~#+!$,;'@()*[]"  # characters that stay as they are
INSTALL = "install it with pip install 'recframe[cloud]'"
CHUNK = 8 << 20  # bytes


class Handler(FSSpecHandler):  # type: ignore[misc]  # pyarrow has no types
    """A filesystem of fsspec to Arrow, with times of change, which each library names its way."""

    def _create_file_info(self, path: str, info: dict[str, Any]) -> Any:
        """Return Arrow's description of a file."""
        times = (one for one in map(info.get, CHANGED) if isinstance(one, datetime | float))
        return super()._create_file_info(path, info | {"mtime": next(times, None)})


class Store:
    """A filesystem of Arrow's, the names of its paths, and the secrets that they must not have."""

    def __init__(
        self,
        filesystem: Any,
        root: str = "",
        shown: str = "",
        secrets: frozenset[str] = frozenset(),
    ) -> None:
        self.filesystem, self.root, self._shown, self._secrets = filesystem, root, shown, secrets
        self.n_files = 0  # of it that are read
        self.versions: dict[str, tuple[Any, Any]] = {}  # size and time of change of what is listed
        self._asked: list[Any] = []
        handler = getattr(filesystem, "handler", None)
        self.of_fsspec = getattr(handler, "fs", None)  # None where Arrow has its own
        protocols = getattr(self.of_fsspec, "protocol", ()) or getattr(filesystem, "type_name", "")
        protocols = {protocols} if isinstance(protocols, str) else set(protocols)
        self.is_web = not protocols.isdisjoint(WEB)  # which may send whole files only
        self.is_whole = not protocols.isdisjoint(OBJECT_STORES)  # what is written appears so

    def show(self, key: str) -> str:
        """Return the name of a path in it, without secrets."""
        return show_uri(f"{self._shown}{key.removeprefix(self.root)}")

    def list_infos(self, asked: Any) -> list[Any]:
        """Return Arrow's descriptions of paths, or of all that a selector finds."""
        infos: list[Any] = self.filesystem.get_file_info(asked)
        self.versions |= {info.path: (info.size, info.mtime_ns) for info in infos}
        self._asked.append(asked)
        return infos

    def list_again(self) -> dict[str, tuple[Any, Any]]:
        """Return the versions that the same requests find now."""
        now = Store(self.filesystem)
        with self.reaching(self.root):
            if self.of_fsspec is not None:
                self.of_fsspec.invalidate_cache()
            for asked in self._asked:
                now.list_infos(asked)
        return now.versions

    @contextmanager
    def reaching(self, key: str, act: str = "read") -> Iterator[None]:
        """Raise a failure as a `RecframeError` that names the path."""
        try:
            with self.guarded():
                yield
        except OSError as error:
            message = shorten(first_line(error), len(INSTALL))  # which may be at the end
            raise RecframeError(f"cannot {act} {show_path(self.show(key))}: {message}") from error

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Raise an error of a library as an `OSError` without secrets, in its chain too."""
        try:
            yield
        except Exception as error:  # of any library, of the network, of someone's filesystem
            raised = error if isinstance(error, RecframeError) else self._reword(error)
            led = [*filter(None, (raised.__cause__, raised.__context__))]
            for one in led:
                led += [new for new in (one.__cause__, one.__context__) if new and new not in led]
            text = " ".join(f"{one} {one!r}" for one in led)
            is_clean = self.without_secrets(text) == text
            cause, context = (raised.__cause__, raised.__context__) if is_clean else (None, None)
            try:
                raise raised from cause
            finally:  # which raising has set
                raised.__context__ = context

    def _reword(self, error: Exception) -> OSError:
        """Return the `OSError` for an error of a library, without secrets."""
        found, cause = error, error.__cause__
        if isinstance(error, FileNotFoundError) and isinstance(cause, Exception):
            # Fsspec finds no file where there is no server, too.
            is_other = isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)
            found = cause if is_other or getattr(cause, "status", 404) != 404 else error
        is_gone = isinstance(found, FileNotFoundError)
        text = "no such file" if is_gone else self.without_secrets(first_line(found))
        reworded = (FileNotFoundError if is_gone else OSError)(text)
        reworded.__cause__ = reworded.__context__ = error
        return reworded

    def without_secrets(self, text: str) -> str:
        """Return a text without the secrets that open the store."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, "…")
        return hide(text)


class Place(NamedTuple):
    """A path in a store."""

    store: Store
    key: str


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its type."""
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__


def find_place(path: str, access: Access, stores: dict[str, Store], act: str = "read") -> Place:
    """Return where a path leads; stores are kept in `stores`, so that each is opened once."""
    if access.filesystem is not None:
        store = stores.setdefault("", Store(access.filesystem))
        if store.of_fsspec is not None:
            return Place(store, str(store.of_fsspec._strip_protocol(path)))
        if is_uri(path):
            raise RecframeError(
                f"cannot {act} {show_path(path)}: with a filesystem of pyarrow, a path must have "
                "no scheme, such as 'bucket/folder/file.parquet'"
            )
        return Place(store, path.rstrip("/") or path)
    is_web = path.partition("://")[0] in WEB
    at = path.find("?") if is_web else next((one.start() for one in QUERY.finditer(path)), -1)
    whole, query = (path, "") if at < 0 else (path[:at], path[at:])
    scheme, rest = whole.split("://", 1)
    host, slash, below = rest.partition("/")
    if (user := USER.match(path)) and "/" in user[2]:
        raise RecframeError(f"cannot {act} {show_path(path)}: write a slash before the @ as %2F")
    base = f"{scheme}://{host}"
    of_base = "" if is_web else query
    if base + of_base not in stores:
        stores[base + of_base] = _open(base, of_base, access, f"{base}/{below}", act)
    store = stores[base + of_base]
    if is_web:  # whose addresses end in a slash where they are folders
        return Place(store, quote_url(f"{store.root}{slash}{below}{query}", safe=IN_URLS))
    gap = "" if not store.root or not below or store.root.endswith("/") else "/"
    return Place(store, f"{store.root}{gap}{below.rstrip('/')}")


def _open(base: str, query: str, access: Access, path: str, act: str) -> Store:
    """Return the store that a URI without its path leads to; messages name the whole path."""
    scheme, host = base.split("://", 1)
    user, _, name = host.rpartition("@")
    keeps_user = scheme in ("abfs", "abfss") and ":" not in user  # it is a container
    shown = base if keeps_user else f"{scheme}://{name}"
    secrets = _find_secrets(access.storage_options) | {*user.split(":")}
    secrets |= {one.partition("=")[2] for one in query[1:].split("&")}
    secrets |= {unquote(secret) for secret in secrets}
    secrets = {secret for secret in secrets if len(secret) >= LEAST_SECRET}
    if keeps_user:
        secrets.discard(user)
    naming = Store(None, base, shown, frozenset(secrets))
    with naming.reaching(path, act):
        found = _of_arrow(base + query) if access.storage_options is None else None
        if found is None:
            found = _of_fsspec(base + query, access.storage_options or {})
    return Store(found[0], found[1], shown, frozenset(secrets))


def _of_arrow(uri: str) -> tuple[Any, str] | None:
    """Return the filesystem of a URI and the path in it, None where Arrow does not know it."""
    if uri.partition("://")[0] not in OF_ARROW:
        return None
    from pyarrow import ArrowInvalid
    from pyarrow.fs import FileSystem

    try:
        filesystem, root = FileSystem.from_uri(uri)
    except (ArrowInvalid, NotImplementedError) as error:  # one that was built without it
        if "nrecognized filesystem" in str(error) or isinstance(error, NotImplementedError):
            return None
        raise
    return filesystem, root


def _of_fsspec(uri: str, storage_options: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the same for a URI that fsspec opens."""
    scheme = uri.partition("://")[0]
    try:
        import fsspec
    except ImportError as error:
        raise OSError(
            f"{scheme}:// is opened by fsspec, which could not be imported ({error}); {INSTALL}"
        ) from error
    try:
        filesystem, root = fsspec.core.url_to_fs(uri, **storage_options)
    except ImportError as error:  # the library of this scheme, or one that it needs
        raise OSError(f"{first_line(error)}; {INSTALL}") from None
    except ValueError as error:
        if "rotocol not known" not in str(error):
            raise
        raise OSError(
            f"neither pyarrow nor fsspec (the extra cloud) knows the scheme {quote(scheme)}; use "
            "one that they know, such as s3, gs, abfs or https"
        ) from None
    return as_arrow(filesystem), str(root)


def _find_secrets(value: Any) -> set[str]:
    """Return every text in storage_options, as it may be a secret."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, Mapping):
        value = list(value.values())
    return set().union(*map(_find_secrets, value)) if isinstance(value, list | tuple) else set()


@contextmanager
def uploaded(uri: str) -> Iterator[IO[bytes]]:
    """Give an open file of this machine, which goes to a store once it is whole."""
    store, key = find_place(uri, ENVIRONMENT, {}, "write")
    with store.reaching(key, "write"):
        if store.is_web:
            raise OSError(
                "a web server accepts no files; write to this machine, or to a store such as s3://"
            )
        asked = [key, *([store.root] if store.of_fsspec is None and store.root.strip("/") else [])]
        kinds = [info.type.name for info in store.filesystem.get_file_info(asked)]
        if kinds[0] == "Directory":
            raise IsADirectoryError("it is a folder")
        if "NotFound" in kinds[1:]:
            raise OSError(f"the bucket {store.root} does not exist")
    with tempfile.TemporaryDirectory(prefix="recframe-") as folder:
        path = Path(folder) / "output"
        with path.open("xb") as file:
            yield file
        # In a thread: an interruption would leave what has been sent, which closing makes a file.
        with ThreadPoolExecutor(1) as pool, store.reaching(key, "write"):
            pool.submit(_upload, store, path, key).result()


def _upload(store: Store, path: Path, key: str) -> None:
    """Send a file; if a store would show a part of it, send it beside its place and move it."""
    name = PurePosixPath(key)
    beside = f"{key[: len(key) - len(name.name)]}.recframe-{secrets.token_hex(8)}{name.suffix}"
    place = key if store.is_whole else beside
    try:
        if store.of_fsspec is not None:
            store.of_fsspec.put_file(str(path), place)
        else:
            with path.open("rb") as file, store.filesystem.open_output_stream(place) as stream:
                shutil.copyfileobj(file, stream, CHUNK)
        if place != key:
            store.filesystem.move(place, key)
    except BaseException:
        if place != key:
            with suppress(Exception):
                store.filesystem.delete_file(place)
        raise


@contextmanager
def whole_file(path: PathLike) -> Iterator[IO[bytes]]:
    """Give an open file beside `path`, which is renamed to it once it is whole.

    Its name is its own, so no other run, nor a leftover of one, is in its way. A link stays, and
    its target is replaced; the permissions of an old file stay too.
    """
    if is_uri(os.fspath(path)):
        with uploaded(os.fspath(path)) as file:
            yield file
        return
    try:
        target = Path(os.path.realpath(path))
        partial = target.with_name(f".recframe-{secrets.token_hex(8)}{target.suffix}")
        if target.is_dir():
            raise IsADirectoryError("it is a folder")
        if target.exists():
            check_kind(os.fspath(target), target.stat(), "write")
            target.open("ab").close()  # what is read-only is not replaced behind its back
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
    except OSError as error:
        raise RecframeError(f"cannot write {show_path(path)}: {error.strerror or error}") from error
