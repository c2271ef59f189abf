"""Which files paths mean, on this machine and in stores.

A folder is searched however deep; a pattern matches names step by step, `**` any number of folders.
Names that begin with _ or . are notes of a writer: they are left out unless the step of a pattern
begins so. A file is named once, and none is a part of a table whose log knows which are live.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from functools import partial
from glob import has_magic
from itertools import chain, count
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from recframe.disk import MARKS, NOTE, Disk, Entry, Table, identify, refuse_part
from recframe.errors import RecframeError, quote, show_path
from recframe.foreign import PathLike
from recframe.kernel.threads import run_ahead
from recframe.stores import ENVIRONMENT, Access, is_uri, show_uri, without_file
from recframe.stores.remote import REQUESTS, Remote
from recframe.stores.store import Place, Store, find_place

PATH = attrgetter("path")
NOTES = ("_", ".")  # what names begin with that are nowhere read as data


class StoreFolders:
    """A store as a tree of folders, as this machine is one too; it keeps its listings."""

    def __init__(self, store: Store) -> None:
        self.store, self.show, self.identify = store, store.show, partial(Place, store)
        self._folders: dict[str, dict[tuple[str, bool], Entry]] = {}  # by name and whether a file

    def look_up(self, path: str) -> Entry | None:
        """Return the entry that a path leads to, None for a pattern; a folder is listed."""
        store, (folder, steps) = self.store, self.split(path)
        if not steps and store.is_web and not path.endswith("/"):
            return Entry("", path, is_folder=False)
        with store.reaching(path):
            if not steps and not store.is_web:
                kind = store.list_infos([folder])[0].type.name
                if kind == "File":
                    return Entry("", path, is_folder=False)
                if kind != "Directory":
                    raise FileNotFoundError
            if folder not in self._folders:
                self._list(folder, is_deep=len(steps) != 1 or store.is_web)
        if not steps:
            return Entry("", folder, is_folder=True)
        inside = self._folders.get(path.rpartition("/")[0] or folder, {})
        return inside.get((steps[-1], False)) or inside.get((steps[-1], True))  # named so

    def split(self, path: str) -> tuple[str, tuple[str, ...]]:
        """Return the folder that a path begins with, and the steps of a pattern below it."""
        path = path.partition("?")[0] if self.store.is_web else path  # there it begins the query
        names = path[len(self.store.root) :].split("/")
        n_plain = next((n for n, name in enumerate(names) if has_magic(name)), len(names))
        plain = self.store.root + "/".join(names[:n_plain])
        return plain.rstrip("/") or plain[:1], tuple(names[n_plain:])

    def list_folder(self, folder: str, is_meant: Callable[[str], object]) -> list[Entry]:
        """Return the entries of a folder whose names are meant, in order of names."""
        if folder not in self._folders:  # one is that it lies in
            listed = next(above for above in self.above(folder) if above in self._folders)
            with self.store.reaching(listed):
                self._list(listed, is_deep=True)
        entries = self._folders.get(folder, {}).values()
        return sorted(entry for entry in entries if is_meant(entry.name))

    def above(self, folder: str) -> list[str]:
        """Return a folder and those it lies in, the nearest first."""
        names = folder.split("/")
        paths = ["/".join(names[:n]) for n in range(len(names), 0, -1)]
        return [path for path in paths if path.strip("/")]

    def has_mark(self, asked: tuple[str, str]) -> bool:
        """Return whether a table of a kind has its mark in a folder."""
        kind, folder = asked
        mark = _below(folder, MARKS[kind])
        with self.store.reaching(mark):
            if self.store.is_web or folder in self._folders:  # the web has no folders to ask for
                is_there = (MARKS[kind], False) in self._folders.get(folder, {})
            else:
                is_there = self.store.filesystem.get_file_info([mark])[0].type.name == "Directory"
            if not is_there or kind != "Iceberg":
                return is_there
            is_listed = mark in self._folders
            inside = self._folders[mark] if is_listed else self._ask(mark, is_deep=False)
            return any(name.endswith(NOTE) for name, _ in inside)

    def _list(self, folder: str, *, is_deep: bool) -> None:
        """Take note of all entries below a folder, or only of those directly in it."""
        self._folders.setdefault(folder, {})
        for below, info in self._ask(folder, is_deep=is_deep):
            is_file, is_new = info.type.name == "File", True
            if is_deep and not is_file:
                self._folders.setdefault(_below(folder, below), {})
            while is_new:  # and so may be those that it lies in
                above, _, name = below.rpartition("/")
                parent = _below(folder, above) if above else folder
                is_new = parent not in self._folders
                entry = Entry(name, _below(parent, name), not is_file, info.path)
                self._folders.setdefault(parent, {}).setdefault((name, is_file), entry)
                below, is_file = above, False

    def _ask(self, folder: str, *, is_deep: bool) -> list[tuple[str, Any]]:
        """Return paths below a folder, each with the store's description of it."""
        from pyarrow.fs import FileInfo, FileSelector, FileType

        if self.store.of_fsspec is not None and self.store.is_web:  # pages name what they link to
            urls = self.store.of_fsspec.find(f"{folder}/")
            return [(unquote(url[len(folder) + 1 :]), FileInfo(url, FileType.File)) for url in urls]
        infos = self.store.list_infos(FileSelector(folder, recursive=is_deep))
        n_before = len(folder.strip("/")) + 1 if folder.strip("/") else 0
        return [(info.path.strip("/")[n_before:], info) for info in infos]


def _below(folder: str, name: str) -> str:
    """Return the path of an entry in a folder."""
    return f"{folder.rstrip('/')}/{name}" if folder.strip("/") else name


Tree = Disk | StoreFolders
Steps = tuple[str, ...]  # of a pattern: the names of folders below one, and of the file


class Listed(NamedTuple):
    """A file, or a Delta table."""

    path: str  # of a file as it is shown, of a table that of its folder
    remote: Remote | None  # where a file is, if not on this machine
    tree: Tree
    folder: str = ""  # that a file lies in
    is_given: bool = False  # by its own name
    log: str = ""  # what a table's log is read from


def _is_deep(steps: Steps) -> bool:
    """Return whether steps match entries below any number of folders."""
    return not steps or (steps[0] == "**" and len(steps) > 1)


def follow(states: frozenset[Steps], name: str) -> frozenset[Steps]:
    """Return the steps of a pattern left below a name; () where it or a folder above matched.

    Folders that `**` matches may go on in several ways; a name that is not meant goes on in none.
    """
    left: set[Steps] = set()
    is_note = name.startswith(NOTES)
    for steps in states:
        if not _is_deep(steps):
            if fnmatch(name, steps[0]) and (not is_note or steps[0].startswith(NOTES)):
                left.add(steps[1:])
            continue
        if steps:  # `**` may mean no folder more
            left |= follow(frozenset([steps[1:]]), name)
        if not is_note:
            left.add(steps)
    return frozenset(left)


def do_match(names: Iterable[str], steps: Sequence[str]) -> bool:
    """Return whether names below a folder, or the first of them, match the steps of a pattern."""
    states = frozenset([tuple(steps)])
    for name in names:
        states = follow(states, name)
    return () in states


def search(tree: Tree, folder: str, steps: Steps = ()) -> Iterator[Entry]:
    """Yield a folder's files in order of names, or the entries that match a pattern's steps.

    Where any number of folders is searched, a link to a folder above is not followed.
    """
    # A stack of what is to come, as folders may be nested deeper than calls.
    following = [(Entry("", folder, is_folder=True), frozenset([steps]), frozenset[object]())]
    while following:
        entry, states, above = following.pop()
        if not entry.is_folder or (steps and () in states):
            if () in states:
                yield entry
            continue
        if any(map(_is_deep, states)):
            identity = tree.identify(entry.path)
            if identity in above:
                continue
            above |= {identity}
        inside = tree.list_folder(entry.path, partial(follow, states))
        following += [(one, follow(states, one.name), above) for one in reversed(inside)]


class Listings:
    """The meaning of the paths of one call; each store is opened once, each folder listed once."""

    def __init__(self, access: Access = ENVIRONMENT) -> None:
        self._access = access
        self._disk = Disk()
        self._stores: dict[str, Store] = {}
        self._trees: dict[Store, StoreFolders] = {}
        self._tables: dict[tuple[Tree, str], Table | None] = {}  # those that folders are
        self._shown: dict[object, str] = {}  # the names of all files, by what each is
        self._names: set[str] = set()  # the same
        self._found: list[Listed] = []  # but tables, and files that a log names

    def find(self, path: str) -> list[Listed]:
        """Return the files that a path names, and Delta tables by their folders."""
        tree: Tree = self._disk
        if self._access.leads_away(path):
            store, key = self.place(path)
            tree = self._trees.setdefault(store, StoreFolders(store))
        else:
            key = without_file(path)
        given = tree.look_up(key)
        matches = [given] if given else sorted(search(tree, *tree.split(key)), key=PATH)
        if not matches:
            raise RecframeError(f"cannot read {show_path(tree.show(key))}: no such file")
        is_here, found = isinstance(tree, Disk), list[Listed]()
        for match in matches:
            table = self._find_tables(tree, [match.path])[match.path] if match.is_folder else None
            if table is not None:
                root, where = table.root, tree.show(match.path)
                is_whole = tree.identify(root) == tree.identify(match.path)
                # The library that reads logs in stores is given the URI that was.
                has_log = is_here or match is given
                if table.kind != "Delta" or not is_whole or not has_log:
                    refuse_part(where, table.kind, tree.show(root), is_whole=is_whole)
                log = root if is_here else self._find_log(path)
                found.append(Listed(root, None, tree, log=log))
                continue
            files = list(search(tree, match.path)) if match.is_folder else [match]
            if not files:
                where = show_path(tree.show(match.path))
                raise RecframeError(f"cannot read {where}: no file in that folder")
            for file in files:
                folder = os.path.dirname(file.path)  # noqa: PTH120 - a tenth of the time
                named = self.name(tree, file.key or file.path)
                found.append(named._replace(folder=folder, is_given=file is given))
        self._found += [one for one in found if not one.log]
        return found

    def place(self, path: str) -> Place:
        """Return where a path in a store leads."""
        return find_place(path, self._access, self._stores)

    def name(self, tree: Tree, path: str) -> Listed:
        """Return a file by a name of its own, or raise where it was found before."""
        identity, shown = tree.identify(path), tree.show(path)
        if (first := self._shown.get(identity)) is not None:
            is_other = isinstance(tree, Disk) and first != shown
            also = f", first as {show_path(first)}" if is_other else ""
            raise RecframeError(
                f"path: {show_path(shown)} is named twice{also}; name it once, or it counts twice"
            )
        if shown in self._names:  # of addresses that differ in what is not shown
            shown = next(f"{shown} ({n})" for n in count(2) if f"{shown} ({n})" not in self._names)
        self._shown[identity] = shown
        self._names.add(shown)
        remote = Remote(*identity) if isinstance(identity, Place) else None
        return Listed(shown, remote, tree)

    def check(self) -> None:
        """Raise where files on disk belong to a table, whose log knows which of them are live.

        A single file that is given is meant as such; a shell may have made several from a pattern.
        """
        n_given = sum(file.is_given for file in self._found)
        asked: dict[Tree, list[Listed]] = {}
        for file in self._found:
            if n_given > 1 or not file.is_given:
                asked.setdefault(file.tree, []).append(file)
        for tree, files in asked.items():
            tables = self._find_tables(tree, dict.fromkeys(file.folder for file in files))
            first: dict[Table, Listed] = {}
            for file in files:
                table = tables[file.folder]
                if table and not (file.is_given and first.setdefault(table, file) is file):
                    refuse_part(file.path, table.kind, tree.show(table.root))

    def _find_tables(self, tree: Tree, folders: Iterable[str]) -> dict[str, Table | None]:
        """Return the table that each folder is, or the nearest that it lies in."""
        above = {folder: tree.above(folder) for folder in folders}
        each = dict.fromkeys(chain(*above.values()))
        new = [one for one in each if (tree, one) not in self._tables]
        asked = [(kind, folder) for folder in new for kind in MARKS]
        is_here = isinstance(tree, Disk)  # in a store, what is not listed is asked for
        found = map(tree.has_mark, asked) if is_here else run_ahead(tree.has_mark, asked, REQUESTS)
        for (kind, folder), is_there in zip(asked, found, strict=True):
            known = self._tables.get((tree, folder))
            self._tables[tree, folder] = known or (Table(kind, folder) if is_there else None)
        return {
            folder: next(filter(None, (self._tables[tree, one] for one in ones)), None)
            for folder, ones in above.items()
        }

    def _find_log(self, path: str) -> str:
        """Return the URI of a Delta table for the library that reads its log, or raise."""
        uri = show_uri(path)
        hosts = {one.partition("://")[2].partition("?")[0].partition("/")[0] for one in (path, uri)}
        if self._access != ENVIRONMENT or len(hosts) > 1:
            raise RecframeError(
                f"cannot read {show_path(path)}: it is a Delta table, and deltalake reads its log "
                "with credentials of its own; pass deltalake.DeltaTable("
                f"{quote(uri)}, storage_options=…)"
            )
        return uri


def check_apart(path: PathLike, read: Iterable[str], given: Iterable[str]) -> None:
    """Raise where an output is a file that is read, or would lie where the paths given find it."""
    where, same = os.fspath(path), None
    if is_uri(where):
        given = filter(is_uri, given)
        same = next((where for other in read if show_uri(other) == show_uri(where)), None)
    else:
        read = [other for other in map(without_file, read) if not is_uri(other)]
        given = [folder for folder in map(without_file, given) if not is_uri(folder)]
        if os.path.isfile(where):  # noqa: PTH113 - it raises nothing
            own = identify(where)
            same = next((other for other in read if identify(other) == own), None)
    if same is not None:
        also = "" if same == where else f", named {show_path(same)}"
        raise RecframeError(
            f"cannot write {show_path(path)}: it is an input{also}; write to another file"
        )
    if (folder := next((one for one in given if would_find(one, where)), None)) is not None:
        raise RecframeError(
            f"cannot write {show_path(path)}: the next call would read it, because "
            f"{show_path(folder)} names it too; write it elsewhere"
        )


def would_find(given: str, path: str) -> bool:
    """Return whether a file or folder or pattern that is given means a path, there or not.

    Both are URIs, or neither is.
    """
    if is_uri(path):
        names, steps = (show_uri(uri).rstrip("/").split("/") for uri in (path, given))
        n_plain = next((n for n, step in enumerate(steps) if n > 2 and has_magic(step)), len(steps))
        return names[:n_plain] == steps[:n_plain] and do_match(names[n_plain:], steps[n_plain:])
    disk = Disk()
    folder, below = disk.split(given) if disk.look_up(given) is None else (given, ())
    root, target = (Path(os.path.realpath(end)) for end in (folder, path))
    return target.is_relative_to(root) and do_match(target.parts[len(root.parts) :], below)


def list_files(path: str) -> list[str]:
    """Return a file, or the files in a folder that are read as one table."""
    if not os.path.isdir(path):  # noqa: PTH112 - it raises nothing
        return [path]
    return [entry.path for entry in search(Disk(), path)]
