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
from posixpath import join
from typing import NamedTuple
from urllib.parse import unquote

from pyarrow.fs import FileSelector

from recframe.errors import RecframeError, quote, show_path, unreadable
from recframe.kernel.threads import run_ahead
from recframe.stores import ENVIRONMENT, Access, identify, reason, show_uri
from recframe.stores.store import HERE, Location, Store, locate
from recframe.stores.tables import MARKS, NOTE, refuse_part

NOTES = ("_", ".")  # Names that begin so are not data.
REQUESTS = 16  # requests at a time

Steps = tuple[str, ...]  # the parts of a pattern for folders and for the file


class Entry(NamedTuple):
    """A file or folder below the searched folder."""

    names: Steps  # path parts below that folder
    path: str
    is_folder: bool  # True for a link that leads nowhere too


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


def look_up(store: Store, path: str) -> tuple[str, Steps] | None:
    """Return the folder to search and the steps of a pattern below it; None for a file.

    A folder has no steps. A path that exists is no pattern.
    """
    plain = path.partition("?")[0] if store.is_web else path  # On the web, ? begins the query.
    names = Path(plain).parts if store.is_here else plain[len(store.root) :].split("/")
    n_plain = next((n for n, name in enumerate(names) if has_magic(name)), len(names))
    is_pattern = n_plain < len(names)
    if store.is_here:  # Another path that is missing is refused by its name.
        is_folder = os.path.isdir(path)  # noqa: PTH112 - it raises nothing
        is_there = not is_pattern or os.path.exists(path)  # noqa: PTH110 - as above
    elif store.is_web and not is_pattern:
        is_folder, is_there = path.endswith("/"), True
    else:
        with store.reaching(path):
            kind = store.ask([path])[0].type.name
            is_folder, is_there = kind == "Directory", kind != "NotFound"
            if not is_there and not is_pattern:
                raise FileNotFoundError
    if is_there:
        return (path if store.is_here else path.rstrip("/") or path, ()) if is_folder else None
    if store.is_here:
        return os.fspath(Path(*names[:n_plain])), tuple(names[n_plain:])
    folder = store.root + "/".join(names[:n_plain])
    return folder.rstrip("/") or folder[:1], tuple(names[n_plain:])


def list_folder(store: Store, searched: Entry, steps: Steps) -> list[Entry]:
    """Return the entries in a folder, and in a store all below it: one request lists them.

    If one step of a pattern is left, the others are only needed if it matches a folder.
    """
    above, folder, _ = searched
    if store.is_here:
        with os.scandir(folder) as scanned:  # Arrow skips broken links.
            return [Entry((*above, one.name), one.path, _may_be_folder(one)) for one in scanned]
    is_whole, entries = store.is_web or len(steps) != 1, list[Entry]()
    with store.reaching(folder):
        infos = store.ask(FileSelector(folder, recursive=is_whole))
    for info in infos:
        below = info.path.strip("/").removeprefix(folder.strip("/")).strip("/")
        names = below.split("/")
        names = tuple(map(unquote, names) if store.is_web else names)
        path = join(folder.rstrip("/"), below)  # A file that is named alone has the same path.
        entries.append(Entry(names, path, info.type.name == "Directory"))
    if not is_whole and any(one.is_folder and is_match(one.names, steps) for one in entries):
        return list_folder(store, searched, ())
    if is_whole:
        store.listed.append(folder)
        for (kind, mark), one in product(MARKS.items(), entries):
            root, is_there, inside = f"{one.path}/".rpartition(f"/{mark}/")
            if is_there and (kind != "Iceberg" or NOTE in inside):
                store.tables.setdefault(root, kind)
    return entries


def _may_be_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry of a folder is one too, or a link that leads nowhere."""
    is_broken = entry.is_symlink() and not os.path.exists(entry)  # noqa: PTH110 - it raises nothing
    return is_broken or entry.is_dir()


def walk(store: Store, folder: str, steps: Steps) -> Iterator[Entry]:
    """Yield the entries below a folder, as deep as the steps of a pattern may match.

    In a search at any depth, a link to a folder above is not followed.
    """
    # This is a stack, because folders may be nested deeper than calls.
    following = [(Entry((), folder, is_folder=True), frozenset([steps]), frozenset[object]())]
    while following:
        searched, states, above = following.pop()
        if store.is_here and any(map(_is_deep, states)):
            if (identity := identify(searched.path)) in above:
                continue
            above |= {identity}
        try:
            entries = list_folder(store, searched, steps)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and searched.path == folder:
                pattern = show_path(Path(folder, *steps))
                why = f"no folder {quote(folder)} for the pattern {pattern}"
                raise RecframeError(why) from error
            identify(searched.path)  # It has another reason for a link that leads nowhere.
            why = f"{reason(error)}; its rows would be missing"
            raise unreadable(searched.path, why) from error
        if not store.is_here:  # It has listed all folders.
            yield from entries
            return
        for one in entries:
            if left := follow(states, one.names[-1]):
                yield one
                following += [(one, left, above)] * one.is_folder


def match_folders(store: Store, folder: str, steps: Steps) -> dict[str, list[str]]:
    """Return the files in a folder, or in the folders that a pattern matches, by folder.

    A file that the pattern itself matches is its own key.
    """
    matches: dict[str, list[str]] = {} if steps else {folder: []}
    for names, path, is_folder in sorted(walk(store, folder, steps)):
        states = list(accumulate(names, follow, initial=frozenset([steps])))
        n_matched = next((n for n, left in enumerate(states) if () in left), -1)
        if n_matched >= 0:
            parts = path.rsplit(os.sep if store.is_here else "/", len(names) - n_matched)
            files = matches.setdefault(parts[0] if steps else folder, [])
            files += [path] * (() in states[-1] and not is_folder)
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
    mark, ask = join(folder, MARKS[kind]), store.filesystem.get_file_info
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
        if (search := look_up(store, key)) is None:
            self._found.append(self.name(Location(store, key))._replace(is_given=True))
            return self._found[-1:]
        top, steps = search
        matches = match_folders(store, top, steps)
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
                if table[0] != "Delta" or not is_whole or (steps and not store.is_here):
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
    return match_folders(HERE, path, ())[path]
