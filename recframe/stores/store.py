"""A store: a filesystem whose paths are shown, and what its libraries say, without secrets."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from recframe.errors import RecframeError, hide, shorten, show_path

WEB = ("http", "https")  # whose addresses have no patterns with question marks
# Where what is written is there once it is whole, and not before.
OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "oci", "memory"}


class Store:
    """A filesystem of Arrow's, how its paths are shown, and what of it must not be."""

    def __init__(
        self,
        filesystem: Any,
        root: str = "",
        shown: str = "",
        secrets: frozenset[str] = frozenset(),
    ) -> None:
        self.filesystem, self.root, self._shown, self._secrets = filesystem, root, shown, secrets
        handler = getattr(filesystem, "handler", None)
        self.of_fsspec = getattr(handler, "fs", None)  # None where Arrow has its own
        self._protocols = _protocols(self.of_fsspec) or {filesystem.type_name}

    @property
    def is_web(self) -> bool:
        """Whether it is a web server, which may send whole files only."""
        return not self._protocols.isdisjoint(WEB)

    @property
    def is_whole(self) -> bool:
        """Whether what is written is there once it is whole, and not before."""
        return not self._protocols.isdisjoint(OBJECT_STORES)

    def show(self, key: str) -> str:
        """Return the name of a path in it, without what no message may have."""
        return hide(f"{self._shown}{key.removeprefix(self.root)}").removesuffix("?…")

    @contextmanager
    def reaching(self, key: str, act: str = "read") -> Iterator[None]:
        """Raise what goes wrong as a `RecframeError` that names the path."""
        try:
            with self.guarded():
                yield
        except OSError as error:
            message = shorten(first_line(error))
            raise RecframeError(f"cannot {act} {show_path(self.show(key))}: {message}") from error

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Raise what a library raises as an `OSError` that has no secret, nor has its chain."""
        try:
            yield
        except RecframeError:
            raise
        except Exception as error:  # of any library, of the network, of someone's filesystem
            cause = error.__cause__ if isinstance(error, FileNotFoundError) else None
            found = error if cause is None or _is_missing(cause) else cause
            is_gone = isinstance(found, FileNotFoundError)
            text = "no such file" if is_gone else self.without_secrets(first_line(found))
            chain = "".join(traceback.format_exception(error))
            is_clean = self.without_secrets(chain) == chain
            raise (FileNotFoundError if is_gone else OSError)(text) from (
                error if is_clean else None
            )

    def without_secrets(self, text: str) -> str:
        """Return a text without what opens the store."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, "…")
        return hide(text)


class Place(NamedTuple):
    """A path in a store."""

    store: Store
    key: str


def _protocols(filesystem: Any) -> set[str]:
    """Return the schemes of a filesystem of fsspec."""
    found = getattr(filesystem, "protocol", ())
    return {found} if isinstance(found, str) else set(found)


def _is_missing(cause: BaseException) -> bool:
    """Return whether fsspec has found no file for this cause, and not no server."""
    is_other = isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)
    return not is_other and getattr(cause, "status", 404) == 404


def first_line(error: BaseException) -> str:
    """Return the first line that an error says, or its type."""
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
