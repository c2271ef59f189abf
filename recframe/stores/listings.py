"""Which files paths mean, on this machine and in stores.

A folder is searched however deep; a pattern matches names step by step, `**` any number of folders.
Names that begin with _ or . are notes of a writer: they are left out unless the step of a pattern
begins so. A file is named once, and none is a part of a table whose log knows which are live.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from functools import partial
from glob import has_magic
from itertools import chain, count, product
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from pyarrow.fs import FileSelector

from recframe.errors import RecframeError, quote, show_path
from recframe.kernel.threads import run_ahead
from recframe.stores import ENVIRONMENT, Access, show_uri
from recframe.stores.disk import identify, reason
from recframe.stores.store import Place, Store, find_place
from recframe.stores.tables import MARKS, NOTE, refuse_part

NOTES = ("_", ".")  # what names begin with that are nowhere read as data
REQUESTS = 16  # at a time

Steps = tuple[str, ...]  # of a pattern: the names of folders below one, and of the file


class Entry(NamedTuple):
    """A file or folder below a folder that is searched."""

    names: Steps  # from that folder on
    path: str
    is_folder: bool


class Listed(NamedTuple):
    """A file, or a Delta table."""

    path: str  # of a file as it is shown, of a table that of its folder
    place: Place
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


def match(names: Iterable[str], steps: Sequence[str]) -> tuple[int, bool]:
    """Return how many names below a folder a pattern matches, -1 for none, and if it means all."""
    states = frozenset([tuple(steps)])
    n_matched = 0 if () in states else -1
    for number, name in enumerate(names, 1):
        states = follow(states, name)
        n_matched = number if n_matched < 0 and () in states else n_matched
    return n_matched, () in states


def look_up(store: Store, path: str) -> bool | None:
    """Return whether a path leads to a folder, None for a pattern; if missing here, to a file."""
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
    """Return the folder that a pattern begins with, and its steps below it."""
    path = path.partition("?")[0] if store.is_web else path  # there it begins the query
    names = Path(path).parts if store.is_here else path[len(store.root) :].split("/")
    n_plain = next((n for n, name in enumerate(names) if has_magic(name)), len(names))
    plain = store.root + "/".join(names[:n_plain])
    folder = os.fspath(Path(*names[:n_plain])) if store.is_here else plain.rstrip("/") or plain[:1]
    return folder, tuple(names[n_plain:])


def list_disk(folder: str, steps: Steps) -> Iterator[Entry]:
    """Yield what is below a folder of this machine as deep as the steps of a pattern may match.

    Where any number of folders is searched, a link to a folder above is not followed.
    """
    # A stack of what is to come, as folders may be nested deeper than calls.
    following = [(Entry((), folder, is_folder=True), frozenset([steps]), frozenset[object]())]
    while following:
        searched, states, above = following.pop()
        if any(map(_is_deep, states)):
            identity = identify(searched.path)
            if identity in above:
                continue
            above |= {identity}
        try:
            with os.scandir(searched.path) as scanned:  # Arrow leaves out links to nowhere
                inside = [(one, follow(states, one.name)) for one in scanned]
        except OSError as error:
            raise RecframeError(
                f"cannot read {show_path(searched.path)}: {reason(error)}; its rows would be "
                "missing"
            ) from error
        for one, left in inside:
            if not left:
                continue
            _check_link(one)
            yield (entry := Entry((*searched.names, one.name), one.path, one.is_dir()))
            following += [(entry, left, above)] * entry.is_folder


def _check_link(entry: os.DirEntry[str]) -> None:
    """Raise for a link that leads nowhere."""
    try:
        entry.is_symlink() and entry.stat()
    except OSError as error:
        gone, target = isinstance(error, FileNotFoundError), ""
        with suppress(OSError):  # where links are not told to lead, as in /proc
            target = f" to {show_path(Path(entry.path).readlink())}"
        raise RecframeError(
            f"cannot read {show_path(entry.path)}: it is a symbolic link{target}, "
            + ("which does not exist; remove it" if gone else f"{reason(error)}")
        ) from error


def list_store(store: Store, folder: str, steps: Steps) -> list[Entry]:
    """Return all that is below a folder in a store; for one step only what is directly in it."""
    is_deep = store.is_web or len(steps) != 1
    with store.reaching(folder):
        infos = store.ask(FileSelector(folder, recursive=is_deep))
    entries = []
    for info in infos:
        below = info.path.strip("/").removeprefix(folder.strip("/")).strip("/")
        names = below.split("/")
        names = tuple(map(unquote, names) if store.is_web else names)
        entries.append(Entry(names, _below(folder, below), info.type.name == "Directory"))
    if not is_deep and any(one.is_folder and match(one.names, steps)[1] for one in entries):
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


def _list_above(store: Store, folder: str) -> list[str]:
    """Return a folder and those it lies in, the nearest first; here also where it really lies."""
    if store.is_here:
        ends = os.path.abspath(folder), os.path.realpath(folder)  # noqa: PTH100 - no link followed
        paths = [path for end in map(Path, dict.fromkeys(ends)) for path in (end, *end.parents)]
        return [os.fspath(path) for path in paths]
    names = folder.split("/")
    above = ["/".join(names[:n]) for n in range(len(names), 0, -1)]
    return [path for path in above if path.strip("/")]


def _has_mark(store: Store, folder_and_kind: tuple[str, str]) -> bool:
    """Return whether in a folder there is the mark of a kind of tables."""
    folder, kind = folder_and_kind
    mark, ask = _below(folder, MARKS[kind]), store.filesystem.get_file_info
    with suppress(OSError) if store.is_here else store.reaching(mark):
        if ask([mark])[0].type.name == "Directory":
            is_iceberg = kind == "Iceberg"
            return not is_iceberg or any(NOTE in one.path for one in ask(FileSelector(mark)))
    return False


def find_tables(store: Store, folders: Iterable[str]) -> dict[str, tuple[str, str] | None]:
    """Return the kind and folder of the nearest table that each folder is or lies in."""
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


class Listings:
    """The meaning of the paths of one call; each store is opened once."""

    def __init__(self, access: Access = ENVIRONMENT) -> None:
        self._access = access
        self._stores: dict[str, Store] = {}
        self._shown: dict[object, str] = {}  # the names of all files, by what each is
        self._names: set[str] = set()  # the same
        self._found: list[Listed] = []  # but tables, and files that a log names

    def find(self, path: str) -> list[Listed]:
        """Return the files that a path names, and Delta tables by their folders."""
        store, key = self.place(path)
        is_folder = look_up(store, key)
        if is_folder is False:
            self._found.append(self.name(Place(store, key))._replace(is_given=True))
            return self._found[-1:]
        given = key if store.is_here else key.rstrip("/") or key
        folder, steps = (given, ()) if is_folder else split_pattern(store, key)
        listed = list_disk(folder, steps) if store.is_here else list_store(store, folder, steps)
        matches: dict[str, list[str]] = {folder: []} if is_folder else {}
        for names, entry, is_inside in sorted(listed):
            n_matched, is_meant = match(names, steps)
            if n_matched >= 0:
                parts = entry.rsplit(os.sep if store.is_here else "/", len(names) - n_matched)
                files = matches.setdefault(folder if is_folder else parts[0], [])
                files += [entry] * (is_meant and not is_inside)
        if not matches:
            raise RecframeError(f"cannot read {show_path(store.show(key))}: no such file")
        tables = find_tables(store, [one for one in matches if one not in matches[one]])
        found = list[Listed]()
        for matched, files in sorted(matches.items()):
            if table := tables.get(matched):
                kind, root = table
                # The library that reads logs in stores is given the URI that was.
                is_whole = Place(store, root).identify() == Place(store, matched).identify()
                if kind != "Delta" or not is_whole or not (store.is_here or is_folder):
                    refuse_part(store.show(matched), kind, store.show(root), is_whole=is_whole)
                log = root if store.is_here else self._find_log(path)
                found.append(Listed(root, Place(store, root), log=log))
            elif not files:
                shown = show_path(store.show(matched))
                raise RecframeError(f"cannot read {shown}: no file in that folder")
            found += [self.name(Place(store, one)) for one in files if not table]
        self._found += [one for one in found if not one.log]
        return found

    def place(self, path: str) -> Place:
        """Return where a path leads."""
        return find_place(path, self._access, self._stores)

    def name(self, place: Place) -> Listed:
        """Return a file by a name of its own, or raise where it was found before."""
        store, key = place
        identity, shown = place.identify(), store.show(key)
        if (first := self._shown.get(identity)) is not None:
            also = f", first as {show_path(first)}" if store.is_here and first != shown else ""
            raise RecframeError(
                f"path: {show_path(shown)} is named twice{also}; name it once, or it counts twice"
            )
        if shown in self._names:  # of addresses that differ in what is not shown
            shown = next(f"{shown} ({n})" for n in count(2) if f"{shown} ({n})" not in self._names)
        self._shown[identity] = shown
        self._names.add(shown)
        return Listed(shown, place)

    def check(self) -> None:
        """Raise where files on disk belong to a table, whose log knows which of them are live.

        A single file that is given is meant as such; a shell may have made several from a pattern.
        """
        is_one = sum(file.is_given for file in self._found) == 1
        by_store: dict[Store, list[tuple[str, Listed]]] = {}
        for file in self._found:
            if not (file.is_given and is_one):
                folder = os.path.dirname(file.place.key)  # noqa: PTH120 - a tenth of the time
                by_store.setdefault(file.place.store, []).append((folder, file))
        for store, files in by_store.items():
            tables, first = find_tables(store, dict(files)), dict[object, Listed]()
            for folder, file in files:
                table = tables[folder]
                if table and not (file.is_given and first.setdefault(table, file) is file):
                    refuse_part(file.path, table[0], store.show(table[1]))

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


def list_files(path: str) -> list[str]:
    """Return a file, or the files in a folder that are read as one table."""
    if not os.path.isdir(path):  # noqa: PTH112 - it raises nothing
        return [path]
    return [entry.path for entry in sorted(list_disk(path, ())) if not entry.is_folder]
