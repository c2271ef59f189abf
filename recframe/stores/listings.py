"""The files that paths name, on this machine and in stores.

A folder is searched at any depth. A pattern matches names step by step; `**` matches any number of
folders. Names that begin with _ or . are a writer's notes: they are left out unless the step of a
pattern begins so too. A file must be named once, and must not be part of a table with a log.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatch
from functools import partial, reduce
from glob import has_magic
from itertools import accumulate, chain, count, product
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from pyarrow.fs import FileSelector

from recframe.errors import RecframeError, quote, show_path, unreadable
from recframe.kernel.threads import run_ahead
from recframe.stores import ENVIRONMENT, Access, identify, reason, show_uri
from recframe.stores.store import Location, Store, locate
from recframe.stores.tables import MARKS, NOTE, refuse_part

NOTES = ("_", ".")  # Names that begin so are not data.
REQUESTS = 16  # requests at a time

Steps = tuple[str, ...]  # the parts of a pattern for folders and for the file


class Entry(NamedTuple):
    """A file or folder below the searched folder."""

    names: Steps  # path parts below that folder
    path: str
    is_folder: bool


class ListedFile(NamedTuple):
    """A file, or a Delta table."""

    path: str  # the path of a file as shown, or the folder of a table
    place: Location
    is_given: bool = False  # The caller names this very file.
    log: str = ""  # the path or URI that a table's log is read from


def _is_deep(steps: Steps) -> bool:
    """Return whether steps match entries below any number of folders."""
    return not steps or (steps[0] == "**" and len(steps) > 1)


def follow(states: frozenset[Steps], name: str) -> frozenset[Steps]:
    """Return the steps of a pattern that are left below a name; () if the whole pattern matched.

    Below `**` there may be several such steps; there are none if the name does not match.
    """
    left: set[Steps] = set()
    is_note = name.startswith(NOTES)
    for steps in states:
        if not _is_deep(steps):
            if fnmatch(name, steps[0]) and (not is_note or steps[0].startswith(NOTES)):
                left.add(steps[1:])
            continue
        if steps:  # `**` may match no further folder.
            left |= follow(frozenset([steps[1:]]), name)
        if not is_note:
            left.add(steps)
    return frozenset(left)


def is_match(names: Iterable[str], steps: Iterable[str]) -> bool:
    """Return whether the steps of a pattern match all of these names."""
    return () in reduce(follow, names, frozenset([tuple(steps)]))


def look_up(store: Store, path: str) -> bool | None:
    """Return whether a path is a folder; None for a pattern, False for a path missing here."""
    is_pattern = has_magic(path.partition("?")[0] if store.is_web else path)
    if store.is_here:
        is_folder = os.path.isdir(path)  # noqa: PTH112 - it raises nothing
        is_there = is_folder or os.path.exists(path)  # noqa: PTH110 - as above
        return is_folder if is_there or not is_pattern else None
    if store.is_web and not is_pattern:
        return path.endswith("/")
    with store.reaching(path):
        kind = store.ask([path])[0].type.name
        if kind == "NotFound" and not is_pattern:
            raise FileNotFoundError
    return None if kind == "NotFound" else bool(kind == "Directory")


def split_pattern(store: Store, path: str) -> tuple[str, Steps]:
    """Return the folder that a pattern begins with, and the steps after it."""
    path = path.partition("?")[0] if store.is_web else path  # On the web, ? begins the query.
    names = Path(path).parts if store.is_here else path[len(store.root) :].split("/")
    n_plain = next((n for n, name in enumerate(names) if has_magic(name)), len(names))
    plain = store.root + "/".join(names[:n_plain])
    folder = os.fspath(Path(*names[:n_plain])) if store.is_here else plain.rstrip("/") or plain[:1]
    return folder, tuple(names[n_plain:])


def list_disk(folder: str, steps: Steps) -> Iterator[Entry]:
    """Yield the entries below a folder of this machine that the steps of a pattern may match.

    In a search at any depth, a link to a folder above is not followed.
    """
    # This is a stack, because folders may be nested deeper than calls.
    following = [(Entry((), folder, is_folder=True), frozenset([steps]), frozenset[object]())]
    while following:
        searched, states, above = following.pop()
        if any(map(_is_deep, states)):
            identity = identify(searched.path)
            if identity in above:
                continue
            above |= {identity}
        try:
            with os.scandir(searched.path) as scanned:  # Arrow skips broken links.
                inside = [(one, follow(states, one.name)) for one in scanned]
        except OSError as error:
            if isinstance(error, FileNotFoundError) and searched.path == folder:
                pattern = show_path(Path(folder, *steps))
                message = f"no folder {quote(folder)} for the pattern {pattern}"
                raise RecframeError(message) from error
            why = f"{reason(error)}; its rows would be missing"
            raise unreadable(searched.path, why) from error
        for one, left in inside:
            if left:
                is_folder = os.path.isdir(one) if one.is_symlink() else one.is_dir()  # noqa: PTH112
                if one.is_symlink() and not os.path.exists(one):  # noqa: PTH110
                    identify(one.path)  # A link that leads nowhere may stand for a folder.
                yield (entry := Entry((*searched.names, one.name), one.path, is_folder))
                following += [(entry, left, above)] * is_folder


def list_store(store: Store, folder: str, steps: Steps) -> list[Entry]:
    """Return the entries below a folder in a store; for one step, only those directly in it."""
    is_deep = store.is_web or len(steps) != 1
    with store.reaching(folder):
        infos = store.ask(FileSelector(folder, recursive=is_deep))
    entries = []
    for info in infos:
        below = info.path.strip("/").removeprefix(folder.strip("/")).strip("/")
        names = below.split("/")
        names = tuple(map(unquote, names) if store.is_web else names)
        entries.append(Entry(names, _below(folder, below), info.type.name == "Directory"))
    if not is_deep and any(one.is_folder and is_match(one.names, steps) for one in entries):
        return list_store(store, folder, ())
    if is_deep:
        store.listed.append(folder)
        for (kind, mark), one in product(MARKS.items(), entries):
            root, is_there, inside = f"{one.path}/".rpartition(f"/{mark}/")
            if is_there and (kind != "Iceberg" or NOTE in inside):
                store.tables.setdefault(root, kind)
    return entries


def _below(folder: str, name: str) -> str:
    """Return the path of an entry in a folder of a store."""
    return f"{folder.rstrip('/')}/{name}" if folder.strip("/") else name


def match_folders(store: Store, key: str, *, is_folder: bool) -> dict[str, list[str]]:
    """Return the files in a folder, or in the folders that a pattern matches, by folder.

    A file that the pattern itself matches is its own key.
    """
    given = key if store.is_here else key.rstrip("/") or key
    folder, steps = (given, ()) if is_folder else split_pattern(store, key)
    listed = list_disk(folder, steps) if store.is_here else list_store(store, folder, steps)
    matches: dict[str, list[str]] = {folder: []} if is_folder else {}
    for names, path, is_below in sorted(listed):
        states = list(accumulate(names, follow, initial=frozenset([steps])))
        n_matched = next((n for n, left in enumerate(states) if () in left), -1)
        if n_matched >= 0:
            parts = path.rsplit(os.sep if store.is_here else "/", len(names) - n_matched)
            files = matches.setdefault(folder if is_folder else parts[0], [])
            files += [path] * (() in states[-1] and not is_below)
    return matches


def _list_above(store: Store, folder: str) -> list[str]:
    """Return a folder and its parents, the nearest first, and on disk those without links too."""
    if store.is_here:
        ends = os.path.abspath(folder), os.path.realpath(folder)  # noqa: PTH100 - no link followed
        paths = [path for end in map(Path, dict.fromkeys(ends)) for path in (end, *end.parents)]
        return [os.fspath(path) for path in paths]
    names = folder.split("/")
    above = ["/".join(names[:n]) for n in range(len(names), 0, -1)]
    return [path for path in above if path.strip("/")]


def _has_mark(store: Store, folder_and_kind: tuple[str, str]) -> bool:
    """Return whether a folder has the mark of this kind of table."""
    folder, kind = folder_and_kind
    mark, ask = _below(folder, MARKS[kind]), store.filesystem.get_file_info
    with suppress(OSError) if store.is_here else store.reaching(mark):
        if ask([mark])[0].type.name == "Directory":
            is_iceberg = kind == "Iceberg"
            return not is_iceberg or any(NOTE in one.path for one in ask(FileSelector(mark)))
    return False


def find_tables(store: Store, folders: Iterable[str]) -> dict[str, tuple[str, str] | None]:
    """Return the kind and folder of the nearest table that contains or is each folder."""
    known = {} if store.is_here else store.tables
    listed = tuple(f"{root}/" for root in store.listed)
    above = {folder: _list_above(store, folder) for folder in folders}
    each = dict.fromkeys(chain(*above.values()))
    new = [one for one in each if one not in known and not f"{one}/".startswith(listed)]
    # The web has no folders to ask for.
    asked = [*product([] if store.is_web else new, MARKS)]
    has_mark = partial(_has_mark, store)
    are_there = map(has_mark, asked) if store.is_here else run_ahead(has_mark, asked, REQUESTS)
    for (folder, kind), is_there in zip(asked, are_there, strict=True):
        known[folder] = known.get(folder) or kind * is_there
    return {
        folder: next(((known[one], one) for one in ones if known.get(one)), None)
        for folder, ones in above.items()
    }


class Listing:
    """The files that the paths of one call name; each store is opened once."""

    def __init__(self, access: Access = ENVIRONMENT) -> None:
        self._access = access
        self._stores: dict[str, Store] = {}
        self._shown: dict[object, str] = {}  # names of all files, by identity
        self._names: set[str] = set()  # the same names
        self._found: list[ListedFile] = []  # files that no log names

    def find(self, path: str) -> list[ListedFile]:
        """Return the files that a path names; a Delta table is named by its folder."""
        store, key = self.place(path)
        is_folder = look_up(store, key)
        if is_folder is False:
            self._found.append(self.name(Location(store, key))._replace(is_given=True))
            return self._found[-1:]
        matches = match_folders(store, key, is_folder=bool(is_folder))
        if not matches:
            raise unreadable(store.show(key), "no such file")
        tables = find_tables(store, [one for one in matches if one not in matches[one]])
        files = list[ListedFile]()
        for folder, keys in sorted(matches.items()):
            if table := tables.get(folder):
                place, root = Location(store, folder), Location(store, table[1])
                is_whole = root.identify() == place.identify()
                # In stores, a table must be named by its folder, because the library that reads
                # its log gets the URI as it was passed.
                if table[0] != "Delta" or not is_whole or not (store.is_here or is_folder):
                    whole = store.show(root.key)
                    refuse_part(store.show(folder), table[0], whole, is_whole=is_whole)
                log = root.key if store.is_here else self._find_log(path)
                files.append(ListedFile(root.key, root, log=log))
            elif keys:
                files += [self.name(Location(store, one)) for one in keys]
            else:
                raise unreadable(store.show(folder), "no file in that folder")
        self._found += [one for one in files if not one.log]
        return files

    def place(self, path: str) -> Location:
        """Return the place of a path."""
        return locate(path, self._access, self._stores)

    def name(self, place: Location) -> ListedFile:
        """Return a file under a name that no other file has, or raise if it was found before."""
        store, key = place
        identity, shown = place.identify(), store.show(key)
        if (first := self._shown.get(identity)) is not None:
            also = f", first as {show_path(first)}" if store.is_here and first != shown else ""
            raise RecframeError(
                f"path: {show_path(shown)} is named twice{also}. Name it once, or it counts twice."
            )
        if shown in self._names:  # Addresses may differ in hidden parts.
            shown = next(f"{shown} ({n})" for n in count(2) if f"{shown} ({n})" not in self._names)
        self._shown[identity] = shown
        self._names.add(shown)
        return ListedFile(shown, place)

    def check(self) -> None:
        """Raise if files belong to a table, whose log knows which of them are live.

        One file that is named alone is read; a shell may have made several from a pattern.
        """
        is_one = sum(file.is_given for file in self._found) == 1
        by_store: dict[Store, list[tuple[str, ListedFile]]] = {}
        for file in self._found:
            if not (file.is_given and is_one):
                folder = os.path.dirname(file.place.key)  # noqa: PTH120 - it takes a tenth
                by_store.setdefault(file.place.store, []).append((folder, file))
        for store, files in by_store.items():
            tables, first = find_tables(store, dict(files)), dict[object, ListedFile]()
            for folder, file in files:
                table = tables[folder]
                if table and not (file.is_given and first.setdefault(table, file) is file):
                    refuse_part(file.path, table[0], store.show(table[1]))

    def _find_log(self, path: str) -> str:
        """Return the URI of a Delta table for the library that reads its log, or raise."""
        uri = show_uri(path)
        hosts = {one.partition("://")[2].partition("?")[0].partition("/")[0] for one in (path, uri)}
        if self._access != ENVIRONMENT or len(hosts) > 1:
            why = "it is a Delta table, and deltalake reads its log with credentials of its own. "
            call = f"deltalake.DeltaTable({quote(uri)}, storage_options=…)"
            raise unreadable(path, f"{why}Pass {call}.")
        return uri


def list_files(path: str) -> list[str]:
    """Return a file, or the files in a folder that are read as one table."""
    if not os.path.isdir(path):  # noqa: PTH112 - it raises nothing
        return [path]
    return [entry.path for entry in sorted(list_disk(path, ())) if not entry.is_folder]
