"""Which files in stores URIs mean, by the rules that paths of this machine have.

A folder or pattern is listed by one request for all that is below it, where the store has such.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from glob import has_magic
from itertools import count
from typing import Any, NamedTuple
from urllib.parse import unquote

from recframe.disk import MARKS, refuse_part
from recframe.errors import RecframeError, quote, show_path
from recframe.stores import ENVIRONMENT, Access, show_uri
from recframe.stores.remote import REQUESTS, Remote
from recframe.stores.store import Place, Store, find_place

Steps = tuple[str, ...]  # the names of folders below one, and of the file
Listing = list[tuple[Steps, Any]]  # what is below a folder, each with what its store says of it


class Listed(NamedTuple):
    """A file in a store, by the name that is shown."""

    path: str
    remote: Remote


class Listings:
    """What the paths of one call mean in stores, each of which is opened once."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._stores: dict[str, Store] = {}
        self._marks: dict[Store, dict[str, str]] = {}  # the kind of table that a folder is
        self._paths: dict[Place, str] = {}  # of all files found
        self._taken: set[str] = set()  # of the same
        self._alone: set[Place] = set()  # files that are given, and no folder they are in

    def find(self, path: str) -> list[Listed] | Place:
        """Return the files that a path names, or where it leads if that is a Delta table."""
        place = store, key = self.place(path)
        plain, steps = _split(store, key)
        if not steps and store.is_web and not key.endswith("/"):
            self._alone.add(place)
            return [self._name(place, None)]
        with store.reaching(key):
            if steps:
                found = _list_matched(store, plain, steps)
            elif store.is_web:
                found = _list(store, plain, is_deep=True)
            else:
                info = store.filesystem.get_file_info([plain])[0]
                if not _is(info, "Directory"):
                    if not _is(info, "File"):
                        raise FileNotFoundError
                    self._alone.add(place)
                    return [self._name(place, info.size)]
                found = _list(store, plain, is_deep=True)
        self._note_marks(store, plain, found)
        kind = None if steps else self._marks[store].get(plain)
        if kind == "Delta":
            return place
        if kind is not None:
            refuse_part(store.show(key), kind, store.show(plain), is_whole=True)
        files = _match(found, steps) if steps else _open_files(found, 0)
        if not files:
            what = "no such file" if steps else "no parquet file in that folder"
            raise RecframeError(f"cannot read {show_path(store.show(key))}: {what}")
        self._ask_for_marks(store, _above(plain)[:1])
        return [self._name(Place(store, info.path), info.size) for info in files]

    def place(self, path: str) -> Place:
        """Return where a path leads."""
        return find_place(path, self._access, self._stores)

    def check(self) -> None:
        """Raise where files are those on disk of a table whose log knows which of them are live.

        One file that is given is what was meant.
        """
        folders: dict[Store, list[str]] = {}
        for store, key in self._alone if len(self._alone) > 1 else ():
            folders.setdefault(store, []).extend(_above(key)[:1])
        for store, asked in folders.items():
            self._ask_for_marks(store, asked)
        first: dict[tuple[Store, str], Place] = {}
        for place, path in self._paths.items():
            store, key = place
            marks = self._marks.get(store, {})
            root = next((above for above in _above(key) if above in marks), None)
            is_meant = (
                place in self._alone and first.setdefault((store, root or ""), place) == place
            )
            if root is not None and not is_meant:
                refuse_part(path, marks[root], store.show(root))

    def of_delta(self, path: str) -> str:
        """Return the URI of a Delta table for the library that reads its log, or raise."""
        uri = show_uri(path)
        if self._access != ENVIRONMENT or _host(path) != _host(uri):
            raise RecframeError(
                f"cannot read {show_path(path)}: it is a Delta table, and deltalake, which reads "
                "its log, has credentials of its own; pass deltalake.DeltaTable("
                f"{quote(uri)}, storage_options=…)"
            )
        return uri

    def _name(self, place: Place, size: int | None) -> Listed:
        """Return a file by a name of its own, or raise where it was found before."""
        path = place.store.show(place.key)
        if place in self._paths:
            raise RecframeError(
                f"path: {show_path(path)} is named twice; its rows would count twice"
            )
        if path in self._taken:  # of addresses that differ in what is not shown
            path = next(f"{path} ({n})" for n in count(2) if f"{path} ({n})" not in self._taken)
        self._paths[place] = path
        self._taken.add(path)
        return Listed(path, Remote(*place, size))

    def _note_marks(self, store: Store, folder: str, found: Listing) -> None:
        """Take note of tables below a folder, by what is listed there."""
        marks = self._marks.setdefault(store, {})
        for steps, info in found:
            for number, name in enumerate(steps[:-1] if _is(info, "File") else steps):
                kind = next((kind for kind, mark in MARKS.items() if mark == name), None)
                if kind is not None and (kind != "Iceberg" or _is_note(steps[number + 1 :])):
                    marks.setdefault(_join(folder, steps[:number]), kind)

    def _ask_for_marks(self, store: Store, folders: Sequence[str]) -> None:
        """Take note of tables that folders are, or lie in."""
        if store.is_web:  # which has no folders to ask for
            return
        marks = self._marks.setdefault(store, {})
        above = dict.fromkeys(key for folder in folders for key in (folder, *_above(folder)))
        asked = [(kind, key) for key in above if key for kind in MARKS]

        def is_table(one: tuple[str, str]) -> bool:
            kind, key = one
            mark = f"{key}/{MARKS[kind]}"
            with store.reaching(mark):
                is_there = _is(store.filesystem.get_file_info([mark])[0], "Directory")
                if is_there and kind == "Iceberg":
                    notes = _list(store, mark, is_deep=False)
                    is_there = any(_is_note(steps) for steps, _ in notes)
            return is_there

        with ThreadPoolExecutor(REQUESTS) as pool:
            for (kind, key), is_there in zip(asked, pool.map(is_table, asked), strict=True):
                if is_there:
                    marks.setdefault(key, kind)


def _split(store: Store, key: str) -> tuple[str, Steps]:
    """Return the folder that a path in a store begins with, and the steps of a pattern below it."""
    path = key.partition("?")[0] if store.is_web else key  # there it begins the query
    names = path[len(store.root) :].split("/")
    n_plain = next((n for n, name in enumerate(names) if has_magic(name)), len(names))
    plain = store.root + "/".join(names[:n_plain])
    return plain.rstrip("/") or plain[:1], tuple(names[n_plain:])


def _list(store: Store, folder: str, *, is_deep: bool) -> Listing:
    """Return what is in a folder, all that is below it or what is in it alone."""
    from pyarrow.fs import FileInfo, FileSelector, FileType

    if store.of_fsspec is not None and store.is_web:  # whose pages name what they link to
        urls = store.of_fsspec.find(f"{folder}/", maxdepth=None if is_deep else 1)
        return [
            (tuple(unquote(url[len(folder) + 1 :]).split("/")), FileInfo(url, FileType.File))
            for url in urls
        ]
    infos = store.filesystem.get_file_info(FileSelector(folder, recursive=is_deep))
    n_before = len(folder.strip("/")) + 1 if folder.strip("/") else 0
    return [(tuple(info.path.strip("/")[n_before:].split("/")), info) for info in infos]


def _list_matched(store: Store, folder: str, steps: Steps) -> Listing:
    """Return what is below a folder, as deep as a pattern looks."""
    if len(steps) == 1 and not store.is_web:
        found = _list(store, folder, is_deep=False)
        if not any(_is(info, "Directory") and do_match(names, steps) for names, info in found):
            return found
    return _list(store, folder, is_deep=True)


def _match(found: Listing, steps: Steps) -> list[Any]:
    """Return the files that the steps of a pattern match, or that are in folders that they match.

    They come in the order in which paths of this machine do: that of the names that match.
    """
    literal = [one for one in found if one[0][: len(steps)] == steps]
    if literal:  # a file or folder of this very name
        return _open_files(literal, len(steps))
    files = []
    for names, info in found:
        if _is(info, "File") and do_match(names, steps):
            depths = range(1, len(names) + 1)
            depth = next(depth for depth in depths if do_match(names[:depth], steps))
            files.append(("/".join(names[:depth]), names, info))
    return [info for _, _, info in sorted(files, key=lambda one: one[:2])]


def _open_files(found: Listing, n_given: int) -> list[Any]:
    """Return files whose names do not begin as the notes of a writer, in order."""
    files = [
        (steps, info)
        for steps, info in found
        if _is(info, "File") and not any(name[0] in "_." for name in steps[n_given:])
    ]
    return [info for _, info in sorted(files, key=lambda one: one[0])]


def do_match(names: Sequence[str], steps: Sequence[str]) -> bool:
    """Return whether names below a folder, or the first of them, match the steps of a pattern."""
    if not steps:
        return not any(name[0] in "_." for name in names)
    step, *rest = steps
    if step == "**" and rest:
        n_open = next((n for n, name in enumerate(names) if name[0] in "_."), len(names))
        return any(do_match(names[n:], rest) for n in range(n_open + 1))
    is_open = bool(names) and (names[0][0] not in "_." or step[0] in "_.")
    return is_open and fnmatch(names[0], step) and do_match(names[1:], rest)


def _is(info: Any, kind: str) -> bool:
    """Return whether a store has a File there, or a Directory."""
    return bool(info.type.name == kind)


def _is_note(steps: Steps) -> bool:
    """Return whether a file below a folder is one in it that tells of an Iceberg table."""
    return len(steps) == 1 and steps[0].endswith(".metadata.json")


def _host(uri: str) -> str:
    """Return what of a URI stands before its path."""
    return uri.partition("://")[2].partition("?")[0].partition("/")[0]


def _join(folder: str, steps: Steps) -> str:
    """Return the path of what is below a folder."""
    return "/".join((folder.rstrip("/"), *steps)) if folder.strip("/") else "/".join(steps)


def _above(key: str) -> list[str]:
    """Return the paths of the folders that a path lies in, the nearest first."""
    steps = key.split("/")
    return ["/".join(steps[:n]) for n in range(len(steps) - 1, 0, -1)]
