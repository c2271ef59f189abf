"""What a URI leads to: a filesystem of Arrow, else of fsspec, and the path in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote as quote_url
from urllib.parse import unquote

from recframe.errors import QUERY, USER, RecframeError, quote, shorten, show_path
from recframe.stores.access import Access, as_arrow, is_uri
from recframe.stores.store import WEB, Place, Store, first_line

OF_ARROW = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
LEAST_SECRET = 4  # characters; a shorter value would be cut out of other words
IN_URLS = "%/:=&?~#+!$,;'@()*[]"  # characters that stay as they are
INSTALL = "install it with pip install 'recframe[cloud]'"


def find_place(path: str, access: Access, stores: dict[str, Store], act: str = "read") -> Place:
    """Return where a path leads; stores are kept in `stores`, so that each is opened once."""
    if access.filesystem is not None:
        store = stores.setdefault("", Store(as_arrow(access.filesystem)))
        if store.of_fsspec is not None:
            return Place(store, str(store.of_fsspec._strip_protocol(path)))
        if is_uri(path):
            raise RecframeError(
                f"cannot {act} {show_path(path)}: with a filesystem of pyarrow a path is one in "
                "it, without scheme, as 'bucket/folder/file.parquet'"
            )
        return Place(store, path.rstrip("/") or path)
    whole, query = _split(path)
    scheme, rest = whole.split("://", 1)
    host, slash, below = rest.partition("/")
    if (user := USER.match(path)) and "/" in user[2]:
        raise RecframeError(
            f"cannot {act} {show_path(path)}: a slash in what stands before the @ is written %2F"
        )
    base = f"{scheme}://{host}"
    of_base = "" if scheme in WEB else query
    if base + of_base not in stores:
        stores[base + of_base] = _open(base, of_base, access, f"{base}/{below}", act)
    store = stores[base + of_base]
    if scheme in WEB:  # whose addresses end in a slash where they are folders
        return Place(store, quote_url(f"{store.root}{slash}{below}{query}", safe=IN_URLS))
    gap = "" if not store.root or not below or store.root.endswith("/") else "/"
    return Place(store, f"{store.root}{gap}{below.rstrip('/')}")


def _open(base: str, query: str, access: Access, path: str, act: str) -> Store:
    """Return the store that a URI without its path leads to; messages are of the whole path."""
    scheme, host = base.split("://", 1)
    user, _, name = host.rpartition("@")
    keeps_user = scheme in ("abfs", "abfss") and ":" not in user  # it is a container
    shown = base if keeps_user else f"{scheme}://{name}"
    secrets = _find_secrets(access.storage_options)
    secrets |= {unquote(part) for part in user.split(":")} | set(user.split(":"))
    secrets |= {one.partition("=")[2] for one in query[1:].split("&")}
    secrets |= {unquote(secret) for secret in secrets}
    secrets = {secret for secret in secrets if len(secret) >= LEAST_SECRET}
    if keeps_user:
        secrets.discard(user)
    naming = Store(_NoFilesystem(), base, shown, frozenset(secrets))
    with naming.reaching(path, act):
        found = _of_arrow(base + query) if access.storage_options is None else None
        if found is None:
            begin = f"cannot {act} {show_path(naming.show(path))}: "
            found = _of_fsspec(base + query, access.storage_options or {}, naming, begin)
    return Store(found[0], found[1], shown, frozenset(secrets))


class _NoFilesystem:
    """What stands in for a filesystem while it is opened."""

    type_name = ""


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


def _of_fsspec(
    uri: str, storage_options: Mapping[str, Any], naming: Store, begin: str
) -> tuple[Any, str]:
    """Return the same of a URI that fsspec opens."""
    scheme = uri.partition("://")[0]
    try:
        import fsspec
    except ImportError as error:
        raise RecframeError(
            f"{begin}{scheme}:// is opened by fsspec, which could not be imported ({error}); "
            f"{INSTALL}"
        ) from error
    try:
        filesystem, root = fsspec.core.url_to_fs(uri, **storage_options)
    except ImportError as error:  # the library of this scheme, or one that it needs
        said = shorten(naming.without_secrets(first_line(error)))
        raise RecframeError(f"{begin}{said}; {INSTALL}") from None
    except ValueError as error:
        if "rotocol not known" not in str(error):
            raise
        raise RecframeError(
            f"{begin}neither pyarrow nor fsspec (the extra cloud) knows the scheme "
            f"{quote(scheme)}; schemes are s3, gs, abfs, https and others of fsspec"
        ) from None
    return as_arrow(filesystem), str(root)


def _split(uri: str) -> tuple[str, str]:
    """Return a URI without its query, and the query with its question mark."""
    is_web = uri.partition("://")[0] in WEB
    at = uri.find("?") if is_web else next((one.start() for one in QUERY.finditer(uri)), -1)
    return (uri, "") if at < 0 else (uri[:at], uri[at:])


def _find_secrets(value: Any) -> set[str]:
    """Return every text in storage_options, as it may be a secret."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, Mapping):
        value = list(value.values())
    return set().union(*map(_find_secrets, value)) if isinstance(value, list | tuple) else set()
