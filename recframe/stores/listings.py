"""Which files paths mean, on this machine and in stores.

A folder is searched however deep; a pattern matches names step by step, `**` any number of folders.
Names that begin with _ or . are notes of a writer: they are left out unless the step of a pattern
begins so. A file is named once, and none is a part of a table whose log knows which are live.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from functools import partial
from itertools import chain, count
from operator import attrgetter
from typing import NamedTuple

from recframe.disk import MARKS, Disk, Entry, Table, refuse_part
from recframe.errors import RecframeError, quote, show_path
from recframe.stores import ENVIRONMENT, Access, show_uri, without_file
from recframe.stores.folders import StoreFolders
from recframe.stores.remote import Remote, run_ahead
from recframe.stores.store import Place, Store, find_place

PATH = attrgetter("path")
NOTES = ("_", ".")  # what names begin with that are nowhere read as data

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
                named = self.name(tree, file.key or file.path, file.size)
                found.append(named._replace(folder=folder, is_given=file is given))
        self._found += [one for one in found if not one.log]
        return found

    def place(self, path: str) -> Place:
        """Return where a path in a store leads."""
        return find_place(path, self._access, self._stores)

    def name(self, tree: Tree, path: str, size: int | None = None) -> Listed:
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
        remote = Remote(*identity, size) if isinstance(identity, Place) else None
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
        found = map(tree.has_mark, asked) if is_here else run_ahead(tree.has_mark, asked)
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
